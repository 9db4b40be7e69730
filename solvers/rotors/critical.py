"""Critical speeds in one go: the eigenvalue problem in which the frequency is a multiple of the speed.

With s = i p Ω in (s²M + sC + K) φ = 0 and the gyroscopic part of C = Ω C₁ (antisymmetric), without damping,

    K φ = Ω² B φ,      B = p²M − i p C₁   (Hermitian)                                                               (1)

whose positive Ω² are the critical speeds of order p; the negative ones, of forward modes that discs with I_p > I_t keep
from ever meeting the line, are none. Stiffness that depends on the speed is put in by iteration, speed by speed.

Source: docs/theory/rotors.md, (9); Friswell et al., Dynamics of Rotating Machines (2010), section 6.5.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.errors import SolverError
from fem_mbs.solvers.rotors.campbell import CriticalSpeed
from fem_mbs.solvers.rotors.rotor import Rotor
from fem_mbs.solvers.rotors.whirl import mac
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fem_mbs.arguments.checked import FrameLike
    from fem_mbs.model import Model
    from fem_mbs.solvers.static_result import StaticResult
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System


ITERATIONS = 30
NEUTRAL = 1e-12  # of the largest stiffness: what a motion that nothing holds has by round-off
CLOSE = 1e-10  # relative change of a speed that ends its iteration


@alone("critical_speeds")
@Keywords.known
def critical_speeds(
    model: "Model | System",
    n: int = 4,
    *,
    rotor: "FrameLike | Sequence | None" = None,
    axis: ArrayLike | None = None,
    about: "StaticResult | State | None" = None,
    order: float = 1.0,
    lateral: bool = True,
) -> list[CriticalSpeed]:
    """The lowest critical speeds of a rotor without damping, directly, whatever their number.

    Parameters
    ----------
    model, rotor, axis, about, lateral
        As in `campbell`.
    n : int ≥ 1
        How many; fewer if the model has not so many.
    order : float > 0
        Multiple of the speed that is the frequency: 1 for unbalance.

    Returns
    -------
    list of CriticalSpeed
        By speed; ``mode`` counts them from 0, ``damping_ratio`` is 0.

    Raises
    ------
    ParameterError
        As `campbell`; models of more than 600 unknowns.
    SolverError
        The iteration on a stiffness that depends on the speed did not converge.
    """
    owner = Named("critical_speeds")
    n, order = owner.as_integer("n", n), owner.positive("order", order)
    lateral = owner.as_flag("lateral", lateral)
    found = Rotor(owner, model, rotor, axis, about)
    if found.Z is None:
        what = "has too many unknowns to solve for critical speeds at once; campbell(…).critical has those of its range"
        owner.check(False, "model", found.system.name, what)
    reference = float(np.sqrt(np.abs(found.matrices(0.0)[2].diagonal()).max() / found.M.diagonal().max()))
    found.check(reference)
    squares, vectors = _solve(found, 0.0, reference, order)
    result: list[CriticalSpeed] = []
    for square, vector in zip(squares, vectors.T):
        speed, vector = _settled(found, np.sqrt(square), vector, order)
        name, _ = found.label(vector, 1.0)
        if not (lateral and name == "along the axis"):
            result.append(CriticalSpeed(float(speed), len(result), name, order, 0.0))
        if len(result) == n:
            break
    return sorted(result)


def _solve(rotor, stiffness_at, gyroscopic_at, order):
    """Ω² > 0 of (1), increasing, and vectors by columns, with K and C₁ taken at speeds [rad/s]."""
    Z = rotor.Z
    K = Z.T @ (rotor.matrices(stiffness_at)[2] @ Z)
    M, C, _, _ = rotor.matrices(gyroscopic_at)
    m, c = Z.T @ (M @ Z), Z.T @ (C @ Z)
    k, B = 0.5 * (K + K.T), order**2 * m - 0.5j * order * (c - c.T) / gyroscopic_at
    sizes, modes = np.linalg.eigh(k)
    neutral = np.abs(sizes) <= NEUTRAL * np.abs(sizes).max()
    squares, vectors = (_definite if (sizes[~neutral] > 0.0).all() else _indefinite)(k, B, sizes, modes, neutral)
    by_size = np.argsort(squares)
    return squares[by_size], Z @ vectors[:, by_size]


def _definite(k, B, sizes, modes, neutral):
    """Ω² > 0 and vectors, by columns, of k x = Ω² B x, k ≥ 0: Hermitian in 1/Ω², to round-off of the largest.

    A motion n that nothing holds, as the spin, has n·B x = 0 for Ω ≠ 0; it is taken out with what it adds to others.
    """
    free, held = modes[:, neutral], modes[:, ~neutral] / np.sqrt(sizes[~neutral])
    if free.shape[1]:
        try:
            held = held - free @ np.linalg.solve(free.T @ B @ free, free.T @ B @ held)
        except np.linalg.LinAlgError:  # without mass too: the others do not move it
            pass
    inverse, vectors = np.linalg.eigh(held.conj().T @ B @ held)
    real = inverse > 1e-13 * np.abs(inverse).max()
    return 1.0 / inverse[real], held @ vectors[:, real]


def _indefinite(k, B, sizes, modes, neutral):
    """The same of a k with negative stiffness: those Ω² that are real."""
    from scipy.linalg import eig, solve

    shift = 1e-10 * np.abs(np.diagonal(k)).max() / np.abs(np.diagonal(B)).max()
    inverse, vectors = eig(solve(k + shift * B, B))
    kept = np.abs(inverse) > 1e-13 * np.abs(inverse).max()
    squares, vectors = 1 / inverse[kept] - shift, vectors[:, kept]
    real = (squares.real > 1e-4 * shift) & (np.abs(squares.imag) <= 1e-7 * np.abs(squares))
    return squares.real[real], vectors[:, real]


def _settled(rotor, speed, vector, order):
    """The critical speed with the stiffness and the gyroscopic terms that belong to it."""
    for _ in range(ITERATIONS):
        squares, vectors = _solve(rotor, speed, speed, order)
        speeds = np.sqrt(squares)
        likeness = mac(vector[:, None], vectors, rotor.M)[0]
        k = int(np.argmin(np.abs(speeds / speed - 1) + 1 - likeness))
        change, speed, vector = abs(speeds[k] / speed - 1), speeds[k], vectors[:, k]
        if change <= CLOSE:
            return speed, vector
    raise SolverError(
        f"critical_speeds: near {speed:.6g} rad/s the stiffness changes so much with the speed that the iteration does "
        "not converge; campbell(…).critical finds crossings by bracketing"
    )
