"""Energy balance of a run: work of each load, driver, damper and contact, added up over all steps.

A run keeps the energy balance on request, ``run(…, balance=True)``, and just its sum where
`stepping.monitors.loss_watch` finds the numerical dissipation from it. With the changes u = q − q_n of a step,

    force f, potential V    W = ½ (f_n + f)·u + V − V_n                                                            (1)
    weight m g(t) in a field that changes in time, which has no potential: as f; all of a model in one line
    driver, G v = −∂g/∂t    W = −½ h (λ~_n + λ~)·½ ((∂g/∂t)_n + ∂g/∂t) − Λ·∂g/∂t                                    (2)
    contact, impulses P     W = P·½ (G' v' + G v)                                                                  (3)
    contact group           W = Σ P_i·½ (v_n + v)_i, impulses P_i of all its contacts on the node i                (4)
    friction of joints      what the step has noted, `joint_friction.friction_end` (2), the part of its surface as a
                            driver; of a motor with a largest effort both in one line

v' are the velocities before the impulses: those at the start of the step with the gradients G' there, and at an impact
of a method with a smooth motion those of it, v~, with G' = G, which has the rates of drivers at the end of
the step already. In other steps, where (3) has the velocities at the start, and in methods without a smooth motion,
which have G' = G, (2) has the mean of both rates for all of the impulse. (3) is then what an impact takes, exactly:
M (v − v') = Gᵀ P. In a sequence of impacts of one step the sum over the contacts is. Elsewhere (1) to (3) are
trapezoidal rules, of second order: with the gradients of the end a disc that rolls would have an impact in every step,
as its point of contact wanders. Impulses and moments have the axes of the end, see `half_way`.

What a switch takes or gives at once, a jump of velocities or the energy of a spring that comes, has a line for all of
them. Elements that are off do no work. States of first order (`Node1`) have no energy, and their rates no work.

The residual of the energy balance, E − E_0 − Σ W, is the numerical dissipation, and the error of (1)-(3). It falls
with the step size, unlike an error of a model.

Source: docs/theory/energy_table.md.

    symbol    code                  meaning
    f_n, V_n  s.booked_before       of a force f (nd,) and V without weight; of a weight f;
                                    of a driver ∂g/∂t (nr,) and k_s λ~ (nr,)
    W         s.works               sums since the start [J]; two of each contact: normal, tangential with moments
    λ~        s.lam_lasting         (nr,) [N, N m], with which the step ended; s.lam_report has Λ/h in addition. λ~_n is
                                    that of the memory, which an impact or a change of friction makes anew
    u/h       s.trial               (N, 6), rotations by the logarithm
    P         s.total_Lam           (nc, 6), the last three are moments; with persistent contacts s.sent
"""

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from fem_mbs.errors import label
from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, integers, invoke, kernel, local_matrix, local_vector, vector
from fem_mbs.results.energy_table import OF_GROUPS
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.monitors.external_work import (
    DRIVER,
    FORCE,
    MOVED,
    WEIGHT,
    kind_of,
    mean_velocities,
    power_of,
    weight_of,
    weights,
)
from fem_mbs.solvers.stepping.monitors.loss_watch import impulses_are_known, losses_are_reported
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.system.assembly import potential_of_forces
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times
from fem_mbs.system.friction import friction_of
from fem_mbs.system.gather import gather
from fem_mbs.system.records import groups_of, switches_of, zero

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.element.friction_row import FrictionRow
    from fem_mbs.solvers.stepping.engine import Engine

_F, _GT, _GTT, _RATE = (SLOT[k] for k in ("f", "gt", "gtt", "rate"))
KINDS = ("load", "damper", "driver", "impact", "friction", "contact", "switch")
RUBS, DRIVES = 5, 6  # joint friction without a moving surface, and of a motor: one line; MOVED has two


def work_kind(element: "Element") -> int:
    """Kind of work of an element; 0 for one that is conservative, and for contacts."""
    kind = kind_of(element)
    if element.role == "friction":
        return DRIVES if cast("FrictionRow", element).drives else kind or RUBS
    if kind or element.role != "dynamic" or not element.viscous:
        return kind
    return FORCE if "force" in element.kernels else 0


