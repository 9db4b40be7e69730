"""What `fem-mbs warmup` compiles in advance is not compiled by the first model."""

import subprocess
import sys

from fem_mbs import warmup
from fem_mbs.cli import main
from fem_mbs.element.registry import library
from fem_mbs.jit import cache_root

MODEL = """
import fem_mbs as fem
from numba.core import event
from fem_mbs.warmup import flexible_pendulum

with event.install_recorder("numba:run_pass") as passes:
    fem.DecoupledNSGA(rho_inf=0).run(flexible_pendulum(), 0.01, 1e-3, save={path!r}, progress=False)
    fem.static_equilibrium(flexible_pendulum(contact=False, clamped=True))
print("passes of the compiler:", len(passes.buffer))
"""


def test_a_model_finds_compiled_what_was_warmed_up(tmp_path, capsys):
    assert main(["warmup"]) == 0
    told = capsys.readouterr().out
    assert "DecoupledNSGA" in told and "static_equilibrium" in told and str(cache_root()) in told
    done = subprocess.run(
        [sys.executable, "-c", MODEL.format(path=str(tmp_path / "a.vtkhdf"))],
        check=True,
        text=True,
        capture_output=True,
    )
    assert "passes of the compiler: 0" in done.stdout


def test_all_asks_for_every_kernel_of_every_element_and_every_time_stepper(monkeypatch):
    """Without compiling them, which takes minutes."""
    import fem_mbs as fem

    asked, steppers = set(), []
    monkeypatch.setattr(warmup, "bind", lambda kernel, *_: asked.add(kernel))
    monkeypatch.setattr(fem, "static_equilibrium", lambda model: None)
    for stepper in fem.solvers.STEPPERS.values():
        monkeypatch.setattr(stepper, "run", lambda self, *_, **__: steppers.append(type(self).__name__))
    lines = []
    warmup.warm_up(everything=True, tell=lines.append)
    assert asked >= {kernel for cls, _ in library().values() for kernel in cls.kernels.values()}
    assert set(steppers) == set(fem.solvers.STEPPERS)
    assert all(any(line.endswith(name) for line in lines) for name in library())
