"""Work of what drives and loads a model in one step: a bound, in compiled code.

An element that is not conservative acts with efforts e on rates r, and has a potential energy V or none. Where both
stay in the convex hull of values known in the step, the product is largest at values of them (it is bilinear):

    ∫ e·r dt ≤ w = h max_ij e_i·r_j + ΔV ,        w⁺ = max(w, 0)                                                   (1)

    kind     element                                   e                                   r
    FORCE    force without a potential, or with        f(q_n, v_n), f(q, v)                v_n, v~, v, (q − q_n)/h
             given functions of time
    DRIVER   constraint with time, G v = −∂g/∂t        Λ/h + λ~ of start and end           −∂g/∂t of start and end
    WEIGHT   mass in a field of gravity that changes    m g at start and end                as of a FORCE
             in time, which has no potential
    MOVED    joint friction against a moving surface   λ_F of start and end, ±μ_s N where  its speed, start and end
                                                       it begins to slide or reverses

In the memory of the generalized-α method a load acts on after its end, with weights that at least halve from step to
step (docs). The work that may have entered the energy in step k is therefore

    W_k = w⁺_k + W_k−1/2                                                                                           (2)

An element that takes energy at all values it is known at, a damper, has w⁺ = 0 and explains no rise.

Source: docs/theory/accepted_steps.md, (7), (8); derived there.

    symbol        code                  meaning
    e_i, V, …     s.efforts, element    what is kept of an element, from the end of the last step
                  after element         FORCE: f (nd,), V.  DRIVER: ∂g/∂t (nr,), k_s λ~ (nr,).  MOVED: λ_F, speed.
                                        WEIGHT: f (nd,)
    (q − q_n)/h   s.trial               (N, 6), rotations by the logarithm
    h λ~ + Λ      h s.lam_report        impulse of a constraint in the step
"""

from typing import TYPE_CHECKING, cast

import numpy as np

from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, integer_matrix, integers, kernel, local_vector, vector
from fem_mbs.rotations import quaternion_log, quaternion_multiply
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.system.assembly import stored_energy
from fem_mbs.system.friction import coefficients_of, directions_of, friction_of
from fem_mbs.system.gather import gather
from fem_mbs.system.records import groups_of, switches_of, zero

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.element.friction_row import FrictionRow
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.groups import Group

FORCE, DRIVER, MOVED, WEIGHT = 1, 2, 3, 4
KEPT = 0.5  # of (2)
_F, _GT, _GTT, _RATE, _V, _A, _MA = (SLOT[k] for k in ("f", "gt", "gtt", "rate", "v", "a", "Ma"))


def kind_of(element: "Element") -> int:
    """Kind of action of an element that is not conservative; 0 for others."""
    kernels = element.kernels
    if element.role == "constraint":
        return DRIVER if "rheonomic" in kernels else 0
    if element.role == "friction":
        return MOVED if cast("FrictionRow", element).moved else 0
    if element.role != "dynamic":
        return 0
    potential = "energy" in kernels and element.conservative and not element.signals
    return 0 if potential or not ("force" in kernels or element.python_kernels) else FORCE


def external(system: "CompiledSystem") -> tuple[np.ndarray, int]:
    """Groups of elements that are not conservative, and how many numbers are kept of these.

    Returns
    -------
    table : (k, 3) int64
        Number of the group, kind, where its numbers begin.
    count : int
    """
    table, count = [], 0
    for number in system.added:
        group = system.groups[number]
        # of the elements of one type some may be conservative: (1) is right for these as well
        kind = max((kind_of(element) for element in group.elements), default=0)
        if kind:
            sizes = group.sizes
            speeds = 2 * cast("FrictionRow", group.elements[0]).directions if kind == MOVED else 0
            each = {FORCE: sizes["nd"] + 1, DRIVER: 2 * sizes["nr"], MOVED: speeds}[kind]
            table.append((number, kind, count))
            count += group.n * each
    for number, group in weights(system):
        table.append((number, WEIGHT, count))
        count += group.n * group.sizes["nd"]
    return np.array(table, np.int64).reshape(-1, 3), count


def weights(system: "CompiledSystem") -> list[tuple[int, "Group"]]:
    """Groups of elements with mass, and their numbers, where gravity changes in time; none where it does not."""
    if system.field is None:
        return []
    groups = [(k, group) for k, group in enumerate(system.groups) if not group.searched]
    return [(k, g) for k, g in groups if "inertia" in {*g.calls, *g.callbacks} and not g.elements[0].abstract]


