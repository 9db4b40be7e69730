"""Inputs and outputs of a linear model: what the user names, as columns and rows of matrices.

Inputs: a component of force or moment on a node or frame; a signal of a load, motor or driver (an element's function of
time). Their columns are F = ∂f/∂u, and for drivers P = ∂g/∂u, found by differences of the element itself.
Outputs: components of place, rotation, velocity and acceleration of a node or frame, and outputs of elements

    y = Y_q δq + Y_v δq̇ + Y_a (δq̈ − N δq̇) + Y_λ δμ                                                                   (1)

by central differences in the components of the nodes of that element; N of nodes that spin, else 0.

Source: docs/theory/rotors.md, (12), (13).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.deprecated import Deprecated
from fem_mbs.element.base import Element
from fem_mbs.errors import ParameterError, label
from fem_mbs.nodes import COMPONENTS
from fem_mbs.rotations import skew
from fem_mbs.system import assembly

if TYPE_CHECKING:
    from fem_mbs.arguments.checked import Checked
    from fem_mbs.solvers.linear.small_motions import SmallMotions


STEP = 1e-6  # m per size, rad, and of the sizes of signals, velocities, accelerations and forces
RATES = {  # names of outputs of frames: derivative, component
    **{name: (0, k) for k, name in enumerate(COMPONENTS)},
    **{name: (1, k) for k, name in enumerate(("vx", "vy", "vz", "wx", "wy", "wz"))},
    **{name: (2, k) for k, name in enumerate(("ax", "ay", "az", "bx", "by", "bz"))},
}


class Ports:
    """Inputs and outputs of small motions.

    Parameters
    ----------
    owner : Checked, in whose name errors are raised
    found : SmallMotions
    inputs, outputs : as in `fem_mbs.linearise`

    Attributes
    ----------
    input_names, output_names : lists of str
    F, P : (n, k), (rows of G, k), of inputs: their forces, and what drivers prescribe
    moved : (k,) bool, inputs that move something: drivers
    Yq, Yv, Ya : (j, n); Yl : (j, m); D : (j, k), direct part of inputs in outputs of elements
    """

    def __init__(
        self, owner: "Checked", found: "SmallMotions", inputs: Element | Sequence, outputs: Element | Sequence
    ) -> None:
        self.owner, self.found, self.system = owner, found, found.system
        self.input_names: list[str] = []
        self.output_names: list[str] = []
        self._signals: list[int] = []
        system = self.system
        columns = [self._input(one) for one in self._list("inputs", inputs)]
        self.F = np.array([f for f, _ in columns]).reshape(len(columns), system.n).T
        self.P = np.array([p for _, p in columns]).reshape(len(columns), found.G.shape[0]).T
        self.moved = np.abs(self.P).max(axis=0, initial=0.0) > 0
        rows = [row for one in self._list("outputs", outputs) for row in self._output(one)]
        parts = [np.array(part) for part in zip(*rows)]
        sizes = (system.n, system.n, system.n, system.m, self.F.shape[1])
        self.Yq, self.Yv, self.Ya, self.Yl, self.D = (
            part.reshape(len(rows), size) for part, size in zip(parts or [np.zeros(0)] * 5, sizes)
        )

    def _list(self, parameter, given):
        # one pair (part, what), or one element, is a list of one
        single = isinstance(given, (str, Element)) or (
            isinstance(given, tuple) and len(given) in (2, 3) and isinstance(given[-1], (str, int))
        )
        given = [given] if single else given
        self.owner.as_instance(parameter, given, Sequence, "a list: elements, or pairs such as (body, 'x')")
        self.owner.check(len(given) > 0, parameter, given, "is empty")
        return list(given)

    def _part(self, parameter, one):
        """Part of the model and what of it."""
        part, what = (one[0], one[1:]) if isinstance(one, tuple) and one else (one, ())
        if isinstance(part, str):
            try:
                part = self.system.model[part]
            except KeyError as error:
                raise ParameterError(self.owner, parameter, one, f"names no part: {error.args[0]}") from error
        return part, what

    # --- inputs -------------------------------------------------------------------------------------------------------

    def _input(self, one):
        """Columns F (n,) and P (rows,) of an input."""
        part, what = self._part("inputs", one)
        driven = any(owner is part for owner in self.system.signal_owner)
        if len(what) == 1 and isinstance(what[0], str) and what[0] in COMPONENTS and not driven:
            self._signals.append(-1)
            return self._force(part, COMPONENTS.index(what[0]))
        return self._signal(one, part, what)

    def _force(self, part, component):
        system, frame = self.system, self.owner.as_frame("inputs", part)
        node = self._node("inputs", part, frame)
        full, R = np.zeros((len(system.nodes), 6)), self.found.state.R[node]
        axis = R.T @ np.eye(3)[component % 3]
        if component < 3:
            full[node, component] = 1.0
            full[node, 3:] = np.cross(frame.p, axis)
        else:
            full[node, 3:] = axis
        kind = "force" if component < 3 else "moment"
        self.input_names.append(f"{label(part)}: {kind} {COMPONENTS[component]}")
        return system.reduced(full), np.zeros(self.found.G.shape[0])

    def _signal(self, one, part, what):
        system = self.system
        owned = [k for k, owner in enumerate(system.signal_owner) if owner is part]
        words = "must be (body or frame, 'x' … 'rz'), or a load, motor or driver of the model with a function of time"
        self.owner.check(owned, "inputs", one, words)
        if len(what) == 1 and isinstance(what[0], str) and what[0] in COMPONENTS[:3]:
            what = (COMPONENTS.index(what[0]),)
        if len(owned) > 1 and not what:
            self.owner.check(False, "inputs", one, f"has {len(owned)} functions of time; give (element, number from 0)")
        number = self.owner.as_integer("inputs", what[0], 0) if what else 0
        self.owner.check(number < len(owned), "inputs", one, f"has {len(owned)} functions of time, numbered from 0")
        k = owned[number]
        self._signals.append(k)
        self.input_names.append(label(part) + (f": {number}" if len(owned) > 1 else ""))
        force, rows = self._slope(k, 0)
        for rate in (1, 2):
            rated = self._slope(k, rate)[0]
            self.owner.check(not rated.any(), "inputs", one, "acts by its rate as well, which a linear model has not")
        P = self.found.moved_rows(rows)
        words = "cannot be an input: other constraints hold what it would move"
        self.owner.check(P is not None, "inputs", one, words)
        off = part in system.rows and not system.is_on(part)
        self.owner.check(not off, "inputs", one, "is off at this state and moves nothing; see active and intervals")
        return force, P

    def _slope(self, k, rate):
        """∂f/∂u (n,) and ∂g/∂u (m,) of a signal, or of its rate, by differences."""
        system, values = self.system, self.system.signal_values
        before = values[k, rate]
        h, found = STEP * max(1.0, abs(before)), []
        lam = self.found.multipliers
        try:
            for sign in (1.0, -1.0):
                values[k, rate] = before + sign * h
                f = system.forces(self.found.state)[1].copy()
                g = system.constraint_values(self.found.state)[0].copy()
                found.append((system.reduced(f + system.constraint_forces(lam)), g))
        finally:
            values[k, rate] = before
        slopes = [(a - b) / (2 * h) for a, b in zip(*found)]
        sizes = [max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)) for a, b in zip(*found)]
        return [np.where(np.abs(s) > 1e-9 * size, s, 0.0) for s, size in zip(slopes, sizes)]

    def _node(self, parameter, part, frame):
        known = any(frame.node is node for node in self.system.nodes)
        if not known:
            raise ParameterError(self.owner, parameter, part, f"is not in the model '{self.system.name}'")
        return frame.node.index

    # --- outputs ------------------------------------------------------------------------------------------------------

    def _output(self, one):
        """Rows (Y_q, Y_v, Y_a, Y_λ, D) of an output."""
        part, what = self._part("outputs", one)
        names = self.system.output_slices.get(part, {}) if isinstance(part, Element) else {}
        what = tuple(Deprecated.output(type(part).__name__, item, names) for item in what)
        words = f"must be (part, what): what is one of {', '.join(RATES)}"
        words += f", or an output of the element: {', '.join(names)}" if names else ""
        good = len(what) in (1, 2) and isinstance(what[0], str) and (what[0] in names or what[0] in RATES)
        self.owner.check(good, "outputs", one, words)
        if what[0] in names:
            return self._element(one, part, names[what[0]], what)
        return [self._frame(part, *RATES[what[0]], what[0])]

    def _frame(self, part, derivative, component, name):
        system, frame = self.system, self.owner.as_frame("outputs", part)
        node = self._node("outputs", part, frame)
        R, full = self.found.state.R[node], np.zeros((len(system.nodes), 6))
        if component < 3:
            full[node, component] = 1.0
            full[node, 3:] = -(R @ skew(frame.p))[component]
        else:
            full[node, 3:] = R[component - 3]
        self.output_names.append(f"{label(part)}: {name}")
        row, none = system.reduced(full), np.zeros(system.n)
        rows = [row if k == derivative else none for k in range(3)]
        return (*rows, np.zeros(system.m), np.zeros(self.F.shape[1]))

    def _element(self, one, part, where, what):
        """Rows of an output of an element, by differences of `output_values`."""
        turns = self.found.rotation is not None
        self.owner.check(not turns, "outputs", one, "is of an element, whose output in a rotating frame is not known")
        system, state = self.system, self.found.state
        numbers = range(where.start, where.stop)
        if len(what) == 2:
            number = self.owner.as_integer("outputs", what[1], 0)
            self.owner.check(number < len(numbers), "outputs", one, f"has {len(numbers)} components, numbered from 0")
            numbers = numbers[number : number + 1]
        many = where.stop - where.start > 1
        self.output_names += [f"{label(part)}: {what[0]}" + (f" {k - where.start}" if many else "") for k in numbers]
        nodes = [node.index for node in part.nodes]
        free = [j for i in nodes for j in range(6 * i, 6 * i + 6) if system.dof[j] >= 0]
        base, lam = np.zeros_like(state.V), self.found.multipliers.copy()
        out = np.zeros((5, system.n, len(numbers)))
        Yl, D = np.zeros((system.m, len(numbers))), np.zeros((self.F.shape[1], len(numbers)))
        size = np.tile([system.size] * 3 + [1.0] * 3, len(system.nodes))

        def value(q=None, V=state.V, A=base, lam=lam):
            there = state if q is None else system.moved(state, q)
            values = np.zeros(system.n_outputs)
            assembly.output_values(system.data[0], there.x, there.R, V, A, lam, values)
            return values[list(numbers)]

        def slope(function, h):
            return (function(h) - function(-h)) / (2 * h)

        for j in free:
            unit = np.zeros(base.size)
            unit[j] = 1.0
            unit, k = unit.reshape(-1, 6), system.dof[j]
            out[0, k] = slope(lambda h, u=unit: value(q=h * u), STEP * size[j])
            out[1, k] = slope(lambda h, u=unit: value(V=state.V + h * u), STEP * max(1.0, abs(state.V.flat[j])))
            out[2, k] = slope(lambda h, u=unit: value(A=h * u), 1.0)
        for k in range(*system.rows[part].indices(system.m)) if part in system.rows else ():
            unit = np.zeros(system.m)
            unit[k] = 1.0
            Yl[k] = slope(lambda h, u=unit: value(lam=lam + h * u), max(1.0, abs(lam[k])))
        for i, k in enumerate(self._signals):
            if k >= 0 and system.signal_owner[k] is part:
                before = system.signal_values[k, 0]
                h, ends = STEP * max(1.0, abs(before)), []
                for sign in (1.0, -1.0):
                    system.signal_values[k, 0] = before + sign * h
                    ends.append(value())
                system.signal_values[k, 0] = before
                D[i] = (ends[0] - ends[1]) / (2 * h)
        return [(out[0, :, c], out[1, :, c], out[2, :, c], Yl[:, c], D[:, c]) for c in range(len(numbers))]
