"""Places, velocities and stresses of all points of reduced flexible bodies, recovered from frames and modes.

    A = Σ a_i (x_i − x̄) V_iᵀ + Σ b_i R_i ,   R_0 its polar rotation,  x̄ = Σ a_i x_i                                 (1)
    d = (R_0ᵀ(x_i − x̄) − V_i, log R_0ᵀR_i, …, η) ,   x = x̄ + R_0 (X − X̄ + Φ d)                                     (2)
    ω_0 = S⁻¹ Σ [a_i V_i × R_0ᵀẋ_i + b_i (tr(Q_i) 1 − Q_iᵀ) Ω_i] ,   Q_i = R_0ᵀR_i ,   S = tr(H) 1 − H , H = R_0ᵀA   (3)
    ẋ = Σ a_i ẋ_i + R_0 (ω_0 × R_0ᵀ(x − x̄) + Φ ḋ)                                                                  (4)
    ε = sym ∂(Φ d)/∂X ,   σ = R_0 (λ tr(ε) 1 + 2μ ε) R_0ᵀ                                                          (5)

A results file holds what frames and modes did, and Φ once; points and stresses are made where somebody looks.

Source: docs/theory/superelements.md, sections 1 and 5.
"""

from typing import Any, NamedTuple

import numpy as np

from fem_mbs.rotations import log
from fem_mbs.stresses.solid_stress import Fields, Solids, linear_at_points


