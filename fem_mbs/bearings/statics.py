"""Equilibrium of a ball bearing under a load: displacements, ball loads, contact angles, stiffness, pressures.

    F_ext + Σ_j B_jᵀ P_j(q, ω) = 0                                                                                  (1)

in the five displacements q of the inner ring relative to the outer one, with the balls of `bearings.balls`. At rest
Σ P_j is the gradient of a convex energy: Newton's method with a line search on it finds the one equilibrium from
anywhere. At speed the solution at rest is followed by raising the speed in steps, with extrapolated starts.

Spin friction: a contact in which ball and race turn against each other about the normal with ω_S loses
M_S |ω_S|, M_S = ⅜ μ Q a E_e; race control makes it zero at one of the races. It is the only loss computed here
(rolling resistance, churning, seals and cage are larger in most bearings).

Source: docs/theory/bearings.md, (11), (12); Harris, Rolling Bearing Analysis.
"""

import math
from typing import Any, NoReturn

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.arguments.representation import short
from fem_mbs.bearings import balls as be
from fem_mbs.bearings.geometry import BearingGeometry
from fem_mbs.bearings.spall import Spall
from fem_mbs.errors import ParameterError, SolverError, label

COMPONENTS = ("x", "y", "z", "rx", "ry")
CONTROLS = ("outer", "inner")


class BearingState:
    """A bearing at given displacements and speeds.

    Attributes
    ----------
    geometry : BearingGeometry
    displacement : (3,) [m], of the inner ring relative to the outer, bearing axes (z: axis)
    tilt : (2,) [rad], about x and y
    force : (3,) [N], moment : (2,) [N m]
        Of the balls on the inner ring, about the centre of its groove circle: minus the load at equilibrium.
    stiffness : (5, 5) [N/m, N, N m/rad], −∂(force, moment)/∂(displacement, tilt), exact; unsymmetric at speed
    psi : (Z,) [rad], position of the balls from x
    load_inner, load_outer : (Z,) [N]
    angle_inner, angle_outer : (Z,) [rad], contact angles, positive when the inner ring is pushed to +z; 0 unloaded
    pressure_inner, pressure_outer : (Z,) [Pa], largest Hertz pressure
    ellipse_inner, ellipse_outer : (Z, 2) [m], semi-axes (a, b), a across the groove
    centrifugal, gyroscopic : (Z,) [N], [N m], on each ball; 0 without ``inertia``
    orbit_speed, ball_speed : (Z,) [rad/s], of the ball about the bearing axis, and its rotation relative to the cage
    cage_speed : float [rad/s], mean orbital speed of the loaded balls (of all balls without load)
    spin_inner, spin_outer : (Z,) [rad/s], of the ball against the race about the normal of the contact
    inner_speed, outer_speed : float [rad/s]
    """

    def __init__(
        self,
        geometry: BearingGeometry,
        q: ArrayLike,
        inner_speed: float,
        outer_speed: float,
        cage_angle: float,
        inertia: bool,
        control: str,
        spall: Spall | None = None,
    ) -> None:
        self.geometry, self.inner_speed, self.outer_speed = geometry, inner_speed, outer_speed
        self.inertia, self.control = inertia, control
        self.q = np.array(q, float)
        self.displacement, self.tilt = self.q[:3], self.q[3:]
        law = be.race_law(geometry, inertia=inertia, control=control, spall=spall)
        angles = (cage_angle, _place(spall))
        F, self.stiffness, self.energy = _forces(law, angles, self.q, inner_speed, outer_speed)
        self.force, self.moment = F[:3], F[3:]
        Z = geometry.balls
        table = np.zeros((Z, be.N_BALL))
        be.ball_table(law, *angles, self.q, inner_speed, outer_speed, table)
        self.psi = cage_angle + 2 * np.pi * np.arange(Z) / Z
        self.load_inner, self.load_outer = table[:, be.Q_I], table[:, be.Q_O]
        sin_i, cos_i, sin_o, cos_o = (table[:, k] for k in (be.SIN_I, be.COS_I, be.SIN_O, be.COS_O))
        self.angle_inner, self.angle_outer = np.arctan2(sin_i, cos_i), np.arctan2(sin_o, cos_o)
        self.centrifugal, self.gyroscopic = table[:, be.CENTRIFUGAL], table[:, be.GYROSCOPIC]
        self.orbit_speed = table[:, be.ORBIT]
        spin_z, spin_r = table[:, be.SPIN_Z], table[:, be.SPIN_R]
        self.ball_speed = np.hypot(spin_z, spin_r)
        self.ball_pitch = np.arctan2(spin_r, spin_z)
        loaded = self.load_inner > 0
        self.cage_speed = float(self.orbit_speed[loaded].mean() if loaded.any() else self.orbit_speed.mean())
        turning = self.orbit_speed + spin_z
        self.spin_inner = (turning - inner_speed) * sin_i + spin_r * cos_i
        self.spin_outer = (turning - outer_speed) * sin_o + spin_r * cos_o

    @property
    def pressure_inner(self) -> np.ndarray:
        return self.geometry.inner.maximum_pressure(self.load_inner)

    @property
    def pressure_outer(self) -> np.ndarray:
        return self.geometry.outer.maximum_pressure(self.load_outer)

    @property
    def ellipse_inner(self) -> np.ndarray:
        return np.stack(self.geometry.inner.semi_axes(self.load_inner), axis=-1)

    @property
    def ellipse_outer(self) -> np.ndarray:
        return np.stack(self.geometry.outer.semi_axes(self.load_outer), axis=-1)

    def spin_power(self, friction: float) -> float:
        """Power [W] that spinning of the contacts turns into heat, with a friction coefficient; see the header."""
        power = 0.0
        for contact, load, spin in (
            (self.geometry.inner, self.load_inner, self.spin_inner),
            (self.geometry.outer, self.load_outer, self.spin_outer),
        ):
            power += float(np.sum(friction * load * contact.spinning_radius(load) * np.abs(spin)))
        return power

    def __repr__(self):
        heaviest = f"{self.load_inner.max():.4g} N on the heaviest of {self.geometry.balls} balls"
        return f"BearingState({label(self.geometry)}: {heaviest}, u = {short(self.displacement)} m)"


