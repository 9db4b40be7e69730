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
from fem_mbs.elements.drives.belt import Belt
from fem_mbs.elements.drives.cable import Cable, ElasticCable
from fem_mbs.elements.drives.coupling import CoordinateCoupling, Differential
from fem_mbs.elements.drives.gear_mesh import GearMesh
from fem_mbs.elements.drives.gear_pair import GearPair, RackAndPinion
from fem_mbs.elements.drives.loose_gears import GearFlank, LooseGearPair
from fem_mbs.elements.drives.mesh_stiffness import SpurTeeth, iso_mesh_stiffness, stepped_stiffness, tooth_stiffness
from fem_mbs.elements.forces.loads import PointForce, PointMoment
from fem_mbs.elements.forces.spring_damper import Spring, TorsionSpring
from fem_mbs.elements.joints.cylindrical import Cylindrical
from fem_mbs.elements.joints.driver import LinearDriver, RevoluteDriver
from fem_mbs.elements.joints.fixed import Fixed
from fem_mbs.elements.joints.knife_edge import KnifeEdge
from fem_mbs.elements.joints.prescribed import Prescribed
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.elements.joints.rolling_disc import RollingDisc
from fem_mbs.elements.joints.spherical import Spherical
from fem_mbs.elements.joints.universal import Universal
from fem_mbs.elements.user import PythonElement, UserForce

__all__ = [
    "Beam", "BeamLine", "Belt", "BoxOnBox", "BoxOnPlane", "Cable", "CapsuleOnCapsule", "CapsuleOnPlane",
    "CompliantContact", "Constraint", "Contact", "ContactGroup", "CoordinateCoupling", "Cylindrical", "Differential",
    "DynamicBearing", "ElasticCable", "Element", "Fixed", "Force", "GearFlank", "GearMesh", "GearPair", "Inertia",
    "Joint", "JournalClearance", "KnifeEdge", "LinearDriver", "LooseGearPair", "MaterialTable", "PointForce",
    "PointMass", "PointMoment", "PointOnCurve", "PointOnSurface", "Prescribed", "Prismatic", "PrismaticClearance",
    "PythonElement", "QuasiStaticBearing", "RackAndPinion", "Revolute", "RevoluteDriver", "RigidBallBearing",
    "RigidBody", "RingOnCylinder", "RollingDisc", "Section", "SphereInCylinder", "SphereInGroove", "SphereInSphere",
    "SphereOnBox", "SphereOnCapsule", "SphereOnCylinder", "SphereOnPlane", "SphereOnRectangle", "SphereOnSphere",
    "SphereOnWire", "Spherical", "SphericalClearance", "Spring", "SpurTeeth", "TorsionSpring", "TwoNodeBeam",
    "Universal", "UserForce", "ball_bearing", "beam_curve", "beam_line", "iso_mesh_stiffness", "register",
    "stepped_stiffness", "tooth_stiffness",
]  # fmt: skip
