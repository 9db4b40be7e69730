"""Loads spread along beams: forces and moments per length, dead or follower, functions of arc length and time.

A load q(s) per length does the work ∫ q·δy ds on the section frames between the nodes. With the shape functions N_i of
the element, linear for two nodes and quadratic for three, node i gets

    F_i = ∫ N_i(s) q(s) ds        (1/6, 4/6, 1/6 of a uniform load on three nodes, as its weight)                  (1)

at the origin of its section frame. The integrals are by Gauss's rule of five points per element.

Source: docs/theory/curves_and_bushings.md, (5).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.element.base import Force
from fem_mbs.elements.beams.base import BeamElement
from fem_mbs.elements.beams.line import BeamLine
from fem_mbs.elements.forces.loads import PointForce, PointMoment
from fem_mbs.errors import ParameterError
from fem_mbs.nodes import Frame

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(5)
STATIONS, WEIGHTS = 0.5 * (1.0 + _POINTS), 0.5 * _WEIGHTS  # of an element of length 1


class LineLoad(Checked):
    """Force or moment per length on a line of beams; ``model.add(load)`` adds it.

    Parameters
    ----------
    beams : BeamLine, beam, or list of beams
        In the order of the arc length.
    force : (3,) [N/m], or callable, optional
        Per length of the unloaded beam: constant, or ``force(s)`` of the arc length s [m] from the first end, or
        ``force(s, t)`` of arc length and time [s]; returns (3,).
    moment : (3,) [N m/m], or callable, optional
        In the same way.
    follower : bool
        False: components in inertial axes, the direction stays (snow, weight). True: in the section axes of each node,
        e₁ along the beam, and turning with them (pressure, thrust).
    signal : float, callable or Signal, optional
        Factor or function of time that scales the load, e.g. ``ramp(duration=1)``.
    name : str, optional

    Attributes
    ----------
    elements : list of PointForce and PointMoment, one per node and kind
    total : (3,) [N], resultant of ``force`` at t = 0, components as given

    Raises
    ------
    ParameterError
        No beams, or one twice; neither force nor moment; components that are not three finite numbers.

    Notes
    -----
    On `Beam` a uniform dead load gives the deflection of its ends with the order of the element. Aerodynamic loads,
    which depend on the motion, are a `UserForce`.

    Examples
    --------
    >>> from fem_mbs.elements.beams.line import beam_line
    >>> from fem_mbs.elements.beams.sections import Section
    >>> line = beam_line([0, 0, 0], [2, 0, 0], 8, Section.circle(0.01, E=210e9, nu=0.3, density=7850))
    >>> snow = LineLoad(line, [0, 0, -50.0], name="snow")
    >>> snow.total.round(9).tolist()
    [0.0, 0.0, -100.0]
    """

    def __init__(
        self,
        beams: Any,
        force: ArrayLike | Callable | None = None,
        moment: ArrayLike | Callable | None = None,
        *,
        follower: bool = False,
        signal: Any = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.beams = self._beams(beams)
        self.follower = self.as_flag("follower", follower)
        self.check(force is not None or moment is not None, "force", None, "is missing, as is moment")
        self.elements: list[Force] = []
        self.total = np.zeros(3)
        ends = np.concatenate([[0.0], np.cumsum([beam.length for beam in self.beams])])
        for kind, parameter, given in ((PointForce, "force", force), (PointMoment, "moment", moment)):
            if given is None:
                continue
            loads, timed = self._loads(parameter, given, ends)
            if parameter == "force":
                self.total = sum(load(0.0) for _, load in loads)
            for k, (frame, load) in enumerate(loads):
                label = None if name is None else f"{name} {parameter} {k}"
                value = load if timed else load(0.0)
                self.elements.append(kind(frame, value, follower=self.follower, signal=signal, name=label))

    def _beams(self, beams):
        found = list(beams) if isinstance(beams, (BeamLine, list, tuple)) else [beams]
        right = found and all(isinstance(beam, BeamElement) for beam in found)
        self.check(right, "beams", beams, "must be a beam, a line of beams, or a list of beams")
        self.check(len(set(map(id, found))) == len(found), "beams", beams, "has a beam twice; double its load instead")
        return found

    def _loads(self, parameter, given, ends):
        """Frames and functions of time of their loads (3,), and whether these depend on time."""
        arguments = _arguments(given) if callable(given) else 0
        if callable(given):
            what = "a function of arc length, or of arc length and time"
            self.as_function(parameter, given, what, 2 if arguments > 1 else 1)
        constant = None if callable(given) else self.as_vector(parameter, given)

        def q(s, t):
            if constant is not None:
                return constant
            at = f"{parameter}(s = {s:.4g} m)"
            try:
                value = given(s) if arguments == 1 else given(s, t)
            except Exception as error:
                message = f"raised {type(error).__name__} at s = {s:.4g} m: {error}"
                raise ParameterError(self, parameter, given, message) from error
            return self.as_vector(at, value)

        loads: dict[tuple, tuple] = {}
        for beam, begin in zip(self.beams, ends):
            for frame, shape in zip(_section_frames(beam), _shapes(len(beam.nodes))):
                key = frame.node, tuple(frame.p), tuple(frame.rotation.ravel())
                parts = loads.setdefault(key, (frame, []))[1]
                parts.append((begin + beam.length * STATIONS, beam.length * WEIGHTS * shape))
        return [(frame, partial(_sum, q, parts)) for frame, parts in loads.values()], arguments == 2


def _arguments(function):
    """Number of positional arguments that a function takes."""
    import inspect

    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return 1
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def _sum(q, parts, t):
    """Load of a node at time t, of the elements that meet there."""
    return sum(weight * q(s, t) for places, weights in parts for s, weight in zip(places, weights))


def _section_frames(beam):
    """Section frames of a beam at its nodes, in their order."""
    return [beam.frame_A, beam.frame_B] if len(beam.nodes) == 2 else [beam.frame_A, Frame(beam.middle), beam.frame_B]


def _shapes(n):
    """Shape functions (n, 5) of n equally spaced nodes at the stations."""
    s = STATIONS
    return np.array([1 - s, s]) if n == 2 else np.array([(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)])
