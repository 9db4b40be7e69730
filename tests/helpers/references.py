"""Reference motions, independent of constraints, elements and steppers: minimal coordinates integrated with DOP853.

Equations of motion by projection (Kane): Σ J_vᵀ m (a − g) + J_wᵀ (J_c α + ω × J_c ω) = Q, all in inertial components.
Tolerances of the integrator are 1e-12 relative: energies of the motions below stay constant to 1e-11.
"""

import double_pendulum as dp
import heavy_top as top
import numpy as np
import tilting_plate as plate
from scipy.integrate import solve_ivp

from fem_mbs.rotations import exp, log, skew


def integrate(rate, start, times, **options):
    """States (k, n) at times (k,) of the motion with the given rate of change."""
    times = np.asarray(times, float)
    solution = solve_ivp(rate, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13, **options)
    assert solution.success, solution.message
    return solution.y.T


def rotation_error(R, reference):
    """Largest angle [rad] between rotations (k, 3, 3)."""
    return max(np.linalg.norm(log(A.T @ B)) for A, B in zip(reference, R))


class Pendulum:
    """Poses, velocities and accelerations of the double pendulum of examples/double_pendulum.py.

    Parameters
    ----------
    angles, rates, accelerations : (2,) of the joints [rad, rad/s, rad/s²]
    """

    def __init__(self, angles, rates, accelerations=(0.0, 0.0)):
        self.R1 = exp(angles[0] * dp.axis_1)
        self.R2 = self.R1 @ exp(angles[1] * dp.axis_2)
        z1, z2 = dp.axis_1, self.R1 @ dp.axis_2
        self.w1 = rates[0] * z1
        self.w2 = self.w1 + rates[1] * z2
        self.alpha1 = accelerations[0] * z1
        self.alpha2 = self.alpha1 + accelerations[1] * z2 + rates[1] * np.cross(self.w1, z2)
        self.p2 = self.R1 @ dp.joint_2
        self.c1, self.c2 = self.R1 @ dp.center_1, self.p2 + self.R2 @ dp.center_2
        self.a1 = self._acceleration(self.c1, self.w1, self.alpha1)
        joint = self._acceleration(self.p2, self.w1, self.alpha1)
        self.a2 = joint + self._acceleration(self.c2 - self.p2, self.w2, self.alpha2)
        self.Jv = (
            np.array([np.cross(z1, self.c1), 0 * z1]).T,
            np.array([np.cross(z1, self.c2), np.cross(z2, self.c2 - self.p2)]).T,
        )
        self.Jw = np.array([z1, 0 * z1]).T, np.array([z1, z2]).T

    @staticmethod
    def _acceleration(arm, w, alpha):
        return np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))

    def bodies(self):
        """Mass, inertia about the centre (inertial components), J_v, J_w, acceleration, ω and α of both bodies."""
        J1, J2 = self.R1 @ dp.inertia_1 @ self.R1.T, self.R2 @ dp.inertia_2 @ self.R2.T
        yield dp.mass_1, J1, self.Jv[0], self.Jw[0], self.a1, self.w1, self.alpha1
        yield dp.mass_2, J2, self.Jv[1], self.Jw[1], self.a2, self.w2, self.alpha2

    def generalised_forces(self):
        """Inertia minus gravity, projected on the joints (2,) [N m]."""
        gravity, total = np.array([0, 0, -dp.g]), np.zeros(2)
        for m, J, Jv, Jw, a, w, alpha in self.bodies():
            total += Jv.T @ (m * (a - gravity)) + Jw.T @ (J @ alpha + np.cross(w, J @ w))
        return total

    def mass_matrix(self):
        """(2, 2) [kg m²]."""
        return sum(m * Jv.T @ Jv + Jw.T @ J @ Jw for m, J, Jv, Jw, *_ in self.bodies())

    def efforts(self):
        """Forces [N] and moments [N m] of joints 1, 2 on bodies 1, 2 at the joints, inertial components (12,)."""
        gravity = np.array([0, 0, -dp.g])
        (m1, J1, _, _, a1, w1, alpha1), (m2, J2, _, _, a2, w2, alpha2) = self.bodies()
        force_2 = m2 * (a2 - gravity)
        force_1 = m1 * (a1 - gravity) + force_2
        moment_2 = J2 @ alpha2 + np.cross(w2, J2 @ w2) + np.cross(self.c2 - self.p2, force_2)
        own = J1 @ alpha1 + np.cross(w1, J1 @ w1) + np.cross(self.c1, m1 * (a1 - gravity))
        moment_1 = own + moment_2 + np.cross(self.p2, force_2)
        return np.concatenate([force_1, moment_1, force_2, moment_2])

    def accelerated(self, angles, rates):
        """The same state with the accelerations of free motion."""
        free = -np.linalg.solve(self.mass_matrix(), self.generalised_forces())
        return Pendulum(angles, rates, free)


