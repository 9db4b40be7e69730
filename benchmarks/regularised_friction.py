"""Roller-crank of Sanchez2025, A.6.3, with Coulomb's law of the scheme, a smoothed and a switched law of friction.

    python benchmarks/regularised_friction.py        prints the table of docs/published_benchmarks.md

The mechanism is written as its equations of motion in Cartesian coordinates (three bodies in the plane), whose only
friction law is a force μ N σ(slip): σ = slip/√(slip² + w²), the smoothed law, or σ = sign(slip), the switched law of
codes without impulses. The steps of the Runge-Kutta method are those of the scheme. While the roller sticks the
switched force changes its sign from stage to stage: oscillations of the acceleration that the mechanism does not have.
"""

import sys
from pathlib import Path

import numpy as np

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import roller_crank as data

H, T_END, STICKS = 1e-3, 0.2, 0.147  # s: step, end, until then the roller sticks
MASSES = np.repeat([data.crank_mass, data.rod_mass, data.roller_mass], 3)
MASSES[2::3] = data.crank_inertia, data.rod_inertia, data.roller_inertia


def start():
    """Coordinates x, y, angle and their rates of crank, rod and roller (9,), the roller level with the pivot."""
    tip, hub = np.array([0, data.crank_length]), np.array([np.sqrt(data.rod_length**2 - data.crank_length**2), 0])
    turned = np.arctan2(*(hub - tip)[::-1])
    q = np.concatenate([tip / 2, [np.pi / 2], (tip + hub) / 2, [turned], hub, [0]])
    speed = [-data.crank_speed * data.crank_length, 0]
    v = np.concatenate([np.array(speed) / 2, [data.crank_speed], speed, [0], speed, [data.roller_speed]])
    return q, v


def constraints(q):
    """Gradients (7, 9) of pivot, pin, axle and floor, and their rates with velocities v as a function."""
    rows, arms = np.zeros((7, 9)), []
    pairs = [(0, None, -data.crank_length / 2, 0), (1, 0, -data.rod_length / 2, data.crank_length / 2),
             (2, 1, 0.0, data.rod_length / 2)]  # fmt: skip
    for k, (body, other, arm, other_arm) in enumerate(pairs):
        for b, a, sign in ((body, arm, 1.0), (other, other_arm, -1.0)):
            if b is None:
                continue
            angle = q[3 * b + 2]
            rows[2 * k : 2 * k + 2, 3 * b : 3 * b + 2] = sign * np.eye(2)
            rows[2 * k : 2 * k + 2, 3 * b + 2] = sign * a * np.array([-np.sin(angle), np.cos(angle)])
            arms.append((2 * k, b, -sign * a * np.array([np.cos(angle), np.sin(angle)])))
    rows[6, 7] = 1.0
    return rows, lambda v: sum(np.bincount([i, i + 1], c * v[3 * b + 2] ** 2, 7) for i, b, c in arms)


def accelerations(q, v, law):
    """Accelerations (9,) with the friction μ N σ of the roller; N is the reaction of the floor."""
    G, gamma = constraints(q)
    slip = v[6] + data.radius * v[8]
    pull = np.zeros(9)  # per unit of N
    pull[[6, 8]] = -data.friction * law(slip) * np.array([1.0, data.radius])
    matrix = np.block([[np.diag(MASSES), -G.T], [G, np.zeros((7, 7))]])
    matrix[:9, 15] -= pull
    force = np.where(np.arange(9) % 3 == 1, -data.g * MASSES, 0.0)
    return np.linalg.solve(matrix, np.concatenate([force, -gamma(v)]))[:9]


def integrate(law, h=H):
    """Times and angular speeds of the roller, by the classical method of Runge and Kutta."""
    q, v = start()
    spins = [v[8]]
    for _ in range(round(T_END / h)):
        k1 = accelerations(q, v, law)
        k2 = accelerations(q + h / 2 * v, v + h / 2 * k1, law)
        k3 = accelerations(q + h / 2 * (v + h / 2 * k1), v + h / 2 * k2, law)
        k4 = accelerations(q + h * (v + h / 2 * k2), v + h * k3, law)
        q, v = q + h * v + h**2 / 6 * (k1 + k2 + k3), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        spins.append(v[8])
    return np.arange(len(spins)) * h, np.array(spins)


def scheme(h=H):
    """The same of a run of fem_mbs."""
    result = fem.DecoupledNSGA(rho_inf=0.0).run(data.build(level=0.0), T_END, h, progress=False)
    return result.t, result["roller"].angular_velocity[:, 2]


def smoothed(width, h=H):
    return integrate(lambda slip: slip / np.hypot(slip, width), h)


def switched(h=H):
    return integrate(np.sign, h)


def turns(t, spin):
    """Number of extrema of the angular acceleration while the roller sticks; its mechanism has one."""
    acceleration = (np.diff(spin) / np.diff(t))[t[1:] < STICKS]
    return int(np.count_nonzero(np.diff(np.sign(np.diff(acceleration)))))


def noise(t, spin):
    """Largest change of the angular acceleration from one step to the next but one, less that of its slope [rad/s²]."""
    acceleration = (np.diff(spin) / np.diff(t))[t[1:] < STICKS]
    return float(np.abs(np.diff(acceleration, 2)).max())


ROWS = {
    "Coulomb's law, `DecoupledNSGA`, 1 ms": scheme,
    "smoothed, w = 10 mm/s, 1 ms": lambda: smoothed(1e-2),
    "smoothed, w = 1 mm/s, 0.1 ms": lambda: smoothed(1e-3, H / 10),
    "switched, 1 ms": switched,
}


def main():
    print("| | speed at 0.1 s [rad/s] | extrema of the acceleration | its noise [rad/s²] |\n|---|---|---|---|")
    for name, run in ROWS.items():
        t, spin = run()
        print(f"| {name} | {np.interp(0.1, t, spin):.4f} | {turns(t, spin)} | {noise(t, spin):.2g} |")


if __name__ == "__main__":
    main()
