"""Dry friction in a joint: set-valued Coulomb friction against the rate of one of its coordinates.

    turning   γ = z_P·(ω_B − ω_A) − ω(t) ,   G_θA = −z ,  G_θB = R_Bᵀ R_A z                                          (1)
    sliding   γ = d/dt z_P·(x_S − x_P) − v(t) ,   S on the second body, beside Q by the offset                      (2)
    N = F_0(t) + Σ_k |C_k p| ,   p = λ , but the first three rows of a hinge in the axes of P: (R_A R_AP)ᵀ λ        (3)
    ∂N/∂λ = Σ_k C_kᵀ C_k p/|C_k p| ,   ∂N/∂θ_A = (R_AP w) × R_Aᵀ λ  with w the first three of it in the axes of P   (4)

In (3) and (4) a term with C_k p = 0 has no slope. F = (F_x, F_y) is the radial force of the joint, M its moment about
Q, in the axes of P; bearings or pads at ±ℓ/2 along z carry F/2 ± (M_y, −M_x)/ℓ.

    joint         F           F_z     (M_y, −M_x)         rows
    Revolute      (p_0, p_1)  p_2     (λ_3, λ_4)          3 "point", x_P·z_Q, y_P·z_Q
    Cylindrical   (λ_0, λ_1)  -       (λ_2, λ_3)          2 "in plane", x_P·z_Q, y_P·z_Q
    Prismatic     (λ_0, λ_1)  -       (−λ_4, λ_3)         2 "in plane", x_P·y_Q, y_P·z_Q, z_P·x_Q

Source: docs/theory/joint_friction.md, (2)-(4). Symbols: see `fem_mbs.elements.joints.rows`.

    symbol    code          shape      unit     meaning
    C_k       p.terms       (6, 2, 5)  -, m     forces on the surfaces times their arms
    z         column 2 of p.R_AP       -        axis, A axes
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.elements.base import FrictionRow, friction_coefficients, register
from fem_mbs.elements.joints.rows import column, plane_hessian, plane_row, random_joint
from fem_mbs.jit import kernel, local_vector
from fem_mbs.registry import REGISTRY
from fem_mbs.rotations import add_cross, rotate, rotate_T
from fem_mbs.signals import Signal
from fem_mbs.system.friction import F_BOUND, F_FORCE, F_JAM, F_KAPPA, F_RATE, F_SIGN, F_STATUS, F_WORK, MOST_ROWS, SLIP

TURN, SLIDE = 0, 1
MOST_TERMS = 6
PARAMETERS = np.dtype(
    [("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3))]
    + [("kind", "i8"), ("rotated", "i8"), ("count", "i8"), ("terms", "f8", (MOST_TERMS, 2, MOST_ROWS))]
    + [("preload", "f8"), ("speed", "f8"), ("preload_signal", "i8"), ("speed_signal", "i8")]
)
# type of a joint, by name because joints make their friction -> its free coordinates, kinds of these, whether its first
# rows are those of a point, rows of F, of (M_y, −M_x)
KNOWN = {
    "Revolute": ({"angle": TURN}, True, (0, 1), ((3, 1.0), (4, 1.0))),
    "Prismatic": ({"displacement": SLIDE}, False, (0, 1), ((4, -1.0), (3, 1.0))),
    "Cylindrical": ({"displacement": SLIDE, "angle": TURN}, False, (0, 1), ((2, 1.0), (3, 1.0))),
}


@kernel
def friction(p, x_A, R_A, x_B, R_B, s, g, G, gt, gtt):
    """Add the gradient of (1) or (2) to G[0] (12,), and to gt[0], gtt[0] its derivatives by time [rad/s or m/s, …]."""
    if p.kind == TURN:
        z, Z, y = local_vector(3), local_vector(3), local_vector(3)
        column(p.R_AP, 2, z)
        rotate(R_A, z, Z)
        rotate_T(R_B, Z, y)
        for i in range(3):
            G[0, 3 + i] -= z[i]
            G[0, 9 + i] += y[i]
    else:
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, g, G)
    gt[0] -= p.speed
    if p.speed_signal >= 0:
        gt[0] -= s[p.speed_signal, 0]
        gtt[0] -= s[p.speed_signal, 1]


@kernel
def friction_hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂G/∂q of (1) or (2) to H[0] (12, 12)."""
    if p.kind == SLIDE:
        plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, H)
        return
    z, Z, y, unit, moved = local_vector(3), local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    column(p.R_AP, 2, z)
    rotate(R_A, z, Z)
    rotate_T(R_B, Z, y)
    for j in range(3):
        for i in range(3):
            unit[i] = 1.0 if i == j else 0.0
            moved[i] = 0.0
        add_cross(1.0, unit, z, moved)  # δz = δθ_A × z, in A axes
        rotate(R_A, moved, Z)
        rotate_T(R_B, Z, moved)
        for i in range(3):
            H[0, 9 + i, 3 + j] += moved[i]
            moved[i] = 0.0
        add_cross(-1.0, unit, y, moved)
        for i in range(3):
            H[0, 9 + i, 9 + j] += moved[i]


