"""Products of methods and cases that the fast tests run in part; the slow tests run all of them."""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest


def in_turn(
    methods: Iterable[Any], *axes: Iterable[Any], first: Any = None, start: int = 0, once: bool = False
) -> list[Any]:
    """Parameters (method, value of each axis): each case with the first method and one other in turn; the rest is slow.

    ``first`` is the method that takes all cases if it is not the first of them, ``start`` the number of the other one
    of the first case: tests of a file that begin differently have all methods among them. ``once``: each case with one
    method only, all of them in turn.
    """
    methods = sorted(methods, key=lambda method: method != first) if first is not None else list(methods)
    found = []
    for numbers in itertools.product(*(range(len(list(axis))) for axis in axes)):
        case = [list(axis)[number] for axis, number in zip(axes, numbers)]
        turn = start + sum(numbers)  # not always with the same value of an axis
        often = {turn % len(methods)} if once else {0, 1 + turn % (len(methods) - 1)}
        for k, method in enumerate(methods):
            found.append(pytest.param(method, *case, marks=[] if k in often else [pytest.mark.slow]))
    return found
