"""Decoupled nonsmooth generalized-α on R³ × SO(3), for rigid and flexible systems with impacts and friction.

Each step solves three sub-problems one after the other: smooth motion with bilateral constraints (generalized-α, second
order), a position correction (no penetration, g = 0), a velocity correction (impact law, friction cones, G v = 0). The
scheme, its equations and decisions are in docs/theory/decoupled_nsga.md; the compiled parts are in nsga_*.py.

Source: Cosimo, Cavalieri, Cardona, Brüls, Nonlinear Dyn. 102 (2020); Sanchez2025, chapters 2-3, annexes A and B;
doubtful points as decided by measurement, decisions 1 to 12 there: factor ½ h² in the position equation (1), M(q) at
both levels (2), f^p and f^v as differences (3), rotations composed as R~ exp(U~) (4), active set G V~− < −tol_v with
impulses of earlier impact problems applied to all contacts (6), line search and penalty ladder (7), proximal shift (8).
"""

import numpy as np

from fem_mbs.errors import NonFiniteError, ParameterError, SolverError, label
from fem_mbs.layout import Rows
from fem_mbs.results_table import PAIR_COLUMNS
from fem_mbs.solvers.step_control import StepControl
from fem_mbs.solvers.stepper import Stepper
from fem_mbs.solvers.stepping.records import RECORDS, records

_NAMES = ("smooth motion", "position correction", "velocity correction")
SHIFT = 1e-8  # default of epsilon
CONTACT_SOLVERS = ("auto", "newton", "problem")


