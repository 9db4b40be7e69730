"""Geometrically exact beam with two nodes: helicoidal kinematics, fourth-order flexibility, Hermite inertia.

Strains are constant along the element and those of a helix between the section frames of its ends; the section law is
corrected so that displacements converge with order 4 (no shear locking, no slenderness limit, no integration points).
Equations of the elastic part are in `beams.two_node_geometry`, `beams.two_node_law` and `beams.two_node_kernels`, of
the inertia in `beams.inertia`.

Section forces that are reported are the forces of equilibrium at the ends, inertia and weight of the element included:

    n_B = S_Bᵀ r_x_B,   m_B = moment of r about the section,   r = M a − f      (at A with the opposite sign)       (1)

so that they agree between neighbours and with applied loads to round-off.

Source: docs/theory/beams.md, section 7; Sonneville, Cardona & Brüls 2014 (helicoidal kinematics).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.beams.base import BeamElement, blocks, section_output
from fem_mbs.elements.beams.inertia import gravity_energy, inertia, inertia_tangent
from fem_mbs.elements.beams.limits import TENSION_TWO_NODE, tension_number, trouble_two_node
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.shapes import STATIONS, WEIGHTS, hermite_fields, inertia_numbers, linear_fields
from fem_mbs.elements.beams.two_node_geometry import SEGMENT, Segment, relative_pose
from fem_mbs.elements.beams.two_node_kernels import (
    PARAMETERS,
    force,
    force_tangent,
    initial,
    mixed,
    strain_energy,
    update,
)
from fem_mbs.errors import label
from fem_mbs.jit import kernel, local_arrays, local_record
from fem_mbs.nodes import Node
from fem_mbs.rotations import exp, skew, tangent_inverse


@kernel
def energy(p, x, R, gravity):
    """Strain energy and potential energy of the weight [J]."""
    return strain_energy(p, x[0], R[0], x[1], R[1]) + gravity_energy(p, x, R, gravity)


@kernel
def output(p, R, v, a, gravity, node_A, node_B, out):
    """Fill out (18,): section forces and moments (1) at A and B, strains Γ − Γ₀ and κ − κ₀."""
    Ma, f, noted = local_arrays("12, 12, 2")
    for i in range(12):
        Ma[i], f[i] = 0.0, 0.0
    inertia(p, R, v, a, gravity, Ma, f)
    force(p, node_A, node_B, f, noted)
    seg = local_record(Segment, SEGMENT)
    relative_pose(p, node_A.x, node_A.R, node_B.x, node_B.R, seg)
    for i in range(12):
        f[i] = Ma[i] - f[i]
    section_output(-1.0, R[0], p.p_A, p.S_A, seg.S_A, f[0:6], out[0:3], out[3:6])
    section_output(1.0, R[1], p.p_B, p.S_B, seg.S_B, f[6:12], out[6:9], out[9:12])
    for i in range(6):
        out[12 + i] += seg.strain[i] - p.strain0[i]


class TwoNodeBeam(BeamElement):
    """A beam element between two nodes, without the hidden middle node of `Beam`.

    For comparison with classical elements, for chains whose nodes are all given, and where a constant mass matrix is
    wanted. Its static bending has order 4 like that of `Beam`; its frequencies and motions are of order 2 wherever
    shear, rotary inertia, axial or torsional waves matter, and so are curved elements under distributed load. Lines of
    it: ``beam_line(…, poses=2)``.

    Parameters
    ----------
    end_A, end_B, section, length, orientation, damping, name : as `Beam`
    inertia : {"hermite", "linear", "lumped"}
        "hermite": slender bending frequencies of order 4, for everything. "linear": order 2, constant mass matrix,
        linear momentum kept to round-off by the integrator. "lumped": order 2, block-diagonal mass matrix; for runs
        ruled by impacts. Do not combine linear or lumped inertia with questions about frequencies.
    flexibility : {"fourth_order", "frozen", "plain"}
        "plain" is the classical two-node element of order 2; "frozen" corrects it with the flexibility of the unloaded
        element (order 2 with a constant 4-20 times smaller).
    large_strain : bool
        Take the current strain Γ in the flexibility (default), or that of the unloaded beam. The latter is 2-3 times
        more accurate for slender beams in bending at small strain, of order 2 at strains of a few per cent, and **wrong
        in tension**: the element is unstable above 12 EI/L². A run is stopped when its tension exceeds 6 EI/L².

    Outputs
    -------
    force_A, force_B : (3,) [N]
        Section forces (N, Q₂, Q₃) at the ends, section axes; N > 0 is tension.
    moment_A, moment_B : (3,) [N m], section moments (M₁ torsion, M₂, M₃), section axes
    strain, curvature : (3,) [-], [1/m], changes of Γ and κ, constant in the element

    Raises
    ------
    ParameterError
        Zero length, both ends on one node, frames that are not tangent to the beam, or turned by more than 2.8 rad
        against each other (use more elements).

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> steel = Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    >>> TwoNodeBeam(Node6([0, 0, 0]), Node6([0.1, 0, 0]), steel, name="rod").length
    0.1
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
        "trouble": trouble_two_node,
    }
    n_state = 6
    remembers = False
    outputs = {
        "force_A": (3, "N"),
        "moment_A": (3, "N m"),
        "force_B": (3, "N"),
        "moment_B": (3, "N m"),
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
        inertia: str = "hermite",
        flexibility: str = "fourth_order",
        large_strain: bool = True,
        damping: ArrayLike = 0.0,
        name: str | None = None,
    ) -> None:
        self._connect(end_A, end_B, orientation, name)
        super().__init__([self.frame_A.node, self.frame_B.node], name=name)
        self._choice("inertia", inertia, ("hermite", "linear", "lumped"))
        self._choice("flexibility", flexibility, ("fourth_order", "frozen", "plain"))
        self.inertia, self.flexibility, self.large_strain = inertia, flexibility, bool(large_strain)
        psi, way = self._helix(*((frame.position, frame.orientation) for frame in (self.frame_A, self.frame_B)))
        self.length = float(np.linalg.norm(way)) if length is None else self.positive("length", length, "m")
        self._tangent(way / self.length)
        self.strain0 = np.concatenate([way, psi]) / self.length
        self._along(section)
        self._set_record(any(np.any(frame.p) for frame in (self.frame_A, self.frame_B)), damping)

    def _law(self, damping):
        """F₀, F₁, F₂, flag, and the damping matrix with its flag."""
        L = self.length
        if not self.tapered:
            F = self._sections[0].flexibility
            moments = [F, np.zeros((6, 6)), L**2 / 12 * F]
        else:
            tau = L * (STATIONS - 0.5)
            F = self._at_stations("flexibility")
            moments = [np.einsum("g,gij->ij", WEIGHTS * tau**k, F) for k in range(3)]
        gamma, kappa = self.strain0[:3], self.strain0[3:]
        W = -blocks(skew(kappa), 0.0, skew(gamma), skew(kappa))
        frozen = moments[0] + moments[1] @ W + W.T @ moments[1] + W.T @ moments[2] @ W
        frozen = 0.5 * (frozen + frozen.T)
        if self.flexibility == "plain":
            moments = [moments[0], np.zeros((6, 6)), np.zeros((6, 6))]
            frozen = moments[0]
        elif self.flexibility == "frozen":
            moments = [frozen, np.zeros((6, 6)), np.zeros((6, 6))]
        message = "needs a section with shear flexibility (finite GA2, GA3); the others work without"
        self.check((np.diag(frozen) > 0).all(), "flexibility", self.flexibility, message)
        beta, C_v = self._viscosity(damping)
        if C_v is None:
            C_v = beta * np.linalg.inv(frozen) if beta > 0 else np.zeros((6, 6))
        self.viscous = bool(C_v.any())
        return (*moments, float(self.large_strain), int(self.viscous), C_v)

    def _inertia(self):
        """m_ij, arms and rotary inertia of `beams.inertia`."""
        L = self.length
        fields, spins = hermite_fields() if self.inertia == "hermite" else linear_fields()
        mass, spin_inertia = self._at_stations("mass_per_length"), self._at_stations("inertia_per_length")
        m, J = inertia_numbers(fields, spins, mass, spin_inertia, L, self.inertia == "lumped")
        S = [self.frame_A.rotation, self.frame_B.rotation]
        center, direction = np.array([0.0, *self.section.mass_center]), L * self.strain0[:3]
        arms = np.array([[f.p + f.rotation @ center, f.rotation @ direction] for f in (self.frame_A, self.frame_B)])
        return m, arms, int(np.any(arms[:, 0])), np.einsum("kab,klbc,ldc->klad", S, J, S)

    def trouble(self, state: Any) -> str | None:
        text = super().trouble(state)
        if text is None and not self.large_strain:
            p = np.zeros(1, self.parameters)
            p[0] = self.record
            A, B = (node.index for node in self.nodes)
            number = tension_number(p[0], state.x[A], state.R[A], state.x[B], state.R[B])
            if number > TENSION_TWO_NODE:
                text = (
                    f"{label(self)}: its tension is {number:.3g} EI/L², at most {TENSION_TWO_NODE:g} with "
                    "large_strain=False; take large_strain=True, more elements, or the three-node Beam"
                )
        return text


def example(rng: np.random.Generator, node_A: Node, node_B: Node, kind: type = TwoNodeBeam, **options: Any) -> Any:
    """A curved, twisted, eccentric, coupled, damped element between two random nodes."""
    C = rng.normal(size=(6, 6))
    C = C @ C.T + 6 * np.eye(6)
    J = rng.uniform(0.5, 1.0, 3)
    section = Section(stiffness=C, mass_per_length=rng.uniform(0.5, 2.0), inertia_per_length=J)
    x, S = rng.normal(size=3), exp(rng.normal(size=3))
    psi = 0.5 * rng.normal(size=3)
    A = np.empty((3, 3))
    tangent_inverse(psi, A)
    end = x + S @ np.linalg.inv(A.T) @ [1.3, 0.0, 0.0]  # T(ψ)ᵀ (L, 0, 0): the end of a helix
    return kind(
        node_A.frame_at(x, S),
        node_B.frame_at(end, S @ exp(psi)),
        section.shifted(*rng.normal(size=2)),
        damping=rng.uniform(0.1, 0.5),
        **options,
    )


def _example(rng, node_A, node_B):
    return example(rng, node_A, node_B, large_strain=rng.random() < 0.5)


register(TwoNodeBeam, example=_example)
