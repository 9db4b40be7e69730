"""Energy balance, momentum, reactions, times of impacts: against closed forms and laws of conservation."""

import numpy as np
import pytest
from every_stepper import METHODS, SMOOTH, label
from friction_models import block
from resumed import differences, stopped_and_resumed
from switch_runs import Run

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ModelError, ParameterError
from fem_mbs.results.energy_table import EnergyTable, Line
from fem_mbs.rotations import exp

G = 9.81


def sine(t):
    return 3.0 * np.sin(5.0 * t)


def oscillator(damping=2.0):
    """A mass of 2 kg on a spring of 100 N/m with a damper, pushed by a sine."""
    model = fem.Model("oscillator")
    mass = model.add(fem.PointMass(2.0, position=[1.1, 0, 0], name="mass", fixed=("y", "z")))
    spring = {"stiffness": 100.0, "free_length": 1.0, "damping": damping, "name": "spring"}
    model.add(fem.Spring(model.ground, mass, **spring))
    model.add(fem.PointForce(mass, [1, 0, 0], signal=sine, name="push"))
    return model


# --- energy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed, heat, given", [(0.0, 0.5, 0.0), (3.0, 2.0, 6.0)])
def test_friction_of_a_joint_has_a_line_of_its_own(speed, heat, given):
    """A block of 1 kg, thrown with 1 m/s: it stops on its guide, and is taken along by a belt of 3 m/s."""
    result = fem.DecoupledNSGA().run(block(velocity=1.0, speed=speed), 4.0, 7e-3, balance=True)
    table = result.energy_table()
    assert table.work("friction", "friction") == pytest.approx(-heat, abs=1e-12)
    assert not given or table.work("friction", "driver") == pytest.approx(given, abs=1e-12)
    assert abs(table.numerical) < 1e-12


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(rho_inf=1.0), fem.MoreauJean()], ids=label)
def test_a_force_that_a_controller_sets_does_the_work_that_it_does(method):
    """A mass of 2 kg is pushed by samples ±3 N: the force is constant between them, and the book exact."""
    model = fem.Model("pushed")
    mass = model.add(fem.PointMass(2.0, name="mass", fixed=("y", "z")))
    law = model.add(fem.Controller(lambda t, y: 3.0 if round(t / 0.1) % 3 else -1.0, 0.1, name="law"))
    model.add(fem.PointForce(mass, [1, 0, 0], signal=law.output(), name="push"))
    table = method.run(model, 1.0, 2e-2, balance=True).energy_table()
    assert table.work("push") == pytest.approx(table.change, abs=1e-13)


def test_the_table_of_a_linear_model_closes_to_round_off_with_the_scheme_that_dissipates_nothing():
    """ρ∞ = 1: mean forces times displacements are the change of energy, step by step."""
    table = fem.DecoupledNSGA(rho_inf=1.0, rtol=1e-12).run(oscillator(), 2.0, 1e-3, balance=True).energy_table()
    assert table.work("spring") < -0.1 and table.work("push") > 0.1
    assert abs(table.numerical) < 1e-8 * (abs(table.work("spring")) + abs(table.work("push")))
    assert table.change == pytest.approx(table.total("damper") + table.total("load") + table.numerical, abs=1e-14)


def test_works_of_a_load_and_of_a_damper_are_those_of_the_exact_motion():
    from scipy.integrate import solve_ivp

    def rates(t, y):
        x, v = y[:2]
        return [v, (sine(t) - 100.0 * x - 2.0 * v) / 2.0, sine(t) * v, -2.0 * v * v]

    exact = solve_ivp(rates, (0, 2.0), [0.1, 0, 0, 0], rtol=1e-12, atol=1e-14).y[2:, -1]
    errors = []
    for h in (2e-3, 1e-3):
        table = fem.DecoupledNSGA(rho_inf=0.8).run(oscillator(), 2.0, h, balance=True).energy_table()
        errors.append(
            np.abs([table.work("push") - exact[0], table.work("spring", "damper") - exact[1], table.numerical])
        )
    assert (errors[1] < 2e-5).all()  # J, of 0.5: second order, and so is what the scheme dissipates
    assert (np.log2(errors[0] / errors[1]) > 1.7).all(), errors


