"""Superelements: reductions against the full model, and exact laws of mechanics for their large motions."""

import re
import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csc_array
from solid_models import system_of

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.element.registry import make_example
from fem_mbs.elements.superelements.craig_bampton import Halved
from fem_mbs.elements.superelements.superelement import Superelement
from fem_mbs.rotations import exp, skew
from fem_mbs.verify import check_element, random_point

STEEL = fem.SolidMaterial(E=210e9, nu=0.3, density=7850)
# clamped-free bar 10 × 1 × 1, hexa20 12 × 2 × 2, E = ρ = 1, ν = 0.3, rigid end faces: full model of 1023 freedoms
BENDING_1, BENDING_2, TORSION, AXIAL = 0.01016108, 0.06097854, 0.09048082, 0.1577431
ENDS = {"left": "x0", "right": "x1"}


def bar(modes, **options):
    material = fem.SolidMaterial(1.0, 0.3, 1.0)
    return fem.reduce_mesh(fem.block_mesh([10, 1, 1], [12, 2, 2]), material, ENDS, modes=modes, **options)


def clamped(reduction):
    """Circular frequencies with the first frame held."""
    return np.sqrt(eigh(reduction.K[6:, 6:], reduction.M[6:, 6:])[0])


@pytest.fixture(scope="module")
def reduced_bar():
    return bar(6)


@pytest.fixture(scope="module")
def stocky():
    """A bar 1.5 × 0.2 × 0.2, ρ = 10, of plain hexahedra, 6 modes."""
    material = fem.SolidMaterial(1e3, 0.3, 10.0)
    mesh = fem.block_mesh([1.5, 0.2, 0.2], [6, 1, 1], cell="hexahedron")
    return fem.reduce_mesh(mesh, material, ENDS, modes=6)


def rigid_point(body, rotation, velocity, spin):
    """A configuration of a rigid motion, without deformation."""
    point = random_point(body, np.random.default_rng(0), 0.1)
    r = body.reduction
    nb = body.places
    point.x, point.R = point.x.copy(), point.R.copy()
    point.x[:nb], point.x[nb:] = r.positions @ rotation.T, 0.0
    point.R[:nb], point.R[nb:] = rotation, np.eye(3)
    v = np.zeros((len(point.x), 6))
    v[:nb, :3] = velocity + np.cross(spin, point.x[:nb])
    v[:nb, 3:] = rotation.T @ spin
    point.v, point.a, point.gravity = v.ravel(), np.zeros(v.size), np.zeros(3)
    return point


@pytest.mark.parametrize(
    ("modes", "found"),
    [
        # relative errors of bending 1 and 2, torsion, axial against the full model, two digits
        (0, (5.3e-3, 5.9e-1, None, 1.0e-1)),
        (4, (1.0e-4, 1.8e-3, 1.0e-1, 2.6e-2)),
        (16, (7.1e-6, 1.9e-4, 1.9e-4, 1.0e-3)),
    ],
)
def test_frequencies_of_a_reduced_bar_come_from_above_as_modes_are_added(modes, found):
    omega = clamped(bar(modes))
    for exact, error in zip((BENDING_1, BENDING_2, TORSION, AXIAL), found):
        if error is not None:
            # the digits of the reference, eight, leave 5e-7
            assert min(omega / exact - 1, key=abs) == pytest.approx(error, rel=0.05, abs=5e-7)


def test_a_reduction_has_mass_centre_inertia_and_free_motions_of_the_block(reduced_bar):
    assert reduced_bar.mass == pytest.approx(10.0, rel=1e-12)
    np.testing.assert_allclose(reduced_bar.center, [5.0, 0.5, 0.5], rtol=1e-12)
    inertia = np.diag([1 / 6, 101 / 12, 101 / 12]) * 10.0
    np.testing.assert_allclose(reduced_bar.inertia, inertia, atol=1e-10)
    R = reduced_bar.rigid_motions()
    assert np.abs(reduced_bar.K @ R).max() < 1e-11 * np.abs(reduced_bar.K).max()  # round-off of the full solution
    x = reduced_bar.center
    exact = np.block([[np.eye(3), -skew(x)], [skew(x), inertia / 10.0 - skew(x) @ skew(x)]]) * 10.0
    np.testing.assert_allclose(R.T @ reduced_bar.M @ R, exact, atol=1e-9)
    np.testing.assert_allclose(reduced_bar.M, reduced_bar.M.T, atol=0)
    # every coordinate of a rigid motion moves the points as one
    np.testing.assert_allclose(reduced_bar.displacements(R[:, 5]), np.cross([0, 0, 1], reduced_bar.points), atol=1e-9)


