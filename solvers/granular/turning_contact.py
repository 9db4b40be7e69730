"""One contact that resists rolling and spinning, or drills on a disc: its block, its cone, its solution.

Unknowns and velocities of a contact are those of `granular.turning`, in the order N, t_1, t_2, rolling about t_1 and
t_2, spinning. Coulomb's law is solved by turns, `PASSES` times,

    r for given χ, exactly;   χ_S ← clip(χ_S − ω_S/W_SS) ,   χ_R ← shortened (χ_R − ω_R/λ(W_RR))                     (1)

with the largest eigenvalue λ. With a disc f = (r_T, χ_S/c) is found at once: A f + q = −λ f, |f| = μ r_N, λ ≥ 0 by
Newton on 1/|f(λ)|. Spheres of one size on each other have no coupling along tangents and need one turn; a sphere on a
plane has the correlation √(5/7), which a turn reduces by 5/7. The relaxed law takes `LOCAL` projections of all parts,
r ← P_K(r − (W r + q)/tr W), in scaled variables. Fixed points of both are the laws.

Source: docs/theory/contact_groups.md, (13)-(15).
"""

import math

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact_problem.one import solve_coulomb

PASSES, LOCAL = 4, 12
EXACT, LARGEST = 1e-12, 1e3  # of |f| = μ r_N; λ where Newton starts, of the trace
SETTLED = 1e-6  # changes of moments between two turns, of their bounds


@kernel
def times(p, c, r, out):
    """Fill out (6,) with W r of pair c."""
    W, mixed, spin = p.block[c], p.mixed[c], p.spin[c]
    for i in range(3):
        out[i] = out[3 + i] = 0.0
        for j in range(3):
            out[i] += W[i, j] * r[j] + mixed[j, i] * r[3 + j]
            out[3 + i] += mixed[i, j] * r[j] + spin[i, j] * r[3 + j]


@kernel
def scales(p, c, scale):
    """Fill scale (6,) with what velocities of pair c are multiplied with, and impulses divided by."""
    W, spin = p.block[c], p.spin[c]
    force = math.sqrt(3.0 / (W[0, 0] + W[1, 1] + W[2, 2]))
    scale[0] = scale[1] = scale[2] = force
    scale[3] = scale[4] = math.sqrt(2.0 / (spin[0, 0] + spin[1, 1]))
    arm = p.moments[c].drilling_arm
    scale[5] = arm * force if arm > 0.0 else 1.0 / math.sqrt(spin[2, 2])


@kernel
def parts(p, c, scale, mu):
    """Fill mu (3,) with the coefficients of pair c of sliding, rolling and spinning for scaled variables."""
    mu[0] = p.mu[c]
    mu[1] = p.moments[c].rolling_resistance * scale[0] / scale[3]
    mu[2] = p.moments[c].spinning_resistance * scale[0] / scale[5]


@kernel
def _sizes(x, disc, size):
    """Fill size (3,) with those of the parts of x (6,); a disc has drilling among sliding."""
    drilling = x[5] * x[5] if disc else 0.0
    size[0] = math.sqrt(x[1] * x[1] + x[2] * x[2] + drilling)
    size[1] = math.sqrt(x[3] * x[3] + x[4] * x[4])
    size[2] = 0.0 if disc else abs(x[5])


@kernel
def project(x, mu, disc, size):
    """Project x (6,) onto the cone of (2) or (3), with mu (3,); size (3,) is scratch. As `contact_problem.cones`."""
    _sizes(x, disc, size)
    t, above, below, clipped = x[0], x[0], 1.0, 0
    for _ in range(3):
        most = -1
        for k in range(3):
            if (clipped >> k) & 1 == 0 and size[k] > mu[k] * t:
                most = k if most < 0 or size[k] * mu[most] > size[most] * mu[k] else most
        if most < 0:
            break
        clipped |= 1 << most
        above += mu[most] * size[most]
        below += mu[most] * mu[most]
        t = above / below
    x[0] = max(t, 0.0)
    for k in range(3):
        bound = mu[k] * x[0]
        size[k] = bound / size[k] if size[k] > bound else 1.0
    x[1], x[2], x[3], x[4] = size[0] * x[1], size[0] * x[2], size[1] * x[3], size[1] * x[4]
    x[5] *= size[0] if disc else size[2]


@kernel
def lifts(u, mu, disc, size):
    """Σ μ_k |u_k| of scaled velocities u (6,); size (3,) is scratch."""
    _sizes(u, disc, size)
    return mu[0] * size[0] + mu[1] * size[1] + mu[2] * size[2]


@kernel
def solve_relaxed(p, c, q, r, v, scale, mu, size):
    """Projections of all parts from r (6,); the others are scratch."""
    disc, spin = p.moments[c].drilling_arm > 0.0, p.spin[c]
    scales(p, c, scale)
    parts(p, c, scale, mu)
    step = 1.0 / (5.0 + scale[5] * scale[5] * spin[2, 2])  # the trace
    for _ in range(LOCAL):
        times(p, c, r, v)
        for j in range(6):
            r[j] = r[j] / scale[j] - step * scale[j] * (v[j] + q[j])
        project(r, mu, disc, size)
        for j in range(6):
            r[j] *= scale[j]


