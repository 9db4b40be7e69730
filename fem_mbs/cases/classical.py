"""Classical smooth benchmarks: mechanisms of the IFToMM library and the DAE test set, beams in large displacements.

Sources are named with the cases. Digits are printed ones (Andrews' mechanism: five copies of the DAE test set agree),
closed forms, and those of independent solvers: minimal coordinates integrated to round-off, a boundary-value solver for
static rods. Plane mechanisms lie in x-y, gravity along −y.
"""

from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import OWN, STATIC, Case, Method

Z = np.array([0.0, 0.0, 1.0])


def is_lobatto(stepper: Any) -> bool:
    """True for the scheme of high order."""
    return type(stepper).__name__ == "LobattoIIIAB"


# --- IFToMM A01: a simple pendulum ------------------------------------------------------------------------------------

# t [s]: place of the mass [m]
PENDULUM = {
    1: (0.986291751, -0.165010853), 2: (-0.793566195, -0.608483930),
    5: (-0.942305435, -0.334754338), 10: (-0.275087463, -0.961419205),
}  # fmt: skip


def pendulum_model() -> fem.Model:
    """A mass of 1 kg on a massless rod of 1 m, at rest in the horizontal; its own rotary inertia is 1e-12 kg m²."""
    model = fem.Model("simple pendulum", gravity=[0, -9.81, 0])
    bob = fem.RigidBody(1.0, 1e-12, position=[-1, 0, 0], name="bob")
    model.add(bob, fem.Revolute.at(model.ground, bob, [0, 0, 0], Z, name="pivot"))
    return model


def pendulum(stepper: Any) -> fem.Checks:
    """Ten seconds, h = 1 ms."""
    result = stepper.run(pendulum_model(), 10.0, 1e-3)
    allowed = 5e-9 if is_lobatto(stepper) else 2e-4
    checks = []
    for t, place in PENDULUM.items():
        error = np.abs(result["bob"].position[result.at(t), :2] - place).max()
        checks.append(fem.Check(f"error of the place at {t} s [m]", reference=0.0, obtained=error, abs=allowed))
    energy = np.abs(result.energy.total).max()
    return fem.Checks(*checks, fem.Check("largest error of the energy [J]", reference=0.0, obtained=energy, abs=1e-3))


# --- IFToMM A03, DAE test set: Andrews' squeezer mechanism ------------------------------------------------------------

MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)  # kg
INERTIA = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m²
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])  # m, on the ground
d, da, e, ea, rr, ra = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092  # m
ss, sa, sb, sc, sd = 0.035, 0.01874, 0.01043, 0.018, 0.02
ta, tb, u, ua, ub, zf, zt, fa = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421  # m
STIFFNESS, FREE, MOMENT = 4530.0, 0.07785, 0.033  # N/m, m, N m
START = (-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
         -0.222668390165885885, 1.23054744454982120)  # rad: β Θ γ Φ δ Ω ε  # fmt: skip
END = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
       0.5347301163226948, 1.048080741042263)  # the same at 0.03 s  # fmt: skip
RATES = (1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
         -19.29337464421385, 0.3231791658026955)  # rad/s at 0.03 s  # fmt: skip


def along(angle: float) -> np.ndarray:
    """Unit vector (2,) at an angle."""
    return np.array([np.cos(angle), np.sin(angle)])


def across(angle: float) -> np.ndarray:
    """The same, turned by −90°: (sin, −cos)."""
    return np.array([np.sin(angle), -np.cos(angle)])


