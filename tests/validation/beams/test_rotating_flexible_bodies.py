"""Solids and superelements in a steadily rotating frame, closed forms: annulus, beam, ring, bar, pendulum."""

import numpy as np
import pytest
from scipy.linalg import eigh

import fem_mbs as fem

LENGTH, SIDE = 1.0, 0.02
SLENDER = fem.SolidMaterial(1e9, 0.0, 1000.0)
UNIT = np.sqrt(1e9 * SIDE**2 / 12 / 1000.0) / LENGTH**2  # √(EI/ρA)/L², rad/s


def slender(parts=1):
    """Mesh of one of so many parts of a rod along x."""
    return fem.block_mesh([LENGTH / parts, SIDE, SIDE], [16 // parts, 1, 1], form=lambda x: x - [0, SIDE / 2, SIDE / 2])


def flapping(speed):
    """Lowest ω out of the plane of a clamped beam that turns with ``speed``, both over `UNIT`, by Ritz's method."""
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = 0.5 * (x + 1), 0.5 * w
    trials = [np.polynomial.Legendre.basis(k, domain=[0, 1]).convert(kind=np.polynomial.Polynomial) for k in range(10)]
    trials = [p * np.polynomial.Polynomial([0, 0, 1]) for p in trials]
    u, slope, bend = (np.array([p.deriv(k)(x) if k else p(x) for p in trials]) for k in range(3))
    tension = 0.5 * speed**2 * (1 - x**2)
    stiffness = (w * bend) @ bend.T + (w * tension * slope) @ slope.T
    return np.sqrt(eigh(stiffness, (w * u) @ u.T, eigvals_only=True)[0])


def lowest_across(found, node):
    """Lowest ω over `UNIT` of the modes in which a node moves along the axis of rotation."""
    moves = [abs(s.imag) for s, shape in zip(found.eigenvalues, found.shapes) if _flaps(np.abs(shape[node.index]))]
    return moves[0] / UNIT


def _flaps(moved):
    return moved[2] > 3 * moved[1]


@pytest.mark.parametrize("speed", [pytest.param(1.0, marks=pytest.mark.slow), 6.0])
def test_a_rod_of_solids_flaps_faster_when_it_turns(speed):
    # Wright, Smith, Thresher and Wang (1982): 3.6816, 7.3604
    assert flapping(speed) == pytest.approx({1.0: 3.6816, 6.0: 7.3604}[speed], abs=1e-4)
    body = fem.SolidBody(slender(), SLENDER, name="rod")
    body.fix("x0")
    model = fem.Model("turning rod")
    model.add(body)
    turning = fem.static_equilibrium(model, rotation=[0, 0, speed * UNIT])
    found = lowest_across(fem.modes(model, 4, about=turning), body.nodes_of("x1")[0])
    assert found == pytest.approx(flapping(speed), rel=1e-3)  # Hexa20, 16 along the rod: 2e-4


@pytest.mark.parametrize(("parts", "rel"), [(1, 0.015), (4, 1e-3)])  # one pattern of pull for a force that falls
def test_superelements_of_a_rod_flap_faster_when_it_turns(parts, rel):
    size, speed = LENGTH / parts, 6.0
    pulls = ("a", "b")
    reduction = fem.reduce_mesh(slender(parts), SLENDER, {"a": "x0", "b": "x1"}, modes=8, stiffening=pulls)
    model = fem.Model("turning rod")
    before = model.ground.frame()
    for k in range(parts):
        body = fem.Superelement(reduction, position=[k * size, 0, 0], name=f"part {k}")
        model.add(body, fem.Fixed.at(before, body.frame("a"), [k * size, 0, 0], name=f"bond {k}"))
        before = body.frame("b")
    turning = fem.static_equilibrium(model, rotation=[0, 0, speed * UNIT])
    found = lowest_across(fem.modes(model, 6, about=turning), before.node)
    assert found == pytest.approx(flapping(speed), rel=rel)


@pytest.mark.parametrize(
    ("pulls", "speed", "told", "stretched"),  # speed over the frequency of the clamped rod
    [
        (None, 0.05, False, False),
        (None, 0.2, True, True),
        (("a", "b"), 1.5, False, True),
        (("a", "b"), 4.0, True, True),
    ],
)
def test_rotation_that_a_superelement_does_not_support_is_reported(pulls, speed, told, stretched, tmp_path):
    """Without a pattern flapping errs by 0.1 % at a tenth of the frequency, 0.4 % at a fifth, 5 % at all of it.

    The rod stretches as x − x³/3, its frames know x: with modes of bending alone 1/6 of the energy is missing.
    """
    reduction = fem.reduce_mesh(slender(), SLENDER, {"a": "x0", "b": "x1"}, modes=8, stiffening=pulls)
    assert reduction.held_frequency == pytest.approx(3.5160 * UNIT, rel=1e-3)  # a clamped beam; Hexa20: 2e-4
    model = fem.Model("turning rod")
    body = fem.Superelement(reduction, name="rod")
    model.add(body, fem.Fixed.at(model.ground, body.frame("a"), [0, 0, 0]))
    turning = fem.static_equilibrium(model, rotation=[0, 0, speed * 3.516 * UNIT], save=tmp_path / "rod.vtkhdf")
    turns = ["Superelement 'rod': rotates with"] * told
    missing = ["leave out 17% of its deformation (strain energy) under centrifugal forces"] * stretched
    assert told_in_turn(fem.load(tmp_path / "rod.vtkhdf").warnings, missing + turns)
    assert told_in_turn(fem.modes(model, 2, about=turning).warnings, turns)
    assert not fem.modes(model, 2).warnings  # at rest


def told_in_turn(texts, parts):
    return len(texts) == len(parts) and all(part in text for text, part in zip(texts, parts))


def test_annulus_of_solids_widens_as_it_turns():
    """Plane strain, by the plane stress formula with E/(1 − ν²) and ν/(1 − ν)."""
    inner, outer, speed, E, nu, density = 0.1, 0.2, 100.0, 210e9, 0.3, 7850.0

    def form(x):
        r, angle = inner + (outer - inner) * x[:, 0], 0.5 * np.pi * x[:, 1]
        return np.stack([r * np.cos(angle), r * np.sin(angle), 0.02 * x[:, 2]], axis=1)

    body = fem.SolidBody(
        fem.block_mesh([1, 1, 1], [4, 6, 1], form=form), fem.SolidMaterial(E, nu, density), name="ring"
    )
    for group, component in (("z0", "z"), ("z1", "z"), ("y0", "y"), ("y1", "x")):
        body.fix(group, component)
    model = fem.Model("turning annulus")
    model.add(body)
    result = fem.static_equilibrium(model, rotation=[0, 0, speed])
    E, nu = E / (1 - nu**2), nu / (1 - nu)
    squares = inner**2 + outer**2
    for r in (inner, outer):
        shape = (3 + nu) * (1 - nu) * squares + (3 + nu) * (1 + nu) * (inner * outer / r) ** 2 - (1 - nu**2) * r**2
        wide = density * speed**2 / (8 * E) * r * shape
        # the mesh errs by 3e-5, the strain of 1e-5 by its own size
        assert result.position(body.node_at([r, 0, 0]))[0] - r == pytest.approx(wide, rel=2e-4)


def ring():
    """A closed ring of radius 1 m about z, 40 mm square, of 32 elements."""
    mesh = fem.block_mesh([1, 1, 1], [1, 32, 1])
    r, angle = 0.98 + 0.04 * mesh.points[:, 0], 2 * np.pi * mesh.points[:, 1]
    points = np.stack([r * np.cos(angle), r * np.sin(angle), 0.04 * (mesh.points[:, 2] - 0.5)], axis=1)
    _, first, place = np.unique(np.round(points * 1e6), axis=0, return_index=True, return_inverse=True)
    closed = fem.Mesh(points[first], {kind: place.ravel()[rows] for kind, rows in mesh.cells.items()})
    return closed.with_group("inside", lambda x: np.hypot(x[:, 0], x[:, 1]) < 0.981)


@pytest.mark.parametrize("kind", ["solid", "superelement"])
def test_waves_of_a_turning_ring_split_by_bryans_factor(kind):
    """Frequencies of n waves in the plane differ by 4 n Ω/(n² + 1) (Bryan 1890)."""
    speed, steel = 20.0, fem.SolidMaterial(2e11, 0.0, 7800.0)
    model = fem.Model("ring gyroscope")
    if kind == "solid":
        model.add(fem.SolidBody(ring(), steel, name="ring"))
        turning = fem.static_equilibrium(model, rotation=[0, 0, speed], stability=False)  # it floats
        found = fem.modes(model, 20, about=turning)
    else:
        hub = {"hub": ("inside", [0, 0, 0])}
        body = fem.Superelement(fem.reduce_mesh(ring(), steel, hub, modes=8, coupling="averaged"), name="ring")
        model.add(body, fem.Fixed.at(model.ground, body.frame("hub"), [0, 0, 0]))
        found = fem.modes(model, 8, rotation=[0, 0, speed])
    bends = np.sort(np.abs(found.eigenvalues.imag))
    # of two waves 156.9 rad/s in the plane by Euler's beam; the pair out of the plane stays between the two
    two = bends[(bends > 120.0) & (bends < 200.0)]
    assert len(two) == 4
    # the ring is 1/25 as thick as its radius, which stretches the middle line by 1/600
    assert two[-1] - two[0] == pytest.approx(4 * 2 * speed / 5, rel=2e-3)


def test_a_turning_bar_of_a_superelement_stretches_and_stays_straight():
    """u = ρ ω² L³/(3 E). Amplitudes of modes are no places: turned as such they bent the bar by a fifth of it."""
    E, density, speed = 1e7, 1000.0, 3.0
    mesh = fem.block_mesh([2, 0.05, 0.05], [20, 1, 1], form=lambda x: x - [1, 0.025, 0.025])
    mesh = mesh.with_group("middle", lambda x: np.abs(x[:, 0]) < 1e-9)
    frames = {"middle": "middle", "tip": "x1", "end": "x0"}
    body = fem.Superelement(fem.reduce_mesh(mesh, fem.SolidMaterial(E, 0.0, density), frames, modes=30), name="bar")
    model = fem.Model("turning bar")
    model.add(body, fem.Fixed.at(model.ground, body.frame("middle"), [0, 0, 0]))
    result = fem.static_equilibrium(model, rotation=[0, 0, speed])
    moved = result.position(body.frame("tip").node) - [1, 0, 0]
    assert moved[0] == pytest.approx(density * speed**2 / (3 * E), rel=1e-3)
    assert np.abs(moved[1:]).max() < 1e-9


def test_a_pendulum_on_a_turning_arm_is_held_by_its_hinge():
    """ω² = Ω² r l m/J_hinge, by the force of the hinge, which no equilibrium has to bring."""
    r, l, J, speed = 0.5, 0.25, 1e-3, 3.0
    model = fem.Model("pendulum on an arm")
    bob = fem.RigidBody(1.0, [J, J, J], position=[r + l, 0, 0], name="bob")
    model.add(bob, fem.Revolute.at(model.ground, bob, [r, 0, 0], [0, 0, 1]))
    for about in (None, fem.static_equilibrium(model, rotation=[0, 0, speed])):
        found = fem.modes(model, 1, about=about, rotation=[0, 0, speed])
        assert found.eigenvalues[0] == pytest.approx(1j * speed * np.sqrt(r * l / (l * l + J)), rel=1e-9)
        assert not any("left out" in remark for remark in found.warnings)


def test_centrifugal_forces_that_nothing_balances_are_reported():
    body = fem.SolidBody(slender(), SLENDER, name="rod")
    body.fix("x0")
    model = fem.Model("turning rod")
    model.add(body)
    remarks = fem.modes(model, 2, rotation=[0, 0, UNIT]).warnings
    assert any(remark.startswith("Centrifugal forces") and "rotation=…" in remark for remark in remarks)


def test_solids_and_superelements_in_a_rotor_are_reported_where_their_modes_are():
    mesh = fem.block_mesh([1, 0.1, 0.1], [4, 1, 1], form=lambda x: x - [0.5, 0.05, 0.05])
    body = fem.Superelement(fem.reduce_mesh(mesh, SLENDER, {"a": "x0", "b": "x1"}, modes=6), name="shaft")
    model = fem.Model("rotor")
    model.add(body)
    with pytest.raises(fem.ParameterError, match=r"rotor = .*shaft.*rotating frame"):
        fem.campbell(model, [0, 10], 2, rotor=body, axis=[1, 0, 0])