def test_states_of_a_filter_are_no_bodies_that_forces_work_on():
    """A motor torque that lags behind its command: its work is the kinetic energy of what it turns."""
    model = fem.Model("lagging motor")
    wheel = model.add(fem.RigidBody(1.0, [0.1] * 3, name="wheel"))
    targets = [fem.Coordinate(wheel, "rz")]
    model.add(fem.StateSpace(-50.0, 50.0, inputs=[2.0], acts_on=targets, name="motor"))
    table = fem.DecoupledNSGA(rho_inf=1.0, rtol=1e-12).run(model, 0.2, 1e-3, balance=True).energy_table()
    assert table.change > 0.1
    assert table.work("motor") == pytest.approx(table.change, rel=1e-9)


def test_a_constant_moment_gives_moment_times_angle():
    model = fem.Model("wheel")
    wheel = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], name="wheel"))
    model.add(fem.Revolute.at(model.ground, wheel, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.PointMoment(wheel, [0, 0, 0.6], name="torque"))
    result = fem.DecoupledNSGA(rho_inf=1.0).run(model, 1.0, 1e-2, balance=True)
    assert result.energy_table().work("torque") == pytest.approx(0.6 * 0.5 * 2.0, rel=1e-12)  # ½ α t², α = 2 rad/s²
    assert result.work.torque == pytest.approx(result.energy.kinetic, abs=1e-12)
    half = result.energy_table(0.5, 1.0)
    assert half.work("torque") == pytest.approx(0.6 * (1.0 - 0.25), rel=1e-12) and half.t == (0.5, 1.0)


@pytest.mark.parametrize("method", METHODS, ids=label)
def test_a_driver_gives_the_kinetic_energy_of_what_it_turns(method):
    """ω from 0 to 3 rad/s, J = 0.3: 1.35 J; one step h of ω̇ = 3 rad/s² more or less is 3 h of it."""
    model, h = fem.Model("driven"), 2e-3
    wheel = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], name="wheel"))
    model.add(fem.Revolute.at(model.ground, wheel, [0, 0, 0], [0, 0, 1], name="hinge"))
    angle = fem.Signal(lambda t: 1.5 * t * t)
    model.add(fem.RevoluteDriver.at(model.ground, wheel, [0, 0, 0], [0, 0, 1], angle=angle, name="motor"))
    table = method.run(model, 1.0, h, balance=True).energy_table()
    assert table.change == pytest.approx(1.35, rel=3 * h)
    assert table.work("motor", "driver") == pytest.approx(1.35, rel=3 * h)


def dropped(e=0.5):
    model = fem.Model("dropped", gravity=[0, 0, -G])
    ball = model.add(fem.RigidBody.sphere(2.0, 0.1, position=[0, 0, 0.6], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=e, name="table"))
    return model


@pytest.mark.parametrize("h", [3e-3, 1e-3])
def test_an_impact_takes_what_newtons_law_says(h):
    """(1 − e²) m g H; with split impacts nothing is left over."""
    loss = 0.75 * 2.0 * G * 0.5
    table = fem.DecoupledNSGA(impacts="split").run(dropped(), 0.5, h, balance=True).energy_table()
    assert table.work("table", "impact") == pytest.approx(-loss, rel=1e-8) and table.work("table", "friction") == 0.0
    assert abs(table.numerical) < 1e-8 * loss
    plain = fem.DecoupledNSGA().run(dropped(), 0.5, h, balance=True).energy_table()
    # the ball is lifted by what it went into the table, at most v h; its speed is that at the end of the step
    v = np.sqrt(2 * G * 0.5)
    assert 0.0 <= plain.numerical <= 2.0 * G * v * h * (1 + 1e-6)
    # it approaches with the speed at the end of the step, and leaves with e times one within it: g h of v each
    assert plain.work("table") == pytest.approx(-loss, abs=(1 + 0.25) * 2.0 * v * G * h)


def wedged(tilt=0.6):
    """Block of 2 kg that slides over a rough floor into a wall, which leans over it and presses it on the floor."""
    model = fem.Model("wedged", gravity=[0, 0, -G])
    block = model.add(fem.RigidBody(2.0, 0.01, velocity=[2.0, 0, 0], fixed=("y", "rx", "ry", "rz"), name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=0.2, name="floor"))
    wall = model.ground.frame([0.0531, 0, 0], [0, -np.pi / 2 - tilt, 0])
    model.add(fem.SphereOnPlane(block, wall, radius=0.0, restitution=0.5, name="wall"))
    return model