def squeezer() -> fem.Model:
    """Seven bodies in three loops; K1 is driven by a moment, K3 pulled by a spring."""
    beta, theta, gamma, phi, delta, omega, epsilon = START
    turned = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    crank = rr * along(beta)
    hub = crank - d * along(beta + theta)  # K2, K3, K4, K6 meet
    left, right = A + zt * along(delta), A + u * across(epsilon)
    centres = (
        ra * along(beta), crank - da * along(beta + theta), B + sa * across(gamma) + sb * along(gamma),
        left + (e - ea) * across(phi + delta), A + ta * along(delta) - tb * across(delta),
        right + (zf - fa) * along(omega + epsilon), A + ua * across(epsilon) - ub * along(epsilon),
    )  # fmt: skip
    model = fem.Model("squeezer", gravity=[0, 0, 0])
    K = [model.ground]
    for i, (mass, inertia, centre, angle) in enumerate(zip(MASS, INERTIA, centres, turned), 1):
        body = fem.RigidBody(
            mass, inertia, position=[*centre, 0], rotation=angle * Z, name=f"K{i}", allow_nonphysical=True
        )
        K.append(model.add(body))
    # no row twice: each loop has a hinge that lets slide along z, and is closed by a ball joint
    hinges = [(0, 1, np.zeros(2)), (1, 2, crank), (4, 5, left), (6, 7, right)]
    for i, j, place in hinges:
        model.add(fem.Revolute.at(K[i], K[j], [*place, 0], Z, name=f"hinge {i}-{j}"))
    for i, place in ((3, B), (5, A), (7, A)):
        model.add(fem.Cylindrical.at(K[0], K[i], [*place, 0], Z, name=f"slide 0-{i}"))
    for i in (3, 4, 6):
        model.add(fem.Spherical.at(K[2], K[i], [*hub, 0], name=f"hub 2-{i}"))
    end = B + sd * along(gamma) + sc * across(gamma)  # of the spring
    local = np.array([along(-gamma), -across(-gamma)]).T @ (end - centres[2])
    model.add(fem.Spring(model.ground.frame([*C, 0]), K[3].frame([*local, 0]), stiffness=STIFFNESS, free_length=FREE,
                         name="spring"))  # fmt: skip
    model.add(fem.PointMoment(K[1], [0, 0, MOMENT], name="drive"))
    return model


def andrews(stepper: Any) -> fem.Checks:
    """The mechanism at 0.03 s, h = 10 µs; the crank then turns at 1140 rad/s."""
    result = stepper.run(squeezer(), 0.03, 1e-5)
    beta, theta, gamma, phi, delta, omega, epsilon = END
    exact = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    b, t, c, p, q, o, x = RATES
    rates = (b, b + t, c, p + q, q, o + x, x)
    allowed, slow = (1e-8, 1e-5) if is_lobatto(stepper) else (2e-4, 0.5)
    checks = []
    for i, (angle, rate) in enumerate(zip(exact, rates), 1):
        body = result[f"K{i}"]
        R = body.rotation[-1]
        off = np.arctan2(*(np.array([[0, 1], [1, 0]]) @ (R[:2, :2] @ along(-angle))))  # remaining rotation
        checks.append(fem.Check(f"angle of K{i} [rad]", reference=angle, obtained=angle + off, abs=allowed))
        checks.append(fem.Check(f"rate of K{i} [rad/s]", reference=rate, obtained=body.angular_velocity[-1, 2],
                                abs=slow))  # fmt: skip
    return fem.Checks(*checks)


# --- beams: Simo and Vu-Quoc ------------------------------------------------------------------------------------------


SPIN_UP = (-0.5738, 6.76)  # largest lag of the tip [m], its time [s]
SPAGHETTI = (27.203, 4.597, -4.635), (23.0876, 3.2151, 4.2787)  # m, of the loaded and of the other end at 7 s


def spin_up_angle(t: Any) -> Any:
    """Angle [rad] of the hinge: 6 rad/s from 15 s on."""
    early = 6 / 15 * (t**2 / 2 + (15 / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / 15) - 1))
    return np.where(t < 15, early, 6 * t - 45)


def spin_up(stepper: Any) -> fem.Checks:
    """A beam of 10 m is spun up about its end: its tip lags, then comes back and is stretched."""
    section = fem.Section.general(EA=2.8e7, GA2=1e7, GA3=1e7, GJ=1.4e4, EI2=1.4e4, EI3=1.4e4, rhoA=1.2,
                                  rhoJ=(1.2e-3, 6e-4, 6e-4))  # fmt: skip
    model = fem.Model("spin-up", gravity=[0, 0, 0])
    beam = model.add(fem.beam_line([0, 0, 0], [10, 0, 0], 10, section, name="beam"))
    hinge = model.add(fem.Revolute.at(model.ground, beam.nodes[0], [0, 0, 0], Z, name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, spin_up_angle, name="drive"))
    result = stepper.run(model, 20.0, 5e-3)
    angle, tip = spin_up_angle(result.t), result[beam.nodes[-1].name].position
    radial = np.stack([np.cos(angle), np.sin(angle)], 1)
    out, lag = (tip[:, :2] * radial).sum(1) - 10, radial[:, 0] * tip[:, 1] - radial[:, 1] * tip[:, 0]
    k, steady = int(np.argmin(lag)), result.t > 17
    mean = 6.0 * np.sqrt(1.2 / 2.8e7)
    return fem.Checks(
        fem.Check("largest lag of the tip [m]", reference=SPIN_UP[0], obtained=lag[k], abs=1e-3),
        fem.Check("it comes at [s]", reference=SPIN_UP[1], obtained=result.t[k], abs=0.02),
        fem.Check("extension at 6 rad/s, mean [m]", reference=np.tan(10 * mean) / mean - 10,
                  obtained=out[steady].mean(), rel=5e-3),
    )  # fmt: skip


