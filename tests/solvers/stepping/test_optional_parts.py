"""What only some models and options need is compiled for these alone: parts of others have no address."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.solvers.nsga.decoupled_nsga import PUBLISHED
from fem_mbs.warmup import flexible_pendulum


def parts_of(model, **options):
    """Which of the optional parts a run has."""
    engine = fem.DecoupledNSGA(**options).prepare(model.compile(), 1e-3)
    given = {
        name: engine.record_of(f"{name}_part")[f"{name}_part"] for name in ("closed", "restart", "work", "passage")
    }
    return {name for name, at in given.items() if at}


def pushed():
    """A ball with a load that changes in time."""
    model = fem.Model()
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball"))
    model.add(fem.PointForce(ball.frame(), lambda t: [np.sin(t), 0.0, 0.0], name="push"))
    return model


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, {"closed", "restart"}),
        (PUBLISHED, set()),
        (PUBLISHED | {"persistent_contacts": True}, {"closed", "restart"}),
        (PUBLISHED | {"impacts": "split"}, {"closed", "restart"}),
        (PUBLISHED | {"reset_after_impact": True}, {"restart"}),
    ],
)
def test_options_that_are_off_have_no_code(options, expected):
    assert parts_of(flexible_pendulum(), **options) == expected


def test_loads_bring_the_part_that_bounds_their_work():
    assert parts_of(pushed()) == {"work"}
