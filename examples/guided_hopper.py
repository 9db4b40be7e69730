"""Guided hopper: a body on a vertical guide, a rigid thigh and a flexible shank, both moved by drivers; it hops.

Capobianco2021, section 10.5. Hip and knee follow given angles,
the foot is a point with friction 0.2 and no restitution. The angle α of the thigh is measured from the vertical, and
the knee points to +x: the article does not say so, but measured from the horizontal the foot would start below the
ground. Only figures are published; the references here are free fall and balances of momentum. The shank of the
article is a beam of Bernoulli without rotary inertia; here it has that of a homogeneous section, ρI = ρA EI/EA.

    python examples/guided_hopper.py              writes guided_hopper.vtkhdf and guided_hopper.png
"""

import numpy as np
from scipy.optimize import brentq

import fem_mbs as fem
from fem_mbs.runtime import output_path
from fem_mbs.shapes import Box, Cylinder

body_mass, thigh_mass, thigh_inertia, length, line_density = 3.0, 1.56, 8.5e-3, 0.2, 0.71  # kg, kg, kg m², m, kg/m
EA, EI = 1.89e7, 14.2  # N, N m²: no shear deformation
friction, g, start = 0.2, 9.81, 0.31  # -, m/s², m: height of the hip
total = body_mass + thigh_mass + line_density * length  # kg
PLANAR = ("z", "rx", "ry")


def alpha(t):
    """Angle of the thigh from the vertical [rad]."""
    return np.pi / 3 - np.pi / 30 * (1 - np.cos(4 * np.pi * t))


def build(n=4):
    """Hopper in the x-y plane, straight shank; ``n``: intervals between its nodes."""
    model = fem.Model("guided hopper", gravity=[0, -g, 0])
    a = alpha(0.0)
    hip = np.array([0, start, 0])
    knee, foot = hip + length * np.array([np.sin(a), -np.cos(a), 0]), hip - [0, 2 * length * np.cos(a), 0]
    body = fem.RigidBody(body_mass, 1e-2, position=hip, fixed=("x", "z", "rx", "ry", "rz"), name="body",
                         shape=Box([0.12, 0.06, 0.06], color="#4c72b0"))  # fmt: skip
    # hip and knee hold thigh and shank in the plane: what is fixed would be held twice
    bar = Cylinder([-length / 2, 0, 0], [length / 2, 0, 0], 0.012, color="#dd8452")
    thigh = fem.RigidBody(thigh_mass, [1e-4, thigh_inertia, thigh_inertia], position=(hip + knee) / 2,
                          rotation=[0, 0, a - np.pi / 2], fixed=("rx", "ry"), name="thigh", shape=bar)  # fmt: skip
    model.add(body, thigh)
    section = fem.Section(
        flexibility=[1 / EA, 0, 0, 1 / EI, 1 / EI, 1 / EI],
        mass_per_length=line_density,
        inertia_per_length=line_density * EI / EA * np.array([2, 1, 1]),
    )
    upper = fem.Node6(knee, fixed=("rx", "ry"), name="knee")
    shank = model.add(fem.beam_line(upper, foot, n, section, fixed=PLANAR, name="shank"))
    z = [0, 0, 1]
    model.add(fem.Spherical.at(body, thigh, hip, name="hip"), fem.Spherical.at(thigh, upper, knee, name="knee pin"))
    model.add(
        fem.RevoluteDriver.at(body, thigh, hip, z, angle=lambda t: -np.pi / 30 * (1 - np.cos(4 * np.pi * t)),
                              name="hip drive"),
        fem.RevoluteDriver.at(thigh, upper, knee, z, angle=lambda t: np.pi / 15 * (1 - np.cos(4 * np.pi * t)),
                              name="knee drive"),
    )  # fmt: skip
    floor = model.ground.frame(rotation=[-np.pi / 2, 0, 0])
    model.add(fem.SphereOnPlane(shank.nodes[-1], floor, radius=0.0, friction=friction, drawn_size=0.4, name="foot"))
    return model


