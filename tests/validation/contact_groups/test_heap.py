"""How examples/heap.py measures: heaps of a known slope, forces of a known distribution."""

import heap
import numpy as np
import pytest


def cone(degrees, top=8.0, seed=3):
    """Spheres anywhere under the surface of a cone, so many radii high, and some that touch it; centres and radii."""
    r, slope, rng = heap.radius, np.tan(np.radians(degrees)), np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (20_000, 3)) * r * top / slope
    ceiling = top * r - slope * np.hypot(x[:, 0], x[:, 1]) - r / np.cos(np.radians(degrees))  # of centres
    x[:, 2] = np.where(rng.uniform(size=len(x)) < 0.5, ceiling, ceiling * rng.uniform(size=len(x)))
    inside = ceiling > r
    return x[inside], np.full(inside.sum(), r)


@pytest.mark.parametrize("degrees", [12, 20, 30])
def test_the_angle_of_a_smooth_cone_is_its_slope(degrees):
    far = np.arange(0.5, 40.0) * heap.radius
    slope = np.tan(np.radians(degrees))
    height = np.maximum(0.1 - slope * far, 0.0)
    assert heap.line(far, height) == pytest.approx((slope, 0.1), rel=1e-12)


@pytest.mark.parametrize("degrees", [12, 20, 30])
def test_the_angle_of_spheres_below_a_cone_is_that_of_the_cone(degrees):
    # the surface has dents between spheres: 0.0 to 0.3° measured for five seeds
    assert heap.angle_of(*cone(degrees)) == pytest.approx(degrees, abs=0.5)


def test_a_single_sphere_has_the_surface_of_a_sphere():
    _, height = heap.surface(np.array([[0.3, -0.2, heap.radius]]), np.array([heap.radius]))
    assert height[0] == pytest.approx(heap.radius * (1 + np.sqrt(0.75)))  # half a radius from the axis
    assert not height[1:].any()  # from there on the floor


@pytest.mark.parametrize("beta", [1.0, 1.5, 2.2])
def test_the_decay_of_exponential_forces_is_found(beta):
    excess = np.random.default_rng(7).exponential(1 / beta, 40_000)
    below = np.random.default_rng(8).uniform(0, 1, 20_000)  # counts for nothing
    assert heap.decay(np.concatenate([1 + excess, below])) == pytest.approx(beta, rel=0.02)  # 4/√n
