"""Lines and curves of beams: the nodes between, the section frames along them, one call."""

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike, Keywords, Named
from fem_mbs.arguments.representation import short
from fem_mbs.elements.beams.base import BeamElement, section_axes
from fem_mbs.elements.beams.beam import Beam
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.two_node import TwoNodeBeam
from fem_mbs.errors import ParameterError, Warnings, label
from fem_mbs.nodes import Frame, Node6, finite_vector
from fem_mbs.rotations import cross_product, log, tangent_inverse

RING_ANGLE, RING_SLENDERNESS = 0.8, 200.0  # rad of one element; R √(EA/EI)


class BeamLine:
    """Beams in a row with the nodes between them; ``model.add(line)`` adds them all.

    Attributes
    ----------
    nodes : list of Node, from the first end to the last, the middle ones of three-node beams included
    elements : list of Beam or TwoNodeBeam
    """

    def __init__(self, nodes: Sequence[Node6], elements: Sequence[BeamElement]) -> None:
        self.nodes, self.elements = nodes, elements

    def __iter__(self):
        return iter(self.elements)

    def __len__(self):
        return len(self.elements)

    def __getitem__(self, i):
        return self.elements[i]

    def __repr__(self):
        ends = " to ".join(short(self.nodes[i]) for i in (0, -1))
        return f"BeamLine: {len(self)} elements, {len(self.nodes)} nodes, {ends}"


@Keywords.known
def beam_line(
    start: FrameLike | ArrayLike,
    end: FrameLike | ArrayLike,
    n: int,
    section: Section | Callable[[float], Section],
    *,
    poses: int = 3,
    orientation: ArrayLike | None = None,
    name: str | None = None,
    fixed: Sequence[str] = (),
    velocity: ArrayLike = (0, 0, 0),
    angular_velocity: ArrayLike = (0, 0, 0),
    about: ArrayLike | None = None,
    **options: Any,
) -> BeamLine:
    """A straight line of equal beams.

    Parameters
    ----------
    start, end : Node6, RigidBody, Frame or (3,) position [m]
        Ends; a frame gives an eccentric connection (only its place counts), a position makes a new node.
    n : int ≥ 1
        Intervals between neighbouring nodes: the line has n + 1 of them, whatever ``poses`` is. A three-node beam spans
        two intervals, so an odd n is raised by one.
    section : Section, or function of s in [0, 1] along the whole line
    poses : {3, 2}
        Nodes per element: `Beam` (default), or `TwoNodeBeam`.
    orientation : (3,), optional
        Near e₂, see `Beam`; the new nodes get the section axes as their axes.
    name : str, optional
        Beams are called "name 1", "name 2", …, new nodes "name node 0" … "name node n".
    fixed : components of the new nodes that never move, see `Node6` (planar models)
    velocity, angular_velocity : (3,) [m/s], (3,) [rad/s], optional, inertial axes
        Initial motion of the new nodes, as those of a rigid body: velocity of the point ``about``, and spin about it.
        Nodes that are given keep theirs.
    about : (3,) [m], optional
        Default: the start of the line.
    options : of `Beam` or `TwoNodeBeam`

    Returns
    -------
    BeamLine

    Examples
    --------
    >>> from fem_mbs.elements.beams.sections import Section
    >>> line = beam_line([0, 0, 0], [1, 0, 0], 10, Section.circle(5e-3, E=2.1e9, density=7800), name="rod")
    >>> len(line.nodes), len(line), line.elements[0].name
    (11, 5, 'rod 1')
    """
    count = _count(n, name, poses)
    ends = [_end(item) for item in (start, end)]
    places = [item.position if isinstance(item, Frame) else item for item in ends]
    chord = places[1] - places[0]
    distance = np.linalg.norm(chord)
    unmade = Named("Beam", name)
    if distance == 0:
        raise ParameterError(unmade, "length", 0, "m; the ends of a beam need two different positions")
    S = section_axes(unmade, chord / distance, orientation)

    def pose(s):
        return places[0] + s * chord, S

    motion = _Motion(unmade, velocity, angular_velocity, places[0] if about is None else about)
    return _line(ends, count, section, pose, name, fixed, distance, poses, options, motion)


