"""Models and systems: names, numbering, fixed components, global matrices, summary, projection of initial values."""

import re

import double_pendulum
import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ModelError, ParameterError
from fem_mbs.rotations import exp, log
from fem_mbs.system.system import System


def free_body(**options):
    model = fem.Model("free body")
    body = model.add(fem.RigidBody(2.0, [0.1, 0.2, 0.25], **options))
    return model, body


# --- names and adding -----------------------------------------------------


def test_elements_without_a_name_get_their_type_and_number():
    model = fem.Model()
    model.add(fem.RigidBody(1, 1), fem.RigidBody(1, 1, name="rigidbody 3"), fem.RigidBody(1, 1), fem.RigidBody(1, 1))
    assert [e.name for e in model.elements] == ["rigidbody 1", "rigidbody 3", "rigidbody 4", "rigidbody 5"]


def test_a_name_can_be_given_once():
    model, body = free_body(name="rod")
    with pytest.raises(ParameterError, match=r"'rod': name = 'rod'.*taken"):
        model.add(fem.RigidBody(1, 1, name="rod"))
    with pytest.raises(ParameterError, match=r"'rod'.*in the model already"):
        model.add(body)
    assert len(model.elements) == 1


def test_gravity_is_a_vector():
    with pytest.raises(ParameterError, match=r"gravity = 9\.81.*three numbers"):
        fem.Model("lab", gravity=9.81)


def test_elements_bring_their_nodes_and_lists_are_taken_apart():
    model = fem.Model()
    a, b = fem.RigidBody(1, 1, name="a"), fem.RigidBody(1, 1, position=[1, 0, 0], name="b")
    spring = fem.Spring(a, b, stiffness=10.0)
    assert model.add(a) is a
    assert model.add(b, [spring]) == [b, [spring]]
    assert model.nodes == [model.ground, a.node, b.node] and model.elements == [a, b, spring]
    assert model["b"] is b
    with pytest.raises(KeyError, match=r"'c'.*'model'.*a, b, spring 1"):
        model["c"]
    with pytest.raises(ParameterError, match=r"add = 3\.0"):
        model.add(3.0)


def test_a_second_ground_is_rejected():
    from fem_mbs.nodes import Ground

    model, body = free_body()
    with pytest.raises(ModelError, match=r"use model\.ground"):
        model.add(fem.Spherical.at(Ground(), body, [0, 0, 0]))


# --- summary ----------------------------------------------------------------


def test_a_printed_model_answers_the_first_questions():
    model = double_pendulum.build()
    text = str(model)
    for part in ("double pendulum", "-9.81", "2 RigidBody, 2 Revolute", "12 velocities, 10 constraint", "(2 degrees"):
        assert part in text, text
    assert "3.5 kg" in text
    assert "none" in str(fem.Model("empty"))
    with pytest.raises(AttributeError, match=r"no attribute 'run'.*fem.DecoupledNSGA"):
        model.run(1.0)
    with pytest.raises(AttributeError, match=r"no attribute 'bodies'$"):
        _ = model.bodies


def test_a_printed_model_counts_the_constraints_that_are_redundant():
    model = fem.Model("planar pendulum")
    rod = model.add(fem.RigidBody.box(1, [1, 0.1, 0.1], position=[0.5, 0, 0], fixed=("y", "rx", "rz"), name="rod"))
    assert re.search(r"3 velocities, 0 constraint.*\(3 degrees", str(model))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 1, 0], name="pin"))
    assert re.search(r"3 velocities, 5 constraint.* 3 .*\(1 degree", str(model))


def test_rows_of_round_off_are_not_counted_as_constraints():
    """Axes of a slider along x are turned by a right angle, which leaves 2e-16 in rows of fixed components."""
    model = fem.Model("planar slider")
    box = model.add(
        fem.RigidBody.box(0.5, [0.06, 0.04, 0.04], position=[0.4, 0, 0], fixed=("z", "rx", "ry"), name="box")
    )
    model.add(fem.Prismatic.at(model.ground, box, [0.4, 0, 0], axis=[1, 0, 0], name="guide"))
    assert re.search(r"3 velocities, 5 constraint.* 3 .*\(1 degree", str(model))
    with pytest.raises(fem.ModelError, match="3 of 5 constraint"):
        model.compile()


