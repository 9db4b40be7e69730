"""Where the energy of a run goes: work of each load, driver, damper and contact, added up over all steps.

A run keeps these books when it is asked to, ``run(…, balance=True)``. With the changes u = q − q_n of a step,

    force f, potential V    W = ½ (f_n + f)·u + V − V_n                                                            (1)
    weight m g(t) in a field that changes in time, which has no potential: as f; all of a model in one line
    driver, G v = −∂g/∂t    W = −(h λ + Λ)·½ ((∂g/∂t)_n + ∂g/∂t) ,    λ = ½ (λ_n + λ)                              (2)
    contact, impulses P     W = P·½ (G v' + G v)                                                                   (3)
    friction of a joint     W = Λ_F·½ (w_n + w) − D ,   w the rate of its surface, D what it has taken             (4)

v' are the velocities before the impulses: those at the start of the step, and at an impact of a method that knows
them those of the smooth motion, v~. (3) is then what an impact takes, exactly: M (v − v') = Gᵀ P. In a sequence of
impacts of one step the sum over the contacts is. (1) and (2) are trapezoidal rules, of second order.

What is left of the change of energy, E − E_0 − Σ W, is what the scheme dissipates, and the error of (1)-(3). It falls
with the step size, which tells it from an error of a model.

Source: docs/theory/energy_table.md.

    symbol    code                  meaning
    f_n, V_n  s.booked_before       of a force f (nd,) and V without weight; of a weight f;
                                    of a driver ∂g/∂t (nr,) and k_s λ~ (nr,)
    W         s.works               sums since the start [J]; two of each contact: normal, tangential with moments
    u/h       s.trial               (N, 6), rotations by the logarithm
    P         s.total_Lam           (nc, 3), moments s.total_chi; with persistent contacts s.sent, s.sent_chi
    w, Λ_F w  s.booked_before       of joint friction: the sum of its first term since the start [J], and w
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import label
from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, integers, kernel, vector
from fem_mbs.solvers.stepping.data import run_at, system_at
from fem_mbs.solvers.stepping.external_work import (
    DRIVER,
    FORCE,
    WEIGHT,
    kind_of,
    mean_velocities,
    power_of,
    weight_of,
    weights,
)
from fem_mbs.system.assembly import potential_of_forces
from fem_mbs.system.contacts import B_GN, B_VT, B_W, gradient_times
from fem_mbs.system.friction import F_GT, F_IMPULSE, F_WORK, states_of
from fem_mbs.system.gather import gather
from fem_mbs.system.records import groups_of, zero

if TYPE_CHECKING:
    from fem_mbs.elements.base import Element
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.system import System

_F, _GT, _GTT, _RATE = (SLOT[k] for k in ("f", "gt", "gtt", "rate"))
KINDS = ("load", "damper", "driver", "impact", "friction")
FRICTION = 5  # of a joint, beside the kinds of `external_work`


def booked_as(element: "Element") -> int:
    """How the work of an element is found; 0 for one that is conservative, and for contacts."""
    if element.role == "friction":
        return FRICTION
    kind = kind_of(element)
    if kind or element.role != "dynamic" or not element.viscous:
        return kind
    return FORCE if "force" in element.kernels else 0


class Ledger:
    """Lines of the books of a system.

    Attributes
    ----------
    groups : (k, 4) int64
        Groups of elements: number, kind, first of what is kept of them, first line.
    kept : int, numbers that are kept from the last end
    lines : list of (name, kind), the kinds of `KINDS`
    """

    def __init__(self, system: "System") -> None:
        table, self.kept, self.lines = [], 0, []
        for number, group in enumerate(system.groups):
            kind = 0 if hasattr(group, "pairs") else max((booked_as(e) for e in group.elements), default=0)
            if kind:
                sizes = group.sizes
                table.append((number, kind, self.kept, len(self.lines)))
                self.kept += group.n * {FORCE: sizes["nd"] + 1, DRIVER: 2 * sizes["nr"], FRICTION: 2}[kind]
                self.lines += [(element.name or label(element), _word(element, kind)) for element in group.elements]
        for number, group in weights(system):
            table.append((number, WEIGHT, self.kept, len(self.lines)))
            self.kept += group.n * group.sizes["nd"]
        if system.field is not None:
            self.lines.append(("gravity", "load"))
        self.groups = np.array(table, np.int64).reshape(-1, 4)
        self.first_contact = len(self.lines)
        for contact in system.contacts[: system.nc_fixed]:
            self.lines += [(contact.name or label(contact), word) for word in ("impact", "friction")]

    def sizes(self) -> dict[str, int]:
        """Sizes of the arrays of a run."""
        return {"nl": len(self.groups), "nk": self.kept, "nt": len(self.lines)}


NO_BOOKS: dict[str, int] = {"nl": 0, "nk": 0, "nt": 0}


def _word(element: Any, kind: int) -> str:
    if kind == DRIVER or getattr(element, "drives", False):
        return "driver"
    if kind == FRICTION:
        return "friction"
    return "damper" if "energy" in element.kernels and element.viscous and not element.signals else "load"


@kernel
def work_of_force(d, g, e, b, s, kept):
    """(1) [J]; keeps forces and potential."""
    p, f = g.parameters_at + e * g.stride, vector(b[_F], g.nd)
    gather(d, g, e, b, s.x, s.R, s.V, s.V)
    zero(b[_F], g.nd)
    call2(g.force, p, d.table_at)
    total = 0.5 * s.h * (power_of(g, e, f, s.trial) + power_of(g, e, kept, s.trial))
    for i in range(g.nd):
        kept[i] = f[i]
    before = kept[g.nd]
    if g.energy != 0:
        kept[g.nd] = potential_of_forces(d, g, p, b)
    return total + kept[g.nd] - before


@kernel
def work_of_weight(d, g, e, b, s, kept):
    """(1) of a weight [J]; keeps it."""
    f = weight_of(d, g, e, b, s)
    total = 0.5 * s.h * (power_of(g, e, f, s.trial) + power_of(g, e, kept, s.trial))
    for i in range(g.nd):
        kept[i] = f[i]
    return total


@kernel
def work_of_driver(d, g, e, b, s, kept):
    """(2) [J]; keeps ∂g/∂t and multipliers."""
    gather(d, g, e, b, s.x, s.R, s.V, s.V)
    zero(b[_GT], g.nr)
    zero(b[_GTT], g.nr)
    zero(b[_RATE], g.nr * g.nd)
    call2(g.rheonomic, g.parameters_at + e * g.stride, d.table_at)
    gt, total = vector(b[_GT], g.nr), 0.0
    for i in range(g.nr):
        row = g.first_row + e * g.nr + i
        smooth = s.ks * s.lam[row]
        impulse = s.h * (s.lam_report[row] + 0.5 * (kept[g.nr + i] - smooth))
        total -= impulse * 0.5 * (gt[i] + kept[i])
        kept[i], kept[g.nr + i] = gt[i], smooth
    return total


@kernel
def work_of_friction(g, e, s, kept):
    """Sum of (4) since the start [J]; keeps that of its first term, and the rate of the surface."""
    state = states_of(g)[e]
    if s.step_number == 0:
        kept[0] = 0.0
    else:
        kept[0] += state[F_IMPULSE] * 0.5 * (kept[1] - state[F_GT])
    kept[1] = -state[F_GT]
    return kept[0] - state[F_WORK]


@kernel
def book_contact(g, e, c, s, V, P, chi, line):
    """(3) of a contact, with V before the impulses."""
    mean = 0.5 * (gradient_times(g, e, B_GN, 0, V) + gradient_times(g, e, B_GN, 0, s.V))
    s.works[line] += P[c, 0] * mean
    for j in range(2):
        if P[c, 1 + j] != 0.0:
            mean = 0.5 * (gradient_times(g, e, B_VT, j, V) + gradient_times(g, e, B_VT, j, s.V))
            s.works[line + 1] += P[c, 1 + j] * mean
    for j in range(3):
        if chi[c, j] != 0.0:
            mean = 0.5 * (gradient_times(g, e, B_W, j, V) + gradient_times(g, e, B_W, j, s.V))
            s.works[line + 1] += chi[c, j] * mean


@kernel
def book_contacts(d, s):
    """(3) of all contacts that are not of contact groups."""
    groups = groups_of(d)
    first = s.works.shape[0] - 2 * s.nc_fixed
    for k in range(d.n_groups):
        g = groups[k]
        if g.contact == 0 or g.first_contact + g.n > s.nc_fixed:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            P, chi = (s.total_Lam, s.total_chi) if s.persistent == 0 else (s.sent, s.sent_chi)
            if P[c, 0] != 0.0:
                V = s.Vs if s.impact[c] != 0 and s.from_start == 0 else s.V0
                book_contact(g, e, c, s, V, P, chi, first + 2 * c)


@entry("void(int64, int64)")
def ledger(data, run):
    """Add the work of an accepted step; before the first step just keep what it needs."""
    d, s = system_at(data)[0], run_at(run)[0]
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    mean_velocities(d, s)
    for k in range(s.booked.shape[0]):
        g, kind, at, line = groups[s.booked[k, 0]], s.booked[k, 1], s.booked[k, 2], s.booked[k, 3]
        each = g.nd + 1 if kind == FORCE else g.nd if kind == WEIGHT else 2 * g.nr if kind == DRIVER else 2
        for e in range(g.n):
            kept = s.booked_before[at + e * each : at + (e + 1) * each]
            if kind == FORCE:
                s.works[line + e] += work_of_force(d, g, e, b, s, kept)
            elif kind == FRICTION:
                s.works[line + e] = work_of_friction(g, e, s, kept)
            elif kind == WEIGHT:
                s.works[line] += work_of_weight(d, g, e, b, s, kept)
            else:
                s.works[line + e] += work_of_driver(d, g, e, b, s, kept)
    if s.step_number == 0:
        s.works[:] = 0.0
    else:
        book_contacts(d, s)


def renew(engine: "Engine") -> None:
    """Keep anew what works are made of, where forces or rates have jumped between two steps; nothing is added."""
    run, a = engine.run[0], engine.arrays
    if run["work_part"]:
        engine.call_part("work")
    if engine.ledger is None or not run["ledger_part"]:
        return
    works, kept = a["works"].copy(), a["booked_before"].copy()
    engine.call_part("ledger")
    a["works"][:] = works
    for number, kind, at, _ in engine.ledger.groups:
        if kind == FRICTION:
            sums = slice(at, at + 2 * engine.system.groups[number].n, 2)
            a["booked_before"][sums] = kept[sums]


def book_jump(engine: "Engine", impulse: np.ndarray, missing: np.ndarray) -> None:
    """Add the work of drivers in a jump of velocities: W = −Λ·½ ((∂g/∂t)⁻ + (∂g/∂t)⁺).

    ``impulse`` (m,): Λ; ``missing`` (m,): G v⁻ + (∂g/∂t)⁺, which is how far ∂g/∂t has jumped.
    """
    system, a = engine.system, engine.arrays
    for number, kind, at, line in engine.ledger.groups:
        group = system.groups[number]
        for e in range(group.n if kind == DRIVER else 0):
            nr = group.sizes["nr"]
            rows = slice(group.first_row + e * nr, group.first_row + (e + 1) * nr)
            before = a["booked_before"][at + 2 * nr * e : at + 2 * nr * e + nr]
            a["works"][line + e] -= impulse[rows] @ (before + 0.5 * missing[rows])
