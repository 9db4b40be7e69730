"""Obstacles that sink in between the nodes of surfaces of flexible bodies, in saved states of a run.

Contacts are those of nodes, so that no gap shows it. States are thinned out to some of each block of records.

Source: docs/theory/solids.md, section 9.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.shapes import matrices
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.system.checks.element_checks import warning_texts

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

STATES = 32  # of a block that are looked at


class SurfaceWatch(Monitor):
    """Largest depth between nodes of each surface with an obstacle, and when."""

    state = ("deepest",)

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        surfaces = [contact._surface for contact in self.system.contacts if contact._surface is not None]
        self.watched = [(surface, surface.between) for surface in surfaces if surface.between is not None]
        self.deepest = [(0.0, 0.0) for _ in self.watched]  # m, s

    def observe(self, block: dict[str, np.ndarray]) -> None:
        """Compare states of a block of records (k, …)."""
        count = len(block["t"])
        if not count or not self.watched:
            return
        for k in np.unique(np.linspace(0, count - 1, min(count, STATES)).astype(int)):
            x, Q = block["position"][k], block["quaternion"][k]
            for i, (_, between) in enumerate(self.watched):
                at = between.obstacle.node.index
                depth = between.deepest(x[[node.index for node in between.nodes]], x[at], matrices(Q[at : at + 1])[0])
                self.deepest[i] = max(self.deepest[i], (depth, float(block["t"][k])))

    def warnings(self) -> list[str]:
        """Return the warning of the deepest obstacle."""
        return warning_texts(
            (surface, between.depth_warnings(*at)) for (surface, between), at in zip(self.watched, self.deepest)
        )
