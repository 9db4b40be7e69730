"""Valid calls of gears, belts and cables, with every argument: what random bad input replaces one by one."""

import math

import numpy as np

import fem_mbs as fem


def wheels(distance=0.1):
    return {"frame_P": fem.Node6(), "frame_Q": fem.Node6([distance, 0, 0])}


def hinges(*where, axis=(0, 0, 1)):
    ground = fem.Model().ground
    return [fem.Revolute.at(ground, fem.Node6(p), p, axis) for p in where]


def pair():
    a, b = hinges([0, 0, 0], [0.1, 0, 0])
    return dict(
        joint_1=a, joint_2=b, teeth=(20, 20), radii=(0.05, 0.05), module=5e-3, internal=False, pressure_angle=0.3,
        helix_angle=0.1, flank="auto", name="pair",
    )  # fmt: skip


def rack():
    ground, body = fem.Model().ground, fem.Node6([0, -0.1, 0])
    hinge = fem.Revolute.at(ground, fem.Node6(), [0, 0, 0], [0, 0, 1])
    guide = fem.Prismatic.at(ground, body, [0, -0.1, 0], [1, 0, 0])
    return dict(
        pinion=hinge, rack=guide, radius=0.05, teeth=20, module=5e-3, pressure_angle=0.3, flank="forward", name="rack"
    )


def differential():
    return dict(zip(("joint_1", "joint_2", "case"), hinges([0, 0, 0], [0, 0, 1], [0, 0, 2])), name="axle")


def mesh(**more):
    return wheels() | dict(
        teeth=(20, 20), module=5e-3, internal=False, pressure_angle=math.radians(20), profile_shift=(0.0, 0.0),
        backlash=1e-4, contact="middle", name="mesh", **more,
    )  # fmt: skip


def path():
    return [fem.Node6([-0.1, -1, 0]), (fem.Model().ground.frame(), -0.1), fem.Node6([0.1, -1, 0])]


DRIVES = {
    "GearPair": lambda: (fem.GearPair, pair()),
    "RackAndPinion": lambda: (fem.RackAndPinion, rack()),
    "Differential": lambda: (fem.Differential, differential()),
    "CoordinateCoupling": lambda: (
        fem.CoordinateCoupling,
        dict(terms=[(1.0, joint) for joint in hinges([0, 0, 0], [1, 0, 0])], name="chain"),
    ),
    "GearMesh": lambda: (fem.GearMesh, mesh(stiffness=1e8, damping=10.0, phase=0.2)),
    "GearMesh, course": lambda: (
        fem.GearMesh,
        wheels() | dict(teeth=(20, 20), module=5e-3, stiffness=2e8 + 1e7 * np.sin(np.arange(16) * np.pi / 8)),
    ),
    "LooseGearPair": lambda: (fem.LooseGearPair, mesh(restitution=0.5)),
    "GearFlank": lambda: (
        fem.GearFlank,
        dict(mesh=fem.GearMesh(**mesh(stiffness=1.0)), flank="forward", restitution=0.5, name="flank"),
    ),
    "Belt": lambda: (
        fem.Belt,
        wheels(0.5)
        | dict(
            radii=(0.1, 0.15),
            stiffness=1e4,
            pretension=100.0,
            damping=1.0,
            crossed=False,
            friction=0.3,
            other_friction=0.4,
            wrap=(3.0, 3.1),
            name="belt",
        ),
    ),
    "IdealBelt": lambda: (
        fem.IdealBelt,
        wheels(0.5)
        | dict(
            radii=(0.1, 0.15),
            pretension=100.0,
            friction=(0.4, 0.3),
            other_friction=0.3,
            wrap=(3.0, 3.1),
            crossed=False,
            name="belt",
        ),
    ),
    "CreepingBelt": lambda: (
        fem.CreepingBelt,
        wheels(0.5)
        | dict(
            radii=(0.1, 0.15),
            stiffness=2e4,
            pretension=100.0,
            friction=0.3,
            other_friction=0.4,
            wrap=(3.0, 3.1),
            length=0.5,
            crossed=False,
            recovery=1e-4,
            name="belt",
        ),
    ),
    "BeltPull": lambda: (
        fem.BeltPull,
        dict(belt=fem.IdealBelt(**wheels(0.5), radii=(0.1, 0.15), pretension=100.0, friction=0.3), name="pull"),
    ),
    "Cable": lambda: (
        fem.Cable,
        dict(path=path(), length=3.0, slack=0.0, turns={1: 0}, restitution=0.1, name="rope"),
    ),
    "ElasticCable": lambda: (
        fem.ElasticCable,
        dict(path=path(), stiffness=1e4, damping=1.0, length=3.0, slack=0.0, turns={1: 0}, name="rope"),
    ),
    "SpurTeeth": lambda: (
        fem.SpurTeeth,
        dict(teeth=(20, 40), module=3e-3, pressure_angle=0.35, profile_shift=(0.0, 0.0), addendum=1.0, dedendum=1.25),
    ),
    "iso_mesh_stiffness": lambda: (
        fem.iso_mesh_stiffness,
        dict(
            teeth=(20, 40),
            contact_ratio=1.6,
            width=0.02,
            helix_angle=0.1,
            pressure_angle=0.35,
            profile_shift=(0.1, 0.0),
            dedendum=1.2,
            web_factor=1.0,
        ),
    ),
    "stepped_stiffness": lambda: (
        fem.stepped_stiffness,
        dict(low=2e8, high=3e8, share=0.6, ramp=0.1, samples=32),
    ),
    "tooth_stiffness": lambda: (
        fem.tooth_stiffness,
        dict(pair=fem.SpurTeeth((20, 40), 3e-3), width=0.02, load=1e3, young=2e11, poisson=0.3, ramp=0.1, samples=32),
    ),
}
