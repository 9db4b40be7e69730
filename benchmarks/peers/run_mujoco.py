"""Models of the benchmarks in MuJoCo. Its joints are reduced coordinates, its contacts are soft."""

import mujoco
import numpy as np
import protocol

METHODS = {
    "implicitfast": (mujoco.mjtIntegrator.mjINT_IMPLICITFAST, "implicit in velocities"),
    "rk4": (mujoco.mjtIntegrator.mjINT_RK4, "Runge-Kutta of order 4"),
}


def empty(request, method="implicitfast"):
    """A model without bodies, with step and gravity of a request."""
    spec = mujoco.MjSpec()
    spec.option.timestep = request["h"]
    spec.option.gravity = request["gravity"]
    spec.option.integrator, words = METHODS[request.get("method", method)]
    return spec, words


def run(model, data, request, method, look=None):
    """Take the warm and the timed steps of a request; with ``look`` also what it gives, see `protocol`."""

    def take(count):
        for _ in range(count):
            mujoco.mj_step(model, data)

    take(request["warm"])
    seconds, seen = protocol.timed_with_looks(take, request["steps"], look or (lambda: None), 10 if look else 1)
    mujoco.mj_forward(model, data)
    if not np.isfinite(data.qpos).all() or any(warning.number for warning in data.warning):
        raise RuntimeError("the simulation is unstable")
    found = {"seconds": seconds, "steps": request["steps"], "simulated": request["steps"] * request["h"],
             "method": method}  # fmt: skip
    return (found, seen) if look else found


def box_of_planes(spec, half, friction):
    """Floor and four walls."""
    for place, axis in (((0, 0, 0), (0, 0, 1)), ((-half, 0, 0), (1, 0, 0)), ((half, 0, 0), (-1, 0, 0)),
                        ((0, -half, 0), (0, 1, 0)), ((0, half, 0), (0, -1, 0))):  # fmt: skip
        turned = np.zeros(4)
        mujoco.mju_quatZ2Vec(turned, np.array(axis, float))
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=place, quat=turned,
                                friction=[friction, 0, 0])  # fmt: skip


def pile(request):
    """A pile. Conjugate gradients on elliptic cones: of its solvers the fastest for piles (tried: all, both cones)."""
    spec, words = empty(request)
    spec.option.solver, spec.option.cone = mujoco.mjtSolver.mjSOL_CG, mujoco.mjtCone.mjCONE_ELLIPTIC
    box_of_planes(spec, request["half"], request["friction"])
    for place in request["places"]:
        body = spec.worldbody.add_body(pos=place)
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[request["radius"], 0, 0], density=request["density"],
                      friction=[request["friction"], 0, 0])  # fmt: skip
    model = spec.compile()
    data = mujoco.MjData(model)

    def look():
        return protocol.overlap(data.qpos.reshape(-1, 7)[:, :3].copy(), request["radius"], request["half"])

    found, seen = run(model, data, request, f"soft contacts, conjugate gradients, elliptic cones; {words}", look)
    return {**found, **protocol.pile_quality(seen, data.xpos[1:])}


def chain(request):
    """Links on hinges, one inside the other: reduced coordinates."""
    spec, words = empty(request)
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    length, parent, rates = request["length"], spec.worldbody, []
    before = 0.0
    for k, rate in enumerate(request["rates"]):
        parent = parent.add_body(pos=[0 if k == 0 else length, 0, 0])
        parent.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
        parent.mass, parent.ipos, parent.inertia = request["mass"], [0.5 * length, 0, 0], request["inertia"]
        parent.explicitinertial = True
        rates.append(rate - before)
        before = rate
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[:] = rates
    found = run(model, data, request, f"reduced coordinates; {words}")
    return {**found, "place": data.xipos[-1].tolist()}


def top(request):
    """The heavy top on a ball joint."""
    spec, words = empty(request, "rk4")
    body = spec.worldbody.add_body()
    body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    body.mass, body.ipos, body.inertia = request["mass"], request["arm"], request["inertia"]
    body.explicitinertial = True
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[:] = request["spin"]
    found = run(model, data, request, f"reduced coordinates; {words}")
    return {**found, "place": data.xipos[1].tolist()}


def ball(request):
    """A ball that slides and rolls on a plane."""
    spec, words = empty(request)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[request["friction"], 0, 0])
    body = spec.worldbody.add_body(pos=[0, 0, request["radius"]])
    body.add_freejoint()
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[request["radius"], 0, 0], friction=[request["friction"], 0, 0]
    )
    body.mass, body.ipos, body.inertia = request["mass"], [0, 0, 0], [request["inertia"]] * 3
    body.explicitinertial = True
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[:3] = request["velocity"]
    found = run(model, data, request, f"soft contact; {words}")
    return {**found, "speed": float(np.linalg.norm(data.qvel[:2])), "path": float(np.linalg.norm(data.qpos[:2]))}


def start(request):
    """Import and the first step of a small model: processor time since the process began."""
    import time

    found = chain({**request, "warm": 0, "steps": 1})
    return {**found, "seconds": time.process_time()}


if __name__ == "__main__":
    cases = {"pile": pile, "chain": chain, "top": top, "ball": ball, "start": start}
    protocol.answer(cases, mujoco.__version__)
