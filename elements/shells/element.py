"""Shell elements of four and three nodes with rotations, for large rotations and small strains.

Equations are in `shells.kernels` (what a run computes), `fem_mbs.stresses.shell_cells` (strains),
`fem_mbs.stresses.shell_stiffness`.

Source: docs/theory/shells.md.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.element.base import register
from fem_mbs.element.kinds import ShellLike
from fem_mbs.elements.shells import kernels
from fem_mbs.elements.shells.record import DRILLING, records
from fem_mbs.elements.shells.section import ShellSection
from fem_mbs.elements.solids.element import MASSES
from fem_mbs.elements.solids.material import SolidMaterial
from fem_mbs.errors import label
from fem_mbs.nodes import Ground, Node, Node6
from fem_mbs.stresses.shell_cells import cell_of
from fem_mbs.stresses.shell_stiffness import directions, unit

FLAT = 1e-3  # least of the areas of the corners of an element, of the largest; more pointed ones raise an error
LARGEST_DRILLING = 0.1  # rad; next to point forces on coarse meshes 0.06 was measured without any such moment
LEAST_COSINE = 0.5  # between a director and the normal of the element at the same corner: 60°


def corners(X: np.ndarray) -> np.ndarray:
    """X_,r × X_,s (n, nn, 3) at the corners of elements X (n, nn, 3), of the length of twice the area of the corner."""
    forth, back = np.roll(X, -1, axis=1) - X, np.roll(X, 1, axis=1) - X
    return np.cross(forth, back)


def normals_of(X: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) of elements X (n, nn, 3) at the middle; nan of those without area."""
    total = corners(X).sum(axis=1)
    with np.errstate(all="ignore"):
        return unit(total)


