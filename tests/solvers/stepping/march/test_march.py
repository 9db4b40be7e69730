"""The march of a run: who holds the step size, the one restore, steps of many sizes taken from outside."""

import ast
from pathlib import Path

import numpy as np
import pytest
from switch_runs import chain

import fem_mbs as fem

STEPPING = Path(fem.__file__).parent / "solvers" / "stepping"
H = 5e-3


def prepared(method=None, **options):
    method = method or fem.DecoupledNSGA(**options)
    engine = method.prepare(chain().compile(), H)
    engine.t_end = 1.0
    return engine


def assigned(tree):
    """Attributes ``owner.h``, ``owner.next``, ``owner.whole`` that are assigned, as (owner, name)."""
    found = []
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in [part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]:
            if isinstance(target, ast.Attribute) and target.attr in ("h", "next", "whole"):
                found.append((ast.unparse(target.value), target.attr))
    return found


def test_the_march_alone_holds_the_step_size():
    """Others ask it; its policies propose the next size, and event location has the size of the crossed step."""
    allowed = {
        "march.py": {("self", "h"), ("self", "whole"), ("self", "next")},
        "step_control.py": {("march", "next")},
        "divider.py": {("march", "next"), ("self.march", "next")},
        "crossing.py": {("self", "h")},
    }
    for path in STEPPING.rglob("*.py"):
        found = set(assigned(ast.parse(path.read_text())))
        assert found <= allowed.get(path.name, set()), f"{path.name} assigns {found}"
    assert assigned(ast.parse("engine.h = self.h = 1.0\na, b.next = 1, 2")) == [
        ("engine", "h"), ("self", "h"), ("b", "next")]  # fmt: skip


def test_equal_steps_between_two_stops_are_one_call_of_compiled_code(monkeypatch):
    engine, counts = prepared(), []
    whole = engine.run_steps

    def counted(data, run, count, *arguments):
        counts.append(count)
        return whole(data, run, count, *arguments)

    monkeypatch.setattr(engine, "run_steps", counted)
    assert engine.march.advance(H * np.arange(1, 101), engine.make_records(100)) == (100, 100, None)
    assert counts == [100]


def test_the_start_that_compiled_code_keeps_is_that_of_the_last_step():
    engine = prepared()
    block = engine.make_records(10)
    engine.march.advance(H * np.arange(1, 10), block)
    before = engine.run_data.kept()
    engine.march.advance(H * np.arange(10, 11), block)
    after, start = engine.run_data.kept(), engine.run_data.start_of_step()
    records = [
        {"block": kept.block, "states": np.concatenate([s.ravel() for s in kept.states])} for kept in (before, start)
    ]
    assert all(records[0][name].tobytes() == records[1][name].tobytes() for name in records[0])
    assert not np.array_equal(after.block, before.block)
    engine.run_data.restore(start)
    assert engine.run_data.kept().block.tobytes() == before.block.tobytes() and engine.run[0]["t"] == 9 * H


def test_a_step_that_is_taken_back_is_taken_again_to_the_last_bit():
    engine = prepared(step_control=fem.StepControl(tolerance=1e-6))
    march, ends = engine.march, []
    block = engine.make_records(100)
    engine.run_data.record_into(block)
    for _ in range(5):
        assert march.step(1.0) is None
    start, t, size = march.start(), march.t, march.next
    for _ in range(2):
        march.t, march.next, march.change = t, size, None
        march.back(start)
        assert march.step(1.0) is None
        ends.append(engine.run_data.kept().block.tobytes())
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    "method", [fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-7)), fem.DecoupledNSGA()]
)
def test_steps_from_outside_are_those_of_a_run(method):
    """As a program does that has something else to do between two times."""
    whole = method.run(chain(), 1.0, H, progress=False)
    engine = prepared(method)
    block = engine.make_records(1000)
    engine.first(block)
    states = [block["position"][0].copy()]
    for k in range(1, 11):
        times = H * np.arange(20 * k - 19, 20 * k + 1)
        done, saved, error = engine.march.advance(times, block)
        assert done == 20 and error is None
        states += list(block["position"][:saved].copy())
    assert np.array_equal(states, whole.rows(np.arange(len(whole.t)))["position"])
