"""Elements that are switched on and off in a run: the jump, what is kept and lost in it, and what is refused."""

import numpy as np
import pytest
from every_stepper import METHODS, WITH_CONTACTS, label
from switch_runs import AT_SWITCH, LINKS, Run, chain, locked_chain, masses_on_a_table

import fem_mbs as fem
from fem_mbs.rotations import exp
from fem_mbs.solvers.stepping.codes import NOT_CONVERGED

NSGA = fem.DecoupledNSGA()
at_switch = chain(*AT_SWITCH).compile()  # tests that step it start anew: a run switches as the model says


def table(method):
    """What a lock of the chain's second hinge does, by moments of momentum; digits of another program."""
    run = Run(method, at_switch, 1e-3)
    told = run.switch("lock", True)
    return run, told


@pytest.mark.parametrize("method", METHODS, ids=label)
def test_a_lock_keeps_the_moment_of_momentum_and_takes_energy(method):
    run, told = table(method)
    rate, turning, hinges, loss = locked_chain(*AT_SWITCH)
    rows = run.system.rows
    assert [run.velocity(f"link {k}")[5] for k in (1, 2)] == pytest.approx([rate, rate], rel=1e-12)
    assert told.impulse[rows[run.model["lock"]]] == pytest.approx([turning], rel=1e-11)
    for k in (1, 2):
        assert told.impulse[rows[run.model[f"hinge {k}"]]][:2] == pytest.approx(hinges[k - 1], rel=1e-11)
    assert told.kinetic_loss == pytest.approx(loss, rel=1e-11)
    # digits of a dense prototype; angles and rates at the switch were given with eight
    assert rate == pytest.approx(-2.978208174, abs=2e-8)
    assert turning == pytest.approx(-0.345141996, abs=2e-8)
    assert hinges.ravel() == pytest.approx([0.79553, 0.15433, 0.54516, -0.30936], abs=1e-5)
    assert loss == pytest.approx(0.384049121, abs=2e-8)


@pytest.mark.parametrize("coefficient", [0.1, (0.6, 0.5)])
def test_joint_friction_acts_in_the_jump_with_its_bound_from_the_impulses(coefficient):
    """A journal of 0.2 m at the first hinge: μ r |Λ| against its rate; preload does nothing."""
    model = chain(*AT_SWITCH)
    law = {"friction": coefficient, "radius": 0.2, "preload": 3.0}
    model.add(fem.JointFriction(model["hinge 1"], name="rub", **law))
    run = Run(NSGA, model, 1e-3)
    told = run.switch("lock", True)
    (m_1, J_1, c_1), (m_2, J_2, c_2) = LINKS
    angles, rates = AT_SWITCH
    e_1, e_2 = (np.array([np.cos(a), np.sin(a)]) for a in angles)
    x_2 = e_1 + c_2 * e_2
    inertia = m_1 * c_1**2 + J_1 + J_2 + m_2 * x_2 @ x_2
    frictionless = locked_chain(*AT_SWITCH)[0]
    impulse = np.linalg.norm(told.impulse[run.system.rows[model["hinge 1"]]][:2])
    sliding = np.atleast_1d(coefficient)[-1]
    rate = run.velocity("link 1")[5]
    assert inertia * (rate - frictionless) == pytest.approx(sliding * 0.2 * impulse, rel=1e-9) and impulse > 0.5
    assert run.velocity("link 2")[5] == pytest.approx(rate, rel=1e-12)
    work = sliding * 0.2 * impulse * -0.5 * (rates[0] + rate)
    run.take(1)
    power = run.output("rub", "bound")[1, 0] * -rate
    assert run.output("rub", "dissipated")[1, 0] == pytest.approx(work + 1e-3 * power, rel=5e-3)
    assert run.output("rub", "status")[1, 0] == -1.0
    assert run.output("rub", "force")[1, 0] == pytest.approx(run.output("rub", "bound")[1, 0], rel=1e-9)


