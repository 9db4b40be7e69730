"""Draw the pictures of README and documentation: ``python docs/draw.py`` writes docs/pictures/*.png and *.gif (some
ten minutes); with names of functions, ``python docs/draw.py nsga_step``, only theirs."""

import os
import re
import runpy
import shutil
import sys
import tempfile

import draw_beams
import draw_comparison
import draw_source
import numpy as np
from drawing import PICTURES, ROOT, example, keep, panels, shrink

import fem_mbs as fem

sys.path.append(str(ROOT / "tests" / "helpers"))


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


def guided_hopper():
    example("guided_hopper")
    shutil.copy("guided_hopper.png", PICTURES)
    shrink(PICTURES / "guided_hopper.png")


def clearance_crank():
    example("clearance_crank")
    for name in ("clearance_crank.png", "clearance_crank_rod.png"):
        shutil.copy(name, PICTURES)
        shrink(PICTURES / name)


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


def nsga_step():
    """The three problems of a step of the default scheme."""
    figure, axes = panels(1, (9.2, 2.2))
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
    keep(figure, "nsga_step")


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
    figure, (damping, impact, memory) = panels(3, (11, 3.2))
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
    keep(figure, "nsga_measured")


def newton_residuals():
    """Residuals of the iterations of a smooth step, and of the problems of the step in which a break strikes."""
    import newton_residuals as study

    figure, (smooth, impact) = panels(2, (9.6, 3.6), sharey=True)
    for color, name in zip(("C0", "C1", "C2", "C3"), study.CASES):
        for reuse, style in ((False, "o-"), (True, "x:")):
            label = None if reuse else name
            smooth.semilogy(study.residuals(name, reuse=reuse), style, color=color, ms=5, lw=1.1, label=label)
    for color, name in zip(("C5", "C0", "C1", "C3"), study.PROBLEMS):
        impact.semilogy(study.break_residuals(name), "s-" if name == study.PROBLEMS[0] else "o-", color=color, ms=5,
                        lw=1.1, label=name)  # fmt: skip
    for axes in (smooth, impact):
        axes.axhspan(1e-16, study.ROUND_OFF, color="0.93", zorder=0)
        axes.set(xlabel="iteration", ylim=(1e-16, 1e4), xlim=(-0.15, 7.2), xticks=range(8))
    smooth.text(0.0, 1e-13, "round-off", ha="left", va="center", color="0.45", fontsize=9)
    smooth.set(ylabel="residual / first residual", title="smooth step")
    impact.set(title="step of the billiard break's impact")
    smooth.legend(fontsize=8, title="solid: exact tangents, dotted: kept factorisation", title_fontsize=8)
    impact.legend(fontsize=8)
    keep(figure, "newton_residuals")


def friction_disc():
    """Stick and slip by the augmented multiplier."""
    figure, axes = panels(1, (5.2, 3.4))
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.fill(np.cos(angle), np.sin(angle), facecolor="#eef3f8", edgecolor="#33658a")
    head = {"arrowstyle": "-|>", "lw": 1.6}
    axes.annotate("", (0.45, 0.5), (0, 0), arrowprops=head | {"color": "#2a7f3f"})
    axes.text(0.2, 0.62, r"$\xi_T$, stick", color="#2a7f3f", fontsize=11, ha="center")
    far = 1.9 * np.array([np.cos(-0.45), np.sin(-0.45)])
    axes.annotate("", far, (0, 0), arrowprops=head | {"color": "0.55", "ls": "--"})
    axes.annotate("", far / 1.9, (0, 0), arrowprops=head | {"color": "#b03a2e"})
    axes.text(*(far + [0.05, -0.12]), r"$\xi_T$, slip", color="0.35", fontsize=11)
    axes.text(0.55, -0.6, r"$\mu\xi_N\tau$", color="#b03a2e", fontsize=11, ha="center")
    axes.plot([0, -np.cos(0.9)], [0, np.sin(0.9)], color="#33658a", lw=0.8)
    axes.text(-0.55, 0.28, r"$\mu\xi_N$", color="#33658a", fontsize=11)
    axes.plot(0, 0, "k.", ms=4)
    axes.set(aspect="equal", xlim=(-1.15, 2.5), ylim=(-1.15, 1.15))
    axes.axis("off")
    keep(figure, "friction_disc")


