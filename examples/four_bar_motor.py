"""Four-bar with a flexible coupler, driven by a motor: what does the motor feel of the coupler's bending?

The motor runs up smoothly to a constant speed. With a rigid coupler its moment is known: its power is the rate
of the energy, which the geometry of the linkage gives. With the flexible one the energy balance closes.

    python examples/four_bar_motor.py            writes four_bar_motor.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Cylinder

crank, coupler, rocker, ground = 0.10, 0.40, 0.30, 0.45  # m
masses, width, g = (0.3, 0.6, 0.5), 0.012, 9.81  # kg; crank, coupler, rocker; m; m/s²
start, speed, run_up = 1.2, 40.0, 0.3  # rad, rad/s, s
t_end = 0.6  # s


def angle(t):
    """Angle of the crank [rad]; the motor turns it from ``start``."""
    return start + fem.smooth_start(speed, run_up)(t)


def geometry(theta):
    """Ends B and C of the coupler (…, 2) [m] for angles of the crank (…,)."""
    B = crank * np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    d = np.array([ground, 0.0]) - B
    r = np.linalg.norm(d, axis=-1)[..., None]
    along = (coupler**2 - rocker**2 + r**2) / (2 * r)
    up = np.stack([-d[..., 1], d[..., 0]], axis=-1) / r
    return B, B + along * d / r + np.sqrt(coupler**2 - along**2) * up


def section():
    """Square bar of the coupler's mass; soft, so that it bends."""
    return fem.Section.rectangle(width, width, E=2e9, nu=0.3, density=masses[1] / (coupler * width**2))


def rod(mass, a, b, name):
    """Slender bar between two points (2,) of the plane x-z."""
    a, b = (np.array([p[0], 0.0, p[1]]) for p in (a, b))
    along = (b - a) / np.linalg.norm(b - a)
    J = mass * np.linalg.norm(b - a) ** 2 / 12 * (np.eye(3) - np.outer(along, along)) + 1e-6 * np.eye(3)
    return fem.RigidBody(mass, J, position=(a + b) / 2, shape=Cylinder((a - b) / 2, (b - a) / 2, 0.008), name=name)


def build(flexible, n=8):
    """The linkage at rest in the plane x-z; the motor turns the crank about −y, from x to z."""
    B, C = geometry(np.array(start))
    place = {"A": (0.0, 0.0), "B": B, "C": C, "D": (ground, 0.0)}
    points = {name: np.array([p[0], 0.0, p[1]]) for name, p in place.items()}
    model = fem.Model("four-bar with motor", gravity=[0, 0, -g])
    first = model.add(rod(masses[0], place["A"], B, "crank"))
    last = model.add(rod(masses[2], C, place["D"], "rocker"))
    if flexible:
        line = model.add(fem.beam_line(points["B"], points["C"], n, section(), damping=2e-5, name="coupler"))
        ends = line.nodes[0], line.nodes[-1]
    else:
        ends = (model.add(rod(masses[1], B, C, "coupler")),) * 2
    motor = fem.Motor(position=fem.smooth_start(speed, run_up))
    model.add(fem.Revolute.at(model.ground, first, points["A"], [0, -1, 0], motor=motor, name="A"))
    model.add(fem.Revolute.at(first, ends[0], points["B"], [0, -1, 0], name="B"))
    model.add(fem.Revolute.at(ends[1], last, points["C"], [0, -1, 0], name="C"))
    model.add(fem.Revolute.at(model.ground, last, points["D"], [0, -1, 0], name="D"))
    return model


def energy(t):
    """Energy of the rigid linkage [J] at times (k,), by differences of its geometry."""
    d = 1e-5

    def parts(s):
        B, C = geometry(angle_of(s))
        D = np.array([ground, 0.0])
        turns = [np.arctan2(*(b - a).T[::-1]) for a, b in ((np.zeros(2) + 0 * B, B), (B, C), (C, D + 0 * C))]
        return [B / 2, (B + C) / 2, (C + D) / 2], turns

    total = np.zeros(len(t))
    (x1, a1), (x0, a0), (x, _) = parts(t + d), parts(t - d), parts(t)
    for k, (mass, length) in enumerate(zip(masses, (crank, coupler, rocker))):
        v, w = (x1[k] - x0[k]) / (2 * d), np.unwrap(np.stack([a0[k], a1[k]]), axis=0)
        spin = (w[1] - w[0]) / (2 * d)
        total += (
            0.5 * mass * (v**2).sum(axis=1) + 0.5 * (mass * length**2 / 12 + 1e-6) * spin**2 + mass * g * x[k][:, 1]
        )
    return total


def angle_of(times):
    """`angle` at times (k,)."""
    return np.array([angle(float(t)) for t in times])


def run(flexible, h, n=8, **options):
    """Results of a run."""
    system = build(flexible, n).compile(redundant="error" if flexible else "allow")
    return fem.DecoupledNSGA().run(system, t_end, h, progress=False, **options)


def main(h=5e-4):
    """Check the power for the rigid linkage, energy balance and mesh of the flexible one; returns `fem.Checks`."""
    rigid, d = run(False, h), 1e-4
    t, motion = rigid.t[20:-20], fem.smooth_start(speed, run_up)
    expected = (energy(t + d) - energy(t - d)) / (2 * d)
    power = rigid["A motor"].effort[20:-20] * [motion.jet(float(s))[1] for s in t]
    bending = run(True, h, save="four_bar_motor.vtkhdf", balance=True)
    table, felt = bending.energy_table(), bending["A motor"].effort
    fine = run(True, h / 2, n=16)["A motor"].effort[::2]
    print(table)
    print(f"largest moment: rigid {abs(rigid['A motor'].effort).max():.2f}, flexible {abs(felt).max():.2f} N m")
    # twice what was measured; second order in h
    return fem.Checks(
        fem.Check("power, rigid: largest error [W]", reference=0, obtained=abs(power - expected).max(), abs=0.07),
        fem.Check("largest power, rigid [W]", reference=expected.max(), obtained=power.max(), abs=0.04),
        fem.Check("energy that the balance misses [J]", reference=0, obtained=table.numerical, abs=2e-3),
        fem.Check(
            "moment: half the step, twice the mesh [N m]", reference=0, obtained=np.abs(felt - fine).mean(), abs=0.04
        ),
    )


if __name__ == "__main__":
    main().print()
