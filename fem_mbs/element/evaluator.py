"""Calls of the kernels of one element, one at a time, at arbitrary configurations.

The kernels run through the same compiled calls as in a solver: an `Evaluator` returns the values that solvers get. The
generic checks (`fem_mbs.verify`) are made with it; elements that evaluate themselves use it too.
"""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.jit import address, arguments_of, bind, call2, invoke, kernel, vector
from fem_mbs.rotations import exp
from fem_mbs.system.groups import check_complete, check_sizes
from fem_mbs.system.workspace import Workspace

if TYPE_CHECKING:
    from fem_mbs.element.base import Element

OUTPUTS = {
    "inertia": ("Ma", "f"),
    "inertia_tangent": ("M", "C", "K", "Ka"),
    "force": ("f",),
    "force_tangent": ("K", "C", "f"),
    "mixed": ("f", "K", "C"),
    "initial": ("state",),
    "accept": ("state",),
    "engage": ("state",),
    "constraint": ("g", "G"),
    "hessian": ("H",),
    "rheonomic": ("gt", "gtt", "rate"),
    "contact": ("gap", "slip", "G_N", "G_T", "V_T", "W", "point", "normal", "tangents"),
    "contact_hessian": ("H_N",),
    "friction": ("G", "gt", "gtt"),
    "friction_hessian": ("H",),
    "friction_bound": ("bound", "bound_lam", "bound_q"),
    "output": ("out",),
}


@functools.lru_cache(maxsize=256)
def _bound(function, dtype, sizes):
    return bind(function, dtype, dict(sizes))


@kernel
def sweep(function, parameters, table, slots, first, second, cleared, source, values):
    """Call a kernel for each row of values (n, size), which gets its results at the address ``source``.

    Rows of ``first`` and ``second`` are its arguments at the two addresses ``slots``; ``cleared`` (k, 2) has addresses
    and sizes of the arrays it adds to.
    """
    a, b, out = vector(slots[0], first.shape[1]), vector(slots[1], second.shape[1]), vector(source, values.shape[1])
    for k in range(values.shape[0]):
        for i in range(first.shape[1]):
            a[i] = first[k, i]
        for i in range(second.shape[1]):
            b[i] = second[k, i]
        for j in range(cleared.shape[0]):
            zeros = vector(cleared[j, 0], cleared[j, 1])
            for i in range(cleared[j, 1]):
                zeros[i] = 0.0
        call2(function, parameters, table)
        for i in range(values.shape[1]):
            values[k, i] = out[i]


class Evaluator:
    """Calls the kernels of one element, one at a time, on given configurations."""

    def __init__(self, element: "Element") -> None:
        check_complete(element)
        self.element = element
        self.sizes = element.sizes
        self.workspace = Workspace(**{k: max(self.sizes[k], 1) for k in ("nn", "nr", "ns", "nq", "no")})
        self.parameters = np.zeros(1, element.parameters)
        self.parameters[0] = element.record
        check_sizes([element], self.parameters)
        self.views = {name: self.workspace.view(name, self.sizes) for name in self.workspace.buffer}
        sizes = tuple(sorted(self.sizes.items()))
        self.calls = {name: _bound(f, element.parameters, sizes) for name, f in element.kernels.items()}
        self.places = address(self.parameters), address(self.workspace.table)
        self.python = dict(element.python_kernels)

    def has(self, *names: str) -> bool:
        """True if the element has all of these kernels."""
        return all(name in self.calls or name in self.python for name in names)

    def reads(self, name: str, argument: str) -> bool:
        """True if a compiled kernel has an argument of this name."""
        return name in self.calls and argument in arguments_of(self.element.kernels[name])

    def __call__(self, name, point):
        """Run a kernel at a `Point`; returns its outputs as a dict of arrays (copies)."""
        self._set(point)
        outputs = OUTPUTS.get(name, ("energy",))
        for output in outputs:
            self.views[output][...] = 0.0
        if name in self.python:
            self.python[name](self.views)
        elif self.reads(name, "weights"):
            return self._separated(name, outputs)
        else:
            invoke(self.calls[name].address, *self.places)
        return {output: self._widened(output, self.views[output].copy()) for output in outputs}

    def _separated(self, name, outputs):
        """Tangents M, C, K and Ka of a kernel that adds sums of two each, with weights, to M and to K."""
        found = {}
        for weights, places in (((1, 0, 1, 0), {"M": "M", "K": "K"}), ((0, 1, 0, 1), {"C": "M", "Ka": "K"})):
            self.views["M"][...] = self.views["K"][...] = 0.0
            self.views["weights"][...] = weights
            invoke(self.calls[name].address, *self.places)
            found |= {output: self.views[place].copy() for output, place in places.items()}
        return {output: self._widened(output, found.get(output, self.views[output])) for output in outputs}

    def along(self, name: str, output: str, point: "Point", **changed: np.ndarray) -> np.ndarray:
        """One output of a kernel at n points (n, …) that differ from a `Point` in one or two arguments (n, …)."""
        n = len(next(iter(changed.values())))
        if name in self.python:
            points = (point.copy(**{argument: rows[k] for argument, rows in changed.items()}) for k in range(n))
            return np.array([self(name, other)[output] for other in points])
        self._set(point)
        rows = [(self._narrowed(r) if a in ("v", "a") else r).reshape(n, -1) for a, r in changed.items()]
        rows += [np.zeros((n, 0))] * (2 - len(rows))
        slots = np.array([address(self.views[argument]) for argument in (*changed, *changed)][:2])
        cleared = np.array([[address(self.views[o]), self.views[o].size] for o in OUTPUTS.get(name, ("energy",))])
        view = self.views[output]
        values = np.empty((n, view.size))
        sweep(self.calls[name].address, *self.places, slots, *rows, cleared, address(view), values)
        return np.array([self._widened(output, value) for value in values.reshape(n, *view.shape)])

    def _set(self, point):
        for argument in ("x", "R", "v", "a", "x0", "R0", "s", "gravity", "state", "lam"):
            given = getattr(point, argument)
            self.views[argument][...] = self._narrowed(given) if argument in ("v", "a") else given
        self.views["t"][0] = point.t

    def _narrowed(self, vector):
        """The components (…, nd) that the element has of nodal vectors (…, 6 nn)."""
        width, shape = self.element.numbers_per_node, vector.shape[:-1]
        return vector if width == 6 else vector.reshape(*shape, -1, 6)[..., :width].reshape(*shape, -1)

    def _widened(self, name, array):
        """A nodal vector or matrix of the element with zeros for the rotations that it does not have."""
        width, nn = self.element.numbers_per_node, self.sizes["nn"]
        if width == 6 or name not in ("f", "Ma", "M", "C", "K", "Ka"):
            return array
        wide = np.zeros((nn, 6) * array.ndim)
        wide[(slice(None), slice(width)) * array.ndim] = array.reshape((nn, width) * array.ndim)
        return wide.reshape((6 * nn,) * array.ndim)


