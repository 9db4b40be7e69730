"""Contacts between bodies as arrays of small blocks: what W is made of, without any sparse matrix.

    u_i = Σ_k B_ik v_b(i,k) + w_i,   v_b = v_free,b + M_b⁻¹ Σ_(i,k) B_ikᵀ r_i,                                      (1)
    M_b⁻¹ = C_b C_bᵀ,   G_ik = B_ik C_b(i,k):      W = G Gᵀ,   q = w + B v_free                                     (2)

k runs over the sides of a contact, usually two; side -1 is fixed. With z_b = Σ G_ikᵀ r_i (mass-scaled velocities that
the impulses add) a product with W is one pass over the contacts that fills z and one that reads it, and a sweep of
Gauss-Seidel keeps z up to date instead of touching the neighbours of a contact:

    known = q_i + Σ_k G_ik z_b − W_ii r_i,   r_i ← solution of one contact,   z_b += G_ikᵀ (r_i − r_i,old)           (3)

The cost of both is proportional to the number of contacts, whatever they are linked with. Sort contacts so that
neighbours in space are near in memory (2 times faster at 160,000 contacts).

Source: docs/theory/contact_problems.md, (15)-(17); (2) elementary.

    symbol   code     shape           meaning
    b(i,k)   bodies   (nc, k)         body on side k of contact i, -1: none or fixed
    B, G     blocks   (nc, k, d, m)   gradients of the relative velocities; mass-scaled in `Bodies`
    C        factors  (nb, m, m)      factors of the inverse masses
    v, z     v, z     (nb, m)         velocities of the bodies; mass-scaled change
"""

from collections import namedtuple
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fem_mbs.errors import ParameterError
from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact_problem.cones import project
from fem_mbs.solvers.contact_problem.input import real_array
from fem_mbs.solvers.contact_problem.one import solve_one

LARGEST_SIZE = 12  # velocities of one body up to which a mass matrix is split
LARGEST_SIDES = 4  # bodies of one contact up to which it is
REGULAR = 1e-10  # relative, in the normal equations of Anderson's combination

Given = namedtuple("Given", "bodies q factors v")


@kernel
def factor_masses(mass, inverse, factors):
    """Fill factors (nb, m, m) with C of (2) from masses or their inverses; returns the first bad block, or -1.

    Masses must be positive definite; inverses may be singular (zero: a body that does not move).
    """
    m = mass.shape[1]
    for b in range(mass.shape[0]):
        C, largest = factors[b], 0.0
        for i in range(m):
            largest = max(largest, abs(mass[b, i, i]))
        for i in range(m):  # Cholesky: C = L
            for j in range(i + 1):
                total = mass[b, i, j]
                if not abs(total - mass[b, j, i]) <= 1e-9 * largest:
                    return b
                for k in range(j):
                    total -= C[i, k] * C[j, k]
                if i > j:
                    C[i, j] = total / C[j, j] if C[j, j] > 0.0 else 0.0
                    C[j, i] = 0.0
                elif total > 1e-14 * mass[b, i, i]:
                    C[i, i] = np.sqrt(total)
                elif inverse and total >= -1e-12 * largest:
                    C[i, i] = 0.0
                else:
                    return b
        if inverse:
            continue
        for j in range(m):  # C = L⁻ᵀ, column by column of L⁻¹, stored above the diagonal
            C[j, j] = 1.0 / C[j, j]
            for i in range(j + 1, m):
                total = 0.0
                for k in range(j, i):
                    total -= C[i, k] * C[j, k]
                C[j, i] = total / C[i, i]
        for i in range(m):
            for j in range(i):
                C[i, j] = 0.0
    return -1


