"""Pictures of the examples: as they draw themselves, of their models, and of quantities over time."""

import re
import runpy
import shutil

import numpy as np
from drawing import PICTURES, ROOT, example, keep, panels, shrink

import fem_mbs as fem


def flexible_pendulum():
    """The model of the README."""
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    space = {}
    exec(code, space)
    space["result"].picture(
        PICTURES / "flexible_pendulum.png",
        time=[0, 0.3, 0.45, 0.61],
        view=(0.75, -1.3, 0.35),
        zoom=1.15,
        size=(1280, 640),
        caption=False,
    )


def roller_crank():
    example("roller_crank")
    result = fem.load("roller_crank_flexible.vtkhdf")
    result.picture(PICTURES / "roller_crank.png", time=1.2, size=(1000, 420))
    result.plot("roller.angular_acceleration.z", "floor.force_normal", save=PICTURES / "roller_crank_plot.png")


def bouncing_ball():
    example("bouncing_ball")
    fem.load("bouncing_ball.vtkhdf").plot("table.gap", "energy", save=PICTURES / "bouncing_ball.png")


def roll_up():
    example("roll_up")
    result = fem.load("roll_up.vtkhdf")
    result.picture(
        PICTURES / "roll_up.png", time=[0, 0.2, 0.4, 0.6, 0.8, 1], view=(-0.4, -0.9, 1), size=(1000, 560), caption=False
    )


def falling_cantilever():
    example("falling_cantilever")
    result = fem.load("falling_cantilever.vtkhdf")
    result.picture(
        PICTURES / "falling_cantilever.png", time=[0, 0.1, 0.2, 0.3, 0.4, 0.5], size=(1000, 620), caption=False
    )


def tippe_top():
    example("tippe_top")
    result = fem.load("tippe_top.vtkhdf")
    look = {"view": (0.2, -1.3, 0.4)}
    result.picture(PICTURES / "tippe_top.png", time=[0, 0.5, 1.7], arrows=False, size=(1000, 420), **look)
    result.animate(PICTURES / "tippe_top.gif", end=2.4, speed=0.3, fps=12, size=(480, 270), **look)


def rolling_disc():
    example("rolling_disc")
    shutil.copy("rolling_disc.png", PICTURES)
    shrink(PICTURES / "rolling_disc.png")


def billiard_break():
    example("billiard_break")
    result = fem.load("billiard_break.vtkhdf")
    look = {"view": (0.0, -0.8, 1.0), "arrows": False, "zoom": 0.95}
    result.picture(PICTURES / "billiard_break.png", time=[0, 0.09, 0.25, 0.6], size=(1000, 560), **look)
    result.animate(PICTURES / "billiard_break.gif", end=1.5, speed=0.25, fps=12, size=(480, 270), **look)


def spheres_in_a_box():
    script = runpy.run_path(str(ROOT / "examples" / "spheres_in_a_box.py"))
    result = script["run"](200, 0.44, across=6)
    look = {"view": (1.0, -1.3, 0.9), "arrows": False}
    result.picture(PICTURES / "spheres_in_a_box.png", size=(1000, 620), **look)
    result.animate(PICTURES / "spheres_in_a_box.gif", speed=0.15, fps=12, size=(400, 320), **look)


def mixed_pile():
    script = runpy.run_path(str(ROOT / "examples" / "mixed_pile.py"))
    result = script["run"](200, 0.7, across=5, save=None)
    look = {"view": (1.0, -1.3, 0.7), "arrows": False, "zoom": 1.12}
    result.picture(PICTURES / "mixed_pile.png", size=(1000, 560), **look)


def stones_and_nuts():
    script = runpy.run_path(str(ROOT / "examples" / "stones_and_nuts.py"))
    model = script["build"](100, across=4)
    result = fem.DecoupledNSGA().run(model, 0.8, 1e-3, save_every=100)
    look = {"view": (1.0, -1.3, 0.8), "arrows": False, "zoom": 1.1}
    result.picture(PICTURES / "stones_and_nuts.png", size=(1000, 560), **look)


