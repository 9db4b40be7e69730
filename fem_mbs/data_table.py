"""Tables of data that compiled code shares: one line per array or number, from which everything else is made.

A `Table` makes of its lines the NumPy record type that holds addresses, sizes and numbers; the arrays; and attributes
of the record in compiled code, so that a kernel that is given a record ``s`` writes

    s.x[i, j]           an array of the table: a view of the shape in the table, to read and to write
    s.h                 a number of the table, kept in the record itself

Shapes are texts such as "N 3": numbers, and symbols whose values the record holds too. Nobody hands a kernel a size, so
none can be wrong: `Table.aim` compares shape and type of every array with the table.

Views are made where they are used, by three loads and no call (see `_view`). Numba caches them like any other code; the
key has the text of the module that a table stands in. What decides places and shapes is therefore in functions here:
the text of classes is no part of that key.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.np import arrayobj

from fem_mbs.jit import address


class Item(NamedTuple):
    """One line of a table.

    Attributes
    ----------
    shape : text, "" for a number in the record; symbols and numbers with blanks between them for an array
    meaning : text
    kind : NumPy type, as text, or of records
    kept : bool
        A rejected step must leave it unchanged.
    scaling : int
        Power of the step size with which the numbers change when the step does: multipliers divided by k ∝ 1/h have 1.
    """

    shape: str
    meaning: str
    kind: str | np.dtype = "f8"
    kept: bool = False
    scaling: int = 0


def axes_of(shape: str) -> tuple[int | str, ...]:
    """Shape as a tuple of symbols and numbers."""
    return tuple(int(s) if s.isdigit() else s for s in shape.split())


def symbols_of(items: dict[str, Item]) -> list[str]:
    """Symbols in the shapes of a table, in the order in which they appear."""
    return list(dict.fromkeys(s for item in items.values() for s in axes_of(item.shape) if isinstance(s, str)))


def record_type(items: dict[str, Item]) -> np.dtype:
    """Record of a table: addresses of its arrays, values of the symbols, numbers."""
    arrays = [(f"{name}_at", "i8") for name, item in items.items() if item.shape]
    sizes = [(f"size_{symbol}", "i8") for symbol in symbols_of(items)]
    return np.dtype([*arrays, *sizes, *((name, item.kind) for name, item in items.items() if not item.shape)])


def make_attributes(dtype: np.dtype, items: dict[str, Item]) -> None:
    """Give the record type its arrays as attributes in compiled code."""
    record = numba.from_dtype(dtype)
    arrays = {
        name: types.Array(numba.from_dtype(np.dtype(item.kind)), len(axes_of(item.shape)), "C")
        for name, item in items.items()
        if item.shape
    }

    @infer_getattr
    class Attributes(AttributeTemplate):
        key = record

        def generic_resolve(self, record: Any, attribute: str) -> Any:  # type: ignore[override]
            return arrays.get(attribute) or record.typeof(attribute)

    for name, array in arrays.items():
        lower_getattr(record, name)(_view(name, axes_of(items[name].shape), array))


def _view(name, axes, array):
    """Code that makes the view of one array: its address and sizes are read from the record."""

    def lower(context, builder, record, value):
        def number(field):
            return context.get_getattr(record, field)(context, builder, record, value, field)

        intp = context.get_value_type(types.intp)
        shape = [number(f"size_{axis}") if isinstance(axis, str) else intp(axis) for axis in axes]
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        strides = [intp(size)]
        for extent in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], extent))
        result = context.make_array(array)(context, builder)
        arrayobj.populate_array(
            result,
            data=builder.inttoptr(number(f"{name}_at"), result.data.type),
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=intp(size),
            meminfo=None,
        )
        return result._getvalue()

    return lower


class Table:
    """Data by name, for Python and for compiled code.

    Parameters
    ----------
    name : str
        What errors call it.
    items : dict of name -> Item

    Attributes
    ----------
    dtype : NumPy record type of the table; in compiled code such a record has all names of the table as attributes
    sizes : list of the symbols in its shapes
    """

    def __init__(self, name: str, items: dict) -> None:
        self.name, self.items = name, dict(items)
        self.sizes, self.dtype = symbols_of(items), record_type(items)
        make_attributes(self.dtype, self.items)
        # of each array: name, field of its address, axes, type; runs get them in each chunk
        self._arrays = [
            (name, f"{name}_at", axes_of(item.shape), np.dtype(item.kind)) for name, item in items.items() if item.shape
        ]
        self._axes = {name: axes for name, _, axes, _ in self._arrays}

    def names(self, *, array: bool | None = None, kept: bool | None = None) -> list[str]:
        """Names of the table, only arrays (or numbers), only those that are kept over a rejected step (or are not)."""
        return [
            name for name, item in self.items.items() if array in (None, bool(item.shape)) and kept in (None, item.kept)
        ]

    def shape(self, name: str, sizes: dict) -> tuple:
        """Shape of an array for given values of the symbols."""
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self._axes[name])

    def arrays(self, sizes: dict, names: Iterable[str] | None = None) -> dict:
        """Arrays of zeros for given values of the symbols: all, or those of these names."""
        chosen = self._axes if names is None else set(names)
        return {name: np.zeros(self.shape(name, sizes), kind) for name, _, _, kind in self._arrays if name in chosen}

    def values(self, numbers: dict, arrays: dict) -> tuple:
        """Fields of a record in their order, as elements have their parameters; the caller keeps the arrays alive."""
        record = np.zeros(1, self.dtype)
        for name, value in numbers.items():
            record[name] = value
        self.aim(record, arrays)
        return tuple(record[0])

    def aim(self, record: np.ndarray, arrays: dict) -> None:
        """Put addresses and sizes of arrays into a record (1,); the caller keeps the arrays alive.

        Raises
        ------
        ValueError
            If an array is missing, of another type or shape than in the table, or not in C order.
        """
        sizes: dict[int | str, int] = {}
        row = record[0]
        for name, field, axes, kind in self._arrays:
            array = arrays.get(name)
            if array is None:
                meaning = self.items[name].meaning
                raise ValueError(f"{self.name}: array '{name}' is missing; the table has it ({meaning})")
            shape = array.shape
            if len(shape) == len(axes):
                for axis, extent in zip(axes, shape):
                    sizes.setdefault(axis, extent)
            expected = tuple([sizes.get(axis, axis) if isinstance(axis, str) else axis for axis in axes])
            if shape != expected or array.dtype != kind or not array.flags.c_contiguous:
                found = f"{array.dtype} {shape}{'' if array.flags.c_contiguous else ', not in C order'}"
                asked = f"{kind} {expected}, which is ({self.items[name].shape})"
                raise ValueError(f"{self.name}: array '{name}' is {found}; the table says {asked}")
            row[field] = address(array)
        for symbol in self.sizes:
            row[f"size_{symbol}"] = sizes[symbol]
