"""Error of a step in smooth motion, for steps of variable size.

Positions of the step against Hermite's formula with velocities and accelerations of both its ends, in
the chart of the step:

    e = | D^s − h/2 (w_0 + w_1) − h²/12 (ẇ_0 − ẇ_1) |                                                             (1)
    w_0 = (ẋ, Ω)_n ,  ẇ_0 = v̇_n ;    w_1 = (ẋ, T⁻¹ Ω)_{n+1} ,  ẇ_1 = (ẍ, T⁻¹ (Ω̇ − Ṫ ψ̇))_{n+1}                      (2)

(1) is exact to h⁵, so that e is the error of a step with two stages to leading order, h³; with four and more, whose
error is of order h⁷ or smaller, it is the error of the formula. With three stages and forces that depend on positions
(1) is zero whatever they do: both formulas are h² (v̇_0 + 2 v̇_m)/6. There e is at least

    q = | D^m − D^s/2 − h/8 (w_0 − w_1) | · min(1, ν) ,   ν = (|ẇ_m − ẇ_0| + |ẇ_1 − ẇ_m|)/max |ẇ|                   (3)

with the second stage m: the first factor is h² |ẇ_0 − 2 ẇ_m + ẇ_1|/48, of order h⁴, and q of the order of the error,
h⁵, where forces are smooth; 3.75 times it for a harmonic oscillator. Where a force begins in the step ν is 1.

Source: docs/theory/lobatto.md, (16).
"""

import math

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


@kernel
def size_of(a, k):
    """Norm of the components k, k + 1, k + 2 of a."""
    return math.sqrt(a[k] ** 2 + a[k + 1] ** 2 + a[k + 2] ** 2)


@kernel
def bend(h, middle, end, w_0, w_1, dw_0, dw_1):
    """(3) of a node, of displacements and of rotations (2,), with increments (6,) at the second and the third stage."""
    q, first, second, middle_rate = local_vector(6), local_vector(6), local_vector(6), local_vector(6)
    found = local_vector(2)
    for k in range(6):
        q[k] = middle[k] - 0.5 * end[k] - 0.125 * h * (w_0[k] - w_1[k])
        middle_rate[k] = 0.5 * (dw_0[k] + dw_1[k]) - 24.0 * q[k] / (h * h)
        first[k], second[k] = middle_rate[k] - dw_0[k], dw_1[k] - middle_rate[k]
    for i in range(2):
        k = 3 * i
        most = max(size_of(dw_0, k), size_of(middle_rate, k), size_of(dw_1, k))
        change = size_of(first, k) + size_of(second, k)
        found[i] = size_of(q, k) * min(1.0, change / most) if most > 0.0 else 0.0
    return found[0], found[1]


@entry("void(int64, int64)")
def step_error(data, run):
    """Leave (1), (3) in o.error, rotations times the model's length; the step is done, its start in V0 and Vd_start."""
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
        if last == 2:
            moved, turned = bend(h, o.Di[1, n], o.Di[2, n], s.V0[n], w, o.Vd_start[n], dw)
            o.error = max(o.error, moved, s.length * turned)
