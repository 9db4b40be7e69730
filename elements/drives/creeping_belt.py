"""Elastic belt on two pulleys that creeps, and slips as a whole where friction on a pulley is used up.

A belt enters a pulley with the strain of the span that it comes from, at the speed of the rim, and creeps on the way
to the other span. With the unstretched lengths l± of the two free spans

    l± = l_0 ± y ,   T± = EA (L/l± − 1) ,   L = L_0 + h(a) − h(a_start) ,   l_0 = L_0/(1 + T_0/EA)                  (1)
    ẏ = (w_2 l_2 − w_1 l_1)/L                                                                                     (2)

w_1 = r_1 φ̇_1 and w_2 = ±r_2 φ̇_2 are the speeds of the rims along the belt, l_i is that of the span from which the belt
comes to pulley i: for w_1 > 0 l₊, for w_2 > 0 l₋. l₊ + l₋ stays. Where T₊/T₋ = e^{±E} the flow on a pulley is free
and the tensions keep their ratio: |y| ≤ Y with

    Y² − c L Y + (L − l_0) l_0 = 0 ,   c = 1/tanh(E/2) ,   smaller root                                           (3)

The state that is integrated is z = (EA/l_0) y [N], the velocity of a `Node1` of unit mass as in `control.first_order`.
T± are those of y cut off at ±Y. The excess decays as (z − z_Y)/τ: the belt sticks again τ late, and only that
is not exact.

    f = −Σ± T± ∇ε± ,   ∇ε± = ±(r_1 ∇φ_1 ∓ r_2 ∇φ_2) + h' ∇a ,   V = Σ± ½ EA (L − l±)²/l±                          (4)

Source: docs/theory/gears_and_belts.md, (23)-(25). φ, a, h, signs: `fem_mbs.elements.drives.spans`; E: `drives.wrap`.

    symbol      code            unit      meaning
    T±, ∂T±/∂z  w[0:2], w[2:4]  N, -      tensions
    ∂T±/∂a      w[4:6]          N/m
    y, ∂/∂z, /∂a  w[6:9]        m …       cut off
    L, h', h''  w[9:12]         m, -, 1/m
    z           v[12]           N         third node of the element
    1/τ         p.recovery      1/s
"""

import math
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.deprecated import Deprecated
from fem_mbs.element.base import JOINT_FRAMES, Inertia, register
from fem_mbs.elements.drives.gear_mesh import TwoWheels, random_wheels
from fem_mbs.elements.drives.spans import centre_line, centre_line_hessian, tangent_length, trouble_tangents
from fem_mbs.elements.drives.wrap import WRAP, exponent, exponent_slope, given_wrap, grip, leans, wraps
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.nodes import Node1

PARAMETERS = np.dtype(
    [*JOINT_FRAMES.descr, ("r_1", "f8"), ("r_2", "f8"), ("kappa", "f8"), ("h_0", "f8"), ("length", "f8"), ("EA", "f8"),
     ("l_0", "f8"), ("recovery", "f8"), *WRAP]
)  # fmt: skip
Z = 12  # place of z among the velocities of the element


@kernel
def _cut(p, a, z, w):
    """Fill w[6:12]: y of (1) cut off at ±Y of (3), its derivatives by z and a; L and its derivatives by a."""
    ratio = min(p.kappa / a, 1.0)
    w[10] = math.sqrt(1.0 - ratio * ratio)
    w[11] = ratio * ratio / (a * w[10]) if w[10] > 0.0 else 0.0
    w[9] = p.length + tangent_length(p.kappa, a) - p.h_0
    y, L, D = z * p.l_0 / p.EA, w[9], w[9] - p.l_0
    half = 0.5 * exponent(p, a)
    c = 1.0 / math.tanh(half)
    Y = slope = 0.0
    if D > 0.0:
        Y = 2.0 * D * p.l_0 / (c * L + math.sqrt(c * c * L * L - 4.0 * D * p.l_0))
        dc = -0.5 * exponent_slope(p, a) / math.sinh(half) ** 2
        slope = ((p.l_0 - c * Y) * w[10] - L * Y * dc) / (c * L - 2.0 * Y)
    w[6], w[7], w[8] = y, p.l_0 / p.EA, 0.0
    if abs(y) > Y:
        side = 1.0 if y > 0.0 else -1.0
        w[6], w[7], w[8] = side * Y, 0.0, side * slope


