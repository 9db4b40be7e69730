"""Linear buckling: load factors at which the tangent would be singular if it continued as it begins.

About an equilibrium at the load factor λ₀ (0: the unloaded or pre-loaded model), with t = d(q, μ)/dλ of the path,

    A(λ₀ + x) ≈ A₀ + x A₁,     A₁ = ∂A/∂w·ẇ + ∂A/∂μ·μ̇ + ∂A/∂λ + (∂A/∂q·q̇ of elements without w)                   (1)
    (A₀ + x A₁) y = 0                                                                                              (2)

with A = [K + K_g −Gᵀ; −G 0]. w are the section forces of beams, which the mixed iteration keeps in addition to the
configuration: A₁ is the stiffness of the forces that the load brings about (geometric stiffness) in the place where
the model is. That the model deflects before it buckles is left out: to first order in the deflection a stiff direction
that turns would seem to soften (a strip of solids would tip over at half its load). Shells keep their section forces as
beams do. Solids and superelements give the stiffness of the stresses that q̇ brings about by a kernel of their own,
`Element.geometric`; superelements that of the forces on their frames and of load patterns, and a warning names the
stresses that are left out. Elements that have neither (springs) have both, their forces and their turning.

The elasticities of A₀ are those where the model is: how a neo-Hookean solid stiffens or softens until it buckles is
left out, as the strains until then are.

The derivatives are central differences over a load that moves nodes by `MOTION` of the model at most. A motion whose
stiffness of load is lost in the round-off of A is left out: it changes when the difference does.

Source: docs/theory/load_paths.md, (19), (20); Bathe, Finite Element Procedures, 6.8.2; Crisfield 1997, ch. 21.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.arguments.spelling import listed
from fem_mbs.deprecated import Deprecated
from fem_mbs.element.base import Element
from fem_mbs.errors import SolverError, label
from fem_mbs.jit import bind
from fem_mbs.linear.factors import factors
from fem_mbs.model import compiled
from fem_mbs.nodes import COMPONENTS
from fem_mbs.results.file.names import ShapesByName
from fem_mbs.solvers.paths.control import Load, Metric
from fem_mbs.solvers.paths.follow import Follower
from fem_mbs.solvers.paths.load_path import preloaded, proportional, varied_loads
from fem_mbs.solvers.paths.load_steps import internal_states, refuse, repeated, restore
from fem_mbs.solvers.paths.newton import bordered, extent
from fem_mbs.solvers.paths.untouched import no_closed_contact
from fem_mbs.system import element_states
from fem_mbs.system.checks import model_checks
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from fem_mbs.model import Model
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.system import System


MOTION = 1e-4  # rad, or of the extent of the model
SAME = 1e-2  # factors with ε and 4 ε that differ by more are round-off
FAR = 0.05  # extents of the model that it moves before it buckles: then a warning says so
MODES = 0.01  # by which motions that modes leave out would lower a load factor: then a warning names the parts
LEFT = 0.01  # of the strain energy of parts without stresses in A₁, without patterns: then a warning names them
NAMED = 3  # of these, by name
DENSE = 150  # unknowns, up to which all eigenvalues are computed


@Deprecated.attributes(remarks="warnings")
class Buckling(ShapesByName):
    """Critical load factors and buckling modes of a model.

    Attributes
    ----------
    load_factors : (k,), by increasing distance from ``at``
    shapes : (k, N, 6)
        (δx inertial [m], δθ body [rad]) of all nodes; largest component 1. Of a node or body: ``found["tip"]`` (k, 6).
    at : float, load factor about which was linearised
    warnings : list of str
    """

    def __init__(
        self, system: "CompiledSystem", at: float, x: np.ndarray, vectors: np.ndarray, warnings: list[str]
    ) -> None:
        self.system, self.at, self.load_factors, self.warnings = system, at, at + x, warnings
        self.shapes = np.zeros((len(x), len(system.nodes), 6))
        for shape, y in zip(self.shapes, vectors.T):
            shape[:] = system.expanded(y[: system.n])
            shape /= shape.reshape(-1)[np.abs(shape).argmax()] or 1.0

    @property
    def nodes(self) -> list:
        """The nodes that rows of ``shapes`` belong to."""
        return self.system.nodes

    def __len__(self):
        return len(self.load_factors)

    def report(self) -> str:
        """Load factors and the node that moves most, a line each."""
        lines = [f"{self.system.name}: linear buckling about load factor {self.at:g}"]
        for factor, shape in zip(self.load_factors, self.shapes):
            full = int(np.abs(shape).argmax())
            moves = f"{label(self.system.nodes[full // 6])} in {COMPONENTS[full % 6]}"
            lines.append(f"  load factor  {factor:.9g}; moves most: {moves}")
        return "\n".join([*lines, *[f"  note         {text}" for text in self.warnings]])

    def __str__(self):
        return self.report()

    def __repr__(self):
        return f"Buckling({len(self)} load factors, nearest {self.load_factors[0]:.6g})"


@alone("a buckling analysis")
@Keywords.known
def buckling(
    model: "Model | System",
    n: int = 3,
    *,
    loads: Sequence | None = None,
    at: float = 0.0,
    reverse: bool = False,
    t: float | None = None,
    tolerance: float = 1e-9,
) -> Buckling:
    """Load factors at which a model buckles, linearised about its unloaded, pre-loaded or loaded state.

    Parameters
    ----------
    model : Model or System
    n : int ≥ 1, how many load factors
    loads : list of loads and drivers, with "gravity" for the weight, optional
        What the load factor multiplies; the rest is a pre-load, applied in full. Default: all.
    at : float ≥ 0
        Load factor about which to linearise. 0 is the classical analysis, exact where the model does not deflect
        before it buckles. Where it does, larger ones are nearer the truth; what snaps through (shallow and deep arches)
        is for `load_path`, which also checks the others. A warning says how far the model would have moved.
    reverse : bool
        Also load factors below ``at``: the load with the other sign.
    t : float, optional [s], time at which functions of time are taken; default: that of the initial state
    tolerance : float > 0, of equilibria

    Returns
    -------
    Buckling

    Raises
    ------
    ParameterError
        A parameter out of range; loads that do not grow in proportion to the load factor; nothing that grows with it.
    SolverError
        No critical load: nothing that the load does makes the model softer; a model without stiffness; a contact that
        is closed about the state and resists sliding or rolling, or is of a contact group.

    Notes
    -----
    Contacts without friction that the loads press about the state hold in both directions, as joints; those that touch
    without force hold nothing. ``warnings`` names both.

    Examples
    --------
    >>> import numpy as np
    >>> from fem_mbs import Model, Node6, PointForce, Section, beam_line
    >>> root, tip, model = Node6(fixed=True), Node6([1, 0, 0]), Model("column")
    >>> _ = model.add(beam_line(root, tip, 8, Section.general(EA=1e6, GJ=1, EI2=1, EI3=2)))
    >>> _ = model.add(PointForce(tip, [-1, 0, 0]))
    >>> buckling(model, 2).load_factors.round(4)  # π²/4 and twice that: Euler
    array([2.4674, 4.9348])
    """
    owner = Named("buckling")
    n = owner.as_integer("n", n)
    tolerance, reverse = owner.positive("tolerance", tolerance), owner.as_flag("reverse", reverse)
    at = owner.positive("at", at, "", allow_zero=True)
    system = compiled(owner, model, check="positions")
    system.number_nodes()
    t = owner.number("t", float(system.initial.t) if t is None else t, "s")
    system.switch_at(t, system.initial)
    refuse(owner, system)
    varied = varied_loads(owner, system, loads)
    model_checks.state_fits(system, system.initial)
    try:
        problem, state, lam = preloaded("buckling", system, t, varied, tolerance, 15)
        proportional(owner, problem, state, lam)
        state, lam, idle = _loaded(problem, state, lam, at, tolerance)
        no_closed_contact("buckling", problem, state, at)
        matrices, moved, softer = _matrices(problem, state, lam, at)
        drift = np.abs(moved[:, :3]).max() / extent(system, state)
        x, vectors = _critical(matrices, system, n, reverse, drift)
        softer += _softer_by_modes(system, state, at, moved, x, vectors, matrices[0])
    finally:
        system.set_gravity(system.gravity)
        system.update_signals(t)
    if not len(x):
        details = "".join(f". {text}" for text in softer).removesuffix(".")
        side = "" if reverse else " (reverse=True looks at the load of the other sign)"
        raise SolverError(
            f"buckling of '{system.name}': no critical load found: no motion gets softer with this load{side}. A load "
            f"in tension, or that does not act on the motions of the model, has no critical value{details}"
        )
    warnings = []
    if problem.held is not None and problem.held.numbers:
        names = problem.held.names(problem.held.numbers)
        warnings.append(f"Closed contacts hold in both directions here, as joints: {names}.")
    warnings += idle + softer
    if drift * abs(x[0]) > FAR:
        warnings.append(
            f"By then the model would have moved by {drift * abs(x[0]):.2g} of its extent: what that changes is left "
            "out. Follow it by load_path."
        )
    if len(x) < n:
        warnings.append(f"These are all critical loads that were found: {len(x)}; {n} were requested.")
    return Buckling(system, at, x, vectors, warnings)


def _loaded(problem, state, lam, at, tolerance):
    """Equilibrium at a load factor, by load steps, with the contacts held that the load presses there."""
    metric = Metric(problem.system, extent(problem.system, state), 1.0)
    follower = Follower(problem, metric, Load, at or 1.0, tolerance, 15)
    follower.who = "buckling"
    point = follower.begin(state, lam)
    if point is None:
        raise _soft(problem.system)
    if at > 0.0:
        follower.follow(point, at, None, 1000, ())
        point = follower.path.points[-1]._found
    problem.hold(point.held, point.state)
    restore(problem.system, point.inner)
    idle = [] if follower.changes is None else follower.changes.idle(point)
    return point.state, point.lam, idle


def _soft(system):
    return SolverError(
        f"buckling of '{system.name}': the tangent is singular before anything grows: the model is a mechanism without "
        f"stiffness, or already at a critical load. Hold it, or choose another load factor at=….{repeated(system)}"
    )


def _matrices(problem, state, lam, at):
    """A₀, and A₁ with ε and with 4 ε, of (1) at an equilibrium; motions (N, 6) per load; warnings."""
    system, n = problem.system, problem.system.n
    solve = bordered(problem, state, lam, at, np.zeros(n), 1.0)
    t = None if solve is None else solve(np.append(np.zeros(n + problem.rows), 1.0))
    if t is None or not np.isfinite(t).all():
        raise _soft(system)
    moved = system.expanded(t[:n])
    step = _small(system, state, moved)
    slopes = [_slope(problem, state, lam, at, moved, t[n:-1], e) for e in (step, 4.0 * step)]
    problem.set_load(at)
    system.constraint_values(state)
    return (problem.matrix(state, lam), *slopes), moved, _left_out(system, state, step * moved)


def _small(system, state, moved):
    """Times motions (N, 6) are `MOTION` of the model."""
    size = max(np.abs(moved[:, :3]).max() / extent(system, state), np.abs(moved[:, 3:]).max())
    return MOTION / size if size > 0.0 else 1.0


def _softer_by_modes(system, state, at, moved, x, vectors, A):
    """Warning of load factors ``at`` + x that motions missing in reduced bodies would lower, as a list.

    A shape y is then critical at μ x, yᵀA₀y (1 − μ) = c_0 + c_1 μ x + c_2 μ² x², of all parts together. Other shapes,
    and the stresses in motions that are left out, make it less.
    """
    own = [
        element
        for group in system.groups
        if type(group.elements[0]).softening_left_out is not Element.softening_left_out
        for element in group.elements
    ]

    def about(motions):
        return [system.moved(state, sign * motions) for sign in (-1.0, 1.0)]

    step, changed, shares = _small(system, state, moved), [], np.zeros(len(own))
    change = about(step * moved) if own else []
    for one, y in zip(x, vectors.T) if own else ():
        motions = system.expanded(y[: system.n])
        size = _small(system, state, motions)
        shape = about(size * motions)
        powers = (one / step) ** np.arange(3)
        works = powers * np.array([element.softening_left_out(state, change, shape) for element in own])
        still, left = abs(size**2 * (y @ (A @ y))), works.sum(axis=0)
        a, b, c = left[2], still + left[1], max(still - left[0], 0.0)
        found = one * 2.0 * c / (b + np.sqrt(b**2 + 4.0 * a * c))
        if abs(one - found) > MODES * abs(at + one):
            changed.append(f"{at + one:.4g} (with more: {at + found:.4g} or less)")
            shares = np.maximum(shares, works.sum(axis=1) / works.sum())
    if not changed:
        return []
    named = [label(element) for element, share in zip(own, shares) if share > 0.1]
    return [
        f"Load factors are too high because modes are missing: {listed(changed)}. Under the stresses of their load "
        "patterns these bodies have motions that their modes do not represent, as the twist of a bent strip: "
        f"{_some(named)}. Reduce them with more modes until the load factors stay."
    ]


def _some(parts):
    """The first of some names as text, and how many there are more."""
    return listed([*parts[:NAMED], f"{len(parts) - NAMED} more"] if len(parts) > NAMED else parts)


def _left_out(system, state, moved):
    """Warning of elements without geometric stiffness of the stresses due to ``moved``, as a list."""
    there, energies = system.moved(state, moved), []
    for group in system.groups:
        if type(group.elements[0]).without_stiffening is not Element.without_stiffening:
            energies += [(element, *element.without_stiffening(state, there)) for element in group.elements]
    least = 1e-9 * sum(energy for _, energy, _ in energies)  # below it round-off of what does not deform
    parts = [
        f"{label(element)} ({left / energy:.0%} of its strain energy)"
        for element, energy, left in energies
        if energy > least and left > LEFT * energy
    ]
    if not parts:
        return []
    return [
        f"Stresses of the load neither stiffen nor soften these parts within: {_some(parts)}. That they buckle "
        "between their frames is found at too high a load (strips that bend first: 1.5 times), where nothing buckles "
        '(under a pull), or not at all. Divide them at frames with coupling="averaged" until the load factors stay, or '
        "make them of solids, shells or beams; or reduce them with the loads they carry: stiffening=(one frame, other "
        "frame) of a pull, or a list of fem.LoadPattern."
    ]


def _slope(problem, state, lam, at, moved, rates, e):
    """A₁ of (1)."""
    system, n, inner = problem.system, problem.system.n, internal_states(problem.system)

    def stressed(shift):
        """Forces as they become, in the place that there is."""
        problem.set_load(at + shift)
        restore(system, inner)
        element_states.update_states(system.data[0], state.x, state.R, shift * moved)
        system.constraint_values(state)
        return problem.matrix(state, lam + shift * rates, mixed=True)

    def displaced(shift):
        """Elements that keep no forces, where they come to."""
        other = system.moved(state, shift * moved)
        return system.assemble(other, c_K=1.0).matrix()

    def of_stresses():
        """Elements that say what their stresses do, per unit of load."""
        other = state.copy()
        other.V[:] = moved
        return system.assemble(other, c_K=1.0).matrix()

    def add(change):
        change = change.tocoo()
        among = (change.row < n) & (change.col < n)
        return slope + coo_array((change.data[among], (change.row[among], change.col[among])), shape=slope.shape)

    slope = (stressed(e) - stressed(-e)) / (2.0 * e)
    restore(system, inner)
    problem.set_load(at)
    records = system.own.groups.copy()
    kernels = [bound_geometric(group.elements[0]) for group in system.groups]
    geometric = np.array([kernel is not None for kernel in kernels])
    forces = system.own.groups["force"]
    try:
        system.own.groups["inertia"] = 0
        forces[(records["mixed"] != 0) | geometric] = 0
        if forces.any():
            slope = add((displaced(e) - displaced(-e)) / (2.0 * e))
        forces[:] = np.where(geometric, records["force"], 0)
        if forces.any():
            system.own.groups["force_tangent"][geometric] = [kernel.address for kernel in kernels if kernel is not None]
            slope = add(of_stresses())
    finally:
        system.own.groups[:] = records
    return slope.tocsc()


def bound_geometric(element: Element) -> "Callable | None":
    """The C function of an element's kernel `geometric`, or None."""
    kernel = type(element).geometric  # of an instance it would be a method
    return None if kernel is None else bind(kernel, element.parameters, element.sizes)


