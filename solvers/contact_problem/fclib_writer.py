"""Writing contact problems in fclib's HDF5 format, which the header of `fclib` describes."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fem_mbs.arguments.checked import ArrayLike

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from fem_mbs.solvers.contact_problem.problem import ContactProblem, Solution

TRIPLETS, BY_COLUMNS, BY_ROWS = 0, -1, -2  # how a matrix is stored, "nz" of the file


def write_problem(
    path: str | Path,
    problem: "ContactProblem",
    *,
    solution: "Solution | None" = None,
    guess: "Solution | None" = None,
    title: str = "",
    description: str = "",
) -> None:
    """Write a contact problem as /fclib_local.

    Parameters
    ----------
    path : path of the HDF5 file, replaced when it exists
    problem : ContactProblem
        A problem given by products only is written as a full matrix.
    solution, guess : Solution, optional
        Stored under /solution, or as the only guess.
    title, description : str, optional
        Stored under /fclib_local/info; the title is the problem's name by default.
    """
    import h5py

    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        W = problem.W if sp.issparse(problem.W) else np.asarray(problem.W @ np.eye(problem.q.size))
        _write_matrix(group, "W", W)
        _write_vectors(group, problem.size, problem.friction, q=problem.q)
        law = "relaxed: without De Saxcé's term" if problem.relaxed else ""
        _write_info(group, title or problem.name or "", description or law)
        if solution is not None:
            _write_fields(file.create_group("solution"), solution)
        if guess is not None:
            file["guesses/number_of_guesses"] = np.array([1], np.int32)
            _write_fields(file.create_group("guesses/1"), guess)


def write_global(
    path: str | Path,
    M: "ArrayLike | csc_array",
    H: "ArrayLike | csc_array",
    w: ArrayLike,
    friction: ArrayLike,
    *,
    f: ArrayLike | None = None,
    title: str = "",
    description: str = "",
) -> None:
    """Write a problem of bodies as /fclib_global; arguments as in `ContactProblem.from_bodies`, sliding only."""
    import h5py

    H = sp.csc_array(H)
    friction = np.broadcast_to(np.asarray(friction, float), H.shape[1] // 3)[:, None]
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global")
        _write_matrix(group, "M", M)
        _write_matrix(group, "H", H)
        f = np.zeros(H.shape[0]) if f is None else np.asarray(f, float)
        _write_vectors(group, 3, friction, f=f, w=np.asarray(w, float))
        _write_info(group, title, description)


def _write_matrix(group, name, matrix):
    matrix = sp.csc_array(matrix)
    g = group.create_group(name)
    for key, number in zip(("nzmax", "m", "n", "nz"), (matrix.nnz, *matrix.shape, BY_COLUMNS)):
        g[key] = np.array([number], np.int32)
    g["p"], g["i"], g["x"] = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data


def _write_vectors(group, dimension, friction, **vectors):
    group["spacedim"] = np.array([dimension], np.int32)
    names = ["mu"] + ["mu_r"] * (dimension in (5, 6)) + ["mu_s"] * (dimension in (4, 6))
    for name, column in zip(names, friction.T):
        group[f"vectors/{name}"] = column
    for name, vector in vectors.items():
        group[f"vectors/{name}"] = vector.ravel()


def _write_info(group, title, description):
    for name, text in (("title", title), ("description", description), ("math_info", "")):
        group[f"info/{name}"] = text


def _write_fields(group, solution):
    group["r"], group["u"] = solution.r.ravel(), solution.u.ravel()