def badness(X: np.ndarray, directors: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Describe faults of elements X (n, nn, 3): (mask of them, (n,) bool; text)."""
    at_corners, normal = corners(X), normals_of(X)
    along = np.einsum("eai,ei->ea", at_corners, np.nan_to_num(normal))
    slim = ~(along.min(axis=1) > FLAT * along.max(axis=1))
    with np.errstate(all="ignore"):
        cosine = np.einsum("eai,eai->ea", unit(at_corners), directors)
        warped = along / np.linalg.norm(at_corners, axis=2)
    turned = ~slim & ~(np.minimum(cosine, warped).min(axis=1) > LEAST_COSINE)
    return [
        (slim, "without area, with a corner that points inwards or one of 180°"),
        (turned, "so much warped, or with directors so much inclined, that normals at a corner differ by over 60°"),
    ]


class ShellElement(ShellLike):
    """Base of shell elements; a body of many is made by `ShellBody`, which finds the directors.

    Parameters
    ----------
    nodes : sequence of Node6
        Counter-clockwise about the normal. They may carry joints, beams, other shells, at any angle.
    section : ShellSection
    directors : (nn, 3), optional
        Unit normals of the surface at the nodes, inertial axes; default: the normal of the element.
    axis : (3,) unit vector, optional
        Direction whose projection is the first axis of the section, inertial axes. Needed for orthotropic layers;
        default: x, or y where x is within 37° of the normal.
    mass : {"consistent", "lumped"}
    damping : float ≥ 0 [s]
        β of damping proportional to the stiffness: a mode of circular frequency ω has the damping ratio β ω/2.
    drilling : float > 0, -
        Stiffness against rotations of nodes about the normal, of A₆₆ (its mean over all directions), and their
        inertia, of ρh³/12.
    name : str, optional

    Outputs
    -------
    membrane_force : (3,) [N/m], N₁₁, N₂₂, N₁₂ at the middle, axes of the section; > 0 is tension
    moment : (3,) [N], M₁₁, M₂₂, M₁₂; > 0 stretches the side of the normal
    shear_force : (2,) [N/m], Q₁, Q₂
    drilling : (1,) [rad], largest sine of an angle by which a node is rotated about its normal relative to the surface

    Raises
    ------
    ParameterError
        Wrong number or kind of nodes; one node twice; no area, corners inwards; directors over 60° from the normal.
    """

    nn: ClassVar[int]
    kernels = {
        "inertia": kernels.inertia,
        "inertia_tangent": kernels.inertia_tangent,
        "force": kernels.force,
        "force_tangent": kernels.force_tangent,
        "mixed": kernels.mixed,
        "update": kernels.update,
        "initial": kernels.initial,
        "energy": kernels.energy,
        "output": kernels.output,
        "trouble": kernels.trouble,
    }
    outputs = {"membrane_force": (3, "N/m"), "moment": (3, "N"), "shear_force": (2, "N/m"), "drilling": (1, "rad")}
    remembers = False
    section: ShellSection

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "nn" in vars(cls):
            cls.parameters = kernels.parameters(cls.nn)
            cls.n_state = kernels.STRAINS[cls.nn] + cls.nn

    def __init__(
        self,
        nodes: Sequence[Node],
        section: ShellSection,
        *,
        directors: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        mass: str = "consistent",
        damping: float = 0.0,
        drilling: float = DRILLING,
        name: str | None = None,
    ) -> None:
        self.name = name
        nn = self.nn
        self.check(isinstance(nodes, (list, tuple)), "nodes", nodes, f"must be a list of {nn} Node6")
        super().__init__(nodes, name=name)
        self.check(len(self.nodes) == nn, "nodes", len(self.nodes), f"of them; a {type(self).__name__} has {nn}")
        for node in self.nodes:
            self.check(
                isinstance(node, (Node6, Ground)), "nodes", node, "must be a Node6: nodes of shells have rotations"
            )
        self.check(len(set(map(id, self.nodes))) == nn, "nodes", self.nodes, "has a node twice")
        self.section = self.as_instance("section", section, ShellSection, "a ShellSection")
        X = np.array([node.position for node in self.nodes])[None]
        if directors is None:
            D = np.repeat(normals_of(X)[:, None], nn, axis=1)
        else:
            given = self.as_array("directors", directors, (nn, 3))
            lengths = np.linalg.norm(given, axis=1)
            self.check(np.abs(lengths - 1).max() < 1e-6, "directors", directors, "must be of length one")
            D = unit(given)[None]
        for wrong, message in badness(X, D):
            self.check(not wrong[0], "nodes", X[0].tolist(), f"are those of an element {message}")
        first = directions(X, checked_axis(self, axis, self.section, normals_of(X)))
        lumped = self.as_choice("mass", mass, MASSES) == "lumped"
        beta = self.positive("damping", damping, "s", allow_zero=True)
        drilling = self.positive("drilling", drilling, "")
        turned = np.array([node.rotation for node in self.nodes])[None]
        made = records(X, D, turned, section, first=first, drilling=drilling, damping=beta, lumped=lumped)
        self.viscous, self.record = beta > 0.0, made[0]

    @property
    def node_directors(self) -> np.ndarray:
        """Unit normals (nn, 3) of the surface at the nodes, axes of the nodes."""
        return self.record["Y"][0]

    def place(self) -> None:
        made = np.array(self.record)  # a record that comes from another process cannot be written to
        if made.dtype == self.parameters:
            made["cell_at"] = cell_of(self.nn).table_at
            self.record = made[()]

    def output_warnings(self, histories: dict) -> list:
        """Return a warning for `fem_mbs.system.checks.element_checks`: nodes rotated about the normal
        by a moment.
        """
        largest = float(np.nanmax(histories["drilling"]))
        text = (
            f"a node is rotated about its normal by {largest:.3g} rad relative to the surface around it (above "
            f"{LARGEST_DRILLING:g}). A moment about the normal of a single node meets a small stiffness that depends "
            "on the mesh, and so does this angle: bring the moment in through several nodes"
        )
        return [("drilling", largest, text)] if largest > LARGEST_DRILLING else []

    def trouble(self, state: Any) -> str | None:
        """Describe the fault of a state, or None: a director that does not point out of its side any more."""
        x = np.array([state.x[node.index] for node in self.nodes])
        R = np.array([state.R[node.index] for node in self.nodes])
        d = np.einsum("aij,aj->ai", R, self.record["Y"][0])
        if np.einsum("ai,ai->a", corners(x[None])[0], d).min() > 0.0:
            return None
        return (
            f"{label(self)} near {np.round(x.mean(axis=0), 6).tolist()} m is folded: a normal that a node carries does "
            "not point out of its side of the surface any more. Use smaller load steps or time steps, or a finer mesh"
        )


def checked_axis(owner: Any, axis: Any, section: ShellSection, normals: np.ndarray) -> np.ndarray | None:
    """Direction (3,) of the first axis, or None; a missing one, or one along normals (n, 3), raises an error."""
    if axis is None:
        owner.check(section.isotropic, "axis", axis, "must be given: the section has directions (fibres)")
        return None
    given = owner.unit_vector("axis", axis)
    steep = np.abs(normals @ given).max()
    owner.check(steep < 0.99, "axis", axis, "is along the normal of the surface; the first axis is its projection")
    return given


class Shell4(ShellElement):
    """Shell of four nodes: the element for shells; flat or warped.

    Parameters as `ShellElement`.

    Examples
    --------
    >>> plate = ShellSection(SolidMaterial(E=210e9, nu=0.3, density=7850), 1e-3)
    >>> corners = [Node6(x) for x in ([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0])]
    >>> Shell4(corners, plate, name="panel")
    Shell4 'panel': nodes=[4], section=ShellSection
    """

    nn = 4


class Shell3(ShellElement):
    """Shell of three nodes, to fill between those of four: its membrane strain is constant, so that it is stiff in its
    plane.

    Parameters as `ShellElement`.
    """

    nn = 3


def example(kind: Any, rng: np.random.Generator) -> ShellElement:
    """A distorted, damped element with a section of layers, on nodes that are turned."""
    from fem_mbs.elements.shells.section import PlyMaterial
    from fem_mbs.rotations import exp

    flat = cell_of(kind.nn).cell.points
    places = np.column_stack([flat, 0.1 * rng.normal(size=len(flat))]) + 0.05 * rng.normal(size=(len(flat), 3))
    directors = unit(np.array([0.0, 0.0, 1.0]) + 0.15 * rng.normal(size=(len(flat), 3)))
    ply = PlyMaterial(rng.uniform(5.0, 10.0), 1.0, 0.3, 0.5, 0.5, 0.3, rng.uniform(0.5, 2.0))
    core = SolidMaterial(rng.uniform(1.0, 2.0), 0.2, rng.uniform(0.5, 2.0))
    section = ShellSection.layered([(ply, 0.1, rng.normal()), (core, 0.2, 0.0), (ply, 0.05, rng.normal())])
    return kind(
        [Node6(x, exp(rng.normal(size=3))) for x in places],
        section,
        directors=directors,
        axis=[0.8, 0.6, 0.0],
        mass="lumped" if rng.random() < 0.3 else "consistent",
        damping=rng.uniform(0.1, 0.3),
    )


register(Shell4, example=lambda rng: example(Shell4, rng))
register(Shell3, example=lambda rng: example(Shell3, rng))
SHELLS: dict[int, type[ShellElement]] = {4: Shell4, 3: Shell3}
