"""Several loads that stiffen a superelement: energy, tangents, forms of one load, files, and errors."""

import h5py
import numpy as np
import pytest
from stress_stiffness import both

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.elements.superelements.coordinates import responses
from fem_mbs.elements.superelements.reduction import ARRAYS, INERTIA, RESIDUAL, Reduction
from fem_mbs.rotations import exp, skew
from fem_mbs.solvers.paths.linear_buckling import bound_geometric
from fem_mbs.verify import check_element, random_point

SOFT = fem.SolidMaterial(1e7, 0.3, 1000.0)
FRAMES = {"left": "x0", "right": "x1", "middle": "middle"}
BENT = {"right": [0.0, 0.3, -1.0]}
TURNING = {"axis": [0, 0, 1], "point": [-0.2, 0.05, 0], "held": "left"}


def bar(stiffening, **options):
    """A bar of 1 m with frames at its ends and, averaged, around its middle."""
    mesh = fem.block_mesh([1.0, 0.1, 0.06], [8, 1, 1])
    mesh = mesh.with_group("middle", lambda x: abs(x[:, 0] - 0.5) < 1e-6)
    options = {"modes": 4, "coupling": {"middle": "averaged"}} | options
    return fem.reduce_mesh(mesh, SOFT, FRAMES, stiffening=stiffening, **options)


def several():
    return [
        ("left", "right"),
        ("left", "middle"),
        fem.LoadPattern(forces=BENT, held="left", name="bent"),
        fem.LoadPattern(forces={"middle": [0, 0, 0, 1.0, 0, 0]}, held="right"),
    ]


@pytest.fixture(scope="module")
def patterned():
    return bar(several())


def deformed(body, seed=0, size=0.02):
    """A point with small deformations."""
    point = random_point(body, np.random.default_rng(seed), 0.0)
    rng, r = np.random.default_rng(seed), body.reduction
    point.x, point.R = point.x.copy(), point.R.copy()
    nb = body.places
    point.x[:nb] = r.positions + size * rng.normal(size=(nb, 3))
    point.R[:nb] = [exp(size * rng.normal(size=3)) for _ in range(nb)]
    point.x[nb:] = 0.0
    point.x[nb:].ravel()[: r.modes] = 0.3 * size * rng.normal(size=r.modes)
    point.gravity = np.zeros(3)
    return point


def test_the_element_satisfies_the_contract_with_four_patterns(patterned):
    report = check_element(fem.Superelement(patterned, damping=0.1, name="bar"), configurations=3)
    assert report.ok, str(report)


def test_the_energy_is_that_of_stretches_which_the_turning_adds_to(patterned):
    """½ d·K̂d − ½ e·k e + ½ (e + q)·k (e + q), k the inverse of the work of the loads on their static responses."""
    r = patterned
    body = fem.Superelement(r, name="bar")
    point = deformed(body, size=0.06)
    d = body.pose(point.x, point.R)[2]
    static = np.linalg.pinv(r.K, rcond=1e-11)
    k = np.linalg.inv(r.stretch @ static @ r.stretch.T)
    e, q = r.stretch @ d, 0.5 * np.einsum("i,pij,j->p", d, r.pull_geometry, d)
    wanted = 0.5 * d @ r.K @ d - 0.5 * e @ k @ e + 0.5 * (e + q) @ k @ (e + q)
    assert abs(q).min() > 0.01 * abs(e).max() * abs(q).max()
    assert Evaluator(body)("energy", point)["energy"][0] == pytest.approx(wanted, rel=1e-9)
    plain = Evaluator(fem.Superelement(r, stiffening=False, name="bar"))("energy", point)["energy"][0]
    assert plain == pytest.approx(0.5 * d @ r.K @ d, rel=1e-9)
    assert abs(wanted / plain - 1) > 0.05


