"""Rows from which all joints are built, and what their constructors check.

P is fixed on the first body at a, Q on the second at b; u is a direction fixed in A, w one fixed in B. With U = R_A u,
W = R_B w, r = x_B + R_B b − x_A, X = R_A ũ, columns of G in the order x_A, θ_A, x_B, θ_B, and blocks AA, AB … of the
second derivatives H_ij = ∂G_i/∂q_j for θ_A and θ_B:

    row             g                   G                                        H, blocks that are not 0
    point, k        e_k·(r − R_A a)     −e_k ; −a × R_Aᵀe_k ; e_k ; b × R_Bᵀe_k AA −ã (R_Aᵀe_k)~ ; BB b̃ (R_Bᵀe_k)~   (1)
    perpendicular   U·W                 0 ; R_Aᵀ(U × W) ; 0 ; −R_Bᵀ(U × W)       AA ũ (R_AᵀW)~ ; BB w̃ (R_BᵀU)~ ;
                                                                                 AB XᵀY ; BA YᵀX with Y = R_B w̃      (2)
    in plane        U·(x_Q − x_P)       −U ; u × R_Aᵀr ; U ; b × R_BᵀU           AA ũ (R_Aᵀr)~ ; BB b̃ (R_BᵀU)~ ;
                                                                                 AB XᵀY ; BA YᵀX with Y = R_B b̃ ;    (3)
                                                                                 x_A,θ_A X ; x_B,θ_A −X ; transposes

The force of the joint on the second body is f = G_xBᵀλ, its moment about Q is R_B G_θBᵀλ − (R_B b) × f.

Source: docs/theory/joints.md, (2)-(7); Géradin & Cardona (2001), ch. 7.

    symbol    code          shape    unit  meaning
    a, b      p_AP, p_BQ    (3,)     m     origins of P and Q from their nodes, node axes
    R_AP …    R_AP, R_BQ    (3, 3)   -     axes of P and Q (columns), node axes
    u, w      u, w          (3,)     -     unit vectors in A and B axes
    row       row           int      -     number of the (first) row to fill in g, G, H
"""

import math
from typing import Any

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.rotations import add_cross, add_R_skew, add_rotated, add_skew_skew, cross_product, dot, rotate, rotate_T

POSE_TOLERANCE = 1e-8  # of initial poses, relative to the size: that of the check when a model is compiled


@kernel
def column(A, j, a):
    """Fill a (3,) with column j of A (3, 3)."""
    for i in range(3):
        a[i] = A[i, j]


@kernel
def add_product_T(A, B, C, i, j):
    """Add Aᵀ B of (3, 3) matrices to the block of C that begins at (i, j)."""
    for k in range(3):
        for m in range(3):
            C[i + k, j + m] += A[0, k] * B[0, m] + A[1, k] * B[1, m] + A[2, k] * B[2, m]


@kernel
def points_apart(x_A, R_A, p_AP, x_B, R_B, p_BQ, d):
    """Fill d (3,) with x_Q − x_P [m], inertial axes."""
    for i in range(3):
        d[i] = x_B[i] - x_A[i]
    add_rotated(1.0, R_B, p_BQ, d)
    add_rotated(-1.0, R_A, p_AP, d)


# --- point: three rows, the components of x_Q − x_P -----------------------------------------------------------------


@kernel
def point_rows(x_A, R_A, p_AP, x_B, R_B, p_BQ, row, g, G):
    """Add (1), k = 1 … 3, to rows ``row`` … ``row`` + 2 of g [m] and G."""
    for k in range(3):
        i = row + k
        g[i] += x_B[k] - x_A[k] + dot(R_B[k], p_BQ) - dot(R_A[k], p_AP)
        G[i, k] -= 1.0
        G[i, 6 + k] += 1.0
    add_R_skew(1.0, R_A, p_AP, G, row, 3)
    add_R_skew(-1.0, R_B, p_BQ, G, row, 9)


@kernel
def point_hessian(R_A, p_AP, R_B, p_BQ, row, H):
    """Add the second derivatives of (1) to H[row] … H[row + 2]."""
    for k in range(3):
        add_skew_skew(-1.0, p_AP, R_A[k], H[row + k], 3, 3)  # row k of R_A is R_Aᵀ e_k
        add_skew_skew(1.0, p_BQ, R_B[k], H[row + k], 9, 9)


# --- perpendicular: a direction of A stays at right angles to one of B ----------------------------------------------


@kernel
def perpendicular_row(R_A, u, R_B, w, row, g, G):
    """Add (2) to row ``row`` of g [-] and G."""
    U, W, n = local_arrays("3, 3, 3")
    rotate(R_A, u, U)
    rotate(R_B, w, W)
    g[row] += dot(U, W)
    for i in range(3):
        n[i] = 0.0
    add_cross(1.0, U, W, n)
    for j in range(3):
        G[row, 3 + j] += R_A[0, j] * n[0] + R_A[1, j] * n[1] + R_A[2, j] * n[2]
        G[row, 9 + j] -= R_B[0, j] * n[0] + R_B[1, j] * n[1] + R_B[2, j] * n[2]


