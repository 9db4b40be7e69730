"""The march of a run: next stop, size of the steps, take them, accept or reject, arrive.

Stops are the times at which something happens (`stepping.march.schedule`), and the end of the run. Between two stops
steps are equal, or vary with step control. From t to the next stop t_s there are

    n = ⌈(t_s − t)/H − 10⁻³⌉     h = (t_s − t)/n                                                                   (1)

equal steps with the user's step H, and h = H to the last bit where H divides the interval to 10⁻⁹. Many equal steps are
taken in one call of compiled code. Those of variable size are taken one by one, as are the substeps of equal steps that
fail or in which an impact is split:

    propose()            size of the next step (`step_control.Controller`)
    trial(t)             attempt of a step to time t
    judge(…)             True if it is accepted; otherwise the march restores its start and tries another size
    retry(…)             take an equal step that failed again, in substeps (`divider.Divider`)
    schedule.arrive()    actions that are due at a stop

The march alone holds the size of steps: `h` of the user, `whole` of the present equal steps, `size` of the last trial.

Source: docs/theory/events.md, (1).
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import FemMbsError, SolverError
from fem_mbs.solvers.stepping.kernels.codes import ENERGY_ROSE, NEVER, NO_ROOM, OK, TOUCHED
from fem_mbs.solvers.stepping.march.chunks import signals_at
from fem_mbs.solvers.stepping.march.snapshot import Snapshot, Start
from fem_mbs.solvers.stepping.march.step_control import ROUND, SAME, Controller
from fem_mbs.solvers.stepping.saved.saved_state import attributes_of, put_attributes, same_names

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.march.schedule import Schedule

STRETCH = 1e-3  # of the user's step: a rest shorter than it is no step of its own


class March:
    """Takes the steps of an engine.

    Attributes
    ----------
    h : float [s]
        Step size of the user.
    whole : float [s]
        Size of the equal steps on the way to the next stop.
    t : float [s]
        Time that is reached.
    next : float [s]
        Size that the next step of variable size may have.
    change : (N, 6) or None
        Change of the accelerations in the last step; None where they have jumped.
    short : bool
        No step has had the user's size since an impact was split.
    control : Controller or None
        Proposes and judges sizes of steps; without it a step that fails ends the run.
    schedule : Schedule or None
        Stops before the end of the run.
    """

    def __init__(self, engine: "Engine", h: float) -> None:
        self.engine = engine
        self.h = self.whole = self.next = h
        self.t = float(engine.system.initial.t)
        self.change: np.ndarray | None = None
        self.short = False
        self.control: Any = None
        self.schedule: Schedule | None = None
        self.segment: tuple[float, float, int] | None = None  # of equal steps: begin, stop, number
        self.taken = 0  # steps of it
        self.block: dict[str, np.ndarray] = {}  # records that are filled

    def equip(self, interrupted: bool) -> None:
        """Create what controls the steps; ``interrupted``: there are stops before the end of the run."""
        method = self.engine.method
        self.mass = self.engine.system.contact_mass  # k of multipliers, times h
        if method.step_control is not None:
            self.control = Controller(self, method.step_control)
        elif method.divide_failed_steps or self.engine.splits:
            self._subdivide()
        if interrupted:
            self._interrupt(None)

    def _subdivide(self):
        """Subdivide steps that fail; contact groups are not restored, so that their steps are not."""
        if self.control is None and not self.engine.system.searches:
            from fem_mbs.solvers.stepping.march.divider import Divider

            self.control = Divider(self)

    def _interrupt(self, output_times):
        """Create the schedule: steps end at its stops, and have sizes of their own."""
        from fem_mbs.solvers.stepping.march.schedule import Schedule

        self._subdivide()
        self.schedule = Schedule(self, output_times)

    def stop_at(self, times: np.ndarray) -> None:
        """Save the states at some times [s], where steps then end, and no others."""
        self._interrupt(times)
        run = self.engine.run[0]
        run["save_every"], run["whole_every"] = NEVER, 1

    @property
    def varies(self) -> bool:
        """True if the size of steps varies with step control."""
        return self.control is not None and self.control.varies

    @property
    def ended(self) -> str:
        """Why an event has ended the run; "" while it continues."""
        return "" if self.schedule is None else self.schedule.ended

    # --- sizes --------------------------------------------------------------------------------------------------------

    @property
    def size(self) -> float:
        """Size [s] of the last trial of a step."""
        return float(self.engine.run[0]["h"])

    def set_size(self, h: float) -> None:
        """Scale what depends on the step from the last size to h.

        An impulse leaves stiff parts vibrating, and steps shorter than their periods follow them: a − v̇ of the rest of
        a step that was split does not grow with the step.
        """
        ratio = h / self.size
        if ratio != 1.0:
            self._use(h)
        if abs(ratio - 1.0) > ROUND:  # round-off of times must not choose how the memory is scaled
            self.engine.run_data.rescale(ratio)
            self.engine.method.rescale(self.engine, min(ratio, 1.0) if self.short else ratio, self.change)
        self.short = self.short and h < self.whole * (1 - ROUND)

    def _use(self, h):
        """Numbers of the records for a step h."""
        run = self.engine.run[0]
        run["ks"] = self.mass / h  # not by factors, whose round-off would depend on the steps before
        run["h"] = h
        self.engine.method.use(self.engine, h)

    def resize(self, h: float) -> None:
        """Let equal steps have the size h [s] from now on."""
        if h == self.whole:
            return
        self.whole = h
        self.set_size(h)
        if "whole" in (self.engine.own.dtype.names or ()):
            self.engine.own[0]["whole"] = h

    def accelerations_jumped(self) -> None:
        """Accelerations have jumped: the next step is not compared with the last."""
        self.change = None

    def model_changed(self) -> None:
        """Constraints or forces have come or gone: the next step has the user's size at most."""
        self.change, self.next = None, min(self.next, self.whole)

    # --- one step -----------------------------------------------------------------------------------------------------

    def start(self) -> Start:
        """Return the present state, to which `back` returns."""
        return Start(self.engine.run_data.kept(), self.size)

    def back(self, start: Start) -> None:
        """Go back to the start of a step."""
        self._use(start.size)
        self.engine.run_data.restore(start.data)

    def trial(self, t: float, cut: int | None = None) -> tuple[int, Exception | None]:
        """Code of a step to time t, and the error of a signal that is not finite; ``cut``: how far it goes."""
        engine, end = self.engine, np.array([t])
        signals, error = signals_at(engine.system, end, self.size, engine.method.instants)
        if error is not None:
            return OK, error
        usual = engine.run[0]["cut"]
        engine.run[0]["cut"] = usual if cut is None else cut
        _, code = engine.run_steps(engine.data, engine.run, 1, 0, end, signals)
        engine.run[0]["cut"] = usual
        return code, None

    def step(self, end: float, touched: bool = False) -> Exception | None:
        """Take one accepted step, up to a time [s] at most; return the error of one that cannot be taken.

        ``touched``: a contact is known to close in it, see `nsga.split`.
        """
        engine, control = self.engine, self.control
        start, asked = self.start(), control.propose()
        while True:
            # the last step ends at the end, and none is left that is shorter than a tenth of the others
            remaining = end - self.t
            h = remaining if asked > 0.9 * remaining else asked
            self.set_size(h)
            engine.run[0]["strict"] = int(engine.strict or control.checks_energy(h))
            code, failure = (TOUCHED, None) if touched else self.trial(self.t + h, control.cut())
            touched = False
            if code == TOUCHED:
                part, code, failure = control.split(start, h, asked)
                if part > 0.0:
                    self.t += part
                    self.next, self.change, self.short = asked, None, True
                    return None
            if failure is None and code != OK and not control.may_retry(h):
                failure = engine.fault(code, self.t + h)
            if failure is not None:
                return failure
            if control.judge(start, h, asked, code):
                self.t += h
                return None
            self.back(start)
            asked = self.next

    # --- equal steps --------------------------------------------------------------------------------------------------

    def take(
        self, times: np.ndarray, signals: np.ndarray, block: dict[str, np.ndarray]
    ) -> tuple[int, int, Exception | None]:
        """Take the equal steps that end at ``times`` (k,), with the ``signals`` of each; returns as `advance`.

        Records follow those of the block that are filled. A step in which an event is crossed is the last.
        """
        engine, run, groups = self.engine, self.engine.run[0], self.engine.contact_groups
        before, done, saved, error = self.t, 0, int(run["saved"]), None
        engine.pair_tables = []
        while error is None and done < len(times) and run["crossed"] == 0:
            left = len(times) - done
            count = left if self.control is None else self.control.steps_at_once(float(times[done]), left)
            if groups is None:
                taken, code = engine.run_steps(engine.data, engine.run, count, done, times, signals)
            else:
                taken, code = groups.take(count, done, times, signals)
                if int(run["saved"]) > saved:
                    engine.pair_tables.append(groups.closed_pairs())
                    block["pair_count"][saved] = len(engine.pair_tables[-1])
                    saved = int(run["saved"])
            done += taken
            if code == NO_ROOM:
                groups.make_room()
            elif code != OK and self.control is not None:
                taken, error = self.control.retry(code, times, signals, done, block)
                done += taken
            elif code != OK:
                error = self.fault(code, times, done)
        self.t = float(times[done - 1]) if done else before
        return done, int(run["saved"]), error

    def fault(self, code: int, times: np.ndarray, done: int) -> Exception:
        """Return the error of a step with a code after ``done`` steps; with a rise of energy it is the last of them."""
        return self.engine.fault(code, float(times[done - 1 if code == ENERGY_ROSE else min(done, len(times) - 1)]))

    # --- the run ------------------------------------------------------------------------------------------------------

    def begin(self) -> Exception | None:
        """Do what is due at the initial time; return the error, or None."""
        try:
            if self.schedule is not None:
                self.schedule.begin()
                self._arrive()
        except FemMbsError as error:
            return as_run_error(error, self.t)
        return None

    def finish(self) -> None:
        """End the run: held signals get their initial values back."""
        if self.schedule is not None:
            self.schedule.finish()

    def advance(self, times: np.ndarray, block: dict[str, np.ndarray]) -> tuple[int, int, Exception | None]:
        """Step to the last of ``times`` or past it, or until the records are full.

        Parameters
        ----------
        times : (k,) [s]
            Ends of steps of the user; without stops equal steps end there.
        block : dict of name -> array, first axis: saved steps
            Records to fill, see `stepping.kernels.records`.

        Returns
        -------
        done : int
            Number of ``times`` that are reached.
        saved : int
            Number of records filled.
        error : SolverError or None
            Reason why the run cannot continue.
        """
        engine, run = self.engine, self.engine.run[0]
        engine.matrices.update()  # another run may have searched pairs
        engine.run_data.record_into(block)
        self.block, error = block, None
        room, slack, until = len(block["t"]), SAME * self.h, min(float(times[-1]), engine.t_end)
        if self.varies and self.schedule is None:  # steps of variable size: signals are compared at the user's times
            engine.jumps.look(times, signals_at(engine.system, times, self.h, engine.method.instants)[0], self.h)
        try:
            if self.schedule is not None:
                self.schedule.switching.act(self.t, slack)  # of a run that had ended here and is continued
            while error is None and self.t < until - slack and not self.ended and int(run["saved"]) < room:
                error = self._variable(until, room) if self.varies else self._equal(times, until, room)
                if engine.system.searches:
                    break  # their tables are of one call
        except FemMbsError as failure:
            if self.schedule is None:
                raise
            error = as_run_error(failure, self.t)
        over = self.t >= engine.t_end - slack
        done = len(times) if over else int(np.searchsorted(times, self.t + slack, side="right"))
        return done, int(run["saved"]), error

    def _equal(self, times, until, room):
        """Take equal steps towards the next stop, and act there; return the error, or None."""
        ends = times if self.schedule is None else self._ends(until, room)
        engine, run, before = self.engine, self.engine.run[0], self.t
        signals, bad = signals_at(engine.system, ends, self.whole, engine.method.instants)
        taken, _, failure = self.take(ends[: len(signals)], signals, self.block)
        # not those behind a crossing, which depend on how many steps were wanted
        looked = taken if failure is None else taken + 1
        engine.jumps.look(ends[:looked], signals[:looked], self.whole)
        if run["crossed"] != 0:
            start = float(ends[taken - 2]) if taken > 1 else before
            return self._crossed(self.control.start_of_last(), start, self.t)
        self.taken += taken
        failure = failure or (bad if taken == len(signals) else None)
        if failure is None and self.segment is not None and self.taken == self.segment[2]:
            self._arrive()
        return failure

    def _ends(self, until, room):
        """Ends of the next equal steps by (1): up to a time, and as many as there is room for."""
        if self.segment is None:
            stop = self.schedule.next_stop()
            steps = max(1, math.ceil((stop - self.t) / self.h - STRETCH))
            size = (stop - self.t) / steps
            self.resize(self.h if abs(size - self.h) <= SAME * self.h else size)
            self.segment, self.taken = (self.t, stop, steps), 0
        (begin, stop, steps), h, run = self.segment, self.whole, self.engine.run[0]
        wanted = max(1, math.ceil((until - self.t) / h - SAME))
        every, number = int(run["save_every"]), int(run["step_number"])
        fit = (number // every + room - int(run["saved"]) + 1) * every - 1 - number
        count = min(steps - self.taken, wanted, max(fit, 1))
        ends = begin + h * np.arange(self.taken + 1, self.taken + count + 1)
        if self.taken + count == steps:
            ends[-1] = stop
        return ends

    def _variable(self, until, room):
        """Take steps of variable size towards the next stop, and act there; return the error, or None."""
        schedule, run = self.schedule, self.engine.run[0]
        stop = self.engine.t_end if schedule is None else schedule.next_stop()
        slack, end = SAME * self.h, min(stop, max(until, self.t))
        while self.t < end - slack and int(run["saved"]) < room:
            before = Snapshot(self) if schedule is not None and schedule.events else None
            start, wanted = self.t, self.next
            failure = self.step(stop)
            if run["crossed"] != 0:
                return self._crossed(before, start, self.t)
            if failure is not None:
                return failure
            if schedule is not None and self.t >= stop - slack:
                # the step was cut short by the stop, not by the motion
                self.t, self.next = stop, max(self.next, wanted)
                self._arrive()
                break
        return None

    def _arrive(self):
        """Do what is due at the present time."""
        self.segment = None
        self.schedule.arrive()

    def _crossed(self, before, start, end):
        """Locate an event that was crossed in a step from ``start`` to ``end``, and take its actions."""
        engine, run = self.engine, self.engine.run[0]
        if run["crossed"] < 0:
            failure, engine.sensing.failure = engine.sensing.failure, None
            return failure
        from fem_mbs.solvers.stepping.march.crossing import Crossing

        fired, failure = Crossing(self, before, start, end).find()
        self.segment = None
        run["crossed"] = 0
        engine.jumps.last = None
        if failure is not None:
            return failure
        self.schedule.trigger(fired)
        if not self.ended:
            self._arrive()  # what is due at this very time
        return None

    # --- what is kept -------------------------------------------------------------------------------------------------

    own = ("t", "whole", "next", "change", "short")  # restored with the start of a step

    @property
    def parts(self) -> dict[str, Any]:
        """Parts with a state of their own."""
        parts = {"control": self.control, "schedule": self.schedule}
        return {name: part for name, part in parts.items() if part is not None}

    def get_state(self) -> dict[str, Any]:
        """Return a copy for a checkpoint; numbers of the records are with the data of the run."""
        parts = {name: part.get_state() for name, part in self.parts.items()}
        return {"own": attributes_of(self, self.own), "segment": self.segment, "taken": self.taken, "parts": parts}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` has returned."""
        same_names("march", self.parts, state["parts"])
        put_attributes(self, state["own"])
        self.segment, self.taken = state["segment"], state["taken"]
        for name, part in self.parts.items():
            part.set_state(state["parts"][name])


def as_run_error(error: FemMbsError, t: float) -> SolverError:
    """Return an error as one of a run, which keeps what was computed."""
    if isinstance(error, SolverError):
        return error
    failure = SolverError(f"{error} (t = {t:.9g} s)", time=t)
    failure.__cause__ = error
    return failure
