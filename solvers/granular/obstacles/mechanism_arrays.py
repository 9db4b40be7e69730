"""The mechanism whose obstacles contacts move, in a run: which unknowns it has, its matrix, its linear solver."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.jit import address
from fem_mbs.linear.dense import DenseLU
from fem_mbs.linear.solvers import choose
from fem_mbs.solvers.granular.obstacles.mechanism import TABLE
from fem_mbs.solvers.stepping.saved.saved_state import arrays_of, numbers_of, put_arrays, put_numbers
from fem_mbs.system.records import VELOCITY

if TYPE_CHECKING:
    from fem_mbs.solvers.granular.obstacles.obstacle_arrays import Obstacles
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.layout import Layout

OF_PAIRS = ("pair", "arm", "tangents", "block", "slide")


class Mechanism:
    """All nodes but those of particles, and all joints: nothing else couples these with each other.

    Attributes
    ----------
    arrays, record : of `granular.obstacles.mechanism`
    """

    def __init__(self, system: "CompiledSystem", obstacles: "Obstacles", moved: np.ndarray) -> None:
        (search,) = system.searches
        nodes, grains = len(system.nodes), np.unique(search.nodes)
        dof = system.dof.reshape(-1, 6)
        alone = np.setdiff1d(np.arange(nodes), grains)
        unknowns = dof[alone].ravel()
        self.unknowns = np.concatenate([np.sort(unknowns[unknowns >= 0]), system.n + np.arange(system.m)])
        size = len(self.unknowns)
        self.sizes = {"nj": len(moved), "nq": 6 * len(moved), "no": len(obstacles.nodes), "nodes": nodes, "np": 0}
        self.sizes |= {"nk": len(moved) + 1, "nu": size, "nz": 0}
        self.arrays, self.record = TABLE.arrays(self.sizes), np.zeros(1, TABLE.dtype)
        a = self.arrays
        a["node"][:] = moved
        a["slot"][:] = [int(np.searchsorted(moved, k)) if k in moved else -1 for k in obstacles.nodes]
        a["part"][alone], a["part"][moved] = 1, 2
        a["unknown"][:] = -1
        a["unknown"][alone] = np.where(dof[alone] >= 0, np.searchsorted(self.unknowns, dof[alone]), -1)
        self._layout: Layout | None = None

    def grow(self, size: int) -> None:
        """Give contacts the room of so many pairs."""
        for name in OF_PAIRS:
            old = self.arrays[name]
            self.arrays[name] = np.zeros((size, *old.shape[1:]), old.dtype)
        TABLE.aim(self.record, self.arrays)

    def connect(self, engine: "Engine") -> None:
        """Find the entries of the mechanism in the matrix of velocities of a run."""
        layout = engine.matrices.layouts[VELOCITY]
        if layout is self._layout:
            return
        self._layout, size = layout, len(self.unknowns)
        local = np.full(layout.n, -1)
        local[self.unknowns] = np.arange(size)
        column = local[np.repeat(np.arange(layout.n), np.diff(layout.pointers))]
        row = local[layout.rows]
        inside = np.flatnonzero((row >= 0) & (column >= 0))
        kind = choose(size, engine.system.linear_solver)
        if kind is DenseLU:
            place, rows = np.full(size * size, -1), np.tile(np.arange(size), size)
            place[size * column[inside] + row[inside]] = inside
            pointers = size * np.arange(size + 1)
        else:
            place, rows = inside, row[inside]
            pointers = np.searchsorted(column[inside], np.arange(size + 1))
        self.solver = kind(size, pointers.astype(np.int32), rows.astype(np.int32))
        self.arrays["place"], self.arrays["values"] = place.astype(np.int64), np.zeros(len(place))
        TABLE.aim(self.record, self.arrays)
        numbers = {"factor": self.solver.factor_address, "solve": self.solver.solve_address,
                   "context_at": self.solver.context_address, "status_at": address(self.solver.status)}  # fmt: skip
        for name, value in numbers.items():
            self.record[0][name] = value
        self.record[0]["known"] = 0

    def get_state(self) -> dict[str, Any] | None:
        """Mobilities and contacts, a copy; None before the first step."""
        if self._layout is None:
            return None
        factors = self.solver.get_state()
        return {"arrays": arrays_of(self.arrays), "numbers": numbers_of(TABLE, self.record), "factors": factors}

    def set_state(self, state: dict[str, Any] | None) -> None:
        """Continue from the state of `get_state`, after `connect`."""
        if state is not None:
            put_arrays("mechanism", self.arrays, state["arrays"])
            TABLE.aim(self.record, self.arrays)
            put_numbers(TABLE, self.record, state["numbers"])
            self.solver.set_state(state["factors"])
