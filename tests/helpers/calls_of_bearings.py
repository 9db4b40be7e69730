"""Calls of sections of beams and of bearings; `public_calls` says what a call is."""

import numpy as np
from call_models import STEEL, A, bearing, ground, run, section, small_bearing

import fem_mbs as fem

BEARINGS = {
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
    "ramp": lambda: (fem.ramp, dict(height=2.0, duration=0.5, start=0.1, initial=0.2)),
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
            start=0.0,
        ),
    ),
    "WornSurface": lambda: (
        fem.WornSurface,
        dict(contact="table", coefficient=1e-5, hardness=2e9, area=1e-4, name="w"),
    ),
    "WornSurface.cylinder": lambda: (
        fem.WornSurface.cylinder,
        dict(
            contact=["table"],
            coefficient=1e-5,
            hardness=2e9,
            radius=0.01,
            length=0.02,
            surface="second",
            axis="z",
            uneven="mean",
            name="w",
        ),
    ),
    "WornSurface.depth": lambda: (worn_surface().depth, dict(result=sliding(), start=0.0)),
    "grow_wear": lambda: (
        fem.grow_wear,
        dict(
            cycle=lambda depth: sliding(),
            surfaces={"track": worn_surface()},
            cycles=100.0,
            largest_depth=1.0,
            cycles_per_run=1.0,
            start=0.0,
            order=2,
        ),
    ),
    # fatigue
    "rainflow": lambda: (fem.rainflow, dict(history=[0.0, 2.0, 1.0, 3.0], repeats=False)),
    "Cycles": lambda: (fem.Cycles, dict(range=np.ones(2), mean=np.zeros(2), number=np.ones(2))),
    "SNCurve": lambda: (
        fem.SNCurve,
        dict(amplitude=2e8, cycles=1e6, exponent=8.0, limit=1e8, exponent_below=15.0, ultimate=7e8, name="s"),
    ),
    "SNCurve.life": lambda: (steel().life, dict(amplitude=[1e8, 2e8], mean=1e8)),
    "SNCurve.equivalent_amplitude": lambda: (steel().equivalent_amplitude, dict(amplitude=1e8, mean=[0.0, 1e8])),
    "damage": lambda: (fem.damage, dict(history=[[0.0], [2e8], [0.0]], curve=steel(), repeats=True)),
    "raceway_damage": lambda: (
        fem.raceway_damage,
        dict(
            geometry=bearing(),
            loads=np.ones((3, 9)),
            angles=passing(),
            race="outer",
            ring_angle=0.0,
            rating=14e3,
            points=10,
        ),
    ),
    "raceway_passages": lambda: (
        fem.raceway_passages,
        dict(geometry=bearing(), loads=np.ones((3, 9)), angles=passing(), at=0.1, race="inner", ring_angle=[0, 0, 0]),
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
            groove_inner=0.0104,
            groove_outer=0.0106,
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
}


def passing():
    """Angles of nine balls that turn."""
    return np.arange(3)[:, None] + 2 * np.pi * np.arange(9) / 9


def steel():
    return fem.SNCurve(2e8, 1e6, 8.0, ultimate=7e8)


def worn_surface():
    return fem.WornSurface("track", coefficient=1e-5, hardness=2e9, area=1e-4)


_slides = []


def sliding():
    """Results of a ball that slides on a table."""
    if not _slides:
        model = fem.Model("m", gravity=[0, 0, -9.81])
        ball = fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], velocity=[1, 0, 0], name="ball")
        model.add(fem.SphereOnPlane(model.add(ball), model.ground, radius=0.1, name="track"))
        _slides.append(fem.DecoupledNSGA().run(model, 0.02, 1e-3))
    return _slides[0]


def rigid_bearing():
    return BEARINGS["RigidBallBearing"]()[0](**BEARINGS["RigidBallBearing"]()[1])
