"""Histories of one part of a model, by name: what ``result["ball"]`` returns."""

import difflib
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.deprecated import Deprecated
from fem_mbs.results.file.names import ByName
from fem_mbs.results.table import PAIRS, listed


class Pairs(namedtuple("Pairs", PAIRS)):  # type: ignore[misc]  # the table says which
    __doc__ = f"""Contacts of contact groups with an impulse since the last saved step; one entry per contact.

    Attributes
    ----------
    {listed(PAIRS, lambda name: f"{name} : {PAIRS[name][2]}")}

    ``group``, ``sphere``, ``type`` and ``partner`` are numbers into ``result.description["contact_groups"]``, in the
    order in which spheres and obstacles were put in.
    """
    __slots__ = ()


class Quantity(NamedTuple):
    """How one history is obtained: its unit, the names of its components, and a function without arguments."""

    unit: str
    labels: tuple
    read: object


class History(ByName):
    """Histories of one node, body, joint, beam or contact: each attribute is an array with one row per saved step.

    ``history["tension"]`` is ``history.tension``, also for names that are no identifiers. ``dir(history)``,
    ``list(history)`` and ``print`` list the names, `len` counts them; `units` has their units, `labels` their
    components.
    """

    def __init__(self, name: str, quantities: dict[str, Quantity], kind: str = "") -> None:
        self._name, self._quantities, self._values = name, quantities, {}
        self._kind = kind  # type of the element, for former names of its outputs

    def _items(self):
        return self._quantities

    def _where(self):
        return f"'{self._name}'"

    def __len__(self):
        return len(self._quantities)

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(Deprecated.output(self._kind, name, self._quantities))

    def _item(self, name):
        if name not in self._values:
            self._values[name] = self._quantities[name].read()
        return self._values[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        name = Deprecated.output(self._kind, name, self._quantities)
        if name not in self._quantities:
            near = difflib.get_close_matches(name, self._quantities, n=3, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise AttributeError(f"'{self._name}' has no history '{name}'; {hint}it has: {', '.join(self._quantities)}")
        return self._item(name)

    def __dir__(self):
        return [*self._quantities, "units", "labels"]

    @property
    def units(self) -> dict[str, str]:
        """Unit of each history."""
        return {name: quantity.unit for name, quantity in self._quantities.items()}

    @property
    def labels(self) -> dict[str, tuple]:
        """Names of the components of each history; empty for a scalar."""
        return {name: quantity.labels for name, quantity in self._quantities.items()}

    def __repr__(self):
        return f"<histories of '{self._name}': {', '.join(self._quantities)}>"


class Iterations(History):
    """Newton iterations of each step; ``max`` and ``mean`` (3,) over saved steps: smooth, position, velocity."""

    @property
    def _all(self):
        return np.stack([self.smooth, self.position, self.velocity], axis=1)[self.step > 0]

    @property
    def max(self) -> np.ndarray:
        """Largest numbers (3,) int."""
        return self._all.max(axis=0) if len(self._all) else np.zeros(3, int)

    @property
    def mean(self) -> np.ndarray:
        """Mean numbers (3,)."""
        return self._all.mean(axis=0) if len(self._all) else np.zeros(3)
