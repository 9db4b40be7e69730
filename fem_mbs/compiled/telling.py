"""What a terminal says while kernels are compiled: how many are done, how many are left, how long it takes.

The first run of a kind of model on a machine compiles for up to a minute. The line is removed when that is done, and
one line that stays says what it was.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from fem_mbs.compiled.code_folder import BOUND

LONG = 3.0  # s of compilation, after which a line stays


class Telling:
    """The line about compilation; ``stream`` and ``clock`` [s] for tests."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream, self.clock = stream, clock
        self.wanted = 0  # programs, in addition to the present one
        self.done, self.width = 0, 0
        self.busy = 0.0  # s, of all that was done
        self.since: float | None = None
        self.asked: bool | None = None  # what the present run says: shown or not

    def starts(self, function: Any) -> None:
        """This process begins to compile a program."""
        self.since = self.clock()
        if function.__module__.startswith(BOUND):
            function = function.__globals__["kernel"].py_func
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        left = self.wanted + 1
        text = f"compiling, once on this machine: {self.done + 1} of {self.done + left} ({name})"
        if self.done >= 3:
            text += f", about {max(self.busy / self.done * left, 1):.0f} s left"
        self._write(text)

    def ends(self) -> None:
        """It has ended."""
        assert self.since is not None
        self.busy += self.clock() - self.since
        self.done += 1
        self._write("")

    def one_done(self) -> None:
        """Another process has compiled a program."""
        self.done += 1

    def _write(self, text):
        stream = self.stream or sys.stderr
        if not self._shown(stream):
            return
        stream.write(f"\r{text.ljust(self.width)}" + ("" if text else "\r"))
        stream.flush()
        self.width = len(text)

    def _shown(self, stream):
        from fem_mbs.runtime import overrides

        asked = self.asked if overrides.progress is None else overrides.progress
        return stream.isatty() if asked is None else asked


TELLING = Telling()
