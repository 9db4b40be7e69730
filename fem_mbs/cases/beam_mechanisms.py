"""Mechanisms that live on the flexibility of beams: a four-bar with a tilted hinge, a crank that makes one buckle.

Both are of the comparison by Bauchau, Betsch, Cardona, Gerstmayr, Jonker, Masarati and Sonneville (2016), which prints
curves: what is compared is convergence, statics, closed forms before the beam buckles, and orders of magnitude. Data
are from memory of that article. Lengths in m, forces in N.
"""

import itertools
import warnings
from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import Case
from fem_mbs.cases.classical import MOREAU, SMOOTH, Z

# --- four-bar with a tilted hinge -------------------------------------------------------------------------------------

CORNERS = np.array([[0, 0, 0], [0, 0.12, 0], [0.24, 0.12, 0], [0.24, 0, 0]])  # m: A, B, C, D
TILT = np.radians(5.0)  # of the hinge C about the line C-D
STEEL: dict[str, Any] = {"E": 207e9, "nu": 0.3, "density": 7800.0}
SPEED = 0.6  # rad/s, of the driven bar, reached in 0.2 s
MATERIAL = 1e-4  # s, damping of the strain rates


def hinge_axis(tilt: float) -> np.ndarray:
    """Axis of the hinge C (3,), unit."""
    return np.array([np.sin(tilt), 0.0, np.cos(tilt)])


def free_motions(tilt: float) -> int:
    """Motions that four rigid bars with hinges A, B, C, D leave to first order."""
    model, bars = fem.Model("rigid bars"), []
    for start, end in itertools.pairwise(CORNERS):
        bars.append(model.add(fem.RigidBody(1.0, [1e-3, 1e-3, 1e-3], position=(start + end) / 2)))
    parts = [model.ground, *bars, model.ground]
    for i, place in enumerate(CORNERS):
        model.add(fem.Revolute.at(parts[i], parts[i + 1], place, hinge_axis(tilt) if i == 2 else Z))
    system = model.compile(redundant="allow")
    return system.n - int(np.linalg.matrix_rank(system.matrices(system.initial)[3].toarray(), tol=1e-9))


def four_bar(n: int) -> fem.Model:
    """Bars of n intervals; A is driven so that B moves along x."""
    thick, thin = (fem.Section.rectangle(side, side, **STEEL) for side in (0.016, 0.008))
    model, lines = fem.Model("four-bar", gravity=[0, 0, 0]), []
    for i, section in enumerate((thick, thick, thin)):
        lines.append(model.add(fem.beam_line(CORNERS[i], CORNERS[i + 1], n, section, damping=MATERIAL,
                                             name=("AB", "BC", "CD")[i])))  # fmt: skip
    ends = [model.ground, *[node for line in lines for node in (line.nodes[0], line.nodes[-1])], model.ground]
    for i, name in enumerate("ABCD"):
        axis = hinge_axis(TILT) if name == "C" else Z
        hinge = model.add(fem.Revolute.at(ends[2 * i], ends[2 * i + 1], CORNERS[i], axis, name=name))
        if name == "A":
            angle = fem.smooth_start(-SPEED, 0.2)
            model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle, name="drive"))
    return model


def tilted_hinge(stepper: Any) -> fem.Checks:
    """Twelve seconds, 4 intervals per bar and 10 ms, against 8 and 5 ms; an equilibrium at 2 s.

    With 20 ms the snap at 8.2 s takes Newton's method to its limits: whether it converges there is left to round-off.
    """
    coarse, fine = stepper.run(four_bar(4), 12.0, 1e-2), stepper.run(four_bar(8), 12.0, 5e-3)
    out, finer = coarse["BC node 4"].position[:, 2], fine["BC node 8"].position[::2, 2]
    moment, force = (np.linalg.norm(part, axis=1) for part in (coarse["C"].moment, coarse["C"].force[:, 2:]))
    statics = fem.static_equilibrium(four_bar(4), t=2.0, steps=20, stability=False)
    still = statics.position(statics.system.model["BC node 4"])[2]
    peak = np.abs(out).max()
    return fem.Checks(
        fem.Check("free motions of rigid bars, parallel hinges", reference=1, obtained=free_motions(0.0), abs=0),
        fem.Check("free motions of rigid bars, tilted hinge", reference=0, obtained=free_motions(TILT), abs=0),
        fem.Check("C out of the plane, a few mm [m]", reference=4e-3, obtained=peak, abs=2e-3),
        fem.Check("force across the plane, decimal logarithm of N", reference=3, obtained=np.log10(force.max()),
                  abs=0.5),
        fem.Check("moment, decimal logarithm of N m", reference=2, obtained=np.log10(moment.max()), abs=0.5),
        fem.Check("C out of the plane at 2 s, statics [m]", reference=still, obtained=out[coarse.at(2.0)], rel=1e-3),
        fem.Check("finer mesh and step: its change over its largest [-]", reference=0.0,
                  obtained=np.abs(out - finer).max() / peak, abs=1e-2),
    )  # fmt: skip


