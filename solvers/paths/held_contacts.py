"""Closed contacts without friction as rows of a path: g_N = 0 with a multiplier, from one change to the next.

    r = f + Gᵀμ + G_Nᵀλ_N = 0,    g = 0,    g_N = 0 of those that are held                                          (1)

with −∂(G_Nᵀλ_N)/∂q, by differences, in the tangent. A path with contacts is smooth between the places at which one
closes (a gap that was open is 0) or opens (λ_N that pushed is 0). There the set of those that are held changes,
`fem_mbs.solvers.paths.changes`.

Source: docs/theory/load_paths.md, (14)-(16).
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array

from fem_mbs.errors import label
from fem_mbs.solvers.contact.law import CLOSED, GAP
from fem_mbs.solvers.paths.contact_rows import ContactRows
from fem_mbs.system.contacts import TURNING, with_any
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fem_mbs.system.compiled import CompiledSystem


class HeldContacts(ContactRows):
    """Contacts of a system; ``numbers`` are those that are held, ``smooth`` (nc,) those that a path can hold."""

    def __init__(self, system: "CompiledSystem") -> None:
        super().__init__(system)
        self.numbers: tuple[int, ...] = ()
        self.smooth = ~with_any(self.laws, "friction", *TURNING, "drilling_arm")

    @property
    def status(self) -> np.ndarray:
        """(nc,), as of `StaticResult`."""
        found = np.full(self.system.nc, GAP)
        found[list(self.numbers)] = CLOSED
        return found

    def evaluate(self, state: State, lam: np.ndarray) -> None:
        """Kinematics at a state, and normal forces of those that are held."""
        self.kinematics(state)
        self.force[:] = 0.0
        self.force[list(self.numbers), 0] = lam

    def rows(self) -> csc_array:
        """G_N (k, n) of those that are held, of the last kinematics."""
        return csc_array(self.gradient("G_N").tocsr()[list(self.numbers)])

    def rows_of(self, chosen: "Iterable") -> np.ndarray:
        """G_N (k, n) of any contacts, of the last kinematics."""
        return self.gradient("G_N").tocsr()[list(chosen)].toarray()

    def turning(self, state: State, lam: np.ndarray) -> csc_array:
        """−∂(G_Nᵀλ_N)/∂q (n, n); the kinematics are those of the state afterwards."""
        self.evaluate(state, lam)
        return self.stiffness(state)

    def names(self, chosen: "Iterable") -> str:
        """Labels of contacts, some of them where there are many."""
        chosen = list(chosen)
        return ", ".join(label(self.system.contacts[c]) for c in chosen[:5]) + (", …" if len(chosen) > 5 else "")
