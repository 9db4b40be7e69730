"""Whether a model is the one that a checkpoint was written of: sums over all that a system is made of.

Addresses among the parameters of elements are left out, and the initial state, which comes with the checkpoint; the
tables that are at these addresses are not. What functions of time give at some times is compared; what they and other
functions in Python are made of has sums of its own (`stepping.saved.laws`).
"""

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.element.base import Element
from fem_mbs.element.members import HasScratch
from fem_mbs.errors import label
from fem_mbs.functions.signals import Held
from fem_mbs.jit import address
from fem_mbs.nodes import Frame, Node

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

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


def _arrays_in(value, found, depth=3):
    """Add the arrays that an element has, by address; those of its nodes and of other elements are theirs."""
    if isinstance(value, np.ndarray):
        if value.size:  # empty ones that come from a file may all have one address
            found[address(value)] = value
    elif depth and isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            _arrays_in(part, found, depth - 1)
    elif depth and hasattr(value, "__dict__") and not isinstance(value, (type, Element, Node, Frame)):
        _arrays_in(_parts(value), found, depth)


def _parts(owner):
    """Values of the attributes of an object, of an element but for its ``scratch``."""
    scratch = owner.scratch if isinstance(owner, HasScratch) else ()
    return [value for name, value in vars(owner).items() if name not in scratch]


def _tables(group):
    """Arrays whose addresses are among the parameters of a group, in their order."""
    found = []
    names = [name for name in group.parameters.dtype.names or () if group.parameters[name].dtype.kind == "i"]
    for element, record in zip(group.elements, group.parameters):
        at = [number for name in names for number in np.ravel(record[name]).tolist() if abs(number) > ADDRESS]
        if at:
            arrays: dict[int, np.ndarray] = {}
            _arrays_in(_parts(element), arrays)
            found += [arrays[number] for number in at if number in arrays]
    return found


def _laws(group):
    """Laws of a group as the model gives them: a run may have left another coefficient of friction."""
    laws = group.laws.copy()
    if group.is_contact:
        laws["friction"] = laws["sliding_friction"]
    return laws


def _watching(item):
    """What a controller or an event is, in words, without its functions."""
    if item.role == "controller":
        return f"{item.period} {item.delay} {item.outputs} {item.initial.tolist()}"
    return f"{item.level} {item.direction} {item.once} {item.dead_band} {item.describe()}"


def fingerprint(system: "CompiledSystem") -> dict[str, str]:
    """Sums by what they are of, in words."""
    found = {
        "number of nodes": str(len(system.nodes)),
        "free components": _digest(system.free),
        "gravity": _digest(system.gravity),
    }
    counted: dict[str, int] = {}
    for group in (group for group in system.groups if not group.searched):
        kind = type(group.elements[0]).__name__
        number = counted[kind] = counted.get(kind, 0) + 1
        name = f"elements of type {kind}" + (f" ({number})" if number > 1 else "")
        arrays = [group.nodes, _laws(group), *_without_addresses(group.parameters), *_tables(group)]
        scales = group.contact_data.get("friction_scale", np.ones(0))
        arrays += [scales] if (scales != 1.0).any() else []
        arrays += [pieces for pieces in (group.restitutions, group.sliding) if pieces.size]
        found[name] = f"{group.n} {sorted(group.sizes.items())} {_digest(*arrays)}"
    for search in system.searches:
        arrays = [search.nodes, search.offsets, search.radii, search.materials, search.laws, search.thickness]
        arrays += [pieces for pieces in (search.restitutions, search.sliding) if pieces.size]
        for group in search.groups:
            arrays += [group.partner_nodes, *(_without_addresses(group.prototypes) if group.partners else [])]
        found[label(search.owner)] = _digest(*arrays)
    found |= {label(item): _watching(item) for item in system.watching if item.role in ("controller", "event")}
    return found


def signals_of(system: "CompiledSystem", times: list[float]) -> np.ndarray:
    """Values and derivatives (k, signals, 3) of all functions of time at some times, of held ones as they begin."""
    before, clock, values = system.signal_values.copy(), system.workspace.buffer["t"].copy(), []
    with Held.as_at_start():  # what a controller has set meanwhile is part of the state, not of the model
        for t in times:
            system.update_signals(t)
            values.append(system.signal_values[: len(system.signals)].copy())
    system.signal_values[:], system.workspace.buffer["t"][:] = before, clock
    return np.array(values).reshape(len(times), len(system.signals), 3)


def difference(system: "CompiledSystem", saved: dict[str, Any]) -> str:
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
