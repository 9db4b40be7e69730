"""Small models of one body named rod, for tests of errors."""

import fem_mbs as fem


def falling(**options):
    """A body named rod, and its model."""
    model = fem.Model("m", gravity=[0, 0, -9.81])
    return model, model.add(fem.RigidBody(1.0, 1.0, name="rod", **options))


def with_node(*make, node=None):
    """A falling body next to a node, with elements made from (model, body, node)."""
    model, body = falling()
    node = fem.Node6([1, 0, 0], name="tip") if node is None else node
    model.add(node)
    for element in make:
        model.add(element(model, body, node))
    return model


def pinned(times=1, **options):
    model, body = falling(**options)
    for i in range(times):
        model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name=f"pin {i + 1}"))
    return model