def explained(system: "CompiledSystem") -> bool:
    """True if all that depends on given functions of time is among (1): masses and surfaces that do are not."""
    timed = (element for element in system.elements if element.signals and element.role != "friction")
    return all(kind_of(element) and "inertia" not in element.kernels for element in timed)


def gaps_are_given(system: "CompiledSystem") -> bool:
    """True if constraints or gaps depend on given functions of time, so that a pose may be allowed at one time only."""
    rows = (element for element in system.elements if element.role in ("constraint", "contact"))
    return any(element.signals or "rheonomic" in element.kernels for element in rows)


@kernel
def mean_velocities(d, s):
    """Fill s.trial with (q − q_n)/h: increments of the accepted step over its size."""
    turns = integers(d.turns_at, d.n_nodes)
    back, turned, psi = local_vector(4), local_vector(4), local_vector(3)
    for i in range(d.n_nodes):
        for j in range(3):
            s.trial[i, j] = (s.x[i, j] - s.x0[i, j]) / s.h
            s.trial[i, 3 + j] = 0.0
        if turns[i]:
            back[0] = s.Q0[i, 0]
            for j in range(3):
                back[1 + j] = -s.Q0[i, 1 + j]
            quaternion_multiply(back, s.Q[i], turned)
            quaternion_log(turned, psi)
            for j in range(3):
                s.trial[i, 3 + j] = psi[j] / s.h


@kernel
def power_of(d, g, e, force, V):
    """Power [W] of an element's forces (nd,) at velocities V (N, 6). Rates of states of first order have none."""
    nodes, states = integer_matrix(g.nodes_at, g.n, g.nn), integers(d.states_at, d.n_nodes)
    total = 0.0
    for a in range(g.nn):
        if states[nodes[e, a]] != 0:
            continue
        for j in range(g.width):
            total += force[g.width * a + j] * V[nodes[e, a], j]
    return total


@kernel
def largest_power(d, g, e, force, s):
    """Largest power [W] of forces (nd,) at the velocities of the step."""
    ends = max(power_of(d, g, e, force, s.V0), power_of(d, g, e, force, s.V))
    return max(ends, max(power_of(d, g, e, force, s.Vs), power_of(d, g, e, force, s.trial)))


@kernel
def work_of_force(d, g, e, b, s, kept):
    """(1) of a FORCE [J]; keeps its forces and its energy."""
    p, f = g.parameters_at + e * g.stride, vector(b[_F], g.nd)
    gather(d, g, e, b, s.x, s.R, s.V, s.V)
    zero(b[_F], g.nd)
    call2(g.force, p, d.table_at)
    most = max(largest_power(d, g, e, f, s), largest_power(d, g, e, kept, s))
    for i in range(g.nd):
        kept[i] = f[i]
    before = kept[g.nd]
    if g.energy != 0:
        kept[g.nd] = stored_energy(d, g, p, b)
    return s.h * most + kept[g.nd] - before


@kernel
def weight_of(d, g, e, b, s):
    """Evaluate the weight of an element into the workspace, as force: what its inertia gives at rest."""
    gather(d, g, e, b, s.x, s.R, s.V, s.V)
    for argument in (_V, _A, _F, _MA):
        zero(b[argument], g.nd)
    call2(g.inertia, g.parameters_at + e * g.stride, d.table_at)


@kernel
def work_of_weight(d, g, e, b, s, kept):
    """(1) of a WEIGHT [J]; keeps it."""
    weight_of(d, g, e, b, s)
    f = vector(b[_F], g.nd)
    most = max(largest_power(d, g, e, f, s), largest_power(d, g, e, kept, s))
    for i in range(g.nd):
        kept[i] = f[i]
    return s.h * most


