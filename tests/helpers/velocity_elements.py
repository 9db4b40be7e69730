"""User elements with rows of velocities: a motor that holds a rate, and a blade that is turned and pushed."""

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.element.base import Constraint
from fem_mbs.jit import kernel


@kernel
def rate_constraint(G):
    G[0, 5] += 1.0


@kernel
def rate_hessian(H):
    pass


@kernel
def rate_rheonomic(s, gt, gtt):
    gt[0] -= s[0, 0]
    gtt[0] -= s[0, 1]


class RateMotor(Constraint):
    """The angular velocity of a body about its own z axis is a function of time: γ = Ω_3 − ω(t)."""

    rows = velocity_rows = 1
    kernels = {"constraint": rate_constraint, "hessian": rate_hessian, "rheonomic": rate_rheonomic}

    def __init__(self, node, rate, name=None):
        super().__init__((self.as_frame("node", node).node,), name=name, signals=[rate])


@kernel
def blade_constraint(s, G):
    G[0, 0] += np.cos(s[0, 0])
    G[0, 1] += np.sin(s[0, 0])


@kernel
def blade_hessian(H):
    pass


@kernel
def blade_rheonomic(x_A, v_A, s, gt, gtt, rate):
    gt[0] += s[1, 0] * x_A[0]
    rate[0, 0] += s[1, 0]
    turned = s[0, 1] * (np.cos(s[0, 0]) * v_A[1] - np.sin(s[0, 0]) * v_A[0])
    gtt[0] += s[1, 1] * x_A[0] + turned - s[1, 0] * v_A[0]


class DrivenBlade(Constraint):
    """γ = u(t)·ẋ + σ(t) x, u = (cos φ(t), sin φ(t)): the gradient depends on time, ∂γ/∂t on time and on the place."""

    rows = velocity_rows = 1
    kernels = {"constraint": blade_constraint, "hessian": blade_hessian, "rheonomic": blade_rheonomic}
    invariant = False

    def __init__(self, node, angle, pull, name=None):
        super().__init__((self.as_frame("node", node).node,), name=name, signals=[angle, pull])


def angle(t):
    return 0.3 + 2.0 * np.sin(t)


def pull(t):
    return 0.4 * np.cos(3 * t)


def driven_point():
    """A point mass under a force that `DrivenBlade` holds."""
    model = fem.Model("driven blade", gravity=[0, -3.0, 0])
    x, y = 0.5, -0.2
    along = np.array([-np.sin(angle(0)), np.cos(angle(0))])
    across = -pull(0) * x * np.array([np.cos(angle(0)), np.sin(angle(0))])
    point = fem.PointMass(2.0, position=[x, y, 0], velocity=[*(0.7 * along + across), 0], name="point")
    model.add(point, DrivenBlade(point, angle, pull, name="blade"))
    return model


def driven_point_reference(t_end):
    """Place and velocity (4,) by m ẍ = f + λ u, λ from γ̇ = 0."""

    def rates(t, y):
        u = np.array([np.cos(angle(t)), np.sin(angle(t))])
        du = 2.0 * np.cos(t) * np.array([-u[1], u[0]])
        free = np.array([0.0, -3.0])
        change = du @ y[2:] + pull(t) * y[2] - 1.2 * np.sin(3 * t) * y[0]
        return np.concatenate([y[2:], free - (u @ free + change) * u])

    node = driven_point()["point"].node
    start = np.concatenate([node.position[:2], node.velocity[:2]])
    return solve_ivp(rates, (0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
