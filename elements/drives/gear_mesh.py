"""Involute gears in mesh with elastic teeth, backlash and both flanks: a force along the line of action.

The kernels are those of `drives.spans`, with teeth in them: r_b are base radii, α_w the angle of action at the centre
distance a_0 at which both flanks touch, x profile shifts, z teeth, b_0 backlash at a_0:

    r_b = m z cos α/2 ,   inv α_w = inv α + 2 (x_1 ± x_2)/(z_1 ± z_2) tan α ,   a_0 = |r_b1 ± r_b2|/cos α_w          (1)
    δ± = ±(r_b1 φ_1 ± r_b2 φ_2 − ψ_0) ∓ κ (inv α_w(a) − inv α_w) − b±                                             (2)
    b(a) = b_0 + 2κ (inv α_w(a) − inv α_w)     external; internal with −                                           (3)

upper signs between the wheels for external, lower ones for internal gears (and x_2 − x_1, z_2 − z_1 in (1)).

Source: docs/theory/gears_and_belts.md, (7)-(11). Symbols: see `fem_mbs.elements.drives.spans`.
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Element, Force, register
from fem_mbs.element.evaluator import evaluator_of
from fem_mbs.elements.drives.mesh_stiffness import involute, involute_angle
from fem_mbs.elements.drives.spans import (
    SPANS,
    centre_line,
    count_angles,
    energy_spans,
    first_angles,
    span_force,
    spans_force,
    spans_tangent,
    stiffness_at,
    stretch,
    stretch_gradient,
    tangent_length,
    trouble_tangents,
)
from fem_mbs.elements.joints.rows import POSE_TOLERANCE
from fem_mbs.errors import label
from fem_mbs.jit import address, kernel, local_arrays
from fem_mbs.rotations import exp


@kernel
def mesh_output(p, x_A, R_A, x_B, R_B, v, state, out):
    """Transmission error, forces of the two flanks, flank in contact, backlash, angle of action, stiffness, phase."""
    u, U, G, k = local_arrays("3, 3 12, 12, 3")
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    stiffness_at(p, u[0], k)
    out[0] += p.r_1 * u[0] + p.r_2 * u[1] - p.psi_0
    for i in range(2):
        flank, rate = 1.0 - 2.0 * i, 0.0
        stretch_gradient(p, u, U, flank, G)
        for j in range(12):
            rate += G[j] * v[j]
        stretched = stretch(p, u, flank)
        force = span_force(p, k[0], stretched, rate)
        out[1] += flank * force
        if force > 0.0:
            out[2] += flank
        out[3] -= stretched
    out[4] += math.acos(min(p.kappa / u[2], 1.0))
    out[5] += k[0]
    out[6] += u[0] * p.teeth / (2.0 * math.pi) + p.phase


def stiffness_table(element: Any, stiffness: Any) -> np.ndarray:
    """Cubic pieces (n, 4) of a stiffness: a number, or values at n ≥ 8 places over one period."""
    values = np.atleast_1d(element.as_array("stiffness", stiffness, (), (None,)))
    element.check((values > 0.0).all(), "stiffness", stiffness, "N/m must be positive")
    if values.size == 1:
        return np.array([[values[0], 0.0, 0.0, 0.0]])
    element.check(
        values.size >= 8, "stiffness", stiffness, "has too few values for a course over one pitch; give 8 or more"
    )
    from scipy.interpolate import CubicSpline

    n = values.size
    pieces = CubicSpline(np.arange(n + 1), np.append(values, values[0]), bc_type="periodic")
    middle = pieces(np.arange(n) + 0.5)
    element.check(
        (middle > 0.0).all(),
        "stiffness",
        stiffness,
        "N/m oscillates between its values and is negative there; give more values",
    )
    return np.ascontiguousarray(pieces.c[::-1].T)


class TwoWheels(Element):
    """Common base of gear meshes and belts: two wheels with parallel axes, and their angles."""

    reach: float  # κ [m]: the centres must be further apart
    crossed: Any = None  # True for a crossed belt; None for gears
    _circles = "circles"

    def _connect_wheels(self, frame_P: FrameLike, frame_Q: FrameLike, name: str | None) -> float:
        """Frames of the two wheels; returns their centre distance at the start [m]."""
        self._connect(frame_P, frame_Q, "two wheels need two bodies", name=name)
        P, Q = self.frame_P.orientation, self.frame_Q.orientation
        apart = float(np.linalg.norm(P[:, 2] - Q[:, 2]))
        self.check(
            apart <= POSE_TOLERANCE,
            "frame_Q",
            self.frame_Q,
            f"has its z axis {math.degrees(2 * math.asin(min(1.0, 0.5 * apart))):.6g}° from that of frame_P at the "
            "start; z are the axes of the wheels, parallel and in the same sense",
        )
        d = P.T @ (self.frame_Q.position - self.frame_P.position)
        self.distance = float(np.hypot(d[0], d[1]))
        angle_1 = -math.atan2(d[1], d[0])
        e = Q.T @ (self.frame_P.position - self.frame_Q.position)
        self.start_angles = (angle_1, -math.atan2(e[1], e[0]))
        return self.distance

    def _set_radii(self, radii: ArrayLike, crossed: bool) -> None:
        """Radii (2,) of the pulleys of a belt, apart from each other at the start."""
        self.radii, self.crossed = self.as_array("radii", radii, (2,)), self.as_flag("crossed", crossed)
        self.check((self.radii > 0.0).all(), "radii", radii, "m must be positive")
        self.check(
            self.distance > self.radii.sum(),
            "radii",
            radii,
            f"m: the wheels overlap, their centres are {self.distance:.6g} m apart at the start",
        )

    def drawn_spans(self) -> list:
        """Both spans of a belt; nothing is drawn between gears."""
        if self.crossed is None:
            return []
        P, Q, radii = self.frame_P, self.frame_Q, self.radii * (1.0, -1.0 if self.crossed else 1.0)
        return [(P, Q, radii, P), (P, Q, -radii, P)]

    def centres(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vectors (3,) from P to Q in axes of P, and from Q to P in axes of Q [m]."""
        P, Q = self.frame_P, self.frame_Q
        d = x[1] + R[1] @ Q.p - x[0] - R[0] @ P.p
        return P.rotation.T @ R[0].T @ d, -Q.rotation.T @ R[1].T @ d

    def trouble(self, state: Any) -> str | None:
        """Describe the fault of the pair in a state, or None."""
        nodes = [node.index for node in self.nodes]
        d, _ = self.centres(state.x[nodes], state.R[nodes])
        if (a := float(np.hypot(d[0], d[1]))) > self.reach:
            return None
        return (
            f"{label(self)}: its centres are {a:.6g} m apart, and must be further apart than {self.reach:.6g} m: "
            f"nearer the {self._circles} have no common tangent. Are the wheels held by joints?"
        )


