"""What solvers, results and plots say when something is not as the user meant it."""

import functools
import re

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ParameterError, SolverError
from fem_mbs.results.sums import SUMS


def stretched():
    """A rod pulled past the strains of the valid range of its element."""
    section = fem.Section.circle(2e-3, E=210e9, nu=0.3, density=7850)
    model = fem.Model("rod")
    rod = fem.beam_line(fem.Node6(fixed=True), [1, 0, 0], 2, section, name="rod")
    bending = 210e9 * np.pi * 2e-3**4 / 4
    load = fem.PointForce(rod.nodes[-1], [-12 * bending, 0, 0], signal=fem.ramp(duration=0.02), name="load")
    model.add(rod, load, fem.RigidBody(0.1, 1e-4, node=rod.nodes[-1], name="end"))
    return model


def test_a_strict_run_raises_for_every_warning_that_a_result_would_report(tmp_path):
    stepper = fem.DecoupledNSGA(rho_inf=0)
    told = stepper.run(stretched(), 0.05, 1e-3)
    assert len(told.warnings) == 1
    with pytest.raises(SolverError, match="Without strict=True") as caught:
        stepper.run(stretched(), 0.05, 1e-3, strict=True, save=tmp_path / "rod.vtkhdf")
    assert told.warnings[0] in str(caught.value)
    assert caught.value.result.warnings == told.warnings and caught.value.result.status.startswith("stopped")
    assert np.array_equal(caught.value.result["end"].position, told["end"].position)
    assert fem.load(tmp_path / "rod.vtkhdf").status.startswith("stopped")


def spring():
    model = fem.Model("spring")
    mass = model.add(fem.PointMass(1.0, position=[1.2, 0, 0], name="mass"))
    model.add(fem.Spring(model.ground, mass, stiffness=100.0, free_length=1.0))
    return model


def grains():
    model, group = fem.Model("grains"), fem.ContactGroup(friction=0.3, name="grains")
    group.sphere(model.add(fem.RigidBody.sphere(0.05, 0.02, position=[0, 0, 1])), 0.02)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    return model


def test_advice_names_only_what_the_method_and_the_model_can_have():
    free, grouped = spring().compile(), grains().compile()
    for stepper in (fem.DecoupledNSGA(), fem.NonsmoothGeneralizedAlphaGGL(), fem.GeneralizedAlpha()):
        assert "step_control" in stepper.smaller_steps(free)
    assert "step_control" in fem.LobattoIIIAB().smaller_steps(free)
    for method, system in (
        (fem.MoreauJean(), free),
        (fem.ConeComplementarity(), free),
        (fem.DecoupledNSGA(step_control=fem.StepControl()), free),
        (fem.GeneralizedAlpha(step_control=fem.StepControl()), free),
        (fem.LobattoIIIAB(step_control=fem.StepControl()), free),
        (fem.DecoupledNSGA(), grouped),
    ):
        assert method.smaller_steps(system) == "Halve h"


@pytest.mark.parametrize("rises, words", [(1, "energy .* once .* J"), (3, "energy .* 3 times ")])
def test_the_warning_of_a_rising_energy_counts_in_words(rises, words):
    engine = fem.MoreauJean().prepare(spring().compile(), 1e-3)
    engine.run[0]["rises"], engine.run[0]["largest_rise"] = rises, 2.0
    (text,) = engine.warnings()

    assert re.search(words, text) and text.endswith("Halve h") and "step_control" not in text


def driven(angle):
    model = fem.Model("driven")
    wheel = model.add(fem.RigidBody(1.0, 0.1, name="wheel"))
    hinge = model.add(fem.Revolute.at(model.ground, wheel, [0, 0, 0], axis=[0, 0, 1]))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=angle, name="motor"))
    return model


def test_a_driver_in_degrees_is_named_as_the_cause():
    with pytest.raises(SolverError, match=r"'motor'.*1\d\d.*°.*h must be below") as caught:
        fem.DecoupledNSGA().run(driven(fem.smooth_start(3600, 0.5)), 1.0, 1e-3)
    assert caught.value.element.name == "motor"
    fem.DecoupledNSGA().run(driven(fem.smooth_start(np.radians(3600), 0.5)), 0.6, 1e-3)


def test_a_beam_without_density_is_named_with_the_cure():
    model, section = fem.Model(), fem.Section.circle(0.01, E=1e9)
    model.add(fem.beam_line(fem.Node6(fixed=True), [1, 0, 0], 4, section, name="rod"))
    with pytest.raises(SolverError, match=r"'rod node 1'.*no mass.*'rod 1'.*density"):
        fem.DecoupledNSGA(rho_inf=0).run(model, 0.02, 1e-3)


