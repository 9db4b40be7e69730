"""Buckling of a portal frame: a critical load by an eigenvalue problem, by the path, and the sway that follows.

Two columns, clamped at their feet, and a beam, all of length 1 m and the same stiffness; a load P on each corner. The
frame sways at P = k² EI/h² with tan k = −k/6 (Timoshenko and Gere 1961), to either side, and carries more as it does.

    python examples/frame_buckling.py            writes frame_buckling.vtkhdf (the sway), to open in ParaView
"""

import numpy as np

import fem_mbs as fem

h, side, E = 1.0, 4e-3, 210e9  # m; square section, so slender that little but bending is left; N/m²
EI = E * side**4 / 12
CRITICAL = 2.71646**2 * EI / h**2  # tan k = −k/6
PLANE = ("y", "rx", "rz")


def build(intervals=8):
    """Frame in the plane y = 0, with the load CRITICAL on each corner."""
    section = fem.Section.rectangle(side, side, E=E, nu=0.3)
    feet = [fem.Node6([x, 0, 0], fixed=True) for x in (0, h)]
    corners = [fem.Node6([x, 0, h], fixed=PLANE, name=name) for x, name in ((0, "left"), (h, "right"))]
    model = fem.Model("portal frame")
    for a, b, name in ((feet[0], corners[0], "column"), (feet[1], corners[1], "other"), (*corners, "beam")):
        model.add(fem.beam_line(a, b, intervals, section, fixed=PLANE, name=name))
    for corner in corners:
        model.add(fem.PointForce(corner, [0, 0, -CRITICAL]))
    return model


def main(save="frame_buckling.vtkhdf"):
    checks = []
    for n, accuracy in ((4, 3e-3), (8, 2e-4)):  # fourth order of the mesh
        found = fem.buckling(build(n), 1)
        name = f"buckling, {n} intervals [-]"
        checks.append(fem.Check(name, reference=1.0, obtained=found.load_factors[0], rel=accuracy))
    path = fem.load_path(build(), factor=1.5, step=0.05)
    branch = path.branches[0]
    sway = fem.load_path(path.system, start=branch, side=1, factor=None, step=0.05, save=save,
                         until=lambda p: p.position(p.system.model["left"])[0] > 0.5)  # fmt: skip
    grows = float((np.diff(sway.load_factors) > 0).all())
    return fem.Checks(
        *checks,
        # by the path columns get shorter by P/EA before they buckle: 7e-6
        fem.Check("branch point [-]", reference=found.load_factors[0], obtained=branch.load_factor, rel=2e-5),
        fem.Check("unstable motions beyond it", reference=1, obtained=path.points[-1].unstable, abs=0.0),
        fem.Check("unstable motions in sway", reference=0, obtained=max(sway.unstable[1:]), abs=0.0),
        fem.Check("the load grows all along the sway", reference=1, obtained=grows, abs=0.0),
    )


if __name__ == "__main__":
    main().print()
