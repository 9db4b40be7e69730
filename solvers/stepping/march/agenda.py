"""What interrupts a run: samples of controllers, delayed outputs, switches, output times, events.

Between two interruptions a run takes equal steps: from t to the next time t_s

    n = ⌈(t_s − t)/H − 10⁻³⌉     h = (t_s − t)/n                                                                   (1)

with the user's step H, and h = H to the last bit where H divides the way to 10⁻⁹. Times of samples come from their
number, t_k = k T, so that none drifts. Steps of variable size end at t_s as they end at the end of the run. Python is
entered at these times alone; a run without an agenda does not know of it.

At a sample or an event forces may jump: the memory of the method begins anew with accelerations that are consistent
with what acts from then on (`Stepper.restart`).

Source: docs/theory/events.md, (1).
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import FemMbsError, ParameterError, SolverError, label
from fem_mbs.functions.signals import Held
from fem_mbs.jit import invoke
from fem_mbs.results.file.journal import Journal
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.march.chunks import signals_at
from fem_mbs.solvers.stepping.march.moment import Moment
from fem_mbs.solvers.stepping.march.rate_jump import jump_rates, jumping
from fem_mbs.solvers.stepping.march.sensing import held_signals
from fem_mbs.solvers.stepping.march.snapshot import Snapshot
from fem_mbs.solvers.stepping.march.switching import Switching, times_of
from fem_mbs.solvers.stepping.march.watch import SPENT, WAITS
from fem_mbs.solvers.stepping.monitors.ledger import renew
from fem_mbs.solvers.stepping.saved.laws import held_by_laws

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

STRETCH = 1e-3  # of the user's step: a rest shorter than it is no step of its own
SAME = 1e-9  # of the user's step: times that differ by less are one, sizes too


def told(error: FemMbsError, t: float) -> SolverError:
    """An error as one of a run, which keeps what was computed."""
    if isinstance(error, SolverError):
        return error
    failure = SolverError(f"{error} (t = {t:.9g} s)", time=t)
    failure.__cause__ = error
    return failure


class Samples:
    """The samples of one controller: number of the next, state, and outputs on their way."""

    def __init__(self, controller: Any, start: float) -> None:
        self.controller, self.period, self.delay = controller, controller.period, controller.delay
        self.k = math.ceil(start / self.period - SAME)
        self.state = controller.start()
        self.waiting: list[tuple[int, np.ndarray]] = []  # outputs that are delayed: number of the sample, values

    def times(self) -> list[float]:
        """Next sample, and when the next output acts."""
        waiting = [self.waiting[0][0] * self.period + self.delay] if self.waiting else []
        return [self.k * self.period, *waiting]

    def get_state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"k": self.k, "state": self.state, "waiting": list(self.waiting)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Put back what `get_state` has given."""
        self.k, self.state, self.waiting = state["k"], state["state"], list(state["waiting"])


