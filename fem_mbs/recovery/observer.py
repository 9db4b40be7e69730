"""Force recovery during a run: what `recover_forces` finds in the results, while they are made.

A run may be too long to keep every step, and recovery needs every step. An observer looks at all of them as they come,
keeps the impacts and the force of the closed contact, and forgets the motion; the results file holds as few states as
``save_every`` asks for.

An impact is distinguished from closed contact by the samples around it: isolated pulses by one neighbour on either
side, the force of the closed contact below an impact by up to three that are no impacts, impulses through the chain by
the background of theirs. Together a sample is decided by no more than

    MARGIN = 8 on either side = 1 (pulses) + 3 (background) + 3 (background of what passed) + 1 to spare            (1)

so the observer runs the filters of `recovery.forces` over a window of the newest states and takes over what is further
than that from its ends. Its numbers are those of the recovery from results, `MARGIN` steps later, and at the end of the
run, where the recovery has no more samples either, at once.

Steps are taken in compiled blocks of some tenth of a second of wall time; the observer is called after each block.

Source: docs/theory/force_recovery.md, "Impact or closed contact".
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked, Named
from fem_mbs.recovery.forces import RecoveredForces, mark_overlaps, warn_of_meshes, warn_of_missing
from fem_mbs.recovery.options import Options, check_options
from fem_mbs.results.describe import describe
from fem_mbs.results.file.store import view
from fem_mbs.results.results import Results
from fem_mbs.system.compiled import CompiledSystem

MARGIN = 8  # (1)
_KEPT = (
    "t", "h", "step", "problems", "position", "quaternion", "velocity", "acceleration", "gap", "impulse",
    "contact_point", "contact_normal",
)  # fmt: skip


class ForceObserver(Checked):
    """Recovers the forces of one contact during a run.

    Parameters
    ----------
    contact : str
        Name of the contact.
    speed_tolerance : float > 0 [m/s]
        Closed contacts approach with less; well below impact speeds and above g h. The whole run, from which
        `recover_forces` has its default, is not known yet.
    on_impact : callable, optional
        ``on_impact(impact)`` is called with each impact (a record, columns as ``impacts``) once it is decided.
    **options
        stiffness, model, exponent, restitution, effective_mass, filter: as for `recover_forces`.

    Attributes
    ----------
    impacts : record array (m,), as of `RecoveredForces`; ``state`` is the number of the step
    step_times, h : (k,) [s]
    continuous : (k,) [N], force of the closed contact in each step
    impulse : (k,) [N s], of the run

    Raises
    ------
    FemMbsError
        Parameters out of range; when the run begins: not a contact.

    Examples
    --------
    >>> table = model.add(fem.SphereOnPlane(ball, model.ground, radius=0.2, restitution=0.8, name="table"))
    >>> watch = fem.ForceObserver("table", speed_tolerance=1e-3, stiffness=140e6, model="flores")
    >>> result = fem.DecoupledNSGA().run(model, t_end=0.5, h=1e-3, save_every=50, observers=[watch])
    >>> print(f"{watch.impacts.peak_force[0] / 1e3:.1f} kN, {len(result.t)} states")
    9.5 kN, 11 states
    """

    changeable = {
        "on_impact": lambda self, name, value: None if value is None else self.as_function(name, value),
    }

    def __init__(
        self,
        contact: str,
        *,
        speed_tolerance: float,
        stiffness: float | None = None,
        model: str = "consistent",
        exponent: float = 1.5,
        restitution: float | None = None,
        effective_mass: float | None = None,
        filter: str = "kinematic",
        on_impact: Callable | None = None,
    ) -> None:
        self.contact, self.on_impact = self.as_text("contact", contact), on_impact
        self.options = Options(stiffness, model, exponent, restitution, effective_mass, filter, speed_tolerance)
        check_options("ForceObserver", contact, self.options)
        Named("ForceObserver", contact).positive("speed_tolerance", speed_tolerance, "m/s")
        if on_impact is not None:
            Named("ForceObserver", contact).as_function("on_impact", on_impact)
        self._clear()

    def _clear(self):
        self._buffer, self._first, self._decided = None, 0, 0
        self._parts, self._tables = {"step_times": [], "h": [], "continuous": [], "impulse": []}, []

    # --- called by the stepper ---------------------------------------------------------------------------------------

    def start(self, system: CompiledSystem) -> None:
        """Begin with a run of a `System`."""
        from fem_mbs.results.contact_motion import contact_number

        self._clear()
        self._description = describe(system)
        arrays = {name: np.zeros(0) for name in _KEPT}
        nothing = Results(view(arrays), self._description, {}, {}, "running")
        contact_number(nothing, self.contact)
        warn_of_meshes("ForceObserver", self.contact, nothing)

    def observe(self, records: dict) -> None:
        """Take states, dict of arrays with one row for each, in order and without gaps."""
        new = {name: np.array(records[name]) for name in _KEPT}
        joined = new if self._buffer is None else {n: np.concatenate([self._buffer[n], new[n]]) for n in _KEPT}
        self._buffer = joined
        known = self._first + len(joined["t"])
        if known - self._decided > 3 * MARGIN:
            self._decide(known - MARGIN)

    def finish(self) -> None:
        """Process the remaining samples at the end of a run, and warn about impacts without force."""
        known = self._first + len(self._buffer["t"])
        if known >= 2:
            self._decide(known)
        table = self.impacts
        if len(table):
            lost = np.isnan(table.duration)
            speed = np.isnan(table.speed)
            plastic = lost & ~speed & np.char.startswith(table.note.astype(str), "no rebound")
            warn_of_missing(self.contact, speed, plastic, np.flatnonzero(lost & ~speed & ~plastic))

    own = ("_buffer", "_first", "_decided", "_parts", "_tables")

    def get_state(self) -> dict:
        """What was seen and decided so far, for a checkpoint of the run."""
        return {name: getattr(self, name) for name in self.own}

    def set_state(self, state: dict) -> None:
        """Go on from what `get_state` has given, after `start`."""
        for name in self.own:
            setattr(self, name, state[name])

    def _decide(self, end):
        """Take over states up to number ``end`` from the recovery of the window, and drop what is no longer needed."""
        window = Results(view(self._buffer), self._description, {}, {}, "running")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = RecoveredForces(window, self.contact, self.options)
        decided = slice(self._decided - self._first, end - self._first)
        for name, part in self._parts.items():
            part.append(np.array(getattr(found, name)[decided]))
        table = found.impacts.copy()
        table.state += self._first
        table = table[(table.state >= self._decided) & (table.state < end)]
        self._tables.append(table)
        self._decided = end
        drop = max(end - MARGIN - self._first, 0)
        self._buffer = {name: array[drop:] for name, array in self._buffer.items()}
        self._first += drop
        if self.on_impact is not None:
            for impact in table:
                self.on_impact(impact)

    # --- quantities -----------------------------------------------------------------------------------------------

    def _joined(self, name):
        return np.concatenate(self._parts[name]) if self._parts[name] else np.zeros(0)

    @property
    def step_times(self) -> np.ndarray:
        """Times (k,) [s] of the steps decided so far."""
        return self._joined("step_times")

    @property
    def h(self) -> np.ndarray:
        """Their sizes (k,) [s]."""
        return self._joined("h")

    @property
    def continuous(self) -> np.ndarray:
        """Force (k,) [N] of the closed contact in each step."""
        return self._joined("continuous")

    @property
    def impulse(self) -> np.ndarray:
        """Normal impulse (k,) [N s] of each step, of the run."""
        return self._joined("impulse")

    @property
    def impacts(self) -> np.recarray:
        """Impacts decided so far."""
        if not self._tables:
            return np.zeros(0, RecoveredForces.table_type()).view(np.recarray)
        table = np.concatenate(self._tables).view(np.recarray)
        mark_overlaps(table, np.flatnonzero(~np.isnan(table.duration)))
        return table

    def envelope(self) -> Any:
        """Largest force [N] in each step: of the closed contact, and of impacts that begin in it on top; (k,).

        As published for mechanisms with clearance: one number per step, however long the impact lasts.
        """
        table = self.impacts
        force = self.continuous
        np.add.at(force, table.state, np.nan_to_num(table.peak_force))
        return force

    def save(self, path: str | Path) -> None:
        """Write impacts and forces of the steps into a results file, which keeps few states; see `Results.recovered`.

        Raises
        ------
        FemMbsError
            The file cannot be written.
        """
        from fem_mbs.results.file.recovered import write

        steps = {"t": self.step_times, "force": self.envelope(), "continuous": self.continuous, "impulse": self.impulse}
        given = self.options
        law = (given.stiffness, given.model, float(given.exponent), given.filter)
        write(path, self.contact, self.impacts, law, steps)