class Ledger(Monitor):
    """Energy balance of a run on request, or for the losses of `stepping.monitors.loss_watch`; else it has no lines.

    Attributes
    ----------
    groups : (k, 4) int64
        Groups of elements: number, kind, first of what is kept of them, first line. Of joint friction each element:
        number of the group, kind, its place there, first line.
    kept : int, numbers that are kept from the last end
    lines : list of (name, kind), the kinds of `KINDS`
    switches : int, line of the work of switches; −1 without any
    pairs : int, first line of all contacts of assembled (pairwise) contact groups; −1 without any
    swept : int, line of a contact group that the Gauss-Seidel solver takes, normal and tangential work; −1 without one
    """

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        self.kept, self.lines, self.groups = 0, [], np.zeros((0, 4), np.int64)
        self.switches = self.pairs = self.swept = -1
        if engine.balance or losses_are_reported(self.system, engine.method, engine.grains):
            self._make_lines()
        if engine.balance or self.lines:
            self.after_step = ledger

    def _make_lines(self):
        system, grains, table = self.system, self.engine.grains, []
        for number in system.added:
            group = system.groups[number]
            if group.elements[0].role == "friction":
                table += self._rows_of_friction(number, group)
                continue
            kind = max((work_kind(element) for element in group.elements), default=0)
            if kind:
                sizes = group.sizes
                table.append((number, kind, self.kept, len(self.lines)))
                self.kept += group.n * (sizes["nd"] + 1 if kind == FORCE else 2 * sizes["nr"])
                self.lines += [(_name(element), _word(element, kind)) for element in group.elements]
        for number, group in weights(system):
            table.append((number, WEIGHT, self.kept, len(self.lines)))
            self.kept += group.n * group.sizes["nd"]
        if system.field is not None:
            self.lines.append(("gravity", "load"))
        self.groups = np.array(table, np.int64).reshape(-1, 4)
        if self.engine.interrupted:
            self.switches = len(self.lines)
            self.lines.append(("switches", "switch"))
        if system.searches and grains is None:
            self.pairs = len(self.lines)
            self.lines += [(OF_GROUPS, "impact"), (OF_GROUPS, "friction")]
        if impulses_are_known(grains):
            self.swept = len(self.lines)
            self.lines.append((OF_GROUPS, "contact"))
        for contact in system.contacts[: system.nc_fixed]:
            self.lines += [(contact.name or label(contact), word) for word in ("impact", "friction")]

    def _rows_of_friction(self, number, group):
        """Rows of ``groups`` of joint friction."""
        rows = []
        for place, element in enumerate(group.elements):
            kind = work_kind(element)
            rows.append((number, kind, place * element.directions, len(self.lines)))
            words = {RUBS: ("friction",), MOVED: ("friction", "driver"), DRIVES: ("driver",)}[kind]
            self.lines += [(element.name or label(element), word) for word in words]
        return rows

    def sizes(self) -> dict[str, int]:
        """Return numbers of groups, of what is kept of their elements, and of lines."""
        return {"nl": len(self.groups), "nk": self.kept, "nt": len(self.lines)}

    def start(self) -> None:
        """Set the groups and the lines of contact groups."""
        self.engine.arrays["booked"][:] = self.groups
        run = self.engine.run[0]
        run["pair_line"], run["swept_line"] = self.pairs, self.swept


def _name(element):
    """Name of a line: all elements of a solid body are one."""
    return element.body_name or element.name or label(element)


def _word(element: "Element", kind: int) -> str:
    if kind == DRIVER:
        return "driver"
    return "damper" if "energy" in element.kernels and element.viscous and not element.signals else "load"


@kernel
def work_of_force(d, g, e, b, s, kept):
    """(1) [J]; keeps forces and potential."""
    p, f = g.parameters_at + e * g.stride, vector(b[_F], g.nd)
    gather(d, g, e, b, s.x, s.R, s.V, s.V)
    zero(b[_F], g.nd)
    call2(g.force, p, d.table_at)
    total = 0.5 * s.h * (power_of(d, g, e, f, s.trial) + power_of(d, g, e, kept, s.trial))
    for i in range(g.nd):
        kept[i] = f[i]
    before = kept[g.nd]
    if g.energy != 0:
        kept[g.nd] = potential_of_forces(d, g, p, b)
    return total + kept[g.nd] - before


