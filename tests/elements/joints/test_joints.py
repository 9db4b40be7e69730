"""Joints: free coordinates, reactions, and drivers that follow their functions."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.elements import (
    Cylindrical,
    Fixed,
    LinearDriver,
    Prescribed,
    Prismatic,
    Revolute,
    RevoluteDriver,
    RigidBody,
    Spherical,
    Universal,
)
from fem_mbs.model import Model
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp
from fem_mbs.solvers.nsga.decoupled_nsga import DecoupledNSGA
from fem_mbs.solvers.stepping.initial import initial_accelerations
from fem_mbs.system import assembly

# Free relative motions of the second body for each joint: along x, y, z and about x, y, z of frame P
FREE = {
    Spherical: (3, 4, 5),
    Revolute: (5,),
    Fixed: (),
    Prismatic: (2,),
    Cylindrical: (2, 5),
    Universal: (3, 5),
}
JOINTS = sorted(FREE, key=lambda cls: cls.__name__)


def random_axis(rng):
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def make(cls, A, B, rng):
    """A joint of a class between two nodes or bodies, at a random place."""
    place = rng.normal(size=3)
    return cls.at(A, B, place) if cls in (Spherical, Fixed) else cls.at(A, B, place, random_axis(rng))


def random_body(rng, name, node=None):
    Q, sides = exp(rng.normal(size=3)), rng.uniform(0.5, 1.0, size=3) ** 2
    J = Q @ np.diag([sides[1] + sides[2], sides[0] + sides[2], sides[0] + sides[1]]) @ Q.T
    return RigidBody(
        rng.uniform(0.5, 2),
        J,
        position=rng.normal(size=3),
        rotation=rng.normal(size=3),
        velocity=rng.normal(size=3),
        angular_velocity=rng.normal(size=3),
        center=0.3 * rng.normal(size=3),
        name=name,
    )


def solve(model, **options):
    """Accelerations, and outputs by element name, at the initial state."""
    system = model.compile(**options)
    state = system.initial
    A, lam = initial_accelerations(system, state)
    out = np.zeros(system.n_outputs)
    assembly.output_values(system.data[0], state.x, state.R, state.V, A, lam, out)
    outputs = {
        e.name: {name: out[where] for name, where in slices.items()} for e, slices in system.output_slices.items()
    }
    return system, A, outputs


def evaluate(joint, x_B, R_B):
    """g of a joint with the second node moved; the first stays."""
    call = verify.Evaluator(joint)
    point = verify.random_point(joint, np.random.default_rng(0))
    A = joint.nodes[0]
    return call("constraint", point.copy(x=np.array([A.position, x_B]), R=np.array([A.rotation, R_B])))


@pytest.mark.parametrize("cls", JOINTS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("motion", range(6), ids=["x", "y", "z", "about x", "about y", "about z"])
def test_free_coordinates_of_joints_are_the_right_ones(cls, motion):
    rng = np.random.default_rng(7)
    A, B = (Node6(rng.normal(size=3), rng.normal(size=3)) for _ in range(2))
    joint = make(cls, A, B, rng)
    P, q = joint.frame_P.orientation, joint.frame_P.position
    along, about = np.zeros(3), np.zeros(3)
    (along if motion < 3 else about)[motion % 3] = 1.0
    largest = {}
    for amount in (1.3, -0.8, 1e-3):
        turn = exp(P @ about * amount)
        x_B = q + turn @ (B.position - q) + P @ along * amount
        largest[amount] = np.abs(evaluate(joint, x_B, turn @ B.rotation)["g"]).max()
    if motion in FREE[cls]:
        assert max(largest.values()) < 1e-14  # round-off of coordinates of some metres
    else:
        # a forbidden motion changes the rows by its amount; of three components the largest is at least 1/√3
        assert largest[1e-3] > 0.57e-3


@pytest.mark.parametrize("cls", JOINTS, ids=lambda cls: cls.__name__)
def test_number_of_rows_is_six_minus_the_free_motions_and_none_is_redundant(cls):
    rng = np.random.default_rng(3)
    A, B = (Node6(rng.normal(size=3), rng.normal(size=3)) for _ in range(2))
    joint = make(cls, A, B, rng)
    G = evaluate(joint, B.position, B.rotation)["G"]
    assert joint.rows == 6 - len(FREE[cls]) == np.linalg.matrix_rank(G, tol=1e-10)


@pytest.mark.parametrize("cls", JOINTS, ids=lambda cls: cls.__name__)
def test_reported_reactions_are_those_of_newton_and_euler_on_both_bodies(cls):
    rng = np.random.default_rng(11)
    model = Model("pair", gravity=rng.normal(size=3))
    first, second = random_body(rng, "first"), random_body(rng, "second")
    joint = make(cls, first, second, rng)
    joint.name = "joint"
    model.add(first, second, joint)
    system, acceleration, outputs = solve(model, project=True)
    force = outputs["joint"]["force"]
    moment = outputs["joint"].get("moment", np.zeros(3))
    state, q = system.initial, joint.frame_Q.position
    for body, sign in ((second, 1.0), (first, -1.0)):
        i = body.node.index
        R, Omega, a, alpha = state.R[i], state.V[i, 3:], acceleration[i, :3], acceleration[i, 3:]
        c = R @ body.center
        J, w, turning = R @ body.inertia @ R.T, R @ Omega, R @ alpha
        a_c = a + np.cross(turning, c) + np.cross(w, np.cross(w, c))
        arm = q - (state.x[i] + c)
        # round-off of the solution of a 12 + rows system of condition ~ 1e2
        assert body.mass * (a_c - model.gravity) == pytest.approx(sign * force, abs=1e-11)
        spin = J @ turning + np.cross(w, J @ w)
        assert spin == pytest.approx(sign * (moment + np.cross(arm, force)), abs=1e-11)


@pytest.mark.parametrize("cls", JOINTS, ids=lambda cls: cls.__name__)
def test_reactions_do_no_work_in_the_free_motions(cls):
    rng = np.random.default_rng(5)
    model = Model("pair", gravity=rng.normal(size=3))
    first, second = random_body(rng, "first"), random_body(rng, "second")
    joint = make(cls, first, second, rng)
    joint.name = "joint"
    model.add(first, second, joint)
    _, _, outputs = solve(model, project=True)
    P = joint.frame_P.orientation
    effort = [*(P.T @ outputs["joint"]["force"]), *(P.T @ outputs["joint"].get("moment", np.zeros(3)))]
    for motion in FREE[cls]:
        assert abs(effort[motion]) < 1e-12  # efforts of order 1
    assert np.abs(effort).max() > 1e-2


def test_clamp_carries_weight_and_its_moment():
    g, arm, mass = np.array([0, 0, -9.81]), np.array([0.4, 0.3, 0.1]), 2.0
    model = Model("bracket", gravity=g)
    body = model.add(RigidBody(mass, 0.1, position=arm, rotation=[0.3, 0.2, -0.5], name="bracket"))
    model.add(Fixed.at(model.ground, body, [0, 0, 0], name="clamp"))
    _, A, out = solve(model)
    assert np.abs(A).max() < 1e-12  # round-off, m/s²
    assert out["clamp"]["force"] == pytest.approx(-mass * g, abs=1e-12)
    assert out["clamp"]["moment"] == pytest.approx(-np.cross(arm, mass * g), abs=1e-12)


def test_hinged_rod_released_from_level_starts_with_three_halves_g_over_l():
    length, mass = 0.8, 1.3
    model = Model("rod", gravity=[0, 0, -9.81])
    inertia = mass * length**2 / 12 * np.array([1e-3, 1, 1])
    inertia[2] = inertia[1]
    rod = model.add(RigidBody(mass, inertia, position=[length / 2, 0, 0], name="rod"))
    model.add(Revolute.at(model.ground, rod, [0, 0, 0], [0, 1, 0], name="hinge"))
    _, A, out = solve(model)
    assert A[rod.node.index, 4] == pytest.approx(1.5 * 9.81 / length, rel=1e-12)  # about +y: the tip goes down
    assert out["hinge"]["force"] == pytest.approx(
        [0, 0, mass * 9.81 / 4], abs=1e-12
    )  # textbook: a quarter of the weight


def test_hinge_reports_its_angle_and_rate():
    rng = np.random.default_rng(2)
    A, B = (Node6(rng.normal(size=3), rng.normal(size=3)) for _ in range(2))
    hinge = Revolute.at(A, B, rng.normal(size=3), random_axis(rng))
    call, point = verify.Evaluator(hinge), verify.random_point(hinge, rng)
    z, q = hinge.frame_P.orientation[:, 2], hinge.frame_P.position
    for angle in (0.0, 1.0, -2.5, 3.1):
        turn = exp(z * angle)
        R = turn @ B.rotation
        spin = np.array([0.2, -0.4, 0.9])
        v = np.concatenate([np.zeros(3), A.rotation.T @ spin, np.zeros(3), R.T @ (spin + 1.7 * z)])
        moved = point.copy(
            x=np.array([A.position, q + turn @ (B.position - q)]), R=np.array([A.rotation, R]), v=v, lam=np.zeros(5)
        )
        out = call("output", moved)["out"]
        assert out[6:] == pytest.approx([angle, 1.7], abs=1e-14)  # round-off


@pytest.mark.parametrize("cls", [Prismatic, Cylindrical])
def test_slider_reports_its_displacement(cls):
    rng = np.random.default_rng(4)
    A, B = (Node6(rng.normal(size=3), rng.normal(size=3)) for _ in range(2))
    joint = cls.at(A, B, rng.normal(size=3), random_axis(rng))
    call, point = verify.Evaluator(joint), verify.random_point(joint, rng)
    z = joint.frame_P.orientation[:, 2]
    moved = point.copy(
        x=np.array([A.position, B.position + 0.37 * z]), R=np.array([A.rotation, B.rotation]), lam=0 * point.lam
    )
    assert call("output", moved)["out"][6] == pytest.approx(0.37, abs=1e-14)  # round-off


def test_fixed_joint_keeps_a_relative_rotation_above_ninety_degrees():
    A, B = Node6(), Node6([1, 0, 0], [2.5, 0.3, 0.1])
    joint = Fixed(A.frame([1, 0, 0], [0.1, 0.2, 0.3]), B.frame(rotation=[0, 0, 1]))
    assert np.abs(evaluate(joint, B.position, B.rotation)["g"]).max() < 1e-15  # round-off
    turned = evaluate(joint, B.position, B.rotation @ exp([0, 0.1, 0]))["g"]
    assert np.linalg.norm(turned) == pytest.approx(0.1, rel=1e-2)  # the rows are the angle, to second order


# --- drivers --------------------------------------------------------------------------------------------------------


def driven_rod(angle, start=0.0, rate=0.0):
    """Rod hinged at the origin about y, centre of mass 0.5 m away, driven."""
    model = Model("driven rod", gravity=[0, 0, -9.81])
    place = exp([0, start, 0])
    rod = RigidBody(
        1.5,
        [0.02, 0.05, 0.04],
        position=place @ [0.5, 0, 0],
        rotation=place,
        angular_velocity=[0, rate, 0],
        velocity=np.cross([0, rate, 0], place @ [0.5, 0, 0]),
        name="rod",
    )
    axis = exp([-np.pi / 2, 0, 0])  # x along inertial x, z along inertial y
    P, Q = model.ground.frame(rotation=axis), rod.frame([-0.5, 0, 0], axis)
    model.add(rod, Revolute(P, Q, name="hinge"), RevoluteDriver(P, Q, angle, name="motor"))
    return model


def test_driving_moment_is_inertia_and_weight():
    model = driven_rod(lambda t: 0.3 + 2 * t + 1.5 * t**2, start=0.3, rate=2.0)
    _, A, out = solve(model)
    inertia = 0.05 + 1.5 * 0.5**2
    assert A[1, 4] == pytest.approx(3.0, abs=1e-12)  # the prescribed acceleration, round-off
    # the weight turns the rod down, which is about +y; the motor takes it off
    expected = inertia * 3.0 - 1.5 * 9.81 * 0.5 * np.cos(0.3)
    assert out["motor"]["moment"][0] == pytest.approx(expected, rel=1e-12)
    assert out["motor"]["angle"][0] == pytest.approx(0.3, abs=1e-14)
    assert out["hinge"]["moment"][1] == pytest.approx(0.0, abs=1e-12)  # the hinge itself carries none


def test_driver_follows_its_function_through_more_than_one_turn():
    def angle(t):
        return 9.0 * t**2

    result = DecoupledNSGA(rho_inf=0.8).run(driven_rod(angle), t_end=1.0, h=5e-3)
    assert result["motor"].angle == pytest.approx(angle(result.t), abs=1e-10)  # position level: solved to round-off
    assert result["motor"].angle[-1] > 2 * np.pi
    assert result["hinge"].angle == pytest.approx(angle(result.t), abs=1e-10)  # also a multi-turn one


def test_jack_carries_weight_and_inertia():
    model = Model("lift", gravity=[0, 0, -9.81])
    cabin = RigidBody(3.0, 0.2, position=[0, 0, 2.0], velocity=[0, 0, 0.5], name="cabin")
    rail = Prismatic.at(model.ground, cabin, [0, 0, 2.0], [0, 0, 1], name="rail")
    P = model.ground.frame()  # the distance is counted from the floor
    model.add(cabin, rail, LinearDriver(P, rail.frame_Q, lambda t: 2.0 + 0.5 * t + 0.4 * t**2, name="jack"))
    _, A, out = solve(model)
    assert A[cabin.node.index, 2] == pytest.approx(0.8, abs=1e-13)  # the prescribed acceleration
    assert out["jack"]["force"][0] == pytest.approx(3.0 * (9.81 + 0.8), rel=1e-12)
    assert out["jack"]["distance"][0] == pytest.approx(2.0, abs=1e-15)
    assert np.abs(out["rail"]["force"]).max() < 1e-12


def test_shaken_point_needs_the_force_of_the_whole_body():
    model = Model("shaker", gravity=[0, 0, -9.81])
    body = model.add(RigidBody(2.0, 0.1, velocity=[0, 0, 0.6], fixed=("rx", "ry", "rz"), name="body"))
    motion = {"x": 0.1, "z": lambda t: 0.2 + 0.02 * np.sin(30 * t)}
    model.add(Prescribed(body.frame([0.1, 0, 0.2]), **motion, name="shaker"))
    _, A, out = solve(model)
    i = body.node.index
    assert A[i, :3] == pytest.approx([0, 0, 0], abs=1e-12)  # sine: no acceleration at t = 0
    assert out["shaker"]["force"] == pytest.approx([0, 0, 2 * 9.81], abs=1e-11)


def test_prescribed_point_off_the_node_moves_as_specified_while_the_body_swings():
    model = Model("crane", gravity=[0, 0, -9.81])
    load = RigidBody(1.0, [0.1, 0.08, 0.05], position=[0, 0, -0.7], rotation=[0.2, 0, 0], name="load")
    top = load.frame([0, 0, 0.7])
    start = top.position
    model.add(load, Prescribed(top, x=lambda t: start[0] + 0.3 * t**2, y=start[1], z=start[2], name="trolley"))
    result = DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.5, h=5e-3)
    point = result["load"].position + np.einsum("kij,j->ki", result["load"].rotation, [0, 0, 0.7])
    path = start + np.outer(0.3 * result.t**2, [1, 0, 0])
    assert np.abs(point - path).max() < 1e-10  # position level: solved to round-off
    assert np.abs(result["load"].rotation[-1] - result["load"].rotation[0]).max() > 0.05


def test_a_universal_joint_placed_by_its_first_pin_turns_both_shafts():
    """Hooke's joint: the second shaft turns with ω cos β/(1 − sin²β cos²θ); a pin along its shaft would hold it."""
    bend, speed = 0.5, 10.0
    shaft, model = np.array([np.sin(bend), 0.0, np.cos(bend)]), fem.Model("cardan")
    a = fem.RigidBody(1.0, 0.1, position=[0, 0, -1], angular_velocity=[0, 0, speed], name="a")
    b = fem.RigidBody(1.0, 0.01, position=shaft, rotation=[0, bend, 0], name="b")
    first = fem.Revolute.at(model.ground, a, [0, 0, -1], [0, 0, 1], name="bearing of a")
    bearing = fem.Cylindrical.at(model.ground, b, shaft, shaft, name="bearing of b")
    joint = fem.Universal.at(a, b, [0, 0, 0], [0, 1, 0], name="cross")  # pin of a across the plane of the shafts
    driver = fem.RevoluteDriver(first.frame_P, first.frame_Q, lambda t: speed * t, name="motor")
    model.add(a, b, first, bearing, joint, driver)
    result = fem.DecoupledNSGA().run(model.compile(project=True, redundant="allow"), 0.2, 1e-3)
    angle = speed * result.t[5:]
    exact = speed * np.cos(bend) / (1 - np.sin(bend) ** 2 * np.sin(angle) ** 2)
    assert result["b"].angular_velocity[5:, 2] == pytest.approx(exact, rel=1e-6)
    with pytest.raises(fem.ParameterError, match=r"frame_Q = .*right angles"):
        fem.Universal.at(a, b, [0, 0, 0], [0, 1, 0], second_axis=[0, 0.6, 0.8])