@kernel
def friction_bound(p, R_A, s, lam, bound, bound_lam, bound_q):
    """Add (3) to bound (1,) [N, N m], (4) to bound_lam (nr,) and bound_q (12,)."""
    nr = lam.shape[0]
    local, slope, y, w = local_vector(5), local_vector(5), local_vector(3), local_vector(3)
    for i in range(nr):
        local[i], slope[i] = lam[i], 0.0
    if p.rotated != 0:
        rotate_T(R_A, lam[:3], y)
        rotate_T(p.R_AP, y, local)
    given = p.preload
    if p.preload_signal >= 0:
        given += s[p.preload_signal, 0]
    bound[0] += max(given, 0.0)
    for k in range(p.count):
        a = b = 0.0
        for i in range(nr):
            a += p.terms[k, 0, i] * local[i]
            b += p.terms[k, 1, i] * local[i]
        size = np.sqrt(a * a + b * b)
        bound[0] += size
        if size > 0.0:
            for i in range(nr):
                slope[i] += (p.terms[k, 0, i] * a + p.terms[k, 1, i] * b) / size
    if p.rotated == 0:
        for i in range(nr):
            bound_lam[i] += slope[i]
        return
    rotate(p.R_AP, slope, w)
    add_cross(1.0, w, y, bound_q[3:6])
    rotate(R_A, w, slope)
    for i in range(nr):
        bound_lam[i] += slope[i]


@kernel
def output(state, out):
    """What the run has kept of the friction."""
    out[0] += state[F_FORCE]
    out[1] += state[F_BOUND]
    out[2] += state[F_RATE]
    if state[F_JAM] != 0.0:
        out[3] += 2.0
    elif state[F_STATUS] == SLIP:
        out[3] += state[F_SIGN]
    out[4] -= state[F_FORCE] * state[F_RATE]
    out[5] += state[F_WORK]
    out[6] += state[F_KAPPA]


