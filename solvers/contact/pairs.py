"""Contact groups in a run: pairs are searched anew when they may have changed, what is kept per contact moves along.

Steps are taken one by one here. A search costs a few milliseconds for thousands of spheres; most steps need none.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.results.sums import merged
from fem_mbs.results.table import PAIR_COLUMNS, pair_column
from fem_mbs.solvers.stepping.kernels.codes import OK

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

RESIDUAL = 10.0  # approach speeds up to so many times the contact tolerance, relative to the largest speed, are left


class Pairs:
    """Contact groups of a run that are solved by the assembled (pairwise) solver: a part of each step.

    Attributes
    ----------
    reason : str
        Why they are not solved by Gauss-Seidel iterations.
    searches : int
        Searches for pairs so far.
    lost : list of tables
        Impulses of pairs that are apart now, since the last saved state.
    """

    def __init__(self, engine: "Engine", reason: str) -> None:
        self.engine, self.reason, self.searches = engine, reason, 0
        self.lost: list[np.ndarray] = []

    def take(self, count: int, done: int, times: np.ndarray, signals: np.ndarray) -> tuple[int, int]:
        """Take one step, to times[done]; number of steps taken and the code of it."""
        engine, run, a = self.engine, self.engine.run[0], self.engine.arrays
        if any(search.outdated(a["x"], a["R"], a["V"], engine.h) for search in engine.system.searches):
            self.refresh()
        # approach speeds that inexact impulses leave are no impacts, sliding that they leave is none
        tol_v, slow = float(run["tol_v"]), float(run["slow"])
        left, fastest = RESIDUAL * engine.contact_tolerance, np.abs(a["V"]).max()
        run["tol_v"] = max(tol_v, left * fastest)
        run["slow"] = max(slow, left * max(fastest, engine.h * engine.system.largest_gravity))
        taken, code = engine.run_steps(engine.data, engine.run, 1, done, times, signals)
        if code == OK:
            run["tol_v"], run["slow"] = tol_v, slow
        return taken, code

    def refresh(self) -> None:
        """Search the pairs at the present poses and give the engine arrays of the new length."""
        engine, a, system = self.engine, self.engine.arrays, self.engine.system
        unsaved = _table(engine, a["waiting"] != 0, own=False) if a["waiting"][system.nc_fixed :].any() else None
        before = system.search_pairs(a["x"], a["R"], a["V"], engine.h)
        known = np.flatnonzero(before >= 0)
        if unsaved is not None:  # impulses wait by the bodies, some of which may be apart now
            self.lost.append(unsaved)
            a["waiting"][system.nc_fixed :] = a["unsaved"][system.nc_fixed :] = a["unsaved_chi"][system.nc_fixed :] = 0
        for name in engine.run_data.per_contact:
            new = np.zeros((system.nc, *a[name].shape[1:]), a[name].dtype)
            new[known] = a[name][before[known]]
            a[name] = new
        engine.run_data.aim()
        engine.matrices.update()
        self._find_sliding(known)
        self.searches += 1

    def _find_sliding(self, known):
        """Sliding speeds of new pairs; those that were known have what the last step left."""
        a = self.engine.arrays
        slid = a["slid"][known].copy()
        self.engine.method.find_sliding(self.engine)
        if self.engine.run[0]["stiction_part"]:
            a["slid"][known] = slid

    def closed_pairs(self) -> np.ndarray:
        """Table of the closed contacts of all contact groups, see `fem_mbs.results.table.PAIRS`.

        With what those that are open by now have done since the last saved state, after which nothing waits.
        """
        engine = self.engine
        a, run, groups = engine.arrays, engine.run[0], slice(engine.system.nc_fixed, None)
        waits = run["unsaved_step"] == run["step_number"]  # the impulses of the last step
        table = _table(engine, (a["acted"] != 0) | (a["waiting"] != 0), own=not waits)
        a["waiting"][groups] = a["unsaved"][groups] = a["unsaved_chi"][groups] = 0
        lost, self.lost = self.lost, []
        return merged(table, lost)

    def get_state(self) -> dict[str, Any]:
        """Return what is not in the arrays of the run, a copy."""
        return {"searches": self.searches, "lost": list(self.lost)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` has returned."""
        self.searches, self.lost = state["searches"], list(state["lost"])

    def statistics(self) -> dict[str, float]:
        """Return the counts over all steps."""
        inexact = self.engine.contact_problems.inexact
        return {"pair_searches": self.searches, "inexact_contact_problems": inexact,
                "solved_pair_by_pair": self.reason}  # fmt: skip


def _table(engine, chosen, own):
    """Table of chosen contacts (nc,) of contact groups, with the impulses that wait, and of the last step: ``own``."""
    a, tables = engine.arrays, [np.zeros((0, PAIR_COLUMNS))]
    for number, search in enumerate(engine.system.searches):
        for kind, group in enumerate(search.groups):
            first = group.first_contact
            closed = np.flatnonzero(chosen[first : first + group.n])
            c, data = first + closed, group.contact_data
            axes = np.concatenate([data["normal"][closed, None], data["tangents"][closed]], axis=1)
            table = np.zeros((len(closed), PAIR_COLUMNS))
            roll = a["total_Lam"][c][:, [5, 3, 4]]  # spinning is about the normal
            last = np.einsum("ck,cki->ci", a["total_Lam"][c, :3], axes)
            sphere, partner = group.pairs[closed].T
            columns = {
                "group": number, "sphere": sphere, "type": kind, "partner": partner, "status": a["acted"][c],
                "gap": data["gap"][closed],
                "impulse": own * last + a["unsaved"][c], "force": last / engine.run[0]["h"],
                "moment_impulse": own * np.einsum("ck,cki->ci", roll, axes) + a["unsaved_chi"][c],
                "point": data["point"][closed], "normal": axes[:, 0],
            }  # fmt: skip
            for name, values in columns.items():
                table[:, pair_column(name)] = values
            tables.append(table)
    return np.concatenate(tables)
