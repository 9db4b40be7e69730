"""Order of convergence while contacts stay closed, with and without `persistent_contacts`.

Three mechanisms with exact solutions: a ball rolls to and fro in a drum (curved path); a leg stands on a foot that
sticks, its knee is driven (a mechanism that contact closes); a ball thrown into the drum slides and rolls in turn. The
published scheme treats closed contacts in its two corrections, like a backward Euler method: first order. With the
option they take part in the smooth sub-problem: second order, also through the ends of sliding and of rolling, which
are captured, not located. The friction force jumps where sliding ends: the steps next to it are left out.

    python examples/order_in_contact.py         writes order_in_contact.vtkhdf (the ball thrown), order_in_contact.png
"""

from collections import namedtuple

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.runtime import output_path
from fem_mbs.shapes import Box

g = 9.81  # m/s²
FLOOR = [-np.pi / 2, 0, 0]  # rotation vector of a plane whose normal is the inertial y axis
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
PLANAR = ("z", "rx", "ry")

# build() -> model; exact(t) -> position (k, 2), force of the contact (k, 2), times of events
Case = namedtuple("Case", "title build exact body duration")


# --- a ball in a drum --------------------------------------------------------

mass, radius, drum_radius = 1.0, 0.1, 1.0  # kg, m, m
path = drum_radius - radius  # m, radius of the circle on which the centre moves
start_angle, throw, slippery = 1.0, 2.0, 0.15  # rad from the lowest point; m/s and friction of the ball that slides


def drum(friction=1.0, angle=start_angle, speed=0.0):
    """Ball without spin on the wall of a drum with its axis along z; angle from the lowest point, speed along it."""
    model = fem.Model("ball in a drum", gravity=[0, -g, 0])
    out, along = frame(angle)
    place, velocity = [*path * out, 0], [*speed * along, 0]
    ball = model.add(fem.RigidBody.sphere(mass, radius, position=place, velocity=velocity, name="ball"))
    model.add(
        fem.SphereInCylinder(
            ball, model.ground, radius=radius, radius_cylinder=drum_radius, friction=friction, drawn_length=0.4,
            name="contact",
        )
    )  # fmt: skip
    return model


def thrown():
    """Ball that is thrown along the wall of a slippery drum."""
    return drum(slippery, -start_angle, throw)


def frame(angle):
    """Unit vectors (2, …) towards the wall and along it."""
    return np.stack([np.sin(angle), -np.cos(angle)]), np.stack([np.cos(angle), np.sin(angle)])


def on_the_wall(angle, rate, friction):
    """Position (k, 2) of the centre and force (k, 2) of the contact."""
    out, along = frame(angle)
    return path * out.T, (-normal(angle, rate) * out + friction * along).T


def normal(angle, rate):
    """Normal force [N]."""
    return mass * (path * rate**2 + g * np.cos(angle))


def adhesion(angle):
    """Friction force of a rolling ball [N]."""
    return 2 / 7 * mass * g * np.sin(angle)


def drum_exact(t):
    """Pendulum of length R − r whose inertia is 7/5 of that of a point."""
    angle, rate = integrate(lambda _, y: [y[1], -g / (1.4 * path) * np.sin(y[0])], [start_angle, 0.0], t)
    return *on_the_wall(angle, rate, adhesion(angle)), []


def thrown_exact(t):
    """Phases of sliding and of rolling, each until its event; y: angle, rate, spin."""
    y, now, sign = np.array([-start_angle, throw / path, 0.0]), 0.0, 1.0  # sign of the sliding speed, 0: rolls
    states, forces, events = np.zeros((3, len(t))), np.zeros_like(t), []

    def friction(y):
        return adhesion(y[0]) if sign == 0.0 else -sign * slippery * normal(y[0], y[1])

    def rate(_, y):
        return [y[1], (friction(y) / mass - g * np.sin(y[0])) / path, friction(y) / (0.4 * mass * radius)]

    def event(_, y):
        return slippery * normal(y[0], y[1]) - abs(adhesion(y[0])) if sign == 0.0 else path * y[1] + radius * y[2]

    event.terminal, event.direction = True, 0
    while now < t[-1]:
        # the first moment of a phase, which may lie on its event, is stepped over
        event.terminal = False
        first = solve_ivp(rate, (now, now + 1e-6), y, **TIGHT)
        event.terminal = True
        phase = solve_ivp(rate, (now + 1e-6, t[-1] + 1e-9), first.y[:, -1], events=event, dense_output=True, **TIGHT)
        here = (t >= now) & (t <= phase.t[-1])
        states[:, here] = phase.sol(t[here])
        forces[here] = friction(states[:, here])
        now, y = phase.t[-1], phase.y[:, -1]
        events.append(now)
        sign = -np.sign(adhesion(y[0])) if sign == 0.0 else 0.0
    return *on_the_wall(states[0], states[1], forces), events[:-1]


