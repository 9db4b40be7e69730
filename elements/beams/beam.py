"""Geometrically exact three-node beam with the nodes A, M, B: strains linear along the element, M a hidden node of the
beam.

Two helical halves give the mean strain and its slope; the section law is linear in them, with the section forces in
equilibrium under any distributed load. Order 4 in statics, frequencies and motion, also with shear, rotary inertia,
axial waves, large strain and any tension; order 6 in slender bending frequencies. The elastic part is in
`beams.three_pose_kernels` and `beams.law`, the inertia in `beams.inertia` with the numbers of `beams.shapes`.

Section forces that are reported are the forces of equilibrium at the ends, inertia and weight of the element included:

    n_B = S_Bᵀ r_x_B,   m_B = moment of r about the section,   r = M a − f      (at A with the opposite sign)       (1)
    n_M = n̄,   m_M = m̄ − (L²/24) w₂       in the middle, of the law (3) in `beams.law`, damping included             (2)

(1) agrees between neighbours and with applied loads to round-off.

Source: docs/theory/beams.md.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.beams.base import BeamElement, blocks, section_output
from fem_mbs.elements.beams.inertia import gravity_energy, inertia, inertia_tangent
from fem_mbs.elements.beams.limits import trouble_three_pose
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.shapes import STATIONS, WEIGHTS, inertia_numbers, quadratic_fields
from fem_mbs.elements.beams.three_pose_kernels import (
    PARAMETERS,
    force,
    force_and_law,
    force_tangent,
    initial,
    mixed,
    section_forces,
    update,
)
from fem_mbs.elements.beams.three_pose_kinematics import section_frames
from fem_mbs.elements.beams.two_node import example
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.nodes import Frame, Node6
from fem_mbs.rotations import exp, log, skew, tangent

SHEAR_FLOOR = 1e-7  # of L²/EI: shear flexibility of sections that have none; smaller ones lose digits of long lines


@kernel
def energy(p, x, R, gravity):
    """Strain energy and potential energy of the weight [J]."""
    ab, w = local_arrays("12, 12")
    return section_forces(p, x, R, ab, w) + gravity_energy(p, x, R, gravity)


@kernel
def output(p, x, R, v, a, gravity, out):
    """Fill out (24,): section forces and moments (1) at A and B, (2) in M, mean strains Γ − Γ₀ and κ − κ₀."""
    Ma, f, ab, G, w, s_v, noted = local_arrays("18, 18, 12, 3 12, 12, 12, 2")
    for i in range(18):
        Ma[i], f[i] = 0.0, 0.0
    inertia(p, R, v, a, gravity, Ma, f)
    force_and_law(p, x, R, v, f, ab, G, w, s_v, noted)
    for i in range(18):
        f[i] = Ma[i] - f[i]
    y, S = local_arrays("3 3, 9 3")
    section_frames(p, x, R, y, S)
    section_output(-1.0, R[0], p.p_A, p.S_A, S[0:3], f[0:6], out[0:3], out[3:6])
    section_output(1.0, R[2], p.p_B, p.S_B, S[6:9], f[12:18], out[6:9], out[9:12])
    for i in range(6):
        out[12 + i] += w[i]
        out[18 + i] += ab[i] - p.strain0[i]
    for k in range(3):
        for i in range(12):
            out[15 + k] -= p.length * p.length / 24.0 * G[k, i] * w[i]
    for i in range(6):
        out[12 + i] += s_v[i]


class MiddleNode(Node6):
    """The hidden node of a beam between two ends; it moves with them at the start unless its velocities are given."""

    _velocity = _angular_velocity = None

    def __init__(
        self,
        frames: Sequence[Frame],
        position: ArrayLike,
        rotation: ArrayLike,
        *,
        fixed: Sequence[str] = (),
        name: str | None = None,
    ) -> None:
        self._frames = frames
        super().__init__(position, rotation, fixed=fixed, name=name)
        self._velocity = self._angular_velocity = None  # not given yet

    def _motion_now(self) -> np.ndarray:
        row = super()._motion_now().copy()
        row[12:15], row[15:] = self.velocity, self.angular_velocity
        return row

    @property
    def velocity(self) -> np.ndarray:
        if self._velocity is not None:
            return self._velocity
        moved = [f.velocity + np.cross(f.node.angular_velocity, self.position - f.position) for f in self._frames]
        return 0.5 * (moved[0] + moved[1])

    @velocity.setter
    def velocity(self, value: np.ndarray) -> None:
        self._velocity = value

    @property
    def angular_velocity(self) -> np.ndarray:
        if self._angular_velocity is not None:
            return self._angular_velocity
        return 0.5 * (self._frames[0].node.angular_velocity + self._frames[1].node.angular_velocity)

    @angular_velocity.setter
    def angular_velocity(self, value: np.ndarray) -> None:
        self._angular_velocity = value


class Beam(BeamElement):
    """A beam between two nodes, with a third node in its middle that it makes itself.

    Parameters
    ----------
    end_A, end_B : Node6, RigidBody or Frame
        Nodes (or bodies): a straight beam between them, its section turned by ``orientation``. Frames: their poses
        *are* the section frames at the ends - x axis along the beam (the tangent of the true curve, not the chord),
        y and z the section axes. So frames carry eccentric connections, and beams that are curved or twisted when
        unloaded.
    section : Section, or function of s in [0, 1] that returns one (a taper; s = 0 at A)
    length : float > 0, optional [m]
        Arc length of the unloaded beam; default: that of the helix between the ends (the distance of equal frames).
    orientation : (3,), optional
        Direction, inertial axes, near which e₂ lies; given with frames it replaces their rotations (straight beam).
        Default for nodes: e₂ horizontal, e₃ as upright (inertial z) as possible; e₂ = y for a beam along z.
    middle : Node6, optional
        The node in the middle of the arc length, its axes the section axes there; default: made on the helix between
        the ends, free, moving with them at the start. Contacts, sensors and outputs may use it: ``beam.middle``.
    inertia : {"consistent", "lumped"}
        "lumped": a block-diagonal mass matrix (1/6, 4/6, 1/6), also of order 4; for runs ruled by impacts.
    flexibility : {"full", "simple"}
        "simple" leaves out the curvature of the section forces along the element: still of order 4, errors 2.4 times
        larger in statics, 16 times in slender frequencies (order 4 instead of 6). For thin rings of few elements.
    damping : float ≥ 0 [s], (6,) or (6, 6) [N s, N m² s]
        Kelvin-Voigt damping on strain rates, objective (no drag on rigid motion): a number β makes it proportional to
        the stiffness (damping ratio βω/2); else the matrix C_v of σ = C_v ε̇, or its diagonal.
    name : str, optional

    Outputs
    -------
    force_A, force_B : (3,) [N]
        Section forces (N, Q₂, Q₃) at the ends, section axes; N > 0 is tension.
    moment_A, moment_B : (3,) [N m], section moments (M₁ torsion, M₂, M₃), section axes
    force_M, moment_M : (3,) [N], [N m], the same in the middle
    strain, curvature : (3,) [-], [1/m], changes of Γ and κ, mean of the element

    Raises
    ------
    ParameterError
        Zero length, both ends on one node, frames that are not tangent to the beam, or turned by more than 2.8 rad
        against each other (use more elements).

    Notes
    -----
    Keep the rotation between the ends of each half below 2.8 rad during a run. Section forces at a node agree between
    neighbours. A massless section is allowed; its nodes then need other mass or the static solver.

    Examples
    --------
    >>> from fem_mbs.elements.beams.sections import Section
    >>> steel = Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    >>> rod = Beam(Node6([0, 0, 0]), Node6([0.1, 0, 0]), steel, name="rod")
    >>> rod.length, rod.middle.position.tolist()
    (0.1, [0.05, 0.0, 0.0])
    """

    parameters = PARAMETERS
    kernels = {
        "inertia": inertia,
        "inertia_tangent": inertia_tangent,
        "force": force,
        "force_tangent": force_tangent,
        "mixed": mixed,
        "update": update,
        "initial": initial,
        "energy": energy,
        "output": output,
        "trouble": trouble_three_pose,
    }
    n_state = 12
    remembers = False
    outputs = {
        "force_A": (3, "N"),
        "moment_A": (3, "N m"),
        "force_B": (3, "N"),
        "moment_B": (3, "N m"),
        "force_M": (3, "N"),
        "moment_M": (3, "N m"),
        "strain": (3, ""),
        "curvature": (3, "1/m"),
    }

    def __init__(
        self,
        end_A: FrameLike,
        end_B: FrameLike,
        section: Section | Callable[[float], Section],
        *,
        length: float | None = None,
        orientation: ArrayLike | None = None,
        middle: Node6 | None = None,
        inertia: str = "consistent",
        flexibility: str = "full",
        damping: ArrayLike = 0.0,
        name: str | None = None,
    ) -> None:
        self._connect(end_A, end_B, orientation, name)
        hint = " (others belong to TwoNodeBeam, poses=2 of beam_line)"
        self._choice("inertia", inertia, ("consistent", "lumped"), hint)
        self._choice("flexibility", flexibility, ("full", "simple"), hint)
        self.inertia, self.flexibility = inertia, flexibility
        self.middle = self._middle(middle)
        self._frame_M = self.middle.frame()
        super().__init__([self.frame_A.node, self.middle, self.frame_B.node], name=name)
        self.length, self.strain0 = self._reference(length)
        self._along(section)
        ends, axes = (self.frame_A, self.frame_B), np.eye(3).tolist()
        self._set_record(any(any(f.p.tolist()) or f.rotation.tolist() != axes for f in ends), damping)

    # --- geometry -------------------------------------------------------------------------------------------------

    def _middle(self, middle):
        if middle is not None:
            self.check(isinstance(middle, Node6), "middle", middle, "is not a Node6")
            ends = (self.frame_A.node, self.frame_B.node)
            self.check(middle not in ends, "middle", middle, "is at an end; it must be a separate node")
            return middle
        x, S = self.frame_A.position, self.frame_A.orientation
        psi, way = self._helix((x, S), (self.frame_B.position, self.frame_B.orientation))
        T = np.empty((3, 3))
        tangent(0.5 * psi, T)
        name = f"{self.name} middle" if self.name else None
        return MiddleNode((self.frame_A, self.frame_B), x + 0.5 * S @ T.T @ way, S @ exp(0.5 * psi), name=name)

    def _reference(self, length):
        """Length, and mean and slope (12,) of the strains of the unloaded element."""
        poses = [(f.position, f.orientation) for f in (self.frame_A, self._frame_M, self.frame_B)]
        parts = [np.concatenate(self._helix(*pair)[::-1]) for pair in pairwise(poses)]
        arcs = [np.linalg.norm(part[:3]) for part in parts]
        L = float(sum(arcs)) if length is None else self.positive("length", length, "m")
        eps = [part / (0.5 * L) for part in parts]
        mean = 0.5 * (eps[0] + eps[1]) - L / 24.0 * adjoint(eps[0]) @ eps[1]
        self._tangent(mean[:3])
        return L, np.concatenate([mean, 2.0 / L * (eps[1] - eps[0])])

    def _segments(self):
        return [(self.frame_A, self._frame_M), (self._frame_M, self.frame_B)]

    _ends = "ends and middle"

    def regular(self, point: Any) -> bool:
        """True if the element can be differentiated at a point of `fem_mbs.verify`: no half turned by nearly π."""
        A, M, B = point.R[0] @ self.frame_A.rotation, point.R[1], point.R[2] @ self.frame_B.rotation
        return all(np.linalg.norm(log(first.T @ second)) < 3.0 for first, second in ((A, M), (M, B)))

    # --- numbers of the kernels -----------------------------------------------------------------------------------

    def _law(self, damping):
        """Φ₀, X, F₂ and the taper's flag of `beams.law`, and the damping matrix with its flag."""
        L = self.length
        c = 12.0 / L**2
        F = np.array([stiff_in_shear(section.flexibility, L) for section in self._sections])
        if self.tapered:
            tau = L * (STATIONS - 0.5)
            F0, F1, F2 = (np.einsum("g,gij->ij", WEIGHTS * tau**k, F) for k in range(3))
            q = 0.5 * (tau**2 - L**2 / 12.0)
            X = np.vstack([np.einsum("g,gij->ij", WEIGHTS * q * f, F[:, :, 3:]) for f in (1.0, c * tau)])
            curved = np.einsum("g,gij->ij", WEIGHTS * q**2, F[:, 3:, 3:])
        else:
            F0, F1, F2 = F[0], np.zeros((6, 6)), F[0] / c
            X, curved = np.zeros((12, 3)), L**4 / 720.0 * F[0][3:, 3:]
        Phi = blocks(F0, c * F1, c * F1, c * c * F2)
        if self.flexibility == "simple":
            X, curved = np.zeros((12, 3)), np.zeros((3, 3))
        beta, C = self._viscosity(damping)
        if C is not None:
            C_v = blocks(C, 0.0, 0.0, C / c)
        elif beta > 0:
            gamma_a, kappa_a, gamma_b, kappa_b = self.strain0.reshape(4, 3)
            G = -np.hstack([skew(gamma_b), skew(kappa_b), c * skew(gamma_a), c * skew(kappa_a)])
            C_v = beta * np.linalg.inv(Phi + X @ G + (X @ G).T + G.T @ curved @ G)
        else:
            C_v = np.zeros((12, 12))
        self.viscous = bool(C_v.any())
        return Phi, X, curved, int(bool(X.any())), int(self.viscous), 0.5 * (C_v + C_v.T)

    def _inertia(self):
        """m_ij, arms and rotary inertia of `beams.inertia`."""
        L = self.length
        fields, spins = quadratic_fields(L * np.linalg.norm(self.strain0[3:6]))
        mass, spin_inertia = self._at_stations("mass_per_length"), self._at_stations("inertia_per_length")
        m, J = inertia_numbers(fields, spins, mass, spin_inertia, L, self.inertia == "lumped")
        frames = (self.frame_A, self._frame_M, self.frame_B)
        center, direction = np.array([0.0, *self.section.mass_center]), L * self.strain0[:3]
        arms = np.array([[f.p + f.rotation @ center, f.rotation @ direction] for f in frames])
        S = [f.rotation for f in frames]
        return m, arms, int(np.any(arms[:, 0])), np.einsum("kab,klbc,ldc->klad", S, J, S)


def adjoint(strain: np.ndarray) -> np.ndarray:
    """ad(ξ) (6, 6) of (1) in `beams.law`."""
    spin = skew(strain[3:])
    return blocks(spin, skew(strain[:3]), 0.0, spin)


def stiff_in_shear(F: np.ndarray, length: float) -> np.ndarray:
    """A section flexibility (6, 6) with at least `SHEAR_FLOOR` in shear, which the element cannot do without."""
    F = F.copy()
    for shear, bending in ((1, 5), (2, 4)):
        F[shear, shear] = max(F[shear, shear], SHEAR_FLOOR * length**2 * F[bending, bending])
    return F


def _example(rng, node_A, node_B):
    return example(rng, node_A, node_B, kind=Beam)


register(Beam, example=_example)
