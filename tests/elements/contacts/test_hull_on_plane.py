"""Hulls on planes as contact elements: boxes compared with BoxOnPlane, all time steppers, joints, refusals."""

import itertools

import numpy as np
import pytest

import fem_mbs as fem

CORNERS = np.array(list(itertools.product([-0.5, 0.5], repeat=3)))
SIZE, H = np.array([0.3, 0.2, 0.1]), 1e-3


def brick(kind, rounding, **law):
    """A tilted brick over a plane, its contacts by a box or by a hull of its corners and some points inside."""
    model = fem.Model("brick", gravity=[0, 0, -9.81])
    body = model.add(fem.RigidBody.box(2.0, SIZE, position=[0, 0, 0.2], rotation=[0.3, 0.2, 0.1], name="brick"))
    if kind == "box":
        model.add(fem.BoxOnPlane(body, model.ground, size=SIZE, rounding=rounding, name="floor", **law))
    else:
        points = np.vstack([SIZE * CORNERS, 0.2 * SIZE * CORNERS])
        model.add(fem.HullOnPlane(body, model.ground, points=points, rounding=rounding, name="floor", **law))
    return model


@pytest.mark.parametrize("rounding", [0.0, 5e-3])
def test_the_hull_of_a_box_has_the_contacts_of_the_box(rounding):
    found = []
    for kind in ("box", "hull"):
        contacts = [element for element in brick(kind, rounding).elements if element.role == "contact"]
        assert [c.radius for c in contacts] == [rounding] * 8
        found.append(np.array(sorted(tuple(np.round(c.record[0], 12)) for c in contacts)))
    assert found[0] == pytest.approx(found[1], abs=1e-12)


@pytest.mark.parametrize(
    "stepper",
    [
        fem.DecoupledNSGA,
        fem.MoreauJean,
        fem.ConeComplementarity,
        fem.NonsmoothGeneralizedAlphaGGL,
        fem.NonsmoothGeneralizedAlphaFriction,
    ],
)
def test_a_brick_falls_to_rest_on_its_face_with_every_stepper(stepper):
    law = {} if stepper is fem.NonsmoothGeneralizedAlphaGGL else {"friction": 0.4}
    result = stepper().run(brick("hull", 5e-3, **law), 1.0, H)
    assert result["brick"].position[-1, 2] == pytest.approx(0.05, abs=1e-4)
    assert np.linalg.norm(result["brick"].velocity[-1, 2:]) < 1e-4
    total = result.energy.total
    assert np.diff(total).max() < 1e-2 * total[0]


def test_a_hull_on_a_hinged_body_comes_to_rest_on_the_plane():
    """A pendulum with a wedge at its end, which groups do not support: its lowest corner ends on the plane."""
    model = fem.Model("hammer", gravity=[0, 0, -9.81])
    head = fem.convex_parts([[[-0.1, -0.1, 0], [0.1, -0.1, 0], [0, 0.1, 0], [0, 0, 0.15]]])
    body = model.add(fem.RigidBody.from_mesh(head, 2000.0, position=[0.5, 0, 0.5], name="head"))
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0.5], [0, 1, 0], name="hinge", damping=1.0))
    plane = model.ground.frame([0, 0, 0.2])
    model.add(fem.HullOnPlane(body.mesh_frame, plane, points=head.points, rounding=1e-3, name="floor"))
    result = fem.DecoupledNSGA().run(model, 2.0, H)
    gaps = np.array([result[f"floor {k}"].gap for k in range(1, 5)])
    assert gaps.min() > -1e-9
    assert np.abs(gaps[:, -1]).min() < 1e-6 and np.linalg.norm(result["head"].velocity[-1]) < 1e-3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"points": CORNERS[:3]}, "needs four"),
        ({"points": CORNERS[:4]}, "in one plane"),
        ({"points": CORNERS, "rounding": -1.0}, "rounding"),
        ({"points": CORNERS, "rounding": 0.6}, r"rounding = .*ball inside, 0\.5 m"),
        ({"points": CORNERS, "friction": -0.1}, "friction"),
    ],
)
def test_what_is_no_hull_is_rejected(options, words):
    with pytest.raises(fem.ParameterError, match=words):
        fem.HullOnPlane(fem.RigidBody(1.0, 0.1), fem.Model().ground, name="floor", **options)
