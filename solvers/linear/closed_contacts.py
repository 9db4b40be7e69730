"""Closed contacts as rows of small motions: the normal direction, and both tangents where they stick.

    G_N δq = 0,  V_T δq = 0        K ← K − ∂(G_Nᵀ λ_N + V_Tᵀ λ_T)/∂q                                                 (1)

with the forces λ that leave least of f + Gᵀμ + G_cᵀλ at the state. The stiffness (it is what makes a rocking half
cylinder swing) is found by central differences of the gradients. A warning is issued for a contact that would have to
pull, and for one whose friction is used up: it sticks in motions that unload it, and slides in others.

Source: docs/theory/statics_and_modes.md, (9).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.element.contact import Contact
from fem_mbs.errors import ParameterError, label
from fem_mbs.solvers.contact.law import GAP, SLIP

if TYPE_CHECKING:
    from fem_mbs.arguments.checked import Checked
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State


CLOSED = 1e-9  # of the size of the model: gaps that count as closed
STICKS = 1e-9  # of the speeds of the model: sliding that counts as none
STEP = 1e-6  # m per size, rad
USED_UP = 1e-6  # of the limit of friction


class ClosedContacts:
    """Closed contacts of a system at a state.

    Parameters
    ----------
    owner : Checked, in whose name errors are raised
    system : System
    state : State, with its velocities
    contacts : "open", "closed" or a sequence of contact elements
        See `fem_mbs.modes`.
    status : (nc,) int, optional
        Of contacts in an equilibrium, which determines those that are closed, where smoothed surfaces leave a small
        gap, and those that slide.
    """

    def __init__(
        self,
        owner: "Checked",
        system: "CompiledSystem",
        state: "State",
        contacts: str | Sequence[Contact],
        status: Sequence[int] | np.ndarray = (),
    ) -> None:
        self.system, self.state, self.warnings = system, state, []
        touching: list[int] = []
        if system.nc:
            gaps = system.gaps(state)
            near = np.flatnonzero(gaps <= CLOSED * system.size_at(state))
            touching = sorted({*near.tolist(), *np.flatnonzero(np.asarray(status) != GAP).tolist()})
        if isinstance(contacts, str):
            owner.as_choice("contacts", contacts, ("open", "closed"), "must be 'open', 'closed' or a list of contacts")
            chosen = touching if contacts == "closed" else []
        else:
            chosen = self._named(owner, contacts)
        pairs = [c for c in chosen if c >= system.nc_fixed]
        self.chosen = [c for c in chosen if c < system.nc_fixed]
        left = [c for c in touching if c not in self.chosen]
        if left:
            names = ", ".join(f"'{system.contact_at(c).name}'" for c in left[:5]) + (", …" if len(left) > 5 else "")
            cure = "Joints in their place would count" if pairs else "contacts='closed' or joints in their place count"
            self.warnings.append(f"Closed contacts are left out: {names}. {cure}.")
        sliding = np.abs(system.contact_velocities(state)[:, 1:]).max(axis=1) if self.chosen else np.zeros(0)
        slow = STICKS * max(system.speed_at(state), 1e-300)
        self.sticks = [system.contacts[c].static_friction > 0.0 and sliding[c] <= slow for c in self.chosen]
        slides = [c for c, sticks in zip(self.chosen, self.sticks) if sticks and len(status) and status[c] == SLIP]
        self._shared = len(status) > 0  # by an equilibrium, which determines how redundant contacts share the load
        if slides:
            self.warnings.append(
                f"Contacts slide in this equilibrium and are taken as sticking: {self._names(slides)}. They stick in "
                "motions that unload their friction; in the direction in which they slide they hold nothing, and the "
                "model is softer: friction=0 shows how much."
            )

    def _names(self, chosen):
        """Names of contacts, some of them where there are many."""
        return ", ".join(f"'{self.system.contacts[c].name}'" for c in chosen[:5]) + (", …" if len(chosen) > 5 else "")

    def _named(self, owner, contacts):
        known = {id(contact): c for c, contact in enumerate(self.system.contacts)}
        owner.as_instance("contacts", contacts, Sequence, "'open', 'closed' or a list of contact elements")
        for contact in contacts:
            owner.as_instance("contacts", contact, Contact, "'open', 'closed' or a list of contact elements")
            if id(contact) not in known:
                raise ParameterError(owner, "contacts", contact, f"is not in the model: {label(contact)}")
        return [known[id(contact)] for contact in contacts]

    def rows(self, state: "State") -> np.ndarray:
        """Gradients (rows, n) of the chosen contacts at a state, of free components."""
        return np.array([self.system.reduced(full) for full in self.full_rows(state)])

    def full_rows(self, state: "State") -> list[np.ndarray]:
        """Gradients (N, 6) of the chosen contacts at a state, one for each row."""
        system, rows = self.system, []
        system.gaps(state)
        places = {}
        for group in system.groups:
            if group.is_contact:
                for e in range(group.n):
                    places[group.first_contact + e] = (group, e)
        for c, sticks in zip(self.chosen, self.sticks):
            group, e = places[c]
            data = group.contact_data
            for row in (data["G_N"][e], *data["V_T"][e]) if sticks else (data["G_N"][e],):
                full = np.zeros((len(system.nodes), 6))
                for k, node in enumerate(group.nodes[e]):
                    full[node] += row[6 * k : 6 * k + 6]
                rows.append(full)
        return rows

    def add_to(self, found: Any, force: np.ndarray) -> np.ndarray:
        """Add rows and stiffness to the matrices; returns the forces (n,) that are left over then."""
        from scipy.sparse import csc_array, vstack

        if not self.chosen:
            return force
        here = self.rows(self.state)
        both = np.vstack([found.G.toarray(), here])
        lam = np.linalg.lstsq(both.T, -force, rcond=1e-11)[0]
        contact = lam[found.G.shape[0] :]
        found.G = csc_array(vstack([found.G, csc_array(here)]))
        found.K = csc_array(found.K + self._stiffness(contact))
        first = np.cumsum([0, *(3 if sticks else 1 for sticks in self.sticks)])[:-1]
        pulls = [c for c, k in zip(self.chosen, first) if contact[k] < -1e-9 * max(np.abs(contact).max(), 1e-300)]
        if pulls:
            text = f"Contacts are taken as closed that would have to pull to hold this state: {self._names(pulls)}."
            self.warnings.append(text)
        more = [
            c
            for c, k, sticks in zip(self.chosen, first, self.sticks)
            if sticks
            and not self._shared
            and np.hypot(*contact[k + 1 : k + 3])
            > (1.0 + USED_UP) * self.system.contacts[c].static_friction * abs(contact[k])
        ]
        if more:
            text = (
                "Contacts are taken as sticking whose share of the forces of this state is more than their friction: "
            )
            self.warnings.append(f"{text}{self._names(more)}.")
        rounded = [self.system.contacts[c] for c in self.chosen if self.system.contacts[c].smooth]
        if rounded and np.abs(contact).max() > 0.0:
            names = ", ".join(f"'{one.name}'" for one in rounded[:5]) + (", …" if len(rounded) > 5 else "")
            self.warnings.append(
                "Smoothed surfaces keep the heights that they have at this state, and do not follow the motion as "
                f"those of equilibria do: {names}. With coarse faces compliances may be off by 1 %; with "
                "smooth=False they are exact."
            )
        return force + both.T @ lam

    def _stiffness(self, contact):
        """−∂(Gᵀλ)/∂q (n, n) of the chosen contacts."""
        from scipy.sparse import lil_array

        system = self.system
        K = lil_array((system.n, system.n))
        if not np.any(contact):
            return K.tocsc()
        moving = {node.index for c in self.chosen for node in system.contacts[c].nodes}
        for j in np.flatnonzero(system.dof >= 0):
            if j // 6 not in moving:
                continue
            h = STEP * (system.size if j % 6 < 3 else 1.0)
            delta = np.zeros(6 * len(system.nodes))
            delta[j] = h
            delta = delta.reshape(-1, 6)
            ahead, behind = (self.rows(system.moved(self.state, sign * delta)) for sign in (1.0, -1.0))
            K[:, system.dof[j]] = (-(ahead - behind).T @ contact / (2 * h))[:, None]
        return K.tocsc()