def hopper_conveyor():
    script = runpy.run_path(str(ROOT / "examples" / "hopper_conveyor.py"))
    result = script["run"](t_end=2.4, save=None)
    look = {"view": (0.55, -1.4, 0.45), "arrows": False, "zoom": 1.5}
    result.picture(PICTURES / "hopper_conveyor.png", time=1.2, size=(1000, 620), **look)
    result.animate(PICTURES / "hopper_conveyor.gif", speed=0.5, fps=10, size=(480, 320), **look)


def heap():
    example("heap")
    shutil.copy("heap.png", PICTURES)
    shrink(PICTURES / "heap.png")


def dominoes():
    example("dominoes")
    result = fem.load("dominoes.vtkhdf")
    result.picture(PICTURES / "dominoes.png", time=0.28, view=(0.5, -1.2, 0.5), arrows=False, size=(1000, 420))


def order_in_contact():
    example("order_in_contact")
    shutil.copy("order_in_contact.png", PICTURES)


def hertz_contact():
    example("hertz_contact")
    shutil.copy("hertz_contact.png", PICTURES)


def bearing_load():
    example("bearing_load")
    shutil.copy("bearing_load.png", PICTURES)


def deep_groove_bearing():
    example("deep_groove_bearing")
    shutil.copy("deep_groove_bearing.png", PICTURES)


def rigid_ball_bearing():
    example("rigid_ball_bearing")
    shutil.copy("rigid_ball_bearing.png", PICTURES)


def crank_with_bearing():
    example("crank_with_bearing")
    shutil.copy("crank_with_bearing.png", PICTURES)


def bearing_defect():
    example("bearing_defect")
    shutil.copy("bearing_defect.png", PICTURES)


def shaft_in_bearings():
    example("shaft_in_bearings")
    shutil.copy("shaft_in_bearings.png", PICTURES)


def rotor_in_bearings():
    example("rotor_in_bearings")
    shutil.copy("rotor_in_bearings.png", PICTURES)


def force_recovery():
    example("force_recovery")
    shutil.copy("force_recovery.png", PICTURES)


def compliant_impacts():
    example("compliant_impacts")
    shutil.copy("compliant_impacts.png", PICTURES)


def guided_hopper():
    example("guided_hopper")
    shutil.copy("guided_hopper.png", PICTURES)
    shrink(PICTURES / "guided_hopper.png")


def clearance_crank():
    example("clearance_crank")
    for name in ("clearance_crank.png", "clearance_crank_rod.png"):
        shutil.copy(name, PICTURES)
        shrink(PICTURES / name)


def worn_crank():
    example("worn_crank")
    shutil.copy("worn_crank.png", PICTURES)
    shrink(PICTURES / "worn_crank.png")


# quantities over time of examples that have no picture of their own
PLOTS = {
    "double_pendulum": ("body 2.position", "joint 1.force"),
    "driven_double_pendulum": ("body 2.position", "driver.moment"),
    "heavy_top": ("top.angular_velocity", "tip.force"),
    "rocking_block": ("corner 1.gap", "corner 2.gap", "energy"),
    "rolling_ball": ("ball.velocity.x", "ball.angular_velocity.z"),
    "ball_against_wall": ("ball.velocity", "ball.angular_velocity"),
    "two_spheres": ("A.angular_velocity.z", "B.angular_velocity.z", "contact.force_tangential"),
    "tilting_plate": ("sphere.position.x", "contact.force_normal", "drive.moment"),
    "three_balls": ("1.velocity.x", "2.velocity.x", "3.velocity.x"),
    "bernoulli_balls": ("1.velocity.x", "2.velocity.x", "1.velocity.y", "3.velocity.y"),
    "thirty_degree_rule": ("cue.velocity", "ball.velocity"),
    "slider_hits_block": ("slider.velocity.x", "block.velocity.x"),
}


def plots():
    for name, quantities in PLOTS.items():
        example(name)
        fem.load(f"{name}.vtkhdf").plot(*quantities, save=PICTURES / f"{name}.png")


def bend_45():
    example("bend_45")
    result = fem.load("bend_45.vtkhdf")
    result.picture(PICTURES / "bend_45.png", time=[0, 0.5, 1.0], view=(-0.6, -1.0, 0.5), size=(900, 520), caption=False)


