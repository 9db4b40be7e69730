"""Time stepping by cone complementarity problems, on R³ × SO(3).

A step is semi-implicit: gaps, normals and gradients of joints at its start, velocities and impulses at its end. All
contacts and joints are one complementarity problem over friction cones, with the gap in the law. Equations, decisions
and measurements are in docs/theory/cone_complementarity.md, the compiled parts in cone/kernels.py.

Source: Tasora and Anitescu, Comput. Methods Appl. Mech. Engrg. 200 (2011) 439-453; Negrut, Serban and Tasora, J.
Comput. Nonlinear Dyn. 13 (2018) 014503.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.options import flag, option, optional, positive, unsupported
from fem_mbs.solvers.cone.data import TABLE
from fem_mbs.solvers.stepping.kernels.codes import COUPLED_SHIFT, SHIFT
from fem_mbs.solvers.stepping.stepper import Stepper
from fem_mbs.system.layout import Rows

if TYPE_CHECKING:
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.kernels.newton import Problem
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State


NEVER = 2**62
MANY = 60  # contacts of a step: at 63 (spheres) both ways take the same time, at 160 Newton takes four times that
SLOW = 20.0  # times |gravity| h: slower approaches are not reflected


class ConeComplementarity(Stepper):
    """Time stepping by cone complementarity (CCP, DVI): one convex problem per step, of first order.

    Parameters
    ----------
    relaxed : bool
        True: the convex problem of the sources, with one motion as its solution and solvers that find it. Sliding
        contacts then float: a contact that slides with v_T keeps a gap of h μ |v_T|, and one that begins to slide is
        thrown off with μ |v_T|, whatever h. False: Coulomb's law (De Saxcé's term), without this.
    recovery_speed : float, optional [m/s]
        Largest speed with which overlaps are taken back. Default: in one step, whatever speed that gives. Open gaps
        are not concerned.
    contact_distance : float > 0, optional [m]
        Gap at the start of a step up to which a contact takes part in it, δ of Negrut2018; pairs of contact groups all
        do. Contacts that close from farther off overlap; the next step corrects that, and they leave with the speed of
        the correction. Default: twice the gap that the fastest node could close.
    tol_v : float, optional [m/s]
        Approach speeds below it are not reflected, and are no impacts in ``result.impact``. Default: 20 |gravity| h,
        and at least 1e-8 of the largest initial speed.
    epsilon : float ≥ 0, optional, -
        Proximal shift of redundant constraints and contacts, relative. Default: as of `DecoupledNSGA`; for contacts
        with ``relaxed=False`` 1e-6.
    contact_solver : {"auto", "newton", "problem"}
        "newton": semismooth Newton iterations. "problem": the contact-problem solver (`solve_contact_problem`).
        "auto": Newton, and that solver where it stalls or where more than 60 contacts may act in a step.

    Raises
    ------
    ParameterError
        Speeds, tolerances or step sizes that are not positive; single contacts with a ``radius_contensou``.

    Notes
    -----
    Forces are implicit in positions and velocities (h C + h² K), so that flexible elements do not limit the step; they
    are damped as by the implicit Euler method. Joint reactions are P/h and contact forces Λ/h: means over the step.
    Joints and gaps are corrected by the next step, so that they drift by what a step of size h bends away, O(h²).

    The sources know perfectly inelastic contacts. Restitution is Newton's: where bodies meet within the step
    e_N times the approach speed takes the place of the gap in the law; they turn back up to one step early, above each
    other, not inside. Contacts with a gap that an impact of the same step closes are stopped without a rebound. What
    that has lost is ``result.statistics["restitution_lost"]`` [J], and a warning above 5 % of the largest kinetic
    energy.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.ConeComplementarity(relaxed=False, recovery_speed=0.1)
    """

    table = TABLE
    named = ("", "", "problem of the step")
    velocities_first = follows = True
    takes_grains = takes_mechanisms = True
    leads_grains = False

    relaxed: bool = option(default=True, check=flag, kw_only=False)
    recovery_speed: float | None = option(default=None, check=optional(positive("m/s")))
    contact_distance: float | None = option(default=None, check=optional(positive("m")))
    tol_v: float | None = option(default=None, check=optional(positive("m/s")))
    approach: str = unsupported(default="")
    step_control: None = unsupported()

    @property
    def contact_shift(self) -> float:  # type: ignore[override]
        """Proximal shift of redundant contacts: with Coulomb's law round-off must not decide what each of them carries,
        as bodies turn by it."""
        return SHIFT if self.relaxed else COUPLED_SHIFT

    def matrices(self, system: "CompiledSystem") -> tuple[Rows, Rows, Rows]:
        """Rows of the matrices: initial accelerations, none, the problem of a step."""
        return Rows(), Rows(), Rows() if system.searches else Rows(True, "all", friction=True)

    def refuse(self, system: "CompiledSystem") -> None:
        """Raise for contacts whose friction couples sliding and drilling, and groups with Newton's iteration.

        Gauss-Seidel iterations support such friction; it is for groups that they solve.
        """
        for c in np.flatnonzero(system.drill_arm[: system.nc_fixed] > 0.0):
            message = "has a radius_contensou, which ConeComplementarity does not support: use spinning_resistance, or "
            self._refuse_part(system.contact_at(int(c)), message + "DecoupledNSGA")
        if system.searches and self.contact_solver == "newton":
            message = f"cannot be combined with contact groups ('{system.searches[0].owner.name}'); remove it"
            self.check(False, "contact_solver", self.contact_solver, message)

    def parts(self) -> "dict[str, Entry]":
        """Compiled parts by name."""
        from fem_mbs.solvers.cone import kernels
        from fem_mbs.solvers.contact import passed

        return {"advance": kernels.cone_advance, "step": kernels.cone_step, "sweep": passed.look}

    def problems(self, system: "CompiledSystem") -> "dict[str, Problem]":
        """Problems of Newton's iteration."""
        from fem_mbs.solvers.cone import kernels

        return {"velocity": kernels.PROBLEM}

    def scalars(self, system: "CompiledSystem", h: float) -> dict[str, float]:
        """Numbers of the record of a run that are this method's own."""
        slow = max(SLOW * system.largest_gravity * h, system.slow_at(system.initial)) or 1e-15 * system.size / h
        return {
            "biased": 1,
            "whole": h,
            "relaxed": int(self.relaxed),
            "many": MANY if self.contact_solver == "auto" else NEVER,
            "distance": -1.0 if self.contact_distance is None else self.contact_distance,
            "recovery": math.inf if self.recovery_speed is None else self.recovery_speed,
            "tol_v": slow if self.tol_v is None else self.tol_v,
        }

    def counted(self, engine: "Engine") -> dict[str, float]:
        """Energy that restitution would have left, of all contacts [J]."""
        groups = 0.0 if engine.grains is None else engine.grains.statistics()["restitution_lost"]
        return {"restitution_lost": float(engine.own[0]["all_lost"]) + groups}

    def start(self, engine: "Engine", state: "State") -> None:
        """First guess of the first step, from consistent accelerations."""
        from fem_mbs.solvers.stepping.initial import initial_accelerations

        a = engine.arrays
        acceleration, lam = initial_accelerations(engine.system, state, engine.shift, matrices=engine.matrices)
        a["W"][:] = engine.h * acceleration
        a["lam_report"][:] = lam
        self.start_friction(engine, acceleration)

    def restart(self, engine: "Engine") -> None:
        """What slides at the present state, where forces have jumped."""
        self.start_friction(engine)
