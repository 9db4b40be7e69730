"""Matrix of the coupled problem against differences of its residual, block by block.

Residual and matrix are those that a run calls; unknowns are changed by the function that takes Newton steps.
"""

from itertools import pairwise

import driven_double_pendulum
import numpy as np
import pytest
import roller_crank

import fem_mbs as fem
from fem_mbs.cases import nonholonomic

H = 5e-3
GGL, SEQUENTIAL = fem.NonsmoothGeneralizedAlphaGGL(), fem.NonsmoothGeneralizedAlphaGGL(coupling="sequential")
FRICTION = fem.NonsmoothGeneralizedAlphaFriction()
POSITIONS = fem.NonsmoothGeneralizedAlphaGGL(constraints="positions")
VELOCITIES = fem.NonsmoothGeneralizedAlphaGGL(constraints="velocities")
COMBINED = fem.NonsmoothGeneralizedAlphaGGL(constraints="combined", approach="start")
STABILISED, INDEX_3 = fem.GeneralizedAlpha(), fem.GeneralizedAlpha(formulation="index 3")


def flexible_pendulum():
    """A beam on a skew hinge, with a body at its end, that moves."""
    section = fem.Section.rectangle(0.02, 0.01, E=2e8, nu=0.3, density=2000.0)
    model = fem.Model("flexible pendulum", gravity=[0, 0, -9.81])
    rod = fem.beam_line([0, 0, 0], [0.5, 0.1, 0], 3, section, flexibility="simple", name="rod")
    model.add(fem.RigidBody(0.2, [1e-4, 2e-4, 3e-4], node=rod.nodes[-1], name="bob"), rod)
    model.add(fem.Revolute.at(model.ground, rod.nodes[0], [0, 0, 0], [0, 0.6, 0.8], name="hinge"))
    return model


def points_on_planes():
    """Points whose contacts have constant gradients: open, sticking, sliding, without friction."""
    model = fem.Model("points", gravity=[0, 0, -9.81])
    floor = model.ground.frame(rotation=[0.2, -0.3, 0.5])
    along = fem.rotations.exp([0.2, -0.3, 0.5])[:, 0]
    points = [model.add(fem.PointMass(1.0 + i, position=i * along, name=f"point {i}")) for i in range(6)]
    for i, point in enumerate(points):
        friction = [0.3, 0.9, 0.1, 0.0, 3.0, 3.0][i]
        model.add(fem.SphereOnPlane(point, floor, radius=0.0, friction=friction, restitution=0.5, name=f"floor {i}"))
    for first, second in pairwise(points):
        model.add(fem.Spring(first, second, stiffness=50.0, damping=2.0, free_length=0.9))
    return model


def turning_on_a_plane():
    """Balls that turn about one axis each, so that all gradients are constant: they spin, drill and roll."""
    model = fem.Model("balls", gravity=[0, 0, -9.81])
    floor = model.ground.frame(rotation=[0, 0, 0.6])  # no tangent along an axis: rows without entries would be allowed
    laws = [
        {"spinning_resistance": 0.003, "friction": 0.5},
        {"spinning_resistance": 0.03, "friction": 0.5},
        {"spinning_resistance": 0.3, "friction": 0.0},
        {"radius_contensou": 0.1, "friction": 0.2, "tangential_restitution": 0.3},
        {"radius_contensou": 0.1, "friction": 3.0},
        {"rolling_resistance": 0.003, "friction": 0.9},
        {"rolling_resistance": 0.03, "friction": 0.9},
        {"rolling_resistance": 0.3, "friction": 0.1},
    ]
    for i, law in enumerate(laws):
        fixed = ("ry", "rz") if "rolling_resistance" in law else ("rx", "ry")
        ball = fem.RigidBody.sphere(1.0 + i, 0.1, position=[i, 0, 0.1], fixed=fixed, name=f"ball {i}")
        model.add(ball)
        model.add(fem.SphereOnPlane(ball, floor, radius=0.1, restitution=0.5, name=f"floor {i}", **law))
    return model


