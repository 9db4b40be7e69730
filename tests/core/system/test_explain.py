"""Output of `explain`: mobility, loops and replacements that work when they are made, motions without resistance."""

import re

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.system.checks.loops import weaker_joints

CORNERS = np.array([[0, 0, 0], [0, 0, 0.2], [0.5, 0, 0.4], [0.5, 0, 0]], float)
JOINTS = {"Revolute": fem.Revolute, "Spherical": fem.Spherical, "Cylindrical": fem.Cylindrical}


def four_bar(kinds=("Revolute",) * 4, axis=(0, 1, 0)):
    model = fem.Model("four-bar", gravity=[0, 0, -9.81])
    bodies = [model.ground]
    for name, a, b in zip(("crank", "coupler", "rocker"), CORNERS[:-1], CORNERS[1:]):
        bodies.append(model.add(fem.RigidBody(1, [0.01, 0.01, 0.01], position=(a + b) / 2, name=name)))
    for k, kind in enumerate(kinds):
        how = {} if kind == "Spherical" else {"axis": axis}
        model.add(JOINTS[kind].at(bodies[k], bodies[(k + 1) % 4], CORNERS[k], **how, name="ABCD"[k]))
    return model


def test_a_planar_four_bar_in_space_is_one_loop_with_three_rows_too_many_and_moves_as_geometry_says():
    found = fem.explain(four_bar())
    assert (found.mobility, found.redundant, len(found.loops)) == (1, 3, 1)
    assert [joint.name for joint in found.loops[0].joints] == list("ABCD")
    crank, rocker = found.motions[0, 1, 4], found.motions[0, 3, 4]
    # the coupler's ends: B moves along x with .2 crank, C with .4 rocker; both along x, so they are equal
    assert 0.2 * crank == pytest.approx(0.4 * rocker)
    assert re.search(r"RigidBody 'rocker': .*\[0, 1, 0\] through \[0\.5, 0, 0\] m", str(found))


def test_a_body_of_several_nodes_is_named_once():
    steel = fem.SolidMaterial(E=210e9, nu=0.3, density=7850)
    bar = fem.reduce_mesh(fem.block_mesh([1.0, 0.1, 0.1], [4, 1, 1]), steel, {"a": "x0", "b": "x1"}, modes=0)
    model = fem.Model()
    body = model.add(fem.Superelement(bar, name="bar"))
    model.add(fem.Revolute.at(model.ground, body.frame("a"), [0, 0.05, 0.05], [0, 1, 0], name="pin"))
    assert len(re.findall(r"Superelement 'bar': .*\[0, 1, 0\] through \[0, 0, 0\.05\] m", str(fem.explain(model)))) == 1
    assert "'bar', Superelement 'bar'" not in str(fem.explain(model))


def test_the_error_of_compile_names_all_joints_of_the_loop_and_a_replacement():
    with pytest.raises(fem.ModelError, match=r"3 of 20 .*Revolute 'A', .* 'D'\. Replace Revolute 'D'"):
        four_bar().compile()


def rank(rows):
    return np.linalg.matrix_rank(rows, tol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_a_proposal_leaves_independent_rows_that_span_the_same(seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    model = fem.Model()
    body = model.add(fem.RigidBody(1, [1, 1, 1], name="body"))
    for _ in range(2):  # two hinges on one axis, or a hinge and a guide
        kind = rng.choice([fem.Revolute, fem.Cylindrical])
        model.add(kind.at(model.ground, body, rng.uniform(-1, 1) * axis, axis))
    system = fem.System(model, check=False)
    system.constraint_values(system.initial)
    from fem_mbs.system.checks.loops import loops_of
    from fem_mbs.system.checks.redundancy import gradient_of

    G = gradient_of(system).toarray()[:, system.free.ravel()]
    (loop,) = loops_of(system)
    assert loop.repeated == len(G) - rank(G) and loop.replacements
    left, replaced = [], dict((joint.name, kind) for joint, kind in loop.replacements)
    for joint in loop.joints:
        rows = G[[k for k in range(len(G)) if system.unknown(system.n + k)[0] is joint]]
        T = dict(weaker_joints(joint)).get(replaced.get(joint.name), np.eye(len(rows)))
        left.append(T @ rows)
    left = np.vstack(left)
    assert rank(left) == len(left) == rank(G)


def test_a_joint_added_twice_has_no_part_in_other_loops():
    model = four_bar(("Revolute", "Spherical", "Cylindrical", "Revolute"))
    assert fem.explain(model).redundant == 0
    model.add(fem.Spherical.at(model.ground, model["crank"], CORNERS[0], name="twice"))
    loops = fem.explain(model).loops
    assert [[joint.name for joint in loop.joints] for loop in loops] == [["A", "twice"]]
    assert "Remove" not in loops[0].proposal or not loops[0].replacements


def test_beams_move_as_one_where_nothing_strains_them_and_weight_is_no_stiffness():
    section = fem.Section.circle(0.01, E=2e11, nu=0.3, density=7800)
    line = fem.beam_line([0, 0, 0], [1, 0, 0], 4, section, name="beam")
    model = fem.Model(gravity=[0, 0, -9.81])
    model.add(line, fem.Revolute.at(model.ground, line.nodes[0], [0, 0, 0], [0, 1, 0]))
    found = fem.explain(model)
    assert found.mobility == 25 and len(found.motions) == 1
    assert found.motions[0, 1:, 4] == pytest.approx(np.full(5, found.motions[0, 1, 4]))
    assert found.moving[0].count("[0, 1, 0] through [0, 0, 0] m") == 1


def test_what_is_held_says_so_and_a_spring_holds():
    model = fem.Model("held")
    mass = model.add(fem.PointMass(1.0, name="mass"))
    for end in np.eye(3):
        model.add(fem.Spring(model.ground.frame(end), mass, 10.0))
    assert "without straining" in str(fem.explain(model))
    assert fem.explain(model).mobility == 3


def test_only_models_are_explained():
    with pytest.raises(fem.ParameterError, match="explain: model"):
        fem.explain("door")
