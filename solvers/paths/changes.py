"""Points where contacts close and open along a path, and the continuation from there.

Between two changes those that are held are rows (`fem_mbs.solvers.paths.held_contacts`) and the path is smooth. A
change is the first place of a step at which

    g_N = 0 of one that is open,  or  λ_N = 0 of one that is held.                                                  (1)

There the contacts D with g_N = 0 and λ_N = 0 have to be identified anew. The path continues with a subset S of D that
is held, in a direction ±t of its tangent, in which

    λ̇_N ≥ 0 in S,    ġ_N = G_N q̇ ≥ 0 in D without S                                                                (2)

The set from before may go on (a contact only grazed), but not back. Usually one way is left; the load factor turns
back where t has its sign changed.

Source: docs/theory/load_paths.md, (14)-(16), derived there; Björkman 1992 for paths of obstacle problems.
"""

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.errors import SolverError, label
from fem_mbs.solvers.paths.critical import root
from fem_mbs.solvers.paths.load_steps import restore

if TYPE_CHECKING:
    from fem_mbs.element.contact import Contact
    from fem_mbs.solvers.paths.follow import Follower, Point
    from fem_mbs.system.state import State


OPEN = 1e-9  # of the size of the model: gaps below minus that are penetrations
PULLS = 1e-8  # of the largest forces: below minus that a contact would pull
NOTHING = 1e-7  # of both: what counts as zero at a change
RATE = 1e-9  # of the largest rate: rates that count as zero
MOST = 8  # contacts that change at one place
SHORT = 1e-4  # of a step, below which a contact that has just changed must not change again
ROUNDS = 20


class ContactChange(NamedTuple):
    """A place of a path at which a contact closes or opens: ``kind`` "closes" or "opens", with the load factor, the
    arc length of the path, and whether the load factor turns back there.
    """

    contact: "Contact"
    kind: str
    load_factor: float
    length: float
    turns: bool

    def report(self) -> str:
        """Describe the change and its load factor, one line."""
        back = "; the load factor turns back" if self.turns else ""
        return f"{label(self.contact)} {self.kind} at load factor {self.load_factor:.9g}{back}"


