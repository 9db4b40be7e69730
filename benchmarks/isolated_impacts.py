"""Isolated impacts that are split against impacts that are captured, on 40 small mechanisms.

`python benchmarks/isolated_impacts.py [NAME …]` prints for each mechanism the errors of ``impacts="plain"`` and
``"auto"`` against a run with ``"split"`` and steps of h/16, what is not conserved, and the ratio of processor times.

    error      mean over time of the largest error of a position [mm]
    momentum   largest change of the angular momentum of bodies in free flight over m v L, -
    energy     largest change of the total energy of mechanisms that are elastic and without friction, relative
    CPU        auto/plain, of complete runs, least of `REPEATS` each
"""

import sys
import time
from itertools import pairwise

import numpy as np

import fem_mbs as fem

REPEATS, FINER = 3, 16
UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]).T  # axes of a frame whose z axis is y
DOWN = np.diag([1.0, -1.0, -1.0])
MECHANISMS = {}


def mechanism(t_end, h, keeps="", **options):
    """Register a function that fills a model; ``keeps``: what is conserved, "momentum" or "energy"."""

    def register(fill):
        MECHANISMS[fill.__name__.replace("_", " ")] = (fill, t_end, h, keeps, options)
        return fill

    return register


def sphere(model, mass, radius, at, v=(0, 0, 0), w=(0, 0, 0), **options):
    options = {"position": at, "velocity": v, "angular_velocity": w, **options}
    return model.add(fem.RigidBody.sphere(mass, radius, **options))


def box(model, mass, size, at, v=(0, 0, 0), w=(0, 0, 0), **options):
    return model.add(fem.RigidBody.box(mass, size, position=at, velocity=v, angular_velocity=w, **options))


def wall(model, x, side=1.0):
    """Frame of a wall at x whose normal points along ±x."""
    return model.ground.frame([x, 0, 0], [0, side * np.pi / 2, 0])


def on_plane(model, body, radius, frame=None, e=0.7, mu=0.0, **options):
    frame = model.ground.frame() if frame is None else frame
    return model.add(fem.SphereOnPlane(body, frame, radius=radius, restitution=e, friction=mu, **options))


def pair(model, a, b, radii, e=0.8, mu=0.0):
    law = {"restitution": e, "friction": mu}
    return model.add(fem.SphereOnSphere(a, b, radius_A=radii[0], radius_B=radii[1], **law))


def hinge(model, a, b, at, **options):
    return model.add(fem.Revolute.at(a, b, at, [0, 1, 0], **options))


def arm(model, length, at=(0, 0, 0), angle=0.0, w=0.0, mass=1.0):
    """A bar from a point of the ground on which it hangs; angle and speed about y."""
    direction = np.array([np.cos(angle), 0, -np.sin(angle)])
    middle = np.asarray(at, float) + 0.5 * length * direction
    v = np.cross([0, w, 0], 0.5 * length * direction)
    body = box(model, mass, [length, 0.04, 0.04], middle, v, [0, w, 0], rotation=[0, angle, 0])
    return body, np.asarray(at, float) + length * direction


# --- balls on planes --------------------------------------------------------------------------------------------------


@mechanism(1.5, 2e-3)
def bouncing_ball(model):
    on_plane(model, sphere(model, 1.0, 0.1, [0, 0, 1.1]), 0.1, e=0.8)


@mechanism(1.5, 2e-3, "energy")
def elastic_ball(model):
    on_plane(model, sphere(model, 1.0, 0.1, [0, 0, 0.6]), 0.1, e=1.0)


@mechanism(1.2, 2e-3)
def spinning_ball(model):
    on_plane(model, sphere(model, 0.5, 0.1, [0, 0, 0.5], [1, 0.3, -1], [3, 30, -7]), 0.1, e=0.7, mu=0.3)


@mechanism(1.2, 2e-3)
def rough_superball(model):
    ball = sphere(model, 0.1, 0.03, [0, 0, 0.5], [1, 0, 0], [0, -60, 0])
    law = {"restitution": 0.95, "tangential_restitution": 0.8, "friction": 0.8}
    model.add(fem.SphereOnPlane(ball, model.ground.frame(), radius=0.03, **law))


