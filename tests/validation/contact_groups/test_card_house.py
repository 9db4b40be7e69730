"""Card houses of one and two storeys stand or slide apart as friction says (in their plane)."""

import numpy as np
import pytest

import fem_mbs as fem

length, mass, edge, g = 1.0, 1.0, 0.01, 9.81  # m, kg, radius of the rounded edges [m], m/s²


def add_pair(model, where, floor, angle, friction):
    """Add two cards at ±angle [rad] whose round edges touch at x = where; returns frames at their upper edges."""
    half = 0.5 * length * np.array([np.sin(angle), 0, np.cos(angle)])
    tips = []
    for side in (-1, 1):
        up = half * [-side, 1, 1]  # from the middle of the card to its upper edge
        middle = [where + side * edge, 0, floor.position[2] + edge + 0.5 * length * np.cos(angle)] - up * [1, 0, 0]
        inertia = mass * length**2 / 12.0
        card = model.add(fem.RigidBody(mass, [inertia] * 3, position=middle, fixed=("y", "rx", "rz")))
        model.add(fem.SphereOnPlane(card.frame(-up), floor, radius=edge, friction=friction))
        tips.append(card.frame(up))
    model.add(fem.SphereOnSphere(*tips, radius_A=edge, radius_B=edge))
    return tips


def card_house(friction, angle):
    """Two cards on the floor; at the top they touch without friction."""
    model = fem.Model("two cards", gravity=[0, 0, -g])
    add_pair(model, 0.0, model.ground.frame(), angle, friction)
    return model


def two_storeys(friction, angle):
    """Two pairs, a card across them without friction, and a pair on it with friction."""
    model = fem.Model("two storeys", gravity=[0, 0, -g])
    spread = length * np.sin(angle) + edge
    tips = [tip for x in (-spread, spread) for tip in add_pair(model, x, model.ground.frame(), angle, friction)]
    deck = model.add(
        fem.RigidBody.box(
            mass, [4 * spread, 1.0, 2 * edge], position=[0, 0, length * np.cos(angle) + 3 * edge],
            fixed=("y", "rx", "rz"), name="deck",
        )
    )  # fmt: skip
    for tip in tips:
        model.add(fem.SphereOnPlane(tip, deck.frame([0, 0, -edge], [np.pi, 0, 0]), radius=edge))
    add_pair(model, 0.0, deck.frame([0, 0, edge]), angle, friction)
    return model


def stands(model):
    result = fem.DecoupledNSGA().run(model, 0.3, 1e-3, save_every=10)
    places = [result[body.name].position for body in model.elements if isinstance(body, fem.RigidBody)]
    return max(np.abs(place - place[0]).max() for place in places) < 1e-8


@pytest.mark.parametrize("degrees", [15.0, 30.0, 45.0])
def test_cards_stand_as_long_as_friction_holds_their_feet(degrees):
    """Moments about a foot: H (L cos α + r) = m g L sin α/2, and H ≤ μ m g: μ ≥ L sin α/(2 (L cos α + r))."""
    angle = np.radians(degrees)
    critical = length * np.sin(angle) / (2 * (length * np.cos(angle) + edge))
    low, high = 0.5 * critical, 2.0 * critical
    assert not stands(card_house(low, angle)) and stands(card_house(high, angle))
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stands(card_house(middle, angle)) else (middle, high)
    # 12 halvings of 1.5 μ leave 4e-4; below it by a part ε the cards move by some ε g t²/2 = 0.4 ε m, far above 1e-8 m
    assert 0.5 * (low + high) == pytest.approx(critical, rel=1e-3)


@pytest.mark.parametrize("degrees", [20.0, 40.0])
def test_second_storey_needs_more_friction_below_it(degrees):
    """A load N on each of the four upper edges: H (L cos α + r) = (m g/2 + N) L sin α and H ≤ μ (m g + N).

    The card across and the pair on it weigh 3 m g: N = ¾ m g. Edges that lean on each other carry the same thrust H, so
    the two of a pair carry the same N; the pair on top needs less friction.
    """
    angle = np.radians(degrees)
    critical = length * np.sin(angle) * 1.25 / ((length * np.cos(angle) + edge) * 1.75)
    assert stands(two_storeys(1.002 * critical, angle)) and not stands(two_storeys(0.998 * critical, angle))
