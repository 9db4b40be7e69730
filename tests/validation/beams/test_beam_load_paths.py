"""Load paths of beams: how load steps are taken, their results, and what ends them."""

from itertools import pairwise

import numpy as np
import pytest
from beam_models import ROLL_UP, cantilever

from fem_mbs.elements.beams.line import beam_line
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.elements.forces.loads import PointForce, PointMoment
from fem_mbs.elements.joints.coordinates.driver import RevoluteDriver
from fem_mbs.elements.joints.fixed import Fixed
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.errors import SolverError
from fem_mbs.model import Model
from fem_mbs.nodes import Node6
from fem_mbs.solvers.statics import static_equilibrium


def test_load_steps_are_halved_when_the_whole_load_does_not_converge():
    model, _, tip = cantilever(8, Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=1, EI2=1, EI3=1))
    model.add(PointForce(tip, [0, 50, 0]))  # k = 50: the beam hangs on its tip
    result = static_equilibrium(model)
    assert result.rejected > 0
    assert result.load_factors[-1] == pytest.approx(1.0, abs=1e-12)
    many = static_equilibrium(model, steps=10)
    assert result.position(tip) == pytest.approx(many.position(tip), abs=1e-9)  # Newton tolerance
    with pytest.raises(SolverError, match=r"load factor 1: no equilibrium .*adaptive=True"):
        static_equilibrium(model, adaptive=False)


def test_an_element_that_would_turn_too_far_is_named():
    model, line, tip = cantilever(2, ROLL_UP, length=10, poses=2)
    line[0].name, line[1].name = "first", "second"
    model.add(PointMoment(tip, [0, 0, 2 * np.pi * 100 / 10]))  # 180° each: the limit of the relative rotation is 160°
    with pytest.raises(SolverError, match=r"load factor 0\.89.*'first'.* 2\.80 rad"):
        static_equilibrium(model)


def test_a_half_of_an_element_that_would_turn_too_far_is_named():
    model, line, tip = cantilever(2, ROLL_UP, length=10)
    line[0].name = "coil"
    model.add(PointMoment(tip, [0, 0, 2 * np.pi * 100 / 10]))
    with pytest.raises(SolverError, match=r"load factor 0\.89.*'coil'.* 2\.80 rad"):
        static_equilibrium(model)


def test_load_path_is_kept_as_a_history_over_the_load_factor():
    model, _, tip = cantilever(4, ROLL_UP, length=10)
    model.add(PointMoment(tip, [0, 0, 2 * np.pi * 100 / 10]))
    result = static_equilibrium(model, steps=4)
    factor = result.results.t
    assert factor == pytest.approx([0, 0.25, 0.5, 0.75, 1.0])
    phi = 2 * np.pi * factor[1:]
    # closed form sin φ/φ; Newton tolerance
    assert result["tip"].position[1:, 0] == pytest.approx(10 * np.sin(phi) / phi, abs=1e-7)


def test_section_forces_balance_the_load_at_both_ends_of_each_element():
    model, line, tip = cantilever(3, Section.general(EA=1e4, GA2=1e4, GA3=1e4, GJ=1, EI2=1, EI3=1, rhoA=0.3))
    model.gravity = np.array([0.0, 0.0, -10.0])
    load = np.array([0.2, 1.0, 0.5])
    model.add(PointForce(tip, load))
    result = static_equilibrium(model)
    R = result.rotation(tip)
    assert R @ result.output(line[-1], "force_B") == pytest.approx(load, abs=1e-7)  # Newton tolerance of forces of 1
    assert result.output(line[-1], "moment_B") == pytest.approx(np.zeros(3), abs=1e-7)
    root_force = result.rotation(line.nodes[0]) @ result.output(line[0], "force_A")
    assert root_force == pytest.approx(load + [0, 0, -3.0], abs=1e-7)  # and the weight of 0.3 kg/m · 1 m · 10 m/s²
    for first, second in pairwise(line):
        for name in ("force", "moment"):
            at_B, at_A = result.output(first, f"{name}_B"), result.output(second, f"{name}_A")
            assert at_B == pytest.approx(at_A, abs=1e-7)


def test_clamp_by_a_joint_is_the_clamp_by_fixed_components():
    load = [1.0, 20.0, 30.0]
    tips = []
    for joint in (False, True):
        root, tip = Node6(fixed=not joint), Node6([1, 0, 0])
        model = Model("clamped")
        model.add(beam_line(root, tip, 3, Section.general(EA=1e4, GJ=5, EI2=10, EI3=20)), PointForce(tip, load))
        if joint:
            clamp = model.add(Fixed(model.ground.frame(), root.frame()))
        result = static_equilibrium(model)
        tips.append(result.position(tip))
    assert tips[0] == pytest.approx(tips[1], abs=1e-9)  # Newton tolerance
    # the joint holds what was applied: force of the joint on the beam
    assert result.output(clamp, "force") == pytest.approx(-np.array(load), abs=1e-6)
    assert result.output(clamp, "moment") == pytest.approx(-np.cross(tips[0], load), abs=1e-5)


def test_driver_turns_an_unloaded_beam_without_strain():
    root, tip = Node6(), Node6([1, 0, 0])
    model = Model("driven")
    line = model.add(beam_line(root, tip, 3, ROLL_UP))
    model.add(Revolute(model.ground.frame(), root.frame()))
    model.add(RevoluteDriver(model.ground.frame(), root.frame(), angle=lambda t: 1.5 * t**2))
    result = static_equilibrium(model, t=1.0, steps=4)
    assert result.position(tip) == pytest.approx([np.cos(1.5), np.sin(1.5), 0], abs=1e-9)  # Newton tolerance
    assert np.abs(result.output(line[0], "moment_A")).max() < 1e-6


def test_tension_of_a_turning_beam_is_that_of_its_centrifugal_force():
    section = Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=10, EI2=10, EI3=10, rhoA=3.0)
    model, line, _ = cantilever(5, section, length=2.0)
    result = static_equilibrium(model, rotation=[0, 0, 7.0])
    # ρA ω² L²/2; the beam is 2e-4 longer
    assert result.output(line[0], "force_A")[0] == pytest.approx(3.0 * 49 * 4 / 2, rel=1e-3)


def test_load_path_is_written_to_a_file(tmp_path):
    import fem_mbs as fem

    model, _, tip = cantilever(4, ROLL_UP, length=10)
    model.add(PointMoment(tip, [0, 0, 10.0]))
    result = static_equilibrium(model, steps=3, save=str(tmp_path / "path.vtkhdf"))
    again = fem.load(str(tmp_path / "path.vtkhdf"))
    assert again.t == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert again["tip"].position[-1] == pytest.approx(result.position(tip), abs=1e-15)


def test_contact_that_would_be_penetrated_in_steady_rotation_is_named():
    root, tip = Node6(fixed=True), Node6([1, 0, 0])
    model = Model("touching")
    model.add(beam_line(root, tip, 2, ROLL_UP), PointForce(tip, [0, 0, -50]))
    floor = model.ground.frame([0, 0, -0.05])
    model.add(SphereOnPlane(tip.frame(), floor, radius=0.01, name="tip-floor"))
    with pytest.raises(SolverError, match=r"'tip-floor'.*penetrated.*gap = -"):
        static_equilibrium(model, rotation=[0, 0, 1e-3])
