"""Compilation: one place that decides numba's options, where compiled code is kept, and how kernels are called.

Three things live here.

`kernel` is ``numba.njit`` with the options of this project. Compiled code is cached on disk under a key made from the
text of the module *and of every fem_mbs module it imports*, so that editing a callee in another file never serves a
stale kernel (numba itself looks only at the file of the caller). Comments, the module's docstring and classes do not
count: kernels cannot see them, so that a change of a constructor compiles nothing anew. Nor does the place of the
checkout: two checkouts of the same sources share their compiled code. The name of the module counts. Files of compiled
code begin with a checksum: a damaged one is compiled again.

`bind` turns the kernel of an element into a C function with one uniform signature, ``void (parameters, arguments)``.
The arguments of the kernel are bound **by name** (`SLOTS`): a kernel lists what it needs and gets exactly that.

`call2`, `vector`, `matrix` … work on addresses. A compiled stepper walks over groups of elements of any type through
their addresses, so it is compiled once for all models instead of once per combination of element types.
"""

import collections
import ctypes
import functools
import hashlib
import importlib.util
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import cfunc, njit, types
from numba.core import caching, cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from fem_mbs.compiled.code_folder import FOLDER
from fem_mbs.compiled.sources import SOURCES

SUM_BYTES = 32  # of SHA-256
_keys = {}
_STARTED = time.time_ns()  # what changed later may be another text than the one that this process has imported
_lock = threading.RLock()

# `fem_mbs.compiled.compiler` compiles in half the time, by overriding inner parts of numba. With versions of numba
# that it was not tested with, and with FEM_MBS_COMPILER=numba, numba compiles by itself.
OWN_COMPILER = numba.__version__.startswith("0.68.") and os.environ.get("FEM_MBS_COMPILER") != "numba"
PIPELINE: dict[str, Any] = {}  # options of numba's compilation
if OWN_COMPILER:
    from fem_mbs.compiled.compiler import Kernel, ProgramCompiler

    PIPELINE["pipeline_class"] = ProgramCompiler


# --- where compiled code is kept ------------------------------------------------------------------------------------


def cache_root() -> Path:
    """Directory of compiled code, see `fem_mbs.compiled.code_folder`."""
    return FOLDER.get()


def source_key(path: str | Path) -> str:
    """Hash of a source file and of all fem_mbs modules that it imports, directly or not.

    A process that runs while sources are replaced (an update, an edit) may compile what it imported before. Under the
    key of the new text that code would serve, and crash, all later processes: such a process has separate keys.
    """
    versions = [numba.__version__, np.__version__, "own" if OWN_COMPILER else "numba", "with sums"]
    digests, newest = SOURCES.digests(path, cache_root())
    if newest > _STARTED:
        versions.append(f"process {os.getpid()} of {_STARTED}")
    return hashlib.sha256(" ".join([*versions, *digests]).encode()).hexdigest()[:16]


def _cache_directory(path):
    path = str(Path(path).resolve())
    if path not in _keys:
        _keys[path] = cache_root() / source_key(path)
    return str(_keys[path])


class _ByContent(caching._CacheLocator):
    """Location of the compiled code of a function in numba's cache: by the key of its sources, wherever these are."""

    directories: dict[str, str] = {}  # file -> its folder: a file has many kernels

    def __init__(self, function: Callable, file: str) -> None:
        code = function.__code__
        self._py_file = file  # for numba's warnings
        if file not in self.directories:
            self.directories[file] = _cache_directory(file)
        self.directory = self.directories[file]
        # functions of one name in one file differ in what they do; names and numbers are not part of numba's own key
        constants = [c for c in code.co_consts if not hasattr(c, "co_code")]
        # compiled code names its module, which is imported when the code is loaded
        text = f"{function.__module__} {code.co_names} {constants}".encode() + code.co_code
        self.name = hashlib.sha256(text).hexdigest()[:12]

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> "_ByContent":
        return cls(py_func, py_file)  # numba makes the folder when it has something to keep

    def get_cache_path(self) -> str:
        return self.directory

    def get_source_stamp(self) -> str:
        return "by content"

    def get_disambiguator(self) -> str:
        return self.name


_IMPLEMENTATION = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # its name until numba 0.61


