"""Sphere on a tilting plate: a drive rocks the plate, the sphere rolls on it without slipping.

The plane of the contact moves with a body. Reference values come from the equation of motion of the path s
along the plate.

    python examples/tilting_plate.py            writes tilting_plate.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Box, Sphere

plate_mass, plate_inertia = 2.0, np.array([0.2, 0.2, 0.3])  # kg, kg m²
mass, radius, inertia = 1.0, 0.2, 0.016  # kg, m, kg m²
start, friction, g = 0.3, 0.8, 9.81  # m along the plate, -, m/s²
amplitude, frequency = 0.15, 3.0  # rad, rad/s

# At t = 1 s: s [m], its rate [m/s], normal force [N], driving moment [N m]; all digits of the source
REFERENCE = {"s": -0.109127252, "rate": -0.863333385, "normal": 10.558123049, "moment": -1.209332555}


def angle(t):
    """Angle of the plate about z [rad]."""
    return amplitude * np.sin(frequency * t)


def build(offset=(0, 0, 0)):
    """Plate on a driven hinge at its centre, sphere at rest on it; offset (3,) [m] moves the node of the sphere."""
    model = fem.Model("tilting plate", gravity=[0, -g, 0])
    offset, spin = np.asarray(offset, float), np.array([0, 0, amplitude * frequency])
    plate = model.add(
        fem.RigidBody(
            plate_mass, plate_inertia, angular_velocity=spin, name="plate",
            shape=Box([1.0, 0.02, 0.6], offset=[0, -0.01, 0]),
        )
    )  # fmt: skip
    centre = np.array([start, radius, 0.0])
    sphere = model.add(
        fem.RigidBody(
            mass, inertia, position=centre + offset, center=-offset, velocity=np.cross(spin, centre + offset),
            angular_velocity=spin, shape=Sphere(radius, offset=-offset), name="sphere",
        )
    )  # fmt: skip
    hinge = model.add(fem.Revolute.at(model.ground, plate, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle, name="drive"))
    top = plate.frame(rotation=[-np.pi / 2, 0, 0])
    model.add(fem.SphereOnPlane(sphere.frame(-offset), top, radius=radius, friction=friction, name="contact"))
    return model


def path(result, offset=(0, 0, 0)):
    """Position s [m] along the plate and its rate [m/s]; a spin about z is the same in body and inertial axes."""
    R, w = result["plate"].rotation, result["plate"].angular_velocity
    arm = np.einsum("nij,j->ni", result["sphere"].rotation, -np.asarray(offset, float))
    position = result["sphere"].position + arm
    velocity = result["sphere"].velocity + np.cross(result["sphere"].angular_velocity, arm) - np.cross(w, position)
    return np.einsum("nj,nj->n", R[:, :, 0], position), np.einsum("nj,nj->n", R[:, :, 0], velocity)


def main(h=2.5e-3, save="tilting_plate.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA(rho_inf=0.8)
    result = solver.run(build(), t_end=1.0, h=h, save=save)
    s, rate = path(result)
    gap, force, moment = result["contact"].gap, result["contact"].force_normal, result["drive"].moment
    # largest errors within 1 s at 2.5 ms (two digits, values of this program), first order in h; 5 % for these digits
    order_1 = 1.05 * h / 2.5e-3
    return fem.Checks(
        fem.Check("path [m]", reference=REFERENCE["s"], obtained=s[-1], abs=8.4e-4 * order_1),
        fem.Check("rate [m/s]", reference=REFERENCE["rate"], obtained=rate[-1], abs=1.3e-3 * order_1),
        fem.Check("normal force [N]", reference=REFERENCE["normal"], obtained=force[-1], abs=2.7e-3 * order_1),
        fem.Check("driving moment [N m]", reference=REFERENCE["moment"], obtained=moment[-1], abs=8.9e-3 * order_1),
        fem.Check("largest |gap| [m]", reference=0, obtained=np.abs(gap).max(), abs=1e-12),  # round-off
    )


if __name__ == "__main__":
    main().print()
