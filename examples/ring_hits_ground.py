"""Elastic ring of solids falls on the ground, is pressed flat, rebounds and continues to vibrate.

48 hexahedra with enhanced strains; every node of the outer surface can touch. In flight after the impact the ring
oscillates between two ovals. Frequency of the ovals of a thin ring (Love): ω² = n²(n² − 1)²/(n² + 1) EI/(ρA R⁴), n = 2.

    python examples/ring_hits_ground.py       writes ring_hits_ground.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem

E, density, radius, thickness, width = 1e9, 1000.0, 0.5, 0.03, 0.1  # Pa, kg/m³, m
speed, around = 2.0, 48  # m/s, elements
frequency = np.sqrt(36 / 5 * E * thickness**2 / (12 * density)) / radius**2 / (2 * np.pi)  # Hz


def ring_mesh():
    """Cells in a closed row; group "outside" of the nodes that can touch."""
    angle = 2 * np.pi * np.arange(around) / around
    corners = [(r, y) for y in (0.0, width) for r in (radius - thickness / 2, radius + thickness / 2)]
    points = np.array([[r * np.sin(a), y, -r * np.cos(a)] for a in angle for r, y in corners])
    first = 4 * np.arange(around)[:, None]
    second = np.roll(first, -1, axis=0)
    cells = np.hstack([first + [0, 1, 3, 2], second + [0, 1, 3, 2]])
    mesh = fem.Mesh(points, {"hexahedron": cells}, name="ring")
    return mesh.with_group("outside", lambda x: np.hypot(x[:, 0], x[:, 2]) > radius)


def build():
    """Ring that begins to touch the plane z = 0."""
    model = fem.Model("ring hits the ground", gravity=[0, 0, -9.81])
    material = fem.SolidMaterial(E, 0.3, density)
    start = {"position": [0, 0, radius + thickness / 2 + 0.01], "velocity": [0, 0, -speed]}
    ring = fem.SolidBody(ring_mesh(), material, elements="Hexa8Enhanced", damping=2e-5, name="ring", **start)
    floor = fem.SurfaceContacts(ring, "outside", model.ground, friction=0.3, drawn_size=1.6, name="floor")
    model.add(ring, floor)
    return model, ring, floor


def force_on(result, floor):
    """Force of the ground [N] in each step."""
    return result.resultant(floor)[:, 2]


def impulse_on(result, floor):
    """Impulse of the ground [N s] in each step, which includes the impacts of single nodes in the step."""
    return sum(result[contact.name].impulse[:, 0] for contact in floor.elements)


def diameters(result, ring):
    """Diameters (k, 2) [m] along z and x over the saved steps."""
    ends = [ring.node_at([x, 0, z]).index for x, z in ((0, -radius), (0, radius), (-radius, 0), (radius, 0))]
    x = result.rows(np.arange(len(result.t)))["position"][:, ends]
    return np.stack([x[:, 1, 2] - x[:, 0, 2], x[:, 3, 0] - x[:, 2, 0]], axis=1)


def oval_frequency(result, ring, since):
    """Frequency [Hz] of the ovals after a time, by the zeros of the difference of two diameters."""
    found = diameters(result, ring)
    late = result.t > since
    t, oval = result.t[late], (found[:, 0] - found[:, 1])[late]
    k = np.flatnonzero(oval[:-1] * oval[1:] < 0)
    zeros = t[k] - oval[k] * (t[k + 1] - t[k]) / (oval[k + 1] - oval[k])
    return (len(zeros) - 1) / (2 * (zeros[-1] - zeros[0]))


def main(h=1e-3, save="ring_hits_ground.vtkhdf", solver=None):
    model, ring, floor = build()
    solver = solver or fem.DecoupledNSGA(rho_inf=0.8)
    result = solver.run(model, t_end=0.25, h=h, save=save)
    force = force_on(result, floor)
    lift_off = result.t[force > 0][-1]
    system, end = fem.System(model), result.state(-1)
    M = system.matrices(end, mass_only=True)
    momentum = system.expanded(M @ system.reduced(end.V.ravel())).reshape(-1, 6)[:, 2].sum()
    impulse = impulse_on(result, floor).sum() - ring.mass * 9.81 * result.t[-1]
    gaps = min(result[contact.name].gap.min() for contact in floor.elements)
    return fem.Checks(
        # polygon of 48 elements: 0.9 %, 0.1 % with 96
        fem.Check("ringing [Hz]", reference=frequency, obtained=oval_frequency(result, ring, lift_off), rel=0.02),
        fem.Check("change of momentum [N s]", reference=impulse, obtained=momentum + ring.mass * speed, abs=1e-6),
        fem.Check("smallest gap [m]", reference=0, obtained=gaps, abs=1e-9),
    )


if __name__ == "__main__":
    main().print()
