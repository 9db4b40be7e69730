"""What `fem-mbs warmup` compiles in advance is not compiled by the first model."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fem_mbs import warmup
from fem_mbs.cli import main
from fem_mbs.compiled.code_folder import FOLDER
from fem_mbs.element.registry import library

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
    assert "DecoupledNSGA" in told and "static_equilibrium" in told and str(FOLDER.get()) in told
    done = subprocess.run(
        [sys.executable, "-c", MODEL.format(path=str(tmp_path / "a.vtkhdf"))],
        check=True,
        text=True,
        capture_output=True,
    )
    assert "passes of the compiler: 0" in done.stdout


def test_all_compiles_kernels_of_all_elements_and_parts_of_all_methods(monkeypatch):
    """What is compiled in a batch is only noted here: it takes minutes. Every time stepper is run."""
    import fem_mbs as fem

    asked, steppers = set(), []
    monkeypatch.setattr(warmup.TOGETHER, "get", asked.update)
    monkeypatch.setattr(fem, "static_equilibrium", lambda model: None)
    for stepper in fem.solvers.STEPPERS.values():
        monkeypatch.setattr(stepper, "run", lambda self, *_, **__: steppers.append(type(self).__name__))
    lines = []
    warmup.warm_up(everything=True, tell=lines.append)
    kernels = {entry.function.__globals__["kernel"] for entry in asked if entry.function.__name__ == "call"}
    assert kernels >= {kernel for cls, _ in library().values() for kernel in cls.kernels.values()}
    assert set(steppers) == set(fem.solvers.STEPPERS) and all(any(n in line for line in lines) for n in steppers)
    # parts are those of all modules that define any
    named = {entry.place for entry in asked}
    for source in (Path(fem.__file__).parent / "solvers").resolve().rglob("*.py"):
        for name in re.findall(r"^@entry\(.*\)\ndef (\w+)", source.read_text(encoding="utf-8"), re.MULTILINE):
            assert any(place.endswith(f".{source.stem}:{name}") for place in named), (source, name)


def test_every_time_stepper_can_run_the_model_it_is_warmed_up_with():
    """`fem-mbs warmup --all` ended at the first that could not."""
    from fem_mbs.errors import ParameterError

    for name, stepper in fem_solvers().items():
        if name == "GeneralizedAlpha":
            with pytest.raises(ParameterError, match="floor"):
                stepper().run(warmup.flexible_pendulum(), 3 * warmup.H, warmup.H, progress=False)
        else:
            result = stepper().run(warmup.flexible_pendulum(), 3 * warmup.H, warmup.H, progress=False)
            assert len(result.t) == 4


def fem_solvers():
    import fem_mbs as fem

    return fem.solvers.STEPPERS


@pytest.mark.parametrize("shapes", ["spheres", "boxes"])
def test_the_piles_it_runs_touch_the_ground(shapes):
    import fem_mbs as fem

    result = fem.DecoupledNSGA().run(warmup.pile(shapes), 3 * warmup.H, warmup.H, progress=False)
    assert result.statistics["contact_sweeps"] > 0 and abs(result.state(-1).x[1:, 2].min() - 0.05) < 1e-9
