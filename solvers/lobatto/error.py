"""Error of a step in smooth motion, for steps of variable size.

Positions of the step against Hermite's formula with velocities and accelerations of both its ends, in
the chart of the step:

    e = | D^s − h/2 (w_0 + w_1) − h²/12 (ẇ_0 − ẇ_1) |                                                             (1)
    w_0 = (ẋ, Ω)_n ,  ẇ_0 = v̇_n ;    w_1 = (ẋ, T⁻¹ Ω)_{n+1} ,  ẇ_1 = (ẍ, T⁻¹ (Ω̇ − Ṫ ψ̇))_{n+1}                      (2)

(1) is exact to h⁵, so that e is the error of a step with two stages to leading order, h³, and with three of the order
of it, h⁵; with more, whose error is of order h⁷ or smaller, it is the error of the formula.

Source: docs/theory/lobatto.md, (16).
"""

from fem_mbs.jit import entry, integers, kernel, local_matrix, local_vector
from fem_mbs.rotations import form_rate, form_tangent, rotate, tangent_inverse
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at


@kernel
def into_chart(psi, V, A, w, dw):
    """Fill w, dw (3,) with ψ̇ and ψ̈ of (2) where the rotation from the start is ψ, of Ω = V, Ω̇ = A (3,)."""
    form, inverse, rate, rest = local_vector(9), local_matrix(3, 3), local_matrix(3, 3), local_vector(3)
    tangent_inverse(psi, inverse)
    rotate(inverse, V, w)
    form_tangent(psi, form)
    form_rate(form, psi, w, rate)
    rotate(rate, w, rest)
    for k in range(3):
        rest[k] = A[k] - rest[k]
    rotate(inverse, rest, dw)


@entry("void(int64, int64)")
def step_error(data, run):
    """Leave (1) in o.error, rotations times the length of the model; the step is done, its start in V0 and Vd_start."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    turns, last, h = integers(d.turns_at, d.n_nodes), o.a.shape[0] - 1, s.h
    w, dw = local_vector(6), local_vector(6)
    o.error = 0.0
    for n in range(d.n_nodes):
        for k in range(6):
            w[k], dw[k] = s.V[n, k], s.Vd[n, k]
        if turns[n]:
            into_chart(o.Di[last, n, 3:6], s.V[n, 3:6], s.Vd[n, 3:6], w[3:6], dw[3:6])
        for k in range(6):
            hermite = 0.5 * h * (s.V0[n, k] + w[k]) + h * h / 12.0 * (o.Vd_start[n, k] - dw[k])
            error = abs(o.Di[last, n, k] - hermite) * (1.0 if k < 3 else s.length)
            o.error = max(o.error, error)
