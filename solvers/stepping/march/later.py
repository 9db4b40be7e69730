"""The contact-problem solver of a run, imported and made when Newton's iteration first needs it: in most runs never."""

from typing import TYPE_CHECKING, Any

from fem_mbs.jit import callback_address, invoke, python_callback
from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED

if TYPE_CHECKING:
    from fem_mbs.solvers.contact.correction import ContactProblemCorrection
    from fem_mbs.solvers.contact_problem.problem import ContactProblem
    from fem_mbs.solvers.stepping.engine import Engine


class LaterCorrection:
    """Stands for a `ContactProblemCorrection` of an engine until one is needed."""

    def __init__(self, engine: "Engine") -> None:
        self.engine: Engine = engine
        self.made: ContactProblemCorrection | None = None
        self.fault: Exception | None = None  # of making it
        self._callback = python_callback(self._called)
        self.address = callback_address(self._callback)

    def _called(self, data, run):
        """What compiled code calls: an exception may not leave it."""
        try:
            if self.made is None:
                from fem_mbs.solvers.contact.correction import ContactProblemCorrection

                self.made = ContactProblemCorrection(self.engine)
            invoke(self.made.address, data, run)
        except Exception as error:
            self.fault = error
            self.engine.run[0]["handed_problems"] += 1
            self.engine.run[0]["code"] = NOT_CONVERGED

    @property
    def error(self) -> Exception | None:
        """A fault in a call, for the engine to raise."""
        return self.fault if self.made is None or self.fault is not None else self.made.error

    @property
    def problem(self) -> "ContactProblem | None":
        """The last contact problem; None without one."""
        return None if self.made is None else self.made.problem

    def get_state(self) -> dict[str, Any] | None:
        """State of the solver, None before one was needed."""
        return None if self.made is None else self.made.get_state()

    def set_state(self, state: dict[str, Any] | None) -> None:
        """Go on from what `get_state` has given."""
        if state is not None:
            from fem_mbs.solvers.contact.correction import ContactProblemCorrection

            self.made = self.made or ContactProblemCorrection(self.engine)
            self.made.set_state(state)

    def last(self) -> str:
        """How the last contact problem ended, in words."""
        return "it made no contact problem" if self.made is None else self.made.last()