@kernel
def work_of_driver(d, g, e, b, s, kept):
    """(1) of a DRIVER [J]; keeps ∂g/∂t and multipliers."""
    gather(d, g, e, b, s.x, s.R, s.V, s.V)
    zero(b[_GT], g.nr)
    zero(b[_GTT], g.nr)
    zero(b[_RATE], g.nr * g.nd)
    call2(g.rheonomic, g.parameters_at + e * g.stride, d.table_at)
    gt = vector(b[_GT], g.nr)
    new_new = new_old = old_new = old_old = 0.0  # impulses with λ~ of the end or of the start, ∂g/∂t likewise
    for i in range(g.nr):
        row = g.first_row + e * g.nr + i
        smooth = s.ks * s.lam[row]
        new = s.h * s.lam_report[row]
        old = new + s.h * (kept[g.nr + i] - smooth)
        new_new, new_old = new_new - new * gt[i], new_old - new * kept[i]
        old_new, old_old = old_new - old * gt[i], old_old - old * kept[i]
        kept[i], kept[g.nr + i] = gt[i], smooth
    return max(max(new_new, new_old), max(old_new, old_old))


@kernel
def work_of_friction(g, e, s, kept):
    """(1) of a MOVED [J]; keeps friction and speed. What slides against its surface takes energy: γ plays no part."""
    n, most, fastest = directions_of(g), 0.0, 0.0
    head = friction_of(g, n * e)
    new_new = new_old = old_new = old_old = 0.0  # friction and speed of the end or of the start
    for k in range(n):
        state = friction_of(g, n * e + k)
        force = state.force if s.step_number == 0 and state.pass_number < 0.0 else state.impulse / s.h
        speed = -state.given_rate
        fastest = max(fastest, max(abs(speed), abs(kept[n + k])))
        new_new, new_old = new_new + force * speed, new_old + force * kept[n + k]
        old_new, old_old = old_new + kept[k] * speed, old_old + kept[k] * kept[n + k]
        kept[k], kept[n + k] = force, speed
    if head.event_fraction > 0.0:
        most = coefficients_of(g, n * e).static * head.normal_force * fastest
    return s.h * max(most, max(max(new_new, new_old), max(old_new, old_old)))


@kernel
def count_of(g, kind):
    """Number of what is kept of each element of a group, as `external` counts it."""
    if kind == FORCE:
        return g.nd + 1
    if kind == DRIVER:
        return 2 * g.nr
    return g.nd if kind == WEIGHT else 2 * directions_of(g)


@kernel
def external_work(d, s):
    """Sum of w⁺ of (1) over the elements [J]; keeps what the next step needs of them.

    The functions of time have the values of the end of the step, the run holds an accepted step.
    """
    b, groups, total = integers(d.table_at, N_SLOTS), groups_of(d), 0.0
    mean_velocities(d, s)
    for k in range(s.external.shape[0]):
        g, kind, at = groups[s.external[k, 0]], s.external[k, 1], s.external[k, 2]
        each = count_of(g, kind)
        on = switches_of(g)
        for e in range(g.n):
            kept = s.efforts[at + e * each : at + (e + 1) * each]
            if on[e] == 0:
                continue  # `switch` finds anew what is kept
            if kind == FORCE:
                work = work_of_force(d, g, e, b, s, kept)
            elif kind == MOVED:
                work = work_of_friction(g, e, s, kept)
            elif kind == WEIGHT:
                work = work_of_weight(d, g, e, b, s, kept)
            else:
                work = work_of_driver(d, g, e, b, s, kept)
            total += max(work, 0.0)
    return total


@entry("void(int64, int64)")
def work(data, run):
    """Set ``s.step_work`` to `external_work`."""
    s = run_at(run)[0]
    s.step_work = external_work(system_at(data)[0], s)


@kernel
def allow_work(s):
    """Add what loads and drivers explain of the energy after an accepted step, (2)."""
    call2(s.work_part, s.data_at, s.run_at)
    s.recent_work = s.step_work + KEPT * s.recent_work
    s.allowed_work += s.recent_work
    s.given_work += s.step_work


class ExternalWork(Monitor):
    """Bound (2) of the work of loads and drivers; the checks of a step call its compiled part."""

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        self.groups, self.efforts = external(self.system)

    def sizes(self) -> dict[str, int]:
        """Return numbers of groups and of what is kept of their elements."""
        return {"nx": len(self.groups), "ne": self.efforts}

    def start(self) -> None:
        """Set the groups, and the part, which models without loads and drivers do not need."""
        self.engine.arrays["external"][:] = self.groups
        run = self.engine.run[0]
        run["watched"] = explained(self.system)
        if len(self.groups):
            run["work_part"] = work.address
