"""Steps of constant size that are subdivided: those that fail, and those that are split at an impact.

Results have one state of a subdivided step, at its end. A multiplier λ of a substep h_k has its smooth value of the
end, and over h_k the impulse Λ_k that the corrections gave; of the whole step h, as of one that is not subdivided,

    λ = λ_k − Λ_k/h_k + Σ_i Λ_i / h                                                                                (1)

with the last part k. What methods have over h says their function ``impulses``; where it is all that joints gave, as
with Lobatto's scheme, λ of a step without an impact is that of its end.

Source: docs/theory/accepted_steps.md, a step that fails; docs/theory/split_impacts.md.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import SolverError
from fem_mbs.results.sums import SUMS, along_axes, vectors
from fem_mbs.solvers.stepping.kernels.codes import (
    JUMP,
    LARGE_ROTATION,
    LARGEST_TURN,
    NOT_CONVERGED,
    OK,
    OUT_OF_RANGE,
    PASSED,
    SINGULAR,
    STOPS,
    TOO_MANY_PROBLEMS,
    TOUCHED,
    WHOLE,
)
from fem_mbs.solvers.stepping.kernels.records import RECORDS
from fem_mbs.solvers.stepping.march.snapshot import Snapshot, Start
from fem_mbs.solvers.stepping.march.step_control import REST, Controller, StepControl
from fem_mbs.solvers.stepping.monitors.unsaved import deliver
from fem_mbs.solvers.stepping.saved.saved_state import arrays_of, put_arrays
from fem_mbs.system.checks.element_checks import element_at

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.march.march import March

AT_IMPACT = ("contact_point", "contact_normal", "contact_tangents")  # saved of the substep with the impact
PARTS = 64  # of a step that fails in a run of constant steps
# history of a subdivided step <- that of the substeps before, that of one more; others are those of the last
OF_PARTS: dict[str, Any] = {
    **dict.fromkeys(("impulse", "moment_impulse", "problems", "repeats", "contact_problems"), np.add),
    **dict.fromkeys(("impact", "iterations"), np.maximum),
    # as in a step with several impacts: of the last in which the contact acted, whether it is open at the end or not
    "contact_status": lambda before, last: np.where(last > 0, last, before),
}
OVER_H = ("multiplier", "contact_force", "contact_moment")  # (1)
DIVIDED = (
    NOT_CONVERGED,
    SINGULAR,
    TOO_MANY_PROBLEMS,
    LARGE_ROTATION,
    PASSED,
    JUMP,
)  # failures after which smaller steps may succeed


class Divider(Controller):
    """Subdivides steps of constant size that fail.

    First the whole step is taken again with the iterations that were not asked for, Newton's on contacts and the mixed
    one of beams, which the run then keeps. The parts are halves, and halves of what fails again, down to 1/`PARTS`;
    they grow back as with `StepControl`, and their energies are watched as there. States are saved at the ends of
    whole steps, as if nothing had been: histories of a step are those of all substeps, see `OF_PARTS` and `OVER_H`.
    When a part of the smallest size fails too, the error is that of the whole step. Not divided: steps at whose
    end an element is out of its range (unless it says `shorter_steps_help`) or energy rose, and a step that begins
    with bodies that turn too fast for it, because the user's steps are too large as such.
    """

    varies = False

    def __init__(self, march: "March") -> None:
        engine = march.engine
        self.divides = engine.method.divide_failed_steps
        super().__init__(march, StepControl(h_min=march.h / PARTS if self.divides else march.h))
        engine.run_data.keep_starts()
        self.splitting, self.deforms = False, self.splitter is not None and bool(engine.system.deformable().any())
        self.in_parts: Snapshot | None = None  # start of the last step, if it was subdivided and events are watched
        self.last_step: dict[str, Any] = {"step": 0}  # histories of the step that was subdivided last
        self.divided, self.first, self.part = 0, np.inf, engine.make_records(1)
        self.part_record = np.zeros(1, RECORDS.dtype)
        RECORDS.aim(self.part_record, self.part)
        asked = {"newton": 1, "mixed": int(any("mixed" in element.kernels for element in engine.system.elements))}
        # options that the method has
        asked = {name: value for name, value in asked.items() if name in (engine.record_of(name).dtype.names or ())}
        self.other = {name: value for name, value in asked.items() if value != engine.record_of(name)[name]}

    def steps_at_once(self, end: float, left: int) -> int:
        """Number of equal steps, of which the first ends at a time [s], that one call of compiled code takes."""
        self.in_parts = None
        if self.splitter is None:
            return left
        pause = self.splitter.pause(end - self.march.whole)
        self.engine.run[0]["cut"] = WHOLE if pause else STOPS
        return min(pause, left) if pause else left

    def retry(
        self, code: int, times: np.ndarray, signals: np.ndarray, done: int, records: dict[str, np.ndarray]
    ) -> tuple[int, Exception | None]:
        """Take the step to times[done] again, in substeps; return the number of steps taken, and the error."""
        engine = self.engine
        if code == TOUCHED:
            code = self._split_step(Start(self._begin_parts(), self.march.size), times, signals, done, records)
            if code == OK:
                return 1, None
        if not self.divides or engine.exhausted or not self._may_help(code):
            return 0, self.march.fault(code, times, done)
        end = float(times[done])
        error = engine.fault(code, end)
        self._begin_parts()  # of the step that failed: _split_step has taken it in one call of its own
        largest = np.abs(engine.arrays["V"][:, 3:]).max()
        too_fast = code == LARGE_ROTATION and self.march.whole * largest > LARGEST_TURN
        if too_fast or not self._divide(end, records):
            return 0, engine.fault(code, end) if engine.exhausted else error
        return 1, None

    def _may_help(self, code):
        """True if smaller steps may succeed after a failure."""
        if code != OUT_OF_RANGE:
            return code in DIVIDED
        return element_at(self.engine.system, int(self.engine.run[0]["jumped"])).shorter_steps_help

    def _begin_parts(self):
        """Restore the start of a step that is subdivided, and return it; event location may need it too."""
        start = self.engine.run_data.start_of_step()
        self.engine.run_data.restore(start)
        if self.engine.run[0]["watch_part"]:
            self.in_parts = Snapshot(self.march, start)
        return start

    def start_of_last(self) -> Snapshot:
        """Start of the last step, as a whole."""
        return self.in_parts or Snapshot(self.march, self.engine.run_data.start_of_step())

    def _divide(self, end, records):
        """Take one step of the user that has failed, and ends at a time, in substeps; False when that fails."""
        self.march.next = (1.0 if self.other else 0.5) * self.march.whole
        while self.other:
            name, value = self.other.popitem()
            if name == "mixed":
                self.engine.use_mixed()
            self.engine.record_of(name)[name] = value
        if not self._in_parts(end, records):
            return False
        self.divided += 1
        self.first = min(self.first, end)
        return True

    def _split_step(self, start, times, signals, done, records):
        """Code of the step of the user's to times[done], in which a contact touches: split there, or as it is."""
        engine, march, run = self.engine, self.march, self.engine.run[0]
        splitter = self.splitter
        march.next, self.splitting, counts = march.whole, True, (splitter.count, splitter.transitions)
        split = self._in_parts(float(times[done]), records, touched=True)
        self.splitting = False
        if split:
            return OK if not self.deforms or splitter.settle() else SINGULAR
        splitter.count, splitter.transitions = counts
        splitter.leave(march.t)
        march.back(start)
        run["cut"] = WHOLE
        _, code = engine.run_steps(engine.data, engine.run, 1, done, times, signals)
        run["cut"] = STOPS
        return code

    def split(self, start: Start, h: float, asked: float) -> tuple[float, int, Exception | None]:
        """As of `Controller`; a step in which too many impacts were split ends, to be taken as it is."""
        if self.splitting and self.splitter.crowded(self.march.t):
            return 0.0, OK, SolverError("more impacts in a step than are split")
        return super().split(start, h, asked)

    def _in_parts(self, end, records, touched=False):
        """Take one step of the user, which ends at a time, in substeps, `March.next` first; False when that fails."""
        engine, march, run = self.engine, self.march, self.engine.run[0]
        march.t, march.change, self.hold = end - march.whole, None, 0
        if self.splitter is not None:
            self.splitter.begin()
        names = ("saved", "step_number", "save_every", "whole_every", "strict", "in_parts")
        user = {name: int(run[name]) for name in names}
        run["save_every"] = run["whole_every"] = run["in_parts"] = 1
        engine.run_data.use_records(self.part_record)
        sums = _Sums(self, engine.arrays)
        error = None
        while error is None and march.t < end - REST * march.whole:
            run["saved"] = 0
            error = march.step(end, touched)
            touched = False
            sums.add()
        engine.run_data.use_records(engine.run_data.records)
        for name, value in user.items():
            run[name] = value
        if error is not None:
            return False
        run["work"] = 0
        histories = sums.histories()
        march.set_size(march.whole)
        run["t"], run["step_number"] = end, user["step_number"] + 1
        run["looked"] = run["unsaved_step"] = run["step_number"]
        engine.arrays["counted"][:] = sums.counted()
        self.last_step = {name: array[0].copy() for name, array in self.part.items()} | histories
        self.last_step |= {"t": end, "h": march.whole, "step": int(run["step_number"])}
        if run["step_number"] % user["save_every"] == 0:
            for name, array in records.items():
                array[user["saved"]] = self.last_step[name]
            deliver(engine, records, user["saved"])
            run["saved"] += 1
        return True

    own = (*Controller.own, "divided", "first", "last_step")

    def get_state(self) -> dict[str, Any]:
        """As of `Controller`."""
        return super().get_state() | {"part": arrays_of(self.part), "other": dict(self.other)}

    def set_state(self, state: dict[str, Any]) -> None:
        """As of `Controller`."""
        super().set_state(state)
        put_arrays("parts of a step", self.part, state["part"])
        self.other = dict(state["other"])

    def complete(self, block: dict[str, np.ndarray], row: int = 0) -> None:
        """Complete a row, which has state, impulses and counts, with the rest of a last step that was subdivided."""
        if 0 < self.last_step["step"] == self.engine.run[0]["step_number"]:
            one = {name: values[row : row + 1] for name, values in block.items()}
            impulses = vectors(one)
            for name, value in self.last_step.items():
                if name not in (*SUMS, "impact"):
                    block[name][row] = value
            for name, value in along_axes(one, *impulses).items():
                block[name][row] = value[0]

    def statistics(self) -> dict[str, int]:
        """Number of subdivided steps."""
        return {"divided_steps": self.divided, **self.splits()}

    def warnings(self) -> list[str]:
        """Warning about subdivided steps."""
        if not self.divided:
            return []
        some, first = f"{self.divided} steps were subdivided because they failed", ", the first"
        if self.divided == 1:
            some, first = "1 step was subdivided because it failed", ","
        return [
            f"{some} as a whole{first} before t = {self.first:.6g} s: "
            "look whether the motion there is what you expect, and take smaller steps if there are many."
        ]


