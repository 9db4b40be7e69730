"""Stops of a coordinate of a joint: rigid ones are contacts with impacts, compliant ones forces.

With ξ a coordinate (unwrapped), G and H its derivatives (`joints.coordinates.kernels`), a rigid stop is the gap

    lower: gap = ξ − ξ_min        upper: gap = ξ_max − ξ        G_N = ±G ,  ∂G_N/∂q = ±H                           (1)

without sliding. A compliant one presses with (Hunt and Crossley), δ = −gap > 0,

    N = k δ (1 + d δ̇) ,   N ≥ 0 ,      f = ±Gᵀ N ,      V = ½ k δ²                                                (2)

continuous at the touch. With a constant inertia the speeds before and after, v and e v, are related by

    d v − ln(1 + d v) = −d e v − ln(1 − d e v) ,     e ≈ 1 − ⅔ d v for small d v                                   (3)

Source: docs/theory/joints.md, (14), (15); Hunt and Crossley, J. Appl. Mech. 42 (1975) 440.

    symbol      code             shape   unit            meaning
    ξ_max       p.limit          ()      rad or m        position of a rigid stop
    ±           p.side           ()      -               +1: lower stop, −1: upper stop
    k, d        p.stiffness, …   ()      N m/rad, s/rad  of a compliant stop (N/m, s/m of a slide)
    θ_n         state[0]         ()      rad             last angle
"""

from typing import Any

import numpy as np

from fem_mbs.element.base import Force, register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.joints.coordinates.coordinates import (
    COORDINATE,
    JointCoordinate,
    check_limits,
    coordinate_of,
    random_coordinate,
    regular_angle,
    warn_of_degrees,
)
from fem_mbs.elements.joints.coordinates.joint_spring import add_tangents, value_and_rate
from fem_mbs.elements.joints.coordinates.kernels import (
    TURN_Z,
    coordinate_gradient,
    coordinate_hessian,
    coordinate_value,
    count,
    first,
)
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import rotate

# Of (1), for `fem_mbs.system.far_contacts`. An angle is the direction of a vector of Q in a plane of P, at least 0.9
# long there. Where both bodies rotate by φ ≤ 0.5 rad it changes by asin(sin φ/0.9) ≤ 1.18 φ at most. A slide u·r, r
# from P to Q, changes by |Δr| + φ_A |r|.
STEEPEST = 1.2
RIGID = np.dtype([("limit", "f8"), ("side", "f8"), *COORDINATE.descr])
COMPLIANT = np.dtype([("lower", "f8"), ("upper", "f8"), ("stiffness", "f8"), ("damping", "f8"), *COORDINATE.descr])


