"""Static equilibrium: f(q, λ) + Gᵀ μ = 0, g(q, λ) = 0, by load steps and Newton iterations.

The load factor λ goes from 0 to 1. It multiplies gravity and the functions of time of loads (their value at time t) and
moves drivers from their value at the start to that at time t. One iteration:

    [ K + K_g   −Gᵀ ] [ δq ]   [ f + Gᵀ μ ]                                K = −∂f/∂q,  K_g = −∂(Gᵀμ)/∂q          (1)
    [   −G       0  ] [ δμ ] = [    g     ] ,      q ← q ∘ exp(δq),  μ ← μ + δμ

with elements that can do so (beams) in mixed form: they keep their section forces w as iterates of their own, which
removes the false axial forces of a linearised rotation. Full steps are taken; increments are never capped (a capped
rotation ruins the mixed iteration). What counts as converged: the residual of the *un*mixed forces, relative to the sum
of the magnitudes of all element forces (relative to the load it could never close for slender beams), or an increment
below round-off of the coordinates.

Steady rotation with angular velocity ω about an axis through the origin: forces of inertia are added with v = (ω × x,
Rᵀω), v̇ = (ω × (ω × x), 0), so that the equilibrium is that in the rotating frame.

Stability: at the equilibrium the lowest eigenvalue of the tangent stiffness on the motions that the constraints allow,

    K φ − Gᵀ δμ = λ D φ,   G φ = 0,   D = 1 (displacements), L² (rotations, L the size of the model)                (2)

is negative when a small disturbance lowers the potential energy. Follower loads, and moments of fixed direction, have
no potential and make K unsymmetric: det K < 0 then is divergence whatever the mass, otherwise the mass decides. Flutter
and stabilisation by gyroscopic moments are for `fem_mbs.solvers.modal.modes`.

Source: docs/theory/statics_and_modes.md, (1)-(3), (7), (8).
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments import ArrayLike, Keywords, Named
from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.model import compiled
from fem_mbs.runtime import output_path
from fem_mbs.solvers import eigen
from fem_mbs.solvers.equilibrium import Equilibrium, rotating_matrices
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.solvers.stepping.records import records
from fem_mbs.system import assembly, element_checks, model_checks
from fem_mbs.system.in_use import alone

INCREMENT_TOLERANCE = 1e-9  # of δx/size and δθ; with quadratic convergence the error left is its square
EASY, SMALLEST_STEP = 6, 1e-6


def _refuse_velocity_rows(owner, system):
    """Raise for joints that hold no position: each place that they let the model reach is one of its equilibria."""
    for element in [e for e in system.non_holonomic if system.is_on(e)][:1]:
        message = (
            f"{label(element)} constrains velocities, no positions: where the model rests depends on its way there. "
            "Run it with damping until it rests, or hold it by a joint of positions"
        )
        raise ParameterError(owner, "model", element.name, message, told=False)
    for element in system.frictions[:1]:
        message = (
            f"{label(element)} holds the model wherever it is slow enough: where it rests depends on its way there. "
            "Run it until it rests, or leave the friction out"
        )
        raise ParameterError(owner, "model", element.name, message, told=False)


@alone("a static equilibrium")
@Keywords.known
def static_equilibrium(
    model: Any,
    *,
    t: float | None = None,
    steps: int = 1,
    adaptive: bool = True,
    mixed: bool = True,
    tolerance: float = 1e-9,
    max_iterations: int = 15,
    rotation: ArrayLike | None = None,
    stability: bool = True,
    save: str | Path | None = None,
) -> StaticResult:
    """Find the static equilibrium of a model under its loads, gravity and drivers.

    Parameters
    ----------
    model : Model or System
        Starts from the configuration of its initial state; initial velocities are ignored, also where they do not fit
        drivers.
    t : float, optional [s]
        Time at which functions of time are taken (a load that begins later than this is absent), and that of
        ``result.state``; default: that of the initial state. Drivers move from their value at the initial state.
    steps : int ≥ 1
        Equal load steps to begin with. One is right for most models. A column that bends out under a small side load
        needs more the smaller that is (2.5 times its buckling load: 40 with 1 % of it, above 100 with 0.1 %).
    adaptive : bool
        Halve a load step that does not converge, double after an easy one (at most to the size ``steps`` asks for).
    mixed : bool
        Beams in mixed form (see the head of this file). False is plain Newton: same equilibrium, far smaller steps.
    tolerance : float > 0
        Of the residual relative to the magnitudes of the element forces.
    max_iterations : int ≥ 1, per load step
    rotation : (3,) [rad/s], optional
        Steady rotation of the whole model about an axis through the origin: adds centrifugal forces.
    stability : bool
        Find the lowest eigenvalue of the stiffness at the equilibrium, and warn when it is unstable. It costs about
        as much as an iteration or two; False leaves ``stable`` unknown.
    save : str, optional
        Results file of the load path (ParaView), with the load factor in the place of time.

    Returns
    -------
    StaticResult

    Raises
    ------
    ParameterError
        A parameter out of range; a joint with rows of velocities (`KnifeEdge`, `RollingDisc`), which holds no position.
    SolverError
        A load step failed (after halving to 1e-6 of the load, when adaptive), or a contact was penetrated: contacts
        are not part of this solver.

    Warns
    -----
    UserWarning
        The equilibrium is unstable: names the node that would leave it.

    Examples
    --------
    >>> import numpy as np
    >>> from fem_mbs.model import Model
    >>> from fem_mbs.elements.beams.line import beam_line
    >>> from fem_mbs.elements.forces.loads import PointMoment
    >>> from fem_mbs.elements.beams.sections import Section
    >>> from fem_mbs.nodes import Node6
    >>> root, tip = Node6(fixed=True), Node6([10, 0, 0], name="tip")
    >>> model = Model("roll-up")
    >>> _ = model.add(beam_line(root, tip, 10, Section.general(EA=1e4, GA2=1e4, GA3=1e4, GJ=100, EI2=100, EI3=100)))
    >>> _ = model.add(PointMoment(tip, [0, 0, 2 * np.pi * 100 / 10]))
    >>> bool(abs(static_equilibrium(model).position(tip)).max() < 1e-9)
    True
    """
    owner = Named("static_equilibrium")
    steps = owner.as_integer("steps", steps)
    max_iterations = owner.as_integer("max_iterations", max_iterations)
    tolerance = owner.positive("tolerance", tolerance)
    adaptive, mixed = owner.as_flag("adaptive", adaptive), owner.as_flag("mixed", mixed)
    stability = owner.as_flag("stability", stability)
    w = None if rotation is None else owner.as_vector("rotation", rotation)
    owner.as_path("save", save)
    system = compiled(owner, model, check="positions")
    _refuse_velocity_rows(owner, system)
    system.number_nodes()
    t = owner.number("t", float(system.initial.t) if t is None else t, "s")
    problem = Equilibrium(system, t, mixed, w)
    result = StaticResult(system, w)
    model_checks.state_fits(system, system.initial)
    path = _LoadPath(problem, result)
    try:
        path.follow(steps, adaptive, tolerance, max_iterations)
        _no_penetration(system, path.state)
    finally:
        system.set_gravity(system.gravity)
        system.update_signals(t)
        if path.factor >= 1.0:
            _conclude(problem, result, path, stability)
        if path.records:
            known = {"lowest_eigenvalue": result.lowest_eigenvalue, "stable": result.stable}
            known = {} if np.isnan(result.lowest_eigenvalue) else known
            result.results = _write(system, path.records, save, known, steps=steps, tolerance=tolerance)
    for text in element_checks.remarks(system, path.records[-1]["output"]):
        warnings.warn(text, UserWarning, stacklevel=4)  # of the caller, behind two decorators
    if result.stable is False:
        cure = (
            "A motion in time leaves this equilibrium; another one is found from a disturbed start, or with a small "
            "load that chooses the side; where there is one, with more load steps, because large ones pass its branch"
            if w is None
            else "Unless gyroscopic moments hold it (fem_mbs.modes(system, about=…).stable tells), a motion leaves it"
        )
        message = f"static_equilibrium of '{system.name}': {result._stability()}. {cure}"
        warnings.warn(message, UserWarning, stacklevel=4)  # of the caller, behind two decorators
    return result


class _LoadPath:
    """The way from no load to all of it: where it has come to (state, multipliers, load factor), and its records."""

    def __init__(self, problem: Any, result: StaticResult) -> None:
        self.problem, self.result = problem, result
        system = problem.system
        self.state = system.initial.copy()
        self.state.V[:], self.state.t = 0.0, problem.t
        problem.set_load(0.0)  # drivers count their turns from where they begin
        assembly.initial_states(system.data[0], self.state.x, self.state.R, self.state.V)
        self.lam, self.factor, self.records = np.zeros(system.m), 0.0, []

    def follow(self, steps: int, adaptive: bool, tolerance: float, max_iterations: int) -> None:
        """Go all the way; SolverError where a load step fails that is not, or cannot be, halved."""
        system, result = self.problem.system, self.result
        size = largest = 1.0 / steps
        self._keep(0)
        while self.factor < 1.0:
            target = self.factor + size
            target = target if target < 1.0 - 1e-9 * size else 1.0
            before = [group.state.copy() for group in system.groups]
            new, lam, count, history = _newton(self.problem, self.state, self.lam, target, tolerance, max_iterations)
            trouble = None if new is None else element_checks.trouble(system, new)
            if new is None or trouble:
                for group, old in zip(system.groups, before):
                    group.state[:] = old
                result.rejected += 1
                size *= 0.5
                if not adaptive or size < SMALLEST_STEP:
                    raise _failure(self.problem, self.state, self.lam, target, history, adaptive, trouble)
                continue
            self.state, self.lam, self.factor = new, lam, target
            assembly.accept_states(system.data[0], new.x, new.R, new.V, lam)
            result.load_factors.append(target)
            result.iterations.append(count)
            self._keep(count)
            if count <= EASY:
                size = min(2.0 * size, largest)

    def _keep(self, count):
        self.records.append(_record(self.problem, self.state, self.lam, self.factor, count))


def _conclude(problem, result, path, stability):
    """Put the equilibrium into the result, with its stability if that is asked for."""
    result._motion = problem.motion(path.state, 1.0)
    path.state.V[:] = result._motion[0]
    path.state.V.reshape(-1)[problem.system.dof < 0] = 0.0  # what is fixed stands still in a run from here
    result.state, result.multipliers = path.state, path.lam
    if stability:
        _find_stability(problem, result)


def _find_stability(problem, result):
    """Lowest eigenvalue (2) and its motion; left unknown where the iteration does not converge."""
    from scipy.sparse import diags_array

    system, state, lam = problem.system, result.state, result.multipliers
    if problem.rotation is None:
        K, G = system.matrices(state, lam)[2:]
    else:
        K, _, _ = rotating_matrices(system, state, lam, problem.rotation, twin=problem.twin)
        G = system.matrices(state)[3]
    G = G[np.flatnonzero(system.active_rows)]
    D = np.tile(np.repeat([1.0, _size(system, state) ** 2], 3), len(system.nodes))[system.dof >= 0]
    try:
        value, vector, stable = eigen.lowest(K, diags_array(D).tocsc(), G, system.circulatory)
    except SolverError:
        return
    result.lowest_eigenvalue, result.stable = value, stable
    result.mode = system.expanded(vector / (np.abs(vector).max() or 1.0))


def _size(system, state):
    """Largest extent of the model [m]; its size for nodes that all lie in one point (a body on ground)."""
    return float(np.ptp(state.x, axis=0).max()) or system.size


def _newton(problem, state, lam, factor, tolerance, max_iterations):
    """Iterate to equilibrium at a load factor: state (None if it failed), multipliers, iterations, residuals."""
    system = problem.system
    problem.set_load(factor)
    state, lam, history = state.copy(), lam.copy(), []
    length = _size(system, state)
    free = system.dof.reshape(-1, 6) >= 0
    for count in range(1, max_iterations + 1):
        right = problem.residual(state, lam, factor, problem.mixed)
        if right is None:
            return None, None, count, history
        solve = problem.tangent(state, lam, factor)
        if solve is None and count == 1 and system.m:
            # a mechanism (a pendulum) has no stiffness before its joints carry the load
            lam = problem.carried(state, lam, right)
            right, solve = problem.residual(state, lam, factor, problem.mixed), problem.tangent(state, lam, factor)
        if solve is None:
            return None, None, count, history
        step = solve(right)
        if not np.isfinite(step).all():
            return None, None, count, history
        delta = system.expanded(step[: system.n])
        assembly.update_states(system.data[0], state.x, state.R, delta)
        state = system.moved(state, delta)
        lam = lam + step[system.n :]
        right = problem.residual(state, lam, factor, False)
        if right is None:
            return None, None, count, history
        forces, gaps = system.expanded(right[: system.n]), right[system.n :]
        scale = problem.scale(state, lam)
        both = [np.linalg.norm(values[:, part]) for values in (forces, scale) for part in (slice(3), slice(3, 6))]
        error = max(both[0] / max(both[2], both[3] / length, 1e-300), both[1] / max(both[3], both[2] * length, 1e-300))
        history.append(error)
        moved = max(np.abs(delta[:, :3]).max() / length, np.abs(delta[:, 3:]).max() if free[:, 3:].any() else 0.0)
        assembled = not len(gaps) or np.abs(gaps).max() <= tolerance * max(system.size, length)
        if (error <= tolerance and assembled) or moved <= INCREMENT_TOLERANCE:
            return state, lam, count, history
    return None, None, max_iterations, history


def _record(problem, state, lam, factor, count):
    """One load step as a record of a run, the load factor in the place of time."""
    system = problem.system
    problem.set_load(factor)
    V, A = problem.motion(state, factor)
    record = records(system, 1)
    record["t"][0], record["step"][0] = factor, count
    record["position"][0], record["quaternion"][0] = state.x, state.Q
    record["velocity"][0], record["acceleration"][0] = V, A
    record["multiplier"][0] = lam
    record["iterations"][0, 0] = count
    assembly.output_values(system.data[0], state.x, state.R, V, A, lam, record["output"][0])
    record["energy"][0, 1] = assembly.potential_energy(system.data[0], state.x, state.R, V)
    return record


def _write(system, records, save, statistics, **parameters):
    from fem_mbs.results.writer import ResultsWriter

    writer = ResultsWriter(system, output_path(save), parameters={"solver": "static_equilibrium", **parameters})
    for k, record in enumerate(records):
        record["step"][0] = k
    writer.append({name: np.concatenate([record[name] for record in records]) for name in records[0]})
    return writer.close("complete", **statistics)


def _failure(problem, state, lam, factor, history, adaptive, trouble):
    """SolverError with the largest row of the residual, or what an element said, and what usually helps."""
    system = problem.system
    if trouble:
        element, text = trouble
        return SolverError(f"load factor {factor:.6g}: {text}", history=history, element=element)
    problem.set_load(factor)
    right = problem.residual(state, lam, factor, False)
    where, element = "", None
    if right is not None and len(right):
        worst = int(np.argmax(np.abs(right)))
        element, text = system.unknown(worst)
        where = f" Largest row: {text}."
    residuals = ", ".join(f"{e:.1e}" for e in history[-4:]) or "none (singular or not finite)"
    cure = (
        "Usual causes: an instability (buckling, snap-through: the path cannot be followed by increasing the load), a "
        "mechanism without stiffness, or a beam turned by more than 2.8 rad between its ends (use more elements)"
        if adaptive
        else "Use adaptive=True or more steps"
    )
    if system.nc or system.searches:
        cure = (
            "Contacts carry nothing in static_equilibrium, it leaves them out: what rests on a contact alone has no "
            f"equilibrium here. Let a damped run in time settle instead, or put a joint in its place. {cure}"
        )
    return SolverError(
        f"load factor {factor:.6g}: no equilibrium found. Residuals ... {residuals}.{where} {cure}.",
        history=history, element=element,
    )  # fmt: skip


def _no_penetration(system, state):
    gaps = system.gaps(state)
    if len(gaps) and gaps.min() < -1e-9 * system.size_at(state):
        contact = system.contact_at(int(np.argmin(gaps)))
        raise SolverError(
            f"contact '{contact.name}' is penetrated at the equilibrium, gap = {gaps.min():.4g} m: static_equilibrium "
            "leaves contacts out. Let a damped run in time settle instead",
            element=contact,
        )
