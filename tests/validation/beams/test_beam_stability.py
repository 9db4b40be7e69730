"""Loads at which beams lose their stability, and beams in tension: columns, frames, arches, cantilevers.

Digits named "table" are those of docs/theory/beams.md, sections 6 and 7, measured with prototypes of the same formulas.
"""

import numpy as np
import pytest
from beam_models import TWO, cantilever
from scipy.optimize import brentq

from fem_mbs.elements.beams.line import beam_curve, beam_line
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.forces.loads import PointForce, PointMoment
from fem_mbs.errors import SolverError
from fem_mbs.model import Model
from fem_mbs.nodes import Node6
from fem_mbs.solvers.statics import static_equilibrium


def lowest_stiffness(model):
    """Smallest eigenvalue of the tangent stiffness at the equilibrium of the full load."""
    system = model.compile()
    result = static_equilibrium(system, stability=False)
    _, _, K, _ = system.matrices(result.state, result.multipliers)
    return np.linalg.eigvalsh(0.5 * (K + K.T).toarray())[0]


@pytest.mark.parametrize(
    "options, n, error",
    [
        (TWO, 1, 4.685e-2), (TWO, 2, 3.429e-3), (TWO, 4, 2.265e-4),
        ({}, 2, -1.926e-3), ({}, 4, -1.292e-4), ({}, 8, -8.27e-6),
    ],
)  # fmt: skip
def test_euler_column_buckles_at_the_load_of_the_table(options, n, error):
    def stiffness(P):
        root, tip = Node6(fixed=("x", "y", "z", "rx", "ry", "rz")), Node6([1, 0, 0])
        model = Model("column")
        model.add(beam_line(root, tip, n, Section.general(EA=1e8, GA2=1e8, GA3=1e8, GJ=1, EI2=2, EI3=1), **options))
        model.add(PointForce(tip, [-P, 0, 0]))
        return lowest_stiffness(model)

    euler = np.pi**2 / 4
    critical = brentq(stiffness, 0.9 * euler, 1.2 * euler, rtol=1e-12)
    # digits given; entries of the stiffness are near 1e9, so that a load is known to 1e-7
    assert critical / euler - 1 == pytest.approx(error, rel=1e-3, abs=1e-7)


@pytest.mark.filterwarnings("ignore")
def test_a_pulled_rod_loses_its_stability_where_the_linear_law_lets_sections_turn():
    """N = EA GA/(EA − GA), a stretch of 1/(1 − GA/EA); with GA = EA never."""

    def stiffness(N, GA=0.4):
        root, tip = Node6(fixed=True), Node6([1, 0, 0])
        model = Model("rod")
        section = Section.general(EA=1.0, GA2=GA, GA3=1.2 * GA, GJ=1e-5, EI2=1e-5, EI3=1e-5)
        model.add(beam_line(root, tip, 4, section), PointForce(tip, [N, 0, 0]))
        return lowest_stiffness(model)

    assert brentq(stiffness, 0.5, 0.8, rtol=1e-10) == pytest.approx(1 / (1 / 0.4 - 1), rel=1e-4)  # bending: 4e-5
    assert stiffness(3.0, GA=1.0) > 0.0


@pytest.mark.parametrize(
    "options, n, moment", [(TWO, 2, 626.888), (TWO, 4, 622.539), ({}, 2, 626.317), ({}, 4, 622.306), ({}, 8, 622.223)]
)
def test_right_angle_frame_buckles_at_the_moment_of_the_table(options, n, moment):
    # Argyris 1979; half model: leg at 45°, u_x and rotation about z free at the end, symmetry at the corner
    b, h, E, nu, L = 0.6, 30.0, 71240.0, 0.31, 240.0
    section = Section.rectangle(h, b, E=E, nu=nu, torsion_constant=h * b**3 / 3, shear_coefficient=5 / 6)

    def stiffness(M):
        end = Node6([0, 0, 0], fixed=("y", "z", "rx", "ry"))
        corner = Node6([L / np.sqrt(2), L / np.sqrt(2), 0], fixed=("x", "ry", "rz"))
        model = Model("frame")
        model.add(beam_line(end, corner, n, section, orientation=[-1, 1, 0], **options))
        model.add(PointMoment(end, [0, 0, M]))
        return lowest_stiffness(model)

    critical = brentq(stiffness, 500, 800, rtol=1e-9)
    # converged 622.22166 (three-node, 32 intervals); both signs agree to 3e-4
    assert critical == pytest.approx(moment, abs=1e-3)


