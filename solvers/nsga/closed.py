"""Parts of a step that only `persistent_contacts` and split impacts have: compiled for those alone, called by address.

A run with default options does without a tenth of the code of this folder. Answers are in the record of the method.

Source: docs/theory/decoupled_nsga.md, (25)-(32); docs/theory/split_impacts.md.
"""

import math

from fem_mbs.jit import call2, entry
from fem_mbs.solvers.contact.law_rows import add_squares
from fem_mbs.solvers.nsga import stiction_tasks
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.nsga.entry import decide_closed, leave_cones
from fem_mbs.solvers.nsga.momentum import force_vectors, momentum
from fem_mbs.solvers.nsga.persistent import closed_forces, closed_tangents, sliding_directions
from fem_mbs.solvers.nsga.split import stops
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.assembly import advance_configuration
from fem_mbs.system.contacts import contacts

BEGIN = 0  # of a step: keep the multipliers of closed contacts
PREDICTED = 1  # directions of sliding at the predicted configuration
FORCES = 2  # of closed contacts, and their rows; norms in ``o.missing`` and ``s.row_T``
TANGENTS = 3  # added to the matrix of the smooth sub-problem
LEAVE = 4  # ``o.answer``: contacts have left their cones
END = 5  # of a step: which contacts are closed from now on. ``o.answer``: the memory starts again
STOP = 6  # ``o.answer``: the step ends before its velocity correction, see `nsga.split`


@entry("void(int64, int64)")
def closed_part(run, task):
    """Perform ``task``, one of the numbers above."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    if task == BEGIN:
        copy(o.clam, o.clam0)
    elif task == PREDICTED:
        advance_configuration(d, s.x0, s.Q0, s.D, s.xs, s.Qs, s.Rs, s.T)
        contacts(d, s.xs, s.Rs, s.x0, s.R0, s.Vs)
        sliding_directions(d, s, o, s.Vs, True)
        if s.stiction_part != 0:
            call2(s.stiction_part, run, stiction_tasks.PREDICTED)
    elif task == FORCES:
        contacts(d, s.xs, s.Rs, s.x0, s.R0, s.Vs)
        closed_forces(d, s, o, s.Vs, s.Gl, o.Gw, s.rows_c)
        force_vectors(d, s, o, o.clam, s.ks, s.Vs, o.cforce)
        missing_N, missing_T = add_squares(s.rows_c, 0.0)
        o.missing, s.row_T = math.sqrt(missing_T), math.sqrt(missing_N)
    elif task == TANGENTS:
        closed_tangents(d, s, o, s.xs, s.Rs, s.Vs, s.ks, s.epsilon, o.c_q, s.T)
    elif task == LEAVE:
        o.answer = 1 if leave_cones(d, s, o, s.rtol * s.F_s / s.ks) else 0
    elif task == END:
        momentum(d, s, o)
        changed, kept = decide_closed(d, s, o)
        # the memory holds the forces of closed contacts: an impact, which turns slips, makes it wrong
        o.answer = 1 if changed or (s.struck != 0 and kept) else 0
    else:
        o.answer = 1 if stops(d, s, o) else 0
