"""Slider-crank whose crank pin runs in a ball bearing with much clearance (Sanchez2025, section 4.5; Yao et al. 2017).

The short link is driven with 50 rad/s, the long one moves a slider; both are aligned at the start. Links are rigid, or
beams; balls and races touch with impacts, or yield. The source prints 9100 N (rigid links) and 2500 N (beams) for the
largest force of a ball on the outer race.

What is not printed, and taken here: the inner race sits on the pin of the driven link, the outer race in the eye of the
coupler; the slider goes along x on the line of the pivot; no gravity; centres of mass are in the middle; ball 0 starts
on the line of the links; grooves are those with which 9100 N give the printed pressure.
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Box

short, long, speed = 0.11, 0.225, 50.0  # m, m, rad/s
rigid = {  # mass [kg], principal moments [kg m²]
    "crank": (1.0, [0.0028, 0.0006, 0.0033]),
    "coupler": (4.0, [0.0086, 0.0251, 0.0334]),
    "slider": (2.0, [0.0013, 0.0013, 0.0021]),
}
area = {"crank": 1.16e-3, "coupler": 1.13e-3}  # m², square sections: I = A²/12 is the printed one to 0.4 %
steel, beams = {"E": 210e9, "nu": 0.3, "density": 7850.0}, 4
inner_race, outer_race = (8e-3, 3.643e-6), (8e-3, 6.523e-6)  # kg, kg m²
bearing_data = {
    "balls": 8, "radius_ball": 5.5e-3, "radius_inner": 33.745e-3, "radius_outer": 45.15e-3, "ball_mass": 2.7e-3,
    "ball_inertia": 3.267e-8, "cage_stiffness": 1e5, "cage_damping": 1e3, "friction": 0.001, "restitution": 0.9,
}  # fmt: skip
GROOVE = 5.82e-3  # m: 9100 N on the inner race then give the printed 4.54 GPa
z = np.array([0.0, 0.0, 1.0])
PIVOT, PIN, END = np.zeros(3), np.array([short, 0, 0]), np.array([short + long, 0, 0])
TURN = -speed * short / long  # rad/s of the coupler at the start, whose end at the slider is at rest


def _link(model, name, start, end, spin, at_rest, flexible):
    """A link that turns with ``spin`` about the point ``at_rest``; returns its frames at both ends, axes inertial."""
    middle, length = 0.5 * (start + end), np.linalg.norm(end - start)
    if flexible:
        side = np.sqrt(area[name])
        line = model.add(
            fem.beam_line(start, end, beams, fem.Section.rectangle(side, side, **steel), orientation=z, name=name)
        )
        for node in line.nodes:
            node.velocity[:] = np.cross(spin * z, node.position - at_rest)
            node.angular_velocity[:] = spin * z
        return [node.frame_at(node.position) for node in (line.nodes[0], line.nodes[-1])]
    mass, inertia = rigid[name]
    body = model.add(
        fem.RigidBody(
            mass, inertia, position=middle, velocity=np.cross(spin * z, middle - at_rest), name=name,
            angular_velocity=spin * z, shape=Box([length, 0.03, 0.02]),
        )
    )  # fmt: skip
    return [body.frame_at(start), body.frame_at(end)]


def build(flexible=False, clearance=True, compliant=False):
    """Model and bearing (None: a hinge). ``compliant``: balls and races yield, by Hertz, with the law of Flores."""
    model = fem.Model("crank mechanism with a bearing")
    pivot, pin = _link(model, "crank", PIVOT, PIN, speed, PIVOT, flexible)
    eye, wrist = _link(model, "coupler", PIN, END, TURN, END, flexible)
    mass, inertia = rigid["slider"]
    slider = model.add(fem.RigidBody(mass, inertia, position=END, shape=Box([0.06, 0.05, 0.05]), name="slider"))
    for frame, (m, J), name in ((pin, inner_race, "inner race"), (eye, outer_race, "outer race")):
        model.add(fem.RigidBody(m, J, center=frame.p, node=frame.node, name=name))
    model.add(fem.Revolute(model.ground, pivot, name="pivot"))
    model.add(fem.RevoluteDriver(model.ground, pivot, lambda t: speed * t, name="motor"))
    model.add(fem.Revolute.at(wrist.node, slider, END, z, name="wrist"))
    model.add(fem.Prismatic.at(model.ground, slider, END, np.array([1.0, 0, 0]), name="guide"))
    if not clearance:
        model.add(fem.Revolute(pin, eye, name="pin"))
        return model, None
    bearing = fem.RigidBallBearing(eye, pin, **bearing_data, name="bearing")
    if not compliant:
        return model, model.add(bearing)
    model.add(bearing.bodies, bearing.springs)
    for race, contacts in (("inner", bearing.inner_contacts), ("outer", bearing.outer_contacts)):
        stiffness = bearing.hertz(race, radius_groove=GROOVE, E=steel["E"]).stiffness
        model.add([fem.CompliantContact(c, stiffness=stiffness, model="flores", simple_tangent=True) for c in contacts])
    return model, bearing


def run(flexible=False, clearance=True, compliant=False, t_end=0.6, h=1e-4):
    """Results of one mechanism; with compliant contacts in steps that follow the impacts."""
    model, bearing = build(flexible, clearance, compliant)
    if compliant:
        control = fem.StepControl(tolerance=1e-8, h_max=h)
        return fem.DecoupledNSGA(rho_inf=0.8, step_control=control).run(model, t_end=t_end, h=1e-6), bearing
    return fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=t_end, h=h), bearing


def ball_forces(result, bearing):
    """Forces of the balls on the outer race (k, Z) [N] of a run with compliant contacts."""
    return np.stack([result[c.name].force_normal for c in bearing.outer_contacts], axis=1)


def bending(result):
    """Rotation [rad] of the coupler's end at the slider relative to its end at the bearing."""
    first, last = (result[f"coupler node {i}"].rotation[:, :2, 0] for i in (0, beams))
    return np.arcsin(first[:, 0] * last[:, 1] - first[:, 1] * last[:, 0])
