"""Contact groups with convex shapes in a run: their arrays, overlaps at the start, tables of closed pairs.

Source: docs/theory/contact_groups.md, (21)-(25); kernels: `granular.cores`, `granular.features`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ModelError, label
from fem_mbs.jit import kernel, local_vector
from fem_mbs.results.table import PAIR_COLUMNS, pair_column
from fem_mbs.solvers.contact.law import CLOSED, SLIP, STICK
from fem_mbs.solvers.granular.cores import place_shape, touch
from fem_mbs.solvers.granular.data import P_N, P_RN, P_RT
from fem_mbs.solvers.granular.features import find
from fem_mbs.solvers.granular.pairs import place_planes

if TYPE_CHECKING:
    from fem_mbs.elements.contacts.group import ContactGroup
    from fem_mbs.solvers.granular.grains import Grains
    from fem_mbs.system.pairs import PairSearch

START = 2.0  # times the overlap that positions keep: a run may begin with it


def sizes_of_shapes(owner: "ContactGroup", sizes: dict[str, int]) -> dict[str, int]:
    """Sizes of the arrays of shapes; 0 where all are spheres."""
    if not owner.shaped:
        return {"nh": 0, "nf": 0, "nc": 0}
    return {"nh": len(owner.shapes), "nf": sizes["np"], "nc": sizes["nb"]}


def fill_shapes(arrays: dict[str, np.ndarray], search: "PairSearch") -> None:
    """Fill what does not change of the arrays of shapes."""
    owner = search.owner
    if not owner.shaped:
        return
    a, shapes = arrays, owner.shapes
    counts = np.array([len(shape.corners) for shape in shapes])
    a["core_count"][:], a["core_first"][:] = counts, np.cumsum(counts) - counts
    a["shape"][:-1] = np.repeat(np.arange(len(shapes)), counts)
    a["thick"][:-1] = np.repeat(search.thickness, counts)
    for s, shape in enumerate(shapes):
        a["core_half"][s], a["core_offset"][s] = shape.half, shape.frame.p
        a["core_axes"][s], a["core_bound"][s] = shape.frame.rotation, np.linalg.norm(shape.half) + shape.radius
    a["body_shape"][:] = a["core_next"][:] = -1
    bodies = a["body"][a["core_first"]]
    for s in range(len(shapes) - 1, -1, -1):
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
        value, counts = touch(p, p.near[k, 0], p.near[k, 1], p.near[k, 2], before, g)
        gap[i] = value if counts else np.inf


@kernel
def _gaps_of_contacts(grains, x, R, chosen, gap):
    """The same for contacts, with the normals that they have; all count."""
    p = grains[0]
    g, before = local_vector(9), local_vector(3)
    for s in range(p.core_first.shape[0]):
        place_shape(p, s, x, R)
    for i in range(chosen.shape[0]):
        c = chosen[i]
        for j in range(3):
            before[j] = p.rows[c, P_N + j]
        gap[i], _ = touch(p, p.first[c], p.second[c], p.feature[c], before, g)


@kernel
def _find_first(grains, x, R, V, h):
    """`find` at the start of a run."""
    p = grains[0]
    place_planes(p, x, R)
    return find(p, x, R, V, h)


def refuse_overlaps(grains: "Grains") -> None:
    """Raise where shapes overlap at the start of a run."""
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
    for k in np.flatnonzero(deep)[:1]:
        names = [_name(grains.owner, a["shape"][corner]) for corner in (first[k], second[k])]
        raise ModelError(
            f"{label(grains.owner)}: {names[0]} - {names[1]} starts with penetration, gap = {gap[k]:.6g} m. Move the "
            "bodies apart (gap ≥ 0)",
            [grains.owner],
        )


def _name(owner, s):
    """Shape s in words."""
    shape = owner.shapes[s]
    return f"{shape.kind} {s}" + (f" of '{shape.frame.node.name}'" if shape.frame.node.name else "")


def closed_features(grains: "Grains") -> np.ndarray:
    """Table of the contacts that carry, as `Grains.closed_pairs`: the numbers are those of shapes."""
    a, count = grains.arrays, int(grains.record[0]["count"])
    chosen = np.flatnonzero(a["rows"][:count, P_RN] > 0.0)
    rows, first, second, mu = a["rows"][chosen], a["first"][chosen], a["second"][chosen], a["mu"][chosen]
    normal, planar, state = rows[:, P_N : P_N + 3], second < 0, grains.engine.arrays
    gap = np.zeros(len(chosen))
    _gaps_of_contacts(grains.record, state["x"], state["R"], chosen, gap)
    friction = np.linalg.norm(rows[:, P_RT : P_RT + 3], axis=1)
    status = np.where(friction >= (1.0 - 1e-9) * mu * rows[:, P_RN], SLIP, STICK)
    partner = np.where(planar, -1 - second, a["shape"][np.where(planar, first, second)])
    columns: dict[str, Any] = {
        "sphere": a["shape"][first], "type": planar.astype(int), "partner": partner,
        "status": np.where(mu > 0.0, status, CLOSED), "gap": gap,
        "impulse": rows[:, P_RN, None] * normal + rows[:, P_RT : P_RT + 3],
        "point": state["x0"][a["node"][first]] + a["arms"][chosen, :3], "normal": normal,
    }  # fmt: skip
    table = np.zeros((len(chosen), PAIR_COLUMNS))
    for name, values in columns.items():
        table[:, pair_column(name)] = values
    return table
