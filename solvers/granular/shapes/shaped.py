"""Contact groups with convex shapes in a run: their arrays, overlaps at the start, tables of closed pairs.

Source: docs/theory/contact_groups.md, (21)-(25); kernels: `granular.shapes.cores`, `granular.shapes.features`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.distance.hull_kernels import passes_through_hull
from fem_mbs.errors import ModelError, label
from fem_mbs.jit import kernel, local_vector
from fem_mbs.results.table import PAIR_COLUMNS, pair_column
from fem_mbs.solvers.contact.law import CLOSED, SLIP, STICK
from fem_mbs.solvers.granular.data import never_touch
from fem_mbs.solvers.granular.pairs import place_planes
from fem_mbs.solvers.granular.shapes.cores import (
    bring_beside,
    edge_ends,
    edges_of,
    is_endless,
    local_corner,
    place_shape,
    touch,
)
from fem_mbs.solvers.granular.shapes.features import find
from fem_mbs.solvers.granular.shapes.hulls import hulls_at
from fem_mbs.system.broad_phase import near_pairs

if TYPE_CHECKING:
    from fem_mbs.element.contact_group import GroupOfShapes
    from fem_mbs.solvers.granular.grains import Grains
    from fem_mbs.solvers.granular.obstacles.obstacle_arrays import Obstacles
    from fem_mbs.solvers.granular.shapes.hull_arrays import Hulls
    from fem_mbs.system.pairs import PairSearch

BOX_CORNERS, BOX_EDGES = 8, 12
START = 2.0  # times the overlap that positions keep: a run may begin with it


def corners_of_obstacles(obstacles: "Obstacles") -> int:
    """Number of corners of obstacles that are shapes."""
    return sum(core.corner_count for core in obstacles.cores if core is not None)


def sizes_of_shapes(
    owner: "GroupOfShapes", obstacles: "Obstacles", hulls: "Hulls", sizes: dict[str, int]
) -> dict[str, int]:
    """Sizes of the arrays of shapes; 0 where all are spheres."""
    if not owner.shaped:
        return {"nh": 0, "nr": 0, "nf": 0, "nc": 0, "nz": 0, "nw": 0}
    own, others = len(owner.shapes), sum(core is not None for core in obstacles.cores)
    most = {"nz": max(BOX_CORNERS, hulls.most_corners), "nw": max(BOX_EDGES, hulls.most_edges)}
    return {"nh": own + others, "nr": own, "nf": sizes["np"], "nc": sizes["nb"], **most}


def fill_shapes(arrays: dict[str, np.ndarray], search: "PairSearch", obstacles: "Obstacles", hulls: "Hulls") -> None:
    """Fill what does not change of the arrays of shapes; those of obstacles come last, with corners of their own."""
    owner = search.owner
    if not owner.shaped:
        return
    a, own, at = arrays, len(owner.shapes), len(search.nodes)
    solid = [(k, core) for k, core in enumerate(obstacles.cores) if core is not None]
    shapes = owner.shapes + [core for _, core in solid]
    counts = np.array([shape.corner_count for shape in shapes])
    a["core_count"][:], a["core_first"][:] = counts, np.cumsum(counts) - counts
    a["shape"][:-1] = np.repeat(np.arange(len(shapes)), counts)
    a["thick"][:-1] = np.inf  # of two shapes the thinner counts, and obstacles may have no thickness
    a["thick"][:at] = np.repeat(search.thickness, counts[:own])
    for s, shape in enumerate(shapes):
        a["core_half"][s], a["core_offset"][s] = shape.half, shape.frame.p
        a["core_axes"][s], a["core_bound"][s] = shape.frame.rotation, shape.bound
    a["core_plane"][:], a["plane_shape"][:], a["core_hull"][:] = -1, -1, -1
    a["core_hull"][:own] = hulls.numbers
    for s, (k, core) in enumerate(solid, start=own):
        a["core_plane"][s], a["plane_shape"][k] = k, s
        for corner in core.corners:
            a["node"][at], a["offset"][at], a["radius"][at] = obstacles.nodes[k], corner.p, core.radius
            at += 1


def link_shapes(arrays: dict[str, np.ndarray]) -> None:
    """Chain the shapes of each body, for bodies that are known."""
    a = arrays
    a["body_shape"][:] = a["core_next"][:] = -1
    bodies = a["body"][a["core_first"]]
    for s in range(len(a["core_reach"]) - 1, -1, -1):
        a["core_next"][s], a["body_shape"][bodies[s]] = a["body_shape"][bodies[s]], s


@kernel
def _gaps(grains, x, R, chosen, gap):
    """Gaps (k,) of listed pairs ``chosen`` (k,) at poses x, R; infinite for pairs that do not count."""
    p = grains[0]
    g, before = local_vector(9), local_vector(3)
    for s in range(p.core_first.shape[0]):
        place_shape(p, s, x, R)
    for i in range(chosen.shape[0]):
        k = chosen[i]
        for j in range(3):
            before[j] = 0.0
        value, counts = touch(p, k, x, R, before, g)
        gap[i] = value if counts else np.inf


@kernel
def _gaps_of_contacts(grains, x, R, chosen, gap):
    """The same for the listed pairs of contacts, with the normals that they had; all count."""
    p = grains[0]
    g, before = local_vector(9), local_vector(3)
    for s in range(p.core_first.shape[0]):
        place_shape(p, s, x, R)
    for i in range(chosen.shape[0]):
        k = p.near_of[chosen[i]]
        for j in range(3):
            before[j] = p.near_normal[k, j]
        gap[i], _ = touch(p, k, x, R, before, g)


@kernel
def _find_first(grains, x, R, V, h):
    """`find` at the start of a run."""
    p = grains[0]
    place_planes(p, x, R)
    return find(p, x, R, V, h)


@kernel
def _passes_through(p, s, t):
    """True if an edge of the core of shape s passes through that of shape t."""
    e, y, z = local_vector(2), local_vector(3), local_vector(3)
    first = p.core_first[s]
    for i in range(edges_of(p, s)):
        edge_ends(p, s, i, e)
        local_corner(p, first + int(e[0]), t, y)
        local_corner(p, first + int(e[1]), t, z)
        if p.core_hull[t] >= 0:
            if passes_through_hull(hulls_at(p.hulls_at)[0], p.core_hull[t], y, z):
                return True
            continue
        enter, leave = 0.0, 1.0
        for k in range(3):
            half, way = p.core_half[t, k], z[k] - y[k]
            if way == 0.0:
                leave = leave if abs(y[k]) <= half else -1.0
            else:
                a, b = (-half - y[k]) / way, (half - y[k]) / way
                enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
        if enter <= leave:
            return True
    return False


@kernel
def _cross(p, s, t, nodes):
    """True if shapes s < t, which may touch, pass through each other."""
    a, b = p.core_first[s], p.core_first[t]
    if p.body[a] == p.body[b] or p.bodies[p.body[a]].inverse_mass + p.bodies[p.body[b]].inverse_mass == 0.0:
        return False
    if p.excluded.shape[0] > 0 and never_touch(p, p.node[a], p.node[b], nodes):
        return False
    if is_endless(p, t):
        bring_beside(p, s, t)
    return _passes_through(p, s, t) or _passes_through(p, t, s)


@kernel
def _first_crossing(grains, nodes, pair):
    """Put the first two shapes that pass through each other into pair (2,); False where there are none."""
    p = grains[0]
    own, every = p.core_reach.shape[0], p.core_first.shape[0]
    near = near_pairs(p.core_center[:own], p.core_reach, p.skin, p.room)
    for k in range(near + own * (every - own)):
        pair[0], pair[1] = (k - near) % own, own + (k - near) // own
        if k < near:
            pair[0], pair[1] = p.room[k, 0], p.room[k, 1]
        if _cross(p, pair[0], pair[1], nodes):
            return True
    return False


def refuse_overlaps(grains: "Grains") -> None:
    """Raise where shapes overlap at the start of a run: by their gaps, or so deep that edges are beyond each other."""
    state, p = grains.engine.system.initial, grains.record[0]
    h = grains.engine.h
    while not _find_first(grains.record, state.x, state.R, state.V, h):
        grains.search_again()
    a, count = grains.arrays, int(p["near_count"])
    gap = np.zeros(count)
    _gaps(grains.record, state.x, state.R, np.arange(count), gap)
    first, second = a["near"][:count, 0], a["near"][:count, 1]
    thick = np.minimum(a["thick"][first], np.where(second >= 0, a["thick"][np.maximum(second, 0)], np.inf))
    deep = gap < -START * 2.0 * p["clean"] * thick
    deep &= second >= 0  # planes have been looked at with the other contacts
    pair, what = np.zeros(2, np.int64), None
    for k in np.flatnonzero(deep)[:1]:
        pair[:] = a["shape"][[first[k], second[k]]]
        # where the solids within the roundings meet, gaps know no more than both roundings
        deeper = gap[k] <= -(1.0 - 1e-9) * (a["radius"][first[k]] + a["radius"][second[k]])
        what = f"gap {'<' if deeper else '='} {gap[k]:.6g} m"
    if what is None and _first_crossing(grains.record, len(state.x), pair):
        what = "an edge of one passes through the other"
    if what is not None:
        names = " - ".join(_name(grains, s) for s in pair)
        message = f"{label(grains.owner)}: {names} starts with penetration, {what}. Move the bodies apart (gap ≥ 0)"
        raise ModelError(message, [grains.owner])


def _name(grains, s):
    """Shape s in words."""
    owner, k = grains.owner, grains.arrays["core_plane"][s]
    if k >= 0:
        obstacles = grains.obstacles
        group = grains.engine.system.searches[0].groups[obstacles.types[k]]
        return f"{group.kind.__name__} {group.names[obstacles.partners[k]]}".strip()
    shape = owner.shapes[s]
    return f"{shape.kind} {s}" + (f" of '{shape.frame.node.name}'" if shape.frame.node.name else "")


def closed_features(grains: "Grains") -> np.ndarray:
    """Table of the contacts that carry, as `Grains.closed_pairs`: the numbers are those of shapes."""
    a, count = grains.arrays, int(grains.record[0]["count"])
    chosen = np.flatnonzero(a["pairs"]["normal_impulse"][:count] > 0.0)
    pairs, first, second, mu = a["pairs"][chosen], a["first"][chosen], a["second"][chosen], a["mu"][chosen]
    normal, planar, state = pairs["normal"], second < 0, grains.engine.arrays
    gap = np.zeros(len(chosen))
    _gaps_of_contacts(grains.record, state["x"], state["R"], chosen, gap)
    friction = np.linalg.norm(pairs["tangential_impulse"], axis=1)
    status = np.where(friction >= (1.0 - 1e-9) * mu * pairs["normal_impulse"], SLIP, STICK)
    types, partner = np.zeros(len(chosen)), a["shape"][np.where(planar, first, second)]
    number = -1 - second[planar]
    types[planar], partner[planar] = grains.obstacles.types[number], grains.obstacles.partners[number]
    columns: dict[str, Any] = {
        "sphere": a["shape"][first], "type": types, "partner": partner,
        "status": np.where(mu > 0.0, status, CLOSED), "gap": gap,
        "impulse": pairs["normal_impulse"][:, None] * normal + pairs["tangential_impulse"],
        "point": state["x0"][a["node"][first]] + a["arms"][chosen, :3], "normal": normal,
    }  # fmt: skip
    if grains.resists:
        columns["moment_impulse"] = a["moments"]["moment_impulse"][chosen]
    table = np.zeros((len(chosen), PAIR_COLUMNS))
    columns["force"] = columns["impulse"] / grains.engine.run[0]["h"]
    for name, values in columns.items():
        table[:, pair_column(name)] = values
    return table
