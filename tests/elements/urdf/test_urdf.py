"""Models from URDF and back: hand-made models, rotations and inertias by hand, mimic, limits, files that are wrong."""

import re
import warnings
from pathlib import Path

import meshio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem_mbs as fem
from fem_mbs.elements.urdf import reader
from fem_mbs.elements.urdf.text import angles_of, roll_pitch_yaw
from fem_mbs.rotations import exp

ARM = Path(__file__).resolve().parents[3] / "examples" / "robot_arm.urdf"
MASS = '<inertial><mass value="2"/><inertia ixx="0.2" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.4"/></inertial>'


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def link(name, inside=MASS):
    return f'<link name="{name}">{inside}</link>'


def joint(name, kind, parent, child, inside="", xyz="0 0 0", rpy="0 0 0"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}"><origin xyz="{xyz}" rpy="{rpy}"/>{ends}{inside}</joint>'


def swing(inside="", kind="continuous", axis="0 1 0", body=MASS):
    """A body on a joint at the root."""
    return robot(
        link("root", ""), link("body", body), joint("j", kind, "root", "body", f'<axis xyz="{axis}"/>{inside}')
    )


TWO_LINKS = robot(
    link("floor", ""),
    link("upper", '<inertial><origin xyz="0 0 -0.3" rpy="0.4 -0.2 0.9"/><mass value="3"/>'
         '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>'),
    link("lower", '<inertial><origin xyz="0.1 0 -0.2"/><mass value="1.5"/>'
         '<inertia ixx="0.04" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial>'),
    joint("shoulder", "revolute", "floor", "upper",
          '<axis xyz="0 1 0"/><limit lower="-3" upper="3"/><dynamics damping="0.4"/>', "0 0 2", "0 0 0.5"),
    joint("elbow", "continuous", "upper", "lower", '<axis xyz="1 0 1"/>', "0 0.1 -0.6", "0.3 0.1 -0.7"),
)  # fmt: skip


def arm_by_hand(q, rate):
    """The two links, with positions, rotations and velocities from rotation matrices of scipy."""
    about = lambda axis, angle: Rotation.from_rotvec(angle * np.array(axis)).as_matrix()  # noqa: E731
    rpy = lambda *angles: Rotation.from_euler("xyz", angles).as_matrix()  # noqa: E731  small letters: fixed axes
    slant = np.array([1, 0, 1]) / np.sqrt(2)
    R_S = rpy(0, 0, 0.5)
    R_1, shoulder = R_S @ about([0, 1, 0], q[0]), np.array([0, 0, 2.0])
    elbow = shoulder + R_1 @ [0, 0.1, -0.6]
    R_E = R_1 @ rpy(0.3, 0.1, -0.7)
    R_2 = R_E @ about(slant, q[1])
    w_1 = R_S @ [0, rate[0], 0]
    w_2 = w_1 + R_E @ slant * rate[1]
    c_1, c_2 = R_1 @ [0, 0, -0.3], R_2 @ [0.1, 0, -0.2]
    tensor, turn = np.array([[0.1, 0.01, -0.02], [0.01, 0.2, 0.03], [-0.02, 0.03, 0.25]]), rpy(0.4, -0.2, 0.9)
    model = fem.Model("by hand", gravity=[0, 0, -9.81])
    upper = fem.RigidBody(3.0, turn @ tensor @ turn.T, position=shoulder + c_1, rotation=R_1,
                          velocity=np.cross(w_1, c_1), angular_velocity=w_1, name="upper")  # fmt: skip
    v = np.cross(w_1, elbow - shoulder) + np.cross(w_2, c_2)
    lower = fem.RigidBody(
        1.5, [0.04, 0.03, 0.02], position=elbow + c_2, rotation=R_2, velocity=v, angular_velocity=w_2, name="lower"
    )
    model.add(upper, lower)
    model.add(fem.Revolute.at(model.ground, upper, shoulder, R_S @ [0, 1, 0], damping=0.4, name="shoulder"))
    model.add(fem.Revolute.at(upper, lower, elbow, R_E @ slant, name="elbow"))
    return model


