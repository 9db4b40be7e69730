"""First guesses of the corrections of a step: those of the last three steps, continued.

Constraints alone make corrections that change little from step to step. With the values of three steps of the same size

    U ≈ 3 U_n − 3 U_{n−1} + U_{n−2} ,   the same for ν, W and Λ,                                                   (1)

the residual begins four orders of magnitude lower than with 0 in a chain of ten links: one iteration is left, or none.
After each step (1) is compared with what was found, for positions and for velocities by themselves; the next step
begins with 0 where it was off by more than `CLOSE`. So do repeated steps, and steps after one of another size.

In models with contacts or friction corrections jump, and nothing is kept. A guess is taken for a solution without any
iteration only if forces are as small as `SHARPER` of their tolerance (`stepping.kernels.newton`): errors of one sign
would add up over the steps.

Source: docs/theory/decoupled_nsga.md, decision 15.

    symbol        code                    meaning
    U, W          past_U, past_W          of the last three steps (3, N, 6), the newest is number ``newest``
    ν, Λ          past_nu, past_Lam       the same (3, m)
"""

from fem_mbs.data_table import Item
from fem_mbs.jit import kernel

STEPS = 3
CLOSE = 0.01  # of the size of a correction

ITEMS = {
    "past_U": Item("3 gn 6", "U of the last three steps", kept=True),
    "past_W": Item("3 gn 6", "W of these", kept=True),
    "past_nu": Item("3 gm", "ν of these", kept=True),
    "past_Lam": Item("3 gm", "Λ of these", kept=True),
    "newest": Item("", "which of them is that of the last step", "i8", kept=True),
    "known": Item("", "number of steps of the same size that they are of, at most three", "i8", kept=True),
    "past_h": Item("", "that size", kept=True),
    "guess_U": Item("", "the next step guesses U", "i8", kept=True),
    "guess_W": Item("", "the next step guesses W", "i8", kept=True),
}


@kernel
def may_guess(s, o):
    """True if this step may begin with guesses at all."""
    return o.known == STEPS and s.h == o.past_h and s.repeats == 0 and s.plastic == 0


@kernel
def continued(past, newest, i, j):
    """(1) of component j of node i."""
    a, b, c = newest, (newest + 2) % STEPS, (newest + 1) % STEPS
    return 3.0 * (past[a, i, j] - past[b, i, j]) + past[c, i, j]


@kernel
def guess(past, past_rows, newest, increments, multipliers):
    """Set increments (N, 6) and multipliers (m,) to (1)."""
    for i in range(increments.shape[0]):
        for j in range(6):
            increments[i, j] = continued(past, newest, i, j)
    a, b, c = newest, (newest + 2) % STEPS, (newest + 1) % STEPS
    for i in range(multipliers.shape[0]):
        multipliers[i] = 3.0 * (past_rows[a, i] - past_rows[b, i]) + past_rows[c, i]


@kernel
def was_close(past, newest, increments, length):
    """True if (1) would have been a good guess of increments (N, 6)."""
    error = size = 0.0
    for i in range(increments.shape[0]):
        for j in range(6):
            arm = length if j > 2 else 1.0
            error += (arm * (increments[i, j] - continued(past, newest, i, j))) ** 2
            size += (arm * increments[i, j]) ** 2
    return error <= CLOSE * CLOSE * size and size > 0.0


@kernel
def keep_corrections(s, o):
    """Keep the corrections of a step, and decide on guesses of the next."""
    if s.h != o.past_h or s.repeats > 0:
        o.known = 0
    o.guess_U = o.guess_W = 0
    if o.known == STEPS:
        o.guess_U = 1 if was_close(o.past_U, o.newest, s.U, s.length) else 0
        o.guess_W = 1 if was_close(o.past_W, o.newest, s.W, s.length) else 0
    o.newest, o.known, o.past_h = (o.newest + 1) % STEPS, min(o.known + 1, STEPS), s.h
    for i in range(s.U.shape[0]):
        for j in range(6):
            o.past_U[o.newest, i, j], o.past_W[o.newest, i, j] = s.U[i, j], s.W[i, j]
    for i in range(s.nu.shape[0]):
        o.past_nu[o.newest, i], o.past_Lam[o.newest, i] = s.nu[i], s.Lam[i]
