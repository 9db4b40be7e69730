"""Internal variables of elements: consistent ones, those of an iteration, those at the end of a step."""

from fem_mbs.jit import N_SLOTS, SLOT, call2, integer_matrix, integers, kernel, matrix, vector
from fem_mbs.system.contacts import contact_groups
from fem_mbs.system.gather import gather
from fem_mbs.system.records import ALL, COUNTING, groups_of, switches_of

_LAM, _STATE, _DELTA = (SLOT[k] for k in ("lam", "state", "delta"))


@kernel
def update_states(d, x, R, delta):
    """New internal variables of all elements from the variation delta (N, 6) of the last iteration, made at x, R."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.update == 0:
            continue
        nodes = integer_matrix(g.nodes_at, g.n, g.nn)
        de = matrix(b[_DELTA], g.nn, g.width)
        state, q = matrix(g.state_at, g.n, g.nq), vector(b[_STATE], g.nq)
        for e in range(g.n):
            gather(d, g, e, b, x, R, delta, delta)
            for a in range(g.nn):
                for j in range(g.width):
                    de[a, j] = delta[nodes[e, a], j]
            call2(g.update, g.parameters_at + e * g.stride, d.table_at)
            for j in range(g.nq):
                state[e, j] = q[j]


@kernel
def _new_state(d, g, e, function, x, R, V):
    """Internal variables of element e of a group as a kernel makes them from the configuration and its velocity."""
    b = integers(d.table_at, N_SLOTS)
    state, q = matrix(g.state_at, g.n, g.nq), vector(b[_STATE], g.nq)
    gather(d, g, e, b, x, R, V, V)
    call2(function, g.parameters_at + e * g.stride, d.table_at)
    for j in range(g.nq):
        state[e, j] = q[j]


@kernel
def _new_states(d, g, function, x, R, V):
    """The same of all elements of a group."""
    for e in range(g.n):
        _new_state(d, g, e, function, x, R, V)


@kernel
def engage(d, group, e, x, R, V):
    """Store the state of element e of a group, by its number, at the configuration in which it is switched on."""
    g = groups_of(d)[group]
    if g.engage != 0:
        _new_state(d, g, e, g.engage, x, R, V)


@kernel
def initial_states(d, x, R, V):
    """Internal variables of all elements that are consistent with the configuration."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.initial != 0:
            _new_states(d, g, g.initial, x, R, V)


@kernel
def contact_states(d, x, R, V):
    """Internal variables of contacts (the face they are on, heights of smoothed surfaces) at the configuration."""
    for g in contact_groups(d):
        if g.initial != 0:
            _new_states(d, g, g.initial, x, R, V)


@kernel
def accept_state(d, g, e, b, x, R, V, lam):
    """Internal variables of element e of group g at the end of a step, with its reported multipliers lam (m,)."""
    state, q, le = matrix(g.state_at, g.n, g.nq), vector(b[_STATE], g.nq), vector(b[_LAM], max(g.nr, 1))
    gather(d, g, e, b, x, R, V, V)
    for j in range(g.nr):
        le[j] = lam[g.first_row + e * g.nr + j]
    call2(g.accept, g.parameters_at + e * g.stride, d.table_at)
    for j in range(g.nq):
        state[e, j] = q[j]


@kernel
def accept_states(d, x, R, V, lam, which, far):
    """Accept the states of all elements, or of those that only unwrap angles, when needed, or of the others.

    ``which``: ALL, COUNTING, OTHERS. COUNTING are elements with ``counts_turns`` that are on and, with ``far``, the
    contacts that `far_contacts` may leave out: it counts theirs before it evaluates them.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        lazy = g.counts_turns != 0 or (far != 0 and g.far != 0)
        if g.accept == 0 or (which == COUNTING and not lazy):
            continue
        on = switches_of(g)
        for e in range(g.n):
            if which == ALL or (lazy and on[e] != 0) == (which == COUNTING):
                accept_state(d, g, e, b, x, R, V, lam)
