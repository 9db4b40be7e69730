"""Forces of redundant contacts as of very stiff ones: where rigid contacts leave them undetermined, one of all.

Several contacts of one body, or of bodies that joints link, may give the same motion with different forces. Rigid
contacts are the limit of stiff ones, and that has one answer: small displacements y of the bodies, common to all of
them, press each contact by e_c = E_cᵀ y (normal, t1, t2), and

    Σ E_c r_c(y) + Gᵀ λ = Σ E_c r_c* + Gᵀ λ* ,   G y = 0                                                          (1)
    r_N = k_N ⟨e_N⟩ ,   r_T = projection of k_T e_T onto |r_T| ≤ μ r_N ;   sliding: r_T = r_N r_T*/r_N*            (2)

r* and λ* being the forces of the run. The scale of k does not matter, only what contacts have in relation to each
other. Without friction r minimises Σ r_N²/k_N among all forces of the same motion, and is unique; with friction it is
that of loads which grow in proportion from zero. It does not depend on axes, on the time stepper or on the steps
before.

(1) is solved by Newton's iteration in y and λ with steps of least norm: what no contact holds may move freely.

Source: docs/theory/contact_problems.md, (31), (32); derived there.

    symbol   code      shape       meaning
    E        E         (n, c, 3)   forces on free components of a unit of normal force and of friction along t1, t2
    G        G         (m, n)      gradients of the joints of these bodies
    y, λ     z         (n + m,)    displacements [m], rotations times the arm; multipliers
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import FemMbsError, Warnings, label
from fem_mbs.results.history import History, Quantity
from fem_mbs.results.reactions import system_of
from fem_mbs.results.stiff_contacts import StiffContacts
from fem_mbs.results.table import AXES, XYZ
from fem_mbs.shapes import matrices
from fem_mbs.system.checks.redundancy import gradient_of

if TYPE_CHECKING:
    from fem_mbs.results.results import Results

OWNER = Named("unique_forces")
MINDLIN = 14 / 17  # k_T/k_N of spheres with Poisson's ratio 0.3, 2 (1 − ν)/(2 − ν)
CLOSED = 1e-9  # of the size of the model: gaps of closed contacts
STILL = 1e-6  # of the largest speed: below it a contact neither opens nor slides


def unique_forces(
    result: "Results", stiffness: Any = None, tangential_stiffness: float = MINDLIN, model: Any = None
) -> dict[str, History]:
    """Histories ``force`` and ``force_vector`` by the names of the contacts, see `Results.unique_forces`."""
    system = system_of(result, model, "unique_forces")
    ratio = OWNER.positive("tangential_stiffness", tangential_stiffness)
    described = sorted((e for e in result.description["elements"] if e["contact"] is not None), key=_number)
    names = [element["name"] for element in described]
    OWNER.check(bool(names), "result", result.model, "has no contacts")
    for contact in system.contacts:
        if contact.friction_scale != (1.0, 1.0):
            raise FemMbsError(f"{label(contact)} has anisotropic friction: unique_forces takes Coulomb's cone only")
    k = _relative(stiffness, names)
    states = _States(result, system, described, np.column_stack([k, ratio * k, ratio * k]))
    found, lost = states.reported.copy(), []
    with system.in_use("unique_forces"):
        for i in range(len(result.t)):
            lost += [] if states.distribute(i, found[i]) else [i]
    if lost:
        Warnings.issue(
            f"unique_forces: at {len(lost)} of {len(result.t)} states, the first at t = {result.t[lost[0]]:g} s, no "
            "forces of stiff contacts with this motion were found; those of the run are given there. Friction may "
            "wedge the bodies"
        )
    return {name: _history(name, found[:, c], states.axes[:, c]) for c, name in enumerate(names)}


def _number(element):
    return element["contact"]


def _relative(stiffness, names):
    """Stiffnesses (c,) in relation to their mean."""
    if stiffness is None:
        return np.ones(len(names))
    OWNER.as_instance("stiffness", stiffness, dict, "a dict of contacts' names")
    for name in stiffness:
        OWNER.check(name in names, "stiffness", name, f"is not a contact; contacts: {', '.join(map(repr, names[:10]))}")
    for name in names:
        OWNER.check(name in stiffness, "stiffness", list(stiffness), f"has no value of contact '{name}'; give all")
    k = np.array([OWNER.positive(f"stiffness of {name}", stiffness[name], "N/m") for name in names])
    return k / k.mean()


def _history(name, force, axes):
    vector = np.einsum("ka,kai->ki", force, axes)
    return History(
        name, {"force": Quantity("N", AXES, lambda: force), "force_vector": Quantity("N", XYZ, lambda: vector)}
    )


def _sliding_friction(contact, speed):
    """Friction coefficient of a contact that slides with a speed [m/s]."""
    return contact.friction if contact.sliding_law is None else contact.sliding_law(speed)


class _States:
    """Saved states of a run with its contacts.

    ``reported`` (k, c, 3) [N]: forces of the run by ``axes`` (k, c, 3, 3), normal, t1, t2.
    """

    def __init__(self, result: "Results", system: Any, described: list, k: np.ndarray) -> None:
        self.result, self.system, self.described, self.k = result, system, described, k
        self.rows = rows = result.rows(np.arange(len(result.t)))
        self.axes = np.concatenate([rows["contact_normal"][:, :, None], rows["contact_tangents"]], axis=2)
        self.reported = np.stack([result[element["name"]].force for element in described], axis=1)
        self.R = matrices(rows["quaternion"].reshape(-1, 4)).reshape(*rows["quaternion"].shape[:2], 3, 3)
        self.mu = np.array([contact.static_friction for contact in system.contacts])
        speed = np.linalg.norm(rows["velocity"], axis=2).max(initial=0.0)
        self.still = STILL * max(speed, np.sqrt(system.largest_gravity * system.extent))

    def distribute(self, i: int, force: np.ndarray) -> bool:
        """Replace the forces (c, 3) at state i by those of stiff contacts; False where there are none."""
        carries = force[:, 0] != 0.0
        near = carries | (self.rows["gap"][i] <= CLOSED * self.system.size)
        if not carries.any() or near.sum() < 2:
            return True
        for element in (self.described[c] for c in np.flatnonzero(near)):
            if len(element["nodes"]) != 2:
                many = f"contact '{element['name']}' moves with {len(element['nodes'])} nodes"
                raise FemMbsError(f"{many}: unique_forces takes contacts of two nodes")
        nodes, G = self._linked(i, near)
        E = self._unit_forces(i, np.flatnonzero(near), nodes)
        v = np.concatenate([self.rows["velocity"][i, nodes], self.rows["angular_velocity"][i, nodes]], axis=1).ravel()
        speeds = np.einsum("nca,n->ca", E, v)
        acts = carries[near] | (np.abs(speeds[:, 0]) <= self.still)
        chosen, E, speeds = np.flatnonzero(near)[acts], E[:, acts], speeds[acts]
        arm = np.tile([1.0] * 3 + [1.0 / self.system.size] * 3, len(nodes)) * self.system.free[nodes].ravel()
        slides = np.linalg.norm(speeds[:, 1:], axis=1) > self.still
        along = self._directions(force[chosen], speeds, slides, chosen)
        laws = self.k[chosen], self.mu[chosen], along
        shares = StiffContacts(arm[:, None, None] * E, G * arm, force[chosen], *laws).solve()
        if shares is not None:
            force[chosen] = shares
        return shares is not None

    def _linked(self, i, near):
        """Nodes of the contacts and of all that joints link with them, sorted, and G (m, 6 nodes) of these joints."""
        concerned = np.zeros(len(self.system.nodes), bool)
        concerned[[node for c in np.flatnonzero(near) for node in self.described[c]["nodes"]]] = True
        if not self.system.m:
            return np.flatnonzero(concerned), np.zeros((0, 6 * concerned.sum()))
        self.system.constraint_values(self.result.state(i))
        G = gradient_of(self.system).tocoo()
        acts = (G.data != 0.0) & self.system.free.ravel()[G.col] & (self.system.active_rows[G.row] != 0)
        row, column, value = G.row[acts], G.col[acts], G.data[acts]
        linked = np.zeros(self.system.m, bool)
        while True:
            linked[row[concerned[column // 6]]] = True
            before = concerned.sum()
            concerned[column[linked[row]] // 6] = True
            if concerned.sum() == before:
                break
        nodes = np.flatnonzero(concerned)
        kept = linked[row]
        found = np.zeros((linked.sum(), 6 * len(nodes)))
        place = 6 * np.searchsorted(nodes, column[kept] // 6) + column[kept] % 6
        np.add.at(found, (np.cumsum(linked)[row[kept]] - 1, place), value[kept])
        return nodes, found / np.linalg.norm(found, axis=1, keepdims=True)

    def _unit_forces(self, i, chosen, nodes):
        """E (6 nodes, c, 3) of the chosen contacts, all components of the ``nodes``, which are sorted."""
        E = np.zeros((6 * len(nodes), len(chosen), 3))
        for j, c in enumerate(chosen):
            axes = self.axes[i, c]
            for sign, node in zip((1.0, -1.0), self.described[c]["nodes"]):
                arm = self.rows["contact_point"][i, c] - self.rows["position"][i, node]
                turning = np.cross(arm, axes) @ self.R[i, node]
                first = 6 * np.searchsorted(nodes, node)
                E[first : first + 6, j] += sign * np.concatenate([axes, turning], axis=1).T
        return E

    def _directions(self, force, speeds, slides, chosen):
        """r_T/r_N (c, 2) of the contacts that slide, NaN of those that stick."""
        by_force = force[:, 1:] / np.where(force[:, :1] > 0.0, force[:, :1], np.nan)
        speed = np.maximum(np.linalg.norm(speeds[:, 1:], axis=1, keepdims=True), 1e-300)
        acting = np.array([_sliding_friction(self.system.contacts[c], v) for c, v in zip(chosen, speed[:, 0])])
        by_speed = -acting[:, None] * speeds[:, 1:] / speed
        ratio = np.where(np.isnan(by_force), by_speed, by_force)
        return np.where(slides[:, None], ratio, np.nan)
