"""Lobatto IIIA-IIIB time stepping with contacts, in the variational form on R³ × SO(3).

Positions by Lobatto IIIA, momenta by IIIB: symplectic, of order 2 s − 2 with s stages. Equations, decisions and
measured orders are in docs/theory/lobatto.md, the compiled parts in lobatto/kernels.py and the files that it imports.

Source: Capobianco, Harsch, Leyendecker, Comput. Methods Appl. Mech. Engrg. 418 (2024) 116496.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.options import choice, flag, option, unsupported
from fem_mbs.errors import ParameterError, label
from fem_mbs.solvers.lobatto.data import TABLE
from fem_mbs.solvers.lobatto.stability import largest_frequency, stability_limit
from fem_mbs.solvers.lobatto.tableau import MOST_STAGES, tableau
from fem_mbs.solvers.stepping.kernels.codes import COUPLED_SHIFT
from fem_mbs.solvers.stepping.options import fraction
from fem_mbs.solvers.stepping.stepper import Stepper
from fem_mbs.system.layout import Rows, Stack
from fem_mbs.system.records import POSITION, TRANSLATIONS

if TYPE_CHECKING:
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.kernels.newton import Problem
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.layout import Pattern
    from fem_mbs.system.state import State


def _known(owner, name, value):
    """Check for a number of stages whose steps gain from them."""
    stages = owner.as_integer(name, value, at_least=2)
    message = (
        f"stages are more than {MOST_STAGES}, with which the error of the longest stable step of an oscillator is "
        f"round-off: more cost time and gain no accuracy. Take {MOST_STAGES} or fewer, 3 or 4 for most models"
    )
    owner.check(stages <= MOST_STAGES, name, value, message)
    return stages


class LobattoIIIAB(Stepper):
    """Time stepping of any even order that keeps energy and momentum; for rigid bodies and precise motion.

    Parameters
    ----------
    stages : int, 2 … 11
        Order 2 s − 2 with s stages in smooth motion: 2, 4, 6, 8, …; 1 with impacts that are not located (``impacts``).
        The unknowns of a step are s times those of one stage. How to choose: three for most models, four to six for
        smooth motion with errors near round-off, in steps that are a part of a revolution; with impacts that are not
        located three are better than more.
    rtol : float, 0 … 1, -
        Relative tolerance of the two problems of a step: smaller than the error of the steps.
    step_control : StepControl, optional
        Steps of variable size: halved when they fail, with a tolerance larger in smooth motion. The motion then loses
        what a constant step keeps: energy errors grow with time.
    impacts : {"plain", "split"}
        "plain": contacts act in the rows of the stages; order 1 at impacts. "split": a step is cut where an open
        contact touches, and where a closed one opens, begins to slide or sticks: order 2 s − 2 through impacts and
        transitions (docs/theory/lobatto.md, located impacts and transitions).
        At most 3 in a step. Left as they are: impacts slower than what forces give in a step (about g h), events of
        which no time is found; ``result.statistics`` counts ``split_impacts``, ``impacts_not_split``,
        ``located_transitions`` and ``transitions_not_located``. Costs a few small steps per event.
    check_stability : bool
        Reject steps that are too large for the highest frequency of the model at its start, see Raises.

    Raises
    ------
    ParameterError
        Other numbers of stages; a model with contact groups; ``impacts="split"`` in a model whose contacts have static
        and sliding friction, or with contacts and joint friction; h ω above 2, 2.83, 3.11, 3.14 (2, 3, 4, more
        stages), with the largest frequency ω of the model: the scheme has no numerical damping, and such steps diverge.

    Notes
    -----
    No numerical damping: energy errors stay bounded, and what a step does not resolve stays. Reported forces of joints
    and accelerations are those that are consistent with the motion at the end of the step; contact forces are means
    over the step. In a step with an impact forces of joints are their impulses over h, and accelerations are zero.
    ``result.statistics["steps_by_impulses"]`` counts steps in which contacts had no solution at the stages and were
    left to the impulses at the end (docs/theory/lobatto.md, steps that fail), "unsolved_lasting_contacts" those in
    which contacts that stick or slip in the whole step were not solved as such, and the step is of lower order.
    Contact groups are for `DecoupledNSGA`, `MoreauJean` and `ConeComplementarity`.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.LobattoIIIAB(stages=3)
    """

    table = TABLE
    named = ("", "stage problem", "impact problem")
    contact_shift = COUPLED_SHIFT
    means_at_impacts = True
    friction_penalty = 1.0
    locates_transitions = True

    stages: int = option(default=3, check=_known, kw_only=False)
    impacts: str = option(default="plain", check=choice("plain", "split"))
    check_stability: bool = option(default=True, check=flag)
    rtol: float = option(default=1e-10, check=fraction)
    approach: str = unsupported(default="")
    contact_solver: str = unsupported(default="auto")
    contact_tolerance: None = unsupported()

    @property
    def order(self) -> int:
        return 2 * self.stages - 2

    @property
    def instants(self) -> tuple[float, ...]:  # type: ignore[override]
        """Parts of a step at which its stages are."""
        return tuple(float(c) for c in tableau(self.stages).c)

    def matrices(self, system: "CompiledSystem") -> tuple[Rows, Rows, Rows]:
        """Rows of the matrices: accelerations at the end, one stage, the impact problem."""
        contacts = Rows(True, "all", drilling_first=True)
        return Rows(), contacts, Rows(True, "all", drilling_first=True, friction=True)

    def stack(self, system: "CompiledSystem") -> Stack:
        """The matrix of the stage problem: every stage moves all others."""
        return Stack(POSITION, (self.stages * "x",) * self.stages)

    def refuse(self, system: "CompiledSystem") -> None:
        """Raise for models with contact groups, and nodes that turn about two axes only."""
        self._refuse_groups(system)
        if self.impacts == "split" and system.nc:
            several = [contact for contact in system.contacts if contact.two_coefficients]
            for part, what in ((several, "static and sliding friction"), (system.frictions, "joint friction")):
                if part:
                    message = f"does not support {what} ({label(part[0])}); remove it, or use DecoupledNSGA"
                    raise ParameterError(self, "impacts", self.impacts, message)
        two = np.flatnonzero(system.free[:, 3:].sum(axis=1) == 2)
        if len(two):
            message = (
                "turns about two of its axes only: a fixed rotation component is not known to LobattoIIIAB unless "
                "one or none is free; use a joint"
            )
            self._refuse_part(system.nodes[two[0]], message)

    def _refuse_massless(self, system, state):
        mass = system.expanded(system.matrices(state, mass_only=True).diagonal())
        light = np.flatnonzero((system.free & (mass == 0.0)).any(axis=1))
        if len(light):
            message = (
                f"and {len(light) - 1} more nodes have" if len(light) > 1 else "has"
            ) + " a component without mass, which LobattoIIIAB cannot step: take DecoupledNSGA, or give it mass"
            self._refuse_part(system.nodes[light[0]], message)

    def parts(self) -> "dict[str, Entry]":
        """Compiled parts by name."""
        from fem_mbs.solvers.contact import passed
        from fem_mbs.solvers.lobatto import kernels

        return {"advance": kernels.lobatto_advance, "step": kernels.lobatto_step, "sweep": passed.look}

    def impacts_of(self, system: "CompiledSystem") -> str:
        """Treatment of the impacts of a model: "plain" without contacts."""
        return self.impacts if system.nc else "plain"

    def parts_of_split_impacts(self) -> "dict[str, Entry]":
        """Compiled parts of runs in which impacts are split."""
        from fem_mbs.solvers.lobatto import located

        return {"located": located.located_part}

    def ended_at(self, engine: "Engine") -> tuple[bool, bool]:
        own = engine.own[0]
        return bool(own["touched"]), bool(own["changed"])

    def parts_of_friction(self) -> "dict[str, Entry]":
        from fem_mbs.solvers.lobatto import friction

        return {"friction": friction.friction_part}

    def problems(self, system: "CompiledSystem") -> "dict[str, Problem]":
        """Problems of Newton's iteration: the stages, and the velocities at the end."""
        from fem_mbs.solvers.lobatto import impact, stages

        return {"stage": stages.PROBLEM, "velocity": impact.PROBLEM}

    def scalars(self, system: "CompiledSystem", h: float) -> dict[str, float]:
        """Numbers of the record of a run that are this method's own."""
        return {"position_factor": 0.5, "averaged": int(bool(system.non_holonomic)), "whole": h}

    def counted(self, engine: "Engine") -> dict[str, int]:
        """Steps that were solved by impulses, see docs/theory/lobatto.md, steps that fail."""
        own = engine.own[0]
        return {"steps_by_impulses": int(own["left_to_impulses"]), "unsolved_lasting_contacts": int(own["fell_back"])}

    def impulses(self, engine: "Engine") -> dict[str, np.ndarray]:
        """All that the joints gave in the last step (m,) [N s]: what they report of a step with an impact."""
        a, last = engine.arrays, self.stages - 1
        return {"multiplier": engine.run[0]["kv"] * (a["Lam"] + a["b"][:last] @ a["Ri"][:last])}

    @property
    def error_order(self) -> int:
        """Power of h with which `local_error` goes."""
        return min(2 * self.stages - 1, 5)

    def local_error(self, engine: "Engine", h: float, change: np.ndarray | None) -> float | None:
        """Error [m] of the last step, `lobatto.error` (1), and by the change of joint friction.

        None where contacts act or one end was an impact.
        """
        from fem_mbs.jit import address, invoke
        from fem_mbs.solvers.lobatto import error

        if not engine.own[0]["steady"]:
            return None
        invoke(error.step_error.address, address(engine.data), address(engine.run))
        return float(engine.own[0]["error"]) + 0.5 * h * h * float(engine.run[0]["friction_change"])

    def start(self, engine: "Engine", state: "State") -> None:
        """Coefficients, places of the nodes in a block, and accelerations at the start; the check of the step size.

        Raise for components without mass: forces of a step are one fewer than its rows of momentum, so that these have
        no solution, or many.
        """
        a, system, pair = engine.arrays, engine.system, tableau(self.stages)
        a["a"][:], a["a_hat"][:], a["b"][:], a["averages"][:] = pair.a, pair.a_hat, pair.b, pair.averages
        for name in ("Ti", "Ex"):
            a[name][:] = np.eye(3)
        pattern = engine.matrices.layouts[POSITION].pattern
        a["place"][:] = places_of_rotations(system, pattern)
        used, a["offset"][:], a["stride"][:] = places_of_entries(system, pattern, self.stages)
        a["used"][: len(used)] = used
        engine.record_of("n_used")["n_used"] = len(used)
        self.changed(engine)
        a["lam_report"][:] = self._accelerations(engine)
        self.start_friction(engine, a["Vd0"])
        self._refuse_massless(system, state)

    def changed(self, engine: "Engine") -> None:
        """The check of the step size, whose limit depends on what acts."""
        if self.check_stability:
            engine.longest = self._longest_step(engine.system, engine.state(), engine.h)

    def restart(self, engine: "Engine") -> None:
        """Accelerations at the present state, where the next step begins: all that it has of the one before."""
        self._accelerations(engine)
        self.start_friction(engine)

    @staticmethod
    def _accelerations(engine):
        """Store the accelerations at the present state for the next step; returns the multipliers (m,)."""
        from fem_mbs.solvers.stepping.initial import initial_accelerations

        a = engine.arrays
        found = initial_accelerations(engine.system, engine.state(), engine.shift, matrices=engine.matrices)
        a["Vd"][:] = a["Vd0"][:] = found[0]
        engine.record_of("quiet")["quiet"] = 1
        return found[1]

    def _longest_step(self, system, state, h):
        """Limit of stability [s] at the start; raise where h is beyond it."""
        omega, limit = largest_frequency(system, state), stability_limit(self.stages)
        if h * omega > limit:
            raise ParameterError(
                self, "h", h,
                f"s is too large for the highest frequency of the model, {omega:.3g} rad/s: h must be below "
                f"{limit:.4g}/ω = {limit / omega:.3g} s with {self.stages} stages, or the motion diverges. Stiff "
                "flexible parts: use DecoupledNSGA (or check_stability=False)",
            )  # fmt: skip
        return limit / omega if omega > 0.0 else np.inf


