"""Superelements compared with closed forms and beams: spin-up of a beam, and a bar that hits a wall."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.cases import classical

# rod of Simo and Vu-Quoc: EA = 2.8e7, EI = 1.4e4, ρA = 1.2, L = 10, as a square of the same radius of gyration
LENGTH, SIDE = 10.0, np.sqrt(12 * 1.4e4 / 2.8e7)
RUBBERY = fem.SolidMaterial(2.8e7 / SIDE**2, 0.0, 1.2 / SIDE**2)
TURNS = 2  # modes of bending come in pairs, one for each plane
TURNING = fem.LoadPattern(axis=[0, 0, 1], held="a")


def spun(parts, modes, stiffening):
    """Lag and stretch (k,) [m] of the tip of a rod of so many superelements in the rotating frame, and times."""
    size = LENGTH / parts
    mesh = fem.block_mesh([size, SIDE, SIDE], [16 // parts, 1, 1], form=lambda x: x - [0, SIDE / 2, SIDE / 2])
    loads = {"no": None, "pull": ("a", "b"), "turning": TURNING, "both": [("a", "b"), TURNING]}[stiffening]
    reduction = fem.reduce_mesh(mesh, RUBBERY, {"a": "x0", "b": "x1"}, modes=modes * TURNS, stiffening=loads)
    model = fem.Model("spin-up")
    frame = None
    for k in range(parts):
        body = fem.Superelement(reduction, position=[k * size, 0, 0], name=f"rod {k}")
        model.add(body)
        root, place = (model.ground, [0, 0, 0]) if frame is None else (frame, [k * size, 0, 0])
        if frame is None:
            shaft = model.add(fem.Revolute.at(root, body.frame("a"), place, [0, 0, 1], name="shaft"))
            model.add(fem.RevoluteDriver(shaft.frame_P, shaft.frame_Q, classical.spin_up_angle, name="drive"))
        else:
            model.add(fem.Fixed.at(root, body.frame("a"), place, name=f"joint {k}"))
        frame = body.frame("b")
    result = fem.GeneralizedAlpha(rho_inf=0.9).run(model, 17.5, 0.02)
    told = [text for text in result.warnings if "rotates fastest" in text and f"with {6.0:.2g}" in text]
    assert len(told) == len(result.warnings) == (stiffening == "no")
    tip = result[f"rod {parts - 1} b"].position
    angle = np.array([classical.spin_up_angle(t) for t in result.t])
    c, s = np.cos(angle), np.sin(angle)
    return result.t, -s * tip[:, 0] + c * tip[:, 1], c * tip[:, 0] + s * tip[:, 1] - LENGTH


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "modes", "stiffening", "lag", "rel"),
    [
        # a prototype with beams in the place of solids: −0.64631, −0.56467, −0.57435; the limit of beams is −0.57387
        (1, 2, "no", -0.64631, 0.01),
        (1, 2, "pull", -0.56467, 0.01),
        (2, 2, "pull", -0.57387, 0.005),
        (1, 2, "turning", -0.57387, 0.002),
        (1, 2, "both", -0.57387, 0.002),
    ],
)
def test_spin_up_of_a_rod_lags_as_beams_do(parts, modes, stiffening, lag, rel):
    t, across, along = spun(parts, modes, stiffening)
    assert across.min() == pytest.approx(lag, rel=rel)
    if stiffening == "both":  # how far its end has come nearer then; beams: −0.01882
        assert along[across.argmin()] == pytest.approx(-0.01882, rel=0.005)
    steady = (t > 15.0) & (t < 17.0)
    k = 6.0 * np.sqrt(1.2 / 2.8e7)
    assert along[steady].mean() == pytest.approx(np.tan(k * LENGTH) / k - LENGTH, rel=0.01)


BAR, E, DENSITY, SPEED, GAP = 10.0, 900.0, 1.0, 10.0, 5.005  # c = 30 m/s
TOUCH, LEAVE = GAP / SPEED, GAP / SPEED + 2 * BAR / 30.0  # s, of wave theory


@pytest.fixture(scope="module")
def struck_bar():
    """Function of m: a bar with a frame at one end and m modes along its axis."""
    mesh = fem.block_mesh([BAR, 1, 1], [80, 1, 1], cell="hexahedron", form=lambda x: x - [0, 0.5, 0.5])
    part = fem.reduce_mesh(mesh, fem.SolidMaterial(E, 0.0, DENSITY), {"tip": "x0"}, modes=280)
    axial = np.flatnonzero(np.abs(part.momentum[0][6:]) > 1e-6 * part.mass**0.5)
    return lambda modes: part.with_modes(axial[:modes])


def strike(part, h):
    """The bar flies against a wall, restitution 0."""
    body = fem.Superelement(part, position=[GAP, 0, 0], velocity=[-SPEED, 0, 0], name="bar")
    model = fem.Model("bar on a wall")
    wall = model.ground.frame(rotation=fem.rotations.frame_with_axis([1, 0, 0]))
    model.add(body, fem.SphereOnPlane(body.frame("tip"), wall, radius=0.0, restitution=0.0, name="wall"))
    return fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=1.6, h=h)


@pytest.mark.parametrize(
    ("modes", "share", "mean", "deviation"),
    [
        # m_eff/M = 1 − Σ 8/((2k − 1)² π²); mean and deviation of the force over ρ c v A, measured: few modes
        # ring, and a single one swings through nearly half a period
        (1, 0.1894, 0.928, 0.297),
        (5, 0.0404, 1.015, 0.078),
        (20, 0.0101, 1.000, 0.022),
    ],
)
def test_an_impact_takes_the_share_of_energy_that_moves_with_the_frame(struck_bar, modes, share, mean, deviation):
    """Impact with restitution 0: E/E_0 = 1 − m_eff/M, and the bar leaves after the way of its wave, 2 L/c."""
    part = struck_bar(modes)
    assert part.effective_mass("tip", [1, 0, 0]) == pytest.approx(share, rel=0.01)  # of 80 elements
    result = strike(part, 2e-3)
    energy, force = result.energy.total, result["wall"].force_normal
    kept = energy[result.t > TOUCH + 0.02][0] / energy[0]
    assert kept + part.effective_mass("tip", [1, 0, 0]) == pytest.approx(1.0, abs=2e-3)
    assert energy[-1] / energy[0] == pytest.approx(kept, abs=1e-3)  # it leaves without a second loss
    assert result.t[force > 0.0][-1] == pytest.approx(LEAVE, abs=4e-3)  # two steps
    inside = force[(result.t > TOUCH + 0.05) & (result.t < LEAVE - 0.05)] / (np.sqrt(E * DENSITY) * SPEED)
    assert inside.mean() == pytest.approx(mean, abs=0.01)
    assert inside.std() == pytest.approx(deviation, abs=0.01)
    assert result["wall"].gap.min() > -1e-12


def test_the_flight_of_a_hit_bar_is_of_second_order_in_h(struck_bar):
    """Steps that hit the instant of the impact; ∫|gap − gap of 125 µs| dt, which puts orders off by less than 0.02."""
    part = struck_bar(5)
    exact, errors = strike(part, 1.25e-4), []
    for h in (2e-3, 1e-3):
        result = strike(part, h)
        errors.append(np.abs(result["wall"].gap - np.interp(result.t, exact.t, exact["wall"].gap)).sum() * h)
    orders = np.diff(np.log(errors)) / np.log(0.5)
    assert (np.abs(orders - 2.0) < 0.1).all(), errors  # 2.03, 2.02
    assert errors[-1] < 4e-4  # m s, of a way of 14 m in 1.6 s
