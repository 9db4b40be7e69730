"""The stiffness that stresses give, K_g(v), compared with the third derivative of the energy that it is."""

from fem_mbs.solvers.paths.linear_buckling import bound_geometric


def both(system, element, moved, y):
    """y·K_g(v) y of the only element of a system, and the change of y·K y along v = ``moved`` (N, 6)."""
    state, e, quadratic = system.initial.copy(), 1e-5, []
    for shift in (e, -e):
        K = system.assemble(system.moved(state, shift * moved), c_K=1.0).matrix()
        quadratic.append(y @ (K @ y))
    other = state.copy()
    other.V[:] = moved
    system.own.groups["force_tangent"] = bound_geometric(element).address
    system.own.groups["inertia"] = 0
    found = y @ (system.assemble(other, c_K=1.0).matrix() @ y)
    return found, (quadratic[0] - quadratic[1]) / (2 * e)
