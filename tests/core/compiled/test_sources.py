"""What compiled code depends on is found anew when a file changes, and kept for the next process otherwise."""

import os

import pytest

from fem_mbs.compiled import sources
from fem_mbs.compiled.sources import Sources

TEXT = '"""Kernels."""\nfrom fem_mbs.rotations import exp\n\n\ndef f(x):\n    return {value} * x\n'


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(TEXT.format(value=1))
    return path


def digest(known, file, folder):
    """What stands for the file itself, without the modules that it imports."""
    names, _ = known.digests(file, folder)
    assert any(name.startswith("rotations.py ") for name in names)
    return next(name for name in names if name.startswith("kernels.py "))


def test_an_edited_file_has_another_digest_in_the_same_process_and_in_the_next(file, tmp_path):
    known = Sources()
    first = digest(known, file, tmp_path)
    known.keep()
    file.write_text(TEXT.format(value=22))
    second = digest(known, file, tmp_path)
    assert second != first
    assert digest(Sources(), file, tmp_path) == second  # it starts from what was kept before the edit
    state = file.stat()
    file.write_text(TEXT.format(value=33))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert digest(known, file, tmp_path) not in (first, second)


def test_a_file_that_did_not_change_is_not_read_by_the_next_process(file, tmp_path, monkeypatch):
    known = Sources()
    first = digest(known, file, tmp_path)
    known.keep()
    monkeypatch.setattr(sources, "compiled_text", lambda _: pytest.fail("read although it is known"))
    assert digest(Sources(), file, tmp_path) == first


@pytest.mark.parametrize("text", ["", "[1, 2", "[]"])
def test_a_broken_list_is_made_anew(text, file, tmp_path):
    known = Sources()
    first = digest(known, file, tmp_path)
    known.path.write_text(text)
    assert digest(Sources(), file, tmp_path) == first