def test_static_deflection_under_a_load_on_a_frame_is_that_of_the_full_mesh(reduced_bar):
    mesh = fem.block_mesh([10, 1, 1], [12, 2, 2])
    body = fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.3, 1.0), name="body")
    body.fix("x0")
    system = system_of(body)
    K = system.matrices(system.initial)[2].toarray()
    # unit force along y on the face x1, which moves as one rigid body: rows of the six motions of the face
    dofs = system.expanded(np.arange(system.n) + 1.0).astype(int) - 1
    nodes = [node.index for node in body.nodes_of("x1")]
    arms = np.array([node.position for node in body.nodes_of("x1")]) - [10, 0.5, 0.5]
    T = np.zeros((system.n, 6))
    for k, p in zip(nodes, arms):
        T[dofs[k, :3]] = np.hstack([np.eye(3), -skew(p)])
    held = dofs[nodes, :3].ravel()
    inner = np.setdiff1d(np.arange(system.n), held)
    basis = np.zeros((system.n, len(inner) + 6))
    basis[inner, np.arange(len(inner))] = 1.0
    basis[:, len(inner) :] = T
    full = np.linalg.solve(basis.T @ K @ basis, np.eye(len(inner) + 6)[-5])
    d = np.zeros(reduced_bar.size)
    d[6:] = np.linalg.solve(reduced_bar.K[6:, 6:], np.eye(reduced_bar.size - 6)[1])
    np.testing.assert_allclose(d[6:12], full[-6:], rtol=1e-7, atol=1e-6 * abs(full[-5]))
    assert d[7] == pytest.approx(3976.88, rel=1e-5)  # of a prototype of its own


def test_kinetic_energy_of_a_rigid_motion_is_that_of_the_rigid_body(stocky):
    body = fem.Superelement(stocky)
    spin, velocity = np.array([1.0, -2.0, 5.0]), np.array([3.0, 7.0, 1.0])
    rotation = exp([1.0, -2.0, 0.5])
    point = rigid_point(body, rotation, velocity, spin)
    out = Evaluator(body)("inertia", point.copy(a=point.v))  # M v
    centre = rotation @ stocky.center
    at_centre, own = velocity + np.cross(spin, centre), rotation.T @ spin
    exact = 0.5 * stocky.mass * at_centre @ at_centre + 0.5 * own @ stocky.inertia @ own
    assert 0.5 * point.v @ out["Ma"] == pytest.approx(exact, rel=1e-12)


def deformed_point(body, size, velocity):
    """A spinning motion with frames and modes that are out of place by some ``size``, and move so."""
    rng, r, nb = np.random.default_rng(5), body.reduction, body.places
    rotation, spin = exp([0.3, 0.2, -0.4]), np.array([1.0, 2.0, 5.0])
    point = rigid_point(body, rotation, velocity, spin)
    v = point.v.reshape(-1, 6).copy()
    point.x[:nb] += size * rng.normal(size=(nb, 3))
    point.R[:nb] = [rotation @ exp(size * rng.normal(size=3)) for _ in range(nb)]
    v[:nb, :3] = velocity + np.cross(spin, point.x[:nb]) + size * rng.normal(size=(nb, 3))
    v[:nb, 3:] = spin @ point.R[:nb] + size * rng.normal(size=(nb, 3))
    point.x[nb:] = size * rng.normal(size=point.x[nb:].shape)
    v[nb:, :3] = size * rng.normal(size=point.x[nb:].shape)
    point.x[-1, r.modes % 3 or 3 :], v[-1, r.modes % 3 or 3 :] = 0.0, 0.0
    return point.copy(v=v.ravel())


