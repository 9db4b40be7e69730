"""Steady response of a rotor to unbalances: circular or elliptic orbits with the frequency of the spin.

A mass m at a distance e from the axis, at an angle β from e₁ when the rotor passes t = 0, pulls with

    F = Re{ m e Ω² e^{iβ} (e₁ − i e₂) e^{iΩt} },      (K + iΩC − Ω²M) u − Gᵀμ = F,  G u = 0                          (1)

e₁, e₂ and the spin are right-handed. With u = u₁ e₁ + u₂ e₂ (complex) the orbit is the sum of a forward circle of
radius |r₊| and a backward one of |r₋|, its semi-axes |r₊| ± |r₋|:

    r₊ = (u₁ + i u₂)/2,      r₋ = (ū₁ + i ū₂)/2                                                                     (2)

Source: docs/theory/rotors.md, (10), (11); Friswell et al., Dynamics of Rotating Machines (2010), section 6.2.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.deprecated import Deprecated
from fem_mbs.errors import SolverError, label
from fem_mbs.results.file.names import ShapesByName
from fem_mbs.rotations import frame_with_axis
from fem_mbs.solvers.rotors.rotor import Rotor
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from fem_mbs.arguments.checked import FrameLike
    from fem_mbs.model import Model
    from fem_mbs.solvers.static_result import StaticResult
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System


@Deprecated.attributes(remarks="warnings")
class UnbalanceResponse(ShapesByName):
    """Steady orbits over speed.

    Attributes
    ----------
    speeds : (k,) [rad/s]
    shapes : (k, N, 6) complex, u of u(t) = Re(u e^{iΩt}): (δx inertial [m], δθ body at t = 0 [rad]) of all nodes
        Of a node or body: ``response["disc"]`` (k, 6); ``len(response)`` is the number of speeds.
    directions : (3, 3), columns e₁, e₂ and the axis of the spin, inertial components
    warnings : list of str, as of `Campbell`
    system : System
    """

    def __init__(self, rotor: Rotor, speeds: np.ndarray, shapes: np.ndarray, directions: np.ndarray) -> None:
        self.system, self.speeds, self.shapes, self.directions = rotor.system, speeds, shapes, directions
        self.warnings = rotor.warnings
        self._R, self._owner = rotor.state.R, rotor.owner

    def displacement(self, part: "FrameLike") -> np.ndarray:
        """Displacement (k, 3) complex [m] of a node, body or frame, inertial components."""
        frame = self._owner.as_frame("part", part)
        node = frame.node
        self._owner.check(node in self.system.nodes, "part", part, f"is not in '{self.system.name}'")
        u = self.shapes[:, node.index]
        return u[:, :3] - np.cross(frame.p, u[:, 3:]) @ self._R[node.index].T

    def circles(self, part: "FrameLike") -> tuple[np.ndarray, np.ndarray]:
        """Forward and backward part r₊, r₋ (k,) complex [m] of the orbit, see (2)."""
        u = self.displacement(part) @ self.directions
        forward = 0.5 * (u[:, 0] + 1j * u[:, 1])
        backward = 0.5 * (u[:, 0].conj() + 1j * u[:, 1].conj())
        return np.where(self.speeds < 0, backward, forward), np.where(self.speeds < 0, forward, backward)

    def amplitude(self, part: "FrameLike") -> np.ndarray:
        """Semi-major axis (k,) [m] of the orbit across the axis."""
        forward, backward = self.circles(part)
        return np.abs(forward) + np.abs(backward)

    def minor(self, part: "FrameLike") -> np.ndarray:
        """Semi-minor axis (k,) [m]; negative where the orbit is run through backwards."""
        forward, backward = self.circles(part)
        return np.abs(forward) - np.abs(backward)

    def phase(self, part: "FrameLike") -> np.ndarray:
        """Angle (k,) [rad] of the forward circle ahead of e₁ at t = 0; −π to π."""
        return np.angle(self.circles(part)[0])

    def plot(
        self, *parts: "FrameLike", save: str | Path | None = None, rpm: bool = True, figure: "Figure | None" = None
    ) -> "Figure":
        """Draw amplitudes and phases of nodes, bodies or frames over speed; a matplotlib Figure."""
        from fem_mbs.solvers.rotors.diagram import draw_unbalance

        return draw_unbalance(self, save, parts, rpm, figure)

    def __len__(self):
        return len(self.speeds)

    def __repr__(self):
        return f"UnbalanceResponse({len(self.speeds)} speeds)"


@alone("unbalance_response")
@Keywords.known
def unbalance_response(
    model: "Model | System",
    unbalance: Mapping[Any, float | tuple[float, float]],
    speeds: ArrayLike,
    *,
    rotor: "FrameLike | Sequence | None" = None,
    axis: ArrayLike | None = None,
    about: "StaticResult | State | None" = None,
) -> UnbalanceResponse:
    """Steady response of a rotor, spinning at each of some speeds, to unbalances.

    Parameters
    ----------
    model, rotor, axis, about
        As in `campbell`: the model of the balanced rotor.
    unbalance : dict
        Node, body or frame -> m e [kg m], or (m e, β) with the angle β [rad] from e₁ = ``directions[:, 0]``.
    speeds : (k,) [rad/s], not 0

    Returns
    -------
    UnbalanceResponse

    Raises
    ------
    ParameterError
        As `campbell`; an unbalance on what does not turn.
    SolverError
        A speed is critical and the rotor has no damping.

    Examples
    --------
    >>> import numpy as np
    >>> import fem_mbs as fem
    >>> model = fem.Model("point rotor")
    >>> disc = model.add(fem.RigidBody(2.0, [2e-2, 1e-2, 1e-2], fixed=("x",), name="disc"))
    >>> for far in ([0, 1e4, 0], [0, 0, 1e4]):
    ...     _ = model.add(fem.Spring(model.ground.frame(far), disc, stiffness=200.0))
    >>> orbit = fem.unbalance_response(model, {disc: 2e-3}, [5.0], rotor=disc, axis=[1, 0, 0])
    >>> orbit.amplitude(disc).round(9)  # e r²/(1 − r²) at half the critical speed
    array([0.00033333])
    """
    owner = Named("unbalance_response")
    speeds = owner.as_array("speeds", speeds, (None,), unit="rad/s")
    owner.check(len(speeds) > 0 and speeds.all(), "speeds", speeds, "rad/s must not be 0")
    owner.as_instance("unbalance", unbalance, Mapping, "a dict: body -> m e [kg m]")
    found = Rotor(owner, model, rotor, axis, about)
    found.check(float(np.abs(speeds).max()))
    directions, load, ratio = _load(owner, found, unbalance)
    shapes = []
    for speed in speeds:
        shapes.append(found.shape(_response(found, float(speed), ratio * abs(float(speed)), directions, load)))
    return UnbalanceResponse(found, speeds, np.array(shapes), directions)


def _load(owner, rotor, unbalance):
    """Directions (3, 3), m e e^{iβ} by frame, and the speed of the rotor that has them over that of the fastest."""
    frames = {}
    for part, value in unbalance.items():
        frame = owner.as_frame("unbalance", part)
        owner.check(frame.node in rotor.system.nodes, "unbalance", part, f"is not in '{rotor.system.name}'")
        turns = rotor.spins[frame.node.index].any()
        owner.check(turns, "unbalance", part, f"is on {label(frame.node)}, which does not turn")
        size = owner.as_array("unbalance", value, (), (2,))
        frames[frame] = size * (1 + 0j) if size.ndim == 0 else size[0] * np.exp(1j * size[1])
    owner.check(frames, "unbalance", unbalance, "is empty")
    rates = [np.linalg.norm(rotor.spins[frame.node.index]) for frame in frames]
    same = np.ptp(rates) <= 1e-9
    owner.check(same, "unbalance", unbalance, "is on rotors of different speeds, whose responses have two frequencies")
    node = next(iter(frames)).node.index
    return frame_with_axis(rotor.state.R[node] @ rotor.spins[node] / rates[0]), frames, rates[0]


def _response(rotor, speed, frequency, directions, frames):
    """u (n,) of (1), the rotor spinning at a speed, the unbalances with a frequency [rad/s]."""
    from scipy.sparse import block_array
    from scipy.sparse.linalg import splu

    system = rotor.system
    M, C, K, G = rotor.matrices(speed)
    force = np.zeros((len(system.nodes), 6), complex)
    sign = 1.0 if speed > 0 else -1.0
    for frame, size in frames.items():
        node, R = frame.node.index, rotor.state.R[frame.node.index]
        pull = size * frequency**2 * (directions[:, 0] - sign * 1j * directions[:, 1])
        force[node, :3] += pull
        force[node, 3:] += np.cross(frame.p, R.T @ pull)
    A = K + 1j * frequency * C - frequency**2 * M
    right = np.concatenate([system.reduced(force), np.zeros(G.shape[0])])
    if G.shape[0]:
        A = block_array([[A, -G.T], [-G, None]])
    try:
        u = splu(A.tocsc()).solve(right)[: system.n]
    except RuntimeError:
        u = np.full(system.n, np.nan)
    if not np.isfinite(u).all():
        raise SolverError(
            f"unbalance_response: {speed:.6g} rad/s is a critical speed of a rotor without damping, or the model has "
            "motions without stiffness and mass"
        )
    return u
