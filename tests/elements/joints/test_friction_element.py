"""The element of joint friction: unsupported models, options, and where its terms come from."""

import re

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.solvers import DecoupledNSGA
from fem_mbs.verify import random_point


def two_bodies():
    a = fem.RigidBody(1.0, np.eye(3), name="a")
    return a, fem.RigidBody(1.0, np.eye(3), position=[1, 0, 0], name="b")


def hinge(**options):
    a, b = two_bodies()
    return fem.JointFriction(fem.Revolute.at(a, b, [0.5, 0, 0], [0, 0, 1], name="hinge"), 0.2, **options)


def guide(**options):
    a, b = two_bodies()
    return fem.JointFriction(fem.Prismatic.at(a, b, [1, 0, 0], [1, 0, 0]), 0.2, **options)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: hinge(), "radius = 0.*friction"),
        (lambda: hinge(radius=-0.1), r"radius = -0.1"),
        (lambda: hinge(radius=0.1, flat=True), "flat.*displacement"),
        (lambda: hinge(radius=0.1, coordinate="displacement"), r"coordinate.*angle"),
        (lambda: hinge(preload=-1.0), r"preload = -1.*must be ≥ 0"),
        (lambda: hinge(preload=lambda t: t - 0.1), r"t = 0: preload = -0\.1 N m.*≥ 0"),
        (lambda: guide(radius=0.1), "radius.*angle"),
        (lambda: guide(collar=0.1), "collar.*Revolute"),
        (lambda: guide(length=0.0), r"length"),
        (lambda: fem.JointFriction(fem.Fixed.at(*two_bodies(), [0, 0, 0]), 0.1), r"joint = .*a Revolute"),
        (lambda: fem.JointFriction(guide().joint, (0.1, 0.2)), r"friction = .*static.*≥ sliding"),
        (lambda: fem.JointFriction(guide().joint, (0.1, 0.2, 0.3)), r"one number or"),
        (
            lambda: fem.JointFriction(fem.Cylindrical.at(*two_bodies(), [1, 0, 0], [1, 0, 0]), 0.1),
            "coordinate.*both",
        ),
    ],
)
def test_what_makes_no_sense_is_rejected_in_words(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make()


def test_joint_that_is_not_in_the_model_is_named():
    friction = hinge(radius=0.1, name="friction")
    model = fem.Model()
    model.add(friction.joint.frame_P.node.body, friction.joint.frame_Q.node.body, friction)
    with pytest.raises(fem.ModelError, match=r"'friction'.*Revolute 'hinge'"):
        model.compile()


def model_with_friction():
    friction = hinge(radius=0.1, name="friction")
    model = fem.Model(gravity=[0, -9.81, 0])
    model.add(friction.joint.frame_P.node.body, friction.joint.frame_Q.node.body, friction.joint, friction)
    return model


def test_statics_reject_it_and_modes_report_that_they_omit_it():
    with pytest.raises(fem.ParameterError, match="static_equilibrium: JointFriction 'friction'"):
        fem.static_equilibrium(model_with_friction().compile())
    assert any(
        re.search("JointFriction 'friction'.*left out", r) for r in fem.modes(model_with_friction().compile()).warnings
    )


def test_contact_problem_solver_alone_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"contact_solver = 'problem'.*joint friction"):
        DecoupledNSGA(contact_solver="problem").run(model_with_friction(), t_end=0.1, h=1e-2)


def effort(joint, lam, point):
    """Force and moment of a joint on its second body about Q, in the axes of P."""
    call = Evaluator(joint)
    out = call("output", point.copy(lam=lam))["out"]
    R = point.R[0] @ joint.record[1]
    return R.T @ out[:3], R.T @ out[3:6]


def on_the_joint(joint, rng):
    """A point at which the joint is closed: both bodies turned and moved as one."""
    point = random_point(joint, rng)
    start = [node.rotation for node in joint.nodes]
    x = np.array([node.position for node in joint.nodes])
    return point.copy(x=x @ point.R[0].T, R=np.array([point.R[0] @ R for R in start]))


@pytest.mark.parametrize("kind", ["hinge", "collar", "two bearings", "guide", "pads", "flat", "tube"])
def test_bounds_are_those_of_the_force_and_moment_that_the_joint_reports(kind):
    """Forces on bearings and pads from force and moment about Q; rows of the joints play no part here."""
    rng, r, b = np.random.default_rng(3), 0.05, 0.3
    P, Q = fem.Node6(rng.normal(size=3)), fem.Node6(rng.normal(size=3))
    cls = {"hinge": fem.Revolute, "collar": fem.Revolute, "two bearings": fem.Revolute, "tube": fem.Cylindrical}
    joint = cls.get(kind, fem.Prismatic).at(P, Q, Q.position, [0.6, 0, 0.8])
    options = {"hinge": {"radius": r}, "collar": {"radius": r, "collar": 0.1},
               "two bearings": {"radius": r, "length": b}, "guide": {}, "pads": {"length": b},
               "flat": {"length": b, "flat": True},
               "tube": {"coordinate": "angle", "radius": r, "length": b}}[kind]  # fmt: skip
    friction = fem.JointFriction(joint, 0.2, **options)
    point = on_the_joint(joint, rng)
    lam = rng.normal(size=joint.rows)
    f, m = effort(joint, lam, point)
    pads = [f[:2]]
    if "length" in options:
        difference = np.array([m[1], -m[0]]) / b
        pads = [0.5 * f[:2] + difference, 0.5 * f[:2] - difference]
    size = np.abs if kind == "flat" else np.linalg.norm
    expected = sum(np.sum(size(pad)) for pad in pads) * options.get("radius", 1.0) + abs(f[2]) * options.get(
        "collar", 0
    )
    found = Evaluator(friction)(
        "friction_bound", point.copy(lam=lam, s=np.zeros((0, 3)), state=np.zeros(friction.n_state))
    )
    assert found["bound"][0] == pytest.approx(expected, rel=1e-12)


def test_part_of_joint_friction_is_compiled_for_models_that_have_it():
    engine = DecoupledNSGA().prepare(model_with_friction().compile(), 1e-3)
    assert engine.run[0]["friction_part"] and engine.own[0]["restart_part"]
    a, b = two_bodies()
    model = fem.Model()
    model.add(a, b, fem.Revolute.at(a, b, [0.5, 0, 0], [0, 0, 1]))
    engine = DecoupledNSGA().prepare(model.compile(), 1e-3)
    assert not engine.run[0]["friction_part"] and not engine.own[0]["restart_part"]


def test_rejected_steps_put_statuses_and_work_back():
    """A run whose steps halve and grow ends as one of constant steps does, and a run begins as the first did."""
    system = model_with_friction().compile()
    first = DecoupledNSGA().run(system, t_end=0.05, h=1e-3)["friction"]
    again = DecoupledNSGA().run(system, t_end=0.05, h=1e-3)["friction"]
    np.testing.assert_array_equal(first.dissipated, again.dissipated)
    assert first.dissipated[0] == 0.0
