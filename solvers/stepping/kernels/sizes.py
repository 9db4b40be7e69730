"""Sizes that tolerances refer to, in compiled code: positions with rotations, speeds, constraint rows as lengths.

Rotations count times ``s.size`` [m], see `fem_mbs.system.sizes`: none of these depends on the units of a model.

Source: docs/theory/decoupled_nsga.md, "When an iteration has converged".
"""

from fem_mbs.jit import integers, kernel

PART = 1e-3  # of the size of the model, in a step: EXACT of that speed moves nodes by round-off of their positions
SLOW = 1e-6  # of the size of the velocities: energies of nodes that move slower are round-off
ROUND = 1e-9  # of energies: differences below are round-off
FARTHEST_LEFT = 0.1  # of the size of the model
ABOVE = 10.0  # times what the problems of a step leave: a velocity that is one
JITTER = 1e-12  # of the size of the model, likewise per step: what round-off of positions makes stiff parts do


@kernel
def farthest_part(a, size):
    """Largest absolute value [m or m/s] of an array (N, 6) of motions or velocities, rotations times size [m]."""
    moved = turned = 0.0
    for i in range(a.shape[0]):
        for j in range(3):
            moved = max(moved, abs(a[i, j]))
            turned = max(turned, abs(a[i, 3 + j]))
    return max(moved, size * turned)


@kernel
def step_size(d, s, dx):
    """Largest absolute value of the velocities [m/s] in the unknowns dx (n,), angular ones times s.size."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    moved = turned = 0.0
    for i in range(d.n_nodes):
        for j in range(3):
            k, r = dof[6 * i + j], dof[6 * i + 3 + j]
            if k >= 0:
                moved = max(moved, abs(dx[k]))
            if r >= 0:
                turned = max(turned, abs(dx[r]))
    return max(moved, s.size * turned)


@kernel
def speed_of(s):
    """Speed [m/s] that tolerances of constraint and contact rows refer to: the largest so far.

    At least the velocity that moves nodes by round-off of their positions: stiff structures at rest have no other
    velocities.
    """
    return max(s.scale_v, PART * s.size / s.h)


@kernel
def push_of(s):
    """Speed [m/s] that tolerances of dynamic rows refer to: the largest so far, or what forces of the step add to it.

    Less than `speed_of`, whose momenta over short steps would be large forces.
    """
    return max(s.scale_v, min(s.h * s.F_s / s.mean_mass, PART * s.size / s.h))


@kernel
def slow_of(s):
    """Speed [m/s] below which energies are round-off."""
    return SLOW * push_of(s) + JITTER * s.size / s.h


@kernel
def round_off_of(s, energy):
    """Differences [J] of energies of about this size that are round-off."""
    return ROUND * abs(energy) + s.mean_mass * slow_of(s) ** 2


@kernel
def left_over(s):
    """Energy [J] that a step may have from momenta which the tolerance of its dynamic rows leaves in them.

    ``s.F_s`` is the size of the forces, or what makes rtol F_s the round-off that iterations came down to. Components
    with next to no mass would explain anything: they do no more than move the forces left by a part of the size.
    """
    left = s.rtol * s.h * s.F_s
    return min(left * left / s.lightest, FARTHEST_LEFT * s.size * s.rtol * s.F_s)


@kernel
def rest_speed(s):
    """Relative velocity below which a contact sticks [m/s]: ten times what the sub-problems leave."""
    return ABOVE * (s.tol_v + s.rtol * s.h * s.F_s / s.mean_mass)


@kernel
def still_speed(s):
    """As `rest_speed`, with the threshold of joints: of impacts a method may have a larger one."""
    return ABOVE * (s.slow + s.rtol * s.h * s.F_s / s.mean_mass)


@kernel
def afresh(s):
    """True if what the last step left is no guess: after an impact, and in repeated attempts."""
    return s.struck != 0 or s.repeats > 0 or s.plastic != 0