@kernel
def perpendicular_hessian(R_A, u, R_B, w, row, H):
    """Add the second derivatives of (2) to H[row]."""
    y, z, X, Y = local_arrays("3, 3, 3 3, 3 3")
    rotate(R_B, w, z)
    rotate_T(R_A, z, y)
    add_skew_skew(1.0, u, y, H[row], 3, 3)
    rotate(R_A, u, z)
    rotate_T(R_B, z, y)
    add_skew_skew(1.0, w, y, H[row], 9, 9)
    X[:, :] = 0.0
    Y[:, :] = 0.0
    add_R_skew(1.0, R_A, u, X, 0, 0)
    add_R_skew(1.0, R_B, w, Y, 0, 0)
    add_product_T(X, Y, H[row], 3, 9)
    add_product_T(Y, X, H[row], 9, 3)


@kernel
def axes_row(R_A, R_AP, i, R_B, R_BQ, j, row, g, G):
    """Row (2) for axis i of frame P and axis j of frame Q."""
    u, w = local_arrays("3, 3")
    column(R_AP, i, u)
    column(R_BQ, j, w)
    perpendicular_row(R_A, u, R_B, w, row, g, G)


@kernel
def axes_hessian(R_A, R_AP, i, R_B, R_BQ, j, row, H):
    """Second derivatives of `axes_row`."""
    u, w = local_arrays("3, 3")
    column(R_AP, i, u)
    column(R_BQ, j, w)
    perpendicular_hessian(R_A, u, R_B, w, row, H)


@kernel
def orientation_rows(R_A, R_AP, R_B, R_BQ, row, g, G):
    """Three rows (2) that keep P and Q parallel: x_P·y_Q, y_P·z_Q, z_P·x_Q (valid within 90°)."""
    for k in range(3):
        axes_row(R_A, R_AP, k, R_B, R_BQ, (k + 1) % 3, row + k, g, G)


@kernel
def orientation_hessian(R_A, R_AP, R_B, R_BQ, row, H):
    """Second derivatives of `orientation_rows`."""
    for k in range(3):
        axes_hessian(R_A, R_AP, k, R_B, R_BQ, (k + 1) % 3, row + k, H)


# --- in plane: Q stays in a plane fixed to A ------------------------------------------------------------------------


@kernel
def plane_row(x_A, R_A, p_AP, R_AP, x_B, R_B, p_BQ, i, row, g, G):
    """Add (3) with u axis i of frame P to row ``row`` of g [m] and G."""
    u, U, r, y = local_arrays("3, 3, 3, 3")
    column(R_AP, i, u)
    rotate(R_A, u, U)
    for k in range(3):
        r[k] = x_B[k] - x_A[k]
    add_rotated(1.0, R_B, p_BQ, r)
    g[row] += dot(U, r) - dot(u, p_AP)
    rotate_T(R_A, r, y)
    add_cross(1.0, u, y, G[row, 3:6])
    rotate_T(R_B, U, y)
    add_cross(1.0, p_BQ, y, G[row, 9:12])
    for k in range(3):
        G[row, k] -= U[k]
        G[row, 6 + k] += U[k]


@kernel
def plane_hessian(x_A, R_A, p_AP, R_AP, x_B, R_B, p_BQ, i, row, H):
    """Add the second derivatives of (3) to H[row]."""
    u, y, r, X, Y = local_arrays("3, 3, 3, 3 3, 3 3")
    column(R_AP, i, u)
    for k in range(3):
        r[k] = x_B[k] - x_A[k]
    add_rotated(1.0, R_B, p_BQ, r)
    rotate_T(R_A, r, y)
    add_skew_skew(1.0, u, y, H[row], 3, 3)
    rotate(R_A, u, r)
    rotate_T(R_B, r, y)
    add_skew_skew(1.0, p_BQ, y, H[row], 9, 9)
    X[:, :] = 0.0
    Y[:, :] = 0.0
    add_R_skew(1.0, R_A, u, X, 0, 0)
    add_R_skew(1.0, R_B, p_BQ, Y, 0, 0)
    add_product_T(X, Y, H[row], 3, 9)
    add_product_T(Y, X, H[row], 9, 3)
    for k in range(3):
        for m in range(3):
            H[row, k, 3 + m] += X[k, m]
            H[row, 3 + m, k] += X[k, m]
            H[row, 6 + k, 3 + m] -= X[k, m]
            H[row, 3 + m, 6 + k] -= X[k, m]


# --- outputs --------------------------------------------------------------------------------------------------------


@kernel
def clear_rows(g, G):
    """Set g and G to zero (kernels of outputs that evaluate their constraint)."""
    g[:] = 0.0
    G[:, :] = 0.0


