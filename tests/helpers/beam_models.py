"""Cantilevers of the tests of beams, and the order that errors on successive meshes show.

``n`` counts intervals between nodes, so that equal n are equal unknowns. `TWO` is the two-node element with the
reference strain in its flexibility, for which its tables were made; the default is the three-node element.
"""

import numpy as np

from fem_mbs.elements.beams.line import beam_line
from fem_mbs.elements.beams.sections import Section
from fem_mbs.model import Model
from fem_mbs.nodes import Node6

TWO = {"poses": 2, "large_strain": False}
ROLL_UP = Section.general(EA=1e4, GA2=1e4, GA3=1e4, GJ=100, EI2=100, EI3=100)


def cantilever(n, section, length=1.0, **options):
    """Model, line of beams along x, tip node."""
    root, tip = Node6(fixed=True), Node6([length, 0, 0], name="tip")
    model = Model("cantilever")
    line = model.add(beam_line(root, tip, n, section, **options))
    return model, line, tip


def order(errors):
    """Observed order of convergence between the meshes n, 2n, 4n …"""
    return np.polyfit(np.arange(len(errors)), -np.log2(errors), 1)[0]
