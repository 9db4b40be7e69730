"""Contacts in problems of statics: their gaps, gradients and forces at a state, as vectors and matrices.

    symbol  code     shape      meaning
    φ       force    (nc, 3)    forces of the contacts on their first body: normal, t1, t2 [N]
    F       gradient (3 nc, n)  what these forces do; B with the slip instead of the velocity of the contact point

Source: docs/theory/static_contact.md, (3).
"""

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from fem_mbs.system import contacts as contact_assembly
from fem_mbs.system.contacts import B_GN, B_VT, C_BLOCKS, C_GAP, C_SLIP
from fem_mbs.system.state import State

STEP = 1e-6  # of differences: m per size, rad


class ContactRows:
    """Contacts of a system at a state; slip is counted from the state ``start``."""

    def __init__(self, system: Any) -> None:
        self.system, nc = system, system.nc
        self.groups = [group for group in system.groups if group.contact_stride and group.n]
        self.laws = np.zeros((nc, contact_assembly.N_LAW))
        for group in self.groups:
            self.laws[group.first_contact : group.first_contact + group.n] = group.laws
        self.force, self.start = np.zeros((nc, 3)), system.initial.copy()
        self.gap, self.slip = np.zeros(nc), np.zeros((nc, 2))
        moving = {node.index for contact in system.contacts for node in contact.nodes}
        self.places = [int(j) for j in np.flatnonzero(system.dof >= 0) if j // 6 in moving]

    def kinematics(self, state: State) -> None:
        """Gaps, slips and gradients at a state."""
        system, start = self.system, self.start
        contact_assembly.contacts(system.data[0], state.x, state.R, start.x, start.R, system.no_acceleration)
        kept = [group.kept[: group.n] for group in self.groups]
        self.gap = np.concatenate([rows[:, C_GAP] for rows in kept])
        self.slip = np.concatenate([rows[:, C_SLIP : C_SLIP + 2] for rows in kept])

    def full(self) -> np.ndarray:
        """Fᵀφ, full vector (6 N,), with the gradients of the last kinematics."""
        total = np.zeros(6 * len(self.system.nodes))
        for group, ids, blocks in self._blocks():
            phi = self.force[group.first_contact : group.first_contact + group.n]
            np.add.at(total, ids, np.einsum("er,eri->ei", phi, blocks[:, [B_GN, B_VT, B_VT + 1]]))
        return total

    def _blocks(self):
        """Groups with full components (n, nd) and gradients (n, rows, nd) of their contacts."""
        for group in self.groups:
            nd, n = group.sizes["nd"], group.n
            ids = (6 * group.nodes[:n, :, None] + np.arange(6)).reshape(n, nd)
            yield group, ids, group.kept[:n, C_BLOCKS:].reshape(n, -1, nd)

    def gradient(self, chosen: tuple[int, int, int]) -> csc_array:
        """Three rows of each contact (3 nc, n): the blocks chosen, of the last kinematics."""
        dof, entries = self.system.dof, ([], [], [])
        for group, ids, blocks in self._blocks():
            values, columns = blocks[:, list(chosen)], np.repeat(dof[ids][:, None], 3, axis=1)
            rows = 3 * group.first_contact + np.arange(3 * group.n).reshape(group.n, 3)
            rows = np.broadcast_to(rows[:, :, None], values.shape)
            there = (columns >= 0) & (values != 0.0)
            for part, array in zip(entries, (values, rows, columns)):
                part.append(array[there])
        values, rows, columns = (np.concatenate(part) for part in entries)
        return csc_array((values, (rows, columns)), shape=(3 * self.system.nc, self.system.n))

    def stiffness(self, state: State) -> csc_array:
        """−∂(Fᵀφ)/∂q (n, n) at constant φ, by central differences; the kinematics are those of the state afterwards."""
        system, entries = self.system, ([], [], [])
        contacts = system.contacts if self.force.any() else []
        acting = {node.index for c, contact in enumerate(contacts) if self.force[c].any() for node in contact.nodes}
        for j in (place for place in self.places if place // 6 in acting):
            h = STEP * (system.size if j % 6 < 3 else 1.0)
            delta, ends = np.zeros((len(system.nodes), 6)), []
            for sign in (1.0, -1.0):
                delta[j // 6, j % 6] = sign * h
                self.kinematics(system.moved(state, delta))
                ends.append(system.reduced(self.full()))
            change = (ends[1] - ends[0]) / (2.0 * h)
            rows = np.flatnonzero(change)
            for part, array in zip(entries, (change[rows], rows, np.full(len(rows), system.dof[j]))):
                part.append(array)
        self.kinematics(state)
        if not entries[0]:
            return csc_array((system.n, system.n))
        values, rows, columns = (np.concatenate(part) for part in entries)
        return csc_array((values, (rows, columns)), shape=(system.n, system.n))
