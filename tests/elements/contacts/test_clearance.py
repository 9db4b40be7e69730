"""Joints with clearance: what can touch, forces and moments at rest, friction angle, jamming, refusals."""

import numpy as np
import pytest
from scipy.optimize import brentq

import fem_mbs as fem
from fem_mbs.results.initial import at_start
from fem_mbs.rotations import exp

RADIUS, CLEARANCE, LENGTH = 0.01, 5e-5, 0.02  # m


def journal(position=(0, 0, 0), rotation=None, *, mass=1.0, gravity=0.0, body=None, moving_bearing=False, **options):
    """Journal (rigid body of unit mass) in a bearing on ground, axis z, gravity along −y; and the joint."""
    model = fem.Model("journal", gravity=[0, -gravity, 0])
    options = {"radius": RADIUS, "clearance": CLEARANCE, "name": "pin", **options}
    pin = model.add(fem.RigidBody(mass, 5e-5, position=position, rotation=rotation, name="journal", **(body or {})))
    other = model.ground
    if moving_bearing:
        other = model.add(fem.RigidBody(2.0, 3e-4, name="bearing", fixed=("z", "rx", "ry")))
    joint = model.add(fem.JournalClearance(pin, other, **options))
    return model, joint


def gaps(model):
    system = fem.System(model, check=False)  # gaps of random poses may be negative
    return system.gaps(system.initial)


# --- journal ----------------------------------------------------------------------------------------------------------


def test_a_concentric_journal_is_open_by_the_clearance_in_any_direction():
    for shorter in ("journal", "bearing"):
        for length in (0.0, LENGTH):
            found = gaps(journal(length=length, shorter=shorter)[0])
            np.testing.assert_allclose(found, CLEARANCE, rtol=1e-9)
            assert len(found) == (1 if length == 0 else 2)


@pytest.mark.parametrize("shorter", ["journal", "bearing"])
def test_gaps_are_those_of_the_solids(shorter):
    """Against rims and walls sampled in space, for random small eccentricities and tilts."""
    rng = np.random.default_rng(3)
    angle = np.linspace(0, 2 * np.pi, 20001)
    circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    bore = RADIUS + CLEARANCE
    for _ in range(10):
        e = np.append(0.2 * CLEARANCE * rng.normal(size=2), 0.0)
        tilt = np.append(0.2 * CLEARANCE / LENGTH * rng.normal(size=2), 0.0)
        R = exp(tilt)
        found = gaps(journal(e, tilt, length=LENGTH, shorter=shorter)[0])
        exact = []
        for z in (-0.5 * LENGTH, 0.5 * LENGTH):
            if shorter == "journal":  # rim of the journal from the axis of the bearing
                rim = e + (RADIUS * circle + [0, 0, z]) @ R.T
                exact.append(bore - np.hypot(rim[:, 0], rim[:, 1]).max())
            else:  # rim of the bore from the axis of the journal
                rim = (bore * circle + [0, 0, z] - e) @ R
                exact.append(np.hypot(rim[:, 0], rim[:, 1]).min() - RADIUS)
        # tilted circles are ellipses, narrower by at most R τ²/2: the rim of a journal touches that much later than the
        # contact says, that of a bore earlier; 1e-11 for the sampling
        error = (np.array(exact) - found) * (1 if shorter == "journal" else -1)
        assert np.all(error > -1e-11) and error.max() < 0.51 * bore * tilt @ tilt + 1e-11


def test_the_largest_tilt_is_two_clearances_over_the_length():
    tilt = np.arcsin(2 * CLEARANCE / LENGTH)
    for shorter in ("journal", "bearing"):
        found = gaps(journal(rotation=[0.999 * tilt, 0, 0], length=LENGTH, shorter=shorter)[0])
        np.testing.assert_allclose(found, 0.001 * CLEARANCE, rtol=1e-3)


