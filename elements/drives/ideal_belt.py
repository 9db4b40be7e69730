"""Ideal belt on two pulleys: inextensible, without mass, with dry friction on the pulleys.

    γ = d/dt (r_1 φ_1 ∓ r_2 φ_2)                  − for an open belt, + for a crossed one                         (1)
    −λ_F ∈ b Sign(γ) ,   b = 2 T_0 tanh(E/2)       E = min_i μ_i β_i                                              (2)
    T± = T_0 ∓ λ_F/2                              of the two spans                                               (3)
    f = −2 T_0 h'(a) ∇a                           pull of both spans at rest on the centres                       (4)

(2) is T_1/T_2 = e^E with T_1 + T_2 = 2 T_0. φ are the angles of the pulleys against the centre line. λ_F acts along the
gradient of (1) and (4) along that of a: together they are the tensions (3) along the spans. With two coefficients
the bound of sticking is that of sliding times the ratio of both at the start.

Source: docs/theory/gears_and_belts.md, (18)-(21). Angles, h: `fem_mbs.elements.drives.spans`; E: `drives.wrap`.

    symbol   code      shape   unit   meaning
    ∓ r_2    p.r_2     ()      m      signed
    T_0      p.preload ()      N      mean of both tensions, constant
    w_0      p.share   ()      -      2 tanh(E/2) of sliding at the start; the coefficients of the law have it
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import JOINT_FRAMES, Element, Force, register
from fem_mbs.element.friction_row import FrictionRow, friction_coefficients
from fem_mbs.elements.drives.gear_mesh import TwoWheels, random_wheels
from fem_mbs.elements.drives.spans import (
    centre_line,
    centre_line_hessian,
    count_angles,
    first_angles,
    tangent_length,
    trouble_tangents,
)
from fem_mbs.elements.drives.wrap import WRAP, exponent, exponent_slope, given_wrap, leans, wraps
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.system.friction import N_FRICTION, SLIP, friction_in

PARAMETERS = np.dtype(
    [*JOINT_FRAMES.descr, ("r_1", "f8"), ("r_2", "f8"), ("kappa", "f8"), ("psi_0", "f8"), ("h_0", "f8"),
     ("preload", "f8"), ("share", "f8"), *WRAP]
)  # fmt: skip
ANGLES = N_FRICTION  # place of φ_1, φ_2 in the internal variables


@kernel
def belt_slip(p, x_A, R_A, x_B, R_B, G):
    """Add the gradient of (1) to G[0] (12,)."""
    u, U, near = local_arrays("3, 3 12, 2")
    near[0], near[1] = 0.0, 0.0  # gradients do not depend on turns
    centre_line(p, x_A, R_A, x_B, R_B, near, u, U)
    for j in range(12):
        G[0, j] += p.r_1 * U[0, j] + p.r_2 * U[1, j]


@kernel
def belt_slip_hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂G/∂q of (1) to H[0] (12, 12)."""
    HU = local_arrays("3 12 12")[0]
    centre_line_hessian(p, x_A, R_A, x_B, R_B, HU)
    for i in range(12):
        for j in range(12):
            H[0, i, j] += p.r_1 * HU[0, i, j] + p.r_2 * HU[1, i, j]


@kernel
def belt_bound(p, x_A, R_A, x_B, R_B, bound, bound_q):
    """Add b/w_0 of (2) to bound (1,) [N], its gradient to bound_q (12,)."""
    u, U, near = local_arrays("3, 3 12, 2")
    near[0], near[1] = 0.0, 0.0
    centre_line(p, x_A, R_A, x_B, R_B, near, u, U)
    t = math.tanh(0.5 * exponent(p, u[2]))
    bound[0] += 2.0 * p.preload * t / p.share
    slope = p.preload * (1.0 - t * t) * exponent_slope(p, u[2]) / p.share
    for j in range(12):
        bound_q[j] += slope * U[2, j]


@kernel
def first_belt(p, x_A, R_A, x_B, R_B, state):
    """Angles of the pulleys at the start."""
    first_angles(p, x_A, R_A, x_B, R_B, state[ANGLES : ANGLES + 2])


@kernel
def count_belt(p, x_A, R_A, x_B, R_B, state):
    """Angles of the pulleys at the end of a step."""
    count_angles(p, x_A, R_A, x_B, R_B, state[ANGLES : ANGLES + 2])


@kernel
def belt_output(p, x_A, R_A, x_B, R_B, state, out):
    """Write the friction of the run, tensions (3), and the displacement of (1)."""
    kept, u, U = friction_in(state), local_vector(3), local_matrix(3, 12)
    centre_line(p, x_A, R_A, x_B, R_B, state[ANGLES : ANGLES + 2], u, U)
    force = -kept.force
    out[0] += p.preload + 0.5 * force
    out[1] += p.preload - 0.5 * force
    out[2] += force
    out[3] += kept.bound
    out[4] += kept.rate
    out[5] += p.r_1 * u[0] + p.r_2 * u[1] - p.psi_0
    if kept.jammed == 0.0 and kept.status == SLIP:
        out[6] += kept.sign
    out[7] += force * kept.rate
    out[8] += kept.work


