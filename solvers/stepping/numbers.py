"""Numbers of the record of a run that all methods have: step, penalties, tolerances, scales, switches."""

from typing import TYPE_CHECKING

from fem_mbs.solvers.stepping.kernels.codes import EXACT, MOST_WORK
from fem_mbs.solvers.stepping.monitors.external_work import gaps_are_given

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine


def numbers_of_run(engine: "Engine", save_every: int) -> dict[str, float]:
    """Return the numbers of the record of a run that do not depend on which method it has, by name."""
    method, system, h = engine.method, engine.system, engine.h
    mass = system.contact_mass
    settled = not system.searches or engine.grains is not None  # no contacts that come and go
    # without motion and weight: what round-off of the positions makes of a step
    slow = max(system.slow_at(system.initial), 1e-8 * system.largest_gravity * h)
    tol_v = slow or 1e-15 * system.size / h
    return {
        "h": h, "ks": mass / h, "kp": mass, "kv": mass,
        "pp": method.penalty * mass, "pv": method.penalty * mass,
        "pp_T": method.friction_penalty * mass, "pv_T": method.friction_penalty * mass,
        "epsilon": method.contact_shift if method.epsilon is None else engine.shift, "restitution_scale": 1.0,
        "epsilon_rows": 0.0 if method.epsilon is None and system.independent else engine.shift,
        "from_start": int(method.velocities_first), "strict": int(engine.strict), "most_work": MOST_WORK,
        "rtol": method.rtol, "tol_v": tol_v, "slow": tol_v, "mean_mass": system.mean_mass, "lightest": system.lightest,
        "length": system.length,
        "max_iterations": method.max_iterations, "max_problems": method.max_problems,
        "newton": int(settled and (method.contact_solver != "problem" or system.nc == 0)),
        "exact": EXACT, "reuse": int(method.reuse), "save_every": save_every, "whole_every": 1, "max_halvings": 8,
        "size": system.size, "scale_x": system.size_at(system.initial), "scale_v": system.speed_at(system.initial),
        "abrupt": int(any(element.abrupt for element in system.elements)),
        "friction": system.n_friction, "given_gaps": int(gaps_are_given(system)),
        "counting": int(any(element.counts_turns for element in system.elements)),
        "free": int(engine.grains is not None and engine.grains.free),
    }  # fmt: skip
