"""Twenty everyday mechanisms with persistent contact, friction, stops and impacts: accuracy of the default method.

Each is a function that returns a `Task`. All are planar or spatial models of a few bodies whose motion is not chaotic
during the run, so that an error is a number and not a matter of chance. The period is that of the motion, of its
forcing, or the time between two impacts.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import fem_mbs as fem

g = 9.81  # m/s²
Z = [0, 0, 1]
Y = [0, 1, 0]
UP_Y = [-np.pi / 2, 0, 0]  # rotation vector that turns z of a plane to the inertial y axis


class Task(NamedTuple):
    """A model, its period and duration, and the bodies whose motion is compared.

    Attributes
    ----------
    kind : {"contact", "friction", "stop", "impact"}
    build : function that returns a `fem.Model`
    period, duration : float [s]
    bodies : names of the bodies compared
    """

    kind: str
    build: Callable
    period: float
    duration: float
    bodies: tuple


def pendulum(model, length=1.0, mass=1.0, angle=1.2, pivot=(0, 0, 0), name="bar", **options):
    """Bar of a length [m] hinged at a pivot, axis z, gravity along −y; at rest at an angle [rad] from the vertical."""
    e = np.array([np.sin(angle), -np.cos(angle), 0])
    turned = np.column_stack([e, np.cross(Z, e), Z])
    inertia = [1e-3 * mass * length**2] + [mass * length**2 / 12] * 2
    bar = model.add(fem.RigidBody(mass, inertia, position=pivot + 0.5 * length * e, rotation=turned, name=name))
    model.add(fem.Revolute.at(model.ground, bar, pivot, Z, name=f"hinge of {name}", **options))
    return bar


def slider(model, mass=1.0, position=(0, 0, 0), velocity=0.0, name="slider", **options):
    """Body on a guide along x."""
    body = model.add(
        fem.RigidBody(mass, [0.01 * mass] * 3, position=position, velocity=[velocity, 0, 0], name=name)
    )  # fmt: skip
    model.add(fem.Prismatic.at(model.ground, body, position, [1, 0, 0], name=f"guide of {name}", **options))
    return body


# --- contact that lasts ---------------------------------------------------------------------------------------------


def ball_in_drum():
    """A ball rolls to and fro in a fixed drum."""

    def build():
        model = fem.Model("ball in a drum", gravity=[0, -g, 0])
        e = np.array([np.sin(0.9), -np.cos(0.9), 0])
        ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=0.9 * e, name="ball"))
        model.add(
            fem.SphereInCylinder(ball, model.ground, radius=0.1, radius_cylinder=1.0, friction=0.8, name="drum")
        )  # fmt: skip
        return model

    return Task("contact", build, 2.4, 2.4, ("ball",))


def ball_slides_then_rolls():
    """A ball that slides first rolls up a slope and down again."""

    def build():
        model = fem.Model("slide and roll", gravity=[g * np.sin(-0.2), 0, -g * np.cos(0.2)])
        ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], velocity=[2.0, 0.5, 0], name="ball"))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.2, name="floor"))
        return model

    return Task("contact", build, 1.5, 1.5, ("ball",))


def sticking_leg():
    """A leg falls over on its round foot, which sticks to the floor."""

    def build():
        model = fem.Model("leg", gravity=[0, -g, 0])
        e = np.array([np.sin(0.3), np.cos(0.3), 0])
        turned = np.column_stack([e, np.cross(Z, e), Z])
        leg = model.add(
            fem.RigidBody(2.0, [0.01, 0.2, 0.2], position=[0, 0.05, 0] + 0.5 * e, rotation=turned, name="leg")
        )
        foot = leg.frame([-0.5, 0, 0])
        model.add(fem.SphereOnPlane(foot, model.ground.frame(rotation=UP_Y), radius=0.05, friction=0.9, name="floor"))
        return model

    return Task("contact", build, 1.0, 0.5, ("leg",))


def roller_crank():
    """A crank pulls a roller over a floor."""

    def build():
        model = fem.Model("roller crank", gravity=[0, -g, 0])
        crank = model.add(fem.RigidBody(0.12, 2e-3, position=[0, 0.05, 0], angular_velocity=[0, 0, 4.0],
                                        velocity=[-0.2, 0, 0], name="crank"))  # fmt: skip
        rod = model.add(fem.RigidBody(0.3, 2e-3, position=[0.15, 0.1, 0], velocity=[-0.4, 0, 0], name="rod"))
        roller = model.add(fem.RigidBody.sphere(0.4, 0.05, position=[0.3, 0.1, 0], velocity=[-0.4, 0, 0],
                                                angular_velocity=[0, 0, 8.0], name="roller"))  # fmt: skip
        model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], Z, name="pivot"))
        model.add(fem.Revolute.at(crank, rod, [0, 0.1, 0], Z, name="pin"))
        model.add(fem.Revolute.at(rod, roller, [0.3, 0.1, 0], Z, name="axle"))
        floor = model.ground.frame([0, 0.05, 0], rotation=UP_Y)
        model.add(fem.SphereOnPlane(roller, floor, radius=0.05, friction=0.3, name="floor"))
        return model

    return Task("contact", build, 1.5, 1.0, ("crank", "roller"))


def cam():
    """An eccentric disc turns at a given speed below a follower that a spring presses on it."""

    def build():
        model = fem.Model("cam", gravity=[0, -g, 0])
        disc = model.add(fem.RigidBody(1.0, 0.01, angular_velocity=[0, 0, 6.0], name="disc"))
        model.add(
            fem.Revolute.at(model.ground, disc, [0, 0, 0], Z, name="shaft", motor=fem.Motor(position=lambda t: 6.0 * t))
        )
        centre = disc.frame([0.02, 0, 0])
        rise = np.sqrt(0.15**2 - 0.02**2)
        follower = model.add(
            fem.RigidBody(0.5, 1e-3, position=[0, rise, 0], velocity=[0, 0.12, 0], name="follower")
        )  # fmt: skip
        model.add(fem.Prismatic.at(model.ground, follower, [0, rise, 0], Y, name="guide", stiffness=800.0, rest=-0.05))
        model.add(fem.SphereOnSphere(follower, centre, radius_A=0.05, radius_B=0.1, friction=0.1, name="cam"))
        return model

    return Task("contact", build, 2 * np.pi / 6, 2 * np.pi / 6, ("follower",))


def ball_on_swing():
    """A ball rolls on a plate that hangs from two rods and swings."""

    def build():
        model = fem.Model("ball on a swing", gravity=[0, -g, 0])
        plate = model.add(fem.RigidBody(3.0, [0.1, 0.2, 0.2], position=[0.4, -1.0, 0], name="plate"))
        e = np.array([0.4, -1.0, 0]) / np.hypot(0.4, 1.0)
        for x in (-0.4, 0.4):
            model.add(fem.Distance(model.ground.frame([x, 0, 0]), plate.frame([x, 0, 0]), name=f"rod {x}"))
        model.add(fem.Planar.at(model.ground, plate, 0.5 * e, Z, name="plane"))
        ball = model.add(fem.RigidBody.sphere(0.5, 0.1, position=[0.4, -0.9, 0], name="ball"))
        model.add(fem.SphereOnPlane(ball, plate.frame(rotation=UP_Y), radius=0.1, friction=0.5, name="plate top"))
        return model

    return Task("contact", build, 2.0, 1.2, ("plate", "ball"))


# --- friction -------------------------------------------------------------------------------------------------------


def rubbing_pendulum():
    """A pendulum in a rough bearing swings out."""

    def build():
        model = fem.Model("rubbing pendulum", gravity=[0, -g, 0])
        pendulum(model, friction=fem.DryFriction(0.3, radius=0.05))
        return model

    return Task("friction", build, 1.7, 3.4, ("bar",))


def pushed_block():
    """A block on three feet is pushed to and fro over a rough floor: it slides, stops, and sticks."""

    def build():
        model = fem.Model("pushed block", gravity=[0, 0, -g])
        block = model.add(fem.RigidBody.box(2.0, [0.3, 0.2, 0.05], position=[0, 0, 0.06], name="block"))
        for k, (x, y) in enumerate(((0.12, 0.0), (-0.12, 0.08), (-0.12, -0.08))):
            foot = block.frame([x, y, -0.05])
            model.add(fem.SphereOnPlane(foot, model.ground, radius=0.01, friction=0.3, name=f"foot {k}"))
        model.add(
            fem.PointForce(block.frame([0, 0, -0.05]), lambda t: [8.0 * np.sin(4.0 * t), 3.0 * np.sin(3.0 * t), 0])
        )
        return model

    return Task("friction", build, 2 * np.pi / 4, 2 * np.pi / 4, ("block",))


def slip_stick():
    """A mass on a spring is pulled at a constant speed over its rough guide."""

    def build():
        model = fem.Model("stick and slip", gravity=[0, 0, -g])
        body = slider(model, friction=fem.DryFriction((0.4, 0.25), length=0.2))
        hook = model.add(fem.RigidBody(1.0, 0.01, position=[0.5, 0, 0], velocity=[0.2, 0, 0], name="hook"))
        guide = fem.Prismatic.at(
            model.ground, hook, [0.5, 0, 0], [1, 0, 0], name="drive", motor=fem.Motor(position=lambda t: 0.2 * t)
        )
        model.add(guide)
        model.add(fem.Spring(hook, body, 50.0, name="spring"))
        return model

    return Task("friction", build, 0.9, 2.0, ("slider",))


def loaded_guide():
    """A crank drives a slider whose friction depends on the forces of its guide."""

    def build():
        model = fem.Model("slider crank", gravity=[0, -g, 0])
        crank = model.add(fem.RigidBody(1.0, 0.02, position=[0, 0, 0], angular_velocity=[0, 0, 10.0], name="crank"))
        model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], Z, name="shaft"))
        rod = model.add(fem.RigidBody(0.4, 5e-3, position=[0.25, 0, 0], velocity=[0, 0.5, 0],
                                      angular_velocity=[0, 0, -10.0 / 3], name="rod"))  # fmt: skip
        model.add(fem.Revolute.at(crank, rod, [0.1, 0, 0], Z, name="pin"))
        piston = model.add(fem.RigidBody(0.8, 0.01, position=[0.4, 0, 0], name="piston"))
        model.add(fem.PointOnLine.at(rod, piston, [0.4, 0, 0], Z, name="wrist"))
        model.add(
            fem.Prismatic.at(
                model.ground, piston, [0.4, 0, 0], [1, 0, 0], name="guide", friction=fem.DryFriction(0.2, length=0.2)
            )
        )
        return model

    return Task("friction", build, 2 * np.pi / 10, 2 * np.pi / 10, ("crank", "piston"))


def ball_on_belt():
    """A ball is set on a plane that moves to and fro below it."""

    def build():
        model = fem.Model("ball on a moving plane", gravity=[0, 0, -g])
        table = model.add(fem.RigidBody(5.0, 0.1, velocity=[1.0, 0, 0], name="table"))
        model.add(fem.Prismatic.at(model.ground, table, [0, 0, 0], [1, 0, 0], name="rail",
                                   motor=fem.Motor(position=lambda t: 0.25 * np.sin(4.0 * t))))  # fmt: skip
        ball = model.add(fem.RigidBody.sphere(0.5, 0.1, position=[0, 0, 0.1], velocity=[0, 0.5, 0], name="ball"))
        model.add(fem.SphereOnPlane(ball, table, radius=0.1, friction=0.15, name="top"))
        return model

    return Task("friction", build, 2 * np.pi / 4, 2 * np.pi / 4, ("ball",))


# --- stops ----------------------------------------------------------------------------------------------------------


def pendulum_on_stop():
    """A pendulum falls on a stop three times."""

    def build():
        model = fem.Model("pendulum on a stop", gravity=[0, -g, 0])
        pendulum(model, stops=fem.Stops(-1.3, None, restitution=0.7))
        return model

    return Task("stop", build, 1.7, 2.0, ("bar",))


def bar_between_stops():
    """A free bar between two elastic stops."""

    def build():
        model = fem.Model("bar between stops")
        w = 6.0
        bar = model.add(fem.RigidBody(2.0, [0.01, 0.06, 0.06], position=[0.3, 0, 0], velocity=[0, 0.3 * w, 0],
                                      angular_velocity=[0, 0, w], name="bar"))  # fmt: skip
        model.add(
            fem.Revolute.at(model.ground, bar, [0, 0, 0], Z, name="hinge", stops=fem.Stops(-1.0, 1.0, restitution=1.0))
        )
        return model

    return Task("stop", build, 4.0 / 6, 4.0, ("bar",))


def impact_oscillator():
    """A driven mass on a spring hits a stop once in each period."""

    def build():
        model = fem.Model("impact oscillator")
        body = slider(model, stiffness=40.0, damping=0.4, stops=fem.Stops(None, 0.03, restitution=0.6))
        model.add(fem.PointForce(body, lambda t: [4.0 * np.sin(5.0 * t), 0, 0]))
        return model

    return Task("stop", build, 2 * np.pi / 5, 2 * np.pi / 5 * 2, ("slider",))


def knee():
    """A double pendulum whose second hinge has a stop, which it reaches and leaves again."""

    def build():
        model = fem.Model("knee", gravity=[0, -g, 0])
        thigh = pendulum(model, length=0.5, angle=0.9, name="thigh")
        e = np.array([np.sin(0.9), -np.cos(0.9), 0])
        turned = np.column_stack([e, np.cross(Z, e), Z])
        shank = model.add(fem.RigidBody(0.6, [1e-4, 0.0125, 0.0125], position=0.75 * e, rotation=turned, name="shank"))
        model.add(fem.Revolute.at(thigh, shank, 0.5 * e, Z, name="knee", stops=fem.Stops(None, 0.05, restitution=0.0)))
        return model

    return Task("stop", build, 1.5, 1.2, ("thigh", "shank"))


# --- impacts --------------------------------------------------------------------------------------------------------


def rough_bounce():
    """A spinning ball bounces over a rough floor."""

    def build():
        model = fem.Model("rough bounce", gravity=[0, 0, -g])
        ball = model.add(fem.RigidBody.sphere(0.2, 0.1, position=[0, 0, 0.7], velocity=[1.0, 0, 0],
                                              angular_velocity=[3.0, 20.0, 1.0], name="ball"))  # fmt: skip
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.4, restitution=0.8, name="floor"))
        return model

    return Task("impact", build, 0.6, 1.4, ("ball",))


def collision_in_flight():
    """Two spinning balls meet in flight."""

    def build():
        model = fem.Model("collision in flight", gravity=[0, 0, -g])
        one = model.add(
            fem.RigidBody.sphere(0.3, 0.1, velocity=[2.0, 0, 1.0], angular_velocity=[0, 5.0, 10.0], name="one")
        )
        two = model.add(fem.RigidBody.sphere(0.2, 0.1, position=[1.0, 0.08, 0.06], velocity=[-1.0, 0, 0.8],
                                             angular_velocity=[4.0, 0, 3.0], name="two"))  # fmt: skip
        model.add(fem.SphereOnSphere(one, two, radius_A=0.1, radius_B=0.1, friction=0.3, restitution=0.7, name="touch"))
        return model

    return Task("impact", build, 0.5, 0.5, ("one", "two"))


def ball_on_flap():
    """A ball bounces on a flap that is hinged and carried by a spring."""

    def build():
        model = fem.Model("ball on a flap", gravity=[0, -g, 0])
        flap = model.add(fem.RigidBody(1.0, [1e-3, 0.03, 0.03], position=[0.3, 0, 0], name="flap"))
        model.add(
            fem.Revolute.at(model.ground, flap, [0, 0, 0], Z, name="hinge", stiffness=120.0, damping=0.5, rest=0.0245)
        )
        ball = model.add(fem.RigidBody.sphere(0.3, 0.05, position=[0.4, 0.4, 0], name="ball"))
        model.add(
            fem.SphereOnPlane(ball, flap.frame(rotation=UP_Y), radius=0.05, friction=0.3, restitution=0.6, name="top")
        )
        return model

    return Task("impact", build, 0.5, 0.75, ("flap", "ball"))


def slider_hits_block():
    """A slider on a spring hits a free block on the same guide."""

    def build():
        model = fem.Model("slider hits a block")
        one = slider(model, velocity=1.0, stiffness=30.0)
        two = slider(model, mass=0.5, position=[0.25, 0, 0], name="block", damping=0.3)
        model.add(fem.SphereOnSphere(one, two, radius_A=0.1, radius_B=0.1, restitution=0.5, name="touch"))
        return model

    return Task("impact", build, 1.15, 1.15, ("slider", "block"))


def pendulum_hits_wall():
    """A pendulum with a ball at its end hits a rough slanted wall and slips along it."""

    def build():
        model = fem.Model("pendulum and wall", gravity=[0, -g, 0])
        bar = pendulum(model, angle=1.2)
        wall = model.ground.frame([-0.1, 0, 0], [0, np.pi / 2, 0])
        model.add(
            fem.SphereOnPlane(bar.frame([0.5, 0, 0]), wall, radius=0.07, friction=0.3, restitution=0.7, name="wall")
        )
        return model

    return Task("impact", build, 1.7, 1.9, ("bar",))


TASKS = {
    task.__name__: task
    for task in (
        ball_in_drum, ball_slides_then_rolls, sticking_leg, roller_crank, cam, ball_on_swing,
        rubbing_pendulum, pushed_block, slip_stick, loaded_guide, ball_on_belt,
        pendulum_on_stop, bar_between_stops, impact_oscillator, knee,
        rough_bounce, collision_in_flight, ball_on_flap, slider_hits_block, pendulum_hits_wall,
    )
}  # fmt: skip