@pytest.mark.parametrize("size", [0.0, 1e-3, 1e-2, 0.3])
def test_a_uniform_velocity_changes_no_inertia_force(stocky, size):
    """Galileo's principle: forces of a spinning body do not depend on how fast all of it moves on, however deformed.

    With the angular velocities of the frames in the place of ω_0 + θ̇ they do: by 1.8e-4, 1.9e-3, 0.1 here.
    """
    body = fem.Superelement(stocky)
    call = Evaluator(body)
    rest, moving = (call("inertia", deformed_point(body, size, np.array(V)))["f"] for V in ([0, 0, 0], [3.0, 7.0, 1.0]))
    # forces are of size m ω² d, 0.4 to 10; round-off of products with m V ω, some 30
    assert np.abs(moving - rest).max() < 1e-12
    assert np.abs(rest).max() > 0.1


def test_kinetic_energy_is_that_of_the_velocities_of_the_mesh(stocky):
    """½ v·M v against ½ ẋ·M ẋ of all nodes, which are recovered on another way, at large deformations."""
    from fem_mbs.stresses.reduced_parts import ReducedParts

    body = fem.Superelement(stocky)
    point = deformed_point(body, 0.3, np.array([3.0, 7.0, 1.0]))
    for number, node in enumerate(body.nodes):
        node.index = number
    parts, v = ReducedParts.of([(0, body)]), point.v.reshape(-1, 6)
    places = parts.points(point.x, point.R)
    u = parts.velocities(places, point.x, point.R, v[:, :3], v[:, 3:]).ravel()
    mesh = fem.block_mesh([1.5, 0.2, 0.2], [6, 1, 1], cell="hexahedron")
    solid = fem.SolidBody(mesh, fem.SolidMaterial(1e3, 0.3, 10.0))
    system = system_of(solid)
    order = system.expanded(np.arange(system.n) + 1.0).astype(int)[[n.index for n in solid.nodes], :3].ravel() - 1
    M = system.matrices(system.initial)[0].tocsr()[order][:, order]
    assert 0.5 * point.v @ Evaluator(body)("inertia", point.copy(a=point.v))["Ma"] == pytest.approx(
        0.5 * u @ M @ u, rel=1e-12
    )


def test_without_the_coupling_of_inertia_galileos_principle_fails(stocky):
    arrays = {key: getattr(stocky, key) for key in fem.elements.superelements.reduction.ARRAYS}
    plain = fem.Reduction(stocky.frames, stocky.mass, arrays | {"N": 0 * stocky.N, "O": 0 * stocky.O})
    body = fem.Superelement(plain)
    call = Evaluator(body)
    spin = np.array([1.0, 2.0, 5.0])
    rest = call("inertia", rigid_point(body, np.eye(3), np.zeros(3), spin))["f"]
    moving = call("inertia", rigid_point(body, np.eye(3), np.array([3.0, 7.0, 1.0]), spin))["f"]
    assert np.abs(moving - rest).max() > 0.1 * np.abs(rest).max()


def test_momentum_grows_by_the_sum_of_the_forces(stocky):
    """Along any motion, deformed and with amplitudes, rates of momentum are the sums of the rows."""
    body = fem.Superelement(stocky)
    call = Evaluator(body)
    rng = np.random.default_rng(3)
    point = random_point(body, rng, 0.3)
    nb = body.places
    point.x[:nb] = stocky.positions + 0.1 * rng.normal(size=(nb, 3))
    point.gravity = np.zeros(3)

    def momentum(time):
        q = point.moved(time * point.v).copy(v=point.v + time * point.a)
        rows = call("inertia", q.copy(a=q.v))["Ma"].reshape(-1, 6)[:nb]
        turning = [np.cross(x, p[:3]) + R @ p[3:] for x, R, p in zip(q.x, q.R, rows)]
        return np.concatenate([rows[:, :3].sum(axis=0), np.sum(turning, axis=0)])

    rate = fem.verify.difference(momentum, 1e-3)
    out = call("inertia", point)
    rows = (out["Ma"] - out["f"]).reshape(-1, 6)[:nb]
    turning = [np.cross(x, p[:3]) + R @ p[3:] for x, R, p in zip(point.x, point.R, rows)]
    exact = np.concatenate([rows[:, :3].sum(axis=0), np.sum(turning, axis=0)])
    np.testing.assert_allclose(rate, exact, atol=1e-8 * np.abs(rows).max())


