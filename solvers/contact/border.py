"""Active contacts around factors of the smooth motion: a Newton step of a correction without a matrix of its own.

The matrix of a correction with unknowns x = (U, ν) is the one without contacts, K, and what each active contact adds.
With its gradients D (3 rows: normal, two tangential), y = D T(U) u of its Newton step u and its multipliers z

    K x + Σ Dᵀ (S_yy y + S_yz z) = r ,      S_zy y + S_zz z = r_z                                                  (1)

S (6, 6) is the tangent of the law for unit gradients (`contact.law`, (5), (6)). With the columns X = K⁻¹ Dᵀ and
x_0 = K⁻¹ r, which the factors of another problem give (`stepping.kernels.shared_factors`), six equations per contact
are left:

    y + D T Σ X (S_yy y + S_yz z) = D T x_0 ,      S_zy y + S_zz z = r_z ;      x = x_0 − Σ X (S_yy y + S_yz z)    (2)

What contacts add by their curvature is left out: as K it decides how fast residuals contract, not what is solved.

Source: elimination by blocks, worked out here.

    symbol   code    shape             meaning
    X        X       (3 contacts, u)   columns, one below the other
    y, z     small   (6 contacts,)     solution of (2), y and z of one contact after the other
"""

from fem_mbs.jit import entry, integer_matrix, integers, kernel, local_matrix, local_vector, vector
from fem_mbs.solvers.contact.law import GAP, cone_tangent, normal_tangent, open_rows
from fem_mbs.solvers.contact.law_rows import gradient_of, place_of
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.newton import problem_at
from fem_mbs.solvers.stepping.kernels.shared_factors import BORDERED, borrowed_solve
from fem_mbs.system.contacts import contact_groups, contacts_of, laws_of
from fem_mbs.system.records import POSITION


@kernel
def solve_column(d, p, s, g, e, i, at):
    """Fill the column at an address with K⁻¹ times row i of D."""
    x = vector(at, d.n + d.m)
    nodes, dof = integer_matrix(g.nodes_at, g.n, g.nn), integers(d.dof_at, 6 * d.n_nodes)
    row, empty = gradient_of(g, e, POSITION, i), True
    for j in range(len(x)):
        x[j] = 0.0
    for a in range(g.nn):
        for j in range(6):
            k, value = dof[6 * nodes[e, a] + j], row[6 * a + j]
            if k >= 0 and value != 0.0:
                x[k] += value
                empty = False
    if not empty:  # the second tangential direction of planar models
        borrowed_solve(d, p, s, at)


@kernel
def along(d, s, g, e, i, x):
    """Row i of D times T(U) times the velocities in x."""
    nodes, dof = integer_matrix(g.nodes_at, g.n, g.nn), integers(d.dof_at, 6 * d.n_nodes)
    contact, row, T = contacts_of(g), gradient_of(g, e, POSITION, i), s.T
    move, total = local_vector(6), 0.0
    for a in range(g.nn):
        n = nodes[e, a]
        for j in range(6):
            k = dof[6 * n + j]
            move[j] = x[k] if k >= 0 else 0.0
        for j in range(3):
            turn = move[3 + j]
            if contact.theta[e] == 0.0:
                turn = T[n, j, 0] * move[3] + T[n, j, 1] * move[4] + T[n, j, 2] * move[5]
            total += row[6 * a + j] * move[j] + row[6 * a + 3 + j] * turn
    return total


@kernel
def unit_tangent(s, g, e, S):
    """Tangent S (6, 6) of the law of an active contact in y and z, as in `position_contact_tangents`."""
    unit, slip, lam = local_matrix(3, 3), local_vector(3), local_vector(3)
    contact, law, c, k = contacts_of(g), laws_of(g), g.first_contact + e, s.kp
    S[:, :] = 0.0
    for i in range(3):
        for j in range(3):
            unit[i, j] = 1.0 if i == j else 0.0
    normal_tangent(S, 3, 3, unit[0], k, s.pp)
    if law[e].friction == 0.0:
        open_rows(S, 4, 2, k, s.pp_T)
    else:
        for i in range(2):
            slip[i], lam[i] = contact.slip[e, i], s.cnu[c, 1 + i]
        xi_N = k * s.cnu[c, 0] - s.pp * contact.gap[e]
        cone_tangent(S, 3, 3, 4, unit[0], unit[1:], 2, k, s.pp, s.pp_T, law[e].friction, xi_N, lam, slip)
    for i in range(3):  # proximal: redundant contacts
        S[3 + i, 3 + i] -= s.epsilon * k * k / (s.pp if i == 0 else s.pp_T)


