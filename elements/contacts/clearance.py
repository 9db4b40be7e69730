"""Joints with clearance: journal, ball and socket, slider in a guide; parts made of contacts.

Journal of radius R_J in a bearing of radius R_B = R_J + c. The gap along the straight axis of the journal, c − ρ(s), is
smallest at an end of the length over which the two face each other, because the distance ρ(s) = |ρ₀ + κ s| of two
straight lines is convex. Contacts at both ends of the shorter member are therefore all that can touch:

    journal shorter   its end circles in the bore: `SphereInCylinder`, sphere of radius R_J about the centre of each
    bearing shorter   its end rings around the journal: `RingOnCylinder`, with y the centre of a ring in the axes of the
                      journal, φ = −(ρ + R_J), r = −R_B:   gap = φ − r = c − ρ ,  n = −e                           (1)

and two contacts give force and moment. In a plane the two are one contact. A tilted end circle is an ellipse, narrower
by R τ²/2: the contacts of a journal are that much too early, those of a bore too late, a quarter of a per cent of c at
the largest tilt τ = 2c/L for L = 2 R and c = R/200. Friction acts at the contact point y − r n: at R_J from the axis of
the journal, R_B from that of the bearing.

Guide. A box that slides in a rectangular channel touches its flat faces with its corners, or, if it is the longer one,
with its faces the corners of the channel's mouths: `SphereOnPlane` of points. Each of four corners in a plane, each of
eight in space on two faces. The largest tilt of a slider of length L and height H with play c on either side follows
from L sin τ + H cos τ = H + 2 c.

Sphere and socket: `SphereInSphere`.

Source: docs/theory/contacts.md, (23), (24).

    symbol    code                 unit   meaning
    R_J, R_B  radius, radius + clearance  m    radii of journal and bore
    c         clearance            m      radial clearance, or play on one side of a slider
    L, H      length, size         m      length of the shorter member; height of the slider
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Part, register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.contacts.compliant import CompliantContact
from fem_mbs.elements.contacts.shapes.sphere_cylinder import _ENDLESS, SphereInCylinder, _SphereCylinder
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereInSphere
from fem_mbs.errors import ParameterError
from fem_mbs.nodes import Frame
from fem_mbs.rotations import frame_with_axis

MEMBERS = ("journal", "bearing")
GUIDES = ("slider", "guide")


class RingOnCylinder(_SphereCylinder):
    """A ring around a longer cylinder, with clearance: the end of a short bearing on its shaft.

    Parameters
    ----------
    ring, cylinder : Frame, Node or body
        Centre of the ring; axis of the cylinder (z axis of its frame, endless). Axes are taken as nearly parallel.
    radius : float > 0 [m]
        Of the ring's bore.
    radius_cylinder : float > 0 [m]
        radius_cylinder < radius; the difference is the clearance.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radii not positive, no clearance, both frames on one node, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, ring = Model(), RigidBody.box(1.0, [0.1, 0.1, 0.01], name="ring")
    >>> RingOnCylinder(ring, model.ground, radius=0.021, radius_cylinder=0.02, friction=0.3, name="hoop")
    RingOnCylinder 'hoop': radius=0.021, radius_cylinder=0.02, friction=0.3
    """

    side = -1.0

    def __init__(
        self,
        ring: FrameLike,
        cylinder: FrameLike,
        *,
        radius: float,
        radius_cylinder: float,
        name: str | None = None,
        **law: Any,
    ) -> None:
        super().__init__(
            ring, cylinder, radius=radius, radius_cylinder=radius_cylinder, drawn_length=0.0, name=name, **law
        )
        message = f"m leaves no clearance: it must be smaller than radius = {self.radius:.6g} m"
        self.check(self.radius_cylinder < self.radius, "radius_cylinder", self.radius_cylinder, message)
        self.room = self.radius - self.radius_cylinder
        p, *pose, _ = self.poses
        # (1): both radii count negative
        self.record = (p, *pose, -self.radius, -self.radius_cylinder, _ENDLESS, self.side)


class _ClearanceJoint(Part):
    """Common base of joints with clearance: checks, names, and contacts that may be compliant."""

    options_of = Contact

    def _start(self, first, second, names, clearance, name):
        self.name = name
        self.first, self.second = self.as_frame(names[0], first), self.as_frame(names[1], second)
        if self.first.node is self.second.node:
            raise ParameterError(
                self, names[1], self.second, f"is on the same node as {names[0]}; it cannot move there"
            )
        self.clearance = self.positive("clearance", clearance, "m")
        self.elements = []

    def _finish(self, contacts, compliant):
        """Name the contacts after the joint and make them compliant if that is requested."""
        if self.name is not None:
            for k, contact in enumerate(contacts):
                contact.name = self.name if len(contacts) == 1 else f"{self.name} {k + 1}"
        if compliant is not None:
            self.as_instance("compliant", compliant, dict, "a dict of options of CompliantContact")
            contacts = [CompliantContact(contact, **compliant) for contact in contacts]
        self.elements = contacts

    def path(self, result: Any) -> np.ndarray:
        """Position of the first body's frame in the second's, over a run.

        Parameters
        ----------
        result : Results
            Of a run of the model that has this joint.

        Returns
        -------
        (k, 3) [m]
            Origin of the first frame from that of the second, in the axes of the second: x, y are across a bearing.
        """
        from fem_mbs.results.contact_motion import frame_motion

        first, second = frame_motion(result, self.first), frame_motion(result, self.second)
        return np.einsum("kji,kj->ki", second.orientation, first.position - second.position)


class JournalClearance(_ClearanceJoint):
    """A journal in a bearing with radial clearance: impacts, friction and misalignment of a worn or loose pin.

    Parameters
    ----------
    journal, bearing : Frame, Node or body
        The z axis of each is its axis, the origin the middle of it.
    radius : float > 0 [m]
        Of the journal.
    clearance : float > 0 [m]
        Radial: half the difference of the diameters.
    length : float ≥ 0 [m]
        Of the shorter member. 0: one contact, for mechanisms that move in a plane and for joints whose tilt something
        else prevents. Otherwise two contacts at its ends, which carry moments.
    shorter : {"journal", "bearing"}
        Which member ends inside or on the other.
    end_play : float > 0, optional [m]
        Axial clearance to either side: four points on the rim of each end of the shorter member against the faces
        that the other has there. Default: none, the joint slides freely along its axis. Needs ``length``.
    compliant : dict, optional
        Options of `CompliantContact` (``{"stiffness": …}``): forces from indentation in place of impacts.
    name : str, optional
        The contacts are called "name", or "name 1", "name 2" (at −z and +z), then those of the end play.
    **law
        restitution, friction, spinning_resistance …: see `Contact`.

    Attributes
    ----------
    elements : list of the contacts

    Raises
    ------
    ParameterError
        Both frames on one node, radius or clearance not positive, end play without length, coefficients out of range.

    Notes
    -----
    Nothing touches in a concentric start; the journal falls or drifts to the wall. Forces of the contacts are recovered
    as those of others (`recover_forces`), each by itself. Reaction of a joint of two contacts: their sum. Their first
    body, on which forces are given, is the shorter member. The journal whirls along the wall with up to its surface
    speed over c, which steps must resolve (a tenth of a radian per step).

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, shaft = Model(), RigidBody.cylinder(1.0, 0.01, 0.1, name="shaft")
    >>> pin = JournalClearance(shaft, model.ground, radius=0.01, clearance=5e-5, length=0.02, friction=0.1, name="pin")
    >>> [contact.name for contact in model.add(pin).elements]
    ['pin 1', 'pin 2']
    """

    def __init__(
        self,
        journal: FrameLike,
        bearing: FrameLike,
        *,
        radius: float,
        clearance: float,
        length: float = 0.0,
        shorter: str = "journal",
        end_play: float | None = None,
        compliant: dict | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self._start(journal, bearing, MEMBERS, clearance, name)
        self.radius = self.positive("radius", radius, "m")
        self.length = self.positive("length", length, "m", allow_zero=True)
        self.shorter = self.as_choice("shorter", shorter, MEMBERS)
        bore = self.radius + self.clearance
        short, long = (self.first, self.second) if shorter == "journal" else (self.second, self.first)
        places = [0.0] if self.length == 0.0 else [-0.5 * self.length, 0.5 * self.length]
        contacts: list[Contact] = []
        law["name"] = name  # for errors; numbered below
        for z in places:
            end = _shifted(short, [0, 0, z])
            if shorter == "journal":
                contacts.append(
                    SphereInCylinder(end, long, radius=self.radius, radius_cylinder=bore, drawn_length=0.0, **law)
                )
            else:
                contacts.append(RingOnCylinder(end, long, radius=bore, radius_cylinder=self.radius, **law))
        if end_play is not None:
            play = self.positive("end_play", end_play, "m")
            self.check(self.length > 0, "end_play", end_play, "m needs a length > 0: ends that can touch")
            for z, side in zip(places, (-1, 1)):
                # the face looks back at the end of the shorter member; its z axis is the normal
                face = _shifted(long, [0, 0, z + side * play], frame_with_axis([0, 0, -side]))
                for angle in 0.5 * np.pi * np.arange(4):
                    rim = _shifted(short, [self.radius * np.cos(angle), self.radius * np.sin(angle), z])
                    contacts.append(_stop(rim, face, play, law))
        self._finish(contacts, compliant)


class SphericalClearance(_ClearanceJoint):
    """A ball in a socket with clearance.

    Parameters
    ----------
    ball, socket : Frame, Node or body
        Their origins are the centres.
    radius, clearance : float > 0 [m]
        Of the ball; radius of the socket minus that of the ball.
    compliant : dict, optional
        Options of `CompliantContact`.
    name : str, optional
        Also that of the contact.
    **law
        restitution, friction, spinning_resistance …: see `Contact`.

    Attributes
    ----------
    elements : list of the one contact

    Raises
    ------
    ParameterError
        Both frames on one node, radius or clearance not positive, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, rod = Model(), RigidBody.cylinder(1.0, 0.01, 0.4, name="rod")
    >>> SphericalClearance(rod, model.ground, radius=0.015, clearance=1e-4, name="ball joint").elements
    [SphereInSphere 'ball joint': radius=0.015, radius_outer=0.0151]
    """

    def __init__(
        self,
        ball: FrameLike,
        socket: FrameLike,
        *,
        radius: float,
        clearance: float,
        compliant: dict | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self._start(ball, socket, ("ball", "socket"), clearance, name)
        self.radius = self.positive("radius", radius, "m")
        outer = self.radius + self.clearance
        contact = SphereInSphere(
            self.first, self.second, radius=self.radius, radius_outer=outer, drawn=False, name=self.name, **law
        )
        self._finish([contact], compliant)


class PrismaticClearance(_ClearanceJoint):
    """A box that slides along a rectangular channel with play.

    Parameters
    ----------
    slider, guide : Frame, Node or body
        Origin and axes of the box and of the channel; they slide along x.
    size : (3,) > 0 [m]
        Edge lengths of the slider: along x the length of the shorter member, along y and z those of the slider.
    clearance : float > 0 [m]
        Play on each side when the slider is centred.
    planar : {"y", "z"}, optional
        Axis across which the motion is guided by something else (``fixed=`` of the body): four corners and the two
        faces that face the other axis. Default: eight corners, four faces, 16 contacts.
    shorter : {"slider", "guide"}
        Whose corners touch the faces of the other.
    compliant : dict, optional
        Options of `CompliantContact`.
    name : str, optional
        The contacts are called "name 1" …: from − to + along x first, then y, then z.
    **law
        restitution, friction …: see `Contact`.

    Attributes
    ----------
    elements : list of the contacts

    Raises
    ------
    ParameterError
        Both frames on one node, sizes or clearance not positive, coefficients out of range.

    Notes
    -----
    A slider that lies on a face touches with four corners: redundant contacts, whose forces are shared, see
    :doc:`redundant contacts </howto/redundant>`. A round guide is a `JournalClearance`.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, box = Model(), RigidBody.box(0.5, [0.1, 0.04, 0.04], fixed=("z", "rx", "ry"), name="box")
    >>> size = [0.1, 0.04, 0.04]
    >>> slot = PrismaticClearance(box, model.ground, size=size, clearance=1e-4, planar="z", friction=0.1, name="slot")
    >>> model.add(slot).elements[0].name
    'slot 1'
    """

    def __init__(
        self,
        slider: FrameLike,
        guide: FrameLike,
        *,
        size: ArrayLike,
        clearance: float,
        planar: str | None = None,
        shorter: str = "slider",
        compliant: dict | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self._start(slider, guide, GUIDES, clearance, name)
        self.size = self.as_lengths("size", size)
        self.as_choice("planar", planar, ("y", "z", None))
        self.as_choice("shorter", shorter, GUIDES)
        play = np.array([0.0, self.clearance, self.clearance])
        inner, outer = 0.5 * self.size, 0.5 * self.size + play
        across = [axis for axis in (1, 2) if planar != "xyz"[axis]]
        contacts = []
        law["name"] = name  # for errors; numbered below
        for k in range(8):
            sign = np.array([1.0 if k >> axis & 1 else -1.0 for axis in range(3)])
            if planar is not None:
                flat = "xyz".index(planar)
                if sign[flat] < 0:
                    continue
                sign[flat] = 0.0
            for axis in across:
                # normals point from the second body to the first: the guide's inwards, the slider's outwards
                normal, place = np.eye(3)[axis] * sign[axis], np.eye(3)[axis] * sign[axis]
                if shorter == "slider":
                    corner = _shifted(self.first, sign * inner)
                    face = _shifted(self.second, place * outer, frame_with_axis(-normal))
                else:
                    corner = _shifted(self.second, sign * outer)
                    face = _shifted(self.first, place * inner, frame_with_axis(normal))
                contacts.append(_stop(corner, face, self.clearance, law))
        self._finish(contacts, compliant)


def _stop(point, face, room, law):
    """A point before a face, with so much room [m]."""
    contact = SphereOnPlane(point, face, radius=0.0, drawn_size=0.0, **law)
    message = "has one axis, the faces of a joint with clearance have axes of their own; give one coefficient"
    contact.check(contact.ellipse is None, "friction", contact.ellipse, message)
    contact.room = room
    return contact


def _shifted(frame, p, rotation=None):
    """The frame moved by p (3,) along its own axes and turned."""
    turned = frame.rotation if rotation is None else frame.rotation @ rotation
    return Frame(frame.node, frame.p + frame.rotation @ np.asarray(p, float), turned)


def _example(rng, A, B):
    radius = rng.uniform(1.0, 2.0)
    a, b = A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3))
    return RingOnCylinder(a, b, radius=radius, radius_cylinder=radius * rng.uniform(0.3, 0.9))


register(RingOnCylinder, example=_example)
