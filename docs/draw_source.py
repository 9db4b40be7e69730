"""Counterparts of figures of Sanchez2025 that the examples themselves do not draw; docs/gallery.md says which."""

import shutil
import sys

import numpy as np
from drawing import PICTURES, ROOT, example, keep, panels, shrink

import fem_mbs as fem

sys.path += [str(ROOT / "tests" / "validation"), str(ROOT / "tests" / "helpers")]

EXACT = {"color": "k", "lw": 0.9, "ls": "--"}


def rolling_ball_curves():
    """A.6.1 and A.6.2: speeds over time, with the closed forms."""
    import rolling_ball as ball

    figure, rows = panels(3, (11, 5.6), rows=2)
    result = ball.Sliding.run(1e-2)
    _speeds(rows[0, 0], result, ball.Sliding.exact(result.t)[:2], "A.6.1: sliding turns into rolling")
    for panel, case, name in zip(rows[0, 1:], (ball.ROLLING, ball.SPINNING), ("rolling", "spinning")):
        result = case.run(1e-2)
        panel.plot(result.t, ball.speeds(result)[1], "C1", label=r"$\omega$, 10 ms")
        panel.plot(result.t, case.exact(result.t), **EXACT, label="closed form")
        panel.set(title=f"A.6.1: {name} resistance", ylabel="rad/s")
    for panel, case in zip(rows[1], ball.ACARY_BOURRIER):
        result = ball.acary_bourrier(case, 1e-3)
        _speeds(panel, result, ball.acary_bourrier_exact(case, result.t), f"A.6.2: case {case}", "1 ms")
    for panel in rows.ravel():
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    for panel in rows[1]:
        panel.set(xlabel="t [s]")
    keep(figure, "rolling_ball_curves")


def _speeds(panel, result, exact, title, step="10 ms"):
    """Speed of the centre and of the surface of the ball."""
    import rolling_ball as ball

    v, w = ball.speeds(result)
    panel.plot(result.t, v, "C0", label=f"$v$, {step}")
    panel.plot(result.t, ball.radius * w, "C1", label=r"$r\omega$")
    panel.plot(result.t, exact[0], **EXACT, label="closed form")
    panel.plot(result.t, ball.radius * exact[1], **EXACT)
    panel.set(title=title, ylabel="m/s")


def orders_annex_a():
    """Errors over the step of A.6.1 and A.6.2."""
    figure, (alone, together) = panels(2, (9.2, 3.7))
    for name, what, style in (("sliding", "force", "o-"), ("rolling", "angle", "s-"), ("spinning", "angle", "^-")):
        _errors(alone, f"A.6.1 {name}", [(0, f"{name}: {what}")], style)
    for name, style in (("I", "o-"), ("II", "s-"), ("III", "^-")):
        _errors(together, f"A.6.2 {name}", [(0, f"case {name}: path")], style)
    _finish(alone, "A.6.1", (1,))
    _finish(together, "A.6.2", (1, 2))
    keep(figure, "orders_annex_a")


def orders_annex_b():
    """Errors over the step of B.5.1 to B.5.5."""
    figure, rows = panels(3, (11, 6.6), rows=2)
    rows = rows.ravel()
    spheres = [(0, r"$\omega$ of A"), (2, "angle of A"), (4, "friction force")]
    _errors(rows[0], "B.5.1 two spheres", spheres)
    for name, label in (("", "e = 1"), (", e = 0.94", "e = 0.94"), (", μ = 0.2", "μ = 0.2, e = 0.94")):
        _errors(rows[1], f"B.5.2 half ball{name}", [(0, f"path, {label}")])
    _errors(rows[2], "B.5.3 spinning shot", [(0, "cue ball, path"), (1, "its velocity"), (2, "object ball, path")])
    _errors(rows[3], "B.5.4 three balls", [(0, "path of 1"), (2, "path of 2"), (4, "path of 3")])
    _errors(rows[4], "B.5.4 three balls", [(1, "velocity of 1"), (3, "velocity of 2"), (5, "velocity of 3")])
    _errors(rows[5], "B.5.5 Bernoulli's balls", [(0, "speed of 2"), (1, "speed of 3")])
    titles = (
        "B.5.1 two spheres", "B.5.2 half ball", "B.5.3 spinning shot", "B.5.4 three balls, paths",
        "B.5.4 three balls, velocities", "B.5.5 Bernoulli's balls",
    )  # fmt: skip
    for panel, title in zip(rows, titles):
        _finish(panel, title, (1, 2) if title.startswith("B.5.1") else (1,))
    keep(figure, "orders_annex_b")