@pytest.mark.parametrize("shorter", ["journal", "bearing"])
def test_two_contacts_carry_force_and_moment(shorter):
    """Weight at an arm from the middle: the ends carry it like a lever."""
    weight, arm = 9.81, 0.03
    guided = {"fixed": ("z", "ry", "rz")}
    model, _ = journal(gravity=weight, length=LENGTH, shorter=shorter, body=guided)
    pin = model.elements[0]
    model.add(fem.PointForce(pin.frame([0, 0, arm]), force=[0, -5.0, 0]))
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.2, h=1e-4)
    ends = [result[f"pin {k}"] for k in (1, 2)]
    # along y, on the journal: the first body of the contacts is the shorter member
    sign = 1 if shorter == "journal" else -1
    forces = [sign * end.force_normal[-1] * end.normal[-1, 1] for end in ends]
    # statics; the tilt of 5 mrad changes arms by 1e-5 of them
    assert sum(forces) == pytest.approx(weight + 5.0, rel=1e-6)
    assert 0.5 * LENGTH * (forces[1] - forces[0]) == pytest.approx(5.0 * arm, rel=1e-3)
    assert min(forces) < 0 < max(forces)  # the ends lean on opposite sides


def test_a_turning_journal_climbs_to_the_friction_angle_and_is_braked_at_its_radius():
    mu, g, inertia = 0.2, 9.81, 5e-5
    phi = np.arctan(mu)
    # turning with +z, the bottom of the journal slides to +x and friction pushes it to −x, up the wall
    for side in (-1, 1):
        start = CLEARANCE * np.array([-side * np.sin(phi), -np.cos(phi), 0])
        body = {"angular_velocity": [0, 0, side * 100.0], "fixed": ("z", "rx", "ry")}
        model, joint = journal(start, gravity=g, friction=mu, body=body)
        result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.02, h=1e-5)
        path = joint.path(result)
        np.testing.assert_allclose(path[:, :2], [start[:2]] * len(path), atol=2e-4 * CLEARANCE)
        w = result["journal"].angular_velocity[:, 2]
        assert (w[-1] - w[0]) / result.t[-1] == pytest.approx(-side * g * np.sin(phi) * RADIUS / inertia, rel=1e-3)


@pytest.mark.parametrize("shorter", ["journal", "bearing"])
def test_two_free_bodies_keep_momentum_and_angular_momentum(shorter):
    """Friction acts on one line: at R_J from the journal's axis, at R_B from that of the bearing."""
    body = {"velocity": [0.05, 0.02, 0], "angular_velocity": [0, 0, 5.0], "fixed": ("z", "rx", "ry")}
    model, _ = journal((1e-5, 0, 0), body=body, moving_bearing=True, friction=0.3, restitution=0.5, shorter=shorter)
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.05, h=1e-5)
    assert result["pin"].impact.any()
    a, b = result["journal"], result["bearing"]
    momentum = a.velocity + 2.0 * b.velocity
    np.testing.assert_allclose(momentum - momentum[0], 0, atol=1e-12)
    spin = (
        np.cross(a.position, a.velocity)[:, 2] + 2.0 * np.cross(b.position, b.velocity)[:, 2]
        + 5e-5 * a.angular_velocity[:, 2] + 3e-4 * b.angular_velocity[:, 2]
    )  # fmt: skip
    # the journal whirls along the wall, 0.01 rad per step, and forces keep the direction of a step: first order in h
    np.testing.assert_allclose(spin, spin[0], rtol=2e-3)
    assert b.angular_velocity[-1, 2] > 0.1  # friction has turned the bearing


def test_in_a_plane_it_does_not_matter_which_member_is_shorter():
    paths = []
    for shorter in ("journal", "bearing"):
        body = {"angular_velocity": [0, 0, 50.0], "fixed": ("z", "rx", "ry")}
        model, joint = journal(gravity=9.81, friction=0.2, body=body, shorter=shorter)
        paths.append(joint.path(fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.02, h=1e-4)))
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-5 * CLEARANCE)  # the relative tolerance of the solver


