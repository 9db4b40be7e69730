"""The monitors of all runs, in the order of their warnings. A new one is a line in this list.

`register` adds monitors that are not part of this package, see docs/writing_a_monitor.md.
"""

from fem_mbs.solvers.stepping.monitors.creep_watch import CreepWatch
from fem_mbs.solvers.stepping.monitors.depth_watch import DepthWatch
from fem_mbs.solvers.stepping.monitors.external_work import ExternalWork
from fem_mbs.solvers.stepping.monitors.extremes import ExtremesWatch
from fem_mbs.solvers.stepping.monitors.jumps import JumpWatch
from fem_mbs.solvers.stepping.monitors.ledger import Ledger
from fem_mbs.solvers.stepping.monitors.load_watch import LoadWatch
from fem_mbs.solvers.stepping.monitors.loss_watch import LossWatch
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.solvers.stepping.monitors.run_warnings import RunWarnings
from fem_mbs.solvers.stepping.monitors.strain_watch import StrainWatch
from fem_mbs.solvers.stepping.monitors.surface_watch import SurfaceWatch

MONITORS: list[type[Monitor]] = [
    ExternalWork,
    Ledger,
    JumpWatch,
    RunWarnings,
    DepthWatch,
    LossWatch,
    CreepWatch,
    ExtremesWatch,
    LoadWatch,
    StrainWatch,
    SurfaceWatch,
]


def register(kind: type[Monitor]) -> type[Monitor]:
    """Let all runs that begin from now on have a monitor, in place of one of the same name; a decorator."""
    MONITORS[:] = [known for known in MONITORS if known.__name__ != kind.__name__] + [kind]
    return kind
