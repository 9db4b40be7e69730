"""Data of a run that all methods share: one table of arrays and numbers, and its record in compiled code.

A method adds a table of its own (its class attribute ``table``), whose record is at ``s.own_at``. Shared parts know
only the record of this table, so that they are compiled once for all methods.

Symbols as in docs/theory/decoupled_nsga.md; ~ marks the smooth part, arrays of nodes are (N, 6).

    symbol    code        meaning
    q_n, v_n  x0 Q0 R0 V0 start of the step             q~, v~    xs Qs Rs Vs   motion before the corrections
    q, v      x Q R V     current (corrected) values    v̇~, a     Vd of the step, Va0 of the last
    D, U, W   D, U, W     increments of the smooth motion, of the position and of the velocity correction
    λ~, ν, Λ  lam, nu, Lam  bilateral multipliers, divided by k_s, k_p, k_v
    ν, Λ      cnu, cLam (nc, 6)  contact multipliers, the same; moments are divided by an arm too, see contact.law_rows
    P         P           impulses of earlier problems of an impact sequence
              xt Qt Rt    poses on the path of the step, see contact.sweep
              aLam (nc, 6)  contact impulses that act in the problem, N s and N m s
              sent (nc, 6)  momentum that contacts hand over in the step, if not their impulses
"""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer
from fem_mbs.system.records import DATA

# C functions that parts call each other through: a part is then compiled on its own, not again inside its callers
PARTS = (
    "advance step position record check sweep settle newton grains work passage friction measure watch ask stiction"
).split()
PROBLEMS = "position velocity".split()  # what Newton's iteration solves, see stepping.newton

_LAST = "of the last step, where Newton's iteration starts"
_SCRATCH = "scratch"

COUNTS = {  # of a step
    "smooth_iterations": "of the smooth motion",
    "position_iterations": "of the position correction",
    "velocity_iterations": "of the impact problems, the most of one",
    "impact_problems": "impact problems solved",
    "repeats": "number of times that the step was repeated with other penalties",
    "history_length": "residual norms in `history`",
    "failed_problem": "sub-problem that is solved, or has failed",
    "handed_problems": "sub-problems solved by the contact-problem solver",
}

