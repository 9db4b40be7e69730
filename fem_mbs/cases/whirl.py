"""Whirl of rotors in the inertial frame: published natural frequencies, critical speeds, unbalance response.

Two discs on a shaft of 1.5 m and 50 mm, and one disc that overhangs it, Friswell et al. 2010, examples 5.9.1 to 5.9.9.
The digits are those that the open program ROSS prints for them with six Timoshenko elements per shaft (48 where said).

The independent model of the unbalance response is exact, without elements: in z = y + iz the shaft between two stations
is one matrix exponential, with ω the frequency, Ω the spin, per length mass μ and moments of inertia i_t, i_p = 2 i_t,

    v' = ψ + Q/κGA,    ψ' = M/EI,    M' = −Q − (i_t ω² − i_p ω Ω) ψ,    Q' = −μ ω² v                                 (1)

and stations are jumps: bearings ΔQ = (k + iωc) v, discs ΔQ = −m ω² v − F, ΔM = −(J_t ω² − J_p ω Ω) ψ.
"""

from itertools import pairwise
from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import OWN, STATIC, Case, Method

E, G, DENSITY, RADIUS, LENGTH = 211e9, 81.2e9, 7810.0, 0.025, 1.5
SECTION: dict[str, Any] = {"E": E, "nu": E / (2 * G) - 1, "density": DENSITY}
THICK, SMALL, LARGE = 0.07, 0.14, 0.175  # m: discs
FAR = 1e4  # m: springs so long that they stay parallel to y and z
FAST = 4000 * np.pi / 30  # rad/s
X = [1.0, 0.0, 0.0]


def inertia(radius: float) -> tuple[float, float, float]:
    """Mass, polar and transverse moment of inertia of a disc that sits on the shaft."""
    mass = DENSITY * np.pi * (radius**2 - RADIUS**2) * THICK
    squares = radius**2 + RADIUS**2
    return mass, mass * squares / 2, mass * (3 * squares + THICK**2) / 12


def rotor(discs: dict, bearings: dict, n: int = 4) -> tuple[fem.Model, list]:
    """A model and what turns in it; discs: x -> radius; bearings: x -> (k_y, k_z, c); n intervals a span."""
    model = fem.Model("rotor", gravity=[0, 0, 0])
    nodes: dict[float, Any] = {
        x: model.add(fem.RigidBody(inertia(r)[0], [inertia(r)[1], inertia(r)[2], inertia(r)[2]], position=[x, 0, 0],
                                   name=f"disc at {x:g} m"))
        for x, r in discs.items()
    }  # fmt: skip
    for x in {0.0, *bearings} - set(nodes):
        nodes[x] = fem.Node6([x, 0, 0], fixed=("x",) if x == 0.0 else (), name=f"shaft at {x:g} m")
    section, places = fem.Section.circle(RADIUS, **SECTION), sorted(nodes)
    lines = [model.add(fem.beam_line(nodes[a], nodes[b], n, section)) for a, b in pairwise(places)]
    for x, (ky, kz, c) in bearings.items():
        for far, k in (([x, FAR, 0], ky), ([x, 0, FAR], kz)):
            model.add(fem.Spring(model.ground.frame(far), nodes[x], stiffness=k, damping=c))
    return model, [*lines, *(nodes[x] for x in discs)]


BETWEEN = {0.5: SMALL, 1.0: LARGE}


def supported(ky: float = 1e6, kz: float = 1e6, c: float = 0.0) -> tuple[fem.Model, list]:
    """Two discs between bearings at the ends."""
    return rotor(BETWEEN, {0.0: (ky, kz, c), LENGTH: (ky, kz, c)})


def overhung() -> tuple[fem.Model, list]:
    """One disc at the end, bearings at 0 and 1 m."""
    return rotor({LENGTH: LARGE}, {0.0: (1e7, 1e7, 0.0), 1.0: (1e7, 1e7, 0.0)})


PUBLISHED = {  # rad/s at rest and at 4000 1/min
    "isotropic": (supported, (1e6, 1e6), [86.658, 86.658, 274.313, 274.313, 716.786, 716.786],
                  [85.3895, 87.7959, 251.785, 294.713, 600.179, 827.075]),
    "anisotropic": (supported, (1e6, 8e5), [82.65, 86.66, 254.52, 274.31, 679.49, 716.79],
                    [82.33, 86.86, 239.64, 287.25, 583.49, 806.89]),
    "overhung": (overhung, (), [90.14, 90.14, 630.73, 630.73, 830.43, 830.43],
                 [76.19, 103.91, 565.99, 634.23, 647.75, 1174.2]),
}  # fmt: skip


