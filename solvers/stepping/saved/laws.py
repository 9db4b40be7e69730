"""Functions in Python that a model has: what they are made of, for comparisons of models, and the signals they hold.

A function is its code (without names and lines), its defaults, what it holds from outside (closure, attributes of its
object), and the global names that it reads, functions among them by the same rule. Of functions and classes that are
installed (NumPy, SciPy, Python's own, fem_mbs) the globals are not followed: versions stand for them. Parts of a model
stand for themselves by type and name, because they are compared elsewhere. What Python cannot take apart, such as an
open file or a generator, is reported.

Source: docs/theory/restart.md, decision 3.
"""

import dis
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.element.base import Element
from fem_mbs.errors import label
from fem_mbs.functions.signals import Held, Signal
from fem_mbs.model import Model
from fem_mbs.nodes import Frame, Node
from fem_mbs.results.results import Results
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.state import State
from fem_mbs.system.system import System

PLAIN = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)
MADE_BY_PYTHON = {"__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__annotations__",
                  "__firstlineno__", "__static_attributes__", "__parameters__", "__orig_bases__"}  # fmt: skip
PARTS = (Checked, Node, Frame, Model, System, State, Results)  # compared elsewhere, or no part of a law
INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def is_library(item: object) -> bool:
    """Whether a function or a class is of Python, of an installed package, or of this one."""
    name = getattr(item, "__module__", None) or "builtins"
    if name.partition(".")[0] in ("fem_mbs", "builtins", *sys.stdlib_module_names):
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and file.startswith(INSTALLED)


