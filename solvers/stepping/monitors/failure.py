"""Diagnosis of a failed step: an error that names element, row or contact, and says what to do."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import FemMbsError, NonFiniteError, SolverError, label
from fem_mbs.solvers.stepping.kernels.blocked import (
    blocked_contacts,
    closing_contacts,
    drivers_towards,
    moved_by_joints,
    squeezing_contacts,
)
from fem_mbs.solvers.stepping.kernels.checks import FAST
from fem_mbs.solvers.stepping.kernels.codes import (
    ELSEWHERE,
    ENERGY_ROSE,
    EXHAUSTED,
    JUMP,
    LARGE_ROTATION,
    LARGEST_TURN,
    MISSED,
    NOT_FINITE,
    OUT_OF_RANGE,
    PASSED,
    SINGULAR,
    TOO_MANY_PROBLEMS,
    UNDECIDED,
    UNRESOLVED,
)
from fem_mbs.solvers.stepping.monitors.energy_watch import cause
from fem_mbs.system.checks import element_checks

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.nodes import Node
    from fem_mbs.solvers.stepping.engine import Engine

FAR = 100.0  # sizes from the origin: a bar of steel of 1 m on a hinge has failed at 1000
NAMED = 20  # contacts that an error lists
HOW = {
    UNDECIDED: "is passed within the step, and the position of first touch is undecided",
    MISSED: "is passed within the step and has not acted",
    ELSEWHERE: "acts along a normal that is more than 14° off that of its first touch within the step",
    UNRESOLVED: "has an impact within one step, which does not resolve its force law",
}


class _Failure:
    """One failed step: data of all errors, and one function for each kind of failure."""

    def __init__(self, engine: "Engine", code: int, t: float) -> None:
        self.engine, self.code, self.t = engine, code, t
        self.system, self.arrays, self.run = engine.system, engine.arrays, engine.run[0]
        self.which = int(self.run["failed_problem"])
        self.number = int(self.run["step_number"]) + (code != ENERGY_ROSE)  # which is seen when the step is done
        self.where = f"Step {self.number}, t = {t:.6g} s:"
        self.start = f"{self.where} {engine.method.named[self.which]}"
        self.smaller_steps = engine.method.smaller_steps(engine.system)
        self.damps = (engine.method.rho_inf or 0.0) > 0.0
        self.history = self.arrays["history"][: int(self.run["history_length"])]

    def error(
        self, text: str, element: "Element | Node | None" = None, kind: type[SolverError] = SolverError
    ) -> SolverError:
        return kind(text, element=element, step=self.number, time=self.t, history=self.history)

    def not_finite(self) -> SolverError:
        state, a = self.engine.state(), self.arrays
        if self.which == 0:
            state.x[:], state.Q[:], state.R[:], state.V[:] = a["xs"], a["Qs"], a["Rs"], a["Vs"]
        element = self.system.find_nonfinite(state, a["Vd"])
        source = f"{label(element)} returned a force that is not finite" if element else "a number that is not finite"
        text = f"{self.start} stopped: {source}. The run stopped before using it."
        if element is not None and element.cell is not None:
            text += (
                " Usual cause: it was pressed flat or turned inside out. Smaller steps, smaller elements where the "
                "load acts, another type of element (which one: docs/theory/solids.md), or a harder material."
            )
        return self.error(text, element, NonFiniteError)

    def singular(self) -> SolverError:
        return self.error(
            f"{self.start} stopped: its matrix is singular. Usual causes: a mechanism locked in a singular position, "
            "or a part without mass, stiffness and constraint"
        )

    def large_rotation(self) -> SolverError:
        node = self.system.nodes[int(np.argmax(np.abs(self.arrays["D"][:, 3:]).max(axis=1)))]
        stiff = " (with stiff flexible parts: rho_inf = 0)" if self.damps else ""
        text = f"turns by more than {LARGEST_TURN:g} rad in one step; reduce h{stiff}"
        return self.error(f"{self.start} stopped: {label(node)} {text}", node)

    def jump(self) -> SolverError:
        node = self.system.nodes[int(self.run["jumped"])]
        return self.error(
            f"{self.where} {label(node)} jumped: it moved or turned {FAST * self.run['farthest']:.3g} "
            "times as far as its speeds and accelerations explain. The corrections found a configuration that is "
            f"not the one next to the start of the step. {self.smaller_steps}",
            node,
        )

    def out_of_range(self) -> SolverError:
        element = element_checks.element_at(self.system, int(self.run["jumped"]))
        text = element.trouble(self.engine.state()) or f"{label(element)} is outside its range"
        return self.error(f"{self.where} {text}", element)

    def energy_rose(self) -> SolverError:
        if self.run["largest_rise"] == np.inf:
            return self.error(f"{self.where} the energy is not finite: {cause(self.engine)}.")
        why = ", although nothing drives the model"
        if self.engine.driven:
            why = " and the work of loads and drivers"
        return self.error(
            f"{self.where} energy increased by {self.run['largest_rise']:.3g} J beyond the integration error{why}: "
            f"{cause(self.engine)}; without strict=True this is a warning of the result"
        )

    def passed(self) -> SolverError:
        run, number = self.run, int(self.run["swept_contact"])
        # a negative number: a force law
        contact = element_checks.element_at(self.system, -1 - number) if number < 0 else self.system.contact_at(number)
        size = f"its size (`passage`) is {run['sweep_size']:.3g} m"
        if run["sweep_size"] == 0.0:
            size = "its wall rotates on the path"
        known = self.engine.method.local_error is not None
        control = ", or let StepControl do it (step_control=fem.StepControl())" if known else ""
        return self.error(
            f"{self.start} stopped: contact '{contact.name}' {HOW[int(run['passed_how'])]}: its bodies travel "
            f"{run['sweep_travel']:.3g} m past each other, {size}. Reduce h{control}",
            contact,
        )

    def too_many_problems(self) -> SolverError:
        open_ones = np.flatnonzero(self.arrays["candidate"])[:NAMED]
        names = ", ".join(str(self.system.contact_at(int(c)).name) for c in open_ones)
        return self.error(
            f"{self.start} stopped after {self.run['max_problems']} impact problems; contacts still approaching: "
            f"{names}. Usual causes: restitution between many touching bodies (raise max_problems)"
        )

    def exhausted(self) -> SolverError:
        last = ""
        if self.engine.contact_problems is not None and self.run["handed_problems"]:
            last = f" The last contact problem: {self.engine.contact_problems.last()}."
        return self.error(
            f"{self.where} not solved in {self.run['most_work']} iterations of all attempts, the last in "
            f"{self.engine.method.named[self.which] or 'smooth motion'}.{last} Usual causes: contacts that cannot all "
            "be closed, or redundant ones (fewer of them, or epsilon=1e-6); steps too long for what happens here. "
            f"{self.smaller_steps}"
        )

    def names(self, contacts: np.ndarray) -> str:
        """Names of some contacts (k,), the first `NAMED`."""
        return ", ".join(f"'{self.system.contact_at(int(c)).name}'" for c in contacts[:NAMED])

    @staticmethod
    def course(drivers: list) -> str:
        """Remedy for drivers that close a contact."""
        if not drivers:
            return "Give the driver another course"
        names = " and ".join(label(driver) for driver in drivers)
        cure = "give it another course"
        if any(driver.velocity_rows for driver in drivers):
            cure += ", or a limit that it stops at (Motor(rate=…, limit=…))"
        return f"{names} moves it there: {cure}"

    def blocked(self) -> SolverError | None:
        """The error of a contact that drivers and joints close, whatever its impulse; None where there is none."""
        a, state = self.arrays, self.engine.state()
        alone = self.which == 0 and not self.engine.method.together  # a motion without contacts
        if alone or self.system.searches:
            return None
        state.x[:], state.Q[:], state.R[:], state.V[:] = a["x0"], a["Q0"], a["R0"], a["V0"]
        closed = np.flatnonzero((a["active"] != 0) | (a["status"] != 0) | (a["was_active"] != 0))
        try:
            stuck = closed[blocked_contacts(self.system, state, closed)]
            if len(stuck):
                h, tol_v = float(self.run["h"]), float(self.run["tol_v"])
                stuck = stuck[closing_contacts(self.system, state, h, self.t, tol_v)[stuck]]
            if not len(stuck) and len(closed) > 1:
                end = moved_by_joints(self.system, state, float(self.run["h"]), self.t)
                stuck = closed[squeezing_contacts(self.system, end, closed, self.system.gaps(end)[closed])]
            drivers = drivers_towards(self.system, state, int(stuck[0])) if len(stuck) == 1 else []
        except (RuntimeError, ValueError, FemMbsError):  # a singular or not finite matrix has a cause of its own
            return None
        if not len(stuck):
            return None
        contact, names = self.system.contact_at(int(stuck[0])), self.names(stuck)
        what = f"contact {names} closes" if len(stuck) == 1 else f"contacts {names} together close"
        return self.error(
            f"{self.start} stopped: {what} by a motion that joints and drivers prescribe: "
            f"no motion satisfies both. {self.course(drivers)}, drive through a spring, or make the obstacle compliant "
            "(CompliantContact).",
            contact,
        )

    def outside(self) -> SolverError | None:
        """The error of a contact outside its range, at the end of the smooth motion or where the iteration is."""
        a, state = self.arrays, self.engine.state()
        for x, R in ((a["xs"], a["Rs"]), (a["x"], a["R"])) if self.which else ():
            if not (np.isfinite(x).all() and np.isfinite(R).all()):
                continue
            state.x[:], state.R[:] = x, R
            element, text = element_checks.trouble(self.system, state) or (None, "")
            if element is not None and element.role == "contact":
                return self.error(f"{self.start} stopped: {text}.", element)
        return None

    def not_converged(self) -> SolverError:
        if (error := self.blocked()) is not None:
            return error
        if self.engine.grains is not None and (how := self.engine.grains.failure()) is not None:
            return self.error(
                f"{self.where} {how}. Usual causes: step too large (halve h), masses or sizes that differ by orders of "
                "magnitude, or friction above 1 in a heap that is wedged in."
            )
        if (error := self.outside()) is not None:
            return error
        history, problems = self.history, self.engine.contact_problems
        if len(history) <= 1 and problems is not None:
            return self.error(
                f"{self.start} was not solved by the contact-problem solver: {problems.last()}. Usual causes: "
                "step too large (halve h), or many redundant contacts between stiff or heavy bodies."
            )
        row, owner, value = _largest_row(self.engine, self.which)
        tail = ", ".join(f"{r:.1e}" for r in history[-4:])
        stiff = "; stiff flexible parts: rho_inf = 0" if self.damps else ""
        causes = f"step too large (halve h{stiff}), or forces that change abruptly"
        if self.system.nc and self.which:
            causes = "step too large for this contact (halve h), or redundant contacts (docs: redundant contacts)"
        return self.error(
            f"{self.start} stopped after {len(history) - 1} iterations, residual {history[-1]:.1e} (relative tolerance "
            f"{self.run['rtol']:.0e}). Largest row: {row} ({value:.1e}). Residuals … {tail}. "
            f"{self.far_away()}Usual causes: {causes}.",
            owner,
        )

    def far_away(self) -> str:
        """Warning that stiff forces are round-off, where the model is far from the origin; empty where it is not."""
        size, distance = self.system.extent, self.system.size_at(self.engine.state())
        if not FAR * size < distance:
            return ""
        lost = np.finfo(float).eps * distance
        return (
            f"The model has a size of some {size:.2g} m and is {distance:.2g} m from the origin: positions are rounded "
            f"to {lost:.0e} m there, and forces of stiff parts to their stiffness times that, which may be above the "
            "tolerance. Put the model near the origin. "
        )


WAYS = {
    NOT_FINITE: _Failure.not_finite,
    SINGULAR: _Failure.singular,
    LARGE_ROTATION: _Failure.large_rotation,
    JUMP: _Failure.jump,
    OUT_OF_RANGE: _Failure.out_of_range,
    ENERGY_ROSE: _Failure.energy_rose,
    EXHAUSTED: _Failure.exhausted,
    PASSED: _Failure.passed,
    TOO_MANY_PROBLEMS: _Failure.too_many_problems,
}


def diagnose(engine: "Engine", code: int, t: float) -> SolverError | NonFiniteError:
    """The error of a step that failed with a code on its way to time t [s]."""
    try:
        engine.system.raise_python_errors(t)
    except NonFiniteError as raised:
        return raised
    error = WAYS.get(code, _Failure.not_converged)(_Failure(engine, code, t))
    h = float(engine.run[0]["h"])
    for element in engine.system.constraints:
        cause = element.cause(t, h)
        if cause:
            error.args, error.element = (f"{error.args[0].removesuffix('.')}. {cause}.",), element
            return error
    if cause := engine.jumps.cause(t, h):
        error.args = (f"{error.args[0].removesuffix('.')}. {cause}.",)
    return error


def _largest_row(engine, which):
    """Name, owner and value of the largest row of the last residual of a sub-problem."""
    system, a = engine.system, engine.arrays
    dynamic = np.abs(system.reduced(a["r1"]))
    rows = np.abs(a["rate"] if which != 1 else a["g"])
    contact = np.abs(a["rows_c"][:, :3]).ravel() if which else np.zeros(0)
    scale = float(engine.run[0]["ks" if which == 0 else "kp"])
    values = np.concatenate([dynamic, scale * rows, scale * contact])
    i = int(np.argmax(values))
    owner, text = system.unknown(i)
    return text, owner, values[i]
