"""Text of files that other programs wrote: encodings, byte order marks, ends of lines, files that they include.

Included files must be in the folder of the file or below: no other file is read.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

DECLARED = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([\w.-]+)[\"']")  # in the head of an XML file
HEAD = 4096  # bytes in which a declaration is searched


def decoded(raw: bytes) -> str:
    """Text in the encoding of a byte order mark or an XML declaration; if that fails in UTF-8, else in Latin-1.

    Marks are left out, also those that files which were put together have inside.
    """
    return _decoded(raw).replace("\ufeff", "")


def _decoded(raw):
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    found = DECLARED.search(raw[:HEAD])
    declared = "" if found is None else found[1].decode().lower()
    wide = declared.startswith(("utf-16", "utf16", "utf-32", "utf32", "ucs"))  # not so: it was found in single bytes
    for encoding in ("utf-8-sig",) if wide or not declared else (declared, "utf-8-sig"):
        try:
            return raw.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("latin-1")


def text_of(path: str | Path) -> str:
    """Text of a file, see `decoded`; lines end with a line feed, a mark of the end (Ctrl-Z of DOS) is left out."""
    return decoded(Path(path).read_bytes()).replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a")


def beside(owner: Any, path: str | Path, name: str, where: str) -> Path:
    """Path of a file that another one names, in the folder of that one or below.

    Raises
    ------
    ParameterError
        It is not there, or elsewhere; ``where`` names the line.
    """
    folder = Path(path).resolve().parent
    found = (folder / name.replace("\\", "/")).resolve()
    inside = found.is_relative_to(folder)
    owner.check(inside, "path", str(path), f"{where}: '{name}' is outside of the folder of the file; copy it there")
    owner.check(found.is_file(), "path", str(path), f"{where}: there is no file '{name}' in the folder of the file")
    return found


class Lines:
    """Lines of a file and of the files that it includes, put where they are named.

    Parameters
    ----------
    owner : of messages
    path
    named : callable
        Returns the name of the file that a line includes, or None.

    Attributes
    ----------
    lines : list of str
    """

    def __init__(self, owner: Any, path: str | Path, named: Callable[[str], str | None]) -> None:
        self.owner, self.path, self.named = owner, path, named
        self.lines: list[str] = []
        self._begins: list[int] = []  # first line of each run of lines of one file
        self._runs: list[tuple[str, int]] = []  # name of its file, number of its first line there
        self._take(Path(path), "", ())

    def _take(self, file, name, within):
        self._begin(name, 1)
        for number, line in enumerate(text_of(file).split("\n"), 1):
            more = self.named(line) if "INCLUDE" in line.upper() else None
            self.lines.append(line)
            if more is not None:
                where = f"{self.where(len(self.lines) - 1)}, '{line.strip()}'"
                found = beside(self.owner, self.path, more, where)
                self.owner.check(found not in within, "path", str(self.path), f"{where}: the file includes itself")
                self.lines[-1] = ""
                self._take(found, more, (*within, found))
                self._begin(name, number + 1)

    def _begin(self, name, number):
        self._begins.append(len(self.lines))
        self._runs.append((name, number))

    def where(self, at: int) -> str:
        """ "line 7", or "line 7 of 'nodes.inc'", for a number in ``lines``."""
        run = bisect_right(self._begins, at) - 1
        name, number = self._runs[run]
        return f"line {number + at - self._begins[run]}" + (f" of '{name}'" if name else "")
