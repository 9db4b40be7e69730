"""Shapes enclose what they claim, and the skin of a system follows its nodes and beams."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ParameterError
from fem_mbs.results.drawing.skin import helix, triangulate
from fem_mbs.rotations import as_matrix, exp
from fem_mbs.shapes import Box, Cylinder, Ellipsoid, Mesh, Patch, Sphere, matrices


def enclosed_volume(shape):
    """Volume inside a closed surface, by the divergence theorem; positive if its faces look outwards."""
    total = 0.0
    for block in shape.faces:
        a, b, c = (shape.points[block[:, i]] for i in range(3))
        total += np.einsum("ij,ij->", a, np.cross(b, c)) / 6
        if block.shape[1] == 4:
            a, b, c = (shape.points[block[:, i]] for i in (0, 2, 3))
            total += np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    return total


def test_a_box_encloses_its_volume_and_shows_twelve_edges():
    box = Box([1.0, 2.0, 3.0], offset=[4.0, 5.0, 6.0], rotation=[0.3, -0.2, 1.1])
    assert enclosed_volume(box) == pytest.approx(6.0, rel=1e-13)  # exact up to round-off
    assert len(box.edges) == 12


def test_a_cylinder_encloses_the_volume_of_its_polygonal_prism():
    p1, p2, n = np.array([0.1, 0.2, 0.3]), np.array([1.0, -0.5, 0.7]), 32
    polygon = 0.5 * n * np.sin(2 * np.pi / n) * 0.2**2
    volume = enclosed_volume(Cylinder(p1, p2, 0.2, resolution=n))
    assert volume == pytest.approx(polygon * np.linalg.norm(p2 - p1), rel=1e-13)  # exact up to round-off


def test_an_ellipsoid_is_a_stretched_sphere_and_a_body_has_its_inertia():
    shape, a = Ellipsoid([0.1, 0.2, 0.4]), np.array([0.1, 0.2, 0.4])
    assert enclosed_volume(shape) == pytest.approx(0.008 * enclosed_volume(Sphere(1.0)), rel=1e-13)  # round-off
    body = fem.RigidBody.ellipsoid(3.0, a)
    # the same of a fine mesh, whose facets are inscribed: second order
    mesh = Ellipsoid(a, resolution=96)
    found = fem.mass_of_mesh(mesh, 3.0 / (4 / 3 * np.pi * a.prod()))
    assert body.inertia == pytest.approx(found.inertia, rel=6e-3, abs=1e-12)
    with pytest.raises(ParameterError, match="semi_axes"):
        fem.RigidBody.ellipsoid(3.0, [0.1, 0.2, 0.0])


def test_a_finer_sphere_encloses_more_and_tends_to_the_volume_of_the_ball():
    error = [1 - enclosed_volume(Sphere(0.5, resolution=n)) / (np.pi / 6) for n in (24, 48)]
    assert error[0] / error[1] == pytest.approx(4.0, rel=0.02)  # inscribed facets: second order, next term 1 %
    assert 0 < error[1] < 0.01


def test_points_of_a_sphere_lie_on_it_and_great_circles_are_closed():
    sphere = Sphere(0.3, offset=[1, 2, 3])
    assert np.linalg.norm(sphere.points - [1, 2, 3], axis=1) == pytest.approx(0.3, rel=1e-14)  # round-off
    assert (np.bincount(sphere.edges.ravel())[np.unique(sphere.edges)] % 2 == 0).all()


def test_edges_of_a_surface_with_repeated_points_are_those_of_the_joined_one():
    box = Box([1, 1, 1])
    triangles = np.vstack([box.faces[0][:, [0, 1, 2]], box.faces[0][:, [0, 2, 3]]])
    soup = Mesh(box.points[triangles].reshape(-1, 3), [np.arange(36).reshape(12, 3)])
    assert len(soup.edges) == 12  # the diagonals of the faces are not edges: the faces are flat there


def test_a_mesh_file_in_millimetres_is_read_in_metres(tmp_path):
    import meshio

    box = Box([20.0, 30.0, 40.0])
    meshio.write(tmp_path / "part.vtk", meshio.Mesh(box.points, [("quad", box.faces[0])]))
    part = Mesh.read(tmp_path / "part.vtk", scale=1e-3)
    assert enclosed_volume(part) == pytest.approx(24e-6, rel=1e-12)  # exact up to round-off


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Sphere(-0.1), "Sphere: radius = -0.1 m.*> 0"),
        (lambda: Box([1, 0, 1]), "Box: size .*> 0"),
        (lambda: Cylinder([0, 0, 0], [0, 0, 0], 1.0), "Cylinder: p2 .*same point"),
        (lambda: Patch([1, 1], color="bleu"), r"Patch: color = 'bleu' .* blue"),
        (lambda: Mesh([[0, 0, 0]], [[0, 1, 2]]), "Mesh: faces = 2 .*1 points"),
    ],
)
def test_impossible_shapes_are_rejected_with_the_parameter_named(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_triangles_of_a_concave_section_cover_its_area_and_do_not_overlap():
    y, z, tw, tf = 0.1, 0.2, 0.01, 0.015  # I-section
    half = [(-y / 2, -z / 2), (y / 2, -z / 2), (y / 2, -z / 2 + tf), (tw / 2, -z / 2 + tf)]
    outline = np.array(half + [(tw / 2, z / 2 - tf), (y / 2, z / 2 - tf), (y / 2, z / 2), (-y / 2, z / 2)])
    outline = np.vstack(
        [outline, [(-y / 2, z / 2 - tf), (-tw / 2, z / 2 - tf), (-tw / 2, -z / 2 + tf), (-y / 2, -z / 2 + tf)]]
    )
    triangles = outline[triangulate(outline)]
    u, v = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    areas = 0.5 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(2 * y * tf + (z - 2 * tf) * tw, rel=1e-12)  # exact up to round-off


def test_a_beam_between_two_poses_on_a_circle_is_drawn_as_that_circle():
    radius, angle, s = 2.0, 1.3, np.linspace(0, 1, 7)
    x_B = radius * np.array([np.sin(angle), 1 - np.cos(angle), 0.0])
    x, R = helix(np.zeros(3), np.eye(3), x_B, exp([0, 0, angle]), s)
    circle = radius * np.stack([np.sin(s * angle), 1 - np.cos(s * angle), 0 * s], axis=1)
    assert x == pytest.approx(circle, abs=1e-14)  # round-off: a circle is a helix
    assert R[-1] == pytest.approx(exp([0, 0, angle]), abs=1e-14)


def test_a_nearly_straight_beam_is_drawn_as_accurately_as_a_bent_one():
    for angle in (0.0, 1e-9, 1e-5, 0.9999e-2, 1.0001e-2):
        x_B = np.array([np.sinc(angle / np.pi), 0.5 * angle * np.sinc(0.5 * angle / np.pi) ** 2, 0.0])
        x, _ = helix(np.zeros(3), np.eye(3), x_B, exp([0, 0, angle]), [0.5, 1.0])
        assert x[1] == pytest.approx(x_B, abs=1e-12)  # series and closed form meet at 1e-2 with 1e-12


def test_rotation_matrices_of_quaternions_agree_with_those_of_the_kernels():
    rng = np.random.default_rng(5)
    q = rng.normal(size=(20, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    assert matrices(q) == pytest.approx(np.array([as_matrix(row) for row in q]), abs=1e-15)  # round-off
