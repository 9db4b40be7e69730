"""The wheel holds every package, under the right names, and works where the repository is not."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETUP = ConfigParser()
SETUP.read(ROOT / "setup.cfg")


def modules():
    """Files of the package from its folder, also through the links to elements, solvers and examples."""
    for folder, _, files in os.walk(ROOT / "fem_mbs", followlinks=True):
        yield from (Path(folder, file).relative_to(ROOT) for file in files if file.endswith((".py", ".pyi")))


def test_elements_solvers_and_examples_are_those_of_the_folders_at_the_top():
    inside = {file.relative_to("fem_mbs") for file in modules()}
    for name in ("elements", "solvers", "examples"):
        here = {file.relative_to(ROOT) for file in (ROOT / name).rglob("*.py")}
        assert here and here == {file for file in inside if file.parts[0] == name}


def test_every_folder_with_modules_is_a_package_of_the_setup():
    packages = set(SETUP["options"]["packages"].split())
    assert packages == {".".join(file.parent.parts) for file in modules()}


def test_the_version_is_one():
    import fem_mbs

    assert SETUP["metadata"]["version"] == "attr: fem_mbs.__version__"
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:2] == ["Next", fem_mbs.__version__]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Wheel built from a copy of what a clone has, offline."""
    pytest.importorskip("setuptools", minversion="70.1", reason="building without network needs it in the environment")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for folder in ("fem_mbs", "elements", "solvers", "examples"):
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        target,
        source,
    ]
    subprocess.run([str(c) for c in command], check=True)
    return next(target.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_every_module_once_and_no_other_top_level_name(wheel):
    import fem_mbs

    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith(f"fem_mbs-{fem_mbs.__version__}-")
    top = {name.split("/")[0] for name in names}
    assert top == {"fem_mbs", next(name for name in top if name.endswith(".dist-info"))}
    sources = [name for name in names if name.endswith((".py", ".pyi"))]
    assert sorted(sources) == sorted(file.as_posix() for file in modules())
    assert "fem_mbs/py.typed" in names


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import fem_mbs as fem
assert fem.__file__.startswith(sys.argv[1])
model = fem.Model("fall", gravity=[0, 0, -10])
model.add(fem.RigidBody.sphere(1, 1, name="ball"))
print(fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.1, h=0.01)["ball"].velocity[-1, 2])
from fem_mbs.cli import main
assert main(["validate", "driven_double_pendulum", "roll_up"]) == 0  # scripts, one of which imports another
"""


@pytest.mark.slow
def test_the_installed_wheel_runs_where_the_repository_is_not(wheel, tmp_path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    command = [sys.executable, "-I", "-c", SCRIPT, str(site)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert abs(float(done.stdout.splitlines()[0]) + 1.0) < 1e-12  # v = g t; exact but for round-off


FIRST = """
import sys
sys.path.insert(0, sys.argv[1])
from numba.core import event
with event.install_recorder("numba:run_pass") as passes:
    import fem_mbs as fem
    from fem_mbs.warmup import flexible_pendulum, pile
    assert fem.__file__.startswith(sys.argv[1])
    result = fem.DecoupledNSGA().run(flexible_pendulum(beams=8), 0.05, 1e-3, progress=False)
    fem.MoreauJean().run(pile("boxes"), 0.01, 1e-3, progress=False)
print(len(passes.buffer), float(abs(result.state(-1).V).sum()).hex())
"""


@pytest.mark.slow
def test_the_first_run_from_a_wheel_with_machine_code_compiles_nothing(wheel, tmp_path):
    """As `make wheel` makes it; the numbers are those of code compiled for the processor at hand."""
    pytest.importorskip("wheel", reason="unpacks and packs wheels")
    from fem_mbs.compiled.pack import pack

    packed = pack(wheel, tmp_path / "dist", jobs=2)
    assert re.search(r"-cp3\d+-cp3\d+-", packed.name)
    site = tmp_path / "site"
    zipfile.ZipFile(packed).extractall(site)
    numbers = []
    for code in ("", "none"):
        environment = {**os.environ, "FEM_MBS_CACHE": str(tmp_path / f"cache{code}"), "FEM_MBS_MACHINE_CODE": code}
        command = [sys.executable, "-I", "-c", FIRST, str(site)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        compiled, number = done.stdout.split()
        assert (compiled == "0") == (code == "")
        numbers.append(number)
    assert numbers[0] == numbers[1]
