"""Models of the benchmarks in Exudyn: redundant coordinates with joints, a kinematic tree, beams, penalty contacts."""

import itertools

import exudyn as exu
import numpy as np
import protocol
from exudyn.itemInterface import (
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyRigid,
    MarkerNodeRigid,
    NodeGenericODE2,
    NodeRigidBodyEP,
    ObjectBeamGeometricallyExact,
    ObjectGround,
    ObjectJointGeneric,
    ObjectKinematicTree,
)  # fmt: skip
from exudyn.rigidBodyUtilities import RigidBodyInertia

# name -> type of solver, explicit, in words
SOLVERS = {
    "generalized_alpha": (exu.DynamicSolverType.GeneralizedAlpha, "generalized-α, index 3, sparse"),
    "rk44": (exu.DynamicSolverType.RK44, "Runge-Kutta of order 4"),
    "verlet": (exu.DynamicSolverType.VelocityVerlet, "velocity Verlet"),
    "euler": (exu.DynamicSolverType.ExplicitEuler, "explicit Euler"),
}


def settings_of(request):
    """Settings that are quick here and as exact as ours: sparse, tolerances as `fem_mbs` has them."""
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.linearSolver.reuseAnalyzedPattern = True
    integration = settings.timeIntegration
    integration.generalizedAlpha.spectralRadius = request.get("rho_inf", 0.8)
    integration.newton.useModifiedNewton = request.get("modified", True)
    # with the default tolerance, 1e-8, chains of 1,000 links do not converge: round-off
    rtol = request.get("rtol", 1e-6)
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = rtol, 0.1 * rtol
    integration.explicit.computeEndOfStepAccelerations = False
    integration.adaptiveStep = False
    return settings


def run(mbs, request, solver, words, look=None):
    """Take the warm and the timed steps of a request; with ``look`` also what it gives, see `protocol`."""
    settings, (kind, name) = settings_of(request), SOLVERS[solver]
    h, done, counts = request["h"], 0, np.zeros(2)
    mbs.Assemble()

    def take(count):
        nonlocal done
        integration = settings.timeIntegration
        integration.startTime, integration.endTime = done * h, (done + count) * h
        integration.numberOfSteps = count
        done += count
        mbs.SolveDynamic(settings, kind, updateInitialValues=True, storeSolver=True, showHints=False)
        taken = mbs.sys["dynamicSolver"].it
        counts[:] += taken.newtonStepsCount, taken.newtonJacobiCount

    if request["warm"]:
        take(request["warm"])
        counts[:] = 0
    seconds, seen = protocol.timed_with_looks(take, request["steps"], look or (lambda: None), 10 if look else 1)
    found = {"seconds": seconds, "steps": request["steps"], "simulated": request["steps"] * h,
             "method": f"{words}, {name}"}  # fmt: skip
    if kind == exu.DynamicSolverType.GeneralizedAlpha:
        found |= {"iterations": counts[0] / request["steps"], "factorisations": counts[1] / request["steps"]}
    return (found, seen) if look else found


def rigid(mbs, mass, inertia, place, velocity, spin, gravity):
    """A body with a rotation vector that is updated as one."""
    return mbs.CreateRigidBody(
        inertia=RigidBodyInertia(mass=mass, inertiaTensor=np.diag(inertia)), referencePosition=place,
        initialVelocity=velocity, initialAngularVelocity=spin, gravity=gravity,
        nodeType=exu.NodeType.RotationRotationVector,
    )  # fmt: skip


def chain(request):
    """Links on hinges; method "generalized_alpha" with joints, or "rk44" with a kinematic tree."""
    method = request.get("method", "generalized_alpha")
    mbs = exu.SystemContainer().AddSystem()
    if method != "generalized_alpha":
        return _tree(mbs, request, method)
    length, before = request["length"], mbs.CreateGround()
    for k, (velocity, rate) in enumerate(zip(request["velocities"], request["rates"])):
        place = [length * (k + 0.5), 0, 0]
        link = rigid(mbs, request["mass"], request["inertia"], place, velocity, [0, rate, 0], request["gravity"])
        mbs.CreateRevoluteJoint(bodyNumbers=[before, link], position=[length * k, 0, 0], axis=[0, 1, 0])
        before = link
    found = run(mbs, request, method, "redundant coordinates")
    return {**found, "place": mbs.GetObjectOutputBody(before, exu.OutputVariableType.Position).tolist()}


