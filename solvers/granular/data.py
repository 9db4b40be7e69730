"""Data of contact groups whose spheres are free bodies; compiled code calls its record ``p``.

Spheres that are bodies of their own are *particles*, numbered as the spheres of the group are; the last of the
particles is a body that cannot move, the partner of obstacles. Where bodies carry several spheres, or spheres away from
their nodes, or have any inertia, there are *bodies* in place of particles: what has the size nb, and arms and blocks of
pairs (`granular.bodies`). Each particle and each pair is one record of 64 bytes, a line of cache.

    symbol   code                             symbol   code
    v        velocity                         n        normal of a pair, from the second body to the first
    r ω      surface_velocity of a particle   r_N      normal_impulse
    ω        angular_velocity of a body       r_T      tangential_impulse (inertial axes)
    1/m      inverse_mass                     b        bias
    r²/J     inverse_inertia of a particle    a_a, a_b arms, columns 0-2 and 3-5 (inertial axes)
    J⁻¹      inverse_inertia of a body        W        block, axes n, t_1, t_2
"""

import numpy as np
from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, vector, void_pointer
from fem_mbs.system.contacts import LAW
from fem_mbs.system.speed_pieces import PIECE

# pairs of a block, and room for those that wait for a group, see `granular.lanes`
LANES, WAITING = 32, 128


def _record(**fields):
    """Record type of float64 fields: their names and shapes."""
    return np.dtype([(name, "f8", shape) for name, shape in fields.items()], align=True)


PARTICLE = _record(velocity=(3,), surface_velocity=(3,), inverse_mass=(), inverse_inertia=())
BODY = _record(velocity=(3,), angular_velocity=(3,), inverse_mass=(), inverse_inertia=(6,))  # xx, xy, xz, yy, yz, zz
PAIR = _record(normal=(3,), normal_impulse=(), tangential_impulse=(3,), bias=())
IMPULSE = _record(normal_impulse=(), tangential_impulse=(3,))
MOMENT = _record(moment_impulse=(3,), rolling_resistance=(), spinning_resistance=(), drilling_arm=())
# of `granular.lanes`: a row of each field has one number of every pair of a block
BLOCK = _record(
    normal=(3, LANES),
    bias=(LANES,),
    impulse=(4, LANES),
    before=(4, LANES),
    friction=(LANES,),
    mobility=(LANES,),
    tangential_mobility=(LANES,),
    lag=(LANES,),
)
CHANGES = _record(linear=(3, LANES), angular=(3, LANES), estimate=(LANES,), work=(LANES,))
BODY_NUMBERS = BODY.itemsize // 8

# tasks of `granular.parts`
(
    SIZE, ADD, SWEEP, ERROR, PLACE, UNLOAD, READY, SETTLE, FIND, FIND_AGAIN, EVALUATE, PUSH_APART, CARRY, LOAD,
    LOAD_START, SPEEDS, SLIPS,
) = range(17)  # fmt: skip