class TangentForce(TwoWheels, Force):
    """Forces along the two common tangents of two wheels, with a table of k."""

    parameters = SPANS
    n_state = 2
    abrupt = True  # teeth lift off, spans go slack

    def _finish(self, r_1, r_2, side, h_0, psi_0, b, preload, damping, table, teeth, phase):
        """Keep the table and set the record."""
        self._table, self.reach = table, abs(r_1 + r_2)
        frames = (self.frame_P.p, self.frame_P.rotation, self.frame_Q.p, self.frame_Q.rotation)
        self._law = (*frames, r_1, r_2, self.reach, side, h_0, psi_0, b, preload, damping, teeth, phase)
        self.viscous = damping > 0.0
        self.place()

    def place(self) -> None:
        self.record = (*self._law, 0.0, address(self._table), len(self._table))

    def regular(self, point: Any) -> bool:
        """True if forces can be differentiated at a configuration: no flank or span about to lift off there."""
        law = dict(zip(self.parameters.names or (), self.record))
        d, e = self.centres(point.x, point.R)
        a, other = float(np.hypot(d[0], d[1])), float(np.hypot(e[0], e[1]))
        angles = np.array([-math.atan2(d[1], d[0]), -math.atan2(e[1], e[0])])
        place = len(self._table) * (angles[0] * law["teeth"] / (2.0 * math.pi) + law["phase"]) % 1.0
        # wheels nearly on edge have no centre line; angles jump by 2π; pieces of the table meet
        odd = min(a, other) < 0.3 * float(np.linalg.norm(d)) or np.abs(angles).max() > 3.0
        if odd or a < 1.5 * law["kappa"] or (len(self._table) > 1 and not 0.25 < place < 0.75):
            return False
        q = law["r_1"] * angles[0] + law["r_2"] * angles[1] - law["psi_0"]
        h, k = law["side"] * (tangent_length(law["kappa"], a) - law["h_0"]), self._table[:, 0]
        elastic = np.array([law["preload"] + k * (q + h), law["preload"] + k * (h - q - law["b"])])
        if (np.abs(elastic) < 0.05 * k).any() or (elastic < 0.0).all():
            return False
        # forces are linear in the velocities unless damping cuts one off, at them or near
        states = np.concatenate([angles, np.zeros(self.n_state - 2)])
        f = [evaluator_of(self)("force", point.copy(state=states, v=c * point.v))["f"] for c in (0.0, 1.0, -2.0, 3.0)]
        cut = [np.abs(f[0] + c * (f[1] - f[0]) - other).max() for c, other in ((-2.0, f[2]), (3.0, f[3]))]
        return max(cut) < 1e-9 * np.abs(f[0]).max()


