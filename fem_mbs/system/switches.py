"""Switches of the elements of a system: flags that a run changes, and the state an element keeps when engaged.

An element that is off applies no force and imposes nothing; its multipliers and its outputs of force are 0. Its rows
and unknowns stay, so that matrices keep their pattern (`fem_mbs.system.constraints`). Flags and poses are arrays of
the groups (`Group.changing`), which a run stores and restores with its state.

Source: docs/theory/switches.md.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ModelError, label
from fem_mbs.system import element_states
from fem_mbs.system.checks.diagnosis import Diagnosis
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.element.base import Element


class Switches(Diagnosis):
    """Methods of a `System` for switched elements."""

    initial: State
    independent: bool
    empty_rows: np.ndarray

    @property
    def active_rows(self) -> np.ndarray:
        """Mask of the active constraint rows (m,), without those that fixed components leave without any motion."""
        chosen = self.empty_rows[: self.m] == 0
        for group in self.groups:
            rows = group.sizes["nr"]
            if group.elements[0].role == "constraint" and not group.active.all():
                first = group.first_row
                chosen[first : first + group.n * rows] &= np.repeat(group.active != 0, rows)
        return chosen

    @property
    def rows_repeat(self) -> bool:
        """True if some active rows may be redundant: these were allowed, or were off when that was checked."""
        if not self.independent:
            return True
        begin = self.initial.t
        return any(
            on and not element.is_on(begin)
            for group in self.groups
            if group.elements[0].role == "constraint"
            for element, on in zip(group.elements, group.active)
        )

    def place_of(self, element: "Element") -> tuple[int, int]:
        """Number of the group of an element, and its number in it.

        Raises
        ------
        ModelError
            It is not in this system.
        """
        for number, group in enumerate(self.groups):
            for e, other in enumerate(group.elements if not group.is_contact else ()):
                if other is element:
                    return number, e
        raise ModelError(f"{label(element)} is not an element of model '{self.name}' that can be on or off", [element])

    def is_on(self, element: "Element") -> bool:
        """True if an element is on now."""
        group, e = self.place_of(element)
        return bool(self.groups[group].active[e])

    def set_switch(self, element: "Element", on: bool, state: State) -> None:
        """Switch an element on or off; one that is switched on takes its data from the pose of a state."""
        group, e = self.place_of(element)
        self.groups[group].active[e] = int(on)
        if on:
            element_states.engage(self.data[0], group, e, state.x, state.R, state.V)

    def engage_all(self, state: State) -> None:
        """Engage all elements at the pose of a state, whether they are on or off."""
        for number, group in enumerate(self.groups):
            for e in range(group.n if "engage" in group.calls else 0):
                element_states.engage(self.data[0], number, e, state.x, state.R, state.V)

    def switch_as_given(self) -> None:
        """Switch all elements as the model defines for the time of the initial state; switches of a run are
        discarded.
        """
        for group in self.groups:
            if not group.is_contact:
                group.active[:] = [element.is_on(self.initial.t) for element in group.elements]
        self.engage_all(self.initial)

    def switch_at(self, t: float, state: State) -> None:
        """Switch all elements as the model defines for a time [s], for a problem that is no run.

        Elements that are on at the initial time keep their pose of then; those switched on between take that of the
        state.
        """
        self.engage_all(self.initial)
        for number, group in enumerate(self.groups):
            if group.is_contact:
                continue
            group.active[:] = [element.is_on(t) for element in group.elements]
            for e, element in enumerate(group.elements if "engage" in group.calls else ()):
                if group.active[e] and not element.is_on(self.initial.t):
                    element_states.engage(self.data[0], number, e, state.x, state.R, state.V)
