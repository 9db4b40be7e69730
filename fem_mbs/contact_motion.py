"""Contact motion: normal speeds of contacts, from the saved motion of their bodies.

Contact point p, normal n from body B to body A. The gap opens with the relative speed of the two material points there,

    ġ_N = n·(ẋ_A + ω_A × (p − x_A) − ẋ_B − ω_B × (p − x_B)) = G_N v ,       ω = R Ω                               (1)

exactly, also while the contact is open (the nearest points differ by a vector along n, which ω × does not turn into a
normal speed), for spheres, curves and surfaces. G_N v̇ follows with accelerations in place of velocities.

    symbol   code                          unit    meaning
    p, n     contact_point, contact_normal m, -    inertial axes
    x, R     position, quaternion          m, -    of a node; Ω, Ω̇ in body axes
"""

import numpy as np

from fem_mbs.errors import FemMbsError
from fem_mbs.shapes import matrices

_NODE = ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def contact_number(result, name):
    """Number of the contact called ``name`` and the numbers of its two nodes.

    Raises
    ------
    UnknownNameError, FemMbsError
        No such name; not a contact.
    """
    result[name]  # explains a misspelt name
    element = result._entries[name][1]
    described = {} if element is None else result.description["elements"][element]
    if described.get("contact") is None:
        listed = ", ".join(repr(n) for n in result.contacts[:10]) or "none"
        raise FemMbsError(f"'{name}' of model '{result.model}' is not a contact; contacts: {listed}")
    return described["contact"], described["nodes"]


def _relative(n, p, A, B, linear, angular):
    """(1) with the histories named ``linear`` and ``angular`` of nodes A and B (dicts of arrays)."""
    total = 0.0
    for sign, node in ((1.0, A), (-1.0, B)):
        turn = np.einsum("...ij,...j->...i", matrices(node["quaternion"]), node[angular])
        total = total + sign * (node[linear] + np.cross(turn, p - node["position"]))
    return np.einsum("...i,...i->...", n, total)


def normal_motion(result, name):
    """Gap rate ġ_N (k,) [m/s], G_N v̇ (k,) [m/s²] of a contact, and the largest speed [m/s] of its two bodies."""
    contact, nodes = contact_number(result, name)
    read = result._store.read
    n, p = read("contact_normal", contact), read("contact_point", contact)
    A, B = ({key: read(key, i) for key in _NODE} for i in nodes)
    rate = _relative(n, p, A, B, "velocity", "angular_velocity")
    acceleration = _relative(n, p, A, B, "acceleration", "angular_acceleration")
    speed = max(np.linalg.norm(node["velocity"], axis=1).max(initial=0.0) for node in (A, B))
    return rate, acceleration, speed


def approaching(result, states, v_tol):
    """For saved states (j,): which contacts (j, nc) were struck in the step that led there, by (3) of `impulse_filter`.

    Also the bodies that an impulse reaches from each node, as labels (j, N): nodes of one label are linked by elements
    and closed contacts; a fixed node is linked to nothing.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    states = np.asarray(states)
    described = result.description
    contacts = sorted((e["contact"], e["nodes"]) for e in described["elements"] if e["contact"] is not None)
    pairs = np.array([nodes for _, nodes in contacts])
    free = np.array([any(node["free"]) for node in described["nodes"]])
    N = len(free)
    links = [(e["nodes"][0], other) for e in described["elements"] if e["contact"] is None for other in e["nodes"][1:]]
    links = np.array(links, int).reshape(-1, 2)
    before, after = result.rows(states - 1), result.rows(states)

    def relative(rows, linear, angular):
        A, B = ({key: rows[key][:, pairs[:, side]] for key in _NODE} for side in (0, 1))
        return _relative(rows["contact_normal"], rows["contact_point"], A, B, linear, angular)

    gain = [relative(rows, "acceleration", "angular_acceleration") for rows in (before, after)]
    change = 0.5 * after["h"][:, None] * np.abs(gain[0] + gain[1])
    closed = after["impulse"][:, :, 0] > 0
    struck = closed & (-relative(before, "velocity", "angular_velocity") > np.maximum(change, v_tol))
    labels = np.empty((len(states), N), int)
    for i in range(len(states)):
        edges = np.concatenate([links, pairs[closed[i]]])
        edges = edges[free[edges].all(axis=1)]
        graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(N, N))
        labels[i] = connected_components(graph, directed=False)[1]
    return struck, labels, pairs, free
