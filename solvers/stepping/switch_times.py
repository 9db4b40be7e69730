"""Elements that are on in given intervals of time: which step ends where one of them is switched.

Steps of constant size end at t_0 + k h. Times of intervals have to be among these: anything else would switch late.
Of elements that are switched at one time those that go off go first, so that one can take over from another.
"""

from typing import TYPE_CHECKING

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.stepping.switch import refuse, switch

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

ON_TIME = 1e-6  # of a step


class SwitchTimes:
    """The switches of a run that its model knows beforehand.

    Parameters
    ----------
    engine : Engine
    start, h : float [s]
        Begin of the run, size of its steps.

    Raises
    ------
    ParameterError
        Steps do not end at one of the times.
    """

    def __init__(self, engine: "Engine", start: float, h: float) -> None:
        self.engine = engine
        self.left = []
        for element in engine.system.elements:
            for t, on in element.switch_times():
                if t <= start:
                    continue
                refuse(engine, element)
                steps = round((t - start) / h)
                if engine.method.step_control is not None:
                    message = "does not go with step_control, whose steps end elsewhere"
                    raise ParameterError(element, "intervals", t, f"s {message}")
                if abs(start + steps * h - t) > ON_TIME * h:
                    message = f"s is not at the end of a step: steps of h = {h:.9g} s begin at t = {start:.9g} s"
                    raise ParameterError(element, "intervals", t, message)
                self.left.append((steps, on, element))
        self.left.sort(key=lambda item: item[:2])

    def before(self, done: int) -> int | None:
        """How many steps may be taken after ``done`` ones until the next switch; None: no switch is left."""
        return self.left[0][0] - done if self.left else None

    def act(self, done: int) -> None:
        """Switch what is due after ``done`` steps; SolverError as of `switch`."""
        while self.left and self.left[0][0] <= done:
            _, on, element = self.left.pop(0)
            switch(self.engine, element, on)
