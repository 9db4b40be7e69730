"""Residual vectors: the response of a reduced body to loads between the frames outside its modes.

With the frames held, the response to loads F (N, q) is u = K_ii⁻¹F. Modes know Σ_j φ_j φ_jᵀF/ω_j² of it. The rest,

    r = u − Σ_j φ_j φ_jᵀF/ω_j² ,   φ_jᵀM r = φ_jᵀK r = 0                                                            (22)

is orthogonal to the modes in M and in K: added to them, it changes none of them. Of several loads the eigenvectors of
rᵀK r a = ω² rᵀM r a are taken, so that M̂ and K̂ stay diagonal. Their ω are above those of the modes, and no
frequencies of the body: residual vectors only complete its static response. Combinations of which the modes leave less
than
`LEFT` of the work are no vectors.

What the coordinates leave out of the response to forces t on groups of points, uniform tractions with these resultants,
is the work

    ½ t·(f⁰ − f) t ,   f⁰ = Fᵀu ,   f = cᵀK̂_ηη⁻¹ c ,   c = Φ_ηᵀF                                                    (23)

wherever the frames are: displacements of frames are exact. f⁰ is computed at the reduction, f when it is used.

Source: docs/theory/superelements.md, section 7; MacNeal, Computers & Structures 1 (1971) 581; Rubin, AIAA J. 13 (1975)
995; Dickens, Nakagawa & Wittbrodt, Computers & Structures 62 (1997) 985.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array, csc_array, hstack

from fem_mbs.arguments.checked import Checked
from fem_mbs.arguments.spelling import listed
from fem_mbs.errors import Warnings, label

LEFT = 1e-8  # least part of the work of a load that is worth a vector: round-off of it is 1e-13
FRAMES = 1e-9  # part of the least that a load can do inside: the frames take all of it
MASSLESS = 1e-14  # square of the ratio of frequencies of the response to a load and of a vector that moves no mass
AT_ONCE = 12  # loads that are solved for: 1.2 times as long as 6 of them
MOST_GROUPS = 12  # whose compliance is kept by default, the smallest: modes represent them worst


class Traction(NamedTuple):
    """Uniform tractions along x, y and z on a group: their forces on its nodes (k,) are these shares (k,) of 1 N."""

    name: str
    nodes: np.ndarray
    shares: np.ndarray


def forces_of(tractions: Sequence[Traction], count: int, per: int) -> Any:
    """Their loads (per count, 3 g) [N], sparse, three of each."""
    found = [csc_array((per * count, 0))]
    for one in tractions:
        rows, columns = (per * one.nodes[:, None] + np.arange(3)).ravel(), np.tile(np.arange(3), len(one.nodes))
        found.append(coo_array((np.repeat(one.shares, 3), (rows, columns)), shape=(per * count, 3)))
    return hstack(found, format="csc")


def worth_knowing(tractions: Sequence[Traction], areas: Sequence[float], frames: Sequence[Any]) -> list[Traction]:
    """Those that are not of one frame alone, at most `MOST_GROUPS`, of least ``areas`` [m²]; in their order."""
    taken = [np.isin(one.nodes, frame.nodes).all() for one in tractions for frame in frames]
    outside = np.flatnonzero(~np.reshape(taken, (len(tractions), len(frames))).any(axis=1))
    chosen = outside[np.argsort(np.asarray(areas)[outside], kind="stable")[:MOST_GROUPS]]
    return [tractions[k] for k in sorted(chosen.tolist())]


def solved(solve: Callable[[np.ndarray], np.ndarray], loads: np.ndarray) -> np.ndarray:
    """Responses (N, q) to loads (N, q), of which some may be zero."""
    return solve(loads) if loads.any() else np.zeros_like(loads)


def works(solve: Callable[[np.ndarray], np.ndarray], F: Any, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """f⁰ (q, q) of (23) for loads F (N, q), sparse, and the responses (N, k) to those with the numbers ``kept``."""
    found, under = np.zeros(2 * F.shape[1:]), np.zeros((F.shape[0], len(kept)))
    for first in range(0, F.shape[1], AT_ONCE):
        numbers = np.arange(first, min(first + AT_ONCE, F.shape[1]))
        u = solve(F[:, numbers].toarray())
        found[:, numbers] = F.T @ u
        for k, number in enumerate(kept):
            if number in numbers:
                under[:, k] = u[:, number - first]
    return 0.5 * (found + found.T), under


def tell_frames(owner: Checked, K: Any, loads: np.ndarray, under: np.ndarray, names: Sequence[str]) -> None:
    """Raise an error for loads (N, q) that the frames take alone: their responses ``under`` with fixed frames
    vanish.
    """
    least = np.einsum("iq,iq->q", loads, loads / K.diagonal().clip(1e-300)[:, None])
    none = np.einsum("iq,iq->q", loads, under) <= FRAMES * least
    several = listed(list(dict.fromkeys(name for name, one in zip(names, none) if one)))
    message = "moves nothing while the frames are fixed: frames take it, exactly. Remove it"
    owner.check(not none.any(), "residual_vectors", several, message)


def residuals_of(
    owner: Checked, M: Any, K: Any, modes: np.ndarray, under: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Part of responses (N, q) outside modes (N, m) of mass 1, (22): vectors (N, ≤ q) of mass 1, and ω [rad/s].

    Also the part (q,) of the work of each load that the modes leave out, and the share of each of them in the
    combinations of loads that are no vectors (q, ≤ q). ``K`` and ``M`` multiply columns.
    """
    work = np.einsum("iq,iq->q", under, K @ under)
    slowest = (np.einsum("iq,iq->q", under, M @ under) / work.clip(1e-300)).max(initial=0.0)
    rest = under / np.sqrt(work.clip(1e-300))
    for _ in range(2):  # once more for round-off
        rest = rest - modes @ (modes.T @ (M @ rest))
    stiff = rest.T @ (K @ rest)
    shares, mixed = eigh(0.5 * (stiff + stiff.T))
    kept = shares > LEFT
    rest = rest @ (mixed[:, kept] / np.sqrt(shares[kept]))
    # of work 1 each: those that move least have the highest frequencies
    moved = rest.T @ (M @ rest)
    inverse, turned = eigh(0.5 * (moved + moved.T))
    inverse, turned = inverse[::-1], turned[:, ::-1]
    message = "move nodes without mass only, where the modes leave something out. Give these nodes mass"
    owner.check((inverse > MASSLESS * slowest).all(), "residual_vectors", "its loads", message)
    return rest @ (turned / np.sqrt(inverse)), 1.0 / np.sqrt(inverse), np.diag(stiff), mixed[:, ~kept]


