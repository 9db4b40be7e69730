"""Steps that converge and are wrong: far roots, elements outside their range, rejected attempts."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.nsga import scheme
from fem_mbs.solvers.stepping.kernels.codes import JUMP, NOT_CONVERGED, OK
from fem_mbs.solvers.stepping.kernels.data import run_at
from fem_mbs.system.records import POSITION


def turns(result, name):
    """Angles (k,) [rad] by which a body turns in each step."""
    R = result[name].rotation
    traces = np.einsum("kij,kij->k", R[1:], R[:-1])
    return np.arccos(np.clip((traces - 1.0) / 2.0, -1.0, 1.0))


def slider_in_a_guide(seed, speed=2.0, **law):
    """A box with 0.25 mm of play; it is open at all corners again once it has turned by 19 degrees."""
    rng = np.random.default_rng(seed)
    model, size = fem.Model("guide", gravity=[0, 0, -9.81]), [0.05, 0.04, 0.3]
    motion = {"velocity": speed / 2 * rng.uniform(-2, 2, 3), "angular_velocity": speed / 2 * rng.uniform(-5, 5, 3)}
    slider = model.add(fem.RigidBody.box(4.6, size, **motion, name="slider"))
    guide = {"size": size, "clearance": 2.5e-4, "name": "guide"} | law
    model.add(fem.PrismaticClearance(slider.frame(), model.ground.frame(), **guide))
    return model


@pytest.mark.parametrize("seed", [0, 4])  # turned by 129 and 102 degrees in one step
@pytest.mark.parametrize("options", [{}, {"restitution_speed": "start", "impacts": "plain"}])
def test_a_slider_never_turns_round_in_its_guide(seed, options):
    model, h = slider_in_a_guide(seed, restitution=1.0), 1e-3
    result = fem.DecoupledNSGA(**options).run(model, 400 * h, h)
    # it hits once or twice in a step and turns back: never more than a few steps of its angular velocity
    speed = np.linalg.norm(result["slider"].angular_velocity, axis=1).max()
    assert turns(result, "slider").max() < 4.0 * speed * h
    # it was 38 J after one wrong step; single steps gain O(h) of late impacts
    assert result.energy.total.max() < result.energy.total[0] * 1.005
    # 0.80 and 0.90 where corners touch at different times of a step and each has the speed of its own touch
    assert result.energy.total.min() > result.energy.total[0] * 0.98


@pytest.mark.parametrize("seed", [0, 4])
def test_impacts_of_a_body_that_spins_without_weight_keep_its_energy(seed):
    """Gyroscopic forces change the speed of a corner on its way, but do no work: single impacts gave or took 0.5 %."""
    model = slider_in_a_guide(seed, restitution=1.0)
    model.gravity = np.zeros(3)
    result = fem.DecoupledNSGA(impacts="plain").run(model, 0.06, 2.5e-4)
    assert sum(result[contact].impact.sum() for contact in result.contacts) > 20
    energy = result.energy.total / result.energy.total[0]
    assert energy.max() < 1.0 + 1e-9
    # of free turning, 1e-4; 7.4e-4 where a corner that approaches slowly waits for the impact of another one and then
    # does not have the speed at its own touch: 2 or 3 of some 30 impacts, by the round-off of the machine
    assert np.diff(energy).min() > -1e-3 and np.sum(np.diff(energy) < -1e-4) <= 3


def test_roots_that_are_far_from_the_start_of_a_step_are_rejected():
    """With the published approach, which gives the slider energy, no step may turn it round either."""
    model = slider_in_a_guide(0, restitution=1.0)
    try:
        result = fem.DecoupledNSGA.published(divide_failed_steps=False).run(model, 0.4, 1e-3)
    except fem.SolverError as error:
        result = error.result
    assert turns(result, "slider").max() < 0.1  # 2.25 rad before there was a bound


@pytest.mark.parametrize("seed", [2, 4])
def test_newtons_iteration_avoids_roots_that_are_far_from_the_start_next_to_a_load_as_well(seed):
    """Only drivers may make the start of a step one that is not allowed at its end."""
    model = slider_in_a_guide(seed, restitution=1.0)
    model.add(fem.PointForce(model["slider"], [0, 0, 1e-12], signal=np.cos))
    options = {"approach": "start", "divide_failed_steps": False, "contact_solver": "newton"}
    # without the bound the slider turns round in the second or third step, which is not supported
    assert fem.DecoupledNSGA(**options).run(model, 0.1, 1e-3).status == "complete"


def test_a_coin_may_roll_on_its_edge_while_its_centre_rests():
    """Its centre has neither speed nor acceleration; by O(h³) it moves because the coin turns, which is no jump."""
    g, radius, mass, tilt = 9.81, 0.04, 0.05, np.radians(50)
    rate, axis = np.sqrt(4 * g / (radius * np.sin(tilt))), np.array([np.sin(tilt), 0, np.cos(tilt)])
    model, inertia = fem.Model("coin", gravity=[0, 0, -g]), mass * radius**2 / 4
    spin = rate * (np.array([0, 0, 1]) - np.cos(tilt) * axis)
    coin = fem.RigidBody(mass, [inertia, inertia, 2 * inertia], position=[0, 0, radius * np.sin(tilt)],
                         rotation=[0, tilt, 0], angular_velocity=spin, name="coin")  # fmt: skip
    model.add(coin, fem.RingOnPlane(coin, model.ground, radius=radius, friction=0.9, name="table"))
    turn = 2 * np.pi / rate
    result = fem.DecoupledNSGA(divide_failed_steps=False).run(model, 0.2 * turn, turn / 100)
    assert abs(result.energy.total[-1] / result.energy.total[0] - 1) < 1e-4  # 4e-5 in three turns


def test_a_step_in_which_a_node_jumped_is_taken_in_substeps():
    engine = fem.DecoupledNSGA().prepare(slider_in_a_guide(0).compile(), 1e-3)
    assert engine.march.control._may_help(JUMP)


# --- the contact-problem solver in a run ------------------------------------------------------------------------------


def chain(links=2, **more):
    model = fem.Model("chain", gravity=[0, 0, -9.81])
    before = model.ground
    for k in range(links):
        link = fem.RigidBody(1.0, [0.01, 0.02, 0.02], position=[k + 0.5, 0, 1.0], name=f"link {k}")
        model.add(link, fem.Spherical.at(before, link, [k, 0, 1.0], name=f"pin {k}"))
        before = link
    return model


@pytest.mark.parametrize("solver", ["auto", "newton", "problem"])
def test_the_way_contacts_are_solved_does_not_matter_to_a_model_without_contacts(solver):
    result = fem.DecoupledNSGA(contact_solver=solver).run(chain(), 0.2, 1e-3)
    assert result.status == "complete" and result.statistics["contact_problems"] == 0


def test_newtons_iteration_takes_over_where_the_contact_problem_solver_fails(monkeypatch):
    from fem_mbs.solvers.contact import correction

    monkeypatch.setattr(correction.ContactProblemCorrection, "_correct", lambda self, level: False)
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, friction=0.3, name="floor"))
    result = fem.DecoupledNSGA(contact_solver="problem").run(model, 0.3, 1e-3)
    assert result["floor"].impact.sum() >= 1 and result["floor"].gap.min() > -1e-12


# --- long chains ------------------------------------------------------------------------------------------------------


def test_independent_joints_need_no_iterations_of_the_corrections():
    """With a proximal shift the number grew with the length of the chain, to 12 for 10,000 links."""
    result = fem.DecoupledNSGA().run(chain(100), 0.02, 1e-3)
    assert result.iterations.velocity[1:].mean() <= 1.0
    assert result.violation.velocity.max() < 1e-10


# --- smooth motion --------------------------------------------------------------------------------------------------


def rough_floor(stiffness, friction):
    """A spinning ball that lands on a compliant floor, where friction soon turns its sliding round."""
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    motion = {"velocity": [3.0, 0.5, -2.0], "angular_velocity": [0, 20, 5]}
    ball = model.add(fem.RigidBody.sphere(1.5, 0.05, position=[0, 0, 0.06], **motion, name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.05, restitution=0.5, friction=friction, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=stiffness, model="flores", max_indentation=0.05, name="floor"))
    return model


@pytest.mark.parametrize("option", [{}, {"persistent_contacts": True}, {"mixed": True}])
@pytest.mark.parametrize(
    "stiffness, friction, rho_inf, h", [(1e6, 0.3, 0.0, 5e-4), (5e7, 0.3, 0.0, 2e-3), (1e6, 0.8, 1.0, 1e-3)]
)
def test_friction_that_turns_round_within_a_step_is_solved(stiffness, friction, rho_inf, h, option):
    """Full Newton steps went to and fro between the two directions of sliding; 202 of 216 such balls failed."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf, **option).run(rough_floor(stiffness, friction), 0.4, h)
    assert result.status == "complete"
    speed = result["ball"].velocity[-1, 0] - 0.05 * result["ball"].angular_velocity[-1, 1]
    assert abs(speed) < 0.5 * (3.0 - 0.05 * 20)  # friction has acted: the point of contact slid at 2 m/s


