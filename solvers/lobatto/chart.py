"""The chart of a step: rotations of the stages from that of its start, and the velocities they have.

    D^i = h Σ_j a_ij w^j ,  q^i = q_n ∘ exp(D^i) ,  v^i = (ẋ^i, T(ψ^i) ψ̇^i) ,   w = (ẋ, ψ̇)                        (1)
    Θ = ∂(T ψ̇)/∂ψ ,  Ṫ = derivative of T along ψ̇ ,  L(w) = ∂(Ṫᵀw)/∂ψ ,  k(w) = ∂(Tᵀw)/∂ψ = ∂(Ṫᵀw)/∂ψ̇             (2)

Source: docs/theory/lobatto.md, (1)-(3), (9).
"""

from fem_mbs.jit import integers, kernel, local_matrix, local_vector
from fem_mbs.rotations import (
    add_skew,
    cross,
    exp_matrix,
    form_gradient,
    form_matrix,
    form_rate,
    form_rate_gradient,
    form_tangent,
    multiply,
    rotate,
    rotate_T,
)
from fem_mbs.solvers.stepping.kernels.arrays import largest_turn
from fem_mbs.solvers.stepping.kernels.codes import LARGEST_TURN
from fem_mbs.system.assembly import advance_configuration


@kernel
def charts(d, s, o):
    """Increments and operators of all stages from w, (1)-(2). False where a node turns too far; s.D says which."""
    turns = integers(d.turns_at, d.n_nodes)
    stages = o.a.shape[0]
    form = local_vector(9)
    for i in range(stages):
        D = o.Di[i]
        for n in range(d.n_nodes):
            for k in range(6):
                total = 0.0
                for j in range(stages):
                    total += o.a[i, j] * o.w[j, n, k]
                D[n, k] = s.D[n, k] = s.h * total
        if not largest_turn(s.D) <= LARGEST_TURN:
            return False
        for n in range(d.n_nodes):
            if turns[n]:
                psi, rate = D[n, 3:6], o.w[i, n, 3:6]
                form_tangent(psi, form)
                form_matrix(form, psi, o.Ti[i, n])
                form_rate(form, psi, rate, o.Td[i, n])
                form_gradient(0, form, psi, rate, o.Th[i, n])
                exp_matrix(psi, o.Ex[i, n])
    last = stages - 1
    for i in range(stages):
        for n in range(d.n_nodes):
            if turns[n]:
                multiply(o.Ti[last, n], o.Ex[i, n], o.Qi[i, n])
                for k in range(3):
                    for m in range(3):
                        o.Qi[i, n, k, m] *= -o.b[i]
    return True


@kernel
def to_stage(d, s, o, i):
    """Poses of stage i in xs, Qs, Rs; its velocities in Vs, (1)."""
    turns = integers(d.turns_at, d.n_nodes)
    advance_configuration(d, s.x0, s.Q0, o.Di[i], s.xs, s.Qs, s.Rs, s.T)
    for n in range(d.n_nodes):
        for k in range(6):
            s.Vs[n, k] = o.w[i, n, k]
        if turns[n]:
            rotate(o.Ti[i, n], o.w[i, n, 3:6], s.Vs[n, 3:6])


@kernel
def without_gyration(s, o, i, n, out):
    """Fill out (3,) with the moment F of stage i at node n less that of its frame, F + h Ω × P."""
    P, F = o.Pi[i, 6 * n + 3 : 6 * n + 6], o.Fi[i, 6 * n + 3 : 6 * n + 6]
    cross(s.Vs[n, 3:6], P, out)
    for k in range(3):
        out[k] = F[k] + s.h * out[k]


@kernel
def add_where(values, place, scale, A):
    """Add a block (3, 3) to entries at places."""
    for i in range(3):
        for j in range(3):
            if place[i, j] >= 0:
                values[place[i, j]] += scale * A[i, j]


