"""Rotor in two ball bearings through its critical speed: Campbell diagram, unbalance response, and the run-up in time.

A disc sits next to the middle of a shaft in two preloaded 6205 bearings. The diagram shows the critical speeds, the
response to an unbalance of 0.1 kg mm the motion of the disc at each speed. Then the rotor with this unbalance is driven
up from rest in time: its orbit is that of the steady response, a little late.

    python examples/rotor_in_bearings.py        writes rotor_in_bearings.vtkhdf (ParaView), rotor_in_bearings.png
"""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import fem_mbs as fem
from fem_mbs.results.drawing.plot import COLORS, STYLE

X = np.array([1.0, 0, 0])
length, disc_at, mass, inertia = 0.5, 0.2, 5.0, [2.5e-2, 1.3e-2, 1.3e-2]  # m, m, kg, kg m²
unbalance, drag, acceleration, top = 1e-4, 400.0, 200.0, 800.0  # kg m, N s/m, rad/s², rad/s
steel = {"E": 210e9, "nu": 0.3, "density": 7850.0}
geometry = fem.BearingGeometry.from_designation("6205", clearance=-8e-6)  # mounted with interference


def build(eccentricity=0.0, driven=False):
    """The model, and what turns in it: a shaft along x. Air brakes the disc."""
    model = fem.Model("rotor in ball bearings", gravity=[0, 0, 0])
    left, right = fem.Node6(fixed=("x",), name="left end"), fem.Node6(length * X, name="right end")
    shape = fem.shapes.Cylinder(-0.01 * X, 0.01 * X, 0.1)
    place = {"position": disc_at * X, "center": [0, eccentricity, 0], "shape": shape, "name": "disc"}
    disc = model.add(fem.RigidBody(mass, inertia, **place))
    section = fem.Section.circle(0.0125, **steel)
    shaft = [model.add(fem.beam_line(left, disc, 2, section)), model.add(fem.beam_line(disc, right, 4, section))]
    for node in (left, right):
        options = {"geometry": geometry, "damping": (200.0, 200.0, 0.0), "name": f"at the {node.name}"}
        model.add(fem.QuasiStaticBearing.at(model.ground, node, position=node.position, axis=X, **options))
    for far in ([disc_at, 1e3, 0], [disc_at, 0, 1e3]):
        model.add(fem.Spring(model.ground.frame(far), disc.node.frame(), stiffness=0.0, damping=drag))
    if driven:
        angle = fem.Signal(lambda t: acceleration / 2 * t**2)
        model.add(fem.RevoluteDriver.at(model.ground, left, position=[0, 0, 0], axis=X, angle=angle, name="drive"))
    return model, {"rotor": [*shaft, disc], "axis": X}


def draw(diagram, response, disc, speed, radius, picture):
    """Diagram on the left, orbits over speed on the right."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12.0, 4.6), layout="constrained")
        parts = figure.subfigures(1, 2, width_ratios=(1.15, 1))
        diagram.plot(figure=parts[0])
        axes, steady = parts[1].add_subplot(), response.amplitude(disc)
        axes.plot(response.speeds * 30 / np.pi, 1e3 * steady, color=COLORS[1], label="steady response")
        axes.plot(speed * 30 / np.pi, 1e3 * radius, color=COLORS[0], label="run-up in time")
        axes.set(xlabel="speed [1/min]", ylabel="distance of the disc from the axis [mm]")
        axes.legend()
        figure.savefig(picture, dpi=110)


def main(h=2.5e-4, save="rotor_in_bearings.vtkhdf", picture="rotor_in_bearings.png", solver=None):
    model, turns = build()
    diagram = fem.campbell(model, np.linspace(0, 2500, 26), 4, **turns)
    response = fem.unbalance_response(model, {model["disc"]: unbalance}, np.linspace(10, top, 199), **turns)
    direct = fem.critical_speeds(model, 1, **turns)[0].speed
    run, solver = build(unbalance / mass, driven=True)[0], solver or fem.DecoupledNSGA(rho_inf=0.9)
    result = solver.run(run, t_end=top / acceleration, h=h, save=save, save_every=5)
    speed = acceleration * result.t
    radius = np.linalg.norm(result["disc"].position[:, 1:], axis=1)
    if picture is not None:
        draw(diagram, response, model["disc"], speed, radius, picture)
    steady, first = response.amplitude(model["disc"]), diagram.critical[0].speed
    peak = response.speeds[steady.argmax()]
    return fem.Checks(
        # dampers are in the diagram alone
        fem.Check("first critical speed [rad/s]", reference=direct, obtained=first, rel=1e-2),
        fem.Check("largest orbit: steady, in time [m]", reference=steady.max(), obtained=radius.max(), rel=0.03),
        fem.Check("its speed [rad/s]", reference=peak, obtained=speed[radius.argmax()], rel=0.04),
    )


if __name__ == "__main__":
    main().print()
