"""Hulls compared with closed answers: the motion of a box, the fall of a domino, rest in a groove."""

import numpy as np
import pytest
from scipy.integrate import quad
from stones import CUBE, put_stone, world

import fem_mbs as fem

STEPPERS = {"nsga": fem.DecoupledNSGA, "moreau": fem.MoreauJean}


@pytest.mark.parametrize("name", STEPPERS)
def test_the_hull_of_a_box_moves_as_the_box(name):
    """A brick that is thrown tumbles on the floor, hits, rubs and comes to rest."""
    sides, ways = np.array([0.2, 0.3, 0.12]), []
    for kind in ("box", "hull"):
        model, group = world(friction=0.4, restitution=0.2)
        start = {"position": [0, 0, 0.3], "rotation": [0.3, 0.2, 0.1], "angular_velocity": [1.0, -2.0, 0.5]}
        body = model.add(fem.RigidBody.box(7.2, sides, **start, name="brick"))
        if kind == "box":
            group.box(body, sides, 3e-3)
        else:
            group.hull(body, sides * CUBE, 3e-3)
        result = STEPPERS[name](contact_tolerance=1e-12).run(model, t_end=1.0, h=1e-3)
        ways.append(np.concatenate([result["brick"].position, result["brick"].quaternion], axis=1))
    assert np.abs(ways[0][-1] - ways[0][0]).max() > 0.1
    assert np.abs(ways[1] - ways[0]).max() < 1e-9  # 5e-12 measured
    assert (np.abs(ways[0][500:] - ways[0][500]) < 1e-12).all()  # at rest, with restitution


DOMINO, ROUNDING, G = np.array([0.02, 0.06, 0.12]), 1e-3, 9.81


class Falling:
    """A box that turns over a rounded edge, which rolls on the floor: one coordinate, the angle; per unit of mass."""

    def __init__(self):
        corner = DOMINO[[0, 2]] / 2 - ROUNDING
        self.arm, self.lean = np.hypot(*corner), np.arctan2(*corner)
        self.own = (DOMINO[0] ** 2 + DOMINO[2] ** 2) / 12

    def inertia(self, angle):
        return self.own + self.arm**2 + ROUNDING**2 + 2 * ROUNDING * self.arm * np.cos(angle - self.lean)

    def height(self, angle):
        """Of the centre above that at the start."""
        return self.arm * (np.cos(angle - self.lean) - np.cos(self.lean))

    @property
    def least_rate(self):
        """With which it just gets over its edge."""
        return np.sqrt(2 * G * self.height(self.lean) / self.inertia(0.0))

    def time_to(self, end, rate):
        energy = self.inertia(0.0) * rate**2

        def slowness(angle):
            return np.sqrt(self.inertia(angle) / (energy - 2 * G * self.height(angle)))

        return quad(slowness, 0.0, end)[0]


def angles(rate, h, t_end):
    """Times and angles of a domino that is kicked, without jump, about its edge in front."""
    model, group = world(friction=5.0)
    domino = fem.RigidBody.box(1.0, DOMINO, position=[0, 0, DOMINO[2] / 2], name="domino")
    domino.node.angular_velocity[:] = [0, rate, 0]
    domino.node.velocity[:] = np.cross([0, rate, 0], [ROUNDING - DOMINO[0] / 2, 0, DOMINO[2] / 2])
    group.hull(model.add(domino), DOMINO * CUBE, ROUNDING)
    result = fem.DecoupledNSGA(contact_tolerance=1e-8).run(model, t_end=t_end, h=h)
    R = result["domino"].rotation
    return result.t, np.arctan2(R[:, 0, 2], R[:, 2, 2])


def test_a_domino_needs_the_time_of_the_integral_to_fall():
    """Steps with contacts are of first order: 0.67, 0.33, 0.17 % too slow, and right in the limit."""
    end, falling = np.radians(70), Falling()
    rate = 1.2 * falling.least_rate
    expected, errors = falling.time_to(end, rate), []
    for h in (1e-3, 5e-4):
        t, angle = angles(rate, h, 1.1 * expected)
        errors.append(np.interp(end, angle[: np.argmax(angle)], t[: np.argmax(angle)]) / expected - 1)
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1) and abs(errors[1]) < 5e-3
    assert abs(2 * errors[1] - errors[0]) < 5e-4, errors


@pytest.mark.parametrize("share", [0.98, 1.02])
def test_a_domino_falls_if_its_energy_takes_it_over_its_edge(share):
    _, angle = angles(share * Falling().least_rate, 5e-4, 1.0)
    if share > 1:
        assert angle[-1] == pytest.approx(np.pi / 2, abs=1e-3)
    else:
        assert angle.max() < Falling().lean and abs(angle[-1]) < 0.05


def test_a_prism_in_a_groove_is_carried_along_both_normals():
    """Two fixed wedges at 45° without friction: both press with m g/√2, and their horizontal parts cancel."""
    model, group = world(friction=0.0, floor=False)
    for side in (-1, 1):
        section = [[0.02, 0.0], [0.42, 0.0], [0.42, 0.4]]
        points = np.array([[side * x, y, z] for x, z in section for y in (-0.3, 0.3)])
        fixed, centre = ("x", "y", "z", "rx", "ry", "rz"), points.mean(axis=0)
        put_stone(model, group, points - centre, position=centre, fixed=fixed, name=f"wedge {side}")
    angle = (np.arange(8) + 0.5) * np.pi / 4
    points = 0.1 * np.array([[np.cos(a), y, np.sin(a)] for a in angle for y in (-1, 1)])
    rest = 0.1 * np.cos(np.pi / 8) * np.sqrt(2) - 0.02  # of the axis: faces lie on slopes
    body = put_stone(model, group, points, position=[0.0, 0.0, rest + 1e-3], name="prism")
    result = fem.DecoupledNSGA(contact_tolerance=1e-8).run(model, t_end=0.5, h=1e-3)
    assert result["prism"].position[-1] == pytest.approx([0, 0, rest], abs=5e-6)
    pressed = np.abs(result.pairs(-1).impulse).sum(axis=0) / 1e-3
    assert pressed == pytest.approx([body.mass * 9.81, 0, body.mass * 9.81], rel=1e-6, abs=1e-9)
