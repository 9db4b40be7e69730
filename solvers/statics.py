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
from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, vector
from fem_mbs.model import compiled
from fem_mbs.nodes import COMPONENTS
from fem_mbs.results.results import Results
from fem_mbs.solvers import eigen
from fem_mbs.solvers.stepping.records import records
from fem_mbs.system import assembly, element_checks, model_checks
from fem_mbs.system.assembly import gather, groups_of, scatter_vector, zero
from fem_mbs.system.in_use import alone
from fem_mbs.system.system import State, System

INCREMENT_TOLERANCE = 1e-9  # of δx/size and δθ; with quadratic convergence the error left is its square
EASY, SMALLEST_STEP = 6, 1e-6


class StaticResult:
    """Equilibria along the load path.

    Attributes
    ----------
    state : State
        The last one, with the time for which it holds; ``system.initial = result.state`` starts a run in time from it.
    multipliers : (m,), forces of the constraints at the last one
    angular_velocity : (3,) [rad/s] or None, of a steady rotation
    stable : bool or None
        True if no small motion lowers the potential energy (neutral motions, to round-off, do not). None: not decided
        by the stiffness (follower loads), or not known. With rotation: without the help of gyroscopic moments. For
        both, ``fem_mbs.modes(system, about=result).stable`` decides.
    lowest_eigenvalue : float [N/m]
        Smallest eigenvalue of the tangent stiffness on the motions that the constraints allow, (2) of the head of the
        file; per displacement of 1 m, or rotation of 1 m divided by the size of the model. inf: nothing can move; nan:
        not asked for or not found.
    mode : (N, 6), motion (δx inertial [m], δθ body [rad]) of it; largest component 1
    load_factors : list of float, of the converged load steps
    iterations : list of int, of each
    rejected : int, load steps that were halved
    results : Results
        Histories of the load path, with the load factor in the place of time: ``result["tip"].position``.
    """

    def __init__(self, system: System, angular_velocity: np.ndarray | None = None) -> None:
        self.system, self.angular_velocity = system, angular_velocity
        # set before anybody gets the result
        self.state: State = None  # type: ignore[assignment]
        self.multipliers: np.ndarray = None  # type: ignore[assignment]
        self.results: Results = None  # type: ignore[assignment]
        self._motion: tuple = ()  # velocities and accelerations of a steady rotation
        self._rows = {id(node): i for i, node in enumerate(system.nodes)}
        self.load_factors, self.iterations, self.rejected = [], [], 0
        self.lowest_eigenvalue, self.mode = np.nan, np.zeros((len(system.nodes), 6))
        self.stable: bool | None = None

    def __getitem__(self, name):
        return self.results[name]

    @property
    def total_iterations(self) -> int:
        return sum(self.iterations)

    def _row(self, node):
        if id(node) not in self._rows:
            raise ParameterError(self, "node", node, f"is not a node of '{self.system.name}'")
        return self._rows[id(node)]

    def position(self, node: Any) -> np.ndarray:
        """Position of a node at the last equilibrium (3,) [m]."""
        return self.state.x[self._row(node)]

    def rotation(self, node: Any) -> np.ndarray:
        """Rotation of a node at the last equilibrium (3, 3)."""
        return self.state.R[self._row(node)]

    def output(self, element: Any, name: str) -> np.ndarray:
        """Output of an element at the last equilibrium."""
        system, out = self.system, np.zeros(self.system.n_outputs)
        V, A = self._motion
        assembly.output_values(system.data[0], self.state.x, self.state.R, V, A, self.multipliers, out)
        return out[system.output_slices[element][name]]

    def report(self) -> str:
        """How it was found and whether it is stable, a few lines."""
        lines = [f"{self.system.name}: static equilibrium at t = {self.state.t:g} s"]
        if self.angular_velocity is not None:
            lines.append(f"  rotation     {self.angular_velocity.tolist()} rad/s")
        halved = f", {self.rejected} halved" if self.rejected else ""
        lines.append(f"  load steps   {len(self.iterations)}{halved}, {self.total_iterations} iterations")
        return "\n".join([*lines, f"  stability    {self._stability()}"])

    def _stability(self):
        if np.isnan(self.lowest_eigenvalue):
            return "not known"
        if np.isinf(self.lowest_eigenvalue):
            return "stable: constraints leave no motion"
        text = f"lowest eigenvalue of the stiffness {self.lowest_eigenvalue:.4g} N/m"
        if self.stable is None:
            return f"{text}; loads without potential: fem_mbs.modes(system, about=…).stable decides"
        if self.stable:
            return f"stable, {text}"
        full = int(np.abs(self.mode).argmax())
        return f"UNSTABLE, {text}: {label(self.system.nodes[full // 6])} would move in {COMPONENTS[full % 6]}"

    def __str__(self):
        return self.report()

    def __repr__(self):
        unstable = ", unstable" if self.stable is False else ""
        return f"StaticResult({len(self.iterations)} load steps, {self.total_iterations} iterations{unstable})"


