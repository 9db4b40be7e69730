"""Speed of the assembly of solids: forces, mass and tangent into the global sparse matrix, per element.

Beside it scikit-fem where it is installed (``pip install scikit-fem``): the stiffness of linear elasticity alone, on
the same cube of tetrahedra of 10 nodes, with its own quadrature of degree 2. One process; best of three.

    python benchmarks/solids.py [divisions]
"""

import sys
import time

import numpy as np

import fem_mbs as fem


def best(function, repeats=3):
    """Shortest time [s] of some calls, after one that may compile."""
    function()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return min(times)


def ours(cell, n, elements=None):
    """Elements, seconds to make body and system, and seconds to assemble K and M + K/2 at a deformed state."""
    mesh = fem.block_mesh([1, 1, 1], [n, n, n], cell=cell)
    begun = time.perf_counter()
    body = fem.SolidBody(mesh, fem.SolidMaterial(1e3, 0.3, 1.0), elements=elements)
    body.fix("x0")
    model = fem.Model("cube")
    model.add(body)
    system = fem.System(model, check="positions")
    made = time.perf_counter() - begun
    state = system.initial.copy()
    state.x[1:] += 1e-3 / n * np.random.default_rng(0).normal(size=state.x[1:].shape)
    times = [best(lambda w=w: system.assemble(state, **w)) for w in ({"c_K": 1.0}, {"c_M": 1.0, "c_K": 0.5})]
    return len(body.elements), made, times


def scikit_fem(n):
    """Elements and seconds of scikit-fem; None where it is not installed."""
    try:
        import skfem
        from skfem.models.elasticity import lame_parameters, linear_elasticity
    except ImportError:
        return None
    mesh = fem.block_mesh([1, 1, 1], [n, n, n], cell="tetra")
    other = skfem.MeshTet(mesh.points.T.copy(), mesh.cells["tetra"].T.copy())
    basis = skfem.Basis(other, skfem.ElementVector(skfem.ElementTetP2()), intorder=2)
    form = linear_elasticity(*lame_parameters(1e3, 0.3))
    return other.nelements, best(lambda: form.assemble(basis))


def main(n=12):
    print(f"{'element':<16} {'elements':>9} {'made [s]':>9} {'K [µs each]':>12} {'M + K/2 [µs each]':>18}")
    for cell, elements in (
        ("tetra10", None), ("hexahedron20", None), ("hexahedron", None), ("hexahedron", "Hexa8Enhanced"),
    ):  # fmt: skip
        count, made, times = ours(cell, n, elements)
        shown = "  ".join(f"{1e6 * t / count:>12.2f}" for t in times)
        print(f"{elements or cell:<16} {count:>9} {made:>9.2f} {shown}")
        if cell == "tetra10":
            own = times[0] / count
    other = scikit_fem(n)
    if other is None:
        print("scikit-fem is not installed")
        return
    theirs = other[1] / other[0]
    print(f"scikit-fem, tetra10, linear stiffness alone: {1e6 * theirs:.2f} µs each, {theirs / own:.1f} times ours")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
