"""How a ball bearing shares its load: clearance against Stribeck and Sjövall, speed against Jones and Harris.

A 6205 under radial load, with growing clearance, compared with Sjövall's integral for many balls, whose value without
clearance is Stribeck's 4.37; and the 218 angular contact bearing of Harris under thrust, whose contact angles part as
the centrifugal force of the balls grows with the speed. Reference numbers: MASTA, as quoted by a public implementation
of ISO/TS 16281 (last two checks), Stribeck, and the closed form of an angular contact bearing at rest.

    python examples/bearing_load.py            writes bearing_load.vtkhdf (shaft in a 6205) and bearing_load.png
"""

import numpy as np
from scipy.integrate import trapezoid

import fem_mbs as fem
from fem_mbs.results.drawing.plot import COLORS, STYLE
from fem_mbs.runtime import output_path
from fem_mbs.shapes import Cylinder

rpm = np.pi / 30
thrust = 17800.0  # N, on the 218
angular = fem.BearingGeometry(16, 22.23e-3, 125.26e-3, 0.5232, 0.5232, contact_angle=np.radians(40), name="218")


def deep_groove(clearance):
    return fem.BearingGeometry.from_designation("6205", clearance=clearance)


def load_factor(clearance, force, cage_angle=0.0):
    """Load of the heaviest ball over its even share, Z Q_max/F, and the load zone parameter ε."""
    state = fem.bearing_equilibrium(deep_groove(clearance), [force, 0, 0], cage_angle=cage_angle)
    loaded = np.hypot(*state.displacement[:2])
    return state.geometry.balls * state.load_inner.max() / force, 0.5 * (1 - clearance / (2 * loaded))


def sjovall(eps):
    """Z Q_max/F of very many balls: one over Sjövall's radial integral."""
    end = np.arccos(max(1 - 2 * eps, -1.0))
    psi = end * np.linspace(-1, 1, 20001)
    zone = np.maximum(1 - (1 - np.cos(psi)) / (2 * eps), 0.0) ** 1.5 * np.cos(psi)
    return 2 * np.pi / trapezoid(zone, psi)


def at_speed(speed, control="outer"):
    """The 218 under thrust at a speed [rad/s]."""
    return fem.bearing_equilibrium(angular, [0, 0, thrust], inner_speed=speed, inertia=True, control=control)


def loaded_shaft(save=None):
    """A shaft in a 6205 with clearance under up to 1000 N, in five steps: displacement [m], and the expected one."""
    geometry = deep_groove(10e-6)
    model = fem.Model("shaft in a 6205")
    # it begins displaced: in the middle of the clearance nothing holds it
    at = fem.bearing_equilibrium(geometry, [1000, 0, 0]).displacement
    drawn = Cylinder([0, 0, -0.03], [0, 0, 0.03], 12.5e-3)
    shaft = fem.RigidBody(
        1.0,
        1e-3,
        position=at,
        fixed=("z", "rx", "ry", "rz"),
        shape=drawn,
        name="shaft",
    )
    model.add(shaft, fem.PointForce(shaft, [1000, 0, 0]))
    model.add(fem.QuasiStaticBearing(model.ground, shaft, geometry, name="bearing"))
    return fem.static_equilibrium(model, steps=5, save=save)["shaft"].position[-1, 0], at[0]


