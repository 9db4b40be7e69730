"""Prescribed motion of a point: some of its inertial coordinates follow functions of time.

    g_k = e_k·(x + R a) − d_k(t) = 0       G = [ e_k , a × Rᵀe_k ]       ∂g/∂t = −ḋ       ∂²g/∂t² = −d̈             (1)
    H: (θ,θ) ã (Rᵀe_k)~                                                                                            (2)

for the chosen components k. The multipliers are the components of the force of the support on the body.

Source: docs/theory/joints.md, (11).

    symbol   code          shape  unit  meaning
    a        p.a           (3,)   m     point from the node, node axes
    k        p.component   (3,)   -     inertial axis of each row; entries past the last row are not used
    d_k      s[i, 0]       ()     m     coordinate of row i; s[i, 1], s[i, 2] are its derivatives
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import Constraint, register
from fem_mbs.elements.joints.coordinates.given import driving_signal
from fem_mbs.elements.joints.rows import POSE_TOLERANCE, start_size
from fem_mbs.functions.signals import Signal
from fem_mbs.jit import kernel
from fem_mbs.rotations import add_cross, add_skew_skew, dot

PARAMETERS = np.dtype([("a", "f8", (3,)), ("component", "i8", (3,))])


@kernel
def constraint(p, x_A, R_A, s, g, G):
    """Add (1) to g [m] and G, one row per prescribed component."""
    for i in range(g.shape[0]):
        k = p.component[i]
        g[i] += x_A[k] + dot(R_A[k], p.a) - s[i, 0]
        G[i, k] += 1.0
        add_cross(1.0, p.a, R_A[k], G[i, 3:6])


@kernel
def hessian(p, R_A, H):
    """Add (2) to H."""
    for i in range(H.shape[0]):
        add_skew_skew(1.0, p.a, R_A[p.component[i]], H[i], 3, 3)


@kernel
def rheonomic(s, gt, gtt):
    """Add the time derivatives of (1) to gt [m/s] and gtt [m/s²]."""
    for i in range(gt.shape[0]):
        gt[i] -= s[i, 1]
        gtt[i] -= s[i, 2]


@kernel
def output(p, lam, out):
    """Force of the support, inertial axes; 0 in free directions."""
    for i in range(lam.shape[0]):
        out[p.component[i]] += lam[i]


class Prescribed(Constraint):
    """Move a point along given inertial coordinates x(t), y(t), z(t); those not given stay free.

    Parameters
    ----------
    frame : Frame, Node or body
        The point: origin of the frame. To hold a node still, fix its components instead.
    x, y, z : float, callable or Signal [m], optional, at least one
        Coordinate of the point in inertial axes, twice differentiable: made of NumPy functions, a `Signal` with its
        derivatives, or one of `smooth_start`, `trapezoidal`, `ramp`, `table`. The value at the time of the
        initial state (0, unless a run continues from a later one) must be the coordinate there.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the support on the body at the point, inertial axes; 0 in free directions

    Raises
    ------
    ParameterError
        No component given; value at t = 0 not the initial coordinate; not differentiable or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from fem_mbs.nodes import Node6
    >>> shaker = Prescribed(Node6(), z=lambda t: 0.01 * np.sin(50 * t), name="shaker")
    """

    parameters = PARAMETERS
    kernels = {"constraint": constraint, "hessian": hessian, "rheonomic": rheonomic, "output": output}
    outputs = {"force": (3, "N")}
    invariant = False  # coordinates in inertial axes change in a rigid motion

    def __init__(
        self, frame: FrameLike, *, x: Any = None, y: Any = None, z: Any = None, name: str | None = None
    ) -> None:
        self.name = name
        self.frame = self.as_frame("frame", frame)
        given = [(k, letter, value) for k, (letter, value) in enumerate(zip("xyz", (x, y, z))) if value is not None]
        self.check(
            given, "x, y, z", None, "are all missing; give at least one coordinate as a number or a function of time"
        )
        signals = []
        tolerance = POSE_TOLERANCE * start_size(self.frame)
        for k, letter, value in given:
            signal, start = driving_signal(self, letter, value)
            initial = self.frame.position[k]
            self.check(
                abs(start[0] - initial) <= tolerance,
                letter,
                start[0],
                f"m at t = 0, but the point starts at {letter} = {initial:.9g} m. Add the difference to the "
                "function, or move the node",
            )
            signals.append(signal)
        super().__init__((self.frame.node,), name=name, signals=signals)
        self.rows = len(given)
        components = [k for k, *_ in given]
        self.record = (self.frame.p, components + [0] * (3 - self.rows))


def _example(rng, a):
    frame = a.frame(rng.normal(size=3))
    number = rng.integers(1, 4)
    chosen = rng.choice(3, size=number, replace=False)
    start, rates = frame.position, rng.normal(size=3)
    motions = {"xyz"[k]: Signal(lambda t, k=k: start[k] + np.sin(rates[k] * t)) for k in chosen}
    return Prescribed(frame, **motions)


register(Prescribed, example=_example)