def test_the_share_of_mass_that_an_impact_stops_is_that_of_a_bar_with_as_many_waves():
    """A bar that is hit along its axis: m_eff/M = 1 − Σ 8/((2k − 1)² π²) with m fixed-free waves, 0.2/m of it."""
    material = fem.SolidMaterial(900.0, 0.0, 1.0)
    mesh = fem.block_mesh([10, 3, 3], [20, 1, 1])
    for modes in (0, 6, 20):
        r = fem.reduce_mesh(mesh, material, {"hit": "x0"}, modes=modes)
        waves = int((r.momentum[0, 6:] ** 2 > 1e-4 * r.mass).sum())
        exact = 1.0 - sum(8.0 / ((2 * k - 1) ** 2 * np.pi**2) for k in range(1, waves + 1))
        assert waves >= {0: 0, 6: 1, 20: 3}[modes]
        # of hexahedra with 20 nodes along a quarter wave of 20/3 elements at least: 1e-3
        assert r.effective_mass("hit", [2, 0, 0]) == pytest.approx(exact, rel=2e-3)


def test_modes_are_taken_until_they_keep_the_energy_of_an_impact():
    """Fewest modes of lowest frequency with 1 − m_eff/M ≥ 0.95: one less does not do."""
    mesh = fem.block_mesh([0.4, 0.02, 0.03], [16, 1, 2])
    up = [0, 0, 1]
    for struck, worst in (({"right": up}, False), ({"right": None}, True)):
        found = fem.reduce_mesh(mesh, STEEL, ENDS, energy_kept=0.95, struck=struck)
        most = [found.with_modes(k) for k in (found.modes, found.modes - 1)]

        def share(part, worst=worst):
            W = np.linalg.inv(part.M)[6:9, 6:9]
            return 1 / np.linalg.eigvalsh(W)[0] / part.mass if worst else part.effective_mass("right", up)

        assert share(most[0]) <= 0.05 < share(most[1])
        plain = fem.reduce_mesh(mesh, STEEL, ENDS, modes=found.modes)
        np.testing.assert_allclose(plain.interface_frequencies, found.interface_frequencies, rtol=1e-8)
        np.testing.assert_allclose(clamped(plain), clamped(found), rtol=1e-8)
    assert found.modes > 20  # twice the twelve that are tried first, and more
    averaged = fem.reduce_mesh(mesh, STEEL, ENDS, energy_kept=0.95, struck={"right": up}, coupling="averaged")
    assert averaged.effective_mass("right", up) <= 0.05
    M, K = free_matrices(mesh)
    nodes = {name: mesh.nodes_of(group) for name, group in ENDS.items()}
    same = fem.reduce_matrices(M, K, mesh.points, nodes, energy_kept=0.95, struck={"right": up})
    assert same.effective_mass("right", up) <= 0.05 and same.modes == 2


def free_matrices(mesh):
    """M and K of a free body of steel in the order of the points of its mesh."""
    body = fem.SolidBody(mesh, STEEL)
    system = system_of(body)
    M, _, K = system.matrices(system.initial)[:3]
    order = system.expanded(np.arange(system.n) + 1.0).astype(int)[[n.index for n in body.nodes], :3].ravel() - 1
    assert np.allclose([node.position for node in body.nodes], mesh.points)
    return M.tocsr()[order][:, order], K.tocsr()[order][:, order]


