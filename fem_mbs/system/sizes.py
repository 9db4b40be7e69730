"""Sizes of a model: what tolerances, floors and tests of round-off refer to, in whatever units the model is given.

    length    radius of gyration √(mean J/mean m) of the moving nodes: converts moments to forces
    size      largest of: distances of nodes from the origin, arms ∂g/∂θ and ∂g_N/∂θ of joints and contacts, ``length``;
              gaps where all of these vanish
    row_arm   of the rows of constraints: 1 where g is a length (its gradient has parts of positions), ``size`` where
              it is an angle or a sine, so that all rows g·row_arm are lengths

The same model in metres and in micrometres has the same digits: nothing refers to 1 m, 1 kg or 1 s. Speeds are compared
with √(g size), with those of the run (angular ones times ``size``), and with their change by the forces of a step,
see `fem_mbs.solvers.stepping.kernels.sizes`.

Source: docs/theory/decoupled_nsga.md, "When an iteration has converged".
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State


def gyration(node: Any) -> float:
    """Largest radius of gyration [m] of what made a node for itself; 0 where that is no rigid body."""
    body = node.body
    return float(gyrations([body])[0]) if body is not None and body.rigid_body else 0.0


def gyrations(bodies: Sequence[Any]) -> np.ndarray:
    """Largest radii of gyration (k,) [m] of rigid bodies; 0 without mass."""
    mass = np.array([body.mass for body in bodies])
    largest = np.linalg.eigvalsh(np.reshape([body.inertia for body in bodies], (-1, 3, 3)))[:, -1]
    return np.sqrt(np.divide(largest, mass, out=np.zeros(len(mass)), where=mass > 0.0))


def constraint_arms(system: "CompiledSystem", state: "State") -> tuple[np.ndarray, float]:
    """Mask of the rows of constraints (m,) that are lengths, and the largest |∂g/∂θ| [m] of these."""
    lengths, arm = np.ones(system.m, bool), 0.0
    if not system.m:
        return lengths, arm
    system.constraint_values(state)
    for group in system.groups:
        if group.elements[0].role != "constraint":
            continue
        n, rows, columns = group.G.shape
        G = np.abs(group.G).reshape(n, rows, columns // 6, 6)
        moves = (G[..., :3] > 0.0).any(axis=(2, 3))
        lengths[group.first_row + np.arange(n * rows)] = moves.ravel()
        arm = max(arm, float((G[..., 3:] * moves[:, :, None, None]).max(initial=0.0)))
    return lengths, arm


def contact_arm(system: "CompiledSystem", state: "State") -> tuple[float, float]:
    """Largest |∂g_N/∂θ| [m] and largest finite gap [m] of the contacts at a state."""
    if not system.nc:
        return 0.0, 0.0
    gaps, arm = system.gaps(state), 0.0
    for group in (group for group in system.groups if group.is_contact and group.n):  # pairs come later
        gradients = group.contact_data["G_N"].reshape(group.n, -1, 6)
        arm = max(arm, float(np.abs(gradients[..., 3:]).max(initial=0.0)))
    return arm, float(np.abs(gaps[np.isfinite(gaps)]).max(initial=0.0))


def measure(system: "CompiledSystem", state: "State", length: float) -> float:
    """The size [m] of a system at its initial state, ``length`` its radius of gyration; fills ``system.row_arm``."""
    lengths, arm = constraint_arms(system, state)
    contact, gap = contact_arm(system, state)
    far = np.abs(state.x[system.spatial]).max(initial=0.0)  # amplitudes of modes are no places
    found = [size for size in (far, arm, contact, length) if np.isfinite(size)]
    size = float(max(found, default=0.0)) or gap or 1.0
    system.row_arm[: system.m] = np.where(lengths, 1.0, size)
    return size


def extent(x: np.ndarray, length: float) -> float:
    """Size [m] of the moving bodies, independent of their position, of positions x (nodes, 3) and a radius of
    gyration; 0 of a point.
    """
    return max(float(np.ptp(x, axis=0).max()) if len(x) else 0.0, length)
