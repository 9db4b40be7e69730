"""Decks of Abaqus and Nastran: included files, coordinate systems, lists, marks, and errors and warnings."""

import warnings

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.mesh.nastran_cards import listed

CUBE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
NODES = "".join(f"{k}, {x}, {y}, {z}\n" for k, (x, y, z) in enumerate(CUBE, 1))
HEXA = "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, 1,2,3,4,5,6,7,8\n"
DECK = f"*NODE\n{NODES}{HEXA}"
GRIDS = "".join(f"GRID,{k},,{x}.,{y}.,{z}.\n" for k, (x, y, z) in enumerate(CUBE, 1))
CHEXA = "CHEXA,1,1,1,2,3,4,5,6,+\n+,7,8\n"
CORNER = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
MIDDLES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
TETRA10 = [*map(np.array, CORNER), *(0.5 * np.add(CORNER[a], CORNER[b]) for a, b in MIDDLES)]
ASSEMBLY = f"""*PART, NAME=P
{DECK}*END PART
*ASSEMBLY, NAME=A
*INSTANCE, NAME=I, PART=P
*END INSTANCE
*INSTANCE, NAME=J, PART=P
5., 0., 0.
*END INSTANCE
"""


def read(path, text):
    path.write_bytes(text.encode())
    return fem.read_mesh(path, units="m")


def group(tmp_path, text, name="A"):
    return read(tmp_path / "part.inp", text).nodes_of(name).tolist()


# --- Abaqus -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        DECK.replace("*NODE\n", "*NODE,\n"),
        DECK.replace("\n", "\r\n") + "\x1a",
        DECK + "\ufeff*NSET, NSET=A\n1\n",
        DECK.replace("*NODE\n", "*NODE\n1, 0, 0, 0\n"),
        DECK.replace(" 1, 0, 0\n", " 1.D0, 0.0d+00, 0\n"),
        "*SYSTEM\n5,5,5, 5,6,5\n4,5,5\n" + DECK,
        "*NODE, SYSTEM=C\n" + NODES.replace("1, 1, 0", "1.4142135623730951, 45, 0")
        .replace("1, 1, 1", "1.4142135623730951, 45, 1").replace("0, 1, ", "1, 90, ") + HEXA,
    ],
    ids=["comma at the end", "ends of DOS", "a mark inside", "a node twice", "exponents", "system", "cylindrical"],
)  # fmt: skip
def test_a_cube_in_any_spelling_of_abaqus_has_its_volume(tmp_path, text):
    mesh = read(tmp_path / "part.inp", text)
    assert mesh.volume == pytest.approx(1.0) and len(mesh.points) == 8


@pytest.mark.parametrize(
    "text, members",
    [
        ("*NSET, NSET=A,\n1, 7\n", [0, 6]),
        ("*NSET, NSET=A,\n** why\nGENERATE\n1, 7, 3\n", [0, 3, 6]),
        ("*NSET, NSET=A, GENERATE\n1, 2\n7, 8, 1\n", [0, 1, 6, 7]),
        ("*ELEMENT, TYPE=S3, ELSET=T\n2, 5,6,7\n*NSET, NSET=A, ELSET=T\n", [4, 5, 6]),
    ],
)
def test_sets_are_read_as_abaqus_allows(tmp_path, text, members):
    assert group(tmp_path, DECK + text) == members


def test_a_set_of_the_nodes_of_elements_is_that_of_the_instance_it_names(tmp_path):
    assert group(tmp_path, ASSEMBLY + "*NSET, NSET=A, ELSET=ALL, INSTANCE=J\n*END ASSEMBLY\n") == [*range(8, 16)]
    assert group(tmp_path, ASSEMBLY + "*NSET, NSET=A, ELSET=J.ALL\n*END ASSEMBLY\n") == [*range(8, 16)]


def test_connectors_between_nodes_of_instances_do_not_matter_to_the_mesh(tmp_path):
    text = ASSEMBLY + "*ELEMENT, TYPE=CONN3D2, ELSET=W\n1, I.5, J.1\n*END ASSEMBLY\n"
    assert read(tmp_path / "part.inp", text).volume == pytest.approx(2.0)


def test_labels_of_the_assembly_that_stand_for_no_node_are_warned_of(tmp_path):
    with pytest.warns(UserWarning, match=r"set 'A'.* 1 nodes.* 1 first"):
        read(tmp_path / "part.inp", ASSEMBLY + "*NSET, NSET=A\n1,\n*END ASSEMBLY\n")


