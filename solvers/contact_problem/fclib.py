"""Contact problems in fclib's HDF5 format, in which the field exchanges hard problems.

    /fclib_local    spacedim, W, vectors/{q, mu}; with bilateral part V, R, vectors/s: u = W r + V l + q,
                    0 = Vᵀ r + R l + s
    /fclib_global   spacedim, M, H, vectors/{f, w, mu}; with bilateral part G, vectors/b: M v = H r + G l + f,
                    u = Hᵀ v + w, 0 = Gᵀ v + b
    matrices        m, n, nz, nzmax, p, i, x; nz ≥ 0 triplets (i rows, p columns), −1 by columns, −2 by rows
    /solution, /guesses/1 …    v, u, r, l as far as they are not empty

Components are ordered normal, tangent 1, tangent 2, as here. Bilateral parts are eliminated on reading. Planar
problems (spacedim 2) get a third component that is decoupled from everything, in which r and u are zero. Rolling and
spinning are an extension of ours: spacedim 4 to 6 and the vectors ``mu_r``, ``mu_s``. Entries stored twice are
summed. Some writers name q ``a``: both are read.

Source: fclib's C source; docs/theory/contact_problems.md, "Files".
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from fem_mbs.errors import FemMbsError
from fem_mbs.solvers.contact_problem.fclib_writer import BY_COLUMNS, BY_ROWS, TRIPLETS, write_global, write_problem
from fem_mbs.solvers.contact_problem.problem import ContactProblem

__all__ = ["FormatError", "read_guesses", "read_problem", "read_solution", "write_global", "write_problem"]


class FormatError(FemMbsError, ValueError):
    """A file that is not a contact problem in fclib's format, or a damaged one; says where and what is wrong."""


def read_problem(path: str | Path) -> ContactProblem:
    """Read the contact problem of an fclib file.

    Parameters
    ----------
    path : path of the HDF5 file

    Returns
    -------
    ContactProblem
        In three dimensions; of a global problem without bilateral part in body space (``from_bodies``).

    Raises
    ------
    FormatError
        If the file is no HDF5 file, holds no problem, or a part of it is missing or damaged.
    ParameterError
        If its numbers make no contact problem: sizes that do not fit, negative friction, not finite.
    """
    path = Path(path)
    with _opened(path) as file:
        if "fclib_local" in file:
            return _read_local(file["fclib_local"], path)
        if "fclib_global" in file:
            return _read_global(file["fclib_global"], path)
    raise FormatError(f"{path} holds neither 'fclib_local' nor 'fclib_global': it is not an fclib problem")


def read_solution(path: str | Path) -> dict[str, np.ndarray] | None:
    """Vectors of /solution as a dict with any of v, u, r, l; None when the file has no solution."""
    with _opened(path) as file:
        return _vectors(file["solution"], path) if "solution" in file else None


def read_guesses(path: str | Path) -> list[dict[str, np.ndarray]]:
    """Vectors of the guesses, a list of dicts with any of v, u, r, l."""
    with _opened(path) as file:
        if "guesses" not in file:
            return []
        count, found = _integer(_group(file, path, "guesses"), path, "number_of_guesses"), []
        for k in range(1, count + 1):
            # the C library opens the numbered groups at the root of the file
            place = f"guesses/{k}" if f"guesses/{k}" in file else str(k)
            found.append(_vectors(_group(file, path, place), path))
        return found


def _opened(path):
    """The file, opened for reading; raises FormatError when it is none of HDF5's."""
    import h5py

    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        message = f"{path} is not an HDF5 file, or it is damaged ({error}); fclib's problems are HDF5 files"
        raise FormatError(message) from None


def _group(parent, path, name):
    """The group parent/name."""
    import h5py

    if name not in parent:
        raise FormatError(f"{path}: '{parent.name}' has no '{name}'")
    if not isinstance(parent[name], h5py.Group):
        raise FormatError(f"{path}: '{parent[name].name}' must be a group")
    return parent[name]


def _vectors(group, path):
    return {name: _get(group, path, name) for name in "vurl" if name in group}


