"""Products with constant matrices and with matrices of columns: the inner loops of the kernels of a superelement.

Columns are directions in which something is differentiated. Loops over them, and along rows of matrices, are those
that a compiler turns into instructions for vectors; products and sums may be one instruction (``fused``).
"""

from fem_mbs.elements.superelements.views import part
from fem_mbs.jit import address_of, kernel, vector


@kernel(fused=True)
def add_times_T(A, u, out):
    """Add Aᵀ u to out (n,), A (k, ≥ n), u of k or more numbers."""
    k, n = A.shape[0], out.shape[0]
    for j in range(0, k - 3, 4):
        u0, u1, u2, u3 = u[j], u[j + 1], u[j + 2], u[j + 3]
        a0, a1, a2, a3 = part(A, j, 0, n), part(A, j + 1, 0, n), part(A, j + 2, 0, n), part(A, j + 3, 0, n)
        for i in range(n):
            out[i] += u0 * a0[i] + u1 * a1[i] + u2 * a2[i] + u3 * a3[i]
    for j in range(k - k % 4, k):
        u0 = u[j]
        for i in range(n):
            out[i] += u0 * A[j, i]


@kernel
def times_T(A, u, out):
    """Fill out (n,) with Aᵀ u, A (k, ≥ n), u of k or more numbers."""
    out[:] = 0.0
    add_times_T(A, u, out)


@kernel(fused=True)
def add_scaled(scale, u, out):
    """Add scale times u to out, of as many numbers as out has."""
    for i in range(out.shape[0]):
        out[i] += scale * u[i]


@kernel(fused=True)
def product(a, b, n):
    """a · b of the first n numbers, in four sums."""
    s0 = s1 = s2 = s3 = 0.0
    for i in range(0, n - 3, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(n - n % 4, n):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@kernel(fused=True)
def add_combination(scale, row, first, out):
    """Add Σ_k scale_k A_k to out (n,), for k = first, first + 1, first + 2, and ``row`` the rows A_0, A_1 … in one."""
    n = out.shape[0]
    s0, s1, s2 = scale[first], scale[first + 1], scale[first + 2]
    at = address_of(row) + 8 * first * n
    a0, a1, a2 = vector(at, n), vector(at + 8 * n, n), vector(at + 16 * n, n)
    for j in range(n):
        out[j] += s0 * a0[j] + s1 * a1[j] + s2 * a2[j]


@kernel(fused=True)
def add_columns(scale, A, rows, X, x, out, o, count):
    """Add scale A X to columns o … of out, from columns x … of X (k, …), ``count`` of them; A (rows, ≥ k).

    k is a multiple of three.
    """
    for i in range(rows):
        y = part(out, i, o, count)
        for k in range(0, X.shape[0], 3):
            a0, a1, a2 = scale * A[i, k], scale * A[i, k + 1], scale * A[i, k + 2]
            x0, x1, x2 = part(X, k, x, count), part(X, k + 1, x, count), part(X, k + 2, x, count)
            for j in range(count):
                y[j] += a0 * x0[j] + a1 * x1[j] + a2 * x2[j]


@kernel(fused=True)
def add_columns_T(scale, A, first, rows, X, x, out, o, count):
    """Add scale Aᵀ X as `add_columns` does, A (k, ≥ first + rows) from column ``first`` on."""
    for i in range(rows):
        y = part(out, i, o, count)
        for k in range(0, X.shape[0], 3):
            a0, a1, a2 = scale * A[k, first + i], scale * A[k + 1, first + i], scale * A[k + 2, first + i]
            x0, x1, x2 = part(X, k, x, count), part(X, k + 1, x, count), part(X, k + 2, x, count)
            for j in range(count):
                y[j] += a0 * x0[j] + a1 * x1[j] + a2 * x2[j]


@kernel
def clear_columns(out, o, count):
    """Set columns o … of out, ``count`` of them, to zero."""
    for i in range(out.shape[0]):
        y = part(out, i, o, count)
        for j in range(count):
            y[j] = 0.0


@kernel
def copy_columns(X, x, out, o, count):
    """Fill columns o … of out with columns x … of the same rows of X."""
    for i in range(out.shape[0]):
        y, from_x = part(out, i, o, count), part(X, i, x, count)
        for j in range(count):
            y[j] = from_x[j]


@kernel
def sum_columns(a, X, x, b, Y, y, out, o, count):
    """Fill columns o … of out with a times columns x … of the same rows of X and b times columns y … of Y."""
    for i in range(out.shape[0]):
        found, one, two = part(out, i, o, count), part(X, i, x, count), part(Y, i, y, count)
        for j in range(count):
            found[j] = a * one[j] + b * two[j]


@kernel(fused=True)
def multiply_columns(A, X, x, count):
    """Replace columns x … of X (3, …), ``count`` of them, by A (3, 3) times these."""
    a00, a01, a02 = A[0, 0], A[0, 1], A[0, 2]
    a10, a11, a12 = A[1, 0], A[1, 1], A[1, 2]
    a20, a21, a22 = A[2, 0], A[2, 1], A[2, 2]
    one, two, three = part(X, 0, x, count), part(X, 1, x, count), part(X, 2, x, count)
    for j in range(count):
        x0, x1, x2 = one[j], two[j], three[j]
        one[j] = a00 * x0 + a01 * x1 + a02 * x2
        two[j] = a10 * x0 + a11 * x1 + a12 * x2
        three[j] = a20 * x0 + a21 * x1 + a22 * x2


@kernel
def add_by_nodes(scale, row, x, out, o, count):
    """Add scale times entries x … of a row, three for each node, to the translations of nodes in out, from o on."""
    y, given = vector(address_of(out) + 8 * o, 2 * count + 3), vector(address_of(row) + 8 * x, count)
    for k in range(count // 3):
        y[6 * k] += scale * given[3 * k]
        y[6 * k + 1] += scale * given[3 * k + 1]
        y[6 * k + 2] += scale * given[3 * k + 2]
    for j in range(count - count % 3, count):
        y[6 * (j // 3) + j % 3] += scale * given[j]
