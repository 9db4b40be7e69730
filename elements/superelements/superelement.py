"""A flexible body of boundary frames and internal modes, with large motions and small deformations.

Its boundary frames are nodes with absolute positions and rotations; the amplitudes of its modes are held three to a
node of translations. The frame in which it is linear is computed from the boundary frames: no reference node, no
constraint. Equations: `motion`, `forces`; arrays: `data`.

Source: docs/theory/superelements.md.
"""

from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import eigh

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.element.base import register
from fem_mbs.element.kinds import FloatingBody
from fem_mbs.elements.solids.mesh_body import numbers_in, poses_of
from fem_mbs.elements.superelements import kernels
from fem_mbs.elements.superelements.data import SCRATCH, SUPERELEMENT
from fem_mbs.elements.superelements.limits import Limits
from fem_mbs.elements.superelements.load_patterns import LoadPattern
from fem_mbs.elements.superelements.reduce_matrices import reduce_matrices
from fem_mbs.elements.superelements.reduction import Reduction
from fem_mbs.errors import label
from fem_mbs.nodes import Frame, Node, Node3, Node6
from fem_mbs.shapes import matrices
from fem_mbs.stresses.reduced_parts import Floating, ReducedParts
from fem_mbs.stresses.solid_stress import Fields

KERNELS = {
    "inertia": kernels.inertia,
    "inertia_tangent": kernels.inertia_tangent,
    "force": kernels.force,
    "force_tangent": kernels.force_tangent,
    "energy": kernels.energy,
    "output": kernels.output,
    "trouble": kernels.trouble,
}
GEOMETRIC = kernels.geometric
RIGID = 6  # modes of lowest frequency of a free body: those of a rigid one
LIMIT = 1.0  # [rad], of `kernels.trouble`