def test_an_energy_that_cannot_be_kept_is_rejected_with_what_can():
    """All modes keep the motion with the nodes of a rigid frame: (21) against a reduction with nearly all modes."""
    mesh = fem.block_mesh([0.4, 0.02, 0.03], [4, 1, 1], cell="hexahedron")
    full = fem.reduce_mesh(mesh, STEEL, ENDS, modes=35)  # of 36
    best = 1.0 - full.effective_mass("right", [0, 0, 1])
    message = (
        rf"impact on frame 'right' along \[0.0, 0.0, 1.0\] keeps {best:.4f} of the energy with 35 modes, {best:.4f}"
    )
    with pytest.raises(fem.ParameterError, match=message):
        fem.reduce_mesh(mesh, STEEL, ENDS, energy_kept=0.999, struck={"right": [0, 0, 1]})
    for options, name, rule in (
        ({"energy_kept": 1.5}, "energy_kept", "between 0 and 1"),
        ({"struck": {"right": None}}, "struck", "energy_kept"),
        ({"energy_kept": 0.9, "struck": {"top": None}}, "struck", "top.*frames.*left, right"),
        ({"energy_kept": 0.9, "struck": {"left": [0, 0, 0]}}, "struck", "not be zero"),
        ({"energy_kept": 0.9, "struck": ["left"]}, "struck", "a dict"),
    ):
        with pytest.raises(fem.ParameterError, match=f"{name}.*{rule}"):
            fem.reduce_mesh(mesh, STEEL, ENDS, **options)


def test_chosen_modes_are_kept_and_others_rejected(reduced_bar):
    odd = reduced_bar.with_modes([1, 3])
    np.testing.assert_array_equal(odd.interface_frequencies, reduced_bar.interface_frequencies[[1, 3]])
    keep = [*range(12), 13, 15]
    for key in ("M", "K", "N", "O"):
        np.testing.assert_array_equal(getattr(odd, key), getattr(reduced_bar, key)[..., keep, :][..., keep])
    assert reduced_bar.with_modes(0).size == 12
    for wrong in (7, [3, 1], [0.5], [6], -1):
        with pytest.raises(fem.ParameterError, match="modes"):
            reduced_bar.with_modes(wrong)


def test_a_saved_reduction_is_the_same_after_loading(reduced_bar, tmp_path):
    path = tmp_path / "bar.h5"
    reduced_bar.save(path)
    other = fem.load_reduction(path)
    assert other.frames == reduced_bar.frames and other.mass == reduced_bar.mass
    for key in fem.elements.superelements.reduction.ARRAYS:
        np.testing.assert_array_equal(getattr(other, key), getattr(reduced_bar, key))
    (tmp_path / "other.h5").write_text("nothing")
    with pytest.raises(fem.ParameterError, match=r"path = .*as a reduction"):
        fem.load_reduction(tmp_path / "other.h5")


def test_matrices_of_a_file_give_the_reduction_of_the_mesh(tmp_path):
    from scipy.io import mmwrite

    mesh = fem.block_mesh([1.0, 0.2, 0.2], [3, 1, 1])
    body = fem.SolidBody(mesh, STEEL)
    system = system_of(body)
    M, _, K = system.matrices(system.initial)[:3]
    order = system.expanded(np.arange(system.n) + 1.0).astype(int)[[n.index for n in body.nodes], :3].ravel() - 1
    for name, A in (("M", M), ("K", K)):
        mmwrite(str(tmp_path / f"{name}.mtx"), A.tocsr()[order][:, order], precision=17)
    frames = {"left": body.node_numbers("x0"), "right": body.node_numbers("x1")}
    found = fem.reduce_matrices(
        str(tmp_path / "M.mtx"), str(tmp_path / "K.mtx"), [node.position for node in body.nodes], frames, modes=3
    )
    exact = fem.reduce_mesh(mesh, STEEL, ENDS, modes=3)
    np.testing.assert_allclose(clamped(found), clamped(exact), rtol=1e-9)
    assert found.mass == pytest.approx(1.0 * 0.04 * 7850, rel=1e-12)


