"""Matrices of other programs for superelements: read as they were written, and bad files are reported by line."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.arguments.checked import Named
from fem_mbs.elements.superelements.matrix_files import read_matrix_file
from fem_mbs.elements.superelements.reduce_mesh import _matrices_of

ENDS = {"left": "x0", "right": "x1"}
STEEL = fem.SolidMaterial(E=210e9, nu=0.3, density=7850)


@pytest.fixture(scope="module")
def rod():
    """M, K, labelled points and labels of the ends of a rod of eight tetrahedra and more, and its reduction."""
    body = fem.SolidBody(fem.block_mesh([0.3, 0.02, 0.02], [3, 1, 1], cell="hexahedron"), STEEL)
    model = fem.Model()
    model.add(body)
    M, K = _matrices_of(model, body)
    labels = 10 * np.arange(len(body.nodes))[::-1] + 7  # in another order than the nodes
    points = {int(label): x for label, x in zip(labels, body.reference)}
    frames = {name: labels[body.node_numbers(group)] for name, group in ENDS.items()}
    plain = {name: body.node_numbers(group) for name, group in ENDS.items()}
    return M, K, labels, points, frames, fem.reduce_matrices(M, K, body.reference, plain, modes=4)


def entries(A, labels, lower):
    """Label, component, label, component, value of the entries, of one triangle in the order of labels."""
    A = A.tocoo()
    for i, j, value in zip(A.row, A.col, A.data):
        row, column = (int(labels[i // 3]), i % 3 + 1), (int(labels[j // 3]), j % 3 + 1)
        if value != 0.0 and (not lower or row >= column):
            yield row, column, value


def abaqus(path, A, labels, lower):
    lines = [f"{r[0]},{r[1]}, {c[0]},{c[1]}, {v:.17e}" for r, c, v in entries(A, labels, lower)]
    path.write_text("** assembled\n*MATRIX ASSEMBLE\n" + "\n".join(lines) + "\n")
    return path


def nastran(path, matrices, labels, wide=True):
    lines = ["$ punch"]
    for name, A in matrices.items():
        lines.append(f"DMIG    {name:8}       0       6       2       0")
        columns = {}
        for row, column, value in entries(A, labels, True):
            columns.setdefault(column, []).append((row, value))
        for column, rows in columns.items():
            if wide:
                lines.append(f"DMIG*   {name:16}{column[0]:16d}{column[1]:16d}")
                lines += [f"*       {r[0]:16d}{r[1]:16d}{v:16.9E}".replace("E", "D") for r, v in rows]
            else:
                lines += [f"DMIG,{name},{column[0]},{column[1]},,{r[0]},{r[1]},{v:.16e}" for r, v in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def frequencies(reduction):
    from scipy.linalg import eigh

    return np.sqrt(np.abs(eigh(reduction.K, reduction.M, eigvals_only=True)[6:]))


@pytest.mark.parametrize("lower", [True, False])
def test_matrices_of_abaqus_are_read_to_the_last_bit(rod, tmp_path, lower):
    M, K, labels, points, frames, plain = rod
    files = [abaqus(tmp_path / f"{name}.mtx", A, labels, lower) for name, A in (("mass", M), ("stiffness", K))]
    found = fem.reduce_matrices(*files, points, frames, modes=4)
    assert found.mass == pytest.approx(plain.mass, rel=1e-13)
    assert frequencies(found) == pytest.approx(frequencies(plain), rel=1e-10)  # another order of elimination


@pytest.mark.parametrize("wide, digits", [(True, 1e-8), (False, 1e-10)])
def test_dmig_is_read_to_the_digits_of_its_format(rod, tmp_path, wide, digits):
    """Both matrices in one file, found by their names."""
    M, K, labels, points, frames, plain = rod
    path = nastran(tmp_path / "rod.pch", {"KAAX": K, "MAAX": M}, labels, wide)
    found = fem.reduce_matrices(path, path, points, frames, modes=4)
    assert found.mass == pytest.approx(plain.mass, rel=digits)
    assert frequencies(found) == pytest.approx(frequencies(plain), rel=10 * digits)


def test_small_fields_and_short_exponents_are_read(tmp_path):
    """Two discs on a shaft that can be twisted."""
    path = tmp_path / "shaft.bdf"
    cards = ["DMIG    KAAX           0       6       1       0",
             "DMIG    KAAX           1       4               1       4   4.0+2",
             "               2       4  -4.0+2",
             "DMIG    KAAX           2       4               2       4   4.0+2"]  # fmt: skip
    cards.append("DMIG,MAAX,0,6,1,0")
    for node in (1, 2):
        for component, value in zip(range(1, 7), (2.0, 2.0, 2.0, 0.1, 0.05, 0.05)):
            cards.append(f"DMIG,MAAX,{node},{component},,{node},{component},{value}")
    path.write_text("\n".join(cards))
    shaft = fem.reduce_matrices(path, path, {1: [0, 0, 0], 2: [1, 0, 0]}, {"a": [1], "b": [2]}, modes=0)
    assert shaft.mass == 4.0 and shaft.K[3, 3] == pytest.approx(400.0) and shaft.K[3, 9] == pytest.approx(-400.0)


BAD = {
    "short": ("1,1,1,2.0\n", r"line 1, '1,1,1,2.0': needs node, component, node, component and value"),
    "internal": ("1,1,1,1,2.0\n-3,1,1,1,2.0\n", r"line 2.*node -3 is an internal one of Abaqus"),
    "component": ("1,8,1,1,2.0\n", r"component 8 of node 1 is no displacement"),
    "other": ("*NODE\n1,0,0,0\n", r"line 1, '\*NODE': is not a line of a matrix of Abaqus"),
    "empty": ("** nothing\n", r"has no entries"),
    "form": ("DMIG    KAAX           0       9       2       0\n", r"form 9 is neither 6 \(symmetric\) nor 1"),
    "complex": ("DMIG    KAAX           0       6       3       0\n", r"type 3 is not 1 or 2"),
    "headless": ("DMIG,KAAX,1,1,,1,1,2.0\n", r"matrix KAAX has no header line"),
    "number": ("DMIG,KAAX,0,6,2,0\nDMIG,KAAX,1,1,,1,1,x\n", r"line 2.*is not a line of DMIG"),
    "none": ("DMIG,KAAX,0,6,2,0\n", r"has 0 DMIG matrices"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_reported_with_the_line(rod, tmp_path, name):
    text, message = BAD[name]
    path = tmp_path / "bad.mtx"
    path.write_text(text)
    with pytest.raises(fem.ParameterError, match=message):
        fem.reduce_matrices(rod[0], path, {1: [0, 0, 0], 2: [1, 0, 0]}, {"a": [1], "b": [2]}, modes=0)


def test_labels_and_points_must_agree(rod, tmp_path):
    M, K, labels, points, frames, _ = rod
    files = [abaqus(tmp_path / f"{name}.mtx", A, labels, True) for name, A in (("m", M), ("k", K))]
    fewer = {label: x for label, x in points.items() if label != 7}
    with pytest.raises(fem.ParameterError, match=r"1 nodes.*points.*\[7\]|1 nodes.*\[7\]"):
        fem.reduce_matrices(*files, fewer, frames)
    with pytest.raises(fem.ParameterError, match=r"points = .*dict.*position"):
        fem.reduce_matrices(*files, list(points.values()), frames)
    with pytest.raises(fem.ParameterError, match=r"frames = .*not in points.*\[8\]"):
        fem.reduce_matrices(*files, points, {"left": [8], "right": frames["right"]})


def test_matrices_of_loads_next_to_the_wanted_one_are_passed_over(tmp_path):
    """Punch files have the loads, of form 9, behind stiffness and mass; asked for by name they raise an error."""
    entry = "DMIG*   {}                           1               1\n*                      1               1 {}\n"
    heads = {
        "KAAX": "DMIG    KAAX           0       6       2       0\n",
        "PAX": "DMIG    PAX            0       9       2       0\n",
    }
    text = (
        heads["KAAX"] + entry.format("KAAX", "2.000000000E+00") + heads["PAX"] + entry.format("PAX ", "5.000000000E+00")
    )
    path = tmp_path / "all.pch"
    path.write_text(text)
    found = read_matrix_file(Named("test"), "K", path)
    assert found.values.tolist() == [2.0] and found.symmetric
    with pytest.raises(fem.ParameterError, match=r"M = .*0 DMIG.* M"):
        read_matrix_file(Named("test"), "M", path)
    with pytest.raises(fem.ParameterError, match=r"'DMIG    PAX.*form 9"):
        read_matrix_file(Named("test"), "P", path)


HEAD = "DMIG    {}           0       6       2       0\n"
COLUMN = "DMIG*   {}                           1               1\n"
ENTRY = "*                      1               1 {}\n"


def entries_of(path, text, key="K", encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return read_matrix_file(Named("test"), key, path)


def test_an_entry_that_a_file_has_twice_counts_once_and_two_values_of_one_are_rejected(tmp_path):
    """Runs that are appended to one punch file write its matrices again."""
    run = HEAD.format("MAAX") + COLUMN.format("MAAX") + ENTRY.format("2.000000000E+00")
    assert entries_of(tmp_path / "all.pch", run + run, "M").matrix(np.array([1]), 3)[0, 0] == 2.0
    with pytest.raises(fem.ParameterError, match=r"M = .*two values.*node 1, component 1"):
        entries_of(tmp_path / "all.pch", run + run.replace("2.0", "3.0"), "M")


def test_both_triangles_of_a_symmetric_matrix_are_one(tmp_path):
    text = "DMIG,KAAX,0,6,2,0\nDMIG,KAAX,1,1,,1,1,4.\n,2,1,-1.\nDMIG,KAAX,2,1,,1,1,-1.,,+\n+,2,1,4.\n"
    K = entries_of(tmp_path / "all.pch", text).matrix(np.array([1, 2]), 3).toarray()
    assert K[0, 3] == K[3, 0] == -1.0 and K[0, 0] == K[3, 3] == 4.0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_of_encodings_before_a_matrix_do_not_matter(tmp_path, encoding):
    text = HEAD.format("KAAX") + COLUMN.format("KAAX") + ENTRY.format("2.000000000E+00")
    assert entries_of(tmp_path / "k.pch", text, encoding=encoding).values.tolist() == [2.0]
    market = "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 1 5.0\n"
    assert entries_of(tmp_path / "k.mtx", market, encoding="utf-8-sig").toarray()[0, 0] == 5.0


def test_a_header_of_large_fields_has_no_entries(tmp_path):
    head = f"DMIG*   KAAX    {0:16d}{6:16d}{2:16d}\n*       {0:16d}{'':32}{3:16d}\n"
    text = head + COLUMN.format("KAAX") + ENTRY.format("2.000000000E+00")
    assert entries_of(tmp_path / "k.pch", text).values.tolist() == [2.0]


def test_structural_damping_is_not_the_stiffness(tmp_path):
    parts = (HEAD.format(n) + COLUMN.format(n) + ENTRY.format(v) for n, v in (("KAAX", "2.0"), ("K4AA", "7.0")))
    assert entries_of(tmp_path / "k.pch", "".join(parts)).values.tolist() == [2.0]
