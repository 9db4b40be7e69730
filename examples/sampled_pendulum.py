"""Sampled controller: an arm is lifted against gravity and wind by a digital controller with delay.

The controller sees the arm every 20 ms and its moment acts 8 ms later. The wind stops when the arm passes 1.2 rad, at
a time that is found inside a step. Reference: the equation of motion of the arm, solved piece by piece by SciPy.

    python examples/sampled_pendulum.py         writes sampled_pendulum.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Cylinder

mass, length, g = 1.0, 1.0, 9.81  # kg, m, m/s²
inertia = mass * length**2 / 3  # about the hinge
period, delay = 0.02, 0.008  # s
goal, passed, wind = 2.2, 1.2, 3.0  # rad, rad, N
t_end, h = 2.0, 2e-3  # s


def moment(t, y):
    """Law of the controller: angle and rate to the moment of the motor [N m]; smooth from 0 to the goal."""
    aim = goal * min(t / 0.8, 1.0)
    return 20.0 * (aim - y[0]) - 3.0 * y[1] + 0.5 * mass * g * length * np.sin(y[0])


def build():
    """The arm hangs at the start; its angle is counted from there."""
    model = fem.Model("sampled pendulum", gravity=[0, -g, 0])
    rod = Cylinder([0, 0, 0], [0, -length, 0], 0.02)
    across = mass * length**2 / 12
    inertia_c, centre = [across, 1e-4, across], [0, -length / 2, 0]
    arm = model.add(fem.RigidBody(mass, inertia_c, center=centre, shape=rod, name="arm"))
    model.add(fem.Revolute.at(model.ground, arm, [0, 0, 0], [0, 0, 1], name="hinge"))
    angle = fem.Sensor(arm, "angle", axis=[0, 0, 1], name="angle")
    rate = fem.Sensor(arm, "angular_velocity", component="z")
    controller = model.add(fem.Controller(moment, period, [angle, rate], delay=delay, name="controller"))
    model.add(fem.PointMoment(arm, [0, 0, 1], signal=controller.output(), name="motor"))
    blows = fem.Held(1.0, name="wind")
    model.add(fem.PointForce(arm.frame([0, -length, 0]), [-wind, 0, 0], signal=blows, name="wind"))
    model.add(fem.Event(angle, fem.SetTo(blows, 0.0), level=passed, direction="up", name="lee"))
    return model


def reference():
    """Angles and rates at the samples (k, 2), and the time at which the wind stops."""
    from scipy.integrate import solve_ivp

    def rate(t, y, u, blows):
        gravity = -0.5 * mass * g * length * np.sin(y[0])
        return [y[1], (gravity + u - blows * wind * length * np.cos(y[0])) / inertia]

    def reached(t, y, u, blows):
        return y[0] - passed if blows else 1.0

    reached.terminal = True
    samples = round(t_end / period)
    times = [(k * period, "sample") for k in range(samples + 1)] + [(k * period + delay, "act") for k in range(samples)]
    t, y, u, waiting, blows, seen, lee = 0.0, np.zeros(2), 0.0, [], 1.0, [], None
    for time, what in sorted(times):
        while t < time:
            found = solve_ivp(rate, [t, time], y, args=(u, blows), events=reached, rtol=1e-11, atol=1e-12)
            t, y = found.t[-1], found.y[:, -1]
            if found.t_events[0].size:
                lee, blows = t, 0.0
        if what == "sample":
            seen.append(y)
            waiting.append(moment(time, y))
        else:
            u = waiting.pop(0)
    return np.array(seen), lee


def main():
    """Run the arm and compare it with the reference; returns `fem.Checks`."""
    result = fem.DecoupledNSGA().run(build(), t_end, h, save="sampled_pendulum.vtkhdf", progress=False)
    samples, (expected, lee) = result.samples["controller"], reference()
    angles = samples.inputs[:, 0]
    largest = np.abs(angles - expected[:, 0]).max()
    # twice what was measured at 2 ms; second order in h
    return fem.Checks(
        fem.Check("samples", reference=len(expected), obtained=len(samples), abs=0),
        fem.Check("angle at 0.4 s [rad]", reference=expected[20, 0], obtained=angles[20], abs=5e-6),
        fem.Check("angle at 2 s [rad]", reference=expected[-1, 0], obtained=angles[-1], abs=1e-7),
        fem.Check("largest error of a sample [rad]", reference=0, obtained=largest, abs=5e-6),
        fem.Check("the wind stops [s]", reference=lee, obtained=result.events.t[0], abs=2e-7),
    )


if __name__ == "__main__":
    main().print()