def friction_cones():
    """Cones of a contact, and how the error of methods falls on a stack of boxes."""
    import contact_families

    from fem_mbs.solvers.contact_problem.problem import solve_contact_problem

    figure, (cones, errors) = panels(2, (9.4, 3.6))
    mu, size = 0.6, 2.2
    cones.fill([0, -mu * size, mu * size], [0, size, size], facecolor="#cfe0ee", label="$K$")
    cones.fill([0, -size / mu, size / mu], [0, size, size], facecolor="#f3dfc8", zorder=0, label="$K^*$")
    head = {"arrowstyle": "-|>", "lw": 1.8}
    r, u = np.array([-mu, 1.0]) * 1.6, np.array([1.0, mu]) * 1.3
    cones.annotate("", r, (0, 0), arrowprops=head | {"color": "#33658a"})
    cones.annotate("", u, (0, 0), arrowprops=head | {"color": "#b06a1e"})
    cones.annotate("", (u[0], 0), (0, 0), arrowprops=head | {"color": "0.35"})
    cones.plot([u[0], u[0]], [0, u[1]], "0.5", ls=":")
    cones.text(r[0] - 0.3, r[1] + 0.06, "$r$", color="#33658a", fontsize=12)
    cones.text(u[0] + 0.08, u[1], r"$\tilde u$", color="#b06a1e", fontsize=12)
    cones.text(u[0] + 0.08, -0.05, "$u$, slides", color="0.3", fontsize=11, va="top")
    cones.text(u[0] + 0.08, 0.5 * u[1], r"$s = \mu|u_T|$", color="0.3", fontsize=10, va="center")
    cones.text(0, 1.9, "$K$", ha="center", fontsize=12)
    cones.text(-2.3, 1.9, "$K^*$", ha="center", fontsize=12)
    cones.set(xlim=(-3, 3), ylim=(-0.35, 2.2), aspect="equal", xlabel="tangential", ylabel="normal")

    problem = contact_families.stack(12, seed=1, kick=0.3, ratio=1e4)
    for method, label in (("gauss_seidel", "Gauss-Seidel"), ("admm", "ADMM"), ("newton", "Newton"), ("path", "path")):
        history = np.array(solve_contact_problem(problem, method, time_limit=3.0).history)
        best = np.minimum.accumulate(history[:, 1])
        errors.loglog(np.maximum(history[:, 0], 1), best, ".-", ms=3, lw=0.9, label=label)
    errors.axhline(1e-8, color="0.6", lw=0.8, ls="--")
    errors.set(xlabel="iterations", ylabel="smallest error so far")
    errors.legend(fontsize=8)
    keep(figure, "friction_cones")


def _blob(axes, center, size, seed, **style):
    """The outline of a body."""
    angle = np.linspace(0, 2 * np.pi, 200)
    rng = np.random.default_rng(seed)
    radius = 1 + sum(0.06 * rng.normal() * np.cos(k * angle + rng.uniform(0, 6)) for k in (2, 3, 4))
    axes.fill(center[0] + size[0] * radius * np.cos(angle), center[1] + size[1] * radius * np.sin(angle), **style)


def _arrow(axes, start, end, text=None, at=0.5, shift=(0, 0), color="0.2"):
    start, end = np.asarray(start, float), np.asarray(end, float)
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
    )
    if text is not None:
        axes.text(*(start + at * (end - start) + shift), text, color=color, fontsize=12, ha="center", va="center")


def joint_frames():
    """Frames and vectors of a joint."""
    figure, axes = panels(1, (7.2, 3.0))
    style = {"facecolor": "#eef3f8", "edgecolor": "#33658a"}
    _blob(axes, (1.6, 1.1), (1.5, 0.95), 1, **style)
    _blob(axes, (5.6, 1.3), (1.6, 0.95), 4, **style)
    A, B, P, Q = (np.array(p) for p in ((1.2, 0.9), (6.0, 1.1), (2.7, 1.5), (4.35, 1.75)))
    for point, name, turn in ((P, "P", 0.15), (Q, "Q", -0.2)):
        for angle in (turn, turn + np.pi / 2):
            _arrow(axes, point, point + 0.45 * np.array([np.cos(angle), np.sin(angle)]), color="#b03a2e")
        axes.text(*(point + [-0.08, -0.3]), name, color="#b03a2e", fontsize=12)
    for point, name in ((A, "$x_A, R_A$"), (B, "$x_B, R_B$")):
        axes.plot(*point, "ko", ms=5)
        axes.text(*(point + [0, -0.28]), name, ha="center", fontsize=11)
    _arrow(axes, A, P, "$a$", shift=(-0.12, 0.15))
    _arrow(axes, B, Q, "$b$", shift=(0.1, 0.18))
    _arrow(axes, A, Q, "$r$", at=0.62, shift=(0.1, -0.17), color="#33658a")
    axes.set(aspect="equal", xlim=(0, 7.9), ylim=(-0.1, 2.6))
    axes.axis("off")
    keep(figure, "joint_frames")


