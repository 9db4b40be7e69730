"""The element types that are known by name, each with a recipe for random valid elements.

The library registers its types when it is imported; a user's module may register more. The generic checks of
`fem_mbs.verify`, the command line and the tests take their types from here.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.nodes import Node6

REGISTRY: dict = {}  # type name -> (class, function that makes a random valid element)


def register(cls: type, example: Callable) -> type:
    """Make a type known by name and put it under the generic tests.

    Parameters
    ----------
    cls : Element subclass
    example : callable
        ``example(rng, node, …)`` returns a random valid element on the given nodes; the number of its arguments after
        ``rng`` is the number of nodes it needs.
    """
    REGISTRY[cls.__name__] = (cls, example)
    return cls


def library() -> dict:
    """`REGISTRY` with the types of `fem_mbs.elements` in it."""
    import fem_mbs

    if not fem_mbs.elements.__all__:  # its lazy name: this imports the library, which registers its types
        raise AssertionError("the library has no elements")
    return REGISTRY


def make_example(name: str, rng: np.random.Generator, nodes: list | None = None) -> Any:
    """A random valid element of a registered type, on random nodes unless they are given."""
    _, example = library()[name]
    count = len(inspect.signature(example).parameters) - 1
    if nodes is None:
        nodes = [Node6(rng.normal(size=3), rng.normal(size=3), name=f"node {i}") for i in range(count)]
    return example(rng, *nodes[:count])
