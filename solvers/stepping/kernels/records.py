"""Records: the saved steps of a block, as arrays that a stepper fills and as a record for compiled code.

What is recorded says the one table of results, `fem_mbs.results.table`. A stepper makes arrays with `records`, and
compiled code writes row k of each through the record of `RECORDS`: ``o.position[k]`` is (N, 3).
"""

from typing import TYPE_CHECKING

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer
from fem_mbs.results.table import recorded, sizes_of

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem


RECORDS = Table(
    "records",
    {name: Item(" ".join(map(str, ("rows", *shape))), text, kind) for name, (kind, shape, text) in recorded().items()},
)
_RECORD = RECORDS.dtype


@kernel
def records_at(at):
    """Record of the arrays of a block at an address."""
    return carray(void_pointer(at), (1,), _RECORD)[0]


def records(system: "CompiledSystem", size: int, forces: bool = False, works: int = 0) -> dict:
    """Arrays (size, …) of zeros for ``size`` saved steps of a system, by name; others as of `sizes_of`."""
    return RECORDS.arrays({**sizes_of(system, forces, works), "rows": size})
