"""Load steps: the way from no load to all of it, halved where it does not converge, doubled where it is easy.

Every equilibrium on the way is recorded, with the load factor in the place of time, its reactions, and how many motions
lower the potential energy there (`fem_mbs.solvers.paths.spectrum`).

Source: docs/theory/statics_and_modes.md, (1), (2).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.runtime import output_path
from fem_mbs.solvers.counting_rows import counting_rows
from fem_mbs.solvers.equilibrium import rotating_matrices
from fem_mbs.solvers.paths.contact_forces import NEAR
from fem_mbs.solvers.paths.newton import extent, newton
from fem_mbs.solvers.paths.spectrum import spectrum
from fem_mbs.solvers.paths.untouched import CLOSED, no_penetration, refuse_shapes
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.solvers.stepping.kernels.records import records
from fem_mbs.system import assembly, element_states
from fem_mbs.system.checks import element_checks
from fem_mbs.system.records import ALL
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from fem_mbs.element.base import Element
    from fem_mbs.element.contact import Contact
    from fem_mbs.nodes import Node
    from fem_mbs.results.results import Results
    from fem_mbs.solvers.equilibrium import Equilibrium
    from fem_mbs.system.compiled import CompiledSystem


EASY, SMALLEST_STEP = 6, 1e-6
RENEWALS = 20  # of the surfaces of contacts, until these are where they touch


def refuse(owner: Named, system: "CompiledSystem") -> None:
    """ParameterError for what no path of equilibria can have: rows or states of velocities, friction in joints."""
    for element in [e for e in system.non_holonomic if system.is_on(e)][:1]:
        message = (
            f"{label(element)} constrains velocities, no positions: its position at rest depends on the path. "
            "Run it with damping until it is at rest, or constrain it by a joint of positions"
        )
        raise ParameterError(owner, "model", element.name, message, prefixed=False)
    refuse_shapes(owner, system)
    for element in [e for e in system.elements if e.abstract][:1]:
        message = (
            f"{label(element)} has states of first order, which are velocities here: equilibria of positions do not "
            "support them. Run it with damping until it is at rest, or remove it"
        )
        raise ParameterError(owner, "model", element.name, message, prefixed=False)
    for element in system.frictions[:1]:
        message = (
            f"{label(element)} can stick at any position: the equilibrium depends on the path. "
            "Run it until it is at rest, or remove the friction"
        )
        raise ParameterError(owner, "model", element.name, message, prefixed=False)


class LoadSteps:
    """The way from no load to all of it: where it has come to (state, multipliers, load factor), and its records.

    ``warnings``, list of str: warnings at the last equilibrium.
    """

    def __init__(self, problem: Any, result: StaticResult, stability: bool, who: str) -> None:
        self.problem, self.result, self.stability, self.who = problem, result, stability, who
        system = problem.system
        self.state = system.initial.copy()
        self.state.V[:], self.state.t = 0.0, problem.t
        problem.set_load(0.0)  # rotations of drivers are counted from their initial angle
        element_states.initial_states(system.data[0], self.state.x, self.state.R, self.state.V)
        self.lam, self.factor, self.records = np.zeros(system.m), 0.0, []
        self.warnings: list[str] = []

    def follow(self, steps: int, adaptive: bool, tolerance: float, max_iterations: int) -> None:
        """Apply the whole load; SolverError where a load step fails that is not, or cannot be, halved."""
        system, result = self.problem.system, self.result
        size = largest = 1.0 / steps
        self._keep(0)
        while self.factor < 1.0:
            target = self.factor + size
            target = target if target < 1.0 - 1e-9 * size else 1.0
            before, contacts = internal_states(system), self.problem.contacts
            self.problem.count(self.state)
            if contacts is not None:
                contacts.begin(self.problem, self.state, self.lam, target)
            new, lam, _, count, history = newton(self.problem, self.state, self.lam, target, tolerance, max_iterations)
            trouble = None if new is None else element_checks.trouble(system, new)
            if new is None or trouble:
                restore(system, before)
                result.rejected += 1
                size *= 0.5
                if not adaptive or size < SMALLEST_STEP:
                    raise failure(self.problem, self.state, self.lam, target, history, adaptive, trouble)
                if contacts is not None:
                    contacts.restore()
                continue
            if contacts is not None:
                early = contacts.hasty()
                if early is not None:
                    restore(system, before)
                    size *= 0.5
                    if not adaptive or size < SMALLEST_STEP:
                        raise too_early(early, target, adaptive)
                    contacts.restore()
                    continue
                contacts.accept(new)
            no_penetration(self.who, system, new, target)
            lam = self.problem.least(new, lam)
            self.state, self.lam, self.factor = new, lam, target
            element_states.accept_states(system.data[0], new.x, new.R, new.V, lam, ALL, 0)
            if target == 1.0 and contacts is not None:
                self._renew(tolerance, max_iterations)
                new, lam = self.state, self.lam
            result.load_factors.append(target)
            result.iterations.append(count)
            self._keep(count)
            if self.stability:
                matrices = tangent_matrices(self.problem, new, lam, target)
                found = None if matrices is None else spectrum(*matrices, system.circulatory)
                result.negative.append(None if found is None else found.negative)
            if count <= EASY:
                size = min(2.0 * size, largest)

    def _renew(self, tolerance, max_iterations):
        """Solve at the full load again until what contacts without friction touch is where it was at the solution.

        Their surfaces follow from one equilibrium to the next: the face that a node is on, smoothed normals. With
        friction the slip is counted from them, and stays that of the load step: a warning is issued if it is off by
        more than what is allowed to close from afar, as surfaces are that no solution is found on.
        """
        system, contacts = self.problem.system, self.problem.contacts
        for count in range(RENEWALS + 1):
            off, contact = contacts.off(self.state)
            size = system.size_at(self.state)
            if off <= (NEAR if contacts.slips() else 0.5 * CLOSED) * size:
                return
            if contacts.slips() or count == RENEWALS:
                how = "because its slip counts there" if contacts.slips() else f"still after {RENEWALS} solutions on it"
                self.warnings.append(moved_on(contact, off, how))
                return
            before = internal_states(system)
            contacts.begin(self.problem, self.state, self.lam, 1.0)
            new, lam, *_ = newton(self.problem, self.state, self.lam, 1.0, tolerance, max_iterations)
            if new is None or element_checks.trouble(system, new):
                restore(system, before)
                contacts.restore()
                self.warnings.append(moved_on(contact, off, "and no equilibrium on it was found"))
                return
            contacts.accept(new)
            self.state, self.lam = new, self.problem.least(new, lam)
            element_states.accept_states(system.data[0], new.x, new.R, new.V, self.lam, ALL, 0)

    def _keep(self, count):
        self.records.append(record(self.problem, self.state, self.lam, self.factor, count))
        self.result._reactions.append(self.problem.reactions(self.state, self.lam, self.factor))
        if self.problem.contacts is not None:
            self.result._contacts.append(self.problem.contacts.lam * self.problem.system.force_scales)


def internal_states(system: "CompiledSystem") -> list[np.ndarray]:
    """Internal variables of all elements, to `restore`."""
    return [group.state.copy() for group in system.groups]


def restore(system: "CompiledSystem", states: list[np.ndarray]) -> None:
    """Restore internal variables."""
    for group, old in zip(system.groups, states):
        group.state[:] = old


def tangent_matrices(
    problem: "Equilibrium", state: State, lam: np.ndarray, factor: float
) -> "tuple[csc_array, csc_array, csc_array] | None":
    """K, D (n, n) and G (m, n) of (1) of `fem_mbs.solvers.paths.spectrum`, with the forces at a load factor.

    Contacts that take part are rows of G where they are pressed; None where one slides.
    """
    from scipy.sparse import csc_array, diags_array, vstack

    system, m = problem.system, problem.system.m
    problem.set_load(factor)
    if problem.rotation is None:
        K, G = system.matrices(state, lam[:m])[2:]
    else:
        w = np.sqrt(factor) * problem.rotation
        K, _, _ = rotating_matrices(system, state, lam, w, twin=problem.twin)
        G = system.matrices(state)[3]
    if problem.contacts is not None:
        closed = problem.contacts.closed_rows(state)
        if closed is None:
            return None
        K = csc_array(K + closed[0])
        G = csc_array(vstack([G, closed[1]]))
    if problem.held is not None and len(problem.held.numbers):
        K = csc_array(K + problem.held.turning(state, lam[m:]))
        G = csc_array(vstack([G, problem.held.rows()]))
    if problem.rotation is None:
        K = csc_array(K + _of_imbalance(problem, state, lam, factor))
    G = G[counting_rows(system, G)]
    D = np.tile(np.repeat([1.0, extent(system, state) ** 2], 3), len(system.nodes))[system.dof >= 0]
    return K, diags_array(D).tocsc(), G


def _of_imbalance(problem, state, lam, factor):
    """Correction that makes K (n, n) symmetric where the tolerance leaves unbalanced moments.

    Rotations do not commute: K = Hessian − ½ skew(m) in each node, with its moment m in body axes. In equilibrium m is
    what the tolerance leaves; of bodies without stiffness of their own that may be all of an entry.
    """
    from scipy.sparse import coo_array

    system = problem.system
    free = np.flatnonzero(system.dof >= 0)
    left = problem.residual(state, lam, factor, False)
    if left is None:
        return 0.0
    moments = system.expanded(left[: len(free)])[:, 3:]
    first = 6 * np.arange(len(moments))[:, None]
    rows, columns = (first + [[4, 5, 3, 5, 3, 4]]).ravel(), (first + [[3, 3, 4, 4, 5, 5]]).ravel()
    entries = 0.5 * moments[:, [2, 1, 2, 0, 1, 0]] * [1, -1, -1, 1, 1, -1]  # skew(m)/2
    size = 6 * len(moments)
    return coo_array((entries.ravel(), (rows, columns)), shape=(size, size)).tocsc()[free][:, free]


def record(
    problem: "Equilibrium", state: State, lam: np.ndarray, factor: float, count: int, at: float | None = None
) -> dict:
    """One equilibrium as a record of a run, with ``at`` or the load factor in the place of time."""
    system = problem.system
    problem.set_load(factor)
    V, A = problem.motion(state, factor)
    record = records(system, 1, forces=problem.contacts is not None or problem.held is not None)
    record["t"][0], record["step"][0] = factor if at is None else at, count
    record["position"][0], record["quaternion"][0] = state.x, state.Q
    record["velocity"][0], record["acceleration"][0] = V, A
    record["multiplier"][0] = lam[: system.m]
    record["iterations"][0, 0] = count
    assembly.output_values(system.data[0], state.x, state.R, V, A, lam[: system.m], record["output"][0])
    record_contacts(problem, state, record)
    record["energy"][0, 1] = assembly.potential_energy(system.data[0], state.x, state.R, V)
    return record


def record_contacts(problem: "Equilibrium", state: State, record: dict) -> None:
    """Gaps, places, forces and status of the contacts that are elements."""
    system, contacts = problem.system, problem.contacts
    if not system.nc_fixed:
        return
    record["gap"][0] = system.gaps(state)[: system.nc_fixed]
    for group in system.groups:
        if group.is_contact and group.first_contact < system.nc_fixed:
            at = slice(group.first_contact, group.first_contact + group.n)
            for name in ("point", "normal", "tangents"):
                record[f"contact_{name}"][0, at] = group.contact_data[name]
    if problem.held is not None:
        record["contact_force"][0], record["contact_status"][0] = problem.held.force, problem.held.status
    if contacts is not None:
        record["contact_force"][0] = contacts.lam * system.force_scales
        record["contact_status"][0] = contacts.status


def write(
    system: "CompiledSystem", records: list[dict], save: str | Path | None, statistics: dict, parameters: dict
) -> "Results":
    """Records as `Results`, in memory or in a file."""
    from fem_mbs.results.file.writer import ResultsWriter

    forces = records[0]["contact_force"].size > 0
    writer = ResultsWriter(system, output_path(save), parameters=parameters, forces=forces)
    writer.end()
    for k, record in enumerate(records):
        record["step"][0] = k
    writer.append({name: np.concatenate([record[name] for record in records]) for name in records[0]})
    return writer.close("complete", **statistics)


def failure(
    problem: "Equilibrium",
    state: State,
    lam: np.ndarray,
    factor: float,
    history: list,
    adaptive: bool,
    trouble: tuple | None,
) -> SolverError:
    """Error with the largest row of the residual, or the message of an element, and the usual remedy."""
    system = problem.system
    if trouble:
        element, text = trouble
        return SolverError(f"load factor {factor:.6g}: {text}", history=history, element=element)
    where, element = largest_row(problem, state, lam, factor)
    residuals = ", ".join(f"{e:.1e}" for e in history[-4:]) or "none (singular or not finite)"
    cure = (
        "Usual causes: an instability (buckling, snap-through: the load cannot grow on this path; fem_mbs.load_path "
        "follows it by arc length), a mechanism without stiffness (fem.explain lists free motions), or a "
        "beam turned by more than 2.8 rad between its ends (use more elements)"
        if adaptive
        else "Use adaptive=True or more steps"
    )
    if problem.contacts is not None:
        where += problem.contacts.sliding()
    elif system.nc or system.searches:
        cure = (
            "Contacts of this model carry nothing in statics (contact groups, steady rotation, load paths): bodies "
            "that they alone support have no equilibrium here. Let a damped run in time settle, or put a joint "
            f"there. {cure}"
        )
    return SolverError(
        f"load factor {factor:.6g}: no equilibrium found. Residuals ... {residuals}.{where} {cure}.{repeated(system)}",
        history=history, element=element,
    )  # fmt: skip


def moved_on(contact: "Contact", off: float, how: str) -> str:
    """Message about a contact whose surface differs from that of the equilibrium."""
    return (
        f"the surface under {label(contact)} (the face it is on, smoothed normals) has moved on by {off:.2g} m from "
        f"where the equilibrium has it, {how}. Gaps are off by as much, and forces accordingly. More load steps, "
        "smooth=False in the SurfaceOnSurface, or nodes away from corners of faces may do"
    )


def too_early(contact: "Contact", factor: float, adaptive: bool) -> SolverError:
    """Error of a contact with friction that closes in a load step, from a position that does not determine its slip
    before that.
    """
    cure = (
        "The model moves there at once, however small the load: place it so that it touches at the start (gap 0), hold "
        "it by springs on its way, or leave the friction out"
        if adaptive
        else "Use adaptive=True, which halves the load step until the touch is known"
    )
    return SolverError(
        f"load factor {factor:.6g}: {label(contact)} closes from afar within a load step, and its friction depends on "
        f"where it touched. {cure}",
        element=contact,
    )


def repeated(system: "CompiledSystem") -> str:
    """A cause to name where the tangent is singular: redundant constraint rows that were allowed."""
    if system.independent:
        return ""
    return (
        " Constraints are redundant here (redundant='allow'): at a position where more of them are so than nearby "
        "the path cannot be continued."
    )


def largest_row(
    problem: "Equilibrium", state: State, lam: np.ndarray, factor: float
) -> "tuple[str, Element | Node | None]":
    """Location of the largest residual, in words, and the element or node."""
    problem.set_load(factor)
    right = problem.residual(state, lam, factor, False)
    if right is None or not len(right):
        return "", None
    element, text = problem.system.unknown(int(np.argmax(np.abs(right))))
    return f" Largest row: {text}.", element
