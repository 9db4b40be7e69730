"""Motors: the rate of a coordinate of a joint is given, or the effort along it.

With ξ a coordinate, G and H its derivatives (`joints.coordinates.kernels`), ω(t), M(t) given:

    rate       γ = G v − ω(t) = 0       ∂γ/∂t = −ω̇         a row of velocities, without a row of positions         (1)
    effort     f = Gᵀ M(t)              K = −M H                                                                   (2)

The multiplier of (1) is the driving moment or force on the second body along the coordinate.

Source: docs/theory/joints.md, (16); non_holonomic.md for rows of velocities.

    symbol   code      shape   unit        meaning
    ω, M     s[0, 0]   ()      rad/s, N m  given function (m/s, N of a slide); s[0, 1] is its derivative
    θ_n      state[0]  ()      rad         last angle
"""

from typing import Any

from fem_mbs.element.base import Force, Joint, register
from fem_mbs.elements.joints.coordinates.coordinates import COORDINATE, coordinate_of, random_coordinate, regular_angle
from fem_mbs.elements.joints.coordinates.driver import hessian, output, random_motion
from fem_mbs.elements.joints.coordinates.given import driving_signal, never_negative
from fem_mbs.elements.joints.coordinates.kernels import (
    coordinate_gradient,
    coordinate_hessian,
    coordinate_value,
    count,
    first,
)
from fem_mbs.functions.signals import Signal
from fem_mbs.jit import kernel, local_matrix, local_vector


@kernel
def constraint(p, x_A, R_A, x_B, R_B, G):
    """Add the gradient of (1) to G (1, 12)."""
    coordinate_gradient(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, 0.0, x_A, R_A, x_B, R_B, G[0])


@kernel
def rheonomic(s, gt, gtt):
    """Add what (1) has of time to gt (1,), and its derivative to gtt (1,)."""
    gt[0] -= s[0, 0]
    gtt[0] -= s[0, 1]


@kernel
def force(p, x_A, R_A, x_B, R_B, s, f):
    """Add (2) to f (12,)."""
    G = local_vector(12)
    coordinate_gradient(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, 0.0, x_A, R_A, x_B, R_B, G)
    for j in range(12):
        f[j] += s[0, 0] * G[j]


@kernel
def force_tangent(p, x_A, R_A, x_B, R_B, s, K):
    """Add the tangent of (2) to K (12, 12)."""
    H = local_matrix(12, 12)
    coordinate_hessian(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H)
    for i in range(12):
        for j in range(12):
            K[i, j] -= s[0, 0] * H[i, j]


@kernel
def output_effort(p, x_A, R_A, x_B, R_B, state, s, out):
    """Effort and the coordinate."""
    out[0] += s[0, 0]
    out[1] += coordinate_value(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)


class JointRate(Joint):
    """Prescribe the rate of a free coordinate of a joint; usually made by the joint, with ``motor=Motor(rate=…)``.

    A row of velocities alone: the position is not constrained; it is the integral of the rate, to the order of the
    method. The motor continues from its position, also after a stop or a jump of the rate, which is an impact.

    Parameters
    ----------
    joint : Joint
        One that rotates or slides.
    rate : float, callable, Signal or Held [rad/s or m/s]
        Differentiable. The model must begin with this rate, or be compiled with ``project=True``. Where a controller or
        an event gives it another value, velocities jump as in a plastic impact: the motor has the moment it takes. One
        with a limit is a `JointServo`.
    coordinate : str, optional
        Name of the coordinate where the joint has several.
    name : str, optional

    Outputs
    -------
    effort : [N m or N], driving moment or force on the second body along the coordinate
    value : [rad or m], the coordinate, unwrapped (multi-turn)

    Raises
    ------
    ParameterError
        No such coordinate; the function is not finite or cannot be differentiated.
    """

    rows = velocity_rows = 1
    n_state = 1
    regular = regular_angle
    parameters = COORDINATE
    kernels = {
        "constraint": constraint,
        "hessian": hessian,
        "rheonomic": rheonomic,
        "initial": first,
        "accept": count,
        "output": output,
    }

    def __init__(self, joint: Joint, rate: Any, *, coordinate: str | None = None, name: str | None = None) -> None:
        self.name = name
        along = coordinate_of(self, "joint", joint, coordinate)
        self.joint, self.outputs = joint, {"effort": (1, along.effort), "value": (1, along.unit)}
        super().__init__(joint.frame_P, joint.frame_Q, name=name)
        self.signals = [driving_signal(self, "rate", rate, may_jump=True)[0]]
        self.record = along.record


class Limited:
    """A function of time that is cut off at ± another one; its derivatives are declared 0, no kernel reads them."""

    def __init__(self, effort: Signal, limit: Signal) -> None:
        self.effort, self.limit = effort, limit

    def signal(self) -> Signal:
        """Return it as a signal of an element."""
        return Signal(self, self.zero, self.zero)

    def __call__(self, t: float) -> float:
        most = self.limit(t)
        return min(max(self.effort(t), -most), most)

    @staticmethod
    def zero(t: float) -> float:
        """Return the derivative, which is not used."""
        return 0.0


class JointEffort(Force):
    """Moment or force along a free coordinate of a joint: what ``motor=Motor(effort=…)`` of a joint makes.

    Parameters
    ----------
    joint : Joint
        One that rotates or slides.
    effort : float, callable, Signal or Held [N m or N]
        On the second body along the coordinate; its opposite acts on the first. A function of time, or an output of a
        controller.
    limit : float, callable, Signal or Held, ≥ 0 [N m or N], optional
        The effort is cut off at ± this one.
    coordinate : str, optional
        Name of the coordinate where the joint has several.
    name : str, optional

    Outputs
    -------
    effort : [N m or N]
    value : [rad or m], the coordinate, unwrapped (multi-turn)

    Raises
    ------
    ParameterError
        No such coordinate; neither a number nor a function; a negative limit.
    SolverError
        In a run, where a limit that is a function of time is negative.
    """

    n_state = 1
    viscous = False
    regular = regular_angle
    parameters = COORDINATE
    kernels = {
        "force": force,
        "force_tangent": force_tangent,
        "initial": first,
        "accept": count,
        "output": output_effort,
    }

    def __init__(
        self, joint: Joint, effort: Any, *, limit: Any = None, coordinate: str | None = None, name: str | None = None
    ) -> None:
        self.name = name
        along = coordinate_of(self, "joint", joint, coordinate)
        self.joint, self.outputs = joint, {"effort": (1, along.effort), "value": (1, along.unit)}
        signal = Signal.of(self.as_motion("effort", effort))
        if limit is not None:
            signal = Limited(signal, never_negative(self, "limit", limit, along.effort)).signal()
        super().__init__(joint.nodes, name=name, signals=[signal])
        self.record = along.record


def _example(cls):
    def make(rng, a, b):
        joint, coordinate = random_coordinate(rng, a, b)
        return cls(joint, random_motion(rng), coordinate=coordinate)

    return make


register(JointRate, example=_example(JointRate))
register(JointEffort, example=_example(JointEffort))
