"""Questions to elements about a pose that a solver is about to accept: is it within what they are made for?

An element answers with its kernel ``trouble``: 0.0, or a number that says what is wrong. Its method ``trouble(state)``
says the same in words. Compiled steppers ask `trouble_of` once for each accepted step; it costs one pass over the
elements that have such a kernel, and nothing in models without them.

What is worth a remark but no reason to stop is told afterwards, from the outputs that were saved: method
``remark(histories)`` of an element, `remarks` of all. They see some saved states, and those in which an output that the
element names in ``peaks`` is largest.
"""

from typing import Any

import numpy as np

from fem_mbs.errors import label
from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, vector
from fem_mbs.system.assembly import gather_poses, groups_of

_X, _R, _ENERGY = SLOT["x"], SLOT["R"], SLOT["energy"]


@kernel
def trouble_of(d, x, R):
    """Number of the first element whose kernel ``trouble`` answers at poses x (N, 3), R (N, 3, 3); −1 if none does.

    Elements are numbered group by group, see `element_at`.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    answer = vector(b[_ENERGY], 1)
    first = 0
    for k in range(d.n_groups):
        g = groups[k]
        if g.trouble != 0:
            for e in range(g.n):
                gather_poses(g, e, b, x, R)
                call2(g.trouble, g.parameters_at + e * g.stride, d.table_at)
                if answer[0] > 0.0:
                    return first + e
        first += g.n
    return -1


def element_at(system: Any, number: int) -> Any:
    """The element with a number of `trouble_of`."""
    for group in system.groups:
        if number < group.n:
            return group.elements[number]
        number -= group.n
    raise IndexError(f"the system has no element with this number: {number} too many")


def trouble(system: Any, state: Any) -> tuple[Any, str] | None:
    """The first element in trouble at a `State` and what is wrong in words, or None."""
    number = int(trouble_of(system.data[0], state.x, state.R))
    if number < 0:
        return None
    element = element_at(system, number)
    return element, element.trouble(state)


def peaks(system: Any, outputs: np.ndarray) -> np.ndarray:
    """Rows (j,) of outputs (k, n_outputs) in which one that elements name in ``peaks`` is largest."""
    slices = [at[name] for element, at in system.output_slices.items() for name in getattr(element, "peaks", ())]
    return np.unique([outputs[:, at].max(axis=1).argmax() for at in slices]).astype(int)


def remarks(system: Any, outputs: np.ndarray) -> list[str]:
    """What elements remark on the outputs of saved states (k, n_outputs): list of texts, one for each kind of remark.

    Each text names the element for which it matters most and says how many others there are.
    """
    found = {}
    for element, slices in system.output_slices.items():
        if hasattr(element, "remark"):
            for kind, size, text in element.remark({name: outputs[:, at] for name, at in slices.items()}):
                found.setdefault(kind, []).append((size, label(element), text))
    texts = []
    for several in found.values():
        _, who, text = max(several)
        others = f" (and {len(several) - 1} more)" if len(several) > 1 else ""
        texts.append(f"{who}{others}: {text}")
    return texts
