"""Functions and methods with public names have type hints; `make lint` checks with mypy that they are right."""

import ast
from pathlib import Path

import fem_mbs as fem

COMPILED = ("kernel", "entry", "njit", "intrinsic")  # decorators of what numba compiles, whose types it finds itself

MOST_ANY = 83  # functions of solvers with Any among their types


def folders():
    """Folders of the sources: next to each other in a source tree, inside each other once installed."""
    core = Path(fem.__file__).parent
    beside = [core.parent / name for name in ("elements", "solvers")]
    return [core, *(folder for folder in beside if folder.is_dir())]


def public_functions(body, owner=""):
    """Functions of a module or class with public names, constructors among them, as (name in words, node, method).

    Methods of private classes, and of classes within functions, are read as those of others.
    """
    for node in body:
        if isinstance(node, (ast.If, ast.Try)):
            yield from public_functions([*node.body, *node.orelse], owner)
        elif isinstance(node, ast.ClassDef):
            yield from public_functions(node.body, f"{owner}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            decorators = {ast.unparse(d).split("(")[0] for d in node.decorator_list}
            public = node.name == "__init__" or not node.name.startswith("_")
            if public and decorators.isdisjoint(COMPILED):
                yield f"{owner}{node.name}", node, bool(owner) and "staticmethod" not in decorators
            inside = [part for part in ast.walk(node) if isinstance(part, ast.ClassDef)]
            yield from public_functions(inside, f"{owner}{node.name}.")


def without_hints(node, method):
    """Names of parameters without a type; "return" for what the function returns."""
    a = node.args
    parameters = [*a.posonlyargs, *a.args][method:] + a.kwonlyargs + [p for p in (a.vararg, a.kwarg) if p is not None]
    return [p.arg for p in parameters if p.annotation is None] + ["return"] * (node.returns is None)


def missing_in(text, where=""):
    """Functions of a source text without hints -> what has none."""
    found = public_functions(ast.parse(text).body)
    return {f"{where}{name}": names for name, node, method in found if (names := without_hints(node, method))}


def test_public_functions_of_every_module_have_type_hints():
    missing = {}
    for folder in folders():
        files = sorted(folder.rglob("*.py"))
        assert files, f"no sources in {folder}"
        for file in files:
            missing |= missing_in(file.read_text(), f"{file.relative_to(folder.parent)}: ")
    assert not missing, missing


def test_the_search_finds_functions_methods_constructors_and_properties_without_hints():
    text = """
@kernel
def compiled(x): ...
def _private(x): ...
def function(x: int, y, *more, **options) -> int: ...
def nothing_returned(): ...
class Public:
    def __init__(self, a): ...
    @property
    def value(self): ...
    @staticmethod
    def static(b) -> None: ...
    def _hidden(self, c): ...
    def good(self, c: int, *, d: float = 0.0) -> None: ...
class _Private:
    def method(self, x): ...
    def good(self, x: int) -> None: ...
def _with_a_class_inside():
    def inner(x): ...
    class Inside:
        def method(self) : ...
"""
    assert missing_in(text) == {
        "function": ["y", "more", "options"],
        "nothing_returned": ["return"],
        "Public.__init__": ["a", "return"],
        "Public.value": ["return"],
        "Public.static": ["b"],
        "_Private.method": ["x", "return"],
        "_with_a_class_inside.Inside.method": ["return"],
    }


def any_in(text):
    """Names of the functions of a source text whose parameters or results are of the type Any, or made of it."""

    def says_any(hint):
        return any(getattr(n, "id", getattr(n, "value", "")) == "Any" for n in ast.walk(hint)) or any(
            says_any(ast.parse(n.value, mode="eval"))
            for n in ast.walk(hint)
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value != "Any"
        )

    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            a = node.args
            parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(p for p in (a.vararg, a.kwarg) if p is not None)]
            hints = [hint for hint in (*(p.annotation for p in parameters), node.returns) if hint is not None]
            found += [node.name] * any(map(says_any, hints))
    return found


def test_few_functions_of_solvers_take_or_return_anything():
    """A type lets an editor complete and mypy check; Any is for options, checkpoints and what users may give freely."""
    files = sorted(Path(fem.__file__).with_name("solvers").rglob("*.py"))
    count = sum(len(any_in(file.read_text(encoding="utf-8"))) for file in files)
    assert 0 < count <= MOST_ANY


def test_functions_that_take_or_return_anything_are_found():
    text = """
def f(a: Any): ...
def g(a: int, *b: "Any | None") -> None: ...
class A:
    def h(self, a: "Company") -> "dict[str, Any]": ...
    def good(self, a: "dict[str, int]") -> int: ...
"""
    assert any_in(text) == ["f", "g", "h"]


def test_types_are_announced_to_those_who_use_the_package():
    assert Path(fem.__file__).with_name("py.typed").exists()
