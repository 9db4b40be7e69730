"""fem_mbs: finite-element flexible multibody dynamics with impacts and friction.

The names below are all that a model script needs; each is imported when it is first used, so that ``import fem_mbs`` is
quick. ``import fem_mbs as fem`` is the habit of the examples.
"""

import importlib
import importlib.util

__version__ = "0.2.0"

_WHERE = {
    "fem_mbs.bearings.geometry": ("BearingGeometry",),
    "fem_mbs.bearings.history": ("BearingHistory",),
    "fem_mbs.bearings.life": ("basic_life", "equivalent_load", "life_of_run", "mean_load", "reference_life"),
    "fem_mbs.bearings.statics": ("bearing_at", "bearing_equilibrium"),
    "fem_mbs.checks": ("Check", "Checks"),
    "fem_mbs.elements.beams.beam": ("Beam",),
    "fem_mbs.elements.beams.line": ("BeamLine", "beam_curve", "beam_line"),
    "fem_mbs.elements.beams.sections": ("Section",),
    "fem_mbs.elements.beams.skin": ("BeamSkin",),
    "fem_mbs.elements.beams.two_node": ("TwoNodeBeam",),
    "fem_mbs.elements.bearings.dynamic": ("DynamicBearing", "ball_bearing"),
    "fem_mbs.elements.bearings.quasi_static": ("QuasiStaticBearing",),
    "fem_mbs.elements.bearings.rigid_ball": ("RigidBallBearing",),
    "fem_mbs.elements.bodies.point_mass": ("PointMass",),
    "fem_mbs.elements.bodies.rigid_body": ("RigidBody",),
    "fem_mbs.elements.contacts.hulls.box": ("BoxOnBox", "BoxOnPlane"),
    "fem_mbs.elements.contacts.shapes.capsule": ("CapsuleOnCapsule", "CapsuleOnPlane", "SphereOnCapsule"),
    "fem_mbs.elements.contacts.clearance": (
        "JournalClearance", "PrismaticClearance", "RingOnCylinder", "SphericalClearance",
    ),
    "fem_mbs.elements.contacts.compliant": ("CompliantContact",),
    "fem_mbs.elements.contacts.shapes.curve": ("PointOnCurve", "SphereOnWire"),
    "fem_mbs.elements.contacts.faces.frame_on_faces": ("FrameOnFaces",),
    "fem_mbs.elements.contacts.groups.group": ("ContactGroup",),
    "fem_mbs.elements.contacts.hulls.hull": ("HullOnPlane",),
    "fem_mbs.elements.contacts.hulls.hull_pair": ("HullOnHull",),
    "fem_mbs.elements.contacts.groups.materials": ("MaterialTable",),
    "fem_mbs.elements.contacts.faces.node_on_faces": ("NodeOnFaces",),
    "fem_mbs.elements.contacts.shapes.round_on_plane": ("EllipsoidOnPlane", "RingOnPlane"),
    "fem_mbs.elements.contacts.shapes.sphere_box": ("SphereOnBox", "SphereOnRectangle"),
    "fem_mbs.elements.contacts.shapes.sphere_cylinder": ("SphereInCylinder", "SphereOnCylinder"),
    "fem_mbs.elements.contacts.shapes.sphere_groove": ("SphereInGroove",),
    "fem_mbs.elements.contacts.shapes.sphere_plane": ("SphereOnPlane",),
    "fem_mbs.elements.contacts.shapes.sphere_sphere": ("SphereInSphere", "SphereOnSphere"),
    "fem_mbs.elements.contacts.shapes.surface": ("PointOnSurface",),
    "fem_mbs.elements.forces.bushing": ("Bushing",),
    "fem_mbs.elements.forces.curve": ("ForceCurve",),
    "fem_mbs.elements.forces.line_load": ("LineLoad",),
    "fem_mbs.elements.forces.nonlinear_spring": ("NonlinearSpring",),
    "fem_mbs.elements.control.controller": ("Controller",),
    "fem_mbs.elements.control.event": ("Event", "SetTo", "Stop", "SwitchOff", "SwitchOn"),
    "fem_mbs.elements.control.motion": ("FrameAngle", "FrameMotion"),
    "fem_mbs.elements.control.first_order": ("Coordinate", "StateSpace"),
    "fem_mbs.elements.control.pid": ("PID",),
    "fem_mbs.elements.control.sensor": ("Sensor",),
    "fem_mbs.elements.drives.belt": ("Belt",),
    "fem_mbs.elements.drives.creeping_belt": ("CreepingBelt",),
    "fem_mbs.elements.drives.ideal_belt": ("BeltPull", "IdealBelt"),
    "fem_mbs.elements.drives.cable": ("Cable", "ElasticCable"),
    "fem_mbs.elements.drives.coupling": ("CoordinateCoupling", "Differential"),
    "fem_mbs.elements.drives.gear_mesh": ("GearMesh",),
    "fem_mbs.elements.drives.gear_pair": ("GearPair", "RackAndPinion"),
    "fem_mbs.elements.drives.loose_gears": ("GearFlank", "LooseGearPair"),
    "fem_mbs.elements.drives.mesh_stiffness": (
        "SpurTeeth", "iso_mesh_stiffness", "stepped_stiffness", "tooth_stiffness",
    ),
    "fem_mbs.elements.control.user_states": ("UserStates",),
    "fem_mbs.elements.joints.attachment": ("Attachment",),
    "fem_mbs.elements.joints.coordinates.joint_spring": ("JointSpring", "TorsionSpring"),
    "fem_mbs.elements.forces.loads": ("PointForce", "PointMoment"),
    "fem_mbs.elements.forces.spring_damper": ("Spring",),
    "fem_mbs.elements.joints.axes": ("ParallelAxes", "PerpendicularAxes"),
    "fem_mbs.elements.joints.constant_velocity": ("ConstantVelocity",),
    "fem_mbs.elements.joints.distance": ("Distance",),
    "fem_mbs.elements.joints.planar": ("Planar",),
    "fem_mbs.elements.joints.point_on_line": ("PointOnLine",),
    "fem_mbs.elements.joints.point_on_spline": ("PointOnSpline",),
    "fem_mbs.elements.joints.screw": ("Screw",),
    "fem_mbs.elements.joints.coordinates.servo": ("JointServo",),
    "fem_mbs.elements.joints.cylindrical": ("Cylindrical",),
    "fem_mbs.elements.joints.coordinates.driver": ("JointDriver", "LinearDriver", "RevoluteDriver"),
    "fem_mbs.elements.joints.fixed": ("Fixed",),
    "fem_mbs.elements.joints.coordinates.friction": ("JointFriction",),
    "fem_mbs.elements.joints.knife_edge": ("KnifeEdge",),
    "fem_mbs.elements.joints.coordinates.lock": ("Lock",),
    "fem_mbs.elements.joints.coordinates.motors": ("JointEffort", "JointRate"),
    "fem_mbs.element.anisotropic": ("AnisotropicFriction",),
    "fem_mbs.element.speed_laws": ("PowerRestitution",),
    "fem_mbs.elements.joints.coordinates.options": ("DryFriction", "Motor", "Stops"),
    "fem_mbs.elements.joints.prescribed": ("Prescribed",),
    "fem_mbs.elements.joints.prismatic": ("Prismatic",),
    "fem_mbs.elements.joints.revolute": ("Revolute",),
    "fem_mbs.elements.joints.rolling_disc": ("RollingDisc",),
    "fem_mbs.elements.joints.spherical": ("Spherical",),
    "fem_mbs.elements.joints.coordinates.stops": ("JointBumper", "JointStop"),
    "fem_mbs.elements.joints.universal": ("Universal",),
    "fem_mbs.elements.shells.body": ("ShellBody",),
    "fem_mbs.elements.shells.element": ("Shell3", "Shell4"),
    "fem_mbs.elements.shells.section": ("PlyMaterial", "ShellSection"),
    "fem_mbs.elements.solids.averaged": ("AveragedCoupling",),
    "fem_mbs.elements.solids.body": ("SolidBody",),
    "fem_mbs.elements.contacts.faces.solid_contacts": ("SurfaceContacts",),
    "fem_mbs.elements.solids.coupling": ("SurfaceCoupling",),
    "fem_mbs.elements.solids.element": (
        "Hexa8", "Hexa8Enhanced", "Hexa20", "Tetra4", "Tetra10", "Wedge6", "Wedge15",
    ),
    "fem_mbs.elements.solids.loads": ("BodyForce", "EdgeTraction", "SurfacePressure", "SurfaceTraction"),
    "fem_mbs.elements.solids.material": ("SolidMaterial",),
    "fem_mbs.elements.contacts.faces.surface_contact": ("SurfaceOnSurface",),
    "fem_mbs.elements.solids.tie": ("Tie", "TiedNode"),
    "fem_mbs.elements.superelements.load_patterns": ("LoadPattern",),
    "fem_mbs.elements.superelements.reduce_mesh": ("reduce_mesh",),
    "fem_mbs.elements.superelements.reduce_matrices": ("reduce_matrices",),
    "fem_mbs.elements.superelements.reduction": ("Reduction", "load_reduction"),
    "fem_mbs.elements.superelements.superelement": ("Superelement",),
    "fem_mbs.elements.superelements.surface": ("SuperelementSurface",),
    "fem_mbs.elements.urdf.reader": ("from_urdf",),
    "fem_mbs.elements.urdf.writer": ("to_urdf",),
    "fem_mbs.elements.user": ("PythonElement", "UserForce"),
    "fem_mbs.explanation": ("explain",),
    "fem_mbs.errors": ("FemMbsError", "FileError", "ModelError", "NonFiniteError", "ParameterError", "SolverError"),
    "fem_mbs.recovery.observer": ("ForceObserver",),
    "fem_mbs.recovery.recover": ("recover_forces",),
    "fem_mbs.recovery.hysteresis": ("ForceLaw", "hysteresis_factor", "resolved_impact"),
    "fem_mbs.recovery.modal_impact": ("ContactModes",),
    "fem_mbs.mesh.decomposition": ("convex_parts",),
    "fem_mbs.mesh.mesh": ("Mesh",),
    "fem_mbs.mesh.block": ("block_mesh",),
    "fem_mbs.mesh.cad": ("mesh_from_cad", "mesh_from_gmsh"),
    "fem_mbs.mesh.files": ("read_mesh",),
    "fem_mbs.mesh.mass": ("mass_of_mesh",),
    "fem_mbs.mesh.panel": ("panel_mesh",),
    "fem_mbs.model": ("Model",),
    "fem_mbs.nodes": ("Frame", "Node1", "Node3", "Node6"),
    "fem_mbs.functions.profiles": ("Profile", "ramp", "smooth_start", "table", "trapezoidal"),
    "fem_mbs.results.results": ("Results", "load"),
    "fem_mbs.functions.signals": ("Held", "Signal"),
    "fem_mbs.solvers": (
        "ConeComplementarity", "DecoupledNSGA", "GeneralizedAlpha", "LobattoIIIAB", "MoreauJean",
        "NonsmoothGeneralizedAlphaFriction", "NonsmoothGeneralizedAlphaGGL", "StepControl", "buckling", "campbell",
        "critical_speeds", "floquet", "frequency_response", "initial_accelerations", "linearise", "load_path", "modes",
        "static_equilibrium", "unbalance_response",
    ),
    "fem_mbs.solvers.linear.assurance": ("mac",),
    "fem_mbs.solvers.linear.reduced_contact": ("ReducedContact",),
    "fem_mbs.solvers.stepping.saved.continue_from": ("continue_from",),
    "fem_mbs.solvers.stepping.saved.resume": ("resume",),
    "fem_mbs.bearings.spall": ("Spall",),
    "fem_mbs.system.state": ("State",),
    "fem_mbs.system.system": ("System",),
    "fem_mbs.bearings.raceway": ("raceway_damage", "raceway_passages"),
    "fem_mbs.bearings.wear": ("archard_wear", "contact_wear"),
    "fem_mbs.bearings.wear_growth": ("WornSurface", "grow_wear"),
    "fem_mbs.fatigue.damage": ("SNCurve", "damage"),
    "fem_mbs.fatigue.rainflow": ("Cycles", "rainflow"),
}  # fmt: skip
_MODULES = ("hertz", "rotations", "shapes", "verify", "elements", "solvers")
_HOME = {name: module for module, names in _WHERE.items() for name in names}
__all__ = sorted(_HOME) + list(_MODULES)


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"fem_mbs.{name}")
    elif name.startswith("_"):  # tools ask every object for such names; a search for a near one takes 10 ms
        raise AttributeError(f"module 'fem_mbs' has no attribute '{name}'")
    elif importlib.util.find_spec(f"fem_mbs.{name}") is not None:  # "from fem_mbs import …" asks here first
        value = importlib.import_module(f"fem_mbs.{name}")
    else:
        from fem_mbs.arguments.spelling import elsewhere, meant  # when it is needed only: `import fem_mbs` stays quick
        from fem_mbs.deprecated import Deprecated

        if name in Deprecated.NAMES:
            Deprecated.warn(f"fem_mbs.{name}", f"fem_mbs.{Deprecated.NAMES[name]}")
            return __getattr__(Deprecated.NAMES[name])
        here = elsewhere(name, __all__)
        hint = meant(name, __all__) if here is None else f"that is done by '{here}'"
        elements = importlib.import_module("fem_mbs.elements")
        if hasattr(elements, name):  # base classes, which docstrings name: `Contact`
            hint = f"it is 'fem_mbs.elements.{name}'"
        raise AttributeError(f"fem_mbs has no '{name}'; {hint}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