# ns spheres, ng = ns + 1, np room for pairs, nm the same where planes move, no planes, nl materials, nx excluded
# pairs; nb bodies and one that cannot move, nk room for pairs of these, 0 for particles; ny the same and where contacts
# resist turning, nodes of obstacles that contacts move; nv rows of velocities: ng or ny; nq room for listed pairs of
# particles, nu blocks of them, 0 for bodies; nt room for pairs where contacts resist turning (`granular.turning`); nh
# convex shapes, whose corners are the spheres, first those nr of bodies, then those of obstacles; nf room for their
# pairs, nc their number of bodies, nz and nw the most corners and edges of a shape: 0 where all shapes are spheres; nj
# room for pairs where a law has restitution; ne = ng where contacts move obstacles; kr and ks pieces of restitution and
# of sliding friction, nd room for pairs, where such laws depend on a speed
TABLE = Table(
    "contact group of free bodies",
    {
        "node": Item("ns", "of each sphere", "i8"),
        "offset": Item("ns 3", "centre of each sphere, axes of its node"),
        "at": Item("ns 3", "centre of each sphere at the start of the step, and while positions are corrected"),
        "swing": Item("ns 3", "velocity of each centre at the start of the step"),
        "radius": Item("ng", "[m]"),
        "material": Item("ng", "of each particle", "i8"),
        "particles": Item("ng", "velocities v and r ω, 1/m and r²/J", PARTICLE),
        "before": Item(
            "nv 8", "velocities one iteration ago, in the places of `particles`, or as the first numbers of `bodies`"
        ),
        "body": Item("ng", "row of `bodies` or `particles` of each sphere, the last of what cannot move", "i8"),
        "body_node": Item("nb", "of each body", "i8"),
        "inertia": Item("nb 3 3", "J of each body, axes of its node"),
        "inverse": Item("nb 3 3", "its inverse"),
        "bodies": Item("ny", "v, ω, 1/m and J⁻¹, inertial axes; then the velocities of nodes of `mechanism`", BODY),
        "turn": Item("nb 3", "rotation of each body by the correction of positions, inertial axes"),
        "arms": Item("nk 6", "from the nodes of both bodies to the contact, inertial axes"),
        "tangents": Item("nk 6", "t_1 and t_2"),
        "block": Item("nk 3 3", "W of each contact"),
        "slide": Item("nk", "σ: μ ‖u_T‖ of the last iterations, where `lagged`"),
        "moments": Item("nt", "χ of each contact, inertial axes, ρ, γ and the arm c of its disc", MOMENT),
        "last_moments": Item("nt 3", "χ one iteration ago"),
        "old_moments": Item("nt 3", "χ before the last search"),
        "given_turn": Item("nt 3", "angular velocity of the plane"),
        "spin": Item("nt 3 3", "angular velocity by moments, axes t_1, t_2, n"),
        "mixed": Item("nt 3 3", "angular velocity by impulses, axes t_1, t_2, n and n, t_1, t_2"),
        "center": Item("ng 3", "centres when pairs were searched"),
        "ahead": Item("ns", "path of each particle that the search has allowed for"),
        "reach": Item("ns", "radius and path of each particle"),
        # of obstacles; those of shapes have no normal and no point, see `granular.obstacles.obstacles`
        "plane": Item("no 4", "normals and distances from the origin, inertial axes"),
        "plane_node": Item("no", "of each obstacle", "i8"),
        "plane_local": Item("no 6", "point and normal of each plane, axes of its node"),
        "plane_row": Item("no", "row of `bodies` of each obstacle, where contacts resist turning", "i8"),
        "plane_material": Item("no", "of each obstacle", "i8"),
        "excluded": Item("nx", "pairs of nodes that never touch, first · N + second in rising order", "i8"),
        "laws": Item("nl nl", "laws of pairs of materials", LAW),
        "restitutions": Item(
            "nl nl kr", "their restitution by approach speed, see `fem_mbs.system.speed_pieces`", PIECE
        ),
        "slidings": Item("nl nl ks", "their friction by sliding speed", PIECE),
        "room": Item("np 2", "pairs that a search has found", "i4"),
        # pairs by their first particle: those of particle i are at start[i] … start[i + 1]
        "start": Item("ng", "first pair of each particle", "i8"),
        "first": Item("np", "particle", "i8"),
        "second": Item("np", "particle, or −1 − number of an obstacle", "i8"),
        "pairs": Item("np", "n, r_N, r_T, b", PAIR),
        "last": Item("np", "impulses one iteration ago; of spheres, in a search, before it", IMPULSE),
        "order": Item("np", "in which iterations take the pairs, where `ordered`", "i8"),
        "place": Item("np", "position of each pair in the lanes, −1: it is not listed", "i8"),
        "lanes": Item("nu", "numbers of the listed pairs, see `granular.lanes`", BLOCK),
        "changes": Item("1", "scratch of an iteration over the pairs of a block, see `granular.lanes`", CHANGES),
        "partners": Item("nq 2", "rows of `particles` of each position", "i4"),
        "chosen": Item("nq", "pair of each position", "i8"),
        "group": Item("nq", "position after the last of each group", "i8"),
        "mark": Item("ng", "last group that each particle is in", "i8"),
        "waiting": Item(f"{WAITING}", "pairs that wait for another group", "i8"),
        "gap": Item("np", "at the start of the step"),
        "mu": Item("np", "friction"),
        "restitution": Item("nj", "of each pair, the largest at any approach speed"),
        "stop": Item("nj", "b that stops a pair with restitution before it has met, 0: it is closed or meets [m/s]"),
        "lift": Item("nj", "b as it was found, then what moving planes add to it [m/s]"),
        "open": Item("nj", "b of the problem after the impacts, for pairs without one [m/s]"),
        "rate": Item("nj", "u_N after the last impact [m/s]"),
        "earlier": Item("nj", "impulses of the impacts of the step so far, see `granular.strikes`", IMPULSE),
        "earlier_moments": Item("nt 3", "the same of moments"),
        "resting": Item("nj", "impulses with which the problem of a step begins, those of the last step", IMPULSE),
        "resting_moments": Item("nt 3", "the same of moments"),
        # of friction that is not one number, see `granular.speed_laws`
        "slide_start": Item("nd 3", "sliding velocity as the step begins, inertial axes [m/s]"),
        "slip": Item("nd 3", "sliding velocity after the last pass, inertial axes [m/s]"),
        "stuck": Item("nd", "stuck as the step begins", "i8"),
        "passes": Item("nd", "number of the pass of each", "i8"),
        "old_mu": Item("nd", "`mu` before the last search"),
        "given": Item("nm 3", "tangential velocity of the obstacle at the contact, where obstacles move"),
        "old_start": Item("ng", "the same before the last search", "i8"),
        "old_second": Item("np", "the same before the last search", "i4"),
        "old_pairs": Item("nf", "the same before the last search", PAIR),
        "obstacles_at": Item("", "record of `granular.obstacles.obstacles`", "i8"),
        "mechanism_at": Item("", "record of `granular.obstacles.mechanism`, where contacts move obstacles", "i8"),
        "parent": Item("ne", "another body of the same part, or itself, see `granular.carried`", "i8"),
        "rides": Item("ne", "of the first body of each part: whether it is carried, or has an impact", "i8"),
        "coupled": Item("", "−1 − the first obstacle that contacts move, 0: none", "i8"),
        # convex shapes, see `granular.shapes.cores`
        "shape": Item("ng", "of each sphere, which is a corner", "i8"),
        "thick": Item("ng", "half thickness of the shape of each sphere: its radius where it is one"),
        "core_first": Item("nh", "first corner of each shape", "i8"),
        "core_count": Item("nh", "number of its corners: 1, 2, 4, 8 of boxes", "i8"),
        "core_half": Item("nh 3", "half edge lengths of its core"),
        "core_hull": Item("nh", "number of the polyhedron that its core is, −1: a box", "i8"),
        "core_offset": Item("nh 3", "centre, axes of its node"),
        "core_axes": Item("nh 3 3", "its axes, axes of its node"),
        "core_bound": Item("nh", "radius of a sphere about all of it"),
        "core_center": Item("nh 3", "centre, inertial axes"),
        "core_turn": Item("nh 3 3", "its axes, inertial axes"),
        "core_reach": Item("nr", "bound and way of each shape of a body"),
        "core_plane": Item("nh", "number of the obstacle that a shape is, −1: of a body", "i8"),
        "plane_shape": Item("no", "shape of each obstacle, −1: it has none", "i8"),
        "core_way": Item("nh", "longest way of its corners in the step"),
        "core_next": Item("nh", "next shape of the same body, −1: none", "i8"),
        "body_shape": Item("nc", "first shape of each body, −1: none", "i8"),
        "near": Item("nf 3", "listed pairs: corner, corner of the other or −1 − plane, feature", "i8"),
        "near_gap": Item("nf", "their gaps at the start of the step"),
        "near_normal": Item("nf 3", "their normals there, 0 for those that do not count"),
        "near_of": Item("nf", "listed pair of each contact", "i8"),
        "feature": Item("nf", "of each pair; −1 − corner of an obstacle, where this touches", "i8"),
        "old_feature": Item("nf", "the same in the step before", "i8"),
        "old_after": Item("nf", "next pair of the same first corner in the step before", "i8"),
        "near_count": Item("", "number of listed pairs", "i8"),
        "corners_a": Item("nz 3", "scratch: corners of a shape in axes of another"),
        "corners_b": Item("nz 3", "the same of the other"),
        "bound_a": Item("nz", "scratch: how far these are beyond the faces of the other at least"),
        "bound_b": Item("nz", "the same of the other"),
        "face_a": Item("nz", "scratch: the faces that they are farthest beyond", "i8"),
        "face_b": Item("nz", "the same of the other", "i8"),
        "edge_near": Item("nw", "scratch: edges of a shape that are near another", "i8"),
        "hulls_at": Item("", "record of `granular.shapes.hulls`", "i8"),
        "shapes": Item("", "there are shapes that are no spheres", "i8"),
        "skin": Item("", "margin of the search [m]"),
        "band": Item("", "of the smaller diameter: closed gaps are below it"),
        "clean": Item("", "of the smaller diameter: overlaps that positions may keep"),
        "alone": Item("nodes 6", "velocities without contacts"),
        "sought": Item("nodes 6", "velocities that the iterations found"),
        "settled": Item("nodes 6", "velocities of the method with the impulses of the last iterations"),
        "count": Item("", "number of pairs", "i8"),
        "listed": Item("", "number of listed pairs", "i8"),
        "groups": Item("", "number of their groups", "i8"),
        "waits": Item("", "number of pairs that wait", "i8"),
        "lagged": Item("", "De Saxcé's term lags", "i8"),
        "ordered": Item("", "`order` is filled", "i8"),
        "pending": Item("", "the last search had no room; old pairs are kept already", "i8"),
        "found": Item("", "number that the last search found", "i8"),
        "moving": Item("", "obstacles move", "i8"),
        "clumps": Item("", "there are bodies in place of particles", "i8"),
        "resists": Item("", "contacts resist turning", "i8"),
        "held": Item("", "the method holds positions while it changes velocities", "i8"),
        "led": Item("", "bodies that contacts have pushed are put to x_n + h v", "i8"),
        "mean": Item("", "θ by which obstacles that contacts move, and what rides on them, go"),
        "relaxed": Item("", "relaxed law of contact", "i8"),
        "recovery": Item("", "speed at which overlaps are taken back at most"),
        "tolerance": Item("", "required scale-free error"),
        "fine": Item("", "error down to which cheap iterations go on"),
        "refused": Item("", "errors above it fail the step"),
        "most": Item("", "iterations of a step", "i8"),
        "cap": Item("", "of the momentum"),
        "error": Item("", "scale-free error reached"),
        "sweeps": Item("", "of the last step", "i8"),
        "all_sweeps": Item("", "of all steps", "i8"),
        "worst_sweeps": Item("", "of one step", "i8"),
        "unsolved": Item("", "steps whose tolerance was not reached", "i8"),
        "worst_error": Item("", "of all steps"),
        "searches": Item("", "of pairs", "i8"),
        # for and from `granular.parts`
        "self_at": Item("", "this record", "i8"),
        "run_at": Item("", "record of the run", "i8"),
        "turning_part": Item("", "address of this part, 0: none", "i8"),
        "mechanism_part": Item("", "the same", "i8"),
        "shapes_part": Item("", "the same", "i8"),
        "attempt": Item("", "number of the turn of a step", "i8"),
        "bounces": Item("", "a law has restitution", "i8"),
        "stiction": Item("", "friction of a law is not one number", "i8"),
        "passes_on": Item("", "closed pairs pass impacts on one after the other, see `granular.strikes`", "i8"),
        "lost": Item("", "energy that stops have taken in this step and restitution would have left [J]"),
        "all_lost": Item("", "in all steps [J]"),
        "kinetic": Item("", "largest kinetic energy of the group, where a law has restitution [J]"),
        "sequences": Item("", "steps whose impacts were solved one after the other", "i8"),
        "fastest": Item("", "largest speed at the start of the step [m/s]"),
        "slow": Item("", "approaches up to this speed are no impacts [m/s]"),
        "still": Item("", "sliding up to this speed may be an error [m/s]"),
        "gain": Item("", "approach that forces of this step alone can give [m/s]"),
        "beta": Item("", "momentum of the next iteration"),
        "answer": Item("", "of a part"),
        "work": Item("", "of an iteration"),
    },
)
GRAINS = TABLE.dtype


