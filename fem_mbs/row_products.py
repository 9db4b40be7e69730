"""Sums of rows of numbers with vector instructions, for kernels whose programs do not make loops of vectors.

Steps and assembly go over short loops, for which LLVM would write much code (`fem_mbs.compiled.compiler`, `Loops`).
The few long rows among them, of matrices of elements, are summed here, four numbers at once. Each product and each sum
is rounded as in a plain loop: results are the same to the last bit.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 4  # numbers at once: 32 bytes, a vector register of x86-64-v3; others take them in two halves
WIDE = 3  # vectors of a row that are summed side by side: the twelve components of two nodes
_DOUBLE, _INDEX = ir.DoubleType(), ir.IntType(64)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


def _filled(builder, number):
    """A vector of the same number."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _columns(builder, begin, end, vectors, m, weights, rows, stride, total):
    """Code that sums columns ``begin`` … ``end`` of the rows in registers, so many vectors at a time; 0: a number."""
    kind, parts, width = (_VECTOR, vectors, LANES) if vectors else (_DOUBLE, 1, 1)
    with cgutils.for_range_slice(builder, begin, end, _INDEX(parts * width), _INDEX) as (k, _):
        first = builder.gep(total, [k])
        places = [builder.bitcast(builder.gep(first, [_INDEX(width * i)]), kind.as_pointer()) for i in range(parts)]
        sums = [cgutils.alloca_once(builder, kind) for _ in places]
        for place, held in zip(places, sums):
            builder.store(builder.load(place, align=8), held)
        with cgutils.for_range(builder, m, intp=_INDEX) as loop:
            weight = builder.load(builder.gep(weights, [loop.index]))
            weight = _filled(builder, weight) if vectors else weight
            row = builder.gep(rows, [builder.add(k, builder.mul(stride, loop.index))])
            for i, held in enumerate(sums):
                at = builder.bitcast(builder.gep(row, [_INDEX(width * i)]), kind.as_pointer())
                added = builder.fmul(weight, builder.load(at, align=8))
                builder.store(builder.fadd(builder.load(held), added), held)
        for place, held in zip(places, sums):
            builder.store(builder.load(held), place, align=8)


@intrinsic
def add_rows(typingctx, m, n, weights, rows, stride, total):
    """Add the sum of m rows of n numbers, times a weight each, to n numbers that do not overlap them.

    ``weights``, ``rows``, ``total`` are addresses, ``stride`` is the distance from a row to the next, in numbers.
    """

    def codegen(context, builder, signature, args):
        m, n, weights, rows, stride, total = (
            context.cast(builder, value, given, types.int64) for value, given in zip(args, signature.args)
        )
        weights, rows, total = (builder.inttoptr(at, _DOUBLE.as_pointer()) for at in (weights, rows, total))
        wide = builder.mul(builder.sdiv(n, _INDEX(WIDE * LANES)), _INDEX(WIDE * LANES))
        whole = builder.and_(n, _INDEX(-LANES))
        for begin, end, vectors in ((_INDEX(0), wide, WIDE), (wide, whole, 1), (whole, n, 0)):
            _columns(builder, begin, end, vectors, m, weights, rows, stride, total)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), codegen


@intrinsic
def combine(typingctx, n, keep, a, x, b, y, total):
    """Set n numbers to a x + b y, or with ``keep`` = 1 add that to them; x, y, ``total``: addresses, equal or apart."""
    wanted = (types.int64, types.int64, types.float64, types.int64, types.float64, types.int64, types.int64)

    def codegen(context, builder, signature, args):
        n, keep, a, x, b, y, total = (
            context.cast(builder, value, given, kind) for value, given, kind in zip(args, signature.args, wanted)
        )
        x, y, total = (builder.inttoptr(at, _DOUBLE.as_pointer()) for at in (x, y, total))
        added = builder.icmp_signed("!=", keep, _INDEX(0))
        whole = builder.and_(n, _INDEX(-LANES))
        for begin, end, vectors in ((_INDEX(0), whole, 1), (whole, n, 0)):
            kind, width = (_VECTOR, LANES) if vectors else (_DOUBLE, 1)
            factors = [_filled(builder, factor) if vectors else factor for factor in (a, b)]
            with cgutils.for_range_slice(builder, begin, end, _INDEX(width), _INDEX) as (k, _):
                at = [builder.bitcast(builder.gep(place, [k]), kind.as_pointer()) for place in (x, y, total)]
                products = [builder.fmul(f, builder.load(place, align=8)) for f, place in zip(factors, at)]
                value = builder.fadd(*products)
                value = builder.select(added, builder.fadd(builder.load(at[2], align=8), value), value)
                builder.store(value, at[2], align=8)
        return context.get_dummy_value()

    return types.void(*wanted), codegen
