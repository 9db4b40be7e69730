"""While kernels are compiled a terminal says so, with how many are left and how long it takes."""

import io

import pytest

from fem_mbs.compiled.telling import Telling
from fem_mbs.linear.dense import _dense_factor
from fem_mbs.runtime import overrides


class Terminal(io.StringIO):
    def isatty(self):
        return True


def told(stream, shown=None, programs=5):
    """What a stream gets while programs are compiled, 2 s each; another process compiles one of them."""
    times = iter(range(0, 1000))
    telling = Telling(stream, clock=lambda: 2.0 * next(times))
    telling.asked = shown
    lines = []
    for k in range(programs):
        telling.wanted = programs - k - 1
        telling.starts(_dense_factor.function)
        lines.append(stream.getvalue().split("\r")[-1])
        telling.ends()
    return lines


def test_a_terminal_says_what_is_compiled_and_how_long_it_takes():
    stream = Terminal()
    lines = told(stream)
    assert "1 of 5 (dense._dense_factor)" in lines[0] and "left" not in lines[0]
    assert "4 of 5" in lines[3] and "about 4 s left" in lines[3] and "about 2 s left" in lines[4]
    assert stream.getvalue().endswith(" " * 40 + "\r")  # the line is removed


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO(), None), (Terminal(), False)])
def test_nothing_is_said_elsewhere_or_where_a_run_shows_no_progress(stream, shown):
    told(stream, shown)
    assert stream.getvalue() == ""


def test_the_command_line_has_the_last_word(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(overrides, "progress", False)
    told(stream, True)
    assert stream.getvalue() == ""