def test_mixed_iterations_are_ordinary_ones_in_models_without_beams():
    ordinary, mixed = (fem.DecoupledNSGA(mixed=option).run(chain(), 0.2, 1e-3) for option in (False, True))
    assert np.array_equal(ordinary.iterations.smooth, mixed.iterations.smooth)
    assert np.array_equal(ordinary["link 1"].position, mixed["link 1"].position)


def test_a_step_whose_prediction_turns_too_far_starts_from_rest():
    """A stiff spiral spring that is wound up: a_0 = 2e7 rad/s² predicts more than 3 rad, the step turns less."""
    model = fem.Model("spiral")
    disc = model.add(fem.RigidBody(1.0, 1e-3, name="disc"))
    joint = model.add(fem.Revolute.at(model.ground, disc, [0, 0, 0], axis=[0, 0, 1]))
    model.add(fem.TorsionSpring(joint.frame_P, joint.frame_Q, 2e4, free_angle=1.0))
    engine = fem.DecoupledNSGA(rho_inf=0.0).prepare(model.compile(), 1e-3)
    engine.own[0]["fresh"] = 1  # the first step is one of the trapezoidal rule, which keeps the energy
    records = engine.make_records(20)
    assert engine.march.advance(1e-3 * np.arange(1, 21), records)[2] is None
    assert records["energy"].sum(axis=1).max() < 1.05 * 1e4