# --- a crank that makes a beam tip over -------------------------------------------------------------------------------

ALUMINIUM: dict[str, Any] = {"E": 73e9, "nu": 0.3, "density": 2680.0}
LENGTH, HIGH, THIN, LINK, CRANK = 1.0, 0.1, 0.01, 0.25, 0.05  # m
OFFSET, HALF_TURN = 1e-4, 0.4  # m off the axis of the beam; s
BEAM = fem.Section.rectangle(THIN, HIGH, **ALUMINIUM)
WEAK, TORSION, STIFF = (1 / BEAM.flexibility[i, i] for i in (5, 3, 4))  # N m²
CRITICAL = 4.0126 * np.sqrt(WEAK * TORSION) / LENGTH**2  # N, of a static force


def crank_angle(t: Any) -> Any:
    """Half a turn [rad] in 0.4 s, then rest."""
    return np.where(t < HALF_TURN, np.pi / 2 * (1 - np.cos(np.pi * t / HALF_TURN)), np.pi)


def crank_and_beam(n: int) -> fem.Model:
    """Cantilever along x with its height along z; crank and link below its end pull that down by twice the crank."""
    rod = fem.Section.circle(0.012, **ALUMINIUM)
    tip = fem.Node6([LENGTH, 0, 0], name="tip")
    top, pin, centre = ([LENGTH, OFFSET, z] for z in (0.0, -LINK, -LINK - CRANK))
    model = fem.Model("beam and crank", gravity=[0, 0, 0])
    along: dict[str, Any] = {"orientation": [0, 1, 0], "damping": MATERIAL}
    model.add(fem.beam_line(fem.Node6(fixed=True), tip, n, BEAM, name="beam", **along))
    link = model.add(fem.beam_line(top, pin, 2, rod, name="link", **along))
    crank = model.add(fem.beam_line(pin, centre, 2, rod, name="crank", **along))
    model.add(fem.Spherical.at(tip, link.nodes[0], top, name="ball"))
    model.add(fem.Universal.at(crank.nodes[0], link.nodes[-1], pin, [0, 1, 0], second_axis=[1, 0, 0], name="cross"))
    hinge = model.add(fem.Revolute.at(model.ground, crank.nodes[-1], centre, [0, 1, 0], name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, crank_angle, name="drive"))
    return model


def crank_buckles(stepper: Any) -> fem.Checks:
    """Half a second, h = 0.5 ms and 8 intervals, against 16; the equilibrium in which the motion ends."""
    result, finer = (stepper.run(crank_and_beam(n), 0.5, 5e-4) for n in (8, 16))
    place, side = result["tip"].position, result["beam node 4"].position[:, 1]
    pull = np.linalg.norm(result["ball"].force, axis=1)
    early, reached = result.at(0.1), int(np.argmax(pull > CRITICAL))
    bent = 3 * STIFF / LENGTH**3 / (1 + 3 * STIFF * BEAM.flexibility[2, 2] / LENGTH**2)
    system = crank_and_beam(8).compile()
    system.initial = result.state(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        statics = fem.static_equilibrium(system, stability=False)
    still = statics.position(system.model["beam node 4"])[1]
    largest = np.abs(side).max()
    return fem.Checks(
        fem.Check("force at 0.1 s, bent in its plane [N]", reference=-bent * place[early, 2], obtained=pull[early],
                  rel=0.02),
        fem.Check("sideways where the static load of buckling is passed [m]", reference=0.0, obtained=place[reached, 1],
                  abs=1e-3),
        fem.Check("sideways in the middle, at last, over its equilibrium [-]", reference=1.0,
                  obtained=side[result.t > HALF_TURN].mean() / still, abs=0.02),
        fem.Check("16 intervals: change of that over its largest [-]", reference=0.0,
                  obtained=np.abs(side - finer["beam node 8"].position[:, 1]).max() / largest, abs=0.02),
    )  # fmt: skip


CASES = [
    Case("four-bar-tilted-hinge", "four-bar with a hinge that is tilted by 5°",
         "Bauchau et al. 2016, curves; own convergence",
         "orders of magnitude of curves; statics; finer mesh and step", tilted_hinge, SMOOTH, fast=False,
         note="After the first 90° the bars CD and AB turn in opposite directions. Moreau-Jean with theta = 0.5 needs "
         "steps of 10 ms here, and is left out for its cost."),
    Case("crank-buckles-beam", "beam that a crank pulls down until it tips over",
         "Bauchau et al. 2016, curves; closed form",
         "inertia before it buckles; remaining vibration about the equilibrium; finer mesh", crank_buckles,
         (*SMOOTH, MOREAU), fast=False,
         note="Offset, sections and motion are from memory of the article, the damping of the material, 0.1 ms, is "
         "chosen."),
]  # fmt: skip
