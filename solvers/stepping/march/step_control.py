"""Step control: halve a step that fails, follow an error tolerance in smooth motion, keep event capturing at contacts.

The generalized-α method lets the step change when what depends on it is scaled: multipliers are stored divided by
k_s ∝ 1/h, and a_n is an acceleration at the time t_n + (α_m − α_f) h, so that from a step h to a step h'

    a_n ← v̇_n + (h'/h)(a_n − v̇_n)                                                                               (1)

Without (1) a change of step is an error of first order. Where the step grows, a_n is made anew instead,

    a_n ← v̇_n + (h'/h)(α_m − α_f)(v̇_n − v̇_{n−1})                                                                 (1a)

because (1) keeps what a_n − v̇_n contains in addition to the derivative of v̇, a jump of it in a contact, say. That
decays by the factor −α_m/(1 − α_m) in a step; with h' = 2 h and ρ = 0 it did not decay at all, and a ball left a
compliant contact with 159 times its energy. Orders and numbers of steps in smooth motion are the same.

With a_n = v̇_n + δ h dv̇/dt, δ = α_m − α_f, the error of a step in positions is

    e = |β + δ/2 − 1/6| h³ |d²v/dt²| ≈ |β + δ/2 − 1/6| h² |v̇_{n+1} − v̇_n|                                          (2)

(rotations times the length of the model), plus |γ − ½ + δ| for the velocities where given coefficients are of first
order. A step is accepted when e is below the tolerance, the next one is
0.9 (tol/e)^⅓ times as large, between a fifth and twice. Other methods have their own estimate and its power of h;
steps of which they know none are the user's. The smooth motion alone enters: at a contact the scheme is of
first order whatever the step, so there the step is the user's h, and a larger one in which a contact closes is taken
again with h. So is one in which friction of a joint starts, ends or turns round: (2) does not see it.

Source: docs/theory/decoupled_nsga.md, (28), (29); (2) by Taylor expansion as Zienkiewicz and Xie, Earthq. Eng.
Struct. Dyn. 20 (1991), did for Newmark's method.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.errors import ParameterError
from fem_mbs.solvers.stepping.kernels.codes import OK, WHOLE
from fem_mbs.solvers.stepping.march.splitter import Splitter
from fem_mbs.solvers.stepping.saved.saved_state import attributes_of, put_attributes

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.march.march import March
    from fem_mbs.solvers.stepping.march.snapshot import Start

SAFETY, SLOWEST, FASTEST = 0.9, 0.2, 2.0
ROUND = 1e-6  # of a step: what the sum of many leaves
SAME = 1e-9  # of the user's step: times that differ by less are one, sizes too
REST = 1e-10  # of the user's step: less of it is not left at its end
WATCHED = 16.0  # steps down to the user's h over this are rejected when the energy rises; shorter ones do not help
BLURRED = 10.0  # times the tolerance: impacts of larger error, (2a), are reported


class StepControl(Checked):
    """How the step size of a run may change, with methods that have ``step_control`` among their options.

    Parameters
    ----------
    tolerance : float > 0, optional [m]
        Error of one step in smooth motion, largest of all positions (rotations times ``system.length``). None: the step
        changes only when it fails.
    h_max : float > 0, optional [s]
        Largest step in smooth motion; default: 100 times the user's h with a tolerance.
    h_min : float > 0, optional [s]
        A step that fails at this size ends the run; default: h/1024.

    Raises
    ------
    ParameterError
        Not positive, or h_min > h_max.

    Notes
    -----
    The step h of ``run`` is the one at contacts, and where friction of joints changes. Every step is a saved step
    (``save_every`` counts steps), ``result.h`` has their sizes, ``result.statistics`` the numbers of rejected ones.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6, h_max=1e-2))
    """

    def __init__(
        self, *, tolerance: float | None = None, h_max: float | None = None, h_min: float | None = None
    ) -> None:
        self.tolerance = None if tolerance is None else self.positive("tolerance", tolerance, "m")
        self.h_max = None if h_max is None else self.positive("h_max", h_max, "s")
        self.h_min = None if h_min is None else self.positive("h_min", h_min, "s")
        if self.h_max is not None and self.h_min is not None and self.h_min > self.h_max:
            raise ParameterError(self, "h_min", h_min, f"s is larger than h_max = {h_max} s")

    def __repr__(self):
        given = {name: getattr(self, name) for name in ("tolerance", "h_max", "h_min")}
        return f"StepControl({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"


class Controller:
    """Proposes and judges the sizes of the steps of one run.

    Attributes
    ----------
    h_max, h_min : float [s]
        Largest step; steps of this size that fail end the run.
    hold : int
        Steps for which the user's h is not exceeded: a contact is about to close.
    blur, blurred : float [m], [s]
        Largest (2a) of an accepted step, and its time.
    """

    varies = True

    def __init__(self, march: "March", control: StepControl) -> None:
        self.march, self.engine, self.control = march, march.engine, control
        engine = self.engine
        largest = march.h if control.tolerance is None else 100.0 * march.h
        self.h_max = min(control.h_max or largest, engine.longest)
        self.h_min = control.h_min or march.h / 1024.0
        self.failed = self.inaccurate = self.too_large = self.hold = 0
        self.soft = np.zeros(0, bool) if control.tolerance is None else engine.system.deformable()
        self.blur = self.blurred = 0.0
        self.splitter: Any = Splitter(march, engine.impacts == "auto") if engine.splits else None

    def propose(self) -> float:
        """Size [s] that the next step may have."""
        limit = self.march.whole if self._touches() or self.hold > 0 else self.h_max
        return min(self.march.next, limit)

    def checks_energy(self, h: float) -> bool:
        """True if a step h is rejected when the energy rises."""
        return h > max(self.march.whole / WATCHED, self.h_min)

    def cut(self) -> int | None:
        """How far the next trial goes: the whole step where impacts are not isolated; None for the usual."""
        return WHOLE if self.splitter is not None and self.splitter.pause(self.march.t) else None

    def may_retry(self, h: float) -> bool:
        """True if a step h that fails may be taken again with a smaller size."""
        return h > self.h_min and not self.engine.exhausted

    def judge(self, start: "Start", h: float, asked: float, code: int) -> bool:
        """Return whether a step h is accepted, where ``asked`` was proposed; `March.next` is the size to try next."""
        engine, march, whole = self.engine, self.march, self.march.whole
        if code != OK:
            self.failed += 1
            march.next = 0.5 * h
            return False
        struck = engine.arrays["impact"]
        if asked > whole * (1 + SAME) and (self._touches() or struck.any() or self._rubs()):
            self.too_large += 1
            self.hold, march.next = int(np.ceil(h / whole)), whole
            return False
        last = engine.run_data.kept_array(start.data, "Vd0")  # not kept by methods of one step
        change = None if last is None else engine.arrays["Vd"] - last
        if not self._judge(h, change):
            return False
        self.hold, march.change = max(self.hold - 1, 0), change
        return True

    def split(self, start: "Start", h: float, asked: float) -> tuple[float, int, Exception | None]:
        """Size, code, error of the step to the touch of a contact that closes in a step h; or size 0, of h as it is."""
        splitter, march = self.splitter, self.march
        if asked <= march.whole * (1 + ROUND):  # else it is taken again with the user's h
            if not splitter.crowded(march.t):
                part, failure = splitter.strike(h, start)
                if part > 0.0 or failure is not None:
                    return part, OK, failure
            splitter.leave(march.t)
        march.back(start)
        march.set_size(h)
        return 0.0, *march.trial(march.t + h, WHOLE)

    def _touches(self):
        """Whether a contact is closed that does not take part in the smooth motion."""
        a = self.engine.arrays
        return bool(((a["was_active"] != 0) & (a["closed"] == 0)).any())

    def _rubs(self):
        """Whether friction of a joint has changed its status or direction in the last step."""
        run = self.engine.run[0]
        return bool(run["friction"]) and run["friction_event"] >= 0.0

    def _judge(self, h, change):
        """Set the next step from the change of accelerations in this one; True when this one is accurate enough."""
        tolerance, engine, march = self.control.tolerance, self.engine, self.march
        error = None if tolerance is None else engine.method.local_error(engine, h, change)
        if error is None:
            march.next = min(2.0 * h, march.whole)
            return True
        scale = SAFETY * (tolerance / error) ** (1.0 / engine.method.error_order) if error > 0.0 else FASTEST
        blur = self._blur(h)
        # not below h_min where steps are accepted with a larger error, at contacts: they would shrink without end
        march.next = min(max(h * min(max(scale, SLOWEST), FASTEST), self.h_min), self.h_max)
        least = self.h_min
        if self._touches():
            least = max(least, march.whole / WATCHED if self.soft.any() else h)
        if max(error, blur) > tolerance and h > least * (1 + ROUND):
            self.inaccurate += 1
            part = max(SAFETY * tolerance / blur, SLOWEST) if blur > tolerance else 0.9
            march.next = max(min(march.next, part * h), least)
            return False
        if blur > self.blur:
            self.blur, self.blurred = blur, march.t + h
        return True

    def _blur(self, h):
        """(2a) [m] of the last step."""
        a = self.engine.arrays
        if not self.soft.any() or not a["impact"].any():
            return 0.0
        return float(0.5 * h * np.sqrt((a["W"][self.soft, :3] ** 2).sum(axis=1).max()))

    own: tuple[str, ...] = ("failed", "inaccurate", "too_large", "hold", "blur", "blurred")  # what steps change

    def get_state(self) -> dict[str, Any]:
        """Return what was counted, a copy."""
        splitter = None if self.splitter is None else self.splitter.get_state()
        return {"splitter": splitter, "own": attributes_of(self, self.own)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` has returned."""
        put_attributes(self, state["own"])
        if self.splitter is not None:
            self.splitter.set_state(state["splitter"])

    def complete(self, block: dict[str, np.ndarray], row: int = 0) -> None:
        """Leave the row of the last step as it is: steps are saved as taken."""

    def statistics(self) -> dict[str, int]:
        """Number of rejected steps, by reason."""
        return {
            "failed_steps": self.failed,
            "inaccurate_steps": self.inaccurate,
            "steps_too_large_for_contact": self.too_large,
            **self.splits(),
        }

    def splits(self) -> dict[str, int]:
        """Impacts that were split, and those that were fast enough for it and left to a step as it is."""
        splitter = self.splitter
        if splitter is None:
            return {}
        counts = {"split_impacts": splitter.count, "impacts_not_split": splitter.left}
        if splitter.locates_transitions:
            left = splitter.transitions_left
            counts |= {"located_transitions": splitter.transitions, "transitions_not_located": left}
        return counts

    def warnings(self) -> list[str]:
        """That bodies which deform were hit in steps that are too long for the tolerance."""
        tolerance = self.control.tolerance
        if tolerance is None or self.blur <= BLURRED * tolerance:
            return []
        enough = 0.5 * BLURRED * self.march.whole * tolerance / self.blur
        return [
            f"an impact of bodies that deform, at t = {self.blurred:.6g} s, has places to {self.blur:.3g} m only, "
            f"{self.blur / tolerance:.3g} times the tolerance of StepControl: at contacts steps are not shorter than "
            f"h/{WATCHED:.0f}. Give run a smaller h, about {enough:.1g} s"
        ]
