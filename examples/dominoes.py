"""Row of dominoes: the first is pushed and a wave of constant speed runs along the row; far apart only the first falls.

Boxes whose motion is guided in the plane of the row: four corners each on the floor and against the neighbours, with
friction and without restitution. The speed of the wave approaches a constant after a few dominoes; it is compared with
that of a run with half the step size. ``build(planar=False)`` makes the same in space, with eight corners each.

    python examples/dominoes.py                 writes dominoes.vtkhdf, to open in ParaView
"""

from itertools import pairwise

import numpy as np

import fem_mbs as fem

size = np.array([0.008, 0.025, 0.05])  # m: thickness, width, height
mass, g = 0.01, 9.81  # kg, m/s²
spacing = 0.028  # m, from centre to centre
count = 12
friction = {"floor": 0.5, "domino": 0.3}
push = 1.0  # angular velocity of the first domino in √(g/height)
rounding = 2e-4  # m, of edges and corners


def build(count=count, spacing=spacing, planar=True):
    model = fem.Model("dominoes", gravity=[0, 0, -g])
    fixed, across = (("y", "rx", "rz"), "y") if planar else ((), None)
    bodies = [
        fem.RigidBody.box(mass, size, position=[i * spacing, 0, 0.5 * size[2]], fixed=fixed, name=f"domino {i + 1}")
        for i in range(count)
    ]
    # the first one turns about its lower edge in front
    rate = push * np.sqrt(g / size[2])
    bodies[0].node.angular_velocity[:] = [0, rate, 0]
    bodies[0].node.velocity[:] = np.cross([0, rate, 0], [-0.5 * size[0], 0, 0.5 * size[2]])
    middle = model.ground.frame([0.5 * (count - 1) * spacing, 0, 0])
    shape = {"rounding": rounding, "planar": across}
    for i, body in enumerate(model.add(*bodies)):
        drawn = (count + 3) * spacing if i == 0 else 0.0
        law = {"friction": friction["floor"], "drawn_size": drawn, "name": f"floor {i + 1}"}
        model.add(fem.BoxOnPlane(body, middle, size=size, **shape, **law))
    for i, (one, other) in enumerate(pairwise(bodies)):
        law = {"friction": friction["domino"], "name": f"pair {i + 1}"}
        # edges cannot cross: all dominoes stand in one line
        model.add(fem.BoxOnBox(one, other, size_A=size, size_B=size, edges=False, **shape, **law))
    return model


def tilts(result, count=count):
    """Angles (count, k) [rad] of the dominoes from the vertical."""
    R = np.array([result[f"domino {i + 1}"].rotation for i in range(count)])
    return np.arctan2(R[:, :, 0, 2], R[:, :, 2, 2])


def wave_speeds(result, spacing=spacing, count=count):
    """Speeds (count − 1,) [m/s] between neighbours, from when each has turned by 5°; nan where it has not."""
    times, limit = np.full(count, np.nan), np.radians(5)
    for i, angle in enumerate(tilts(result, count)):
        if angle.max() > limit:
            k = int(np.argmax(angle > limit))
            times[i] = np.interp(limit, angle[k - 1 : k + 1], result.t[k - 1 : k + 1])
    return spacing / np.diff(times)


def gaps(result):
    return min(result[name].gap.min() for name in result.names if hasattr(result[name], "gap"))


def run(h=1e-3, t_end=0.42, save=None, solver=None, **options):
    solver = solver or fem.DecoupledNSGA(rho_inf=0.8)
    return solver.run(build(**options), t_end=t_end, h=h, save=save)


def main(save="dominoes.vtkhdf", solver=None):
    result, finer = run(save=save, solver=solver), run(h=5e-4, solver=solver)
    speeds, same = wave_speeds(result), wave_speeds(finer)
    apart = run(t_end=0.5, solver=solver, count=3, spacing=1.2 * size[2] + size[0])
    return fem.Checks(
        # first order in h: 2.5 % measured
        fem.Check("speed of the wave [m/s]", reference=same[7:10].mean(), obtained=speeds[7:10].mean(), rel=0.04),
        # steady: it still grew by 35 % between the third and the sixth
        fem.Check("its growth over the last three [-]", reference=1.0, obtained=speeds[9] / speeds[7], abs=0.05),
        # the first turns about an edge that rests: O(h²) of 0.03 J
        fem.Check("largest rise of energy [J]", reference=0.0, obtained=np.diff(result.energy.total).max(), abs=1e-6),
        fem.Check("smallest gap [m]", reference=0.0, obtained=gaps(result), abs=1e-11),
        fem.Check("too far apart: second turns by [rad]", reference=0.0, obtained=tilts(apart, 3)[1:].max(), abs=1e-9),
        fem.Check("the first by [rad]", reference=0.5 * np.pi, obtained=tilts(apart, 3)[0, -1], abs=1e-6),
    )


if __name__ == "__main__":
    main().print()
