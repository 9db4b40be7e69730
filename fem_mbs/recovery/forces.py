"""Recovered forces: table of impacts and histories of one contact; they are computed in `force_recovery`."""

import warnings
from collections.abc import Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.errors import FemMbsError, Warnings
from fem_mbs.recovery import cubic_impact, impulse_filter
from fem_mbs.recovery.hysteresis import LOWEST_RESTITUTION, ForceLaw, hysteresis_factor
from fem_mbs.recovery.impact_curve import ImpactCurve, at_times
from fem_mbs.recovery.modal_phases import integrate_phases
from fem_mbs.recovery.options import Options
from fem_mbs.results.contact_motion import approaching, contact_number, normal_motion
from fem_mbs.results.file.names import ByAttribute
from fem_mbs.results.results import Results

if TYPE_CHECKING:
    from fem_mbs.checks import Checks

ABOVE = 1.001  # times the approach of closed contacts: round-off

FIELDS = {
    # name: type, unit, meaning; also the columns of the printed table
    "time": ("f8", "s", "first touch"),
    "speed": ("f8", "m/s", "approach speed"),
    "restitution": ("f8", "", "used for the course of the impact"),
    "impulse": ("f8", "N s", "normal impulse of the impact, of the run"),
    "duration": ("f8", "s", "of the recovered impact"),
    "peak_force": ("f8", "N", "largest recovered force, without that of the closed contact"),
    "indentation": ("f8", "m", "largest"),
    "energy_lost": ("f8", "J", "½ Λ (δ̇_i + δ̇_f): work of the impulse, kinetic energy that the run lost"),
    "loop_area": ("f8", "J", "energy of the recovered hysteresis loop"),
    "effective_mass": ("f8", "kg", "impulse over jump of the normal speed"),
    "background": ("f8", "N", "force of the closed contact under the impact"),
    "recovered_impulse": ("f8", "N s", "of the recovered force; differs from that of the run with modes only"),
    "merged": ("i8", "", "impacts of the run that are one here; more than one with modes only"),
    "state": ("i8", "", "number of the saved state after it"),
    "note": ("U60", "", ""),
}