def test_section_and_number_of_a_beam_line_in_the_wrong_order_are_reported():
    section = fem.Section.circle(0.01, E=1e9)
    with pytest.raises(ParameterError, match=r"beam_line\(start, end, n, section\)"):
        fem.beam_line([0, 0, 0], [1, 0, 0], section, 4)
    for n in ("4", 2.5, 0, True):
        with pytest.raises(ParameterError, match="whole number"):
            fem.beam_line([0, 0, 0], [1, 0, 0], n, section)


# --- functions of time ------------------------------------------------------------------------------------------------


def test_signals_are_computed_with_as_numbers_are():
    ramp, t = fem.ramp(height=3.0, duration=0.5), 0.3
    value, rate, acceleration = ramp.jet(t)
    for signal, exact in (
        (ramp + ramp, (2 * value, 2 * rate, 2 * acceleration)),
        (1 - 2 * ramp / 4, (1 - value / 2, -rate / 2, -acceleration / 2)),
        (-ramp + 5, (5 - value, -rate, -acceleration)),
        (np.float64(2) * ramp, (2 * value, 2 * rate, 2 * acceleration)),
        (ramp**2, (value**2, 2 * value * rate, 2 * rate**2 + 2 * value * acceleration)),
        (ramp * np.cos, (value * np.cos(t), rate * np.cos(t) - value * np.sin(t),
                         acceleration * np.cos(t) - 2 * rate * np.sin(t) - value * np.cos(t))),
        (np.sin(ramp), (np.sin(value), np.cos(value) * rate, np.cos(value) * acceleration - np.sin(value) * rate**2)),
        (np.minimum(ramp, 0.5), (0.5, 0.0, 0.0)),
    ):  # fmt: skip
        assert isinstance(signal, fem.Signal)
        assert signal.jet(t) == pytest.approx(exact, rel=1e-12) and signal(t) == pytest.approx(exact[0], rel=1e-14)
    for bad in (lambda: ramp + "1", lambda: ramp * [1, 2], lambda: np.add.reduce(ramp)):
        with pytest.raises(TypeError):
            bad()


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    return fem.DecoupledNSGA().run(spring(), 0.1, 1e-2)


def test_times_outside_a_run_are_rejected(result, tmp_path):
    assert (result.at(0.1049), result.at(-0.0049), result.at(0.051)) == (10, 0, 5)
    for ask in (
        lambda: result.at(0.106),
        lambda: result.at(-0.006),
        lambda: result.picture(tmp_path / "p.png", time=9),
        lambda: result.export(tmp_path / "p.stl", time=7),
    ):
        with pytest.raises(ParameterError, match=r"time = .*outside.* 0\.1 s"):
            ask()


@pytest.mark.parametrize("ending", ["plot", "picture"])
def test_endings_that_cannot_be_written_are_rejected_with_those_that_can(ending, result, tmp_path):
    with pytest.raises(FemMbsError, match=r"p\.xyz: .*\.png"):
        if ending == "plot":
            result.plot("mass.position", save=tmp_path / "p.xyz")
        else:
            result.picture(tmp_path / "p.xyz")


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("every, steps", [(4, [0, 4, 8, 10]), (100, [0, 10]), (5, [0, 5, 10])])
def test_the_last_step_is_saved_whatever_save_every_is(every, steps, observed, result, tmp_path):
    class Watch:
        seen = 0

        def start(self, system): ...

        def observe(self, block):
            self.seen += len(block["t"])

        def finish(self): ...

    watch = [Watch()] if observed else []
    options = dict(save_every=every, observers=watch)
    for coarse in (
        fem.DecoupledNSGA().run(spring(), 0.1, 1e-2, **options),
        fem.load(fem.DecoupledNSGA().run(spring(), 0.1, 1e-2, save=tmp_path / "s.vtkhdf", **options).path),
    ):
        assert coarse.step.tolist() == steps and coarse.warnings == []
        end, last = (r.rows([-1]) for r in (coarse, result))
        since = result.rows(range(steps[-2] + 1, 11))
        last |= {name: since[name].sum(axis=0)[None] for name in SUMS}
        assert {name for name in last if not np.array_equal(end[name], last[name])} == set()
        assert {"output", "energy", "velocity"} <= {name for name, values in last.items() if np.any(values)}
        state, expected = coarse.state(-1), result.state(-1)
        assert all(np.array_equal(getattr(state, name), getattr(expected, name)) for name in ("t", "x", "Q", "R", "V"))
        assert np.array_equal(coarse["mass"].position, result["mass"].position[steps])
        assert np.array_equal(coarse.energy.total, result.energy.total[steps])
    assert all(w.seen == 22 for w in watch)


