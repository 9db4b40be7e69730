"""Many homogeneous spheres at once: bodies as `RigidBody.sphere` makes them, checked as arrays.

One body takes 0.2 ms, most of it checks of its arguments, and thousands share most of their data. Here arguments
are checked once for all bodies; mass and moment of inertia are

    m = ρ 4/3 π r³ ,   J = 2/5 m r²                                                                               (1)

Bodies of one radius share their inertia, their record and their shape. Positions, rotations and velocities are rows of
one array.

Source: docs/theory/bodies.md, section "Many spheres" (elementary).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.errors import ParameterError
from fem_mbs.nodes import Frame, Node6

RESOLUTION = 16  # of the drawn spheres, where there are many
FEW = 200  # spheres: more are drawn with fewer points


def rows(owner: Checked, name: str, value: ArrayLike, n: int) -> np.ndarray:
    """Vectors (n, 3) from one vector (3,) for all bodies, or one for each."""
    array = owner.as_array(name, value, (3,), (None, 3))
    if array.ndim == 2 and len(array) != n:
        raise ParameterError(owner, name, value, f"has {len(array)} rows, must have one for each of {n} spheres")
    return np.array(np.broadcast_to(array, (n, 3)))


def numbers(owner: Checked, name: str, value: ArrayLike, unit: str, n: int) -> np.ndarray:
    """Positive numbers (n,) from one number for all bodies, or one for each."""
    array = owner.as_array(name, value, (), (None,), unit=unit)
    if array.ndim == 1 and len(array) != n:
        raise ParameterError(owner, name, value, f"has {len(array)} entries, must have one for each of {n} spheres")
    for number in np.unique(array):
        owner.positive(name, float(number), unit)
    return np.array(np.broadcast_to(array, n))


def make_spheres(
    positions: np.ndarray,
    radii: np.ndarray,
    masses: np.ndarray,
    velocities: np.ndarray,
    turning: np.ndarray,
    **drawn: Any,
) -> list[RigidBody]:
    """Bodies without names, of checked arrays (n, 3), (n,) and (n,); ``drawn``: options of their `Sphere`."""
    from fem_mbs.shapes import Sphere

    drawn.setdefault("resolution", RESOLUTION if len(radii) > FEW else 32)
    rotations = np.tile(np.eye(3).ravel(), (len(radii), 1))
    motion = np.concatenate([positions, rotations, velocities, turning], axis=1)
    shapes: dict[float, Sphere] = {}
    alike: dict[tuple[float, float], dict[str, Any]] = {}
    bodies = []
    free = Node6().free
    for k, (radius, mass) in enumerate(zip(radii.tolist(), masses.tolist())):
        if (radius, mass) not in alike:
            if radius not in shapes:
                shapes[radius] = Sphere(radius, **drawn)
            alike[radius, mass] = vars(RigidBody(mass, 0.4 * mass * radius**2, shape=shapes[radius]))
        node, body = Node6.__new__(Node6), RigidBody.__new__(RigidBody)
        Checked.set_unchecked(
            node, _own_name=None, _motion=motion, _row=k, _free=free, index=None, body=body, _made=True,
        )  # fmt: skip
        # the list may be changed for one body
        own = {"nodes": (node,), "shapes": [shapes[radius]]}
        Checked.set_unchecked(body, **alike[radius, mass] | own)
        bodies.append(body)
    return bodies


def make_frames(bodies: list[RigidBody]) -> list[Frame]:
    """`RigidBody.frame` of each, at its node; all share their offset and rotation."""
    if not bodies:
        return []
    alike, frames = vars(bodies[0].frame()), []
    for array in (alike["p"], alike["rotation"]):
        array.setflags(write=False)
    for body in bodies:
        frame = Frame.__new__(Frame)
        Checked.set_unchecked(frame, **alike | {"node": body.node, "_own_name": body.name})
        frames.append(frame)
    return frames