@Keywords.known
def beam_curve(
    curve: Callable,
    n: int,
    section: Section | Callable[[float], Section],
    *,
    poses: int = 3,
    start: FrameLike | None = None,
    end: FrameLike | None = None,
    orientation: ArrayLike | None = None,
    length: float | None = None,
    name: str | None = None,
    fixed: Sequence[str] = (),
    velocity: ArrayLike = (0, 0, 0),
    angular_velocity: ArrayLike = (0, 0, 0),
    about: ArrayLike | None = None,
    **options: Any,
) -> BeamLine:
    """Beams along a curve that is unloaded as it is.

    Parameters
    ----------
    curve : function of s in [0, 1]
        Returns the position (3,) [m] and the tangent (3,) (of any length) there, or the position and the rotation
        (3, 3) of the section, its first column the tangent.
    n : int ≥ 1
        Intervals between neighbouring nodes, as in `beam_line`. Ends of elements are at equal steps in s, middle nodes
        half-way in arc length.
    section : Section, or function of s in [0, 1] along the whole curve
    poses : {3, 2}
        Nodes per element: `Beam` (default), or `TwoNodeBeam`.
    start, end : Node6, RigidBody or Frame, optional
        Existing nodes for the ends of the curve (connected with the offset they have from it); default: new nodes.
    orientation : (3,), optional
        With tangents: e₂ is near it at s = 0 and is carried along without twist (rotation-minimising frames).
    length : float, optional [m]
        Arc length of the whole curve, for a curve of constant speed; default: that of helices between the nodes, whose
        error is of the same order as that of the element.
    name, fixed, velocity, angular_velocity, about, options : as `beam_line`

    Examples
    --------
    >>> from fem_mbs.elements.beams.sections import Section
    >>> def arc(s):
    ...     phi = np.pi / 4 * s
    ...     return 100 * np.array([np.sin(phi), 1 - np.cos(phi), 0]), np.array([np.cos(phi), np.sin(phi), 0])
    >>> bend = beam_curve(arc, 8, Section.rectangle(1, 1, E=1e7, nu=0), name="bend")
    >>> round(sum(beam.length for beam in bend), 6)
    78.539816

    Raises
    ------
    ParameterError
        A curve that is no function, or does not return two things; a tangent of length 0.
    """
    count = _count(n, name, poses)
    unmade = Named("Beam", name)
    what = "a function of s in [0, 1] that returns position and tangent, as lambda s: (spline(s), spline(s, 1))"
    unmade.as_function("curve", curve, what, 1)
    # frames are carried over a finer division than the elements, so that the twist of the mesh does not depend on n
    fine = 8 * count
    places, frames = [], []

    def at(s, k):
        """Place and section rotation at s, carried from place k."""
        found = curve(s)
        if not (isinstance(found, (tuple, list, np.ndarray)) and len(found) == 2):
            message = f"(at s = {s:.3g}) must be a pair: position and tangent, or position and rotation"
            raise ParameterError(unmade, "curve", found, message)
        x, direction = found
        x, direction = finite_vector(unmade, "curve", x), np.asarray(direction, float)
        if direction.shape == (3, 3):
            return x, direction
        direction = finite_vector(unmade, "curve", direction)
        size = np.linalg.norm(direction)
        if size == 0:
            raise ParameterError(unmade, "curve", direction, f"(tangent at s = {s:.3g}) has no direction")
        if k < 0:
            return x, section_axes(unmade, direction / size, orientation)
        return x, carried(frames[k], places[k], x, direction / size)

    for k in range(fine + 1):
        x, S = at(k / fine, k - 1)
        places.append(x)
        frames.append(S)

    def pose(s):
        k = round(s * fine)
        return (places[k], frames[k]) if abs(s * fine - k) < 1e-9 else at(s, int(s * fine))

    ends = []
    for item, s in ((start, 0.0), (end, 1.0)):
        x, S = pose(s)
        ends.append(x if item is None else Frame.of(item).node.frame_at(x, S))
    motion = _Motion(unmade, velocity, angular_velocity, places[0] if about is None else about)
    line = _line(ends, count, section, pose, name, fixed, length, poses, options, motion)
    held = start is not None and end is not None
    closed = np.linalg.norm(places[-1] - places[0]) < 1e-6 * sum(beam.length for beam in line)
    if poses == 3 and (held or closed):
        _check_thin_ring(line)
    return line


def _check_thin_ring(line):
    """Warn about a thin ring or arch with fixed ends whose elements span such an angle that its stretch is wrong."""
    for beam in line:
        curvature = np.linalg.norm(beam.strain0[3:6])
        angle, F = beam.length * curvature, beam.section.flexibility
        if angle > RING_ANGLE and np.sqrt(max(F[4, 4], F[5, 5]) / F[0, 0]) > RING_SLENDERNESS * curvature:
            Warnings.issue(
                f"{label(beam)}: spans {angle:.2f} rad of a ring or arch, R √(EA/EI) > {RING_SLENDERNESS:g}; "
                f"above {RING_ANGLE} its stretch errs by more than 1 %. Use more elements, or flexibility='simple'",
                of=beam,
            )
            return


