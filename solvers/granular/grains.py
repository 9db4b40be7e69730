"""Contact groups whose spheres are free bodies, in a run: arrays of pairs, steps, tables of closed pairs.

Such models need no matrices for their contacts, and no contact elements: the pairs of the group are taken out of the
system for the run, which then has no contacts for all that is not in this folder. Models that do not fit (see `Grains
.reason`) are solved pair by pair, as before.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.sphere_plane import SphereOnPlane
from fem_mbs.results.table import PAIR_COLUMNS, pair_column
from fem_mbs.solvers.contact.law import CLOSED, SLIP, STICK
from fem_mbs.solvers.granular.data import G_MASS, G_TURN, P_N, P_RN, P_RT, TABLE
from fem_mbs.solvers.stepping.blocked import prescribed
from fem_mbs.solvers.stepping.codes import NO_ROOM, OK
from fem_mbs.system.contacts import L_DRILLING, L_NORMAL, L_ROLLING, L_SPINNING, L_TANGENTIAL

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.system import System

COARSE = 1e-3  # default of contact_tolerance
BAND = 1e-5  # of the smaller diameter: gaps below it are closed
CLEAN = 1e-6  # of the smaller diameter: overlaps that positions keep
CAPS = ((1e4, 0.85), (np.inf, 0.9))  # of the momentum, by number of grains
FINE = 1e-5  # contact tolerances from which on the second of them is better
FEW = 50  # spheres: below it impacts with restitution run through touching ones, one problem after the other
SWEEPS = 5000  # of a step
ROOM = 4  # pairs per grain, to begin with
GROWTH = 1.3
WORST = 1e-2  # errors above it fail a step
SAME = 1e-12  # masses and moments of inertia that differ by less are equal


class Grains:
    """The contact group of a run, see `granular.data`.

    Attributes
    ----------
    arrays : dict of name -> array
    record : (1,) record of addresses and numbers
    """

    def __init__(self, engine: "Engine") -> None:
        self.engine, method = engine, engine.method
        (search,) = engine.system.searches
        system, owner = engine.system, search.owner
        ns = len(search.nodes)
        (planes,) = search.groups[1:] or (None,)
        no = 0 if planes is None else planes.partners
        self.moving = any(system.free[k].any() for k in ([] if planes is None else planes.partner_nodes))
        sizes = {
            "ns": ns,
            "ng": ns + 1,
            "no": no,
            "nl": len(search.laws),
            "np": ROOM * ns + 16,
            "nodes": len(system.nodes),
        }
        sizes["nm"] = sizes["np"] if self.moving else 0
        self.arrays, self.record = TABLE.arrays(sizes), np.zeros(1, TABLE.dtype)
        a = self.arrays
        a["node"][:], a["radius"][:ns], a["material"][:ns] = search.nodes, search.radii, search.materials
        a["grains"][:ns, [G_MASS, G_TURN]] = self._mobilities(system, search)
        a["laws"][:] = search.laws
        if planes is not None:
            a["plane_node"][:] = planes.partner_nodes
            a["plane_material"][:] = search.partner_materials[SphereOnPlane]
            a["plane_local"][:, :3] = planes.prototypes["p_BQ"]
            a["plane_local"][:, 3:] = planes.prototypes["R_BQ"][:, :, 2]
        self.owner = owner
        self.aim()
        tolerance = engine.contact_tolerance = method.contact_tolerance or COARSE
        fine = tolerance <= FINE
        caps = [cap for most, cap in CAPS if ns < most and not (fine and cap == CAPS[0][1])]
        numbers = {
            "skin": search.skin, "band": BAND, "clean": CLEAN, "moving": int(self.moving),
            "held": int(not method.velocities_first),
            "relaxed": int(getattr(method, "relaxed", False)),
            "recovery": getattr(method, "recovery_speed", None) or np.inf,
            "tolerance": tolerance, "refused": max(WORST, 10.0 * tolerance),
            "most": SWEEPS, "cap": caps[0],
        }  # fmt: skip
        for name, value in numbers.items():
            self.record[0][name] = value
        self.tables: list[np.ndarray] = []

    def aim(self) -> None:
        """Put the addresses of the arrays into the record."""
        TABLE.aim(self.record, self.arrays)

    @staticmethod
    def _mobilities(system, search):
        """1/m and r²/J (n, 2) of the grains; zero where nothing moves."""
        blocks = _inertias(system)[search.nodes]
        result = np.zeros((len(blocks), 2))
        for column, first, scale in ((0, 0, 1.0), (1, 3, search.radii**2)):
            value = blocks[:, first, first]
            np.divide(scale, value, out=result[:, column], where=value > 0.0)
        return result

    @staticmethod
    def reason(system: "System", method: Any) -> str | None:
        """Why a model with contact groups is solved pair by pair, in words; None when it fits."""
        if method.contact_solver != "auto":
            return f"contact_solver is '{method.contact_solver}'"
        if len(system.searches) != 1 or system.nc_fixed:
            return "there are several contact groups, or other contacts"
        (search,) = system.searches
        if set(search.partner_materials) - {SphereOnPlane} - {search.groups[0].kind}:
            return "obstacles are not planes"
        elastic = np.nan_to_num(search.laws)[..., L_NORMAL].any()
        if elastic and not method.velocities_first and len(search.nodes) < FEW:
            return "impacts of few spheres with restitution are a sequence"
        if np.nan_to_num(search.laws)[..., [L_ROLLING, L_SPINNING, L_TANGENTIAL, L_DRILLING]].any():
            return "contacts resist rolling or spinning, or rebound tangentially"
        if search.owner.excluded or len(set(search.nodes)) < len(search.nodes) or search.offsets.any():
            return "spheres are not each at the node of a body, or bodies are excluded"
        if np.isnan(search.laws).any():
            return "the table of materials has no law for some pairs"
        for element in system.elements:
            if type(element) is not RigidBody and any(node.index in set(search.nodes) for node in element.nodes):
                return "joints or forces act on spheres"
        free = system.free[search.nodes]
        if (free.any(axis=1) != free.all(axis=1)).any():
            return "spheres move in some directions only"
        return _irregular(system, search)

    def search_again(self) -> None:
        """Give the pairs more room, as many as the last search found and some."""
        size = max(int(GROWTH * self.record[0]["found"]), len(self.arrays["first"]) + 16)
        for name, item in TABLE.items.items():
            if item.shape.split()[:1] in (["np"], ["nm"]) and (item.shape.split()[0] == "np" or self.moving):
                old = self.arrays[name]
                self.arrays[name] = np.zeros((size, *old.shape[1:]), old.dtype)
                self.arrays[name][: len(old)] = old
        self.aim()

    def advance(
        self, times: np.ndarray, signals: np.ndarray, records: dict[str, np.ndarray]
    ) -> tuple[int, int, Exception | None]:
        """Take the steps that end at ``times``; as `Engine.advance`, which calls it."""
        from fem_mbs.solvers.granular.step import run_grains

        engine, done, error, self.tables = self.engine, 0, None, []
        run, saved = engine.run, 0
        while done < len(times):
            taken, code = run_grains(engine.data, run, self.record, len(times) - done, done, times, signals)
            done += taken
            if int(run[0]["saved"]) > saved:
                self.tables.append(self.closed_pairs())
                records["pair_count"][saved], saved = len(self.tables[-1]), saved + 1
            if code == NO_ROOM:
                self.search_again()
            elif code != OK:
                error = engine.fault(code, float(times[done]))
                break
        return done, saved, error

    def closed_pairs(self) -> np.ndarray:
        """Table of the pairs that carry, see `fem_mbs.results.table.PAIRS`."""
        a, count = self.arrays, int(self.record[0]["count"])
        rows = a["rows"][:count]
        chosen = np.flatnonzero(rows[:, P_RN] > 0.0)
        rows, first, second = rows[chosen], a["first"][chosen], a["second"][chosen]
        normal, planar = rows[:, P_N : P_N + 3], second < 0
        centers, radius = self.engine.arrays["x"][a["node"][first]], a["radius"][first]
        gap = np.zeros(len(chosen))
        gap[planar] = np.einsum("ck,ck->c", centers[planar], normal[planar]) - a["plane"][-1 - second[planar], 3]
        apart = np.linalg.norm(centers - self.engine.arrays["x"][a["node"][np.where(planar, first, second)]], axis=1)
        gap = np.where(planar, gap, apart - a["radius"][second]) - radius
        friction, mu = np.linalg.norm(rows[:, P_RT : P_RT + 3], axis=1), a["mu"][chosen]
        status = np.where(friction >= (1.0 - 1e-9) * mu * rows[:, P_RN], SLIP, STICK)
        table = np.zeros((len(chosen), PAIR_COLUMNS))
        columns = {
            "sphere": first, "type": planar.astype(int), "partner": np.where(planar, -1 - second, second),
            "status": np.where(mu > 0.0, status, CLOSED), "gap": gap,
            "impulse": rows[:, P_RN, None] * normal + rows[:, P_RT : P_RT + 3],
            "point": centers - radius[:, None] * normal, "normal": normal,
        }  # fmt: skip
        for name, values in columns.items():
            table[:, pair_column(name)] = values
        return table

    def statistics(self) -> dict[str, Any]:
        """What was counted over all steps."""
        record = self.record[0]
        names = {"pair_searches": "searches", "contact_sweeps": "all_sweeps", "most_contact_sweeps": "worst_sweeps",
                 "inexact_contact_problems": "unsolved"}  # fmt: skip
        return {name: int(record[field]) for name, field in names.items()}


def _inertias(system):
    """Blocks (N, 6, 6) of the mass matrix at the start, and whether they are all of it."""
    M = system.matrices(system.initial, mass_only=True).tocoo()
    full, blocks = np.flatnonzero(system.dof >= 0), np.zeros((len(system.nodes), 6, 6))
    row, column = full[M.row], full[M.col]
    same = row // 6 == column // 6
    np.add.at(blocks, (row[same] // 6, row[same] % 6, column[same] % 6), M.data[same])
    return blocks


def _irregular(system, search):
    """Why the inertias of spheres, or the motion of planes, do not fit; None when they do."""
    blocks = _inertias(system)[search.nodes]
    diagonal = np.einsum("bii->bi", blocks).copy()
    np.einsum("bii->bi", blocks)[:] = 0.0
    size = diagonal.max(initial=0.0)
    if np.abs(blocks).max(initial=0.0) > SAME * size:
        return "the mass of a body is not centred at its node, or its axes are no main axes"
    for first in (0, 3):
        if np.ptp(diagonal[:, first : first + 3], axis=1).max(initial=0.0) > SAME * size:
            return "moments of inertia of a body differ from axis to axis"
    if (diagonal[:, 0] == 0.0).any() and system.free[search.nodes][diagonal[:, 0] == 0.0].any():
        return "a body has no mass"
    movers = {k for group in search.groups[1:] for k in group.partner_nodes if system.free[k].any()}
    for k in movers:
        rows = np.zeros((6, system.n))
        at = system.dof.reshape(-1, 6)[k]
        rows[np.arange(6)[at >= 0], at[at >= 0]] = 1.0
        rows = rows[rows.any(axis=1)]
        if not (system.m and prescribed(system, system.initial, rows).all()):
            return "planes move freely"
    return None
