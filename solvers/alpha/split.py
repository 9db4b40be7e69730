"""Newton step of the coupled problem without contacts by two matrices of the size of one block.

Of (4), (5) of `alpha.coupled` for motion (v~, λ~) and positions (U/h, ν/h) = (u, n), without what U and v change of M
and G (terms of the size of the drift of a step, h² of the others), is left, with A = h (c_a M + C + c_q K),

    A v~ + h² K u − h k_s Gᵀ λ = r1                       −h k_s G v~ = r2
    M u − k_p Gᵀ n = r3                                   −k_p G (c_q v~/h + u) = r4                                (1)

In y = v~ + (h/c_q) u, the motion of q over c_q, K has one column: with M u of the third

    [ M       −k_p Gᵀ ] [ u ]   [ r3                           ]
    [ −k_p G   0      ] [ n ] = [ r4 − k_p c_q/(h² k_s) r2     ]                                                    (2)

    [ A         −h k_s Gᵀ ] [ y ]   [ r1 + (h² c_a/c_q) r3     ]        λ = μ − h c_a k_p/(c_q k_s) n
    [ −h k_s G   0        ] [ μ ] = [ r4 h² k_s/(k_p c_q)      ]        v~ = y − (h/c_q) u                          (3)

Two factors of n + m unknowns instead of one of twice as many: a sixteenth of the products of a pattern that fills in,
and symmetric ones. The neglected terms decide how fast residuals contract, not what is solved. Not for rows of
velocities, which have no positions, nor for redundant rows, whose multipliers would not be those of least norm.

Source: worked out here; docs/theory/generalized_alpha.md.
"""

from fem_mbs.jit import entry, kernel, vector
from fem_mbs.solvers.alpha.coupled import PROBLEM, assemble
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.alpha.rows import multipliers
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.assembly import inertia
from fem_mbs.system.constraints import POSITIONS, constraint_tangents
from fem_mbs.system.global_matrices import clear_matrix, factorise, solve_in_place
from fem_mbs.system.records import SMOOTH, VELOCITY


@kernel
def positions_matrix(d, s):
    """The matrix of (2), with its factors, in matrix `SMOOTH`."""
    clear_matrix(d, SMOOTH)
    inertia(d, SMOOTH, s.x, s.R, s.V, s.U, s.force, True, 1.0, 1.0, s.T)
    multipliers(d, s, 1)
    shift = s.epsilon_rows * s.kp
    constraint_tangents(d, SMOOTH, s.x, s.R, s.V, s.phi, 1.0, 0.0, s.kp, 0.0, shift, POSITIONS, s.T)
    factorise(d, SMOOTH)  # what a singular one leaves no residual accepts


@entry("void(int64, int64)")
def split_matrix(data, run):
    """The matrix of (3) where the residual was evaluated last, and that of (2)."""
    d, s = system_at(data)[0], run_at(run)[0]
    positions_matrix(d, s)
    assemble(d, s, own_at(s.own_at)[0], 0, 0)


@entry("void(int64, int64)")
def split_solution(data, run):
    """Newton step in dx, from the right-hand side there."""
    d, s = system_at(data)[0], run_at(run)[0]
    n, m, h, c_a, c_q = d.n, d.m, s.h, own_at(s.own_at)[0].c_a, own_at(s.own_at)[0].c_q
    size = n + m
    first, second = vector(s.dx_at, size), vector(s.dx_at + 8 * size, size)
    drift = h * h * s.ks / (s.kp * c_q)
    for i in range(n, size):
        rates, places = first[i], second[i]
        first[i], second[i] = drift * places, places - rates / drift
    for i in range(n):
        first[i] += h * h * c_a / c_q * second[i]
    solve_in_place(d, SMOOTH, s.dx_at + 8 * size)
    solve_in_place(d, VELOCITY, s.dx_at)
    for i in range(n):
        first[i] -= h / c_q * second[i]
    for i in range(n, size):
        first[i] -= h * c_a * s.kp / (c_q * s.ks) * second[i]


SPLIT = PROBLEM._replace(number=VELOCITY, matrix=split_matrix, solution=split_solution)