class _Sums:
    """Histories of a step that is subdivided, from those of its substeps.

    Parameters
    ----------
    divider : Divider
    arrays : dict of name -> array, of the run
    """

    def __init__(self, divider: Divider, arrays: dict[str, np.ndarray]) -> None:
        self.divider, self.engine, self.arrays, self.part = divider, divider.engine, arrays, divider.part
        run = self.engine.run[0]
        self.before = arrays["counted"].copy()
        # of a switch as the step began: the first part reports it
        switched = bool(run["jump_step"] == run["step_number"])
        self.jump = arrays["jump_m"] * float(switched)
        self.switched = switched and bool((arrays["waiting"] == 2).any())  # with impulses of contacts
        self.at_impact = {name: self.part[name][0].copy() for name in AT_IMPACT}
        self.step: dict[str, Any] = dict.fromkeys(OF_PARTS, 0)
        self.impulses: dict[str, Any] = dict.fromkeys(OVER_H, 0.0)
        self.last: dict[str, np.ndarray] = {}
        self.parts = 0

    def add(self) -> None:
        """Add those of one more substep."""
        self.parts += 1
        self.step = {name: of_parts(self.step[name], self.part[name][0]) for name, of_parts in OF_PARTS.items()}
        self.last = self.engine.method.impulses(self.engine)
        self.impulses = {name: self.impulses[name] + self.last.get(name, 0.0) for name in OVER_H}
        struck = self.part["impact"][0] != 0
        for name, row in self.at_impact.items():
            row[struck] = self.part[name][0][struck]

    def counted(self) -> np.ndarray:
        """Return the counts up to the end of the step."""
        return self.before + [self.step[name] for name in ("problems", "repeats", "contact_problems")]

    def histories(self) -> dict[str, Any]:
        """Return histories that are not those of the last substep."""
        engine, step, whole = self.engine, self.step, self.divider.march.whole
        struck = step["impact"] > 0
        all_impulses = self.switched or step["impact"].any() or not engine.method.means_at_impacts
        forces = self._forces() if all_impulses else {}
        if engine.forces and not engine.run[0]["persistent"]:
            forces |= {"contact_force": step["impulse"] / whole, "contact_moment": step["moment_impulse"] / whole}
        for name, row in self.at_impact.items():
            row[~struck] = self.part[name][0][~struck]
        return step | forces | self.at_impact

    def _forces(self):
        """Forces by (1), and the outputs that follow from them."""
        from fem_mbs.system.assembly import output_values

        engine, a, march = self.engine, self.arrays, self.divider.march
        impulses = self.impulses
        impulses["multiplier"] = impulses["multiplier"] + (self.jump if self.parts > 1 else 0.0)
        forces = {name: self.part[name][0] + impulses[name] / march.whole - self.last.get(name, 0.0) / march.size
                  for name in OVER_H}  # fmt: skip
        if engine.system.n_outputs:
            forces["output"] = np.zeros(engine.system.n_outputs)
            motion = a["x"], a["R"], a["V"], self.part["acceleration"][0]
            output_values(engine.data[0], *motion, forces["multiplier"], forces["output"])
        return forces
