"""Machine code that comes with the package is used where it fits, and missed safely where it does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fem_mbs.compiled import pack, shipped
from fem_mbs.compiled.shipped import SHIPPED, Shipped

SCRIPT = """
import numpy as np
from numba.core import event
from fem_mbs.jit import address, invoke
from fem_mbs.compiled.code_folder import FOLDER

with event.install_recorder("numba:run_pass") as passes:
    from fem_mbs.rotations import exp_matrix
    from fem_mbs.linear.dense import _dense_factor
    import fem_mbs as fem
    spring = fem.Spring(fem.Model().ground, fem.Node3([1.0, 0, 0], name="p"), stiffness=1.0)
    from fem_mbs.jit import bind
    assert _dense_factor.address and bind(spring.kernels["energy"], spring.parameters, spring.sizes).address
    turned = np.empty((3, 3))
    exp_matrix(np.array([0.1, -0.7, 2.0]), turned)
print(len(passes.buffer) > 0, *(float(r).hex() for r in turned.ravel()))
"""


def run(cache, code, **variables):
    """Whether a fresh process compiles, and the numbers it gets, with folders of its own and of shipped code."""
    environment = {**os.environ, "FEM_MBS_CACHE": str(cache), "FEM_MBS_MACHINE_CODE": str(code), **variables}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    compiles, *numbers = done.stdout.split()
    return compiles == "True", numbers


def files(folder):
    """Names of the files of compiled code in a folder."""
    return sorted(path.name for path in folder.rglob("*") if path.suffix in pack.KINDS)


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """Folder of what the script compiles for the level of instructions, and the numbers it got there."""
    if SHIPPED.level is None:
        pytest.skip("no level of instructions is known for this kind of machine")
    folder = tmp_path_factory.mktemp("code")
    compiles, numbers = run(folder / "cache", **{"code": "none"}, **SHIPPED.environment())
    assert compiles and pack.copy_code(folder / "cache", folder / "code") == len(files(folder / "code")) >= 6
    assert not list((folder / "code").rglob("*.py")) and not list((folder / "code").rglob("*.json"))
    return folder / "code", numbers


def test_nothing_is_compiled_with_an_empty_folder_where_code_came_with_the_package(code, tmp_path):
    folder, numbers = code
    assert run(tmp_path / "cache", folder) == (False, numbers)
    assert files(tmp_path / "cache") == []


def test_without_it_the_same_numbers_are_compiled(code, tmp_path):
    assert run(tmp_path / "cache", "none") == (True, code[1])
    assert files(tmp_path / "cache")


def test_damaged_code_is_compiled_anew(code, tmp_path):
    folder = tmp_path / "code"
    pack.copy_code(code[0], folder)
    damaged = [path for path in folder.rglob("*") if path.suffix == ".nbc"]
    for path in damaged:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    assert damaged and run(tmp_path / "cache", folder) == (True, code[1])


def test_code_of_another_version_of_numba_is_not_found(code, tmp_path):
    """A key names the versions: a folder under another key is not looked into."""
    folder = tmp_path / "code"
    pack.copy_code(code[0], folder)
    for path in list(folder.iterdir()):
        if path.name != "bound":
            path.rename(folder / path.name[::-1])
    assert run(tmp_path / "cache", folder) == (True, code[1])


def test_a_processor_that_lacks_an_instruction_does_not_get_the_code(tmp_path, monkeypatch):
    monkeypatch.setenv("FEM_MBS_MACHINE_CODE", str(tmp_path))
    monkeypatch.setattr(shipped.platform, "machine", lambda: "x86_64")
    has = dict.fromkeys(Shipped.levels["x86_64"].features, True)
    for missing in (None, *has):
        features = {**has, missing: False}
        monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda features=features: features)
        assert (Shipped().folder is not None) == (missing is None)


def test_kinds_of_machines_without_a_level_have_no_code_and_cannot_make_any(tmp_path, monkeypatch):
    monkeypatch.setenv("FEM_MBS_MACHINE_CODE", str(tmp_path))
    monkeypatch.setattr(shipped.platform, "machine", lambda: "riscv64")
    assert Shipped().folder is None
    with pytest.raises(RuntimeError, match=r"riscv64.*x86_64, aarch64"):
        Shipped().environment()


def test_a_checkout_has_none_unless_a_folder_is_named(monkeypatch):
    monkeypatch.delenv("FEM_MBS_MACHINE_CODE", raising=False)
    assert not (Path(shipped.__file__).parents[1] / "machine_code").exists() and Shipped().folder is None