def pulse(t: Any) -> Any:
    """Load of the spaghetti: up to 200 at 2.5 s, back to 0 at 5 s."""
    return np.maximum(0.0, np.minimum(80.0 * t, 200.0 - 80.0 * (t - 2.5)))


def spaghetti(stepper: Any) -> fem.Checks:
    """A free beam, a force and a moment at one end: the pose at 7 s, momentum and energy once it flies free."""
    section = fem.Section.general(EA=1e4, GA2=1e4, GA3=1e4, GJ=500, EI2=500, EI3=500, rhoA=1, rhoJ=(10, 10, 10))
    model = fem.Model("flying spaghetti", gravity=[0, 0, 0])
    line = model.add(fem.beam_line([6, 0, 0], [0, 8, 0], 10, section, name="b"))
    model.add(
        fem.PointForce(line.nodes[0], lambda t: np.array([pulse(t) / 10, 0, 0])),
        fem.PointMoment(line.nodes[0], lambda t: np.array([0, -pulse(t) / 2, -pulse(t)])),
    )
    result = stepper.run(model, 7.0, 5e-3)
    ends = [result[f"b node {i}"].position[-1] for i in (0, 10)]
    total = result.energy.total[result.t > 5]
    return fem.Checks(
        *[fem.Check(f"loaded end, {x} [m]", reference=ref, obtained=v, abs=5e-3)
          for x, ref, v in zip("xyz", SPAGHETTI[0], ends[0])],
        *[fem.Check(f"other end, {x} [m]", reference=ref, obtained=v, abs=8e-3)
          for x, ref, v in zip("xyz", SPAGHETTI[1], ends[1])],
        fem.Check("energy after 5 s, its change [J]", reference=0.0, obtained=np.ptp(total), abs=0.02),
    )  # fmt: skip


# --- static beams -----------------------------------------------------------------------------------------------------

# P L²/EI: shortening and deflection over L of an inextensible cantilever under a dead force (Mattiasson 1981)
ELASTICA = {1: (0.0564332, 0.3017208), 2: (0.1606417, 0.4934575), 5: (0.3876284, 0.7137915), 10: (0.5549956, 0.8106090)}


def elastica(_: Any) -> fem.Checks:
    """16 intervals, EA and GA 1e8 times EI: as good as inextensible."""
    checks = []
    for load, (short, deflection) in ELASTICA.items():
        section = fem.Section.general(EA=1e8, GA2=1e8, GA3=1e8, GJ=1, EI2=1, EI3=1)
        model, tip = fem.Model("elastica"), fem.Node6([1, 0, 0], name="tip")
        model.add(fem.beam_line(fem.Node6(fixed=True), tip, 16, section), fem.PointForce(tip, [0, load, 0]))
        x = fem.static_equilibrium(model, steps=4).position(tip)
        checks += [
            fem.Check(f"{load}: shortening [-]", reference=short, obtained=1 - x[0], abs=5e-6),
            fem.Check(f"{load}: deflection [-]", reference=deflection, obtained=x[1], abs=5e-6),
        ]
    return fem.Checks(*checks)


