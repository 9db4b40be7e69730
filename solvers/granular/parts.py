"""Parts of a step that only some contact groups have: compiled for those alone, called by their address.

A group of single spheres among planes needs a third of the code of this folder, and compiles that third. Additional
parts of others are behind three entries: contacts that resist turning, obstacles that contacts move, capsules and
boxes. Their answers are in the record of the group.

Source: docs/theory/contact_groups.md.
"""

from fem_mbs.jit import entry
from fem_mbs.solvers.granular import carried, turning
from fem_mbs.solvers.granular.data import (
    ADD,
    CARRY,
    ERROR,
    EVALUATE,
    FIND,
    FIND_AGAIN,
    LOAD,
    LOAD_START,
    PLACE,
    READY,
    SIZE,
    SLIPS,
    SPEEDS,
    SWEEP,
    UNLOAD,
    grains_at,
)
from fem_mbs.solvers.granular.obstacles import coupled, mechanism
from fem_mbs.solvers.granular.shapes import features, shape_positions
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at


@entry("void(int64, int64)")
def turning_part(grains, task):
    """Contacts that resist turning, see `granular.turning`."""
    p = grains_at(grains)[0]
    if task == SIZE:
        p.answer = turning.size_of_problem(p)
    elif task == ADD:
        turning.add_impulses(p)
    elif task == SWEEP:
        p.answer, p.work = turning.sweep(p, p.beta)
    elif task == ERROR:
        p.answer = turning.error_of(p)
    elif task == PLACE:
        turning.place(p)
    else:
        turning.follow_moved(p)


@entry("void(int64, int64)")
def mechanism_part(grains, task):
    """Obstacles that contacts move, see `granular.obstacles.mechanism`, `granular.obstacles.coupled` and
    `granular.carried`.
    """
    p = grains_at(grains)[0]
    s, o = run_at(p.run_at)[0], mechanism.mechanism_at(p.mechanism_at)[0]
    if task == SIZE:
        p.answer = coupled.size_of_problem(p, o)
    elif task == ADD:
        coupled.add_impulses(p, o)
    elif task == SWEEP:
        p.answer, p.work = coupled.sweep(p, o, p.beta)
    elif task == ERROR:
        p.answer = coupled.error_of(p, o)
    elif task == PLACE:
        mechanism.load_nodes(o, s.R if p.held != 0 and p.clumps == 0 else s.R0, s.V)
        mechanism.collect(p, o)
        coupled.place(p, o, s.x0)
    elif task == UNLOAD:
        mechanism.unload_nodes(o, s.V, s.P)
    elif task == LOAD:
        mechanism.load_velocities(o, s.V)
    elif task == LOAD_START:
        mechanism.load_velocities(o, s.V0)
    elif task == SPEEDS:
        coupled.speeds(p, o)
    elif task == SLIPS:
        coupled.slips(p, o)
    elif task == CARRY:
        carried.carry(p, s)
    elif task == READY:
        p.answer = 1.0 if mechanism.make_ready(system_at(s.data_at)[0], s, p, p.attempt) else 0.0
    else:
        mechanism.solve_with(system_at(s.data_at)[0], s, p)


@entry("void(int64, int64)")
def shapes_part(grains, task):
    """Capsules and boxes, see `granular.shapes.features` and `granular.shapes.shape_positions`."""
    p = grains_at(grains)[0]
    s = run_at(p.run_at)[0]
    if task == FIND:
        p.answer = 1.0 if features.find(p, s.x, s.R, s.V, s.h) else 0.0
    elif task == FIND_AGAIN:
        p.answer = 1.0 if features.find(p, s.x0, s.R0, s.V, s.h) else 0.0
    elif task == EVALUATE:
        features.evaluate(p, s.x0, s.R0, s.V0, s.h, p.slow)
    else:
        shape_positions.push_apart(p, s.x, s.Q, s.R, s.h)