class GearMesh(TangentForce):
    """Two involute spur gears with elastic teeth and backlash; the wheels are supported by separate joints or shafts.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Centres of wheel 1 and wheel 2; z axes along those of the wheels, parallel and in the same sense at the start.
    teeth : (2,)
    module : float > 0 [m]
    stiffness : float or (n,) [N/m]
        Along the line of action: a number (no parametric excitation), or values over one pitch (n ≥ 8, evenly, the last
        before the end of the pitch), through which a periodic cubic spline is laid: `stepped_stiffness`,
        `tooth_stiffness`, or a measured course. `iso_mesh_stiffness` gives numbers. Both flanks have the same course.
    internal : bool
        Whether wheel 2 is a ring with internal teeth.
    pressure_angle : float [rad]
        Of the basic rack, α.
    profile_shift : (2,), over the module
    backlash : float ≥ 0 [m]
        b_0, along the line of action, at the centre distance a_0 that makes both flanks of full teeth touch.
    damping : float ≥ 0 [N s/m]
        On the rate of the compression while a flank is in contact. Flanks do not pull.
    contact : "forward", "backward" or "middle"
        At the start flank + touches (wheel 1 drives in positive sense), flank − touches, or neither.
    phase : float
        Place in the course of the stiffness at the start, in pitches.
    name : str, optional

    Outputs
    -------
    transmission_error : [m], r_b1 φ_1 + r_b2 φ_2 (internal: −) on the line of action: the way by which wheel 2 lags
    force : [N], of the flanks on each other; positive on flank +, negative on flank −
    flank : +1, −1, or 0 in the backlash
    backlash : [m], distance between the flanks at the centre distance of that moment
    pressure_angle : [rad], of action
    stiffness : [N/m]
    phase : in pitches, counted

    Raises
    ------
    ParameterError
        Both frames on one node; axes not parallel; wheels that are too near for involutes, or that do not mesh at the
        centre distance at the start (backlash below 0 by more than half a module); numbers out of range.

    Notes
    -----
    Equations (1)-(3) of the file's header. Pose and centre distance are those of the moving centres: bearings with
    clearance and bent shafts count. Runs stop where the centres are nearer than the base circles allow. There is no
    friction along the teeth, no tip relief and no load in the direction of the axes.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> pair = GearMesh(Node6(), Node6([0.09, 0, 0]), teeth=(20, 40), module=3e-3, stiffness=3e8, name="stage 1")
    """

    kernels = {
        "force": spans_force, "force_tangent": spans_tangent, "energy": energy_spans, "initial": first_angles,
        "accept": count_angles, "trouble": trouble_tangents, "output": mesh_output,
    }  # fmt: skip
    outputs = {
        "transmission_error": (1, "m"), "force": (1, "N"), "flank": (1, ""), "backlash": (1, "m"),
        "pressure_angle": (1, "rad"), "stiffness": (1, "N/m"), "phase": (1, ""),
    }  # fmt: skip
    _circles = "base circles"

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        teeth: ArrayLike,
        module: float,
        stiffness: Any,
        internal: bool = False,
        pressure_angle: float = math.radians(20),
        profile_shift: ArrayLike = (0.0, 0.0),
        backlash: float = 0.0,
        damping: float = 0.0,
        contact: str = "forward",
        phase: float = 0.0,
        name: str | None = None,
    ) -> None:
        distance = self._connect_wheels(frame_P, frame_Q, name)
        self.internal = self.as_flag("internal", internal)
        sign = -1.0 if self.internal else 1.0
        base, self.nominal_distance = self._geometry(teeth, module, pressure_angle, profile_shift, sign)
        damping = self.positive("damping", damping, "N s/m", allow_zero=True)
        b_0 = self.positive("backlash", backlash, "m", allow_zero=True)
        contact = self.as_choice("contact", contact, ("forward", "backward", "middle"))
        kappa, h_0 = abs(base[0] + sign * base[1]), 0.0
        self.check(
            distance > kappa,
            "frame_Q",
            self.frame_Q,
            f"is {distance:.6g} m from frame_P: less than {kappa:.6g} m, where the base circles have a common tangent. "
            f"These gears have a centre distance of {self.nominal_distance:.6g} m",
        )
        h_0 = tangent_length(kappa, self.nominal_distance)
        left = -sign * (tangent_length(kappa, distance) - h_0)  # ε of both flanks where q = ψ_0
        self.open_by = open_by = b_0 - 2.0 * left
        self.check(
            -0.5 * self.module < open_by < 2.0 * self.module,
            "frame_Q",
            self.frame_Q,
            f"is {distance:.6g} m from frame_P, where these gears have {open_by:.3g} m of backlash: they do not mesh. "
            f"Their centre distance without backlash is {self.nominal_distance:.6g} m",
        )
        start = base[0] * self.start_angles[0] + sign * base[1] * self.start_angles[1]
        psi_0 = {"forward": start + left, "backward": start - left + b_0, "middle": start + 0.5 * b_0}[contact]
        table = stiffness_table(self, stiffness)
        teeth_of_table = self.teeth[0] if len(table) > 1 else 0.0
        phase = self.number("phase", phase) - self.start_angles[0] * teeth_of_table / (2.0 * math.pi)
        self._finish(base[0], sign * base[1], -sign, h_0, psi_0, b_0, 0.0, damping, table, teeth_of_table, phase)

    def _geometry(self, teeth, module, pressure_angle, profile_shift, sign):
        """Base radii (2,) and centre distance a_0 of (1) [m]."""
        self.teeth, self.module = self.as_teeth("teeth", teeth), self.positive("module", module, "m")
        self.check((self.teeth >= 3).all(), "teeth", teeth, "must be at least 3 on both wheels")
        if self.internal:
            self.check(self.teeth[1] > self.teeth[0], "teeth", teeth, "the ring, wheel 2, must have more than wheel 1")
        alpha = self.number("pressure_angle", pressure_angle, "rad", at_least=0.1, at_most=0.8)
        shift = self.as_array("profile_shift", profile_shift, (2,))
        base = 0.5 * self.module * self.teeth * math.cos(alpha)
        more = 2.0 * (shift[1] + sign * shift[0]) / (self.teeth[1] + sign * self.teeth[0]) * math.tan(alpha)
        value = involute(alpha) + more
        self.check(value > 0.0, "profile_shift", profile_shift, "is so negative that there is no centre distance")
        return base, abs(base[0] + sign * base[1]) / math.cos(involute_angle(value))