@kernel
def scale_by_masses(bodies, blocks, factors, v, G, W, q):
    """Fill G (nc, k, d, m) and W_ii (nc, d, d) of (2) and add B v to q (nc, d).

    Two sides on the same body become one. Returns the first contact with a body that does not exist, or -1.
    """
    n, sides, d, m = blocks.shape
    for i in range(n):
        for k in range(sides):
            b = bodies[i, k]
            if b >= factors.shape[0] or b < -1:
                return i
            G[i, k, :, :] = 0.0
            if b < 0:
                continue
            to = k
            for other in range(k):
                if bodies[i, other] == b:
                    to = other
            for a in range(d):
                for c in range(m):
                    x = blocks[i, k, a, c]
                    if x != 0.0:
                        q[i, a] += x * v[b, c]
                        for e in range(m):
                            G[i, to, a, e] += x * factors[b, c, e]
            if to != k:
                bodies[i, k] = -1
        for a in range(d):
            for c in range(d):
                total = 0.0
                for k in range(sides):
                    for e in range(m):
                        total += G[i, k, a, e] * G[i, k, c, e]
                W[i, a, c] = total
    return -1


@kernel
def impulses_to_bodies(bodies, blocks, r, z):
    """z = Gᵀ r, (nb, m)."""
    n, sides, d, m = blocks.shape
    z[:, :] = 0.0
    for i in range(n):
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    x = r[i, a]
                    if x != 0.0:
                        for e in range(m):
                            z[b, e] += blocks[i, k, a, e] * x


@kernel
def bodies_to_contacts(bodies, blocks, z, u):
    """u = G z, (nc, d)."""
    n, sides, d, m = blocks.shape
    for i in range(n):
        for a in range(d):
            u[i, a] = 0.0
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    total = 0.0
                    for e in range(m):
                        total += blocks[i, k, a, e] * z[b, e]
                    u[i, a] += total


@kernel
def sweep(bodies, blocks, diagonal, shift, q, mu, z, r, forward):
    """One sweep (3) over the contacts; r (nc, d) and z (nb, m) = Gᵀ r are replaced.

    ``diagonal`` holds W_ii + shift I: with a shift the problem is that of W + shift I.
    """
    n, sides, d, m = blocks.shape
    known, change = local_vector(6)[:d], local_vector(6)[:d]
    for step in range(n):
        i = step if forward else n - 1 - step
        for a in range(d):
            known[a] = q[i, a]
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    total = 0.0
                    for e in range(m):
                        total += blocks[i, k, a, e] * z[b, e]
                    known[a] += total
        if r[i, 0] == 0.0 and known[0] >= 0.0:
            continue  # stays open
        for a in range(d):
            change[a] = -r[i, a]
            known[a] += shift * r[i, a]
            for c in range(d):
                known[a] -= diagonal[i, a, c] * r[i, c]
        solve_one(diagonal[i], known, mu[i], r[i])
        for a in range(d):
            change[a] += r[i, a]
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                for a in range(d):
                    for e in range(m):
                        z[b, e] += blocks[i, k, a, e] * change[a]


@kernel
def _combination(F, others, newest, c, A):
    """Fill c so that |f − Σ c_j (f − f_j)| is least, f the newest row of F and j over ``others`` rows."""
    n, d = F.shape[1:]
    for k in range(others):
        j = k if k < newest else k + 1
        for l in range(k + 1):
            i = l if l < newest else l + 1
            total = 0.0
            for e in range(n):
                for a in range(d):
                    total += (F[newest, e, a] - F[j, e, a]) * (F[newest, e, a] - F[i, e, a])
            A[k, l] = total
        total = 0.0
        for e in range(n):
            for a in range(d):
                total += (F[newest, e, a] - F[j, e, a]) * F[newest, e, a]
        c[k] = total
    for k in range(others):  # Cholesky; directions that add nothing get no part
        A[k, k] *= 1.0 + REGULAR
        for l in range(k + 1):
            total = A[k, l]
            for i in range(l):
                total -= A[k, i] * A[l, i]
            if k > l:
                A[k, l] = total / A[l, l] if A[l, l] > 0.0 else 0.0
            else:
                A[k, k] = np.sqrt(total) if total > REGULAR * A[k, k] else 0.0
    for k in range(others):
        for i in range(k):
            c[k] -= A[k, i] * c[i]
        c[k] = c[k] / A[k, k] if A[k, k] > 0.0 else 0.0
    for k in range(others - 1, -1, -1):
        for i in range(k + 1, others):
            c[k] -= A[i, k] * c[i]
        c[k] = c[k] / A[k, k] if A[k, k] > 0.0 else 0.0