class JointFriction(FrictionRow):
    """Dry friction in a joint that is in the model: it sticks, and slides where it cannot hold.

    The friction force or torque is at most μ N against the rate of a coordinate of the joint, and as large as it must
    be where that rate is zero: a door stays where it is left. N is made of a preload and of what the joint itself
    transmits at the time, impacts included.

    Parameters
    ----------
    joint : Revolute, Prismatic or Cylindrical
        It is added to the model by itself.
    friction : float ≥ 0 or (static, sliding), -
        μ, one number or two with static ≥ sliding. The force of a joint is the *resultant* of pressure and friction:
        for a journal with the dry coefficient f of its surfaces μ is sin(atan f) = f/√(1 + f²) (friction circle). For
        guides, whose friction is no part of what their rows transmit, μ is f itself.
    coordinate : "angle" or "displacement", optional
        Of a `Cylindrical`, which has both.
    radius : float ≥ 0 [m]
        Of the journal, for an angle: N has the radial force times it. 0: the load plays no part.
    length : float > 0 [m], optional
        Distance of two bearings or pads, at ±length/2 from Q along the axis, which carry the tilting moment. Default:
        one short bearing, which carries the force alone.
    collar : float ≥ 0 [m]
        Mean radius of a collar that carries the axial force of a `Revolute`.
    preload : float or function of t [s], ≥ 0 [N, of an angle N m]
        Part of N that is there without load: seals, a spring, a brake. With ``friction=1`` the torque of a clutch.
    flat : bool
        Of a displacement: flat ways, |F_x| + |F_y| of each pad, instead of a round guide, √(F_x² + F_y²).
    offset : (2,) [m]
        Of a displacement: where the friction acts beside the z axis, x and y of Q at the start. Guides jam by it.
    speed : float or function of t [s], [rad/s or m/s]
        Of the surface on the first body, for belts and motors with limited torque: friction acts against
        rate − speed.
    kappa : bool
        Compute κ in every step, at the price of one factorisation of a matrix.
    name : str, optional

    Outputs
    -------
    force : [N, of an angle N m], friction on the second body along the coordinate, at the end of the step; the mean
        over a step with an impact
    bound : [N or N m], μ N at the same time
    slip : [m/s or rad/s], rate − speed
    status : 0 sticks, 1 or −1 slides in this direction, 2 jammed in this step
    power : [W], taken out of the model
    dissipated : [J], the same since the start, by the trapezoidal rule
    kappa : [-], by which friction enlarges its own cause: 1/(1 − κ) times. At κ ≥ 1 a joint jams. Computed where
        sliding ends, or in all steps with ``kappa=True``

    Raises
    ------
    ParameterError
        Another joint; coefficients out of range; neither radius, collar nor preload for an angle; a length of pads of
        no size; options of another coordinate.

    Notes
    -----
    `DecoupledNSGA` alone knows it. Two frictions on the coordinates of one `Cylindrical` are two laws: the direction of
    friction is not that of the helical motion. The moment about the axis of a `Prismatic` causes no friction.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6(), position=[0, 0, 0], axis=[0, 0, 1], name="hinge")
    >>> friction = JointFriction(hinge, friction=(0.25, 0.2), radius=0.01, name="hinge friction")
    """

    parameters = PARAMETERS
    kernels = {"friction": friction, "friction_hessian": friction_hessian, "friction_bound": friction_bound,
               "output": output}  # fmt: skip

    def __init__(
        self,
        joint: Any,
        friction: float | Sequence[float],
        *,
        coordinate: str | None = None,
        radius: float = 0.0,
        length: float | None = None,
        collar: float = 0.0,
        preload: Any = 0.0,
        flat: bool = False,
        offset: Sequence[float] = (0.0, 0.0),
        speed: Any = 0.0,
        kappa: bool = False,
        name: str | None = None,
    ) -> None:
        self.name = name
        known = next((cls.__name__ for cls in type(joint).__mro__ if cls.__name__ in KNOWN), "")
        self.check(known != "", "joint", joint, "must be a Revolute, a Prismatic or a Cylindrical joint")
        coordinates, self.of_point, self._force, self._moment = KNOWN[known]
        if coordinate is None and len(coordinates) > 1:
            self.check(False, "coordinate", coordinate, f"must be one of {tuple(coordinates)}: this joint has both")
        self.coordinate = self.as_choice(
            "coordinate", next(iter(coordinates)) if coordinate is None else coordinate, tuple(coordinates)
        )
        self.turns = coordinates[self.coordinate] == TURN
        self.radius = self.number("radius", radius, "m", at_least=0)
        self.length = None if length is None else self.positive("length", length, "m")
        self.collar = self.number("collar", collar, "m", at_least=0)
        self.flat, self.offset = self.as_flag("flat", flat), self.as_vector("offset", offset, 2)
        self._refuse_others(known)
        signals: list[Signal] = []
        friction_coefficients(self, friction)  # before what else may be missing
        preload = self._given("preload", preload, signals)
        speed = self._given("speed", speed, signals)
        self.moved = speed != (0.0, -1)
        self.check(preload[0] >= 0.0, "preload", preload[0], "must be ≥ 0")
        loaded = not self.turns or self.radius > 0 or self.collar > 0
        self.check(loaded or preload != (0.0, -1), "radius", radius,
                   "is 0, and so are collar and preload: nothing would ever cause friction")  # fmt: skip
        unit = ("N m", "rad/s") if self.turns else ("N", "m/s")
        super().__init__(joint, friction, kappa=kappa, name=name, signals=signals, units=unit)
        terms = self._terms()
        frames = list(joint.record)
        frames[2] = frames[2] + frames[3][:, :2] @ self.offset
        rows = np.zeros((MOST_TERMS, 2, MOST_ROWS))
        for k, term in enumerate(terms):
            rows[k] = term
        self.record = (*frames, TURN if self.turns else SLIDE, int(self.of_point), len(terms), rows, preload[0],
                       speed[0], preload[1], speed[1])  # fmt: skip

    def _refuse_others(self, known):
        """Refuse options that the coordinate does not have."""
        if self.turns:
            self.check(not self.flat, "flat", self.flat, "belongs to a displacement, not to an angle")
            self.check(not self.offset.any(), "offset", self.offset, "belongs to a displacement, not to an angle")
        else:
            self.check(self.radius == 0.0, "radius", self.radius, "belongs to an angle, not to a displacement")
        self.check(self.collar == 0.0 or known == "Revolute", "collar", self.collar,
                   "carries the axial force, which only a Revolute has")  # fmt: skip

    def _given(self, name, value, signals):
        """A constant and −1, or 0 and the number of the signal that a function of time gets."""
        signal = Signal.of(self.as_motion(name, value))
        if signal.constant:
            return self.number(name, value), -1
        signals.append(signal)
        return 0.0, len(signals) - 1

    def _terms(self):
        """Rows C_k of (3), a list of (2, 5)."""
        F, M = np.zeros((2, MOST_ROWS)), np.zeros((2, MOST_ROWS))
        for i in range(2):
            row, sign = self._moment[i]
            F[i, self._force[i]], M[i, row] = 1.0, sign
        pads = [F] if self.length is None else [0.5 * F + M / self.length, 0.5 * F - M / self.length]
        if self.flat:
            pads = [np.array([pad[i], np.zeros(MOST_ROWS)]) for pad in pads for i in range(2)]
        terms = [self.radius * pad for pad in pads if self.radius > 0] if self.turns else pads
        if self.collar > 0:
            axial = np.zeros((2, MOST_ROWS))
            axial[0, 2] = self.collar
            terms.append(axial)
        return terms


def _example(rng, a, b):
    """Friction in a random joint, with all of its options in turn."""
    which, sizes = rng.integers(4), rng.uniform(0.05, 0.5, size=3)
    kind = ("Revolute", "Prismatic", "Cylindrical", "Cylindrical")[which]
    joint = random_joint(REGISTRY[kind][0], rng, a, b)
    options = {"length": sizes[1]} if rng.integers(2) else {}
    if which == 0:
        options["collar"], options["radius"] = sizes[2], sizes[0]
        options["speed"] = lambda t: 2.0 + t
    elif which == 1:
        options["flat"] = bool(rng.integers(2))
        options["offset"], options["preload"] = rng.normal(size=2), lambda t: 1.0 + t
    else:
        options["coordinate"] = ("angle", "displacement")[which - 2]
        options |= {"radius": sizes[0]} if which == 2 else {}
    return JointFriction(joint, friction=(0.3, 0.2), **options)


register(JointFriction, example=_example)
