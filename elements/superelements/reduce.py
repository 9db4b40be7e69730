"""Making of reductions: the steps that all have in common, and of a mesh.

Source: docs/theory/superelements.md, section 2.
"""

import gc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from fem_mbs.arguments import Keywords, Named
from fem_mbs.cells import DRAWN
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.faces import area_shares, nodal_areas
from fem_mbs.elements.solids.material import SolidMaterial
from fem_mbs.elements.superelements.blows import MOST_MODES, Blows
from fem_mbs.elements.superelements.coordinates import as_lengths, compliance, responses, rigid_coordinates
from fem_mbs.elements.superelements.craig_bampton import (
    FrameNodes,
    Halved,
    checked_model,
    craig_bampton,
    followers,
    reduced,
    rigid_motions,
)
from fem_mbs.elements.superelements.load_patterns import LoadPattern, Loads, check_known, named_frame, patterns_of
from fem_mbs.elements.superelements.reduction import Reduction
from fem_mbs.elements.superelements.residual_vectors import (
    Traction,
    forces_of,
    residuals_of,
    solved,
    tell_frames,
    tell_known,
    works,
    worth_knowing,
)
from fem_mbs.elements.superelements.stiffening import (
    cells_of,
    follower_stiffness,
    forces_inside,
    geometric_stiffness,
    softening_by,
)
from fem_mbs.elements.superelements.units import check_masses, tell_units
from fem_mbs.errors import ParameterError
from fem_mbs.mesh import Mesh
from fem_mbs.model import Model
from fem_mbs.solid_stress import ENHANCED
from fem_mbs.system.system import System

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
    blows : energy kept and frames struck, see `Blows`

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
    by_weight = works(held_still, csc_array(M @ rigid_motions(X, per)[:, :3]), ())[0]
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
            tell_known(owner, names, left, dropped, level=5)  # of the caller, behind what checks arguments
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
        "traction_compliance": between.compliance, "weight_compliance": by_weight,
    }  # fmt: skip
    arrays |= {} if cells is None else cells
    geometries = [geometry for _, geometry in stiffening]
    arrays |= _patterns(owner, arrays, phi, frames, loads, under, geometries, units, K, held_still)
    loaded = {one.name: one.nodes for one in tractions.known}
    found = Reduction([frame.name for frame in frames], mass, arrays, groups=groups, loaded=loaded, name=name)
    size = np.sqrt(np.diag(found.M).clip(1e-300))
    least = float(np.linalg.eigvalsh(found.M / np.outer(size, size))[0])
    message = (
        "leaves a frame without mass in some direction: a frame needs three nodes not on a line, or nodes with "
        "rotations that have inertia"
    )
    owner.check(least > 1e-12 and np.diag(found.M).min() > 0.0, "frames", [frame.name for frame in frames], message)
    return found


class _Between(NamedTuple):
    """Loads between the frames on a mesh of N displacements, and what they do while the frames are held.

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
    """K̂ without what round-off of the solution leaves as resistance to rigid motions; refused if it is more.

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
    ``nodes_of`` (group): their numbers; ``weights_of`` (group, nodes): what averaged frames take of each.
    Raises `ParameterError` for what is no frame.
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


