"""Residual vectors of reductions: static responses next to those of the full mesh, and what must not change."""

import warnings

import h5py
import numpy as np
import pytest
from solid_models import linear_displacements, system_of

import fem_mbs as fem
from fem_mbs.arguments.checked import Named
from fem_mbs.elements.superelements.reduction import ARRAYS, RESIDUAL
from fem_mbs.elements.superelements.residual_vectors import residuals_of

SIDES = (0.2, 0.12, 0.1)
RUBBER = fem.SolidMaterial(E=1e6, nu=0.4, density=1000.0)
KINDS = ["hexahedron", "hexahedron20", "tetra10"]
TOP = {"top": "z1"}


def mesh_of(cell="hexahedron"):
    """A block with a side that is not plane; its nodes at x > 0.18 are a group, as is the half of the sole there."""
    mesh = fem.block_mesh(SIDES, [4, 3, 2], cell=cell, form=lambda x: x + 0.01 * np.sin(20 * x[:, [1, 2, 0]]))
    return mesh.with_group("end", lambda x: x[:, 0] > 0.18)


def made(modes=6, frames=TOP, mesh=None, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*cuts modes of the same frequency")
        return fem.reduce_mesh(mesh or mesh_of(), RUBBER, frames, modes=modes, **options)


def inside(r, f):
    """Displacements (k, 3) under forces f (n,) on the coordinates while the frame is held."""
    return r.displacements(np.concatenate([np.zeros(6), np.linalg.solve(r.K[6:, 6:], f[6:])]))


@pytest.mark.parametrize("cell", KINDS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_uniform_traction_moves_all_points_as_it_does_the_mesh(cell, axis):
    """Frame held; by the full mesh, whose loads are those of `SurfaceTraction`."""
    mesh = mesh_of(cell)
    r = made(3, mesh=mesh, residual_vectors="z0")
    body = fem.SolidBody(mesh, RUBBER)
    body.fix("z1")
    traction = np.eye(3)[axis]
    system = system_of(body, fem.SurfaceTraction(body, "z0", traction))
    u = linear_displacements(system)[[node.index for node in body.nodes]]
    f = system.forces(system.initial)[1].reshape(-1, 6)[:, axis].sum()  # area of the sole, times 1 Pa
    places = [int(np.abs(r.points - x).sum(axis=1).argmin()) for x in body.reference]
    np.testing.assert_allclose(inside(r, f * r.tractions[axis])[places], u, atol=1e-8 * np.abs(u).max())
    plain = made(3, mesh=mesh)
    load = plain.tractions[3 * list(plain.loaded).index("z0") + axis]
    assert np.abs(inside(plain, f * load)[places] - u).max() > 0.05 * np.abs(u).max()


def test_nodes_without_faces_and_weight_have_residual_vectors_too():
    """Equal forces on the nodes of a group; the weight as the mesh has it."""
    mesh = mesh_of()
    cored = mesh.with_group("core", lambda x: (np.abs(x - [0.1, 0.06, 0.05]) < 0.03).all(axis=1))
    r = made(3, mesh=cored, residual_vectors=["core", fem.LoadPattern(gravity=[0, 2.0, 0])])
    assert r.residual_vectors == 4
    body = fem.SolidBody(cored, RUBBER)
    nodes = body.nodes_of("core")
    assert len(nodes) == len(r.loaded["core"]) < 8
    places = [int(np.abs(r.points - x).sum(axis=1).argmin()) for x in body.reference]
    body.fix("z1")
    for loads, gravity, c in (
        ([fem.PointForce(node, [0, 0, 1.0 / len(nodes)]) for node in nodes], (0, 0, 0), r.tractions[2]),
        ([], (0, 2.0, 0), 2.0 * r.momentum[1]),
    ):
        u = linear_displacements(system_of(body, *loads, gravity=gravity))[[node.index for node in body.nodes]]
        np.testing.assert_allclose(inside(r, c)[places], u, atol=1e-8 * np.abs(u).max())


def test_modes_stay_what_they_are_and_the_matrices_diagonal():
    plain, r = made(7), made(7, residual_vectors=["z0", "x0"])
    assert (plain.modes, r.modes, r.residual_vectors) == (7, 13, 6)
    np.testing.assert_array_equal(r.interface_frequencies, plain.interface_frequencies)
    keep = np.arange(13)
    for key in ("M", "K", "N", "O"):
        scale = np.abs(getattr(r, key)).max()
        np.testing.assert_allclose(getattr(r, key)[..., keep, :][..., keep], getattr(plain, key), atol=1e-12 * scale)
    np.testing.assert_array_equal(r.basis[:, :13], plain.basis)
    assert r.residual_frequencies.min() > plain.interface_frequencies.max()
    assert (np.diff(r.residual_frequencies) > 0).all()
    squares = np.concatenate([r.interface_frequencies, r.residual_frequencies]) ** 2
    np.testing.assert_allclose(r.M[6:, 6:], r.mass * np.eye(13), atol=1e-10 * r.mass)
    np.testing.assert_allclose(r.K[6:, 6:], r.mass * np.diag(squares), atol=1e-10 * r.mass * squares.max())
    assert "7 modes, 6 residual vectors" in repr(r) and "residual" not in repr(plain)


def test_residual_vectors_carry_what_is_taken_out():
    """`with_modes` gives the reduction that would have been made with these modes, and keeps loads exact."""
    whole, fewer = (made(count, residual_vectors=["z0"]) for count in (12, 5))
    found = whole.with_modes(5)
    np.testing.assert_allclose(found.residual_frequencies, fewer.residual_frequencies, rtol=1e-9)
    for r in (whole, found, fewer):
        c = r.tractions[:3, 6:]
        np.testing.assert_allclose(c @ np.linalg.solve(r.K[6:, 6:], c.T), r.traction_compliance[:3, :3], rtol=1e-8)
    for key in ("M", "K", "O"):  # up to signs of vectors, which have no meaning
        A, B = np.abs(getattr(found, key)), np.abs(getattr(fewer, key))
        np.testing.assert_allclose(A, B, atol=1e-8 * B.max())
    chosen = whole.with_modes([1, 6, 11])
    assert (chosen.modes, chosen.residual_vectors) == (6, 3)
    np.testing.assert_array_equal(chosen.interface_frequencies, whole.interface_frequencies[[1, 6, 11]])
    assert chosen.missing_compliance("z0") < 1e-9
    assert 0.0 < chosen.with_modes(2).missing_compliance("x0") < 1.0
    assert chosen.with_modes(0).missing_compliance("z0") < 1e-9
    for wrong in (13, [12]):  # residual vectors are no modes
        with pytest.raises(fem.ParameterError, match="modes"):
            whole.with_modes(wrong)


def test_what_softens_under_a_load_includes_what_residual_vectors_took_over():
    """R of loads that stiffen, (21), on the frames: that of the reduction which would have been made."""
    mesh = fem.block_mesh([1, 0.1, 0.06], [8, 1, 1])
    given = dict(stiffening=fem.LoadPattern(axis=[0, 0, 1], held="left"), residual_vectors=["z0"])
    whole, fewer = (made(count, {"left": "x0", "right": "x1"}, mesh, **given) for count in (12, 4))
    found, wanted = (r.pull_softening[0, 0, :12, :12] for r in (whole.with_modes(4), fewer))
    np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())
    assert np.abs(whole.pull_softening[0, 0, :12, :12]).max() < 0.9 * np.abs(wanted).max()


def test_a_file_keeps_residual_vectors(tmp_path):
    r = made(4, residual_vectors=["z0"])
    r.save(tmp_path / "part.h5")
    again = fem.load_reduction(tmp_path / "part.h5")
    for key in ARRAYS:
        np.testing.assert_array_equal(getattr(again, key), getattr(r, key))
    assert list(again.loaded) == list(r.loaded)
    for name, points in r.loaded.items():
        np.testing.assert_array_equal(again.loaded[name], points)
    assert again.with_modes(2).missing_compliance("z0") < 1e-9
    with h5py.File(tmp_path / "part.h5", "r+") as file:  # as it was before
        file.attrs["fem_mbs reduction"] = 3
        for key in (*RESIDUAL, "loaded"):
            del file[key]
        del file["interface_frequencies"]
        file["interface_frequencies"] = np.concatenate([r.interface_frequencies, r.residual_frequencies])
    old = fem.load_reduction(tmp_path / "part.h5")
    assert (old.modes, old.residual_vectors, old.loaded) == (7, 0, {})


def test_energy_is_kept_by_as_many_modes_as_without_them():
    mesh = fem.block_mesh([1.0, 0.1, 0.1], [16, 1, 1])
    struck = dict(energy_kept=0.95, struck={"hit": [1, 0, 0]})
    plain, r = (made(None, {"hit": "x0"}, mesh, **struck, **more) for more in ({}, {"residual_vectors": "x1"}))
    assert r.modes == plain.modes + 3
    assert 0.0 < r.effective_mass("hit", [1, 0, 0]) < plain.effective_mass("hit", [1, 0, 0]) <= 0.05


@pytest.mark.parametrize("modes", [1, 3, 6])
def test_the_share_that_is_missing_is_that_of_a_rod(modes):
    """Rod of n linear elements, ν = 0: φ_j = sin((2k − 1) jπ/2n), each does φ_n²/φᵀKφ of the compliance."""
    n = 8
    mesh = fem.block_mesh([1.0, 0.1, 0.1], [n, 1, 1], cell="hexahedron")
    rod = fem.reduce_mesh(mesh, fem.SolidMaterial(1e6, 0.0, 1000.0), {"held": "x0"}, modes=3 * 4 * n - 1)
    along = np.flatnonzero(np.abs(rod.momentum[0, 6:]) > 1e-6 * rod.mass)[:modes]
    shapes = [np.sin((2 * k - 1) * np.pi / (2 * n) * np.arange(n + 1)) for k in range(1, modes + 1)]
    expected = 1.0 - sum(phi[-1] ** 2 / (n * np.sum(np.diff(phi) ** 2)) for phi in shapes)
    part = rod.with_modes(along)
    assert part.missing_compliance("x1", [1, 0, 0]) == pytest.approx(expected, rel=1e-6)
    assert part.missing_compliance("x1", [0, 1, 0]) == pytest.approx(1.0, rel=1e-9)
    assert part.missing_compliance("x1") == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(fem.ParameterError, match=r"group = 'x0'.*\(x1, y0, y1, z0, z1\)"):
        part.missing_compliance("x0")


def test_units_change_nothing():
    """The same part in millimetres, newtons and tonnes."""
    found = []
    for scale, material in ((1.0, RUBBER), (1e3, fem.SolidMaterial(E=1.0, nu=0.4, density=1e-9))):
        mesh = mesh_of().moved(lambda x, s=scale: s * x)
        r = fem.reduce_mesh(mesh, material, TOP, modes=5, residual_vectors=["z0", "x1"])
        found.append((r.residual_frequencies, r.missing_compliance("y0"), list(r.loaded)))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-6)
    assert found[1][1] == pytest.approx(found[0][1], rel=1e-6) and found[1][2] == found[0][2]


