"""The one table of results: what stands in it is recorded, written, and shown; nothing of it is written twice."""

import numpy as np
import pytest
from made_up import H, made_up_chunk, made_up_system

import fem_mbs as fem
from fem_mbs.results.file.writer import ResultsWriter
from fem_mbs.results.history import Pairs
from fem_mbs.results.table import HISTORIES, PAIR_COLUMNS, PAIRS, Saved, pair_column, shape_of, sizes_of
from fem_mbs.solvers.stepping.kernels.records import RECORDS, records


def pendulum_that_hits():
    """A pendulum on a table, so that there are constraints, outputs, contacts with friction and impacts."""
    model = fem.Model("everything", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody.box(1.0, [0.5, 0.1, 0.1], position=[0.25, 0, 0.12], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0.12], axis=[0, 1, 0], name="hinge"))
    model.add(fem.SphereOnPlane(rod.frame([0.25, 0, 0]), model.ground, radius=0.1, friction=0.3, name="table"))
    return model.compile()


def test_a_run_fills_every_number_of_every_record():
    system = pendulum_that_hits()
    engine = fem.DecoupledNSGA(persistent_contacts=True).prepare(system, 1e-3, balance=True)
    block = engine.make_records(200)
    unset = {"f": np.nan, "i": 77}
    for array in block.values():
        array[:] = unset[array.dtype.kind]
    engine.first(block)
    first = {name: array[:1].copy() for name, array in block.items()}
    for array in block.values():
        array[:] = unset[array.dtype.kind]
    times = np.arange(1, 201) * 1e-3
    done, saved, error = engine.march.advance(times, block)
    assert (done, saved, error) == (200, 200, None) and block["impact"].any()
    assert all(array.size for array in block.values())
    block["step"][76] = 0  # step 77 is the one that may be called so
    for part in (first, block):
        for name, array in part.items():
            left = np.isnan(array) if array.dtype.kind == "f" else array == 77
            assert not left.any(), name


def test_results_have_every_history_in_the_type_and_shape_of_the_table(tmp_path):
    system = pendulum_that_hits()
    result = fem.DecoupledNSGA(persistent_contacts=True).run(system, 0.02, 1e-3, save=tmp_path / "run", balance=True)
    rows, works = result.rows(np.arange(21)), len(result.description["works"])
    sizes = sizes_of(system, forces=True, works=works)
    assert list(rows) == list(HISTORIES) and 0 not in sizes.values()
    for name, values in rows.items():
        assert values.shape == (21, *shape_of(name, sizes)) and values.dtype == HISTORIES[name].kind, name
    table = result["table"]
    for name, line in HISTORIES.items():
        shown = line.shown or name
        part = {"run": result, "node": result["rod"], "contact": table}.get(line.of)
        if part is None:
            continue
        assert shown in dir(part), name
        if line.of != "run":
            assert part.units[shown] == line.unit and part.labels[shown] == line.labels
        elif line.labels:
            columns = np.stack([getattr(getattr(part, shown), label) for label in line.labels], axis=1)
            assert np.array_equal(columns, rows[name])
        else:
            assert np.array_equal(getattr(part, shown), rows[name])
            assert f"    {name} : " in type(result).__doc__


@pytest.mark.parametrize("save", [False, True], ids=["memory", "file"])
def test_a_history_added_to_the_table_is_written_and_shown(save, tmp_path, monkeypatch):
    monkeypatch.setitem(HISTORIES, "temperature", Saved("f8", ("N",), "of nodes", "K", of="node"))
    monkeypatch.setitem(HISTORIES, "rest", Saved("i1", ("nc", 2), "made up", "", ("a", "b"), "contact", "idle"))
    monkeypatch.setitem(HISTORIES, "load", Saved("f8", (), "made up", "N"))
    monkeypatch.setitem(HISTORIES, "loss", Saved("f8", (2,), "made up", "J", ("slip", "roll")))
    system = made_up_system()
    writer = ResultsWriter(system, tmp_path / "run.vtkhdf" if save else None, parameters={"h": H, "t_end": 1.0})
    step = np.arange(5)
    chunk = made_up_chunk(system, step)
    chunk["temperature"] = 300.0 + np.add.outer(step, np.arange(len(system.nodes)))
    chunk["rest"] = np.tile([[[1, 2]]], (5, 1, 1))
    chunk["load"], chunk["loss"] = 2.0 * step, np.stack([step, -step], axis=1)
    writer.append(chunk)
    result = writer.close()
    ball = system.model["ball"].node.index
    assert np.array_equal(result["ball"].temperature, 300.0 + step + ball)
    assert result["ball"].units["temperature"] == "K"
    assert np.array_equal(result["table"].idle[3], [1, 2]) and result["table"].labels["idle"] == ("a", "b")
    assert np.array_equal(result.load, 2.0 * step) and "load" in dir(result)
    assert np.array_equal(result.loss.roll, -step) and result.loss.units == {"slip": "J", "roll": "J"}


def test_a_file_of_an_older_version_says_which_history_it_lacks(tmp_path, monkeypatch):
    system = made_up_system()
    writer = ResultsWriter(system, tmp_path / "run.vtkhdf", parameters={"h": H, "t_end": 1.0})
    writer.append(made_up_chunk(system, np.arange(5)))
    result = writer.close()
    monkeypatch.setitem(HISTORIES, "load", Saved("f8", (), "made up", "N"))
    assert len(result.rows([0, 1])["t"]) == 2
    with pytest.raises(fem.FemMbsError, match=r"run\.vtkhdf.*version.*'load'"):
        _ = result.load


def test_names_that_are_no_history_of_the_run_are_rejected(tmp_path):
    system = made_up_system()
    result = ResultsWriter(system).close()
    for name in ("gap", "postion", "_hidden"):
        with pytest.raises(AttributeError, match=name):
            getattr(result, name)


def test_columns_of_the_table_of_pairs_are_named_once():
    assert Pairs._fields == tuple(PAIRS)
    row = np.arange(PAIR_COLUMNS)
    taken = np.concatenate([np.atleast_1d(row[pair_column(name)]) for name in PAIRS])
    assert np.array_equal(taken, row)


@pytest.mark.parametrize(
    "name, change",
    [
        ("position", lambda a: a[:, :-1].copy()),
        ("gap", lambda a: a.astype("f4")),
        ("velocity", lambda a: np.asfortranarray(a)),
        ("energy", lambda a: a[:-1]),
        ("iterations", lambda a: a[:, :2].copy()),
    ],
)
def test_records_of_another_shape_type_or_order_are_rejected(name, change):
    system = pendulum_that_hits()
    block = records(system, 4)
    target = np.zeros(1, RECORDS.dtype)
    RECORDS.aim(target, block)
    block[name] = change(block[name])
    with pytest.raises(ValueError, match=r"records: array '\w+'.*\(.*table"):
        RECORDS.aim(target, block)
    del block[name]
    with pytest.raises(ValueError, match=f"records: array '{name}' is missing"):
        RECORDS.aim(target, block)