def contact_shape():
    """A sphere and a shape."""
    figure, axes = panels(1, (6.2, 3.4))
    x = np.linspace(0, 6, 200)
    ground = 0.55 + 0.28 * np.sin(1.1 * x + 0.3)
    axes.fill_between(x, ground, -0.4, facecolor="#eef3f8", edgecolor="#33658a")
    foot = np.array([3.4, np.interp(3.4, x, ground)])
    slope = np.gradient(ground, x)[np.searchsorted(x, 3.4)]
    n = np.array([-slope, 1]) / np.hypot(slope, 1)
    r, gap = 0.75, 0.45
    center = foot + (r + gap) * n
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.fill(center[0] + r * np.cos(angle), center[1] + r * np.sin(angle), facecolor="#f7efe4", edgecolor="#b06a1e")
    node = center + [0.15, 0.35]
    axes.plot(*node, "ko", ms=4)
    _arrow(axes, node, center, "$a$", shift=(0.18, 0.05))
    axes.plot(*center, "k.", ms=6)
    axes.text(*(center + [-0.2, 0.05]), "P", fontsize=11)
    near = foot + gap * n
    axes.plot(*np.array([foot, near]).T, color="#b03a2e", lw=1.6)
    axes.text(*(foot + 0.55 * gap * n + [0.28, 0.02]), "$g_N$", color="#b03a2e", fontsize=12)
    _arrow(axes, foot, foot + 0.9 * np.array([n[1], -n[0]]), "$t_1$", at=1.12, color="#2a7f3f")
    _arrow(axes, center, near, "$r$", shift=(-0.18, 0), color="#b06a1e")
    Q = np.array([0.8, 0.1])
    for direction, name in (((0.55, 0), "x"), ((0, 0.55), "z")):
        _arrow(axes, Q, Q + direction, name, at=1.2, color="0.3")
    axes.text(*(Q + [-0.18, -0.12]), "Q", fontsize=11)
    _arrow(axes, Q, center, "$y$", at=0.55, shift=(-0.12, 0.14), color="#33658a")
    axes.set(aspect="equal", xlim=(0, 6), ylim=(-0.4, 2.9))
    axes.axis("off")
    keep(figure, "contact_shape")


def sweep():
    """A ball that flies through another within a step, and where it ends when it is met at its first touch."""
    figure, axes = panels(1, (7.4, 3.0))
    angle, R, r = np.linspace(0, 2 * np.pi, 200), 0.62, 0.5
    standing = np.array([3.6, 0.9])
    tau = np.linspace(0, 1, 400)
    path = np.array([0.6 + 5.4 * tau, 1.75 - 0.75 * tau - 0.35 * tau**2]).T
    touch = int(np.argmax(np.linalg.norm(path - standing, axis=1) < R + r))
    n = (path[touch] - standing) / (R + r)
    t = np.array([n[1], -n[0]])
    end = path[-1]
    corrected = end + max(0.0, n @ (path[touch] - end)) * n

    def ball(center, radius, **style):
        axes.fill(*(center[:, None] + radius * np.array([np.cos(angle), np.sin(angle)])), **style)

    ball(standing, R, facecolor="#eef3f8", edgecolor="#33658a")
    axes.plot(*path.T, color="0.5", lw=1.1, ls="--")
    ball(path[0], r, facecolor="#f7efe4", edgecolor="#b06a1e")
    ball(path[touch], r, facecolor="#f7efe4", edgecolor="#b06a1e")
    ball(end, r, facecolor="none", edgecolor="0.55", ls="--")
    ball(corrected, r, facecolor="none", edgecolor="#2a7f3f", lw=1.6)
    foot = standing + R * n
    axes.plot(*np.array([foot - 1.1 * t, foot + 3.3 * t]).T, color="#2a7f3f", lw=1)
    _arrow(axes, foot, foot + 0.6 * n, color="#b03a2e")
    axes.text(*(foot + 0.32 * n - 0.22 * t), "$n$", color="#b03a2e", fontsize=12, ha="center", va="center")
    _arrow(axes, end, corrected, "$U$", shift=(0.2, 0), color="#2a7f3f")
    for place, text, shift in (
        (path[0], r"$q_n$", (-0.08, -0.24)), (path[touch], r"$q_\theta$", (-0.25, 0.1)),
        (end, r"$\tilde q$", (-0.08, -0.24))
    ):  # fmt: skip
        axes.plot(*place, "k.", ms=5)
        axes.text(*(place + shift), text, fontsize=12, ha="center")
    axes.plot(*corrected, ".", color="#2a7f3f", ms=6)
    axes.text(*(corrected + [0.0, 0.14]), "$q_{n+1}$", color="#2a7f3f", fontsize=12, ha="center")
    axes.set(aspect="equal", xlim=(-0.1, 6.8), ylim=(0.0, 2.9))
    axes.axis("off")
    keep(figure, "sweep")


