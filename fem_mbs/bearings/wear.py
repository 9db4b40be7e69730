"""Archard wear of contacts and clearance joints.

    dV = k_w F_N |v_T| dt / H                                                                                       (1)

Over a step F_N dt is the normal impulse Λ, for closed contacts and for impacts alike: V = k_w Σ Λ |v_T| / H. The depth
on a cylindrical surface is the volume of each angular bin over its area, arc × length. The mean of the sliding speed
at both ends of the step is taken.

Source: docs/theory/bearings.md, (25); Archard, J. Appl. Phys. 24 (1953).

    symbol   code          unit     meaning
    k_w      coefficient   -        1e-8 (good lubrication) to 1e-3 (dry, soft)
    H        hardness      Pa       of the softer surface
"""

from typing import NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.errors import FemMbsError, ParameterError
from fem_mbs.results.contact_motion import contact_velocity
from fem_mbs.results.results import Results
from fem_mbs.shapes import matrices


class Wear(NamedTuple):
    """Wear of one surface.

    ``volume`` [m³]; ``angle`` (bins,) [rad], middle of each bin; ``depth`` (bins,) [m].
    """

    volume: float
    angle: np.ndarray
    depth: np.ndarray

    def __repr__(self):
        return f"Wear(volume={self.volume:.6g}, {len(self.depth)} bins, depth up to {self.depth.max():.6g})"


@Keywords.known
def archard_wear(
    impulse: ArrayLike,
    sliding_speed: ArrayLike,
    direction: ArrayLike,
    *,
    coefficient: float,
    hardness: float,
    radius: float,
    length: float,
    bins: int = 72,
) -> Wear:
    """Wear of a cylindrical surface from impulses and sliding speeds.

    Parameters
    ----------
    impulse : (k,) ≥ 0 [N s]
        Of the normal force in each step: force times step size.
    sliding_speed : (k,) [m/s]
    direction : float or (k,) [rad]
        Where the contact is on the surface, in its own axes.
    coefficient, hardness : float > 0 [-], [Pa]
    radius, length : float > 0 [m]
        Of the surface.
    bins : int ≥ 1

    Returns
    -------
    Wear

    Examples
    --------
    100 N on a ring of 10 mm that turns with 500 rpm for an hour, relative to the load:

    >>> turns, steps = 500 * 60, 3600
    >>> speed = 500 * np.pi / 30 * 0.010
    >>> angle = np.linspace(0, 2 * np.pi * turns, steps, endpoint=False) + 0.1
    >>> ring = archard_wear(
    ...     np.full(steps, 100.0), speed, angle, coefficient=1e-5, hardness=2e9, radius=0.010, length=0.020, bins=3
    ... )
    >>> print(f"{1e9 * ring.volume:.5f} mm³, {1e6 * ring.depth.mean():.2f} µm")
    0.94248 mm³, 0.75 µm
    """
    owner = Named("archard_wear")
    coefficient, hardness = owner.positive("coefficient", coefficient), owner.positive("hardness", hardness, "Pa")
    radius, length = owner.positive("radius", radius, "m"), owner.positive("length", length, "m")
    bins = owner.as_integer("bins", bins)
    pushes, speed, angle = owner.broadcast(impulse=impulse, sliding_speed=sliding_speed, direction=direction)
    owner.check(pushes.ndim < 2, "impulse", pushes, f"has shape {pushes.shape}, must be (k,): one for each step")
    speed = np.abs(speed)
    if (pushes < 0).any():
        raise ParameterError(owner, "impulse", pushes, "N s must be ≥ 0: a contact cannot pull")
    worn = coefficient / hardness * pushes * speed
    place = np.floor(np.mod(angle, 2 * np.pi) / (2 * np.pi) * bins).astype(int) % bins
    volumes = np.bincount(place.ravel(), worn.ravel(), minlength=bins)
    area = 2 * np.pi * radius / bins * length
    middle = 2 * np.pi * (np.arange(bins) + 0.5) / bins
    return Wear(float(volumes.sum()), middle, volumes / area)


@Keywords.known
def contact_wear(
    result: Results,
    name: str,
    *,
    coefficient: float,
    hardness: float,
    radius: float,
    length: float,
    surface: str = "second",
    axis: str = "z",
    bins: int = 72,
    start: float = 0.0,
) -> Wear:
    """Wear of one surface of a contact in the results of a run: a pin in a bearing, a ball in a socket.

    Save every step of the run: sliding speeds between saved states are unknown.

    Parameters
    ----------
    result : Results
    name : str
        Of the contact, such as a `SphereInCylinder` of a clearance joint.
    surface : "first" or "second"
        The body that wears, in the order of the contact: "first" the pin, "second" the bearing around it. Both share
        the volume by their hardnesses; ask for each.
    axis : "x", "y" or "z"
        Axis of the surface, in the axes of that body's node; the angle of a bin counts from the next axis (y, z, x).
    coefficient, hardness, radius, length, bins : as `archard_wear`
    start : float [s]
        Leave out what was before: the transient of the start.

    Raises
    ------
    FemMbsError
        Not a contact of two nodes.
    """
    owner = Named("contact_wear")
    owner.as_instance("result", result, Results, "the Results of a run")
    owner.as_choice("surface", surface, ("first", "second"), "must be 'first' or 'second', in the order of the contact")
    owner.as_choice("axis", axis, ("x", "y", "z"), "must be 'x', 'y' or 'z' of the body's node")
    impulse, sliding, normal, nodes = _slid(owner, result, name, start)
    # the surface is met on the side that the normal, from the second body to the first, comes from
    node = nodes[0 if surface == "first" else 1]
    local = np.einsum("kji,kj->ki", matrices(result._store.read("quaternion", node)), -normal)
    k = "xyz".index(axis)
    direction = np.arctan2(local[:, (k + 2) % 3], local[:, (k + 1) % 3])
    return archard_wear(
        impulse, sliding, np.where(impulse > 0, direction, 0.0), coefficient=coefficient, hardness=hardness,
        radius=radius, length=length, bins=bins,
    )  # fmt: skip


def worn_volume(owner: Named, result: Results, name: str, coefficient: float, hardness: float, start: float) -> float:
    """Volume [m³] by (1) of a contact of two bodies, of the steps after ``start`` [s]."""
    impulse, sliding, _, _ = _slid(owner, result, name, start)
    return float(coefficient / hardness * impulse @ sliding)


def _slid(owner, result, name, start):
    """Normal impulses (k,) and sliding speeds (k,) of the steps of a contact, its normals (k, 3), its two nodes."""
    start = owner.number("start", start, "s")
    if not start < result.t[-1]:
        raise ParameterError(owner, "start", start, f"s leaves no steps of a run that ends at {result.t[-1]:.6g} s")
    velocity, normal, nodes = contact_velocity(result, name)
    if len(nodes) != 2:
        raise FemMbsError(f"contact '{name}' moves with {len(nodes)} nodes; wear is for contacts of two bodies")
    sliding = np.linalg.norm(velocity - np.einsum("ki,ki->k", velocity, normal)[:, None] * normal, axis=1)
    before = np.concatenate([sliding[:1], sliding[:-1]])
    impulse = np.maximum(result[name].impulse[:, 0], 0.0)
    # a state has the impulse of the step before it; round-off of times is far below a step
    impulse = np.where(result.t > start + 1e-6 * (result.t[-1] - result.t[0]) / len(result.t), impulse, 0.0)
    return impulse, 0.5 * (sliding + before), normal, nodes
