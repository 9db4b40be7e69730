"""Contacts in problems of statics: their gaps, gradients and forces at a state, as vectors and matrices.

    symbol  code     shape      meaning
    φ       force    (nc, 3)    forces of the contacts on their first body: normal, t1, t2 [N]
    F       gradient (3 nc, n)  what these forces do; B with the slip instead of the velocity of the contact point

Source: docs/theory/static_contact.md, (3).
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array

from fem_mbs.system import contacts as contact_assembly
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem


STEP = 1e-6  # of differences: m per size, rad


class ContactRows:
    """Contacts of a system at a state; slip is counted from the state ``start``."""

    def __init__(self, system: "CompiledSystem") -> None:
        self.system, nc = system, system.nc
        self.groups = [group for group in system.groups if group.is_contact and group.n]
        self.laws = np.zeros(nc, contact_assembly.LAW)
        for group in self.groups:
            self.laws[group.first_contact : group.first_contact + group.n] = group.laws
        self.force, self.start = np.zeros((nc, 3)), system.initial.copy()
        self.gap, self.slip = np.zeros(nc), np.zeros((nc, 2))
        moving = {node.index for contact in system.contacts for node in contact.nodes}
        self.moving = {int(j) // 6 for j in np.flatnonzero(system.dof >= 0)} & moving

    def kinematics(self, state: State) -> None:
        """Gaps, slips and gradients at a state."""
        system, start = self.system, self.start
        contact_assembly.contacts(system.data[0], state.x, state.R, start.x, start.R, system.no_acceleration)
        self.gap = np.concatenate([group.contact_data["gap"] for group in self.groups])
        self.slip = np.concatenate([group.contact_data["slip"] for group in self.groups])

    def full(self) -> np.ndarray:
        """Fᵀφ, full vector (6 N,), with the gradients of the last kinematics."""
        total = np.zeros(6 * len(self.system.nodes))
        for group, ids in self._components():
            np.add.at(total, ids, self._pushes(group))
        return total

    def _components(self):
        """Groups with full components (n, nd) of their contacts."""
        for group in self.groups:
            yield group, (6 * group.nodes[: group.n, :, None] + np.arange(6)).reshape(group.n, group.sizes["nd"])

    def gradient(self, *names: str) -> csc_array:
        """Gradients of all contacts (rows nc, n) by name, "G_N", "G_T" or "V_T", of the last kinematics."""
        dof, entries, count = self.system.dof, ([], [], []), 1
        for group, ids in self._components():
            values = group.contact_rows(*names)
            count = values.shape[1]
            columns = np.repeat(dof[ids][:, None], count, axis=1)
            rows = count * group.first_contact + np.arange(count * group.n).reshape(group.n, count)
            rows = np.broadcast_to(rows[:, :, None], values.shape)
            there = (columns >= 0) & (values != 0.0)
            for part, array in zip(entries, (values, rows, columns)):
                part.append(array[there])
        values, rows, columns = (np.concatenate(part) for part in entries)
        return csc_array((values, (rows, columns)), shape=(count * self.system.nc, self.system.n))

    def stiffness(self, state: State) -> csc_array:
        """−∂(Fᵀφ)/∂q (n, n) at constant φ, by central differences; the kinematics are those of the state afterwards.

        Nodes that no contact with a force has in common move at once: what changes at a contact is of its own node.
        """
        system, entries = self.system, ([], [], [])
        for nodes in self._apart():
            owners = [np.isin(group.nodes[: group.n], nodes) for group in self.groups]
            for k in range(6):
                columns = system.dof[6 * nodes + k]
                if (columns < 0).all():
                    continue
                h = STEP * (system.size if k < 3 else 1.0)
                delta, ends = np.zeros((len(system.nodes), 6)), []
                for sign in (1.0, -1.0):
                    delta[nodes[columns >= 0], k] = sign * h
                    self.kinematics(system.moved(state, delta))
                    ends.append([self._pushes(group) for group in self.groups])
                for (group, ids), own, plus, minus in zip(self._components(), owners, *ends):
                    change = (minus - plus) / (2.0 * h)
                    moved = np.take_along_axis(group.nodes[: group.n], own.argmax(axis=1)[:, None], axis=1)
                    rows, columns = np.broadcast_arrays(system.dof[ids], system.dof[6 * moved + k])
                    there = own.any(axis=1)[:, None] & (rows >= 0) & (columns >= 0) & (change != 0.0)
                    for part, array in zip(entries, (change, rows, columns)):
                        part.append(array[there])
        self.kinematics(state)
        if not entries[0]:
            return csc_array((system.n, system.n))
        values, rows, columns = (np.concatenate(part) for part in entries)
        return csc_array((values, (rows, columns)), shape=(system.n, system.n))

    def _pushes(self, group):
        """Fᵀφ of the contacts of a group, each on its own nodes (n, nd)."""
        phi = self.force[group.first_contact : group.first_contact + group.n]
        return np.einsum("er,eri->ei", phi, group.contact_rows("G_N", "V_T"))

    def _apart(self):
        """Moving nodes of contacts with a force, in sets of which no contact has two."""
        acting = np.flatnonzero(self.force.any(axis=1))
        together: dict[int, set] = {}
        for c in acting:
            nodes = {node.index for node in self.system.contacts[c].nodes}
            for node in nodes:
                together.setdefault(node, set()).update(nodes)
        colors: dict[int, int] = {}
        for node in sorted(together.keys() & self.moving):
            taken = {colors[other] for other in together[node] if other in colors}
            colors[node] = next(color for color in range(len(taken) + 1) if color not in taken)
        found = np.array(list(colors.values()), int)
        return [np.array(list(colors))[found == color] for color in range(found.max(initial=-1) + 1)]
