"""Critical loads of slender beams: columns, strips, shafts under torque, the right-angle frame, Beck's column.

Critical loads are where the lowest eigenvalue of the tangent stiffness goes through zero, found by a root finder over
equilibria; flutter is found from the modes, and in time from the growth of a small disturbance. References are closed
forms for beams without shear and stretch; lengths are 1 m and bending stiffnesses 1 N m² where nothing else is said.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import OWN, STATIC, Case, Method
from fem_mbs.cases.classical import MOREAU, SMOOTH

THIN = fem.Section.general(EA=1e8, GA2=1e8, GA3=1e8, GJ=1, EI2=1, EI3=1)
PLANAR = ("z", "rx", "ry")


def equilibrium(model: Any, **options: Any) -> Any:
    """The equilibrium; that it may be unstable is what these cases are about, and no warning is issued."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fem.static_equilibrium(model, **options)


def critical(build: Callable[[float], fem.Model], low: float, high: float) -> float:
    """Load between two others at which the lowest eigenvalue of the stiffness is zero."""
    from scipy.optimize import brentq

    return brentq(lambda load: equilibrium(build(load)).lowest_eigenvalue, low, high, rtol=1e-8)


# --- columns and strips -----------------------------------------------------------------------------------------------

# ends: what is fixed at the first and at the second, critical load P L²/EI
COLUMNS = {
    "clamped, free": (("x", "y", "rz"), (), np.pi**2 / 4),
    "hinged, hinged": (("x", "y"), ("y",), np.pi**2),
    "clamped, hinged": (("x", "y", "rz"), ("y",), 20.190729),  # tan k = k
    "clamped, clamped": (("x", "y", "rz"), ("y", "rz"), 4 * np.pi**2),
}


def columns(_: Any) -> fem.Checks:
    """Euler's columns in a plane, 16 intervals."""
    checks = []
    for name, (first, second, exact) in COLUMNS.items():

        def column(P, first=first, second=second):
            ends = [fem.Node6([x, 0, 0], fixed=(*PLANAR, *held)) for x, held in ((0, first), (1, second))]
            model = fem.Model("column")
            model.add(fem.beam_line(*ends, 16, THIN, fixed=PLANAR), fem.PointForce(ends[1], [-P, 0, 0]))
            return model

        found = critical(column, 0.9 * exact, 1.1 * exact)
        checks.append(fem.Check(f"{name}: P L²/EI", reference=exact, obtained=found, rel=2e-4))
    return fem.Checks(*checks)


def strip(_: Any) -> fem.Checks:
    """A cantilever strip, 1e6 times as stiff in its plane, tips over under a force at its end, 16 intervals."""
    checks = []
    for torsion in (1.0, 0.1):
        section = fem.Section.general(EA=1e9, GA2=1e9, GA3=1e9, GJ=torsion, EI2=1, EI3=1e6)

        def cantilever(P, section=section):
            model, tip = fem.Model("strip"), fem.Node6([1, 0, 0], name="tip")
            model.add(fem.beam_line(fem.Node6(fixed=True), tip, 16, section), fem.PointForce(tip, [0, -P, 0]))
            return model

        exact = 4.0126 * np.sqrt(torsion)
        found = critical(cantilever, 0.9 * exact, 1.1 * exact)
        checks.append(fem.Check(f"GJ = {torsion:g} EI: P L²/EI", reference=exact, obtained=found, rel=5e-5))
    return fem.Checks(*checks)


# --- shafts under torque ----------------------------------------------------------------------------------------------


def clamped_shaft(T: float, length: float = 1.0, section: fem.Section = THIN) -> fem.Model:
    """Clamped ends, of which one turns about the axis with a torque T [N m] and moves along it."""
    model, end = fem.Model("shaft"), fem.Node6([length, 0, 0], fixed=("y", "z", "ry", "rz"), name="end")
    model.add(fem.beam_line(fem.Node6(fixed=True), end, 16, section), fem.PointMoment(end, [T, 0, 0]))
    return model


def hinged_shaft(T: float) -> fem.Model:
    """Ends that turn freely, with torques ±T about the axis; the middle is kept from turning about it."""
    left, right = fem.Node6(fixed=("x", "y", "z")), fem.Node6([1, 0, 0], fixed=("y", "z"))
    middle = fem.Node6([0.5, 0, 0], fixed=("rx",))
    model = fem.Model("shaft")
    model.add(fem.beam_line(left, middle, 8, THIN), fem.beam_line(middle, right, 8, THIN))
    model.add(fem.PointMoment(left, [-T, 0, 0]), fem.PointMoment(right, [T, 0, 0]))
    return model


