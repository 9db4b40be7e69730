"""Pictures of examples of mechanisms, drives and control."""

import re
from pathlib import Path

import numpy as np
from drawing import PICTURES, example, keep, panels

import fem_mbs as fem


def lever_on_wedge():
    """The lever of docs/howto/hulls.md, lifted and at rest: its code as it stands there."""
    page = (Path(__file__).parent / "howto" / "hulls.md").read_text()
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.S) if "fem.HullOnHull(" in block)
    names: dict = {}
    exec(code, names)
    names["result"].picture(PICTURES / "lever_on_wedge.png", time=[0, 1.0], size=(700, 460), caption=False)


def elastic_bar():
    """Gap at the wall and force of the impact of a bar, with the exact ones."""
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
    force.plot(result.t[1:], result["rope"].tension[1:], color="C1")
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


DRAWINGS = (
    lever_on_wedge, elastic_bar, sampled_pendulum, geared_servo, cable_payload, door_closer, quarter_car,
    slider_crank_friction, four_bar_motor, pick_and_place, belt_drive,
)  # fmt: skip
