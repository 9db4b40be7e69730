"""Factors of the smooth motion serve the corrections of a step: fewer factorisations, the same motion."""

import ctypes

import chain
import clearance_crank
import measuring
import numpy as np
import pytest
import roller_crank
import scipy.sparse as sp

import fem_mbs as fem
from fem_mbs.jit import address
from fem_mbs.solvers.contact.law import CLOSED, SLIP, STICK
from fem_mbs.system.assembly import dynamic_tangents, dynamics
from fem_mbs.system.global_matrices import clear_matrix, matrix_values
from fem_mbs.system.records import POSITION, SMOOTH


def sharing(*args, **options):
    """Stepper whose sub-problems share factors.

    Closed contacts in the smooth motion and split steps exclude that; a restart after an impact writes over factors.
    """
    own = {"persistent_contacts": False, "impacts": "plain", "reset_after_impact": False}
    return fem.DecoupledNSGA(*args, **own, **options)


def factorisations(engine_run, steps):
    """Per step, of the three sub-problems together, which do not begin with guesses from earlier steps."""
    watch = measuring.Watch(engine_run.engine)
    for _ in range(steps):
        engine_run.engine.own[0]["known"] = 0
        engine_run.go(1)
    return sum(count for name, count in watch.calls.items() if name.endswith("factor")) / steps


@pytest.mark.parametrize("joint, links", [("revolute", 10), ("spherical", 20)])
def test_a_chain_is_factorised_once_per_step(joint, links):
    counts = []
    for reuse in (True, False):
        run = measuring.Run(fem.DecoupledNSGA(reuse=reuse), chain.build(links, joint).compile(), 1e-3)
        run.go(30)  # the wave begins with a jump of forces
        counts.append(factorisations(run, 50))
    assert counts[0] <= 1.1  # the smooth motion's own
    assert counts[1] >= 2.9  # one for each sub-problem


def test_motion_and_constraints_of_a_chain_are_those_of_own_matrices():
    shared, own = (fem.DecoupledNSGA(reuse=reuse).run(chain.build(20), 0.2, 1e-3) for reuse in (True, False))
    # 200 steps, each with 1e-6 of its forces at most; the rest is far less
    assert shared["link 20"].position == pytest.approx(own["link 20"].position, abs=1e-9)
    # round-off of the positions, and of the speeds that the size of the model makes of its angular velocities
    size, turning = 10.0, np.abs(own["link 20"].angular_velocity).max()
    assert shared.violation.position.max() < 3e-14 * size
    assert shared.violation.velocity.max() < 3e-14 * max(turning, 1.0) * size


def beam(n):
    """Stiff beam that falls on a hinge: its matrices of positions and of velocities differ by the stiffness."""
    model = fem.Model("beam", gravity=[0, 0, -9.81])
    section = fem.Section.rectangle(0.02, 0.02, E=2e11, density=7800)
    root, tip = fem.Node6(), fem.Node6([1, 0, 0])
    model.add(fem.beam_line(root, tip, n, section))
    model.add(fem.Revolute.at(model.ground, root, [-0.2, 0, 0], [0, 1, 0]))  # its rows are not linear
    return model


def test_factors_that_do_not_contract_are_rejected_for_longer_and_longer():
    run = measuring.Run(fem.DecoupledNSGA(), beam(12).compile(), 1e-3)
    run.go(20)
    watch = measuring.Watch(run.engine)
    run.go(300)
    for problem in ("position", "velocity"):
        assert watch.calls[f"{problem}: factor"] > 0.9 * 300  # its own, where an attempt was in vain and where none was
        assert run.engine.problems[problem][0]["pause_length"] >= 64  # steps between attempts; it has doubled


def test_tangents_alone_are_those_of_forces_and_inertia():
    system = beam(4).compile()
    d, rng = system.own.data[0], np.random.default_rng(3)
    state, N = system.initial, len(system.nodes)
    V, A = rng.normal(size=(2, N, 6))
    T = np.eye(3) + 0.1 * rng.normal(size=(N, 3, 3))
    Ma, f = np.zeros((2, 6 * N))
    for factors in ((1.0, 0.1, 0.0, 0.0), (1.0, 0.1, 0.3, 0.7)):
        clear_matrix(d, 0)
        dynamics(d, 0, state.x, state.R, V, A, Ma, f, True, *factors, T, False)
        expected = matrix_values(d, 0).copy()
        clear_matrix(d, 0)
        dynamic_tangents(d, 0, state.x, state.R, V, A, *factors, T)
        assert np.abs(expected).max() > 0
        assert np.array_equal(matrix_values(d, 0), expected)


def crank(**options):
    """Run of the slider-crank with clearance and eight beams, whose contact is open, closes and slides."""
    return measuring.Run(sharing(0.0, **options), clearance_crank.build(1e-4)[0].compile(), 1e-6)


def test_matrices_of_flexible_bodies_with_contacts_serve_several_steps():
    run = crank()
    run.go(500)  # with the first contact
    watch = measuring.Watch(run.engine)
    run.go(1000)
    assert watch.calls["smooth: solve"] >= 1000
    assert watch.calls["smooth: factor"] < 0.2 * 1000


