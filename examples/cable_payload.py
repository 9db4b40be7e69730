"""Cable with a payload: a load swings on a rope that runs over a pulley to a counterweight.

The rope winds on the pulley and off it as the load swings, and the load pulls the counterweight up and lets it down: a
swinging Atwood's machine with a pulley of finite size. The reference integrates its two equations of motion.

    python examples/cable_payload.py            writes cable_payload.vtkhdf, to open in ParaView
"""

import math

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem

load, counterweight, radius = 20.0, 22.0, 0.25  # kg, kg, m
hangs, angle, g = 1.5, math.radians(50), 9.81  # m of free rope, rad from the vertical, m/s²


def place(s, theta):
    """Load at the end of s [m] of free rope that leaves the pulley at theta [rad] from the vertical."""
    sine, cosine = np.sin(theta), np.cos(theta)
    return np.array([radius * cosine + s * sine, radius * sine - s * cosine])


def build():
    """Pulley about z at the origin, load on its right, counterweight on its left."""
    model = fem.Model("cable with a payload", gravity=[0, -g, 0])
    x, y = place(hangs, angle)
    a = model.add(fem.RigidBody.sphere(load, 0.12, position=[x, y, 0], name="load"))
    b = model.add(fem.RigidBody.sphere(counterweight, 0.12, position=[-radius, -1.5, 0], name="counterweight"))
    # the rope runs from the load over the pulley to the left: counter-clockwise about z
    model.add(fem.Cable([a, (model.ground.frame(), radius), b], name="rope"))
    return model


def reference(t_end):
    """Free rope s, angle θ and their rates at t_end, and the tension, from u = s − rθ and θ."""

    def rates(t, y):
        u, theta, du, dtheta = y
        s, ds = u + radius * theta, du + radius * dtheta
        pull = load * (s * dtheta**2 + g * math.cos(theta)) - counterweight * g
        turn = -g * math.sin(theta) - 2 * ds * dtheta + radius * dtheta**2
        return [du, dtheta, pull / (load + counterweight), turn / s]

    start = [hangs - radius * angle, angle, 0.0, 0.0]
    y = solve_ivp(rates, (0, t_end), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    tension = counterweight * (g + rates(t_end, y)[2])
    return y[0] + radius * y[1], y[1], tension


def main(t_end=3.0, h=2e-3, save="cable_payload.vtkhdf"):
    solver = fem.DecoupledNSGA(rho_inf=0.9)
    result = solver.run(build(), t_end=t_end, h=h, save=save)
    s, theta, tension = reference(t_end)
    x, y = place(s, theta)
    at, energy = result["load"].position[-1], result.energy.total
    return fem.Checks(
        # second order in h; measured 2.1e-5 m, 5e-4 N and 5e-4 J at 2 ms
        fem.Check("load x [m]", reference=x, obtained=at[0], abs=1e-4),
        fem.Check("load y [m]", reference=y, obtained=at[1], abs=1e-4),
        fem.Check("tension [N]", reference=tension, obtained=result["rope"].tension[-1], abs=2e-3),
        fem.Check("slack [m]", reference=0.0, obtained=np.abs(result["rope"].gap).max(), abs=1e-9),
        fem.Check("change of energy [J]", reference=0.0, obtained=np.abs(energy - energy[0]).max(), abs=2e-3),
    )


if __name__ == "__main__":
    main().print()
