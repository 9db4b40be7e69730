"""Calls of the model, its nodes and bodies, of joints, drivers and forces; `public_calls` says what a call is."""

import numpy as np
from call_models import A, B, ball_on_table, body, hinge, rail

import fem_mbs as fem

JOINT = {
    "Revolute": fem.Revolute,
    "Spherical": fem.Spherical,
    "Fixed": fem.Fixed,
    "Prismatic": fem.Prismatic,
    "Cylindrical": fem.Cylindrical,
    "KnifeEdge": fem.KnifeEdge,
    "TorsionSpring": fem.TorsionSpring,
}


def law_of_user(x, R, v, t):
    return np.zeros((len(x), 6))


def beams_of_line():
    return fem.beam_line([0, 0, 0], [1, 0, 0], 2, fem.Section.circle(0.01, E=1e9, nu=0.3, density=1.0))


_MOMENTS = 'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"'
_LINK = f'<link name="{{}}"><inertial><mass value="1"/><inertia {_MOMENTS}/></inertial></link>'
_JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/></joint>'
SWING = (
    f'<robot name="swing">{_LINK.format("a")}{_LINK.format("b")}{_LINK.format("c")}'
    f"{_JOINT.format('pin', 'continuous', 'a', 'b')}{_JOINT.format('weld', 'fixed', 'b', 'c')}</robot>"
)


def closed_mesh():
    box = fem.shapes.Box([1.0, 2.0, 3.0])
    return fem.shapes.Mesh(box.points, box.faces)


def joint_frames():
    joint = hinge()
    return {"frame_P": joint.frame_P, "frame_Q": joint.frame_Q, "name": "j"}


