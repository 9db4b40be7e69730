"""Numbers of a model: rows of nodes in arrays, unknowns, groups of elements, rows of constraints, contacts, outputs.

Kernels find everything by these numbers and by addresses, which `Numbering._fill` puts into one record.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.errors import ModelError, label
from fem_mbs.jit import address
from fem_mbs.nodes import Node1
from fem_mbs.system.contacts import LAW, TURNING, with_any
from fem_mbs.system.groups import Group
from fem_mbs.system.layout import NO_MATRICES, Matrices
from fem_mbs.system.records import DATA, GROUP, TRANSLATIONS
from fem_mbs.system.workspace import Workspace

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.system.least_norm import SharedRows
    from fem_mbs.system.pairs import PairGroup


class Pair(NamedTuple):
    """A contact of a contact group, as errors name it."""

    name: str
    kind: type


class Numbering(Checked):
    """Numbering of a `System`; contacts of groups are numbered anew when pairs are searched."""

    _own: Matrices | None

    def number_nodes(self) -> None:
        """Give every node its row in this system (``node.index``): another system of the same nodes has its own."""
        for i, node in enumerate(self.nodes):
            node.index = i

    @staticmethod
    def _forgotten(model):
        """Raise an error for nodes of bodies that are not in the model: they would have no mass."""
        elements, nodes = set(map(id, model.elements)), set(map(id, model.nodes))
        there = {}  # id of a body -> whether it is in the model; of a body of many elements, whether one of them is
        for node in (*model.nodes, *(node for group in model.contact_groups for node in group.nodes)):
            body = node.body
            if id(body) not in there:
                parts = [body] if body is not None and body.role != "part" else () if body is None else body.elements
                there[id(body)] = body is None or any(id(part) in elements for part in parts)
            lost = None if there[id(body)] else body
            lost = node if lost is None and id(node) not in nodes else lost
            if lost is not None:
                users = (label(e) for e in (*model.elements, *model.contact_groups) if any(n is node for n in e.nodes))
                raise ModelError(
                    f"{label(lost)} is used by {next(users, 'the model')}, but was not added: model.add(…) it", [lost]
                )

    def _number(self, model):
        self.nodes = list(model.nodes)
        self.elements, self.contact_groups = list(model.elements), list(model.contact_groups)
        self.watching = list(model.watching)
        self.number_nodes()
        N = len(self.nodes)
        free = np.zeros((N, 6), bool)
        for i, node in enumerate(self.nodes):
            free[i] = node.free
        self.free = free
        self.dof = np.full(6 * N, -1, np.int64)
        self.n = int(free.sum())
        self.dof[free.ravel()] = np.arange(self.n)
        self.turns = np.array([int(free[i, 3:].any()) for i in range(N)], np.int64)
        bodies = [node.body for node in self.nodes]
        self.states = np.array([int(body is not None and body.abstract) for body in bodies], np.int64)
        self.spatial = np.array([not isinstance(node, Node1) for node in self.nodes], bool)
        for element in self.elements:
            if element.places is not None:
                self.spatial[[node.index for node in element.nodes[element.places :]]] = False

    def _group(self, model):
        families = {}
        for element in self.elements:
            key = (element.group_key(), id(element) if element.python_kernels else 0)
            families.setdefault(key, []).append(element)
        prototypes = [p[0] for group in model.contact_groups for _, p in group.kinds()]
        sizes = [e.sizes for e in (*(e for (e, *_) in families.values()), *prototypes)]

        def largest(name):
            return max(s[name] for s in sizes)

        self.workspace = Workspace(
            nn=largest("nn"), nr=max(largest("nr"), 6), ns=largest("ns"), nq=largest("nq"), no=largest("no")
        )
        self.workspace.buffer["gravity"][:] = self.gravity
        self.groups = [Group(elements, self.workspace) for elements in families.values()]
        self._check_moments()
        self._number_elements()
        self._number_friction()
        self._sort_groups()
        self.row_arm, self.empty_rows = np.ones(max(self.m, 1)), np.zeros(max(self.m, 1), np.int64)
        self.shared_rows: SharedRows | None = None
        self.rate_rows = np.flatnonzero(self.velocity_rows)
        self.searches = []
        if model.contact_groups:
            from fem_mbs.system.pairs import PairSearch

            self.searches = [PairSearch(group, self.workspace) for group in model.contact_groups]
            self.groups += [group for search in self.searches for group in search.groups]
        self._number_moments()
        self.gravity_signal = -1
        if self.field is not None:  # the last ones
            self.gravity_signal = len(self.signals)
            self.signals += self.field.signals
            self.signal_owner += [self.field] * 3
        self.signal_values = np.zeros((max(len(self.signals), 1), 3))
        self.update_signals(0.0)

    def _check_moments(self):
        """Raise an error for elements without moments on nodes with rotations."""
        for group in self.groups:
            element = group.elements[0]
            if group.width != TRANSLATIONS or element.has_no_moments:
                continue
            turning = np.flatnonzero(self.free[group.nodes, 3:].any(axis=(1, 2)))
            if len(turning):
                element = group.elements[turning[0]]
                message = "has a node with rotations, and no moments for it (numbers_per_node = 3): take Node3"
                raise ModelError(f"{label(element)}: {message}", [element])

    def _number_elements(self):
        """Give elements their signals, rows of constraints, contacts, frictions and outputs."""
        self.signals, self.signal_owner = [], []
        self.constraints, self.contacts, self.rows, self.output_slices = [], [], {}, {}
        self.frictions = []
        self.m = self.n_outputs = 0
        laws, numbers = [], {}  # of signals: elements may share one
        for group in self.groups:
            group.first_row, group.first_contact, group.first_output = self.m, len(self.contacts), self.n_outputs
            group.first_friction = len(self.frictions)
            for e, element in enumerate(group.elements):
                element.index = e
                for k, signal in enumerate(element.signals):
                    if id(signal) not in numbers:
                        numbers[id(signal)] = len(self.signals)
                        self.signals.append(signal)
                        self.signal_owner.append(element)
                    group.signals[e, k] = numbers[id(signal)]
                if element.role == "constraint":
                    self.rows[element] = slice(self.m, self.m + element.rows)
                    self.constraints.append(element)
                    self.m += element.rows
                if element.role == "contact":
                    self.contacts.append(element)
                    laws.append(element.law)
                if element.role == "friction":
                    self.frictions += [element] * element.directions  # of each row
                if element.outputs:
                    slices, at = {}, self.n_outputs
                    for name, (count, _) in element.outputs.items():
                        slices[name] = slice(at, at + count)
                        at += count
                    self.output_slices[element] = slices
                    self.n_outputs = at
        self.nc = self.nc_fixed = len(self.contacts)
        self.laws = np.array(laws, LAW)

    def _number_friction(self):
        """Set the positions of the multipliers of their joints in elements of joint friction."""
        self.n_friction = len(self.frictions)
        for group in self.groups:
            for e, element in enumerate(group.elements if group.elements[0].role == "friction" else ()):
                if element.joint is None:
                    continue  # a belt: its bound depends on no multipliers
                if element.joint not in self.rows:
                    message = f"its joint, {label(element.joint)}, is not in the model; model.add(…) it too"
                    raise ModelError(f"{label(element)}: {message}", [element, element.joint])
                group.joint_rows[e] = self.rows[element.joint].start

    def _sort_groups(self):
        """Sort groups such that those of joint friction follow each other, and those of contacts are the last.

        Numbers that elements have stay, and so does ``added``: numbers of groups in the order of the model.
        """
        groups, rank = self.groups, {"friction": 1, "contact": 2}
        self.groups = sorted(groups, key=lambda group: rank.get(group.elements[0].role, 0))
        self.added = [self.groups.index(group) for group in groups]
        numbers = [k for k, group in enumerate(self.groups) if group.elements[0].role == "friction"]
        self.friction_groups = range(numbers[0], numbers[-1] + 1) if numbers else range(0)

    def _number_moments(self):
        """Number the contacts that have more unknowns than three: moments of rolling and spinning, coupled drilling."""
        self.drill_arm = np.append(self.laws["drilling_arm"], 0.0)
        drills = self.laws["drilling_arm"] > 0.0
        self.roll_index, self.n_roll = self._numbered(drills | with_any(self.laws, *TURNING))
        self.drill_index, self.n_drill = self._numbered(drills)

    @property
    def non_holonomic(self) -> list:
        """Constraints that have rows of velocities."""
        return [element for element in self.constraints if element.velocity_rows]

    @property
    def velocity_rows(self) -> np.ndarray:
        """Mask of the constraint rows (m,) that are rows of velocities."""
        chosen = np.zeros(self.m, bool)
        for element in self.non_holonomic:
            rows = self.rows[element]
            chosen[rows.stop - element.velocity_rows : rows.stop] = True
        return chosen

    def search_pairs(self, x: np.ndarray, R: np.ndarray, V: np.ndarray | None = None, h: float = 0.0) -> np.ndarray:
        """Find the pairs of all contact groups anew at poses x (N, 3), R (N, 3, 3).

        With velocities V (N, 6) also those that meet within a step h [s] from there.

        Returns
        -------
        (nc,) int64, the number each contact had before, −1 for new ones
        """
        places = [np.arange(self.nc_fixed)]
        for search in self.searches:
            for group, place in zip(search.groups, search.search(self, x, R, V, h)):
                places.append(np.where(place >= 0, place + group.first_contact, -1))
        self.renumber_contacts()
        return np.concatenate(places)

    def renumber_contacts(self) -> None:
        """Number the contacts after the pairs of contact groups have changed."""
        laws, first = [self.laws[: self.nc_fixed]], self.nc_fixed
        for search in self.searches:
            for group in search.groups:
                laws.append(group.laws)
                group.first_contact = first
                first += group.n
        self.nc, self.laws = first, np.concatenate(laws)
        self._number_moments()
        self._fill()

    def forget_pairs(self) -> None:
        """Leave the pairs of contact groups to a solver that finds them by itself, until the next search."""
        nothing = np.zeros((0, 2), np.int64)
        for search in self.searches:
            for group in search.groups:
                group.set_pairs(search, nothing)
        self.nc, self.laws = self.nc_fixed, self.laws[: self.nc_fixed]
        self._number_moments()
        self._fill()

    @property
    def two_coefficients(self) -> bool:
        """True if friction of a contact is not one number, see `Contact.two_coefficients`."""
        alone = any(contact.two_coefficients for contact in self.contacts[: self.nc_fixed])
        return alone or any(search.two_coefficients for search in self.searches)

    def acting_friction(self) -> np.ndarray:
        """Coefficients of friction (nc,) that act now; ``laws`` has those of sliding."""
        found = self.laws["friction"].copy()
        for group in self.groups:
            if "laws" in group.changes:
                found[group.first_contact : group.first_contact + group.n] = group.laws["friction"]
        return found

    def contact_at(self, c: int) -> "Element | Pair":
        """Contact number c: an element, or of a contact group the pair in words."""
        if c < self.nc_fixed:
            return self.contacts[c]
        group = next(g for s in self.searches for g in s.groups if g.first_contact <= c < g.first_contact + g.n)
        return self.pair_of(group, *group.pairs[c - group.first_contact])

    @staticmethod
    def pair_of(group: "PairGroup", i: int, j: int) -> Pair:
        """Sphere i and second partner j of a type of pairs, as errors name them."""
        return Pair(f"{group.owner.name}: {group.name_of(i, j)}", group.kind)

    @staticmethod
    def _numbered(chosen):
        """Number of each contact among the chosen (nc,), −1 for others (at least one number); and their count."""
        index = np.full(max(len(chosen), 1), -1, np.int64)
        index[: len(chosen)][chosen] = np.arange(chosen.sum())
        return index, int(chosen.sum())

    def _fill(self):
        self.group_records = np.zeros(len(self.groups), GROUP)
        for record, group in zip(self.group_records, self.groups):
            group.fill(record)
        self.data = np.zeros(1, DATA)
        d = self.data[0]
        for name, value in (
            ("n_nodes", len(self.nodes)),
            ("n", self.n),
            ("m", self.m),
            ("nc", self.nc),
            ("n_groups", len(self.groups)),
            ("first_contact_group", sum(not group.is_contact for group in self.groups)),
            ("n_signals", len(self.signals)),
            ("n_outputs", self.n_outputs),
            ("n_roll", self.n_roll),
            ("groups_at", address(self.group_records)),
            ("dof_at", address(self.dof)),
            ("turns_at", address(self.turns)),
            ("table_at", address(self.workspace.table)),
            ("signals_at", address(self.signal_values)),
            ("layouts_at", address(NO_MATRICES)),
            ("roll_index_at", address(self.roll_index)),
            ("n_drill", self.n_drill),
            ("drill_index_at", address(self.drill_index)),
            ("drill_arm_at", address(self.drill_arm)),
            ("row_arm_at", address(self.row_arm)),
            ("rate_rows_at", address(self.rate_rows)),
            ("n_rate_rows", len(self.rate_rows)),
            ("n_friction", self.n_friction),
            ("n_friction_groups", len(self.friction_groups)),
            ("friction_offset", self.friction_groups.start * GROUP.itemsize),
            ("states_at", address(self.states)),
            ("gravity_signal", self.gravity_signal),
            ("empty_rows_at", address(self.empty_rows)),
            ("shared_at", 0 if self.shared_rows is None else address(self.shared_rows.record)),
        ):
            d[name] = value
        N = len(self.nodes)
        self.Ma, self.f = np.zeros(6 * N), np.zeros(6 * N)
        self.g, self.rate = np.zeros(self.m), np.zeros(self.m)
        self.identity_T = np.tile(np.eye(3), (N, 1, 1))
        self.no_acceleration = np.zeros((N, 6))
        if self._own is not None:
            self._own.update()


def connected(n: int, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Number of the connected component of each of n vertices (n,), with edges i-j. SciPy's takes long to import.

    Each vertex points to a smaller one of its component, or itself; roots are hooked and paths halved in turn.
    """
    root = np.arange(n)
    while True:
        low, high = np.minimum(root[i], root[j]), np.maximum(root[i], root[j])
        if (low == high).all():
            return np.unique(root, return_inverse=True)[1]
        np.minimum.at(root, high, low)
        while (root[root] != root).any():
            root = root[root]