@mechanism(1.5, 2e-3)
def ball_to_rest(model):
    on_plane(model, sphere(model, 1.0, 0.1, [0, 0, 0.4]), 0.1, e=0.5)


@mechanism(1.0, 2e-3)
def ball_down_a_slope(model):
    on_plane(model, sphere(model, 1.0, 0.1, [0, 0, 0.4]), 0.1, model.ground.frame([0, 0, 0], [0, 0.3, 0]), 0.6, 0.2)


@mechanism(0.8, 2e-3)
def plastic_ball(model):
    on_plane(model, sphere(model, 1.0, 0.1, [0, 0, 0.6], [1, 0, 0]), 0.1, e=0.0, mu=0.3)


@mechanism(1.0, 2e-3)
def ball_into_a_wall(model):
    ball = sphere(model, 1.0, 0.1, [0, 0, 0.1], [2, 0, 0], [0, 20, 0])
    on_plane(model, ball, 0.1, e=0.0, mu=0.3)
    on_plane(model, ball, 0.1, wall(model, 0.9, -1.0), 0.6, 0.2)


@mechanism(1.0, 2e-3)
def ball_over_an_edge(model):
    ball = sphere(model, 0.2, 0.05, [0.2, 0.03, 0.45], [1, 0.1, 0], [-2, 20, 0])
    table = model.ground.frame([0, 0, 0.2])
    model.add(fem.SphereOnBox(ball, table, radius=0.05, size=[1, 1, 0.4], friction=0.3, restitution=0.2))
    on_plane(model, ball, 0.05, e=0.6, mu=0.2)


@mechanism(1.0, 2e-3)
def ball_in_a_bowl(model):
    ball = sphere(model, 0.2, 0.05, [0.3, 0.1, -0.2], [0, 0.5, 0], [5, 0, 9])
    model.add(
        fem.SphereInSphere(ball, model.ground.frame(), radius=0.05, radius_outer=0.6, restitution=0.6, friction=0.2)
    )


@mechanism(1.0, 2e-3)
def ball_between_plates(model):
    ball = sphere(model, 0.2, 0.05, [0, 0, 0.2], [0.2, 0, 3])
    on_plane(model, ball, 0.05, e=0.9)
    on_plane(model, ball, 0.05, model.ground.frame([0, 0, 0.3], DOWN), 0.9)


@mechanism(1.2, 2e-3, "energy")
def ball_on_a_spring(model):
    mass = sphere(model, 1.0, 0.1, [0, 0, 0.8])
    foot = sphere(model, 0.3, 0.05, [0, 0, 0.35], fixed=("x", "y", "rx", "ry", "rz"))
    model.add(fem.Spring(foot, mass, 500.0))
    model.add(fem.Prismatic.at(foot, mass, [0, 0, 0.5], [0, 0, 1]))
    on_plane(model, foot, 0.05, e=1.0)


# --- free flight ------------------------------------------------------------------------------------------------------


@mechanism(0.5, 1e-3, "momentum")
def two_rough_spheres(model):
    a = sphere(model, 1.0, 0.1, [-0.5, 0, 0], [3, 0, 0], [0, 5, 20])
    b = sphere(model, 0.5, 0.08, [0, 0.1, 0.03], [-1, 0, 0], [10, 0, 0])
    pair(model, a, b, (0.1, 0.08), 0.8, 0.3)


@mechanism(0.5, 1e-3, "momentum")
def four_rough_spheres(model):
    at = [([3 - 3 * (i > 0), 0.1 * i, 0], [5 * i, 2, 20]) for i in range(4)]
    balls = [sphere(model, 0.2 + 0.1 * i, 0.1, [0.25 * i, 0.02 * i, 0.01 * i], *at[i]) for i in range(4)]
    for i in range(4):
        for j in range(i + 1, 4):
            pair(model, balls[i], balls[j], (0.1, 0.1), 0.8, 0.2)