def test_friction_of_a_floor_in_the_impact_of_a_wall_does_no_more_work_than_it_does():
    """The impact turns the block round, and the floor, which is not hit, has a large impulse of friction in it."""
    h = 2.5e-4
    result = fem.DecoupledNSGA().run(wedged(), 0.06, h, balance=True)
    table, speed = result.energy_table(), abs(result["block"].velocity[:, 0])
    path = np.sum(speed[1:] + speed[:-1]) * h / 2
    assert result["floor"].impulse[:, 0].max() > 3.0 and not result["floor"].impact.any()
    # the floor takes mu m g along the path; what its friction gives in the impact the wall has paid
    assert table.work("floor", "friction") == pytest.approx(-0.2 * 2.0 * G * path, abs=2.0 * h * 2.0 * G)
    assert abs(table.numerical) < 2e-3  # 1e-3 J measured; with velocities of the end alone 1.9 J


def test_velocities_of_the_start_of_a_step_are_kept_where_its_contacts_restart_the_memory():
    """Work of contacts and watches of displacements are means over the step."""
    run, restarts = Run(fem.DecoupledNSGA(impacts="plain"), wedged(), 1e-3), 0
    for _ in range(60):
        before = run.engine.arrays["V"].copy()
        run.take(1)
        restarts += run.engine.own[0]["since"] == 0
        assert (run.engine.arrays["V0"] == before).all()
    assert restarts >= 2


@pytest.mark.parametrize("method", [m for m in METHODS if type(m).__name__ not in SMOOTH], ids=label)
def test_friction_of_a_sliding_block_takes_mu_m_g_times_the_way(method):
    """It slides until it stops: all of its kinetic energy, 1 J; the rest of a step in which it stops is h μ g of v."""
    model, h = fem.Model("slide", gravity=[0, 0, -G]), 1e-3
    ball = model.add(fem.PointMass(2.0, position=[0, 0, 0.1], velocity=[1, 0, 0], name="block"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.2, name="floor"))
    result = method.run(model, 0.7, h, balance=True)
    table = result.energy_table()
    assert np.abs(result["block"].velocity[-1]).max() < 1e-6
    assert table.work("floor", "friction") == pytest.approx(-1.0, rel=2 * 0.2 * G * h)
    assert table.work("floor", "friction") == pytest.approx(-0.2 * 2.0 * G * result["block"].position[-1, 0], rel=4e-3)
    assert abs(table.work("floor", "impact")) < 1e-6


@pytest.mark.parametrize("h", [4e-3, 2e-3])
def test_the_brake_of_a_hoist_takes_all_energy_of_the_load_that_its_rope_catches(h):
    """The rope becomes tight within a step, after which its force acts by corrections for three steps."""
    model, radius, torque = fem.Model("hoist", gravity=[0, -G, 0]), 0.2, 800.0
    drum = model.add(fem.RigidBody(20.0, [0.2] * 3, name="drum"))
    load = model.add(fem.RigidBody.sphere(200.0, 0.2, position=[-radius, -3, 0], velocity=[0, 2.0, 0], name="load"))
    brake = fem.DryFriction(1.0, preload=torque)
    model.add(fem.Revolute.at(model.ground, drum, [0, 0, 0], [0, 0, 1], name="shaft", friction=brake))
    model.add(fem.Cable([(drum, radius), load], turns={0: 5}, name="rope"))
    result = fem.DecoupledNSGA().run(model, 0.65, h, balance=True)
    assert np.abs(result["drum"].angular_velocity[-1]).max() < 1e-9
    table, angle = result.energy_table(), result["shaft"].angle[-1]
    assert abs(table.numerical) < 1e-9 * 400.0  # was -25.4 and -6.42 J
    # what it stops in the step in which it comes to rest is of second order
    assert table.work("shaft friction", "friction") == pytest.approx(-torque * angle, rel=1e-3)


ROLLING = {
    "decoupled": (fem.DecoupledNSGA(), 0.1), "persistent": (fem.DecoupledNSGA(persistent_contacts=True), 1e-4),
    "lobatto": (fem.LobattoIIIAB(), 1e-7),
}  # fmt: skip


