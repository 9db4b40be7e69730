"""Bushing: a spring-damper in all six directions between two frames, for large rotations, with curves per axis.

The deformation is the helix that leads from frame P to frame Q, as in a beam segment of length 1 m
(`elements.beams.segment`, (1)-(3)):

    ψ = log(R_Pᵀ R_Q) ,  u = R_Pᵀ (x_Q − x_P) ,  ε = (T⁻ᵀ(ψ) u, ψ) ;   the motion from Q to P has −ε             (1)
    s = K ε + F_i(ε_i) + C ε̇ + s_0 ,   V = ½ εᵀ K ε + Σ V_i(ε_i) + s_0·ε                                           (2)

ε does not change with rigid motions, and both ends are equal: no half-way frame has to be chosen. For small rotations ε
is the displacement of Q in axes of P and the rotation vector, and s are force and moment. At large angles forces on the
helix are not those of springs and dampers in axes of P: 2 % apart at 1 rad, 9 % at 2 rad, 24 % at 2.8 rad.

Source: docs/theory/curves_and_bushings.md, (3), (4).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import BetweenFrames, Force, register
from fem_mbs.elements.beams.limits import LARGEST_ANGLE, turned_too_far
from fem_mbs.elements.beams.segment import conjugates
from fem_mbs.elements.beams.two_node_geometry import (
    RATES,
    SEGMENT,
    Rates,
    Segment,
    add_damping_stress,
    add_forces,
    relative_pose,
    relative_rates,
    tangents,
)
from fem_mbs.elements.forces.curve import ForceCurve, curve_values
from fem_mbs.elements.joints.rows import random_joint
from fem_mbs.errors import label
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_record, local_vector
from fem_mbs.rotations import form_gradient, log, multiply

LARGE = 1.0  # rad: from there on forces of translations are 2 % and more off those in axes of P
AXES = ("x", "y", "z", "turn x", "turn y", "turn z")
PARAMETERS = np.dtype(
    [
        ("length", "f8"),  # 1: strains are displacements
        ("p_A", "f8", (3,)),
        ("S_A", "f8", (3, 3)),
        ("p_B", "f8", (3,)),
        ("S_B", "f8", (3, 3)),
        ("eccentric", "i8"),
        ("damped", "i8"),
        ("C_v", "f8", (6, 6)),
        ("stiffness", "f8", (6, 6)),
        ("preload", "f8", (6,)),
        ("curves_at", "i8", (6,)),
        ("pieces", "i8", (6,)),
    ]
)


@kernel
def elastic(p, strain, s, C):
    """Fill s (6,) with the elastic part of (2), C (6, 6) with its derivative; return V."""
    V = 0.0
    for i in range(6):
        s[i] = p.preload[i]
        V += p.preload[i] * strain[i]
        for k in range(6):
            C[i, k] = p.stiffness[i, k]
            s[i] += p.stiffness[i, k] * strain[k]
            V += 0.5 * strain[i] * p.stiffness[i, k] * strain[k]
        if p.pieces[i] > 0:
            force, slope, potential = curve_values(p.curves_at[i], p.pieces[i], strain[i])
            s[i] += force
            C[i, i] += slope
            V += potential
    return V


@kernel
def deformation(p, node_A, node_B, seg, s):
    """Fill seg (a `Segment`) and s (6,) of (1), (2), damping included."""
    C = local_matrix(6, 6)
    relative_pose(p, node_A.x, node_A.R, node_B.x, node_B.R, seg)
    form_gradient(0, seg.form, seg.psi, seg.u, seg.D)
    elastic(p, seg.strain, s, C)
    if p.damped == 1:
        rates = local_record(Rates, RATES)
        relative_rates(p, node_A.R, node_A.v, node_A.w, node_B.R, node_B.v, node_B.w, seg, rates)
        add_damping_stress(p, rates.rate, s)


@kernel
def force(p, node_A, node_B, f):
    """Add the forces of (2) to f (12,)."""
    seg = local_record(Segment, SEGMENT)
    s, b, mu = local_arrays("6, 3, 3")
    deformation(p, node_A, node_B, seg, s)
    conjugates(seg.A, seg.D, s, b, mu)
    add_forces(p, node_A.R, node_B.R, seg.S_A, seg.A, seg.u, b, mu, f)


@kernel
def force_tangent(p, node_A, node_B, K, C):
    """Add K = −∂f/∂q and C = −∂f/∂v (12, 12)."""
    seg = local_record(Segment, SEGMENT)
    s, s_force, law = local_arrays("6, 6, 6 6")
    relative_pose(p, node_A.x, node_A.R, node_B.x, node_B.R, seg)
    form_gradient(0, seg.form, seg.psi, seg.u, seg.D)
    elastic(p, seg.strain, s, law)
    for i in range(6):
        s_force[i] = s[i]
    tangents(p, node_A, node_B, seg, s, s_force, law, K, C)


@kernel
def energy(p, x_A, R_A, x_B, R_B):
    """Potential V of (2) [J]."""
    seg = local_record(Segment, SEGMENT)
    C, s = local_arrays("6 6, 6")
    relative_pose(p, x_A, R_A, x_B, R_B, seg)
    return elastic(p, seg.strain, s, C)


@kernel
def trouble(p, R_A, R_B):
    """1.0: the frames are turned by more than `LARGEST_ANGLE`; beyond half a turn ψ of (1) continues from −π."""
    S_A, S_B = local_arrays("3 3, 3 3")
    multiply(R_A, p.S_A, S_A)
    multiply(R_B, p.S_B, S_B)
    return turned_too_far(S_A, S_B)


@kernel
def output(p, node_A, node_B, out):
    """Deformation, and force and moment (2)."""
    seg, s = local_record(Segment, SEGMENT), local_vector(6)
    deformation(p, node_A, node_B, seg, s)
    for i in range(6):
        out[i] += seg.strain[i]
        out[6 + i] += s[i]


class Bushing(BetweenFrames, Force):
    """Elastic mount between two frames: stiffness, damping, curves and preload along and about three axes.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground), with their axes; see `at`.
    stiffness : (6,) or (6, 6) [N/m, N/rad, N m/rad], optional
        In axes of P, translations first; a matrix is symmetric without negative eigenvalues.
    damping : (6,) or (6, 6) [N s/m, N s/rad, N m s/rad], optional
    curves : dict, optional
        Of nonlinear axes, added to ``stiffness``: "x", "y", "z" [m -> N], "turn x", "turn y", "turn z" [rad -> N m] ->
        `ForceCurve`, table of points, or number.
    preload : (6,) [N, N m], optional
        Force and moment with which the mount pulls Q towards P in its unloaded position; default: none.
    name : str, optional

    Outputs
    -------
    displacement, rotation : (3,) [m], [rad]
        Deformation from P to Q: for small rotations displacement of Q in axes of P, and rotation vector.
    force, moment : (3,) [N], [N m]
        That the mount resists with: −force, −moment act on the second body, for small rotations in axes of P.

    Raises
    ------
    ParameterError
        Both frames on one node; matrices of the wrong shape, not symmetric, or with negative eigenvalues; unknown axes;
        nothing given; frames turned by more than 2.8 rad (160°) against each other at the start.
    SolverError
        Frames turned by more than 2.8 rad against each other in a run.

    Notes
    -----
    The deformation is that of the helix between the frames: both ends are equal, and rotations up to 2.8 rad are
    allowed. The bushing therefore rotates with both: for a shaft that spins put it on a housing, in which a
    `Spherical` joint holds the shaft (docs/howto/rotors.md). 6 × 6 matrices mean the same as in other programs as long
    as rotations are small: at 1 rad forces of translational springs and dampers differ by 2 %, at 2 rad by 9 % from
    those in axes of P. A run beyond 1 rad ends with a warning if there are any.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> mount = Bushing(Ground(), Node6(), stiffness=[2e5, 2e5, 8e5, 40, 40, 15], damping=[300, 300, 900, 0, 0, 0],
    ...                 curves={"z": [(-0.01, -4e3), (0, 0), (0.01, 0)]}, name="mount")
    """

    parameters = PARAMETERS
    kernels = {"force": force, "force_tangent": force_tangent, "energy": energy, "output": output, "trouble": trouble}
    outputs = {"displacement": (3, "m"), "rotation": (3, "rad"), "force": (3, "N"), "moment": (3, "N m")}

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        *,
        curves: dict[str, Any] | None = None,
        preload: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        self._connect(frame_P, frame_Q, "a bushing between them is never deformed", name=name)
        given = {} if curves is None else dict(self.as_instance("curves", curves, dict, "a dict of axis -> curve"))
        nothing = stiffness is None and damping is None and preload is None and not given
        self.check(not nothing, "stiffness", None, "is missing, as are damping and curves: it does nothing")
        self.stiffness = self._matrix("stiffness", stiffness)
        self.damping = self._matrix("damping", damping)
        self.preload = np.zeros(6) if preload is None else self.as_vector("preload", preload, 6)
        wrong = [axis for axis in given if axis not in AXES]
        self.check(not wrong, "curves", wrong, f"are no axes; there are {', '.join(AXES)}")
        self.curves = {axis: ForceCurve.of(self, f"curves['{axis}']", law) for axis, law in given.items()}
        self.viscous = bool(self.damping.any())
        turn = np.linalg.norm(log(self.frame_P.orientation.T @ self.frame_Q.orientation))
        message = f"is turned by {turn:.4g} rad against frame_P at the start; it must be less than {LARGEST_ANGLE} rad"
        self.check(turn < LARGEST_ANGLE, "frame_Q", self.frame_Q, message)
        self.place()

    def _matrix(self, parameter, value):
        """The value as a matrix (6, 6), symmetric and without negative eigenvalues."""
        if value is None:
            return np.zeros((6, 6))
        array = self.as_array(parameter, value, (6,), (6, 6))
        matrix = np.diag(array) if array.ndim == 1 else array
        size = np.sqrt(np.outer(np.abs(np.diag(matrix)), np.abs(np.diag(matrix))))
        self.check((np.diag(matrix) >= 0).all(), parameter, array, "must be ≥ 0 on its diagonal")
        self.check((np.abs(matrix - matrix.T) <= 1e-9 * size + 1e-300).all(), parameter, array, "must be symmetric")
        scale = np.where(np.diag(matrix) > 0, np.sqrt(np.diag(matrix)), 1.0)
        least = np.linalg.eigvalsh(matrix / np.outer(scale, scale)).min()
        message = "has a negative eigenvalue: a deformation would give energy"
        self.check(least >= -1e-9, parameter, array, message)
        return 0.5 * (matrix + matrix.T)

    def place(self) -> None:
        """Record with the addresses of the curves."""
        P, Q = self.frame_P, self.frame_Q
        places = [self.curves[axis].place if axis in self.curves else (0, 0) for axis in AXES]
        self.record = (
            1.0, P.p, P.rotation, Q.p, Q.rotation, int(bool(P.p.any() or Q.p.any())), int(self.damping.any()),
            self.damping, self.stiffness, self.preload, [at for at, _ in places], [count for _, count in places],
        )  # fmt: skip

    def trouble(self, state: Any) -> str | None:
        """Describe the fault at a `State`, or None."""
        A, B = (state.R[frame.node.index] @ frame.rotation for frame in (self.frame_P, self.frame_Q))
        turn = float(np.linalg.norm(log(A.T @ B)))
        if turn < LARGEST_ANGLE:
            return None
        return (
            f"{label(self)}: its frames are turned by {turn:.2f} rad against each other (at most {LARGEST_ANGLE}): "
            "past half a turn its moment would change sign. Use a JointSpring on a joint for rotations of any size; "
            "for a shaft that spins put the bushing on a housing that does not rotate"
        )

    def output_warnings(self, histories: dict) -> list:
        """Large rotations of a bushing that resists translations, see `element_checks`: list of (kind, size, text)."""
        turn = float(np.abs(histories["rotation"]).max())
        resists = self.stiffness[:3].any() or self.damping[:3].any() or any(axis in self.curves for axis in AXES[:3])
        if turn <= LARGE or not resists or not np.abs(histories["displacement"]).any():
            return []
        text = (
            f"its frames turned by up to {turn:.3g} rad against each other. From {LARGE:g} rad on forces of its "
            "translational stiffness and damping differ by 2 % and more (9 % at 2 rad, 24 % at 2.8 rad) from those of "
            "springs and dampers in the axes of the first frame. For a shaft that spins put it on a housing that does "
            "not rotate; for a stiffness about one axis alone use a JointSpring"
        )
        return [("large rotation", turn, text)]

    def regular(self, point: Any) -> bool:
        """True if the element can be differentiated at a point of `fem_mbs.verify`: not near half a turn."""
        A, B = point.R[0] @ self.frame_P.rotation, point.R[1] @ self.frame_Q.rotation
        return bool(np.linalg.norm(log(A.T @ B)) < 2.8)


def _example(rng, a, b):
    root = rng.normal(size=(2, 6, 6))
    matrices = [r @ r.T + np.eye(6) for r in root]
    curve = ForceCurve(lambda x: 2.0 * x + 0.1 * x**3, between=(-8.0, 8.0))
    return random_joint(
        Bushing, rng, a, b, stiffness=matrices[0], damping=matrices[1], curves={"y": curve}, preload=rng.normal(size=6)
    )


register(Bushing, example=_example)
