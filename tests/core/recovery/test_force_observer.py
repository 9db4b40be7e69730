"""Recovery during a run gives what recovery from its results gives, for any block of steps and any number of states."""

import force_recovery as bouncing
import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.recovery.observer import MARGIN

SAME = ("time", "speed", "restitution", "impulse", "duration", "peak_force", "indentation", "energy_lost", "loop_area")


def compare(watch, found):
    """All numbers equal: the same functions on the same states."""
    assert len(watch.impacts) == len(found.impacts)
    np.testing.assert_array_equal(watch.impacts.state, found.impacts.state)
    for name in (*SAME, "effective_mass", "background"):
        np.testing.assert_allclose(watch.impacts[name], found.impacts[name], rtol=1e-12, atol=0, err_msg=name)
    np.testing.assert_array_equal(watch.impacts.note, found.impacts.note)
    np.testing.assert_array_equal(watch.step_times, found.step_times)
    np.testing.assert_allclose(watch.continuous, found.continuous, rtol=1e-12)
    np.testing.assert_allclose(watch.impulse, found.impulse, rtol=1e-12)


def chain():
    """A ball falls on a block that rests on the ground: impulses pass through the block."""
    model = fem.Model("chain", gravity=[0, 0, -9.81])
    up = {"fixed": ("x", "y", "rx", "ry", "rz")}
    block = model.add(fem.RigidBody.sphere(2.0, 0.1, position=[0, 0, 0.1], name="block", **up))
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.5], name="ball", **up))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.1, restitution=0.5, name="floor"))
    model.add(fem.SphereOnSphere(ball, block, radius_A=0.1, radius_B=0.1, restitution=0.8, name="pair"))
    return model


@pytest.mark.parametrize("filter", ["kinematic", "peak"])
@pytest.mark.filterwarnings("ignore:recover_forces")
def test_bounces_until_rest_are_recovered_during_the_run(filter):
    options = {"speed_tolerance": 4e-5, "stiffness": 140e6, "model": "flores", "filter": filter}
    watch, seen = fem.ForceObserver("ground contact", **options, on_impact=lambda i: seen.append(float(i.time))), []
    stepper = fem.DecoupledNSGA(rho_inf=0.0, rtol=1e-5)
    every = stepper.run(bouncing.build(0.8), t_end=4.5, h=1e-3)
    few = stepper.run(bouncing.build(0.8), t_end=4.5, h=1e-3, save_every=100, observers=[watch])
    found = fem.recover_forces(every, "ground contact", **options)
    compare(watch, found)
    assert len(watch.impacts) > 15 and seen == list(watch.impacts.time)
    # the states that remain are those of a run without observer
    np.testing.assert_array_equal(few.step, np.arange(0, 4501, 100))
    np.testing.assert_array_equal(few["ball"].position, every["ball"].position[::100])
    assert few.parameters["save_every"] == 100
    np.testing.assert_array_equal(few.energy.total, every.energy.total[::100])
    np.testing.assert_array_equal(few.violation.position, every.violation.position[::100])


@pytest.mark.parametrize("contact", ["floor", "pair"])
@pytest.mark.filterwarnings("ignore:recover_forces")
def test_impulses_through_the_chain_are_recovered_during_the_run(contact):
    options = {"speed_tolerance": 3e-5, "stiffness": 1e8, "restitution": 0.5}
    watch = fem.ForceObserver(contact, **options)
    result = fem.DecoupledNSGA().run(chain(), t_end=1.2, h=1e-3, observers=[watch])
    compare(watch, fem.recover_forces(result, contact, **options))
    assert contact == "pair" or any("through other bodies" in note for note in watch.impacts.note)


@pytest.mark.parametrize("block", [1, 2, 7, 40])
@pytest.mark.filterwarnings("ignore:recover_forces")
def test_numbers_do_not_depend_on_how_many_steps_come_at_once(block):
    options = {"speed_tolerance": 3e-5, "stiffness": 1e8, "restitution": 0.5}
    system = chain().compile()
    result = fem.DecoupledNSGA().run(system, t_end=0.5, h=1e-3)
    watch = fem.ForceObserver("floor", **options)
    watch.start(system)
    rows = result.rows(np.arange(len(result.t)))
    for name in ("velocity", "acceleration"):  # as steppers record them
        rows[name] = np.concatenate([rows[name], rows.pop(f"angular_{name}")], axis=2)
    for first in range(0, len(result.t), block):
        watch.observe({name: array[first : first + block] for name, array in rows.items()})
        # decided: all but a margin
        assert len(watch.continuous) >= first + 1 - 3 * MARGIN
    watch.finish()
    compare(watch, fem.recover_forces(result, "floor", **options))