def carried(S: np.ndarray, x: np.ndarray, x_next: np.ndarray, e1: np.ndarray) -> np.ndarray:
    """Section rotation at the next point of a curve without twist: double reflection (Wang et al. 2008)."""
    v = x_next - x
    c = v @ v
    if c == 0:
        return S
    e2, t = S[:, 1] - 2 / c * (v @ S[:, 1]) * v, S[:, 0] - 2 / c * (v @ S[:, 0]) * v
    v = e1 - t
    c = v @ v
    e2 = e2 - 2 / c * (v @ e2) * v if c > 1e-30 else e2
    e2 = e2 - (e2 @ e1) * e1
    e2 /= np.linalg.norm(e2)
    return np.column_stack([e1, e2, np.cross(e1, e2)])


def _count(n, name, poses):
    """Intervals between nodes: n, for three-node elements the next even number."""
    if poses not in (2, 3):
        raise ParameterError(Named("Beam", name), "poses", poses, "must be 3 (default) or 2 (the two-node element)")
    if isinstance(n, Section) or callable(n):
        message = "is a section; the number of intervals comes before it: beam_line(start, end, n, section)"
        raise ParameterError(Named("Beam", name), "n", n, message)
    if isinstance(n, bool) or not isinstance(n, numbers.Real) or int(n) != n or n < 1:
        raise ParameterError(Named("Beam", name), "n", n, "must be a whole number of intervals between nodes ≥ 1")
    return int(n) if poses == 2 else 2 * ((int(n) + 1) // 2)


def _end(item):
    """A frame on an existing node, or a position (3,)."""
    if isinstance(item, (list, tuple, np.ndarray)):
        return finite_vector(Named("Beam", None), "position", item)
    return Frame.of(item)


class _Motion:
    """Velocities of a rigid body: of the point ``about``, and the angular one; inertial axes."""

    def __init__(self, owner: Named, velocity: ArrayLike, angular_velocity: ArrayLike, about: ArrayLike) -> None:
        self.v, self.w = (
            finite_vector(owner, name, value)
            for name, value in (("velocity", velocity), ("angular_velocity", angular_velocity))
        )
        self.about = finite_vector(owner, "about", about)

    def at(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Velocities of a new node at x (3,)."""
        return {"velocity": self.v + cross_product(self.w, x - self.about), "angular_velocity": self.w}


def _line(ends, n, section, pose, name, fixed, length, poses, options, motion):
    span = poses - 1  # intervals of an element
    wrong = [key for key in options if key == "large_strain"] if poses == 3 else []
    if wrong:
        raise ParameterError(
            Named("Beam", name), wrong[0], options[wrong[0]],
            "belongs to the two-node element (poses=2); three-node elements always use the current strain",
        )  # fmt: skip
    nodes, frames = [], []
    for k in range(n + 1):
        s = k / n
        if poses == 3 and k % 2 == 1:
            s = _half_way((k - 1) / n, (k + 1) / n, pose)
        x, S = pose(s)
        known = ends[0] if k == 0 else ends[1] if k == n else None
        if isinstance(known, Frame):
            frames.append(Frame(known.node, known.p, known.node.rotation.T @ S))
        else:
            node = Node6(x, S, fixed=fixed, name=f"{name} node {k}" if name else None, **motion.at(x))
            frames.append(node.frame())
        nodes.append(frames[-1].node)
    elements = []
    for k in range(0, n, span):
        part = (lambda s, k=k: section((k + span * s) / n)) if callable(section) else section
        choice = {"length": None if length is None else span * length / n, **options}
        choice["name"] = None if name is None else f"{name} {k // span + 1}"
        if poses == 2:
            elements.append(TwoNodeBeam(frames[k], frames[k + 1], part, **choice))
        else:
            elements.append(Beam(frames[k], frames[k + 2], part, middle=nodes[k + 1], **choice))
    return BeamLine(nodes, elements)


def _half_way(first, last, pose):
    """The place s between two others that halves the arc length, of helices between the three."""

    def arc(a, b):
        (x_a, S_a), (x_b, S_b) = pose(a), pose(b)
        T = np.empty((3, 3))
        tangent_inverse(-log(S_a.T @ S_b), T)
        return np.linalg.norm(T @ S_a.T @ (x_b - x_a))

    s = 0.5 * (first + last)
    for _ in range(30):
        left, right = arc(first, s), arc(s, last)
        if abs(left - right) <= 1e-10 * (left + right):
            break
        # both arcs change with the mean speed of their side
        s -= (left - right) / (left / (s - first) + right / (last - s))
    return s
