"""Averaged couplings: forces at the nodes against a rigid distribution computed apart, with areas of its own."""

import numpy as np
import pytest

import fem_mbs as fem


def shape_functions(nn, a, c):
    """N (nn,), N,a and N,c of the bilinear or serendipity square −1 ≤ a, c ≤ 1."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    s, t = corners.T
    if nn == 4:
        return 0.25 * np.array([(1 + s * a) * (1 + t * c), s * (1 + t * c), t * (1 + s * a)])
    N = np.zeros((3, 8))
    N[0, :4] = 0.25 * (1 + s * a) * (1 + t * c) * (s * a + t * c - 1)
    N[1, :4] = 0.25 * s * (1 + t * c) * (2 * s * a + t * c)
    N[2, :4] = 0.25 * t * (1 + s * a) * (2 * t * c + s * a)
    for k, t in ((4, -1), (6, 1)):
        N[:, k] = 0.5 * (1 - a * a) * (1 + t * c), -a * (1 + t * c), 0.5 * t * (1 - a * a)
    for k, s in ((5, 1), (7, -1)):
        N[:, k] = 0.5 * (1 - c * c) * (1 + s * a), 0.5 * s * (1 - c * c), -c * (1 + s * a)
    return N


def shares(body, faces):
    """Nodes of faces, and their parts ∫ N dA of the area."""
    places, weights = np.polynomial.legendre.leggauss(6)
    area = np.zeros(len(body.nodes))
    for row in faces:
        X = body.reference[row]
        for a, wa in zip(places, weights):
            for c, wc in zip(places, weights):
                N = shape_functions(len(row), a, c)
                area[row] += wa * wc * N[0] * np.linalg.norm(np.cross(N[1] @ X, N[2] @ X))
    nodes = np.unique(np.concatenate(faces))
    return nodes, area[nodes] / area.sum()


@pytest.mark.parametrize("cell", ["hexahedron", "hexahedron20"])
@pytest.mark.parametrize("weights", ["area", "equal"])
def test_forces_of_an_averaged_coupling_are_a_rigid_distribution_with_its_weights(cell, weights):
    """f_k = w_k (F + (T⁻¹ M) × q_k), T = Σ w_k (q_k² I − q_k q_kᵀ), on cells of unequal sizes; strains of 1e-9."""

    def graded(x):
        return np.column_stack([x[:, 0] ** 1.7, x[:, 1] * (1 + 0.3 * x[:, 0]), x[:, 2]])

    mesh = fem.block_mesh([1, 1, 0.5], [4, 3, 2], cell=cell, form=graded)
    body = fem.SolidBody(mesh, fem.SolidMaterial(1e6, 0.3, 1000.0), name="pad")
    body.fix("z0")
    coupling = fem.SurfaceCoupling(body, "z1", kind="averaged", weights=weights, name="coupling")
    F, M = np.array([3e-4, -2e-4, 5e-4]), np.array([1e-4, 4e-4, -2e-4])
    model = fem.Model("pad")
    model.add(body, coupling, fem.PointForce(coupling.node, F), fem.PointMoment(coupling.node, M))
    moved = fem.static_equilibrium(model)
    alone = fem.Model("alone")
    u = np.array([moved.position(node) - node.position for node in body.nodes])
    alone.add(body)
    system = fem.System(alone, check=False)
    wide = np.zeros((len(system.nodes), 6))
    numbers = [system.nodes.index(node) for node in body.nodes]
    wide[numbers, :3] = u
    K = system.matrices(system.initial)[2]
    f = system.expanded(K @ system.reduced(wide.ravel())).reshape(-1, 6)[numbers, :3]
    faces = [body.places_of(np.array(row)) for rows in mesh.faces_of("z1").values() for row in rows]
    nodes, w = shares(body, faces)
    w = w if weights == "area" else np.full(len(nodes), 1.0 / len(nodes))
    center = w @ body.reference[nodes]
    q = body.reference[nodes] - center
    T = sum(part * (arm @ arm * np.eye(3) - np.outer(arm, arm)) for part, arm in zip(w, q))
    moment = M - np.cross(center - coupling.node.position, F)
    expected = w[:, None] * (F + np.cross(np.linalg.solve(T, moment), q))
    assert coupling.center == pytest.approx(center, abs=1e-12)
    assert f[nodes] == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())  # measured 3e-6, not linear


@pytest.mark.parametrize("weights", ["area", "equal"])
def test_a_mass_on_an_averaged_frame_rests_on_contacts_with_its_weight_and_its_lever(weights):
    def graded(x):
        return np.column_stack([0.2 * (x[:, 0] / 0.2) ** 1.7, x[:, 1], x[:, 2]])

    mesh = fem.block_mesh([0.2, 0.2, 0.1], [4, 3, 2], cell="hexahedron", form=graded)
    body = fem.SolidBody(mesh, fem.SolidMaterial(1e6, 0.3, 1000.0), name="pad")
    mass = fem.RigidBody(2.0, 0.02, position=[0.13, 0.09, 0.16], name="mass")
    coupling = fem.SurfaceCoupling(body, "z1", mass, kind="averaged", weights=weights, name="coupling")
    model = fem.Model("pad with a mass", gravity=[0, 0, -9.81])
    floor = fem.SurfaceContacts(body, "z0", model.ground, friction=0.4, name="floor")
    model.add(body, mass, coupling, floor)
    rest = fem.static_equilibrium(model, steps=2)
    force = np.array([rest.contact_force(contact)[0] for contact in floor.elements])
    at = np.array([rest.position(node)[:2] for node in floor.nodes])
    system = fem.System(model, check=False)
    M, lift = system.matrices(system.initial, mass_only=True), np.zeros((len(system.nodes), 6))
    lift[:, 2] = 1.0
    weight = 9.81 * system.expanded(M @ system.reduced(lift.ravel())).reshape(-1, 6)[:, 2]
    assert force.sum() == pytest.approx(9.81 * (body.mass + 2.0), rel=1e-10)
    assert force @ at == pytest.approx(weight @ rest.state.x[:, :2], rel=1e-10)
    assert (force > 0.0).all()