def _errors(panel, study, columns, style="o-"):
    """Curves of some quantities of a study of benchmarks/orders.py, with their slopes."""
    import orders

    h, errors = orders.measured(study)
    for column, label in columns:
        slope = orders.slopes(study)[column]
        panel.loglog(h, errors[:, column], style, ms=4, lw=1.1, label=f"{label}, {slope:.2f}")


def _finish(panel, title, slopes):
    """Lines of whole slopes below the curves, and what is written around them."""
    curves = [line.get_ydata() for line in panel.get_lines()]
    h = panel.get_lines()[0].get_xdata()
    ends, bottom = np.array([h.min(), h.max()]), min(c.min() for c in curves)
    top = max(c.max() for c in curves)
    for slope, style in zip(slopes, (":", "-.")):
        height = 0.35 * min(c.max() for c in curves) if slope > 1 else 2.2 * top
        panel.loglog(ends, height * (ends / ends[1]) ** slope, style, color="0.4", lw=1.2, label=f"slope {slope}")
    panel.set(title=title, xlabel="h [s]", ylabel="error", ylim=(0.2 * bottom, None))
    panel.grid(alpha=0.3)
    panel.legend(fontsize=7.5)


def roller_crank_curves():
    """A.6.3: angular acceleration of the roller, end rotations of the rod; the example writes both."""
    example("roller_crank")
    for name in ("acceleration", "rod"):
        path = PICTURES / f"roller_crank_{name}.png"
        shutil.copy(f"roller_crank_{name}.png", path)
        shrink(path)


def thirty_degree_cuts():
    """B.5.2: deflection over the cut, paths with friction and restitution, energies."""
    import thirty_degree_rule as rule

    figure, (angles, paths, energies) = panels(3, (11.4, 3.8))
    stepper, h = fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5), 1e-4
    f = np.linspace(0, 1, 201)
    phi = rule.cut_angle(f)
    exact = np.degrees(np.arctan(np.sin(phi) * np.cos(phi) / (np.sin(phi) ** 2 + 0.4)))
    angles.axvspan(0.25, 0.75, color="0.94", zorder=0)
    angles.axhline(30, color="0.6", lw=0.9)
    angles.text(0.5, 27.2, "rule: 30°", color="0.45", fontsize=9, ha="center")
    angles.plot(f, exact, **EXACT, label="(B.48)")
    fractions = np.array([*rule.DEFLECTION])
    found = [rule.deflection(stepper.run(rule.build(x), t_end=0.35, h=h)) for x in fractions]
    angles.plot(fractions, found, "o", ms=5, label="computed, 0.1 ms")
    angles.set(title="deflection by the cut", xlabel="hit part of the ball", ylabel="deflection [°]")
    angles.legend(fontsize=8, loc="lower center")

    runs = {}
    for color, (friction, restitution, held) in zip(
        ("C0", "C1", "C2", "C3"), ((0.0, 1.0, False), (0.0, 0.94, False), (0.06, 1.0, False), (0.06, 0.94, True))
    ):
        distance = 0.05
        model = rule.build(
            friction=friction, restitution=restitution, distance=distance, spin_damping=100 / h if held else 0.0
        )
        result = runs[friction, restitution] = stepper.run(model, t_end=distance / rule.speed + 0.25, h=h)
        after = result.t > distance / rule.speed
        x, y = 100 * result["cue"].position[after, :2].T
        label = f"μ = {friction:g}, e = {restitution:g}" + (", no spin" if held else ", spins" if friction else "")
        paths.plot(x, -y, color, lw=1.4, label=label)
        place = 100 * rule.trajectory(result.t[after] - distance / rule.speed, 0.5, friction, restitution)[0]
        paths.plot(place[100::200, 0], -place[100::200, 1], "o", color=color, ms=4.5)
    paths.set(title="paths, half ball; dots: (B.49)", xlabel="x [cm]", ylabel="y [cm]")
    paths.legend(fontsize=8)

    result = runs[0.06, 0.94]
    kinetic, potential = 1e3 * result.energy.kinetic, 1e6 * (result.energy.potential - result.energy.potential[0])
    energies.plot(result.t, kinetic, "C3")
    energies.set(title="energies, μ = 0.06, e = 0.94", xlabel="t [s]")
    energies.set_ylabel("kinetic [mJ]", color="C3")
    hop = energies.twinx()
    hop.plot(result.t, potential, "C4", lw=1)
    hop.set_ylabel("potential [µJ]", color="C4")
    for panel in (angles, paths):
        panel.grid(alpha=0.3)
    keep(figure, "thirty_degree_cuts")


