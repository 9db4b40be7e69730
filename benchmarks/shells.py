"""Speed of shells: assembly per element, compared with solid elements of equal bending accuracy.

Assembly is that of forces, mass and tangent into the global sparse matrix; one process, best of three. The solid is a
plate of as many `Hexa8Enhanced`.

    python benchmarks/shells.py [divisions]
"""

import sys

import numpy as np
from solids import best

import fem_mbs as fem

MATERIAL = fem.SolidMaterial(1e3, 0.3, 1.0)


def assembly(body):
    """Elements, and seconds to assemble K and M + K/2 at a deformed state."""
    model = fem.Model("plate")
    model.add(body)
    system = fem.System(model, check="positions")
    state = system.initial.copy()
    state.x[1:] += 1e-4 * np.random.default_rng(0).normal(size=state.x[1:].shape)
    times = [best(lambda w=w: system.assemble(state, **w)) for w in ({"c_K": 1.0}, {"c_M": 1.0, "c_K": 0.5})]
    return len(body.elements), times


def shell(n, cell, damping=0.0):
    section = fem.ShellSection(MATERIAL, 0.01)
    return fem.ShellBody(fem.panel_mesh([1, 1], [n, n], cell=cell), section, damping=damping)


def main(n=64):
    bodies = {
        "Shell4": shell(n, "quad"),
        "Shell4, damped": shell(n, "quad", damping=1e-3),
        "Shell3": shell(n, "triangle"),
        "Hexa8Enhanced": fem.SolidBody(
            fem.block_mesh([1, 1, 0.01], [n, n, 1], cell="hexahedron"), MATERIAL, elements="Hexa8Enhanced"
        ),
    }
    found = {name: assembly(body) for name, body in bodies.items()}
    count, solid = found["Hexa8Enhanced"]
    print(f"{'element':<16} {'elements':>9} {'K [µs each]':>12} {'M + K/2 [µs each]':>18} {'of the solid':>13}")
    for name, (number, times) in found.items():
        each = [1e6 * t / number for t in times]
        print(f"{name:<16} {number:>9} {each[0]:>12.2f} {each[1]:>18.2f} {each[1] / (1e6 * solid[1] / count):>13.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