def motion(model, t_end=0.2, h=2e-3):
    return fem.DecoupledNSGA().run(model, t_end, h)


def test_two_links_move_as_those_made_by_hand():
    q, rate = [0.7, -1.1], [2.0, -3.0]
    read = fem.from_urdf(
        TWO_LINKS,
        configuration={"shoulder": q[0], "elbow": q[1]},
        rates={"shoulder": 2.0, "elbow": -3.0},
        limits="ignore",
    )
    found, expected = motion(read.model), motion(arm_by_hand(q, rate))
    for name in ("upper", "lower"):
        np.testing.assert_allclose(found[name].position, expected[name].position, atol=1e-11)
        np.testing.assert_allclose(found[name].rotation, expected[name].rotation, atol=1e-10)
    np.testing.assert_allclose(found["elbow"].angle, q[1] + expected["elbow"].angle, atol=1e-10)
    assert np.ptp(found["lower"].position, axis=0).max() > 0.1


def test_angles_are_about_fixed_axes_and_come_back_also_at_the_pole():
    for rpy in ([0.3, -0.8, 2.0], [1.0, np.pi / 2, 0.4], [1.0, -np.pi / 2 + 1e-9, 0.4], [3.0, 1.57079, -3.0]):
        R = roll_pitch_yaw(np.array(rpy))
        np.testing.assert_allclose(R, Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-15)
        np.testing.assert_allclose(roll_pitch_yaw(angles_of(R)), R, atol=1e-15)


def test_links_on_fixed_joints_are_one_body():
    """Two halves of a rod are the rod; the frame of a link without mass is where its origins say."""
    m, length = 1.0, 0.5
    J = f'<inertia ixx="{m * length**2 / 12}" ixy="0" ixz="0" iyy="{m * length**2 / 12}" iyz="0" izz="1e-3"/>'
    half = f'<inertial><mass value="{m}"/>{J}</inertial>'
    text = robot(
        link("root", ""), link("a", half), link("b", half), link("tip", ""),
        joint("j", "continuous", "root", "a", '<axis xyz="1 0 0"/>', "0 0 1"),
        joint("weld", "fixed", "a", "b", "", "0 0 0.5", "0 0 1.2"), joint("end", "fixed", "b", "tip", "", "0 0 0.25"),
    )  # fmt: skip
    read = fem.from_urdf(text)
    rod = read.bodies["a"]
    assert list(read.bodies) == ["a"] and rod.mass == 2.0
    assert rod.inertia == pytest.approx(np.diag([2 / 12, 2 / 12, 2e-3]))
    assert rod.position == pytest.approx([0, 0, 1.25])
    assert read.links["tip"].position == pytest.approx([0, 0, 1.75])
    assert read.links["tip"].orientation == pytest.approx(exp([0, 0, 1.2]))
    above = read.links["tip"].frame([0.2, 0, 0.1], [0, 0, 0.3])  # in the axes of the link, which is turned
    assert above.position == pytest.approx([0.2 * np.cos(1.2), 0.2 * np.sin(1.2), 1.85]) and above.node is rod.node
    assert above.orientation == pytest.approx(exp([0, 0, 1.5]))
    assert read.links["tip"].frame() is read.links["tip"]
    kept = fem.from_urdf(text, keep=["weld"])
    assert type(kept.joints["weld"]) is fem.Fixed and set(kept.bodies) == {"a", "b"}
    load = kept.model.compile()
    assert load.n - load.m == 1


