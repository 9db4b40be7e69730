"""Quarter-car over a kerb: digressive damper, bump stop, and a wheel that may leave the road.

Wheel and body slide on one vertical line. Tyre, spring and bump stop are curves of force, the road a function of time.
Reference: the two equations of motion, solved by SciPy with the same curves.

    python examples/quarter_car.py            writes quarter_car.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem

sprung, unsprung, g = 320.0, 38.0, 9.81  # kg, kg, m/s²
rest_tyre, rest_strut = 0.30, 0.50  # m, unloaded lengths
tyre = fem.ForceCurve([(-0.08, -16e3), (-0.04, -8e3), (0.0, 0.0), (0.2, 0.0), (0.4, 0.0)])
strut = fem.ForceCurve([(-0.26, -16e3), (-0.22, -6.2e3), (-0.20, -4.4e3), (-0.1, -2.2e3), (0.0, 0.0), (0.1, 2.2e3)])
damper = fem.ForceCurve([(-2.0, -1500.0), (-0.4, -600.0), (0.0, 0.0), (0.3, 700.0), (2.0, 3400.0)])
kerb, speed, run_up = 0.06, 8.0, 0.25  # m, m/s, m
t_end, h = 2.0, 5e-4  # s


def road(t):
    """Height of the road under the wheel [m]: up the kerb within the run-up, as a smooth step."""
    u = np.clip((t - 0.1) * speed / run_up, 0.0, 1.0)
    return kerb * u**3 * (10.0 - 15.0 * u + 6.0 * u**2)


def loaded():
    """Lengths of tyre and strut that carry the weights."""
    from scipy.optimize import brentq

    x_t = brentq(lambda x: tyre(x) + (sprung + unsprung) * g, -0.08, 0.0)
    x_s = brentq(lambda x: strut(x) + sprung * g, -0.22, 0.0)
    return rest_tyre + x_t, rest_strut + x_s


def build():
    """The car stands on the road."""
    low, high = np.cumsum(loaded())
    model = fem.Model("quarter-car", gravity=[0, 0, -g])
    patch = model.add(fem.RigidBody.box(1.0, [0.5, 0.3, 0.02], name="road", fixed=["x", "y", "rx", "ry", "rz"]))
    wheel = model.add(fem.RigidBody.sphere(unsprung, 0.25, position=[0, 0, low], name="wheel"))
    body = model.add(fem.RigidBody.box(sprung, [1.2, 0.6, 0.3], position=[0, 0, high], name="body"))
    model.add(fem.Prescribed(patch, z=fem.Signal(road, lambda t: road_rate(t)), name="profile"))
    for part in (wheel, body):
        model.add(fem.Prismatic.at(model.ground, part, part.position, [0, 0, 1], name=f"guide of the {part.name}"))
    model.add(fem.NonlinearSpring(patch, wheel, tyre, free_length=rest_tyre, name="tyre"))
    model.add(fem.NonlinearSpring(wheel, body, strut, damper, free_length=rest_strut, name="strut"))
    return model


def road_rate(t):
    """Rate of `road` [m/s], of numbers and of the jets that find its derivative."""
    u = (t - 0.1) * speed / run_up
    inside = np.where((u > 0.0) & (u < 1.0), 1.0, 0.0)
    return inside * kerb * 30.0 * u**2 * (1.0 - u) ** 2 * speed / run_up


def reference(times):
    """Heights of wheel and body (k, 2) [m] at some times."""
    from scipy.integrate import solve_ivp

    low, high = np.cumsum(loaded())

    def rate(t, y):
        below = tyre(y[0] - float(road(t)) - rest_tyre)
        above = strut(y[1] - y[0] - rest_strut) + damper(y[3] - y[2])
        return [y[2], y[3], (above - below) / unsprung - g, -above / sprung - g]

    found = solve_ivp(rate, [0, t_end], [low, high, 0, 0], t_eval=times, rtol=1e-10, atol=1e-12, max_step=2e-3)
    return found.y[:2].T


def main():
    """Drive over the kerb and compare with the reference; returns `fem.Checks`."""
    result = fem.DecoupledNSGA().run(build(), t_end, h, save="quarter_car.vtkhdf", progress=False)
    wheel, body, expected = result["wheel"].position[:, 2], result["body"].position[:, 2], reference(result.t)
    force = result["tyre"].force
    # second order in h; twice what was measured at 0.5 ms
    return fem.Checks(
        fem.Check(
            "height of the body, largest error [m]", reference=0, obtained=abs(body - expected[:, 1]).max(), abs=2e-5
        ),
        fem.Check(
            "height of the wheel, largest error [m]", reference=0, obtained=abs(wheel - expected[:, 0]).max(), abs=1e-4
        ),
        fem.Check("top of the body [m]", reference=expected[:, 1].max(), obtained=body.max(), abs=6e-6),
        fem.Check("the wheel leaves the road: tyre force [N]", reference=0, obtained=-force.max(), abs=1e-9),
        fem.Check("height at last [m]", reference=np.cumsum(loaded())[1] + kerb, obtained=body[-1], abs=5e-3),
    )


if __name__ == "__main__":
    main().print()
