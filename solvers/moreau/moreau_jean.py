"""Moreau's time-stepping scheme with Jean's θ-method, on R³ × SO(3).

All contact and joint forces of a step are impulses of one problem in velocities; forces enter by the θ-method.
Equations, decisions and measured orders are in docs/theory/moreau_jean.md, the compiled parts in moreau/kernels.py.

Source: Moreau, Comput. Methods Appl. Mech. Engrg. 177 (1999) 329-349; Jean, the same, 235-257; Acary and Brogliato,
Numerical Methods for Nonsmooth Dynamical Systems (2008), chapter 10.
"""

from typing import Any

from fem_mbs.solvers.moreau.data import TABLE
from fem_mbs.solvers.stepping.stepper import Stepper
from fem_mbs.system.layout import Rows

FORECAST = 0.5  # γ unless another is given
WHOLE = 1.0 - 1e-6  # of the user's step: shorter ones are parts of it


class MoreauJean(Stepper):
    """Time stepping in velocities: robust, of first order with impacts, small.

    Parameters
    ----------
    theta : float, 0.5 … 1, -
        Weight of the end of a step in forces and velocities. 0.5 keeps energy and is of second order in smooth motion;
        1 damps what the step does not resolve and is of first order. With impacts in stiff structures: above 0.5.
    rtol : float, 0 … 1, -
        Relative tolerance of the problem of a step.
    max_iterations : int
        Newton iterations before a step is repeated with other penalties, then refused.
    forecast : float ≥ 0, -
        γ: contacts that are closed at q_n ∘ exp(γ h v_n) take part. 0: those that are closed at the start, which act a
        step late; ½: those that half a step of flight closes; 1: all that close within the step, early by up to one
        step, above the surface and not inside. Values above 1 stop bodies that would not have met.
    projection : bool
        Project positions onto g = 0 and gaps ≥ 0 after each step, then velocities onto G v = 0. Without it joints
        drift apart and contacts penetrate, by what docs/theory/moreau_jean.md has measured.
    scaling : float, optional [kg]
        k and p of the multipliers, as `DecoupledNSGA` has it. Results do not depend on it.
    penalty, friction_penalty : float > 0, -
        p/k of contacts in the normal direction, and of friction.
    contact_solver : {"auto", "newton", "problem"}
        "newton": semismooth Newton iterations. "problem": the contact-problem solver (`solve_contact_problem`).
        "auto": Newton, and that solver where it stalls; contact groups of free bodies by sweeps.
    contact_tolerance : float > 0, optional, -
        Scale-free error asked of the problems of contact groups. Default: 1e-3 where the spheres are free bodies, which
        sweeps solve; 1e-6 pair by pair.
    epsilon : float ≥ 0, optional, -
        Proximal shift of redundant constraints and contacts, as `DecoupledNSGA` has it.
    tol_v : float, optional [m/s]
        Approach speeds below it do not count as impacts of contacts that were closed before (``impact`` of a contact).
        Default: what the forces of a step without an impact, over the mean mass, change in it, with which contacts at
        rest approach.
    reference_force : float ≥ 0 [N]
        Forces are solved to ``rtol`` of it where those of the model are smaller.
    divide_failed_steps : bool
        Take a step that fails in parts, down to h/64, with θ = 1, and save it as one (docs/theory/accepted_steps). Not
        with contact groups. False: a step that fails ends the run.
    reuse : bool
        Keep a factorisation while it contracts the residual by 50 per iteration.

    Raises
    ------
    ParameterError
        θ outside [0.5, 1], non-positive tolerances or step sizes.

    Notes
    -----
    Joint reactions are P/h and contact forces Λ/h: means over the step, and at an impact an impulse divided by h.
    Accelerations are (v − v_n)/h, and zero in steps with an impact. Contacts are closed by their forecast. A step
    in which bodies pass each other, or are struck more than 14° from their first touch, is refused, not swept
    (docs/theory/sweep). Where Newton's iteration stalls the contact-problem
    solver takes over (``result.contact_problems``). There are no persistent contacts and no step control.

    Contact groups of free bodies are solved by sweeps, which have the gap in the law in place of a forecast
    (docs/theory/contact_groups.md). A ``forecast`` of your own, and ``projection`` that moves planes of the group, are
    for the way pair by pair, which the contact-problem solver takes.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.MoreauJean(theta=0.5, projection=True)
    """

    table = TABLE
    named = ("", "projection of positions", "problem of the step")
    # options of `DecoupledNSGA` that this method does without
    step_control, max_problems = None, 50
    velocities_first = takes_grains = takes_mechanisms = True

    def __init__(
        self,
        theta: float = 0.5,
        *,
        rtol: float = 1e-6,
        max_iterations: int = 30,
        forecast: float = FORECAST,
        projection: bool = False,
        scaling: float | None = None,
        penalty: float = 1.0,
        friction_penalty: float = 2.0 / 7.0,
        contact_solver: str = "auto",
        contact_tolerance: float | None = None,
        epsilon: float | None = None,
        tol_v: float | None = None,
        reference_force: float = 0.0,
        divide_failed_steps: bool = True,
        reuse: bool = True,
    ) -> None:
        self.theta = self.number("theta", theta, at_least=0.5, at_most=1)
        self._keep(
            rtol=rtol,
            max_iterations=max_iterations,
            scaling=scaling,
            penalty=penalty,
            friction_penalty=friction_penalty,
            epsilon=epsilon,
            tol_v=tol_v,
            contact_solver=contact_solver,
            contact_tolerance=contact_tolerance,
            divide_failed_steps=divide_failed_steps,
            reuse=reuse,
            reference_force=reference_force,
        )
        self.forecast = self.number("forecast", forecast, at_least=0)
        self.projection = self.as_flag("projection", projection)

    @property
    def order(self) -> int:
        return 2 if self.theta == 0.5 else 1

    @property
    def follows(self) -> bool:  # type: ignore[override]
        """Whether positions follow velocities: joints and contacts are closed in velocities alone."""
        return not self.projection

    def matrices(self, system: Any) -> tuple[Rows, Rows, Rows]:
        """Rows of the matrices: initial accelerations, projection of positions, the problem of a step; contacts of
        groups are left to the contact-problem solver.
        """
        if system.searches:
            return Rows(), Rows(), Rows()
        position = Rows(True, "drilling") if self.projection else Rows()
        return Rows(), position, Rows(True, "all", drilling_first=True)

    def refuse(self, system: Any) -> None:
        """Newton's iteration does not go with contact groups."""
        if system.searches and self.contact_solver == "newton":
            message = f"does not go with contact groups ('{system.searches[0].owner.name}'); leave it out"
            self.check(False, "contact_solver", self.contact_solver, message)

    def no_sweeps(self, system: Any) -> str | None:
        """Contacts chosen by a forecast of one's own, and planes that the projection moves after the sweeps."""
        if self.forecast != FORECAST:
            return "forecast chooses the contacts"
        planes = [k for search in system.searches for group in search.groups[1:] for k in group.partner_nodes]
        if self.projection and system.free[planes].any():
            return "projection moves planes"
        return None

    def parts(self) -> dict[str, Any]:
        """Compiled parts by name."""
        from fem_mbs.solvers.contact import passed, position
        from fem_mbs.solvers.moreau import kernels

        return {
            "advance": kernels.theta_advance, "step": kernels.theta_step,
            "position": position.position, "sweep": passed.look,
        }  # fmt: skip

    def problems(self, system: Any) -> dict[str, Any]:
        """What Newton's iteration solves: the problem of the step, and the two projections."""
        from fem_mbs.solvers.contact import position, velocity
        from fem_mbs.solvers.moreau import kernels

        return {"velocity": kernels.PROBLEM, "position": position.PROBLEM, "held": velocity.PROBLEM}

    def scalars(self, system: Any, h: float) -> dict[str, float]:
        """Numbers of the record of a run that are this method's own."""
        return {
            "gamma": self.forecast,
            **self._of_step(self.theta, h),
            "slow": self.tol_v or 0.0,
            "quiet": -1.0,
            "position_factor": 0.5,
            "project": int(self.projection and system.m + system.nc > 0),
        }

    def _of_step(self, theta: float, h: float) -> dict[str, float]:
        """Numbers that depend on θ and on the step size."""
        return {"theta": theta, "c_q": theta * h}

    def use(self, engine: Any, h: float) -> None:
        """Numbers of the records for a step h; parts of a step that has failed damp what rings, with θ = 1."""
        theta = self.theta if h > WHOLE * engine.h else 1.0
        for name, value in self._of_step(theta, h).items():
            engine.record_of(name)[name] = value

    def start(self, engine: Any, state: Any) -> None:
        """First guess of the first step, from consistent accelerations; forces at the start."""
        from fem_mbs.solvers.stepping.initial import initial_accelerations

        a, system = engine.arrays, engine.system
        acceleration, lam = initial_accelerations(system, state, engine.shift, matrices=engine.matrices)
        a["W"][:] = engine.h * acceleration
        a["lam_report"][:] = lam
        a["f0"][:] = system.f

    def restart(self, engine: Any) -> None:
        """Forces at the present state, where the next step begins."""
        engine.arrays["f0"][:] = engine.system.forces(engine.state())[1]
