"""Tippe top: it is spun upright, turns over, spins on its stick, and falls again when the spin is lost.

Capobianco2021, section 10.6, after Leine and Glocker. Sliding and drilling friction are coupled
(`radius_contensou`): both contacts press over a disc of 0.5 mm. Body and stick end are spheres. Friction 0.3,
restitution 0 and gravity are those of the authors' script, the article does not print them.

The references are not those of the article's scheme at 1 ms, whose run has an error of discretisation
(tests/validation/laws/test_tippe_top.py compares). Until the stick touches they are from the equations of motion of a
sliding top, see `reference`; later ones from an independent code, Moreau's time stepping with projected Gauss-Seidel
iterations and h = 5e-6 s.

    python examples/tippe_top.py                writes tippe_top.vtkhdf, to open in ParaView
"""

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.rotations import exp
from fem_mbs.shapes import Sphere

mass, inertia, g = 6e-3, np.array([8e-7, 8e-7, 7e-7]), 9.81  # kg, kg m² about S, m/s²
radius_body, radius_stick = 1.5e-2, 5e-3  # m
height_body, height_stick = 3e-3, 1.6e-2  # m, of the centres of the spheres above S, along the axis of the top
friction, disc = 0.3, 5e-4  # -, m
tilt, spin = 0.1, 180.0  # rad, rad/s about the axis of the top
start = radius_body - height_body * np.cos(tilt)  # m, height of S: the body touches the table

# s: tilt beyond 90°, stick touches the table, stick leaves it for good (5.4742 and 5.4688 at h = 2e-5 and 5e-6)
REFERENCE = {"over": 0.97295, "touch": 1.37104, "leave": 5.467}
# t [s]: tilt [degrees]; to 1.2 s from `reference`, then from Moreau's time stepping
TILT = {0.4: 24.86, 0.8: 64.43, 1.0: 90.10, 1.2: 124.15, 1.6: 168.6, 2.0: 171.9, 3.0: 176.2, 4.0: 175.9, 4.4: 160.9,
        5.0: 140.3, 5.4: 140.3, 5.8: 138.0, 6.2: 134.7, 7.0: 123.7, 8.0: 97.5}  # fmt: skip


def build(height=start):
    """Top on the table z = 0; printed: height = 1.2015e-2 m, 12.5 nm above contact."""
    model = fem.Model("tippe top", gravity=[0, 0, -g])
    axis, centre, end = np.array([0, 0, 1.0]), [0, 0, height_body], [0, 0, height_stick]
    shape = [Sphere(radius_body, offset=centre, resolution=20, color="#b5451b")]
    shape += [Sphere(radius_stick, offset=end, resolution=12, color="#e8c547")]
    top = fem.RigidBody(
        mass, inertia, position=[0, 0, height], rotation=[tilt, 0, 0], shape=shape, name="top",
        angular_velocity=exp([tilt, 0, 0]) @ (spin * axis),
    )  # fmt: skip
    model.add(top)
    law = {"friction": friction, "radius_contensou": disc}
    table = model.ground.frame([-0.045, 0, 0])  # drawn where the top will go
    for name, place, radius, size in (("body", centre, radius_body, 0.13), ("stick", end, radius_stick, 0.0)):
        model.add(fem.SphereOnPlane(top.frame(place), table, radius=radius, drawn_size=size, name=name, **law))
    return model


def angle(result):
    """Tilt of the axis of the top from the vertical [degrees] (k,)."""
    return np.degrees(np.arccos(np.clip(result["top"].rotation[:, 2, 2], -1.0, 1.0)))


def sliding(t, y):
    """Rates of x, R (flat), v, Ω while the body slides on the table: Newton-Euler, z̈ of the contact point = 0."""
    R, v, w = y[3:12].reshape(3, 3), y[12:15], y[15:]
    up, centre, arm = np.array([0, 0, 1.0]), np.array([0, 0, height_body]), 3 * np.pi / 16 * disc
    to_contact, turn = R @ centre - radius_body * up, R @ w
    slip = (v + np.cross(turn, to_contact)) * [1, 1, 0] + arm * turn * up
    push = -friction * slip / np.linalg.norm(slip)
    force = push * [1, 1, 0] + up  # per unit of the normal force, as the moment about S
    moment = np.cross(to_contact, force) + arm * push * up
    free = -np.cross(w, inertia * w) / inertia
    loaded = R.T @ moment / inertia
    falls = -g + (R @ (np.cross(free, centre) + np.cross(w, np.cross(w, centre))))[2]
    normal = -falls / (1 / mass + (R @ np.cross(loaded, centre))[2])
    turning = R @ np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.concatenate([v, turning.ravel(), -g * up + normal * force / mass, free + normal * loaded])


def reference():
    """Motion until the stick touches, by an explicit Runge-Kutta method of order 8: t [s], tilt(t) [degrees], both
    times of `REFERENCE` found.
    """

    def over(_, y):
        return y[11]

    def touch(_, y):
        return y[2] + height_stick * y[11] - radius_stick

    touch.terminal = True
    y = np.concatenate([[0, 0, start], exp([tilt, 0, 0]).ravel(), np.zeros(3), [0, 0, spin]])
    run = solve_ivp(sliding, (0, 2), y, "DOP853", events=[over, touch], rtol=1e-10, atol=1e-13, dense_output=True)
    return lambda t: np.degrees(np.arccos(run.sol(t)[11])), run.t_events[0][0], run.t_events[1][0]


def run(h=1e-3, t_end=8.0, height=start, save=None, solver=None, **options):
    """Results; by default closed contacts take part in the smooth motion, which is of second order while it slides."""
    solver = solver or fem.DecoupledNSGA(**{"rho_inf": 0.5, **options})
    return solver.run(build(height), t_end=t_end, h=h, save=save)


def times(result):
    """When the tilt passes 90°, when the stick first touches and when it leaves the table for good [s]."""
    touching = np.flatnonzero(result["stick"].status > 0)
    return result.t[np.argmax(angle(result) > 90.0)], result.t[touching[0]], result.t[touching[-1]]


def main(h=1e-3, save="tippe_top.vtkhdf", solver=None):
    result = run(h, save=save, solver=solver)
    over, touch, leave = times(result)
    gap = min(result[name].gap.min() for name in ("body", "stick"))
    both = np.degrees(np.arccos((radius_stick - radius_body) / (height_stick - height_body)))  # both spheres touch
    checks = [
        fem.Check("tilt beyond 90° [s]", reference=REFERENCE["over"], obtained=over, abs=2 * h),  # two steps
        fem.Check("stick touches [s]", reference=REFERENCE["touch"], obtained=touch, abs=2 * h),
        # first order after the impact at 1.37 s: 7 ms measured from h to h/8
        fem.Check("stick leaves for good [s]", reference=REFERENCE["leave"], obtained=leave, abs=0.02),
        fem.Check("tilt on body and stick [°]", reference=both, obtained=angle(result)[result.at(5.0)], abs=0.01),
        fem.Check("smallest gap [m]", reference=0.0, obtained=gap, abs=1e-12),
        fem.Check("largest rise of energy [J]", reference=0.0, obtained=max(np.diff(result.energy.total).max(), 0.0),
                  abs=1e-12),  # of 0.012 J; friction only takes
    ]  # fmt: skip
    for t, tilt_then in TILT.items():
        # second order until the impact at 1.37 s, 0.21° measured; then first order, 0.5° measured
        error = 0.3 if t < 1.3 else 1.0
        obtained = angle(result)[result.at(t)]
        checks.append(fem.Check(f"tilt at {t:.1f} s [°]", reference=tilt_then, obtained=obtained, abs=error))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