class DecoupledNSGA(Stepper):
    """The default time stepper.

    Parameters
    ----------
    rho_inf : float, 0 … 1, -
        Spectral radius at infinite frequency: 1 keeps all frequencies, 0 removes what the step does not resolve. 0.8
        is a good choice for rigid systems; 0 for flexible ones with impacts and for smooth reactions after an impact.
    rtol : float > 0, -
        Relative tolerance of the three sub-problems. The error it leaves does not fall with h: at small steps 1e-5
        exceeds the discretisation error (nine times on a triple pendulum at h = 3e-5 s), and costs the same as 1e-6.
    max_iterations : int
        Newton iterations per sub-problem before a step is repeated with other penalties, then refused.
    scaling : float, optional [kg]
        k and p of the multipliers. Default: the mass that bodies in contact have against each other (geometric mean
        over the contacts), without contacts the mean mass of the moving nodes. Results do not depend on it.
    penalty : float > 0, -
        p/k of contacts in the normal direction. 1 suits bodies that hit with all of their mass.
    friction_penalty : float > 0, -
        p/k of friction. The default is the mass that resists sliding at the contact point of a
        homogeneous sphere, relative to all of it.
    epsilon : float ≥ 0, optional, -
        Proximal shift of redundant constraints and contacts, relative; the solution does not depend on it. Default:
        1e-8, and 0 for joints that `Model.compile` has found to be independent: in chains of thousands of links a shift
        costs iterations. A step that fails is repeated with at least 1e-8.
    tol_v : float, optional [m/s]
        Approach speeds below it do not count as impacts: far below g h and far below impact speeds. Default: 1e-8 of
        the largest initial speed or of |gravity| h.
    max_problems : int
        Impact problems in one step before an error that names the contacts. In the second half of them all contacts
        that have acted take part, without restitution, which ends long sequences
        (``result.statistics["impact_sequences_cut_short"]`` counts these).
    position_factor : {0.5, 1.0}
        c_p of the position equation; 1 for very stiff flexible models at Courant numbers above 5
        (docs/theory/decoupled_nsga.md, decision 1).
    reset_after_impact : bool
        Restart the memory of the method with consistent accelerations after a step with an impact: joint forces stop
        oscillating for rho_inf > 0; one more linear solve per impact (docs/theory/decoupled_nsga.md, decision 10).
    improved_start : bool
        Second-order start of the multipliers (docs/theory/decoupled_nsga.md, (23)): a_0 = v̇_0 + (α_m − α_f) h dv̇/dt.
    persistent_contacts : bool
        Closed contacts take part in the smooth sub-problem (docs/theory/decoupled_nsga.md, (25)-(27)): second
        order in motion and forces while they stay closed, where the published scheme is of first order. Measured
        orders, largest errors: ball rolling in a drum 2.00 (0.98 without), leg on a sticking foot 2.00 (1.00), ball
        that slides and rolls in turn 1.96 (0.98), angle of a ball stopped by rolling or spinning resistance 1.96 …
        2.0 (1.0). Where sticking, sliding or contact itself ends the error depends on where in its step that lies,
        still of second order in the motion; friction forces that jump are wrong in that step. Where sliding *reverses*
        without sticking the motion is of first order, with the option as without (1.2 and 1.1 measured): friction of
        the whole step has the direction in which it ends. Impacts stay of first order. Contacts with a
        ``radius_contensou`` are of second order while they slide or drill.
    approach : {"slower", "start"}
        Normal velocity that Newton's law reflects. "slower": the slower of those along the normals at the start and at
        the end of the step, with which normal impulses never give energy; and where friction makes the impulses of an
        impact gain energy (Kane's paradox), the largest part of the restitution that does not
        (``result.statistics["impacts_with_less_restitution"]`` counts these). "start": that along the normals at the
        start of the step, as published, and no limit.
    restitution_speed : {"start", "touch"}
        Which approach speed Newton's law reflects at the first impact of a step: that at the start of the step (as
        published), or that at the touch, by the energy on the way to it. With "start" an elastic ball loses what it
        gains on the last part of its way, m g² h/4 per second on average; with "touch" it keeps its energy for any
        number of bounces (docs/theory/sweep has figures, and what else changes).
    contact_solver : {"auto", "newton", "problem"}
        How contacts are solved. "newton": semismooth Newton iterations on the whole sub-problem. "auto": the same, and
        the contact-problem solver (`solve_contact_problem`) for a sub-problem in which they stall. "problem": that
        solver at once, for hundreds of contacts and more. ``result.contact_problems`` says where it was used.
    contact_tolerance : float > 0, -
        Scale-free error asked of contact problems of free bodies (models with contact groups).
    step_control : StepControl, optional
        Steps of variable size: halved when they fail, larger ones in smooth motion. Default: all steps are h.
    mixed : bool
        Mixed Newton iteration in beams (same solution; converges where large steps make plain Newton fail).
    reference_force : float ≥ 0 [N]
        Forces are solved to ``rtol`` of it where those of the model are smaller.
    reuse : bool
        Keep a factorisation while it contracts the residual by 50 per iteration.

    Raises
    ------
    ParameterError
        rho_inf outside [0, 1], non-positive tolerances or step sizes.

    Examples
    --------
    >>> result = DecoupledNSGA(rho_inf=0.8).run(model, t_end=1.0, h=1e-3)

    Notes
    -----
    Order 2 in smooth motion; order 1 at impacts and, without ``persistent_contacts``, as soon as a contact stays
    closed. Joint reactions are k_s λ~ + k_v Λ/h; contact forces k_v Λ/h, which at an impact is an impulse divided by h.
    The ``impulse`` of a contact is the momentum that it hands over in the step: h times its force, and with
    ``persistent_contacts`` what the forces of closed contacts give on their way from the start of the step to its end
    (docs/theory/decoupled_nsga.md, (32)).
    """

    def __init__(
        self,
        rho_inf=0.8,
        *,
        rtol=1e-6,
        max_iterations=30,
        scaling=None,
        penalty=1.0,
        friction_penalty=2.0 / 7.0,
        epsilon=None,
        tol_v=None,
        max_problems=50,
        position_factor=0.5,
        reset_after_impact=False,
        improved_start=False,
        mixed=False,
        persistent_contacts=False,
        approach="slower",
        restitution_speed="start",
        contact_solver="auto",
        contact_tolerance=1e-6,
        step_control=None,
        reuse=True,
        reference_force=0.0,
    ):
        self.rho_inf = self.number("rho_inf", rho_inf, at_least=0, at_most=1)
        self.rtol = self.number("rtol", rtol, above=0, below=1)
        self.max_iterations = self.as_integer("max_iterations", max_iterations)
        self.penalty = self.positive("penalty", penalty)
        self.friction_penalty = self.positive("friction_penalty", friction_penalty)
        self.epsilon = None if epsilon is None else self.number("epsilon", epsilon, at_least=0)
        self.max_problems = self.as_integer("max_problems", max_problems)
        self.position_factor = self.number("position_factor", position_factor)
        message = "must be between 0.5 and 1 (less gains energy)"
        self.check(0.5 <= self.position_factor <= 1, "position_factor", position_factor, message)
        self.scaling = None if scaling is None else self.positive("scaling", scaling, "kg")
        self.tol_v = None if tol_v is None else self.positive("tol_v", tol_v, "m/s")
        self.reference_force = self.number("reference_force", reference_force, "N", at_least=0)
        self.reset_after_impact = self.as_flag("reset_after_impact", reset_after_impact)
        self.improved_start = self.as_flag("improved_start", improved_start)
        self.mixed, self.reuse = self.as_flag("mixed", mixed), self.as_flag("reuse", reuse)
        self.persistent_contacts = self.as_flag("persistent_contacts", persistent_contacts)
        self.approach = self.as_choice("approach", approach, ("start", "slower"))
        self.restitution_speed = self.as_choice("restitution_speed", restitution_speed, ("start", "touch"))
        self.contact_solver = self.as_choice("contact_solver", contact_solver, tuple(CONTACT_SOLVERS))
        self.contact_tolerance = self.number("contact_tolerance", contact_tolerance, above=0, below=1)
        self.step_control = step_control
        if step_control is not None:
            self.as_instance("step_control", step_control, StepControl, "a StepControl or None")
        if improved_start and persistent_contacts:
            message = "does not know closed contacts; leave it out with persistent_contacts=True"
            raise ParameterError(self, "improved_start", improved_start, message)

    @property
    def coefficients(self):
        """α_m, α_f, β, γ of the generalized-α method (Sanchez2025, 2.28)."""
        rho = self.rho_inf
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 + alpha_f - alpha_m
        return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma

    def matrices(self, system):
        """Rows of the matrices of the three sub-problems; contacts of groups are left to the contact-problem solver."""
        if system.searches:
            return Rows(), Rows(), Rows()
        smooth = Rows(True, "all" if system.n_roll else "") if self.persistent_contacts else Rows()
        return smooth, Rows(True, "drilling"), Rows(True, "all", drilling_first=True)

    def prepare(self, system, h, save_every=1, strict=False):
        """Make the engine that steps a system; initial accelerations are computed here."""
        return _Engine(self, system, h, save_every, strict)