class Floating(NamedTuple):
    """Weights and arms of the floating frame of a reduced body.

    Attributes
    ----------
    a, b : (n_b,); weights of positions, and of rotations [m²]
    arms : (n_b, 3) [m], V_i; mean : (3,) [m], X̄
    """

    a: np.ndarray
    b: np.ndarray
    arms: np.ndarray
    mean: np.ndarray

    def orientation(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """A (…, 3, 3) of (1) for frames at x (…, n_b, 3) [m] with rotations R (…, n_b, 3, 3)."""
        apart = x - np.einsum("i,...ij->...j", self.a, x)[..., None, :]
        return np.einsum("i,...ij,ik->...jk", self.a, apart, self.arms) + np.einsum("i,...ijk->...jk", self.b, R)

    def pose(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x̄ (…, 3), R_0 (…, 3, 3) and the coordinates (…, 6 n_b) of the frames, (2)."""
        mean = np.einsum("i,...ij->...j", self.a, x)
        U, _, W = np.linalg.svd(self.orientation(x, R))
        sign = np.ones(U.shape[:-1])
        sign[..., 2] = np.sign(np.linalg.det(U @ W))
        R_0 = (U * sign[..., None, :]) @ W
        moved = np.einsum("...ji,...aj->...ai", R_0, x - mean[..., None, :]) - self.arms
        turned = log(np.swapaxes(R_0, -1, -2)[..., None, :, :] @ R)
        return mean, R_0, np.concatenate([moved, turned], axis=-1).reshape(*mean.shape[:-1], -1)

    def rates(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ω_0 (…, 3) and ḋ (…, 6 n_b) of the frames, axes of the body; v inertial, w in axes of the frames."""
        mean, R_0, d = self.pose(x, R)
        d = d.reshape(*x.shape[:-1], 6)
        Q = np.swapaxes(R_0, -1, -2)[..., None, :, :] @ R
        H = np.swapaxes(R_0, -1, -2) @ self.orientation(x, R)
        S = np.trace(H, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - H
        local = np.einsum("...ji,...aj->...ai", R_0, v)
        spun = np.trace(Q, axis1=-2, axis2=-1)[..., None] * w - np.einsum("...ji,...j->...i", Q, w)
        total = np.einsum("i,...ij->...j", self.a, np.cross(self.arms, local)) + np.einsum(
            "i,...ij->...j", self.b, spun
        )
        w_0 = np.linalg.solve(S, total[..., None])[..., 0]
        drift = local - np.einsum("i,...ij->...j", self.a, local)[..., None, :]
        moving = drift - np.cross(w_0[..., None, :], self.arms + d[..., :3])
        relative = w - np.einsum("...aji,...j->...ai", Q, w_0)
        return w_0, np.concatenate([moving, _rate_of_rotation_vector(d[..., 3:], relative)], axis=-1).reshape(
            *mean.shape[:-1], -1
        )


def _rate_of_rotation_vector(psi, w):
    """T⁻¹(ψ) ω (…, 3) for angular velocities ω in the turned axes."""
    angle = np.linalg.norm(psi, axis=-1)[..., None]
    small = angle < 1e-2
    safe = np.where(small, 1.0, angle)
    k = np.where(small, 1 / 12 + angle**2 / 720, (1 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    across = np.cross(psi, w)
    return w + 0.5 * across + k * np.cross(psi, across)


class ReducedParts:
    """All reduced bodies of a model as arrays that a file can hold.

    Attributes
    ----------
    sizes : (p, 4) int, of each body: boundary frames n_b, modes m, points k, number of the element in the model
    nodes : (Σ n,) int, nodes of the bodies: n_b frames, then those that hold modes, three each
    frame : (Σ n_b, 5): a_i, b_i, V_i; mean : (p, 3) [m], X̄
    point : (Σ k, 3) [m], X; basis : (Σ 3 k (6 n_b + m),), Φ
    type, connectivity, material, owner, color : cells, as `Solids`, with numbers of ``point``
    triangles : (f, 3) int, numbers of ``point``: surfaces of bodies without cells
    """

    ARRAYS = ("sizes", "nodes", "frame", "mean", "point", "basis", "triangles")
    CELLS = ("type", "connectivity", "material", "owner", "color")
    SHAPES = {"sizes": (0, 4), "frame": (0, 5), "mean": (0, 3), "point": (0, 3), "triangles": (0, 3), "basis": (0,)}
    sizes: np.ndarray
    nodes: np.ndarray
    frame: np.ndarray
    mean: np.ndarray
    point: np.ndarray
    basis: np.ndarray
    triangles: np.ndarray

    def __init__(self, **arrays: Any) -> None:
        for name in self.ARRAYS:
            none = np.zeros(self.SHAPES.get(name, (0,)), float if name in ("frame", "mean", "point", "basis") else int)
            setattr(self, name, np.asarray(arrays.get(name, none)))
        cells = {name: np.asarray(arrays[name]) for name in self.CELLS if name in arrays}
        if cells:
            cells["X"] = self.point[cells["connectivity"]]
        self.solids = Solids(**cells)
        self._parts = list(self._divide())
        self.part_of = np.repeat(np.arange(len(self.sizes)), self.sizes[:, 2])

    def _divide(self):
        """Nodes, number n_b and m, floating frame, points and basis of each body."""
        node = frame = point = entry = 0
        for (nb, m, k, _), mean in zip(self.sizes.tolist(), self.mean):
            count, size = nb + -(-m // 3), 3 * k * (6 * nb + m)
            rows = self.frame[frame : frame + nb]
            yield (
                self.nodes[node : node + count], nb, m, Floating(rows[:, 0], rows[:, 1], rows[:, 2:], mean),
                slice(point, point + k), self.basis[entry : entry + size].reshape(3 * k, -1),
            )  # fmt: skip
            node, frame, point, entry = node + count, frame + nb, point + k, entry + size

    def __len__(self) -> int:
        return len(self.point)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name."""
        cells = {name: getattr(self.solids, name) for name in self.CELLS} if len(self.solids) else {}
        return {name: getattr(self, name) for name in self.ARRAYS} | cells

    def points(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Positions (…, Σ k, 3) [m] for poses x (…, N, 3), R (…, N, 3, 3) of all nodes of the model."""
        out = np.zeros((*x.shape[:-2], len(self), 3))
        for nodes, nb, m, floating, where, basis in self._parts:
            mean, R_0, d = floating.pose(x[..., nodes[:nb], :], R[..., nodes[:nb], :, :])
            u = self._deformed(d, x[..., nodes[nb:], :], m, basis)
            local = self.point[where] - floating.mean + u
            out[..., where, :] = mean[..., None, :] + np.einsum("...ij,...kj->...ki", R_0, local)
        return out

    @staticmethod
    def _deformed(d, amplitudes, m, basis):
        """Φ d (…, k, 3)."""
        eta = amplitudes.reshape(*amplitudes.shape[:-2], -1)[..., :m]
        return (np.concatenate([d, eta], axis=-1) @ basis.T).reshape(*d.shape[:-1], -1, 3)

    def velocities(self, points: np.ndarray, x: np.ndarray, R: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Velocities (…, Σ k, 3) [m/s] of `points`, (4); v (…, N, 3) inertial, w in axes of the nodes."""
        out = np.zeros(points.shape)
        for nodes, nb, m, floating, where, basis in self._parts:
            frames = nodes[:nb]
            x_f, R_f, v_f = x[..., frames, :], R[..., frames, :, :], v[..., frames, :]
            mean, R_0, _ = floating.pose(x_f, R_f)
            w_0, rate = floating.rates(x_f, R_f, v_f, w[..., frames, :])
            arm = np.einsum("...ji,...kj->...ki", R_0, points[..., where, :] - mean[..., None, :])
            local = np.cross(w_0[..., None, :], arm) + self._deformed(rate, v[..., nodes[nb:], :], m, basis)
            drift = np.einsum("i,...ij->...j", floating.a, v_f)
            out[..., where, :] = drift[..., None, :] + np.einsum("...ij,...kj->...ki", R_0, local)
        return out

    def fields(self, x: np.ndarray, R: np.ndarray) -> Fields:
        """Strains and stresses (5) for poses x (N, 3), R (N, 3, 3)."""
        u, turn = np.zeros((len(self), 3)), np.zeros((len(self.sizes), 3, 3))
        for part, (nodes, nb, m, floating, where, basis) in enumerate(self._parts):
            _, turn[part], d = floating.pose(x[nodes[:nb]], R[nodes[:nb]])
            u[where] = self._deformed(d, x[nodes[nb:]], m, basis)
        return Fields(self.solids.blocks, u, linear_at_points, self.solids.means).turned(turn[self.part_of])

    @classmethod
    def of(cls, bodies: Any) -> "ReducedParts":
        """Those of superelements; ``bodies``: pairs (number in the model, element)."""
        parts: dict[str, list] = {name: [] for name in (*cls.ARRAYS, *cls.CELLS)}
        first = 0
        for number, (index, body) in enumerate(bodies):
            r, floating = body.reduction, body.floating
            nb, k = len(r.frames), len(r.points)
            parts["sizes"].append([[nb, r.modes, k, index]])
            parts["nodes"].append([node.index for node in body.nodes])
            parts["frame"].append(np.column_stack([floating.a, floating.b, floating.arms]))
            parts["mean"].append(floating.mean[None])
            parts["point"].append(r.points)
            parts["basis"].append(np.ravel(r.basis))
            parts["triangles"].append(first + (r.faces if not len(r.cell_types) else r.faces[:0]))
            parts["type"].append(r.cell_types)
            parts["connectivity"].append(first + r.cell_points)
            parts["material"].append(r.cell_material)
            parts["owner"].append(np.full(len(r.cell_types), index))
            parts["color"].append(np.full(len(r.cell_types), number))
            first += k
        if not first:
            return cls()
        return cls(**_in_runs({name: np.concatenate(arrays) for name, arrays in parts.items()}))


def _in_runs(arrays):
    """Cells in one run for each type, as `Solids` has them."""
    none = Solids()
    counts = np.array([none.corners(kind) for kind in arrays["type"]], int)
    order = np.concatenate([np.flatnonzero(arrays["type"] == kind) for kind in none.kinds()] or [np.zeros(0, int)])
    starts = np.concatenate([[0], np.cumsum(counts)])
    corners = [np.arange(starts[e], starts[e + 1]) for e in order]
    arrays["connectivity"] = arrays["connectivity"][np.concatenate([np.zeros(0, int), *corners])]
    for name in ("type", "material", "owner", "color"):
        arrays[name] = arrays[name][order]
    return arrays
