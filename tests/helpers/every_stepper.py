"""Every time stepper with the options that generic tests run it with, and what they may ask of it."""

import functools

import pytest

from fem_mbs.solvers import STEPPERS

# options in addition to the defaults with which a method passes through here
VARIANTS = {
    "DecoupledNSGA": [{}, {"persistent_contacts": False}, {"impacts": "split"}],
    "MoreauJean": [{}, {"theta": 1.0}, {"projection": True}, {"theta": 1.0, "projection": True}],
    "ConeComplementarity": [{}, {"relaxed": False}, {"contact_solver": "problem"}],
    "LobattoIIIAB": [{}, {"stages": 2}],  # four stages: tests/validation/steppers/test_lobatto.py
    "NonsmoothGeneralizedAlphaGGL": [{}, {"coupling": "sequential"}, {"constraints": "velocities"}],
    "GeneralizedAlpha": [{}, {"formulation": "index 3"}],
}
METHODS = [STEPPERS[name](**options) for name in STEPPERS for options in VARIANTS.get(name, [{}])]
SMOOTH = {"GeneralizedAlpha"}  # methods that do not support contacts
# orders in positions of smooth motion that are not 2
ORDER = {"MoreauJean theta=1.0": 1, "ConeComplementarity": 1, "LobattoIIIAB": 4}
# methods, and variants of them, that do not support contact groups
WITHOUT_GROUPS = (
    "LobattoIIIAB", "LobattoIIIAB stages=2", "NonsmoothGeneralizedAlphaGGL",
    "NonsmoothGeneralizedAlphaGGL coupling=sequential", "NonsmoothGeneralizedAlphaGGL constraints=velocities",
    "NonsmoothGeneralizedAlphaFriction", "GeneralizedAlpha",
    "GeneralizedAlpha formulation=index 3", "DecoupledNSGA impacts=split",
)  # fmt: skip

# one of each method that takes impacts of points without mass, with damping where there is some
OF_SURFACES = [
    STEPPERS[name](**({"rho_inf": 0.8} if "Alpha" in name or name == "DecoupledNSGA" else {}))
    for name in (
        "DecoupledNSGA", "MoreauJean", "NonsmoothGeneralizedAlphaGGL", "NonsmoothGeneralizedAlphaFriction",
        "ConeComplementarity",
    )
]  # fmt: skip


CONE = STEPPERS["ConeComplementarity"]


@functools.cache
def defaults(kind):
    return vars(kind())


def label(method):
    options = [f"{k}={v}" for k, v in vars(method).items() if v != defaults(type(method)).get(k)]
    return " ".join([type(method).__name__, *options])


def order_of(method):
    name = type(method).__name__ if isinstance(method, CONE) else label(method)
    return ORDER.get(name.replace(" projection=True", ""), 2)


def drifts(method):
    return method.follows


def holds_velocities(method):
    return label(method) != "GeneralizedAlpha formulation=index 3"


every_method = pytest.mark.parametrize("method", METHODS, ids=label)
WITH_CONTACTS = [method for method in METHODS if type(method).__name__ not in SMOOTH]
every_method_with_contacts = pytest.mark.parametrize("method", WITH_CONTACTS, ids=label)
