"""Linear relations between coordinates of joints, and the differential.

    g = Σ_k c_k ξ_k − g_0 = 0                                                                                      (1)
    differential:   θ_1 + θ_2 − 2 θ_case − g_0 = 0   all about the axis of the case                                (2)

ξ_k are unwrapped angles and slides of joints (`joints.coordinates.coordinates`). The multiplier λ is the
same for all joints: the moment or force on the second body of joint k along its coordinate is c_k λ, and its opposite
acts on the first. Nothing else is transmitted: bearings feel no force of teeth, for which there are `GearPair`,
`RackAndPinion`.

Source: docs/theory/gears_and_belts.md, (1), (2). Kernels: `fem_mbs.elements.drives.coupling_kernels`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.element.base import Constraint, Joint, register
from fem_mbs.elements.drives.coupling_kernels import (
    COUPLING,
    MOST,
    N_STATE,
    TEETH_OF_RACK,
    TURNS,
    count_coordinates,
    coupling_constraint,
    coupling_hessian,
    coupling_output,
    first_coordinates,
)
from fem_mbs.elements.joints.coordinates.coordinates import coordinate_of
from fem_mbs.elements.joints.coordinates.kernels import SLIDE_X, SLIDE_Y, TURN_X
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.nodes import Frame
from fem_mbs.rotations import exp
from fem_mbs.system.checks.locked_gears import Turning

_NOTHING = (0.0, 0.0, 0.0)


class Term(NamedTuple):
    """One joint in a coupling: its frames, the kind of its coordinate and its value at the start, coefficients."""

    P: Frame
    Q: Frame
    kind: int
    start: float
    coefficient: float
    teeth: int = 0
    along: Any = _NOTHING
    apart: Any = _NOTHING
    point: Any = _NOTHING


class Coupling(Constraint):
    """Base of elements with the row (1), or with that of teeth; see `drives.coupling_kernels`."""

    rows = 1
    parameters = COUPLING
    n_state = N_STATE
    kernels = {
        "constraint": coupling_constraint, "hessian": coupling_hessian, "initial": first_coordinates,
        "accept": count_coordinates, "output": coupling_output,
    }  # fmt: skip

    def _couple(self, terms: Sequence[Term], name: str | None, pitch: float = 0.0, flank: float = 0.0) -> None:
        """Set nodes and record; the offset is the value of the terms at the start, where D and τ are taken as zero."""
        nodes = list(dict.fromkeys(frame.node for term in terms for frame in (term.P, term.Q)))
        super().__init__(nodes, name=name)
        self.terms = tuple(terms)

        def column(values, *shape):
            out = np.zeros((MOST, *shape))
            out[: len(terms)] = [np.asarray(value, float) for value in values]
            return out

        first, second = ([nodes.index(frame.node) for frame in frames] for frames in zip(*(t[:2] for t in terms)))
        offset = 0.0
        for term in terms:
            offset += term.coefficient * term.start
            if term.teeth:
                D = term.P.orientation.T @ (term.Q.position - term.P.position)
                offset += float(np.dot(term.along, D))
        self.offset = offset
        self.record = (
            len(terms), column(first), column(second), column([t.kind for t in terms]),
            column([t.P.p for t in terms], 3), column([t.P.rotation for t in terms], 3, 3),
            column([t.Q.p for t in terms], 3), column([t.Q.rotation for t in terms], 3, 3),
            column([t.coefficient for t in terms]), column([t.teeth for t in terms]),
            column([t.along for t in terms], 3), column([t.apart for t in terms], 3),
            column([t.point for t in terms], 3), column([t.start for t in terms]), offset, pitch, flank,
        )  # fmt: skip

    @property
    def counted(self) -> list[tuple[int, Any, str, int]]:
        """Angles among its terms."""
        name = "coordinate" if "coordinate" in self.outputs else "angle"
        return [(k, self, name, k) for k, term in enumerate(self.terms) if term.kind < SLIDE_X]

    def count_on(self, state: np.ndarray, angles: dict[int, float]) -> None:
        """Set the turns as `count_on` of elements does; n p of (1), which they change together, follows."""
        before = state[: len(self.terms)].copy()
        super().count_on(state, angles)
        change = sum(term.coefficient * step for term, step in zip(self.terms, state[: len(before)] - before))
        pitch = self.record[(COUPLING.names or ()).index("pitch")]
        if pitch > 0.0:
            state[TURNS] += pitch * np.round(change / pitch)

    def regular(self, point: Any) -> bool:
        """True if the row can be differentiated at a configuration: no direction of an angle nearly along its axis."""
        for term in self.terms:
            A, B = self.nodes.index(term.P.node), self.nodes.index(term.Q.node)
            x = (point.R[A] @ term.P.rotation).T @ point.R[B] @ term.Q.rotation[:, 0]
            if np.hypot(x[0], x[1]) < 0.2:
                return False
        return True

    @property
    def relation(self) -> list[Turning]:
        """Coordinates with their factors c_k, for the check of trains that lock themselves."""
        found = []
        for term in self.terms:
            axes = term.Q.orientation if term.kind == TURN_X else term.P.orientation
            column = {TURN_X: 0, SLIDE_X: 0, SLIDE_Y: 1}.get(term.kind, 2)
            factor = term.coefficient
            if term.teeth == TEETH_OF_RACK:
                factor += float(np.asarray(term.along)[2])
            found.append(Turning(term.kind < SLIDE_X, term.P.node, term.Q.node, axes[:, column], factor))
        return found

    def _check_joint(self, parameter: str, joint: Any) -> Any:
        self.as_instance(parameter, joint, Joint, "a joint, such as Revolute or Prismatic")
        return joint

    def term_of(self, parameter: str, joint: Any, name: str | None, coefficient: float) -> Term:
        """The term of one coordinate of a joint."""
        coordinate = coordinate_of(self, parameter, self._check_joint(parameter, joint), name)
        return Term(joint.frame_P, joint.frame_Q, coordinate.kind, coordinate.start, coefficient)


class CoordinateCoupling(Coupling):
    """Linear relation between coordinates of two to four joints: gear trains of any kind, belts without slip, pulleys.

    Parameters
    ----------
    terms : sequence of (coefficient, joint) or (coefficient, joint, coordinate)
        c_k and the joint, with the name of its coordinate where it has several ("angle", "displacement" …). With
        angles and slides in one relation c_k has units: ``[(1.0, slide), (-radius, hinge)]``.
    name : str, optional

    Outputs
    -------
    multiplier : λ, in N where the relation is one of lengths
    effort : (n,) [N m or N], c_k λ: moment or force on the second body of joint k along its coordinate
    coordinate : (n,) [rad or m], ξ_k, unwrapped (multi-turn)

    Raises
    ------
    ParameterError
        Fewer than two joints or more than four, coefficients of 0, a joint without the coordinate.

    Notes
    -----
    The relation holds with the values at the start: g_0 = Σ c_k ξ_k there. Velocities at the start must satisfy it.
    A run that begins where another one ended keeps the turns it has counted only if it is a continuation of that run.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> ground = Ground()
    >>> shafts = [Revolute.at(ground, Node6([x, 0, 0]), [x, 0, 0], [0, 0, 1]) for x in (0.0, 0.2)]
    >>> chain = CoordinateCoupling([(0.05, shafts[0]), (-0.02, shafts[1])], name="chain")
    """

    def __init__(self, terms: Sequence, *, name: str | None = None) -> None:
        self.name = name
        self.check(isinstance(terms, (list, tuple)), "terms", terms, "must be a list of pairs (coefficient, joint)")
        given = list(terms)
        self.check(2 <= len(given) <= MOST, "terms", given, f"must be 2 to {MOST} pairs (coefficient, joint)")
        made = []
        for k, term in enumerate(given):
            self.check(
                isinstance(term, (tuple, list)) and len(term) in (2, 3),
                f"terms[{k}]", term, "must be (coefficient, joint) or (coefficient, joint, name of the coordinate)",
            )  # fmt: skip
            coefficient = self.number(f"terms[{k}] coefficient", term[0])
            self.check(coefficient != 0.0, f"terms[{k}]", term, "has the coefficient 0; remove it")
            made.append(self.term_of(f"terms[{k}]", term[1], term[2] if len(term) == 3 else None, coefficient))
        self.outputs = {"multiplier": (1, "N"), "effort": (len(made), ""), "coordinate": (len(made), "")}
        self._couple(made, name)


class Differential(Coupling):
    """Differential: the case rotates with the mean of the two side shafts, and gives each half of its torque.

    Parameters
    ----------
    joint_1, joint_2 : Joint
        Hinges of the two shafts, with an angle.
    case : Joint
        Hinge of the case. All three about one line in the same sense and on the same first body.
    name : str, optional

    Outputs
    -------
    multiplier : [N m], torque on each shaft; −2 times it is that on the case
    effort : (3,) [N m], torques on the second bodies of joint_1, joint_2, case
    coordinate : (3,) [rad], their angles, unwrapped (multi-turn)

    Raises
    ------
    ParameterError
        Joints without an angle, on different first bodies, or with axes that differ at the start.

    Notes
    -----
    Equation (2) of the file's header. The planet wheels have no mass here: build them with `GearPair` if it matters.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> ground = Ground()
    >>> left, right, case = (Revolute.at(ground, Node6([x, 0, 0]), [x, 0, 0], [1, 0, 0]) for x in (-1.0, 1.0, 0.0))
    >>> axle = Differential(left, right, case, name="rear axle")
    """

    outputs = {"multiplier": (1, "N m"), "effort": (3, "N m"), "coordinate": (3, "rad")}

    def __init__(self, joint_1: Any, joint_2: Any, case: Any, *, name: str | None = None) -> None:
        self.name = name
        given = {"joint_1": joint_1, "joint_2": joint_2, "case": case}
        terms = [self.term_of(key, joint, "angle", c) for (key, joint), c in zip(given.items(), (1.0, 1.0, -2.0))]
        for (key, joint), term in zip(given.items(), terms):
            self.check(term.P.node is terms[0].P.node, key, joint, "has another first body than joint_1")
            apart = np.linalg.norm(term.P.orientation[:, 2] - terms[0].P.orientation[:, 2])
            self.check(apart < 1e-8, key, joint, "has another axis than joint_1, or the opposite sense of it")
        self._couple(terms, name)


def random_hinges(rng: Any, carrier: Any, nodes: Sequence, axes: Any = None) -> list:
    """Hinges of nodes on a carrier at random points, about random axes or the given ones."""
    hinges = []
    for k, node in enumerate(nodes):
        axis = rng.normal(size=3) if axes is None else axes[k]
        hinges.append(Revolute.at(carrier, node, rng.normal(size=3), axis / np.linalg.norm(axis)))
    return hinges


def _example_coupling(rng, a, b, c, d):
    joints = random_hinges(rng, a, (b, c, d))
    return CoordinateCoupling([(rng.uniform(0.5, 2.0), joint) for joint in joints])


def _example_differential(rng, a, b, c, d):
    axis = exp(rng.normal(size=3))[:, 0]
    return Differential(*random_hinges(rng, a, (b, c, d), [axis] * 3))


register(CoordinateCoupling, example=_example_coupling)
register(Differential, example=_example_differential)