@pytest.mark.parametrize("friction", [0.0, 0.05])
def test_friction_takes_the_energy_of_a_ball_in_a_drum_and_normal_forces_take_none(friction):
    """Closed in the smooth motion, whose impulse is a sum of forces along the normals at both ends of a step."""
    turn = np.deg2rad(60)
    model = fem.Model("drum", gravity=[0, 0, -G])
    start = [0, 0.9 * np.sin(turn), -0.9 * np.cos(turn)]
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=start, name="ball"))
    drum = model.ground.frame(rotation=[0, np.pi / 2, 0])
    law = {"friction": friction, "name": "drum"}
    model.add(fem.SphereInCylinder(ball, drum, radius=0.1, radius_cylinder=1.0, **law))
    result = fem.DecoupledNSGA(persistent_contacts=True).run(model, 1.0, 5e-3, balance=True)
    lost, table = result.energy.total[-1] - result.energy.total[0], result.energy_table()
    # J, of 4.4: 2.0e-4 with components along the axes of both ends added as numbers; along those of the end 0.2 in 2 s
    assert table.work("drum", "friction") == pytest.approx(lost, abs=1.5e-4)  # measured 1.2e-4, 2.3e-5 at h/2
    assert table.work("drum", "impact") == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("case", ROLLING)
def test_a_contact_that_rolls_on_another_point_of_its_body_does_no_work(case):
    """An ellipsoid of 0.09 J rocks on a plane without slip. What a scheme loses is a loss of the scheme."""
    method, loss = ROLLING[case]
    model = fem.Model("rocking", gravity=[0, 0, -9.81])
    motion = {"velocity": [0.2, 0, 0], "angular_velocity": [0, 2.0, 0]}
    body = model.add(fem.RigidBody(1.0, 0.03, position=[0, 0, 0.1], name="body", **motion))
    model.add(fem.EllipsoidOnPlane(body, model.ground, semi_axes=(0.2, 0.2, 0.1), friction=0.8, name="floor"))
    found = method.run(model, 1.0, 4e-3, balance=True).energy_table()
    assert abs(found.work("floor", "impact")) < 1e-11 and abs(found.work("floor", "friction")) < 1e-11
    assert abs(found.numerical) < loss


@pytest.mark.parametrize(
    "method",
    [fem.DecoupledNSGA(persistent_contacts=True), fem.NonsmoothGeneralizedAlphaFriction(), fem.LobattoIIIAB()],
    ids=label,
)
def test_a_coin_that_rolls_is_not_hit(method):
    """Its point of contact wanders along the edge, and is at rest at any time: a closed contact takes nothing."""
    mass, radius, tilt = 1.3, 0.15, np.array([1.0, 0.1, 0.2])
    e, spin = exp(tilt)[:, 2], exp(tilt) @ [0.5, 1.0, 4.0]
    arm = radius * (np.array([0, 0, 1.0]) - e[2] * e) / np.hypot(e[0], e[1])  # from the point of contact to the centre
    left = []
    for h in (2e-3, 1e-3):
        model = fem.Model("rolling", gravity=[0, 0, -9.81])
        motion = {"rotation": tilt, "angular_velocity": spin, "velocity": np.cross(spin, arm)}
        inertia = mass * radius**2 * np.array([0.25, 0.25, 0.5])
        coin = model.add(fem.RigidBody(mass, inertia, position=[0, 0, arm[2]], **motion, name="coin"))
        model.add(fem.RingOnPlane(coin, model.ground, radius=radius, friction=3.0, name="edge"))
        table = method.run(model, 0.4, h, balance=True).energy_table()
        assert abs(table.work("edge", "impact")) + abs(table.work("edge", "friction")) < 1e-9
        left.append(abs(table.numerical))
    assert left[0] < 2e-3 and left[1] < left[0] / 3.5


