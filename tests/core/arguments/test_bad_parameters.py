"""Impossible parameters raise an error at once: the message names the element, the parameter, the value, and a cure."""

import math

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.elements import (
    Cylindrical,
    Fixed,
    LinearDriver,
    PointForce,
    PointMass,
    PointMoment,
    Prescribed,
    Prismatic,
    Revolute,
    RevoluteDriver,
    RigidBody,
    SphereOnPlane,
    Spherical,
    Spring,
    TorsionSpring,
    Universal,
    UserForce,
)
from fem_mbs.errors import ParameterError
from fem_mbs.functions.signals import Signal
from fem_mbs.nodes import Frame, Ground, Node1, Node3, Node6


def nodes():
    return Node6(name="a"), Node6([1, 0, 0], name="b")


A, B = nodes()
HINGE = Revolute.at(A, B, [0.5, 0, 0], [0, 0, 1])
P, Q = HINGE.frame_P, HINGE.frame_Q
RAIL = Prismatic.at(A, B, [0.5, 0, 0], [1, 0, 0])
NAN, INF = math.nan, math.inf

# what is wrong: (constructor, words the message must have)
CASES = {
    # bodies
    "negative mass": (lambda: RigidBody(-1.0, 1.0, name="rod"), r"RigidBody 'rod': mass = -1\.0 kg must be ≥ 0"),
    "mass zero": (lambda: PointMass(0.0, name="bob"), r"PointMass 'bob': mass = 0\.0 kg must be > 0"),
    "mass not a number": (lambda: RigidBody("heavy", 1.0, name="rod"), r"mass = 'heavy' is not a number"),
    "mass infinite": (lambda: RigidBody(INF, 1.0, name="rod"), r"mass = inf kg must be finite"),
    "inertia not positive": (lambda: RigidBody(1.0, [1, 1, -1], name="rod"), r"'rod': inertia.*all must be ≥ 0"),
    "inertia indefinite": (lambda: RigidBody(1.0, [[1, 2, 0], [2, 1, 0], [0, 0, 1]], name="rod"), r"all must be ≥ 0"),
    "inertia not symmetric": (lambda: RigidBody(1.0, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), r"inertia.*not symmetric"),
    "inertia of no body": (
        lambda: RigidBody(1.0, [1.0, 0.2, 0.3], name="rod"),
        r"RigidBody 'rod': inertia.*\(1, 0\.3, 0\.2\) kg m².*exceeds the sum of the others.*about the centre of mass\?",
    ),
    "inertia of wrong shape": (lambda: RigidBody(1.0, [1, 2]), r"inertia.*must be a number, three principal moments"),
    # nodes
    "position of two numbers": (
        lambda: Node6([1, 2], name="tip"),
        r"Node6 'tip': position = \[1, 2\] has 2 components",
    ),
    "position not finite": (lambda: Node3([0, NAN, 0], name="tip"), r"position = .*components that are not finite"),
    "rotation not orthogonal": (lambda: Node6(rotation=2 * np.eye(3), name="tip"), r"rotation.*is not a rotation"),
    "unknown component": (lambda: Node6(fixed=("u",), name="tip"), r"'tip': fixed = 'u'.*allowed: x, y, z, rx, ry, rz"),
    "rotation of a point": (lambda: Node3(fixed=("rx",), name="tip"), r"Node3 'tip': fixed = 'rx'.*allowed: x, y, z"),
    "value not finite": (lambda: Node1(NAN, name="q"), r"Node1 'q': value = nan must be finite"),
    "offset of a frame": (
        lambda: Frame(A, p=[1, 2, 3, 4], name="tip"),
        r"Frame 'tip': p = .*has 4 components, must have 3",
    ),
    # joints
    "zero axis": (
        lambda: Revolute.at(A, B, [0, 0, 0], [0, 0, 0], name="pin"),
        r"Revolute 'pin': axis.*length 0.*zero vec",
    ),
    "axis not unit": (
        lambda: Prismatic.at(A, B, [0, 0, 0], [0, 0, 2], name="pin"),
        r"'pin': axis.*length 2.*unit vector",
    ),
    "joint with itself": (
        lambda: Spherical(A.frame(), A.frame([1, 0, 0]), name="pin"),
        r"'pin': frame_Q.*needs two bodies",
    ),
    "origins apart": (
        lambda: Revolute(A.frame(), B.frame(), name="pin"),
        r"Revolute 'pin': frame_Q = Frame 'b' has its origin 1 m from that of frame_P.*Revolute\.at\(",
    ),
    "spherical apart": (
        lambda: Spherical(A.frame(), B.frame(), name="hip"),
        r"Spherical 'hip'.*1 m from.*Spherical\.at",
    ),
    "fixed apart": (lambda: Fixed(A.frame([0, 1, 0]), B.frame(), name="weld"), r"Fixed 'weld'.*1\.41421 m from"),
    "axes not parallel": (
        lambda: Revolute(A.frame([1, 0, 0]), B.frame(rotation=[0.1, 0, 0]), name="pin"),
        r"Revolute 'pin': frame_Q.*z axis 5\.72958° from that of frame_P",
    ),
    "axes opposite": (lambda: Revolute(A.frame([1, 0, 0]), B.frame(rotation=[np.pi, 0, 0])), r"z axis 180° from"),
    "off the axis": (lambda: Prismatic(A.frame(), B.frame([0, 0.2, 0]), name="rail"), r"'rail'.*off the z axis"),
    "sleeve off axis": (lambda: Cylindrical(A.frame(), B.frame(), name="sleeve"), r"'sleeve'.*1 m off the z axis"),
    "pins not at right angles": (
        lambda: Universal(A.frame([1, 0, 0]), B.frame(rotation=[0, 0.1, 0]), name="cross"),
        r"Universal 'cross': frame_Q.*x axis 95\.7296° from the z axis.*right angles",
    ),
    # drivers
    "driver starts elsewhere": (
        lambda: RevoluteDriver(P, Q, lambda t: 0.3 + t, name="motor"),
        r"RevoluteDriver 'motor': angle = 0\.3 rad at t = 0, but x of frame_Q is at 0 rad.*Add the difference",
    ),
    "driver cannot be differentiated": (
        lambda: RevoluteDriver(P, Q, lambda t: math.sin(t), name="motor"),
        r"'motor': angle.*cannot be differentiated.*np\.sin.*Signal\(value, rate, acceleration\)",
    ),
    "driver is text": (
        lambda: RevoluteDriver(P, Q, "fast", name="motor"),
        r"angle = 'fast' must be a number or a function",
    ),
    "driver not finite": (
        lambda: RevoluteDriver(P, Q, Signal(lambda t: 0.0, lambda t: NAN, lambda t: 0.0), name="motor"),
        r"'motor': angle.*not finite at t = 0",
    ),
    "jack starts elsewhere": (
        lambda: LinearDriver(RAIL.frame_P, RAIL.frame_Q, 0.1, name="jack"),
        r"LinearDriver 'jack': distance = 0\.1 m at t = 0, but Q is at 0 m from P.*Add the difference",
    ),
    "nothing prescribed": (lambda: Prescribed(B, name="shaker"), r"Prescribed 'shaker': x, y, z.*at least one"),
    "prescribed elsewhere": (
        lambda: Prescribed(B, x=0.0, name="shaker"),
        r"Prescribed 'shaker': x = 0\.0 m at t = 0, but the point starts at x = 1 m",
    ),
    # springs
    "negative stiffness": (lambda: Spring(A, B, -1.0, name="s"), r"Spring 's': stiffness = -1\.0 N/m must be ≥ 0"),
    "negative damping": (lambda: Spring(A, B, 1.0, -2.0, name="s"), r"Spring 's': damping = -2\.0 N s/m must be ≥ 0"),
    "spring without law": (lambda: Spring(A, B, 0.0, name="s"), r"Spring 's': stiffness.*both 0"),
    "negative free length": (lambda: Spring(A, B, 1.0, 0, -0.1, name="s"), r"free_length = -0\.1 m must be ≥ 0"),
    "spring with itself": (lambda: Spring(A, A.frame([1, 0, 0]), 1.0, name="s"), r"'s': frame_Q.*on the same node"),
    "spring without direction": (
        lambda: Spring(A.frame([1, 0, 0]), B, 1.0, free_length=0.5, name="s"),
        r"Spring 's': frame_Q.*coincides with frame_P.*Move an end, or set free_length=0",
    ),
    "spring of length zero": (lambda: Spring(A.frame([1, 0, 0]), B, 1.0, name="s"), r"Spring 's'.*coincides"),
    "torsion with itself": (lambda: TorsionSpring(A, A, 1.0, name="s"), r"TorsionSpring 's'.*on the same node"),
    "torsion axes apart": (
        lambda: TorsionSpring(A, B.frame(rotation=[0.2, 0, 0]), 1.0, name="s"),
        r"TorsionSpring 's': frame_Q.*z axis 11\.4592° from",
    ),
    "torsion stiffness": (lambda: TorsionSpring(P, Q, -3.0, name="s"), r"stiffness = -3\.0 N m/rad must be ≥ 0"),
    # loads
    "force of two numbers": (
        lambda: PointForce(A, [1, 2], name="f"),
        r"PointForce 'f': force = \[1, 2\] has 2 components",
    ),
    "force not finite": (lambda: PointForce(A, [1, NAN, 2], name="f"), r"PointForce 'f': force.*not finite"),
    "force function of wrong shape": (
        lambda: PointForce(A, lambda t: t, name="f"),
        r"'f': force.*shape \(\).*must be \(3,\)",
    ),
    "force function not finite": (
        lambda: PointForce(A, lambda t: [INF, 0, 0], name="f"),
        r"'f': force.*not finite at t = 0",
    ),
    "a moment on a point": (
        lambda: PointMoment(Node3([0, 0, 1], name="tip"), [0, 0, 1.0], name="m"),
        r"PointMoment 'm': frame = Node3 'tip' has no rotation.*Use a RigidBody",
    ),
    "scaled by text": (
        lambda: PointMoment(A, [1, 0, 0], signal="on", name="m"),
        r"PointMoment 'm': signal = 'on' must be",
    ),
    # user laws
    "law not callable": (lambda: UserForce(A, 3.0, name="u"), r"UserForce 'u': function = 3\.0 cannot be called"),
    "law without nodes": (
        lambda: UserForce([], lambda x, R, v, t: [], name="u"),
        r"UserForce 'u': nodes.*at least one",
    ),
    "law on an offset": (
        lambda: UserForce(A.frame([1, 0, 0]), lambda x, R, v, t: np.zeros(6), name="u"),
        r"UserForce 'u': nodes.*has an offset; give the node",
    ),
    "law not finite": (
        lambda: UserForce(A, lambda x, R, v, t: np.full(6, NAN), name="u"),
        r"UserForce 'u': function.*not finite at the initial configuration.*nan at t = 0 s for Node6 'a'",
    ),
    # contacts
    "negative radius": (lambda: SphereOnPlane(A, Ground(), radius=-1, name="c"), r"'c': radius = -1\.0 m must be ≥ 0"),
    "restitution": (
        lambda: SphereOnPlane(A, Ground(), radius=1, restitution=1.2, name="c"),
        r"'c': restitution.*0 and 1",
    ),
    "friction": (lambda: SphereOnPlane(A, Ground(), radius=1, friction=-0.1, name="c"), r"'c': friction = -0\.1.*≥ 0"),
    "plane with itself": (lambda: SphereOnPlane(A, A.frame(), radius=1, name="c"), r"'c': plane.*on the same node"),
}