def places_of_entries(
    system: "CompiledSystem", pattern: "Pattern", stages: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of a block that elements have (k,); of all of them, in the order of ``used`` first, their places in the
    first block of a matrix of stages × stages blocks, and the distance to the block below.
    """
    maps = pattern.places(system)
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *maps]))
    used = used[used >= 0].astype(np.int64)
    pointers = pattern.pointers.astype(np.int64)
    column = np.searchsorted(pointers, used, side="right") - 1
    first, length = pointers[column], pointers[column + 1] - pointers[column]
    offset, stride = np.zeros((2, len(pattern.rows)), np.int64)
    offset[: len(used)], stride[: len(used)] = (stages - 1) * first + used, length
    return used, offset, stride


def places_of_rotations(system: "CompiledSystem", pattern: "Pattern") -> np.ndarray:
    """Places (N, 3, 3) of the rotations of each node in the values of a matrix; −1 where there is none."""
    place = np.full((len(system.nodes), 3, 3), -1, np.int64)
    for group, where in zip(system.groups, pattern.maps):
        if where is None or group.width == TRANSLATIONS:
            continue
        for k in range(group.nodes.shape[1]):
            rows = slice(6 * k + 3, 6 * k + 6)
            place[group.nodes[:, k]] = where[:, rows, rows]
    return place