def _tree(mbs, request, method):
    """The chain in reduced coordinates."""
    rates, length = np.array(request["rates"]), request["length"]
    n = len(rates)
    node = mbs.AddNode(
        NodeGenericODE2(
            numberOfODE2Coordinates=n, referenceCoordinates=[0.0] * n, initialCoordinates=[0.0] * n,
            initialCoordinates_t=np.diff(rates, prepend=0.0).tolist(),
        )
    )  # fmt: skip
    turned, inertias = exu.Matrix3DList(), exu.Matrix3DList()
    offsets, centers = exu.Vector3DList(), exu.Vector3DList()
    for k in range(n):
        turned.Append(np.eye(3))
        offsets.Append([0.0 if k == 0 else length, 0, 0])
        inertias.Append(np.diag(request["inertia"]))
        centers.Append([0.5 * length, 0, 0])
    mbs.AddObject(
        ObjectKinematicTree(
            nodeNumber=node, jointTypes=[exu.JointType.RevoluteY] * n, linkParents=list(range(-1, n - 1)),
            jointTransformations=turned, jointOffsets=offsets, linkInertiasCOM=inertias, linkCOMs=centers,
            linkMasses=[request["mass"]] * n, gravity=request["gravity"],
        )
    )  # fmt: skip
    found = run(mbs, request, method, "kinematic tree, reduced coordinates")
    angles = np.cumsum(mbs.GetNodeOutput(node, exu.OutputVariableType.Coordinates))
    ends = length * np.array([np.cos(angles), 0 * angles, -np.sin(angles)]).T
    return {**found, "place": (ends[:-1].sum(axis=0) + 0.5 * ends[-1]).tolist()}


def top(request):
    """The heavy top on a spherical joint."""
    mbs = exu.SystemContainer().AddSystem()
    spin, arm = request["spin"], request["arm"]
    body = rigid(mbs, request["mass"], request["inertia"], arm, np.cross(spin, arm), spin, request["gravity"])
    mbs.CreateSphericalJoint(bodyNumbers=[mbs.CreateGround(), body], position=[0, 0, 0])
    found = run(mbs, request, "generalized_alpha", "redundant coordinates")
    return {**found, "place": mbs.GetObjectOutputBody(body, exu.OutputVariableType.Position).tolist()}


def beam(request):
    """Clamped rod of geometrically exact beams of two nodes. With rotation vectors their iteration diverges."""
    mbs = exu.SystemContainer().AddSystem()
    n, length = request["intervals"], request["length"]
    area, second = np.pi * request["radius"] ** 2, np.pi / 4 * request["radius"] ** 4
    shear = request["E"] / (2 * (1 + request["nu"]))
    section = exu.BeamSection()
    GA = request["shear"] * shear * area
    section.stiffnessMatrix = np.diag([request["E"] * area, GA, GA, 2 * shear * second, *[request["E"] * second] * 2])
    section.massPerLength = request["density"] * area
    section.inertia = request["density"] * np.diag([2 * second, second, second])
    nodes = [
        mbs.AddNode(NodeRigidBodyEP(referenceCoordinates=[length * k / n, 0, 0, 1, 0, 0, 0])) for k in range(n + 1)
    ]
    for first, last in itertools.pairwise(nodes):
        element = ObjectBeamGeometricallyExact(nodeNumbers=[first, last], length=length / n, sectionData=section)
        number = mbs.AddObject(element)
        marker = mbs.AddMarker(MarkerBodyMass(bodyNumber=number))
        mbs.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=request["gravity"]))
    ground = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.AddObject(ObjectGround())))
    mbs.AddObject(ObjectJointGeneric(markerNumbers=[ground, mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[0]))]))
    found = run(mbs, request, "generalized_alpha", "geometrically exact beams of two nodes")
    return {**found, "place": mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position).tolist()}


