"""Ball bearing as a stiffness between two rings: balls in quasi-static equilibrium, solved inside the kernel.

With frame P on the outer ring and Q at the centre of the groove circle of the inner ring, z along the axis,

    q = ( x_P·r,  y_P·r,  z_P·r − a,  −y_P·z_Q,  x_P·z_Q ),   r = x_Q − x_P,   q̇ = G v,   H_k = ∂G_k/∂q            (1)
    f = Gᵀ φ,   φ = Σ_j B_jᵀ P_j(q, ψ, ω_i, ω_o) − k q − c q̇                                                       (2)
    K = Gᵀ(S G + c vᵀH) − Σ_k φ_k H_k,        C = Gᵀ(c G − ∂φ/∂ω W)        S = −∂φ/∂q                               (3)
    ω_i = z_Q·Ω_B,   ω_o = z_P·Ω_A  (each ring about its own axis),   W = ∂(ω_i, ω_o)/∂v                            (4)

q are the displacements and tilts of the inner ring; P_j, S and ∂φ/∂ω are those of `fem_mbs.bearings.balls`: exact
derivatives, with forces of inertia too. Tilts enter by their sines, right to 1e-4 for the 1e-2 rad a bearing can bear,
and turn the groove circle to first order, without the moment that radial forces have about the tilted circle: compared
with `DynamicBearing` the tilt of a 6205 under radial and axial load is 1.5 % off at 2.7 mrad. Rotation of the rings
about the axis and motion of both together are arbitrary. Forces of inertia of the balls are those of steady rotation,
F_c and M_g of absolute speeds; the inertia of the balls in translation is left out: right below the resonance of balls
on their contacts (26 to 63 kHz in a 6205).

Balls stay at the given angle ψ in P's axes, or move with it as a function of time (``cage_angle``): then the stiffness
varies with the ball-pass frequency, and what drives the cage does the work.

Source: docs/theory/bearings.md, (5)-(14); (1) and (3) from the rows of `joints.rows`.

    symbol       code             shape    unit         meaning
    p_AP …       p.p_AP …                               frames, as in joints; Q is moved to the groove circle
    a            law[OFFSET]      ()       m            distance of the groove circles without load
    k, c         p.springs, p.damping  (5,)  N/m, N m/rad; N s/m, N m s/rad   in parallel to the balls
    S, ∂φ/∂ω     S, W             (5, 5), (5, 2)
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.bearings import balls as be
from fem_mbs.bearings.balls import (
    COS_I,
    COS_O,
    FAILED,
    INERTIA,
    N_BALL,
    N_RACE_LAW,
    OFFSET,
    ORBIT,
    Q_I,
    Q_O,
    SIN_I,
    SIN_O,
    SPIN_R,
    SPIN_Z,
    ball_speeds,
    one_ball,
    ring_forces,
)
from fem_mbs.bearings.geometry import BearingGeometry
from fem_mbs.bearings.spall import Spall
from fem_mbs.bearings.statics import CONTROLS
from fem_mbs.element.base import JOINT_FRAMES, BetweenFrames, Force, register
from fem_mbs.elements.joints.coordinates.given import driving_signal
from fem_mbs.elements.joints.rows import add_effort, axes_hessian, axes_row, plane_hessian, plane_row
from fem_mbs.jit import kernel, local_arrays

PARAMETERS = np.dtype(
    [
        *JOINT_FRAMES.descr,
        ("law", "f8", (N_RACE_LAW,)),
        ("springs", "f8", (5,)),
        ("damping", "f8", (5,)),
        ("speeds", "f8", (2,)),
        ("speeds_given", "i8"),
        ("pressure", "f8", (2,)),
        ("spinning", "f8", (2,)),
    ]
)


@kernel
def coordinates(p, x_A, R_A, x_B, R_B, q, G):
    """Fill q (5,) and G (5, 12) of (1)."""
    q[:] = 0.0
    G[:, :] = 0.0
    for k in range(3):
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, k, k, q, G)
    q[2] -= p.law[OFFSET]
    axes_row(R_A, p.R_AP, 1, R_B, p.R_BQ, 2, 3, q, G)
    axes_row(R_A, p.R_AP, 0, R_B, p.R_BQ, 2, 4, q, G)
    q[3] = -q[3]
    for j in range(12):
        G[3, j] = -G[3, j]


@kernel
def speed_of_ring(p, w_A, w_B, ring):
    """ω_i (ring 0) or ω_o (ring 1) of (4) [rad/s], or the one given."""
    if p.speeds_given != 0:
        return p.speeds[ring]
    total = 0.0
    for k in range(3):
        total += p.R_BQ[k, 2] * w_B[k] if ring == 0 else p.R_AP[k, 2] * w_A[k]
    return total


@kernel
def wrench(p, node_A, node_B, v, s, q, G, phi, S, W):
    """Fill q, G, φ (5,), S (5, 5) and W = ∂φ/∂(ω_i, ω_o) (5, 2) of (2); returns the strain energy [J]."""
    coordinates(p, node_A.x, node_A.R, node_B.x, node_B.R, q, G)
    phi[:] = 0.0
    S[:, :] = 0.0
    W[:, :] = 0.0
    inner, outer = speed_of_ring(p, node_A.w, node_B.w, 0), speed_of_ring(p, node_A.w, node_B.w, 1)
    energy = ring_forces(p.law, s[0, 0], s[1, 0], q, inner, outer, phi, S, W)
    for k in range(5):
        phi[k] -= p.springs[k] * q[k]
        S[k, k] += p.springs[k]
        energy += 0.5 * p.springs[k] * q[k] * q[k]
        if p.damping[k] != 0.0:
            rate = 0.0
            for j in range(12):
                rate += G[k, j] * v[j]
            phi[k] -= p.damping[k] * rate
    return energy


@kernel
def bearing_force(p, node_A, node_B, v, s, f):
    """Add (2) to f (12,)."""
    q, G, phi, S, W = local_arrays("5, 5 12, 5, 5 5, 5 2")
    wrench(p, node_A, node_B, v, s, q, G, phi, S, W)
    for j in range(12):
        for k in range(5):
            f[j] += G[k, j] * phi[k]


@kernel
def bearing_tangent(p, node_A, node_B, v, s, K, C):
    """Add (3) to K and C (12, 12)."""
    q, G, phi, S, W, SG = local_arrays("5, 5 12, 5, 5 5, 5 2, 5 12")
    H = local_arrays("5 12 12")[0]
    H[:] = 0.0
    wrench(p, node_A, node_B, v, s, q, G, phi, S, W)
    for k in range(3):
        plane_hessian(node_A.x, node_A.R, p.p_AP, p.R_AP, node_B.x, node_B.R, p.p_BQ, k, k, H)
    axes_hessian(node_A.R, p.R_AP, 1, node_B.R, p.R_BQ, 2, 3, H)
    axes_hessian(node_A.R, p.R_AP, 0, node_B.R, p.R_BQ, 2, 4, H)
    for i in range(12):
        for j in range(12):
            H[3, i, j] *= -1.0
    for k in range(5):
        for j in range(12):
            total = 0.0
            for i in range(5):
                total += S[k, i] * G[i, j]
            if p.damping[k] != 0.0:
                for i in range(12):
                    total += p.damping[k] * v[i] * H[k, i, j]
            SG[k, j] = total
    for i in range(12):
        for j in range(12):
            for k in range(5):
                K[i, j] += G[k, i] * SG[k, j] - phi[k] * H[k, i, j]
                C[i, j] += p.damping[k] * G[k, i] * G[k, j]
    if p.speeds_given == 0 and p.law[INERTIA] != 0.0:
        for i in range(12):
            along_inner, along_outer = 0.0, 0.0
            for k in range(5):
                along_inner += G[k, i] * W[k, 0]
                along_outer += G[k, i] * W[k, 1]
            for j in range(3):
                C[i, 9 + j] -= along_inner * p.R_BQ[j, 2]
                C[i, 3 + j] -= along_outer * p.R_AP[j, 2]


@kernel
def energy_bearing(p, node_A, node_B, v, s):
    """Strain energy of the contacts [J]."""
    q, G, phi, S, W = local_arrays("5, 5 12, 5, 5 5, 5 2")
    return wrench(p, node_A, node_B, v, s, q, G, phi, S, W)


@kernel
def bearing_output(p, node_A, node_B, v, s, out):
    """Displacement, tilt, force, moment, cage speed, pressures, spin power, then loads and angles ball by ball."""
    q, G, phi, S, W, b, Y = local_arrays("5, 5 12, 5, 5 5, 5 2, 26, 5 3")
    wrench(p, node_A, node_B, v, s, q, G, phi, S, W)
    for k in range(5):
        out[k] += q[k]
    add_effort(node_B.R, p.p_BQ, G, phi, out[5:11])
    inner, outer = speed_of_ring(p, node_A.w, node_B.w, 0), speed_of_ring(p, node_A.w, node_B.w, 1)
    Z, law = int(p.law[0]), p.law
    loaded, of_loaded, of_all, largest_i, largest_o = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(Z):
        one_ball(law, s[0, 0] + 2.0 * math.pi * j / Z, s[1, 0], q, inner, outer, b)
        if law[INERTIA] == 0.0:
            ball_speeds(law, b[COS_I], b[SIN_I], b[COS_O], b[SIN_O], inner, outer, Y)
            b[ORBIT], b[SPIN_Z], b[SPIN_R] = Y[0, 0], Y[0, 1], Y[0, 2]
        Qi, Qo = b[Q_I], b[Q_O]
        if Qi > 0.0:
            loaded += 1.0
            of_loaded += b[ORBIT]
        of_all += b[ORBIT]
        largest_i, largest_o = max(largest_i, Qi), max(largest_o, Qo)
        turning = b[ORBIT] + b[SPIN_Z]
        # M_S ω_S with M_S ∝ Q^{4/3}
        out[14] += p.spinning[0] * Qi ** (4.0 / 3.0) * abs((turning - inner) * b[SIN_I] + b[SPIN_R] * b[COS_I])
        out[14] += p.spinning[1] * Qo ** (4.0 / 3.0) * abs((turning - outer) * b[SIN_O] + b[SPIN_R] * b[COS_O])
        out[15 + j] += Qi
        out[15 + Z + j] += Qo
        out[15 + 2 * Z + j] += math.atan2(b[SIN_I], b[COS_I])
        out[15 + 3 * Z + j] += math.atan2(b[SIN_O], b[COS_O])
    out[11] += of_loaded / loaded if loaded > 0.0 else of_all / Z
    out[12] += p.pressure[0] * largest_i ** (1.0 / 3.0)
    out[13] += p.pressure[1] * largest_o ** (1.0 / 3.0)


class QuasiStaticBearing(BetweenFrames, Force):
    """Ball bearing between two bodies, balls in quasi-static equilibrium: level (c), for long runs and large models.

    Radial, axial and tilting stiffness with clearance, Hertz contacts and, at speed, centrifugal force and gyroscopic
    moment of the balls. The rings turn freely against each other about the axis; there is no friction torque.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Outer ring (housing) and inner ring (shaft). z is the axis, the origin the centre of the bearing; see `at`.
        Where both coincide the displacement is zero: rings in the middle of the play (``clearance``) or just touching
        under a thrust on the inner ring along +z (``contact_angle``). Turn the frames by π about x for a bearing that
        takes the opposite thrust; move one along z for an axial preload.
    geometry : BearingGeometry
    inertia : bool
        Centrifugal force and gyroscopic moment of the balls. Worth it above some 3e5 mm/min (speed × pitch diameter).
    control : "outer" or "inner"
        Race control, see `fem_mbs.bearings.balls`; only with ``inertia``, and for speeds of cage and balls. With
        "inner" forces jump where a ball comes off the inner race.
    speeds : (inner, outer) [rad/s], optional
        Speeds of the rings about z for the forces of inertia; default: those of the motion. Give them in statics and
        in modal analysis, where the model stands still.
    cage_angle : float or function of time [rad]
        Position of ball 0 from x of P. A function such as ``lambda t: cage_speed * t`` lets the balls pass (varying
        compliance); ``geometry.pass_frequencies(speed).cage`` is the speed without slip. Default: balls at rest at 0.
    spall : Spall, optional
        A pit in a race, which the balls pass when ``cage_angle`` moves them; in the inner race its ``angle`` is a
        function of time. The motion of cage and pit does the work of passing it.
    damping : (radial, axial, tilting) [N s/m, N s/m, N m s/rad]
        On the displacement rates of the inner ring. The literature has 0.25e-5 to 2.5e-5 s times the stiffness.
    springs : (radial, axial, tilting) [N/m, N/m, N m/rad]
        Linear springs parallel to the balls, without force at zero displacement: seals, or a weak guide in a direction
        without load, in which the balls hold the ring hardly or, with clearance, not at all.
    friction : float ≥ 0
        Of the contacts, for ``spin_power`` only.
    name : str, optional

    Outputs
    -------
    displacement : (3,) [m], of the inner ring in the axes of P
    tilt : (2,) [rad], about x and y of P
    force : (3,) [N], moment : (3,) [N m]
        Of the bearing on the inner ring (second body) about the centre of its groove circle, inertial axes.
    cage_speed : [rad/s], mean over loaded balls
    pressure_inner, pressure_outer : [Pa], largest Hertz pressure
    spin_power : [W], heat of spinning contacts; see `fem_mbs.bearings.statics`
    load_inner, load_outer : (Z,) [N]
    angle_inner, angle_outer : (Z,) [rad], contact angles

    Raises
    ------
    ParameterError
        Both frames on one node; frames too far apart or tilted; not a `BearingGeometry`; bad numbers.

    Notes
    -----
    Equations (1)-(4) of the file's header. At speed the law has no potential: energy is not conserved, and a modal
    analysis needs a solver for unsymmetric matrices, as `modes` is. Statics begins at the initial pose: with the rings
    unloaded there nothing supports them, so move the shaft into its loaded position first (from `bearing_equilibrium`)
    or give ``springs``. A ball in which no equilibrium is found stops the run as a result
    that is not finite: see `bearing_equilibrium` for the reasons there may be.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> model = fem.Model("rotor", gravity=[0, 0, -9.81])
    >>> shaft = model.add(fem.RigidBody(2.0, [5e-3, 5e-3, 1e-3], name="shaft"))
    >>> geometry = fem.BearingGeometry.from_designation("6204", clearance=5e-6)
    >>> bearing = fem.QuasiStaticBearing.at(
    ...     model.ground, shaft, position=[0, 0, 0], axis=[1.0, 0, 0], geometry=geometry, name="front"
    ... )
    """

    parameters = PARAMETERS
    kernels = {
        "force": bearing_force,
        "force_tangent": bearing_tangent,
        "energy": energy_bearing,
        "output": bearing_output,
    }

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        geometry: BearingGeometry,
        *,
        inertia: bool = False,
        control: str = "outer",
        speeds: ArrayLike | None = None,
        cage_angle: Any = 0.0,
        spall: Spall | None = None,
        damping: ArrayLike = (0.0, 0.0, 0.0),
        springs: ArrayLike = (0.0, 0.0, 0.0),
        friction: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.cage_angle, _ = driving_signal(self, "cage_angle", cage_angle)
        if spall is not None:
            self.as_instance("spall", spall, Spall, "a Spall(race, length, …)")
        spall_angle, _ = driving_signal(self, "spall angle", 0.0 if spall is None else spall.angle)
        signals = [self.cage_angle, spall_angle]
        self._connect(frame_P, frame_Q, "a bearing needs two bodies", name=name, signals=signals)
        self.geometry = self.as_instance("geometry", geometry, BearingGeometry)
        self.inertia = self.as_flag("inertia", inertia)
        self.as_choice("control", control, CONTROLS)
        self.speeds = None if speeds is None else self.as_vector("speeds", speeds, 2)
        self.damping = self.as_vector("damping", damping)
        self.check((self.damping >= 0).all(), "damping", self.damping, "must be ≥ 0: N s/m radial, axial; N m s/rad")
        self.springs = self.as_vector("springs", springs)
        self.check((self.springs >= 0).all(), "springs", self.springs, "must be ≥ 0: N/m radial, axial; N m/rad")
        self.friction = self.positive("friction", friction, "", allow_zero=True)
        self._check_start()
        by_motion = self.inertia and self.speeds is None
        self.viscous = by_motion or bool(self.damping.any())
        # absolute speeds see a superposed rotation; at speed forces have no potential
        self.invariant, self.conservative = not by_motion, not self.inertia
        springs, damping = (values[[0, 0, 1, 2, 2]] for values in (self.springs, self.damping))
        g, law = geometry, be.race_law(geometry, inertia=self.inertia, control=control, spall=spall)
        self.record = (
            self.frame_P.p,
            self.frame_P.rotation,
            self.frame_Q.p + self.frame_Q.rotation @ [0, 0, g.axial_offset],
            self.frame_Q.rotation,
            law,
            springs,
            damping,
            (0.0, 0.0) if self.speeds is None else self.speeds,
            int(self.speeds is not None),
            (g.inner.maximum_pressure(1.0), g.outer.maximum_pressure(1.0)),
            (self.friction * g.inner.spinning_radius(1.0), self.friction * g.outer.spinning_radius(1.0)),
        )
        Z = g.balls
        self.outputs = {
            "displacement": (3, "m"),
            "tilt": (2, "rad"),
            "force": (3, "N"),
            "moment": (3, "N m"),
            "cage_speed": (1, "rad/s"),
            "pressure_inner": (1, "Pa"),
            "pressure_outer": (1, "Pa"),
            "spin_power": (1, "W"),
            "load_inner": (Z, "N"),
            "load_outer": (Z, "N"),
            "angle_inner": (Z, "rad"),
            "angle_outer": (Z, "rad"),
        }

    def _check_start(self):
        P, Q = self.frame_P.orientation, self.frame_Q.orientation
        apart = float(np.linalg.norm(self.frame_Q.position - self.frame_P.position))
        message = (
            f"is {apart:.6g} m from frame_P at the start, more than the distance of the groove centres "
            f"({self.geometry.groove_distance:.4g} m): no ball fits. Both frames belong at the centre of the bearing; "
            "QuasiStaticBearing.at(outer, inner, position, axis, geometry=…) puts them there"
        )
        self.check(apart <= self.geometry.groove_distance, "frame_Q", self.frame_Q, message)
        tilt = float(np.arctan2(np.linalg.norm(np.cross(P[:, 2], Q[:, 2])), P[:, 2] @ Q[:, 2]))
        message = f"has its z axis {np.degrees(tilt):.4g}° from that of frame_P at the start; the axis is z of both"
        self.check(tilt <= 0.1, "frame_Q", self.frame_Q, message)

    @property
    def own_size(self) -> float:
        return float(self.geometry.pitch_diameter)

    def regular(self, point: Any) -> bool:
        """True if the law is smooth near a configuration of `fem_mbs.verify`: no ball is about to touch or to
        separate.
        """
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        p, (x_A, x_B), (R_A, R_B) = p[0], point.x, point.R
        q, G, law = np.zeros(5), np.zeros((5, 12)), p["law"].copy()
        coordinates(p, x_A, R_A, x_B, R_B, q, G)
        speeds = [speed_of_ring(p, point.v[3:6], point.v[9:12], ring) for ring in (0, 1)]
        table, margin = np.zeros((self.geometry.balls, N_BALL)), 0.1 * self.geometry.ball_diameter
        be.ball_table(law, point.s[0, 0], point.s[1, 0], q, *speeds, table)
        psi = point.s[0, 0] + 2 * np.pi * np.arange(len(table)) / len(table)
        R = law[be.R_GI]
        s_r = R - law[be.R_GO] + np.cos(psi) * q[0] + np.sin(psi) * q[1]
        s_z = law[OFFSET] + q[2] + R * (np.sin(psi) * q[3] - np.cos(psi) * q[4])
        if self.inertia:
            pressed = [(table[:, Q] / law[K]) ** (2 / 3) for Q, K in ((Q_I, be.K_I), (Q_O, be.K_O))]
            spare = law[be.REACH_I] - np.hypot(s_r - law[be.REACH_O], s_z)
            clear = np.where(table[:, Q_I] > 0, np.minimum(*pressed), spare) > margin
            # beyond 80° balls go over the edge of a groove that no bearing has, and jump on the way
            clear &= np.minimum(table[:, COS_I], table[:, COS_O]) > 0.17
        else:
            clear = np.abs(np.hypot(s_r, s_z) - law[be.REACH_I] - law[be.REACH_O]) > margin
        # a ball whose inner groove is on the wrong side of the outer one counts as free: no ring gets there
        return bool(((s_r < -margin) | (clear & (s_r > margin) & (table[:, FAILED] == 0))).all())

    def picture(self) -> list:
        """Both rings, when the geometry has bore, outside diameter and width."""
        g = self.geometry
        if None in (g.bore, g.outside_diameter, g.width):
            return []
        edge = 0.3 * g.ball_diameter
        rings = ((self.frame_P, g.pitch_diameter / 2 + edge, g.outside_diameter / 2),
                 (self.frame_Q, g.bore / 2, g.pitch_diameter / 2 - edge))  # fmt: skip
        return [(frame.node, _ring(low, high, g.width, frame)) for frame, low, high in rings]


def _ring(inside, outside, width, frame, n=36):
    """Ring of rectangular section about z of a frame, as a mesh."""
    from fem_mbs.shapes import Mesh

    angle = 2 * np.pi * np.arange(n) / n
    corners = [(inside, -0.5), (outside, -0.5), (outside, 0.5), (inside, 0.5)]
    points = np.array([[r * np.cos(a), r * np.sin(a), z * width] for a in angle for r, z in corners])
    i = np.arange(n)[:, None]
    k = np.arange(4)
    faces = np.stack([4 * i + k, 4 * ((i + 1) % n) + k, 4 * ((i + 1) % n) + (k + 1) % 4, 4 * i + (k + 1) % 4], axis=-1)
    return Mesh(points, [faces.reshape(-1, 4)], offset=frame.p, rotation=frame.rotation)


def _example(rng, a, b):
    from fem_mbs.bearings.geometry import BearingGeometry
    from fem_mbs.bearings.spall import Spall

    # soft, wide grooves of the size of the nodes' distance: the checks move the rings that far
    soft = {"E": 3.0, "nu": 0.3, "density": rng.uniform(0.02, 0.1)}
    play = {"clearance": rng.uniform(-0.2, 0.2)} if rng.integers(2) else {"contact_angle": rng.uniform(0.3, 0.9)}
    geometry = BearingGeometry(3, 1.0, rng.uniform(3.0, 4.0), 0.8, 0.85, **play, **soft)
    spall = Spall(("outer", "inner")[rng.integers(2)], 0.8, angle=rng.uniform(0, 6)) if rng.integers(2) else None
    axis = rng.normal(size=3)
    kind, parallel = rng.integers(3), rng.uniform(0, 1, size=(2, 3)) * rng.integers(2, size=(2, 1))
    return QuasiStaticBearing.at(
        a, b, rng.normal(size=3), axis / np.linalg.norm(axis), geometry=geometry, inertia=kind > 0,
        control=CONTROLS[rng.integers(2)], speeds=rng.normal(size=2) if kind == 1 else None,
        cage_angle=rng.uniform(0, 6), spall=spall, damping=parallel[0], springs=parallel[1], friction=0.1,
    )  # fmt: skip


register(QuasiStaticBearing, example=_example)