def test_matrices_have_them_for_nodes():
    """The same vectors as of the mesh whose matrices they are, for a group of nodes."""
    mesh = mesh_of().with_group("core", lambda x: (np.abs(x - [0.1, 0.06, 0.05]) < 0.03).all(axis=1))
    body = fem.SolidBody(mesh, RUBBER)
    system = system_of(body)
    M, K = (system.matrices(system.initial)[k].toarray() for k in (0, 2))
    order = np.concatenate([system.dof.reshape(-1, 6)[node.index, :3] for node in body.nodes])
    M, K = M[np.ix_(order, order)], K[np.ix_(order, order)]
    top, core = body.node_numbers("z1"), body.node_numbers("core")
    weight = fem.LoadPattern(gravity=[0, 0, -1])
    one = made(5, mesh=mesh, residual_vectors=["core", weight])
    two = fem.reduce_matrices(
        M, K, body.reference, {"top": top}, modes=5, residual_vectors={"foot": core, "weight": weight}
    )
    np.testing.assert_allclose(two.residual_frequencies, one.residual_frequencies, rtol=1e-8)
    assert two.missing_compliance("foot") < 1e-9 and list(two.loaded) == ["foot"]
    for given, match in (
        ({"foot": [10**6]}, r"residual_vectors = .*nodes from 0 to"),
        ({"foot": []}, "residual_vectors"),
        ({"foot": [0.5]}, "whole numbers"),
        ({"foot": top}, "'foot'.*frames"),
        ({3: core}, "residual_vectors"),
        ([core], "must be a dict"),
    ):
        with pytest.raises(fem.ParameterError, match=match):
            fem.reduce_matrices(M, K, body.reference, {"top": top}, modes=2, residual_vectors=given)


