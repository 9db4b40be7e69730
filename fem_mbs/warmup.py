"""Compile before the first model runs what models call: for machines that are set up once and used many times.

Compiled code is kept (`fem_mbs.jit`), so that each kernel is compiled once per machine and version of its sources. A
model that is run compiles the kernels that it is the first to use. Here small models are run for that alone.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

import fem_mbs as fem
from fem_mbs.element.registry import library, make_example
from fem_mbs.errors import ParameterError
from fem_mbs.jit import bind, cache_root

H, STEPS = 1e-3, 3
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
    tell(f"compiled code is in {cache_root()}")


def _parts(everything: bool) -> Iterator[str]:
    """Compile one part after another; yields what each was."""
    fem.DecoupledNSGA().run(flexible_pendulum(), STEPS * H, H, progress=False)
    yield "DecoupledNSGA, Beam, RigidBody, Revolute, SphereOnPlane"
    fem.static_equilibrium(flexible_pendulum(contact=False, clamped=True, beams=LONG))
    yield "static_equilibrium, Fixed, the linear solver of larger models"
    if not everything:
        return
    for name in sorted(library()):
        element = make_example(name, np.random.default_rng(0))
        for kernel in element.kernels.values():
            bind(kernel, element.parameters, element.sizes)
        yield name
    for name, stepper in fem.solvers.STEPPERS.items():
        try:
            stepper().run(flexible_pendulum(), STEPS * H, H, progress=False)
        except ParameterError:  # it has no contacts
            stepper().run(flexible_pendulum(contact=False), STEPS * H, H, progress=False)
        yield name


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