def test_end_play_stops_the_journal_at_its_ends():
    play = 2e-4
    body = {"velocity": [0, 0, 0.1]}
    for shorter in ("journal", "bearing"):
        model, joint = journal(length=LENGTH, end_play=play, shorter=shorter, body=body, restitution=0.0)
        assert len(joint.elements) == 10
        result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.01, h=1e-5)
        assert joint.path(result)[-1, 2] == pytest.approx(play, rel=1e-6)


# --- ball and socket, guide -------------------------------------------------------------------------------------------


def test_a_ball_in_a_socket_hangs_one_clearance_low():
    model = fem.Model("hanging", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody.cylinder(1.0, 0.01, 0.4, position=[0, 0, -0.2], name="rod"))
    ball = rod.frame([0, 0, 0.2])
    joint = model.add(fem.SphericalClearance(ball, model.ground, radius=0.015, clearance=1e-4, name="socket"))
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.2, h=1e-3)
    np.testing.assert_allclose(joint.path(result)[-1], [0, 0, -1e-4], atol=1e-9)
    assert result["socket"].force_normal[-1] == pytest.approx(9.81, rel=1e-6)


SIZE, PLAY = (0.1, 0.04, 0.03), 2e-4


def guided(position=(0, 0, 0), rotation=None, *, planar="z", gravity=0.0, body=None, **options):
    model = fem.Model("guide", gravity=[0, -gravity, 0])
    box = fem.RigidBody.box(0.5, SIZE, position=position, rotation=rotation, name="slider", **(body or {}))
    model.add(box)
    options = {"size": SIZE, "clearance": PLAY, "planar": planar, "name": "slot", **options}
    return model, model.add(fem.PrismaticClearance(box, model.ground, **options))


@pytest.mark.parametrize(("planar", "count"), [("z", 4), ("y", 4), (None, 16)])
@pytest.mark.parametrize("shorter", ["slider", "guide"])
def test_a_centred_slider_has_its_play_on_every_side(planar, count, shorter):
    found = gaps(guided(planar=planar, shorter=shorter)[0])
    assert len(found) == count
    np.testing.assert_allclose(found, PLAY, rtol=1e-9)


