"""Static equilibrium: stability against closed forms, drivers, times, nodes of several systems."""

import warnings

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.solvers import eigen

PLANAR = ("z", "rx", "ry")


def column(load, n=8, joint=False, **options):
    """Column along x, clamped or on a rigid joint, under a load of so many times Euler's; EI, L = 1."""
    section = fem.Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=1, EI2=1, EI3=1)
    root, tip = fem.Node6(fixed=not joint), fem.Node6([1, 0, 0], fixed=PLANAR, name="tip")
    model = fem.Model("column")
    model.add(fem.beam_line(root, tip, n, section, fixed=PLANAR))
    if joint:
        model.add(fem.Fixed(model.ground.frame(), root.frame()))
    model.add(fem.PointForce(tip, [-load * np.pi**2 / 4, 0, 0], **options))
    return model


def pendulum(angle, stiffness=0.0, thrust=0.0, mass=2.0, length=0.7):
    """Body on a hinge, its centre of mass at an angle from the upright; a torsion spring holds it there."""
    position = length * np.array([np.sin(angle), 0.0, np.cos(angle)])
    model = fem.Model("pendulum", gravity=[0, 0, -9.81])
    bob = model.add(fem.RigidBody(mass, 0.1, position=position, name="bob"))
    hinge = fem.Revolute.at(model.ground, bob, position=[0, 0, 0], axis=[0, 1, 0], name="hinge")
    model.add(hinge)
    if stiffness:
        model.add(fem.TorsionSpring(hinge.frame_P, hinge.frame_Q, stiffness, name="spring"))
    if thrust:  # along the rod, turning with it: it never has a moment about the hinge, and no potential
        model.add(fem.PointForce(bob, [0, 0, thrust], follower=True, name="thrust"))
    return model


# --- stability ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load, stable", [(0.99, True), (1.01, False)])
def test_column_is_stable_below_the_load_of_euler_and_unstable_above(load, stable):
    # 8 elements buckle within 2e-5 of Euler's load (measured with a prototype: 2.3e-4 at 4, order 4)
    model = column(load)
    if stable:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = fem.static_equilibrium(model)
        assert "stable, lowest eigenvalue" in result.report()
    else:
        with pytest.warns(UserWarning, match=r"'column': UNSTABLE.* -.* N/m.*'tip'"):
            result = fem.static_equilibrium(model)
        assert "UNSTABLE" in result.report() and "unstable" in repr(result)
        assert result.results.statistics["stable"] is False
    assert result.stable is stable
    assert (result.lowest_eigenvalue > 0) is stable


def test_lowest_eigenvalue_of_a_column_is_zero_at_the_load_of_euler():
    lowest = [fem.static_equilibrium(column(load), stability=True).lowest_eigenvalue for load in (0.5, 0.99)]
    # to first order it falls linearly with the load and is zero at 1; the mode changes little: 3 % of it
    assert lowest[1] / lowest[0] == pytest.approx(0.01 / 0.5, rel=0.03)


@pytest.mark.parametrize("angle, sign", [(0.0, -1.0), (np.pi, 1.0)])
@pytest.mark.filterwarnings("ignore:static_equilibrium")
def test_pendulum_is_unstable_upright_and_stable_hanging_with_the_eigenvalue_of_the_closed_form(angle, sign):
    result = fem.static_equilibrium(pendulum(angle))
    # the hinge leaves δx = l δθ: φᵀKφ = ± m g l; φᵀDφ = l² + L², L = l the size of the model
    assert result.lowest_eigenvalue == pytest.approx(sign * 2.0 * 9.81 / (2 * 0.7), rel=1e-9)
    assert result.stable is (sign > 0)
    bob = result.mode[result.system.nodes.index(result.system.model["bob"].node)]
    assert abs(bob[0] / bob[4]) == pytest.approx(0.7, rel=1e-9)


