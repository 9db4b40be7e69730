"""The scripts of ``examples`` as modules, wherever they lie: next to the package, or in it once it is installed."""

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from fem_mbs.errors import FemMbsError


def folder() -> Path:
    """Folder of the scripts."""
    package = Path(__file__).resolve().parents[1]
    found = [place for place in (package / "examples", package.parent / "examples") if place.is_dir()]
    if not found:
        raise FemMbsError(f"the example scripts are neither in {package} nor next to it; install fem_mbs again")
    return found[0]


@functools.cache
def script(name: str) -> ModuleType:
    """The module of a script; the one that has been imported already, if there is one."""
    path = folder() / f"{name}.py"
    known = sys.modules.get(name)
    if known is not None and Path(getattr(known, "__file__", None) or ".").resolve() == path:
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise FemMbsError(f"there is no example script {path}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # some use the models of others
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def title(name: str) -> str:
    """What stands before the colon in the first line of a script; nothing of it is run."""
    import ast

    text = ast.get_docstring(ast.parse((folder() / f"{name}.py").read_text(encoding="utf-8"))) or name
    return text.partition("\n\n")[0].replace("\n", " ").partition(":")[0].rstrip(".")
