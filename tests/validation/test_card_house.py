"""Two cards lean against each other: they stand or slide apart as friction on the floor says (in their plane)."""

import numpy as np
import pytest

import fem_mbs as fem

length, mass, edge, g = 1.0, 1.0, 0.01, 9.81  # m, kg, radius of the rounded edges [m], m/s²


def card_house(friction, angle):
    """Cards at ±angle [rad] from the vertical; edges are round, those at the top touch without friction."""
    model = fem.Model("two cards", gravity=[0, 0, -g])
    half = 0.5 * length * np.array([np.sin(angle), 0, np.cos(angle)])
    tips = []
    for side in (-1, 1):
        up = half * [-side, 1, 1]  # from the middle of the card to its upper edge
        middle = np.array([side * edge, 0, edge + 0.5 * length * np.cos(angle)]) - up * [1, 0, 0]
        inertia = mass * length**2 / 12.0
        name = "left" if side < 0 else "right"
        card = model.add(
            fem.RigidBody(mass, [inertia] * 3, position=middle, fixed=("y", "rx", "rz"), name=f"{name} card")
        )
        foot = card.frame(-up)
        model.add(fem.SphereOnPlane(foot, model.ground, radius=edge, friction=friction, name=f"{name} foot"))
        tips.append(card.frame(up))
    model.add(fem.SphereOnSphere(*tips, radius_A=edge, radius_B=edge, name="top"))
    return model


def stands(friction, angle):
    result = fem.DecoupledNSGA().run(card_house(friction, angle), 0.3, 1e-3, save_every=10)
    return np.abs(result["left card"].position - result["left card"].position[0]).max() < 1e-8


@pytest.mark.parametrize("degrees", [15.0, 30.0, 45.0])
def test_cards_stand_as_long_as_friction_holds_their_feet(degrees):
    """Moments about a foot: H (L cos α + r) = m g L sin α/2, and H ≤ μ m g: μ ≥ L sin α/(2 (L cos α + r))."""
    angle = np.radians(degrees)
    critical = length * np.sin(angle) / (2 * (length * np.cos(angle) + edge))
    low, high = 0.5 * critical, 2.0 * critical
    assert not stands(low, angle) and stands(high, angle)
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stands(middle, angle) else (middle, high)
    # 12 halvings of 1.5 μ leave 4e-4; below it by a part ε the cards move by some ε g t²/2 = 0.4 ε m, far above 1e-8 m
    assert 0.5 * (low + high) == pytest.approx(critical, rel=1e-3)
