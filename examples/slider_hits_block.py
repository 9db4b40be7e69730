"""Slider of a crank mechanism hits a free block twice: forces of impacts that pass through joints.

The crank turns freely after its start; its slider hits a block that comes towards it. Source: Sanchez2025 annex C,
section C.6.3 (after Machado et al.). Not printed: that the crank is free, the distance of the centres of slider and
block at touch (0.03 m here), centres of mass at mid-length.

    python examples/slider_hits_block.py            writes slider_hits_block.vtkhdf and slider_hits_block.png
"""

import fem_mbs as fem
from fem_mbs.runtime import output_path
from fem_mbs.shapes import Box, Sphere

crank_length, rod_length, radius, offset = 0.153, 0.306, 0.0085, 0.03  # m
start, speed, block_speed = 0.914, 150.0, -15.0  # m, rad/s, m/s: block, crank, block
stiffness, restitution = 9.5e9, 0.7  # N/m^1.5, -
MASSES = {"crank": 0.038, "rod": 0.076, "slider": 0.038, "block": 0.19}  # kg
INERTIAS = {"crank": 7.4e-5, "rod": 5.9e-5, "slider": 1.8e-6, "block": 2.7e-5}  # kg m², about the centre of mass


def build(compliant=None):
    """Mechanism along x, straight at the start; joints about z; gravity along −y.

    ``compliant``: options of a `CompliantContact` that takes the place of the contact.
    """
    model = fem.Model("slider hits block", gravity=[0, -9.8, 0])
    end, tip_speed, z, x = crank_length + rod_length, speed * crank_length, [0, 0, 1], [1, 0, 0]

    def body(name, at, velocity, turning, shape):
        return model.add(
            fem.RigidBody(
                MASSES[name], INERTIAS[name], position=[at, 0, 0], velocity=velocity, angular_velocity=[0, 0, turning],
                shape=shape, name=name,
            )
        )  # fmt: skip

    thin = [0.008, 0.008]
    crank = body("crank", crank_length / 2, [0, tip_speed / 2, 0], speed, Box([crank_length, *thin]))
    rod = body(
        "rod", crank_length + rod_length / 2, [0, tip_speed / 2, 0], -tip_speed / rod_length, Box([rod_length, *thin])
    )
    slider = body("slider", end, [0, 0, 0], 0, Box([0.03, 0.016, 0.016]))
    block = body("block", start, [block_speed, 0, 0], 0, Sphere(radius, offset=[2 * radius - offset, 0, 0]))
    model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], z, name="pivot"))
    model.add(fem.Cylindrical.at(crank, rod, [crank_length, 0, 0], z, name="pin"))
    # pivot and guide hold the mechanism in its plane: the pin does not repeat it, and the wrist holds the rod there
    model.add(fem.Spherical.at(rod, slider, [end, 0, 0], name="wrist"))
    model.add(fem.Prismatic.at(model.ground, slider, [end, 0, 0], x, name="guide"))
    model.add(fem.Prismatic.at(model.ground, block, [start, 0, 0], x, name="block guide"))
    # spherical noses: their centres are 2 r apart at touch, the bodies' nodes `offset`
    nose = slider.frame([0, 0, 0])
    face = block.frame([2 * radius - offset, 0, 0])
    contact = fem.SphereOnSphere(
        nose, face, radius_A=radius, radius_B=radius, restitution=restitution, name="slider and block"
    )
    model.add(contact if compliant is None else fem.CompliantContact(contact, stiffness=stiffness, **compliant))
    return model


def main(h=1e-4, save="slider_hits_block.vtkhdf", solver=None):
    solver = solver or fem.DecoupledNSGA.published(rho_inf=0.0, rtol=1e-5)
    result = solver.run(build(), t_end=0.1, h=h, save=save)
    recovered = fem.recover_forces(result, "slider and block", stiffness=stiffness, model="flores")
    recovered.print()
    recovered.plot(save=output_path(str(save).replace(".vtkhdf", ".png")))
    first, second = recovered.impacts[:2]
    return fem.Checks(
        # a resolved model of the mechanism with one degree of freedom gives 43.6 and 67.6 ms for this distance
        fem.Check("first impact [s]", reference=0.0438, obtained=first.time, rel=0.01),
        fem.Check("second impact [s]", reference=0.0672, obtained=second.time, rel=0.01),
        # three digits are printed; 2 % for the distance, which is not
        fem.Check("duration of the first [s]", reference=6.85e-5, obtained=first.duration, rel=0.02),
        fem.Check("duration of the second [s]", reference=7.5e-5, obtained=second.duration, rel=0.02),
    )


if __name__ == "__main__":
    main().print()
