"""Meshes of CAD parts and of closed surfaces, by Gmsh.

    STEP, IGES        lengths come with a unit, which is converted to metres
    BREP, STL, OBJ …  have none: ``units`` says what a number is

Solids that touch get faces in common, so that their meshes are joined. A closed surface of triangles is divided into
smooth patches at its edges, and meshed anew with the size that is asked.

Gmsh is not needed otherwise: ``pip install fem_mbs[gmsh]``. Source: Geuzaine & Remacle, Int. J. Numer. Meth. Eng. 79
(2009), and the reference manual of Gmsh 4; docs/howto/cad.md.
"""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import FemMbsError, ParameterError, Warnings
from fem_mbs.mesh.faces import Faces
from fem_mbs.mesh.files import LARGE, LARGE_UNSAID, SMALL, UNITS, mesh_of, unjoined
from fem_mbs.mesh.mass import closed_triangles
from fem_mbs.mesh.mesh import Mesh

WITH_UNITS = (".step", ".stp", ".iges", ".igs")
CAD = (*WITH_UNITS, ".brep")
EDGE = np.radians(30.0)  # between triangles of a surface: from there on it is an edge of the part
# options of Gmsh that change a mesh, as this module needs them: a caller who has Gmsh open may have set others
OPTIONS = {
    "General.Verbosity": 0,
    "General.NumThreads": 1,  # the same mesh every time
    "Geometry.OCCImportLabels": 1,
    "Geometry.OCCScaling": 1,
    "Mesh.Algorithm": 6,
    "Mesh.Algorithm3D": 1,
    "Mesh.ElementOrder": 1,
    "Mesh.MeshSizeExtendFromBoundary": 1,
    "Mesh.MeshSizeFactor": 1,
    "Mesh.MeshSizeFromCurvature": 0,
    "Mesh.MeshSizeFromPoints": 1,
    "Mesh.MeshSizeMax": 1e22,
    "Mesh.MeshSizeMin": 0,
    "Mesh.Recombine3DAll": 0,
    "Mesh.RecombineAll": 0,
    "Mesh.SaveAll": 0,
    "Mesh.ScalingFactor": 1,
    "Mesh.SubdivisionAlgorithm": 0,
}
WRITTEN = {"Mesh.Binary": 1, "Mesh.MshFileVersion": 4.1, "Mesh.SaveAll": 0, "Mesh.ScalingFactor": 1}  # our files
UNIT = "Geometry.OCCTargetUnit"
TOUCH, OVERLAP = 1e-7, 1e-6  # of the size of the parts: solids so near touch; of their volume: an overlap
MOST = 2_000_000  # cells that a size may lead to, by the volume of the box around the part