@kernel
def tensions(p, a, z, w):
    """Fill w (12,), see the symbol table. Both spans are slack where L < l_0."""
    _cut(p, a, z, w)
    L = w[9]
    for i in range(2):
        sign = 1.0 - 2.0 * i
        l = p.l_0 + sign * w[6]
        w[i] = w[2 + i] = w[4 + i] = 0.0
        if L > p.l_0:
            by_y = -sign * p.EA * L / (l * l)
            w[i] = p.EA * (L / l - 1.0)
            w[2 + i] = by_y * w[7]
            w[4 + i] = p.EA / l * w[10] + by_y * w[8]


@kernel
def _rims(p, U, v, rims):
    """Fill rims (2,) with the speeds w_1, w_2 of (2)."""
    rims[0] = rims[1] = 0.0
    for j in range(12):
        rims[0] += p.r_1 * U[0, j] * v[j]
        rims[1] -= p.r_2 * U[1, j] * v[j]


@kernel
def _side(rims, i):
    """+1 where the belt comes to pulley i from the span +, −1 from the span −."""
    return 1.0 if (rims[i] > 0.0) == (i == 0) else -1.0


@kernel
def creep_rate(p, w, rims, z):
    """ż of (2) [N/s], with what brings z back to its bound."""
    flow = rims[1] * (p.l_0 + _side(rims, 1) * w[6]) - rims[0] * (p.l_0 + _side(rims, 0) * w[6])
    return p.EA / p.l_0 * (flow / w[9] + p.recovery * w[6]) - p.recovery * z


@kernel
def inertia(a, Ma):
    """M = 1 of the state."""
    Ma[Z] += a[Z]


@kernel
def inertia_tangent(M):
    """M = 1 of the state."""
    M[Z, Z] += 1.0


@kernel
def _geometry(p, x_A, R_A, x_B, R_B, u, U):
    """Fill u (3,) and U (3, 12), angles within one turn: forces do not depend on turns."""
    near = local_vector(2)
    near[0], near[1] = 0.0, 0.0
    centre_line(p, x_A, R_A, x_B, R_B, near, u, U)


@kernel
def creeping_force(p, x_A, R_A, x_B, R_B, v, f):
    """Add (4), and (2) to the state."""
    u, U, w, rims = local_arrays("3, 3 12, 12, 2")
    _geometry(p, x_A, R_A, x_B, R_B, u, U)
    tensions(p, u[2], v[Z], w)
    _rims(p, U, v, rims)
    for j in range(12):
        f[j] -= (w[0] - w[1]) * (p.r_1 * U[0, j] + p.r_2 * U[1, j]) + (w[0] + w[1]) * w[10] * U[2, j]
    f[Z] += creep_rate(p, w, rims, v[Z])


@kernel
def creeping_tangent(p, x_A, R_A, x_B, R_B, v, K, C):
    """Add −∂f/∂q and −∂f/∂v of (4) and (2)."""
    u, U, w, rims = local_arrays("3, 3 12, 12, 2")
    HU = local_arrays("3 12 12")[0]
    _geometry(p, x_A, R_A, x_B, R_B, u, U)
    centre_line_hessian(p, x_A, R_A, x_B, R_B, HU)
    tensions(p, u[2], v[Z], w)
    _rims(p, U, v, rims)
    k, L = p.EA / p.l_0, w[9]
    l_1, l_2 = p.l_0 + _side(rims, 0) * w[6], p.l_0 + _side(rims, 1) * w[6]
    by_y = k * ((rims[1] * _side(rims, 1) - rims[0] * _side(rims, 0)) / L + p.recovery)  # ∂ż/∂y
    by_a = by_y * w[8] - k * (rims[1] * l_2 - rims[0] * l_1) / (L * L) * w[10]
    for i in range(12):
        turn = p.r_1 * U[0, i] + p.r_2 * U[1, i]
        C[i, Z] += (w[2] - w[3]) * turn + (w[2] + w[3]) * w[10] * U[2, i]
        C[Z, i] += k / L * (l_1 * p.r_1 * U[0, i] + l_2 * p.r_2 * U[1, i])
        moved = 0.0
        for j in range(12):
            bent = (w[0] - w[1]) * (p.r_1 * HU[0, i, j] + p.r_2 * HU[1, i, j])
            bent += (w[0] + w[1]) * (w[10] * HU[2, i, j] + w[11] * U[2, i] * U[2, j])
            K[i, j] += bent + ((w[4] - w[5]) * turn + (w[4] + w[5]) * w[10] * U[2, i]) * U[2, j]
            moved += v[j] * (l_1 * p.r_1 * HU[0, j, i] + l_2 * p.r_2 * HU[1, j, i])
        K[Z, i] += k / L * moved - by_a * U[2, i]
    C[Z, Z] += p.recovery - by_y * w[7]


