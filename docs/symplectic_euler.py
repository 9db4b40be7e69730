"""Symplectic Euler method with impacts and friction, the example of docs/new_stepper.md.

    M(q_n) W = h f(q_n, v) + G(q_n)ᵀ P + G_c(q_n)ᵀ Λ ,   v = v_n + W                                               (1)
    G(q_n) v + ∂g/∂t = 0                                                                                          (2)
    contacts with g_N + γ h ġ_N ≤ 0 at the start of the step, by Newton's law and the friction cones               (3)
    q = q_n ∘ exp(h v)                                                                                            (4)

(1)-(3) are the velocity problem that all time steppers share, at the configuration of the start of the step.

    symbol   code          symbol   code
    v_n, v   s.V0, s.V     q_n, q   s.x0 s.Q0 s.R0, s.x s.Q s.R
    W        s.W           f        s.f
    P        k_v s.Lam     Λ        k_v s.cLam
    γ        o.reach       ∂g/∂t    s.g

Source: Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), section I.1; contacts as `solvers/moreau`.
"""

from numba import carray

from fem_mbs.arguments.options import number, option
from fem_mbs.data_table import Item, Table
from fem_mbs.jit import call2, entry, kernel, void_pointer
from fem_mbs.solvers.contact import one_problem, passed, velocity
from fem_mbs.solvers.stepping.initial import initial_accelerations
from fem_mbs.solvers.stepping.kernels.accept import accept
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1, copy3
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP, OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.newton import turns_too_far
from fem_mbs.solvers.stepping.kernels.step import begin, mark_impacts, take
from fem_mbs.solvers.stepping.stepper import Stepper
from fem_mbs.system.assembly import advance_configuration, dynamics
from fem_mbs.system.constraints import add_constraint_forces
from fem_mbs.system.contacts import contact_groups, contacts, contacts_of, gradient_times
from fem_mbs.system.global_matrices import full_norm
from fem_mbs.system.layout import Rows
from fem_mbs.system.records import VELOCITY, zero

# --- data -------------------------------------------------------------------------------------------------------------
TABLE = Table("run of SymplecticEuler", {"reach": Item("", "γ of (3)")})
OWN = TABLE.dtype


@kernel
def own_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), OWN)


# --- one step ---------------------------------------------------------------------------------------------------------
@kernel
def choose_contacts(d, s, reach):
    """Contacts that take part in the velocity problem, (3)."""
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            gap = contact.gap[e] + reach * s.h * gradient_times(g, e, contact.G_N[e], s.V0)
            s.candidate[c] = s.active[c] = 1 if gap <= CLOSED_GAP * s.exact * s.scale_x else 0


@entry("void(int64, int64)")
def step(data, run):
    """Solve (1)-(3), then update the configuration by (4)."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.smooth_iterations = s.position_iterations = s.velocity_iterations = s.impact_problems = 0
    s.failed_problem = VELOCITY
    copy(s.x0, s.x)
    copy(s.Q0, s.Q)
    copy3(s.R0, s.R)
    # size of the forces, to which tolerances refer
    zero(s.trial_at, 6 * d.n_nodes)
    dynamics(d, VELOCITY, s.x, s.R, s.V0, s.trial, s.Ma, s.f, False, 0.0, 0.0, 0.0, 0.0, s.R, False)
    s.F_s = full_norm(d, s.f, s.length)
    s.rest_speed = max(s.tol_v, s.h * s.F_s / s.mean_mass)
    velocity.rates_of_time(d, s, s.V0)
    choose_contacts(d, s, o.reach)
    one_problem.solve_first(d, s)
    if s.code == OK and s.grains_at != 0:
        call2(s.grains_part, data, run)
    if s.code != OK:
        return
    copy1(s.f, s.base)  # forces at the nodes, for the check of the energy
    if d.m > 0:
        add_constraint_forces(d, 1.0, s.lam_report, s.base)
    for i in range(d.n_nodes):
        for j in range(6):
            s.D[i, j] = s.h * s.V[i, j]
    if not turns_too_far(s, s.D):
        advance_configuration(d, s.x0, s.Q0, s.D, s.x, s.Q, s.R, s.T)


@entry("void(int64, int64)")
def advance(data, run):
    """Take one step: begin, solve, check, accept."""
    d, s = system_at(data)[0], run_at(run)[0]
    begin(d, s)
    one_problem.begin_step(s)  # joint friction
    code = take(d, s)
    if code == OK and d.nc > 0:
        # reject the step if bodies have passed through each other
        copy(s.V, s.Vs)
        zero(s.U_at, 6 * d.n_nodes)
        call2(s.sweep_part, data, run)
        code = s.code
    if code == OK:
        accept(d, s)
        s.struck = 1 if mark_impacts(d, s) else 0
        one_problem.end_step(s)
        if d.nc > 0:
            contacts(d, s.x, s.R, s.x0, s.R0, s.V)  # gaps that are saved are those at the end of the step
    s.code = code


# --- the stepper ------------------------------------------------------------------------------------------------------
class SymplecticEuler(Stepper):
    """Symplectic Euler method with impacts and friction, of first order.

    Parameters
    ----------
    reach : float, 0 … 1, -
        Part γ of the step over which gaps are extrapolated to find closed contacts.
    """

    table = TABLE
    named = ("", "", "problem of the step")
    velocities_first = takes_grains = True
    follows = True  # joints and contacts are closed in velocities only

    reach: float = option(default=0.5, check=number(at_least=0, at_most=1))

    def matrices(self, system):
        """Rows of the matrices of accelerations, positions and velocities; only the last has rows of contacts."""
        contacts = Rows() if system.searches else Rows(True, "all", drilling_first=True, friction=True)
        return Rows(), Rows(), contacts

    def refuse(self, system):
        """All systems are supported."""

    def parts(self):
        """Compiled parts by name."""
        return {"advance": advance, "step": step, "sweep": passed.look}

    def problems(self, system):
        """Problems of Newton's iteration by name."""
        return {"velocity": velocity.PROBLEM}

    def scalars(self, system, h):
        """Numbers of the record of this method."""
        return {"reach": self.reach}

    def start(self, engine, state):
        """Initial reactions, and the first guess of the first step."""
        acceleration, lam = initial_accelerations(engine.system, state, engine.shift, matrices=engine.matrices)
        engine.arrays["W"][:] = engine.h * acceleration
        engine.arrays["lam_report"][:] = lam
        self.start_friction(engine, acceleration)

    def restart(self, engine):
        """Memory where forces or constraints have jumped: what sticks in joints."""
        self.start_friction(engine)
