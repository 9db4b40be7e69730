"""What a `DynamicBearing` did in a run: ball loads, contact angles, pressures, speeds, displacements, losses.

Loads, forces and losses are those of the force law at the states that were saved; speeds and angles come from the
motion of the parts. With frame axes of the outer ring (e: axis, ê: radial direction at the ball) and n the normal of a
contact, from the race to the ball:

    α_o = atan2(−n·e, −n·ê) ,   α_i = atan2(n·e, n·ê)        positive when the inner ring is pushed to +e           (1)
    P   = Σ |F_T| |w|                                        power of friction, over races and pockets              (2)
    M   = −e·Σ_k (p_k − x_I) × F_k                           moment of the balls on the inner ring about its axis   (3)

Source: docs/theory/bearings.md, (16).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.element.base import Part
from fem_mbs.errors import FemMbsError
from fem_mbs.results.contact_motion import frame_motion
from fem_mbs.results.file.names import ByAttribute
from fem_mbs.results.results import Results


class BearingHistory(ByAttribute, Checked):
    """Histories of a dynamic bearing, over the n saved steps of a run and its Z balls.

    Parameters
    ----------
    result : Results
    bearing : DynamicBearing
        As it was added to the model.

    Attributes
    ----------
    t : (n,) [s]
    load_inner, load_outer : (n, Z) [N], normal forces
    angle_inner, angle_outer : (n, Z) [rad], contact angles, 0 without load
    pressure_inner, pressure_outer : (n, Z) [Pa], largest Hertz pressure
    shear_inner, shear_outer : (n, Z) [Pa], largest shear stress below the surface
    psi : (n, Z) [rad], position of the balls about the axis of the outer ring, from its x axis, unwrapped
    ring_angle : (n,) [rad], of the inner ring about that axis relative to the outer one, unwrapped
    orbit_speed : (n, Z) [rad/s], of the balls about that axis, relative to the inertial frame
    cage_speed : (n,) [rad/s], of the cage, or the mean of the balls without one
    inner_speed : (n,) [rad/s], of the inner ring about the axis of the outer one
    displacement : (n, 3) [m], of the inner frame relative to the outer frame, in its axes
    tilt : (n, 2) [rad], about x and y of the outer frame
    force : (n, 3) [N], of the balls on the inner ring, inertial axes
    torque : (n,) [N m], of the balls on the inner ring about the axis of the outer ring
    power_loss : (n,) [W], of friction

    ``history["tilt"]`` is ``history.tilt``; ``len(history)`` is the number of saved steps.
    """

    _by_name = (
        "t", "load_inner", "load_outer", "angle_inner", "angle_outer", "pressure_inner", "pressure_outer",
        "shear_inner", "shear_outer", "psi", "ring_angle", "orbit_speed", "cage_speed", "inner_speed", "displacement",
        "tilt", "force", "torque", "power_loss",
    )  # fmt: skip

    def __init__(self, result: Results, bearing: Any) -> None:
        self.result = self.as_instance("result", result, Results, "the Results of a run")
        is_one = isinstance(bearing, Part) and bearing.role == "dynamic bearing"
        self.check(is_one, "bearing", bearing, "must be the DynamicBearing of the model")
        self.bearing = bearing
        self.geometry = bearing.geometry
        self._kept = {}

    def _once(self, key, make):
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _contacts(self, kind, quantity):
        """An output of all contacts of a kind, (n, Z, …)."""

        def read():
            names = [f"{self.bearing.name} {kind} {k}" for k in range(self.geometry.balls)]
            return np.stack([getattr(self.result[name], quantity) for name in names], axis=1)

        return self._once((kind, quantity), read)

    def _outer(self):
        return self._once("outer", lambda: frame_motion(self.result, self.bearing.outer))

    def _inner(self):
        return self._once("inner", lambda: frame_motion(self.result, self.bearing.inner))

    def _axis(self):
        """Axis of the outer ring (n, 3), inertial axes."""
        return self._outer().orientation[:, :, 2]

    @property
    def t(self) -> Any:
        return self.result.t

    @property
    def load_inner(self) -> Any:
        return self._contacts("inner", "force_normal")

    @property
    def load_outer(self) -> Any:
        return self._contacts("outer", "force_normal")

    def _balls(self):
        """Centres (n, Z, 3) in the axes of the outer ring."""

        def make():
            outer, balls = self._outer(), [self.result[ball.name].position for ball in self.bearing.balls]
            return np.einsum("nji,nkj->nki", outer.orientation, np.stack(balls, axis=1) - outer.position[:, None])

        return self._once("balls", make)

    def _angle(self, race, sign):
        n = np.einsum("nji,nkj->nki", self._outer().orientation, self._contacts(race, "normal"))
        at = self._balls()
        radial = at[..., :2] / np.linalg.norm(at[..., :2], axis=-1)[..., None]
        angle = np.arctan2(sign * n[..., 2], sign * np.sum(n[..., :2] * radial, axis=-1))
        return np.where(self._contacts(race, "force_normal") > 0, angle, 0.0)

    @property
    def angle_inner(self) -> Any:
        return self._once("angle inner", lambda: self._angle("inner", 1.0))

    @property
    def angle_outer(self) -> Any:
        return self._once("angle outer", lambda: self._angle("outer", -1.0))

    @property
    def pressure_inner(self) -> Any:
        return self.geometry.inner.maximum_pressure(self.load_inner)

    @property
    def pressure_outer(self) -> Any:
        return self.geometry.outer.maximum_pressure(self.load_outer)

    @property
    def shear_inner(self) -> Any:
        return self.geometry.inner.maximum_shear(self.load_inner).value

    @property
    def shear_outer(self) -> Any:
        return self.geometry.outer.maximum_shear(self.load_outer).value

    def _unwrapped(self, angle, speed):
        """Angles (n, …) without jumps, of what turns with a speed [rad/s] of that shape relative to the outer ring."""
        way = np.abs(speed[1:] * np.diff(self.t).reshape(-1, *(1 for _ in speed.shape[1:])))
        if way.max(initial=0.0) >= np.pi:
            raise FemMbsError(
                f"BearingHistory of '{self.bearing.name}': up to {way.max():.3g} rad of motion between saved states; "
                "less than half a turn is needed to follow angles. Use a smaller save_every"
            )
        return np.unwrap(angle, axis=0)

    @property
    def psi(self) -> Any:
        at = self._balls()
        speed = self.orbit_speed - np.sum(self._outer().angular_velocity * self._axis(), axis=1)[:, None]
        return self._unwrapped(np.arctan2(at[..., 1], at[..., 0]), speed)

    @property
    def ring_angle(self) -> Any:
        x = np.einsum("nji,nj->ni", self._outer().orientation, self._inner().orientation[:, :, 0])
        relative = self._inner().angular_velocity - self._outer().angular_velocity
        return self._unwrapped(np.arctan2(x[:, 1], x[:, 0]), np.sum(relative * self._axis(), axis=1))

    @property
    def orbit_speed(self) -> Any:
        outer, e, speeds = self._outer(), self._axis(), []
        for ball in self.bearing.balls:
            history = self.result[ball.name]
            at, v = history.position - outer.position, history.velocity - outer.velocity
            across = at - np.sum(at * e, axis=1)[:, None] * e
            speeds.append(np.sum(np.cross(across, v) * e, axis=1) / np.sum(across**2, axis=1))
        return np.stack(speeds, axis=1)

    @property
    def cage_speed(self) -> Any:
        if self.bearing.cage is None:
            return self.orbit_speed.mean(axis=1)
        cage = frame_motion(self.result, self.bearing.cage.frame())
        return np.sum(cage.angular_velocity * self._axis(), axis=1)

    @property
    def inner_speed(self) -> Any:
        return np.sum(self._inner().angular_velocity * self._axis(), axis=1)

    @property
    def displacement(self) -> Any:
        outer = self._outer()
        return np.einsum("nji,nj->ni", outer.orientation, self._inner().position - outer.position)

    @property
    def tilt(self) -> Any:
        axis = np.einsum("nji,nj->ni", self._outer().orientation, self._inner().orientation[:, :, 2])
        return np.stack([-axis[:, 1], axis[:, 0]], axis=1)

    def _forces(self):
        """Forces of the balls on the inner ring (n, Z, 3), inertial axes."""
        N = self._contacts("inner", "force_normal")[..., None] * self._contacts("inner", "normal")
        return -(N + self._contacts("inner", "friction_force"))

    @property
    def force(self) -> np.ndarray:
        return self._forces().sum(axis=1)

    @property
    def torque(self) -> Any:
        arm = self._contacts("inner", "point") - self._inner().position[:, None]
        return np.einsum("nkj,nj->n", np.cross(arm, self._forces()), self._axis())

    @property
    def power_loss(self) -> Any:
        kinds = ("inner", "outer") + (("pocket",) if self.bearing.cage is not None else ())
        total = 0.0
        for kind in kinds:
            friction = np.linalg.norm(self._contacts(kind, "friction_force"), axis=-1)
            total = total + np.sum(friction * self._contacts(kind, "sliding_speed"), axis=1)
        return total

    def __len__(self):
        return len(self.t)

    def __repr__(self):
        return f"BearingHistory({self.bearing.name}: {len(self.t)} steps, {self.geometry.balls} balls)"