def test_what_the_options_of_a_joint_make_is_switched_with_it():
    """A hinge with spring, motor torque and friction, on from 0.2 s: a free body before, an oscillator after."""

    def arm(**times):
        model = fem.Model("arm")
        body = model.add(fem.RigidBody(1.0, [0.5, 0.5, 0.5], angular_velocity=[0, 0, 1.0], name="body"))
        rub = fem.DryFriction(0.5, preload=0.2)
        hinge = fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], stiffness=2.0, rest=0.0,
                                motor=fem.Motor(effort=0.3), friction=rub, name="hinge")  # fmt: skip
        model.add(hinge, **times)
        return model

    result = NSGA.run(arm(intervals=[(0.2, 0.5)]), t_end=0.7, h=1e-3)
    t, rate = result.t, result["body"].angular_velocity[:, 2]
    assert np.abs(rate[t < 0.2001] - 1.0).max() < 1e-13  # neither spring, motor nor friction before
    between = (t > 0.1999) & (t < 0.5001)
    # ½ θ̈ = −2 θ + 0.3 − 0.1, θ(0.2) = 0.2, θ̇ = 1
    tau, omega = t[between] - 0.2, 2.0
    exact = np.cos(omega * tau) - omega * (0.2 - 0.1) * np.sin(omega * tau)
    assert np.abs(rate[between] - exact).max() < 2e-6
    assert np.abs(np.diff(rate[t > 0.4999])).max() < 1e-13
    assert result["hinge friction"].dissipated[-1] == pytest.approx(0.1 * np.trapezoid(exact, tau), rel=1e-5)
    door = fem.Model("door")
    stopped = fem.Revolute.at(door.ground, fem.Node6(), [0, 0, 0], [0, 0, 1], stops=fem.Stops(-1, 1), name="door")
    with pytest.raises(fem.ParameterError, match=r"'door lower stop'.*is not for contacts"):
        door.add(stopped, active=False)


@pytest.mark.parametrize("method", [NSGA, fem.GeneralizedAlpha(), fem.MoreauJean()], ids=label)
def test_motion_after_a_lock_is_second_order(method):
    """Reference: prototype, angle and rate at 1 s of the chain that is locked at 0.5 s."""
    error = []
    for h in (5e-3, 2.5e-3):
        result = method.run(chain(intervals=[(0.5, np.inf)]), t_end=1.0, h=h, strict=True)
        angle = 2 * np.arctan2(*result["link 1"].quaternion[-1, [3, 0]])
        error.append([angle + 2.507989275, result["link 1"].angular_velocity[-1, 2] + 3.787127307])
    ratio = np.array(error[0]) / np.array(error[1])
    assert 3.8 < ratio.min() and ratio.max() < 4.3, f"ratios {ratio}, errors {error}"
    assert np.abs(error[1]).max() < 1e-4  # measured 7.1e-5 (NSGA), as the prototype


def test_another_scheme_of_order_four_has_the_digits_of_the_prototype():
    result = fem.LobattoIIIAB(stages=3).run(chain(intervals=[(0.5, np.inf)]), t_end=1.0, h=5e-3)
    angle = 2 * np.arctan2(*result["link 1"].quaternion[-1, [3, 0]])
    assert angle == pytest.approx(-2.507989275, abs=2e-8)
    assert result["link 1"].angular_velocity[-1, 2] == pytest.approx(-3.787127307, abs=2e-8)


def test_lock_holds_each_time_the_angle_that_it_finds():
    run = Run(NSGA, chain(), 2e-3)
    held = []
    for on in (True, False, True, False, True):
        run.take(100)
        told = run.switch("lock", on)
        held.append(run.angle("link 2") - run.angle("link 1"))
        assert told.kinetic_loss > 1e-6 if on else told.kinetic_loss == 0.0
        first = len(run.history("t"))
        run.take(100)
        free = np.abs(run.output("lock", "moment")[first:, 2])
        between = run.angle("link 2") - run.angle("link 1")
        if on:
            assert abs(np.remainder(between - held[-1] + np.pi, 2 * np.pi) - np.pi) < 1e-12  # 100 steps: no creep
            assert free.min() > 1e-3
        else:
            assert abs(between - held[-1]) > 0.05 and free.max() == 0.0
    assert np.ptp(np.unwrap(held)[::2]) > 0.1  # other angles
    assert run.history("violation")[:, 0].max() < 1e-12 and run.warnings == []
    assert run.switch("lock", True) is None  # it is on


LOCKED = (
    "Revolute", "Cylindrical", "Prismatic", "Spherical", "Universal", "Planar", "Screw", "ConstantVelocity",
    "PointOnLine", "ParallelAxes", "PerpendicularAxes",
)  # fmt: skip


@pytest.mark.parametrize("joint", LOCKED)
def test_lock_holds_all_that_a_joint_leaves_free(joint):
    rng = np.random.default_rng(5)
    model = fem.Model("locked", gravity=[0.3, 0.2, -9.81])
    body = model.add(fem.RigidBody(1.5, [0.2, 0.25, 0.3], position=[0.4, 0.1, 0.2], name="body"))
    axis = {} if joint == "Spherical" else {"axis": np.array([1.0, 2.0, 2.0]) / 3.0}
    axis |= {"lead": 3.0} if joint == "Screw" else {}
    held = model.add(getattr(fem, joint).at(model.ground, body, [0.1, 0, 0], **axis))
    model.add(fem.Lock(held, active=False, name="lock"))
    run = Run(NSGA, model, 2e-3).take(150)
    moved = run.history("position")[-1, body.node.index] - body.node.position
    turned = 1.0 - abs(run.history("quaternion")[-1, body.node.index, 0])
    assert np.linalg.norm(moved) + turned > 0.05, rng
    told = run.switch("lock", True)
    pose = run.engine.arrays["x"].copy(), run.engine.arrays["R"].copy()
    assert np.abs(run.velocity("body")).max() < 1e-13 and told.kinetic_loss > 0.0
    run.take(100)
    assert np.abs(run.engine.arrays["x"] - pose[0]).max() < 1e-13  # to round-off
    assert np.abs(run.engine.arrays["R"] - pose[1]).max() < 1e-13
    # both joints carry the weight
    weight = 1.5 * model.gravity
    rows = run.system.rows
    force = sum(run.engine.arrays["lam_report"][rows[e]].size for e in run.system.constraints)
    assert force == 6
    total = run.output("lock", "force")[-1]
    if "force" in held.outputs:
        total = total + run.output(held.name, "force")[-1]
    assert total == pytest.approx(-weight, abs=1e-6 * np.linalg.norm(weight))  # rtol of the method


