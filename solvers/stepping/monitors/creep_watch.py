"""Nodes whose positions part from the integral of their velocities: position corrections displace them in every step.

Of a step, for translation and rotation of each node, with d its displacement or its rotation vector in body axes,

    r = d − ½ h (v_n + v_{n+1})                                                                                     (1)

is what the velocities do not explain. In smooth motion, at impacts and with vibrations that steps do not resolve it is
below h |v_{n+1} − v_n| of the step and its neighbours, and its sum stays bounded. A node creeps in a window of n = 20
steps where r adds up and is not that of a few steps,

    |Σ r| > Σ h ( 3 |v_{n+1} − v_n| + |v_{n+1}|/50 )    and   |Σ r| > ¼ n max |r| .                                  (2)

The sums of such windows are added up over the run. A warning is due where one is longer than 1e-4 of the size of the
model, or of 1 rad. A jump of a driver, the projection of the initial state and a single impact are no creep.

Source: docs/theory/accepted_steps.md, (14), (15).
"""

import math

import numpy as np
from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.errors import label
from fem_mbs.jit import entry, kernel, void_pointer
from fem_mbs.solvers.stepping.kernels.data import run_at
from fem_mbs.solvers.stepping.monitors.monitor import Monitor

WINDOW = 20  # n of (2), steps
CHANGE = 3.0  # of (2): a step and its neighbours
KNOWN = 0.02  # of velocities, (2): less is an error of first order of the method
FEW = 0.25  # of (2)
SMALL = 1e-8  # of rotations
ROUND_OFF = 1e-12  # of the size of the positions: less in a window is none
SHARE = 1e-4  # of the size of the model, of 1 rad: displacements that are reported
IN_GROUPS = 10.0  # times that with contact groups, whose bodies settle by corrections within contact_tolerance
TABLE = Table(
    "creep of nodes",
    {  # of translations and rotations of nodes
        "creep": Item("N 2 5", "of a window: Σ r (3), right-hand side of (2), square of the largest r", kept=True),
        "crept": Item("N 2 5", "sums of windows (2): of r (3), of their durations; time of the first", kept=True),
        "creep_steps": Item("", "steps of the window", "i8", kept=True),
        "creep_time": Item("", "duration of the window", kept=True),
    },
)
_CREEP = TABLE.dtype


@kernel
def _add(s, sums, i, k, dx, dy, dz):
    """Add (1) to the sums of node i: k = 0 displacement, 1 rotation."""
    V0, V = s.V0, s.V
    a0, a1, a2 = V0[i, 3 * k], V0[i, 3 * k + 1], V0[i, 3 * k + 2]
    b0, b1, b2 = V[i, 3 * k], V[i, 3 * k + 1], V[i, 3 * k + 2]
    half = 0.5 * s.h
    x, y, z = dx - half * (a0 + b0), dy - half * (a1 + b1), dz - half * (a2 + b2)
    sums[i, k, 0] += x
    sums[i, k, 1] += y
    sums[i, k, 2] += z
    change = math.sqrt((b0 - a0) ** 2 + (b1 - a1) ** 2 + (b2 - a2) ** 2)
    sums[i, k, 3] += s.h * (CHANGE * change + KNOWN * math.sqrt(b0 * b0 + b1 * b1 + b2 * b2))
    sums[i, k, 4] = max(sums[i, k, 4], x * x + y * y + z * z)


@kernel
def _end_window(s, own):
    """Add the sums of nodes that creep, (2), to those of the run, and begin a new window."""
    sums, total = own.creep, own.crept
    for i in range(sums.shape[0]):
        for k in range(2):
            far = math.sqrt(sums[i, k, 0] ** 2 + sums[i, k, 1] ** 2 + sums[i, k, 2] ** 2)
            few = FEW * own.creep_steps * math.sqrt(sums[i, k, 4])
            if far > sums[i, k, 3] and far > few and far > ROUND_OFF * (s.scale_x if k == 0 else 1.0):
                if total[i, k, 3] == 0.0:
                    total[i, k, 4] = s.t - own.creep_time
                total[i, k, 3] += own.creep_time
                for j in range(3):
                    total[i, k, j] += sums[i, k, j]
            for j in range(5):
                sums[i, k, j] = 0.0
    own.creep_steps, own.creep_time = 0, 0.0


