"""Rocking block: a tilted block falls on one corner, then rocks from corner to corner until it stands.

Bruls2014, section 10.4: infinitely many impacts in finite time, on two contacts of one body. Planar.

    python examples/rocking_block.py            writes rocking_block.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Box

mass, width, height = 1.0, 1.0, 1.5  # kg, m, m
inertia = mass * (width**2 + height**2) / 12
restitution, g = 0.5, 9.81  # -, m/s²
start_height, start_angle = 1.0, 0.2  # m of the centre, rad

# h = 10 ms, coupled scheme of the source (Bruls2014, 10.4; tests/references/bruls2014.py): end of the step of the first
# impacts [s], corner, impulse [N s], energy after it [J]
IMPACTS = [(0.19, 2, 1.8929, 8.959), (0.30, 1, 1.8256, 8.016), (0.48, 2, 1.0083, 7.703)]
CLOSED = 0.72  # s, from here both corners stay closed


def build():
    """Block in the x-y plane over the floor y = 0, gravity along −y; corners 1 (right) and 2 (left)."""
    model = fem.Model("rocking block", gravity=[0, -g, 0])
    block = fem.RigidBody(mass, inertia, position=[0, start_height, 0], rotation=[0, 0, start_angle],
                          fixed=("z", "rx", "ry"), shape=Box([width, height, 0.4 * width]), name="block")  # fmt: skip
    model.add(block)
    for i, side in enumerate((1, -1)):
        floor = model.ground.frame(rotation=[-np.pi / 2, 0, 0])
        corner = block.frame([side * width / 2, -height / 2, 0])
        model.add(fem.SphereOnPlane(corner, floor, radius=0.0, restitution=restitution, name=f"corner {i + 1}",
                                    drawn_size=4.0 * (1 - i)))  # fmt: skip
    return model


def main(h=1e-2, save="rocking_block.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.8)
    result = solver.run(build(), t_end=3.0, h=h, save=save)
    block, corners = result["block"], [result["corner 1"], result["corner 2"]]
    t_1, g_2 = 0.18375, 0.16562  # s, m: when corner 2 touches, its gap at the start
    k = int(np.argmax(corners[1].impact))
    # corner 2 comes with √(2 g gap): the impulse is (1 + e) m_eff times that
    arm = 0.5 * (width * np.cos(start_angle) - height * np.sin(start_angle))
    impulse = (1 + restitution) * np.sqrt(2 * g * g_2) / (1 / mass + arm**2 / inertia)
    energy = mass * g * height / 2
    return fem.Checks(
        fem.Check("first impact [s]", reference=t_1, obtained=result.t[k], abs=h),
        # speed and pose are those of the end of a step: first order in h, g h (1 + e) m_eff at most
        fem.Check("its impulse [N s]", reference=impulse, obtained=corners[1].impulse[k, 0], abs=g * h),
        fem.Check("height at rest [m]", reference=height / 2, obtained=block.position[-1, 1], abs=1e-9),
        fem.Check("angle at rest [rad]", reference=0.0, obtained=block.rotation_vector[-1, 2], abs=1e-9),
        fem.Check(
            "force of a corner at rest [N]", reference=mass * g / 2, obtained=corners[0].force_normal[-1], rel=1e-6
        ),
        fem.Check("energy at rest [J]", reference=energy, obtained=result.energy.total[-1], rel=1e-9),
        fem.Check("smallest gap [m]", reference=0.0, obtained=min(c.gap.min() for c in corners), abs=1e-12),
    )


if __name__ == "__main__":
    main().print()
