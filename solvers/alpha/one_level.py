"""The coupled scheme with constraints at one level alone, or with levels mixed up, for comparison.

Positions alone (index 3), frictionless, with λ_N in the equation of motion and no impact law:

    h (M v̇ − f − Gᵀ λ) − G_Nᵀ ξ/c_q = 0 ,   g = 0 ,   0 ≤ g_N ⟂ ξ ≥ 0 ,   ξ = k ν_N − p g_N = h c_q λ_N            (1)

Unknowns are v and ν_N/c_q, so that the block is that of the position equation, `alpha.contacts` (2):

    [ h (c_a M + …) + p G_Nᵀ G_N − ξ ∂G_Nᵀ/∂q    −k G_Nᵀ ]
    [ −k G_N                                      0       ]    open: row −(k²/p) ν_N/c_q                            (2)

Velocities alone: the smooth motion and the jump W as they are, and positions that follow from them,

    M (U − ½ h W)/h = 0                                                                                             (3)

Both levels, but gaps with another multiplier, as one step of backward Euler would have it (`alpha.contacts`):

    0 ≤ g_N(q) ⟂ ν_N − h Λ_N ≥ 0                                                                                    (4)

Source: docs/theory/nonsmooth_generalized_alpha.md, "One level alone".
"""

import math

from fem_mbs.jit import kernel
from fem_mbs.solvers.alpha.contacts import position_rows
from fem_mbs.solvers.contact.law import GAP, SLIP
from fem_mbs.solvers.contact.law_rows import SIX
from fem_mbs.solvers.stepping.kernels.arrays import norm
from fem_mbs.system.assembly import inertia
from fem_mbs.system.global_matrices import fill_diagonal, full_norm
from fem_mbs.system.records import VELOCITY, zero


@kernel
def add_closed_rows(d, s, o):
    """Contacts of (1): their forces to the rows of motion, their gaps to the constraint rows."""
    zero(o.rp_at, 6 * d.n_nodes)
    position_rows(d, s, o.rp, o.rows_p)
    for i in range(6 * d.n_nodes):
        o.rs[i] += o.rp[i] / o.c_q
    o.row_s = math.sqrt(o.row_s**2 + (norm(o.rows_p, d.nc) / o.c_q) ** 2)
    o.dynamic_s = full_norm(d, o.rs, s.length)


@kernel
def reactions(d, s, o):
    """Impulses h λ_N of (1), as those of the velocity problem are left for `contact.velocity.accumulate_impulses`."""
    for c in range(d.nc):
        s.status[c] = SLIP if s.active[c] != 0 else GAP
        for m in range(SIX):
            s.aLam[c, m] = 0.0
        if s.active[c] != 0:
            s.aLam[c, 0] = (s.kp * s.cnu[c, 0] + s.pp * o.rows_p[c]) / o.c_q  # rows_p = −g_N


@kernel
def followed_rows(d, s, o):
    """Rows (3), and no others in positions."""
    inertia(d, VELOCITY, s.x, s.R, s.V, s.U, o.MU, False, 0.0, 0.0, s.T)
    for i in range(6 * d.n_nodes):
        o.rp[i] = (o.MU[i] - 0.5 * s.h * o.MW[i]) / s.h
    o.dynamic_p, o.row_p = full_norm(d, o.rp, s.length), 0.0
    for c in range(d.nc):
        o.rows_p[c] = 0.0


@kernel
def followed_matrix(d, s, column):
    """Derivative of h times (3), in matrix VELOCITY; W = v − v~. That of M is left out: it is zero where (3) holds."""
    factor = 1.0 if column == 1 else (0.5 * s.h if column == 0 else -0.5 * s.h)
    inertia(d, VELOCITY, s.x, s.R, s.V, s.U, s.force, True, factor, 0.0, s.T)
    if column == 1:
        fill_diagonal(d, VELOCITY, d.n, -s.kp)
