"""Models of the benchmarks in Drake: discrete steps with its own contact solver, or continuous integration."""

import numpy as np
import protocol
from pydrake.all import (
    AddContactMaterial,
    AddMultibodyPlant,
    ApplySimulatorConfig,
    BallRpyJoint,
    CoulombFriction,
    DiagramBuilder,
    FixedOffsetFrame,
    HalfSpace,
    MultibodyPlantConfig,
    ProximityProperties,
    RevoluteJoint,
    RigidTransform,
    RotationalInertia,
    Simulator,
    SimulatorConfig,
    SpatialInertia,
    SpatialVelocity,
    Sphere,
    UnitInertia,
)  # fmt: skip


class Model:
    """A plant that grows, with the step of a request; step 0: continuous."""

    def __init__(self, request, discrete=True):
        self.request, self.builder = request, DiagramBuilder()
        self.discrete = discrete
        config = MultibodyPlantConfig(time_step=request["h"] if discrete else 0.0,
                                      discrete_contact_approximation="sap")  # fmt: skip
        self.plant, self.scene = AddMultibodyPlant(config, self.builder)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(request["gravity"], float))

    def material(self):
        """Nearly rigid, as is the default; a relaxation time of one step: no restitution."""
        properties = ProximityProperties()
        friction = self.request["friction"]
        AddContactMaterial(friction=CoulombFriction(friction, friction), properties=properties)
        properties.AddProperty("material", "relaxation_time", self.request["h"])
        return properties

    def sphere(self, name, inertia):
        """A free body with a sphere around its origin."""
        body = self.plant.AddRigidBody(name, inertia)
        self.plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(self.request["radius"]), name,
                                             self.material())  # fmt: skip
        return body

    def plane(self, place, normal):
        """A half-space of the world."""
        pose = HalfSpace.MakePose(np.array(normal, float), np.array(place, float))
        self.plant.RegisterCollisionGeometry(self.plant.world_body(), pose, HalfSpace(), f"plane {normal}",
                                             self.material())  # fmt: skip

    def simulator(self):
        """Simulator and context of the plant, to be filled."""
        self.plant.Finalize()
        simulator = Simulator(self.builder.Build())
        return simulator, self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())

    def run(self, simulator, words, look=None):
        """Take the warm and the timed steps; with ``look`` also what it gives, see `protocol`."""
        request = self.request
        if not self.discrete:
            config = SimulatorConfig(integration_scheme="runge_kutta3", max_step_size=request["h"],
                                     use_error_control=False)  # fmt: skip
            ApplySimulatorConfig(config, simulator)
        simulator.Initialize()
        done = 0

        def take(count):
            nonlocal done
            done += count
            simulator.AdvanceTo(done * request["h"])

        take(request["warm"])
        seconds, seen = protocol.timed_with_looks(take, request["steps"], look or (lambda: None), 10 if look else 1)
        found = {"seconds": seconds, "steps": request["steps"], "simulated": request["steps"] * request["h"],
                 "method": words}  # fmt: skip
        return (found, seen) if look else found


def pile(request):
    """Spheres in a box."""
    model, radius, half = Model(request), request["radius"], request["half"]
    mass = request["density"] * 4 / 3 * np.pi * radius**3
    inertia = SpatialInertia(mass, np.zeros(3), UnitInertia.SolidSphere(radius))
    bodies = [model.sphere(f"sphere {k}", inertia) for k in range(len(request["places"]))]
    for place, normal in (((0, 0, 0), (0, 0, 1)), ((-half, 0, 0), (1, 0, 0)), ((half, 0, 0), (-1, 0, 0)),
                          ((0, -half, 0), (0, 1, 0)), ((0, half, 0), (0, -1, 0))):  # fmt: skip
        model.plane(place, normal)
    simulator, context = model.simulator()
    for body, place in zip(bodies, request["places"]):
        model.plant.SetFreeBodyPose(context, body, RigidTransform(np.array(place)))

    def places():
        return np.array([model.plant.EvalBodyPoseInWorld(context, body).translation() for body in bodies])

    found, seen = model.run(simulator, "SAP, discrete", lambda: protocol.overlap(places(), radius, half))
    return {**found, **protocol.pile_quality(seen, places())}