@Warnings.kept
@Keywords.known
def mesh_from_cad(
    path: str | Path,
    size: float,
    *,
    order: int = 2,
    groups: dict[str, Any] | None = None,
    sizes: dict[str, float] | None = None,
    units: str | float | None = None,
) -> Mesh:
    """Mesh a CAD part or a closed surface with tetrahedra.

    Parameters
    ----------
    path : path
        STEP, IGES, BREP; or a closed surface: STL, OBJ, PLY and what else meshio reads.
    size : float > 0 [m]
        Of the edges of cells.
    order : {2, 1}
        Of the cells: `Tetra10` with curved edges, or `Tetra4`.
    groups : dict, optional
        Name -> faces: a point (3,) [m] (the face nearest to it) or several (k, 3); (point, axis, radius), all faces on
        that cylinder, as of a bore, or (point, axis, radius, length), those within half the length of the point; or a
        function of points (k, 3) that holds on whole faces. Names of faces in a STEP file are groups by themselves.
    sizes : dict, optional
        Name of a group -> size [m] of cells there.
    units : {"m", "mm", …} or float, as `read_mesh`
        Of files without units: all but STEP and IGES. Default: metres, with a warning from 5 m on.

    Returns
    -------
    Mesh
        Group "body" has all solid cells. Solids that touch are joined; of several, "solid 1", "solid 2" … are groups.

    Warns
    -----
    UserWarning
        An unlikely size; solids that overlap.

    Raises
    ------
    ParameterError
        No file, or one that Gmsh cannot read; no volume (a surface that is not closed); a group that no face is in, or
        that takes a face from another; a size that leads to millions of cells; cells that cannot be made.
    FemMbsError
        Gmsh is not installed: says what to do.

    Examples
    --------
    >>> rod = mesh_from_cad("rod.step", 4e-3, groups={"bore": ([0, 0, 0], [0, 1, 0], 6e-3)})  # doctest: +SKIP
    """
    owner = Named("mesh_from_cad")
    path = owner.as_path("path", path)
    owner.check(path is not None and Path(path).is_file(), "path", path, "is no file of a part")
    size, order = owner.positive("size", size, "m"), owner.as_integer("order", order)
    owner.check(order in (1, 2), "order", order, "must be 1 or 2")
    said = 1.0 if units is None else units
    scale = UNITS[owner.as_choice("units", said, tuple(UNITS))] if isinstance(said, str) else said
    scale = owner.positive("units", scale, "m")
    unsaid = units is None and Path(path).suffix.lower() not in WITH_UNITS
    with _session(owner) as gmsh:
        volumes = _volumes(owner, gmsh, Path(path), scale)
        _tell_size(owner, gmsh, Path(path), size, LARGE_UNSAID if unsaid else LARGE)
        faces = Faces(owner, gmsh, volumes)
        named = faces.named(groups)
        _set_sizes(owner, gmsh, size, sizes, named)
        for name, tags in named.items():
            gmsh.model.addPhysicalGroup(2, tags, name=name)
        gmsh.model.addPhysicalGroup(3, volumes, name="body")
        for k, tag in enumerate(volumes if len(volumes) > 1 else [], 1):
            gmsh.model.addPhysicalGroup(3, [tag], name=f"solid {k}")
        _generate(owner, gmsh, Path(path), order)
        mesh = _taken(gmsh)
    for text in unjoined(mesh):
        Warnings.issue(f"mesh_from_cad: '{Path(path).name}' {text}")
    return mesh


def mesh_from_gmsh() -> Mesh:
    """The mesh of Gmsh's current model, as its Python interface has made it, in metres.

    Groups are the physical groups; without one all cells are taken. Options of files, such as ``Mesh.ScalingFactor``,
    do not matter: the places are those that Gmsh has. A part in millimetres: ``mesh.moved(lambda x: 1e-3 * x)``.

    Raises
    ------
    FemMbsError
        Gmsh is not installed, not initialised, or has no mesh.

    Examples
    --------
    >>> import gmsh  # doctest: +SKIP
    >>> gmsh.initialize()  # doctest: +SKIP
    >>> gmsh.model.occ.addBox(0, 0, 0, 0.1, 0.02, 0.02)  # doctest: +SKIP
    >>> gmsh.model.occ.synchronize()  # doctest: +SKIP
    >>> gmsh.model.mesh.generate(3)  # doctest: +SKIP
    >>> bar = mesh_from_gmsh()  # doctest: +SKIP
    """
    gmsh = _gmsh()
    if not gmsh.isInitialized():
        raise FemMbsError("mesh_from_gmsh: Gmsh has no model; call gmsh.initialize() and make one first")
    if not len(gmsh.model.mesh.getNodes()[0]):
        raise FemMbsError("mesh_from_gmsh: the model of Gmsh has no mesh; call gmsh.model.mesh.generate(3) first")
    return _taken(gmsh)


def _gmsh():
    try:
        import gmsh
    except (ImportError, OSError) as error:
        raise FemMbsError(
            f"meshing of CAD parts needs Gmsh, which was not found ({error}): pip install fem_mbs[gmsh]; on Debian "
            "also: apt-get install libglu1-mesa libxcursor1 libxft2 libxinerama1 libxrender1"
        ) from error
    return gmsh


