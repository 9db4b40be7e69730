"""Groups of elements: the arrays behind the records that compiled code reads (`assembly`)."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from fem_mbs.errors import ModelError, label
from fem_mbs.jit import SLOTS, address, arguments_of, bind, callback_address, python_callback, sizes_in_record
from fem_mbs.system.contacts import CONTACTS, LAW, contact_arrays
from fem_mbs.system.records import KERNELS
from fem_mbs.system.speed_pieces import NO_PIECES, table_of_pieces
from fem_mbs.system.workspace import Workspace

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.element.contact import Contact
    from fem_mbs.element.friction_row import FrictionRow

MIXED = ("mixed", "update")  # kernels that only the mixed iteration calls
# kernels that are called where there is another one
EFFORTS = ("N", "N/m", "W", "J")  # what units of outputs begin with that are 0 while an element is off
WITH = {"inertia": "inertia_tangent", "force": "force_tangent", "constraint": "hessian", "friction": "friction_hessian"}


class Group:
    """Elements of one type as arrays, with their bound kernels."""

    changes: tuple[str, ...] = ("state", "active", "G")  # arrays that a run changes, with `contact_data`
    searched = False  # of a contact group: its contacts come and go

    def __init__(self, elements: Sequence["Element"], workspace: Workspace) -> None:
        first = elements[0]
        self.elements, self.sizes, self.width = elements, first.sizes, first.numbers_per_node
        s = self.sizes
        n = self.n = len(elements)
        self.parameters = np.zeros(n, first.parameters)
        for e, element in enumerate(elements):
            self.parameters[e] = element.record
        check_finite(elements, self.parameters)
        check_sizes(elements, self.parameters)
        self.nodes = np.array([[node.index for node in element.nodes] for element in elements], np.int64).reshape(n, -1)
        self.signals = np.zeros((n, max(s["ns"], 1)), np.int64)
        self.state = np.zeros((n, max(s["nq"], 1)))
        self.active = np.ones(n, np.int64)  # 1: on, 0: off, see `fem_mbs.system.switches`
        units = [unit for count, unit in first.outputs.values() for _ in range(count)]
        self.efforts = np.array([unit.split(" ")[0] in EFFORTS for unit in units] or [False], np.int64)
        if elements[0].role == "friction":
            self.efforts[:] = 0  # its force is 0 where it is off; its work since the start is kept
        self.velocity_rows = int(first.velocity_rows)
        if not 0 <= self.velocity_rows <= s["nr"]:
            raise ModelError(
                f"{label(first)}: velocity_rows = {self.velocity_rows}, must be 0 … rows = {s['nr']}", [first]
            )
        is_constraint, is_contact, is_friction = (first.role == role for role in ("constraint", "contact", "friction"))
        self.is_contact = is_contact
        contacts = cast("Sequence[Contact]", elements)  # where they are, or dry friction, which has a law too
        # of gradients
        rows_kept = s["nr"] if is_constraint else cast("FrictionRow", first).directions if is_friction else 0
        self.G = np.zeros((n, rows_kept, s["nd"])) if rows_kept else np.zeros((1, 1, 1))
        self.noted = np.zeros((n if first.noted else 0, 2))  # by the kernel of forces when it was called last
        self.joint_rows = np.zeros(n, np.int64)  # of joint friction: first multiplier of its joint, known later
        self.drilling = is_contact and contacts[0].drilling_arm > 0.0
        # force laws on contacts have shapes too, for the check of passages
        self.contact_data: dict[str, np.ndarray] = {}  # see `CONTACTS`
        self.contact_record = np.zeros(1, CONTACTS.dtype)
        if is_contact or "touching" in first.kernels:
            self.make_contact_data()
            for name in ("convex", "passage", "reach"):
                self.contact_data[name][:] = [getattr(contact, name) for contact in contacts]
            self.contact_data["number"][:] = numbers_in_pairs(elements)
        if is_contact:
            self.contact_data["friction_scale"][:] = [contact.friction_scale for contact in contacts]
        self.far = is_contact and s["nn"] == 2 and all(contact.gap_slopes is not None for contact in contacts)
        if self.far:
            self.contact_data["gap_slopes"][:] = [contact.gap_slopes for contact in contacts]
        self.set_laws(contacts if is_contact or is_friction else [])
        self.calls = {}
        unknown = [name for name in first.kernels if name not in KERNELS]
        if unknown:
            allowed = ", ".join(KERNELS)
            raise ModelError(f"{label(first)}: kernel '{unknown[0]}' is unknown; allowed: {allowed}", [first])
        check_complete(first)
        self.mixed = [name for name in MIXED if "mixed" in first.kernels]  # not yet bound
        self.bind([name for name in first.kernels if name not in self.mixed])
        self.callbacks = {
            name: python_callback(PythonKernel(first, function, workspace))
            for name, function in first.python_kernels.items()
        }
        self.first_row = self.first_contact = self.first_output = self.first_friction = 0

    def set_laws(self, parts: "Sequence[Contact]") -> None:
        """Keep laws of contacts or of joint friction, and those coefficients of contacts that depend on a speed."""
        self.laws = np.array([part.law for part in parts], LAW if self.is_contact else float)
        contacts = parts if self.is_contact else []
        if any(contact.two_coefficients for contact in contacts):
            self.changes = (*self.changes, "laws")  # the coefficient that acts
        by_speed = any(contact.depends_on_speed for contact in contacts)
        both = [contact.pieces for contact in contacts] if by_speed else [(NO_PIECES, NO_PIECES)]
        self.restitutions, self.sliding = (table_of_pieces(pieces) for pieces in zip(*both))  # (n, pieces)

    @property
    def changing(self) -> tuple[np.ndarray, np.ndarray]:
        """Variables that a run changes: internal variables, and flags of active elements."""
        return self.state, self.active

    def get_state(self) -> dict[str, np.ndarray]:
        """Copy the variables that a run changes: states of elements, and data that kernels keep between calls."""
        return {name: array.copy() for name, array in self._changing_arrays().items()}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Restore the result of `get_state`; ValueError for other arrays, or other numbers of elements."""
        arrays, kind = self._changing_arrays(), type(self.elements[0]).__name__
        if different := sorted(set(arrays) ^ set(state)):
            names = ", ".join(map(repr, different[:5]))
            raise ValueError(f"elements of type {kind}: {names} in one of the two only")
        for name, array in arrays.items():
            saved = state[name]
            if array.shape != saved.shape or array.dtype != saved.dtype:
                found = f"{array.dtype} {array.shape}, not {saved.dtype} {saved.shape}"
                raise ValueError(f"'{name}' of elements of type {kind} is {found}")
            array[...] = saved

    def _changing_arrays(self):
        """Arrays that a run changes, by name."""
        return {name: getattr(self, name) for name in self.changes} | self.contact_data

    def contact_rows(self, *names: str) -> np.ndarray:
        """Rows of some gradients of the contacts (n, rows, nd), one below the other."""
        return np.concatenate([self.contact_data[name].reshape(self.n, -1, self.sizes["nd"]) for name in names], axis=1)

    def make_contact_data(self) -> None:
        """Make the arrays of the contacts anew, all zero."""
        self.contact_data.clear()  # a kilobyte per contact, which would be there twice
        nd = self.sizes["nd"] if self.is_contact else 0
        self.contact_data.update(contact_arrays(self.n, nd))
        CONTACTS.aim(self.contact_record, self.contact_data)

    def bind(self, names: Sequence[str]) -> None:
        """Make C functions of kernels of the elements."""
        first = self.elements[0]
        for name in names:
            self.calls[name] = bind(first.kernels[name], first.parameters, self.sizes)

    def bind_mixed(self, record: np.void) -> None:
        """Make C functions of what only the mixed iteration calls, and put their addresses into the record."""
        self.bind(self.mixed)
        for name in self.mixed:
            record[name] = self.calls[name].address
        self.mixed = []

    def fill(self, record: np.void) -> None:
        s = self.sizes
        for name in ("nn", "nd", "nr", "ns", "nq", "no"):
            record[name] = s[name]
        record["n"], record["stride"] = self.n, self.parameters.itemsize
        for name, array in (
            ("parameters_at", self.parameters),
            ("nodes_at", self.nodes),
            ("signals_at", self.signals),
            ("state_at", self.state),
            ("G_at", self.G),
            ("contact_at", self.contact_record),
            ("laws_at", self.laws),
            ("joint_rows_at", self.joint_rows),
            ("active_at", self.active),
            ("efforts_at", self.efforts),
        ):
            record[name] = address(array)
        record["noted_at"] = address(self.noted) if len(self.noted) else 0
        for kind, pieces in (("restitution", self.restitutions), ("sliding", self.sliding)):
            record[f"{kind}_at"], record[f"{kind}_pieces"] = address(pieces), pieces.shape[1]
        record["drilling"] = int(self.drilling)
        record["viscous"] = int(any(element.viscous for element in self.elements))
        record["velocity_rows"] = self.velocity_rows
        record["abstract"] = int(self.elements[0].abstract)
        kernels = self.elements[0].kernels
        read = any("state" in arguments_of(kernels[name]) for name in set(kernels) - {"initial", "accept", "output"})
        record["far"] = int(self.far)
        record["counts_turns"] = int(self.elements[0].counts_turns and not read)
        record["width"], record["fills"] = self.width, filled(self.elements[0])
        record["weighted"] = int(is_weighted(self.elements[0]))
        tangent = self.elements[0].kernels.get("force_tangent")
        record["tangent_tells_forces"] = int(tangent is not None and "f" in arguments_of(tangent))
        for name in ("first_row", "first_contact", "first_output", "first_friction"):
            record[name] = getattr(self, name)
        for name, call in self.calls.items():
            record[name] = call.address
        for name, callback in self.callbacks.items():
            record[name] = callback_address(callback)