def test_joints_have_their_types_and_coordinates_those_of_the_file():
    text = robot(
        *(link(name) for name in "abcd"),
        joint("slide", "prismatic", "a", "b", '<axis xyz="0 0 2"/><limit lower="-1" upper="1"/>', "1 0 0", "0 1.2 0"),
        joint("table", "planar", "b", "c", '<axis xyz="0 0 1"/>', "0 0.2 0"),
        joint("fly", "floating", "c", "d"),
    )  # fmt: skip
    start = {"slide": 0.3, "table": [0.1, 0.2, 0.5], "fly": [0, 0, 1, 0.1, 0.2, 0.3]}
    rates = {"slide": 0.7, "table": [1.0, 2.0, 3.0], "fly": [1, 2, 3, 0.4, 0.5, 0.6]}
    read = fem.from_urdf(text, configuration=start, rates=rates, gravity=[0, 0, 0])
    axis = np.array([np.sin(1.2), 0, np.cos(1.2)])
    assert read.links["b"].position == pytest.approx([1, 0, 0] + 0.3 * axis)
    assert read.bodies["b"].node.velocity == pytest.approx(0.7 * axis)
    result = motion(read.model, 0.01, 1e-3)
    assert result["slide"].displacement[0] == pytest.approx(0.3)
    assert result["slide"].rate[0] == pytest.approx(0.7)
    table = result["table"]
    assert [table.x[0], table.y[0], table.angle[0]] == pytest.approx(start["table"])
    assert [table.x_rate[0], table.y_rate[0], table.angle_rate[0]] == pytest.approx(rates["table"])
    assert not read.bodies["a"].node.free.any() and read.bodies["d"].node.free.all() and "fly" not in read.joints
    assert read.limits["slide"][:2] == (-1.0, 1.0)


def test_a_free_base_falls():
    text = robot(link("root"), link("body"), joint("j", "continuous", "root", "body"))
    read = fem.from_urdf(text, base="free", configuration={"root": [0, 0, 5, 0, 0, 0]})
    result = motion(read.model, 0.1, 1e-3)
    assert result["root"].position[-1, 2] == pytest.approx(5 - 0.5 * 9.81 * 0.01, abs=1e-9)


def test_a_joint_follows_another_and_brings_its_limits():
    """value = −2 · value of the other + 0.1; the tighter limit is the follower's: −0.5 … 0.5 is 0.3 … −0.2 there."""
    limit = '<limit lower="{}" upper="{}"/>'
    text = robot(
        link("root", ""), link("a"), link("b"),
        joint("lead", "revolute", "root", "a", '<axis xyz="0 0 1"/>' + limit.format(-2, 2)),
        joint("tail", "revolute", "root", "b", '<axis xyz="0 0 1"/>' + limit.format(-0.5, 0.5)
              + '<mimic joint="lead" multiplier="-2" offset="0.1"/>', "1 0 0"),
    )  # fmt: skip
    read = fem.from_urdf(text, configuration={"lead": 0.1}, rates={"lead": 1.0}, gravity=[0, 0, 0])
    assert [read.model[f"lead {side} stop"].limit for side in ("lower", "upper")] == pytest.approx([-0.2, 0.3])
    result = motion(read.model, 0.4, 1e-3)
    np.testing.assert_allclose(result["tail"].angle, -2 * result["lead"].angle + 0.1, atol=1e-9)
    assert result["lead"].angle.max() == pytest.approx(0.3, abs=1e-9)  # reached after 0.2 s, held by the stop
    free = result["lead"].angle[result.t < 0.19]
    np.testing.assert_allclose(free, 0.1 + result.t[: len(free)], atol=1e-9)


def test_damping_and_friction_are_those_of_the_file():
    """J ω̇ = −d ω − M gives ω = (ω_0 + M/d) exp(−d t/J) − M/d; friction of a slide does not depend on its load."""
    turning = swing('<dynamics damping="0.5" friction="0.3"/>', axis="0 0 1")
    result = motion(fem.from_urdf(turning, rates={"j": 2.0}).model, 0.3, 1e-3)
    expected = (2.0 + 0.6) * np.exp(-0.5 / 0.4 * result.t) - 0.6
    np.testing.assert_allclose(result["j"].rate, expected, atol=1e-5)
    sliding = swing('<limit lower="-9" upper="9"/><dynamics friction="3"/>', "prismatic", axis="1 0 0")
    result = motion(fem.from_urdf(sliding, rates={"j": 2.0}).model, 0.3, 1e-3)
    np.testing.assert_allclose(result["j"].rate, 2.0 - 3.0 / 2.0 * result.t, atol=1e-6)
    without = fem.from_urdf(sliding, dynamics="ignore", limits="ignore").model
    assert [type(e).__name__ for e in without.elements] == ["RigidBody", "Prismatic"]