@mechanism(0.5, 1e-3, "energy")
def three_elastic_spheres(model):
    balls = [sphere(model, 0.3, 0.1, [0.3 * i, 0.05 * i, 0], [2 - 2 * (i > 0), 0, 0]) for i in range(3)]
    for i in range(3):
        for j in range(i + 1, 3):
            pair(model, balls[i], balls[j], (0.1, 0.1), 1.0)


@mechanism(0.5, 1e-3, "momentum")
def two_capsules(model):
    ends = [0, 0, -0.2], [0, 0, 0.2]
    a = model.add(fem.RigidBody.cylinder(1.0, 0.04, 0.5, position=[0, 0, 0], angular_velocity=[0, 3, 0]))
    b = model.add(
        fem.RigidBody.cylinder(1.0, 0.04, 0.5, position=[0.4, 0.1, 0.15], velocity=[-2, 0, 0], rotation=[1.2, 0, 0])
    )
    law = {"radius_A": 0.04, "radius_B": 0.04, "restitution": 0.7, "friction": 0.3}
    model.add(fem.CapsuleOnCapsule(*([body.frame(p) for p in ends] for body in (a, b)), **law))


@mechanism(0.5, 1e-3, "momentum")
def sphere_on_a_free_box(model):
    ball = sphere(model, 0.5, 0.1, [0.1, 0.05, 0.4], [0, 0, -2])
    plate = box(model, 1.0, [0.5, 0.3, 0.1], [0, 0, 0], w=[0, 1, 0])
    model.add(fem.SphereOnBox(ball, plate, radius=0.1, size=[0.5, 0.3, 0.1], restitution=0.8, friction=0.3))


@mechanism(0.5, 1e-3, "momentum")
def dumbbell_and_sphere(model):
    a = sphere(model, 0.5, 0.1, [0, 0, 0.2])
    b = sphere(model, 0.5, 0.1, [0, 0, -0.2])
    model.add(fem.Fixed(a, b.frame_at([0, 0, 0.2])))
    c = sphere(model, 0.5, 0.1, [0.6, 0.05, 0.25], [-2, 0, 0])
    pair(model, a, c, (0.1, 0.1), 0.9, 0.3)
    pair(model, b, c, (0.1, 0.1), 0.9, 0.3)


# --- balls against balls ----------------------------------------------------------------------------------------------


@mechanism(0.9, 2e-3)
def small_ball_on_a_large_one(model):
    large, small = sphere(model, 1.0, 0.12, [0, 0, 0.6]), sphere(model, 0.1, 0.04, [0.002, 0, 0.77])
    on_plane(model, large, 0.12, e=0.8)
    pair(model, small, large, (0.04, 0.12), 0.8)


def cradle(model, gap, count=4, e=1.0):
    balls = []
    for i in range(count):
        at = np.array([(0.1 + gap) * i, 0, 0])
        angle = 0.6 if i == 0 else 0.0
        balls.append(sphere(model, 0.5, 0.05, at + [-0.5 * np.sin(angle), 0, 0.5 - 0.5 * np.cos(angle)]))
        hinge(model, model.ground, balls[-1], at + [0, 0, 0.5])
    for a, b in pairwise(balls):
        pair(model, a, b, (0.05, 0.05), e)


@mechanism(1.0, 2e-3)
def cradle_of_touching_balls(model):
    cradle(model, 0.0)


@mechanism(1.0, 2e-3, "energy")
def cradle_of_balls_apart(model):
    cradle(model, 0.02)


@mechanism(0.8, 2e-3)
def hammer_and_ball(model):
    head, tip = arm(model, 0.5, [0, 0, 0.55], angle=0.2)
    ball = sphere(model, 0.3, 0.05, [-0.1, 0, 0.05])
    on_plane(model, ball, 0.05, e=0.2, mu=0.3)
    law = {"radius_A": 0.05, "radius_B": 0.02, "restitution": 0.7}
    hinge(model, model.ground, head, [0, 0, 0.55])
    model.add(fem.SphereOnSphere(ball, head.frame_at(tip), **law))


# --- mechanisms with stops --------------------------------------------------------------------------------------------


