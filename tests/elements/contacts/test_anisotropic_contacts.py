"""Anisotropic friction as an option of contacts: which take it, their axes, derivatives, and what is rejected."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.errors import FemMbsError, ParameterError
from fem_mbs.verify import check_element, random_point

FRICTION = fem.AnisotropicFriction(0.2, 0.5, [1.0, 2.0, 3.0])
POINTS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def body(**where):
    return fem.RigidBody.box(1.0, [0.3, 0.2, 0.1], **where)


def plane():
    return body().frame([0.1, -0.2, 0.3], [0.4, 0.5, -0.2])


def ends(rod):
    return rod.frame([0, 0, 0.2]), rod.frame([0, 0, -0.2])


CARRIERS = {
    "SphereOnPlane": lambda law: fem.SphereOnPlane(body(), plane(), radius=0.1, **law),
    "BoxOnPlane": lambda law: fem.BoxOnPlane(body(), plane(), size=[0.3, 0.2, 0.1], **law),
    "HullOnPlane": lambda law: fem.HullOnPlane(body(), plane(), points=POINTS, **law),
    "CapsuleOnPlane": lambda law: fem.CapsuleOnPlane(ends(body()), plane(), radius=0.1, **law),
    "EllipsoidOnPlane": lambda law: fem.EllipsoidOnPlane(body(), plane(), semi_axes=[0.1, 0.2, 0.3], **law),
    "RingOnPlane": lambda law: fem.RingOnPlane(body(), plane(), radius=0.3, edge_radius=0.02, **law),
}


@pytest.mark.parametrize("name", CARRIERS)
def test_contacts_with_planes_have_their_first_tangent_along_the_axis(name):
    made = CARRIERS[name]({"friction": FRICTION})
    for contact in getattr(made, "elements", [made]):
        assert contact.friction == contact.static_friction == 0.5 and contact.friction_scale == (0.4, 1.0)
        frame = contact.plane
        axis = frame.rotation @ [1.0, 2.0, 0.0] / np.sqrt(5.0)  # without the part along the normal
        point = random_point(contact, np.random.default_rng(3), 1.0)
        tangents = Evaluator(contact)("contact", point)["tangents"]
        np.testing.assert_allclose(tangents[0], point.R[1] @ axis, atol=1e-14)
        report = check_element(contact, configurations=4)
        assert report.ok, report


def test_axes_along_the_frame_leave_the_parameters_as_they_are():
    isotropic = CARRIERS["SphereOnPlane"]({"friction": 0.5})
    same = CARRIERS["SphereOnPlane"]({"friction": fem.AnisotropicFriction(0.5, 0.5, [2.0, 0, 0])})
    for one, other in zip(isotropic.record, same.record):
        np.testing.assert_array_equal(one, other)
    assert same.friction_scale == isotropic.friction_scale == (1.0, 1.0)


# --- compliant contacts -----------------------------------------------------------------------------------------------


def compliant(friction=FRICTION, **options):
    contact = CARRIERS["SphereOnPlane"]({"friction": friction, "restitution": 0.5})
    given = {"stiffness": 1.3, "slip_speed": 0.4, "least_speed": 2.0, "max_indentation": 10.0}
    return fem.CompliantContact(contact, **given | options)


def test_derivatives_of_compliant_contacts_are_those_of_their_forces():
    report = check_element(compliant(), configurations=8)
    assert report.ok, report


def test_a_compliant_contact_slides_on_its_ellipse():
    g, mass, stiffness, slip_speed, mu = 9.81, 2.0, 1e4, 0.05, np.array([0.2, 0.5])
    model = fem.Model("soft", gravity=[0, 0, -g])
    depth = mass * g / stiffness
    point = model.add(fem.PointMass(mass, position=[0, 0, -depth], velocity=[2.0, 1.0, 0], name="point"))
    contact = fem.SphereOnPlane(point, model.ground, radius=0.0, friction=fem.AnisotropicFriction(*mu), name="floor")
    model.add(fem.CompliantContact(contact, stiffness=stiffness, model="hooke", slip_speed=slip_speed))
    result = fem.DecoupledNSGA().run(model, 0.25, 5e-4)

    def force(v):  # per weight; the regularisation is that of scaled coordinates
        return -(mu**2) * v / np.sqrt((mu * v) @ (mu * v) + (mu.max() * slip_speed) ** 2)

    exact = solve_ivp(lambda _, y: [*y[2:], *(g * force(y[2:]))], (0, 0.25), [0, 0, 2.0, 1.0], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(result["point"].position[-1, :2], exact.y[:2, -1], atol=2e-6)
    floor, velocity = result["floor"], result["point"].velocity[-1]
    np.testing.assert_allclose(floor.sliding_speed[-1], np.hypot(*velocity[:2]), rtol=1e-9)
    np.testing.assert_allclose(floor.friction_force[-1], [*(mass * g * force(velocity[:2])), 0.0], rtol=1e-6, atol=1e-9)


def test_a_coefficient_of_the_compliant_contact_replaces_the_ellipse():
    assert compliant(friction=FRICTION).friction_scale == (0.4, 1.0)
    assert compliant(friction=FRICTION).friction == 0.5
    contact = CARRIERS["SphereOnPlane"]({"friction": FRICTION, "restitution": 0.5})
    assert fem.CompliantContact(contact, stiffness=1.0, friction=0.3).friction_scale == (1.0, 1.0)


# --- velocities, checkpoints ------------------------------------------------------------------------------------------


def sliding_point(mu, velocity=(0.6, -0.4, 0.1)):
    model = fem.Model("slide", gravity=[0, 0, -9.81])
    point = model.add(fem.PointMass(1.0, velocity=velocity, name="point"))
    model.add(fem.SphereOnPlane(point, model.ground, radius=0.0, friction=fem.AnisotropicFriction(*mu), name="floor"))
    return model


def test_velocities_of_contacts_are_metres_per_second():
    system = sliding_point((0.2, 0.5)).compile()
    np.testing.assert_allclose(system.contact_velocities(system.initial), [[0.1, 0.6, -0.4]], rtol=1e-15)


def test_checkpoints_reject_another_ellipse(tmp_path):
    path, method = tmp_path / "run.vtkhdf", fem.DecoupledNSGA()
    method.run(sliding_point((0.2, 0.5), (0.6, -0.4, 0)), 0.04, 2e-3, save=path, checkpoint_every="10 steps")
    with pytest.raises(FemMbsError, match="SphereOnPlane"):
        fem.resume(path, 0.06, model=sliding_point((0.3, 0.5), (0.6, -0.4, 0)))
    resumed = fem.resume(path, 0.06)
    whole = method.run(sliding_point((0.2, 0.5), (0.6, -0.4, 0)), 0.06, 2e-3)
    np.testing.assert_array_equal(resumed["point"].velocity[-1], whole["point"].velocity[-1])


# --- what is rejected -------------------------------------------------------------------------------------------------

BAD = {
    "negative": (((-0.2, 0.5), {}), r"along = -0\.2"),
    "no friction": (((0.2, 0.0), {}), r"across = 0\.0 must be positive.*0\.001"),
    "far apart": (((1e-4, 0.5), {}), r"across = 0\.5 and along = 0\.0001 differ by more than a factor of 1000"),
    "three": ((((0.3, 0.2, 0.1), 0.5), {}), r"along = .*one number or \(static, sliding\)"),
    "static below": ((((0.2, 0.3), 0.5), {}), r"along = .*static must be ≥ sliding"),
    "another ratio": ((((0.3, 0.2), 0.5), {}), r"across = 0\.5 \(static, sliding\) must have the ratio.*1\.5"),
    "a table": ((0.2, [(0.0, 0.5), (1.0, 0.4)]), r"across = "),
    "not a number": ((("a", 0.5), {}), r"along = "),
    "the normal": (((0.2, 0.5, [0, 0, 1]), {}), r"axis = .*along the normal"),
    "zero": (((0.2, 0.5, [0, 0, 0]), {}), r"axis = .*is zero"),
    "two numbers": (((0.2, 0.5, [0, 1]), {}), r"axis = .*must have 3"),
    "not finite": (((0.2, 0.5, [np.nan, 0, 1]), {}), r"axis = "),
}


@pytest.mark.parametrize("case", BAD)
def test_ellipses_that_are_none_are_rejected(case):
    given, message = BAD[case]
    arguments = given[0] if isinstance(given[0], tuple) else given
    with pytest.raises(ParameterError, match=rf"AnisotropicFriction: {message}"):
        fem.AnisotropicFriction(*arguments)


def test_contacts_without_an_axis_say_which_have_one():
    a, b = body(), body()
    message = r"friction = AnisotropicFriction.*is for contacts with planes.*SphereOnPlane, BoxOnPlane"
    with pytest.raises(ParameterError, match=rf"SphereOnSphere 'pair': {message}"):
        fem.SphereOnSphere(a, b, radius_A=0.1, radius_B=0.1, friction=FRICTION, name="pair")
    with pytest.raises(ParameterError, match=message):
        fem.SphereOnBox(a, b, radius=0.1, size=[1, 1, 1], friction=FRICTION)
    with pytest.raises(ParameterError, match=message):
        fem.BoxOnBox(a, b, size_A=[1, 1, 1], size_B=[1, 1, 1], rounding=0.01, friction=FRICTION)
    with pytest.raises(ParameterError, match=rf"MaterialTable: {message}"):
        fem.MaterialTable({("a", "b"): {"friction": FRICTION}})
    with pytest.raises(ParameterError, match=message):
        fem.ContactGroup(friction=FRICTION, name="grains")
    guide = {"size": [1, 1, 1], "clearance": 1e-3, "friction": FRICTION}
    with pytest.raises(ParameterError, match=r"faces of a joint with clearance have axes of their own"):
        fem.PrismaticClearance(a, b, **guide)


def test_options_that_cannot_be_combined_with_an_ellipse_are_rejected():
    with pytest.raises(ParameterError, match=r"radius_contensou = 0\.1 cannot be combined with AnisotropicFriction"):
        CARRIERS["SphereOnPlane"]({"friction": FRICTION, "radius_contensou": 0.1})
    with pytest.raises(ParameterError, match="stribeck_speed"):
        CARRIERS["SphereOnPlane"]({"friction": FRICTION, "stribeck_speed": 0.1})
    pairs = fem.AnisotropicFriction((0.3, 0.2), (0.75, 0.5))
    assert pairs.scale == pytest.approx((0.4, 1.0)) and pairs.isotropic == (0.75, 0.5)
    contact = CARRIERS["SphereOnPlane"]({"friction": pairs, "stribeck_speed": 0.1})
    assert (contact.static_friction, contact.friction) == (0.75, 0.5)
    with pytest.raises(ParameterError, match="static and sliding friction"):
        fem.CompliantContact(contact, stiffness=1.0, restitution=0.5)
