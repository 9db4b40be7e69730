"""Meshes: cells of VTK, groups of every format, quality, and errors."""

import itertools
from math import factorial

import meshio
import numpy as np
import pytest
from mesh_texts import ABAQUS, TETRAS_MSH41, hexa20_msh22

import fem_mbs as fem
from fem_mbs.mesh.cells import CELLS, FACES


@pytest.mark.parametrize("cell", [*CELLS.values(), *FACES.values()], ids=lambda cell: cell.name)
def test_shape_functions_are_one_at_their_node_and_reproduce_the_place(cell):
    assert cell.shapes(cell.points) == pytest.approx(np.eye(cell.nn), abs=1e-13)
    xi = cell.stiffness.points
    assert cell.shapes(xi) @ cell.points == pytest.approx(xi, abs=1e-14)
    found = np.einsum("qja,ai->qij", cell.gradients(xi), cell.points)
    assert found == pytest.approx(np.broadcast_to(np.eye(xi.shape[1]), found.shape), abs=1e-14)


def simplex_integral(powers):
    """∫ of a monomial over the unit simplex."""
    return np.prod([factorial(p) for p in powers]) / factorial(sum(powers) + len(powers))


@pytest.mark.parametrize(
    ("rule", "degree"),
    [
        (CELLS["tetra"].mass, 2), (CELLS["tetra10"].stiffness, 2), (CELLS["tetra10"].mass, 5),
        (FACES[3].stiffness, 2), (FACES[6].stiffness, 4),
    ],
)  # fmt: skip
def test_rules_integrate_polynomials_of_their_degree_and_no_higher(rule, degree):
    d = rule.points.shape[1]

    def error(total):
        monomials = [p for p in itertools.product(range(total + 1), repeat=d) if sum(p) == total]
        return max(
            abs(rule.weights @ np.prod(rule.points ** np.array(p), axis=1) - simplex_integral(p)) for p in monomials
        )

    assert max(error(total) for total in range(degree + 1)) < 1e-15
    assert error(degree + 1) > 1e-6


@pytest.mark.parametrize("cell", list(CELLS.values()), ids=lambda cell: cell.name)
def test_faces_look_outwards_and_close_the_cell(cell):
    normals = []
    for face in cell.faces:
        rule = FACES[len(face)].stiffness
        J = rule.jacobians(cell.points[face][None])[0]
        normal = rule.weights @ np.cross(J[..., 0], J[..., 1])
        out = cell.points[face].mean(axis=0) - cell.points[: cell.n_corners].mean(axis=0)
        assert normal @ out > 0
        normals.append(normal)
    assert np.sum(normals, axis=0) == pytest.approx(np.zeros(3), abs=1e-14)


@pytest.mark.parametrize("cell", list(CELLS))
def test_a_block_of_any_cells_has_its_volume_sides_and_area(cell):
    mesh = fem.block_mesh([2, 1, 0.5], [2, 2, 1], cell=cell)
    assert mesh.volume == pytest.approx(1.0)
    area = 0.0
    for kind, rows in mesh.boundary().items():
        rule = next(face for face in FACES.values() if face.name == kind).stiffness
        J = rule.jacobians(mesh.points[rows])
        area += (np.linalg.norm(np.cross(J[..., 0], J[..., 1]), axis=-1) @ rule.weights).sum()
    assert area == pytest.approx(2 * (2 * 1 + 2 * 0.5 + 1 * 0.5))
    assert (mesh.points[mesh.nodes_of("x1"), 0] == 2.0).all() and not len(mesh.orphans)


def test_groups_of_gmsh_come_by_name_from_both_versions_of_its_format(tmp_path):
    path = tmp_path / "brick.msh"
    path.write_text(hexa20_msh22())
    brick = fem.read_mesh(path)
    # wrong order of the middle nodes would be another volume, or cells turned inside out
    assert brick.volume == pytest.approx(2.0) and sorted(brick.groups) == ["body", "left", "right"]
    assert (brick.points[brick.nodes_of("right"), 0] == 2).all() and len(brick.nodes_of("right")) == 8
    path.write_text(TETRAS_MSH41)
    part = fem.read_mesh(path, units="mm")
    assert part.volume == pytest.approx(1 / 6 + 1 / 3) and list(part.solids_of("part")) == ["tetra"]
    assert part.faces_of("foot")["triangle"].tolist() == [[0, 2, 1]] and part.orphans.tolist() == [5]


def test_sets_of_abaqus_and_numbers_of_vtu_are_groups(tmp_path):
    path = tmp_path / "brick.inp"
    path.write_text(ABAQUS)
    mesh = fem.read_mesh(path)
    assert mesh.nodes_of("bottom").tolist() == [0, 1, 2, 3] and len(mesh.nodes_of("brick")) == 8
    assert {kind: len(rows) for kind, rows in mesh.faces_of("bottom").items()} == {"quad": 1}
    block = fem.block_mesh([1, 1, 1], [2, 1, 1], cell="wedge")
    cells = [("wedge", block.cells["wedge"])]
    meshio.write(
        tmp_path / "two.vtu", meshio.Mesh(block.points, cells, cell_data={"material": [np.array([1, 1, 2, 2])]})
    )
    two = fem.read_mesh(tmp_path / "two.vtu")
    assert sorted(two.groups) == ["material 1", "material 2"] and two.volume == pytest.approx(1.0)
    half = fem.SolidBody(two, fem.SolidMaterial(1.0, 0.3, 8.0), group="material 2")
    assert half.mass == pytest.approx(4.0) and len(half.nodes) < len(two.points)


