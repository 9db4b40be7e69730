"""A valid call of every public constructor and function: name -> function that gives it and its arguments.

A comma in a name tells several calls of one function apart.
"""

import inspect

import numpy as np

import fem_mbs as fem

STEEL = {"E": 210e9, "nu": 0.3, "density": 7850.0}


def A():
    return fem.Node6(name="a")


def B():
    return fem.Node6([1, 0, 0], name="b")


def body(x=0.0, **options):
    return fem.RigidBody.sphere(1.0, 0.1, position=[x, 0, 0.5], **options)


def ground():
    return fem.Model().ground


def ends(z):
    rod = fem.RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), position=[0, 0, z])
    return rod.frame([-0.5, 0, 0]), rod.frame([0.5, 0, 0])


def hinge():
    return fem.Revolute.at(A(), B(), [0.5, 0, 0], [0, 0, 1])


def rail():
    return fem.Prismatic.at(A(), B(), [0.5, 0, 0], [1, 0, 0])


def bearing():
    return fem.BearingGeometry.from_designation("6205", clearance=0.0)


def small_bearing():
    """Of three balls: few elements to make."""
    return fem.BearingGeometry(balls=3, ball_diameter=8e-3, pitch_diameter=39e-3)


def ball_on_table():
    model = fem.Model("m", gravity=[0, 0, -9.81])
    model.add(fem.SphereOnPlane(model.add(body(name="ball")), model.ground, radius=0.1, restitution=0.5, name="table"))
    return model


def beam_model():
    model = fem.Model("cantilever")
    model.add(fem.beam_line(fem.Node6(fixed=True), fem.Node6([0.5, 0, 0]), 2, section()))
    return model


def section():
    return fem.Section.circle(5e-3, **STEEL)


_runs = {}


def run():
    """Results of a ball that falls on a table and bounces."""
    if not _runs:
        _runs["ball"] = fem.DecoupledNSGA().run(ball_on_table(), 0.4, 1e-3)
    return _runs["ball"]


LAW = {"restitution": 0.5, "friction": 0.3, "name": "c"}
FULL_LAW = {**LAW, "tangential_restitution": 0.1, "rolling_resistance": 0.01, "spinning_resistance": 0.01}
DISC = {**LAW, "radius_contensou": 0.01}
JOINT = {
    "Revolute": fem.Revolute,
    "Spherical": fem.Spherical,
    "Fixed": fem.Fixed,
    "Prismatic": fem.Prismatic,
    "Cylindrical": fem.Cylindrical,
    "TorsionSpring": fem.TorsionSpring,
}


def law_of_user(x, R, v, t):
    return np.zeros((len(x), 6))


def joint_frames():
    joint = hinge()
    return {"frame_P": joint.frame_P, "frame_Q": joint.frame_Q, "name": "j"}


