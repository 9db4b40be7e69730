"""A process that compiles what another one names: ``module:name`` or ``file:name``, a line each; it answers each.

The answer is "kept" when the code is on disk, else what went wrong; the other process then compiles it by itself.
"""

import os
import pkgutil
import sys
from typing import TextIO


def compile_named(place: str) -> str:
    """Compile the program at a place; what to answer."""
    from fem_mbs.jit import bound_module

    module, _, name = place.rpartition(":")
    try:
        found = vars(bound_module(module))[name] if module.endswith(".py") else pkgutil.resolve_name(place)
        found.compile()
    except Exception as error:  # the other process meets it too, and reports it
        return f"failed: {type(error).__name__}"
    return "kept"


def serve(lines: TextIO, answers: TextIO) -> None:
    """Compile what the lines name until they end."""
    for line in lines:
        print(compile_named(line.strip()), file=answers, flush=True)


if __name__ == "__main__":
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr  # whatever is imported may print
    serve(sys.stdin, out)
