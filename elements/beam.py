"""Geometrically exact beam with two nodes: helicoidal kinematics, fourth-order flexibility, Hermite inertia.

Strains are constant along the element and those of a helix between the section frames of its ends; the section law is
corrected so that displacements converge with order 4 (no shear locking, no slenderness limit, no integration points).
Equations of the elastic part are in `beam_kernels`, of the inertia in `beam_inertia`.

Section forces that are reported are the forces of equilibrium at the ends, inertia and weight of the element included:

    n_B = S_Bᵀ r_x_B,   m_B = moment of r about the section,   r = M a − f      (at A with the opposite sign)       (1)

so that they agree between neighbours and with applied loads to round-off.

Source: formulation-beams, sections 1 and 3; Sonneville, Cardona & Brüls 2014 (helicoidal kinematics).
"""

import numpy as np

from fem_mbs.elements.base import Force, Inertia, register
from fem_mbs.elements.beam_inertia import gravity_energy, inertia, inertia_tangent
from fem_mbs.elements.beam_kernels import (
    PARAMETERS,
    force,
    force_tangent,
    initial,
    mixed,
    relative_pose,
    strain_energy,
    update,
)
from fem_mbs.elements.beam_limits import LARGEST_ANGLE, trouble
from fem_mbs.elements.sections import Section
from fem_mbs.errors import ParameterError, label
from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.nodes import Frame, Node6, finite_vector
from fem_mbs.rotations import exp, log, skew, tangent_inverse

HERMITE = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]) / 420
STATIONS, WEIGHTS = (0.5 * v + shift for v, shift in zip(np.polynomial.legendre.leggauss(4), (0.5, 0.0)))  # of tapers
INERTIA = ("hermite", "linear", "lumped")
FLEXIBILITY = ("fourth_order", "frozen", "plain")
TANGENT_ERROR = 0.3  # of the unloaded strain Γ against e₁; a curve of many degrees per element stays below 0.1


@kernel
def energy(p, x_A, R_A, x_B, R_B, gravity):
    """Strain energy and potential energy of the weight [J]."""
    return strain_energy(p, x_A, R_A, x_B, R_B) + gravity_energy(p, x_A, R_A, x_B, R_B, gravity)


@kernel
def output(p, x_A, R_A, v_A, w_A, a_A, alpha_A, x_B, R_B, v_B, w_B, a_B, alpha_B, gravity, out):
    """Fill out (18,): section forces and moments (1) at A and B, strains Γ − Γ₀ and κ − κ₀."""
    Ma, f = local_vector(12), local_vector(12)
    for i in range(12):
        Ma[i], f[i] = 0.0, 0.0
    inertia(p, R_A, w_A, a_A, alpha_A, R_B, w_B, a_B, alpha_B, gravity, Ma, f)
    force(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, f)
    S_A, S_B, A = local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    u, psi, form, strain = local_vector(3), local_vector(3), local_vector(9), local_vector(6)
    relative_pose(p, x_A, R_A, x_B, R_B, S_A, S_B, u, psi, form, A, strain)
    for i in range(12):
        f[i] = Ma[i] - f[i]
    # moments of the node axes, moved from the node to the section: R_oᵀ (m − p × Rᵀ r)
    c, d = local_vector(3), local_vector(3)
    for i in range(3):
        c[i] = R_A[0, i] * f[0] + R_A[1, i] * f[1] + R_A[2, i] * f[2]
        d[i] = R_B[0, i] * f[6] + R_B[1, i] * f[7] + R_B[2, i] * f[8]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        f[3 + i] -= p.p_A[j] * c[k] - p.p_A[k] * c[j]
        f[9 + i] -= p.p_B[j] * d[k] - p.p_B[k] * d[j]
    for i in range(3):
        for k in range(3):
            out[i] -= S_A[k, i] * f[k]
            out[3 + i] -= p.S_A[k, i] * f[3 + k]
            out[6 + i] += S_B[k, i] * f[6 + k]
            out[9 + i] += p.S_B[k, i] * f[9 + k]
    for i in range(6):
        out[12 + i] += strain[i] - p.strain0[i]