@kernel
def belt_pull(p, x_A, R_A, x_B, R_B, f):
    """Add (4) to f (12,)."""
    u, U, near = local_arrays("3, 3 12, 2")
    near[0], near[1] = 0.0, 0.0
    centre_line(p, x_A, R_A, x_B, R_B, near, u, U)
    ratio = min(p.kappa / u[2], 1.0)
    for j in range(12):
        f[j] -= 2.0 * p.preload * math.sqrt(1.0 - ratio * ratio) * U[2, j]


@kernel
def belt_pull_tangent(p, x_A, R_A, x_B, R_B, K):
    """Add −∂f/∂q of (4) to K (12, 12)."""
    u, U, near = local_arrays("3, 3 12, 2")
    HU = local_arrays("3 12 12")[0]
    near[0], near[1] = 0.0, 0.0
    centre_line(p, x_A, R_A, x_B, R_B, near, u, U)
    centre_line_hessian(p, x_A, R_A, x_B, R_B, HU)
    ratio = min(p.kappa / u[2], 1.0)
    slope = math.sqrt(1.0 - ratio * ratio)
    bend = ratio * ratio / (u[2] * slope) if slope > 0.0 else 0.0
    for i in range(12):
        for j in range(12):
            K[i, j] += 2.0 * p.preload * (slope * HU[2, i, j] + bend * U[2, i] * U[2, j])


@kernel
def energy_pull(p, x_A, R_A, x_B, R_B):
    """Potential 2 T_0 (h − h_0) of (4) [J]: of the weight or the spring of a tensioner."""
    u, U, near = local_arrays("3, 3 12, 2")
    near[0], near[1] = 0.0, 0.0
    centre_line(p, x_A, R_A, x_B, R_B, near, u, U)
    return 2.0 * p.preload * (tangent_length(p.kappa, u[2]) - p.h_0)


class BeltPull(TwoWheels, Force):
    """Pull of the two spans of an `IdealBelt` at rest on the centres of its pulleys; made by it.

    Parameters
    ----------
    belt : IdealBelt
    name : str, optional

    Raises
    ------
    ParameterError
        What is no `IdealBelt`.

    Notes
    -----
    Equation (4) of the file's header. It changes no motion of pulleys that hinges hold; their reactions have it.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> belt = IdealBelt(Node6(), Node6([0.5, 0, 0]), radii=(0.1, 0.15), pretension=200, friction=0.3)
    >>> belt.companions
    (BeltPull: belt=IdealBelt,)
    """

    parameters = PARAMETERS
    kernels = {"force": belt_pull, "force_tangent": belt_pull_tangent, "energy": energy_pull,
               "trouble": trouble_tangents}  # fmt: skip
    viscous = False
    _suffix = "pull"

    def __init__(self, belt: "IdealBelt", *, name: str | None = None) -> None:
        self.name = name
        self.as_instance("belt", belt, IdealBelt, "an IdealBelt")
        self._connect_wheels(belt.frame_P, belt.frame_Q, name)
        self.belt, self.reach, self.record = belt, belt.reach, belt.record

    def regular(self, point: Any) -> bool:
        return self.belt.regular(point)


