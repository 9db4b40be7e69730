"""All types of the element library, by name. Importing this registers every one (`fem_mbs.element.registry`)."""

from fem_mbs.element.base import Constraint, Element, Force, Inertia, Joint, register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.beams.beam import Beam
from fem_mbs.elements.beams.line import BeamLine, beam_curve, beam_line
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.skin import BeamSkin
from fem_mbs.elements.beams.two_node import TwoNodeBeam
from fem_mbs.elements.bearings.dynamic import DynamicBearing, ball_bearing
from fem_mbs.elements.bearings.quasi_static import QuasiStaticBearing
from fem_mbs.elements.bearings.rigid_ball import RigidBallBearing
from fem_mbs.elements.bodies.point_mass import PointMass
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.clearance import JournalClearance, PrismaticClearance, RingOnCylinder, SphericalClearance
from fem_mbs.elements.contacts.compliant import CompliantContact
from fem_mbs.elements.contacts.faces.frame_on_faces import FrameOnFaces
from fem_mbs.elements.contacts.faces.node_on_faces import NodeOnFaces
from fem_mbs.elements.contacts.faces.solid_contacts import SurfaceContacts
from fem_mbs.elements.contacts.faces.surface_contact import SurfaceOnSurface
from fem_mbs.elements.contacts.groups.group import ContactGroup
from fem_mbs.elements.contacts.groups.materials import MaterialTable
from fem_mbs.elements.contacts.hulls.box import BoxOnBox, BoxOnPlane
from fem_mbs.elements.contacts.hulls.hull import HullOnPlane
from fem_mbs.elements.contacts.hulls.hull_pair import HullFeature, HullOnHull
from fem_mbs.elements.contacts.shapes.capsule import CapsuleOnCapsule, CapsuleOnPlane, SphereOnCapsule
from fem_mbs.elements.contacts.shapes.curve import PointOnCurve, SphereOnWire
from fem_mbs.elements.contacts.shapes.round_on_plane import EllipsoidOnPlane, RingOnPlane
from fem_mbs.elements.contacts.shapes.sphere_box import SphereOnBox, SphereOnRectangle
from fem_mbs.elements.contacts.shapes.sphere_cylinder import SphereInCylinder, SphereOnCylinder
from fem_mbs.elements.contacts.shapes.sphere_groove import SphereInGroove
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereInSphere, SphereOnSphere
from fem_mbs.elements.contacts.shapes.surface import PointOnSurface
from fem_mbs.elements.control.first_order import StateSpace
from fem_mbs.elements.control.motion import FrameAngle, FrameMotion
from fem_mbs.elements.control.user_states import UserStates
from fem_mbs.elements.drives.belt import Belt
from fem_mbs.elements.drives.cable import Cable, ElasticCable
from fem_mbs.elements.drives.coupling import CoordinateCoupling, Differential
from fem_mbs.elements.drives.creeping_belt import CreepingBelt
from fem_mbs.elements.drives.gear_mesh import GearMesh
from fem_mbs.elements.drives.gear_pair import GearPair, RackAndPinion
from fem_mbs.elements.drives.ideal_belt import BeltPull, IdealBelt
from fem_mbs.elements.drives.loose_gears import GearFlank, LooseGearPair
from fem_mbs.elements.drives.mesh_stiffness import SpurTeeth, iso_mesh_stiffness, stepped_stiffness, tooth_stiffness
from fem_mbs.elements.forces.bushing import Bushing
from fem_mbs.elements.forces.curve import ForceCurve
from fem_mbs.elements.forces.line_load import LineLoad
from fem_mbs.elements.forces.loads import PointForce, PointMoment
from fem_mbs.elements.forces.nonlinear_spring import NonlinearSpring
from fem_mbs.elements.forces.spring_damper import Spring
from fem_mbs.elements.joints.attachment import Attachment
from fem_mbs.elements.joints.axes import ParallelAxes, PerpendicularAxes
from fem_mbs.elements.joints.constant_velocity import ConstantVelocity
from fem_mbs.elements.joints.coordinates.driver import JointDriver, LinearDriver, RevoluteDriver
from fem_mbs.elements.joints.coordinates.friction import JointFriction
from fem_mbs.elements.joints.coordinates.joint_spring import JointSpring, TorsionSpring
from fem_mbs.elements.joints.coordinates.lock import Lock
from fem_mbs.elements.joints.coordinates.motors import JointEffort, JointRate
from fem_mbs.elements.joints.coordinates.options import DryFriction, Motor, Stops
from fem_mbs.elements.joints.coordinates.servo import JointServo
from fem_mbs.elements.joints.coordinates.stops import JointBumper, JointStop
from fem_mbs.elements.joints.cylindrical import Cylindrical
from fem_mbs.elements.joints.distance import Distance
from fem_mbs.elements.joints.fixed import Fixed
from fem_mbs.elements.joints.knife_edge import KnifeEdge
from fem_mbs.elements.joints.planar import Planar
from fem_mbs.elements.joints.point_on_line import PointOnLine
from fem_mbs.elements.joints.point_on_spline import PointOnSpline
from fem_mbs.elements.joints.prescribed import Prescribed
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.elements.joints.rolling_disc import RollingDisc
from fem_mbs.elements.joints.screw import Screw
from fem_mbs.elements.joints.spherical import Spherical
from fem_mbs.elements.joints.universal import Universal
from fem_mbs.elements.shells.body import ShellBody
from fem_mbs.elements.shells.element import Shell3, Shell4
from fem_mbs.elements.shells.section import PlyMaterial, ShellSection
from fem_mbs.elements.solids.averaged import AveragedCoupling
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.coupling import SurfaceCoupling
from fem_mbs.elements.solids.element import Hexa8, Hexa8Enhanced, Hexa20, Tetra4, Tetra10, Wedge6, Wedge15
from fem_mbs.elements.solids.loads import (
    BodyForce,
    EdgeTraction,
    NodalLoad,
    PressureFace,
    SurfacePressure,
    SurfaceTraction,
)
from fem_mbs.elements.solids.material import SolidMaterial
from fem_mbs.elements.solids.tie import Tie, TiedNode
from fem_mbs.elements.superelements.load_patterns import LoadPattern
from fem_mbs.elements.superelements.reduce_matrices import reduce_matrices
from fem_mbs.elements.superelements.reduce_mesh import reduce_mesh
from fem_mbs.elements.superelements.reduction import Reduction, load_reduction
from fem_mbs.elements.superelements.superelement import Superelement
from fem_mbs.elements.superelements.surface import SuperelementSurface
from fem_mbs.elements.user import PythonElement, UserForce

