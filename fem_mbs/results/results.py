"""Results of a run, read back by name; written as a stream during the run by `fem_mbs.results.file.writer`.

/VTKHDF          what ParaView shows (single precision), see `fem_mbs.results.file.vtkhdf` and
                 `fem_mbs.results.drawing.scene`
/fem_mbs         attributes: format, n (saved steps that count), status
  description    JSON: model, nodes, elements with their outputs and places in the arrays
  parameters     JSON: what the stepper was asked to do; statistics: JSON, written at the end
  histories/…    the arrays of `fem_mbs.results.table`, one row per saved step
  agenda/…       samples of controllers and events, see `fem_mbs.results.file.journal.Journal`
  skin/…         shapes, see `fem_mbs.results.drawing.skin.Skin`
"""

import numbers
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Named, StepError
from fem_mbs.arguments.spelling import NEAR, meant, nearness
from fem_mbs.errors import FemMbsError, FileError
from fem_mbs.nodes import Node
from fem_mbs.results.contact_motion import impact_times, resultant
from fem_mbs.results.drawing.notebook import Report
from fem_mbs.results.drawing.scene import Scene, inverse_step
from fem_mbs.results.drawing.skin import Skin
from fem_mbs.results.energy_table import EnergyTable, energy_table, work_of
from fem_mbs.results.file import read_checks
from fem_mbs.results.file.journal import Journal, Samples, read_journal
from fem_mbs.results.file.names import UnknownNameError, no_name, unknown_name
from fem_mbs.results.file.store import File
from fem_mbs.results.history import History, Iterations, Pairs, Quantity
from fem_mbs.results.parts import of_element, of_node
from fem_mbs.results.reactions import reaction
from fem_mbs.results.report import openings, report_lines
from fem_mbs.results.table import HISTORIES, PAIR_COLUMNS, PAIRS, listed, pair_column, shape_of
from fem_mbs.results.unique_forces import MINDLIN, unique_forces
from fem_mbs.shapes import matrices

if TYPE_CHECKING:
    from fem_mbs.results.drawing.sketch import Sketch
    from fem_mbs.system.state import State

FORMAT = 1


def _run_history(name):
    """Line of the docstring of `Results` for a history of the whole run."""
    line = HISTORIES[name]
    unit = f" [{line.unit}]" if line.unit else ""
    if line.labels:
        return f"{name} : histories {', '.join(line.labels)}{unit}; {line.meaning}"
    shape = ", ".join(map(str, ("k", *line.shape))) + ("" if line.shape else ",")
    return f"{name} : ({shape}){unit}; {line.meaning}"


