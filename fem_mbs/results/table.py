"""The one table of results: what is saved of a step, by name.

Made from it are the arrays that a stepper fills and the record by which compiled code finds them
(`fem_mbs.solvers.stepping.kernels.records`), the datasets of a results file (`fem_mbs.results.file.writer`), and the
histories that
`fem_mbs.Results` shows, with their units, labels and docs. To add an output: a line here, and the code that
computes it.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem


class Saved(NamedTuple):
    """One line of the table.

    Attributes
    ----------
    kind : NumPy type
    shape : in one saved step: numbers and the symbols of `sizes_of`
    meaning : text
    unit : text, "" for numbers without one
    labels : names of the components of the last axis, () without
    of : where results show it: "run" (``result.name``), "node" or "contact" (``result["ball"].name``), "element"
        (taken apart by the descriptions of the elements)
    shown : name there, "" if the same
    six : (record, first): steppers store it with another as six numbers per node, those of states; () if alone
    """

    kind: str
    shape: tuple
    meaning: str
    unit: str = ""
    labels: tuple = ()
    of: str = "run"
    shown: str = ""
    six: tuple = ()


XYZ = ("x", "y", "z")
AXES, TURNS = ("normal", "t1", "t2"), ("roll t1", "roll t2", "spin")

HISTORIES = {
    "t": Saved("f8", (), "time", "s"),
    "step": Saved("i8", (), "number of the step; 0 is the initial state"),
    "h": Saved("f8", (), "size of the step that led here", "s"),
    "position": Saved("f8", ("N", 3), "inertial axes", "m", XYZ, "node"),
    "quaternion": Saved("f8", ("N", 4), "body to inertial axes, scalar first", "", ("w", "x", "y", "z"), "node"),
    "velocity": Saved("f8", ("N", 3), "inertial axes", "m/s", XYZ, "node", six=("velocity", 0)),
    "angular_velocity": Saved("f8", ("N", 3), "body axes", "rad/s", XYZ, "node", six=("velocity", 3)),
    "acceleration": Saved(
        "f8", ("N", 3), "inertial axes, without impacts", "m/s²", XYZ, "node", six=("acceleration", 0)
    ),
    "angular_acceleration": Saved(
        "f8", ("N", 3), "body axes, without impacts", "rad/s²", XYZ, "node", six=("acceleration", 3)
    ),
    "multiplier": Saved("f8", ("m",), "of all constraint rows, along +Gᵀ"),
    "gap": Saved("f8", ("nc",), "open > 0", "m", (), "contact"),
    "impulse": Saved(
        "f8", ("nc", 3), "on the first body since the last saved state: normal, t1, t2", "N s", AXES, "contact"
    ),
    "moment_impulse": Saved(
        "f8", ("nc", 3), "since the last saved state: rolling t1, t2, spinning", "N m s", TURNS, "contact"
    ),
    # where they are not impulse / h, see `sizes_of`
    "contact_force": Saved("f8", ("nf", 3), "at the end of the step, on the first body", "N", AXES, "contact", "force"),
    "contact_moment": Saved("f8", ("nf", 3), "at the end of the step", "N m", TURNS, "contact", "moment"),
    "contact_point": Saved("f8", ("nc", 3), "inertial axes", "m", XYZ, "contact", "point"),
    "contact_normal": Saved(
        "f8", ("nc", 3), "inertial axes, from the second body to the first", "", XYZ, "contact", "normal"
    ),
    "contact_tangents": Saved("f8", ("nc", 2, 3), "t1 and t2, inertial axes", "", (), "contact", "tangents"),
    "contact_status": Saved(
        "i1",
        ("nc",),
        "0 open, 1 sticking or rolling, 2 sliding or drilling, 3 no friction",
        of="contact",
        shown="status",
    ),
    "impact": Saved("i1", ("nc",), "1 if in an impact since the last saved state", "", (), "contact"),
    "output": Saved("f8", ("no",), "outputs of all elements, see the description", of="element"),
    "energy": Saved("f8", (2,), "of the whole model", "J", ("kinetic", "potential")),
    "work": Saved("f8", ("nw",), "of lines of the energy table since the start, with balance=True", "J", of="element"),
    "linear_momentum": Saved("f8", (3,), "of the whole model, inertial axes", "N s"),
    "angular_momentum": Saved("f8", (3,), "about the origin, inertial axes", "N m s"),
    "iterations": Saved("i8", (3,), "Newton iterations of the step", "", ("smooth", "position", "velocity")),
    "problems": Saved("i8", (), "impact problems solved since the last saved state"),
    "pair_count": Saved("i8", (), "closed contacts of contact groups, rows of the table of pairs"),
    "repeats": Saved("i8", (), "repetitions of steps with other penalties since the last saved state"),
    "contact_problems": Saved("i8", (), "sub-problems of the contact-problem solver since the last saved state"),
    "violation": Saved("f8", (2,), "largest |g| and |ġ| of the constraints", "", ("position", "velocity")),
}

# Closed contacts of contact groups: columns of a table with the rows of all saved steps one after the other.
PAIRS = {
    # name: columns, type, meaning
    "group": (1, "i8", "number of the contact group"),
    "sphere": (1, "i8", "number of the sphere in its group"),
    "type": (1, "i8", "of the partner; 0: another sphere of the group"),
    "partner": (1, "i8", "number of the partner among those of its type"),
    "status": (1, "i8", "as of other contacts; 0: has opened since it carried its impulse"),
    "gap": (1, "f8", "[m] open > 0; of status 0: in the last step with an impulse"),
    "impulse": (3, "f8", "[N s] on the sphere since the last saved state, inertial axes"),
    "moment_impulse": (3, "f8", "[N m s] on the sphere since the last saved state, inertial axes"),
    "point": (3, "f8", "[m] inertial axes"),
    "normal": (3, "f8", "from the partner to the sphere, inertial axes"),
    "force": (3, "f8", "[N] on the sphere in the step that leads to the state, inertial axes"),
}
PAIR_COLUMNS = sum(columns for columns, *_ in PAIRS.values())


def sizes_of(system: "CompiledSystem", forces: bool = False, works: int = 0) -> dict:
    """Sizes of the histories of a `System`: N nodes, m constraint rows, nc contacts, no numbers put out by elements.

    Contacts of contact groups do not count: they come and go, and have a table of their own.

    ``forces``: whether saved states have forces of contacts that are not their impulses over h, because the method
    has, or because impulses are those of several steps; nf is then the number of contacts, else 0, and nothing is saved
    twice. ``works``: number nw of lines of the energy table.
    """
    nc = system.nc_fixed
    return {"N": len(system.nodes), "m": system.m, "nc": nc, "nf": nc if forces else 0, "no": system.n_outputs,
            "nw": works}  # fmt: skip


def shape_of(name: str, sizes: dict[str, int]) -> tuple[int, ...]:
    """Shape of a history in one saved step."""
    # files of older versions lack newer histories
    return tuple(s if isinstance(s, int) else sizes.get(s, 0) for s in HISTORIES[name].shape)


def recorded() -> dict[str, tuple]:
    """What steppers fill of one saved step: record name -> (type, shape, meaning); velocities by sixes."""
    records = {}
    for name, line in HISTORIES.items():
        if line.six:
            records[line.six[0]] = line.kind, ("N", 6), "translation in inertial, rotation in body axes"
        else:
            records[name] = line.kind, line.shape, line.meaning
    return records


def separated(chunk: dict[str, Any]) -> dict[str, Any]:
    """Records with the six numbers per node of velocities and accelerations taken apart into histories."""
    whole = {name: chunk[name] for name in chunk if name not in HISTORIES or not HISTORIES[name].six}
    for name, line in HISTORIES.items():
        if line.six and name in chunk and line.six[0] != name:
            whole[name] = chunk[name]  # apart already
        elif line.six and line.six[0] in chunk:
            record, first = line.six
            values = np.asarray(chunk[record])
            whole[name] = values[..., first : first + 3]
    return whole


def pair_column(name: str) -> int | slice:
    """Place of a quantity among the columns of the table of pairs: a slice, or a number where it has one column."""
    first = 0
    for other, (columns, *_) in PAIRS.items():
        if other == name:
            return first if columns == 1 else slice(first, first + columns)
        first += columns
    raise KeyError(name)


def listed(names: Iterable[str], line: Callable[[str], str]) -> str:
    """Lines of a docstring, one for each name."""
    return "\n    ".join(map(line, names))
