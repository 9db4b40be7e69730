"""Pictures of URDF as shapes, their masses, and shapes as pictures of URDF.

Source: docs/theory/urdf.md, "Geometry".
"""

from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs import shapes
from fem_mbs.arguments.checked import Named
from fem_mbs.elements.urdf.text import AT_ORIGIN, Picture, Pose, Robot
from fem_mbs.errors import FemMbsError, ParameterError, Warnings
from fem_mbs.mesh.files import mesh_of
from fem_mbs.mesh.mass import mass_of_mesh, surface_faces


class Meshes:
    """Finds and reads the meshes of a file, each once.

    Parameters
    ----------
    robot : Robot
    packages : dict, name of a ROS package -> its folder
    """

    def __init__(self, robot: Robot, packages: dict) -> None:
        self._folder, self._packages = robot.folder, packages
        self._read: dict[str, Any] = {}

    def path(self, name: str) -> Path:
        """Path of the mesh of a ``filename``; of a ROS package: in its folder, or in one above the file.

        Raises
        ------
        ParameterError
            That is outside of the folder of the file, of the ROS package it is in, and of those that are given.
        """
        if not name.startswith(("package://", "model://")):
            inside = [self._folder, *map(Path, self._packages.values())]
            inside += [folder for folder in self._folder.parents if (folder / "package.xml").is_file()][:1]
            return self._checked(name, self._folder / name.removeprefix("file://"), inside)
        package, _, rest = name.partition("://")[2].partition("/")
        if package in self._packages:
            folder = Path(self._packages[package])
            return self._checked(name, folder / rest, [folder])
        above = [self._folder, *self._folder.parents]
        folders = [folder / package for folder in above] + [folder for folder in above if folder.name == package]
        folder = next((folder for folder in folders if (folder / rest).is_file()), folders[0])
        return self._checked(name, folder / rest, [folder])

    @staticmethod
    def _checked(name, path, folders):
        """A path that is in one of the folders; links are followed."""
        found = path.resolve()
        if not any(found.is_relative_to(folder.resolve()) for folder in folders):
            why = "is outside of the folder of the file and of its package; packages={name: folder} allows a folder"
            raise ParameterError(Named("URDF mesh", name), "mesh", str(path), why)
        return path

    def mesh(self, picture: Picture) -> Any:
        """The scaled mesh of a picture.

        Raises
        ------
        ParameterError
            No such file, or none that can be read.
        """
        name = picture.sizes["filename"]
        if name not in self._read:
            owner, path = Named("URDF mesh", name), self.path(name)
            owner.check(path.is_file(), "mesh", str(path), "is not there; packages={name: folder} gives its folder")
            self._read[name] = mesh_of(owner, path, 1.0, "mesh")
        return self._read[name].moved(lambda points: points * picture.sizes["scale"])

    def shape(self, picture: Picture, place: Pose) -> Any:
        """Shape of a picture of a link at the pose ``place``; None, with a warning, where it cannot be had."""
        pose = place.then(picture.pose)
        try:
            _raise_error(picture)
            return shape_of(picture, pose, None if picture.kind != "mesh" else self.mesh(picture))
        except FemMbsError as error:
            Warnings.issue(f"{str(error).rstrip('.')}. It is not drawn.")
            return None

    def mass(self, picture: Picture, density: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass [kg], centre of mass (3,) and inertia (3, 3) about it, in the axes of the link, of a solid picture."""
        _raise_error(picture)
        if picture.kind == "mesh":
            found = mass_of_mesh(self.mesh(picture), density)
            mass, center, inertia = found.mass, found.center, found.inertia
        else:
            (mass, J), center = _solid(picture, density), np.zeros(3)
            inertia = np.diag(J)
        p, R = picture.pose
        return mass, p + R @ center, R @ inertia @ R.T


def _raise_error(picture):
    """Raise the error of a picture that cannot be read."""
    if picture.error is not None:
        raise picture.error


def _solid(picture, density):
    """Mass and principal moments of a primitive."""
    from fem_mbs.elements.bodies.rigid_body import RigidBody

    sizes = picture.sizes
    if picture.kind == "box":
        body = RigidBody.box(density * float(np.prod(sizes["size"])), sizes["size"])
    elif picture.kind == "sphere":
        body = RigidBody.sphere(density * 4 / 3 * np.pi * sizes["radius"] ** 3, sizes["radius"])
    else:
        r, length = sizes["radius"], sizes["length"]
        ends = 4 / 3 * np.pi * r**3 if picture.kind == "capsule" else 0.0
        make = RigidBody.capsule if ends else RigidBody.cylinder
        body = make(density * (np.pi * r**2 * length + ends), r, length)
    return body.mass, np.diag(body.inertia)


def shape_of(picture: Picture, pose: Pose, mesh: Any) -> Any:
    """The shape of a picture at a pose in node axes; ``mesh``: its mesh if it is one."""
    sizes: Any = picture.sizes
    placed: Any = {"offset": pose.p, "rotation": pose.R, "color": picture.color}
    if picture.kind == "box":
        return shapes.Box(sizes["size"], **placed)
    if picture.kind == "sphere":
        return shapes.Sphere(sizes["radius"], **placed)
    if picture.kind != "mesh":
        end = np.array([0.0, 0.0, 0.5 * sizes["length"]])
        return {"cylinder": shapes.Cylinder, "capsule": shapes.Capsule}[picture.kind](
            -end, end, sizes["radius"], **placed
        )
    faces = surface_faces(mesh.cells.items())
    Named("URDF mesh", sizes["filename"]).check(faces, "mesh", 0, "triangles or quadrilaterals are in it.")
    if np.prod(sizes["scale"]) < 0.0:  # a mirror image: its faces would look inwards
        faces = [block[:, ::-1] for block in faces]
    return shapes.Mesh(mesh.points, faces, **placed)


def picture_of(shape: Any, node: Pose, meshes: "MeshFiles") -> Picture | None:
    """The picture of a shape; ``node``: pose of the node in the link. None where it needs a file and there is none."""
    points = node.p + shape.points @ node.R.T
    if type(shape) is shapes.Box:
        corner = points[[1, 2, 4]] - points[0]  # edges x, y, z
        axes = (corner / np.linalg.norm(corner, axis=1)[:, None]).T
        return Picture("box", {"size": shape.size}, Pose(points.mean(axis=0), axes), shape.color)
    if type(shape) is shapes.Sphere:
        pole = points[-2:].mean(axis=0)
        return Picture("sphere", {"radius": shape.radius}, Pose(pole, np.eye(3)), shape.color)
    if type(shape) is shapes.Cylinder:
        from fem_mbs.elements.urdf.tree import turn_z_to

        first, second = points[-2:]
        length = float(np.linalg.norm(second - first))
        pose = Pose(0.5 * (first + second), turn_z_to((second - first) / length))
        return Picture("cylinder", {"radius": shape.radius, "length": length}, pose, shape.color)
    name = meshes.write(points, shape.faces)
    return None if name is None else Picture("mesh", {"filename": name, "scale": np.ones(3)}, AT_ORIGIN, shape.color)


class MeshFiles:
    """Writes meshes into files next to a URDF: FILE_1.obj, FILE_2.obj …; nothing where no file is written.

    Parameters
    ----------
    path : Path or None
    """

    def __init__(self, path: Path | None) -> None:
        self._path, self._count = path, 0

    def write(self, points: np.ndarray, faces: Any) -> str | None:
        """Name of a new file of a surface (n, 3) [m]."""
        if self._path is None:
            return None
        import meshio

        self._count += 1
        place = self._path.with_name(f"{self._path.stem}_{self._count}.obj")
        cells = [({3: "triangle", 4: "quad"}[block.shape[1]], block) for block in faces]
        meshio.write(place, meshio.Mesh(points, cells))
        return place.name