@Keywords.known
def bearing_at(
    geometry: BearingGeometry,
    displacement: ArrayLike = (0, 0, 0),
    tilt: ArrayLike = (0, 0),
    *,
    inner_speed: float = 0.0,
    outer_speed: float = 0.0,
    cage_angle: float = 0.0,
    inertia: bool = False,
    control: str = "outer",
    spall: Spall | None = None,
) -> BearingState:
    """`BearingState` of a bearing at given displacements of its inner ring; parameters as `bearing_equilibrium`.

    Parameters
    ----------
    displacement : (3,) [m], tilt : (2,) [rad]
    """
    owner = _checked("bearing_at", geometry, control, spall)
    q = np.concatenate([owner.as_vector("displacement", displacement), owner.as_vector("tilt", tilt, 2)])
    inner_speed, outer_speed = owner.number("inner_speed", inner_speed), owner.number("outer_speed", outer_speed)
    cage_angle, inertia = owner.number("cage_angle", cage_angle), owner.as_flag("inertia", inertia)
    state = BearingState(geometry, q, inner_speed, outer_speed, cage_angle, inertia, control, spall)
    if not np.isfinite(state.force).all():
        raise SolverError(f"{label(geometry)}: a ball has no equilibrium at q = {q}; {_CURE}")
    return state


_CURE = (
    "is the load many times smaller than the centrifugal force, or the gyroscopic moment larger than friction can "
    "take? Lower the speed, raise the load, or take the other race control"
)