@pytest.mark.parametrize(
    "method", [fem.MoreauJean(), fem.DecoupledNSGA(impacts="plain"), fem.ConeComplementarity()], ids=label
)
def test_a_contact_group_that_is_solved_pairwise_takes_what_its_contacts_take_one_by_one(method):
    """Three balls fall on a floor and slide; a spring on one of them is not supported by Gauss-Seidel iterations."""
    tables = []
    for grouped in (True, False):
        model = fem.Model("balls", gravity=[0, 0, -9.81])
        balls = []
        for k in range(3):
            place = {"position": [0.3 * k, 0, 0.15 + 0.1 * k], "velocity": [1, 0.2, 0]}
            balls.append(fem.RigidBody.sphere(1.0 + k, 0.1, **place, name=f"ball {k}"))
        model.add(*balls, fem.Spring(model.ground, balls[0], stiffness=1.0))
        law = {"friction": 0.3, "restitution": 0.2}
        if grouped:
            group = model.add(fem.ContactGroup(**law, name="group"))
            group.obstacle(fem.SphereOnPlane, model.ground)
        for k, ball in enumerate(balls):
            if grouped:
                group.sphere(ball, 0.1)
            else:
                model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, **law, name=f"floor {k}"))
        tables.append(method.run(model, 0.6, 2e-3, balance=True).energy_table())
    together, single = tables
    assert together.work("contact groups") < -10.0 and not together.groups
    for kind in ("impact", "friction"):
        assert together.work("contact groups", kind) == pytest.approx(single.total(kind), rel=1e-7)
    assert together.numerical == pytest.approx(single.numerical, abs=1e-6)


def test_a_driver_under_a_closed_contact_gives_what_the_block_on_it_gets():
    """A block on a shaken table sticks, and slides four times: driver and friction have the rates of the same times."""

    def books(h, **options):
        model = fem.Model("shaken", gravity=[0, 0, -G])
        only_x = ("y", "z", "rx", "ry", "rz")
        table = model.add(fem.RigidBody(1.0, [1, 1, 1], velocity=[0.357, 0, 0], fixed=only_x, name="table"))
        block = model.add(fem.PointMass(1.7, velocity=[0.357, 0, 0], name="block"))
        model.add(fem.Prescribed(table, x=lambda t: 0.021 * np.sin(17.0 * t), name="drive"))
        model.add(fem.SphereOnPlane(block, table, radius=0.0, friction=0.45, name="rub"))
        lines = fem.DecoupledNSGA(**options).run(model, 0.7, h, balance=True).energy_table()
        assert lines.work("rub", "friction") < -0.05
        return abs(lines.numerical) / abs(lines.work("drive"))

    left = [books(h, persistent_contacts=False) for h in (4e-3, 2e-3)]
    assert left[0] < 1e-4 and left[1] < left[0] / 2
    # in the smooth motion friction jumps somewhere in its step where sticking or sliding ends, four times each
    assert books(4e-3) < 1e-3


def test_energy_balances_continue_in_a_resumed_run_and_through_steps_in_substeps(monkeypatch, tmp_path):
    method = fem.DecoupledNSGA(impacts="split")
    whole = method.run(dropped(), 0.6, 2e-3, balance=True)
    path = tmp_path / "run.vtkhdf"
    resumed = stopped_and_resumed(monkeypatch, method, dropped(), 0.6, 2e-3, path, every=40, kills=(4,), balance=True)
    assert differences(whole, resumed) == [] and resumed.energy_table().lines == whole.energy_table().lines


def test_the_table_is_shown_and_asked_for_in_words(tmp_path):
    result = fem.DecoupledNSGA().run(oscillator(), 0.1, 1e-2, balance=True, save=tmp_path / "run.vtkhdf")
    text = str(fem.load(tmp_path / "run.vtkhdf").energy_table())
    assert "work of push" in text and "damper" in text and "numerical" in text
    # lines without work are counted, not shown
    still = EnergyTable((0, 1), (0, 1), (0, 0), [Line("push", "load", 1.0), Line("pad", "impact", 0.0)], False)
    assert "1 more" in str(still) and "pad" not in str(still) and still.work("pad") == 0.0
    with pytest.raises(FemMbsError, match=r"'pull'.*'push'"):
        result.energy_table().work("pull")
    without = fem.DecoupledNSGA().run(oscillator(), 0.1, 1e-2)
    for ask in (without.energy_table, lambda: without.work):
        with pytest.raises(FemMbsError, match=r"run\(…, balance=True\)"):
            ask()


# --- momentum ---------------------------------------------------------------------------------------------------------


