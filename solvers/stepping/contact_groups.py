"""Contact groups of a run as a part of its steps: Gauss-Seidel iterations where the group fits, or the assembled
(pairwise) solver; docs/theory/contact_groups.md, choice of the solver.

Both solvers have

    take(count, done, times, signals)   take steps from times[done] on, at most ``count``; number of steps and the code
    make_room()                         after the code NO_ROOM, which only Gauss-Seidel iterations have
    closed_pairs()                      table of the closed pairs of the present state
    statistics(), get_state(), set_state(state)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fem_mbs.solvers.contact.pairs import Pairs
    from fem_mbs.solvers.granular.grains import Grains
    from fem_mbs.solvers.stepping.engine import Engine


def contact_groups(engine: "Engine") -> "tuple[Grains | None, Pairs | None]":
    """Return the solver of the contact groups of a model, the first where their bodies and the method suit it.

    Raises
    ------
    ParameterError
        Groups for the assembled (pairwise) solver have contacts that only Gauss-Seidel iterations support.
    """
    system, method = engine.system, engine.method
    if not system.searches:
        return None, None
    if not method.takes_grains:
        return None, _pairs(engine, f"{type(method).__name__} has no sweeps")
    from fem_mbs.solvers.granular.fitting import fit

    found = fit(system, method)
    if found.reason is not None:
        return None, _pairs(engine, found.reason)
    from fem_mbs.solvers.granular.grains import Grains

    grains = Grains(engine, found)
    system.forget_pairs()
    return grains, None


def _pairs(engine, reason):
    """Assembled (pairwise) solver, which supports spheres only, without discs."""
    from fem_mbs.solvers.contact.pairs import Pairs

    system = engine.system
    for search in system.searches:
        search.owner.refuse_pairwise(reason)
        if (search.laws["drilling_arm"][search.materials] > 0.0).any():
            message = "has a radius_contensou, which only sweeps know, and they do not take this model: "
            engine.method._refuse_part(search.owner, message + reason)
    system.search_pairs(system.initial.x, system.initial.R)
    return Pairs(engine, reason)