class IdealBelt(TwoWheels, FrictionRow):
    """Inextensible belt between two pulleys with parallel axes: friction drives, and the belt slips where it cannot.

    The pulleys rotate in their ratio while the belt sticks: it transmits the required force, up to Euler-Eytelwein's
    limit. There it slips on the pulley with the smaller μβ, with the force of that limit.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Centres of pulley 1 and pulley 2; z axes along those of the pulleys, parallel and in the same sense at the
        start.
    radii : (2,) [m]
    pretension : float > 0 [N]
        T_0, mean of the tensions of both spans. It stays: by a tensioner, or because the sum of tensions does.
    friction : float ≥ 0 or (static, sliding), -
        μ between belt and pulley 1; of a V-belt μ/sin of half its angle.
    other_friction : float ≥ 0 or (static, sliding), optional
        Of pulley 2; default: that of pulley 1.
    wrap : float or (2,) [rad], optional
        Angles of wrap, where idlers change them. Default: those of the geometry at any time.
    crossed : bool
        Whether the pulleys turn in opposite senses.
    name : str, optional

    Outputs
    -------
    tension : (2,) [N], of the span that pulley 1 tightens when it drives in positive sense, and of the other
    force : [N], tension[0] − tension[1], at the end of the step; the mean over a step with an impact
    bound : [N], the largest that it can be
    slip : [m/s], rate of the path by which pulley 1 is ahead on its rim
    slip_path : [m], that path since the start, unwrapped (multi-turn)
    status : 0 holds, 1 or −1 slips in this direction
    power : [W], taken out of the model
    dissipated : [J], the same since the start

    Attributes
    ----------
    wraps : (2,) [rad], angles of wrap at the start
    slips_on : 1 or 2, the pulley with the smaller μβ (sliding), on which the belt slips; 1 where both are equal

    Raises
    ------
    ParameterError
        Both frames on one node; axes not parallel; pulleys that overlap; numbers out of range.

    Notes
    -----
    Equations (1)-(4) of the file's header. The belt has no mass: centrifugal forces
    of fast belts lower what they hold. Elastic belts are `Belt` and `CreepingBelt`.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> belt = IdealBelt(Node6(), Node6([0.5, 0, 0]), radii=(0.1, 0.15), pretension=200, friction=0.3, name="belt")
    >>> belt.wraps.round(4).tolist(), belt.slips_on
    ([2.9413, 3.3419], 1)
    """

    parameters = PARAMETERS
    n_state = N_FRICTION + 2
    kernels = {
        "friction": belt_slip, "friction_hessian": belt_slip_hessian, "friction_bound": belt_bound,
        "initial": first_belt, "accept": count_belt, "trouble": trouble_tangents, "output": belt_output,
    }  # fmt: skip
    outputs = {
        "tension": (2, "N"), "force": (1, "N"), "bound": (1, "N"), "slip": (1, "m/s"), "slip_path": (1, "m"),
        "status": (1, ""), "power": (1, "W"), "dissipated": (1, "J"),
    }  # fmt: skip

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        radii: ArrayLike,
        pretension: float,
        friction: float | Sequence[float],
        other_friction: float | Sequence[float] | None = None,
        wrap: ArrayLike | None = None,
        crossed: bool = False,
        name: str | None = None,
    ) -> None:
        distance = self._connect_wheels(frame_P, frame_Q, name)
        self._set_radii(radii, crossed)
        self.pretension = self.positive("pretension", pretension, "N")
        mu = np.array([friction_coefficients(self, friction), friction_coefficients(self, friction)])
        if other_friction is not None:
            mu[1] = friction_coefficients(self, other_friction, "other_friction")
        for key, row in (("friction", mu[0]), ("other_friction", mu[1])):
            self.check(row[1] > 0.0, key, row[1], "must be > 0 where it slides: nothing else drives")
        fixed = given_wrap(self, wrap)
        self.wraps = np.where(fixed > 0.0, fixed, wraps(self.radii, self.crossed, distance))
        self.slips_on = 1 + int(mu[1, 1] * self.wraps[1] < mu[0, 1] * self.wraps[0])
        static, sliding = 2.0 * np.tanh(0.5 * (mu * self.wraps[:, None]).min(axis=0))
        self._law = (float(static), float(sliding), 0.0)
        super().__init__(None, friction, kappa=False, name=name, signals=(), units=("N", "m/s"), nodes=self.nodes)
        del self.outputs  # those of the class
        r_1, r_2 = self.radii[0], self.radii[1] if self.crossed else -self.radii[1]
        self.reach = abs(r_1 + r_2)
        psi_0 = r_1 * self.start_angles[0] + r_2 * self.start_angles[1]
        frames = (self.frame_P.p, self.frame_P.rotation, self.frame_Q.p, self.frame_Q.rotation)
        self.record = (
            *frames, r_1, r_2, self.reach, psi_0, tangent_length(self.reach, distance), self.pretension, sliding,
            mu[:, 1], fixed, leans(self.radii, self.crossed),
        )  # fmt: skip
        self.companions = (BeltPull(self),)

    @property
    def law(self) -> tuple[float, float, float]:
        """Twice tanh(E/2) of sticking and of sliding, at the start."""
        return self._law

    def regular(self, point: Any) -> bool:
        """True if it can be differentiated at a configuration: no jump of an angle, wheels apart and not on edge."""
        d, e = self.centres(point.x, point.R)
        a, other = float(np.hypot(d[0], d[1])), float(np.hypot(e[0], e[1]))
        angles = np.array([-math.atan2(d[1], d[0]), -math.atan2(e[1], e[0])])
        apart = min(a, other) > 0.3 * float(np.linalg.norm(d)) and a > 1.5 * self.reach
        return bool(apart and np.abs(angles).max() < 3.0)


def _example(rng: Any, a: Any, b: Any) -> IdealBelt:
    radii = rng.uniform(0.05, 0.3, size=2)
    P, Q = random_wheels(rng, a, b, 1.2 * radii.sum())
    wrap = rng.uniform(1.0, 4.0, size=2) if rng.random() < 0.2 else None
    mu = rng.uniform(0.1, 1.0, size=2)
    return IdealBelt(
        P, Q, radii=radii, pretension=rng.uniform(0.5, 2.0), friction=(1.2 * mu[0], mu[0]), other_friction=mu[1],
        wrap=wrap, crossed=rng.random() < 0.5,
    )  # fmt: skip


def _example_pull(rng: Any, a: Any, b: Any) -> Element:
    return _example(rng, a, b).companions[0]


register(IdealBelt, example=_example)
register(BeltPull, example=_example_pull)
