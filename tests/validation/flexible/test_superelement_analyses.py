"""Superelements in buckling, and in a run compared with their mesh."""

import numpy as np
import pytest

import fem_mbs as fem


def column(parts, stiffening):
    """A clamped column of 10 m of superelements, pressed by a unit force at its free end; Euler's load [N]."""
    size, soft = 10.0 / parts, fem.SolidMaterial(1e3, 0.0, 1.0)
    mesh = fem.block_mesh([size, 0.1, 0.2], [16 // parts, 1, 1], form=lambda x: x - [0, 0.05, 0.1])
    pull = ("a", "b") if stiffening else None
    part = fem.reduce_mesh(mesh, soft, {"a": "x0", "b": "x1"}, modes=4, stiffening=pull)
    model = fem.Model("column")
    end = model.ground
    for k in range(parts):
        body = fem.Superelement(part, position=[k * size, 0, 0], name=f"part {k}")
        model.add(body, fem.Fixed.at(end, body.frame("a"), [k * size, 0, 0]))
        end = body.frame("b")
    model.add(fem.PointForce(end, [-1.0, 0, 0]))
    return model, np.pi**2 / 400 * 1e3 * 0.2 * 0.1**3 / 12


@pytest.mark.parametrize(
    ("parts", "stiffening", "error", "tolerance"),
    [
        # shear lowers the load by 1e-4, 16 hexahedra raise it
        (1, True, 6e-4, 2e-4),
        (4, True, 6e-4, 2e-4),
        # the chords of the parts turn, and nothing else: a column of rigid links with springs, measured
        (1, False, 0.249, 2e-3),
        (2, False, 0.0544, 1e-3),
        (4, False, 0.0136, 1e-3),
    ],
)
def test_columns_of_superelements_buckle_under_eulers_load(parts, stiffening, error, tolerance):
    model, euler = column(parts, stiffening)
    assert fem.buckling(model, 1).load_factors[0] / euler - 1.0 == pytest.approx(error, abs=tolerance)


@pytest.mark.slow
def test_a_reduction_moves_and_is_stressed_as_its_mesh():
    """A bar of 1,825 nodes that falls about its clamped end for 25 steps, and its superelement with 40 modes.

    `benchmarks/solids.py steps` measures the cost of both at 11,745 nodes, 125 to 1, with errors of 2e-6 and 6e-4.
    """
    mesh, steel = fem.block_mesh([1.0, 0.1, 0.1], [72, 4, 4], cell="hexahedron"), fem.SolidMaterial(210e9, 0.3, 7850.0)
    solver, gravity = fem.DecoupledNSGA(rho_inf=0.8), [0, 0, -9.81]
    bar, full = fem.SolidBody(mesh, steel, name="bar"), fem.Model("bar", gravity=gravity)
    bar.fix("x0")
    full.add(bar)
    one = solver.run(full, t_end=2.5e-3, h=1e-4)
    part = fem.reduce_mesh(mesh, steel, {"root": "x0", "tip": "x1"}, modes=40)
    arm, model = fem.Superelement(part, name="bar"), fem.Model("reduced bar", gravity=gravity)
    model.add(arm, fem.Fixed.at(model.ground, arm.frame("root"), arm.frame("root").position))
    two = solver.run(model, t_end=2.5e-3, h=1e-4)
    tip = bar.node_at([1.0, 0.05, 0.05])
    way = one.rows([len(one.t) - 1])["position"][0, tip.index, 2] - 0.05
    place = np.abs(part.points - tip.position).sum(axis=1).argmin()
    assert arm.positions(two)[place, 2] - 0.05 == pytest.approx(way, rel=1e-5) and way < -3e-5
    assert arm.stresses(two).von_mises.max() == pytest.approx(bar.stresses(one).von_mises.max(), rel=2e-3)
