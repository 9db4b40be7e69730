"""Speed of solids: assembly per element, steps of large bodies, and what a reduction of one costs and saves.

Assembly is that of forces, mass and tangent into the global sparse matrix. Compared with scikit-fem if installed
(``pip install scikit-fem``): the stiffness of linear elasticity alone, on the same cube of tetrahedra of 10 nodes, with
its own quadrature of degree 2. One process; best of three.

    python benchmarks/solids.py [divisions]
    python benchmarks/solids.py steps [divisions]     a falling cube of Tetra10, and a bar and its superelement
    python benchmarks/solids.py reduce [elements, a, b]    a bar a : b : 1 of so many Tetra10 is read and reduced
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


def per_step(model, few=5, many=25, h=1e-3):
    """Seconds of the first steps and of one of those that follow, and the last state."""
    solver = fem.DecoupledNSGA(rho_inf=0.8)
    system = model.compile()
    solver.run(system, t_end=h, h=h)  # may compile
    times = []
    for count in (few, many):
        begun = time.perf_counter()
        result = solver.run(system, t_end=count * h, h=h)
        times.append(time.perf_counter() - begun)
    return times[0], (times[1] - times[0]) / (many - few), result


def held(n):
    """Cube of Tetra10, one face held, under its weight."""
    body = fem.SolidBody(fem.block_mesh([1, 1, 1], [n, n, n], cell="tetra10"), fem.SolidMaterial(1e6, 0.3, 1e3))
    body.fix("z0")
    model = fem.Model("cube", gravity=[0, 0, -9.81])
    model.add(body)
    return model, body


def steps(n=16):
    model, body = held(n)
    first, each, _ = per_step(model)
    nodes = len(body.nodes)
    print(f"cube of {nodes} nodes: {first:.2f} s for 5 steps, then {each:.3f} s each")
    n = 4 * (n // 4) or 4  # a bar of some more than half as many nodes, with one in the middle of its tip
    mesh = fem.block_mesh([1.0, 0.1, 0.1], [9 * n, n // 2, n // 2], cell="hexahedron")
    steel = fem.SolidMaterial(210e9, 0.3, 7850.0)
    bar = fem.SolidBody(mesh, steel, name="bar")
    full = fem.Model("bar", gravity=[0, 0, -9.81])
    bar.fix("x0")
    full.add(bar)
    _, each, result = per_step(full, h=1e-4)
    begun = time.perf_counter()
    part = fem.reduce_mesh(mesh, steel, {"root": "x0", "tip": "x1"}, modes=40)
    made = time.perf_counter() - begun
    arm = fem.Superelement(part, name="bar")
    model = fem.Model("reduced bar", gravity=[0, 0, -9.81])
    model.add(arm, fem.Fixed.at(model.ground, arm.frame("root"), arm.frame("root").position))
    _, fast, reduced = per_step(model, h=1e-4)
    tip = bar.node_at([1.0, 0.05, 0.05])
    one = result.rows([len(result.t) - 1])["position"][0, tip.index] - tip.position
    place = np.abs(part.points - tip.position).sum(axis=1).argmin()
    two = arm.positions(reduced)[place] - part.points[place]
    stress = [bar.stresses(result).von_mises.max(), arm.stresses(reduced).von_mises.max()]
    print(
        f"bar of {len(bar.nodes)} nodes: {1e3 * each:.1f} ms a step; 40 modes: {1e3 * fast:.2f} ms, "
        f"{each / fast:.0f} times faster, reduced in {made:.1f} s\n"
        f"    tip after 25 steps {one[2]:.6e} m, reduced {two[2] / one[2] - 1:+.1e}; "
        f"largest von Mises {stress[0]:.4e} Pa, reduced {stress[1] / stress[0] - 1:+.1e}"
    )


def reduce(count=100_000, length=4, height=2):
    """A part of so many tetrahedra in a file of Gmsh's format, read and reduced to two frames and 20 modes."""
    import resource
    import tempfile
    from pathlib import Path

    import meshio

    n = round((count / 6 / length / height) ** (1 / 3))
    mesh = fem.block_mesh([0.1 * length, 0.1, 0.1 * height], [length * n, n, height * n], cell="tetra10")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.vtu"
        meshio.Mesh(mesh.points, [("tetra10", mesh.cells["tetra10"])]).write(path)
        wall, busy = time.perf_counter(), time.process_time()
        read = fem.read_mesh(path)
        read = read.with_group("left", lambda x: x[:, 0] < 1e-9).with_group(
            "right", lambda x: x[:, 0] > 0.1 * length - 1e-9
        )
        at = time.perf_counter() - wall
        part = fem.reduce_mesh(read, fem.SolidMaterial(210e9, 0.3, 7850.0), {"a": "left", "b": "right"}, modes=20)
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"{len(read.cells['tetra10'])} Tetra10, {len(read.points)} nodes: read in {at:.1f} s, reduced to {part.modes} "
        f"modes after {wall:.1f} s, {busy:.1f} s of processor time; {peak:.2f} GB at most"
    )


if __name__ == "__main__":
    what = {"steps": steps, "reduce": reduce}.get(sys.argv[1] if len(sys.argv) > 1 else "", main)
    what(*(int(argument) for argument in sys.argv[1:] if argument.isdigit()))