def snap_through():
    """Load over the height of the crown, with the closed form and the branch; shapes on the way."""
    import snap_through as arch

    path = fem.load_path(arch.build(), step=0.02)
    aside = fem.load_path(path.system, start=path.branches[0], step=0.02, until=lambda point: point.length > 0.7)
    scale = 2 * arch.LIMITS[0]
    figure, (curve, shapes) = panels(2, (9.2, 3.4))
    a = np.linspace(-1.3 * arch.h, arch.h, 200)
    curve.plot(1e3 * a, arch.load(a), "k--", lw=0.9, label="theory of shallow arches")
    crown = "arch node 12"
    for one, color, label in ((path, "C0", "upright"), (aside, "C1", "turned aside")):
        height = 1e3 * one[crown].position[:, 1]
        curve.plot(height, scale * one.load_factors, color, lw=1.2, label=label)
    for point in path.critical:
        y = 1e3 * point.position(path.system.model[crown])[1]
        curve.plot(y, scale * point.load_factor, "C3" + ("o" if point.kind == "limit" else "s"), ms=5)
    curve.invert_xaxis()
    curve.set(xlabel="height of the crown [mm]", ylabel="load [N/m]", xlim=(45, -45), ylim=(-400, 1500))
    curve.legend(fontsize=8, title="dots: limit, squares: branch", title_fontsize=8, loc="upper left")
    nodes = [f"arch node {k}" for k in range(1, 24)]
    for one, color, step in ((path, "C0", 12), (aside, "C1", 8)):
        for k in range(0, len(one.points), step):
            line = np.array([one[name].position[k, :2] for name in nodes])
            shapes.plot(line[:, 0], 1e3 * line[:, 1], color, lw=0.8)
    shapes.set(xlabel="x [m]", ylabel="y [mm]")
    keep(figure, "snap_through")


def frame_buckling():
    """The frame upright and swaying."""
    example("frame_buckling")
    result = fem.load("frame_buckling.vtkhdf")
    times = [0.0, 0.5 * result.t[-1], result.t[-1]]
    result.picture(PICTURES / "frame_buckling.png", time=times, view=(-0.3, -1.0, 0.25), size=(900, 620), caption=False)


def spinning_cue_ball():
    """Throw angles, computed and by the formula of the source."""
    import spinning_cue_ball as shot

    figure, axes = panels(2, (9.2, 3.4), sharey=True)
    h, stepper = 1e-4, fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    spins = np.linspace(-1.4, 1.4, 281)
    for (degrees, rolling), table in shot.THROW.items():
        phi, panel = np.radians(degrees), axes[int(degrees != 0)]
        color = "C0" if rolling == 0 else "C1"
        panel.plot(spins, [np.degrees(shot.throw(phi, spin, rolling)) for spin in spins], color, lw=1.1)
        for spin in table:
            model = shot.build(phi, spin, rolling, distance=0.5 * h * shot.speed, cloth=False)
            angle = shot.throw_angle(stepper.run(model, 3 * h, h), phi)
            label = f"{rolling:g} of rolling" if spin == 0 else None
            panel.plot(spin, angle, "o", color=color, ms=5, label=label)
        panel.set(title=f"cut {degrees}°", xlabel=r"spin $R\omega_z/v$")
    axes[0].set_ylabel("throw [°]")
    axes[0].legend(fontsize=8, title="dots: computed, lines: (B.50)", title_fontsize=8)
    keep(figure, "spinning_cue_ball")


DRAWINGS = (
    flexible_pendulum, roller_crank, bouncing_ball, roll_up, falling_cantilever, tippe_top, billiard_break,
    spheres_in_a_box, mixed_pile, stones_and_nuts, hopper_conveyor, heap, dominoes, order_in_contact,
    hertz_contact, force_recovery, compliant_impacts, clearance_crank, worn_crank, guided_hopper,
    bearing_load, shaft_in_bearings, rigid_ball_bearing, rotor_in_bearings, crank_with_bearing, bearing_defect,
    deep_groove_bearing, plots, bend_45, spinning_cue_ball, rolling_disc, snap_through, frame_buckling,
)  # fmt: skip