def test_mass_and_centre_of_mass_do_not_see_gravity_springs_or_node_places():
    centres, masses = (double_pendulum.center_1, double_pendulum.joint_2 + double_pendulum.center_2), (2.0, 1.5)
    expected = (2.0 * centres[0] + 1.5 * centres[1]) / 3.5
    for node in (double_pendulum.center_1, np.array([0.1, 0.2, -0.1])):
        model = double_pendulum.build(node_1=node)
        model.add(fem.Spring(model.ground.frame([0, 0, 2.0]), model["body 1"], stiffness=300.0, free_length=0.1))
        mass, centre = model.mass_properties()
        assert mass == pytest.approx(sum(masses), rel=1e-12)
        assert centre == pytest.approx(expected, abs=1e-12)  # round-off


# --- numbering and state ----------------------------------------------------


def test_unknowns_are_the_free_components_of_all_nodes():
    model = fem.Model()
    model.add(fem.RigidBody(1, 1, name="free"), fem.RigidBody(1, 1, fixed=("z", "rx", "ry"), name="planar"))
    point = fem.Node3([1, 2, 3], name="point")
    model.add(fem.PointMass(2.0, at=point, name="mass"))
    system = model.compile()
    assert (system.n, system.m, system.nc) == (6 + 3 + 3, 0, 0)
    assert np.array_equal(system.free.sum(axis=1), [0, 6, 3, 3])
    assert np.array_equal(system.dof[system.dof >= 0], np.arange(system.n))
    reduced = np.arange(system.n, dtype=float)
    assert np.array_equal(system.reduced(system.expanded(reduced)), reduced)


def test_fixed_components_never_move():
    model = fem.Model(gravity=[1.0, -9.81, 2.0])
    spin = [0, 0, 3.0]
    body = model.add(fem.RigidBody(1, [1, 2, 2.5], fixed=("z", "rx", "ry"), angular_velocity=spin, name="planar"))
    model.add(fem.PointForce(body.frame([0.3, 0.1, 0.2]), [4.0, 5.0, 6.0]))
    result = fem.DecoupledNSGA().run(model, 0.3, 1e-2)
    x, R = result["planar"].position[-1], result["planar"].rotation[-1]
    assert x[2] == 0.0 and abs(x[1]) > 0.1
    assert R[2] == pytest.approx([0, 0, 1], abs=1e-15) and R[0, 0] < 0.9  # round-off of the quaternion


def test_initial_state_is_that_of_the_nodes_with_angular_velocity_in_body_axes():
    turn, spin = np.array([0.3, -1.0, 0.5]), np.array([1.0, 2.0, 3.0])
    model, _ = free_body(position=[1, 2, 3], rotation=turn, velocity=[4, 5, 6], angular_velocity=spin)
    state = model.compile().initial
    assert state.x[1] == pytest.approx([1, 2, 3]) and state.R[1] == pytest.approx(exp(turn), abs=1e-15)
    assert state.V[1] == pytest.approx([4, 5, 6, *(exp(turn).T @ spin)], abs=1e-15)


def test_moved_composes_rotations_with_body_increments():
    model, _ = free_body(rotation=[0.3, -1.0, 0.5])
    system = model.compile()
    delta = np.array([0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4, -0.5, 0.6]).reshape(2, 6)
    moved = system.moved(system.initial, delta)
    assert moved.x[1] == pytest.approx([0.1, 0.2, 0.3])
    assert log(system.initial.R[1].T @ moved.R[1]) == pytest.approx([0.4, -0.5, 0.6], abs=1e-14)
    assert not system.initial.x.any()  # a new state: the old one is untouched


def test_runs_do_not_change_the_system_they_start_from():
    system = double_pendulum.build().compile()
    runs = [fem.DecoupledNSGA(rho_inf=rho).run(system, 0.2, 1e-2) for rho in (0.8, 0.0, 0.8)]
    assert np.array_equal(runs[0]["body 2"].position, runs[2]["body 2"].position)
    assert not np.array_equal(runs[0]["body 2"].position, runs[1]["body 2"].position)


# --- global quantities ------------------------------------------------------


