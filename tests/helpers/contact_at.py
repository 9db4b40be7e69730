"""Kinematics of one contact at given poses, for tests that state what a gap or a slip must be."""

import numpy as np

from fem_mbs.rotations import as_matrix, exp
from fem_mbs.verify import Evaluator, Point


class Kinematics:
    """Calls the kernel ``contact`` of an element; poses are lists of (position, rotation), one per node."""

    def __init__(self, element):
        self.call, self.sizes = Evaluator(element), element.sizes

    def __call__(self, end, start=None):
        """Outputs at the poses ``end`` of a step that began at ``start`` (default: there)."""
        point = Point()
        for suffix, poses in (("", end), ("0", end if start is None else start)):
            setattr(point, "x" + suffix, np.array([x for x, _ in poses], float))
            setattr(point, "R" + suffix, np.array([as_matrix(R) for _, R in poses]))
        nd = self.sizes["nd"]
        point.v, point.a, point.s = np.zeros(nd), np.zeros(nd), np.zeros((0, 3))
        point.gravity, point.lam, point.state, point.t = np.zeros(3), np.zeros(0), np.zeros(self.sizes["nq"]), 0.0
        if self.call.has("initial"):
            point.state = self.call("initial", point)["state"]
        return self.call("contact", point)

    def slip(self, end, start):
        return self(end, start)["slip"]


def slip_order(element, path, velocity, halvings=4, axes=None):
    """Observed order of the slip over a step [0, h] against ∫ V_T v dt, and its errors.

    ``path(t)`` gives the poses of all nodes, ``velocity(t)`` the nodal velocities (nd,). The integral is taken in the
    axes in which the tangents follow the normal, ``axes(t)`` (default: those of the second node), by the midpoint rule
    over 64 parts; what has been added up follows the normal.
    """
    kinematics, errors, steps = Kinematics(element), [], [0.2 / 2**k for k in range(halvings)]

    def turned(t):
        return as_matrix(path(t)[1][1] if axes is None else axes(t))

    def normal(t):
        return turned(t).T @ kinematics(path(t))["normal"]

    for h in steps:
        n, exact = 64, np.zeros(3)
        for k in range(n):
            middle, following = (k + 0.5) * h / n, min((k + 1.5) * h / n, h)
            out = kinematics(path(middle))
            exact = exact + turned(middle).T @ out["tangents"].T @ out["V_T"] @ velocity(middle) * h / n
            n0, n1 = normal(middle), normal(following)
            exact = exact - (exact @ n1) / (1 + n0 @ n1) * (n0 + n1)
        end = kinematics(path(h), path(0))
        errors.append(np.linalg.norm(end["slip"] - end["tangents"] @ turned(h) @ exact))
    return np.polyfit(np.log(steps), np.log(errors), 1)[0], errors


def rigid_motion_seen(element, rng):
    """Largest rate that the rows of a contact give to a common rigid motion of its bodies, in a random step.

    It must vanish to round-off: then the contact's forces on all bodies balance, with their moments.
    """
    nodes = element.sizes["nn"]
    start = [(rng.normal(size=3), exp(rng.normal(size=3))) for _ in range(nodes)]
    end = [(x + 0.02 * rng.normal(size=3), R @ exp(0.02 * rng.normal(size=3))) for x, R in start]
    out = Kinematics(element)(end, start)
    drift, spin = rng.normal(size=3), rng.normal(size=3)
    field = np.concatenate([[*(drift + np.cross(spin, x)), *(R.T @ spin)] for x, R in end])
    return max(np.abs(out[name] @ field).max() for name in ("G_N", "V_T", "W"))
