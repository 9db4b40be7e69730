"""The model, which the user builds. ``compile()`` checks it and returns the `System` that solvers use."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, Keywords
from fem_mbs.element.base import Element, Part
from fem_mbs.element.watching import Watching
from fem_mbs.errors import ModelError, ParameterError, Warnings, label
from fem_mbs.nodes import Frame, Ground, Node
from fem_mbs.results.drawing.notebook import Report
from fem_mbs.system.checks.redundancy import independent_count
from fem_mbs.system.gravity import Gravity
from fem_mbs.system.system import System


class Model(Checked):
    """A collection of nodes and elements, with gravity, which may be set until the model is compiled.

    Parameters
    ----------
    name : str
        Shown in results and errors.
    gravity : (3,) [m/s²], or callable t [s] -> (3,), inertial axes
        A function makes a field that changes in time (docs/howto/functions_of_time.md): a lift that starts, a switch.

    Attributes
    ----------
    ground : Ground
        The inertial frame; joints and planes attach to ``model.ground.frame(…)``.
    elements, contact_groups, nodes : lists, in the order they were added
    warnings : list of str, issued when the parts of the model were made; results of runs have them too
    watching : list of the controllers, events and sensors, in this order

    Examples
    --------
    >>> model = Model("bouncing ball", gravity=[0, 0, -9.81])
    """

    changeable = {"gravity": lambda self, name, value: self._field(value)}

    def __init__(self, name: str = "model", gravity: ArrayLike | Callable = (0.0, 0.0, 0.0)) -> None:
        self.name = self.as_text("name", name)
        self.gravity: Any = self._field(gravity)
        self.ground = Ground()
        self.nodes = [self.ground]
        self._known = {self.ground}  # nodes in the list
        self.elements, self.contact_groups = [], []
        self.watching: list = []
        self._names, self._numbers = {}, {}

    def _field(self, gravity):
        """The field as it is kept: an array, or the function of time that was given, once it is found to be one."""
        if not callable(gravity):
            if isinstance(gravity, (int, float, np.number)):
                raise ParameterError(self, "gravity", gravity, "must be three numbers [m/s²], such as [0, 0, -9.81]")
            return self.as_vector("gravity", gravity)
        return Gravity(gravity, name=self.name).field.vector

    def add(self, *items: Any, active: bool = True, intervals: Any = None) -> Any:
        """Add elements, nodes, controllers, events, or lists of them; returns the added items (several as a list).

        Joints, drivers, springs and loads can be switched on and off in a run (docs/howto/locks_and_attachments.md):
        ``active=False`` adds them switched off; ``intervals`` gives times (begin, end) [s] in which they are on.

        The nodes of an element are added with it, the sensors of a controller or an event too, springs, stops, friction
        and motors with their joint. An element without a
        name gets one from its type and number. A `System` that was compiled before does not get items added later; a
        solver raises an error for it.

        Raises
        ------
        ParameterError
            If a name is taken, an element is in the model already, or an item is not an element, a node, or a list of
            them; ``active`` or ``intervals`` of an item that cannot be switched.
        """
        if active is not True or intervals is not None:
            for element in self._elements_of(items):
                for part in (element, *element.companions):
                    part.use_switch(active, intervals)
        added = []
        for item in items:
            if texts := Warnings.of(item):
                Warnings.keep(self, texts)
            if isinstance(item, type):
                raise ParameterError(self, "add", item, f"is a type; make one: {item.__name__}(…)")
            elif isinstance(item, Node):
                self._add_node(item)
            elif isinstance(item, Element):
                self._add_element(item)
            elif isinstance(item, Frame):
                self._add_node(item.node)
            elif isinstance(item, Part) and item.role == "contact group":
                self._name(item)
                self.contact_groups.append(item)
            elif isinstance(item, Watching):
                self._add_watching(item)
            elif hasattr(item, "elements"):  # a part made of several elements, such as a line of beams
                for node in getattr(item, "nodes", ()):
                    self._add_node(node)
                self.add(*item.elements)
            elif isinstance(item, (list, tuple)):
                self.add(*item)
            else:
                raise ParameterError(self, "add", item, "is not an element, a node, or a list of them")
            added.append(item)
        return added[0] if len(added) == 1 else added

    @property
    def warnings(self) -> list[str]:
        return list(self._warnings)

    def _elements_of(self, items):
        """Elements among items, of parts and lists too; nothing else can be switched on and off."""
        for item in items:
            if isinstance(item, Element):
                yield item
            elif isinstance(item, (list, tuple)) or hasattr(item, "elements"):
                yield from self._elements_of(getattr(item, "elements", item))
            else:
                raise ParameterError(
                    self, "add", item, "is no element: it cannot be added with active=… or intervals=…"
                )

    def _add_node(self, node):
        if isinstance(node, Ground) and node is not self.ground:
            # ground has no data: every ground is the inertial frame
            raise ModelError("use model.ground: a second Ground was given", [node])
        if node not in self._known:
            self._known.add(node)
            self.nodes.append(node)

    def _add_element(self, element):
        self._name(element)
        for node in element.nodes:
            self._add_node(node)
        self.elements.append(element)
        for companion in element.companions:
            if companion.name is None:
                companion.name = f"{element.name} {companion._suffix}"
            self._add_element(companion)

    def _add_watching(self, item):
        """Add a sensor, or a controller or an event with the sensors that it reads."""
        if item in self.watching:
            raise ParameterError(self, "add", item, "is in the model already")
        if item.role != "sensor":
            self._name(item)
        self.watching.append(item)
        for sensor in [item] if item.role == "sensor" else item.sensors():
            for part in sensor.all():
                for element in part.elements:
                    if self._names.get(element.name) is not element:
                        self._add_element(element)

    def _name(self, element):
        """Name an element without a name; raise an error for a name that is taken."""
        if element.name is not None and element.name in self._names:
            if self._names[element.name] is element:
                raise ParameterError(self, "add", element, "is in the model already; add it once")
            reason = "is taken; names of elements must be unique in a model"
            if isinstance(element, Element) and self._names[element.name] is element.contact:
                reason = "is that of the contact it wraps, which is in the model too. Add the compliant contact alone"
            raise ParameterError(element, "name", element.name, reason)
        kind = type(element).__name__.lower()
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        if element.name is None:
            while f"{kind} {number}" in self._names:
                number += 1
            element.name = f"{kind} {number}"
        self._names[element.name] = element

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_known"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._known = set(self.nodes)

    if not TYPE_CHECKING:  # to type checkers an unknown attribute stays unknown

        def __getattr__(self, name):
            """Raise an AttributeError, with the way to run a model where that was meant."""
            ways = "; a time stepper runs a model: fem.DecoupledNSGA().run(model, t_end=…, h=…)"
            hint = ways if name in ("run", "simulate", "solve", "integrate", "step") else ""
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}")

    def __getitem__(self, name):
        """Element (or node) by name."""
        if name in self._names:
            return self._names[name]
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(sorted(self._names)) or "none"
        raise KeyError(f"'{name}' is not in model '{self.name}'; it has: {known}")

    @Keywords.known
    def compile(self, *, project: bool = False, redundant: str = "error", linear_solver: str | None = None) -> System:
        """Check the model and number its unknowns.

        Parameters
        ----------
        project : bool
            Move initial positions and velocities to the nearest (in the metric of the mass matrix) that satisfy all
            constraints, instead of refusing those that violate them.
        redundant : {"error", "allow"}
            Treatment of redundant constraints. Allowed ones give the right motion; their multipliers are
            those of minimum norm.
        linear_solver : {None, "dense", "klu", "umfpack", "cholmod", "superlu"}
            Default: the best available for the size.

        Returns
        -------
        System

        Raises
        ------
        ModelError
            Empty model, node without mass or constraint, redundant constraints, violated constraints, penetration.
        """
        return System(self, project=project, redundant=redundant, linear_solver=linear_solver)

    def _summary(self):
        """Lines (name, text) of the contents of the model."""
        kinds = {}
        for element in self.elements:
            kinds[type(element).__name__] = kinds.get(type(element).__name__, 0) + 1
        yield "", f"Model '{self.name}'"
        if callable(self.gravity):
            yield "gravity", f"function of time, {Gravity(self.gravity).at(0.0).tolist()} m/s² at t = 0"
        else:
            yield "gravity", f"{self.gravity.tolist()} m/s²"
        yield "nodes", f"{len(self.nodes)} (ground included)"
        yield "elements", ", ".join(f"{n} {k}" for k, n in kinds.items()) or "none"
        if not self.elements:
            return
        contacts = sum(e.role == "contact" for e in self.elements)
        try:
            system, error = System(self, check=False), None
            yield "unknowns", self._unknowns(system)
        except ModelError as found:
            system, error = None, found
        if contacts:
            yield "contacts", f"{contacts}"
        for group in self.contact_groups:
            yield "group", f"'{group.name}': {len(group.frames)} spheres, {len(group.obstacles)} obstacles"
        if system is None:
            yield "not ready", str(error)
            return
        mass, center = system.mass_properties()
        if mass > 0:
            yield "mass", f"{mass:.6g} kg, centre of mass {np.round(center, 9).tolist()} m"

    @staticmethod
    def _unknowns(system):
        """Describe the unknowns, and the number of independent constraints."""
        on = int(system.active_rows.sum())
        redundant = on - independent_count(system)
        freedoms = system.n - on + redundant
        rows = f"{on} constraint rows" + (f", {redundant} of them redundant" if redundant else "")
        rows += f", {system.m - on} more switched off" if on < system.m else ""
        held = sum(element.velocity_rows for element in system.non_holonomic if system.is_on(element))
        more = f", {freedoms + held} of positions" if held else ""
        return f"{system.n} velocities, {rows} ({freedoms} degree{'s' if freedoms != 1 else ''} of freedom{more})"

    def __str__(self):
        return str(Report(self._summary()))

    def _repr_html_(self) -> str:
        return Report(self._summary())._repr_html_()

    def show(self, **options: Any) -> None:
        """Interactive view of the model as it is when a run begins; see `fem_mbs.results.drawing.show.show`.

        The model need not be complete, but must have an element.
        """
        from fem_mbs.results.drawing.show import show
        from fem_mbs.results.initial import at_start

        show(at_start(System(self, check=False)), **options)

    def mass_properties(self) -> tuple:
        """Total mass [kg] and centre of mass (3,) [m], inertial axes, of the initial configuration."""
        return System(self, check=False).mass_properties()

    def __repr__(self):
        return f"{label(self)} with {len(self.elements)} elements"


def compiled(owner: Checked, model: Model | System, check: bool | str = True) -> System:
    """The `System` of a model, or the one given, as solvers take either.

    Raises
    ------
    ParameterError
        Neither a model nor a system.
    ModelError
        The model of the system got more elements after it was compiled, or other positions, velocities or gravity.
    """
    if isinstance(model, Model):
        return System(model, check=check)
    owner.as_instance("model", model, System, "a Model, or the System that model.compile() returns")
    missing = model.missing()
    if missing:
        names = ", ".join(map(label, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise ModelError(
            f"model '{model.name}' got {names} after it was compiled: this System does not have them. Compile it "
            "again, or run the model itself",
            missing,
        )
    changed = model.changed()
    if changed:
        names = ", ".join(f"{label(item)}: {name}" for item, name in changed[:5]) + (", …" if len(changed) > 5 else "")
        raise ModelError(
            f"model '{model.name}' was changed after it was compiled ({names}): this System does not contain the "
            "change. Compile it again, run the model itself, or change system.initial",
            [item for item, _ in changed],
        )
    return model
