"""Moreau's time-stepping scheme with Jean's θ-method, on R³ × SO(3).

All contact and joint forces of a step are impulses of one problem in velocities; forces enter by the θ-method.
Equations, decisions and measured orders are in docs/theory/moreau_jean.md, the compiled parts in moreau/kernels.py.

Source: Moreau, Comput. Methods Appl. Mech. Engrg. 177 (1999) 329-349; Jean, the same, 235-257; Acary and Brogliato,
Numerical Methods for Nonsmooth Dynamical Systems (2008), chapter 10.
"""

from typing import TYPE_CHECKING

from fem_mbs.arguments.options import flag, number, option, unsupported
from fem_mbs.solvers.moreau.data import TABLE
from fem_mbs.solvers.stepping.stepper import Stepper
from fem_mbs.system.layout import Rows

if TYPE_CHECKING:
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.kernels.newton import Problem
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State


WHOLE = 1.0 - 1e-6  # of the user's step: shorter ones are parts of it


class MoreauJean(Stepper):
    """Time stepping in velocities: robust, of first order with impacts, small.

    Parameters
    ----------
    theta : float, 0.5 … 1, -
        Weight of the end of a step in forces and velocities. 0.5 keeps energy and is of second order in smooth motion;
        1 damps what the step does not resolve and is of first order. With impacts in stiff structures: above 0.5.
    projection : bool
        Project positions onto g = 0 and gaps ≥ 0 after each step, then velocities onto G v = 0. Without it joints
        drift apart and contacts penetrate, by what docs/theory/moreau_jean.md has measured.
    divide_failed_steps : bool
        Subdivide a step that fails, down to h/64, with θ = 1, and save it as one (docs/theory/accepted_steps). Not with
        contact groups. False: a step that fails ends the run.

    Raises
    ------
    ParameterError
        θ outside [0.5, 1], non-positive tolerances or step sizes.

    Notes
    -----
    Joint reactions are P/h and contact forces Λ/h: means over the step, and at an impact an impulse divided by h.
    Accelerations are (v − v_n)/h, and zero in steps with an impact. Contacts that half a step of flight closes take
    part. A step in which bodies pass each other, or meet more than 14° from their first touch, is rejected, not
    swept (docs/theory/sweep). Where Newton's iteration stalls the contact-problem solver takes over
    (``result.contact_problems``). There are no persistent contacts and no step control.

    Contact groups of free bodies are solved by projected Gauss-Seidel iterations, which have the gap in the law in
    place of a forecast (docs/theory/contact_groups.md); with a ``projection`` that moves planes of the group by the
    contact-problem solver.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.MoreauJean(theta=0.5, projection=True)
    """

    table = TABLE
    named = ("", "projection of positions", "problem of the step")
    velocities_first = takes_grains = takes_mechanisms = True

    theta: float = option(default=0.5, check=number(at_least=0.5, at_most=1), kw_only=False)
    projection: bool = option(default=False, check=flag)
    approach: str = unsupported(default="")
    step_control: None = unsupported()

    @property
    def order(self) -> int:
        return 2 if self.theta == 0.5 else 1

    @property
    def follows(self) -> bool:  # type: ignore[override]
        """True if positions follow velocities: joints and contacts are closed in velocities alone."""
        return not self.projection

    def matrices(self, system: "CompiledSystem") -> tuple[Rows, Rows, Rows]:
        """Rows of the matrices: initial accelerations, projection of positions, the problem of a step; contacts of
        groups are left to the contact-problem solver.
        """
        if system.searches:
            return Rows(), Rows(), Rows()
        position = Rows(True, "drilling") if self.projection else Rows()
        return Rows(), position, Rows(True, "all", drilling_first=True, friction=True)

    def refuse(self, system: "CompiledSystem") -> None:
        """Check that Newton's iteration is not combined with contact groups."""
        if system.searches and self.contact_solver == "newton":
            message = f"cannot be combined with contact groups ('{system.searches[0].owner.name}'); remove it"
            self.check(False, "contact_solver", self.contact_solver, message)

    def no_sweeps(self, system: "CompiledSystem") -> str | None:
        """Planes that the projection moves after the Gauss-Seidel iterations."""
        planes = [k for search in system.searches for group in search.groups[1:] for k in group.partner_nodes]
        if self.projection and system.free[planes].any():
            return "projection moves planes"
        return None

    def parts(self) -> "dict[str, Entry]":
        """Compiled parts by name."""
        from fem_mbs.solvers.contact import passed, position
        from fem_mbs.solvers.moreau import kernels

        return {
            "advance": kernels.theta_advance, "step": kernels.theta_step,
            "position": position.position, "sweep": passed.look,
        }  # fmt: skip

    def problems(self, system: "CompiledSystem") -> "dict[str, Problem]":
        """Problems of Newton's iteration: the problem of the step, and the two projections."""
        from fem_mbs.solvers.contact import position, velocity
        from fem_mbs.solvers.moreau import kernels

        return {"velocity": kernels.PROBLEM, "position": position.PROBLEM, "held": velocity.PROBLEM}

    def scalars(self, system: "CompiledSystem", h: float) -> dict[str, float]:
        """Numbers of the record of a run that are this method's own."""
        return {
            **self._of_step(self.theta, h),
            "quiet": -1.0,
            "position_factor": 0.5,
            "project": int(self.projection and system.m + system.nc > 0),
        }

    def _of_step(self, theta: float, h: float) -> dict[str, float]:
        """Numbers that depend on θ and on the step size."""
        return {"theta": theta, "c_q": theta * h}

    def use(self, engine: "Engine", h: float) -> None:
        """Numbers of the records for a step h; parts of a step that has failed damp what rings, with θ = 1."""
        theta = self.theta if h > WHOLE * engine.h else 1.0
        for name, value in self._of_step(theta, h).items():
            engine.record_of(name)[name] = value

    def start(self, engine: "Engine", state: "State") -> None:
        """First guess of the first step, from consistent accelerations; forces at the start."""
        from fem_mbs.solvers.stepping.initial import initial_accelerations

        a, system = engine.arrays, engine.system
        acceleration, lam = initial_accelerations(system, state, engine.shift, matrices=engine.matrices)
        a["W"][:] = engine.h * acceleration
        a["lam_report"][:] = lam
        a["f0"][:] = system.f
        self.start_friction(engine, acceleration)

    def restart(self, engine: "Engine") -> None:
        """Forces at the present state, where the next step begins, and what slides there."""
        self.start_friction(engine)
        engine.arrays["f0"][:] = engine.system.forces(engine.state())[1]
