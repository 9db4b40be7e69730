"""A gripper squeezes a soft ball, lifts it by friction and holds it.

Jaws are pressed together by a force that rises in 0.1 s, and lift with a smooth motion; nothing else holds the ball.
Each jaw carries half of its weight by friction, so that it holds if m g < 2 μ F. Nodes of its surface touch the jaws.

    python examples/gripper.py        writes gripper.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem

radius, E, density = 0.03, 1.5e5, 1000.0  # m, Pa, kg/m³
squeeze, friction, lift = 4.0, 0.5, 0.05  # N, -, m
t_close, t_lift, t_rise, t_end = 0.1, 0.2, 0.2, 0.5  # s


def ball_mesh():
    """A cube of 4 × 4 × 4 cells whose faces are drawn onto a sphere."""

    def to_ball(points):
        x, y, z = (2.0 * points - 1.0).T
        a, b, c = x * x, y * y, z * z
        scale = [1 - b / 2 - c / 2 + b * c / 3, 1 - a / 2 - c / 2 + a * c / 3, 1 - a / 2 - b / 2 + a * b / 3]
        return radius * np.stack([x, y, z], axis=1) * np.sqrt(np.stack(scale, axis=1))

    return fem.block_mesh([1, 1, 1], [4, 4, 4], cell="hexahedron", form=to_ball, name="ball")


def raised(t):
    """Height of the jaws [m]: at rest at both ends of the lift."""
    s = np.minimum(np.maximum((t - t_lift) / t_rise, 0.0), 1.0)
    return radius + lift * s**3 * (10 - 15 * s + 6 * s**2)


def build():
    model = fem.Model("gripper", gravity=[0, 0, -9.81])
    rubber = fem.SolidMaterial(E, 0.4, density, law="neo-hookean")
    ball = fem.SolidBody(ball_mesh(), rubber, damping=3e-3, position=[0, 0, radius], name="ball")
    model.add(ball, fem.SurfaceContacts(ball, "z0", model.ground, friction=0.3, drawn_size=0.2, name="table"))
    jaws = []
    for side, name in ((-1.0, "left"), (1.0, "right")):
        shape = fem.shapes.Box([0.01, 0.05, 0.05])
        jaw = fem.RigidBody(
            0.1, [1e-4] * 3, position=[side * (radius + 0.0055), 0, radius], fixed=("y", "rx", "ry", "rz"), shape=shape,
            name=name,
        )  # fmt: skip
        inside = jaw.frame([-side * 0.005, 0, 0], fem.rotations.frame_with_axis([-side, 0, 0]))
        grip = fem.SurfaceContacts(ball, "x0" if side < 0 else "x1", inside, friction=friction, name=f"{name} grip")
        push = fem.PointForce(jaw, lambda t, s=side: [-s * squeeze * min(t / t_close, 1.0), 0, 0], name=f"{name} push")
        held = fem.Prescribed(jaw, z=raised, name=f"{name} lift")
        model.add(jaw, grip, push, held)
        jaws.append(grip)
    return model, ball, jaws


def main(h=2e-3, save="gripper.vtkhdf", solver=None):
    model, ball, jaws = build()
    result = (solver or fem.DecoupledNSGA(rho_inf=0.5)).run(model, t_end=t_end, h=h, save=save)
    places = [node.index for node in ball.nodes]
    raised = (result.state(-1).x - result.state(0).x)[places, 2].mean()
    normal = [sum(result[contact.name].force_normal[-10:].mean() for contact in grip.elements) for grip in jaws]
    rubbed = [sum(result[c.name].force[-10:, 1:].mean(axis=0) for c in grip.elements) for grip in jaws]
    weight = ball.mass * 9.81
    return fem.Checks(
        fem.Check("force on the left jaw [N]", reference=squeeze, obtained=normal[0], rel=0.01),
        fem.Check("force on the right jaw [N]", reference=squeeze, obtained=normal[1], rel=0.01),
        fem.Check("friction of both [N]", reference=weight, obtained=sum(map(np.linalg.norm, rubbed)), rel=0.02),
        fem.Check("lifted [m]", reference=lift, obtained=raised, abs=2e-3),  # it sags between the jaws
    )


if __name__ == "__main__":
    main().print()