def test_what_is_no_free_body_is_rejected(tmp_path):
    mesh = fem.block_mesh([1.0, 0.2, 0.2], [3, 1, 1])
    with pytest.raises(fem.ParameterError, match=r"group = .*mesh"):
        fem.reduce_mesh(mesh, STEEL, {"left": "x9"})
    with pytest.raises(fem.ParameterError, match=r"frames = .*share a node"):
        fem.reduce_mesh(mesh, STEEL, {"left": "x0", "side": "y0"})
    with pytest.raises(fem.ParameterError, match=r"modes.*more than"):
        fem.reduce_mesh(mesh, STEEL, ENDS, modes=1000)
    with pytest.raises(fem.ParameterError, match=r"K = .*rigid body"):
        fem.reduce_matrices(np.eye(9), np.eye(9), np.eye(3), {"a": [0, 1, 2]}, modes=0)
    with pytest.raises(fem.ParameterError, match=r"K = .*one point"):
        line = mesh.with_group("corner", [0])
        fem.reduce_mesh(line, STEEL, {"corner": "corner"}, modes=2)
    two = fem.Mesh(
        np.vstack([mesh.points, mesh.points + [5.0, 0, 0]]),
        {"hexahedron20": np.vstack([mesh.cells["hexahedron20"], mesh.cells["hexahedron20"] + len(mesh.points)])},
        {"left": {"node": mesh.nodes_of("x0")}},
    )
    with pytest.raises(fem.ParameterError, match="body of 2 separate parts"):
        fem.reduce_mesh(two, STEEL, {"left": "left"}, modes=2)
    with pytest.raises(fem.ParameterError, match=r"M = .*as a matrix"):
        fem.reduce_matrices(str(tmp_path / "none.mtx"), np.eye(9), np.eye(3), {"a": [0]})


def test_a_frame_that_turns_too_far_is_named(stocky):
    body = fem.Superelement(stocky, name="bar")
    model = fem.Model("bar")
    model.add(body)
    state = fem.System(model).initial.copy()
    assert body.trouble(state) is None
    left, right = (body.frame(name).node.index for name in ("left", "right"))
    for angle, told in ((0.95, False), (1.05, True)):  # opposite turns leave the floating frame where it is
        state.R[left], state.R[right] = exp([0.0, 0.0, -angle]), exp([0.0, 0.0, 1.001 * angle])
        point = random_point(body, np.random.default_rng(0), 0.1)
        index = [node.index for node in body.nodes]
        point.x, point.R = state.x[index], state.R[index]
        assert (Evaluator(body)("trouble", point)["energy"][0] > 0.0) == told
        assert (body.trouble(state) is not None) == told
    assert re.search(r"frame 'right'.*1\.05 rad", body.trouble(state))


def test_a_body_says_which_frames_and_numbers_it_takes(stocky):
    body = fem.Superelement(stocky, name="bar")
    with pytest.raises(fem.ParameterError, match=r"left, right"):
        body.frame("middle")
    with pytest.raises(fem.ParameterError, match="all zero"):
        fem.Superelement(stocky, weights={"left": 0.0})
    with pytest.raises(fem.ParameterError, match="damping"):
        fem.Superelement(stocky, damping=-1.0)


# u_x/F_x, u_y/F_y, θ_x/M_x, θ_z/M_z, u_y/M_z of the end of the bar 10 × 1 × 1, the other end held; beams: 10, 4031.2,
# 184.92, 120, 600. Worked out with another program of the same elements.
COMPLIANCE = {
    "rigid": (9.9125, 3976.88, 180.839, 118.938, 594.69),
    "averaged": (9.9562, 3977.03, 181.825, 120.129, 594.78),
}


@pytest.mark.parametrize("kind", COMPLIANCE)
def test_compliance_of_an_end_is_that_of_its_coupling(kind):
    reduction = bar(0, coupling={"right": kind})
    C = np.linalg.inv(reduction.K[6:, 6:])
    assert (C[0, 0], C[1, 1], C[3, 3], C[5, 5], C[1, 5]) == pytest.approx(COMPLIANCE[kind], rel=2e-5)