def shafts(_: Any) -> fem.Checks:
    """Greenhill's shafts, and the cable of Nour-Omid and Rankin; 16 intervals."""
    cable = fem.Section.general(EA=71240.0 * 10, GJ=71240.0 / 2.62 * 2.16, EI2=71240.0 * 0.0833, EI3=71240.0 * 0.0833)
    found = critical(lambda T: clamped_shaft(T, 240.0, cable), 200.0, 240.0)
    return fem.Checks(
        fem.Check("clamped, T L/EI", reference=8.9868, obtained=critical(clamped_shaft, 8.0, 10.0), rel=2e-4),
        fem.Check("hinged, T L/EI", reference=2 * np.pi, obtained=critical(hinged_shaft, 5.5, 7.0), rel=2e-4),
        fem.Check("cable, T [N mm]", reference=223.0, obtained=found, abs=1.0),
    )


# --- right-angle frame under end moments: N, mm -----------------------------------------------------------------------

LEG, WIDTH, HEIGHT, YOUNG, POISSON = 240.0, 0.6, 30.0, 71240.0, 0.31
FRAME = fem.Section.rectangle(HEIGHT, WIDTH, E=YOUNG, nu=POISSON, torsion_constant=HEIGHT * WIDTH**3 / 3,
                              shear_coefficient=5 / 6)  # fmt: skip
BENDING, TORSION = YOUNG * HEIGHT * WIDTH**3 / 12, YOUNG / (2 + 2 * POISSON) * HEIGHT * WIDTH**3 / 3  # N mm²
MOMENT = np.pi / LEG * np.sqrt(BENDING * TORSION)  # 622.2 N mm


def half_frame(n: int = 8) -> tuple[fem.Model, fem.Node6]:
    """One leg, from a support that slides along x and turns about z to the corner, in the plane of symmetry."""
    end = fem.Node6(fixed=("y", "z", "rx", "ry"), name="end")
    corner = fem.Node6([LEG / np.sqrt(2), LEG / np.sqrt(2), 0], fixed=("x", "ry", "rz"), name="corner")
    model = fem.Model("right-angle frame")
    model.add(fem.beam_line(end, corner, n, FRAME, orientation=[-1, 1, 0]))
    return model, end


def frame(_: Any) -> fem.Checks:
    """Critical moments of both signs."""

    def loaded(M):
        model, end = half_frame()
        model.add(fem.PointMoment(end, [0, 0, M]))
        return model

    return fem.Checks(
        fem.Check("M [N mm]", reference=MOMENT, obtained=critical(loaded, 500, 800), rel=5e-4),
        fem.Check("M of the other sign [N mm]", reference=-MOMENT, obtained=critical(loaded, -800, -500), rel=5e-4),
    )


def driven_frame(n: int, push: float = 0.0) -> fem.Model:
    """The frame with the angle 2π t² of its support prescribed, and a force [N] on the corner across its plane."""
    model, end = half_frame(n)
    model.add(fem.RevoluteDriver.at(model.ground, end, [0, 0, 0], [0, 0, 1], angle=lambda t: 2 * np.pi * t**2,
                                    name="drive"))  # fmt: skip
    if push:
        model.add(fem.PointForce(model["corner"], [0, 0, push]))
    return model


def frame_path(n: int, steps: int) -> Any:
    """Equilibria from a turn of the support by 1° to one by 359.86°; a force is there at the first only."""
    system = driven_frame(n).compile()
    pushed = equilibrium(driven_frame(n, push=1.0), t=np.sqrt(1 / 360), steps=40)
    system.initial = pushed.state
    return equilibrium(system, t=np.sqrt(359.86 / 360), steps=steps).results


def frame_turns(_: Any) -> fem.Checks:
    """The way of the buckled frame through a full turn: its support turns with it, the moment is what that takes."""
    paths = {(n, steps): frame_path(n, steps) for n, steps in ((8, 60), (8, 120), (16, 60))}
    path = paths[8, 60]
    moment, place = path["drive"].moment[1:], path["corner"].position[1:]
    turned = np.unwrap(np.arctan2(place[:, 2], place[:, 1]))
    # near the plane M + M_cr grows with the square of what the corner is out of it
    (z1, M1), (z2, M2) = ((place[k, 2], moment[k]) for k in (-1, -2))
    back = (M1 * z2**2 - M2 * z1**2) / (z2**2 - z1**2)
    finer = [paths[key]["drive"].moment for key in ((8, 120), (16, 60))]
    return fem.Checks(
        fem.Check("turn of the corner at its end [deg]", reference=360, obtained=np.degrees(turned[-1]), abs=3.0),
        fem.Check("moment where the plane is reached again [N mm]", reference=-MOMENT, obtained=back, rel=5e-3),
        fem.Check("moments of 60 and 120 steps [N mm]", reference=0.0, abs=1e-5,
                  obtained=np.abs(finer[0][2::2] - moment).max()),
        fem.Check("moments on 8 and 16 intervals [N mm]", reference=0.0, abs=0.1,
                  obtained=np.abs(finer[1][1:] - moment).max()),
    )  # fmt: skip


