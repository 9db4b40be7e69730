"""A thin panel on a rotating arm: a hub turns it by 90° and stops, and the panel swings on by half its length.

The panel, 1 m × 0.3 m × 2 mm of aluminium, is a shell; the nodes of one side are fixed to the hub. It stands upright,
so that it bends about its thin direction. Geometrically exact beams on the same hub check it: without Poisson's effect
both are the same. With it the section of a beam curves across as it bends (anticlastic). A wide thin strip that is bent
far cannot, but for narrow bands along its sides, where b²κ/h is large (here 40): it is as stiff as E/(1 − ν²) says.

    python examples/shell_panel_arm.py            writes shell_panel_arm.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem

length, width, thickness, radius = 1.0, 0.3, 2e-3, 0.1  # m; the last is that of the hub
E, nu, density, damping = 70e9, 0.33, 2700.0, 1e-4  # Pa, -, kg/m³, s
TURN = fem.trapezoidal(np.pi / 2, speed=4.0, acceleration=16.0)  # rad, rad/s, rad/s²: in 0.64 s


def arm():
    """A model with a hub on the z axis that a motor turns."""
    model = fem.Model("panel on an arm")
    shape = fem.shapes.Cylinder([0, 0, -0.2], [0, 0, 0.2], radius, color="grey")
    hub = model.add(fem.RigidBody(5.0, 0.05, shape=shape, name="hub"))
    axis = model.add(fem.Revolute.at(model.ground, hub, position=[0, 0, 0], axis=[0, 0, 1], name="axis"))
    model.add(fem.RevoluteDriver(axis.frame_P, axis.frame_Q, TURN, name="motor"))
    return model, hub


def panel_arm(nu=nu):
    """The panel as a shell, in the plane x-z: the model, and the node in the middle of the tip."""
    model, hub = arm()
    mesh = fem.panel_mesh([length, width], [12, 2], form=lambda x: x[:, [0, 2, 1]] + [radius, 0, -width / 2])
    sheet = fem.ShellSection(fem.SolidMaterial(E, nu, density), thickness)
    panel = model.add(fem.ShellBody(mesh, sheet, damping=damping, name="panel"))
    for node in panel.nodes_of("x0"):
        model.add(fem.Fixed(hub.frame_at(node.position), node))
    return model, panel.node_at([radius + length, 0, 0])


def beam_arm(modulus):
    """Beams of a Young's modulus in its place: the model, and the node at the tip."""
    model, hub = arm()
    section = fem.Section.rectangle(thickness, width, E=modulus, nu=nu, density=density)
    line = fem.beam_line(hub.frame_at([radius, 0, 0]), [radius + length, 0, 0], 8, section, orientation=[0, 1, 0],
                         damping=damping)  # fmt: skip
    model.add(line)
    return model, line.nodes[-1]


def swing(model, tip, h, save=None):
    """How far the tip goes ahead of a rigid arm, across it, after that has stopped [m]."""
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=1.0, h=h, save=save)
    angle, place = result["motor"].angle, result[f"node {tip.index}"].position
    ahead = place[:, 1] * np.cos(angle) - place[:, 0] * np.sin(angle)
    return result, np.abs(ahead).max()


def main(h=4e-3, save="shell_panel_arm.vtkhdf"):
    result, panel = swing(*panel_arm(), h, save)
    free, held = (swing(*beam_arm(modulus), h)[1] for modulus in (E, E / (1 - nu**2)))
    plain = swing(*panel_arm(nu=0.0), h)[1]
    between = (free - panel) / (free - held)
    return fem.Checks(
        # both meshes are of second order; 0.04 % measured
        fem.Check("largest swing, shell with ν = 0 [m]", reference=free, obtained=plain, rel=2e-3),
        # the bands that do curve: 3 % measured
        fem.Check("shell: 0 as a beam, 1 as a plate held straight", reference=1.0, obtained=between, abs=0.05),
        fem.Check("angle at the end [rad]", reference=np.pi / 2, obtained=result["motor"].angle[-1], rel=1e-9),
    )


if __name__ == "__main__":
    main().print()