def test_averaged_frames_move_as_their_faces_do_in_the_mean():
    """Static columns and modes: 𝒜 Φ is the frame's own motion, and nothing of the modes."""
    reduction = bar(4, coupling="averaged")
    mesh = fem.block_mesh([10, 1, 1], [12, 2, 2])
    face = mesh.points[:, 0] > 10 - 1e-9
    y = np.abs(mesh.points[face] - [10, 0.5, 0.5])[:, 1:]
    corners, middles = (y == 0.5).all(axis=1), ((y == 0.25).any(axis=1))
    # shares of four faces of eight nodes: −1/12 at corners, 1/3 at middles, nodes of two and four faces add theirs
    faces = np.where(
        middles, np.where((y == 0.5).any(axis=1), 1, 2), np.where(corners, 1, np.where(y.sum(axis=1) > 0, 2, 4))
    )
    w = faces * np.where(middles, 1 / 3, -1 / 12) / 4
    assert w.sum() == pytest.approx(1.0)
    u = reduction.basis.reshape(-1, 3, reduction.size)[face]
    mean = np.einsum("k,kin->in", w, u)
    wanted = np.zeros((3, reduction.size))
    wanted[:, 6:9] = np.eye(3)
    assert mean == pytest.approx(wanted, abs=1e-10)


def test_reductions_with_averaged_frames_have_the_frequencies_of_the_mesh():
    """Free bar: from above, by Ritz's principle; in the limit closer than with rigid ends, which stiffen it."""
    from scipy.sparse.linalg import eigsh

    mesh, material = fem.block_mesh([10, 1, 1], [12, 2, 2]), fem.SolidMaterial(1.0, 0.3, 1.0)
    system = system_of(fem.SolidBody(mesh, material))
    M, _, K, _ = system.matrices(system.initial)
    full = np.sqrt(eigsh(K, 10, M, sigma=-1e-3)[0][6:])
    errors = {}
    for kind, modes in (("averaged", 12), ("averaged", 48), ("rigid", 48)):
        reduction = fem.reduce_mesh(mesh, material, ENDS, modes=modes, coupling=kind)
        errors[kind, modes] = np.sqrt(eigh(reduction.K, reduction.M, eigvals_only=True)[6:10]) / full - 1.0
    assert errors["averaged", 48].min() > 0.0 and errors["averaged", 48].max() < 1e-4
    assert errors["averaged", 12].max() < 4e-3
    assert (errors["averaged", 48] < errors["rigid", 48]).all()


def test_what_cannot_be_averaged_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"coupling = \['top'\].*frames.*left, right"):
        bar(0, coupling={"top": "averaged"})
    with pytest.raises(fem.ParameterError, match="'rigid' or 'averaged'"):
        bar(0, coupling="soft")
    mesh = fem.block_mesh([10, 1, 1], [12, 2, 2]).with_group("line", lambda x: (x[:, 1] == 0) & (x[:, 2] == 0))
    with pytest.raises(fem.ParameterError, match=r"frames = 'edge'.*six"):
        fem.reduce_mesh(mesh, STEEL, {"edge": "line"}, modes=0, coupling="averaged")