@kernel
def eliminate(A, n):
    """Solve A[:n, :n] x = A[:n, n] with partial pivoting, x in the last column; False when A is singular."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0.0:
            return False
        for j in range(k, n + 1):
            A[k, j], A[best, j] = A[best, j], A[k, j]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k, n + 1):
                A[i, j] -= factor * A[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            A[k, n] -= A[k, j] * A[j, n]
        A[k, n] /= A[k, k]
    return True


@kernel
def columns(d, p, s):
    """Find the active contacts, and solve for their columns where an earlier iteration has not done so.

    Returns how many these are; none is solved for more than `BORDERED`.
    """
    groups, of, count, same = contact_groups(d), s.border_of, 0, True
    for a in range(len(groups)):
        g = groups[a]
        for e in range(g.n):
            if s.status[g.first_contact + e] == GAP:
                continue
            if count < BORDERED:
                same = same and of[count, 0] == a and of[count, 1] == e
                of[count, 0], of[count, 1] = a, e
            count += 1
    same = same and of[BORDERED, 0] == count
    of[BORDERED, 0] = count
    if count <= BORDERED and not same:
        for b in range(count):
            for i in range(3):
                solve_column(d, p, s, groups[of[b, 0]], of[b, 1], i, s.border_at + 8 * (3 * b + i) * s.size_u)
    return count


@kernel
def fill_small(d, s, X, count, x, S, small):
    """Fill the matrix and the right-hand side of (2), and S (6 count, 6) of the contacts."""
    groups = contact_groups(d)
    for b in range(count):
        g, e = groups[s.border_of[b, 0]], s.border_of[b, 1]
        unit_tangent(s, g, e, S[6 * b : 6 * b + 6])
        for i in range(3):
            row = 6 * b + i
            for j in range(6 * count):
                small[row, j] = small[row + 3, j] = 0.0
            small[row, 6 * count] = along(d, s, g, e, i, x)
            small[row + 3, 6 * count] = x[place_of(d, POSITION, g.first_contact + e, i)]
            for j in range(6):
                small[row + 3, 6 * b + j] = S[6 * b + 3 + i, j]
    for b in range(count):
        g, e = groups[s.border_of[b, 0]], s.border_of[b, 1]
        for i in range(3):
            small[6 * b + i, 6 * b + i] += 1.0
            for k in range(3 * count):
                w = along(d, s, g, e, i, X[k])
                for j in range(6):
                    small[6 * b + i, 6 * (k // 3) + j] += w * S[6 * (k // 3) + k % 3, j]


@entry("void(int64, int64)")
def position_border(data, run):
    """Newton step of the position correction in dx, from the right-hand side there; ``s.bordered``: whether it is
    used.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    p, X, rows = problem_at(s.solving)[0], s.border, d.n + d.m
    S, small = local_matrix(12, 6), local_matrix(12, 13)  # of `BORDERED` contacts
    x = s.dx
    s.bordered = 0
    count = columns(d, p, s)
    if count > BORDERED:
        return
    borrowed_solve(d, p, s, s.dx_at)
    fill_small(d, s, X, count, x, S, small)
    if not eliminate(small, 6 * count):
        return
    for c in range(d.nc):
        if s.status[c] == GAP:
            for i in range(3):
                x[place_of(d, POSITION, c, i)] *= -(s.pp if i == 0 else s.pp_T) / (s.kp * s.kp)
    for b in range(count):
        g, e = contact_groups(d)[s.border_of[b, 0]], s.border_of[b, 1]
        for i in range(3):
            push = 0.0
            for j in range(6):
                push += S[6 * b + i, j] * small[6 * b + j, 6 * count]
            for j in range(rows):
                x[j] -= push * X[3 * b + i, j]
            x[place_of(d, POSITION, g.first_contact + e, i)] = small[6 * b + 3 + i, 6 * count]
    s.bordered = 1
