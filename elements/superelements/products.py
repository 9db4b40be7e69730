"""Products with constant matrices and with matrices of columns: the inner loops of the kernels of a superelement.

Columns are directions in which something is differentiated. Loops over them, and along rows of matrices, are those
that a compiler turns into instructions for vectors; products and sums may be one instruction (``fused``).
"""

from fem_mbs.jit import kernel


@kernel(fused=True)
def add_times_T(A, u, out):
    """Add Aᵀ u to out (n,), A (k, ≥ n), u of k or more numbers."""
    k, n = A.shape[0], out.shape[0]
    for j in range(0, k - 3, 4):
        u0, u1, u2, u3 = u[j], u[j + 1], u[j + 2], u[j + 3]
        for i in range(n):
            out[i] += u0 * A[j, i] + u1 * A[j + 1, i] + u2 * A[j + 2, i] + u3 * A[j + 3, i]
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
    a0, a1, a2 = first * n, (first + 1) * n, (first + 2) * n
    for j in range(n):
        out[j] += s0 * row[a0 + j] + s1 * row[a1 + j] + s2 * row[a2 + j]


@kernel(fused=True)
def add_columns(scale, A, rows, X, x, out, o, count):
    """Add scale A X to columns o … of out, from columns x … of X (k, …), ``count`` of them; A (rows, ≥ k).

    k is a multiple of three.
    """
    for i in range(rows):
        for k in range(0, X.shape[0], 3):
            a0, a1, a2 = scale * A[i, k], scale * A[i, k + 1], scale * A[i, k + 2]
            for j in range(count):
                out[i, o + j] += a0 * X[k, x + j] + a1 * X[k + 1, x + j] + a2 * X[k + 2, x + j]


@kernel(fused=True)
def add_columns_T(scale, A, first, rows, X, x, out, o, count):
    """Add scale Aᵀ X as `add_columns` does, A (k, ≥ first + rows) from column ``first`` on."""
    for i in range(rows):
        for k in range(0, X.shape[0], 3):
            a0, a1, a2 = scale * A[k, first + i], scale * A[k + 1, first + i], scale * A[k + 2, first + i]
            for j in range(count):
                out[i, o + j] += a0 * X[k, x + j] + a1 * X[k + 1, x + j] + a2 * X[k + 2, x + j]


@kernel
def clear_columns(out, o, count):
    """Set columns o … of out, ``count`` of them, to zero."""
    for i in range(out.shape[0]):
        for j in range(o, o + count):
            out[i, j] = 0.0


@kernel
def copy_columns(X, x, out, o, count):
    """Fill columns o … of out with columns x … of the same rows of X."""
    for i in range(out.shape[0]):
        for j in range(count):
            out[i, o + j] = X[i, x + j]


@kernel
def sum_columns(a, X, x, b, Y, y, out, o, count):
    """Fill columns o … of out with a times columns x … of the same rows of X and b times columns y … of Y."""
    for i in range(out.shape[0]):
        for j in range(count):
            out[i, o + j] = a * X[i, x + j] + b * Y[i, y + j]


@kernel(fused=True)
def multiply_columns(A, X, x, count):
    """Replace columns x … of X (3, …), ``count`` of them, by A (3, 3) times these."""
    a00, a01, a02 = A[0, 0], A[0, 1], A[0, 2]
    a10, a11, a12 = A[1, 0], A[1, 1], A[1, 2]
    a20, a21, a22 = A[2, 0], A[2, 1], A[2, 2]
    for j in range(x, x + count):
        x0, x1, x2 = X[0, j], X[1, j], X[2, j]
        X[0, j] = a00 * x0 + a01 * x1 + a02 * x2
        X[1, j] = a10 * x0 + a11 * x1 + a12 * x2
        X[2, j] = a20 * x0 + a21 * x1 + a22 * x2
