"""A run of a method: arrays and scalars, and the calls of the compiled parts. Methods share it.

Interface of a method, in addition to its options:

    table                its data, in addition to those of `stepping.kernels.data`
    matrices(system)     rows of each of its global matrices: smooth motion, positions, velocities
    stack(system)        a matrix of blocks with the pattern of one of them, where it solves coupled problems; or None
    instants             parts of a step at which it needs signals, the last is 1: the end
    parts()              name -> compiled entry, ``<name>_part`` of either table; what it does not have is left out
    problems(system)     name -> `Problem` that Newton's iteration solves, ``<name>_problem`` of either table
    scalars(system, h)   numbers of either table that depend on its options
    start(engine, state) accelerations, multipliers and memory at the start
    refuse(system)       raise ParameterError for a system that it cannot step
    named                names of what can fail, by the number of the matrix that it solves with

Of steps whose size changes, of those that fail and are divided also:

    use(engine, h)                      its numbers that depend on the step size, for a step h
    rescale(engine, ratio, change)      its memory, for steps ``ratio`` times as large
    impulses(engine)                    what forces of the last step have over its size, see `stepping.march.divider`

With step control:

    local_error(engine, h, change)      error [m] of a step in which smooth accelerations changed by (N, 6);
                                        None where it is not known
    error_order                         power of h with which it goes

The other numbers of the record come from attributes that all methods have (`stepping.numbers`), options or not.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.compiled.together import TOGETHER
from fem_mbs.errors import Warnings
from fem_mbs.functions.signals import Held
from fem_mbs.results.table import PAIR_COLUMNS
from fem_mbs.solvers.stepping.contact_groups import contact_groups
from fem_mbs.solvers.stepping.initial import react
from fem_mbs.solvers.stepping.kernels import newton
from fem_mbs.solvers.stepping.kernels.codes import EXHAUSTED, SHIFT
from fem_mbs.solvers.stepping.kernels.data import TABLE
from fem_mbs.solvers.stepping.kernels.records import records
from fem_mbs.solvers.stepping.kernels.shared_factors import BORDERED
from fem_mbs.solvers.stepping.march.march import March
from fem_mbs.solvers.stepping.monitors.catalogue import MONITORS
from fem_mbs.solvers.stepping.monitors.failure import diagnose
from fem_mbs.solvers.stepping.monitors.jumps import JumpWatch
from fem_mbs.solvers.stepping.monitors.ledger import Ledger
from fem_mbs.solvers.stepping.numbers import numbers_of_run
from fem_mbs.solvers.stepping.run_data import RunData
from fem_mbs.system.records import POSITION

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State

PAIRWISE = 1e-6  # default of contact_tolerance for the assembled (pairwise) solver
OF_CONTACTS = ("sweep", "settle", "closed", "restart")  # parts that are called where there are contacts


class Engine:
    """Takes the steps of one run, see `fem_mbs.solvers.stepping.stepper`."""

    t_end: float = np.inf  # [s], of the run: set before it begins

    def __init__(
        self,
        method: Any,
        system: "CompiledSystem",
        h: float,
        save_every: int,
        strict: bool,
        balance: bool = False,
        forces: bool = False,
    ) -> None:
        self.method, self.system, self.strict, self.balance = method, system, strict, balance
        self.every = save_every  # steps between two states with outputs
        self.march = March(self, h)
        method.refuse(system)
        method.refuse_friction(system)
        self.struck = np.zeros(system.nc_fixed, bool)  # contacts, up to the last state that was saved
        self.impacts = method.impacts_of(system)
        self.splits = self.impacts != "plain"
        self.longest = np.inf  # [s]: steps of variable size that the method takes
        # of contacts, apart from their impulses: those of all steps since the last saved state
        self.forces = forces or save_every > 1 or method.keeps_contacts(system)
        self.shift = SHIFT if method.epsilon is None else method.epsilon
        self.contact_tolerance = method.contact_tolerance or PAIRWISE  # of contact groups
        self.sensing = self._sensing()
        # there are stops before the end of the run
        self.interrupted = self.sensing is not None or any(
            t > system.initial.t for e in system.elements for t, _ in e.switch_times()
        )
        self.grains, pairs = contact_groups(self)
        self.contact_groups: Any = self.grains or pairs  # a part of each step
        self.monitors = [kind(self) for kind in MONITORS]
        self.ledger = next(monitor for monitor in self.monitors if isinstance(monitor, Ledger))
        self.jumps = next(monitor for monitor in self.monitors if isinstance(monitor, JumpWatch))
        self.matrices = system.lay_out(*method.matrices(system), stack=method.stack(system))
        self.data = self.matrices.data
        TOGETHER.get(self._programs())
        TOGETHER.forget()
        self._allocate()
        self._connect()
        for name, value in {**numbers_of_run(self, save_every), **method.scalars(system, h)}.items():
            self.record_of(name)[name] = value
        if "mixed" in self.own.dtype.names and self.own[0]["mixed"]:
            self.use_mixed()
        self._start()
        self.march.equip(self.interrupted)

    @property
    def h(self) -> float:
        """Size [s] of the present equal steps."""
        return self.march.whole

    @property
    def parts_with_state(self) -> dict[str, Any]:
        """What has get_state() and set_state(state), for checkpoints, by name; see `stepping.saved.saved_state`."""
        parts = {"contact groups": self.contact_groups, "contact problems": self.contact_problems, "march": self.march}
        parts |= {f"monitor {type(monitor).__name__}": monitor for monitor in self.monitors}
        return {name: part for name, part in parts.items() if part is not None}

    def _sensing(self):
        """What controllers and events of the model read; None without them."""
        if not any(item.role != "sensor" for item in self.system.watching):
            if Held.made:  # else nothing is imported for it
                from fem_mbs.solvers.stepping.march.sensing import held_signals

                held_signals(self.system)
            return None
        from fem_mbs.solvers.stepping.march.sensing import Sensing

        return Sensing(self)

    @property
    def contacts_come(self) -> bool:
        """True if contacts exist, or may close, that the Gauss-Seidel solver does not handle."""
        return bool(self.system.nc or (self.system.searches and self.grains is None))

    def _allocate(self):
        system = self.system
        N = len(system.nodes)
        stacked = [] if self.matrices.stacked is None else [self.matrices.stacked]
        unknowns = max(layout.n for layout in self.matrices.layouts + stacked) * self.method.split(system)
        sizes = {"N": N, "full": 6 * N, "m": system.m, "nc": system.nc, "u": unknowns}
        sizes |= {"nm": 0, "nw": 0} if self.sensing is None else self.sensing.sizes
        sizes |= {"ni": len(self.method.instants), "ns": max(len(system.signals), 1), "nd": system.nc_fixed}
        sizes |= self.method.sizes(system)
        sizes |= {"nf": system.n_friction, "na": sum(monitor.after_step is not None for monitor in self.monitors)}
        for monitor in self.monitors:
            sizes |= monitor.sizes()
        # of contacts that keep their rows; those of groups come and go
        sizes["nb"] = 3 * BORDERED if self._bordered else 0
        sizes["nz"] = len(self.matrices.layouts[POSITION].values)
        tables = [monitor.table for monitor in self.monitors if monitor.table is not None]
        data = self.run_data = RunData(system, [TABLE, self.method.table, *tables], sizes)
        self.arrays, self.run, self.own, self.record_of = data.arrays, data.run, data.own, data.record_of
        self._start_monitors()
        self.arrays["spatial"][:] = system.spatial
        self.arrays["T"][:] = np.eye(3)
        self.arrays["instants"][:] = self.method.instants
        self.run[0]["nc_fixed"], self.run[0]["unsaved_step"] = system.nc_fixed, -1
        self.pair_tables: list[np.ndarray] = []

    def _start_monitors(self):
        """Initial data of monitors, and addresses of their parts and records."""
        from fem_mbs.jit import address

        addresses, records = [], iter(self.run_data.record[2:])
        for monitor in self.monitors:
            if monitor.table is not None:
                monitor.own = next(records)
            monitor.start()
            if monitor.after_step is not None:
                at = 0 if monitor.table is None else address(monitor.own)
                addresses.append((monitor.after_step.address, at))
        self.arrays["monitors"][:] = np.reshape(addresses, (-1, 2))

    def _parts(self):
        """Compiled parts of the method and of all methods, by name."""
        from fem_mbs.solvers.contact import passed
        from fem_mbs.solvers.stepping.kernels import checks, run

        shared = {"check": checks.check, "record": run.record, "newton": newton.newton}
        if self.sensing is not None:
            shared |= self.sensing.parts()
        if any("touching" in group.calls for group in self.system.groups):
            shared["passage"] = passed.passage
        parts = {**shared, **self.method.parts()}
        if not self.contacts_come:  # asking for an address compiles the part
            parts = {name: part for name, part in parts.items() if name not in OF_CONTACTS}
        if self.system.frictions:
            parts |= self.method.parts_of_friction()
        if self.splits:
            parts |= self.method.parts_of_split_impacts()
        if self.contacts_come and self.system.two_coefficients:
            parts |= self.method.parts_of_static_friction()
        return parts

    def _programs(self):
        """All that is compiled for the run."""
        programs = [monitor.after_step for monitor in self.monitors if monitor.after_step is not None]
        programs += self._parts().values()
        for problem in self.method.problems(self.system).values():
            programs += problem.programs(self._bordered)
        return programs

    @property
    def _bordered(self):
        return 0 < self.system.nc == self.system.nc_fixed and self.system.n_drill == 0

    def _connect(self):
        """Addresses of compiled parts, of problems and of records."""
        from fem_mbs.jit import address
        from fem_mbs.solvers.stepping.kernels import run

        self.run_steps = run.run_steps
        for name, part in self._parts().items():
            self.record_of(f"{name}_part")[f"{name}_part"] = part.address
        self.problems = {}
        for name, problem in self.method.problems(self.system).items():
            record = self.problems[name] = np.zeros(1, newton.PROBLEM.dtype)
            problem.fill(record[0], self._bordered)
            self.record_of(f"{name}_problem")[f"{name}_problem"] = address(record)
        addresses = {"data_at": self.data, "run_at": self.run, "own_at": self.own, "records_at": self.run_data.records}
        for name, array in addresses.items():
            self.run[0][name] = address(array)
        if self.grains is not None:
            from fem_mbs.solvers.granular.step import contacts_of_step

            self.run[0]["grains_at"], self.run[0]["grains_part"] = address(self.grains.record), contacts_of_step.address
        self.contact_problems = None if self.grains is not None else self.method.contact_problems(self)
        if self.contact_problems is not None:
            self.run[0]["contact_part"] = self.contact_problems.address

    def use_mixed(self) -> None:
        """Get the kernels of the mixed iteration of elements ready."""
        self.system.use_mixed()
        self.matrices.update()

    def _start(self):
        system, a = self.system, self.arrays
        system.switch_as_given()
        state = system.initial.copy()
        system.begin(state)
        a["x"][:], a["Q"][:], a["R"][:], a["V"][:] = state.x, state.Q, state.R, state.V
        self.run[0]["t"] = state.t
        # of nodes that cannot turn rotations stay these; those at the touch are asked for where there are contacts
        times = ("s", "0", "t") if self.contacts_come else ("s", "0")
        for time in times:
            for name in "xQR":
                a[name + time][:] = getattr(state, name)
        for name in ("Vs", "V0"):
            a[name][:] = state.V
        if system.nc:
            a["was_active"][:] = system.gaps(state) <= 1e-9 * system.size_at(state)
        self.method.start(self, state)
        if react(self, state):
            self.method.start(self, state)

    def call(self, problem: str, name: str) -> None:
        """Call one of the compiled functions of a problem, see `stepping.kernels.newton`."""
        from fem_mbs.jit import invoke

        run = self.run[0]
        # address(run) takes 0.1 ms: NumPy describes all its fields
        invoke(int(self.problems[problem][0][name]), int(run["data_at"]), int(run["run_at"]))

    def call_part(self, name: str) -> None:
        """Call one of the compiled parts of the method by its name."""
        from fem_mbs.jit import invoke

        run = self.run[0]
        invoke(int(self.record_of(f"{name}_part")[f"{name}_part"]), int(run["data_at"]), int(run["run_at"]))

    def problem_at(self, at: int) -> str:
        """Name of the problem whose record is at an address."""
        from fem_mbs.jit import address

        return next(name for name, record in self.problems.items() if address(record) == at)

    def make_records(self, size: int) -> dict[str, np.ndarray]:
        """Arrays for ``size`` saved steps."""
        return records(self.system, size, self.forces, len(self.ledger.lines) if self.balance else 0)

    def keep_whole(self, every: int) -> None:
        """Only one state in so many gets outputs, energies and constraint violations."""
        self.run[0]["whole_every"] = self.every = every

    def first(self, block: dict[str, np.ndarray]) -> None:
        """Record the initial state."""
        from fem_mbs.jit import address, invoke

        self.run_data.record_into(block)
        self.run[0]["t"] = self.system.initial.t
        invoke(int(self.run[0]["record_part"]), address(self.data), address(self.run))
        self.pair_tables = [np.zeros((0, PAIR_COLUMNS))] if self.system.searches else []

    def last(self, block: dict[str, np.ndarray]) -> None:
        """Record the present state, even between saved states."""
        from fem_mbs.jit import address, invoke

        run = self.run[0]
        self.run_data.record_into(block)
        run["whole_every"] = 1
        invoke(int(run["record_part"]), address(self.data), address(self.run))
        if self.march.control is not None:
            self.march.control.complete(block)
        self.struck |= block["impact"][0] != 0
        if self.contact_groups is not None:
            self.pair_tables = [self.contact_groups.closed_pairs()]
            block["pair_count"][0] = len(self.pair_tables[0])

    @property
    def exhausted(self) -> bool:
        """True if the present step has used up its iterations: smaller ones would be rejected at once."""
        return bool(self.run[0]["work"] > self.run[0]["most_work"])

    def fault(self, code: int, t: float) -> Exception:
        """The error of a step that failed with a code on its way to time t [s]."""
        if self.contact_problems is not None and self.contact_problems.error is not None:
            raise self.contact_problems.error
        error = diagnose(self, EXHAUSTED if self.exhausted else code, t)
        if self.contact_problems is not None and self.run[0]["handed_problems"]:
            error.contact_problem = self.contact_problems.problem
        return error

    def pairs(self) -> list[np.ndarray]:
        """Tables of closed pairs of contact groups, one per state saved by the last call; empty without groups."""
        return self.pair_tables

    @property
    def solver_of_groups(self) -> Any:
        """What solves contact groups, with the numbers ``inexact`` and ``worst`` of it; None without groups."""
        return self.grains or self.contact_problems if self.system.searches else None

    @property
    def driven(self) -> bool:
        """Whether elements may do work on the model, see `stepping.monitors.external_work`."""
        return len(self.arrays["external"]) > 0

    def touched(self) -> np.ndarray:
        """Contacts (nc,) that had an impact."""
        fixed = slice(0, len(self.struck))
        return self.struck | (self.arrays["impact"][fixed] != 0) | (self.arrays["waiting"][fixed] == 2)

    def bounced(self) -> bool:
        """True if contacts with restitution had an impact."""
        struck = self.touched()
        laws = [self.system.laws[: len(struck)][struck], *(search.laws for search in self.system.searches)]
        return any((law["restitution"] > 0.0).any() for law in laws)

    def warnings(self) -> list[str]:
        """Non-fatal problems, a list of sentences: of construction and compile time, then those of the run."""
        return [*Warnings.of(self.system), *(text for monitor in self.monitors for text in monitor.warnings())]

    def statistics(self) -> dict[str, float]:
        """What was counted over all steps, saved or not."""
        repeated, handed = int(self.run[0]["repeated"]), int(self.run[0]["handed"])
        searches = {} if self.contact_groups is None else self.contact_groups.statistics()
        control = self.march.control
        controlled = {} if control is None else control.statistics()
        counted = {"steps": "step_number", "impact_sequences_cut_short": "cut_short",
                   "steps_without_restitution": "made_plastic", "impacts_with_less_restitution": "limited_impacts",
                   "energy_rises": "rises", "swept_contacts": "swept_total"}  # fmt: skip
        steps = {name: int(self.run[0][field]) for name, field in counted.items()}
        switches, lost = int(self.run[0]["switches"]), float(self.run[0]["switch_loss"])
        if switches:
            controlled = {**controlled, "switches": switches, "energy_lost_in_switches": lost}
        counted = {"jammed_joints": "jammed", "searched_pieces": "pieces"} if self.system.frictions else {}
        friction = {name: int(self.run[0][field]) for name, field in counted.items()}
        watched = {name: value for monitor in self.monitors for name, value in monitor.statistics().items()}
        return {"repeated_steps": repeated, "contact_problems": handed, **steps, **searches, **controlled,
                **self.method.counted(self), **friction, **watched}  # fmt: skip

    def state(self) -> "State":
        """Current state of the run, a copy."""
        state = self.system.initial.copy()
        for name in ("x", "Q", "R", "V"):
            getattr(state, name)[:] = self.arrays[name]
        state.t = float(self.run[0]["t"])
        return state