def chain(request):
    """Links on hinges, reduced coordinates; method "discrete" or "runge_kutta3"."""
    discrete = request.get("method", "runge_kutta3") == "discrete"
    model, length, before = Model(request, discrete), request["length"], 0.0
    plant, parent = model.plant, model.plant.world_body()
    center = np.array([0.5 * length, 0, 0])
    turning = RotationalInertia(*request["inertia"])
    inertia = SpatialInertia.MakeFromCentralInertia(request["mass"], center, turning)
    joints = []
    for k in range(len(request["rates"])):
        body = plant.AddRigidBody(f"link {k}", inertia)
        at = RigidTransform([0.0 if k == 0 else length, 0, 0])
        end = plant.AddFrame(FixedOffsetFrame(f"end {k}", parent.body_frame(), at))
        joints.append(plant.AddJoint(RevoluteJoint(f"hinge {k}", end, body.body_frame(), [0, 1, 0])))
        parent = body
    simulator, context = model.simulator()
    for joint, rate in zip(joints, request["rates"]):
        joint.set_angular_rate(context, rate - before)
        before = rate
    words = "discrete, SAP" if discrete else "continuous, Runge-Kutta of order 3"
    found = model.run(simulator, f"reduced coordinates; {words}")
    place = plant.EvalBodyPoseInWorld(context, parent) @ center
    return {**found, "place": place.tolist()}


def top(request):
    """The heavy top, a free floating base would drift: it turns on a quaternion of a body that a ball joint holds."""
    model = Model(request, discrete=False)
    plant, arm = model.plant, np.array(request["arm"], float)
    inertia = SpatialInertia.MakeFromCentralInertia(request["mass"], arm, RotationalInertia(*request["inertia"]))
    body = plant.AddRigidBody("top", inertia)
    joint = plant.AddJoint(BallRpyJoint("tip", plant.world_body().body_frame(), body.body_frame()))
    simulator, context = model.simulator()
    joint.set_angular_velocity(context, np.array(request["spin"], float))
    found = model.run(simulator, "reduced coordinates, roll-pitch-yaw; Runge-Kutta of order 3")
    return {**found, "place": (plant.EvalBodyPoseInWorld(context, body) @ arm).tolist()}


def ball(request):
    """A ball that slides and rolls on a plane."""
    model = Model(request)
    turning = RotationalInertia(*[request["inertia"]] * 3)
    body = model.sphere("ball", SpatialInertia.MakeFromCentralInertia(request["mass"], np.zeros(3), turning))
    model.plane((0, 0, 0), (0, 0, 1))
    simulator, context = model.simulator()
    model.plant.SetFreeBodyPose(context, body, RigidTransform([0, 0, request["radius"]]))
    velocity = SpatialVelocity(np.zeros(3), np.array(request["velocity"]))
    model.plant.SetFreeBodySpatialVelocity(context, body, velocity)
    found = model.run(simulator, "SAP, discrete")
    speed = model.plant.EvalBodySpatialVelocityInWorld(context, body).translational()[:2]
    place = model.plant.EvalBodyPoseInWorld(context, body).translation()[:2]
    return {**found, "speed": float(np.linalg.norm(speed)), "path": float(np.linalg.norm(place))}


def start(request):
    """Import and the first step of a small model: processor time since the process began."""
    import time

    found = chain({**request, "warm": 0, "steps": 1})
    return {**found, "seconds": time.process_time()}


if __name__ == "__main__":
    from importlib.metadata import version

    protocol.answer({"pile": pile, "chain": chain, "top": top, "ball": ball, "start": start}, version("drake"))