def free_bodies(rng):
    """Two bodies in free flight, and an attachment between places off their centres."""
    model = fem.Model("flight")
    for name, mass in (("A", 2.0), ("B", 0.7)):
        Q, sides = exp(rng.normal(size=3)), rng.uniform(0.5, 1.0, size=3)
        J = 0.2 * mass * Q @ np.diag([sides[1] + sides[2], sides[0] + sides[2], sides[0] + sides[1]]) @ Q.T
        model.add(
            fem.RigidBody(
                mass, J, position=rng.normal(size=3), rotation=rng.normal(size=3), velocity=rng.normal(size=3),
                angular_velocity=rng.normal(size=3), name=name,
            )
        )  # fmt: skip
    ends = [model[name].frame(p=rng.normal(size=3)) for name in "AB"]
    model.add(fem.Attachment(*ends, active=False, name="grip"))
    return model


def momenta(run):
    """Momentum, moment of momentum about the origin, kinetic energy."""
    a, p, L = run.engine.arrays, np.zeros(3), np.zeros(3)
    kinetic = 0.0
    for name in "AB":
        body = run.model[name]
        i = body.node.index
        v, w = a["V"][i, :3], a["V"][i, 3:]
        p += body.mass * v
        L += body.mass * np.cross(a["x"][i], v) + a["R"][i] @ body.inertia @ w
        kinetic += 0.5 * (body.mass * v @ v + w @ body.inertia @ w)
    return p, L, kinetic


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_attaching_keeps_momentum_and_moment_of_momentum(seed):
    run = Run(NSGA, free_bodies(np.random.default_rng(seed)), 5e-3).take(20)
    before = momenta(run)
    told = run.switch("grip", True)
    after = momenta(run)
    assert after[0] == pytest.approx(before[0], abs=1e-13) and after[1] == pytest.approx(before[1], abs=1e-13)
    assert told.kinetic_loss == pytest.approx(before[2] - after[2], rel=1e-12) and told.kinetic_loss > 0.01
    # plastic impact: the loss is the kinetic energy of the change
    M = run.system.matrices(run.engine.state(), mass_only=True)
    change = run.system.reduced(told.change)
    assert 0.5 * change @ (M @ change) == pytest.approx(told.kinetic_loss, rel=1e-10)
    rate = run.system.constraint_values(run.engine.state())[1]
    assert np.abs(rate).max() < 1e-13
    run.take(100)
    apart = run.history("violation")[-100:, 0].max()
    energy = run.history("energy").sum(axis=1)[-100:]
    assert apart < 1e-12 and np.ptp(energy) < 1e-3 * energy[0]  # no creep; energy of the method's order
    run.switch("grip", False)  # nothing jumps
    let_go = momenta(run)
    run.take(20)
    assert momenta(run)[0] == pytest.approx(let_go[0], abs=1e-12) and run.warnings == []


@pytest.mark.parametrize("method", WITH_CONTACTS, ids=label)
def test_attached_masses_press_on_the_table_or_leave_it(method):
    """Momentum: 2 kg with 1 m/s down, stopped through the other by the table; up, they share it, 2/3 m/s."""
    for speed, after, grip, pressed in ((-1.0, 0.0, 2.0, 2.0), (1.0, 2 / 3, -2 / 3, 0.0)):
        run = Run(method, masses_on_a_table(speed), 1e-2).take(5)
        told = run.switch("grip", True)
        assert [run.velocity(name)[2] for name in ("low", "high")] == pytest.approx([after, after], abs=1e-12)
        assert told.impulse == pytest.approx([0, 0, grip], abs=1e-12)
        assert told.contact_impulse[0] == pytest.approx([pressed, 0, 0], abs=1e-12)
        run.take(5)
        assert run.velocity("low")[2] == pytest.approx(after, abs=1e-9)
        assert run.history("gap")[-1, 0] == pytest.approx(0.05 * after, abs=1e-9)
        assert run.warnings == []


