"""Driven double pendulum: the first hinge follows 0.8 sin 3t, the second swings; what moment does the drive need?

The model is that of double_pendulum.py with a `RevoluteDriver` on joint 1. The reference comes
from minimal coordinates.

    python examples/driven_double_pendulum.py            writes driven_double_pendulum.vtkhdf, to open in ParaView
"""

import double_pendulum
import numpy as np

import fem_mbs as fem

amplitude, frequency = 0.8, 3.0  # rad, rad/s
node_1, node_2 = np.array([0.1, 0.2, -0.1]), np.array([0.0, 0.3, 0.2])  # m, away from the centres of mass


def angle(t):
    """Angle of joint 1 [rad]; its derivatives are found by the framework."""
    return amplitude * np.sin(frequency * t)


def build():
    """The double pendulum with nodes away from the centres of mass, joint 1 driven."""
    return double_pendulum.build(node_1, node_2, rate_1=amplitude * frequency, driven=angle)


def main(h=2.5e-3, save="driven_double_pendulum.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA(rho_inf=0.8)
    result = solver.run(build(), t_end=1.0, h=h, save=save)
    joint_1, joint_2, moment = result["joint 1"], result["joint 2"], result["driver"].moment
    # largest errors within 1 s at 2.5 ms (two digits, values of this program), second order in h; 5 % for these digits
    order_2 = 1.05 * (h / 2.5e-3) ** 2
    return fem.Checks(
        fem.Check("angle of joint 2 [rad]", reference=0.08393883, obtained=joint_2.angle[-1], abs=3.7e-5 * order_2),
        fem.Check("its rate [rad/s]", reference=-3.32190781, obtained=joint_2.rate[-1], abs=1.5e-4 * order_2),
        fem.Check("driving moment [N m]", reference=-38.760416, obtained=moment[-1], abs=1.1e-3 * order_2),
        # the position correction imposes it
        fem.Check("angle of joint 1 [rad]", reference=angle(1.0), obtained=joint_1.angle[-1], abs=1e-11),
    )


if __name__ == "__main__":
    main().print()
