"""Progress bar of a run, on the standard error stream: time, speed, iterations, active contacts, time left."""

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from fem_mbs.runtime import overrides

REFRESH = 0.1  # s between two drawings
BAR = 24  # characters
PATIENCE = 2.0  # s before a line appears that counts


class Progress:
    """One line that is redrawn during a run.

    Parameters
    ----------
    t_end, start : float [s]
        Times at which the run ends and begins.
    enabled : bool, optional
        Default: what the command line says, else whether ``stream`` is a terminal.
    counted : str
        What is counted in place of times, from 0 to ``t_end``; the line then appears after two seconds.
    stream, clock : optional
        Stream to write to and clock [s]; for tests.

    Examples
    --------
    >>> with Progress(2.0, enabled=False) as bar:
    ...     bar.update(0.5, 500)
    """

    def __init__(
        self,
        t_end: float,
        *,
        start: float = 0.0,
        enabled: bool | None = None,
        counted: str = "",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.t_end, self.start, self.stream, self.clock = t_end, start, stream or sys.stderr, clock
        self.counted = counted
        if overrides.progress is not None:
            enabled = overrides.progress
        self.enabled = self.stream.isatty() if enabled is None else enabled
        self.begun, self.width, self.line = clock(), 0, ""
        self.drawn: float | None = None

    def update(self, t: float, steps: int, records: dict[str, Any] | None = None, saved: int = 0) -> None:
        """Show the progress of the run.

        Parameters
        ----------
        t : float [s]
        steps : int
            Steps done since the start.
        records : dict of arrays, optional
            Saved steps; the last of the first ``saved`` has iterations and closed contacts.
        """
        now = self.clock()
        if not self.enabled or (self.drawn is not None and now - self.drawn < REFRESH and t < self.t_end):
            return
        if self.counted and now - self.begun < PATIENCE:
            return
        self.drawn = now
        elapsed, done = max(now - self.begun, 1e-9), min(max((t - self.start) / (self.t_end - self.start), 0.0), 1.0)
        filled = round(BAR * done)
        where = [f"t = {t:.4g} s", f"{steps / elapsed:,.0f} steps/s"]
        if self.counted:
            where = [f"{t:.0f} of {self.t_end:.0f} {self.counted}"]
        parts = [f"[{'#' * filled}{'.' * (BAR - filled)}] {100 * done:3.0f} %", *where]
        if records is not None and saved:
            parts.append("iterations " + "/".join(f"{n:.0f}" for n in records["iterations"][saved - 1]))
            if records["contact_status"].shape[1]:
                parts.append(f"contacts {(records['contact_status'][saved - 1] > 0).sum()}")
        parts.append(f"left {_clock_text(elapsed * (1 - done) / done) if done > 0 else '?'}")
        self.line = "  ".join(parts)
        self._write("\r" + self.line.ljust(self.width))
        self.width = max(self.width, len(self.line))

    def close(self) -> None:
        """End the line."""
        if self.enabled and self.drawn is not None:
            self._write("\n")
        self.enabled = False

    def _write(self, text):
        self.stream.write(text)
        self.stream.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _clock_text(seconds):
    """Duration as 12 s, 3:05 or 1:02:07."""
    s = round(seconds)
    if s < 60:
        return f"{s} s"
    if s < 3600:
        return f"{s // 60}:{s % 60:02d}"
    return f"{s // 3600}:{s // 60 % 60:02d}:{s % 60:02d}"
