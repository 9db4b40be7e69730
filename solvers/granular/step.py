"""The contacts of a step with many spheres: one problem in velocities with the gap in its law, then positions.

A method solves its step without the contacts of the group, calls `contacts_of_step`, and finds W with them and their
impulses in P. Free bodies are the grains' only coupling, so that P and W fit each other exactly.

Source: docs/theory/contact_groups.md.
"""

from fem_mbs.jit import entry, kernel
from fem_mbs.solvers.contact.velocity import solve_velocities
from fem_mbs.solvers.granular.data import grains_at
from fem_mbs.solvers.granular.pairs import (
    carry_along,
    evaluate,
    farthest,
    find,
    follow,
    load,
    place_planes,
    push_planes,
    unload,
)
from fem_mbs.solvers.granular.positions import push_apart
from fem_mbs.solvers.granular.sweeps import add_impulses, size_of_problem, solve
from fem_mbs.solvers.stepping.arrays import copy, copy3, largest
from fem_mbs.solvers.stepping.codes import NO_ROOM, NOT_CONVERGED, OK
from fem_mbs.solvers.stepping.data import run_at
from fem_mbs.solvers.stepping.run import run_steps
from fem_mbs.system.assembly import zero

RESIDUAL = 10.0  # approach speeds up to so many times the tolerance, relative to the largest speed, are left
AGAIN = 3  # searches of a step whose impacts drive grains out of the margin


@kernel
def outdated(p, s):
    """Whether a grain may get out of the margin in the step that begins."""
    return p.pending != 0 or p.searches == 0 or 2.0 * farthest(p, s.x, s.V, s.h) > p.skin


@kernel
def _solve_contacts(p, s):
    """Velocities V with contacts from those without, and P."""
    # approach speeds that inexact impulses leave are no impacts
    slow = max(s.tol_v, RESIDUAL * p.tolerance * largest(s.V0))
    evaluate(p, s.x0, s.R0, s.V0, s.h, slow)
    copy(p.alone, s.V)
    R = s.R if p.held != 0 else s.R0
    if p.moving != 0:
        carry_along(p, s.x0, R, s.V)
    load(p, R, s.V)
    q_square = size_of_problem(p)
    add_impulses(p)
    solved = solve(p, q_square)
    zero(s.P_at, 6 * s.V.shape[0])
    unload(p, R, s.V, s.P)
    if p.moving != 0:
        push_planes(p, s.x0, R, s.P)
    return solved


@entry("void(int64, int64)")
def contacts_of_step(data, run):
    """Solve the contacts of a contact group of free bodies, and leave the end of the step.

    ``s.V`` and ``s.W`` are velocities and their change without them; NO_ROOM: the arrays of pairs are too small.
    """
    s = run_at(run)[0]
    p = grains_at(s.grains_at)[0]
    copy(s.V, p.alone)
    solved = True
    for attempt in range(AGAIN):
        solved = _solve_contacts(p, s)
        if 2.0 * farthest(p, s.x0, s.V, s.h) <= p.skin or attempt == AGAIN - 1:
            break
        if not find(p, s.x0, s.V, s.h):
            s.code = NO_ROOM
            return
    for i in range(s.V.shape[0]):
        for j in range(6):
            s.W[i, j] += s.V[i, j] - p.alone[i, j]
    solve_velocities(s, s.velocity_problem)
    p.all_sweeps += p.sweeps
    p.worst_sweeps = max(p.worst_sweeps, p.sweeps)
    p.unsolved += 0 if solved else 1
    p.worst_error = max(p.worst_error, p.error)
    if s.code == OK and not p.error <= p.refused:
        s.code = NOT_CONVERGED
    for i in range(s.lam_report.shape[0]):
        s.lam_report[i] = s.kv * s.Lam[i] / s.h
    if s.code == OK:
        if p.held != 0:
            follow(p, s.x0, s.V, s.P, s.h, s.x)
        push_apart(p, s.x, s.h)


@kernel
def run_grains(data, run, grains, count, start, times, signals):
    """`stepping.run.run_steps` for models with a contact group of free bodies; returns after a step that was saved.

    NO_ROOM: nothing of the step was done, give the pairs more room and go on.
    """
    s, p = run[0], grains[0]
    for k in range(count):
        saved = s.saved
        place_planes(p, s.x, s.R)
        if outdated(p, s) and not find(p, s.x, s.V, s.h):
            return k, NO_ROOM
        _, code = run_steps(data, run, 1, start + k, times, signals)
        if code == NO_ROOM:
            copy(s.x0, s.x)
            copy(s.Q0, s.Q)
            copy(s.V0, s.V)
            copy3(s.R0, s.R)
        if code != OK:
            return k, code
        if s.saved > saved:
            return k + 1, OK
    return count, OK
