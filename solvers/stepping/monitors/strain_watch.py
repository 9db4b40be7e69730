"""State of largest strain energy of each reduced body in a run: there its modes are checked for gravity and inertia.

Saved states are compared, and with observers all steps; a block of them at a time.

Source: docs/theory/superelements.md, gravity and inertia.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.shapes import matrices
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.system.checks.element_checks import warning_texts

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

MOTION = ("position", "quaternion", "velocity", "acceleration")


class StrainWatch(Monitor):
    """Keeps, for each body with a check of inertia, its motion where it is deformed most.

    Attributes
    ----------
    kept : list of dict
        ``t`` [s], ``energy`` [J], and histories of the nodes of the body in that state.
    """

    state = ("kept",)

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        self.bodies = [e for e in self.system.elements if e.reduction is not None and e.misses_inertia]
        self.kept: list[dict[str, Any]] = [{"energy": -1.0} for _ in self.bodies]

    def observe(self, block: dict[str, np.ndarray]) -> None:
        """Compare the states of a block of records (k, …)."""
        if not len(block["t"]):
            return
        for body, kept in zip(self.bodies, self.kept):
            nodes = [node.index for node in body.nodes]
            x, Q = block["position"][:, nodes], block["quaternion"][:, nodes]
            energy = body.strain_energy(x, matrices(Q))
            k = int(np.argmax(energy))
            if energy[k] > kept["energy"]:
                kept.update({name: block[name][k, nodes].copy() for name in MOTION})
                kept.update(t=float(block["t"][k]), energy=float(energy[k]))

    def warnings(self) -> list[str]:
        """Return warnings about gravity and inertia that the modes of bodies miss where they are deformed most."""
        found = []
        for body, kept in zip(self.bodies, self.kept):
            if "t" not in kept:
                continue
            x, Q, v, a = (kept[name] for name in MOTION)
            texts = body.inertia_warnings(x, matrices(Q), v, a, self.system.gravity_at(kept["t"]))
            at = f"at t = {kept['t']:.6g} s, where it is deformed most,"
            found.append((body, [(kind, share, f"{at} {text}") for kind, share, text in texts]))
        return warning_texts(found)