def energies_of_impacts():
    """B.5.3 and B.5.4: energy of a spinning shot; energy, speeds and hops of three balls in a line with friction."""
    import spinning_cue_ball as shot
    import three_balls

    figure, (spin, line, hops) = panels(3, (11.4, 3.6))
    model = shot.build(np.pi / 6, 0.9, 0.5, distance=0.1, friction=0.06)
    result = fem.DecoupledNSGA.published(rho_inf=0.8).run(model, 0.3, 1e-4)
    start = result.energy.total[0]
    spin.plot(result.t, 1e3 * result.energy.kinetic, "C0", label="kinetic")
    spin.plot(result.t, 1e3 * (result.energy.total - start) + 1e3 * result.energy.kinetic[0], "k--", lw=1,
              label="total")  # fmt: skip
    spin.set(title="B.5.3: ratio 0.9, half of rolling, 30°", xlabel="t [s]", ylabel="energy [mJ]")
    result = three_balls.run(1e-3)
    line.plot(result.t, 1e3 * result.energy.kinetic, "C0")
    line.set(title="B.5.4: kinetic energy with friction", xlabel="t [s]", ylabel="energy [mJ]")
    for name in "13":
        hops.plot(result.t, 1e6 * (result[name].position[:, 2] - result[name].position[0, 2]), label=f"ball {name}")
    hops.set(title="B.5.4: hops", xlabel="t [s]", ylabel="height [µm]", xlim=(0.32, 0.36))
    for panel in (spin, line, hops):
        panel.grid(alpha=0.3)
    spin.legend(fontsize=8)
    hops.legend(fontsize=8)
    keep(figure, "energies_of_impacts")


def billiard_break_curves():
    """B.5.6: speeds of the balls, without and with rolling resistance; height and slip of the cue ball."""
    import billiard_break as table

    figure, (free, stopped, hop) = panels(3, (11.4, 3.7))
    stepper = fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    for panel, arm in ((free, 0.0), (stopped, 0.005)):
        result = stepper.run(table.build(rolling_resistance=arm), t_end=3.0, h=1e-3)
        for name in ("cue", "ball 3", "ball 4", "ball 5"):
            style = "--" if name == "ball 5" else "-"
            panel.plot(result.t, np.linalg.norm(result[name].velocity[:, :2], axis=1), style, lw=1.2, label=name)
        panel.set(title=f"rolling resistance {1e3 * arm:g} mm", xlabel="t [s]", ylabel="speed [m/s]")
        if arm == 0.0:
            cue, late = result["cue"], (result.t > 0.1) & (result.t < 0.4)
            w = np.einsum("kij,kj->ki", cue.rotation, cue.angular_velocity)
            hop.plot(result.t[late], 1e3 * (cue.position[late, 2] - table.radius), "C0", label="height [mm]")
            hop.plot(result.t[late], cue.velocity[late, 0], "C1", label=r"$v_x$ [m/s]")
            hop.plot(result.t[late], table.radius * w[late, 1], "C2", label=r"$r\omega_y$ [m/s]")
    hop.set(title="cue ball: hops, slides back, rolls", xlabel="t [s]", ylim=(-2, 2))
    for panel in (free, stopped, hop):
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    keep(figure, "billiard_break_curves")