def touchdown():
    """When the foot of a rigid leg first touches the ground [s]: the centre of mass falls freely, the leg folds."""

    def foot(t):
        leg = length * (thigh_mass / 2 + line_density * length * 1.5) / total  # of the centre of mass below the hip
        fallen = g * t**2 / 2
        hip = start - leg * np.cos(alpha(0)) - fallen + leg * np.cos(alpha(t))
        return hip - 2 * length * np.cos(alpha(t))

    return brentq(foot, 0.0, 0.2)


def momentum(result):
    """Momentum along the guide (k,) [N s]; that of the shank by Simpson's rule over its nodes."""
    nodes = [name for name in ("knee", *(f"shank node {i}" for i in range(1, 5)))]
    weights = line_density * length * np.array([1, 4, 2, 4, 1]) / 12
    shank = sum(w * result[name].velocity[:, 1] for w, name in zip(weights, nodes))
    return body_mass * result["body"].velocity[:, 1] + thigh_mass * result["thigh"].velocity[:, 1] + shank


def plots(result, save):
    """Heights of hip and foot, and the percussions of friction between the bounds of Coulomb's law."""
    from matplotlib.figure import Figure  # pyplot, which opens windows, takes a while to import

    foot, h = result["foot"], result.h
    figure = Figure(figsize=(8, 5), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(result.t, result["body"].position[:, 1], label="hip")
    upper.plot(result.t, foot.gap, label="foot")
    upper.set_ylabel("height [m]")
    upper.legend()
    bound = friction * foot.impulse[:, 0] / h
    lower.fill_between(result.t, -bound, bound, color="0.85", label="± μ × normal")
    lower.plot(result.t, foot.impulse[:, 1] / h, lw=0.8, label="friction")
    lower.set(xlabel="t [s]", ylabel="impulse of a step / h [N]", ylim=(-150, 150))
    lower.legend()
    figure.savefig(output_path(f"{save}.png"), dpi=150)


def main(h=5e-5, t_end=1.0, save="guided_hopper", solver=None):
    solver = solver or fem.DecoupledNSGA(rho_inf=0.0)  # damps vibrations of the shank that the steps do not resolve
    result = solver.run(build(), t_end, h, save=f"{save}.vtkhdf" if save else None)
    if save:
        plots(result, save)
    foot, p = result["foot"], momentum(result)
    first = np.flatnonzero(foot.impulse[:, 0] > 0)[0]
    slope, normal = np.linalg.norm(foot.impulse[:, 1:], axis=1), foot.impulse[:, 0]
    share = slope[normal > 0] / normal[normal > 0]
    joints, rates = (np.abs(v).max() for v in (result.violation.position, result.violation.velocity))
    return fem.Checks(
        # bending of the shank in flight: 0.03 mm at 1.2 m/s
        fem.Check("touches the ground [s]", reference=touchdown(), obtained=result.t[first], abs=h + 5e-5),
        fem.Check("momentum of the ground and the weight [N s]", reference=p[-1] - p[0],
                  obtained=normal.sum() - total * g * result.t[-1], abs=1e-6 * total * g * result.t[-1]),
        fem.Check("largest friction / normal", reference=friction, obtained=share.max(), abs=1e-6),
        fem.Check("smallest normal impulse [N s]", reference=0.0, obtained=normal.min(), abs=1e-12),
        fem.Check("smallest gap [m]", reference=0.0, obtained=foot.gap.min(), abs=1e-11),
        fem.Check("largest |g| of the joints [m, rad]", reference=0.0, obtained=joints, abs=1e-9),
        fem.Check("largest |dg/dt| of the joints [m/s, rad/s]", reference=0.0, obtained=rates, abs=1e-8),
    )  # fmt: skip


if __name__ == "__main__":
    main().print()
