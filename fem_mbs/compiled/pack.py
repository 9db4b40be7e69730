"""Put machine code into a wheel, for all processors of one kind.

``python -m fem_mbs.compiled.pack WHEEL FOLDER``

All that `fem-mbs warmup --all` and the published cases that take seconds call is compiled for a level of instructions
(`fem_mbs.compiled.shipped`), in an empty folder. The wheel then serves one version of Python on one kind of machine;
elsewhere, and with other versions of numba or NumPy, it works as one without machine code.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from fem_mbs.compiled.shipped import SHIPPED

KINDS = (".nbi", ".nbc")  # files of compiled code


def compile_all(folder: Path, jobs: int) -> None:
    """Compile for the level of instructions of this kind of machine into a folder."""
    environment = {**os.environ, **SHIPPED.environment(), "FEM_MBS_CACHE": str(folder)}
    for arguments in (["warmup", "--all"], ["validate", "--fast", "--jobs", str(jobs)]):
        subprocess.run([sys.executable, "-m", "fem_mbs", *arguments], check=True, env=environment)


def copy_code(source: Path, target: Path) -> int:
    """Copy the files of compiled code, in their folders; returns their number."""
    files = [file for file in source.rglob("*") if file.suffix in KINDS]
    for file in files:
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    return len(files)


def pack(wheel: Path, target: Path, jobs: int) -> Path:
    """Make a wheel with machine code of one without; returns its path in the folder ``target``."""
    tool = [sys.executable, "-m", "wheel"]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        subprocess.run([*tool, "unpack", "--dest", str(work), str(wheel)], check=True)
        (inside,) = work.iterdir()
        cache = work / "code"
        cache.mkdir(mode=0o700)
        compile_all(cache, jobs)
        count = copy_code(cache, inside / "fem_mbs" / "machine_code")
        target.mkdir(parents=True, exist_ok=True)
        made = work / "packed"
        made.mkdir()
        subprocess.run([*tool, "pack", "--dest-dir", str(made), str(inside)], check=True)
        (packed,) = made.iterdir()
        python, platform = sys.implementation.cache_tag.replace("cpython-", "cp"), sysconfig.get_platform()
        tags = ["--python-tag", python, "--abi-tag", python, "--platform-tag", platform.replace("-", "_")]
        subprocess.run([*tool, "tags", "--remove", *tags, str(packed)], check=True)
        (tagged,) = made.iterdir()
        result = Path(shutil.copy(tagged, target))
    print(f"{result}: {count} files of machine code, {result.stat().st_size / 1e6:.1f} MB")
    return result


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="fem_mbs.compiled.pack", description="Put machine code into a wheel.")
    parser.add_argument("wheel", type=Path, help="wheel without machine code")
    parser.add_argument("folder", type=Path, help="where the wheel with machine code goes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that run cases at a time")
    chosen = parser.parse_args(arguments)
    pack(chosen.wheel, chosen.folder, chosen.jobs)


if __name__ == "__main__":
    main()
