"""Every example runs in an empty folder, as it stands but for `SHORTER`, and what it checks holds."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fem_mbs as fem

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*.py"))
NEEDS = {"rod_from_cad": "gmsh", "gear_with_thin_web": "gmsh"}
# tests/validation/bearings/test_clearance_crank.py has a part of a turn; guided_hopper is a hopper; the cases of
# `fem-mbs validate` have most of what is compared
LONG = {"clearance_crank", "compare_steppers", "hopper_conveyor"}

# the checks of particles hold for fewer of them, and these for larger steps and shorter times
SHORTER = {
    "billiard_break": {"t_end": 0.8},
    "deep_groove_bearing": {"t_end": 0.5, "h": 1.5e-4},
    "gear_with_thin_web": {"h": 4e-5},
    "geared_servo": {"h": 4e-5},
    "gripper": {"h": 5e-3},
    "guided_hopper": {"h": 1e-4},
    "heap": {"count": 300},
    "leaf_spring": {"h": 7e-4},
    "order_in_contact": {"steps": (200, 400)},
    "rigid_ball_bearing": {"t_end": 0.12},
    "ring_hits_ground": {"h": 4e-3},
    "rod_from_cad": {"h": 8e-5},
    "shaft_in_bearings": {"h": 2e-4},
    "shell_panel_arm": {"h": 8e-3},
    "stones_and_nuts": {"count": 24},
}


@pytest.mark.parametrize("script", [path for path in EXAMPLES if path.stem not in LONG], ids=lambda path: path.stem)
def test_example_reproduces_its_references(script, tmp_path, monkeypatch):
    needed(script)
    monkeypatch.chdir(tmp_path)
    check_example(script, tmp_path, **SHORTER.get(script.stem, {}))


@pytest.mark.slow
@pytest.mark.parametrize("script", [e for e in EXAMPLES if e.stem in {*SHORTER, *LONG}], ids=lambda path: path.stem)
def test_long_example_reproduces_its_references(script, tmp_path, monkeypatch):
    needed(script)
    monkeypatch.chdir(tmp_path)
    check_example(script, tmp_path)


def needed(script):
    """Skip an example that needs a package which is not there, or whose libraries are not."""
    if script.stem in NEEDS:
        try:
            importlib.import_module(NEEDS[script.stem])
        except (ImportError, OSError) as error:
            pytest.skip(str(error))


def check_example(script, tmp_path, **options):
    checks = importlib.import_module(script.stem).main(**options)
    assert len(checks) > 0 and checks.ok, f"\n{checks}"
    files = sorted(tmp_path.glob("*.vtkhdf"))
    assert files, "it writes no results file"
    for file in files:
        result = fem.load(file)
        assert result.status == "complete" and len(result.t) > 1 and result.skin.n_points > 0
        assert file.name in importlib.import_module(script.stem).__doc__


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_reports_what_it_is_and_how_to_run_it(script):
    text = script.read_text()
    documentation = importlib.import_module(script.stem).__doc__
    assert f"python examples/{script.name}" in documentation
    assert text.rstrip().endswith('if __name__ == "__main__":\n    main().print()')


def test_an_example_runs_as_a_program_and_leaves_a_file_for_paraview(tmp_path):
    script = next(path for path in EXAMPLES if path.stem == "bouncing_ball")
    run = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300, env={**os.environ}
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0].split() == ["quantity", "reference", "obtained", "error", "tolerance"]
    assert [path.name for path in tmp_path.iterdir()] == ["bouncing_ball.vtkhdf"]
