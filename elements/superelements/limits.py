"""Limits of a reduced flexible body: checks of deformations, stresses and loads that its reduction represents poorly.

Each check returns warnings as (kind, size, text), see `fem_mbs.system.checks.element_checks`: sizes above 1, or
shares, measure by how much a limit is exceeded.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.spelling import listed
from fem_mbs.elements.superelements.residual_vectors import resultants
from fem_mbs.elements.superelements.stiffening import (
    change_by_stress,
    has_stresses,
    softening_by_modes,
    unknown_rotation,
)
from fem_mbs.errors import Warnings, label
from fem_mbs.shapes import matrices

if TYPE_CHECKING:
    from fem_mbs.elements.superelements.reduction import Reduction
    from fem_mbs.stresses.reduced_parts import Floating

TURNING, STIFFENED = 0.1, 2.0  # of the lowest frequency with one frame held, see `Limits.rotation_warnings`
LINEAR_TURN, LINEAR_WAY = 0.2, 0.1  # [rad], of the size of the body: a linear body errs by a percent and more beyond
SOFTER = 0.05  # of its deformation, added by residual vectors: above it, loads between frames are reported
NOTHING = 1e-7  # of the size of a body: a displacement that needs no warning
STRESSED = 0.1  # of its stiffness, that stresses without a pattern change: then an equilibrium issues a warning
SINGLE, SEVERAL = np.sqrt(STRESSED), 1.0  # of the lowest frequency: rotation with this effect, by the number of frames


class Limits:
    """Methods of a `Superelement` that check its limits, with the attributes that they read."""

    reduction: "Reduction"
    floating: "Floating"
    nodes: Any
    modes: int
    places: int
    pose: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    _patterns: int
    _coordinates: Callable[[Any], np.ndarray]
    _pulls: Callable[[np.ndarray], np.ndarray]
    _turns: Callable[[np.ndarray], np.ndarray]

    def output_warnings(self, histories: dict) -> list:
        """Deformations that are too large for a linear body, see `element_checks`: list of (kind, size, text)."""
        turn = float(histories["local_rotation"].max())
        way, size = float(histories["local_displacement"].max()), float(np.sqrt(self.floating.b.sum()))
        if turn <= LINEAR_TURN and way <= LINEAR_WAY * size:
            return []
        text = (
            f"a frame turned by up to {turn:.2g} rad, and a frame or all of it by modes moved by {way / size:.2g} of "
            f"the size of the body, {size:.3g} m, from its floating frame. It is linear there: good to about "
            f"{LINEAR_TURN} rad and {LINEAR_WAY}. Divide the part into several superelements, or use beams or solids"
        )
        return [("large deformation", max(turn / LINEAR_TURN, way / size / LINEAR_WAY), text)]

    def stress_warnings(self, state: Any) -> list:
        """Return a warning if stresses at an equilibrium would change the stiffness, see `element_checks`."""
        d = self._coordinates(state)
        if self._turns(d).max() > LINEAR_TURN:
            return []  # `output_warnings` reports that results are invalid
        share, found = change_by_stress(self.reduction, d, self._patterns > 0), []
        if self._patterns:
            left = softening_by_modes(self.reduction, self._pulls(d))
            text = (
                f"under the stresses of its load patterns motions that its modes leave out would soften it by up to "
                f"{left:.0%}, as a strip twists that is bent. Reduce it with more modes than {self.modes}"
            )
            found += [("modes", left, text)] if left > STRESSED else []
        if share <= STRESSED:
            return found
        text = (
            f"its stresses{' other than those of its load patterns' if self._patterns else ''} would stiffen or soften "
            f"it by up to {share:.0%} (a free body buckles at 100 %, a supported one earlier), and that is left "
            "out here. Reduce it with the loads that it carries: stiffening=(one frame, other frame) of a tension, "
            "or a list of fem.LoadPattern. Or divide the part along its length, or make it of solids, shells or beams"
        )
        return [*found, ("stress", share, text)]

    def peak_warnings(self, spin: float, t: float, x: np.ndarray, R: np.ndarray, v: np.ndarray) -> list:
        """Return a warning if stresses change the stiffness where the body rotates fastest, see `element_checks`.

        By the stresses that it has then. The frame of a body with a single one rotates with it, and its modes need not
        represent the stretch by centrifugal forces: then, and where there are no cells, by its frequency.
        """
        r, patterned, nb = self.reduction, self._patterns > 0, self.places
        if spin <= TURNING * r.held_frequency or self._turns(self.pose(x, R)[2]).max() > LINEAR_TURN:
            return []
        share, known = 0.0, has_stresses(r)
        if known:
            share = change_by_stress(r, self.pose(x, R)[2], patterned)
            others = " other than those of its load patterns" if patterned else ""
            how = f"its stresses{others} would stiffen or soften it by up to {share:.0%} (more where it is held)"
        if nb == 1 or not known:
            w = self.floating.rates(x[:nb], R[:nb], v[:nb, :3], v[:nb, 3:])[0]
            size, lowest = self._unknown(spin, unknown_rotation(r, w) if patterned else 1.0)
            limit = STIFFENED if self._pulled() else (SINGLE if nb == 1 else SEVERAL)
            if STRESSED * (size / limit) ** 2 > share:
                share = STRESSED * (size / limit) ** 2
                how = f"that is {spin / lowest:.2g} times its lowest frequency with one frame held, {lowest:.4g} rad/s"
        if share <= STRESSED:
            return []
        text = (
            f"rotates fastest at t = {t:.6g} s, with {spin:.4g} rad/s, and {how}. A run leaves that out. Reduce it "
            "with stiffening=fem.LoadPattern(axis=…, point=…, held=frame) of this rotation, or with the loads that it "
            "carries. Or divide the part along its length, or make it of solids, shells or beams"
        )
        return [("stress in motion", share, text)]

    def _pulled(self):
        """Return True if load patterns are known and contain forces on frames."""
        return self._patterns > 0 and not self.reduction.pull_fields.any(axis=(1, 2)).all()

    def _unknown(self, speed, left):
        """√ of the missing part of ω² over the known one, as if ω² grew by Ω²; the lowest ω with one frame held."""
        lowest = self.reduction.held_frequency
        return speed * np.sqrt(left / max(lowest**2 + (1.0 - left) * speed**2, 1e-300)), lowest

    def settling_time(self, points: np.ndarray, forces: np.ndarray | None = None) -> float:
        """Duration [s] from which forces on points (k,) are no impact: 2·2π√(m f⁰), with f⁰ of their resultants.

        An impact on the body alone lasts a quarter of that at most. Without ``forces`` (k, 3), axes of the body, the
        least of all directions and groups with these points; infinite where none is known.
        """
        r = self.reduction
        if forces is None:
            known = [3 * k for k, group in enumerate(r.loaded.values()) if np.isin(points, group).any()]
            found = [float(np.linalg.eigvalsh(r.traction_compliance[k : k + 3, k : k + 3])[0]) for k in known]
            f = min(found, default=np.inf)
        else:
            t = resultants(r.loaded, points, forces)
            f = float(t @ r.traction_compliance @ t / max(t @ t, 1e-300))
        return float(4.0 * np.pi * np.sqrt(r.mass * max(f, 0.0)))

    def load_warnings(self, points: np.ndarray, forces: np.ndarray, d: np.ndarray) -> list:
        """Return a warning if its modes represent static loads on its points poorly, see `element_checks`.

        Parameters
        ----------
        points, forces : (k,) numbers of points, (k, 3) [N] in axes of the body
        d : (n,) its coordinates
        """
        r = self.reduction
        if not r.loaded:
            return []
        t = resultants(r.loaded, points, forces)
        moved = r.compliance_left_out @ t
        left, known = 0.5 * float(t @ moved), 0.5 * float(d @ r.K @ d)
        share = left / max(left + known, 1e-300)
        if share <= SOFTER or np.abs(moved).max() <= NOTHING * np.sqrt(self.floating.b.sum()):
            return []
        parts = (t * moved).reshape(-1, 3).sum(axis=1)
        groups = [name for name, part in zip(r.loaded, parts) if part > 0.1 * parts.max()]
        text = (
            f"its {len(r.interface_frequencies)} modes leave out {share:.0%} of its deformation (strain energy) under "
            f"static loads between its frames, on {listed([repr(one) for one in groups])}: it is too stiff there. "
            f"Reduce it with residual_vectors={groups}, or make frames of these groups, with coupling='averaged'"
        )
        return [("loads between frames", share, text)]

    def apparent_gravity(
        self, x: np.ndarray, R: np.ndarray, v: np.ndarray, a: np.ndarray, gravity: np.ndarray
    ) -> np.ndarray:
        """Gravity less accelerations of the floating frame, A + W X, as amounts (12,) of `inertia_compliance`.

        Parameters
        ----------
        x, R, v, a : (nn, 3) [m], (nn, 3, 3), (nn, 6), (nn, 6), of the nodes
        gravity : (3,) [m/s²], inertial axes
        """
        nb = self.places
        mean, R_0, _ = self.floating.pose(x[:nb], R[:nb])
        spin = self.floating.rates(x[:nb], R[:nb], v[:nb, :3], v[:nb, 3:])[0]
        centripetal = np.cross(R_0 @ spin, np.cross(R_0 @ spin, x[:nb] - mean))
        turning = self.floating.rates(x[:nb], R[:nb], a[:nb, :3] - centripetal, a[:nb, 3:])[0]
        ways = [np.cross(spin, np.cross(spin, e)) + np.cross(turning, e) for e in np.eye(3)]
        W = -np.stack(ways, axis=1)
        A = (gravity - self.floating.a @ a[:nb, :3]) @ R_0 - W @ self.floating.mean
        return np.concatenate([A, W.ravel()])

    def inertia_warnings(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, a: np.ndarray, gravity: np.ndarray) -> list:
        """Check what its modes leave out of the response to gravity and inertia, see `element_checks`.

        Parameters: as of `apparent_gravity`.
        """
        r, (_, R_0, d) = self.reduction, self.pose(x, R)
        field = self.apparent_gravity(x, R, v, a, gravity)
        moved = r.inertia_left_out @ field
        left, known = 0.5 * float(field @ moved), 0.5 * float(d @ r.K @ d)
        share = left / max(left + known, 1e-300)
        size = np.sqrt(self.floating.b.sum())
        scale = r.mass * size * np.repeat([1.0, size], [3, 9])
        if share <= SOFTER or (np.abs(moved) <= NOTHING * scale).all():
            return []
        W = field[3:].reshape(3, 3)
        weight, turning = np.append(gravity @ R_0, np.zeros(9)), self._about_center(0.5 * (W - W.T))
        rest = field - weight - turning
        spins = size * np.abs(W + W.T).max() > 0.1 * np.abs(rest[:3] + W @ r.center).max()
        parts = {"its own weight": (weight, "gravity=[…]"), "angular acceleration": (turning, "")}
        name, pattern = ("centrifugal forces", "axis=…, point=…") if spins else ("its acceleration", "gravity=[…]")
        parts[name] = rest, pattern
        most = max(parts, key=lambda name: parts[name][0] @ r.inertia_left_out @ parts[name][0])
        pattern = parts[most][1]
        cure = f"residual_vectors=[fem.LoadPattern({pattern})], in axes of the mesh, or with " if pattern else ""
        text = (
            f"its {len(r.interface_frequencies)} modes leave out {share:.0%} of its deformation (strain energy) under "
            f"{most}: it is too stiff, and its stresses are too low. Reduce it with {cure}more modes"
        )
        return [("weight and inertia", share, text)]

    def _about_center(self, W):
        """Amounts (12,) of a field W (X − centre of mass)."""
        return np.concatenate([-W @ self.reduction.center, W.ravel()])

    @property
    def misses_inertia(self) -> bool:
        """True if its modes leave out part of the response to its gravity load and inertia."""
        return bool(self.reduction.inertia_left_out.any())

    def _check_stresses(self, state, time):
        """Warn where the stresses at a state lack those of its self-weight and inertia."""
        run = state if hasattr(state, "rows") else getattr(state, "results", None)
        if run is None:
            return
        k, system = len(run.t) - 1 if time is None else run.at(time), run._system
        row, nodes = run.rows([k]), [node.index for node in self.nodes]
        steady = np.array(run.description.get("gravity", (0.0, 0.0, 0.0)))
        gravity = steady if system is None else system.gravity_at(float(run.t[k]))
        v, a = (
            np.concatenate([row[name][0][nodes], row[f"angular_{name}"][0][nodes]], axis=1)
            for name in ("velocity", "acceleration")
        )
        x, R = row["position"][0][nodes], matrices(row["quaternion"][0][nodes])
        for _, _, text in self.inertia_warnings(x, R, v, a, gravity):
            Warnings.issue(f"stresses of {label(self)} at t = {float(run.t[k]):.6g} s: {text}")

    def rotation_warnings(self, angular_velocity: np.ndarray, state: Any) -> list:
        """Return a warning if a steady rotation stiffens the body by more than its patterns, see `element_checks`.

        By centrifugal forces ω² grows by up to 1.4 Ω². Without a pattern of stress all of that is missing, 1 % of a
        frequency from Ω = 0.1 to 0.3 ω_1 on; with tensions between frames the difference of the forces of a mesh from
        them; with patterns of an axis the difference from those of this axis.
        """
        index, r = [node.index for node in self.nodes], self.reduction
        place, R_0, _ = self.pose(state.x[index], state.R[index])
        w, left = R_0.T @ angular_velocity, 1.0
        speed = float(np.sqrt(2.0 * w @ r.inertia @ w / np.trace(r.inertia)))  # as the output `spin`
        if self._patterns:
            left = unknown_rotation(r, w, R_0.T @ place)
        limit = STIFFENED if self._pulled() else TURNING
        size, lowest = self._unknown(speed, left)
        if size <= limit:
            return []
        known = (
            f"its load patterns leave {left:.0%} of these forces out"
            if self._patterns
            else "it has no stiffening by them"
        )
        text = (
            f"rotates with {speed:.4g} rad/s, {speed / max(lowest, 1e-300):.2g} times its lowest frequency with one "
            f"frame held, {lowest:.4g} rad/s. Centrifugal forces stiffen it, and {known}: good to about "
            f"{limit / np.sqrt(left - limit**2 * (1.0 - left)):.2g} times. Reduce it with "
            "stiffening=fem.LoadPattern(axis=…, point=…, held=frame) of this rotation, or take a SolidBody"
        )
        return [("rotation", size / limit, text)]