@pytest.mark.parametrize("mixed", [[[-3.0, 0], [0, 1e-3]], [[1.0, 2.0], [-0.5, 1.5]]])
def test_size_sign_and_sums_of_loads_change_nothing(mixed):
    """Forces of the body depend on the loads together: stresses that they span, not on how they are written."""
    pull = {"left": np.array([-1.0, 0, 0]), "right": np.array([1.0, 0, 0])}
    bent = {"right": np.array(BENT["right"])}

    def load(a, b):
        forces = {"left": a * pull["left"], "right": a * pull["right"] + b * bent["right"]}
        return fem.LoadPattern(forces=forces, held="left")

    bodies = [bar([("left", "right"), load(0, 1)]), bar([load(*row) for row in mixed])]
    bodies = [fem.Superelement(r, name="bar") for r in bodies]
    found = [Evaluator(body)("force", deformed(body))["f"] for body in bodies]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9 * np.abs(found[0]).max())


def test_a_pair_of_names_is_a_load_of_two_forces():
    forces = {"left": [-1.0, 0, 0], "right": [1.0, 0, 0]}
    one, two, three = (bar(s) for s in (("left", "right"), [("left", "right")], fem.LoadPattern(forces=forces)))
    for key in ("stretch", "pull_geometry", "pull_compliance", "pull_fields", "pull_stiffness"):
        np.testing.assert_array_equal(getattr(two, key), getattr(one, key))
        np.testing.assert_allclose(getattr(three, key), getattr(one, key), rtol=1e-12, atol=1e-12)


def test_a_deformed_body_has_the_same_forces_wherever_it_is(patterned):
    body = fem.Superelement(patterned, name="bar")
    evaluator, point = Evaluator(body), deformed(body, size=0.1)
    turn = exp(np.array([1.0, -2.0, 0.7]))
    moved = point.rigidly_moved(turn, np.array([3.0, -1.0, 2.0]), body.places)
    here, there = (evaluator("force", p)["f"].reshape(-1, 6) for p in (point, moved))
    nb = body.places
    here[:nb, :3] = here[:nb, :3] @ turn.T
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-12 * np.abs(here).max())
    rest = deformed(body, size=0.0).rigidly_moved(turn, np.array([3.0, -1.0, 2.0]), body.places)
    assert np.abs(evaluator("force", rest)["f"]).max() < 1e-12 * np.abs(patterned.K).max()


def test_the_stiffness_of_stresses_is_the_third_derivative_of_the_energy(patterned):
    """About the undeformed body, for motions y that stretch nothing: what a stretch that turns adds is left out."""
    r, rng = patterned, np.random.default_rng(4)

    def made(stiffening):
        model = fem.Model("bar")
        body = model.add(fem.Superelement(r, stiffening=stiffening, name="bar"))
        return model.compile(), body

    system, body = made(True)
    nb, numbers = body.places, [node.index for node in body.nodes]

    def coordinates(y):
        moved = system.expanded(y)[numbers]
        return np.concatenate([moved[:nb].ravel(), moved[nb:, :3].ravel()[: r.modes]])

    columns = np.array([coordinates(y) for y in np.eye(system.n)])
    for d in r.pull_responses / np.abs(r.pull_responses).max(axis=1, keepdims=True):
        moved = np.zeros((len(system.nodes), 6))
        moved[numbers[:nb]] = d[: 6 * nb].reshape(nb, 6)
        amplitudes = np.zeros((len(numbers) - nb, 3))
        amplitudes.ravel()[: r.modes] = d[6 * nb :]
        moved[numbers[nb:], :3] = amplitudes
        y = rng.normal(size=len(columns))
        y -= np.linalg.pinv(r.stretch @ columns.T) @ (r.stretch @ columns.T @ y)
        found, known = (both(*made(stiffening), moved, y) for stiffening in (True, False))
        # the turning of forces on frames, which a linear body has too, is not asked here
        assert abs(found[1] - known[1]) > 1e-3 * abs(found[1])
        assert found[0] - known[0] == pytest.approx(found[1] - known[1], rel=1e-5)