def pile(request):
    """Spheres with penalty contacts, whose stiffness lets the weight of the pile press in what the request says."""
    mbs = exu.SystemContainer().AddSystem()
    radius, half, places = request["radius"], request["half"], np.array(request["places"])
    mass = request["density"] * 4 / 3 * np.pi * radius**3
    stiffness = request["stiffness"]
    # damping that is critical for two spheres in contact: no restitution
    damping = 2 * np.sqrt(stiffness * mass)
    contact = mbs.AddGeneralContact()
    contact.SetFrictionPairings(request["friction"] * np.eye(1))
    contact.frictionProportionalZone = 1e-2  # m/s
    high = places[:, 2].max() + 2 * radius
    cells = np.maximum(1, np.round(np.array([2 * half, 2 * half, high]) / (3 * radius))).astype(int)
    contact.SetSearchTreeCellSize(cells.tolist())
    contact.SetSearchTreeBox([-half - radius, -half - radius, -radius], [half + radius, half + radius, high])
    ground = mbs.AddMarker(MarkerBodyRigid(bodyNumber=mbs.CreateGround()))
    _walls(contact, ground, half, high, 2 * stiffness, damping)
    nodes = []
    for place in places:
        inertia = RigidBodyInertia(mass=mass, inertiaTensor=0.4 * mass * radius**2 * np.eye(3))
        made = mbs.CreateRigidBody(inertia=inertia, referencePosition=place.tolist(), gravity=request["gravity"],
                                   nodeType=exu.NodeType.RotationRotationVector, returnDict=True)  # fmt: skip
        nodes.append(made["nodeNumber"])
        marker = mbs.AddMarker(MarkerNodeRigid(nodeNumber=nodes[-1]))
        # stiffnesses of two partners are in series, dampings are parallel
        contact.AddSphereWithMarker(marker, radius=radius, contactStiffness=2 * stiffness,
                                    contactDamping=0.5 * damping, frictionMaterialIndex=0)  # fmt: skip
    part = request["substeps"]
    fine = {**request, "h": request["h"] / part, "steps": request["steps"] * part, "warm": request["warm"] * part}

    def centers():
        return np.array([mbs.GetNodeOutput(node, exu.OutputVariableType.Position) for node in nodes])

    words = f"penalty contacts, {part} steps in one"
    found, seen = run(mbs, fine, "euler", words, lambda: protocol.overlap(centers(), radius, half))
    return {**found, **protocol.pile_quality(seen, centers())}


def _walls(contact, marker, half, high, stiffness, damping):
    """Floor and walls as triangles, normals to the inside."""
    c = {(i, j, k): [i * half, j * half, k * 2 * high] for i in (-1, 1) for j in (-1, 1) for k in (0, 1)}
    points = list(c.values())
    number = {name: i for i, name in enumerate(c)}
    faces = [
        ((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, 0, 1)),
        ((-1, -1, 0), (-1, 1, 0), (-1, 1, 1), (-1, -1, 1), (1, 0, 0)),
        ((1, -1, 0), (1, 1, 0), (1, 1, 1), (1, -1, 1), (-1, 0, 0)),
        ((-1, -1, 0), (1, -1, 0), (1, -1, 1), (-1, -1, 1), (0, 1, 0)),
        ((-1, 1, 0), (1, 1, 0), (1, 1, 1), (-1, 1, 1), (0, -1, 0)),
    ]
    triangles = []
    for *corners, normal in faces:
        for picked in ((0, 1, 2), (0, 2, 3)):
            a, b, d = (np.array(c[corners[i]]) for i in picked)
            order = picked if np.dot(np.cross(b - a, d - a), normal) > 0 else picked[::-1]
            triangles.append([number[corners[i]] for i in order])
    contact.AddTrianglesRigidBodyBased(
        rigidBodyMarkerIndex=marker, contactStiffness=stiffness, contactDamping=0.5 * damping,
        frictionMaterialIndex=0, pointList=points, triangleList=triangles, staticTriangles=True,
    )  # fmt: skip


def start(request):
    """Import and the first step of a small model: processor time since the process began."""
    import time

    found = chain({**request, "warm": 0, "steps": 1})
    return {**found, "seconds": time.process_time()}


if __name__ == "__main__":
    cases = {"chain": chain, "top": top, "beam": beam, "pile": pile, "start": start}
    protocol.answer(cases, exu.GetVersionString().split()[0])