# --- a ring that is twisted into three --------------------------------------------------------------------------------

RADIUS, RING_YOUNG = 20.0, 2.1e7
RING = fem.Section.rectangle(1 / 3, 1.0, E=RING_YOUNG, nu=0, shear_coefficient=5 / 6)  # thin along the radius


def half_circle(side: float) -> Callable:
    """Positions and tangents from (−R, 0, 0) to (R, 0, 0), over the side of positive or negative y."""

    def curve(s):
        turn = np.pi * (1 - s)
        return RADIUS * np.array([np.cos(turn), side * np.sin(turn), 0]), [np.sin(turn), -side * np.cos(turn), 0]

    return curve


def ring(n: int) -> fem.Model:
    """The ring, held at one point; the opposite one is turned by 4π t² about the diameter, along which it may move."""
    held = fem.Node6([-RADIUS, 0, 0], fixed=True, name="held")
    turned = fem.Node6([RADIUS, 0, 0], fixed=("y", "z", "ry", "rz"), name="turned")
    model = fem.Model("ring")
    for side, name in ((1.0, "left"), (-1.0, "right")):
        model.add(fem.beam_curve(half_circle(side), n, RING, start=held, end=turned, orientation=[-1, 0, 0], name=name))
    model.add(fem.RevoluteDriver.at(model.ground, turned, turned.position, [1, 0, 0],
                                    angle=lambda t: 4 * np.pi * t**2, name="twist"))  # fmt: skip
    return model


def ring_twist(_: Any) -> fem.Checks:
    """Two full turns in 72 steps, 16 and 24 intervals on each half."""
    results = {n: equilibrium(ring(n), t=1.0, steps=72, stability=False).results for n in (16, 24)}
    result = results[16]
    moments, finer = (results[n]["twist"].moment for n in (16, 24))
    peak, middle = np.abs(moments).max(), result.at(0.5)
    nodes = [f"{side} node {k}" for side in ("left", "right") for k in range(1, 16)]
    folded = np.array([result[name].position[middle] for name in nodes])
    centre = 0.5 * (result["turned"].position[middle] - [RADIUS, 0, 0])
    radii = np.linalg.norm(folded - centre, axis=1)
    moved = max(np.abs(result[name].position[-1] - result[name].position[0]).max() for name in nodes)
    return fem.Checks(
        fem.Check("one turn: smallest radius [m]", reference=RADIUS / 3, obtained=radii.min(), rel=1e-6),
        fem.Check("one turn: largest radius [m]", reference=RADIUS / 3, obtained=radii.max(), rel=1e-6),
        fem.Check("one turn: out of the plane [m]", reference=0.0, obtained=np.abs(folded[:, 2]).max(), abs=1e-6),
        fem.Check("one turn: moment over the largest [-]", reference=0.0, obtained=moments[middle] / peak, abs=1e-6),
        fem.Check("one turn: bending moment [N m]", reference=2 * RING_YOUNG / 324 / RADIUS,
                  obtained=np.linalg.norm(result["left 4"].moment_A[middle]), rel=1e-6),
        fem.Check("two turns: moment over the largest [-]", reference=0.0, obtained=moments[-1] / peak, abs=1e-6),
        fem.Check("two turns: largest distance from the start [m]", reference=0.0, obtained=moved, abs=1e-6),
        fem.Check("largest moment, finer mesh [N m]", reference=np.abs(finer).max(), obtained=peak, rel=2e-3),
    )  # fmt: skip


# --- Beck's column: a force that follows its end ----------------------------------------------------------------------

# with EA = 1e6 and this rotary inertia the highest frequency is 1e4 times the first
FOLLOWED = fem.Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=1, EI2=1, EI3=1, rhoA=1, rhoI2=1e-6, rhoI3=1e-6)
PAIRS = np.triu_indices(4, 1)


def beck_column(P: float) -> fem.Model:
    """Cantilever of 8 intervals with a force P [N] along the axis of its end, pushed aside from 0.1 to 0.2 s."""
    root, tip = fem.Node6(fixed=True), fem.Node6([1, 0, 0], fixed=PLANAR, name="tip")
    model = fem.Model("Beck's column", gravity=[0, 0, 0])
    model.add(fem.PointForce(tip, lambda t: np.array([0, 1e-6 if 0.1 < t < 0.2 else 0.0, 0])))
    model.add(fem.beam_line(root, tip, 8, FOLLOWED, fixed=PLANAR), fem.PointForce(tip, [-P, 0, 0], follower=True))
    return model