class Superelement(Limits, FloatingBody):
    """A reduced flexible body; ``model.add(body)`` adds it.

    Joints, contacts and loads attach to ``body.frame(name)``, frames of ordinary nodes.

    Parameters
    ----------
    reduction : Reduction
        Of `fem_mbs.reduce_mesh`, `fem_mbs.reduce_matrices` or `fem_mbs.load_reduction`.
    position : (3,) [m], rotation : optional
        Where the axes of the body (of its mesh) are at the start, from the inertial frame.
    velocity, angular_velocity : (3,) [m/s], [rad/s]
        Motion at the start, of the origin of the body, inertial axes.
    damping : float ≥ 0, -
        Damping ratio of all its modes of vibration, free; rigid motions are not damped.
    stiffening : bool
        Take the stiffening by loads of the reduction into account, if it was made with it.
    weights : dict, optional
        Name of a frame -> its weight ≥ 0 in the floating frame; default: all alike.
    name : str, optional

    Attributes
    ----------
    reduction : Reduction
    modes : int

    Raises
    ------
    ParameterError
        Numbers out of range, unknown frames, weights that are all zero.

    Notes
    -----
    Deformations are small: frames may rotate by about 0.2 rad from the floating frame, and move by a tenth of its size;
    beyond, a run warns, and stops at 1 rad. Long parts that bend more are divided into several superelements, or are
    beams or solids.

    Results: ``local_rotation`` [rad], ``local_displacement`` [m], the largest of its frames; or the root mean square
    of the displacements of the body by the modes, if that is more. ``spin`` [rad/s]: its rotation rate,
    √(2 ω·Jω/tr J), which is 0 of a shaft about its own thin axis and ω of a blade.

    Examples
    --------
    >>> from fem_mbs.mesh.block import block_mesh
    >>> from fem_mbs.elements.solids.material import SolidMaterial
    >>> from fem_mbs.elements.superelements.reduce_mesh import reduce_mesh
    >>> steel = SolidMaterial(E=210e9, nu=0.3, density=7850)
    >>> rod = reduce_mesh(block_mesh([1.0, 0.1, 0.1], [8, 1, 1]), steel, {"left": "x0", "right": "x1"}, modes=6)
    >>> body = Superelement(rod, damping=0.01, name="rod")
    >>> body.frame("right").position
    array([1.  , 0.05, 0.05])
    """

    parameters = SUPERELEMENT.dtype
    scratch = ("_scratch",)
    kernels = KERNELS
    places: int
    outputs = {"local_rotation": (1, "rad"), "local_displacement": (1, "m"), "spin": (1, "rad/s")}
    peak = "spin"
    geometric = GEOMETRIC
    _starts: dict[str, int] | None = None  # of matrices in the pool, once it is filled

    def __init__(
        self,
        reduction: Reduction,
        *,
        position: ArrayLike = (0, 0, 0),
        rotation: Any = None,
        velocity: ArrayLike = (0, 0, 0),
        angular_velocity: ArrayLike = (0, 0, 0),
        damping: float = 0.0,
        stiffening: bool = True,
        weights: dict[str, float] | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        what = "a Reduction: fem.reduce_mesh(mesh, material, frames) makes one"
        self.reduction = self.as_instance("reduction", reduction, Reduction, what)
        self.modes, self.damping = reduction.modes, self.positive("damping", damping, "", allow_zero=True)
        self.stiffening = self.as_flag("stiffening", stiffening)
        x, R = self.as_vector("position", position), self.as_rotation("rotation", rotation)
        v, w = self.as_vector("velocity", velocity), self.as_vector("angular_velocity", angular_velocity)
        nodes: list[Node] = []
        for frame, X in zip(reduction.frames, reduction.positions):
            own = None if name is None else f"{name} {frame}"
            arm = R @ X
            nodes.append(Node6(x + arm, R, velocity=v + np.cross(w, arm), angular_velocity=w, name=own))
        for first in range(0, self.modes, 3):
            own = None if name is None else f"{name} modes {first // 3 + 1}"
            nodes.append(Node3(fixed=("x", "y", "z")[self.modes - first :], name=own))
        super().__init__(nodes, name=name)
        self.places = len(reduction.frames)
        for node in self.nodes:
            node.body = self
        self.viscous = self.damping > 0.0
        self._weights(weights)
        self._part: ReducedParts | None = None
        self._fill()
        self.place()

    def _weights(self, given):
        """Weights a_i and b_i, and the arms V_i of (1)."""
        names, X = self.reduction.frames, self.reduction.positions
        a = np.ones(len(names))
        if given is not None:
            self.check(isinstance(given, dict), "weights", given, "must be a dict: name of a frame to its weight")
            a[:] = 0.0
            for frame, weight in given.items():
                a[self.reduction.frame_number(frame)] = self.positive("weights", weight, "", allow_zero=True)
            self.check(a.sum() > 0.0, "weights", given, "are all zero")
        a /= a.sum()
        arms = X - a @ X
        square = float(a @ (arms**2).sum(axis=1))
        b = a * (square if square > 0.0 else np.trace(self.reduction.inertia) / self.reduction.mass)
        self.floating = Floating(a, b, arms, a @ X)

    def _fill(self):
        """Numbers and arrays that kernels read, and their scratch."""
        r, f = self.reduction, self.floating
        n, nb = r.size, len(r.frames)
        self._sizes, self._patterns = (nb, n - 6 * nb), len(r.stretch) if self.stiffening else 0
        some = slice(self._patterns)
        constants = {
            "a": f.a,
            "b": f.b,
            "V": f.arms,
            "R_ref": np.tile(np.eye(3), (nb, 1, 1)),
            "centre": r.center - f.mean,
            "centre_rates": r.momentum / r.mass,
            "K": r.K,
            "D": self._damping_matrix() if self.viscous else np.zeros((n, n)),
            "M": r.M,
            "N": r.N.transpose(1, 0, 2).reshape(n, 3 * n),
            "N_T": r.N.transpose(2, 0, 1).reshape(n, 3 * n),
            "O": r.O.transpose(1, 0, 2).reshape(n, 6 * n),
            "spin_rows": r.spin_rows,
            "k": r.pull_stiffness if self._patterns else np.zeros((0, 0)),
            "c": r.stretch[some],
            "G": r.pull_geometry[some],
        }
        self._numbers = {"nn": len(self.nodes), "modes": r.modes, "damped": int(self.viscous), "mass": r.mass}
        self._constants = {name: np.array(array, np.float64, order="C") for name, array in constants.items()}
        sizes = {"nb": nb, "n": n, "np": self._patterns, "nd": 6 * len(self.nodes), "nf": 6 * nb, "m": r.modes}
        sizes |= {f"{k}{name}": k * sizes[name] for k, name in product((2, 3, 4, 6), ("n", "nf", "m"))}
        self._scratch = SUPERELEMENT.arrays(sizes, SCRATCH)

    def _damping_matrix(self):
        """D̂ = Σ_k 2 ζ ω_k (M̂ φ_k)(M̂ φ_k)ᵀ of the free modes of vibration."""
        r = self.reduction
        squares, shapes = eigh(r.K, r.M)
        moved = r.M @ shapes[:, RIGID:]
        return (moved * (2.0 * self.damping * np.sqrt(squares[RIGID:].clip(0.0)))) @ moved.T

    def place(self) -> None:
        self.record = SUPERELEMENT.values(self._numbers, self._constants | self._scratch)

    def frame(self, name: str) -> Frame:
        """The boundary frame of a name, for joints, contacts and loads.

        Raises
        ------
        ParameterError
            There is no such frame: lists those there are.
        """
        return self.nodes[self.reduction.frame_number(name)].frame()

    def pose(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Origin of the body (3,) [m], rotation (3, 3) of the floating frame and coordinates d (n,) at a pose.

        ``x`` (…, nn, 3), ``R`` (…, nn, 3, 3): of all nodes of the element, in one state or in several.
        """
        nb, m = self._sizes
        mean, R_0, d = self.floating.pose(x[..., :nb, :], R[..., :nb, :, :])
        amplitudes = x[..., nb:, :].reshape(*x.shape[:-2], -1)[..., :m]
        return mean - R_0 @ self.floating.mean, R_0, np.concatenate([d, amplitudes], axis=-1)

    def without_stiffening(self, state: Any, other: Any) -> tuple[float, float]:
        """Strain energy [J] of the change between two states, and the part of it that is not of the load patterns.

        The stresses of this part change the stiffness between frames, but none within the body.
        """
        d, r = self._coordinates(other) - self._coordinates(state), self.reduction
        energy = 0.5 * float(d @ r.K @ d)
        if not self._patterns:
            return energy, energy
        e = r.stretch @ d
        return energy, energy - 0.5 * float(e @ r.pull_stiffness @ e)

    def softening_left_out(self, state: Any, change: list, shape: list) -> np.ndarray:
        """Work (3,) [J] on a shape of motions that the modes leave out, under the stresses of the load patterns."""
        if not self._patterns:
            return np.zeros(3)
        d, r = self._coordinates(state), self.reduction
        # from both sides: a motion across stretches nothing in first order
        rate, y = (0.5 * (self._coordinates(last) - self._coordinates(first)) for first, last in (change, shape))
        R = np.einsum("i,j,pqij->pq", y, y, r.pull_softening, optimize=True)
        pulls, grown = self._pulls(d), r.pull_stiffness @ (r.stretch @ rate + r.pull_geometry @ d @ rate)
        return np.array([pulls @ R @ pulls, 2.0 * pulls @ R @ grown, grown @ R @ grown])

    def _pulls(self, d):
        """Sizes (p,) of the load patterns, k (e + q)."""
        r = self.reduction
        return r.pull_stiffness @ (r.stretch @ d + 0.5 * r.pull_geometry @ d @ d)

    def _coordinates(self, state):
        """d (n,) at a state."""
        index = [node.index for node in self.nodes]
        return self.pose(state.x[index], state.R[index])[2]

    def positions(self, state: Any, time: float | None = None) -> np.ndarray:
        """Places (k, 3) [m] of all points of the reduced model, deformed, inertial axes.

        Parameters
        ----------
        state, time : as `SolidBody.positions`

        Raises
        ------
        ParameterError
            The state is not of a model with this body.
        """
        place, R_0, d = self.pose(*self._poses(state, time))
        return place + (self.reduction.points + self.reduction.displacements(d)) @ R_0.T

    def stresses(self, state: Any, time: float | None = None) -> Fields:
        """Strains and stresses of all points of the reduced mesh, as `SolidBody.stresses` has them.

        Small strains, axes of the body; stresses at the nodes in inertial axes, those at points of integration in axes
        of the body. They are as good as the modes are: near a frame, and where a load acts between frames, take more.

        Parameters
        ----------
        state, time : as `positions`

        Returns
        -------
        Fields
            Its ``nodes`` are numbers of ``reduction.points``.

        Raises
        ------
        ParameterError
            The state is not of a model with this body; the reduction is of matrices, which have no cells.

        Warns
        -----
        UserWarning
            Results: the modes leave out more than 5 % of the strain energy of its self-weight and inertia there.
        """
        message = "has no cells, and so no stresses: it was made of matrices. fem.reduce_mesh keeps them"
        self.check(len(self.reduction.cell_types) > 0, "reduction", self.reduction, message)
        x, R = self._poses(state, time)
        self._check_stresses(state, time)
        if self._part is None:
            self._part = ReducedParts.of([(0, self)])
        own = ReducedParts(**self._part.arrays() | {"nodes": np.arange(len(self.nodes))})
        return own.fields(x, R)

    def mode_shapes(self, modes: Any) -> np.ndarray:
        """Displacements (k, points, 3), inertial axes, of all points of the mesh in k modes, for `fem_mbs.mac`.

        Parameters
        ----------
        modes : Modes
            Of `fem_mbs.modes` of a model with this body.
        """
        numbers_in(self, modes)  # raises an error for those of another model
        return self.point_motions(modes.state, modes.shapes)

    def point_motions(self, state: Any, motions: np.ndarray) -> np.ndarray:
        """Displacements (k, points, 3), inertial axes, of all points of the mesh for small motions of the nodes.

        ``motions`` (k, N, 6), of all nodes of the model, about a `State`.
        """
        numbers, found = [node.index for node in self.nodes], []
        x, R = state.x[numbers], state.R[numbers]
        if self._part is None:
            self._part = ReducedParts.of([(0, self)])
        own = ReducedParts(**self._part.arrays() | {"nodes": np.arange(len(self.nodes))})
        points = own.points(x, R)
        for shape in motions[:, numbers]:
            parts = [own.velocities(points, x, R, part[:, :3], part[:, 3:]) for part in (shape.real, shape.imag)]
            found.append(parts[0] if np.isrealobj(shape) else parts[0] + 1j * parts[1])
        return np.array(found)

    def _poses(self, state, time):
        """Positions and rotations of the nodes of the body at a state."""
        x, Q = poses_of(self, (self,), state, time)
        return x, matrices(Q)

    def regular(self, point: Any) -> bool:
        """True if it can be differentiated at a configuration: one rotation is nearest to all frames."""
        A = self.floating.orientation(point.x[: self.places], point.R[: self.places])
        sizes = np.linalg.svd(A, compute_uv=False)
        if np.linalg.det(A) <= 0.0 or sizes[2] < 0.1 * sizes[0]:
            return False
        d = self.pose(point.x, point.R)[2]
        turns = self._turns(d)
        return bool(turns.max() < 2.0)

    def trouble(self, state: Any) -> str | None:
        """Describe the fault of a state, or None: a frame with too large a rotation."""
        d = self._coordinates(state)
        turns = np.linalg.norm(d[: 6 * self.places].reshape(-1, 6)[:, 3:], axis=1)
        i = int(turns.argmax())
        if not turns[i] > LIMIT:
            return None
        return (
            f"{label(self)}: frame '{self.reduction.frames[i]}' has turned by {turns[i]:.3g} rad from the body; it is "
            "linear there, good for about 0.2 rad. Divide the part into several superelements, or use beams or solids"
        )

    def _turns(self, d):
        """Angles (n_b,) [rad] of the frames against the body."""
        return np.linalg.norm(d[: 6 * self.places].reshape(-1, 6)[:, 3:], axis=1)

    def strain_energy(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """½ d·K̂ d (…,) [J] of poses of all nodes (…, nn, 3), (…, nn, 3, 3), in one state or in several."""
        d = self.pose(x, R)[2]
        return 0.5 * np.einsum("...i,ij,...j->...", d, self.reduction.K, d, optimize=True)


def example(rng: np.random.Generator) -> Superelement:
    """A body of some masses and springs, with two or three frames and up to four modes."""
    n = 12
    X = rng.normal(size=(n, 3))
    K = np.zeros((3 * n, 3 * n))
    for i in range(n):
        for j in range(i):
            e = (X[i] - X[j]) / np.linalg.norm(X[i] - X[j])
            K += rng.uniform(0.1, 1.0) * np.kron(np.outer(*2 * [np.eye(n)[i] - np.eye(n)[j]]), np.outer(e, e))
    M = np.kron(np.diag(rng.uniform(0.5, 1.0, n)), np.eye(3))
    frames = {"a": [0, 1, 2], "b": [3, 4, 5]} | ({"c": [6, 7, 8]} if rng.random() < 0.5 else {})
    load = 0.1 * rng.normal(size=K.shape)
    modes, pull = int(rng.integers(0, 5)), ("a", "b", load + load.T) if rng.random() < 0.5 else None
    loads: list = [] if pull is None else [pull]
    if pull is not None and rng.random() < 0.5:
        force: dict[str, ArrayLike] = {"b": rng.normal(size=6)}
        loads += [LoadPattern(forces=force, held="a", geometry=rng.uniform(-1, 1) * (load + load.T))]
    made = reduce_matrices(M, K, X, frames, modes=modes, stiffening=loads)
    return Superelement(made, damping=float(rng.choice([0.0, 0.1])), rotation=rng.normal(size=3))


register(Superelement, example=example)
