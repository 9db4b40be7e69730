"""Inadmissible positions of a node that touches faces: behind them, through them, round a border, near sharp bends.

A node whose straight path of a step, as seen from the surface, went in through one face and out through another has
gone through the body: the nearest face is a wrong one. So has one that went in through a face and is outside the
border now, lower by `BEHIND`. Near a face that is bent so much that its heights end at `STEEP` the nearest point is
not certain.

Source: docs/theory/surface_contact.md, section 3.
"""

import math

from fem_mbs.elements.contacts.faces.face_kernels import beside, facet, foot
from fem_mbs.elements.contacts.faces.face_search import (
    BEHIND,
    BORDER,
    CUT,
    FACE,
    RIM,
    ROUND,
    SMOOTH,
    STEEP,
    behind,
    locate,
    take,
    worst,
)
from fem_mbs.jit import address_of, integer_matrix, kernel, local_arrays, local_vector, matrix
from fem_mbs.rotations import dot

_FLUSH = (
    1e-3  # of the size of a face: nodes that come to a surface over its border, and are lower, do not lie flush with it
)
_GRAZE = 1e-4  # of the size of a face: straight paths over edges that bend cut in by less


@kernel
def _crossing(p, x, state, f, inwards, room, nu):
    """Part of the step at which the node went through facet f, or up to ``room`` outside it; −1: it did not.

    Fills the normal nu (3,) of the facet there.
    """
    X, X0, h, d, N, z, S, r, y, uv = local_arrays("4 3, 4 3, 8, 2 3, 4 4, 6, 6 3, 3, 3, 2")
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    old = state.shape[0] - 3 * x.shape[0]
    nn, size = take(p, x, state, f, X, h, d, nu)
    after = before = 0.0
    for a in range(nn):
        for i in range(3):
            X0[a, i] = state[old + 3 * faces[f, 1 + a] + i]
            after += nu[i] * (x[0, i] - X[a, i]) / nn
    facet(nn, X0, d, nu)
    for a in range(nn):
        for i in range(3):
            before += nu[i] * (state[old + i] - X0[a, i]) / nn
    near = 1e-6 * math.sqrt(size)  # a node pressed to the other side ends on it
    if inwards:
        missed = before < -near or after >= 0.0 or after >= before
    else:
        missed = before >= 0.0 or after < -near or after <= before
    if missed:
        return -1.0
    part = min(max(before / (before - after), 0.0), 1.0)
    for i in range(3):
        y[i] = (1.0 - part) * state[old + i] + part * x[0, i]
        for a in range(nn):
            X[a, i] = (1.0 - part) * X0[a, i] + part * X[a, i]
    for k in range(8):
        h[k] = 0.0
    facet(nn, X, d, nu)
    uv[0] = uv[1] = 1.0 / nn if nn == 3 else 0.5
    foot(nn, X, h, nu, y, uv, N, z, S, r)
    for k in range(nn):
        if beside(nn, uv, k) > room:
            return -1.0
    return part


@kernel
def passed(p, x, state):
    """True if the node went through the body in the step: in by one face, and out by one on the other side."""
    nu, to, X, h, d = local_arrays("3, 3, 4 3, 8, 2 3")
    old = state.shape[0] - 3 * x.shape[0]
    for f in range(p.nf):
        at = _crossing(p, x, state, f, True, ROUND, nu)
        if at < 0.0:
            continue
        for g in range(p.nf):
            out = -1.0 if g == f else _crossing(p, x, state, g, False, ROUND, to)
            if out <= at or dot(nu, to) >= 0.0:
                continue
            nn, size = take(p, x, state, f, X, h, d, nu)
            faces = integer_matrix(p.faces_at, p.nf, FACE)
            depth, half = 0.0, 0.5 * (at + out)
            for i in range(3):
                way = (1.0 - half) * state[old + i] + half * x[0, i]
                for a in range(nn):
                    depth -= nu[i] * (way - (1.0 - half) * state[old + 3 * faces[f, 1 + a] + i] - half * X[a, i]) / nn
            if depth > _GRAZE * math.sqrt(size):
                return True
            _crossing(p, x, state, f, True, ROUND, nu)
    return False


@kernel
def _height_over(p, x, f):
    """Height of the node above the facet of face f, over the size of the face."""
    faces = integer_matrix(p.faces_at, p.nf, FACE)
    X, d, nu = local_arrays("4 3, 2 3, 3")
    nn, height = faces[f, 0], 0.0
    for a in range(nn):
        for i in range(3):
            X[a, i] = x[faces[f, 1 + a], i]
    size = facet(nn, X, d, nu)
    for a in range(nn):
        for i in range(3):
            height += nu[i] * (x[0, i] - X[a, i]) / nn
    return height / math.sqrt(size)


@kernel
def from_below(p, x, state, f):
    """True if the node, which touches face f, was outside the border at the start of the step, and lower than it."""
    old, faces, uv = state.shape[0] - 3 * x.shape[0], integer_matrix(p.faces_at, p.nf, FACE), local_vector(2)
    x0 = matrix(address_of(state[old:]), x.shape[0], 3)
    if _height_over(p, x0, f) >= -_FLUSH or _height_over(p, x, f) > _FLUSH:
        return False
    g, kind = locate(p, x0, state, 0.0, uv)
    return kind == BORDER and faces[g, 5 + worst(p, g, faces[g, 0], uv, 0.0)[1]] == BORDER


@kernel
def folded(p, x, state, f):
    """True if neighbours bend face f, which the node is near, beyond the largest slope at the start of the step."""
    x0 = matrix(address_of(state[state.shape[0] - 3 * x.shape[0] :]), x.shape[0], 3)
    X, h, d, nu = local_arrays("4 3, 8, 2 3, 3")
    nn, _ = take(p, x0, state, f, X, h, d, nu)
    steepest = 0.0
    for a in range(nn):
        for k in range(2):
            b, square = (a + 1) % nn if k == 0 else (a + nn - 1) % nn, 0.0
            for i in range(3):
                square += (X[b, i] - X[a, i]) ** 2
            steepest = max(steepest, abs(h[2 * a + k]) / math.sqrt(square))
    return steepest > STEEP * (1.0 - ROUND) and abs(_height_over(p, x, f)) < 1.0


@kernel
def passed_beside(p, x, state):
    """True if the node, which is outside the border, went in through a face in the step, and is well below it."""
    nu = local_vector(3)
    for f in range(p.nf):
        if _crossing(p, x, state, f, True, RIM, nu) >= 0.0 and _height_over(p, x, f) < -BEHIND:
            return True
    return False


@kernel
def trouble(p, x, state):
    """1: the nearest face is out of reach; 2: the node is behind the surface, 4: and came over its border; 3: it
    has gone through the body; 5: the nearest face is bent so much that its nearest point is uncertain."""
    uv = local_vector(2)
    f, kind = locate(p, x, state, 0.0, uv)
    if kind == CUT:
        return 1.0
    if kind == SMOOTH and folded(p, x, state, f):
        return 5.0
    if kind == SMOOTH and behind(p, x, state, f, uv):
        return 2.0
    if kind == SMOOTH and from_below(p, x, state, f):
        return 4.0
    if kind == BORDER and passed_beside(p, x, state):
        return 3.0
    return 3.0 if f != int(state[0]) and passed(p, x, state) else 0.0
