"""Base of the monitors of a run: each observes the run in one respect, and warns of what is wrong at its end.

A monitor is one class in one file, and one line in `stepping.monitors.catalogue`. Engine, checkpoints and results loop
over the list there and know no monitor by name. All members have defaults; a monitor overrides those that it needs:

    sizes()               extents of its arrays in the tables of the run
    start()               initial values, when these arrays exist
    after_step            compiled function that is called after each accepted step
    observe(block)        recorded states, many at a time
    warnings()            sentences for ``result.warnings``
    statistics()          numbers for ``result.statistics``
    state                 names of attributes that checkpoints keep

Compiled code has its data in ``table``, see `fem_mbs.data_table`: its record is at ``s.monitor_at`` in ``after_step``.
Checkpoints have its numbers and arrays, and a rejected step restores those that are ``kept``.
"""

import copy
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np

    from fem_mbs.data_table import Table
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.stepping.engine import Engine


class Monitor:
    """A monitor of one run.

    Parameters
    ----------
    engine : Engine
        Of the run. Its method, system, contact groups and ``balance`` are known, its arrays are not yet there.

    Attributes
    ----------
    table : Table or None
        Its data in compiled code. Names of arrays are unique in a run; ``engine.arrays`` has them.
    own : (1,) record of the table
    after_step : Entry or None
        ``entry("void(int64, int64)")`` with the addresses of system and run, see `stepping.kernels.data`. It is also
        called in the initial state, with ``s.step_number`` 0.
    state : tuple of str
        Names of its attributes that checkpoints keep: plain numbers, texts, arrays, and lists and dicts of these.
    """

    table: ClassVar["Table | None"] = None
    own: "np.ndarray"
    after_step: "Entry | None" = None
    state: ClassVar[tuple[str, ...]] = ()

    def __init__(self, engine: "Engine") -> None:
        self.engine, self.system = engine, engine.system

    def sizes(self) -> dict[str, int]:
        """Return extents of its arrays by symbol, apart from those that all runs have."""
        return {}

    def start(self) -> None:
        """Give its arrays and numbers their initial values; they are 0."""

    def observe(self, block: "dict[str, np.ndarray]") -> None:
        """Observe recorded states, histories (k, …) by name; not all have outputs and energies."""

    def warnings(self) -> list[str]:
        """Return sentences about what was wrong in the run."""
        return []

    def statistics(self) -> dict[str, float]:
        """Return numbers of the whole run by name."""
        return {}

    def get_state(self) -> Any:
        """Return a copy of its ``state``."""
        return copy.deepcopy({name: vars(self)[name] for name in self.state})

    def set_state(self, state: Any) -> None:
        """Continue from the state of `get_state`."""
        vars(self).update(copy.deepcopy(state))
