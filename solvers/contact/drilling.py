"""Drilling: turning about the normal of a contact with a disc, coupled with sliding by `contact.law` (7).

It uses the last row w of W and its value w0 at the start of the step; Δq the increments of the nodes over the step
(displacements, rotation vectors in body axes), v− the velocities before the impact problem:

    position level   g_ω = ½ (w0 + w) Δq ,  gradient w                                                             (1)
    velocity level   g_ω = w v + e_T w0 v−                                                                       (2)

(1) is the relative rotation about the mean normal to second order; its gradient leaves out T⁻¹(Δq), as for sliding
(docs/theory/decoupled_nsga.md, decision 9).

Source: docs/theory/contact_laws.md, (6)-(11).
"""

from fem_mbs.jit import (
    integer_matrix,
    kernel,
    local_matrix,
    local_vector,
)
from fem_mbs.rotations import log_matrix, multiply_T
from fem_mbs.solvers.contact.approach import at_the_touch
from fem_mbs.system.contacts import (
    contacts_of,
    copy_row,
    gradient_times,
)


@kernel
def drilling_increment(g, e, x, R, x0, R0):
    """Relative rotation about the normal over the step, (1)."""
    nodes, contact = integer_matrix(g.nodes_at, g.n, g.nn), contacts_of(g)
    now, begin = contact.W[e, 2], contact.W_N_start[e]
    turn, psi = local_matrix(3, 3), local_vector(3)
    total = 0.0
    for a in range(g.nn):
        i = nodes[e, a]
        multiply_T(R0[i], R[i], turn)
        log_matrix(turn, psi)
        for j in range(3):
            k = 6 * a + j
            total += 0.5 * (begin[k] + now[k]) * (x[i, j] - x0[i, j])
            total += 0.5 * (begin[k + 3] + now[k + 3]) * psi[j]
    return total


@kernel
def drilling_rate(g, e, s, e_T, V, Vminus):
    """Angular velocity about the normal as the impact law sees it, (2)."""
    contact = contacts_of(g)
    if at_the_touch(g, e, s):
        return gradient_times(g, e, contact.W[e, 2], V) + e_T * gradient_times(g, e, contact.W[e, 2], s.Vsminus)
    return gradient_times(g, e, contact.W[e, 2], V) + e_T * gradient_times(g, e, contact.W_N_start[e], Vminus)


@kernel
def coupled_gradient(tangential, spinning, c, B):
    """Fill B (3, nd): two tangential rows, and c times the row of spinning."""
    for i in range(2):
        copy_row(tangential[i], B[i])
    for j in range(len(spinning)):
        B[2, j] = c * spinning[j]
