"""Reactions at fixed components of nodes: what a support gives, from saved states and the model.

    r = M a − f(q, v, t) − Gᵀ λ − Σ Gᵀ_c F_c                                                                       (1)

at the components that are fixed, zero at the others. λ are the reported multipliers, F_c the forces of contacts. In a
step with impacts both are means over the step, with the impulses, and so is a: the change of velocities over the step,
which needs the state before; where that was not saved the reaction of such a step is not known.

Forces of contacts act at the contact point along the saved axes; their virtual work is that of G_c, because closed
contacts have no gap.

Source: docs/theory/energy_table.md, (4).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import FemMbsError, ModelError, label
from fem_mbs.results.history import History, Quantity
from fem_mbs.results.table import XYZ
from fem_mbs.shapes import matrices

if TYPE_CHECKING:
    from fem_mbs.results.results import Results

OWNER = Named("reaction")


def reaction(result: "Results", node: Any, model: Any = None) -> History:
    """Histories ``force`` and ``moment`` of the support of a node, see `Results.reaction`."""
    system = system_of(result, model, "reactions")
    i = _number(result, system, node)
    held = ~system.free[i]
    _refuse_states(system)
    OWNER.check(held.any(), "node", node, "has no fixed component; forces of joints are their outputs")
    values: list = []

    def read(part: slice) -> np.ndarray:
        if not values:
            values.append(_reactions(result, system, i) * held)
        return values[0][:, part]

    force = Quantity("N", XYZ, lambda: read(slice(0, 3)))
    moment = Quantity("N m", XYZ, lambda: read(slice(3, 6)))
    return History(f"support of {system.nodes[i].name or f'node {i}'}", {"force": force, "moment": moment})


def system_of(result: "Results", model: Any, purpose: str) -> Any:
    """The system of the run: that of this program, or one of a model that is given.

    Raises
    ------
    FemMbsError
        No model, another one, or contact groups, for which the ``purpose`` is not computed.
    """
    if model is None and result._system is None:
        raise FemMbsError(f"results of a file do not have the model, which {purpose} need: give it, model=model")
    system = result._system if model is None else model.compile() if hasattr(model, "compile") else model
    OWNER.check(hasattr(system, "constraint_forces"), "model", model, "is neither a Model nor a System")
    nodes = [(node["name"], node["free"]) for node in result.description["nodes"]]
    same = nodes == [(node.name, node.free.tolist()) for node in system.nodes]
    sizes = result.description["sizes"]
    if not same or system.m != sizes["m"] or system.nc_fixed != sizes["nc"]:
        raise ModelError(f"model '{system.name}' is not that of the run of '{result.model}'", [system.model])
    if system.contact_groups:
        group = label(system.contact_groups[0])
        raise FemMbsError(f"{group}: {purpose} of models with contact groups are not computed")
    return system


def _refuse_states(system):
    """Forces that depend on internal states cannot be computed from results."""
    for element in system.elements:
        # gradients of constraints do not depend on how many turns a joint has made
        if element.sizes["nq"] and element.remembers and element.role != "constraint":
            raise FemMbsError(f"{label(element)} has internal states, which results do not hold: no reactions")


def _number(result, system, node):
    """Row of a node: by name, by the node itself or its body, by its number."""
    if isinstance(node, str):
        result[node]  # explains a misspelt name
        row = result._entries[node][0]
        OWNER.check(
            row is not None, "node", node, "is not a node or a body with one; forces of joints are their outputs"
        )
        return row
    if isinstance(node, (int, np.integer)) and not isinstance(node, bool):
        OWNER.check(0 <= node < len(system.nodes), "node", node, f"is none of the {len(system.nodes)} nodes")
        return int(node)
    system.number_nodes()
    return OWNER.as_frame("node", node).node.index


def _reactions(result, system, i):
    """(1) of node i, (k, 6), all components."""
    rows = result.rows(np.arange(len(result.t)))
    V = np.concatenate([rows["velocity"], rows["angular_velocity"]], axis=2)
    A = np.concatenate([rows["acceleration"], rows["angular_acceleration"]], axis=2)
    struck = (rows["impact"] != 0).any(axis=1)
    for k in np.flatnonzero(struck):
        after = k > 0 and rows["step"][k] == rows["step"][k - 1] + 1
        A[k] = (V[k] - V[k - 1]) / rows["h"][k] if after else np.nan
    found = np.zeros((len(V), 6))
    with system.in_use("reactions"):
        for k in range(len(V)):
            state = result.state(k)
            system.update_signals(state.t)
            Ma, f = system.forces(state, A[k])
            found[k] = (Ma - f).reshape(-1, 6)[i]
            if system.m:
                system.constraint_values(state)
                found[k] -= system.constraint_forces(rows["multiplier"][k]).reshape(-1, 6)[i]
    for element in result.description["elements"]:
        if element["contact"] is not None and i in element["nodes"]:
            found -= _of_contact(result, rows, element, i)
    return found


def _of_contact(result, rows, element, i):
    """Generalised forces (k, 6) of a contact on node i."""
    c, nodes = element["contact"], element["nodes"]
    if len(nodes) != 2:
        name = element["name"]
        raise FemMbsError(f"contact '{name}' moves with {len(nodes)} nodes: reactions there are not computed")
    history = result[element["name"]]
    axes = np.concatenate([rows["contact_normal"][:, c, None], rows["contact_tangents"][:, c]], axis=1)
    force = np.einsum("ka,kai->ki", history.force, axes)
    moment = np.einsum("ka,kai->ki", history.moment, axes[:, [1, 2, 0]])
    sign = 1.0 if nodes[0] == i else -1.0
    arm = rows["contact_point"][:, c] - rows["position"][:, i]
    R = matrices(rows["quaternion"][:, i])
    turning = np.einsum("kji,kj->ki", R, np.cross(arm, force) + moment)
    return sign * np.concatenate([force, turning], axis=1)
