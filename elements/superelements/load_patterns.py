"""Loads whose stresses stiffen or soften a reduced body, and the accuracy with which its coordinates represent them.

A load p of frames and of the mass of the body, in equilibrium with its reaction at a frame, is c_p on coordinates d,

    c_p = Φᵀ b_p + (forces on frames) + (reaction) ,   K̂ d_p = c_p ,   f_pq = c_p·d_q ,   k = f⁻¹                  (17)
    b_p = M a_p ,   a_p(X) = A_p + W_p X   (weight: A = g; centrifugal forces: W = 1 − e eᵀ, A = −W X_0)            (18)
    u_p = Φ_b d_b + v_p ,   K_ii v_p = b_p with the frames held ,   f⁰_pq = c_b,p·d_b,q + b_p·v_q                   (19)

u_p is the exact response of the mesh, f⁰ its compliance, f that of the coordinates: f⁰ − f is the work of modes that
are left out. The part of v_p outside the modes becomes a residual vector (`residual_vectors`), so that f = f⁰. Loads
that follow from the others make f⁰ singular, and raise an error; so do loads for which f is less than `KNOWN` of f⁰,
as in older files.

Source: docs/theory/superelements.md, section 6; derived here.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.arguments.spelling import listed

DEPENDENT = 1e-6  # least share of the work of a load that the others must not do: round-off of f is 1e-13 of it
KNOWN = 0.5  # least share of the work of a load that the coordinates of the body must do
BALANCED = 1e-6  # of the forces of a load: a resultant that is none


class LoadPattern(Checked):
    """A load of a superelement: an item of ``stiffening`` of `reduce_mesh`, whose stresses change its stiffness.

    Loads by its mass, ``axis`` and ``gravity``, may also be items of ``residual_vectors``.

    Its form counts, not its size or sign: in a run the part computes how much of it there is. What it does not hold in
    equilibrium by itself is taken by the frame ``held``. Forces of all kinds that are given add up to one load.

    Parameters
    ----------
    forces : dict, optional
        Name of a frame -> force (3,) [N], or force and moment (6,) [N, N m], axes of the mesh.
    axis : (3,), optional
        Centrifugal forces of a steady rotation about this axis, axes of the mesh, as of a rotor blade or a disc.
    point : (3,) [m], default the origin of the mesh
        A point of the axis.
    gravity : (3,) [m/s²], optional
        Weight, or the inertia of a part that is accelerated along its length.
    held : str, optional
        Name of the frame whose reaction keeps the load in equilibrium.
    geometry : (N, N) matrix or path of a file, optional
        For `reduce_matrices`, which has no cells: geometric stiffness [N/m] under this load; of ``axis`` at 1 rad/s.
    name : str, optional
        For messages.

    Raises
    ------
    ParameterError
        No load at all, or numbers out of range. `reduce_mesh` raises errors for unknown frames, loads without
        equilibrium, and loads that follow from the others or that its modes do not represent.

    Examples
    --------
    A blade on a hub of 0.1 m, which carries its own centrifugal forces and a weight at its tip that is pressed down:

    >>> turning = LoadPattern(axis=[0, 0, 1], point=[-0.1, 0, 0], held="root")
    >>> pressed = LoadPattern(forces={"tip": [0, 0, -1]}, held="root")
    """

    freezes = True

    def __init__(
        self,
        *,
        forces: dict[str, ArrayLike] | None = None,
        axis: ArrayLike | None = None,
        point: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
        held: str | None = None,
        geometry: Any = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        given = {} if forces is None else forces
        self.check(isinstance(given, dict), "forces", forces, "must be a dict: name of a frame to its force")
        self.forces = {}
        for frame, force in given.items():
            self.as_text("forces", frame)
            array = self.as_array("forces", force, (3,), (6,))
            self.forces[frame] = np.concatenate([array, np.zeros(6 - len(array))])
        self.axis: np.ndarray | None = None
        if axis is not None:
            self.axis = self.as_vector("axis", axis)
            self.check(self.axis.any(), "axis", axis, "must not be zero")
        self.check(point is None or axis is not None, "point", point, "is of the axis: give that too")
        self.point = np.zeros(3) if point is None else self.as_vector("point", point)
        self.gravity: np.ndarray | None = None if gravity is None else self.as_vector("gravity", gravity)
        self.held = self.as_text("held", held, optional=True)
        self.geometry = geometry
        some = [*self.forces.values(), self.field()]
        message = "is no load: give forces on frames, an axis of rotation, or gravity"
        self.check(any(part.any() for part in some), "forces", forces, message)

    def field(self) -> np.ndarray:
        """A and Wᵀ (4, 3) of (18): factors of the mass of the body; zero of loads on frames alone."""
        found = np.zeros((4, 3))
        if self.gravity is not None:
            found[0] += self.gravity
        if self.axis is not None:
            e = self.axis / np.linalg.norm(self.axis)
            found[1:] = np.eye(3) - np.outer(e, e)
            found[0] -= found[1:] @ self.point
        return found


def pull(owner: Checked, ends: Any, frames: list, geometry: Any = None) -> LoadPattern:
    """Unit forces (A, B) on two frames, along the line between them."""
    A, B = (named_frame(owner, frame, frames) for frame in ends)
    along = frames[B].at - frames[A].at
    length = np.linalg.norm(along)
    owner.check(A != B and length > 0.0, "stiffening", ends, "must be two frames at different places")
    along = along / length
    forces = {frames[A].name: -along, frames[B].name: along}
    return LoadPattern(forces=forces, geometry=geometry, name=f"{ends[0]} to {ends[1]}")


def named_frame(owner: Checked, frame: Any, frames: list, parameter: str = "stiffening") -> int:
    """Number of a frame of ``parameter``; lists them if it is not there."""
    names = [one.name for one in frames]
    message = f"is no frame; there are {', '.join(names)}"
    owner.check(isinstance(frame, str) and frame in names, parameter, frame, message)
    return names.index(frame)


def patterns_of(owner: Checked, given: Any, frames: list, matrices: bool) -> list[LoadPattern]:
    """``stiffening`` as a list of `LoadPattern`; ``matrices``: each pull is given with its geometric stiffness."""
    count, what = (3, "(first frame, second frame, K_G)") if matrices else (2, "two names of frames")
    if isinstance(given, LoadPattern):
        given = [given]
    owner.check(isinstance(given, (tuple, list)), "stiffening", given, f"must be {what}, or a list of loads")
    if given and isinstance(given[0], str):
        given = [given]
    found = []
    for one in given:
        if not isinstance(one, LoadPattern):
            right = isinstance(one, (tuple, list)) and len(one) == count
            owner.check(right, "stiffening", one, f"must be {what}, or a fem.LoadPattern")
            one = pull(owner, tuple(one[:2]), frames, one[2] if matrices else None)
        for frame in (*one.forces, *([] if one.held is None else [one.held])):
            named_frame(owner, frame, frames)
        found.append(one)
    return found


class Loads(NamedTuple):
    """Loads of (17) and (18) on the coordinates of a body.

    Attributes
    ----------
    names : (p,) for messages
    fields : (p, 4, 3), of `LoadPattern.field`
    on_mesh : (N, p) [N], b of (18)
    on_frames : (p, 6 n_b) [N, N m], forces and moments on frames, without reactions
    held : (p,) int, number of a frame, −1 for none
    """

    names: list[str]
    fields: np.ndarray
    on_mesh: np.ndarray
    on_frames: np.ndarray
    held: list[int]

    @staticmethod
    def of(owner: Checked, patterns: list[LoadPattern], frames: list, M: Any, X: np.ndarray, per: int) -> "Loads":
        p = len(patterns)
        fields = np.array([one.field() for one in patterns]).reshape(p, 4, 3)
        moved = np.zeros((p, len(X), per))
        moved[:, :, :3] = fields[:, :1] + X @ fields[:, 1:]
        on_frames = np.zeros((p, 6 * len(frames)))
        for k, one in enumerate(patterns):
            for frame, force in one.forces.items():
                i = named_frame(owner, frame, frames)
                on_frames[k, 6 * i : 6 * i + 6] += force
        names = [f"load {k + 1}" + (f" ('{one.name}')" if one.name else "") for k, one in enumerate(patterns)]
        held = [-1 if one.held is None else named_frame(owner, one.held, frames) for one in patterns]
        return Loads(names, fields, M @ moved.reshape(p, per * len(X)).T, on_frames, held)

    def on_coordinates(self, owner: Checked, phi: np.ndarray, X: np.ndarray, size: float) -> np.ndarray:
        """c (p, n) of (17), frames at X (n_b, 3) of a body of ``size`` [m]; raises an error for loads out of
        equilibrium.
        """
        c = np.zeros((len(self.names), phi.shape[1]))
        for k, (name, held) in enumerate(zip(self.names, self.held)):
            if self.fields[k].any():
                c[k] = phi.T @ self.on_mesh[:, k]
            c[k, : self.on_frames.shape[1]] += self.on_frames[k]
            forces = c[k, : 6 * len(X)].reshape(-1, 6)
            force, arms = forces[:, :3].sum(axis=0), X - X.mean(axis=0)
            moment = (forces[:, 3:] + np.cross(arms, forces[:, :3])).sum(axis=0)
            scale = np.abs(self.on_mesh[:, k]).sum() + np.abs(self.on_frames[k].reshape(-1, 6)[:, :3]).sum()
            turn = scale * size + np.abs(self.on_frames[k].reshape(-1, 6)[:, 3:]).sum()
            scale = max(scale, turn / size)
            if held >= 0:
                c[k, 6 * held : 6 * held + 3] -= force
                c[k, 6 * held + 3 : 6 * held + 6] -= moment - np.cross(arms[held], force)
                useless = np.abs(c[k]).max() > 1e-9 * scale
                owner.check(useless, "stiffening", name, "loads nothing but the frame that holds it")
                continue
            message = (
                f"is not in equilibrium: a force of {force.round(6).tolist()} N and a moment of "
                f"{moment.round(6).tolist()} N m are left. Name the frame that takes them: held=…"
            )
            balanced = np.abs(force).max() <= BALANCED * scale and np.abs(moment).max() <= BALANCED * turn
            owner.check(balanced, "stiffening", name, message)
        return c


def check_known(owner: Checked, names: list[str], known: np.ndarray, exact: np.ndarray) -> None:
    """Raise an error for loads of compliance f⁰ = ``exact`` (p, p) that depend on others, or of which f = ``known`` is
    small.
    """
    if not len(exact):
        return
    size = np.sqrt(np.diag(exact))
    shares, vectors = np.linalg.eigh(exact / np.outer(size, size))
    several = listed(
        [name for name, part in zip(names, vectors[:, 0]) if abs(part) > 0.1 * np.abs(vectors[:, 0]).max()]
    )
    message = "do the same to the part: one of them follows from the others. Leave one out"
    owner.check(shares[0] > DEPENDENT, "stiffening", several, message)
    shares, vectors = eigh(known, exact)
    part = np.abs(vectors[:, 0]) * size
    chosen = [name for name, one in zip(names, part) if one > 0.1 * part.max()]
    several, apart = listed(chosen), "differ by" if len(chosen) > 1 else "is known to"
    message = (
        f"{apart} the frames and modes of the body by {max(shares[0], 0.0):.0%} of its work only; it must be "
        f"{KNOWN:.0%}. Reduce the part again: residual vectors of the loads are then kept"
    )
    owner.check(shares[0] > KNOWN, "stiffening", several, message)
