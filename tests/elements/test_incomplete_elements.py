"""User-defined elements with missing members are named before anything is computed."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.elements import Constraint, Force
from fem_mbs.errors import ModelError
from fem_mbs.jit import kernel
from fem_mbs.verify import check_element


@kernel
def constraint(p, G):
    G[0, 5] -= p.ratio
    G[0, 11] += 1.0


@kernel
def hessian(p, H):
    pass


@kernel
def force(p, v_A, f):
    f[5] -= p.ratio * v_A[2]


def gear(role, sets_record=True, **attributes):
    """A gear between two bodies, as one instance of a class of its own."""

    def init(self, a, b):
        role.__init__(self, (a.node, b.node), name="gear")
        if sets_record:
            self.record = (2.0,)

    attributes = {"parameters": np.dtype([("ratio", "f8")]), "invariant": False, "__init__": init, **attributes}
    made = type(role)("Gear", (role,), attributes)
    return made(fem.RigidBody(1.0, 1.0, name="a"), fem.RigidBody(1.0, 1.0, position=[1, 0, 0], name="b"))


def told_size(nn):
    """A gear whose record has a number named nn."""

    def init(self, a, b):
        Constraint.__init__(self, (a.node, b.node), name="gear")
        self.record = (nn, 2.0)

    attributes = {"parameters": np.dtype([("nn", "i8"), ("ratio", "f8")]), "__init__": init}
    return gear(Constraint, rows=1, kernels=BOTH, **attributes)


BOTH = {"constraint": constraint, "hessian": hessian}
INCOMPLETE = {
    "no hessian": (lambda: gear(Constraint, rows=1, kernels={"constraint": constraint}), "no 'hessian'"),
    "no constraint": (lambda: gear(Constraint, rows=1, kernels={"hessian": hessian}), "needs a kernel 'constraint'"),
    "no rows": (lambda: gear(Constraint, kernels=BOTH), "rows = 0"),
    "no tangent": (lambda: gear(Force, kernels={"force": force}), "no 'force_tangent'"),
    "other size": (lambda: told_size(3), r"parameter 'nn' is 3, must be 2.*Name it otherwise"),
    "no record": (lambda: gear(Constraint, rows=1, kernels=BOTH, sets_record=False), "does not set `record`"),
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_what_an_element_misses_is_named(name):
    """The first and the fourth ended the process, the third and the last did nothing, in silence."""
    build, words = INCOMPLETE[name]
    element = build()
    model = fem.Model("gear")
    model.add(*(node.body for node in element.nodes), element)
    with pytest.raises(fem.ModelError, match=f"Gear 'gear': .*{words}"):
        model.compile()
    with pytest.raises(fem.ModelError, match=words):
        check_element(element)


def test_a_complete_one_is_taken():
    element = gear(Constraint, rows=1, velocity_rows=1, kernels=BOTH)
    model = fem.Model("gear")
    model.add(*(node.body for node in element.nodes), element)
    assert model.compile().m == 1


def test_friction_whose_law_asks_for_states_is_rejected():
    """They are what the run keeps of it, and not there when the law is evaluated."""

    @kernel
    def bound(p, state, bound):
        bound[0] += state[0]

    model = fem.Model("hinge")
    body = model.add(fem.RigidBody(1.0, 1.0, name="body"))
    hinge = model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="hinge"))
    kernels = {**fem.JointFriction.kernels, "friction_bound": bound}
    model.add(type("Own", (fem.JointFriction,), {"kernels": kernels})(hinge, 0.1, radius=0.1, name="own"))
    with pytest.raises(ModelError, match=r"own.*`output`"):
        model.compile()
