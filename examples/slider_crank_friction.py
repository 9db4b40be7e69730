"""Slider-crank with dry friction in three pins and the guide, until the slider hits a stop.

Friction acts on the reactions of its own joint. Planar joints in space are redundant: `redundant="allow"` gives the
reactions in the plane, which alone matter here. Reference: consistent accelerations with friction, integrated by
DOP853 (docs/theory/joint_friction.md).

    python examples/slider_crank_friction.py            writes slider_crank_friction.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Cylinder

crank, rod = 0.2, 0.5  # m
masses, inertias = (1.0, 1.5, 2.0), (0.01, 0.03)  # kg, kg m²; crank, rod, slider
mu, radius = 0.2, 0.02  # -, m
angle, rate = 0.5, 12.0  # rad, rad/s; of the crank at the start
stop, e = 0.325, 0.4  # m, -; of the slider from the axis of the crank
ANGLES = {0.1: 1.344265354, 0.2: 2.104205904}  # rad
WORKS = {0.1: 0.764158691, 0.2: 1.466557959}  # J, taken by friction


def build(friction=True, stops=None):
    """Crank, rod and slider in the x-y plane, weight along -y; the slider slides along x."""
    pins = {"friction": fem.DryFriction(mu, radius=radius)} if friction else {}
    guide = {"friction": fem.DryFriction(mu, flat=True)} if friction else {}
    guide |= {} if stops is None else {"stops": stops}
    B = crank * np.array([np.cos(angle), np.sin(angle), 0])
    lean = np.arcsin(B[1] / rod)
    C = np.array([B[0] + rod * np.cos(lean), 0, 0])
    turn = -rate * B[0] / (C[0] - B[0])  # of the rod: the slider has no velocity across its guide
    model = fem.Model("slider-crank with friction", gravity=[0, -9.81, 0])
    v_B, spin = rate * np.array([-B[1], B[0], 0]), np.array([0, 0, turn])
    motions = ((B / 2, v_B / 2, [0, 0, rate]), ((B + C) / 2, v_B + np.cross(spin, (C - B) / 2), spin))
    motions = (*motions, (C, v_B + np.cross(spin, C - B), [0, 0, 0]))
    bodies = []
    for name, mass, J, along, (x, v, w) in zip(
        ("crank", "rod", "slider"), masses, (*inertias, 0.01), (B, C - B, np.array([0.1, 0, 0])), motions
    ):
        shape = Cylinder(-along / 2, along / 2, 0.01 if name != "slider" else 0.03)
        options = {"position": x, "velocity": v, "angular_velocity": w, "shape": shape, "name": name}
        bodies.append(model.add(fem.RigidBody(mass, J, **options)))
    for name, first, second, place in zip("ABC", [model.ground, *bodies], bodies, (np.zeros(3), B, C)):
        model.add(fem.Revolute.at(first, second, place, [0, 0, 1], name=f"pin {name}", **pins))
    model.add(fem.Prismatic.at(model.ground, bodies[2], C, [1, 0, 0], name="guide", **guide))
    return model


def run(t_end, h, **options):
    """Results of a run."""
    system = build(**options).compile(redundant="allow")
    return fem.DecoupledNSGA().run(system, t_end, h, save="slider_crank_friction.vtkhdf", progress=False)


def motion_at(time, result, states):
    """Displacement [m] and rate [m/s] of the guide at a time within a step, from states on one side of it."""
    guide, t = result["guide"], result.t[states] - time
    return [np.polyfit(t, values[states], len(states) - 1)[-1] for values in (guide.displacement, guide.rate)]


def main(h=5e-4):
    """Check angles and work against the digits, and the law of the stop; returns `fem.Checks`."""
    result = run(0.2, h)
    turned = angle + result["pin A"].angle
    lost = result.energy.total[0] - result.energy.total
    checks = []
    for t in ANGLES:
        k = round(t / h)
        # second order in h; three to ten times what was measured at 0.5 ms
        checks.append(fem.Check(f"crank at {t} s [rad]", reference=ANGLES[t], obtained=turned[k], abs=3e-5))
        checks.append(fem.Check(f"work of friction until {t} s [J]", reference=WORKS[t], obtained=lost[k], abs=2e-3))
    start = np.sqrt(rod**2 - (crank * np.sin(angle)) ** 2) + crank * np.cos(angle)
    struck = run(0.3, h, stops=fem.Stops(lower=stop - start, restitution=e))
    touch = struck.impact_times("guide lower stop")[0]
    x, after = motion_at(touch, struck, np.flatnonzero(struck.t > touch)[:3])
    checks.append(fem.Check("slider at the stop [m]", reference=stop, obtained=x + start, abs=1e-7))
    before = motion_at(touch, struck, np.flatnonzero(struck.t < touch)[-3:])[1]
    checks.append(fem.Check("rebound of the slider [m/s]", reference=-e * before, obtained=after, abs=1e-4))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
