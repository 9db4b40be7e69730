"""Newton's iteration: one loop for all problems that methods solve in a step.

A problem is a record of what to call (`PROBLEM`): compiled functions, and the matrix it is solved with. The loop
contains no equations. It calls for the residual, whether that is small enough, for the matrix and the right-hand
side; it factorises and solves; and lets the problem search along the Newton step.

    residual   evaluate at the present unknowns; its norm in ``s.merit``, infinite where the unknowns are not allowed,
               with the reason in ``s.code``
    solved     ``s.solved`` and ``s.tolerance`` by the last residual
    matrix     assemble in matrix ``s.number``, without contacts, where the residual was evaluated last. With
               ``s.want_matrix`` the first residual has done it
    contacts   add the contacts to the problem's own matrix
    right      minus the residual, in dx
    keep       what `move` starts from, once the Newton step is known
    move       unknowns ← kept ones + ``s.scale`` times the Newton step
    search     choose a part of the step and leave the residual evaluated there: `halve`, or the problem's own
    border     the Newton step with active contacts by factors that are lent, see `contact.border`; not all have it
    solution   the Newton step by additional factors of ``matrix``, see `alpha.split`; not all have it

All have the signature (data, run), ``search`` (problem, run). The caller sets ``s.most``, ``s.first_residual`` and
``s.want_matrix``, and finds ``s.code`` and ``s.iteration`` afterwards.

Problems of one step may share a factorisation, see `stepping.kernels.shared_factors`.

Source: docs/theory/decoupled_nsga.md, decision 7.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import call2, entry, kernel, void_pointer
from fem_mbs.solvers.stepping.kernels.arrays import largest_turn
from fem_mbs.solvers.stepping.kernels.codes import (
    LARGE_ROTATION,
    LARGEST_TURN,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    ROUND_OFF,
    SINGULAR,
)
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.shared_factors import (
    EXPENSIVE,
    FACTORS,
    KEPT,
    SHARP,
    SHARPER,
    SLOWLY,
    allowed,
    count_kept,
    give_up,
    keep_factors,
    kept,
    lend,
    rest,
    solve_borrowed,
)
from fem_mbs.system.far_contacts import wake_far
from fem_mbs.system.global_matrices import factorise, solve_in_place

if TYPE_CHECKING:
    import numpy as np

    from fem_mbs.jit import Entry


CONTRACTION = 0.02  # of the residual, with which a factorisation is kept: two such iterations reach most tolerances
EARLY = 6  # iterations in which a residual may rise above the last one, up to the one before: statuses still change
STALLED = 0.5  # of the residual before: one that falls less may be round-off
SAFE = 4.0  # times a residual that round-off leaves: what may be left
HISTORY = 64  # residual norms that the diagnosis of a failed step gets, the size of ``s.history``

CALLS = "residual solved matrix contacts right keep move search".split()
PROBLEM = Table(
    "problem of Newton's iteration",
    {
        "number": Item("", "its matrix", "i8"),
        **{name: Item("", "address of a compiled function", "i8") for name in [*CALLS, "border", "solution"]},
        **FACTORS,
    },
)
_RECORD = PROBLEM.dtype


class Problem(NamedTuple):
    """Callbacks of Newton's iteration for one problem: compiled functions (`fem_mbs.jit.entry`), and its matrix."""

    number: int
    residual: "Entry"
    solved: "Entry"
    matrix: "Entry"
    contacts: "Entry"
    right: "Entry"
    keep: "Entry"
    move: "Entry"
    search: "Entry"
    border: "Entry | None" = None
    solution: "Entry | None" = None

    def fill(self, record: "np.ndarray", bordered: bool = False) -> None:
        """Write number and addresses into a record of `PROBLEM`."""
        record["number"] = self.number
        record["border"] = record["solution"] = 0
        for name, program in self._named(bordered).items():
            record[name] = program.address

    def programs(self, bordered: bool = False) -> "list[Entry]":
        """What is compiled for it."""
        return list(self._named(bordered).values())

    def _named(self, bordered):
        optional = {"border": self.border if bordered else None, "solution": self.solution}
        programs = {name: getattr(self, name) for name in CALLS}
        return programs | {name: program for name, program in optional.items() if program}


