"""Capsules and boxes next to blocks, plates, rollers, tubes and bowls: gaps against a quadratic program, motion against
closed forms, single contact elements, invariants.
"""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation
from stones import CUBE
from test_group_shapes import RADII, SIZES, listed, put
from test_shapes_in_motion import H

import fem_mbs as fem
from fem_mbs.solvers.stepping.engine import Engine

SOLIDS = {  # contact, its geometry, core, radius
    "block": (fem.SphereOnBox, {"size": [0.3, 0.5, 0.2], "rounding": 0.02}, [0.13, 0.23, 0.08], 0.02),
    "sharp block": (fem.SphereOnBox, {"size": [0.3, 0.5, 0.2]}, [0.15, 0.25, 0.1], 0.0),
    "plate": (fem.SphereOnRectangle, {"size": [0.3, 0.5]}, [0.15, 0.25, 0.0], 0.0),
    "roller": (fem.SphereOnCylinder, {"radius_cylinder": 0.1}, [0.0, 0.0, np.inf], 0.1),
}
HOLLOWS = {
    "tube": (fem.SphereInCylinder, {"radius_cylinder": 0.8}),
    "bowl": (fem.SphereInSphere, {"radius_outer": 0.8}),
}


def one(shape, obstacle, pose, node=None):
    """A shape of mass 1 at the origin, and an obstacle at a pose (place, rotation)."""
    model, group = fem.Model("one"), fem.ContactGroup(skin=3.0, name="group")
    put(group, shape, model.add(fem.RigidBody(1.0, 0.1, name=shape)))
    if shape == "sphere":
        put(group, "capsule", model.add(fem.RigidBody(1.0, 0.1, position=[50.0, 0, 0])))
    kind, geometry, *_ = (SOLIDS | HOLLOWS)[obstacle]
    group.obstacle(kind, model.ground.frame(*pose), **geometry)
    return model.add(group) and model


def distance(half, pose, other):
    """Distance of a core about the origin from another one at a pose, by a quadratic program with bounds."""
    A = np.hstack([np.eye(3)[:, half > 0], -pose[1][:, other > 0]])
    bound = np.concatenate([half[half > 0], other[other > 0]])
    return np.sqrt(2 * lsq_linear(A, pose[0], (-bound, bound), method="bvls", tol=1e-15).cost)


def gaps_of(model):
    return listed(Engine(fem.ConeComplementarity(), model.compile(), 1e-3, 1, False).grains)


@pytest.mark.parametrize("count", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("obstacle", SOLIDS)
@pytest.mark.parametrize("shape", SIZES)
def test_the_least_gap_of_the_features_is_the_distance_from_a_solid(shape, obstacle, count):
    rng, crossed, compared = np.random.default_rng(5), 0, 0
    core, radius = np.array(SOLIDS[obstacle][2]), SOLIDS[obstacle][3]
    while compared < count:
        apart = rng.standard_normal(3)
        pose = rng.uniform(0.2, 0.6) * apart / np.linalg.norm(apart), Rotation.random(random_state=rng).as_matrix()
        gap = distance(SIZES[shape], pose, core) - RADII[shape] - radius
        if gap < 1e-3:
            continue
        gaps, edges = gaps_of(one(shape, obstacle, pose))
        assert gaps.min() == pytest.approx(gap, abs=1e-12)
        compared, crossed = compared + 1, crossed + bool(edges[np.argmin(gaps)])
    assert shape == "sphere" or crossed > count // 13  # edges matter


@pytest.mark.parametrize("obstacle", HOLLOWS)
@pytest.mark.parametrize("shape", ["capsule", "box"])
def test_in_a_hollow_corners_are_nearer_to_the_wall_than_all_other_points(shape, obstacle):
    rng = np.random.default_rng(6)
    across = 2 if obstacle == "tube" else 3
    for _ in range(10):
        pose = rng.uniform(-0.3, 0.3, 3), Rotation.random(random_state=rng).as_matrix()
        inside = rng.uniform(-1, 1, (20_000, 3)) * SIZES[shape]
        corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * SIZES[shape]
        far = [np.linalg.norm(((points - pose[0]) @ pose[1])[:, :across], axis=1).max() for points in (inside, corners)]
        gap, _ = gaps_of(one(shape, obstacle, pose))
        assert gap.min() == pytest.approx(0.8 - RADII[shape] - far[1], abs=1e-12) and far[0] <= far[1] + 1e-15


@pytest.mark.parametrize("solid", ["obstacle", "shape", "capsule"])
def test_a_box_that_begins_in_a_ridge_is_rejected_by_name(solid):
    """Edges that have passed each other, no corner is inside: gaps of the features are those of shapes apart."""
    model, group = fem.Model(), fem.ContactGroup(name="group")
    turn = Rotation.from_euler("x", 0.25 * np.pi).as_matrix()
    body = fem.RigidBody.box(1.0, [1.0, 0.1, 0.1], position=[0, 0, 0.13], rotation=turn, name="beam")
    group.box(model.add(body), [1.0, 0.1, 0.1], 1e-3)
    edge = Rotation.from_euler("y", 0.25 * np.pi).as_matrix()
    place = model.ground.frame([0, 0, 0], edge)
    if solid == "obstacle":
        group.obstacle(fem.SphereOnBox, place, size=[0.1, 1.0, 0.1], name="ridge")
    elif solid == "shape":
        group.box(place, [0.1, 1.0, 0.1], 1e-3)
    else:
        group.capsule(model.ground.frame([0, 0, 0.08]), 1e-3, 1.0, axis=[0, 1, 0])
    model.add(group)
    name = {"obstacle": "SphereOnBox ridge", "shape": "box 1", "capsule": "capsule 1"}[solid]
    with pytest.raises(fem.ModelError, match=rf"'beam' - {name}.*penetration"):
        fem.DecoupledNSGA().run(model, H, H)


@pytest.mark.parametrize("kind", ["box", "hull"])
def test_a_plate_at_rest_on_the_corners_of_a_block_takes_a_sweep_per_step(kind):
    """Impulses go on from step to step, each with its own corner of the block."""
    model, group = fem.Model("plate", gravity=[0, 0, -9.81]), fem.ContactGroup(friction=0.3, name="group")
    size = np.array([1.0, 1.0, 0.1])
    plate = model.add(fem.RigidBody.box(1.0, size, position=[0.06, 0.03, 0.15], name="plate"))
    if kind == "box":
        group.box(plate, size, 2e-3)
    else:
        group.hull(plate, size * CUBE, 2e-3)
    group.obstacle(fem.SphereOnBox, model.ground, size=[0.3, 0.2, 0.2])
    model.add(group)
    result = fem.DecoupledNSGA(contact_tolerance=1e-6).run(model, 0.2, 1e-3)
    assert result.pair_count[-1] == 4
    assert result["plate"].position[-1] == pytest.approx([0.06, 0.03, 0.15], abs=1e-9)
    assert result.statistics["contact_sweeps"] < 1.2 * 200
