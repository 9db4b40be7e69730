"""Pictures of what methods do: steps, damping, iterations, laws of friction, profiles, the folders of the sources."""

import re
import sys

import numpy as np
from drawing import PICTURES, ROOT, keep, panels

import fem_mbs as fem

sys.path.append(str(ROOT / "tests" / "helpers"))


def profiles():
    """The motions of the how-to page about functions of time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    shown = {
        "smooth_start": fem.smooth_start(1.0, 0.6, start=0.2),
        "ramp": fem.ramp(duration=1.2, start=0.2),
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
        (r"$\rho_\infty$ = 0.8, no restart", {"rho_inf": 0.8, "reset_after_impact": False}),
        ("0.8", {"rho_inf": 0.8}),
        (r"$\rho_\infty$ = 0, no restart", {"rho_inf": 0.0, "reset_after_impact": False}),
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
    """Residuals of the iterations of a smooth step, and of the problems of the step of a billiard break."""
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


def friction_ellipse():
    """Friction and sliding velocity on an ellipse, and paths of points on grooves."""
    figure, (law, paths) = panels(2, (9.2, 3.4), width_ratios=(1, 2))
    angle, mu = np.linspace(0, 2 * np.pi, 200), np.array([0.5, 1.0])
    law.fill(mu[0] * np.cos(angle), mu[1] * np.sin(angle), facecolor="#eef3f8", edgecolor="#33658a")
    force = -mu * [np.cos(3.9), np.sin(3.9)]
    normal = -force / mu**2 / np.linalg.norm(force / mu**2)
    head = {"arrowstyle": "-|>", "lw": 1.6}
    law.annotate("", force, (0, 0), arrowprops=head | {"color": "#2a7f3f"})
    law.text(*(force + [0.06, 0.08]), r"$\lambda$", color="#2a7f3f", fontsize=12)
    law.plot([0, -force[0]], [0, -force[1]], color="0.6", lw=0.8, ls="--")
    law.annotate("", -force + 0.6 * normal, -force, arrowprops=head | {"color": "#b03a2e"})
    law.text(*(-force + 0.6 * normal + [-0.1, -0.2]), "$v$", color="#b03a2e", fontsize=12)
    law.text(-0.05, 0.55, r"$\mu_2\lambda_N$", color="#33658a", fontsize=11, ha="right")
    law.text(0.2, -0.17, r"$\mu_1\lambda_N$", color="#33658a", fontsize=11)
    law.plot([0, mu[0]], [0, 0], color="#33658a", lw=0.8)
    law.plot([0, 0], [0, mu[1]], color="#33658a", lw=0.8)
    law.set(aspect="equal", xlim=(-1.1, 0.8), ylim=(-1.1, 1.1))
    law.axis("off")
    paths.hlines(np.linspace(-0.05, 0.45, 21), -0.05, 1.08, color="0.9", lw=0.6, zorder=0)
    for degrees in (0, 15, 30, 45, 60, 75, 90):
        for friction, style in ((0.5, {"color": "0.6", "lw": 0.8}), (fem.AnisotropicFriction(0.2, 0.5), {"lw": 1.6})):
            model = fem.Model("grooves", gravity=[0, 0, -9.81])
            velocity = 2.0 * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0])
            point = model.add(fem.PointMass(1.0, velocity=velocity, name="point"))
            model.add(fem.SphereOnPlane(point, model.ground, radius=0.0, friction=friction, name="plane"))
            path = fem.DecoupledNSGA().run(model, 2.2, 2e-3)["point"].position
            paths.plot(path[:, 0], path[:, 1], **style)
            paths.plot(*path[-1, :2], ".", color=paths.lines[-1].get_color(), ms=6)
    paths.set(aspect="equal", xlabel="x [m], along the grooves", ylabel="y [m]", xlim=(-0.05, 1.08), ylim=(-0.05, 0.45))
    keep(figure, "friction_ellipse")


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


def cubic_impact():
    """Recovered and resolved impacts."""
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


def folders():
    """The folders of the sources as boxes, a column for each package; each imports what its arrows lead down to."""
    from graphlib import TopologicalSorter

    from imports import boxes, direct

    arrows = boxes()
    levels = {}
    for box in TopologicalSorter(arrows).static_order():
        levels[box] = 1 + max((levels[other] for other in arrows[box]), default=-1)
    columns = {"fem_mbs": (0, 6.4, "#eef3f8"), "elements": (6.3, 12.2, "#eaf5ea"), "solvers": (12.1, 18, "#fdf2e2")}
    package = {box: re.match(r"\w+", box)[0] for box in arrows}
    figure, axes = panels(1, (12.0, 10.5))
    files = {  # next to the folders
        "fem_mbs": "errors, jit, rotations,\nnodes, shapes …", "fem_mbs (top)": "model, verify,\nwarmup",
        "elements": "base, user", "solvers": "statics, modal",
    }  # fmt: skip
    text = {box: "\n".join(files.get(p) or p.partition("/")[2] for p in box.split(" + ")) for box in arrows}
    lines = {
        level: 1 + max(text[box].count("\n") for box in arrows if levels[box] == level) for level in levels.values()
    }
    height, top, drawn = {}, 0.0, {}
    for level in sorted(lines):
        height[level], top = top + 0.18 * lines[level], top + 0.36 * lines[level] + 0.5
    for name, (left, right, color) in columns.items():
        axes.text(0.5 * (left + right), top + 0.2, f"{name}/", ha="center", fontsize=11, color="#33658a")
        for level in lines:
            row = sorted(box for box in arrows if (package[box], levels[box]) == (name, level))
            for k, box in enumerate(row):
                x = left + (k + 0.5) * (right - left) / len(row)
                x += (0.9, -0.9)[level % 2] if name != "fem_mbs" and len(row) == 1 else 0  # not arrow upon arrow
                style = {"boxstyle": "round,pad=0.4", "facecolor": color, "edgecolor": "#33658a"}
                at = {"ha": "center", "va": "center", "fontsize": 8, "bbox": style, "zorder": 2}
                drawn[box] = axes.text(x, height[level], text[box], **at)
    axes.set(xlim=(-0.2, 18.2), ylim=(-0.3, top + 0.6))
    axes.axis("off")
    figure.canvas.draw()  # gives the boxes their sizes, at which arrows end
    for box, targets in direct(arrows).items():
        for other in targets:
            ends = {"patchA": drawn[box].get_bbox_patch(), "patchB": drawn[other].get_bbox_patch()}
            style = {"arrowstyle": "-|>", "color": "0.45", "lw": 1.0, "shrinkA": 0, "shrinkB": 2, **ends}
            start, end = (drawn[b].get_position() for b in (box, other))
            axes.annotate("", end, start, arrowprops=style, zorder=1)
    keep(figure, "folders")


DRAWINGS = (
    profiles, nsga_step, nsga_measured, newton_residuals, friction_disc, friction_ellipse, friction_cones, cubic_impact,
    folders,
)  # fmt: skip