def frequencies(_: Any) -> fem.Checks:
    """Six frequencies at rest and at speed, and directions of whirl, of three rotors."""
    checks = []
    for name, (build, arguments, still, fast) in PUBLISHED.items():
        model, turns = build(*arguments)
        diagram = fem.campbell(model, np.linspace(0, FAST, 5), 6, rotor=turns, axis=X)
        order = np.argsort(diagram.omega[-1])
        for found, published, at in ((diagram.omega[0], still, "at rest"), (diagram.omega[-1][order], fast, "fast")):
            for k, value in enumerate(published):
                checks.append(fem.Check(f"{name}, {at}, {k + 1} [rad/s]", reference=value, obtained=np.sort(found)[k],
                                        rel=1e-3))  # fmt: skip
        # of each pair that parts with speed the upper mode whirls with the spin
        wrong = [
            1.0 for low, high in zip(range(0, 6, 2), range(1, 6, 2))
            if diagram.whirl[-1, [low, high]].tolist() != ["backward", "forward"]
        ]  # fmt: skip
        checks.append(fem.Check(f"{name}: pairs whose whirl is wrong [-]", reference=0.0, obtained=sum(wrong), abs=0.0))
    return fem.Checks(*checks, *damped())


def damped() -> list:
    """Bearings of 3 kN s/m; the published third mode, of which the damper leaves 2/3, is the most sensitive to mesh."""
    from scipy.optimize import newton

    model, turns = supported(c=3e3)
    found = fem.campbell(model, [0.0, FAST], 6, rotor=turns, axis=X).eigenvalues[0]
    checks = []
    for k, (value, oscillation) in enumerate(((13.91, 13.89), (48.18, 46.54), (137.06, 103.22))):
        s = found[2 * k]
        root = newton(lambda z: exact(0.0, 3e3, {}, -1j * z)[1], s * (1 + 1e-3), tol=1e-9)
        checks += [
            fem.Check(f"damped, |s|/2π {k + 1} [Hz]", reference=value, obtained=abs(s) / (2 * np.pi), rel=2e-3),
            fem.Check(f"damped, Im s/2π {k + 1} [Hz]", reference=oscillation, obtained=s.imag / (2 * np.pi), rel=2e-3),
            fem.Check(f"damped, exact beams {k + 1} [-]", reference=0.0, obtained=abs(s / root - 1), abs=1e-4),
        ]
    return checks


# --- critical speeds and unbalance, against exact beams ---------------------------------------------------------------


def field(length: float, frequency: Any, spin: float) -> np.ndarray:
    """Transfer matrix (4, 4) of (v, ψ, M, Q) over a length of the shaft, (1)."""
    from scipy.linalg import expm

    section = fem.Section.circle(RADIUS, **SECTION)
    shear, bending = section.flexibility[1, 1], section.flexibility[4, 4]
    area, second = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
    rates = np.zeros((4, 4), complex)
    rates[0, 1], rates[0, 3], rates[1, 2] = 1.0, shear, bending
    rates[2, 3], rates[2, 1] = -1.0, -DENSITY * second * (frequency**2 - 2 * frequency * spin)
    rates[3, 0] = -DENSITY * area * frequency**2
    return expm(rates * length)


def exact(spin: float, c: float, push: dict, frequency: Any = None) -> tuple[dict, Any]:
    """Displacements v of the supported rotor by place under forces [N] on it, and the determinant of the free one."""
    w = spin if frequency is None else frequency
    state = np.zeros((4, 3), complex)  # columns: v and ψ at the left end, and the forces
    state[0, 0] = state[1, 1] = 1.0
    rows, last = {}, 0.0
    for x in (0.0, 0.5, 1.0, LENGTH):
        state = field(x - last, w, spin) @ state if x > last else state
        if x in BETWEEN:
            mass, polar, transverse = inertia(BETWEEN[x])
            state[2] -= (transverse * w**2 - polar * w * spin) * state[1]
            state[3] -= mass * w**2 * state[0]
            state[3, 2] -= push.get(x, 0.0)
        else:
            state[3] += (1e6 + 1j * w * c) * state[0]
        rows[x], last = state[0].copy(), x
    free = state[2:, :2]
    if not push:
        return {}, np.linalg.det(free)
    start = np.append(np.linalg.solve(free, -state[2:, 2]), 1.0)
    return {x: row @ start for x, row in rows.items()}, np.linalg.det(free)


def critical(_: Any) -> fem.Checks:
    """Critical speeds found at once, and in the diagram."""
    from scipy.optimize import brentq

    model, turns = supported()
    direct = fem.critical_speeds(model, 6, rotor=turns, axis=X)
    crossings = fem.campbell(model, np.linspace(0.0, 600.0, 7), 6, rotor=turns, axis=X).critical
    checks = []
    for found in direct:
        sign = 1.0 if found.whirl == "forward" else -1.0
        root = brentq(lambda w, sign=sign: exact(sign * w, 0.0, {}, w)[1].real, 0.99 * found.speed, 1.01 * found.speed)
        checks.append(
            fem.Check(f"{found.whirl}, {found.mode + 1} [rad/s]", reference=root, obtained=found.speed, rel=1e-4)
        )
    for one, other in zip(direct, crossings):
        checks.append(
            fem.Check(f"crossing {one.mode + 1} [rad/s]", reference=one.speed, obtained=other.speed, rel=1e-7)
        )
    return fem.Checks(*checks)


