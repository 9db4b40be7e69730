"""Reduced contact: the modes of a model as far as the impact of one contact excites them, about any of its states.

Of small motions about a state, with the rows G of joints and the normal row G_N of the contact,

    M δq̈ + C δq̇ + K δq − Gᵀ δμ = G_Nᵀ F ,   G δq = 0 ,   gap − g = G_N δq                                          (1)

an impact asks for one response only: of the gap to the force. The vectors

    x₁ = (K + σ M)⁻¹ G_Nᵀ ,   x_{i+1} = (K + σ M)⁻¹ M x_i        on the null space of G                              (2)

(Lanczos, orthonormal in M) have its first moments about s² = σ, so that few are sufficient for a mesh of any size.
Ritz's modes of K on them, φ_j of unit modal mass, are those of `fem_mbs.recovery.modal_impact`: b_j = G_N φ_j,
c_j = φ_jᵀCφ_j (couplings by damping are left out; there are none if it is proportional). σ = 1/T² belongs to the
shortest impact, that of the mass 1/(G_N M⁻¹ G_Nᵀ) of the nodes that touch.

Without the impact the bodies would go on, whatever joints and drivers prescribe, nearly along the parabola through the
state with its velocities v and its accelerations a without contact forces. Small motions are deviations from it, and
their loads what it leaves of the equations of motion (r = 0 at t = 0):

    q_b(t) = q ∘ exp(v t + ½ a t²) ,   r(t) = f − M a + Gᵀ λ  at q_b, q̇_b = v + a t                               (3)
    φᵀ r ≈ f t + ½ f' t²                            by differences over ± the duration of the shortest impact       (4)

For a linear model f = −φᵀ(K v + C a), f' = −φᵀK a, and (4) is exact. Of bodies that turn, what the parabola of their
nodes deforms enters up to t²; what it takes joints apart, of the order t³, is left out. Speed and acceleration of the
gap are G_N v and G_N a + Ġ_N v, the last by differences.

Source: docs/theory/force_recovery.md, "Bodies that deform"; derived here.
Tests: tests/core/recovery/test_reduced_contact.py.

    symbol   code        shape   unit       meaning
    G_N      row         (n,)    -          gradient of the gap
    φ, b     shapes, participation  (n, k), (k,)  kg^-1/2
    σ        sigma       -       1/s²       shift
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import FemMbsError, ParameterError, SolverError
from fem_mbs.linear.factors import factors
from fem_mbs.model import compiled
from fem_mbs.recovery.modal_impact import ContactModes, LocalMotion, shortest
from fem_mbs.results.results import Results
from fem_mbs.solvers.counting_rows import counting_rows
from fem_mbs.solvers.linear.closed_contacts import ClosedContacts
from fem_mbs.solvers.stepping.initial import initial_accelerations
from fem_mbs.system.checks import model_checks
from fem_mbs.system.element_states import contact_states
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.model import Model
    from fem_mbs.system.system import System

SAME = 1e-8  # of a vector: what orthogonalisation leaves of one that is not new
DIFFERENCE = 1e-6  # of the size of the model, and rad: motion over which Ġ_N is taken


class ReducedContact:
    """Modes of a model at its contacts, for `recover_forces`: how bodies deform while an impact lasts.

    Parameters
    ----------
    model : Model or System
        That of the run.
    count : int ≥ 1
        Most vectors of the reduction. Forces are right if twice as many do not change them.

    Notes
    -----
    Deformations during an impact are small motions about the state before it. All other contacts are open while it
    lasts. A contact with a node of a solid mesh has the compliance of the mesh under this node in addition to that of
    the contact law, which is counted twice then, the more so the finer the mesh.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> rod = fem.Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    >>> model = fem.Model("ball on a cantilever")
    >>> beam = model.add(fem.beam_line(fem.Node6(fixed=True), fem.Node6([0.2, 0, 0]), 8, rod, poses=2))
    >>> ball = model.add(fem.RigidBody.sphere(0.03, 0.01, position=[0.2, 0, 0.01], velocity=[0, 0, -1]))
    >>> hit = model.add(fem.SphereOnPlane(ball, beam.nodes[-1], radius=0.01, restitution=1.0, name="hit"))
    >>> result = fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=2e-5, h=2e-6)
    >>> modes = ReducedContact(model)
    >>> found = fem.recover_forces(result, "hit", stiffness=1.5e10, restitution=1.0, modes=modes)
    >>> len(found.impacts)
    1
    """

    def __init__(self, model: "Model | System", *, count: int = 80) -> None:
        self._owner = Named("ReducedContact")
        self.count = self._owner.as_integer("count", count)
        self.system = compiled(self._owner, model)

    def modes(self, contact: str, duration: float, *, about: State | None = None) -> ContactModes:
        """Modes at a contact.

        Parameters
        ----------
        contact : str
            Its name.
        duration : float > 0 [s]
            Of the shortest impacts that the modes are for.
        about : State, optional
            Default: the initial one.
        """
        owner = Named("ReducedContact", contact)
        duration = owner.positive("duration", duration, "s")
        number = self._number(contact)
        about = self.system.initial if about is None else about
        owner.as_instance("about", about, State)
        return _Point(self.system, number, self._state(about)).reduce(1.0 / duration**2, self.count)[0]

    def local_motion(self, result: Results, contact: str, state: int, speed: float, stiff: tuple) -> LocalMotion:
        """`LocalMotion` of the impact of a run after the saved state of that number.

        ``speed`` [m/s]: of approach there; ``stiff``: stiffness and exponent of the contact law.
        """
        nodes = len(result.description["nodes"])
        if nodes != len(self.system.nodes):
            raise ParameterError(
                Named("recover_forces", contact), "modes", self, f"has a model with {len(self.system.nodes)} nodes; "
                f"the run of '{result.model}' has {nodes}: give ReducedContact(model) of its model",
            )  # fmt: skip
        point = _Point(self.system, self._number(contact), self._state(result.state(state)))
        sigma = shortest(point.mass(), speed, *stiff) ** -2.0
        modes, shapes = point.reduce(sigma, self.count)
        acceleration, loads = point.free_motion(sigma**-0.5)
        return LocalMotion(modes, shapes.T @ loads, point.gap, float(-point.full @ point.V), acceleration)

    def _number(self, contact):
        for number, element in enumerate(self.system.contacts[: self.system.nc_fixed]):
            if element.name == contact:
                return number
        raise FemMbsError(f"ReducedContact of model '{self.system.name}': it has no contact '{contact}' of two bodies")

    def _state(self, state):
        state = state.copy()
        self.system.switch_at(state.t, state)
        model_checks.state_fits(self.system, state)
        self.system.update_signals(state.t)
        contact_states(self.system.data[0], state.x, state.R, state.V)
        return state


class _Point:
    """Matrices and motion of a system about a state, and the gradient of the gap of contact number c."""

    def __init__(self, system: Any, c: int, state: State) -> None:
        self.system, self.state = system, state
        self._contact = ClosedContacts(Named("ReducedContact"), system, state, [system.contacts[c]])
        self.gap = float(system.gaps(state)[c])
        self.full = self._contact.full_rows(state)[0].ravel()
        self.row = system.reduced(self.full)
        self.V = state.V.ravel().copy()
        still = state.copy()
        still.V[:] = 0.0
        self.M, self.C, K, G = system.matrices(still, np.zeros(system.m))
        self.K, self.G = 0.5 * (K + K.T), G[counting_rows(system, G)]

    def _inverse(self, A):
        """x(b) that solves A x − Gᵀ μ = b, G x = 0."""
        from scipy.sparse import block_array

        m = self.G.shape[0]
        try:
            solve = factors(block_array([[A, -self.G.T], [-self.G, None]]).tocsc() if m else A).solve
        except RuntimeError as error:
            raise SolverError(
                f"ReducedContact of model '{self.system.name}': mass and constraints are singular, some node has no "
                f"mass ({error})"
            ) from error
        return lambda b: solve(np.append(b, np.zeros(m)))[: len(b)]

    def _clean(self):
        """x(x) without the components of round-off that joints forbid, which K amplifies."""
        G = self.G
        if not G.shape[0]:
            return lambda x: x
        solve = factors((G @ G.T).tocsc()).solve
        return lambda x: x - G.T @ solve(G @ x)

    def mass(self) -> float:
        """Mass [kg] of the nodes that touch, as the impulse of a step meets it: 1/(G_N M⁻¹ G_Nᵀ)."""
        mobility = float(self.row @ self._inverse(self.M)(self.row))
        if not (np.isfinite(mobility) and mobility > 0.0):
            raise SolverError(
                f"ReducedContact of model '{self.system.name}': the contact cannot open, joints hold both bodies along "
                "its normal"
            )
        return 1.0 / mobility

    def reduce(self, sigma: float, count: int) -> tuple[ContactModes, np.ndarray]:
        """`ContactModes` and their shapes (n, k), by (2)."""
        inverse, M, clean = self._inverse(self.K + sigma * self.M), self.M, self._clean()
        x = inverse(self.row)
        Q = np.zeros((len(x), 0))
        while Q.shape[1] < count:
            size = np.sqrt(x @ (M @ x))
            for _ in range(2):
                x = clean(x - Q @ (Q.T @ (M @ x)))
            rest = np.sqrt(max(x @ (M @ x), 0.0))
            if not rest > SAME * size:
                break  # the vectors span all that the contact excites
            Q = np.column_stack([Q, x / rest])
            x = inverse(M @ Q[:, -1])
        squares, turn = np.linalg.eigh(Q.T @ (self.K @ Q))
        shapes = Q @ turn
        damping = np.einsum("ij,ij->j", shapes, self.C @ shapes)
        modes = ContactModes(np.sqrt(np.maximum(squares, 0.0)), shapes.T @ self.row, np.maximum(damping, 0.0))
        return modes, shapes

    def free_motion(self, tau: float) -> tuple[float, np.ndarray]:
        """Acceleration [m/s²] with which the gap closes, and (n, 2) loads (4) before they are projected."""
        system, state = self.system, self.state
        A, lam = initial_accelerations(system, state)
        ahead, behind = (self._left(A, lam, sign * tau) for sign in (1.0, -1.0))
        loads = np.stack([ahead - behind, 2.0 / tau * (ahead + behind)], axis=1)
        system.update_signals(state.t)
        return float(-self.full @ A.ravel() - self._convective()), loads / (2.0 * tau)

    def _left(self, A, lam, t):
        """r (n,) of (3) at a time from the state."""
        system, state = self.system, self.state
        there = system.moved(state, t * state.V + 0.5 * t * t * A)
        there.V, there.t = state.V + t * A, state.t + t
        system.update_signals(there.t)
        system.constraint_values(there)
        held = system.constraint_forces(lam)
        Ma, f = system.forces(there, A)
        return system.reduced(f - Ma + held)

    def _convective(self):
        """Ġ_N v [m/s²]."""
        V = self.state.V
        size = max(np.abs(V[:, :3]).max() / self.system.size, np.abs(V[:, 3:]).max(), 1e-300)
        dt = DIFFERENCE / size
        ahead, behind = (
            self._contact.full_rows(self.system.moved(self.state, sign * dt * V))[0].ravel() for sign in (1.0, -1.0)
        )
        return float((ahead - behind) @ self.V) / (2 * dt)