@pytest.mark.parametrize("mu, slides", [(0.2, True), (2.0, False)])
def test_friction_of_closed_contacts_acts_in_the_jump(mu, slides):
    """Impulses 2 down and 2 sideways on 3 kg: friction gives up to μ 2."""
    run = Run(NSGA, masses_on_a_table(-1.0, mu=mu, sideways=1.0), 1e-2).take(5)
    told = run.switch("grip", True)
    sideways = (2.0 - mu * 2.0) / 3.0 if slides else 0.0
    assert run.velocity("high")[:3] == pytest.approx([sideways, 0, 0], abs=1e-12)
    assert np.hypot(*told.contact_impulse[0, 1:]) == pytest.approx(2.0 - 3.0 * sideways, abs=1e-12)


def leaning(rates):
    """The chain with the tip of its second link on a floor, which it neither leaves nor enters."""
    angles = (0.9, -0.6)
    model = chain(angles, rates)
    tip = np.array([np.cos(angles).sum(), np.sin(angles).sum(), 0])
    link = model["link 2"]
    frame = link.frame(p=exp(np.array([0, 0, -angles[1]])) @ (tip - link.node.position))
    floor = model.ground.frame(p=tip - [0, 0.05, 0], rotation=exp(np.array([-np.pi / 2, 0, 0])))
    model.add(fem.SphereOnPlane(frame, floor, radius=0.05, name="floor"))
    return model, angles, tip


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_contact_opens_at_once_where_a_lock_lifts_it(sign, persistent):
    """Rates (1, r): the tip moves along the floor. The locked chain turns with H/I: its tip goes up, or is held."""
    reach = np.cos([0.9, -0.6])
    rates = sign * np.array([1.0, -reach[0] / reach[1]])
    model, angles, tip = leaning(rates)
    run = Run(fem.DecoupledNSGA(persistent_contacts=persistent), model, 1e-3)
    told = run.switch("lock", True)
    free = locked_chain(angles, rates)[0]
    lifted = free * tip[0] > 0.0
    assert abs(free) > 0.05
    rate = free if lifted else 0.0
    assert run.velocity("link 1")[5] == pytest.approx(rate, abs=1e-12)
    assert (told.contact_impulse[0, 0] == 0.0) == lifted and told.contact_impulse[0, 0] >= 0.0
    run.take(5)
    assert (run.history("gap")[-1, 0] > 1e-5) == lifted and run.history("gap")[-1, 0] > -1e-12
    assert run.warnings == []


@pytest.mark.parametrize("persistent", [False, True])
def test_contacts_that_a_lock_does_not_reach_rest_on(persistent):
    model, slope = chain(*AT_SWITCH), np.radians(20.0)
    down, up = np.array([np.cos(slope), -np.sin(slope), 0.0]), np.array([np.sin(slope), np.cos(slope), 0.0])
    floor = model.ground.frame(rotation=exp(np.array([0, 0, -slope])) @ exp(np.array([-np.pi / 2, 0, 0])))
    for k in range(8):
        place = 0.1 * up + (5.0 + 0.7 * k) * down
        ball = model.add(fem.RigidBody.sphere(2.0, 0.1, position=place, name=f"ball {k}"))
        model.add(fem.SphereOnPlane(ball, floor, radius=0.1, friction=0.5, name=f"floor {k}"))
    run = Run(fem.DecoupledNSGA(persistent_contacts=persistent), model, 1e-3).take(10)
    run.switch("lock", True)
    run.take(20)
    force = run.history("impulse")[1:, :, 0] / 1e-3
    assert np.abs(force - 2.0 * 9.81 * np.cos(slope)).max() < 1e-3  # rtol; not once without its force
    assert not run.history("impact").any()
    assert not persistent or run.engine.arrays["closed"].all()


def test_loads_that_are_on_for_a_while_give_their_impulse():
    """1 kg, 2 N from 0.2 s to 0.5 s: v = 0.6 m/s, x = ½ 2 0.3² + 0.6 0.5 at 1 s; exact for constant forces."""
    for method in (NSGA, fem.GeneralizedAlpha(), fem.LobattoIIIAB()):
        model = fem.Model("push")
        mass = model.add(fem.PointMass(1.0, name="mass"))
        model.add(fem.PointForce(mass, [2.0, 0, 0], name="load"), intervals=[(0.2, 0.5)])
        result = method.run(model, t_end=1.0, h=0.05, strict=True)
        assert result["mass"].velocity[-1] == pytest.approx([0.6, 0, 0], abs=1e-12)
        assert result["mass"].position[-1] == pytest.approx([0.39, 0, 0], abs=1e-12)
        assert result["mass"].velocity[4, 0] == 0.0 and result.statistics["switches"] == 2