def test_half_of_a_symmetric_matrix_acts_as_the_whole_one():
    """Rows that come first are given in any order."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(9, 9)) * (rng.random((9, 9)) < 0.5)
    A = A + A.T
    first = np.array([6, 1, 4])
    half, rest = Halved(csc_array(A), first), [0, 2, 3, 5, 7, 8]
    x, columns = rng.normal(size=9), rng.normal(size=(9, 2))
    assert np.abs(half @ x - A @ x).max() < 1e-14  # sums of nine products, in another order
    assert np.abs(half @ columns - A @ columns).max() < 1e-14
    assert np.array_equal(half.rest().toarray(), np.tril(A[np.ix_(rest, rest)]))
    assert np.array_equal(half.across().toarray(), A[np.ix_(rest, first)])


def test_modes_that_cut_a_pair_of_one_frequency_are_reported():
    """A square bar held at both ends: bending in two directions, each frequency twice; torsion once."""
    steel = fem.SolidMaterial(2e11, 0.3, 7800.0)
    mesh = fem.block_mesh([1.0, 0.1, 0.1], [8, 1, 1])
    frames = {"a": "x0", "b": "x1"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = fem.reduce_mesh(mesh, steel, frames, modes=5)
    f = whole.interface_frequencies / (2 * np.pi)
    assert abs(f[0] - f[1]) < 1e-6 * f[1] < 0.1 * (f[2] - f[1])
    with pytest.warns(UserWarning, match=rf"modes=1 .* {f[0]:.6g} and {f[1]:.6g} Hz.*modes=0 or modes=2"):
        fem.reduce_mesh(mesh, steel, frames, modes=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.reduce_mesh(mesh, steel, frames, modes=2)


@pytest.mark.parametrize("name", ["Superelement", "FloatingFrame", "PointOfBody"])
def test_kernels_read_no_scratch_that_they_did_not_write_in_the_same_call(name):
    for seed in range(8):  # with and without damping and load patterns
        rng = np.random.default_rng(seed)
        element = make_example(name, rng)
        call, point = Evaluator(element), random_point(element, rng)
        nd = len(point.v)
        pose = (np.array([tuple(element.record)], element.parameters)[0], point.x, point.R, point.v)
        found = []
        for spoilt in (0.0, np.nan):
            stiffness, outputs = np.zeros((nd, nd)), []
            for kernel in call.calls:
                for array in element._scratch.values():
                    array[...] = spoilt
                outputs += list(call(kernel, point).values())
            for array in element._scratch.values():
                array[...] = spoilt
            if name == "Superelement":
                Superelement.geometric(*pose, stiffness)
            found.append([*outputs, stiffness])
        assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True)), f"seed {seed}"


@pytest.mark.parametrize("modes", [1, 10, 40])
def test_tangents_are_derivatives_with_few_and_many_modes(modes):
    """At rotations up to 3 rad, with velocities and accelerations; damping of all modes, a load pattern."""
    material = fem.SolidMaterial(1e3, 0.3, 10.0)
    mesh = fem.block_mesh([1.5, 0.23, 0.17], [6, 1, 1])
    part = fem.reduce_mesh(mesh, material, ENDS, modes=modes, stiffening=("left", "right"))
    report = check_element(fem.Superelement(part, damping=0.05), configurations=3, seed=7)
    assert report.ok, report


def test_what_is_kept_of_a_pose_changes_no_bit():
    """Kernels keep the local motion of the last pose; every argument that changes has to be seen."""
    kept, rng = Evaluator(make_example("Superelement", np.random.default_rng(4))), np.random.default_rng(0)
    point, names = random_point(kept.element, rng, 0.1), ("inertia", "inertia_tangent", "force", "force_tangent")
    for name in ("x", "R", "v", "a", "gravity"):
        for kernel in names:
            kept(kernel, point)
        other = random_point(kept.element, rng, 0.1)
        point = point.copy(**{name: getattr(other, name)})
        fresh = Evaluator(make_example("Superelement", np.random.default_rng(4)))
        for kernel in rng.permutation(names):
            expected, found = fresh(str(kernel), point), kept(str(kernel), point)
            for output, value in expected.items():
                np.testing.assert_array_equal(found[output], value, err_msg=f"{name}, {kernel}: {output}")


@pytest.mark.parametrize("weights", [(1.0, 0.0, 0.0, 0.0), (0.7, 0.0, 0.0, 0.4), (0.7, -0.3, 1.9, 0.4)])
def test_assembled_sums_of_tangents_are_those_of_the_matrices(weights):
    body = make_example("Superelement", np.random.default_rng(11))
    model = fem.Model("free")
    model.add(body)
    system = model.compile()
    point = random_point(body, np.random.default_rng(0), 0.1)
    at, state = [node.index for node in body.nodes], system.initial.copy()
    A, names = np.zeros_like(state.V), ("c_M", "c_C", "c_K", "c_A")
    state.x[at], state.R[at], state.V[at], A[at] = point.x, point.R, point.v.reshape(-1, 6), point.a.reshape(-1, 6)
    found = system.assemble(state, A=A, **dict(zip(names, weights))).matrix().toarray()
    parts = [system.assemble(state, A=A, **{name: 1.0}).matrix().toarray() for name in names]
    expected = sum(weight * part for weight, part in zip(weights, parts))
    np.testing.assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())