def beck_exponent(P: float, start: complex) -> complex:
    """Exponent s [1/s] nearest to another: w⁗ + P w″ + s² w = 0, w = w′ = 0 at the clamp, w″ = w‴ = 0 at the end."""
    from scipy.optimize import root

    def determinant(x):
        k = np.roots([1, 0, P, 0, complex(*x) ** 2])
        rows = [k**0, k, k**2 * np.exp(k), k**3 * np.exp(k)]
        value = np.linalg.det(np.array(rows)) / np.prod(np.subtract.outer(k, k)[PAIRS])  # whatever order k comes in
        return value.real, value.imag

    return complex(*root(determinant, [start.real, start.imag], tol=1e-12).x)


def beck(_: Any) -> fem.Checks:
    """Load of flutter, from the modes about the straight column."""

    def grows(P):
        model = beck_column(P)
        return not fem.modes(model, 2, about=equilibrium(model)).stable

    low, high = 19.0, 21.0
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return fem.Checks(fem.Check("flutter, P L²/EI", reference=20.0509, obtained=low, rel=1e-3))


def exponent(x: np.ndarray, interval: float) -> complex:
    """The s [1/s] of equidistant values that go as a cos(Im s t + b) exp(Re s t): x_k+2 = c x_k+1 − d x_k."""
    size = np.abs(x[2:])
    c = np.linalg.lstsq(np.stack([x[1:-1], x[:-2]], 1) / size[:, None], x[2:] / size, rcond=None)[0]
    return complex(np.log(np.roots([1, -c[0], -c[1]])[0]) / interval)


def beck_in_time(stepper: Any) -> fem.Checks:
    """What a small push makes of the straight column, 10 % below and above its load."""
    sides, h, exact = {}, 5e-3, beck_exponent(22.0, 3 + 11j)
    for P in (18.0, 22.0):
        system = beck_column(P).compile()
        system.initial = equilibrium(system, stability=False).state  # compressed: no axial waves
        result = stepper.run(system, 4.0, h)
        sides[P] = result["tip"].position[:, 1]
    below, late = np.abs(sides[18.0]), result.t > 2.0
    found = exponent(sides[22.0][late][::4], 4 * h)
    return fem.Checks(
        fem.Check("below: amplitude of the last second over that of the first [-]", reference=1.0,
                  obtained=below[result.t > 3].max() / below[result.t < 1].max(), rel=0.1),
        fem.Check("above: growth [1/s]", reference=exact.real, obtained=found.real, rel=0.02),
        fem.Check("above: frequency [rad/s]", reference=abs(exact.imag), obtained=abs(found.imag), rel=5e-3),
    )  # fmt: skip


STATICS = (Method(STATIC, OWN),)
CASES = [
    Case("euler-columns", "columns with four kinds of ends", "closed forms", "fourth order of the mesh",
         columns, STATICS),
    Case("lateral-buckling-strip", "cantilever strip that tips over", "Timoshenko and Gere 1961; closed form",
         "five printed digits; stiffness in the plane not infinite", strip, STATICS),
    Case("shafts-under-torque", "shafts that torque makes buckle", "Greenhill; Nour-Omid and Rankin 1991",
         "fourth order of the mesh; range of published values for the cable", shafts, STATICS,
         note="The axis of the torque is fixed in space. 222.2 N mm of the cable are 8.987 EI/L."),
    Case("right-angle-frame", "right-angle frame under end moments", "Argyris et al. 1979; closed form",
         "shear and the other bending stiffness, left out in the closed form", frame, STATICS),
    Case("right-angle-frame-full-turn", "the same frame, through a full turn",
         "Argyris et al. 1979; Simo and Vu-Quoc 1986",
         "the last 0.013° of the support are 2.4° of the corner; fourth order of the mesh; iterations", frame_turns,
         STATICS, note="A force on the corner chooses the side and is then taken away; the turn of the support is "
         "prescribed, the moment is its reaction. Published are M_cr and the return to −M_cr; the part between is "
         "self-convergence."),
    Case("ring-twist", "ring that is twisted into three and back", "Goto et al. 1992; closed form of the folded ring",
         "iterations: helices are exact; fourth order of the mesh on the way", ring_twist, STATICS,
         note="Thin along the radius: 1/3 by 1. The largest moment is compared with a finer mesh only."),
    Case("beck-column", "column under a force that follows its end", "Beck 1952; closed form",
         "fourth order of the mesh", beck, STATICS),
    Case("beck-column-in-time", "Beck's column, pushed aside below and above its load",
         "Beck 1952; roots of its characteristic equation", "beat of two frequencies; second order in h",
         beck_in_time, (*SMOOTH, MOREAU), fast=False),
]  # fmt: skip