class Beam(Inertia, Force):
    """A beam between two nodes.

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
    inertia : {"hermite", "linear", "lumped"}
        "hermite": bending frequencies of order 4, for everything. "linear": order 2, constant mass matrix, linear
        momentum kept to round-off by the integrator. "lumped": order 2, block-diagonal mass matrix; for runs ruled by
        impacts. Do not combine linear or lumped inertia with questions about frequencies.
    flexibility : {"fourth_order", "frozen", "plain"}
        "plain" is the classical two-node element of order 2; "frozen" corrects it with the flexibility of the unloaded
        element (order 2 with a constant 4-20 times smaller).
    large_strain : bool
        Take the current instead of the reference strain Γ in the flexibility. Set it where axial and shear strains are
        not small (rubber; order 4 is kept), and for **cables, chains and other members whose tension exceeds 12 EI/L²
        of an element**: there the default has a false negative stiffness. For slender beams in bending the default is
        2-3 times more accurate.
    damping : float ≥ 0 [s], (6,) or (6, 6) [N s, N m² s]
        Kelvin-Voigt damping on strain rates, objective (no drag on rigid motion): a number β makes it proportional to
        the stiffness (damping ratio βω/2); else the matrix C_v of σ = C_v ε̇, or its diagonal.
    name : str, optional

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

    Notes
    -----
    Keep the rotation between the two ends of an element below 2.8 rad during a run. Section forces at a node agree
    between neighbours. A massless section is allowed; its nodes then need other mass or the static solver.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> steel = Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    >>> rod = Beam(Node6([0, 0, 0]), Node6([0.1, 0, 0]), steel, name="rod")
    >>> rod.length
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
        "trouble": trouble,
    }
    n_state = 6
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
        end_A,
        end_B,
        section,
        *,
        length=None,
        orientation=None,
        inertia="hermite",
        flexibility="fourth_order",
        large_strain=False,
        damping=0.0,
        name=None,
    ):
        self.name = name
        frames = [Frame.of(end_A), Frame.of(end_B)]
        super().__init__([frame.node for frame in frames], name=name)
        if frames[0].node is frames[1].node:
            raise ParameterError(self, "end_B", end_B, "is on the same node as end_A; a beam needs two nodes")
        self.check(inertia in INERTIA, "inertia", inertia, f"is unknown; allowed: {', '.join(INERTIA)}")
        self.check(
            flexibility in FLEXIBILITY, "flexibility", flexibility, f"is unknown; allowed: {', '.join(FLEXIBILITY)}"
        )
        self.inertia, self.flexibility, self.large_strain = inertia, flexibility, bool(large_strain)
        given = [isinstance(end, Frame) and orientation is None for end in (end_A, end_B)]
        self.frame_A, self.frame_B = self._place(frames, given, orientation)
        self.length, self.strain0 = self._reference(length)
        self._sections = (
            [self._section(section, s) for s in STATIONS] if callable(section) else [self._section(section)]
        )
        self.section = self._section(section, 0.5) if callable(section) else section
        self.record = (
            self.length,
            self.frame_A.p,
            self.frame_A.rotation,
            self.frame_B.p,
            self.frame_B.rotation,
            int(any(np.any(frame.p) for frame in (self.frame_A, self.frame_B)) or np.any(self.section.mass_center)),
            self.strain0,
            *self._law(damping),
            *self._inertia(),
        )

    # --- geometry -------------------------------------------------------------------------------------------------

    def _place(self, frames, given, orientation):
        """Section frames at the two ends: those given, or along the straight line between the ends."""
        chord = frames[1].position - frames[0].position
        distance = float(np.linalg.norm(chord))
        if distance <= 1e-12 * max(np.abs(frame.position).max() for frame in frames):
            ends = " and ".join(label(node) for node in self.nodes)
            message = f"m between {ends}; the ends of a beam need two different positions"
            raise ParameterError(self, "length", distance or 0, message)
        e1 = chord / distance
        S = None if all(given) else section_axes(self, e1, orientation)
        placed = []
        for frame, keep in zip(frames, given):
            if keep:
                message = (
                    "has its x axis against the beam; it points from A to B (turn the frame, or give orientation=)"
                )
                self.check(frame.orientation[:, 0] @ e1 > 0, "frame", frame, message)
                placed.append(frame)
            else:
                placed.append(Frame(frame.node, frame.p, frame.node.rotation.T @ S, name=frame.name))
        return placed

    def _reference(self, length):
        """Length and strains (6,) of the unloaded element."""
        S_A, S_B = self.frame_A.orientation, self.frame_B.orientation
        psi = log(S_A.T @ S_B)
        angle = float(np.linalg.norm(psi))
        message = f"rad between the sections at its ends; must be below {LARGEST_ANGLE} (use more elements)"
        self.check(angle < LARGEST_ANGLE, "angle", angle, message)
        A = np.empty((3, 3))
        tangent_inverse(-psi, A)
        way = A @ S_A.T @ (self.frame_B.position - self.frame_A.position)
        arc = float(np.linalg.norm(way)) if length is None else self.positive("length", length, "m")
        gamma = way / arc
        message = (
            "(strain Γ of the unloaded beam) is far from (1, 0, 0): the x axes of the frames must be tangent to the "
            "beam, and length be its arc length"
        )
        self.check(np.linalg.norm(gamma - [1, 0, 0]) < TANGENT_ERROR, "end frames", np.round(gamma, 4), message)
        return arc, np.concatenate([gamma, psi / arc])

    def _section(self, section, s=None):
        section = section if s is None else section(float(s))
        self.check(isinstance(section, Section), "section", section, "is not a Section")
        return section

    # --- numbers of the kernels -----------------------------------------------------------------------------------

    def _law(self, damping):
        """F₀, F₁, F₂, flag, and the damping matrix with its flag."""
        L = self.length
        if len(self._sections) == 1:
            F = self._sections[0].flexibility
            moments = [F, np.zeros((6, 6)), L**2 / 12 * F]
        else:
            tau = L * (STATIONS - 0.5)
            F = np.array([s.flexibility for s in self._sections])
            moments = [np.einsum("g,gij->ij", WEIGHTS * tau**k, F) for k in range(3)]
        gamma, kappa = self.strain0[:3], self.strain0[3:]
        W = -np.block([[skew(kappa), np.zeros((3, 3))], [skew(gamma), skew(kappa)]])
        frozen = moments[0] + moments[1] @ W + W.T @ moments[1] + W.T @ moments[2] @ W
        frozen = 0.5 * (frozen + frozen.T)
        if self.flexibility == "plain":
            moments = [moments[0], np.zeros((6, 6)), np.zeros((6, 6))]
            frozen = moments[0]
        elif self.flexibility == "frozen":
            moments = [frozen, np.zeros((6, 6)), np.zeros((6, 6))]
        message = "needs a section with shear flexibility (finite GA2, GA3); the others work without"
        self.check((np.diag(frozen) > 0).all(), "flexibility", self.flexibility, message)
        given = np.asarray(damping, float)
        if given.ndim == 0:
            beta = self.positive("damping", damping, "s", allow_zero=True)
            C_v = beta * np.linalg.inv(frozen) if beta > 0 else np.zeros((6, 6))
        else:
            C_v = np.diag(given) if given.shape == (6,) else given
            self.check(C_v.shape == (6, 6), "damping", damping, "must be a number [s], (6,) or (6, 6)")
            good = np.isfinite(C_v).all() and np.abs(C_v - C_v.T).max() <= 1e-9 * np.abs(C_v).max()
            self.check(bool(good), "damping", damping, "must be finite and symmetric")
            self.check(
                np.linalg.eigvalsh(C_v)[0] >= -1e-12 * np.abs(C_v).max(), "damping", damping, "has negative modes"
            )
        self.viscous = bool(C_v.any())
        return (*moments, float(self.large_strain), int(self.viscous), C_v)

    def _inertia(self):
        """m_ij, arms and rotary inertia of `beam_inertia`."""
        L = self.length
        if len(self._sections) == 1:
            mass, spin = self._sections[0].mass_per_length, self._sections[0].inertia_per_length
            hermite = mass * HERMITE
            ends = mass * np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])
            J = [spin / 3, spin / 6, spin / 3]
        else:
            s = STATIONS
            mass = np.array([section.mass_per_length for section in self._sections])
            spin = np.array([section.inertia_per_length for section in self._sections])
            cubic = np.array([1 - 3 * s**2 + 2 * s**3, s * (1 - s) ** 2, 3 * s**2 - 2 * s**3, -(s**2) * (1 - s)])
            linear = np.array([1 - s, s])
            # four Gauss points integrate the sixth-degree products of a constant section exactly
            hermite = np.einsum("g,ig,jg->ij", WEIGHTS * mass, cubic, cubic)
            ends = np.einsum("g,ig,jg->ij", WEIGHTS * mass, linear, linear)
            J = [np.einsum("g,gij->ij", WEIGHTS * linear[n] * linear[k], spin) for n, k in ((0, 0), (0, 1), (1, 1))]
        m = hermite
        if self.inertia != "hermite":
            m = np.zeros((4, 4))
            if self.inertia == "lumped":
                ends = np.diag(ends.sum(axis=1))
                J = [J[0] + J[1], np.zeros((3, 3)), J[1] + J[2]]
            m[::2, ::2] = ends
        S_A, S_B = self.frame_A.rotation, self.frame_B.rotation
        center = np.array([0.0, *self.section.mass_center])
        direction = L * self.strain0[:3]
        return (
            L * m,
            np.array([self.frame_A.p + S_A @ center, S_A @ direction]),
            np.array([self.frame_B.p + S_B @ center, S_B @ direction]),
            L * S_A @ J[0] @ S_A.T,
            L * S_A @ J[1] @ S_B.T,
            L * S_B @ J[2] @ S_B.T,
        )

    def trouble(self, state):
        """What is wrong with the element in a state, as text, or None: its ends turned too far against each other."""
        A, B = (state.R[frame.node.index] @ frame.rotation for frame in (self.frame_A, self.frame_B))
        # cos θ = (tr R − 1)/2; beyond π the logarithm comes back with the other sign, so it never shows more
        angle = float(np.arccos(np.clip(0.5 * (np.sum(A * B) - 1.0), -1.0, 1.0)))
        if angle < LARGEST_ANGLE:
            return None
        turned = f"its ends are turned by {angle:.2f} rad against each other (at most {LARGEST_ANGLE})"
        return f"{label(self)}: {turned}; use more elements"

    def picture(self):
        return [] if self.section.outline is None else [(self, self.section.outline)]


def section_axes(owner, e1, orientation=None):
    """Rotation (3, 3) of a section with axis e1 (3,), unit; e₂ near ``orientation`` (3,), see `Beam`."""
    if orientation is None:
        e2 = np.cross([0.0, 0.0, 1.0], e1)
        # nearer than 1e-6 rad to the vertical its direction would be noise
        e2 = e2 if np.linalg.norm(e2) > 1e-6 else np.array([0.0, 1.0, 0.0])
    else:
        e2 = finite_vector(owner, "orientation", orientation)
    e2 = e2 - (e2 @ e1) * e1
    size = np.linalg.norm(e2)
    if size <= 1e-9 * max(1.0, 0.0 if orientation is None else np.linalg.norm(orientation)):
        raise ParameterError(owner, "orientation", orientation, "is along the beam; give a direction across it")
    e2 = e2 / size
    return np.column_stack([e1, e2, np.cross(e1, e2)])


class BeamLine:
    """Beams in a row with the nodes between them; ``model.add(line)`` adds them all.

    Attributes
    ----------
    nodes : list of Node, from the first end to the last
    elements : list of Beam
    """

    def __init__(self, nodes, elements):
        self.nodes, self.elements = nodes, elements

    def __iter__(self):
        return iter(self.elements)

    def __len__(self):
        return len(self.elements)

    def __getitem__(self, i):
        return self.elements[i]


def beam_line(start, end, n, section, *, orientation=None, name=None, fixed=(), **options):
    """A straight line of n equal beams.

    Parameters
    ----------
    start, end : Node6, RigidBody, Frame or (3,) position [m]
        Ends; a frame gives an eccentric connection (only its place counts), a position makes a new node.
    n : int ≥ 1
    section : Section, or function of s in [0, 1] along the whole line
    orientation : (3,), optional
        Near e₂, see `Beam`; the new nodes get the section axes as their axes.
    name : str, optional
        Beams are called "name 1" … "name n", new nodes "name node 0" … "name node n".
    fixed : components of the new nodes that never move, see `Node6` (planar models)
    options : of `Beam`

    Returns
    -------
    BeamLine

    Examples
    --------
    >>> line = beam_line([0, 0, 0], [1, 0, 0], 10, Section.circle(5e-3, E=2.1e9, density=7800), name="rod")
    >>> len(line.nodes), line.elements[0].name
    (11, 'rod 1')
    """
    count = _count(n, name)
    ends = [_end(item) for item in (start, end)]
    places = [item.position if isinstance(item, Frame) else item for item in ends]
    chord = places[1] - places[0]
    distance = np.linalg.norm(chord)
    probe = _Named(name)
    if distance == 0:
        raise ParameterError(probe, "length", 0, "m; the ends of a beam need two different positions")
    S = section_axes(probe, chord / distance, orientation)

    def pose(s):
        return places[0] + s * chord, S

    return _line(ends, count, section, pose, name, fixed, [distance / count] * count, options)


def beam_curve(
    curve, n, section, *, start=None, end=None, orientation=None, length=None, name=None, fixed=(), **options
):
    """Beams along a curve that is unloaded as it is.

    Parameters
    ----------
    curve : function of s in [0, 1]
        Returns the position (3,) [m] and the tangent (3,) (of any length) there, or the position and the rotation
        (3, 3) of the section, its first column the tangent.
    n : int ≥ 1
        Elements, of equal steps in s.
    section : Section, or function of s in [0, 1] along the whole curve
    start, end : Node6, RigidBody or Frame, optional
        Existing nodes for the ends of the curve (connected with the offset they have from it); default: new nodes.
    orientation : (3,), optional
        With tangents: e₂ is near it at s = 0 and is carried along without twist (rotation-minimising frames).
    length : float, optional [m]
        Arc length of the whole curve, for a curve of constant speed; default: that of helices between the nodes, whose
        error is of the same order as that of the element.
    name, fixed, options : as `beam_line`

    Examples
    --------
    >>> def arc(s):
    ...     phi = np.pi / 4 * s
    ...     return 100 * np.array([np.sin(phi), 1 - np.cos(phi), 0]), np.array([np.cos(phi), np.sin(phi), 0])
    >>> bend = beam_curve(arc, 8, Section.rectangle(1, 1, E=1e7, nu=0), name="bend")
    >>> round(sum(beam.length for beam in bend), 6)
    78.539816
    """
    count = _count(n, name)
    probe = _Named(name)
    # frames are carried over a finer division than the elements, so that the twist of the mesh does not depend on n
    fine = 8
    places, frames = [], []
    for k in range(count * fine + 1):
        x, direction = curve(k / (count * fine))
        x, direction = finite_vector(probe, "curve", x), np.asarray(direction, float)
        if direction.shape == (3, 3):
            S = direction
        else:
            direction = finite_vector(probe, "curve", direction)
            size = np.linalg.norm(direction)
            if size == 0:
                raise ParameterError(
                    probe, "curve", direction, f"(tangent at s = {k / (count * fine):.3g}) has no direction"
                )
            S = (
                section_axes(probe, direction / size, orientation)
                if k == 0
                else carried(frames[-1], places[-1], x, direction / size)
            )
        places.append(x)
        frames.append(S)

    def pose(s):
        k = round(s * count * fine)
        return places[k], frames[k]

    ends = []
    for item, s in ((start, 0.0), (end, 1.0)):
        x, S = pose(s)
        ends.append(x if item is None else Frame.of(item).node.frame_at(x, S))
    lengths = [None if length is None else length / count] * count
    return _line(ends, count, section, pose, name, fixed, lengths, options)


def carried(S, x, x_next, e1):
    """Section rotation at the next point of a curve without twist: double reflection (Wang et al. 2008)."""
    v = x_next - x
    c = v @ v
    if c == 0:
        return S
    e2, t = S[:, 1] - 2 / c * (v @ S[:, 1]) * v, S[:, 0] - 2 / c * (v @ S[:, 0]) * v
    v = e1 - t
    c = v @ v
    e2 = e2 - 2 / c * (v @ e2) * v if c > 1e-30 else e2
    e2 = e2 - (e2 @ e1) * e1
    e2 /= np.linalg.norm(e2)
    return np.column_stack([e1, e2, np.cross(e1, e2)])


class _Named:
    """What an error names before the first beam exists."""

    def __init__(self, name):
        self.name = name


_Named.__name__ = "Beam"


def _count(n, name):
    if int(n) != n or n < 1:
        raise ParameterError(_Named(name), "n", n, "must be a whole number of elements ≥ 1")
    return int(n)


def _end(item):
    """A frame on an existing node, or a position (3,)."""
    if isinstance(item, (list, tuple, np.ndarray)):
        return finite_vector(_Named(None), "position", item)
    return Frame.of(item)


def _line(ends, n, section, pose, name, fixed, lengths, options):
    nodes, frames = [], []
    for k in range(n + 1):
        x, S = pose(k / n)
        known = ends[0] if k == 0 else ends[1] if k == n else None
        if isinstance(known, Frame):
            frames.append(Frame(known.node, known.p, known.node.rotation.T @ S))
        else:
            node = Node6(x, S, fixed=fixed, name=f"{name} node {k}" if name else None)
            frames.append(node.frame())
        nodes.append(frames[-1].node)
    elements = []
    for k in range(n):
        part = (lambda s, k=k: section((k + s) / n)) if callable(section) else section
        beam_name = None if name is None else f"{name} {k + 1}"
        elements.append(Beam(frames[k], frames[k + 1], part, length=lengths[k], name=beam_name, **options))
    return BeamLine(nodes, elements)


def _example(rng, node_A, node_B):
    # a curved, twisted, eccentric, coupled, damped element between two random nodes
    C = rng.normal(size=(6, 6))
    C = C @ C.T + 6 * np.eye(6)
    J = rng.uniform(0.5, 1.0, 3)
    section = Section(stiffness=C, mass_per_length=rng.uniform(0.5, 2.0), inertia_per_length=J)
    x, S = rng.normal(size=3), exp(rng.normal(size=3))
    psi = 0.5 * rng.normal(size=3)
    A = np.empty((3, 3))
    tangent_inverse(psi, A)
    end = x + S @ np.linalg.inv(A.T) @ [1.3, 0.0, 0.0]  # T(ψ)ᵀ (L, 0, 0): the end of a helix
    return Beam(
        node_A.frame_at(x, S),
        node_B.frame_at(end, S @ exp(psi)),
        section.shifted(*rng.normal(size=2)),
        large_strain=rng.random() < 0.5,
        damping=rng.uniform(0.1, 0.5),
    )


register(Beam, example=_example)
