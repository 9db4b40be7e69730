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
does not contract enough the problem returns to its own matrix, and does not borrow again for a number of steps,
which doubles up to `LONGEST`.

A method allows it by giving c and k of its problems (`share`); 0 means that a problem neither lends nor borrows. What
is lent lies in matrix `SMOOTH`. The rows of contacts that act are not in that matrix: the position correction borders
it by one or two of them (`contact.border`); otherwise borrowing ends there. Rows of joint friction are in it, in models
without contacts. Small matrices are not shared, unless
elements make them costly: their factors cost less than one more iteration.

**Factors of earlier steps.** In models with contacts the corrections do not overwrite matrix `SMOOTH`, nor where its
pattern fills in. With flexible elements it costs as much as P = `PRICE` iterations, of a pattern that fills in as much
as its solver expects (`LinearSolver.price`). The smooth motion then starts with the factors that it made in an
earlier step of the same h (`kept`), and solves forces, too, to `SHARPER` of their tolerance: what old factors leave is
then not larger than what its own would. Let n steps with the same factors have taken Δ_1 = 0, Δ_2, …, Δ_n iterations
more than the first, those of a problem that borrows them included. Their mean price falls with one more step as long as

    Δ_n  <  (P + Σ Δ_i) / n                                                                                       (3)

and new factors are made when it does not. A borrower that has to make its own adds P. Where nothing was gained
then, `LONGEST` solutions pass before a new try. A method allows it by ``s.costly``.

Source: worked out here; measured with benchmarks/chain.py and benchmarks/bench.py.

    symbol   code                meaning
    c, k     c, k                of the problem that is solved
             s.lent_c, s.lent_k  of the factors in matrix `SMOOTH`; 0: none
             s.epoch             number that changes when others write over factors