@kernel
def energy_creeping(p, x_A, R_A, x_B, R_B, v):
    """Strain energy V of (4) [J]."""
    u, U, w = local_arrays("3, 3 12, 12")
    _geometry(p, x_A, R_A, x_B, R_B, u, U)
    tensions(p, u[2], v[Z], w)
    energy = 0.0
    for i in range(2):
        energy += 0.5 * w[i] * w[i] / p.EA * (p.l_0 + (1.0 - 2.0 * i) * w[6])
    return energy


@kernel
def creeping_output(p, x_A, R_A, x_B, R_B, v, out):
    """Tensions, torque on pulley 1, speed of creep or slip, grip, unstretched lengths, status."""
    u, U, w, rims = local_arrays("3, 3 12, 12, 2")
    _geometry(p, x_A, R_A, x_B, R_B, u, U)
    tensions(p, u[2], v[Z], w)
    _rims(p, U, v, rims)
    out[0] += w[0]
    out[1] += w[1]
    out[2] -= p.r_1 * (w[0] - w[1])
    out[3] += rims[0] - rims[1]
    out[4] += grip(p, u[2], w[0], w[1])
    out[5] += p.l_0 + w[6]
    out[6] += p.l_0 - w[6]
    if w[7] == 0.0 and w[9] > p.l_0:
        out[7] += 1.0 if w[0] > w[1] else -1.0


class AxialStiffness(NamedTuple):
    """EA [N] of a belt: the former parameter ``axial_stiffness``."""

    EA: Any


