"""Rolling disc: a coin that rolls without slipping, in a circle and, pushed, in a garland.

Rolling holds velocities: two of the three rows of `RollingDisc` have no position behind them (non-holonomic). On a
circle of radius ρ, with the axis at an angle β to the vertical, the disc goes steadily about the vertical at

    Ω² = m g r cos β / ( sin β [ρ (C/r + m r) + A cos β] ) ,   spin about its axis −Ω (ρ/r + cos β)

Pushed, it wobbles. That motion is compared with the equations of motion of e and ω, in which no constraint appears.

    python examples/rolling_disc.py            writes rolling_disc.vtkhdf (pushed) and rolling_disc.png
"""

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.rotations import exp, skew
from fem_mbs.runtime import output_path
from fem_mbs.shapes import Cylinder

mass, radius, g = 1.0, 0.5, 9.81  # kg, m, m/s²
A, C = mass * radius**2 / 4, mass * radius**2 / 2  # kg m², about a diameter and about the axis
tilt, circle = np.radians(70.0), 1.0  # rad, axis from the vertical; m, radius of the circle of the centre
push = np.array([1.5, 0.5, -0.5])  # rad/s
up = np.array([0.0, 0.0, 1.0])
inertia = np.sin(tilt) * (circle * (C / radius + mass * radius) + A * np.cos(tilt))  # kg m²
rate = np.sqrt(mass * g * radius * np.cos(tilt) / inertia)  # rad/s
spin = -rate * (circle / radius + np.cos(tilt))  # rad/s


def lowest(e):
    """From the centre to the lowest point of the edge (3,) [m], for an axis e (3,)."""
    w = up - e[2] * e
    return -radius * w / np.linalg.norm(w)


def build(push=(0, 0, 0)):
    """Disc on the plane z = 0, on its circle about the origin; ``push`` (3,) [rad/s] adds to its angular velocity."""
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    w = rate * up + spin * axis + push
    model = fem.Model("rolling disc", gravity=[0, 0, -g])
    coin = model.add(
        fem.RigidBody(
            mass, [A, A, C], position=[circle, 0, radius * np.sin(tilt)], rotation=[0, tilt, 0], angular_velocity=w,
            velocity=np.cross(lowest(axis), w), name="coin", shape=Cylinder([0, 0, -0.015], [0, 0, 0.015], radius),
        )
    )  # fmt: skip
    model.add(fem.RollingDisc(model.ground, coin, radius=radius, drawn_size=5.0, name="table"))
    return model


def rates(t, y):
    """Derivatives (8,) of e, ω, x, y: e' = ω × e, x' = p × ω, and the moments about the lowest point."""
    e, w = y[:3], y[3:6]
    p, de = lowest(e), np.cross(w, e)
    across, size = up - e[2] * e, np.sqrt(1 - e[2] ** 2)
    d_across = -de[2] * e - e[2] * de
    dp = -radius * (d_across - across * (across @ d_across) / size**2) / size
    J = A * np.eye(3) + (C - A) * np.outer(e, e)
    moment = mass * np.cross(p, np.cross(dp, w) + g * up) - np.cross(w, J @ w)
    return np.concatenate([de, np.linalg.solve(J - mass * skew(p) @ skew(p), moment), np.cross(p, w)[:2]])


def reference(model, t):
    """Place (2,) [m] and axis (3,) of the pushed disc at a time."""
    node = model["coin"].node
    start = np.concatenate([node.rotation[:, 2], node.angular_velocity, node.position[:2]])
    y = solve_ivp(rates, (0, t), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return y[6:], y[:3]


def draw(runs, file):
    """Tracks on the plane with the disc as seen from above at some times, and its tilt."""
    from matplotlib.figure import Figure  # pyplot, which opens windows, takes a while to import

    figure = Figure(figsize=(10, 5.2), layout="constrained")
    above, curves = figure.subplots(1, 2, width_ratios=(1, 1.1))
    turn = np.linspace(0, 2 * np.pi, 60)
    rim = radius * np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)])
    for (name, result), color in zip(runs.items(), ("#4c72b0", "#c44e52")):
        disc, table = result["coin"], result["table"]
        above.plot(*table.point[:, :2].T, color=color, lw=1.8, label=f"{name}: track of the edge")
        above.plot(*disc.position[:, :2].T, color=color, lw=0.9, ls="--", label="centre")
        for k in range(0, len(result.t), len(result.t) // 8):
            seen = disc.position[k, :2, None] + (disc.rotation[k] @ rim)[:2]
            above.fill(*seen, facecolor=color, alpha=0.1, edgecolor=color, lw=0.6)
        curves.plot(result.t, np.degrees(table.tilt), color=color, label=name)
    above.set(aspect="equal", ylim=(-1.3, 1.9), xlabel="x [m]", ylabel="y [m]")
    above.legend(loc="upper left", fontsize=8)
    curves.set(ylim=(20, 82), xlabel="t [s]", ylabel="axis from the vertical [°]")
    curves.legend(loc="upper left", ncols=2)
    figure.savefig(output_path(file), dpi=110)


def main(h=2.5e-3, t_end=4.0, save="rolling_disc.vtkhdf", picture="rolling_disc.png"):
    steady = fem.DecoupledNSGA(rho_inf=0.9).run(build(), t_end, h)
    turned = exp(rate * t_end * up) @ [1.0, 0, 0]
    force = mass * g * up - mass * rate**2 * circle * turned
    model = build(push)
    wobbling = fem.DecoupledNSGA(rho_inf=0.9).run(model, t_end, h, save=save)
    place, axis = reference(model, t_end)
    fine = fem.LobattoIIIAB(stages=3).run(build(push), t_end, 4 * h)
    if picture is not None:
        draw({"steady": steady, "pushed": wobbling}, picture)
    slip = max(np.abs(result["table"].slip).max() for result in (steady, wobbling, fine))
    # second order: errors measured at 2.5 ms, tripled; with Lobatto's scheme fourth
    return fem.Checks(
        fem.Check("circle: error of the place [m]", reference=0.0, abs=1.2e-5,
                  obtained=np.linalg.norm(steady["coin"].position[-1, :2] - circle * turned[:2])),
        fem.Check("circle: error of the force [N]", reference=0.0, abs=3e-5,
                  obtained=np.abs(steady["table"].force[-1] - force).max()),
        fem.Check("pushed: error of the place [m]", reference=0.0, abs=1.5e-4,
                  obtained=np.abs(wobbling["coin"].position[-1, :2] - place).max()),
        fem.Check("pushed: error of the axis [-]", reference=0.0, abs=3e-3,
                  obtained=np.abs(wobbling["coin"].rotation[-1, :, 2] - axis).max()),
        fem.Check("pushed: error of the place, Lobatto, 10 ms [m]", reference=0.0, abs=1.5e-6,
                  obtained=np.abs(fine["coin"].position[-1, :2] - place).max()),
        fem.Check("slip, largest [m/s]", reference=0.0, obtained=slip, abs=1e-11),
    )  # fmt: skip


if __name__ == "__main__":
    main().print()
