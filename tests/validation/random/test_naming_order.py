"""Which of two moving bodies a contact names first does not matter: all types of contact that can be written both ways.

Rough spinning bodies have glancing impacts, with gaps at the end of the steps in which they meet. Bodies of one kind
are 2 m from those of the others and never meet them.
"""

import numpy as np
import pytest

import fem_mbs as fem

LAW = {"restitution": 0.5, "friction": 0.3}
H, STEPS = 1e-3, 20
WEDGE = np.array([[-1.0, -1.0, -0.5], [2.0, -1.0, -0.5], [-1.0, 1.0, -0.5], [-1.0, -1.0, 1.5]])
BRICK = np.array([2.0, 1.6, 1.2])


def spheres(A, B, sizes):
    return fem.SphereOnSphere(A, B, radius_A=sizes[0], radius_B=sizes[1], name="spheres", **LAW)


def soft_spheres(A, B, sizes):
    contact = fem.SphereOnSphere(A, B, radius_A=sizes[0], radius_B=sizes[1], friction=0.3, restitution=0.5)
    return fem.CompliantContact(contact, stiffness=1e5, name="soft spheres")


def capsules(A, B, sizes):
    ends = [(body.frame([-0.15, 0, 0]), body.frame([0.15, 0, 0])) for body in (A, B)]
    return fem.CapsuleOnCapsule(*ends, radius_A=0.5 * sizes[0], radius_B=0.5 * sizes[1], name="capsules", **LAW)


def boxes(A, B, sizes, edges=True):
    outlines = {"size_A": sizes[0] * BRICK, "size_B": sizes[1] * BRICK}
    return fem.BoxOnBox(A, B, **outlines, rounding=0.01, edges=edges, name="boxes" if edges else "corners", **LAW)


def corners(A, B, sizes):
    return boxes(A, B, sizes, edges=False)


def hulls(A, B, sizes):
    points = {"points_A": sizes[0] * WEDGE, "points_B": sizes[1] * WEDGE}
    return fem.HullOnHull(A, B, **points, rounding=0.01, name="hulls", **LAW)


APART = {spheres: 0.23, soft_spheres: 0.23, capsules: 0.12, boxes: 0.21, corners: 0.21, hulls: 0.09}  # m


def bodies(model, kind, height):
    """Two bodies that fly at each other, a distance apart at which they nearly touch."""
    name = kind.__name__
    yield model.add(
        fem.RigidBody(
            0.2, [4e-4, 5e-4, 6e-4], position=[0, 0, height], rotation=[0.3, 0.2, 0.1], velocity=[0.3, 0, 2.0],
            angular_velocity=[5, 2, 6], name=f"{name} a",
        )
    )  # fmt: skip
    yield model.add(
        fem.RigidBody(
            0.3, [7e-4, 8e-4, 6e-4], position=[0.02, 0.03, height + APART[kind]], rotation=[-0.2, 0.5, 1.2],
            velocity=[0, 0.1, -0.5], angular_velocity=[-3, 2, 4], name=f"{name} b",
        )
    )  # fmt: skip


def pairs(swapped):
    model, order = fem.Model("pairs"), -1 if swapped else 1
    for k, kind in enumerate(APART):
        both = list(bodies(model, kind, 2.0 * k))
        model.add(kind(*both[::order], (0.1, 0.12)[::order]))
    return model


METHODS = {
    "moreau": fem.MoreauJean(),
    "cone": fem.ConeComplementarity(),
    "lobatto": fem.LobattoIIIAB(stages=2),
    "lobatto of three stages": fem.LobattoIIIAB(stages=3),
    "nsga": fem.DecoupledNSGA(),
    "split": fem.DecoupledNSGA(impacts="split"),
    "ggl": fem.NonsmoothGeneralizedAlphaGGL(),
    "friction": fem.NonsmoothGeneralizedAlphaFriction(),
}
ALLOWED = 1e-11  # m, m/s, and 100 times that in rad, rad/s: round-off (largest seen: 7e-13, 4e-11)


@pytest.mark.parametrize("name", METHODS)
def test_runs_are_the_same_whichever_body_is_named_first(name):
    first, second = (METHODS[name].run(pairs(swapped), STEPS * H, H) for swapped in (False, True))
    for kind in APART:
        for body in (f"{kind.__name__} a", f"{kind.__name__} b"):
            speeds = first[body].velocity
            assert np.abs(speeds[-1] - speeds[0]).max() > 0.1, f"{body} did not meet the other"
            # poses too: forces before the end of a step move bodies, while the end may give them the same velocities
            for quantity, scale in (("position", 1), ("velocity", 1), ("rotation", 100), ("angular_velocity", 100)):
                difference = getattr(first[body], quantity) - getattr(second[body], quantity)
                assert np.abs(difference).max() < scale * ALLOWED, f"{quantity} of {body}"


def group(shape, swapped):
    """The bodies of `pairs` in a contact group, which finds their contacts itself."""
    model, contacts = fem.Model("group"), fem.ContactGroup(**LAW, name="contacts")
    for size, body in list(zip((0.1, 0.12), bodies(model, SHAPES[shape][0], 0.0)))[:: -1 if swapped else 1]:
        SHAPES[shape][1](contacts, body, size)
    model.add(contacts)
    return model


SHAPES = {
    "spheres": (spheres, lambda contacts, body, size: contacts.sphere(body, size)),
    "capsules": (capsules, lambda contacts, body, size: contacts.capsule(body, 0.5 * size, 0.3, axis=[1, 0, 0])),
    "boxes": (boxes, lambda contacts, body, size: contacts.box(body, size * BRICK, 0.01)),
}


@pytest.mark.parametrize("name", ["moreau", "nsga", "cone"])
@pytest.mark.parametrize("shape", SHAPES)
def test_runs_are_the_same_in_whichever_order_bodies_join_a_group(shape, name):
    method = type(METHODS[name])(contact_tolerance=1e-10)
    first, second = (method.run(group(shape, swapped), STEPS * H, H) for swapped in (False, True))
    for body in ("a", "b"):
        one, other = (run[f"{SHAPES[shape][0].__name__} {body}"] for run in (first, second))
        assert np.abs(one.velocity[-1] - one.velocity[0]).max() > 0.1
        assert np.abs(one.velocity - other.velocity).max() < 1e-7
        assert np.abs(one.angular_velocity - other.angular_velocity).max() < 1e-5
