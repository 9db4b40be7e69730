"""Checks that hold for every element: gradients and tangents, invariance, symmetry, energy.

`check_element` evaluates an element through the same compiled calls as a solver, at random configurations (rotations up
to ``angle``), and compares

    G, H, ∂G/∂t, G_N, G_T, H_N …   with derivatives of the functions whose gradients they are
    K, C, ∂(Ma)/∂q                 with derivatives of the forces
    M                              with Ma; symmetric, no negative eigenvalue
    H                              H_θθ − H_θθᵀ = (G_θᵀ)~ on every node (docs/theory/joints.md, (3)), unless the row is
                                   one of velocities, which has no g either; then H v and vᵀH too
    γ, N of joint friction         ∂G/∂q, ∂N/∂λ, ∂N/∂q with differences; N(λ) is positively homogeneous
    forces, energy, |g|, gap       before and after a superposed rigid motion, rotated with it
    f at rest                      with −∂V/∂q
    v·(Ma − f)                     with d/dt ½vᵀMv (no gravity)
    dampers                        v·(f(v) − f(0)) ≤ 0

Derivatives are central differences of six points, accurate to about 1e-12 of the largest term. Errors are relative: a
matrix is compared block by block (3×3 blocks of one node pair), each relative to the larger of the block and 1e-6 of
the matrix, so that a wrong small block is not hidden by a stiff large one.

Attributes of an element exclude checks that do not apply: ``invariant = False`` (loads of fixed direction, prescribed
coordinates), ``conservative = False`` (its forces are not the gradient of its energy). A method ``regular(point)``
returns whether it can be differentiated at a configuration: contacts with edges cannot where the nearest point changes
kind. A method ``checked_state(state)`` returns the internal variables to check with, from the initial ones.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from fem_mbs.element.evaluator import Evaluator, Point, turned
from fem_mbs.element.friction_row import FrictionRow
from fem_mbs.element.registry import library, make_example
from fem_mbs.errors import FemMbsError, label
from fem_mbs.rotations import exp, skew

if TYPE_CHECKING:
    from fem_mbs.element.base import Element

TOLERANCE = 1e-6  # relative; correct elements reach 1e-9, the weakest mistakes found so far were above 1e-4
STEP = 1e-3  # of differences, m (times the size of the element), rad, s: truncation ~ STEP⁶, round-off ~ 1e-16/STEP
_POINTS = ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
_MULTIPLES = np.array([k for k, _ in _POINTS] + [-k for k, _ in _POINTS], dtype=float)  # of a step
# Of energies: longer. Where bodies rotate and nothing changes, differences of energies are round-off, ε |f| d/STEP,
# that
# `relative` compares with `_FLOOR` of the forces. Errors of the registered types stay below 1e-11 with 1 to 3 STEP.
STEP_ENERGY = 3e-3
_FLOOR = 1e-6
_NEARNESS = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01)


class Report:
    """Results of the checks of one element or type.

    Attributes
    ----------
    name : str
    errors : dict
        Check -> largest relative error over all configurations.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.errors = {}

    def add(self, check: str, error: float) -> None:
        """Keep the largest error of a check; a result that is not a number counts as infinite."""
        error = float(error) if np.isfinite(error) else np.inf
        self.errors[check] = max(self.errors.get(check, 0.0), error)

    @property
    def worst(self) -> float:
        """Largest error of all checks."""
        return max(self.errors.values(), default=0.0)

    @property
    def ok(self) -> bool:
        """True if all errors are below `TOLERANCE`."""
        return self.worst <= TOLERANCE

    def merge(self, other: "Report") -> None:
        """Take over the errors of another report."""
        for check, error in other.errors.items():
            self.add(check, error)

    def __str__(self):
        lines = [f"{self.name}: {'all checks passed' if self.ok else 'FAILED'}"]
        for check, error in self.errors.items():
            lines.append(f"  {check:<42} {error:9.1e}{'' if error <= TOLERANCE else '   <-- wrong'}")
        return "\n".join(lines)