@kernel
def accelerated_sweeps(bodies, blocks, diagonal, q, mu, z, r, R, F, kept, count):
    """``count`` pairs of sweeps, forth and back, each followed by Anderson's combination with the last pairs.

    R and F (memory + 1, nc, d) hold what the last pairs ended with and their changes, ``kept`` says how many there
    were; 0 starts afresh. r (nc, d) and z (nb, m) are replaced. Returns the new ``kept``.
    """
    rows, n, d = F.shape
    new, c, A = np.empty(d), np.empty(rows), np.empty((rows, rows))
    for _ in range(count):
        newest, others = kept % rows, min(kept, rows - 1)
        F[newest] = r
        sweep(bodies, blocks, diagonal, 0.0, q, mu, z, r, True)
        sweep(bodies, blocks, diagonal, 0.0, q, mu, z, r, False)
        R[newest] = r
        for i in range(n):
            for a in range(d):
                F[newest, i, a] = r[i, a] - F[newest, i, a]
        kept += 1
        if others == 0:
            continue
        _combination(F, others, newest, c, A)
        for i in range(n):
            for a in range(d):
                total = R[newest, i, a]
                for k in range(others):
                    total -= c[k] * (R[newest, i, a] - R[k if k < newest else k + 1, i, a])
                r[i, a] = total
            project(r[i], mu[i], new)
            for a in range(d):
                r[i, a] = new[a]
        impulses_to_bodies(bodies, blocks, r, z)
    return kept


@kernel
def scale_rows(blocks, S, out):
    """out = S G, row by row."""
    n, sides, d, m = blocks.shape
    for i in range(n):
        for k in range(sides):
            for a in range(d):
                for e in range(m):
                    out[i, k, a, e] = S[i, a] * blocks[i, k, a, e]


@kernel
def fill_dense(bodies, blocks, first, contacts, sides_of, W):
    """W = G Gᵀ as a full matrix; contacts and sides of body b at first[b] … first[b + 1]."""
    d, m = blocks.shape[2:]
    W[:, :] = 0.0
    for b in range(first.shape[0] - 1):
        for one in range(first[b], first[b + 1]):
            i, k = contacts[one], sides_of[one]
            for two in range(first[b], first[b + 1]):
                j, l = contacts[two], sides_of[two]
                for a in range(d):
                    for c in range(d):
                        total = 0.0
                        for e in range(m):
                            total += blocks[i, k, a, e] * blocks[j, l, c, e]
                        W[i * d + a, j * d + c] += total


@kernel
def list_contacts(bodies, first, contacts, sides_of):
    """Contacts of each body: fills first (nb + 1,) and, body by body, contacts and sides (as many as there are)."""
    n, sides = bodies.shape
    first[:] = 0
    for i in range(n):
        for k in range(sides):
            if bodies[i, k] >= 0:
                first[bodies[i, k] + 1] += 1
    for b in range(first.shape[0] - 1):
        first[b + 1] += first[b]
    for i in range(n):
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                contacts[first[b]] = i
                sides_of[first[b]] = k
                first[b] += 1
    for b in range(first.shape[0] - 1, 0, -1):
        first[b] = first[b - 1]
    first[0] = 0


@kernel
def _count_links(bodies, first, contacts, pointers):
    """Bodies linked with each body by contacts, itself included: fills pointers (nb + 1,)."""
    n = len(first) - 1
    mark = np.full(n, -1)
    pointers[0] = 0
    for b in range(n):
        mark[b] = b
        count = 1
        for k in range(first[b], first[b + 1]):
            for other in bodies[contacts[k]]:
                if other >= 0 and mark[other] != b:
                    mark[other] = b
                    count += 1
        pointers[b + 1] = pointers[b] + count


@kernel
def _fill_links(bodies, first, contacts, sides_of, pointers, columns, entries):
    """Columns of the pattern, ascending, and entries (nc, k, k): its block for sides (k, l) of contact i, -1: none."""
    n = len(first) - 1
    mark, place = np.full(n, -1), np.empty(n, np.int64)
    entries[:, :, :] = -1
    for b in range(n):
        mark[b] = b
        end = pointers[b]
        columns[end] = b
        end += 1
        for k in range(first[b], first[b + 1]):
            for other in bodies[contacts[k]]:
                if other >= 0 and mark[other] != b:
                    mark[other] = b
                    columns[end] = other
                    end += 1
        columns[pointers[b] : end].sort()
        for k in range(pointers[b], end):
            place[columns[k]] = k
        for k in range(first[b], first[b + 1]):
            i = contacts[k]
            for l in range(bodies.shape[1]):
                if bodies[i, l] >= 0:
                    entries[i, sides_of[k], l] = place[bodies[i, l]]


