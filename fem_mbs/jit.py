"""Compilation: one place that decides numba's options, and how kernels are called.

Three things live here.

`kernel` is ``numba.njit`` with the options of this project. Compiled code is kept on disk by the content of the sources
(`fem_mbs.compiled.code_cache`).

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
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from fem_mbs.compiled.code_cache import OWN_COMPILER, CacheByContent, Keys
from fem_mbs.compiled.code_folder import BOUND, FOLDER
from fem_mbs.compiled.together import TOGETHER, Wanted

PIPELINE: dict[str, Any] = {}  # options of numba's compilation
if OWN_COMPILER:
    from fem_mbs.compiled.compiler import Kernel, ProgramCompiler

    PIPELINE["pipeline_class"] = ProgramCompiler


def kernel(function: Callable | None = None, *, fused: bool = False) -> Any:
    """Compile a scalar function with numba (``njit``, cached, C division, no bounds checks).

    With ``fused`` products and the sums they go into may be one instruction, which rounds once.
    """
    if function is None:
        return functools.partial(kernel, fused=fused)
    contracted = {"fastmath": {"contract"}} if fused else {}
    if OWN_COMPILER:
        options = {"nopython": True, "error_model": "numpy", "no_cfunc_wrapper": True, **contracted}
        return Kernel(function, targetoptions=options)
    with CacheByContent():
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


class Entry(Wanted):
    """A function that is compiled, or loaded, as a C function when its address is first used.

    A method has parts that only some of its options call: those that are not called cost nothing.
    """

    def __init__(self, function: Callable, signature: str) -> None:
        self.function, self.signature = function, signature
        self.c_function: Any = None
        self.compiled = False

    @property
    def address(self) -> int:
        """Address of the C function."""
        self.compile()
        return self.c_function.address

    def compile(self) -> None:
        """Compile it, or load what is kept, unless this was done."""
        if not self.compiled:
            TOGETHER.claim(self)  # another process may be at it
            self._prepare()
            self.c_function.compile()
            self.compiled = True

    @property
    def kept(self) -> bool:
        """True if compiled code of it is here, or on disk."""
        if self.compiled:
            return True
        self._prepare()
        function = self.c_function
        return function._cache.holds(function._sig, function._targetdescr.target_context)

    @property
    def place(self) -> str:
        """Where another process finds it: ``module:name``; empty if it cannot, or should not run what it imports."""
        module, name = self.function.__module__, self.function.__name__
        if module.startswith(BOUND):
            path, source = self.function.__code__.co_filename, self.function.__globals__["kernel"].py_func.__module__
            return f"{path}:{name}" if source.startswith("fem_mbs.") else ""
        found = getattr(sys.modules.get(module), name, None)
        return f"{module}:{name}" if module.startswith("fem_mbs.") and found is self else ""

    def _prepare(self):
        """Make the object with which numba compiles it."""
        if self.c_function is not None:
            return
        from numba.core import sigutils
        from numba.core.ccallback import CFunc

        with CacheByContent():
            options = {"nopython": True, "error_model": "numpy"}
            made = CFunc(self.function, sigutils.normalize_signature(self.signature), {}, options, **PIPELINE)
            made.enable_caching()
        self.c_function = made


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
    "gravity t energy delta needs_K bound bound_lam bound_q weights noted"
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
    "t": ("1",), "needs_K": ("1",), "bound": ("1",), "bound_lam": ("nr",), "bound_q": ("nd",), "weights": ("4",),
    "noted": ("2",),
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
from numba import carray
from fem_mbs.jit import ContactRows, NodeState, entry, integers, matrix, tensor, vector, void_pointer
from {module} import {function} as kernel
PARAMETERS = np.dtype({dtype})
@entry("void(int64, int64)")
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
    `Entry`: compiled when its address is first used; keep it alive as long as that is in use.
    """
    text, file = bound_text(function, dtype, sizes), function.py_func.__code__.co_filename
    if (function, text) in _bound:
        return _bound[function, text]
    name = f"{BOUND}{hashlib.sha256((text + Keys.of(file)).encode()).hexdigest()[:16]}"
    directory = FOLDER.get() / "bound"
    path = directory / f"{name}.py"
    if not path.exists() or path.read_bytes() != text.encode():  # or damaged
        directory.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(text.encode())
        partial.replace(path)  # atomic: another process may write the same file
    _bound[function, text] = bound_module(str(path)).call
    return _bound[function, text]


def bound_module(path: str) -> Any:
    """Import a module that `bind` wrote; numba looks it up by its name when it loads compiled code."""
    name = os.path.basename(path).removesuffix(".py")
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


def python_callback(function: Callable[[int, int], None]) -> Any:
    """C function that calls ``function(parameters_address, arguments_address)`` in Python; keep the result alive."""
    return _CALLBACK(function)


def callback_address(callback: Any) -> int:
    return ctypes.cast(callback, ctypes.c_void_p).value