@pytest.mark.parametrize("ratio, stable", [(0.99, False), (1.01, True)])
@pytest.mark.filterwarnings("ignore:static_equilibrium")
def test_spring_holds_an_inverted_pendulum_above_the_stiffness_m_g_l(ratio, stable):
    weight = 2.0 * 9.81 * 0.7
    result = fem.static_equilibrium(pendulum(0.0, stiffness=ratio * weight))
    assert result.stable is stable
    assert result.lowest_eigenvalue == pytest.approx((ratio - 1) * weight / (2 * 0.7**2), rel=1e-6)


def test_follower_load_leaves_the_question_to_the_mass():
    model = column(1.5, follower=True)  # of Euler's load: Beck's column flutters at eight times it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fem.static_equilibrium(model)
    assert result.stable is None and "fem_mbs.modes" in result.report()


@pytest.mark.parametrize("ratio, stable", [(0.99, False), (1.01, None)])
@pytest.mark.filterwarnings("ignore:static_equilibrium")
def test_divergence_is_reported_also_where_a_load_has_no_potential(ratio, stable):
    weight = 2.0 * 9.81 * 0.7
    result = fem.static_equilibrium(pendulum(0.0, stiffness=ratio * weight, thrust=5.0))
    assert result.stable is stable
    assert result.lowest_eigenvalue == pytest.approx((ratio - 1) * weight / (2 * 0.7**2), rel=1e-6)


@pytest.mark.parametrize("load", [0.9, 1.1])
@pytest.mark.filterwarnings("ignore:static_equilibrium")
def test_large_and_small_models_give_the_same_lowest_eigenvalue(load, monkeypatch):
    options = {"clamped": {}, "joint": {"joint": True}, "follower": {"follower": True}}
    small = [fem.static_equilibrium(column(load, **o)) for o in options.values()]
    monkeypatch.setattr(eigen, "DENSE_LIMIT", 0)
    large = [fem.static_equilibrium(column(load, **o)) for o in options.values()]
    for a, b in zip(small, large):
        assert b.lowest_eigenvalue == pytest.approx(a.lowest_eigenvalue, rel=1e-6)  # ARPACK and round-off of EA = 1e6
        assert b.stable is a.stable
    assert small[1].lowest_eigenvalue == pytest.approx(small[0].lowest_eigenvalue, rel=1e-6)  # a joint is a clamp


def test_what_cannot_move_is_stable_and_what_was_not_asked_is_unknown():
    model = fem.Model("clamped", gravity=[0, 0, -9.81])
    body = model.add(fem.RigidBody(1.0, 1.0, name="block"))
    model.add(fem.Fixed(model.ground.frame(), body.frame()))
    result = fem.static_equilibrium(model)
    assert result.stable is True and result.lowest_eigenvalue == np.inf and "no motion" in result.report()
    unknown = fem.static_equilibrium(column(2.0), stability=False)
    assert unknown.stable is None and np.isnan(unknown.lowest_eigenvalue) and "not known" in unknown.report()


# --- drivers and time -----------------------------------------------------------------------------------------------


def driven(rate):
    """A beam on a hinge that a driver turns from the start on; nothing moves at the start."""
    section = fem.Section.general(EA=1e4, GA2=1e4, GA3=1e4, GJ=100, EI2=100, EI3=100, rhoA=1.0, rhoJ=1e-3)
    root, tip = fem.Node6(), fem.Node6([1, 0, 0], name="tip")
    model = fem.Model("driven")
    model.add(fem.beam_line(root, tip, 2, section))
    model.add(fem.Revolute(model.ground.frame(), root.frame()))
    model.add(fem.RevoluteDriver(model.ground.frame(), root.frame(), angle=lambda t: rate * t, name="motor"))
    return model, tip


def test_driver_that_moves_from_the_start_on_is_no_obstacle_to_statics_and_modes():
    model, tip = driven(2.0)
    with pytest.raises(fem.ModelError, match=r"'motor'.*initial velocities"):
        model.compile()  # a run in time does need them
    result = fem.static_equilibrium(model, t=0.4)
    assert result.position(tip) == pytest.approx([np.cos(0.8), np.sin(0.8), 0], abs=1e-9)  # Newton tolerance
    assert result.state.t == 0.4 and not result.state.V.any()
    still, _ = driven(0.0)
    assert fem.modes(model, 3, about=result).omega == pytest.approx(fem.modes(still, 3).omega, rel=1e-6)


