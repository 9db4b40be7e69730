"""Pairs of a contact group while they come and go: searched with a margin, kept as arrays, matched over time.

A pair of contactors is one row of the arrays of an ordinary group of contact elements. Its parameters are those of a
prototype - the second partner with some sphere at the origin of a body - with the place and the radius of its sphere
put in. Pairs are known by keys, so that what solvers keep per contact can move with them:

    key = first · (spheres + obstacles of the type) + second,   per contact type, in rising order                  (1)

Spheres that travel more than a quarter of the margin in a step are searched with their displacement as part of their
radius: pairs that meet within the step are then among those found (docs/theory/sweep).
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ModelError, label
from fem_mbs.jit import address
from fem_mbs.nodes import Ground
from fem_mbs.system import contacts as contact_assembly
from fem_mbs.system.broad_phase import centers_of, displaced, near_pairs, turned, ways
from fem_mbs.system.contacts import CONTACTS, two_coefficients
from fem_mbs.system.groups import Group
from fem_mbs.system.workspace import Workspace

if TYPE_CHECKING:
    from fem_mbs.element.contact import Contact
    from fem_mbs.element.contact_group import GroupOfShapes
    from fem_mbs.system.compiled import CompiledSystem

SKIN = 0.3  # of the mean radius
ROUND = 1.0 - 1e-9  # of a limit: pairs are searched by squares of distances, and judged by gaps
PROBED = 5_000  # pairs with obstacles that are evaluated at once, a kilobyte each


class PairGroup(Group):
    """Contacts of one type in a contact group, as arrays that change their length.

    Attributes
    ----------
    keys : (n,) int64, rising, see (1)
    pairs : (n, 2) int64, sphere and second partner
    contact : Contact, one of them
    """

    searched = True

    def __init__(
        self, group: "GroupOfShapes", kind: "type[Contact]", prototypes: "Sequence[Contact]", workspace: Workspace
    ) -> None:
        prototypes[0].nodes[0].index = 0
        super().__init__(prototypes[:1], workspace)
        self.n, self.elements = 0, prototypes[:1]
        self.contact = prototypes[0]
        self.keys, self.pairs = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
        self.owner, self.kind = group, kind
        self._contacts, frames = prototypes, group.seconds(kind)
        self.partners = len(frames)
        self.partner_nodes = np.array([frame.node.index for frame in frames], np.int64)
        self.names = [frame.name or frame.node.name for frame in frames]
        self.among_shapes = frames is group.frames  # no obstacles

    @functools.cached_property
    def _seconds(self):
        return self.owner.second_records(self.kind, self._contacts)

    @property
    def prototypes(self) -> np.ndarray:
        """Parameters of a contact with each second partner (k,); made at the first use."""
        return self._seconds[0]

    def set_pairs(self, search: "PairSearch", pairs: np.ndarray) -> np.ndarray:
        """Make the contacts of pairs (n, 2), sphere and partner, whose keys rise.

        Returns for each the place it had before, or −1.
        """
        pairs = np.ascontiguousarray(pairs)
        keys = pairs[:, 0] * self.partners + pairs[:, 1]
        before = self.keys
        where = np.searchsorted(before, keys)
        where[where == len(before)] = 0
        same = before[where] == keys if len(before) else np.zeros(len(keys), bool)
        self.keys, self.pairs, self.n = keys, pairs, len(keys)
        i, j = pairs.T
        self.parameters = self.prototypes[j]
        self.parameters["p_AP"], self.parameters["radius"] = search.offsets[i], search.radii[i]
        self.nodes = np.ascontiguousarray(np.stack([search.nodes[i], self.partner_nodes[j]], axis=1))
        materials = search.materials[i], search.partner_materials[self.kind][j]
        self.laws, self.restitutions, self.sliding = (
            np.ascontiguousarray(table[materials]) for table in (search.laws, search.restitutions, search.sliding)
        )
        if search.two_coefficients:
            self.changes = (*Group.changes, "laws")  # the coefficient that acts
        lacking = np.flatnonzero(np.isnan(self.laws["friction"]))
        if len(lacking):
            i, j = pairs[lacking[0]]
            raise self._no_law(lacking[0], search.material_names[i], search.owner.partners(self.kind)[j])
        self.signals = np.zeros((self.n, 1), np.int64)
        self.state = np.zeros((self.n, 1))
        self.make_contact_data()
        self.contact_data["convex"][:] = self.contact.convex
        passages = self._seconds[1]
        without = passages - self.prototypes["radius"]  # the radius of the sphere
        self.contact_data["passage"][:] = np.where(passages[j] > 0.0, without[j] + search.radii[i], 0.0)
        self.contact_data["reach"][:] = self.contact_data["passage"]
        return np.where(same, where, -1)

    def _no_law(self, e, first, second):
        """The error of a pair whose materials have no law, or two of "*" that differ."""
        table, names = self.owner.materials, [f"'{m}'" if m else "no material" for m in (first, second)]
        found = [m for m in {first, second} if tuple(sorted((m, "*"))) in table.laws]
        what, cure = "has no law", "add the pair, or ('*', '*')"
        if len(found) == 2:
            what, cure = "has two laws that differ, those with '*',", "add the pair itself"
        message = f"{label(self.owner)}: its table of materials {what} for {names[0]} and {names[1]}, which meet "
        return ModelError(message + f"({self.name_of(*self.pairs[e])}); {cure}", [self.owner])

    def name_of(self, i: int, j: int) -> str:
        """Pair of sphere i and second partner j in words."""
        other = self._shape(j) if self.among_shapes else self.names[j] or f"{self.kind.__name__} {j}"
        return f"{self._shape(i)} - {other}"

    def _shape(self, corner):
        """Shape of a corner in words: the name of its body, or its kind and number."""
        corners = np.cumsum([shape.corner_count for shape in self.owner.shapes])
        number = int(np.searchsorted(corners, corner, side="right"))
        shape = self.owner.shapes[number]
        return shape.frame.name or shape.frame.node.name or f"{shape.kind} {number}"


class PairSearch:
    """Finds the pairs of one contact group.

    Attributes
    ----------
    nodes, offsets, radii : (n,), (n, 3) [m], (n,) [m] of the spheres
    groups : list of PairGroup, one per contact type; that of two spheres is the first
    skin : margin of the search [m]
    """

    def __init__(self, owner: "GroupOfShapes", workspace: Workspace) -> None:
        self.owner = owner
        self.nodes = np.array([f.node.index for f in owner.frames], np.int64)
        self.offsets = np.array([f.p for f in owner.frames], float).reshape(-1, 3)
        self.radii = np.array(owner.radii)
        self.thickness = np.array([shape.thickness for shape in owner.shapes])
        self.skin = owner.skin or SKIN * float(self.thickness.mean())
        kinds = owner.kinds()
        self.groups = [PairGroup(owner, kind, prototypes, workspace) for kind, prototypes in kinds]
        self.material_names = list(owner.sphere_materials)
        names = sorted({name for kind, _ in kinds for name in owner.partners(kind)})
        self.names, number = names, {name: k for k, name in enumerate(names)}
        self.laws, self.restitutions, self.sliding = owner.law_tables(names)
        self.two_coefficients = two_coefficients(self.laws, self.sliding)
        self.materials = np.array([number[m] for m in owner.sphere_materials])
        self.partner_materials = {kind: np.array([number[m] for m in owner.partners(kind)]) for kind, _ in kinds}
        self.forbidden = self._forbidden(owner)
        partners = [g.partner_nodes for g in self.groups[1:]]
        movers = np.unique(np.concatenate(partners)) if partners else np.zeros(0, np.int64)
        fixed = {frame.node.index for _, frame, _, _ in owner.obstacles if isinstance(frame.node, Ground)}
        self.movers = np.array([b for b in movers if b not in fixed], np.int64)
        self.centers, self.ahead, self.movers_ahead = np.zeros_like(self.offsets), np.zeros(len(self.nodes)), 0.0
        self.room = np.zeros((64, 2), np.int32)

    def _forbidden(self, owner):
        """Keys of node pairs that never touch, sorted: first · largest + second for both orders."""
        index = {node: node.index for node in owner.nodes}
        pairs = [[index[k] for k in pair if k in index] for pair in owner.excluded]
        self.largest = 1 + max(index.values())
        both = [(a, b) for p in pairs if len(p) == 2 for a, b in (p, p[::-1])]
        return np.sort(np.array([a * self.largest + b for a, b in both], np.int64))

    def _allowed(self, first, second):
        """Mask of the pairs of nodes that may touch."""
        allowed = first != second
        if len(self.forbidden):
            keys = first * self.largest + second
            where = np.minimum(np.searchsorted(self.forbidden, keys), len(self.forbidden) - 1)
            allowed &= self.forbidden[where] != keys
        return allowed

    def outdated(self, x: np.ndarray, R: np.ndarray, V: np.ndarray, h: float) -> bool:
        """True if something may get out of the margin within a step h [s] from poses x, R with velocities V."""
        moved = displaced(self.nodes, self.offsets, self.centers, self.ahead, x, R, V, h)
        if len(self.movers):
            moved += turned(self.movers, self.mover_x, self.mover_R, x, R, V, h, self.reach) - self.movers_ahead
        # two spheres approach each other with twice the speed of one
        return 2.0 * moved > self.skin

    def search(
        self, system: "CompiledSystem", x: np.ndarray, R: np.ndarray, V: np.ndarray | None = None, h: float = 0.0
    ) -> list[np.ndarray]:
        """Find the pairs at poses x, R, for steps that begin with velocities V and are h [s] long.

        Returns for each group the places its contacts had before (−1: new).
        """
        centers_of(self.nodes, self.offsets, x, R, self.centers)
        V = np.zeros((len(x), 6)) if V is None else V
        ways(self.nodes, self.offsets, V, h, 0.25 * self.skin, self.ahead)
        self.mover_x, self.mover_R = x[self.movers].copy(), R[self.movers].copy()
        if len(self.movers):
            apart = self.centers[:, None] - self.mover_x
            self.reach = float(np.sqrt((apart**2).sum(axis=-1)).max() + self.radii.max())
            ahead = turned(self.movers, self.mover_x, self.mover_R, x, R, V, h, self.reach)
            self.movers_ahead = ahead if ahead > 0.25 * self.skin else 0.0
        places = []
        for group in self.groups:
            if group is self.groups[0]:  # spheres with each other
                pairs = self._near_spheres(self.radii + self.ahead, self.skin)
            else:
                pairs = self._near_obstacles(system, group, x, R, self.skin + self.ahead + self.movers_ahead)
            places.append(group.set_pairs(self, self._meeting(group, pairs)))
        return places

    kept = ("centers", "ahead", "movers_ahead", "mover_x", "mover_R", "reach")  # of the last search

    def get_state(self) -> dict[str, Any]:
        """Pairs, and where all was when they were searched; a copy."""
        places = {name: np.copy(getattr(self, name)) for name in self.kept if hasattr(self, name)}
        return {"pairs": [group.pairs.copy() for group in self.groups], **places}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take pairs from `get_state` in place of a search; `Numbering.renumber_contacts` follows."""
        for group, pairs in zip(self.groups, state["pairs"], strict=True):
            group.set_pairs(self, pairs)
        for name in self.kept:
            if name in state:
                value = state[name]
                setattr(self, name, value if value.ndim else float(value))

    def first_overlap(
        self, system: "CompiledSystem", x: np.ndarray, R: np.ndarray, limit: float
    ) -> "tuple[PairGroup, np.ndarray, float] | None":
        """The first pair whose gap is below a limit < 0 [m] at poses x, R: its group, (2,) partners, gap; or None.

        Takes the memory of the pairs that overlap: others are not kept, and the pairs of the last search stay.
        """
        centers_of(self.nodes, self.offsets, x, R, self.centers)
        for group in self.groups:
            if group is self.groups[0]:
                pairs = self._near_spheres(self.radii, ROUND * limit)
            else:
                pairs = self._near_obstacles(system, group, x, R, np.full(len(self.nodes), limit))
            pairs = self._meeting(group, pairs)[:PROBED]
            if not len(pairs):
                continue
            gaps = _Probe(system, group, self, pairs).gaps(x, R)
            for k in np.flatnonzero(gaps < limit)[:1]:
                return group, pairs[k], float(gaps[k])
        return None

    def _near_spheres(self, reach, margin):
        """Pairs of spheres (k, 2) whose gap is below a margin [m], with radii ``reach``."""
        shaped = self.owner.shaped  # pairs of other shapes are left to `fem_mbs.solvers.granular`
        if shaped or 2.0 * reach.max() + margin <= 0.0:
            return np.zeros((0, 2), np.int64)
        while True:
            found = near_pairs(self.centers, reach, margin, self.room)
            if found <= len(self.room):
                return self.room[:found].astype(np.int64)
            self.room = np.zeros((found + found // 4, 2), np.int32)

    def _near_obstacles(self, system, group, x, R, margins):
        """Pairs of all spheres with all obstacles of a type whose gap is below the margins (n,) [m] of the spheres."""
        k, found = group.partners, []
        for spheres in np.array_split(np.arange(len(self.nodes)), len(self.nodes) * k // PROBED + 1):
            every = np.stack([np.repeat(spheres, k), np.tile(np.arange(k), len(spheres))], axis=1)
            found.append(every[_Probe(system, group, self, every).gaps(x, R) < margins[every[:, 0]]])
        return np.concatenate(found)

    def _meeting(self, group, pairs):
        """Those of the pairs of a group that may touch, in the order of their keys."""
        pairs = pairs[self._allowed(self.nodes[pairs[:, 0]], group.partner_nodes[pairs[:, 1]])]
        return pairs[np.argsort(pairs[:, 0] * group.partners + pairs[:, 1], kind="stable")]


class _Probe:
    """All pairs of a type, evaluated once."""

    def __init__(self, system: "CompiledSystem", group: Any, search: "PairSearch", pairs: np.ndarray) -> None:
        i, j = pairs.T
        self.parameters = group.prototypes[j]
        self.parameters["p_AP"], self.parameters["radius"] = search.offsets[i], search.radii[i]
        self.nodes = np.ascontiguousarray(np.stack([search.nodes[i], group.partner_nodes[j]], axis=1))
        self.contact_data = contact_assembly.contact_arrays(len(pairs), group.sizes["nd"])
        self.contact_record = np.zeros(1, CONTACTS.dtype)
        CONTACTS.aim(self.contact_record, self.contact_data)
        self.record = np.zeros(1, system.group_records.dtype)
        group.fill(self.record[0])
        for name in ("parameters", "nodes"):
            self.record[0][f"{name}_at"] = address(getattr(self, name))
        self.record[0]["contact_at"], self.record[0]["n"] = address(self.contact_record), len(pairs)
        self.data = system.data.copy()
        self.data[0]["groups_at"], self.data[0]["n_groups"] = self.record.ctypes.data, 1
        self.data[0]["first_contact_group"] = 0
        self.V = system.no_acceleration

    def gaps(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        contact_assembly.contacts(self.data[0], x, R, x, R, self.V)
        return self.contact_data["gap"]