class Agenda:
    """Takes the steps of an engine from one interruption to the next.

    Attributes
    ----------
    journal : Journal
        Samples, switches and events, for the results.
    ended : str
        Why an event has ended the run; "" while it goes on.
    """

    def __init__(self, engine: "Engine", output_times: np.ndarray | None = None) -> None:
        self.engine, self.h = engine, engine.h
        self.sensing, self.t = engine.sensing, float(engine.system.initial.t)
        self.controllers = [] if self.sensing is None else self.sensing.controllers
        self.events = [] if self.sensing is None else self.sensing.events
        self.output_times = output_times
        self.outputs_done = 0
        self.block: dict[str, np.ndarray] = {}  # records that are filled
        self.journal, self.ended = Journal(self.controllers), ""
        self.segment: tuple[float, float, int] | None = None  # begin, stop, steps
        self.taken = 0  # steps of it
        self.helds = self._held()
        self.motors = jumping(engine.system)
        for held in self.helds:
            held.set(held.initial)
        self.samples = [Samples(controller, self.t) for controller in self.controllers]
        self.switching = Switching(self, times_of(engine))
        self._refuse_groups()

    def _held(self):
        """All held signals of the model; those of a controller that is not in it are refused."""
        found: dict[Any, Any] = held_signals(self.engine.system, self.controllers)
        for controller in self.controllers:
            for item in controller.inputs:
                if callable(item):
                    found |= dict.fromkeys(Held.among(item, self.t), controller)
            found |= dict.fromkeys(controller.held.values(), controller)
            found |= dict.fromkeys((n for motion in controller.motions.values() for n in motion.numbers), controller)
        for event in self.events:
            found |= {a.held: event for a in event.actions if a.held is not None}
        if Held.made:  # those that functions in Python alone know: actions of events set them, laws read them
            known = (held for held in held_by_laws(self.engine.system) if held.owner in (None, *self.controllers))
            found = dict.fromkeys(known) | found
        return found

    def _refuse_groups(self):
        """Contact groups take steps of one size, and none of them again."""
        if not self.engine.system.searches:
            return
        group = self.engine.system.searches[0].owner
        if self.events:
            message = f"is sought by taking a step again, which contact group '{group.name}' cannot"
            raise ParameterError(self.events[0], "condition", self.events[0].condition, message, told=False)
        for controller in self.controllers:
            for name in ("period", "delay"):
                steps = getattr(controller, name) / self.h
                if abs(steps - round(steps)) > SAME * max(steps, 1.0):
                    message = f"s is not a multiple of h = {self.h:g} s, as contact group '{group.name}' needs it"
                    raise ParameterError(controller, name, getattr(controller, name), message)

    # --- the run ------------------------------------------------------------------------------------------------------

    def begin(self) -> Exception | None:
        """Samples at the initial time; what went wrong, or None."""
        try:
            if self.sensing is not None:
                self.sensing.begin()
            self._arrive()
        except FemMbsError as error:
            return told(error, self.t)
        return None

    def finish(self) -> None:
        """The run is over: held signals have their initial values again."""
        for held in self.helds:
            held.set(held.initial)

    def advance(self, times: np.ndarray, block: dict[str, np.ndarray]) -> tuple[int, int, Exception | None]:
        """Step to the last of ``times`` or past it, or until the records are full; as `Engine.advance`."""
        engine, run, error = self.engine, self.engine.run[0], None
        engine.matrices.update()
        engine.run_data.record_into(block)
        self.block = block
        room, slack, until = len(block["t"]), SAME * self.h, min(float(times[-1]), engine.t_end)
        try:
            self.switching.act(self.t, slack)  # of a run that has ended here before, and goes on
        except FemMbsError as failure:
            error = told(failure, self.t)
        while self.t < until - slack and error is None and not self.ended and int(run["saved"]) < room:
            try:
                error = self._go(until, block, room)
            except FemMbsError as failure:
                error = told(failure, self.t)
            if engine.system.searches:
                break  # their tables are of one call
        over = self.t >= engine.t_end - slack
        done = len(times) if over else int(np.searchsorted(times, self.t + slack, side="right"))
        return done, int(run["saved"]), error

    def _go(self, until, block, room):
        """Steps towards the next interruption, and what is done there; what went wrong, or None."""
        if self.engine.method.step_control is not None:
            return self._go_controlled(until, block, room)
        ends = self._next_ends(until, room)
        engine, run = self.engine, self.engine.run[0]
        signals, bad = signals_at(engine.system, ends, engine.h, engine.method.instants)
        engine.jumps.h = engine.h
        taken, _, failure = engine.take(ends[: len(signals)], signals, block)
        # not those behind a crossing, which depend on how many steps were wanted
        looked = taken if failure is None else taken + 1
        engine.jumps.look(ends[:looked], signals[:looked])
        if run["crossed"] != 0:
            start = float(ends[taken - 2]) if taken > 1 else self.t
            return self._crossed(engine.controller.start_of_last, start, float(ends[taken - 1]), block)
        self.taken += taken
        self.t = float(ends[taken - 1]) if taken else self.t
        failure = failure or (bad if taken == len(signals) else None)
        if failure is None and self.taken == self.segment[2]:
            self._arrive()
        return failure

    def _next_ends(self, until, room):
        """Ends of the next equal steps by (1): up to a time, and as many as there is room for."""
        if self.segment is None:
            stop = self._stop()
            steps = max(1, math.ceil((stop - self.t) / self.h - STRETCH))
            size = (stop - self.t) / steps
            self.engine.resize(self.h if abs(size - self.h) <= SAME * self.h else size)
            self.segment, self.taken = (self.t, stop, steps), 0
        (begin, stop, steps), h, run = self.segment, self.engine.h, self.engine.run[0]
        wanted = max(1, math.ceil((until - self.t) / h - SAME))
        every, number = int(run["save_every"]), int(run["step_number"])
        fit = (number // every + room - int(run["saved"]) + 1) * every - 1 - number
        count = min(steps - self.taken, wanted, max(fit, 1))
        ends = begin + h * np.arange(self.taken + 1, self.taken + count + 1)
        if self.taken + count == steps:
            ends[-1] = stop
        return ends

    def _go_controlled(self, until, block, room):
        """As `_go` with steps of variable size."""
        control, run, stop = self.engine.controller, self.engine.run[0], self._stop()
        slack, end = SAME * self.h, min(stop, max(until, self.t))
        while control.t < end - slack and int(run["saved"]) < room:
            before, start = Snapshot(self.engine) if self.events else None, control.t
            wanted = control.next
            failure = control._step(stop)
            if run["crossed"] != 0:
                return self._crossed(lambda before=before: before, start, control.t, block)
            if failure is not None:
                return failure
            self.t = control.t
            if control.t >= stop - slack:
                # the step was cut short by the interruption, not by the motion
                self.t = control.t = stop
                control.next = max(control.next, wanted)
                self._arrive()
                break
        return None

    def _stop(self):
        """The next time at which something happens, or the end of the run."""
        slack = SAME * self.h
        times = [time for samples in self.samples for time in samples.times()] + self.switching.next()
        if self.output_times is not None:
            times += [float(time) for time in self.output_times[self.outputs_done : self.outputs_done + 1]]
        return min([time for time in times if time > self.t + slack] + [self.engine.t_end])

    # --- what happens -------------------------------------------------------------------------------------------------

    def _arrive(self):
        """Do what is due at the present time."""
        self.segment, slack, due = None, SAME * self.h, False
        times, k = self.output_times, self.outputs_done
        if times is not None and k < len(times) and times[k] <= self.t + slack:
            self.outputs_done += 1
            self._record()  # as every step: before what changes at its end
        for samples in self.samples:
            while samples.waiting and samples.times()[1] <= self.t + slack:
                acts = samples.times()[1]
                self._apply(samples.controller, samples.waiting.pop(0)[1], acts)
                due = True
        self.switching.act_wanted(self.t)
        self.switching.act(self.t, slack)
        measured = False
        for samples in self.samples:
            if samples.times()[0] <= self.t + slack:
                if not measured:
                    self.sensing.measure()
                    measured = True
                self._sample(samples)
                due = due or samples.delay == 0.0
        self.switching.act_wanted(self.t)
        if due:
            self.restart()

    def _record(self):
        """Save the present state: its time has come."""
        run, row = self.engine.run[0], int(self.engine.run[0]["saved"])
        invoke(int(run["record_part"]), int(run["data_at"]), int(run["run_at"]))
        self.engine.controller.complete(self.block, row)

    def _sample(self, samples):
        """One sample of a controller."""
        controller, t = samples.controller, samples.k * samples.period
        values = [self.sensing.value(i) if i in self.sensing.rows else i(t) for i in controller.inputs]
        y = np.concatenate([np.atleast_1d(value) for value in values]) if values else np.zeros(0)
        try:
            u, samples.state = controller.evaluate(t, y.copy(), samples.state)
        except Exception as error:
            told = str(error) if type(error).__name__ == "LawError" else f"raised {type(error).__name__}: {error}"
            raise SolverError(f"{label(controller)}: its function {told} (t = {t:.9g} s)", time=t) from error
        self.journal.sample(controller, t, y, u)
        if samples.delay > 0.0:
            samples.waiting.append((samples.k, u))
        else:
            self._apply(controller, u, t)
        samples.k += 1

    def _apply(self, controller, u, t):
        """Let outputs of a controller act, from t [s] on."""
        for name, value in zip(controller.outputs, u):
            controller.held[name].set(value)
            if name in controller.motions:
                controller.motions[name].aim(t, value)
            if name in controller.switches:
                self.switching.want(controller.switches[name], value)

    def restart(self) -> None:
        """Memory of the method anew at the present state, with the signals as they are now."""
        engine = self.engine
        engine.system.update_signals(self.t)
        jump_rates(engine, self.motors)
        engine.run[0]["code"] = OK
        engine.method.restart(engine)
        if engine.run[0]["code"] != OK:
            raise SolverError("accelerations are not determined when forces change: the matrix is singular",
                              time=self.t)  # fmt: skip
        if engine.controller is not None:
            engine.controller.change = None  # accelerations jump: the next step is not compared with the last
        renew(engine)

    def _crossed(self, before, start, end, block):
        """An event was crossed in a step, whose start ``before()`` gives: find it, and do what it says."""
        if self.engine.run[0]["crossed"] < 0:
            failure, self.sensing.failure = self.sensing.failure, None
            return failure
        from fem_mbs.solvers.stepping.march.crossing import Crossing

        fired, failure = Crossing(self, before, start, end, block).find()
        self.segment, a = None, self.engine.arrays
        self.engine.run[0]["crossed"] = 0
        self.engine.jumps.last = None
        if failure is not None:
            return failure
        for i in fired:
            a["event_armed"][i] = SPENT if self.events[i].once else WAITS
        self._act([self.events[i] for i in fired])
        if not self.ended:
            self._arrive()  # what is due at this very time
        return None

    def _act(self, events):
        """Actions of events at the present time."""
        resets = False
        for event in events:
            moment = Moment(self, event)
            self.journal.event(self.t, event.name, event.told())
            for action in event.actions:
                try:
                    action.act(moment)
                except SolverError:
                    raise
                except Exception as error:
                    message = f"{label(event)}: its action raised {type(error).__name__}: {error} (t = {self.t:.9g} s)"
                    raise SolverError(message, time=self.t) from error
                resets = resets or action.resets
        if resets and not self.ended:
            self.restart()

    # --- what is kept -------------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """All that the agenda keeps from step to step, for a checkpoint: plain numbers, arrays, states of the user.

        Held signals are named by their order: the same model gives the same order.
        """
        return {
            "t": self.t, "segment": self.segment, "taken": self.taken, "ended": self.ended,
            "outputs_done": self.outputs_done, "held": [held.now for held in self.helds],
            "samples": [samples.get_state() for samples in self.samples], "journal": self.journal.get_state(),
            "switches_done": self.switching.done,
        }  # fmt: skip

    def set_state(self, state: dict[str, Any]) -> None:
        """Put back what `get_state` has given."""
        for name in ("t", "segment", "taken", "ended", "outputs_done"):
            setattr(self, name, state[name])
        self.switching.done = state["switches_done"]
        if len(state["held"]) != len(self.helds):
            raise ValueError(
                "an action has set a held signal that no function of the model holds: let it find the signal by a name "
                "of its own, or in an attribute of its object"
            )
        for held, value in zip(self.helds, state["held"]):
            held.set(value)
        for samples, kept in zip(self.samples, state["samples"]):
            samples.set_state(kept)
        self.journal.set_state(state["journal"])
