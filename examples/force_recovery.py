"""Forces of the impacts of a bouncing ball: recovered from a run of rigid bodies, and the resolved compliant impact.

The run computes impulses and speeds, with steps that may be seventy times longer than an impact; forces are recovered
after the run. Source: Sanchez2025 annex C, section C.6.1; the height of the fall, not printed, is the one with which
the printed duration of 1.45 ms belongs to e = 0.6.

    python examples/force_recovery.py            writes force_recovery.vtkhdf and force_recovery.png
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.runtime import output_path

mass, radius, fall, g = 1.0, 0.1, 1.0, 9.8  # kg, m, m, m/s²
stiffness = 140e6  # N/m^1.5, of steel-like spheres it would be a hundred times as much
restitution = 0.6


def build(restitution=restitution, compliant=None):
    """Ball above the ground; ``compliant``: options of a `CompliantContact` that takes the place of the contact."""
    model = fem.Model("bouncing ball", gravity=[0, 0, -g])
    ball = model.add(fem.RigidBody.sphere(mass, radius, position=[0, 0, fall + radius], name="ball"))
    contact = fem.SphereOnPlane(
        ball, model.ground, radius=radius, restitution=restitution, drawn_size=1.0, name="ground contact"
    )
    model.add(contact if compliant is None else fem.CompliantContact(contact, stiffness=stiffness, **compliant))
    return model


def run(restitution=restitution, h=1e-3, t_end=4.0, save=None, solver=None):
    """Results with the settings of the source. With approach="start" the ball would chatter before it rests."""
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.0, rtol=1e-5, approach="slower")
    return solver.run(build(restitution), t_end=t_end, h=h, save=save)


def resolved(restitution=restitution, model="flores"):
    """The first impact with the compliant law, integrated in time."""
    factor = fem.hysteresis_factor(model, restitution)
    return fem.resolved_impact(mass=mass, speed=np.sqrt(2 * g * fall), stiffness=stiffness, factor=float(factor))


def plot(recovered, save):
    """Recovered forces, and the first impact with the resolved one."""
    figure = recovered.plot(title=f"bouncing ball, e = {restitution:g}, Flores")
    curve, (_, course, loop) = resolved(), figure.axes
    course.plot(curve.t * 1e3, curve.force, color="0.3", ls="--", lw=1.2, label="first, resolved in time")
    loop.plot(curve.indentation * 1e3, curve.force, color="0.3", ls="--", lw=1.2)
    course.legend(loc="best", fontsize=8)
    figure.savefig(output_path(save), dpi=110)


def main(h=1e-3, save="force_recovery.vtkhdf", solver=None):
    result = run(h=h, save=save, solver=solver)
    recovered = fem.recover_forces(result, "ground contact", stiffness=stiffness, model="flores")
    recovered.print(rows=8)
    plot(recovered, str(save).replace(".vtkhdf", ".png"))
    first, curve = recovered.impacts[0], resolved()
    checks = [
        # three digits are printed; the impulse is that of a step, with up to m g h = 0.14 % of gravity
        fem.Check("duration of the first impact [s]", reference=0.00145, obtained=first.duration, abs=5e-6),
        # what the cubic course costs at e = 0.6 with the law of Flores: 1.0, 0.3, 0.7 %; doubled for the step size
        fem.Check("duration, resolved [s]", reference=curve.duration, obtained=first.duration, rel=0.02),
        fem.Check("peak force, resolved [N]", reference=curve.force.max(), obtained=first.peak_force, rel=0.01),
        fem.Check(
            "indentation, resolved [m]", reference=curve.indentation.max(), obtained=first.indentation, rel=0.015
        ),
        # the ball rests in the end; the last force is that of the contact that stays closed
        fem.Check("force at rest [N]", reference=mass * g, obtained=recovered.force[-1], rel=1e-6),
    ]
    return fem.Checks(*checks) + recovered.checks()


if __name__ == "__main__":
    main().print()
