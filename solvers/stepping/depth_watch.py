"""Penetration of contacts in a whole run: methods that close contacts in velocities leave some, and it can add up.

    d > ℓ/10 ,   ℓ the least of the clearance of the contact and of the radii of gyration of its bodies              (1)

    d > L/100    where it has neither (ends of beams, masses without inertia), L the size of the model

A contact that is deeper is no longer the one of the model: a pin inside its bush, a brick in a table. Shapes of
contact groups have their radii, or half their thickness, in place of radii of gyration.

Source: docs/theory/accepted_steps.md, (9).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import label
from fem_mbs.results.table import pair_column
from fem_mbs.system.sizes import gyration

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

SHARE = 0.1  # of ℓ in (1), as compliant contacts may be deep
OF_MODEL = 0.01  # of L, as joints that are apart


def finest(contact: Any) -> float:
    """ℓ [m] of a contact; infinite where it has none."""
    return min([contact.room, *filter(None, map(gyration, contact.nodes))])


class DepthWatch:
    """Deepest penetration of any contact over its bound (1), in states that are saved.

    Attributes
    ----------
    share : float, largest d over its bound
    """

    def __init__(self, engine: "Engine") -> None:
        self.method, self.system = engine.method, engine.system
        self.contacts = [self.system.contact_at(c) for c in range(self.system.nc_fixed)]
        self.finest = np.array([finest(contact) for contact in self.contacts])
        self.bounds = np.where(np.isfinite(self.finest), SHARE * self.finest, OF_MODEL * self.system.size)
        self.share, self.told = 0.0, ""

    def look(self, t: np.ndarray, gap: np.ndarray, tables: Sequence[np.ndarray] = ()) -> None:
        """Take in saved times (k,), gaps (k, nc) [m] and tables of closed pairs of contact groups, one per time."""
        if gap.size:
            k, c = np.unravel_index(np.argmin(gap / self.bounds), gap.shape)
            self._note(-gap[k, c] / self.bounds[c], -gap[k, c], t[k], label(self.contacts[c]), self.finest[c])
        for time, table in zip(t, tables):
            if len(table):
                self._look_at_pairs(time, table)

    def _look_at_pairs(self, t, table):
        """The closed pairs of contact groups."""
        columns = (table[:, pair_column(name)].astype(int) for name in ("group", "sphere", "type", "partner"))
        group, sphere, kind, partner = columns
        gap, radius = table[:, pair_column("gap")], np.zeros(len(table))
        for number, search in enumerate(self.system.searches):
            mine = group == number
            radius[mine] = search.thickness[sphere[mine]]
            mine &= kind == 0  # two spheres
            radius[mine] = np.minimum(radius[mine], search.thickness[partner[mine]])
        i = int(np.argmin(gap / radius))
        search = self.system.searches[group[i]]
        shapes = search.owner.shapes
        first = shapes[sphere[i]].frame.node.name or f"sphere {sphere[i]}"
        others = [shape.frame.node.name for shape in shapes] if kind[i] == 0 else search.groups[kind[i]].names
        second = others[partner[i]] or f"partner {partner[i]}"
        pair = f"{label(search.owner)}: '{first}' - '{second}'"
        self._note(-gap[i] / (SHARE * radius[i]), -gap[i], t, pair, radius[i])

    def _note(self, share, depth, t, name, finest):
        if share <= max(self.share, 1.0):
            return
        self.share = float(share)
        size, what = finest, "the least of its clearance and of the sizes of its bodies"
        if not np.isfinite(finest):
            size, what = self.system.size, "the size of the model"
        self.told = f"{name} is {depth:.3g} m deep at t = {t:.6g} s, {depth / size:.2g} times {size:.3g} m, {what}"

    def get_state(self) -> dict[str, Any]:
        """What was seen so far."""
        return {"share": self.share, "told": self.told}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` has given."""
        self.share, self.told = state["share"], state["told"]

    def warnings(self) -> list[str]:
        """That a contact is deeper than (1)."""
        if not self.told:
            return []
        why = "look what happens there, and halve h"
        if self.method.follows:
            why = (
                "the method closes contacts in velocities, and bodies overlap by what its steps travel. Halve h, or "
                "use a method that holds gaps: DecoupledNSGA, MoreauJean(projection=True)"
            )
        return [f"{self.told}: {why}"]
