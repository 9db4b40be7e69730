"""Coupled methods where Newton's iteration finds no step: sets of contacts that it goes to and fro between."""

import numpy as np
import pytest
import random_models

import fem_mbs as fem
from fem_mbs.solvers.alpha import reduced
from fem_mbs.solvers.stepping.engine import Engine

GGL, FRICTION = fem.NonsmoothGeneralizedAlphaGGL, fem.NonsmoothGeneralizedAlphaFriction


def pendulum_in_a_worn_bearing():
    """A bar on a journal with clearance. Both ends of the journal slide on the bore, and their forces couple: the one
    that is pressed less would have to pull, and closes further without a force. The other one lets go.
    """
    model = fem.Model("worn bearing", gravity=[0, 0, -9.81])
    bar = model.add(fem.RigidBody.box(1.0, [0.5, 0.05, 0.05], position=[0.25, 0, 0], name="bar"))
    axis = [np.pi / 2, 0, 0]
    joint = fem.JournalClearance(
        bar.frame([-0.25, 0, 0], rotation=axis), model.ground.frame(rotation=axis), radius=0.02, clearance=1e-3,
        length=0.05, end_play=1e-3, friction=0.3, restitution=0.5, name="pin",
    )  # fmt: skip
    model.add(joint)
    return model


@pytest.mark.parametrize("method", [GGL, FRICTION])
@pytest.mark.parametrize("h", [2e-4, 1e-4])
def test_smaller_steps_are_not_harder_in_a_worn_bearing(method, h):
    result = method(divide_failed_steps=False).run(pendulum_in_a_worn_bearing(), 0.2, h)
    solved = np.flatnonzero(result.contact_problems)
    assert result.status == "complete" and len(solved) > 0 and not result.warnings
    ends = np.stack([result["pin 1"].impulse, result["pin 2"].impulse])
    normal, friction = ends[:, :, 0], np.linalg.norm(ends[:, :, 1:], axis=2)
    assert normal.min() > -1e-12 and (friction - 0.3 * normal).max() < 1e-5 * normal.max()
    assert (np.minimum(*normal)[solved] < 1e-12).any()  # one end has let go
    assert min(result[f"pin {i}"].gap.min() for i in range(1, 11)) > -1e-12
    energy = result.energy.total
    assert (energy - np.minimum.accumulate(energy)).max() < 1e-5 * result.energy.kinetic.max()


def test_stiff_beams_take_all_blocks_at_once_where_the_blocks_in_turn_do_not_converge():
    outcome = random_models.run(62279, "NonsmoothGeneralizedAlphaGGL")
    assert "sequential" in outcome.case and outcome.kind == "fine", outcome


def ladder(angle):
    """A ladder of 2 m from rest between a smooth wall and a smooth floor; ``angle`` [rad] above the floor."""
    length, model = 2.0, fem.Model("ladder", gravity=[0, 0, -9.81])
    middle = 0.5 * length * np.array([np.cos(angle), 0, np.sin(angle)])
    body = model.add(
        fem.RigidBody(3.0, [1e-2, length**2 / 4, length**2 / 4], position=middle, rotation=[0, angle - np.pi, 0],
                      fixed=("y", "rx", "rz"), name="ladder")
    )  # fmt: skip
    wall = model.ground.frame([0, 0, 0], [0, np.pi / 2, 0])
    model.add(fem.SphereOnPlane(body.frame([-length / 2, 0, 0]), model.ground, radius=0.0, name="floor"))
    model.add(fem.SphereOnPlane(body.frame([length / 2, 0, 0]), wall, radius=0.0, name="wall"))
    return model


@pytest.mark.parametrize("coupling", ["monolithic", "sequential"])
def test_a_contact_that_only_the_force_of_another_one_closes_has_no_velocity(coupling):
    """Without forces the top of the ladder would leave the wall; the floor presses it on."""
    result = GGL(coupling=coupling).run(ladder(np.radians(60)), 0.3, 1e-3)
    assert not result.warnings
    assert np.abs(result["wall"].gap).max() < 1e-12
    # the top moves along the wall: |ẋ| of the middle is |ω| times its height; and the energy stays
    body = result["ladder"]
    across = np.abs(body.velocity[:, 0]) - np.abs(body.angular_velocity[:, 1]) * body.position[:, 2]
    assert np.abs(across).max() < 1e-10
    lost = np.abs(result.energy.total - result.energy.total[0])
    assert (lost <= 0.01 * result.energy.kinetic).all()


def sliding_and_sticking(t):
    return [5.0 * np.sin(8 * t), 0.0, 4.0 * np.sin(5 * t)]


def pulled_block():
    model = fem.Model("pulled block", gravity=[0, 0, -9.81])
    block = model.add(fem.RigidBody(1.0, [0.01] * 3, fixed=("y", "rx", "ry", "rz"), name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=0.3, name="foot"))
    model.add(fem.PointForce(block, force=sliding_and_sticking, name="pull"))
    return model