__all__ = [
    "Attachment", "AveragedCoupling", "Beam", "BeamLine", "BeamSkin", "Belt", "BeltPull", "BodyForce", "BoxOnBox",
    "BoxOnPlane", "Bushing", "Cable", "CapsuleOnCapsule", "CapsuleOnPlane", "CompliantContact", "ConstantVelocity",
    "Constraint", "Contact", "ContactGroup", "CoordinateCoupling", "CreepingBelt", "Cylindrical", "Differential",
    "Distance", "DryFriction", "DynamicBearing", "EdgeTraction", "ElasticCable", "Element", "EllipsoidOnPlane",
    "Fixed", "Force", "ForceCurve", "FrameAngle", "FrameMotion", "FrameOnFaces", "GearFlank", "GearMesh",
    "GearPair", "Hexa8", "Hexa8Enhanced", "Hexa20", "HullFeature", "HullOnHull", "HullOnPlane", "IdealBelt",
    "Inertia", "Joint", "JointBumper", "JointDriver", "JointEffort", "JointFriction", "JointRate", "JointServo",
    "JointSpring", "JointStop", "JournalClearance", "KnifeEdge", "LineLoad", "LinearDriver", "LoadPattern", "Lock",
    "LooseGearPair", "MaterialTable", "Motor", "NodalLoad", "NodeOnFaces", "NonlinearSpring", "ParallelAxes",
    "PerpendicularAxes", "Planar", "PlyMaterial", "PointForce", "PointMass", "PointMoment", "PointOnCurve",
    "PointOnLine", "PointOnSpline", "PointOnSurface", "Prescribed", "PressureFace", "Prismatic",
    "PrismaticClearance", "PythonElement", "QuasiStaticBearing", "RackAndPinion", "Reduction", "Revolute",
    "RevoluteDriver", "RigidBallBearing", "RigidBody", "RingOnCylinder", "RingOnPlane", "RollingDisc", "Screw",
    "Section", "Shell3", "Shell4", "ShellBody", "ShellSection", "SolidBody", "SolidMaterial", "SphereInCylinder",
    "SphereInGroove", "SphereInSphere", "SphereOnBox", "SphereOnCapsule", "SphereOnCylinder", "SphereOnPlane",
    "SphereOnRectangle", "SphereOnSphere", "SphereOnWire", "Spherical", "SphericalClearance", "Spring", "SpurTeeth",
    "StateSpace", "Stops", "Superelement", "SuperelementSurface", "SurfaceContacts", "SurfaceCoupling",
    "SurfaceOnSurface", "SurfacePressure", "SurfaceTraction", "Tetra4", "Tetra10", "Tie", "TiedNode",
    "TorsionSpring", "TwoNodeBeam", "Universal", "UserForce", "UserStates", "Wedge6", "Wedge15", "ball_bearing",
    "beam_curve", "beam_line", "iso_mesh_stiffness", "load_reduction", "reduce_matrices", "reduce_mesh", "register",
    "stepped_stiffness", "tooth_stiffness",
]  # fmt: skip