@kernel
def _drill(p, c, q, r, v, known):
    """r_N, r_T and χ_S of (3) for given χ_R in r (6,), one after the other; the others are scratch."""
    W, spin, mixed, arm = p.block[c], p.spin[c], p.mixed[c], p.moments[c].drilling_arm
    u_n = q[0]
    for j in range(3):
        u_n += W[0, j] * r[j] + mixed[j, 0] * r[3 + j]
    r[0] = max(r[0] - u_n / W[0, 0], 0.0)
    if r[0] == 0.0:
        return
    times(p, c, r, v)
    A00, A01, A11 = W[1, 1], W[1, 2], W[2, 2]
    A02, A12, A22 = arm * mixed[2, 1], arm * mixed[2, 2], arm * arm * spin[2, 2]
    f0, f1, f2 = r[1], r[2], r[5] / arm
    known[0] = v[1] + q[1] - (A00 * f0 + A01 * f1 + A02 * f2)
    known[1] = v[2] + q[2] - (A01 * f0 + A11 * f1 + A12 * f2)
    known[2] = arm * (v[5] + q[5]) - (A02 * f0 + A12 * f1 + A22 * f2)
    slip = math.sqrt((v[1] + q[1]) ** 2 + (v[2] + q[2]) ** 2 + (arm * (v[5] + q[5])) ** 2)
    size = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
    start = min(slip / size, LARGEST * (A00 + A11 + A22)) if size > 0.0 else 0.0
    r[1], r[2], f2 = _in_ball(A00, A01, A02, A11, A12, A22, known, p.mu[c] * r[0], start)
    r[5] = arm * f2


@kernel
def _solved(A00, A01, A02, A11, A12, A22, b0, b1, b2):
    """Solution of a symmetric system with three unknowns."""
    c00, c01, c02 = A11 * A22 - A12 * A12, A02 * A12 - A01 * A22, A01 * A12 - A02 * A11
    c11, c12, c22 = A00 * A22 - A02 * A02, A01 * A02 - A00 * A12, A00 * A11 - A01 * A01
    det = A00 * c00 + A01 * c01 + A02 * c02
    return (
        (c00 * b0 + c01 * b1 + c02 * b2) / det,
        (c01 * b0 + c11 * b1 + c12 * b2) / det,
        (c02 * b0 + c12 * b1 + c22 * b2) / det,
    )


@kernel
def _in_ball(A00, A01, A02, A11, A12, A22, q, radius, more):
    """The f with |f| ≤ radius and A f + q = −λ f, λ ≥ 0 where |f| = radius; Newton on 1/|f(λ)| from λ = more ≥ 0."""
    if radius <= 0.0:
        return 0.0, 0.0, 0.0
    f0, f1, f2 = _solved(A00, A01, A02, A11, A12, A22, -q[0], -q[1], -q[2])
    size = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
    if size <= radius:
        return f0, f1, f2
    for _ in range(50):
        f0, f1, f2 = _solved(A00 + more, A01, A02, A11 + more, A12, A22 + more, -q[0], -q[1], -q[2])
        size = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
        if abs(size - radius) <= EXACT * radius:
            break
        z0, z1, z2 = _solved(A00 + more, A01, A02, A11 + more, A12, A22 + more, f0, f1, f2)
        before = more
        # from above the first step goes below the root, from there on they rise
        more = max(more + size * size / (f0 * z0 + f1 * z1 + f2 * z2) * (size - radius) / radius, 0.0)
        if more == before:
            break
    part = radius / size if size > 0.0 else 0.0
    return part * f0, part * f1, part * f2


@kernel
def solve(p, c, q, r, v, known, force):
    """Coulomb's law and (2), (3) by turns from r (6,); v (6,), known, force (3,) are scratch."""
    mixed, spin, arm = p.mixed[c], p.spin[c], p.moments[c].drilling_arm
    S00, S01, S11 = spin[0, 0], spin[0, 1], spin[1, 1]
    largest = 0.5 * (S00 + S11 + math.sqrt((S00 - S11) ** 2 + 4.0 * S01 * S01))
    # normals have turned since moments were found: what has no law must not stay
    if p.moments[c].rolling_resistance == 0.0:
        r[3] = r[4] = 0.0
    if p.moments[c].spinning_resistance == 0.0 and arm == 0.0:
        r[5] = 0.0
    for _ in range(PASSES):
        if arm > 0.0:
            _drill(p, c, q, r, v, known)
        else:
            for j in range(3):
                known[j] = q[j] + mixed[0, j] * r[3] + mixed[1, j] * r[4] + mixed[2, j] * r[5]
                force[j] = r[j]
            solve_coulomb(p.block[c], known, p.mu[c], force)
            for j in range(3):
                r[j] = force[j]
        if r[0] <= 0.0:
            for j in range(6):
                r[j] = 0.0
            return
        moved, bound, rolling = 0.0, p.moments[c].spinning_resistance * r[0], p.moments[c].rolling_resistance * r[0]
        if bound + rolling == 0.0:
            return
        if arm == 0.0:
            times(p, c, r, v)
            new = min(max(r[5] - (v[5] + q[5]) / spin[2, 2], -bound), bound)
            moved, r[5] = abs(new - r[5]), new
        times(p, c, r, v)
        m0, m1 = r[3] - (v[3] + q[3]) / largest, r[4] - (v[4] + q[4]) / largest
        size = math.sqrt(m0 * m0 + m1 * m1)
        part = rolling / size if size > rolling else 1.0
        moved += abs(part * m0 - r[3]) + abs(part * m1 - r[4])
        r[3], r[4] = part * m0, part * m1
        if moved <= SETTLED * (bound + rolling):
            break