def test_pictures_become_shapes_and_weigh_with_a_density(tmp_path):
    """A box of a mesh file in millimetres, mirrored; the closed form of the box."""
    box = fem.shapes.Box([100.0, 200.0, 300.0], offset=[50.0, 0, 0])
    meshio.write(tmp_path / "box.obj", meshio.Mesh(box.points, [("quad", block) for block in box.faces]))
    place = '<origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>'
    picture = place + '<geometry><mesh filename="{}" scale="-0.001 0.001 0.001"/></geometry>'
    inside = f"<visual>{picture.format('package://mine/box.obj')}</visual>"
    (tmp_path / "r.urdf").write_text(swing(body=inside))
    body = fem.from_urdf(tmp_path / "r.urdf", density=1000.0, packages={"mine": tmp_path}).bodies["body"]
    assert body.mass == pytest.approx(6.0)
    assert body.position == pytest.approx([0, -0.05, 1])
    assert body.inertia == pytest.approx(0.5 * np.diag([0.01 + 0.09, 0.04 + 0.09, 0.01 + 0.04]), abs=1e-12)
    (shape,) = body.shapes
    assert np.ptp(shape.points, axis=0) == pytest.approx([0.2, 0.1, 0.3]) and shape.points.mean(
        axis=0
    ) == pytest.approx(np.zeros(3))
    assert fem.mass_of_mesh(fem.shapes.Mesh(shape.points, shape.faces), 1.0).volume == pytest.approx(6e-3)
    missing = swing(body=MASS + inside.replace("box.obj", "none.stl"))
    with pytest.warns(UserWarning, match=r"none.stl.*not drawn"):
        assert not fem.from_urdf(missing).bodies["body"].shapes


def test_the_arm_of_the_examples_is_read_and_falls_onto_its_stops():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm = fem.from_urdf(ARM, configuration={"shoulder": 0.5, "grip": 0.01})
    system = arm.model.compile()
    assert arm.links["tool"].position == pytest.approx(
        [0.4 * np.sin(0.5) + 0.4 * np.cos(0.5), 0, 0.2 + 0.4 * np.cos(0.5) - 0.4 * np.sin(0.5)]
    )
    assert system.n - system.m == 3  # shoulder, elbow, grip of both fingers
    result = motion(arm.model, 1.0, 1e-3)
    assert result["shoulder"].angle.max() == pytest.approx(1.6, abs=1e-6)  # its limit
    np.testing.assert_allclose(result["grip"].displacement, result["grip of the right finger"].displacement, atol=1e-9)


# --- back -------------------------------------------------------------------------------------------------------------


def there_and_back(model, path=None, **options):
    written = fem.to_urdf(model, path)
    given = {"base": written.base, "configuration": written.configuration, "rates": written.rates}
    return fem.from_urdf(path or written.text, **given, gravity=model.gravity, **options)


def mechanism(backwards):
    """A tree with every joint that can be written, first and second bodies swapped or not, frames turned at random."""
    rng = np.random.default_rng(3)
    model = fem.Model("tree", gravity=[0.3, -1.0, -9.81])
    unit = lambda: (lambda a: a / np.linalg.norm(a))(rng.normal(size=3))  # noqa: E731
    above, point = model.ground, np.zeros(3)
    pin = {"damping": 0.3, "stops": fem.Stops(-1.5, 1.5)}
    rail = {"stops": fem.Stops(-9.0, None), "friction": fem.DryFriction(1e-9, preload=5e8)}
    for k, (kind, options) in enumerate(
        ((fem.Revolute, pin), (fem.Prismatic, rail), (fem.Planar, {}), (fem.Fixed, {}), (fem.Revolute, {}))
    ):
        R, axis = exp(rng.normal(size=3)), unit()
        body = fem.RigidBody(1.0 + k, R @ np.diag([0.2, 0.3, 0.4]) @ R.T, position=point + rng.normal(size=3),
                             rotation=exp(rng.normal(size=3)), name=f"body {k}")  # fmt: skip
        pair = (body, above) if backwards and k else (above, body)
        more = {} if kind is fem.Fixed else {"axis": axis}
        model.add(body, kind.at(*pair, point, **more, **options, name=f"joint {k}"))
        above, point = body, body.position + rng.normal(size=3)
    return model


