"""The scripts of ``examples`` as cases. References, tolerances and the reason for each are in the scripts.

A script whose ``main`` takes a ``solver`` runs with several time steppers; `OWN` is the one it chooses itself.
"""

import inspect
from typing import Any

from fem_mbs.cases.case import OWN, STATIC, WHOLE_STEPS, Case, Method, decoupled
from fem_mbs.cases.scripts import script, title
from fem_mbs.checks import Checks

ROUND = "round-off and tolerances of the iterations"
FIRST = "first order in h: two steps for times, errors measured for the rest"
SECOND = "second order in h: errors measured with the step of the script"
DIGITS = "printed digits"

MOREAU, PROJECTED = {"theta": 0.5}, {"theta": 0.5, "projection": True}
GGL = Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.8, "approach": "start"})
FRICTION = Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.8, "approach": "start"})
PUBLISHED = "DecoupledNSGA.published"
DEFAULT, DEFAULT_0 = (decoupled(rho_inf, rtol=1e-5)[1] for rho_inf in (0.8, 0.0))  # the tolerance of Sanchez2025
ALPHA, LOBATTO = Method("GeneralizedAlpha", {"rho_inf": 0.8}), Method("LobattoIIIAB", {"stages": 3})
MEAN = "Moreau-Jean's reactions are means over a step, half a step late: "
ONE_LAW = "Newton's law for all contacts of a step at once, where the source has one impact after the other: "
PENETRATES = "contacts are closed in velocities: "


def run_script(name: str, solver: Any) -> Checks:
    """What ``main`` of a script returns; no picture is drawn where the script leaves that open."""
    main = script(name).main
    options = {"picture": None} if "picture" in inspect.signature(main).parameters else {}
    if solver is not None:
        options["solver"] = solver
    return main(**options)


def example(
    name: str, source: str, tolerance: str, *others: Method,
    own: str = "DecoupledNSGA", note: str = "", fast: bool = True,
) -> Case:  # fmt: skip
    """Case of a script: its own stepper first, then the others."""
    run = lambda solver: run_script(name, solver)  # noqa: E731
    return Case(name, title(name), source, tolerance, run, (Method(own, OWN), *others), note, fast)


def moreau(options: dict, *missing: str, reason: str = "") -> Method:
    """Moreau-Jean with options, and the checks it does not pass."""
    return Method("MoreauJean", options, dict.fromkeys(missing, reason))


AFTER_BREAK = [f"ball {i}: v{x} after [m/s]" for i in (4, 5) for x in "xy"] + [
    "cue: vx after [m/s]",
    "ball 3: vx after [m/s]",
]
SMOOTH_THREE = [f"smooth: {i} afterwards [m/s]" for i in "123"]
ROUGH_THREE = [f"rough: {i} rolls at last [m/s]" for i in "123"]
LIFTS = "lift-offs, 8 beams"
RINGS = "the remaining vibrations of the rod decide on the small hops after the two flights: "
COUPLED = "one coupled problem, in which an impact and all that follows are found together: "
AT_ONCE = ONE_LAW + "−2/3, 4/3, 4/3 m/s for 0, 0, 2"
STRUCK = "smooth: impact [s]"

