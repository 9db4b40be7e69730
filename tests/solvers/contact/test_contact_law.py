"""Friction cones of one contact, and their place in the two corrections: tangents against differences."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.solvers.contact import law
from fem_mbs.solvers.contact.position_rows import drilling_increment
from fem_mbs.system import assembly, records
from fem_mbs.system.contacts import contacts, contacts_begin_step, gradient_times
from fem_mbs.system.records import POSITION, VELOCITY

K, P, P_N, MU, ND = 1.7, 0.6, 0.9, 0.4, 12  # any numbers


def difference(function, z, step):
    """Central differences of a vector function, column by column."""
    columns = [function(z + step * e) - function(z - step * e) for e in np.eye(len(z))]
    return np.array(columns).T / (2 * step)


# --- one cone -----------------------------------------------------------------------------------------------------


class Cone:
    """A contact whose gaps are linear in q: unknowns q (12,), λ_N, λ_T (n,), residual as in the sub-problems."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.n, self.G_N, self.B = n, rng.normal(size=ND), rng.normal(size=(n, ND))
        self.z = rng.normal(size=ND + 1 + n)
        self.z[ND] = 10.0  # closed

    def parts(self, z):
        g_N, g_T, lam_T = self.G_N @ z[:ND], self.B @ z[:ND], np.ascontiguousarray(z[ND + 1 :])
        return K * z[ND] - P_N * g_N, g_N, g_T, lam_T

    def status(self, z):
        xi_N, _, g_T, lam_T = self.parts(z)
        return law.direction(K, P, MU, xi_N, lam_T, g_T, self.n, np.empty(3), np.empty(3))[0]

    def residual(self, z):
        xi_N, g_N, g_T, lam_T = self.parts(z)
        force, row = np.empty(3), np.empty(3)
        law.cone_forces(K, P, MU, xi_N, lam_T, g_T, self.n, force, row)
        dynamic = -self.G_N * xi_N - self.B.T @ force[: self.n]
        return np.concatenate([dynamic, [-K * g_N], K * row[: self.n]])

    def tangent(self, z):
        xi_N, _, g_T, lam_T = self.parts(z)
        S = np.zeros((len(z), len(z)))
        law.normal_tangent(S, ND, ND, self.G_N, K, P_N)
        law.cone_tangent(S, ND, ND, ND + 1, self.G_N, self.B, self.n, K, P_N, P, MU, xi_N, lam_T, g_T)
        return S


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("status", [law.STICK, law.SLIP])
def test_tangent_of_a_cone_is_the_difference_of_its_forces_and_rows(n, status):
    reached = 0
    for seed in range(10):
        cone = Cone(n, seed)
        if status == law.STICK:
            cone.z[:ND] *= 0.1
            cone.z[ND + 1 :] *= 0.1
        else:
            cone.z[ND + 1 :] *= 10.0
        if cone.status(cone.z) == status:
            reached += 1
            # round-off of central differences: 1e-16/1e-5 times the largest entry, about 1e2
            assert np.abs(cone.tangent(cone.z) - difference(cone.residual, cone.z, 1e-5)).max() < 1e-8, f"seed {seed}"
    assert reached > 2


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_sliding_cone_gives_friction_of_full_size_against_the_slip(n):
    rng = np.random.default_rng(n)
    g = rng.normal(size=n)
    lam, force, row = -MU * 3.0 / K * g / np.linalg.norm(g), np.empty(3), np.empty(3)
    assert law.cone_forces(K, P, MU, 3.0, lam, g, n, force, row) == law.SLIP
    assert force[:n] == pytest.approx(K * lam, abs=1e-14) and row[:n] == pytest.approx(0.0, abs=1e-14)


# --- in the corrections -------------------------------------------------------------------------------------------


def turning_pair(h, **options):
    """Sphere on a plate, both free, in contact, turning and sliding; the engine after one step."""
    model = fem.Model("pair", gravity=[0, 0, -9.81])
    rng = np.random.default_rng(3)
    plate = model.add(fem.RigidBody(2.0, [0.2, 0.3, 0.4], angular_velocity=rng.normal(size=3), name="plate"))
    centre = np.array([0.03, -0.02, 0.1])
    ball = fem.RigidBody(
        1.0, [0.004, 0.005, 0.006], position=centre, rotation=rng.normal(size=3), velocity=[0.3, 0.2, -0.5],
        angular_velocity=[1, 2, 9], name="ball",
    )  # fmt: skip
    model.add(ball)
    disc = {"friction": 0.3, "rolling_resistance": 0.002, "radius_contensou": 0.02, "tangential_restitution": 0.4}
    model.add(fem.SphereOnPlane(ball, plate.frame(), radius=0.1, name="contact", **disc))
    system = model.compile()
    engine = fem.DecoupledNSGA(epsilon=0.0, reuse=False, **options).prepare(system, h)
    records = engine.make_records(1)
    done, _, error = engine.march.advance(np.array([h]), records)
    assert done == 1, error
    return system, engine


