"""Draw the pictures of README and documentation: ``python docs/draw.py`` writes docs/pictures/*.png and *.gif (about
two minutes); with names of functions, ``python docs/draw.py nsga_step``, only theirs."""

import os
import re
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

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


def _axes(count, size, **options):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, count, figsize=size, layout="constrained", **options)
    return figure, axes


def _keep(figure, name):
    figure.savefig(PICTURES / f"{name}.png", dpi=110)


def nsga_step():
    """The three problems of a step of the default scheme."""
    figure, axes = _axes(1, (9.2, 2.2))
    axes.set(xlim=(0, 92), ylim=(4, 26))
    axes.axis("off")
    boxes = (
        (20, "smooth motion", "generalized-α, joints\nno contacts", r"$\tilde q,\ \tilde v,\ \tilde\lambda$"),
        (46, "position correction", r"gaps ≥ 0, $g = 0$" "\nfriction of the step", r"$q = \tilde q \circ \exp U$"),
        (72, "velocity correction", "impact law, friction\n" r"$\dot g = 0$, sequence", r"$v = \tilde v + W$"),
    )
    for x, title, text, outcome in boxes:
        box = {"boxstyle": "round,pad=0.7", "facecolor": "#eef3f8", "edgecolor": "#33658a"}
        axes.text(x, 17, f"{title}\n\n{text}\n\n{outcome}", ha="center", va="center", fontsize=10, bbox=box)
    arrow = {"arrowstyle": "->", "color": "0.3", "lw": 1.4}
    for a, b in ((6, 10), (30, 36), (56, 62), (82, 86)):
        axes.annotate("", (b, 17), (a, 17), arrowprops=arrow)
    axes.text(5.5, 17, r"$q_n, v_n$", ha="right", va="center", fontsize=11)
    axes.text(86.5, 17, r"$q_{n+1}$" "\n" r"$v_{n+1}$", ha="left", va="center", fontsize=11)
    axes.text(20, 5, r"memory $\dot{\tilde v},\ a$ for the next step", ha="center", va="center", fontsize=10)
    _keep(figure, "nsga_step")


def _spectral_radius(rho, frequency):
    """Of one step of generalized-α for ẍ + ω² x = 0, by ω h."""
    alpha_m, alpha_f, beta, gamma = fem.DecoupledNSGA(rho_inf=rho).coefficients
    radius = []
    for w in frequency:
        # x, v, a, v̇ at the end of a step of size 1: rows (8), (8), (7) and the equation of motion
        new = np.array([[1, 0, -beta, 0], [0, 1, -gamma, 0], [0, 0, 1 - alpha_m, -(1 - alpha_f)], [w**2, 0, 0, 1]])
        old = np.array([[1, 1, 0.5 - beta, 0], [0, 1, 1 - gamma, 0], [0, 0, -alpha_m, alpha_f], [0, 0, 0, 0]])
        radius.append(np.abs(np.linalg.eigvals(np.linalg.solve(new, old))).max())
    return radius


def nsga_measured():
    """Damping, an impact that is captured, and reactions after an impact."""
    figure, (damping, impact, memory) = _axes(3, (11, 3.2))
    frequency = np.logspace(-1, 2.5, 200)
    for rho in (1, 0.8, 0.5, 0):
        damping.semilogx(frequency, _spectral_radius(rho, frequency), label=f"$\\rho_\\infty$ = {rho}")
    damping.set(xlabel=r"$\omega h$", ylabel="spectral radius", ylim=(-0.03, 1.08))
    damping.legend(fontsize=8)

    model = fem.Model("ball", gravity=[0, 0, -10])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.2, position=[0, 0, 0.2 + 0.05], velocity=[0, 0, -0.5], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.2, restitution=0.8, name="floor"))
    result = fem.DecoupledNSGA().run(model, 0.2, 0.02)
    t_0 = (-0.5 + np.sqrt(0.25 + 2 * 10 * 0.05)) / 10
    t, v_0 = np.linspace(0, 0.2, 400), 0.5 + 10 * t_0
    before, after = 0.05 - 0.5 * t - 5 * t**2, 0.8 * v_0 * (t - t_0) - 5 * (t - t_0) ** 2
    impact.plot(1e3 * t, 1e3 * np.where(t < t_0, before, after), "0.5", lw=1)
    impact.plot(1e3 * result.t, 1e3 * result["floor"].gap, "o", ms=4)
    impact.set(xlabel="t [ms]", ylabel="gap [mm]", ylim=(-6, 60))

    for label, options in (
        (r"$\rho_\infty$ = 0.8", {"rho_inf": 0.8}),
        ("0.8, reset", {"rho_inf": 0.8, "reset_after_impact": True}),
        (r"$\rho_\infty$ = 0", {"rho_inf": 0.0}),
    ):
        model = fem.Model("pendulum", gravity=[0, -10, 0])
        angle = np.deg2rad(15)
        place = [np.cos(angle), np.sin(angle), 0]
        bob = model.add(fem.RigidBody(1.0, [0.05, 0.1, 0.1], position=place, rotation=[0, 0, angle], name="bob"))
        model.add(fem.Revolute.at(model.ground, bob, [0, 0, 0], [0, 0, 1], name="hinge"))
        wall = model.ground.frame([np.sqrt(0.5), 0, 0], rotation=[0, np.pi / 2, 0])
        model.add(fem.SphereOnPlane(bob, wall, radius=0, restitution=0.8, name="wall"))
        result = fem.DecoupledNSGA(**options).run(model, 0.52, 1e-3)
        k = int(np.argmax(result["wall"].impact))
        later = slice(k + 1, k + 18)
        memory.plot(1e3 * (result.t[later] - result.t[k]), result["hinge"].force[later, 0], ".-", lw=0.8, label=label)
    memory.set(xlabel="time after the impact [ms]", ylabel="reaction [N]")
    memory.legend(fontsize=8)
    _keep(figure, "nsga_measured")


def main():
    PICTURES.mkdir(exist_ok=True)
    drawings = (
        flexible_pendulum, roller_crank, bouncing_ball, roll_up, falling_cantilever, tippe_top, billiard_break,
        spheres_in_a_box, dominoes, order_in_contact, hertz_contact, force_recovery, compliant_impacts, clearance_crank,
        bearing_load, shaft_in_bearings, rigid_ball_bearing, crank_with_bearing, bearing_defect, deep_groove_bearing,
        nsga_step, nsga_measured,
    )  # fmt: skip
    for draw in [draw for draw in drawings if draw.__name__ in sys.argv[1:] or not sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                draw()
            finally:
                os.chdir(before)


if __name__ == "__main__":
    main()
