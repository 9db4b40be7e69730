"""Steps of constant size that are taken in parts: those that fail, and those that are split at an impact.

What a step in parts leaves to results is one state, at its end. A multiplier λ of a part h_k has its smooth value of
the end, and over h_k the impulse Λ_k that the corrections gave; of the whole step h, as of one that is not divided,

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
    ENERGY_ROSE,
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
from fem_mbs.solvers.stepping.march.snapshot import Snapshot
from fem_mbs.solvers.stepping.march.step_control import REST, Controller, StepControl
from fem_mbs.solvers.stepping.monitors.unsaved import deliver
from fem_mbs.solvers.stepping.saved.saved_state import arrays_of, put_arrays
from fem_mbs.system.checks.element_checks import element_at

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

AT_IMPACT = ("contact_point", "contact_normal", "contact_tangents")  # saved of the part that struck
PARTS = 64  # of a step that fails in a run of constant steps
OF_PARTS = {  # history of a step in parts <- that of the parts before, that of one more; others are those of the last
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
)  # failures that smaller steps may mend


class Divider(Controller):
    """Takes the steps of an engine at constant size, and those that fail in parts.

    First the whole step is taken again with the iterations that were not asked for, Newton's on contacts and the mixed
    one of beams, which the run then keeps. The parts are halves, and halves of what fails again, down to 1/`PARTS`;
    they grow back as with `StepControl`, and their energies are watched as there. States are saved at the ends of
    whole steps, as if nothing had been: histories that tell of a step tell of all parts, see `OF_PARTS` and `OVER_H`.
    When a part of the smallest size fails too, the error is that of the whole step. Not divided: steps at whose
    end an element is out of its range (unless it says `shorter_steps_help`) or energy rose, and a step that begins
    with bodies that turn too fast for it, because the user's steps are too large as such.
    """

    def __init__(self, engine: "Engine") -> None:
        self.divides = engine.method.divide_failed_steps
        super().__init__(engine, StepControl(h_min=engine.h / PARTS if self.divides else engine.h))
        engine.run_data.keep_starts()
        self.splitting, self.deforms = False, self.splitter is not None and bool(engine.system.deformable().any())
        self.in_parts: Snapshot | None = None  # start of the last step, if it was subdivided and events are watched
        self.last_step: dict[str, Any] = {"step": 0}  # histories of the step that was taken in parts last
        self.divided, self.first, self.part = 0, np.inf, engine.make_records(1)
        self.part_record = np.zeros(1, RECORDS.dtype)
        RECORDS.aim(self.part_record, self.part)
        asked = {"newton": 1, "mixed": int(any("mixed" in element.kernels for element in engine.system.elements))}
        # options that the method has
        asked = {name: value for name, value in asked.items() if name in (engine.record_of(name).dtype.names or ())}
        self.other = {name: value for name, value in asked.items() if value != engine.record_of(name)[name]}

    def advance(
        self, times: np.ndarray, signals: np.ndarray, records: dict[str, np.ndarray]
    ) -> tuple[int, int, Exception | None]:
        """As `Engine.advance`."""
        engine, run, done = self.engine, self.engine.run[0], 0
        while done < len(times) and run["crossed"] == 0:
            self.in_parts, count = None, len(times) - done
            if self.splitter is not None:
                pause = self.splitter.pause(float(times[done]) - engine.h)
                run["cut"], count = (WHOLE, min(pause, count)) if pause else (STOPS, count)
            taken, code = engine.run_steps(engine.data, engine.run, count, done, times, signals)
            done += taken
            if code == TOUCHED:
                start = self._begin_parts()
                code = self._split_step(start, self.h, times, signals, done, records)
                done += 1 if code == OK else 0
            if code == OK:
                continue  # all of them, those of a pause of splitting, or up to an event
            if not self.divides or engine.exhausted or not self._may_help(code):
                at = times[done - 1] if code == ENERGY_ROSE else times[min(done, len(times) - 1)]
                return done, int(engine.run[0]["saved"]), engine.fault(code, float(at))
            asked, error = code, engine.fault(code, float(times[done]))
            self._begin_parts()  # of the step that failed: _split_step has taken it in one call of its own
            too_fast = asked == LARGE_ROTATION and engine.h * np.abs(engine.arrays["V"][:, 3:]).max() > LARGEST_TURN
            if too_fast or not self._divide(float(times[done]), records):
                error = engine.fault(code, float(times[done])) if engine.exhausted else error
                return done, int(engine.run[0]["saved"]), error
            done += 1
        return done, int(engine.run[0]["saved"]), None

    def _may_help(self, code):
        """Whether smaller steps may mend a failure."""
        if code != OUT_OF_RANGE:
            return code in DIVIDED
        return element_at(self.engine.system, int(self.engine.run[0]["jumped"])).shorter_steps_help

    def _begin_parts(self):
        """Go back to the start of a step that is taken in parts, and return it; event location may need it too."""
        start = self.engine.run_data.start_of_step()
        self.engine.run_data.restore(start)
        if self.engine.run[0]["watch_part"]:
            self.in_parts = Snapshot(self.engine, start)
        return start

    def start_of_last(self) -> Snapshot:
        """Start of the last step, as a whole."""
        return self.in_parts or Snapshot(self.engine, self.engine.run_data.start_of_step())

    def _divide(self, end, records):
        """Take one step of the user's that has failed, and ends at a time, in parts; False when that fails."""
        self.next = (1.0 if self.other else 0.5) * self.engine.h
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

    def _split_step(self, before, size, times, signals, done, records):
        """Code of the step of the user's to times[done], in which a contact touches: split there, or as it is."""
        engine, run = self.engine, self.engine.run[0]
        self.next, self.splitting, count = engine.h, True, self.splitter.count
        split = self._in_parts(float(times[done]), records, stopped=True)
        self.splitting = False
        if split:
            return OK if not self.deforms or self.splitter.settle() else SINGULAR
        self.splitter.count = count
        self.splitter.leave(self.t)
        self.back(before, size)
        run["cut"] = WHOLE
        _, code = engine.run_steps(engine.data, engine.run, 1, done, times, signals)
        run["cut"] = STOPS
        return code

    def _split(self, h, asked, before, size):
        """As of `Controller`; a step in which too many impacts were split ends, to be taken as it is."""
        if self.splitting and self.splitter.crowded(self.t):
            return 0.0, OK, SolverError("more impacts in a step than are split")
        return super()._split(h, asked, before, size)

    def _in_parts(self, end, records, stopped=False):
        """Take one step of the user's, which ends at a time, in parts, ``self.next`` first; False when that fails."""
        engine, run = self.engine, self.engine.run[0]
        self.t, self.change, self.hold = end - engine.h, None, 0
        if self.splitter is not None:
            self.splitter.begin()
        names = ("saved", "step_number", "save_every", "whole_every", "strict", "in_parts")
        user, counted = {name: int(run[name]) for name in names}, engine.arrays["counted"].copy()
        run["save_every"] = run["whole_every"] = run["in_parts"] = 1
        engine.run_data.use_records(self.part_record)
        step, impulses, error = dict.fromkeys(OF_PARTS, 0), dict.fromkeys(OVER_H, 0.0), None
        jump, parts = engine.arrays["jump_m"].copy(), 0  # of a switch as the step began: the first part reports it
        switched = run["jump_step"] == run["step_number"]
        jump *= float(switched)
        switched = switched and (engine.arrays["waiting"] == 2).any()  # with impulses of contacts
        at_impact = {name: self.part[name][0].copy() for name in AT_IMPACT}
        while error is None and self.t < end - REST * engine.h:
            run["saved"] = 0
            error = self._step(end, stopped)
            stopped, parts = False, parts + 1
            step = {name: of_parts(step[name], self.part[name][0]) for name, of_parts in OF_PARTS.items()}
            last = engine.method.impulses(engine)
            impulses = {name: impulses[name] + last.get(name, 0.0) for name in OVER_H}
            struck = self.part["impact"][0] != 0
            for name, row in at_impact.items():
                row[struck] = self.part[name][0][struck]
        engine.run_data.use_records(engine.run_data.records)
        for name, value in user.items():
            run[name] = value
        if error is not None:
            return False
        run["work"] = 0
        impulses["multiplier"] = impulses["multiplier"] + (jump if parts > 1 else 0.0)
        all_impulses = switched or step["impact"].any() or not engine.method.means_at_impacts
        forces = self._with_impulses(impulses, last) if all_impulses else {}
        if engine.forces and not run["persistent"]:
            forces |= {"contact_force": step["impulse"] / engine.h, "contact_moment": step["moment_impulse"] / engine.h}
        self.set_step(engine.h)
        run["t"], run["step_number"] = end, user["step_number"] + 1
        run["looked"] = run["unsaved_step"] = run["step_number"]
        engine.arrays["counted"][:] = counted + [step[name] for name in ("problems", "repeats", "contact_problems")]
        struck = step["impact"] > 0
        for name, row in at_impact.items():
            row[~struck] = self.part[name][0][~struck]
        self.last_step = {name: array[0].copy() for name, array in self.part.items()} | step | forces | at_impact
        self.last_step |= {"t": end, "h": engine.h, "step": int(run["step_number"])}
        if run["step_number"] % user["save_every"] == 0:
            for name, array in records.items():
                array[user["saved"]] = self.last_step[name]
            deliver(engine, records, user["saved"])
            run["saved"] += 1
        return True

    def _with_impulses(self, impulses, last):
        """Forces by (1), and the outputs that follow from them; ``impulses`` of all parts and of the ``last``."""
        from fem_mbs.system.assembly import output_values

        engine, a = self.engine, self.engine.arrays
        forces = {name: self.part[name][0] + impulses[name] / engine.h - last.get(name, 0.0) / self.h
                  for name in OVER_H}  # fmt: skip
        if engine.system.n_outputs:
            forces["output"] = np.zeros(engine.system.n_outputs)
            motion = a["x"], a["R"], a["V"], self.part["acceleration"][0]
            output_values(engine.data[0], *motion, forces["multiplier"], forces["output"])
        return forces

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
        """Steps that were taken in parts."""
        return {"divided_steps": self.divided, **self.splits()}

    def warnings(self) -> list[str]:
        """That steps were taken in parts."""
        if not self.divided:
            return []
        some, first = f"{self.divided} steps were taken in parts because they failed", ", the first"
        if self.divided == 1:
            some, first = "1 step was taken in parts because it failed", ","
        return [
            f"{some} as a whole{first} before t = {self.first:.6g} s: "
            "look whether the motion there is what you expect, and take smaller steps if there are many."
        ]
