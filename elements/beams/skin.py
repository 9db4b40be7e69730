"""Skins of beams: a line of beams with a round section that can touch obstacles and other lines between its nodes too.

Between neighbouring nodes the skin is a straight capsule (`CapsuleOnCapsule`, `SphereOnCapsule`); a plane is touched
by its round ends alone. Where two capsules meet the normal rotates by the angle between them, and both may be closed in
one point: lines of many nodes are smooth.

Source: docs/theory/contacts.md, capsules.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked, FrameLike
from fem_mbs.element.contact import Contact
from fem_mbs.elements.beams.line import BeamLine
from fem_mbs.elements.contacts.shapes.capsule import CapsuleOnCapsule, SphereOnCapsule
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane


class BeamSkin(Checked):
    """Contact of a line of beams along all of its length; ``model.add(skin)`` adds it.

    Parameters
    ----------
    line : BeamLine
    radius : float > 0 [m]
        Of the skin, round the axis of the beams.
    plane : Frame, Node or body, optional
        Contains its origin; its z axis is the normal and points to the side where the beams may be.
    sphere : Frame, Node or body, optional
        Instead of a plane: its origin is the centre of a sphere.
    cylinder : Frame, Node or body, optional
        Instead of a plane: a cylinder with round ends about its z axis; its origin is the middle.
    beams : BeamLine, optional
        Instead of a plane: another line of beams.
    radius_other : float > 0, optional [m]
        Of the sphere, the cylinder or the skin of the other line.
    length : float > 0, optional [m]
        Of the axis of the cylinder, between the centres of its round ends.
    reach : float > 0, optional [m]
        Pieces of two lines that are farther apart at the start never touch. Default: all pairs of pieces.
    name : str, optional
        Contacts are called "name 0", "name 1", …
    **law
        restitution, friction, …, see `Contact`.

    Attributes
    ----------
    elements : list of SphereOnPlane, SphereOnCapsule or CapsuleOnCapsule
        Impulses are those on the beams; with a sphere those on the sphere.

    Raises
    ------
    ParameterError
        Not one of plane, sphere, cylinder and beams; one without its radius or length; the line itself; a node in
        common; no pieces within reach.

    Examples
    --------
    >>> from fem_mbs import Model, Section, beam_line
    >>> model, round_bar = Model(), Section.circle(5e-3, E=2e11, density=7800)
    >>> low = beam_line([0, 0, 0], [1, 0, 0], 4, round_bar, name="low")
    >>> high = beam_line([0.5, -0.5, 0.02], [0.5, 0.5, 0.02], 4, round_bar, name="high")
    >>> len(model.add(low, high, BeamSkin(high, 5e-3, beams=low, radius_other=5e-3, name="cross"))[2].elements)
    16
    """

    def __init__(
        self,
        line: BeamLine,
        radius: float,
        *,
        plane: FrameLike | None = None,
        sphere: FrameLike | None = None,
        cylinder: FrameLike | None = None,
        beams: BeamLine | None = None,
        radius_other: float | None = None,
        length: float | None = None,
        reach: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.line = self.as_instance("line", line, BeamLine, "a BeamLine: fem.beam_line makes one")
        self.radius = self.positive("radius", radius, "m")
        given = [one for one in (plane, sphere, cylinder, beams) if one is not None]
        self.check(len(given) == 1, "plane", plane, "or a sphere, a cylinder or beams must be given, and one of them")
        round_one = plane is None
        message = "is required for a sphere, a cylinder or beams, and for these only"
        self.check((radius_other is not None) == round_one, "radius_other", radius_other, message)
        message = "is required for a cylinder, and for it only"
        self.check((length is not None) == (cylinder is not None), "length", length, message)
        self.check(reach is None or beams is not None, "reach", reach, "is for two lines of beams")
        self.elements: list[Contact] = []
        pieces = _pieces(line)
        if plane is not None:
            for node in line.nodes:
                self._take(SphereOnPlane, node, plane, radius=self.radius, drawn_size=0.0, **law)
            return
        other = self.positive("radius_other", radius_other, "m")
        if sphere is not None:
            for piece in pieces:
                self._take(SphereOnCapsule, sphere, piece, radius=other, radius_capsule=self.radius, **law)
            return
        for piece, second in self._pairs(pieces, cylinder, beams, length, reach):
            self._take(CapsuleOnCapsule, piece, second, radius_A=self.radius, radius_B=other, **law)

    def _take(self, kind, *sides, **options):
        label = None if self.name is None else f"{self.name} {len(self.elements)}"
        self.elements.append(kind(*sides, name=label, **options))

    def _pairs(self, pieces, cylinder, beams, length, reach):
        """Pieces of the line with the objects that they can touch."""
        if cylinder is not None:
            axis, half = self.as_frame("cylinder", cylinder), 0.5 * self.positive("length", length, "m")
            ends = [axis.node.frame(axis.p + side * half * axis.rotation[:, 2]) for side in (-1.0, 1.0)]
            return [(piece, tuple(ends)) for piece in pieces]
        other = self.as_instance("beams", beams, BeamLine, "a BeamLine: fem.beam_line makes one")
        self.check(other is not self.line, "beams", beams, "is the line itself: its contact with itself is not known")
        common = {id(node) for node in self.line.nodes} & {id(node) for node in other.nodes}
        self.check(not common, "beams", beams, "has a node in common with the line; they can never part")
        pairs = [(a, b) for a in pieces for b in _pieces(other)]
        if reach is not None:
            reach = self.positive("reach", reach, "m")
            pairs = [(a, b) for a, b in pairs if _apart(a, b) <= reach]
            self.check(pairs, "reach", reach, "m has no two pieces of the lines within it")
        return pairs


def _pieces(line):
    """Pairs of neighbouring nodes."""
    return list(zip(line.nodes[:-1], line.nodes[1:]))


def _apart(a, b):
    """A distance that two pieces are not nearer than: that of their middles less half of both lengths."""
    (p, q), (r, s) = ([node.position for node in piece] for piece in (a, b))
    halves = 0.5 * (np.linalg.norm(q - p) + np.linalg.norm(s - r))
    return np.linalg.norm(0.5 * (p + q - r - s)) - halves