class Changes:
    """Changes of contacts on the path of a `Follower`."""

    def __init__(self, follower: "Follower") -> None:
        self.follower, self.problem = follower, follower.problem
        self.held = follower.problem.held

    # --- where --------------------------------------------------------------------------------------------------------

    def measures(self, point: "Point") -> np.ndarray:
        """Measures that must not become negative (nc,): gaps over the size of the model, forces over the largest one.

        inf for contacts that a path cannot hold.
        """
        system, held = self.problem.system, self.held
        held.numbers = point.held
        restore(system, point.inner)
        self.problem.set_load(point.factor)
        system.constraint_values(point.state)
        held.evaluate(point.state, point.lam[system.m :])
        found = held.gap / system.size_at(point.state)
        scale = self.problem.scale(point.state, point.lam)
        force = max(scale[:, :3].max(), scale[:, 3:].max() / system.size) or 1.0
        found[list(point.held)] = held.force[list(point.held), 0] / force
        found[~held.smooth] = np.inf
        return found

    def _wrong(self, point):
        """Numbers of contacts that have changed before a point."""
        limits = np.full(len(self.held.smooth), -OPEN)
        limits[list(point.held)] = -PULLS
        return np.flatnonzero(self.measures(point) < limits)

    def first(self, point: "Point", new: "Point", ds: float, first: tuple) -> "tuple[Point, float] | None":
        """The point of the first change within a step, and the size of the step to it; None where there is none."""
        found, before = None, self.measures(point)
        for _ in range(ROUNDS):
            wrong = self._wrong(new)
            if not len(wrong):
                comes = (np.abs(self.measures(new)) <= NOTHING) & (before > NOTHING)  # the step ends where it changes
                return (new, ds) if found is None and comes.any() else found
            places = [self._root(point, new, ds, int(c), first) for c in wrong]
            ds, c = min(zip(places, wrong))
            new = self.follower.advance(point, ds, *first)[0]
            if new is None:
                raise self._stuck(point, [c])
            found = new, ds
        raise self._stuck(point, self._wrong(new))

    def _root(self, point, new, ds, c, first):
        """Find the point where the measure of a contact is zero."""

        def measure(s):
            found = self.follower.advance(point, s, *first)[0]
            return np.nan if found is None else self.measures(found)[c]

        low, at_low, high, at_high = 0.0, self.measures(point)[c], ds, self.measures(new)[c]
        while not at_low > NOTHING:  # it has just changed: look for a place at which it is as it should be
            low = 0.5 * high
            if low < SHORT * self.follower.step:
                raise self._stuck(point, [c])
            at_low = measure(low)
            if at_low < 0.0:
                high, at_high = low, at_low
        s = root(measure, low, high, at_low, at_high)
        if s is None:
            raise self._stuck(point, [c])
        return s

    # --- continuation -----------------------------------------------------------------------------------------------

    def touching(self, state: "State") -> list[int]:
        """Contacts that touch at a state and can be held."""
        self.held.kinematics(state)
        near = self.held.gap <= NOTHING * self.problem.system.size_at(state)
        return [int(c) for c in np.flatnonzero(near & self.held.smooth)]

    def begin(self, point: "Point") -> "Point":
        """The point at which a path begins, with those of the touching contacts held that the load will press."""
        measures = self.measures(point)
        undecided = {int(c) for c in np.flatnonzero(np.abs(measures) <= NOTHING)}
        if not undecided:
            return point
        alone = set(point.held) & undecided  # without these the model has no stiffness
        chosen = alone
        for _ in range(3 * len(undecided) + 1):
            other = self._with(point, (set(point.held) - undecided) | chosen, None)
            if other is None:
                raise self._stuck(point, undecided)
            sign = 1.0 if other.tangent.factor >= 0.0 else -1.0
            rates = self._rates(other, undecided, sign)
            if rates[0] >= -RATE:
                return self._turned(other, sign)
            chosen = chosen ^ {rates[1]}
        raise self._stuck(point, undecided)

    def idle(self, point: "Point") -> list[str]:
        """Warnings of contacts that touch at a point without normal force: bodies that move away from them are not
        fixed.
        """
        names = [c for c in self.touching(point.state) if c not in point.held]
        if not names:
            return []
        return [
            f"Contacts that touch without force hold nothing: {self.held.names(names)}. Motions towards them are "
            "stiffer than reported here."
        ]

    def beyond(self, point: "Point") -> "Point":
        """The point of a change with the contacts held, and the direction, with which the path continues."""
        measures = self.measures(point)
        undecided = {int(c) for c in np.flatnonzero(np.abs(measures) <= NOTHING)}
        if len(undecided) > MOST:
            raise self._stuck(point, undecided)
        ways = []
        for count in range(len(undecided) + 1):
            for chosen in combinations(sorted(undecided), count):
                numbers = (set(point.held) - undecided) | set(chosen)
                other = self._with(point, numbers, point.tangent)
                signs = (1.0,) if numbers == set(point.held) else (1.0, -1.0)  # the same ones lead on, or back
                for sign in signs if other is not None else ():
                    if self._rates(other, undecided, sign)[0] >= -RATE:
                        ways.append((sign * self._along(point, other), self._turned(other, sign)))
        if not ways:
            raise self._stuck(point, undecided)
        if len(ways) > 1:
            self.follower.path.warnings.append(
                f"At load factor {point.factor:.6g}, where {self.held.names(undecided)} change, the path has "
                f"{len(ways)} ways on; the straightest one was followed."
            )
        new = max(ways, key=lambda way: way[0])[1]
        turns = point.tangent.factor * new.tangent.factor < 0.0
        for c in sorted(set(point.held) ^ set(new.held)):
            kind = "closes" if c in new.held else "opens"
            change = ContactChange(self.problem.system.contacts[c], kind, float(point.factor), float(point.s), turns)
            self.follower.path.contact_changes.append(change)
        return new

    def _with(self, point, numbers, before):
        """The same equilibrium with other contacts held, with its tangent; or None."""
        m, old = self.problem.system.m, dict(zip(point.held, point.lam[self.problem.system.m :]))
        numbers = tuple(sorted(numbers))
        lam = np.append(point.lam[:m], [old.get(c, 0.0) for c in numbers])
        restore(self.problem.system, point.inner)
        self.problem.hold(numbers, point.state)
        row = None if before is None else before._replace(lam=np.zeros(len(lam) + 1))  # not that of this set
        found = self.follower.point(point.state, lam, point.factor, row, point.s, point.iterations)
        return found if found is None else found._replace(inner=point.inner)

    def _rates(self, point, undecided, sign):
        """The smallest of the rates (2), in the largest of its kind, in a direction; and whose it is."""
        m, held = self.problem.system.m, self.held
        held.numbers = point.held
        held.evaluate(point.state, point.lam[m:])
        t, normals = point.tangent, held.rows_of(sorted(undecided))
        speed = np.abs(normals).max(initial=0.0) * np.abs(t.delta).max(initial=0.0) or 1.0
        gaps = dict(zip(sorted(undecided), normals @ t.delta / speed))
        force = np.abs(t.lam).max(initial=0.0) or 1.0
        forces = dict(zip(point.held, t.lam[m:] / force))
        rates = [(float(sign * (forces[c] if c in forces else gaps[c])), c) for c in sorted(undecided)]
        return min(rates, default=(0.0, -1))

    def _along(self, point, other):
        """Cosine between the directions of two tangents."""
        return self.follower.metric.product(point.tangent, other.tangent)

    def _turned(self, point, sign):
        return point._replace(tangent=point.tangent.times(sign))

    def _stuck(self, point, numbers):
        names = self.held.names(numbers)
        error = SolverError(
            f"{self.follower.who} of '{self.problem.system.name}', load factor {point.factor:.6g}: no way on with "
            f"{names} open or closed. Usual causes: contacts that are one too many for their forces to be known, more "
            f"than {MOST} that change at one place, a body that only contacts hold, or too large a step",
            element=self.problem.system.contacts[next(iter(numbers))],
        )
        error.path = self.follower.path  # type: ignore[attr-defined]
        return error
