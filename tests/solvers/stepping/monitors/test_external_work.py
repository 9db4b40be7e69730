"""The energy of driven and loaded models: what rises is explained by the work of loads and drivers, or reported."""

import numpy as np
import pytest
from energy_models import CASE, ball_on_a_race, double_pendulum_that_strikes

import fem_mbs as fem
from fem_mbs.element.base import Force
from fem_mbs.jit import kernel
from fem_mbs.solvers.stepping.monitors.external_work import explained
from fem_mbs.system import system as systems


def drag(x, R, v, t):
    """Force against the motion of a node."""
    return np.array([[*(-0.3 * v[0, :3]), 0, 0, 0]])


def struck(load):
    """Kane's double pendulum with a load on its upper rod."""
    model = double_pendulum_that_strikes(*CASE, 1.0, 0.9)
    upper = model.elements[0]
    loads = {
        "drag": lambda: fem.UserForce(upper, drag, name="drag"),
        "follower": lambda: fem.PointForce(upper, [1.0, 0, 0], follower=True, name="thrust"),
        "moment": lambda: fem.PointMoment(upper, [0, 0.5, 0], signal=np.cos, name="moment"),
    }
    model.add(loads[load]())
    return model


# --- errors are reported --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", ["drag", "follower", "moment"])
def test_energy_from_an_impact_is_reported_whatever_loads_the_linkage(load):
    """Newton's law with friction gives 16 times the energy; loads made the model one that nobody watched."""
    result = fem.DecoupledNSGA.published().run(struck(load), 2e-3, 1e-3)
    assert result.energy.total.max() > 10.0 * result.energy.total[0]
    assert result.statistics["energy_rises"] == 1
    assert "work of loads and drivers" in result.warnings[0]
    assert "nothing drives" not in result.warnings[0]
    assert not fem.DecoupledNSGA().run(struck(load), 2e-3, 1e-3).warnings


def test_strict_runs_say_that_loads_do_not_explain_the_rise():
    with pytest.raises(fem.SolverError, match="work of loads and drivers"):
        fem.DecoupledNSGA.published().run(struck("drag"), 2e-3, 1e-3, strict=True)


def ball_before_a_plate(speed):
    """A ball that a plate, driven upwards, meets in a compliant contact."""
    model = fem.Model("plate", gravity=[0, 0, -9.81])
    plate = model.add(fem.RigidBody(1.0, [0.01, 0.01, 0.01], velocity=[0, 0, speed], name="plate"))
    rail = model.add(fem.Prismatic.at(model.ground, plate, [0, 0, 0], axis=[0, 0, 1], name="rail"))
    model.add(fem.LinearDriver(rail.frame_P, rail.frame_Q, lambda t: speed * t, name="motor"))
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], velocity=[0, 0, -40.0], name="ball"))
    contact = fem.SphereOnPlane(ball, plate, radius=0.1, restitution=1.0, name="contact")
    model.add(fem.CompliantContact(contact, stiffness=1e9, name="contact"))
    return model


def test_energy_that_a_coarse_step_gives_is_reported_next_to_a_motor():
    """The contact is some millimetres deep in one step; the motor gives a few joules of hundreds."""
    coarse = fem.DecoupledNSGA().run(ball_before_a_plate(0.2), 0.03, 1e-3)
    assert np.diff(coarse.energy.total).max() > 0.3 * coarse.energy.total[0]
    assert any("work of loads and drivers" in text for text in coarse.warnings)


def test_energy_that_a_motor_gives_to_a_ball_is_not_reported():
    """The plate is a bat: the ball leaves with the speed 40 + 2·20 m/s."""
    result = fem.DecoupledNSGA(rho_inf=0.8).run(ball_before_a_plate(20.0), 0.012, 1e-6)
    assert result["ball"].velocity[-1, 2] == pytest.approx(80.0, rel=1e-2)
    assert result.warnings == []


def test_small_rises_are_reported_where_loads_only_take_energy(monkeypatch):
    """A contact on a convex surface, closed in the corrections alone, gains 13 % of K; weak drag does not hide that."""
    add = fem.Model.add

    def with_drag(model, *elements):
        added = add(model, *elements)
        if isinstance(elements[0], fem.SphereOnSphere):
            ball = model.elements[0]
            add(model, fem.UserForce(ball, lambda x, R, v, t: 1e-3 * drag(x, R, v, t), name="drag"))
        return added

    monkeypatch.setattr(fem.Model, "add", with_drag)
    coarse = ball_on_a_race(0.0, persistent_contacts=False)
    assert coarse.statistics["energy_rises"] == 0
    assert len(coarse.warnings) == 1 and "many small rises" in coarse.warnings[0]
    assert "loads and drivers can" in coarse.warnings[0]