BODIES = {
    # model, nodes, bodies
    "Model": lambda: (fem.Model, dict(name="m", gravity=[0, 0, -9.81])),
    "Model.compile": lambda: (ball_on_table().compile, dict(project=True, redundant="allow", linear_solver="dense")),
    "State": lambda: (fem.State, dict(n_nodes=3)),
    "System": lambda: (
        fem.System,
        dict(model=ball_on_table(), project=False, redundant="error", linear_solver=None, check=True),
    ),
    "Node6": lambda: (
        fem.Node6,
        dict(
            position=[0, 0, 1],
            rotation=[0, 0, 0.1],
            velocity=[1, 0, 0],
            angular_velocity=[0, 0, 1],
            fixed=("x",),
            name="n",
        ),
    ),
    "Node3": lambda: (fem.Node3, dict(position=[0, 0, 1], velocity=[1, 0, 0], fixed="z", name="n")),
    "Node1": lambda: (fem.Node1, dict(value=1.0, velocity=0.0, fixed=False, name="n")),
    "Node.frame": lambda: (A().frame, dict(p=[0, 0, 1], rotation=[0, 0, 0.1], name="f")),
    "Node.frame_at": lambda: (A().frame_at, dict(position=[0, 0, 1], rotation=[0, 0, 0.1], name="f")),
    "Frame": lambda: (fem.Frame, dict(node=A(), p=[0, 0, 1], rotation=[0, 0, 0.1], name="f")),
    "Frame.of": lambda: (fem.Frame.of, dict(item=A())),
    "RigidBody": lambda: (
        fem.RigidBody,
        dict(
            mass=1.0,
            inertia=[1, 1, 1],
            position=[0, 0, 1],
            rotation=[0, 0, 0.1],
            velocity=[0, 0, 1],
            angular_velocity=[0, 0, 1],
            center=[0, 0, 0.1],
            node=None,
            fixed=("x",),
            shape=None,
            allow_nonphysical=False,
            name="b",
        ),
    ),
    "RigidBody.sphere": lambda: (fem.RigidBody.sphere, dict(mass=1.0, radius=0.1, name="b")),
    "RigidBody.ellipsoid": lambda: (fem.RigidBody.ellipsoid, dict(mass=1.0, semi_axes=[1, 2, 3], name="b")),
    "RigidBody.box": lambda: (fem.RigidBody.box, dict(mass=1.0, size=[1, 1, 1], name="b")),
    "RigidBody.cylinder": lambda: (fem.RigidBody.cylinder, dict(mass=1.0, radius=0.1, length=1.0, axis=[0, 0, 1])),
    "RigidBody.frame": lambda: (body().frame, dict(p=[0, 0, 1], rotation=[0, 0, 0.1], name="f")),
    "RigidBody.frame_at": lambda: (body().frame_at, dict(position=[0, 0, 1], rotation=[0, 0, 0.1], name="f")),
    "PointMass": lambda: (
        fem.PointMass,
        dict(mass=1.0, position=[0, 0, 1], velocity=[0, 0, 1], at=None, fixed=("x",), name="b"),
    ),
    "PointMass.frame": lambda: (fem.PointMass(1.0).frame, dict(p=[0, 0, 1], rotation=[0, 0, 0.1], name="f")),
    # joints and drivers
    **{
        name: lambda cls=cls: (cls, joint_frames() | ({"stiffness": 1.0} if cls is fem.TorsionSpring else {}))
        for name, cls in JOINT.items()
    },
    **{
        f"{name}.at": lambda cls=cls: (
            cls.at,
            dict(
                first=A(),
                second=B(),
                position=[0.5, 0, 0],
                axis=[0, 0, 1],
                name="j",
                **({"stiffness": 1.0} if cls is fem.TorsionSpring else {}),
            ),
        )
        for name, cls in JOINT.items()
    },
    "Spherical, friction": lambda: (fem.Spherical, joint_frames() | dict(friction=fem.DryFriction(0.3, radius=0.05))),
    "Universal.at": lambda: (
        fem.Universal.at,
        dict(first=A(), second=B(), position=[0.5, 0, 0], axis=[0, 0, 1], name="j"),
    ),
    "Universal": lambda: (
        fem.Universal,
        dict(frame_P=A().frame([1, 0, 0]), frame_Q=B().frame(), name="j"),
    ),
    "RollingDisc": lambda: (
        fem.RollingDisc,
        dict(
            frame_P=A(), frame_Q=B().frame([0, 0, 0.5], [1.0, 0, 0]), radius=0.5 / np.sin(1.0), drawn_size=1.0, name="j"
        ),
    ),
    "RollingDisc.at": lambda: (
        fem.RollingDisc.at,
        dict(first=A(), second=B(), position=[0, 0, 1], axis=[1, 0, 0], radius=0.5, normal=[0, 0, 1], name="j"),
    ),
    "Lock": lambda: (fem.Lock, dict(joint=hinge(), active=True, intervals=[(0.1, 0.2)], name="l")),
    "Attachment": lambda: (fem.Attachment, joint_frames() | dict(active=True, intervals=[(0.1, 0.2), (0.3, np.inf)])),
    "RevoluteDriver": lambda: (fem.RevoluteDriver, joint_frames() | dict(angle=lambda t: 0.1 * t**2)),
    "LinearDriver": lambda: (
        fem.LinearDriver,
        dict(frame_P=rail().frame_P, frame_Q=rail().frame_Q, distance=lambda t: 0.1 * t**2, name="j"),
    ),
    "Prescribed": lambda: (fem.Prescribed, dict(frame=B(), x=1.0, y=0.0, z=lambda t: 0.1 * t**2, name="p")),
    "mass_of_mesh": lambda: (fem.mass_of_mesh, dict(mesh=closed_mesh(), density=2.0, scale=1.0)),
    "RigidBody.from_mesh": lambda: (
        fem.RigidBody.from_mesh,
        dict(mesh=closed_mesh(), density=2.0, scale=1.0, color="blue"),
    ),
    # joints with frames, and what acts along their coordinates
    "Planar": lambda: (fem.Planar, joint_frames()),
    "Screw": lambda: (fem.Screw, joint_frames() | dict(lead=0.1)),
    "PointOnLine": lambda: (fem.PointOnLine, joint_frames()),
    "ParallelAxes": lambda: (fem.ParallelAxes, joint_frames()),
    "PerpendicularAxes": lambda: (fem.PerpendicularAxes, joint_frames()),
    "ConstantVelocity": lambda: (fem.ConstantVelocity, joint_frames()),
    "Distance": lambda: (fem.Distance, dict(frame_P=A(), frame_Q=B(), length=1.0, name="j")),
    "PointOnSpline": lambda: (
        fem.PointOnSpline,
        dict(frame_P=B(), frame_Q=A(), points=[[1.0, 0, 0], [2, 1, 0], [3, 0, 0]], closed=False, name="j"),
    ),
    "Stops": lambda: (fem.Stops, dict(lower=-1.0, upper=1.0, restitution=0.3)),
    "Stops, compliant": lambda: (fem.Stops, dict(lower=-1.0, upper=1.0, stiffness=3.0, damping=0.1)),
    "DryFriction": lambda: (
        fem.DryFriction,
        dict(
            coefficient=(0.3, 0.2),
            radius=0.01,
            length=0.1,
            collar=0.02,
            preload=0.1,
            flat=False,
            offset=(0, 0),
            speed=0.0,
        ),
    ),
    "JointFriction": lambda: (
        fem.JointFriction,
        dict(
            joint=rail(),
            friction=(0.3, 0.2),
            coordinate=None,
            radius=0.0,
            length=0.1,
            collar=0.0,
            preload=0.1,
            flat=True,
            offset=(0, 0),
            speed=0.0,
            kappa=False,
            name="f",
        ),
    ),
    "Motor, position": lambda: (fem.Motor, dict(position=1.0)),
    "Motor, rate": lambda: (fem.Motor, dict(rate=1.0, limit=2.0)),
    "Motor, effort": lambda: (fem.Motor, dict(effort=1.0)),
    "JointSpring": lambda: (
        fem.JointSpring,
        dict(joint=rail(), stiffness=1.0, damping=0.1, rest=0.2, coordinate="displacement", name="s"),
    ),
    "JointStop": lambda: (
        fem.JointStop,
        dict(joint=rail(), limit=1.0, side="upper", restitution=0.1, coordinate="displacement", name="s"),
    ),
    "JointBumper": lambda: (
        fem.JointBumper,
        dict(joint=rail(), stiffness=1.0, lower=-1.0, upper=1.0, damping=0.1, coordinate="displacement", name="s"),
    ),
    "JointDriver": lambda: (
        fem.JointDriver,
        dict(joint=rail(), position=lambda t: 0.1 * t**2, coordinate="displacement", name="s"),
    ),
    "JointRate": lambda: (fem.JointRate, dict(joint=rail(), rate=1.0, coordinate="displacement", name="s")),
    "JointEffort": lambda: (
        fem.JointEffort,
        dict(joint=rail(), effort=1.0, limit=2.0, coordinate="displacement", name="s"),
    ),
    "JointServo": lambda: (
        fem.JointServo,
        dict(joint=rail(), rate=1.0, limit=2.0, coordinate="displacement", name="s"),
    ),
    "from_urdf": lambda: (
        fem.from_urdf,
        dict(
            urdf=SWING,
            base="free",
            configuration={"pin": 0.1},
            rates={"pin": 0.2},
            gravity=[0, 0, -9.81],
            limits="stops",
            dynamics="joints",
            density=10.0,
            keep=["weld"],
            packages={"parts": "."},
            allow_nonphysical=False,
        ),
    ),
    "to_urdf": lambda: (
        fem.to_urdf,
        dict(model=fem.from_urdf(SWING).model, path="swing.urdf", leave_out=["push"]),
    ),
    # forces
    "Spring": lambda: (
        fem.Spring,
        dict(frame_P=A(), frame_Q=B(), stiffness=1.0, damping=0.1, free_length=0.5, name="s"),
    ),
    "TorsionSpring, all": lambda: (
        fem.TorsionSpring,
        joint_frames() | dict(stiffness=1.0, damping=0.1, free_angle=0.1),
    ),
    "NonlinearSpring": lambda: (
        fem.NonlinearSpring,
        dict(
            frame_P=A(),
            frame_Q=B(),
            spring=[(-1, -5), (0, 0), (1, 2)],
            damper=3.0,
            force=1.0,
            free_length=0.5,
            name="s",
        ),
    ),
    "ForceCurve": lambda: (fem.ForceCurve, dict(law=lambda x: 2.0 * x, between=(-1, 1), name="c")),
    "Bushing": lambda: (
        fem.Bushing,
        dict(
            frame_P=A(), frame_Q=B(), stiffness=[1] * 6, damping=[1] * 6, curves={"x": 2.0}, preload=[1] * 6, name="b"
        ),
    ),
    "LineLoad": lambda: (
        fem.LineLoad,
        dict(beams=beams_of_line(), force=[0, 0, 1], moment=lambda s: [0, s, 0], follower=True, signal=2.0, name="q"),
    ),
    "PointForce": lambda: (
        fem.PointForce,
        dict(frame=A(), force=[0, 0, 1], follower=False, signal=lambda t: t, name="f"),
    ),
    "PointMoment": lambda: (
        fem.PointMoment,
        dict(frame=A(), moment=[0, 0, 1], follower=True, signal=2.0, name="f"),
    ),
    "PythonElement": lambda: (fem.PythonElement, dict(nodes=[A(), B()], name="u")),
    "UserForce": lambda: (fem.UserForce, dict(nodes=[A(), B()], function=law_of_user, name="u")),
}