@kernel
def turns_too_far(s, D):
    """True if increments D (N, 6) turn a node by more than a step may; the residual is then rejected."""
    if largest_turn(D) > LARGEST_TURN:
        s.merit, s.code = math.inf, LARGE_ROTATION
        return True
    return False


@kernel
def problem_at(at):
    """Record of a problem at an address, as an array of one."""
    return carray(void_pointer(at), (1,), _RECORD)


@kernel
def merit_of(s, k):
    """Norm of the whole residual of a correction: dynamic rows, and k times constraint, gap and friction rows."""
    return math.sqrt(s.dynamic**2 + (k * s.row) ** 2 + (k * s.row_T) ** 2)


@kernel
def statuses(s, nc):
    """Number that changes when the status of any contact changes (decides on a new factorisation)."""
    status, candidate = s.status, s.candidate
    result = 1 + s.friction_status
    for c in range(nc):
        result = (31 * result + 3 * candidate[c] + status[c]) % 1000000007
    return result


@kernel
def stalled(s, nc, c_q):
    """True if Newton's iteration of a problem in W continues in the round-off of positions, c_q = ∂D/∂v.

    The residual is then the round-off in stiff parts: without load there is no other. There are three criteria,
    none of which refers to loads or velocities, for both may be zero: the whole Newton step moves nothing by
    more than round-off, the residual does not fall, and no contact has changed its status.
    """
    if s.iteration == 0 or s.without_contacts != 0 or not s.merit > STALLED * s.before:
        return False
    change = turn = 0.0
    for i in range(s.W.shape[0]):
        for j in range(3):
            change = max(change, abs(s.W[i, j] - s.trial[i, j]))
            turn = max(turn, abs(s.W[i, 3 + j] - s.trial[i, 3 + j]))
    change = max(change, s.size * turn)
    return c_q * change <= s.scale * ROUND_OFF * s.scale_x and statuses(s, nc) == s.statuses


@kernel
def remember(s):
    """Append the norm of a residual to the history of the failed-step diagnosis."""
    history = s.history
    if s.history_length < HISTORY:
        history[s.history_length] = s.merit
        s.history_length += 1


@kernel
def spend(s, iterations):
    """Count iterations of the step; False when it has used up what it may take, whichever attempt it is in."""
    s.work += iterations
    return s.work <= s.most_work


@kernel
def evaluate(p, s):
    """Residual at the present unknowns."""
    s.code = NOT_FINITE
    call2(p.residual, s.data_at, s.run_at)


@kernel
def attempt(p, s):
    """Take the part ``s.scale`` of the Newton step, and evaluate there."""
    call2(p.move, s.data_at, s.run_at)
    evaluate(p, s)


@kernel
def own_factors(d, p, s):
    """Assemble and factorise the matrix of a problem where its residual was evaluated last; False: singular."""
    if s.want_matrix == 0:
        s.number = p.number
        call2(p.matrix, s.data_at, s.run_at)
        if d.nc > 0:
            call2(p.contacts, s.data_at, s.run_at)
    good = factorise(d, p.number)
    lend(d, p, s, good)
    keep_factors(d, p, s, good)
    return good


@kernel
def ask(p, s):
    """Check if the residual is small enough.

    Sizes that tolerances refer to are those of this iterate, not of what went before in vain: after an iteration that
    diverged anything would be small enough.
    """
    scale_x, scale_v = s.scale_x, s.scale_v
    call2(p.solved, s.data_at, s.run_at)
    if s.solved == 0:
        s.scale_x, s.scale_v = scale_x, scale_v


@kernel
def judge(p, s, borrowed, old):
    """Check if the residual is small enough; with borrowed factors the test is sharper.

    So is that of forces before any iteration, where the start is a guess from earlier steps.
    """
    exact, rtol = s.exact, s.rtol
    if s.iteration == 0 and s.guessed != 0:
        s.exact, s.rtol = SHARP * exact, SHARPER * rtol
    if s.iteration > 0 and (borrowed or old):
        s.exact = SHARP * exact
        s.rtol = SHARPER * rtol if old else rtol
    ask(p, s)
    s.exact, s.rtol = exact, rtol


@kernel
def contraction(s, old):
    """Part of its residual to which an iteration has to come, for factors to go on."""
    if s.costly != 0 and s.price > EXPENSIVE:
        return SLOWLY
    return KEPT if old else CONTRACTION


