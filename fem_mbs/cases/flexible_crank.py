"""Slider-crank with a flexible connecting rod (Simeon), compared with a model of two sines for its bending.

The crank turns with Ω; e, n are unit vectors along and across the line from its pin B to the slider, φ2 its angle. What
bends, v = Σ q_k sin(kπx/L), k = 1, 2, obeys

    ρA L/2 (q_k¨ − φ2˙² q_k) + EI (kπ/L)⁴ (L/2) q_k + (kπ/L)² (L/2) N_k q_k = −ρA (n·B¨ c_k + φ2¨ s_k)             (1)
    c_k = (1 − cos kπ) L/(kπ)     s_k = −cos kπ L²/(kπ)     N_k = (2/L) ∫ N(x) cos²(kπx/L) dx

where N is the axial force that moves slider and rod. The source has it without N_k, and with two modes of stretching.

Source: Simeon, Math. Modelling of Systems 2 (1996), 1-18; DAE test set "crank". (1) derived here.
"""

import functools
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.cases.case import Case
from fem_mbs.cases.classical import MOREAU, SMOOTH, Z

CRANK, ROD = 0.15, 0.30  # m
CRANK_MASS, SLIDER_MASS, CRANK_INERTIA = 0.36, 0.075552, 0.002727  # kg, kg, kg m² about the shaft
E, DENSITY, SIDE, SPEED = 2e11, 7870.0, 0.008, 150.0  # Pa, kg/m³, m, rad/s
LINE, EI = DENSITY * SIDE**2, E * SIDE**4 / 12  # kg/m, N m²
T_END, PARTS = 0.1, 8  # s, beams