def test_pulls_of_a_deformed_body_change_with_what_turns(patterned):
    """Σ k (ė + q̇) Ĝ on amplitudes of modes, for which no frame turns, at a place where q̇ is not zero."""
    model = fem.Model("bar")
    body = model.add(fem.Superelement(patterned, name="bar"))
    system, r = model.compile(), patterned
    rng, numbers, nb = np.random.default_rng(3), [node.index for node in body.nodes], body.places
    state = system.moved(system.initial, system.expanded(0.04 * rng.normal(size=system.n)))
    moved = system.expanded(rng.normal(size=system.n))

    def pulls(shift):
        there = system.moved(state, shift * moved)
        d = body.pose(there.x[numbers], there.R[numbers])[2]
        q = 0.5 * np.einsum("i,pij,j->p", d, r.pull_geometry, d)
        return r.pull_stiffness @ (r.stretch @ d + q)

    rates = (pulls(1e-6) - pulls(-1e-6)) / 2e-6
    state.V[:] = moved
    system.own.groups["force_tangent"] = bound_geometric(body).address
    system.own.groups["inertia"] = 0
    K = system.assemble(state, c_K=1.0).matrix()
    columns = np.array([system.expanded(y)[numbers] for y in np.eye(system.n)])
    modes = np.flatnonzero(np.abs(columns[:, nb:]).max(axis=(1, 2)) > 0.5)
    assert len(modes) == r.modes
    wanted = np.einsum("p,pij->ij", rates, r.pull_geometry)[18:, 18:]
    order = [int(np.abs(columns[j, nb:, :3].ravel()).argmax()) for j in modes]
    found = K.toarray()[np.ix_(modes, modes)]
    np.testing.assert_allclose(found, wanted[np.ix_(order, order)], rtol=1e-6, atol=1e-6 * np.abs(wanted).max())


def test_strain_energy_of_loads_of_a_body_is_none_that_is_left_out(patterned):
    model = fem.Model("bar")
    body = model.add(fem.Superelement(patterned, name="bar"))
    system, r = model.compile(), patterned
    d = np.array([1.0, -2.0, 0.3, 0.5]) / np.sqrt(r.pull_compliance.diagonal()) @ r.pull_responses  # alike in energy
    d *= 1e-6 / np.abs(d).max()
    moved = np.zeros((len(system.nodes), 6))
    moved[[node.index for node in body.nodes[: body.places]]] = d[:18].reshape(3, 6)
    energy, left = body.without_stiffening(system.initial, system.moved(system.initial, moved))
    assert energy == pytest.approx(0.5 * d @ r.K @ d, rel=1e-4) and abs(left) < 1e-4 * energy
    bent = np.zeros_like(moved)
    bent[body.nodes[0].index, 4] = 1e-6  # a turn that no load of the list makes alone
    energy, left = body.without_stiffening(system.initial, system.moved(system.initial, bent))
    assert 0.1 * energy < left < energy


@pytest.mark.parametrize("coupling", ["rigid", "averaged", {"middle": "averaged"}])
def test_a_turn_of_the_whole_body_changes_no_stretch(coupling):
    """To second order, of a turn θ after a deformation y: e + q of both together is that of y alone.

    Places of frames change by θ × (X + u) + ½ θ × (θ × X), turns of frames by θ + ½ θ × θ_i; a mode turns beyond the
    coordinates, which a load on frames does not feel. The rest of y·Ĝ θ has to take back what c makes of that.
    """
    r = bar(several(), coupling=coupling)
    rigid, forces = r.rigid_motions(), r.stretch[:, :18].reshape(-1, 3, 6)
    assert np.abs(r.stretch[:, 18:]).max() < 1e-9 * np.abs(r.stretch).max()
    for G, of_frames in zip(r.pull_geometry, forces):
        np.testing.assert_allclose(G @ rigid[:, :3], 0.0, atol=1e-9 * np.abs(G).max())
        for a in range(3):
            axis = np.eye(3)[a]
            wanted = np.zeros(r.size)
            for i, (force, moment) in enumerate(zip(of_frames[:, :3], of_frames[:, 3:])):
                wanted[6 * i : 6 * i + 3] = -np.cross(force, axis)
                wanted[6 * i + 3 : 6 * i + 6] = -0.5 * np.cross(moment, axis)
            size = max(np.abs(of_frames).max(), np.abs(G).max())
            np.testing.assert_allclose(G @ rigid[:, 3 + a], wanted, atol=1e-9 * size)


