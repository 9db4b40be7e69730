"""Contact groups whose spheres are on free bodies, in a run: arrays of pairs, steps, tables of closed pairs.

Such models need no matrices for their contacts, and no contact elements: the pairs of the group are taken out of the
system for the run, which then has no contacts for all that is not in this folder. Models that do not fit (see
`granular.fitting`) are solved by the assembled (pairwise) solver.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import label
from fem_mbs.jit import address
from fem_mbs.results.sums import merged
from fem_mbs.results.table import PAIR_COLUMNS, pair_column
from fem_mbs.solvers.contact.law import CLOSED, SLIP, STICK
from fem_mbs.solvers.granular.data import LANES, TABLE
from fem_mbs.solvers.granular.fitting import turns
from fem_mbs.solvers.granular.obstacles.mechanism_arrays import Mechanism
from fem_mbs.solvers.granular.obstacles.obstacle_arrays import Obstacles
from fem_mbs.solvers.granular.shapes.hull_arrays import Hulls
from fem_mbs.solvers.granular.shapes.shaped import (
    closed_features,
    corners_of_obstacles,
    fill_shapes,
    link_shapes,
    refuse_overlaps,
    sizes_of_shapes,
)
from fem_mbs.solvers.granular.strikes import loss_warnings
from fem_mbs.solvers.granular.unsaved_pairs import UnsavedPairs
from fem_mbs.solvers.stepping.saved.saved_state import arrays_of, numbers_of, put_arrays, put_numbers

if TYPE_CHECKING:
    from fem_mbs.solvers.granular.fitting import Fit
    from fem_mbs.solvers.stepping.engine import Engine

COARSE = 1e-3  # default of contact_tolerance
CLEAR = 1e-6  # with it, the error of problems of a few bodies that pass impacts on
BAND = 1e-5  # of the smaller diameter: gaps below it are closed
CLEAN = 1e-6  # of the smaller diameter: overlaps that positions keep
CAPS = ((1e4, 0.85), (np.inf, 0.9))  # of the momentum, by number of particles
FINE = 1e-5  # contact tolerances from which on the second of them is better
SWEEPS = 5000  # of a step
ROOM = 4  # pairs per particle, to begin with
GROWTH = 1.3
BOUNCES = True  # impacts of a step are solved in turn where a law has restitution, see `granular.strikes`
WORST = 1e-2  # errors above it fail a step


class Grains:
    """The contact group of a run, see `granular.data`.

    Attributes
    ----------
    arrays : dict of name -> array
    record : (1,) record of addresses and numbers
    """

    def __init__(self, engine: "Engine", found: "Fit") -> None:
        self.engine, method = engine, engine.method
        (search,) = engine.system.searches
        system, owner = engine.system, search.owner
        obstacles = self.obstacles = Obstacles(system, search, found.moved)
        own = len(search.nodes)
        ns = own + corners_of_obstacles(obstacles)
        no, self.moving = len(obstacles.nodes), obstacles.moving
        self.clumps, self.resists = not found.grains, turns(search)
        sizes = {"ns": ns, "ng": ns + 1, "no": no, "nl": len(search.laws), "np": _whole_blocks(ROOM * ns)}
        excluded = _excluded(search, len(system.nodes))
        sizes["nx"], sizes["nodes"] = len(excluded), len(system.nodes)
        sizes["nb"] = len(found.nodes) + 1 if self.clumps else 0
        sizes["ny"] = sizes["nb"] + (len(found.moved) if self.resists else 0)
        sizes["ne"] = sizes["ng"] if len(found.moved) else 0
        sizes["nv"] = sizes["ny"] if self.clumps else sizes["ng"]
        self.shaped, self.owner = owner.shaped, owner
        # free particles without coupling: the velocities of the iterations are those of the method
        bound = self.clumps or self.moving or len(found.moved) or system.m or method.mixed
        self.free = not (bound or method.velocities_first)
        self.bounces = BOUNCES and bool((search.laws["restitution"] > 0.0).any())
        self.stiction = search.two_coefficients
        sizes |= {"kr": search.restitutions.shape[2], "ks": search.sliding.shape[2]}
        sizes |= self._sizes_of_pairs(sizes["np"])
        hulls = self.hulls = Hulls(owner.shapes)
        sizes |= sizes_of_shapes(owner, obstacles, hulls, sizes)
        self.arrays, self.record = TABLE.arrays(sizes), np.zeros(1, TABLE.dtype)
        a = self.arrays
        a["excluded"][:] = excluded
        self._fill_spheres(search)
        fill_shapes(self.arrays, search, obstacles, hulls)
        self._fill_bodies(found)
        if self.shaped:
            link_shapes(a)
        a["plane_node"][:], a["plane_material"][:] = obstacles.nodes, obstacles.materials
        a["plane_local"][:] = obstacles.local
        self.mechanism = Mechanism(system, obstacles, found.moved) if len(found.moved) else None
        if self.mechanism is not None:
            self.mechanism.grow(sizes["np"])
        self.aim()
        self._fill_record(search.skin)
        self._call_parts()
        self.unsaved = UnsavedPairs()
        if self.shaped:
            refuse_overlaps(self)

    def _fill_record(self, skin):
        """Numbers of the record: of the group, and of its solver."""
        engine, method, obstacles = self.engine, self.engine.method, self.obstacles
        tolerance = engine.contact_tolerance = method.contact_tolerance or COARSE
        given = method.contact_tolerance or not (self.bounces and method.passes_impacts_on)
        finest = tolerance if given else CLEAR
        fine = tolerance <= FINE
        caps = [cap for most, cap in CAPS if self.arrays["node"].size < most and not (fine and cap == CAPS[0][1])]
        numbers = {
            "skin": skin, "band": BAND, "clean": CLEAN, "moving": int(self.moving), "clumps": int(self.clumps),
            "mechanism_at": 0 if self.mechanism is None else address(self.mechanism.record),
            "coupled": 0 if self.mechanism is None else -1 - obstacles.first_moved,
            "obstacles_at": address(obstacles.record), "hulls_at": address(self.hulls.record),
            "resists": int(self.resists), "shapes": int(self.shaped), "bounces": int(self.bounces),
            "stiction": int(self.stiction),
            "passes_on": int(method.passes_impacts_on),
            "held": int(not method.velocities_first), "led": int(method.leads_grains),
            "mean": method.theta,
            "relaxed": int(method.relaxed),
            "recovery": method.recovery_speed or np.inf,
            "tolerance": tolerance, "fine": finest, "refused": max(WORST, 10.0 * tolerance),
            "most": SWEEPS, "cap": caps[0],
        }  # fmt: skip
        for name, value in numbers.items():
            self.record[0][name] = value

    def _sizes_of_pairs(self, count):
        """Sizes of the arrays that have room for ``count`` pairs; 0 for those that the group does not have."""
        there = {"np": True, "nm": self.moving, "nk": self.clumps, "nt": self.resists, "nj": self.bounces}
        there["nd"] = self.stiction
        sizes = {name: count * is_there for name, is_there in there.items()}
        free = not self.clumps
        return sizes | {"nq": count * free, "nu": count // LANES * free}

    def _fill_spheres(self, search):
        """Places and materials of spheres, or of shapes, and the laws of their contacts."""
        a, own = self.arrays, len(search.nodes)
        a["node"][:own], a["radius"][:own] = search.nodes, search.radii
        if search.offsets.any():  # zeros that are not written take no memory
            a["offset"][:own] = search.offsets
        a["material"][:own], a["laws"][:] = search.materials, search.laws
        a["restitutions"][:], a["slidings"][:] = search.restitutions, search.sliding

    def _fill_bodies(self, found):
        """Mobilities of particles, or inertias of bodies; those of what cannot move stay zero."""
        a = self.arrays
        moves = self.engine.system.free[found.nodes].any(axis=1)
        masses, turns = found.inertias[:, 0, 0], found.inertias[:, 3:, 3:]
        of_mass = np.divide(1.0, masses, out=np.zeros_like(masses), where=moves)
        if not self.clumps:
            particle = np.searchsorted(found.nodes, a["node"])
            a["body"][:] = np.arange(len(a["body"]))
            a["particles"]["inverse_mass"][:-1] = of_mass[particle]
            square, moment = a["radius"][:-1] ** 2, turns[particle, 0, 0]
            np.divide(square, moment, out=a["particles"]["inverse_inertia"][:-1], where=moment > 0.0)
            return
        a["body"][:] = len(found.nodes)  # what cannot move: obstacles too
        own = self.engine.system.searches[0].nodes
        a["body"][: len(own)] = np.searchsorted(found.nodes, own)
        a["body_node"][:-1], a["bodies"]["inverse_mass"][: len(found.nodes)] = found.nodes, of_mass
        rows = len(found.nodes) + 1 + np.searchsorted(found.moved, self.obstacles.nodes)
        a["plane_row"][:] = np.where(np.isin(self.obstacles.nodes, found.moved), rows, len(found.nodes))
        a["inertia"][:-1] = turns
        a["inverse"][:-1][moves] = np.linalg.inv(turns[moves])

    def _call_parts(self):
        """Addresses of what only some groups need, which is compiled for them."""
        from fem_mbs.solvers.granular import parts

        self.record[0]["self_at"] = address(self.record)
        needed = {
            "turning_part": self.resists,
            "mechanism_part": self.mechanism is not None,
            "shapes_part": self.shaped,
        }
        for name in (name for name, is_needed in needed.items() if is_needed):
            self.record[0][name] = getattr(parts, name).address

    def aim(self) -> None:
        """Put the addresses of the arrays into the record."""
        TABLE.aim(self.record, self.arrays)

    def search_again(self) -> None:
        """Give the pairs more room, as many as the last search found and some."""
        size = _whole_blocks(max(int(GROWTH * self.record[0]["found"]), len(self.arrays["first"])))
        sizes = self._sizes_of_pairs(size) | {"nf": size * self.shaped}
        for name, item in TABLE.items.items():
            axes = item.shape.split()
            if axes and sizes.get(axes[0], 0):
                old = self.arrays[name]
                self.arrays[name] = np.zeros((sizes[axes[0]], *old.shape[1:]), old.dtype)
                self.arrays[name][: len(old)] = old
        if self.mechanism is not None:
            self.mechanism.grow(size)
        self.aim()

    def take(self, count: int, done: int, times: np.ndarray, signals: np.ndarray) -> tuple[int, int]:
        """Take steps from times[done] on, up to one that is saved; number of steps taken and the code of the last."""
        from fem_mbs.solvers.granular.step import run_grains

        engine = self.engine
        if self.mechanism is not None:
            self.mechanism.connect(engine)
        unsaved = self.unsaved.record
        return run_grains(engine.data, engine.run, self.record, unsaved, count, done, times, signals)

    def make_room(self) -> None:
        """Make room for what the last step has stopped for: impulses that are not saved, or pairs."""
        if not self.unsaved.take_left(self):
            self.search_again()

    def closed_pairs(self) -> np.ndarray:
        """Table of the pairs that carry, see `fem_mbs.results.table.PAIRS`.

        With what others have carried since the last saved state, after which nothing waits.
        """
        table = closed_features(self) if self.shaped else self._closed_spheres()
        run = self.engine.run[0]
        if run["unsaved_step"] == run["step_number"]:  # the impulses of the last step wait too
            table[:, pair_column("impulse")] = table[:, pair_column("moment_impulse")] = 0.0
        return merged(table, [self.unsaved.take(self)])

    def _closed_spheres(self):
        """Table of the pairs of spheres that carry in the last step."""
        from fem_mbs.solvers.granular.step import end_gaps

        a, count = self.arrays, int(self.record[0]["count"])
        chosen = np.flatnonzero(a["pairs"]["normal_impulse"][:count] > 0.0)
        pairs, first, second = a["pairs"][chosen], a["first"][chosen], a["second"][chosen]
        normal, fixed = pairs["normal"], second < 0
        state, number = self.engine.arrays, -1 - second[fixed]
        a["at"][:] = state["x"][a["node"]] + np.einsum("skm,sm->sk", state["R"][a["node"]], a["offset"])
        centers, radius = a["at"][first], a["radius"][first]
        gaps = np.zeros(count)
        if fixed.any():
            end_gaps(self.record, state["x"], state["R"], gaps)
        apart = np.linalg.norm(centers - a["at"][np.where(fixed, first, second)], axis=1)
        gap = np.where(fixed, gaps[chosen], apart - a["radius"][second] - radius)
        types, partners = np.zeros(len(chosen)), second.copy()
        types[fixed], partners[fixed] = self.obstacles.types[number], self.obstacles.partners[number]
        friction, mu = np.linalg.norm(pairs["tangential_impulse"], axis=1), a["mu"][chosen]
        status = np.where(friction >= (1.0 - 1e-9) * mu * pairs["normal_impulse"], SLIP, STICK)
        table = np.zeros((len(chosen), PAIR_COLUMNS))
        columns = {
            "sphere": first, "type": types, "partner": partners,
            "status": np.where(mu > 0.0, status, CLOSED), "gap": gap,
            "impulse": pairs["normal_impulse"][:, None] * normal + pairs["tangential_impulse"],
            "point": centers - radius[:, None] * normal, "normal": normal,
        }  # fmt: skip
        if self.resists:
            columns["moment_impulse"] = a["moments"]["moment_impulse"][chosen]
        columns["force"] = columns["impulse"] / self.engine.run[0]["h"]
        for name, values in columns.items():
            table[:, pair_column(name)] = values
        return table

    def get_state(self) -> dict[str, Any]:
        """Pairs with their impulses, velocities, places at the last search, counters; a copy."""
        state = {"arrays": arrays_of(self.arrays), "numbers": numbers_of(TABLE, self.record)}
        state["obstacles"] = self.obstacles.get_state()
        state["unsaved"] = self.unsaved.get_state()
        return state | {"mechanism": None if self.mechanism is None else self.mechanism.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` has given; arrays of pairs get its room."""
        put_arrays("contact group", self.arrays, state["arrays"])
        self.aim()
        put_numbers(TABLE, self.record, state["numbers"])
        self.obstacles.set_state(state["obstacles"])
        self.unsaved.set_state(state["unsaved"])
        if self.mechanism is not None:
            self.mechanism.connect(self.engine)
            self.mechanism.set_state(state["mechanism"])

    @property
    def inexact(self) -> int:
        """Number of steps that were left above the tolerance."""
        return int(self.record[0]["unsolved"])

    @property
    def worst(self) -> float:
        """Largest error of a step."""
        return float(self.record[0]["worst_error"])

    def warnings(self) -> list[str]:
        """What restitution has lost in the run, where it is much."""
        p = self.record[0]
        return loss_warnings(label(self.owner), float(p["all_lost"]), float(p["kinetic"]))

    def failure(self) -> str | None:
        """How the last step failed for its contacts, in words; None where they were solved."""
        p = self.record[0]
        if p["error"] <= p["refused"]:
            return None
        return (
            f"the {int(p['count'])} pairs of contact group '{self.owner.name}' were left with a scale-free error of "
            f"{p['error']:.1e} after {int(p['sweeps'])} iterations (contact_tolerance {p['tolerance']:.0e}, rejected "
            f"above {p['refused']:.0e})"
        )

    def statistics(self) -> dict[str, float]:
        """What was counted over all steps."""
        record = self.record[0]
        names = {"pair_searches": "searches", "contact_sweeps": "all_sweeps", "most_contact_sweeps": "worst_sweeps",
                 "inexact_contact_problems": "unsolved", "steps_with_impacts_in_turn": "sequences"}  # fmt: skip
        counted: dict[str, Any] = {name: int(record[field]) for name, field in names.items()}
        return counted | {"restitution_lost": float(record["all_lost"])}


def _whole_blocks(pairs):
    """Room for more than so many pairs, in blocks of `granular.lanes`."""
    return LANES * (pairs // LANES + 1)


def _excluded(search, nodes):
    """Pairs of ``nodes`` nodes that never touch, as `granular.pairs` looks for them."""
    first, second = np.divmod(search.forbidden, search.largest)
    return np.sort(first * nodes + second)