# N nodes, full = 6 N, m constraint rows, nc contacts, u unknowns of the largest matrix, ni instants, ns signals,
# nx groups of elements that are not conservative, ne efforts of these, nm numbers of sensors, nw events; nl, nk, nt
# of the energy balance; nd contacts not of contact groups; na monitors with a part after each step
TABLE = Table(
    "run",
    {
        # configurations and velocities
        "x": Item("N 3", "positions", kept=True),
        "Q": Item("N 4", "rotations, quaternions", kept=True),
        "R": Item("N 3 3", "rotations, matrices", kept=True),
        "V": Item("N 6", "velocities", kept=True),
        "x0": Item("N 3", "at the start of the step"),
        "Q0": Item("N 4", "at the start of the step"),
        "R0": Item("N 3 3", "at the start of the step"),
        "V0": Item("N 6", "at the start of the step"),
        "xs": Item("N 3", "of the smooth sub-problem"),
        "Qs": Item("N 4", "of the smooth sub-problem"),
        "Rs": Item("N 3 3", "of the smooth sub-problem"),
        "Vs": Item("N 6", "of the smooth sub-problem"),
        "Vd": Item("N 6", "v̇~", kept=True),
        "Va0": Item("N 6", "a of the last step", kept=True),
        "xt": Item("N 3", "at the touch of swept contacts"),
        "Qt": Item("N 4", "at the touch of swept contacts"),
        "Rt": Item("N 3 3", "at the touch of swept contacts"),
        "D": Item("N 6", "increment of the smooth sub-problem"),
        "U": Item("N 6", "increment of the position correction"),
        "W": Item("N 6", "increment of the velocity correction", kept=True, scaling=1),
        "T": Item("N 3 3", "tangent operators of increments"),
        "trial": Item("N 6", _SCRATCH),
        "Vp": Item("N 6", "velocities that forces of the position correction are taken at"),
        "Vminus": Item("N 6", "velocities before the impact problem"),
        "Vsminus": Item("N 6", "velocities before the first impact problem of the step"),
        "Ad": Item("N 6", "accelerations at which M(q) is differentiated"),
        # forces, full vectors
        "Ma": Item("full", "M v̇~"),
        "f": Item("full", "forces of the smooth sub-problem"),
        "r1": Item("full", "dynamic rows of the residual"),
        "force": Item("full", _SCRATCH),
        "base": Item("full", "f(q~, v~) + G(q~)ᵀ k_s λ~"),
        "base_v": Item("full", "the same with forces of closed contacts, less M v̇~"),
        "P": Item("full", "impulses of earlier problems of an impact sequence"),
        "Gl": Item("full", "Gᵀ k_s λ~"),
        "fs": Item("full", "forces at the end of the smooth sub-problem", kept=True),
        "Mas": Item("full", "M v̇~ there"),
        # constraints
        "g": Item("m", "g"),
        "rate": Item("m", "ġ, or rows of the velocity problem"),
        "lam": Item("m", "λ~, divided by k_s", kept=True, scaling=1),
        "nu": Item("m", "ν, divided by k_p", kept=True),
        "Lam": Item("m", "Λ, divided by k_v", kept=True),
        "phi": Item("m", "forces in the tangents, or convective terms"),
        "lam_report": Item("m", "reactions that are saved", kept=True),
        "lam_lasting": Item("m", "the part of them that is no impulse, before the memory starts again"),
        "keep_m": Item("m", "multipliers before a line search"),
        "jump_m": Item("m", "impulses of switches as the step begins, see stepping.switch_jump", kept=True),
        # contacts
        "cnu": Item(
            "nc 6", "ν of contacts, divided by k_p and arms; of moments that of drilling", kept=True, scaling=2
        ),
        "cLam": Item("nc 6", "Λ of contacts, divided by k_v and arms", kept=True),
        "total_Lam": Item("nc 6", f"impulses [N s], [N m s] {_LAST}", kept=True, scaling=1),
        "keep_c": Item("nc 6", "multipliers before a line search"),
        "aLam": Item("nc 6", "impulses that act in the problem [N s], [N m s]"),
        "sent": Item("nc 6", "momentum of the step from contacts, with persistent contacts [N s], [N m s]"),
        # since the last saved state, inertial axes, see stepping.unsaved
        "unsaved": Item("nc 3", "impulses of contacts [N s]", kept=True),
        "unsaved_chi": Item("nc 3", "moment impulses of contacts [N m s]", kept=True),
        "waiting": Item("nc", "0: none, 1: impulses, 2: impulses of an impact", "i8", kept=True),
        "counted": Item("3", "impact problems, repeats, sub-problems of the contact-problem solver", "i8", kept=True),
        "rows_c": Item("nc 6", "rows of contacts"),
        "missed": Item("nc 2", "energy [J] that an impact of the step lost against its law, its approach [m/s]"),
        "bias": Item("nc", "added to normal velocities by a law that is `biased`"),
        # what is not conservative, see stepping.external_work
        "external": Item("nx 3", "groups of elements: number, kind, first of their efforts", "i8"),
        "efforts": Item("ne", "forces, energies, ∂g/∂t, multipliers at the last end", kept=True),
        # sensors and events, see stepping.watch
        "sensors": Item("nm 3", "group, number of the element, place among its outputs; −1: a function", "i8"),
        "measured": Item("nm", "values of sensors"),
        "events": Item("nw 2", "sensor of an event, direction of its crossings", "i8"),
        "event_level": Item("nw 3", "its level, its dead band, round-off of its level"),
        "event_phi": Item("nw", "value less level after the last step", kept=True),
        "event_armed": Item("nw", "whether it fires", "i8", kept=True),
        # the energy balance, see stepping.ledger, and momentum
        "booked": Item("nl 4", "groups of elements: number, kind, first of their kept numbers, first line", "i8"),
        "booked_before": Item("nk", "what is kept of them from the last end", kept=True),
        "works": Item("nt", "work of each line since the start", kept=True),
        "unkept": Item("nd 2", "what impacts have lost against their law [J], largest approach [m/s]", kept=True),
        "monitors": Item("na 2", "addresses of their parts after each step, of their records", "i8"),
        "pair_line": Item("", "line of the contacts of contact groups, −1: without", "i8"),
        "swept_line": Item(
            "", "line of the work of a contact group that the Gauss-Seidel solver takes, −1: none", "i8"
        ),
        "spatial": Item("N", "whether the node has a place", "i8"),
        "lasting": Item("", "the method has lam_lasting: its impulses act after the smooth motion", "i8"),
        "from_start": Item("", "impulses act on the velocities at the start of the step", "i8"),
        # linear systems
        "r": Item("u", "right-hand side"),
        "dx": Item("u", "solution"),
        "border_of": Item("3 2", "their group and number in it; how many", "i8"),
        "border": Item("nb u", "columns of active contacts, see contact.border"),
        "history": Item("64", "residual norms, for the diagnosis of a failed step"),
        # statuses, see nsga.entry
        "active": Item("nc", "status of the position correction", "i8"),
        "candidate": Item("nc", "takes part in the impact problem", "i8"),
        "status": Item("nc", "GAP, STICK, SLIP or CLOSED in the sub-problem", "i8"),
        "acted": Item("nc", "status that is saved", "i8", kept=True),
        "turning": Item("nc", "status of rolling and spinning", "i8"),
        "closed": Item("nc", "status in the smooth motion; GAP: its force is left to the corrections", "i8", kept=True),
        "impact": Item("nc", "took part in an impact of the step", "i8", kept=True),
        "held": Item("nc", "joints alone prescribe its gap, see contact.position_rows.left_open", "i8", kept=True),
        "touching": Item("nc", "open contact that closes in the step, of an impact that is split", "i8"),
        "was_active": Item("nc", "carried an impulse in the last step", "i8", kept=True),
        **{name: Item("", meaning, "i8") for name, meaning in COUNTS.items()},
        # the step and the method
        "guessed": Item("", "the problem starts with a guess from earlier steps", "i8"),
        "instants": Item("ni", "parts of a step at which signals are given, see stepping.run.go_to"),
        "signals": Item("ni ns 3", "signals at these instants, with their first and second derivatives"),
        "h": Item("", "step size"),
        "t": Item("", "time at the end of the step", kept=True),
        "turned": Item("", "bound of turns since they were counted [rad], see stepping.accept", kept=True),
        "far": Item("", "contacts that are far from closing are not evaluated, see system.far_contacts", "i8"),
        "counting": Item("", "elements have multi-turn angles for their outputs", "i8"),
        "ks": Item("", "k of the smooth sub-problem"),
        "kp": Item("", "k of the position correction"),
        "kv": Item("", "k of the velocity correction"),
        "pp": Item("", "p of the position correction"),
        "pv": Item("", "p of the velocity correction"),
        "epsilon": Item("", "proximal shift, relative"),
        "rtol": Item("", "relative tolerance"),
        "tol_v": Item("", "approach speeds below it are no impacts"),
        "slow": Item("", "speeds of joints below it are those of rest"),
        "rest_speed": Item("", "likewise of contacts that were closed before, in methods that do not hold them at 0"),
        "mean_mass": Item("", "of the moving nodes"),
        "lightest": Item("", "smallest mass of a moving component, moments of inertia over length²"),
        "length": Item("", "turns moments into forces"),
        "F_s": Item("", "size of the forces"),
        "size": Item("", "of the model, turns angles into lengths"),
        "scale_x": Item("", "size of the positions, at least that of the model", kept=True),
        "scale_v": Item("", "size of the velocities [m/s], angular ones times that of the model", kept=True),
        "position_factor": Item("", "c_p"),
        # Newton's iteration, see stepping.newton
        "merit": Item("", "norm of the residual"),
        "before": Item("", "the same of the iteration before"),
        "statuses": Item("", "number of the statuses of contacts there", "i8"),
        "bound": Item("", "norms up to it are accepted along a Newton step"),
        "tolerance": Item("", "norm of the dynamic rows that is small enough"),
        "scale": Item("", "part of the Newton step that is tried"),
        "allowed": Item("", "bound of |U|², see contact.position"),
        "lent_c": Item("", "c of the factors in matrix SMOOTH that problems may borrow, 0: none"),
        "lent_k": Item("", "their k, see stepping.shared_factors"),
        "lent_old": Item("", "they are of an earlier step", "i8"),
        "old_more": Item("", "iterations that their borrowers took more for that", "i8"),
        "most": Item("", "iterations that the problem may take", "i8"),
        "iteration": Item("", "iterations taken", "i8"),
        "number": Item("", "matrix that is assembled", "i8"),
        "solving": Item("", "record of the problem that is solved", "i8"),
        "solved": Item("", "the last residual is small enough", "i8"),
        "dynamic": Item("", "norm of the dynamic rows"),
        "row": Item("", "norm of constraint and gap rows"),
        "row_T": Item("", "norm of friction rows"),
        "exact": Item("", "accuracy of constraints and gaps"),
        "pp_T": Item("", "p of friction in the position correction"),
        "pv_T": Item("", "p of friction in the velocity correction"),
        "epsilon_rows": Item("", "proximal shift of constraint rows, relative"),
        "restitution_scale": Item("", "part of the restitution that acts, see contact.restitution"),
        "allowed_energy": Item("", "rise that is allowed since the last look, see stepping.checks", kept=True),
        "allowed_work": Item("", "of that, what loads and drivers may have given", kept=True),
        "recent_work": Item("", "of loads and drivers that may have entered in a step", kept=True),
        "step_work": Item("", "of the last step, by work_part"),
        "given_work": Item("", "largest that loads and drivers have given since the start", kept=True),
        "left_energy": Item("", "what tolerances may have left since the last look", kept=True),
        "all_left": Item("", "the same since the start", kept=True),
        "last_energy": Item("", "energy when it was last looked at", kept=True),
        "looked": Item("", "number of the step after which that was", "i8", kept=True),
        "least_energy": Item("", "lowest so far, less what loads and drivers had given by then", kept=True),
        "total_rise": Item("", "largest above any earlier energy that loads and drivers do not explain", kept=True),
        "total_rise_time": Item("", "when that was reached", kept=True),
        "loss_seen": Item("", "numerical dissipation can be monitored, see stepping.loss_watch", "i8"),
        "most_energy": Item("", "highest so far, less what the model was given", kept=True),
        "total_loss": Item("", "largest below any earlier energy that nothing in the model has taken", kept=True),
        "total_loss_time": Item("", "when that was reached", kept=True),
        "top_kinetic": Item("", "largest kinetic energy", kept=True),
        "largest_rise": Item("", "of the energy, beyond what is allowed", kept=True),
        "drift": Item("", "largest |g| of the constraints in what was recorded, as a length", kept=True),
        "rise_time": Item("", "time of the largest rise", kept=True),
        "sweep_travel": Item("", "of a contact that is passed"),
        "sweep_size": Item("", "of a contact that is passed"),
        "farthest": Item("", "of a jump: motion over what is allowed"),
        # options
        "max_iterations": Item("", "of a sub-problem", "i8"),
        "max_problems": Item("", "impact problems of a step", "i8"),
        "work": Item("", "iterations that the step has taken so far, its subdivisions included", "i8"),
        "most_work": Item("", "iterations that a step may take", "i8"),
        "max_halvings": Item("", "of a line search", "i8"),
        "drags": Item("", "forces of the position correction are taken at v~ + 2 U/h, see `contact.position`", "i8"),
        "persistent": Item("", "closed contacts take part in the smooth sub-problem", "i8"),
        "reuse": Item("", "keep a factorisation while it contracts", "i8"),
        "costly": Item("", "elements make matrices costly, see stepping.shared_factors", "i8"),
        "price": Item("", "of a matrix and its factors, in iterations"),
        "keeper": Item("", "matrix whose problem keeps factors over steps", "i8"),
        "approach": Item("", "Newton's law reflects the slower approach", "i8"),
        "touch": Item("", "Newton's law reflects the speed at the touch", "i8"),
        "biased": Item("", "normal velocities have a bias in place of what Newton's law reflects", "i8"),
        "newton": Item("", "contacts by Newton's iteration first", "i8"),
        "cut": Item("", "how far the step goes when a contact closes, see nsga.split", "i8"),
        "free": Item("", "the Gauss-Seidel solver alone corrects the smooth motion, see granular.grains", "i8"),
        "strict": Item("", "a rise of the energy rejects a step", "i8"),
        "watched": Item("", "all that drives and loads the model is explained, see stepping.external_work", "i8"),
        "abrupt": Item("", "elements have forces that change abruptly", "i8"),
        "given_gaps": Item("", "constraints or gaps depend on given functions of time", "i8"),
        "save_every": Item("", "steps between saved ones", "i8"),
        "whole_every": Item("", "steps between those with outputs and energies", "i8"),
        "nc_fixed": Item("", "contacts that are not of contact groups", "i8"),
        # state of the run
        "saved": Item("", "rows of the records that are filled", "i8", kept=True),
        "step_number": Item("", "steps done", "i8", kept=True),
        "jump_step": Item("", "steps done before the switches of ``jump_m``", "i8", kept=True),
        "unsaved_step": Item(
            "", "number of the last step that `stepping.monitors.unsaved` has, −1: none", "i8", kept=True
        ),
        "in_parts": Item("", "recorded steps are substeps, see stepping.divider", "i8"),
        "crossed": Item("", "an event was crossed, steps stop; −1: a condition in Python failed", "i8", kept=True),
        "plastic": Item("", "no restitution in this attempt", "i8"),
        "without_contacts": Item("", "residuals leave contacts out", "i8"),
        "repeated": Item("", "steps that were repeated", "i8", kept=True),
        "singular": Item("", "steps that ended at a singular position of the constraints", "i8", kept=True),
        "singular_time": Item("", "end of the first of them", kept=True),
        "handed": Item("", "sub-problems given to the contact-problem solver", "i8", kept=True),
        "cut_short": Item("", "impact sequences that were cut short", "i8", kept=True),
        "made_plastic": Item("", "steps taken without restitution", "i8", kept=True),
        "struck": Item("", "the step had an impact", "i8", kept=True),
        "switches": Item("", "elements switched on or off", "i8", kept=True),
        "switch_loss": Item("", "kinetic energy that jumps of switches have taken", kept=True),
        "step_gain": Item("", "energy that the impact problems of the step have given [J]"),
        "impact_gain": Item("", "the same of all steps", kept=True),
        "unkept_pairs": Item("", "what impacts in contact groups have lost against their law [J]", kept=True),
        "given_back": Item("", "work of joint friction in an impact that impacts have paid [J]"),
        "rises": Item("", "rises of the energy beyond what is allowed", "i8", kept=True),
        "limited_impacts": Item("", "impacts with less restitution", "i8", kept=True),
        "swept": Item("", "swept contacts of the step", "i8"),
        "swept_total": Item("", "swept contacts of all steps", "i8", kept=True),
        "swept_contact": Item("", "contact that is passed; −1 − number of an element with a force law", "i8"),
        "passed_how": Item("", "what is wrong with it, see stepping.codes", "i8"),
        "jumped": Item("", "node that jumped, or element out of its range", "i8"),
        "at_smooth": Item("", "U is 0, and fs are the forces there: the residual need not find them", "i8"),
        "unmoved": Item("", "U stayed 0: fs and Mas are those at v~, the first velocity residual uses them", "i8"),
        "rates_known": Item("", "ġ and G of v~ at the end of the step, of the position correction", "i8"),
        "epoch": Item("", "changes when others than Newton's iteration factorise", "i8"),
        "bordered": Item("", "a step with active contacts was found with borrowed factors", "i8"),
        "first_residual": Item("", "the residual is the first of its iteration", "i8"),
        "insist": Item("", "iterations of a velocity problem that are taken whatever its residual is", "i8"),
        "code": Item("", "how a part ended", "i8"),
        "want_matrix": Item("", "the residual assembles its matrix, where it can", "i8"),
        # contacts with static and sliding friction, see contact.static_friction
        "slid": Item("nc", "sliding speeds as the step begins, −1: stuck", kept=True),
        "passes": Item("nc", "number of the pass of each", "i8"),
        # joint friction, see joint_friction.friction
        "friction": Item("", "number of its rows, 0: the model has none", "i8"),
        "friction_block": Item("", "block of unknowns that a task is for: of a coupled problem, of a stage", "i8"),
        "friction_answer": Item("", "of the last task", "i8"),
        "stuck_rows": Item("nf", "which these are", "i8"),
        "stuck_columns": Item("2 u", "solutions for a unit right-hand side of two of them"),
        "friction_stuck": Item("", "rows that stick in the matrix of the smooth sub-problem", "i8"),
        "friction_status": Item("", "number that changes when one of its rows sticks or slides", "i8"),
        "friction_event": Item("", "part of the step after which one of them has changed, −1: none"),
        "friction_change": Item("", "largest change of an acceleration by friction in the last step [m/s²]"),
        "friction_row": Item("", "norm of its rows that stick, as velocities"),
        "friction_slip": Item("", "norm of those that slide"),
        "friction_work": Item("", "work of friction in the impact problem solved last [J]"),
        "friction_work_size": Item("", "sum of the sizes of its parts [J]"),
        "friction_moves": Item("", "|U|² in the metric of masses that its change in the position correction brings"),
        "jammed": Item("", "joints that jammed, in all steps", "i8", kept=True),
        "jam_row": Item("", "row of the first of these", "i8", kept=True),
        "jam_kappa": Item("", "its κ", kept=True),
        "jam_impulse": Item("", "its impulse [N s, N m s]", kept=True),
        "jam_time": Item("", "when [s]", kept=True),
        "pieces": Item("", "velocity problems that were solved piece by piece", "i8"),
        # its Gauss-Seidel iterations, see joint_friction.friction_sweeps
        "respond": Item("nf u", "solution for a unit impulse of each row"),
        "mobility": Item("nf nf", "rates that they give"),
        "row_rates": Item("nf", "rates of the rows"),
        "row_reactions": Item("m", "impulses of the joints that they give [N s, N m s]"),
        "touch_Lam": Item("m", "Λ of the time before the touch of a split step, divided by k_v"),
        # addresses
        **{f"{name}_part": Item("", "compiled part", "i8") for name in PARTS},
        **{f"{name}_problem": Item("", "record of Newton's iteration", "i8") for name in PROBLEMS},
        "grains_at": Item("", "record of a contact group of free bodies, see granular.data, 0: none", "i8"),
        "contact_part": Item("", "corrections by the contact-problem solver, 0: none", "i8"),
        "data_at": Item("", "record of the system", "i8"),
        "run_at": Item("", "record of the run itself", "i8"),
        "own_at": Item("", "record of the table of the method", "i8"),
        "monitor_at": Item("", "record of the table of the monitor that is called", "i8"),
        "records_at": Item("", "record of the arrays of saved steps", "i8"),
        "mirror_at": Item("", "table from which a step that stops is restored, see stepping.mirror", "i8"),
        "mirrored": Item("", "rows of that table", "i8"),
    },
)
RUN = TABLE.dtype


@kernel
def system_at(at):
    """Record of the system at an address, as an array of one."""
    return carray(void_pointer(at), (1,), DATA)


@kernel
def run_at(at):
    """Record of the run at an address, as an array of one."""
    return carray(void_pointer(at), (1,), RUN)