def test_loads_by_the_mass_have_the_stress_of_the_mesh_with_few_modes():
    """A bar that turns about z has the tension ½ ρ A (x_1² − x²) Ω² of closed form; Ĝ of a turn about y of its frames.

    For w = x along the bar, which static columns have, w·Ĝ w is ∫ N dx, N in N for 1 rad/s.
    """
    r = bar(fem.LoadPattern(**TURNING), modes=0)
    y = np.zeros(r.size)
    for i, X in enumerate(r.positions):
        y[6 * i : 6 * i + 6] = [0, 0, X[0], 0, -1.0, 0]  # u_z = x, and the turn that scales with it
    # a turn of the whole body: u_x = -(z - z_i) of the frame too, whose stress K_G also meets
    density = 1000.0 * 0.1 * 0.06
    wanted = density * 0.5 * (1.2**2 - (1.2**3 - 0.2**3) / 3)
    tension = r.pull_geometry[0]
    assert y @ tension @ y == pytest.approx(wanted, rel=2e-3)
    assert bar(fem.LoadPattern(**TURNING), modes=12).pull_compliance[0, 0] == pytest.approx(
        r.pull_compliance[0, 0], rel=1e-12
    )


def test_forces_of_rigid_frames_on_their_nodes_leave_out_what_their_mass_carries():
    """A random truss that turns: Σ sym(F pᵀ) − (F·p) 1 of the forces of frames, F = K u − b, solved with all nodes."""
    rng, n = np.random.default_rng(8), 12
    X, K, mass = rng.normal(size=(n, 3)), np.zeros((3 * n, 3 * n)), rng.uniform(0.5, 1.0, n)
    for i in range(n):
        for j in range(i):
            e = (X[i] - X[j]) / np.linalg.norm(X[i] - X[j])
            K += np.kron(np.outer(*2 * [np.eye(n)[i] - np.eye(n)[j]]), np.outer(e, e))
    load = fem.LoadPattern(axis=[0, 0, 2], point=[0.3, 0.1, 0], held="a", geometry=np.zeros_like(K))
    frames = {"a": [0, 1, 2], "b": [3, 4, 5]}
    M = np.kron(np.diag(mass), np.eye(3))
    found = fem.reduce_matrices(M, K, X, frames, modes=12, stiffening=load).pull_geometry[0]
    b = np.zeros((n, 3))
    b[:, :2] = mass[:, None] * (X - [0.3, 0.1, 0])[:, :2]
    T, centres = np.zeros((n, 3, 12 + 18)), [X[nodes].mean(axis=0) for nodes in frames.values()]
    for i, nodes in enumerate(frames.values()):
        for k in nodes:
            T[k, :, 6 * i : 6 * i + 3], T[k, :, 6 * i + 3 : 6 * i + 6] = np.eye(3), -skew(X[k] - centres[i])
    for k in range(6, n):
        T[k, :, 12 + 3 * (k - 6) : 15 + 3 * (k - 6)] = np.eye(3)
    T = T.reshape(3 * n, -1)
    right = T.T @ b.ravel()
    # frame a stays where it is: the rest of the body hangs on it
    d = np.zeros(30)
    d[6:] = np.linalg.solve((T.T @ K @ T)[6:, 6:], right[6:])
    F = (K @ T @ d).reshape(n, 3) - b
    for i, nodes in enumerate(frames.values()):
        moments = F[nodes].T @ (X[nodes] - centres[i])
        wanted = 0.5 * (moments + moments.T) - np.trace(moments) * np.eye(3)
        block = slice(6 * i + 3, 6 * i + 6)
        np.testing.assert_allclose(found[block, block], wanted, atol=1e-9 * np.abs(wanted).max())


