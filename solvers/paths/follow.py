"""Follow a path of equilibria: predictor along the tangent, corrector, size of steps, critical points on the way.

    predictor   (δq, δμ, δλ) = Δs t
    corrector   (1) of `fem_mbs.solvers.paths.newton` with a row of `fem_mbs.solvers.paths.control`
    tangent     [A −p; tᵀ_before] t = (0, 1): its orientation is kept where λ turns back

A step is halved where the corrector fails, goes three times as far as the predictor (to another path: a snap), an
element is in trouble, or the tangent turns by more than 50°; it grows again after quick convergence. Where a path turns
back more sharply than its steps resolve, a tangent alone has no sense of direction. Two checks decide it: the step from
one point to the next has the direction of the tangent, and

    sign of det A · λ'     changes at branch points, and nowhere else along a path                                 (*)

which is that of the number of motions without stiffness. A path that comes to an earlier point again is closed, or has
turned back, which is an error (`fem_mbs.solvers.paths.revisit`).

Source: docs/theory/load_paths.md, (3)-(13); Allgower and Georg, Numerical Continuation Methods (1990), for (*).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.errors import SolverError, label
from fem_mbs.solvers.paths.changes import Changes
from fem_mbs.solvers.paths.control import Control, Load, Metric, Plane, Tangent
from fem_mbs.solvers.paths.critical import BRANCHES, FLAT, LIMIT, Test, root
from fem_mbs.solvers.paths.hidden import Hidden
from fem_mbs.solvers.paths.load_steps import RENEWALS, internal_states, largest_row, record, restore, tangent_matrices
from fem_mbs.solvers.paths.newton import Found, bordered, newton
from fem_mbs.solvers.paths.path_result import CriticalPoint, LoadPath, PathPoint
from fem_mbs.solvers.paths.revisit import Visited
from fem_mbs.solvers.paths.spectrum import Spectrum, spectrum
from fem_mbs.solvers.paths.untouched import CLOSED, no_penetration, touching
from fem_mbs.system.checks import element_checks
from fem_mbs.system.element_states import accept_states
from fem_mbs.system.records import ALL
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.solvers.equilibrium import Equilibrium


SMALLEST = 1e-5  # of the requested step
TURN = 0.64  # smallest cosine between tangents, of steps above `SHARP` of the requested one
SHARP = 0.02
JUMP = 3.0  # times the length of the predictor: a longer way leads to another path
LANDED = 1e-9  # of the requested step, times the requested load factor: so near to it a point is at it
ZERO = 1e-6  # of τ at the ends of a step: round-off of a critical point that was hit
QUICK, SLOW = 4, 7  # iterations after which a step grows or shrinks
SOFT = 1e7  # times as far as with the contacts that touch: then these alone hold the model


class Point(NamedTuple):
    """A converged equilibrium with what is needed to go on from it."""

    state: State
    lam: np.ndarray
    factor: float
    inner: list
    tangent: Tangent
    s: float
    iterations: int
    spectrum: Spectrum | None
    held: tuple[int, ...] = ()  # contacts, whose forces are the last of ``lam``


class Follower:
    """Steps along one path; ``make`` is the class of its `Control`."""

    who = "load_path"  # in messages

    def __init__(
        self, problem: "Equilibrium", metric: Metric, make: type[Control], step: float, tolerance: float, most: int
    ) -> None:
        self.problem, self.metric, self.make = problem, metric, make
        self.step, self.tolerance, self.most = step, tolerance, most
        self.path, self.records = LoadPath(problem.system), []
        self.hidden = Hidden(self)
        self.changes: Any = None if problem.held is None else Changes(self)
        self.visited = Visited(self)
        self._zeros: Any = None  # the last that were located, and between which points

    def begin(self, state: State, lam: np.ndarray) -> Point | None:
        """The first point, in the direction of growing load; None where its tangent is singular.

        Contacts that touch are held if they alone hold the model, and if the load will press them.
        """
        changes, held = self.changes, self.problem.held
        point = self.point(state, lam, 0.0, None, 0.0, 0)
        if changes is None:
            return point
        numbers = tuple(sorted({*held.numbers, *changes.touching(state)}))
        if numbers != held.numbers:
            old = dict(zip(held.numbers, lam[self.problem.system.m :]))
            lam = np.append(lam[: self.problem.system.m], [old.get(c, 0.0) for c in numbers])
            self.problem.hold(numbers, state)
            pressed = self.point(state, lam, 0.0, None, 0.0, 0)
            if point is None or (pressed is not None and _soft(point, pressed)):
                point = pressed
        return None if point is None else changes.begin(point)

    # --- points -------------------------------------------------------------------------------------------------------

    def point(
        self, state: State, lam: np.ndarray, factor: float, before: Tangent | None, s: float, count: int
    ) -> Point | None:
        """A converged equilibrium with its tangent, on from the one before; None where that is not determined."""
        problem, metric, n = self.problem, self.metric, self.problem.system.n
        lam = problem.least(state, lam)
        row, c_factor = np.zeros(n), 1.0
        if before is not None:
            row, c_factor = metric.scale**2 * before.delta, metric.weight**2 * before.factor
        solve = bordered(self.problem, state, lam, factor, row, c_factor)
        t = np.full(n + len(lam) + 1, np.nan) if solve is None else solve(np.append(np.zeros(n + len(lam)), 1.0))
        size = metric.norm(t[:n], t[-1])
        if not np.isfinite(t).all() or size == 0.0:
            if before is None or len(before.lam) != len(lam):
                return None
            t, size = np.concatenate([before.delta, before.lam, [before.factor]]), 1.0  # at a branch point
        t = t / size
        tangent = Tangent(t[:n], t[n:-1], float(t[-1]))
        if before is not None and not self.make.onward(metric, before, tangent):
            tangent = tangent.times(-1.0)
        matrices = tangent_matrices(self.problem, state, lam, factor)
        found = None if matrices is None else spectrum(*matrices, self.problem.system.circulatory)
        system = self.problem.system
        joints = lam[: system.m].copy()
        accept_states(
            system.data[0], state.x, state.R, state.V, joints, ALL, 0
        )  # turns are counted from the last equilibrium
        inner = internal_states(system)
        held = () if problem.held is None else problem.held.numbers
        return Point(state, lam, factor, inner, tangent, s, count, found, held)

    def advance(self, point: Point, ds: float, make: type | None = None, tangent: Tangent | None = None) -> Any:
        """The point a step further, or (None, why) of an iteration that failed."""
        system, t = self.problem.system, point.tangent if tangent is None else tangent
        control: Control = (make or self.make)(self.metric, point, t, ds)
        restore(system, point.inner)
        self.problem.hold(point.held, point.state)
        size = control.predicted()
        predictor = (size * t.delta, size * t.lam, size * t.factor)
        found = newton(
            self.problem, point.state, point.lam, point.factor, self.tolerance, self.most, control, predictor
        )
        found, trouble = self._renewed(found, control)
        if found.state is None or found.lam is None:
            return None, trouble or found.history
        trouble = element_checks.trouble(system, found.state)
        if trouble:
            return None, trouble
        moved = self.metric.norm(self.metric.between(point.state, found.state), found.factor - point.factor)
        new = self.point(found.state, found.lam, found.factor, t, point.s + moved, found.iterations)
        return new, found.history

    def _renewed(self, found: Found, control: Control | None = None) -> tuple[Found, Any]:
        """An equilibrium on the surfaces of held contacts that it makes itself, not those of the one before.

        These follow from one to the next: the face that a node is on, smoothed normals. Where they do not come to rest
        the state is None, and the contact that is farthest off is named.
        """
        system, held = self.problem.system, self.problem.held
        if held is None or not held.numbers:
            return found, None
        numbers, iterations = list(held.numbers), found.iterations
        for _ in range(RENEWALS):
            if found.state is None or found.lam is None:
                return found, None
            state, joints = found.state, found.lam[: system.m].copy()
            accept_states(system.data[0], state.x, state.R, state.V, joints, ALL, 0)
            held.kinematics(state)
            off = np.abs(held.gap[numbers])
            if off.max() <= 0.5 * CLOSED * system.size_at(state):
                return found._replace(iterations=iterations), None
            found = newton(self.problem, state, found.lam, found.factor, self.tolerance, self.most, control)
        contact = system.contacts[numbers[int(off.argmax())]]
        text = (
            f"the surface under {label(contact)} still moves by {off.max():.1e} m with each of {RENEWALS} solutions. "
            "smooth=False in the SurfaceOnSurface or nodes away from corners of faces may do"
        )
        return found._replace(state=None), (contact, text)

    def next(self, point: Point, ds: float, first: tuple = ()) -> tuple[Point, float]:
        """The next point, and the size of the step that led to it; SolverError where none is found."""
        while True:
            new, why = self.advance(point, ds, *first)
            if new is not None and (first or self._near(point, new, ds)):
                new = new if first else self._sense(point, new, ds)
                if new is not None:
                    return new, ds
            self.path.rejected += 1
            ds *= 0.5
            if ds < SMALLEST * self.step:
                raise self._failure(point, why)

    def _near(self, point, new, ds):
        """True where a point is on the same path, as far as can be decided: it is where the tangents lead."""
        predicted = self.make(self.metric, point, point.tangent, ds).predicted()
        moved, foreseen = new.s - point.s, predicted
        if self.make is Load:  # the load factor has no part in it
            moved = self.metric.norm(self.metric.between(point.state, new.state), 0.0)
            foreseen = predicted * self.metric.norm(point.tangent.delta, 0.0)
        if moved > JUMP * foreseen:
            return False
        if self._sharp(ds):
            return True
        chord = Tangent(self.metric.between(point.state, new.state), new.lam, new.factor - point.factor)
        cosines = [self.make.cosine(self.metric, point.tangent, one) for one in (new.tangent, chord)]
        return abs(cosines[0]) >= TURN and (cosines[1] >= TURN or self.make is Load)

    def _sharp(self, ds):
        """True where a step is so small that it may pass a corner of the path."""
        return ds <= SHARP * self.step and self.make is not Load

    def _sense(self, point, new, ds):
        """A point with the sense of its tangent by (*); None where the step is to be halved."""
        if self.make is Load or point.spectrum is None or new.spectrum is None:
            return new
        odd = (point.spectrum.negative - new.spectrum.negative) % 2 == 1
        turns = point.tangent.factor * new.tangent.factor < 0.0
        if not odd or turns:
            return new
        kinds = [one[1] for one in self.zeros(point, new, ds) if one is not None]
        if kinds.count(BRANCHES) % 2 == 1:
            return new
        if not self._sharp(ds):
            return None
        return new._replace(tangent=new.tangent.times(-1.0)) if LIMIT in kinds else new

    def _failure(self, point, why):
        element, system = None, self.problem.system
        if isinstance(why, tuple):
            element, text = why
        else:
            where, element = largest_row(self.problem, point.state, point.lam, point.factor)
            residuals = ", ".join(f"{e:.1e}" for e in why[-4:]) or "none (singular or not finite)"
            text = (
                f"no equilibrium found a step of {SMALLEST * self.step:.1e} further. Residuals ... {residuals}.{where} "
                "Usual causes: control='load' at a limit point (use 'arc length'), control=(node, component) where the "
                "displacement turns back, an element that reaches its limits (use more), forces that are not smooth"
            )
        error = SolverError(
            f"load_path of '{system.name}', load factor {point.factor:.6g} after {len(self.path.points)} equilibria: "
            f"{text}. What was found is in the attribute `path` of this error",
            history=() if isinstance(why, tuple) else why, element=element,
        )  # fmt: skip
        error.path = self.path  # type: ignore[attr-defined]
        return error

    # --- the path -----------------------------------------------------------------------------------------------------

    def follow(self, point: Point, factor: float | None, until: Callable | None, points: int, first: tuple) -> None:
        """Continue until the load factor is reached, or ``until`` says so, or there are enough points."""
        ds = self.step
        self._apart(point)
        closed = self._left_out(point)
        if closed:
            self.path.warnings.append(
                "Closed contacts that resist sliding or rolling carry nothing here, and stability is that without "
                f"them: {', '.join(closed[:5])}."
            )
        if self.changes is not None and not first:
            self.path.warnings += self.changes.idle(point)
        self.keep(point)
        while True:
            if len(self.path.points) >= points:
                self.path.ended = f"after {points} points"
                return
            new, ds = self.next(point, ds, first)
            full, s = ds, ds
            change = None if self.changes is None else self.changes.first(point, new, ds, first)
            if change is not None:
                new, s = change
            # from a start at the requested load factor the path may return to it
            crossed = factor is not None and point.factor != factor and self._passes(point, new, factor)
            landed, s = self.land(point, new, s, factor, first) if factor is not None and crossed else (None, s)
            new = new if landed is None else landed
            self._apart(new)
            self.search(point, new, s, first)
            self.hidden.look(point, new, s, first)
            closed = self.visited.closed(new)
            kept = self.keep(new)
            if change is not None and landed is None:
                new = self.changes.beyond(new)
            if landed is not None:
                self.path.ended = f"at load factor {factor:g}"
                return
            if closed:
                self.path.ended = "where it has been before: it is closed"
                return
            if until is not None and until(kept):
                self.path.ended = "where until(…) said so"
                return
            point, first = new, ()
            if new.iterations <= QUICK:
                ds = min(1.5 * full, self.step)
            elif new.iterations >= SLOW:
                ds *= 0.7

    def _passes(self, point, new, factor):
        """True where a step comes to a load factor, or passes it."""
        return (point.factor - factor) * (new.factor - factor) <= 0.0 or self._at_factor(new, factor)

    def _at_factor(self, point, factor):
        return abs(point.factor - factor) <= LANDED * self.step * (abs(factor) or 1.0)

    def _left_out(self, point):
        """Labels of contacts that touch and take no part."""
        system, held = self.problem.system, self.problem.held
        smooth = [] if held is None else [c for c, taken in zip(system.contacts, held.smooth) if taken]
        return [label(one) for one, _ in touching(system, point.state) if not any(one is other for other in smooth)]

    def _apart(self, point):
        """SolverError, with the path so far, where a contact is penetrated."""
        try:
            held = {id(self.problem.system.contacts[c]) for c in point.held}
            no_penetration(self.who, self.problem.system, point.state, point.factor, held)
        except SolverError as error:
            error.path = self.path  # type: ignore[attr-defined]
            raise

    def land(self, point: Point, new: Point, ds: float, factor: float, first: tuple) -> tuple:
        """The point at a load factor that a step passes, and the step to it; (None, ds) if that fails."""

        def excess(s):
            found = self.advance(point, s, *first)[0]
            return np.nan if found is None else found.factor - factor

        s: float | None = ds
        found: Any = new
        if not self._at_factor(new, factor):
            s = root(excess, 0.0, ds, point.factor - factor, new.factor - factor)
            found = None if s is None else self.advance(point, s, *first)[0]
        if found is None:
            return None, ds
        restore(self.problem.system, found.inner)
        self.problem.hold(found.held, found.state)
        exact = self._renewed(newton(self.problem, found.state, found.lam, factor, self.tolerance, self.most))[0]
        if exact.state is not None and exact.lam is not None:
            found = self.point(exact.state, exact.lam, factor, found.tangent, found.s, found.iterations) or found
        return found, s

    def keep(self, point: Point) -> PathPoint:
        """Into the path and its records."""
        found = PathPoint(self.problem.system, point, *self._reactions_and_outputs(point))
        if self.problem.held is not None:
            found._contacts, found.contact_status = [self.problem.held.force.copy()], self.problem.held.status
        found.state.t = self.problem.t
        self.path.points.append(found)
        row = record(self.problem, point.state, point.lam, point.factor, point.iterations, at=point.s)
        self.records.append(row)
        return found

    def _reactions_and_outputs(self, point):
        """Reactions and a function that gives outputs."""

        def outputs():
            self.problem.hold(point.held, point.state)
            row = record(self.problem, point.state, point.lam, point.factor, 0)
            self.problem.set_load(1.0)
            return row["output"][0]

        self.problem.hold(point.held, point.state)
        return self.problem.reactions(point.state, point.lam, point.factor), outputs

    # --- critical points ----------------------------------------------------------------------------------------------

    def search(self, point: Point, new: Point, ds: float, first: tuple) -> None:
        """Locate limit and branch points between two points of the path."""
        if first:  # from a branch point: there the tangent is singular
            return
        turns = point.tangent.factor * new.tangent.factor < 0.0
        found = []
        if point.spectrum is not None and new.spectrum is not None:
            found = self.zeros(point, new, ds)
            missing = sum(one is None for one in found)
            if missing:
                self.path.warnings.append(
                    f"{missing} critical point{'s' * (missing > 1)} between load factors {point.factor:.6g} and "
                    f"{new.factor:.6g} could not be located; a smaller step may"
                )
            found = [one for one in found if one is not None]
        if turns and not any(kind == LIMIT for _, kind, _ in found):
            found.append(self._turn(point, new))
        # at a branch point any mixture of both paths solves for the tangent
        a, b = point.tangent, new.tangent
        mean = Tangent(0.5 * (a.delta + b.delta), 0.5 * (a.lam + b.lam), 0.5 * (a.factor + b.factor))
        along = self.metric.unit(mean) if self.metric.norm(mean.delta, mean.factor) > 0.0 else point.tangent
        found = [(one._replace(tangent=along), kind, y) for one, kind, y in found]
        for one, kind, y in found:
            reactions, outputs = self._reactions_and_outputs(one)
            made = CriticalPoint(self.problem.system, one, reactions, outputs, kind, y, self.problem, self.metric)
            self.path.critical.append(made)
        self.path.critical.sort(key=lambda one: one.length)

    def zeros(self, point: Any, new: Any, ds: float) -> list:
        """Point, kind and motion, or None, of each eigenvalue that is zero between two points by their numbers."""
        if self._zeros is None or self._zeros[0] is not point or self._zeros[1] is not new.state:
            low, high = sorted((point.spectrum.negative, new.spectrum.negative))
            self._zeros = point, new.state, [self._zero(point, new, ds, place) for place in range(low, high)]
        return self._zeros[2]

    def _zero(self, point, new, ds, place):
        """Find the point where an eigenvalue is zero: point, kind and motion; or None."""
        for end in (new, point):
            motion = end.spectrum.vector(place)
            if motion is None:
                continue
            test, seen = Test(self.problem, motion, self.metric.scale), []

            def value(s, test=test, seen=seen):
                found = self.advance(point, s)[0]
                if found is None:
                    return np.nan
                tau = test(found.state, found.lam, found.factor)
                seen.append((abs(tau), found))
                return tau

            ends = [test(p.state, p.lam, p.factor) for p in (point, new)]
            found = self._at(point, root(value, 0.0, ds, *ends))
            if found is None and seen:  # at the point itself the matrix may be singular: the nearest is as good
                least, nearest = min(seen, key=lambda one: one[0])
                found = nearest if least <= ZERO * np.abs(ends).max() else None
            if found is not None:
                y, _ = test.vectors(found.state, found.lam, found.factor)
                return found, test.kind(found.state, found.lam, found.factor), y
        return None

    def _turn(self, point, new):
        """Find the extremum of the load factor: point, kind and motion."""
        low, high = point, new
        found = min(low, high, key=lambda one: abs(one.tangent.factor))
        for _ in range(12):
            rise, fall = low.tangent.factor, high.tangent.factor
            part = (high.s - low.s) * rise / (rise - fall)
            middle = self.advance(low, part)[0] if part > 0.0 else None
            # where another path crosses, the iteration may end on that
            if middle is None or not min(rise, fall) < middle.tangent.factor < max(rise, fall):
                break
            middle = middle._replace(s=low.s + part)
            if abs(middle.tangent.factor) < abs(found.tangent.factor):
                found = middle
            if abs(found.tangent.factor) < 1e-6 * max(abs(rise), abs(fall)):
                break
            low, high = (middle, high) if middle.tangent.factor * rise > 0.0 else (low, middle)
        # where a path crosses another one at right angles it has an extremum there, too
        test = Test(self.problem, found.tangent.delta, self.metric.scale)
        return found, test.kind(found.state, found.lam, found.factor, FLAT), np.concatenate(found.tangent[:2])

    def _at(self, point, s):
        return None if s is None else self.advance(point, s)[0]


def _soft(point: Point, pressed: Point) -> bool:
    """True if the load moves a point `SOFT` times as far as with touching contacts closed: round-off is its
    stiffness.
    """
    return abs(point.tangent.factor) * SOFT < abs(pressed.tangent.factor)


def leaving(point: CriticalPoint, metric: Metric, side: float) -> tuple[Tangent, tuple]:
    """Direction in which the other path leaves a branch point, and what the first step is made with."""
    n, y, t = point.system.n, point._direction, metric.unit(point._found.tangent)
    weights = metric.scale**2
    share = float(np.sum(weights * y[:n] * t.delta))
    delta, lam, factor = y[:n] - share * t.delta, y[n:] - share * t.lam, -share * t.factor
    size = metric.norm(delta, factor)
    largest = delta[np.abs(delta).argmax()]
    size = np.copysign(size, side * largest)
    direction = Tangent(delta / size, lam / size, factor / size)
    return direction, (Plane, direction)
