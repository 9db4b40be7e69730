"""All types of the element library, by name. Importing this registers every one (`fem_mbs.registry`)."""

from fem_mbs.elements.base import Constraint, Contact, Element, Force, Inertia, Joint, register
from fem_mbs.elements.beams.beam import Beam
from fem_mbs.elements.beams.line import BeamLine, beam_curve, beam_line
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.two_node import TwoNodeBeam
from fem_mbs.elements.bearings.dynamic import DynamicBearing, ball_bearing
from fem_mbs.elements.bearings.quasi_static import QuasiStaticBearing
from fem_mbs.elements.bearings.rigid_ball import RigidBallBearing
from fem_mbs.elements.bodies.point_mass import PointMass
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.box import BoxOnBox, BoxOnPlane
from fem_mbs.elements.contacts.capsule import CapsuleOnCapsule, CapsuleOnPlane, SphereOnCapsule
from fem_mbs.elements.contacts.clearance import JournalClearance, PrismaticClearance, RingOnCylinder, SphericalClearance
from fem_mbs.elements.contacts.compliant import CompliantContact
from fem_mbs.elements.contacts.curve import PointOnCurve, SphereOnWire
from fem_mbs.elements.contacts.group import ContactGroup
from fem_mbs.elements.contacts.materials import MaterialTable
from fem_mbs.elements.contacts.sphere_box import SphereOnBox, SphereOnRectangle
from fem_mbs.elements.contacts.sphere_cylinder import SphereInCylinder, SphereOnCylinder
from fem_mbs.elements.contacts.sphere_groove import SphereInGroove
from fem_mbs.elements.contacts.sphere_plane import SphereOnPlane
from fem_mbs.elements.contacts.sphere_sphere import SphereInSphere, SphereOnSphere
from fem_mbs.elements.contacts.surface import PointOnSurface
from fem_mbs.elements.forces.joint_spring import JointSpring, TorsionSpring
from fem_mbs.elements.forces.loads import PointForce, PointMoment
from fem_mbs.elements.forces.spring_damper import Spring
from fem_mbs.elements.joints.axes import ParallelAxes, PerpendicularAxes
from fem_mbs.elements.joints.constant_velocity import ConstantVelocity
from fem_mbs.elements.joints.cylindrical import Cylindrical
from fem_mbs.elements.joints.distance import Distance
from fem_mbs.elements.joints.driver import JointDriver, LinearDriver, RevoluteDriver
from fem_mbs.elements.joints.fixed import Fixed
from fem_mbs.elements.joints.knife_edge import KnifeEdge
from fem_mbs.elements.joints.motors import JointEffort, JointRate
from fem_mbs.elements.joints.options import Motor, Stops
from fem_mbs.elements.joints.planar import Planar
from fem_mbs.elements.joints.point_on_line import PointOnLine
from fem_mbs.elements.joints.point_on_spline import PointOnSpline
from fem_mbs.elements.joints.prescribed import Prescribed
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.elements.joints.rolling_disc import RollingDisc
from fem_mbs.elements.joints.screw import Screw
from fem_mbs.elements.joints.spherical import Spherical
from fem_mbs.elements.joints.stops import JointBumper, JointStop
from fem_mbs.elements.joints.universal import Universal
from fem_mbs.elements.user import PythonElement, UserForce

__all__ = [
    "Beam", "BeamLine", "BoxOnBox", "BoxOnPlane", "CapsuleOnCapsule", "CapsuleOnPlane", "CompliantContact",
    "ConstantVelocity", "Constraint", "Contact", "ContactGroup", "Cylindrical", "Distance", "DynamicBearing",
    "Element", "Fixed", "Force", "Inertia", "Joint", "JointBumper", "JointDriver", "JointEffort", "JointRate",
    "JointSpring", "JointStop", "JournalClearance", "KnifeEdge", "LinearDriver", "MaterialTable", "Motor",
    "ParallelAxes", "PerpendicularAxes", "Planar", "PointForce", "PointMass", "PointMoment", "PointOnCurve",
    "PointOnLine", "PointOnSpline", "PointOnSurface", "Prescribed", "Prismatic", "PrismaticClearance", "PythonElement",
    "QuasiStaticBearing", "Revolute", "RevoluteDriver", "RigidBallBearing", "RigidBody", "RingOnCylinder",
    "RollingDisc", "Screw", "Section", "SphereInCylinder", "SphereInGroove", "SphereInSphere", "SphereOnBox",
    "SphereOnCapsule", "SphereOnCylinder", "SphereOnPlane", "SphereOnRectangle", "SphereOnSphere", "SphereOnWire",
    "Spherical", "SphericalClearance", "Spring", "Stops", "TorsionSpring", "TwoNodeBeam", "Universal", "UserForce",
    "ball_bearing", "beam_curve", "beam_line", "register",
]  # fmt: skip
