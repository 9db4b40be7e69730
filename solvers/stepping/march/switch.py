"""Constraints, loads and springs that are switched on and off in a run.

`switch` is called between two steps, when it is due. It

    1. changes the flag of the element, and lets it take what it keeps of the pose (`fem_mbs.system.switches`),
    2. raises an error for a constraint that is redundant or violated,
    3. solves the jump problem, `stepping.march.switch_jump`, where a constraint is switched on,
    4. starts the memory of the method again, with accelerations that are consistent with what is on now,
    5. updates the check of the energy and the energy balance.

Source: docs/theory/switches.md; formulation of 3 and 4 there, (2)-(5).
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.monitors.ledger import renew
from fem_mbs.system.checks.redundancy import repeated

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.solvers.stepping.engine import Engine

FITS = 1e-6  # of the size of the model: gaps of a constraint that is switched on; a step closes them


class Switched(NamedTuple):
    """What a switch did.

    Attributes
    ----------
    element : Element
    on : bool
    time : float [s]
    impulse : (m,) [N s, N m s], of the jump: of all constraint rows; 0 where there was none
    contact_impulse : (nc, 3) [N s], of the jump: normal, t1, t2
    change : (N, 6), of the velocities [m/s, rad/s]
    kinetic_loss : float [J], kinetic energy that the jump took
    potential_change : float [J], of the springs and loads that came or went
    """

    element: "Element"
    on: bool
    time: float
    impulse: np.ndarray
    contact_impulse: np.ndarray
    change: np.ndarray
    kinetic_loss: float
    potential_change: float


def switch_with_companions(engine: "Engine", element: "Element", on: bool) -> bool:
    """Switch an element, and of a joint what its options have made; whether anything was switched. Errors as `switch`.

    Springs, motors and friction act along a coordinate that the joint alone keeps: they go off before it, and come on
    after it.
    """
    parts = [element, *element.companions]
    for part in parts:
        refuse(engine, part)
    return any([switch(engine, part, on) is not None for part in (parts if on else parts[::-1])])


def switch(engine: "Engine", element: "Element", on: bool) -> Switched | None:
    """Switch an element on or off at the present state of a run, between two steps.

    Parameters
    ----------
    engine : Engine
    element : Element
        A constraint, a load or a spring of the model.
    on : bool

    Returns
    -------
    Switched
        None where the element was on, or off, already: nothing is done then.

    Raises
    ------
    ParameterError
        The model has contact groups, whose solvers do not support switches; a contact or an element with mass.
    ModelError
        The element is not in the model.
    SolverError
        A constraint that is switched on is redundant or violated; the jump problem is not solved, or the
        masses leave accelerations undetermined. The engine is then as it was before.
    """
    refuse(engine, element)
    system, run = engine.system, engine.run[0]
    if system.is_on(element) == on:
        return None
    state = engine.state()
    impulse, contact_impulse = np.zeros(system.m), np.zeros((system.nc, 3))
    with engine.run_data.restored_on_error():
        system.update_signals(state.t)
        before, velocities = system.energies(state), state.V.copy()
        system.set_switch(element, on, state)
        if element.role == "constraint" and on:
            from fem_mbs.solvers.stepping.march.switch_jump import jump

            _fits(engine, element, state)
            impulse, contact_impulse = jump(engine, element)
        _forget(engine, element)
        engine.method.changed(engine)
        _restart(engine, element)
    after = system.energies(engine.state())
    change = engine.arrays["V"] - velocities
    switched = Switched(
        element, on, state.t, impulse, contact_impulse, change, before[0] - after[0], after[1] - before[1]
    )
    _report_energy(engine, switched)
    renew(engine, sum(after) - sum(before))
    run["switches"] += 1
    run["switch_loss"] += switched.kinetic_loss
    return switched


def refuse(engine: "Engine", element: "Element") -> None:
    """ParameterError for what cannot be switched, or not by this engine."""
    system, method = engine.system, engine.method
    if system.searches:
        group = system.searches[0].owner
        message = f"is switched in a run, but {label(group)} is in the model: contact groups do not support switches"
        method._refuse_part(element, message)
    if element.always_on:
        raise ParameterError(element, "switch", element, f"cannot be switched on and off: {element.always_on}")
    stop = next((c for c in system.contacts[: system.nc_fixed] if c.joint is element), None)
    if stop is not None:
        message = f"cannot be switched on and off: its stop, {label(stop)}, is a contact, which cannot"
        raise ParameterError(element, "switch", element, message)


def _fits(engine, element, state):
    """A constraint that is switched on says nothing that others say too, and is fulfilled by the pose."""
    system = engine.system
    where = f"{label(element)} cannot be switched on at t = {state.t:.9g} s"
    g, _ = system.constraint_values(state)
    apart = np.abs(g * system.row_arm[: system.m])[system.rows[element]].max()
    if apart > FITS * system.size_at(state):
        raise SolverError(
            f"{where}: its bodies are {apart:.3g} m (or as much at the size of the model) from where it holds them. "
            "Switch it on where it fits, or take an Attachment or a Lock, which hold the pose they find",
            step=int(engine.run[0]["step_number"]), time=state.t, element=element,
        )  # fmt: skip
    count, others = (0, []) if system.options["redundant"] == "allow" else repeated(system, element)
    if count:
        names = ", ".join(label(other) for other in others)
        what, cure = "components that are fixed", "Leave fixed=… out and let joints keep the motion in its plane"
        if names:
            what, cure = f"what is imposed by {names}", "Switch off the other constraint of the bodies before"
        raise SolverError(
            f"{where}: {count} of its {element.rows} rows repeat {what}. {cure}, or use "
            "model.compile(redundant='allow'): reactions are then those of smallest size",
            step=int(engine.run[0]["step_number"]), time=state.t, element=element,
        )  # fmt: skip


def _forget(engine, element):
    """Multipliers of an element that is off are 0, and no factors of before serve any more."""
    a, run, system = engine.arrays, engine.run[0], engine.system
    if element.role == "constraint" and not system.is_on(element):
        for name in ("lam", "nu", "Lam", "lam_report"):
            a[name][system.rows[element]] = 0.0
    run["epoch"] += 1
    run["lent_c"] = 0.0
    run["struck"] = 0
    run["turned"] = np.inf  # joints that are off keep no axis in common: turns are counted up to here
    engine.march.model_changed()


def _restart(engine, element):
    """Memory of the method anew; SolverError where accelerations are not determined."""
    run = engine.run[0]
    run["code"] = OK
    engine.method.restart(engine)
    if run["code"] != OK:
        raise SolverError(
            f"{label(element)} cannot be switched at t = {float(run['t']):.9g} s: accelerations are not determined "
            "afterwards, mass and constraints are singular",
            step=int(run["step_number"]), time=float(run["t"]), element=element,
        )  # fmt: skip


def _report_energy(engine, switched):
    """Shift the energies that later ones are compared with: the loss of a jump hides no gain, and is none.

    A jump with drivers may raise the energy: they do work. Without them what it gains stays to be seen by the watch.
    """
    run, system = engine.run[0], engine.system
    driven = any("rheonomic" in e.kernels and system.is_on(e) for e in system.constraints)
    kinetic = -switched.kinetic_loss if driven else min(-switched.kinetic_loss, 0.0)
    shift = kinetic + switched.potential_change
    run["last_energy"] += shift
    run["least_energy"] += shift
