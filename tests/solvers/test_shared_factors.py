"""Factors of the smooth motion serve the corrections of a step: fewer factorisations, the same motion."""

import sys
from pathlib import Path

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.system.assembly import clear_matrix, dynamic_tangents, dynamics, matrix_values

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import chain
import measuring


def factorisations(engine_run, steps):
    """Per step, of the three sub-problems together."""
    watch = measuring.Watch(engine_run.engine)
    engine_run.go(steps)
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
    # 200 steps, each with 1e-6 of its forces at most; what is left is far less
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


def test_factors_that_do_not_contract_are_given_up_for_longer_and_longer():
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
