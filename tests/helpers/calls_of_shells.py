"""Calls of shells; `public_calls` says what a call is."""

import numpy as np
from calls_of_solids import steel

import fem_mbs as fem

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def sheet():
    return fem.ShellSection(steel(), 0.1)


def ply():
    return fem.PlyMaterial(E1=10.0, E2=1.0, nu12=0.3, G12=0.5, G13=0.5, G23=0.3, density=1.0)


def panel():
    return fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), sheet(), name="panel")


def upwards(points):
    return np.tile([0.0, 0.0, 1.0], (len(points), 1))


def element(kind, count):
    """A call of one element."""
    nodes = [fem.Node6(x) for x in SQUARE[:count]]
    options = dict(axis=[0, 1, 0], mass="lumped", damping=0.1, drilling=1e-3, name="e")
    return kind, dict(nodes=nodes, section=sheet(), directors=np.tile([0.0, 0.0, 1.0], (count, 1)), **options)


SHELLS = {
    "panel_mesh": lambda: (
        fem.panel_mesh,
        dict(sides=[1, 1], divisions=[2, 2], cell="quad", radius=2.0, start=0.1, form=lambda x: 2.0 * x, name="m"),
    ),
    "PlyMaterial": lambda: (
        fem.PlyMaterial,
        dict(E1=10.0, E2=1.0, nu12=0.3, G12=0.5, G13=0.5, G23=0.3, density=1.0, name="p"),
    ),
    "ShellSection": lambda: (
        fem.ShellSection,
        dict(material=steel(), thickness=0.1, shear_correction=5 / 6, name="s"),
    ),
    "ShellSection.layered": lambda: (
        fem.ShellSection.layered,
        dict(layers=[(ply(), 0.1, 0.0), (steel(), 0.2, 0.0)], shear_correction=5 / 6, name="s"),
    ),
    "Shell4": lambda: element(fem.Shell4, 4),
    "Shell3": lambda: element(fem.Shell3, 3),
    "ShellBody": lambda: (
        fem.ShellBody,
        dict(
            mesh=fem.panel_mesh([1, 1], [2, 2]),
            section=sheet(),
            group=None,
            axis=[1, 0, 0],
            normals=upwards,
            fold=0.5,
            orient=False,
            mass="consistent",
            damping=0.0,
            drilling=1e-3,
            position=[0, 0, 1],
            rotation=[0, 0, 0.1],
            velocity=[1, 0, 0],
            angular_velocity=[0, 0, 1],
            name="body",
        ),
    ),
    "EdgeTraction": lambda: (
        fem.EdgeTraction,
        dict(body=panel(), group="x1", traction=[1, 0, 0], signal=1.0, name="edge"),
    ),
    "SurfaceContacts of a shell": lambda: (
        fem.SurfaceContacts,
        dict(body=panel(), group="x1", plane=fem.Node6(), side="both", name="c"),
    ),
    "SurfaceOnSurface of shells": lambda: (
        fem.SurfaceOnSurface,
        dict(body_A=panel(), group_A="x1", body_B=panel(), group_B=None, side_A="bottom", side_B="top", name="t"),
    ),
}