@pytest.mark.parametrize("before_the_last", [0, 1, 2])
def test_a_law_that_fails_after_its_step_is_solved_ends_the_run_and_not_the_next_one(before_the_last):
    """The work of a step and the outputs need the law too; its error was kept for the next run of the system."""
    calls, fails = [0], [0]

    def law(x, R, v, t):
        calls[0] += 1
        if calls[0] == fails[0]:
            raise ValueError("broken here")
        return np.array([[1.0, 0, 0, 0, 0, 0]])

    model, body = point()
    model.add(fem.UserForce(body, law, name="law"))
    system = model.compile()
    calls[0] = 0
    fem.DecoupledNSGA().run(system, 5e-3, 1e-3)
    calls[0], fails[0] = 0, calls[0] - before_the_last
    with pytest.raises(fem.NonFiniteError, match="broken here"):
        fem.DecoupledNSGA().run(system, 5e-3, 1e-3)
    assert fem.DecoupledNSGA().run(system, 5e-3, 1e-3).status == "complete"


# --- what is right is not ---------------------------------------------------------------------------------------------


def given(model, steps, h, **options):
    """Bound of the work of a run, its energies (k,), whether it warned."""
    stepper = fem.DecoupledNSGA(**options)
    engine = stepper.prepare(model.compile(), h, 1, False)
    records = engine.make_records(steps + 1)
    engine.first(records)
    start = records["energy"][0].sum()
    times = h * np.arange(1, steps + 1)
    done, _, error = engine.march.advance(times, records)
    assert done == steps and error is None
    energy = np.append(start, records["energy"][:steps].sum(axis=1))
    return float(engine.run[0]["given_work"]), energy, engine.warnings()


def point(**motion):
    model = fem.Model("point")
    return model, model.add(fem.RigidBody(2.0, [0.1, 0.2, 0.3], name="body", **motion))


def pushed():
    model, body = point(velocity=[1.0, 0, 0])
    model.add(fem.PointForce(body, [3.0, 0, 0], signal=lambda t: 1.0 + np.sin(5 * t)))
    return model


def thrust():
    model, body = point(angular_velocity=[0, 0, 2.0])
    model.add(fem.PointForce(body.frame([0, -0.1, 0]), [3.0, 0, 0], follower=True))
    return model


def turned():
    model, body = point(angular_velocity=[0.5, 0.2, 2.0])
    model.add(fem.PointMoment(body, [0, 0, 0.5]))
    return model


def lifted():
    model, body = point()
    model.gravity[:] = [0, 0, -9.81]
    model.add(fem.Prescribed(body, z=lambda t: t**2, name="drive"))
    return model


def wound():
    """A spring written in Python: it has no energy that is known."""
    model, body = point(position=[1.0, 0, 0])
    model.add(fem.UserForce(body, lambda x, R, v, t: np.array([[*(-8.0 * x[0]), 0, 0, 0]]), name="spring"))
    return model


ACTUATOR = np.dtype([("k", "f8")])


@kernel
def actuator_force(p, x_A, s, f):
    """Spring along x whose free length is given."""
    f[0] -= p.k * (x_A[0] - s[0, 0])


@kernel
def actuator_tangent(p, K):
    K[0, 0] += p.k


@kernel
def energy_actuator(p, x_A, s):
    return 0.5 * p.k * (x_A[0] - s[0, 0]) ** 2


class Actuator(Force):
    """Has an energy that depends on time."""

    parameters = ACTUATOR
    viscous = False
    kernels = {"force": actuator_force, "force_tangent": actuator_tangent, "energy": energy_actuator}

    def __init__(self, node, k, length, name=None):
        super().__init__((self.as_frame("node", node).node,), name=name, signals=[length])
        self.record = (k,)


def pulled():
    model, body = point()
    model.add(Actuator(body, 50.0, lambda t: 0.5 * t**2))
    return model


@pytest.mark.parametrize("rho_inf", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("build, slack", [(pushed, 0.04), (thrust, 0.04), (turned, 0.04), (lifted, 0.04), (wound, 0.07),
                                          (pulled, 0.07)])  # fmt: skip
def test_the_bound_of_the_work_is_at_least_what_the_energy_rises_and_little_more(build, slack, rho_inf):
    work, energy, warnings = given(build(), 50, 1e-2, rho_inf=rho_inf)
    rise = energy.max() - energy[0]
    assert rise > 0.1
    assert (1 - 1e-3) * rise <= work <= (1 + slack) * rise
    assert warnings == []


def test_what_only_takes_energy_explains_nothing():
    model, body = point(velocity=[1.0, 2.0, 0])
    model.add(fem.UserForce(body, drag, name="drag"))
    work, energy, _ = given(model, 20, 1e-2)
    assert work == 0.0 and energy[-1] < energy[0]


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 0.8, 1.0])
def test_a_force_that_has_ended_still_acts_in_the_memory_of_the_method(steps, rho_inf):
    """At rho_inf = 0 a part of it acts in the steps after its end; the power at both ends of these steps is 0."""
    model, body = point()
    model.add(fem.PointForce(body, [100.0, 0, 0], signal=lambda t: 1.0 if t < (steps + 0.5) * 1e-2 else 0.0))
    _, energy, warnings = given(model, 20, 1e-2, rho_inf=rho_inf)
    assert energy[-1] > 0.0 and warnings == []


