"""The contacts of a step with many spheres: one problem in velocities with the gap in its law, then positions.

A method solves its step without the contacts of the group, calls `contacts_of_step`, and finds W with them and their
impulses in P. Free bodies are the only coupling of particles, such that P and W fit each other exactly.

Source: docs/theory/contact_groups.md.
"""

import math

from fem_mbs.jit import call2, entry, kernel
from fem_mbs.solvers.contact.velocity import solve_velocities
from fem_mbs.solvers.granular import bodies
from fem_mbs.solvers.granular.data import (
    CARRY,
    EVALUATE,
    FIND,
    FIND_AGAIN,
    PLACE,
    PUSH_APART,
    READY,
    SETTLE,
    UNLOAD,
    grains_at,
)
from fem_mbs.solvers.granular.momentum import accuracy, add_impulses, size_of_problem
from fem_mbs.solvers.granular.obstacles.obstacles import gaps_now
from fem_mbs.solvers.granular.pairs import (
    carry_along,
    evaluate,
    find,
    follow,
    leaves_margin,
    load,
    place_planes,
    push_planes,
    turn_along,
    unload,
)
from fem_mbs.solvers.granular.positions import push_apart
from fem_mbs.solvers.granular.speed_laws import solve_passes
from fem_mbs.solvers.granular.strikes import (
    SHARE,
    keep_start,
    kinetic_energy,
    lost_by_stops,
    solve_in_turn,
    some_reflect,
    speed_left,
)
from fem_mbs.solvers.granular.turning_pairs import carry_turns, push_turns
from fem_mbs.solvers.granular.unsaved_pairs import add_pairs
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.codes import NO_ROOM, NOT_CONVERGED, OK
from fem_mbs.solvers.stepping.kernels.data import run_at
from fem_mbs.solvers.stepping.kernels.run import run_steps
from fem_mbs.solvers.stepping.kernels.step import configuration_at_start
from fem_mbs.system.records import zero

TURNS = 20  # alternations of the Gauss-Seidel solver and the method
PART = 0.1  # of the tolerance, by which their velocities may differ
ROUND_OFF = 1e-14  # of speeds: errors that Gauss-Seidel iterations may leave
AGAIN = 3  # searches of a step whose impacts drive particles out of the margin


@kernel
def outdated(p, s):
    """True if a particle may get out of the margin in the step that begins."""
    return p.pending != 0 or p.searches == 0 or leaves_margin(p, s.x, s.R, s.V, s.h)


@kernel
def _find(p, s):
    """Search the pairs at the start of a step; False: there is no room for them."""
    if p.shapes != 0:
        call2(p.shapes_part, p.self_at, FIND)
        return p.answer != 0.0
    return find(p, s.x, s.R, s.V, s.h)


@kernel
def _find_again(p, s):
    """The same inside a step."""
    if p.shapes != 0:
        call2(p.shapes_part, p.self_at, FIND_AGAIN)
        return p.answer != 0.0
    return find(p, s.x0, s.R0, s.V, s.h)


@kernel
def _largest_speed(p, V):
    """Largest component of velocities [m/s] of nodes, and of what rotations give to points of shapes."""
    fastest = 0.0
    for i in range(V.shape[0]):
        for j in range(3):
            fastest = max(fastest, abs(V[i, j]))
    for a in range(p.node.shape[0]):
        i, o = p.node[a], p.offset[a]
        spin = max(abs(V[i, 3]), abs(V[i, 4]), abs(V[i, 5]))
        fastest = max(fastest, spin * (p.radius[a] + math.sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2])))
    return fastest


@kernel
def _largest_gain(p, V, V0):
    """Largest approach of two bodies [m/s] that forces have made in the step, from V0 to V."""
    most = 0.0
    for a in range(p.node.shape[0]):
        i, o = p.node[a], p.offset[a]
        way = spin = 0.0
        for j in range(3):
            way += (V[i, j] - V0[i, j]) ** 2
            spin += (V[i, 3 + j] - V0[i, 3 + j]) ** 2
        arm = p.radius[a] + math.sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2])
        most = max(most, math.sqrt(way) + arm * math.sqrt(spin))
    return 2.0 * most