def test_a_file_that_makes_meshio_leave_the_process_is_rejected(tmp_path):
    path = tmp_path / "part.vtk"
    path.write_text("no header\n")
    with pytest.raises(fem.ParameterError, match=r"part\.vtk.*meshio.*Illegal VTK header"):
        fem.read_mesh(path)
    with pytest.raises(fem.ParameterError, match=r"missing\.msh.*no such file"):
        fem.read_mesh(tmp_path / "missing.msh")


def test_a_missing_group_is_reported_with_those_there_are():
    mesh = fem.block_mesh([1, 1, 1], [1, 1, 1])
    with pytest.raises(fem.ParameterError, match=r"group = 'left'.*x0, x1, y0, y1, z0, z1"):
        mesh.nodes_of("left")
    with pytest.raises(fem.ParameterError, match=r"group = .*no groups"):
        fem.Mesh(mesh.points, mesh.cells).nodes_of("left")
    with pytest.raises(fem.ParameterError, match="is taken"):
        mesh.with_group("x0", lambda x: x[:, 0] > 0)
    assert mesh.with_group("top", lambda x: x[:, 2] > 0.9).nodes_of("top").tolist() == mesh.nodes_of("z1").tolist()


def test_bad_cells_are_named_with_number_and_place():
    mesh = fem.block_mesh([3, 1, 1], [3, 1, 1], cell="hexahedron")
    cells = mesh.cells["hexahedron"].copy()
    cells[1] = cells[1][[4, 5, 6, 7, 0, 1, 2, 3]]
    bad = fem.Mesh(mesh.points, {"hexahedron": cells})
    with pytest.raises(fem.ParameterError, match=r"hexahedron 1 at \(1\.5, 0\.5, 0\.5\) m"):
        bad.check_cells()
    with pytest.raises(fem.ParameterError, match=r"mesh = .*1 cells of type hexahedron.*number 1"):
        fem.SolidBody(bad, fem.SolidMaterial(1.0, 0.3, 1.0))
    every = fem.Mesh(mesh.points, {"hexahedron": mesh.cells["hexahedron"][:, [4, 5, 6, 7, 0, 1, 2, 3]]})
    with pytest.raises(fem.ParameterError, match=r"cells = .*numbered"):
        every.check_cells()


def test_a_quadratic_cell_bent_too_far_is_found_although_its_corners_are_sound():
    mesh = fem.block_mesh([1, 1, 1], [1, 1, 1], cell="hexahedron20")
    points = mesh.points.copy()
    points[mesh.cells["hexahedron20"][0, 8], 0] = 0.95  # middle of an edge at its end
    with pytest.raises(fem.ParameterError, match=r"cells = .*flat"):
        fem.Mesh(points, mesh.cells).check_cells()


def test_what_no_solid_element_is_for_is_rejected_when_a_body_is_made_of_it():
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]]
    mesh = fem.Mesh(points, {"pyramid": [[0, 1, 2, 3, 4]], "quad": [[0, 1, 2, 3]]}, {"foot": {"quad": [0]}})
    with pytest.raises(fem.ParameterError, match=r"cells = .*1 pyramid.*tetra10"):
        fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.3, 1.0))
    with pytest.raises(fem.ParameterError, match=r"group = .*foot.*no solid cells.*1 quad"):
        fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.3, 1.0), group="foot")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells": {"tetra": [[0, 1, 2, 9]]}}, "not between 0 and 4"),
        ({"cells": {"tetra": [[0, 1, 2]]}}, r"cells = .*3 points.* 4"),
        ({"points": [[0, 0], [1, 0], [0, 1], [1, 1]]}, "points"),
        ({"groups": {"a": {"tetra": [3]}}}, "number of type 'tetra'|group"),
    ],
)
def test_arrays_that_make_no_mesh_are_rejected(change, message):
    given = {"points": np.vstack([np.zeros(3), np.eye(3)]), "cells": {"tetra": [[0, 1, 2, 3]]}} | change
    with pytest.raises(fem.ParameterError, match=message):
        fem.Mesh(**given)


def test_a_mesh_weighs_what_mass_of_mesh_says_and_makes_a_rigid_body():
    mesh = fem.block_mesh([1, 2, 3], [2, 2, 2], cell="tetra10")
    found = fem.mass_of_mesh(mesh, 2.0)
    assert found.mass == pytest.approx(12.0) and found.center == pytest.approx([0.5, 1.0, 1.5])
    body = fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.3, 2.0))
    assert body.mass == pytest.approx(found.mass)
    assert fem.RigidBody.from_mesh(mesh, 2.0).mass == pytest.approx(12.0)
