"""Penetration of contacts in a whole run: methods that close contacts in velocities leave some, and it can add up.

    d > ℓ/10 ,   ℓ the least of the clearance of the contact and of the radii of gyration of its bodies              (1)

    d > L/100    where it has neither (ends of beams, masses without inertia), L the size of the model

A contact that is deeper is no longer the one of the model: a pin inside its bush, a brick in a table. Shapes of
contact groups have their radii, or half their thickness, in place of radii of gyration. Compiled code looks at contacts
after every step; at those of contact groups, which come and go, Python does in states that are saved.

Source: docs/theory/accepted_steps.md, (9).
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.errors import label
from fem_mbs.jit import entry, void_pointer
from fem_mbs.results.table import pair_column
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.system.contacts import contact_groups, contacts_of
from fem_mbs.system.sizes import gyration

if TYPE_CHECKING:
    from fem_mbs.element.contact import Contact
    from fem_mbs.solvers.stepping.engine import Engine

SHARE = 0.1  # of ℓ in (1), as compliant contacts may be deep
OF_MODEL = 0.01  # of L, as joints that are apart
# nd: contacts that are not of contact groups
TABLE = Table("depths", {"deepest": Item("nd 2", "smallest gap of a contact after any step, and when", kept=True)})
_DEPTHS = TABLE.dtype


def finest(contact: "Contact") -> float:
    """ℓ [m] of a contact; infinite where it has none."""
    return min([contact.room, *filter(None, map(gyration, contact.nodes))])


@entry("void(int64, int64)")
def depths(data, run):
    """Record the gaps of contacts that are not of contact groups, after a step.

    Those that were not evaluated in it are open, see `system.far_contacts`.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    deepest = carray(void_pointer(s.monitor_at), (1,), _DEPTHS)[0].deepest
    for g in contact_groups(d):
        if g.first_contact + g.n > s.nc_fixed:
            continue
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if contact.gap[e] < deepest[c, 0]:
                deepest[c, 0], deepest[c, 1] = contact.gap[e], s.t


class DepthWatch(Monitor):
    """Deepest penetration of any contact over its bound (1)."""

    table = TABLE
    state = "share", "text"

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        self.after_step = depths if self.system.nc_fixed else None
        self.share, self.text = 0.0, ""  # of pairs of contact groups: largest d over its bound, in words

    def start(self) -> None:
        """No contact has been closed."""
        self.engine.arrays["deepest"][:] = np.inf, 0.0

    def observe(self, block: dict[str, np.ndarray]) -> None:
        """Take in the closed pairs of contact groups in recorded states."""
        for time, table in zip(block["t"], self.engine.pairs()):
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
        share = -gap[i] / (SHARE * radius[i])
        if share > max(self.share, 1.0):
            self.share, self.text = float(share), self._words(pair, -gap[i], t, radius[i])

    def _deepest(self):
        """Largest d over its bound of contacts that are not of groups, and the same in words."""
        gap, times = self.engine.arrays["deepest"].T
        if not len(gap):
            return 0.0, ""
        contacts = [self.system.contact_at(c) for c in range(len(gap))]
        least = np.array([finest(contact) for contact in contacts])
        shares = -gap / np.where(np.isfinite(least), SHARE * least, OF_MODEL * self.system.size)
        c = int(np.argmax(shares))
        return float(shares[c]), self._words(label(contacts[c]), -gap[c], times[c], least[c])

    def _words(self, name, depth, t, finest):
        size, what = finest, "the least of its clearance and of the sizes of its bodies"
        if not np.isfinite(finest):
            size, what = self.system.size, "the size of the model"
        return f"{name} is {depth:.3g} m deep at t = {t:.6g} s, {depth / size:.2g} times {size:.3g} m, {what}"

    def warnings(self) -> list[str]:
        """Warning of a contact that is deeper than (1)."""
        share, text = max((self.share, self.text), self._deepest())
        if share <= 1.0:
            return []
        why = "check the motion there, and halve h"
        if self.engine.method.follows:
            why = (
                "the method closes contacts in velocities, and bodies overlap by what its steps travel. Halve h, or "
                "use a method that holds gaps: DecoupledNSGA, MoreauJean(projection=True)"
            )
        return [f"{text}: {why}"]