# rho_inf up to 0.5: inside to the accuracy asked of friction rows, rtol = 1e-6 of the forces of a step
@pytest.mark.parametrize(("rho_inf", "least", "most"), [(0.0, 0.0, 1e-8), (0.5, 0.0, 1e-8), (0.8, 1e-3, 0.05)])
def test_the_result_reports_how_far_impulses_of_friction_leave_their_cone(rho_inf, least, most):
    result = FRICTION(rho_inf).run(pulled_block(), 1.0, 1e-3)
    foot, told = result["foot"], result.statistics["friction_beyond_cone"]
    bound = 0.3 * foot.impulse[:, 0]
    beyond = np.linalg.norm(foot.impulse[:, 1:], axis=1) - bound
    assert told == pytest.approx(max(beyond[1:].max(), 0.0) / bound[1:].max(), abs=1e-12)
    assert least <= told <= most
    assert ("outside of its cone" in str(result.report())) == (told > 1e-6)
    force = np.linalg.norm(foot.force[:, 1:], axis=1) - 0.3 * foot.force[:, 0]
    assert force.max() < 1e-6 * foot.force[:, 0].max()  # the force itself is inside


@pytest.mark.parametrize("rho_inf", [0.8, 1.0])
@pytest.mark.parametrize("load", [24.0, 28.0, 32.0])
def test_sliding_that_turns_about_within_a_step_is_solved_at_once(rho_inf, load):
    """The memory of friction before and its force after it cancel: by (5) of `levels_friction` no branch would hold."""
    model = fem.Model("pushed back", gravity=[0, 0, -9.81])
    block = model.add(
        fem.RigidBody(1.0, [0.01] * 3, velocity=[0.02, 0, 0], fixed=("y", "rx", "ry", "rz"), name="block")
    )
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=0.3, name="foot"))
    model.add(fem.PointForce(block, [-load, 0, 0], signal=lambda t: 1.0 if t > 4.5e-3 else 0.0, name="push"))
    result = FRICTION(rho_inf, divide_failed_steps=False).run(model, 0.01, 1e-3)
    speed, foot, weight = result["block"].velocity[:, 0], result["foot"], 9.81
    assert speed[4] > 0.0 > speed[5]
    assert result.statistics["repeated_steps"] == result.statistics["contact_problems"] == 0
    # the force is that of the sliding at the end, and of the impulse all goes against it: law (3)
    assert foot.force[:, 1] == pytest.approx(-0.3 * weight * np.sign(speed), rel=1e-5)
    assert foot.impulse[5, 1] == pytest.approx(0.3 * weight * 1e-3, rel=1e-4)


def linear_contacts():
    """A block on two feet and a ball that turns about one axis: what contacts do to them is linear in each set."""
    model = fem.Model("linear", gravity=[0, 0, -9.81])
    block = model.add(
        fem.RigidBody(1.0, [0.01] * 3, position=[0, 0, 0.004], fixed=("y", "rx", "ry", "rz"), name="block")
    )
    for k, x in enumerate((-0.1, 0.1)):
        law = {"friction": 0.3, "restitution": 0.4}
        model.add(fem.SphereOnPlane(block.frame([x, 0, 0]), model.ground, radius=0.0, name=f"foot {k}", **law))
    model.add(fem.PointForce(block, force=sliding_and_sticking, name="pull"))
    ball = model.add(
        fem.RigidBody.sphere(1.0, 0.1, position=[0, 1, 0.1], velocity=[0.3, 0, 0], fixed=("y", "rx", "rz"), name="ball")
    )
    # friction of one face goes into the gap of the other one
    wedge = model.add(
        fem.RigidBody(
            1.0, [0.01] * 3, position=[0, 2, 0.003], velocity=[0.2, 0, 0], fixed=("y", "rx", "ry", "rz"), name="wedge"
        )
    )
    for name, turn in (("left", 0.9), ("right", -0.6)):
        face = model.ground.frame([0, 2, 0], rotation=[0, turn, 0])
        model.add(fem.SphereOnPlane(wedge, face, radius=0.0, friction=0.3, restitution=0.2, name=name))
    law = {"friction": 0.4, "rolling_resistance": 0.02}
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor", **law))
    # without forces the corner falls away from the wall that leans over it: the force of its ground presses it on
    corner = model.add(fem.RigidBody(1.0, [0.01] * 3, position=[0, 3, 0], fixed=("rx", "ry", "rz"), name="corner"))
    model.add(fem.SphereOnPlane(corner, model.ground, radius=0.0, name="bottom"))
    wall = model.ground.frame([0, 3, 0], rotation=[0, np.pi / 2 + 0.5, 0])
    model.add(fem.SphereOnPlane(corner, wall, radius=0.0, name="wall"))
    model.add(fem.PointForce(corner, [-2.0, 0, 0], name="push"))
    return model


def without_newtons_iteration(monkeypatch, method):
    """Let the reduced contact problem alone solve the steps of a method, linearised once; not its first forces."""
    first, guess = Engine.first, method.first_guess

    def begin(self, block):
        first(self, block)
        self.run[0]["max_iterations"] = 0

    monkeypatch.setattr(Engine, "first", begin)
    monkeypatch.setattr(method, "first_guess", lambda self: (guess(self)[0], None))
    monkeypatch.setattr(reduced, "ROUNDS", 1)