def test_steps_of_variable_size_are_observed():
    options = {"speed_tolerance": 1e-3, "stiffness": 140e6}
    stepper = fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6, h_max=0.02))
    watch = fem.ForceObserver("ground contact", **options)
    result = stepper.run(bouncing.build(0.8), t_end=1.5, h=1e-3, observers=[watch])
    compare(watch, fem.recover_forces(result, "ground contact", **options))


def test_the_envelope_adds_impacts_to_the_closed_contact():
    watch = fem.ForceObserver("ground contact", speed_tolerance=4e-5, stiffness=140e6, model="flores")
    fem.DecoupledNSGA(rho_inf=0.0).run(bouncing.build(0.8), t_end=4.5, h=1e-3, save_every=1000, observers=[watch])
    envelope = watch.envelope()
    first = watch.impacts[0]
    assert envelope[first.state] == pytest.approx(first.peak_force)
    assert envelope[-1] == pytest.approx(9.8, rel=1e-9)


def test_a_run_that_dies_leaves_what_was_decided():
    system = chain().compile()
    watch = fem.ForceObserver("pair", speed_tolerance=3e-5, stiffness=1e8)

    class Stop(Exception):
        pass

    def stop(_):
        raise Stop

    watch.on_impact = stop
    with pytest.raises(Stop):
        fem.DecoupledNSGA().run(system, t_end=1.2, h=1e-3, observers=[watch])
    assert len(watch.impacts) >= 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": None}, "stiffness = None"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"model": "herz"}, "herz"),
        ({"restitution": 2.0}, "restitution"),
        ({"speed_tolerance": None}, "speed_tolerance = None"),
        ({"speed_tolerance": 0.0}, "speed_tolerance"),
        ({"filter": "none"}, "filter"),
        ({"on_impact": 3}, "on_impact"),
    ],
)
def test_impossible_options_are_rejected(options, words):
    with pytest.raises(fem.FemMbsError, match=words):
        fem.ForceObserver("pair", **{"stiffness": 1e8, "speed_tolerance": 1e-3, **options})


def test_what_is_not_a_contact_is_rejected_when_the_run_begins():
    for name, words in (("ball", "is not a contact"), ("pear", "did you mean 'pair'")):
        watch = fem.ForceObserver(name, stiffness=1e8, speed_tolerance=1e-3)
        with pytest.raises(fem.FemMbsError, match=words):
            fem.DecoupledNSGA().run(chain(), t_end=0.1, h=1e-3, observers=[watch])


def test_forces_are_kept_in_the_results_file(tmp_path):
    path = tmp_path / "chain.vtkhdf"
    watch = fem.ForceObserver("pair", speed_tolerance=3e-5, stiffness=1e8)
    result = fem.DecoupledNSGA().run(chain(), t_end=1.2, h=1e-3, observers=[watch], save=path)
    with pytest.raises(fem.FemMbsError, match=r"no recovered forces of 'pair'.*none"):
        result.recovered("pair")
    found = fem.recover_forces(result, "pair", stiffness=1e8, speed_tolerance=3e-5)
    found.save()
    kept = fem.load(path).recovered("pair")
    assert kept.impacts.dtype == found.impacts.dtype and len(kept.impacts) > 0
    for name in kept.impacts.dtype.names:
        assert np.array_equal(kept.impacts[name], found.impacts[name], equal_nan=name != "note"), name
    for name in ("t", "force", "indentation", "velocity"):
        assert np.array_equal(getattr(kept, name), getattr(found, name))
    assert (kept.stiffness, kept.model, kept.exponent, kept.filter) == (1e8, "consistent", 1.5, "kinematic")
    watch.save(path)  # replaces them
    kept = fem.load(path).recovered("pair")
    assert np.array_equal(kept.t, watch.step_times) and np.array_equal(kept.impulse, watch.impulse)
    assert kept.force.max() == watch.envelope().max()
    assert fem.load(path).t[-1] == result.t[-1]  # the rest of the file is as it was


def test_forces_of_a_run_without_a_file_need_one(tmp_path):
    result = fem.DecoupledNSGA().run(chain(), t_end=1.2, h=1e-3)
    found = fem.recover_forces(result, "pair", stiffness=1e8, speed_tolerance=3e-5)
    with pytest.raises(fem.FemMbsError, match=r"'pair'.*no results file.*path="):
        found.save()
    with pytest.raises(fem.FemMbsError, match=r"'pair'.*written.*missing.vtkhdf"):
        found.save(tmp_path / "missing.vtkhdf")
    with pytest.raises(fem.FemMbsError, match="not saved"):
        result.recovered("pair")
