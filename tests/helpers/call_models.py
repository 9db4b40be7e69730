"""Small models and parts of them that calls of public functions are given."""

import fem_mbs as fem

STEEL = {"E": 210e9, "nu": 0.3, "density": 7850.0}


def A():
    return fem.Node6(name="a")


def B():
    return fem.Node6([1, 0, 0], name="b")


def body(x=0.0, **options):
    return fem.RigidBody.sphere(1.0, 0.1, position=[x, 0, 0.5], **options)


def ground():
    return fem.Model().ground


def ends(z):
    rod = fem.RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), position=[0, 0, z])
    return rod.frame([-0.5, 0, 0]), rod.frame([0.5, 0, 0])


def hinge():
    return fem.Revolute.at(A(), B(), [0.5, 0, 0], [0, 0, 1])


def rail():
    return fem.Prismatic.at(A(), B(), [0.5, 0, 0], [1, 0, 0])


def bearing():
    return fem.BearingGeometry.from_designation("6205", clearance=0.0)


def small_bearing():
    """Of three balls: few elements to make."""
    return fem.BearingGeometry(balls=3, ball_diameter=8e-3, pitch_diameter=39e-3)


def ball_on_table():
    model = fem.Model("m", gravity=[0, 0, -9.81])
    model.add(fem.SphereOnPlane(model.add(body(name="ball")), model.ground, radius=0.1, restitution=0.5, name="table"))
    return model


def beam_model():
    model = fem.Model("cantilever")
    model.add(fem.beam_line(fem.Node6(fixed=True), fem.Node6([0.5, 0, 0]), 2, section()))
    return model


def pulled_beam():
    """The beam with its weight along its axis."""
    model = beam_model()
    model.gravity = [-9.81, 0, 0]
    return model


def section():
    return fem.Section.circle(5e-3, **STEEL)


_runs = {}


def run():
    """Results of a ball that falls on a table and bounces."""
    if not _runs:
        _runs["ball"] = fem.DecoupledNSGA().run(ball_on_table(), 0.4, 1e-3)
    return _runs["ball"]


LAW = {"restitution": 0.5, "friction": 0.3, "name": "c"}
FULL_LAW = {**LAW, "tangential_restitution": 0.1, "rolling_resistance": 0.01, "spinning_resistance": 0.01}
DISC = {**LAW, "radius_contensou": 0.01}