def unbalanced(_: Any) -> fem.Checks:
    """Orbits of both discs, with an unbalance of 1 kg mm on one of them and bearings of 100 N s/m."""
    model, turns = supported(c=100.0)
    speeds = np.concatenate([np.linspace(20.0, 400.0, 39), [86.9, 288.6]])  # and near the critical speeds
    place = {x: model[f"disc at {x:g} m"] for x in BETWEEN}
    response = fem.unbalance_response(model, {place[0.5]: 1e-3}, speeds, rotor=turns, axis=X)
    checks = []
    for x, disc in place.items():
        reference = np.array([exact(w, 100.0, {0.5: 1e-3 * w**2})[0][x] for w in speeds])
        found = response.circles(disc)[0]
        for k in (-2, -1):
            checks.append(fem.Check(f"disc at {x:g} m, {speeds[k]:g} rad/s [m]", reference=abs(reference[k]),
                                    obtained=abs(found[k]), rel=1e-4))  # fmt: skip
        checks.append(fem.Check(f"disc at {x:g} m: error of the orbit, all speeds [-]", reference=0.0,
                                obtained=np.max(np.abs(found - reference) / np.abs(reference)), abs=2e-4))  # fmt: skip
        backward = np.max(np.abs(response.circles(disc)[1]) / np.abs(found))
        checks.append(fem.Check(f"disc at {x:g} m: backward part [-]", reference=0.0, obtained=backward, abs=1e-6))
    return fem.Checks(*checks)


# amplitudes at the bearing x = 0 along y and z [m], and of its turns about them [rad], at 150, 300 and 450 rad/s, that
# the tests of ROSS hold for six elements: 1 kg mm on the smaller disc; and with another one in the middle of the shaft
UNEVEN = {
    "one unbalance": (
        (1.14259057e-06, 1.88932819e-04, 4.50376020e-05), (3.02252319e-06, 1.50551126e-04, 4.98323245e-05),
        (1.97842812e-05, 5.19405022e-05, 2.80824236e-05), (2.02593969e-05, 1.64498124e-05, 1.06100461e-05),
    ),
    "two unbalances": (
        (4.80337594e-06, 2.31170438e-04, 6.90062268e-05), (3.15307288e-06, 1.87793923e-04, 8.08531462e-05),
        (3.79692673e-05, 5.97050225e-05, 5.48105215e-05), (4.16812885e-05, 1.38592416e-05, 2.20209089e-05),
    ),
}  # fmt: skip


def unbalanced_unevenly(_: Any) -> fem.Checks:
    """Elliptic orbits of the rotor with two discs on bearings of 1 and 0.8 MN/m, without damping."""
    model, turns = supported(1e6, 0.8e6)
    system = model.compile()
    middle = next(node for node in system.nodes if abs(node.position[0] - LENGTH / 2) < 1e-9)
    end, checks = model["shaft at 0 m"].index, []
    speeds = (150.0, 300.0, 450.0)
    for name, digits in UNEVEN.items():
        loads = {model["disc at 0.5 m"]: 1e-3, **({middle.frame(): 1e-3} if name == "two unbalances" else {})}
        found = np.abs(fem.unbalance_response(system, loads, speeds, rotor=turns, axis=X).shapes[:, end])
        for component, what in enumerate(("along y [m]", "along z [m]", "about y [rad]", "about z [rad]")):
            for k, speed in enumerate(speeds):
                checks.append(fem.Check(f"{name}, {speed:g} rad/s, {what}", reference=digits[component][k],
                                        obtained=found[k, (1, 2, 4, 5)[component]], rel=5e-3))  # fmt: skip
    return fem.Checks(*checks)


BOOK = "Friswell et al. 2010"
EXACT = f"{BOOK}; exact beams by transfer matrices"
CASES = [
    Case("rotor-frequencies", "Campbell diagram of rotors with two discs, and with one that overhangs",
         f"{BOOK}, examples 5.9.1, 5.9.2, 5.9.5, 5.9.9, digits of the program ROSS",
         "its digits and mesh, 5e-4 in the highest frequency", frequencies, (Method(STATIC, OWN),)),
    Case("rotor-critical-speeds", "critical speeds of the rotor with two discs", EXACT,
         "order 4 in the mesh: four intervals of 12 cm", critical, (Method(STATIC, OWN),)),
    Case("rotor-unbalance", "unbalance response of the rotor with two discs", EXACT,
         "critical speeds are right to 1e-5, and there is little damping", unbalanced,
         (Method(STATIC, OWN),)),
    Case("rotor-unbalance-uneven", "unbalance response of the rotor with two discs on uneven bearings",
         f"{BOOK}, example 5.9.2, digits of the program ROSS", "its mesh of six elements: 9e-4 at most",
         unbalanced_unevenly, (Method(STATIC, OWN),)),
]  # fmt: skip
