"""Where the memory of a run is: the arrays it holds, by what they are for, and what the process had at most.

    elements         parameters, nodes, internal variables, gradients of constraints and contacts
    index maps       where the entries of elements go in the global matrices
    matrices         patterns and values
    factors          of the linear solvers
    run              arrays of the method
    contact groups   spheres, obstacles, pairs
    records          states that were saved, not yet written or kept in memory

Objects of Python (elements, nodes: some kB each) and the libraries are in that of the process only.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

MB = 1e6
DEPTH = 4  # of lists, tables and objects that hold arrays


def arrays_in(thing: Any, depth: int = DEPTH) -> Iterator[np.ndarray]:
    """Arrays in a list, a dict or the attributes of an object of this package, and in what these hold."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif depth > 0:
        if isinstance(thing, dict):
            held = list(thing.values())
        elif isinstance(thing, (list, tuple)):
            held = list(thing)
        else:
            held = list(getattr(thing, "__dict__", {}).values())
        for part in held:
            if isinstance(part, (np.ndarray, dict, list, tuple)):
                yield from arrays_in(part, depth - 1)


def size_of(things: Any, seen: set[int]) -> int:
    """Bytes of the arrays in some things; those whose memory is in ``seen`` count once."""
    total = 0
    for array in arrays_in(things):
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if id(owner) not in seen:
            seen.add(id(owner))
            total += owner.nbytes
    return total


def memory_of(engine: "Engine", records: Any) -> dict[str, float]:
    """Memory [MB] of a run by what it is for, as the head of this file lists it; "process": most that it had."""
    seen: set[int] = set()
    matrices = [*engine.matrices.layouts] + ([engine.matrices.stacked] if engine.matrices.stacked else [])
    own = engine.system._own
    matrices += [] if own is None else own.layouts
    patterns, solvers = [layout.pattern for layout in matrices], [layout.solver for layout in matrices]
    groups: list[Any] = list(engine.system.searches)
    if engine.grains is not None:
        groups += [engine.grains, engine.grains.mechanism, engine.pair_tables]
    # no element: it may refer to all the others
    elements = [{k: v for k, v in vars(group).items() if k != "elements"} for group in engine.system.groups]
    held = {
        "elements": elements, "index maps": [pattern.maps for pattern in patterns],
        "matrices": [[vars(layout) for layout in matrices], [vars(pattern) for pattern in patterns]],
        "factors": [vars(solver) for solver in solvers], "run": engine.arrays,
        "contact groups": [vars(group) for group in groups if hasattr(group, "__dict__")], "records": records,
    }  # fmt: skip
    sizes = {name: size_of(things, seen) for name, things in held.items()}
    sizes["factors"] += sum(solver.foreign_bytes() for solver in {id(s): s for s in solvers}.values())
    return {name: size / MB for name, size in {**sizes, "process": most_of_process()}.items() if size}


def most_of_process() -> int:
    """Most bytes of memory that this process has had; 0 if the system does not report it."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def memory_line(memory: dict[str, float]) -> str:
    """Memory of a run in words, largest part first."""
    parts = sorted(((size, name) for name, size in memory.items() if name != "process"), reverse=True)
    arrays = sum(size for size, _ in parts)
    listed = ", ".join(f"{name} {size:.3g}" for size, name in parts if size >= 0.01 * arrays)
    process = f"{memory['process']:.3g} MB at most, " if "process" in memory else ""
    return f"{process}{arrays:.3g} MB of it arrays: {listed}"