@pytest.mark.parametrize("backwards", [False, True])
def test_a_model_written_and_read_moves_as_before(backwards):
    model = mechanism(backwards)
    again = there_and_back(model, keep=["joint 3"]).model
    first, second = motion(model, 0.1, 1e-3), motion(again, 0.1, 1e-3)
    for k in range(5):
        np.testing.assert_allclose(second[f"body {k}"].position, first[f"body {k}"].position, atol=1e-9)
    assert np.ptp(first["body 4"].position, axis=0).max() > 0.02
    for name, output in (("joint 0", "angle"), ("joint 1", "displacement"), ("joint 4", "angle")):
        np.testing.assert_allclose(getattr(second[name], output), getattr(first[name], output), atol=1e-9)


def test_a_file_written_and_read_has_the_same_mass_matrix_limits_and_pictures(tmp_path):
    start = {"configuration": {"shoulder": 0.5, "elbow": -0.2, "grip": 0.01}, "rates": {"shoulder": 0.4, "grip": 0.1}}
    model = fem.from_urdf(ARM, **start).model
    again = there_and_back(model, tmp_path / "arm.urdf").model
    assert [type(e) for e in again.elements].count(fem.JointStop) == 6 and "base" in [e.name for e in again.elements]
    for element in model.elements:
        twin = again[element.name]
        assert type(twin) is type(element)
        if isinstance(element, fem.RigidBody):
            for name in ("position", "rotation", "velocity", "angular_velocity"):
                np.testing.assert_allclose(getattr(twin.node, name), getattr(element.node, name), atol=1e-14)
            np.testing.assert_allclose(twin.inertia, element.inertia, atol=1e-14)
            for one, other in zip(element.shapes, twin.shapes, strict=True):
                low, high = one.points.min(axis=0), one.points.max(axis=0)
                np.testing.assert_allclose(
                    [other.points.min(axis=0), other.points.max(axis=0)], [low, high], atol=1e-14
                )
        if isinstance(element, fem.JointStop):
            assert twin.limit == element.limit
    first, second = motion(model, 0.05, 1e-3), motion(again, 0.05, 1e-3)
    np.testing.assert_allclose(second["left finger"].position, first["left finger"].position, atol=1e-11)


def test_bodies_that_hang_on_nothing_float_and_surfaces_become_files(tmp_path):
    model = fem.Model("two", gravity=[0, 0, -9.81])
    turn = {"rotation": [0.3, 0.2, 0.1], "velocity": [1, 0, 0], "angular_velocity": [0, 2, 1]}
    ball = fem.shapes.Sphere(0.2)
    surface = fem.shapes.Mesh(ball.points, ball.faces)
    alone = model.add(fem.RigidBody.from_mesh(surface, 100.0, position=[0, 0, 3], **turn, name="a"))
    again = there_and_back(model, tmp_path / "a.urdf")
    assert again.bodies["a"].shapes[0].points == pytest.approx(alone.shapes[0].points)
    assert (tmp_path / "a_1.obj").is_file()
    with pytest.warns(UserWarning, match=r"'a'.*a file"):
        fem.to_urdf(model)
    model.add(fem.RigidBody.box(1.0, [1, 2, 3], position=[5, 0, 0], **turn, name="b"))
    model.add(fem.RigidBody.box(1.0, [1, 2, 3], position=[9, 0, 0], rotation=[1, 0, 0], fixed=True, name="held"))
    again = there_and_back(model, tmp_path / "b.urdf").model
    first, second = motion(model, 0.05, 1e-3), motion(again, 0.05, 1e-3)
    for name in ("a", "b"):
        np.testing.assert_allclose(second[name].position, first[name].position, atol=1e-12)
        np.testing.assert_allclose(second[name].rotation, first[name].rotation, atol=1e-12)
    for part in (model, again):  # the root of the file: its axes are those of ground
        held = part["held"]
        inertia = held.node.rotation @ held.inertia @ held.node.rotation.T
        np.testing.assert_allclose(inertia, exp([1, 0, 0]) @ np.diag([13, 10, 5]) @ exp([-1, 0, 0]) / 12, atol=1e-14)
        assert held.position == pytest.approx([9, 0, 0])