@kernel
def _fill_normal_matrix(bodies, blocks, E, diagonal, entries, pointers, columns, values):
    """values = diagonal I + Gᵀ E G by blocks of bodies."""
    n, sides, d, m = blocks.shape
    values[:, :, :] = 0.0
    for b in range(len(pointers) - 1):
        for k in range(pointers[b], pointers[b + 1]):
            if columns[k] == b:
                for e in range(m):
                    values[k, e, e] = diagonal
    EG = np.empty((d, m))
    for i in range(n):
        for l in range(sides):
            if bodies[i, l] < 0:
                continue
            for a in range(d):
                for e in range(m):
                    total = 0.0
                    for c in range(d):
                        total += E[i, a, c] * blocks[i, l, c, e]
                    EG[a, e] = total
            for k in range(sides):
                at = entries[i, k, l]
                if at >= 0:
                    for a in range(d):
                        for f in range(m):
                            x = blocks[i, k, a, f]
                            if x != 0.0:
                                for e in range(m):
                                    values[at, f, e] += x * EG[a, e]


@kernel
def invert_blocks(A, B, T, E):
    """T = A⁻¹ and E = A⁻¹ B, block by block (nc, d, d); False when a block is singular."""
    d = A.shape[1]
    work = np.empty((d, 3 * d))
    for i in range(A.shape[0]):
        for a in range(d):
            for b in range(d):
                work[a, b] = A[i, a, b]
                work[a, d + b] = 1.0 if a == b else 0.0
                work[a, 2 * d + b] = B[i, a, b]
        for c in range(d):
            pivot = c
            for a in range(c + 1, d):
                if abs(work[a, c]) > abs(work[pivot, c]):
                    pivot = a
            if not abs(work[pivot, c]) > 0.0:
                return False
            for b in range(3 * d):
                x = work[pivot, b]
                work[pivot, b] = work[c, b]
                work[c, b] = x
            x = work[c, c]
            for b in range(3 * d):
                work[c, b] /= x
            for a in range(d):
                if a != c and work[a, c] != 0.0:
                    x = work[a, c]
                    for b in range(3 * d):
                        work[a, b] -= x * work[c, b]
        for a in range(d):
            for b in range(d):
                T[i, a, b] = work[a, d + b]
                E[i, a, b] = work[a, 2 * d + b]
    return True