def pose(t: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    """φ1, φ2, its rate and acceleration; place and acceleration of the slider: of a rigid rod."""
    a, r = SPEED * t, CRANK / ROD
    s, c = np.sin(a), np.cos(a)
    cos = np.sqrt(1 - (r * s) ** 2)
    rate = -r * SPEED * c / cos
    acceleration = (r * SPEED**2 * s - r * s * rate**2) / cos
    phi = -np.arcsin(r * s)
    place = CRANK * c + ROD * cos
    pushed = -CRANK * SPEED**2 * c - ROD * (cos * rate**2 - r * s * acceleration)
    return a, phi, rate, acceleration, place, pushed


def axial_force(t: float, x: Any) -> Any:
    """Tension [N] of the rigid rod at x (n,) L: it accelerates the slider and the rod beyond x, less the guide
    force.
    """
    a, phi, turn, turning, _, pushed = pose(t)
    along, across = -CRANK * SPEED**2 * np.cos(a - phi), -CRANK * SPEED**2 * np.sin(a - phi)  # of the pin
    rod = LINE * ROD * (across / 2 + turning * ROD / 3)
    guide = (rod - SLIDER_MASS * pushed * np.sin(phi)) / np.cos(phi)  # moments about the pin
    beyond = LINE * ROD * ((1 - x) * along - 0.5 * (1 - x**2) * ROD * turn**2)
    return guide * np.sin(phi) - SLIDER_MASS * pushed * np.cos(phi) - beyond


@functools.cache
def modal_bending() -> Any:
    """q1, q2 and their rates (4, k) as functions of time, from rest."""
    k = np.array([1, 2])
    wave = k * np.pi / ROD
    c, s = (1 - np.cos(k * np.pi)) / wave, -np.cos(k * np.pi) * ROD / wave
    x = (np.arange(100) + 0.5) / 100  # midpoints, for N_k
    shape = np.cos(np.outer(k * np.pi, x)) ** 2

    def rate(t, y):
        a, phi, turn, turning, *_ = pose(t)
        across = -CRANK * SPEED**2 * np.sin(a - phi)
        stiffness = EI * wave**4 + wave**2 * 2 * (shape * axial_force(t, x)).mean(axis=1)
        bends = turn**2 * y[:2] - stiffness / LINE * y[:2] - (across * c + turning * s) * 2 / ROD
        return [*y[2:], *bends]

    return solve_ivp(rate, (0, T_END), np.zeros(4), "DOP853", rtol=1e-8, atol=1e-12, dense_output=True).sol


def model() -> fem.Model:
    """Crank, rod and slider in line on the x axis, the crank driven; no gravity, no damping."""
    mechanism = fem.Model("flexible slider-crank")
    turn = -SPEED * CRANK / ROD
    own = CRANK_INERTIA - CRANK_MASS * CRANK**2 / 4
    crank = fem.RigidBody(CRANK_MASS, own, position=[CRANK / 2, 0, 0], velocity=[0, SPEED * CRANK / 2, 0],
                          angular_velocity=SPEED * Z, name="crank")  # fmt: skip
    slider = fem.RigidBody(SLIDER_MASS, 1e-5, position=[CRANK + ROD, 0, 0], name="slider")
    section = fem.Section.rectangle(SIDE, SIDE, E=E, nu=0.3, density=DENSITY)
    rod = fem.beam_line([CRANK, 0, 0], [CRANK + ROD, 0, 0], PARTS, section, name="rod")
    mechanism.add(crank, slider, rod)
    for node in rod.nodes:
        node.velocity = np.array([0, SPEED * CRANK + turn * (node.position[0] - CRANK), 0])
        node.angular_velocity = turn * Z
    first, last = rod.nodes[0], rod.nodes[-1]
    shaft = mechanism.add(fem.Revolute.at(mechanism.ground, crank, [0, 0, 0], Z, name="shaft"))
    mechanism.add(
        fem.RevoluteDriver(shaft.frame_P, shaft.frame_Q, lambda t: SPEED * t, name="drive"),
        fem.Revolute.at(crank, first, [CRANK, 0, 0], Z, name="pin"),
        fem.Revolute.at(slider, last, [CRANK + ROD, 0, 0], Z, name="slider pin"),
        fem.Prismatic.at(mechanism.ground, slider, [CRANK + ROD, 0, 0], [1.0, 0, 0], name="guide"),
    )
    return mechanism


def deflections(result: Any) -> np.ndarray:
    """Distances (2, k) [m] of the rod at a quarter and at its middle from the line between its ends."""
    names = [f"rod node {i}" for i in (0, PARTS // 4, PARTS // 2, PARTS)]
    start, quarter, middle, end = (result[name].position[:, :2] for name in names)
    e = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    n = np.stack([-e[:, 1], e[:, 0]], axis=1)
    return np.array([((place - start) * n).sum(axis=1) for place in (quarter, middle)])


def crank(stepper: Any) -> fem.Checks:
    """Two and a half turns; the first bending wave of the rod takes 5 ms."""
    result = stepper.run(model(), T_END, 5e-5)
    q1, q2, *_ = modal_bending()(result.t)
    modal, found = np.array([np.sqrt(0.5) * q1 + q2, q1]), deflections(result)
    checks = []
    for name, reference, v in zip(("a quarter", "the middle"), modal, found):
        error = np.sqrt(np.mean((v - reference) ** 2) / np.mean(reference**2))
        checks += [
            fem.Check(f"largest deflection at {name} [m]", reference=np.abs(reference).max(), obtained=np.abs(v).max(),
                      rel=0.02),
            fem.Check(f"difference at {name}, root mean square, relative", reference=0.0, obtained=error, abs=0.05),
        ]  # fmt: skip
    return fem.Checks(
        *checks,
        fem.Check("largest |g| [m]", reference=0.0, obtained=result.violation.position.max(), abs=1e-12),
    )


CASES = [
    Case("flexible-slider-crank", "slider-crank with a flexible rod", "Simeon 1996; two bending modes, integrated",
         "what two modes without shear, stretching and their coupling leave out: 2.3 % of the course, 0.3 % of the "
         "peaks", crank, (*SMOOTH, MOREAU), fast=False,
         note="Magnitudes: the digits of the test set are those of its four modes with linear stiffness."),
]  # fmt: skip
