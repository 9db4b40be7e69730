"""A mechanism in minimal coordinates: scalar nodes, and an element of the user with their masses and forces."""

import numpy as np
import pytest
from every_stepper import METHODS, label
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.element.base import Inertia
from fem_mbs.jit import kernel
from fem_mbs.verify import check_element

G = 9.81
PARAMETERS = np.dtype([("m", "f8"), ("L", "f8")])


@kernel
def inertia(p, x, v, a, gravity, Ma, f):
    """Two points on rods of one length, angles from the vertical: the double pendulum."""
    s, c = np.sin(x[0, 0] - x[1, 0]), np.cos(x[0, 0] - x[1, 0])
    J, w1, w2 = p.m * p.L**2, v[0], v[6]
    Ma[0] += J * (2.0 * a[0] + c * a[6])
    Ma[6] += J * (c * a[0] + a[6])
    weight = -p.m * gravity[2] * p.L
    f[0] -= J * s * w2 * w2 + 2.0 * weight * np.sin(x[0, 0])
    f[6] += J * s * w1 * w1 - weight * np.sin(x[1, 0])


@kernel
def inertia_tangent(p, x, v, a, gravity, M, C, K, Ka):
    """Mass matrix, K = −∂f/∂q, C = −∂f/∂v and Ka = ∂(M a)/∂q."""
    s, c = np.sin(x[0, 0] - x[1, 0]), np.cos(x[0, 0] - x[1, 0])
    J, w1, w2 = p.m * p.L**2, v[0], v[6]
    M[0, 0] += 2.0 * J
    M[0, 6] += J * c
    M[6, 0] += J * c
    M[6, 6] += J
    for k in range(2):
        sign = 1.0 - 2.0 * k
        Ka[0, 6 * k] -= sign * J * s * a[6]
        Ka[6, 6 * k] -= sign * J * s * a[0]
        K[0, 6 * k] += sign * J * c * w2 * w2
        K[6, 6 * k] -= sign * J * c * w1 * w1
    weight = -p.m * gravity[2] * p.L
    K[0, 0] += 2.0 * weight * np.cos(x[0, 0])
    K[6, 6] += weight * np.cos(x[1, 0])
    C[0, 6] += 2.0 * J * s * w2
    C[6, 0] -= 2.0 * J * s * w1


@kernel
def energy(p, x, gravity):
    """Potential energy [J]."""
    return p.m * gravity[2] * p.L * (2.0 * np.cos(x[0, 0]) + np.cos(x[1, 0]))


class TwoAngles(Inertia):
    """Double pendulum with its angles as coordinates."""

    parameters = PARAMETERS
    kernels = {"inertia": inertia, "inertia_tangent": inertia_tangent, "energy": energy}
    invariant = False  # angles are no places

    def __init__(self, first, second, mass=1.0, length=0.5, name=None):
        super().__init__((first, second), name=name)
        self.record = (mass, length)


def model():
    built = fem.Model("double pendulum", gravity=[0, 0, -G])
    first, second = built.add(fem.Node1(1.0, name="first")), built.add(fem.Node1(2.0, velocity=1.0, name="second"))
    built.add(TwoAngles(first, second, name="pendulum"))
    return built


def test_its_tangents_are_derivatives():
    report = check_element(TwoAngles(fem.Node1(0.3), fem.Node1(1.1)), configurations=3)
    assert report.ok, report


@pytest.mark.parametrize("method", METHODS, ids=label)
def test_it_moves_as_its_equations_say(method):
    def rates(_, y):
        s, c = np.sin(y[0] - y[1]), np.cos(y[0] - y[1])
        right = [-s * y[3] ** 2 - 2 * G / 0.5 * np.sin(y[0]), s * y[2] ** 2 - G / 0.5 * np.sin(y[1])]
        return [*y[2:], *np.linalg.solve([[2.0, c], [c, 1.0]], right)]

    exact = solve_ivp(rates, (0, 0.5), [1.0, 2.0, 0.0, 1.0], rtol=1e-10, atol=1e-12).y[:2, -1]
    errors = []
    for h in (2e-3, 1e-3):
        result = method.run(model().compile(), 0.5, h, progress=False)
        errors.append(np.abs([result[name].position[-1, 0] for name in ("first", "second")] - exact).max())
    np.testing.assert_allclose(
        result.energy.total, result.energy.total[0], atol=0.5 if "theta=1" in label(method) else 0.2
    )
    first_order = "theta=1" in label(method) or "Cone" in label(method)
    assert errors[1] < (0.6 if first_order else 0.3) * errors[0] + 1e-9, errors
    assert errors[1] < (3e-2 if first_order else 2e-4), errors
