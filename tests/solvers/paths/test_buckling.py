"""Linear buckling against closed forms: columns, strips, shafts, frames, springs; with pre-loads and constraints."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.cases import stability as cases
from fem_mbs.solvers.paths import linear_buckling


def column(first, second, n=16):
    ends = [fem.Node6([x, 0, 0], fixed=(*cases.PLANAR, *held)) for x, held in ((0, first), (1, second))]
    model = fem.Model("column")
    model.add(fem.beam_line(*ends, n, cases.THIN, fixed=cases.PLANAR))
    model.add(fem.PointForce(ends[1], [-1, 0, 0], name="load"))
    return model, ends


def jointed():
    """Column of two bending stiffnesses on a joint."""
    model, root, tip = fem.Model("column"), fem.Node6(), fem.Node6([1, 0, 0])
    model.add(fem.beam_line(root, tip, 16, fem.Section.general(EA=1e8, GA2=1e8, GA3=1e8, GJ=1, EI2=1, EI3=2)))
    model.add(fem.PointForce(tip, [-1, 0, 0]), fem.Fixed(model.ground.frame(), root.frame()))
    return model


@pytest.mark.parametrize("name", cases.COLUMNS)
def test_columns_buckle_at_the_loads_of_euler(name):
    first, second, exact = cases.COLUMNS[name]
    # fourth order of the mesh: 1.3e-4 for the shortest waves
    assert fem.buckling(column(first, second)[0]).load_factors[0] == pytest.approx(exact, rel=1.5e-4)


def test_error_of_a_column_is_of_fourth_order():
    first, second, exact = cases.COLUMNS["hinged, hinged"]
    error = [fem.buckling(column(first, second, n)[0], 1).load_factors[0] / exact - 1 for n in (4, 8, 16)]
    assert np.log2(np.abs(error[:-1]) / np.abs(error[1:])) == pytest.approx([4, 4], abs=0.2)


def test_higher_loads_and_shapes_of_a_hinged_column_are_those_of_sines():
    model, _ = column(*cases.COLUMNS["hinged, hinged"][:2])
    found = fem.buckling(model, 3)
    assert found.load_factors == pytest.approx(np.pi**2 * np.array([1, 4, 9]), rel=1e-2)  # 0.6 % at the third
    for k, shape in enumerate(found.shapes, 1):
        x = np.array([node.position[0] for node in found.nodes])
        # between nodes, the hidden ones of beams too: cubic beams on sines
        assert np.abs(shape[:, 1]) == pytest.approx(np.abs(shape[:, 1]).max() * np.abs(np.sin(k * np.pi * x)), abs=1e-3)


def test_a_joint_is_a_clamp_and_large_models_are_solved_alike(monkeypatch):
    exact = np.pi**2 / 4
    loads = [fem.buckling(jointed(), 2).load_factors]
    monkeypatch.setattr(linear_buckling, "DENSE", 0)
    loads.append(fem.buckling(jointed(), 2).load_factors)
    assert loads[0] == pytest.approx([exact, 2 * exact], rel=1e-5) and loads[1] == pytest.approx(loads[0], rel=1e-6)


@pytest.mark.parametrize("torsion", [1.0, 0.1])
def test_a_cantilever_strip_tips_over_at_4_013(torsion):
    section = fem.Section.general(EA=1e9, GA2=1e9, GA3=1e9, GJ=torsion, EI2=1, EI3=1e6)
    model, tip = fem.Model("strip"), fem.Node6([1, 0, 0], name="tip")
    model.add(fem.beam_line(fem.Node6(fixed=True), tip, 16, section), fem.PointForce(tip, [0, -1, 0]))
    found = fem.buckling(model, 2, reverse=True).load_factors
    assert np.sort(found) == pytest.approx(4.0126 * np.sqrt(torsion) * np.array([-1, 1]), rel=5e-5)


def test_shafts_under_torque_buckle_at_the_torques_of_greenhill():
    for build, exact in ((cases.hinged_shaft, 2 * np.pi), (cases.clamped_shaft, 8.9868)):
        assert fem.buckling(build(1.0), 1).load_factors[0] == pytest.approx(exact, rel=5e-5)  # 16 intervals


def test_right_angle_frame_buckles_at_the_moment_of_argyris_with_both_signs():
    model, end = cases.half_frame(16)
    model.add(fem.PointMoment(end, [0, 0, 1.0]))
    found = np.sort(fem.buckling(model, 2, reverse=True).load_factors)
    assert found == pytest.approx(cases.MOMENT * np.array([-1, 1]), rel=5e-5)


def test_a_pre_load_takes_its_share_and_the_analysis_about_a_load_counts_from_it():
    model, ends = column(("x", "y"), ("y",), n=8)
    exact = fem.buckling(model, 1).load_factors[0]
    about = fem.buckling(model, 1, at=5.0)
    assert about.load_factors[0] == pytest.approx(exact, rel=1e-5) and about.at == 5.0
    more = model.add(fem.PointForce(ends[1], [-2.0, 0, 0], name="more"))
    left = fem.buckling(model, 1, loads=[more]).load_factors[0]
    assert left == pytest.approx((exact - 1.0) / 2.0, rel=1e-5)


def test_a_column_on_springs_buckles_at_k_l():
    """Rigid rod on a hinge, held upright by a spring at its top: m g = k l."""
    model = fem.Model("inverted pendulum", gravity=[0, 0, -1.0])
    bob = model.add(fem.RigidBody(1.0, 0.1, position=[0, 0, 0.7], name="bob"))
    hinge = model.add(fem.Revolute.at(model.ground, bob, position=[0, 0, 0], axis=[0, 1, 0]))
    model.add(fem.TorsionSpring(hinge.frame_P, hinge.frame_Q, 3.0))
    found = fem.buckling(model, 1)
    assert found.load_factors[0] == pytest.approx(3.0 / 0.7, rel=1e-8)
    assert np.abs(found.shapes[0]).max() == 1.0 and "load factor 0" in str(found)


def test_a_load_that_pulls_buckles_nothing():
    model = fem.Model("string")
    middle = model.add(fem.PointMass(1.0, position=[1, 0, 0], fixed=("y",), name="bead"))
    model.add(fem.Spring(model.ground, middle, stiffness=1.0))
    model.add(fem.Spring(model.ground.frame([1, 0, 1]), middle, stiffness=0.1))
    model.add(fem.PointForce(middle, [0.1, 0, 0]))
    with pytest.raises(fem.SolverError, match=r"'string'.*no critical load.*reverse=True"):
        fem.buckling(model)
    assert fem.buckling(model, reverse=True).load_factors[0] < 0
