"""Which module of the project imports which, read from the sources: at the top of a file and inside functions."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
FOUNDATIONS = (
    "fem_mbs/arguments",
    "fem_mbs/compiled",
    "fem_mbs/functions",
)  # of the core: the rest stands on them
FOLDERS = {"fem_mbs": (), "elements": ("fem_mbs",), "solvers": ("fem_mbs",)}  # folder -> packages it lies in


@functools.cache
def sources() -> dict:
    """Name of every module -> its file."""
    files = {}
    for folder, packages in FOLDERS.items():
        for file in (ROOT / folder).rglob("*.py"):
            parts = [*packages, *file.relative_to(ROOT).with_suffix("").parts]
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def imports(text: str, known) -> set:
    """Names among the ``known`` modules that a source text imports when it runs (not what only type checkers see).

    The modules of a table ``_IMPORTED`` are imported when one of their names is first asked for.
    """
    found, todo = set(), [ast.parse(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            todo += node.orelse
            continue
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"line {node.lineno}: write imports in full, not relative to the file")
            found |= {name for a in node.names for name in _modules(f"{node.module}.{a.name}", known)}
        elif isinstance(node, ast.Import):
            found |= {name for a in node.names for name in _modules(a.name, known)}
        elif isinstance(node, ast.Assign) and is_table(node):
            found |= {name for key in ast.literal_eval(node.value) for name in _modules(key, known)}
        todo += (child for child in ast.iter_child_nodes(node) if isinstance(child, STATEMENTS))  # not expressions
    return found


def hints(text: str, known) -> set:
    """Names among the ``known`` modules that only type checkers import, under ``if TYPE_CHECKING``."""
    found = set()
    if "TYPE_CHECKING" not in text:
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            found |= imports(ast.unparse(ast.Module(node.body, [])), known)
    return found


def is_table(node: ast.Assign) -> bool:
    """Whether it is the table of a face: module -> names that are imported from it when they are first asked for."""
    return [getattr(target, "id", None) for target in node.targets] == ["_IMPORTED"]


def _modules(name, known):
    """The module that a dotted name is, or is in."""
    if name in known:
        return {name}
    parent = name.rpartition(".")[0]
    return {parent} if parent in known else set()


@functools.cache
def graph() -> dict:
    """Module -> set of the modules that it imports."""
    files = sources()
    return {name: imports(file.read_text(encoding="utf-8"), files) - {name} for name, file in files.items()}


@functools.cache
def graph_of_hints() -> dict:
    """Module -> set of the modules that only its type hints need."""
    files = sources()
    found = {name: hints(file.read_text(encoding="utf-8"), files) - {name} for name, file in files.items()}
    return {name: targets - graph()[name] for name, targets in found.items()}


def layer(module: str) -> str:
    """ "elements", "solvers", or "core" for all that lies in fem_mbs/ itself."""
    package = module.split(".")[1:2]
    return package[0] if package in (["elements"], ["solvers"]) else "core"


def folder(module: str) -> str:
    """The folder of a module, as it lies in the source tree; "fem_mbs" for the files next to the folders."""
    file = sources()[module]
    return file.parent.relative_to(ROOT).as_posix()


# --- folders ----------------------------------------------------------------------------------------------------------


def boxes() -> dict:
    """Box of the drawing -> set of the boxes that its files import.

    A box is a folder. The files next to the folders of the core are two boxes: "fem_mbs" that all others stand on, with
    the folders `FOUNDATIONS`, and "fem_mbs (top)" of those that import the other folders. Faces (``__init__.py``)
    import by lazy names and are left out. Folders that import each other are one box, "a + b".
    """
    files, arrows = sources(), graph()
    faces = {name for name, file in files.items() if file.stem == "__init__"} | {"fem_mbs.cli"}
    place = {name: folder(name) for name in files if name not in faces}
    reached = _reached({name: targets - faces for name, targets in arrows.items() if name not in faces})
    for name, where in place.items():
        if where == "fem_mbs" and any(
            place[other].startswith("fem_mbs/") and place[other] not in FOUNDATIONS for other in reached[name]
        ):
            place[name] = "fem_mbs (top)"
    found = {where: set() for where in place.values()}
    for name, where in place.items():
        found[where] |= {place[other] for other in arrows[name] - faces} - {where}
    reached = _reached(found)
    merged = {a: " + ".join(sorted({a, *(b for b in reached[a] if a in reached[b])})) for a in found}
    result = {box: set() for box in merged.values()}
    for a, targets in found.items():
        result[merged[a]] |= {merged[b] for b in targets} - {merged[a]}
    return result


def direct(arrows: dict) -> dict:
    """The arrows that do not follow from the others; without circles."""
    reached = _reached(arrows)
    return {a: {b for b in targets if not any(b in reached[c] for c in targets)} for a, targets in arrows.items()}


def _reached(arrows):
    """Everything that can be reached from each name."""
    reached = {}
    for start in arrows:
        seen, todo = set(), [start]
        while todo:
            for other in arrows[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        reached[start] = seen
    return reached