def test_what_urdf_cannot_say_is_rejected_by_name():
    model = mechanism(False)
    model.add(fem.Spherical.at(model["body 4"], fem.RigidBody.sphere(1.0, 0.1, name="ball"), [0, 0, 0], name="socket"))
    model.add(fem.PointForce(model["body 0"], [1, 0, 0], name="push"))
    model.add(fem.RigidBody.sphere(1.0, 0.1, fixed=("z",), name="disc"))
    model.add(fem.JointSpring(model["joint 4"], stiffness=2.0, name="coil"))
    with pytest.raises(fem.ModelError) as error:
        fem.to_urdf(model)
    for words in ("'socket': URDF", "'push': URDF", "'disc': has components", "'coil': "):
        assert words in str(error.value)
    looped = mechanism(False)
    looped.add(fem.Revolute.at(looped.ground, looped["body 4"], [0, 0, 0], [0, 0, 1], name="closing"))
    with pytest.raises(fem.ModelError, match=r"'joint 3'.*loop"):
        fem.to_urdf(looped)
    assert "closing" not in fem.to_urdf(looped, leave_out=["closing"]).text


# --- files of other programs ------------------------------------------------------------------------------------------

EQUAL = '<limit lower="0.5" upper="0.5"/>'


def test_a_joint_with_equal_limits_among_others_holds_its_link_at_that_angle():
    text = robot(
        link("root", ""), link("arm"), link("tool"), joint("j", "continuous", "root", "arm", '<axis xyz="0 1 0"/>'),
        joint("lock", "revolute", "arm", "tool", '<axis xyz="0 0 1"/>' + EQUAL, xyz="0 0 -1"),
    )  # fmt: skip
    with pytest.warns(UserWarning, match=r"'lock'.*limits, 0\.5.*fixed"):
        made = fem.from_urdf(text)
    assert list(made.joints) == ["j"] and made.bodies["arm"].mass == 4.0
    assert made.links["tool"].orientation[:, 0] == pytest.approx([np.cos(0.5), np.sin(0.5), 0.0])
    assert list(fem.from_urdf(text, limits="ignore").joints) == ["j", "lock"]


def test_a_file_all_of_whose_limits_are_zero_is_rejected_as_drawing_programs_write_them():
    with pytest.raises(fem.ParameterError, match=r"joint 'j'.*cannot move"):
        fem.from_urdf(swing('<limit lower="0" upper="0"/>', "revolute"))


def test_what_follows_a_fixed_joint_is_held_at_its_offset():
    follow = '<axis xyz="0 0 1"/><mimic joint="{}" multiplier="-2" offset="{}"/>'
    text = robot(
        link("root", ""), link("a"), link("b"), link("c"), joint("j", "fixed", "root", "a"),
        joint("k", "continuous", "root", "b", follow.format("j", 0.3)),
        joint("n", "continuous", "root", "c", follow.format("k", 0.1)),
    )  # fmt: skip
    made = fem.from_urdf(text)
    assert {name: type(one).__name__ for name, one in made.joints.items()} == {"k": "Fixed", "n": "Fixed"}
    assert made.links["b"].orientation[:, 0] == pytest.approx([np.cos(0.3), np.sin(0.3), 0.0])
    assert made.links["c"].orientation[:, 0] == pytest.approx([np.cos(0.5), -np.sin(0.5), 0.0])
    made.model.compile()


