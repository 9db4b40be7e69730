"""What compiled code depends on: the texts of source files, and which modules of the project these import.

`fem_mbs.jit` makes the key of compiled code of it. Comments, docstrings of modules and classes do not count.
"""

import atexit
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

_IMPORT = re.compile(
    r"^\s*(?:from\s+(fem_mbs[\w.]*)\s+import\s+(?:\(([^)]*)\)|([^\n(#]*))|import\s+(fem_mbs[\w.]*))", re.MULTILINE
)
_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|[ \t]*\n)*", re.MULTILINE)  # imports that do not happen
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # of the package


def _module_file(name):
    """Source file of a fem_mbs module without importing it; None when there is no such module."""
    parts = name.split(".")[1:]
    if not parts:
        return None
    module = os.path.join(_ROOT, *parts)
    for candidate in (f"{module}.py", os.path.join(module, "__init__.py")):
        if os.path.exists(candidate):
            return candidate
    return None


def imported_modules(text: str) -> list[str]:
    """Names of the fem_mbs modules that a source text imports; imported names too, as they may be modules."""
    modules = []
    text = _FOR_TYPES.sub("", text)
    for base, in_brackets, in_line, plain in _IMPORT.findall(text):
        names = (in_brackets or in_line).split(",")
        modules += [plain] if plain else [base, *(f"{base}.{name.split(' as ')[0].strip()}" for name in names)]
    return modules


_CLASS = re.compile(r"^class .*\n(?:[ \t].*\n|[ \t]*\n|\).*\n)*", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#.*\n", re.MULTILINE)
_DOCSTRING = re.compile(r'^""".*?"""', re.DOTALL)


def compiled_text(text: str) -> str:
    """What compiled code can depend on: a module's text without its docstring, classes and lines of comment.

    Kernels see functions and constants of modules. Record types are constants; those that an element class names are
    part of the text that `bind` writes.
    """
    return _COMMENT.sub("", _CLASS.sub("", _DOCSTRING.sub("", text, count=1)))


class Sources:
    """What compiled code depends on in source files: found once for each state of a file, and stored next to the code.

    The state is the time of the last change and the size, by which Python identifies its compiled modules.
    """

    def __init__(self) -> None:
        self.known: Any = None  # file -> [state, digest, names of the modules that it imports]
        self.files: dict[str, tuple[list, tuple]] = {}  # file -> state, and what `read` returns: of this process
        self.path = Path()  # of the file that keeps them
        self.new = False

    def digests(self, path: str | Path, folder: Path) -> tuple[list[str], int]:
        """Name and digest of a source file and of all fem_mbs modules that it imports, and the newest change [ns].

        ``folder`` keeps what is found. Names, not paths: the same sources elsewhere have the same digests.
        """
        if self.known is None:
            # of one version of this file, which says what counts
            self.path = folder / f"sources_{self.state(__file__)[0]}.json"
            self.known = self._kept()
            atexit.register(self.keep)
        seen: dict[str, str] = {}
        todo = [os.path.realpath(path)]
        while todo:
            file = todo.pop()
            if file not in seen:
                seen[file], imported = self.read(file)
                todo += imported
        newest = max(self.files[file][0][0] for file in seen)
        return sorted(f"{os.path.basename(file)} {digest}" for file, digest in seen.items()), newest

    @staticmethod
    def state(file: str) -> list[int]:
        """Time of the last change and size of a file."""
        found = os.stat(file)
        return [found.st_mtime_ns, found.st_size]

    def read(self, file: str) -> tuple[str, list[str]]:
        """Digest of what compiled code depends on in a source file, and the files of the modules it imports."""
        state = self.state(file)
        if file not in self.files or self.files[file][0] != state:
            digest, names = self._of(file, state)
            found = map(_module_file, names)
            imported = [f for f in found if f is not None and os.path.basename(f) != "__init__.py"]
            self.files[file] = state, (digest, imported)
        return self.files[file][1]

    def _of(self, file, state):
        if self.known.get(file, [None])[0] != state:
            text = Path(file).read_text(encoding="utf-8")
            digest = hashlib.sha256(compiled_text(text).encode()).hexdigest()
            self.known[file], self.new = [state, digest, sorted(set(imported_modules(text)))], True
        return self.known[file][1:]

    def _kept(self):
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none yet, or half of one
            return {}
        return known if isinstance(known, dict) else {}

    def keep(self) -> None:
        """Write what is new for the next process."""
        if not self.new or self.known is None:
            return
        partial = self.path.with_suffix(f".{os.getpid()}")
        try:
            partial.write_text(json.dumps(self.known), encoding="utf-8")
            partial.replace(self.path)  # at once: another process may write the same file
        except OSError:  # a full disk: the next process reads the sources again
            partial.unlink(missing_ok=True)
        self.new = False


SOURCES = Sources()
