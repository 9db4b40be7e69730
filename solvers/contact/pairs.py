"""Contact groups in a run: pairs are searched anew when they may have changed, what is kept per contact moves along.

Steps are taken one by one here. A search costs a few milliseconds for thousands of spheres; most steps need none.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.results.sums import merged
from fem_mbs.results.table import PAIR_COLUMNS, pair_column
from fem_mbs.solvers.stepping.kernels.codes import OK

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

RESIDUAL = 10.0  # approach speeds up to so many times the contact tolerance, relative to the largest speed, are left


def advance(
    engine: "Engine", times: np.ndarray, signals: np.ndarray, records: dict[str, np.ndarray]
) -> tuple[int, int, Exception | None]:
    """Take the steps that end at ``times``; as `Engine.advance`, which calls it for models with contact groups."""
    run, system, tables = engine.run, engine.system, []
    done, error, tol_v = 0, None, float(run[0]["tol_v"])
    for k in range(len(times)):
        a = engine.arrays
        if any(search.outdated(a["x"], a["R"], a["V"], engine.h) for search in system.searches):
            refresh(engine)
        # approach speeds that inexact impulses leave are no impacts
        run[0]["tol_v"] = max(tol_v, RESIDUAL * engine.contact_tolerance * np.abs(a["V"]).max())
        saved = int(run[0]["saved"])
        taken, code = engine.run_steps(engine.data, run, 1, k, times, signals)
        if code != OK:
            error = engine.fault(code, float(times[k]))
            break
        done += taken
        if int(run[0]["saved"]) > saved:
            tables.append(closed_pairs(engine))
            records["pair_count"][saved] = len(tables[-1])
    engine.pair_tables, run[0]["tol_v"] = tables, tol_v
    return done, int(run[0]["saved"]), error


def refresh(engine: "Engine") -> None:
    """Search the pairs at the present poses and give the engine arrays of the new length."""
    a, system = engine.arrays, engine.system
    unsaved = _table(engine, a["waiting"] != 0, own=False) if a["waiting"][system.nc_fixed :].any() else None
    before = system.search_pairs(a["x"], a["R"], a["V"], engine.h)
    known = np.flatnonzero(before >= 0)
    if unsaved is not None:  # impulses wait by the bodies, some of which may be apart now
        engine.lost_pairs.append(unsaved)
        a["waiting"][system.nc_fixed :] = a["unsaved"][system.nc_fixed :] = a["unsaved_chi"][system.nc_fixed :] = 0
    for name in engine.run_data.per_contact:
        new = np.zeros((system.nc, *a[name].shape[1:]), a[name].dtype)
        new[known] = a[name][before[known]]
        a[name] = new
    engine.run_data.aim()
    engine.matrices.update()
    engine.searches += 1


def closed_pairs(engine: "Engine") -> np.ndarray:
    """Table of the closed contacts of all contact groups, see `fem_mbs.results.table.PAIRS`.

    With what those that are open by now have done since the last saved state, after which nothing waits.
    """
    a, run, groups = engine.arrays, engine.run[0], slice(engine.system.nc_fixed, None)
    waits = run["unsaved_step"] == run["step_number"]  # the impulses of the last step
    table = _table(engine, (a["acted"] != 0) | (a["waiting"] != 0), own=not waits)
    a["waiting"][groups] = a["unsaved"][groups] = a["unsaved_chi"][groups] = 0
    lost, engine.lost_pairs = engine.lost_pairs, []
    return merged(table, lost)


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
            roll = a["total_chi"][c][:, [2, 0, 1]]  # spinning is about the normal
            last = np.einsum("ck,cki->ci", a["total_Lam"][c], axes)
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