def cubic_impact():
    """Recovered beside resolved impacts."""
    from fem_mbs.recovery import cubic_impact as cubic
    from fem_mbs.recovery.hysteresis import hysteresis_factor, resolved_impact

    figure, (curves, errors) = panels(2, (9.4, 3.5))
    tau, n = np.linspace(0, 1, 400), 1.5
    for color, e in zip(("C0", "C1", "C2", "C3"), (1.0, 0.8, 0.5, 0.2)):
        chi = float(hysteresis_factor("consistent", e))
        exact = resolved_impact(mass=1.0, speed=1.0, stiffness=1.0, factor=chi)
        T = cubic.hertz_type(*(np.array([v]) for v in (1 + e, 1.0, e, chi)), 1.0, n)[0, 0]
        shape, rate = cubic.course(tau, [e])
        curves.plot(T * tau, (T * shape[0]) ** n * (1 + chi * rate[0]), color, label=f"e = {e:g}")
        curves.plot(exact.t, exact.force, color, ls=":")
    curves.set(xlabel="$t/T_0$", ylabel="$F/F_0$")
    curves.legend(fontsize=8)
    e = np.linspace(0.1, 1, 19)
    found = []
    for value in e:
        chi = float(hysteresis_factor("consistent", value))
        exact = resolved_impact(mass=1.0, speed=1.0, stiffness=1.0, factor=chi)
        T, deepest, force, _ = cubic.hertz_type(*(np.array([v]) for v in (1 + value, 1.0, value, chi)), 1.0, n)[:, 0]
        found.append([T / exact.t[-1], force / exact.force.max(), deepest / exact.indentation.max()])
    for name, column in zip(("duration", "peak force", "indentation"), 100 * (np.array(found).T - 1)):
        errors.plot(e, column, ".-", label=name)
    errors.axhline(0, color="0.7", lw=0.8)
    errors.set(xlabel="restitution", ylabel="error [%]")
    errors.legend(fontsize=8)
    keep(figure, "cubic_impact")


def bearing_geometry():
    """Half section of a ball bearing with its groove centres."""
    figure, axes = panels(1, (5.6, 4.2))
    D, f, alpha, d_m = 1.0, 0.62, np.deg2rad(30), 5.0
    u = np.array([np.sin(alpha), np.cos(alpha)])  # (z, r): from the ball to the outer race
    ball = np.array([0.0, d_m / 2])
    C_o, C_i = ball - (f - 0.5) * D * u, ball + (f - 0.5) * D * u
    angle = np.linspace(0, 2 * np.pi, 400)
    axes.fill(
        ball[0] + D / 2 * np.cos(angle), ball[1] + D / 2 * np.sin(angle), facecolor="#f7efe4", edgecolor="#b06a1e"
    )
    for center, sign, edge in ((C_o, 1, 3.42), (C_i, -1, 1.55)):
        arc = np.linspace(-1.05, 1.05, 100)
        z, r = center[0] + f * D * np.sin(arc), center[1] + sign * f * D * np.cos(arc)
        outline = np.concatenate([[[-0.9, edge], [-0.9, r[0]]], np.stack([z, r], 1), [[0.9, r[-1]], [0.9, edge]]])
        axes.fill(*outline.T, facecolor="#e3ebf2", edgecolor="#33658a")
    axes.plot(*C_o, "x", color="#33658a", mew=2)
    axes.plot(*C_i, "x", color="#33658a", mew=2)
    axes.plot(*ball, "k+", ms=8)
    axes.text(*(C_o + [-0.3, -0.12]), "$C_o$", color="#33658a", fontsize=11)
    axes.text(*(C_i + [0.07, 0.02]), "$C_i$", color="#33658a", fontsize=11)
    line = np.array([ball - 0.75 * u, ball + 0.75 * u])
    axes.plot(*line.T, color="#b03a2e", lw=1, ls="--")
    axes.plot([0, 0], [ball[1], ball[1] + 0.75], color="0.5", lw=0.8)
    arc = np.linspace(0, alpha, 30)
    axes.plot(0.62 * np.sin(arc), ball[1] + 0.62 * np.cos(arc), color="#b03a2e", lw=1)
    axes.text(0.12, ball[1] + 0.68, r"$\alpha$", color="#b03a2e", fontsize=12)
    axes.text(-0.5, 3.22, "outer ring", ha="center", fontsize=10, color="#33658a")
    axes.text(0.0, 1.68, "inner ring", ha="center", fontsize=10, color="#33658a")
    axes.annotate("", (-1.15, ball[1]), (-1.15, 1.2), arrowprops={"arrowstyle": "<->", "color": "0.4"})
    axes.text(-1.25, 1.9, "$d_m/2$ (shortened)", rotation=90, va="center", ha="right", fontsize=9, color="0.4")
    axes.plot([-1.3, 1.3], [1.2, 1.2], color="0.4", lw=0.8, ls="-.")
    axes.text(1.3, 1.24, "axis", ha="right", fontsize=9, color="0.4")
    axes.annotate("", (1.15, C_o[1]), (1.15, C_i[1]), arrowprops={"arrowstyle": "<->", "color": "0.4"})
    axes.text(1.2, ball[1], r"$A\cos\alpha$", va="center", fontsize=10, color="0.4")
    axes.set(aspect="equal", xlim=(-1.6, 1.9), ylim=(1.1, 3.5))
    axes.axis("off")
    keep(figure, "bearing_geometry")


