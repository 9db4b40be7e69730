"""Elements that are switched on and off in a run: the jump, what is kept and what is lost in it."""

import numpy as np
import pytest
from every_stepper import METHODS, WITH_CONTACTS, label
from switch_runs import AT_SWITCH, LINKS, Run, at_switch, chain, free_bodies, locked_chain, masses_on_a_table

import fem_mbs as fem
from fem_mbs.rotations import exp

NSGA = fem.DecoupledNSGA()


def table(method):
    """What a lock of the chain's second hinge does, by moments of momentum; digits of another program."""
    run = Run(method, at_switch(), 1e-3)
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
    with pytest.raises(fem.ParameterError, match=r"'door lower stop'.*contacts"):
        door.add(stopped, active=False)
    # a stop that is made by itself
    door = fem.Model("door")
    leaf = door.add(fem.RigidBody(1.0, 0.1, name="leaf"))
    hinge = fem.Revolute.at(door.ground, leaf, [0, 0, 0], [0, 0, 1], name="hinge")
    angle = fem.Sensor(leaf, "angle", axis=[0, 0, 1])
    door.add(fem.JointStop(hinge, limit=1.0, side="upper", name="stop"))
    with pytest.raises(fem.ModelError, match=r"'stop'.*'hinge'.*not in the model"):
        door.compile()
    door.add(hinge, fem.Event(angle, fem.SwitchOff(hinge), level=0.5, name="breaks"))
    with pytest.raises(fem.ParameterError, match=r"'hinge': switch = .*'stop'.*contact"):
        fem.DecoupledNSGA().run(door, 0.1, 1e-2)
    hinge.use_switch(True, [(0.0, 0.2)])
    with pytest.raises(fem.ModelError, match=r"'stop'.*'hinge'.*off at times.*JointBum"):
        door.compile()


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
    """Impulses 2 down and 2 sideways on 3 kg: friction transmits up to μ 2."""
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
