"""A monitor is one class: its warnings, statistics and state are those of the run, whichever the method is."""

import numpy as np
import pytest
from numba import carray
from resumed import differences, stopped_and_resumed

import fem_mbs as fem
from fem_mbs.data_table import Item, Table
from fem_mbs.jit import entry, void_pointer
from fem_mbs.solvers.stepping.kernels.data import run_at
from fem_mbs.solvers.stepping.monitors.catalogue import MONITORS, register
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.solvers.stepping.saved.checkpoint_file import checkpoint_path, read, unpickled

TABLE = Table(
    "paths",
    {
        "travelled": Item("N k", "lengths of the paths of the nodes [m], k times", kept=True),
        "seen_steps": Item("", "steps", "i8", kept=True),
    },
)
PATHS = TABLE.dtype


@entry("void(int64, int64)")
def paths(data, run):
    """Add the displacements of a step."""
    s = run_at(run)[0]
    own = carray(void_pointer(s.monitor_at), (1,), PATHS)[0]
    if s.step_number == 0:
        return
    own.seen_steps += 1
    for i in range(s.x.shape[0]):
        square = 0.0
        for j in range(3):
            square += (s.x[i, j] - s.x0[i, j]) ** 2
        for k in range(own.travelled.shape[1]):
            own.travelled[i, k] += square**0.5


class PathWatch(Monitor):
    """Lengths of the paths of nodes by compiled code, of those of saved states in Python."""

    table, after_step, state = TABLE, paths, ("last", "saved")

    def __init__(self, engine):
        super().__init__(engine)
        self.last, self.saved = None, 0.0

    def sizes(self):
        return {"k": 2}

    def start(self):
        self.engine.arrays["travelled"][:, 1] = 1.0

    def observe(self, block):
        x = block["position"][:, -1] if self.last is None else np.vstack([self.last, block["position"][:, -1]])
        self.saved += np.linalg.norm(np.diff(x, axis=0), axis=1).sum()
        self.last = x[-1].copy()

    def warnings(self):
        return [f"paths: {self.length:.6g} m in all steps, {self.saved:.6g} m in saved states"]

    def statistics(self):
        return {"path": self.length, "seen_steps": int(self.own[0]["seen_steps"])}

    @property
    def length(self):
        return float(self.engine.arrays["travelled"][-1, 0])


@pytest.fixture
def registered():
    before = list(MONITORS)
    yield register(PathWatch)
    MONITORS[:] = before


def bouncing():
    """A ball that falls 0.1 m, and bounces to a quarter of that."""
    model = fem.Model("ball", gravity=[0, 0, -10.0])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, name="floor"))
    return model


def lengths(result):
    """Lengths in the warning of a result."""
    (text,) = [text for text in result.warnings if text.startswith("paths")]
    return float(text.split()[1]), float(text.split()[6])


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean(), fem.LobattoIIIAB(2)], ids=lambda m: m.name)
def test_a_registered_monitor_sees_all_steps_warns_and_counts(registered, method):
    """Paths of saved states, at 0, 0.1 and 0.2 s, are shorter than those of steps; 0.1 m down and 0.025 m up."""
    result = method.run(bouncing(), 0.2, 1e-3, save_every=100)
    all_steps, saved = lengths(result)
    assert 200 <= result.statistics["seen_steps"] <= 202  # the step of the impact may be split
    assert result.statistics["path"] == pytest.approx(all_steps, rel=1e-5)
    z = result["ball"].position[:, 2]
    assert saved == pytest.approx(np.abs(np.diff(z)).sum(), rel=1e-5)
    assert all_steps == pytest.approx(0.1 + z[-1] - 0.1, abs=2e-3) and saved < all_steps - 0.01


def test_without_it_nothing_is_left_of_a_monitor():
    assert "seen_steps" not in fem.DecoupledNSGA().run(bouncing(), 2e-3, 1e-3).statistics


@pytest.mark.parametrize("options", [{}, {"rtol": 1e-8, "max_iterations": 2, "reuse": False}], ids=["plain", "divided"])
def test_a_resumed_run_continues_its_monitors_to_the_last_bit(registered, options, monkeypatch, tmp_path):
    """Data of compiled code and state in Python are in the checkpoint; rejected steps leave no trace in them."""
    method, path = fem.DecoupledNSGA(**options), tmp_path / "parts.vtkhdf"
    whole = method.run(bouncing(), 0.2, 1e-3, save=tmp_path / "whole.vtkhdf", progress=False)
    parts = stopped_and_resumed(monkeypatch, method, bouncing(), 0.2, 1e-3, path, every=7, kills=(5, 12, 20))
    assert differences(whole, parts) == [] and lengths(parts) == lengths(whole)
    state = unpickled(path, "state", read(checkpoint_path(path))[1]["state"])["engine"]
    assert state["parts"]["monitor PathWatch"]["saved"] > 0.0 and state["arrays"]["travelled"][-1, 0] > 0.1


def test_one_of_the_same_name_takes_the_place_of_a_monitor(registered):
    """As when a cell of a notebook runs again."""
    count = len(MONITORS)
    other = register(type("PathWatch", (PathWatch,), {}))
    assert len(MONITORS) == count and MONITORS[-1] is other


def test_two_tables_cannot_have_arrays_of_one_name(registered):
    register(type("Other", (PathWatch,), {}))
    with pytest.raises(ValueError, match=r"paths: array 'travelled' .* another table"):
        fem.DecoupledNSGA().run(bouncing(), 1e-3, 1e-3)


@pytest.mark.parametrize("member", ["warnings", "statistics"])
def test_a_monitor_that_raises_at_the_end_leaves_the_results_readable(registered, member, tmp_path):
    def broken(self):
        raise KeyError("limit")

    register(type("Broken", (Monitor,), {member: broken}))
    path = tmp_path / "run.vtkhdf"
    with pytest.raises(fem.SolverError, match=r"monitor raised KeyError: 'limit'.*Steps 0-10 are in") as caught:
        fem.DecoupledNSGA().run(bouncing(), 1e-2, 1e-3, save=path)
    assert isinstance(caught.value.__cause__, KeyError)
    found = fem.load(path)
    assert len(found.t) == len(caught.value.result.t) == 11
    assert "stopped" in found.report() and "KeyError" in found.report()
