"""Contact groups for the Gauss-Seidel solver: shapes on free bodies, and obstacles of other ones.

All conditions, and what changes where one of them does not hold: docs/theory/contact_groups.md, choice of the solver.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.errors import label
from fem_mbs.solvers.stepping.kernels.blocked import prescribed
from fem_mbs.system.contacts import TURNING, with_any

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.stepper import Stepper
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.pairs import PairSearch

FEW = 50  # spheres: below it those with restitution rebound at the end of a step, not up to a step early
SAME = 1e-12  # entries of the inertia of a body that differ by less of its own are equal


class Fit(NamedTuple):
    """Data of the bodies of a group for the Gauss-Seidel solver.

    Attributes
    ----------
    reason : str or None
        Why the group is assembled (pairwise), in words; None when it fits. The rest is empty with a reason.
    nodes : (n,) numbers of the nodes of the bodies, in ascending order
    inertias : (n, 6, 6) their blocks of the mass matrix; zero where nothing moves
    grains : bool
        Each sphere is at the node of a separate body, which has the same inertia about all axes; no load turns with
        it.
    moved : (k,) numbers of the nodes of obstacles that contacts can move
    """

    reason: str | None
    nodes: np.ndarray
    inertias: np.ndarray
    grains: bool
    moved: np.ndarray


def fit(system: "CompiledSystem", method: "Stepper") -> Fit:
    """Check if the Gauss-Seidel solver takes the contact group of a model, and collect its data."""
    reason, moved = _unknown_contacts(system, method) or _bound_bodies(system), np.zeros(0, int)
    if reason is None:
        moved = _moved_nodes(system)
        reason = _strange_obstacles(system, method, moved)
    if reason is None:
        (search,) = system.searches
        nodes = np.unique(search.nodes)
        inertias = _inertias(system, nodes)
        reason = _irregular(system, nodes, inertias)
        if reason is None:
            given = all(element.by_time for element in _on_bodies(system))  # no forces by motion
            return Fit(None, nodes, inertias, given and _are_grains(search, inertias), moved)
    return Fit(reason, np.zeros(0, int), np.zeros((0, 6, 6)), False, np.zeros(0, int))


def _unknown_contacts(system, method):
    """Groups, obstacles and laws that the Gauss-Seidel solver does not support; None when there are none."""
    if method.contact_solver != "auto":
        return f"contact_solver is '{method.contact_solver}'"
    if (options := method.no_sweeps(system)) is not None:
        return options
    if len(system.searches) != 1 or system.nc_fixed:
        return "there are several contact groups, or other contacts"
    (search,) = system.searches
    strange = [group.kind.__name__ for group in search.groups[1:] if not _is_obstacle(group)]
    if strange:
        return f"obstacles are {strange[0]}, which is no shape that a sphere touches"
    if (lacking := _without_law(search)) is not None:
        return f"the table of materials has no law for some pairs ({lacking})"
    few = len(search.nodes) < FEW and not search.owner.shaped
    if occurring(search)["restitution"].any() and not method.velocities_first and few:
        return "few spheres with restitution rebound at the time of their impact"
    if occurring(search)["tangential_restitution"].any():
        return "contacts rebound tangentially"
    return None


def occurring(search: "PairSearch") -> np.ndarray:
    """Laws (n, nl) of the materials of spheres: obstacles do not meet, and may have none with each other."""
    return search.laws[np.unique(search.materials)]


def _without_law(search):
    """Two materials that can meet and have no law, in words; None when there are none."""
    first = np.unique(search.materials)
    for i, j in np.argwhere(np.isnan(occurring(search)["friction"]))[:1]:
        return f"'{search.names[first[i]]}' and '{search.names[j]}'"
    return None


def turns(search: "PairSearch") -> bool:
    """True if contacts of a group resist rolling or spinning, or drill."""
    return bool(with_any(occurring(search), *TURNING, "drilling_arm").any())


def _is_obstacle(group):
    """True if gap and normal of a sphere, with its radius as a parameter, define contacts of a type."""
    if group.kind.half_space:
        return True
    smallest = min(group.owner.radii)
    return group.kind.of_sphere and (group.prototypes["radius"] == smallest).all()


def _on_bodies(system):
    """Elements on the bodies of spheres, one after the other, but for the bodies themselves."""
    (search,) = system.searches
    nodes = set(search.nodes)
    for element in system.elements:
        if not element.rigid_body and any(node.index in nodes for node in element.nodes):
            yield element


def _bound_bodies(system):
    """Reason why the bodies of spheres are not free; None when they are."""
    (search,) = system.searches
    others = (element for element in _on_bodies(system) if not element.external)
    bound = next(others, None)
    if bound is not None:
        return f"{label(bound)} acts on a body with {'shapes' if search.owner.shaped else 'spheres'} of the group"
    free = system.free[search.nodes]
    if (free.any(axis=1) != free.all(axis=1)).any():
        return "bodies of the group move in some directions only"
    return None


def _moved_nodes(system):
    """Nodes of obstacles that joints and drivers alone do not move."""
    (search,) = system.searches
    moved = []
    for k in sorted({int(k) for group in search.groups[1:] for k in group.partner_nodes if system.free[k].any()}):
        at = system.dof.reshape(-1, 6)[k]
        rows = np.zeros(((at >= 0).sum(), system.n))
        rows[np.arange(len(rows)), at[at >= 0]] = 1.0
        if not (system.m and prescribed(system, system.initial, rows).all()):
            moved.append(k)
    return np.array(moved, int)


def _strange_obstacles(system, method, moved):
    """Reason why contacts cannot move the nodes of obstacles; None where they can."""
    (search,) = system.searches
    if len(moved) and not method.takes_mechanisms:
        return (
            f"contacts move obstacles, and {type(method).__name__} does not solve their positions with those of "
            "particles"
        )
    if set(moved) & set(search.nodes.tolist()):
        return "a body carries spheres and obstacles"
    return None


def _inertias(system: "CompiledSystem", nodes: np.ndarray) -> np.ndarray:
    """Blocks (n, 6, 6) of nodes in the mass matrix at the start, which nothing couples with others.

    Columns are what inertia makes of unit accelerations, so that no matrix is needed.
    """
    state, free = system.initial, system.free[nodes]
    blocks = np.zeros((len(nodes), 6, 6))
    for j in range(6):
        accelerations = np.zeros((len(system.nodes), 6))
        accelerations[nodes, j] = free[:, j]
        moved, _ = system.forces(state, accelerations)
        blocks[:, :, j] = moved.reshape(-1, 6)[nodes] * free
    return blocks


def _irregular(system: "CompiledSystem", nodes: np.ndarray, inertias: np.ndarray) -> str | None:
    """Why the inertias (n, 6, 6) of bodies do not fit; None when they do."""
    masses, moments = _sizes(inertias)
    if (np.abs(inertias[:, :3, 3:]).max(axis=(1, 2)) > SAME * np.sqrt(masses * moments)).any():
        return "the mass of a body is not centred at its node"
    if (inertias[system.free[nodes].any(axis=1), 0, 0] == 0.0).any():
        return "a body has no mass"
    return None


def _sizes(inertias):
    """Largest masses (n,) [kg] and moments of inertia (n,) [kg m²], each of one body: dust is no error of a rock."""
    diagonal = np.einsum("bii->bi", inertias)
    return diagonal[:, :3].max(axis=1), diagonal[:, 3:].max(axis=1)


def _are_grains(search, inertias):
    """True if bodies are no more than single spheres with the same inertia about all axes, and no moments act."""
    if len(inertias) < len(search.nodes) or search.offsets.any() or turns(search):
        return False
    moments = inertias[:, 3:, 3:]
    unlike = np.abs(moments - moments[:, :1, :1] * np.eye(3)).max(axis=(1, 2))
    return bool((unlike <= SAME * _sizes(inertias)[1]).all())