def test_what_modes_leave_out_softens_by_the_response_of_the_inside():
    """By solution with the factors; and by Ĝ of each mode that is left out. Loads with and without averaged frames."""
    loads = [("left", "right"), fem.LoadPattern(forces={"middle": [0, 0.3, -1.0]}, held="left")]
    # 88 nodes are inside, with 264 motions, of which 6 are those of the averaged frame: 257 modes are all but one
    whole, few = (bar(loads, modes=modes) for modes in (257, 6))

    def gram(r):
        return r.pull_softening.transpose(0, 2, 1, 3).reshape(2 * r.size, 2 * r.size)

    left = np.linalg.eigvalsh(gram(whole))
    assert left[-1] > 0.0 and np.abs(left[:-1]).max() < 1e-8 * np.linalg.norm(gram(few))
    n, G, K = few.size, whole.pull_geometry, whole.K.diagonal()
    gone = np.arange(n, whole.size)
    wanted = np.einsum("pim,qmj,m->pqij", G[:, :n, gone], G[:, gone, :n], 1.0 / K[gone])
    wanted += whole.pull_softening[:, :, :n, :n]
    sign = np.sign(np.einsum("ki,ki->i", few.basis, whole.basis[:, :n]))
    np.testing.assert_allclose(
        few.pull_softening * sign[:, None] * sign, wanted, atol=1e-7 * np.abs(wanted).max(), rtol=0
    )
    np.testing.assert_allclose(whole.with_modes(6).pull_softening, wanted, atol=1e-9 * np.abs(wanted).max(), rtol=0)


def test_a_saved_reduction_keeps_its_patterns_and_older_files_are_read(patterned, tmp_path):
    patterned.save(tmp_path / "new.h5")
    other = fem.load_reduction(tmp_path / "new.h5")
    for key in (*ARRAYS, "pull_stiffness"):
        np.testing.assert_array_equal(getattr(other, key), getattr(patterned, key))
    for stiffening in (None, ("left", "right")):
        one = bar(stiffening)
        one.save(tmp_path / "old.h5")
        with h5py.File(tmp_path / "old.h5", "r+") as file:  # as it was written while there was one pattern at most
            file.attrs["fem_mbs reduction"] = 2
            for key in (*RESIDUAL, *INERTIA):
                del file[key]
            del file["loaded"], file["pull_compliance"], file["pull_fields"], file["pull_softening"]
            file["pull_stiffness"] = one.pull_stiffness.diagonal()
        read = fem.load_reduction(tmp_path / "old.h5")
        assert not read.pull_softening.any()
        assert not read.loaded and not len(read.tractions) and not read.inertia_compliance.any()
        for key in {*ARRAYS, "pull_stiffness"} - {"pull_softening", *RESIDUAL, *INERTIA}:
            np.testing.assert_allclose(getattr(read, key), getattr(one, key), rtol=1e-14)
        with h5py.File(tmp_path / "old.h5", "r+") as file:
            del file["pull_stiffness"]
        with pytest.raises(fem.ParameterError, match=r"path = .*no reduction"):
            fem.load_reduction(tmp_path / "old.h5")


def test_each_load_by_the_mass_adds_the_vector_that_the_modes_leave_out():
    """Orthogonal to the modes, of higher frequency, and with it the work of the load is that of the mesh."""
    mesh, held = fem.block_mesh([1, 0.1, 0.06], [8, 1, 1]), {"left": "x0"}
    weight = fem.LoadPattern(gravity=[0, 0, -9.81], held="left")
    plain = fem.reduce_mesh(mesh, SOFT, held, modes=5)
    part = fem.reduce_mesh(mesh, SOFT, held, modes=5, stiffening=[fem.LoadPattern(**TURNING), weight])
    assert (plain.modes, part.modes, part.residual_vectors) == (5, 7, 2)
    np.testing.assert_allclose(part.interface_frequencies, plain.interface_frequencies, rtol=1e-9)
    assert part.residual_frequencies.min() > plain.interface_frequencies.max()
    squares = np.concatenate([part.interface_frequencies, part.residual_frequencies]) ** 2
    np.testing.assert_allclose(part.M[6:, 6:], part.mass * np.eye(7), atol=1e-9 * part.mass)
    np.testing.assert_allclose(part.K[6:, 6:], part.mass * np.diag(squares), atol=1e-9 * part.mass * squares.max())
    np.testing.assert_allclose(part.pull_stiffness @ part.pull_compliance, np.eye(2), atol=1e-8)
    # the tip of a hanging beam: w = ρ A g L⁴/8 EI, and shear; by modes alone it is the same
    d = part.pull_responses[1]
    tip = part.displacements(d)[np.argmax(part.points[:, 0]), 2]
    EI, weight_of = 1e7 * 0.1 * 0.06**3 / 12, 9.81 * 1000 * 0.006
    assert tip == pytest.approx(-weight_of / (8 * EI), rel=0.05)  # a clamp that holds its width: 3 % stiffer
    again = fem.reduce_mesh(mesh, SOFT, held, modes=80, stiffening=fem.LoadPattern(**TURNING))
    assert again.modes in (80, 81) and again.pull_stiffness * again.pull_compliance == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("kept", [0, 5, [1, 4, 20]])
