"""Beams in large motion: the right-angle cantilever, the flying spaghetti in a plane, rods that are spun up.

Published are curves for the first two, so that exact statements (momentum, energy) and convergence are compared; the
spun rods have a closed form once they turn steadily.
"""

from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import Case
from fem_mbs.cases.classical import LOBATTO, MOREAU, SMOOTH, Z, is_lobatto, pulse

# --- right-angle cantilever -------------------------------------------------------------------------------------------


def triangle(t: Any) -> Any:
    """Force on the elbow: up to 50 at 1 s, back to 0 at 2 s."""
    return np.maximum(0.0, np.minimum(50.0 * t, 100.0 - 50.0 * t))


def right_angle(n: int) -> fem.Model:
    """Two arms of 10 m with n intervals each, in the plane x-y; clamped at the origin, pushed along z at the elbow."""
    section = fem.Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=1e3, EI2=1e3, EI3=1e3, rhoA=1, rhoJ=(20, 10, 10))
    elbow, tip = fem.Node6([10, 0, 0], name="elbow"), fem.Node6([10, 10, 0], name="tip")
    model = fem.Model("right-angle cantilever", gravity=[0, 0, 0])
    model.add(fem.beam_line(fem.Node6(fixed=True), elbow, n, section), fem.beam_line(elbow, tip, n, section))
    model.add(fem.PointForce(elbow, lambda t: np.array([0, 0, triangle(t)])))
    return model


def right_angle_cantilever(stepper: Any) -> fem.Checks:
    """Free vibration after the push, to 30 s on 8 intervals per arm; steps and meshes compared up to 15 s."""
    long = stepper.run(right_angle(8), 30.0, 2.5e-2)
    free = long.energy.total[long.t > 2.0]
    place = {h: tip_at(stepper.run(right_angle(4), 15.0, h), 15.0) for h in (5e-2, 2.5e-2, 1.25e-2)}
    changes = np.linalg.norm(place[5e-2] - place[2.5e-2]), np.linalg.norm(place[2.5e-2] - place[1.25e-2])
    mesh = np.linalg.norm(place[2.5e-2] - tip_at(long, 15.0))
    tip, elbow = (np.abs(long[name].position[:, 2]).max() for name in ("tip", "elbow"))
    return fem.Checks(
        fem.Check("amplitude of the tip [m]", reference=10.0, obtained=tip, abs=0.5),
        fem.Check("amplitude of the elbow [m]", reference=5.75, obtained=elbow, abs=0.5),
        fem.Check("energy after 2 s, its change over it [-]", reference=0.0, obtained=np.ptp(free) / free[0], abs=5e-4),
        fem.Check(
            "order in h of the tip at 15 s [-]", reference=2.0, obtained=np.log2(changes[0] / changes[1]), abs=0.2
        ),
        fem.Check("tip at 15 s, 4 and 8 intervals [m]", reference=0.0, obtained=mesh, abs=0.05),
    )


def tip_at(result: Any, t: float) -> np.ndarray:
    """Place of the tip (3,) [m] at a time [s]."""
    return result["tip"].position[result.at(t)]


# --- flying spaghetti in a plane --------------------------------------------------------------------------------------


# x and y of the loaded and of the other end at 5 and 7 s, by two-node elements with DOP853, tolerance 1e-9, on 80 and
# 160 elements extrapolated to none (tests/references/simo_vu_quoc_beams.py); 40 and 80 give 2e-5 less
PLANE = {5.0: (5.73152, 6.74423, 10.48291, 5.75304), 7.0: (10.52777, 6.64105, 9.20257, 3.09791)}


def plane_spaghetti(n: int, **options: Any) -> fem.Model:
    """The free beam of 10 m in the plane x-y; at its lower end 8 N along x and −80 N m about z, as the pulse goes."""
    section = fem.Section.general(EA=1e4, GA2=1e4, GA3=1e4, GJ=500, EI2=100, EI3=100, rhoA=1, rhoJ=(10, 10, 10))
    model = fem.Model("plane spaghetti", gravity=[0, 0, 0])
    line = model.add(fem.beam_line([6, 0, 0], [0, 8, 0], n, section, name="b", fixed=("z", "rx", "ry"), **options))
    model.add(
        fem.PointForce(line.nodes[0], [8 / 200, 0, 0], signal=pulse),
        fem.PointMoment(line.nodes[0], [0, 0, -80 / 200], signal=pulse),
    )
    return model


