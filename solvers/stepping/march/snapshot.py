"""The start of a step: data of the run, and what controls the size of its steps. Event location goes back to it."""

from typing import TYPE_CHECKING, NamedTuple

from fem_mbs.solvers.stepping.saved.saved_state import attributes_of, put_attributes

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.march.march import March
    from fem_mbs.solvers.stepping.run_data import Kept


class Start(NamedTuple):
    """Start of a step: data of the run, and the size of the step before."""

    data: "Kept"
    size: float


class Snapshot:
    """Copy of a march and of the data of its run.

    Parameters
    ----------
    march : March
    kept : Kept, optional
        Data at the start of the step; default: the present ones.
    """

    def __init__(self, march: "March", kept: "Kept | None" = None) -> None:
        owners = [owner for owner in (march, march.control, march.control.splitter) if owner is not None]
        self.march, self.start = march, Start(kept or march.engine.run_data.kept(), march.size)
        self.numbers = [(owner, attributes_of(owner, owner.own)) for owner in owners]

    def restore(self) -> None:
        """Go back to it."""
        for owner, numbers in self.numbers:
            put_attributes(owner, numbers)
        self.march.back(self.start)
