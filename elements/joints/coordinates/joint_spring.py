"""Spring and damper along a coordinate of a joint, linear or with any characteristic.

With ξ a coordinate (unwrapped), G its gradient and H its second derivatives (`joints.coordinates.kernels`):

    M = S(ξ − ξ_0) + D(G v)      f = −Gᵀ M      V = ∫_0^(ξ−ξ_0) S                                                  (1)
    K = Gᵀ(S' G + D' vᵀH) + M H        C = D' Gᵀ G                                                                 (2)

S and D are numbers (S = k x), tables or functions, see `forces.curve`.

Source: docs/theory/springs_and_loads.md, (4), (5); H and (2) checked by differences.

    symbol   code              shape     unit        meaning
    S, D     table_at, …       (n, 6)    N m or N    characteristics of deflection and of rate, rows of `forces.curve`
    ξ_0      p.rest            ()        rad or m    where the spring has no force
    θ_n      state[0]          ()        rad         last angle; that of the start is the one nearest to p.near
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import BetweenFrames, Force, Joint, register
from fem_mbs.elements.forces.curve import Law, curve_values
from fem_mbs.elements.joints.coordinates.coordinates import COORDINATE, coordinate_of, random_coordinate, regular_angle
from fem_mbs.elements.joints.coordinates.kernels import (
    TURN_Z,
    coordinate_gradient,
    coordinate_hessian,
    coordinate_value,
    count,
)
from fem_mbs.elements.joints.rows import check_parallel, random_joint
from fem_mbs.jit import address, kernel, local_arrays, local_vector

PARAMETERS = np.dtype(
    [("table_at", "i8"), ("pieces", "i8"), ("damping_at", "i8"), ("damping_pieces", "i8"), ("rest", "f8")]
    + [("near", "f8"), *COORDINATE.descr]
)


@kernel
def first_near(p, x_A, R_A, x_B, R_B, state):
    """Angle at the start: the one nearest to p.near."""
    state[0] = p.near
    count(p, x_A, R_A, x_B, R_B, state)


@kernel
def value_and_rate(p, x_A, R_A, x_B, R_B, v, near, G):
    """Coordinate and its rate; fills its gradient G (12,)."""
    value, rate = coordinate_gradient(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, near, x_A, R_A, x_B, R_B, G), 0.0
    for j in range(12):
        rate += G[j] * v[j]
    return value, rate


@kernel
def add_tangents(effort, stiffness, damping, G, H, v, K, C):
    """Add K and C (12, 12) of (2) for S' and D' = stiffness and damping."""
    for j in range(12):
        vH = 0.0
        for i in range(12):
            vH += v[i] * H[i, j]
        for i in range(12):
            K[i, j] += G[i] * (stiffness * G[j] + damping * vH) + effort * H[i, j]
            C[i, j] += damping * G[i] * G[j]


@kernel
def force(p, x_A, R_A, x_B, R_B, v, state, f):
    """Add (1) to f (12,)."""
    G = local_vector(12)
    value, rate = value_and_rate(p, x_A, R_A, x_B, R_B, v, state[0], G)
    effort = curve_values(p.table_at, p.pieces, value - p.rest)[0]
    effort += curve_values(p.damping_at, p.damping_pieces, rate)[0]
    for j in range(12):
        f[j] -= effort * G[j]


@kernel
def force_tangent(p, x_A, R_A, x_B, R_B, v, state, K, C):
    """Add (2) to K and C (12, 12)."""
    G, H = local_arrays("12, 12 12")
    value, rate = value_and_rate(p, x_A, R_A, x_B, R_B, v, state[0], G)
    coordinate_hessian(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H)
    spring, stiffness, _ = curve_values(p.table_at, p.pieces, value - p.rest)
    damper, damping, _ = curve_values(p.damping_at, p.damping_pieces, rate)
    add_tangents(spring + damper, stiffness, damping, G, H, v, K, C)


@kernel
def energy_spring(p, x_A, R_A, x_B, R_B, state):
    """Potential V of (1) [J]."""
    value = coordinate_value(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)
    return curve_values(p.table_at, p.pieces, value - p.rest)[2]


@kernel
def output(p, x_A, R_A, x_B, R_B, v, state, out):
    """Coordinate and M."""
    G = local_vector(12)
    value, rate = value_and_rate(p, x_A, R_A, x_B, R_B, v, state[0], G)
    out[0] += value
    out[1] += curve_values(p.table_at, p.pieces, value - p.rest)[0]
    out[1] += curve_values(p.damping_at, p.damping_pieces, rate)[0]


KERNELS = {
    "force": force,
    "force_tangent": force_tangent,
    "energy": energy_spring,
    "initial": first_near,
    "accept": count,
    "output": output,
}


class JointSpring(Force):
    """Spring and damper along a free coordinate of a joint; usually made by the joint, with ``stiffness=…``.

    Parameters
    ----------
    joint : Joint
        One that rotates or slides.
    stiffness : float ≥ 0 [N m/rad or N/m], (n, 2) array, ForceCurve, or callable, optional
        A number; a table of deflection and effort, joined by monotone cubic pieces and prolonged straight; or a
        function of the deflection.
    damping : float ≥ 0 [N m s/rad or N s/m], (n, 2) array, ForceCurve, or callable, optional
        The same of the rate.
    rest : float [rad or m], optional
        Value of the coordinate that deflections are measured from. Default: that of the start for a number, 0 for
        tables and functions, which are then of the coordinate itself.
    coordinate : str, optional
        Name of the coordinate where the joint has several.
    name : str, optional

    Outputs
    -------
    value : [rad or m], the coordinate, unwrapped (multi-turn)
    effort : [N m or N], S(ξ − rest) + D(rate): −effort acts on the second body along the coordinate, + on the first

    Raises
    ------
    ParameterError
        No such coordinate; neither stiffness nor damping; negative ones; a damper with a force at rate 0; a table whose
        first column does not increase; a function that cannot be differentiated.

    Notes
    -----
    Functions leave compiled code at each evaluation (about 20 µs); tables do not.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6([1, 0, 0]), position=[0, 0, 0], axis=[0, 0, 1])
    >>> spring = JointSpring(hinge, stiffness=12.0, damping=lambda rate: 0.3 * rate**3, name="closer")
    """

    n_state = 1
    parameters = PARAMETERS
    kernels = KERNELS

    def __init__(
        self,
        joint: Joint,
        *,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        rest: float | None = None,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        along = coordinate_of(self, "joint", joint, coordinate)
        self.joint = joint
        super().__init__(joint.nodes, name=name)
        line = not isinstance(stiffness, (list, tuple)) and np.ndim(stiffness) == 0 and not callable(stiffness)
        self.rest = self.number("rest", (along.start if line else 0.0) if rest is None else rest, along.unit)
        self._begin(along, stiffness, damping, 0.0, along.start)

    def _begin(self, along: Any, stiffness: Any, damping: Any, near: float, start: float) -> None:
        """Set laws, outputs and record, for a coordinate with the value ``start`` at the start."""
        unit = along.effort
        self.spring = Law(self, "stiffness", stiffness, f"{unit}/{along.unit}", start - self.rest)
        self.damper = Law(self, "damping", damping, f"{unit} s/{along.unit}")
        rest, size = abs(self.damper(0.0)[0]), float(np.abs(self.damper.table[:, 1]).max(initial=0.0))
        message = f"is {rest:.6g} {unit} at rate 0, where a damper has no force"
        self.check(rest <= 1e-9 * size + 1e-300, "damping", damping, message)
        both = self.spring.zero and self.damper.zero
        self.check(not both, "stiffness", stiffness, "and damping are both 0: it does nothing")
        self.viscous = not self.damper.zero
        self.outputs = {"value": (1, along.unit), "effort": (1, unit)}
        self._rest_of_record = (self.rest, near, *along.record)
        self.place()
        if self.spring.function or self.damper.function:
            self.kernels = {name: KERNELS[name] for name in ("initial", "accept")}
            self._potential = self.spring.integral()
            self.error = None

    def place(self) -> None:
        """Record with the addresses of the tables, empty ones of functions."""
        tables = [(address(table), len(table)) for table in (self.spring.table, self.damper.table)]
        self.record = (*tables[0], *tables[1], *self._rest_of_record)

    def regular(self, point: Any) -> bool:
        """True if a configuration of `fem_mbs.verify` is off the joints of the tables, where slopes have kinks."""
        G = np.zeros(12)
        x, R = point.x, point.R
        value = coordinate_gradient(*self._rest_of_record[2:], self._rest_of_record[1], x[0], R[0], x[1], R[1], G)
        pairs = ((self.spring.table, value - self.rest, point.size), (self.damper.table, G @ point.v, 1.0))
        far = all(np.abs(t[:, 0] - at).min() > 0.05 * max(size, 1.0) for t, at, size in pairs if len(t) > 1)
        return far and regular_angle(self, point)

    def group_key(self) -> tuple:
        """Return a separate group for a spring with functions."""
        return (*super().group_key(), id(self)) if self.python_kernels else super().group_key()

    # --- functions: Python in the place of kernels --------------------------------------------------------------------

    @property
    def python_kernels(self) -> dict:
        """Functions the framework calls in place of compiled kernels."""
        if self.spring.function is None and self.damper.function is None:
            return {}
        return {
            "force": self._add_force,
            "force_tangent": self._add_tangent,
            "energy": self._set_energy,
            "output": self._add_output,
        }

    def _evaluate(self, views):
        """Value, gradient (12,), and effort with its slopes."""
        record, G = self._rest_of_record[2:], np.zeros(12)
        x, R = views["x"], views["R"]
        value = coordinate_gradient(*record, views["state"][0], x[0], R[0], x[1], R[1], G)
        spring, damper = self.spring(value - self.rest), self.damper(float(G @ views["v"]))
        return value, G, spring[0] + damper[0], spring[1], damper[1]

    def _add_force(self, views):
        _, G, effort, _, _ = self._evaluate(views)
        views["f"][:] -= effort * G

    def _add_tangent(self, views):
        record, H = self._rest_of_record[2:], np.zeros((12, 12))
        x, R = views["x"], views["R"]
        _, G, effort, stiffness, damping = self._evaluate(views)
        coordinate_hessian(*record, x[0], R[0], x[1], R[1], H)
        add_tangents(effort, stiffness, damping, G, H, views["v"], views["K"], views["C"])

    def _set_energy(self, views):
        value = self._evaluate(views)[0]
        views["energy"][0] = self._potential(value - self.rest)

    def _add_output(self, views):
        value, _, effort, _, _ = self._evaluate(views)
        views["out"][:] += value, effort


class TorsionSpring(BetweenFrames, Force):
    """Torsional spring and damper about the common z axis of two frames.

    The hinge is a separate joint (`Revolute`, `Cylindrical`) between the same frames; ``Revolute(…, stiffness=…)``
    makes both.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground), z axes equal at the start; see `at`.
    stiffness : float ≥ 0 [N m/rad]
    damping : float ≥ 0 [N m s/rad]
    free_angle : float [rad], optional
        Angle from x of P to x of Q about z without moment; default: that of the start. The spring starts within half a
        turn of it; its angle is unwrapped (multi-turn) from there.
    name : str, optional

    Outputs
    -------
    angle : [rad], unwrapped (multi-turn)
    moment : [N m], M = k (φ − φ_0) + c φ̇: −M acts on the second body about z, +M on the first

    Raises
    ------
    ParameterError
        Both frames on one node; z axes apart at the start; negative stiffness or damping, or both 0.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6([1, 0, 0]), position=[0, 0, 0], axis=[0, 0, 1])
    >>> spring = TorsionSpring(hinge.frame_P, hinge.frame_Q, stiffness=12.0, name="return spring")
    """

    n_state = 1
    parameters = PARAMETERS
    kernels = KERNELS
    outputs = {"angle": (1, "rad"), "moment": (1, "N m")}

    @property
    def counted(self) -> list[tuple[int, Any, str, int]]:
        """Its own angle."""
        return [(0, self, "angle", 0)]

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        stiffness: float,
        damping: float = 0.0,
        free_angle: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self._connect(frame_P, frame_Q, "a spring between them never deforms", name=name)
        check_parallel(self)
        self.stiffness = self.positive("stiffness", stiffness, "N m/rad", allow_zero=True)
        self.damping = self.positive("damping", damping, "N m s/rad", allow_zero=True)
        self.viscous = self.damping > 0.0
        self.check(
            self.stiffness or self.damping, "stiffness", stiffness, "N m/rad and damping are both 0: it does nothing"
        )
        if free_angle is None:
            P, x_Q = self.frame_P.orientation, self.frame_Q.orientation[:, 0]
            free_angle = np.arctan2(P[:, 1] @ x_Q, P[:, 0] @ x_Q)
        self.free_angle = self.number("free_angle", free_angle, "rad")
        self._laws = [Law(self, name, getattr(self, name), "").table for name in ("stiffness", "damping")]
        self.place()

    def place(self) -> None:
        """Record with the addresses of the tables."""
        laws = [entry for table in self._laws for entry in (address(table), len(table))]
        P, Q = self.frame_P, self.frame_Q
        self.record = (*laws, self.free_angle, self.free_angle, TURN_Z, P.p, P.rotation, Q.p, Q.rotation)


def _example_spring(rng, a, b):
    joint, coordinate = random_coordinate(rng, a, b)
    table = np.column_stack([[-2.0, -0.5, 0.3, 1.0, 4.0], np.sort(rng.normal(size=5))])
    stiffness = (rng.uniform(0.5, 2.0), table)[rng.integers(2)]
    damping = (rng.uniform(0.5, 2.0), [[-3.0, -rng.uniform()], [0.0, 0.0], [2.0, rng.uniform()]])[rng.integers(2)]
    return JointSpring(joint, stiffness=stiffness, damping=damping, rest=rng.normal(), coordinate=coordinate)


def _example_torsion(rng, a, b):
    stiffness, damping, angle = rng.uniform(0.5, 2.0, size=3)
    return random_joint(TorsionSpring, rng, a, b, stiffness=stiffness, damping=damping, free_angle=angle)


register(JointSpring, example=_example_spring)
register(TorsionSpring, example=_example_torsion)
