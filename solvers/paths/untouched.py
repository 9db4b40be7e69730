"""Equilibria without forces of contacts: are they still apart?

Analyses without contacts check every equilibrium: a gap below −`CLOSED` of the size of the model ends them with an
error that names it. Shapes of contact groups other than spheres have no gaps here; models with them raise an error.

Source: docs/theory/static_contact.md.
"""

from typing import TYPE_CHECKING

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fem_mbs.solvers.equilibrium import Equilibrium
    from fem_mbs.system.compiled import CompiledSystem


CLOSED = 1e-9  # of the size of the model


def refuse_shapes(owner: Named, system: "CompiledSystem") -> None:
    """ParameterError for contact groups with capsules or boxes: whether these touch is not known in statics."""
    for search in system.searches:
        if search.owner.shaped:
            message = (
                f"{label(search.owner)} has capsules or boxes, whose gaps statics does not evaluate. Let "
                "a damped run in time settle instead, or take the group out if nothing touches"
            )
            raise ParameterError(owner, "model", search.owner.name, message, prefixed=False)


def touching(system: "CompiledSystem", state: State) -> list:
    """Contacts and the first pair of each contact group that are closed at a state, with their gaps [m]."""
    return list(system.overlaps(state, CLOSED * system.size_at(state))) if system.nc or system.searches else []


def no_penetration(who: str, system: "CompiledSystem", state: State, factor: float, held: "Iterable[int]" = ()) -> None:
    """SolverError where a contact is penetrated at an equilibrium in which it takes no part, or is held at another gap.

    ``held``: identities of contacts that the equilibrium holds at the gap 0.
    """
    if not (system.nc or system.searches):
        return
    for contact, gap in system.overlaps(state, -CLOSED * system.size_at(state)):
        if id(contact) in held:
            raise SolverError(
                f"{label(contact)} is held at the gap 0 by the equilibrium with load factor {factor:.6g}, but its gap "
                f"is {gap:.4g} m once that is accepted: its surface (the face it is on, smoothed normals) is that "
                f"of the equilibrium before, and {who} does not follow how it changes. Use fem.static_equilibrium; "
                "smooth=False in the SurfaceOnSurface or nodes away from corners of faces may do",
                element=contact,
            )
        raise SolverError(
            f"{label(contact)} is penetrated at the equilibrium with load factor {factor:.6g}, gap = {gap:.4g} "
            f"m: {who} leaves {_which(system)} out, and what it would find from here on is no equilibrium. Stop it "
            "where the contact closes, let a damped run in time settle, or put a joint or a spring in its place",
            element=contact,
        )


def _which(system):
    """The contacts that take no part, in words."""
    return "contacts of models with contact groups" if system.searches else "contacts with friction"


def no_closed_contact(who: str, problem: "Equilibrium", state: State, factor: float) -> None:
    """SolverError where a contact is closed that takes no part in the small motions about an equilibrium."""
    system, held = problem.system, problem.held
    taking_part = [] if held is None else [c for c, smooth in zip(system.contacts, held.smooth) if smooth]
    for contact, gap in touching(system, state):
        if any(contact is one for one in taking_part):
            continue
        raise SolverError(
            f"{label(contact)} is closed where the load factor is {factor:.6g}, gap = {gap:.4g} m: {who} leaves "
            f"{_which(system)} out, and what it would find is not held by this one. Open it, leave its friction out, "
            "or put a joint in its place",
            element=contact,
        )
