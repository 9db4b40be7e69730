"""Falling cantilever: a slender rod, clamped at one end, dropped from the horizontal by gravity.

Ten elements give the tip to five digits where elements of second order need more than forty.

    python examples/falling_cantilever.py            writes falling_cantilever.vtkhdf, to open in ParaView
"""

import fem_mbs as fem

length, radius, elements = 1.0, 5e-3, 10  # m, m
E, nu, density, k_s = 2.1e9, 0.3, 7800.0, 27 / 28  # N/m², -, kg/m³, shear coefficient -
g = 9.81  # m/s²
# tip at 0.5 s: limit of meshes and steps of two-node elements (tests/references/simo_vu_quoc_beams.py) and of these
REFERENCE = (0.4182, -0.8195)


def build(elements=elements, g=g):
    """Rod along x, clamped at the origin; gravity g [m/s²] along −y."""
    section = fem.Section.circle(radius, E=E, nu=nu, density=density, shear_coefficient=k_s)
    tip = fem.Node6([length, 0, 0], name="tip")
    model = fem.Model("falling cantilever", gravity=[0, -g, 0])
    model.add(fem.beam_line(fem.Node6(fixed=True), tip, elements, section, name="rod"))
    return model


def main(h=1e-3, save="falling_cantilever.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA(rho_inf=0.9)
    model = build()
    result = solver.run(model, t_end=0.5, h=h, save=save)
    x, y, _ = result["tip"].position[-1]
    energy = result.energy.kinetic + result.energy.potential
    first = fem.modes(build(g=0.0), 1).omega[0]  # of the straight rod
    # Timoshenko beam with L/r = 200: shear and rotary inertia lower the frequency by 1e-4
    rod = 1.875104**2 * (E * radius**2 / 4 / density) ** 0.5 / length**2
    return fem.Checks(
        fem.Check("tip x at 0.5 s [m]", reference=REFERENCE[0], obtained=x, abs=1e-4),
        fem.Check("tip y at 0.5 s [m]", reference=REFERENCE[1], obtained=y, abs=1e-4),
        # numerical damping takes 1e-6 of the 2 J exchanged at this step
        fem.Check("change of energy [J]", reference=0.0, obtained=energy[-1] - energy[0], abs=1e-5),
        fem.Check("lowest frequency [rad/s]", reference=rod, obtained=first, rel=2e-4),
    )


if __name__ == "__main__":
    main().print()