def test_the_largest_tilt_of_a_slider_is_that_of_a_rectangle_between_parallels():
    L, H, _ = SIZE
    tilt = brentq(lambda a: L * np.sin(a) + H * np.cos(a) - H - 2 * PLAY, 0, 0.1)
    assert tilt == pytest.approx(2 * PLAY / L, rel=1e-2)
    found = gaps(guided(rotation=[0, 0, tilt])[0])
    assert found.min() == pytest.approx(0, abs=1e-12) and (found < 1e-9).sum() == 2
    # the guide as the shorter member: its mouth on the faces of the slider, (H/2 + c) cos τ − L/2 sin τ = H/2
    tilt = brentq(lambda a: (0.5 * H + PLAY) * np.cos(a) - 0.5 * L * np.sin(a) - 0.5 * H, 0, 0.1)
    found = gaps(guided(rotation=[0, 0, tilt], shorter="guide")[0])
    assert found.min() == pytest.approx(0, abs=1e-12) and (found < 1e-9).sum() == 2


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_slider_pushed_next_to_its_axis_jams_beyond_its_length_over_twice_the_friction(factor):
    """Like a drawer: corners carry N L = F a, friction 2 μ N stops F as soon as a > L/(2 μ)."""
    mu, push = 0.5, 20.0
    arm = factor * SIZE[0] / (2 * mu)
    model, _ = guided(body={"fixed": ("z", "rx", "ry")}, friction=mu)
    model.add(fem.PointForce(model.elements[0].frame([0, arm, 0]), force=[push, 0, 0]))
    # without gravity, and a force that does not turn with the slider by its tilt of 4 mrad
    result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=0.2, h=5e-4)
    v, t = result["slider"].velocity[:, 0], result.t
    acceleration = (v[-1] - v[len(v) // 2]) / (t[-1] - t[len(v) // 2])
    # arms change by the play and the tilt, some 1e-2 of (1 − factor)
    expected = push * (1 - factor) / 0.5 if factor < 1 else 0.0
    assert acceleration == pytest.approx(expected, rel=0.1, abs=1e-6)


# --- options and refusals ---------------------------------------------------------------------------------------------


def test_a_joint_may_be_compliant():
    body = {"velocity": [0, -0.03, 0], "fixed": ("z", "rx", "ry")}
    model, joint = journal(restitution=0.9, compliant={"stiffness": 1e10}, body=body)
    assert isinstance(joint.elements[0], fem.CompliantContact) and joint.elements[0].name == "pin"
    control = fem.StepControl(tolerance=1e-10, h_max=1e-4)
    result = fem.DecoupledNSGA(step_control=control).run(model, t_end=3e-3, h=1e-6)
    assert result["pin"].indentation.max() > 0 and result["pin"].gap[-1] > 0
    assert result["journal"].velocity[-1, 1] == pytest.approx(0.9 * 0.03, rel=1e-3)


def bodies():
    model = fem.Model()
    return fem.RigidBody.sphere(1.0, 0.1, name="ball"), model.ground


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("JournalClearance", {"radius": 0.0, "clearance": 1e-4}, "radius"),
        ("JournalClearance", {"radius": 0.01, "clearance": 0.0}, "clearance"),
        ("JournalClearance", {"radius": 0.01, "clearance": -1e-4}, "clearance"),
        ("JournalClearance", {"radius": 0.01, "clearance": 1e-4, "length": -1}, "length"),
        ("JournalClearance", {"radius": 0.01, "clearance": 1e-4, "shorter": "both"}, "'journal', 'bearing'"),
        ("JournalClearance", {"radius": 0.01, "clearance": 1e-4, "end_play": 1e-4}, "end_play = .*length"),
        ("JournalClearance", {"radius": 0.01, "clearance": 1e-4, "friction": -1}, "friction"),
        ("SphericalClearance", {"radius": -0.01, "clearance": 1e-4}, "radius"),
        ("SphericalClearance", {"radius": 0.01, "clearance": float("nan")}, "clearance"),
        ("PrismaticClearance", {"size": (0.1, 0, 0.1), "clearance": 1e-4}, "size"),
        ("PrismaticClearance", {"size": (0.1, 0.1, 0.1), "clearance": 1e-4, "planar": "x"}, "planar"),
        ("PrismaticClearance", {"size": (0.1, 0.1, 0.1), "clearance": 1e-4, "shorter": "box"}, "shorter"),
        ("RingOnCylinder", {"radius": 0.01, "radius_cylinder": 0.02}, r"radius_cylinder = .*no clearance"),
    ],
)
def test_impossible_joints_are_rejected(kind, options, words):
    ball, ground = bodies()
    with pytest.raises(fem.ParameterError, match=words) as error:
        getattr(fem, kind)(ball, ground, name="joint", **options)
    assert "joint" in str(error.value)


def test_a_joint_on_one_body_is_rejected():
    ball, _ = bodies()
    with pytest.raises(fem.ParameterError, match=r"bearing = .*same node as journal"):
        fem.JournalClearance(ball, ball, radius=0.01, clearance=1e-4)


# --- results ----------------------------------------------------------------------------------------------------------


def test_the_path_is_that_of_the_joint_when_another_system_has_numbered_its_nodes_anew():
    model, joint = journal([1e-5, 2e-5, 0], moving_bearing=True)
    result = at_start(model.compile())
    other = fem.Model("bearing first")
    other.add(model["bearing"], model["journal"])
    other.compile()
    np.testing.assert_allclose(joint.path(result), [[1e-5, 2e-5, 0]], atol=1e-18)
    stranger, elsewhere = journal(body={"node": fem.Node6(name="not there")})
    stranger.compile()
    with pytest.raises(fem.FemMbsError, match=r"Node6 'not there'.*'journal'"):
        elsewhere.path(result)