@kernel
def _last_curvature(s, o, n, form, psi, rate, k_P, L):
    """The part of `curvatures` of the last stage: what all rows have in common, see `lobatto.blocks`, (4)."""
    last = o.a.shape[0] - 1
    h, b = s.h, o.b[last]
    T, place, P = o.Ti[last, n], o.place[n], o.Pi[last, 6 * n + 3 : 6 * n + 6]
    gyration, A, B, C = local_vector(3), local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    cross(s.Vs[n, 3:6], P, gyration)
    add_where(o.C_D, place, b * h, L)
    form_gradient(1, form, psi, gyration, A)
    add_where(o.C_D, place, -b * h, A)
    add_where(o.C_w, place, b * h, k_P)
    # −Tᵀ δ(Ω × P) = Tᵀ P̃ δΩ − …
    A[:, :] = 0.0
    add_skew(1.0, P, A, 0, 0)
    for i in range(3):
        for j in range(3):
            B[i, j] = T[0, i] * A[0, j] + T[1, i] * A[1, j] + T[2, i] * A[2, j]
    multiply(B, o.Th[last, n], C)
    add_where(o.C_D, place, b * h, C)
    multiply(B, T, C)
    add_where(o.C_w, place, b * h, C)
    form_gradient(0, form, psi, o.y[6 * n + 3 : 6 * n + 6], A)
    add_where(o.C_D, place, -1.0, A)


@kernel
def _common_curvature(s, o, i, n):
    """The part of `curvatures` of the other stages in the common rows: Q (−h P̃ δΩ − F̃ T δψ)."""
    place, P, F = o.place[n], o.Pi[i, 6 * n + 3 : 6 * n + 6], local_vector(3)
    A, B, C = local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    A[:, :] = 0.0
    add_skew(-s.h, P, A, 0, 0)
    multiply(o.Qi[i, n], A, B)
    multiply(B, o.Th[i, n], C)
    add_where(o.C_D, place, 1.0, C)
    multiply(B, o.Ti[i, n], C)
    add_where(o.C_w, place, 1.0, C)
    without_gyration(s, o, i, n, F)
    A[:, :] = 0.0
    add_skew(-1.0, F, A, 0, 0)
    multiply(o.Qi[i, n], A, B)
    multiply(B, o.Ti[i, n], C)
    add_where(o.C_D, place, 1.0, C)


@kernel
def curvatures(d, s, o, i):
    """Add to the entries of stage i what the operators of the chart change at fixed P, F (and y, at the last stage)."""
    turns = integers(d.turns_at, d.n_nodes)
    last = o.a.shape[0] - 1
    form, flipped = local_vector(9), local_vector(9)
    k_P, L, A = local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    for n in range(d.n_nodes):
        if turns[n] == 0:
            continue
        psi, rate, place = o.Di[i, n, 3:6], o.w[i, n, 3:6], o.place[n]
        P, F = o.Pi[i, 6 * n + 3 : 6 * n + 6], o.Fi[i, 6 * n + 3 : 6 * n + 6]
        form_tangent(psi, form)
        for k in range(9):
            flipped[k] = -form[k] if k % 3 == 1 else form[k]
        form_gradient(1, form, psi, P, k_P)
        form_rate_gradient(flipped, psi, rate, P, L)
        add_where(o.P_D, place, 1.0, k_P)
        if i == last:
            _last_curvature(s, o, n, form, psi, rate, k_P, L)
            continue
        add_where(o.F_D, place, s.h, L)
        add_where(o.F_w, place, s.h, k_P)
        form_gradient(1, form, psi, F, A)
        add_where(o.F_D, place, 1.0, A)
        _common_curvature(s, o, i, n)


@kernel
def own_rows(d, o, i, out):
    """Fill out (full) with (P_x, TᵀP_θ) of stage i."""
    turns = integers(d.turns_at, d.n_nodes)
    for n in range(d.n_nodes):
        at = 6 * n
        for k in range(6):
            out[at + k] = o.Pi[i, at + k]
        if turns[n]:
            rotate_T(o.Ti[i, n], o.Pi[i, at + 3 : at + 6], out[at + 3 : at + 6])