def bouncing_ball_orders():
    """C.6.1: motion and closed form, its errors over the step, and the recovered force over the step."""
    import bouncing_ball
    import force_recovery as ball

    figure, (motion, errors, forces) = panels(3, (11.4, 3.6))
    result = ball.run(0.8)
    t = np.linspace(0, 4, 4001)
    motion.plot(result.t, result["ground contact"].gap, "C0", label="1 ms")
    motion.plot(t, bouncing_ball.exact(t, ball.fall, 0.8, ball.g)[0], **EXACT, label="closed form")
    motion.set(title="C.6.1, e = 0.8", xlabel="t [s]", ylabel="gap [m]")
    _errors(errors, "C.6.1 bouncing ball", [(0, "position"), (1, "velocity")])
    _finish(errors, "errors over the step", (1,))
    exact, found = ball.resolved(0.8), []
    h = np.array([0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4])
    for step in h:
        run = ball.run(0.8, h=step, t_end=0.6)
        first = fem.recover_forces(run, "ground contact", stiffness=ball.stiffness, model="flores").impacts[0]
        found.append((first.duration / exact.duration - 1, first.peak_force / exact.force.max() - 1))
    for name, values in zip(("duration", "largest force"), 100 * np.array(found).T):
        forces.semilogx(h / exact.duration, values, "o-", ms=4, lw=1.1, label=name)
    forces.axhline(0, color="0.6", lw=0.9)
    forces.set(title="recovered against resolved", xlabel="step / duration of the impact", ylabel="difference [%]")
    for panel in (motion, forces):
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    keep(figure, "bouncing_ball_orders")


def colliding_spheres():
    """C.6.2: force over time and over indentation with two laws, recovered and resolved in time."""
    import compliant_impacts as impacts

    figure, rows = panels(2, (9.6, 6.4), rows=2)
    for (loop, course), law in zip(rows, ("hu", "zhang")):
        for color, e in zip(("C0", "C1", "C2", "C3"), (0.8, 0.6, 0.4, 0.2)):
            case = impacts.cases()[f"two spheres, e = {e:g}"]._replace(law=law)
            curve, run = impacts.recovered(case).curve(0), impacts.resolved(case)
            contact = run[case.contact]
            closed = contact.gap < 0
            touch = run.t[np.flatnonzero(closed)[0] - 1]
            loop.plot(1e6 * curve.indentation, curve.force, color, lw=1.2, label=f"e = {e:g}")
            loop.plot(1e6 * contact.indentation[closed], contact.force_normal[closed], ":", color=color, lw=1.6)
            course.plot(1e3 * (curve.t - curve.t[0]), curve.force, color, lw=1.2)
            course.plot(1e3 * (run.t[closed] - touch), contact.force_normal[closed], ":", color=color, lw=1.6)
        loop.set(xlabel="indentation [µm]", ylabel="force [N]", title=f"law of {law.capitalize()}")
        course.set(xlabel="time since touch [ms]", ylabel="force [N]", title="dotted: resolved in time")
        loop.legend(fontsize=8)
        for panel in (loop, course):
            panel.grid(alpha=0.3)
    keep(figure, "colliding_spheres")


def slider_hits_block_forces():
    """C.6.3: force over time, and over indentation from three step sizes."""
    import compliant_impacts as impacts
    import slider_hits_block as mechanism

    figure, axes = panels(3, (11.4, 3.7))
    steps = ((1e-3, "C0"), (5e-4, "C1"), (1e-4, "C2"))
    for h, color in steps:
        result = fem.DecoupledNSGA(rho_inf=0.0, rtol=1e-5).run(mechanism.build(), t_end=0.1, h=h)
        found = fem.recover_forces(result, "slider and block", stiffness=mechanism.stiffness, model="flores")
        for number, panel in enumerate(axes[1:]):
            curve, label = found.curve(number), f"h = {1e3 * h:g} ms: {1e6 * found.impacts.duration[number]:.1f} µs"
            panel.plot(1e3 * curve.indentation, 1e-3 * curve.force, color, lw=1.2, label=label)
        if h == steps[-1][0]:
            axes[0].plot(1e3 * found.t, 1e-3 * found.force, color, lw=1.2)
    case = impacts.cases()["slider and block"]
    run = impacts.resolved(case)
    contact = run[case.contact]
    closed = np.flatnonzero(contact.gap < 0)
    for phase, panel in zip(np.split(closed, np.flatnonzero(np.diff(closed) > 1) + 1), axes[1:]):
        panel.plot(1e3 * contact.indentation[phase], 1e-3 * contact.force_normal[phase], "k:", lw=1.5,
                   label="resolved in time")  # fmt: skip
    axes[0].set(xlabel="t [ms]", ylabel="force [kN]", title="force, h = 0.1 ms")
    for panel, title in zip(axes[1:], ("first impact", "second impact")):
        panel.set(xlabel="indentation [mm]", title=title)
        panel.legend(fontsize=8, loc="upper left")
    for panel in axes:
        panel.grid(alpha=0.3)
    keep(figure, "slider_hits_block_forces")


