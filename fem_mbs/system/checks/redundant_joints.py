"""The error that names joints with redundant rows, and the cause: given twice, loops, fixed parts, dead centres."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ModelError, label
from fem_mbs.nodes import COMPONENTS, Node1, Node3, Node6
from fem_mbs.system.checks.loops import loops_of
from fem_mbs.system.checks.redundancy import (
    dependent_rows,
    gradient_of,
    normalised_rows,
    singular_values,
    surely_independent,
)

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

MOST_NAMES = 12  # of joints in a message
_OWN = {Node6: 6, Node3: 3, Node1: 1}  # components that a node of a type can have free


def redundant_constraints(system: "CompiledSystem") -> None:
    """No constraint row is a combination of others (at the initial configuration); raises ModelError."""
    if not system.m or surely_independent(system):
        return
    active = np.flatnonzero(system.active_rows)
    dependent = [int(active[row]) for row in dependent_rows(gradient_of(system)[active], system.free.ravel())]
    if not dependent:
        return
    passing = _at_dead_centre(system, len(dependent))
    loops = loops_of(system)
    owners = list(dict.fromkeys(joint for loop in loops for joint in loop.joints))
    owners = owners or list(dict.fromkeys(system.unknown(system.n + row)[0] for row in dependent))
    some = f"{', '.join(label(owner) for owner in owners[:MOST_NAMES])}{', …' if len(owners) > MOST_NAMES else ''}"
    if passing:
        count = f"{passing} of {len(active)} constraint rows depend"
        raise ModelError(
            f"{count if passing > 1 else count + 's'} on others at the initial configuration, but not at one "
            f"that is slightly moved: it is a dead centre (singular configuration), where rows of these repeat each "
            f"other: {some}. Start a little away from it, or drive another coordinate; forces are not determined there",
            owners,
        )
    raise ModelError(
        f"{len(dependent)} of {len(active)} constraint rows are redundant, rows of: {some}. "
        f"{_cause(system, dependent, owners, loops)}",
        owners,
    )


def _at_dead_centre(system, count):
    """Count those of ``count`` dependent rows that depend on others in this configuration alone.

    Along a motion by ε that the rows allow to first order their singular values grow as ε there; of rows that are
    redundant everywhere they stay 0, or grow as ε², as the rows are violated by that.
    """
    rows = normalised_rows(system)
    if rows is None:
        return 0
    from scipy.linalg import null_space

    state, free = system.initial, system.free.ravel()
    motions = null_space(rows, rcond=1e-9)
    if not motions.shape[1]:
        return 0
    along = np.zeros(free.size)
    along[free] = motions @ np.random.default_rng(1).normal(size=motions.shape[1])
    along = along.reshape(-1, 6)
    along *= 1.0 / max(np.abs(along[:, 3:]).max(), np.abs(along[:, :3]).max() / system.size, 1e-300)
    least = []
    for step in (1e-3, 1e-4):
        system.constraint_values(system.moved(state, step * along))
        least.append(singular_values(np.asarray(normalised_rows(system)))[-count:])
    system.constraint_values(state)
    large, small = least
    return int(((large > 1e-6) & (large < 30.0 * small)).sum())


def _cause(system, dependent, owners, loops):
    """Why rows are dependent, and the cure."""
    partly = {id(n): n for owner in owners for n in owner.nodes if type(n) in _OWN and n.free.any()}
    held = {key: [c for i, c in enumerate(COMPONENTS[: _OWN[type(n)]]) if not n.free[i]] for key, n in partly.items()}
    components = system.free.copy()
    for node in partly.values():
        components[node.index, : _OWN[type(node)]] = True
    active = gradient_of(system)[np.flatnonzero(system.active_rows)]
    left = dependent_rows(active, components.ravel()) if any(held.values()) else dependent
    proposals = [loop.proposal for loop in loops if loop.replacements]
    twice = (
        ". ".join(proposals)
        if proposals
        else "Remove the joint that was added twice, or release constraints that are imposed twice"
    )
    twice += "; for a mechanism that is meant to be hyperstatic use model.compile(redundant='allow')"
    if len(left) == len(dependent):
        return twice
    names = "; ".join(f"{', '.join(held[key])} of {label(n.body or n)}" for key, n in partly.items() if held[key])
    part = f"{len(dependent) - len(left)} of them repeat" if left else "They repeat"
    fixed = (
        f"{part} what fixed components hold: {names}. Leave fixed=… out and let the joints keep the motion in its "
        "plane, or use model.compile(redundant='allow'): motion and forces in the plane are then right, joints carry "
        "nothing in the fixed directions"
    )
    return f"{fixed}. For the others: {twice[0].lower()}{twice[1:]}" if left else fixed
