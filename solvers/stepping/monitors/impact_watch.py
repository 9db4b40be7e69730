"""Energy of impacts below that of Newton's law, and clearances that are crossed within a step.

    Σ ½ Λ max( e max(−γ⁻, 0) − γ⁺, 0 ) > share K_max                                                              (1)
    h max(−γ⁻) > c ,   c the clearance of a contact with e > 0                                                      (2)

The sum is over the impacts of all steps, with velocities along the normal in which the impulse acts. Compiled code adds
it up (`contact.impact_work`, (2), and `stepping.kernels.step.mark_impacts`); here it becomes a warning. A method loses
this energy where the approach speed is not resolved: normals rotate within a step, several contacts follow each
other in one, a sequence of impacts is cut short.

Source: docs/theory/accepted_steps.md, (13).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import label
from fem_mbs.solvers.stepping.monitors.energy_watch import NO_LAW, without_law

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

SHARE = 0.05  # of the largest kinetic energy of saved states


def energy_of_impacts(engine: "Engine") -> list[str]:
    """Warnings of (1) and (2)."""
    run, system = engine.run[0], engine.system
    missing, approach = engine.arrays["unkept"].T
    total, top = float(missing.sum() + run["unkept_pairs"]), float(run["top_kinetic"])
    room = np.array([system.contacts[c].room for c in range(len(missing))])
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = np.where(np.isfinite(room), engine.h * approach / room, 0.0)
    c = int(np.argmax(crossed)) if len(crossed) else -1
    too_fast = c >= 0 and crossed[c] > 1.0
    texts, lawless = [], without_law(engine)
    if too_fast:
        cure = NO_LAW if lawless else f"Reduce h below {0.5 * room[c] / approach[c]:.2g} s"
        texts.append(
            f"{label(system.contact_at(c))}: bodies approach each other by {engine.h * approach[c]:.3g} m in a step, "
            f"more than their clearance of {room[c]:.3g} m, so that impacts follow each other within a step. {cure}"
        )
    if top > 0.0 and total > SHARE * top:
        worst = int(np.argmax(missing)) if len(missing) else -1
        one = worst >= 0 and missing[worst] > 0.5 * total
        where = f", most of it at {label(system.contact_at(worst))}" if one else ""
        cure = "" if too_fast else ": normals rotate, or several impacts follow each other, within a step. Reduce h"
        cure = f": {NO_LAW}" if lawless else cure
        texts.append(
            f"impacts kept {total:.3g} J less than Newton's law requires, {100 * total / top:.3g} % of the largest "
            f"kinetic energy{where}{cure}"
        )
    return texts
