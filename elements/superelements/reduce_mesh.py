"""Reductions of meshes of linear elastic solids.

Source: docs/theory/superelements.md, section 2.
"""

import gc
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.faces import area_shares, nodal_areas
from fem_mbs.elements.solids.material import SolidMaterial
from fem_mbs.elements.superelements.load_patterns import LoadPattern, patterns_of
from fem_mbs.elements.superelements.reduce_steps import Tractions, finish, frames_of, wanted_of
from fem_mbs.elements.superelements.reduction import Reduction
from fem_mbs.elements.superelements.residual_vectors import Traction, worth_knowing
from fem_mbs.elements.superelements.stiffening import cells_of, geometric_stiffness
from fem_mbs.errors import ParameterError, Warnings
from fem_mbs.mesh.cells import DRAWN
from fem_mbs.mesh.mesh import Mesh
from fem_mbs.model import Model
from fem_mbs.stresses.solid_stress import ENHANCED
from fem_mbs.system.system import System

MANY = 20_000  # nodes, from which it pays to look through all objects of the process


@Warnings.kept
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
        For static loads between the frames, as contacts at rest and pressures: groups of the mesh, on which they act.
        Each adds three residual vectors (MacNeal 1971, Rubin 1975), the part of the static response outside the modes,
        to uniform tractions along x, y and z; to equal forces on its nodes where it has no faces. Of a `LoadPattern` by
        the mass, ``gravity`` or ``axis``, it is one.
    energy_kept : float from 0 to 1, optional
        For a body under impacts: use as many modes as an impact with restitution 0 needs to leave this share of the
        energy in the body, 1 − m_eff/M, in the place of a number of them. ``modes`` is then the most that are allowed,
        default 200.
    struck : dict, optional
        The frames with impacts: name -> direction (3,), axes of the mesh, or None, the worst one. Default: all.
    name : str, optional

    Returns
    -------
    Reduction
        For `Superelement`.

    Raises
    ------
    ParameterError
        Groups that are not there, or share nodes; frames of one point, or of points on a line; a body of two separate
        parts; an energy that cannot be kept: states the largest, and why; residual vectors of loads that frames take
        alone.

    Warns
    -----
    UserWarning
        ``modes`` cuts a pair of modes of one frequency. Loads that add no residual vector, because the modes know them.

    Examples
    --------
    >>> from fem_mbs.mesh.block import block_mesh
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
    if len(X) > MANY:
        gc.collect()  # body and system, whose parts refer to each other: a good part of the memory
    return finish(owner, matrices, X, 3, named, modes, surface, name, between, given, cells, (energy_kept, struck))


def _parts(owner, mesh, material, frames, coupling, stiffening, wanted, options):
    """Return the arguments of `finish` from a mesh: matrices, positions, frames, surface, tractions, stiffening and
    cells.

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


def _surface(mesh, group, body):
    """Triangles (f, 3) of the boundary, places of nodes of the body, and the part of it in each of its groups.

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