@pytest.mark.parametrize("case", CASES)
def test_impossible_parameters_are_rejected_with_name_value_and_cure(case):
    construct, words = CASES[case]
    with pytest.raises(ParameterError, match=r"(?s)" + words) as caught:
        construct()
    assert caught.value.parameter and isinstance(caught.value, ValueError)


def test_an_error_carries_its_data():
    with pytest.raises(ParameterError) as caught:
        RigidBody(-1.0, 1.0, name="rod")
    error = caught.value
    assert (error.element.name, error.parameter, error.value) == ("rod", "mass", -1.0)


def test_a_law_that_raises_does_so_at_once():
    with pytest.raises(ZeroDivisionError):
        UserForce(Node6(), lambda x, R, v, t: 1 / 0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda m, b: fem.SphereOnPlane(b, m.ground, radius=0.1, mu=0.3), "mu = 0.3 .* did you mean 'friction'"),
        (lambda m, b: fem.SphereOnPlane(b, m.ground, radius=0.1, e=0.3), "e = 0.3 .* did you mean 'restitution'"),
        (lambda m, b: fem.Spring(m.ground, b, k=100.0), "k = 100.0 .* did you mean 'stiffness'"),
        (lambda m, b: fem.Section.circle(0.01, E=1e9, rho=7800), "rho = 7800 .* did you mean 'density'"),
        (lambda m, b: fem.DecoupledNSGA().run(m, t_end=1.0, dt=1e-3), "dt = 0.001 .* did you mean 'h'"),
        (lambda m, b: fem.DecoupledNSGA().run(m, t_final=1.0, h=1e-3), "t_final = 1.0 .* did you mean 't_end'"),
        (lambda m, b: fem.DecoupledNSGA(rho=0.8), "rho = 0.8 .* did you mean 'rho_inf'"),
        (lambda m, b: fem.DecoupledNSGA.run(m, t_end=1.0, h=1e-3), "class.*Model 'm'"),
        (lambda m, b: fem.Revolute.at("ground", b, [0, 0, 0]), "first = 'ground'.*text"),
        (lambda m, b: fem.PointForce(b, lambda x: [x[0], 0, 0], name="f"), "'f': force.*time alone"),
    ],
)
def test_symbols_of_textbooks_and_calls_without_an_object_are_answered_with_what_was_meant(make, said):
    model = fem.Model("m")
    body = model.add(fem.RigidBody(1.0, 1.0, name="body"))
    with pytest.raises(ParameterError, match=said):
        make(model, body)


def test_a_compliant_contact_next_to_the_contact_that_it_wraps_is_rejected_for_that():
    """Neither has a name of its own, so that both would have the same one."""
    model = fem.Model("m")
    body = model.add(fem.RigidBody(1.0, 1.0, position=[0, 0, 1], name="body"))
    contact = model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, restitution=0.5))
    with pytest.raises(ParameterError, match=r"'sphereonplane 1'.*contact it wraps"):
        model.add(fem.CompliantContact(contact, stiffness=1e6))


@pytest.mark.parametrize("offset", [0.0, 1e-9])
def test_initial_poses_good_to_nine_digits_are_accepted(offset):
    A, B = nodes()
    Revolute(A.frame([1, offset, 0]), B.frame(rotation=[offset, 0, 0]))


def test_frames_that_miss_by_a_tenth_of_a_micrometre_are_rejected():
    A, B = nodes()
    with pytest.raises(ParameterError, match="1e-07 m"):
        Revolute(A.frame([1, 1e-7, 0]), B.frame())
