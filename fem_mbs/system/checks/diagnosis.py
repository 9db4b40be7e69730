"""Faults in terms of the model: the element that is not finite or has raised, and the owner of an unknown."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import NonFiniteError, label
from fem_mbs.jit import address
from fem_mbs.nodes import COMPONENTS
from fem_mbs.system import assembly
from fem_mbs.system.numbering import Numbering
from fem_mbs.system.records import SMOOTH
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.element.base import Element


class Diagnosis(Numbering):
    """Methods of a `System` that describe faults."""

    def raise_python_errors(self, t: float) -> None:
        """Raise the exception of a Python element's function, with the element's name and the time."""
        for group in self.groups:
            for element in group.elements if group.callbacks else ():
                error = element.error
                if error is not None:
                    element.error = None
                    if isinstance(error, NonFiniteError):
                        raise error
                    message = f"{label(element)}: its function raised {type(error).__name__}: {error} (t = {t:.6g} s)"
                    raise NonFiniteError(message, time=t, element=element) from error

    def find_nonfinite(self, state: State, A: np.ndarray | None = None) -> "Element | None":
        """The first element whose forces are not finite at a state, or None."""
        A = self.no_acceleration if A is None else A
        alone, one = self.data.copy(), self.group_records[:1].copy()
        alone[0]["groups_at"], alone[0]["n_groups"], alone[0]["first_contact_group"] = address(one), 1, 1
        for record, group in zip(self.group_records, self.groups):
            for e, element in enumerate(group.elements if not group.is_contact else ()):
                one[0] = record
                one[0]["n"] = 1
                one[0]["parameters_at"] += e * group.parameters.itemsize
                nodes, signals, states = group.nodes[e].copy(), group.signals[e].copy(), group.state[e].copy()
                one[0]["nodes_at"], one[0]["signals_at"] = address(nodes), address(signals)
                one[0]["state_at"] = address(states)
                one[0]["active_at"] += e * group.active.itemsize
                assembly.dynamics(
                    alone[0], SMOOTH, state.x, state.R, state.V, A, self.Ma, self.f, False, 0.0, 0.0, 0.0, 0.0,
                    self.identity_T, False,
                )  # fmt: skip
                if not (np.isfinite(self.f).all() and np.isfinite(self.Ma).all()):
                    return element
        return None

    def unknown(self, i: int) -> tuple[Any, str]:
        """Owner of unknown i of a global matrix (a node, constraint or contact), and its description."""
        if i < self.n:
            full = int(np.flatnonzero(self.dof == i)[0])
            node = self.nodes[full // 6]
            return node, f"{label(node)}, component {COMPONENTS[full % 6]}"
        i -= self.n
        if i < self.m:
            element, rows = next((e, r) for e, r in self.rows.items() if r.start <= i < r.stop)
            return element, f"{label(element)}, row {i - rows.start + 1}"
        i -= self.m
        if i < 3 * self.nc:
            contact, what = self.contact_at(i // 3), "normal" if i % 3 == 0 else "tangential"
        else:
            contact = self.contact_at(int(np.flatnonzero(self.roll_index == (i - 3 * self.nc) // 3)[0]))
            what = "spinning" if i % 3 == 2 else "rolling"
        return contact, f"contact '{contact.name}', {what}"

    def raise_nonfinite(self, state: State) -> None:
        """Raise a NonFiniteError that names the element whose forces are not finite at a state; return if there is
        none.
        """
        element = self.find_nonfinite(state)
        if element is not None:
            raise NonFiniteError(
                f"{label(element)} returned a force that is not finite at t = {state.t:.6g} s",
                time=state.t,
                element=element,
            )
