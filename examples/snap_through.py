"""Snap-through of a shallow arch: two limit points, a branch that goes before them, and the path between.

A sine arch on two hinges carries a load that is spread as a sine. In the theory of shallow arches the path is then
known: the load of amplitude a is q/(EI (π/L)⁴) = h − a + (h² − a²) a/(4 r²), from which the limit points; the
arch turns aside where its thrust is 4π² EI/L², at a² = h² − 16 r², and keeps that thrust: q/(EI (π/L)⁴) = h + 3 a.

    python examples/snap_through.py            writes snap_through.vtkhdf (the path), to open in ParaView
"""

import numpy as np

import fem_mbs as fem

L, h, r, EI, PLANE = 1.0, 0.03, 0.006, 100.0, ("z", "rx", "ry")  # span, rise, radius of gyration [m]; N m²


def load(a):
    """Amplitude of the distributed load [N/m] that holds an arch of amplitude a [m]."""
    return EI * (np.pi / L) ** 4 * (h - a + (h**2 - a**2) * a / (4 * r**2))


a_limit = np.sqrt((h**2 - 4 * r**2) / 3)
LIMITS, BRANCH = (load(a_limit), load(-a_limit)), load(np.sqrt(h**2 - 16 * r**2))


def arch(s):
    """Position and tangent at s in [0, 1]."""
    return np.array([L * s, h * np.sin(np.pi * s), 0]), np.array([L, h * np.pi * np.cos(np.pi * s), 0])


def build(n=24):
    """Arch of n intervals; the load is shared out to its nodes."""
    corners = 0.005 * L * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])  # drawn
    section = fem.Section.general(EA=EI / r**2, GJ=EI, EI2=EI, EI3=EI, outline=corners)  # no shear flexibility
    start, end = (fem.Node6(arch(s)[0], fixed=("x", "y", *PLANE)) for s in (0.0, 1.0))
    model = fem.Model("shallow arch")
    line = model.add(fem.beam_curve(arch, n, section, start=start, end=end, fixed=PLANE, name="arch"))
    for node in line.nodes[1:-1]:
        model.add(fem.PointForce(node, [0, -2 * LIMITS[0] * L / n * np.sin(np.pi * node.position[0] / L), 0]))
    return model


def main(save="snap_through.vtkhdf"):
    path = fem.load_path(build(), step=0.02, save=save)
    aside = fem.load_path(path.system, start=path.branches[0], step=0.02, until=lambda point: point.length > 0.5)
    limits = np.array([2 * LIMITS[0] * point.load_factor for point in path.limits])
    # shallow theory leaves out (π h/L)² = 0.9 %
    return fem.Checks(
        fem.Check("limit load, down [N/m]", reference=LIMITS[0], obtained=limits.max(), rel=1e-2),
        fem.Check("limit load, back [N/m]", reference=LIMITS[1], obtained=limits.min(), abs=1e-2 * LIMITS[0]),
        fem.Check("load at which it turns aside [N/m]", reference=BRANCH, rel=1e-2,
                  obtained=2 * LIMITS[0] * path.branches[0].load_factor),
        fem.Check("unstable motions at the end", reference=0, obtained=path.unstable[-1], abs=0.0),
        fem.Check("load aside, at the height of its crown [N/m]", abs=1e-2 * LIMITS[0],
                  reference=EI * (np.pi / L) ** 4 * (h + 3 * aside["arch node 12"].position[-1, 1]),
                  obtained=2 * LIMITS[0] * aside.load_factors[-1]),
    )  # fmt: skip


if __name__ == "__main__":
    main().print()
