"""Slips with bodies of meshes that would go on with wrong numbers, if nobody said a word."""

import numpy as np
import pytest

import fem_mbs as fem

STEEL = fem.SolidMaterial(210e9, 0.3, 7850.0)
MESH = fem.block_mesh([0.4, 0.1, 0.1], [4, 1, 1], cell="hexahedron")


def body(name, **options):
    return fem.SolidBody(MESH, STEEL, name=name, **options)


def coupled(arm, model):
    ball = fem.RigidBody.sphere(1.0, 0.1, position=[0.4, 0.05, 0.05], name="ball")
    return [ball, fem.SurfaceCoupling(arm, "x1", ball, kind="rigid")]


def tied(arm, model):
    post = body("post", position=[0.4, 0, 0])
    post.fix("x1")
    return [post, fem.Tie(post, "x0", arm, "x1")]


def pressed(arm, model):
    arm.fix("x1")
    return [fem.SurfacePressure(arm, "x1", 1e5), fem.RigidBody.sphere(1.0, 0.1)]


def hung(arm, model):
    return [fem.Spring(arm.node_at([0.4, 0, 0]), model.ground, stiffness=100.0, free_length=0.1)]


@pytest.mark.parametrize("use", [coupled, tied, pressed, hung], ids=lambda use: use.__name__)
def test_a_body_that_is_used_but_was_not_added_is_reported(use):
    model = fem.Model("forgotten")
    arm = body("arm")
    model.add(*use(arm, model))
    with pytest.raises(fem.ModelError, match=r"SolidBody 'arm'.*added"):
        model.compile()


def test_stresses_of_a_result_of_another_model_are_rejected():
    results = []
    for name in ("first", "second"):
        arm = body(name)
        arm.fix("x0")
        model = fem.Model(name, gravity=[0, 0, -9.81])
        model.add(arm)
        results.append((arm, fem.static_equilibrium(model)))
    (arm, own), (_, other) = results
    assert arm.stresses(own).von_mises.max() > 0.0
    for state in (other, other.results):
        with pytest.raises(fem.ParameterError, match=r"state = .*without this body"):
            arm.stresses(state)


def test_a_body_whose_nodes_were_numbered_by_another_model_since_gives_no_stresses_of_other_nodes():
    arm = body("arm")
    arm.fix("x0")
    ball = fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 2])
    after, before = fem.Model("ball last"), fem.Model("ball first")
    after.add(arm, ball, fem.Fixed(after.ground.frame([0, 0, 2]), ball))
    result = fem.static_equilibrium(after)
    before.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 2]), arm)
    before.compile()
    with pytest.raises(fem.ParameterError, match=r"state = .*another model"):
        arm.stresses(result)


def test_stresses_and_places_of_a_superelement_are_of_its_own_model():
    made = fem.reduce_mesh(MESH, STEEL, {"left": "x0", "right": "x1"}, modes=2)
    bodies = [fem.Superelement(made, name=name) for name in ("first", "second")]
    results = []
    for one in bodies:
        model = fem.Model(one.name)
        model.add(one)
        results.append(fem.GeneralizedAlpha().run(model, t_end=1e-3, h=1e-3))
    assert bodies[0].positions(results[0]).shape == (20, 3)
    for look in (bodies[0].positions, bodies[0].stresses):
        with pytest.raises(fem.ParameterError, match=r"state = .*without this body"):
            look(results[1])


def test_a_group_by_a_function_that_gives_numbers_instead_of_truths_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"where = .*True or False"):
        MESH.with_group("left", lambda x: (x[:, 0] < 0.01) * 1.0)
    assert len(MESH.with_group("left", lambda x: x[:, 0] < 0.01).nodes_of("left")) == 4


def test_frames_at_halves_of_nodes_are_rejected():
    K = np.kron([[1, -1], [-1, 1]], np.diag([0, 0, 0, 400.0, 0, 0]))
    M = np.kron(np.eye(2), np.diag([2.0, 2.0, 2.0, 0.1, 0.05, 0.05]))
    with pytest.raises(fem.ParameterError, match=r"frames = .*whole numbers"):
        fem.reduce_matrices(M, K, [[0, 0, 0], [1, 0, 0]], {"a": [0.5], "b": [1]}, modes=0)