def test_a_root_on_the_ground_needs_no_inertia():
    zero = '<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'
    text = robot(link("root", zero), link("body"), joint("j", "continuous", "root", "body", '<axis xyz="0 1 0"/>'))
    assert list(fem.from_urdf(text).bodies) == ["body"]
    with pytest.raises(fem.ParameterError, match="principal moments"):
        fem.from_urdf(text, base="free")


@pytest.mark.parametrize("before", ["", "\n  ", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("as_file", [True, False])
def test_blank_lines_and_marks_before_the_declaration_do_not_matter(tmp_path, before, as_file):
    text = before + '<?xml version="1.0" encoding="utf-8"?>\n' + swing()
    path = tmp_path / "r.urdf"
    path.write_text(text, encoding="utf-8")
    assert list(fem.from_urdf(path if as_file else text).joints) == ["j"]


def test_geometries_of_other_programs_matter_only_where_they_are_drawn_or_weigh():
    plane = "<{0}><geometry><plane normal='0 0 1'/></geometry></{0}>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(fem.from_urdf(swing(body=MASS + plane.format("collision"))).joints) == ["j"]
    with pytest.warns(UserWarning, match=r"visual geometry = 'plane'.*not supported"):
        fem.from_urdf(swing(body=MASS + plane.format("visual")))
    with pytest.raises(fem.ParameterError, match=r"geometry = 'plane'.*not supported.*box"):
        fem.from_urdf(swing(body=plane.format("collision")), density=1000.0)


# --- words ------------------------------------------------------------------------------------------------------------

LIMIT = '<limit lower="{}" upper="{}"/>'
WRONG = {
    "is no XML": "<robot",
    "its outermost tag": "<sdf/>",
    "xacro": robot(link("${prefix}base")),
    "cannot be read": "nowhere.urdf",
    "at least one is needed": robot(),
    "name = 'a' is taken": robot(link("a"), link("a")),
    "did you mean 'base'": robot(link("base"), joint("j", "fixed", "bas", "base")),
    "two joints": robot(link("a"), link("b"), joint("i", "fixed", "a", "b"), joint("j", "fixed", "a", "b")),
    "one such link": robot(link("a"), link("b")),
    "circle": robot(link("a"), link("b"), link("c"), joint("i", "fixed", "b", "c"), joint("j", "fixed", "c", "b")),
    "did you mean 'revolute'": robot(link("a"), link("b"), joint("j", "revolut", "a", "b")),
    "joint 'j' moves": swing(body=""),
    "3 numbers": swing(axis="0 1"),
    "no direction": swing(axis="0 0 0"),
    "cannot move": swing(kind="revolute"),
    "limits 1 … 2": swing(LIMIT.format(1, 2), "revolute"),
    "<mass>": swing(body="<inertial><mass/></inertial>"),
    "no <inertia": swing(body='<inertial><mass value="1"/></inertial>'),
    "forgotten <inertia>": swing(body=re.sub('(i..)="[^"]*"', r'\1="0"', MASS)),
    "mimic = 'k'": swing('<mimic joint="k"/>'),
    "itself": swing('<mimic joint="j"/>'),
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_with_a_file_is_reported(words):
    with pytest.raises(fem.ParameterError, match=re.escape(words)):
        fem.from_urdf(WRONG[words])


def test_what_is_wrong_with_the_start_is_reported_and_misspelt_tags_are():
    with pytest.raises(fem.ParameterError, match="did you mean 'shoulder'"):
        fem.from_urdf(ARM, configuration={"sholder": 1.0})
    with pytest.raises(fem.ParameterError, match="follows 'grip'"):
        fem.from_urdf(ARM, rates={"grip of the right finger": 1.0})
    with pytest.raises(fem.ParameterError, match="half a turn"):
        fem.from_urdf(swing(LIMIT.format(-4, 4), "revolute"), configuration={"j": 3.5})
    with pytest.raises(fem.ParameterError, match=r"keep = .*fixed joint"):
        fem.from_urdf(ARM, keep=["elbow"])
    with pytest.warns(UserWarning, match=r"<inertail> in <link>.*'inertial'"):
        fem.from_urdf(swing(body=MASS + "<inertail/>"))
    same = fem.from_urdf(swing().replace('name="j"', 'name="body"'))
    assert same.joints["body"].name == "body joint"


def test_inertias_that_lack_products_are_reported_with_their_links_and_read_as_zero():
    partial = '<inertial><mass value="2"/><inertia ixx="0.2" ixy="0" iyy="0.3" izz="0.4"/></inertial>'
    text = robot(link("arm"), link("hand", partial), joint("j", "continuous", "arm", "hand"))
    with pytest.warns(UserWarning, match=r"'r': <inertia> of 'hand'.*ixz, iyz"):
        found = fem.from_urdf(text)
    np.testing.assert_array_equal(found.model["hand"].inertia, np.diag([0.2, 0.3, 0.4]))


def test_the_example_has_all_six_moments_of_inertia_which_other_programs_require():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.from_urdf(ARM)


def test_meshes_outside_of_the_folders_of_a_file_are_read_only_where_that_is_allowed(tmp_path):
    (tmp_path / "robot" / "urdf").mkdir(parents=True)
    (tmp_path / "robot" / "meshes").mkdir()
    for place in (tmp_path / "secret.stl", tmp_path / "robot" / "meshes" / "arm.stl"):
        meshio.write(place, meshio.Mesh(np.eye(3), [("triangle", [[0, 1, 2]])]))
    path = tmp_path / "robot" / "urdf" / "r.urdf"

    def read(name, **options):
        path.write_text(swing(body=MASS + f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = fem.from_urdf(path, **options)
        return len(made.bodies["body"].shapes), " ".join(str(one.message) for one in caught)

    absolute = (tmp_path / "secret.stl").as_posix()
    for name in ("../../secret.stl", absolute, f"file://{absolute}", "package://robot/../secret.stl"):
        drawn, text = read(name)
        assert drawn == 0 and "outside of the folder" in text
    assert read("../meshes/arm.stl")[0] == 0
    assert read("package://robot/meshes/arm.stl") == (1, "")
    assert read("../meshes/arm.stl", packages={"meshes": tmp_path / "robot" / "meshes"}) == (1, "")
    (tmp_path / "robot" / "package.xml").write_text("<package/>")
    assert read("../meshes/arm.stl") == (1, "")


def test_a_chain_of_links_is_read_in_a_time_that_grows_with_their_number():
    """Messages that compare a name with all others are made where something is wrong, not before."""
    calls = []

    def counted(name, choices):
        calls.append(name)
        return ""

    from fem_mbs.elements.urdf import tree

    links = [link("l0", "")] + [link(f"l{k}") for k in range(1, 60)]
    joints = [joint(f"j{k}", "fixed", f"l{k - 1}", f"l{k}") for k in range(1, 60)]
    joints[-1] = joint("j59", "continuous", "l58", "l59", '<axis xyz="0 1 0"/>')
    before, tree.meant = tree.meant, counted
    try:
        assert len(fem.from_urdf(robot(*links, *joints)).joints) == 1
    finally:
        tree.meant = before
    assert not calls


def test_coordinates_of_many_joints_are_read_without_a_comparison_of_their_names(monkeypatch):
    """The message of a wrong name compares it with all others: made for right names too, it was quadratic in joints."""
    count = 30
    chain = [link("link 0"), *(link(f"link {i}") + joint(f"j{i}", "continuous", f"link {i - 1}", f"link {i}") for i in
             range(1, count))]  # fmt: skip
    compared = []
    monkeypatch.setattr(reader, "meant", lambda *names: compared.append(names) or "did you mean …?")
    model = fem.from_urdf(robot(*chain), configuration={f"j{i}": 0.1 for i in range(1, count)}).model
    assert not compared and len(model.elements) >= count
    with pytest.raises(fem.ParameterError, match=r"configuration = .*no joint that moves"):
        fem.from_urdf(robot(*chain), configuration={"j01": 0.1})
    assert len(compared) == 1