def test_fewer_modes_keep_what_a_load_brings_about(kept):
    """Residual vectors take over what the modes that go have known of it."""
    load = fem.LoadPattern(**TURNING)
    whole = fem.reduce_mesh(fem.block_mesh([1, 0.1, 0.06], [8, 1, 1]), SOFT, {"left": "x0"}, modes=30, stiffening=load)
    fewer = whole.with_modes(kept)
    np.testing.assert_array_equal(fewer.pull_compliance, whole.pull_compliance)
    assert whole.pull_stiffness[0, 0] * whole.pull_compliance[0, 0] == pytest.approx(1.0, rel=1e-8)
    assert fewer.pull_stiffness[0, 0] * whole.pull_compliance[0, 0] == pytest.approx(1.0, rel=1e-8)
    assert fewer.residual_vectors == 1
    moved = [r.displacements(r.pull_responses[0]) for r in (whole, fewer)]
    np.testing.assert_allclose(*moved, atol=1e-8 * np.abs(moved[0]).max())


MATRICES = dict(
    M=np.eye(6), K=np.kron([[1, -1], [-1, 1]], np.diag([1.0, 0, 0])), points=[[0, 0, 0], [1, 0, 0]],
    frames={"a": [0], "b": [1]}, modes=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("stiffening", "match"),
    [
        (5, r"stiffening = .*two names of frames, or a list"),
        ([5], r"stiffening = .*two names of frames, or a fem.LoadPattern"),
        (("left", "right", "middle"), r"stiffening = .*two names of frames"),
        ([("left", "top")], r"stiffening = .*frame.*left, right, middle"),
        ([("left", np.zeros(2))], "is no frame"),
        (("left", "left"), r"stiffening = .*different"),
        (fem.LoadPattern(forces={"tip": [1, 0, 0]}, held="left"), "'tip' is no frame"),
        (fem.LoadPattern(forces={"right": [1, 0, 0]}, held="root"), "'root' is no frame"),
        (fem.LoadPattern(forces={"right": [1, 0, 0]}), r"stiffening = .*load 1.*equilibrium.*force.*\[1.0, "),
        (fem.LoadPattern(forces={"right": [0, 1, 0], "left": [0, -1, 0]}), r"a moment of \[0.0, .*0.0, 1.0\]"),
        (fem.LoadPattern(axis=[0, 0, 1], name="disc"), r"load 1 \('disc'\).*equilibrium"),
        (fem.LoadPattern(forces={"left": [1, 0, 0]}, held="left"), r"stiffening = .*loads nothing"),
        ([("left", "right"), ("right", "left")], r"load 1 \('left to right'\) and load 2"),
        ([("left", "middle"), ("middle", "right"), ("left", "right")], r"stiffening = .*load 1.*load 2.*load 3"),
        ([("left", "right"), *several()[2:], fem.LoadPattern(forces={"right": [0, -0.6, 2]}, held="left")], "load 2"),
        (fem.LoadPattern(forces={"right": [1, 0, 0]}, held="left", geometry=np.eye(3)), "geometry.*reduce_matrices"),
    ],
)  # fmt: skip
def test_loads_that_cannot_be_right_are_rejected_by_name(stiffening, match):
    with pytest.raises(fem.ParameterError, match=match):
        bar(stiffening)