def momentum(system: Any, state: Any) -> np.ndarray:
    """Momenta along x and y [N s], and the angular one about z through the origin [N m s], with the mass matrix."""
    rigid = np.zeros((3, len(system.nodes), 6))
    rigid[0, :, 0] = rigid[1, :, 1] = rigid[2, :, 5] = 1.0  # their z axes stay along z
    rigid[2, :, :3] = np.cross(Z, state.x)
    M = system.matrices(state, mass_only=True)
    v = M @ system.reduced(state.V.reshape(-1))
    return np.array([system.reduced(motion.reshape(-1)) @ v for motion in rigid])


def ends(result: Any, n: int, t: float) -> np.ndarray:
    """Places of both ends (6,) [m] at a time [s]."""
    k = result.at(t)
    return np.concatenate([result[f"b node {i}"].position[k] for i in (0, n)])


def spaghetti_in_a_plane(stepper: Any) -> fem.Checks:
    """The flexible beam, EI = 100 N m²: its ends, exact momenta, convergence in h and mesh, the two-node element."""
    lobatto = is_lobatto(stepper)  # explicit: steps below 7 ms on 10 intervals, half of that on 20
    n, h = (10, 5e-3) if lobatto else (20, 1e-2)
    system = plane_spaghetti(n).compile()
    result = stepper.run(system, 7.0, h)
    free = [result.state(result.at(t)) for t in (5.0, 7.0)]
    (px, _, L5), (px7, py7, L7) = (momentum(system, state) for state in free)
    total = result.energy.total[result.t > 5.0]
    checks = [
        fem.Check("momentum along x at 5 s [N s]", reference=20.0, obtained=px, abs=1e-5),
        fem.Check("momentum along x at 7 s [N s]", reference=20.0, obtained=px7, abs=1e-5),
        fem.Check("momentum along y at 7 s [N s]", reference=0.0, obtained=py7, abs=1e-5),
        fem.Check("angular momentum at 7 s over that at 5 s [-]", reference=1.0, obtained=L7 / L5, abs=1e-5),
        fem.Check("energy after 5 s, its change over it [-]", reference=0.0, obtained=np.ptp(total) / total[0],
                  abs=1e-9 if lobatto else 1e-4),
    ]  # fmt: skip
    for t, accuracy in ((5.0, 5e-3 if lobatto else 5e-4), (7.0, 1.5e-2 if lobatto else 2e-3)):  # meshes of 10 and 20
        places = ends(result, n, t)[[0, 1, 3, 4]]
        for name, reference, found in zip(("loaded x", "loaded y", "other x", "other y"), PLANE[t], places):
            text = f"{name} at {t:g} s [m]"
            checks.append(fem.Check(text, reference=reference, obtained=found, abs=accuracy))

    def ends_at_5(step, n, **options):
        return ends(stepper.run(plane_spaghetti(n, **options), 5.0, step), n, 5.0)

    here = ends(result, n, 5.0)
    if lobatto:
        change = np.abs(ends_at_5(h / 2, n) - here).max()
        return fem.Checks(
            *checks, fem.Check("ends at 5 s, half the step [m]", reference=0.0, obtained=change, abs=1e-5)
        )
    place = [ends_at_5(step, 10) for step in (2 * h, h, h / 2)]
    order = np.log2(np.linalg.norm(place[0] - place[1]) / np.linalg.norm(place[1] - place[2]))
    coarse, other = (np.abs(there - here).max() for there in (place[1], ends_at_5(h, 40, poses=2)))
    return fem.Checks(
        *checks,
        fem.Check("order in h of the ends at 5 s [-]", reference=2.0, obtained=order, abs=0.2),
        fem.Check("ends at 5 s, 10 and 20 intervals [m]", reference=0.0, obtained=coarse, abs=5e-3),
        fem.Check("ends at 5 s, 40 of two nodes [m]", reference=0.0, obtained=other, abs=5e-3),
    )


# --- spun rods --------------------------------------------------------------------------------------------------------

LENGTH, AREA, INERTIA, YOUNG, DENSITY = 8.0, 7.3e-5, 8.218e-9, 6.895e10, 2766.67  # m, m², m⁴, N/m², kg/m³
FULL = 15.0  # s, until the rod turns steadily


