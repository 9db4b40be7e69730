"""Spring, damper and actuator between two points, with laws given as curves.

With l the distance of the points and e the direction from P to Q, as in `elements.forces.spring_damper`,

    F = F_k(l − l_0) + F_c(l̇) + u(t)              V = ∫ F_k                                                        (1)

pulls the ends together where it is positive. The tangent is (2), (3) of that file with k = F_k', c = F_c'.

Source: docs/theory/curves_and_bushings.md, (2).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import Force, register
from fem_mbs.elements.forces.curve import ForceCurve, curve_values
from fem_mbs.elements.forces.spring_damper import add_spring_force, add_spring_tangent, ends_apart
from fem_mbs.elements.joints.rows import points_apart, start_size
from fem_mbs.functions.signals import Signal
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import dot

PARAMETERS = np.dtype(
    [
        ("p_AP", "f8", (3,)),
        ("p_BQ", "f8", (3,)),
        ("free_length", "f8"),
        ("spring_at", "i8"),
        ("spring_pieces", "i8"),
        ("damper_at", "i8"),
        ("damper_pieces", "i8"),
        ("actuated", "i8"),
    ]
)


@kernel
def axial(p, d, w, s, e, law):
    """Fill e (3,) with the direction, law (2,) with the slopes F_k', F_c'; return l and F of (1)."""
    length = np.sqrt(dot(d, d))
    for i in range(3):
        e[i] = d[i] / length  # NaN where the points meet: the step is rejected with the name of the element
    force, law[0], _ = curve_values(p.spring_at, p.spring_pieces, length - p.free_length)
    damping, law[1], _ = curve_values(p.damper_at, p.damper_pieces, dot(e, w))
    force += damping
    if p.actuated != 0:
        force += s[0, 0]
    return length, force


@kernel
def force(p, node_A, node_B, s, f):
    """Add the forces of (1) to f (12,)."""
    d, w, e, law = local_arrays("3, 3, 3, 2")
    ends_apart(p, node_A, node_B, d, w)
    _, pulled = axial(p, d, w, s, e, law)
    for i in range(3):
        e[i] *= pulled
    add_spring_force(p, node_A.R, node_B.R, e, f)


@kernel
def force_tangent(p, node_A, node_B, s, K, C):
    """Add K = −∂f/∂q and C = −∂f/∂v (12, 12)."""
    d, w, e, law = local_arrays("3, 3, 3, 2")
    ends_apart(p, node_A, node_B, d, w)
    length, pulled = axial(p, d, w, s, e, law)
    add_spring_tangent(p, node_A, node_B, d, w, e, (length, pulled / length, law[0], law[1]), K, C)


@kernel
def energy(p, x_A, R_A, x_B, R_B):
    """Potential V of (1) [J]."""
    d = local_vector(3)
    points_apart(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, d)
    return curve_values(p.spring_at, p.spring_pieces, np.sqrt(dot(d, d)) - p.free_length)[2]


@kernel
def output(p, node_A, node_B, s, out):
    """Length, its rate, and the axial force."""
    d, w, e, law = local_arrays("3, 3, 3, 2")
    ends_apart(p, node_A, node_B, d, w)
    length, pulled = axial(p, d, w, s, e, law)
    out[0] += length
    out[1] += dot(e, w)
    out[2] += pulled


class NonlinearSpring(Force):
    """Force between two points along the line that joins them: spring and damper curves, an actuator, a bump stop.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Ends on the first and on the second body (or ground); only their origins matter.
    spring : ForceCurve, table of points or number, optional [m -> N]
        F_k of the elongation l − l_0, positive in tension. A bump stop is 0 above the elongation at which
        it is touched.
    damper : ForceCurve, table of points or number, optional [m/s -> N]
        F_c of the rate of the length; of the sign of the rate everywhere: a damper takes energy.
    force : float, callable or Signal, optional [N]
        u(t), of an actuator that pulls the ends together where it is positive.
    free_length : float ≥ 0 [m], optional
        l_0; default: the distance at the start.
    name : str, optional

    Outputs
    -------
    length : [m]
    rate : [m/s], of the length
    force : [N], F, positive in tension

    Raises
    ------
    ParameterError
        Both frames on one node; points that coincide at the start; none of spring, damper and force; a damper that
        gives energy; errors of `ForceCurve`.

    Notes
    -----
    The points must not meet in a run: there the force has no direction, and the step is rejected. Springs with straight
    characteristics are `Spring`. Curves have a continuous slope, so that steps keep their order.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> bump = [(-0.03, -2e4), (-0.02, -4e3), (-0.01, 0.0), (0.0, 0.0)]
    >>> strut = NonlinearSpring(Ground(), Node6([0, 0, 0.4]), spring=bump, damper=800.0, name="bump stop")
    """

    parameters = PARAMETERS
    kernels = {"force": force, "force_tangent": force_tangent, "energy": energy, "output": output}
    outputs = {"length": (1, "m"), "rate": (1, "m/s"), "force": (1, "N")}

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        spring: Any = None,
        damper: Any = None,
        *,
        force: Any = None,
        free_length: float | None = None,
        name: str | None = None,
    ) -> None:
        self._connect(frame_P, frame_Q, "a spring between them never changes its length", name=name)
        given = [value is not None for value in (spring, damper, force)]
        self.check(any(given), "spring", None, "is missing, as are damper and force: it does nothing")
        self.spring = None if spring is None else ForceCurve.of(self, "spring", spring)
        self.damper = None if damper is None else ForceCurve.of(self, "damper", damper)
        self.viscous = self.damper is not None
        self.signals = [] if force is None else [Signal.of(self.as_motion("force", force))]
        if self.signals:
            self._check_start(force)
        if self.damper is not None:
            check_damper(self, "damper", self.damper)
        start = float(np.linalg.norm(self.frame_Q.position - self.frame_P.position))
        self.check(
            start > 1e-12 * start_size(self.frame_P, self.frame_Q),
            "frame_Q",
            self.frame_Q,
            "coincides with frame_P at the start: the direction of the force is undefined. Move an end, or use a "
            "Bushing, which acts in all directions",
        )
        self.free_length = self.positive("free_length", start if free_length is None else free_length, "m", True)
        self.place()

    def _check_start(self, force):
        """Raise unless the actuator's force is a number at t = 0."""
        try:
            start = self.signals[0](0.0)
        except (TypeError, ValueError) as error:
            self.check(False, "force", force, f"must return numbers: {error}")
        self.number("force", start, "N")

    @property
    def conservative(self) -> bool:
        """True if its forces have a potential, dampers apart."""
        return not self.signals

    def place(self) -> None:
        """Record with the addresses of the curves."""
        places = [(0, 0) if curve is None else curve.place for curve in (self.spring, self.damper)]
        record = self.frame_P.p, self.frame_Q.p, self.free_length, *places[0], *places[1], len(self.signals)
        self.record = record

    def regular(self, point: Any) -> bool:
        """True if the element can be differentiated at a point of `fem_mbs.verify`: not at breakpoints of curves."""
        from fem_mbs.rotations import skew

        (A, B), (R_A, R_B), v = point.x, point.R, point.v.reshape(2, 6)
        a, b = self.frame_P.p, self.frame_Q.p
        d = B + R_B @ b - A - R_A @ a
        rate = v[1, :3] - R_B @ skew(b) @ v[1, 3:] - v[0, :3] + R_A @ skew(a) @ v[0, 3:]
        length = np.linalg.norm(d)
        found = ((self.spring, length - self.free_length), (self.damper, d @ rate / length))
        return all(c is None or np.abs(c.points[:, 0] - x).min() > 0.02 for c, x in found)


def check_damper(owner: Any, parameter: str, curve: ForceCurve) -> None:
    """Raise unless a curve has the sign of its variable everywhere: else it gives energy."""
    x, F = curve.points.T
    ends = curve.slope(x[0] - 1.0), curve.slope(x[-1] + 1.0)
    size = np.abs(F).max(initial=1.0)
    takes = (x * F >= -1e-12 * size * np.abs(x)).all() and min(ends) >= 0.0 and abs(curve(0.0)) <= 1e-12 * size
    owner.check(takes, parameter, curve.points, "gives energy: a damper needs a force of the sign of the rate, 0 at 0")


def _example(rng, a, b):
    x = np.linspace(-3.0, 3.0, 6)
    return NonlinearSpring(
        a.frame(rng.normal(size=3)), b.frame(rng.normal(size=3)), np.column_stack([x, x + 0.3 * x**3]),
        [(-2.0, -3.0), (0.0, 0.0), (2.0, 1.0)], force=float(rng.normal()) if rng.random() < 0.5 else None,
        free_length=1.0,
    )  # fmt: skip


register(NonlinearSpring, example=_example)
