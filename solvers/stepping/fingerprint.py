"""Whether a model is the one that a checkpoint was written of: sums over all that a system is made of.

Addresses among the parameters of elements are left out, and the initial state, which comes with the checkpoint.
Functions of time have no sum; what they give at some times is compared.
"""

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import label
from fem_mbs.signals import Held

if TYPE_CHECKING:
    from fem_mbs.system.system import System

ADDRESS = 2**31  # integers among parameters that are larger are addresses
SAME = 1e-12  # of the size of a value: functions of time that are the same


def _digest(*arrays):
    """Sum of arrays and their shapes."""
    total = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(array)
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()[:32]


def _without_addresses(records):
    """Arrays of the fields of parameter records."""
    found = []
    for name in records.dtype.names or ():
        field = records[name]
        if field.dtype.names:
            found += _without_addresses(field)
        else:
            found.append(np.where(np.abs(field) > ADDRESS, 0, field) if field.dtype.kind == "i" else field)
    return found


def fingerprint(system: "System") -> dict[str, str]:
    """Sums by what they are of, in words."""
    found = {
        "number of nodes": str(len(system.nodes)),
        "free components": _digest(system.free),
        "gravity": _digest(system.gravity),
    }
    counted: dict[str, int] = {}
    for group in (group for group in system.groups if not hasattr(group, "pairs")):
        kind = type(group.elements[0]).__name__
        number = counted[kind] = counted.get(kind, 0) + 1
        name = f"elements of type {kind}" + (f" ({number})" if number > 1 else "")
        arrays = [group.nodes, group.laws, *_without_addresses(group.parameters)]
        found[name] = f"{group.n} {sorted(group.sizes.items())} {_digest(*arrays)}"
    for search in system.searches:
        arrays = [search.nodes, search.offsets, search.radii, search.materials, search.laws, search.thickness]
        for group in search.groups:
            arrays += [group.partner_nodes, *(_without_addresses(group.prototypes) if group.partners else [])]
        found[label(search.owner)] = _digest(*arrays)
    return found


def signals_of(system: "System", times: list[float]) -> np.ndarray:
    """Values and derivatives (k, signals, 3) of all functions of time at some times, of held ones as they begin."""
    before, clock, values = system.signal_values.copy(), system.workspace.buffer["t"].copy(), []
    helds = {
        held: held.now for signal in system.signals for held in (Held.among(signal, times[0]) if Held.made else ())
    }
    for held in helds:
        held.set(held.initial)
    for t in times:
        system.update_signals(t)
        values.append(system.signal_values[: len(system.signals)].copy())
    system.signal_values[:], system.workspace.buffer["t"][:] = before, clock
    for held, value in helds.items():
        held.set(value)
    return np.array(values).reshape(len(times), len(system.signals), 3)


def difference(system: "System", saved: dict[str, Any]) -> str:
    """What is not as in a checkpoint, in words; "" where all is the same."""
    expected, found = saved["fingerprint"], fingerprint(system)
    for name in sorted({*expected, *found}):
        if expected.get(name) != found.get(name):
            return name
    values = signals_of(system, saved["times"])
    if values.shape != saved["signals"].shape:
        return "number of functions of time"
    size = np.abs(saved["signals"]).max(axis=0, initial=1.0)
    wrong = np.abs(values - saved["signals"]) > SAME * size
    if wrong.any():
        k, number, _ = np.argwhere(wrong)[0]
        return f"function of time of {label(system.signal_owner[number])} at t = {saved['times'][k]:.6g} s"
    return ""
