"""Bodies with one coordinate that velocities alone fix, and contacts that load it."""

import numpy as np

import fem_mbs as fem

G, TOP = 9.81, 0.05  # m/s²; height [m] of the platform above the origin of the part
HINGE = [-0.3, 0, 0]  # m: a part that turns about y
CORNERS = [[x, y, z] for x in (-0.04, 0.04) for y in (-0.04, 0.04) for z in (-0.04, 0.04)]


def _part(model, **options):
    return model.add(fem.RigidBody.box(2.0, [0.2, 0.2, 0.1], name="part", **options))


def _slide(model, **options):
    part = _part(model)
    model.add(fem.Prismatic.at(model.ground, part, [0, 0, 0], [0, 0, 1], name="joint", **options))
    return part


def _hinge(model, **options):
    part = _part(model)
    model.add(fem.Revolute.at(model.ground, part, HINGE, [0, 1, 0], name="joint", **options))
    return part


def _cylindrical(model):
    part = _part(model)
    law = fem.DryFriction(1.0, preload=1e4)
    friction = {"displacement": law, "angle": law}
    model.add(fem.Cylindrical.at(model.ground, part, [0, 0, 0], [0, 0, 1], name="joint", friction=friction))
    return part


def _screw(model):
    part = _part(model)
    law = fem.DryFriction(1.0, preload=1e3)
    model.add(fem.Screw(model.ground.frame(), part.frame(), lead=0.05, friction=law, name="joint"))
    return part


def _knife_edge(model):
    part = _part(model, fixed=("x", "rx", "ry", "rz"))
    model.add(fem.KnifeEdge.at(model.ground, part, [0, 0, 0], axis=[0, 0, 1], name="joint"))
    return part


def _rolling_disc(model):
    """A disc with a vertical axis that rolls on a wall: nothing else carries it."""
    part = _part(model, fixed=("rx", "ry"))
    rolling = fem.RollingDisc.at(model.ground, part, [0, 0, 0], [0, 0, 1], radius=0.2, normal=[1, 0, 0], name="joint")
    model.add(rolling)
    return part


def _belt(model):
    """A belt to a fixed pulley."""
    part, turn = _hinge(model), fem.rotations.frame_with_axis([0, 1, 0])
    pulley = model.add(fem.RigidBody(1.0, 0.01, position=[-0.3, 0, -0.5], rotation=turn, fixed=True, name="pulley"))
    wheel = part.frame(HINGE, turn)
    belt = {"radii": (0.1, 0.1), "pretension": 1e4, "friction": 1.0, "wrap": np.pi}
    model.add(fem.IdealBelt(pulley.frame(), wheel, name="belt", **belt))
    return part


def _twice(model):
    """Two guides in parallel, one with a motor."""
    part = _slide(model, motor=fem.Motor(rate=0.0))
    model.add(fem.Prismatic.at(model.ground, part, [0, 0.1, 0], [0, 0, 1], name="guide"))
    return part


FIXED = {
    "slide, friction": lambda m: _slide(m, friction=fem.DryFriction(1.0, preload=1e4)),
    "slide, servo": lambda m: _slide(m, motor=fem.Motor(rate=0.0, limit=1e4)),
    "slide, motor": lambda m: _slide(m, motor=fem.Motor(rate=0.0)),
    "hinge, friction of its load": lambda m: _hinge(m, friction=fem.DryFriction((1.2, 1.0), radius=0.5, preload=2.0)),
    "hinge, servo": lambda m: _hinge(m, motor=fem.Motor(rate=0.0, limit=1e4)),
    "hinge, motor": lambda m: _hinge(m, motor=fem.Motor(rate=0.0)),
    "cylindrical joint, friction": _cylindrical,
    "screw, friction": _screw,
    "knife edge": _knife_edge,
    "rolling disc": _rolling_disc,
    "belt": _belt,
    "redundant guides, motor": _twice,
}


def _sphere(model, part):
    ball = model.add(fem.RigidBody.sphere(3.0, 0.05, position=[0, 0, TOP + 0.05], name="ball"))
    model.add(fem.SphereOnPlane(ball, part.frame([0, 0, TOP]), radius=0.05, friction=0.3, name="contact"))