"""

from typing import TYPE_CHECKING

from fem_mbs.data_table import Item
from fem_mbs.jit import call2, kernel, vector
from fem_mbs.linear.solvers import fills_in, price_of
from fem_mbs.system.global_matrices import solve_in_place
from fem_mbs.system.layout import Rows
from fem_mbs.system.records import POSITION, SMOOTH, layouts_of

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

SMALL = 60  # unknowns up to which factors are not shared
LONGEST = 256  # solutions for which a problem does not try to borrow again
MOST_STUCK = 2  # rows of joint friction that stick, with which the position correction borrows: each is a solution more
BORDERED = 2  # active contacts that a borrowed matrix is bordered by: at most six solutions more
SHARP = 0.05  # of the accuracy of constraints: the own matrix of the problem leaves round-off
SHARPER = 0.01  # of the accuracy of forces: with 0.05 a crank with clearance was four times less accurate than with own
KEPT = 0.05  # of the residual, to which factors of earlier steps contract it
EXPENSIVE, SLOWLY = 10.0, 0.2  # price from which on factors go on that contract it to so much of it
PRICE = 4.0  # of a matrix of flexible elements and its factors, in iterations: 3.5 to 5.5 measured

FACTORS = {
    "c": Item("", "factor of the mass in the matrix, 0: factors are not shared"),
    "k": Item("", "factor of the constraint rows"),
    "pause": Item("", "solutions left in which it does not borrow", "i8"),
    "pause_length": Item("", "of the last pause", "i8"),
    "has_kept": Item("", "it has factors of its own", "i8"),
    "kept_h": Item("", "step size to which they belong"),
    "kept_epoch": Item("", "s.epoch to which they belong", "i8"),
    "kept_used": Item("", "solutions that they have served, with that which made them", "i8"),
    "kept_more": Item("", "iterations that these took more than it, with those of problems that borrowed them", "i8"),
    "kept_last": Item("", "the same of the last one", "i8"),
    "kept_first": Item("", "iterations of the solution that made them; of a borrower, with new ones", "i8"),
}


def price_of_matrix(system: "CompiledSystem") -> float | None:
    """Cost of a matrix and its factors, in iterations; None where they do not fill in.

    Free particles have none, and no pattern is made for it.
    """
    if system.searches or system.linear_solver not in (None, "umfpack", "cholmod"):
        return None
    pattern = system.pattern(Rows(friction=system.n_friction > 0), False)
    return price_of(pattern.fill) if fills_in(pattern.n, pattern.fill) else None


@kernel
def share(p, c, k):
    """Register a problem that lends and borrows factors; ``c`` and ``k`` of its matrix (1)."""
    p.c, p.k = c, k


@kernel
def lend(d, p, s, good):
    """Note whose factors lie in matrix `SMOOTH` after a problem has factorised its own, which may be the same."""
    layouts = layouts_of(d)
    if layouts[p.number].values_at == layouts[SMOOTH].values_at and (layouts[SMOOTH].n > SMALL or s.costly != 0):
        s.lent_c, s.lent_k = (p.c, p.k) if good else (0.0, 0.0)
        s.lent_old = 0


@kernel
def allowed(p, s):
    """True if a problem may try the factors that are lent."""
    if s.reuse == 0 or p.c == 0.0 or s.lent_c == 0.0 or s.want_matrix != 0:
        return False
    if p.number == POSITION and s.friction_stuck > MOST_STUCK:  # what sticks may turn in a correction of positions
        return False
    if p.border != 0 and s.repeats > 0:  # a step that did not go well has exact matrices
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
def let_turn(d, s, x):
    """Take out of a solution x what rows of joint friction that stick have done to it: their multipliers become 0."""
    first, k, u = d.n + d.m, s.friction_stuck, s.stuck_columns.shape[1]
    for a in range(k):
        column = s.stuck_columns[a]
        for i in range(u):
            column[i] = 0.0
        column[first + s.stuck_rows[a]] = 1.0
        solve_in_place(d, SMOOTH, s.stuck_columns_at + 8 * u * a)
    i, one = first + s.stuck_rows[0], s.stuck_columns[0]
    if k == 1:
        part = x[i] / one[i]
        for r in range(x.shape[0]):
            x[r] -= part * one[r]
        return
    j, two = first + s.stuck_rows[1], s.stuck_columns[1]
    determinant = one[i] * two[j] - two[i] * one[j]
    a, b = (x[i] * two[j] - two[i] * x[j]) / determinant, (one[i] * x[j] - x[i] * one[j]) / determinant
    for r in range(x.shape[0]):
        x[r] -= a * one[r] + b * two[r]


@kernel
def borrowed_solve(d, p, s, at):
    """Overwrite a right-hand side (n + m,) at an address by the solution (2).

    Without contacts rows of joint friction follow, with a weight such that (2) holds for them too. The position
    correction has none: their right-hand sides are 0.
    """
    n, rows = d.n, d.n + d.m + (d.n_friction if d.nc == 0 else 0)
    x, mass, row = vector(at, rows), s.lent_c / p.c, s.lent_k / p.k
    if p.number == POSITION:
        for i in range(n + d.m, rows):
            x[i] = 0.0
    for i in range(n):
        x[i] *= mass
    for i in range(n, rows):
        x[i] *= row
    solve_in_place(d, SMOOTH, at)
    if p.number == POSITION and d.nc == 0 and s.friction_stuck > 0:
        let_turn(d, s, x)
    for i in range(n, rows):
        x[i] *= row / mass


@kernel
def contacts_act(d, p, s):
    """True if contacts take part in the linear system whose right-hand side is in dx."""
    rows, size = d.n + d.m, layouts_of(d)[p.number].n
    if d.nc == 0:
        return False  # rows that follow are those of joint friction
    dx = vector(s.dx_at, size)
    for i in range(rows, size):
        if dx[i] != 0.0:
            return True
    if p.border != 0:
        for c in range(d.nc):
            if s.status[c] != 0:
                return True
    return False


@kernel
def solve_borrowed(d, p, s):
    """Newton step in dx by (2), from the right-hand side in dx; False where that cannot be: dx is then lost."""
    if p.border != 0 and s.iteration == 0:
        s.border_of[BORDERED, 0] = -1  # columns are those of another solution
    if not contacts_act(d, p, s):
        borrowed_solve(d, p, s, s.dx_at)
        return True
    s.bordered = 0
    if p.border != 0 and s.border.shape[0] > 0:
        call2(p.border, s.data_at, s.run_at)
    return s.bordered != 0


@kernel
def keep_factors(d, p, s, good):
    """Note what the factors belong to that a problem has just made."""
    apart = layouts_of(d)[SMOOTH].values_at != layouts_of(d)[POSITION].values_at
    safe = p.number == s.keeper and (apart or s.keeper != SMOOTH)  # corrections do not write over them
    p.has_kept = 1 if good and s.costly != 0 and safe and s.repeats == 0 else 0
    if p.number == s.keeper:
        p.kept_h, p.kept_epoch, p.kept_used, p.kept_more, p.kept_first = s.h, s.epoch, 1, 0, s.iteration


@kernel
def kept(p, s):
    """True if a problem may start with its factors of an earlier step."""
    if p.has_kept == 0 or s.costly == 0 or s.reuse == 0 or s.repeats > 0 or s.plastic != 0:
        return False
    return p.kept_h == s.h and p.kept_epoch == s.epoch and p.pause == 0


@kernel
def rest(p, s):
    """One solution less of a pause: of those that make their own factors."""
    if p.number == s.keeper and s.costly != 0 and p.pause > 0:
        p.pause -= 1


@kernel
def count_kept(p, s, borrowed, old):
    """Count the iterations of a solution, for (3)."""
    if p.number != s.keeper:
        if borrowed and s.lent_old == 0:
            p.kept_first = s.iteration
        elif borrowed:
            s.old_more += max(s.iteration - p.kept_first, 0)
    elif old:
        p.kept_used += 1
        p.kept_last = max(s.iteration - p.kept_first, 0)
    else:
        p.kept_first, p.kept_last = s.iteration - p.kept_first, 0


@kernel
def look_at_price(p, s):
    """Drop factors of earlier steps by (3), with the cost of the problems that borrowed them in the last step."""
    more = p.kept_last + s.old_more
    p.kept_last = s.old_more = 0
    p.kept_more += more
    price = s.price + p.kept_more
    if p.kept_used > 1 and more * p.kept_used >= price:
        p.has_kept = 0
        if price >= s.price * p.kept_used:
            p.pause_length = p.pause = LONGEST