def numbers_in_pairs(elements: Sequence["Element"]) -> list[int]:
    """Number of each contact among those of its pair (`Contact.pair`) that follow each other; 0 without a pair."""
    numbers: list[int] = []
    for k, element in enumerate(elements):
        goes_on = k > 0 and element.pair is not None and elements[k - 1].pair is element.pair
        numbers.append(numbers[-1] + 1 if goes_on else 0)
    return numbers


def is_weighted(element: "Element") -> bool:
    """True if the kernels of tangents of an element fill weighted sums (`assembly.set_weights`)."""
    tangents = [element.kernels[name] for name in ("inertia_tangent", "force_tangent") if name in element.kernels]
    return any("weights" in arguments_of(kernel) for kernel in tangents)


def filled(element: "Element") -> int:
    """Flags of the matrices M, C, K, Ka that the kernels of an element add to (`assembly.FILLS_M` …), by arguments."""
    names = set()
    for kernel in ("inertia_tangent", "force_tangent", "mixed"):
        if kernel in element.kernels:
            names.update(arguments_of(element.kernels[kernel]))
    if "arguments" in names or element.python_kernels:
        return 15
    return sum(bit for name, bit in (("M", 1), ("C", 2), ("K", 4), ("Ka", 8)) if name in names)


def check_complete(element: "Element") -> None:
    """ModelError for an element that lacks what its kernels need: a kernel that would be called, rows, parameters."""
    there = {*element.kernels, *element.python_kernels}
    if element.numbers_per_node != 6 and element.role != "dynamic":
        raise ModelError(
            f"{label(element)}: numbers_per_node = 3 is for elements with mass and forces alone", [element]
        )
    missing = [(name, other) for name, other in WITH.items() if name in there and other not in there]
    if missing:
        name, other = missing[0]
        raise ModelError(f"{label(element)}: has a kernel '{name}', but no '{other}', which is needed too", [element])
    if element.role in ("constraint", "contact", "friction") and element.role not in there:
        raise ModelError(f"{label(element)}: a {element.role} needs a kernel '{element.role}'", [element])
    asking = [name for name in ("friction", "friction_hessian", "friction_bound") if name in element.kernels]
    if any("state" in arguments_of(element.kernels[name]) for name in asking):
        raise ModelError(
            f"{label(element)}: its states are those of the run; only `output` may have them as arguments", [element]
        )
    if element.role == "constraint" and element.sizes["nr"] < 1:
        raise ModelError(f"{label(element)}: rows = {element.sizes['nr']}; give the number of equations", [element])
    if element.record is element.no_record and element.parameters is not element.no_parameters:
        raise ModelError(
            f"{label(element)}: its constructor does not set `record`, the values of `parameters`", [element]
        )


