"""Particles run through a hopper onto a vibrating conveyor on leaf springs, and over its edge onto the ground.

A square funnel lets spheres fall into a trough on four inclined leaf springs (`Beam`). An unbalance shakes it, so that
it throws the particles forward. Particles and conveyor are fully coupled: the velocity problem of all contacts includes
the mechanism (docs/theory/contact_groups.md), and under load the trough swings less.

The flow through the outlet is compared with the law of Beverloo, Leniger and van de Velde (Chem. Eng. Sci. 15, 1961),
which is for round outlets in flat floors. For a square one its width takes the place of the diameter, and 4/π times the
area; for walls that lean by α from the vertical there is the factor of Rose and Tanaka (The Engineer 208, 1959),

    W = 4/π · 0.58 ρ_b √g (D − k d)^2.5 (tan α tan φ_d)^-0.35 ,   k = 1.4 ,   φ_d = 45° ,

with the bulk density ρ_b and the diameter d of the particles; constants as recommended by Nedderman (Statics and
Kinematics of Granular Materials, 1992, chapter 10).

    python examples/hopper_conveyor.py           3,000 particles; writes hopper_conveyor.vtkhdf, to open in ParaView

`main(10_000, t_end=7.0)` takes ten minutes and more.
"""

import numpy as np

import fem_mbs as fem

g, density = 9.81, 1500.0  # m/s², kg/m³ of the particles
packed = 0.58  # volume fraction of flowing particles (literature)
radius, spread = 0.01, 0.1  # m; radii are between 0.9 and 1.1 of it
outlet, width, slope = 0.15, 0.50, np.radians(60)  # m, edge lengths of outlet and hopper; of its inclined walls
low, thick = 0.62, 0.02  # m, of the outlet above the ground; of all plates
length, across, wall = 1.6, 0.50, 0.12  # m, of the trough, and height of its walls
floor = 0.40  # m, its floor above the ground
leaf, tilt = 0.25, np.radians(25)  # m, length of the leaf springs; their lean against the vertical
trough_mass, force, frequency = 30.0, 700.0, 15.0  # kg, N, Hz
X, Y, Z = np.eye(3)


def plates(group, body, faces):
    """Plates on a body; of each the middle of its inner face, the inward normal, an edge direction, two lengths."""
    for middle, normal, along, lengths in faces:
        rotation = np.column_stack([along, np.cross(normal, along), normal])
        frame = body.frame(np.asarray(middle) - 0.5 * thick * np.asarray(normal), rotation=rotation)
        group.obstacle(fem.SphereOnBox, frame, size=[*lengths, thick], drawn=True)


def hopper(height):
    """Faces of four inclined walls, and of four upright ones of the given height [m] above them."""
    run = 0.5 * (width - outlet)
    top, faces = low + run * np.tan(slope), []
    for out in (X, Y, -X, -Y):
        along, normal = np.cos(slope) * out + np.sin(slope) * Z, np.cos(slope) * Z - np.sin(slope) * out
        faces.append(
            (0.25 * (outlet + width) * out + 0.5 * (low + top) * Z, normal, along, (run / np.cos(slope), width))
        )
        faces.append((0.5 * width * out + (top + 0.5 * height) * Z, -out, Z, (height, width + 2 * thick)))
    return faces


def conveyor(model, group):
    """The trough, its leaf springs, and the unbalance."""
    center = np.array([0.5 * length - 0.35, 0.0, floor - 0.5 * thick])
    trough = model.add(fem.RigidBody.box(trough_mass, [length, across, thick], position=center, name="trough"))
    walls = [([0, side * 0.5 * across, 0.5 * wall], -side * Y, X, (length, wall)) for side in (1, -1)]
    plates(group, trough, [([0, 0, 0.5 * thick], Z, X, (length, across)),
                           ([-0.5 * length, 0, 0.5 * wall], X, Y, (across, wall)), *walls])  # fmt: skip
    section = fem.Section.rectangle(0.004, 0.06, E=2.1e11, nu=0.3, density=7800.0)
    axis = np.array([-np.sin(tilt), 0.0, np.cos(tilt)])  # of the springs, upwards; the trough swings across it
    for k, (i, j) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1))):
        top = np.array([0.35 * i * length, 0.4 * j * across, -0.5 * thick])
        model.add(fem.beam_line(model.ground.frame(center + top - leaf * axis), trough.frame(top), 4, section,
                                orientation=np.cross(Y, axis), damping=1e-4, name=f"spring {k + 1}"))  # fmt: skip
    push = np.array([np.cos(tilt), 0.0, np.sin(tilt)])
    model.add(fem.PointForce(trough, force * push, signal=lambda t: np.sin(2 * np.pi * frequency * t),
                             name="unbalance"))  # fmt: skip


