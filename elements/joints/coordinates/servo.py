"""Servo: a motor that drives a coordinate of a joint at a given rate, with a limit of its effort.

With ξ a coordinate, G its gradient (`joints.coordinates.kernels`), ω(t) the rate and F_0(t) ≥ 0 the largest effort:

    γ = G v − ω(t) ,   −λ_F ∈ F_0(t) Sign(γ) ,   effort G^T λ_F                                                    (1)

It holds the rate with any effort up to F_0; where that is not enough it gives all of F_0, and the rate is what follows:
a set-valued law, that of dry friction against a surface that moves with ω and has a bound that is given.

Source: docs/theory/joint_friction.md, (1), (14). Statuses, passes and restarts:
`fem_mbs.solvers.joint_friction.friction`.

    symbol   code      shape   unit        meaning
    ω, F_0   s[0, 0]   ()      rad/s, N m  given functions (m/s, N of a slide): s[0, 1] is ω̇, s[1, 0] is F_0
"""

from typing import Any

from fem_mbs.element.base import Joint, register
from fem_mbs.element.friction_row import FrictionRow
from fem_mbs.element.registry import REGISTRY
from fem_mbs.elements.joints.coordinates.coordinates import COORDINATE, coordinate_of, regular_angle
from fem_mbs.elements.joints.coordinates.driver import random_motion
from fem_mbs.elements.joints.coordinates.given import driving_signal, never_negative
from fem_mbs.elements.joints.coordinates.kernels import coordinate_gradient, coordinate_hessian
from fem_mbs.elements.joints.rows import random_joint
from fem_mbs.jit import kernel
from fem_mbs.system.friction import SLIP, friction_in


@kernel
def friction(p, x_A, R_A, x_B, R_B, s, G, gt, gtt):
    """Add the gradient of (1) to G[0] (12,), and to gt[0], gtt[0] its derivatives by time."""
    coordinate_gradient(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, 0.0, x_A, R_A, x_B, R_B, G[0])
    gt[0] -= s[0, 0]
    gtt[0] -= s[0, 1]


@kernel
def friction_hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂G/∂q of (1) to H[0] (12, 12)."""
    coordinate_hessian(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H[0])


@kernel
def friction_bound(s, bound):
    """Add F_0 of (1) to bound (1,) [N, N m]; the force that the joint transmits has no part in it.

    A run ends where F_0 is negative (`joints.coordinates.given`): the generic checks alone try other numbers.
    """
    bound[0] += abs(s[1, 0])


@kernel
def output(state, s, out):
    """Write the values of the run."""
    kept = friction_in(state)
    out[0] += kept.force
    out[1] += kept.bound
    out[2] += kept.rate
    if kept.status == SLIP:
        out[3] += kept.sign
    out[4] += kept.force * (kept.rate + s[0, 0])


class JointServo(FrictionRow):
    """Turn a coordinate of a joint at a given rate with at most a given effort.

    What ``motor=Motor(rate=…, limit=…)`` of a joint makes. It starts a load at its largest effort, then holds the rate
    exactly; a load above its limit overruns it. With ``rate=0`` it is a brake, with a limit that a controller sets a
    clutch.

    Parameters
    ----------
    joint : Joint
        One that rotates or slides.
    rate : float, callable, Signal or Held [rad/s or m/s]
        ω(t), differentiable; outputs of controllers are accepted.
    limit : float, callable, Signal or Held, ≥ 0 [N m or N]
        F_0(t), the largest effort in both senses.
    coordinate : str, optional
        Name of the coordinate where the joint has several.
    name : str, optional

    Outputs
    -------
    effort : [N m or N], moment or force on the second body along the coordinate, at the end of the step; the mean over
        a step with an impact
    limit : [N m or N]
    slip : [rad/s or m/s], the rate less ω
    status : 0 holds the rate, −1 the joint is slower and 1 it is faster than the rate, at the largest effort
    power : [W], given to the model

    Raises
    ------
    ParameterError
        No such coordinate; a rate that is not finite or cannot be differentiated; a negative limit.
    SolverError
        In a run, where a limit that is a function of time is negative.

    Notes
    -----
    Of second order with `DecoupledNSGA`, of first with other methods. Without a limit: `JointRate`.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6(), position=[0, 0, 0], axis=[0, 0, 1], name="hinge")
    >>> motor = JointServo(hinge, rate=30.0, limit=2.5, name="motor")
    """

    drives = True
    regular = regular_angle
    parameters = COORDINATE
    kernels = {"friction": friction, "friction_hessian": friction_hessian, "friction_bound": friction_bound,
               "output": output}  # fmt: skip

    def __init__(
        self, joint: Joint, rate: Any, limit: Any, *, coordinate: str | None = None, name: str | None = None
    ) -> None:
        self.name = name
        along = coordinate_of(self, "joint", joint, coordinate)
        unit = f"{along.unit}/s"
        speed, start = driving_signal(self, "rate", rate, may_jump=True)
        signals = [speed, never_negative(self, "limit", limit, along.effort)]
        super().__init__(joint, 1.0, kappa=False, name=name, signals=signals, units=(along.effort, unit))
        self.moved = not (speed.constant and start[0] == 0.0)
        self.outputs = {
            "effort": (1, along.effort), "limit": (1, along.effort), "slip": (1, unit), "status": (1, ""),
            "power": (1, "W"),
        }  # fmt: skip
        self.record = along.record


def _example(rng, a, b):
    """A servo of a pin of a cross, which has both kinds of angles."""
    joint = random_joint(REGISTRY["Universal"][0], rng, a, b)
    which = ("first_angle", "second_angle")[rng.integers(2)]
    return JointServo(joint, random_motion(rng), lambda t: 1.0 + t, coordinate=which)


register(JointServo, example=_example)