@mechanism(1.2, 2e-3)
def pendulum_on_a_wall(model):
    bar, tip = arm(model, 1.0, angle=0.3)
    hinge(model, model.ground, bar, [0, 0, 0])
    on_plane(model, bar.frame_at(tip), 0.02, wall(model, -0.1), 0.7)


@mechanism(1.2, 2e-3, "energy")
def elastic_pendulum_on_a_wall(model):
    bar, tip = arm(model, 1.0, angle=0.3)
    hinge(model, model.ground, bar, [0, 0, 0])
    on_plane(model, bar.frame_at(tip), 0.02, wall(model, -0.1), 1.0)


@mechanism(1.2, 2e-3)
def double_pendulum_on_a_rough_wall(model):
    upper, knee = arm(model, 0.5, angle=0.3)
    lower, tip = arm(model, 0.5, knee, angle=0.6)
    hinge(model, model.ground, upper, [0, 0, 0])
    hinge(model, upper, lower, knee)
    on_plane(model, lower.frame_at(tip), 0.02, wall(model, -0.1), 0.6, 0.3)


@mechanism(1.0, 2e-3)
def bar_between_stops(model):
    bar, _ = arm(model, 0.6, angle=np.pi / 2, w=6.0)
    hinge(model, model.ground, bar, [0, 0, 0], stops=fem.Stops(lower=-0.5, upper=0.4, restitution=0.8))


@mechanism(1.0, 2e-3, "energy")
def elastic_stops(model):
    bar, _ = arm(model, 0.6, angle=np.pi / 2, w=6.0)
    hinge(model, model.ground, bar, [0, 0, 0], stops=fem.Stops(lower=-0.5, upper=0.4, restitution=1.0))


@mechanism(1.0, 2e-3)
def knee_with_stops(model):
    upper, knee = arm(model, 0.5, angle=0.0)
    lower, _ = arm(model, 0.5, knee, angle=0.0)
    hinge(model, model.ground, upper, [0, 0, 0])
    hinge(model, upper, lower, knee, stops=fem.Stops(lower=-0.6, upper=0.5, restitution=0.4))


@mechanism(1.0, 2e-3)
def slider_between_stops(model):
    body = box(model, 1.0, [0.1, 0.1, 0.1], [0, 0, 0], [2, 0, 0])
    stops = fem.Stops(lower=-0.2, upper=0.3, restitution=0.9)
    model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [1, 0, 0], stops=stops))


@mechanism(1.5, 2e-3)
def shaken_slider(model):
    body = box(model, 1.0, [0.1, 0.1, 0.1], [0, 0, 0])
    stops = fem.Stops(lower=-0.05, upper=0.05, restitution=0.6)
    model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [1, 0, 0], stops=stops))
    model.add(fem.PointForce(body, lambda t: [20 * np.sin(15 * t), 0, 0]))


@mechanism(1.0, 2e-3)
def slider_with_friction_and_stop(model):
    body = box(model, 1.0, [0.1, 0.1, 0.1], [0, 0, 0], [2, 0, 0])
    stops = fem.Stops(upper=0.3, restitution=0.7)
    friction = {"displacement": fem.DryFriction(0.1, length=0.1)}
    model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [1, 0, 0], stops=stops, friction=friction))


@mechanism(1.0, 2e-3)
def cart_with_a_pendulum(model):
    cart = box(model, 2.0, [0.2, 0.1, 0.1], [0, 0, 0], [1.5, 0, 0])
    bar = box(model, 1.0, [0.04, 0.04, 0.5], [0, 0, -0.25], [1.5, 0, 0])
    stops = fem.Stops(lower=-0.4, upper=0.4, restitution=0.6)
    model.add(fem.Prismatic.at(model.ground, cart, [0, 0, 0], [1, 0, 0], stops=stops))
    hinge(model, cart, bar, [0, 0, 0])