@kernel
def work_of_weight(d, g, e, b, s, kept):
    """(1) of a weight [J]; keeps it."""
    weight_of(d, g, e, b, s)
    f = vector(b[_F], g.nd)
    total = 0.5 * s.h * (power_of(d, g, e, f, s.trial) + power_of(d, g, e, kept, s.trial))
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
    at_end = s.lasting != 0 and (s.struck != 0 or (s.friction != 0 and s.friction_event >= 0.0))
    for i in range(g.nr):
        row = g.first_row + e * g.nr + i
        lasting, impulse = s.lam_lasting[row], s.h * (s.lam_report[row] - s.lam_lasting[row])
        mean = 0.5 * (gt[i] + kept[i])
        total -= 0.5 * s.h * (kept[g.nr + i] + lasting) * mean + impulse * (gt[i] if at_end else mean)
        kept[i], kept[g.nr + i] = gt[i], s.ks * s.lam[row]
    return total


@kernel
def impulse_of_impact(s, c):
    """Normal impulse of contact c where it had an impact, else 0: all that it gave in the step where the force at its
    end is zero, as after a rebound with laws at three levels.
    """
    if s.impact[c] == 0:
        return 0.0
    return s.sent[c, 0] if s.persistent != 0 and s.total_Lam[c, 0] == 0.0 else s.total_Lam[c, 0]


@kernel
def impulses_of_struck(s):
    """Sum of the normal impulses of contacts with an impact in the step [N s], without those of contact groups."""
    total = 0.0
    for c in range(s.nc_fixed):
        total += impulse_of_impact(s, c)
    return total


@kernel
def add_contact_work(g, e, c, s, V, normal, tangential, P, moment, line):
    """Add (3) of a contact, its impulse P (3,) and moment (3,), with V and its gradients before the impulses.

    Dry friction dissipates energy or does no work. Work that its impulse gives in an impact, whose course is not known,
    belongs to the line of the impact; of a contact that another impact closes, to that of the other one.
    """
    contact = contacts_of(g)
    mean = 0.5 * (gradient_times(g, e, normal, V) + gradient_times(g, e, contact.G_N[e], s.V))
    impact, friction = P[0] * mean, 0.0
    for j in range(2):
        if P[1 + j] != 0.0:
            mean = 0.5 * (gradient_times(g, e, tangential[j], V) + gradient_times(g, e, contact.V_T[e, j], s.V))
            friction += P[1 + j] * mean
    for j in range(3):
        if moment[j] != 0.0:
            mean = 0.5 * (gradient_times(g, e, contact.W[e, j], V) + gradient_times(g, e, contact.W[e, j], s.V))
            friction += moment[j] * mean
    if s.impact[c] != 0 and friction > 0.0:
        impact, friction = impact + friction, 0.0
    elif friction > 0.0 and impulses_of_struck(s) > 0.0:
        s.given_back, friction = s.given_back + friction, 0.0
    s.works[line] += impact
    s.works[line + 1] += friction


@kernel
def half_way(g, e, P, mean):
    """Fill mean (3,) with the impulse P (3,) along the means of the axes at the start and at the end, which P has.

    That of a contact in the smooth motion is a sum of forces at both ends: with the axes of the end normal forces would
    do work on what slides along a curved surface. Axes are the gradients by the position of the first node, those of
    sliding times the scale of anisotropic friction.
    """
    contact = contacts_of(g)
    start, end, size, size_0 = local_matrix(3, 3), local_matrix(3, 3), 0.0, 0.0
    for j in range(3):
        start[0, j], end[0, j] = contact.G_N_start[e, j], contact.G_N[e, j]
        for i in range(2):
            start[1 + i, j] = contact.V_T_start[e, i, j]
            end[1 + i, j] = contact.V_T[e, i, j]
        size, size_0 = size + end[0, j] ** 2, size_0 + start[0, j] ** 2
    for i in range(3):
        mean[i] = P[i]
    if size * size_0 > 0.0:
        for i in range(3):
            mean[i] = 0.5 * P[i]
            for j in range(3):
                turned = start[i, 0] * end[j, 0] + start[i, 1] * end[j, 1] + start[i, 2] * end[j, 2]
                square = contact.friction_scale[e, i - 1] ** 2 if i > 0 else 1.0
                mean[i] += 0.5 * turned / math.sqrt(size * size_0) / square * P[j]


