"""Matrices belong to the solver that asked for them: a system serves several at once and does not change."""

import numpy as np
import pytest
import roller_crank
import three_balls
import tilting_plate as plate
from friction_models import guide

import fem_mbs as fem
from fem_mbs.jit import kernel
from fem_mbs.linear.solvers import DENSE_LIMIT
from fem_mbs.solvers.stepping.kernels.run import go_to
from fem_mbs.system.global_matrices import add_block, clear_matrix
from fem_mbs.system.layout import Rows, Stack
from fem_mbs.system.records import SMOOTH, STACKED

H, STEPS = 1e-3, 30


def advanced(engine, system, first, count):
    """Steps first + 1 … first + count of an engine."""
    times, block = np.arange(first + 1, first + count + 1) * H, engine.make_records(count)
    done, _, error = engine.march.advance(times, block)
    assert done == count and error is None
    return block


def test_steppers_with_other_matrices_take_turns_on_one_system():
    methods = [fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=p) for p in (True, False)]
    alone = []
    for method in methods:
        system = plate.build().compile()
        alone.append(advanced(method.prepare(system, H), system, 0, STEPS))
    system = plate.build().compile()
    engines = [method.prepare(system, H) for method in methods]
    for first in range(0, STEPS, 10):
        for engine, expected in zip(engines, alone):
            block = advanced(engine, system, first, 10)
            fem.initial_accelerations(system, system.initial)
            for name, values in block.items():
                assert np.array_equal(values, expected[name][first : first + 10]), name


def test_a_run_changes_no_attribute_of_the_system():
    system = plate.build().compile()
    assert system.own is system.own  # made when it is first asked for
    before = dict(vars(system))
    fem.DecoupledNSGA(persistent_contacts=True).run(system, 0.01, H)
    system.matrices(system.initial)
    after = vars(system)
    assert set(after) == set(before)
    assert [name for name in before if after[name] is not before[name]] == []


def test_a_second_run_on_a_system_repeats_the_first_bit_by_bit():
    # the sparse solver keeps the pivots of its first matrix: those of another run would change the round-off
    system = roller_crank.build(flexible=True).compile()
    assert system.n + system.m > DENSE_LIMIT  # sparse, whatever is installed
    first, second = (fem.DecoupledNSGA(rho_inf=0.0).run(system, 0.1, H).rows(np.arange(101)) for _ in range(2))
    for name, values in first.items():
        assert np.array_equal(values, second[name]), name


def test_solvers_share_patterns_but_neither_values_nor_factors():
    system = plate.build().compile()
    # the system's own matrices have no rows of contacts
    one, two = (fem.DecoupledNSGA(persistent_contacts=False).prepare(system, H).matrices for _ in range(2))
    for a, b in zip(one.layouts, two.layouts):
        assert a.pattern is b.pattern and a.rows is b.rows
        assert a.values is not b.values and a.solver is not b.solver
    assert one.layouts[0].pattern is system.own.layouts[0].pattern


def test_matrices_without_contacts_are_one():
    model = fem.Model("free")
    model.add(fem.RigidBody.sphere(1.0, 0.1))
    system = model.compile()
    smooth, position, velocity = fem.DecoupledNSGA(persistent_contacts=True).prepare(system, H).matrices.layouts
    assert smooth is position is velocity and smooth.n == 6


def test_sizes_are_those_of_the_rows_asked_for():
    system = plate.build().compile()
    base, turning = system.n + system.m, system.n_roll
    rows = Rows(), Rows(contacts=True), Rows(contacts=True, moments="all")
    sizes = [layout.n for layout in system.lay_out(*rows).layouts]
    assert sizes == [base, base + 3 * system.nc, base + 3 * system.nc + 3 * turning]


def test_more_matrices_than_compiled_code_can_find_are_rejected():
    system = three_balls.build().compile()
    with pytest.raises(ValueError, match="3 matrices, 4 "):
        system.lay_out(*4 * [Rows()])


def test_rows_of_contacts_that_come_and_go_are_rejected():
    model = fem.Model("group")
    balls = [model.add(fem.RigidBody.sphere(1.0, 0.1, position=[x, 0, 0])) for x in (0.0, 0.3)]
    group = fem.ContactGroup(friction=0.1)
    for ball in balls:
        group.sphere(ball, 0.1)
    model.add(group)
    with pytest.raises(ValueError, match="contact groups"):
        model.compile().lay_out(Rows(contacts=True))


@kernel
def put_block(data, row, column, scale):
    add_block(data[0], SMOOTH, row, column, scale)


@kernel
def clear_stack(data):
    clear_matrix(data[0], STACKED)


@pytest.mark.parametrize("flexible, solver", [(False, "dense"), (False, "klu"), (True, None)])
@pytest.mark.parametrize("blocks", [("xxx", "xx.", "x.x"), ("x.", ".x"), ("x",)])
def test_a_stacked_matrix_has_the_sums_that_were_added_to_each_of_its_blocks(blocks, flexible, solver):
    system = roller_crank.build(flexible=flexible).compile(linear_solver=solver)
    matrices = system.lay_out(Rows(True, "all"), stack=Stack(0, blocks))
    base, stacked, rng = matrices.layouts[0], matrices.stacked, np.random.default_rng(1)
    expected = np.zeros((len(blocks) * base.n,) * 2)
    clear_stack(matrices.data)
    for _ in range(2):  # the second is added to the first
        for i, row in enumerate(blocks):
            for j in (j for j, mark in enumerate(row) if mark == "x"):
                base.values[:] = rng.normal(size=len(base.values))
                put_block(matrices.data, i, j, 0.5 + i)
                part = expected[i * base.n : (i + 1) * base.n, j * base.n : (j + 1) * base.n]
                part += (0.5 + i) * base.matrix().toarray()
    assert np.array_equal(stacked.matrix().toarray(), expected)
    stacked.values[stacked.pattern.diagonal] += 100.0
    right = rng.normal(size=stacked.n)
    assert stacked.solver.factor(stacked.values)
    assert np.allclose(stacked.matrix().toarray() @ stacked.solver.solve(right), right, atol=1e-12)


@kernel
def set_instant(data, run, number):
    go_to(data[0], run[0], number)


def test_a_method_gets_signals_at_its_instants_of_a_step(monkeypatch):
    monkeypatch.setattr(fem.DecoupledNSGA, "instants", (0.0, 0.25, 1.0))
    system = plate.build().compile()
    engine = fem.DecoupledNSGA().prepare(system, H)
    advanced(engine, system, 0, 7)
    for number, part in enumerate((0.0, 0.25, 1.0)):
        set_instant(engine.data, engine.run, number)
        expected = [signal.jet((6 + part) * H) for signal in system.signals]
        assert np.allclose(system.signal_values, expected, rtol=1e-12, atol=1e-15)
        assert len(expected) and np.ptp(system.signal_values)


def test_compiled_code_finds_contacts_of_models_with_joint_friction():
    """Records of groups: those of contacts are the last, those of joint friction before them."""
    system = guide(stop=0.0).compile()
    roles = [group.elements[0].role for group in system.groups]
    assert roles[-2:] == ["friction", "contact"] and {*roles[:-2]}.isdisjoint(roles[-2:])
    assert [system.groups[k].elements[0].role for k in system.friction_groups] == ["friction"]
    np.testing.assert_allclose(system.gaps(system.initial), [0.0205], rtol=1e-12)
