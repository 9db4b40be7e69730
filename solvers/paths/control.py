"""Path-following constraints from one equilibrium to the next: arc length, a plane, the load factor, or one
displacement.

Distances between equilibria are measured on the manifold of configurations: with the relative rotation vector
ψ = log(R_nᵀ R) of each of the N nodes that move, and L the extent of the model,

    d = (Δx/L, ψ)/√N of all nodes,    s² = |d|² + w² Δλ²                                                           (1)

so that s is the root mean square of what nodes turn and move, in radians and extents, whatever the mesh. w is the
weight of the load factor, by default the one of `fem_mbs.solvers.paths.load_scale`. The tangent t of the path has
length 1 in (1). Equations c·δq + c_λ δλ = e:

    sphere         s² = Δs²           c = d, c_λ = w² Δλ, e = (Δs² − s²)/2      ψ·T⁻¹(ψ) δθ = ψ·δθ: no T is needed (2)
    plane          t·(d, Δλ) = Δs     to leave a branch point                                                      (3)
    load           Δλ = Δs                                                                                         (4)
    displacement   Δx_k = Δs                                                                                       (5)

The sense of a tangent is that of the one before, in the product that belongs to (1). With one displacement prescribed
it is that of this displacement: at a limit point the load factor turns back, and its part of the product with it.

Source: docs/theory/load_paths.md, (4)-(8); Riks 1979; Crisfield 1981; Keller 1977 for (3).
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.rotations import log
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.solvers.paths.follow import Point
    from fem_mbs.system.compiled import CompiledSystem


REACHED = 1e-8  # of Δs
STILL = 1e-6  # of the largest part of a motion: what counts as none


class Tangent(NamedTuple):
    """Direction of a path, of length 1 in (1): configuration (n,), multipliers (m,), load factor."""

    delta: np.ndarray
    lam: np.ndarray
    factor: float

    def times(self, number: float) -> "Tangent":
        return Tangent(number * self.delta, number * self.lam, number * self.factor)


class Metric:
    """Distances (1) in one system: ``size`` L, ``weight`` w."""

    def __init__(self, system: "CompiledSystem", size: float, weight: float) -> None:
        self.system, self.size, self.weight = system, size, weight
        moving = int((system.dof.reshape(-1, 6) >= 0).any(axis=1).sum())
        scale = np.tile(np.repeat([1.0 / size, 1.0], 3), len(system.nodes)) / np.sqrt(max(moving, 1))
        self.scale = scale[system.dof >= 0]  # (n,), of components

    def between(self, first: State, second: State) -> np.ndarray:
        """(Δx, ψ) of the free components (n,), unscaled."""
        delta = np.empty((len(first.x), 6))
        delta[:, :3] = second.x - first.x
        delta[:, 3:] = log(np.einsum("nji,njk->nik", first.R, second.R))
        return self.system.reduced(delta)

    def norm(self, delta: np.ndarray, change: float) -> float:
        """s of (1) for a change of the configuration (n,) and of the load factor."""
        return float(np.sqrt(np.sum((self.scale * delta) ** 2) + (self.weight * change) ** 2))

    def product(self, one: Tangent, other: Tangent) -> float:
        """Scalar product that belongs to (1)."""
        motions = float(np.sum(self.scale**2 * one.delta * other.delta))
        return motions + self.weight**2 * one.factor * other.factor

    def unit(self, t: Tangent) -> Tangent:
        """A direction with length 1 in (1)."""
        return t.times(1.0 / self.norm(t.delta, t.factor))


class Control(ABC):
    """One more equation, from a point ``start`` with state and load factor and its `Tangent`."""

    def __init__(self, metric: Metric, start: "Point", tangent: Tangent, ds: float) -> None:
        self.metric, self.start, self.tangent, self.ds = metric, start, tangent, ds

    @abstractmethod
    def row(self, state: State, factor: float) -> tuple[np.ndarray, float, float]:
        """c (n,), c_λ and e at an iterate."""

    @classmethod
    def cosine(cls, metric: Metric, before: Tangent, t: Tangent) -> float:
        """Cosine of the angle between two directions, in what the control measures."""
        lengths = metric.norm(before.delta, before.factor) * metric.norm(t.delta, t.factor)
        return metric.product(before, t) / lengths if lengths > 0.0 else 0.0

    @classmethod
    def onward(cls, metric: Metric, before: Tangent, t: Tangent) -> bool:
        """True where a tangent has the sense of the one before."""
        return metric.product(before, t) >= 0.0

    def distance(self, state: State, factor: float) -> float:
        """Δs with which a step would lead to a state and a load factor."""
        return self.ds - self.row(state, factor)[2]

    def predicted(self) -> float:
        """Initial length along the tangent."""
        return self.ds

    def reached(self, state: State, factor: float) -> bool:
        """True if the equation holds at an iterate."""
        return abs(self.row(state, factor)[2]) <= REACHED * abs(self.ds)

    def _moved(self, state, factor):
        return self.metric.between(self.start.state, state), factor - self.start.factor


class Plane(Control):
    """(3)."""

    def row(self, state: State, factor: float) -> tuple[np.ndarray, float, float]:
        weights, w2 = self.metric.scale**2, self.metric.weight**2
        delta, change = self._moved(state, factor)
        c, c_factor = weights * self.tangent.delta, w2 * self.tangent.factor
        return c, c_factor, self.ds - float(c @ delta) - c_factor * change


class Sphere(Control):
    """(2), for iterations that begin away from its centre."""

    def row(self, state: State, factor: float) -> tuple[np.ndarray, float, float]:
        delta, change = self._moved(state, factor)
        s = self.metric.norm(delta, change)
        return self.metric.scale**2 * delta, self.metric.weight**2 * change, 0.5 * (self.ds**2 - s**2)

    def distance(self, state: State, factor: float) -> float:
        return self.metric.norm(*self._moved(state, factor))

    def reached(self, state: State, factor: float) -> bool:
        s = self.metric.norm(*self._moved(state, factor))
        return abs(s - abs(self.ds)) <= REACHED * abs(self.ds)


class Load(Control):
    """(4); the step has the sign of the tangent."""

    def row(self, state: State, factor: float) -> tuple[np.ndarray, float, float]:
        target = self.start.factor + np.copysign(self.ds, self.tangent.factor)
        return np.zeros(len(self.metric.scale)), 1.0, target - factor

    def distance(self, state: State, factor: float) -> float:
        return abs(factor - self.start.factor)

    def predicted(self) -> float:
        return self.ds / abs(self.tangent.factor)


class Displacement(Control):
    """(5) of one unknown ``k``, times the extent of the model; the step has the sign of the tangent."""

    k = 0
    length = 1.0

    @classmethod
    def cosine(cls, metric: Metric, before: Tangent, t: Tangent) -> float:
        """Of the motions alone: the load factor may turn back from one equilibrium to the next."""
        return super().cosine(metric, before._replace(factor=0.0), t._replace(factor=0.0))

    @classmethod
    def onward(cls, metric: Metric, before: Tangent, t: Tangent) -> bool:
        """True where the displacement continues; of a branch along which it does not begin to change, the motion."""
        if abs(before.delta[cls.k]) > STILL * np.abs(before.delta).max():
            return bool(before.delta[cls.k] * t.delta[cls.k] >= 0.0)
        return cls.cosine(metric, before, t) >= 0.0

    def row(self, state: State, factor: float) -> tuple[np.ndarray, float, float]:
        delta, _ = self._moved(state, factor)
        c = np.zeros(len(delta))
        c[self.k] = 1.0 / self.length
        return c, 0.0, np.copysign(self.ds, self.tangent.delta[self.k]) - delta[self.k] / self.length

    def distance(self, state: State, factor: float) -> float:
        return abs(self._moved(state, factor)[0][self.k]) / self.length

    def predicted(self) -> float:
        return self.ds * self.length / abs(self.tangent.delta[self.k])