# --- a leg whose foot sticks -------------------------------------------------

shank_length, trunk_length = 0.5, 0.4  # m, uniform links
shank_mass, trunk_mass, shank_inertia, trunk_inertia = 1.0, 3.0, 0.03, 0.08  # kg, kg m²
lean, lean_rate = 0.0, 0.2  # rad, rad/s of the shank from the vertical at the start


def knee(t, order=0):
    """Angle of the trunk against the shank [rad], or a derivative of it."""
    return [-0.6 + 0.3 * np.sin(6 * t), 1.8 * np.cos(6 * t), -10.8 * np.sin(6 * t)][order]


def links(angle, rate, t):
    """Of shank and trunk: angle, rate, centre (2,) and its gradient with the lean (2,)."""
    (s1, c1), other = (np.sin(angle), np.cos(angle)), angle + knee(t)
    s2, c2 = np.sin(other), np.cos(other)
    first = angle, rate, shank_length / 2 * np.array([-s1, c1]), shank_length / 2 * np.array([-c1, -s1])
    centre, gradient = trunk_length / 2 * np.array([-s2, c2]), trunk_length / 2 * np.array([-c2, -s2])
    return first, (other, rate + knee(t, 1), 2 * first[2] + centre, 2 * first[3] + gradient), gradient


def leg(joint=False):
    """Shank and trunk with a driven knee; the foot, a point, sticks to the floor (or is held there by a joint)."""
    model = fem.Model("leg", gravity=[0, -g, 0])
    (angle_1, rate_1, x1, g1), (angle_2, rate_2, x2, g2), own = links(lean, lean_rate, 0.0)
    bodies = []
    for name, m, inertia, x, v, angle, rate, length in (
        ("shank", shank_mass, shank_inertia, x1, g1 * rate_1, angle_1, rate_1, shank_length),
        ("trunk", trunk_mass, trunk_inertia, x2, g2 * rate_1 + own * knee(0, 1), angle_2, rate_2, trunk_length),
    ):
        body = fem.RigidBody(
            m, inertia, position=[*x, 0], rotation=[0, 0, angle], velocity=[*v, 0], angular_velocity=[0, 0, rate],
            shape=Box([0.05, length, 0.05]), name=name, fixed=PLANAR if name == "shank" else (),
        )  # fmt: skip
        bodies.append(model.add(body))
    shank, trunk = bodies
    hinge = model.add(fem.Revolute.at(shank, trunk, [*(2 * x1), 0], [0, 0, 1], name="knee"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, lambda t: knee(t) - knee(0.0), name="motor"))
    foot = shank.frame([0, -shank_length / 2, 0])
    if joint:
        model.add(fem.Prescribed(foot, x=lambda t: 0.0, y=lambda t: 0.0, name="contact"))
    else:
        floor = model.ground.frame(rotation=FLOOR)
        model.add(fem.SphereOnPlane(foot, floor, radius=0, friction=0.8, name="contact"))
    return model


def leg_exact(t):
    """Lean as the only coordinate: virtual power of weights and inertias (the foot does not move)."""
    weight = np.array([0.0, -g])

    def forces(time, angle, rate):
        (_, _, x1, g1), (_, rate_2, x2, g2), own = links(angle, rate, time)
        a1 = -x1 * rate**2  # centre of the shank without the angular acceleration
        a2 = 2 * a1 - (x2 - 2 * x1) * rate_2**2 + own * knee(time, 2)
        inertia = shank_mass * g1 @ g1 + trunk_mass * g2 @ g2 + shank_inertia + trunk_inertia
        power = shank_mass * (weight - a1) @ g1 + trunk_mass * (weight - a2) @ g2 - trunk_inertia * knee(time, 2)
        acceleration = power / inertia
        foot = shank_mass * (a1 + g1 * acceleration - weight) + trunk_mass * (a2 + g2 * acceleration - weight)
        return acceleration, x2, foot

    angle, rate = integrate(lambda time, y: [y[1], forces(time, *y)[0]], [lean, lean_rate], t)
    _, position, force = zip(*(forces(*row) for row in zip(t, angle, rate)))
    return np.array(position), np.array(force), []


