"""Reduced models of flexible bodies, and the file they are kept in.

Source: docs/theory/superelements.md, section 2.
"""

import functools
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import eigh, null_space

from fem_mbs.arguments.checked import ArrayLike, Checked, Keywords, Named
from fem_mbs.arguments.spelling import meant
from fem_mbs.elements.superelements.coordinates import (
    as_lengths,
    compliance,
    responses,
    rigid_coordinates,
    softening_of,
)
from fem_mbs.elements.superelements.load_patterns import check_known
from fem_mbs.elements.superelements.residual_vectors import residuals_of
from fem_mbs.errors import ParameterError, Warnings, label
from fem_mbs.mesh.cells import CELLS as CELLS_OF_SOLIDS

INTEGERS = ("faces", "cell_types", "cell_points")
FORMAT = 5  # of the file
# 4 had the compliance under gravity, not under other inertia loads; 3 had no residual vectors; 2 one pattern at most,
# and of it no more than its geometric stiffness
OLDER = (2, 3, 4)
SLASH = "\u2215"  # in names of groups: "/" divides names in HDF5
ARRAYS = (
    "positions", "M", "K", "N", "O", "momentum", "inertia", "center", "interface_frequencies", "points", "basis",
    "faces", "stretch", "pull_geometry", "pull_compliance", "pull_fields", "pull_softening", "cell_types",
    "cell_points", "cell_material", "residual_frequencies", "residual_loads", "tractions", "traction_compliance",
    "inertia_loads", "inertia_compliance",
)  # fmt: skip
RESIDUAL = ("residual_frequencies", "residual_loads", "tractions", "traction_compliance")
INERTIA = ("inertia_loads", "inertia_compliance")
CELLS = {"cell_types": np.zeros(0, int), "cell_points": np.zeros(0, int), "cell_material": np.zeros((0, 3))}


