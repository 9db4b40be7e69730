"""Checks of a pose that a solver is about to accept: is it within the range of validity of all elements?

The kernel ``trouble`` of an element returns 0.0, or the number of a fault. Its method ``trouble(state)``
describes the fault. Compiled steppers call `trouble_of` once for each accepted step; it costs one pass over the
elements that have such a kernel, and nothing in models without them.

Non-fatal problems are reported afterwards as warnings, from outputs: method ``output_warnings(histories)`` of an
element, `output_warnings` of all. For a run their arguments are two rows, the smallest and the largest value of each
component of an output after any step, `stepping.monitors.extremes`; for a load path `Extremes`.
"""

from typing import Any

import numpy as np

from fem_mbs.errors import label
from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, vector
from fem_mbs.system.gather import gather_poses, gather_start, gather_state
from fem_mbs.system.records import groups_of, switches_of

_X, _R, _ENERGY = SLOT["x"], SLOT["R"], SLOT["energy"]


@kernel
def trouble_of(d, x, R, x0, R0):
    """Number of the first element whose kernel ``trouble`` reports a fault at poses x (N, 3), R (N, 3, 3); −1 if none
    does.

    Contacts may use the poses x0, R0 at the start of the step. Elements are numbered group by group, see
    `element_at`.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    answer = vector(b[_ENERGY], 1)
    first = 0
    for k in range(d.n_groups):
        g = groups[k]
        if g.trouble != 0:
            on = switches_of(g)
            for e in range(g.n):
                if on[e] == 0:
                    continue
                gather_poses(g, e, b, x, R)
                gather_state(g, e, b)
                if g.contact != 0:
                    gather_start(g, e, b, x0, R0)
                call2(g.trouble, g.parameters_at + e * g.stride, d.table_at)
                if answer[0] > 0.0:
                    return first + e
        first += g.n
    return -1


def element_at(system: Any, number: int) -> Any:
    """The element with a number of `trouble_of`."""
    for group in system.groups:
        if number < group.n:
            return group.elements[number]
        number -= group.n
    raise IndexError(f"the system has no element with this number: {number} too many")


def trouble(system: Any, state: Any) -> tuple[Any, str] | None:
    """The first element with a fault at a `State` and its description, or None."""
    number = int(trouble_of(system.data[0], state.x, state.R, state.x, state.R))
    if number < 0:
        return None
    element = element_at(system, number)
    return element, element.trouble(state)


class Extremes:
    """Smallest and largest value of every output over the states of a load path, in whatever pieces they come.

    Attributes
    ----------
    rows : (2, n_outputs) or None, smallest and largest so far; None where no element checks its outputs
    """

    def __init__(self, system: Any) -> None:
        self.system = system
        self.rows: Any = None
        if any(element.output_warnings for element in system.output_slices):
            self.rows = np.array([[np.inf], [-np.inf]])

    def look(self, outputs: np.ndarray) -> None:
        """Take note of outputs (k, n_outputs) of further states."""
        if self.rows is not None and len(outputs):
            # NaN is no extreme
            ends = np.fmin.reduce(outputs), np.fmax.reduce(outputs)
            self.rows = np.stack([np.fmin(self.rows[0], ends[0]), np.fmax(self.rows[1], ends[1])])

    def warnings(self) -> list[str]:
        """Return warnings of elements about them, see `output_warnings`."""
        looked = self.rows is not None and np.isfinite(self.rows).any()
        return output_warnings(self.system, self.rows) if looked else []


def output_warnings(system: Any, outputs: np.ndarray) -> list[str]:
    """Return warnings of elements about outputs (k, n_outputs), of a state or `Extremes`: list of texts, one for each
    kind.
    """
    at = {
        element: {name: outputs[:, at] for name, at in slices.items()}
        for element, slices in system.output_slices.items()
    }
    return warning_texts(
        (element, element.output_warnings(given)) for element, given in at.items() if element.output_warnings
    )


def rotation_warnings(system: Any, state: Any, angular_velocity: Any) -> list[str]:
    """Return warnings of elements about a steady rotation (3,) [rad/s] at a `State`; none at rest (None)."""
    if angular_velocity is None:
        return []
    asked = (element for element in system.elements if element.reduction is not None)
    return warning_texts((element, element.rotation_warnings(angular_velocity, state)) for element in asked)


def peak_warnings(found: list) -> list[str]:
    """Return warnings of elements about their motion at the largest value of their ``peak``, as `output_warnings`.

    ``found``: (element, value, time [s], x (nn, 3), R (nn, 3, 3), V (nn, 6)).
    """
    return warning_texts((element, element.peak_warnings(*motion)) for element, *motion in found)


def stress_warnings(system: Any, states: list) -> list[str]:
    """Return warnings of elements about their stresses at equilibria, as `output_warnings`.

    ``states``: of each element that `State` counts in which it has most energy of strain that no load pattern has.
    """
    asked = (element for element in system.elements if element.reduction is not None)
    return warning_texts(
        (element, element.stress_warnings(_most_strained(system, element, states))) for element in asked
    )


def _most_strained(system, element, states):
    return max(states, key=lambda state: element.without_stiffening(system.initial, state)[1])


def point_loads(system: Any) -> dict[Any, tuple[np.ndarray, np.ndarray]]:
    """Bodies with points between their frames that carry forces -> numbers (k,) of these, columns (k, 3) of outputs.

    Attributes ``point_of``, body and number, identify these elements; their output ``force`` is that of the body.
    """
    found: dict[Any, list] = {}
    for element, slices in system.output_slices.items():
        if element.point_of is not None:
            body, number = element.point_of
            found.setdefault(body, []).append((number, np.arange(slices["force"].start, slices["force"].stop)))
    return {body: (np.array([n for n, _ in of]), np.array([at for _, at in of])) for body, of in found.items()}


def load_warnings(system: Any, found: list) -> list[str]:
    """Return warnings of bodies about forces on their points at equilibria, where these leave out most.

    ``found``: pairs of outputs (n_outputs,) and a `State`.
    """
    warnings = []
    for body, (numbers, columns) in point_loads(system).items():
        index, worst = [node.index for node in body.nodes], []
        for outputs, state in found:
            _, R_0, d = body.pose(state.x[index], state.R[index])
            worst = max(worst, body.load_warnings(numbers, -outputs[columns] @ R_0, d), key=_share)
        warnings.append((body, worst))
    return warning_texts(warnings)


def inertia_warnings(system: Any, gravity: np.ndarray, state: Any, V: np.ndarray, A: np.ndarray) -> list[str]:
    """Return warnings of elements about gravity (3,) and the accelerations A (N, 6) of an equilibrium, a `State`."""
    found = []
    for element in system.elements:
        if element.reduction is not None:
            index = [node.index for node in element.nodes]
            motion = state.x[index], state.R[index], V[index], A[index]
            found.append((element, element.inertia_warnings(*motion, gravity)))
    return warning_texts(found)


def _share(warnings):
    return max((share for _, share, _ in warnings), default=0.0)


def warning_texts(found_of: Any) -> list[str]:
    """Texts of warnings (kind, size, text) of elements, one for each kind.

    Each names the element for which it matters most and gives the number of others.
    """
    found: dict[str, list] = {}
    for element, several in found_of:
        for kind, size, text in several:
            found.setdefault(kind, []).append((size, label(element), text))
    texts = []
    for several in found.values():
        _, who, text = max(several)
        others = f" (and {len(several) - 1} more)" if len(several) > 1 else ""
        texts.append(f"{who}{others}: {text}")
    return texts
