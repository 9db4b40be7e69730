"""Rates that a controller or an event changes at once: velocities jump, by the impulses that motors give.

A motor whose rate is a held signal keeps its row of velocities while the number in it jumps. At that time velocities
are those of the jump problem of `stepping.march.switch_jump`, with all constraints and closed contacts as they are,

    M (v⁺ − v⁻) = Gᵀ Λ + …  ,   G v⁺ + ∂g/∂t = 0   with the new rate                                              (1)

The work of its drivers in it is the change of the kinetic energy: it enters the check of the energy as in a switch.

Source: docs/theory/switches.md, (2)-(4).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.functions.signals import Held
from fem_mbs.solvers.stepping.march.switch_jump import jump
from fem_mbs.solvers.stepping.monitors.ledger import add_jump_work

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.compiled import CompiledSystem

STAYS = 1e-13  # of the largest speed: a smaller difference of rates is round-off


def jumping(system: "CompiledSystem") -> "list[Element]":
    """Constraints with functions of time that jump where a controller or an event sets them."""
    if not Held.made:
        return []
    found = [
        owner
        for signal, owner in zip(system.signals, system.signal_owner)
        if owner.role == "constraint" and any(held.jumps for held in Held.among(signal, system.initial.t))
    ]
    return list(dict.fromkeys(found))


def jump_rates(engine: "Engine", motors: "list[Element]") -> bool:
    """Let velocities jump where rates of motors have changed; whether they did. Signals have their new values.

    Raises
    ------
    SolverError
        The jump problem is not solved; the engine is then as it was before.
    """
    system, run = engine.system, engine.run[0]
    on = [motor for motor in motors if system.is_on(motor)]
    if not on:
        return False
    state = engine.state()
    rates = system.constraint_values(state)[1].copy()
    left = [float(np.abs(rates[system.rows[motor]]).max()) for motor in on]
    if max(left) <= STAYS * system.speed_at(state):
        return False
    before = system.energies(state)[0]
    with engine.run_data.restored_on_error():
        impulse, _ = jump(engine, on[int(np.argmax(left))], "cannot change its rate")
    run["epoch"] += 1
    run["lent_c"] = 0.0
    run["struck"] = 0
    engine.jumps.last = None  # this jump is meant
    change = system.energies(engine.state())[0] - before
    run["last_energy"] += change
    run["least_energy"] += change
    add_jump_work(engine, impulse, rates)
    return True
