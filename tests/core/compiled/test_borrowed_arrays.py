"""Programs of a step only borrow arrays: they neither allocate memory nor count owners of arrays.

LLVM may then fit their parts to the calls, see `compiled.compiler`.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs import jit

# contact groups and contact problems allocate what they search through
ALLOCATE = ("fem_mbs.solvers.granular.", "fem_mbs.solvers.contact_problem.", "fem_mbs.solvers.contact.linearised")
COUNTS = b"NRT_"  # names of numba's functions that count, in machine code that calls them


def model(contacts):
    """Ball that rebounds, and a pendulum with joint friction, a spring and, with contacts, a stop."""
    built = fem.Model("ball and pendulum", gravity=[0, 0, -9.81])
    arm = built.add(fem.RigidBody.sphere(1.0, 0.1, position=[1.0, 0, 1.0], name="arm"))
    joint = {"friction": fem.DryFriction(0.1, radius=0.02), "stiffness": 5.0, "damping": 0.1}
    stops = {"stops": fem.Stops(-0.01, 1.0, restitution=0.3)} if contacts else {}
    built.add(fem.Revolute.at(built.ground, arm, [0, 0, 1.0], [0, 1, 0], name="hinge", **joint, **stops))
    if contacts:
        ball = built.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1001], velocity=[1, 0, -1], name="ball"))
        built.add(fem.SphereOnPlane(ball.frame(), built.ground.frame(), radius=0.1, friction=0.3, name="floor"))
    return built


def entries():
    """Functions of a step that are loaded, by name."""
    for name, module in list(sys.modules.items()):
        if name.startswith("fem_mbs.") and not name.startswith(ALLOCATE):
            for found in list(vars(module).values()):
                if isinstance(found, jit.Entry) and found.compiled:
                    yield f"{found.function.__module__}.{found.function.__name__}", found.c_function


def machine_code(program):
    """All that is kept on disk of a compiled function."""
    file = program._cache._cache_file
    return b"".join(Path(file._data_path(name)).read_bytes() for name in file._load_index().values())


@pytest.mark.skipif(not jit.OWN_COMPILER, reason="numba compiles by itself")
def test_no_program_of_a_step_counts_owners_of_arrays():
    for stepper in fem.solvers.STEPPERS.values():
        stepper().run(model(stepper is not fem.GeneralizedAlpha), 0.02, 1e-3, balance=True, progress=False)
    programs = {**dict(entries()), **{text: call.c_function for (_, text), call in jit._bound.items() if call.compiled}}
    assert len(programs) > 100
    assert [name for name, program in programs.items() if COUNTS in machine_code(program)] == []


@jit.entry("void(int64, int64)")
def allocates(at, n):
    x = np.empty(n)
    for i in range(n):
        x[i] = i
    held = x[1:] if n > 3 else x
    for i in range(len(held)):
        jit.vector(at, n)[i] = held[i]


def test_a_program_that_allocates_is_seen_to_count():
    """Otherwise the names may have changed, and the test above would show nothing."""
    assert allocates.address and COUNTS in machine_code(allocates.c_function)
