"""Belt or chain on two wheels, its free spans elastic (Kelvin), without slip on the wheels.

The kernels are those of `drives.spans`, the two free spans in them; T± = F±, r_2 < 0 for an open belt:

    T± = max(T_0 + k ε± + c ε̇±, 0) ,   ε± = ±(r_1 φ_1 ∓ r_2 φ_2) + h(a) − h(a_start)                              (1)
    torque about z on wheel 1: −r_1 (T₊ − T₋), on wheel 2: ±r_2 (T₊ − T₋)                                         (2)

upper signs in the brackets and in (2) for open, lower ones for crossed belts. What the belt has wound up is part of
ε: a belt that has once slipped, or creeps, is not in this law. With coefficients of friction the part of
Euler-Eytelwein's limit that is used, u, is looked at after every step, its largest value and the time at which it
passes 1 are kept.

Source: docs/theory/gears_and_belts.md, (7)-(10), (22). Symbols: `fem_mbs.elements.drives.spans`; u: `drives.wrap`.

    symbol   code               unit   meaning
    -        state[MOST]        -      largest u since the start
    -        state[BEYOND]      s      when u was above 1 for the first time; −1: never
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.drives.gear_mesh import TangentForce, random_wheels
from fem_mbs.elements.drives.spans import (
    SPANS,
    centre_line,
    count_angles,
    energy_spans,
    first_angles,
    span_force,
    spans_force,
    spans_tangent,
    stretch,
    stretch_gradient,
    tangent_length,
    trouble_tangents,
)
from fem_mbs.elements.drives.wrap import WRAP, given_wrap, grip, leans, wraps
from fem_mbs.jit import kernel, local_arrays, local_vector, matrix

PARAMETERS = np.dtype([*SPANS.descr, *WRAP, ("wraps", "i8")])
MOST, BEYOND = 2, 3  # in the internal variables, after the angles


@kernel
def span_tensions(p, x_A, R_A, x_B, R_B, v, state, T):
    """Fill T (2,) with T± of (1); returns the centre distance."""
    u, U, G = local_arrays("3, 3 12, 12")
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    k = matrix(p.table_at, p.pieces, 4)[0, 0]
    for i in range(2):
        flank, rate = 1.0 - 2.0 * i, 0.0
        stretch_gradient(p, u, U, flank, G)
        for j in range(12):
            rate += G[j] * v[j]
        T[i] = span_force(p, k, stretch(p, u, flank), rate)
    return u[2]


@kernel
def belt_grip(p, x_A, R_A, x_B, R_B, v, state):
    """u of a belt with friction, else 0."""
    if p.wraps == 0:
        return 0.0
    T = local_vector(2)
    a = span_tensions(p, x_A, R_A, x_B, R_B, v, state, T)
    return grip(p, a, T[0], T[1])


@kernel
def note_grip(p, x_A, R_A, x_B, R_B, v, t, state):
    """Keep the largest u, and when it was above 1 first."""
    used = belt_grip(p, x_A, R_A, x_B, R_B, v, state)
    state[MOST] = max(state[MOST], used)
    if used > 1.0 and state[BEYOND] < 0.0:
        state[BEYOND] = t


@kernel
def first_belt(p, x_A, R_A, x_B, R_B, v, t, state):
    """Angles of the pulleys and u at the start."""
    first_angles(p, x_A, R_A, x_B, R_B, state)
    state[MOST], state[BEYOND] = 0.0, -1.0
    note_grip(p, x_A, R_A, x_B, R_B, v, t, state)


@kernel
def count_belt(p, x_A, R_A, x_B, R_B, v, t, state):
    """Angles of the pulleys at the end of a step, and u."""
    count_angles(p, x_A, R_A, x_B, R_B, state)
    note_grip(p, x_A, R_A, x_B, R_B, v, t, state)


@kernel
def belt_output(p, x_A, R_A, x_B, R_B, v, state, out):
    """Tensions of the two spans, torque on wheel 1, stretch r_1 φ_1 ∓ r_2 φ_2 from the start, u, its most, beyond."""
    u, U, T = local_arrays("3, 3 12, 2")
    span_tensions(p, x_A, R_A, x_B, R_B, v, state, T)
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    out[0] += T[0]
    out[1] += T[1]
    out[2] -= p.r_1 * (T[0] - T[1])
    out[3] += p.r_1 * u[0] + p.r_2 * u[1] - p.psi_0
    out[4] += belt_grip(p, x_A, R_A, x_B, R_B, v, state)
    out[5] += state[MOST]
    out[6] += state[BEYOND]


class Belt(TangentForce):
    """Belt or chain between two wheels with parallel axes; elastic free spans that can go slack, no slip.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Centres of wheel 1 and wheel 2; z axes along those of the wheels, parallel and in the same sense at the start.
    radii : (2,) [m]
    stiffness : float > 0 [N/m]
        Of one free span, EA/L with its length L.
    pretension : float ≥ 0 [N]
        T_0 of both spans at the start.
    damping : float ≥ 0 [N s/m], of one span
    crossed : bool
        Whether the wheels turn in opposite senses.
    friction : float > 0, optional
        μ between belt and wheels. It changes no force: the run warns where the belt would slip. V-belts: μ/sin of half
        the angle of the groove. None, for chains and toothed belts: nothing slips.
    other_friction : float > 0, optional
        Of wheel 2; default: that of wheel 1.
    wrap : float or (2,) [rad], optional
        Angles of wrap, where idlers change them. Default: those of the geometry at any time.
    name : str, optional

    Outputs
    -------
    tension : (2,) [N], of the span that wheel 1 tightens when it rotates in positive sense, and of the other
    torque : [N m], of the belt on wheel 1 about its axis
    slip_path : [m], r_1 φ_1 ∓ r_2 φ_2 since the start: elastic here
    grip : [-], part of Euler-Eytelwein's limit that is used; above 1 a belt with this friction would slip
    most_grip : [-], the largest of all steps since the start
    beyond : [s], when it was above 1 for the first time; −1: never

    Raises
    ------
    ParameterError
        Both frames on one node; axes not parallel; wheels that overlap; numbers out of range.

    Notes
    -----
    Equations (1), (2) of the file's header. Wheels and shafts feel both tensions along the spans, and feel them change
    when the centres move. Where T_1/T_2 passes exp(μβ) a friction belt slips, which this one does not: with
    ``friction`` the run reports it, with time and factor. `IdealBelt` and `CreepingBelt` slip. A stiff belt whose ratio
    must be exact is a `CoordinateCoupling`.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> belt = Belt(Node6(), Node6([0.5, 0, 0]), radii=(0.1, 0.15), stiffness=2e4, pretension=200, name="V-belt")
    """

    parameters = PARAMETERS
    n_state = 4
    kernels = {
        "force": spans_force, "force_tangent": spans_tangent, "energy": energy_spans, "initial": first_belt,
        "accept": count_belt, "trouble": trouble_tangents, "output": belt_output,
    }  # fmt: skip
    outputs = {"tension": (2, "N"), "torque": (1, "N m"), "slip_path": (1, "m"), "grip": (1, ""), "most_grip": (1, ""),
               "beyond": (1, "s")}  # fmt: skip

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        radii: ArrayLike,
        stiffness: float,
        pretension: float = 0.0,
        damping: float = 0.0,
        crossed: bool = False,
        friction: float | None = None,
        other_friction: float | None = None,
        wrap: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        distance = self._connect_wheels(frame_P, frame_Q, name)
        self._set_radii(radii, crossed)
        self.stiffness = self.positive("stiffness", stiffness, "N/m")
        self.pretension = self.positive("pretension", pretension, "N", allow_zero=True)
        damping = self.positive("damping", damping, "N s/m", allow_zero=True)
        self._set_friction(friction, other_friction, wrap)
        r_1, r_2 = self.radii[0], self.radii[1] if self.crossed else -self.radii[1]
        psi_0 = r_1 * self.start_angles[0] + r_2 * self.start_angles[1]
        h_0 = tangent_length(abs(r_1 + r_2), distance)
        table = np.array([[self.stiffness, 0.0, 0.0, 0.0]])
        self._finish(r_1, r_2, 1.0, h_0, psi_0, 0.0, self.pretension, damping, table, 0.0, 0.0)

    def _set_friction(self, friction, other, wrap):
        """Coefficients (2,), angles of wrap that are given, signs of the others: the fields `WRAP`."""
        self.friction = None if friction is None else self.positive("friction", friction, "")
        if friction is None:
            for name, value in (("other_friction", other), ("wrap", wrap)):
                self.check(value is None, name, value, "has no effect without friction: give friction too")
        mu = [self.friction or 0.0] * 2
        if other is not None:
            mu[1] = self.positive("other_friction", other, "")
        fixed = given_wrap(self, wrap)
        both = np.array(mu) * np.where(fixed > 0.0, fixed, wraps(self.radii, self.crossed, self.distance))
        self.slips_on, self.exponent = 1 + int(both[1] < both[0]), float(both.min())  # at the start
        self._wrap = (mu, fixed, leans(self.radii, self.crossed), int(friction is not None))

    def place(self) -> None:
        super().place()
        self.record: tuple = (*self.record, *self._wrap)

    def output_warnings(self, histories: dict) -> list:
        """Return a warning about outputs, see `element_checks`: slip that this belt does not have."""
        most, beyond = float(histories["most_grip"].max()), histories["beyond"]
        if most <= 1.0:
            return []
        text = (
            f"the difference of its tensions was up to {most:.4g} times what friction holds on wheel {self.slips_on}, "
            f"μβ = {self.exponent:.4g} (Euler-Eytelwein), first at t = {beyond[beyond >= 0.0].min():.6g} s. It would "
            "have slipped there, and this element does not: take IdealBelt or CreepingBelt, or more pretension"
        )
        return [("belt grip", most, text)]


def _example(rng: Any, a: Any, b: Any) -> Belt:
    radii = rng.uniform(0.05, 0.3, size=2)
    P, Q = random_wheels(rng, a, b, 1.2 * radii.sum())
    stiffness, pretension, damping = rng.uniform(0.5, 2.0, size=3)
    damping *= 0.05 * rng.integers(0, 2)
    friction = 0.3 if rng.random() < 0.5 else None
    return Belt(
        P, Q, radii=radii, stiffness=stiffness, pretension=pretension, damping=damping, crossed=rng.random() < 0.5,
        friction=friction,
    )  # fmt: skip


register(Belt, example=_example)
