"""Parts of arrays as vectors, whose indices a compiler sees not to be negative: loops over these become fast."""

from fem_mbs.jit import address_of, kernel, vector


@kernel
def part(A, i, first, count):
    """Entries first … of row i of A (rows, n), ``count`` of them."""
    return vector(address_of(A) + 8 * (i * A.shape[1] + first), count)


@kernel
def flat(A):
    """All entries of A (rows, n)."""
    return vector(address_of(A), A.shape[0] * A.shape[1])
