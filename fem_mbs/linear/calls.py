"""Calls of functions of LAPACK and KLU at their addresses, from compiled code."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _foreign_call(count):
    """Signature and code of ``int64 f(int64 × count)`` called at an address."""

    def codegen(context, builder, signature, args):
        i64 = ir.IntType(64)
        pointer = builder.inttoptr(args[0], ir.FunctionType(i64, [i64] * count).as_pointer())
        return builder.call(pointer, list(args[1:]))

    return types.int64(*[types.int64] * (count + 1)), codegen


@intrinsic
def call5(typingctx, f, a, b, c, d, e):
    return _foreign_call(5)


@intrinsic
def call6(typingctx, f, a, b, c, d, e, g):
    return _foreign_call(6)


@intrinsic
def call9(typingctx, f, a, b, c, d, e, g, h, i, j):
    return _foreign_call(9)