@kernel
def grains_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), GRAINS)


@kernel
def velocities_of(p, a):
    """v and ω (6,) of body a."""
    return vector(p.bodies_at + 8 * BODY_NUMBERS * a, 6)


@kernel
def copy_impulse(impulse, to):
    """Copy the impulses of a pair, or of `IMPULSE`, to those of another record."""
    to.normal_impulse = impulse.normal_impulse
    for j in range(3):
        to.tangential_impulse[j] = impulse.tangential_impulse[j]


@kernel
def add_impulse(impulse, to):
    """Add the impulses of a record to those of another."""
    to.normal_impulse += impulse.normal_impulse
    for j in range(3):
        to.tangential_impulse[j] += impulse.tangential_impulse[j]


@kernel
def clear_impulse(pair):
    """Set the impulses of a pair to zero."""
    pair.normal_impulse = 0.0
    for j in range(3):
        pair.tangential_impulse[j] = 0.0


@kernel
def never_touch(p, i, k, nodes):
    """True if nodes i and k of so many are a pair that the user has excluded."""
    keys, key = p.excluded, i * nodes + k
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < keys.shape[0] and keys[low] == key


@kernel
def can_move(p, i):
    """True if impulses move sphere i: pairs that cannot move have no mobility to divide by."""
    a = p.body[i]
    return (p.bodies[a].inverse_mass if p.clumps != 0 else p.particles[a].inverse_mass) > 0.0