def test_loads_that_the_modes_do_not_distinguish_have_residual_vectors():
    """Without a mode that stretches the bar a pull and centrifugal forces would be one load to it."""
    mesh, both_loads = fem.block_mesh([1, 0.1, 0.06], [8, 1, 1]), [("left", "right"), fem.LoadPattern(**TURNING)]
    part = fem.reduce_mesh(mesh, SOFT, {"left": "x0", "right": "x1"}, modes=2, stiffening=both_loads)
    assert (part.modes, part.residual_vectors) == (3, 1)
    np.testing.assert_allclose(part.with_modes(0).pull_compliance @ part.pull_stiffness, np.eye(2), atol=1e-6)


def test_loads_of_matrices_need_their_stiffness():
    for stiffening, match in (
        (("a", "b"), "K_G"),
        (fem.LoadPattern(forces={"b": [1, 0, 0]}, held="a"), r"stiffening = .*geometric stiffness"),
        (("a", "b", np.eye(3)), r"stiffening = .*shape of K"),
    ):
        with pytest.raises(fem.ParameterError, match=match):
            fem.reduce_matrices(**MATRICES, stiffening=stiffening)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "is no load"),
        ({"forces": {"a": [0, 0, 0]}}, "is no load"),
        ({"gravity": [0, 0, 0]}, "is no load"),
        ({"axis": [0, 0, 0]}, "axis = .*zero"),
        ({"gravity": [0, 0, 1], "point": [0, 0, 0]}, "point = .*axis"),
        ({"forces": [1, 0, 0]}, "must be a dict"),
        ({"forces": {"a": [1, 0]}}, "shape"),
        ({"forces": {"a": [1, 0, np.nan]}}, "finite"),
        ({"axis": [0, 0, 1], "held": 3}, "held"),
    ],
)
def test_patterns_without_a_load_or_with_a_wrong_one_are_rejected(given, match):
    with pytest.raises(fem.ParameterError, match=match):
        fem.LoadPattern(**given)


def test_arrays_of_patterns_that_are_no_reduction_are_rejected(patterned):
    for key, change, match in (
        ("pull_geometry", lambda A: A.__setitem__((0, 0, 1), A.max()), "pull_geometry.*not symmetric"),
        ("pull_compliance", lambda A: A.__setitem__((0, 1), A.max()), "pull_compliance.*not symmetric"),
        ("pull_softening", lambda A: A.__setitem__((0, 1, 2, 3), A.max()), "pull_softening.*not symmetric"),
        ("pull_compliance", lambda A: A.__imul__(4.0), r"stiffening = .*25%"),
        ("stretch", lambda A: A.__setitem__(1, A[0]), r"stiffening = .*frames and modes.* 0%"),
    ):
        arrays = {name: getattr(patterned, name).copy() for name in ARRAYS}
        change(arrays[key])
        with pytest.raises(fem.ParameterError, match=match):
            Reduction(patterned.frames, patterned.mass, arrays)


def test_a_body_without_stiffness_in_some_directions_takes_loads_that_it_resists():
    """Two discs on a shaft that only twists, 400 N m/rad: other deformations made the stiffness singular."""
    disc, twist = np.diag([2.0, 2.0, 2.0, 0.1, 0.05, 0.05]), np.diag([0, 0, 0, 400.0, 0, 0])
    M, K = np.kron(np.eye(2), disc), np.kron([[1, -1], [-1, 1]], twist)
    options = {"points": [[0, 0, 0], [1, 0, 0]], "frames": {"a": [0], "b": [1]}, "modes": 0}
    torque, force = [fem.LoadPattern(forces={"b": np.eye(6)[k]}, held="a", geometry=np.zeros((12, 12))) for k in (3, 1)]
    reduction = fem.reduce_matrices(M, K, **options, stiffening=[torque])
    loads = np.array([[0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0.0]])
    turned = responses(reduction.K, loads, reduction.positions, np.ones(12))[0]
    assert turned[9] - turned[3] == pytest.approx(1 / 400.0, rel=1e-12) and np.abs(turned).max() == abs(turned[9])
    with pytest.raises(fem.ParameterError, match=r"stiffening = .*load 1.*without resistance"):
        fem.reduce_matrices(M, K, **options, stiffening=[force])
