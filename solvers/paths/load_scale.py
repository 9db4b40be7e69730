"""Weight of the load factor in the arc length of a path: the same path and the same steps in any unit of the load.

With the initial tangent (q', λ') of the path in the metric of `fem_mbs.solvers.paths.control`, and the load factor
λ_end at which the path ends,

    w = max(|q'|/|λ'|, 1/|λ_end|)                                                                                  (1)

With the first term motions and load have equal parts of the first step. The path is then not sharper at limit points,
which are reached by motions of some extents, than its steps resolve. With the second one a path along which the model
moves little has at least 1/Δs steps. A straight column does not move before it buckles, and both may be too small: w is
doubled until the first step passes no critical point.

Source: docs/theory/load_paths.md, (4), derived there.
"""

from typing import TYPE_CHECKING

from fem_mbs.solvers.paths.control import Metric, Sphere
from fem_mbs.solvers.paths.load_steps import restore

if TYPE_CHECKING:
    from fem_mbs.solvers.paths.follow import Follower, Point


DOUBLINGS = 40


def scaled(follower: "Follower", point: "Point", factor: float | None) -> "Point":
    """The first point of a path with its tangent in the metric of (1), which becomes that of the `Follower`."""
    old, t = follower.metric, point.tangent
    weight = old.norm(t.delta, 0.0) / abs(t.factor) if t.factor else 0.0
    weight = max(weight, 1.0 / abs(factor) if factor else 0.0) or 1.0
    for _ in range(DOUBLINGS):
        follower.metric = Metric(old.system, old.size, weight)
        point = point._replace(tangent=follower.metric.unit(t))
        if follower.make is not Sphere or not _passes(follower, point):
            break
        weight *= 2.0
    restore(follower.problem.system, point.inner)
    follower.problem.hold(point.held, point.state)
    return point


def _passes(follower, point):
    """True where the first step passes a critical point at which a motion loses its stiffness."""
    new = follower.advance(point, follower.step)[0]
    if new is None or new.spectrum is None or point.spectrum is None:
        return False
    return new.spectrum.negative > point.spectrum.negative