def engine_at_random(method, model, seed=0):
    """An engine amid a step, at unknowns that solve nothing; beams are bent as far as their tangents are exact."""
    rng, system = np.random.default_rng(seed), model.compile(project=True)
    engine = method.prepare(system, H)
    times, block = H * np.arange(1, 4), engine.make_records(3)
    engine.march.advance(times, block)
    a, free = engine.arrays, system.free
    moved = 0.004 if any(element.kernels.get("mixed") for element in system.elements) else 0.2
    sizes = {"Vs": 0.3, "Vd": 3.0, "D": moved, "U": moved, "W": 0.5}
    unused = {3: (), 2: ("W",), 1: ("U", "W")}[method.levels]
    for name, size in ((name, size) for name, size in sizes.items() if name not in unused):
        a[name][:] += size * rng.normal(size=a[name].shape) * free
    for name in ("lam", "nu", "Lam"):
        a[name][:] = rng.normal(size=a[name].shape)
    a["cLam"][:, 3:] = rng.normal(size=(system.nc, 3))
    a["cnu"][:, 0] = rng.normal(size=system.nc)
    a["cLam"][:, :3] = rng.normal(size=(system.nc, 3))
    a["Vminus"][:] = a["V0"]
    engine.run[0]["first_residual"] = engine.run[0]["want_matrix"] = 0
    return engine


def differences(engine, problem, n, eps):
    """Matrix of the derivatives (n, n) of the residual."""
    dx, own, run = engine.arrays["dx"], engine.own[0], engine.run[0]

    def residual_at(column, step):
        dx[:n] = 0.0
        dx[column], own["taken"], run["scale"] = 1.0, 0.0, step
        engine.call(problem, "move")
        engine.call(problem, "residual")
        engine.call(problem, "right")
        residual = -dx[:n]
        dx[:n] = 0.0
        dx[column], own["taken"], run["scale"] = 1.0, step, 0.0
        engine.call(problem, "move")
        return residual

    columns = [(residual_at(j, eps) - residual_at(j, -eps)) / (2 * eps) for j in range(n)]
    engine.call(problem, "residual")
    return np.column_stack(columns)


def both(engine, problem="velocity", block=None, eps=1e-4):
    """The matrix that is assembled and the one of differences, without proximal shifts."""
    layout = engine.matrices.stacked if block is None else engine.matrices.layouts[2]
    if block is not None:
        engine.own[0]["block"] = block
    engine.run[0]["epsilon"] = engine.run[0]["epsilon_rows"] = 0.0
    expected = differences(engine, problem, layout.n, eps)
    engine.call(problem, "matrix")
    return layout.matrix().toarray(), expected


def used(obtained, expected):
    """Both without the rows that a block does not have; these only keep their unknowns zero."""
    unused = ~np.abs(expected).any(axis=1)
    assert np.array_equal(obtained[unused], np.diag(np.diag(obtained))[unused]) and np.diag(obtained)[unused].all()
    return obtained[~unused][:, ~unused], expected[~unused][:, ~unused], np.flatnonzero(~unused)


def agree(obtained, expected):
    obtained, expected, _ = used(obtained, expected)
    scale = np.abs(expected).max(axis=0, keepdims=True) + 1e-3 * np.abs(expected).max()
    worst = np.abs((obtained - expected) / scale)
    assert worst.max() < 1e-6, (worst.max(), np.argwhere(worst > 1e-6)[:20])


def rolling():
    """Rows of velocities, with positions in one joint; a second body on a blade hangs on the first."""
    model = nonholonomic.disc_model(push=nonholonomic.PUSH)
    place = model["disc"].node.position + [0.1, 0.3, 0.2]
    rider = model.add(fem.RigidBody(0.4, [0.01, 0.02, 0.03], position=place, name="rider"))
    model.add(fem.KnifeEdge.at(model["disc"], rider, place + [0.1, 0, 0], [0, 0.6, 0.8], name="blade"))
    model.add(fem.Spring(model["disc"], rider, stiffness=50.0, damping=2.0, free_length=0.3))
    return model


MODELS = {"driven": driven_double_pendulum.build, "beams": flexible_pendulum, "points": points_on_planes}
JOINTS = {"driven": driven_double_pendulum.build, "beams": flexible_pendulum, "rolling": rolling}
CONSTANT = {"points": points_on_planes, "turning": turning_on_a_plane}  # gradients of contacts