def two_bodies(center):
    """Two free bodies that a spring holds together, and that hit each other."""
    model = fem.Model("free")
    for k in range(2):
        motion = {"velocity": [0.5 - k, 0.1 * k, 0], "angular_velocity": [1, k, 2]}
        body = {"position": [k, 0, 0], "center": center, "name": f"body {k}", **motion}
        model.add(fem.RigidBody(1.0 + k, [0.01, 0.012, 0.013], **body))
    shape = {"radius_A": 0.1, "radius_B": 0.1, "restitution": 0.6, "friction": 0.3, "name": "hit"}
    model.add(fem.SphereOnSphere(model["body 0"], model["body 1"], **shape))
    frame = model["body 0"].frame([0.05, 0.02, 0.03])
    model.add(fem.Spring(frame, model["body 1"], stiffness=0.2, free_length=0.9))
    return model


def test_momentum_is_kept_without_loads_and_through_an_impact():
    drift = []
    for h in (2e-3, 1e-3):
        result = fem.DecoupledNSGA().run(two_bodies([0, 0, 0]), 1.5, h)
        assert result["hit"].impact.any()
        p, L = result.linear_momentum, result.angular_momentum
        assert np.abs(p - p[0]).max() < 1e-9  # N s, of 1
        drift.append(np.abs(L - L[0]).max())
    assert drift[1] < 1e-3 * np.abs(L[0]).max()  # not kept by the scheme; in an impact one step of way


def test_momentum_of_bodies_off_their_nodes_is_that_by_hand():
    """m (v + ω × c), and J ω about the centre with its momentum about the origin."""
    c, p, L = np.array([0, 0.02, 0.01]), np.zeros(3), np.zeros(3)
    for k in range(2):
        w, J = np.array([1.0, k, 2.0]), np.diag([0.01, 0.012, 0.013])
        own = (1.0 + k) * (np.array([0.5 - k, 0.1 * k, 0]) + np.cross(w, c))
        p += own
        L += J @ w + np.cross(np.array([k, 0, 0]) + c, own)
    result = fem.DecoupledNSGA().run(two_bodies(c), 1e-3, 1e-3)
    assert result.linear_momentum[0] == pytest.approx(p, abs=1e-14)
    assert result.angular_momentum[0] == pytest.approx(L, abs=1e-14)


def test_weight_changes_momentum_by_m_g_t():
    result = fem.DecoupledNSGA().run(dropped(), 0.3, 1e-3)
    assert result.linear_momentum[:, 2] == pytest.approx(-2.0 * G * result.t, rel=1e-9, abs=1e-12)
    assert not result.angular_momentum.any()


@pytest.mark.parametrize("poses", [2, 3])
def test_beams_begin_with_the_motion_of_a_rigid_body(poses):
    section = fem.Section.circle(0.01, E=2e11, density=7800)
    v, w, about = np.array([1.0, 2.0, -1.0]), np.array([0.5, -3.0, 2.0]), np.array([0.2, 0.1, 0.0])
    motion = {"velocity": v, "angular_velocity": w, "about": about}
    model = fem.Model("beam")
    line = fem.beam_line([0, 0, 0], [1, 0, 0], 4, section, poses=poses, name="rod", **motion)
    model.add(line)
    for node in line.nodes:
        assert node.velocity == pytest.approx(v + np.cross(w, node.position - about), abs=1e-15)
    result = fem.DecoupledNSGA().run(model, 1e-4, 1e-5)
    mass = 7800 * np.pi * 0.01**2
    expected = mass * (v + np.cross(w, np.array([0.5, 0, 0]) - about))
    assert result.linear_momentum[0] == pytest.approx(expected, rel=1e-12)
    slender, round_ = mass * (1 / 12 + 0.01**2 / 4), mass * 0.01**2 / 2  # about the centre
    spin = np.array([round_, slender, slender]) * w + np.cross([0.5, 0, 0], expected)
    assert result.angular_momentum[0] == pytest.approx(spin, rel=1e-9)
    with pytest.raises(ParameterError, match="about"):
        fem.beam_line([0, 0, 0], [1, 0, 0], 4, section, about=[0, 0])
    arc = fem.beam_curve(
        lambda s: (np.array([np.sin(s), 1 - np.cos(s), 0]), np.array([np.cos(s), np.sin(s), 0])),
        4,
        section,
        angular_velocity=w,
    )
    assert arc.nodes[-1].velocity == pytest.approx(np.cross(w, arc.nodes[-1].position), abs=1e-15)


# --- reactions and forces ---------------------------------------------------------------------------------------------