@Keywords.known
def bearing_equilibrium(
    geometry: BearingGeometry,
    force: ArrayLike = (0, 0, 0),
    moment: ArrayLike = (0, 0),
    *,
    inner_speed: float = 0.0,
    outer_speed: float = 0.0,
    inertia: bool = False,
    control: str = "outer",
    cage_angle: float = 0.0,
    fixed: Any = (),
    speed_step: float | None = None,
    spall: Spall | None = None,
) -> BearingState:
    """Equilibrium of a ball bearing under a load on its inner ring.

    Parameters
    ----------
    geometry : BearingGeometry
    force : (3,) [N]
        On the inner ring at the centre of its groove circle; bearing axes, z along the axis.
    moment : (2,) [N m]
        About x and y.
    inner_speed, outer_speed : float [rad/s]
        Of the rings about z.
    inertia : bool
        Centrifugal force and gyroscopic moment of the balls. Without it speeds only give the speeds of cage and balls.
    control : "outer" or "inner"
        Race at which the balls do not spin; also splits the gyroscopic moment. See `bearings.balls`.
    cage_angle : float [rad]
        Position of ball 0 from x. A load along x with 0 is on a ball, with π/Z between two balls.
    fixed : sequence of {"x", "y", "z", "rx", "ry"}
        Displacements held at zero: the housing or the shaft takes these loads. Default: none; ("rx", "ry") for a ring
        on a stiff shaft.
    speed_step : float [rad/s], optional
        First step of the speed, halved where it fails. Default: 250 rpm.
    spall : Spall, optional
        A pit in a race, at its ``angle`` (of a function of time: that at time 0).

    Returns
    -------
    BearingState

    Raises
    ------
    ParameterError
        Loads that are not finite, unknown component or control.
    SolverError
        No equilibrium: the load cannot be carried, for example a thrust with every ball lifted off at speed.

    Examples
    --------
    Load distribution of a 6205 under 1 kN, no clearance:

    >>> from fem_mbs.bearings.geometry import BearingGeometry
    >>> bearing = BearingGeometry.from_designation("6205", clearance=0.0)
    >>> state = bearing_equilibrium(bearing, force=[1000, 0, 0])
    >>> print(f"{1e6 * state.displacement[0]:.2f} µm", np.round(state.load_inner[:3]), "N")
    14.74 µm [487. 327.  35.] N
    """
    owner = _checked("bearing_equilibrium", geometry, control, spall)
    load = np.concatenate([owner.as_vector("force", force), owner.as_vector("moment", moment, 2)])
    inner_speed, outer_speed = owner.number("inner_speed", inner_speed), owner.number("outer_speed", outer_speed)
    cage_angle, inertia = owner.number("cage_angle", cage_angle), owner.as_flag("inertia", inertia)
    step = 250 * np.pi / 30 if speed_step is None else owner.positive("speed_step", speed_step, "rad/s")
    names = [fixed] if isinstance(fixed, str) else owner.as_instance("fixed", fixed, (list, tuple, set), "a list")
    for name in names:
        if not isinstance(name, str) or name not in COMPONENTS:
            raise ParameterError(geometry, "fixed", name, f"is not a displacement; there are: {', '.join(COMPONENTS)}")
    free = np.array([name not in names for name in COMPONENTS])
    problem = _Problem(geometry, load, free, cage_angle, control, spall)
    q = problem.at_rest()
    if inertia and (inner_speed or outer_speed):
        q = problem.at_speed(q, inner_speed, outer_speed, step)
    return BearingState(geometry, q, inner_speed, outer_speed, cage_angle, inertia, control, spall)


def _checked(function, geometry, control, spall):
    """Who speaks in messages, after checks of what all functions here have."""
    Named(function).as_instance("geometry", geometry, BearingGeometry)
    Named(function).as_choice("control", control, CONTROLS)
    if spall is not None:
        Named(function).as_instance("spall", spall, Spall)
    return Named("BearingGeometry", geometry.name)


def _place(spall):
    """Angle of a pit at time 0 [rad]."""
    if spall is None:
        return 0.0
    return float(spall.angle(0.0) if callable(spall.angle) else spall.angle)


def _forces(law, angles, q, inner_speed, outer_speed):
    F, S, W = np.zeros(5), np.zeros((5, 5)), np.zeros((5, 2))
    energy = be.ring_forces(law, *angles, q, inner_speed, outer_speed, F, S, W)
    return F, S, energy


