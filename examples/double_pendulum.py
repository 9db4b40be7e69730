"""Spatial double pendulum: two rigid bodies with full inertia tensors on two skew hinges.

Joint 1 at the origin turns about y, joint 2 about (0.6, 0, 0.8) of body 1; both body frames have their origin at the
inboard joint and are parallel to the inertial frame at the start. The reference
comes from minimal coordinates, independent of constraints and of the scheme.

    python examples/double_pendulum.py            writes double_pendulum.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Cylinder, Sphere

mass_1, mass_2 = 2.0, 1.5  # kg
center_1, center_2 = np.array([0.5, 0.05, -0.03]), np.array([0.4, -0.04, 0.06])  # m, from the inboard joint
inertia_1 = np.array([[0.02, 0.003, -0.002], [0.003, 0.18, 0.004], [-0.002, 0.004, 0.19]])  # kg m², about the centre
inertia_2 = np.array([[0.01, -0.002, 0.001], [-0.002, 0.11, 0.003], [0.001, 0.003, 0.10]])
axis_1, axis_2 = np.array([0.0, 1.0, 0.0]), np.array([0.6, 0.0, 0.8])
joint_2 = np.array([1.0, 0.1, 0.05])  # m, on body 1
rate_1, rate_2 = 2.0, -3.0  # rad/s, relative, at the start
g = 9.81  # m/s²

# At t = 1 s: centres of mass [m], forces on the outboard bodies [N], energy [J]; all digits of the source
REFERENCE = {
    "centre 1": [-0.479685374, 0.05, 0.144228784],
    "centre 2": [-1.373601100, -0.016880509, 0.198077697],
    "force 1": [3.028313, 2.373336, 9.918860],
    "force 2": [3.317951, 2.373336, -3.296145],
}


def build(node_1=center_1, node_2=center_2, rate_1=rate_1, driven=None):
    """The pendulum with its nodes at given points (3,) [m] of the body frames, from the inboard joints.

    ``driven``, a function of time [rad], prescribes the angle of joint 1.
    """
    w_1 = rate_1 * axis_1
    w_2 = w_1 + rate_2 * axis_2
    velocity_2 = np.cross(w_1, joint_2)
    model = fem.Model("double pendulum", gravity=[0, 0, -g])
    body_1 = model.add(
        fem.RigidBody(
            mass_1, inertia_1, position=node_1, center=center_1 - node_1, name="body 1",
            velocity=np.cross(w_1, node_1), angular_velocity=w_1, shape=rod(-node_1, joint_2 - node_1),
        )
    )  # fmt: skip
    body_2 = model.add(
        fem.RigidBody(
            mass_2, inertia_2, position=joint_2 + node_2, center=center_2 - node_2, name="body 2",
            velocity=velocity_2 + np.cross(w_2, node_2), angular_velocity=w_2,
            shape=rod(-node_2, 2 * center_2 - node_2),
            allow_nonphysical=True,  # the data of the source miss the triangle inequality by 1.6 %
        )
    )  # fmt: skip
    hinge = model.add(fem.Revolute.at(model.ground, body_1, [0, 0, 0], axis_1, name="joint 1"))
    if driven is not None:
        model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, driven, name="driver"))
    model.add(fem.Revolute.at(body_1, body_2, joint_2, axis_2, name="joint 2"))
    return model


def rod(start, end):
    """Picture of a body between two points."""
    return [Cylinder(start, end, 0.03), Sphere(0.05, offset=end)]


def main(h=5e-3, save="double_pendulum.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA(rho_inf=0.8)
    result = solver.run(build(), t_end=1.0, h=h, save=save)
    obtained = {
        "centre 1": result["body 1"].position[-1],
        "centre 2": result["body 2"].position[-1],
        "force 1": result["joint 1"].force[-1],
        "force 2": result["joint 2"].force[-1],
    }
    error = {name: np.abs(obtained[name] - value).max() for name, value in REFERENCE.items()}
    centres, forces = max(error["centre 1"], error["centre 2"]), max(error["force 1"], error["force 2"])
    energy, violation = result.energy.total, result.violation
    # largest errors within 1 s at 5 ms, where they exceed those at its end: values of this program, second order in h
    order_2 = (h / 5e-3) ** 2
    return fem.Checks(
        fem.Check("error of the centres [m]", reference=0, obtained=centres, abs=2.53e-4 * order_2),
        fem.Check("error of the joint forces [N]", reference=0, obtained=forces, abs=2.26e-2 * order_2),
        fem.Check("energy [J]", reference=energy[0], obtained=energy[-1], abs=6.2e-3 * order_2),
        # each step solves them to round-off
        fem.Check("largest |g| [m]", reference=0, obtained=violation.position.max(), abs=1e-11),
        fem.Check("largest |dg/dt| [m/s]", reference=0, obtained=violation.velocity.max(), abs=1e-11),
    )


if __name__ == "__main__":
    main().print()