def bearing_of_chapter_4():
    """Chapter 4: load of the balls by place, and speed of the cage; impacts of rigid balls, and balls that yield."""
    import rigid_ball_bearing as rigid
    import test_moving_balls as elastic

    figure, (load, speed) = panels(2, (9.6, 3.8))
    model, bearing = rigid.build()
    result = fem.DecoupledNSGA(rho_inf=0.0, penalty=0.25).run(model, t_end=0.35, h=1e-4)
    beta, force = rigid.passing(result, bearing)
    heights = np.array([result[f"bearing ball {j}"].position[:, 1] for j in range(bearing.balls)]).T
    later = result.t > 0.02
    lowest = 1e3 * heights[later].ravel()
    load.plot(lowest, force[later].ravel(), ".", ms=1.6, color="C0", label="rigid balls, impulse / h")
    history = elastic.run(0.001)
    after = history.t > 0.05
    radius = 0.5 * (rigid.dimensions["radius_inner"] + rigid.dimensions["radius_outer"])
    heights = 1e3 * radius * np.sin(history.psi[after])
    load.plot(heights[::5].ravel(), history.load_outer[after][::5].ravel(), ".", ms=0.8, color="C3",
              label="balls that yield")  # fmt: skip
    load.axhline(rigid.load, color="0.5", lw=0.9, ls="--")
    load.set(xlabel="height of the ball over the shaft [mm]", ylabel="load on the outer race [N]")
    load.set(xlim=(-17, -9), ylim=(-5, 220))
    load.legend(fontsize=8, markerscale=6)

    turned = np.unwrap(beta, axis=0).mean(axis=1)
    window = 10  # steps, 1 ms: velocities of rigid balls jump
    ratio = (turned[window:] - turned[:-window]) / (window * 1e-4) / rigid.speed
    speed.plot(1e3 * result.t[window:], ratio, "C0", lw=0.6, label="rigid balls, means over 1 ms")
    shown = (history.t > 0.05) & (history.t < 0.35)
    speed.plot(1e3 * history.t[shown], history.orbit_speed[shown].mean(axis=1) / rigid.speed, "C3", lw=1.0,
               label="balls that yield, mean of eight")  # fmt: skip
    speed.axhline(bearing.speed_ratio, **EXACT, label="no slip, 0.3813")
    speed.set(xlabel="t [ms]", ylabel="cage speed / shaft speed", ylim=(0.375, 0.39))
    speed.legend(fontsize=8)
    keep(figure, "bearing_of_chapter_4")


def crank_with_bearing_bending():
    """Chapter 4: bending of the coupler with beams, with play in its bearing and with a hinge."""
    import fem_mbs.cases.crank_bearing.model as mechanism

    figure, (bending, slider) = panels(2, (9.6, 3.5))
    for clearance, color, label in ((True, "C0", "bearing with play"), (False, "C1", "hinge")):
        model, _ = mechanism.Reading(flexible=True, clearance=clearance).build()
        result = fem.DecoupledNSGA(rho_inf=0.0).run(model, 0.3, 1e-4)
        turns = np.degrees(mechanism.SPEED * result.t)
        bending.plot(turns, 1e3 * mechanism.bending(result), color, lw=0.8 if clearance else 1.6, label=label)
        slider.plot(turns, result["slider"].velocity[:, 0], color, lw=1.2, ls="-" if clearance else "--", label=label)
    bending.set(xlabel="angle of the driven link [°]", ylabel="end rotation against the other end [mrad]")
    slider.set(xlabel="angle of the driven link [°]", ylabel="velocity of the slider [m/s]")
    for panel in (bending, slider):
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    keep(figure, "crank_with_bearing_bending")


DRAWINGS = (
    rolling_ball_curves, orders_annex_a, orders_annex_b, roller_crank_curves, thirty_degree_cuts,
    energies_of_impacts, billiard_break_curves, bouncing_ball_orders,
    colliding_spheres, slider_hits_block_forces, bearing_of_chapter_4,
    crank_with_bearing_bending,
)  # fmt: skip