class _Summed(caching.IndexDataCacheFile):
    """Files of compiled code that begin with a checksum: one that is damaged counts as missing, and is written anew."""

    def _read(self, path):
        import pickle

        with open(path, "rb") as file:
            found = file.read()
        digest, data = found[:SUM_BYTES], found[SUM_BYTES:]
        if hashlib.sha256(data).digest() != digest:
            raise FileNotFoundError(path)
        return pickle.loads(data)

    def _write(self, path, what):
        data = self._dump(what)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)

    def _load_index(self):
        try:
            version, stamp, overloads = self._read(self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads):
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name):
        return self._read(self._data_path(name))

    def _save_data(self, name, data):
        self._write(self._data_path(name), data)


class _Checked(caching.FunctionCache):
    """numba's cache of a function, in files that are checked."""

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        plain = self._cache_file
        base = plain._index_name.removesuffix(".nbi")
        self._cache_file = _Summed(plain._cache_path, base, plain._source_stamp)


class _LookFirst(_Checked):
    """numba loads all that it can compile before it looks into its cache; here it looks first."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        from numba.core.runtime import rtsys

        rtsys.initialize(target_context)  # loaded code may count owners of arrays
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _CacheByContent:
    """Make numba cache functions decorated inside this context by content."""

    def __enter__(self):
        from numba.core import ccallback, dispatcher

        _lock.acquire()
        # our compilation gets ready by itself; for C functions of `bind` too
        ccallback.FunctionCache = dispatcher.FunctionCache = _LookFirst if OWN_COMPILER else _Checked
        self.before = _IMPLEMENTATION._locator_classes
        _IMPLEMENTATION._locator_classes = [_ByContent]

    def __exit__(self, *_):
        _IMPLEMENTATION._locator_classes = self.before
        _lock.release()


def kernel(function: Callable | None = None, *, fused: bool = False) -> Any:
    """Compile a scalar function with numba (``njit``, cached, C division, no bounds checks).

    With ``fused`` products and the sums they go into may be one instruction, which rounds once.
    """
    if function is None:
        return functools.partial(kernel, fused=fused)
    with _CacheByContent():
        contracted = {"fastmath": {"contract"}} if fused else {}
        if OWN_COMPILER:
            options = {"nopython": True, "error_model": "numpy", "no_cfunc_wrapper": True, **contracted}
            dispatcher = Kernel(function, targetoptions=options)
            dispatcher.enable_caching()
            return dispatcher
        dispatcher = njit(function, cache=True, error_model="numpy", no_cfunc_wrapper=True, **contracted)
    template = dispatcher.get_call_template

    def shared(args, kws):
        # numba would compile a callee anew for every combination of literal numbers in its calls
        return template([types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()})

    dispatcher.get_call_template = shared
    return dispatcher


def entry(signature: str) -> Callable[[Callable], Any]:
    """Make a C function of the given signature; other kernels can call its ``address``, see `Entry`."""
    return lambda function: Entry(function, signature)


class Entry:
    """A function that is compiled, or loaded, as a C function when its address is first used.

    A method has parts that only some of its options call: those that are not called cost nothing.
    """

    def __init__(self, function: Callable, signature: str) -> None:
        self.function, self.signature, self.compiled = function, signature, None

    @property
    def address(self) -> int:
        """Address of the C function."""
        if self.compiled is None:
            with _CacheByContent():
                compiled = cfunc(self.signature, cache=True, error_model="numpy", **PIPELINE)(self.function)
            self.compiled = compiled
        return self.compiled.address


# --- arrays and calls by address ------------------------------------------------------------------------------------


def address(array: np.ndarray) -> int:
    """Address of the data of a NumPy array as an int; the caller keeps the array alive."""
    return array.ctypes.data  # of records a hundred times as fast as their __array_interface__


def _view(kind, at, shape):
    """Type and code of an array at an address, C order; it owns no memory."""
    array_type = types.Array(kind, len(shape), "C")

    def codegen(context, builder, signature, args):
        intp = context.get_value_type(types.intp)
        extents = [context.cast(builder, n, given, types.intp) for n, given in zip(args[1:], signature.args[1:])]
        strides = [intp(kind.bitwidth // 8)]
        for extent in reversed(extents[1:]):
            strides.insert(0, builder.mul(strides[0], extent))
        array = context.make_array(array_type)(context, builder)
        arrayobj.populate_array(
            array,
            data=builder.inttoptr(args[0], array.data.type),
            shape=extents,
            strides=strides,
            itemsize=strides[-1],
            meminfo=None,
        )
        return array._getvalue()

    return array_type(types.int64, *shape), codegen


@intrinsic
def vector(typingctx, at, n):
    """float64 array (n,) at an address."""
    return _view(types.float64, at, (n,))


@intrinsic
def matrix(typingctx, at, n, m):
    """float64 array (n, m), C order, at an address."""
    return _view(types.float64, at, (n, m))


@intrinsic
def tensor(typingctx, at, n, m, k):
    """float64 array (n, m, k), C order, at an address."""
    return _view(types.float64, at, (n, m, k))


@intrinsic
def integers(typingctx, at, n):
    """int64 array (n,) at an address."""
    return _view(types.int64, at, (n,))


@intrinsic
def integer_matrix(typingctx, at, n, m):
    """int64 array (n, m), C order, at an address."""
    return _view(types.int64, at, (n, m))


@intrinsic
def indices(typingctx, at, n):
    """int32 array (n,) at an address (index maps)."""
    return _view(types.int32, at, (n,))


@intrinsic
def void_pointer(typingctx, at):
    """Address as a void pointer, for ``carray`` with a record type."""

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), codegen


@intrinsic
def address_of(typingctx, array):
    """Address of the first number of an array, in a kernel: with `matrix` its numbers in another shape, not copied."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), codegen