class _Problem:
    """Equation (1) for one bearing and load, in displacements scaled to lengths."""

    def __init__(
        self,
        geometry: BearingGeometry,
        load: np.ndarray,
        free: np.ndarray,
        cage_angle: float,
        control: str,
        spall: Spall | None,
    ) -> None:
        self.geometry, self.load, self.free, self.spall = geometry, load, free, spall
        self.angles = (cage_angle, _place(spall))
        self.control, self.A = control, geometry.groove_distance
        lever = geometry.pitch_diameter / 2
        self.scale = np.array([1.0, 1.0, 1.0, 1 / lever, 1 / lever])  # tilt times lever is a length
        self.size = float(np.linalg.norm((load * self.scale)[free]))
        # stiffness of one ball under its share of the load: takes the place of the matrix where nothing is loaded
        K = geometry.stiffness
        self.soft = 1e-3 * 1.5 * K ** (2 / 3) * max(self.size / geometry.balls, 1e-12) ** (1 / 3)

    def evaluate(
        self, law: np.ndarray, q: np.ndarray, inner_speed: float = 0.0, outer_speed: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Residual (5,) and matrix (5, 5) in scaled displacements, and the potential [J]."""
        F, S, energy = _forces(law, self.angles, q, inner_speed, outer_speed)
        residual = np.where(self.free, (self.load + F) * self.scale, 0.0)
        return residual, S * np.outer(self.scale, self.scale), energy - self.load @ q

    def step(self, residual: np.ndarray, S: np.ndarray, shift: float) -> np.ndarray:
        """Newton step (5,) with a shift of the diagonal, no longer than a fifth of the groove distance."""
        free, d = self.free, np.zeros(5)
        d[free] = np.linalg.solve(S[np.ix_(free, free)] + shift * np.eye(free.sum()), residual[free])
        length = float(np.abs(d).max())
        return d if length == 0 else d * min(1.0, 0.2 * self.A / length)

    def at_rest(self) -> np.ndarray:
        """Minimum of the potential without forces of inertia, by Newton steps that lower it."""
        law = be.race_law(self.geometry, spall=self.spall)
        q = np.zeros(5)
        if self.size == 0.0:
            return q
        residual, S, potential = self.evaluate(law, q)
        history = []
        for _ in range(300):
            norm = float(np.linalg.norm(residual))
            history.append(norm)
            if norm <= 1e-13 * self.size:
                return q
            d = self.step(residual, S, self.soft * min(1.0, norm / self.size))
            factor, slope = 1.0, float(residual @ d)
            while True:
                trial = q + factor * d * self.scale
                new = self.evaluate(law, trial)
                # near the end the potential is constant to round-off and the residual decides
                near = norm < 1e-3 * self.size
                if np.linalg.norm(new[0]) < norm if near else new[2] <= potential - 1e-4 * factor * slope:
                    break
                factor *= 0.5
                if near and factor < 1e-2 and norm <= 1e-9 * self.size:
                    return q  # round-off: positions of some 10 mm, indentations of some µm
                if factor < 1e-8:
                    self.fail("at rest", history)
            q = trial
            residual, S, potential = new
        self.fail("at rest", history)

    def at_speed(self, q: np.ndarray, inner_speed: float, outer_speed: float, step: float) -> np.ndarray:
        """Follow the equilibrium from rest to the speeds, in steps that are halved where Newton fails."""
        law = be.race_law(self.geometry, inertia=True, control=self.control, spall=self.spall)
        largest = max(abs(inner_speed), abs(outer_speed))
        done, before = 0.0, None  # fraction of the speeds that is solved; (fraction, q) of the step before
        width = min(1.0, step / largest)
        while done < 1.0:
            fraction = min(1.0, done + width)
            start = q if before is None else q + (q - before[1]) * (fraction - done) / (done - before[0])
            solved = self.newton(law, start, fraction * inner_speed, fraction * outer_speed)
            if solved is None:
                width *= 0.5
                if width < 1e-4:
                    rpm = 30 / np.pi * done * largest
                    self.fail(f"above {rpm:.6g} rpm", [])
                continue
            before, q, done = (done, q), solved, fraction
        return q

    def newton(self, law: np.ndarray, q: np.ndarray, inner_speed: float, outer_speed: float) -> np.ndarray | None:
        """Displacements (5,) in equilibrium at the speeds, from those of a start; None where Newton's method fails."""
        residual, S, _ = self.evaluate(law, q, inner_speed, outer_speed)
        norm = np.linalg.norm(residual)
        for _ in range(30):
            if not math.isfinite(norm):
                return None
            if norm <= 1e-12 * self.size:
                return q
            try:
                d = self.step(residual, S, 0.0)
            except np.linalg.LinAlgError:
                return None
            for factor in 0.5 ** np.arange(12):
                trial = q + factor * d * self.scale
                new = self.evaluate(law, trial, inner_speed, outer_speed)
                if np.linalg.norm(new[0]) < norm:
                    break
            else:
                return q if norm <= 1e-9 * self.size else None
            q, (residual, S, _), norm = trial, new, np.linalg.norm(new[0])
        return None

    def fail(self, where: str, history: list) -> NoReturn:
        """Raise the error that names the bearing and the load."""
        raise SolverError(
            f"{label(self.geometry)}: no equilibrium {where} under the load {self.load} N, N m. Is there a load in a "
            "direction in which nothing holds the ring (fixed=…)? At speed: " + _CURE,
            history=history,
        )