@kernel
def distribute_given_work(d, s):
    """Add the work that friction gave in an impact to the contacts with an impact, in the ratio of their impulses."""
    first, total = s.works.shape[0] - 2 * s.nc_fixed, impulses_of_struck(s)
    for c in range(s.nc_fixed if total > 0.0 else 0):
        s.works[first + 2 * c] += s.given_back * impulse_of_impact(s, c) / total
    s.given_back = 0.0


@kernel
def work_of_group(s):
    """(4) [J]."""
    total = 0.0
    for i in range(s.V.shape[0]):
        for j in range(6):
            total += s.P[6 * i + j] * 0.5 * (s.V0[i, j] + s.V[i, j])
    return total


@kernel
def add_contact_works(d, s):
    """(3) of all contacts; those of contact groups have one line for impacts and one for friction."""
    first, mean = s.works.shape[0] - 2 * s.nc_fixed, local_vector(3)
    for g in contact_groups(d):
        paired = g.first_contact + g.n > s.nc_fixed
        if paired and s.pair_line < 0:
            continue
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            P = s.total_Lam if s.persistent == 0 else s.sent
            if P[c, 0] != 0.0:
                line = s.pair_line if paired else first + 2 * c
                if s.impact[c] == 0 and s.from_start == 0:  # it rolls on: at the start by its gradient there
                    held = s.persistent != 0 and P[c, 0] != s.total_Lam[c, 0]  # a part of it is of the smooth motion
                    if held:
                        half_way(g, e, P[c], mean)
                    normal, tangential = contact.G_N_start[e], contact.V_T_start[e]
                    add_contact_work(g, e, c, s, s.V0, normal, tangential, mean if held else P[c], P[c, 3:], line)
                else:
                    V = s.Vs if s.from_start == 0 else s.V0
                    add_contact_work(g, e, c, s, V, contact.G_N[e], contact.V_T[e], P[c], P[c, 3:], line)


@entry("void(int64, int64)")
def ledger(data, run):
    """Add the work of an accepted step; before the first step just keep what it needs."""
    d, s = system_at(data)[0], run_at(run)[0]
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    mean_velocities(d, s)
    for k in range(s.booked.shape[0]):
        g, kind, at, line = groups[s.booked[k, 0]], s.booked[k, 1], s.booked[k, 2], s.booked[k, 3]
        if kind == RUBS or kind == MOVED or kind == DRIVES:
            kept = friction_of(g, at)  # of the first row, which has the works of all
            s.works[line] += kept.step_work
            if kind != RUBS:
                s.works[line + 1 if kind == MOVED else line] += kept.surface_work
            continue
        each = g.nd + 1 if kind == FORCE else g.nd if kind == WEIGHT else 2 * g.nr
        on = switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            kept = s.booked_before[at + e * each : at + (e + 1) * each]
            if kind == FORCE:
                s.works[line + e] += work_of_force(d, g, e, b, s, kept)
            elif kind == WEIGHT:
                s.works[line] += work_of_weight(d, g, e, b, s, kept)
            else:
                s.works[line + e] += work_of_driver(d, g, e, b, s, kept)
    if s.step_number == 0:
        s.works[:] = 0.0
    else:
        add_contact_works(d, s)
        if s.given_back > 0.0:
            distribute_given_work(d, s)
        if s.swept_line >= 0:
            s.works[s.swept_line] += work_of_group(s)


def renew(engine: "Engine", change: float = 0.0) -> None:
    """Keep anew what works are made of, where forces or rates have jumped between two steps.

    Parameters
    ----------
    engine : Engine
    change : float [J]
        Of the energy, by what was switched; nothing else is added to the works.
    """
    run, balance = engine.run[0], engine.ledger
    if run["work_part"]:  # loads and drivers: what the bound of their work in the next step begins with
        engine.call_part("work")
    if balance.after_step is None:
        return
    works = engine.arrays["works"].copy()
    invoke(balance.after_step.address, int(run["data_at"]), int(run["run_at"]))
    engine.arrays["works"][:] = works
    if balance.switches >= 0:
        engine.arrays["works"][balance.switches] += change


def add_jump_work(engine: "Engine", impulse: np.ndarray, missing: np.ndarray) -> None:
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