class RecoveredForces(ByAttribute):
    """Forces of a contact, made by `recover_forces`.

    Attributes
    ----------
    impacts : record array (m,)
        One row per impact, columns as attributes (``impacts.peak_force``): time [s], speed [m/s], restitution, impulse
        [N s], duration [s], peak_force [N], indentation [m], energy_lost [J] (by the run), loop_area [J] (of the
        recovered hysteresis loop), effective_mass [kg], background [N], recovered_impulse [N s], merged (number of
        impacts of the run), state, note. nan where nothing could be recovered.
    step_times : (k,) [s]
    continuous : (k,) [N]
        Force of the closed contact, constant in the step that ends at each of ``step_times``.
    impulse : (k,) [N s]
        Of the run: impulse = h continuous + that of the impacts.

    ``forces["impulse"]`` is ``forces.impulse``; ``len(forces)`` is the number of impacts.
    """

    _by_name = ("t", "force", "indentation", "velocity", "impacts", "step_times", "continuous", "impulse")

    def __len__(self):
        return len(self.impacts)

    def __init__(self, result: Results, contact: str, options: Options) -> None:
        self.contact, self.stiffness, self.model = contact, options.stiffness, options.model
        self.exponent, self.filter = float(options.exponent), options.filter
        self._path = result.path
        history = result[contact]
        self.step_times, self.h, self.gap = result.t, result.h, history.gap
        self.impulse = history.impulse[:, 0]
        motion = normal_motion(result, contact)
        self.closing = -motion.rate
        self.v_tol = float(options.speed_tolerance or self._default_tolerance(result, motion.speed))
        self._split(result, motion.gain)
        self._curves: list | None = None
        if options.modes is None:
            self._recover(result.problems, options.restitution, options.effective_mass)
        else:
            self._integrate(result, options)
        self._history = None

    # --- how it is made -------------------------------------------------------------------------------------------

    def _default_tolerance(self, result, speed):
        """Largest approach speed [m/s] of steps that the run calls no impact, though closed at both ends, and a bound.

        Methods that do not hold closed contacts at the end of a step (`MoreauJean`, `ConeComplementarity`) have some.
        """
        steady = (self.impulse > 0) & (result[self.contact].impact == 0)
        steady[1:] &= steady[:-1]
        approach = self.closing[:-1][steady[1:]].max(initial=0.0)
        return max(_speed_tolerance(result, speed), ABOVE * approach)

    def _split(self, result, gain):
        """Impacts and continuous force of the steps."""
        h, n = self.h[1:], len(self.h) - 1
        force = self.impulse[1:] / h
        if self.gap[0] > self.v_tol * h[0]:  # an open contact before the first step; otherwise not known
            force, n = np.concatenate([[0.0], force]), n + 1
        skipped = len(self.h) - n
        at = slice(skipped, None)
        self._passed = np.zeros(len(self.h), bool)
        impact, continuous = np.zeros(len(self.h), bool), np.zeros(len(self.h))
        if self.filter == "peak":
            free, on_closed, continuous[at] = impulse_filter.peak_filter(force)
            impact[at] = free | on_closed
        else:
            approach = np.concatenate([[0.0], self.closing[:-1]])
            several = len(result.contacts) > 1

            def transmitted(steps):
                return self._struck_elsewhere(result, steps + skipped)

            impact[at], self._passed[at], continuous[at] = impulse_filter.kinematic_filter(
                force, approach[at], gain[at], self.v_tol, transmitted if several else None
            )
        self.continuous, self.states = continuous, np.flatnonzero(impact)

    def _struck_elsewhere(self, result, states):
        """True where another contact of the same linked bodies had an impact in the steps to the states (j,)."""
        me, nodes = contact_number(result, self.contact)
        out = np.zeros(len(states), bool)
        size = max(1, 2_000_000 // (len(result.contacts) * 40 + len(result.description["nodes"]) * 30))
        for first in range(0, len(states), size):
            part = slice(first, first + size)
            struck, labels, nodes_of, free = approaching(result, states[part], self.v_tol)
            struck[:, me] = False
            mine = [labels[:, node] for node in nodes if free[node]]
            for c in np.flatnonzero(struck.any(axis=0)):
                for theirs in (labels[:, node] for node in nodes_of[c] if free[node]):
                    for label in mine:
                        out[part] |= struck[:, c] & (theirs == label)
        return out

    @staticmethod
    def table_type() -> np.dtype:
        """Columns of ``impacts``."""
        return np.dtype([(name, kind) for name, (kind, _, _) in FIELDS.items()])

    def _integrate(self, result, options):
        """The table of impacts of bodies that deform, and their curves."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # reasons for which a cubic impact has no force
            self._recover(result.problems, options.restitution, None)
        self._curves = integrate_phases(self, result, options.modes, float(options.restitution))
        self.recovered = np.flatnonzero([curve is not None for curve in self._curves])

    def _recover(self, problems, restitution, effective_mass):
        """The table of impacts."""
        s = self.states
        table = np.zeros(len(s), self.table_type()).view(np.recarray)
        table.state, table.background = s, self.continuous[s]
        table.impulse = self.impulse[s] - self.h[s] * table.background
        speed, leaving = self.closing[s - 1], -self.closing[s]
        known = speed > self.v_tol
        if effective_mass is not None:
            # Λ = m (δ̇_i + δ̇_f)
            speed = np.where(known, speed, table.impulse / effective_mass - np.maximum(leaving, 0.0))
        elif restitution is not None:
            speed = np.where(known, speed, leaving / restitution)
        unknown = ~(speed > self.v_tol)
        speed = np.where(unknown, np.nan, speed)
        reached = leaving / speed
        e = reached if restitution is None else np.full(len(s), float(restitution))
        plastic = ~unknown & (e < LOWEST_RESTITUTION)
        good = np.flatnonzero(~unknown & ~plastic)
        table.speed, table.restitution = speed, np.clip(e, 0.0, 1.0)
        table.time = self._first_touch(s)
        table.energy_lost = 0.5 * table.impulse * (speed - leaving)
        table.effective_mass = table.impulse / (speed + leaving)
        table.merged = 1
        for name in ("duration", "peak_force", "indentation", "loop_area", "recovered_impulse"):
            table[name] = np.nan
        table.note = _notes(
            (unknown, "no approach speed"), (plastic, "no rebound"), (self._passed[s], "through other bodies"),
            (~unknown & (reached > 1 + 1e-6), "gains energy"), (problems[s] > 1, "sequence"),
        )  # fmt: skip
        self.impacts = table
        if len(good):
            good = self._apply_law(table, good)
            mark_overlaps(table, good)
        self.recovered = good
        warn_of_missing(self.contact, unknown, plastic, np.setdiff1d(np.flatnonzero(~unknown & ~plastic), good))

    def _apply_law(self, table, good):
        """Duration, peak, indentation and loop of the impacts ``good``; returns those that the law can make."""
        arguments = [np.array(table[name][good]) for name in ("impulse", "speed", "restitution")]
        if not isinstance(self.model, ForceLaw):
            self._factor = np.zeros(len(table))
            self._factor[good] = hysteresis_factor(self.model, arguments[2])
            values = cubic_impact.hertz_type(*arguments, self._factor[good], self.stiffness, self.exponent)
        else:
            found = []
            for i, (Lam, v, e) in enumerate(zip(*arguments)):
                numbers = cubic_impact.of_force_law(Lam, v, e, self.model, guess=self.h[table.state[good[i]]])
                found.append((np.nan,) * 4 if numbers is None else numbers)
            values = np.array(found).T
            good, values = good[~np.isnan(values[0])], values[:, ~np.isnan(values[0])]
        for name, column in zip(("duration", "indentation", "peak_force", "loop_area"), values):
            table[name][good] = column
        table.recovered_impulse[good] = table.impulse[good]
        return good

    def _first_touch(self, s):
        """Times [s] at which impacts begin, see the header."""
        start, h, gap = self.step_times[s - 1], self.h[s], self.gap[s - 1]
        speed = self.closing[s - 1]
        open_before = (gap > self.v_tol * h) & (speed > self.v_tol)
        with np.errstate(divide="ignore", invalid="ignore"):
            after = np.where(open_before, np.minimum(gap / speed, h), 0.5 * h)
        return start + after

    # --- quantities --------------------------------------------------------------------------------------------

    def curve(self, impact: int, samples: int = 401) -> ImpactCurve:
        """Force, indentation and its rate during one impact: its hysteresis loop.

        Parameters
        ----------
        impact : int
            Row of ``impacts``, negative from the end.
        samples : int
            Number of times, evenly spaced.

        Returns
        -------
        ImpactCurve
            Without the force of the closed contact.

        Raises
        ------
        IndexError, FemMbsError
            No such impact; an impact that could not be recovered.
        """
        row = self.impacts[range(len(self.impacts))[impact]]
        if np.isnan(row.duration):
            raise FemMbsError(
                f"impact {impact} of '{self.contact}' at t = {row.time:g} s has no force ({row.note or 'law too soft'})"
            )
        return self._curve_at(range(len(self.impacts))[impact], np.linspace(0, 1, samples))

    def _curve_at(self, i, tau):
        row = self.impacts[i]
        if self._curves is not None:
            return at_times(self._curves[i], row.time + row.duration * tau)
        shape, rate = (a[0] for a in cubic_impact.course(tau, np.array([row.restitution])))
        delta, velocity = row.duration * row.speed * shape, row.speed * rate
        if isinstance(self.model, ForceLaw):
            force = self.model(delta, velocity, row.speed, row.restitution)
        else:
            force = self.stiffness * delta**self.exponent * (1 + self._factor[i] * rate)
        return ImpactCurve(row.time + row.duration * tau, force, delta, velocity)

    @property
    def t(self) -> np.ndarray:
        """Times (n,) [s] of the histories: ends of steps (twice where the force jumps) and times within impacts."""
        return self._histories[0]

    @property
    def force(self) -> np.ndarray:
        """Total force (n,) [N]: closed contact and impacts."""
        return self._histories[1]

    @property
    def indentation(self) -> np.ndarray:
        """Indentation (n,) [m]: of impacts, else that which carries the force of the closed contact; 0 while open."""
        return self._histories[2]

    @property
    def velocity(self) -> np.ndarray:
        """Approach speed (n,) [m/s], > 0 closing: of the bodies, and of the indentation during impacts."""
        return self._histories[3]

    @property
    def _histories(self):
        if self._history is None:
            from fem_mbs.recovery.history import histories

            self._history = histories(self)
        return self._history

    def static_indentation(self, force: ArrayLike) -> np.ndarray:
        """Indentations (n,) [m] under constant forces (n,) [N]."""
        force = np.asarray(force, float)
        if not isinstance(self.model, ForceLaw):
            return (force / self.stiffness) ** (1 / self.exponent)
        most, reach = force.max(initial=0.0), 1e-9
        zero = np.zeros(1)
        while self.model(zero + reach, zero, 1.0, 1.0)[0] < most:
            reach *= 2.0
            if reach > 1e9:
                raise FemMbsError(
                    f"ForceLaw '{self.model.name}' does not reach the force {most:g} N at any indentation"
                )
        delta = np.concatenate([[0.0], reach * np.logspace(-9, 0, 2000)])
        return np.interp(force, self.model(delta, np.zeros(len(delta)), 1.0, 1.0), delta)

    def checks(self) -> "Checks":
        """Return checks that hold for any law, as `Checks`: impulse, restitution, end of the indentation of all
        impacts.
        """
        from scipy.integrate import trapezoid

        from fem_mbs.checks import Check, Checks

        impulse = end = rebound = 0.0
        for i in self.recovered:
            row, curve = self.impacts[i], self.curve(i)
            impulse = max(impulse, abs(curve.impulse / row.recovered_impulse - 1))
            end = max(end, curve.indentation[-1] / row.indentation)
            rebound = max(rebound, abs(-curve.velocity[-1] / row.speed - row.restitution))
        made = self.impacts.impulse[self.recovered].sum()
        missing = self.impacts.impulse.sum() - made
        total = self.impulse[1:].sum() - made + self.impacts.recovered_impulse[self.recovered].sum()
        scale = max(total, np.finfo(float).tiny)
        return Checks(
            # Simpson's rule on 401 points: the knot of the warp and δⁿ at the ends leave 1e-5
            Check("impacts: ∫F dt/Λ − 1, largest", reference=0, obtained=impulse, abs=1e-4),
            Check("impacts: restitution reached, error", reference=0, obtained=rebound, abs=1e-9),  # round-off
            Check("impacts: δ at the end / largest δ", reference=0, obtained=end, abs=1e-9),  # round-off
            # trapezoidal rule on 201 points per impact
            Check(
                "∫F dt of the contact/ΣΛ − 1",
                reference=0,
                obtained=(trapezoid(self.force, x=self.t) + missing) / scale - 1 if total else 0.0,
                abs=1e-3,
            ),
        )

    def __str__(self):
        from fem_mbs.recovery.history import text

        return text(self)

    def __repr__(self):
        return f"<RecoveredForces of '{self.contact}': {len(self.impacts)} impacts, {len(self.recovered)} with force>"

    def print(self, rows: int = 20) -> None:
        """Print the table of impacts: all if there are at most ``rows``, else the largest by peak force."""
        from fem_mbs.recovery.history import text

        print(text(self, rows))

    def save(self, path: str | Path | None = None) -> None:
        """Write the table of impacts and the histories into a results file.

        Parameters
        ----------
        path : path, optional
            Results file; default: that of the run. `Results.recovered` reads from it.

        Raises
        ------
        FemMbsError
            The run kept no file, or it cannot be written.
        """
        from fem_mbs.results.file.recovered import write

        histories = {name: getattr(self, name) for name in ("t", "force", "indentation", "velocity")}
        law = (self.stiffness, self.model, self.exponent, self.filter)
        write(self._path if path is None else path, self.contact, self.impacts, law, histories)

    def plot(
        self,
        impacts: int | Sequence[int] = 3,
        *,
        save: str | Path | None = None,
        show: bool = False,
        title: str | None = None,
        size: tuple[float, float] = (9.0, 6.0),
    ) -> Any:
        """Plot the force over time, and force and hysteresis loops of the largest impacts.

        Parameters
        ----------
        impacts : int or sequence of int
            How many of the largest impacts to draw, or which rows of ``impacts``.
        save : path, optional
            Write the figure, with the format of the file's ending.
        show : bool
            Open a window and wait until it is closed.
        title : str, optional
        size : (width, height) [inch]

        Returns
        -------
        matplotlib.figure.Figure
        """
        from fem_mbs.recovery.history import plot

        return plot(self, impacts, save, show, title, size)


def _speed_tolerance(result, speed):
    """1e-5 of the largest speed [m/s]: of the contact's bodies in all states, of the others in a hundred of them.

    Closed contacts have speeds of solver tolerance times those of the run, even where their own bodies never move.
    """
    some = np.unique(np.linspace(0, len(result.t) - 1, 100).astype(int))
    others = np.linalg.norm(result.rows(some)["velocity"], axis=2).max(initial=0.0)
    gravity = np.linalg.norm(result.description["gravity"]) * result.h.max()
    return max(1e-5 * max(speed, others, gravity), np.finfo(float).tiny)


def _notes(*pairs):
    """Texts (m,) "a, b" of the conditions (m,) that hold."""
    notes = [
        ", ".join(text for holds, text in zip(row, (t for _, t in pairs)) if holds)
        for row in zip(*(c for c, _ in pairs))
    ]
    return np.array(notes, FIELDS["note"][0])


def warn_of_meshes(who: str, contact: str, result: Results) -> None:
    """Warn that a contact of the run has a node of a body that deforms."""
    number = contact_number(result, contact)[0]
    described = next(e for e in result.description["elements"] if e["contact"] == number)
    if described.get("deforms", False):
        Warnings.issue(
            f"{who} of '{contact}': a body of this contact deforms, and its impacts are recovered with the mass of the "
            "node that touches: too short and too weak where they last longer than waves through the body. Give "
            "recover_forces(…, modes=fem.ReducedContact(model), restitution=…), or resolve them with CompliantContact"
        )


def mark_overlaps(table: np.recarray, good: np.ndarray) -> None:
    """Note in a table of impacts which of the recovered ones ``good`` last longer than the bodies fly after them."""
    end = table.time[good] + table.duration[good]
    for i in good[:-1][end[:-1] > table.time[good[1:]]]:
        if "overlaps the next" not in table.note[i]:
            table.note[i] = f"{table.note[i]}, overlaps the next".removeprefix(", ")


def warn_of_missing(contact: str, unknown: np.ndarray, plastic: np.ndarray, soft: Sized) -> None:
    """Say how many impacts have no force, and what to do."""
    reasons = (
        (
            unknown.sum(),
            "have no approach speed in the results (their impulse came through other bodies): give effective_mass=… or "
            "restitution=…",
        ),
        (
            plastic.sum(),
            f"end without rebound (restitution below {LOWEST_RESTITUTION:g}), which the method does not cover: give "
            "restitution=… of the material",
        ),
        (len(soft), "need more impulse than the ForceLaw gives in any duration"),
    )
    for count, reason in reasons:
        if count:
            Warnings.issue(f"recover_forces of '{contact}': {count} impacts {reason}")
