"""Kernels compute what their Python text says, own what they allocate, and are translated once."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from fem_mbs.jit import OWN_COMPILER, address, entry, invoke, kernel, local_matrix, vector


@kernel
def ends(x, i, k):
    """First and last numbers by literal and by variable indices, of either sign."""
    return x[0] + 10.0 * x[-1] + 100.0 * x[i] + 1000.0 * x[k]


@kernel
def shuffle(A, i, j, out):
    """Numbers and rows of a matrix, read and written in all the ways that kernels do it."""
    row = A[i]
    row[j] += 3.0
    A[i, -1] *= 2.0
    A[-1][0] = A[0, j] - A[i][j]
    place = (j, i)
    out[place] = A[j, i] ** 2
    out[0, 0] = out[j, i] // 3
    n, m = A.shape
    return n * 10 + m


@kernel
def branches(x):
    """Variables that are set in branches and carried through loops."""
    total, best, found = 0.0, -1.0, False
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        square = x[i] * x[i]
        if square > best:
            best, where, found = square, i, True
        k = i
        while k > 0 and x[k - 1] > x[k]:
            total += square
            k -= 1
        if total > 50.0:
            break
    return (total, best, where) if found else (total, best, -1)


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.int32])
@pytest.mark.parametrize("step", [1, 2])
def test_indices_of_either_sign_denote_what_they_do_in_python(kind, step):
    x = np.arange(3, 19).astype(kind)[::step]
    for i, k in ((0, 3), (-1, -4), (5, -5)):
        assert ends(x, i, k) == ends.py_func(x, i, k)


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_are_read_and_written_where_python_does(order):
    rng = np.random.default_rng(1)
    A = np.array(rng.integers(1, 90, (4, 4)), float, order=order)
    for i, j in ((1, 2), (3, 0), (-2, -3)):
        a, b, out, expected = A.copy(order), A.copy(order), np.zeros((4, 4)), np.zeros((4, 4))
        assert shuffle(a, i, j, out) == shuffle.py_func(b, i, j, expected)
        assert (a == b).all() and (out == expected).all()


def test_variables_of_branches_and_loops_have_the_values_of_python():
    rng = np.random.default_rng(2)
    for n in range(1, 40):
        x = np.round(rng.normal(0.5, 2.0, n), 2)
        assert branches(x) == branches.py_func(x)


@kernel
def powers(x, n, factor, out):
    """A part that programs call with sizes and numbers of their own."""
    for i in range(n):
        value, total = 1.0, 0.0
        for k in range(len(x)):
            if x[k] > factor:
                total -= value * x[k] * x[k]
            elif x[k] < -factor:
                total += value * x[k] / factor
            else:
                total += value
            value *= factor * x[k]
            for j in range(k):
                total += x[j] * x[k] * value if j % 2 == i % 2 else x[j] - value
        out[i] = total + i * value


@kernel
def small_powers(x, out):
    powers(x[:3], 2, 0.5, out)
    powers(x, 4, 0.25, out[2:])


@kernel
def large_powers(x, out):
    powers(x, 3, 2.0, out)
    powers(x[1:], 3, 3.0, out[3:])


def test_programs_that_fit_the_same_part_to_their_calls_keep_apart():
    x, found, expected = np.array([0.3, -1.7, 2.6, 0.9, -0.2]), np.zeros((3, 6)), np.zeros((3, 6))
    for row, program in zip(found, (small_powers, large_powers, small_powers)):
        program(x, row)
    powers.py_func(x[:3], 2, 0.5, expected[0])
    powers.py_func(x, 4, 0.25, expected[0, 2:])
    powers.py_func(x, 3, 2.0, expected[1])
    powers.py_func(x[1:], 3, 3.0, expected[1, 3:])
    expected[2] = expected[0]
    assert (found == expected).all()


# --- memory -----------------------------------------------------------------------------------------------------------


@kernel
def tail(x):
    """Part of an argument."""
    return x[1:]


@kernel
def made(n):
    """Array that the caller owns."""
    x = np.empty(n)
    for i in range(n):
        x[i] = i
    return x


@kernel
def sum_of(x):
    """Borrows its argument."""
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


@kernel
def sum_of_made(n):
    """Owns an array, lends it, and holds a part of it when the whole has no name any more."""
    rest = tail(made(n))
    other = made(1000)
    return sum_of(rest) + 0.0 * other[0]


def test_arrays_that_kernels_allocate_live_as_long_as_needed_and_are_freed():
    sum_of_made(4)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for n in range(2, 300):
        assert sum_of_made(n) == n * (n - 1) / 2
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc >= 2 * 298
    assert after.free - before.free == after.alloc - before.alloc


def test_a_part_of_an_array_keeps_the_whole_alive():
    parts = [tail(made(1000)) for _ in range(20)]
    assert all((part == np.arange(1, 1000)).all() for part in parts)


@kernel
def shifted(x):
    """Sets a part of an array from another part, which overlaps it: NumPy takes the old values."""
    x[1:] = x[:-1]


@kernel
def at_address(at, n):
    """An array at an address, which goes to Python where the kernel is called from there."""
    return vector(at, n)


def test_a_slice_is_set_from_the_old_values_of_a_slice_that_overlaps_it():
    x = np.arange(6.0)
    shifted(x)
    assert x.tolist() == [0, 0, 1, 2, 3, 4]


def test_an_array_at_an_address_can_be_handed_to_python():
    x = np.arange(4.0)
    assert at_address(address(x), 4).tolist() == x.tolist()


# --- parts and programs -----------------------------------------------------------------------------------------------


@kernel
def leaf(x):
    return x * x


@kernel
def stem(at, n):
    """Uses the stack, an address, and another kernel."""
    x, A = vector(at, n), local_matrix(2, 2)
    for i in range(n):
        A[i % 2, 1] = leaf(x[i])
        x[i] = A[i % 2, 1] + 1.0


@entry("void(int64, int64)")
def whole(a, b):
    stem(a, b)


def test_a_kernel_that_only_kernels_call_is_not_translated_by_itself():
    x = np.arange(3.0)
    invoke(whole.address, address(x), 3)
    assert x.tolist() == [1.0, 2.0, 5.0]
    assert not leaf.overloads, "translated although nobody calls it from Python"
    assert leaf(3.0) == 9.0


@kernel
def refuses(x):
    if x < 0.0:
        raise ValueError("negative")
    return leaf(x)


@kernel
def calls_refuses(x):
    return refuses(x) + 1.0


def test_errors_pass_from_a_called_kernel_to_python():
    assert calls_refuses(2.0) == 5.0
    with pytest.raises(ValueError, match="negative"):
        calls_refuses(-1.0)


_SCRIPT = """
import numpy as np, numba.core.event as event
class Count(event.Listener):
    n = 0
    def on_start(self, e): Count.n += 1
    def on_end(self, e): pass
