"""Base of all time steppers: the run with its results file, progress, interruption and diagnosis.

A method is a subclass of `Stepper` with the interface that `stepping.engine` requires. The run uses of the engine:

    engine.march           takes the steps, see `stepping.march.march`: ``begin``, ``advance(times, records)``,
                           ``finish``
    engine.first(records)  fill record 0 with the initial state
    engine.last(records)   fill record 0 with the present state, saved or not
    engine.pairs()         tables of closed pairs of contact groups, one per record of the last call (empty: no groups)
    engine.forces          whether records have forces of contacts that are not their impulses over h, see `sizes_of`
    engine.statistics()    numbers counted over all steps, saved or not
    engine.keep_whole(n)   of the records of all steps, those that are not every n-th may lack outputs and energies;
                           called when observers need every step and the file does not
"""

import inspect
import signal
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from fem_mbs import runtime
from fem_mbs.arguments.checked import Keywords
from fem_mbs.arguments.options import unsupported
from fem_mbs.compiled.telling import TELLING
from fem_mbs.compiled.together import TOGETHER
from fem_mbs.errors import ParameterError, label
from fem_mbs.model import compiled
from fem_mbs.results.file.frames import FRAMES, as_frames
from fem_mbs.results.file.writer import ResultsWriter
from fem_mbs.results.results import Results
from fem_mbs.solvers.stepping.kernels.codes import SHIFT
from fem_mbs.solvers.stepping.kernels.friction_tasks import SPEEDS, START
from fem_mbs.solvers.stepping.march.chunks import Chunks
from fem_mbs.solvers.stepping.options import StepperOptions
from fem_mbs.solvers.stepping.saved.checkpoints import Asked, Checkpoints
from fem_mbs.solvers.stepping.saved.saved_state import load_run
from fem_mbs.system.checks import model_checks
from fem_mbs.system.in_use import alone
from fem_mbs.system.layout import Stack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fem_mbs.arguments.checked import ArrayLike
    from fem_mbs.element.base import Element
    from fem_mbs.jit import Entry
    from fem_mbs.model import Model
    from fem_mbs.nodes import Node
    from fem_mbs.solvers.alpha.reduced import ReducedContactProblem
    from fem_mbs.solvers.contact.correction import ContactProblemCorrection
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.kernels.newton import Problem
    from fem_mbs.solvers.stepping.march.later import LaterCorrection
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.system import System


CHUNK_BYTES = 32e6  # of records between two writes to the file
MOST_RECORDS = 4096  # saved steps of a chunk


class _Interrupt:
    """Ctrl-C or SIGTERM ends a run after the steps under way, so that none is lost half-way; a second one stops the
    program at once.

    Compiled code calls back into Python (user laws, SciPy's solver), where an interrupt would be swallowed.
    """

    def __init__(self) -> None:
        self.asked: Any = None  # number of the signal
        self.before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self._ask)

    def _ask(self, number, _):
        self.asked = number
        self.end()

    def end(self) -> None:
        """Restore the former signal handlers."""
        while self.before:
            number, handler = self.before.popitem()
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def error(self, message: str, result: Results) -> BaseException:
        """Exception that ends the script: KeyboardInterrupt, or SystemExit with the code that SIGTERM has in shells.

        ``result`` is among its attributes, for those who catch it.
        """
        error: Any = KeyboardInterrupt(message) if self.asked == signal.SIGINT else SystemExit(128 + self.asked)
        error.result = result
        return error


