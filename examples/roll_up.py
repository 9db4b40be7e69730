"""Cantilever rolled up to a full circle by an end moment, in a single load step (closed form).

A moment 2π EI/L bends the beam into a closed circle: the tip comes back to the clamp. The mixed Newton iteration of the
beam needs three iterations for the whole load, on any mesh.

    python examples/roll_up.py            writes roll_up.vtkhdf (the load path in ten steps), to open in ParaView
"""

import numpy as np

import fem_mbs as fem

length, elements = 10.0, 10  # m
EI, EA, GA = 100.0, 1e4, 1e4  # N m², N, N


def build():
    """Beam along x, clamped at the origin, with a moment about z at its end."""
    outline = [[-0.1, -0.4], [0.1, -0.4], [0.1, 0.4], [-0.1, 0.4]]  # drawn only
    section = fem.Section.general(EA=EA, GA2=GA, GA3=GA, GJ=EI, EI2=EI, EI3=EI, outline=outline)
    tip = fem.Node6([length, 0, 0], name="tip")
    model = fem.Model("roll-up")
    model.add(fem.beam_line(fem.Node6(fixed=True), tip, elements, section, name="strip"))
    model.add(fem.PointMoment(tip, [0, 0, 2 * np.pi * EI / length], name="end moment"))
    return model


def main(save="roll_up.vtkhdf"):
    model = build()
    at_once = fem.static_equilibrium(model)
    path = fem.static_equilibrium(model, steps=10, save=save)
    tip, moment = at_once.position(model["tip"]), at_once.output(model["strip 5"], "moment_B")[2]
    return fem.Checks(
        # helices are exact for any mesh; the error is the Newton tolerance squared
        fem.Check("distance of the tip from the clamp [m]", reference=0.0, obtained=np.linalg.norm(tip), abs=1e-9),
        fem.Check("bending moment [N m]", reference=2 * np.pi * EI / length, obtained=moment, rel=1e-9),
        # counts are values of this program; after two iterations of the first of ten steps round-off is near 1e-9,
        # the tolerance
        fem.Check("iterations, one load step", reference=3, obtained=at_once.total_iterations, abs=0),
        fem.Check("iterations, ten load steps", reference=20, obtained=path.total_iterations, abs=1),
    )


if __name__ == "__main__":
    main().print()
