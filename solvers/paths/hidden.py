"""Critical points that hide from each other: two in one step, whose changes of the count of unstable motions cancel.

Between two points a < b with the same count two things are looked at:

    exchange   the motions of the negative eigenvalues are others: one has lost its stiffness, another has got it back.
               Smallest singular value of Φ_aᵀ D Φ_b below `ALIKE`.                                                (1)
    dip        an eigenvalue goes to zero at a as fast as it came from the point before, or leaves zero at b as it
               continues to the next point: κ_a + Δs (κ_a − κ_before)/Δs_before has the other sign.                  (2)

Then a point between is found that has another count, by halving the step for (1), at the extremum of κ for (2), and the
critical points on its two sides as usual. Where no such point is found for (1) a warning says so.

Source: docs/theory/load_paths.md, (17), (18), derived there.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.solvers.paths.follow import Follower, Point


ALIKE = 0.5
HALVINGS = 10
TRIALS = 10  # equilibria to find the extremum of an eigenvalue
WIDTH = 0.01  # of a step, to which its place is found


class Hidden:
    """Looks at the steps of a `Follower`, each when the next one is done."""

    def __init__(self, follower: "Follower") -> None:
        self.follower = follower
        self.before: Any = None  # the point before, and the step from it
        self.step = 0.0
        self.found = False  # whether that step has been searched

    def look(self, point: Any, new: Any, ds: float, first: tuple) -> None:
        """Search a step, and the one before it once more."""
        if first or not self._known(point, new):
            self.before = None
            return
        before = self.before if self._known(self.before, point) else None
        if before is not None and not self.found:
            place = self._heading(new, point, before)
            if place is not None:
                self._dip(before, point, self.step, place)
        self.found = False
        if point.spectrum.negative == new.spectrum.negative:
            place = None if before is None else self._heading(before, point, new)
            if self._exchanged(point, new):
                self.found = True
                self._exchange(point, new, ds, HALVINGS)
            elif place is not None:
                self.found = self._dip(point, new, ds, place)
        self.before, self.step = point, ds

    @staticmethod
    def _known(first, second):
        """True if both have a spectrum of a potential, with the same contacts held."""
        if first is None or first.held != second.held or first.spectrum is None or second.spectrum is None:
            return False
        return first.spectrum.symmetric and second.spectrum.symmetric and len(first.spectrum.values) > 0

    # --- what is looked at --------------------------------------------------------------------------------------------

    def _exchanged(self, first, second):
        """(1)."""
        a, b = first.spectrum, second.spectrum
        k = a.negative
        if k == 0 or k != b.negative or a.first or b.first or min(len(a.values), len(b.values)) < k:
            return False
        weights = self.follower.metric.scale[:, None]
        a, b = (np.linalg.qr(weights * one.vectors[:, :k])[0] for one in (a, b))
        return np.linalg.svd(a.T @ b, compute_uv=False)[-1] < ALIKE

    def _heading(self, before, point, new):
        """Place of an eigenvalue that heads for zero at ``point``, towards ``new`` where the count is the same."""
        if point.spectrum.negative != new.spectrum.negative or before.spectrum.negative != point.spectrum.negative:
            return None
        share = (new.s - point.s) / (point.s - before.s) if point.s != before.s else 0.0
        for place in (point.spectrum.negative, point.spectrum.negative - 1):
            last, here = (self._value(one, place) for one in (before, point))
            if last is not None and here is not None and here * (here + share * (here - last)) < 0.0:
                return place
        return None

    @staticmethod
    def _value(point, place):
        k = place - point.spectrum.first
        return point.spectrum.values[k] if 0 <= k < len(point.spectrum.values) else None

    # --- where they are -----------------------------------------------------------------------------------------------

    def _exchange(self, point, new, ds, halvings):
        """Halve a step until the counts differ."""
        middle = self.follower.advance(point, 0.5 * ds)[0]
        if middle is None or not self._known(point, middle) or halvings == 0:
            self.follower.path.warnings.append(
                f"Between load factors {point.factor:.6g} and {new.factor:.6g} one motion loses its stiffness while "
                "another gets it back: critical points there could not be separated; a smaller step may."
            )
            return
        for a, b, s in ((point, middle, 0.5 * ds), (middle, new, self._distance(middle, new))):
            if a.spectrum.negative != b.spectrum.negative:
                self.follower.search(a, b, s, ())
            elif self._exchanged(a, b):
                self._exchange(a, b, s, halvings - 1)

    def _dip(self, point, new, ds, place):
        """Look for a place in a step at which an eigenvalue has passed zero; whether there is one."""
        from scipy.optimize import minimize_scalar

        sign = np.sign(self._value(point, place))
        passed: list[Point] = []

        def value(s):
            if passed:  # enough
                return passed[0][2]
            found = self.follower.advance(point, s)[0]
            known = found is not None and self._known(point, found)
            here = self._value(found, place) if known else None
            if here is None:
                return np.inf
            if found.spectrum.negative != point.spectrum.negative:
                passed.append((found, s, sign * here))
            return sign * here

        minimize_scalar(value, bounds=(0.0, ds), method="bounded", options={"maxiter": TRIALS, "xatol": WIDTH * ds})
        if not passed:
            return False
        between, s, _ = passed[0]
        self.follower.search(point, between, s, ())
        self.follower.search(between, new, self._distance(between, new), ())
        return True

    def _distance(self, first, second):
        """Size of the step from one point to another."""
        return self.follower.make(self.follower.metric, first, first.tangent, 1.0).distance(second.state, second.factor)