@kernel
def add_effort(R_B, p_BQ, G, lam, out):
    """Add the force on the second body at Q to out[0:3] [N] and its moment about Q to out[3:6] [N m], inertial axes."""
    f, m, y = local_arrays("3, 3, 3")
    for j in range(3):
        f[j] = 0.0
        m[j] = 0.0
        for i in range(G.shape[0]):
            f[j] += G[i, 6 + j] * lam[i]
            m[j] += G[i, 9 + j] * lam[i]
        out[j] += f[j]
    rotate(R_B, p_BQ, y)
    add_rotated(1.0, R_B, m, out[3:6])
    add_cross(-1.0, y, f, out[3:6])


@kernel
def axes_product(R_A, R_AP, i, R_B, R_BQ, j):
    """Product of axis i of frame P and axis j of frame Q."""
    u, U, W = local_arrays("3, 3, 3")
    column(R_BQ, j, u)
    rotate(R_B, u, W)
    column(R_AP, i, u)
    rotate(R_A, u, U)
    return dot(U, W)


@kernel
def along_axis(x_A, R_A, p_AP, R_AP, i, x_B, R_B, p_BQ):
    """Distance from P to Q along axis i of P [m]."""
    d, u, U = local_arrays("3, 3, 3")
    points_apart(x_A, R_A, p_AP, x_B, R_B, p_BQ, d)
    column(R_AP, i, u)
    rotate(R_A, u, U)
    return dot(U, d)


# --- checks of constructors -----------------------------------------------------------------------------------------


def start_size(*frames: Any) -> float:
    """Largest distance [m] of frames and their nodes from the origin and each other: their round-off scales with it."""
    places = [place for frame in frames for place in (frame.position, frame.node.position, frame.p)]
    return max(abs(component) for place in places for component in place.tolist())


def start_tolerance(joint: Any) -> float:
    """Length [m] below which initial positions count as equal."""
    return POSE_TOLERANCE * start_size(joint.frame_P, joint.frame_Q)


def check_origins(joint: Any) -> None:
    """P and Q are one point at the start."""
    p, q = joint.frame_P.position.tolist(), joint.frame_Q.position.tolist()
    distance = math.dist(p, q)
    if distance <= POSE_TOLERANCE * max(map(abs, p)) or distance <= start_tolerance(joint):
        return
    raise ParameterError(
        joint,
        "frame_Q",
        joint.frame_Q,
        f"has its origin {distance:.6g} m from that of frame_P at the start; this joint needs both in one point. "
        f"Correct the offsets p, or let {type(joint).__name__}.at(first, second, position, …) place the frames",
    )


def check_on_axis(joint: Any) -> None:
    """Q lies on the z axis of P at the start."""
    d, z = joint.frame_Q.position - joint.frame_P.position, joint.frame_P.orientation[:, 2]
    distance = np.linalg.norm(d - (d @ z) * z)
    joint.check(
        distance <= start_tolerance(joint),
        "frame_Q",
        joint.frame_Q,
        f"has its origin {distance:.6g} m off the z axis of frame_P at the start, on which this joint keeps it. "
        f"Correct the offsets p, or let {type(joint).__name__}.at(first, second, position, axis) place the frames",
    )


def check_in_plane(joint: Any) -> None:
    """Q lies in the x-y plane of P at the start."""
    distance = abs(float((joint.frame_Q.position - joint.frame_P.position) @ joint.frame_P.orientation[:, 2]))
    joint.check(
        distance <= start_tolerance(joint),
        "frame_Q",
        joint.frame_Q,
        f"has its origin {distance:.6g} m off the x-y plane of frame_P at the start, in which this joint keeps it. "
        f"Correct the offsets p, or let {type(joint).__name__}.at(first, second, position, axis) place the frames",
    )


def check_parallel(joint: Any) -> None:
    """The z axes of P and Q are equal at the start."""
    z_P, z_Q = ((frame.node.rotation @ frame.rotation[:, 2]).tolist() for frame in (joint.frame_P, joint.frame_Q))
    angle = math.atan2(math.hypot(*cross_product(z_P, z_Q)), sum(a * b for a, b in zip(z_P, z_Q)))
    if angle <= POSE_TOLERANCE:
        return
    raise ParameterError(
        joint,
        "frame_Q",
        joint.frame_Q,
        f"has its z axis {math.degrees(angle):.6g}° from that of frame_P at the start; this joint keeps them equal. "
        f"Correct the rotation of a frame, or let {type(joint).__name__}.at(first, second, position, axis) place both",
    )


def start_orientation(joint: Any) -> np.ndarray:
    """Axes of Q at the start, as columns (3, 3) in the axes of the first node."""
    return joint.frame_P.node.rotation.T @ joint.frame_Q.orientation


def random_joint(cls: Any, rng: np.random.Generator, a: Any, b: Any, **options: Any) -> Any:
    """A joint of a class at a random point about a random axis: the example most joints are registered with."""
    axis = rng.normal(size=3)
    return cls.at(a, b, rng.normal(size=3), axis / np.linalg.norm(axis), **options)
