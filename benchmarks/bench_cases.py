"""What `make bench` measures: cases, their sizes, and which programs run the same model how.

A case turns a size into a request (`peers/protocol.py`) with all numbers that another program needs; a peer adds
its own options to it. Nothing here imports a peer.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
FREE = 10**9  # no largest size


class Peer(NamedTuple):
    """Another program that runs the same cases.

    Attributes
    ----------
    name : str
        What its lines are called.
    package : str
        Distribution that has to be there; its script is peers/run_<package>.py.
    options : dict
        Added to the request.
    most : int
        Largest size that it is asked for.
    why : str
        What is said of larger ones.
    """

    name: str
    package: str
    options: dict = {}
    most: int = FREE
    why: str = ""


class Case(NamedTuple):
    """A row of the table, at some sizes.

    Attributes
    ----------
    title : str
        With the unit of the size.
    request : callable
        size -> dict, the run; "own" in it: what only we get.
    sizes, quick : tuple of int
        All of them, and those of a quick run.
    large : tuple of int
        Only of us, and only where they are asked for.
    peers : tuple of Peer
    quality : dict of str -> callable
        Column -> number of an answer and the request, recorded in addition to the time.
    """

    title: str
    request: Callable
    sizes: tuple
    quick: tuple
    large: tuple = ()
    peers: tuple = ()
    quality: dict = {}


def steps(h, count, warm=0):
    return {"h": h, "steps": count, "warm": warm}


# --- models -----------------------------------------------------------------------------------------------------------


def pile(size):
    import pile as source

    # [N/m], of penalty contacts: overlaps are then as large as those of MuJoCo; stiffer ones need finer steps
    return {**source.request(size), **steps(2e-3, 500), "case": "pile", "stiffness": 2e4, "substeps": 10}


def chain(size):
    import chain as source

    return {**source.request(size), **steps(1e-3, int(np.clip(40_000 // size, 10, 1000)), source.WARM), "case": "chain"}


def beam(size, h=1e-3):
    import falling_cantilever as example

    model = {"intervals": size, "length": example.length, "radius": example.radius, "E": example.E, "nu": example.nu,
             "density": example.density, "gravity": [0.0, -example.g, 0.0], "shear": example.k_s}  # fmt: skip
    count = round(0.5 / h) if size <= 160 else 100
    return {**model, **steps(h, count), "case": "beam", "courant": 0.5, "most": max(200, 4_000_000 // size)}


def top(size, h=1e-3):
    import heavy_top as example

    model = {"mass": example.mass, "arm": example.arm.tolist(), "inertia": example.inertia.tolist(),
             "spin": example.SLOW.tolist(), "gravity": [0.0, 0.0, -example.g]}  # fmt: skip
    return {**model, **steps(h, round(1.0 / h)), "case": "top"}


def ball(size):
    """The plane is y = 0 in the example, z = 0 here: the same motion."""
    import rolling_ball as example

    x, _, y = example.Sliding.velocity
    model = {"mass": example.mass, "radius": example.radius, "inertia": example.inertia, "velocity": [x, y, 0.0],
             "friction": example.Sliding.friction, "gravity": [0.0, 0.0, -example.g]}  # fmt: skip
    return {**model, **steps(1e-3, 1000), "case": "ball"}


def ours(case, h, count, warm=0):
    return lambda size: {**steps(h, count, warm), "case": case}


# --- what is kept -----------------------------------------------------------------------------------------------------


def distance_of_top(answer, request):
    import heavy_top as example

    return distance(answer["place"], example.REFERENCE["slow", 1.0][0])


def distance(place, reference):
    return float(np.linalg.norm(np.subtract(place, reference)))


def path_of_ball(answer, request):
    import rolling_ball as example

    return abs(answer["path"] - float(example.Sliding.exact(np.array(1.0))[2]))


def from_reference(answer, request):
    """Of a place, from that of the reference run, where there is one and the run came to its end."""
    known = request.get("reference")
    return distance(answer["place"], known) if known and "place" in answer else None


def measure(name):
    return lambda answer, request: answer.get(name)


CASES = {
    "pile": Case(
        "pile of spheres, 1 s", pile, (100, 1000), (100,), (10_000,),
        (Peer("mujoco", "mujoco"), Peer("exudyn", "exudyn"),
         Peer("drake", "drake", most=100, why="takes minutes")),
        {"overlap [D]": measure("overlap"), "at the end [D]": measure("overlap_end"), "height [m]": measure("height")},
    ),
    "chain": Case(
        "chain of links", chain, (10, 100, 1000, 10_000), (10, 100), (),
        (Peer("exudyn", "exudyn", most=1000, why="does not converge, with tolerances from 1e-6 to 1e-4"),
         Peer("exudyn, tree", "exudyn", {"method": "rk44"}, 100, "dense matrices"),
         Peer("mujoco", "mujoco", most=1000, why="dense matrices"),
         Peer("mujoco, RK4", "mujoco", {"method": "rk4"}, 100, "four times the row above"),
         Peer("drake", "drake", most=100, why="dense matrices")),
        {"error [m]": from_reference},
    ),
    "beam": Case(
        "clamped rod that falls, intervals", beam, (20, 160, 1000), (20,), (10_000,),
        (Peer("exudyn", "exudyn", {"rho_inf": 0.9}), Peer("pyelastica", "pyelastica")),
        {"error [m]": from_reference},
    ),
    "top": Case(
        "heavy top, 1 s", top, (1,), (1,), (),
        (Peer("exudyn", "exudyn"), Peer("mujoco", "mujoco"), Peer("drake", "drake")),
        {"error [m]": distance_of_top},
    ),
    "pendulum": Case(
        "pendulum: a chain of one link", chain, (1,), (1,), (),
        (Peer("exudyn", "exudyn"), Peer("exudyn, tree", "exudyn", {"method": "rk44"}), Peer("mujoco", "mujoco"),
         Peer("mujoco, RK4", "mujoco", {"method": "rk4"}), Peer("drake", "drake")),
        {"error [m]": from_reference},
    ),
    "ball": Case(
        "ball that slides, then rolls, 1 s", ball, (1,), (1,), (),
        (Peer("mujoco", "mujoco"), Peer("drake", "drake")),
        {"error of the path [m]": path_of_ball},
    ),
    "roller_crank": Case("roller-crank, beams in the rod, 2 s", ours("roller_crank", 1e-3, 2000), (0, 8), (8,)),
    "billiard": Case("billiard break, 3 s", ours("billiard", 1e-3, 3000), (4,), (4,)),
    "clearance_crank": Case(
        "slider-crank with clearance, 8 beams, 2 turns", ours("clearance_crank", 1e-6, 24_000, 100), (1,), ()
    ),
    "ball_bearing": Case("ball bearing, 8 balls, 1 s", ours("ball_bearing", 1e-4, 10_000), (8,), ()),
    "solid": Case("cube of 6 n³ Tetra10 that sags, n", ours("solid", 1e-3, 50, 5), (4, 8, 13), (4,)),
}  # fmt: skip

# the first run of a fresh installation and one like it after; peers: import and the first step
START = (
    Peer("exudyn", "exudyn"), Peer("mujoco", "mujoco"), Peer("drake", "drake"), Peer("pyelastica", "pyelastica")
)  # fmt: skip

# error over cost: (label, package or None: ours, (size, step [s]) of each point, options)
HALVED = [(1, 1e-2 / 2**k) for k in range(7)]
ACCURACY = {
    "top": (
        ("DecoupledNSGA", None, HALVED, {}),
        ("LobattoIIIAB(3)", None, [(1, 8e-2 / 2**k) for k in range(5)], {"stepper": "LobattoIIIAB"}),
        ("exudyn, generalized-α", "exudyn", HALVED, {}),
        ("mujoco, Runge-Kutta 4", "mujoco", HALVED, {}),
        ("drake, Runge-Kutta 3", "drake", HALVED, {}),
    ),
    "beam": (
        ("DecoupledNSGA", None, [(4, 4e-3), (8, 2e-3), (12, 1e-3), (16, 5e-4), (24, 2.5e-4), (32, 1.25e-4)], {}),
        ("exudyn, geometrically exact", "exudyn", [(10, 4e-3), (20, 2e-3), (40, 1e-3), (80, 5e-4), (160, 2.5e-4)],
         {"rho_inf": 0.9}),
        ("pyelastica", "pyelastica", [(n, 1e-3) for n in (10, 20, 40, 80, 160)], {"most": FREE}),
    ),
}  # fmt: skip
REFERENCE_OF_BEAM = (64, 2.5e-5)  # intervals, step [s]


def accuracy_request(case, size, h):
    """Request of a point of error over cost."""
    found = {"top": top, "beam": beam}[case](size, h)
    return {**found, "size": size}


def reference_request(name, size):
    """Run of ours from whose end errors are counted; None: there is none."""
    if name in ("chain", "pendulum") and size <= 100:
        found = chain(size)
        return {"case": "chain", "stepper": "LobattoIIIAB", "size": size, **steps(
            found["h"] / 2, 2 * found["steps"], 2 * found["warm"])}  # fmt: skip
    if name == "beam" and size <= 160:
        intervals, h = REFERENCE_OF_BEAM
        return {"case": "beam", "size": intervals, **steps(h, round(0.5 / h))}
    return None