def folders():
    """The folders of the sources as boxes, a column for each package; each imports what its arrows lead down to."""
    from graphlib import TopologicalSorter

    from imports import boxes, direct

    arrows = boxes()
    levels = {}
    for box in TopologicalSorter(arrows).static_order():
        levels[box] = 1 + max((levels[other] for other in arrows[box]), default=-1)
    columns = {"fem_mbs": (0, 5.2, "#eef3f8"), "elements": (5.0, 9.8, "#eaf5ea"), "solvers": (9.6, 14, "#fdf2e2")}
    package = {box: re.match(r"\w+", box)[0] for box in arrows}
    figure, axes = panels(1, (9.6, 5.2))
    beside = {  # what the files beside the folders are
        "fem_mbs": "errors, jit, rotations,\nnodes, shapes, signals …", "fem_mbs (top)": "model, verify\nevaluator",
        "elements": "base, user", "solvers": "statics\nmodal",
    }  # fmt: skip
    top, drawn = 1.1 * max(levels.values()), {}
    for name, (left, right, color) in columns.items():
        axes.text(0.5 * (left + right), top + 0.8, f"{name}/", ha="center", fontsize=11, color="#33658a")
        for level in set(levels.values()):
            row = sorted(box for box in arrows if (package[box], levels[box]) == (name, level))
            for k, box in enumerate(row):
                x = left + (k + 0.5) * (right - left) / len(row)
                x += (0.5, -0.5)[level % 2] if name == "elements" and len(row) == 1 else 0  # not arrow upon arrow
                text = beside.get(box) or re.sub(r"\w+/", "", box).replace(" + ", "\n")
                style = {"boxstyle": "round,pad=0.45", "facecolor": color, "edgecolor": "#33658a"}
                drawn[box] = axes.text(x, 1.1 * level, text, ha="center", va="center", fontsize=9, bbox=style, zorder=2)
    axes.set(xlim=(-0.2, 14.2), ylim=(-0.5, top + 1.2))
    axes.axis("off")
    figure.canvas.draw()  # gives the boxes their sizes, at which arrows end
    for box, targets in direct(arrows).items():
        for other in targets:
            ends = {"patchA": drawn[box].get_bbox_patch(), "patchB": drawn[other].get_bbox_patch()}
            style = {"arrowstyle": "-|>", "color": "0.45", "lw": 1.0, "shrinkA": 0, "shrinkB": 2, **ends}
            start, end = (drawn[b].get_position() for b in (box, other))
            axes.annotate("", end, start, arrowprops=style, zorder=1)
    keep(figure, "folders")


def main():
    PICTURES.mkdir(exist_ok=True)
    drawings = (
        flexible_pendulum, roller_crank, bouncing_ball, roll_up, falling_cantilever, tippe_top, billiard_break,
        spheres_in_a_box, dominoes, order_in_contact, hertz_contact, force_recovery, compliant_impacts, clearance_crank,
        guided_hopper, bearing_load, shaft_in_bearings, rigid_ball_bearing, crank_with_bearing, bearing_defect,
        deep_groove_bearing, profiles,
        nsga_step, newton_residuals, nsga_measured, friction_disc, friction_cones, joint_frames, contact_shape,
        sweep, cubic_impact, bearing_geometry, plots, bend_45, spinning_cue_ball, elastic_bar, folders,
        *draw_beams.DRAWINGS, *draw_source.DRAWINGS, *draw_comparison.DRAWINGS,
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
