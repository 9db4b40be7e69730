"""A driver that runs its body into an obstacle has no motion: the run says so, not that the step is too large."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.solvers.contact import correction
from fem_mbs.solvers.stepping.kernels.blocked import blocked_contacts, squeezing_contacts, without_motion


def crank(*, driven, links=1):
    """A chain of links in the x-y plane, turned towards a floor below its last link; the first may be driven."""
    model = fem.Model("crank", gravity=[0, -9.81, 0])
    before = model.ground
    for k in range(links):
        link = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], position=[k + 0.5, 0, 0], name=f"link {k}"))
        joint = model.add(fem.Revolute.at(before, link, [k, 0, 0], [0, 0, 1], name=f"joint {k}"))
        if k == 0 and driven:
            model.add(fem.RevoluteDriver(joint.frame_P, joint.frame_Q, lambda t: -8.0 * t**2, name="motor"))
        before = link
    floor = model.ground.frame([links - 0.5, -0.2, 0], rotation=[-np.pi / 2, 0, 0])
    model.add(fem.SphereOnPlane(before, floor, radius=0.1, name="stop"))
    return model


@pytest.mark.parametrize("driven, links, expected", [(True, 1, True), (False, 1, False), (True, 2, False)])
def test_a_contact_is_blocked_where_driver_and_joints_prescribe_its_gap(driven, links, expected):
    system = crank(driven=driven, links=links).compile()
    assert blocked_contacts(system, system.initial, np.arange(1)).tolist() == [expected]


def test_a_contact_without_constraints_and_one_of_a_redundant_mechanism_are_distinguished():
    model = crank(driven=True)
    ball = model.add(fem.RigidBody(1.0, 0.1, position=[3, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground.frame([3, -1, 0], rotation=[-np.pi / 2, 0, 0]), radius=0.1))
    model.add(fem.Revolute.at(model.ground, model["link 0"], [0, 0, 0.5], [0, 0, 1], name="second bearing"))
    system = model.compile(redundant="allow")
    assert blocked_contacts(system, system.initial, np.arange(2)).tolist() == [True, False]


@pytest.mark.parametrize("options", [{}, {"contact_solver": "problem"}, {"divide_failed_steps": False}])
def test_a_driver_that_runs_into_an_obstacle_is_named_as_the_cause(options):
    with pytest.raises(fem.SolverError, match=r"contact 'stop'.*prescribe") as told:
        fem.DecoupledNSGA(**options).run(crank(driven=True), 0.5, 1e-3)
    assert told.value.element.name == "stop" and 0.1 < told.value.time < 0.3
    assert "compliant (CompliantContact)." in str(told.value)


def test_the_same_mechanism_with_a_joint_more_comes_to_rest_on_the_obstacle():
    result = fem.DecoupledNSGA().run(crank(driven=True, links=2), 0.18, 1e-3)
    assert result["stop"].impulse[:, 0].max() > 0.0 and result["stop"].gap.min() > -1e-12


@pytest.mark.parametrize("gap", [0.0, -1e-14])
def test_a_guide_that_touches_all_along_is_not_the_cause_of_what_fails_elsewhere(gap):
    """Round-off closes the contact of a slider on a rail next to the floor; a ball fails for want of iterations."""
    model = fem.Model("guided", gravity=[0, 0, -9.81])
    slider = model.add(fem.RigidBody(1.0, 0.1, position=[0, 0, 0.1 + gap], velocity=[1.0, 0, 0], name="slider"))
    model.add(fem.Prismatic.at(model.ground, slider, [0, 0, 0.1 + gap], axis=[1, 0, 0], name="rail"))
    model.add(fem.SphereOnPlane(slider, model.ground, radius=0.1, name="guide"))
    spin = {"velocity": [1.0, 0, -2.0], "angular_velocity": [3.0, 50.0, 0]}
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 3.0, 0.3], **spin, name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.3, restitution=0.5, name="floor"))
    few = {"max_iterations": 1, "contact_solver": "newton", "divide_failed_steps": False}
    with pytest.raises(fem.SolverError, match=r"stopped after [12] iterations") as told:
        fem.DecoupledNSGA(**few).run(model, 0.3, 1e-3)
    assert told.value.element.name in ("ball", "floor")


def slider_on_a_rail(gap, slope=0.0):
    """A slider on a rail that is parallel to a floor up to a slope, at a gap that no impulse changes."""
    model = fem.Model("guided", gravity=[0, 0, -9.81])
    along = np.array([np.cos(slope), 0, -np.sin(slope)])
    slider = model.add(fem.RigidBody(1.0, 0.1, position=[0, 0, 0.1 + gap], velocity=along, name="slider"))
    model.add(fem.Prismatic.at(model.ground, slider, [0, 0, 0.1 + gap], axis=along, name="rail"))
    model.add(fem.SphereOnPlane(slider, model.ground, radius=0.1, friction=0.2, name="guide"))
    return model


SIZE = np.sqrt(0.1)  # m: radius of gyration of the slider, the largest length of the model


@pytest.mark.parametrize("gap", [-1e-12, -0.9e-9 * SIZE])
@pytest.mark.parametrize("solver", ["auto", "problem"])
def test_a_contact_that_joints_alone_hold_is_not_corrected_in_every_step(gap, solver):
    """No impulse moves it; each step asked the contact-problem solver for a gap of 1e-13, which took a second."""
    result = fem.DecoupledNSGA(contact_solver=solver).run(slider_on_a_rail(gap), 0.02, 1e-3)
    # they state that none can help, the second without the contact in the smooth motion
    assert result.contact_problems[1] == (2 if solver == "problem" else 1)
    assert not result.contact_problems[2:].any()
    assert result["guide"].gap == pytest.approx(gap, rel=1e-3) and not result["guide"].impulse.any()
    assert result["slider"].velocity[-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_a_contact_that_joints_alone_hold_may_not_get_deeper_than_at_the_start():
    with pytest.raises(fem.SolverError, match=r"'guide'.*prescribe") as told:
        fem.DecoupledNSGA().run(slider_on_a_rail(-0.5e-9 * SIZE, slope=3e-8), 0.1, 1e-3)
    gaps = told.value.result["guide"].gap
    assert len(gaps) > 3 and gaps.min() > -1.1e-9 * SIZE


def test_free_bodies_are_corrected_next_to_a_contact_fixed_by_joints():
    model = slider_on_a_rail(-1e-12)
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 3.0, 0.1005], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    result = fem.DecoupledNSGA().run(model, 0.03, 1e-3)
    assert result["floor"].impact.sum() == 1
    assert np.abs(result["floor"].gap[-5:]).max() < 2e-13
    assert result["floor"].impulse[-1, 0] == pytest.approx(9.81e-3, rel=1e-9)


def test_a_contact_of_bodies_that_are_fixed_is_none_that_joints_block():
    model = crank(driven=True)
    fixed = fem.Node6([5.0, 0, 0.1], fixed=True, name="fixed")
    model.add(fem.RigidBody(1.0, 0.1, node=fixed, name="block"), fem.SphereOnPlane(fixed, model.ground, radius=0.1))
    system = model.compile()
    assert blocked_contacts(system, system.initial, np.arange(2)).tolist() == [True, False]


def test_what_fails_before_contacts_are_looked_at_is_not_put_down_to_one_of_them():
    """The smooth motion of the step in which the motor meets the obstacle fails for a reason of its own."""
    from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED
    from fem_mbs.solvers.stepping.monitors.failure import diagnose

    stepper = fem.DecoupledNSGA(divide_failed_steps=False)
    engine = stepper.prepare(crank(driven=True).compile(), 1e-3)
    times = 1e-3 * np.arange(1, 501)
    done, _, error = engine.march.advance(times, engine.make_records(501))
    assert "contact 'stop' closes" in str(error)
    assert "contact 'stop' closes" in str(diagnose(engine, NOT_CONVERGED, float(times[done])))
    engine.run[0]["failed_problem"] = 0
    assert "smooth motion" in str(diagnose(engine, NOT_CONVERGED, float(times[done])))


def press(tilt=0.0):
    """A ball on a floor under a plate that a driver lowers; a tilted plate can push it aside."""
    model = fem.Model("press", gravity=[0, 0, -9.81])
    plate = model.add(fem.RigidBody(1.0, 0.1, position=[0, 0, 0.5], name="plate"))
    rail = model.add(fem.Prismatic.at(model.ground, plate, [0, 0, 0], axis=[0, 0, 1], name="rail"))
    model.add(fem.LinearDriver(rail.frame_P, rail.frame_Q, lambda t: -5.0 * t**2, name="motor"))
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], name="ball"))
    face = plate.frame([0, 0, -0.1], rotation=[np.pi + tilt, 0, 0])
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="below"))
    model.add(fem.SphereOnPlane(ball, face, radius=0.1, name="above"))
    return model


@pytest.mark.parametrize("solver", ["auto", "problem"])
def test_contacts_that_a_driver_closes_through_a_body_between_them_are_named_together(solver):
    with pytest.raises(fem.SolverError, match="'below', 'above' together") as told:
        fem.DecoupledNSGA(contact_solver=solver).run(press(), 0.5, 1e-3)
    assert told.value.time == pytest.approx(0.2, abs=2e-3)  # 5 t² = 0.2


@pytest.mark.parametrize("tilt, expected", [(0.0, True), (0.2, False)])
def test_contacts_squeeze_a_body_that_has_no_way_out(tilt, expected):
    system = press(tilt).compile()
    gaps = np.array([0.0, -1e-3])
    assert squeezing_contacts(system, system.initial, np.arange(2), gaps).tolist() == [expected, expected]
    assert not squeezing_contacts(system, system.initial, np.arange(2), np.array([2e-3, -1e-3])).any()  # room below


def wheel_at_a_stop():
    """A wheel whose motor prescribes its rate, and no angle."""
    model = fem.Model("stop")
    wheel = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], angular_velocity=[0, 0, 3.0], name="wheel"))
    kinds = {"motor": fem.Motor(rate=3.0), "stops": fem.Stops(upper=0.3)}
    model.add(fem.Revolute.at(model.ground, wheel, [0, 0, 0], axis=[0, 0, 1], name="hinge", **kinds))
    return model


@pytest.mark.parametrize("build", [wheel_at_a_stop, press], ids=["alone", "together"])
def test_problems_of_contacts_that_no_impulse_opens_are_rejected_at_the_second(build, monkeypatch):
    """All methods were tried on each of twelve linearisations of every correction, of every part of the step."""
    solved, corrections = [], []
    solve, correct = correction.solve_contact_problem, correction.ContactProblemCorrection._correct
    monkeypatch.setattr(
        correction, "solve_contact_problem", lambda *given, **more: solved.append(1) or solve(*given, **more)
    )
    monkeypatch.setattr(
        correction.ContactProblemCorrection,
        "_correct",
        lambda self, level: corrections.append(1) or correct(self, level),
    )
    with pytest.raises(fem.SolverError, match="close"):
        fem.DecoupledNSGA().run(build(), 0.5, 1e-2)
    assert len(corrections) > 3 and len(solved) <= 2 * len(corrections)


def test_what_is_not_known_of_contacts_squeezes_nothing(monkeypatch):
    def stopped(*_):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", stopped)
    assert not without_motion(np.zeros((2, 2)), np.ones(2), np.array([-1.0, -1.0]), 1e-9).any()


@pytest.mark.parametrize("restitution", [0.0, 1.0])
@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean()], ids=["NSGA", "MoreauJean"])
def test_a_heavy_flywheel_behind_gears_is_stopped_though_it_gives_the_contact_hardly_any_mobility(method, restitution):
    """A slider of 1 kg moves as if it had N² J = 1e9 kg: it can be stopped, nothing drives it."""
    N, J, v = 1e5, 0.1, 1e-4
    model = fem.Model("geared")
    slider = model.add(fem.RigidBody(1.0, 0.1, velocity=[v, 0, 0], name="slider"))
    rail = fem.Prismatic.at(model.ground, slider, [0, 0, 0], axis=[1, 0, 0], name="rail")
    wheel = fem.RigidBody(1.0, [J] * 3, position=[0, 2, 0], angular_velocity=[0, 0, N * v], name="wheel")
    hinge = fem.Revolute.at(model.ground, wheel, [0, 2, 0], [0, 0, 1], name="hinge")
    wall = model.ground.frame([0.1 + 5e-8, 0, 0], rotation=[0, -np.pi / 2, 0])
    stop = fem.SphereOnPlane(slider, wall, radius=0.1, restitution=restitution, name="stop")
    model.add(rail, wheel, hinge, fem.CoordinateCoupling([(N, rail), (-1.0, hinge)], name="gear"), stop)
    result = method.run(model, 4e-3, 1e-3)
    assert result["slider"].velocity[-1, 0] == pytest.approx(-restitution * v, abs=1e-9 * v)
