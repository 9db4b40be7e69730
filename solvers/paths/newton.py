"""Newton's iteration to one equilibrium, at a load factor that is given or that one more equation determines.

With the load factor λ as an unknown the iteration (1) of `fem_mbs.solvers.statics` gets a border,

    [ K + K_g   −Gᵀ   −p_f ] [ δq ]   [ f + Gᵀ μ ]
    [   −G       0    −p_g ] [ δμ ] = [    g     ] ,      p_f = ∂(f + Gᵀμ)/∂λ,  p_g = ∂g/∂λ                        (1)
    [   cᵀ       0     c_λ ] [ δλ ]   [    e     ]

whose last row is what `fem_mbs.solvers.paths.control` asks for. The bordered matrix is regular at limit points, where
K + K_g on the motions that constraints allow is not; it is singular at branch points.

Source: docs/theory/load_paths.md, (1)-(3).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.linear.factors import factors
from fem_mbs.system import element_states
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.solvers.equilibrium import Equilibrium
    from fem_mbs.solvers.paths.control import Control
    from fem_mbs.system.compiled import CompiledSystem


INCREMENT_TOLERANCE = 1e-9  # of δx/size and δθ; with quadratic convergence the error left is its square


class Found(NamedTuple):
    """Result of an iteration; the state is None where it failed, and ``history`` has its residuals."""

    state: State | None
    lam: np.ndarray | None
    factor: float
    iterations: int
    history: list


def extent(system: "CompiledSystem", state: State) -> float:
    """Largest extent of the model [m]; its size for nodes that all lie in one point (a body on ground)."""
    return float(np.ptp(state.x[system.spatial], axis=0).max()) or system.size


def newton(
    problem: "Equilibrium",
    state: State,
    lam: np.ndarray,
    factor: float,
    tolerance: float,
    max_iterations: int,
    control: "Control | None" = None,
    predictor: tuple | None = None,
) -> Found:
    """Iterate to equilibrium from a state with multipliers; at the load factor, or where ``control`` says.

    ``predictor``: changes of configuration (n,), multipliers (m,) and load factor to begin with.
    """
    system, history = problem.system, []
    problem.set_load(factor)
    state, lam = state.copy(), lam.copy()
    length = extent(system, state)
    if predictor is not None:
        delta = system.expanded(predictor[0])
        element_states.update_states(system.data[0], state.x, state.R, delta)
        state, lam, factor = system.moved(state, delta), lam + predictor[1], factor + predictor[2]
        problem.set_load(factor)
    for count in range(1, max_iterations + 1):
        right = problem.residual(state, lam, factor, problem.mixed)
        if right is None:
            break
        if control is None:
            change = 0.0
            lam, step = _step(problem, state, lam, factor, right, count)
        else:
            step, change = bordered_step(problem, state, lam, factor, right, control)
        if step is None or not np.isfinite(step).all():
            break
        delta = system.expanded(step[: system.n])
        element_states.update_states(system.data[0], state.x, state.R, delta)
        state, lam, factor = system.moved(state, delta), lam + step[system.n :], factor + change
        problem.set_load(factor)
        right = problem.residual(state, lam, factor, False)
        if right is None:
            break
        error, assembled = _error(problem, state, lam, right, length, tolerance)
        history.append(error)
        turned = np.abs(delta[:, 3:]).max() if (system.dof.reshape(-1, 6)[:, 3:] >= 0).any() else 0.0
        moved = max(np.abs(delta[:, :3]).max() / length, turned)
        settled = (error <= tolerance and assembled) or moved <= INCREMENT_TOLERANCE
        if problem.contacts is not None:
            settled &= problem.contacts.error() <= tolerance
        if settled and (control is None or control.reached(state, factor)):
            return Found(state, lam, factor, count, history)
    return Found(None, None, factor, count, history)


def _error(problem, state, lam, right, length, tolerance):
    """Residual of the unmixed forces relative to the magnitudes of all forces; and whether constraints are
    satisfied.
    """
    system = problem.system
    forces, gaps = system.expanded(right[: system.n]), right[system.n :]
    scale = problem.scale(state, lam)
    both = [np.linalg.norm(values[:, part]) for values in (forces, scale) for part in (slice(3), slice(3, 6))]
    error = max(both[0] / max(both[2], both[3] / length, 1e-300), both[1] / max(both[3], both[2] * length, 1e-300))
    return error, not len(gaps) or np.abs(gaps).max() <= tolerance * max(system.size, length)


def _step(problem, state, lam, factor, right, count):
    """Multipliers, and the increments (n + m,) at a given load factor, or None where the matrix is singular."""
    contacts = problem.contacts
    step = _increments(problem, state, lam, factor, right)
    if step is None and count == 1 and (problem.system.m or contacts is not None):
        # a mechanism (a pendulum) has no stiffness before its joints, or a floor, carry the load
        lam = (problem if contacts is None else contacts).carried(state, lam, right)
        right = problem.residual(state, lam, factor, problem.mixed)
        step = None if right is None else _increments(problem, state, lam, factor, right)
    return lam, step


def _increments(problem, state, lam, factor, right):
    """Increments (n + m,) at a given load factor, or None where the matrix is singular."""
    if problem.contacts is not None:
        return problem.contacts.step(problem, state, lam, right)
    solve = problem.tangent(state, lam, factor)
    return None if solve is None else solve(right)


def bordered_step(
    problem: "Equilibrium", state: State, lam: np.ndarray, factor: float, right: np.ndarray, control: "Control"
) -> tuple:
    """Increments (n + m,) and that of the load factor of (1); (None, 0) where it is singular."""
    row, c_factor, rest = control.row(state, factor)
    solve = bordered(problem, state, lam, factor, row, c_factor)
    if solve is None:
        return None, 0.0
    step = solve(np.append(right, rest))
    return step[:-1], float(step[-1])


def bordered(
    problem: "Equilibrium", state: State, lam: np.ndarray, factor: float, row: np.ndarray, c_factor: float
) -> Callable | None:
    """Factorised matrix of (1); returns a function that solves it, or None if it is singular."""
    from scipy.sparse import block_array, csc_array

    rate, _ = problem.load_rate(state, lam, factor)
    if problem.residual(state, lam, factor, problem.mixed) is None:  # gradients of constraints are those of the state
        return None
    A, rate = problem.matrix(state, lam, problem.mixed), problem.solvable(rate)
    last = np.concatenate([row, np.zeros(problem.rows)])
    if not (np.isfinite(A.data).all() and np.isfinite(last).all() and np.isfinite(rate).all()):
        return None
    blocks = [[A, csc_array(-rate[:, None])], [csc_array(last[None]), csc_array([[c_factor]])]]
    try:
        solve = factors(block_array(blocks)).solve
    except RuntimeError:
        return None
    return lambda right: solve(np.append(problem.solvable(right[:-1]), right[-1]))
