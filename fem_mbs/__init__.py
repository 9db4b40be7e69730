"""fem_mbs: finite-element flexible multibody dynamics with impacts and friction.

The names below are all that a model script needs; each is imported when it is first used, so that ``import fem_mbs`` is
quick. ``import fem_mbs as fem`` is the habit of the examples.
"""

import importlib

__version__ = "0.1.0"

_WHERE = {
    "fem_mbs.bearings.geometry": ("BearingGeometry",),
    "fem_mbs.bearings.history": ("BearingHistory",),
    "fem_mbs.bearings.life": ("basic_life", "equivalent_load", "life_of_run", "mean_load", "reference_life"),
    "fem_mbs.bearings.statics": ("bearing_at", "bearing_equilibrium"),
    "fem_mbs.checks": ("Check", "Checks"),
    "fem_mbs.elements": (
        "Beam", "BeamLine", "BoxOnBox", "BoxOnPlane", "CapsuleOnCapsule", "CapsuleOnPlane", "CompliantContact",
        "ContactGroup", "Cylindrical", "DynamicBearing", "Fixed", "JournalClearance", "LinearDriver", "MaterialTable",
        "PointForce", "PointMass", "PointMoment", "PointOnCurve", "PointOnSurface", "Prescribed", "Prismatic",
        "PrismaticClearance", "PythonElement", "QuasiStaticBearing", "Revolute", "RevoluteDriver", "RigidBallBearing",
        "RigidBody", "RingOnCylinder", "Section", "SphereInCylinder", "SphereInGroove", "SphereInSphere",
        "SphereOnBox", "SphereOnCapsule", "SphereOnCylinder", "SphereOnPlane", "SphereOnRectangle", "SphereOnSphere",
        "SphereOnWire", "Spherical", "SphericalClearance", "Spring", "TorsionSpring", "TwoNodeBeam", "Universal",
        "UserForce", "ball_bearing", "beam_curve", "beam_line",
    ),
    "fem_mbs.errors": ("FemMbsError", "FileError", "ModelError", "NonFiniteError", "ParameterError", "SolverError"),
    "fem_mbs.recovery.observer": ("ForceObserver",),
    "fem_mbs.recovery.recover": ("recover_forces",),
    "fem_mbs.recovery.hysteresis": ("ForceLaw", "hysteresis_factor", "resolved_impact"),
    "fem_mbs.model": ("Model",),
    "fem_mbs.nodes": ("Frame", "Node1", "Node3", "Node6"),
    "fem_mbs.profiles": ("Profile", "ramp", "smooth_start", "table", "trapezoidal"),
    "fem_mbs.results.results": ("Results", "load"),
    "fem_mbs.signals": ("Signal",),
    "fem_mbs.solvers": (
        "DecoupledNSGA", "GeneralizedAlpha", "MoreauJean", "NonsmoothGeneralizedAlphaGGL", "StepControl",
        "initial_accelerations", "modes", "static_equilibrium",
    ),
    "fem_mbs.bearings.spall": ("Spall",),
    "fem_mbs.system.state": ("State",),
    "fem_mbs.system.system": ("System",),
    "fem_mbs.bearings.wear": ("archard_wear", "contact_wear"),
}  # fmt: skip
_MODULES = ("hertz", "rotations", "shapes", "verify", "elements", "solvers")
_HOME = {name: module for module, names in _WHERE.items() for name in names}
__all__ = sorted(_HOME) + list(_MODULES)


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"fem_mbs.{name}")
    else:
        raise AttributeError(f"fem_mbs has no '{name}'; it has: {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__():
    return [*globals(), *__all__]
