"""Belts and cables are drawn as straight spans that touch their pulleys, wherever these move."""

import h5py
import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.results.drawing.sketch import Sketch
from fem_mbs.results.drawing.skin import LINE, SPAN, SPRING
from fem_mbs.rotations import exp

RADII = np.array([0.1, 0.25])
BELTS = {
    "ideal": lambda a, b, **o: fem.IdealBelt(a, b, radii=RADII, pretension=100.0, friction=0.3, **o),
    "elastic": lambda a, b, **o: fem.Belt(a, b, radii=RADII, stiffness=1e4, pretension=100.0, **o),
    "creeping": lambda a, b, **o: fem.CreepingBelt(
        a, b, radii=RADII, stiffness=2e4, pretension=100.0, friction=0.3, **o
    ),
}


def drive(kind, crossed):
    """Two pulleys 1 m apart with a belt."""
    model = fem.Model("drive")
    a, b = (model.add(fem.RigidBody(1.0, 0.01, position=[x, 0, 0.2], name=f"at {x:g}")) for x in (0.0, 1.0))
    model.add(BELTS[kind](a, b, crossed=crossed, name="belt"))
    return fem.System(model, check=False), a, b


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("kind", BELTS)
def test_the_spans_of_a_belt_touch_both_pulleys_from_outside(kind, crossed):
    system, a, b = drive(kind, crossed)
    skin, state = Sketch(system).skin(), system.initial.copy()
    assert len(skin.cells(SPRING, LINE)) == 0
    state.x[b.node.index] = [0.3, 1.1, 0.2]
    state.R[a.node.index] = exp([0, 0, 0.7])
    # all turned in space: what is drawn turns too
    Q = exp([0.4, -0.3, 0.8])
    x, R = state.x @ Q.T, Q @ state.R
    spans = skin.points(x, R)[skin.cells(SPAN, LINE)]
    assert spans.shape == (2, 2, 3)
    centres, axis = x[[a.node.index, b.node.index]], Q[:, 2]
    arms = spans - centres
    assert np.linalg.norm(arms, axis=-1) == pytest.approx(np.tile(RADII, (2, 1)), rel=1e-14)  # round-off
    along = spans[:, 1] - spans[:, 0]
    assert np.einsum("sei,si->se", arms, along) == pytest.approx(0.0, abs=1e-15)
    assert arms @ axis == pytest.approx(0.0, abs=1e-15)
    # one on either side of the line of centres; those of a crossed belt change sides
    side = np.sign(arms @ np.cross(axis, centres[1] - centres[0]))
    assert side[0, 0] == -side[1, 0] and (side[:, 1] == (-side[:, 0] if crossed else side[:, 0])).all()


def test_spans_and_arcs_of_a_cable_add_up_to_its_length_in_a_file_too(tmp_path):
    model = fem.Model("tackle", gravity=[0, -9.81, 0])
    load = model.add(fem.RigidBody.sphere(4.0, 0.05, position=[0.1, -1.0, 0], name="load"))
    puller = model.add(fem.RigidBody.sphere(2.5, 0.05, position=[0.45, -0.5, 0], name="puller"))
    end, top = model.ground.frame([0, 0, 0]), model.ground.frame([0.3, 0, 0])
    rope = model.add(fem.Cable([end, (load, 0.1), (top, -0.1), puller], name="rope"))
    path = tmp_path / "rope.vtkhdf"
    fem.DecoupledNSGA().run(model, t_end=2e-3, h=1e-3, save=path)
    skin, x = fem.load(path).skin, [[node.position for node in (model.ground, load.node, puller.node)]]
    spans = skin.points(np.array(x), np.tile(np.eye(3), (1, 3, 1, 1)))[0][skin.cells(SPAN, LINE)]
    straight = np.linalg.norm(spans[:, 1] - spans[:, 0], axis=1).sum()
    assert straight + 0.1 * sum(rope.arcs.values()) == pytest.approx(rope.length, rel=1e-12)  # round-off
    # a file of a version without spans
    with h5py.File(path, "a") as file:
        for name in ("span_point", "span_radii", "span_node", "span_axis"):
            del file["fem_mbs/skin"][name]
    assert len(fem.load(path).skin.span_point) == 0
