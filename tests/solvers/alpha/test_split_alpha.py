"""GeneralizedAlpha on solids: matrices of the size of one block, factors that serve many steps, the same motion."""

import numpy as np
import pytest
from measuring import Run
from velocity_elements import driven_point

import fem_mbs as fem
from fem_mbs.linear.solvers import fills_in
from fem_mbs.solvers.alpha import generalized_alpha

FILLS = pytest.mark.skipif(not fills_in(10**4, (1e6, 1e9)), reason="UMFPACK is not installed")


def arm(cells, damping=0.0):
    """A soft arm on a hinge, at its end a spinning rod on another one that turns with it."""
    model = fem.Model("arm", gravity=[0, 0, -9.81])
    mesh = fem.block_mesh([1.0, 0.3, 0.3], [2 * cells, cells, cells], cell="hexahedron")
    body = fem.SolidBody(mesh, fem.SolidMaterial(1e6, 0.3, 1e3, law="neo-hookean"), damping=damping, name="arm")
    root, tip = (fem.SurfaceCoupling(body, group, name=group) for group in ("x0", "x1"))
    spin = {"angular_velocity": [3.0, 0, 0]}
    rod = fem.RigidBody.box(20.0, [0.3, 0.1, 0.2], position=[1.2, 0.15, 0.15], **spin, name="rod")
    model.add(body, root, tip, rod)
    model.add(fem.Revolute.at(model.ground, root.node, [0, 0.15, 0.15], [0, 1, 0]))
    model.add(fem.Revolute.at(tip.node, rod, [1.0, 0.15, 0.15], [1, 0, 0]))
    return model


def pendulum():
    """Two rigid bodies on hinges whose axes are not parallel, the first driven."""
    model = fem.Model("pendulum", gravity=[0, 0, -9.81])
    one = fem.RigidBody.box(1.0, [0.5, 0.1, 0.1], position=[0.25, 0, 0], name="one")
    two = fem.RigidBody.box(2.0, [0.5, 0.1, 0.2], position=[0.75, 0, 0], name="two")
    model.add(one, two)
    hinge = model.add(fem.Revolute.at(model.ground, one, [0, 0, 0], [0, 1, 0]))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, lambda t: 0.3 * t**2, name="motor"))
    model.add(fem.Revolute.at(one, two, [0.5, 0, 0], [0, 0.6, 0.8]))
    return model


@pytest.mark.parametrize(
    "make, h", [(pendulum, 5e-3), (lambda: arm(2), 1e-3), (lambda: arm(2, 1e-2), 1e-3)], ids=["rigid", "arm", "damped"]
)
def test_a_step_by_two_small_matrices_is_that_by_the_whole_one(make, h, monkeypatch):
    results = []
    for costly in (False, True):
        monkeypatch.setattr(fem.GeneralizedAlpha, "costly", lambda self, system, costly=costly: costly)
        method = fem.GeneralizedAlpha(rho_inf=0.8, rtol=1e-11)
        assert (method.stack(make().compile()) is None) == costly
        results.append(method.run(make(), t_end=40 * h, h=h))
    whole, split = results
    speed = np.abs(whole.state(-1).V).max()
    places = [result.rows(np.arange(len(result.t)))["position"] for result in results]
    assert len(places[0]) == 41 and np.abs(places[0] - places[0][0]).max() > 1e-3  # it moves
    assert np.abs(places[0] - places[1]).max() < 1e-10
    assert split.state(-1).V == pytest.approx(whole.state(-1).V, abs=1e-8 * speed)
    assert split.violation.position.max() < 1e-12
    assert split.violation.velocity.max() < 1e-12 * max(speed, 1.0)


def test_reactions_of_a_split_step_are_those_of_the_whole_one(monkeypatch):
    forces = []
    for costly in (False, True):
        monkeypatch.setattr(fem.GeneralizedAlpha, "costly", lambda self, system, costly=costly: costly)
        result = fem.GeneralizedAlpha(rho_inf=0.8, rtol=1e-11).run(pendulum(), t_end=0.2, h=5e-3)
        forces.append(np.concatenate([result["revolute 1"].force, result["revolute 2"].moment], axis=1))
    assert np.abs(forces[0]).max() > 10.0
    assert forces[1] == pytest.approx(forces[0], abs=1e-8 * np.abs(forces[0]).max())


def test_steps_without_joints_have_one_block_and_the_motion_of_index_3():
    """U = 0 solves M U = 0: positions alone are left."""
    ends = []
    for formulation in ("stabilised", "index 3"):
        body = fem.SolidBody(
            fem.block_mesh([1, 0.5, 0.5], [2, 1, 1], cell="tetra10"), fem.SolidMaterial(1e3, 0.3, 1.0),
            velocity=[1, 0, 0], angular_velocity=[1, 2, 5],
        )  # fmt: skip
        model = fem.Model("block")
        model.add(body)
        method = fem.GeneralizedAlpha(rho_inf=0.8, formulation=formulation)
        assert method.stack(model.compile()) is None
        ends.append(method.run(model, t_end=0.02, h=1e-3).state(-1))
    assert np.array_equal(ends[0].x, ends[1].x) and np.array_equal(ends[0].V, ends[1].V)


@FILLS
@pytest.mark.parametrize("joints", [False, True])
def test_factors_of_a_solid_serve_many_steps(joints):
    if joints:
        system = arm(6).compile()
    else:
        model = fem.Model("held", gravity=[0, 0, -9.81])
        body = fem.SolidBody(fem.block_mesh([1, 1, 1], [8, 8, 8], cell="hexahedron"), fem.SolidMaterial(1e6, 0.3, 1e3))
        body.fix("z0")
        model.add(body)
        system = model.compile()
    counts = {}
    for reuse in (True, False):
        run = Run(fem.GeneralizedAlpha(rho_inf=0.8, reuse=reuse), system, 1e-3)
        assert run.engine.matrices.stacked is None
        made = []
        for layout in run.engine.matrices.layouts[::2]:  # of positions or of the start, and of the motion
            solver, factor = layout.solver, layout.solver._factorise
            solver._factorise = lambda values, factor=factor, made=made: (made.append(1), factor(values))
        run.go(20)
        counts[reuse] = len(made)
    assert counts[True] <= 0.5 * 20
    assert counts[False] >= 20 * (2 if joints else 1)


def test_rows_of_velocities_and_rows_that_are_redundant_keep_the_whole_matrix(monkeypatch):
    """They have no positions, which splitting needs, or multipliers of least norm, which it does not keep."""
    monkeypatch.setattr(generalized_alpha, "price_of_matrix", lambda system: 20.0)
    assert fem.GeneralizedAlpha().costly(pendulum().compile())
    assert fem.GeneralizedAlpha().costly(pendulum().compile(redundant="allow"))  # no redundant rows
    door = pendulum()
    door.add(fem.Revolute.at(door.ground, door["one"], [0, 0.5, 0], [0, 1, 0], name="second hinge"))
    for system in (driven_point().compile(), door.compile(redundant="allow")):
        assert not fem.GeneralizedAlpha().costly(system)
        assert fem.GeneralizedAlpha().stack(system) is not None