def test_factors_of_earlier_steps_leave_the_motion_of_own_ones():
    """Velocities feel most what iterations leave: own matrices leave 1.3e-4 of speeds up to 524 (m/s, rad/s)."""
    places, speeds = [], []
    for options in ({}, {"reuse": False}, {"reuse": False, "rtol": 1e-10}):
        run = crank(**options)
        run.go(3000)
        places.append(run.engine.arrays["x"].copy())
        speeds.append(run.engine.arrays["V"].copy())
    kept, own = (np.abs(speed - speeds[2]).max() for speed in speeds[:2])
    assert kept < 2.0 * own
    assert places[0] == pytest.approx(places[2], abs=1e-10)


def test_factors_that_others_have_written_over_are_made_anew():
    run = crank()
    run.go(500)
    problem, record = run.engine.problems["smooth"][0], run.engine.run[0]
    assert problem["has_kept"] == 1 and problem["kept_h"] == record["h"]
    watch, epoch = measuring.Watch(run.engine), int(record["epoch"])
    record["epoch"] = epoch + 1  # as where others have written over the factors
    run.go(1)
    assert watch.calls["smooth: factor"] == 1
    assert problem["kept_epoch"] == epoch + 1


def test_positions_of_a_flexible_mechanism_with_a_contact_need_no_matrix_of_their_own():
    """The contact borders factors of the smooth motion, and the motion is that of own matrices, which are exact."""
    runs = [
        measuring.Run(sharing(0.0, reuse=reuse), roller_crank.build(True).compile(), 1e-3) for reuse in (True, False)
    ]
    for run in runs:
        run.go(100)
        run.watch = measuring.Watch(run.engine)
        run.go(300)
    assert runs[0].watch.calls["position: factor"] <= 0.02 * 300
    assert runs[1].watch.calls["position: factor"] >= 300
    arrays = [run.engine.arrays for run in runs]
    # own matrices leave 9e-9 m of a reference with rtol = 1e-10 in one second, and gaps at round-off
    assert arrays[0]["x"] == pytest.approx(arrays[1]["x"], abs=2e-8)
    assert abs(arrays[0]["g"]).max() < 1e-13


def sledge(friction, speed):
    """Beam that lies on a plane with a sphere at each end."""
    model = fem.Model("sledge", gravity=[0, 0, -9.81])
    section = fem.Section.rectangle(0.02, 0.02, E=2e9, density=7800)
    nodes = fem.Node6([0, 0, 0.05], velocity=[speed, 0, 0]), fem.Node6([1, 0, 0.05], velocity=[speed, 0, 0])
    rod = model.add(fem.beam_line(*nodes, 4, section))
    for node in rod.nodes:
        node.velocity[0] = speed
    for node in nodes:
        model.add(fem.SphereOnPlane(node.frame(), model.ground.frame(), radius=0.05, friction=friction))
    return model


def dense(layout):
    return sp.csc_array((layout.values, layout.rows, layout.pointers)).toarray()


def call(at, *arguments):
    ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(int(at))(*map(int, arguments))


@pytest.mark.parametrize("friction, speed, status", [(0.02, 1.0, SLIP), (4.0, 0.0, STICK), (0.0, 1.0, CLOSED)])
def test_a_bordered_newton_step_is_that_of_the_matrix_with_contacts(friction, speed, status):
    """Here the matrix that is lent is exact, and the plane has no curvature: nothing is left out."""
    run = measuring.Run(sharing(), sledge(friction, speed).compile(), 1e-3)
    run.go(20)
    engine, s, problem = run.engine, run.engine.run[0], run.engine.problems["position"]
    rng, arrays, layouts = np.random.default_rng(3), run.engine.arrays, run.engine.matrices.layouts
    arrays["U"] += 1e-9 * rng.normal(size=arrays["U"].shape)
    arrays["cnu"][:, :3] = 1e-3, 3e-5, 1e-5  # closed, and beyond the cone of the smallest friction
    at = s["data_at"], s["run_at"]
    s["number"], s["solving"], s["code"] = POSITION, address(problem), 0
    call(problem[0]["residual"], *at)
    assert list(arrays["status"]) == [status, status]
    call(problem[0]["matrix"], *at)
    smooth, n = layouts[SMOOTH], layouts[SMOOTH].n
    smooth.values[:] = dense(layouts[POSITION])[smooth.rows, np.repeat(np.arange(n), np.diff(smooth.pointers))]
    record = engine.matrices.records[SMOOTH]
    call(record["factor"], record["context_at"], record["values_at"])
    call(problem[0]["contacts"], *at)
    whole = dense(layouts[POSITION])
    call(problem[0]["right"], *at)
    right = arrays["dx"][: len(whole)].copy()
    problem[0]["c"], problem[0]["k"], s["lent_c"], s["lent_k"] = 1.0, s["kp"], 1.0, s["kp"]
    arrays["border_of"][:] = -1
    call(problem[0]["border"], *at)
    assert s["bordered"] == 1
    expected = np.linalg.solve(whole, right)
    found = arrays["dx"][: len(whole)]
    for part in (slice(0, n), slice(n, None)):  # condition 1e8 at most
        assert found[part] == pytest.approx(expected[part], abs=1e-7 * np.abs(expected[part]).max())
