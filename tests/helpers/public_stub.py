"""Writes fem_mbs/__init__.pyi, the names of the package for editors and type checkers, from its table of names.

    python tests/helpers/public_stub.py        after a change of the table in fem_mbs/__init__.py

The package imports its names when they are first used; tools that read sources follow the stub instead.
"""

from pathlib import Path

import fem_mbs

STUB = Path(fem_mbs.__file__).with_suffix(".pyi")


def text() -> str:
    """The stub of the package as it is."""
    lines = ['"""Names of the package for editors and type checkers, made by tests/helpers/public_stub.py."""', ""]
    for module, names in sorted(fem_mbs._WHERE.items()):
        lines += [f"from {module} import {name} as {name}" for name in sorted(names)]
    lines += [f"from fem_mbs import {name} as {name}" for name in sorted(fem_mbs._MODULES)]
    return "\n".join([*lines, "", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(text(), encoding="utf-8")