@Keywords.known
def reduce_mesh(
    mesh: Mesh,
    material: SolidMaterial,
    frames: dict[str, Any],
    *,
    modes: int | None = None,
    coupling: str | dict[str, str] = "rigid",
    group: str | None = None,
    elements: Any = None,
    mass: str = "consistent",
    stiffening: tuple[str, str] | LoadPattern | list | None = None,
    residual_vectors: str | LoadPattern | list | None = None,
    energy_kept: float | None = None,
    struck: dict[str, Any] | None = None,
    name: str | None = None,
) -> Reduction:
    """Reduce a mesh of linear elastic solids to boundary frames and internal modes (Craig-Bampton).

    Parameters
    ----------
    mesh : Mesh
    material : SolidMaterial
    frames : dict
        Name -> group of the mesh whose nodes follow the frame rigidly; or (group, position (3,) [m]), where the origin
        of the frame is, axes of the mesh. Default: the mean of the nodes. Axes are those of the mesh.
    modes : int ≥ 0
        Internal modes, of lowest frequency with all frames held; default 12.
    coupling : {"rigid", "averaged"} or dict of frames
        "averaged": the frame moves as its faces do in the mean, weighted with their areas, and they stay free to
        deform; forces on it spread over them. "rigid": they keep their form.
    group, elements, mass : as `SolidBody`
    stiffening : (str, str), `LoadPattern`, or list of both, optional
        Two frames between which the part carries an axial load, as a rod does: the load then stiffens bending, or
        softens it. For slender parts; it makes a rod that is swung round some ten times as accurate. Other loads that a
        part carries, on several frames or by its mass: a list of them, such as ``[("a", "b"), LoadPattern(axis=…)]``.
        Each load by the mass gets a residual vector.
    residual_vectors : str, `LoadPattern`, or list of both, optional
        For lasting loads between the frames, as contacts at rest and pressures: groups of the mesh, on which they act.
        Each adds three residual vectors (MacNeal 1971, Rubin 1975), what the modes leave out of the static response to
        uniform tractions along x, y and z; to equal forces on its nodes where it has no faces. Of a `LoadPattern` by
        the mass, ``gravity`` or ``axis``, it is one.
    energy_kept : float from 0 to 1, optional
        For a part that is struck: take as many modes as a blow with restitution 0 needs to leave this share of the
        energy in the body, 1 − m_eff/M, in the place of a number of them. ``modes`` is then the most that are allowed,
        default 200.
    struck : dict, optional
        The frames that are struck: name -> direction (3,), axes of the mesh, or None, the worst one. Default: all.
    name : str, optional

    Returns
    -------
    Reduction
        For `Superelement`.

    Raises
    ------
    ParameterError
        Groups that are not there, or share nodes; frames of one point, or of points on a line; a body in two parts; an
        energy that cannot be kept: tells what can, and why; residual vectors of loads that frames take alone.

    Warns
    -----
    UserWarning
        ``modes`` cuts a pair of modes of one frequency. Loads that add no residual vector, because the modes know them.

    Examples
    --------
    >>> from fem_mbs.mesh_block import block_mesh
    >>> steel = SolidMaterial(E=210e9, nu=0.3, density=7850)
    >>> rod = reduce_mesh(block_mesh([1.0, 0.1, 0.1], [8, 1, 1]), steel, {"left": "x0", "right": "x1"}, modes=6)
    >>> rod.frames, rod.modes, round(rod.mass, 9)
    (('left', 'right'), 6, 78.5)
    """
    owner = Named("reduce_mesh", name)
    options = dict(group=group, elements=elements, mass=mass, name=name)
    matrices, X, named, surface, between, given, cells = _parts(
        owner, mesh, material, frames, coupling, stiffening, residual_vectors, options
    )
    gc.collect()  # body and system, whose parts refer to each other: a good part of the memory
    return finish(owner, matrices, X, 3, named, modes, surface, name, between, given, cells, (energy_kept, struck))


def _parts(owner, mesh, material, frames, coupling, stiffening, wanted, options):
    """What `finish` needs of a mesh: matrices, positions, frames, surface, tractions, stiffening and cells.

    ``wanted``: residual vectors; ``options``: of `SolidBody`.
    """
    body = SolidBody(mesh, material, **options)
    group = options["group"]
    model = Model(options["name"] or "reduction")
    model.add(body)
    matrices = _matrices_of(model, body)

    def shares(group, nodes):
        try:
            places, share = area_shares(owner, body, group)
        except ParameterError:  # nodes without faces
            return np.full(len(nodes), 1.0 / len(nodes))
        weights = np.zeros(len(body.nodes))
        weights[places] = share
        return weights[nodes]

    named = frames_of(owner, frames, body.node_numbers, body.reference, coupling, shares)
    triangles, groups, areas = _surface(mesh, group, body)
    between = _tractions(owner, wanted, body, named, areas)
    given = []
    if stiffening is not None:
        plain = not any(type(element).enhanced for element in body.elements)
        owner.check(
            plain, "stiffening", stiffening, "is not for elements with incompatible strains; use quadratic cells"
        )
        cells, message = cells_of(body), "has a geometry, which is for reduce_matrices; of a mesh it is computed"
        for one in patterns_of(owner, stiffening, named, matrices=False):
            owner.check(one.geometry is None, "stiffening", one, message)
            given.append((one, lambda u: geometric_stiffness(cells, body.reference, u)))
    return matrices, body.reference, named, (triangles, groups), between, given, _cells(body)