def test_a_pour_saves_its_last_pairs():
    model = grains()
    model.gravity = [0, 0, -9.81]
    model.nodes[1].position = [0, 0, 0.02]
    one, seven = (fem.DecoupledNSGA().run(model, 0.01, 1e-3, save_every=n) for n in (1, 7))
    assert seven.step.tolist() == [0, 7, 10] and one.pair_count[10] == 1
    for k, (before, step) in enumerate(zip([-1, 0, 7], seven.step)):
        steps = [one.pairs(j) for j in range(before + 1, step + 1)]
        for name, values in seven.pairs(k)._asdict().items():
            if name in SUMS:  # impulses of all steps since the saved state before
                expected = np.sum([getattr(pairs, name) for pairs in steps], axis=0)
                np.testing.assert_allclose(values, expected, rtol=1e-14)
            else:
                assert np.array_equal(values, getattr(steps[-1], name)), name


# --- modes ------------------------------------------------------------------------------------------------------------


def test_modes_report_what_they_leave_out():
    model = fem.Model("hung", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], fixed=("x", "y", "rx", "ry", "rz"), name="b"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    model.add(fem.Spring(model.ground.frame([0, 0, 1]), ball, stiffness=100.0, name="s"))
    modes = fem.modes(model, 5)
    assert len(modes) == 1
    for words in (
        "all modes of the model: 1; 5",
        r"Loads act at this configuration \(largest on Node6 'b', component z\)",
        "'floor'",
    ):
        assert sum(words.replace("\\", "") in text for text in modes.warnings) == 1 and words.replace("\\", "") in str(
            modes
        )
    assert fem.modes(spring(), 1).warnings != []  # the spring is stretched
    static = fem.static_equilibrium(spring())
    assert fem.modes(spring(), 1, about=static).warnings == []


def test_modes_of_rigid_bodies_are_zero_and_those_of_slender_wires_are_not():
    for n, radius in ((8, 6e-3), (40, 6e-3), (8, 1.5e-5)):  # 1.5e-5: as slender as 1e5
        wire = fem.Section.circle(radius, E=70e9, nu=0.33, density=2700.0)
        free, clamped = fem.Model("free"), fem.Model("clamped")
        free.add(fem.beam_line([0, 0, 0], [1.5, 0, 0], n, wire))
        clamped.add(fem.beam_line(fem.Node6(fixed=True), [1.5, 0, 0], n, wire))
        bending = np.sqrt(70e9 / 2700.0) * radius / 2 / 1.5**2
        omega = fem.modes(free, 8).omega
        assert (omega[:6] == 0).all() and omega[6] == pytest.approx(22.3733 * bending, rel=2e-2)
        assert fem.modes(clamped, 1).omega[0] == pytest.approx(3.51602 * bending, rel=2e-2)
    jointed = fem.Model("pendulum on a free beam")
    beam = jointed.add(fem.beam_line([0, 0, 0], [1.5, 0, 0], 8, fem.Section.circle(6e-3, E=70e9, density=2700.0)))
    body = jointed.add(fem.RigidBody.box(1.0, [0.1, 0.2, 0.3], position=[0, 0, 1]))
    jointed.add(fem.Spherical.at(body, beam.nodes[0], [0, 0, 0]))
    found = fem.modes(jointed, 11)
    assert (found.omega[:9] == 0).all() and found.omega[9] > 10.0 and found.stable
    assert str(found).splitlines()[1].split() == ["1", "0", "0", "0"]
    loose = fem.Model("body")
    loose.add(fem.RigidBody.box(1.0, [0.1, 0.2, 0.3]))
    assert (fem.modes(loose, 6).omega == 0).all()
    soft = fem.Model("soft next to stiff")
    for k, stiffness in enumerate((1e-4, 1e6)):
        mass = soft.add(fem.PointMass(1.0, position=[1, k, 0]))
        soft.add(fem.Spring(soft.ground.frame([0, k, 0]), mass, stiffness=stiffness, free_length=1.0))
    assert fem.modes(soft, 6).omega == pytest.approx([0, 0, 0, 0, 1e-2, 1e3], rel=1e-6)


def test_an_undamped_mode_shows_no_negative_zero():
    assert not np.signbit(fem.modes(spring(), 3).damping_ratio).any()


@pytest.mark.parametrize(("distance", "told"), [(0.0, False), (1e4, True)])
def test_a_failure_far_from_the_origin_names_the_distance(distance, told):
    """Positions are rounded to 2e-12 m there: times 2e10 N/m more than a millionth of the forces of its weight."""
    mesh = fem.block_mesh([1, 0.1, 0.1], [4, 1, 1])
    bar = fem.SolidBody(mesh, fem.SolidMaterial(2e11, 0.3, 7850.0), position=[distance, 0, 0], name="bar")
    root = fem.SurfaceCoupling(bar, "x0", name="root")
    model = fem.Model("far", gravity=[0, 0, -9.81])
    model.add(bar, root, fem.Revolute.at(model.ground, root.node, [distance, 0.05, 0.05], [0, 1, 0]))
    run = functools.partial(fem.GeneralizedAlpha(divide_failed_steps=False).run, model, 1e-3, 1e-3)
    if not told:
        run()
        return
    with pytest.raises(SolverError, match=r"1e\+04 m.*origin.*2e-12 m"):
        run()
