"""Models of shells for the tests: the shapes of the published benchmarks, on meshes of n cells along each side.

Quarters of symmetric shells: of a plane of symmetry with the normal x, nodes keep x and turn about x alone.
"""

import math

import numpy as np
from scipy.sparse.linalg import splu

import fem_mbs as fem
from fem_mbs.rotations import matrix_to_quaternion

ACROSS = {"x": ("x", "ry", "rz"), "y": ("y", "rx", "rz"), "z": ("z", "rx", "ry")}  # what a plane of symmetry holds
CELLS = ("quad", "triangle")
STEEL = fem.SolidMaterial(E=210e9, nu=0.3, density=7850)
CARBON = fem.PlyMaterial(E1=140e9, E2=10e9, nu12=0.3, G12=5e9, G13=5e9, G23=3.5e9, density=1600)


def section(E, nu, thickness, density=1.0):
    return fem.ShellSection(fem.SolidMaterial(E, nu, density), thickness)


def model_of(*parts, gravity=(0, 0, 0)):
    model = fem.Model("shell", gravity=gravity)
    model.add(*parts)
    return model


def linear(*parts, gravity=(0, 0, 0)):
    """Displacements and small rotations (N, 6) of all nodes by one linear solution."""
    system = fem.System(model_of(*parts, gravity=gravity), check=False)
    state = system.initial
    K = system.matrices(state)[2]
    f = system.reduced(system.forces(state)[1])
    return system.expanded(splu(K.tocsc()).solve(f))


def round_normals(radius):
    """Normals of a cylinder about x."""
    return lambda x: np.column_stack([0 * x[:, 0], x[:, 1], x[:, 2]]) / radius


def plate(
    n,
    thickness,
    *,
    cell="quad",
    E=1.0,
    nu=0.3,
    density=1.0,
    moved=0.0,
    fixed="clamped",
    side=1.0,
    section_of=None,
    **options,
):
    """A square plate whose inner nodes are moved by a part of the size of a cell; w = 0 or clamped at the rim."""
    random = np.random.default_rng(1)

    def form(x):
        inner = ((x[:, :2] > 1e-9 * side) & (x[:, :2] < side * (1 - 1e-9))).all(axis=1)
        x[inner, :2] += moved * side / n * random.uniform(-1, 1, size=(inner.sum(), 2))
        return x

    mesh = fem.panel_mesh([side, side], [n, n], cell=cell, form=form).with_group("corner", [0])
    made = section(E, nu, thickness, density) if section_of is None else section_of
    body = fem.ShellBody(mesh, made, name="plate", **options)
    if fixed == "clamped":
        for group in ("x0", "x1", "y0", "y1"):
            body.fix(group)
    elif fixed == "supported":  # with the tangential rotation held: Navier's solution
        for group, turn in (("x0", "rx"), ("x1", "rx"), ("y0", "ry"), ("y1", "ry")):
            body.fix(group, ["z", turn])
    return body


def deflection(body, pressure):
    """Deflection of the middle of a unit plate under a pressure."""
    load = fem.SurfaceTraction(body, None, [0, 0, -pressure])
    return -linear(body, load)[body.node_at([0.5, 0.5, 0]).index, 2]


def scordelis_lo(n, cell="quad", **options):
    """Deflection of the middle of the free edge [ft]; published 0.3024."""
    R, half, angle = 25.0, 25.0, math.radians(40)
    mesh = fem.panel_mesh([half, R * angle], [n, n], cell=cell, radius=R)
    body = fem.ShellBody(mesh, section(4.32e8, 0.0, 0.25), normals=round_normals(R), **options)
    body.fix("x0", ["y", "z"])
    body.fix("x1", ACROSS["x"])
    body.fix("y0", ACROSS["y"])
    edge = body.node_at([half, R * math.sin(angle), R * math.cos(angle)])
    return -linear(body, fem.SurfaceTraction(body, None, [0, 0, -90.0]))[edge.index, 2]