class _Engine:
    """Arrays and scalars of one run, and the calls of the compiled part."""

    def __init__(self, method, system, h, save_every, strict):
        from fem_mbs.solvers import nsga_data

        self.strict = strict

        self.kernels, self.method, self.system, self.h = nsga_data, method, system, h
        self.forces = bool(method.persistent_contacts)
        self._refuse_for_groups()
        self.matrices = system.lay_out(*method.matrices(system))
        self.data = self.matrices.data
        self._allocate()
        self._set_scalars(save_every)
        self._start()
        self.controller = None
        if method.step_control is not None:
            from fem_mbs.solvers.step_control import Controller

            self.controller = Controller(self, method.step_control)

    def _refuse_for_groups(self):
        """Options that contact groups do not know."""
        method, searches = self.method, self.system.searches
        options = {
            "persistent_contacts": method.persistent_contacts,
            "contact_solver": method.contact_solver if method.contact_solver == "newton" else None,
            "step_control": method.step_control,
        }
        for name, value in options.items():
            if searches and value:
                message = f"does not go with contact groups ('{searches[0].owner.name}')"
                raise ParameterError(method, name, value, message)

    def _allocate(self):
        k, system = self.kernels, self.system
        N = len(system.nodes)
        unknowns = max(layout.n for layout in self.matrices.layouts)
        self.arrays = k.TABLE.arrays({"N": N, "full": 6 * N, "m": system.m, "nc": system.nc, "u": unknowns})
        self.run = np.zeros(1, k.RUN)
        k.TABLE.aim(self.run, self.arrays)
        self.arrays["T"][:] = np.eye(3)
        self.records = np.zeros(1, RECORDS.dtype)
        self.run[0]["nc_fixed"], self.searches, self.pair_tables = system.nc_fixed, 0, []
        self._connect()

    def _connect(self):
        """Addresses of the compiled parts."""
        from fem_mbs.jit import address
        from fem_mbs.solvers import nsga_checks, nsga_position, nsga_run, nsga_smooth, nsga_sweep, nsga_velocity

        modules = nsga_smooth, nsga_position, nsga_velocity, nsga_run, nsga_sweep, nsga_checks

        self.run_steps = nsga_run.run_steps
        for name in self.kernels.PARTS:
            module = next(m for m in modules if hasattr(m, name))
            self.run[0][f"{name}_part"] = getattr(module, name).address
        for name, array in (("data_at", self.data), ("run_at", self.run), ("records_at", self.records)):
            self.run[0][name] = address(array)
        self.contact_problems = None
        if (self.system.nc or self.system.searches) and self.method.contact_solver != "newton":
            from fem_mbs.solvers.nsga_contact_problem import ContactProblemCorrection

            self.contact_problems = ContactProblemCorrection(self)
            self.run[0]["contact_part"] = self.contact_problems.address

    def _set_scalars(self, save_every):
        k, method, system, h = self.kernels, self.method, self.system, self.h
        alpha_m, alpha_f, beta, gamma = method.coefficients
        mass = method.scaling or system.contact_mass
        speed = np.abs(system.initial.V).max(initial=0.0)
        tol_v = method.tol_v or 1e-8 * max(speed, np.linalg.norm(system.gravity) * h) or 1e-12
        values = {
            "h": h, "alpha_m": alpha_m, "alpha_f": alpha_f, "beta": beta, "gamma": gamma,
            "c_a": (1 - alpha_m) / ((1 - alpha_f) * gamma * h), "c_q": h * beta / gamma,
            "ks": mass / h, "kp": mass, "kv": mass, "ps": 0.0, "pp": method.penalty * mass, "pv": method.penalty * mass,
            "pp_T": method.friction_penalty * mass, "pv_T": method.friction_penalty * mass,
            "epsilon": SHIFT if method.epsilon is None else method.epsilon, "restitution_scale": 1.0,
            "epsilon_rows": 0.0 if method.epsilon is None and system.independent else self._shift(),
            "conservative": int(system.conservative), "strict": int(self.strict),
            "rtol": method.rtol, "tol_v": tol_v, "mean_mass": system.mean_mass,
            "length": system.length, "reference_force": method.reference_force,
            "position_factor": method.position_factor, "max_iterations": method.max_iterations,
            "max_problems": method.max_problems, "mixed": int(method.mixed),
            "persistent": int(method.persistent_contacts and system.nc > 0), "reset": int(method.reset_after_impact),
            "newton": int(not system.searches and (method.contact_solver != "problem" or system.nc == 0)),
            "exact": k.EXACT,
            "approach": int(method.approach == "slower"), "touch": int(method.restitution_speed == "touch"),
            "reuse": int(method.reuse), "save_every": save_every, "whole_every": 1, "max_halvings": 8,
            "scale_x": np.abs(system.initial.x).max(), "scale_v": speed,
            "abrupt": int(any(element.abrupt for element in system.elements)),
        }  # fmt: skip
        for name, value in values.items():
            self.run[0][name] = value

    def _start(self):
        from fem_mbs import assembly
        from fem_mbs.solvers.initial import initial_accelerations

        system, a = self.system, self.arrays
        state = system.initial.copy()
        a["x"][:], a["Q"][:], a["R"][:], a["V"][:] = state.x, state.Q, state.R, state.V
        for name in ("xs", "x0"):
            a[name][:] = state.x
        for name in ("Qs", "Q0"):
            a[name][:] = state.Q
        for name in ("Rs", "R0"):
            a[name][:] = state.R
        for name in ("Vs", "V0"):
            a[name][:] = state.V
        if system.nc:
            a["was_active"][:] = system.gaps(state) <= 1e-9 * (1.0 + np.abs(state.x).max())
        if self.run[0]["persistent"]:
            self._start_contacts(state)
        else:
            acceleration, lam = initial_accelerations(system, state, self._shift(), matrices=self.matrices)
            a["Vd0"][:] = a["Va0"][:] = acceleration
            a["lam"][:] = lam / self.run[0]["ks"]
        a["Vd"][:] = a["Vd0"]
        a["lam_report"][:] = a["lam"] * self.run[0]["ks"]
        if self.method.improved_start:
            a["Va0"][:] += self._start_correction(state, a["Vd0"])
        assembly.initial_states(system.data[0], state.x, state.R, state.V)

    def _shift(self):
        return SHIFT if self.method.epsilon is None else self.method.epsilon

    def _start_contacts(self, state):
        """Closed contacts that do not approach enter at once; the first accelerations are consistent with them."""
        from fem_mbs.jit import address, invoke
        from fem_mbs.solvers import nsga_run
        from fem_mbs.solvers.contact_law import CLOSED, GAP, SLIP, STICK

        velocity, tol_v = self.system.contact_velocities(state), self.run[0]["tol_v"]
        rests = (self.arrays["was_active"] != 0) & (np.abs(velocity[:, 0]) <= 10 * tol_v)
        slides = np.linalg.norm(velocity[:, 1:], axis=1) > 10 * tol_v
        with_friction = np.where(slides, SLIP, STICK)
        kind = np.where(self.system.laws[:, 0] > 0, with_friction, CLOSED)
        self.arrays["closed"][:] = self.arrays["entered"][:] = np.where(rests, kind, GAP)
        self.arrays["part"][:] = self.system.parts()
        self.system.update_signals(state.t)
        self.run[0]["since"] = nsga_run.CALM
        invoke(int(self.run[0]["restart_part"]), address(self.data), address(self.run))
        if self.run[0]["code"] != self.kernels.OK:
            raise SolverError(
                "initial accelerations: mass, constraints and closed contacts are singular", step=0, time=state.t
            )

    def _start_correction(self, state, acceleration):
        """(α_m − α_f) h dv̇/dt, by a central difference along the motion (docs/theory/decoupled_nsga.md, (23))."""
        from fem_mbs.solvers.initial import initial_accelerations

        alpha_m, alpha_f, _, _ = self.method.coefficients
        delta = 0.1 * self.h
        sides = []
        for sign in (1.0, -1.0):
            step = sign * delta
            near = self.system.moved(state, step * state.V + 0.5 * step**2 * acceleration)
            near.V[:] = state.V + step * acceleration
            near.t = state.t + step
            start = initial_accelerations(self.system, near, self._shift(), matrices=self.matrices)
            sides.append(start[0])
        self.system.update_signals(state.t)
        return (alpha_m - alpha_f) * self.h * (sides[0] - sides[1]) / (2 * delta)

    def make_records(self, size):
        """Arrays for ``size`` saved steps."""
        return records(self.system, size, self.forces)

    def _aim(self, block):
        """Let compiled code record into the arrays of a block, from its first row on."""
        RECORDS.aim(self.records, block)
        self.run[0]["saved"] = 0

    def keep_whole(self, every):
        """Only one state in so many gets outputs, energies and constraint violations."""
        self.run[0]["whole_every"] = every

    def first(self, block):
        """Record the initial state."""
        from fem_mbs.jit import address, invoke

        self._aim(block)
        self.run[0]["t"] = self.system.initial.t
        invoke(int(self.run[0]["record_part"]), address(self.data), address(self.run))
        self.pair_tables = [np.zeros((0, PAIR_COLUMNS))] if self.system.searches else []

    def advance(self, times, signals, block):
        self.matrices.update()  # another run may have searched pairs
        self._aim(block)
        if not len(times):
            return 0, 0, None
        if self.controller is not None:
            return self.controller.advance(times, block)
        if self.system.searches:
            from fem_mbs.solvers import nsga_pairs

            return nsga_pairs.advance(self, times, signals, block)
        done, code = self.run_steps(self.data, self.run, len(times), 0, times, signals)
        error = None if code == self.kernels.OK else self.fault(code, float(times[min(done, len(times) - 1)]))
        return done, int(self.run[0]["saved"]), error

    def fault(self, code, t):
        """The error of a step that failed with a code on its way to time t [s]."""
        if self.contact_problems is not None and self.contact_problems.error is not None:
            raise self.contact_problems.error
        error = self._diagnose(code, t)
        if self.contact_problems is not None and self.arrays["counts"][7]:
            error.contact_problem = self.contact_problems.problem
        return error

    def pairs(self):
        """Tables of closed pairs of contact groups, one per state saved by the last call; empty without groups."""
        return self.pair_tables

    def statistics(self):
        """What was counted over all steps, saved or not."""
        repeated, handed = int(self.run[0]["repeated"]), int(self.run[0]["handed"])
        searches = {}
        if self.system.searches:
            inexact = self.contact_problems.inexact
            searches = {"pair_searches": self.searches, "inexact_contact_problems": inexact}
        controlled = self.controller.statistics() if self.controller is not None else {}
        counted = {"steps": "step_number", "impact_sequences_cut_short": "cut_short",
                   "steps_without_restitution": "made_plastic", "impacts_with_less_restitution": "limited_impacts",
                   "energy_rises": "rises", "swept_contacts": "swept_total"}  # fmt: skip
        steps = {name: int(self.run[0][field]) for name, field in counted.items()}
        return {"repeated_steps": repeated, "contact_problems": handed, **steps, **searches, **controlled}

    def warnings(self):
        """What was wrong without stopping the run, in words."""
        run, texts = self.run[0], []
        if run["rises"]:
            texts.append(
                f"energy rose {run['rises']} times by more than the steps explain, most by {run['largest_rise']:.3g} J "
                f"before t = {run['rise_time']:.6g} s, although nothing drives the model: h is too large for what "
                "happened there (halve it, or use step_control=StepControl())"
            )
        return texts

    def state(self):
        """Current state of the run, a copy."""
        state = self.system.initial.copy()
        for name in ("x", "Q", "R", "V"):
            getattr(state, name)[:] = self.arrays[name]
        state.t = float(self.run[0]["t"])
        return state

    def _diagnose(self, code, t):
        from fem_mbs import element_checks

        k, system, a, run = self.kernels, self.system, self.arrays, self.run[0]
        which = int(a["counts"][6])
        number = int(run["step_number"]) + 1
        start = f"Step {number}, t = {t:.6g} s: {_NAMES[which]}"
        history = a["history"][: int(a["counts"][5])]
        common = {"step": number, "time": t, "history": history}
        try:
            system.raise_python_errors(t)
        except NonFiniteError as error:
            return error
        if code == k.NOT_FINITE:
            state = self.state()
            state.x[:], state.Q[:], state.R[:], state.V[:] = a["xs"], a["Qs"], a["Rs"], a["Vs"]
            if which != 0:
                state = self.state()
            element = system.find_nonfinite(state, a["Vd"])
            source = (
                f"{label(element)} returned a force that is not finite" if element else "a number that is not finite"
            )
            return NonFiniteError(
                f"{start} stopped: {source}. The run stopped before using it.", element=element, **common
            )
        if code == k.SINGULAR:
            return SolverError(
                f"{start} stopped: its matrix is singular. Usual causes: a mechanism locked in a singular position, "
                "or a part without mass, stiffness and constraint",
                **common,
            )
        if code == k.LARGE_ROTATION:
            node = system.nodes[int(np.argmax(np.abs(a["D"][:, 3:]).max(axis=1)))]
            return SolverError(
                f"{start} stopped: {label(node)} turns by more than 3 rad in one step; reduce h (with stiff "
                "flexible parts: rho_inf = 0)",
                element=node,
                **common,
            )
        if code == k.JUMP:
            node = system.nodes[int(run["jumped"])]
            return SolverError(
                f"Step {number}, t = {t:.6g} s: {label(node)} jumped: it moved or turned {10 * run['farthest']:.3g} "
                "times as far as its speeds and accelerations explain. The corrections found a configuration that is "
                "not the one next to the start of the step. Halve h, or use step_control=StepControl()",
                element=node,
                **common,
            )
        if code == k.OUT_OF_RANGE:
            state = self.state()
            element = element_checks.element_at(system, int(run["jumped"]))
            text = element.trouble(state) or f"{label(element)} is outside its range"
            return SolverError(f"Step {number}, t = {t:.6g} s: {text}", element=element, **common)
        if code == k.ENERGY_ROSE:
            return SolverError(
                f"Step {number}, t = {t:.6g} s: the energy rose by {run['largest_rise']:.3g} J, more than the step "
                "explains, although nothing drives the model. Halve h, or use step_control=StepControl(); without "
                "strict=True this is a warning of the result",
                **common,
            )
        if code == k.PASSED:
            contact = system.contact_at(int(run["swept_contact"]))
            return SolverError(
                f"{start} stopped: contact '{contact.name}' is passed within the step, and where it touches first "
                f"cannot be told: its bodies travel {run['sweep_travel']:.3g} m past each other, its size (`passage`) "
                f"is {run['sweep_size']:.3g} m. Reduce h, or let StepControl do it (step_control=fem.StepControl())",
                element=contact,
                **common,
            )
        if code == k.TOO_MANY_PROBLEMS:
            names = ", ".join(system.contact_at(int(c)).name for c in np.flatnonzero(a["candidate"])[:20])
            return SolverError(
                f"{start} stopped after {run['max_problems']} impact problems; contacts still approaching: {names}. "
                "Usual causes: restitution between many touching bodies (raise max_problems), or tol_v too small",
                **common,
            )
        if len(history) <= 1 and self.contact_problems is not None:
            return SolverError(
                f"{start} was not solved by the contact-problem solver: {self.contact_problems.last()}. Usual causes: "
                "step too large (halve h), or many redundant contacts between stiff or heavy bodies",
                **common,
            )
        row, owner, value = self._largest_row(which)
        tail = ", ".join(f"{r:.1e}" for r in history[-4:])
        cause = (
            "step too large for this contact (halve h), or redundant contacts (docs: redundant contacts)"
            if system.nc and which
            else "step too large (halve h; stiff flexible parts: rho_inf = 0), or forces that change abruptly"
        )
        return SolverError(
            f"{start} stopped after {len(history) - 1} iterations, residual {history[-1]:.1e} (relative tolerance "
            f"{run['rtol']:.0e}). Largest row: {row} ({value:.1e}). Residuals … {tail}. Usual causes: {cause}.",
            element=owner,
            **common,
        )

    def _largest_row(self, which):
        system, a = self.system, self.arrays
        dynamic = np.abs(system.reduced(a["r1"]))
        rows = np.abs(a["rate"] if which != 1 else a["g"])
        contact = np.abs(a["rows_c"]).ravel() if which else np.zeros(0)
        scale = float(self.run[0]["ks" if which == 0 else "kp"])
        values = np.concatenate([dynamic, scale * rows, scale * contact])
        i = int(np.argmax(values))
        owner, text = system.unknown(i)
        return text, owner, values[i]