def _stack_array(context, builder, array_type, shape):
    """float64 array of constant shape in the stack frame of the calling kernel (not initialised)."""
    data = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), int(np.prod(shape))))
    i64 = ir.IntType(64)
    strides = [8 * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    array = context.make_array(array_type)(context, builder)
    arrayobj.populate_array(
        array,
        data=builder.bitcast(data, array.data.type),
        shape=[i64(n) for n in shape],
        strides=[i64(s) for s in strides],
        itemsize=i64(8),
        meminfo=None,
    )
    return array._getvalue()


@intrinsic(prefer_literal=True)
def local_vector(typingctx, n):
    """Scratch array (n,) of a kernel, n a literal: on the stack, so it costs nothing; never return it."""
    if not isinstance(n, types.IntegerLiteral):
        return None
    array_type = types.Array(types.float64, 1, "C")

    def codegen(context, builder, signature, args):
        return _stack_array(context, builder, array_type, (n.literal_value,))

    return array_type(n), codegen


@intrinsic(prefer_literal=True)
def local_matrix(typingctx, n, m):
    """Scratch array (n, m) of a kernel, C order, n and m literals: on the stack; never return it."""
    if not (isinstance(n, types.IntegerLiteral) and isinstance(m, types.IntegerLiteral)):
        return None
    array_type = types.Array(types.float64, 2, "C")

    def codegen(context, builder, signature, args):
        return _stack_array(context, builder, array_type, (n.literal_value, m.literal_value))

    return array_type(n, m), codegen


def _sizes(shapes):
    """Shapes in a literal text such as "3, 3 3": numbers, with commas between arrays."""
    return [tuple(map(int, shape.split())) for shape in shapes.literal_value.split(",")]


def _stack_arrays(kind, shapes):
    """Code that makes arrays of constant shapes on the stack, as a tuple of a type."""

    def codegen(context, builder, signature, args):
        arrays = [_stack_array(context, builder, array, shape) for array, shape in zip(kind.types, shapes)]
        return context.make_tuple(builder, kind, arrays)

    return codegen


@intrinsic(prefer_literal=True)
def local_arrays(typingctx, shapes):
    """Scratch arrays of a kernel, of shapes in a literal text such as "3, 3 3"; as `local_vector`."""
    if not isinstance(shapes, types.StringLiteral):
        return None
    kind = types.Tuple([types.Array(types.float64, len(shape), "C") for shape in _sizes(shapes)])
    return kind(shapes), _stack_arrays(kind, _sizes(shapes))


@intrinsic(prefer_literal=True)
def local_record(typingctx, record, shapes):
    """Scratch arrays as `local_arrays`, as a record: a namedtuple."""
    if not isinstance(shapes, types.StringLiteral):
        return None
    arrays = [types.Array(types.float64, len(shape), "C") for shape in _sizes(shapes)]
    kind = types.NamedTuple(arrays, record.instance_class)
    return kind(record, shapes), _stack_arrays(kind, _sizes(shapes))


@intrinsic
def call2(typingctx, function, a, b):
    """Call ``void function(int64, int64)`` at an address."""

    def codegen(context, builder, signature, args):
        i64 = ir.IntType(64)
        pointer = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [i64, i64]).as_pointer())
        builder.call(pointer, [args[1], args[2]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@kernel
def invoke(function, a, b):
    """Call ``void function(int64, int64)`` at an address, from Python."""
    call2(function, a, b)


# --- kernels of elements ---------------------------------------------------------------------------------------------

# The arguments a kernel can have, with their shapes below. Sizes: nn nodes, nd = 6 nn components, nr rows of a
# constraint, ns signals, nq state variables, no outputs. x_A, R_A, v_A (ẋ), w_A (Ω), a_A (ẍ), alpha_A (Ω̇), x0_A, R0_A
# (start of the step) select one node; node_A … are its `NodeState`, ``rows`` are the `ContactRows`; p is the record of
# parameters, ``arguments`` the address of the table itself, for elements that call the kernels of another. The meaning
# of each is in fem_mbs/element/base.py.
SLOTS = (
    "x R v a x0 R0 s g G H rate gt gtt f Ma M C K Ka lam state out gap slip G_N G_T V_T W H_N point normal tangents "
    "gravity t energy delta needs_K bound bound_lam bound_q"
).split()
SLOT = {name: i for i, name in enumerate(SLOTS)}
N_SLOTS = 48

_SHAPES = {
    "x": ("nn", "3"), "R": ("nn", "3", "3"), "v": ("nd",), "a": ("nd",), "x0": ("nn", "3"), "R0": ("nn", "3", "3"),
    "s": ("ns", "3"), "g": ("nr",), "G": ("rows", "nd"), "H": ("rows", "nd", "nd"), "rate": ("nr", "nd"),
    "gt": ("rows",), "gtt": ("rows",), "f": ("nd",), "Ma": ("nd",), "M": ("nd", "nd"), "C": ("nd", "nd"),
    "K": ("nd", "nd"), "Ka": ("nd", "nd"), "lam": ("nr",), "state": ("nq",), "out": ("no",), "gap": ("1",),
    "slip": ("2",), "G_N": ("nd",), "G_T": ("2", "nd"), "V_T": ("2", "nd"), "W": ("3", "nd"), "H_N": ("nd", "nd"),
    "point": ("3",), "normal": ("3",), "tangents": ("2", "3"), "gravity": ("3",), "energy": ("1",), "delta": ("nd",),
    "t": ("1",), "needs_K": ("1",), "bound": ("1",), "bound_lam": ("nr",), "bound_q": ("nd",),
}  # fmt: skip
_VIEW = {1: "vector", 2: "matrix", 3: "tensor"}
# not classes: these are no part of the key of compiled code
NodeState = collections.namedtuple("NodeState", "x R v w x0 R0")
ContactRows = collections.namedtuple("ContactRows", "gap slip G_N G_T V_T W point normal tangents")


def shape_of(name: str, sizes: dict[str, int]) -> tuple[int, ...]:
    """Shape of an argument for an element of the given sizes (nn, nd, nr, ns, nq, no)."""
    sizes = {**sizes, "rows": max(sizes["nr"], 1)}  # friction without a joint has one row, and no multipliers
    return tuple(int(sizes.get(size, size)) for size in _SHAPES[name])


def sizes_in_record(dtype: np.dtype) -> tuple[str, ...]:
    """Sizes that a record of parameters contains when a kernel runs: its fields of these names."""
    return tuple(size for size in ("nn", "ns", "nq", "no") if size in (dtype.names or ()))


def _texts(dtype, sizes):
    """Sizes as text, by name: numbers, or fields of the record."""
    recorded = sizes_in_record(dtype)
    texts = {size: f"p.{size}" if size in recorded else str(n) for size, n in sizes.items()}
    if "nn" in recorded:
        texts["nd"] = f"{sizes['nd'] // sizes['nn']} * p.nn"
    return texts | {"rows": str(max(sizes["nr"], 1))}


def _argument(name, sizes, texts):
    """Python text that builds one argument of a kernel from the table ``b`` of addresses; ``texts`` of `_texts`."""
    if name in ("p", "arguments"):
        return name
    if name == "rows":
        return f"ContactRows({', '.join(_argument(field, sizes, texts) for field in ContactRows._fields)})"
    if re.fullmatch("node_[A-D]", name):
        fields = (_argument(f"{field}_{name[-1]}", sizes, texts) for field in NodeState._fields)
        return f"NodeState({', '.join(fields)})"
    letter = re.fullmatch(r"(x|R|v|w|a|alpha|x0|R0)_([A-D])", name)
    width = sizes["nd"] // max(sizes["nn"], 1)
    if width == 3 and name.split("_")[0] in ("R", "R0", "w", "alpha", "x0"):
        raise ValueError(
            f"argument '{name}' is not there for elements with three numbers per node: they have no rotations"
        )
    if letter:
        base, node = letter[1], "ABCD".index(letter[2])
        if node >= sizes["nn"]:
            raise ValueError(f"argument '{name}' refers to node {letter[2]}, the element has {sizes['nn']} node(s)")
        slot = SLOT[{"w": "v", "alpha": "a"}.get(base, base)]
        if base in ("R", "R0"):
            return f"matrix(b[{slot}] + {72 * node}, 3, 3)"
        offset = 24 * node if base in ("x", "x0") else 8 * width * node + (24 if base in ("w", "alpha") else 0)
        return f"vector(b[{slot}] + {offset}, 3)"
    if name not in _SHAPES:
        others = "p arguments x_A R_A v_A w_A a_A alpha_A x0_A R0_A node_A rows".split()
        known = ", ".join(sorted({*_SHAPES, *others}))
        raise ValueError(f"argument '{name}' is unknown; a kernel can have: {known}")
    if name in ("t", "needs_K"):
        return f"vector(b[{SLOT[name]}], 1)[0]"
    shape = [texts.get(size, size) for size in _SHAPES[name]]
    return f"{_VIEW[len(shape)]}(b[{SLOT[name]}], {', '.join(shape)})"


def arguments_of(function: Any) -> tuple[str, ...]:
    """Names of the arguments of a kernel."""
    code = function.py_func.__code__
    return code.co_varnames[: code.co_argcount]


_bound = {}  # (kernel, text of the function that calls it) -> C function, for the next model of this process

_TEMPLATE = '''"""Generated by fem_mbs.jit.bind for {module}.{function}; do not edit."""
import numpy as np
from numba import carray, cfunc
from fem_mbs.jit import PIPELINE, ContactRows, NodeState, integers, matrix, tensor, vector, void_pointer
from {module} import {function} as kernel
PARAMETERS = np.dtype({dtype})
@cfunc("void(int64, int64)", cache=True, error_model="numpy", **PIPELINE)
def call(parameters, arguments):
    b = integers(arguments, {slots})
    p = carray(void_pointer(parameters), (1,), PARAMETERS)[0]
    {result}kernel({arguments})
'''


def bound_text(function: Any, dtype: np.dtype, sizes: dict[str, int]) -> str:
    """Python text of the C function of `bind`: equal texts are compiled once."""
    python, texts = function.py_func, _texts(dtype, sizes)
    return _TEMPLATE.format(
        module=python.__module__,
        function=python.__name__,
        dtype=repr(dtype.descr),
        slots=N_SLOTS,
        result=f"vector(b[{SLOT['energy']}], 1)[0] = " if python.__name__.startswith(("energy", "trouble")) else "",
        arguments=", ".join(_argument(name, sizes, texts) for name in arguments_of(function)),
    )


def bind(function: Any, dtype: np.dtype, sizes: dict[str, int]) -> Any:
    """Make the C function ``void (address of p, address of the argument table)`` that calls an element's kernel.

    Parameters
    ----------
    function : numba dispatcher
        Kernel whose argument names are among `SLOTS`. Kernels that return a value are energies and "trouble".
    dtype : numpy.dtype
        Record type of the parameters ``p``. A field named ``nn``, ``ns``, ``nq`` or ``no`` sets this size when the
        kernel runs: the function then serves elements of all such sizes.
    sizes : dict
        nn, nd, nr, ns, nq, no: numbers of nodes, components, rows, signals, state variables and outputs.

    Returns
    -------
    cfunc object; keep it alive as long as its ``address`` is in use.
    """
    text, file = bound_text(function, dtype, sizes), function.py_func.__code__.co_filename
    if (function, text) in _bound:
        return _bound[function, text]
    name = f"bound_{hashlib.sha256((text + source_key(file)).encode()).hexdigest()[:16]}"
    directory = cache_root() / "bound"
    path = directory / f"{name}.py"
    if not path.exists() or path.read_bytes() != text.encode():  # or damaged
        directory.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(text.encode())
        partial.replace(path)  # atomic: another process may write the same file
    with _lock:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, ""
        try:
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module  # numba looks the module up by name when it loads cached code
            spec.loader.exec_module(module)
        finally:
            numba.config.CACHE_DIR = before
    _bound[function, text] = module.call
    return module.call


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


def python_callback(function: Callable[[int, int], None]) -> Any:
    """C function that calls ``function(parameters_address, arguments_address)`` in Python; keep the result alive."""
    return _CALLBACK(function)


def callback_address(callback: Any) -> int:
    return ctypes.cast(callback, ctypes.c_void_p).value