def random_point(element: "Element", rng: np.random.Generator, angle: float = 3.0, nearness: float = 1.0) -> Point:
    """A random `Point`: node 1 turned by up to ``angle`` [rad] from the start, the others as much relative to it.

    Positions are moved by about a third of the size of the element (largest distance of its nodes, or 1 m), or the part
    of it that an element which inverts sets by an attribute ``checked_within``; with
    ``nearness`` below 1 all distances are shorter by that factor, those from the origin too.
    """
    nodes = element.nodes
    x = nearness * np.array([node.position for node in nodes])
    R = np.array([node.rotation for node in nodes])
    size = nearness * _size(element)
    point = Point()
    point.size, point.width = size, element.numbers_per_node
    Q = exp(_random_vector(rng, angle))
    moved = element.checked_within * size
    point.x = x @ Q.T + moved * rng.normal(size=x.shape) + nearness * rng.normal(size=3)
    turns = [exp(_random_vector(rng, angle)) if k else np.eye(3) for k in range(len(nodes))]
    point.R = np.array([Q @ R[k] @ turns[k] for k in range(len(nodes))])
    nd, (ns, nq, nr) = 6 * len(nodes), (element.sizes[k] for k in ("ns", "nq", "nr"))
    point.v, point.a = rng.normal(size=nd), rng.normal(size=nd)
    small = 0.2 * rng.normal(size=nd)
    small.reshape(-1, 6)[:, :3] *= size
    start = point.moved(small)
    point.x0, point.R0 = start.x, start.R
    point.s, point.t = rng.normal(size=(ns, 3)), rng.uniform(0.1, 1.0)
    point.gravity, point.lam, point.state = rng.normal(size=3), rng.normal(size=nr), np.zeros(nq)
    return point


def _regular_point(element, rng, angle, nearest=1.0):
    """A `random_point` at which the element can be differentiated, and the nearness it was found with.

    A force that acts in contact only is not found between bodies that are far apart for their size: nodes are drawn
    nearer and nearer then, from ``nearest`` on.
    """
    for nearness in _NEARNESS[_NEARNESS.index(nearest) :]:
        for _ in range(1000):
            point = random_point(element, rng, angle, nearness)
            if element.regular(point):
                return point, nearness
    raise FemMbsError(
        f"{label(element)}: none of thousands of random configurations, with nodes up to 100 times nearer than at the "
        "start, is regular; choose nodes or dimensions with which it can act"
    )


def _random_vector(rng, longest):
    vector = rng.normal(size=3)
    return rng.uniform(0.0, longest) * vector / np.linalg.norm(vector)


def _size(element):
    """Largest distance between the nodes of an element at the start [m], or 1."""
    x = np.array([node.position for node in element.nodes])
    distance = np.linalg.norm(x[:, None] - x[None], axis=2).max()
    return distance if distance > 0 else 1.0


def difference(function: Callable, step: float) -> Any:
    """Derivative at 0 of a function of one number, central differences of six points."""
    return sum(w * (function(k * step) - function(-k * step)) for k, w in _POINTS) / step