def _bouncing_sphere(model, part):
    ball = model.add(fem.RigidBody.sphere(3.0, 0.05, position=[0, 0, TOP + 0.06], name="ball"))
    model.add(fem.SphereOnPlane(ball, part.frame([0, 0, TOP]), radius=0.05, restitution=0.7, name="contact"))


def _capsule(model, part):
    rod = model.add(fem.RigidBody.cylinder(3.0, 0.05, 0.1, axis=(1, 0, 0), position=[0, 0, TOP + 0.05], name="rod"))
    ends = rod.frame([-0.03, 0, 0]), rod.frame([0.03, 0, 0])
    model.add(fem.CapsuleOnPlane(ends, part.frame([0, 0, TOP]), radius=0.05, friction=0.3, name="contact"))


def _hull(model, part):
    box = model.add(fem.RigidBody.box(3.0, [0.08] * 3, position=[0, 0, TOP + 0.04], name="box"))
    model.add(fem.HullOnPlane(box, part.frame([0, 0, TOP]), points=CORNERS, friction=0.3, name="contact"))


def _cable(model, part):
    load = model.add(fem.RigidBody.sphere(3.0, 0.05, position=[0, 0, -1], name="load"))
    model.add(fem.Cable([part, load], name="contact"))


def _stop(model, part):
    box = model.add(fem.RigidBody.box(3.0, [0.1] * 3, position=[0, 0, 0.1], name="box"))
    model.add(fem.Prismatic.at(part, box, [0, 0, 0.1], [0, 0, 1], stops=fem.Stops(0.0, 1.0), name="inner"))


def _wheel(model, part):
    axis = fem.rotations.frame_with_axis([0, 1, 0])
    placed = {"position": [0, 0, TOP + 0.05], "rotation": axis, "fixed": ("x", "y", "rx", "ry")}
    wheel = model.add(fem.RigidBody(3.0, [0.002, 0.002, 0.004], name="wheel", **placed))
    model.add(fem.RingOnPlane(wheel, part.frame([0, 0, TOP]), radius=0.05, friction=0.3, name="contact"))


def _beam(model, part):
    section = fem.Section.circle(0.01, E=1e8, density=5000.0)
    rod = fem.beam_line([-0.1, 0, TOP + 0.01], [0.1, 0, TOP + 0.01], 2, section, name="rod")
    model.add(rod, fem.BeamSkin(rod, 0.01, plane=part.frame([0, 0, TOP]), friction=0.3, name="contact"))


def _solid(model, part):
    mesh = fem.block_mesh([0.1, 0.1, 0.05], [1, 1, 1], cell="hexahedron")
    body = fem.SolidBody(mesh, fem.SolidMaterial(1e6, 0.3, 3000.0), position=[-0.05, -0.05, TOP], name="solid")
    model.add(body, fem.SurfaceContacts(body, "z0", part.frame([0, 0, TOP]), friction=0.3, name="contact"))


def _group(model, part):
    group = fem.ContactGroup(friction=0.3, name="contact")
    for k, x in enumerate((-0.05, 0.05)):
        group.sphere(model.add(fem.RigidBody.sphere(1.5, 0.04, position=[x, 0, TOP + 0.04], name=f"ball {k}")), 0.04)
    group.obstacle(fem.SphereOnPlane, part.frame([0, 0, TOP]))
    model.add(group)


PRESSING = {
    "sphere": _sphere, "bouncing sphere": _bouncing_sphere, "capsule": _capsule, "hull": _hull, "cable": _cable,
    "stop": _stop, "wheel": _wheel, "beam skin": _beam, "solid": _solid, "contact group": _group,
}  # fmt: skip


def model_of(fixed, pressing):
    model = fem.Model(f"{fixed}, {pressing}", gravity=[0, 0, -G])
    PRESSING[pressing](model, FIXED[fixed](model))
    return model


def displacement(result):
    """Largest displacement [m], rotation [rad], and error of the integral of the velocity [m] of the part."""
    x, q, v = (getattr(result["part"], name) for name in ("position", "quaternion", "velocity"))
    h = np.diff(result.t)[:, None]
    path = np.vstack([np.zeros(3), np.cumsum(0.5 * h * (v[1:] + v[:-1]), axis=0)])
    moved, turned = np.abs(x - x[0]).max(), 2 * np.abs(q[:, 1:] - q[0, 1:]).max()
    return moved, turned, np.abs(path - (x - x[0])).max()
