"""Forces of joints that repeat each other: bounded as h falls, independent of the shift, equal to spatial models."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.system.checks.redundancy import gradient_of
from fem_mbs.system.least_norm import least_norm, prepare

NORMAL = np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
METHODS = [
    fem.DecoupledNSGA, fem.NonsmoothGeneralizedAlphaGGL, fem.NonsmoothGeneralizedAlphaFriction, fem.GeneralizedAlpha,
    fem.MoreauJean, fem.ConeComplementarity, fem.LobattoIIIAB,
]  # fmt: skip


def named(method):
    return method.__name__


def four_bar():
    """Four-bar linkage of three bars of 1 kg with four hinges, in a plane at right angles to `NORMAL`."""
    first = np.cross(NORMAL, [0, 0, 1.0])
    plane = np.stack([first, np.cross(NORMAL, first)]) / np.linalg.norm(first)
    points = np.array([[0, 0], [0.1, 0.3], [0.6, 0.4], [0.5, 0]]) @ plane
    model, bars = fem.Model("four-bar linkage", gravity=-9.81 * plane[1]), []
    for k in range(3):
        along = points[k + 1] - points[k]
        size = np.linalg.norm(along)
        R = np.column_stack([along / size, np.cross(NORMAL, along / size), NORMAL])
        middle = 0.5 * (points[k] + points[k + 1])
        bars.append(model.add(fem.RigidBody.box(1.0, [size, 0.04, 0.04], position=middle, rotation=R, name=f"bar {k}")))
    ends = [model.ground, *bars, model.ground]
    for k in range(4):
        model.add(fem.Revolute.at(ends[k], ends[k + 1], points[k], axis=NORMAL, name=f"pin {k}"))
    return model.compile(redundant="allow")


def forces(result):
    return np.stack([result[f"pin {k}"].force for k in range(4)])


@pytest.mark.parametrize("method", METHODS, ids=named)
def test_nothing_acts_across_the_plane_of_a_linkage_however_small_the_step(method):
    for h in (1e-3, 6.25e-5):
        system = four_bar()
        assert not system.independent
        across = forces(method().run(system, 60 * h, h)) @ NORMAL
        # of forces of 15 N: round-off over the shift of 1e-8. It was 1e-6 to 9e-6, with the cone scheme 6 N, and grew
        assert np.abs(across).max() < (1e-6 if method in (fem.ConeComplementarity, fem.LobattoIIIAB) else 1e-7), h


@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.ConeComplementarity], ids=named)
def test_forces_of_redundant_joints_do_not_depend_on_the_shift(method):
    found = [forces(method(epsilon=e).run(four_bar(), 4e-3, 6.25e-5))[:, -1] for e in (1e-8, 1e-6, 1e-4)]
    # the same equations, solved to rtol = 1e-6 of Newton's iterations
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-6 * np.abs(found[0]).max())


def test_multipliers_of_least_norm_keep_their_forces_and_have_no_part_without():
    system = four_bar()
    system.constraint_values(system.initial)
    d, lam = system.data[0], np.random.default_rng(1).normal(size=system.m)
    before = system.constraint_forces(lam)
    assert prepare(d)
    least_norm(d, lam)
    free, arm = system.free.ravel(), system.row_arm[: system.m]
    # λ/a is in the range of a G
    rows = arm[:, None] * gradient_of(system).toarray()[:, free]
    parts = np.linalg.lstsq(rows, lam / arm, rcond=1e-9)[0]
    np.testing.assert_allclose(rows @ parts, lam / arm, atol=1e-6)
    np.testing.assert_allclose(system.constraint_forces(lam)[free], before[free], atol=1e-9)


def pendulum_on_slider(planar, friction=True):
    """Slider along x with a pendulum, both of 1 kg; planar ones are also kept in their plane by fixed components."""
    options = {"fixed": ("z", "rx", "ry")} if planar else {}
    law = fem.DryFriction(0.1, length=0.1, preload=1.0) if friction else None
    model = fem.Model("slider with a pendulum", gravity=[0, -9.81, 0])
    slider = model.add(fem.RigidBody(1.0, 0.01, position=[0.3, 0, 0], velocity=[1, 0, 0], name="slider", **options))
    model.add(fem.Prismatic.at(model.ground, slider, [0.3, 0, 0], axis=[1, 0, 0], friction=law, name="guide"))
    bob = model.add(fem.RigidBody(1.0, 0.01, position=[0.3, -0.2, 0], velocity=[1, 0, 0], name="bob", **options))
    model.add(fem.Revolute.at(slider, bob, [0.3, 0, 0], axis=[0, 0, 1], name="pin"))
    return model.compile(redundant="allow" if planar else "error")


def test_joint_friction_of_a_planar_model_is_that_of_the_spatial_one():
    for h in (1e-3, 2.5e-4):
        planar, spatial = (fem.DecoupledNSGA().run(pendulum_on_slider(kind), 0.1, h) for kind in (True, False))
        assert not planar["guide"].force[:, 2].any() and not planar["guide"].moment[:, :2].any()
        np.testing.assert_allclose(planar["slider"].velocity, spatial["slider"].velocity, atol=1e-12)
        np.testing.assert_allclose(planar["guide"].force, spatial["guide"].force, atol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=named)
def test_rows_that_fixed_components_leave_empty_carry_nothing_with_any_method(method):
    system = pendulum_on_slider(True, friction=False)
    assert system.independent and system.empty_rows.sum() == 6 and system.active_rows.sum() == 4
    planar = method().run(system, 5e-3, 6.25e-5)
    spatial = method().run(pendulum_on_slider(False, friction=False), 5e-3, 6.25e-5)
    assert not planar["guide"].force[:, 2].any() and not planar["pin"].force[:, 2].any()
    np.testing.assert_allclose(planar["pin"].force, spatial["pin"].force, atol=1e-7)
    np.testing.assert_allclose(planar["bob"].position, spatial["bob"].position, atol=1e-12)


def test_equilibria_and_small_motions_of_a_planar_model_are_those_of_the_spatial_one():
    found = []
    for planar in (True, False):
        system = pendulum_on_slider(planar, friction=False)
        system.model.add(fem.Spring(system.model.ground, system.model["slider"], stiffness=50.0, free_length=0.3))
        system = system.model.compile(redundant="allow" if planar else "error")
        static = fem.static_equilibrium(system)
        found.append((fem.modes(system, 2, about=static).omega, static.output(system.model["pin"], "force")))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-8)


def test_rows_across_a_plane_count_where_a_body_may_leave_it():
    model = fem.Model("spatial", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody(1.0, 0.01, position=[0.5, 0, 0], name="rod"))
    for side in (-0.1, 0.1):
        model.add(fem.Revolute.at(model.ground, rod, [0, side, 0], axis=[0, 1, 0], name=f"hinge {side}"))
    system = model.compile(redundant="allow")
    assert not system.empty_rows.any() and not system.independent
    result = fem.DecoupledNSGA().run(system, 0.02, 1e-3)
    shares = [result[f"hinge {side}"].force[-1] for side in (-0.1, 0.1)]
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-9)  # equal joints, equal shares