def _get(group, path, *names):
    """Numbers in the data set under the first of the names that exists, flat."""
    import h5py

    for name in names:
        if name in group:
            data = group[name]
            if not isinstance(data, h5py.Dataset) or data.dtype.kind not in "iuf":
                raise FormatError(f"{path}: '{data.name}' must be an array of numbers")
            return np.ravel(data[()])
    raise FormatError(f"{path}: '{group.name}' has no '{names[0]}'")


def _integer(group, path, name):
    numbers = _get(group, path, name)
    if numbers.size < 1 or numbers[0] != int(numbers[0]):
        raise FormatError(f"{path}: '{group.name}/{name}' must be an integer")
    return int(numbers[0])


def _matrix(group, path, name):
    """Sparse matrix stored in group/name."""
    if name not in group:
        raise FormatError(f"{path}: '{group.name}' has no matrix '{name}'")
    g = _group(group, path, name)
    m, n, kind = (_integer(g, path, key) for key in ("m", "n", "nz"))
    p, i, x = (_get(g, path, key) for key in "pix")
    if kind < BY_ROWS:
        raise FormatError(f"{path}: matrix '{g.name}' has nz = {kind}; known are ≥ 0, -1 and -2")
    _check_storage(f"{path}: matrix '{g.name}'", m, n, kind, p, i, x)
    p, i = p.astype(np.int64), i.astype(np.int64)
    if kind >= TRIPLETS:
        matrix = sp.csr_array(sp.coo_array((x[:kind], (i[:kind], p[:kind])), shape=(m, n)))
    elif kind == BY_COLUMNS:
        matrix = sp.csr_array(sp.csc_array((x[: p[n]], i[: p[n]], p[: n + 1]), shape=(m, n)))
    else:
        matrix = sp.csr_array((x[: p[m]], i[: p[m]], p[: m + 1]), shape=(m, n))
    matrix.sum_duplicates()
    return matrix


def _check_storage(where, m, n, kind, p, i, x):
    """Raise an error for inconsistent sizes, pointers and indices: SciPy would read outside its arrays.

    Parameters
    ----------
    where : path and name, for errors
    m, n, kind, p, i, x : as in the file
    """

    def within(name, values, end):
        bad = np.flatnonzero((values < 0) | (values >= end) | (values != np.floor(values)))
        if len(bad):
            at = bad[0]
            raise FormatError(f"{where} has {name}[{at}] = {values[at]}; must be an index from 0 to {end - 1}")

    if m < 0 or n < 0:
        raise FormatError(f"{where} has m = {m}, n = {n}; must be ≥ 0")
    if kind >= TRIPLETS:
        used = kind
        if min(len(p), len(i), len(x)) < used:
            raise FormatError(f"{where} has nz = {kind} entries, but p, i, x hold {len(p)}, {len(i)}, {len(x)}")
        within("p", p[:used], n)
        within("i", i[:used], m)
        return
    lines, across, word = (n, m, "columns") if kind == BY_COLUMNS else (m, n, "rows")
    if len(p) < lines + 1:
        raise FormatError(f"{where} has {lines} {word}, but p holds {len(p)} pointers; must be {lines + 1}")
    pointers = p[: lines + 1]
    if pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise FormatError(f"{where}: the pointers p must begin with 0 and never fall")
    used = int(pointers[-1])
    if min(len(i), len(x)) < used:
        raise FormatError(f"{where}: p ends with {used} entries, but i and x hold {len(i)} and {len(x)}")
    within("i", i[:used], across)


def _expect(path, **shapes):
    """Check shapes: name = (what was read, the shape it must have)."""
    for name, (read, shape) in shapes.items():
        if read.shape != shape:
            raise FormatError(
                f"{path}: '{name}' has the shape {read.shape}; with the rest of the file it must be {shape}"
            )


