"""The energy table of a run: what it had, what it has, and where the difference went.

Source: docs/theory/energy_table.md.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.arguments.spelling import listed
from fem_mbs.errors import FemMbsError
from fem_mbs.results.file.names import ByName, UnknownNameError, unknown_name
from fem_mbs.results.history import History, Quantity

if TYPE_CHECKING:
    from fem_mbs.results.results import Results

OF_GROUPS = "contact groups"  # name of the lines of their contacts
ASK = "the run has kept no energy balance: run(…, balance=True)"


class Line(NamedTuple):
    """A line of the energy table: what, of which kind, work in [J] on the model."""

    name: str
    kind: str
    work: float


class EnergyTable(ByName):
    """Energies at two times and the work in between.

    Attributes
    ----------
    t : (start, end) [s]
    kinetic, potential : (at the start, at the end) [J]
    lines : list of (name, kind, work [J]); kinds are load, damper, driver, impact, friction, contact, switch
        Friction of joints has one, that against a moving surface a driver in addition: the work of the surface. The
        line
        "switches" has the energy lost in velocity jumps, and that of springs that are switched on and off.
    numerical : float [J]
        Remainder of the change of energy: dissipation of the scheme (negative), and the errors of its impacts and of
        the quadrature of works. Round-off where forces are constant. Where the Gauss-Seidel solver takes contact
        groups it has the work of their contacts as well, unless they move obstacles: these have a line "contact".
    groups : bool
        Whether there are such.

    ``table["brake"]`` is ``table.work("brake")``; ``list(table)`` are the names of the lines, `len` counts the lines.
    """

    def __init__(self, t: tuple, kinetic: tuple, potential: tuple, lines: list[Line], groups: bool) -> None:
        self.t, self.kinetic, self.potential, self.lines, self.groups = t, kinetic, potential, lines, groups
        self.numerical = self.change - sum(line.work for line in lines)

    @property
    def change(self) -> float:
        """Of kinetic and potential energy [J]."""
        return float(self.kinetic[1] + self.potential[1] - self.kinetic[0] - self.potential[0])

    def work(self, name: str, kind: str | None = None) -> float:
        """Work [J] of all lines of a name, or of one kind of them."""
        found = [line.work for line in self.lines if line.name == name and kind in (None, line.kind)]
        if not found and name in self:
            kinds = listed([line.kind for line in self.lines if line.name == name])
            raise UnknownNameError(f"{self._where()} has no line '{name}' ({kind}); its kind is {kinds}")
        if not found:
            raise unknown_name(name, self._items(), self._where())
        return sum(found)

    def _items(self):
        return list(dict.fromkeys(line.name for line in self.lines))

    def _item(self, name):
        return self.work(name)

    def _where(self):
        return "the energy table"

    def __len__(self):
        return len(self.lines)

    def total(self, kind: str) -> float:
        """Work [J] of all lines of a kind."""
        return sum(line.work for line in self.lines if line.kind == kind)

    def __repr__(self):
        return f"EnergyTable({self.t[0]:.6g} … {self.t[1]:.6g} s, {len(self)} lines, change {self.change:.6g} J)"

    def __str__(self):
        last = "contacts of groups, numerical" if self.groups else "numerical"
        rows = [("kinetic energy, change", "", self.kinetic[1] - self.kinetic[0])]
        rows += [("potential energy, change", "", self.potential[1] - self.potential[0])]
        working = [line for line in self.lines if line.work != 0.0]
        rows += [(f"work of {line.name}", line.kind, line.work) for line in working]
        if len(working) < len(self.lines):
            rows += [(f"{len(self.lines) - len(working)} more without work", "", 0.0)]
        rows += [(last, "", self.numerical)]
        width = max(len(name) for name, _, _ in rows)
        head = f"energy from t = {self.t[0]:.6g} s to {self.t[1]:.6g} s [J]"
        return "\n".join([head, *(f"  {name:{width}s}  {kind:8s}  {value: .6e}" for name, kind, value in rows)])


def energy_table(result: "Results", start: float | None, end: float | None) -> EnergyTable:
    """See `Results.energy_table`."""
    described = result.description.get("works") or []
    if not described and not result.parameters.get("balance"):
        raise FemMbsError(ASK)
    a = 0 if start is None else result.at(start)
    b = len(result.t) - 1 if end is None else result.at(end)
    work, energy = result._store.read("work"), result._store.read("energy")
    works: dict[tuple, float] = {}
    for (name, kind), w in zip(described, work[b] - work[a]):  # elements of a solid body have its name
        works[name, kind] = works.get((name, kind), 0.0) + float(w)
    lines = [Line(name, kind, w) for (name, kind), w in works.items()]
    kinetic, potential = ((float(energy[a, i]), float(energy[b, i])) for i in (0, 1))
    groups = bool(result.description["contact_groups"]) and not any(name == OF_GROUPS for name, _ in works)
    return EnergyTable((float(result.t[a]), float(result.t[b])), kinetic, potential, lines, groups)


def work_of(result: "Results") -> History:
    """Histories of the work of each line [J], by name; of a contact the sum of impact and friction."""
    described = result.description.get("works") or []
    if not described:
        raise FemMbsError(ASK if not result.parameters.get("balance") else "nothing in the model does work")
    places: dict[str, list[int]] = {}
    for k, (name, _) in enumerate(described):
        places.setdefault(name, []).append(k)

    def read(columns: list[int]) -> np.ndarray:
        return result._store.read("work")[:, columns].sum(axis=1)

    quantities = {name: Quantity("J", (), lambda columns=columns: read(columns)) for name, columns in places.items()}
    return History("work", quantities)
