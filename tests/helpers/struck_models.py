"""Bodies that deform during an impact: a ball on a beam between two supports, a mass on a bar of solid elements.

Each with a rigid contact, or with the compliant one of the same stiffness in its place (``compliant``: its options).
"""

import numpy as np

import fem_mbs as fem

E, nu, density = 210e9, 0.3, 7850.0  # steel
radius, length, height, width = 0.01, 0.3, 0.006, 0.01  # m, of ball and beam
ball_mass = 4 / 3 * np.pi * radius**3 * density
section = fem.Section.rectangle(width, height, E=E, nu=nu, density=density)
stiffness = 4 / 3 * E / (2 * (1 - nu**2)) * np.sqrt(radius)  # N/m^1.5, a steel ball on a flat face of steel
speed, gap = 1.0, 2e-6  # m/s, m

side, bar_length, bar_stiffness, bar_mass = 0.01, 0.06, 5e9, 0.05  # m, m, N/m^1.5, kg


def contact(model, touching, compliant, K):
    """Add a contact, or the compliant one in its place."""
    return model.add(touching if compliant is None else fem.CompliantContact(touching, stiffness=K, **compliant))


def ball_on_beam(elements=16, compliant=None, restitution=1.0):
    """Ball that falls with 1 m/s, without gravity, on the middle of a beam on two hinges, in the x-z plane."""
    model = fem.Model("ball on beam")
    flat = ("y", "rx", "rz")
    first, last = fem.Node6(fixed=("x", "z", *flat)), fem.Node6([length, 0, 0], fixed=("x", "z", *flat))
    options = {"orientation": [0, 1, 0], "fixed": flat}
    beam = model.add(fem.beam_line(first, last, elements, section, name="beam", poses=2, **options))
    middle = beam.nodes[elements // 2]
    start = {"position": [length / 2, 0, radius + gap], "velocity": [0, 0, -speed]}
    ball = model.add(fem.RigidBody.sphere(ball_mass, radius, fixed=("x", *flat, "ry"), name="ball", **start))
    touching = fem.SphereOnPlane(ball, middle.frame(), radius=radius, restitution=restitution, name="hit")
    contact(model, touching, compliant, stiffness)
    return model


def mass_on_bar(divisions=(2, 2, 12), compliant=None, restitution=1.0):
    """Mass with a flat face that meets the middle node of the free end of a bar of solids, free in space."""
    model = fem.Model("mass on bar")
    mesh = fem.block_mesh([side, side, bar_length], divisions, cell="hexahedron")
    bar = fem.SolidBody(mesh, fem.SolidMaterial(E, nu, density), elements="Hexa8Enhanced", name="bar")
    model.add(bar)
    tip = bar.node_at([side / 2, side / 2, bar_length])
    start = {"position": [side / 2, side / 2, bar_length + radius + gap], "velocity": [0, 0, -speed]}
    mass = model.add(fem.RigidBody(bar_mass, 1e-5, fixed=("x", "y", "rx", "ry", "rz"), name="mass", **start))
    face = mass.frame(rotation=[[1, 0, 0], [0, -1, 0], [0, 0, -1]])
    touching = fem.SphereOnPlane(tip, face, radius=radius, restitution=restitution, name="hit")
    contact(model, touching, compliant, bar_stiffness)
    return model


def beam_modes(count, at=0.5):
    """ω (2 count,) [rad/s] and participation (2 count,) of a Timoshenko beam on two hinges, in closed form.

    w = W sin(kx), θ = Θ cos(kx), k = nπ/L, exact for each n: a problem of two unknowns.
    """
    mass, turning = density * section.area, density * section.area * height**2 / 12
    bending, shear = section.stiffness[4, 4], section.stiffness[2, 2]
    omega, participation = [], []
    for n in range(1, count + 1):
        k = n * np.pi / length
        K = np.array([[shear * k * k, -shear * k], [-shear * k, bending * k * k + shear]])
        root = np.sqrt([mass * length / 2, turning * length / 2])
        squares, vectors = np.linalg.eigh(length / 2 * K / np.outer(root, root))
        omega += list(np.sqrt(squares))
        participation += list(vectors[0] / root[0] * np.sin(k * at * length))
    return np.array(omega), np.array(participation)


def touches(result, name="hit"):
    """Phases of a compliant contact: begin [s], duration [s], largest force [N], impulse [N s], rows of an array."""
    force, t = result[name].force_normal, result.t
    on = np.diff(np.concatenate([[False], force > 0, [False]]).astype(int))
    found = []
    for a, b in zip(np.flatnonzero(on == 1), np.flatnonzero(on == -1)):
        part = slice(a - 1, b + 1)
        found.append(
            [t[a - 1], t[min(b, len(t) - 1)] - t[a - 1], force[part].max(), np.trapezoid(force[part], t[part])]
        )
    return np.array(found)