class Reduction(Checked):
    """A reduced flexible body: what `reduce_mesh`, `reduce_matrices` and `load_reduction` return.

    Attributes
    ----------
    frames : tuple of str, names of the boundary frames
    positions : (n_b, 3) [m], of the boundary frames, axes of the body
    modes : int, number m of internal coordinates: modes, and after them residual vectors
    residual_vectors : int, number r of these
    mass : float [kg]; center : (3,) [m]; inertia : (3, 3) [kg m²] about the centre, axes of the body
    M, K : (n, n), n = 6 n_b + m, of u_1, θ_1, …, η
    N, O : (3, n, n), (6, n, n), coupling of inertia with the rotation of the body
    momentum : (3, n) [kg …], Σ of the mass that moves with each coordinate
    interface_frequencies : (m − r,) [rad/s], of the internal modes, all frames held
    residual_frequencies : (r,) [rad/s], of the residual vectors; no frequencies of the body
    residual_loads : (q, n), forces on the coordinates of the loads that have residual vectors
    tractions : (3 g, n), traction_compliance : (3 g, 3 g) [m/N]
        Of uniform tractions along x, y and z on the groups of ``loaded``, 1 N each: forces on the coordinates; means of
        displacements of the mesh under them, with all frames held.
    inertia_loads : (9, n), inertia_compliance : (12, 12) [kg² m/N …]
        Of unit fields of acceleration: e_i, three of gravity along x, y and z, and e_i X_j, nine of centrifugal forces
        and angular acceleration, j fastest. Forces of the latter on the coordinates (those of the former are
        ``momentum``); work of each on the response to each, with all frames held. Zero in older files: unknown.
    points : (k, 3) [m], basis : (3 k, n), nodes of the model and their displacements for each coordinate
    faces : (f, 3), triangles of the surface, numbers of ``points``
    stretch : (p, n), pull_geometry : (p, n, n), pull_compliance : (p, p) [J], pull_fields : (p, 4, 3)
        Of p loads that stiffen the body: forces on the coordinates, geometric stiffness, work of each on the exact
        response to each, and the accelerations A, Wᵀ that the mass is multiplied with, zero of forces on frames.
    pull_softening : (p, p, n, n)
        What each two loads would take from the stiffness by motions that the modes leave out: Σ s_p s_q of it for sizes
        s. Zero in older files: unknown.
    pull_stiffness : (p, p) [1/J], inverse of the work on the response of the coordinates; of a pull of 1 N [N/m]
    groups : dict
        Name of a group of faces of the mesh -> numbers of ``faces``.
    loaded : dict
        Name of a group -> numbers of its ``points``; in the order of ``tractions``.
    cell_types : (e,) int, types of VTK; cell_points : (c,), numbers of ``points`` of all cells, one after the other
    cell_material : (e, 3): λ, μ [Pa], and 2 for cells with incompatible modes
        The solids that it was made of, for stresses; none of a reduction of matrices.
    """

    freezes = True
    positions: np.ndarray
    M: np.ndarray
    K: np.ndarray
    N: np.ndarray
    O: np.ndarray
    momentum: np.ndarray
    center: np.ndarray
    inertia: np.ndarray
    interface_frequencies: np.ndarray
    points: np.ndarray
    basis: np.ndarray
    faces: np.ndarray
    stretch: np.ndarray
    pull_geometry: np.ndarray
    pull_compliance: np.ndarray
    pull_fields: np.ndarray
    pull_softening: np.ndarray
    cell_types: np.ndarray
    cell_points: np.ndarray
    cell_material: np.ndarray
    residual_frequencies: np.ndarray
    residual_loads: np.ndarray
    tractions: np.ndarray
    traction_compliance: np.ndarray
    inertia_loads: np.ndarray
    inertia_compliance: np.ndarray

    def __init__(
        self,
        frames: Any,
        mass: float,
        arrays: dict[str, np.ndarray],
        *,
        groups: dict[str, np.ndarray] | None = None,
        loaded: dict[str, np.ndarray] | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        good = isinstance(frames, (tuple, list)) and len(frames) > 0 and all(isinstance(f, str) for f in frames)
        self.check(good and len(set(frames)) == len(frames), "frames", frames, "must be names of frames, all different")
        self.frames = tuple(frames)
        self.mass = self.positive("mass", mass, "kg")
        if isinstance(arrays, dict):
            p, n = (len(np.atleast_1d(arrays.get(key, []))) for key in ("stretch", "M"))
            none = dict(zip((*RESIDUAL, *INERTIA), map(np.zeros, ((0,), (0, n), (0, n), (0, 0), (9, n), (12, 12)))))
            arrays = CELLS | none | {"pull_softening": np.zeros((p, p, n, n))} | arrays
            arrays |= {} if loaded is not None else {key: none[key] for key in ("tractions", "traction_compliance")}
        missing = [key for key in ARRAYS if key not in arrays] if isinstance(arrays, dict) else ARRAYS
        self.check(not missing, "arrays", arrays, f"must be a dict; without {', '.join(missing)} it is no reduction")
        nb, n = len(self.frames), len(np.atleast_1d(arrays["M"]))
        k, p = len(np.atleast_1d(arrays["points"])), len(np.atleast_1d(arrays["stretch"]))
        r, t = len(np.atleast_1d(arrays["residual_frequencies"])), len(np.atleast_1d(arrays["tractions"]))
        self.check(r <= n - 6 * nb, "arrays", "residual_frequencies", f"are more than {n - 6 * nb} coordinates inside")
        shapes: dict[str, tuple] = {
            "positions": (nb, 3), "M": (n, n), "K": (n, n), "N": (3, n, n), "O": (6, n, n), "momentum": (3, n),
            "inertia": (3, 3), "center": (3,), "interface_frequencies": (n - 6 * nb - r,), "points": (k, 3),
            "basis": (3 * k, n), "faces": (None, 3), "stretch": (p, n), "pull_geometry": (p, n, n),
            "pull_compliance": (p, p), "pull_fields": (p, 4, 3), "pull_softening": (p, p, n, n),
            "cell_types": (None,), "cell_points": (None,), "cell_material": (None, 3), "residual_frequencies": (r,),
            "residual_loads": (None, n), "tractions": (t, n), "traction_compliance": (t, t),
            "inertia_loads": (9, n), "inertia_compliance": (12, 12),
        }  # fmt: skip
        for key, shape in shapes.items():
            value = self.as_array("arrays", arrays[key], shape)
            value = value.astype(np.int64) if key in INTEGERS else value.copy()
            value.setflags(write=False)
            setattr(self, key, value)
        self._check_values()
        self.groups = self._numbers("groups", groups, len(self.faces), "faces")
        self.loaded = self._numbers("loaded", loaded, len(self.points), "points")
        right = 3 * len(self.loaded) == len(self.tractions)
        self.check(right, "loaded", loaded, f"must have a group for every three of {len(self.tractions)} tractions")

    def _check_values(self):
        """Raise an error for values that would give wrong motions or stresses without a warning, as in files of
        others.
        """
        p, n = self.stretch.shape
        several = (
            ("O", self.O),
            ("pull_geometry", self.pull_geometry),
            ("pull_compliance", self.pull_compliance[None]),
            ("pull_softening", self.pull_softening.transpose(0, 2, 1, 3).reshape(1, p * n, p * n)),
            ("traction_compliance", self.traction_compliance[None]),
            ("inertia_compliance", self.inertia_compliance[None]),
        )
        for key, matrices in (("M", self.M[None]), ("K", self.K[None]), *several):
            apart = np.abs(matrices - matrices.transpose(0, 2, 1)).max(initial=0.0)
            right = apart <= 1e-8 * np.abs(matrices).max(initial=0.0)
            self.check(right, "arrays", key, "is not symmetric")
        for key in ("faces", "cell_points"):
            numbers, most = getattr(self, key), len(self.points)
            right = not numbers.size or (numbers.min() >= 0 and numbers.max() < most)
            self.check(right, "arrays", key, f"has numbers of points that are not between 0 and {most - 1}")
        sizes = {cell.vtk: cell.nn for cell in CELLS_OF_SOLIDS.values()}
        kinds, counts = np.unique(self.cell_types, return_counts=True)
        right = all(kind in sizes for kind in kinds.tolist()) and len(self.cell_material) == len(self.cell_types)
        right = right and sum(sizes[k] * c for k, c in zip(kinds.tolist(), counts.tolist())) == len(self.cell_points)
        self.check(right, "arrays", "cell_types", "do not fit cell_points and cell_material")
        names = [f"load {k + 1}" for k in range(len(self.stretch))]
        check_known(self, names, compliance(self.stretch, self.pull_responses), self.pull_compliance)

    @functools.cached_property
    def pull_responses(self) -> np.ndarray:
        """Coordinates (p, n) that the loads of the patterns bring about."""
        units = as_lengths(len(self.frames), self.modes, float(np.ptp(self.points, axis=0).max()), self.mass)
        return responses(self.K, self.stretch, self.positions, units)

    @functools.cached_property
    def pull_stiffness(self) -> np.ndarray:
        found = np.linalg.inv(compliance(self.stretch, self.pull_responses))
        return 0.5 * (found + found.T)

    def _numbers(self, parameter, given, most, what):
        """Names of groups with numbers of faces or points, checked."""
        given = {} if given is None else given
        message = f"must be a dict: name of a group to numbers of {what}"
        self.check(isinstance(given, dict) and all(isinstance(key, str) for key in given), parameter, given, message)
        found: dict[str, np.ndarray] = {}
        for key, one in given.items():
            numbers = self.as_array(parameter, one, (None,))
            right = numbers.size and (numbers == np.floor(numbers)).all()
            right = right and 0 <= numbers.min() and numbers.max() < most
            self.check(right, parameter, key, f"must have numbers of {what} from 0 to {most - 1}")
            found[key] = numbers.astype(np.int64)
            found[key].setflags(write=False)
        return found

    @functools.cached_property
    def compliance_left_out(self) -> np.ndarray:
        """f⁰ − f (3 g, 3 g) [m/N] of `residual_vectors`, (23): the part outside the coordinates under ``tractions``."""
        first = 6 * len(self.frames)
        c = self.tractions[:, first:]
        found = self.traction_compliance - c @ np.linalg.solve(self.K[first:, first:], c.T)
        return 0.5 * (found + found.T)

    @functools.cached_property
    def inertia_left_out(self) -> np.ndarray:
        """The same (12, 12) under the fields of ``inertia_compliance``; 0 where they are unknown (older files)."""
        known = np.diag(self.inertia_compliance) > 0.0
        first = 6 * len(self.frames)
        c = np.vstack([self.momentum, self.inertia_loads])[:, first:] * known[:, None]
        found = self.inertia_compliance - c @ np.linalg.solve(self.K[first:, first:], c.T)
        return 0.5 * (found + found.T)

    def missing_compliance(self, group: str, direction: ArrayLike | None = None) -> float:
        """Share of the static response to a uniform traction on a group that the coordinates leave out, 0 to 1.

        With all frames held: where these move too it is less of the whole. Residual vectors of the group make it zero.

        Parameters
        ----------
        group : str
            Of ``loaded``.
        direction : (3,), optional
            Axes of the body; default: the worst.

        Raises
        ------
        ParameterError
            The reduction has no data of this group: lists the existing ones.
        """
        there = ", ".join(self.loaded) or "none"
        message = f"is no group whose compliance the reduction has ({there}); residual_vectors=[group] keeps it"
        self.check(isinstance(group, str) and group in self.loaded, "group", group, message)
        at = 3 * list(self.loaded).index(group)
        left, whole = (f[at : at + 3, at : at + 3] for f in (self.compliance_left_out, self.traction_compliance))
        if direction is not None:
            e = self.unit_vector("direction", direction)
            return max(float(e @ left @ e / (e @ whole @ e)), 0.0)
        return max(float(eigh(left, whole, eigvals_only=True)[-1]), 0.0)

    @functools.cached_property
    def held_frequency(self) -> float:
        """Lowest frequency [rad/s] with one of the frames held, whichever gives the least."""
        found = []
        for i in range(len(self.frames)):
            rest = np.delete(np.arange(self.size), slice(6 * i, 6 * i + 6))
            if len(rest):
                K, M = self.K[np.ix_(rest, rest)], self.M[np.ix_(rest, rest)]
                found.append(float(eigh(K, M, eigvals_only=True, subset_by_index=[0, 0])[0]))
        return float(np.sqrt(max(min(found, default=np.inf), 0.0)))

    @property
    def size(self) -> int:
        """n = 6 n_b + m."""
        return len(self.M)

    @property
    def modes(self) -> int:
        return self.size - 6 * len(self.frames)

    @property
    def residual_vectors(self) -> int:
        return len(self.residual_frequencies)

    def frame_number(self, name: str) -> int:
        """Place of a frame among `frames`; lists them if it is not there."""
        if not isinstance(name, str) or name not in self.frames:
            near = meant(name, list(self.frames)) if isinstance(name, str) else ""
            raise ParameterError(self, "frame", name, f"is not there; {near} ({', '.join(self.frames)})")
        return self.frames.index(name)

    def rigid_motions(self) -> np.ndarray:
        """Coordinates (n, 6) of the rigid motions: translations, rotations about the origin of the body."""
        return rigid_coordinates(self.positions, self.size)

    @functools.cached_property
    def spin_rows(self) -> np.ndarray:
        """Y (3, n) with |Y v̂|² = 2 w·J w/tr(J), w of the rigid rotation with the angular momentum of v̂.

        Of a rod that is its angular speed across its axis, of a disc that about its own: what stretches them.
        """
        turns = rigid_coordinates(self.positions - self.center, self.size)[:, 3:]
        size, axes = np.linalg.eigh(turns.T @ self.M @ turns)
        kept = size > 1e-12 * size[-1]
        rows: np.ndarray = np.zeros((3, self.size))
        rows[kept] = np.sqrt(2.0 / size.sum() / size[kept])[:, None] * (axes.T @ turns.T @ self.M)[kept]
        return rows

    def effective_mass(self, frame: str, direction: ArrayLike) -> float:
        """Share m_eff/M of the mass that an impact on a frame stops: the share of the energy that it takes.

        An impact with restitution 0 on this frame keeps 1 − m_eff/M of the kinetic energy of a body that flies in the
        direction of the impact. The mesh without reduction would keep nearly all of it: use as many modes as the
        energy of impacts requires, for a bar about 0.2/m_eff·M of them.

        Parameters
        ----------
        frame : str
        direction : (3,), axes of the body
        """
        i = self.frame_number(frame)
        e = self.as_vector("direction", direction)
        self.check(e.any(), "direction", direction, "must not be zero")
        right: np.ndarray = np.zeros(self.size)
        right[6 * i : 6 * i + 3] = e / np.linalg.norm(e)
        return float(1.0 / (right @ np.linalg.solve(self.M, right)) / self.mass)

    def with_modes(self, modes: Any) -> "Reduction":
        """The same body with some of its internal modes only.

        Residual vectors stay, and carry the removed modes: they are those that a reduction to these modes would have.

        Parameters
        ----------
        modes : int, or (k,) int
            Number of those of lowest frequency; or their indices, from 0, rising: to leave out those that the motion
            does not need, as bending of a bar under an axial impact.

        Raises
        ------
        ParameterError
            There are no such modes.

        Examples
        --------
        >>> from fem_mbs.elements.solids.material import SolidMaterial
        >>> from fem_mbs.elements.superelements.reduce_mesh import reduce_mesh
        >>> from fem_mbs.mesh.block import block_mesh
        >>> mesh = block_mesh([1.0, 0.1, 0.1], [8, 1, 1])
        >>> rod = reduce_mesh(mesh, SolidMaterial(E=210e9, nu=0.3, density=7850), {"hit": "x0"}, modes=6)
        >>> along = [k for k in range(rod.modes) if abs(rod.momentum[0, 6 + k]) > 1e-3]
        >>> along, rod.with_modes(along).modes
        ([5], 1)
        """
        most = len(self.interface_frequencies)
        if isinstance(modes, (int, np.integer)) and not isinstance(modes, bool):
            count = self.as_integer("modes", modes, at_least=0)
            self.check(count <= most, "modes", modes, f"are more than the {most} that there are")
            chosen = np.arange(count)
        else:
            given = self.as_array("modes", modes, (None,))
            right = (given == np.round(given)).all() and (given >= 0).all() and (given < most).all()
            message = f"must be numbers of modes from 0 to {most - 1}, rising"
            self.check(right and (np.diff(given) > 0).all(), "modes", modes, message)
            chosen = given.astype(np.int64)
        first = 6 * len(self.frames)
        T, high = self._changed(np.concatenate([np.arange(first), first + chosen]))
        size = first + len(chosen) + len(high)
        arrays = {key: getattr(self, key) for key in ARRAYS}
        rows = ("momentum", "basis", "stretch", "residual_loads", "tractions", "inertia_loads")
        arrays |= {key: arrays[key] @ T for key in rows}
        arrays |= {key: T.T @ arrays[key] @ T for key in ("M", "K", "N", "O", "pull_geometry", "pull_softening")}
        gone = np.arange(size, self.size)
        arrays["pull_softening"] = arrays["pull_softening"] + softening_of(arrays["pull_geometry"], arrays["K"], gone)
        arrays |= {key: arrays[key][..., :size] for key in rows}
        square = ("M", "K", "N", "O", "pull_geometry", "pull_softening")
        arrays |= {key: arrays[key][..., :size, :size] for key in square}
        arrays["interface_frequencies"] = self.interface_frequencies[chosen]
        arrays["residual_frequencies"] = high
        return Reduction(self.frames, self.mass, arrays, groups=self.groups, loaded=self.loaded, name=self.name)

    def _changed(self, keep):
        """Coordinates (n, n): those with the numbers ``keep``, residual vectors next to these, and the removed ones.

        Also frequencies [rad/s] of the residual vectors. The removed ones are orthogonal to them in K.
        """
        one, rest = np.eye(self.size), np.setdiff1d(np.arange(self.size), keep)
        if not len(self.residual_loads):
            return one[:, np.concatenate([keep, rest])], np.zeros(0)
        M, K = (A[np.ix_(rest, rest)] for A in (self.M, self.K))
        under = np.linalg.solve(K, self.residual_loads[:, rest].T)
        vectors, high, _, _ = residuals_of(self, M, K, np.zeros((len(rest), 0)), under)
        left = null_space((K @ vectors).T) if len(high) else np.eye(len(rest))
        return np.hstack([one[:, keep], one[:, rest] @ np.hstack([np.sqrt(self.mass) * vectors, left])]), high

    def displacements(self, d: ArrayLike) -> np.ndarray:
        """Displacements (k, 3) [m] of `points` for coordinates d (n,), axes of the body."""
        d = self.as_array("d", d, (self.size,))
        return (self.basis @ d).reshape(-1, 3)

    def save(self, path: Any) -> None:
        """Write to a file (HDF5), which `load_reduction` reads.

        Raises
        ------
        ParameterError
            The file cannot be written.
        """
        import h5py

        path = self.as_path("path", path)
        self.check(path is not None, "path", path, "must be the path of a file")
        try:
            with h5py.File(Path(path), "w") as file:
                file.attrs["fem_mbs reduction"] = FORMAT
                file.attrs["mass"], file.attrs["frames"] = self.mass, list(self.frames)
                file.attrs["name"] = self.name or ""
                file.attrs["warnings"] = list(self._warnings)
                for key in ARRAYS:
                    file[key] = getattr(self, key)
                named = file.create_group("groups", track_order=True)
                for key, numbers in self.groups.items():
                    named[key.replace("/", SLASH)] = numbers
                named = file.create_group("loaded", track_order=True)
                for key, numbers in self.loaded.items():
                    named[key.replace("/", SLASH)] = numbers
        except OSError as error:
            raise ParameterError(self, "path", str(path), f"cannot be written: {error}") from error

    def __repr__(self) -> str:
        blows = [self.effective_mass(f, e) for f in self.frames for e in np.eye(3)]
        shares = ", ".join(f"{f} {max(blows[3 * i : 3 * i + 3]):.2g}" for i, f in enumerate(self.frames))
        r = self.residual_vectors
        more = f", {r} residual vector{'s' if r > 1 else ''}" if r else ""
        return (
            f"{label(self)}({self.mass:.6g} kg, frames {', '.join(self.frames)}, "
            f"{len(self.interface_frequencies)} modes{more}; largest m_eff/M: {shares})"
        )


@Keywords.known
def load_reduction(path: Any) -> Reduction:
    """A reduction that `Reduction.save` wrote.

    Raises
    ------
    ParameterError
        The file is not there, is no reduction, is damaged, or has links to other files, which are not followed.
    """
    import h5py

    from fem_mbs.results.file.read_checks import DAMAGE, leads_outside

    owner = Named("load_reduction")
    path = owner.as_path("path", path)
    owner.check(path is not None, "path", path, "must be the path of a file that reduction.save wrote")
    try:
        with h5py.File(Path(path), "r") as file:
            outside = leads_outside(file)
            owner.check(outside is None, "path", str(path), f"is not accepted: {outside}")
            version, keys = file.attrs.get("fem_mbs reduction"), list(ARRAYS)
            if "pull_softening" not in file:
                keys.remove("pull_softening")
            if version in OLDER:
                older = INERTIA if version == OLDER[2] else (*RESIDUAL, *INERTIA)
                keys = [key for key in keys if key not in older]
                keys += ["weight_compliance"] if version == OLDER[2] else []
            if version == OLDER[0]:
                keys = [key for key in keys if key not in ("pull_compliance", "pull_fields")] + ["pull_stiffness"]
            if version not in (FORMAT, *OLDER) or any(key not in file for key in keys):
                message = "is no reduction of this version; write one by reduction.save(path)"
                raise ParameterError(owner, "path", str(path), message)
            arrays = {key: file[key][()] for key in keys}
            if "weight_compliance" in arrays:
                arrays["inertia_compliance"] = np.zeros((12, 12))
                arrays["inertia_compliance"][:3, :3] = arrays.pop("weight_compliance")
            if version == OLDER[0]:
                arrays |= {"pull_compliance": np.diag(1.0 / arrays["pull_stiffness"])}
                arrays |= {"pull_fields": np.zeros((len(arrays["stretch"]), 4, 3))}
            frames = [str(name) for name in file.attrs["frames"]]
            groups, loaded = (
                {key.replace(SLASH, "/"): numbers[()] for key, numbers in file.get(named, {}).items()}
                for named in ("groups", "loaded")
            )
            name = str(file.attrs["name"]) or None
            found = Reduction(frames, file.attrs["mass"], arrays, groups=groups, loaded=loaded, name=name)
            Warnings.keep(found, [str(text) for text in file.attrs.get("warnings", ())])
            return found
    except ParameterError:
        raise
    except DAMAGE as error:
        raise ParameterError(owner, "path", str(path), f"cannot be read as a reduction: {error}") from error
