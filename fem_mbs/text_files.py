"""Text of files that other programs wrote: encodings, byte order marks, ends of lines."""

import codecs
import re
from pathlib import Path

DECLARED = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([\w.-]+)[\"']")  # in the head of an XML file
HEAD = 4096  # bytes in which a declaration is searched


def decoded(raw: bytes) -> str:
    """Text in the encoding of a byte order mark or an XML declaration; if that fails in UTF-8, else in Latin-1."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    found = DECLARED.search(raw[:HEAD])
    for encoding in ("utf-8-sig",) if found is None else (found[1].decode(), "utf-8-sig"):
        try:
            return raw.decode(encoding).removeprefix("\ufeff")
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("latin-1")


def text_of(path: str | Path) -> str:
    """Text of a file, see `decoded`; lines end with a line feed."""
    return decoded(Path(path).read_bytes()).replace("\r\n", "\n").replace("\r", "\n")
