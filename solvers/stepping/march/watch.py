"""Sensors and events in compiled code: values at the present state, and crossings after every step.

An event is crossed in a step when it is armed and φ = value − level has changed its sign in its direction,

    φ_n < 0 ≤ φ_{n+1}   (upwards)   or   φ_n > 0 ≥ φ_{n+1}   (downwards)                                           (3)

One that is on its level when the run begins, |φ_0| ≤ ε to round-off, has no side that it comes from: it is crossed
where it leaves the level in its direction,

    φ_{n+1} > ε   (upwards)   or   φ_{n+1} < −ε   (downwards) .                                                    (5)

Left in the other direction it is armed as any other. One that waits is armed again by |φ| > dead band. Steps then
stop; where the crossing is, `stepping.march.crossing` finds.

Source: docs/theory/events.md, (3) and (5).
"""

from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, integers, kernel, vector
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.gather import gather
from fem_mbs.system.records import groups_of

SPENT, ARMED, WAITS, BEGINS = 0, 1, 2, 3  # of events; BEGINS: armed, and on its level since the start of the run
_OUT, _LAM = SLOT["out"], SLOT["lam"]


@kernel
def measure_sensors(d, s):
    """Fill s.measured with the outputs of elements that s.sensors names, at the end of the last step."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    struck = False
    for c in range(d.nc):
        struck = struck or s.impact[c] != 0
    for i in range(d.n_nodes):
        for j in range(6):  # as in `run.record`
            s.trial[i, j] = s.Vd[i, j] + (0.0 if struck else s.W[i, j] / s.h)
    for k in range(s.sensors.shape[0]):
        if s.sensors[k, 0] < 0:
            continue
        g, e = groups[s.sensors[k, 0]], s.sensors[k, 1]
        out, lam = vector(b[_OUT], g.no), vector(b[_LAM], max(g.nr, 1))
        gather(d, g, e, b, s.x, s.R, s.V, s.trial)
        for j in range(g.nr):
            lam[j] = s.lam_report[g.first_row + e * g.nr + j]
        for j in range(g.no):
            out[j] = 0.0
        call2(g.output, g.parameters_at + e * g.stride, d.table_at)
        s.measured[k] = out[s.sensors[k, 2]]


@kernel
def is_crossed(armed, last, phi, direction, near):
    """Whether an event is crossed between φ_n = ``last`` and φ_{n+1} = ``phi``, (3) or (5) with ε = ``near``."""
    if armed == BEGINS:
        return (phi > near and direction >= 0) or (phi < -near and direction <= 0)
    return armed == ARMED and ((last < 0.0 <= phi and direction >= 0) or (last > 0.0 >= phi and direction <= 0))


@entry("void(int64, int64)")
def measure(data, run):
    """`measure_sensors` as a part."""
    measure_sensors(system_at(data)[0], run_at(run)[0])


@entry("void(int64, int64)")
def watch(data, run):
    """Look at the events after a step, (3)."""
    s = run_at(run)[0]
    measure_sensors(system_at(data)[0], s)
    if s.ask_part != 0:
        call2(s.ask_part, data, run)  # conditions in Python
    for i in range(s.events.shape[0]):
        phi, armed = s.measured[s.events[i, 0]] - s.event_level[i, 0], s.event_armed[i]
        if is_crossed(armed, s.event_phi[i], phi, s.events[i, 1], s.event_level[i, 2]):
            s.crossed = 1
        elif abs(phi) > s.event_level[i, 2 if armed == BEGINS else 1] and armed != SPENT:
            s.event_armed[i] = ARMED
        s.event_phi[i] = phi