@contextlib.contextmanager
def _session(owner) -> Iterator[Any]:
    """Gmsh with a model and options of its own; those of a caller are there again afterwards."""
    gmsh = _gmsh()
    mine = not gmsh.isInitialized()
    before = None
    if mine:
        gmsh.initialize(readConfigFiles=False, interruptible=False)
    else:
        before = gmsh.model.getCurrent()
    options = {name: gmsh.option.getNumber(name) for name in OPTIONS}
    unit = gmsh.option.getString(UNIT)
    for name, value in OPTIONS.items():
        gmsh.option.setNumber(name, value)
    gmsh.model.add("part of fem_mbs")
    try:
        yield gmsh
    finally:
        if mine:
            gmsh.finalize()
        else:
            gmsh.model.remove()
            gmsh.option.setString(UNIT, unit)
            for name, value in options.items():
                gmsh.option.setNumber(name, value)
            if before is not None:
                gmsh.model.setCurrent(before)


def _volumes(owner, gmsh, path, scale):
    """Numbers of the volumes of a part, which becomes part of the model."""
    if path.suffix.lower() not in CAD:
        return [_of_surface(owner, gmsh, path, scale)]
    gmsh.option.setString(UNIT, "M" if path.suffix.lower() in WITH_UNITS else "")
    try:
        made = gmsh.model.occ.importShapes(str(path))
        if path.suffix.lower() not in WITH_UNITS and scale != 1.0:
            gmsh.model.occ.dilate(made, 0, 0, 0, scale, scale, scale)
        gmsh.model.occ.synchronize()
    except Exception as error:  # Gmsh has no class of its own
        raise ParameterError(owner, "path", str(path), f"is no part that Gmsh reads ({error})") from None
    finally:
        _usual_unit(gmsh)
    volumes = [tag for _, tag in gmsh.model.getEntities(3)]
    message = f"has no solid, but {len(gmsh.model.getEntities(2))} faces. Export the part as a solid, not as a surface"
    owner.check(volumes, "path", str(path), message)
    return _joined(gmsh, path, volumes)


def _joined(gmsh, path, volumes):
    """Numbers of the volumes, after those that touch have got faces in common; overlaps are warned of."""
    occ, gap = gmsh.model.occ, TOUCH * np.linalg.norm(np.ptp(np.reshape(gmsh.model.getBoundingBox(-1, -1), (2, 3)), 0))
    boxes = [np.reshape(gmsh.model.getBoundingBox(3, tag), (2, 3)) for tag in volumes]
    near = [(i, k) for k in range(len(volumes)) for i in range(k) if _meet(boxes[i], boxes[k], gap)]
    within = (_is_within(boxes[i], boxes[k]) or _is_within(boxes[k], boxes[i]) for i, k in near)  # far from its faces
    if not any(within) and not any(occ.getDistance(3, volumes[i], 3, volumes[k])[0] <= gap for i, k in near):
        return volumes
    before = sum(occ.getMass(3, tag) for tag in volumes)
    named = {tag: gmsh.model.getEntityName(2, tag) for _, tag in gmsh.model.getEntities(2)}
    named = {tag: name for tag, name in named.items() if name}
    given = [(3, tag) for tag in volumes] + [(2, tag) for tag in named]
    made, pieces = occ.fragment(given, [])
    occ.synchronize()
    for name, parts in zip(named.values(), pieces[len(volumes) :]):
        for dimension, tag in parts:
            gmsh.model.setEntityName(dimension, tag, name)
    volumes = sorted({tag for dimension, tag in made if dimension == 3})
    over = before - sum(occ.getMass(3, tag) for tag in volumes)
    if over > OVERLAP * before:
        text = f"mesh_from_cad: '{path.name}' has solids that overlap, by {over:.3g} m³; each point is meshed once"
        Warnings.issue(text)
    return volumes


def _meet(first, second, gap):
    """Boxes (2, 3) that touch."""
    return bool((first[0] <= second[1] + gap).all() and (second[0] <= first[1] + gap).all())


def _is_within(first, second):
    """Return True if a box (2, 3) is inside another one."""
    return bool((first[0] >= second[0]).all() and (first[1] <= second[1]).all())


def _usual_unit(gmsh):
    """Millimetres again in OpenCASCADE: else STEP files that the process writes afterwards are a thousand times larger.

    It keeps the unit of the last file that it has read or written, also when Gmsh begins anew.
    """
    here = gmsh.model.getCurrent()
    gmsh.option.setString("Geometry.OCCTargetUnit", "MM")
    gmsh.model.add("unit of fem_mbs")
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
    gmsh.model.occ.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        gmsh.write(str(Path(folder) / "unit.step"))
    gmsh.model.remove()
    gmsh.option.setString("Geometry.OCCTargetUnit", "")
    gmsh.model.setCurrent(here)


