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
    h, stepper = 1e-4, fem.DecoupledNSGA(rho_inf=0.8, rtol=1e-5, approach="start")
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


def elastic_bar():
    """Gap at the wall and force of the impact of a bar, beside the exact ones."""
    import elastic_bar as bar

    result = bar.run(2e-3)
    figure, (gap, force) = panels(2, (9.2, 3.2), sharex=True)
    gap.plot(result.t, result["wall"].gap, label="computed")
    gap.plot(result.t, bar.exact_gap(result.t), "k--", lw=0.9, label="exact")
    force.plot(result.t, result["wall"].force_normal, lw=0.9)
    for t in (bar.t_touch, bar.t_leave):
        force.axvline(t, color="0.6", lw=0.8, ls="--")
    gap.set(xlabel="t [s]", ylabel="gap [m]")
    force.set(xlabel="t [s]", ylabel="force on the bar [N]", ylim=(-0.5, None))
    gap.legend(fontsize=8)
    keep(figure, "elastic_bar")


def sampled_pendulum():
    """The arm at some times; its angle with the samples, and the moment that the controller holds."""
    import matplotlib.image
    import sampled_pendulum as arm

    arm.main()
    result = fem.load("sampled_pendulum.vtkhdf")
    samples = result.samples["controller"]
    result.picture("arm.png", time=[0, 0.4, 0.63, 0.8, 1.4], view=(0, 0, 1), size=(560, 640), caption=False)
    figure, (view, angle, moment) = panels(3, (10.4, 3.4), sharex=False)
    view.imshow(matplotlib.image.imread("arm.png"))
    view.axis("off")
    angle.plot(result.t, result["angle"].value, lw=0.9)
    angle.plot(samples.t, samples.inputs[:, 0], ".", ms=3, label="samples")
    angle.axvline(result.events.t[0], color="0.6", lw=0.8, ls="--", label="the wind stops")
    angle.set(xlabel="t [s]", ylabel="angle [rad]")
    angle.legend(fontsize=8)
    moment.step(samples.t + arm.delay, samples.outputs[:, 0], where="post", lw=0.9)
    moment.set(xlabel="t [s]", ylabel="moment of the controller [N m]")
    keep(figure, "sampled_pendulum")


def geared_servo():
    example("geared_servo")
    result = fem.load("geared_servo.vtkhdf")
    figure, (speed, play, force) = panels(1, (7.4, 6.0), rows=3, sharex=True)
    t, mesh = 1e3 * result.t, result["mesh"]
    speed.plot(t, result["pinion"].angular_velocity[:, 2], label="motor")
    speed.plot(t, -3.0 * result["wheel"].angular_velocity[:, 2], "--", label="load, times the ratio")
    play.plot(t, 1e3 * mesh.transmission_error, color="C2")
    play.axhspan(-0.2, 0.0, color="0.9", label="backlash")
    force.plot(t, mesh.force, color="C3", lw=0.8)
    speed.set(ylabel="speed [rad/s]")
    play.set(ylabel="transmission error [mm]")
    force.set_yscale("symlog", linthresh=20, linscale=1.5)
    force.set(xlabel="t [ms]", ylabel="force of the teeth [N]", yticks=[-1000, -100, -10, 0, 10], ylim=(-2000, 40))
    force.set_yticklabels(["−1000", "−100", "−10", "0", "10"])
    speed.legend(fontsize=8)
    play.legend(fontsize=8, loc="lower left")
    keep(figure, "geared_servo")


def cable_payload():
    example("cable_payload")
    result = fem.load("cable_payload.vtkhdf")
    figure, (scene, force) = panels(2, (8.0, 4.2), gridspec_kw={"width_ratios": [1, 1.3]})
    load, weight, r = result["load"].position, result["counterweight"].position, 0.25
    turn = np.linspace(0, 2 * np.pi, 100)
    scene.fill(r * np.cos(turn), r * np.sin(turn), color="0.75")
    scene.plot(load[:, 0], load[:, 1], lw=0.6, color="C0")
    for k in (0, np.argmin(load[:, 0])):
        x, y = load[k, :2]
        leaves = np.arctan2(y, x) + np.arccos(r / np.hypot(x, y))  # where the rope touches the pulley
        arc = np.linspace(leaves, np.pi, 60)
        rope = np.array([[x, *(r * np.cos(arc)), -r], [y, *(r * np.sin(arc)), weight[k, 1]]])
        scene.plot(*rope, color="C1", lw=1.2)
        scene.plot(*rope[:, [0, -1]], "o", color="C0" if k == 0 else "C3", ms=7)
    scene.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    force.plot(result.t[1:], result["rope"].force[1:, 0], color="C1")
    force.axhline(22.0 * 9.81, color="0.6", lw=0.8, ls="--")
    force.set(xlabel="t [s]", ylabel="tension [N]")
    keep(figure, "cable_payload")