def test_files_that_an_input_file_names_are_read_where_they_are_next_to_it_or_below(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "nodes.inc").write_text(NODES)
    (tmp_path / "elements.inc").write_text("** one\n1, 1,2,3,4,5,6,7,8\n")
    whole = read(tmp_path / "part.inp", f"*NODE\n*Include, input=sub\\nodes.inc\n{HEXA}")
    parts = "*NODE, INPUT=sub/nodes.inc\n*ELEMENT, TYPE=C3D8, INPUT=elements.inc\n"
    assert whole.volume == read(tmp_path / "part.inp", parts).volume == pytest.approx(1.0)
    (tmp_path / "sub" / "bad.inc").write_text("*NODE\n1, 2, x\n")
    (tmp_path / "secret.inc").write_text(NODES)
    for name, words in [
        ("nowhere.inc", r"line 2, '\*INCLUDE.*'nowhere.inc'"),
        ("sub/bad.inc", r"line 1 of 'sub/bad.inc', '\*NODE'"),
        ("part.inp", r"path = .*includes itself"),
    ]:
        with pytest.raises(fem.ParameterError, match=words):
            read(tmp_path / "part.inp", f"*NODE\n*INCLUDE, INPUT={name}\n{HEXA}")
    with pytest.raises(fem.ParameterError, match=r"path = .*outside"):
        read(tmp_path / "sub" / "part.inp", f"*NODE\n*INCLUDE, INPUT=../secret.inc\n{HEXA}")


@pytest.mark.parametrize(
    "text, words",
    [
        (DECK.replace("*NODE\n", "*NODE\n1, 0, 0, -1\n"), r"path = .*node 1 twice"),
        (
            f"*NODE\n{NODES}*ELEMENT, TYPE=C3D8\n1, 1,2,3,4,5,6,7\n2, 1,2,3,4,5,6,7,8,1\n",
            r"path = .*each element, as 1",
        ),
        (DECK + "*ELEMENT, TYPE=COH3D8\n2, 1,2,3,4,5,6,7,8\n", "COH3D8.*not supported.*C3D4, C3D5"),
        (DECK + "*NSET, NSET=A, GENERATE\n7, 1, -2\n", "GENERATE from 7 to 1 by -2"),
        (ASSEMBLY.replace("5., 0., 0.", "5., 0., 0.\n1,1,1, 1,1,1, 90."), "instance J.*direction"),
        ("*NODE, SYSTEM=S\n" + NODES + HEXA, "SYSTEM=S.*not supported"),
        ("*SYSTEM\n0,0,0, 0,0,0\n" + DECK, r"path = .*without a direction"),
        (DECK + "*NGEN\n1, 3\n", r"path = .*write nodes and elements"),
    ],
)
def test_decks_of_abaqus_that_cannot_be_read_are_rejected_with_the_cause(tmp_path, text, words):
    with pytest.raises(fem.ParameterError, match=words):
        read(tmp_path / "part.inp", text)


# --- Nastran ----------------------------------------------------------------------------------------------------------

RECTANGULAR = "CORD2R,5,,1.,0.,0.,1.,0.,1.,+\n+,2.,1.,0.\n"
ON_GRIDS = "GRID,101,,1.,0.,0.\nGRID,102,,1.,0.,1.\nGRID,103,,2.,1.,0.\nCORD1R,5,101,102,103\n"
CYLINDER = "CORD2C,5,,0.,0.,0.,0.,0.,1.,+\n+,1.,0.,0.\n"
IN_FIVE = GRIDS.replace(",,", ",5,")
POLAR = "".join(
    f"GRID,{k},5,{np.hypot(x, y):.9f},{np.degrees(np.arctan2(y, x)):.9f},{z}.\n" for k, (x, y, z) in enumerate(CUBE, 1)
)