class Contents:
    """Takes values apart.

    Attributes
    ----------
    held : dict of the held signals that were found, in their order
    unknown : dict of the names of types that cannot be taken apart
    """

    def __init__(self) -> None:
        self.held: dict[Held, None] = {}
        self.unknown: dict[str, None] = {}
        self._known: dict[int, tuple[str, object]] = {}  # sums by address; objects are kept, so that addresses stay

    def sum(self, value: object) -> str:
        """Sum of all that a value is made of: equal for equal values."""
        if isinstance(value, PLAIN):
            return self._sum(type(value).__name__, repr(value))
        if id(value) not in self._known:
            self._known[id(value)] = "within itself", value
            self._known[id(value)] = self._taken_apart(value), value
        return self._known[id(value)][0]

    @staticmethod
    def _sum(*texts):
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]

    def _all(self, kind, values):
        return self._sum(kind, *(self.sum(value) for value in values))

    def _taken_apart(self, value):
        """Sum of what is none of `PLAIN`."""
        if isinstance(value, np.ndarray) and value.dtype != object:
            digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return self._sum("array", f"{value.dtype.str}{value.shape}", digest)
        if type(value) in (tuple, list):
            return self._all(type(value).__name__, value)
        if type(value) in (set, frozenset):
            return self._sum("set", *sorted(self.sum(part) for part in value))
        if type(value) is dict:
            return self._all("dict", [part for item in value.items() for part in item])
        if isinstance(value, types.ModuleType):
            return self._sum("module", value.__name__)
        if isinstance(value, types.CodeType):
            return self._code(value)
        if isinstance(value, type):
            return self._class(value)
        return self._function_or_object(value)

    def _function_or_object(self, value):
        if isinstance(value, Held):
            self.held[value] = None
            return self._sum("Held", repr(value.name), repr(value.initial))
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return self._all("method", [value.__func__, value.__self__])
        if isinstance(value, functools.partial):
            return self._all("partial", [value.func, value.args, value.keywords])
        if isinstance(getattr(value, "py_func", None), types.FunctionType):  # compiled by numba
            return self._function(value.py_func)
        if isinstance(value, (property, staticmethod, classmethod, functools.cached_property)):
            names = ("fget", "fset", "fdel", "__func__", "func")
            return self._all("descriptor", [getattr(value, name, None) for name in names])
        if isinstance(value, (types.BuiltinFunctionType, np.ufunc)):
            owner = getattr(value, "__self__", None)
            bound = [] if owner is None or isinstance(owner, types.ModuleType) else [owner]
            return self._sum("built in", value.__name__, self._all("of", bound))
        if isinstance(value, PARTS) and not callable(value):
            return self._sum(type(value).__name__, repr(getattr(value, "name", None)))
        return self._object(value)

    def _code(self, code):
        texts = [code.co_code.hex(), getattr(code, "co_exceptiontable", b"").hex(), str(code.co_flags)]
        texts += [repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount))]
        return self._sum("code", *texts, *(self.sum(constant) for constant in code.co_consts))

    def _function(self, function):
        code = function.__code__
        if function.__doc__ is not None:  # a docstring has no effect on the results
            code = code.replace(co_consts=tuple(None if c == function.__doc__ else c for c in code.co_consts))
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        parts = [self._code(code), self.sum(function.__defaults__), self.sum(function.__kwdefaults__), *cells]
        if not is_library(function):
            names = sorted(set(_globals(function.__code__)) & function.__globals__.keys())
            parts += [f"{name} {self.sum(function.__globals__[name])}" for name in names]
        return self._sum("function", *parts)

    def _cell(self, cell):
        try:
            return self.sum(cell.cell_contents)
        except ValueError:  # nothing is in it yet
            return "empty"

    def _class(self, cls):
        parts = [cls.__module__.replace("__mp_main__", "__main__"), cls.__qualname__]
        for base in [] if is_library(cls) else cls.__mro__:
            if not is_library(base):
                named = {n: v for n, v in vars(base).items() if n not in MADE_BY_PYTHON and not n.startswith("_abc_")}
                parts += [f"{name} {self.sum(value)}" for name, value in named.items() if not _is_slot(value)]
        return self._sum("class", *parts)

    def _object(self, value):
        """As a pickle takes it apart, but for functions in it."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # of any type: what it raises is its own
            self.unknown[type(value).__name__] = None
            return self._sum("unknown", type(value).__qualname__)
        if isinstance(parts, str):
            return self._sum("global", parts)
        kind = self._class(type(value))
        return self._all(kind, [list(part) if isinstance(part, Iterator) else part for part in parts])


def _globals(code):
    """Names of globals that a code reads, and those within it."""
    found = [i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    return found + [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _globals(part)]


def _is_slot(value):
    return isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))


def _functions_in(value: object, depth: int = 3) -> list:
    """Functions that an attribute of an element holds; those of its nodes and of other elements are theirs."""
    if isinstance(value, (type, Element, Node, Frame)):
        return []
    if isinstance(value, Signal):
        return [] if value.constant else [value]
    if callable(value) and not type(value).__module__.startswith("fem_mbs"):
        return [value]
    parts: Any = []
    if depth and isinstance(value, (list, tuple)):
        parts = value
    elif depth and isinstance(value, dict):
        parts = value.values()
    elif depth and type(value).__module__.startswith("fem_mbs") and hasattr(value, "__dict__"):
        parts = vars(value).values()
    return [function for part in parts for function in _functions_in(part, depth - 1)]


def laws_of(system: CompiledSystem) -> dict[str, list[Callable]]:
    """Functions in Python of a system by their owners, in words; classes of elements that are the user's among them."""
    found: dict[str, list[Callable]] = {}
    of_time = {id(signal) for signal in system.signals}

    def add(owner: str, *functions: Callable) -> None:
        found.setdefault(owner, []).extend(functions)

    for element in system.elements:
        mine = [] if is_library(type(element)) else [type(element)]
        ours = {"kernels"} if not mine else set()
        attributes = {n: v for n, v in vars(element).items() if n[0] != "_" and n not in ours}
        mine += _functions_in(list(attributes.values()), 4)
        mine = [f for f in mine if id(f) not in of_time]
        if mine:
            add(f"function of {label(element)}", *mine)
    for signal, owner in zip(system.signals, system.signal_owner):
        if not signal.constant:
            add(f"function of time of {label(owner)}", signal)
    for item in system.watching:
        if item.role == "controller":
            add(f"function of {label(item)}", item.law)
        for action in item.actions:
            add(f"action of {label(item)}", type(action), *_functions_in(list(vars(action).values())))
        for sensor in {s: None for top in ([item] if item.role == "sensor" else item.sensors()) for s in top.all()}:
            if sensor.function is not None:
                add(f"function of {label(sensor)}", sensor.function)
    return found


def sums_of(system: CompiledSystem) -> dict[str, tuple[str, list[str]]]:
    """Sums of the functions of a system by their owners, and the types among what they hold that have none."""
    found = {}
    for owner, functions in laws_of(system).items():
        contents = Contents()
        found[owner] = contents.sum(functions), list(contents.unknown)
    return found


def compared(system: CompiledSystem, saved: dict[str, Any]) -> tuple[str, list[str]]:
    """What is not as in a checkpoint, in words, "" where all is the same; and what could not be compared."""
    first, last, now = saved["laws"], saved["laws_now"], sums_of(system)
    notes = []
    for owner in sorted({*first, *now}):
        if owner not in first or owner not in now:
            return owner, []
        if first[owner] != last[owner]:
            notes.append(
                f"{owner}: what it holds in Python changed during the run, and is not in the checkpoint; it "
                "continues with the values of the model. Keep such values in the state of a Controller, or in "
                "get_state()"
            )
        elif first[owner] != now[owner]:
            return owner, []
        if now[owner][1]:
            notes.append(f"{owner} holds {', '.join(now[owner][1])}: whether it is the same cannot be compared")
    return "", notes


def held_by_laws(system: CompiledSystem) -> list[Held]:
    """Held signals that functions of a system hold, in the order of the model."""
    contents = Contents()
    contents.sum(list(laws_of(system).values()))
    return list(contents.held)