def _tractions(owner, wanted, body, frames, areas):
    """`Tractions` of ``residual_vectors`` and of groups of faces; ``areas``: of `_surface`."""
    faces = {name: Traction(name, places, area / area.sum()) for name, (places, area) in areas.items()}
    what = "names of groups of the mesh or fem.LoadPattern of gravity or an axis, or a list"
    given = [] if wanted is None else [wanted] if isinstance(wanted, (str, LoadPattern)) else wanted
    owner.check(isinstance(given, (list, tuple)), "residual_vectors", given, f"must be {what}")
    chosen: list = []
    for one in given:
        if isinstance(one, str) and one not in faces:
            nodes = body.node_numbers(one)
            chosen.append(Traction(one, nodes, np.full(len(nodes), 1.0 / len(nodes))))
        else:
            chosen.append(faces[one] if isinstance(one, str) else one)
    chosen = wanted_of(owner, chosen, frames, what)
    named = [one.name for one in chosen]
    others = [one for name, one in faces.items() if name not in named]
    known = worth_knowing(others, [float(areas[one.name][1].sum()) for one in others], frames)
    return Tractions(chosen, [*(one for one in chosen if isinstance(one, Traction)), *known])


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


def _surface(mesh, group, body):
    """Triangles (f, 3) of the boundary, places of nodes of the body, and of its groups what they have of it.

    Group of the mesh -> numbers of triangles; and -> nodes (k,), rising, and their areas (k,) [m²].
    """
    triangles, own, first = [], {}, 0
    for rows in mesh.boundary(group).values():
        parts, places = DRAWN[rows.shape[1]], body.places_of(rows)
        triangles += [places[:, corners] for corners in parts]
        numbers = first + np.arange(len(rows))[:, None] + len(rows) * np.arange(len(parts))
        own |= dict(zip(_corners(rows), zip(numbers, places, nodal_areas(body, places))))
        first += numbers.size
    groups, areas = {}, {}
    for name in mesh.groups:
        try:
            faces = mesh.faces_of(name)
        except ParameterError:  # solids, or nodes inside
            continue
        found = [own[key] for rows in faces.values() for key in _corners(rows) if key in own]
        if found:
            numbers, places, sizes = (np.concatenate(part) for part in zip(*found))
            groups[name], nodes = np.sort(numbers), np.unique(places)
            areas[name] = nodes, np.bincount(np.searchsorted(nodes, places), sizes)
    return np.concatenate(triangles), groups, areas


def _corners(rows):
    """Corners of faces (n, nn), rising, as tuples."""
    return map(tuple, np.sort(rows[:, : 3 if rows.shape[1] in (3, 6) else 4], axis=1).tolist())


def _matrices_of(model, body):
    """M and K (3 n, 3 n) of a free body, in the order of its nodes, as a list."""
    system = System(model, check=False, linear_solver="superlu")  # none solves, and this one plans nothing
    state = system.initial
    dofs = system.expanded(np.arange(system.n, dtype=float) + 1.0).astype(np.int64) - 1
    numbers = dofs[[node.index for node in body.nodes], :3].ravel()
    in_order = np.array_equal(numbers, np.arange(system.n))
    system.constraint_values(state)
    found = []
    for weights in ({"c_M": 1.0}, {"c_K": 1.0}):
        A = system.assemble(state, **weights).matrix()
        found.append(A if in_order else A.tocsr()[numbers][:, numbers])
    found[0] = found[0].copy()
    found[0].eliminate_zeros()  # of different components: two thirds of the pattern
    return found


def _cells(body):
    """The cells of a body as arrays of `Reduction`."""
    blocks = body.blocks
    material = [np.column_stack([b.material[:, :2], b.material[:, 2].astype(int) & ENHANCED]) for b in blocks]
    return {
        "cell_types": np.concatenate([np.full(len(b.nodes), b.cell.vtk) for b in blocks]),
        "cell_points": np.concatenate([b.nodes.ravel() for b in blocks]),
        "cell_material": np.concatenate(material),
    }