@pytest.mark.parametrize(
    "text",
    [
        RECTANGULAR + IN_FIVE,
        ON_GRIDS + IN_FIVE,
        CYLINDER + POLAR,
        RECTANGULAR + "GRDSET,,5\n" + GRIDS,
        "CORD2R,5,6,1.,0.,0.,1.,0.,1.,+\n+,2.,1.,0.\nCORD2R,6,,1.,0.,0.,1.,1.,0.,+\n+,2.,0.,0.\n" + IN_FIVE,
        GRIDS + "GRID,1,,0.,0.,0.\n",
        GRIDS + "SPC1,1,123,ALL\n",
    ],
    ids=["rectangular", "on grids", "cylindrical", "default", "in one another", "a grid twice", "supports"],
)
def test_a_cube_in_any_coordinate_system_of_nastran_has_its_volume(tmp_path, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read(tmp_path / "part.bdf", "BEGIN BULK\n" + text + CHEXA).volume == pytest.approx(1.0)


def test_places_of_grids_are_turned_and_shifted_from_their_system_into_the_basic_one(tmp_path):
    system = "CORD2R,5,,1.,2.,3.,2.,2.,3.,+\n+,1.,3.,3.\n"  # z along x, x along y, y along z
    mesh = read(tmp_path / "part.bdf", system + IN_FIVE + CHEXA)
    assert mesh.points == pytest.approx(np.array(CUBE)[:, [2, 0, 1]] + [1.0, 2.0, 3.0])
    sphere = "CORD2S,5,,0.,0.,0.,0.,0.,1.,+\n+,1.,0.,0.\n"
    points = "GRID,1,5,0.,0.,0.\nGRID,2,5,1.,90.,0.\nGRID,3,5,1.,90.,90.\nGRID,4,5,1.,0.,0.\nCTETRA,1,1,1,2,3,4\n"
    assert read(tmp_path / "part.bdf", sphere + points).points == pytest.approx(np.array(CORNER, float), abs=1e-12)


def test_continuations_belong_to_the_card_whose_mark_they_have(tmp_path):
    top = "".join(f"GRID,{k},,{x}.,{y}.,2.\n" for k, (x, y, _) in enumerate(CUBE[:4], 9))
    cells = "CHEXA,1,1,1,2,3,4,5,6,+A\nCHEXA,2,1,5,6,7,8,9,10,+B\n+A,7,8\n+B,11,12\n"
    assert read(tmp_path / "part.bdf", GRIDS + top + cells).volume == pytest.approx(2.0)


def test_empty_fields_at_the_end_of_a_line_are_none(tmp_path):
    """Tables that are written as text have commas there."""
    text = (GRIDS + "CHEXA,1,1,1,2,3,4,5,6\n,7,8\n").replace("\n", ",,,,\n")
    assert read(tmp_path / "part.bdf", text).volume == pytest.approx(1.0)


def test_lines_of_free_fields_that_continue_past_the_tenth_are_one_card(tmp_path):
    grids = "".join(f"GRID,{k},,{x:.1f},{y:.1f},{z:.1f}\n" for k, (x, y, z) in enumerate(TETRA10, 1))
    mesh = read(tmp_path / "part.bdf", grids + "CTETRA,1,1," + ",".join(map(str, range(1, 11))) + "\n")
    assert list(mesh.cells) == ["tetra10"] and mesh.volume == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    "text, labels",
    [
        ("1 2 9", [1, 2, 9]),
        ("1 THRU 4", [1, 2, 3, 4]),
        ("1 thru 7 by 3 9", [1, 4, 7, 9]),
        ("1 THRU 8 EXCEPT 2 4 THRU 6 11", [1, 3, 7, 8, 11]),
    ],
)
def test_lists_of_labels_are_those_that_nastran_means(text, labels):
    assert listed(text.split()) == labels


def test_bulk_data_of_included_files_are_read_and_messages_name_the_file(tmp_path):
    (tmp_path / "grids.inc").write_text(GRIDS)
    deck = "BEGIN BULK\nINCLUDE 'grids.inc' $ places\n" + CHEXA
    assert read(tmp_path / "part.bdf", deck).volume == pytest.approx(1.0)
    (tmp_path / "grids.inc").write_text(GRIDS.replace("GRID,3,,1.", "GRID,3,,one"))
    with pytest.raises(fem.ParameterError, match=r"line 3 of 'grids.inc', 'GRID,3,,one"):
        read(tmp_path / "part.bdf", deck)


@pytest.mark.parametrize(
    "text, words",
    [
        (IN_FIVE, "coordinate system 5.*not there"),
        ("CORD2R,5,5,0.,0.,0.,0.,0.,1.,+\n+,1.,0.,0.\n" + IN_FIVE, "coordinate system 5.*itself"),
        ("CORD2R,5,,0.,0.,0.,0.,0.,1.,+\n+,0.,0.,2.\n" + IN_FIVE, "three points.*line"),
        (GRIDS + "GRID,1,,0.,0.,-1.\n", r"path = .*node 1 twice"),
        (GRIDS + "BEGIN SUPER=1\n", r"path = .*one part"),
    ],
)
def test_bulk_data_whose_places_are_not_known_are_rejected_with_the_cause(tmp_path, text, words):
    with pytest.raises(fem.ParameterError, match=words):
        read(tmp_path / "part.bdf", text + CHEXA)


def test_supports_that_cannot_be_read_cost_their_group_alone(tmp_path):
    with pytest.warns(UserWarning, match=r"SPC1 1 .*no group"):
        mesh = read(tmp_path / "part.bdf", GRIDS + CHEXA + "SPC1,1,123,ALL\nSPC1,2,123,1,THRU,3\n")
    assert mesh.nodes_of("SPC1 2").tolist() == [0, 1, 2] and mesh.volume == pytest.approx(1.0)
