"""Constraint rows that fixed components leave without any motion, as in planar mechanisms of spatial joints.

Their g stays 0 and nothing that is free acts on them. They are no part of any problem: g, ġ, G and the convective terms
are 0, and the row sets the multiplier to 0, as for rows of elements that are off (`fem_mbs.system.constraints`). A
gradient of 1e-17 where 0 is meant would give them multipliers of any size.

Source: docs/theory/redundancy.md, (4).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.rotations import exp
from fem_mbs.system.checks.redundancy import ROUND_OFF, gradient_of, row_norms

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State

POSES = (0.0, 0.1, 0.3, 1.0)  # sizes of the model and radians by which nodes are moved
STAYS = 1e-9  # of the size of the model: g that is 0


def empty_rows(system: "CompiledSystem", state: "State") -> np.ndarray:
    """Return which constraint rows (m,) are empty, at four poses near a state that differ in the free components.

    Rows of drivers and of velocities are not looked at.
    """
    rng, empty, free = np.random.default_rng(1), np.ones(system.m, bool), np.flatnonzero(system.free.ravel())
    for group in system.groups:
        one = group.elements[0]
        if one.role == "constraint" and ("rheonomic" in one.kernels or group.velocity_rows):
            empty[group.first_row + np.arange(group.G.shape[0] * group.G.shape[1])] = False
    arm = system.row_arm[: system.m]
    for amount in POSES:
        if not empty.any():
            break
        moved, step = state.copy(), amount * rng.uniform(-1.0, 1.0, (len(state.x), 6)) * system.free
        moved.x += np.where(system.spatial, system.size, 1.0)[:, None] * step[:, :3]
        moved.R[:] = moved.R @ np.array([exp(psi) for psi in step[:, 3:]])
        g = np.asarray(system.constraint_values(moved)[0])
        gradient = gradient_of(system)
        empty &= row_norms(gradient[:, free]) <= ROUND_OFF * row_norms(gradient)
        empty &= np.abs(g) * arm <= STAYS * system.size
    return empty