@kernel
def _solve_with_restitution(p, s, R, q_square, energy):
    """The same with laws that have restitution, where impacts of the step may follow each other."""
    p.kinetic = max(p.kinetic, energy)
    keep_start(p)
    if p.passes_on != 0 and some_reflect(p):
        p.sweeps = 0
        return solve_in_turn(p, R, s.V0, s.V, q_square)
    add_impulses(p)
    solved = solve_passes(p, q_square)
    p.lost = lost_by_stops(p)
    if p.lost > SHARE * energy:
        p.gain = _largest_gain(p, s.V, s.V0)
        return solve_in_turn(p, R, s.V0, s.V, q_square)
    return solved


@kernel
def _solve_contacts(p, s):
    """Velocities V with contacts from those without, and P."""
    # approach speeds that inexact impulses leave are no impacts
    p.fastest = _largest_speed(p, s.V0)
    p.slow = max(s.tol_v, speed_left(p, p.fastest))
    if p.stiction != 0:
        p.still = max(s.slow, speed_left(p, max(p.fastest, _largest_speed(p, s.V))))
    if p.shapes != 0:
        call2(p.shapes_part, p.self_at, EVALUATE)
    else:
        evaluate(p, s.x0, s.R0, s.V0, s.h, p.slow)
    copy(p.alone, s.V)
    # arms of bodies are those of the start
    R = s.R if p.held != 0 and p.clumps == 0 else s.R0
    if p.moving != 0:
        carry_along(p, s.x0, R, s.V)
        if p.resists != 0:
            carry_turns(p, R, s.V)
    if p.clumps != 0:
        bodies.load(p, R, s.V)
        bodies.place(p, s.x0)
    else:
        load(p, R, s.V)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, PLACE)
    if p.resists != 0:
        call2(p.turning_part, p.self_at, PLACE)
    # bodies that move together have relative velocities of round-off: no error of these is below it
    energy = kinetic_energy(p, s.V)
    least = 2.0 * (ROUND_OFF / p.fine) ** 2 * energy
    q_square = max(size_of_problem(p), least)
    if p.bounces == 0:
        add_impulses(p)
        solved = solve_passes(p, q_square)
    else:
        solved = _solve_with_restitution(p, s, R, q_square, energy)
    recorded = s.free == 0  # otherwise they are not used
    if recorded:
        zero(s.P_at, 6 * s.V.shape[0])
    if p.clumps != 0:
        bodies.unload(p, R, s.V, s.P)
    else:
        unload(p, R, s.V, s.P, recorded)
    if p.moving != 0:
        push_planes(p, s.x0, R, s.P)
        if p.resists != 0:
            push_turns(p, R, s.P)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, UNLOAD)
    return solved


@kernel
def _solve_within_margin(p, s):
    """Contacts between pairs that are known, searched again where impacts drive bodies farther than the search reached.

    OK, NO_ROOM or, where the tolerance was not reached, NOT_CONVERGED.
    """
    solved = True
    for attempt in range(AGAIN):
        solved = _solve_contacts(p, s)
        if not leaves_margin(p, s.x0, s.R0, s.V, s.h) or attempt == AGAIN - 1:
            break
        if not _find_again(p, s):
            return NO_ROOM
    return OK if solved else NOT_CONVERGED


@kernel
def _differ(p, s):
    """Largest difference of velocities of the method from those of the Gauss-Seidel solver, over the largest one.

    Those without contacts count as well: bodies that come to rest have round-off for velocities.
    """
    worst, size = 0.0, 0.0
    for i in range(s.V.shape[0]):
        for j in range(6):
            length = 1.0 if j < 3 else s.length
            worst = max(worst, length * abs(s.V[i, j] - p.sought[i, j]))
            size = max(size, length * abs(s.V[i, j]), length * abs(p.alone[i, j]))
    return worst / size if size > 0.0 else 0.0


@kernel
def _add_changes(s):
    """Add changes of velocities of free particles: impulses change nothing else."""
    for i in range(s.V.shape[0]):
        for j in range(6):
            s.V[i, j] = s.Vs[i, j] + s.W[i, j]


