"""Billiard break: the cue ball hits three balls that touch each other, with friction between all of them and the
cloth.

Sanchez2025, section B.5.6. The layout is in a figure that is not available: the cue ball starts on the head spot, the
apex ball lies on the foot spot (the first impact at 0.114 s demands this distance), the other two behind it at ±30°.
The impact step solves a sequence of impact problems; nobody prescribes their order.

    python examples/billiard_break.py           writes billiard_break.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Box, Sphere

radius, mass, inertia, g = 0.028575, 1.666 / 9.8, 5.5e-5, 9.8  # m, kg, kg m², m/s²
table = (2.54, 1.27)  # m
speed = 10.729  # m/s, of the cue ball, without rotation
cloth = {"friction": 0.2}
balls = {"friction": 0.06, "restitution": 0.93}
cushions = {"restitution": 0.85}

# Velocities [m/s] after the break step with this layout, of the published scheme with tangents of the start of the step
# (tests/references/impact_sequence.py)
AFTER_BREAK = {"cue": (-1.427, 0.0), "ball 3": (0.284, 0.0), "ball 4": (5.805, 3.700), "ball 5": (5.805, -3.700)}


def build(rolling_resistance=0.0, stiffness=None):
    """Table in the x-y plane, its corner at the origin; gravity along −z. rolling_resistance: arm on the cloth [m].

    stiffness [N/m^1.5]: balls and cushions yield, with the law of Flores, instead of impacts.
    """
    model = fem.Model("billiard break", gravity=[0, 0, -g])
    foot, row = np.array([0.75 * table[0], 0.5 * table[1], radius]), radius * np.array([np.sqrt(3.0), 1.0, 0.0])
    places = {
        "cue": foot - [0.5 * table[0], 0, 0],
        "ball 3": foot,
        "ball 4": foot + row,
        "ball 5": foot + row * [1, -1, 1],
    }
    bodies = []
    for name, place in places.items():
        velocity = [speed, 0, 0] if name == "cue" else [0, 0, 0]
        ball = fem.RigidBody(mass, inertia, position=place, velocity=velocity, shape=Sphere(radius), name=name)
        bodies.append(model.add(ball))
    walls = {"west": ([0, 0, 0], [0, 1, 0]), "east": ([table[0], 0, 0], [0, -1, 0]),
             "south": ([0, 0, 0], [-1, 0, 0]), "north": ([0, table[1], 0], [1, 0, 0])}  # fmt: skip

    def add(contact):
        model.add(contact if stiffness is None else fem.CompliantContact(contact, stiffness=stiffness, model="flores"))

    patch = {"radius": radius, "drawn_size": 0.0}
    for i, ball in enumerate(bodies):
        bed = model.ground.frame([0.5 * table[0], 0.5 * table[1], 0])
        model.add(fem.SphereOnPlane(ball, bed, radius=radius, rolling_resistance=rolling_resistance, **cloth,
                                    drawn_size=0.0,
                                    name=f"cloth, {ball.name}"))  # fmt: skip
        for name, (place, axis) in walls.items():
            side = model.ground.frame(place, rotation=0.5 * np.pi * np.array(axis))  # z turned to the inside
            add(fem.SphereOnPlane(ball, side, **patch, **cushions, name=f"{name}, {ball.name}"))
        for other in bodies[:i]:
            add(fem.SphereOnSphere(ball, other, radius_A=radius, radius_B=radius, **balls,
                                   name=f"{ball.name}, {other.name}"))  # fmt: skip
    place = [0.5 * table[0], 0.5 * table[1], -0.02]
    bed = Box([*table, 0.04], color="#cfe3d0")  # only drawn; the cloth is the plane z = 0
    model.add(fem.RigidBody(1.0, 1.0, position=place, fixed=True, shape=bed, name="bed"))
    return model


def main(h=1e-3, t_end=3.0, save="billiard_break.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.8)
    result = solver.run(build(), t_end=t_end, h=h, save=save)
    after = int(np.argmax(result["ball 3"].velocity[:, 0] > 0.01))
    gaps = min(result[contact.name].gap.min() for contact in build().elements if hasattr(contact, "law"))
    rise = np.diff(result.energy.total).max()
    checks = [
        fem.Check("time of the break [s]", reference=0.1142, obtained=result.t[after], abs=2 * h),  # two steps
        fem.Check("smallest gap [m]", reference=0.0, obtained=gaps, abs=1e-12),
        # friction, impacts and cushions only take energy; the bound is the integrator's, 1e-9 of 9.8 J
        fem.Check("largest rise of energy [J]", reference=0.0, obtained=max(rise, 0.0), abs=1e-8),
    ]
    for name, velocity in AFTER_BREAK.items():
        for axis, reference in zip("xy", velocity):
            obtained = result[name].velocity[after, "xy".index(axis)]
            # tangents are those of the end of the step here; in it the cue ball moves by 1 cm: first order in h,
            # 0.041 m/s measured on 3.7 m/s
            checks.append(fem.Check(f"{name}: v{axis} after [m/s]", reference=reference, obtained=obtained, abs=0.05))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
