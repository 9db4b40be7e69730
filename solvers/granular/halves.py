"""Two threads for the sweeps: grains on the left, grains on the right, and the pairs between them.

Half of the grains are below a plane normal to the longest side of the group, half above. Pairs within one half change
no grain of the other, so that both halves are swept at once, and then the pairs across, a few per cent:

    left | right   →   across and those that were listed later                                                      (1)

A second thread waits for halves in a loop. Whoever comes first takes the right half: the first thread does when it has
finished the left one and nobody has begun. What is computed does not depend on who does it, nor do the digits of a run.
What cannot move may be in pairs of both halves: both add zero to its velocity.

Source: docs/theory/contact_groups.md, The sweeps.
"""

import ctypes
import threading
from types import TracebackType

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.granular import lanes
from fem_mbs.solvers.granular.data import G_MASS, grains_at

LEFT, RIGHT, BOTH = 1, 2, 3  # `side` of a grain; what cannot move is on both
TICKET, TAKEN, DONE, STOP = 8, 24, 40, 56  # numbers of `shared`, each in a line of cache of its own
BISECTIONS, EVEN = 30, 0.01  # of the place of the plane, which ends when the halves differ by less than this part


def _pointer(builder, at):
    return builder.inttoptr(at, ir.IntType(64).as_pointer())


@intrinsic
def _read(typingctx, at):
    """Number at an address, and after it all that was written before it was `_tell`ed."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_pointer(builder, args[0]), "acquire", 8)

    return types.int64(types.int64), codegen


@intrinsic
def _tell(typingctx, at, value):
    """Write a number to an address, after all that was written before."""

    def codegen(context, builder, signature, args):
        builder.store_atomic(args[1], _pointer(builder, args[0]), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def _take(typingctx, at, before, after):
    """Change the number at an address from ``before`` to ``after``; False where somebody else has done so."""

    def codegen(context, builder, signature, args):
        found = builder.cmpxchg(_pointer(builder, args[0]), args[1], args[2], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(types.int64, types.int64, types.int64), codegen


@kernel
def begin(p):
    """List the pairs of a step: with two threads those of the left half, of the right one, and the others."""
    lanes.begin(p)
    p.left = p.right = 0  # groups before the ends of the halves
    if p.threads > 1:
        _divide(p)
        lanes.look(p, LEFT)
        p.left = p.groups
        lanes.look(p, RIGHT)
        p.right = p.groups


@kernel
def _divide(p):
    """Put each grain that can move on one side of a plane, half of them on each."""
    at, side, g, axis, widest, low, high = p.at, p.side, p.grains, 0, -1.0, 0.0, 0.0
    count = at.shape[0]
    for j in range(3):
        least = most = at[0, j]
        for i in range(count):
            least, most = min(least, at[i, j]), max(most, at[i, j])
        if most - least > widest:
            axis, widest, low, high = j, most - least, least, most
    middle = 0.5 * (low + high)
    for _ in range(BISECTIONS):
        below = 0
        for i in range(count):
            below += 1 if at[i, axis] < middle else 0
        if abs(2 * below - count) <= EVEN * count:
            break
        if 2 * below < count:
            low = middle
        else:
            high = middle
        middle = 0.5 * (low + high)
    for i in range(count):
        side[i] = BOTH if g[i, G_MASS] == 0.0 else LEFT if at[i, axis] < middle else RIGHT
    side[count] = BOTH


@kernel
def sweep(p, beta):
    """One sweep over all listed pairs; returns what `lanes.sweep` does."""
    if p.threads < 2 or p.right == p.left:
        return lanes.sweep(p, beta, 0, p.groups)
    shared = p.shared_at
    p.beta = beta
    ticket = _read(shared + 8 * TICKET) + 1
    _tell(shared + 8 * TICKET, ticket)
    estimate, work = lanes.sweep(p, beta, 0, p.left)
    if _take(shared + 8 * TAKEN, ticket - 1, ticket):
        _sweep_right(p)
    else:
        while _read(shared + 8 * DONE) != ticket:
            pass
    more, others = lanes.sweep(p, beta, p.right, p.groups)
    return estimate + p.sums[0] + more, work + p.sums[1] + others


@kernel
def _sweep_right(p):
    p.sums[0], p.sums[1] = lanes.sweep(p, p.beta, p.left, p.right)


@entry("void(int64, int64)")
def wait_for_halves(grains, unused):
    """Sweep the right half whenever it is there to be taken, until somebody says stop."""
    p = grains_at(grains)[0]
    shared = p.shared_at
    seen = _read(shared + 8 * TICKET)
    while _read(shared + 8 * STOP) == 0:
        ticket = _read(shared + 8 * TICKET)
        if ticket != seen:
            seen = ticket
            if _take(shared + 8 * TAKEN, ticket - 1, ticket):
                _sweep_right(p)
                _tell(shared + 8 * DONE, ticket)


class SecondThread:
    """The second thread of the sweeps of a contact group, while compiled code runs: ``with SecondThread(…):``.

    Parameters
    ----------
    record : (1,) record of `granular.data`
    arrays : dict of its arrays; they must not be replaced meanwhile
    """

    def __init__(self, record: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
        self.stop, self.thread = arrays["shared"][STOP : STOP + 1], None
        if record[0]["threads"] > 1:
            run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(wait_for_halves.address)
            at = int(record[0]["self_at"])
            self.thread = threading.Thread(target=run, args=(at, 0), daemon=True)  # ctypes lets Python go on meanwhile

    def __enter__(self) -> None:
        self.stop[0] = 0
        if self.thread is not None:
            self.thread.start()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop[0] = 1
        if self.thread is not None:
            self.thread.join()