def test_a_spring_that_is_switched_on_brings_its_energy_and_no_warning():
    """Mass 1 at 0.3 m with a spring of 4 N/m that is on from 0.5 s: x = 0.2 + 0.1 cos 2 (t − 0.5)."""
    model = fem.Model("spring")
    mass = model.add(fem.PointMass(1.0, position=[0.3, 0, 0], name="mass"))
    spring = fem.Spring(model.ground, mass, stiffness=4.0, free_length=0.2, name="spring")
    model.add(spring, active=False)
    run = Run(fem.DecoupledNSGA(rho_inf=1.0), model, 5e-3).take(100)
    assert run.output("spring", "force")[:, 0].max() == 0.0
    told = run.switch("spring", True)
    assert told.potential_change == pytest.approx(0.5 * 4.0 * 0.1**2, rel=1e-12) and told.kinetic_loss == 0.0
    run.take(400)
    x, t = run.history("position")[101:, mass.node.index, 0], run.history("t")[101:]
    # ω h = 0.01: period off by (ωh)²/12, 4 rad
    assert np.abs(x - 0.2 - 0.1 * np.cos(2 * (t - 0.5))).max() < 1e-5
    told = run.switch("spring", False)
    assert told.potential_change == pytest.approx(-0.5 * 4.0 * (x[-1] - 0.2) ** 2, rel=1e-9)
    before = run.velocity("mass")
    run.take(20)
    assert run.velocity("mass") == pytest.approx(before, abs=1e-14) and run.warnings == []


def test_a_driver_may_give_energy_in_the_jump():
    """A cart that is driven with 2 m/s takes up 1 kg at rest: the driver gives 2 N s, 4 J, of which half is lost."""
    model = fem.Model("cart")
    options = {"position": [0, 0, 0], "name": "cart"}
    cart = model.add(fem.RigidBody(3.0, [0.1, 0.1, 0.1], velocity=[2.0, 0, 0], **options))
    rail = model.add(fem.Prismatic.at(model.ground, cart, [0, 0, 0], [1, 0, 0]))
    model.add(fem.LinearDriver(rail.frame_P, rail.frame_Q, lambda t: 2.0 * t, name="driver"))
    load = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], position=[1.0, 0, 0.5], name="load"))
    model.add(fem.Attachment(cart, load, active=False, name="grip"))
    run = Run(NSGA, model, 1e-2).take(10)
    told = run.switch("grip", True)
    assert told.impulse[run.system.rows[model["driver"]]] == pytest.approx([2.0], rel=1e-12)
    assert told.kinetic_loss == pytest.approx(-2.0, rel=1e-12)
    assert run.take(50).warnings == []


def two_attachments():
    model = free_bodies(np.random.default_rng(1))
    model.add(fem.Attachment(model["B"], model["A"], active=False, name="tape"))
    return model


def test_what_is_attached_twice_is_told_in_words_and_left_as_it_was():
    run = Run(NSGA, two_attachments(), 5e-3).take(3)
    run.switch("grip", True)
    run.take(3)
    before = run.engine.kept()
    message = (
        r"Attachment 'tape' cannot be switched on at t = 0.03 s: 6 of its 6 rows repeat what is imposed by "
        r"Attachment 'grip'\. Switch off .*redundant='allow'"
    )
    with pytest.raises(fem.SolverError, match=message) as raised:
        run.switch("tape", True)
    assert raised.value.element is run.model["tape"] and raised.value.time == pytest.approx(0.03)
    arrays, numbers, states = run.engine.kept()
    assert all(np.array_equal(arrays[name], before[0][name]) for name in arrays) and numbers == before[1]
    assert all(map(np.array_equal, states, before[2]))
    run.take(3)


def flat(y=0.0):
    """Two bodies that move in a plane by fixed components."""
    model, held = fem.Model("flat"), ("z", "rx", "ry")
    for name, place, speed in (("A", [0, 0, 0], 1.0), ("B", [1, 0.2, 0], -0.5)):
        model.add(fem.RigidBody(1.0, [1, 1, 1], position=place, velocity=[speed, y, 0], fixed=held, name=name))
    model.add(fem.Attachment(model["A"], model["B"], active=False, name="grip"))
    return model


def test_rows_that_repeat_fixed_components_are_told_and_may_be_allowed():
    with pytest.raises(fem.SolverError, match=r"3 of its 6 rows repeat components that are fixed. Leave fixed=… out"):
        Run(NSGA, flat(), 1e-2).switch("grip", True)
    run = Run(NSGA, flat(), 1e-2, redundant="allow").take(3)
    run.switch("grip", True)
    run.take(20)
    # mean speed 0.25; moment of momentum 2 · 0.75 · 0.1 about the centre, half of the distance 0.5 − 0.75 · 0.03
    inertia = 2.0 + 2.0 * ((0.5 - 0.75 * 0.03) ** 2 + 0.1**2)
    assert run.velocity("A")[5] == pytest.approx(0.15 / inertia, rel=1e-8)
    assert 0.5 * (run.velocity("A") + run.velocity("B"))[:2] == pytest.approx([0.25, 0.0], abs=1e-9)
    assert run.velocity("A")[5] == pytest.approx(run.velocity("B")[5], abs=1e-9)
    assert run.history("violation")[-1].max() < 1e-9


