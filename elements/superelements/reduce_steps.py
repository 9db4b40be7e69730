"""Making of reductions: the steps that all have in common.

Source: docs/theory/superelements.md, section 2.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from fem_mbs.arguments.checked import Named
from fem_mbs.elements.superelements.blows import MOST_MODES, Blows
from fem_mbs.elements.superelements.coordinates import as_lengths, compliance, resisted, responses, rigid_coordinates
from fem_mbs.elements.superelements.craig_bampton import (
    FrameNodes,
    Halved,
    checked_model,
    craig_bampton,
    followers,
    reduced,
    unit_accelerations,
)
from fem_mbs.elements.superelements.load_patterns import LoadPattern, Loads, check_known, named_frame
from fem_mbs.elements.superelements.reduction import Reduction
from fem_mbs.elements.superelements.residual_vectors import (
    Traction,
    forces_of,
    residuals_of,
    solved,
    tell_frames,
    tell_known,
    works,
)
from fem_mbs.elements.superelements.stiffening import follower_stiffness, forces_inside, softening_by
from fem_mbs.elements.superelements.units import check_masses, tell_units
from fem_mbs.errors import ParameterError

MODES = 12  # by default


class Tractions(NamedTuple):
    """Loads between the frames: those that get residual vectors, and those whose compliance is kept.

    Attributes
    ----------
    wanted : list of Traction and LoadPattern
    known : list of Traction
    """

    wanted: list
    known: list[Traction]


def finish(
    owner: Named,
    matrices: list,
    X: np.ndarray,
    per: int,
    frames: list[FrameNodes],
    modes: int | None,
    surface: tuple[np.ndarray, dict[str, np.ndarray]],
    name: str | None,
    tractions: Tractions,
    stiffening: Sequence[tuple[LoadPattern, Any]] = (),
    cells: dict[str, np.ndarray] | None = None,
    blows: tuple[float | None, dict | None] = (None, None),
) -> Reduction:
    """Checks, reduction and mass properties of a model.

    Parameters
    ----------
    owner : Named
        The function that errors name.
    matrices : list of M and K (N, N)
        Emptied, as they are most of the memory.
    X : (k, 3) [m]
        Nodes, of ``per`` rows each: 3 or 6.
    frames : of `frames_of`
    modes : as `reduce_mesh`
    surface : faces (f, 3) and their groups, see `Reduction`
    name : of the reduction
    tractions : Tractions
    stiffening : pairs of a `LoadPattern` and K_G, or a function of displacements (k, 3): K_G of one component
    cells : arrays of the solids, see `Reduction`
    blows : energy kept and frames with impacts, see `Blows`

    Raises
    ------
    ParameterError
        See `reduce_mesh` and `reduce_matrices`.
    """
    M, K, rigid = checked_model(owner, matrices, X, per)
    faces, groups = surface
    size = abs(K[::per, ::per]).max()
    K = Halved(K, followers(frames, X, per)[0])
    check_masses(owner, rigid, float(np.ptp(X, axis=0).max()))
    mass = rigid[0, 0]
    tell_units(owner, X, mass, frames)
    kept, struck = blows
    owner.check(struck is None or kept is not None, "struck", struck, "is for energy_kept: give it too")
    hit = None if kept is None else Blows(owner, frames, M, mass, kept, struck)
    few = MODES if hit is None else MOST_MODES
    modes = few if modes is None else owner.as_integer("modes", modes, at_least=0)
    loads = Loads.of(owner, [pattern for pattern, _ in stiffening], frames, M, X, per)
    enough = None if hit is None else hit.enough
    phi, frequencies, held_still = craig_bampton(owner, M, K, X, per, frames, modes, enough)
    under = solved(held_still, loads.on_mesh)
    between = _between(owner, tractions, M, K, X, per, frames, held_still)
    by_inertia = csc_array(M @ unit_accelerations(X, per))
    inertia_compliance = works(held_still, by_inertia, ())[0]
    held_still = held_still if stiffening else np.zeros_like  # its factors are most of the memory
    by_mass = under.any(axis=0)
    wanted, responses = (
        np.hstack([loads.on_mesh[:, by_mass], between.loads]),
        np.hstack([under[:, by_mass], between.under]),
    )
    high = np.zeros(0)
    if wanted.shape[1]:
        names = [*(f"{load} of stiffening" for load in np.array(loads.names)[by_mass]), *between.names]
        more, high, left, dropped = residuals_of(owner, M, K, phi[:, 6 * len(frames) :], responses)
        if between.names:
            tell_known(owner, names, left, dropped)
        phi = np.hstack([phi, more])
    if hit is not None and hit.enough(phi) is None:
        hit.refuse(X, per, phi)
    phi[:, 6 * len(frames) :] *= np.sqrt(mass)  # amplitudes are lengths, and alike in all units
    arrays = reduced(M, K, phi, per, len(frames))
    places = np.array([frame.at for frame in frames])
    units = as_lengths(len(frames), phi.shape[1] - 6 * len(frames), float(np.ptp(X, axis=0).max()), mass)
    arrays["K"] = _without_rigid(owner, arrays["K"], size, places, units)
    center = np.array([rigid[1, 5], rigid[2, 3], rigid[0, 4]]) / mass  # e_z × X along y, …
    inertia = rigid[3:, 3:] - mass * (center @ center * np.eye(3) - np.outer(center, center))
    basis = phi.reshape(len(X), per, -1)[:, :3].reshape(3 * len(X), -1)
    arrays |= {
        "positions": places, "center": center, "inertia": inertia, "points": X,
        "interface_frequencies": frequencies, "residual_frequencies": high, "basis": basis, "faces": faces,
        "residual_loads": wanted.T @ phi, "tractions": between.forces.T @ phi,
        "traction_compliance": between.compliance, "inertia_compliance": inertia_compliance,
        "inertia_loads": by_inertia[:, 3:].T @ phi,
    }  # fmt: skip
    arrays |= {} if cells is None else cells
    geometries = [geometry for _, geometry in stiffening]
    arrays |= _patterns(owner, arrays, phi, frames, loads, under, geometries, units, K, held_still)
    loaded = {one.name: one.nodes for one in tractions.known}
    found = Reduction([frame.name for frame in frames], mass, arrays, groups=groups, loaded=loaded, name=name)
    _check_frame_masses(owner, found)
    return found


def _check_frame_masses(owner, found):
    """Raise for a reduction with a frame that has no mass in some direction."""
    size = np.sqrt(np.diag(found.M).clip(1e-300))
    least = float(np.linalg.eigvalsh(found.M / np.outer(size, size))[0])
    message = (
        "leaves a frame without mass in some direction: a frame needs three nodes not on a line, or nodes with "
        "rotations that have inertia"
    )
    owner.check(least > 1e-12 and np.diag(found.M).min() > 0.0, "frames", list(found.frames), message)


class _Between(NamedTuple):
    """Loads between the frames on a mesh of N displacements, and their responses while the frames are fixed.

    Attributes
    ----------
    names : (q,), loads : (N, q) [N], under : (N, q) [m], of those that get residual vectors
    forces : (N, 3 g) [N], sparse, compliance : (3 g, 3 g) [m/N], of those whose compliance is kept
    """

    names: list[str]
    loads: np.ndarray
    under: np.ndarray
    forces: Any
    compliance: np.ndarray


def _between(owner, tractions, M, K, X, per, frames, held_still):
    """`_Between` of the `Tractions`; ``held_still``: of `craig_bampton`."""
    groups = [one.name for one in tractions.wanted if isinstance(one, Traction)]
    patterns = [one for one in tractions.wanted if isinstance(one, LoadPattern)]
    known = [one.name for one in tractions.known]
    numbers = [3 * known.index(name) + axis for name in groups for axis in range(3)]
    forces = forces_of(tractions.known, len(X), per)
    compliance, under = works(held_still, forces, numbers)
    by_mass = Loads.of(owner, patterns, frames, M, X, per)
    weights = [f"{load} of residual_vectors" for load in by_mass.names]
    loads = np.hstack([forces[:, numbers].toarray(), by_mass.on_mesh])
    under = np.hstack([under, solved(held_still, by_mass.on_mesh)])
    tell_frames(owner, K, loads, under, [*(name for name in groups for _ in range(3)), *weights])
    names = [*(f"'{name}' along {axis}" for name in groups for axis in "xyz"), *weights]
    return _Between(names, loads, under, forces, compliance)


def _without_rigid(owner, K, size, places, units):
    """K̂ without the resistance to rigid motions by round-off of the solution; an error is raised if it is more.

    ``size``: of the entries of K [N/m]; ``units``: of `as_lengths`.
    """
    rigid = rigid_coordinates(places - places.mean(axis=0), len(K))
    rigid = rigid * units[:, None] / np.abs(rigid * units[:, None]).max(axis=0).clip(1e-300)
    K = K / np.outer(units, units)
    strain = np.abs(K @ rigid).max() / max(np.abs(K).max(), size)
    owner.check(strain < 1e-8, "K", strain, "resists rigid motions after reduction: it is badly conditioned")
    Q = np.linalg.qr(rigid)[0]
    free = np.eye(len(K)) - Q @ Q.T
    found = (free @ K @ free) * np.outer(units, units)
    return 0.5 * (found + found.T)


def _patterns(owner, arrays, phi, frames, loads, under, geometries, units, K, held_still):
    """Arrays of the loads that stiffen the body.

    ``under`` (N, p): of (19), displacements under them with the frames held; ``geometries``: of each, as `finish`.
    ``held_still``: of `craig_bampton`.
    """
    X, points, basis = arrays["positions"], arrays["points"], arrays["basis"]
    n, first, p = phi.shape[1], 6 * len(frames), len(geometries)
    c = loads.on_coordinates(owner, phi, X, float(np.ptp(points, axis=0).max()))
    d = responses(arrays["K"], c, X, units)
    for name, balanced in zip(loads.names, resisted(arrays["K"], c, d, units)):
        message = "deforms the body without resistance: the stiffness has no energy there. Leave the load out"
        owner.check(balanced, "stiffening", name, message)
    known = compliance(c, d)
    exact = known - compliance(c[:, first:], d[:, first:]) + compliance(loads.on_mesh.T, under.T)
    check_known(owner, loads.names, known, exact)
    found, inside = np.zeros((p, n, n)), []
    for k, geometry in enumerate(geometries):
        u = phi @ d[k]
        if under[:, k].any():
            u += under[:, k] - phi[:, first:] @ d[k, first:]
        moved = u.reshape(len(points), -1)[:, :3]
        if callable(geometry):
            G, parts = geometry(moved), basis.reshape(-1, 3, n)
            stressed = np.stack([G @ parts[:, i] for i in range(3)], axis=1)
            made = sum(parts[:, i].T @ stressed[:, i] for i in range(3))
        else:
            made = phi.T @ (geometry @ phi)
            stressed = 0.5 * (geometry @ phi + geometry.T @ phi)
        forces = (K @ u - loads.on_mesh[:, k]).reshape(len(points), -1)[:, :3]
        made = made + follower_stiffness(frames, points, forces, basis)
        found[k] = 0.5 * (made + made.T)
        inside.append(forces_inside(frames, stressed.reshape(len(phi), n), forces))
    return {
        "stretch": c, "pull_geometry": found, "pull_compliance": exact, "pull_fields": loads.fields,
        "pull_softening": softening_by(inside, found, arrays["K"], first, held_still),
    }  # fmt: skip


def frames_of(
    owner: Named,
    frames: dict[str, Any],
    nodes_of: Callable[[Any], np.ndarray],
    X: np.ndarray,
    coupling: str | dict[str, str],
    weights_of: Callable[[Any, np.ndarray], np.ndarray],
) -> list[FrameNodes]:
    """Frames with their nodes, of which none may be in two.

    ``frames``, ``coupling``: as `reduce_mesh`; ``X``: (k, 3) [m], nodes.
    ``nodes_of`` (group): their numbers; ``weights_of`` (group, nodes): share of averaged frames in each.
    Raises `ParameterError` for invalid frames.
    """
    message = "must be a dict: name of a frame to its nodes, or to (nodes, position)"
    owner.check(isinstance(frames, dict) and len(frames) > 0, "frames", frames, message)
    kinds = coupling if isinstance(coupling, dict) else dict.fromkeys(frames, coupling)
    unknown = [frame for frame in kinds if frame not in frames]
    owner.check(not unknown, "coupling", unknown, f"are no frames; there are {', '.join(map(str, frames))}")
    found, taken = [], {}
    for frame, given in frames.items():
        owner.as_text("frames", frame)
        group, place = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        nodes = nodes_of(group)
        at = X[nodes].mean(axis=0) if place is None else owner.as_vector("frames", place)
        for k in nodes.tolist():
            if taken.setdefault(k, frame) != frame:
                where = X[k].round(6).tolist()
                raise ParameterError(owner, "frames", frame, f"and frame '{taken[k]}' share a node, at {where} m")
        kind = kinds.get(frame, "rigid")
        owner.as_choice("coupling", kind, ("rigid", "averaged"), "must be 'rigid' or 'averaged', or a dict of frames")
        found.append(FrameNodes(frame, at, nodes, weights_of(group, nodes) if kind == "averaged" else None))
    return found


def wanted_of(
    owner: Named, chosen: list[Traction | LoadPattern], frames: list[FrameNodes], what: str
) -> list[Traction | LoadPattern]:
    """The ``chosen`` items of ``residual_vectors``, checked; ``what`` they must be, for the error.

    Raises `ParameterError` for other things, groups given twice, and loads that frames take alone.
    """
    names = []
    for one in chosen:
        owner.check(isinstance(one, (Traction, LoadPattern)), "residual_vectors", one, f"must be {what}")
        if isinstance(one, Traction):
            owner.check(one.name not in names, "residual_vectors", one.name, "is given twice")
            names.append(one.name)
        else:
            message = "has forces on frames, which need no residual vectors: frames move the body exactly"
            owner.check(not one.forces, "residual_vectors", one, message)
            if one.held is not None:  # all frames are: it is right whichever it names
                named_frame(owner, one.held, frames, "residual_vectors")
    return chosen
