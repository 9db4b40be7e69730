"""Begin a new run from a saved state of another: for other methods, other steps, a model that was changed.

Source: docs/howto/restart.md.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import ModelError, Warnings, label
from fem_mbs.model import compiled

if TYPE_CHECKING:
    from fem_mbs.model import Model
    from fem_mbs.results.results import Results
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System

OWNER = Named("continue_from")
SHOWN = 5  # names in a message


@Warnings.kept
@Keywords.known
def continue_from(result: "Results", time: float, model: "Model | System | None" = None) -> "State | CompiledSystem":
    """State of a result at the saved step nearest to a time, as the initial state of a new run.

    Second best to `fem_mbs.resume`: the new run begins with consistent accelerations, and has nothing of the memory
    of the old one but the rotations of joints (not multipliers, active contacts, internal states of other elements).
    It is that run to the order of the method, not to the last bit. In return it may be one of another method, another
    step size, a changed model.

    Parameters
    ----------
    result : Results
    time : float [s]
    model : Model or System, optional
        The model that is continued: its nodes are found by their names, or by their order where the result has as many.

    Returns
    -------
    State or System
        Without a model the state, for ``system.initial``. With one the compiled model, which begins there.

    Raises
    ------
    ParameterError
        The time is outside of the saved steps.
    ModelError
        Nodes of the model are not in the result, and it has another number of them.

    Warns
    -----
    UserWarning
        Elements of the model have states of their own, which the result does not hold: they begin anew.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> system = fem.continue_from(fem.load("drop.vtkhdf"), 0.5, model)  # doctest: +SKIP
    >>> fem.MoreauJean().run(system, t_end=1.0, h=1e-4)  # doctest: +SKIP
    """
    OWNER.check(hasattr(result, "state") and hasattr(result, "at"), "result", result, "must be a Results")
    state = result.state(result.at(time))
    if model is None:
        return state
    system = compiled(OWNER, model)
    system.initial = _taken_over(result, state, system)
    stateful = [element for element in system.elements if element.sizes["nq"] and element.remembers]
    forgotten = [label(e) for e in stateful if not e.counted or len(system.angles_of(e, state)) < len(e.counted)]
    if forgotten:
        more = f" and {len(forgotten) - SHOWN} more" if len(forgotten) > SHOWN else ""
        Warnings.issue(
            f"{', '.join(forgotten[:SHOWN])}{more}: internal states are not in results and begin anew (angles within "
            "half a turn, histories empty). fem.resume continues with them",
        )
    return system


def _taken_over(result, state, system):
    """The state in the order of the nodes of a system."""
    names = [node["name"] for node in result.description["nodes"]]
    places = {name: i for i, name in enumerate(names) if name and names.count(name) == 1}
    here = [node.name for node in system.nodes]
    unnamed = [label(node) for node in system.nodes if node.free.any() and node.name not in places]
    if not unnamed:
        rows = [places.get(name, -1) for name in here]
    elif len(names) == len(here):
        rows = list(range(len(here)))
    else:
        raise ModelError(
            f"{', '.join(unnamed[:SHOWN])}: no node of that name is in the result, which has {len(names)} nodes, the "
            f"model {len(here)}. Give nodes the names that they had",
            [system.model],
        )
    new = system.initial.copy()
    new.t = state.t
    known = np.array([row >= 0 for row in rows])
    chosen = np.array(rows)[known]
    for name in ("x", "Q", "R", "V"):
        getattr(new, name)[known] = getattr(state, name)[chosen]
    new.V[~system.free] = 0.0
    new._drifted, new._outputs = state._drifted, state._outputs
    return new
