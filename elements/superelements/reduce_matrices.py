"""Reductions of models that are given by mass and stiffness matrices, from memory or from files.

Source: docs/theory/superelements.md, section 2.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.elements.superelements.load_patterns import LoadPattern, patterns_of
from fem_mbs.elements.superelements.matrix_files import Entries, read_matrix_file
from fem_mbs.elements.superelements.reduce_steps import Tractions, finish, frames_of, wanted_of
from fem_mbs.elements.superelements.reduction import Reduction
from fem_mbs.elements.superelements.residual_vectors import Traction
from fem_mbs.errors import ParameterError, Warnings


@Warnings.kept
@Keywords.known
def reduce_matrices(
    M: Any,
    K: Any,
    points: ArrayLike,
    frames: dict[str, Any],
    *,
    modes: int | None = None,
    coupling: str | dict[str, str] = "rigid",
    stiffening: tuple[str, str, Any] | LoadPattern | list | None = None,
    faces: ArrayLike | None = None,
    residual_vectors: dict[str, Any] | None = None,
    energy_kept: float | None = None,
    struck: dict[str, Any] | None = None,
    name: str | None = None,
) -> Reduction:
    """Reduce a finite-element model that is given by its matrices.

    Parameters
    ----------
    M, K : (N, N) sparse or dense, or paths of files
        Mass and stiffness, without supports, both triangles; rows node by node, 3 (translations) or 6 (translations,
        rotations) for each. Files: Matrix Market; Abaqus ``*MATRIX OUTPUT, FORMAT=MATRIX INPUT``; Nastran ``DMIG``.
        Of several DMIG matrices in a file that whose name begins with M or K is taken.
    points : (k, 3) [m], nodes; or dict, label -> (3,) [m]
        For files of Abaqus and Nastran, which have labels, a dict.
    frames : dict
        Name -> numbers of the nodes that follow the frame rigidly, from 0, or their labels if ``points`` has them; or
        (numbers, position (3,) [m]). Default: the mean of the nodes.
    modes : int ≥ 0, default 12
    coupling : {"rigid", "averaged"} or dict of frames, as `reduce_mesh`; all nodes of a frame have the same weight
    stiffening : (str, str, (N, N) matrix or path), `LoadPattern`, or list of both, optional
        Two frames between which the part carries an axial load, and its geometric stiffness under a unit pull; or loads
        with their ``geometry``, as `reduce_mesh`.
    faces : (f, 3) int, optional
        Triangles of its surface, nodes as in ``frames``, counter-clockwise as seen from outside: for pictures, and
        for contacts there.
    residual_vectors : dict, optional
        For static loads between the frames: a name -> numbers of the nodes that share a force equally, as in
        ``frames``; or -> `LoadPattern` by the mass. See `reduce_mesh`.
    energy_kept, struck : as `reduce_mesh`
    name : str, optional

    Returns
    -------
    Reduction

    Raises
    ------
    ParameterError
        Matrices that do not fit the points, are not symmetric, or resist rigid motions (supports, other units); a file
        that cannot be read.

    Warns
    -----
    UserWarning
        ``modes`` cuts a pair of modes of one frequency.

    Notes
    -----
    Masses with rotations that carry the translation of the mass between the nodes (beams with cubic shape functions)
    leave a small error of the coupling of inertia with rotation; lump them, or use solids.

    Examples
    --------
    Two heavy discs on a shaft that can be twisted; six numbers for each node:

    >>> import numpy as np
    >>> disc = np.diag([2.0, 2.0, 2.0, 0.1, 0.05, 0.05])
    >>> twist = np.diag([0, 0, 0, 400.0, 0, 0])
    >>> M, K = np.kron(np.eye(2), disc), np.kron([[1, -1], [-1, 1]], twist)
    >>> shaft = reduce_matrices(M, K, [[0, 0, 0], [1, 0, 0]], {"a": [0], "b": [1]}, modes=0)
    >>> shaft.mass, shaft.center.tolist()
    (4.0, [0.5, 0.0, 0.0])
    """
    owner = Named("reduce_matrices", name)
    labels, X = _labelled(owner, points)
    M, K, per = _pair(owner, M, K, labels, len(X))

    def places(parameter, numbers):
        given = np.ravel(numbers)
        owner.check((given == np.floor(given)).all(), parameter, numbers, "must be whole numbers of nodes")
        found = given.astype(np.int64)
        if labels is None:
            right = found.size and 0 <= found.min() and found.max() < len(X)
            owner.check(right, parameter, numbers, f"must be numbers of nodes from 0 to {len(X) - 1}")
            return found
        there = np.isin(found, labels)
        missing = f"has nodes that are not in points: {found[~there][:5].tolist()}"
        owner.check(found.size and there.all(), parameter, numbers, missing)
        return np.searchsorted(labels, found)

    def nodes_of(numbers):
        return np.unique(places("frames", owner.as_array("frames", numbers)))

    def equal(group, nodes):
        return np.full(len(nodes), 1.0 / len(nodes))

    named = frames_of(owner, frames, nodes_of, X, coupling, equal)
    given = []
    for one in [] if stiffening is None else patterns_of(owner, stiffening, named, matrices=True):
        owner.check(one.geometry is not None, "stiffening", one, "needs its geometric stiffness: geometry=…")
        geometry = _matrix(owner, "stiffening", one.geometry)
        geometry = geometry.matrix(labels, per) if isinstance(geometry, Entries) else geometry
        owner.check(geometry.shape == K.shape, "stiffening", geometry.shape, f"must be of the shape of K, {K.shape}")
        given.append((one, geometry))
    surface = np.zeros((0, 3), np.int64)
    if faces is not None:
        surface = places("faces", owner.as_array("faces", faces, (None, 3))).reshape(-1, 3)
    chosen: list = []
    wanted = {} if residual_vectors is None else residual_vectors
    message = "must be a dict: a name to numbers of nodes, or to a fem.LoadPattern"
    owner.check(isinstance(wanted, dict), "residual_vectors", wanted, message)
    for key, one in wanted.items():
        owner.as_text("residual_vectors", key)
        if isinstance(one, LoadPattern):
            chosen.append(one)
        else:
            nodes = np.unique(places("residual_vectors", owner.as_array("residual_vectors", one)))
            chosen.append(Traction(key, nodes, np.full(len(nodes), 1.0 / len(nodes))))
    chosen = wanted_of(owner, chosen, named, "numbers of nodes or fem.LoadPattern of gravity or an axis")
    between = Tractions(chosen, [one for one in chosen if isinstance(one, Traction)])
    matrices = [M, K]
    del M, K
    blows = energy_kept, struck
    return finish(owner, matrices, X, per, named, modes, (surface, {}), name, between, given, blows=blows)


def _labelled(owner, points):
    """Labels (k,), rising, or None, and places (k, 3) of nodes."""
    if not isinstance(points, dict):
        return None, owner.as_array("points", points, (None, 3))
    whole = all(isinstance(label, (int, np.integer)) for label in points)
    owner.check(whole and len(points) > 0, "points", list(points)[:3], "must have labels of nodes, whole numbers")
    labels = np.array(sorted(points))
    return labels, owner.as_array("points", [points[label] for label in labels.tolist()], (len(labels), 3))


def _pair(owner, M, K, labels, count):
    """M and K, and numbers for each node."""
    found = {key: _matrix(owner, key, A) for key, A in (("M", M), ("K", K))}
    named = {key: A for key, A in found.items() if isinstance(A, Entries)}
    per = 6 if any(A.rows[:, 1].max() > 3 or A.columns[:, 1].max() > 3 for A in named.values()) else 3
    for key, A in named.items():
        message = "must be a dict, label -> position, for a matrix whose nodes have labels"
        owner.check(labels is not None, "points", f"{count} points", message)
        missing = np.setdiff1d(np.concatenate([A.rows[:, 0], A.columns[:, 0]]), labels)
        owner.check(not missing.size, key, f"{len(missing)} nodes", f"are not in points, as {missing[:5].tolist()}")
        found[key] = A.matrix(labels, per)
    if not named:
        per = 6 if found["M"].shape[0] == 6 * count else 3
    return found["M"], found["K"], per


def _matrix(owner, key, A):
    """Return a matrix, given or read from a file."""
    if isinstance(A, (str, Path)):
        A = read_matrix_file(owner, key, A)
        if isinstance(A, Entries):
            return A
    try:
        return csc_matrix(A, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(owner, key, A, f"must be a matrix: {error}") from error