def pinched_cylinder(n, cell="quad", **options):
    """Deflection under the force; published 1.8248e-5."""
    R, half = 300.0, 300.0
    mesh = fem.panel_mesh([half, R * math.pi / 2], [n, n], cell=cell, radius=R)
    body = fem.ShellBody(mesh, section(3e6, 0.3, 3.0), normals=round_normals(R), **options)
    body.fix("x0", ["y", "z", "rx"])
    body.fix("x1", ACROSS["x"])
    body.fix("y0", ACROSS["y"])
    body.fix("y1", ACROSS["z"])
    node = body.node_at([half, 0, R])
    return -linear(body, fem.PointForce(node, [0, 0, -0.25]))[node.index, 2]


def hemisphere(n, force, cell="quad", **options):
    """Quarter of a hemisphere with a hole of 18°, pulled along x and pressed along y: body, loads, both nodes."""
    R = 10.0

    def form(x):
        latitude, longitude = math.radians(72) * x[:, 1], math.pi / 2 * x[:, 0]
        around = np.stack([np.cos(longitude), np.sin(longitude), np.tan(latitude)], axis=1)
        return R * np.cos(latitude)[:, None] * around

    mesh = fem.panel_mesh([1, 1], [n, n], cell=cell, form=form)
    mesh = mesh.with_group("A", lambda x: np.linalg.norm(x - [R, 0, 0], axis=1) < 1e-9)
    body = fem.ShellBody(mesh, section(6.825e7, 0.3, 0.04), normals=lambda x: x / R, **options)
    body.fix("x0", ACROSS["y"])
    body.fix("x1", ACROSS["x"])
    body.fix("A", ["z"])
    A, B = body.node_at([R, 0, 0]), body.node_at([0, R, 0])
    return body, [fem.PointForce(A, [force, 0, 0]), fem.PointForce(B, [0, -force, 0])], (A, B)


def linear_hemisphere(n, cell="quad", **options):
    """Mean of both deflections for a force of 1 (2 of the whole shell)."""
    body, loads, (A, B) = hemisphere(n, 1.0, cell, **options)
    u = linear(body, *loads)
    return 0.5 * (u[A.index, 0] - u[B.index, 1])


def twisted_beam(nx, ny, thickness, direction, cell="quad", **options):
    """Deflection of the tip of the beam of MacNeal and Harder along the force of 1 there."""
    L, W = 12.0, 1.1

    def form(x):
        angle, y = math.pi / 2 * x[:, 0] / L, x[:, 1] - W / 2
        return np.column_stack([x[:, 0], y * np.cos(angle), y * np.sin(angle)])

    mesh = fem.panel_mesh([L, W], [nx, ny], cell=cell, form=form)
    body = fem.ShellBody(mesh, section(29e6, 0.22, thickness), **options)
    body.fix("x0")
    load = fem.EdgeTraction(body, "x1", np.array(direction, float) / W)
    tip = linear(body, load)[[node.index for node in body.nodes_of("x1")], :3].mean(axis=0)
    return float(tip @ direction)


def cook(n, cell="quad", **options):
    """Deflection of the middle of the loaded side of Cook's membrane; published 23.96."""

    def form(x):
        low, high = 44 * x[:, 0], 44 + 16 * x[:, 0]
        return np.column_stack([48 * x[:, 0], low + (high - low) * x[:, 1], 0 * x[:, 0]])

    body = fem.ShellBody(fem.panel_mesh([1, 1], [n, n], cell=cell, form=form), section(1.0, 1 / 3, 1.0), **options)
    body.fix("x0")
    u = linear(body, fem.EdgeTraction(body, "x1", [0, 1 / 16, 0]))
    return u[body.node_at([48, 52, 0]).index, 1]


def strip(n, cell="quad", *, length=12.0, E=1.2e6, thickness=0.1, width=1.0, **options):
    """A cantilever strip along x, clamped at x = 0."""
    mesh = fem.panel_mesh([length, width], [n, 1], cell=cell)
    body = fem.ShellBody(mesh, section(E, 0.0, thickness), name="strip", **options)
    body.fix("x0")
    return body


