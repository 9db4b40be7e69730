"""Statics and linear analyses of models with joints that are off or redundant: those of the model without."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.solvers import eigen

STEEL = fem.Section.circle(5e-3, E=210e9, nu=0.3, density=7850)


def cantilever(second=None, **switch):
    """A rod on a clamp, with its weight; a second joint at the clamp or at the tip."""
    model = fem.Model("cantilever", gravity=[0, 0, -9.81])
    root, tip = fem.Node6(name="root"), fem.Node6([1, 0, 0], name="tip")
    model.add(fem.beam_line(root, tip, 4, STEEL, name="rod"))
    model.add(fem.Fixed.at(model.ground, root, [0, 0, 0], name="clamp"))
    if second == "tip":
        model.add(fem.Spherical.at(model.ground, tip, [1, 0, 0], name="second"), **switch)
    if second == "clamp":
        model.add(fem.Fixed.at(model.ground, root, [0, 0, 0], name="second"), **switch)
    model.add(fem.PointForce(tip, [-1.0, 0, 0], name="push"))
    return model


def answers(model, **options):
    """What all analyses say of one model; forces of the clamp last."""
    system = model.compile(**options)
    ports = ("tip", "z"), [("tip", "z"), ("rod 2", "curvature", 1)]
    static = fem.static_equilibrium(system)
    path = fem.load_path(system, step=0.3)
    found = [
        static.position(model["tip"]),
        path.points[-1].position(model["tip"]),
        [static.lowest_eigenvalue, static.stable, *path.unstable, len(path.points)],
        fem.buckling(system, 1, loads=[model["push"]]).load_factors,
        fem.modes(system, 3, about=static).omega,
        fem.modes(system, 2, about=static, damping=True).omega,
        np.abs(fem.frequency_response(system, *ports, [0.0, 3.0]).response).ravel(),
        np.abs(fem.linearise(system, *ports).response(3j)).ravel(),
    ]
    return np.concatenate([np.ravel(part).astype(float) for part in found]), static


@pytest.fixture(scope="module")
def alone():
    return answers(cantilever())


@pytest.mark.parametrize("switch", [{"active": False}, {"intervals": [(1.0, 2.0)]}])
@pytest.mark.parametrize("small", [True, False])
def test_a_joint_that_is_off_changes_no_analysis(alone, switch, small, monkeypatch):
    if not small:
        monkeypatch.setattr(eigen, "DENSE_LIMIT", 10)  # the sparse ways of modes and stability
    found, static = answers(cantilever("tip", **switch))
    assert found == pytest.approx(alone[0], rel=1e-6, abs=1e-9)  # differences of gradients and Lanczos: 1e-7
    assert static.output(static.system.model["second"], "force") == pytest.approx([0, 0, 0], abs=0)


def test_more_rows_off_than_there_are_components_do_not_make_an_unstable_model_stable():
    model = fem.Model("inverted")
    bob = model.add(fem.PointMass(1.0, position=[0, 0, 0], fixed=("y", "z"), name="bob"))
    model.add(fem.Spring(model.ground.frame([0, 1, 0]), bob, stiffness=1.0, free_length=2.0))  # pushes it aside
    for k in range(3):
        model.add(fem.Distance(model.ground.frame([1, 0, k]), bob, name=f"rod {k}"), active=False)
    model.add(fem.PointForce(bob, [1e-12, 0, 0]))
    with pytest.warns(UserWarning, match="UNSTABLE"):
        static = fem.static_equilibrium(model)
    assert static.stable is False and static.lowest_eigenvalue == pytest.approx(-1.0)


def test_joints_count_at_the_time_of_the_analysis_and_not_at_that_of_the_start():
    model = cantilever("tip", intervals=[(1.0, 2.0)])
    free, held = (fem.static_equilibrium(model, t=t) for t in (0.5, 1.5))
    bare, propped = fem.static_equilibrium(cantilever()), fem.static_equilibrium(cantilever("tip"))
    assert free.position(model["tip"]) == pytest.approx(bare.position(bare.system.model["tip"]), abs=1e-12)
    assert held.position(model["tip"]) == pytest.approx([1, 0, 0], abs=1e-12)
    about = [fem.modes(one.system, 2, about=one).omega for one in (held, propped, free, bare)]
    assert about[0] == pytest.approx(about[1], rel=1e-6) and about[2] == pytest.approx(about[3], rel=1e-6)


def test_joints_that_are_redundant_change_nothing_and_share_the_load_by_the_least_norm(alone):
    found, static = answers(cantilever("clamp"), redundant="allow")
    assert found == pytest.approx(alone[0], rel=1e-6, abs=1e-9)
    model, bare = static.system.model, alone[1]
    whole = bare.output(bare.system.model["clamp"], "force"), bare.output(bare.system.model["clamp"], "moment")
    for joint in ("clamp", "second"):
        for name, value in zip(("force", "moment"), whole):
            assert static.output(model[joint], name) == pytest.approx(value / 2, rel=1e-9, abs=1e-12)
    # and in the linear analysis: half of what one clamp has
    one, two = (
        fem.frequency_response(system, ("tip", "z"), ("clamp", "force"), [3.0]).response
        for system in (bare.system, static.system)
    )
    assert 2 * two == pytest.approx(one, rel=1e-6, abs=1e-9)


def test_reactions_of_a_door_on_two_hinges_have_least_norm():
    model = fem.Model("door", gravity=[0, 0, -9.81])
    door = model.add(fem.RigidBody.box(20, [0.9, 0.04, 2], position=[0.45, 0, 1], name="door"))
    model.add(fem.Revolute.at(model.ground, door, [0, 0, 0.3], [0, 0, 1], name="low"))
    model.add(fem.Revolute.at(model.ground, door, [0, 0, 1.7], [0, 0, 1], name="high"))
    model.add(fem.TorsionSpring.at(model.ground, door, [0, 0, 1], [0, 0, 1], stiffness=10.0))
    system = model.compile(redundant="allow")
    static = fem.static_equilibrium(system)
    low, high = (static.output(model[name], "force") for name in ("low", "high"))
    assert low[2] == pytest.approx(high[2], rel=1e-9) and low[2] + high[2] == pytest.approx(20 * 9.81, rel=1e-9)
    # least of all with the same effect, in forces and moments over the size of the model
    lam = static.multipliers / system.row_arm[: system.m]
    G = (system.row_arm[: system.m, None] * system.matrices(static.state)[3].toarray()).T
    assert np.linalg.norm(lam) == pytest.approx(np.linalg.norm(np.linalg.pinv(G) @ (G @ lam)), rel=1e-12)


def test_drivers_that_others_hold_or_that_are_off_are_no_inputs():
    def arm(grip, **switch):
        model = fem.Model("arm", gravity=[0, 0, 0])
        body = model.add(fem.RigidBody.box(1, [1, 0.1, 0.1], position=[0.5, 0, 0], name="arm"))
        drive = fem.RevoluteDriver.at(model.ground, body, [0, 0, 0], [0, 0, 1], angle=lambda t: 0.0 * t, name="motor")
        model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="hinge"))
        model.add(drive, **switch)
        if grip:
            model.add(fem.Spherical.at(model.ground, body, [1, 0, 0], name="grip"))
        return model.compile(redundant="allow")

    with pytest.raises(fem.ParameterError, match=r"inputs = .*other constraints"):
        fem.linearise(arm(True), "motor", ("arm", "rz"))
    with pytest.raises(fem.ParameterError, match=r"inputs = .*off at this state"):
        fem.linearise(arm(False, active=False), "motor", ("arm", "rz"))
    # one that is not in the way of the others may be there twice
    assert fem.linearise(arm(False), "motor", ("arm", "rz")).response(1.0)[0, 0] == pytest.approx(1.0)  # s² = 1


@pytest.fixture(scope="module")
def rotors():
    """A rotor on springs, without another joint, with one that is off, and with bearings that repeat each other."""
    found = []
    for second in ("none", "off", "twice"):
        model = fem.Model("rotor", gravity=[0, 0, 0])
        body = model.add(fem.RigidBody(3.0, [0.05, 0.03, 0.03], fixed=("x",), name="rotor"))
        ring = model.add(fem.RigidBody(0.5, [0.01] * 3, position=[0.4, 0, 0], name="ring"))
        for k in range(2 if second == "twice" else 1):
            model.add(fem.Revolute.at(ring, body, [0.4, 0, 0], [1, 0, 0], name=f"bearing {k}"))
        for far in ([0.4, 1e5, 0], [0.4, 0, 1e5]):
            model.add(fem.Spring(model.ground.frame(far), ring, stiffness=2e3, damping=5.0))
        for far in ([-0.4, 1e5, 0], [-0.4, 0, 1e5]):
            model.add(fem.Spring(model.ground.frame(far), body.frame([-0.4, 0, 0]), stiffness=3e3))
        if second == "off":
            model.add(fem.Spherical.at(model.ground, ring, [0.4, 0, 0], name="off"), active=False)
        found.append((model.compile(redundant="allow" if second == "twice" else "error"), body))
    return found


def test_a_rotor_with_joints_that_are_off_or_repeat_has_the_same_speeds_and_orbits(rotors):
    told = []
    for system, body in rotors:
        given = {"rotor": body, "axis": [1, 0, 0]}
        diagram = fem.campbell(system, [20.0, 60.0], 3, **given)
        orbit = fem.unbalance_response(system, {body: 1e-3}, [30.0, 50.0], **given)
        speeds = [one.speed for one in fem.critical_speeds(system, 2, **given)]
        told.append(np.concatenate([diagram.omega.ravel(), speeds, 1e4 * orbit.amplitude(body)]))
    assert told[1] == pytest.approx(told[0], rel=1e-8) and told[2] == pytest.approx(told[0], rel=1e-8)


def test_multipliers_of_a_period_do_not_see_a_joint_that_is_off_and_reject_one_that_is_switched():
    def swing(**switch):
        model = fem.Model("swing", gravity=[0, 0, -9.81])
        body = model.add(fem.RigidBody(2.0, [0.1, 0.2, 0.1], position=[0, 0, -0.5], name="bob"))
        model.add(fem.Revolute.at(model.ground, body, position=[0, 0, 0], axis=[0, 1, 0], name="hinge"))
        if switch:
            model.add(fem.Spherical.at(model.ground, body, [0, 0, -0.5], name="catch"), **switch)
        return fem.floquet(model, 0.3, fem.DecoupledNSGA(rho_inf=1.0), 0.02, extrapolate=False).multipliers

    assert swing(active=False) == pytest.approx(swing(), rel=1e-9)
    with pytest.raises(fem.ParameterError, match=r"'catch'.* 0\.1 s"):
        swing(intervals=[(0.1, 1.0)])


def test_many_rows_that_are_independent_need_not_be_distinguished(monkeypatch):
    from fem_mbs.solvers import counting_rows

    monkeypatch.setattr(counting_rows, "MOST", 4)
    once, twice = cantilever().compile(redundant="allow"), cantilever("clamp").compile(redundant="allow")
    assert fem.static_equilibrium(once).stable  # not known to be independent, and it is
    with pytest.raises(fem.SolverError, match=r"'cantilever'.*12 constraint"):
        fem.static_equilibrium(twice)
