"""Rotations: exp, log, T, T⁻¹, quaternions and derivatives against each other, exact series and independent codes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from fem_mbs import rotations as rot

# derandomize: the same cases in every run
settings.register_profile("rotations", deadline=None, max_examples=100, derandomize=True, database=None)
settings.load_profile("rotations")

EPS = np.finfo(float).eps


def rotation_vectors(largest):
    """Rotation vectors (3,) of any direction, with angles from 0 over very small ones to ``largest``."""
    unit = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1)
    angle = st.one_of(
        st.floats(0, largest), st.floats(-16, -1).map(lambda e: 10.0**e), st.sampled_from([0.0, largest, 1e-160])
    )
    return st.builds(lambda u, a: np.array(u) * (a / np.linalg.norm(u)), unit, angle)


vectors = st.tuples(*[st.floats(-2, 2)] * 3).map(np.array)


def T(psi):
    A = np.empty((3, 3))
    rot.tangent(psi, A)
    return A


def T_inverse(psi):
    A = np.empty((3, 3))
    rot.tangent_inverse(psi, A)
    return A


def slope(function, step=1e-3):
    """Derivative at 0, central differences of six points: truncation ~ step⁶, round-off ~ 1e-16/step = 1e-13."""
    weights = ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
    return sum(w * (function(k * step) - function(-k * step)) for k, w in weights) / step


@pytest.mark.parametrize("theta", [0.0, 1e-9, 1e-3, 1.0, np.pi, 4.0, 2 * np.pi])
def test_stumpff_functions_equal_their_series_in_rational_arithmetic(theta):
    x, c = Fraction(theta) ** 2, np.empty(9)
    rot.stumpff(float(x), c)
    for k in range(9):
        total, term = Fraction(0), Fraction(1, int(np.prod(np.arange(1, k + 1), dtype=object)))
        for j in range(40):
            total += term
            term *= -x / ((k + 2 * j + 1) * (k + 2 * j + 2))
        # the recursion c_k = 1/k! − x c_(k+2) passes round-off on times x ≤ 40, from values that shrink as fast
        assert abs(c[k] - float(total)) < 40 * EPS


@given(rotation_vectors(2 * np.pi))
def test_exp_is_a_rotation_and_equals_the_one_of_scipy(psi):
    R = rot.exp(psi)
    assert np.abs(R.T @ R - np.eye(3)).max() < 8 * EPS  # round-off of a product of entries up to 1
    assert np.abs(R - Rotation.from_rotvec(psi).as_matrix()).max() < 16 * EPS  # half angles up to π on the other side


@given(rotation_vectors(np.pi - 1e-6))
@example(np.array([0.0, 0.0, np.pi - 1e-9]))
def test_log_undoes_exp_up_to_half_a_turn(psi):
    assert np.abs(rot.log(rot.exp(psi)) - psi).max() < 16 * EPS * np.pi  # round-off of R, once forth and once back


@given(rotation_vectors(2 * np.pi))
def test_exp_undoes_log_for_every_rotation(psi):
    R = rot.exp(psi)
    assert np.abs(rot.exp(rot.log(R)) - R).max() < 16 * EPS  # as above; also at and beyond half a turn
    assert np.linalg.norm(rot.log(R)) <= np.pi * (1 + EPS)


@given(rotation_vectors(6.0), vectors)
def test_tangent_gives_the_body_angular_velocity(psi, rate):
    R = rot.exp(psi)
    omega = slope(lambda e: rot.log(R.T @ rot.exp(psi + e * rate)))
    assert np.abs(T(psi) @ rate - omega).max() < 1e-11  # differences: see slope, times |rate|


@given(rotation_vectors(6.2))
def test_inverse_tangent_is_the_inverse_up_to_almost_a_full_turn(psi):
    product = T(psi) @ T_inverse(psi)
    # T is singular at 2π: its inverse grows as 1/(2π − θ)
    assert np.abs(product - np.eye(3)).max() < 32 * EPS * 2 * np.pi / (2 * np.pi - np.linalg.norm(psi))


@given(rotation_vectors(6.2))
def test_transposed_tangent_is_that_of_the_opposite_rotation_and_is_exp_times_T(psi):
    assert np.abs(T(psi).T - T(-psi)).max() < 4 * EPS  # round-off of the last sum, which may be fused
    assert np.abs(rot.exp(psi) @ T(psi) - T(psi).T).max() < 16 * EPS  # left and right Jacobians


@given(rotation_vectors(1e-5))
def test_tangents_near_zero_equal_their_series(psi):
    P = rot.skew(psi)
    # the next terms are ψ³/24 and ψ⁴/720: below 1e-16
    assert np.abs(T(psi) - (np.eye(3) - P / 2 + P @ P / 6)).max() < 4 * EPS
    assert np.abs(T_inverse(psi) - (np.eye(3) + P / 2 + P @ P / 12)).max() < 4 * EPS
    assert np.abs(rot.exp(psi) - (np.eye(3) + P + P @ P / 2)).max() < 4 * EPS


@given(rotation_vectors(2 * np.pi), rotation_vectors(2 * np.pi))
def test_quaternion_products_are_matrix_products(psi, chi):
    p, q, r, R = np.empty(4), np.empty(4), np.empty(4), np.empty((3, 3))
    rot.quaternion_exp(psi, p)
    rot.quaternion_exp(chi, q)
    rot.quaternion_multiply(p, q, r)
    rot.quaternion_to_matrix(r, R)
    assert np.abs(R - rot.exp(psi) @ rot.exp(chi)).max() < 32 * EPS  # some ten operations on numbers up to 1
    assert abs(np.linalg.norm(r) - 1) < 8 * EPS


@given(rotation_vectors(2 * np.pi))
@example(np.array([np.pi, 0.0, 0.0]))
@example(np.array([0.0, np.pi, 0.0]))
@example(np.array([0.0, 0.0, np.pi]))
def test_matrix_to_quaternion_and_back_keeps_the_rotation(psi):
    q, R, back = np.empty(4), rot.exp(psi), np.empty((3, 3))
    rot.matrix_to_quaternion(R, q)
    rot.quaternion_to_matrix(q, back)
    assert np.abs(back - R).max() < 16 * EPS  # the largest pivot is ≥ ½, so nothing is lost
    assert q[0] >= 0


@pytest.mark.parametrize("form", [rot.form_tangent, rot.form_tangent_inverse_T])
@given(rotation_vectors(5.0), vectors, vectors, vectors)
@settings(max_examples=40)
def test_derivatives_of_tangents_equal_differences(form, psi, u, n, d):
    def matrix(x):
        numbers, A = np.empty(9), np.empty((3, 3))
        form(x, numbers)
        rot.form_matrix(numbers, x, A)
        return A

    def gradient(x, transposed):
        numbers, D = np.empty(9), np.empty((3, 3))
        form(x, numbers)
        rot.form_gradient(transposed, numbers, x, u, D)
        return D

    assert np.abs(matrix(psi) - (T(psi) if form is rot.form_tangent else T_inverse(psi).T)).max() < 1e-14
    numbers, E, A = np.empty(9), np.empty((3, 3)), np.empty((3, 3))
    form(psi, numbers)
    tolerance = 1e-10  # differences: see slope, times |u| |n| |d| ≤ 40 and derivatives of T⁻¹ up to 10 at 5 rad
    assert np.abs(gradient(psi, 0) @ d - slope(lambda e: matrix(psi + e * d) @ u)).max() < tolerance
    assert np.abs(gradient(psi, 1) @ d - slope(lambda e: matrix(psi + e * d).T @ u)).max() < tolerance
    rot.form_rate(numbers, psi, d, A)
    assert np.abs(A - slope(lambda e: matrix(psi + e * d))).max() < tolerance
    rot.form_hessian(numbers, psi, u, n, E)
    assert np.abs(E @ d - slope(lambda e: gradient(psi + e * d, 0).T @ n)).max() < tolerance
    assert np.abs(E - E.T).max() < tolerance


@given(vectors, vectors)
def test_small_products_equal_numpy(a, b):
    c, A, R = np.zeros(3), np.zeros((5, 5)), rot.exp(b)
    rot.cross(a, b, c)
    assert np.allclose(c, np.cross(a, b), rtol=0, atol=16 * EPS)  # products of numbers up to 4
    for add, expected in (
        (lambda A: rot.add_skew(2.0, a, A, 1, 2), 2 * rot.skew(a)),
        (lambda A: rot.add_R_skew(2.0, R, a, A, 1, 2), 2 * R @ rot.skew(a)),
        (lambda A: rot.add_skew_RT(2.0, a, R, A, 1, 2), 2 * rot.skew(a) @ R.T),
        (lambda A: rot.add_skew_skew(2.0, a, b, A, 1, 2), 2 * rot.skew(a) @ rot.skew(b)),
        (lambda A: rot.add_outer(2.0, a, b, A, 1, 2), 2 * np.outer(a, b)),
    ):
        A[:] = 0.0
        add(A)
        assert np.allclose(A[1:4, 2:5], expected, rtol=0, atol=32 * EPS)  # as above, sums of two
        assert not A[0].any() and not A[4].any() and not A[:, :2].any()


@given(rotation_vectors(3.0), rotation_vectors(1.0))
def test_a_frame_with_an_axis_is_right_handed_and_has_it(psi, chi):
    axis = rot.exp(psi) @ rot.exp(chi)[:, 0]
    for along in range(3):
        R = rot.frame_with_axis(axis, along)
        assert np.abs(R[:, along] - axis).max() == 0
        assert np.abs(R.T @ R - np.eye(3)).max() < 1e-14  # axis itself is unit to round-off
        assert np.linalg.det(R) > 0


@pytest.mark.parametrize("bad", [np.eye(3) * 1.1, np.diag([1, 1, -1.0]), [1.0, 0.1, 0, 0], [1, 2], np.eye(4)])
def test_what_is_no_rotation_is_rejected(bad):
    with pytest.raises(ValueError, match=r"rotation|quaternion|shape"):
        rot.as_matrix(bad)


def test_the_same_rotation_is_read_from_vector_quaternion_and_matrix():
    psi, q = np.array([0.3, -1.2, 0.5]), np.empty(4)
    rot.quaternion_exp(psi, q)
    for given_as in (psi, q, rot.exp(psi)):
        assert np.abs(rot.as_matrix(given_as) - Rotation.from_rotvec(psi).as_matrix()).max() < 8 * EPS  # round-off
    assert np.array_equal(rot.as_matrix(None), np.eye(3))


def test_matrices_that_are_orthogonal_to_round_off_are_taken_as_they_are():
    quarter = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert np.array_equal(rot.as_matrix(quarter), quarter)  # a quaternion made 2e-16 of its zeros
    loose = quarter + 1e-9
    R = rot.as_matrix(loose)
    assert np.abs(R.T @ R - np.eye(3)).max() < 4 * EPS and np.abs(R - quarter).max() < 1e-8
