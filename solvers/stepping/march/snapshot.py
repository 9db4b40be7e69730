"""The start of a step: data of the run, and what controls the size of its steps. Event location goes back to it."""

from typing import TYPE_CHECKING

from fem_mbs.solvers.stepping.saved.saved_state import attributes_of, put_attributes

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.run_data import Kept


class Snapshot:
    """Copy of an engine and of what controls its steps.

    Parameters
    ----------
    engine : Engine
    kept : Kept, optional
        Data at the start of the step; default: the present ones.
    """

    def __init__(self, engine: "Engine", kept: "Kept | None" = None) -> None:
        self.engine, self.kept, self.h = engine, kept or engine.run_data.kept(), engine.h
        control = engine.controller
        self.size, self.parts = control.h, [part for part in (control, control.splitter) if part is not None]
        self.numbers = [attributes_of(part, part.own) for part in self.parts]

    def restore(self) -> None:
        """Go back to it."""
        for part, numbers in zip(self.parts, self.numbers):
            put_attributes(part, numbers)
        self.engine.h = self.h
        self.engine.controller._use(self.size)
        self.engine.run_data.restore(self.kept)
