"""Common base of the two beam elements: section frames at the ends, sections along the length, damping, output."""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.element.base import Force, Inertia
from fem_mbs.element.kinds import BeamLike
from fem_mbs.elements.beams.limits import LARGEST_ANGLE
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.shapes import STATIONS
from fem_mbs.errors import ParameterError, label
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.nodes import Frame, finite_vector
from fem_mbs.rotations import log, rotate_T, tangent_inverse

TENSION, COMPRESSION = 50.0, 10.0  # N L²/EI from which on a warning is issued
TANGENT_ERROR = 0.3  # of the unloaded strain Γ against e₁; a curve of many degrees per element stays below 0.1


@kernel
def section_output(sign, R, offset, rotation, S, rows, force, moment):
    """Add sign times the section force and moment (3,) of an end that the rows (6,) of its node stand for."""
    local, arm = local_arrays("3, 3")
    rotate_T(R, rows[0:3], local)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        arm[i] = rows[3 + i] - offset[j] * local[k] + offset[k] * local[j]
    for i in range(3):
        for k in range(3):
            force[i] += sign * S[k, i] * rows[k]
            moment[i] += sign * rotation[k, i] * arm[k]


class BeamElement(BeamLike, Inertia, Force):
    """Base of `Beam` and `TwoNodeBeam`."""

    def _connect(self, end_A, end_B, orientation, name):
        """Take in the nodes and find the section frames at the two ends."""
        self.name = name
        frames = [Frame.of(end_A), Frame.of(end_B)]
        if frames[0].node is frames[1].node:
            raise ParameterError(self, "end_B", end_B, "is on the same node as end_A; a beam needs two nodes")
        given = [isinstance(end, Frame) and orientation is None for end in (end_A, end_B)]
        self.frame_A, self.frame_B = self._place(frames, given, orientation)

    def _choice(self, parameter, value, allowed, hint=""):
        self.check(value in allowed, parameter, value, f"is unknown; allowed: {', '.join(allowed)}{hint}")

    # --- geometry -------------------------------------------------------------------------------------------------

    def _place(self, frames, given, orientation):
        """Section frames at the two ends: those given, or along the straight line between the ends."""
        places = [frame.position for frame in frames]
        chord = places[1] - places[0]
        distance = float(np.linalg.norm(chord))
        if distance <= 1e-12 * max(np.abs(place).max() for place in places):
            ends = " and ".join(label(frame.node) for frame in frames)
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

    def _set_record(self, placed, damping):
        """Values of the parameters; placed: 1 if the section frames at the ends differ from those of the nodes."""
        A, B = self.frame_A, self.frame_B
        frames = (A.p, A.rotation, B.p, B.rotation, int(placed))
        self.record = (self.length, *frames, self.strain0, *self._law(damping), *self._inertia())

    def _helix(self, A, B):
        """ψ, L Γ of the helix between two frames (position, orientation), angle checked."""
        psi = log(A[1].T @ B[1])
        angle = float(np.linalg.norm(psi))
        if not angle < LARGEST_ANGLE:
            message = f"rad between the sections at its ends; must be below {LARGEST_ANGLE} (use more elements)"
            raise ParameterError(self, "angle", angle, message)
        T = np.empty((3, 3))
        tangent_inverse(-psi, T)
        return psi, T @ A[1].T @ (B[0] - A[0])

    def _tangent(self, gamma):
        message = (
            "(strain Γ of the unloaded beam) is far from (1, 0, 0): the x axes of the frames must be tangent to the "
            "beam, and length be its arc length"
        )
        self.check(np.linalg.norm(gamma - [1, 0, 0]) < TANGENT_ERROR, "end frames", np.round(gamma, 4), message)

    def _section(self, section, s=None):
        section = section if s is None else section(float(s))
        self.check(isinstance(section, Section), "section", section, "is not a Section")
        return section

    def _along(self, section):
        """Keep the section, or the sections at the stations of a taper."""
        self._sections = (
            [self._section(section, s) for s in STATIONS] if callable(section) else [self._section(section)]
        )
        self.section = self._section(section, 0.5) if callable(section) else section

    @property
    def tapered(self) -> bool:
        return len(self._sections) > 1

    def _at_stations(self, name):
        """A quantity of the sections at the four stations (4, …)."""
        values = np.array([getattr(section, name) for section in self._sections])
        return values if self.tapered else np.repeat(values, len(STATIONS), axis=0)

    def _viscosity(self, damping):
        """Damping as a factor β [s] of the stiffness, or None, and as a matrix (6, 6), or None."""
        given = np.asarray(damping, float)
        if given.ndim == 0:
            return self.positive("damping", damping, "s", allow_zero=True), None
        C = np.diag(given) if given.shape == (6,) else given
        self.check(C.shape == (6, 6), "damping", damping, "must be a number [s], (6,) or (6, 6)")
        good = np.isfinite(C).all() and np.abs(C - C.T).max() <= 1e-9 * np.abs(C).max()
        self.check(bool(good), "damping", damping, "must be finite and symmetric")
        self.check(np.linalg.eigvalsh(C)[0] >= -1e-12 * np.abs(C).max(), "damping", damping, "has negative modes")
        return None, C

    def _segments(self):
        """Pairs of frames between which the element is one helix."""
        return [(self.frame_A, self.frame_B)]

    def trouble(self, state: Any) -> str | None:
        """Describe the fault of the element in a state, or None: a relative rotation of its ends that is too large."""
        for first, second in self._segments():
            A, B = (state.R[frame.node.index] @ frame.rotation for frame in (first, second))
            # cos θ = (tr R − 1)/2; beyond π the logarithm comes back with the other sign, so it never shows more
            angle = float(np.arccos(np.clip(0.5 * (np.sum(A * B) - 1.0), -1.0, 1.0)))
            if angle >= LARGEST_ANGLE:
                turned = f"its {self._ends} are turned by {angle:.2f} rad against each other (at most {LARGEST_ANGLE})"
                return f"{label(self)}: {turned}; use more elements"
        return None

    _ends = "ends"
    length: float

    noted = (("force_A", 0), ("force_B", 0))  # in runs: those of the stresses in the halves next to these ends

    def output_warnings(self, histories: dict) -> list:
        """Normal forces this element does not resolve, see `element_checks`: list of (kind, size, text)."""
        F = self.section.flexibility
        N = np.concatenate([histories[name][:, 0] for name in ("force_A", "force_B")])
        number = self.length**2 * max(F[4, 4], F[5, 5]) * N  # N L²/EI
        found = []
        turning = N.max() * (max(F[1, 1], F[2, 2]) - F[0, 0])  # N/N_c, N_c = 1/(1/GA − 1/EA)
        if turning > 1.0:
            text = (
                f"normal force of up to {N.max():.3g} N, {turning:.3g} times EA GA/(EA − GA): sections of a linear law "
                "rotate aside by themselves there, and results have no meaning. Reduce the load, or give a "
                "larger shear coefficient (GA ≥ EA: none does)"
            )
            found.append(("stretch", float(turning), text))
        elif number.max() > TENSION:
            text = (
                f"tension of up to {number.max():.3g} EI/L² in one element; above {TENSION:g} the boundary layers "
                "√(EI/N) at clamps and loads are not resolved. The element stays stable; deflections err by 1e-3 to "
                "1e-2 of their size. Use shorter elements there if that matters"
            )
            found.append(("tension", float(number.max()), text))
        if number.min() < -COMPRESSION:
            text = (
                f"compression of up to {-number.min():.3g} EI/L² in one element; above {COMPRESSION:g} it would buckle "
                "between its nodes, which it cannot show. Use shorter elements"
            )
            found.append(("compression", float(-number.min()), text))
        return found

    def picture(self) -> list:
        if self.section.outline is None:
            return []
        return [(_Piece(*ends), self.section.outline) for ends in self._segments()]


class _Piece:
    """A part of a beam that is drawn as one helix."""

    def __init__(self, frame_A: Frame, frame_B: Frame) -> None:
        self.frame_A, self.frame_B = frame_A, frame_B


def section_axes(owner: Checked, e1: np.ndarray, orientation: ArrayLike | None = None) -> np.ndarray:
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


def blocks(A: Any, B: Any, C: Any, D: Any) -> np.ndarray:
    """Matrix [[A, B], [C, D]] of blocks as large as A; B and C may be 0. A tenth of the time of `np.block`."""
    n = len(A)
    M = np.empty((2 * n, 2 * n))
    M[:n, :n], M[:n, n:], M[n:, :n], M[n:, n:] = A, B, C, D
    return M
