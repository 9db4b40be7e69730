"""Rows of velocities between two bodies: a component of the velocity of one against the other at a point.

At the point C, as material points of A and B that are there now, with r = C − x_A, s = C − x_B and a direction t:

    γ = t·(v_B(C) − v_A(C)) = 0 ,     G = [ −t ;  −R_Aᵀ(r × t) ;  t ;  R_Bᵀ(s × t) ]                               (1)

columns of G in the order x_A, θ_A, x_B, θ_B. Where C and t move with the pose there is no g with this gradient.
For a variation that rotates A by α_A and B by α_B (inertial axes) and changes r, s, t by δr, δs, δt

    δG = [ −δt ;  −R_Aᵀ(δr × t + r × δt − α_A × (r × t)) ;  δt ;  R_Bᵀ(δs × t + s × δt − α_B × (s × t)) ]            (2)

and H has one such column for each unit variation. The multiplier is the force on B along t, at C.

Source: docs/theory/non_holonomic.md, (3), (4); derived here and checked by differences.
"""

from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_cross, add_rotated, cross, dot


@kernel
def subtract(a, b, c):
    """Fill c (3,) with a − b."""
    for i in range(3):
        c[i] = a[i] - b[i]


@kernel
def add_back_rotated(scale, R, a, b):
    """Add scale Rᵀ a to b (3,)."""
    for i in range(3):
        b[i] += scale * (R[0, i] * a[0] + R[1, i] * a[1] + R[2, i] * a[2])


@kernel
def velocity_row(R_A, R_B, r, s, t, G):
    """Add (1) to a row G (12,); r, s (3,) [m] and t (3,), inertial axes."""
    moment = local_vector(3)
    cross(r, t, moment)
    add_back_rotated(-1.0, R_A, moment, G[3:6])
    cross(s, t, moment)
    add_back_rotated(1.0, R_B, moment, G[9:12])
    for i in range(3):
        G[i] -= t[i]
        G[6 + i] += t[i]


@kernel
def unit_variation(R_A, R_B, j, moved, turned_A, turned_B):
    """Fill what unit variation j of the twelve does: moved (3,) = δx_B − δx_A, α_A and α_B (3,)."""
    k = j % 3
    for i in range(3):
        moved[i] = turned_A[i] = turned_B[i] = 0.0
        if 3 <= j < 6:
            turned_A[i] = R_A[i, k]
        elif j >= 9:
            turned_B[i] = R_B[i, k]
    if j < 3:
        moved[k] = -1.0
    elif 6 <= j < 9:
        moved[k] = 1.0


@kernel
def _turned_moment(d_arm, arm, t, dt, turned, moment):
    """Fill moment (3,) with δa × t + a × δt − α × (a × t)."""
    cross(arm, t, moment)
    before = local_vector(3)
    for i in range(3):
        before[i] = moment[i]
    cross(arm, dt, moment)
    add_cross(1.0, d_arm, t, moment)
    add_cross(-1.0, turned, before, moment)


@kernel
def velocity_row_change(R_A, R_B, r, s, t, change, j, H):
    """Add (2) to column j of H (12, 12); change: moved, δs, δt and the rotations of A and B, δr = moved + δs."""
    moved, ds, dt, turned_A, turned_B = change
    moment, back, dr = local_arrays("3, 3, 3")
    for i in range(3):
        dr[i] = moved[i] + ds[i]
        H[i, j] -= dt[i]
        H[6 + i, j] += dt[i]
        back[i] = 0.0
    _turned_moment(dr, r, t, dt, turned_A, moment)
    add_back_rotated(-1.0, R_A, moment, back)
    for i in range(3):
        H[3 + i, j] += back[i]
        back[i] = 0.0
    _turned_moment(ds, s, t, dt, turned_B, moment)
    add_back_rotated(1.0, R_B, moment, back)
    for i in range(3):
        H[9 + i, j] += back[i]


@kernel
def relative_velocity(R_A, v_A, w_A, R_B, v_B, w_B, r, s, u):
    """Fill u (3,) [m/s] with v_B(C) − v_A(C), inertial axes; w_A, w_B (3,) [rad/s] in body axes."""
    spin = local_vector(3)
    subtract(v_B, v_A, u)
    for i in range(3):
        spin[i] = 0.0
    add_rotated(1.0, R_B, w_B, spin)
    add_cross(1.0, spin, s, u)
    for i in range(3):
        spin[i] = 0.0
    add_rotated(1.0, R_A, w_A, spin)
    add_cross(-1.0, spin, r, u)


@kernel
def component_across(a, u, c):
    """Fill c (3,) with a − (a·u) u."""
    along = dot(a, u)
    for i in range(3):
        c[i] = a[i] - along * u[i]