# --- errors --------------------------------------------------------------------


def integrate(rate, start, t):
    """Solution (n, k) of an ordinary differential equation at times t (k,), to 1e-12."""
    return solve_ivp(rate, (0, t[-1] + 1e-9), start, dense_output=True, **TIGHT).sol(t)


CASES = {
    "drum": Case("ball rolling in a drum", drum, drum_exact, "ball", 2.0),
    "leg": Case("leg on a sticking foot", leg, leg_exact, "trunk", 1.0),
    "thrown": Case("ball sliding and rolling in a drum", thrown, thrown_exact, "ball", 2.0),
}


def errors(name, steps, model=None, save=None, **options):
    """Largest error of position [m] and of the contact's force [N] of a run with so many steps."""
    case = CASES[name]
    stepper = fem.DecoupledNSGA(**{"rho_inf": 0.8, "rtol": 1e-9, **options})
    result = stepper.run(model or case.build(), t_end=case.duration, h=case.duration / steps, save=save)
    position, force, events = case.exact(result.t)
    moved, contact = result[case.body].position[:, :2], result["contact"]
    carried = contact.force_vector if hasattr(contact, "force_vector") else contact.force
    away = np.arange(len(result.t)) > 0  # no impulse belongs to the start
    for event in events:
        away &= np.abs(result.t - event) > 1.5 * result.h[-1]
    return np.abs(moved - position).max(), np.abs(carried[:, :2] - force)[away].max()


def study(name, steps, **options):
    """Errors (k, 2) for several numbers of steps, and their orders (2,)."""
    table = np.array([errors(name, n, **options) for n in steps])
    return table, -np.polyfit(np.log(steps), np.log(table), 1)[0]


def plot(tables, steps, save):
    """Errors over the step size."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(CASES), figsize=(11, 6.5), sharex="col", layout="constrained")
    for column, (name, case) in enumerate(CASES.items()):
        h = case.duration / np.array(steps)
        for row, quantity in enumerate(("position [m]", "contact force [N]")):
            ax = axes[row, column]
            for persistent, marker in ((0, "o"), (1, "s")):
                table, order = tables[name, persistent]
                title = "persistent contacts" if persistent else "published"
                ax.loglog(1e3 * h, table[:, row], marker + "-", ms=4, label=f"{title}: order {order[row]:.2f}")
            ax.set_title(case.title if row == 0 else None)
            ax.set_ylabel(f"largest error of the {quantity}" if column == 0 else None)
            ax.set_xlabel("step [ms]" if row == 1 else None)
            ax.set_xticks([1, 2, 5, 10], ["1", "2", "5", "10"], minor=False)
            ax.set_xticks([], minor=True)
            ax.set_xlim(0.8e3 * h.min(), 1.25e3 * h.max())
            ax.set_ylim(0.3 * table[:, row].min(), None)
            ax.grid(alpha=0.3)
            ax.legend(fontsize=8, loc="center left")
    figure.savefig(output_path(save), dpi=120)
    plt.close(figure)


def main(steps=(200, 283, 400, 566, 800, 1131), save="order_in_contact.vtkhdf", picture="order_in_contact.png"):
    tables = {(name, option): study(name, steps, persistent_contacts=option) for name in CASES for option in (0, 1)}
    if save is not None:
        errors("thrown", steps[0], save=save, persistent_contacts=True)
    if picture is not None:
        plot(tables, steps, picture)
    checks = []
    for name, case in CASES.items():
        for option, reference in ((0, 1.0), (1, 2.0)):
            for quantity, order in zip(("position", "force"), tables[name, option][1]):
                text = f"{case.title}, {quantity}, {'persistent' if option else 'published'}: order"
                checks.append(fem.Check(text, reference=reference, obtained=order, abs=0.15))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