def test_redundant_attachments_share_the_load_where_they_are_allowed():
    run = Run(NSGA, two_attachments(), 5e-3, redundant="allow").take(3)
    run.switch("grip", True)
    told = run.switch("tape", True)
    assert np.abs(told.change).max() < 1e-9  # the first one has stopped the bodies
    run.take(20)
    assert run.history("violation")[-1].max() < 1e-9
    run.switch("grip", False)
    run.take(20)
    assert run.history("violation")[-1].max() < 1e-9 and run.output("grip", "force")[-1].any() == False  # noqa: E712


def test_a_joint_that_does_not_fit_is_refused():
    model = chain()
    link = model["link 2"]
    model.add(fem.Spherical.at(model.ground, link, [2.0, 0.4, 0]), active=False)
    run = Run(NSGA, model, 1e-3).take(10)
    with pytest.raises(
        fem.SolverError, match=r"Spherical 'spherical 1' cannot be switched on .* m .*from where it holds"
    ):
        run.switch("spherical 1", True)
    assert not run.system.is_on(model["spherical 1"])


def test_a_hook_that_fits_is_a_joint_from_then_on():
    """A free body whose point r is caught: it turns about that point with J_P ω⁺ = J ω + m r × v, r from the point."""
    rng = np.random.default_rng(3)
    v, w, r = rng.normal(size=(3, 3))
    J, mass = np.array([0.3, 0.4, 0.5]), 2.0
    model = fem.Model("caught")
    body = model.add(fem.RigidBody(mass, J, velocity=v, angular_velocity=w, name="body"))
    model.add(fem.Spherical.at(model.ground, body, r, name="hook"), active=False)
    run = Run(NSGA, model, 1e-3)
    told = run.switch("hook", True)
    turning = np.linalg.solve(np.diag(J) + mass * (r @ r * np.eye(3) - np.outer(r, r)), J * w - mass * np.cross(r, v))
    assert run.velocity("body") == pytest.approx([*np.cross(turning, -r), *turning], abs=1e-12)
    assert told.impulse == pytest.approx(mass * (run.velocity("body")[:3] - v), abs=1e-12)
    run.take(100)
    assert np.abs(run.history("violation")[-100:, 0]).max() < 1e-12
    arm = run.engine.arrays["R"][body.node.index] @ r
    assert run.engine.arrays["x"][body.node.index] + arm == pytest.approx(r, abs=1e-12)


def test_rows_that_are_off_change_nothing():
    plain, model = chain(), chain()
    plain.elements.remove(plain["lock"])
    model.add(fem.Spherical.at(model["link 1"], model["link 2"], [0.3, 0.2, 0]), active=False)
    model.add(fem.KnifeEdge.at(model.ground, model["link 2"], [1, 0, 0], [0, 1, 0]), active=False)
    for method in (NSGA, fem.LobattoIIIAB(), fem.GeneralizedAlpha(formulation="index 3")):
        a, b = (method.run(m, t_end=0.2, h=2e-3) for m in (plain, model))
        assert np.abs(a["link 2"].position - b["link 2"].position).max() < 1e-12
        assert np.abs(a["hinge 1"].force - b["hinge 1"].force).max() < 1e-8 * np.abs(a["hinge 1"].force).max()
        assert not b["spherical 1"].force.any() and not b["knifeedge 1"].force.any()
    assert "10 constraint rows, 5 more switched off (2 degrees of freedom)" in str(model)


def test_statics_and_modes_leave_out_what_is_off():
    plain, model = chain((-np.pi / 2, -np.pi / 2), (0, 0)), chain((-np.pi / 2, -np.pi / 2), (0, 0))
    plain.elements.remove(plain["lock"])
    found = [fem.modes(m, about=fem.static_equilibrium(m)).omega for m in (plain, model)]
    assert found[1] == pytest.approx(found[0], rel=1e-9) and len(found[0]) == 2
    model = chain((-np.pi / 2, -np.pi / 2), (0, 0), active=True)
    assert len(fem.modes(model, about=fem.static_equilibrium(model))) == 1