@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.GeneralizedAlpha])
def test_a_light_slider_on_a_stiff_damped_spring_gains_no_energy(method):
    """Its acceleration predicts a path of 16 m in a step; another root far away gave 7e6 J of energy."""
    model = fem.Model("bead")
    direction = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    bead = model.add(fem.RigidBody(1e-3, 3e-6, position=[0.5, 0, 0], velocity=0.28 * direction, name="bead"))
    model.add(fem.Prismatic.at(model.ground, bead, [0.5, 0, 0], direction))
    model.add(fem.Spring(model.ground, bead, stiffness=4.6e8, damping=4.6e5))
    result = method(rho_inf=1.0).run(model, 0.02, 2e-3)
    assert (np.diff(result.energy.total) < 0.0).all()
    assert np.abs(result["bead"].position - [0.5, 0, 0]).max() < 1e-8  # it creeps: k/d = 1000/s, d/m = 4.6e8/s


# --- elements outside their range -------------------------------------------------------------------------------------


def soft_beam(turned):
    """A soft beam of one element, clamped at one end, whose free end turns fast about the transverse axis."""
    model = fem.Model("folding")
    section = fem.Section.circle(0.01, E=1e5, density=1000)
    root = fem.Node6(fixed=True)
    tip = fem.Node6([0.2, 0, 0], angular_velocity=[0, 0, turned], name="tip")
    model.add(fem.Beam(root, tip, section, name="beam"), fem.RigidBody(1.0, 1e-2, node=tip, name="end"))
    return model


@pytest.mark.parametrize("control", [None, fem.StepControl()])
def test_a_beam_whose_ends_turn_too_far_ends_the_run_before_it_goes_wrong(control):
    """Past half a turn the logarithm of the relative rotation changes its branch; the energy rose 30,000 times."""
    message = r"Beam 'beam': its ends and middle are turned by .* use more elements"
    with pytest.raises(fem.SolverError, match=message) as caught:
        fem.DecoupledNSGA(step_control=control).run(soft_beam(60.0), 0.2, 1e-3)
    energy = caught.value.result.energy.total
    assert energy.max() < energy[0] * (1 + 1e-3)