def draw(save):
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 4.2), layout="constrained")
        around = figure.add_subplot(1, 3, 1, projection="polar")
        for clearance, color in zip((0, 10e-6, 40e-6), COLORS):
            state = fem.bearing_equilibrium(deep_groove(clearance), [1000, 0, 0])
            psi, load = np.append(state.psi, state.psi[0]), np.append(state.load_inner, state.load_inner[0])
            around.plot(psi, load, "o-", color=color, label=f"{1e6 * clearance:.0f} µm")
        around.set_theta_zero_location("S")
        around.set_title("6205, 1000 N: load per ball [N]")
        around.legend(title="clearance", loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)

        factor = figure.add_subplot(1, 3, 2)
        clearances = np.linspace(0, 50e-6, 26)
        on, between = (np.array([load_factor(c, 1000.0, a) for c in clearances]) for a in (0.0, np.pi / 9))
        factor.plot(1e6 * clearances, on[:, 0], color=COLORS[0], label="a ball in the load line")
        factor.plot(1e6 * clearances, between[:, 0], color=COLORS[1], label="between two balls")
        factor.plot(1e6 * clearances, [sjovall(eps) for eps in on[:, 1]], "k--", label="Sjövall, many balls")
        factor.axhline(4.37, color="#909090", linewidth=0.8)
        factor.annotate("Stribeck 4.37", (50, 4.37), ha="right", va="top", color="#606060")
        factor.set(xlabel="diametral clearance [µm]", ylabel="Z Q_max/F", title="heaviest ball, 1000 N")
        factor.legend(loc="upper left")

        angles = figure.add_subplot(1, 3, 3)
        speeds = np.linspace(0, 15000, 31)
        for control, line in (("outer", "-"), ("inner", "--")):
            states = [at_speed(speed * rpm, control) for speed in speeds]
            for race, color in (("inner", COLORS[3]), ("outer", COLORS[0])):
                values = [np.degrees(getattr(state, f"angle_{race}")[0]) for state in states]
                angles.plot(speeds, values, line, color=color, label=f"{race} race, {control} control")
        angles.set(xlabel="speed [rpm]", ylabel="contact angle [°]", title=f"218, thrust {thrust:.0f} N")
        angles.set_xticks([0, 5000, 10000, 15000])
        angles.legend(loc="lower left")
        figure.savefig(output_path(save), dpi=110, bbox_inches="tight")
    return figure


def main(save="bearing_load.vtkhdf", picture="bearing_load.png"):
    if picture is not None:
        draw(picture)
    A, a0 = angular.groove_distance, angular.contact_angle
    still, fast = at_speed(0.0), at_speed(10000 * rpm)
    angle = still.angle_inner[0]
    closed = np.sin(angle) * (np.cos(a0) / np.cos(angle) - 1) ** 1.5 * 16 * angular.stiffness * A**1.5
    inner, outer = np.degrees(fast.angle_inner[0]), np.degrees(fast.angle_outer[0])
    factor, eps = load_factor(10e-6, 1000.0)
    other = fem.BearingGeometry(7, 11.5e-3, 43.5e-3, E=210e9, clearance=10e-6)
    combined = fem.bearing_equilibrium(other, [1000, 0, 1000])
    axial = 1e6 * combined.displacement[2]
    life = fem.reference_life(other, combined.load_inner, rating=23.4e3)
    moved, expected = loaded_shaft(save)
    return fem.Checks(
        fem.Check("shaft of a model: displacement [µm]", reference=1e6 * expected, obtained=1e6 * moved, rel=1e-6),
        # nine balls, one in the load line, against very many: .3 and .8 %
        fem.Check("Z Q_max/F, no clearance (Stribeck)", reference=4.37, obtained=load_factor(0, 1000.0)[0], rel=0.01),
        fem.Check("Z Q_max/F, 10 µm (Sjövall)", reference=sjovall(eps), obtained=factor, rel=0.01),
        fem.Check("218: thrust of the closed form [N]", reference=thrust, obtained=closed, rel=1e-8),
        # another program with the same equations, printed digits
        fem.Check("218, 10000 rpm: inner angle [°]", reference=49.958, obtained=inner, abs=1e-3),
        fem.Check("218, 10000 rpm: outer angle [°]", reference=31.334, obtained=outer, abs=1e-3),
        # its tilt has another lever, which costs 3e-5 of the displacement
        fem.Check("MASTA: axial displacement [µm]", reference=146.4603, obtained=axial, rel=1e-5),
        fem.Check("MASTA: life [10⁶ revolutions]", reference=1630.537, obtained=life.revolutions, rel=2e-4),
    )


if __name__ == "__main__":
    main().print()