class _Equilibrium:
    """One system with its load factor: residual, tangent, iterates."""

    def __init__(self, system, t, mixed, rotation):
        self.system, self.t, self.mixed, self.rotation = system, t, mixed, rotation
        system.update_signals(system.initial.t)
        self.at_start = system.signal_values.copy()
        system.update_signals(t)
        self.at_end = system.signal_values.copy()
        self.is_load = np.array([owner.role == "dynamic" for owner in system.signal_owner], bool)
        self.magnitudes = np.zeros(6 * len(system.nodes))
        self.twin = None if rotation is None else unfixed(system)

    def set_load(self, factor):
        """Apply load factor λ to gravity, loads and drivers."""
        system = self.system
        system.set_gravity(factor * system.gravity)
        for k, is_load in enumerate(self.is_load):
            start = 0.0 if is_load else self.at_start[k]
            system.signal_values[k] = start + factor * (self.at_end[k] - start)
        system.signal_values[:, 1:] = 0.0

    def motion(self, state, factor):
        """Velocities and accelerations (N, 6) of the steady rotation; its centrifugal forces grow with λ."""
        if self.rotation is None:
            return np.zeros_like(state.V), self.system.no_acceleration
        w = np.sqrt(factor) * self.rotation
        return steady_rotation(state, w)

    def residual(self, state, lam, factor, mixed):
        """f + Gᵀμ − M v̇ (n,) and g (m,) in one vector, or None if it is not finite."""
        system = self.system
        state.V[:], A = self.motion(state, factor)
        Ma, f = system.forces(state, A, mixed=mixed)
        if not (np.isfinite(f).all() and np.isfinite(Ma).all()):
            return None
        g, _ = system.constraint_values(state)
        total = f - Ma + system.constraint_forces(lam)
        return np.concatenate([system.reduced(total), g])

    def scale(self, state, lam):
        """Sums of the magnitudes of the forces that act on each component (N, 6)."""
        system = self.system
        absolute_forces(system.data[0], state.x, state.R, state.V, self.magnitudes)
        full = self.magnitudes + np.abs(system.constraint_forces(lam))
        return full.reshape(-1, 6)

    def carried(self, state, lam, right):
        """Multipliers that balance the forces best: r = f + Gᵀμ, G r = 0; the given ones where that is singular."""
        from scipy.sparse import block_array, eye_array
        from scipy.sparse.linalg import splu

        G = self.system.matrices(state)[3]
        try:
            solve = splu(block_array([[eye_array(self.system.n), -G.T], [-G, None]]).tocsc()).solve
        except RuntimeError:
            return lam
        return lam + solve(np.concatenate([right[: self.system.n], np.zeros(self.system.m)]))[self.system.n :]

    def tangent(self, state, lam, factor):
        """Factorised (1); returns a function that solves it, or None if it is singular."""
        system = self.system
        if self.rotation is None:
            layout = system.assemble(state, c_K=1.0, lam=lam, c_H=1.0, mixed=self.mixed)
            return layout.solver.solve if layout.solver.factor(layout.values) else None
        from scipy.sparse import block_array
        from scipy.sparse.linalg import splu

        w = np.sqrt(factor) * self.rotation
        K, _, _ = rotating_matrices(system, state, lam, w, twin=self.twin, mixed=self.mixed)
        G = system.matrices(state)[3]
        try:
            return splu(block_array([[K, -G.T], [-G, None]]).tocsc() if system.m else K).solve
        except RuntimeError:
            return None


