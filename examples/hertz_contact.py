"""Hertz contact of a ball and the races of its bearing: ellipse, pressure, stresses below the surface.

Ball bearing of Sanchez2025, chapter 4 (table 4.1), 100 N on one ball. The thesis takes its coefficients from a chart,
to two digits, and those of the inner race for both; here they are exact, and the outer race is shown too.

    python examples/hertz_contact.py            writes hertz_contact.png: stresses over depth, ellipses over curvatures,
                                                and hertz_contact.vtkhdf: the ball pressed on, for ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.hertz import HertzContact, axis_ratio
from fem_mbs.results.drawing.plot import COLORS, STYLE
from fem_mbs.runtime import output_path

ball, groove, inner, outer = 0.00396875, -0.00397875, 0.01277125, -0.02071875  # radii [m], concave ones negative
steel = {"E": 200e9, "nu": 0.3}  # Pa, -; E is not printed, this value reproduces the printed stresses
force = 100.0  # N


def build():
    """Contacts of the ball with the inner and with the outer race; x along the groove's section, y along the race."""
    return (
        HertzContact(ball, (groove, inner), name="inner race", **steel),
        HertzContact(ball, (groove, outer), name="outer race", **steel),
    )


def press(save=None):
    """Indentation [m] of a model in which the ball is pressed on the inner race, in five load steps."""
    contact, _ = build()
    model = fem.Model("ball pressed on a race")
    # it begins indented: at the first touch a contact has no stiffness
    height = ball - contact.indentation(force)
    body = fem.RigidBody.sphere(2e-3, ball, position=[0, 0, height], fixed=("x", "y", "rx", "ry", "rz"), name="ball")
    race = fem.SphereOnPlane(body, model.ground, radius=ball, restitution=1.0, drawn_size=4 * ball, name="race")
    model.add(body, fem.CompliantContact(race, stiffness=contact.stiffness), fem.PointForce(body, [0, 0, -force]))
    return ball - fem.static_equilibrium(model, steps=5, save=save)["ball"].position[-1, 2]


def draw(save):
    """Stresses on the axis below the inner race, and the shape of ellipses; returns the figure."""
    import matplotlib
    from matplotlib.figure import Figure

    contact, other = build()
    (_, b), p0 = contact.semi_axes(force), contact.maximum_pressure(force)
    depth = np.linspace(0, 2.5, 251) * b
    stress = contact.stress(force, depth)
    curves = [
        ("σ across the groove", stress.x, COLORS[0], "-"),
        ("σ along the race", stress.y, COLORS[1], "-"),
        ("σ normal", stress.z, COLORS[2], "-"),
        ("maximum shear τ", stress.shear, COLORS[3], "-"),
        ("octahedral shear", stress.octahedral, COLORS[5], "--"),
    ]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 4.6), layout="constrained")
        below, shape = figure.subplots(1, 2)
        for label, values, color, line in curves:
            below.plot(values / p0, depth / b, line, color=color, label=label)
        peak = contact.maximum_shear(force)
        below.plot(peak.value / p0, peak.depth / b, "o", color=COLORS[3])
        below.invert_yaxis()
        below.set(xlabel="stress / p0", ylabel="depth / b", title="below the inner race")
        below.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)

        ratios = np.geomspace(1, 2000, 100)
        shape.loglog(ratios, [axis_ratio(ratio) for ratio in ratios], color=COLORS[0])
        for race, color in ((contact, COLORS[3]), (other, COLORS[1])):
            shape.plot(race.B / race.A, race.axis_ratio, "o", color=color, label=race.name)
        shape.set(xlabel="ratio of curvatures B/A", ylabel="ratio of semi-axes b/a", title="contact ellipse")
        shape.legend(loc="upper right")
        figure.savefig(output_path(save), dpi=110)
    return figure


def main(save="hertz_contact.vtkhdf", picture="hertz_contact.png"):
    if picture is not None:
        draw(picture)
    contact, _ = build()
    chart = contact.chart()
    shear, octahedral = contact.maximum_shear(force), contact.maximum_octahedral_shear(force)
    depth = 1e6 * contact.indentation(force)
    return fem.Checks(
        fem.Check("indentation of the model [µm]", reference=depth, obtained=1e6 * press(save), rel=1e-8),
        # as read on the chart: half a unit of the last digit; c_G is read .006 too large
        fem.Check("c_b", reference=0.22, obtained=chart.c_b, abs=5e-3),
        fem.Check("c_delta", reference=0.17, obtained=chart.c_delta, abs=5e-3),
        fem.Check("c_sigma", reference=1.0, obtained=chart.c_sigma, abs=5e-3),
        fem.Check("c_tau", reference=0.30, obtained=chart.c_tau, abs=5e-3),
        fem.Check("c_G", reference=0.27, obtained=chart.c_G, abs=7e-3),
        fem.Check("k", reference=0.021, obtained=chart.k, abs=5e-4),
        # printed stresses carry the rounding of c_b (1.6 %), the octahedral one also that of c_G (2.3 %)
        fem.Check("pressure [MPa]", reference=706, obtained=1e-6 * contact.maximum_pressure(force), rel=0.02),
        fem.Check("shear stress [MPa]", reference=211, obtained=1e-6 * shear.value, rel=0.005),
        fem.Check("octahedral shear stress [MPa]", reference=190, obtained=1e-6 * octahedral.value, rel=0.04),
    )


if __name__ == "__main__":
    main().print()
