"""Load paths by arc length: past limit points, with branch points found and other branches followed on demand.

Contacts without friction close and open on the way (`fem_mbs.solvers.paths.changes`).

The load factor λ multiplies gravity, loads and drivers as in `fem_mbs.solvers.statics`, or those of them that are
named; the rest is a pre-load. The way along the path is that of `fem_mbs.solvers.paths.follow`.

Source: docs/theory/load_paths.md.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import ParameterError, SolverError, Warnings, label
from fem_mbs.model import compiled
from fem_mbs.nodes import COMPONENTS
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.equilibrium import GRAVITY, Equilibrium
from fem_mbs.solvers.paths.contact_forces import ContactForces
from fem_mbs.solvers.paths.control import Displacement, Load, Metric, Sphere
from fem_mbs.solvers.paths.follow import Follower, leaving
from fem_mbs.solvers.paths.held_contacts import HeldContacts
from fem_mbs.solvers.paths.load_scale import scaled
from fem_mbs.solvers.paths.load_steps import LoadSteps, largest_row, refuse, repeated, write
from fem_mbs.solvers.paths.newton import extent
from fem_mbs.solvers.paths.path_result import CriticalPoint, LoadPath
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.system.checks import model_checks
from fem_mbs.system.checks.element_checks import Extremes, load_warnings, stress_warnings
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from fem_mbs.arguments.checked import FrameLike
    from fem_mbs.model import Model
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System


CROOKED = 1e-6  # of the load: beyond that it does not grow in proportion to the load factor


@alone("a load path")
@Keywords.known
def load_path(
    model: "Model | System",
    *,
    factor: float | None = 1.0,
    loads: Sequence | None = None,
    step: float = 0.05,
    control: "str | tuple[FrameLike, str]" = "arc length",
    load_weight: float | None = None,
    until: Callable | None = None,
    start: CriticalPoint | None = None,
    side: float = 1,
    points: int = 200,
    t: float | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 12,
    save: str | Path | None = None,
) -> LoadPath:
    """Follow the equilibria of a model as its loads grow, past limit points and branch points.

    Parameters
    ----------
    model : Model or System
        Starts from the configuration of its initial state, with the load factor 0.
    factor : float or None
        Load factor at which the path ends, whichever way it arrives there; 1 is the load given. None: it ends by
        ``until`` or ``points``. Choose it above the limit load that is looked for.
    loads : list of loads and drivers, with "gravity" among them for the weight, optional
        What the load factor multiplies. The rest is applied before, in full, and stays (pre-stress). Default: all.
    step : float > 0
        Largest step of arc length: nodes turn by so many radians, or move by so many extents of the model, in the root
        mean square of all, and the load factor changes by so much of its scale 1/``load_weight``. Smaller steps are
        taken where Newton's iteration needs them. Two critical points within one step are looked for where something
        points to them; an eigenvalue that dips to zero from afar and back within one step is missed.
    control : {"arc length", "load"} or (node, component)
        What is prescribed from one equilibrium to the next: the arc length, the load factor (ends with an error at a
        limit point), or one displacement such as ``(crown, "z")``, of which ``step`` are then extents of the model
        (ends with an error where that displacement turns back).
    load_weight : float ≥ 0, optional
        Weight of the load factor in the arc length; 0: steps of motions alone, far too large for a stiff straight
        column. Default: from the first step, the same path in any unit of the load (`LoadPath.load_weight` has it): the
        load factor takes as large a part in that step as the motions, but changes by at most ``step`` times
        ``factor`` in a step, and passes no critical point in the first one. With ``start``: that of the path that
        branches.
    until : callable(point) -> bool, optional
        Ends the path after the point at which it is True; sees `PathPoint`.
    start : CriticalPoint, optional
        A branch point of another path of the same model: follow the other branch from there, with ``loads`` and ``t``
        of that path.
    side : +1 or −1
        With ``start``: the sign of the largest component of its ``mode`` along which the branch begins.
    points : int ≥ 2
        The path ends after so many equilibria; before, where it is closed.
    t : float, optional [s]
        Time at which functions of time are taken; default: that of the initial state.
    tolerance, max_iterations : as of `static_equilibrium`
    save : str, optional
        Results file of the path (ParaView), with the arc length in the place of time.

    Returns
    -------
    LoadPath
        Contacts without friction close and open on it: ``contact_changes``. Stability and critical points are those
        with closed ones as constraints.

    Raises
    ------
    ParameterError
        A parameter out of range; loads that do not grow in proportion to the load factor; nothing that grows with it.
    SolverError
        No equilibrium under the pre-load, no next point of the path, a path that goes back over its own points, or a
        contact is penetrated at one that takes no part: one with friction or rolling resistance, or of a contact group.
        The attribute ``path`` has what was found before.

    Examples
    --------
    Two bars that snap through, EA = 1 N, rise 0.1 m over a half span of 1 m:

    >>> from fem_mbs import Model, Node3, PointForce, Spring
    >>> model, crown = Model("truss"), Node3([0, 0, 0.1], fixed=("x", "y"), name="crown")
    >>> for x in (-1.0, 1.0):
    ...     _ = model.add(Spring(model.ground.frame([x, 0, 0]), crown, stiffness=1 / 1.01**0.5))
    >>> _ = model.add(PointForce(crown, [0, 0, -1e-3]))
    >>> path = load_path(model, step=0.02)
    >>> [f"{point.load_factor:.4f}" for point in path.limits]
    ['0.3811', '-0.3811']
    """
    owner = Named("load_path")
    factor = None if factor is None else owner.number("factor", factor)
    step, tolerance = owner.positive("step", step), owner.positive("tolerance", tolerance)
    points, most = owner.as_integer("points", points, 2), owner.as_integer("max_iterations", max_iterations)
    weight = None if load_weight is None else owner.positive("load_weight", load_weight, "", allow_zero=True)
    owner.check(factor is not None or until is not None or points < 100_000, "factor", None, "leaves the path no end")
    owner.check(until is None or callable(until), "until", until, "must be a function of a PathPoint")
    owner.as_choice("side", side, (1, -1))
    owner.as_path("save", save)
    if start is not None:
        follower, point, first = _from_branch(owner, model, start, side, loads, t, weight, step, tolerance, most)
    else:
        follower, point, first = _from_rest(owner, model, loads, t, weight, step, tolerance, most)
    _controlled(owner, follower, control)
    if weight is None and start is None:
        point = scaled(follower, point, factor)
    system = follower.problem.system
    follower.path.load_weight = follower.metric.weight
    try:
        follower.follow(point, factor, None if until is None else _asked(owner, until), points, first)
    finally:
        system.set_gravity(system.gravity)
        system.update_signals(follower.problem.t)
        path = follower.path
        if follower.records:
            options = {"solver": "load_path", "step": step, "tolerance": tolerance}
            extremes = Extremes(system)
            for record in follower.records:
                extremes.look(record["output"])
            states = [point._found.state for point in path.points]
            outputs = [record["output"][-1] for record in follower.records]
            warnings = extremes.warnings() + stress_warnings(system, states)
            warnings += load_warnings(system, list(zip(outputs, states, strict=True)))
            path.warnings.extend(warnings)
            known = {
                "load_factors": path.load_factors.tolist(), "unstable": path.unstable, "ended": path.ended,
                "warnings": [*Warnings.of(system), *warnings],
            }  # fmt: skip
            path.results = write(system, follower.records, save, known, options)
    return path


def _asked(owner, until):
    """``until`` with its errors in our words."""

    def asked(point):
        try:
            return bool(until(point))
        except Exception as error:
            message = f"raised {type(error).__name__} at load factor {point.load_factor:.6g}: {error}"
            raise ParameterError(owner, "until", until, message) from error

    return asked


def _from_rest(owner, model, loads, t, weight, step, tolerance, most):
    """From the initial state, or the equilibrium under the pre-load."""
    system = compiled(owner, model, check="positions")
    system.number_nodes()
    t = owner.number("t", float(system.initial.t) if t is None else t, "s")
    system.switch_at(t, system.initial)
    refuse(owner, system)
    varied = varied_loads(owner, system, loads)
    model_checks.state_fits(system, system.initial)
    problem, state, lam = preloaded("load_path", system, t, varied, tolerance, most)
    metric = Metric(system, extent(system, state), 1.0 if weight is None else weight)
    follower = Follower(problem, metric, Sphere, step, tolerance, most)
    proportional(owner, problem, state, lam)
    point = follower.begin(state, lam)
    if point is None:
        where = largest_row(problem, state, lam, 0.0)[0]
        raise SolverError(
            f"load_path of '{system.name}': the tangent is singular where the path begins: the model is a mechanism "
            f"without stiffness there, or at a critical point.{where} Hold it, or pre-load it.{repeated(system)}"
        )
    return follower, point, ()


def _from_branch(owner, model, start, side, loads, t, weight, step, tolerance, most):
    """From a branch point of another path, along its critical motion."""
    owner.as_instance("start", start, CriticalPoint, "a CriticalPoint, such as path.branches[0]")
    owner.check(start.kind == "branch", "start", start, "is a limit point: no other path crosses there")
    mine = model is start.system or model is start.system.model
    owner.check(mine, "start", start, "is a point of another model; give the model or System of its path")
    for name, value in (("loads", loads), ("t", t)):
        owner.check(value is None, name, value, "is that of the path that branches; remove it")
    system, problem = start.system, start._problem
    compiled(owner, system)
    metric = start._metric if weight is None else Metric(system, extent(system, system.initial), weight)
    follower = Follower(problem, metric, Sphere, step, tolerance, most)
    direction, first = leaving(start, metric, side)
    return follower, start._found._replace(s=0.0, tangent=direction), first


def varied_loads(owner: Named, system: "CompiledSystem", loads: Sequence | None) -> list | None:
    """The loads that the load factor multiplies, as `Equilibrium` takes them."""
    if loads is None:
        return None
    owner.check(isinstance(loads, (list, tuple)) and len(loads), "loads", loads, "must be a list of loads of the model")
    owners, varied = {id(owner) for owner in system.signal_owner}, []
    for load in loads:
        if isinstance(load, str):
            owner.check(
                load == GRAVITY, "loads", load, "is no load; give loads themselves, and 'gravity' for the weight"
            )
            varied.append(GRAVITY)
            continue
        message = "is no load, driver or force with a function of time of this model"
        owner.check(id(load) in owners, "loads", load, message)
        varied.append(load)
    return varied


def preloaded(who: str, system: "System", t: float, varied: list | None, tolerance: float, most: int) -> tuple:
    """Equations with the load factor on what varies, and state and multipliers under the rest of the loads.

    Contacts that press without friction are held there, and their forces are the last of the multipliers.
    """
    problem = Equilibrium(system, t, True, None, varied)
    taking_part = bool(system.nc) and not system.searches
    problem.held = HeldContacts(system) if taking_part else None
    rest = [load for load in (*system.signal_owner, GRAVITY) if not any(load is one for one in varied or [load])]
    before = Equilibrium(system, t, True, None, rest, rest=0.0)
    steps = LoadSteps(before, StaticResult(system), False, who)
    if varied is None or not before.loaded():
        problem.hold((), steps.state)
        return problem, steps.state, steps.lam
    before.contacts = ContactForces(system) if taking_part else None
    steps.follow(1, True, tolerance, max(most, 15))
    for text in steps.warnings:
        raise SolverError(f"{who} of '{system.name}': under the loads that stay {text}")
    pressed = [] if before.contacts is None else np.flatnonzero(before.contacts.status != GAP)
    rough = [c for c in pressed if not problem.held.smooth[c]]
    if rough:
        raise SolverError(
            f"{who} of '{system.name}': {problem.held.names(rough)} is closed under the loads that stay, and resists "
            "sliding or rolling: load paths support frictionless contacts only. Put a joint in its place, or remove "
            "the friction",
            element=system.contacts[rough[0]],
        )
    forces = before.contacts.lam[pressed, 0] if len(pressed) else []
    problem.hold(tuple(int(c) for c in pressed), steps.state)
    return problem, steps.state, np.append(steps.lam, forces)


def proportional(owner: Named, problem: Equilibrium, state: "State", lam: np.ndarray) -> None:
    """ParameterError where nothing grows with the load factor, or not in proportion to it."""
    rate, crooked = problem.load_rate(state, lam, 0.0)
    if not rate.any():
        message = "has no load, weight or driver that grows with the load factor"
        raise ParameterError(owner, "model", problem.system.name, message)
    if crooked > CROOKED:
        owners = [o for o, v in zip(problem.system.signal_owner, problem.varies) if v and o.role == "dynamic"]
        named = ", ".join(dict.fromkeys(label(o) for o in owners))
        message = (
            f"has forces that are not proportional to the load factor (off by {crooked:.1e} of the load), among: "
            f"{named}. Give loads=[…] those that are"
        )
        raise ParameterError(owner, "model", problem.system.name, message)


def _controlled(owner, follower, control):
    """Quantity prescribed from point to point."""
    if isinstance(control, str):
        owner.as_choice("control", control, ("arc length", "load"))
        follower.make = Sphere if control == "arc length" else Load
        return
    pair = isinstance(control, tuple) and len(control) == 2
    owner.check(pair, "control", control, "must be 'arc length', 'load', or a node and a component, (crown, 'z')")
    system, (node, component) = follower.problem.system, control
    node = owner.as_frame("control", node).node
    owner.as_choice("control", component, COMPONENTS[:3])
    owner.check(any(node is one for one in system.nodes), "control", node, "is not a node of the model")
    full = 6 * next(i for i, one in enumerate(system.nodes) if one is node) + COMPONENTS.index(component)
    owner.check(system.dof[full] >= 0, "control", f"{label(node)}, {component}", "is fixed; give one that moves")
    length = extent(system, system.initial)

    class OneDisplacement(Displacement):
        """Displacement of the requested node."""

    OneDisplacement.k, OneDisplacement.length = int(system.dof[full]), length
    follower.make = OneDisplacement