def test_a_run_goes_on_bit_for_bit_from_what_was_kept_before_a_switch():
    run = Run(NSGA, chain(), 2e-3, linear_solver="dense").take(20)  # KLU keeps pivots, and their round-off
    kept = run.engine.kept()
    ends = []
    for _ in range(2):
        run.engine.restore(kept)
        run.steps = 20
        assert not run.system.is_on(run.model["lock"])
        run.take(10).switch("lock", True)
        run.take(30)
        ends.append(run.engine.kept()[0])
    assert all(np.array_equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_a_system_runs_again_as_its_model_says():
    system = chain(intervals=[(0.1, 0.2), (0.25, np.inf)]).compile()
    first, second = (NSGA.run(system, t_end=0.3, h=1e-2) for _ in range(2))
    assert np.array_equal(first["link 2"].position, second["link 2"].position)
    assert first.statistics["switches"] == 3 and not system.is_on(system.model["lock"])
    assert first.statistics["energy_lost_in_switches"] > 0.0
    loss = -np.diff(first.energy.total)
    assert loss[[10, 25]].sum() == pytest.approx(first.statistics["energy_lost_in_switches"], rel=0.02)  # and round-off


def test_variable_steps_go_on_after_a_switch():
    stepper = fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6))
    run = Run(stepper, chain(), 5e-3)
    block = run.engine.make_records(400)
    for end, on in ((0.5, True), (1.0, None)):
        run.engine.t_end = end
        _, _, error = run.engine.advance(np.array([end]), np.zeros((1, 1, 1, 3)), block)
        assert error is None
        if on:
            run.switch("lock", True)
    assert run.velocity("link 1")[5] == pytest.approx(-3.787127307, abs=2e-4)


@pytest.mark.parametrize("what, message", [
    ({"intervals": [(0.2, 0.1)]}, r"pairs \(begin, end\) of times .*begin < end"),
    ({"intervals": [(0.1, 0.2), (0.15, 0.3)]}, "one after the other"),
    ({"intervals": []}, "intervals"),
    ({"intervals": [0.1, 0.2]}, r"Lock 'lock': intervals"),
    ({"intervals": [(0.1, np.nan)]}, "must be pairs"),
    ({"intervals": [(0.1, 0.2)], "active": False}, "does not go with intervals"),
])  # fmt: skip
def test_wrong_intervals_are_refused(what, message):
    with pytest.raises(fem.ParameterError, match=message):
        chain(**what)


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-6)], ids=["equal", "controlled"])
def test_steps_end_at_the_times_of_switches_whatever_their_size(control):
    """5 ms does not divide 0.5013 s, nor the time between two switches; reference: a run by hand with steps that do."""
    times = (0.5013, 0.7531)
    run = Run(fem.LobattoIIIAB(stages=3), chain(), times[0] / 100).take(100)
    run.switch("lock", True)
    reference = run.velocity("link 1")[5]
    result = fem.DecoupledNSGA(step_control=control).run(chain(intervals=[times]), t_end=1.0, h=5e-3, strict=True)
    at = [int(np.argmin(np.abs(result.t - t))) for t in times]
    assert result.t[at].tolist() == list(times) and result.t[-1] == pytest.approx(1.0, abs=1e-12)
    assert [(e.t, e.name, e.action) for e in result.events] == [
        (times[0], "lock", "on in its intervals"), (times[1], "lock", "off in its intervals")]  # fmt: skip
    first = result["link 1"].angular_velocity[at[0] + 1, 2]  # the state at the switch is the one before it
    assert first == pytest.approx(reference, abs=0.1) and abs(result["link 1"].angular_velocity[at[0], 2] - first) > 0.3
    together = result["link 2"].angular_velocity[:, 2] - result["link 1"].angular_velocity[:, 2]
    assert np.abs(together[at[0] + 1 : at[1] + 1]).max() < 1e-10 < 1e-2 < abs(together[at[1] + 3])


def test_output_times_at_a_switch_are_of_the_state_before_it():
    result = NSGA.run(chain(intervals=[(0.1, np.inf)]), t_end=0.2, h=1e-2, output_times=[0.1, 0.2])
    usual = NSGA.run(chain(intervals=[(0.1, np.inf)]), t_end=0.2, h=1e-2)
    for k, state in ((1, 10), (2, 20)):
        assert np.array_equal(result["link 2"].angular_velocity[k], usual["link 2"].angular_velocity[state])


def test_a_run_without_switches_in_it_has_no_agenda():
    def agenda(model):
        return NSGA.prepare(model.compile(), 1e-2, 1, False).agenda

    together = (2.0, 2.0)
    assert agenda(chain()) is None and agenda(chain(rates=together, intervals=[(-1.0, np.inf)])) is None
    assert agenda(chain(rates=together, intervals=[(0.0, 0.5)])).switching.next() == [0.5]


