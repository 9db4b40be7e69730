"""Impacts resolved in time and impacts recovered from impulses: ball on ground, two spheres, slider and block.

Each model is run twice: with its contact, in steps longer than the impacts, whose forces are recovered afterwards; and
with a compliant contact of the same law in its place, in steps that follow the impact (some hundred in it). Source of
the models: Sanchez2025 annex C, sections C.6.1 to C.6.3.

    python examples/compliant_impacts.py            writes compliant_impacts.vtkhdf (the ball, e = 0.6) and .png
"""

from typing import NamedTuple

import force_recovery as ball
import numpy as np
import slider_hits_block

import fem_mbs as fem
from fem_mbs.runtime import output_path

SPHERE_STIFFNESS = 5.5e9  # N/m^1.5


class Case(NamedTuple):
    """A model, and the steps that its two runs need."""

    build: object  # build(compliant=None): model
    contact: str
    law: str
    stiffness: float
    t_end: float
    h: float  # of the run with impulses
    tolerance: float  # m, of the resolved run


def two_spheres(restitution, compliant=None):
    """Two equal spheres that meet with 0.3 m/s, C.6.2."""
    model, radius = fem.Model("two spheres"), 0.02
    a, b = (
        model.add(
            fem.RigidBody.sphere(0.092, radius, position=[s * 0.05, 0, 0], velocity=[-s * 0.15, 0, 0], name=f"{s:+d}")
        )
        for s in (-1, 1)
    )
    contact = fem.SphereOnSphere(a, b, radius_A=radius, radius_B=radius, restitution=restitution, name="pair")
    model.add(contact if compliant is None else fem.CompliantContact(contact, stiffness=SPHERE_STIFFNESS, **compliant))
    return model


def cases():
    """Name -> `Case`."""
    found = {}
    for e in (1.0, 0.8, 0.6, 0.4, 0.2):
        found[f"ball, e = {e:g}"] = Case(
            lambda compliant=None, e=e: ball.build(e, compliant), "ground contact", "flores", ball.stiffness, 0.5, 1e-3,
            1e-9,
        )  # fmt: skip
    for e in (0.8, 0.6, 0.4, 0.2):
        found[f"two spheres, e = {e:g}"] = Case(
            lambda compliant=None, e=e: two_spheres(e, compliant), "pair", "hu", SPHERE_STIFFNESS, 0.25, 1e-2, 1e-12
        )
    found["slider and block"] = Case(
        slider_hits_block.build, "slider and block", "flores", slider_hits_block.stiffness, 0.075, 1e-4, 1e-10
    )
    return found


def recovered(case):
    """Forces recovered from the impulses of a run."""
    result = fem.DecoupledNSGA(rho_inf=0.0, rtol=1e-5).run(case.build(), t_end=case.t_end, h=case.h)
    return fem.recover_forces(result, case.contact, stiffness=case.stiffness, model=case.law)


def resolved(case, save=None):
    """Results of a run with the compliant contact, in steps as the error tolerance asks for."""
    control = fem.StepControl(tolerance=case.tolerance, h_max=case.h)
    stepper = fem.DecoupledNSGA(rho_inf=0.8, step_control=control)
    return stepper.run(case.build(compliant={"model": case.law}), t_end=case.t_end, h=1e-6, save=save)


def phases(result, name):
    """Closed phases of a compliant contact: rows of duration [s], peak force [N], largest indentation [m]; (m, 3).

    Touch and separation are where the gap between two states vanishes, linear in between.
    """
    gap, force, t = result[name].gap, result[name].force_normal, result.t
    closed = np.concatenate([[False], gap < 0, [False]])
    rows = []
    for i, j in zip(np.flatnonzero(~closed[:-1] & closed[1:]), np.flatnonzero(closed[:-1] & ~closed[1:])):
        start = t[i] if i == 0 else t[i - 1] + (t[i] - t[i - 1]) * gap[i - 1] / (gap[i - 1] - gap[i])
        end = t[-1] if j == len(t) else t[j - 1] + (t[j] - t[j - 1]) * gap[j - 1] / (gap[j - 1] - gap[j])
        rows.append((end - start, force[i:j].max(), -gap[i:j].min()))
    return np.array(rows)