def test_static_state_is_one_of_its_time_and_a_run_continues_from_there():
    model = fem.Model("weight")
    body = model.add(fem.PointMass(2.0, name="bob", fixed=("x", "y")))
    model.add(fem.Spring(model.ground.frame([0, 0, 1]), body, stiffness=50.0, free_length=1.0))
    model.add(fem.PointForce(body, [0, 0, -10.0], signal=lambda t: t, name="pull"))
    system = model.compile()
    system.initial = fem.static_equilibrium(system, t=3.0).state
    assert fem.static_equilibrium(system).state.t == 3.0  # default: the time of the initial state
    result = fem.DecoupledNSGA().run(system, t_end=3.0 + 2e-3, h=1e-3)
    assert result.t == pytest.approx([3.0, 3.001, 3.002], abs=1e-15)
    assert result["bob"].position[0, 2] == pytest.approx(-30.0 / 50.0, rel=1e-9)
    assert result["pull"].force[:, 2] == pytest.approx(-10 * result.t, rel=1e-14)
    with pytest.raises(fem.ParameterError, match=r"t = nan s.*finite"):
        fem.static_equilibrium(system, t=np.nan)


# --- nodes of several systems ---------------------------------------------------------------------------------------


def test_result_contains_its_nodes_when_another_system_numbers_them_anew():
    model = column(0.5)
    tip = model["tip"]
    result = fem.static_equilibrium(model)
    position, rotation = result.position(tip).copy(), result.rotation(tip).copy()
    other = fem.Model("others first")
    other.add(fem.PointMass(1.0), fem.PointMass(1.0, at=tip.frame([0.1, 0.1, 0.1])))
    other.compile()
    assert np.array_equal(result.position(tip), position) and np.array_equal(result.rotation(tip), rotation)
    again = fem.static_equilibrium(result.system)  # an older system, after the newer one has numbered the nodes
    assert again["tip"].position[-1] == pytest.approx(position, abs=1e-12)
    with pytest.raises(fem.ParameterError, match=r"node = Node6 'elsewhere'.*'column'"):
        result.position(fem.Node6(name="elsewhere"))
    with pytest.raises(fem.ParameterError, match=r"not a node of 'column'.*frame\.node"):
        result.position(tip.frame([0.1, 0, 0]))


# --- eigenvalues far below the largest stiffness ----------------------------------------------------------------------


