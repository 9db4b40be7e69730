"""Pictures of examples with flexible bodies from meshes."""

import shutil

import numpy as np
from drawing import PICTURES, example, keep, panels, shrink

import fem_mbs as fem


def ring_hits_ground():
    """The ring with its stresses where it is flattest, its diameters and the force of the ground."""
    import matplotlib.image
    import ring_hits_ground as case

    model, ring, floor = case.build()
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.25, h=1e-3)
    diameters = case.diameters(result, ring)
    flattest = result.t[diameters[:, 0].argmin()]
    result.picture(
        "ring.png", time=flattest, color="von_mises", view=(0.25, -1, 0.2), zoom=1.5, size=(900, 760), caption=False
    )
    figure, (picture, ovals, force) = panels(3, (11.5, 3.4))
    picture.imshow(matplotlib.image.imread("ring.png"))
    picture.set_axis_off()
    ovals.plot(result.t, diameters[:, 0], label="along z")
    ovals.plot(result.t, diameters[:, 1], label="along x")
    ovals.set(xlabel="t [s]", ylabel="diameter [m]")
    ovals.legend(fontsize=8)
    force.plot(result.t, case.force_on(result, floor), lw=0.9)
    force.set(xlabel="t [s]", ylabel="force of the ground [N]")
    keep(figure, "ring_hits_ground")


def leaf_spring():
    """The leaf as its load is lowest, coloured by stress; path of the load and force of the floor, also of the mesh."""
    import leaf_spring as case
    import matplotlib.image

    result, _, way, force = case.run(True, 5e-4)
    mesh, _, way_of_mesh, force_of_mesh = case.run(False, 5e-4)
    result.picture(
        "leaf.png", time=result.t[way.argmax()], color="von_mises", view=(0.3, -1, 0.25), zoom=1.1, size=(900, 700),
        arrows=False, caption=False,
    )  # fmt: skip
    figure, (picture, ways, forces) = panels(3, (11.5, 3.4))
    picture.imshow(matplotlib.image.imread("leaf.png"))
    picture.set_axis_off()
    ways.plot(mesh.t, 1e3 * way_of_mesh, "k", lw=2.5, alpha=0.3, label="mesh of solids")
    ways.plot(result.t, 1e3 * way, label="one frame, 24 modes")
    ways.set(xlabel="t [s]", ylabel="way of the load [mm]")
    ways.legend(fontsize=8)
    forces.plot(mesh.t, 1e-3 * force_of_mesh, "k", lw=2.5, alpha=0.3)
    forces.plot(result.t, 1e-3 * force, lw=0.9)
    forces.set(xlabel="t [s]", ylabel="force of the floor [kN]")
    keep(figure, "leaf_spring")


def gripper():
    """The ball as the jaws have squeezed it, and held in the air; its height and the forces of a jaw."""
    import gripper as case
    import matplotlib.image

    model, ball, jaws = case.build()
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=case.t_end, h=2e-3)
    result.picture(
        "gripper.png",
        time=case.t_end,
        color="von_mises",
        arrows=False,
        view=(0.2, -1, 0.25),
        zoom=1.7,
        size=(900, 760),
        caption=False,
    )
    figure, (picture, height, force) = panels(3, (11.5, 3.4))
    picture.imshow(matplotlib.image.imread("gripper.png"))
    picture.set_axis_off()
    places = [node.index for node in ball.nodes]
    x = result.rows(np.arange(len(result.t)))["position"][:, places, 2].mean(axis=1)
    height.plot(result.t, 1e3 * x, label="ball")
    height.plot(result.t, [1e3 * case.raised(t) for t in result.t], label="jaws")
    height.set(xlabel="t [s]", ylabel="height [mm]")
    height.legend(fontsize=8)
    both = [sum(result[contact.name].force for contact in grip.elements) for grip in jaws]
    force.plot(result.t, both[0][:, 0], lw=0.9, label="one jaw, normal")
    rubbing = sum(np.linalg.norm(one[:, 1:], axis=1) for one in both)
    force.plot(result.t, rubbing, lw=0.9, label="both, friction")
    force.axhline(ball.mass * 9.81, color="k", lw=0.6, ls=":")
    force.set(xlabel="t [s]", ylabel="force [N]")
    force.legend(fontsize=8)
    keep(figure, "gripper")