@kernel
def serve(p, s, borrowed, contracts, changed):
    """True if factors that are lent or of an earlier step remain in use; they are dropped if the residual requires it.

    A matrix that is bordered by contacts takes their new statuses at once: a residual that such a change has raised
    does not judge the factors, in the first iterations.
    """
    if s.iteration == 0 or contracts or (changed and borrowed and p.border != 0 and s.iteration < EARLY):
        return True
    if borrowed and s.lent_old != 0:
        s.old_more += int(s.price)
    else:
        give_up(p)
    return False


@kernel
def go_back(p, s):
    """Reject a Newton step with unsuitable factors."""
    s.scale = 0.0
    attempt(p, s)


@entry("void(int64, int64)")
def newton(problem, run):
    """Solve a problem from its present unknowns; ``s.code`` says how that ended."""
    p, s = problem_at(problem)[0], run_at(run)[0]
    d = system_at(s.data_at)[0]
    s.history_length = 0
    s.iteration, s.before, factored = 0, 0.0, -1
    evaluate(p, s)
    s.first_residual = 0
    borrowed = allowed(p, s)
    old = s.want_matrix == 0 and kept(p, s)
    rest(p, s)
    while math.isfinite(s.merit):
        remember(s)
        judge(p, s, borrowed, old)
        if s.solved != 0:
            if s.iteration > 0 or old:
                count_kept(p, s, borrowed, old)
            s.code = OK
            return
        if s.iteration >= s.most or not spend(s, 1):
            s.code = NOT_CONVERGED
            return
        now = statuses(s, d.nc)
        contracts = now == factored and s.merit < contraction(s, old) * s.before
        if (borrowed or old) and not serve(p, s, borrowed, contracts, now != factored):
            borrowed = old = False
            if s.merit > s.before:
                go_back(p, s)
                now = statuses(s, d.nc)
        call2(p.right, s.data_at, s.run_at)
        if borrowed and not solve_borrowed(d, p, s):
            borrowed = contracts = False
        if not borrowed:
            if not (old or (s.reuse != 0 and contracts)):
                if not own_factors(d, p, s):
                    s.code = SINGULAR
                    return
                call2(p.right, s.data_at, s.run_at)
            if p.solution != 0:
                call2(p.solution, s.data_at, s.run_at)
            else:
                solve_in_place(d, p.number, s.dx_at)
        factored = now
        s.want_matrix = 0
        # full steps make the linear rows exact: not rejected below the tolerance, nor, in the first iterations, for a
        # status that changes at a residual far below that of the iteration before
        s.bound = max(s.merit, s.tolerance, s.before if s.iteration < EARLY else 0.0)
        s.before, s.statuses = s.merit, now
        call2(p.keep, s.data_at, s.run_at)
        s.iteration += 1
        call2(p.search, problem, run)
        if old and not math.isfinite(s.merit):
            give_up(p)
            old = False
            go_back(p, s)


@kernel
def shorten(p, s, search):
    """Halve the Newton step until the residual is below ``s.bound``; the best part of it when none is.

    Without ``search`` the whole step is taken.
    """
    best, best_scale = math.inf, 1.0
    s.scale = 1.0
    for _ in range(s.max_halvings + 1):
        attempt(p, s)
        if s.merit < best:
            best, best_scale = s.merit, s.scale
        if not search or s.merit <= s.bound:
            break
        s.scale *= 0.5
    if best_scale != s.scale and not best <= s.bound and math.isfinite(best):
        s.scale = best_scale
        attempt(p, s)


@entry("void(int64, int64)")
def halve(problem, run):
    """`shorten` with contacts; without them the problem is smooth, and nearly linear."""
    s = run_at(run)[0]
    shorten(problem_at(problem)[0], s, system_at(s.data_at)[0].nc > 0)


@kernel
def solve(s, problem, most):
    """Solve the problem at an address in at most so many iterations."""
    s.most, s.solving = most, problem
    call2(s.newton_part, problem, s.run_at)


@kernel
def by_contact_problem(s):
    """Hand ``s.failed_problem`` to the contact-problem solver, once per step; ``s.code`` is OK if it was solved."""
    if s.contact_part != 0 and s.repeats == 0:
        s.epoch += 1
        s.lent_c = 0.0
        if s.far != 0:
            wake_far(system_at(s.data_at)[0], s)
        call2(s.contact_part, s.data_at, s.run_at)
