"""The element library: bodies, joints, springs, loads, contacts.

Importing it registers every type (`fem_mbs.elements.base.REGISTRY`).
"""

from fem_mbs.elements.base import Constraint, Contact, Element, Force, Inertia, Joint, register
from fem_mbs.elements.beam import Beam
from fem_mbs.elements.beam_line import BeamLine, beam_curve, beam_line
from fem_mbs.elements.beam_two_node import TwoNodeBeam
from fem_mbs.elements.box_contact import BoxOnBox, BoxOnPlane
from fem_mbs.elements.capsule import CapsuleOnCapsule, CapsuleOnPlane, SphereOnCapsule
from fem_mbs.elements.clearance import JournalClearance, PrismaticClearance, RingOnCylinder, SphericalClearance
from fem_mbs.elements.compliant_contact import CompliantContact
from fem_mbs.elements.contact_group import ContactGroup
from fem_mbs.elements.curve import PointOnCurve, SphereOnWire
from fem_mbs.elements.cylindrical import Cylindrical
from fem_mbs.elements.driver import LinearDriver, RevoluteDriver
from fem_mbs.elements.dynamic_bearing import DynamicBearing, ball_bearing
from fem_mbs.elements.fixed import Fixed
from fem_mbs.elements.loads import PointForce, PointMoment
from fem_mbs.elements.materials import MaterialTable
from fem_mbs.elements.point_mass import PointMass
from fem_mbs.elements.prescribed import Prescribed
from fem_mbs.elements.prismatic import Prismatic
from fem_mbs.elements.quasi_static_bearing import QuasiStaticBearing
from fem_mbs.elements.revolute import Revolute
from fem_mbs.elements.rigid_ball_bearing import RigidBallBearing
from fem_mbs.elements.rigid_body import RigidBody
from fem_mbs.elements.sections import Section
from fem_mbs.elements.sphere_box import SphereOnBox, SphereOnRectangle
from fem_mbs.elements.sphere_cylinder import SphereInCylinder, SphereOnCylinder
from fem_mbs.elements.sphere_groove import SphereInGroove
from fem_mbs.elements.sphere_plane import SphereOnPlane
from fem_mbs.elements.sphere_sphere import SphereInSphere, SphereOnSphere
from fem_mbs.elements.spherical import Spherical
from fem_mbs.elements.spring_damper import Spring, TorsionSpring
from fem_mbs.elements.surface import PointOnSurface
from fem_mbs.elements.universal import Universal
from fem_mbs.elements.user import PythonElement, UserForce

__all__ = [
    "Beam", "BeamLine", "BoxOnBox", "BoxOnPlane", "CapsuleOnCapsule", "CapsuleOnPlane", "CompliantContact",
    "Constraint", "Contact", "ContactGroup", "Cylindrical", "DynamicBearing", "Element", "Fixed", "Force", "Inertia",
    "Joint", "JournalClearance", "LinearDriver", "MaterialTable", "PointForce", "PointMass", "PointMoment",
    "PointOnCurve", "PointOnSurface", "Prescribed", "Prismatic", "PrismaticClearance", "PythonElement",
    "QuasiStaticBearing", "Revolute", "RevoluteDriver", "RigidBallBearing", "RigidBody", "RingOnCylinder", "Section",
    "SphereInCylinder", "SphereInGroove", "SphereInSphere", "SphereOnBox", "SphereOnCapsule",
    "SphereOnCylinder", "SphereOnPlane", "SphereOnRectangle", "SphereOnSphere", "SphereOnWire", "Spherical",
    "SphericalClearance", "Spring", "TorsionSpring", "TwoNodeBeam", "Universal", "UserForce", "ball_bearing",
    "beam_curve", "beam_line", "register",
]  # fmt: skip
