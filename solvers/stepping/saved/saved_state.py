"""What a run continues from, to the last bit: everything that its next steps read, as plain numbers and arrays.

All arrays of a run are taken, scratch too: which of them a step reads before it writes is a matter of each method, and
a copy is cheap. Left out are addresses, which another process has others of. Kept factors are made again from what they
were made of (`LinearSolver.get_state`), by the same operations, so that their bits are the same.

`save` returns the state of a run, `load` puts it into the engine of another one with the same model, method and step
size. What else has a state joins ``engine.parts_with_state`` by a name of its own, with

    get_state()         plain numbers, texts, arrays, and lists and dicts of these
    set_state(state)    the same back; raises ValueError for a state that is not its own

Elements that have these two are asked as well.

Source: docs/theory/restart.md.
"""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.solvers.stepping.kernels.shared_factors import FACTORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fem_mbs.data_table import Table
    from fem_mbs.solvers.stepping.engine import Engine

ADDRESS_ENDS = ("_at", "_part", "_problem")  # of names that are addresses
ADDRESSES = ("solving", "factor", "solve")  # others that are
ADDRESS_ARRAYS = ("kernel", "record", "radius_at", "monitors")  # of obstacles, and of monitors


def is_address(name: str) -> bool:
    """Whether a number of a table, or of the records of Newton's iteration, is an address."""
    return name.endswith(ADDRESS_ENDS) or name in ADDRESSES


def numbers_of(table: "Table", record: np.ndarray) -> dict[str, float]:
    """Numbers of the record (1,) of a table by name, without addresses."""
    return {name: record[0][name] for name in table.names(array=False) if not is_address(name)}


def put_numbers(table: "Table", record: np.ndarray, numbers: dict[str, float]) -> None:
    """Restore what `numbers_of` has read."""
    same_names(table.name, [name for name in table.names(array=False) if not is_address(name)], numbers)
    for name, value in numbers.items():
        record[0][name] = value


def arrays_of(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Copies of arrays by name, without those of addresses."""
    return {name: array.copy() for name, array in arrays.items() if name not in ADDRESS_ARRAYS}


def put_arrays(what: str, arrays: dict[str, np.ndarray], saved: dict[str, np.ndarray]) -> None:
    """Restore what `arrays_of` has read; arrays that have another length are replaced, the caller aims records anew.

    Raises
    ------
    ValueError
        Other names, types or numbers of axes.
    """
    same_names(what, [name for name in arrays if name not in ADDRESS_ARRAYS], saved)
    for name, value in saved.items():
        array = arrays[name]
        if array.dtype != value.dtype or array.shape[1:] != value.shape[1:] or array.ndim != value.ndim:
            raise ValueError(f"{what}: array '{name}' is {value.dtype} {value.shape}, not {array.dtype} {array.shape}")
        if array.shape == value.shape:
            array[...] = value
        else:
            arrays[name] = np.ascontiguousarray(value)


def same_names(what: str, expected: "Iterable[str]", given: "Iterable[str]") -> None:
    """ValueError where names differ: the state was saved by another version, or with other options."""
    different = sorted(set(expected) ^ set(given))
    if different:
        raise ValueError(f"{what}: {', '.join(map(repr, different[:5]))} in one of the two only")


def attributes_of(owner: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Copies of attributes by name."""
    return {name: copy.copy(getattr(owner, name)) for name in names}


def put_attributes(owner: object, values: dict[str, Any]) -> None:
    """Put copies back that `attributes_of` has taken."""
    for name, value in values.items():
        setattr(owner, name, copy.copy(value))


def parts_of(engine: "Engine") -> dict[str, Any]:
    """All that has a state of its own, by name: parts of the engine, then elements."""
    elements = {f"element {element.name}": element for element in engine.system.elements}
    return engine.parts_with_state | {name: e for name, e in elements.items() if e.get_state}


def _layouts(engine):
    """The matrices of an engine, each once."""
    stacked = [] if engine.matrices.stacked is None else [engine.matrices.stacked]
    return list({id(layout): layout for layout in [*engine.matrices.layouts, *stacked]}.values())


def _lasting(engine):
    """Problems whose factors serve later steps: not that of a jump, after which all are made anew."""
    return {name: record for name, record in engine.problems.items() if name != "jump"}


def save(engine: "Engine") -> dict[str, Any]:
    """State of a run between two chunks of steps, a copy."""
    system = engine.system
    return {
        **engine.run_data.get_state(),
        "problems": {name: {f: record[0][f] for f in FACTORS} for name, record in _lasting(engine).items()},
        "searches": [search.get_state() for search in system.searches] if engine.grains is None else [],
        "groups": [group.get_state() for group in system.groups],
        "buffers": arrays_of(system.workspace.buffer), "signal_values": system.signal_values.copy(),
        "matrices": [{"values": x.values.copy(), "factors": x.solver.get_state()} for x in _layouts(engine)],
        "struck": engine.struck.copy(),
        "parts": {name: part.get_state() for name, part in parts_of(engine).items()},
    }  # fmt: skip


def load(engine: "Engine", state: dict[str, Any]) -> None:
    """Put the state of another run into an engine that has just been made.

    Raises
    ------
    ValueError
        It is not the state of such a run.
    """
    system = engine.system
    same_names("parts of the run", parts_of(engine), state["parts"])
    if engine.grains is None:
        for search, saved in zip(system.searches, state["searches"]):
            search.set_state(saved)
        if system.searches:
            system.renumber_contacts()
            engine.matrices.update()
    engine.run_data.set_state(state)
    if "mixed" in engine.own.dtype.names and engine.own[0]["mixed"]:
        engine.use_mixed()
    same_names("problems", _lasting(engine), state["problems"])
    for name, numbers in state["problems"].items():
        for field, value in numbers.items():
            engine.problems[name][0][field] = value
    for group, saved in zip(system.groups, state["groups"], strict=True):
        group.set_state(saved)
    for name, value in state["buffers"].items():
        system.workspace.buffer[name][:] = value
    system.signal_values[:] = state["signal_values"]
    for layout, saved in zip(_layouts(engine), state["matrices"], strict=True):
        layout.values[:] = saved["values"]
        layout.solver.set_state(saved["factors"])
    engine.struck[:] = state["struck"]
    for name, part in parts_of(engine).items():
        part.set_state(state["parts"][name])


def load_run(engine: "Engine", observers: "Sequence", saved: dict[str, Any]) -> None:
    """Put a checkpoint into the engine and the observers of a run that is continued.

    Raises
    ------
    ModelError
        It is the state of another run.
    """
    try:
        load(engine, saved["engine"])
        for observer, state in zip(observers, saved["observers"], strict=True):
            observer.set_state(state)
    except (ValueError, KeyError) as error:
        raise ModelError(f"the checkpoint is not one of this run: {error}", [engine.system.model]) from error
