"""Pick and place: a robot arm grips a ball in passing, swings on, and throws the ball into a bin.

A controller moves both joints every millisecond; an event signals to it that the arm carries the ball. References:
momentum where the gripper closes, the parabola after it opens, the arm at its goal.

    python examples/pick_and_place.py            writes pick_and_place.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Cylinder

length, arm_mass, ball_mass, radius, g = 0.5, 2.0, 0.5, 0.04, 9.81  # m, kg of each link, kg, m, m/s²
start, goal, duration = np.radians([-60, -20]), np.radians([70, 130]), 1.2  # rad: upper arm, forearm, from hanging; s
way, released = 0.4, np.radians(95)  # part of the way where the ball waits; angle of the forearm [rad]
period, stiffness, damping = 1e-3, np.array([900.0, 300.0]), np.array([60.0, 20.0])  # s, N m/rad, N m s/rad
bin_x, bin_y, half_width = 1.55, -1.2, 0.2  # m, of its floor and inside


def direction(angle):
    return np.array([np.sin(angle), -np.cos(angle), 0.0])


def torques(t, y):
    """Angles and rates of both joints and the mass in the hand, to the moments of the motors: PD and the weight."""
    s = min(t / duration, 1.0)
    aim = start + (goal - start) * s**3 * (10 - 15 * s + 6 * s**2)
    aim_rate = (goal - start) / duration * 30 * (s * (1 - s)) ** 2
    angles, rates = start + np.cumsum(y[0:2]), np.cumsum(y[2:4])
    weight = g * length * np.array([1.5 * arm_mass + y[4], 0.5 * arm_mass + y[4]]) * np.sin(angles)
    moments = stiffness * (aim - angles) + damping * (aim_rate - rates) + weight
    return moments.sum(), moments[1]  # the motor of the elbow acts back on the upper arm


def build():
    """The shoulder is at the origin, gravity along −y."""
    model, z, across = fem.Model("pick and place", gravity=[0, -g, 0]), [0, 0, 1], arm_mass * length**2 / 12
    below, at, joints, shape = model.ground, np.zeros(3), [], Cylinder([0, 0, 0], [0, -length, 0], 0.02)
    for name, hinge, angle in (("upper arm", "shoulder", start[0]), ("forearm", "elbow", start[1])):
        pose = {"position": at, "rotation": [0, 0, angle], "center": [0, -length / 2, 0]}
        link = model.add(fem.RigidBody(arm_mass, [across, 1e-4, across], shape=shape, name=name, **pose))
        joints.append(model.add(fem.Revolute.at(below, link, at, z, name=hinge)))
        below, at = link, at + length * direction(angle)
    hand, (x, y, _) = link.frame([0, -length, 0]), length * sum(map(direction, start + way * (goal - start)))
    ball = model.add(fem.RigidBody.sphere(ball_mass, radius, position=[x, y, 0], name="ball"))
    law = {"radius": radius, "restitution": 0.2, "friction": 0.3, "rolling_resistance": 2e-3}
    for name, at, size in (
        ("stand", [x, (bin_y + y - radius) / 2, 0], [0.05, y - radius - bin_y, 0.05]),
        ("floor", [bin_x, bin_y - 0.01, 0], [2 * half_width, 0.02, 0.3]),
        ("left wall", [bin_x - half_width - 0.01, bin_y + 0.1, 0], [0.02, 0.2, 0.3]),
        ("right wall", [bin_x + half_width + 0.01, bin_y + 0.1, 0], [0.02, 0.2, 0.3]),
    ):
        model.add(fem.SphereOnBox(ball, model.ground.frame(at), size=size, name=name, **law))
    grip, carried = fem.Attachment(hand, ball, active=False, name="gripper"), fem.Held(0.0, name="carried")
    measured = [fem.Sensor(joint, quantity) for quantity in ("angle", "rate") for joint in joints]
    robot = fem.Controller(torques, period, [*measured, carried], outputs=["shoulder", "elbow"], name="robot")
    model.add(grip, robot, *(fem.JointEffort(j, robot.output(j.name), name=f"{j.name} motor") for j in joints))
    close, release = [fem.SwitchOn(grip), fem.SetTo(carried, ball_mass)], [fem.SwitchOff(grip), fem.SetTo(carried, 0)]
    model.add(fem.Event(fem.Sensor(hand, "position", component="x"), close, level=x, direction="up", name="closes"))
    model.add(fem.Event(fem.Sensor(link, "angle", axis=z), release, level=released, direction="up", name="opens"))
    return model


def caught(angles, rates, x):
    """Rates (2,) of the links after they have caught the ball at x, which was at rest, and the energy lost."""
    J, elbow = arm_mass * length**2, length * direction(angles[0])
    free = J * (np.diag([4 / 3, 1 / 3]) + 0.5 * np.cos(angles[0] - angles[1]) * np.array([[0, 1], [1, 0]]))
    ball = np.cross([0, 0, 1], [elbow, x - elbow])  # its velocity, by the rates
    full = free + ball_mass * (ball @ ball.T + np.diag([0, 0.4 * radius**2]))
    after = np.linalg.solve(full, free @ rates)
    return after, 0.5 * (rates @ free @ rates - after @ full @ after)


def main(t_end=2.5, h=1e-3, save="pick_and_place.vtkhdf"):
    result = fem.DecoupledNSGA().run(build(), t_end=t_end, h=h, save=save)
    t, ball, samples = result.t, result["ball"], result.samples["robot"]
    closes, opens = np.searchsorted(t, result.events.t)  # states just before
    rates = np.transpose([result[link].angular_velocity[:, 2] for link in ("upper arm", "forearm")])
    angles = start + np.cumsum([result["shoulder"].angle, result["elbow"].angle], axis=0).T
    after, lost = caught(angles[closes], rates[closes], ball.position[closes])
    x, v, lands = ball.position[opens], ball.velocity[opens], result.impact_times("floor")[0]
    tau = t[opens : np.searchsorted(t, lands)] - t[opens]
    parabola = x + np.outer(tau, v) - 0.5 * g * np.outer(tau**2, [0, 1, 0])
    fall = (v[1] + np.sqrt(v[1] ** 2 + 2 * g * (x[1] - radius - bin_y))) / g
    checks = (
        ("samples", t_end / period + 1, len(samples), 1e-9),
        ("error of their times [s]", 0, np.abs(samples.t - period * np.arange(len(samples))).max(), 0),
        ("energy lost where it grips [J]", lost, result.statistics["energy_lost_in_switches"], 1e-9),
        ("forearm after it [rad/s]", after[1], rates[closes + 1, 1], 0.02),  # up to 1 ms later
        ("distance from the parabola [m]", 0, np.abs(ball.position[opens:][: len(tau)] - parabola).max(), 1e-12),
        ("the ball lands [s]", t[opens] + fall, lands, 1e-9),
        ("arm from its goal [rad]", 0, np.abs(angles[-1] - goal).max(), 1e-9),
        ("ball in the bin [m]", bin_x, ball.position[-1, 0], half_width - radius),
    )
    return fem.Checks(*(fem.Check(name, reference=a, obtained=b, abs=limit) for name, a, b, limit in checks))


if __name__ == "__main__":
    main().print()