@pytest.mark.parametrize("depth, rejected", [(0.0099, False), (0.0101, True)])
def test_a_compliant_contact_may_not_start_deeper_than_a_tenth_of_the_radius(depth, rejected):
    model = fem.Model("deep", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1 - depth], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5)
    model.add(fem.CompliantContact(floor, stiffness=1e5, name="floor"))  # it lifts the ball
    if rejected:
        with pytest.raises(fem.ModelError, match=r"'floor'.*indentation.*0\.0101 m"):
            model.compile()
    else:
        assert fem.DecoupledNSGA().run(model, 1e-2, 1e-3).status == "complete"


def test_a_step_that_goes_too_deep_into_a_compliant_contact_is_rejected():
    model = fem.Model("fast")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], velocity=[0, 0, -100], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5)
    model.add(fem.CompliantContact(floor, stiffness=1e5, name="floor"))
    with pytest.raises(fem.SolverError, match=r"Step \d+, t = .*'floor'.*indentation"):
        fem.DecoupledNSGA().run(model, 0.1, 1e-3)


# --- attempts ---------------------------------------------------------------------------------------------------------


plain_step = kernel(scheme.step.function)


@kernel
def astray_at_first(data, run):
    """A step whose first attempt goes astray in the position correction."""
    s = run_at(run)[0]
    if s.repeats == 0:
        s.scale_x, s.scale_v = 1e6, 1e7
        s.failed_problem, s.code = POSITION, NOT_CONVERGED
        return
    plain_step(data, run)


@entry("void(int64, int64)")
def fails_at_first(data, run):
    astray_at_first(data, run)


@entry("void(int64, int64)")
def fails_then_jumps(data, run):
    """The same, and all is half a metre off its path after the second attempt."""
    s = run_at(run)[0]
    astray_at_first(data, run)
    if s.code == OK:
        for i in range(s.x.shape[0]):
            s.x[i, 0] += 0.5


def test_sizes_that_tolerances_refer_to_are_not_those_of_attempts_that_were_rejected():
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    engine = fem.DecoupledNSGA().prepare(model.compile(), 1e-3)
    engine.run[0]["step_part"] = fails_at_first.address
    assert engine.march.advance(1e-3 * np.arange(1, 11), engine.make_records(10))[2] is None
    assert engine.run[0]["repeated"] == 10
    assert engine.run[0]["scale_x"] == pytest.approx(0.2)
    assert engine.run[0]["scale_v"] == pytest.approx(np.sqrt(9.81 * 0.2))  # of falling by the size
    engine.run[0]["step_part"] = fails_then_jumps.address
    error = engine.march.advance(np.array([1.1e-2]), engine.make_records(1))[2]
    assert "jumped: it moved" in str(error)  # the floor of what is a jump is 1e-6 of that size


def test_a_root_of_the_contact_problem_solver_that_is_far_from_the_start_is_rejected(monkeypatch):
    """It is made to put a ball off its path, by four times that: less than what is a jump, more than (1) allows."""
    from fem_mbs.solvers.contact import correction

    real, astray = correction.ContactProblemCorrection._correct, []

    def beside(self, level):
        solved, arrays = real(self, level), self.engine.arrays
        if level == POSITION and solved:
            ball = int(np.argmax(np.abs(arrays["V0"][:, 2])))
            arrays["U"][ball, 0] = 4e-3
            self.engine.call(self.engine.problem_at(int(self.engine.run[0]["solving"])), "residual")
            astray.append(level)
        return solved

    monkeypatch.setattr(correction.ContactProblemCorrection, "_correct", beside)
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1025], velocity=[0, 0, -1.0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, name="floor"))
    # of the step that is looked at before a split nothing is left
    result = fem.DecoupledNSGA(contact_solver="problem", impacts="plain").run(model, 5e-3, 1e-3)
    assert result["floor"].impact.sum() == 1
    assert result.statistics["repeated_steps"] == len(astray) > 0  # by Newton's iteration
    np.testing.assert_allclose(result["ball"].position[:, 0], 0.0, atol=1e-12)