def double_pendulum_motion(times):
    """`Pendulum` states at times (k,)."""

    def rate(_, y):
        pendulum = Pendulum(y[:2], y[2:])
        return [*y[2:], *-np.linalg.solve(pendulum.mass_matrix(), pendulum.generalised_forces())]

    states = integrate(rate, [0, 0, dp.rate_1, dp.rate_2], times)
    return [Pendulum(y[:2], y[2:]).accelerated(y[:2], y[2:]) for y in states]


def driven_pendulum_motion(times, amplitude, frequency):
    """`Pendulum` states and driving moments [N m] at times (k,) with φ1 = amplitude sin(frequency t)."""

    def state(t, y, acceleration=0.0):
        s, c = np.sin(frequency * t), np.cos(frequency * t)
        angles = amplitude * s, y[0]
        rates = amplitude * frequency * c, y[1]
        return Pendulum(angles, rates, (-amplitude * frequency**2 * s, acceleration))

    def second(t, y):
        pendulum = state(t, y)
        return -pendulum.generalised_forces()[1] / pendulum.mass_matrix()[1, 1]

    states = integrate(lambda t, y: [y[1], second(t, y)], [0, dp.rate_2], times)
    motion = [state(t, y, second(t, y)) for t, y in zip(times, states)]
    return motion, np.array([pendulum.generalised_forces()[0] for pendulum in motion])


def heavy_top_motion(spin, times):
    """Centre of mass (k, 3), rotation (k, 3, 3), Ω (k, 3) and force of the ground (k, 3) at times (k,)."""
    c, m, gravity = top.arm, top.mass, np.array([0, 0, -top.g])
    J = np.diag(top.inertia) - m * skew(c) @ skew(c)

    def acceleration(R, w):
        return np.linalg.solve(J, m * np.cross(c, R.T @ gravity) - np.cross(w, J @ w))

    def rate(_, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([(R @ skew(w)).ravel(), acceleration(R, w)])

    states = integrate(rate, [*np.eye(3).ravel(), *spin], times)
    R, w = states[:, :9].reshape(-1, 3, 3), states[:, 9:]
    body = [np.cross(acceleration(A, b), c) + np.cross(b, np.cross(b, c)) for A, b in zip(R, w)]
    force = m * (np.einsum("kij,kj->ki", R, body) - gravity)
    return R @ c, R, w, force


def rolling_on_plate_motion(times):
    """s, ṡ, normal force, tangential force along the plate and driving moment (k, 5) of examples/tilting_plate.py."""
    m, r, inertia, g = plate.mass, plate.radius, plate.inertia, plate.g

    def angle(t):
        s, c, f = np.sin(plate.frequency * t), np.cos(plate.frequency * t), plate.frequency
        return plate.amplitude * np.array([s, f * c, -(f**2) * s])

    def second(t, s):
        phi, rate, acceleration = angle(t)
        pull = (m * r + inertia / r) * acceleration + m * s * rate**2 - m * g * np.sin(phi)
        return pull / (m + inertia / r**2)

    states = integrate(lambda t, y: [y[1], second(t, y[0])], [plate.start, 0.0], times)
    result = []
    for t, (s, v) in zip(times, states):
        phi, rate, acceleration = angle(t)
        normal = m * (2 * v * rate + s * acceleration - r * rate**2 + g * np.cos(phi))
        along = m * (second(t, s) - r * acceleration - s * rate**2 + g * np.sin(phi))
        result.append([s, v, normal, along, plate.plate_inertia[2] * acceleration + normal * s])
    return np.array(result)