def build(count=3000, seed=1):
    """The model with ``count`` particles, on a jittered grid in the hopper."""
    model = fem.Model("hopper and conveyor", gravity=[0, 0, -g])
    group = fem.ContactGroup(
        materials={("*", "*"): {"friction": 0.4}, ("*", "earth"): {"friction": 0.6}}, name="particles"
    )
    rng, pitch = np.random.default_rng(seed), 2.35 * radius
    side = int(width / pitch)
    layer, place = np.divmod(np.arange(count), side**2)
    row, column = np.divmod(place, side)
    grid = pitch * np.stack([column + 0.5 - 0.5 * side, row + 0.5 - 0.5 * side, layer + 0.5], axis=1)
    grid[:, :2] += 0.05 * radius * rng.uniform(-1, 1, (count, 2))
    grid[:, 2] += low + 0.5 * (width - outlet) * np.tan(slope)
    radii = radius * (1 + spread * rng.uniform(-1, 1, count))
    model.add(group.spheres(grid, radii, density=density, resolution=8))
    plates(group, model.ground, hopper((layer[-1] + 1) * pitch + 0.05))
    conveyor(model, group)
    group.obstacle(fem.SphereOnPlane, model.ground, material="earth", drawn_size=3.0)
    model.add(group)
    return model


def run(count=3000, t_end=3.0, h=1e-3, save="hopper_conveyor.vtkhdf", solver=None):
    """Results; states every 20 ms."""
    return (solver or fem.DecoupledNSGA()).run(build(count), t_end, h, save=save, save_every=20)


def through_outlet(result):
    """Mass [kg] that has left the hopper in each saved step."""
    particles = np.arange(1, 1 + len(radii_of(result)))
    heights = np.array([result.rows([k])["position"][0, particles, 2] for k in range(len(result.t))])
    return (heights < low) @ masses(result)


def radii_of(result):
    """Radii [m] of all particles."""
    return np.array(result.description["contact_groups"][0]["radii"])


def masses(result):
    """Masses [kg] of all particles."""
    return density * 4 / 3 * np.pi * radii_of(result) ** 3


def flow(result, begin=0.3, end=0.7):
    """Mean mass flow [kg/s] between these fractions of all particles past the outlet; NaN if ``end`` is not reached."""
    passed = through_outlet(result) / masses(result).sum()
    inside = np.flatnonzero((passed > begin) & (passed < end))
    if len(inside) < 5 or passed[-1] < end:
        return np.nan
    return np.polyfit(result.t[inside], passed[inside], 1)[0] * masses(result).sum()


def beverloo():
    """Mass flow [kg/s] by the law above."""
    walls = np.tan(0.5 * np.pi - slope) ** -0.35
    return 4 / np.pi * 0.58 * packed * density * np.sqrt(g) * (outlet - 1.4 * 2 * radius) ** 2.5 * walls


def main(count=3000, t_end=3.0, h=1e-3, save="hopper_conveyor.vtkhdf", solver=None):
    result = run(count, t_end, h, save, solver)
    print(result)
    gap = min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t)))
    lowest = (result.rows([-1])["position"][0, 1 : 1 + count, 2] - radii_of(result)).min()
    over = (result.rows([-1])["position"][0, 1 : 1 + count, 0] > length - 0.35).sum()
    print(f"{over} of {count} particles have left the conveyor over its edge")
    return fem.Checks(
        fem.Check("smallest gap, of a diameter", reference=0.0, obtained=gap / (2 * radius), abs=2e-6),
        fem.Check("lowest particle above the ground [m]", reference=0.0, obtained=min(lowest, 0.0), abs=1e-7),
        # the constants of the law are means of many materials
        fem.Check("flow through the outlet [kg/s]", reference=beverloo(), obtained=flow(result), rel=0.2),
    )


if __name__ == "__main__":
    main().print()
