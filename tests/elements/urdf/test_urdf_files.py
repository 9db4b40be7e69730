"""URDF files as programs write them: encodings, prefixes, unreadable pictures, roots without inertia, mimic."""

import warnings

import numpy as np
import pytest

import fem_mbs as fem

MASS = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def link(name, inside=MASS):
    return f'<link name="{name}">{inside}</link>'


def joint(name, kind, parent, child, inside='<axis xyz="0 1 0"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*parts, head="", attributes="", name="j"):
    body = "\n".join(parts) or link("root", "") + link("body") + joint(name, "continuous", "root", "body")
    return f'{head}<robot name="r"{attributes}>\n{body}\n</robot>\n'


def read(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return list(fem.from_urdf(path).joints)


XML = '<?xml version="1.0" encoding="{}"?>\n'


@pytest.mark.parametrize(
    "text, encoding",
    [
        ("<!-- made by a program -->\n" + robot(head=XML.format("utf-8")), "utf-8"),
        (robot(head=XML.format("utf-8") + "<!-- a -->\n<!-- b -->\n"), "utf-8"),
        (robot(name="Gelenk ü", head=XML.format("ISO-8859-1")), "latin-1"),
        (robot(name="关节", head=XML.format("gb2312")), "gb2312"),
        (robot(name="关节", head=XML.format("us-ascii")), "utf-8"),
        (robot(name="关节", head=XML.format("utf-16")), "utf-8"),
        (robot(name="关节", head=XML.format("utf-16")), "utf-16"),
        (robot(name="90°", head=XML.format("utf-8")), "latin-1"),
        (robot(name="90°"), "latin-1"),
        (robot() + "\x00\n", "utf-8"),
        (robot(attributes=' xmlns="http://drake.mit.edu"'), "utf-8"),
        (robot(attributes=' xmlns:xacro="http://www.ros.org/wiki/xacro"'), "utf-8"),
        (robot().replace('<link name="body">', '<link name="body" drake:x="1">'), "utf-8"),
        (robot().replace("\n", "\r\n"), "utf-8"),
    ],
)
def test_a_file_in_any_encoding_and_with_any_prefix_is_read(tmp_path, text, encoding):
    (name,) = read(tmp_path / "r.urdf", text, encoding)
    assert f'joint name="{name}"' in text


def test_tags_with_a_prefix_are_those_of_other_programs_declared_or_not():
    other = '<drake:joint name="k" type="ball"><drake:parent link="root"/></drake:joint>'
    for attributes in ("", ' xmlns:drake="http://drake.mit.edu"'):
        text = robot(link("root", ""), link("body"), joint("j", "continuous", "root", "body"), other)
        with pytest.warns(UserWarning, match=r"'r'.*<drake:joint> in <robot>"):
            made = fem.from_urdf(text.replace('name="r"', f'name="r"{attributes}'))
        assert list(made.joints) == ["j"]
    with pytest.raises(fem.ParameterError, match=r"urdf = .*macros of xacro"):
        fem.from_urdf(robot(link("a", ""), '<xacro:include filename="b.xacro"/>'))


def test_a_file_that_is_no_xml_is_rejected_with_its_name_and_the_line(tmp_path):
    (tmp_path / "r.urdf").write_text("<!-- a -->\n" + XML.format("utf-8") + '<robot name="R&D">\n</robot>\n')
    with pytest.raises(fem.ParameterError, match=r"urdf = .*r\.urdf'.*XML.*line 3.*&amp;"):
        fem.from_urdf(tmp_path / "r.urdf")


PICTURES = [
    "<bxo size='1 1 1'/>", "<torus radius='1'/>", "<sphere radius='0'/>", "<cylinder radius='1'/>", "<box/>", "",
    "<box size='1,1,1'/>", "<mesh/>", "<mesh filename='a.stl' scale='0.001'/>", 2 * "<sphere radius='1'/>",
]  # fmt: skip


@pytest.mark.parametrize("shape", PICTURES)
def test_a_picture_that_cannot_be_read_is_not_drawn_and_stops_nothing(tmp_path, shape):
    def text(tag, inertial=MASS):
        picture = f"<{tag}><geometry>{shape}</geometry></{tag}>"
        return robot(link("root", ""), link("body", inertial + picture), joint("j", "continuous", "root", "body"))

    assert read(tmp_path / "r.urdf", text("collision")) == ["j"]
    with pytest.warns(UserWarning, match=r"'body'.*not drawn"):
        assert not fem.from_urdf(text("visual")).bodies["body"].shapes
    with pytest.raises(fem.ParameterError, match="URDF link 'body'"):  # it would give the mass
        fem.from_urdf(text("collision", ""), density=1000.0)


def test_a_misspelt_shape_is_warned_of_with_the_one_that_is_meant():
    picture = "<visual><geometry><bxo/></geometry></visual>"
    with pytest.warns(UserWarning, match=r"visual geometry = 'bxo'.*'box'"):
        fem.from_urdf(robot(link("root", ""), link("b", MASS + picture), joint("j", "continuous", "root", "b")))


def test_colours_of_three_numbers_are_read_and_wrong_ones_cost_the_colour_alone(tmp_path):
    box = '<visual><geometry><box size="1 1 1"/></geometry><material name="m"/></visual>'
    parts = link("root", ""), link("body", MASS + box), joint("j", "continuous", "root", "body")
    made = fem.from_urdf(robot('<material name="m"><color rgba="1 0 0.5"/></material>', *parts))
    assert made.bodies["body"].shapes[0].color == pytest.approx([1.0, 0.0, 0.5])
    with pytest.warns(UserWarning, match=r"<color> = 'red'.*4 numbers"):
        made = fem.from_urdf(robot('<material name="m"><color rgba="red"/></material>', *parts))
    assert len(made.bodies["body"].shapes) == 1


ROOTS = [
    MASS.replace('izz="1"', 'izz="5"'), MASS.replace('ixx="1"', 'ixx="-1"'), MASS.replace('izz="1"', 'izz="0"'),
]  # fmt: skip
INCOMPLETE = ["<inertial/>", '<inertial><mass value="5"/></inertial>', '<inertial><mass value="x"/></inertial>']


@pytest.mark.parametrize("inside", [*ROOTS, *INCOMPLETE])
def test_a_root_on_the_ground_needs_no_inertia_that_a_body_could_have(inside):
    parts = link("root", inside), link("body"), joint("j", "continuous", "root", "body")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if inside in INCOMPLETE else "error")
        assert list(fem.from_urdf(robot(*parts)).joints) == ["j"]
    for moving in ({"base": "free"}, {}):
        free = robot(*parts) if moving else robot(link("w", ""), parts[0], joint("k", "continuous", "w", "root"))
        with pytest.raises(fem.ParameterError, match="root"):
            fem.from_urdf(free, **moving)


def test_an_inertia_that_the_ground_does_not_need_is_reported_where_it_cannot_be_read():
    with pytest.warns(UserWarning, match=r"inertial = .*no <inertia.*ground"):
        fem.from_urdf(robot(link("root", INCOMPLETE[1]), link("body"), joint("j", "continuous", "root", "body")))


def test_a_joint_of_type_fixed_follows_nothing():
    text = robot(
        link("root", ""), link("a"), link("b"), joint("j", "continuous", "root", "a"),
        joint("k", "fixed", "root", "b", '<mimic joint="j"/>'),
    )  # fmt: skip
    with pytest.warns(UserWarning, match=r"'k'.*fixed.*<mimic>"):
        assert list(fem.from_urdf(text).joints) == ["j"]


def test_what_follows_by_a_factor_of_zero_is_held_at_its_offset():
    text = robot(
        link("root", ""), link("a"), link("b"), joint("j", "continuous", "root", "a"),
        joint("k", "continuous", "root", "b", '<axis xyz="0 0 1"/><mimic joint="j" multiplier="0" offset="0.3"/>'),
    )  # fmt: skip
    made = fem.from_urdf(text, configuration={"j": 1.0})
    assert type(made.joints["k"]).__name__ == "Fixed"
    assert made.links["b"].orientation[:, 0] == pytest.approx([np.cos(0.3), np.sin(0.3), 0.0])


def test_limits_as_large_as_a_number_can_be_are_none():
    limit = '<axis xyz="0 1 0"/><limit lower="-1.7976931348623157e+308" upper="1e100" effort="1e60" velocity="inf"/>'
    made = fem.from_urdf(robot(link("root", ""), link("body"), joint("j", "revolute", "root", "body", limit)))
    assert made.limits["j"].effort == np.inf and len(made.model.elements) == 2  # the body and the joint: no stops


def test_names_that_links_and_joints_share_stay_apart():
    text = robot(
        link("root", ""), link("b"), link("c"), joint("b", "continuous", "root", "b"),
        joint("b joint", "continuous", "b", "c"),
    )  # fmt: skip
    assert [one.name for one in fem.from_urdf(text).joints.values()] == ["b joint joint", "b joint"]