def door_closer():
    example("door_closer")
    result = fem.load("door_closer.vtkhdf")
    hinge, friction = result["hinge"], result["hinge friction"]
    result.picture("door.png", time=[0, 0.614, 1.6, 9.2], view=(0.5, -1.0, 0.9), size=(560, 520), caption=False)
    import matplotlib.image

    figure, (view, angle, moment) = panels(3, (11.0, 3.4), sharex=False)
    view.imshow(matplotlib.image.imread("door.png"))
    view.axis("off")
    angle.plot(result.t, np.degrees(hinge.angle))
    angle.set(xlabel="t [s]", ylabel="angle of the door [°]")
    moment.plot(result.t, friction.force, lw=0.9)
    moment.set(xlabel="t [s]", ylabel="friction in the hinge [N m]")
    keep(figure, "door_closer")


def quarter_car():
    example("quarter_car")
    import quarter_car as car

    result = fem.load("quarter_car.vtkhdf")
    figure, (height, force) = panels(2, (9.0, 3.4))
    t = result.t
    height.plot(t, 1e3 * car.road(t), color="0.6", label="road")
    for name in ("wheel", "body"):
        z = result[name].position[:, 2]
        height.plot(t, 1e3 * (z - z[0]), label=name)
    force.plot(t, 1e-3 * result["tyre"].force, lw=0.9, label="tyre")
    force.plot(t, 1e-3 * result["strut"].force, lw=0.9, label="strut")
    height.set(xlabel="t [s]", ylabel="height over the start [mm]", xlim=(0, 1.2))
    force.set(xlabel="t [s]", ylabel="force [kN], tension > 0", xlim=(0, 1.2))
    height.legend(fontsize=8)
    force.legend(fontsize=8)
    keep(figure, "quarter_car")


def slider_crank_friction():
    import slider_crank_friction as linkage

    result = linkage.run(0.6, 5e-4, stops=None)
    figure, (motion, friction) = panels(2, (9.0, 3.4))
    free = linkage.build(friction=False).compile(redundant="allow")
    free = fem.DecoupledNSGA().run(free, 0.6, 5e-4, progress=False)
    motion.plot(result.t, result["pin A"].rate, label="with friction")
    motion.plot(free.t, free["pin A"].rate, "--", lw=0.9, label="without")
    for name in ("pin A", "pin B", "pin C"):
        friction.plot(result.t, result[f"{name} friction"].force, lw=0.9, label=name)
    motion.set(xlabel="t [s]", ylabel="rate of the crank [rad/s]")
    friction.set(xlabel="t [s]", ylabel="friction torque [N m]")
    motion.legend(fontsize=8)
    friction.legend(fontsize=8)
    keep(figure, "slider_crank_friction")


def four_bar_motor():
    import four_bar_motor as linkage

    rigid, bending = linkage.run(False, 5e-4), linkage.run(True, 5e-4, save="four_bar_motor.vtkhdf")
    bending.picture("linkage.png", time=[0.45, 0.49, 0.53], view=(0, -1, 0), size=(620, 460), caption=False)
    import matplotlib.image

    figure, (view, moment) = panels(2, (9.6, 3.6), sharex=False)
    view.imshow(matplotlib.image.imread("linkage.png"))
    view.axis("off")
    moment.plot(bending.t, bending["A motor"].effort, lw=0.9, label="flexible coupler")
    moment.plot(rigid.t, rigid["A motor"].effort, "--", lw=0.9, label="rigid coupler")
    moment.set(xlabel="t [s]", ylabel="moment of the motor [N m]")
    moment.legend(fontsize=8)
    keep(figure, "four_bar_motor")