def tell_known(owner: Checked, names: Sequence[str], left: np.ndarray, dropped: np.ndarray) -> None:
    """Warn about loads that add no vector: the modes represent them, or they follow from the others.

    ``left``, ``dropped``: of `residuals_of`.
    """
    if not dropped.shape[1]:
        return
    known = [name for name, part in zip(names, left) if part <= LEFT]
    apart = np.abs(dropped[left > LEFT]).max(axis=1, initial=0.0)
    others = [name for name, part in zip(np.array(names)[left > LEFT], apart) if part > 0.1]
    reasons = [f"the modes know {listed(known)}"] if known else []
    reasons += [f"{listed(others)} follow from each other, or from the modes"] if others else []
    text = f"{label(owner)}: {dropped.shape[1]} of {len(names)} residual vectors are left out: {'; '.join(reasons)}"
    Warnings.issue(text)


def resultants(loaded: dict[str, np.ndarray], points: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Resultants (3 g,) of forces (k, 3) on points (k,), each given to one of the g groups ``loaded`` that has it.

    The group of the largest forces takes those of its points, and so on; of equal ones the smallest.
    """
    found, size, free = np.zeros((len(loaded), 3)), np.linalg.norm(forces, axis=1), np.ones(len(points), bool)
    has = [np.isin(points, group) for group in loaded.values()]
    for _ in has:
        sums = [(float(size[one & free].sum()), -len(group)) for one, group in zip(has, loaded.values())]
        best = max(range(len(has)), key=lambda k: (round(sums[k][0] / max(size.sum(), 1e-300), 9), sums[k][1]))
        mine = has[best] & free
        if not size[mine].any():
            break
        found[best] += forces[mine].sum(axis=0)
        free &= ~mine
    return found.ravel()
