"""Mass properties of meshes: closed forms of boxes, tetrahedra and ellipsoids, the same of surfaces and volumes."""

import meshio
import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.mesh.mass import TETRAHEDRA
from fem_mbs.rotations import exp

TURN, PLACE = exp([0.3, -0.8, 0.5]), np.array([7.0, -3.0, 11.0])
SIDES = np.array([0.5, 1.0, 2.0])


def box_of(kind):
    """A turned and moved box of solid cells."""
    corners = np.array([[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], float)
    cells = {
        "hexahedron": [[0, 1, 2, 3, 4, 5, 6, 7]],
        "wedge": [[0, 1, 3, 4, 5, 7], [1, 2, 3, 5, 6, 7]],
        "tetra": [[TETRAHEDRA["hexahedron"][k][i] for i in range(4)] for k in range(5)],
        "pyramid": [
            [0, 3, 2, 1, 8],
            [4, 5, 6, 7, 8],
            [0, 1, 5, 4, 8],
            [1, 2, 6, 5, 8],
            [2, 3, 7, 6, 8],
            [3, 0, 4, 7, 8],
        ],
    }[kind]
    points = np.vstack([corners, [[0.5, 0.5, 0.5]]])
    return meshio.Mesh(PLACE + (points - 0.5) * SIDES @ TURN.T, [(kind, np.array(cells))])


@pytest.mark.parametrize("kind", ["hexahedron", "wedge", "tetra", "pyramid"])
def test_a_box_of_any_solid_cells_weighs_what_it_should(kind):
    found = fem.mass_of_mesh(box_of(kind), 2.0)
    J = found.mass / 12 * ((SIDES**2).sum() - SIDES**2)
    assert found.mass == pytest.approx(2.0)
    assert found.center == pytest.approx(PLACE)
    assert found.inertia == pytest.approx(TURN @ np.diag(J) @ TURN.T, abs=1e-12)


def test_a_surface_gives_the_same_as_its_volume_also_turned_inside_out_and_in_millimetres():
    box = fem.shapes.Box(1000 * SIDES, rotation=TURN, offset=1000 * PLACE)
    expected = fem.mass_of_mesh(box_of("hexahedron"), 2.0)
    for faces in (box.faces, [block[:, ::-1] for block in box.faces]):
        found = fem.mass_of_mesh(fem.shapes.Mesh(box.points, faces), 2.0, scale=1e-3)
        assert found.mass == pytest.approx(expected.mass)
        assert found.inertia == pytest.approx(expected.inertia, rel=1e-9, abs=1e-9)


def test_a_fine_sphere_comes_near_the_ball():
    ball = fem.shapes.Sphere(0.3, resolution=128)
    found = fem.mass_of_mesh(fem.shapes.Mesh(ball.points, ball.faces), 1000.0)
    mass = 1000 * 4 / 3 * np.pi * 0.3**3
    assert found.mass == pytest.approx(mass, rel=2e-3) and found.mass < mass
    assert np.diag(found.inertia) == pytest.approx(0.4 * found.mass * 0.3**2 * np.ones(3), rel=2e-3)


def test_a_body_from_a_file_moves_as_the_box_it_is(tmp_path):
    mesh = box_of("hexahedron")
    path = tmp_path / "box.vtu"
    meshio.write(path, mesh)
    body = fem.RigidBody.from_mesh(path, 2.0, name="box")
    assert body.position == pytest.approx(PLACE)
    shape = body.shapes[0]  # six faces, two triangles each, around the centre of mass
    assert sum(map(len, shape.faces)) == 12 and shape.points[:8].mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    stl = tmp_path / "box.stl"
    box = fem.shapes.Box(SIDES, rotation=TURN, offset=PLACE)
    triangles = [np.vstack([b[:, [0, 1, 2]], b[:, [0, 2, 3]]]) for b in box.faces]
    meshio.write(stl, meshio.Mesh(box.points, [("triangle", np.vstack(triangles))]))
    drawn = fem.RigidBody.from_mesh(stl, 2.0, name="drawn")
    assert drawn.inertia == pytest.approx(body.inertia, abs=1e-6)  # STL files hold single precision
    assert drawn.shapes[0].points.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)
    assert fem.RigidBody.from_mesh(stl, 2.0, position=[0, 0, 1]).position.tolist() == [0, 0, 1]


@pytest.mark.parametrize("cell", ["hexahedron20", "tetra10", "wedge15"])
def test_curved_cells_weigh_what_the_solid_body_of_them_weighs_and_are_drawn_curved(cell):
    def pipe(x):  # a quarter, radii 1 and 2
        r, a = 1 + x[:, 0], np.pi / 2 * x[:, 1]
        return np.column_stack([r * np.cos(a), r * np.sin(a), x[:, 2]])

    mesh = fem.block_mesh([1, 1, 1], [2, 4, 1], cell=cell, form=pipe)
    found = fem.mass_of_mesh(mesh, 3.0)
    body = fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.3, 3.0))
    assert found.mass == pytest.approx(body.mass, rel=1e-12)
    # quadratic sides of an arc of 22.5 degrees: 1e-4 of the volume, where chords would miss 2.5 %
    assert found.mass == pytest.approx(3.0 * 0.75 * np.pi, rel=2e-4)
    assert found.center[:2] == pytest.approx(28 / (9 * np.pi) * np.ones(2), rel=2e-4)
    polar = 3.0 * np.pi / 8 * 15 - found.mass * (found.center[:2] ** 2).sum()
    assert found.inertia[2, 2] == pytest.approx(polar, rel=2e-3)
    shape = fem.RigidBody.from_mesh(mesh, 3.0, name="pipe").shapes[0]
    used = np.unique(np.concatenate([f.ravel() for f in shape.faces]))
    assert len(used) == len(np.unique(np.concatenate([f.ravel() for f in mesh.boundary().values()])))


def test_a_mesh_with_faces_of_some_groups_alone_is_drawn_whole():
    """Meshing programs write the faces of named groups: those are not all there are."""
    mesh = fem.block_mesh([1, 1, 1], [2, 2, 2], cell="tetra")
    left = mesh.faces_of("x0")["triangle"]
    part = fem.Mesh(
        mesh.points, {"tetra": mesh.cells["tetra"], "triangle": left}, {"left": {"triangle": range(len(left))}}
    )
    shape = fem.RigidBody.from_mesh(part, 1.0).shapes[0]
    corners = [shape.points[f] for f in shape.faces]
    area = sum(0.5 * np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1).sum() for c in corners)
    assert area == pytest.approx(6.0)


def refused():
    box = fem.shapes.Box(SIDES)
    block = box.faces[0]
    yield [block[1:]], "edges have no face on one side: the surface is not closed"
    yield [np.vstack([block[:1, ::-1], block[1:]])], "turned differently"


@pytest.mark.parametrize("faces, words", list(refused()))
def test_surfaces_that_hold_no_volume_are_rejected(faces, words):
    with pytest.raises(fem.ParameterError, match=words):
        fem.mass_of_mesh(fem.shapes.Mesh(fem.shapes.Box(SIDES).points, faces), 1.0)


def test_what_is_no_mesh_is_reported(tmp_path):
    with pytest.raises(fem.ParameterError, match=r"mesh = .*nothing\.stl.*no mesh"):
        fem.mass_of_mesh(tmp_path / "nothing.stl", 1.0)
    line = meshio.Mesh(np.eye(3), [("line", np.array([[0, 1]]))])
    with pytest.raises(fem.ParameterError, match=r"mesh = .*line.*triangles"):
        fem.mass_of_mesh(line, 1.0)