@kernel
def _move(p, s):
    """Leave the poses of the end of the step, without overlaps, and add up the energy that restitution has lost."""
    if p.lost > 0.0:
        p.all_lost += p.lost
        p.kinetic = max(p.kinetic, kinetic_energy(p, s.V))
    if p.led != 0 and p.clumps != 0:
        bodies.follow(p, s.x0, s.Q0, s.V, s.h, s.x, s.Q, s.R)
    elif p.led != 0:
        follow(p, s.x0, s.V, s.h, s.x)
        if p.held == 0:
            turn_along(p, s.Q0, s.V, s.P, s.h, s.Q, s.R)
    if p.coupled < 0:
        call2(p.mechanism_part, p.self_at, CARRY)
    if p.moving != 0:
        place_planes(p, s.x, s.R)
    if p.shapes != 0:
        call2(p.shapes_part, p.self_at, PUSH_APART)
    else:
        push_apart(p, s.x, s.Q, s.R, s.h)


@entry("void(int64, int64)")
def contacts_of_step(data, run):
    """Solve the contacts of a contact group of free bodies, and leave the end of the step.

    ``s.V`` and ``s.W`` are velocities and their change without them; NO_ROOM: the arrays of pairs are too small. Bodies
    that are no particles have gyroscopic moments, which impulses change: Gauss-Seidel iterations and the method
    alternate.
    """
    s = run_at(run)[0]
    p = grains_at(s.grains_at)[0]
    if p.moving != 0:
        place_planes(p, s.x0, s.R0)
    if p.coupled < 0:
        p.gain = _largest_gain(p, s.V, s.V0)
    copy(s.V, p.alone)
    code, sweeps, differ = OK, 0, 0.0
    turns = TURNS if p.clumps != 0 or p.coupled < 0 else 1
    for turn in range(turns):
        before = turn > 0
        if p.coupled < 0:
            p.attempt = turn
            call2(p.mechanism_part, p.self_at, READY)
            if p.answer == 0.0:
                return
        code = _solve_within_margin(p, s)
        if code == NO_ROOM:
            s.code = NO_ROOM
            return
        sweeps += p.sweeps
        if turns > 1:
            copy(s.V, p.sought)
        for i in range(s.V.shape[0]):
            for j in range(6):
                s.W[i, j] += s.V[i, j] - (p.settled[i, j] if before else p.alone[i, j])
        if p.coupled < 0:
            call2(p.mechanism_part, p.self_at, SETTLE)
        elif s.free != 0:
            _add_changes(s)
        else:
            solve_velocities(s, s.velocity_problem)
        differ = _differ(p, s) if turns > 1 else 0.0
        if s.code != OK or differ <= PART * accuracy(p):
            break
        for i in range(s.V.shape[0]):
            for j in range(6):
                p.settled[i, j] = s.V[i, j]
                p.alone[i, j] += s.V[i, j] - p.sought[i, j]
    p.sweeps = sweeps
    p.all_sweeps += p.sweeps
    p.worst_sweeps = max(p.worst_sweeps, p.sweeps)
    p.unsolved += 0 if code == OK and differ <= p.tolerance else 1
    p.worst_error = max(p.worst_error, p.error, differ)
    if s.code == OK and not p.error <= p.refused:
        s.code = NOT_CONVERGED
    for i in range(s.lam_report.shape[0]):
        s.lam_report[i] = s.kv * s.Lam[i] / s.h
    if s.code == OK:
        _move(p, s)


@kernel
def end_gaps(grains, x, R, gap):
    """Fill gap (count,) with those of pairs with obstacles at poses x, R; centres are there already."""
    place_planes(grains[0], x, R)
    gaps_now(grains[0], x, R, gap)


@kernel
def run_grains(data, run, grains, unsaved, count, start, times, signals):
    """`stepping.kernels.run.run_steps` for models with a contact group of free bodies; returns after a step that was
    saved.

    NO_ROOM: nothing of the step was done, give the pairs more room and go on; with ``unsaved.left`` the step was done,
    and its impulses need more room.
    """
    s, p, u = run[0], grains[0], unsaved[0]
    p.run_at = s.run_at
    for k in range(count):
        saved = s.saved
        place_planes(p, s.x, s.R)
        if outdated(p, s) and not _find(p, s):
            return k, NO_ROOM
        _, code = run_steps(data, run, 1, start + k, times, signals)
        if code == NO_ROOM:
            configuration_at_start(s)
            copy(s.V0, s.V)
        if code != OK:
            return k, code
        if s.saved > saved:
            return k + 1, OK
        if not add_pairs(u, p, s):
            return k + 1, NO_ROOM
    return count, OK