class Bodies:
    """W = G Gᵀ by the blocks G of its contacts.

    Attributes
    ----------
    bodies : (nc, k) int64, body on each side, -1: none
    blocks : (nc, k, d, m), mass-scaled gradients G
    diagonal : (nc, d, d), blocks W_ii
    count : number of bodies
    """

    def __init__(self, bodies: np.ndarray, blocks: np.ndarray, diagonal: np.ndarray, count: int) -> None:
        self.bodies, self.blocks, self.diagonal, self.count = bodies, blocks, diagonal, count

    @classmethod
    def from_arrays(
        cls, masses: Any, bodies: Any, blocks: Any, w: Any, v: Any, inverse: bool, d: int, problem: Any
    ) -> Given:
        """What `ContactProblem.from_contacts` was given, checked and mass-scaled, as `Given`; ``problem`` names errors.

        Raises
        ------
        ParameterError
            If shapes do not fit, numbers are not finite, a mass is not positive definite or a body does not exist.
        """
        masses = real_array(problem, "masses", masses)
        blocks = np.ascontiguousarray(real_array(problem, "blocks", blocks))
        if masses.ndim == 2:
            diagonal, masses = masses, np.zeros((*masses.shape, masses.shape[1]))
            np.einsum("bii->bi", masses)[:] = diagonal
        if masses.ndim != 3 or masses.shape[1] != masses.shape[2]:
            raise ParameterError(problem, "masses", masses.shape, "must be the shape (nb, m, m) or (nb, m)")
        (count, m), bodies = masses.shape[:2], cls._integers(problem, bodies)
        if bodies.size == 0 and blocks.size == 0:  # no contacts, also as empty lists
            bodies, blocks = np.zeros((0, 1), int), np.zeros((0, 1, d, m))
        if bodies.ndim != 2 or not np.issubdtype(bodies.dtype, np.integer):
            raise ParameterError(problem, "bodies", bodies.shape, "must be integers of the shape (nc, sides)")
        if blocks.shape != (*bodies.shape, d, m):
            raise ParameterError(problem, "blocks", blocks.shape, f"must be the shape {(*bodies.shape, d, m)}")
        q = real_array(problem, "w", w).ravel().copy()
        if q.size != len(bodies) * d:
            raise ParameterError(problem, "w", q.shape, f"must be {d} numbers for each of {len(bodies)} contacts")
        v = np.zeros((count, m)) if v is None else real_array(problem, "v", v)
        if v.size != count * m:
            raise ParameterError(problem, "v", v.shape, f"must be the shape {(count, m)}")
        v, q = np.ascontiguousarray(v.reshape(count, m)), q.reshape(-1, d)
        bodies, factors = bodies.astype(np.int64), np.empty_like(masses)
        bad = factor_masses(np.ascontiguousarray(masses), inverse, factors)
        if bad >= 0:
            what = "must be symmetric and positive " + ("semidefinite" if inverse else "definite")
            raise ParameterError(problem, f"masses[{bad}]", masses[bad], what)
        G, W = np.empty_like(blocks), np.empty((len(blocks), d, d))
        bad = scale_by_masses(bodies, blocks, factors, v, G, W, q)
        if bad >= 0:
            raise ParameterError(problem, f"bodies[{bad}]", bodies[bad], f"must be -1 to {count - 1}")
        return Given(cls(bodies, G, W, count), q, factors, v)

    @staticmethod
    def _integers(problem, bodies):
        """Numbers of bodies as an array, of which the caller checks the type."""
        try:
            return np.array(bodies)
        except ValueError:
            raise ParameterError(problem, "bodies", bodies, "has rows of different lengths") from None

    @property
    def shape(self) -> tuple[int, int]:
        """Of W."""
        rows = len(self.blocks) * self.blocks.shape[2]
        return rows, rows

    def mass_scaled(self, r: np.ndarray) -> np.ndarray:
        """z = Gᵀ r, (nb, m)."""
        z = np.empty((self.count, self.blocks.shape[3]))
        impulses_to_bodies(self.bodies, self.blocks, np.ascontiguousarray(r), z)
        return z

    def product(self, r: np.ndarray) -> np.ndarray:
        """W r, (nc, d)."""
        return self.relative(self.mass_scaled(r))

    def relative(self, z: np.ndarray) -> np.ndarray:
        """u = G z, (nc, d)."""
        u = np.empty((len(self.blocks), self.blocks.shape[2]))
        bodies_to_contacts(self.bodies, self.blocks, z, u)
        return u

    def graph(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pattern by rows of Gᵀ G in blocks of bodies, pointers and columns, and the block of each pair of sides."""
        first, contacts, sides_of = self.of_bodies
        pointers = np.empty(self.count + 1, np.int64)
        _count_links(self.bodies, first, contacts, pointers)
        columns = np.empty(pointers[-1], np.int64)
        entries = np.empty((*self.bodies.shape, self.bodies.shape[1]), np.int64)
        _fill_links(self.bodies, first, contacts, sides_of, pointers, columns, entries)
        return pointers, columns, entries

    def normal_matrix(self, E: np.ndarray, diagonal: float, pattern: Any, entries: np.ndarray) -> np.ndarray:
        """Blocks (nnz, m, m) of diagonal I + Gᵀ E G in the pattern of `graph`; E (nc, d, d)."""
        m = self.blocks.shape[3]
        values = np.empty((len(pattern.columns), m, m))
        _fill_normal_matrix(
            self.bodies,
            self.blocks,
            np.ascontiguousarray(E),
            diagonal,
            entries,
            pattern.pointers,
            pattern.columns,
            values,
        )
        return values

    def scaled(self, S: np.ndarray) -> "Bodies":
        """The same with rows of G multiplied by S (nc, d)."""
        blocks = np.empty_like(self.blocks)
        scale_rows(self.blocks, S, blocks)
        return Bodies(self.bodies, blocks, S[:, :, None] * self.diagonal * S[:, None, :], self.count)

    @cached_property
    def of_bodies(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """first (nb + 1,), contacts, sides: where the contacts of each body are."""
        first, places = np.empty(self.count + 1, np.int64), np.empty((2, self.bodies.size), np.int64)
        list_contacts(self.bodies, first, places[0], places[1])
        return first, places[0], places[1]

    def matrix(self) -> sp.csr_array:
        """G as a sparse matrix (nc d, nb m)."""
        n, _, d, m = self.blocks.shape
        contact, side = np.nonzero(self.bodies >= 0)
        row = np.broadcast_to((contact[:, None] * d + np.arange(d))[:, :, None], (len(contact), d, m))
        column = np.broadcast_to(
            (self.bodies[contact, side][:, None] * m + np.arange(m))[:, None, :], (len(contact), d, m)
        )
        triplets = self.blocks[contact, side].ravel(), (row.ravel(), column.ravel())
        matrix = sp.csr_array(sp.coo_array(triplets, shape=(n * d, self.count * m)))
        matrix.eliminate_zeros()
        return matrix

    def delassus(self) -> sp.csr_array:
        """W as a sparse matrix (nc d, nc d)."""
        G = self.matrix()
        return sp.csr_array(G @ G.T)

    def dense(self) -> np.ndarray:
        """W as a full matrix (nc d, nc d)."""
        n, _, d, _ = self.blocks.shape
        W = np.empty((n * d, n * d))
        fill_dense(self.bodies, self.blocks, *self.of_bodies, W)
        return W


def split_bodies(M: Any, H: Any, f: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Masses, bodies, blocks and free velocities of `ContactProblem.from_contacts` from sparse matrices.

    None when M is not symmetric or does not fall into blocks of at most 12 unknowns, or a contact touches more than
    four of them. Smaller blocks are filled up.
    """
    asymmetry = abs(M - M.T)
    if asymmetry.nnz and asymmetry.max() > 1e-12 * abs(M).max():
        return None
    count, body = _body_of_unknowns(M)
    sizes = np.bincount(body, minlength=count)
    m = int(sizes.max(initial=1))
    if m > LARGEST_SIZE:
        return None
    order = np.argsort(body, kind="stable")
    place = np.empty(len(body), int)  # of each unknown in its body
    place[order] = np.arange(len(body)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    M = M.tocoo()
    masses = np.zeros((count, m, m))
    np.add.at(masses, (body[M.row], place[M.row], place[M.col]), M.data)
    filled = np.arange(m) >= sizes[:, None]
    np.einsum("bii->bi", masses)[filled] = 1.0
    H = H.tocoo()
    n = H.shape[1] // d
    pairs, pair = np.unique((H.col // d) * count + body[H.row], return_inverse=True)
    contact, touched = pairs // count, pairs % count
    sides = np.bincount(contact, minlength=n)
    if sides.max(initial=0) > LARGEST_SIDES:
        return None
    side = np.arange(len(pairs)) - np.repeat(np.cumsum(sides) - sides, sides)
    bodies = np.full((n, max(int(sides.max(initial=0)), 1)), -1)
    bodies[contact, side] = touched
    blocks = np.zeros((*bodies.shape, d, m))
    np.add.at(blocks, (H.col // d, side[pair], H.col % d, place[H.row]), H.data)
    v = np.zeros((count, m))
    if f is not None:
        momentum = np.zeros((count, m))
        momentum[body, place] = f
        try:
            v = np.linalg.solve(masses, momentum[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return None
    return masses, bodies, blocks, v


def _body_of_unknowns(M):
    """Number of bodies, and the body of each unknown: six or three successive ones, else what M couples."""
    n, M = M.shape[0], M.tocoo()
    for size in (6, 3):
        if n % size == 0 and (M.row // size == M.col // size).all():
            return n // size, np.arange(n) // size
    return sp.csgraph.connected_components(M, directed=False)
