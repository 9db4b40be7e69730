"""Contacts of published bearings, and an elliptic one, as the tests of Hertz contact take them."""

from fem_mbs.hertz import HertzContact

STEEL = {"E": 210e9, "nu": 0.3}
ROUND_OFF = 1e-12  # some ten operations and one root search, each to 1e-15 or so


def thesis_bearing():
    """Ball and inner race of Sanchez2025, table 4.1; E = 200 GPa, not printed there, reproduces its stresses."""
    return HertzContact(0.00396875, (-0.00397875, 0.01277125), E=200e9, nu=0.3)


def race(inner):
    """Ball against a race of the bearing 6205: numbers of an independent program."""
    D, d_m, groove = 7.938e-3, 39.04e-3, 0.52 if inner else 0.53
    gamma = D / d_m
    radius = D / 2 * ((1 - gamma) / gamma if inner else -(1 + gamma) / gamma)
    return HertzContact(D / 2, (-groove * D, radius), E=206e9, nu=0.3)


def elliptic():
    """A contact whose ellipse is neither circle nor line, of two materials, and its force."""
    return HertzContact((0.04, 0.01), (-0.2, 0.03), E=(210e9, 70e9), nu=(0.3, 0.33)), 250.0