def test_the_reduced_contact_problem_solves_linear_steps_without_newtons_iteration(monkeypatch):
    known = GGL().run(linear_contacts(), 0.15, 1e-3)
    assert sum(known[name].impact.sum() for name in known.contacts) > 3
    pressed = known["left"], known["right"], known["bottom"], known["wall"]
    assert min(contact.impulse[-1, 0] for contact in pressed) > 1e-3  # friction of one face goes into the other's gap
    without_newtons_iteration(monkeypatch, GGL)
    found = GGL(divide_failed_steps=False).run(linear_contacts(), 0.15, 1e-3)
    assert found.statistics["contact_problems"] == 150
    assert found.statistics["repeated_steps"] == 0
    for name in ("block", "ball", "wedge", "corner"):
        for what in ("position", "velocity", "angular_velocity"):
            assert np.abs(getattr(found[name], what) - getattr(known[name], what)).max() < 1e-7, (name, what)
    for names in (["foot 0", "foot 1"], ["floor"], ["bottom"], ["wall"]):  # how feet and faces share a load is nobody's
        impulses = [sum(result[name].impulse for name in names) for result in (found, known)]
        assert np.abs(impulses[0] - impulses[1]).max() < 1e-7, names


def held_contacts():
    """A block and a ball with resistances that their loads do not move: all levels hold at once."""
    model = fem.Model("held", gravity=[0, 0, -9.81])
    block = model.add(fem.RigidBody(1.0, [0.01] * 3, fixed=("y", "rx", "ry", "rz"), name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=0.5, name="foot"))
    model.add(fem.PointForce(block, lambda t: [2 * np.cos(40 * t), 0, -5 * np.sin(60 * t)], name="load"))
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 1, 0.1], name="ball"))
    law = {"friction": 0.5, "rolling_resistance": 0.02, "spinning_resistance": 0.01}
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor", **law))
    turns = lambda t: [0.05 * np.sin(50 * t), 0.03 * np.cos(30 * t), 0.02 * np.sin(20 * t)]  # noqa: E731
    model.add(fem.PointMoment(ball, turns, name="turn"))
    return model


def test_the_reduced_contact_problem_takes_the_memory_of_forces_off(monkeypatch):
    """λ = c_a (P − P_0) and κ − κ_0: a step of what is held is solved by them, whatever its loads were before."""
    known = FRICTION().run(held_contacts(), 0.1, 1e-3)
    without_newtons_iteration(monkeypatch, FRICTION)
    found = FRICTION(divide_failed_steps=False).run(held_contacts(), 0.1, 1e-3)
    assert found.statistics["contact_problems"] == 100 and found.statistics["repeated_steps"] == 0
    for name in ("block", "ball"):
        for result in (known, found):
            assert np.abs(result[name].velocity).max() < 1e-10 > np.abs(result[name].angular_velocity).max()
    weight, t = 9.81, found.t
    assert found["floor"].force[1:, 0] == pytest.approx(weight, rel=1e-9)
    assert found["floor"].moment[1:] == pytest.approx(known["floor"].moment[1:], abs=1e-5)  # rtol of the weight
    assert np.ptp(known["floor"].moment[1:], axis=0).max() > 0.01 and t[-1] == pytest.approx(0.1)


@pytest.mark.parametrize("method", [GGL, FRICTION])
def test_a_step_of_the_reduced_contact_problem_may_not_give_energy(method):
    """4 % of the largest kinetic energy so far, as every step: `stepping.kernels.checks`. A load may give more."""

    def gives(kinetic, top=0.0, **load):
        model = fem.Model("flight")
        body = model.add(fem.RigidBody(2.0, [0.01] * 3, velocity=[1, 0, 0], name="body"))  # 1 J
        if load:
            model.add(fem.PointForce(body, **load))
        engine = method().prepare(model.compile(), 1e-3, 1, False)
        a, run = engine.arrays, engine.run[0]
        a["V0"][:] = a["V"]
        a["x0"][:], a["R0"][:] = a["x"], a["R"]
        a["V"][1, 0], run["top_kinetic"] = kinetic**0.5, top
        return reduced.gives_energy(int(run["data_at"]), int(run["run_at"]))

    assert [gives(kinetic) for kinetic in (0.5, 1.0, 1.039, 1.041)] == [False, False, False, True]
    assert not gives(1.3, top=10.0) and gives(1.5, top=10.0)
    assert not gives(2.0, force=[1.0, 0, 0])


def test_a_step_of_the_reduced_contact_problem_that_gives_energy_is_not_taken(monkeypatch):
    without_newtons_iteration(monkeypatch, GGL)
    monkeypatch.setattr(reduced, "gives_energy", lambda data, run: True)
    with pytest.raises(fem.SolverError, match="contact-problem solver"):
        GGL(divide_failed_steps=False).run(linear_contacts(), 0.01, 1e-3)