def check_sizes(elements: Sequence["Element"], parameters: np.ndarray) -> None:
    """Raise a ModelError for an element whose record has another size: kernels would read beyond their arrays."""
    for size in sizes_in_record(parameters.dtype):
        wanted = elements[0].sizes[size]
        wrong = np.flatnonzero(parameters[size] != wanted)
        if len(wrong):
            element, found = elements[wrong[0]], parameters[size][wrong[0]]
            raise ModelError(
                f"{label(element)}: parameter '{size}' is {found}, must be {wanted}: a parameter of this name gives "
                "kernels a size (docs/writing_an_element.md). Name it otherwise if it means something else",
                [element],
            )


def check_finite(elements: Sequence["Element"], parameters: np.ndarray) -> None:
    """Raise a ModelError for an element with a number in its record that is not finite."""
    if _finite_record(parameters):
        return
    e = next(e for e in range(len(parameters)) if not _finite_record(parameters[e]))
    bad = next(name for name in parameters.dtype.names or () if not _finite_record(parameters[e][name]))
    raise ModelError(f"{label(elements[e])}: parameter '{bad}' is not finite", [elements[e]])


def _finite_record(value):
    if value.dtype.names:
        return all(_finite_record(value[name]) for name in value.dtype.names)
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())


class PythonKernel:
    """A Python function in the place of a compiled kernel; keeps its exception for the solver to raise."""

    def __init__(self, element: "Element", function: Callable, workspace: Workspace) -> None:
        self.element, self.function = element, function
        self.views = {name: workspace.view(name, element.sizes) for name in SLOTS}

    def __call__(self, parameters_at, arguments_at):
        try:
            self.function(self.views)
        except Exception as error:
            if self.element.error is None:  # later ones may only follow from the NaN below
                self.element.error = error
            self.views["f"][:] = np.nan