@kernel
def contact(p, x_A, R_A, x_B, R_B, state, rows):
    """Gap (1) and its gradient; the axes are the inertial ones, whose directions are not used."""
    G = local_vector(12)
    value = coordinate_gradient(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B, G)
    rows.gap[0] += p.side * (value - p.limit)
    for j in range(12):
        rows.G_N[j] += p.side * G[j]
    rows.tangents[0, 0] += 1.0
    rows.tangents[1, 1] += 1.0
    rows.normal[2] += 1.0
    rotate(R_B, p.p_BQ, G[0:3])
    for i in range(3):
        rows.point[i] += x_B[i] + G[i]
        for j in range(3):  # ω_A − ω_B
            rows.W[i, 3 + j] += R_A[i, j]
            rows.W[i, 9 + j] -= R_B[i, j]


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q of (1) to H_N (12, 12)."""
    H = local_matrix(12, 12)
    coordinate_hessian(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H)
    for i in range(12):
        for j in range(12):
            H_N[i, j] += p.side * H[i, j]


# --- compliant ------------------------------------------------------------------------------------------------------


@kernel
def pressing(p, value, rate):
    """−N of (2) along the coordinate (positive at the upper stop), and its derivatives by value and rate."""
    if value > p.upper:
        depth, sign = value - p.upper, 1.0
    elif value < p.lower:
        depth, sign = p.lower - value, -1.0
    else:
        return 0.0, 0.0, 0.0
    factor = 1.0 + p.damping * sign * rate
    if factor <= 0.0:
        return 0.0, 0.0, 0.0
    return sign * p.stiffness * depth * factor, p.stiffness * factor, p.stiffness * p.damping * depth


@kernel
def force(p, x_A, R_A, x_B, R_B, v, state, f):
    """Add (2) to f (12,)."""
    G = local_vector(12)
    value, rate = value_and_rate(p, x_A, R_A, x_B, R_B, v, state[0], G)
    effort, _, _ = pressing(p, value, rate)
    if effort != 0.0:
        for j in range(12):
            f[j] -= effort * G[j]


@kernel
def force_tangent(p, x_A, R_A, x_B, R_B, v, state, K, C):
    """Add the tangents of (2) to K and C (12, 12)."""
    G, H = local_arrays("12, 12 12")
    value, rate = value_and_rate(p, x_A, R_A, x_B, R_B, v, state[0], G)
    effort, stiffness, damping = pressing(p, value, rate)
    if stiffness != 0.0:
        coordinate_hessian(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H)
        add_tangents(effort, stiffness, damping, G, H, v, K, C)


@kernel
def energy_stop(p, x_A, R_A, x_B, R_B, state):
    """Potential V of (2) [J]."""
    value = coordinate_value(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)
    depth = max(value - p.upper, p.lower - value, 0.0)
    return 0.5 * p.stiffness * depth * depth


@kernel
def output(p, x_A, R_A, x_B, R_B, v, state, out):
    """Coordinate and effort."""
    G = local_vector(12)
    value, rate = value_and_rate(p, x_A, R_A, x_B, R_B, v, state[0], G)
    out[0] += value
    out[1] -= pressing(p, value, rate)[0]


class JointStop(Contact):
    """A rigid stop on one side of a coordinate of a joint; usually made by the joint, with ``stops=Stops(…)``.

    Parameters
    ----------
    joint : Joint
        One that rotates or slides.
    limit : float [rad or m]
        Value of the coordinate at the stop, unwrapped (multi-turn).
    side : {"lower", "upper"}
        Whether the coordinate stays above or below it.
    restitution : float, 0 … 1, or a law of the approach speed as of a `Contact`, -
    coordinate : str, optional
        Name of the coordinate where the joint has several.
    name : str, optional

    Outputs
    -------
    Those of a `Contact`; of an angle gap is in rad, and ``force_normal`` and ``impulse`` are a moment [N m] and its
    impulse [N m s], as on an arm of 1 m. The direction ``normal`` has no meaning.

    Raises
    ------
    ParameterError
        No such coordinate; the joint is beyond the stop at the start; restitution out of range.
    """

    n_state = 1
    parameters = RIGID
    kernels = {"contact": contact, "contact_hessian": contact_hessian, "initial": first, "accept": count}
    where = "on which side of the limit the coordinate begins"
    regular = regular_angle
    reach = np.inf  # a gap that is an angle has no way on which it could be swept
    two_sided = False  # the gap is that of a coordinate

    def __init__(
        self,
        joint: Any,
        *,
        limit: float,
        side: str,
        restitution: Any = 0.0,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        along = coordinate_of(self, "joint", joint, coordinate)
        self.joint = joint
        super().__init__(joint.nodes, restitution=restitution, name=name)
        self.side = self.as_choice("side", side, ("lower", "upper"))
        self.limit = self.number("limit", limit, along.unit)
        warn_of_degrees(self, along, self.limit)
        sign = 1.0 if side == "lower" else -1.0
        beyond = -sign * (along.start - self.limit)
        self.check(
            beyond <= 1e-9 * max(1.0, abs(self.limit)),
            "limit",
            limit,
            f"{along.unit} is a stop on the {side} side, and the joint starts {beyond:.6g} {along.unit} beyond it, at "
            f"{along.name} = {along.start:.6g} {along.unit}",
        )
        self.record = (self.limit, sign, *along.record)
        self.gap_slopes = self._gap_slopes(along)

    def _gap_slopes(self, along):
        """Those of `Contact`; None for an angle of a vector that does not lie in its plane."""
        kind, p_P, R_P, p_Q, R_Q = along.record
        if not along.turns:
            return 1.0, 2.0 * float(np.linalg.norm(p_P) + np.linalg.norm(p_Q))
        first, second = (node.rotation for node in self.nodes)
        products = (first @ R_P).T @ (second @ R_Q)
        plane = products[:2, 0] if kind == TURN_Z else products[2, 1:]
        return (0.0, STEEPEST) if np.linalg.norm(plane) > 0.999 else None


class JointBumper(Force):
    """Compliant stops on both sides of a coordinate of a joint; usually made by the joint, with ``stops=Stops(…)``.

    Parameters
    ----------
    joint : Joint
        One that rotates or slides.
    lower, upper : float [rad or m], optional
        Values of the coordinate at which they begin to press; at least one.
    stiffness : float > 0 [N m/rad or N/m]
    damping : float ≥ 0 [s/rad or s/m]
        d of N = k δ (1 + d δ̇): the rebound has about 1 − ⅔ d v of the speed v.
    coordinate : str, optional
        Name of the coordinate where the joint has several.
    name : str, optional

    Outputs
    -------
    value : [rad or m], the coordinate, unwrapped (multi-turn)
    effort : [N m or N], on the second body along the coordinate: positive from the lower stop

    Raises
    ------
    ParameterError
        No such coordinate, no limit, lower ≥ upper, stiffness not positive, damping negative.
    """

    n_state = 1
    abrupt = True
    parameters = COMPLIANT
    kernels = {
        "force": force,
        "force_tangent": force_tangent,
        "energy": energy_stop,
        "initial": first,
        "accept": count,
        "output": output,
    }

    def __init__(
        self,
        joint: Any,
        *,
        stiffness: float,
        lower: float | None = None,
        upper: float | None = None,
        damping: float = 0.0,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        along: JointCoordinate = coordinate_of(self, "joint", joint, coordinate)
        self.joint = joint
        super().__init__(joint.nodes, name=name)
        limits = check_limits(self, lower, upper, along.unit)
        self.lower, self.upper = limits
        warn_of_degrees(self, along, *limits)
        self.stiffness = self.positive("stiffness", stiffness, f"{along.effort}/{along.unit}")
        self.damping = self.positive("damping", damping, f"s/{along.unit}", allow_zero=True)
        self.viscous = self.damping > 0.0
        self.outputs = {"value": (1, along.unit), "effort": (1, along.effort)}
        far = 1e300  # a limit that is not given
        ends = (-far if limits[0] is None else limits[0], far if limits[1] is None else limits[1])
        self.record = (*ends, self.stiffness, self.damping, *along.record)

    def regular(self, point: Any) -> bool:
        """True if a configuration of `fem_mbs.verify` is off the touch, and a closed stop does not open."""
        G, record = np.zeros(12), self.record[4:]
        value = coordinate_gradient(*record, 0.0, point.x[0], point.R[0], point.x[1], point.R[1], G)
        ends = np.array([value - self.record[0], value - self.record[1]])
        off = np.abs(ends).min() > 0.05 * point.size and abs(self.damping * (G @ point.v)) < 0.8
        return bool(off) and regular_angle(self, point)


def _example_stop(rng, a, b):
    joint, coordinate = random_coordinate(rng, a, b)
    if rng.integers(2):
        return JointStop(joint, limit=rng.uniform(-20.0, -10.0), side="lower", coordinate=coordinate)
    return JointStop(joint, limit=rng.uniform(10.0, 20.0), side="upper", coordinate=coordinate)


def _example_bumper(rng, a, b):
    joint, coordinate = random_coordinate(rng, a, b)
    limits = {"lower": -0.1 * rng.uniform(), "upper": 0.1 * rng.uniform()}
    law = {"stiffness": rng.uniform(0.5, 2.0), "damping": 0.02 * rng.uniform()}
    return JointBumper(joint, coordinate=coordinate, **limits, **law)


register(JointStop, example=_example_stop)
register(JointBumper, example=_example_bumper)
