"""Names that were probably meant by names that do not exist."""

import difflib
from collections.abc import Iterable

NEAR = 0.6  # of `nearness`: probably meant
MISSPELT = 0.85  # of `nearness`: more probably meant than what another program calls so
SHORT = 0.9, 4  # nearness of a name that is cut short, if so many letters of it are left


# names in other programs, or the words in them, and the equivalents here
ELSEWHERE = {
    "hinge": "Revolute", "pinjoint": "Revolute", "weld": "Fixed", "slider": "Prismatic", "translational": "Prismatic",
    "balljoint": "Spherical", "ballandsocket": "Spherical", "rigidlink": "Distance", "hooke": "Universal",
    "rope": "Cable", "winch": "Cable", "tendon": "Cable", "pulley": "Cable", "beltdrive": "IdealBelt", "chain": "Belt",
    "damper": "Spring", "coulomb": "DryFriction", "brake": "Lock", "clutch": "Lock", "gripper": "Attachment",
    "torque": "PointMoment", "jointlimit": "Stops", "endstop": "Stops", "servo": "Motor", "coin": "RingOnPlane",
    "egg": "EllipsoidOnPlane", "integrator": "DecoupledNSGA", "simulat": "DecoupledNSGA", "eigen": "modes",
    "marker": "Frame", "rigidpart": "RigidBody",
}  # fmt: skip


# keywords and histories as textbooks and other programs write them, and their names here
SYMBOLS = {
    "mu": ("friction",), "e": ("restitution",), "cor": ("restitution",), "epsilon": ("restitution",),
    "k": ("stiffness",), "c": ("damping",), "d": ("damping",), "l0": ("free_length",), "rest_length": ("free_length",),
    "m": ("mass",), "j": ("inertia",), "r": ("radius",), "rho": ("density",), "omega": ("angular_velocity",),
    "dt": ("h",), "timestep": ("h",), "time_step": ("h",), "step_size": ("h",), "step": ("h",),
    "tf": ("t_end",), "t_final": ("t_end",), "end_time": ("t_end",), "duration": ("t_end", "t"),
    "time": ("t", "t_end"), "times": ("t",), "torque": ("effort", "moment"), "speed": ("rate", "velocity"),
    "x": ("position",), "pos": ("position",), "v": ("velocity",), "f": ("force",),
}  # fmt: skip


def elsewhere(name: str, choices: Iterable[str]) -> str | None:
    """Return the equivalent of a name of another program; None if it is unknown, or a misspelt name."""
    if any(nearness(name, other) >= MISSPELT for other in choices):
        return None
    plain = name.lower().replace("_", "")
    return next((here for word, here in ELSEWHERE.items() if word in plain), None)


def nearness(name: str, other: str) -> float:
    """Similarity of two names, 0 … 1; the same words in another order, and a name cut short, are near as well."""
    cut = SHORT[0] if len(name) >= SHORT[1] and other.startswith(name) else 0.0
    in_order = ["_".join(sorted(n.lower().split("_"))) for n in (name, other)]
    return max(cut, *(difflib.SequenceMatcher(None, *pair).ratio() for pair in ((name, other), in_order)))


def meant(name: str, choices: Iterable[str]) -> str:
    """ "did you mean 'radius_wire'?", for a name that is not among the choices; what there is, if none is near."""
    choices = list(choices)
    best = max(choices, key=lambda other: nearness(name, other), default=None)
    if best is not None and nearness(name, best) >= NEAR:
        return f"did you mean '{best}'?"
    best = next((here for here in SYMBOLS.get(name.lower(), ()) if here in choices), None)
    if best is not None:
        return f"did you mean '{best}'?"
    return f"there are: {', '.join(choices)}"


def listed(names: list[str] | tuple[str, ...], last: str = "and") -> str:
    """ "a, b and c"."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