def compare(case, runs=None):
    """Resolved (m, 3) as `phases`, and differences (m, 3) of the recovered impacts, relative.

    ``runs`` are the recovered forces and the resolved run of the case, if they exist already.
    """
    forces, result = runs or (recovered(case), resolved(case))
    impacts, exact = forces.impacts, phases(result, case.contact)
    found = np.stack([impacts.duration, impacts.peak_force, impacts.indentation], axis=1)[: len(exact)]
    return exact, found / exact - 1.0


def table(rows):
    """Text of what `compare` found, rows name -> (exact, difference)."""
    lines = [f"{'resolved, and recovered beside it':<24} {'duration [µs]':>21} {'force [N]':>22} {'depth [µm]':>20}"]
    for name, (exact, difference) in rows.items():
        for k, ((T, force, depth), (dT, dF, dd)) in enumerate(zip(exact, 100 * difference)):
            lines.append(
                f"{name if k == 0 else '':<24} {T * 1e6:>12.2f} {dT:>+6.1f} % {force:>13.1f} {dF:>+6.1f} % "
                f"{depth * 1e6:>11.2f} {dd:>+6.1f} %"
            )
    return "\n".join(lines)


def plot(runs, save):
    """Hysteresis loops and forces over time of balls, recovered and resolved (dashed); ``runs``: name -> both."""
    import matplotlib.pyplot as plt

    figure, (loop, course) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for color, (name, (forces, run)) in zip(("C0", "C1", "C2"), runs.items()):
        curve, contact = forces.curve(0), run["ground contact"]
        closed = contact.gap < 0
        start = phases(run, "ground contact")[0]
        touch = run.t[np.flatnonzero(closed)[0]]
        loop.plot(curve.indentation * 1e3, curve.force / 1e3, color=color, label=name.removeprefix("ball, "))
        loop.plot(contact.indentation[closed] * 1e3, contact.force_normal[closed] / 1e3, "--", color=color)
        course.plot((curve.t - curve.t[0]) * 1e3, curve.force / 1e3, color=color)
        course.plot((run.t[closed] - touch) * 1e3, contact.force_normal[closed] / 1e3, "--", color=color)
        course.axvline(start[0] * 1e3, color=color, lw=0.5)
    loop.set(xlabel="indentation [mm]", ylabel="force [kN]", title="ball, law of Flores; dashed: resolved in time")
    course.set(xlabel="time since touch [ms]", ylabel="force [kN]")
    loop.legend()
    figure.savefig(output_path(save), dpi=110)


def main(save="compliant_impacts.vtkhdf", picture="compliant_impacts.png"):
    shown = "ball, e = 0.6"
    runs = {name: (recovered(case), resolved(case, save if name == shown else None)) for name, case in cases().items()}
    rows = {name: compare(case, runs[name]) for name, case in cases().items()}
    print(table(rows))
    if picture is not None:
        plot({name: runs[name] for name in ("ball, e = 1", shown, "ball, e = 0.2")}, picture)
    spheres, exact = rows["two spheres, e = 0.8"], rows["slider and block"]
    law = fem.hysteresis_factor("hu", 0.8)
    alone = fem.resolved_impact(mass=0.046, speed=0.3, stiffness=SPHERE_STIFFNESS, factor=float(law))
    return fem.Checks(
        # the step control follows the impact in 300 steps: the integration of the impact alone, to 1e-4
        fem.Check("two spheres, peak force [N]", reference=alone.force.max(), obtained=spheres[0][0, 1], rel=5e-4),
        fem.Check("two spheres, duration [s]", reference=alone.duration, obtained=spheres[0][0, 0], rel=2e-3),
        # printed in the source to three digits, recovered; the resolved impact is shorter by 2 %
        fem.Check("slider and block, first [s]", reference=6.85e-5, obtained=exact[0][0, 0], rel=0.035),
        fem.Check("slider and block, second [s]", reference=7.5e-5, obtained=exact[0][1, 0], rel=0.03),
    )


if __name__ == "__main__":
    main().print()