TENSION = {  # rel. errors of the deflection on 2, 4, 8, 16, 32 intervals
    1e2: [-3.2e-2, -5.5e-3, -5.7e-4, -4.3e-5, -2.8e-6],
    1e4: [-8.2e-2, -3.7e-2, -1.5e-2, -4.6e-3, -9.2e-4],
    1e6: [-8.9e-2, -4.4e-2, -2.1e-2, -9.4e-3, -3.8e-3],
    -2.0: [8.7e-3, 5.6e-4, 3.5e-5, 2.2e-6],
}


def pulled(N, n, **options):
    """Relative error of the side deflection of a cantilever under an end force N and a small side force."""
    model, _, tip = cantilever(n, Section.general(EA=1e9, GA2=1e9, GA3=1e9, GJ=1, EI2=1, EI3=1), **options)
    model.add(PointForce(tip, [N, 1e-6 * max(1.0, abs(N)), 0]))
    deflection = static_equilibrium(model).position(tip)[1] / (1e-6 * max(1.0, abs(N)))
    k = np.sqrt(abs(N))
    exact = (1 - np.tanh(k) / k) / N if N > 0 else (np.tan(k) / k - 1) / -N
    return deflection / exact - 1


@pytest.mark.filterwarnings("ignore:.*tension of up to")
@pytest.mark.parametrize("N", TENSION)
def test_a_beam_in_tension_has_the_deflection_of_the_table_on_any_mesh(N):
    errors = [pulled(N, 2 ** (i + 1)) for i in range(len(TENSION[N]))]
    # two digits of the table; EA and GA of 1e9 and the strain N/EA are below 1e-6 of the deflection but at N = 1e6
    assert errors == pytest.approx(TENSION[N], rel=0.04, abs=2e-6 if N < 1e6 else 1e-4)


@pytest.mark.filterwarnings("ignore:.*tension of up to")
def test_two_node_beam_with_the_reference_strain_is_stopped_in_tension_and_with_the_current_strain_is_right():
    with pytest.raises(SolverError, match=r"TwoNodeBeam .*tension.* EI/L².*large_strain=True"):
        pulled(1e4, 8, **TWO)
    assert pulled(1e4, 8, poses=2) == pytest.approx(-1.7e-2, rel=0.04)  # the table
    assert pulled(1e4, 64, **TWO) == pytest.approx(0.0, abs=1e-3)  # N L²/EI = 2.4 per element


def arch(n, **options):
    """Clamped-hinged circular arch of 215°, R = 100, with a load of 1000 on its crown."""
    R, half = 100.0, np.radians(215 / 2)

    def curve(s):
        turn = half * (1 - 2 * s)
        return R * np.array([-np.sin(turn), np.cos(turn), 0]), np.array([np.cos(turn), np.sin(turn), 0])

    start, end = Node6(curve(0.0)[0], fixed=True), Node6(curve(1.0)[0], fixed=("x", "y", "z", "rx", "ry"))
    section = Section.general(EA=1e8, GA2=1e8, GA3=1e8, GJ=1e6, EI2=1e6, EI3=1e6)
    planar = ("z", "rx", "ry")
    model = Model("arch")
    line = model.add(beam_curve(curve, n, section, start=start, end=end, length=2 * half * R, fixed=planar, **options))
    model.add(PointForce(line.nodes[n // 2], [0, -1000.0, 0]))
    return model


@pytest.mark.parametrize("n, factor", [(16, 0.8989), (32, 0.8974)])
def test_clamped_hinged_arch_snaps_through_at_its_limit_load(n, factor):
    # DaDeppo & Schmidt 1975: 897; load steps are halved down to 1e-6 of the load before they fail
    with pytest.raises(SolverError, match=r"load factor 0\.89\d+: no equilibrium") as caught:
        static_equilibrium(arch(n), steps=100)
    reached = float(str(caught.value).split("load factor ")[1].split(":")[0])
    assert reached == pytest.approx(factor, abs=1e-4)