def pick_and_place():
    """The arm, the ball and the bin at some times; torques of the motors; energy with the loss of the grip."""
    import matplotlib.image

    example("pick_and_place")
    result = fem.load("pick_and_place.vtkhdf")
    closes, opens = result.events.t
    times = [0, closes, 0.65, opens, 1.05, 1.3, 2.5]
    result.picture("robot.png", time=times, view=(0, 0, 1), size=(760, 640), arrows=False, caption=False)
    figure, (view, moment, speed) = panels(3, (11.4, 3.6), gridspec_kw={"width_ratios": [1.15, 1, 1]})
    view.imshow(matplotlib.image.imread("robot.png"))
    view.axis("off")
    samples = result.samples["robot"]
    for k, name in enumerate(("shoulder", "elbow")):
        moment.step(samples.t, samples.outputs[:, k], where="post", lw=0.9, label=name)
    moment.set(xlabel="t [s]", ylabel="moment of the motor [N m]")
    moment.legend(fontsize=8)
    for k, axis in enumerate("xy"):
        speed.plot(result.t, result["ball"].velocity[:, k], lw=0.9, label=axis)
    speed.set(xlabel="t [s]", ylabel="velocity of the ball [m/s]")
    speed.legend(fontsize=8, loc="lower right")
    for panel in (moment, speed):
        for t in (closes, opens):
            panel.axvline(t, color="0.6", lw=0.8, ls="--")
    keep(figure, "pick_and_place")


def belt_drive():
    """The belt around its pulleys; how the tensions swing at the start; the run-up."""
    import belt_drive as drive

    example("belt_drive")
    result = fem.load("belt_drive.vtkhdf")
    figure, (scene, tension, speed) = panels(3, (11.0, 3.2), gridspec_kw={"width_ratios": [1.5, 1, 1]})
    (r_1, r_2), distance = drive.radii, drive.distance
    tilt = np.arcsin((r_2 - r_1) / distance)  # of the upper span against the line of centres
    small, large = (
        np.linspace(0.5 * np.pi + tilt, 1.5 * np.pi - tilt),
        np.linspace(-0.5 * np.pi - tilt, 0.5 * np.pi + tilt),
    )
    for x, radius, name in ((0.0, r_1, "motor"), (distance, r_2, "fan")):
        turn = np.linspace(0, 2 * np.pi, 100)
        scene.fill(x + radius * np.cos(turn), radius * np.sin(turn), color="0.8")
        scene.annotate(name, (x, 0), ha="center", va="center", fontsize=9)
    belt = np.array(
        [
            [*(r_1 * np.cos(small)), *(distance + r_2 * np.cos(large)), r_1 * np.cos(small[0])],
            [*(r_1 * np.sin(small)), *(r_2 * np.sin(large)), r_1 * np.sin(small[0])],
        ]
    )
    scene.plot(*belt, color="0.3", lw=2)
    for k, side in enumerate((1, -1)):
        ends = [[-r_1 * np.sin(tilt), distance - r_2 * np.sin(tilt)], [side * r * np.cos(tilt) for r in (r_1, r_2)]]
        scene.plot(*ends, color=f"C{3 * (1 - k)}", lw=3, label=("tight span", "slack span")[k])
    scene.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    scene.legend(fontsize=8, loc="center")
    start = result.t < 0.15
    for k, color in enumerate(("C3", "C0")):
        tension.plot(1e3 * result.t[start], result["belt"].tension[start, k], color=color)
        tension.axhline(drive.steady()[2 + k], color=color, lw=0.8, ls="--")
    tension.set(xlabel="t [ms]", ylabel="tension [N]")
    speed.plot(result.t, result["motor"].angular_velocity[:, 2], label="motor")
    speed.plot(result.t, result["fan"].angular_velocity[:, 2], label="fan")
    speed.set(xlabel="t [s]", ylabel="speed [rad/s]", xlim=(0, 1))
    speed.legend(fontsize=8)
    keep(figure, "belt_drive")


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
    """The hook on the ramp, and pulled back; force on the catch over its place, beside the closed forms."""
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
    """The panel with its stresses where it is furthest behind and ahead of the arm, and its tip beside the beams."""
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


def gear_with_thin_web():
    example("gear_with_thin_web")
    shutil.copy("gear_with_thin_web.png", PICTURES)


DRAWINGS = (
    flexible_pendulum, roller_crank, bouncing_ball, roll_up, falling_cantilever, tippe_top, billiard_break,
    spheres_in_a_box, mixed_pile, stones_and_nuts, hopper_conveyor, heap, dominoes, order_in_contact, hertz_contact,
    force_recovery, compliant_impacts, clearance_crank, guided_hopper, bearing_load, shaft_in_bearings,
    rigid_ball_bearing, rotor_in_bearings, crank_with_bearing, bearing_defect, deep_groove_bearing, plots, bend_45,
    spinning_cue_ball,
    elastic_bar, rolling_disc, sampled_pendulum, snap_through, frame_buckling, door_closer, quarter_car,
    slider_crank_friction, four_bar_motor, geared_servo, cable_payload, pick_and_place, belt_drive,
    ring_hits_ground, rod_from_cad, gear_with_thin_web, gripper, snap_fit, shell_panel_arm, twisted_beam,
)  # fmt: skip