def snap_fit():
    """The hook on the ramp, and pulled back; force on the catch over its position, with the closed forms."""
    import matplotlib.image
    import matplotlib.pyplot as plt
    import snap_fit as case

    model, hook, push = case.build()
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=case.t_end, h=5e-4)
    force, rise = case.motion(result, hook, push)
    figure = plt.figure(figsize=(11.0, 4.2), layout="constrained")
    axes = figure.subplot_mosaic([["up", "force"], ["held", "force"]])
    for name, time in {"up": result.t[force.argmax()], "held": case.t_end}.items():
        result.picture(
            "hook.png",
            time=time,
            color="von_mises",
            arrows=False,
            view=(0.08, -1, 0.12),
            zoom=1.0,
            size=(1000, 420),
            caption=False,
        )
        axes[name].imshow(matplotlib.image.imread("hook.png"))
        axes[name].set_axis_off()
    axis, way = axes["force"], 1e3 * (case.outside - np.array([case.place(t) for t in result.t]))
    pushed = result.t < case.t_wait
    axis.plot(way[pushed], force[pushed], label="pushed in")
    heights = np.linspace(0.02, 0.98, 50) * case.overlap
    up = slice(0, force.argmax() + 1)
    axis.plot(
        np.interp(heights, rise[up], way[up]), [case.insertion_force(w) for w in heights], "k:", label="beam-column"
    )
    axis.plot(way[~pushed], force[~pushed] / 20, label="pulled back, over 20")
    axis.set(xlabel="way of the catch [mm]", ylabel="force on the catch [N]")
    axis.legend(fontsize=8)
    keep(figure, "snap_fit")


def twisted_beam():
    """Von Mises stress under the load along z."""
    example("twisted_beam")
    look = {"view": (-0.45, -1.0, 0.55), "size": (1000, 400), "zoom": 1.0, "caption": False}
    fem.load("twisted_beam.vtkhdf").picture(PICTURES / "twisted_beam.png", color="von_mises", **look)


def rod_from_cad():
    example("rod_from_cad")
    shutil.copy("rod_from_cad.png", PICTURES)
    shrink(PICTURES / "rod_from_cad.png")


def shell_panel_arm():
    """The panel with its stresses where it is furthest behind and ahead of the arm, and its tip compared with beams."""
    import matplotlib.image
    import shell_panel_arm as case

    figure, (picture, motion) = panels(2, (11.0, 4.2))
    for label, (model, tip) in {
        "shell": case.panel_arm(),
        "beam": case.beam_arm(case.E),
        "beam, E/(1 − ν²)": case.beam_arm(case.E / (1 - case.nu**2)),
    }.items():
        result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=1.2, h=4e-3)
        angle, place = result["motor"].angle, result[f"node {tip.index}"].position
        ahead = place[:, 1] * np.cos(angle) - place[:, 0] * np.sin(angle)
        motion.plot(result.t, ahead, label=label, lw=1.6 if label == "shell" else 0.9)
        if label == "shell":
            times = [result.t[ahead.argmin()], result.t[ahead.argmax()]]
            result.picture(
                "panel.png",
                time=times,
                color="von_mises",
                view=(0.5, -1, 0.9),
                zoom=1.2,
                size=(1100, 760),
                caption=False,
            )
    picture.imshow(matplotlib.image.imread("panel.png"))
    picture.set_axis_off()
    motion.set(xlabel="t [s]", ylabel="tip ahead of a rigid arm [m]")
    motion.legend(fontsize=8)
    keep(figure, "shell_panel_arm")


def shell_on_a_drum():
    """A strip that a force at its end winds on a drum, with its stresses, and its moment compared with EI/(R + h/2)."""
    import matplotlib.image

    radius, h, E, load = 3.0, 0.3, 1.2e6, 800.0
    section = fem.ShellSection(fem.SolidMaterial(E, 0.0, 1.0), h)
    strip = fem.ShellBody(fem.panel_mesh([12, 1], [32, 1]), section, name="strip")
    strip.fix("x0")
    model = fem.Model("drum", gravity=[0, 0, 0])
    axis = model.ground.frame([0, 0.5, -radius - h / 2], [np.pi / 2, 0, 0])
    touch = fem.SurfaceContacts(strip, None, cylinder=axis, radius=radius, side="bottom", drawn_size=1.6, name="drum")
    model.add(strip, fem.EdgeTraction(strip, "x1", [0, 0, -load]), touch)
    result = fem.static_equilibrium(model, steps=10, save="drum.vtkhdf")
    result.results.picture(
        "drum.png",
        time=1.0,
        color="von_mises",
        arrows=False,
        view=(0.25, -1, 0.25),
        zoom=1.0,
        size=(900, 760),
        caption=False,
    )
    figure, (picture, moment) = panels(2, (9.0, 3.8))
    picture.imshow(matplotlib.image.imread("drum.png"))
    picture.set_axis_off()
    at = (np.arange(len(strip.elements)) + 0.5) * 12 / len(strip.elements)
    bending = E * h**3 / 12
    moment.plot(at, [result.output(element, "moment")[0] for element in strip.elements], "o", ms=3, label="shell")
    moment.axhline(bending / (radius + h / 2), color="0.4", lw=0.9, label="EI/(R + h/2)")
    moment.axhline(bending / radius, color="0.4", lw=0.9, ls=":", label="EI/R")
    moment.set(xlabel="along the strip [m]", ylabel="moment [N]")
    moment.legend(fontsize=8)
    keep(figure, "shell_on_a_drum")


def gear_with_thin_web():
    example("gear_with_thin_web")
    shutil.copy("gear_with_thin_web.png", PICTURES)


DRAWINGS = (
    ring_hits_ground, leaf_spring, gripper, snap_fit, twisted_beam, rod_from_cad, shell_panel_arm, shell_on_a_drum,
    gear_with_thin_web,
)  # fmt: skip