event.register("numba:compile", Count())
from fem_mbs.rotations import exp_matrix
R = np.zeros((3, 3)); exp_matrix(np.array([0.1, 0.2, 0.3]), R)
print(Count.n, R.sum())
"""


def test_a_second_process_compiles_nothing(tmp_path):
    environment = {**os.environ, "FEM_MBS_CACHE": str(tmp_path / "cache")}
    runs = [
        subprocess.run([sys.executable, "-c", _SCRIPT], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    (first, a), (second, b) = (run.stdout.split() for run in runs)
    assert int(first) > 0 and int(second) == 0
    assert a == b


def test_damaged_files_of_compiled_code_are_compiled_again(tmp_path):
    """Empty, cut and flipped ones: an index or code that is loaded as it is ends in a crash at every later run."""
    folder = tmp_path / "cache"
    environment = {**os.environ, "FEM_MBS_CACHE": str(folder)}

    def run():
        found = subprocess.run([sys.executable, "-c", _SCRIPT], env=environment, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        return found.stdout.split()

    compiled, value = run()
    files = sorted(path for kind in ("nbi", "nbc") for path in folder.rglob(f"*.{kind}"))
    assert len(files) >= 2
    for k, path in enumerate(files):
        data = bytearray(path.read_bytes())
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 4
        path.write_bytes((bytearray(), data[: len(data) // 2], flipped)[k % 3])
    assert run() == [compiled, value]
    assert run() == ["0", value]


def test_bound_code_is_written_anew_where_it_is_not_the_text_it_must_be(tmp_path, monkeypatch):
    import fem_mbs as fem
    from fem_mbs import jit

    monkeypatch.setenv("FEM_MBS_CACHE", str(tmp_path))
    model = fem.Model()
    spring = model.add(fem.Spring(model.ground, fem.Node3([1.0, 0, 0], name="p"), stiffness=1.0))
    wanted = spring.kernels["energy"], spring.parameters, spring.sizes
    monkeypatch.setattr(jit, "_bound", {})
    jit.bind(*wanted)
    (path,) = (tmp_path / "bound").glob("bound_*.py")
    text = path.read_bytes()
    for damage in (b"", text[: len(text) // 2], text.replace(b"energy", b"enemy")):
        path.write_bytes(damage)
        monkeypatch.setattr(jit, "_bound", {})
        jit.bind(*wanted)
        assert path.read_bytes() == text


_MODELS = """
import sys
sys.path.insert(0, {examples!r})
import fem_mbs as fem, fem_mbs.jit as jit
import bouncing_ball, double_pendulum, rocking_block, roller_crank
models = double_pendulum.build(), roller_crank.build(flexible=True), rocking_block.build(), bouncing_ball.build()
print(jit.OWN_COMPILER)
for model in models:
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, 0.2, 1e-3)
    state = result.state(-1)
    print(model.name.replace(" ", "_"), *(float(number).hex() for number in (*state.x.ravel(), *state.V.ravel())))
"""


@pytest.mark.slow
def test_numba_by_itself_gives_the_same_numbers():
    """Both compilers translate the same operations in the same order: states after 200 steps are equal bit by bit."""
    script = _MODELS.format(examples=str(Path(__file__).parents[3] / "examples"))
    found = []
    for compiler in ("own", "numba"):
        environment = {**os.environ, "FEM_MBS_COMPILER": compiler}
        command = [sys.executable, "-c", script]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.append(run.stdout.splitlines())
    (own, *mine), (plain, *theirs) = found
    assert (own, plain) == (str(OWN_COMPILER), "False") and len(mine) == 4
    assert mine == theirs
