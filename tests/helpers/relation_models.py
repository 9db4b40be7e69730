"""Small models of all families of elements for tests of relations: in any units, at any pose, in any order.

A model is described once, in numbers of SI, by a function of a `Setting`, which says in which units, where and in which
order it is built:

    lengths × length, masses × mass, times × time;   x → length (R x + shift),  v → length/time (R v + boost)      (1)

Every function returns what tests need to know of its model, a `Facts`.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

import fem_mbs as fem

UNITS = {  # exponents of kg, m, s
    "kg": (1, 0, 0), "m": (0, 1, 0), "s": (0, 0, 1), "m/s": (0, 1, -1), "1/s": (0, 0, -1), "m/s2": (0, 1, -2),
    "N": (1, 1, -2), "Nm": (1, 2, -2), "N/m": (1, 0, -2), "Ns/m": (1, 0, -1), "Nms": (1, 2, -1), "Pa": (1, -1, -2),
    "Nm/s": (1, 2, -3), "kg/m3": (1, -3, 0), "kgm2": (1, 2, 0), "N/m1.5": (1, -0.5, -2),
}  # fmt: skip
G = 9.81


def rotation(vector):
    """Rotation matrix of a rotation vector."""
    vector = np.asarray(vector, float)
    angle = np.linalg.norm(vector)
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@dataclass
class Facts:
    """What tests need to know of a model: step and end in s, names of bodies and joints, what it conserves."""

    t_end: float
    h: float
    bodies: tuple = ()
    joints: tuple = ()
    contacts: tuple = ()
    conservative: bool = False  # neither friction, damping nor impacts
    elastic: bool = False  # impacts without loss
    free: dict = field(default_factory=dict)  # name -> (mass, moment of inertia) of spheres in free flight
    group: bool = False
    swaps: bool = False  # some elements take their two frames in either order


@dataclass
class Setting:
    """Units (1), pose, order of elements and of frames of a model."""

    turn: np.ndarray = field(default_factory=lambda: np.eye(3))
    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0
    shift: np.ndarray = field(default_factory=lambda: np.zeros(3))
    boost: np.ndarray = field(default_factory=lambda: np.zeros(3))
    order: int | None = None  # seed of a permutation of the elements
    swapped: bool = False

    def __post_init__(self):
        self.parts = []
        self.model = fem.Model("relations", gravity=self.unit("m/s2") * self.direction([0, 0, -G]))
        self.ground = self.model.ground

    def unit(self, name):
        """Factor of a quantity with a unit of `UNITS`."""
        kg, m, s = UNITS[name]
        return self.mass**kg * self.length**m * self.time**s

    def direction(self, vector):
        return self.turn @ np.asarray(vector, float)

    def point(self, p):
        return self.length * (self.direction(p) + self.shift)

    def velocity(self, v):
        return self.unit("m/s") * (self.direction(v) + self.boost)

    def spin(self, w):
        return self.direction(w) * self.unit("1/s")

    def axes(self, vector=(0, 0, 0)):
        """Rotation matrix of a frame that is turned by a rotation vector, or by a matrix."""
        vector = np.asarray(vector, float)
        return self.turn @ (rotation(vector) if vector.ndim == 1 else vector)

    def fixed_frame(self, p, axes=(0, 0, 0)):
        return self.ground.frame(self.point(p), self.axes(axes))

    def plane(self, p=(0, 0, 0), tilt=(0, 0, 0)):
        return self.fixed_frame(p, tilt)

    def add(self, *parts):
        self.parts += parts
        return parts[0]

    def box(self, name, mass, size, at, v=(0, 0, 0), w=(0, 0, 0), turned=(0, 0, 0)):
        size = [side * self.length for side in size]
        return self.add(fem.RigidBody.box(mass * self.mass, size, **self._start(at, v, w, turned), name=name))

    def sphere(self, name, mass, radius, at, v=(0, 0, 0), w=(0, 0, 0)):
        start = self._start(at, v, w, (0, 0, 0))
        return self.add(fem.RigidBody.sphere(mass * self.mass, radius * self.length, **start, name=name))

    def cylinder(self, name, mass, radius, length, at, v=(0, 0, 0), w=(0, 0, 0), turned=(0, 0, 0)):
        size = radius * self.length, length * self.length
        return self.add(fem.RigidBody.cylinder(mass * self.mass, *size, **self._start(at, v, w, turned), name=name))

    def _start(self, at, v, w, turned):
        return {
            "position": self.point(at), "velocity": self.velocity(v), "angular_velocity": self.spin(w),
            "rotation": self.axes(turned),
        }  # fmt: skip

    def hinge(self, a, b, at, axis=(0, 1, 0), **options):
        return self.add(fem.Revolute.at(a, b, self.point(at), self.direction(axis), **options))

    def pair(self, a, b):
        """Two frames in the order of the setting."""
        return (b, a) if self.swapped else (a, b)

    def finish(self):
        """The model, with its elements in the order of the setting."""
        parts = self.parts
        if self.order is not None:
            parts = [parts[i] for i in np.random.default_rng(self.order).permutation(len(parts))]
        self.model.add(*parts)
        return self.model


# --- smooth motion ----------------------------------------------------------------------------------------------------


def heavy_top(s):
    w = [1, 2, 20.0]
    top = s.box("top", 2.0, [0.1, 0.2, 0.4], [0, 0, 0.5], v=np.cross(w, [0, 0, 0.5]), w=w)
    s.add(fem.Spherical(s.fixed_frame([0, 0, 0]), top.frame_at(s.point([0, 0, 0])), name="pivot"))
    return Facts(0.3, 1e-3, ("top",), conservative=True)


def double_pendulum(s):
    a = s.box("a", 1.0, [0.5, 0.05, 0.05], [0.25, 0, 0])
    b = s.box("b", 0.7, [0.4, 0.05, 0.05], [0.7, 0, 0])
    s.hinge(s.ground, a, [0, 0, 0], name="hip")
    s.hinge(*s.pair(a, b), [0.5, 0, 0], np.array([0, 1, 0.3]) / np.sqrt(1.09), name="knee")
    ends = a.frame_at(s.point([0.25, 0, 0])), b.frame_at(s.point([0.8, 0, 0.1]))
    s.add(fem.Spring(*s.pair(*ends), 60.0 * s.unit("N/m"), name="spring"))
    at = [0.2, 0.1, 0.1]
    stiffness = [30.0 * s.unit("N/m")] * 3 + [s.unit("Nm")] * 3
    s.add(fem.Bushing(*s.pair(s.fixed_frame(at), a.frame_at(s.point(at), s.axes())), stiffness, name="bushing"))
    return Facts(0.5, 2e-3, ("a", "b"), ("hip", "knee"), conservative=True, swaps=True)


def beams(s, two_nodes=False):
    section = fem.Section.rectangle(
        0.02 * s.length, 0.01 * s.length, E=2e8 * s.unit("Pa"), nu=0.3, density=1200.0 * s.unit("kg/m3")
    )
    axis = s.direction([0, 1, 0])
    if two_nodes:
        nodes = [fem.Node6(s.point([x, 0, 0]), s.axes()) for x in np.linspace(0, 0.8, 5)]
        for a, b in pairwise(nodes):
            s.add(fem.TwoNodeBeam(a, b, section, orientation=axis))
    else:
        line = s.add(fem.beam_line(s.point([0, 0, 0]), s.point([0.8, 0, 0]), 4, section, orientation=axis))
        nodes = line.nodes
    inertia = [1e-3 * s.unit("kgm2")] * 3
    s.add(fem.RigidBody(0.3 * s.mass, inertia, node=nodes[-1], name="bob"))
    s.hinge(s.ground, nodes[0], [0, 0, 0], np.array([0, 1, 0.2]) / np.sqrt(1.04), name="hinge")
    return Facts(0.2, 2e-3, ("bob",), ("hinge",), conservative=True)


def two_node_beams(s):
    return beams(s, two_nodes=True)


def gears(s):
    wheels = [
        s.cylinder("a", 1.0, 0.1, 0.04, [0, 0, 0], w=[0, 0, 6]),
        s.cylinder("b", 2.0, 0.2, 0.04, [0.3, 0, 0], w=[0, 0, -3]),
        s.cylinder("c", 1.0, 0.1, 0.04, [0.3, 0.5, 0]),
    ]
    stiffness, at = [0.5, None, 0.3], [[0, 0, 0], [0.3, 0, 0], [0.3, 0.5, 0]]
    joints = [
        s.hinge(s.ground, wheels[i], at[i], [0, 0, 1], name=f"axle {i}",
                **({"stiffness": stiffness[i] * s.unit("Nm")} if stiffness[i] else {}))
        for i in range(3)
    ]  # fmt: skip
    s.add(fem.GearPair(joints[0], joints[1], teeth=[20, 40], module=0.01 * s.length, name="gears"))
    belt = {"stiffness": 1000.0 * s.unit("N/m"), "pretension": 50.0 * s.unit("N")}
    radii = [0.1 * s.length, 0.05 * s.length]
    s.add(fem.Belt(wheels[1].frame(), wheels[2].frame(), radii=radii, **belt, name="belt"))
    return Facts(0.4, 1e-3, ("a", "b", "c"), tuple(j.name for j in joints), conservative=True)


def rolling_disc(s):
    turned, centre = rotation([np.pi / 2 + 0.1, 0, 0]), np.array([0, 0, 0.2 * np.cos(0.1)])
    axis = turned[:, 2]
    down = np.array([0, 0, -1.0]) + axis * axis[2]
    w = 8 * axis
    v = np.cross(w, -0.2 * down / np.linalg.norm(down))
    disc = s.cylinder("disc", 1.0, 0.2, 0.02, centre, v, w, turned)
    s.add(fem.RollingDisc(s.plane(), disc.frame(), radius=0.2 * s.length, name="rolling"))
    return Facts(0.3, 1e-3, ("disc",), conservative=True)


def cable_and_drum(s):
    a, b = s.sphere("a", 2.0, 0.05, [0.2, 0, -0.6]), s.sphere("b", 2.2, 0.05, [-0.1, 0, -0.6])
    drum = s.fixed_frame([0, 0, 0], [np.pi / 2, 0, 0]), 0.1 * s.length
    s.add(fem.ElasticCable([a, drum, b], stiffness=2000.0 * s.unit("N/m"), name="rope"))
    return Facts(0.3, 1e-3, ("a", "b"), conservative=True)


def shell(s):
    mesh = fem.panel_mesh([0.4 * s.length, 0.1 * s.length], [4, 1])
    material = fem.SolidMaterial(1e8 * s.unit("Pa"), 0.3, 1200.0 * s.unit("kg/m3"))
    options = {"position": s.point([0, 0, 0]), "rotation": s.axes(), "name": "panel"}
    panel = s.add(fem.ShellBody(mesh, fem.ShellSection(material, 0.01 * s.length), **options))
    hub = s.box("hub", 0.5, [0.05, 0.1, 0.05], [0, 0.05, 0])
    for node in panel.nodes_of("x0"):
        s.add(fem.Fixed(hub.frame_at(node.position), node))
    s.hinge(s.ground, hub, [0, 0.05, 0], name="hinge")
    return Facts(0.06, 1e-3, ("hub",), ("hinge",), conservative=True)


def superelement(s):
    mesh = fem.block_mesh([0.4 * s.length, 0.04 * s.length, 0.04 * s.length], [4, 1, 1], cell="hexahedron")
    middle = [0.02 * s.length] * 2
    ends = {"A": ("x0", [0, *middle]), "B": ("x1", [0.4 * s.length, *middle])}
    material = fem.SolidMaterial(5e7 * s.unit("Pa"), 0.3, 1000.0 * s.unit("kg/m3"))
    reduction = fem.reduce_mesh(mesh, material, ends, modes=4, name="reduction")
    part = s.add(fem.Superelement(reduction, position=s.point([0, 0, 0]), rotation=s.axes(), name="part"))
    s.hinge(s.ground, part.frame("A"), [0, 0.02, 0.02], name="hinge")
    bob = s.sphere("bob", 0.3, 0.03, [0.4, 0.02, 0.02])
    s.add(fem.Fixed(part.frame("B"), bob.frame_at(s.point([0.4, 0.02, 0.02]))))
    return Facts(0.15, 1e-3, ("bob",), ("hinge",))


# --- contacts and impacts ---------------------------------------------------------------------------------------------


def ball_on_a_slope(s):
    ball = s.sphere("ball", 0.5, 0.1, [0, 0, 0.3], [1, 0.3, -1], [3, 10, -7])
    law = {"restitution": 0.6, "friction": 0.3}
    s.add(fem.SphereOnPlane(ball, s.plane(tilt=[-0.1, 0, 0]), radius=0.1 * s.length, **law, name="slope"))
    return Facts(0.6, 1e-3, ("ball",), contacts=("slope",))


def billiard(s, restitution=0.8, friction=0.2):
    balls = [
        s.sphere(f"ball {i}", 0.2 + 0.1 * i, 0.1, [0.25 * i, 0.02 * i, 0.01 * i],
                 [3 - 3 * (i > 0), 0.1 * i, 0], [5 * i, 2, 20])
        for i in range(4)
    ]  # fmt: skip
    contacts = []
    for i in range(4):
        for j in range(i + 1, 4):
            radii = {"radius_A": 0.1 * s.length, "radius_B": 0.1 * s.length}
            law = {"restitution": restitution, "friction": friction}
            pair = s.pair(balls[i], balls[j])
            contacts.append(s.add(fem.SphereOnSphere(*pair, **radii, **law, name=f"pair {i}{j}")))
    free = {ball.name: (0.2 + 0.1 * i, 0.4 * (0.2 + 0.1 * i) * 0.01) for i, ball in enumerate(balls)}
    names = tuple(contact.name for contact in contacts)
    return Facts(0.3, 1e-3, tuple(free), contacts=names, free=free, swaps=True)


def elastic_billiard(s):
    facts = billiard(s, 1.0, 0.0)
    facts.elastic = True
    return facts


def sliding_box(s):
    box = s.box("box", 1.0, [0.3, 0.2, 0.1], [0, 0, 0.10], [1.5, 0.2, 0], [0, 0, 2], [0.1, 0.05, 0.2])
    size = [0.3 * s.length, 0.2 * s.length, 0.1 * s.length]
    s.add(fem.BoxOnPlane(box, s.plane(), size=size, restitution=0.2, friction=0.4, name="floor"))
    return Facts(0.3, 1e-3, ("box",))


def arms_with_stops(s):
    a = s.box("a", 1.0, [0.5, 0.05, 0.05], [0.25, 0, 0])
    b = s.box("b", 0.7, [0.4, 0.05, 0.05], [0.7, 0, 0])
    friction = fem.DryFriction(0.2, radius=0.05 * s.length)
    springs = {"stiffness": 2.0 * s.unit("Nm"), "damping": 0.05 * s.unit("Nms")}
    s.hinge(s.ground, a, [0, 0, 0], name="hip", friction=friction, **springs)
    s.hinge(a, b, [0.5, 0, 0], name="knee", stops=fem.Stops(lower=-0.6, upper=0.5, restitution=0.4))
    return Facts(0.6, 1e-3, ("a", "b"), ("hip", "knee"))


def slider_crank(s):
    crank = s.box("crank", 0.5, [0.1, 0.02, 0.02], [0.05, 0, 0], [0, 0, -0.5], [0, 10, 0])
    rod = s.box("rod", 0.4, [0.3, 0.02, 0.02], [0.25, 0, 0], [0, 0, -0.5], [0, -10 / 3, 0])
    slider = s.box("slider", 0.8, [0.06, 0.06, 0.04], [0.4, 0, 0])
    s.hinge(s.ground, crank, [0, 0, 0], name="pivot")
    for name, a, b, x in (("pin", crank, rod, 0.1), ("wrist", rod, slider, 0.4)):
        s.add(fem.Spherical(a.frame_at(s.point([x, 0, 0])), b.frame_at(s.point([x, 0, 0])), name=name))
    friction = {"displacement": fem.DryFriction(0.15, length=0.1 * s.length)}
    axis = s.direction([1, 0, 0])
    s.add(fem.Cylindrical.at(s.ground, slider, s.point([0.4, 0, 0]), axis, name="guide", friction=friction))
    return Facts(0.2, 5e-4, ("crank", "rod", "slider"), ("pivot", "guide"))


def pin_with_clearance(s):
    arm = s.box("arm", 1.0, [0.4, 0.05, 0.05], [0.2, 0, 0])
    axes = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]).T
    pin, bore = arm.frame_at(s.point([0, 0, 0]), s.axes(axes)), s.fixed_frame([0, 0, 0], axes)
    size = {"radius": 0.01 * s.length, "clearance": 0.001 * s.length, "length": 0.04 * s.length}
    s.add(fem.JournalClearance(pin, bore, **size, restitution=0.3, friction=0.2, name="pin"))
    return Facts(0.15, 5e-4, ("arm",))


def grains_on_a_sprung_plate(s):
    group, rng = fem.ContactGroup(restitution=0.3, friction=0.4, name="grains"), np.random.default_rng(3)
    bodies = []
    for i in range(10):
        layer, k = divmod(i, 4)
        at = np.array([0.11 * (k // 2) - 0.055, 0.11 * (k % 2) - 0.055, 0.06 + 0.11 * layer])
        bodies.append(s.sphere(f"particle {i}", 0.1, 0.05, at + rng.uniform(-0.003, 0.003, 3), [0, 0, -0.5]))
        group.sphere(bodies[-1], 0.05 * s.length)
    plate = s.box("plate", 2.0, [0.8, 0.8, 0.04], [0, 0, -0.02])
    group.obstacle(fem.SphereOnBox, plate.frame(), size=[0.8 * s.length, 0.8 * s.length, 0.04 * s.length])
    s.add(fem.Prismatic.at(s.ground, plate, s.point([0, 0, -0.02]), s.direction([0, 0, 1]), name="guide"))
    spring = 2000.0 * s.unit("N/m"), 10.0 * s.unit("Ns/m")
    s.add(fem.Spring(s.fixed_frame([0, 0, -1]), plate.frame(), *spring, name="spring"))
    s.add(group)
    return Facts(0.12, 1e-3, tuple(b.name for b in [*bodies, plate]), ("guide",), group=True)


def controlled_arm_and_ball(s):
    inertia = np.array([1 / 12, 1e-2, 1 / 12]) * s.unit("kgm2")
    start = {"position": s.point([0, 0, 0]), "rotation": s.axes(), "center": [0, 0, -0.5 * s.length]}
    arm = s.add(fem.RigidBody(s.mass, inertia, **start, name="arm"))
    s.hinge(s.ground, arm, [0, 0, 0], name="hinge")
    angle = fem.Sensor(arm, "angle", axis=[0, 1, 0], relative_to=s.fixed_frame([0, 0, 0]), name="angle")
    gains = 20.0 * s.unit("Nm"), 20.0 * s.unit("Nm/s"), 3.0 * s.unit("Nms")
    times = {"period": 0.02 * s.time, "delay": 0.004 * s.time}
    pid = s.add(fem.PID(angle, *gains, set_point=-1.0, **times, name="controller"))
    s.add(fem.PointMoment(arm, [0, 1.0, 0], follower=True, signal=pid.output(), name="motor"))
    ball = s.sphere("ball", 0.2, 0.1, [1.2, 0, 0.3], [0.21, 0.1, -0.137], [1, 2, 3])
    law = {"restitution": 0.53, "friction": 0.2}
    s.add(fem.SphereOnPlane(ball, s.plane(), radius=0.1 * s.length, **law, name="floor"))
    return Facts(0.4, 2e-3, ("arm", "ball"), ("hinge",), contacts=("floor",))


def solid_on_a_floor(s):
    mesh = fem.block_mesh([0.2 * s.length, 0.1 * s.length, 0.1 * s.length], [3, 2, 2], cell="hexahedron")
    material = fem.SolidMaterial(1e6 * s.unit("Pa"), 0.3, 1000.0 * s.unit("kg/m3"))
    start = {"position": s.point([0, 0, 0.03]), "rotation": s.axes(), "velocity": s.velocity([0.3, 0, -1])}
    body = s.add(fem.SolidBody(mesh, material, **start, damping=1e-3 * s.time, name="block"))
    s.add(fem.SurfaceContacts(body, "z0", s.plane(), friction=0.3, name="floor"))
    return Facts(0.05, 1e-3)


def compliant_ball(s):
    ball = s.sphere("ball", 0.5, 0.1, [0, 0, 0.2], [0.5, 0, -1], [0, 3, 0])
    touch = fem.SphereOnPlane(ball, s.plane(), radius=0.1 * s.length, name="touch")
    law = {
        "stiffness": 1e6 * s.unit("N/m1.5"), "restitution": 0.7, "friction": 0.2, "slip_speed": 0.01 * s.unit("m/s"),
        "least_speed": 0.001 * s.unit("m/s"),
    }  # fmt: skip
    s.add(fem.CompliantContact(touch, **law, name="floor"))
    return Facts(0.25, 5e-4, ("ball",))


def lever_with_friction(s):
    """A slider at rest under dry friction that carries a ball, and one that slides to rest."""
    for k, speed in enumerate((0.0, 1.0)):
        slider = s.box(f"slider {k}", 1.0, [0.2, 0.2, 0.1], [k, 0, 0], [0.8 * speed, 0, 0.6 * speed])
        axis = s.direction([0.8, 0, 0.6])
        friction = {"displacement": fem.DryFriction(1.0, length=0.1 * s.length)}
        s.add(fem.Prismatic.at(s.ground, slider, s.point([k, 0, 0]), axis, name=f"guide {k}", friction=friction))
    return Facts(0.3, 1e-3, ("slider 0", "slider 1"), ("guide 0", "guide 1"))


SMOOTH = (
    heavy_top, double_pendulum, beams, two_node_beams, gears, rolling_disc, cable_and_drum, shell, superelement,
)  # fmt: skip
WITH_CONTACTS = (
    ball_on_a_slope, billiard, elastic_billiard, sliding_box, arms_with_stops, slider_crank, pin_with_clearance,
    grains_on_a_sprung_plate, controlled_arm_and_ball, solid_on_a_floor, compliant_ball, lever_with_friction,
)  # fmt: skip
MODELS = {model.__name__: model for model in SMOOTH + WITH_CONTACTS}