def four_bar(model):
    crank, knee = arm(model, 0.2, angle=-np.pi / 2, w=8.0, mass=0.5)
    rocker, top = arm(model, 0.4, [0.5, 0, 0], angle=-np.pi / 2 - 0.3)
    middle, way = 0.5 * (knee + top), top - knee
    length = np.linalg.norm(way)
    rod = box(model, 0.5, [length, 0.03, 0.03], middle, rotation=[0, -np.arctan2(way[2], way[0]), 0])
    hinge(model, model.ground, crank, [0, 0, 0])
    model.add(fem.Spherical.at(crank, rod, knee))
    model.add(fem.Cylindrical.at(rod, rocker, top, [0, 1, 0]))
    return hinge(model, model.ground, rocker, [0.5, 0, 0], stops=fem.Stops(lower=-0.15, upper=0.3, restitution=0.5))


@mechanism(0.8, 1e-3, project=True)
def four_bar_with_stops(model):
    four_bar(model)


@mechanism(0.4, 5e-4)
def pin_with_clearance(model):
    bar = box(model, 1.0, [0.4, 0.05, 0.05], [0.2, 0, 0])
    pin, bore = bar.node.frame_at([0, 0, 0], UP), model.ground.frame_at([0, 0, 0], UP)
    law = {"radius": 0.01, "clearance": 0.001, "restitution": 0.3, "friction": 0.2}
    model.add(fem.JournalClearance(pin, bore, **law))


@mechanism(0.5, 5e-4)
def slider_in_a_loose_guide(model):
    body = box(model, 0.8, [0.06, 0.06, 0.04], [0, 0, 0], [1, 0, 0.2], fixed=("y", "rx", "ry", "rz"))
    for side, z in ((1.0, -0.021), (-1.0, 0.021)):
        at = body.frame([0, 0, -0.02 * side])
        face = model.ground.frame_at([0, 0, z], np.diag([1.0, side, side]))
        on_plane(model, at, 0.0, face, 0.5, 0.2)


# --- bodies with corners ----------------------------------------------------------------------------------------------


@mechanism(0.8, 1e-3)
def tilted_box(model):
    body = box(model, 1.0, [0.3, 0.2, 0.1], [0, 0, 0.4], [0.5, 0, 0], [1, 2, 0], rotation=[0.3, 0.4, 0])
    model.add(fem.BoxOnPlane(body, model.ground, size=[0.3, 0.2, 0.1], restitution=0.4, friction=0.3))


@mechanism(1.0, 1e-3)
def rocking_block(model):
    angle = 0.15
    at = [0.1 * np.cos(angle) - 0.2 * np.sin(-angle), 0, 0.1 * np.sin(angle) + 0.2 * np.cos(angle)]
    body = box(model, 1.0, [0.2, 0.2, 0.4], at, rotation=[0, -angle, 0])
    model.add(fem.BoxOnPlane(body, model.ground, size=[0.2, 0.2, 0.4], restitution=0.0, friction=0.8))


@mechanism(0.6, 1e-3)
def falling_rod(model):
    rod = model.add(fem.RigidBody.cylinder(0.5, 0.02, 0.5, position=[0, 0, 0.4], rotation=[0, 0.9, 0]))
    ends = [rod.frame([0, 0, z]) for z in (-0.23, 0.23)]
    model.add(fem.CapsuleOnPlane(ends, model.ground, radius=0.02, restitution=0.6, friction=0.3))


@mechanism(0.6, 1e-3)
def dominoes(model):
    bodies = []
    for i in range(4):
        spin = [0, 3.0, 0] if i == 0 else [0, 0, 0]
        at = np.array([0.06 * i, 0, 0.1])
        v = np.cross(spin, [-0.01, 0, 0.1])
        bodies.append(box(model, 0.1, [0.02, 0.08, 0.2], at, v, spin, fixed=("y", "rx", "rz")))
        for x in (-0.01, 0.01):
            on_plane(model, bodies[-1].frame([x, 0, -0.1]), 0.0, e=0.0, mu=0.6)
    for a, b in pairwise(bodies):
        face = b.frame([-0.01, 0, 0], [0, -np.pi / 2, 0])
        on_plane(model, a.frame([0.01, 0, 0.1]), 0.0, face, 0.1, 0.2)


@mechanism(0.8, 1e-3)
def tripod(model):
    body = box(model, 1.0, [0.3, 0.3, 0.1], [0, 0, 0.5], [1, 0, 0], [2, 1, 3])
    for k in range(3):
        at = [0.2 * np.cos(2.1 * k), 0.2 * np.sin(2.1 * k), -0.1]
        on_plane(model, body.frame(at), 0.02, e=0.5, mu=0.3)