# what is called: a function that returns the callable and valid arguments by name
CALLS = {
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
    "Universal.at": lambda: (
        fem.Universal.at,
        dict(first=A(), second=B(), position=[0.5, 0, 0], axis=[0, 0, 1], name="j"),
    ),
    "Universal": lambda: (
        fem.Universal,
        dict(frame_P=A().frame([1, 0, 0]), frame_Q=B().frame(), name="j"),
    ),
    "RevoluteDriver": lambda: (fem.RevoluteDriver, joint_frames() | dict(angle=lambda t: 0.1 * t**2)),
    "LinearDriver": lambda: (
        fem.LinearDriver,
        dict(frame_P=rail().frame_P, frame_Q=rail().frame_Q, distance=lambda t: 0.1 * t**2, name="j"),
    ),
    "Prescribed": lambda: (fem.Prescribed, dict(frame=B(), x=1.0, y=0.0, z=lambda t: 0.1 * t**2, name="p")),
    # forces
    "Spring": lambda: (
        fem.Spring,
        dict(frame_P=A(), frame_Q=B(), stiffness=1.0, damping=0.1, free_length=0.5, name="s"),
    ),
    "TorsionSpring, all": lambda: (
        fem.TorsionSpring,
        joint_frames() | dict(stiffness=1.0, damping=0.1, free_angle=0.1),
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
    # contacts
    "SphereOnPlane": lambda: (
        fem.SphereOnPlane,
        dict(sphere=body(), plane=ground(), radius=0.1, drawn_size=1.0, **FULL_LAW),
    ),
    "SphereOnPlane, disc": lambda: (fem.SphereOnPlane, dict(sphere=body(), plane=ground(), radius=0.1, **DISC)),
    "SphereOnSphere": lambda: (
        fem.SphereOnSphere,
        dict(sphere_A=body(), sphere_B=body(1.0), radius_A=0.1, radius_B=0.1, **LAW),
    ),
    "SphereInSphere": lambda: (
        fem.SphereInSphere,
        dict(inner=body(), outer=ground(), radius=0.1, radius_outer=1.0, drawn=True, **LAW),
    ),
    "SphereOnCylinder": lambda: (
        fem.SphereOnCylinder,
        dict(sphere=body(), cylinder=ground(), radius=0.1, radius_cylinder=1.0, length=2.0, drawn_length=1.0, **LAW),
    ),
    "SphereInCylinder": lambda: (
        fem.SphereInCylinder,
        dict(sphere=body(), cylinder=ground(), radius=0.1, radius_cylinder=1.0, length=2.0, drawn_length=1.0, **LAW),
    ),
    "RingOnCylinder": lambda: (
        fem.RingOnCylinder,
        dict(ring=body(), cylinder=ground(), radius=0.1, radius_cylinder=0.05, **LAW),
    ),
    "SphereOnBox": lambda: (
        fem.SphereOnBox,
        dict(sphere=body(), box=ground(), radius=0.1, size=[2, 1, 0.4], rounding=0.1, drawn=True, **LAW),
    ),
    "SphereOnRectangle": lambda: (
        fem.SphereOnRectangle,
        dict(sphere=body(), plate=ground(), radius=0.1, size=[2, 1], drawn=True, **LAW),
    ),
    "SphereOnCapsule": lambda: (
        fem.SphereOnCapsule,
        dict(sphere=body(), capsule=ends(2.0), radius=0.1, radius_capsule=0.05, **LAW),
    ),
    "CapsuleOnCapsule": lambda: (
        fem.CapsuleOnCapsule,
        dict(capsule_A=ends(1.0), capsule_B=ends(2.0), radius_A=0.1, radius_B=0.05, **LAW),
    ),
    "CapsuleOnPlane": lambda: (
        fem.CapsuleOnPlane,
        dict(capsule=ends(1.0), plane=ground(), radius=0.1, drawn_size=1.0, **LAW),
    ),
    "BoxOnPlane": lambda: (
        fem.BoxOnPlane,
        dict(box=body(), plane=ground(), size=[1, 1, 1], rounding=0.1, planar="x", drawn_size=1.0, **LAW),
    ),
    "BoxOnBox": lambda: (
        fem.BoxOnBox,
        dict(
            box_A=body(),
            box_B=body(5.0),
            size_A=[1, 1, 1],
            size_B=[1, 1, 1],
            rounding=0.1,
            edges=True,
            planar=None,
            **LAW,
        ),
    ),
    "PointOnCurve": lambda: (
        fem.PointOnCurve,
        dict(
            point=body(),
            curve=ground(),
            points=[[-3, 0], [-1, 0.1], [1, 0], [3, 0]],
            closed=False,
            radius=0.01,
            side="left",
            width=1.0,
            **LAW,
        ),
    ),
    "PointOnSurface": lambda: (
        fem.PointOnSurface,
        dict(
            point=body(),
            surface=ground(),
            height=lambda x, y: 0.1 * x * y,
            x=(-1, 1),
            y=(-1, 1),
            cells=8,
            radius=0.01,
            drawn=True,
            **LAW,
        ),
    ),
    "SphereOnWire": lambda: (
        fem.SphereOnWire,
        dict(
            sphere=body(),
            wire=ground(),
            points=[[-3, 0, 0], [-1, 0.1, 0], [1, 0, 0], [3, 0, 0]],
            closed=False,
            radius=0.1,
            radius_wire=0.01,
            drawn=True,
            **LAW,
        ),
    ),
    "SphereInGroove": lambda: (
        fem.SphereInGroove,
        dict(
            sphere=body(),
            race=ground(),
            radius=0.1,
            radius_groove=0.105,
            radius_circle=1.0,
            side="outer",
            spall=None,
            drawn=True,
            **LAW,
        ),
    ),
    "CompliantContact": lambda: (
        fem.CompliantContact,
        dict(
            contact=fem.SphereOnPlane(body(), ground(), radius=0.1, restitution=0.5),
            stiffness=1e6,
            model="flores",
            exponent=1.5,
            restitution=0.5,
            friction=0.3,
            max_indentation=0.02,
            slip_speed=1e-3,
            least_speed=1e-3,
            simple_tangent=False,
            name="c",
        ),
    ),
    "JournalClearance": lambda: (
        fem.JournalClearance,
        dict(
            journal=body(),
            bearing=ground(),
            radius=0.01,
            clearance=1e-4,
            length=0.1,
            shorter="journal",
            end_play=1e-3,
            compliant=None,
            **LAW,
        ),
    ),
    "SphericalClearance": lambda: (
        fem.SphericalClearance,
        dict(ball=body(), socket=ground(), radius=0.01, clearance=1e-4, compliant=None, **LAW),
    ),
    "PrismaticClearance": lambda: (
        fem.PrismaticClearance,
        dict(
            slider=body(),
            guide=ground(),
            size=[1, 1, 1],
            clearance=1e-3,
            planar="z",
            shorter="slider",
            compliant=None,
            **LAW,
        ),
    ),
    "ContactGroup": lambda: (fem.ContactGroup, dict(materials=None, skin=0.01, **LAW)),
    "ContactGroup, table": lambda: (fem.ContactGroup, dict(materials={("a", "b"): {"friction": 0.1}}, skin=0.01)),
    "ContactGroup.sphere": lambda: (fem.ContactGroup(name="g").sphere, dict(body=body(), radius=0.1, material="a")),
    "ContactGroup.obstacle": lambda: (
        fem.ContactGroup(name="g").obstacle,
        dict(kind=fem.SphereOnBox, body=ground(), material="a", size=[1, 1, 1]),
    ),
    "ContactGroup.exclude": lambda: (fem.ContactGroup(name="g").exclude, dict(first=body(), second=body())),
    "MaterialTable": lambda: (fem.MaterialTable, dict(laws={("a", "b"): {"friction": 0.1}})),
    "MaterialTable.law": lambda: (fem.MaterialTable({("a", "b"): {"friction": 0.1}}).law, dict(first="a", second="b")),
    # beams
    "Section": lambda: (
        fem.Section,
        dict(
            stiffness=np.ones(6),
            mass_per_length=1.0,
            inertia_per_length=[1, 1, 1],
            mass_center=[0, 0],
            outline=[[0, 0], [1, 0], [0, 1]],
            area=1.0,
            I2=1.0,
            I3=1.0,
            torsion_modulus=1.0,
            name="s",
        ),
    ),
    "Section, flexibility": lambda: (fem.Section, dict(flexibility=np.ones(6))),
    "Section.general": lambda: (
        fem.Section.general,
        dict(EA=1.0, GJ=1.0, EI2=1.0, EI3=1.0, GA2=1.0, GA3=1.0, rhoA=1.0, rhoJ=1.0, rhoI2=1.0, rhoI3=1.0, name="s"),
    ),
    "Section.circle": lambda: (fem.Section.circle, dict(radius=0.1, shear_coefficient=0.9, name="s", **STEEL)),
    "Section.tube": lambda: (
        fem.Section.tube,
        dict(radius_outer=0.1, radius_inner=0.05, shear_coefficient=0.9, name="s", **STEEL),
    ),
    "Section.rectangle": lambda: (
        fem.Section.rectangle,
        dict(width=0.1, height=0.05, shear_coefficient=0.9, torsion_constant=1e-6, name="s", **STEEL),
    ),
    "Section.ellipse": lambda: (
        fem.Section.ellipse,
        dict(radius_2=0.1, radius_3=0.05, shear_coefficient=0.9, name="s", **STEEL),
    ),
    "Section.shifted": lambda: (section().shifted, dict(d2=0.1, d3=0.1)),
    "Section.stress": lambda: (section().stress, dict(force=[1, 0, 0], moment=[1, 0, 0], points=[[0, 0]])),
    # bearings
    "BearingGeometry": lambda: (
        fem.BearingGeometry,
        dict(
            balls=9,
            ball_diameter=7.9e-3,
            pitch_diameter=39e-3,
            osculation_inner=0.52,
            osculation_outer=0.53,
            clearance=0.0,
            contact_angle=None,
            E=206e9,
            nu=0.3,
            density=7800.0,
            bore=0.025,
            outside_diameter=0.052,
            width=0.015,
            dynamic_rating=14e3,
            static_rating=7e3,
            name="g",
        ),
    ),
    "BearingGeometry.from_designation": lambda: (
        fem.BearingGeometry.from_designation,
        dict(designation="6205", clearance="C3", E=206e9),
    ),
    "BearingGeometry.gamma": lambda: (bearing().gamma, dict(angle=0.1)),
    "BearingGeometry.pass_frequencies": lambda: (
        bearing().pass_frequencies,
        dict(inner_speed=1.0, outer_speed=0.5, contact_angle=0.1),
    ),
    "smooth_start": lambda: (fem.smooth_start, dict(rate=1.0, duration=0.5, start=0.1, initial=0.2)),
    "trapezoidal": lambda: (
        fem.trapezoidal,
        dict(distance=1.0, speed=1.0, acceleration=2.0, deceleration=4.0, start=0.1, initial=0.2),
    ),
    "BearingHistory": lambda: (fem.BearingHistory, dict(result=run(), bearing="table")),
    "Spall": lambda: (fem.Spall, dict(race="inner", length=1e-3, depth=1e-5, angle=0.0)),
    "Spall.drop": lambda: (fem.Spall("inner", 1e-3).drop, dict(geometry=bearing())),
    "Spall.radius": lambda: (fem.Spall("inner", 1e-3).radius, dict(geometry=bearing())),
    "bearing_at": lambda: (
        fem.bearing_at,
        dict(
            geometry=bearing(),
            displacement=[1e-5, 0, 0],
            tilt=[0, 0],
            inner_speed=10.0,
            outer_speed=0.0,
            cage_angle=0.1,
            inertia=False,
            control="outer",
            spall=None,
        ),
    ),
    "bearing_equilibrium": lambda: (
        fem.bearing_equilibrium,
        dict(
            geometry=bearing(),
            force=[1000, 0, 0],
            moment=[0, 0],
            inner_speed=10.0,
            outer_speed=0.0,
            inertia=False,
            control="outer",
            cage_angle=0.1,
            fixed=("rx",),
            speed_step=10.0,
            spall=None,
        ),
    ),
    "basic_life": lambda: (fem.basic_life, dict(rating=14e3, load=1e3)),
    "equivalent_load": lambda: (fem.equivalent_load, dict(geometry=bearing(), radial=1e3, axial=1e2)),
    "mean_load": lambda: (fem.mean_load, dict(loads=[1, 2, 3], revolutions=[1, 2, 3], exponent=3.0)),
    "reference_life": lambda: (
        fem.reference_life,
        dict(
            geometry=bearing(),
            load_inner=np.ones((2, 9)),
            load_outer=np.ones((2, 9)),
            revolutions=[1, 2],
            rating=14e3,
            turning="inner",
            angles=np.ones((2, 9)),
            bins=36,
        ),
    ),
    "life_of_run": lambda: (
        fem.life_of_run,
        dict(
            result=run(),
            name="table",
            geometry=bearing(),
            speed=100.0,
            rating=14e3,
            turning="inner",
            start=0.0,
            cage_angle=None,
        ),
    ),
    "archard_wear": lambda: (
        fem.archard_wear,
        dict(
            impulse=[1, 2],
            sliding_speed=[1, 2],
            direction=[0.1, 0.2],
            coefficient=1e-5,
            hardness=2e9,
            radius=0.01,
            length=0.02,
            bins=3,
        ),
    ),
    "contact_wear": lambda: (
        fem.contact_wear,
        dict(
            result=run(),
            name="table",
            coefficient=1e-5,
            hardness=2e9,
            radius=0.01,
            length=0.02,
            surface="second",
            axis="z",
            bins=3,
        ),
    ),
    "QuasiStaticBearing": lambda: (
        fem.QuasiStaticBearing,
        dict(
            frame_P=ground(),
            frame_Q=A(),
            geometry=bearing(),
            inertia=False,
            control="outer",
            speeds=[1, 0],
            cage_angle=0.1,
            spall=fem.Spall("outer", 1e-3),
            damping=[1, 1, 1],
            springs=[1, 1, 1],
            friction=0.1,
            name="q",
        ),
    ),
    "QuasiStaticBearing.at": lambda: (
        fem.QuasiStaticBearing.at,
        dict(first=ground(), second=A(), position=[0, 0, 0], axis=[0, 0, 1], geometry=bearing()),
    ),
    "DynamicBearing": lambda: (
        fem.DynamicBearing,
        dict(
            outer=ground(),
            inner=A(),
            geometry=small_bearing(),
            friction=0.1,
            slip_speed=1e-3,
            cage=True,
            cage_mass=0.01,
            pocket_clearance=1e-4,
            pocket_stiffness=1e6,
            pocket_restitution=0.5,
            pocket_friction=0.1,
            spall=fem.Spall("outer", 1e-3),
            cage_angle=0.1,
            control="outer",
            name="d",
        ),
    ),
    "ball_bearing": lambda: (
        fem.ball_bearing,
        dict(outer=ground(), inner=A(), geometry=small_bearing(), level="dynamic", name="d"),
    ),
    "RigidBallBearing": lambda: (
        fem.RigidBallBearing,
        dict(
            outer=ground(),
            inner=A(),
            balls=8,
            radius_ball=0.01,
            radius_inner=0.03,
            radius_outer=0.0501,
            ball_mass=0.01,
            ball_inertia=1e-6,
            cage_stiffness=1e5,
            cage_damping=1.0,
            friction=0.1,
            restitution=0.5,
            angle=0.1,
            name="r",
        ),
    ),
    "RigidBallBearing.share": lambda: (rigid_bearing().share, dict(beta=0.1)),
    "RigidBallBearing.hertz": lambda: (
        rigid_bearing().hertz,
        dict(race="inner", radius_groove=0.011, E=210e9, nu=0.3),
    ),
    # solvers
    "DecoupledNSGA": lambda: (
        fem.DecoupledNSGA,
        {name: p.default for name, p in inspect.signature(fem.DecoupledNSGA).parameters.items()},
    ),
    "LobattoIIIAB": lambda: (
        fem.LobattoIIIAB,
        {name: p.default for name, p in inspect.signature(fem.LobattoIIIAB).parameters.items()},
    ),
    "MoreauJean": lambda: (
        fem.MoreauJean,
        {name: p.default for name, p in inspect.signature(fem.MoreauJean).parameters.items()},
    ),
    "ConeComplementarity": lambda: (
        fem.ConeComplementarity,
        {name: p.default for name, p in inspect.signature(fem.ConeComplementarity).parameters.items()},
    ),
    "NonsmoothGeneralizedAlphaGGL": lambda: (
        fem.NonsmoothGeneralizedAlphaGGL,
        {name: p.default for name, p in inspect.signature(fem.NonsmoothGeneralizedAlphaGGL).parameters.items()},
    ),
    "NonsmoothGeneralizedAlphaFriction": lambda: (
        fem.NonsmoothGeneralizedAlphaFriction,
        {name: p.default for name, p in inspect.signature(fem.NonsmoothGeneralizedAlphaFriction).parameters.items()},
    ),
    "GeneralizedAlpha": lambda: (
        fem.GeneralizedAlpha,
        {name: p.default for name, p in inspect.signature(fem.GeneralizedAlpha).parameters.items()},
    ),
    "DecoupledNSGA.run": lambda: (
        fem.DecoupledNSGA().run,
        dict(model=ball_on_table(), t_end=3e-3, h=1e-3, save=None, save_every=1, progress=False, observers=()),
    ),
    "StepControl": lambda: (fem.StepControl, dict(tolerance=1e-6, h_max=1e-2, h_min=1e-6)),
    "initial_accelerations": lambda: (
        fem.initial_accelerations,
        dict(
            zip(("system", "state"), (lambda s: (s, s.initial))(ball_on_table().compile())), epsilon=1e-6, matrices=None
        ),
    ),
    "modes": lambda: (
        fem.modes,
        dict(model=beam_model(), n=2, about=None, rotation=None, damping=False, shift=None),
    ),
    "static_equilibrium": lambda: (
        fem.static_equilibrium,
        dict(
            model=beam_model(),
            t=0.0,
            steps=1,
            adaptive=True,
            mixed=True,
            tolerance=1e-9,
            max_iterations=15,
            stability=True,
            rotation=None,
            save=None,
        ),
    ),
    # results
    "Check": lambda: (fem.Check, dict(name="c", reference=1.0, obtained=1.0, rel=0.1, abs=0.1)),
    "ForceLaw": lambda: (fem.ForceLaw, dict(force=lambda *a: 1.0, name="law")),
    "ForceObserver": lambda: (
        fem.ForceObserver,
        dict(
            contact="table",
            speed_tolerance=1e-3,
            stiffness=1e6,
            model="flores",
            exponent=1.5,
            restitution=0.5,
            effective_mass=1.0,
            filter="kinematic",
            on_impact=None,
        ),
    ),
    "recover_forces": lambda: (
        fem.recover_forces,
        dict(
            result=run(),
            contact="table",
            stiffness=1e6,
            model="flores",
            exponent=1.5,
            restitution=0.5,
            effective_mass=1.0,
            filter="kinematic",
            speed_tolerance=1e-3,
        ),
    ),
    "hysteresis_factor": lambda: (fem.hysteresis_factor, dict(model="flores", restitution=0.5)),
    "resolved_impact": lambda: (
        fem.resolved_impact,
        dict(mass=1.0, speed=1.0, stiffness=1e6, exponent=1.5, factor=0.1, samples=11),
    ),
    "load": lambda: (fem.load, dict(path="nothing.vtkhdf")),
    # contacts of Hertz, shapes
    "HertzContact": lambda: (
        fem.hertz.HertzContact,
        dict(radii_1=[0.1, 0.2], radii_2=np.inf, E=210e9, nu=0.3, angle=0.1, name="h"),
    ),
    "HertzContact.from_curvatures": lambda: (
        fem.hertz.HertzContact.from_curvatures,
        dict(curvatures_1=[10.0, 5.0], curvatures_2=0.0, E=210e9, nu=0.3, angle=0.1, name="h"),
    ),
    "HertzContact.stress": lambda: (
        fem.hertz.HertzContact(0.1, np.inf, E=210e9, nu=0.3).stress,
        dict(force=10.0, depth=1e-5, body=1),
    ),
    "LineContact": lambda: (
        fem.hertz.LineContact,
        dict(radius_1=0.1, radius_2=np.inf, length=0.1, E=210e9, nu=0.3, reference_depth=0.1, name="h"),
    ),
    "Sphere": lambda: (
        fem.shapes.Sphere,
        dict(radius=0.1, resolution=8, offset=[0, 0, 1], rotation=[0, 0, 0.1], color="brown"),
    ),
    "Box": lambda: (fem.shapes.Box, dict(size=[1, 1, 1], offset=[0, 0, 1])),
    "Cylinder": lambda: (fem.shapes.Cylinder, dict(p1=[0, 0, 0], p2=[0, 0, 1], radius=0.1, resolution=8)),
    "Patch": lambda: (fem.shapes.Patch, dict(size=[1, 1])),
    "Mesh": lambda: (
        fem.shapes.Mesh,
        dict(points=np.eye(3), faces=[[0, 1, 2]], edges=[[0, 1]], offset=[0, 0, 1], color=[1, 0, 0]),
    ),
}


def rigid_bearing():
    return CALLS["RigidBallBearing"]()[0](**CALLS["RigidBallBearing"]()[1])
