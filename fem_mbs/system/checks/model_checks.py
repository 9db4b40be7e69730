"""Checks of a compiled model: what is impossible or would silently give wrong answers raises an error that names it."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ModelError, Warnings, label
from fem_mbs.nodes import COMPONENTS, Frame, Ground
from fem_mbs.shapes import matrices
from fem_mbs.system.checks.element_checks import trouble
from fem_mbs.system.checks.locked_gears import warn_locked
from fem_mbs.system.checks.redundancy import FEW, normalised_rows, singular_values
from fem_mbs.system.checks.redundant_joints import redundant_constraints
from fem_mbs.system.contacts import TURNING
from fem_mbs.system.numbering import Pair
from fem_mbs.system.sizes import gyrations

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State

START_TOLERANCE = 1e-8  # relative to the size of the model and to its velocities: twelve digits of input would do
RESTART_TOLERANCES = 1e-6, 1e-3  # of positions and velocities that come from a file or another run
NEARLY = 1e-6  # smallest singular value of rows of length 1; that of real mechanisms is > 1e-4
GYRATION = 20.0  # times all lengths in a model: a radius of gyration that is a mistake of units
ROUND_OFF = 1e-13  # of the velocities before they were projected
SAME = 1 + 1e-6  # drift that a run has left, computed again from its results
LARGEST_FRICTION = 5.0  # coefficients above it are taken for slips of the pen; clean metal in vacuum has some 4
FAR = 1e6  # sizes of the moving bodies, from the origin: joints may then be apart by 1 % of that size when a run starts
ROTATION_TOLERANCE = 1e-6  # of a rotation of a state: seven digits of input


def run(system: "CompiledSystem", *, project: bool, redundant: str, velocities: bool = True) -> None:
    """Run all checks on the initial state of a system, without ``velocities`` not on those; raises ModelError."""
    state = system.initial
    used_nodes(system)
    no_contact_twice(system)
    stops_of_joints_that_stay(system)
    system.constraint_values(state)
    moving_without_mass(system, state)
    if system.m and redundant == "error":
        redundant_constraints(system)
        nearly_dependent(system)
    if project:
        project_positions(system, state)
        project_velocities(system, state)
    constraints_hold(system, state, velocities=START_TOLERANCE if velocities else None)
    no_penetration(system, state)
    elements_in_range(system, state)
    warn_of_laws(system)
    groups_left_out(system)
    hulls_of_other_bodies(system)
    warn_locked(system)
    far_away(system)
    heavy_to_turn(system)
    for element in system.elements:
        for text in element.start_warnings(system.gravity):
            Warnings.issue(text)


def used_nodes(system: "CompiledSystem") -> None:
    """Every node that can move belongs to an element."""
    used = {node.index for element in system.elements for node in element.nodes}
    for node in system.nodes:
        if node.index not in used and node.free.any():
            raise ModelError(f"{label(node)} is connected to no element; add one, fix it, or remove it", [node])


def no_contact_twice(system: "CompiledSystem") -> None:
    """A contact whose geometry a compliant contact uses is not in the model itself: nothing could penetrate."""
    contacts = set(system.contacts)
    for element in system.elements:
        if element.role == "dynamic" and element.contact in contacts:
            raise ModelError(
                f"{label(element.contact)}, wrapped by {label(element)}, is in the model as well. Add the compliant "
                "contact alone",
                [element.contact, element],
            )


def stops_of_joints_that_stay(system: "CompiledSystem") -> None:
    """Check joints with stops: a stop cannot be switched off with its joint, and needs its coordinate."""
    stops = [(contact, contact.joint) for contact in system.contacts if contact.joint is not None]
    known = set(system.elements) if stops else set()
    for stop, joint in stops:
        if joint not in known:
            raise ModelError(
                f"{label(stop)}: its joint, {label(joint)}, is not in the model; add it too", [stop, joint]
            )
        if joint.switch_times() or not joint.active:
            raise ModelError(
                f"{label(stop)}: its joint, {label(joint)}, is off at times, and a stop cannot be: it would act "
                "between bodies that are free. Leave the stop out, or take a JointBumper, which can be switched",
                [stop, joint],
            )


def moving_without_mass(system: "CompiledSystem", state: "State") -> None:
    """Every free component has mass, or something that determines it: no row of velocities, which leaves its place."""
    n = system.n
    has, holds = np.zeros(n, bool), np.append(np.zeros(n, bool), ~system.velocity_rows)
    for c_M, c_K in ((1.0, 0.0), (0.0, 1.0)):
        layout = system.assemble(state, c_M=c_M, c_K=c_K, c_H=c_K)
        there = np.abs(layout.values) > 0
        row = layout.rows[there]
        column = np.repeat(np.arange(layout.n), np.diff(layout.pointers))[there]
        has[row[(row < n) & (column < n)]] = True
        has[column[holds[row] & (column < n)]] = True
    loose = np.flatnonzero(~has)
    if loose.size:
        full = np.flatnonzero(system.dof >= 0)[loose]
        node = system.nodes[full[0] // 6]
        names = ", ".join(COMPONENTS[i % 6] for i in full if i // 6 == node.index)
        raise ModelError(
            f"{label(node)} can move in {names} but has no mass, stiffness or constraint there: its motion is "
            f'undefined. Add a body, a point mass or a joint, or fix them (fixed=("{names.split(", ")[0]}", …))',
            [node],
        )


def _worst(system, values):
    """Constraint element with the largest entry of values (m,), and that entry."""
    row = int(np.argmax(np.abs(values)))
    return system.unknown(system.n + row)[0], float(np.abs(values[row]))


def something_moves(system: "CompiledSystem") -> None:
    """Check that there are unknowns: matrices of none cannot be factorised."""
    if system.n == 0:
        raise ModelError(
            f"nothing in model '{system.name}' can move: all components of all its nodes are fixed. Free some, by "
            "another fixed=(…) of a body or node"
        )


def state_fits(system: "CompiledSystem", state: "State") -> None:
    """Something can move, and a state has numbers for every node, all finite; each rotation is one, the same as
    quaternion and as matrix.

    Raises
    ------
    ModelError
        Names the node and the cure.
    """
    something_moves(system)
    N = len(system.nodes)
    arrays = {"x": (N, 3), "Q": (N, 4), "R": (N, 3, 3), "V": (N, 6)}
    for name, shape in arrays.items():
        array = getattr(state, name)
        if array.shape != shape:
            raise ModelError(f"the initial state has {name} of shape {array.shape}; this system needs {shape}")
        bad = np.flatnonzero(~np.isfinite(array.reshape(N, -1)).all(axis=1))
        for i in bad[:1]:
            node = system.nodes[i]
            raise ModelError(
                f"{label(node)}: the initial state has {name} = {array[i].tolist()}; must be finite", [node]
            )
    cure = "Set rotations with state.set_rotation(node, rotation), which sets Q and R"
    length = np.linalg.norm(state.Q, axis=1)
    for i in np.flatnonzero(np.abs(length - 1.0) > ROTATION_TOLERANCE)[:1]:
        node = system.nodes[i]
        raise ModelError(
            f"{label(node)}: the quaternion Q of the initial state has length {length[i]:.9g}, must be 1. {cure}",
            [node],
        )
    apart = np.abs(matrices(state.Q) - state.R).reshape(N, 9).max(axis=1)
    for i in np.flatnonzero(apart > ROTATION_TOLERANCE)[:1]:
        node = system.nodes[i]
        raise ModelError(
            f"{label(node)}: Q and R of the initial state are different rotations (by {apart[i]:.3g}): one of them was "
            f"set alone. {cure}",
            [node],
        )


def start_holds(system: "CompiledSystem", drift: float = 0.0, follows: bool = False) -> None:
    """The state a run begins with can be one of the system, as far as one from a file or another run can.

    `System` has checked the state of the model; ``system.initial`` may have been replaced since. A driver evaluated at
    another time than that of the state, or velocities left behind, would be an impact in the first step.

    ``drift``: penetration [m] that steps of the method leave. ``follows``: its positions follow velocities, so that
    joints drift too, and it continues from the drift that a run has left.
    """
    state_fits(system, system.initial)
    system.begin(system.initial)
    positions, velocities = RESTART_TOLERANCES
    left = system.initial._drifted if follows else (0.0, 0.0, 0.0)
    constraints_hold(system, system.initial, positions=positions, velocities=velocities, left=left[:2])
    no_penetration(system, system.initial, positions, max(drift, SAME * left[2]))


def constraints_hold(
    system: "CompiledSystem",
    state: "State",
    *,
    positions: float = START_TOLERANCE,
    velocities: float | None = START_TOLERANCE,
    left: tuple[float, float] = (0.0, 0.0),
) -> None:
    """Check that the configuration and the velocities (None: not checked) satisfy all constraints, to relative
    tolerances, or to the |g| and |ġ| that a run has left.
    """
    if not system.m:
        return
    g, rate = system.constraint_values(state)
    size = system.size_at(state)
    speed = system.speed_at(state)
    when = f" at t = {state.t:.6g} s, the time of the initial state" if state.t else ""
    if np.abs(g).max() > max(positions * size, SAME * left[0]):
        owner, value = _worst(system, g)
        cure = "Correct the initial positions, or let compile(project=True) move them"
        if state._drifted[0] >= value / SAME:
            cure = (
                "The state is from a run whose joints drift: go on with its method, or repeat it with one that holds "
                "joints, such as DecoupledNSGA or MoreauJean(projection=True)"
            )
        raise ModelError(
            f"{label(owner)} is not assembled{when}: its largest gap is {value:.3g} (m, or a sine of an angle). {cure}",
            [owner],
        )
    if velocities is not None and np.abs(rate).max() > max(velocities * speed, SAME * left[1]):
        owner, value = _worst(system, rate)
        moving = ", ".join(label(n) for n in owner.nodes if n.free.any())
        raise ModelError(
            f"{label(owner)}: the initial velocities violate it{when} by {value:.3g} (m/s or rad/s). Correct those of "
            f"{moving}, or let compile(project=True) find the nearest that fit",
            [owner],
        )


def no_penetration(system: "CompiledSystem", state: "State", tolerance: float = 1e-9, drift: float = 0.0) -> None:
    """No contact starts closed by more than a relative tolerance, or a length ``drift`` [m]."""
    limit = -max(tolerance * system.size_at(state), drift)
    contact: Any
    for contact, gap in system.overlaps(state, limit):
        kind: Any = contact.kind if isinstance(contact, Pair) else type(contact)
        cure = f"Move the bodies apart (gap ≥ 0), or check the radius and {kind.where}"
        if not isinstance(contact, Pair) and contact.plane is not None and isinstance(contact.nodes[0], Ground):
            cure += ". Its first frame is on the ground: the first is of the body, the second of the plane"
        if state._drifted[2] >= -gap / SAME:
            cure = (
                "The state is from a run whose contacts penetrate: go on with its method, or repeat it with one that "
                "holds gaps, such as DecoupledNSGA or MoreauJean(projection=True)"
            )
        raise ModelError(f"{label(contact)}: starts with penetration, gap = {gap:.6g} m. {cure}", [contact])


def elements_in_range(system: "CompiledSystem", state: "State") -> None:
    """Check that no element starts outside its range of validity: too deep a compliant contact, beam ends turned too
    far.
    """
    found = trouble(system, state)
    if found:
        element, text = found
        raise ModelError(f"at the start: {text}", [element])


def warn_of_laws(system: "CompiledSystem") -> None:
    """Warn about coefficients of contacts that are possible, but hardly meant: once for all contacts alike."""
    found: dict[str, list] = {}
    for contact, law in zip(system.contacts, system.laws):
        mu, radius = law["static_friction"], float(contact.radius)
        if mu > LARGEST_FRICTION:
            text = (
                f"friction = {mu:g} is above {LARGEST_FRICTION:g}. It is a number, not per cent: did you mean "
                f"{mu / 100:g}?"
            )
            found.setdefault(text, []).append(contact)
        for name in TURNING:
            if 0.0 < radius < law[name]:
                text = (
                    f"{name} = {law[name]:g} m is longer than radius = {radius:g} m. It is the arm of a moment, not "
                    f"a number: did you mean {law[name] * radius:g} m, that part of the radius?"
                )
                found.setdefault(text, []).append(contact)
    for text, contacts in found.items():
        others = f" and {len(contacts) - 1} more contacts" if len(contacts) > 1 else ""
        Warnings.issue(f"{label(contacts[0])}{others}: {text}")


def groups_left_out(system: "CompiledSystem") -> None:
    """Warn about contact groups that know bodies of the model, and are not in it."""
    known = {id(search.owner) for search in system.searches}
    for node in system.nodes:
        for group in node._groups:
            if id(group) not in known:
                Warnings.issue(
                    f"{label(group)} has a shape on {label(node)}, but is not in the model: nothing touches by it. Add "
                    "it with model.add(group)"
                )


def hulls_of_other_bodies(system: "CompiledSystem") -> None:
    """Warn about hulls that cannot be the bodies that they are on."""
    for search in system.searches:
        for body, difference in search.owner.mass_warnings():
            text = f"{label(search.owner)}: {label(body)} and its hulls are unlike: {difference}"
            Warnings.issue(text)


def nearly_dependent(system: "CompiledSystem") -> None:
    """Warn about nearly redundant constraint rows: forces near a dead centre are large and inexact."""
    rows = normalised_rows(system) if system.m <= FEW else None
    values = np.ones(1) if rows is None else singular_values(rows)
    if values[-1] < NEARLY:
        Warnings.issue(
            f"model '{system.name}': a row of its constraints differs by {values[-1]:.1g} from a combination of others "
            "at the start: it is close to a dead centre (singular configuration). Reactions may be larger than the "
            "loads by the inverse of that, and have no correct digits. Start farther away from it"
        )


def heavy_to_turn(system: "CompiledSystem") -> None:
    """Warn about a rigid body whose radius of gyration is far beyond everything in the model: kg mm² for kg m²."""
    frames = [x for element in system.elements for x in vars(element).values() if isinstance(x, Frame)]
    used = [node.index for element in system.elements for node in element.nodes]
    reach = max([math.hypot(*frame.p.tolist()) for frame in frames], default=0.0)
    reach = max(reach, float(np.ptp(system.initial.x[used], axis=0).max()) if used else 0.0)
    bodies: list[Any] = [element for element in system.elements if element.rigid_body]
    drawn = {id(shape.points): shape.points for body in bodies for shape in body.shapes if len(shape.points)}
    reach = max([reach, *(float(np.abs(points).max()) for points in drawn.values())])
    reach = max([reach, *(element.own_size for element in [*system.elements, *system.contacts])])
    for body, gyration in zip(bodies, gyrations(bodies)):
        if 0.0 < GYRATION * reach < gyration and body.node.free[3:].any():
            Warnings.issue(
                f"{label(body)}: its radius of gyration is {gyration:.3g} m, and the model reaches {reach:.3g} m. Is "
                "its inertia in kg m², rather than kg mm² or kg cm²?"
            )


def far_away(system: "CompiledSystem") -> None:
    """Warn about a model whose distance from the origin leaves no digits for what happens within it.

    Gaps of joints and contacts are compared with that distance: the round-off of positions scales with it.
    """
    distance = system.size_at(system.initial)
    if 0.0 < system.extent < distance / FAR:
        Warnings.issue(
            f"model '{system.name}': the moving bodies have a size of some {system.extent:.2g} m and are "
            f"{distance:.2g} m from the origin. Joints and contacts can then be wrong by "
            f"{START_TOLERANCE * distance:.1g} m at the start without an error, and steps leave round-off of that "
            "distance. Put the model near the origin"
        )


def _solve_with_constraints(system, state, right, positions):
    """Least change in the metric of the mass matrix: [M Gᵀ; G 0] with a small shift for redundant rows.

    Rows of velocities hold no ``positions``.
    """
    layout = system.assemble(state, c_M=1.0, shift=1e-10 * system.mean_mass, positions=positions)
    if not layout.solver.factor(layout.values):
        raise ModelError("the initial velocities or positions cannot be projected: mass and constraints are singular")
    return layout.solver.solve(right)[: system.n]


def project_positions(system: "CompiledSystem", state: "State") -> None:
    """Move the configuration onto g = 0 by Newton iterations that are smallest in the metric of the mass matrix."""
    for _ in range(30):
        g, _ = system.constraint_values(state)
        if not system.m or np.abs(g).max() < 1e-13 * system.size_at(state):
            return
        step = _solve_with_constraints(system, state, np.concatenate([np.zeros(system.n), g]), True)
        moved = system.moved(state, system.expanded(step))
        state.x[:], state.Q[:], state.R[:] = moved.x, moved.Q, moved.R
    g, _ = system.constraint_values(state)
    if np.abs(g).max() > START_TOLERANCE * system.size_at(state):
        owner, value = _worst(system, g)
        raise ModelError(f"{label(owner)} cannot be assembled: {value:.3g} remains after 30 iterations", [owner])


def project_velocities(system: "CompiledSystem", state: "State") -> None:
    """Move the velocities onto G v + ∂g/∂t = 0, smallest change in the metric of the mass matrix."""
    before = system.fastest_at(state)
    for _ in range(3):  # linear; repeated because of the shift for redundant rows
        _, rate = system.constraint_values(state)
        if not system.m or np.abs(rate).max() < 1e-14 * max(system.speed_at(state), before):
            break
        step = _solve_with_constraints(system, state, np.concatenate([np.zeros(system.n), rate]), False)
        state.V += system.expanded(step)
    if system.fastest_at(state) <= ROUND_OFF * before:  # nothing can move: what remains is no speed to compare with
        state.V[:] = 0.0