# --- flexible bodies --------------------------------------------------------------------------------------------------


def beam(model, length=1.0, count=6, **options):
    section = fem.Section.circle(0.01, E=1e9, density=1200)
    return model.add(fem.beam_line([0, 0, 0], [length, 0, 0], count, section, **options))


@mechanism(0.7, 1e-3, rho_inf=0.0)
def flexible_pendulum_on_a_wall(model):
    rod = beam(model)
    ball = model.add(fem.RigidBody.sphere(0.5, 0.07, node=rod.nodes[-1]))
    hinge(model, model.ground, rod.nodes[0], [0, 0, 0])
    on_plane(model, ball, 0.07, wall(model, -0.07), 0.7)


@mechanism(0.5, 1e-3)
def cantilever_on_a_stop(model):
    rod = beam(model, damping=1e-3)
    model.add(fem.Fixed(model.ground.frame_at([0, 0, 0]), rod.nodes[0]))
    for node in rod.nodes[1:]:
        node.velocity[2] = -2.0 * node.position[0] ** 2
        node.angular_velocity[1] = 4.0 * node.position[0]
    on_plane(model, rod.nodes[-1], 0.01, model.ground.frame([0, 0, -0.05]), 0.5)


@mechanism(0.5, 1e-3, "energy", rho_inf=0.0)
def beam_falls_on_a_support(model):
    rod = beam(model, 0.6, 4)
    for node in rod.nodes:
        node.velocity[2] = -1.0
    on_plane(model, rod.nodes[2], 0.01, model.ground.frame([0, 0, -0.1]), 1.0)


@mechanism(0.5, 1e-3)
def ball_falls_on_a_beam(model):
    rod = beam(model, 1.0, 6, damping=1e-3)
    for node in (rod.nodes[0], rod.nodes[-1]):
        model.add(fem.Fixed(model.ground.frame_at(node.position), node))
    ball = sphere(model, 0.1, 0.05, [rod.nodes[3].position[0], 0, 0.3])
    pair(model, ball, rod.nodes[3], (0.05, 0.01), 0.5)


# --- many contacts: unchanged -----------------------------------------------------------------------------------------


