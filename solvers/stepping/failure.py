"""Diagnosis of a failed step: an error that names element, row or contact, and says what to do."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import NonFiniteError, SolverError, label
from fem_mbs.solvers.nsga.data import (
    ENERGY_ROSE,
    JUMP,
    LARGE_ROTATION,
    NOT_FINITE,
    OUT_OF_RANGE,
    PASSED,
    SINGULAR,
    TOO_MANY_PROBLEMS,
)
from fem_mbs.system import element_checks

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine


def diagnose(engine: "Engine", code: int, t: float) -> SolverError | NonFiniteError:
    """The error of a step that failed with a code on its way to time t [s]."""
    system, a, run = engine.system, engine.arrays, engine.run[0]
    which = int(a["counts"][6])
    number = int(run["step_number"]) + 1
    start = f"Step {number}, t = {t:.6g} s: {engine.method.stages[which]}"
    history = a["history"][: int(a["counts"][5])]
    common = {"step": number, "time": t, "history": history}
    try:
        system.raise_python_errors(t)
    except NonFiniteError as error:
        return error
    if code == NOT_FINITE:
        state = engine.state()
        state.x[:], state.Q[:], state.R[:], state.V[:] = a["xs"], a["Qs"], a["Rs"], a["Vs"]
        if which != 0:
            state = engine.state()
        element = system.find_nonfinite(state, a["Vd"])
        source = f"{label(element)} returned a force that is not finite" if element else "a number that is not finite"
        return NonFiniteError(f"{start} stopped: {source}. The run stopped before using it.", element=element, **common)
    if code == SINGULAR:
        return SolverError(
            f"{start} stopped: its matrix is singular. Usual causes: a mechanism locked in a singular position, "
            "or a part without mass, stiffness and constraint",
            **common,
        )
    if code == LARGE_ROTATION:
        node = system.nodes[int(np.argmax(np.abs(a["D"][:, 3:]).max(axis=1)))]
        return SolverError(
            f"{start} stopped: {label(node)} turns by more than 3 rad in one step; reduce h (with stiff "
            "flexible parts: rho_inf = 0)",
            element=node,
            **common,
        )
    if code == JUMP:
        node = system.nodes[int(run["jumped"])]
        return SolverError(
            f"Step {number}, t = {t:.6g} s: {label(node)} jumped: it moved or turned {10 * run['farthest']:.3g} "
            "times as far as its speeds and accelerations explain. The corrections found a configuration that is "
            "not the one next to the start of the step. Halve h, or use step_control=StepControl()",
            element=node,
            **common,
        )
    if code == OUT_OF_RANGE:
        state = engine.state()
        element = element_checks.element_at(system, int(run["jumped"]))
        text = element.trouble(state) or f"{label(element)} is outside its range"
        return SolverError(f"Step {number}, t = {t:.6g} s: {text}", element=element, **common)
    if code == ENERGY_ROSE:
        return SolverError(
            f"Step {number}, t = {t:.6g} s: the energy rose by {run['largest_rise']:.3g} J, more than the step "
            "explains, although nothing drives the model. Halve h, or use step_control=StepControl(); without "
            "strict=True this is a warning of the result",
            **common,
        )
    if code == PASSED:
        contact = system.contact_at(int(run["swept_contact"]))
        return SolverError(
            f"{start} stopped: contact '{contact.name}' is passed within the step, and where it touches first "
            f"cannot be told: its bodies travel {run['sweep_travel']:.3g} m past each other, its size (`passage`) "
            f"is {run['sweep_size']:.3g} m. Reduce h, or let StepControl do it (step_control=fem.StepControl())",
            element=contact,
            **common,
        )
    if code == TOO_MANY_PROBLEMS:
        names = ", ".join(system.contact_at(int(c)).name for c in np.flatnonzero(a["candidate"])[:20])
        return SolverError(
            f"{start} stopped after {run['max_problems']} impact problems; contacts still approaching: {names}. "
            "Usual causes: restitution between many touching bodies (raise max_problems), or tol_v too small",
            **common,
        )
    if len(history) <= 1 and engine.contact_problems is not None:
        return SolverError(
            f"{start} was not solved by the contact-problem solver: {engine.contact_problems.last()}. Usual causes: "
            "step too large (halve h), or many redundant contacts between stiff or heavy bodies",
            **common,
        )
    row, owner, value = _largest_row(engine, which)
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


def _largest_row(engine, which):
    """Name, owner and value of the largest row of the last residual of a sub-problem."""
    system, a = engine.system, engine.arrays
    dynamic = np.abs(system.reduced(a["r1"]))
    rows = np.abs(a["rate"] if which != 1 else a["g"])
    contact = np.abs(a["rows_c"]).ravel() if which else np.zeros(0)
    scale = float(engine.run[0]["ks" if which == 0 else "kp"])
    values = np.concatenate([dynamic, scale * rows, scale * contact])
    i = int(np.argmax(values))
    owner, text = system.unknown(i)
    return text, owner, values[i]