def assembled(engine, problem):
    """Assemble the matrix of a problem, as Newton's iteration does."""
    engine.run[0]["number"] = engine.problems[problem][0]["number"]
    engine.call(problem, "matrix")
    engine.call(problem, "contacts")


def moved(engine, name, values):
    """Set the free components of an array (N, 6) of the engine."""
    engine.arrays[name].ravel()[engine.system.dof >= 0] = values


def velocity_residual(engine, z):
    a, k = engine.arrays, float(engine.run[0]["kv"])
    moved(engine, "W", z[:12])
    a["cLam"][0] = z[12:]
    engine.call("velocity", "residual")
    return np.concatenate([engine.system.reduced(a["r1"]), k * a["rows_c"][0]])


@pytest.mark.parametrize("status", [law.STICK, law.SLIP])
def test_matrix_of_the_velocity_correction_is_the_difference_of_its_residual(status):
    system, engine = turning_pair(1e-3)
    a, rng = engine.arrays, np.random.default_rng(0)
    assert engine.matrices.layouts[VELOCITY].n == 12 + 6
    z = np.concatenate([0.01 * rng.normal(size=12), [5.0], 3.0 * rng.normal(size=5)])
    if status == law.STICK:  # nearly at rest
        a["Vminus"][:] = 0.0
        z[:12] -= system.reduced(a["Vs"])
        z[13:] *= 0.05
    a["candidate"][:] = 1
    velocity_residual(engine, z)
    assert a["status"][0] == status
    assembled(engine, "velocity")
    S = engine.matrices.layouts[VELOCITY].matrix().toarray()
    D = difference(lambda y: velocity_residual(engine, y), z, 1e-6)
    # round-off: numbers of order 10, 1e-16 of them over 1e-6
    assert np.abs(S - D).max() < 1e-7


@pytest.mark.parametrize("status", [law.STICK, law.SLIP])
def test_matrix_of_the_position_correction_is_the_difference_of_its_residual(status):
    system, engine = turning_pair(1e-3)
    a, k = engine.arrays, float(engine.run[0]["kp"])
    assert engine.matrices.layouts[POSITION].n == 12 + 4

    def residual(z):
        moved(engine, "U", z[:12])
        a["cnu"][0, [0, 1, 2, 5]] = z[12:]
        engine.call("position", "residual")
        return np.concatenate([system.reduced(a["r1"]), k * a["rows_c"][0, [0, 1, 2, 5]]])

    z = np.concatenate([np.zeros(12), [1.0], (0.1 if status == law.STICK else 1.0) * np.array([0.3, -0.2, 0.4])])
    residual(z)
    assert a["status"][0] == status
    assembled(engine, "position")
    S = engine.matrices.layouts[POSITION].matrix().toarray()
    D = difference(residual, z, 1e-6)
    # the gradient of drilling, c = 0.012, leaves out T⁻¹(Δq) and the turning of the normal: ½ c Δq = 5e-5, Δq = 9e-3
    assert np.abs(S[12:] - D[12:]).max() < 1e-4
    assert np.abs(S[:12, 12:] - D[:12, 12:]).max() < 1e-8
    # frozen gradients of friction do not turn with q: 0.25 N m measured for forces of 0.9 N, mostly of sliding
    assert np.abs(S[:12, :12] - D[:12, :12]).max() < 0.3


def test_rotation_about_the_normal_over_a_step_is_its_rate_integrated_to_second_order():
    errors, steps = [], (0.04, 0.02, 0.01)
    for h in steps:
        system, engine = turning_pair(1e-9)
        a, d = engine.arrays, engine.data[0]
        x0, Q0, V = a["x"].copy(), a["Q"].copy(), a["V"].copy()
        number = next(i for i, group in enumerate(system.groups) if group.is_contact)
        g, W = records.groups_of(d)[number], system.groups[number].contact_data["W"]
        x, Q, R, T = x0.copy(), Q0.copy(), a["R"].copy(), a["T"].copy()

        def rate(t, x=x, Q=Q, R=R, T=T, x0=x0, Q0=Q0, V=V, g=g, W=W, d=d):
            assembly.advance_configuration(d, x0, Q0, t * V, x, Q, R, T)
            contacts(d, x, R, x, R, V)
            return gradient_times(g, 0, W[0, 2], V)

        rate(0.0)
        R0 = R.copy()
        contacts_begin_step(d)
        nodes, weights = np.polynomial.legendre.leggauss(8)
        exact = 0.5 * h * sum(w * rate(0.5 * h * (1 + s)) for s, w in zip(nodes, weights))
        rate(h)
        errors.append(abs(drilling_increment(g, 0, x, R, x0, R0) - exact))
        assert errors[-1] < 2e-2 * abs(exact)
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 2.8 < order < 3.2, f"order {order:.2f}, errors {errors}"  # of one step: one more than of a run
