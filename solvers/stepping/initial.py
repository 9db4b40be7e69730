"""Consistent initial accelerations and multipliers.

    [ M  −Gᵀ ; −G  −ε ] (v̇, λ) = ( f , γ₂ − ε λ )         γ₂ = vᵀHv + 2 ∂G/∂t v + ∂²g/∂t²

repeated with the last λ on the right: the shift ε makes redundant constraints solvable (their multipliers tend to
those of minimum norm) and disappears from the solution. Closed contacts take no part: they have no smooth multiplier.

Source: docs/theory/decoupled_nsga.md, (22), decision 8.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.element.kinds import BeamLike, ShellLike
from fem_mbs.errors import SolverError, label
from fem_mbs.jit import address_of, kernel, vector
from fem_mbs.system.assembly import dynamics
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.constraints import RATES, constraint_tangents, constraints, convective_terms
from fem_mbs.system.global_matrices import clear_matrix, expand_add, factorise, reduce_vector, solve_in_place
from fem_mbs.system.layout import Matrices
from fem_mbs.system.records import ALL, SMOOTH
from fem_mbs.system.state import State
from fem_mbs.system.system import System

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

REPETITIONS = 4  # of the proximal step; each gains the six digits of ε


@kernel
def equations(d, epsilon, x, R, V, zero_A, lam, g, rate, gamma, Ma, f):
    """Assemble the matrix of the smooth motion, and the right-hand sides f (full) and gamma (m,) = γ₂."""
    clear_matrix(d, SMOOTH)
    dynamics(d, SMOOTH, x, R, V, zero_A, Ma, f, True, 1.0, 0.0, 0.0, 0.0, R, False)
    if d.m > 0:
        constraints(d, x, R, V, g, rate)
        constraint_tangents(d, SMOOTH, x, R, V, lam, 0.0, 0.0, 1.0, 0.0, epsilon, RATES, R)
        convective_terms(d, x, R, V, gamma)


@kernel
def consistent(d, epsilon, x, R, V, A, lam, g, rate, gamma, Ma, f, right, zero_A):
    """Fill A (N, 6) and lam (m,); the other arrays are scratch. False when the matrix is singular."""
    equations(d, epsilon, x, R, V, zero_A, lam, g, rate, gamma, Ma, f)
    return solve_equations(d, epsilon, A, lam, gamma, f, right)


@kernel
def solve_equations(d, epsilon, A, lam, gamma, f, right):
    """Solve what `equations` has assembled, with forces f (full) that may have been added to."""
    n, m, arm = d.n, d.m, vector(d.row_arm_at, d.m)
    if not factorise(d, SMOOTH):
        return False
    for i in range(m):
        lam[i] = 0.0
    solution = right[: n + m]
    for _ in range(REPETITIONS if m > 0 else 1):
        reduce_vector(d, f, solution)
        for i in range(m):
            solution[n + i] = gamma[i] - epsilon / arm[i] ** 2 * lam[i]
        solve_in_place(d, SMOOTH, address_of(right))
        for i in range(m):
            lam[i] = solution[n + i]
    for i in range(A.shape[0]):
        for j in range(6):
            A[i, j] = 0.0
    expand_add(d, 1.0, solution, A)
    return True


@Keywords.known
def initial_accelerations(
    system: CompiledSystem, state: State, epsilon: float = 1e-6, *, matrices: Matrices | None = None
) -> tuple:
    """Accelerations (N, 6) and multipliers (m,) that satisfy the equations of motion and g̈ = 0 at a state.

    Parameters
    ----------
    system : System
    state : State
    epsilon : float, -
        Proximal shift, relative.
    matrices : Matrices, optional
        Those of a stepper; the first of them is used, which has no rows of contacts. Default: the system's own.

    Raises
    ------
    SolverError
        If mass and constraints do not determine them (a node without mass that only springs hold).
    """
    owner = Named("initial_accelerations")
    owner.as_instance("system", system, System, "a System: model.compile()")
    owner.as_instance("state", state, State)
    epsilon = owner.number("epsilon", epsilon, at_least=0)
    if matrices is not None:
        owner.as_instance("matrices", matrices, Matrices, "what System.lay_out returns")
    N = len(system.nodes)
    A, lam, gamma = np.zeros((N, 6)), np.zeros(system.m), np.zeros(system.m)
    right = np.zeros(system.n + system.m)
    system.update_signals(state.t)
    d = (matrices or system.own).data[0]
    good = consistent(
        d, epsilon / system.mean_mass, state.x, state.R, state.V, A, lam, system.g, system.rate, gamma,
        system.Ma, system.f, right, system.no_acceleration,
    )  # fmt: skip
    system.raise_python_errors(state.t)
    if not good or not (np.isfinite(A).all() and np.isfinite(lam).all()):
        system.raise_nonfinite(state)
        owner, cause = _without_mass(system, state)
        raise SolverError(
            f"initial accelerations: mass and constraints are singular. {cause}", step=0, time=state.t, element=owner
        )
    return A, lam


def _without_mass(system, state):
    """An element whose node has no mass, or None, and the usual cause of a singular matrix in words."""
    for beam in system.elements:
        section = beam.section if isinstance(beam, BeamLike) else None
        if section is not None and section.mass_per_length > 0 and not section.inertia_per_length.any():
            cure = "give it inertia_per_length: rotations of its nodes are unknowns of their own"
            return beam, f"the section of {label(beam)} has mass but no rotary inertia; {cure}"
    mass = system.expanded(system.matrices(state, mass_only=True).diagonal())
    for i in np.flatnonzero((system.free & (mass == 0.0)).any(axis=1)):
        node = system.nodes[i]
        holds = [element for element in system.elements if node in element.nodes and element.role == "dynamic"]
        beams = [element for element in holds if isinstance(element, (BeamLike, ShellLike))]
        if beams:
            cure = "its section has no mass: give it a density (or mass_per_length and inertia_per_length)"
            return beams[0], f"{label(node)} has no mass, because {label(beams[0])} has none; {cure}"
        by = f", which {label(holds[0])} holds," if holds else ""
        return node, f"{label(node)}{by} has no mass: give it a small one, or fix it"
    return None, "Usual cause: a node that springs or beams hold but that has no mass; give it a small one, or fix it"


def react(engine: "Engine", state: State) -> bool:
    """Give the first reactions to constraints whose internal variables depend on them; return whether one changed."""
    from fem_mbs.jit import arguments_of
    from fem_mbs.system import element_states

    system, changed = engine.system, False
    kernels = {group: group.elements[0].kernels.get("accept") for group in system.groups}
    asking = {group for group, accept in kernels.items() if accept and "lam" in arguments_of(accept)}
    if not asking:
        return False
    before = {group: group.state.copy() for group in system.groups}
    element_states.accept_states(system.data[0], state.x, state.R, state.V, engine.arrays["lam_report"], ALL, 0)
    for group, old in before.items():
        if group in asking:
            changed = changed or not np.array_equal(group.state, old)
        else:
            group.state[:] = old
    return changed
