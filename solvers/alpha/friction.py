"""Joint friction in the coupled problem: impulses in its velocities, half of what they do to positions.

The law is that of `joint_friction.by_impulses` in the rows of velocities, with the reactions N_h(h λ~ + Λ) of the
joint, and −½ h G_Fᵀ Λ_F in the position equation, as friction of contacts has it (`alpha.contacts`, (3)). It takes

    W = Λ_F ½ (γ~ + γ_n+1)                                                                                          (1)

of the kinetic energy, with the rate γ~ of the smooth motion. In addition to the block of
velocities there are the derivatives by the impulses in the position equation, and by λ~ in the bound.

Source: docs/theory/nonsmooth_generalized_alpha.md, (8); docs/theory/joint_friction.md, (16).
"""

from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, integers, kernel, matrix
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.joint_friction.by_impulses import end_step, perform
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import COUPLINGS, END, POSITIONS, SLOPES
from fem_mbs.system.friction import (
    STICK,
    add_row,
    clear_block,
    directions_of,
    friction_groups,
    friction_of,
    gradients_of,
    rows_of,
    scatter_block,
)
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY, layouts_of

_KK = SLOT["K"]


@kernel
def couplings(d, s, column):
    """Add the derivatives of the position equation by the impulses, or, in column 0, of the bounds by λ~."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, VELOCITY)
    half, weight = 0.5 * s.h * s.kv, s.kv * s.h * s.ks
    for g in friction_groups(d):
        nd, n, stored = g.nd, directions_of(g), gradients_of(g)
        size = nd + n + g.nr
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            clear_block(S, nd, n)
            for k in range(n):
                r, row = n * e + k, nd + k
                kept = friction_of(g, r)
                if column == 2:
                    for i in range(nd):
                        S[i, row] = -half * stored[r, i]
                elif kept.trial_status != STICK and kept.prescribed >= 0.0:
                    slope = weight * kept.bound_share * kept.trial_sign * kept.coefficient / kept.effective_mass
                    for i in range(g.nr):
                        S[row, nd + n + i] = -slope * kept.slope[i]
            scatter_block(g.maps_at[VELOCITY], e, S, nd, n, values)


@kernel
def without_rows(d, block):
    """Diagonal of the rows of friction in a block that has none."""
    L, values = layouts_of(d)[VELOCITY], matrix_values(d, VELOCITY)
    diagonal = integers(L.diagonal_at, L.n)
    for i in range(L.n - d.n_friction, L.n):
        values[diagonal[i]] = block


@kernel
def friction_block(d, s, row, column):
    """Add joint friction to block (row, column) of the coupled matrix, in matrix VELOCITY."""
    if row == column and row < 2:
        without_rows(d, -s.h * s.ks if row == 0 else -s.kp)
    elif row == column:
        call2(s.friction_part, s.run_at, SLOPES)
    elif (row == 1 and column == 2) or (row == 2 and column == 0):
        s.friction_block = column
        call2(s.friction_part, s.run_at, COUPLINGS)


@kernel
def positions(d, s, rp):
    """Subtract half of what the impulses do to positions from the rows of positions."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            add_row(g, r, -0.5 * s.h * friction_of(g, r).impulse, rp)


@entry("void(int64, int64)")
def friction_part(run, task):
    """Do one of the `friction_tasks`."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    s.friction_answer = 0
    at = s.dx_at + 8 * (2 * layouts_of(d)[VELOCITY].n if o.block < 0 else 0)  # the block of velocities
    if task == POSITIONS:
        positions(d, s, o.rp)
    elif task == COUPLINGS:
        couplings(d, s, s.friction_block)
    elif task == END:
        end_step(d, s, True)
    else:
        perform(d, s, task, at)