def _critical(matrices, system, n, reverse, drift):
    """x (k,) of (2) by increasing size, and motions with multipliers by columns.

    The load has no stiffness on multipliers: they are left out of the iteration, which otherwise finds pairs of
    multipliers alone that are round-off, with any x. Of what it finds x has to be −yᵀA₀y/yᵀA₁y.

    Loads that would move the model by its own extent before are none: linear analysis ends long before.
    """
    from scipy.linalg import eig
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

    A, slope, other = matrices
    try:
        solve = factors(A).solve
    except RuntimeError:
        raise _soft(system) from None
    size = system.n  # rows of constraints are at the end
    stiff = slope[:, :size]
    if abs(slope).sum() > abs(slope[:size, :size]).sum():
        size, stiff = A.shape[0], slope
    wanted = 4 * n + 8
    if size <= max(DENSE, wanted + 2):
        inverse, vectors = eig(-solve(stiff.toarray())[:size])
    else:
        operator = LinearOperator((size, size), matvec=lambda y: -solve(stiff @ y)[:size], dtype=float)
        start = solve(np.random.default_rng(0).normal(size=A.shape[0]))[:size]
        try:
            inverse, vectors = eigs(operator, wanted, which="LM", v0=start, maxiter=300)
        except ArpackError as error:
            raise SolverError(f"buckling of '{system.name}': {error}. Request fewer load factors") from error
    real = (np.abs(inverse.imag) <= 1e-6 * np.abs(inverse)) & (inverse.real != 0.0)
    x = 1.0 / inverse[real].real
    vectors = -x * solve(stiff @ vectors[:, real].real)
    first, second, still = (np.einsum("ik,ik->k", vectors, part @ vectors) for part in (slope, other, A))
    keep = (np.abs(first - second) <= SAME * np.abs(first)) & (np.abs(still + x * first) <= SAME * np.abs(still))
    keep &= (reverse | (x > 0.0)) & (drift * np.abs(x) < 1.0)
    order = np.flatnonzero(keep)[np.argsort(np.abs(x[keep]))][:n]
    return x[order], vectors[:, order]
