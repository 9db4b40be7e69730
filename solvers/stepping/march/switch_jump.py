"""The jump problem: velocities after a constraint was switched on, by impulses, at a configuration that does not move.

    M (v⁺ − v⁻) = Gᵀ Λ + G_Nᵀ Λ_N + G_Tᵀ Λ_T                                                                        (1)
    G v⁺ + ∂g/∂t = 0 ,   0 ≤ Λ_N ⟂ G_N v⁺ ≥ 0 ,   Λ_T in its cone ,   of all contacts that are closed                (2)

That is the velocity problem of a step (`contact.velocity`) with h = 0, v~ = v⁻ and no forces. Nothing is reflected: a
contact that is closed has no approach before. Whatever rows that problem has (friction of joints too) are in the jump,
with their bounds from the impulses alone: h F_0 vanishes with h. A joint that stuck before has its static coefficient.

Source: docs/theory/switches.md, (2)-(4).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import SolverError, label
from fem_mbs.jit import address, call2, entry, invoke
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX
from fem_mbs.solvers.contact.velocity import accumulate_impulses, rates_of_time
from fem_mbs.solvers.stepping.kernels import newton
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP, OK, ROUND_OFF, TOUCHES
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import BEGIN, FIRST, JUMPED
from fem_mbs.solvers.stepping.kernels.sizes import farthest_part
from fem_mbs.solvers.stepping.kernels.step import LADDER, LEAST_SHIFT
from fem_mbs.solvers.stepping.monitors.unsaved import keep_jump
from fem_mbs.system.contacts import contact_groups, contacts, contacts_begin_step, contacts_of, gradient_times
from fem_mbs.system.global_matrices import full_norm
from fem_mbs.system.records import VELOCITY, zero

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.solvers.stepping.engine import Engine

EXACT_FORCES = 1e-10  # of momenta: a jump happens once
RESTS = 10.0  # times tol_v: slower contacts do not separate, as where persistent ones begin
# of the record of the run: what the problem has instead
INSTEAD = {
    "h": 0.0, "rtol": EXACT_FORCES, "restitution_scale": 1.0,
    **dict.fromkeys("biased cut plastic persistent swept unmoved rates_known".split(), 0),
    **dict.fromkeys("want_matrix without_contacts insist".split(), 0),
}  # fmt: skip
LADDERED = ("pp", "pv", "pp_T", "pv_T", "epsilon", "epsilon_rows", "max_halvings", "most")


@entry("void(int64, int64)")
def begin_jump(data, run):
    """Velocities before, no impulses, and the contacts that take part: those that are closed."""
    d, s = system_at(data)[0], run_at(run)[0]
    zero(s.W_at, 6 * d.n_nodes)
    zero(s.P_at, 6 * d.n_nodes)
    zero(s.Lam_at, d.m)
    copy(s.V, s.V0)
    copy(s.V, s.Vs)
    for i in range(d.n_nodes):  # nothing is reflected
        for j in range(6):
            s.Vminus[i, j] = s.Vsminus[i, j] = 0.0
    for at in (s.cLam_at, s.total_Lam_at):
        zero(at, SIX * d.nc)
    if d.nc > 0:
        contacts(d, s.x, s.R, s.x, s.R, s.V)
        contacts_begin_step(d)
    near = max(CLOSED_GAP * s.exact, TOUCHES) * s.scale_x
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            closed = contact.gap[e] <= near or s.was_active[c] != 0
            s.candidate[c] = s.active[c] = 1 if closed else 0
            s.status[c] = s.turning[c] = s.acted[c] = GAP
    rates_of_time(d, s, s.V)
    if s.friction != 0:
        call2(s.friction_part, run, BEGIN)
        call2(s.friction_part, run, FIRST)
    s.smooth_iterations = s.position_iterations = s.velocity_iterations = 0
    s.impact_problems = s.repeats = s.history_length = s.handed_problems = 0
    s.failed_problem = VELOCITY
    s.first_residual = 1


@entry("void(int64, int64)")
def jump_solved(data, run):
    """Whether the last residual is small enough: `contact.velocity.velocity_solved`, with no forces and no time."""
    d, s = system_at(data)[0], run_at(run)[0]
    s.scale_v = max(s.scale_v, farthest_part(s.V, s.size))
    s.tolerance = s.rtol * full_norm(d, s.Ma, s.length)
    speed, change = s.scale_v, s.tolerance / s.mean_mass
    solved = (
        s.dynamic <= s.tolerance + ROUND_OFF * s.kv * speed
        and s.row <= min(change, s.exact * speed) + ROUND_OFF * speed
        and s.row_T <= change + s.exact * speed
    )
    s.solved = 1 if solved else 0


@entry("void(int64, int64)")
def end_jump(data, run):
    """Impulses of contacts, and which of them stay closed: those that do not separate."""
    d, s = system_at(data)[0], run_at(run)[0]
    accumulate_impulses(d, s)
    if s.friction != 0:
        call2(s.friction_part, run, JUMPED)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            rests = s.acted[c] != GAP or gradient_times(g, e, contact.G_N[e], s.V) <= RESTS * s.tol_v
            s.was_active[c] = 1 if s.candidate[c] != 0 and rests else 0
            if not rests:
                s.closed[c] = GAP  # of persistent contacts
            s.impact[c] = 0


def jump(engine: "Engine", element: "Element", cannot: str = "cannot be switched on") -> tuple[np.ndarray, np.ndarray]:
    """Give the engine the velocities after a constraint was switched on, or what it asks for has changed.

    ``cannot`` begins what is said of the element where there are none.

    Returns
    -------
    impulse : (m,) [N s, N m s], of all constraint rows
    contact_impulse : (nc, 3) [N s]

    Raises
    ------
    SolverError
        Newton's iteration does not converge with any of the penalties.
    """
    run, a, at = engine.run[0], engine.arrays, (int(engine.run[0]["data_at"]), int(engine.run[0]["run_at"]))
    problem = engine.problems.get("jump")
    if problem is None:
        problem = engine.problems["jump"] = np.zeros(1, newton.PROBLEM.dtype)
        engine.method.jump_problem()._replace(solved=jump_solved).fill(problem[0])
    before = {name: run[name] for name in (*INSTEAD, *LADDERED)}
    engine.matrices.update()
    solve = newton.newton.address
    try:
        for name, value in INSTEAD.items():
            run[name] = value
        for attempt, (penalty, shift, search, factor) in enumerate(LADDER):
            if attempt:
                run["pv"] = run["pv_T"] = penalty * run["kv"]
                run["epsilon_rows"] = max(run["epsilon_rows"], LEAST_SHIFT, shift)
                run["epsilon"] = max(run["epsilon"], shift)
                run["max_halvings"] = before["max_halvings"] if search else 0
                a["V"][:] = a["V0"]
            run["most"] = int(factor * run["max_iterations"])
            invoke(begin_jump.address, *at)
            invoke(solve, address(problem), at[1])
            if run["code"] == OK:
                break
    finally:
        for name, value in before.items():
            run[name] = value
    engine.system.raise_python_errors(float(run["t"]))
    if run["code"] != OK:
        raise SolverError(
            f"{label(element)} {cannot} at t = {float(run['t']):.9g} s: velocities after the jump were "
            "not found. Joints, drivers and closed contacts leave no motion together there",
            step=int(run["step_number"]), time=float(run["t"]), element=element,
        )  # fmt: skip
    impulse = float(run["kv"]) * a["Lam"]
    invoke(end_jump.address, *at)
    a["Vs"][:] = a["V0"][:] = a["V"]
    acts = a["total_Lam"][:, :1] > EXACT_FORCES * run["kv"] * run["scale_v"]  # others have round-off, and no impact
    contact_impulse = np.where(acts, a["total_Lam"], 0.0)  # moments too
    if run["jump_step"] != run["step_number"]:
        a["jump_m"][:], run["jump_step"] = 0.0, run["step_number"]
    a["jump_m"] += impulse
    a["total_Lam"][:] = contact_impulse
    a["impact"][:] = acts[:, 0]
    invoke(keep_jump.address, *at)
    a["total_Lam"][:] = 0.0  # no guess of a step's
    a["impact"][:] = 0
    return impulse, contact_impulse[:, :3] * engine.system.force_scales
