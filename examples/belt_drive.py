"""Belt drive of a fan: a motor runs up a fan through a belt with elastic spans, until their torques balance.

The motor's torque falls linearly with its speed, that of the fan grows with the square of its speed. At the start the
belt swings; the reference integrates the two angles. At last tensions, speeds and bearing loads have closed forms.

    python examples/belt_drive.py            writes belt_drive.vtkhdf, to open in ParaView
"""

import math

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.shapes import Cylinder

radii, distance = (0.05, 0.12), 0.4  # m, of the pulleys; of their axes
inertias = (5e-3, 0.08)  # kg m², with motor and fan
pretension, stiffness, damping = 300.0, 6e4, 60.0  # N, N/m and N s/m of one span
stall, no_load, fan = 12.0, 150.0, 1e-2  # N m, rad/s, N m s²


def build():
    """Axes along z, the motor at the origin, the fan at x = 0.4 m."""
    model = fem.Model("belt drive")

    def pulley(name, x, mass, radius, inertia, **options):
        shape = Cylinder([0, 0, -0.015], [0, 0, 0.015], radius)
        body = model.add(fem.RigidBody(mass, [inertia] * 3, position=[x, 0, 0], shape=shape, name=name))
        model.add(fem.Revolute.at(model.ground, body, [x, 0, 0], [0, 0, 1], name=f"{name} shaft", **options))
        return body

    motor = pulley("motor", 0.0, 2.0, radii[0], inertias[0], motor=fem.Motor(effort=stall), damping=stall / no_load)
    wheel = pulley("fan", distance, 8.0, radii[1], inertias[1], damping=lambda rate: fan * rate * abs(rate))
    spans = {"stiffness": stiffness, "damping": damping, "pretension": pretension}
    model.add(fem.Belt(motor, wheel, radii=radii, name="belt", **spans))
    return model


def reference(t):
    """Speeds of motor and fan, and the two tensions (4, k) at the times t, from the equations of the two angles."""

    def tensions(y):
        """y = lead of the motor on its radius [m], speeds of motor and fan [rad/s]."""
        pull = stiffness * y[0] + damping * (radii[0] * y[1] - radii[1] * y[2])
        return np.maximum(pretension + pull, 0.0), np.maximum(pretension - pull, 0.0)

    def rates(t, y):
        tight, slack = tensions(y)
        drive, load = stall * (1 - y[1] / no_load), fan * y[2] * abs(y[2])
        motor, wheel = drive - radii[0] * (tight - slack), radii[1] * (tight - slack) - load
        return [radii[0] * y[1] - radii[1] * y[2], motor / inertias[0], wheel / inertias[1]]

    y = solve_ivp(rates, (0, t[-1]), [0, 0, 0], method="DOP853", t_eval=t, rtol=1e-11, atol=1e-13).y
    return np.array([y[1], y[2], *tensions(y)])


def steady():
    """Speed of the motor, ratio, both tensions, force of the motor's bearings on it (x, y): where nothing changes."""
    ratio = radii[1] / radii[0]
    a, b = fan / ratio**3, stall / no_load
    speed = (math.sqrt(b**2 + 4 * a * stall) - b) / (2 * a)
    half = stall * (1 - speed / no_load) / radii[0] / 2
    sine = (radii[1] - radii[0]) / distance  # of the angle between the spans and the line of centres
    x, y = -2 * pretension * math.sqrt(1 - sine**2), -2 * half * sine
    return speed, ratio, pretension + half, pretension - half, x, y


def main(t_end=2.5, h=4e-4, save="belt_drive.vtkhdf"):
    result = fem.DecoupledNSGA(rtol=1e-9).run(build(), t_end=t_end, h=h, save=save, save_every=5)
    motor, wheel = (result[name].angular_velocity[:, 2] for name in ("motor", "fan"))
    errors = np.abs(np.array([motor, wheel, *result["belt"].tension.T]) - reference(result.t)).max(axis=1)
    found = [motor[-1], motor[-1] / wheel[-1], *result["belt"].tension[-1], *result["motor shaft"].force[-1, :2]]
    names = ("motor [rad/s]", "ratio", "tight span [N]", "slack span [N]", "on its shaft, x [N]", "on its shaft, y [N]")
    return fem.Checks(
        # second order in h: twice what was measured at 0.4 ms; a quarter of it at 0.2 ms
        fem.Check("run-up of the motor, error [rad/s]", reference=0, obtained=errors[0], abs=3.2e-2),
        fem.Check("run-up of the fan, error [rad/s]", reference=0, obtained=errors[1], abs=5e-3),
        fem.Check("tensions, error [N]", reference=0, obtained=errors[2:].max(), abs=0.45),
        # the run-up is over to 2e-9, and iterations stop at 1e-9
        *(fem.Check(f"at last: {n}", reference=r, obtained=o, rel=1e-6) for n, r, o in zip(names, steady(), found)),
    )


if __name__ == "__main__":
    main().print()
