"""Static equilibrium: f(q, λ) + Gᵀ μ = 0, g(q, λ) = 0, by load steps and Newton iterations.

The load factor λ goes from 0 to 1. It multiplies gravity and the functions of time of loads (their value at time t) and
moves drivers from their value at the start to that at time t. One iteration:

    [ K + K_g   −Gᵀ ] [ δq ]   [ f + Gᵀ μ ]                                K = −∂f/∂q,  K_g = −∂(Gᵀμ)/∂q          (1)
    [   −G       0  ] [ δμ ] = [    g     ] ,      q ← q ∘ exp(δq),  μ ← μ + δμ

with elements that can do so (beams, shells) in mixed form: they keep their section forces w as iterates of their own,
which removes the false axial forces of a linearised rotation. Full steps are taken; increments are never capped (a
capped rotation ruins the mixed iteration). What counts as converged: the residual of the *un*mixed forces, relative to
the sum of the magnitudes of all element forces (relative to the load it could never close for slender beams), or an
increment below round-off of the coordinates.

Contacts add their forces and rows (`fem_mbs.solvers.paths.contact_forces`), but for contact groups and with rotation.

Steady rotation with angular velocity ω about an axis through the origin: forces of inertia are added with v = (ω × x,
Rᵀω), v̇ = (ω × (ω × x), 0), so that the equilibrium is that in the rotating frame.

Stability: at the equilibrium the lowest eigenvalue of the tangent stiffness on the motions that the constraints allow,

    K φ − Gᵀ δμ = λ D φ,   G φ = 0,   D = 1 (displacements), L² (rotations, L the size of the model)                (2)

is negative when a small disturbance lowers the potential energy. Follower loads, and moments of fixed direction, have
no potential and make K unsymmetric: det K < 0 then is divergence whatever the mass, otherwise the mass decides. Flutter
and stabilisation by gyroscopic moments are for `fem_mbs.solvers.modal.modes`.

Source: docs/theory/statics_and_modes.md, (1)-(3), (7), (8).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.errors import SolverError, Warnings
from fem_mbs.model import compiled
from fem_mbs.solvers import eigen
from fem_mbs.solvers.equilibrium import Equilibrium
from fem_mbs.solvers.paths.contact_forces import ContactForces
from fem_mbs.solvers.paths.load_steps import LoadSteps, refuse, tangent_matrices, write
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.system.checks import element_checks, model_checks
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from fem_mbs.model import Model
    from fem_mbs.system.system import System


@alone("a static equilibrium")
@Keywords.known
def static_equilibrium(
    model: "Model | System",
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
        needs more the smaller that is (2.5 times its buckling load: 40 with 1 % of it, above 100 with 0.1 %). With
        friction the equilibrium depends on the way: more where something slides and turns on its way.
    adaptive : bool
        Halve a load step that does not converge, or in which a contact with friction closes from afar; double after an
        easy one (at most to the size ``steps`` asks for).
    mixed : bool
        Beams and shells in mixed form (see the head of this file). False is plain Newton: same equilibrium, far smaller
        steps.
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
        A load step failed (after halving to 1e-6 of the load, when adaptive): because friction is used up, or contacts
        without friction leave something free, too. A closed contact resists rolling, spinning or drilling. A contact
        was penetrated that takes no part: in models with contact groups, and with ``rotation``.

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
    system.switch_at(t, system.initial)
    refuse(owner, system)
    problem = Equilibrium(system, t, mixed, w)
    if system.nc and not system.searches and w is None:
        problem.contacts = ContactForces(system)
    result = StaticResult(system, w)
    model_checks.state_fits(system, system.initial)
    path = LoadSteps(problem, result, stability, "static_equilibrium")
    try:
        path.follow(steps, adaptive, tolerance, max_iterations)
    finally:
        system.set_gravity(system.gravity)
        system.update_signals(t)
        if path.factor >= 1.0:
            _conclude(problem, result, path, stability)
        if path.records:
            known: dict[str, Any] = {"lowest_eigenvalue": result.lowest_eigenvalue, "stable": result.stable}
            known = {} if np.isnan(result.lowest_eigenvalue) else known
            outputs = path.records[-1]["output"]
            warnings = path.warnings + element_checks.output_warnings(system, outputs)
            warnings += element_checks.load_warnings(system, [(outputs[-1], path.state)])
            motion = problem.motion(path.state, path.factor)
            gravity = path.factor * system.gravity_at(t)
            warnings += element_checks.inertia_warnings(system, gravity, path.state, *motion)
            warnings += element_checks.stress_warnings(system, [path.state])
            rotation = element_checks.rotation_warnings(system, path.state, w)
            known["warnings"] = [*Warnings.of(system), *warnings, *rotation]
            options = {"solver": "static_equilibrium", "steps": steps, "tolerance": tolerance}
            result.results = write(system, path.records, save, known, options)
    for text in warnings:
        Warnings.issue(text)
    if result.stable is False:
        cure = (
            "A motion in time leaves this equilibrium; another one is found from a disturbed start, or with a small "
            "load that chooses the side; where there is one, with more load steps, because large ones pass its branch"
            if w is None
            else "Unless gyroscopic moments hold it (see fem_mbs.modes(system, about=…).stable), a motion leaves it"
        )
        message = f"static_equilibrium of '{system.name}': {result._stability()}. {cure}"
        Warnings.issue(message)
    return result


def _conclude(problem, result, path, stability):
    """Store the equilibrium in the result, with its stability if requested."""
    result._motion = problem.motion(path.state, 1.0)
    path.state.V[:] = result._motion[0]
    path.state.V.reshape(-1)[problem.system.dof < 0] = 0.0  # what is fixed stands still in a run from here
    result.state, result.multipliers = path.state, path.lam
    if problem.contacts is not None:
        result.contact_status = problem.contacts.status.copy()
    if stability:
        _find_stability(problem, result)


def _find_stability(problem, result):
    """Lowest eigenvalue (2) and its motion; left unknown where the iteration does not converge."""
    system = problem.system
    matrices = tangent_matrices(problem, result.state, result.multipliers, 1.0)
    if matrices is None:  # a contact slides
        return
    K, D, G = matrices
    try:
        value, vector, stable = eigen.lowest(K, D, G, system.circulatory)
    except SolverError:
        return
    result.lowest_eigenvalue, result.stable = value, stable
    result.mode = system.expanded(vector / (np.abs(vector).max() or 1.0))
