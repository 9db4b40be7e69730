"""The same small mechanisms in other units: lengths times L, masses times M, times times T."""

import numpy as np

import fem_mbs as fem

UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]).T  # axes of a frame whose z axis is y
CORNERS = [(x, y, -0.05) for x in (-0.15, 0.15) for y in (-0.1, 0.1)]


def empty(name, L, T):
    return fem.Model(name, gravity=[0, 0, -9.81 * L / T**2])


def box_on_plane(L, M, T, contacts=True):
    """A box that falls on four of its corners, with friction and restitution."""
    model = empty("box", L, T)
    box = model.add(
        fem.RigidBody.box(
            M, [0.3 * L, 0.2 * L, 0.1 * L], position=[0, 0, 0.13 * L], rotation=[0.3, 0.2, 0.1],
            velocity=[0.5 * L / T, 0.2 * L / T, 0], angular_velocity=[1 / T, 2 / T, -1 / T], name="box",
        )
    )  # fmt: skip
    for k, corner in enumerate(CORNERS if contacts else []):
        at = box.frame(np.array(corner) * L)
        law = {"restitution": 0.5, "friction": 0.4, "rolling_resistance": 1e-3 * L}
        model.add(fem.SphereOnPlane(at, model.ground.frame(), radius=0.01 * L, name=f"corner {k}", **law))
    return model, ["box"]


def pendulum_with_clearance(L, M, T, contacts=True):
    """A rod on a pin that has play; without contacts it hangs in a hinge."""
    model = empty("pendulum", L, T)
    arm = model.add(fem.RigidBody.box(M, [0.4 * L, 0.05 * L, 0.05 * L], position=[0.2 * L, 0, 0], name="arm"))
    if contacts:
        pin, bore = arm.node.frame_at([0, 0, 0], UP), model.ground.frame_at([0, 0, 0], UP)
        options = {"radius": 0.01 * L, "clearance": 0.001 * L, "restitution": 0.3, "friction": 0.2}
        model.add(fem.JournalClearance(pin, bore, name="pin", **options))
    else:
        model.add(fem.Revolute.at(model.ground, arm, [0, 0, 0], axis=[0, 1, 0], name="pin"))
    return model, ["arm"]


def slider_crank(L, M, T, contacts=True, beams=0):
    """A crank, a rod that is rigid or of beams, and a slider on a rough floor under a ceiling."""
    model, a, length, speed = empty("slider-crank", L, T), 0.1, 0.3, 10.0
    crank = model.add(
        fem.RigidBody.box(
            0.5 * M, [a * L, 0.02 * L, 0.02 * L], position=[a / 2 * L, 0, 0],
            velocity=[0, 0, -speed * a / 2 * L / T], angular_velocity=[0, speed / T, 0], name="crank",
        )
    )  # fmt: skip
    model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], axis=[0, 1, 0], name="pivot"))
    slider = model.add(
        fem.RigidBody.box(
            0.8 * M, [0.06 * L, 0.06 * L, 0.04 * L], position=[(a + length) * L, 0, 0],
            fixed=("rx", "ry", "rz"), name="slider",
        )
    )  # fmt: skip
    turn = -speed * a / length
    if beams:
        section = fem.Section.rectangle(0.02 * L, 0.02 * L, E=2e9 * M / L / T**2, nu=0.3, density=2500 * M / L**3)
        knee = fem.Node6([a * L, 0, 0], fixed=("rx", "rz"), name="knee")
        end = [(a + length) * L, 0, 0]
        rod = model.add(fem.beam_line(knee, end, beams, section, name="rod", orientation=[0, 1, 0], damping=1e-4 * T))
        for node in rod.nodes:
            node.velocity[2] = -(speed * a + turn * (node.position[0] / L - a)) * L / T
            node.angular_velocity[1] = turn / T
        first, last = rod.nodes[0], rod.nodes[-1]
        model.add(fem.Spherical.at(crank, first, [a * L, 0, 0], name="crank pin"))
    else:
        first = last = model.add(
            fem.RigidBody.box(
                0.3 * M, [length * L, 0.02 * L, 0.02 * L], position=[(a + length / 2) * L, 0, 0],
                velocity=[0, 0, -speed * a / 2 * L / T], angular_velocity=[0, turn / T, 0], name="rod",
            )
        )  # fmt: skip
        model.add(fem.Revolute.at(crank, first, [a * L, 0, 0], axis=[0, 1, 0], name="crank pin"))
    model.add(fem.Spherical.at(last, slider, [(a + length) * L, 0, 0], name="wrist"))
    if contacts:
        for name, side, z in (("floor", 1.0, -0.02), ("ceiling", -1.0, 0.021)):
            face = model.ground.frame_at([0, 0, z * L], np.diag([1.0, side, side]))
            at = slider.frame([0, 0, -0.02 * side * L])
            model.add(fem.SphereOnPlane(at, face, radius=0.0, friction=0.3, restitution=0.2, name=name))
    return model, ["crank", "slider"]


def flexible_slider_crank(L, M, T, contacts=True):
    return slider_crank(L, M, T, contacts, beams=4)


# model, steps, and their size in units of T
MODELS = {
    "box": (box_on_plane, 110, 2e-3),
    "pendulum": (pendulum_with_clearance, 120, 1e-3),
    "slider-crank": (slider_crank, 60, 1e-3),
    "slider-crank with beams": (flexible_slider_crank, 25, 1e-3),
}


def motion(stepper, name, units=(1.0, 1.0, 1.0), *, contacts=True, part=1.0):
    """Positions, rotations and velocities of a model without dimensions (states, numbers), and the result.

    ``units``: L, M, T; ``part`` of the usual step.
    """
    (L, _, T), (build, steps, h) = units, MODELS[name]
    model, bodies = build(*units, contacts=contacts)
    result = stepper.run(model, t_end=steps * part * h * T, h=part * h * T)
    found = []
    for body in (result[body] for body in bodies):
        turned = body.rotation.reshape(len(result.t), 9)
        found += [body.position / L, turned, body.velocity * T / L, body.angular_velocity * T]
    return np.concatenate(found, axis=1), result
