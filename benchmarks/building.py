"""Models built in a loop, one call for each body and joint, as in a script: `python benchmarks/bench.py` measures it.

Processor time of building and of `compile()`. A body counts with its joint or spring.
"""

import time

import numpy as np

import fem_mbs as fem

GRAVITY = [0.0, 0.0, -9.81]  # m/s²
SIZES = (1000, 10_000)


def chain(links):
    """Boxes on hinges."""
    import chain as source

    return source.build(links)


def springs(bodies):
    """Spheres between springs along x."""
    model = fem.Model("springs", gravity=GRAVITY)
    before = model.ground
    for i in range(bodies):
        body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0.5 * (i + 1), 0, 0]))
        model.add(fem.Spring(before, body, stiffness=1e3, damping=1.0))
        before = body
    return model


def pile(spheres):
    """Spheres of a contact group on a grid above a plane, added one by one."""
    model, group = fem.Model("pile", gravity=GRAVITY), fem.ContactGroup(friction=0.3)
    across = int(np.ceil(spheres ** (1 / 3)))
    for i in range(spheres):
        place = [0.21 * (i % across), 0.21 * (i // across % across), 0.2 + 0.21 * (i // across**2)]
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=place)), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    return model


def rod(beams):
    """A line of three-node beams."""
    model, steel = fem.Model("rod", gravity=GRAVITY), fem.Section.circle(0.01, E=2.1e11, nu=0.3, density=7800)
    model.add(fem.beam_line(model.ground, [0.1 * beams, 0, 0], 2 * beams, steel))
    return model


MODELS = {f.__name__: f for f in (chain, springs, pile, rod)}


def measure(request):
    """Processor time [s] of building and of compiling a model."""
    build = MODELS[request["model"]]
    build(request["size"] // 10).compile()  # loads modules and compiled code
    begin = time.process_time()
    model = build(request["size"])
    built = time.process_time()
    model.compile()
    return {"build": built - begin, "compile": time.process_time() - built}