class Results:
    __doc__ = f"""Histories of a run, by the names of the model; those of the whole run are attributes.

    Attributes
    ----------
    {listed((n for n, h in HISTORIES.items() if h.of == "run"), _run_history)}
    status : "complete", "running" (being written, or killed) or "stopped: …"
    parameters, statistics : dict, what the stepper was asked to do and what it counted
    names : list of str
    observers : tuple, those of the run, when it was made by this program

    ``energy`` has the history ``total`` too, ``iterations`` have ``max`` and ``mean``. ``name in result`` and
    ``for name in result`` are about `names`; ``len(result)`` is the number of saved steps.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> result = fem.load("bouncing_ball.vtkhdf")  # doctest: +SKIP
    >>> result["ball"].position[-1], result["table"].gap.min()  # doctest: +SKIP
    """

    def __init__(
        self,
        store: Any,
        description: dict,
        parameters: dict,
        statistics: dict,
        status: str,
        *,
        skin: "Sketch | Skin | None" = None,
        path: Path | None = None,
        journal: Any = None,
    ) -> None:
        self._store, self._skin = store, skin
        self._happened = Journal().found() if journal is None else journal.found()
        self.description, self.parameters, self.statistics = description, parameters, statistics
        self.status, self.path = status, path
        self.observers: tuple = ()
        self._system: Any = None  # of a run of this program
        self.model = description["model"]
        self._cache = {}

    @classmethod
    def read(cls, path: str | Path) -> "Results":
        """Results of a file that `ResultsWriter` wrote, or is still writing; arrays are loaded when asked for.

        Raises
        ------
        FileError
            The file does not exist, is not a results file, or is damaged; see `fem_mbs.results.file.read_checks`.
        """
        path = Path(Named("load").as_instance("path", path, (str, Path), "the path of a results file"))
        found = read_checks.read(path, FORMAT, lambda sizes: {name: shape_of(name, sizes) for name in HISTORIES})
        description, parameters, statistics = (found[name] for name in read_checks.TEXTS)
        store = File(path, found["n"], description["sizes"], found["run"])
        with store._open() as file:
            journal = read_journal(file["fem_mbs"])
        return cls(store, description, parameters, statistics, found["status"], path=path, journal=journal)

    def __getstate__(self):
        return vars(self) | {"_cache": {}, "_system": None}  # what was read is read again when it is asked for

    # --- names ----------------------------------------------------------------------------------------------------

    @cached_property
    def _entries(self):
        """Name -> (node number or None, element number or None); made when the first name is asked for."""
        entries = {}
        nodes = self.description["nodes"]
        for i, node in enumerate(nodes):
            name = node["name"] or f"node {i}"
            entries[name if name not in entries else f"{name} (node {i})"] = (i, None)
        for e, element in enumerate(self.description["elements"]):
            name = element["name"] or f"{element['type'].lower()} {e + 1}"
            carried = element["nodes"][0] if len(element["nodes"]) == 1 else None
            if name in entries and entries[name] != (carried, None):
                name = f"{name} ({element['type']})"
            entries[name] = (carried, e)
        return entries

    @property
    def names(self) -> list[str]:
        """Names accepted by ``result[name]``: nodes and elements of the model."""
        return list(self._entries)

    def __getitem__(self, name):
        """`History` of a node, body, joint, beam or contact, by its name, or of a node itself (of a solid)."""
        name = self._name_of(name) if isinstance(name, Node) else name
        if not isinstance(name, str) or name not in self._entries:
            where = f"result of model '{self.model}'"
            if any(group["name"] == name for group in self.description.get("contact_groups", ())):
                message = "its closed contacts in saved step k are result.pairs(k)"
                raise UnknownNameError(
                    f"{where} has no histories of contact group '{name}', whose pairs come and go; {message}"
                )
            raise (unknown_name if isinstance(name, str) else no_name)(name, self._entries, where)
        if name not in self._cache:
            node, element = self._entries[name]
            quantities = {} if node is None else of_node(self, node)
            kind = ""
            if element is not None:
                described = self.description["elements"][element]
                quantities |= of_element(self, described)
                kind = described["type"]
            self._cache[name] = History(name, quantities, kind)
        return self._cache[name]

    def _name_of(self, node):
        """Name of a node of the model, of nodes without a name, too."""
        alike = [(e is not None, name) for name, (i, e) in self._entries.items() if i is not None and i == node.index]
        names = [name for _, name in sorted(alike)]  # its own before that of what it carries
        if not names or (node.name or None) != (self.description["nodes"][node.index]["name"] or None):
            raise FemMbsError(f"result of model '{self.model}': {node!r} is no node of this model")
        return names[0]

    def __contains__(self, name):
        return isinstance(name, str) and name in self._entries

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self.t)

    # --- the whole system -----------------------------------------------------------------------------------------

    def _once(self, name, make):
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    def __getattr__(self, name):
        """Histories of the whole run, by the table of results: an array, or a `History` of its components."""
        if name.startswith("_") or name not in HISTORIES or HISTORIES[name].of != "run":
            whole = [known for known, line in HISTORIES.items() if line.of == "run"]
            part, near = max(HISTORIES, key=lambda known: nearness(name, known)), meant(name, whole)
            if part in whole or nearness(name, part) < NEAR:
                part = name
            hint = f"histories of parts of the model are result['name'].{part}"
            if near.startswith("did") and part == name:
                hint = near
            raise AttributeError(f"results have no '{name}'; {hint}")
        if HISTORIES[name].labels:
            return self._once((name,), lambda: History(name, self._columns(name)))
        return self._once((name,), lambda: self._store.read(name))

    def __dir__(self):
        return [*super().__dir__(), *(name for name, line in HISTORIES.items() if line.of == "run")]

    def recovered(self, contact: str) -> Any:
        """Forces of a contact that `RecoveredForces.save` or `ForceObserver.save` has put into the file of this run.

        Parameters
        ----------
        contact : str
            Its name.

        Returns
        -------
        namespace
            ``impacts`` (record array), ``t`` [s], ``force`` [N], after a recovery also ``indentation`` [m] and
            ``velocity`` [m/s], of an observer ``continuous`` [N] and ``impulse`` [N s]; ``stiffness``, ``exponent``,
            ``model``, ``filter``.

        Raises
        ------
        FemMbsError
            No file, or no forces of this contact in it; the message has the names of those that are there.
        """
        from fem_mbs.results.file.recovered import read

        if self.path is None:
            raise FemMbsError("this run was not saved: recovered forces are read from its results file")
        return read(self.path, contact)

    @property
    def events(self) -> np.ndarray:
        """Events of the run: record array with ``t`` [s], ``name``, ``action``, one row per event."""
        return self._happened.events

    @property
    def samples(self) -> dict[str, Samples]:
        """Samples of controllers, by their names: ``t`` (k,), ``inputs`` (k, n), ``outputs`` (k, m)."""
        return self._happened.samples

    def pairs(self, state: int) -> Pairs:
        """Contacts of contact groups in saved step number ``state`` (negative: from the end).

        Those that are closed, and with ``save_every`` those that were closed since the saved step before.

        Returns
        -------
        Pairs

        Raises
        ------
        StepError
            If there is no such saved step; an IndexError as well, as Python's own is.
        """
        state = self._number("state", state)
        last = int(self.pair_count[: state + 1].sum())
        rows = self._store.pairs(last - int(self.pair_count[state]), last)
        if rows.shape[1] < PAIR_COLUMNS:  # of a version whose impulses were those of the step
            forces = rows[:, pair_column("impulse")] * inverse_step(self.h[state])
            rows = np.concatenate([rows, forces], axis=1)
        columns = {name: rows[:, pair_column(name)] for name in PAIRS}
        return Pairs(**{name: columns[name].astype(kind) for name, (_, kind, _) in PAIRS.items()})

    def _columns(self, name):
        """Quantities of the components of a history of the whole run."""
        read, line = self._store.read, HISTORIES[name]
        return {c: Quantity(line.unit, (), lambda i=i: read(name, i)) for i, c in enumerate(line.labels)}

    @property
    def energy(self) -> History:
        """Histories kinetic, potential and total [J]."""
        total = {"total": Quantity("J", (), lambda: self._store.read("energy").sum(axis=1))}
        return self._once(("energy",), lambda: History("energy", self._columns("energy") | total))

    @property
    def work(self) -> History:
        """Work [J] since the start by name, of loads, dampers, drivers and contacts: runs with ``balance=True``."""
        return self._once(("work",), lambda: work_of(self))

    def energy_table(self, start: float | None = None, end: float | None = None) -> EnergyTable:
        """Kinetic and potential energy, and the work of each load, damper, driver and contact between two times.

        Parameters
        ----------
        start, end : float [s], optional
            Default: the whole run. The saved steps next to these times count.

        Returns
        -------
        EnergyTable
            ``print`` shows it. The remainder of the change of energy is a separate line, ``numerical``: it decreases
            with the step size.

        Raises
        ------
        FemMbsError
            The run was made without ``balance=True``.
        """
        return energy_table(self, start, end)

    def reaction(self, node: Any, model: Any = None) -> History:
        """What the support of a node gives: ``force`` (k, 3) [N], inertial axes, ``moment`` (k, 3) [N m], body axes.

        Parameters
        ----------
        node : Node, body with one node, name, or number
            With fixed components. ``"ground"`` is one: its reaction is that of the whole model on its foundation.
        model : Model or System, optional
            Of the run; needed for results that were loaded from a file.

        Returns
        -------
        History
            Zero at components that are free. In a step with impacts a mean over the step, with the impulses; NaN where
            the state before was not saved.

        Raises
        ------
        FemMbsError
            No model; elements with internal states; contact groups.
        ParameterError
            No such node, or it has no fixed component.
        """
        return reaction(self, node, model)

    def resultant(self, contacts: Any) -> np.ndarray:
        """Sum of contact forces on the first bodies, (k, 3) [N], inertial axes.

        Parameters
        ----------
        contacts : contact, what is made of many (``SurfaceContacts``, ``BeamSkin``, ``BoxOnPlane`` …), or a list
            Of the model of this run.

        Returns
        -------
        (k, 3) array
            Friction and normal forces, as ``force`` of contacts: with persistent contacts at the ends of steps,
            otherwise means over each step. The first body is the one that is named first: of ``SurfaceOnSurface`` the
            one whose nodes touch, of a plane what lies on it.

        Raises
        ------
        FemMbsError
            Something without contact forces, or a contact of another model.
        """
        return resultant(self, contacts)

    def unique_forces(
        self, *, stiffness: dict[str, float] | None = None, tangential_stiffness: float = MINDLIN, model: Any = None
    ) -> dict[str, History]:
        """Forces of redundant contacts as of very stiff ones, by name: one choice where rigid contacts leave many.

        A box on four corners, a table on many legs: motion is unique, forces of rigid contacts are not, and those of a
        run depend on the method. Contacts that yield a little have one answer, which does not depend on how little:
        small displacements of the bodies press each contact, and the sum of their forces is that of the run.

        Parameters
        ----------
        stiffness : dict, optional [N/m]
            Name of each contact -> its stiffness; only ratios count. Default: all are equal.
        tangential_stiffness : float > 0
            That of contacts which stick, over the normal one; default: of spheres with Poisson's ratio 0.3 (Mindlin).
        model : Model or System, optional
            Of the run; needed for results that were loaded from a file.

        Returns
        -------
        dict
            Name of a contact -> `History` with ``force`` (k, 3) [N] along normal, t1, t2, as of the contact, and
            ``force_vector`` (k, 3) [N], inertial axes. What slides keeps its direction, moments are not shared anew.
            Where joints link the bodies, their forces belong to those of the run.

        Raises
        ------
        FemMbsError
            No model; contact groups; anisotropic friction; a closed contact on more than two nodes.
        ParameterError
            Stiffnesses that are not positive, or not of all contacts.
        """
        return unique_forces(self, stiffness, tangential_stiffness, model)

    def impact_times(self, contact: str) -> np.ndarray:
        """Times (n,) [s] of the impacts of a contact inside of their steps, one for each state with ``impact``.

        From gap, rate and its change at the start of the step, extrapolated to the touch: the error is of third order
        in h. The scheme itself puts all impacts of a step at its end; with split impacts it finds the touch, and the
        extrapolation agrees to third order. NaN where the state before was not saved, or the contact was closed there:
        the impact occurred elsewhere and was transmitted. Stops, backlash and cables need two smooth steps before the
        impact, else NaN.
        """
        return impact_times(self, contact)

    @property
    def iterations(self) -> Iterations:
        """Histories smooth, position, velocity of the Newton iterations; see `Iterations`."""
        step = {"step": Quantity("", (), lambda: self.step)}
        return self._once(("iterations",), lambda: Iterations("iterations", self._columns("iterations") | step))

    @property
    def skin(self) -> Skin:
        """The `Skin` of the model, made or read when it is first asked for."""
        if self._skin is None:
            with self._store._open() as file:
                if not len(self) and "skin" not in file["fem_mbs"]:
                    raise FileError(self.path, "has nothing to draw yet: its run has just begun")
                group = file["fem_mbs/skin"]
                optional = (*Skin.SOLID_ARRAYS, *Skin.SHELL_ARRAYS, *Skin.REDUCED_ARRAYS)
                wanted = [*Skin.ARRAYS, *(name for name in optional if name in group)]
                arrays = {name: group[name][()] if name in group else read_checks.LATER[name] for name in wanted}
                self._skin = Skin(**read_checks.skin(arrays, self.description))
        elif not isinstance(self._skin, Skin):
            self._skin = self._skin.skin()
        return self._skin

    @property
    def scene(self) -> Scene:
        """The `Scene` that draws saved steps."""
        return self._once(("scene",), lambda: Scene(self.skin, self.description["elements"]))

    def rows(self, chosen: Any) -> dict[str, np.ndarray]:
        """All histories of chosen saved steps: dict of arrays, see `fem_mbs.results.table`.

        Raises
        ------
        ParameterError
            No numbers of saved steps.
        """
        steps, count = np.asarray(chosen), len(self.t)
        right = steps.ndim == 1 and (steps.size == 0 or steps.dtype.kind in "iu")
        right = right and bool(((steps >= -count) & (steps < count)).all())
        message = f"must be numbers of saved steps, a list; there are {count}"
        Named("Results").check(right, "chosen", chosen, message)
        return self._store.rows(steps.astype(np.int64) % max(count, 1))

    def at(self, time: float) -> int:
        """Number of the saved step nearest to a time [s].

        Raises
        ------
        ParameterError
            The time is before the first or after the last saved step by more than half the step there.
        """
        owner = Named("Results")
        time = owner.number("time", time, "s")
        if not len(self.t):
            raise FemMbsError(f"result of model '{self.model}' has no saved steps")
        steps = np.diff(self.t) if len(self.t) > 1 else np.zeros(1)
        slack = 1e-9 * (1.0 + abs(time))
        inside = self.t[0] - 0.5 * steps[0] - slack <= time <= self.t[-1] + 0.5 * steps[-1] + slack
        owner.check(inside, "time", time, f"s is outside the saved steps, {self.t[0]:g} s to {self.t[-1]:g} s")
        return int(np.argmin(np.abs(self.t - time)))

    def _number(self, parameter, step):
        """Number of a saved step, counted from the start."""
        count = len(self.t)
        if not isinstance(step, numbers.Integral) or not -count <= step < count:
            last = f"0 to {count - 1} (or -1 to {-count}, from the end)" if count else "none"
            message = f"is not a saved step; there are {count}: {last}. That of a time t [s] is result.at(t)"
            raise StepError(Named("Results"), parameter, step, message)
        return int(step) % count

    def state(self, step: int = -1) -> "State":
        """State of saved step number ``step`` (negative: from the end), for a run that continues from it.

        Returns
        -------
        State
            ``system.initial = result.state(-1)``; of a time t [s]: ``result.state(result.at(t))``.

        Raises
        ------
        StepError
            If there is no such saved step; an IndexError as well, as Python's own is.
        FemMbsError
            If the numbers are not a state in time: load steps of a static equilibrium.
        """
        from fem_mbs.system.state import State

        if "solver" in self.parameters:
            raise FemMbsError("these are load steps, not states in time; static_equilibrium(…).state is one")
        row = self.rows([self._number("step", step)])
        state = State(len(self.description["nodes"]))
        state.t, state.x, state.Q = row["t"][0], row["position"][0], row["quaternion"][0]
        state.R = matrices(state.Q)
        state.V[:, :3], state.V[:, 3:] = row["velocity"][0], row["angular_velocity"][0]
        elements = {element["name"]: element["outputs"] for element in self.description["elements"]}
        state._outputs = elements, row["output"][0]
        state._drifted = (*row["violation"][0], -row["gap"].min(initial=0.0))
        return state

    @property
    def contacts(self) -> list[str]:
        """Names of the contacts, in the order of contact results."""
        found = {
            self.description["elements"][e]["contact"]: name
            for name, (_, e) in self._entries.items()
            if e is not None and self.description["elements"][e]["contact"] is not None
        }
        return [found[i] for i in sorted(found)]

    def lift_offs(self, contact: str) -> np.ndarray:
        """Times (n,) [s] at which a contact that was closed for at least two saved steps opens.

        A single closed step is an impact, not a phase of contact.
        """
        return self.t[openings(self[contact].status)]

    # --- shown ----------------------------------------------------------------------------------------------------

    @property
    def warnings(self) -> list[str]:
        """What was wrong in the run without stopping it, in words. ``run(strict=True)`` raises instead."""
        return list(self.statistics.get("warnings", ()))

    def report(self) -> Report:
        """Table of the run as a text: time, iterations, constraints, contacts, energy; notebooks show it as a table."""
        return Report(report_lines(self))

    def __str__(self):
        return str(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def __repr__(self):
        return f"<Results of '{self.model}': {len(self.t)} saved steps, {self.status}>"

    def plot(self, *what: Any, **options: Any) -> Any:
        """Plot histories with matplotlib; see `fem_mbs.results.drawing.plot.plot`."""
        from fem_mbs.results.drawing.plot import plot

        return plot(self, *what, **options)

    def picture(self, save: str | Path | None = None, **options: Any) -> Any:
        """Picture of the model at one time, off-screen; see `fem_mbs.results.drawing.picture.picture`."""
        from fem_mbs.results.drawing.picture import picture

        return picture(self, save, **options)

    def animate(self, save: str | Path, **options: Any) -> Any:
        """Animation of the run as .gif or .mp4; see `fem_mbs.results.drawing.picture.animate`."""
        from fem_mbs.results.drawing.picture import animate

        return animate(self, save, **options)

    def show(self, **options: Any) -> None:
        """Interactive view with a time slider, in a window or a notebook; see `fem_mbs.results.drawing.show.show`."""
        from fem_mbs.results.drawing.show import show

        show(self, **options)

    def export(self, save: str | Path, **options: Any) -> Any:
        """Write frames in a format of meshio; see `fem_mbs.results.export.export`."""
        from fem_mbs.results.export import export

        return export(self, save, **options)


def load(path: str | Path) -> Results:
    """Results of a file, see `Results.read`."""
    return Results.read(path)