@entry("void(int64, int64)")
def creeps(data, run):
    """Add a step to the window, (1)."""
    s = run_at(run)[0]
    if s.step_number == 0:
        return
    own = carray(void_pointer(s.monitor_at), (1,), _CREEP)[0]
    x0, x, Q0, Q, sums = s.x0, s.x, s.Q0, s.Q, own.creep
    for i in range(x.shape[0]):
        _add(s, sums, i, 0, x[i, 0] - x0[i, 0], x[i, 1] - x0[i, 1], x[i, 2] - x0[i, 2])
        q0, q1, q2, q3 = Q0[i, 0], Q0[i, 1], Q0[i, 2], Q0[i, 3]
        p0, p1, p2, p3 = Q[i, 0], Q[i, 1], Q[i, 2], Q[i, 3]
        # vector part of the rotation from Q0 to Q, |sin| of half its angle
        e1 = q0 * p1 - q1 * p0 - q2 * p3 + q3 * p2
        e2 = q0 * p2 + q1 * p3 - q2 * p0 - q3 * p1
        e3 = q0 * p3 - q1 * p2 + q2 * p1 - q3 * p0
        sine = math.sqrt(e1 * e1 + e2 * e2 + e3 * e3)
        angle = 2.0 * math.asin(min(sine, 1.0)) / sine if sine > SMALL else 2.0
        if q0 * p0 + q1 * p1 + q2 * p2 + q3 * p3 < 0.0:
            angle = -angle
        _add(s, sums, i, 1, angle * e1, angle * e2, angle * e3)
    own.creep_steps += 1
    own.creep_time += s.h
    if own.creep_steps == WINDOW:
        _end_window(s, own)


class CreepWatch(Monitor):
    """Nodes that move otherwise than their velocities say."""

    table = TABLE
    after_step = creeps

    def warnings(self) -> list[str]:
        """Return the warning of nodes that moved by more than `SHARE` beyond the integral of their velocities."""
        total, size = self.engine.arrays["crept"], self.system.size
        shares = np.linalg.norm(total[:, :, :3], axis=2) / (SHARE * (IN_GROUPS if self.system.searches else 1.0))
        shares[:, 0] /= size
        worst = shares.max(axis=1, initial=0.0)
        count = int((worst > 1.0).sum())
        if not count:
            return []
        i = int(np.argmax(worst))
        k = int(np.argmax(shares[i]))
        far, (lasting, since) = float(np.linalg.norm(total[i, k, :3])), total[i, k, 3:]
        since = since if abs(since) > 1e-9 * lasting else 0.0  # the start of the run, to round-off
        what = f"was displaced by {far:.3g} m" if k == 0 else f"rotated by {far:.3g} rad"
        others = "" if count == 1 else f", as {count - 1} more node{'s were' if count > 2 else ' was'}"
        return [
            f"{label(self.system.nodes[i])} {what} in {lasting:.3g} s beyond the integral of its velocity, from "
            f"t = {since:.6g} s on{others}: corrections of positions move it in every step. Likely cause: "
            f"{_cause(self.engine)}"
        ]


def _cause(engine):
    """Most likely cause of the creep, and its remedy."""
    method, system = engine.method, engine.system
    cure = method.smaller_steps(system)
    if system.searches and not engine.contacts_come:
        return f"gaps of a contact group that corrections close, not velocities. {cure}, or reduce contact_tolerance"
    if engine.jumps.warnings():
        return "a driver whose rate is not the derivative of its function"
    if not engine.contacts_come:
        return f"joints whose positions and velocities contradict each other, redundant ones above all. {cure}"
    if method.persistent_contacts is None:
        cure += ", or use DecoupledNSGA"
    elif not (system.searches or method.keeps_contacts(system)):
        cure += ", or use persistent_contacts=True"
    return f"contacts press on what joints hold by velocities alone, or open and close in turn. {cure}"
