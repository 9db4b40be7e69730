"""Calls of meshes and solids; `public_calls` says what a call is."""

import tempfile
from pathlib import Path

import numpy as np
from mesh_texts import TETRAS_MSH41

import fem_mbs as fem
from fem_mbs.cells import CELLS


def steel():
    return fem.SolidMaterial(E=1.0, nu=0.3, density=1.0)


def body():
    return fem.SolidBody(fem.block_mesh([1, 1, 1], [1, 1, 1], cell="tetra10"), steel(), name="body")


def mesh_file():
    path = Path(tempfile.mkdtemp()) / "part.msh"
    path.write_text(TETRAS_MSH41)
    return path


def element(kind):
    """A call of one element on the nodes of its reference cell."""
    points = np.array(kind.cell.points)
    nodes = [fem.Node3(x) for x in points]
    given = dict(nodes=nodes, material=steel(), mass="lumped", damping=0.1, reference=points, name="e")
    return kind, given


SOLIDS = {
    "Mesh": lambda: (
        fem.Mesh,
        dict(points=CELLS["tetra"].points, cells={"tetra": [[0, 1, 2, 3]]}, groups={"a": {"tetra": [0]}}, name="m"),
    ),
    "block_mesh": lambda: (
        fem.block_mesh,
        dict(sides=[1, 1, 1], divisions=[1, 1, 1], cell="tetra", form=lambda x: 2.0 * x, name="m"),
    ),
    "read_mesh": lambda: (fem.read_mesh, dict(path=mesh_file(), units="mm", check=True)),
    "Mesh.with_group": lambda: (body().mesh.with_group, dict(name="new", where=lambda x: x[:, 0] > 0.5)),
    "SolidMaterial": lambda: (fem.SolidMaterial, dict(E=1.0, nu=0.3, density=1.0, law="neo-hookean", name="m")),
    "SolidBody": lambda: (
        fem.SolidBody,
        dict(
            mesh=fem.block_mesh([1, 1, 1], [1, 1, 1], cell="tetra").with_group("g", lambda x: x[:, 0] > 0),
            material=steel(),
            group=None,
            elements=None,
            mass="consistent",
            damping=0.0,
            position=[0, 0, 1],
            rotation=[0, 0, 0.1],
            velocity=[1, 0, 0],
            angular_velocity=[0, 0, 1],
            name="body",
        ),
    ),
    "SolidBody.fix": lambda: (body().fix, dict(group="x0", components=["x"])),
    "SolidBody.node_at": lambda: (body().node_at, dict(point=[0, 0, 0])),
    "SurfacePressure": lambda: (
        fem.SurfacePressure,
        dict(body=body(), group="x1", pressure=1.0, signal=2.0, name="p"),
    ),
    "SurfaceTraction": lambda: (
        fem.SurfaceTraction,
        dict(body=body(), group="x1", traction=[0, 0, 1], signal=2.0, name="t"),
    ),
    "SurfaceCoupling": lambda: (
        fem.SurfaceCoupling,
        dict(body=body(), group="x1", frame=fem.Node6(), kind="averaged", weights="area", name="c"),
    ),
    "SurfaceContacts": lambda: (
        fem.SurfaceContacts,
        dict(
            body=body(),
            group="x1",
            plane=fem.Node6(),
            sphere=None,
            radius=None,
            quadratic=True,
            drawn_size=0.0,
            name="c",
        ),
    ),
    "AveragedCoupling": lambda: (
        fem.AveragedCoupling,
        dict(
            nodes=[fem.Node6(), *(fem.Node3([k, k * k, 1]) for k in range(12))],
            p=[[k, k * k, 1] for k in range(8)],
            weights=[0.125] * 8,
            center=[0, 0, 0],
            radius=1.0,
            name="c",
        ),
    ),
    "BodyForce": lambda: (fem.BodyForce, dict(body=body(), force=[0, 0, 1], signal=2.0, name="b")),
    "Tetra4": lambda: element(fem.Tetra4),
    "Tetra10": lambda: element(fem.Tetra10),
    "Hexa8": lambda: element(fem.Hexa8),
    "Hexa8Enhanced": lambda: element(fem.Hexa8Enhanced),
    "Hexa20": lambda: element(fem.Hexa20),
    "Wedge6": lambda: element(fem.Wedge6),
    "Wedge15": lambda: element(fem.Wedge15),
}
