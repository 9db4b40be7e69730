"""Public functions have type hints; `make lint` checks with mypy that they are right."""

import inspect

import fem_mbs as fem

# without hints yet
LATER = {
    "fem_mbs.elements.beams.beam",
    "fem_mbs.elements.beams.line",
    "fem_mbs.elements.beams.two_node",
    "fem_mbs.results.results",
    "fem_mbs.signals",
    "fem_mbs.solvers.nsga.decoupled_nsga",
    "fem_mbs.system.system",
}


def public_functions():
    """Functions, constructors, methods and properties that ``fem.…`` leads to; compiled ones are not among them."""
    for name in fem.__all__:
        item = getattr(fem, name)
        if inspect.isfunction(item):
            yield item
        for base in item.__mro__ if inspect.isclass(item) else ():
            for key, value in vars(base).items():
                function = getattr(value, "__func__", value.fget if isinstance(value, property) else value)
                if inspect.isfunction(function) and (key == "__init__" or not key.startswith("_")):
                    yield inspect.unwrap(function)


def without_hints(function):
    """Names of parameters without a type; "return" for what it returns."""
    signature = inspect.signature(function)
    names = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
    returns = signature.return_annotation is signature.empty and function.__name__ != "__init__"
    return names + ["return"] * returns


def test_public_functions_have_type_hints():
    missing = {
        f"{function.__module__}.{function.__qualname__}": names
        for function in set(public_functions())
        if function.__module__.startswith("fem_mbs")
        and function.__module__ not in LATER
        # dataclasses write their constructors themselves
        and not function.__code__.co_filename.startswith("<")
        and (names := without_hints(function))
    }
    assert not missing, missing


def test_types_are_announced_to_those_who_use_the_package():
    from pathlib import Path

    assert Path(fem.__file__).with_name("py.typed").exists()
