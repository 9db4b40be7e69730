"""The command line: runs scripts with changed values, shows, plots and exports results files, says what is wrong."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_up import made_up_chunk, made_up_system, written

from fem_mbs import runtime
from fem_mbs.cli import main
from fem_mbs.results.progress import Progress

SCRIPT = '''
"""A script with a closed form."""

import numpy as np

from fem_mbs import runtime
from fem_mbs.checks import Check, Checks

mass, radius = 1.0, 0.2  # kg, m
g: float = 10.0
mode = "rigid"
table = np.array([1.0, 2.0])


def main(h=2e-3, save="ball.vtkhdf"):
    t_end, h, save = runtime.apply(1.0, h, save)
    print(f"mass {mass} radius {radius} g {g} mode {mode} h {h} t_end {t_end} save {save}")
    return Checks(Check("weight [N]", reference=10.0, obtained=mass * g, rel=1e-12))  # round-off


if __name__ == "__main__":
    main().print()
'''


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "ball.py"
    path.write_text(SCRIPT)
    return str(path)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return str(written(made_up_system(), tmp_path_factory.mktemp("cli") / "made_up.vtkhdf").path)


def test_a_script_runs_as_it_stands_and_prints_its_checks(script, capsys):
    assert main(["run", script]) == 0
    out = capsys.readouterr().out
    assert "mass 1.0 radius 0.2 g 10.0 mode rigid h 0.002 t_end 1.0 save ball.vtkhdf" in out
    assert "weight [N]" in out and "ok" in out


def test_values_of_tuples_annotated_names_texts_and_arguments_of_main_can_be_set(script, capsys):
    settings = ["radius=0.5", "g=20 * mass / 2", "mode=flexible", "save='other.vtkhdf'"]
    assert main(["run", script, *(f"--set={text}" for text in settings)]) == 0
    out = capsys.readouterr().out
    assert "mass 1.0 radius 0.5 g 10.0 mode flexible h 0.002 t_end 1.0 save other.vtkhdf" in out


def test_a_check_that_fails_gives_exit_code_1(script, capsys):
    assert main(["run", script, "--set", "mass=2"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_end_time_step_and_folder_replace_those_of_the_script_and_only_for_its_run(script, tmp_path, capsys):
    folder = tmp_path / "results"
    assert main(["run", script, "--t-end", "3", "--h", "1e-4", "--out", str(folder)]) == 0
    assert f"h 0.0001 t_end 3.0 save {folder / 'ball.vtkhdf'}" in capsys.readouterr().out
    assert folder.is_dir()
    assert runtime.apply(1.0, 2e-3, "a.vtkhdf") == (1.0, 2e-3, "a.vtkhdf")


def test_results_of_a_static_equilibrium_go_to_the_folder_as_well(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(Path(__file__).parents[2] / "examples" / "roll_up.py"), "--out", "results"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["results"] and Path("results", "roll_up.vtkhdf").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--set", "weight=3"], "mass, radius, g, mode, table, h, save"),
        (["--set", "weight"], "NAME=VALUE"),
        (["--set", "mass=1 +"], "'1 +'"),
        (["--h", "0"], "--h 0: must be > 0 s"),
    ],
)
def test_a_wrong_option_is_rejected_with_what_is_allowed(script, arguments, message, capsys):
    assert main(["run", script, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_script_without_main_runs_as_a_program(tmp_path, capsys):
    path = tmp_path / "plain.py"
    path.write_text("n = 3\nif __name__ == '__main__':\n    print('n is', n)\n")
    assert main(["run", str(path), "--set", "n=4"]) == 0
    assert capsys.readouterr().out == "n is 4\n"


@pytest.mark.parametrize("text, message", [(None, "cannot be read"), ("x = = 1", "line 1: invalid syntax")])
def test_a_script_that_is_missing_or_broken_is_named(text, message, tmp_path, capsys):
    path = tmp_path / "broken.py"
    if text is not None:
        path.write_text(text)
    assert main(["run", str(path)]) == 2
    error = capsys.readouterr().err
    assert "broken.py" in error and message in error


def test_info_shows_the_run_and_every_name(file, capsys):
    assert main(["info", file]) == 0
    out = capsys.readouterr().out
    assert "201 states saved" in out
    parts = ("ball", "table", "pin", "spring", "rod 1, rod 2", "gap [m]", "moment_B [N m]")
    assert all(part in out for part in parts)


def test_plots_exports_and_tables_are_written_to_the_files_named(file, tmp_path, capsys):
    assert main(["plot", file, "ball.position.z", "energy", "-o", str(tmp_path / "z.png")]) == 0
    assert main(["export", file, "--format", "csv", "table.gap", "-o", str(tmp_path / "gap")]) == 0
    assert main(["export", file, "--format", "vtu", "--time", "1.0", "-o", str(tmp_path / "one.vtu")]) == 0
    assert main(["export", file, "--format", "pvd", "--frames", "3", "-o", str(tmp_path / "all.pvd")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{tmp_path / 'all.pvd'} and 3 more"
    assert all((tmp_path / name).exists() for name in ("z.png", "gap.csv", "one.vtu", "all.pvd"))


def test_a_history_that_does_not_exist_is_an_error_with_a_hint(file, tmp_path, capsys):
    assert main(["plot", file, "bal.position", "-o", str(tmp_path / "x.png")]) == 2
    assert "did you mean 'ball'" in capsys.readouterr().err


def test_linear_solvers_are_listed(capsys):
    assert main(["solvers"]) == 0
    assert "active" in capsys.readouterr().out


def test_the_installed_program_reports_its_version():
    command = [sys.executable, "-m", "fem_mbs.cli", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("fem-mbs ")


# --- progress ---------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def test_progress_reports_time_speed_iterations_contacts_and_time_left():
    stream, clock = io.StringIO(), Clock()
    bar = Progress(2.0, enabled=True, stream=stream, clock=clock)
    clock.now = 5.0
    records = made_up_chunk(made_up_system(), np.array([1, 2]))
    bar.update(0.5, 500, records, 2)
    for part in ("25 %", "t = 0.5 s", "100 steps/s", "iterations 2/1/0", "contacts 1", "left 15 s"):
        assert part in bar.line, f"{part!r} is missing in {bar.line!r}"
    clock.now = 5.01
    bar.update(0.6, 600)  # too early to be drawn again
    assert "t = 0.6" not in stream.getvalue()
    clock.now = 3605.0
    bar.update(1.0, 600)
    assert "left 1:00:05" in stream.getvalue()
    bar.close()
    assert stream.getvalue().endswith("\n")


def test_progress_of_a_run_that_begins_later_is_that_of_its_own_duration():
    clock = Clock()
    bar = Progress(7.0, start=5.0, enabled=True, stream=io.StringIO(), clock=clock)
    clock.now = 5.0
    bar.update(5.5, 500)
    for part in ("25 %", "t = 5.5 s", "left 15 s"):
        assert part in bar.line, f"{part!r} is missing in {bar.line!r}"


def test_progress_is_silent_where_there_is_no_terminal():
    stream = io.StringIO()
    with Progress(1.0, stream=stream) as bar:
        bar.update(0.5, 10)
    assert stream.getvalue() == ""
