"""The stops of a run, and the actions there: samples of controllers, delayed outputs, switches, output times, events.

Times of samples come from their number, t_k = k T, so that none drifts. Python is entered at stops alone; a run without
stops has no schedule.

At a sample or an event forces may jump: the memory of the method begins anew with accelerations that are consistent
with what acts from then on (`Stepper.restart`).

Source: docs/theory/events.md.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.functions.signals import Held
from fem_mbs.jit import invoke
from fem_mbs.results.file.journal import Journal
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.march.moment import Moment
from fem_mbs.solvers.stepping.march.rate_jump import jump_rates, jumping
from fem_mbs.solvers.stepping.march.sensing import held_signals
from fem_mbs.solvers.stepping.march.step_control import SAME
from fem_mbs.solvers.stepping.march.switching import Switching, times_of
from fem_mbs.solvers.stepping.march.watch import SPENT, WAITS
from fem_mbs.solvers.stepping.monitors.ledger import renew
from fem_mbs.solvers.stepping.saved.laws import held_by_laws

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.march.march import March


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
        """Restore what `get_state` has returned."""
        self.k, self.state, self.waiting = state["k"], state["state"], list(state["waiting"])


class Schedule:
    """Stops of a march.

    Attributes
    ----------
    journal : Journal
        Samples, switches and events, for the results.
    ended : str
        Why an event has ended the run; "" while it continues.
    """

    def __init__(self, march: "March", output_times: np.ndarray | None = None) -> None:
        self.march, self.engine = march, march.engine
        engine = self.engine
        self.sensing = engine.sensing
        self.controllers = [] if self.sensing is None else self.sensing.controllers
        self.events = [] if self.sensing is None else self.sensing.events
        self.output_times = output_times
        self.outputs_done = 0
        self.journal, self.ended = Journal(self.controllers), ""
        self.helds = self._held()
        self.motors = jumping(engine.system)
        for held in self.helds:
            held.set(held.initial)
        self.samples = [Samples(controller, self.t) for controller in self.controllers]
        self.switching = Switching(self, times_of(engine))
        self._refuse_groups()

    def _held(self):
        """All held signals of the model; those of a controller that is not in it raise an error."""
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
            raise ParameterError(self.events[0], "condition", self.events[0].condition, message, prefixed=False)
        for controller in self.controllers:
            for name in ("period", "delay"):
                steps = getattr(controller, name) / self.march.h
                if abs(steps - round(steps)) > SAME * max(steps, 1.0):
                    message = f"s is not a multiple of h = {self.march.h:g} s, as contact group '{group.name}' needs it"
                    raise ParameterError(controller, name, getattr(controller, name), message)

    @property
    def t(self) -> float:
        """Time that is reached [s]."""
        return self.march.t

    def begin(self) -> None:
        """Fill the tables of the sensors, before the actions that are due at the initial time."""
        if self.sensing is not None:
            self.sensing.begin()

    def finish(self) -> None:
        """The run is over: held signals have their initial values again."""
        for held in self.helds:
            held.set(held.initial)

    def next_stop(self) -> float:
        """The next time at which something happens, or the end of the run [s]."""
        slack = SAME * self.march.h
        times = [time for samples in self.samples for time in samples.times()] + self.switching.next()
        if self.output_times is not None:
            times += [float(time) for time in self.output_times[self.outputs_done : self.outputs_done + 1]]
        return min([time for time in times if time > self.t + slack] + [self.engine.t_end])

    # --- what happens -------------------------------------------------------------------------------------------------

    def arrive(self) -> None:
        """Do what is due at the present time."""
        slack, due = SAME * self.march.h, False
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
        self.march.control.complete(self.march.block, row)

    def _sample(self, samples):
        """One sample of a controller."""
        controller, t = samples.controller, samples.k * samples.period
        values = [self.sensing.value(i) if i in self.sensing.rows else i(t) for i in controller.inputs]
        y = np.concatenate([np.atleast_1d(value) for value in values]) if values else np.zeros(0)
        try:
            u, samples.state = controller.evaluate(t, y.copy(), samples.state)
        except Exception as error:
            failure = str(error) if type(error).__name__ == "LawError" else f"raised {type(error).__name__}: {error}"
            raise SolverError(f"{label(controller)}: its function {failure} (t = {t:.9g} s)", time=t) from error
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
        self.march.accelerations_jumped()
        renew(engine)

    def trigger(self, fired: list[int]) -> None:
        """Take the actions of events that are crossed at the present time, by their numbers."""
        for i in fired:
            self.engine.arrays["event_armed"][i] = SPENT if self.events[i].once else WAITS
        self._act([self.events[i] for i in fired])

    def _act(self, events):
        """Actions of events at the present time."""
        resets = False
        for event in events:
            moment = Moment(self, event)
            self.journal.event(self.t, event.name, event.describe())
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
        """Return what is kept from stop to stop, for a checkpoint: plain numbers, arrays, states of the user.

        Held signals are named by their order: the same model gives the same order.
        """
        return {
            "ended": self.ended, "outputs_done": self.outputs_done, "held": [held.now for held in self.helds],
            "samples": [samples.get_state() for samples in self.samples], "journal": self.journal.get_state(),
            "switches_done": self.switching.done,
        }  # fmt: skip

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore what `get_state` has returned."""
        self.ended, self.outputs_done = state["ended"], state["outputs_done"]
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
