"""Contacts that joints and drivers alone move: nothing is left that could keep them from closing.

A motor of given angle that drives a body against an obstacle has no motion that satisfies both. Such a contact is known
by its gradient G_N, which the gradients G of the constraints span: with M z + Gᵀ y = G_Nᵀ, G z = 0 the normal speed
G_N z that an impulse gives vanishes, while it does not for the bodies without constraints.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.system.system import State, System

SHIFT = 1e-12  # of redundant constraints, relative
FIXED = 1e-8  # of the mobility without constraints


def normal_gradients(system: "System", state: "State", contacts: np.ndarray) -> np.ndarray:
    """Gradients G_N of the gaps of some contacts (k, n), over the unknown velocities."""
    from fem_mbs.system.contacts import B_GN, C_BLOCKS

    system.gaps(state)  # leaves the gradients in ``kept``
    rows = np.zeros((len(contacts), system.n))
    for group in (g for g in system.groups if g.contact_stride):
        nd = group.sizes["nd"]
        for k in np.flatnonzero((contacts >= group.first_contact) & (contacts < group.first_contact + group.n)):
            e, full = contacts[k] - group.first_contact, np.zeros((len(system.nodes), 6))
            row = group.kept[e, C_BLOCKS + B_GN * nd : C_BLOCKS + (B_GN + 1) * nd].reshape(-1, 6)
            np.add.at(full, group.nodes[e], row)
            rows[k] = system.reduced(full.ravel())
    return rows


def blocked_contacts(system: "System", state: "State", contacts: np.ndarray) -> np.ndarray:
    """Which of some contacts (k,) no impulse can move, because joints and drivers prescribe their gap at a state.

    Contacts whose bodies are fixed, or cannot move along the normal even without constraints, are none of them.
    """
    from scipy.sparse import block_array, eye_array
    from scipy.sparse.linalg import splu

    if system.m == 0 or len(contacts) == 0:
        return np.zeros(len(contacts), bool)
    mass, _, _, gradient = system.matrices(state)
    scale = abs(mass).max()
    lower = -SHIFT / scale * eye_array(system.m)
    bordered = splu(block_array([[mass, gradient.T], [gradient, lower]]).tocsc())
    rows = normal_gradients(system, state, contacts)
    moved = bordered.solve(np.vstack([rows.T, np.zeros((system.m, len(rows)))]))[: system.n]
    free = splu(mass).solve(rows.T)
    mobility, without = np.einsum("kn,nk->k", rows, moved), np.einsum("kn,nk->k", rows, free)
    return (without > 0.0) & (mobility <= FIXED * without)
