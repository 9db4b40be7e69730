"""Craig-Bampton reduction of a linear finite-element model to boundary frames and fixed-interface modes.

Nodes k of a rigid frame at X_i follow it, all others are interior; d = (u_1, θ_1, …, η):

    u_k = u_i + θ_i × (X_k − X_i)   [θ_k = θ_i of nodes with rotations]                                            (13)
    u_int = −K_ii⁻¹ K_ib (13) + Σ_j φ_j η_j ,   K_ii φ_j = ω_j² M_ii φ_j ,   φ_j·M_ii φ_k = m δ_jk                  (14)
    M̂ = ΦᵀMΦ ,   K̂ = ΦᵀKΦ                                                                                          (15)
    X_a = Ẽ_a Φ − Φ C_a ,   N_a = ΦᵀM X_a ,   O_ab = sym(X_aᵀM X_b)                                                 (16)

An averaged frame moves as its nodes do in the mean, with weights w_k; they stay interior, held by λ in (14):

    (u_i, θ_i) = 𝒜_i u = (Σ w_k T_kᵀT_k)⁻¹ Σ w_k T_kᵀ u_k ,   T_k = [1, −(X_k − X_i)×]                              (17)
    static columns: K_ii u + 𝒜ᵀλ = −K_ib (13), 𝒜 u = (u_i, θ_i);   modes: 𝒜 φ_j = 0

with the mass m of the body, so that amplitudes η are lengths; with e_a × on all translations in Ẽ_a, and on the
translations u_i alone in C_a.

Source: docs/theory/superelements.md, section 2; Craig & Bampton, AIAA J. 6 (1968); (16) derived here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.sparse import block_array, coo_array, coo_matrix, csc_array, csc_matrix, csr_matrix, tril, vstack
from scipy.sparse.csgraph import connected_components

from fem_mbs.arguments.checked import Checked
from fem_mbs.elements.superelements.lanczos import lowest_modes
from fem_mbs.errors import ParameterError, Warnings, label
from fem_mbs.linear.factors import factors, positive_factors
from fem_mbs.rotations import skew

RIGID = 1e-7  # largest |K R|/(|K| |R|) of a model that can move as a rigid body
LOOSE = "leaves nodes that move freely while the frames are held, as with a frame of one point or a hinge inside"
SINGULAR = 1e-13  # of the largest K_ii/M_ii: a square of a frequency that is round-off
FIRST_MODES = 12  # that are tried where their number is sought
ALIKE = 1e-3  # relative: two frequencies of modes that mix with small changes of a mesh
BLOCK = 6  # columns for which K_ii is solved at once: with large factors hardly slower than two; a pair occurs often
FEW_AT_ONCE = 3  # the same of factors that solve one by one
MOST_BLOCKS = 100  # and ten for each mode
DENSE = 400  # displacements, up to which all eigenvalues are found at once
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def turned(columns: np.ndarray, axis: int, per: int) -> np.ndarray:
    """e_a × the translations of nodal columns (n, c) with ``per`` numbers per node; the rest is 0."""
    found = np.zeros_like(columns)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    found[k::per] = columns[j::per]
    found[j::per] = -columns[k::per]
    return found


def rigid_motions(X: np.ndarray, per: int) -> np.ndarray:
    """Six rigid motions (per n, 6) of nodes X (n, 3): translations, rotations about the origin."""
    found = np.zeros((len(X), per, 6))
    found[:, 0:3, 0:3] = np.eye(3)
    for a in range(3):
        found[:, 0:3, 3 + a] = np.cross(np.eye(3)[a], X)
    if per == 6:
        found[:, 3:6, 3:6] = np.eye(3)
    return found.reshape(-1, 6)


def unit_accelerations(X: np.ndarray, per: int) -> np.ndarray:
    """Fields of acceleration (per n, 12) of nodes X (n, 3): e_i, and W X with one entry W_ij = 1, j fastest.

    With nodes that rotate too by the axial vector of W, which is the angular acceleration.
    """
    found = np.zeros((len(X), per, 12))
    found[:, 0:3, 0:3] = np.eye(3)
    for i in range(3):
        for j in range(3):
            found[:, i, 3 + 3 * i + j] = X[:, j]
            if per == 6 and i != j:
                k = 3 - i - j
                found[:, 3 + k, 3 + 3 * i + j] = 0.5 if (i - j) % 3 == 1 else -0.5
    return found.reshape(-1, 12)


def checked_model(owner: Checked, matrices: list, X: np.ndarray, per: int) -> tuple[Any, Any, np.ndarray]:
    """M and K in columns, and RᵀMR (6, 6) of the rigid motions about the origin; raises an error for a body that is
    not free.

    They are taken out of the list ``matrices``: two copies of a large K do not fit into the memory.
    """
    found = []
    for name in ("M", "K"):
        A = csc_matrix(matrices.pop(0), dtype=float)
        n = per * len(X)
        owner.check(
            A.shape == (n, n), name, A.shape, f"must have {n} rows and columns: {per} for each of {len(X)} nodes"
        )
        owner.check(np.isfinite(A.data).all(), name, "values", "must be finite")
        owner.check(A.nnz > 0, name, A.shape, "has no values")
        difference = A - A.T
        apart = abs(difference).max() / abs(A).max()
        owner.check(
            apart < 1e-8, name, apart, "is not symmetric: largest difference over largest value. Give all of it"
        )
        found.append(A if apart == 0.0 else (A - 0.5 * difference).tocsc())
        del A, difference
    M, K = found
    R = rigid_motions(X, per)
    strain = np.abs(K @ R).max(axis=0) / (abs(K).max() * np.abs(R).max(axis=0).clip(1e-300))
    worst = float(strain.max())
    message = (
        f"resists a motion as a rigid body by {worst:.1e} of its largest value. Leave supports out; positions must "
        "be those of the nodes, in one unit of length with K"
    )
    owner.check(worst < RIGID, "K", "values", message)
    return M, K, R.T @ (M @ R)


class Halved:
    """A symmetric matrix of which the lower triangle is held, with some rows before all others.

    Parameters
    ----------
    A : (n, n) sparse, both triangles
    first : (k,) int, rows that come first

    Attributes
    ----------
    lower : (n, n) in columns, in this order
    order : (n,) int, row of A of each row; those after the first are in their order
    """

    def __init__(self, A: Any, first: np.ndarray) -> None:
        n = A.shape[0]
        self.shape, self.first = A.shape, len(first)
        place = np.full(n, -1, np.int32)
        place[first] = np.arange(len(first))
        rest = np.flatnonzero(place < 0)
        self.order = np.concatenate([first, rest]).astype(np.int32)
        place[rest] = np.arange(len(first), n)
        A = csc_array(A)
        rows, columns = place[A.indices], np.repeat(place, np.diff(A.indptr))
        kept = rows >= columns
        entries = A.data[kept], (rows[kept], columns[kept])
        del rows, columns, kept
        self.lower = coo_array(entries, shape=A.shape).tocsc()

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        own = x[self.order]
        found = np.empty_like(own)
        diagonal = self.lower.diagonal().reshape(-1, *[1] * (own.ndim - 1))
        found[self.order] = self.lower @ own + self.lower.T @ own - diagonal * own
        return found

    def diagonal(self) -> np.ndarray:
        """Its diagonal (n,)."""
        found = np.empty(self.shape[0])
        found[self.order] = self.lower.diagonal()
        return found

    def rest(self) -> Any:
        """Lower triangle of the rows and columns after the first; its values are those of ``lower`` itself."""
        k, (n, _), begin = self.first, self.shape, self.lower.indptr[self.first]
        parts = self.lower.data[begin:], self.lower.indices[begin:] - k, self.lower.indptr[k:] - begin
        return csc_array(parts, shape=(n - k, n - k))

    def across(self) -> Any:
        """The rows after the first, in the first columns."""
        return self.lower[:, : self.first].tocsr()[self.first :]


class FrameNodes(NamedTuple):
    """A boundary frame and its nodes.

    Attributes
    ----------
    name : str
    at : (3,) [m], origin
    nodes : (k,) int
    weights : (k,) of an averaged frame; None: rigid
    """

    name: str
    at: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray | None = None


def followers(frames: list[FrameNodes], X: np.ndarray, per: int) -> tuple[np.ndarray, np.ndarray]:
    """Degrees of freedom of the nodes of all rigid frames, and how they follow the frames (13), (k, 6 n_b)."""
    dofs, rows = [np.zeros(0, np.int64)], [np.zeros((0, 6 * len(frames)))]
    for i, frame in enumerate(frames):
        if frame.weights is None:
            own = rigid_motions(X[frame.nodes] - frame.at, per)
            wide = np.zeros((len(own), 6 * len(frames)))
            wide[:, 6 * i : 6 * i + 6] = own
            rows.append(wide)
            dofs.append((per * frame.nodes[:, None] + np.arange(per)).ravel())
    return np.concatenate(dofs), np.concatenate(rows)


def averages(owner: Checked, frames: list[FrameNodes], X: np.ndarray, per: int) -> tuple[Any, np.ndarray]:
    """𝒜 (6 a, n) of all averaged frames, sparse, and its value for motions of the frames (6 a, 6 n_b)."""
    blocks, wanted = [csr_matrix((0, per * len(X)))], [np.zeros((0, 6 * len(frames)))]
    for i, frame in enumerate(frames):
        if frame.weights is None:
            continue
        T, w = rigid_motions(X[frame.nodes] - frame.at, 3), np.repeat(frame.weights, 3)
        normal = T.T @ (w[:, None] * T)
        size = np.sqrt(np.diag(normal).clip(1e-300))
        message = "has no six motions in the mean: it needs three nodes that are not on a line"
        least = np.linalg.eigvalsh(normal / np.outer(size, size))[0]
        owner.check(least > 1e-10, "frames", frame.name, message)
        mean = np.linalg.solve(normal, (w[:, None] * T).T)
        columns = (per * frame.nodes[:, None] + np.arange(3)).ravel()
        place = np.repeat(np.arange(6), len(columns)), np.tile(columns, 6)
        blocks.append(csr_matrix((mean.ravel(), place), shape=(6, per * len(X))))
        wanted.append(np.eye(6, 6 * len(frames), 6 * i))
    return vstack(blocks).tocsr(), np.concatenate(wanted)


def connected(owner: Checked, K: Any, X: np.ndarray, per: int, frames: list) -> None:
    """Raise an error for a body of several parts, of which some would float; the nodes of a frame are one."""
    A = K.lower.tocoo()
    node = K.order // per
    links = [(node[A.row], node[A.col]), *((f.nodes, np.full(len(f.nodes), f.nodes[0])) for f in frames)]
    rows, columns = (np.concatenate(part) for part in zip(*links))
    graph = coo_matrix((np.ones(len(rows), bool), (rows, columns)), shape=(len(X), len(X)))
    count, part = connected_components(graph, directed=False)
    if count > 1:
        loose = np.flatnonzero(part != part[frames[0].nodes[0]])
        where = X[loose[0]].round(6).tolist()
        message = (
            f"is of a body of {count} separate parts; {len(loose)} nodes, one at {where} m, are not connected to the "
            "first frame"
        )
        raise ParameterError(owner, "K", K.shape, f"{message}. Join or leave out what floats")


def craig_bampton(
    owner: Checked,
    M: Any,
    K: Halved,
    X: np.ndarray,
    per: int,
    frames: list[FrameNodes],
    modes: int,
    enough: Callable[[np.ndarray], int | None] | None = None,
) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Columns Φ (n, 6 n_b + m) of (13), (14), (17), and the frequencies [rad/s] of the fixed-interface modes.

    The third is a function: displacements (n, k) under loads (n, k) while the frames are held. It keeps the factors.

    ``K``: with the nodes of rigid frames first, as `followers` gives them.
    ``enough``: of columns Φ how many modes suffice, None if all of them do not; more are then sought, up to ``modes``.
    """
    held, rows = followers(frames, X, per)
    mean, wanted = averages(owner, frames, X, per)
    inner = K.order[K.first :]
    most = max(len(inner) - len(wanted) - 1, 0)
    if enough is not None:
        modes = min(modes, most)
    owner.check(modes <= most, "modes", modes, f"are more than the {most} that nodes outside the frames can have")
    static = np.zeros((K.shape[0], rows.shape[1]))
    static[held] = rows
    if not len(inner):
        return static, np.zeros(0), np.zeros_like
    connected(owner, K, X, per, frames)
    K_ii, mean = K.rest(), mean[:, inner]
    try:
        solve = _held(K_ii, mean)
    except RuntimeError as error:
        raise ParameterError(owner, "K", K.shape, LOOSE) from error
    static[inner] = solve(-(K.across() @ rows), wanted)

    def held_still(loads):
        found = np.zeros_like(loads)
        found[inner] = solve(loads[inner], np.zeros((len(wanted), loads.shape[1])))
        return found

    weights, stiffness = M.diagonal()[inner], K_ii.diagonal()
    heavy = weights > 0.0
    largest = (stiffness[heavy] / weights[heavy]).max()
    small = None
    if len(inner) <= max(DENSE, max(modes, 1) + len(wanted) + 1):
        small = _all_modes(owner, _whole(K_ii), M[inner][:, inner], mean)
    del K_ii  # of a large mesh a good part of the memory
    count = modes if enough is None else min(FIRST_MODES, modes)
    while True:
        # one shows whether K_ii is regular, one more whether the last has a twin
        asked = max(min(count + 1, most), 1)
        squares, shapes = small if small is not None else _lowest(owner, solve, M, inner, len(wanted), asked)
        order = np.argsort(squares)[: max(count, 1)]
        owner.check(squares.min() > SINGULAR * largest, "K", squares.min(), LOOSE)
        phi = np.hstack([static, np.zeros((len(static), count))])
        phi[inner, rows.shape[1] :] = shapes[:, order[:count]]
        needed = count if enough is None else enough(phi)
        if needed is not None or count >= modes:
            needed = count if needed is None else needed
            tell_cut(owner, np.sqrt(np.sort(squares)), needed)
            return phi[:, : rows.shape[1] + needed], np.sqrt(squares[order[:needed]]), held_still
        count = min(2 * count, modes)


