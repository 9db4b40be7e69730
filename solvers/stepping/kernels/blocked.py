"""Contacts that joints and drivers alone move: nothing is left that could keep them from closing.

A motor of given angle that drives a body against an obstacle has no motion that satisfies both. Such a contact is known
by its gradient G_N, which the gradients G of the constraints span: with M z + Gᵀ y = G_Nᵀ, G z = 0 the normal speed
G_N z that an impulse gives vanishes, while it does not for the bodies without constraints. Many such contacts harm
no run, e.g. a slider that touches the floor its rail is parallel to. The step with joints and drivers alone shows
those that close.

Several contacts can leave no motion together, a ball between a driven plate and the floor, say: with W = G_N z of all,
and the gaps g that joints and drivers alone make, gaps g + W Λ ≥ 0 need impulses; there are none where

    λ ≥ 0 ,   W λ = 0 ,   g·λ < 0        for some λ (Farkas)                                                        (1)
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.stepping.kernels.codes import EXACT, TOUCHES

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State

SHIFT = 1e-12  # of redundant constraints, relative
FIXED = 1e-8  # of the mobility without constraints
APART = 1e-6  # of (1): what impulses may leave of it
DENSE = 1500  # rows and velocities up to which drivers are named


def normal_gradients(system: "CompiledSystem", state: "State", contacts: np.ndarray) -> np.ndarray:
    """Gradients G_N of the gaps of some contacts (k, n), over the unknown velocities."""
    system.gaps(state)  # leaves the gradients in ``contact_data``
    rows = np.zeros((len(contacts), system.n))
    for group in (g for g in system.groups if g.is_contact):
        for k in np.flatnonzero((contacts >= group.first_contact) & (contacts < group.first_contact + group.n)):
            e, full = contacts[k] - group.first_contact, np.zeros((len(system.nodes), 6))
            row = group.contact_data["G_N"][e].reshape(-1, 6)
            np.add.at(full, group.nodes[e], row)
            rows[k] = system.reduced(full.ravel())
    return rows


def mobilities(system: "CompiledSystem", state: "State", rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W (k, k): rates of some gaps, by their gradients (k, n), that impulses give; its diagonal without constraints."""
    from scipy.sparse import block_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    mass, _, _, gradient = system.matrices(state)
    empty = mass.diagonal() == 0.0
    if empty.any():  # which motions constraints leave does not depend on masses: nodes without one get any
        mass = (mass + diags_array(np.where(empty, abs(mass).max(), 0.0))).tocsc()
    moved = splu(mass).solve(rows.T)
    free = np.einsum("kn,nk->k", rows, moved)
    if system.m:
        lower = -SHIFT / abs(mass).max() * eye_array(system.m)
        bordered = splu(block_array([[mass, gradient.T], [gradient, lower]]).tocsc())
        moved = bordered.solve(np.vstack([rows.T, np.zeros((system.m, len(rows)))]))[: system.n]
    return rows @ moved, free


def prescribed(system: "CompiledSystem", state: "State", rows: np.ndarray) -> np.ndarray:
    """Find gaps, by their gradients (k, n), that joints and drivers prescribe: no impulse changes them."""
    mobility, free = mobilities(system, state, rows)
    return np.diag(mobility) <= FIXED * free


def blocked_contacts(system: "CompiledSystem", state: "State", contacts: np.ndarray) -> np.ndarray:
    """Find contacts (k,) that no impulse can move, because joints and drivers prescribe their gap at a state.

    Contacts whose bodies are fixed, or cannot move along the normal even without constraints, are none of them.
    """
    if system.m == 0 or len(contacts) == 0:
        return np.zeros(len(contacts), bool)
    rows = normal_gradients(system, state, contacts)
    return prescribed(system, state, rows) & rows.any(axis=1)


def drivers_towards(system: "CompiledSystem", state: "State", contact: int) -> list:
    """Drivers and motors among the constraints whose gradients make up the one of a contact that they prescribe.

    Where constraints repeat each other those of the smallest combination.
    """
    rows = normal_gradients(system, state, np.array([contact]))[0]
    gradient = system.matrices(state)[3]
    if system.m > DENSE or gradient.shape[1] > DENSE:
        return []
    parts = np.abs(np.linalg.lstsq(gradient.toarray().T, rows, rcond=FIXED)[0])
    acts = parts > APART * parts.max()
    return [e for e in system.constraints if "rheonomic" in e.kernels and acts[system.rows[e]].any()]


def squeezing_contacts(system: "CompiledSystem", state: "State", contacts: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Find contacts (k,) that allow no motion together by (1), with the gaps (k,) that joints and drivers make."""
    if system.m == 0 or len(contacts) == 0 or gaps.min() >= 0.0:
        return np.zeros(len(contacts), bool)
    mobility, free = mobilities(system, state, normal_gradients(system, state, contacts))
    return without_motion(mobility, free, gaps, TOUCHES * system.size_at(state))


def without_motion(mobility: np.ndarray, free: np.ndarray, gaps: np.ndarray, least: float) -> np.ndarray:
    """Find gaps (k,) that no impulses can open together, by (1) with W = ``mobility`` (k, k); none if all can be.

    ``free`` (k,): of the bodies without constraints, or of their size. Gaps above −``least`` are no penetration.
    """
    from scipy.optimize import nnls

    size = np.sqrt(np.where(free > 0.0, free, 1.0))
    scaled, depth = mobility / np.outer(size, size), gaps / size / np.abs(gaps / size).max()
    try:
        # W λ = 0, g·λ = −1
        impulses, left = nnls(np.vstack([scaled, depth]), np.append(np.zeros(len(gaps)), -1.0))
    except RuntimeError:  # it does not converge: not known
        return np.zeros(len(gaps), bool)
    acts = impulses > FIXED * impulses.max()
    deep = gaps @ (impulses / size) < -least * (impulses / size).sum()
    return acts & bool(left < APART and deep)


def closing_contacts(system: "CompiledSystem", state: "State", h: float, t: float, tol_v: float) -> np.ndarray:
    """Find contacts (nc,) that are closed, or touch and approach, after a step that joints and drivers alone have
    moved.

    Parameters
    ----------
    system : System
    state : State
        At the start of the step.
    h : float [s]
    t : float [s]
        End of the step; signals are left at it.
    tol_v : float [m/s]
        Approach speeds below it are none.

    Raises
    ------
    ModelError
        Joints and drivers have no configuration at the end.
    """
    end = moved_by_joints(system, state, h, t)
    size = system.size_at(end)
    gaps, speeds = system.gaps(end), system.contact_velocities(end)[:, 0]
    return (gaps < -EXACT * size) | ((gaps <= TOUCHES * size) & (speeds < -tol_v))


def moved_by_joints(system: "CompiledSystem", state: "State", h: float, t: float) -> "State":
    """State after a step h that ends at t [s], as joints and drivers alone make it; ModelError if they make none."""
    from fem_mbs.system.checks.model_checks import project_positions, project_velocities

    system.update_signals(t)
    end = system.moved(state, h * state.V)
    project_positions(system, end)
    project_velocities(system, end)
    return end
