"""Results are indexed by name: what is in them, what iteration gives, errors."""

import numpy as np
import pytest
from call_models import beam_model, pulled_beam
from public_calls import CALLS

import fem_mbs as fem
from fem_mbs.results.file.names import UnknownNameError


def braked():
    model = fem.Model("disc")
    disc = model.add(fem.RigidBody(1.0, [0.1] * 3, angular_velocity=[0, 0, 5.0], name="disc"))
    friction = fem.DryFriction(0.5, preload=1.0, radius=0.1)
    model.add(fem.Revolute.at(model.ground, disc, [0, 0, 0], [0, 0, 1], friction=friction, name="D"))
    return fem.DecoupledNSGA().run(model, t_end=0.02, h=1e-3, balance=True)


@pytest.fixture(scope="module")
def run():
    return braked()


def test_histories_are_indexed_by_label_as_by_attribute(run):
    assert "D friction" in run.work and run.work["D friction"][-1] < 0.0
    assert list(run.work) == list(dict.fromkeys(run.work)) and len(run.work) == len(list(run.work))
    assert np.array_equal(run.iterations["smooth"], run.iterations.smooth)
    assert list(run.iterations) == ["smooth", "position", "velocity", "step"]
    assert np.array_equal(run["disc"]["position"], run["disc"].position)
    assert "energy" not in run and {"kinetic", "potential", "total"} <= set(run.energy)
    table = run.energy_table()
    assert table["D friction"] == pytest.approx(run.work["D friction"][-1], rel=1e-12)
    assert "D friction" in table and len(table) == len(table.lines)
    for history in (run.work, table):
        with pytest.raises(UnknownNameError, match="did you mean 'D friction'"):
            history["D frictoin"]
    with pytest.raises(UnknownNameError, match="has no 'smoth'; did you mean 'smooth'"):
        run.iterations["smoth"]


def made(call):
    function, arguments = CALLS[call]()
    return function(**arguments)


OBJECTS = {
    "Results": lambda: braked(),
    "StaticResult": lambda: fem.static_equilibrium(beam_model()),
    "LoadPath": lambda: made("load_path"),
    "Modes": lambda: fem.modes(beam_model(), 2),
    "Buckling": lambda: fem.buckling(pulled_beam(), 1),
    "Campbell": lambda: made("campbell"),
    "UnbalanceResponse": lambda: made("unbalance_response"),
    "FrequencyResponse": lambda: made("frequency_response"),
    "Floquet": lambda: made("floquet"),
    "LinearModel": lambda: made("linearise"),
    "RecoveredForces": lambda: made("recover_forces"),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_result_has_names(kind):
    found = OBJECTS[kind]()
    names = list(found)
    assert names and type(found).__name__ == kind
    for name in names:
        assert name in found and found[name] is not None
    assert "no such name" not in found and 3 not in found and None not in found and [] not in found
    with pytest.raises(UnknownNameError, match=r"has no '.*x'; did you mean"):
        found[names[0] + "x"]
    assert kind == "LinearModel" or len(found) > 0


def test_lengths_are_the_numbers_of_rows(run):
    assert len(run) == len(run.t) == 21
    modes = fem.modes(beam_model(), 2)
    last = list(modes)[2]
    assert len(modes) == 2 and modes[last].shape == (2, 6)
    assert np.array_equal(modes[last], modes.shapes[:, 2])
    assert np.array_equal(modes[modes.system.nodes[2]], modes.shapes[:, 2])


def test_a_body_has_the_shape_of_its_node():
    model = fem.Model("mass")
    body = model.add(fem.PointMass(1.0, name="tip"))
    model.add(fem.Spring(model.ground.frame([0, 0, -1]), body, stiffness=10.0))
    modes = fem.modes(model, 1, contacts="open")
    assert "tip" in modes and np.array_equal(modes["tip"], modes.shapes[:, body.node.index])


def test_a_point_of_a_path_refers_to_the_path():
    path = made("load_path")
    point = path.points[-1]
    name = next(iter(path))
    assert list(point) == [] and name not in point and len(path) == len(path.points)
    with pytest.raises(UnknownNameError, match="those of the path"):
        point[name]


def test_an_unknown_output_of_an_equilibrium_is_rejected():
    model = beam_model()
    result = fem.static_equilibrium(model)
    with pytest.raises(UnknownNameError, match="has no 'momnt_A'; did you mean 'moment_A'"):
        result.output(model.elements[0], "momnt_A")


def test_the_tension_of_a_rope_is_that_of_other_cables_and_belts():
    model = fem.Model("rope", gravity=[0, 0, -9.81])
    mass = model.add(fem.PointMass(2.0, position=[0, 0, -1.0], name="mass"))
    model.add(fem.Cable([model.ground, mass], name="rope"))
    result = fem.DecoupledNSGA().run(model, t_end=0.01, h=1e-3)
    assert result["rope"].tension[-1] == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert np.array_equal(result["rope"].tension, result["rope"].force_normal)
    assert result["rope"].units["tension"] == "N"
    for kind in (fem.Belt, fem.CreepingBelt, fem.IdealBelt, fem.ElasticCable, fem.Distance):
        assert kind.outputs["tension"][1] == "N"