def tell_cut(owner: Checked, frequencies: np.ndarray, count: int) -> None:
    """Warn where the last of ``count`` modes and the first that is left out have the same frequency [rad/s].

    The modes of such a pair can be turned into each other at will: which of them is kept is left to round-off.
    ``frequencies``: in order, one more than ``count`` at least where there is one more.
    """
    if not 0 < count < len(frequencies):
        return
    last, next_one = frequencies[count - 1], frequencies[count]
    if next_one - last > ALIKE * next_one:
        return
    same = np.flatnonzero(abs(frequencies - last) <= ALIKE * next_one)
    fewer, more = int(same[0]), int(same[-1]) + 1
    last, next_one = last / (2 * np.pi), next_one / (2 * np.pi)
    text = (
        f"{label(owner)}: modes={count} cuts modes of the same frequency, {last:.6g} and {next_one:.6g} Hz: round-off "
        f"chooses the direction that is softer. Take modes={fewer} or modes={more}"
    )
    Warnings.issue(text)


def _lowest(owner, solve, M, inner, averaged, count):
    """Squares of lowest frequencies and modes of the interior, by `lowest_modes`."""
    rows, across = M.T.tocsr(copy=False), M.shape[0]

    def momentum(columns):
        whole = np.zeros((across, columns.shape[1]))
        whole[inner] = columns
        return (rows @ whole)[inner]

    def inverse(columns):
        return solve(columns, np.zeros((averaged, columns.shape[1])))

    block, most = FEW_AT_ONCE if averaged else BLOCK, MOST_BLOCKS + 10 * count
    squares, shapes, found = lowest_modes(inverse, momentum, len(inner), count, block, most)
    if found < count:
        message = f"of which {found} were found: other nodes have no mass, or many frequencies are equal. Ask for fewer"
        raise ParameterError(owner, "modes", count, message)
    return squares, shapes