def steady_rotation(state: State, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and accelerations (N, 6) of nodes that all turn with w (3,) [rad/s] about the origin."""
    V, A = np.zeros_like(state.V), np.zeros_like(state.V)
    V[:, :3] = np.cross(w, state.x)
    V[:, 3:] = np.einsum("nji,j->ni", state.R, w)
    A[:, :3] = np.cross(w, V[:, :3])
    return V, A


def unfixed(system: System) -> System:
    """The same system with every component of every node free: fixed ones move too when everything turns."""
    saved = [node.free for node in system.nodes]
    try:
        for node in system.nodes:
            node.free = np.ones(6, bool)
        return System(system.model, check=False, linear_solver="superlu")
    finally:
        for node, free in zip(system.nodes, saved):
            node.free = free


def rotating_matrices(
    system: System, state: State, lam: np.ndarray, w: np.ndarray, *, twin: System | None = None, mixed: bool = False
) -> tuple:
    """K, C, M (n, n) of small motions seen in a frame that turns with w (3,) [rad/s] about the origin.

    Variations relative to the frame, (ξ, δθ): δẋ = ξ̇ + ω×ξ, δẍ = ξ̈ + 2ω×ξ̇ + ω×(ω×ξ), δΩ = δθ̇ + Ω×δθ, Ω = Rᵀω. Hence
    C + M D and K + ∂(Ma)/∂q + C N + M N², with N = (ω̃, Ω̃), N² without its rotation part, D = (2ω̃, Ω̃) per node; all
    with full matrices, of which rows and columns of the free components are taken. ``twin``: `unfixed` of the system.
    """
    from scipy.sparse import block_diag

    from fem_mbs.rotations import skew

    twin = unfixed(system) if twin is None else twin
    twin.set_gravity(system.workspace.buffer["gravity"])
    twin.signal_values[:] = system.signal_values
    for mine, theirs in zip(twin.groups, system.groups):
        mine.state[:] = theirs.state
    size = 6 * len(system.nodes)
    state = state.copy()
    state.V[:], A = steady_rotation(state, w)
    twin.constraint_values(state)
    M = twin.assemble(state, c_M=1.0).matrix()[:size, :size].tocsc()
    C = twin.assemble(state, c_C=1.0).matrix()[:size, :size].tocsc()
    K = twin.assemble(state, c_K=1.0, c_A=1.0, A=A, lam=lam, c_H=1.0, mixed=mixed).matrix()[:size, :size].tocsc()
    W = skew(w)
    spins = [skew(R.T @ w) for R in state.R]
    N = block_diag([block for spin in spins for block in (W, spin)], format="csc")
    NN = block_diag([block for spin in spins for block in (W @ W, 0 * spin)], format="csc")
    D = block_diag([block for spin in spins for block in (2 * W, spin)], format="csc")
    free = system.dof >= 0
    return tuple(matrix.tocsc()[free][:, free] for matrix in (K + C @ N + M @ NN, C + M @ D, M))


@kernel
def absolute_forces(d, x, R, V, total):
    """Fill total (6 N,) with the sum over elements of the absolute values of their forces."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for i in range(6 * d.n_nodes):
        total[i] = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        f_at, Ma_at = b[SLOT_F], b[SLOT_MA]
        f = vector(f_at, g.nd)
        for role in range(2):
            call = g.inertia if role == 0 else g.force
            if call == 0:
                continue
            for e in range(g.n):
                gather(d, g, e, b, x, R, V, V)
                zero(f_at, g.nd)
                zero(Ma_at, g.nd)
                call2(call, g.parameters_at + e * g.stride, d.table_at)
                for i in range(g.nd):
                    f[i] = abs(f[i])
                scatter_vector(g, e, f, total)


SLOT_F, SLOT_MA = SLOT["f"], SLOT["Ma"]


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
        Equal load steps to begin with. One is right for most models; more follow a path through instabilities.
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
        A parameter out of range.
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
    system.number_nodes()
    t = owner.number("t", float(system.initial.t) if t is None else t, "s")
    problem = _Equilibrium(system, t, mixed, w)
    result = StaticResult(system, w)
    model_checks.state_fits(system, system.initial)
    state = system.initial.copy()
    state.V[:], state.t = 0.0, t
    assembly.initial_states(system.data[0], state.x, state.R, state.V)
    lam = np.zeros(system.m)
    records, factor, largest = [], 0.0, 1.0 / steps
    size, history = largest, []
    try:
        records.append(_record(problem, state, lam, 0.0, 0))
        while factor < 1.0:
            target = factor + size
            target = target if target < 1.0 - 1e-9 * size else 1.0
            kept = [group.state.copy() for group in system.groups]
            new, new_lam, count, history = _newton(problem, state, lam, target, tolerance, max_iterations)
            trouble = None if new is None else element_checks.trouble(system, new)
            if new is None or trouble:
                for group, old in zip(system.groups, kept):
                    group.state[:] = old
                result.rejected += 1
                size *= 0.5
                if not adaptive or size < SMALLEST_STEP:
                    raise _failure(problem, state, lam, target, history, adaptive, trouble)
                continue
            state, lam, factor = new, new_lam, target
            result.load_factors.append(factor)
            result.iterations.append(count)
            records.append(_record(problem, state, lam, factor, count))
            if count <= EASY:
                size = min(2.0 * size, largest)
        _no_penetration(system, state)
    finally:
        system.set_gravity(system.gravity)
        system.update_signals(t)
        if factor >= 1.0:
            result._motion = problem.motion(state, 1.0)
            state.V[:] = result._motion[0]
            result.state, result.multipliers = state, lam
            if stability:
                _find_stability(problem, result)
        if records:
            known = {"lowest_eigenvalue": result.lowest_eigenvalue, "stable": result.stable}
            known = {} if np.isnan(result.lowest_eigenvalue) else known
            result.results = _write(system, records, save, known, steps=steps, tolerance=tolerance)
    for text in element_checks.remarks(system, records[-1]["output"]):
        warnings.warn(text, UserWarning, stacklevel=4)  # of the caller, behind two decorators
    if result.stable is False:
        cure = (
            "A motion in time leaves this equilibrium; another one is found from a disturbed start, or with a small "
            "load that chooses the side"
            if w is None
            else "Unless gyroscopic moments hold it (fem_mbs.modes(system, about=…).stable tells), a motion leaves it"
        )
        message = f"static_equilibrium of '{system.name}': {result._stability()}. {cure}"
        warnings.warn(message, UserWarning, stacklevel=4)  # of the caller, behind two decorators
    return result


def _find_stability(problem, result):
    """Lowest eigenvalue (2) and its motion; left unknown where the iteration does not converge."""
    from scipy.sparse import diags_array

    system, state, lam = problem.system, result.state, result.multipliers
    if problem.rotation is None:
        K, G = system.matrices(state, lam)[2:]
    else:
        K, _, _ = rotating_matrices(system, state, lam, problem.rotation, twin=problem.twin)
        G = system.matrices(state)[3]
    D = np.tile(np.repeat([1.0, _size(state) ** 2], 3), len(system.nodes))[system.dof >= 0]
    try:
        value, vector, stable = eigen.lowest(K, diags_array(D).tocsc(), G)
    except SolverError:
        return
    result.lowest_eigenvalue, result.stable = value, stable
    result.mode = system.expanded(vector / (np.abs(vector).max() or 1.0))


def _size(state):
    """Largest extent of the model [m]; 1 for nodes that all lie in one point (a body on ground)."""
    return float(np.ptp(state.x, axis=0).max()) or 1.0


def _newton(problem, state, lam, factor, tolerance, max_iterations):
    """Iterate to equilibrium at a load factor: state (None if it failed), multipliers, iterations, residuals."""
    system = problem.system
    problem.set_load(factor)
    state, lam, history = state.copy(), lam.copy(), []
    length = _size(state)
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
        assembled = not len(gaps) or np.abs(gaps).max() <= tolerance * max(1.0, length)
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

    writer = ResultsWriter(system, save, parameters={"solver": "static_equilibrium", **parameters})
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
    return SolverError(
        f"load factor {factor:.6g}: no equilibrium found. Residuals ... {residuals}.{where} {cure}.",
        history=history, element=element,
    )  # fmt: skip


def _no_penetration(system, state):
    gaps = system.gaps(state)
    if len(gaps) and gaps.min() < -1e-9 * (1.0 + np.abs(state.x).max()):
        contact = system.contact_at(int(np.argmin(gaps)))
        raise SolverError(
            f"contact '{contact.name}' is penetrated at the equilibrium, gap = {gaps.min():.4g} m: static_equilibrium "
            "leaves contacts out. Let a damped run in time settle instead",
            element=contact,
        )
