"""Programs that are asked for together are compiled by several processes, and all are there in the end."""

import os
import subprocess
import sys
import threading
import time

import pytest

from fem_mbs.compiled.together import TOGETHER, Wanted
from fem_mbs.compiled.worker import compile_named

SCRIPT = """
import sys
from numba.core import event
from fem_mbs.compiled.together import TOGETHER
from fem_mbs.compiled.telling import TELLING
from fem_mbs.jit import entry, vector
from fem_mbs.solvers.contact import position, velocity

@entry("void(int64, int64)")
def own(at, n):
    vector(at, n)[0] = 1.0

{extra}
short = ("matrix", "right", "keep", "move")
wanted = [own, *(getattr(problem.PROBLEM, name) for problem in (position, velocity) for name in short)]
with event.install_recorder("numba:compile") as compiled:
    TOGETHER.get(wanted)
    with event.install_recorder("numba:compile") as later:
        assert all(e.address for e in wanted)
assert not TOGETHER.queue and not TOGETHER.running and len(later.buffer) == 0
print(len(TOGETHER.workers), len(set(wanted)), TELLING.done, own.place == "")
"""


def run(cache, processes, extra=""):
    """Further processes, programs, those compiled, of a fresh process with an empty cache."""
    environment = {**os.environ, "FEM_MBS_CACHE": str(cache), "FEM_MBS_COMPILERS": str(processes)}
    script = cache.parent / "model.py"
    script.write_text(SCRIPT.format(extra=extra))
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    workers, programs, compiled, without_place = done.stdout.split()
    assert without_place == "True"  # what a script defines is compiled where it is
    return int(workers), int(programs), int(compiled)


def code(cache):
    """Names of the files of compiled code."""
    return {path.name for path in cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    cache = tmp_path_factory.mktemp("alone") / "cache"
    workers, programs, compiled = run(cache, 1)
    assert workers == 0 and programs == compiled == 9
    return cache


def test_another_process_compiles_a_part_of_them(alone, tmp_path):
    workers, programs, compiled = run(tmp_path / "cache", 2)
    assert workers == 1 and compiled == programs and code(tmp_path / "cache") == code(alone)


@pytest.mark.parametrize(
    "extra",
    [
        "import subprocess; TOGETHER._environment = lambda: {'PATH': '', 'PYTHONPATH': '/nowhere'}",  # cannot start
        "import threading; threading.Timer(1.0, lambda: TOGETHER.workers[0].kill()).start()",  # ends at its work
    ],
)
def test_what_another_process_does_not_finish_is_compiled_here(extra, alone, tmp_path):
    run(tmp_path / "cache", 2, extra)
    assert code(tmp_path / "cache") == code(alone)


INTERRUPT = """
import os, signal, threading, time

def interrupt():
    while not TOGETHER.running:
        time.sleep(0.01)
    print(TOGETHER.workers[0].pid, flush=True)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
own.compile = lambda: time.sleep(60)  # this process is busy until then
"""


def test_an_interrupt_ends_all_processes(tmp_path):
    environment = {**os.environ, "FEM_MBS_CACHE": str(tmp_path / "cache"), "FEM_MBS_COMPILERS": "2"}
    script = tmp_path / "model.py"
    script.write_text(SCRIPT.format(extra=INTERRUPT))
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode != 0 and "KeyboardInterrupt" in done.stderr
    other = int(done.stdout.split()[0])
    for _ in range(100):  # until it has ended
        try:
            os.kill(other, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the other process continues")


def test_what_is_kept_starts_no_process(alone):
    workers, _, compiled = run(alone, 2)
    assert workers == compiled == 0


def test_the_number_of_processes_follows_the_processors_that_are_free(monkeypatch):
    from fem_mbs.compiled.together import Together

    together = Together()
    monkeypatch.delenv("FEM_MBS_COMPILERS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(8), raising=False)
    free = {}
    for load in (0.0, 1.0, 6.0, 20.0):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0, 0))
        free[load] = together._free()
    assert free == {0.0: 4, 1.0: 4, 6.0: 3, 20.0: -10}
    monkeypatch.setenv("FEM_MBS_COMPILERS", "3")
    assert together._free() == 3


class Program(Wanted):
    kept, place = False, ""

    def compile(self):
        TOGETHER.claim(self)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_wait_for_the_processes_of_its_parent():
    program = Program()
    TOGETHER.running[program] = threading.Event()  # another process is at it, and never ends
    try:
        child = os.fork()
        if child == 0:
            TOGETHER.get([program])
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        del TOGETHER.running[program]


def test_a_process_answers_what_went_wrong():
    assert compile_named("fem_mbs.linear.dense:_dense_factor") == "kept"
    assert compile_named("fem_mbs.linear.dense:_no_such") == "failed: AttributeError"
    assert compile_named("fem_mbs.no_such:f") == "failed: ModuleNotFoundError"