@Deprecated.keywords(axial_stiffness=("stiffness", AxialStiffness))
class CreepingBelt(TwoWheels, Inertia):
    """Elastic belt between two pulleys with parallel axes: it creeps under load, and slips where friction is used up.

    Pulley 2 lags behind the ratio of the radii by the difference of the strains of both spans, some tenths of a per
    cent. At Euler-Eytelwein's limit the belt slips on the pulley with the smaller μβ, and its tensions keep their
    ratio.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Centres of pulley 1 and pulley 2; z axes along those of the pulleys, parallel and in the same sense at the
        start.
    radii : (2,) [m]
    stiffness : float > 0 [N/m]
        Of one free span, EA/L_0 with its length L_0.
    pretension : float > 0 [N]
        T_0 of both spans at the start.
    friction : float > 0, -
        μ between belt and pulley 1; of a V-belt μ/sin of half the angle of its groove.
    other_friction : float > 0, optional
        Of pulley 2; default: that of pulley 1.
    wrap : float or (2,) [rad], optional
        Angles of wrap, where idlers change them. Default: those of the geometry at any time.
    length : float > 0 [m], optional
        L_0 of a free span at the start, where idlers change it. Default: that of the geometry.
    crossed : bool
        Whether the pulleys turn in opposite senses.
    recovery : float > 0 [s]
        τ: a belt that has slipped sticks again this time late. Tensions do not depend on it while it slips.
    name : str, optional

    Outputs
    -------
    tension : (2,) [N], of the span that pulley 1 tightens when it drives in positive sense, and of the other
    torque : [N m], of the belt on pulley 1 about its axis
    slip : [m/s], by which the rim of pulley 1 is faster: creep, or slip
    grip : [-], part of Euler-Eytelwein's limit that is used; 1 while the belt slips
    unstretched : (2,) [m], lengths of the belt in the two spans
    status : 0 creeps, 1 or −1 slips as a whole, tension[0] or tension[1] being the larger

    Raises
    ------
    ParameterError
        Both frames on one node; axes not parallel; pulleys that overlap; numbers out of range.

    Notes
    -----
    Equations (1)-(4) of the file's header. All methods support it: it is a force with a state. The arcs keep their belt
    when centres move. It has no mass and no material damping; creep damps the swing of the pulleys. Steps resolve
    that swing, at √(2 EA/L (r_1²/J_1 + r_2²/J_2)) rad/s.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> belt = CreepingBelt(
    ...     Node6(), Node6([0.5, 0, 0]), radii=(0.1, 0.15), stiffness=2e4, pretension=200, friction=0.3
    ... )
    >>> belt.slips_on
    1
    """

    parameters = PARAMETERS
    kernels = {
        "inertia": inertia, "inertia_tangent": inertia_tangent, "force": creeping_force,
        "force_tangent": creeping_tangent, "energy": energy_creeping, "trouble": trouble_tangents,
        "output": creeping_output,
    }  # fmt: skip
    outputs = {
        "tension": (2, "N"), "torque": (1, "N m"), "slip": (1, "m/s"), "grip": (1, ""), "unstretched": (2, "m"),
        "status": (1, ""),
    }  # fmt: skip
    abstract = True
    abrupt = True
    circulatory = True
    invariant = False

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        radii: ArrayLike,
        stiffness: float,
        pretension: float,
        friction: float,
        other_friction: float | None = None,
        wrap: ArrayLike | None = None,
        length: float | None = None,
        crossed: bool = False,
        recovery: float = 1e-4,
        name: str | None = None,
    ) -> None:
        distance = self._connect_wheels(frame_P, frame_Q, name)
        self._set_radii(radii, crossed)
        self.pretension = self.positive("pretension", pretension, "N")
        self.friction = self.positive("friction", friction, "")
        other = self.friction if other_friction is None else self.positive("other_friction", other_friction, "")
        mu, fixed = np.array([self.friction, other]), given_wrap(self, wrap)
        self.wraps = np.where(fixed > 0.0, fixed, wraps(self.radii, self.crossed, distance))
        self.slips_on = 1 + int(mu[1] * self.wraps[1] < mu[0] * self.wraps[0])
        r_1, r_2 = self.radii[0], self.radii[1] if self.crossed else -self.radii[1]
        self.reach = abs(r_1 + r_2)
        span = math.sqrt(distance**2 - self.reach**2) if length is None else self.positive("length", length, "m")
        self.length, self.recovery = span, self.positive("recovery", recovery, "s")
        EA = self._axial(stiffness, span)
        state = Node1()
        Inertia.__init__(self, (self.frame_P.node, self.frame_Q.node, state), name=name)
        state.body = self
        frames = (self.frame_P.p, self.frame_P.rotation, self.frame_Q.p, self.frame_Q.rotation)
        self.record = (
            *frames, r_1, r_2, self.reach, tangent_length(self.reach, distance), span, EA,
            span / (1.0 + self.pretension / EA), 1.0 / self.recovery, mu, fixed,
            leans(self.radii, self.crossed),
        )  # fmt: skip

    def _axial(self, stiffness, span):
        """Set ``stiffness`` [N/m]; return EA [N]."""
        if isinstance(stiffness, AxialStiffness):
            EA = self.positive("axial_stiffness", stiffness.EA, "N")
            self.stiffness = EA / span
            return EA
        self.stiffness = self.positive("stiffness", stiffness, "N/m")
        return self.stiffness * span

    def regular(self, point: Any) -> bool:
        """True if forces can be differentiated at a configuration: no jump of an angle, no rim about to turn back."""
        d, e = self.centres(point.x, point.R)
        a, other = float(np.hypot(d[0], d[1])), float(np.hypot(e[0], e[1]))
        angles = np.array([-math.atan2(d[1], d[0]), -math.atan2(e[1], e[0])])
        if min(a, other) < 0.3 * float(np.linalg.norm(d)) or a < 1.5 * self.reach or np.abs(angles).max() > 3.0:
            return False
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        p, z, w, rims, u, U = p[0], point.v[Z], np.zeros(12), np.zeros(2), np.zeros(3), np.zeros((3, 12))
        _geometry(p, point.x[0], point.R[0], point.x[1], point.R[1], u, U)
        _rims(p, U, point.v, rims)
        _cut(p, a, 1e30, w)
        limit, L = w[6] * p["EA"] / p["l_0"], w[9]
        return bool(L > 1.1 * p["l_0"] and abs(abs(z) - limit) > 0.1 * limit and np.abs(rims).min() > 0.05)


def _example(rng: Any, a: Any, b: Any) -> CreepingBelt:
    radii = rng.uniform(0.05, 0.3, size=2)
    P, Q = random_wheels(rng, a, b, 1.2 * radii.sum())
    pretension, mu = rng.uniform(0.5, 2.0), rng.uniform(0.3, 1.0, size=2)
    stiffness = 4.0 * pretension / float(np.linalg.norm(Q.position - P.position))
    return CreepingBelt(
        P, Q, radii=radii, stiffness=stiffness, pretension=pretension, friction=mu[0],
        other_friction=mu[1], crossed=rng.random() < 0.5, recovery=0.5,
    )  # fmt: skip


register(CreepingBelt, example=_example)
