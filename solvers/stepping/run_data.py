"""The data of a run, and their restoration: what a rejected step must leave unchanged is kept, and restored.

    kept()              copy of all that a rejected step leaves unchanged, as a `Kept`
    start_of_step()     the same at the start of the last step of compiled code, from the copy that it makes itself
    restore(kept)       put one of them back
    get_state()         copy for a checkpoint: plain numbers and arrays, scratch too; `set_state` continues from it

Their table names the arrays and numbers that are kept (`fem_mbs.data_table.Item.kept`). The arrays among them are parts
of one block, which is copied at once. Trials of event location, of split impacts and of subdivided steps, and rejected
steps of step control are restored in no other way.

Compiled code takes many steps in one call and copies the start of each (`stepping.kernels.mirror`). Without this copy
the steps before the rejected one would have to be taken again, with factors that are no longer those of the first time:
the last bits of a run would depend on the number of steps in a call.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.jit import address
from fem_mbs.solvers.stepping.kernels.records import RECORDS
from fem_mbs.solvers.stepping.saved.saved_state import arrays_of, numbers_of, put_arrays, put_numbers

if TYPE_CHECKING:
    from fem_mbs.data_table import Table
    from fem_mbs.system.compiled import CompiledSystem


class Kept(NamedTuple):
    """Copy of what a rejected step leaves unchanged.

    Attributes
    ----------
    block : arrays of the run, one after the other, in words of eight bytes
    numbers : list of arrays, the kept numbers of each record
    states : list of arrays, internal variables of elements and which elements are on
    """

    block: np.ndarray
    numbers: list[np.ndarray]
    states: list[np.ndarray]


class RunData:
    """Arrays and records of one run.

    Parameters
    ----------
    system : System
    tables : sequence of Table, shared by all methods, of the method, and those of monitors
    sizes : dict of symbol -> int, extents of the arrays

    Attributes
    ----------
    record : list of (1,) records of numbers and addresses, one of each table
    run, own : the first two of them
    arrays : dict of name -> array
    records : (1,) record of the addresses of the arrays that saved steps go to
    """

    def __init__(self, system: "CompiledSystem", tables: "Sequence[Table]", sizes: dict[str, int]) -> None:
        self.system, self.tables = system, tables
        self.record = [np.zeros(1, table.dtype) for table in tables]
        self.run, self.own = self.record[:2]
        # views of their only rows; a name of both is that of the run
        self._record_of = {name: record[0] for record in (self.own, self.run) for name in record.dtype.names}
        self._kept_arrays = [name for table in tables for name in table.names(array=True, kept=True)]
        self._kept_words = [(record.view(np.int64), _words_of(t, record)) for t, record in zip(tables, self.record)]
        self._scaled = [(n, item.scaling) for table in tables for n, item in table.items.items() if item.scaling]
        self.arrays: dict[str, np.ndarray] = {}
        for table in tables:
            arrays = table.arrays(sizes)
            if twice := arrays.keys() & self.arrays.keys():
                raise ValueError(f"{table.name}: array '{min(twice)}' has the name of one of another table of the run")
            self.arrays |= arrays
        self._gather_kept()
        self.aim()
        self.records = np.zeros(1, RECORDS.dtype)
        self._copies: list[np.ndarray] = []  # of the start of a step, by compiled code

    def _gather_kept(self):
        """Lay the kept arrays side by side, so that one copy takes them all."""
        sizes = [self.arrays[name].size for name in self._kept_arrays]  # words of eight bytes
        self._block = np.zeros(sum(sizes))
        for name, part in zip(self._kept_arrays, np.split(self._block, np.cumsum(sizes)[:-1])):
            array = self.arrays[name]
            self.arrays[name] = part.view(array.dtype).reshape(array.shape)

    def aim(self) -> None:
        """Put the addresses of the arrays into the records; again when arrays were replaced."""
        for table, record in zip(self.tables, self.record):
            table.aim(record, self.arrays)

    def record_of(self, name: str) -> np.void:
        """Return the record that has a number: that of the run or that of the method."""
        return self._record_of.get(name, self.own[0])

    @property
    def per_contact(self) -> list[str]:
        """Names of the arrays with one entry per contact."""
        items = {name: item for table in self.tables for name, item in table.items.items()}
        return [name for name, item in items.items() if item.shape.split()[:1] == ["nc"]]

    def rescale(self, ratio: float) -> None:
        """Scale what is stored in multiples of a power of the step size, for steps ``ratio`` times as large."""
        for name, power in self._scaled:
            self.arrays[name] *= ratio**power

    def record_into(self, block: dict[str, np.ndarray]) -> None:
        """Let compiled code record into the arrays of a block, from its first row on."""
        RECORDS.aim(self.records, block)
        self.use_records(self.records)

    def use_records(self, records: np.ndarray) -> None:
        """Let compiled code record into the arrays that a record of `RECORDS` has the addresses of."""
        self.run[0]["records_at"], self.run[0]["saved"] = address(records), 0

    # --- restoration --------------------------------------------------------------------------------------------------

    def _states(self):
        """Arrays of elements that a run changes."""
        return [array for group in self.system.groups for array in group.changing]

    def kept(self) -> Kept:
        """Return a copy of all that a rejected step leaves unchanged."""
        numbers = [words[at] for words, at in self._kept_words]
        return Kept(self._block.copy(), numbers, [array.copy() for array in self._states()])

    def kept_array(self, kept: Kept, name: str) -> np.ndarray | None:
        """Return an array of a copy; None if the method does not keep it."""
        if name not in self._kept_arrays:
            return None
        array, start = self.arrays[name], self.arrays[name].ctypes.data - self._block.ctypes.data
        return kept.block[start // 8 : start // 8 + array.size].view(array.dtype).reshape(array.shape)

    def restore(self, kept: Kept) -> None:
        """Put a copy back."""
        self._block[:] = kept.block
        for (words, at), value in zip(self._kept_words, kept.numbers):
            words[at] = value
        for array, value in zip(self._states(), kept.states):
            array[:] = value

    @contextmanager
    def restored_on_error(self) -> Iterator[None]:
        """Leave everything unchanged if the block raises anything: it calls functions of the user."""
        kept = self.kept()
        try:
            yield
        except BaseException:
            self.restore(kept)
            raise

    def keep_starts(self) -> None:
        """Let compiled code copy the start of every step, for `start_of_step`."""
        sources = [self._block, *self.record, *self._states()]
        self._copies = [np.zeros_like(array) for array in sources]
        rows = [(address(a), address(b), a.nbytes // 8) for a, b in zip(sources, self._copies)]
        self._table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self.run[0]["mirror_at"], self.run[0]["mirrored"] = address(self._table), len(self._table)

    def start_of_step(self) -> Kept:
        """Return the start of the last step that compiled code has begun."""
        block, *copies = self._copies
        numbers = [copy.view(np.int64)[at] for copy, (_, at) in zip(copies, self._kept_words)]
        return Kept(block.copy(), numbers, [state.copy() for state in copies[len(self.record) :]])

    # --- checkpoints --------------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return a copy for a checkpoint: all numbers but addresses, and all arrays."""
        tables = [numbers_of(table, record) for table, record in zip(self.tables, self.record)]
        return {"tables": tables, "arrays": arrays_of(self.arrays)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` has returned; ValueError for the state of another run."""
        put_arrays("run", self.arrays, state["arrays"])
        self.aim()
        for table, record, numbers in zip(self.tables, self.record, state["tables"], strict=True):
            put_numbers(table, record, numbers)


def _words_of(table: "Table", record: np.ndarray) -> np.ndarray:
    """Return where the kept numbers of a record lie, in words of eight bytes."""
    fields: Any = record.dtype.fields
    return np.array([fields[name][1] // 8 for name in table.names(array=False, kept=True)], dtype=np.int64)
