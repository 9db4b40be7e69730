"""Decoupled nonsmooth generalized-α on R³ × SO(3), for rigid and flexible systems with impacts and friction.

Each step solves three sub-problems one after the other: smooth motion with bilateral constraints (generalized-α, second
order), a position correction (no penetration, g = 0), a velocity correction (impact law, friction cones, G v = 0). The
scheme, its equations and decisions are in docs/theory/decoupled_nsga.md; the compiled parts are in this folder.

Source: Cosimo, Cavalieri, Cardona, Brüls, Nonlinear Dyn. 102 (2020); Sanchez2025, chapters 2-3, annexes A and B;
doubtful points as decided by measurement, decisions 1 to 14 there: factor ½ h² in the position equation (1), M(q) at
both levels (2), f^p and f^v as differences (3), rotations composed as R~ exp(U~) (4), active set G V~− < −tol_v with
impulses of earlier impact problems applied to all contacts (6), line search and penalty ladder (7), proximal shift (8).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.options import choice, choice_or_flag, flag, integer, number, option
from fem_mbs.errors import ParameterError, SolverError
from fem_mbs.solvers.alpha.method import AlphaMethod
from fem_mbs.solvers.nsga.data import TABLE
from fem_mbs.solvers.stepping.kernels.shared_factors import PRICE, price_of_matrix
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.layout import Rows
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.kernels.newton import Problem


PUBLISHED: dict[str, Any] = {  # options of the published scheme whose defaults are others here
    "approach": "start",
    "reset_after_impact": False,
    "persistent_contacts": False,
    "restitution_speed": "start",
    "impacts": "plain",
    "impact_law": "newton",
}


class DecoupledNSGA(AlphaMethod):
    """The default time stepper.

    Its defaults are choices for general use. `DecoupledNSGA.published` gives the scheme of the source with its choices.

    Parameters
    ----------
    rho_inf : float, 0 … 1, optional, -
        Spectral radius at infinite frequency: 1 keeps all frequencies, 0 removes what the step does not resolve. 0.8
        is a good choice for rigid systems; 0 for flexible ones with impacts and for smooth reactions after an impact.
        Default: 0.8, or that of the coefficients that are given.
    rtol : float > 0, -
        Relative tolerance of the three sub-problems. The error it leaves does not fall with h: at small steps 1e-5
        exceeds the discretisation error (nine times on a triple pendulum at h = 3e-5 s), and costs the same as 1e-6.
    penalty : float > 0, -
        p/k of contacts in the normal direction. 1 suits bodies that hit with all of their mass.
    max_problems : int
        Impact problems in one step before an error that names the contacts. In the second half of them all contacts
        that have acted take part, without restitution, which ends long sequences
        (``result.statistics["impact_sequences_cut_short"]`` counts these).
    position_factor : {0.5, 1.0}
        c_p of the position equation; 1 for very stiff flexible models at Courant numbers above 5
        (docs/theory/decoupled_nsga.md, decision 1).
    reset_after_impact : {"auto", "filtered", True, False}
        Restart the memory of the method after a step with an impact, whose accelerations belong to a motion that has
        ended (docs/theory/decoupled_nsga.md, decision 10). "filtered": with accelerations that are consistent with
        the state after the impact, in all that steps resolve; vibrations that they do not resolve keep their memory.
        True: in all, which shakes flexible parts. False: no restart, as published; a body that turns gains energy at
        its impacts, and joint forces oscillate after them for rho_inf > 0. Costs two linear solves per step with an
        impact. "auto": "filtered", but False in models with contacts on nodes of beams, shells, solids or
        superelements, which close one node after the other: a restart at each of them gives the force of two
        spheres that touch a peak of 1.10 of Hertz's for 1.005 without. Models with contact groups have none, because
        nearly all of their steps have impacts.
    persistent_contacts : {"auto", True, False}
        "auto": True, but not in models with contact groups or with contacts on nodes of beams, shells, solids or
        superelements (in the smooth motion of a mesh contacts that open and close shake it). False: as published. True:
        closed contacts take part in the smooth sub-problem (docs/theory/decoupled_nsga.md, (25)-(27)): second order in
        motion and forces while they stay closed, where the published scheme is of first order. Measured orders, largest
        errors: ball rolling in a drum 2.00 (0.98 without), leg on a sticking foot 2.00 (1.00), ball that slides and
        rolls in turn 1.96 (0.98), angle of a ball stopped by rolling or spinning resistance 1.96 … 2.0 (1.0). Where
        sticking, sliding or contact itself ends the error depends on where in its step that lies, still of second order
        in the motion; friction forces that jump are wrong in that step. Where sliding *reverses* without sticking the
        motion is of first order, with the option as without (1.2 and 1.1 measured): friction of the whole step has the
        direction in which it ends. Impacts that are split are of second order too, others of first (``impacts``).
        Contacts with a ``radius_contensou`` are of second order while they slide or drill.
    approach : {"slower", "start"}
        Normal velocity that Newton's law reflects. "slower": that along the normal at the end of the step, in which the
        impulse acts; of contacts that were closed before the slower of those along the normals at the start and at the
        end, none where one of them leaves. Normal impulses then never give energy. Where friction of contacts or joints
        makes the impulses of an impact gain energy (Kane's paradox), the largest part of the restitution that does not
        (``result.statistics["impacts_with_less_restitution"]`` counts these). Contacts that were open and approach
        at less than 0.1 of the speed of another impact at the same body take part after it, with the approach that it
        has given them. "start": that along the normals at the start of the step, as published, and no limit: for
        comparisons with published figures.
    restitution_speed : {"touch", "start"}
        Approach speed that Newton's law reflects at the first impact of a step: that at the touch, by the work that
        forces do on the way, or that at the start of the step, as published. With "touch" an elastic ball keeps its
        energy for any number of bounces, and a spinning body gains none; with "start" a ball loses what it gains on the
        last part of its path, m g² h/4 per second on average (docs/theory/sweep has figures, and what else changes).
    impacts : {"plain", "split", "auto"}
        "plain": an impact happens somewhere in its step, order 1, as published. "split": a step in which an open
        contact closes is cut there. Order 2, and no jumps when a parameter of the model changes: finite differences of
        runs are derivatives (docs/howto/optimisation.md). At most 3 in a step. Left as they are: impacts slower than
        what forces give in a step (about g h), and those of which no touch is found; ``result.statistics`` counts
        ``split_impacts`` and ``impacts_not_split``. Costs a few small steps per impact. Not with contact groups.
        "auto": isolated impacts alone are split, at most 3 in 50 steps; models with contact groups, with contacts on
        nodes of meshes, and solid bodies whose factors serve many steps, run as with "plain".
    impact_law : {"newton", "poisson", "stronge"}
        "newton": the normal velocity after an impact is -e times that before it. With "poisson" and "stronge" the
        impulses of an impact that is split are integrated along its normal impulse, in which slip may end, stick or
        reverse: until restitution has an e of the normal impulse of compression ("poisson"), or has given back e² of
        its work ("stronge"), see docs/theory/split_impacts.md. Friction then never does positive work, and no impact
        gains energy; e is the same where friction is zero or slip keeps its direction and does not change normal
        velocities. For impacts of one contact with friction while no other contact acts,
        without ``tangential_restitution``, resistance to rolling or spinning, discs or static friction, and in models
        without joint friction; Newton's law applies elsewhere. ``result.statistics`` counts ``impacts_by_poisson`` or
        ``impacts_by_stronge``, and as ``impacts_by_newton`` other steps with an impact. Not with contact groups or
        ``impacts="plain"``.
    mixed : bool
        Mixed Newton iteration in beams (same solution; converges where large steps make plain Newton fail).

    Raises
    ------
    ParameterError
        rho_inf outside [0, 1], non-positive tolerances or step sizes.

    Examples
    --------
    >>> result = DecoupledNSGA(rho_inf=0.8).run(model, t_end=1.0, h=1e-3)

    Notes
    -----
    Order 2 in smooth motion, at impacts that are split (by default isolated ones) and, with ``persistent_contacts``,
    while contacts stay closed; order 1 at other impacts. Joint reactions are k_s λ~ + k_v Λ/h; contact forces
    k_v Λ/h, which at an impact is an impulse divided by h.

    The ``impulse`` of a contact is the momentum that it hands over in the step: h times its force, and with
    ``persistent_contacts`` what the forces of closed contacts give on their way from the start of the step to its end
    (docs/theory/decoupled_nsga.md, (32)).
    """

    table = TABLE
    takes_grains = takes_mechanisms = passes_impacts_on = True
    named = ("smooth motion", "position correction", "velocity correction")

    max_problems: int = option(default=50, check=integer)
    position_factor: float = option(default=0.5, check=number(at_least=0.5, at_most=1))
    persistent_contacts: bool | str = option(default="auto", check=choice_or_flag("auto"))
    reset_after_impact: bool | str = option(default="auto", check=choice_or_flag("auto", "filtered"))
    restitution_speed: str = option(default="touch", check=choice("start", "touch"))
    impacts: str = option(default="auto", check=choice("plain", "split", "auto"))
    impact_law: str = option(default="newton", check=choice("newton", "poisson", "stronge"))
    mixed: bool = option(default=False, check=flag)

    def __post_init__(self) -> None:
        super().__post_init__()
        message = 'integrates impacts that are split; use impacts="auto" or "split"'
        self.check(self.impact_law == "newton" or self.impacts != "plain", "impact_law", self.impact_law, message)

    @classmethod
    def published(cls, rho_inf: float | None = None, **options: Any) -> "DecoupledNSGA":
        """Return the scheme of Sanchez2025 with all its choices, for comparisons with published figures.

        Parameters
        ----------
        rho_inf : float, 0 … 1, optional, -
            Spectral radius at infinite frequency. Default: 0.8, or that of coefficients among the options.
        **options
            Further arguments of `DecoupledNSGA`. They replace those of the published scheme: normal velocities along
            the normals at the start of the step, memory kept after impacts, closed contacts in the corrections
            alone, restitution by the speed at the start of the step, impacts anywhere in their step.

        Examples
        --------
        >>> DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5).approach
        'start'
        """
        return cls(rho_inf, **(PUBLISHED | options))

    def matrices(self, system: CompiledSystem) -> tuple[Rows, Rows, Rows]:
        """Rows of the matrices of the three sub-problems; contacts of groups are left to the contact-problem solver."""
        if system.searches:
            return Rows(), Rows(), Rows()
        smooth = Rows(friction=True)
        if self.keeps_contacts(system):
            smooth = Rows(True, "all" if system.n_roll else "", friction=True)
        apart = price_of_matrix(system) is not None  # the corrections, from the matrix whose factors are kept
        velocity = Rows(True, "all", drilling_first=True, friction=True, apart=apart)
        return smooth, Rows(True, "drilling", friction=system.nc > 0, apart=apart), velocity

    def keeps_contacts(self, system: CompiledSystem) -> bool:
        """True if closed contacts take part in the smooth sub-problem."""
        if self.persistent_contacts == "auto":
            return system.nc > 0 and not (system.searches or system.touches_meshes)
        return bool(self.persistent_contacts)

    def refuse(self, system: CompiledSystem) -> None:
        """Check for options that contact groups do not support."""
        options = {
            "persistent_contacts": self.persistent_contacts is True,
            "contact_solver": self.contact_solver if self.contact_solver == "newton" else None,
            "step_control": self.step_control,
            "impacts": self.impacts if self.impacts == "split" else None,
            "impact_law": self.impact_law if self.impact_law != "newton" else None,
        }
        for name, value in options.items():
            if system.searches and value:
                message = f"cannot be combined with contact groups ('{system.searches[0].owner.name}'); remove it"
                raise ParameterError(self, name, value, message)

    def parts(self) -> "dict[str, Entry]":
        """Compiled parts by name."""
        from fem_mbs.solvers.contact import sweep
        from fem_mbs.solvers.nsga import closed, position, scheme, smooth, velocity

        # what restarts the memory, see `scheme.finish` and `_start_contacts`
        restarts = self.persistent_contacts or self.reset_after_impact
        optional = {"restart": scheme.restart} if restarts else {}
        if self.persistent_contacts:
            optional["closed"] = closed.closed_part
        return {
            "advance": scheme.advance, "step": scheme.step, **optional,
            "smooth": smooth.smooth, "position": position.position, "velocity": velocity.velocity,
            "sweep": sweep.sweep, "settle": sweep.settle,
        }  # fmt: skip

    def parts_of_friction(self) -> "dict[str, Entry]":
        """Compiled parts of models with joint friction alone."""
        from fem_mbs.solvers.joint_friction import friction
        from fem_mbs.solvers.nsga import scheme

        return {"friction": friction.friction_part, "restart": scheme.restart}

    def impacts_of(self, system: CompiledSystem) -> str:
        """Treatment of the impacts of a model: "plain" without contacts; with "auto" where matrices are expensive, and
        where nodes of meshes touch, which a cut step shakes."""
        if system.nc == 0 or system.searches:
            return "plain"
        left = system.touches_meshes or price_of_matrix(system) is not None
        return "plain" if self.impacts == "auto" and left else self.impacts

    def parts_of_split_impacts(self) -> "dict[str, Entry]":
        """Compiled parts of runs in which impacts are split."""
        from fem_mbs.solvers.nsga import closed, course, scheme

        optional = {"course": course.course_part} if self.impact_law != "newton" else {}
        return {"closed": closed.closed_part, "restart": scheme.restart, **optional}

    def parts_of_static_friction(self) -> "dict[str, Entry]":
        """Compiled parts of models with contacts that have two coefficients of friction alone."""
        from fem_mbs.solvers.nsga import stiction

        return {"stiction": stiction.stiction_part}

    def problems(self, system: CompiledSystem) -> "dict[str, Problem]":
        """Problems of Newton's iteration."""
        from fem_mbs.solvers.contact import position, velocity
        from fem_mbs.solvers.nsga import smooth

        return {"smooth": smooth.PROBLEM, "position": position.PROBLEM, "velocity": velocity.PROBLEM}

    def scalars(self, system: CompiledSystem, h: float) -> dict[str, float]:
        """Numbers of the record of a run that are this method's own."""
        kept = self.keeps_contacts(system)
        return {
            **self._numbers_of_alpha(h), "position_factor": self.position_factor,
            "costly": int(self._costly(system)), "price": price_of_matrix(system) or PRICE,
            "mixed": int(self.mixed and any("mixed" in element.kernels for element in system.elements)),
            "drags": int(system.nc > 0 and _damped(system)),
            "persistent": int(kept and system.nc > 0), "reset": self.reset_of(system),
            "far": int(any(group.far for group in system.groups) and not (kept or system.searches)),
            "approach": int(self.approach == "slower"), "touch": int(self.restitution_speed == "touch"), "whole": h,
            "poisson": int(self.impact_law == "poisson"),
        }  # fmt: skip

    def sizes(self, system: CompiledSystem) -> dict[str, int]:
        """Nodes and constraint rows of models whose corrections are guessed, see `nsga.guesses`; 0 of others."""
        guessed = system.m > 0 and system.nc == 0 and not (system.searches or system.frictions)
        return {"gn": len(system.nodes) if guessed else 0, "gm": system.m if guessed else 0}

    def reset_of(self, system: CompiledSystem) -> int:
        """Number of `nsga.scheme` for the restart of the memory after an impact."""
        from fem_mbs.solvers.nsga.scheme import FILTERED, NEVER, PLAIN

        if self.reset_after_impact == "auto":
            return NEVER if system.searches or system.touches_meshes else FILTERED
        if self.reset_after_impact == "filtered":
            return NEVER if system.searches else FILTERED
        return PLAIN if self.reset_after_impact else NEVER

    def reset_after_split(self, system: CompiledSystem) -> dict[str, int]:
        """Restart of the memory after an impact that is split, by the numbers of `nsga.scheme`.

        With all accelerations where derivatives of runs are requested and bodies are rigid; otherwise without those of
        vibrations that steps do not resolve.
        """
        from fem_mbs.solvers.nsga.scheme import AT_START, FILTERED

        return {"reset": AT_START if self.impacts == "split" and not system.deformable().any() else FILTERED}

    def _costly(self, system: CompiledSystem) -> bool:
        """True if elements make matrices so costly that factors serve several steps; special problems have own ones."""
        special = self.mixed or self.keeps_contacts(system) or bool(system.frictions)
        flexible = any({"inertia", "force_tangent"} <= set(e.kernels) and len(e.nodes) > 1 for e in system.elements)
        return (
            (price_of_matrix(system) is not None or (system.nc > 0 and not system.searches))
            and not special
            and flexible
        )

    def impulses(self, engine: "Engine") -> dict[str, np.ndarray]:
        """Impulses as of all methods, and with persistent contacts those (nc, 3) of impacts [N s], [N m s].

        In contacts without an impact the excess over their forces is a change of these, not an impulse: at the end
        of several parts of a step the force is that of the last, which obeys the law.
        """
        joints = super().impulses(engine)
        if not engine.run[0]["persistent"]:
            return joints
        a = engine.arrays
        struck = (a["impact"] != 0)[:, None] * a["total_Lam"]
        force = struck[:, :3] * engine.system.force_scales
        return {**joints, "contact_force": force, "contact_moment": struck[:, 3:]}

    def counted(self, engine: "Engine") -> dict[str, int]:
        """Impacts by their law where both occur."""
        if self.impact_law == "newton":
            return {}
        own = engine.own[0]
        return {f"impacts_by_{self.impact_law}": int(own["by_course"]), "impacts_by_newton": int(own["by_newton"])}

    def starts_afresh(self, engine: "Engine") -> bool:
        return bool(engine.own[0]["fresh"])

    def rescale_contacts(self, arrays: dict[str, np.ndarray], ratio: float, made_anew: bool) -> None:
        """Treat them as the accelerations that they are a part of, see `nsga.momentum`."""
        change = arrays["cforce_change"] if made_anew else None
        self.rescale_memory(arrays["cforce_a"], arrays["cforce0"], ratio, change)

    def start(self, engine: "Engine", state: State) -> None:
        """Consistent accelerations and multipliers at the start of a run."""
        from fem_mbs.solvers.stepping.initial import initial_accelerations

        a, run = engine.arrays, engine.run[0]
        self.find_sliding(engine)
        if run["persistent"] or run["friction"]:
            self._start_consistent(engine, state)
        else:
            acceleration, lam = initial_accelerations(engine.system, state, engine.shift, matrices=engine.matrices)
            a["Vd0"][:] = a["Va0"][:] = acceleration
            a["lam"][:] = lam / run["ks"]
        a["Vd"][:] = a["Vd0"]
        a["lam_report"][:] = a["lam"] * run["ks"]

    def restart(self, engine: "Engine") -> None:
        """Consistent accelerations and multipliers at the present state, closed contacts included."""
        from fem_mbs.jit import address, invoke
        from fem_mbs.solvers.nsga import scheme
        from fem_mbs.solvers.stepping.kernels.friction_tasks import RESTARTED, SPEEDS

        own, run = engine.own[0], engine.run[0]
        if not own["restart_part"]:
            own["restart_part"] = scheme.restart.address
        if run["friction"]:
            invoke(int(run["friction_part"]), address(engine.run), SPEEDS)
        struck, run["struck"] = int(run["struck"]), 0  # the forces before an impact are not those that act now
        invoke(int(own["restart_part"]), address(engine.data), address(engine.run))
        run["struck"] = struck
        self.find_sliding(engine)
        if run["friction"]:
            invoke(int(run["friction_part"]), address(engine.run), RESTARTED)

    def _start_consistent(self, engine, state):
        """The first accelerations are consistent with closed contacts and friction in joints."""
        from fem_mbs.jit import address, invoke
        from fem_mbs.solvers.nsga.scheme import AT_START, CALM
        from fem_mbs.solvers.stepping.kernels.codes import OK
        from fem_mbs.solvers.stepping.kernels.friction_tasks import START, STARTED

        system, run = engine.system, engine.run[0]
        system.update_signals(state.t)
        if run["persistent"]:
            self._close_contacts(engine, state)
        if run["friction"]:
            invoke(int(run["friction_part"]), address(engine.run), START)
        own = engine.own[0]
        reset, own["since"], own["reset"] = int(own["reset"]), CALM, AT_START
        invoke(int(own["restart_part"]), address(engine.data), address(engine.run))
        own["reset"] = reset
        system.raise_python_errors(state.t)
        if run["code"] != OK:
            what = "mass, constraints, closed contacts and joint friction are singular"
            raise SolverError(f"initial accelerations: {what}", step=0, time=state.t)
        if run["friction"]:
            invoke(int(run["friction_part"]), address(engine.run), STARTED)

    @staticmethod
    def _close_contacts(engine, state):
        """Closed contacts that do not approach enter the smooth sub-problem at once."""
        from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK

        system, a, run = engine.system, engine.arrays, engine.run[0]
        velocity, tol_v = system.contact_velocities(state), run["tol_v"]
        rests = (a["was_active"] != 0) & (np.abs(velocity[:, 0]) <= 10 * tol_v)
        slides = np.linalg.norm(velocity[:, 1:], axis=1) > 10 * tol_v
        with_friction = np.where(slides, SLIP, STICK)
        kind = np.where(system.laws["static_friction"] > 0, with_friction, CLOSED)
        a["closed"][:] = a["entered"][:] = np.where(rests, kind, GAP)
        a["part"][:] = system.parts()


def _damped(system):
    """True if forces of elements depend on velocities; gyroscopic ones of rigid bodies do not count."""
    return any(e.viscous and "force_tangent" in e.kernels for e in system.elements)