def random_wheels(rng: Any, a: Any, b: Any, distance: float) -> tuple:
    """Frames on two nodes, at the start with parallel axes and centres a distance [m] apart."""
    centre, rotation = a.position + 0.3 * rng.normal(size=3), exp(rng.normal(size=3))
    spin = exp([0.0, 0.0, rng.uniform(-3, 3)])
    away = rotation @ exp([0.0, 0.0, rng.uniform(-3, 3)]) @ np.array([distance, 0.0, 0.1])
    return a.frame_at(centre, rotation), b.frame_at(centre + away, rotation @ spin)


def _example(rng, a, b):
    internal = rng.random() < 0.5
    teeth = np.array([4, 9]) if internal else np.array([5, 7])
    module = rng.uniform(0.06, 0.12)
    P, Q = random_wheels(rng, a, b, 0.5 * module * (5 if internal else 12))
    course = 1.0 + 0.3 * np.sin(2 * np.pi * np.arange(8) / 8) if rng.random() < 0.7 else rng.uniform(0.5, 2.0)
    return GearMesh(
        P, Q, teeth=teeth, module=module, stiffness=course, internal=internal, backlash=0.1 * module,
        damping=0.05 * rng.integers(0, 2), profile_shift=0.02 * rng.normal(size=2), contact="middle",
    )  # fmt: skip


register(GearMesh, example=_example)
