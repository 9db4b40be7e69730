"""Geared servo drive with backlash: a motor turns a load through a pinion and a wheel, and stops it again.

While the motor speeds up and runs, one flank of the teeth presses. When it slows down, the load flies across the
backlash, hits the other flank, and rattles until the damping of the teeth has taken its energy.

    python examples/geared_servo.py            writes geared_servo.vtkhdf, to open in ParaView
"""

import math

import numpy as np
from scipy.optimize import brentq

import fem_mbs as fem

teeth, module, width = np.array([20, 60]), 2e-3, 0.015  # -, m, m
J_load, drag = 4e-3, 0.02  # kg m², N m s: of the load on the shaft of the wheel
backlash = 2e-4  # m, along the line of action
turn, speed, acceleration = 30.0, 60.0, 600.0  # of the motor: rad, rad/s, rad/s²
base = 0.5 * module * teeth * math.cos(math.radians(20))  # m, base radii
ratio = teeth[1] / teeth[0]


def build():
    model = fem.Model("geared servo drive")
    distance = 0.5 * module * teeth.sum()
    pinion = model.add(fem.RigidBody(0.2, 1e-5, name="pinion", shape=gear(teeth[0])))
    wheel = model.add(fem.RigidBody(1.5, J_load, position=[distance, 0, 0], name="wheel", shape=gear(teeth[1])))
    motor_shaft = model.add(fem.Revolute.at(model.ground, pinion, [0, 0, 0], [0, 0, 1], name="motor shaft"))
    load_shaft = model.add(fem.Revolute.at(model.ground, wheel, [distance, 0, 0], [0, 0, 1], name="load shaft"))
    profile = fem.trapezoidal(turn, speed, acceleration)
    model.add(fem.RevoluteDriver(motor_shaft.frame_P, motor_shaft.frame_Q, angle=profile, name="motor"))
    model.add(fem.TorsionSpring(load_shaft.frame_P, load_shaft.frame_Q, stiffness=0.0, damping=drag, name="drag"))
    _, stiffness = fem.iso_mesh_stiffness(teeth, fem.SpurTeeth(teeth, module).contact_ratio, width)
    damping = 0.2 * math.sqrt(stiffness * J_load / base[1] ** 2)  # 10 % of critical
    mesh = {"stiffness": stiffness, "damping": damping, "backlash": backlash}
    model.add(fem.GearMesh(pinion, wheel, teeth=teeth, module=module, name="mesh", **mesh))
    return model


def gear(count):
    """A wheel to look at, with trapezoids as teeth."""
    tip = np.tile([-1.1, 0.9, 0.9, -1.1], count) * module + 0.5 * module * count
    angle = (np.arange(count)[:, None] + [-0.32, -0.14, 0.14, 0.32]).ravel() * 2 * math.pi / count
    rim, n = np.column_stack([tip * np.cos(angle), tip * np.sin(angle)]), 4 * count
    z = np.full(n, 0.5 * width)
    points = np.vstack([np.column_stack([rim, -z]), np.column_stack([rim, z]), [[0, 0, -z[0]], [0, 0, z[0]]]])
    i, j = np.arange(n), np.roll(np.arange(n), -1)
    ends = np.vstack(
        [np.column_stack([np.full(n, 2 * n), j, i]), np.column_stack([np.full(n, 2 * n + 1), n + i, n + j])]
    )
    lines = np.vstack([np.column_stack([i, j]), np.column_stack([n + i, n + j])])
    return fem.shapes.Mesh(points, [np.column_stack([i, j, n + j, n + i]), ends], lines)


def flight():
    """Time [s] in which the load crosses the backlash: it is slowed by its drag, the motor by its acceleration."""
    start, rate = speed / ratio, drag / J_load

    def gap(t):
        coasting = base[1] * start / rate * (1 - math.exp(-rate * t))
        return coasting - base[0] * (speed * t - 0.5 * acceleration * t**2) - backlash

    return brentq(gap, 1e-4, 0.05)


def main(t_end=0.7, h=2e-5, save="geared_servo.vtkhdf"):
    result = fem.DecoupledNSGA(rho_inf=0.8).run(build(), t_end=t_end, h=h, save=save, save_every=5)
    t, mesh = result.t, result["mesh"]
    brake = turn / speed  # s, when the motor begins to slow down
    struck = t[(t > brake) & (mesh.flank < 0)][0] - brake
    force = mesh.force[np.argmin(np.abs(t - 0.099))]
    torque = J_load * acceleration / ratio + drag * 0.99 * speed / ratio
    loose = backlash / base[1]
    return fem.Checks(
        fem.Check("force of the teeth while it speeds up [N]", reference=torque / base[1], obtained=force, rel=1e-3),
        # 4e-4 of it is the step of saving; the teeth throw the load as they relax, 1 % of the speed of the impact
        fem.Check("flight across the backlash [s]", reference=flight(), obtained=struck, rel=2e-2),
        fem.Check("load at rest [rad]", reference=-turn / ratio, obtained=result["load shaft"].angle[-1], abs=loose),
        # and the compression of the impact, 0.05 m/s against a period of 0.4 ms: 1.2 % of the backlash
        fem.Check("largest play [m]", reference=backlash, obtained=np.ptp(mesh.transmission_error), rel=2e-2),
    )


if __name__ == "__main__":
    main().print()
