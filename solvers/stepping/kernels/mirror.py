"""What a step that compiled code stops is put back from: a copy of all that is kept, made as the step begins.

Compiled code takes many steps in one call. Without a copy of its own the steps before the one that stops would have to
be taken again, with factors that are no longer those of the first time: the last bits of a run would depend on how many
steps a call has.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.jit import address, integer_matrix, integers, kernel

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine


@kernel
def keep(s):
    """Copy the kept arrays of the run to their mirrors, by a table of addresses and numbers of words."""
    table = integer_matrix(s.mirror_at, s.mirrored, 3)
    for k in range(s.mirrored):
        n = table[k, 2]
        source, target = integers(table[k, 0], n), integers(table[k, 1], n)
        for i in range(n):
            target[i] = source[i]


def words_of(record: np.ndarray, names: list[str]) -> np.ndarray:
    """Return where the numbers of a record lie that have these names, in words of eight bytes."""
    fields = record.dtype.fields or {}
    return np.array([fields[name][1] // 8 for name in names if name in fields], dtype=np.int64)


class Mirror:
    """Copies of what an engine keeps, made by `keep`: arrays, and the records for their numbers."""

    def __init__(self, engine: "Engine") -> None:
        states = [group.state for group in engine.system.groups if group.sizes["nq"]]
        self.numbers = [words_of(record, engine.kept_numbers) for record in (engine.run, engine.own)]
        self.pairs = [(array, np.zeros_like(array)) for array in (engine.kept_block, *states)]
        self.records = [(record, np.zeros_like(record)) for record in (engine.run, engine.own)]
        rows = [(address(array), address(copy), array.size) for array, copy in self.pairs]
        rows += [(address(record), address(copy), record.itemsize // 8) for record, copy in self.records]
        self.table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        engine.run[0]["mirror_at"], engine.run[0]["mirrored"] = address(self.table), len(self.table)

    def restore(self) -> None:
        """Put back what `keep` has copied."""
        for array, copy in self.pairs:
            array[...] = copy
        for (record, copy), at in zip(self.records, self.numbers):
            record.view(np.int64)[at] = copy.view(np.int64)[at]
