"""Two bodies shot at each other, far faster than their size per step, with what happens then."""

import numpy as np

import fem_mbs as fem
from fem_mbs.rotations import exp

H = 1e-2  # s
STEPS = 6


def direction(rng):
    """Unit vector (3,)."""
    n = rng.normal(size=3)
    return n / np.linalg.norm(n)


class SphereShot:
    """Two spheres without friction and gravity; the exact velocities after the shot are known.

    Attributes
    ----------
    hits : bool
    velocities : (2, 3) [m/s], of both spheres after the shot
    cosine : float, of the angle between normal and relative velocity at the impact; 0 grazes
    """

    def __init__(self, rng, restitution=1.0):
        self.radii, self.masses = rng.uniform(0.02, 0.2, size=2), rng.uniform(0.2, 2.0, size=2)
        size = self.radii.sum()
        self.travel = rng.uniform(0.2, 6.0)  # sums of radii per step
        u, start = direction(rng), direction(rng)
        across = np.cross(u, start)
        across /= np.linalg.norm(across)
        miss = rng.uniform(0.0, 1.35) * size  # of 1.35: three of four hit
        # the middle of the way is reached in the second to fourth step
        away = -rng.uniform(1.2, 3.8) * self.travel * size * u + miss * across
        if away @ away < (1.001 * size) ** 2:
            away -= 1.1 * size * u
        common = rng.normal(size=3)
        speed = self.travel * size / H
        self.positions = np.array([away, np.zeros(3)]) + rng.normal(size=3)
        self.initial = np.array([speed * u + common, common])
        self.restitution = restitution
        b = away @ u
        under = b * b - away @ away + size * size
        self.hits = under > 0.0 and b < 0.0
        self.velocities, self.cosine = self.initial.copy(), 0.0
        if self.hits:
            time = (-b - np.sqrt(under)) / speed
            n = (away + time * speed * u) / size
            self.cosine = -(u @ n)
            impulse = (1.0 + restitution) * speed * self.cosine / (1.0 / self.masses).sum()
            self.velocities = self.initial + impulse / self.masses[:, None] * np.array([n, -n])

    def model(self):
        model = fem.Model("shot")
        bodies = [
            model.add(fem.RigidBody.sphere(m, r, position=x, velocity=v, name=name))
            for m, r, x, v, name in zip(self.masses, self.radii, self.positions, self.initial, "AB")
        ]
        radii = {"radius_A": self.radii[0], "radius_B": self.radii[1]}
        model.add(fem.SphereOnSphere(*bodies, **radii, restitution=self.restitution, name="hit"))
        return model

    def energy(self, velocities):
        return 0.5 * (self.masses[:, None] * velocities**2).sum()


def capsule(model, rng, name, **motion):
    """A rod with round ends, its radius and the ends of its axis."""
    length, radius = rng.uniform(0.2, 0.6), rng.uniform(0.02, 0.05)
    body = fem.RigidBody.cylinder(rng.uniform(0.5, 2.0), radius, length, axis=(1, 0, 0), name=name, **motion)
    model.add(body)
    return body, radius, (body.frame([-0.5 * length, 0, 0]), body.frame([0.5 * length, 0, 0]))


def shot(kind, rng, spin=5.0):
    """Model of a body that flies at another at 1 to 4 times their thickness per step, and its speed [m/s].

    ``kind``: "sphere, capsule", "capsule, capsule", "sphere, box" or "sphere, plate".
    """
    model = fem.Model(kind)
    u = direction(rng)
    turned = [exp(rng.normal(size=3)) for _ in range(2)]
    spins = spin * rng.normal(size=(2, 3))
    radius = rng.uniform(0.03, 0.06)
    thickness = {"sphere, box": 0.2, "sphere, plate": 2 * radius}.get(kind, 0.15)
    speed = rng.uniform(1.0, 4.0) * thickness / H
    at = -u * speed * H * rng.uniform(1.2, 3.0) + 0.04 * rng.normal(size=3)
    at -= u * max(0.0, 0.75 - np.linalg.norm(at))  # out of the reach of the other at the start
    flying = {"position": at, "velocity": speed * u, "rotation": turned[0], "angular_velocity": spins[0]}
    resting = {"rotation": turned[1], "angular_velocity": spins[1]}
    law = {"restitution": 0.7, "name": "hit"}
    if kind == "capsule, capsule":
        (_, r_A, a), (_, r_B, b) = capsule(model, rng, "A", **flying), capsule(model, rng, "B", **resting)
        model.add(fem.CapsuleOnCapsule(a, b, radius_A=r_A, radius_B=r_B, **law))
        return model, speed
    ball = model.add(fem.RigidBody.sphere(rng.uniform(0.2, 2.0), radius, name="A", **flying))
    if kind == "sphere, capsule":
        _, r_B, b = capsule(model, rng, "B", **resting)
        model.add(fem.SphereOnCapsule(ball, b, radius=radius, radius_capsule=r_B, **law))
        return model, speed
    size = np.array([0.4, 0.3, thickness if kind == "sphere, box" else 1e-3])
    box = model.add(fem.RigidBody.box(1.0, size, name="B", **resting))
    if kind == "sphere, box":
        model.add(fem.SphereOnBox(ball, box, radius=radius, size=size, **law))
    else:
        model.add(fem.SphereOnRectangle(ball, box, radius=radius, size=size[:2], **law))
    return model, speed
