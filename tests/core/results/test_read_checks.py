"""Reading results files: whatever is wrong with one ends in an error that names it, and nothing outside it is read."""

import json
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from made_up import made_up_system, written

from fem_mbs.cli import main
from fem_mbs.errors import FileError
from fem_mbs.results.results import Results


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return written(made_up_system(), tmp_path_factory.mktemp("good") / "good.vtkhdf", steps=20).path


@pytest.fixture
def damaged(good, tmp_path):
    """A copy of a good file, changed by a function of its group ``fem_mbs``."""

    def change(function):
        path = tmp_path / "damaged.vtkhdf"
        shutil.copy(good, path)
        with h5py.File(path, "r+") as file:
            function(file["fem_mbs"])
        return path

    return change


def replace(group, name, value):
    del group[name]
    group[name] = value


def describe(root, change):
    """Change the description."""
    description = json.loads(root["description"][()])
    change(description)
    replace(root, "description", json.dumps(description))


def put(table, *path, value):
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value


DAMAGES = {
    "truncated JSON": (lambda r: replace(r, "description", '{"a":'), r"description cannot be understood"),
    "deep JSON": (lambda r: replace(r, "description", "[" * 200_000), r"description cannot be understood"),
    "empty JSON": (lambda r: replace(r, "description", "{}"), r"description has no model"),
    "a list": (lambda r: replace(r, "parameters", "[1]"), r"parameters is not a table"),
    "numbers for a text": (lambda r: replace(r, "description", np.arange(3)), r"description is not one text"),
    "no description": (lambda r: r.__delitem__("description"), r"has no description"),
    "no n": (lambda r: r.attrs.__delitem__("n"), r"has no n"),
    "negative n": (lambda r: r.attrs.__setitem__("n", -5), r"n is -5, must be ≥ 0"),
    "n is not whole": (lambda r: r.attrs.__setitem__("n", 2.5), r"n is .*2\.5.*, not a number"),
    "more states than rows": (lambda r: r.attrs.__setitem__("n", 22), r"counts 22 saved states, history 't' has 21"),
    "format is a text": (lambda r: r.attrs.__setitem__("format", "x"), r"format is 'x', not a number"),
    "no format": (lambda r: r.attrs.__delitem__("format"), r"has no format"),
    "newer": (lambda r: r.attrs.__setitem__("format", 10**6), r"was written by a newer fem_mbs"),
    "no status": (lambda r: r.attrs.__delitem__("status"), r"status is None"),
    "no histories": (lambda r: r.__delitem__("histories"), r"has no histories"),
    "no times": (lambda r: r["histories"].__delitem__("t"), r"has no history 't'"),
    "rows of another shape": (
        lambda r: replace(r["histories"], "position", np.zeros((21, 2, 3))),
        r"history 'position' has rows of shape \(2, 3\)",
    ),
    "texts for numbers": (
        lambda r: replace(r["histories"], "gap", np.full((21, 1), b"x")),
        r"history 'gap' does not hold numbers",
    ),
    "negative size": (lambda r: describe(r, lambda d: put(d, "sizes", "N", value=-1)), r"size N is -1"),
    "missing node": (lambda r: describe(r, lambda d: d["nodes"].pop()), r"describes \d nodes of \d"),
    "node out of range": (
        lambda r: describe(r, lambda d: put(d, "elements", 0, "nodes", value=[99])),
        r"number of a node \(element 1 in its description\) is 99",
    ),
    "contact out of range": (
        lambda r: describe(r, lambda d: put(d, "elements", 3, "contact", value=7)),
        r"number of a contact \(element 4 .* is 7, must be 0 … 0",
    ),
    "outputs out of range": (
        lambda r: describe(r, lambda d: put(d, "elements", 2, "outputs", value={"force": [0, 999, "N"]})),
        r"outputs \(element 3 in its description\) is 999",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_rejected_with_its_name_and_what_is_wrong(name, damaged):
    change, message = DAMAGES[name]
    path = damaged(change)
    with pytest.raises(FileError, match=message) as caught:
        Results.read(path)
    assert "damaged.vtkhdf" in str(caught.value) and caught.value.path == str(path)


def test_links_and_data_outside_the_file_are_not_followed(damaged, good, tmp_path):
    (tmp_path / "raw").write_bytes(bytes(21 * 8))

    def external_data(root):
        del root["histories/t"]
        root["histories"].create_dataset("t", (21,), "f8", external=[(str(tmp_path / "raw"), 0, 21 * 8)])

    def virtual(root):
        layout = h5py.VirtualLayout((21,), "f8")
        layout[:] = h5py.VirtualSource(str(good), "fem_mbs/histories/t", (21,))
        del root["histories/t"]
        root["histories"].create_virtual_dataset("t", layout)

    for change in (
        lambda r: replace(r, "histories", h5py.ExternalLink(str(good), "/fem_mbs/histories")),
        lambda r: replace(r, "description", h5py.SoftLink("/fem_mbs/parameters")),
        external_data,
        virtual,
    ):
        with pytest.raises(FileError, match=r"somewhere else|another file"):
            Results.read(damaged(change))


@pytest.mark.parametrize("complete", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_missing_part_and_every_wrong_type_ends_in_a_clear_error_or_in_a_report(complete, good, damaged):
    """Nothing but FileError comes out of a file from which something was taken, or where something else stands.

    The short test puts one of the wrong values in each place, in turn.
    """

    def wrong(k, *values):
        return values if complete else values[k % len(values) :][:1]

    names, attributes = [], []
    with h5py.File(good) as file:
        file["fem_mbs"].visit(names.append)
        attributes += file["fem_mbs"].attrs
    changes = [lambda r, n=n: r.__delitem__(n) for n in names]
    changes += [
        lambda r, n=n, v=v: replace(r, n, v)
        for k, n in enumerate(names)
        for v in wrong(k, np.zeros(3, complex), "text")
    ]
    changes += [lambda r, n=n: r.attrs.__delitem__(n) for n in attributes]
    changes += [
        lambda r, n=n, v=v: r.attrs.__setitem__(n, v)
        for k, n in enumerate(attributes)
        for v in wrong(k, "text", [1, 2], 0.5)
    ]
    refused = 0
    for change in changes:
        path = damaged(change)
        try:
            result = Results.read(path)
            result.report()
            _ = result["ball"].position, result["table"].force_vector, result.skin
        except FileError as error:
            refused += 1
            assert "damaged.vtkhdf" in str(error)
    assert refused > len(changes) / 2


def test_numbers_of_points_that_do_not_exist_are_not_given_to_a_viewer(damaged):
    path = damaged(lambda r: r["skin/connectivity"].__setitem__(0, 10**6))
    with pytest.raises(FileError, match=r"'connectivity'.*between 0"):
        _ = Results.read(path).skin


def test_a_history_that_an_older_version_did_not_write_is_missed_only_when_it_is_read(damaged):
    result = Results.read(damaged(lambda r: r["histories"].__delitem__("repeats")))
    assert len(result["ball"].position) == 21
    with pytest.raises(FileError, match="repeats"):
        _ = result.repeats


def test_damaged_numbers_are_reported_when_they_are_read(good, tmp_path):
    path = tmp_path / "cut.vtkhdf"
    path.write_bytes(good.read_bytes()[:-20_000])
    with pytest.raises(FileError, match=r"cut\.vtkhdf is (damaged|not a readable HDF5 file)"):
        Results.read(path)["ball"]


@pytest.mark.parametrize("wrong", [0.0, 2.0, np.nan])
def test_rotations_that_are_none_are_reported_when_they_are_read(wrong, damaged):
    """Zeros in the place of a lost part gave SciPy's ValueError, or bodies that were points."""
    result = Results.read(damaged(lambda r: r["histories/quaternion"].__setitem__(7, wrong)))
    assert len(result["ball"].position) == 21 and len(result.rows([6])["quaternion"]) == 1
    ball = result["ball"]
    for read in (
        lambda: ball.rotation_vector,
        lambda: ball.rotation,
        lambda: result.state(7),
        lambda: result.rows([7]),
    ):
        with pytest.raises(FileError, match=r"damaged\.vtkhdf.*'quaternion'"):
            read()


@pytest.mark.parametrize("command", ["info", "plot", "export"])
def test_the_command_line_reports_what_is_wrong_without_a_traceback(command, damaged, capsys):
    path = damaged(lambda r: replace(r, "description", "{}"))
    assert main([command, str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: results file") and "no model" in error and "Traceback" not in error


def test_the_installed_program_ends_with_its_error_code(damaged):
    path = damaged(lambda r: r.attrs.__delitem__("n"))
    done = subprocess.run([sys.executable, "-m", "fem_mbs.cli", "info", path], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "has no n" in done.stderr


def test_a_file_can_be_read_while_the_same_process_has_it_open(good):
    with h5py.File(good):
        assert len(Results.read(good)["ball"].position) == 21