def _of_surface(owner, gmsh, path, scale):
    """The volume inside a closed surface of triangles."""
    points, faces = closed_triangles(owner, mesh_of(owner, path))
    surface = gmsh.model.addDiscreteEntity(2)
    numbers = np.arange(1, len(points) + 1)
    gmsh.model.mesh.addNodes(2, surface, numbers, (scale * points).ravel())
    gmsh.model.mesh.addElementsByType(surface, 2, [], 1 + faces.ravel())
    try:
        gmsh.model.mesh.classifySurfaces(EDGE, True, True, np.pi)
        gmsh.model.mesh.createGeometry()
        loop = gmsh.model.geo.addSurfaceLoop([tag for _, tag in gmsh.model.getEntities(2)])
        volume = gmsh.model.geo.addVolume([loop])
        gmsh.model.geo.synchronize()
    except Exception as error:
        message = f"has a surface of which Gmsh makes no volume ({error}). Repair it: no holes, no faces that cross"
        raise ParameterError(owner, "path", str(path), message) from None
    return volume


def _tell_size(owner, gmsh, path, size, large):
    """Warn about parts of an unlikely size; raise an error for sizes that give millions of cells."""
    box = np.array(gmsh.model.getBoundingBox(-1, -1)).reshape(2, 3)
    extent = box[1] - box[0]
    if not SMALL < extent.max() < large:
        text = f"mesh_from_cad: '{path.name}' is {extent.max():.3g} m long. Are the units right?"
        Warnings.issue(text)
    cells = 6.0 * np.prod(np.maximum(extent / size, 1.0))
    message = f"would give as many as {cells:.1e} cells for a part of {' × '.join(f'{x:.3g}' for x in extent)} m"
    owner.check(cells < MOST, "size", size, f"{message}. Take a larger one, and sizes={{…}} where it matters")


def _set_sizes(owner, gmsh, size, sizes, named):
    sizes = {} if sizes is None else sizes
    owner.check(isinstance(sizes, dict), "sizes", sizes, "must be a dict: name of a group to its size")
    sizes = {name: owner.positive("sizes", small, "m") for name, small in sizes.items()}
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.option.setNumber("Mesh.MeshSizeMin", min([size, *sizes.values()]) / 10.0)
    fields = []
    for name, small in sizes.items():
        owner.check(name in named, "sizes", name, f"is no group; there are {', '.join(named) or 'none'}")
        distance, threshold = gmsh.model.mesh.field.add("Distance"), gmsh.model.mesh.field.add("Threshold")
        gmsh.model.mesh.field.setNumbers(distance, "SurfacesList", named[name])
        numbers = {"InField": distance, "SizeMin": small, "SizeMax": size, "DistMin": small, "DistMax": 4.0 * size}
        for key, value in numbers.items():
            gmsh.model.mesh.field.setNumber(threshold, key, value)
        fields.append(threshold)
    if fields:
        least = gmsh.model.mesh.field.add("Min")
        gmsh.model.mesh.field.setNumbers(least, "FieldsList", fields)
        gmsh.model.mesh.field.setAsBackgroundMesh(least)


def _generate(owner, gmsh, path, order):
    try:
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.optimize("Netgen")
        gmsh.model.mesh.setOrder(order)
        if order == 2:  # cells at curved faces that have turned inside out
            gmsh.model.mesh.optimize("HighOrder")
    except Exception as error:
        message = f"cannot be meshed ({error}). Another size may help, or a repaired part"
        raise ParameterError(owner, "path", str(path), message) from None


def _taken(gmsh):
    """The mesh of the current model."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.msh"
        before = {name: gmsh.option.getNumber(name) for name in WRITTEN}
        for name, value in WRITTEN.items():
            gmsh.option.setNumber(name, value)
        try:
            gmsh.write(str(file))
        finally:
            for name, value in before.items():
                gmsh.option.setNumber(name, value)
        mesh = mesh_of(Named("mesh_from_gmsh"), file, 1.0)
    mesh.check_cells()
    return mesh