def _all_modes(owner, K_ii, M_ii, mean):
    """Squares of frequencies and modes of a few interior nodes."""
    try:
        free = null_space(mean.toarray()) if mean.shape[0] else np.eye(K_ii.shape[0])
        squares, shapes = eigh(free.T @ (K_ii @ free), free.T @ (M_ii @ free))
        return squares, free @ shapes
    except np.linalg.LinAlgError as error:
        message = "is not positive definite for the few nodes outside the frames; use fewer modes"
        raise ParameterError(owner, "M", M_ii.shape, message) from error


def _whole(lower):
    """Both triangles of a symmetric matrix."""
    return (lower + tril(lower, -1).T).tocsc()


def _held(K_ii, mean):
    """Function (right, wanted) that solves K_ii u + 𝒜ᵀλ = right, 𝒜 u = wanted; K_ii: its lower triangle."""
    if not mean.shape[0]:
        factor = positive_factors(K_ii)
        return lambda right, wanted: factor.solve(right)
    n, scale = K_ii.shape[0], np.abs(K_ii.diagonal()).mean() / abs(mean).max()
    factor = factors(block_array([[_whole(K_ii), scale * mean.T], [scale * mean, None]]))
    return lambda right, wanted: factor.solve(np.concatenate([right, scale * wanted]))[:n]


def reduced(M: Any, K: Any, phi: np.ndarray, per: int, frames: int) -> dict[str, np.ndarray]:
    """(15), (16) and 𝟙ᵀMΦ (3, n), of the three translations 𝟙."""
    MPhi = M @ phi
    n = phi.shape[1]
    local = np.zeros((3, n, n))  # C_a
    for a in range(3):
        for i in range(frames):
            local[a, 6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = skew(np.eye(3)[a])
    X = [turned(phi, a, per) - phi @ local[a] for a in range(3)]
    MX = [M @ x for x in X]
    mass, stiffness = phi.T @ MPhi, phi.T @ (K @ phi)
    products = [X[a].T @ MX[b] for a, b in PAIRS]
    return {
        "M": 0.5 * (mass + mass.T),
        "K": 0.5 * (stiffness + stiffness.T),
        "N": np.array([MPhi.T @ x for x in X]),
        "O": np.array([0.5 * (one + one.T) for one in products]),
        "momentum": np.array([MPhi[k::per].sum(axis=0) for k in range(3)]),
    }