def test_a_response_without_mass_is_rejected():
    """A spring to a point without mass, which no mode moves: no vector of mass 1 does either."""
    K, M = np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 0.0])
    modes, under = np.eye(3)[:, :1], np.linalg.inv(K)[:, 1:]
    with pytest.raises(fem.ParameterError, match=r"residual_vectors.*without mass"):
        residuals_of(Named("part"), M, K, modes, under)
    vectors, high, left, dropped = residuals_of(Named("part"), M, K, modes, under[:, :1])
    np.testing.assert_allclose(np.abs(vectors), [[0], [1], [0]], atol=1e-15)
    assert high == pytest.approx(np.sqrt(2.0)) and left == pytest.approx(1.0) and not dropped.size


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (5, "residual_vectors = 5.*groups.*fem.LoadPattern"),
        ([5], "residual_vectors = 5.*groups"),
        ("sole", "'sole'.*(z0|groups)"),
        (["z0", "z0"], "'z0'.*twice"),
        ("z1", "'z1'.*frames.*exactly"),
        ("edge", "'edge'.*frames.*exactly"),
        (fem.LoadPattern(forces={"top": [1, 0, 0]}), r"residual_vectors = .*on frames.*residual vectors"),
    ],
)
def test_what_is_no_load_between_frames_is_rejected(given, match):
    mesh = mesh_of().with_group("edge", lambda x: (x[:, 2] > 0.089) & (x[:, 0] < 0.02))
    with pytest.raises(fem.ParameterError, match=match):
        made(3, mesh=mesh, residual_vectors=given)


