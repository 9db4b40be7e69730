"""Which elements of a system are on: flags that a run changes, and what an element keeps of the pose it is engaged in.

An element that is off applies no force and imposes nothing; its multipliers and its outputs of force are 0. Its rows
and unknowns stay, so that matrices keep their pattern (`fem_mbs.system.constraints`). Flags and poses are arrays of
the groups (`Group.changing`), which a run keeps and puts back with its state.

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
    """What a `System` knows of elements that are on and off."""

    initial: State
    independent: bool
    empty_rows: np.ndarray

    @property
    def active_rows(self) -> np.ndarray:
        """Which constraint rows (m,) are on, without those that fixed components leave without any motion."""
        chosen = self.empty_rows[: self.m] == 0
        for group in self.groups:
            rows = group.sizes["nr"]
            if group.elements[0].role == "constraint" and not group.active.all():
                first = group.first_row
                chosen[first : first + group.n * rows] &= np.repeat(group.active != 0, rows)
        return chosen

    @property
    def rows_repeat(self) -> bool:
        """Whether some rows that are on may repeat others: these were allowed, or were off when that was looked at."""
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
        """Whether an element is on now."""
        group, e = self.place_of(element)
        return bool(self.groups[group].active[e])

    def set_switch(self, element: "Element", on: bool, state: State) -> None:
        """Switch an element on or off; one that is switched on takes what it keeps of the pose from a state."""
        group, e = self.place_of(element)
        self.groups[group].active[e] = int(on)
        if on:
            element_states.engage(self.data[0], group, e, state.x, state.R, state.V)

    def engage_all(self, state: State) -> None:
        """Let all elements take what they keep of the pose from a state, whether they are on or off."""
        for number, group in enumerate(self.groups):
            for e in range(group.n if "engage" in group.calls else 0):
                element_states.engage(self.data[0], number, e, state.x, state.R, state.V)

    def switch_as_given(self) -> None:
        """Switch all elements as the model says for the time of the initial state: what a run has switched is over."""
        for group in self.groups:
            if not group.is_contact:
                group.active[:] = [element.is_on(self.initial.t) for element in group.elements]
        self.engage_all(self.initial)

    def switch_at(self, t: float, state: State) -> None:
        """Switch all elements as the model says for a time [s], for a problem that is no run.

        What is on at the initial time keeps its pose of then; what is switched on between takes that of the state.
        """
        self.engage_all(self.initial)
        for number, group in enumerate(self.groups):
            if group.is_contact:
                continue
            group.active[:] = [element.is_on(t) for element in group.elements]
            for e, element in enumerate(group.elements if "engage" in group.calls else ()):
                if group.active[e] and not element.is_on(self.initial.t):
                    element_states.engage(self.data[0], number, e, state.x, state.R, state.V)
