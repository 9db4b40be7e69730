"""Small vectors and matrices with one derivative: element [0] is the value, [1] its derivative in one direction.

Kernels that are written with them give forces and columns of their tangents by the same lines.

    (A b)' = A' b + A b' ,     (a × b)' = a' × b + a × b'                                                          (1)

Source: elementary; Griewank & Walther, Evaluating Derivatives (2008), ch. 3 (forward mode).
"""

from fem_mbs.jit import kernel
from fem_mbs.rotations import add_cross


@kernel
def dual_cross(scale, a, b, c):
    """Add scale a × b to c; all (2, 3)."""
    add_cross(scale, a[0], b[0], c[0])
    add_cross(scale, a[1], b[0], c[1])
    add_cross(scale, a[0], b[1], c[1])


@kernel
def dual_multiply(scale, A, b, c):
    """Add scale A b to c (2, 3), A (2, 3, 3)."""
    for i in range(3):
        for j in range(3):
            c[0, i] += scale * A[0, i, j] * b[0, j]
            c[1, i] += scale * (A[1, i, j] * b[0, j] + A[0, i, j] * b[1, j])


@kernel
def dual_multiply_T(scale, A, b, c):
    """Add scale Aᵀ b to c (2, 3), A (2, 3, 3)."""
    for i in range(3):
        for j in range(3):
            c[0, i] += scale * A[0, j, i] * b[0, j]
            c[1, i] += scale * (A[1, j, i] * b[0, j] + A[0, j, i] * b[1, j])


@kernel
def dual_trace(A, b, c, scale):
    """Add scale tr(A) b to c (2, 3)."""
    value = A[0, 0, 0] + A[0, 1, 1] + A[0, 2, 2]
    rate = A[1, 0, 0] + A[1, 1, 1] + A[1, 2, 2]
    for i in range(3):
        c[0, i] += scale * value * b[0, i]
        c[1, i] += scale * (rate * b[0, i] + value * b[1, i])


@kernel
def dual_dot(a, b, n, c):
    """Fill c (2,) with a·b of the first n components, a and b (2, n)."""
    value = rate = 0.0
    for i in range(n):
        value += a[0, i] * b[0, i]
        rate += a[1, i] * b[0, i] + a[0, i] * b[1, i]
    c[0], c[1] = value, rate


@kernel
def add_scaled(c, k, a, n, out):
    """Add c[:, k] times a to out, a and out (2, n), c (2, …)."""
    value, rate = c[0, k], c[1, k]
    for i in range(n):
        out[0, i] += value * a[0, i]
        out[1, i] += value * a[1, i]
    if rate != 0.0:
        for i in range(n):
            out[1, i] += rate * a[0, i]


@kernel
def copy(a, out):
    """Fill out with a, both (2, n)."""
    for e in range(2):
        for i in range(a.shape[1]):
            out[e, i] = a[e, i]


@kernel
def product(A, n, derivative, u, out):
    """Fill out[derivative] (n,) with Aᵀ u[derivative], A (n, n) constant; sums run along rows of A."""
    out[derivative, :] = 0.0
    for j in range(n):
        value = u[derivative, j]
        if value != 0.0:
            for i in range(n):
                out[derivative, i] += value * A[j, i]