def _derivatives(values, steps, width):
    """Derivatives (…, nd) from values (columns, 6, …) at the multiples `_MULTIPLES` of the steps (columns,).

    ``width`` is the number of components of a node that have columns; there are zeros for the others.
    """
    weights = np.array([w for _, w in _POINTS])
    slopes = np.tensordot(weights, values[:, :3] - values[:, 3:], (0, 1)) / steps.reshape(-1, *[1] * (values.ndim - 2))
    whole = np.zeros((len(steps) // width, 6, *slopes.shape[1:]))
    whole[:, :width] = slopes.reshape(-1, width, *slopes.shape[1:])
    return np.moveaxis(whole.reshape(-1, *slopes.shape[1:]), 0, -1)


def _gradient(call, name, output, point, size, length=STEP):
    """∂/∂q of an output of a kernel: its shape, then (nd,); steps of ``length`` (see `STEP`)."""
    width, nodes, axes = point.width, np.arange(len(point.x)), np.arange(point.width)
    # node, component, multiple
    x = np.tile(point.x, (len(nodes), width, 6, 1, 1))
    R = np.tile(point.R, (len(nodes), width, 6, 1, 1, 1))
    turns = np.array([[exp(k * length * axis) for k in _MULTIPLES] for axis in np.eye(3)])
    steps = np.where(axes < 3, length * size, length)
    for node in nodes:
        for j in axes:
            if j < 3:
                x[node, j, :, node, j] += steps[j] * _MULTIPLES
            else:
                R[node, j, :, node] = point.R[node] @ turns[j - 3]
    values = call.along(name, output, point, x=x.reshape(-1, *point.x.shape), R=R.reshape(-1, *point.R.shape))
    return _derivatives(values.reshape(-1, 6, *values.shape[1:]), np.tile(steps, len(nodes)), width)


def _velocity_gradient(call, name, output, point):
    """∂/∂v of an output of a kernel."""
    columns = np.flatnonzero(np.arange(len(point.v)) % 6 < point.width)
    v = np.tile(point.v, (len(columns), 6, 1))
    for row, j in enumerate(columns):
        v[row, :, j] += STEP * _MULTIPLES
    values = call.along(name, output, point, v=v.reshape(-1, len(point.v)))
    return _derivatives(values.reshape(-1, 6, *values.shape[1:]), np.full(len(columns), STEP), point.width)


def relative(exact: Any, compared: Any, size: float = 1.0, reference: float = 0.0) -> float:
    """Largest relative difference of two arrays whose last axes are 6 n nodal components, block by block.

    ``reference``: size of the terms that the arrays are a difference or derivative of; values below `_FLOOR` times it
    count as round-off.
    """
    exact, compared = np.atleast_1d(exact).astype(float), np.atleast_1d(compared).astype(float)
    weight = np.ones(1)
    nodal = [axis for axis in range(exact.ndim) if exact.shape[axis] % 6 == 0 and exact.shape[axis] > 0]
    for axis in nodal:  # forces per metre and moments per radian become comparable
        scale = np.where(np.arange(exact.shape[axis]) % 6 < 3, 1.0, 1.0 / size)
        shape = [1] * exact.ndim
        shape[axis] = -1
        weight = weight * scale.reshape(shape)
    exact, compared = exact * weight, compared * weight
    if not (np.isfinite(exact).all() and np.isfinite(compared).all()):
        return np.inf
    largest = max(np.abs(exact).max(initial=0.0), np.abs(compared).max(initial=0.0), reference)
    if largest == 0.0:
        return 0.0
    starts = [np.arange(0, exact.shape[axis], 3) if axis in nodal else np.arange(1) for axis in range(exact.ndim)]

    def blocks(array):
        array = np.abs(array)
        for axis, start in enumerate(starts):
            array = np.maximum.reduceat(array, start, axis=axis)
        return array

    scale = np.maximum(np.maximum(blocks(exact), blocks(compared)), _FLOOR * largest)
    return (blocks(exact - compared) / scale).max()


def _check_inertia(call, point, report, size):
    out, tangent = call("inertia", point), call("inertia_tangent", point)
    M = tangent["M"]
    still = point.copy(a=np.zeros_like(point.a))
    report.add("inertia: M a", relative(M @ point.a, out["Ma"] - call("inertia", still)["Ma"], size))
    report.add("inertia: M symmetric", relative(M, M.T, size))
    lowest, highest = np.linalg.eigvalsh(0.5 * (M + M.T))[[0, -1]]
    # half the digits of the largest eigenvalue are left of a zero one (a body without inertia about one axis)
    report.add("inertia: M not negative", max(0.0, -lowest / highest))
    terms = np.abs(out["Ma"]).max()
    report.add(
        "inertia: ∂(Ma)/∂q",
        relative(tangent["Ka"], _gradient(call, "inertia", "Ma", point, size), size, terms),
    )
    terms = np.abs(out["f"]).max()
    _check_tangents("inertia", call, point, tangent, report, size, terms)
    # d/dt ½ vᵀMv along q(t) = q ∘ exp(t v), v(t) = v + t a
    free = point.copy(gravity=np.zeros(3))
    out = call("inertia", free)

    def kinetic(time):
        q = free.moved(time * free.v).copy(v=free.v + time * free.a, a=free.v + time * free.a)
        return 0.5 * q.v @ call("inertia", q)["Ma"]

    power, reference = free.v @ (out["Ma"] - out["f"]), np.abs(free.v) @ (np.abs(out["Ma"]) + np.abs(out["f"]))
    report.add("inertia: power = dT/dt", abs(power - difference(kinetic, STEP)) / max(reference, 1e-300))


def _check_tangents(role, call, point, tangent, report, size, terms):
    """K and C of one role against differences of its forces."""
    for name, exact, found in (
        ("K", tangent["K"], -_gradient(call, role, "f", point, size)),
        ("C", tangent["C"], -_velocity_gradient(call, role, "f", point)),
    ):
        report.add(f"{role}: {name}", relative(exact, found, size, terms))


def _check_force(call, point, report, size, invariant):
    f, tangent = call("force", point)["f"], call("force_tangent", point)
    _check_tangents("force", call, point, tangent, report, size, np.abs(f).max())
    if not call.element.viscous:  # matrices of velocities omit it
        report.add("force: C of an element that is not viscous", float(tangent["C"].any()))
    elif call.reads("force_tangent", "needs_K"):
        call.views["needs_K"][0] = 0.0
        report.add("force: C without K", relative(tangent["C"], call("force_tangent", point)["C"], size))
        call.views["needs_K"][0] = 1.0
    of_tangent = tangent["f"] if call.reads("force_tangent", "f") else f
    report.add("force: f of the tangent", relative(f, of_tangent, size))
    if call.has("mixed", "initial"):
        rest = point.copy(v=np.zeros_like(point.v))
        rest.state = call("initial", rest)["state"]
        mixed, plain = call("mixed", rest), call("force_tangent", rest)
        report.add("mixed: f at the consistent state", relative(call("force", rest)["f"], mixed["f"], size))
        report.add("mixed: K at the consistent state", relative(plain["K"], mixed["K"], size))
    if invariant and call.has("energy"):
        rest = call("force", point.copy(v=np.zeros_like(point.v)))["f"]
        power, reference = point.v @ (f - rest), np.abs(point.v) @ (np.abs(f) + np.abs(rest))
        report.add("force: dampers take energy", max(0.0, power / max(reference, 1e-300)))


def _check_energy(call, point, report, size):
    rest = point.copy(v=np.zeros_like(point.v), a=np.zeros_like(point.a))
    f = sum(call(role, rest)["f"] for role in ("force", "inertia") if call.has(role))
    if not call.element.conservative:
        return
    gradient = _gradient(call, "energy", "energy", rest, size, STEP_ENERGY)[0]
    report.add("energy: f = −∂V/∂q", relative(f, -gradient, size, np.abs(call("energy", rest)["energy"])[0]))


def _check_constraint(call, point, report, size):
    out, H = call("constraint", point), call("hessian", point)["H"]
    n_g = call.element.rows - call.element.velocity_rows
    gradient = _gradient(call, "constraint", "g", point, size)
    if n_g:
        report.add("constraint: G", max(relative(G, D, size) for G, D in zip(out["G"][:n_g], gradient)))
    if call.element.velocity_rows:
        report.add("velocity rows: no g", np.abs(out["g"][n_g:]).max())
        _check_velocity_rows(call, point, report, size, n_g)
    gradient = _gradient(call, "constraint", "G", point, size)
    report.add("constraint: H", max(relative(a, b, size, np.abs(G).max()) for a, b, G in zip(H, gradient, out["G"])))
    error = 0.0
    for k, G in enumerate(out["G"][:n_g]):
        for n in range(len(point.x)):
            i = slice(6 * n + 3, 6 * n + 6)
            gap = H[k, i, i] - H[k, i, i].T - skew(G[i])
            error = max(error, np.abs(gap).max() / max(np.abs(H[k]).max(), np.abs(G).max()))
    if n_g:
        report.add("constraint: H_θθ − H_θθᵀ = (G_θᵀ)~", error)
    if call.has("rheonomic") and n_g:
        rates = call("rheonomic", point)
        for name, exact, found in (
            ("∂g/∂t", rates["gt"], difference(lambda e: call("constraint", point.later(e))["g"], STEP)),
            ("∂²g/∂t²", rates["gtt"], difference(lambda e: call("rheonomic", point.later(e))["gt"], STEP)),
            ("∂G/∂t", rates["rate"], difference(lambda e: call("constraint", point.later(e))["G"], STEP)),
        ):
            exact, found = exact[:n_g].ravel(), found[:n_g].ravel()
            report.add(f"constraint: {name}", relative(exact, found, 1.0, np.abs(out["G"]).max()))


def _check_velocity_rows(call, point, report, size, n_g):
    """Rows γ = G v + gt without g: ∂(Gᵀλ)/∂q, ∂γ/∂q, and γ̇ along a motion."""
    H, v, lam = call("hessian", point)["H"][n_g:], point.v, point.lam[n_g:]
    G = call("constraint", point)["G"][n_g:]
    rheonomic = call("rheonomic", point) if call.has("rheonomic") else None
    rate = rheonomic["rate"][n_g:] if rheonomic else np.zeros_like(G)

    def gamma(q):
        gt = call("rheonomic", q)["gt"][n_g:] if rheonomic else 0.0
        return call("constraint", q)["G"][n_g:] @ q.v + gt

    largest = np.abs(G).max()
    slopes = _gradient(call, "constraint", "G", point, size)[n_g:]
    found = np.einsum("k,kij->ij", lam, slopes)
    report.add("velocity rows: ∂(Gᵀλ)/∂q", relative(np.einsum("k,kij->ij", lam, H), found, size, largest))
    exact = np.einsum("i,kij->kj", v, H) + rate
    found = np.einsum("i,kij->kj", v, slopes)
    if rheonomic:
        found += _gradient(call, "rheonomic", "gt", point, size)[n_g:]
    report.add("velocity rows: ∂γ/∂q", max(relative(a, b, size, largest) for a, b in zip(exact, found)))
    exact = G @ point.a + exact @ v + rate @ v + (rheonomic["gtt"][n_g:] if rheonomic else 0.0)
    found = difference(lambda e: gamma(point.moved(e * v).later(e).copy(v=v + e * point.a)), STEP)
    report.add("velocity rows: dγ/dt", np.abs(exact - found).max() / np.abs(exact).max())


def _check_friction(call, point, report, size):
    """Row γ = G v + gt of joint friction, and its bound N(λ, q)."""
    out, bound = call("friction", point), call("friction_bound", point)
    slopes, hessians = _gradient(call, "friction", "G", point, size), call("friction_hessian", point)["H"]
    gradients = zip(out["G"], hessians, slopes)
    errors = [relative(H, slope, size, np.abs(G).max()) for G, H, slope in gradients if G.any()]
    report.add("friction: H", max(errors))
    rate = difference(lambda e: call("friction", point.later(e))["gt"], STEP)
    reference = max(np.abs(rate).max(), np.abs(out["gt"]).max(), 1e-300)
    report.add("friction: ∂γ/∂t of its surface", np.abs(rate - out["gtt"]).max() / reference)
    N, lam = bound["bound"][0], point.lam

    def of_multipliers(lam):
        return call("friction_bound", point.copy(lam=lam))["bound"][0]

    if len(lam):
        found = [difference(lambda e, unit=unit: of_multipliers(lam + e * unit), STEP) for unit in np.eye(len(lam))]
        report.add("friction: ∂N/∂λ", np.abs(bound["bound_lam"] - found).max() / max(np.abs(found).max(), 1e-300))
    found = _gradient(call, "friction_bound", "bound", point, size)[0]
    report.add("friction: ∂N/∂q", relative(bound["bound_q"], found, size, N))
    given = of_multipliers(np.zeros_like(lam))
    report.add("friction: N(2λ) = 2 N(λ) but for the preload", abs(of_multipliers(2 * lam) + given - 2 * N) / N)
    report.add("friction: N ≥ 0", max(0.0, -N, -given))


def _check_contact(call, point, report, size):
    out = call("contact", point)
    gradient = _gradient(call, "contact", "gap", point, size)[0]
    report.add("contact: G_N", relative(out["G_N"], gradient, size))
    report.add(
        "contact: H_N",
        relative(
            call("contact_hessian", point)["H_N"],
            _gradient(call, "contact", "G_N", point, size),
            size,
            np.abs(out["G_N"]).max(),
        ),
    )
    gradient = _gradient(call, "contact", "slip", point, size)
    report.add("contact: G_T", max(relative(a, b, size) for a, b in zip(out["G_T"], gradient)))
    begin = point.copy(x0=point.x, R0=point.R)
    gradient = _gradient(call, "contact", "slip", begin, size)
    start = call("contact", begin)
    # as vectors in space: tangents may depend on the start of the step
    velocity, gradient = out["tangents"].T @ out["V_T"], start["tangents"].T @ gradient
    report.add("contact: V_T", max(relative(a, b, size) for a, b in zip(velocity, gradient)))
    report.add("contact: no slip without motion", np.abs(start["slip"]).max() / size)
    axes = np.vstack([out["tangents"], out["normal"]])
    # bodies that carry several nodes (``element.sides``) rotate as one; nodes of meshes do not rotate
    v, spins = point.v.reshape(-1, 6).copy(), []
    one_of_each = ((0,), (1,))[: len(v)]
    for side in one_of_each if call.element.sides is None else call.element.sides:
        spins.append(point.R[side[0]] @ v[side[0], 3:])
        v[list(side), 3:] = spins[-1] @ point.R[list(side)]
    turning = sum((sign * spin for sign, spin in zip((1.0, -1.0), spins)), np.zeros(3))
    report.add("contact: W", relative(out["W"] @ v.ravel(), axes @ turning))
    report.add("contact: tangents, normal orthonormal", np.abs(axes @ axes.T - np.eye(3)).max())
    report.add("contact: tangents, normal right-handed", abs(np.linalg.det(axes) - 1.0))


def _check_invariance(call, point, report, size, rng, angle):
    """Superposed rigid motion: nothing that is measured on the element changes, forces rotate with it."""
    Q, c = exp(_random_vector(rng, angle)), rng.normal(size=3)
    gravity = Q @ point.gravity
    c -= (c @ gravity) * gravity / (gravity @ gravity)  # level: the potential of gravity does not change
    moved = point.rigidly_moved(Q, c, call.element.places).copy(gravity=gravity)
    if call.has("inertia"):
        for name in ("Ma", "f"):
            before, after = call("inertia", point)[name], call("inertia", moved)[name]
            report.add("invariance: inertia", relative(turned(Q, before, call.element.places), after, size))
    if call.has("force"):
        before = call("force", point)["f"]
        turned_too = turned(Q, before, call.element.places)
        report.add("invariance: forces", relative(turned_too, call("force", moved)["f"], size))
        # a rigid velocity field adds nothing: dampers see relative motion only
        spin, drift = rng.normal(size=3), rng.normal(size=3)
        field = np.array([[*(drift + np.cross(spin, x)), *(R.T @ spin)] for x, R in zip(point.x, point.R)]).ravel()
        if call.element.places is not None:
            field[6 * call.element.places :] = 0.0
        after = call("force", point.copy(v=point.v + field))["f"]
        report.add("invariance: rigid velocity", relative(before, after, size, np.abs(before).max()))
    if call.has("energy"):
        before, after = (call("energy", q)["energy"][0] for q in (point, moved))
        report.add("invariance: energy", abs(before - after) / max(abs(before), 1e-300))
    if call.has("constraint"):
        before, after = (np.linalg.norm(call("constraint", q)["g"]) for q in (point, moved))
        # round-off of differences of positions
        reference = max(before, np.abs(moved.x).max() * _FLOOR)
        report.add("invariance: |g|", abs(before - after) / reference)
        if call.element.velocity_rows:
            before, after = (np.linalg.norm(call("constraint", q)["G"] @ q.v) for q in (point, moved))
            report.add("invariance: |G v|", abs(before - after) / before)
    if call.has("friction"):
        before, after = (call("friction", q)["G"] @ q.v for q in (point, moved))
        report.add(
            "invariance: G v of friction", np.abs(before - after).max() / max(*np.abs(before), np.abs(point.v).max())
        )
        # the force of the joint rotates with it: a point row has it in inertial axes
        bound = call("friction_bound", point)["bound"][0]
        turned_too = moved.copy(lam=turned_multipliers(call.element, Q, point.lam))
        after = call("friction_bound", turned_too)["bound"][0]
        report.add("invariance: N of friction", abs(bound - after) / bound)
    if call.has("contact"):
        before, after = call("contact", point), call("contact", moved)
        reference = _FLOOR * np.abs(moved.x).max()
        for name in ("gap", "slip"):
            change = np.abs(before[name] - after[name]).max()
            report.add(f"invariance: {name}", change / max(np.abs(before[name]).max(), reference))


def turned_multipliers(element: "Element", Q: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """Multipliers of the joint of an element of friction when all is turned: those of a point are a force in space."""
    if not (isinstance(element, FrictionRow) and element.of_point):
        return lam
    return np.concatenate([Q @ lam[:3], lam[3:]])


def check_element(element: "Element", seed: int = 0, configurations: int = 50, angle: float = 3.0) -> Report:
    """Check one element at random configurations.

    Parameters
    ----------
    element : Element
    seed : int
        Of the random configurations.
    configurations : int
    angle : float [rad]
        Largest rotation of the first node from the start, and of the others relative to it; below π, where elements
        that use the relative rotation vector of their nodes jump.

    Returns
    -------
    Report
        ``report.ok``; ``print(report)`` lists all checks.

    Examples
    --------
    >>> from fem_mbs.elements import PointMass
    >>> check_element(PointMass(0.5), configurations=2).ok
    True
    """
    rng = np.random.default_rng(seed)
    call, report = Evaluator(element), Report(label(element))
    invariant, nearness = element.invariant, _NEARNESS[0]
    for _ in range(configurations):
        # nodes that were too far apart for one configuration are for the next
        point, nearness = _regular_point(element, rng, angle, nearness)
        size = point.size
        if call.has("engage"):  # it was engaged in another pose
            point.state = call("engage", random_point(element, rng, angle))["state"]
        elif call.has("initial"):
            point.state = element.checked_state(call("initial", point)["state"])
        if call.has("inertia"):
            _check_inertia(call, point, report, size)
        if call.has("force"):
            _check_force(call, point, report, size, invariant)
        if call.has("energy"):
            _check_energy(call, point, report, size)
        if call.has("constraint"):
            _check_constraint(call, point, report, size)
        if call.has("contact"):
            _check_contact(call, point, report, size)
        if call.has("friction"):
            _check_friction(call, point, report, size)
        if call.has("output"):
            report.add("output finite", 0.0 if np.isfinite(call("output", point)["out"]).all() else np.inf)
        if invariant:
            _check_invariance(call, point, report, size, rng, angle)
    return report


def check_type(name: str, seed: int = 0, instances: int = 10, configurations: int = 5, angle: float = 3.0) -> Report:
    """Check random instances of a registered element type, see `check_element`; returns one `Report`."""
    report = Report(name)
    for i in range(instances):
        element = make_example(name, np.random.default_rng([seed, i]))
        report.merge(check_element(element, seed=seed + i, configurations=configurations, angle=angle))
    return report


def check_tangents(names: Sequence[str] | None = None, seed: int = 0, file: TextIO | None = None) -> bool:
    """Check registered element types and print a table: type, largest error, the check that has it.

    Parameters
    ----------
    names : sequence of str, optional
        Types to check; default: all.
    seed : int
    file : text stream, optional
        Default: standard output.

    Returns
    -------
    bool
        Whether all passed.

    Raises
    ------
    KeyError
        Unknown type; lists those there are.
    """
    known = library()
    names = list(names or sorted(known))
    for name in names:
        if name not in known:
            raise KeyError(f"element type '{name}' is unknown; there are: {', '.join(sorted(known))}")
    print(f"{'element':<20} {'checks':>6} {'largest error':>14}   in", file=file)
    passed = True
    for name in names:
        report = check_type(name, seed=seed)
        worst = max(report.errors, key=report.errors.__getitem__, default="-")
        print(f"{name:<20} {len(report.errors):>6} {report.worst:>14.1e}   {worst}", file=file)
        if not report.ok:
            passed = False
            print(report, file=file)
    return passed