@functools.lru_cache(maxsize=4)
def evaluator_of(element: "Element") -> Evaluator:
    """The `Evaluator` of an element, kept for the next call; parameters of elements do not change."""
    return Evaluator(element)


class Point:
    """A configuration with all other arguments of kernels; ``size`` [m] is the scale of steps of differences."""

    size: float
    width: int  # 3: the element has no rotations
    t: float
    x: np.ndarray
    R: np.ndarray
    v: np.ndarray
    a: np.ndarray
    x0: np.ndarray
    R0: np.ndarray
    s: np.ndarray
    gravity: np.ndarray
    lam: np.ndarray
    state: np.ndarray

    def copy(self, **changes: Any) -> "Point":
        other = Point()
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        return other

    def moved(self, delta: np.ndarray) -> "Point":
        """Configuration x + δx, R exp(δθ̃) for delta (nd,)."""
        delta = delta.reshape(-1, 6)
        turned = np.flatnonzero(delta[:, 3:].any(axis=1))
        R = self.R.copy() if len(turned) else self.R
        for k in turned.tolist():
            R[k] = R[k] @ exp(delta[k, 3:])
        return self.copy(x=self.x + delta[:, :3], R=R)

    def later(self, time: float) -> "Point":
        """The same configuration after some time: signals move on."""
        powers = np.array([[1.0, time, 0.5 * time**2], [0.0, 1.0, time], [0.0, 0.0, 1.0]])
        return self.copy(t=self.t + time, s=self.s @ powers.T)

    def rigidly_moved(self, Q: np.ndarray, c: np.ndarray, places: int | None = None) -> "Point":
        """Superposed rigid motion x → Q x + c, of velocities and accelerations too; gravity stays.

        Nodes from number ``places`` on hold numbers, which do not move.
        """
        moved = self.copy(
            x=self.x @ Q.T + c,
            R=Q @ self.R,
            x0=self.x0 @ Q.T + c,
            R0=Q @ self.R0,
            v=turned(Q, self.v, places),
            a=turned(Q, self.a, places),
        )
        if places is not None:
            for key in ("x", "R", "x0", "R0"):
                getattr(moved, key)[places:] = getattr(self, key)[places:]
        return moved


def turned(Q: np.ndarray, vector: np.ndarray, places: int | None = None) -> np.ndarray:
    """Nodal vector (nd,) with its inertial parts turned, of the first ``places`` nodes."""
    parts = vector.reshape(-1, 6).copy()
    parts[:places, :3] = parts[:places, :3] @ Q.T
    return parts.ravel()