def test_an_averaged_frame_takes_the_traction_on_it():
    """With weights of areas a uniform traction is its force; a part of the face is none."""
    frames = {"top": "z1", "sole": "z0"}
    with pytest.raises(fem.ParameterError, match=r"'z0'.*frames.*exactly"):
        made(3, frames, coupling={"sole": "averaged"}, residual_vectors="z0")
    r = made(3, frames, coupling={"sole": "averaged"}, residual_vectors="end")
    assert r.residual_vectors == 3 and r.missing_compliance("end") < 1e-9
    assert r.residual_frequencies.min() > r.interface_frequencies.max()


def test_loads_that_add_nothing_are_reported():
    mesh = mesh_of().with_group("again", lambda x: x[:, 2] < 0.0105)
    assert set(mesh.nodes_of("again")) == set(mesh.nodes_of("z0"))
    with pytest.warns(UserWarning, match=r"3 of 6 residual vectors.*'z0' along x") as told:
        part = made(4, mesh=mesh, residual_vectors=["z0", "again"])
    assert told[0].filename == __file__ and part.residual_vectors == 3
    small = fem.block_mesh([1, 1, 1], [1, 1, 2], cell="hexahedron")
    with pytest.warns(UserWarning, match=r"2 of 3 residual vectors.*modes.*'z0' along x and"):
        part = made(23, mesh=small, residual_vectors=["z0"])
    assert part.residual_vectors == 1 and part.missing_compliance("z0") < 1e-8  # the last mode goes along z


def test_the_smallest_groups_are_known_without_being_asked_for():
    mesh = fem.block_mesh([1.0, 0.1, 0.1], [40, 1, 1], cell="hexahedron")
    for k in range(14):
        mesh = mesh.with_group(f"pad {k}", lambda x, k=k: (np.abs(x[:, 0] - 0.5) < 0.026 * (15 - k)) & (x[:, 2] > 0.09))
    r = made(3, {"left": "x0", "right": "x1"}, mesh)
    assert len(r.loaded) == 12 and "x0" not in r.loaded
    pads = [name for name in r.loaded if name.startswith("pad")]
    assert pads == [f"pad {k}" for k in range(14) if f"pad {k}" in pads] and "pad 13" in pads and "pad 0" not in pads


def test_a_weight_that_stiffens_too_may_be_given_as_it_is():
    """``held`` has no meaning there, but a name that is no frame is a mistake; both arguments are reported apart."""
    held = fem.LoadPattern(gravity=[0, 0, -9.81], held="top")
    free = fem.LoadPattern(gravity=[0, 0, -9.81])
    np.testing.assert_array_equal(made(3, residual_vectors=held).K, made(3, residual_vectors=free).K)
    with pytest.raises(fem.ParameterError, match=r"residual_vectors = 'sole'.*frame.*top"):
        made(3, residual_vectors=fem.LoadPattern(gravity=[0, 0, -9.81], held="sole"))
    mesh = mesh_of("hexahedron20")
    with pytest.warns(UserWarning, match="load 1 of stiffening and load 1 of residual_vectors"):
        part = made(3, mesh=mesh, stiffening=held, residual_vectors=held)
    assert part.residual_vectors == 1 and "1 residual vector;" in repr(part)


def test_a_part_that_cannot_deform_has_no_stresses_to_report():
    """One frame and no modes (before: an array of size zero)."""
    block = fem.Superelement(made(0), name="block")
    model = fem.Model("block", gravity=[0, 0, -9.81])
    top = block.frame("top")
    model.add(block, fem.Bushing(model.ground.frame(top.position), top, stiffness=[1e4] * 3 + [1e3] * 3))
    rest = fem.static_equilibrium(model)
    sunk = rest.position(top.node)[2] - top.position[2]
    assert sunk == pytest.approx(-block.reduction.mass * 9.81 / 1e4, rel=1e-2)