LAGS = {4.0: (-0.5339, 6.77), 6.0: (-0.7510, 6.54)}  # rad/s: largest lag of the tip [m], its time [s]


def spun_angle(t: Any, speed: float) -> Any:
    """Angle [rad] of the hinge: the speed [rad/s] is reached at 15 s."""
    early = speed / FULL * (t**2 / 2 + (FULL / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / FULL) - 1))
    return np.where(t < FULL, early, speed * (t - FULL / 2))


def spun_rod(speed: float) -> fem.Model:
    """The rod along x, 10 intervals, hinged at the origin and driven there."""
    section = fem.Section.general(
        EA=YOUNG * AREA, GJ=YOUNG * INERTIA, EI2=YOUNG * INERTIA, EI3=YOUNG * INERTIA,
        rhoA=DENSITY * AREA, rhoI2=DENSITY * INERTIA, rhoI3=DENSITY * INERTIA,
    )  # fmt: skip
    model = fem.Model("spun rod", gravity=[0, 0, 0])
    rod = model.add(fem.beam_line([0, 0, 0], [LENGTH, 0, 0], 10, section, name="rod"))
    hinge = model.add(fem.Revolute.at(model.ground, rod.nodes[0], [0, 0, 0], Z, name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, lambda t: spun_angle(t, speed), name="drive"))
    return model


def spun_rods(stepper: Any) -> fem.Checks:
    """Largest lag of the tip on the way to 4 and 6 rad/s, and the stretch once it turns with them; h = 10 ms."""
    checks = []
    for speed, (largest, when) in LAGS.items():
        model = spun_rod(speed)
        result = stepper.run(model, 18.0, 1e-2)
        angle, tip = spun_angle(result.t, speed), result["rod node 10"].position
        lag = np.cos(angle) * tip[:, 1] - np.sin(angle) * tip[:, 0]
        # of the axis and not of the distance of its ends, which the remaining bending shortens by 2 %
        stretch = sum(result[beam.name].strain[:, 0] * beam.length for beam in model.elements if "rod" in beam.name)
        k, wave = int(np.argmin(lag)), speed * np.sqrt(DENSITY / YOUNG)
        checks += [
            fem.Check(f"{speed:g} rad/s: largest lag [m]", reference=largest, obtained=lag[k], abs=5e-4),
            fem.Check(f"{speed:g} rad/s: it comes at [s]", reference=when, obtained=result.t[k], abs=0.015),
            fem.Check(f"{speed:g} rad/s: steady stretch [m]", reference=np.tan(LENGTH * wave) / wave - LENGTH,
                      obtained=stretch[result.t > FULL].mean(), rel=5e-3),
        ]  # fmt: skip
    return fem.Checks(*checks)


CASES = [
    Case("right-angle-cantilever", "right-angle cantilever, free after a push",
         "Simo and Vu-Quoc 1988; own convergence",
         "amplitudes read on curves; second order in h; half a percent of the amplitude for the mesh",
         right_angle_cantilever, (*SMOOTH, MOREAU),
         note="Published as curves only: amplitudes of 10 m and 5 to 6 m.", fast=False),
    Case("flying-spaghetti-plane", "flying spaghetti in a plane", "Simo and Vu-Quoc 1986; limit computed in"
         "tests/references/simo_vu_quoc_beams.py, momentum",
         "second order in h, fourth with Lobatto's scheme; fourth of the mesh: 0.3 mm with 20 intervals, 4 mm with 10",
         spaghetti_in_a_plane, (*SMOOTH, MOREAU, LOBATTO[0]),
         note="EI = 100 N m²; published as pictures only. Lobatto's scheme runs on 10 intervals, where its limit of "
         "stability is 7 ms.", fast=False),
    Case("spun-rods", "rods that are spun up to 4 and 6 rad/s", "Kane, Ryan and Banerjee 1987; Wu and Haug 1988; "
         "limit computed in tests/references/simo_vu_quoc_beams.py, closed form",
         "second order in h; times to a step; axial waves that are left", spun_rods,
         (SMOOTH[0], SMOOTH[1]),
         note="Two methods only, for its cost: spin-up-beam runs with all. Moreau-Jean with theta = 0.5 needs steps of "
         "5 ms here.", fast=False),
]  # fmt: skip