def pendulum():
    """A body that turns about the y axis of a node that is held there; its centre is 0.5 m from it."""
    model = fem.Model("pendulum", gravity=[0, 0, -G])
    node = fem.Node6(fixed=("x", "y", "z", "rx", "rz"), name="pivot")
    model.add(fem.RigidBody(2.0, [0.02, 0.02, 0.02], node=node, center=[0.5, 0, 0], name="rod"))
    return model


def test_the_reaction_of_a_pendulum_is_that_of_its_angle_and_speed():
    result = fem.DecoupledNSGA(rtol=1e-10).run(pendulum(), 1.0, 1e-3)
    held, w = result.reaction("pivot"), result["rod"].angular_velocity[:, 1]
    arm = 0.5 * result["rod"].rotation[:, :, 0]
    turning = 2.0 * G * arm[:, 0] / (0.02 + 2.0 * 0.25)  # about y: −m g × arm, over J + m l²
    change = np.cross(np.stack([0 * w, turning, 0 * w], axis=1), arm) - (w * w)[:, None] * arm
    expected = 2.0 * (change + [0, 0, G])
    assert held.force == pytest.approx(expected, abs=1e-7 * 2.0 * G)
    assert np.abs(expected).max() > 50 and np.abs(held.moment).max() < 1e-9
    # all that the ground gives: nothing, for the node stands alone
    assert np.abs(result.reaction("ground").force).max() == 0.0


def test_the_foundation_carries_weight_springs_joints_and_contacts():
    """Momentum of the whole model: what the ground gives, and its weight, are the change of momentum."""
    model = fem.Model("all", gravity=[0, 0, -G])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], velocity=[1, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.2, name="floor"))
    rod = model.add(fem.RigidBody(2.0, [0.01, 0.02, 0.03], position=[0.5, 1, 0], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 1, 0], [0, 1, 0], name="hinge"))
    mass = model.add(fem.PointMass(1.0, position=[0, 2, -1], name="mass"))
    model.add(fem.Spring(model.ground.frame([0, 2, 0]), mass, stiffness=50.0, free_length=0.9, name="spring"))
    result = fem.DecoupledNSGA().run(model, 0.2, 1e-4)
    given = np.trapezoid(result.reaction("ground").force, result.t, axis=0) + [0, 0, -4.0 * G * result.t[-1]]
    gained = result.linear_momentum[-1] - result.linear_momentum[0]
    assert given == pytest.approx(gained, abs=2e-3 * 4.0 * G * 0.2)  # contacts are rectangles, one step of 2,000


def test_reactions_of_a_file_ask_for_the_model(tmp_path):
    path = tmp_path / "run.vtkhdf"
    result = fem.DecoupledNSGA().run(pendulum(), 0.1, 1e-2, save=path)
    with pytest.raises(FemMbsError, match=r"reactions.*model=model"):
        fem.load(path).reaction("pivot")
    again = fem.load(path).reaction("pivot", pendulum())
    assert np.array_equal(again.force, result.reaction("pivot").force) and again.units["force"] == "N"
    with pytest.raises(ModelError, match=r"'dropped'.*not that of the run"):
        fem.load(path).reaction("pivot", dropped())
    free = fem.DecoupledNSGA().run(dropped(), 0.1, 1e-2)
    with pytest.raises(ParameterError, match=r"node = .*no fixed component"):
        free.reaction("ball")


def test_forces_of_a_user_law_are_outputs():
    model = fem.Model("drag")
    stone = model.add(fem.RigidBody(1.0, 0.1, velocity=[2, 0, 0], angular_velocity=[0, 0, 1], name="stone"))

    def drag(x, R, v, t):
        return np.array([[*(-0.3 * v[0, :3]), *(-0.1 * v[0, 3:])]])

    model.add(fem.UserForce(stone, drag, name="drag"))
    model.add(fem.UserForce([stone, model.ground], lambda *_: np.arange(12.0).reshape(2, 6), name="two"))
    result = fem.DecoupledNSGA().run(model, 0.1, 1e-2)
    assert result["drag"].force == pytest.approx(-0.3 * result["stone"].velocity, abs=1e-14)
    assert result["drag"].moment == pytest.approx(-0.1 * result["stone"].angular_velocity, abs=1e-14)
    assert result["two"].moment_2[-1].tolist() == [9.0, 10.0, 11.0] and result["drag"].units["moment"] == "N m"


