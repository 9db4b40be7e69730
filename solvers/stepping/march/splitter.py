"""Splits a step where an open contact touches: the part up to the touch, the impact there, the rest of the step.

A method may split steps where a closed contact changes too, by a quantity in the place of the gap (`lobatto.events`).
The size h₁ of the part is sought on the scheme itself: a step h₁ of its smooth motion ends where the gap of the
touching contact is zero,

    |g(h₁)| ≤ ½ ε ,   ε: accuracy of gaps                                                                          (1)

by Newton's first step with the rate of the gap, then by secants, inside a bracket. What acts at the touch is marked in
the compiled parts, see `nsga.split`. Impacts at the same time within round-off are one impact problem.

With ``impacts="auto"`` isolated impacts alone are split: at most `MOST` in `ISOLATED` steps. After them steps are
taken as a whole until the first of them is that far back: chatter, accumulations and heaps then cost what they cost
without.

Source: docs/theory/split_impacts.md.
"""

import math
from typing import TYPE_CHECKING, Any

from fem_mbs.solvers.stepping.kernels.codes import EXACT, LOOKS, OK, STOPS, STRIKES, TOUCHED
from fem_mbs.solvers.stepping.saved.saved_state import attributes_of, put_attributes

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.march.march import March
    from fem_mbs.solvers.stepping.march.snapshot import Start

TRIALS = 12  # smooth sub-problems to find a touch; usually two or three do
REACHED = 0.5  # of the accuracy of gaps
ROUND = 1e-6  # of a step
EARLIEST = 1e-10  # of the user's step: a touch before it is one at the end of the step before
LATEST = 2e-9  # of a step: a touch that much after its end is one at its end, see `nsga.split.ends_at_touch`
MOST = 3  # impacts that are split in one step, or in `ISOLATED` steps
ISOLATED = 50  # steps in which up to `MOST` impacts are isolated ones


class Splitter:
    """Finds touches for a `March` and takes the steps that end there.

    Attributes
    ----------
    count : int
        Impacts that were split.
    left : int
        Impacts that were fast enough, and were left to a step as it is.
    transitions, transitions_left : int
        The same of transitions: contacts that begin or end to slide, and that open.
    trials : int
        Smooth sub-problems solved on the way.
    """

    def __init__(self, march: "March", isolated: bool) -> None:
        self.march, self.engine = march, march.engine
        self.isolated = isolated
        self.restart = self.engine.method.reset_after_split(self.engine.system)
        self.locates_transitions = self.engine.method.locates_transitions
        self.engine.run[0]["cut"] = STOPS
        self.count = self.left = self.trials = self.transitions = self.transitions_left = 0
        self.last: list[float] = []  # times of the latest; with isolated impacts those of attempts as well

    own = ("count", "left", "transitions", "transitions_left", "trials", "last")  # what steps change

    def get_state(self) -> dict[str, Any]:
        """What was counted, a copy."""
        return attributes_of(self, self.own)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` has given."""
        put_attributes(self, state)

    def crowded(self, t: float) -> bool:
        """True if as many impacts as allowed were split in the last step before ``t``, or in the last `ISOLATED`."""
        self.last = [touch for touch in self.last if touch > t - self._window]
        return len(self.last) >= MOST

    @property
    def _window(self):
        """Time [s] in which impacts are counted."""
        return (ISOLATED if self.isolated else 1) * self.march.whole

    def pause(self, t: float) -> int:
        """Number of steps from time ``t`` [s] on that are taken as a whole, because impacts are not isolated."""
        if not self.isolated or not self.crowded(t):
            return 0
        return max(1, math.ceil((self.last[-MOST] + self._window - t) / self.march.whole - ROUND))

    def begin(self) -> None:
        """Begin a step of the user's."""
        if not self.isolated:
            self.last.clear()

    def leave(self, t: float) -> None:
        """Count an event after time ``t`` [s] that is left to the step as a whole."""
        if self.locates_transitions and not self.engine.arrays["touching"].any():
            self.transitions_left += 1
        else:
            self.left += 1
        if self.isolated:
            self.last.append(t)

    def strike(self, h: float, start: "Start") -> tuple[float, Exception | None]:
        """Step to the event and through the impact there, where a step h has stopped; its size, 0 if there is none."""
        march, method = self.march, self.engine.method
        part, failure = self._touch(h, start)
        if part == 0.0:
            return 0.0, failure
        # the smooth sub-problem solved last is that of this step
        own, run = self.engine.own[0], self.engine.run[0]
        usual, contact_part = {name: int(own[name]) for name in self.restart}, int(run["contact_part"])
        for name, value in self.restart.items():
            own[name] = value
        if self.isolated and run["newton"]:
            run["contact_part"] = 0  # an impact that only the contact-problem solver finds costs as much as many steps
        code, failure = march.trial(march.t + part, STRIKES)
        for name, value in usual.items():
            own[name] = value
        run["contact_part"] = contact_part
        if self.isolated and run["repeats"] > 0:
            return 0.0, failure  # solved with other penalties, perhaps without restitution: the whole step decides
        impact, transition = method.ended_at(self.engine)
        if failure is not None or code != OK or not (impact or transition):
            return 0.0, failure
        self.count += int(impact)
        self.transitions += int(transition)
        self.last.append(march.t + part)
        return part, None

    def settle(self) -> bool:
        """Begin the memory again after a step of the user's that was split; False where that is singular.

        The rest of a step may be short, and bodies that deform vibrate in it as steps h cannot follow: with their
        accelerations as a memory a ring of solids gained 123 of its 66 J within two steps.
        """
        engine = self.engine
        engine.arrays["Vd0"][:] = engine.arrays["Va0"][:] = 0.0  # of what steps resolve they are found anew
        engine.method.restart(engine)
        return int(engine.run[0]["code"]) == OK

    def _touch(self, h, start):
        """h₁ of (1), 0 if it is not found; and the error of a signal that is not finite."""
        march, engine, own = self.march, self.engine, self.engine.own[0]
        accuracy = EXACT * float(engine.run[0]["scale_x"])
        low, high, part = 0.0, h * float(own["latest"]), float(own["guess"]) * h
        last = None
        for _ in range(TRIALS):
            if part < EARLIEST * march.whole:
                break
            march.back(start)
            march.set_size(part)
            self.trials += 1
            code, failure = march.trial(march.t + part, LOOKS)
            if failure is not None or code != TOUCHED:
                return 0.0, failure
            gap, slope = float(own["least"]), float(own["least_rate"])
            at_end = part == h and 0.0 < gap <= -LATEST * h * slope
            if abs(gap) <= REACHED * accuracy or at_end:
                return part, None
            low, high = (part, high) if gap > 0.0 else (low, part)
            if last is not None and last[0] != part:
                slope = (gap - last[1]) / (part - last[0])
            last = part, gap
            part = part - gap / slope if slope < 0.0 else high
            if not low < part < high:
                part = 0.5 * (low + high)
        return 0.0, None