def slit_ring(nr, nc, cell="quad", **options):
    """Annular plate with a slit, one side clamped and the other lifted by 0.8 per length: heights of both corners."""

    def form(x):
        angle, r = 2 * math.pi * x[:, 1], 6 + 4 * x[:, 0]
        return np.column_stack([r * np.cos(angle), r * np.sin(angle), 0 * r])

    body = fem.ShellBody(fem.panel_mesh([1, 1], [nr, nc], cell=cell, form=form), section(21e6, 0.0, 0.03), **options)
    body.fix("y1")
    result = fem.static_equilibrium(
        model_of(body, fem.EdgeTraction(body, "y0", [0, 0, 0.8])), steps=10, stability=False
    )
    ends = body.nodes_of("y0")
    return result.position(ends[0])[2], result.position(ends[-1])[2]


def pulled_cylinder(n, cell="quad", path=False, **options):
    """Open cylinder pulled apart by 40 kN: limit points of the path; radial motion of A (under the force), B (90° on)
    and C (at the end)."""
    R, half = 4.953, 5.175
    mesh = fem.panel_mesh([half, R * math.pi / 2], [n, n], cell=cell, radius=R)
    body = fem.ShellBody(mesh, section(10.5e6, 0.3125, 0.094), normals=round_normals(R), **options)
    body.fix("x0", ACROSS["x"])
    body.fix("y0", ACROSS["y"])
    body.fix("y1", ACROSS["z"])
    A, B, C = body.node_at([0, 0, R]), body.node_at([0, R, 0]), body.node_at([half, R, 0])
    # the model snaps forward by 1 % of the load, at half of it: plain Newton jumps over that, a path goes through it
    model = model_of(body, fem.PointForce(A, [0, 0, 1e4]))
    if path:
        found = fem.load_path(model, step=0.02, load_weight=0.05)
        limits, result = [point.load_factor for point in found.limits], found.points[-1]
    else:
        limits, result = [], fem.static_equilibrium(model, steps=10, stability=False, mixed=False)
    return limits, np.array([result.position(A)[2] - R, R - result.position(B)[1], R - result.position(C)[1]])


def hinged_roof(n, thickness, cell="quad", until=30.0, **options):
    """Load path of the shallow roof with hinged straight edges: forces [N] and deflections [mm] at its limit points."""
    R, half = 2540.0, 254.0
    mesh = fem.panel_mesh([half, half], [n, n], cell=cell, radius=R)
    body = fem.ShellBody(mesh, section(3102.75, 0.3, thickness), normals=round_normals(R), **options)
    body.fix("x0", ACROSS["x"])
    body.fix("y0", ACROSS["y"])
    body.fix("y1", ["x", "y", "z"])
    crown = body.node_at([0, 0, R])
    path = fem.load_path(
        model_of(body, fem.PointForce(crown, [0, 0, -750.0])), step=0.004, load_weight=0.01,
        until=lambda point: R - point.position(crown)[2] > until,
    )  # fmt: skip
    return [(3000 * point.load_factor, R - point.position(crown)[2]) for point in path.limits]


def curved(cell="quad", n=3, density=1.0, **options):
    """A piece of a saddle."""
    mesh = fem.panel_mesh([1, 1], [n, n], cell=cell, form=lambda x: x + [0, 0, 1] * (0.3 * x[:, :1] * (1 - x[:, 1:2])))
    return fem.ShellBody(mesh, section(1.0, 0.3, 0.05, density), name="saddle", **options)


def posed(body, x, R):
    """Forces (n, 6) on the nodes of a body alone in its model, with positions x and rotations R."""
    system = fem.System(model_of(body), check=False)
    state = system.initial.copy()
    numbers = [node.index for node in body.nodes]
    state.x[numbers], state.R[numbers] = x, R
    for number in numbers:
        matrix_to_quaternion(state.R[number], state.Q[number])
    return system.forces(state)[1].reshape(-1, 6)[numbers], state


def inner(body):
    """Which nodes of a body on the unit square are not on its rim."""
    x = body.reference[:, :2]
    return ((x > 1e-9) & (x < 1 - 1e-9)).all(axis=1)