def test_matrices_are_those_of_the_equations_of_motion():
    """M, C, K, G of a double pendulum with a spring, against differences of the assembled forces and constraints."""
    model = double_pendulum.build(node_1=np.array([0.1, 0.2, -0.1]))
    model.add(fem.Spring(model.ground.frame([0.2, 1.0, 0]), model["body 2"], stiffness=50.0, damping=2.0))
    system = model.compile()
    state, rng, eps = system.initial, np.random.default_rng(3), 1e-6
    lam = rng.normal(size=system.m)
    M, C, K, G = (matrix.toarray() for matrix in system.matrices(state, lam))
    assert M == pytest.approx(M.T, abs=1e-15) and np.linalg.eigvalsh(M).min() > 0
    kinetic = 0.5 * system.reduced(state.V) @ M @ system.reduced(state.V)
    assert kinetic == pytest.approx(system.energies(state)[0], rel=1e-13)

    def total(state):
        _, f = system.forces(state)
        system.constraint_values(state)
        return system.reduced(f.copy() + system.constraint_forces(lam))

    def shifted(direction, scale, velocities=False):
        if velocities:
            other = state.copy()
            other.V += scale * system.expanded(direction)
            return other
        return system.moved(state, scale * system.expanded(direction))

    for _ in range(5):
        d = rng.normal(size=system.n)
        difference = (total(shifted(d, eps)) - total(shifted(d, -eps))) / (2 * eps)
        # central differences: 1e-6 squared times third derivatives, and 1e-16/1e-6 of forces of 100 N
        assert K @ d == pytest.approx(-difference, abs=1e-6)
        difference = (total(shifted(d, eps, True)) - total(shifted(d, -eps, True))) / (2 * eps)
        assert C @ d == pytest.approx(-difference, abs=1e-6)
        g = [system.constraint_values(shifted(d, sign * eps))[0].copy() for sign in (1, -1)]
        assert G @ d == pytest.approx((g[0] - g[1]) / (2 * eps), abs=1e-8)


def test_unknowns_are_described_in_the_words_of_the_model():
    model = double_pendulum.build()
    model.add(
        fem.SphereOnPlane(model["body 2"], model.ground.frame([0, 0, -9]), radius=0.1, friction=0.1, name="floor")
    )
    system = model.compile()
    words = [system.unknown(i) for i in (0, 11, 12, 21, 22, 23)]
    owners, texts = zip(*words)
    assert [getattr(owner, "name", None) for owner in owners] == [
        "body 1",
        "body 2",
        "joint 1",
        "joint 2",
        "floor",
        "floor",
    ]
    assert "component x" in texts[0] and "component rz" in texts[1]
    assert "row 1" in texts[2] and "row 5" in texts[3] and "normal" in texts[4] and "tangential" in texts[5]


# --- projection of initial values --------------------------------------------


def loose_pendulum(gap=0.0, speed=0.0):
    """Pendulum whose pivot misses by a gap [m] or has a velocity [m/s]; the joint was made when it still fitted."""
    model = fem.Model("loose", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody.box(1.0, [1, 0.1, 0.1], position=[0.5, 0, 0], velocity=[speed, 0, 0], name="rod"))
    model.add(fem.Spherical.at(model.ground, rod, [0, 0, 0], name="pivot"))
    rod.node.position = rod.node.position + [0, 0, gap]
    return model


def test_projection_moves_positions_and_velocities_as_little_as_masses_ask():
    system = loose_pendulum(gap=0.01, speed=0.3).compile(project=True)
    g, rate = system.constraint_values(system.initial)
    assert np.abs(g).max() < 1e-13 and np.abs(rate).max() < 1e-14  # round-off
    # the pivot is pushed back by 0.01 m, which turns the rod as well: the centre follows only in part
    inertia, arm = 1.01 / 12, 0.5
    moved = 0.01 * inertia / (inertia + arm**2)
    assert 0.01 - system.initial.x[1, 2] == pytest.approx(moved, abs=1e-4)  # second order: the rod has turned by 0.015
    # an impulse along the rod goes through its centre: nothing is left of the speed but for that turn
    assert system.initial.V[1] == pytest.approx(np.zeros(6), abs=1e-2)


def test_projection_leaves_what_fits_alone():
    system, projected = double_pendulum.build().compile(), double_pendulum.build().compile(project=True)
    assert projected.initial.x == pytest.approx(system.initial.x, abs=1e-14)
    assert projected.initial.V == pytest.approx(system.initial.V, abs=1e-14)


def test_projection_copes_with_redundant_rows():
    model = double_pendulum.build()
    model.add(fem.Revolute.at(model.ground, model["body 1"], [0, 0, 0], double_pendulum.axis_1, name="again"))
    model["body 1"].node.velocity = model["body 1"].node.velocity + [0.1, 0, 0]
    system = model.compile(project=True, redundant="allow")
    _, rate = system.constraint_values(system.initial)
    assert np.abs(rate).max() < 1e-12


def test_a_system_can_be_made_without_checks():
    system = System(loose_pendulum(gap=0.5), check=False)
    assert system.constraint_values(system.initial)[0][2] == pytest.approx(0.5)
