"""`DecoupledNSGA` with restitution: few and many spheres, Gauss-Seidel and assembled solver, give one motion.

The solver changes at 50 spheres with restitution: both hand impacts on.
"""

import numpy as np
import pytest

import fem_mbs as fem

G, H, R = 9.81, 1e-3, 0.05
SOLVERS = [(49, "auto"), (51, "auto"), (49, "problem")]


def run(bodies, count, contact_solver, t_end, *, gravity=0.0, **law):
    """Spheres with given positions and velocities, others far away at rest up to a count; their motion."""
    model, group = fem.Model("group", gravity=[0, 0, -gravity]), fem.ContactGroup(name="group", **law)
    far = [([0.5 * (k % 8), 50 + 0.5 * (k // 8), R], [0, 0, 0]) for k in range(count - len(bodies))]
    for k, (place, speed) in enumerate(bodies + far):
        body = fem.RigidBody.sphere(1.0, R, position=place, velocity=speed, name=f"body {k}")
        group.sphere(model.add(body), R)
    if gravity > 0.0:
        group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = fem.DecoupledNSGA(contact_solver=contact_solver).run(model, t_end, H)
    assert ("contact_sweeps" in result.statistics) == (contact_solver == "auto" and count >= 50)
    end = result.rows([-1])
    return end["position"][0, 1 : len(bodies) + 1], end["velocity"][0, 1 : len(bodies) + 1]


def row(count, moving, gap=0.0):
    """Spheres in a row, of which the first ones fly at the others with 1 m/s."""
    return [
        ([(2 * R + gap) * k - (0.0105 if k < moving else 0.0), 0, 0], [1.0 if k < moving else 0.0, 0, 0])
        for k in range(count)
    ]


@pytest.mark.parametrize(
    ("count", "moving", "gap", "restitution"),
    [(5, 1, 0.0, 0.9), (5, 1, 3e-7, 0.9), (3, 1, 0.0, 0.5), (5, 2, 0.0, 1.0), (5, 1, 2e-3, 0.9)],
)
def test_rows_hand_an_impact_on_whatever_the_number_of_bodies(count, moving, gap, restitution):
    """Touching, within the band of closed gaps, and with gaps that close one after the other."""
    ends = [run(row(count, moving, gap), *solver, 0.05, restitution=restitution)[1] for solver in SOLVERS]
    # ten times the error of 1e-6 to which both solve problems of few bodies, for the sum of a few of these
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-5)
    assert ends[0][-1, 0] > 0.5


def test_balls_in_a_triangle_break_alike():
    """The cue ball stops 6 mm before the apex or touches it, in a step of 5 mm; friction changes 0.6 mm/s a step."""
    places = [[np.sqrt(3) * R * row, R * (2 * k - row), R] for row in range(4) for k in range(row + 1)]
    bodies = [([-0.3003, 0, R], [5.0, 0, 0]), *((place, [0, 0, 0]) for place in places)]
    law = {"friction": 0.06, "restitution": 0.93, "gravity": G}
    ends = [run(bodies, *solver, 0.06, **law)[1] for solver in SOLVERS]
    # impacts are a step of 5 mm earlier or later, and normals of later ones rotate: 0.014 m/s of 5 m/s, of first order
    np.testing.assert_allclose(ends[1], ends[0], atol=0.02)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-5 * 5.0)
    assert np.abs(ends[0][0, 0]) < 2.0  # the cue ball was thrown back with 3.5 m/s by a rigid triangle


def test_a_column_under_a_falling_ball_comes_to_rest_alike():
    bodies = [([0, 0, R + 2 * R * k], [0, 0, 0]) for k in range(3)] + [([0, 0, 7 * R + 0.1], [0, 0, 0])]
    ends = [run(bodies, *solver, 0.5, gravity=G, friction=0.3, restitution=0.5) for solver in SOLVERS]
    for position, velocity in ends:
        # overlaps of 1e-6 and closed gaps of 1e-5 of the diameter of 0.1 m, at four contacts
        assert position[:, 2] == pytest.approx([0.05, 0.15, 0.25, 0.35], abs=4e-6)
        assert np.abs(velocity).max() < 1e-6