# load [N]: displacement of the tip [mm] at 0, 15 … 90°; dead load, boundary-value solver
PRINCETON = {
    4.448: ((-0.0339, -5.3582, 0), (-0.5442, -5.2112, 20.8084), (-1.9179, -4.7576, 39.9599),
            (-3.7482, -3.9764, 56.0635), (-5.5277, -2.8742, 68.1319), (-6.7997, -1.5106, 75.5690),
            (-7.2591, 0, 78.0773)),
    8.896: ((-0.1355, -10.7128, 0), (-2.2485, -10.6436, 42.1924), (-7.6810, -10.2076, 79.5474),
            (-14.4118, -8.9792, 109.1131), (-20.4867, -6.7420, 129.9579), (-24.5861, -3.6220, 142.2182),
            (-26.0215, 0, 146.2524)),
    13.345: ((-0.3047, -16.0612, 0), (-5.3407, -16.5777, 64.7342), (-17.2589, -16.9898, 118.1795),
             (-30.4529, -15.6211, 156.7746), (-41.2573, -11.9635, 182.0038), (-48.0856, -6.4703, 196.1387),
             (-50.4010, 0, 200.6840)),
}  # fmt: skip


def princeton(_: Any) -> fem.Checks:
    """A flat strip loaded at angles between its stiff and its soft direction, 16 intervals."""
    height, width = 12.3777e-3, 3.2024e-3
    torsion = 0.198 * (height * width**3 + width * height**3) / 12
    section = fem.Section.rectangle(height, width, E=71.7e9, nu=0.31, torsion_constant=torsion, shear_coefficient=1)
    checks = []
    for load, row in PRINCETON.items():
        for i, reference in enumerate(row):
            beta = np.radians(15 * i)
            model, tip = fem.Model("Princeton beam"), fem.Node6([0.508, 0, 0], name="tip")
            model.add(fem.beam_line(fem.Node6(fixed=True), tip, 16, section))
            model.add(fem.PointForce(tip, load * np.array([0, -np.cos(beta), np.sin(beta)])))
            moved = 1e3 * (fem.static_equilibrium(model, steps=2).position(tip) - [0.508, 0, 0])
            error = np.abs(moved - reference).max()
            checks.append(fem.Check(f"{load} N, {15 * i}°: error [mm]", reference=0.0, obtained=error, abs=2e-4))
    return fem.Checks(*checks)


ALPHA = {"rho_inf": 0.9}
SMOOTH = tuple(
    Method(name, ALPHA) for name in ("DecoupledNSGA", "NonsmoothGeneralizedAlphaGGL",
                                     "NonsmoothGeneralizedAlphaFriction", "GeneralizedAlpha")
)  # fmt: skip
MOREAU = Method("MoreauJean", {"theta": 0.5, "projection": True})
LOBATTO = tuple(Method("LobattoIIIAB", {"stages": s}) for s in (3, 4))
CASES = [
    Case("iftomm-a01-pendulum", "simple pendulum", "IFToMM library, A01; minimal coordinates integrated to round-off",
         "second order in h, 10 s at 1 ms; printed digits with Lobatto's scheme", pendulum,
         (*SMOOTH, MOREAU, *LOBATTO)),
    Case("iftomm-a03-squeezer", "Andrews' squeezer mechanism", "IFToMM library, A03; DAE test set",
         "second order in h, at 1140 rad/s and 10 µs; digits of the rates with Lobatto's scheme", andrews,
         (*SMOOTH, MOREAU, *LOBATTO), fast=False),
    Case("spin-up-beam", "beam that is spun up about its end", "Simo and Vu-Quoc 1986; "
         "limit computed in tests/references/simo_vu_quoc_beams.py, closed form",
         "mesh and step; mean of a vibration that is left", spin_up, SMOOTH,
         fast=False),
    Case("flying-spaghetti", "flying spaghetti", "Simo and Vu-Quoc 1988; limit computed in "
         "tests/references/simo_vu_quoc_beams.py",
         "mesh and step, half of it for the loaded end", spaghetti, SMOOTH,
         fast=False),
    Case("elastica", "cantilever under a dead force", "closed form; Mattiasson 1981", "fourth order of the mesh",
         elastica, (Method(STATIC, OWN),)),
    Case("princeton-beam", "Princeton beam at all load angles", "Dowell and Traybar 1975; boundary-value solver",
         "fourth order of the mesh, four printed digits", princeton, (Method(STATIC, OWN),),
         note="The mass of the tip's holder is neglected, as in the comparison of Bauchau et al. (2016)."),
]  # fmt: skip
