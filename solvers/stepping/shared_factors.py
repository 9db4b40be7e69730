"""One factorisation for the problems of a step whose matrices differ little: modified Newton with a borrowed matrix.

The matrices of a step with n velocities and m constraint rows, without contacts, are all

    K = [ c A     −k Gᵀ ]      A = M + … ,   G with what T(D) and the motion add to it                             (1)
        [ −k G    −shift ]

with a c and k of the problem; A and G differ by O(h) where forces are not stiff. With the factors of K a problem with
c', k' gets its Newton step from

    K [ u ]  =  [ (c/c') r_1 ] ,      y = (k c')/(k' c) z                                                          (2)
      [ z ]     [ (k/k') r_2 ]

for its velocities u and multipliers y.

The test is how much the residual contracts, the same as for a factorisation that a problem keeps for itself. Where it
does not contract enough the problem goes back and takes its own matrix, and does not ask again for a number of steps,
which doubles up to `LONGEST`.

A method allows it by giving c and k of its problems (`share`); 0 means that a problem neither lends nor borrows. What
is lent lies in matrix `SMOOTH`. Borrowing ends where contacts take part: their rows are not in that matrix. Small
matrices are not shared: their factors cost less than one more iteration.

Source: worked out here; measured with benchmarks/chain.py.

    symbol   code                meaning
    c, k     c, k                of the problem that is solved
             s.lent_c, s.lent_k  of the factors in matrix `SMOOTH`; 0: none
"""

from fem_mbs.jit import kernel, vector
from fem_mbs.solvers.stepping.table import Item
from fem_mbs.system.assembly import SMOOTH, layouts_of, solve_in_place

SMALL = 60  # unknowns up to which factors are not shared
LONGEST = 256  # solutions for which a problem does not try to borrow again
SHARP = 0.05  # of the accuracy of constraints: one's own matrix leaves round-off, not just what is asked

FACTORS = {
    "c": Item("", "factor of the mass in the matrix, 0: factors are not shared"),
    "k": Item("", "factor of the constraint rows"),
    "pause": Item("", "solutions left in which it does not borrow", "i8"),
    "pause_length": Item("", "of the last pause", "i8"),
}


@kernel
def share(p, c, k):
    """Let a problem lend and borrow factors; ``c`` and ``k`` of its matrix (1)."""
    p.c, p.k = c, k


@kernel
def lend(d, p, s, good):
    """Note whose factors lie in matrix `SMOOTH` after a problem has factorised its own, which may be the same."""
    layouts = layouts_of(d)
    if layouts[p.number].values_at == layouts[SMOOTH].values_at and layouts[SMOOTH].n > SMALL:
        s.lent_c, s.lent_k = (p.c, p.k) if good else (0.0, 0.0)


@kernel
def allowed(p, s):
    """Whether a problem may try the factors that are lent."""
    if s.reuse == 0 or p.c == 0.0 or s.lent_c == 0.0 or s.want_matrix != 0:
        return False
    if p.pause > 0:
        p.pause -= 1
        return False
    return True


@kernel
def give_up(p):
    """Factors that were lent did not contract the residual."""
    p.pause_length = min(max(2 * p.pause_length, 1), LONGEST)
    p.pause = p.pause_length


@kernel
def solve_borrowed(d, p, s):
    """Newton step in dx by (2), from the right-hand side in dx; False where contacts take part: dx is unchanged."""
    n, rows, size = d.n, d.n + d.m, layouts_of(d)[p.number].n
    dx = vector(s.dx_at, size)
    for i in range(rows, size):
        if dx[i] != 0.0:
            return False
    mass, row = s.lent_c / p.c, s.lent_k / p.k
    for i in range(n):
        dx[i] *= mass
    for i in range(n, rows):
        dx[i] *= row
    solve_in_place(d, SMOOTH, s.dx_at)
    for i in range(n, rows):
        dx[i] *= row / mass
    return True
