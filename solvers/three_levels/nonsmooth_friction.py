"""Nonsmooth generalized-α method with laws at position, velocity and acceleration level, on R³ × SO(3).

One coupled problem per step. Joints and closed contacts hold in positions, velocities and accelerations, so that the
forces of the smooth motion are known apart from impulses: of second order, stick and slip included. Equations,
decisions and measured orders are in docs/theory/nonsmooth_generalized_alpha_friction.md; the compiled parts are in
alpha/levels.py, alpha/levels_contacts.py, alpha/levels_friction.py, alpha/levels_prox.py and alpha/levels_scheme.py.

Source: Capobianco, Harsch, Eugster, Leine, Int. J. Numer. Methods Eng. (2021), doi:10.1002/nme.6801.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.alpha.coupled_method import CoupledMethod
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.kernels.newton import Problem


START = 0.01  # of a step, which finds the forces at the start of a run
OF_STEP = ("Vd", "lam_report", "acted", "total_Lam", "sent")  # that a restart leaves
FORCES, BRANCHES = ("Vd0", "lam_report", "lam_c0"), ("acted", "level", "state")
MEMORY_OF_CONTACTS = ("lam_c", "lam_c0", "lam_change", "branch", "changed", "bar0")


class NonsmoothGeneralizedAlphaFriction(CoupledMethod):
    """The scheme with contact laws at three levels: for contact *forces* and stick-slip in models of few contacts.

    Parameters
    ----------
    penalty : float > 0, -
        r/k in normal direction, which decides between the branches of the laws.
    step_control : StepControl, optional
        Steps of variable size; contacts that stay closed count as smooth motion. Default: constant steps.

    Raises
    ------
    ParameterError
        rho_inf outside [0, 1], non-positive tolerances or step sizes; a model with contact groups.

    Notes
    -----
    Order 2 in positions, velocities, joint reactions and contact forces, also while contacts stay closed, sticking or
    sliding, rolling, spinning or drilling; order 1 at impacts. ``impulse`` of a contact is all that it gave in the
    step, ``force`` the force at its end, zero if the bodies rebound. Where Newton's matrix is singular or its iteration
    fails a fixed-point iteration takes over, then the contact-problem solver; ``result.contact_problems`` says where.

    **Limit.** ``force`` is inside the cone of friction. ``impulse`` also has the memory of earlier forces and leaves it
    where friction jumps, above all where sliding begins: the guided hopper by 3 % of the bound of a step with
    ``rho_inf=0.8``, not at all with 0. ``result.statistics["friction_beyond_cone"]`` and ``report()`` state how much.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.NonsmoothGeneralizedAlphaFriction(rho_inf=0.8)
    """

    levels = 3
    persistent_contacts = True  # forces of contacts are not their impulses over h

    def parts(self) -> "dict[str, Entry]":
        from fem_mbs.solvers.three_levels import levels_scheme

        own = {"advance": levels_scheme.levels_advance, "step": levels_scheme.levels_step}
        return {**super().parts(), **own}

    def first_guess(self) -> "tuple[Entry, Entry | None]":
        from fem_mbs.solvers.three_levels import levels_prox, levels_scheme

        return levels_scheme.first_guess, levels_prox.fixed_point

    def problems(self, system: CompiledSystem) -> "dict[str, Problem]":
        from fem_mbs.solvers.three_levels import levels

        return {"velocity": levels.LEVELS}

    def scalars(self, system: CompiledSystem, h: float) -> dict[str, float]:
        return {**super().scalars(system, h), "approach": int(self.approach == "slower"), "persistent": 1}

    def start(self, engine: "Engine", state: State) -> None:
        """Consistent accelerations, reactions and contact forces at the start of a run."""
        super().start(engine, state)
        engine.arrays["Rc"][:] = state.R  # nodes that cannot turn keep theirs
        if engine.system.nc:
            self._find_contact_forces(engine)
            engine.system.gaps(state)  # what contacts keep is again that of the start

    def restart(self, engine: "Engine") -> None:
        """Consistent accelerations, reactions and contact forces at the present state."""
        super().restart(engine)
        if engine.system.nc:
            a = engine.arrays
            kept = {name: a[name].copy() for name in OF_STEP}
            self._find_contact_forces(engine)
            for name, value in kept.items():
                a[name][:] = value
            engine.system.gaps(engine.state())

    def changed(self, engine: "Engine") -> None:
        """Contacts have no memory of what acted before."""
        for name in MEMORY_OF_CONTACTS:
            engine.arrays[name][:] = 0

    def _find_contact_forces(self, engine: "Engine") -> None:
        """Accelerations and forces of closed contacts by two small parts of a step, which are then taken back.

        Forces do not depend on the memory of the method, so that a part of size ε has those of the start up to O(ε);
        the line through those of ε and 2 ε leaves O(ε²). After an impact, and where a part fails, the start without
        contact forces stays: the first step finds them.
        """
        a, ks = engine.arrays, float(engine.run[0]["ks"])
        near, far = self._after_part(engine, START), self._after_part(engine, 2.0 * START)
        if near is None:
            return
        found = dict(near)
        if far is not None and all(np.array_equal(near[name], far[name]) for name in BRANCHES):
            found.update({name: 2.0 * near[name] - far[name] for name in FORCES})
        acceleration, reactions, forces = (found[name] for name in FORCES)
        a["Vd0"][:] = a["Va0"][:] = a["Vd"][:] = acceleration
        a["lam"][:] = reactions / ks
        a["lam_report"][:] = reactions
        a["lam_c0"][:] = a["bar0"][:] = forces
        a["acted"][:] = found["acted"]
        h, nc = float(engine.run[0]["h"]), engine.system.nc  # from the first record
        arms = np.repeat([[1.0, engine.system.length]], 3, axis=1).repeat(nc, axis=0)
        drills = engine.system.drill_arm[:nc] > 0.0
        arms[drills, 5] = engine.system.drill_arm[:nc][drills]
        a["total_Lam"][:] = h * arms * forces
        a["sent"][:] = 0.0  # of the parts of steps that forces were found with: no step was taken

    def _after_part(self, engine: "Engine", part: float) -> dict[str, np.ndarray] | None:
        """Forces and branches after a part of a step, which is taken back; None where it has an impact or fails."""
        from fem_mbs.jit import invoke

        a, run, kept = engine.arrays, engine.run[0], engine.run_data.kept()
        h, ks = float(run["h"]), float(run["ks"])
        self._resize(engine, part)
        invoke(int(run["advance_part"]), int(run["data_at"]), int(run["run_at"]))
        good = run["code"] == OK and not a["impact"].any() and np.isfinite(a["lam_c0"]).all()
        found = {name: a[name].copy() for name in (*FORCES, *BRANCHES)}
        self._resize(engine, 1.0 / part)
        run["h"], run["ks"] = h, ks  # to the last bit: what is taken again after a failed step has them so
        self.use(engine, h)
        engine.run_data.restore(kept)
        return found if good else None

    def _resize(self, engine: "Engine", ratio: float) -> None:
        """Change the step of the engine by the factor ``ratio``."""
        run = engine.run[0]
        run["h"] *= ratio
        run["ks"] /= ratio
        self.use(engine, float(run["h"]))

    def counted(self, engine: "Engine") -> dict[str, float]:
        """Largest distance of the friction impulse P outside of a cone, over the widest cone of the run."""
        own = engine.own[0]
        return {"friction_beyond_cone": float(own["beyond"] / own["widest"]) if own["widest"] > 0.0 else 0.0}

    def starts_afresh(self, engine: "Engine") -> bool:
        """True if accelerations jumped in the last step: a contact opened, closed, began to slide or to stick."""
        return bool(engine.arrays["changed"].any())

    def rescale(self, engine: "Engine", ratio: float, change: np.ndarray | None) -> None:
        super().rescale(engine, ratio, change)
        a = engine.arrays
        if ratio > 1.0 and change is not None and not (a["impact"].any() or self.starts_afresh(engine)):
            alpha_m, alpha_f, _, _ = self.coefficients
            a["bar0"][:] = a["lam_c0"] + ratio * (alpha_m - alpha_f) * a["lam_change"]
        else:
            a["bar0"][:] = a["lam_c0"] + ratio * (a["bar0"] - a["lam_c0"])

    def refuse(self, system: CompiledSystem) -> None:
        """Raise for models with contact groups."""
        self._refuse_groups(system)
