"""Belt or chain on two wheels, its free spans elastic (Kelvin), without slip on the wheels.

The kernels are those of `drives.spans`, the two free spans in them; T± = F±, r_2 < 0 for an open belt:

    T± = max(T_0 + k ε± + c ε̇±, 0) ,   ε± = ±(r_1 φ_1 ∓ r_2 φ_2) + h(a) − h(a_start)                              (1)
    torque about z on wheel 1: −r_1 (T₊ − T₋), on wheel 2: ±r_2 (T₊ − T₋)                                         (2)

upper signs in the brackets and in (2) for open, lower ones for crossed belts. What the belt has wound up is part of
ε: a belt that has once slipped, or creeps, is not in this law.

Source: docs/theory/gears_and_belts.md, (7)-(10). Symbols: see `fem_mbs.elements.drives.spans`.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments import ArrayLike, FrameLike
from fem_mbs.elements.base import register
from fem_mbs.elements.drives.gear_mesh import TangentForce, random_wheels
from fem_mbs.elements.drives.spans import (
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
from fem_mbs.jit import kernel, local_matrix, local_vector, matrix


@kernel
def belt_output(p, x_A, R_A, x_B, R_B, v, state, out):
    """Tensions of the two spans, torque on wheel 1, stretch r_1 φ_1 ∓ r_2 φ_2 from the start."""
    u, U, G = local_vector(3), local_matrix(3, 12), local_vector(12)
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    k = matrix(p.table_at, p.pieces, 4)[0, 0]
    for i in range(2):
        flank, rate = 1.0 - 2.0 * i, 0.0
        stretch_gradient(p, u, U, flank, G)
        for j in range(12):
            rate += G[j] * v[j]
        tension = span_force(p, k, stretch(p, u, flank), rate)
        out[i] += tension
        out[2] -= flank * p.r_1 * tension
    out[3] += p.r_1 * u[0] + p.r_2 * u[1] - p.psi_0


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
    name : str, optional

    Outputs
    -------
    tension : (2,) [N], of the span that wheel 1 tightens when it turns in positive sense, and of the other
    torque : [N m], of the belt on wheel 1 about its axis
    slip : [m], r_1 φ_1 ∓ r_2 φ_2 since the start: elastic here

    Raises
    ------
    ParameterError
        Both frames on one node; axes not parallel; wheels that overlap; numbers out of range.

    Notes
    -----
    Equations (1), (2) of the file's header. Wheels and shafts feel both tensions along the spans, and feel them change
    when the centres move. Where the tensions get close to T_1/T_2 = exp(μβ) a friction belt slips, which this one does
    not; T_0 should be chosen so that they stay below. A stiff belt whose ratio must be exact is a `CoordinateCoupling`.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> belt = Belt(Node6(), Node6([0.5, 0, 0]), radii=(0.1, 0.15), stiffness=2e4, pretension=200, name="V-belt")
    """

    kernels = {
        "force": spans_force, "force_tangent": spans_tangent, "energy": energy_spans, "initial": first_angles,
        "accept": count_angles, "trouble": trouble_tangents, "output": belt_output,
    }  # fmt: skip
    outputs = {"tension": (2, "N"), "torque": (1, "N m"), "slip": (1, "m")}

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
        name: str | None = None,
    ) -> None:
        distance = self._connect_wheels(frame_P, frame_Q, name)
        self._set_radii(radii, crossed)
        self.stiffness = self.positive("stiffness", stiffness, "N/m")
        self.pretension = self.positive("pretension", pretension, "N", allow_zero=True)
        damping = self.positive("damping", damping, "N s/m", allow_zero=True)
        r_1, r_2 = self.radii[0], self.radii[1] if self.crossed else -self.radii[1]
        psi_0 = r_1 * self.start_angles[0] + r_2 * self.start_angles[1]
        h_0 = tangent_length(abs(r_1 + r_2), distance)
        table = np.array([[self.stiffness, 0.0, 0.0, 0.0]])
        self._finish(r_1, r_2, 1.0, h_0, psi_0, 0.0, self.pretension, damping, table, 0.0, 0.0)


def _example(rng: Any, a: Any, b: Any) -> Belt:
    radii = rng.uniform(0.05, 0.3, size=2)
    P, Q = random_wheels(rng, a, b, 1.2 * radii.sum())
    stiffness, pretension, damping = rng.uniform(0.5, 2.0, size=3)
    damping *= 0.05 * rng.integers(0, 2)
    return Belt(
        P, Q, radii=radii, stiffness=stiffness, pretension=pretension, damping=damping, crossed=rng.random() < 0.5
    )


register(Belt, example=_example)