@mechanism(0.3, 1e-3)
def grains_in_a_box(model):
    group = fem.ContactGroup(restitution=0.3, friction=0.4)
    rng = np.random.default_rng(3)
    for i in range(12):
        k, l = divmod(i, 4)
        at = np.array([0.11 * (l % 2) - 0.055, 0.11 * (l // 2) - 0.055, 0.06 + 0.11 * k]) + rng.uniform(-3e-3, 3e-3, 3)
        group.sphere(sphere(model, 0.1, 0.05, at, [0, 0, -0.5]), 0.05)
    group.obstacle(fem.SphereOnBox, model.ground.frame([0, 0, -0.02]), size=[0.8, 0.8, 0.04])
    model.add(group)


@mechanism(0.1, 1e-3)
def soft_block_on_a_floor(model):
    mesh = fem.block_mesh([0.2, 0.1, 0.1], [3, 2, 2], cell="hexahedron")
    material = fem.SolidMaterial(1e6, 0.3, 1000.0)
    block = fem.SolidBody(mesh, material, position=[0, 0, 0.03], velocity=[0.3, 0, -1], damping=1e-3)
    model.add(block)
    model.add(fem.SurfaceContacts(block, "z0", model.ground.frame(), friction=0.3))


@mechanism(0.4, 1e-3)
def eight_balls_in_a_corner(model):
    rng = np.random.default_rng(4)
    balls = []
    for i in range(8):
        at = [0.06 + 0.12 * (i % 2), 0.06 + 0.12 * (i // 2 % 2), 0.06 + 0.12 * (i // 4)]
        balls.append(sphere(model, 0.1, 0.05, at, rng.uniform(-2, 2, 3)))
        for x in (0.0, 0.3):
            on_plane(model, balls[-1], 0.05, wall(model, x, 1.0 if x == 0 else -1.0), 0.9, 0.1)
        on_plane(model, balls[-1], 0.05, e=0.9, mu=0.1)
    for i in range(8):
        for j in range(i):
            pair(model, balls[i], balls[j], (0.05, 0.05), 0.9, 0.1)


# --- measurement ------------------------------------------------------------------------------------------------------


def build(name):
    fill, _, _, keeps, options = MECHANISMS[name]
    model = fem.Model(name, gravity=[0, 0, 0] if keeps == "momentum" else [0, 0, -9.81])
    fill(model)
    return model.compile(project=True) if options.get("project") else model.compile()


def run(name, impacts, part=1, **more):
    """Result of a mechanism and processor time [s] of its run, in steps of h/part."""
    _, t_end, h, _, options = MECHANISMS[name]
    options = {k: v for k, v in options.items() if k != "project"} | more
    system = build(name)
    steps = round(t_end / h)
    start = time.process_time()
    method = fem.DecoupledNSGA(impacts=impacts, rtol=1e-8, **options)
    result = method.run(system, steps * h, h / part, save_every=part, progress=False)
    return result, time.process_time() - start


def positions(result):
    return np.array([result.state(k).x for k in range(len(result.t))])


def changes(name, result):
    """Return the relative change in a run of the quantity that its mechanism conserves."""
    keeps = MECHANISMS[name][3]
    if keeps == "energy":
        total = result.energy.total
        return np.abs(total - total[0]).max() / max(result.energy.kinetic.max(), 1e-300)
    if keeps == "momentum":
        momentum = result.rows(np.arange(len(result.t)))["angular_momentum"]
        return np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum, axis=1).max()
    return np.nan


def measure(name, **more):
    """Row of the table: errors, changes, splits, ratio of processor times; or the error that ended a run."""
    row = {"name": name}
    try:
        exact = positions(run(name, "plain" if "grains" in name else "split", FINER, **more)[0])
    except fem.FemMbsError as error:
        exact = None
        row["reference"] = str(error)[:100]
    spent = {"plain": [], "auto": []}
    for impacts in [*spent] * REPEATS:
        if isinstance(row.get(impacts), str):
            continue
        try:
            result, seconds = run(name, impacts, **more)
        except fem.FemMbsError as error:
            row[impacts] = str(error)[:160]
            continue
        spent[impacts].append(seconds)
        error = np.nan if exact is None else np.abs(positions(result) - exact).max(axis=(1, 2)).mean()
        row[impacts] = error, changes(name, result), min(spent[impacts])
        row["splits"] = result.statistics.get("split_impacts", 0), result.statistics.get("impacts_not_split", 0)
        row["warnings " + impacts] = [w for w in result.warnings if "energy" in w]
    return row


def main(names):
    print(f"{'mechanism':34s} {'error [mm]':>19s}   {'change':>17s}   splits   CPU")
    ratios, gains = [], []
    for name in names or MECHANISMS:
        row = measure(name)
        if any(isinstance(row.get(k), str) for k in ("plain", "auto")):
            print(f"{name:34s} {row}", flush=True)
            continue
        (a, keep_a, cpu_a), (b, keep_b, cpu_b) = row["plain"], row["auto"]
        ratios.append(cpu_b / cpu_a)
        gains.append(a / b if b > 0 else np.nan)
        text = f"{name:34s} {1e3 * a:9.2e} {1e3 * b:9.2e}   {keep_a:8.1e} {keep_b:8.1e}   "
        text += f"{row['splits'][0]:3d} {row['splits'][1]:3d}  {ratios[-1]:5.2f} ({1e3 * cpu_a:.0f} ms)"
        print(text, row["warnings plain"] or "", row["warnings auto"] or "", row.get("reference", ""), flush=True)
    print(f"median of CPU ratios {np.median(ratios):.2f}, largest {max(ratios):.2f}")
    print(f"median of errors plain/auto {np.nanmedian(gains):.1f}, smallest {np.nanmin(gains):.2f}")


if __name__ == "__main__":
    main([name.replace("_", " ") for name in sys.argv[1:]])
