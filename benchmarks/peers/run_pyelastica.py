"""The falling rod of the benchmarks in PyElastica: a Cosserat rod in explicit steps, as large as are stable."""

import elastica as ea
import numpy as np
import protocol


class Rods(ea.BaseSystemCollection, ea.Constraints, ea.Forcing):
    """What PyElastica calls a simulator: here without damping."""


def beam(request):
    """Rod of ``intervals`` elements, clamped at its first node, under gravity."""
    n, length, radius = request["intervals"], request["length"], request["radius"]
    rods = Rods()
    modulus, shear = request["E"], request["E"] / (2 * (1 + request["nu"]))
    rod = ea.CosseratRod.straight_rod(
        n, np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), length, radius, request["density"],
        youngs_modulus=modulus, shear_modulus=shear,
    )  # fmt: skip
    rods.append(rod)
    rods.constrain(rod).using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    rods.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array(request["gravity"], float))
    rods.finalize()
    h = request["courant"] * largest(length / n, radius, modulus, shear, request["density"])
    stepper, t = ea.PositionVerlet(), np.float64(0.0)
    whole = int(np.ceil(request["steps"] * request["h"] / h))
    h, count = request["steps"] * request["h"] / whole, min(whole, request.get("most", whole))
    t = stepper.step(rods, t, np.float64(1e-12)) - 1e-12  # compiles

    def steps():
        now = t
        for _ in range(count):
            now = stepper.step(rods, now, h)

    seconds = protocol.timed(steps)
    place = rod.position_collection[:, -1]
    if not np.isfinite(place).all() or np.abs(place).max() > 2 * length:
        raise RuntimeError("the rod is unstable")
    found = {"seconds": seconds, "steps": count, "simulated": count * h, "method": "position Verlet, explicit"}
    return {**found, "place": place.tolist()} if count == whole else found


def largest(element, radius, modulus, shear, density):
    """Limit of stability [s] of a straight rod: waves of tension, and those of shear, which turn sections."""
    tension = 2 * np.sqrt(modulus / density) / element
    turning = np.hypot(2 / element, 2 / radius) * np.sqrt(shear / density)
    return 2 / max(tension, turning)


def start(request):
    """Import and the first step: processor time since the process began."""
    import time

    found = beam({**request, "most": 1})
    return {**found, "seconds": time.process_time()}


if __name__ == "__main__":
    from importlib.metadata import version

    protocol.answer({"beam": beam, "start": start}, version("pyelastica"))
