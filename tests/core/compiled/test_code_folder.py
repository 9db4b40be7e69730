"""Compiled code is executed: it is kept where nobody else can put anything, or in one temporary folder per process."""

import os
import stat
import subprocess
import sys

import pytest

from fem_mbs.compiled.code_cache import Keys
from fem_mbs.compiled.code_folder import CodeFolder


@pytest.fixture
def wanted(tmp_path, monkeypatch):
    monkeypatch.setenv("FEM_MBS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder():
    folder = CodeFolder()
    yield folder
    if folder.temporary:
        folder._remove(os.getpid())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_private_whatever_the_umask(wanted, folder):
    before = os.umask(0)
    try:
        assert folder.get() == wanted
    finally:
        os.umask(before)
    assert mode(wanted) == 0o700


def test_a_folder_that_others_could_read_is_made_private_and_used(wanted, folder):
    wanted.mkdir()
    wanted.chmod(0o755)
    assert folder.get() == wanted and mode(wanted) == 0o700


@pytest.mark.parametrize("bits", [0o775, 0o707, 0o777])
def test_a_folder_that_others_could_fill_is_not_used(bits, wanted, folder):
    wanted.mkdir()
    wanted.chmod(bits)
    with pytest.warns(UserWarning, match="others may"):
        used = folder.get()
    assert used != wanted and mode(used) == 0o700 and mode(wanted) == bits


def test_a_folder_of_another_user_is_not_used(wanted, folder, monkeypatch):
    wanted.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: wanted.stat().st_uid + 1)
    with pytest.warns(UserWarning, match="another user"):
        assert folder.get() != wanted


def test_a_read_only_place_gives_one_temporary_folder_and_one_warning(wanted, folder):
    wanted.parent.joinpath("cache").write_text("a file where the folder should be")
    with pytest.warns(UserWarning) as warned:
        folders = {folder.get() for _ in range(5)}
    assert len(folders) == 1 and len(warned) == 1


READ_ONLY = """
import os, sys, warnings
from fem_mbs.compiled.code_folder import FOLDER
warnings.simplefilter("ignore")
print(FOLDER.get(), FOLDER.get(), flush=True)
if os.fork() == 0:
    sys.exit(0)  # the child ends first, with all that runs at an end
os.wait()
assert os.path.isdir(FOLDER.get())
"""


def test_the_temporary_folder_is_removed_at_the_end_of_the_process_that_made_it(wanted):
    wanted.write_text("a file where the folder should be")
    done = subprocess.run([sys.executable, "-c", READ_ONLY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split()
    assert first == second and not os.path.exists(first)


def test_sources_that_change_while_a_process_runs_do_not_give_their_key_to_what_it_has_imported(tmp_path, monkeypatch):
    """Code compiled from the text before an update, under the key after it, crashed every later process."""
    file = tmp_path / "law.py"
    file.write_text("STIFFNESS = 1.0\n")
    changed = file.stat().st_mtime_ns

    def key(started):
        monkeypatch.setattr(Keys, "started", started)
        return Keys.of(file)

    later = key(changed + 1)
    assert key(changed + 2) == later  # started after the change: shared
    before = {key(changed - 1), key(changed - 2)}
    assert len(before) == 2 and later not in before  # running when it changed: each for itself