class Stepper(StepperOptions):
    """Base of time steppers; their options are in `stepping.options`."""

    family = True

    instants: ClassVar[tuple[float, ...]] = (1.0,)  # of a step, at which signals are needed
    means_at_impacts = False  # joints report the mean of a step with an impact, not its end with impulses
    takes_grains = False  # contact groups of free bodies go to `fem_mbs.solvers.granular`
    leads_grains = True  # particles have to be set to x_n + h v; False: the method does so itself
    takes_mechanisms = False  # with obstacles that they move
    contact_shift = SHIFT  # proximal shift of redundant contacts, unless epsilon is given
    follows = False  # positions follow velocities: joints drift, contacts penetrate by what a step travels
    passes_impacts_on = False  # bodies that touch pass an impact on, one after the other
    velocities_first = False  # no position correction goes before the velocity problem of a step
    max_problems = 50  # impact problems in a step
    together = False  # contacts act in the rows of the motion too
    locates_transitions = False  # steps that are split end where closed contacts change too
    local_error: ClassVar[Callable[..., float | None] | None] = None  # of a step, for StepControl; None: no estimate
    # options of some methods; the defaults are those of a method without the option
    rho_inf: float | None = unsupported()
    theta: float = unsupported(default=0.5)
    mixed: bool = unsupported(default=False)
    relaxed: bool = unsupported(default=False)
    recovery_speed: float | None = unsupported()
    constraints: str = unsupported(default="both")
    impact_law: str = unsupported(default="newton")
    persistent_contacts: bool | str | None = unsupported()

    @property
    def order(self) -> int:
        """Order in smooth motion."""
        return 1

    def keeps_contacts(self, system: "CompiledSystem") -> bool:
        """True if forces of contacts of the model are not their impulses over h."""
        return bool(self.persistent_contacts)

    def _refuse_groups(self, system: "CompiledSystem") -> None:
        """Raise for models with contact groups, in methods that do not support them."""
        if system.searches:
            message = f"is a group of contacts, which {type(self).__name__} does not support; use DecoupledNSGA"
            self._refuse_part(system.searches[0].owner, message)

    def _refuse_part(self, part: "Element | Node", message: str) -> NoReturn:
        """Raise for an element or a node of the model that the method cannot step; the message follows its name."""
        raise ParameterError(self, "model", part.name, f"{label(part)} {message}", prefixed=False)

    def refuse_friction(self, system: "CompiledSystem") -> None:
        """Raise for joint friction, or static friction of single contacts, with what does not support it."""
        two = [contact for contact in system.contacts[: system.nc_fixed] if contact.two_coefficients]
        if system.frictions and system.searches:
            message = f"has joint friction, which does not work with contact groups ('{system.searches[0].owner.name}')"
            self._refuse_part(system.frictions[0], f"{message}: give the bodies single contacts, or remove one of both")
        for parts, word in ((two, "static and sliding friction"), (system.frictions, "joint friction")):
            if parts and self.contact_solver == "problem" and not system.searches:
                message = f"does not support {word} ({label(parts[0])}); use 'newton' or 'auto'"
                raise ParameterError(self, "contact_solver", self.contact_solver, message)

    def parts_of_friction(self) -> "dict[str, Entry]":
        """Compiled parts of models with joint friction alone."""
        from fem_mbs.solvers.joint_friction import by_impulses

        return {"friction": by_impulses.friction_part}

    def parts_of_static_friction(self) -> "dict[str, Entry]":
        """Compiled parts of models with contacts that have two coefficients of friction alone."""
        from fem_mbs.solvers.contact import static_friction

        return {"stiction": static_friction.static_friction_part}

    @staticmethod
    def find_sliding(engine: "Engine") -> None:
        """Find the contacts with static friction that slide, by the present velocities."""
        from fem_mbs.jit import address, invoke
        from fem_mbs.solvers.contact.static_friction import START

        if engine.run[0]["stiction_part"]:
            invoke(int(engine.run[0]["stiction_part"]), address(engine.run), START)

    def start_friction(self, engine: "Engine", acceleration: np.ndarray | None = None) -> None:
        """Set what sticks and slides, by velocities, and forces of joint friction at the start of a run.

        ``acceleration`` (N, 6): without joint friction, at the start; None: between two steps, where forces have
        jumped.
        """
        from fem_mbs.jit import address, invoke

        self.find_sliding(engine)
        run = engine.run[0]
        if run["friction"]:
            if acceleration is not None:
                engine.arrays["trial"][:] = acceleration
            invoke(int(run["friction_part"]), address(engine.run), SPEEDS if acceleration is None else START)

    def no_sweeps(self, system: "CompiledSystem") -> str | None:
        """Why options of the method require assembled (pairwise) contact groups, in words; None when they do not."""
        return None

    def stack(self, system: "CompiledSystem") -> Stack | None:
        """Matrix of blocks that the method solves with; most have none."""
        return None

    def impacts_of(self, system: "CompiledSystem") -> str:
        """Treatment of the impacts of a model: "plain", or "split" or "auto", see `stepping.march.splitter`."""
        return "plain"

    def reset_after_split(self, system: "CompiledSystem") -> dict[str, int]:
        """Numbers of the record of the method in the step with an impact that is split."""
        return {}

    def ended_at(self, engine: "Engine") -> tuple[bool, bool]:
        """True if the last step has ended at the impact of a contact that touches; at a transition of a closed one."""
        a = engine.arrays
        return bool((a["impact"].astype(bool) & (a["touching"] != 0)).any()), False

    def split(self, system: "CompiledSystem") -> int:
        """Number of systems of the size of its matrices that a problem has one after the other, in one solution."""
        return 1

    def parts(self) -> "dict[str, Entry]":
        """Compiled parts of the method, by the names under which `step` and its callers find them."""
        raise NotImplementedError

    def contact_problems(
        self, engine: "Engine"
    ) -> "ContactProblemCorrection | LaterCorrection | ReducedContactProblem | None":
        """Solver used where Newton's iteration on contacts fails or is not chosen; None: no other is tried."""
        contacts = engine.system.nc or engine.system.searches
        if not contacts or engine.method.contact_solver == "newton" or engine.system.frictions:
            return None
        if not engine.system.searches:
            from fem_mbs.solvers.stepping.march.later import LaterCorrection

            return LaterCorrection(engine)
        from fem_mbs.solvers.contact.correction import ContactProblemCorrection

        return ContactProblemCorrection(engine)

    def prepare(
        self,
        system: "CompiledSystem",
        h: float,
        save_every: int = 1,
        strict: bool = False,
        balance: bool = False,
        forces: bool = False,
    ) -> "Engine":
        """Make the engine that steps a system; initial accelerations are computed here.

        ``forces``: records have forces of contacts next to their impulses.
        """
        from fem_mbs.solvers.stepping.engine import Engine

        return Engine(self, system, h, save_every, strict, balance, forces)

    @alone("a run")
    @Keywords.known
    def run(
        self,
        model: "Model | System",
        t_end: float,
        h: float,
        *,
        save: str | Path | None = None,
        save_every: int = 1,
        frames: int | str | None = FRAMES,
        progress: bool | None = None,
        observers: "Sequence" = (),
        strict: bool = False,
        single: bool = False,
        pvd: bool = False,
        checkpoint_every: float | str | None = None,
        output_times: "ArrayLike | None" = None,
        balance: bool = False,
    ) -> Results:
        """Integrate a model from its initial state.

        Parameters
        ----------
        model : Model or System
        t_end : float [s]
            Time at which the run ends, not how long it takes: a run begins at the time of the initial state,
            ``system.initial.t`` (0 unless it was set, as for a restart), and t_end must be later.
        h : float > 0 [s]
            Step size; constant: steps end at initial.t + k h. The last one ends at or just before t_end; the report
            states when that is before it.
        save : str, optional
            Results file (VTKHDF: ParaView opens it, `fem_mbs.load` reads it), written during the run. Without it
            results stay in memory.
        save_every : int ≥ 1
            Save every so many steps, and the last one.
        frames : int ≥ 2, "all" or None
            Frames of the results file for ParaView: so many, evenly spaced among the saved states, and one more at the
            first impact between two of them; "all": every saved state; None: none. Histories have all saved states.
        progress : bool, optional
            Show a progress bar; default: on a terminal.
        observers : sequence of ForceObserver
            They receive every step, also those that are not saved.
        strict : bool
            Raise an error instead of a warning in ``result.warnings``: at once when the energy increases, at
            the end for all else: subdivided steps, small rises that add up, warnings of elements.
        single : bool
            The file is for ParaView alone: half the size, no histories; these stay in memory and are returned.
        pvd : bool
            Write the model also as ``.pvd`` next to the file, for ParaView before 5.12.
        checkpoint_every : float [s] or text, optional
            Write a checkpoint next to the results file from time to time, from which `fem_mbs.resume` continues to the
            last bit: seconds of the clock between two, 60.0, or steps, "1000 steps". Also at the end, and at Ctrl-C.
        output_times : sequence of float, optional [s]
            Save the initial state and those at these times, and no others: steps end there, also with `StepControl`,
            and between them they are equal and at most h. They increase, and are within the run.

        balance : bool
            Keep the energy balance: work of each load, driver, damper and contact over all steps, for
            `Results.energy_table`. Costs one evaluation of their forces in each step.

        Returns
        -------
        Results

        Raises
        ------
        ParameterError
            Output times that do not increase or are outside of the run, or with observers, ``save_every`` or contact
            groups. Step size not positive; end time not after the time of the initial state.
        SolverError
            A step failed, or with ``strict`` the result has warnings. ``error.result`` holds what was computed, as does
            the file.
        FileError
            The results file cannot be written: it belongs to another run or another program, or the disk is full.
        ModelError
            The `System` is in use by another run; the initial state penetrates, is not finite or is not assembled; its
            Q and R are different rotations; the model was changed after it was compiled.
        KeyboardInterrupt, SystemExit
            Ctrl-C, SIGTERM: raised when the steps under way are done and the file is closed, so that a script ends with
            an exit code that is not 0. ``error.result`` holds what was computed.
        """
        t_end, h, save = runtime.apply(t_end, h, save)
        h = self.positive("h", h, "s")
        save_every = self.as_integer("save_every", save_every)
        frames = as_frames(self, frames)
        self.as_path("save", save)
        flags = {"strict": strict, "single": single, "pvd": pvd, "balance": balance}
        strict, single, pvd, balance = (self.as_flag(name, flag) for name, flag in flags.items())
        if progress is not None:
            progress = self.as_flag("progress", progress)
        if checkpoint_every is not None and (save is None or single):
            message = "requires a results file with histories: give save=…, and not single=True"
            raise ParameterError(self, "checkpoint_every", checkpoint_every, message)
        TELLING.asked = progress
        TOGETHER.expect(self.parts().values())  # while the model is compiled
        system = compiled(self, model)
        system.number_nodes()
        self._duration(system, t_end, h)
        system.switch_as_given()
        model_checks.start_holds(system, self.drift(system, h), self.follows)
        asked = Asked(
            float(t_end), h, save, save_every, strict, single, pvd, checkpoint_every, output_times, balance, frames
        )
        return self._take(system, asked, observers, progress)

    def _take(self, system, asked, observers, progress, *, saved=None, notes=()):
        """Take the steps of a run; of one that is resumed ``saved`` is its state, ``notes`` are more warnings."""
        engine, steps, observers = self._begun(system, asked, observers)
        if saved is not None:
            load_run(engine, observers, saved)
        writer = self._writer(engine, asked, None if saved is None else saved["writer"])
        try:
            chunks = self._chunks(engine, writer, asked, steps, observers, progress, notes)
            if saved is not None:
                chunks.set_state(saved["chunks"])
        except BaseException:
            writer.give_up()
            raise
        interrupt = _Interrupt()
        try:
            chunks.take_all(interrupt)
        except BaseException as error:
            chunks.broke(error)
            raise
        finally:
            interrupt.end()
            engine.march.finish()
            result = chunks.close(interrupt)
            system.switch_as_given()
        result.observers, result._system = observers, system
        if interrupt.asked:
            message = f"{chunks.reason}; what was computed is in error.result"
            raise interrupt.error(message, result) from chunks.failure
        if chunks.failure is not None:
            raise self._completed(chunks.failure, chunks.done, asked.save, result)
        return result

    def _begun(self, system, asked, observers):
        """The engine of a run, the number of its steps, and its observers, started."""
        start, t_end, steps = self._duration(system, asked.t_end, asked.h)
        every, observers = asked.save_every, self._observers(system, observers)
        output_times = self._output_times(system, asked.output_times, start, t_end, observers, every)
        forces = every > 1 or output_times is not None  # impulses are those of several steps
        engine = self.prepare(system, asked.h, 1 if observers else every, asked.strict, asked.balance, forces)
        engine.t_end = start + steps * asked.h
        if output_times is not None:
            engine.t_end = t_end
            steps = int(np.ceil((t_end - start) / asked.h - 1e-9))
            engine.march.stop_at(output_times)
        if observers:
            engine.keep_whole(every)
        return engine, steps, observers

    def _writer(self, engine, asked, continued):
        """Writer of the states of a run; ``continued``: the state of the writer of a file that is continued."""
        system = engine.system
        parameters = {"stepper": type(self).__name__, "h": asked.h, "t_start": float(system.initial.t)}
        parameters |= {"t_end": self.number("t_end", asked.t_end, "s")}
        if asked.output_times is not None:
            parameters |= {"output_times": len(engine.march.schedule.output_times)}
        parameters |= {"balance": True} if asked.balance else {}
        parameters |= {"save_every": asked.save_every, **self.parameters(), "chosen": self.chosen()}
        return ResultsWriter(
            system, asked.save, parameters=parameters, frames=asked.frames, single=asked.single, pvd=asked.pvd,
            forces=engine.forces,
            journal=None if engine.march.schedule is None else engine.march.schedule.journal, continued=continued,
            works=engine.ledger.lines if engine.balance else (),
        )  # fmt: skip

    def _chunks(self, engine, writer, asked, steps, observers, progress, notes):
        """Loop of steps, with its progress bar and checkpoints."""
        from fem_mbs.results.progress import Progress

        system, start = engine.system, float(engine.system.initial.t)
        checkpoints = None
        if asked.checkpoint_every is not None:
            checkpoints = Checkpoints(self, system, observers, asked, writer.path)
        bar = Progress(self.number("t_end", asked.t_end, "s"), start=start, enabled=progress)
        size = max(1, min(int(CHUNK_BYTES / self._bytes(engine)), MOST_RECORDS))
        return Chunks(
            engine, writer, observers, bar, start=start, steps=steps, size=size, checkpoints=checkpoints, notes=notes,
        )  # fmt: skip

    def _completed(self, failure, done, save, result):
        """The error of a failed step, with where its results are."""
        where = f" Steps 0-{done} are in {save}." if save else ""
        failure.args = (f"{failure.args[0]}{where}{self._dump(failure, save)}",)
        failure.result = result
        return failure

    def _output_times(self, system, times, start, t_end, observers, save_every):
        """Output times (k,), checked; None if there are none."""
        if times is None:
            return None
        times = self.as_array("output_times", times, unit="s").ravel()
        self.check(len(times) > 0, "output_times", times, "is empty; remove it")
        self.check((np.diff(times) > 0).all(), "output_times", times, "s must increase")
        inside = start <= times[0] and times[-1] <= t_end * (1 + 1e-12)
        self.check(inside, "output_times", times, f"s must be within the run, {start:g} s to {t_end:g} s")
        self.check(not observers, "output_times", times, "cannot be combined with observers, which receive every step")
        self.check(save_every == 1, "output_times", times, f"cannot be combined with save_every = {save_every}")
        message = "cannot be combined with contact groups, whose steps all have one size; use save_every"
        self.check(not system.searches, "output_times", times, message)
        return times[times > start]

    def _observers(self, system, observers):
        """The observers, started."""
        observers = tuple(self.as_instance("observers", observers, (list, tuple), "a list of observers"))
        for observer in observers:
            self.check(hasattr(observer, "observe"), "observers", observer, "is not an observer")
        for observer in observers:
            observer.start(system)
        return observers

    @staticmethod
    def _dump(failure, save):
        """Write the contact problem of a failed step next to the results; returns a sentence about it."""
        problem = failure.contact_problem
        if problem is None:
            return ""
        if save is None:
            return (
                " Its contact problem is error.contact_problem "
                "(fem_mbs.solvers.contact_problem.fclib.write_problem keeps it)."
            )
        from fem_mbs.solvers.contact_problem.fclib import write_problem

        path = Path(save).with_suffix(".contact_problem.hdf5")
        write_problem(path, problem)
        return f" Its contact problem is in {path} (fclib)."

    def counted(self, engine: "Engine") -> "Mapping[str, float]":
        """Counters of the method over all steps, in addition to those of all methods."""
        return {}

    def smaller_steps(self, system: "CompiledSystem") -> str:
        """Remedy when steps are too large, a sentence without its full stop."""
        offers = self.local_error is not None and self.step_control is None and not system.searches
        return "Halve h, or use step_control=StepControl()" if offers else "Halve h"

    def reset_of(self, system: "CompiledSystem") -> int:
        """Restart of the memory after an impact, a number of `nsga.scheme`; 0: accelerations before it act on."""
        return 1

    def use(self, engine: "Engine", h: float) -> None:
        """Put the numbers that depend on the step size into the records, for a step h [s]: here there are none."""

    def restart(self, engine: "Engine") -> None:
        """Memory anew at the present state, where forces have jumped: here there is none.

        Signals have their new values. ``run["code"]`` is the kind of failure.
        """

    def rescale(self, engine: "Engine", ratio: float, change: np.ndarray | None) -> None:
        """Memory for steps ``ratio`` times as large: here none; `stepping.engine` scales first guesses."""

    def changed(self, engine: "Engine") -> None:
        """Constraints or forces have come or gone: what depends on which there are; here nothing."""

    def jump_problem(self) -> "Problem":
        """Problems of Newton's iteration where a constraint is switched on, see `stepping.march.switch_jump`."""
        from fem_mbs.solvers.contact import velocity

        return velocity.PROBLEM

    def sizes(self, system: "CompiledSystem") -> dict[str, int]:
        """Extents of arrays in the table of the method, beyond those of `stepping.kernels.data`."""
        return {}

    def impulses(self, engine: "Engine") -> dict[str, np.ndarray]:
        """Excess of the force histories in the last step over its size: impulses (m,) of joints [N s], here all."""
        return {"multiplier": engine.run[0]["h"] * engine.arrays["lam_report"]}

    def drift(self, system: "CompiledSystem", h: float) -> float:
        """Penetration [m] that steps h [s] of the method leave, in addition to round-off."""
        return self.travel(system, h) if self.follows else 0.0

    @staticmethod
    def travel(system: "CompiledSystem", h: float) -> float:
        """Largest displacement of a step h [s] from rest or from the initial velocities [m]."""
        speed = np.abs(system.initial.V[:, :3]).max(initial=0.0)
        return h * (speed + h * system.largest_gravity)

    def parameters(self) -> dict:
        """Options of the method, stored with the results; those that are objects by their own options."""
        return {k: self._options(v) if hasattr(v, "__dict__") else v for k, v in self._options(self).items()}

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.chosen())})"

    def __dir__(self):
        """List the options and the members for scripts: completion does not show the contract with `Engine`."""
        return ["name", "parameters", "run", *(item.name for item in fields(self) if item.init)]

    def chosen(self) -> list[str]:
        """Names of options that are not the default ones, in the order of the constructor: they distinguish runs."""
        defaults = inspect.signature(type(self)).parameters
        return [k for k, p in defaults.items() if k in vars(self) and getattr(self, k) != p.default]

    @staticmethod
    def _options(item):
        """Options of a method or of a part of one."""
        return {k: v for k, v in vars(item).items() if k != "name" and not k.startswith("_")}

    def _duration(self, system, t_end, h):
        """Time of the initial state [s], end of the run [s], and number of steps between them."""
        start = float(system.initial.t)
        if not np.isfinite(start):
            raise ParameterError(self, "initial.t", start, "s must be finite: the time of the initial state")
        number = self.number("t_end", t_end, "s")
        if not number > start:
            what = f"{start:g}, the time of the initial state (t_end is a time, not a duration)" if start else "0"
            raise ParameterError(self, "t_end", t_end, f"s must be > {what}")
        steps = int(np.floor((number - start) / h * (1 + 1e-12) + 1e-9))
        if steps < 1:
            raise ParameterError(self, "h", h, f"s is longer than the run, {number - start:g} s; no step fits")
        return start, number, steps

    @staticmethod
    def _bytes(engine):
        return sum(array.nbytes for array in engine.make_records(1).values())


Stepper._inside |= {name for name in dir(Stepper) if not name.startswith("_")} - {"run", "parameters"}
