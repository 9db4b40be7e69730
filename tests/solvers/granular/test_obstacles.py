"""Contact groups and their obstacles: every shape as with the pairwise solver, closed forms, obstacles that move."""

import numpy as np
import pytest
from grain_piles import swept

import fem_mbs as fem
from fem_mbs.solvers.granular import grains

H, G, R = 2e-3, 9.81, 0.05
METHODS = {
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
    "nsga": lambda **options: fem.DecoupledNSGA(**options),
}
PARABOLA = np.linspace(-1, 1, 21)
LYING = [0, np.pi / 2, 0]
# type, place and rotation of its frame, centres of spheres, sizes
SHAPES = {
    "box": (fem.SphereOnBox, ([0, 0, -0.1], [0.1, 0.05, 0]), [[0, 0, 0.06], [0.24, 0, 0.06]],
            {"size": [0.6, 0.4, 0.2]}),
    "rectangle": (fem.SphereOnRectangle, ([0, 0, 0], [0.1, 0.05, 0]), [[0, 0, 0.06], [0.2, 0, 0.06]],
                  {"size": [0.6, 0.4]}),
    "in cylinder": (fem.SphereInCylinder, ([0, 0, 0], LYING), [[0, 0.1, -0.3], [0.11, 0.18, -0.22]],
                    {"radius_cylinder": 0.4}),
    "on cylinder": (fem.SphereOnCylinder, ([0, 0, 0], LYING), [[0, 0.02, 0.46], [0.2, -0.01, 0.48]],
                    {"radius_cylinder": 0.4, "length": 1.0}),
    "in sphere": (fem.SphereInSphere, ([0, 0, 0],), [[0, 0.1, -0.3], [0.11, 0.18, -0.2]], {"radius_outer": 0.4}),
    "groove": (fem.SphereInGroove, ([0, 0, 0], [np.pi / 2, 0, 0]), [[0, 0, -0.535], [0.2, 0, -0.48]],
               {"radius_groove": 0.06, "radius_circle": 0.53}),
    "profile": (fem.PointOnCurve, ([0, 0, 0], [np.pi / 2, 0, 0]), [[0, 0, 0.06], [0.3, 0, 0.2]],
                {"points": np.stack([PARABOLA, PARABOLA**2], axis=1)}),
    "wire": (fem.SphereOnWire, ([0, 0, 0],), [[0, 0, 0.08], [0.3, 0.001, 0.2]],
             {"points": np.stack([PARABOLA, 0.2 * PARABOLA**2, PARABOLA**2], axis=1), "radius_wire": 0.02}),
    "surface": (fem.PointOnSurface, ([0, 0, 0],), [[0, 0, 0.06], [0.3, 0.01, 0.2]],
                {"height": lambda x, y: 0.5 * x * x + 0.3 * y * y, "x": [-1, 1], "y": [-1, 1]}),
}  # fmt: skip
CURVED = ("in cylinder", "in sphere", "groove", "profile", "surface")  # spheres run into what they roll in


def spheres(shape, *, friction=0.0, motion=lambda k: {}, touching=False):
    """A model of a few spheres above one obstacle on the ground, or on it."""
    kind, frame, places, sizes = SHAPES[shape]
    if touching:
        system = spheres(shape).compile()
        system.search_pairs(system.initial.x, system.initial.R)
        system.gaps(system.initial)  # leaves what contacts are in `contact_data`
        data = system.searches[0].groups[1].contact_data
        assert len(data["gap"]) == len(places)
        places = np.array(places) - data["gap"][:, None] * data["normal"]
    model = fem.Model(shape, gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=friction, skin=1.0, name="balls")
    for k, place in enumerate(places):
        group.sphere(model.add(fem.RigidBody.sphere(1.0, R, position=place, name=f"b{k}", **motion(k))), R)
    group.obstacle(kind, model.ground.frame(*frame), **sizes)
    model.add(group)
    return model


def both_ways(model, steps, h=H):
    """Runs with the Gauss-Seidel and the pairwise solver."""
    a, b = (
        fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-11, contact_solver=way).run(model, steps * h, h)
        for way in ("auto", "problem")
    )
    assert swept(a) and not swept(b)
    return a, b


@pytest.mark.parametrize("shape", SHAPES)
def test_spheres_move_on_every_shape_as_they_do_pairwise(shape, monkeypatch):
    monkeypatch.setattr(grains, "BAND", 0.0)  # the only thing that the law has in addition
    a, b = both_ways(spheres(shape), 100)
    assert a.pair_count.max() >= 1
    # curved walls correct the overlap h² v²/R of a straight step at once, the pairwise solver in the next step
    accuracy = 2e-5 if shape in CURVED else 1e-12
    assert a.rows([100])["position"] == pytest.approx(b.rows([100])["position"], abs=accuracy)
    assert np.abs(a.rows([100])["velocity"] - b.rows([100])["velocity"])[..., :3].max() < (
        1e-2 if shape in CURVED else 1e-9
    )


