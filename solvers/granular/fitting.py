"""Which contact groups are solved by sweeps: spheres at the nodes of free bodies, and planes that they do not move."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.sphere_plane import SphereOnPlane
from fem_mbs.solvers.stepping.blocked import prescribed
from fem_mbs.system.contacts import L_DRILLING, L_NORMAL, L_ROLLING, L_SPINNING, L_TANGENTIAL

if TYPE_CHECKING:
    from fem_mbs.system.pairs import PairSearch
    from fem_mbs.system.system import System

FEW = 50  # spheres: below it impacts with restitution run through touching ones, one problem after the other
SAME = 1e-12  # masses and moments of inertia that differ by less are equal


def fit(system: "System", method: Any) -> tuple[str | None, np.ndarray]:
    """Why a model with contact groups is solved pair by pair, in words, None when it fits; and what sweeps need of it.

    Returns
    -------
    reason : str or None
    mobilities : (n, 2), 1/m [1/kg] and r²/J [1/kg] of the spheres, zero where nothing moves; empty with a reason
    """
    reason = _unknown_contacts(system, method) or _bound_spheres(system) or _moved_planes(system)
    if reason is not None:
        return reason, np.zeros((0, 2))
    (search,) = system.searches
    blocks = _inertias(system)[search.nodes]
    return _irregular(system, search, blocks), _mobilities(search, blocks)


def _unknown_contacts(system, method):
    """Groups, obstacles and laws that sweeps do not know; None when there are none."""
    if method.contact_solver != "auto":
        return f"contact_solver is '{method.contact_solver}'"
    if len(system.searches) != 1 or system.nc_fixed:
        return "there are several contact groups, or other contacts"
    (search,) = system.searches
    if set(search.partner_materials) - {SphereOnPlane} - {search.groups[0].kind}:
        return "obstacles are not planes"
    if np.isnan(search.laws).any():
        return "the table of materials has no law for some pairs"
    if search.laws[..., L_NORMAL].any() and not method.velocities_first and len(search.nodes) < FEW:
        return "impacts of few spheres with restitution are a sequence"
    if search.laws[..., [L_ROLLING, L_SPINNING, L_TANGENTIAL, L_DRILLING]].any():
        return "contacts resist rolling or spinning, or rebound tangentially"
    return None


def _bound_spheres(system):
    """What keeps spheres from being free bodies; None when they are."""
    (search,) = system.searches
    nodes = set(search.nodes)
    if search.owner.excluded or len(nodes) < len(search.nodes) or search.offsets.any():
        return "spheres are not each at the node of a body, or bodies are excluded"
    others = (element for element in system.elements if type(element) is not RigidBody)
    if any(node.index in nodes for element in others for node in element.nodes):
        return "joints or forces act on spheres"
    free = system.free[search.nodes]
    if (free.any(axis=1) != free.all(axis=1)).any():
        return "spheres move in some directions only"
    return None


def _moved_planes(system):
    """Whether spheres could move a plane, in words; None when joints and drivers alone do."""
    (search,) = system.searches
    for k in {k for group in search.groups[1:] for k in group.partner_nodes if system.free[k].any()}:
        at = system.dof.reshape(-1, 6)[k]
        rows = np.zeros(((at >= 0).sum(), system.n))
        rows[np.arange(len(rows)), at[at >= 0]] = 1.0
        if not (system.m and prescribed(system, system.initial, rows).all()):
            return "planes move freely"
    return None


def _inertias(system: "System") -> np.ndarray:
    """Blocks (N, 6, 6) of the nodes in the mass matrix at the start."""
    M = system.matrices(system.initial, mass_only=True).tocoo()
    full, blocks = np.flatnonzero(system.dof >= 0), np.zeros((len(system.nodes), 6, 6))
    row, column = full[M.row], full[M.col]
    same = row // 6 == column // 6
    np.add.at(blocks, (row[same] // 6, row[same] % 6, column[same] % 6), M.data[same])
    return blocks


def _irregular(system: "System", search: "PairSearch", blocks: np.ndarray) -> str | None:
    """Why the inertias (n, 6, 6) of spheres do not fit; None when they do."""
    diagonal = np.einsum("bii->bi", blocks)
    size = diagonal.max(initial=0.0)
    if np.abs(blocks - diagonal[:, :, None] * np.eye(6)).max(initial=0.0) > SAME * size:
        return "the mass of a body is not centred at its node, or its axes are no main axes"
    for first in (0, 3):
        if np.ptp(diagonal[:, first : first + 3], axis=1).max(initial=0.0) > SAME * size:
            return "moments of inertia of a body differ from axis to axis"
    massless = diagonal[:, 0] == 0.0
    return "a body has no mass" if system.free[search.nodes][massless].any() else None


def _mobilities(search, blocks):
    """1/m and r²/J (n, 2) from inertias (n, 6, 6)."""
    result = np.zeros((len(blocks), 2))
    for column, first, scale in ((0, 0, 1.0), (1, 3, search.radii**2)):
        value = blocks[:, first, first]
        np.divide(scale, value, out=result[:, column], where=value > 0.0)
    return result
