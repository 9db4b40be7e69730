"""Calls of meshes and solids; `public_calls` says what a call is."""

import tempfile
from pathlib import Path

import numpy as np
from mesh_texts import TETRAS_MSH41

import fem_mbs as fem
from fem_mbs.elements.superelements.reduction import ARRAYS
from fem_mbs.mesh.cells import CELLS


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


def reduction():
    return fem.reduce_mesh(fem.block_mesh([2, 1, 1], [2, 1, 1]), steel(), {"a": "x0", "b": "x1"}, modes=2)


def reduction_file():
    path = Path(tempfile.mkdtemp()) / "part.h5"
    reduction().save(path)
    return path


def shaft():
    """Two discs on a shaft that twists: M, K, points and frames."""
    disc, twist = np.diag([2.0, 2.0, 2.0, 0.1, 0.05, 0.05]), np.diag([0, 0, 0, 400.0, 0, 0])
    M, K = np.kron(np.eye(2), disc), np.kron([[1, -1], [-1, 1]], twist)
    return dict(M=M, K=K, points=[[0, 0, 0], [1, 0, 0]], frames={"a": [0], "b": [1]})


def twist():
    return fem.LoadPattern(forces={"b": [0, 0, 0, 1, 0, 0]}, held="a", geometry=np.zeros((12, 12)))


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
            light=None,
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
    "Tie": lambda: (
        fem.Tie,
        dict(
            body_A=body(),
            group_A="x1",
            body_B=fem.SolidBody(fem.block_mesh([1, 1, 1], [1, 1, 1], cell="tetra10"), steel(), position=[1, 0, 0]),
            group_B="x0",
            tolerance=1e-6,
            name="t",
        ),
    ),
    "TiedNode": lambda: (
        fem.TiedNode,
        dict(node=fem.Node3(), face=[fem.Node3() for _ in range(3)], shapes=[0.2, 0.3, 0.5], name="t"),
    ),
    "SurfaceContacts": lambda: (
        fem.SurfaceContacts,
        dict(
            body=body(),
            group="x1",
            plane=fem.Node6(),
            sphere=None,
            cylinder=None,
            box=None,
            radius=None,
            size=None,
            hollow=False,
            quadratic=True,
            side=None,
            drawn_size=0.0,
            name="c",
        ),
    ),
    "SurfaceOnSurface": lambda: (
        fem.SurfaceOnSurface,
        dict(
            body_A=body(),
            group_A="x1",
            body_B=fem.SolidBody(fem.block_mesh([1, 1, 1], [1, 1, 1], cell="tetra"), steel(), position=[1, 0, 0]),
            group_B="x0",
            side_A=None,
            side_B=None,
            reach=0.5,
            both=False,
            smooth=True,
            crease=0.5,
            name="t",
        ),
    ),
    "NodeOnFaces": lambda: (
        fem.NodeOnFaces,
        dict(
            node=fem.Node3([0, 0, 1]),
            faces=[[fem.Node3([0, 0, 0]), fem.Node3([1, 0, 0]), fem.Node3([0, 1, 0])]],
            cut=[(0, 1)],
            smooth=True,
            crease=0.5,
            room=(0, 0),
            name="t",
        ),
    ),
    "FrameOnFaces": lambda: (
        fem.FrameOnFaces,
        dict(
            frame=fem.Node6([0, 0, 1]).frame(),
            faces=[[fem.Node6(place).frame() for place in ([0, 0, 0], [1, 0, 0], [0, 1, 0])]],
            cut=[(0, 1)],
            smooth=True,
            crease=0.5,
            room=(0, 0),
            name="t",
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
    "reduce_mesh": lambda: (
        fem.reduce_mesh,
        dict(
            mesh=fem.block_mesh([2, 1, 1], [2, 1, 1]).with_group("all", lambda x: x[:, 0] >= 0),
            material=steel(),
            frames={"a": "x0", "b": ("x1", [2, 0, 0])},
            modes=2,
            group=None,
            elements=None,
            coupling={"b": "averaged"},
            mass="lumped",
            stiffening=[("a", "b"), fem.LoadPattern(forces={"b": [0, 0, 1]}, held="a")],
            residual_vectors=["z1", fem.LoadPattern(gravity=[0, 0, 1])],
            energy_kept=0.01,
            struck={"a": [1, 0, 0]},
            name="part",
        ),
    ),
    "reduce_matrices": lambda: (
        fem.reduce_matrices,
        dict(
            **shaft(),
            modes=0,
            coupling="rigid",
            stiffening=[twist()],
            faces=[[0, 1, 1]],
            residual_vectors={},
            energy_kept=None,
            struck=None,
            name="shaft",
        ),
    ),
    "LoadPattern": lambda: (
        fem.LoadPattern,
        dict(
            forces={"a": [1, 0, 0], "b": [0, 0, 0, 1, 0, 0]},
            axis=[0, 0, 1],
            point=[1, 0, 0],
            gravity=[0, 0, -9.81],
            held="a",
            geometry=np.eye(3),
            name="load",
        ),
    ),
    "load_reduction": lambda: (fem.load_reduction, dict(path=reduction_file())),
    "Reduction": lambda: (
        fem.Reduction,
        dict(
            frames=("a", "b"),
            mass=2.0,
            arrays={key: getattr(reduction(), key) for key in ARRAYS},
            groups={},
            loaded=reduction().loaded,
            name="part",
        ),
    ),
    "Reduction.missing_compliance": lambda: (
        reduction().missing_compliance,
        dict(group="z1", direction=[0, 0, 1]),
    ),
    "Reduction.effective_mass": lambda: (reduction().effective_mass, dict(frame="a", direction=[1, 0, 0])),
    "Reduction.with_modes": lambda: (reduction().with_modes, dict(modes=[1])),
    "Superelement": lambda: (
        fem.Superelement,
        dict(
            reduction=reduction(),
            position=[0, 0, 1],
            rotation=[0, 0, 0.1],
            velocity=[1, 0, 0],
            angular_velocity=[0, 0, 1],
            damping=0.01,
            stiffening=True,
            weights={"a": 1.0},
            name="body",
        ),
    ),
    "SuperelementSurface": lambda: (
        fem.SuperelementSurface,
        dict(body=fem.Superelement(reduction()), group=[0, 1], name="surface"),
    ),
    "SuperelementSurface.mass_share": lambda: (
        fem.SuperelementSurface(fem.Superelement(reduction()), [0, 1]).mass_share,
        dict(places=[0, 1], direction=[0, 0, 1]),
    ),
    "Superelement.frame": lambda: (fem.Superelement(reduction()).frame, dict(name="a")),
    "Tetra4": lambda: element(fem.Tetra4),
    "Tetra10": lambda: element(fem.Tetra10),
    "Hexa8": lambda: element(fem.Hexa8),
    "Hexa8Enhanced": lambda: element(fem.Hexa8Enhanced),
    "Hexa20": lambda: element(fem.Hexa20),
    "Wedge6": lambda: element(fem.Wedge6),
    "Wedge15": lambda: element(fem.Wedge15),
}