def test_what_cannot_be_switched_is_refused_by_name():
    model = masses_on_a_table(-1.0)
    run = Run(NSGA, model, 1e-2)
    with pytest.raises(fem.ParameterError, match=r"SphereOnPlane 'table'.*go through each other"):
        run.switch("table", False)
    with pytest.raises(fem.ParameterError, match=r"PointMass 'low'.*mass does not vanish"):
        run.switch("low", False)
    with pytest.raises(fem.ParameterError, match="not for elements with mass"):
        model.add(fem.PointMass(1.0), active=False)
    with pytest.raises(fem.ParameterError, match="joint = Attachment 'grip' must be a joint of the model"):
        fem.Lock(model["grip"])
    frames = model.ground.frame(p=[0, 0, 0.1]), model["low"].frame()
    for joint, words in (
        (fem.Fixed(*frames), "leaves nothing free"),
        (
            fem.Distance(frames[0], model["high"].frame()),
            "of the 5 coordinates that it leaves free a lock knows none. Add an Attachment",
        ),
        (fem.KnifeEdge(*frames), "of the 5 coordinates that it leaves free a lock knows none"),
    ):
        with pytest.raises(fem.ParameterError, match=words):
            fem.Lock(joint)
    with pytest.raises(fem.ModelError, match="not an element of model"):
        run.engine.system.is_on(fem.Attachment(model["low"], model["high"]))


def test_contact_groups_do_not_know_switches():
    model = masses_on_a_table(-1.0)
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[3, 0, 0.2], name="ball"))
    group = fem.ContactGroup(name="pile")
    group.sphere(ball, 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    run = Run(NSGA, model, 1e-2)
    with pytest.raises(fem.ParameterError, match=r"'pile' is in the model: contact groups do not know switches"):
        run.switch("grip", True)


def test_results_have_the_impulses_with_the_step_that_follows():
    h = 1e-3
    run = Run(NSGA, at_switch, h)
    told = run.switch("lock", True)
    run.take(3)
    _, turning, _, _ = locked_chain(*AT_SWITCH)
    moment = run.output("lock", "moment")[1:, 2]
    assert moment[0] - moment[1] == pytest.approx(turning / h, abs=0.1)  # the rest is what the lock carries
    row = run.system.rows[run.model["lock"]].start
    assert run.history("multiplier")[1, row] - told.impulse[row] / h == pytest.approx(moment[1], abs=0.1)
    assert run.history("multiplier")[2, row] == pytest.approx(run.history("multiplier")[3, row], abs=0.1)

    run = Run(NSGA, masses_on_a_table(-1.0), h).take(2)
    run.switch("grip", True)
    run.take(3)
    assert run.history("impulse")[:, 0, 0].sum() == pytest.approx(2.0, abs=1e-12)
    assert run.history("impact")[:, 0].tolist() == [0, 0, 0, 1, 0, 0]


def test_a_step_in_parts_has_the_impulse_of_the_switch_before_it(monkeypatch):
    run = Run(NSGA, at_switch, 1e-2)
    told = run.switch("lock", True)
    whole, calls = run.engine.run_steps, []

    def fails_once(*arguments):
        calls.append(arguments)
        if len(calls) > 1:
            return whole(*arguments)
        whole(*arguments[:2], 1, *arguments[3:])  # which keeps what it begins with
        return 0, NOT_CONVERGED

    monkeypatch.setattr(run.engine, "run_steps", fails_once)
    monkeypatch.setattr(run.engine, "fault", lambda code, t: fem.SolverError("not converged"))
    run.take(3)
    assert run.engine.controller.statistics()["divided_steps"] == 1
    row = run.system.rows[run.model["lock"]].start
    carried = run.history("multiplier")[1:, row] - np.array([told.impulse[row] / 1e-2, 0.0, 0.0])
    assert carried == pytest.approx([3.0, 3.2, 3.5], abs=0.2)  # what the lock carries; the impulse is −34.5 over h
    assert np.array_equal(run.output("lock", "moment")[:, 2], run.history("multiplier")[:, row])


def test_multipliers_of_what_is_off_stay_zero_where_factors_serve_several_steps():
    """Beams with contacts: the matrix of the motion is factorised once for many steps, not over a switch."""
    model = fem.Model("beam", gravity=[0, 0, -9.81])
    section = fem.Section.circle(1e-2, E=2e9, nu=0.3, density=1000)
    line = model.add(fem.beam_line(fem.Node6(fixed=True), fem.Node6([1, 0, 0]), 8, section))
    load = model.add(fem.RigidBody.box(0.5, [0.1, 0.1, 0.1], position=[1, 0, -0.3], velocity=[0, 0.3, 1], name="load"))
    model.add(fem.SphereOnPlane(load.frame(), model.ground.frame(p=[0, 0, -0.5]), radius=0.05, name="floor"))
    model.add(fem.Attachment(line.nodes[-1], load, active=False, name="grip"))
    run = Run(fem.DecoupledNSGA(rho_inf=0.8), model, 1e-3)
    assert run.engine.run[0]["costly"]
    rows = run.system.rows[model["grip"]]
    for on in (None, True, False, True, False):
        if on is not None:
            run.switch("grip", on)
        first = len(run.history("t"))
        run.take(30)
        multipliers = np.abs(run.history("multiplier")[first:, rows])
        assert multipliers.max() == 0.0 if not on else multipliers[:, 2].min() > 0.0
    assert run.history("violation")[:, 0].max() < 1e-12