CASES = [
    # --- joints -------------------------------------------------------------------------------------------------------
    example(
        "double_pendulum", "minimal coordinates integrated to round-off", SECOND,
        moreau(PROJECTED, "error of the joint forces [N]", reason=MEAN + "0.21 N of 13 N at 5 ms"),
        GGL, FRICTION, ALPHA, LOBATTO,
    ),
    example(
        "driven_double_pendulum", "minimal coordinates integrated to round-off", SECOND,
        Method("MoreauJean", PROJECTED, {
            "angle of joint 2 [rad]": "another constant of second order: 9.7e-5 rad at 2.5 ms",
            "driving moment [N m]": MEAN + "0.14 N m of 39 N m at 2.5 ms",
        }),
        GGL, FRICTION, ALPHA, LOBATTO,
    ),
    example("door_closer", "equation of motion, from event to event", "first order in h at events"),
    example("slider_crank_friction", "consistent accelerations with friction, DOP853", SECOND),
    example("four_bar_motor", "energy of the geometry; energy balance", SECOND),
    example("quarter_car", "equations of motion with the same curves", SECOND),
    example(
        "heavy_top", "independent integration to round-off", SECOND,
        Method("MoreauJean", PROJECTED, {
            "slow: error of centre [m]": "another constant of second order: 3.7e-6 m",
            "slow: error of force [N]": MEAN + "0.62 N of 150 N at 0.5 ms",
            "fast: error of centre [m]": "another constant of second order: 3.3e-4 m",
            "fast: error of Ω [rad/s]": "another constant of second order: 3.5e-3 rad/s",
            "fast: error of force [N]": MEAN + "1.06 N of 760 N at 0.5 ms",
        }),
        GGL, FRICTION, ALPHA, LOBATTO,
    ),
    example(
        "roller_crank", "Sanchez2025, A.6.3", ROUND + "; counts as published",
        Method(DEFAULT_0.stepper, DEFAULT_0.options, {
            LIFTS: "3 for 2: a hop of a millisecond at 0.353 s, which the published scheme has with smaller steps too",
        }),
        Method(GGL.stepper, {"rho_inf": 0.0}, {LIFTS: RINGS + "3 for 2", "rigid: iterations above 3": COUPLED + "4"}),
        Method(
            FRICTION.stepper, {"rho_inf": 0.0}, {LIFTS: RINGS + "3 for 2", "rigid: iterations above 3": COUPLED + "4"}
        ),
        own=PUBLISHED,
        note="The initial pose is only in a figure; it is the one of ten tried that does what is published.",
    ),
    example("pick_and_place", "momentum of an arm that catches a mass; parabola", ROUND),
    # --- gears, belts and cables --------------------------------------------------------------------------------------
    example("belt_drive", "equations of two angles integrated to round-off; closed form of the steady run",
            "second order in h: errors measured with the step of the script, doubled"),
    # --- beams --------------------------------------------------------------------------------------------------------
    example(
        "falling_cantilever", "limit computed in tests/references/simo_vu_quoc_beams.py",
        "digits of the limit; 1e-6 of the energy for numerical damping", moreau(MOREAU),
        GGL, FRICTION, ALPHA,
    ),
    example("roll_up", "closed form", "Newton tolerance; numbers of iterations are values of this program", own=STATIC),
    example("bend_45", "Bathe and Bolourchi 1979; boundary-value solver", "fourth order of the mesh", own=STATIC,
            note="Tables of this benchmark disagree in the third digit, because the torsion constant differs."),
    example("snap_through", "closed form of shallow arches", "the rise of 3 % that shallow theory leaves out: 0.6 %",
            own=STATIC),
    example("frame_buckling", "Timoshenko and Gere 1961; closed form", "fourth order of the mesh", own=STATIC),
    example("elastic_bar", "Bruls2014, 10.3", "mesh and damping spread the wave; errors of the default scheme at 2 ms",
            moreau(PROJECTED), GGL, fast=False),
    example("twisted_beam", "MacNeal and Harder 1985", "what the mesh leaves, measured", own=STATIC),
    example("ring_hits_ground", "closed form of thin rings (Love); balance of momentum",
            "the mesh, measured with two; what waves lose"),
    example("gripper", "equilibrium of the ball that is held",
            "what swings are left in it"),
    example("snap_fit", "closed forms of beams (Timoshenko and Gere 1961)",
            "the mesh, measured with three; damping; the tooth, rigid in the closed forms"),
    example("rod_from_cad", "inertia of rigid bodies; a model of beams",
            "vibrations of the rod; the beams end at the centres of the eyes; with clearance what two steps differ by"),
    example("gear_with_thin_web", "statics of the whole mesh of solids; balance of momentum",
            "large strains; inertia of the web; what vibrations leave of means"),
    example("leaf_spring", "its mesh of solids, with the same contacts",
            "a reduced body is linear: 0.8 %, half as much at 0.3 m/s"),
    example("shell_panel_arm", "geometrically exact beams", "second order of both meshes"),
    # --- impacts ------------------------------------------------------------------------------------------------------
    example(
        "bouncing_ball", "Bruls2014, 10.1", FIRST,
        Method("MoreauJean", MOREAU, {
            "smallest gap [m]": PENETRATES + "−2.2e-3 m at 2 ms",
            "largest rise of energy [J]": "what has sunk in is lifted: 5.5e-6 J",
        }),
        moreau(PROJECTED), GGL, FRICTION, LOBATTO,
        Method("ConeComplementarity", {"relaxed": False}, {
            "second apex, gap [m]": "turns back above the table, 0.5 % too high at 2 ms",
        }),
    ),
    example(
        "rocking_block", "Bruls2014, 10.4; closed forms", FIRST,
        Method(DEFAULT.stepper, {"rho_inf": 0.8}),
        Method("MoreauJean", MOREAU, dict.fromkeys(
            ["height at rest [m]", "angle at rest [rad]", "force of a corner at rest [N]", "energy at rest [J]",
             "smallest gap [m]"], PENETRATES + "−1.2e-2 m at 10 ms, and rests 0.4 mm below",
        )),
        moreau(PROJECTED), GGL, FRICTION, LOBATTO,
        Method("ConeComplementarity", {"relaxed": False}, {
            "its impulse [N s]": "a landing takes two steps: 0.149 N s in the first, of 1.89 N s",
        }),
        own=PUBLISHED,
    ),
    example("bernoulli_balls", "Sanchez2025, B.5.5",
            "first order in h: the lines of centres turn in the step of the impact",
            DEFAULT, moreau(MOREAU), moreau(PROJECTED), GGL, FRICTION, LOBATTO, own=PUBLISHED),
    example(
        "three_balls", "Sanchez2025, B.5.4; scheme computed in tests/references/impact_sequence.py",
        "first order in h of repeated impacts, 2 to 3 %",
        DEFAULT,
        moreau(MOREAU, STRUCK, *SMOOTH_THREE, *ROUGH_THREE, reason=AT_ONCE),
        moreau(PROJECTED, STRUCK, reason="the contact is closed by its forecast, a step later: 0.278 s for 0.2767 s"),
        *[Method(method.stepper, method.options, dict.fromkeys([*SMOOTH_THREE, *ROUGH_THREE], AT_ONCE))
          for method in (GGL, FRICTION, LOBATTO)],
        own=PUBLISHED,
    ),
    example(
        "dominoes", "value of this program with half the step size; nothing published",
        "first order in h: 2.5 % measured",
        moreau(MOREAU, "smallest gap [m]", "the first by [rad]",
               reason=PENETRATES + "−8.2e-4 m at 1 ms, and the first ends 7 mrad below the floor"),
        moreau(PROJECTED), GGL, FRICTION, Method("ConeComplementarity", {"relaxed": True}),
        Method("ConeComplementarity", {"relaxed": False}, {
            "smallest gap [m]": "gaps are linear in a step: −4.0e-6 m at 1 ms",
        }),
        fast=False,
    ),
    example(
        "spheres_in_a_box", "physical statements; nothing published", "tolerance of the contact problems",
        moreau(MOREAU), moreau(PROJECTED),
        Method("ConeComplementarity", {"relaxed": True}), Method("ConeComplementarity", {"relaxed": False}),
        note="Not supported by steppers without contact groups.", fast=False,
    ),
    example(
        "mixed_pile", "physical statements; nothing published", "tolerance of the contact problems",
        Method("ConeComplementarity", {"relaxed": True}), Method("ConeComplementarity", {"relaxed": False}),
        note="Not supported by steppers without the Gauss-Seidel solver.", fast=False,
    ),
    example(
        "stones_and_nuts", "physical statements; nothing published", "tolerance of the contact problems",
        Method("ConeComplementarity", {"relaxed": True}), Method("ConeComplementarity", {"relaxed": False}),
        note="Not supported by steppers without the Gauss-Seidel solver.", fast=False,
    ),
    example(
        "hopper_conveyor", "Beverloo et al. 1961; Rose and Tanaka 1959",
        "constants of the law are means of many materials",
        note="Particles act on the mechanism; steppers without that assemble the group, which takes hours.",
        fast=False,
    ),
    example(
        "heap", "Zhou et al. 2001; Mueth et al. 1998; Løvoll et al. 1999",
        "spread of the sources, and of heaps of other seeds",
        note="Other steppers take minutes for each heap.", fast=False,
    ),
    example("compliant_impacts", "Sanchez2025, C.6.1 to C.6.3", "integration of the impact alone; three printed digits",
            fast=False),
    example("force_recovery", "Sanchez2025, C.6.1", "three printed digits; closed forms of the law",
            DEFAULT_0, moreau(PROJECTED), GGL, own=PUBLISHED,
            note="The height of the fall is not printed: 1 m gives the printed duration."),
    # --- rolling, sliding, spinning -----------------------------------------------------------------------------------
    example("rolling_ball", "Sanchez2025, A.6.1 and A.6.2; closed forms", FIRST, DEFAULT,
            moreau(MOREAU), moreau(PROJECTED),
            # nothing resists spinning in case III: what the tolerance leaves of it, 2e-6 rad/s with 1e-6, lasts
            GGL, Method(FRICTION.stepper, {"rho_inf": 0.8, "approach": "start", "rtol": 1e-8}), LOBATTO,
            Method("ConeComplementarity", {"relaxed": True}), own=PUBLISHED, fast=False),
    example("rolling_disc", "closed form; equations of motion without constraints, to round-off",
            "errors measured at 2.5 ms, tripled"),
    example(
        "ball_against_wall", "Sanchez2025, A.6.4", FIRST,
        decoupled(0.8, rtol=1e-5, **WHOLE_STEPS)[1],
        moreau(MOREAU, "smallest gap to the wall [m]", reason=PENETRATES + "−3.7e-4 m at 1.5 m/s and 1 ms"),
        moreau(PROJECTED), GGL, FRICTION, LOBATTO,
        own=PUBLISHED,
        note="The printed times fit a wall without friction, the printed spin one with friction: the wall is smooth.",
        fast=False,
    ),
    example("two_spheres", "Sanchez2025, B.5.1", SECOND, Method(DEFAULT.stepper, DEFAULT.options, {
                "tangential force, largest error [N]": "at the end of a step, not its mean: half a step later, 0.005 N",
            }), moreau(MOREAU), moreau(PROJECTED),
            Method(GGL.stepper, GGL.options, {
                f"{sphere} turns [rad/s]": "friction of first order in h: 1.3e-5 rad/s at 1 ms" for sphere in "AB"
            }),
            Method(FRICTION.stepper, FRICTION.options, {
                "tangential force, largest error [N]": "at the end of a step, not its mean: half a step later, 0.005 N",
            }),
            LOBATTO, own=PUBLISHED),
    example(
        "tilting_plate", "minimal coordinates integrated to round-off", "first order in h of closed contacts, measured",
        Method("MoreauJean", PROJECTED, {
            "driving moment [N m]": "mean over a step of 2.5 ms: 0.0096 N m",
        }),
        GGL, FRICTION, LOBATTO,
    ),
    example("order_in_contact", "exact solutions", "slopes: 0.15 for the steps of the study", fast=False),
    example("compare_steppers", "closed forms, minimal coordinates, runs of sixth order",
            "orders: 0.1 to 0.2 where errors are smooth, 0.6 where impacts lie anywhere in their steps",
            note="Runs all time steppers itself.", fast=False),
    example("tippe_top", "Capobianco2021, 10.6; Runge-Kutta reference",
            "second order up to the first impact, then first order: measured",
            Method(FRICTION.stepper, {"rho_inf": 0.5}),
            note="Numbers of the article's scheme at 1 ms have an error of discretisation and are not the reference. "
            "Moreau-Jean without projection needs steps of 0.1 ms here: with 1 ms it sinks in by 2.2 mm.", fast=False),
    # --- billiards ----------------------------------------------------------------------------------------------------
    example(
        "billiard_break", "Sanchez2025, B.5.6; scheme computed in tests/references/impact_sequence.py",
        "first order in h: the cue ball moves by 1 cm in the step of the break",
        Method(DEFAULT.stepper, {"rho_inf": 0.8, **WHOLE_STEPS}, {
            "cue: vx after [m/s]": "restitution of the slower of two normal velocities: −1.356 for −1.427 m/s, order h",
        }),
        moreau(PROJECTED, *AFTER_BREAK, reason=ONE_LAW + "cue ball −4.07 m/s for −1.43 m/s"),
        *[Method(one.stepper, one.options, dict.fromkeys(AFTER_BREAK, f"{ONE_LAW}cue ball −{v} m/s for −1.43 m/s"))
          for one, v in ((GGL, 4.02), (FRICTION, 4.02), (LOBATTO, 4.03))],
        own=PUBLISHED, note="The layout is only in a figure.", fast=False,
    ),
    example(
        "thirty_degree_rule", "Sanchez2025, B.5.2", "first order in h: 0.2 mm of path in the step of the impact",
        DEFAULT, moreau(PROJECTED),
        moreau(MOREAU, "0.125 ball: deflection [deg]", "0.250 ball: deflection [deg]", "0.750 ball: deflection [deg]",
               reason=PENETRATES + "the balls overlap at the impact, 0.07° off at a cut of 1/8"),
        GGL, FRICTION, LOBATTO, own=PUBLISHED, fast=False,
    ),
    example("spinning_cue_ball", "Sanchez2025, B.5.3, (B.50)", "first order in h", DEFAULT,
            moreau(MOREAU), moreau(PROJECTED), GGL, FRICTION, LOBATTO,
            note="Without cloth: on it the second ball cannot be pushed down, and the angle is 0.1° off.",
            own=PUBLISHED, fast=False),
    # --- impacts in mechanisms ----------------------------------------------------------------------------------------
    example(
        "slider_hits_block", "Sanchez2025, C.6.3", "three printed digits, 2 % for a distance that is not printed",
        DEFAULT_0, moreau(MOREAU), moreau(PROJECTED), GGL, FRICTION, LOBATTO, own=PUBLISHED,
        note="Not printed: that the crank is free, the distance of the centres at the touch.",
    ),
    example(
        "guided_hopper", "Capobianco2021, 10.5; momentum balances",
        "a rigid leg in flight; what restarts of the memory leave of momentum, measured",
        Method(PUBLISHED, {"rho_inf": 0.0}), moreau(PROJECTED),
        Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.0}),
        Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.0}),
        note="The side of the knee and the reference of the angle of the thigh are not printed.", fast=False,
    ),
    example(
        "clearance_crank", "Sanchez2025, C.6.4", "scatter of chaotic runs with steps near 1 µs, doubled",
        note="Radius of the pin and stiffness are not printed. The largest force with 0.05 mm is 17 % below the "
        "published one.", fast=False,
    ),
    example(
        "crank_with_bearing", "Sanchez2025, 4.5", "scatter of chaotic runs; momentum balances",
        note="0.14 s of the mechanism; the published 0.6 s are the cases sanchez2025-bearing.", fast=False,
    ),
    example("worn_crank", "Archard's law with the forces of an ideal joint; fewer blocks of wear",
            "what a pin with clearance adds to an ideal joint; rates of runs scatter by 1 %", fast=False),
    # --- bearings, contact stresses -----------------------------------------------------------------------------------
    example("hertz_contact", "Sanchez2025, chapter 4; coefficients read on a chart",
            "half a unit of the last digit as read on the chart", own=STATIC),
    example("bearing_load", "Stribeck, Sjövall, Jones-Harris, MASTA", DIGITS + "; balls that are few: 1 %"),
    example("rigid_ball_bearing", "Sanchez2025, table 4.1", "slip between impacts, rounding of the printed chart",
            Method(PUBLISHED, {"rho_inf": 0.0, "rtol": 1e-5}),
            Method(GGL.stepper, {"rho_inf": 0.0, "approach": "start"}),
            Method("MoreauJean", {"theta": 1.0, "projection": True}),
            note="E is not printed; the one used reproduces the printed stresses. With its default approach=\"slower\" "
            "the coupled scheme gives energy here, 2.9 J in 40 ms, and says so.", fast=False),
    example("deep_groove_bearing", "kinematics of the bearing; ISO", "resolution of the spectra", fast=False),
    example("bearing_defect", "ball-pass frequencies", "a tenth of the resolution of the spectra", fast=False),
    example("shaft_in_bearings", "statics, ISO 281", "what statics leaves out: moments of the bearings, 2 to 3 %",
            Method(ALPHA.stepper, {"rho_inf": 0.7}), Method(GGL.stepper, {"rho_inf": 0.7}), moreau(PROJECTED),
            fast=False),
    example("sampled_pendulum", "equation of motion from event to event, SciPy", SECOND),
    example("geared_servo", "closed forms and equations of motion, see the script", SECOND),
    example("cable_payload", "equation of motion of the load, SciPy", SECOND),
    example("rotor_in_bearings", "its own steady response", "the run-up is not infinitely slow: 4 % in speed",
            fast=False),
]  # fmt: skip
