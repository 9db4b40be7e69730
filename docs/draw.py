"""Draw the pictures of README and documentation: ``python docs/draw.py`` writes docs/pictures/*.png and *.gif (about
two minutes)."""

import os
import re
import runpy
import shutil
import tempfile
from pathlib import Path

import fem_mbs as fem

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"


def example(name):
    """Run the main function of an example in the current folder, as its command line does."""
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]()


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


def force_recovery():
    example("force_recovery")
    shutil.copy("force_recovery.png", PICTURES)


def compliant_impacts():
    example("compliant_impacts")
    shutil.copy("compliant_impacts.png", PICTURES)


def clearance_crank():
    example("clearance_crank")
    shutil.copy("clearance_crank.png", PICTURES)


def profiles():
    """The motions of the how-to page about functions of time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    shown = {
        "smooth_start": fem.smooth_start(1.0, 0.6, start=0.2),
        "ramp": fem.ramp(0.2, 1.4),
        "trapezoidal": fem.trapezoidal(1.0, 1.0, 4.0, start=0.2),
    }
    t = np.linspace(0.0, 1.8, 1801)
    figure, axes = plt.subplots(3, 1, figsize=(8, 6), sharex=True, layout="constrained")
    for name, profile in shown.items():
        for ax, curve in zip(axes, np.array([profile.jet(s) for s in t]).T):
            ax.plot(t, curve, label=name)
    for ax, label in zip(axes, ("angle [rad]", "speed [rad/s]", "acceleration [rad/s²]")):
        ax.set_ylabel(label)
        ax.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    axes[-1].set_xlabel("t [s]")
    figure.savefig(PICTURES / "profiles.png", dpi=120)
    plt.close(figure)


def main():
    PICTURES.mkdir(exist_ok=True)
    for draw in (
        flexible_pendulum, roller_crank, bouncing_ball, roll_up, falling_cantilever, tippe_top, billiard_break,
        spheres_in_a_box, dominoes, order_in_contact, hertz_contact, force_recovery, compliant_impacts, clearance_crank,
        bearing_load, shaft_in_bearings, rigid_ball_bearing, crank_with_bearing, bearing_defect, deep_groove_bearing,
        profiles,
    ):  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                draw()
            finally:
                os.chdir(before)


if __name__ == "__main__":
    main()