def test_energies_are_looked_at_between_saved_states_too():
    """The work of the steps between two saved states is summed."""
    for every in (1, 7):
        result = fem.DecoupledNSGA().run(pushed(), 1.0, 1e-2, save_every=every)
        assert result.energy.total[-1] > 2.0 * result.energy.total[0] and result.warnings == []
    result = fem.DecoupledNSGA.published().run(struck("follower"), 4e-3, 1e-3, save_every=4)
    assert result.statistics["energy_rises"] == 1


@pytest.mark.parametrize("build", [pushed, lifted, wound])
def test_moreaus_scheme_is_watched_too(build):
    result = fem.MoreauJean(theta=0.5).run(build(), 0.5, 1e-2)
    assert np.ptp(result.energy.total) > 0.1 and result.warnings == []


def test_a_mass_that_is_given_is_not_explained():
    """Its energy changes with it: such a model is not watched, and nothing is reported."""

    class Tank(fem.PointMass):
        def __init__(self, mass, **options):
            super().__init__(mass, **options)
            self.signals = [fem.Signal(1.0)]

    model = fem.Model("tank")
    model.add(Tank(1.0, name="tank"))
    assert not explained(systems.System(model))
    assert explained(systems.System(pushed())) and explained(systems.System(lifted()))


# --- the bound of one step --------------------------------------------------------------------------------------------


def step_by_step(model, steps, h, names, **options):
    """Bounds w⁺ (steps,) of the work of each step, and arrays of the run at the ends of all, from the start on; k_s."""
    stepper = fem.DecoupledNSGA(**options)
    engine = stepper.prepare(model.compile(), h, 1, False)
    records = engine.make_records(1)
    engine.first(records)
    given, kept = [0.0], [{name: engine.arrays[name].copy() for name in names}]
    for t in h * np.arange(1, steps + 1):
        time = np.array([t])
        assert engine.march.advance(time, records)[2] is None
        given.append(float(engine.run[0]["given_work"]))
        kept.append({name: engine.arrays[name].copy() for name in names})
    return np.diff(given), {name: np.array([row[name] for row in kept]) for name in names}, float(engine.run[0]["ks"])


def test_the_work_of_a_load_is_bounded_with_the_increments_of_the_step_too():
    """A mass is driven to and fro within steps: at the ends of all of them it stands still, 2 mm apart, (7)."""
    h, model = 1e-2, fem.Model("to and fro")
    mass = model.add(fem.PointMass(1.0, name="mass", fixed=("x", "y")))
    model.add(fem.Prescribed(mass, z=lambda t: 1e-3 * (1.0 - np.cos(np.pi * t / h)), name="drive"))
    model.add(fem.UserForce(mass, lambda x, R, v, t: np.array([[0, 0, 3.0, 0, 0, 0]]), name="load"))
    work, found, _ = step_by_step(model, 12, h, ("V",), rho_inf=0.8)
    np.testing.assert_allclose(found["V"], 0.0, atol=1e-9)  # so that the driver gives nothing
    np.testing.assert_allclose(work, 3.0 * 2e-3 * (np.arange(12) % 2 == 0), rtol=1e-9, atol=1e-12)


def test_the_work_of_a_driver_is_bounded_with_its_force_and_rate_at_both_ends():
    """A mass that is driven upwards and slows down: force and rate are larger at the start of a step, (7)."""
    h, (model, body) = 1e-2, point(velocity=[0, 0, 1.0])
    model.gravity[:] = [0, 0, -9.81]
    model.add(fem.Prescribed(body, z=lambda t: 0.5 * np.sin(2.0 * t), name="drive"))
    work, found, ks = step_by_step(model, 60, h, ("lam",), rho_inf=0.8)
    rate = np.cos(2.0 * h * np.arange(61))
    force = np.abs(ks * found["lam"][:, 0])
    assert force[0] == pytest.approx(2.0 * 9.81)
    pairs = np.einsum("ik,jk->ijk", np.stack([force[:-1], force[1:]]), np.stack([rate[:-1], rate[1:]]))
    expected = h * pairs.max(axis=(0, 1))
    np.testing.assert_allclose(work, expected, rtol=1e-4)  # with what the corrections add to the force
    assert (expected[1:] > 1.005 * h * (force * rate)[2:]).sum() > 20