# --- times of impacts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("impacts", ["plain", "split"])
def test_impacts_are_timed_inside_of_their_steps(impacts):
    h = 3e-3
    result = fem.DecoupledNSGA(impacts=impacts).run(dropped(), 0.4, h)
    (found,) = result.impact_times("table")
    assert found == pytest.approx(np.sqrt(2 * 0.5 / G), abs=1e-9)  # free fall: exact
    assert abs(result.t[result["table"].impact != 0][0] - found) > 1e-4
    coarse = fem.DecoupledNSGA().run(dropped(), 0.4, h, save_every=10)
    assert np.isnan(coarse.impact_times("table")).all()


def test_the_time_of_an_impact_of_a_pendulum_is_as_accurate_as_its_motion():
    """A pendulum that swings against a wall, timed by quadrature of its equation."""
    from scipy.integrate import solve_ivp

    def build():
        model = fem.Model("wall", gravity=[0, 0, -G])
        ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[1, 0, 0], name="ball"))
        model.add(fem.Revolute.at(model.ground, ball, [0, 0, 0], [0, 1, 0], name="hinge"))
        wall = model.ground.frame([-0.2, 0, 0], rotation=[0, np.pi / 2, 0])  # its z axis is x
        model.add(fem.SphereOnPlane(ball, wall, radius=0.1, restitution=0.5, name="wall"))
        return model

    def touch(t, y):
        return np.cos(y[0]) + 0.1

    touch.terminal = True
    inertia = 1.0 + 0.4 * 0.01
    exact = solve_ivp(
        lambda t, y: [y[1], G * np.cos(y[0]) / inertia], (0, 2), [0, 0], events=touch, rtol=1e-13, atol=1e-14
    )
    exact = exact.t_events[0][0]
    errors = [
        abs(fem.DecoupledNSGA(rho_inf=1.0).run(build(), exact + 0.02, h).impact_times("wall")[0] - exact)
        for h in (4e-3, 2e-3, 1e-3)
    ]
    assert errors[-1] < 2e-6 and errors[0] / errors[-1] > 8, errors  # that of the motion is of second order


@pytest.mark.parametrize("impacts", ["plain", "split"])
def test_the_impact_of_a_stop_and_the_catch_of_a_cable_are_timed_inside_of_their_steps(impacts):
    model = fem.Model("stop and rope", gravity=[0, 0, -G])
    slide = model.add(fem.RigidBody(1.0, [1] * 3, velocity=[0.7, 0, 0], name="slide"))
    stops = fem.Stops(upper=0.1, restitution=0.5)
    model.add(fem.Prismatic.at(model.ground, slide, [0, 0, 0], [1, 0, 0], name="guide", stops=stops))
    load = model.add(fem.RigidBody.sphere(1.0, 0.05, position=[2, 0, -1], name="load"))
    pulley = model.ground.frame([1.9, 0, 0], rotation=[np.pi / 2, 0, 0])
    model.add(fem.Cable([model.ground.frame([1.5, 0, -1]), (pulley, -0.1), load], slack=0.05, name="rope"))
    result = fem.DecoupledNSGA(impacts=impacts).run(model, 0.2, 3e-3)
    assert result.impact_times("guide upper stop")[0] == pytest.approx(0.1 / 0.7, abs=1e-9)
    assert result.impact_times("rope")[0] == pytest.approx(np.sqrt(2 * 0.05 / G), abs=1e-6)


def test_weight_is_no_work_of_a_damped_beam():
    section = fem.Section.circle(0.01, E=1e8, nu=0.3, density=1000.0)
    model = fem.Model(gravity=[0, 0, -9.81])
    line = model.add(fem.beam_line([0, 0, 0], [0.5, 0, 0], 4, section, damping=1e-4, name="beam"))
    model.add(fem.Revolute.at(model.ground, line.nodes[0], [0, 0, 0], [0, 1, 0]))
    table = fem.DecoupledNSGA(rho_inf=1.0).run(model, 0.2, 1e-3, balance=True).energy_table()
    fallen = table.potential[0] - table.potential[1]
    # the potential energy of its weight goes into motion; what dampers take is 0.1 % of it
    assert fallen > 0.1 and -0.01 * fallen < table.total("damper") < 0.0
    assert abs(table.numerical) < 1e-3 * fallen
