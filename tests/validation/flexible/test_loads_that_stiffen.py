"""Loads that stiffen superelements, closed forms: columns, plates, blades, strips that tip over, a frame."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.rotations import exp
from fem_mbs.verify import random_point

ENDS = {"a": "x0", "b": "x1"}


def slender(length, width, height, divisions):
    """A mesh along x with the origin in the middle of its face x0."""
    return fem.block_mesh([length, width, height], divisions, form=lambda x: x - [0, width / 2, height / 2])


def clamped(reduction, gravity=(0, 0, 0), frame="a", **options):
    """A model of one superelement that is clamped at a frame."""
    model = fem.Model("clamped", gravity=gravity)
    body = fem.Superelement(reduction, name="part", **options)
    model.add(body, fem.Fixed.at(model.ground, body.frame(frame), body.frame(frame).position))
    return model, body


# --- a column with two loads ------------------------------------------------------------------------------------------


def critical(P, Q, s, EI):
    """Least factor of the loads P at the end x = 1 and Q at x = s of a clamped column of length 1 [Euler's columns]."""

    def determinant(factor):
        lower, upper = np.sqrt((P + Q) * factor / EI), np.sqrt(P * factor / EI)
        rise, turn = 1 - np.cos(lower * s), lower * np.sin(lower * s)
        across, along = np.cos(upper * (1 - s)), np.sin(upper * (1 - s)) / upper
        # v = C (1 - cos k x) below, C (P + Q) = P v(1) + Q v(s); v(1) is the middle of the wave above
        return np.linalg.det([[-across, rise * across + turn * along], [-P, P + Q - Q * rise]])

    factors = np.linspace(0.02, 3, 500) * np.pi**2 * EI / 4
    values = [determinant(factor) for factor in factors]
    k = int(np.flatnonzero(np.diff(np.sign(values)))[0])
    return brentq(determinant, factors[k], factors[k + 1])


@pytest.fixture(scope="module")
def columns():
    """Columns of 1 m with a frame at 0.6 m, by what stiffens them."""
    mesh = slender(1.0, 0.02, 0.02, [20, 1, 1]).with_group("middle", lambda x: abs(x[:, 0] - 0.6) < 1e-6)
    frames, material = ENDS | {"middle": "middle"}, fem.SolidMaterial(1e9, 0.0, 1000.0)
    kinds = {
        "none": None,
        "one": ("a", "b"),
        "parts": [("a", "middle"), ("middle", "b")],
        "loads": [
            fem.LoadPattern(forces={"b": [-1, 0, 0]}, held="a"),
            fem.LoadPattern(forces={"middle": [1, 0, 0]}, held="a"),
        ],
    }
    return {
        kind: fem.reduce_mesh(mesh, material, frames, modes=12, coupling={"middle": "averaged"}, stiffening=stiffening)
        for kind, stiffening in kinds.items()
    }


@pytest.mark.parametrize("loads", [(1.0, 1.0), (0.2, 1.0)])
def test_a_column_with_loads_at_two_frames_buckles_as_eulers(columns, loads):
    EI = 1e9 * 0.02**4 / 12
    found = {}
    for kind, reduction in columns.items():
        model, body = clamped(reduction)
        for frame, load in zip(("b", "middle"), loads):
            model.add(fem.PointForce(body.frame(frame), [-load, 0, 0]))
        result = fem.buckling(model, 1)
        found[kind] = result.load_factors[0]
        assert bool(result.warnings) == (kind in ("none", "one"))
    exact = critical(*loads, 0.6, EI)
    for kind in ("parts", "loads"):
        # shear lowers it by 1e-4, 20 hexahedra raise it
        assert found[kind] == pytest.approx(exact, rel=3e-4)
    assert found["one"] / exact - 1 < -5e-3 and found["none"] / exact - 1 > 0.2


@pytest.mark.parametrize(("kind", "told"), [("none", True), ("one", True), ("parts", False), ("loads", False)])
def test_equilibria_report_stresses_of_loads_that_are_not_in_the_list(columns, kind, told):
    """The column pulled at both frames by 300 N: one pattern represents the mean of two loads, not their difference."""
    model, body = clamped(columns[kind])
    for frame in ("b", "middle"):
        model.add(fem.PointForce(body.frame(frame), [300.0, 0, 0]))
    path = fem.load_path(model)
    assert ["its stresses" in text for text in path.results.warnings] == [True] * told


# --- a plate ----------------------------------------------------------------------------------------------------------


class Plate:
    """A square plate of 1 m on simple supports: every other face of its edges is an averaged frame, held across."""

    E, nu, density = 1e9, 0.3, 1000.0

    def __init__(self, count, thickness):
        mesh, edges = fem.block_mesh([1.0, 1.0, thickness], [count, count, 1]), {}
        for axis, end in ((0, 0), (0, 1), (1, 0), (1, 1)):
            edges[axis, end] = [f"{'xy'[axis]}{end} {k}" for k in range(axis, count, 2)]
            for k, name in zip(range(axis, count, 2), edges[axis, end]):
                low, high = k / count - 1e-9, (k + 1) / count + 1e-9
                mesh = mesh.with_group(
                    name,
                    lambda x, axis=axis, end=end, low=low, high=high: (
                        (abs(x[:, axis] - end) < 1e-9) & (x[:, 1 - axis] > low) & (x[:, 1 - axis] < high)
                    ),
                )

        def pull(axis):
            share = 1.0 / len(edges[axis, 0])
            forces = {name: (2 * end - 1) * share * np.eye(3)[axis] for end in (0, 1) for name in edges[axis, end]}
            return fem.LoadPattern(forces=forces)  # in equilibrium by itself

        frames = {name: name for names in edges.values() for name in names}
        material = fem.SolidMaterial(self.E, self.nu, self.density)
        stiffening = [pull(0), pull(1)]
        self.reduction = r = fem.reduce_mesh(
            mesh, material, frames, modes=15, coupling="averaged", stiffening=stiffening
        )
        self.body = fem.Superelement(r, name="plate")
        self.evaluator = Evaluator(self.body)
        self.bending = self.E * thickness**3 / 12 / (1 - self.nu**2)
        self.area = self.density * thickness
        self.free = np.setdiff1d(np.arange(r.size), 6 * np.arange(len(frames)) + 2)

    def tangent(self, along, across):
        """Stiffness where the frames are moved by pulls of so much [N]."""
        r, nb = self.reduction, self.body.places
        d = np.array([along, across]) @ r.pull_responses
        point = random_point(self.body, np.random.default_rng(0), 0.0)
        moved = d[: 6 * nb].reshape(nb, 6)
        point.x, point.R = np.zeros_like(point.x), np.array(point.R)
        point.x[:nb], point.R[:nb] = r.positions + moved[:, :3], [exp(turn) for turn in moved[:, 3:]]
        point.x[nb:].ravel()[: r.modes] = d[6 * nb :]
        K = self.evaluator("force_tangent", point)["K"]
        modes = [6 * nb + 6 * (j // 3) + j % 3 for j in range(r.modes)]
        keep = np.concatenate([np.arange(6 * nb), modes])[self.free].astype(int)
        return 0.5 * (K + K.T)[np.ix_(keep, keep)]

    def lowest(self, along, across):
        """Square of the lowest frequency out of the plane."""
        M = self.reduction.M[np.ix_(self.free, self.free)]
        squares, shapes = eigh(self.tangent(along, across), M)
        for square, shape in zip(squares, shapes.T):
            d = np.zeros(self.reduction.size)
            d[self.free] = shape
            sizes = np.abs(self.reduction.displacements(d)).max(axis=0)
            if sizes[2] > 3 * sizes[:2].max():
                return square
        raise AssertionError("nothing moves across")


@pytest.fixture(scope="module")
def plate():
    return Plate(9, 0.01)


def test_pulls_on_a_plate_report_each_other_by_poissons_ratio(plate):
    """Hooke's law of uniform tension: N_x = E h/(1 − ν²) (ε_x + ν ε_y)."""
    k = plate.reduction.pull_stiffness / (plate.E * 0.01) * (1 - plate.nu**2)
    # forces on every other face stretch their surroundings more: 0.86, 0.20
    assert 0.8 < k[0, 0] < 1.0 and k[0, 1] / k[0, 0] == pytest.approx(plate.nu, abs=0.1)


@pytest.mark.parametrize(("along", "across"), [(1, 1), (1, 0), (0, 1), (0.6, -0.2), (-0.5, -0.4)])
def test_frequencies_of_a_plate_that_is_pulled_in_two_directions(plate, along, across):
    """ω² = (2π²)² D/ρh + (N_x + N_y) π²/ρh of a square plate of side 1."""
    critical = 2 * np.pi**2 * plate.bending
    square = plate.lowest(0.0, 0.0)
    assert square == pytest.approx((2 * np.pi**2) ** 2 * plate.bending / plate.area, rel=0.03)
    grown = plate.lowest(along * critical, across * critical) - square
    single = np.pi**2 * critical / plate.area
    # the pulls enter by single faces: one direction counts 0.95, the other 1.05, both 1.005
    assert grown == pytest.approx((along + across) * single, abs=0.06 * single)
    if along == across:
        assert grown == pytest.approx(2 * along * single, rel=0.01)


def test_a_plate_that_is_pressed_in_two_directions_buckles(plate):
    """N_x = N_y = −2π² D of a square plate of side 1 on simple supports."""
    critical = 2 * np.pi**2 * plate.bending
    K, other = plate.tangent(0.0, 0.0), plate.tangent(-1e-3 * critical, -1e-3 * critical)
    squares, shapes = eigh(K)
    moved = squares > 1e-9 * squares[-1]  # all but three rigid motions in the plane
    assert np.count_nonzero(~moved) == 3
    shapes = shapes[:, moved] / np.sqrt(squares[moved])
    largest = eigh(shapes.T @ ((K - other) / 1e-3) @ shapes, eigvals_only=True)[-1]
    assert 1.0 / largest == pytest.approx(1.0, abs=0.03)  # supports at every other face: 0.98


# --- forces of the mass -----------------------------------------------------------------------------------------------


def ritz(tension, EI=1.0, mass=1.0):
    """Square of the lowest frequency of a clamped beam of length 1 with a tension N(x)."""
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = 0.5 * (x + 1), 0.5 * w
    trials = [np.polynomial.Legendre.basis(k, domain=[0, 1]).convert(kind=np.polynomial.Polynomial) for k in range(12)]
    trials = [p * np.polynomial.Polynomial([0, 0, 1]) for p in trials]
    u, slope, bend = (np.array([p.deriv(k)(x) if k else p(x) for p in trials]) for k in range(3))
    stiffness = EI * (w * bend) @ bend.T + (w * tension(x) * slope) @ slope.T
    return eigh(stiffness, mass * (w * u) @ u.T, eigvals_only=True)[0]


SIDE, MODULUS, DENSITY = 0.02, 1e9, 1000.0
RIGID, MASS = MODULUS * SIDE**4 / 12, DENSITY * SIDE**2
ROD = fem.SolidMaterial(MODULUS, 0.0, DENSITY)


@pytest.mark.parametrize(("hub", "speed", "rel"), [(0.0, 1.0, 3e-4), (0.0, 12.0, 1e-3), (0.3, 6.0, 1e-3)])
def test_a_blade_of_one_superelement_flaps_as_its_centrifugal_forces_say(hub, speed, rel):
    """Southwell: ω² = ω_0² + 1.19 Ω² of a hub of no size. One pull between its ends errs by 1 %."""
    unit = np.sqrt(RIGID / MASS)
    load = fem.LoadPattern(axis=[0, 0, -3.0], point=[-hub, 0, 0], held="a")
    reduction = fem.reduce_mesh(slender(1.0, SIDE, SIDE, [16, 1, 1]), ROD, ENDS, modes=8, stiffening=load)
    model, body = clamped(reduction, position=[hub, 0, 0])
    turning = fem.static_equilibrium(model, rotation=[0, 0, speed * unit])
    found = fem.modes(model, 6, about=turning)
    across = [
        abs(value.imag)
        for value, shape in zip(found.eigenvalues, found.shapes)
        if np.abs(shape[body.frame("b").node.index][2]) > 3 * np.abs(shape[body.frame("b").node.index][1])
    ]
    exact = ritz(lambda x: (speed * unit) ** 2 * MASS * ((1 + hub) ** 2 - (x + hub) ** 2) / 2, RIGID, MASS)
    assert across[0] == pytest.approx(np.sqrt(exact), rel=rel)
    assert not any("rotates with" in text for text in [*turning.results.warnings, *found.warnings])
    if hub == 0.0 and speed == 1.0:
        southwell = (exact / unit**2 - 3.5160**2) / speed**2
        assert southwell == pytest.approx(1.193, abs=2e-3)  # Southwell and Gough (1921)


def ring():
    """A closed ring of radius 1 m about z, 40 mm square, of 32 elements."""
    mesh = fem.block_mesh([1, 1, 1], [1, 32, 1])
    r, angle = 0.98 + 0.04 * mesh.points[:, 0], 2 * np.pi * mesh.points[:, 1]
    points = np.stack([r * np.cos(angle), r * np.sin(angle), 0.04 * (mesh.points[:, 2] - 0.5)], axis=1)
    _, first, place = np.unique(np.round(points * 1e6), axis=0, return_index=True, return_inverse=True)
    closed = fem.Mesh(points[first], {kind: place.ravel()[rows] for kind, rows in mesh.cells.items()})
    return closed.with_group("inside", lambda x: np.hypot(x[:, 0], x[:, 1]) < 0.981)


def test_a_turning_ring_is_stiffened_by_its_hoop_tension():
    """ω = √(ω_0² + 1.44 Ω²) ± 0.8 Ω of two waves in the plane of a ring that does not stretch (Endo et al. 1984).

    Without the load the mean of both is 18 % too low at half of ω_0. The load holds itself in equilibrium.
    """
    load, hub = fem.LoadPattern(axis=[0, 0, 1]), {"hub": ("inside", [0, 0, 0])}
    steel = fem.SolidMaterial(2e11, 0.0, 7800.0)
    reduction = fem.reduce_mesh(ring(), steel, hub, modes=8, coupling="averaged", stiffening=load)

    def waves(speed):
        model, _ = clamped(reduction, frame="hub")
        if speed == 0.0:
            return np.sort(fem.modes(model, 4).omega)[2:]  # the first two are out of the plane
        turning = fem.static_equilibrium(model, rotation=[0, 0, speed], stability=False)
        assert not turning.results.warnings
        found = np.sort(np.abs(fem.modes(model, 4, about=turning).eigenvalues.imag))
        return found[[0, 3]]  # one on each side of those out of the plane

    still = waves(0.0).mean()
    for speed in (20.0, 80.0, 160.0):
        low, high = waves(speed)
        # the mesh stretches: 4e-4 at the frequency at rest
        assert 0.5 * (low + high) == pytest.approx(np.sqrt(still**2 + 1.44 * speed**2), rel=5e-4)
        assert high - low == pytest.approx(1.6 * speed, rel=2e-3)


@pytest.mark.parametrize(
    ("hub", "speed", "pulled", "told"),
    [(0.1, 0.5, False, True), (0.1, 0.05, False, False), (0.0, 4.0, False, False), (0.1, 0.5, True, False)],
)
def test_a_rotation_about_another_axis_than_that_of_the_load_is_reported(hub, speed, pulled, told):
    """The load is of an axis through the root: with a hub of a tenth of the blade 0.05 of 0.67 is left, in the mean."""
    loads = [
        fem.LoadPattern(axis=[0, 0, 1], held="a"),
        *([("a", "b")] if pulled else []),
    ]  # a pull has most of the rest
    reduction = fem.reduce_mesh(slender(1.0, SIDE, SIDE, [16, 1, 1]), ROD, ENDS, modes=8, stiffening=loads)
    model, _ = clamped(reduction, position=[hub, 0, 0])
    unit = 3.516 * np.sqrt(RIGID / MASS)
    turning = fem.static_equilibrium(model, rotation=[0, 0, speed * unit])
    for texts in (turning.results.warnings, fem.modes(model, 2, about=turning).warnings):
        assert ["8% of these forces" in text for text in texts if "rotates with" in text] == [True] * told


@pytest.mark.parametrize("part", [-1.0, 0.5, 0.9, 0.99])
def test_a_column_gets_softer_under_its_own_weight_until_it_falls(part):
    """Greenhill (1881): it falls at ρ g A L³ = 7.837 EI; a column that hangs gets stiffer."""
    weight = fem.LoadPattern(gravity=[5.0, 0, 0], held="a")
    reduction = fem.reduce_mesh(slender(1.0, SIDE, SIDE, [16, 1, 1]), ROD, ENDS, modes=10, stiffening=weight)
    falls = 7.8373 * RIGID
    model, _ = clamped(reduction, gravity=[-part * falls / MASS, 0, 0])
    found = fem.modes(model, 1, about=fem.static_equilibrium(model)).omega[0] ** 2
    at_rest = 3.5160**2 * RIGID / MASS
    exact = ritz(lambda x: -part * falls * (1 - x), RIGID, MASS)
    assert found == pytest.approx(exact, abs=2e-3 * at_rest)


# --- loads across -----------------------------------------------------------------------------------------------------

LENGTH, THIN, HIGH = 20.0, 0.05, 1.0  # a strip [m]


@pytest.mark.parametrize(("coupling", "measured"), [("averaged", 1.011), ("rigid", 1.039)])
def test_one_superelement_of_a_strip_tips_over_at_the_load_of_prandtl(coupling, measured):
    """Without a load that stiffens it, 1.44. A clamped end that cannot warp shortens a strip of shells to 1.02-1.04."""
    E = 1e9
    tip = fem.LoadPattern(forces={"b": [0, 0, 1.0]}, held="a")
    mesh = slender(LENGTH, THIN, HIGH, [40, 1, 2])
    reduction = fem.reduce_mesh(mesh, fem.SolidMaterial(E, 0.0, 1.0), ENDS, modes=12, coupling=coupling, stiffening=tip)
    model, body = clamped(reduction)
    model.add(fem.PointForce(body.frame("b"), [0, 0, -1.0]))
    found = fem.buckling(model, 1)
    torsion = E / 2 * HIGH * THIN**3 / 3 * (1 - 0.63 * THIN / HIGH)
    prandtl = 4.0126 * np.sqrt(E * HIGH * THIN**3 / 12 * torsion) / LENGTH**2
    assert found.load_factors[0] / prandtl == pytest.approx(measured, abs=3e-3)
    assert not found.warnings


@pytest.mark.parametrize(
    ("modes", "at", "far", "told"),
    [(4, 0.0, 0.06, True), (4, 1.0, 0.06, True), (6, 0.0, 0.003, True), (12, 0.0, 0.001, False)],
)
def test_a_strip_whose_modes_do_not_twist_is_reported(modes, at, far, told):
    """Of 1.01 of Prandtl's load four modes make 1.38; the warning says about 1.06."""
    E = 1e9
    tip = fem.LoadPattern(forces={"b": [0, 0, 1.0]}, held="a")
    mesh, material = slender(LENGTH, THIN, HIGH, [40, 1, 2]), fem.SolidMaterial(E, 0.0, 1.0)
    many, few = (
        fem.reduce_mesh(mesh, material, ENDS, modes=m, coupling="averaged", stiffening=tip) for m in (30, modes)
    )

    def loaded(reduction, load):
        model, body = clamped(reduction)
        model.add(fem.PointForce(body.frame("b"), [0, 0, -load]))
        return model

    exact = fem.buckling(loaded(many, 1.0), 1)
    assert not exact.warnings
    found = fem.buckling(loaded(few, exact.load_factors[0]), 1, at=0.5 * at)
    assert [("too high" in text, "'part'" in text) for text in found.warnings] == [(True, True)] * told
    if told:
        most = float(found.warnings[0].split("(with more: ")[1].split(" or less)")[0])
        assert 1.0 <= most <= 1.0 + far and found.load_factors[0] > 1.0 + 1.5 * far
    else:
        assert found.load_factors[0] == pytest.approx(1.0, abs=far)
    told = modes == 4
    resting = fem.static_equilibrium(loaded(few, 0.6 * exact.load_factors[0])).results.warnings
    path = fem.load_path(loaded(few, 0.6 * exact.load_factors[0])).results.warnings
    for texts in (resting, path):
        assert ["modes leave out" in text for text in texts if "Reduce" in text] == [True] * told


@pytest.mark.parametrize(("coupling", "low", "high"), [("averaged", 0.96, 1.0), ("rigid", 1.0, 1.02)])
def test_an_angled_frame_buckles_sideways_as_one_of_beams(coupling, low, high):
    """A column of 1 m with an arm of 0.8 m that is pressed down; flat sections 10 × 80 mm. Without loads 1.11-1.17."""
    tall, wide, thin, high_side, E = 1.0, 0.8, 0.01, 0.08, 70e9
    section = fem.Section.rectangle(thin, high_side, E=E, nu=0.0, density=2700.0)
    corner, tip = fem.Node6([0, 0, tall]), fem.Node6([wide, 0, tall])
    model = fem.Model("beams")
    model.add(fem.beam_line(fem.Node6([0, 0, 0], fixed=True), corner, 20, section, orientation=[0, 1, 0]))
    model.add(fem.beam_line(corner, tip, 20, section, orientation=[0, 1, 0]), fem.PointForce(tip, [0, 0, -1.0]))
    wanted = fem.buckling(model, 1).load_factors[0]

    moment, shear = (fem.LoadPattern(forces={"b": f}, held="a") for f in ([0, 0, 0, 0, 1.0, 0], [0, 0, 1.0]))

    def part(length, stiffening):
        mesh = slender(length, thin, high_side, [20, 1, 2])
        material = fem.SolidMaterial(E, 0.0, 2700.0)
        return fem.reduce_mesh(mesh, material, ENDS, modes=14, coupling=coupling, stiffening=stiffening)

    upright = np.array([[0, 0, -1.0], [0, 1, 0], [1, 0, 0]])
    column = fem.Superelement(part(tall, [("a", "b"), moment]), rotation=upright, name="column")
    arm = fem.Superelement(part(wide, shear), position=[0, 0, tall], name="arm")
    model = fem.Model("frame")
    model.add(column, arm, fem.PointForce(arm.frame("b"), [0, 0, -1.0]))
    model.add(fem.Fixed.at(model.ground, column.frame("a"), [0, 0, 0]))
    model.add(fem.Fixed.at(column.frame("b"), arm.frame("a"), [0, 0, tall]))
    found = fem.buckling(model, 1)
    assert low < found.load_factors[0] / wanted < high
    assert not found.warnings