@pytest.mark.parametrize("friction", [0.1, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_impulses_of_every_shape_are_those_pairwise(shape, friction, monkeypatch):
    """One short step of spheres that touch and have any velocities: normals, points, friction."""
    monkeypatch.setattr(grains, "BAND", 0.0)
    rng = np.random.default_rng(1)
    starts = [
        {"velocity": rng.normal(size=3) - [0, 0, 2], "angular_velocity": 20 * rng.normal(size=3)} for _ in range(2)
    ]
    model = spheres(shape, friction=friction, motion=lambda k: starts[k], touching=True)
    a, b = both_ways(model, 1, h=1e-7)
    assert a.pair_count[1] == b.pair_count[1] >= 1
    mine, theirs = (np.argsort(r.pairs(1).sphere) for r in (a, b))
    for name in ("impulse", "normal", "point"):
        x, y = getattr(a.pairs(1), name)[mine], getattr(b.pairs(1), name)[theirs]
        assert x == pytest.approx(y, abs=5e-5), name  # normals there are those of the end of the step: h ω, and less


def test_a_ball_rolls_in_a_cylinder_with_the_period_of_the_closed_form():
    """ω² = 5 g/(7 (R − r)) for a solid ball that rolls without slip; fallen through half a period."""
    model, radius, start = fem.Model("valley", gravity=[0, 0, -G]), 0.5, 0.05
    group = fem.ContactGroup(friction=0.5, name="balls")
    place = (radius - R) * np.array([0.0, np.sin(start), -np.cos(start)])
    group.sphere(model.add(fem.RigidBody.sphere(1.0, R, position=place, name="ball")), R)
    group.obstacle(fem.SphereInCylinder, model.ground.frame(rotation=LYING), radius_cylinder=radius)
    model.add(group)
    period = 2 * np.pi / np.sqrt(5 * G / (7 * (radius - R))) * (1 + start**2 / 16)
    for name in METHODS:
        result = METHODS[name](contact_tolerance=1e-8).run(model, 2.6 * period, 1e-3)
        assert swept(result)
        y = result["ball"].position[:, 1]
        down = np.flatnonzero((y[:-1] > 0) & (y[1:] <= 0))
        crossings = result.t[down] + 1e-3 * y[down] / (y[down] - y[down + 1])
        assert np.diff(crossings) == pytest.approx(period, rel=2e-3)
        distance = np.linalg.norm(result["ball"].position[:, 1:], axis=1)
        assert distance.max() < radius - R + 1e-6 * 2 * R * 1.01
        assert np.diff(result.energy.total).max() < 1e-3 * result.energy.kinetic.max()


def drum(count, *, radius=0.3, speed=2.0, friction=0.4, r=R, seed=0):
    """Balls in a drum that a driver turns about the y axis."""
    model, rng = fem.Model("drum", gravity=[0, 0, -G]), np.random.default_rng(seed)
    shell = model.add(fem.RigidBody(5.0, 1.0, rotation=[np.pi / 2, 0, 0], angular_velocity=[0, -speed, 0], name="drum"))
    model.add(
        fem.RevoluteDriver.at(model.ground, shell, [0, 0, 0], [0, 1, 0], angle=lambda t: -speed * t, name="drive")
    )
    model.add(fem.Revolute.at(model.ground, shell, [0, 0, 0], [0, 1, 0], name="axle"))
    group = fem.ContactGroup(friction=friction, name="balls")
    pitch, across = 2.2 * r, int(1.2 * radius / (2.2 * r))
    for k in range(count):
        cell = np.array([k % across - 0.5 * (across - 1), (k // across) % 4, k // across // 4])
        place = pitch * cell + [0, 0, -0.5 * radius] + rng.uniform(-0.02, 0.02, 3) * r
        group.sphere(model.add(fem.RigidBody.sphere(1.0, r, position=place, name=f"b{k}")), r)
    group.obstacle(fem.SphereInCylinder, shell, radius_cylinder=radius)
    model.add(group)
    return model


@pytest.mark.parametrize("name", METHODS)
def test_a_driven_drum_takes_balls_along_as_pairwise(name):
    a, b = (
        METHODS[name](contact_solver=way, contact_tolerance=1e-9).run(drum(2), 0.3, 1e-3) for way in ("auto", "problem")
    )
    assert swept(a) and not swept(b)
    for ball in ("b0", "b1"):
        assert a[ball].position[-1] == pytest.approx(b[ball].position[-1], abs=2e-3)
        assert np.abs(a[ball].angular_velocity[-1]).max() > 1.0
    torque = [r["drive"].moment[250:].mean(axis=0) for r in (a, b)]
    assert torque[0] == pytest.approx(torque[1], rel=0.02, abs=1e-3)


@pytest.mark.parametrize("acceleration", [2.0, -2.0])
@pytest.mark.parametrize("name", [*METHODS, "moreau"])
def test_a_ball_on_a_lift_moves_with_it_and_weighs_what_it_should(name, acceleration):
    model = fem.Model("lift", gravity=[0, 0, -G])
    plate = model.add(fem.RigidBody(5.0, 1.0, name="plate"))
    guide = model.add(fem.Prismatic.at(model.ground, plate, [0, 0, 0], [0, 0, 1], name="guide"))
    way = lambda t: 0.5 * acceleration * t**2  # noqa: E731
    model.add(fem.LinearDriver(guide.frame_P, guide.frame_Q, distance=way, name="motor"))
    group = fem.ContactGroup(friction=0.3, name="contact")
    group.sphere(model.add(fem.RigidBody.sphere(1.0, R, position=[0, 0, R], name="ball")), R)
    group.obstacle(fem.SphereOnPlane, plate)
    model.add(group)
    method = METHODS.get(name, lambda **options: fem.MoreauJean(**options))
    result = method(contact_tolerance=1e-9).run(model, 0.2, 1e-3)
    assert swept(result)
    above = result["ball"].position[:, 2] - result["plate"].position[:, 2]
    assert above == pytest.approx(R, abs=1e-9 if name == "cone" else 2e-6)
    forces = np.array([result.pairs(k).impulse[:, 2].sum() for k in range(10, 200)]) / 1e-3
    assert forces == pytest.approx(G + acceleration, rel=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_a_driven_plate_meets_a_ball_at_rest(name):
    """The ball does not move: nothing but the motion of the plate shows that they are about to meet."""
    model = fem.Model("piston")
    plate = model.add(fem.RigidBody(1.0, 1.0, rotation=LYING, position=[-1, 0, 0], velocity=[2.0, 0, 0], name="plate"))
    model.add(fem.Prismatic.at(model.ground, plate, [0, 0, 0], [1, 0, 0]))
    model.add(fem.Prescribed(plate, x=lambda t: 2.0 * t - 1.0))
    group = fem.ContactGroup(name="contact")
    group.sphere(model.add(fem.RigidBody.sphere(1.0, R, position=[0, 0, 0], name="ball")), R)
    group.obstacle(fem.SphereOnPlane, plate)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.6, 1e-3)
    assert swept(result)
    assert result["ball"].position[-1] == pytest.approx([0.2 + R, 0, 0], abs=1e-5)
    assert result["ball"].velocity[-1] == pytest.approx([2.0, 0, 0], abs=1e-9)


def test_many_obstacles_are_found_by_cells_as_one_by_one():
    """Spheres fall through a grid of pegs; every pair that touches is one of those that a search over all finds."""
    model = fem.Model("pegs", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.2, name="balls")
    rng, pegs = np.random.default_rng(2), []
    for k in range(60):
        place = np.array([0.3 * (k % 6), 0.15 * (k // 6 % 2), -0.3 * (k // 12)])
        pegs.append(place)
        frame = model.ground.frame(place, rotation=[np.pi / 2, 0, 0])
        group.obstacle(fem.SphereOnCylinder, frame, radius_cylinder=0.04, length=0.12)
    for k in range(80):
        place = [0.15 * (k % 10), 0.11 * (k // 10 % 2), 0.2 + 0.12 * (k // 20)] + rng.uniform(-0.004, 0.004, 3)
        group.sphere(model.add(fem.RigidBody.sphere(0.5, R, position=place, name=f"b{k}")), R)
    model.add(group)
    result = fem.ConeComplementarity(relaxed=False).run(model, 0.6, H)
    assert swept(result) and sum((result.pairs(k).type == 1).sum() for k in range(len(result.t))) > 300
    pegs = np.array(pegs)
    for k in range(len(result.t)):
        centers = result.rows([k])["position"][0, 1:]
        apart = centers[:, None] - pegs
        over = np.maximum(np.abs(apart[..., 1]) - 0.06, 0.0)  # beyond the ends
        out = np.linalg.norm(apart[..., [0, 2]], axis=-1) - 0.04
        assert np.hypot(np.maximum(out, 0), over).min() - R > -1.01e-6 * 2 * R