@pytest.mark.parametrize("poses", [2, 3])
def test_a_column_above_eulers_load_is_unstable_whatever_its_shear_stiffness(poses):
    """Neutral was what lay within 1e-12 of the largest stiffness: columns at 2.5 times Euler's load were stable."""
    first = fem.Node6([0, 0, 0], fixed=("x", "y", "z", "rx", "rz"))
    last = fem.Node6([1, 0, 0], fixed=("y", "z", "rx", "rz"))
    section = fem.Section.general(EA=1e6, GJ=1.0, EI2=1.0, EI3=1.0, rhoA=1.0)  # no shear flexibility
    for factor in (0.95, 1.05, 2.5):
        model = fem.Model("column")
        model.add(fem.beam_line(first, last, 16, section, poses=poses, fixed=("y", "rx", "rz")))
        model.add(fem.PointForce(last, [-factor * np.pi**2, 0, 0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = fem.static_equilibrium(model)
        assert result.stable == (factor < 1) == (result.lowest_eigenvalue > 0)


@pytest.mark.parametrize("shear", [1e7, np.inf])
@pytest.mark.parametrize("load", [2.0, 19.8])
def test_a_follower_load_is_not_taken_for_one_with_a_potential(shear, load):
    """Beck's column: no divergence below 20.05 EI/L², and the stiffness alone decides nothing."""
    model, tip = fem.Model("Beck"), fem.Node6([1, 0, 0])
    inertia = {"rhoA": 1.0, "rhoJ": 2e-7, "rhoI2": 1e-7, "rhoI3": 1e-7}
    section = fem.Section.general(EA=1e7, GJ=1.0, EI2=1.0, EI3=1.0, GA2=shear, GA3=shear, **inertia)
    model.add(fem.beam_line(fem.Node6(fixed=True), tip, 8, section, fixed=("y", "rx", "rz")))
    model.add(fem.PointForce(tip, [-load, 0, 0], follower=True))
    result = fem.static_equilibrium(model)
    first = fem.modes(model, 1, about=result, damping=True).eigenvalues[0]
    assert result.stable is None
    # 3.5160 without load; both from the frequency equation of the column
    assert abs(first.imag) == pytest.approx({2.0: 3.7732, 19.8: 9.972}[load], rel=1e-3)
    assert abs(first.real) < 1e-6


@pytest.mark.parametrize("grouped", [False, True])
def test_what_only_contacts_hold_is_reported_as_having_no_equilibrium_in_statics(grouped):
    model = fem.Model("ball over a floor", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    if grouped:
        group = fem.ContactGroup(name="grains")
        group.sphere(ball, 0.1)
        group.obstacle(fem.SphereOnPlane, model.ground.frame())
        model.add(group)
    else:
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    told = (
        r"Contacts of this model carry nothing in statics.*damped run in time"
        if grouped
        else "Place it so that it touches"
    )
    with pytest.raises(SolverError, match=told):
        fem.static_equilibrium(model)
    free = fem.Model("ball", gravity=[0, 0, -9.81])
    free.add(fem.RigidBody.sphere(1.0, 0.1, name="ball"))
    with pytest.raises(SolverError, match=r"(?s)^(?!.*[Cc]ontact).*no equilibrium"):
        fem.static_equilibrium(free)


def four_bar(angle, rods, span, masses, stiffness):
    """Uniform bars, hinges that repeat each other, a torsion spring on the crank; and the potential of its weights."""
    crank, coupler, rocker = rods
    A = crank * np.array([np.cos(angle), np.sin(angle), 0])
    D = np.array([span, 0, 0])
    r = np.linalg.norm(D - A)
    rise = np.arctan2(-A[1], span - A[0]) + np.arccos((r**2 + coupler**2 - rocker**2) / (2 * r * coupler))
    points = [np.zeros(3), A, A + coupler * np.array([np.cos(rise), np.sin(rise), 0]), D]
    model = fem.Model("four-bar", gravity=[0, -9.81, 0])
    bodies = [model.ground]
    for k, mass in enumerate(masses):
        way = points[k + 1] - points[k]
        inertia = [1e-3, mass * (way @ way) / 12, mass * (way @ way) / 12]
        place = {"position": points[k] + way / 2, "rotation": [0, 0, np.arctan2(way[1], way[0])]}
        bodies.append(model.add(fem.RigidBody(mass, inertia, **place, name=f"bar {k}")))
    for k, point in enumerate(points):
        spring = {"stiffness": stiffness} if k == 0 else {}
        model.add(fem.Revolute.at(bodies[k], bodies[(k + 1) % 4], point, [0, 0, 1], name=f"hinge {k}", **spring))
    return model, sum(9.81 * m * (p[1] + q[1]) / 2 for m, p, q in zip(masses, points, points[1:], strict=False))


@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_a_mechanism_of_rigid_bodies_is_reported_stable_whatever_the_tolerance_leaves(tolerance):
    """The angle is where the energy by hand is least; moments that are not balanced are no loads without potential."""
    from scipy.optimize import minimize_scalar

    numbers, start = ((0.4, 0.9, 0.7), 0.8, (1.2, 2.5, 1.9), 14.0), 1.0
    least = minimize_scalar(
        lambda a: four_bar(a, *numbers)[1] + 7.0 * (a - start) ** 2, bounds=(0.2, 1.0), options={"xatol": 1e-10}
    )
    system = four_bar(start, *numbers)[0].compile(redundant="allow")
    found = fem.static_equilibrium(system, steps=10, tolerance=tolerance)
    R = found.rotation(system.nodes[1])
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(least.x, abs=max(1e-7, tolerance))
    assert found.stable and found.lowest_eigenvalue > 1.0
    assert "without potential" not in found.report()
