"""Compile before the first model runs what models call: for machines that are set up once and used many times.

Compiled code is kept (`fem_mbs.jit`), so that each kernel is compiled once per machine and version of its sources. A
model that is run compiles the kernels that it is the first to use. Here small models are run for that alone.
"""

import pkgutil
import time
from collections.abc import Callable, Iterator

import numpy as np

import fem_mbs as fem
from fem_mbs.compiled.code_folder import FOLDER
from fem_mbs.compiled.together import TOGETHER
from fem_mbs.element.registry import library, make_example
from fem_mbs.errors import ParameterError
from fem_mbs.jit import Entry, bind

H, STEPS = 1e-5, 3  # [s]: short enough for methods that are stable for short steps only
LONG = 40  # beams of a model whose matrices are sparse


def warm_up(everything: bool = False, tell: Callable[[str], None] = print) -> None:
    """Compile the default time stepper, statics and the parts of a flexible model with joints and contact.

    Parameters
    ----------
    everything : bool
        Also every other time stepper and type of element.
    tell : callable
        Is given a line about each part when it is ready.
    """
    begin = time.perf_counter()
    for what in _parts(everything):
        now = time.perf_counter()
        tell(f"{now - begin:7.1f} s  {what}")
        begin = now
    tell(f"compiled code is in {FOLDER.get()}")


def _parts(everything: bool) -> Iterator[str]:
    """Compile one part after another; yields what each was."""
    fem.DecoupledNSGA().run(flexible_pendulum(), STEPS * H, H, progress=False)
    yield "DecoupledNSGA, Beam, RigidBody, Revolute, SphereOnPlane"
    fem.static_equilibrium(flexible_pendulum(contact=False, clamped=True, beams=LONG))
    yield "static_equilibrium, Fixed, the linear solver of larger models"
    if not everything:
        return
    TOGETHER.get(programs_of_elements())
    yield f"{len(library())} types of elements"
    TOGETHER.get(programs_of_methods())
    yield "parts of all methods"
    for name, stepper in fem.solvers.STEPPERS.items():
        try:
            stepper().run(flexible_pendulum(), STEPS * H, H, progress=False)
        except ParameterError:  # it has no contacts
            stepper().run(flexible_pendulum(contact=False), STEPS * H, H, progress=False)
        yield name
    for stepper in (fem.DecoupledNSGA, fem.MoreauJean, fem.ConeComplementarity):
        for shapes in ("spheres", "boxes"):
            stepper().run(pile(shapes), STEPS * H, H, progress=False)
    yield "contact groups of spheres and of boxes"
    fem.DecoupledNSGA(contact_solver="problem").run(flexible_pendulum(), STEPS * H, H, progress=False)
    yield "contact problems"


def programs_of_elements() -> list[Entry]:
    """C functions of the kernels of all types of elements."""
    examples = [make_example(name, np.random.default_rng(0)) for name in sorted(library())]
    return [bind(kernel, e.parameters, e.sizes) for e in examples for kernel in e.kernels.values()]


def programs_of_methods() -> list[Entry]:
    """Parts of time steppers and other methods that are called by address: all that modules of the package have."""
    found: dict[Entry, None] = {}
    for module in pkgutil.walk_packages(fem.__path__, "fem_mbs."):
        if not module.name.startswith(("fem_mbs.examples", "fem_mbs.cases", "fem_mbs.__main__")):
            values = vars(pkgutil.resolve_name(module.name)).values()
            found |= dict.fromkeys(value for value in values if isinstance(value, Entry) and value.place)
    return list(found)


def flexible_pendulum(contact: bool = True, clamped: bool = False, beams: int = 2) -> fem.Model:
    """A rod of beams on a hinge, or clamped, with a ball at its end that touches a wall, or has none."""
    model = fem.Model("flexible pendulum", gravity=[0, 0, -9.81])
    section = fem.Section.circle(0.01, E=1e9, density=1200)
    rod = fem.beam_line([0, 0, 1], [1, 0, 1], beams, section, name="rod")
    ball = fem.RigidBody.sphere(0.5, 0.07, node=rod.nodes[-1], name="ball")
    model.add(rod, ball)
    if clamped:
        model.add(fem.Fixed.at(model.ground, rod.nodes[0], [0, 0, 1], name="clamp"))
    else:
        model.add(fem.Revolute.at(model.ground, rod.nodes[0], [0, 0, 1], axis=[0, 1, 0], name="hinge"))
    if contact:
        wall = model.ground.frame([1, 0, 1 - 0.07])
        model.add(fem.SphereOnPlane(ball, wall, radius=0.07, restitution=0.7, drawn_size=0.7, name="floor"))
    return model


def pile(shapes: str) -> fem.Model:
    """Four bodies in a column on a plane, in a contact group: "spheres" or "boxes"."""
    model = fem.Model("pile", gravity=[0, 0, -9.81])
    group = fem.ContactGroup(friction=0.3, name="all")
    for k in range(4):
        place = {"position": [0, 0, 0.05 + 0.1 * k], "name": f"body {k}"}
        if shapes == "spheres":
            group.sphere(model.add(fem.RigidBody.sphere(1, 0.05, **place)), 0.05)
        else:
            group.box(model.add(fem.RigidBody.box(1, [0.1, 0.1, 0.1], **place)), [0.1, 0.1, 0.1], 0.005)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model
