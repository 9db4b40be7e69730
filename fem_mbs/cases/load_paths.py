"""Frames and arches that turn back: limit points by arc length against an elastica and published loads."""

from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import OWN, STATIC, Case, Method
from fem_mbs.cases.stability import MOMENT, half_frame

PLANAR = ("z", "rx", "ry")

# --- Lee's frame: two legs of length 1, EI = 1, hinged at their feet; a load at 0.2 of the second ---------------------

# load and place of the loaded point at both limit points, by shooting with an inextensible elastica (tolerance 1e-12):
# sections with constant force, no moment at the hinges, an extremum of the load over the turn of the first hinge
LEE = (
    ("limit, down", 18.558747, (0.424057, 0.593838)),
    ("limit, back", -9.421287, (0.951766, 0.514996)),
)


def lee_frame(n: int) -> tuple[fem.Model, fem.Node6]:
    """The frame with n intervals to a fifth of a leg, so stiff in stretch and shear that it loses 1e-5 of its loads."""
    section = fem.Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=1, EI2=1, EI3=1)
    hinges = [fem.Node6([x, y, 0], fixed=("x", "y", *PLANAR)) for x, y in ((0, 0), (1, 1))]
    corner, loaded = fem.Node6([0, 1, 0], fixed=PLANAR), fem.Node6([0.2, 1, 0], fixed=PLANAR, name="loaded")
    model = fem.Model("Lee's frame")
    for a, b, intervals in ((hinges[0], corner, 5 * n), (corner, loaded, n), (loaded, hinges[1], 4 * n)):
        model.add(fem.beam_line(a, b, intervals, section, fixed=PLANAR))
    model.add(fem.PointForce(loaded, [0, -20.0, 0]))
    return model, loaded


def lee(_: Any) -> fem.Checks:
    """Both limit points on two meshes, and stability along the way."""
    checks = []
    for n, accuracy in ((1, 2e-4), (4, 1e-4)):
        model, loaded = lee_frame(n)
        path = fem.load_path(model, step=0.05)
        for (name, load, place), point in zip(LEE, path.limits, strict=True):
            text = f"{name}, {10 * n} intervals a leg"
            checks.append(
                fem.Check(f"{text}: P L²/EI", reference=load, obtained=20.0 * point.load_factor, rel=accuracy)
            )
            error = np.abs(point.position(loaded)[:2] - place).max()
            checks.append(
                fem.Check(f"{text}: error of the loaded point", reference=0.0, obtained=error, abs=6 * accuracy)
            )
        lower, upper = (point.length for point in path.limits)
        right = [int(lower < point.length < upper) == point.unstable for point in path.points]
        checks.append(
            fem.Check(
                f"{10 * n} intervals: points with their stability", reference=len(right), obtained=sum(right), abs=0
            )
        )
    return fem.Checks(*checks)


# --- clamped-hinged arch of 215° --------------------------------------------------------------------------------------


def deep_arch(n: int) -> fem.Model:
    """R = 100, EI = 1e6; a load on the crown of 1000 = 10 EI/R²."""
    R, half = 100.0, np.radians(215 / 2)

    def curve(s):
        turn = half * (1 - 2 * s)
        return R * np.array([-np.sin(turn), np.cos(turn), 0]), np.array([np.cos(turn), np.sin(turn), 0])

    start, end = fem.Node6(curve(0.0)[0], fixed=True), fem.Node6(curve(1.0)[0], fixed=("x", "y", *PLANAR))
    section = fem.Section.general(EA=1e8, GA2=1e8, GA3=1e8, GJ=1e6, EI2=1e6, EI3=1e6)
    model = fem.Model("deep arch")
    line = model.add(fem.beam_curve(curve, n, section, start=start, end=end, length=2 * half * R, fixed=PLANAR))
    model.add(fem.PointForce(line.nodes[n // 2], [0, -1000.0, 0]))
    return model


def deep(_: Any) -> fem.Checks:
    """Limit load on three meshes."""
    checks, loads = [], {}
    for n in (16, 32, 64):
        path = fem.load_path(deep_arch(n), step=0.1, until=lambda point: point.unstable == 1)
        loads[n] = path.limits[0].load_factor * 10
    checks.append(fem.Check("P R²/EI, 64 intervals", reference=8.97, obtained=loads[64], abs=5e-3))
    finer = (loads[16] - loads[32]) / (loads[32] - loads[64])
    checks.append(fem.Check("the last refinement changes it by less than the one before, times", reference=16.0,
                            obtained=finer, rel=0.5))  # fmt: skip
    return fem.Checks(*checks)


# --- right-angle frame: buckled, all the way round --------------------------------------------------------------------


def frame_round(_: Any) -> fem.Checks:
    """The frame of `stability` leaves its plane at M_cr and comes back to it at −M_cr, after a full turn."""
    checks = []
    for n in (8, 16):
        model, end = half_frame(n)
        model.add(fem.PointMoment(end, [0, 0, 1.2 * MOMENT]))
        flat = fem.load_path(model, step=0.05)
        turned = fem.load_path(
            flat.system, start=flat.branches[0], side=1, step=0.1, factor=None,
            until=lambda point: point.length > 8.5,  # it is back at 8.3
        )  # fmt: skip
        place = turned["corner"].position
        angle = np.degrees(np.unwrap(np.arctan2(place[:, 2], place[:, 1])))
        left, back = (1.2 * MOMENT * path.branches[-1].load_factor for path in (flat, turned))
        checks += [
            fem.Check(f"{n} intervals: M that leaves the plane [N mm]", reference=MOMENT, obtained=left, rel=5e-4),
            fem.Check(f"{n} intervals: M back in it [N mm]", reference=-MOMENT, obtained=back, rel=5e-4),
            fem.Check(
                f"{n} intervals: turn of the corner there [deg]",
                reference=360.0,
                abs=15.0,
                obtained=np.abs(angle).max(),
            ),
        ]
    return fem.Checks(*checks)


STATICS = (Method(STATIC, OWN),)
CASES = [
    Case("lee-frame", "Lee's frame, which snaps back", "Lee, Manuel and Rossow 1968; elastica by shooting",
         "fourth order of the mesh; stretch and shear, 1e-5", lee, STATICS,
         note="Often quoted from the source, not at hand, is 18.552 EI/L²: 4e-4 below the elastica's 18.5587, "
         "to which meshes converge.", fast=False),
    Case("right-angle-frame-branch", "right-angle frame, all the way round by arc length",
         "Argyris et al. 1979; Simo and Vu-Quoc 1986; closed form of M_cr",
         "shear and the other bending stiffness, left out in the closed form; the last step of the turn", frame_round,
         STATICS, fast=False),
    Case("deep-arch", "clamped-hinged arch of 215°", "DaDeppo and Schmidt 1975: 8.97 EI/R²",
         "three printed digits", deep, STATICS),
]  # fmt: skip
