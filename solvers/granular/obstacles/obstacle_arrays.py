"""Obstacles of a run: their numbers, and arrays for `granular.obstacles.obstacles`."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.jit import address
from fem_mbs.solvers.granular.obstacles.obstacles import TABLE
from fem_mbs.solvers.stepping.saved.saved_state import arrays_of, numbers_of, put_arrays, put_numbers

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.pairs import PairGroup, PairSearch


class Obstacles:
    """The obstacles of a contact group, those that contacts can move last.

    Attributes
    ----------
    nodes, materials : (n,) node and number of the material of each
    types, partners : (n,) its contact type, as in tables of pairs, and its number in this type
    local : (n, 6) point and normal of planes, axes of the node; others have zeros
    cores : list of GroupShape or None, of those that capsules and boxes touch as shapes; empty for spheres alone
    first_moved : int, number of the first that contacts can move
    moving : bool, whether some are on nodes that move
    arrays, record : of `granular.obstacles.obstacles`
    """

    def __init__(self, system: "CompiledSystem", search: "PairSearch", moved: np.ndarray) -> None:
        every = [(group, t, j) for t, group in enumerate(search.groups) if t for j in range(group.partners)]
        every.sort(key=lambda entry: int(entry[0].partner_nodes[entry[2]] in moved))
        n = len(every)
        self.first_moved = n - sum(int(group.partner_nodes[j] in moved) for group, _, j in every)
        self.nodes = np.array([group.partner_nodes[j] for group, _, j in every], np.int64)
        self.types = np.array([t for _, t, _ in every], np.int64)
        self.partners = np.array([j for _, _, j in every], np.int64)
        materials = [search.partner_materials[group.kind][j] for group, _, j in every]
        self.materials = np.array(materials, np.int64)
        self.cores = [search.owner.solids(group.kind)[j] if search.owner.shaped else None for group, _, j in every]
        self.local = np.zeros((n, 6))
        movers = [k for k in dict.fromkeys(self.nodes.tolist()) if system.free[k].any()]
        self.moving = bool(movers)
        self.arrays, self.record = TABLE.arrays({"no": n, "nw": len(movers)}), np.zeros(1, TABLE.dtype)
        self.arrays["mover_node"][:] = movers
        self.arrays["mover"][:] = [movers.index(k) if k in movers else -1 for k in self.nodes.tolist()]
        self._parameters: list[np.ndarray] = []
        for k, (group, _, j) in enumerate(every):
            if group.kind.half_space:
                self._plane(k, group, j)
            else:
                self._shape(k, group, j)
        TABLE.aim(self.record, self.arrays)
        self.record[0]["shapes"] = len(self._parameters)
        self.record[0]["table_at"] = system.data[0]["table_at"]
        self._kept = search  # whose compiled kernels are called

    def get_state(self) -> dict[str, Any]:
        """Poses of moving obstacles at the last search, a copy."""
        return {"arrays": arrays_of(self.arrays), "numbers": numbers_of(TABLE, self.record)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from the state of `get_state`."""
        put_arrays("obstacles", self.arrays, state["arrays"])
        put_numbers(TABLE, self.record, state["numbers"])

    def _plane(self, k: int, group: "PairGroup", j: int) -> None:
        self.local[k, :3] = group.prototypes["p_BQ"][j]
        self.local[k, 3:] = group.prototypes["R_BQ"][j, :, 2]
        self.arrays["convex"][k] = 1

    def _shape(self, k: int, group: "PairGroup", j: int) -> None:
        """Parameters of a contact whose sphere is at the origin of its node."""
        record: Any = group.prototypes[j : j + 1].copy()
        record["p_AP"] = 0.0
        self._parameters.append(record)
        self.arrays["kernel"][k] = group.calls["contact"].address
        self.arrays["record"][k] = address(record)
        self.arrays["radius_at"][k] = address(record) + record.dtype.fields["radius"][1]
        self.arrays["convex"][k] = int(group.contact.convex)
