"""Swing door with a closer: spring, damper, a stop that it hits, and dry friction that holds it ajar at last.

The hinge has everything as options. Its collar bears the weight, so the friction torque is μ r m g, more at rest than
in motion. Reference: the equation of motion of the door, solved from one event to the next by SciPy.

    python examples/door_closer.py            writes door_closer.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem

mass, width, height, g = 25.0, 0.9, 2.0, 9.81  # kg, m, m, m/s²
inertia = mass * (width**2 / 3 + 0.04**2 / 12)  # about the hinge
stiffness, damping, open_at, e = 3.0, 2.0, 1.4, 0.3  # N m/rad, N m s/rad, rad, -
static, sliding, collar = 0.30, 0.22, 0.012  # -, -, m
push, t_end, h = 2.6, 12.0, 2e-3  # rad/s, s, s


def build():
    """The door is closed at the angle 0 and has just been pushed open."""
    model = fem.Model("door closer", gravity=[0, 0, -g])
    door = model.add(
        fem.RigidBody.box(
            mass, [width, 0.04, height], position=[width / 2, 0, height / 2], name="door",
            velocity=[0, push * width / 2, 0], angular_velocity=[0, 0, push],
        )
    )  # fmt: skip
    friction = fem.DryFriction((static, sliding), collar=collar)
    model.add(
        fem.Revolute.at(
            model.ground, door, [0, 0, 0], [0, 0, 1], name="hinge", stiffness=stiffness, damping=damping,
            stops=fem.Stops(upper=open_at, restitution=e), friction=friction,
        )
    )  # fmt: skip
    return model


def reference():
    """Times at which the door hits the stop and comes to rest, and the angle at which it then stays."""
    from scipy.integrate import solve_ivp

    torque = collar * mass * g

    def rate(t, y, sign):
        return [y[1], -(stiffness * y[0] + damping * y[1] + sign * sliding * torque) / inertia]

    def at_stop(t, y, sign):
        return y[0] - open_at

    def at_rest(t, y, sign):
        return y[1]

    at_stop.terminal, at_stop.direction, at_rest.terminal = True, 1, True
    t, y, hits = 0.0, np.array([0.0, push]), []
    while True:
        sign = np.sign(y[1])
        found = solve_ivp(
            rate, [t, t + 60], y, args=(sign,), events=[at_stop, at_rest], rtol=1e-11, atol=1e-12, max_step=0.05
        )
        t, y = found.t[-1], found.y[:, -1]
        if found.t_events[0].size:
            hits.append(t)
            y = np.array([open_at, -e * y[1]])
        elif stiffness * abs(y[0]) <= static * torque:
            return hits, t, y[0]
        else:
            y = np.array([y[0], -1e-14 * np.sign(y[0])])


def main():
    """Run the door and compare it with the reference; returns `fem.Checks`."""
    result = fem.DecoupledNSGA().run(build(), t_end, h, save="door_closer.vtkhdf", progress=False)
    hinge = result["hinge"]
    hits, rest, angle = reference()
    struck = result.t[np.flatnonzero(result["hinge upper stop"].impact)]
    moving = np.flatnonzero(np.abs(hinge.rate) > 1e-9)
    # first order: steps end after the impact and after the rest; two to four times what was measured at 2 ms
    return fem.Checks(
        fem.Check("the door hits the stop [s]", reference=hits[0], obtained=struck[0], abs=h),
        fem.Check("the door rests [s]", reference=rest, obtained=result.t[moving[-1] + 1], abs=5e-3),
        fem.Check("it is left ajar at [rad]", reference=angle, obtained=hinge.angle[-1], abs=2e-4),
        fem.Check("creep after that [rad]", reference=0, obtained=np.ptp(hinge.angle[moving[-1] + 1 :]), abs=1e-12),
    )


if __name__ == "__main__":
    main().print()