@pytest.mark.parametrize("name", MODELS)
def test_matrix_of_the_coupled_problem_is_the_derivative_of_its_residual(name):
    for seed in range(3):
        engine = engine_at_random(GGL, MODELS[name](), seed)
        obtained, expected = both(engine)
        agree(obtained, expected)


def test_points_meet_all_statuses_that_the_matrix_contains():
    statuses, sets = set(), set()
    for seed in range(3):
        engine = engine_at_random(GGL, points_on_planes(), seed)
        engine.call("velocity", "residual")
        statuses |= set(engine.arrays["status"])
        sets |= set(zip(engine.arrays["active"], engine.arrays["candidate"]))
    # what is closed in positions acts in velocities too
    assert statuses == {0, 1, 2, 3} and sets == {(0, 0), (0, 1), (1, 1)}


@pytest.mark.parametrize("name", JOINTS)
def test_matrices_of_smooth_methods_are_the_derivatives_of_their_residuals(name):
    agree(*both(engine_at_random(STABILISED, JOINTS[name]())))
    agree(*both(engine_at_random(INDEX_3, JOINTS[name]()), block=0))


@pytest.mark.parametrize("method", [GGL, SEQUENTIAL, VELOCITIES], ids=["both", "in turn", "velocities"])
def test_matrix_with_rows_of_velocities_is_the_derivative_of_its_residual(method):
    engine = engine_at_random(method, rolling())
    if method is VELOCITIES:
        engine.call("velocity", "residual")
        engine.arrays["nu"][:] = 0.0
        engine.arrays["U"][:] = 0.5 * H * engine.arrays["W"]
    agree(*both(engine))


def smooth_contacts():
    """A box on a hinge above the floor, without friction; its turns press corners in."""
    model = fem.Model("box", gravity=[0, 0, -9.81])
    box = fem.RigidBody(1.0, [0.1, 0.2, 0.3], position=[0, 0, 0.22], rotation=[0.02, -0.03, 0.4], name="box")
    model.add(box)
    for i, corner in enumerate([(0.3, 0.2, -0.2), (-0.3, 0.2, -0.2), (0.3, -0.2, -0.2), (-0.3, -0.2, -0.2)]):
        model.add(fem.SphereOnPlane(box.frame(corner), model.ground, radius=0.0, restitution=0.5, name=f"corner {i}"))
    model.add(fem.Revolute.at(model.ground, box, [1, 0, 0.22], [0, 1, 0], name="hinge"))
    return model


def test_matrix_with_gaps_in_positions_alone_is_the_derivative_of_its_residual():
    closed = set()
    for seed in range(4):
        engine = engine_at_random(POSITIONS, smooth_contacts(), seed)
        engine.arrays["cLam"][:] = 0.0  # of friction, which is not supported
        agree(*both(engine, block=0))
        closed |= set(engine.arrays["active"])
    assert closed == {0, 1}


@pytest.mark.parametrize("build", [points_on_planes, smooth_contacts])
def test_matrix_with_gaps_that_feel_impulses_of_velocities_is_the_derivative_of_its_residual(build):
    sets = set()
    for seed in range(4):
        engine = engine_at_random(COMBINED, build(), seed)
        if build is smooth_contacts:
            engine.arrays["cLam"][:, 1:] = 0.0  # of friction, which it does not have
        agree(*both(engine))
        sets |= set(zip(engine.arrays["active"], engine.arrays["candidate"]))
    assert {(0, 1), (1, 1)} <= sets


@pytest.mark.parametrize("name", MODELS)
def test_matrix_with_positions_that_follow_velocities_is_the_derivative_of_its_residual(name):
    engine = engine_at_random(VELOCITIES, MODELS[name]())
    # rows (3) of alpha.one_level hold, so that what M changes with q in them is zero, as it is where a step ends
    engine.call("velocity", "residual")
    engine.arrays["nu"][:] = engine.arrays["cnu"][:] = 0.0
    engine.arrays["U"][:] = 0.5 * H * engine.arrays["W"]
    agree(*both(engine))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("block", [0, 1, 2])
def test_diagonal_blocks_are_the_derivatives_by_their_own_unknowns(name, block):
    agree(*both(engine_at_random(SEQUENTIAL, MODELS[name]()), "block", block))