def _friction(vectors, path, dimension):
    """Coefficients by name, and the dimension checked."""
    if not 2 <= dimension <= 6:
        raise FormatError(f"{path}: spacedim = {dimension}; must be 2 to 6")
    options = {"rolling": _get(vectors, path, "mu_r") if dimension in (5, 6) and "mu_r" in vectors else None}
    options["spinning"] = _get(vectors, path, "mu_s") if dimension in (4, 6) and "mu_s" in vectors else None
    if dimension > 3 and 3 + 2 * (options["rolling"] is not None) + (options["spinning"] is not None) != dimension:
        raise FormatError(f"{path}: spacedim = {dimension} needs 'mu_r' (5, 6) and 'mu_s' (4, 6) in addition to 'mu'")
    return _get(vectors, path, "mu"), options


def _read_local(group, path):
    dimension = _integer(group, path, "spacedim")
    W, vectors = _matrix(group, path, "W"), _group(group, path, "vectors")
    q = _get(vectors, path, "q", "a").astype(float)
    mu, options = _friction(vectors, path, dimension)
    _expect(path, W=(W, (q.size, q.size)), mu=(mu, (q.size // dimension,)))
    if "V" in group:
        V, R, s = _matrix(group, path, "V"), _matrix(group, path, "R"), _get(vectors, path, "s")
        _expect(path, V=(V, (q.size, s.size)), R=(R, (s.size, s.size)))
        eliminated = _solve_any(R, np.column_stack([V.T.toarray(), s]))
        W = W.toarray() - V @ eliminated[:, :-1]
        q = q - V @ eliminated[:, -1]
    if dimension == 2:
        W, q = _lift(W, q)
    return ContactProblem(W, q, mu, **options, name=path.stem)


def _read_global(group, path):
    dimension = _integer(group, path, "spacedim")
    M, H = _matrix(group, path, "M"), _matrix(group, path, "H")
    vectors = _group(group, path, "vectors")
    f, w = _get(vectors, path, "f"), _get(vectors, path, "w").astype(float)
    mu, options = _friction(vectors, path, dimension)
    _expect(path, M=(M, (f.size, f.size)), H=(H, (f.size, w.size)), mu=(mu, (w.size // dimension,)))
    if "G" not in group and dimension > 2:
        return ContactProblem.from_bodies(M, H, w, mu, f=f, **options, name=path.stem)
    right, system = np.column_stack([H.toarray(), f]), M
    if "G" in group:
        G, b = _matrix(group, path, "G"), _get(vectors, path, "b")
        _expect(path, G=(G, (f.size, b.size)))
        system = sp.block_array([[M, G], [G.T, None]])
        right = np.vstack([right, np.column_stack([np.zeros((G.shape[1], H.shape[1])), -b])])
    solution = _solve_any(system, right)[: M.shape[0]]
    W, q = H.T @ solution[:, :-1], w + H.T @ solution[:, -1]
    if dimension == 2:
        W, q = _lift(W, q)
    return ContactProblem(W, q, mu, **options, name=path.stem)


def _solve_any(matrix, right):
    """matrix⁻¹ right; least squares when the matrix is singular (redundant bilateral rows)."""
    try:
        solution = sp.linalg.splu(sp.csc_array(matrix)).solve(right)
    except RuntimeError:
        solution = np.full(right.shape, np.nan)
    if np.isfinite(solution).all() and np.abs(matrix @ solution - right).max() <= 1e-9 * np.abs(right).max():
        return solution
    return np.linalg.lstsq(matrix.toarray(), right, rcond=None)[0]


def _lift(W, q):
    """A planar problem with a third component of its own per contact, of the mobility of the tangent."""
    W = sp.coo_array(W)
    n = len(q) // 2
    place = (3 * (np.arange(2 * n) // 2) + np.arange(2 * n) % 2).astype(int)
    diagonal = np.asarray(sp.csr_array(W).diagonal())[1::2]
    i, j = np.concatenate([place[W.row], 3 * np.arange(n) + 2]), np.concatenate([place[W.col], 3 * np.arange(n) + 2])
    lifted = sp.coo_array(
        (np.concatenate([W.data, np.where(diagonal > 0, diagonal, 1.0)]), (i, j)), shape=(3 * n, 3 * n)
    )
    vector = np.zeros(3 * n)
    vector[place] = q
    return sp.csr_array(lifted), vector
