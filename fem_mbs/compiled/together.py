"""Programs that a run is about to need, compiled together: in several processes where processors are free.

What a model and a time stepper need is known before it is compiled (`Wanted`). It is asked for in
batches; other processes (`fem_mbs.compiled.worker`) take from the same queue as this one, and write what they compile
into the folder of compiled code, from which it is loaded. Whatever they cannot do, this process does.
"""

import atexit
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from fem_mbs.compiled.code_folder import FOLDER
from fem_mbs.compiled.telling import TELLING

ROOT = str(Path(__file__).resolve().parents[2])  # where Python finds this package


class Wanted:
    """A program that can be compiled by any process: `fem_mbs.jit.Entry`."""

    @property
    def kept(self) -> bool:
        """True if compiled code of it is here, or on disk."""
        raise NotImplementedError(f"{type(self).__name__} does not define kept")

    @property
    def place(self) -> str:
        """Where another process finds it, see `fem_mbs.compiled.worker`; empty if it cannot."""
        raise NotImplementedError(f"{type(self).__name__} does not define place")

    def compile(self) -> None:
        """Compile it, or load what is kept, unless this was done."""
        raise NotImplementedError(f"{type(self).__name__} does not define compile(self)")


class Together:
    """Queue of programs, and the processes that take from it."""

    fewest = 4  # programs, for which another process is started: it takes a second and a half to be ready
    most = 4  # processes: all wait for the longest programs, and each has some 0.3 GB

    def __init__(self) -> None:
        self.queue: deque[Wanted] = deque()
        self.running: dict[Wanted, threading.Event] = {}  # by other processes
        self.changed = threading.Condition()
        self.workers: list[subprocess.Popen] = []

    def expect(self, entries: Iterable) -> None:
        """Say what will be asked for: other processes may begin."""
        with self.changed:
            known = {*self.queue, *self.running}
            self.queue.extend(entry for entry in self._compiled(entries) if entry not in known and not entry.kept)
            if len(self.queue) >= self.fewest:
                self._start_workers()
            TELLING.wanted = len(self.queue) + len(self.running)
            self.changed.notify_all()

    def get(self, entries: Iterable) -> None:
        """Compile what is not kept of some programs, with all processes; returns when all of them are there."""
        entries = self._compiled(entries)
        self.expect(entries)
        asked = set(entries)
        try:
            while (entry := self._take(asked)) is not None:
                entry.compile()
            for entry in entries:  # those of other processes, and what is kept
                entry.compile()
        except BaseException:  # Ctrl-C too
            self.forget()
            raise

    def claim(self, entry: Wanted) -> None:
        """Leave a program to this process; if another one is at it, wait until it is ready."""
        with self.changed:
            if entry in self.queue:
                self.queue.remove(entry)
            ready = self.running.get(entry)
        if ready is not None:
            ready.wait()

    def forget(self) -> None:
        """Leave what nobody has asked for."""
        with self.changed:
            self.queue.clear()
            TELLING.wanted = len(self.running)

    @staticmethod
    def _compiled(entries):
        """Those that are compiled, each once: some functions at addresses are of Python."""
        return [entry for entry in dict.fromkeys(entries) if isinstance(entry, Wanted)]

    def _take(self, asked):
        """The next of some programs that nobody is at, taken from the queue; None if there is none."""
        with self.changed:
            TELLING.wanted = len(self.queue) + len(self.running) - 1
            for entry in self.queue:
                if entry in asked:
                    self.queue.remove(entry)
                    return entry
            TELLING.wanted = len(self.queue) + len(self.running)
        return None

    def _start_workers(self):
        while len(self.workers) < self._free() - 1:
            try:
                worker = subprocess.Popen(
                    [sys.executable, "-m", "fem_mbs.compiled.worker"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    cwd=ROOT,  # not that of the model: Python would import what lies there
                    env=self._environment(), start_new_session=True,  # Ctrl-C is for this process, which ends it
                )  # fmt: skip
            except OSError:  # no memory, too many processes
                return
            if not self.workers:
                atexit.register(self.end)
            self.workers.append(worker)
            threading.Thread(target=self._serve, args=[worker], daemon=True).start()

    def _free(self):
        """Number of processes that may compile: of processors that nothing else uses."""
        asked = os.environ.get("FEM_MBS_COMPILERS")
        if asked:
            return int(asked) if asked.isdigit() else 1
        has = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else has
        return min(int(has - max(load - 1.0, 0.0) + 0.2), self.most)

    @staticmethod
    def _environment():
        path = os.pathsep.join([ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
        folder = str(FOLDER.get().resolve())
        return {**os.environ, "PYTHONPATH": path, "FEM_MBS_CACHE": folder, "FEM_MBS_COMPILERS": "1"}

    def _serve(self, worker):
        """Give programs to a process, one after another, until it ends."""
        while True:
            with self.changed:
                entry = self._next()
                while entry is None:
                    self.changed.wait()
                    entry = self._next()
                ready = self.running[entry] = threading.Event()
            try:
                worker.stdin.write(entry.place + "\n")
                worker.stdin.flush()
                answer = worker.stdout.readline()
            except (OSError, ValueError):
                answer = ""
            with self.changed:
                del self.running[entry]
                TELLING.one_done()
            ready.set()
            if not answer:  # it has ended
                return

    def _next(self):
        """The next program that another process can compile, taken from the queue; None if there is none."""
        for entry in self.queue:
            if entry.place:
                self.queue.remove(entry)
                return entry
        return None

    def end(self) -> None:
        """End the other processes."""
        for worker in self.workers:
            worker.kill()

    def forked(self) -> None:
        """Begin anew in a process that was forked: the other processes are those of its parent."""
        self.queue, self.running, self.workers = deque(), {}, []
        self.changed = threading.Condition()


TOGETHER = Together()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TOGETHER.forked)