def test_only_what_contact_gradients_change_with_q_is_left_out():
    # a roller on a floor: friction acts at a point that turns with the body, and the matrix leaves that out
    model = roller_crank.build()
    engine = engine_at_random(GGL, model, 1)
    a, system = engine.arrays, engine.system
    a["D"][1:, 1] -= 1.0  # into the floor
    a["cLam"][:, 0] = 200.0
    matrix, differences_ = both(engine)
    assert a["status"][0] in (1, 2) and a["candidate"][0] == 1
    size = len(matrix) // 3
    obtained, expected, rows = used(matrix, differences_)
    roller = system.dof[6 * system.nodes.index(model["roller"].node) + np.arange(6)]
    felt = (rows >= size) & (np.isin(rows % size, roller) | (rows % size >= system.n + system.m))
    moves = (rows < 2 * size) & np.isin(rows % size, roller)
    error = np.abs(obtained - expected)
    left_out = felt[:, None] & moves[None, :]
    assert np.where(left_out, 0.0, error).max() < 1e-7 * np.abs(expected).max()
    assert error[left_out].max() > 1e-5 * np.abs(expected).max()  # else the sentence above is wrong


# --- laws at three levels ------------------------------------------------------------------------------------------


def levels_at_random(model, seed):
    """An engine of the method with laws at three levels; contacts pressed together or apart in each level at random."""
    engine = engine_at_random(FRICTION, model, seed)
    rng, a, nc = np.random.default_rng(100 + seed), engine.arrays, engine.system.nc
    for name, size in (("cnu", 1.0), ("cLam", 1.0), ("lam_c", 0.05)):
        a[name][:, 0] = size * rng.choice([-1.0, 1.0, 1.0, 1.0], nc)
    a["lam_c"][:, 1:3] = 0.1 * rng.normal(size=(nc, 2))
    a["bar0"][:, :3], a["bar"][:, :3] = rng.normal(size=(2, nc, 3))
    a["lasting"][:] = rng.integers(0, 2, (nc, 3))
    rolls = engine.system.roll_index[:nc] >= 0
    a["lam_c"][rolls, 3:] = 0.1 * rng.normal(size=(rolls.sum(), 3))
    a["bar0"][rolls, 3:], a["bar"][rolls, 3:] = rng.normal(size=(2, rolls.sum(), 3))
    a["cLam"][~rolls, 3:] = 0.0
    return engine


@pytest.mark.parametrize("name", [*MODELS, "turning", "rolling"])
def test_matrix_of_three_levels_is_the_derivative_of_its_residual_but_for_convective_terms(name):
    for seed in range(12 if name == "turning" else 6):
        engine = levels_at_random({**MODELS, **CONSTANT, **JOINTS}[name](), seed)
        # directions of accelerations bend over steps that velocities allow: δa = c_a δv~
        obtained, expected = both(engine, eps=2e-6 if name in CONSTANT else 1e-4)
        if name in CONSTANT:  # nothing turns: all of it is exact
            agree(obtained, expected)
            continue
        size, n = len(obtained) // 3, engine.system.n
        numbers = np.arange(3 * size)
        rows, columns = (numbers >= n) & (numbers < size), (numbers < 2 * size) & (numbers % size < n)
        # what c2 changes with q is left out: rows of accelerations, increments of positions
        left_out = rows[:, None] & columns[None, :]
        agree(np.where(left_out, expected, obtained), expected)
        if name == "driven":  # else the sentence above is wrong
            assert np.abs(np.where(left_out, obtained - expected, 0.0)).max() > 1e-7


def test_contacts_meet_all_branches_of_the_laws_at_three_levels():
    met = [set(), set(), set()]  # of each cone
    for name, build in CONSTANT.items():
        for seed in range(12):
            engine = levels_at_random(build(), seed)
            engine.call("velocity", "residual")
            a = engine.arrays
            for cone in range(3 if name == "turning" else 1):
                status = a["state"][:, cone]
                lasts = a["lasting"][:, cone] * (status == 2)
                met[cone] |= set(zip(a["level"], status, a["begins"][:, cone], lasts))
    assert {level for level, *_ in met[0]} == {0, 1, 2, 3}
    for branches in met:
        assert {(3, 1, 0, 0), (3, 1, 1, 0), (3, 2, 0, 0), (3, 2, 0, 1)} <= branches
