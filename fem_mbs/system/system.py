"""The compiled model: numbering, arrays, index maps. The only thing solvers see."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.compiled.together import TOGETHER
from fem_mbs.errors import ModelError, NonFiniteError, label
from fem_mbs.nodes import motions
from fem_mbs.rotations import matrix_to_quaternion
from fem_mbs.system import assembly, element_states, global_matrices
from fem_mbs.system import constraints as constraint_assembly
from fem_mbs.system import contacts as contact_assembly
from fem_mbs.system.empty_rows import empty_rows
from fem_mbs.system.gravity import Gravity
from fem_mbs.system.in_use import InUse
from fem_mbs.system.layout import Layout, Matrices, Pattern, Rows, Stack
from fem_mbs.system.least_norm import find_shared
from fem_mbs.system.numbering import connected
from fem_mbs.system.records import SMOOTH
from fem_mbs.system.sizes import extent, measure
from fem_mbs.system.state import State
from fem_mbs.system.switches import Switches

SLOW, ROUND_OFF = 1e-8, 1e-11  # of the largest speed: approaches that are no impacts, see `System.slow_at`

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.system.compiled import GivenModel
    from fem_mbs.system.numbering import Pair


class System(Switches):
    """A checked and numbered model.

    ``check``: True, "positions" (statics and modes: velocities play no part) or False (no checks).

    Attributes
    ----------
    n, m : int
        Free velocity components; constraint rows.
    nodes, elements, constraints, contacts : lists
        ``node.index`` is the row of a node in state arrays; the order of ``contacts`` is that of contact results.
    rows : dict
        Constraint element -> slice of the multipliers (m,).
    output_slices : dict
        Element -> {output name: slice of the output numbers}.
    dof : (6 N,) int64
        Full component -> unknown, −1 for fixed ones.
    spatial : (N,) bool
        Nodes that have a position; others hold plain numbers (`Node1`, amplitudes of modes) without rotations.
    initial : State
        Initial configuration and velocities (projected if requested). A run begins with it; another state may be set:
        ``system.initial = result.state(-1)``.
    independent : bool
        True if all constraint rows but the empty ones were found to be independent, at the initial configuration.
    empty_rows : (m,) int64
        1: fixed components leave nothing to a constraint row, which is no part of any problem; found with
        ``redundant="allow"`` (`fem_mbs.system.empty_rows`).
    mean_mass, contact_mass, length, size, extent : float
        Scales [kg], [kg], [m], [m] used by solvers for multipliers, to compare moments with forces, and in tolerances,
        see `fem_mbs.system.sizes`; and the size [m] of the moving bodies, independent of their position.
    gravity : (3,) [m/s²]; at t = 0 where it is a function of time, which ``field`` is then (None otherwise)
    largest_gravity : float [m/s²], its largest size, for tolerances
    lightest : float
        Smallest mass [kg] on the diagonal of the mass matrix, moments of inertia divided by the square of ``length``.
    """

    changeable = {"initial": lambda self, name, value: self._start(value)}
    refused = {"gravity": "set that of the model, and compile it again"}

    def __init__(
        self,
        model: "GivenModel",
        *,
        project: bool = False,
        redundant: str = "error",
        linear_solver: str | None = None,
        check: bool | str = True,
    ) -> None:
        # `Model` makes systems; recognised by its attributes, so that this module need not import it
        is_model = all(hasattr(model, name) for name in ("elements", "contact_groups", "nodes", "compile"))
        self.check(is_model and not isinstance(model, type), "model", model, "must be a Model")
        project = self.as_flag("project", project)
        self.as_choice("check", check, (True, False, "positions"))
        self.as_choice("redundant", redundant, ("error", "allow"))
        if not model.elements:
            only = "nothing in it but contact groups" if model.contact_groups else "nothing in it"
            what = "their bodies" if model.contact_groups else "elements"
            raise ModelError(
                f"model '{model.name}' has {only}; add {what} with model.add(…) before it is compiled", [model]
            )
        self.model: Any = model
        self.options = {"project": project, "redundant": redundant, "linear_solver": linear_solver, "check": check}
        self.in_use = InUse(self)
        self.name = model.name
        self.field = Gravity(model.gravity, name=model.name) if callable(model.gravity) else None
        self.gravity = model.gravity.copy() if self.field is None else self.field.at(0.0)
        self.largest_gravity = float(np.linalg.norm(self.gravity)) if self.field is None else self.field.largest(0.0)
        self.independent = bool(check) and redundant == "error"
        self._forgotten(model)
        self._number(model)
        self._group(model)
        TOGETHER.get(call for group in self.groups for call in group.calls.values())
        self.linear_solver, self._patterns = linear_solver, {}
        self._own: Matrices | None = None
        self._fill()
        self.initial, self._compiled_from = self._initial_state(), self._given()
        self.engage_all(self.initial)
        self._scales()  # with all rows on
        if redundant == "allow" and self.m:
            self.empty_rows[: self.m] = empty_rows(self, self.initial)
            self.shared_rows = find_shared(self, self.initial)
            self.independent = bool(check) and self.shared_rows is None
            self._fill()
        self.switch_as_given()
        for search in self.searches:
            if np.isnan(search.laws["friction"]).any():  # a pair that meets and has no law is named
                self.search_pairs(self.initial.x, self.initial.R)
        self.begin(self.initial)
        if check:
            from fem_mbs.system.checks import model_checks

            model_checks.run(self, project=project, redundant=redundant, velocities=check != "positions")
        self._own = None  # steppers have separate matrices

    def __reduce__(self):
        # full of addresses: another process compiles the model anew
        return System._compiled, (self.model, self.options, self.initial)

    @staticmethod
    def _compiled(model, options, initial):
        system = System(model, **options)
        system.initial = initial
        return system

    def _start(self, state):
        """The state if it can be that of this system."""
        self.as_instance("initial", state, State, "a State, such as result.state(-1)")
        N = len(self.nodes)
        self.check(len(state.x) == N, "initial", state, f"has {len(state.x)} nodes, this system has {N}")
        return state

    # --- data of the model --------------------------------------------------------------------------------------------

    def lay_out(self, *rows: Rows, stack: Stack | None = None) -> Matrices:
        """Matrices for a solver, which keeps them; the system changes nothing in them and is not changed by them.

        Parameters
        ----------
        *rows : Rows
            Rows of each matrix in addition to those of velocities and constraints.
        stack : Stack, optional
            A matrix of blocks with the pattern of one of them.
        """
        return Matrices(self, rows, stack)

    def pattern(self, rows: Rows, dense: bool) -> Pattern:
        """Pattern of a matrix with all entries or with those there can be; made once, and never changed."""
        if (rows, dense) not in self._patterns:
            self._patterns[rows, dense] = Pattern(self, rows, dense)
        return self._patterns[rows, dense]

    def __repr__(self):
        counts = f"{len(self.nodes)} nodes, {len(self.elements)} elements, {len(self.contacts)} contacts"
        return f"System of '{self.name}': {self.n} unknowns, {self.m} constraint rows, {counts}"

    @property
    def own(self) -> Matrices:
        """The matrix of statics, modes and initial accelerations, without contacts; made when it is first needed."""
        if self._own is None:
            self._own = self.lay_out(Rows())
        return self._own

    @property
    def touches_meshes(self) -> bool:
        """True if a contact acts on a node of a mesh: one with the mass of beams, shells or solids alone.

        Massless nodes that constraints tie to these count as well: the points of a superelement.
        """
        massive = [element for element in self.elements if "inertia" in element.kernels]
        bodies = {id(element.nodes[0]) for element in massive if len(element.nodes) == 1}
        meshed = {id(node) for element in massive if len(element.nodes) > 1 for node in element.nodes} - bodies
        for element in self.elements if meshed else ():
            nodes = {id(node) for node in element.nodes if node.free.any()} - bodies
            if element.role == "constraint" and nodes & meshed:
                meshed |= nodes
        contacts = self.contacts[: self.nc_fixed] if meshed else ()
        return any(id(node) in meshed for contact in contacts for node in contact.nodes)

    @property
    def circulatory(self) -> bool:
        """True if there are loads that make the stiffness unsymmetric: followers."""
        return any(element.circulatory for element in self.elements)

    def missing(self) -> list:
        """Items added to the model after it was compiled: elements and contact groups."""
        known = {id(item) for item in (*self.elements, *self.contact_groups, *self.watching)}
        now = (*self.model.elements, *self.model.contact_groups, *self.model.watching)
        return [item for item in now if id(item) not in known]

    def _given(self):
        """Data of the model that may be set until it is compiled: attribute -> array, one row per node."""
        x, R, v, w = np.split(motions(self.nodes), (3, 12, 15), axis=1)
        given = {"position": x, "rotation": R, "velocity": v, "angular_velocity": w}
        gravity = self.model.gravity
        return given | {"gravity": gravity if callable(gravity) else gravity.copy()}

    def changed(self) -> list[tuple[Any, str]]:
        """Attributes set in the model after it was compiled: (model or node, attribute)."""
        found: list[tuple[Any, str]] = []
        for name, now in self._given().items():
            different = now != self._compiled_from[name]
            if name == "gravity":
                found += [(self.model, name)] if np.any(different) else []
            else:
                rows = np.flatnonzero(different.reshape(len(self.nodes), -1).any(axis=1))
                found += [(self.nodes[i], name) for i in rows]
        return found

    def parts(self) -> np.ndarray:
        """Number of the connected part each node belongs to (N,); −1: cannot move. Contacts connect nothing."""
        moves = (self.dof.reshape(-1, 6) >= 0).any(axis=1)
        pairs = [np.zeros((0, 2), int)]
        for group in self.groups:
            if not group.is_contact:
                nodes = group.nodes
                pairs += [np.stack([nodes[:, 0], nodes[:, k]], axis=1) for k in range(1, nodes.shape[1])]
        i, j = np.concatenate(pairs).T
        both = moves[i] & moves[j]
        return np.where(moves, connected(len(moves), i[both], j[both]), -1)

    def _initial_state(self):
        state, N = State(len(self.nodes)), len(self.nodes)
        x, R, v, w = np.split(motions(self.nodes), (3, 12, 15), axis=1)
        state.x[:], state.R[:] = x, R.reshape(N, 3, 3)
        for R, Q in zip(state.R, state.Q):
            matrix_to_quaternion(R, Q)
        state.V[:, :3], state.V[:, 3:] = v, np.einsum("nji,nj->ni", state.R, w)
        state.V[~self.free] = 0.0
        return state

    def _scales(self):
        """Mean mass of the moving nodes, a length that converts moments to forces, and the size of the model."""
        state = self._initial_state()
        self.constraint_values(state)
        mass = self.assemble(state, c_M=1.0)
        diagonal = np.zeros(6 * len(self.nodes))
        diagonal[self.dof >= 0] = mass.values[mass.pattern.diagonal[: self.n]]
        diagonal = diagonal.reshape(-1, 6)
        translation, rotation = diagonal[:, :3][self.free[:, :3]], diagonal[:, 3:][self.free[:, 3:]]
        has_mass = translation[translation > 0]
        self.mean_mass = float(has_mass.mean()) if has_mass.size else 1.0
        turning = rotation[rotation > 0]
        gyration = float(np.sqrt(turning.mean() / self.mean_mass)) if turning.size else 0.0
        self.size = measure(self, state, gyration)
        self.length = gyration or self.size
        smallest = [has_mass.min(initial=np.inf), turning.min(initial=np.inf) / self.length**2]
        self.lightest = float(min(smallest)) if np.isfinite(min(smallest)) else 1.0
        self.extent = extent(state.x[self.free.any(axis=1) & self.spatial], gyration)
        speed = self.speed_at(state) or self.size
        for element in self.elements:
            element.use_sizes(self.size, speed)
        self.contact_mass = self._contact_mass(diagonal[:, :3].max(axis=1))

    def deformable(self) -> np.ndarray:
        """Return which nodes (N,) belong to bodies that deform: elements whose mass is at several nodes."""
        found = np.zeros(len(self.nodes), bool)
        for group in self.groups:
            if group.sizes["nn"] > 1 and "inertia" in group.elements[0].kernels:
                found[group.nodes.ravel()] = True
        return found

    def size_at(self, state: State) -> float:
        """Size [m] that tolerances of positions refer to: of the model, or its distance from the origin."""
        return max(self.size, float(np.abs(state.x[self.spatial]).max(initial=0.0)))

    def fastest_at(self, state: State) -> float:
        """Largest component [m/s] of the velocities at a state, angular ones times the size of the model."""
        moved, turned = (np.abs(state.V[:, part]).max(initial=0.0) for part in (slice(3), slice(3, 6)))
        return float(max(moved, self.size * turned))

    def slow_at(self, state: State) -> float:
        """Speed [m/s] of an approach at a state that is no impact: the same wherever the model is and however turned.

        Far from the origin it is at least what steps make of the round-off of positions there.
        """
        moved, turned = (np.linalg.norm(state.V[:, k : k + 3], axis=1).max(initial=0.0) for k in (0, 3))
        return max(SLOW * float(max(moved, self.extent * turned)), ROUND_OFF * self.fastest_at(state))

    def speed_at(self, state: State) -> float:
        """Speed [m/s] that tolerances of velocities refer to at a state: the largest, or that of falling by a size."""
        return max(self.fastest_at(state), float(np.sqrt(self.largest_gravity * self.size)))

    def _contact_mass(self, masses):
        """Geometric mean over the contacts of the mass that two bodies have against each other, 1/(1/m_A + 1/m_B).

        In a mechanism with light bodies between heavy ones (balls of a bearing) it is that of the light ones. The mean
        mass if there are no contacts of bodies with mass.
        """
        found = []
        for contact in self.contacts:
            bodies = [masses[node.index] for node in contact.nodes]
            inverse = sum(1.0 / mass for mass in bodies if mass > 0)
            if inverse > 0:
                found.append(1.0 / inverse)
        return float(np.exp(np.mean(np.log(found)))) if found else self.mean_mass

    # --- evaluation, for solvers written in Python and for users ------------------------------------------------------

    def update_signals(self, t: float) -> None:
        """Evaluate all functions of time at t [s].

        Raises
        ------
        NonFiniteError
            If one is not finite or raises; names the element and the time.
        """
        self.workspace.buffer["t"][0] = t
        for k, signal in enumerate(self.signals):
            owner = self.signal_owner[k]
            try:
                values = signal.jet(t)
            except Exception as error:
                raise NonFiniteError(
                    f"{label(owner)}: its function of time raised {type(error).__name__}: {error} (t = {t:.6g} s)",
                    time=t,
                    element=owner,
                ) from error
            if not np.isfinite(values).all():
                raise NonFiniteError(
                    f"{label(owner)}: its function of time returned {values[0]} at t = {t:.6g} s "
                    f"(first derivative {values[1]}, second {values[2]}). The run stopped before using it.",
                    time=t,
                    element=owner,
                )
            self.signal_values[k] = values
        if self.field is not None:
            self.set_gravity(self.signal_values[self.gravity_signal :, 0])

    def begin(self, state: State) -> None:
        """Functions of time at the time of a state, and internal variables of the elements that fit it.

        Unwrapped angles continue from those of a result, where the state is of one.
        """
        self.update_signals(state.t)
        element_states.initial_states(self.data[0], state.x, state.R, state.V)
        for group in self.groups:
            if group.far:
                group.contact_data["far_gap"][:] = 0.0  # nothing is known of another run
        if state._outputs[0]:
            for group in self.groups:
                for row, element in zip(group.state, group.elements if group.sizes["nq"] else ()):
                    element.count_on(row, self.angles_of(element, state))

    @staticmethod
    def angles_of(element: Any, state: State) -> dict[int, float]:
        """Angles [rad] of an element that a state has from its result, by the places of internal variables."""
        found = {k: state.output_of(owner.name, name, i) for k, owner, name, i in element.counted}
        return {place: angle for place, angle in found.items() if angle is not None}

    def gravity_at(self, t: float) -> np.ndarray:
        """Gravity (3,) [m/s²] at a time [s]."""
        return self.gravity.copy() if self.field is None else self.field.at(t)

    def set_gravity(self, gravity: ArrayLike) -> None:
        """Change gravity (3,) [m/s²] (static load steps), until functions of time are evaluated again."""
        self.workspace.buffer["gravity"][:] = self.as_vector("gravity", gravity, 3)

    def use_mixed(self) -> None:
        """Prepare the kernels of the mixed iteration: they are compiled at its first use."""
        if any(group.mixed for group in self.groups):
            for record, group in zip(self.group_records, self.groups):
                group.bind_mixed(record)
            if self._own is not None:
                self._own.update()

    def forces(self, state: State, A: np.ndarray | None = None, mixed: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Ma = M(q) A and f(q, v, t), full vectors (6 N,); A (N, 6) is zero by default."""
        if mixed:
            self.use_mixed()
        A = self.no_acceleration if A is None else A
        assembly.dynamics(
            self.data[0], SMOOTH, state.x, state.R, state.V, A, self.Ma, self.f, False, 0.0, 0.0, 0.0, 0.0,
            self.identity_T, mixed,
        )  # fmt: skip
        self.raise_python_errors(state.t)
        return self.Ma, self.f

    def constraint_values(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """g (m,) and ġ = G v + ∂g/∂t (m,); the gradients are kept for `assemble` and `constraint_forces`."""
        constraint_assembly.constraints(self.data[0], state.x, state.R, state.V, self.g, self.rate)
        return self.g, self.rate

    def constraint_forces(self, lam: np.ndarray) -> np.ndarray:
        """Gᵀ λ, full vector (6 N,), with the gradients kept by `constraint_values`."""
        f = np.zeros(6 * len(self.nodes))
        constraint_assembly.add_constraint_forces(self.data[0], 1.0, lam, f)
        return f

    def reduced(self, full: ArrayLike) -> np.ndarray:
        """Free components (n,) of a full vector (6 N,)."""
        return np.asarray(full).ravel()[self.dof >= 0]

    def expanded(self, reduced: ArrayLike) -> np.ndarray:
        """Full array (N, 6) with the free components given (n,), zero elsewhere."""
        full = np.zeros(6 * len(self.nodes))
        full[self.dof >= 0] = reduced
        return full.reshape(-1, 6)

    def moved(self, state: State, delta: np.ndarray) -> State:
        """State at q ∘ exp(delta), delta (N, 6) = (Δx inertial, rotation vector body)."""
        other = state.copy()
        T = self.identity_T.copy()
        assembly.advance_configuration(self.data[0], state.x, state.Q, delta, other.x, other.Q, other.R, T)
        return other

    def assemble(
        self,
        state: State,
        *,
        c_M: float = 0.0,
        c_C: float = 0.0,
        c_K: float = 0.0,
        c_A: float = 0.0,
        A: np.ndarray | None = None,
        lam: np.ndarray | None = None,
        c_H: float = 0.0,
        k: float = 1.0,
        shift: float = 0.0,
        T: np.ndarray | None = None,
        mixed: bool = False,
        positions: bool = False,
    ) -> Layout:
        """Fill the own matrix: c_M M + c_C C + (c_K K + c_A ∂(MA)/∂q − c_H ∂(Gᵀλ)/∂q) T, bordered by −k G, −k Gᵀ.

        `constraint_values` must have been called at the same state. Returns the `Layout` (values, solver, matrix()).
        ``positions``: leave out rows of velocities; their multipliers are 0.
        """
        if mixed:
            self.use_mixed()
        rows = constraint_assembly.POSITIONS if positions else constraint_assembly.MIXED
        d = self.own.data[0]
        A = self.no_acceleration if A is None else A
        T = self.identity_T if T is None else T
        lam = np.zeros(self.m) if lam is None else lam
        global_matrices.clear_matrix(d, SMOOTH)
        assembly.dynamics(d, SMOOTH, state.x, state.R, state.V, A, self.Ma, self.f, True, c_M, c_C, c_K, c_A, T, mixed)
        constraint_assembly.constraint_tangents(
            d, SMOOTH, state.x, state.R, state.V, lam, c_H, 0.0, k, 0.0, shift, rows, T
        )
        self.raise_python_errors(state.t)
        return self.own.layouts[SMOOTH]

    def matrices(self, state: State, lam: np.ndarray | None = None, mass_only: bool = False) -> Any:
        """M, C, K (n, n) and G (m, n) as SciPy sparse arrays at a state; K includes −∂(Gᵀλ)/∂q.

        With ``mass_only`` just M.
        """
        n = self.n
        self.constraint_values(state)
        parts = []
        weights: list[dict[str, Any]] = (
            [{"c_M": 1.0}] if mass_only else [{"c_M": 1.0}, {"c_C": 1.0}, {"c_K": 1.0, "c_H": 1.0, "lam": lam}]
        )
        for weight in weights:
            parts.append(self.assemble(state, **weight).matrix())
        blocks = [part[:n, :n].tocsc() for part in parts]
        if mass_only:
            return blocks[0]
        return (*blocks, -parts[0][n : n + self.m, :n].tocsc())

    def energies(self, state: State) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        return assembly.energies(self.data[0], state.x, state.R, state.V, self.Ma)

    def gaps(self, state: State) -> np.ndarray:
        """Gaps of all contacts (nc,) [m]."""
        contact_assembly.contacts(self.data[0], state.x, state.R, state.x, state.R, state.V)
        return np.concatenate([g.contact_data["gap"] for g in self.groups if g.is_contact] or [np.zeros(0)])

    def overlaps(self, state: State, limit: float) -> "Iterator[tuple[Element | Pair, float]]":
        """Contacts whose gap is below a limit < 0 [m], with their gaps: all elements, of each contact group the first.

        Pairs of groups are looked at as they are at the state, whichever were found last.
        """
        gaps = self.gaps(state)[: self.nc_fixed]
        for c in np.flatnonzero(gaps < limit):
            yield self.contacts[c], float(gaps[c])
        for search in self.searches:
            found = search.first_overlap(self, state.x, state.R, limit)
            if found is not None:
                group, pair, gap = found
                yield self.pair_of(group, *pair), gap

    def mass_properties(self) -> tuple[float, np.ndarray]:
        """Total mass [kg] and centre of mass (3,) [m] of the initial configuration, from unit gravity fields."""
        state = self._initial_state()
        state.V[:] = 0.0
        before = self.workspace.buffer["gravity"].copy()
        force, moment = np.zeros((3, 3)), np.zeros((3, 3))
        for i in range(4):
            self.set_gravity(np.eye(4)[i, :3])
            _, f = self.forces(state)
            f = np.where(self.spatial[:, None], f.reshape(-1, 6), 0.0)
            total = f[:, :3].sum(axis=0)
            turning = np.cross(state.x, f[:, :3]).sum(axis=0) + np.einsum("nij,nj->i", state.R, f[:, 3:])
            if i < 3:
                force[i], moment[i] = total, turning
            else:  # without gravity: what springs do
                force -= total
                moment -= turning
        self.set_gravity(before)
        mass = force.trace() / 3.0
        if mass <= 0.0:
            return 0.0, np.zeros(3)
        # moment of gravity e_i: c × m e_i
        first = np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2], moment[0, 1] - moment[1, 0]])
        return mass, 0.5 * first / mass

    @property
    def force_scales(self) -> np.ndarray:
        """Factors (nc, 3) from multipliers of contacts to their forces: 1 but for anisotropic friction."""
        found = np.ones((self.nc, 3))
        for group in self.groups:
            if group.is_contact:
                first = group.first_contact
                found[first : first + group.n, 1:] = group.contact_data["friction_scale"]
        return found

    def contact_velocities(self, state: State) -> np.ndarray:
        """Relative velocities (nc, 3) of all contacts at their points: normal, t1, t2 [m/s]."""
        self.gaps(state)
        result = np.zeros((self.nc, 3))
        for group in self.groups:
            if group.is_contact:
                nd, first = group.sizes["nd"], group.first_contact
                rows = group.contact_rows("G_N", "V_T")
                rows[:, 1:] /= group.contact_data["friction_scale"][:, :, None]
                result[first : first + len(rows)] = np.einsum("eri,ei->er", rows, state.V[group.nodes].reshape(-1, nd))
        return result
