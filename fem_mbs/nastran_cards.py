"""Lines of Nastran's bulk data: small (8), large (16) and free fields, continuations, numbers of Fortran."""

import re
from collections.abc import Iterator


def number(text: str) -> float:
    """A real number: 1.5, 1.5D+3, 1.5+3."""
    text = text.upper().replace("D", "E")
    return float(re.sub(r"(?<=[0-9.])([+-][0-9]+)$", r"E\1", text))


def lines_of(lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Number of the line, the line, name of the card ("" of a continuation) and its 8 fields, 4 of large ones."""
    for at, line in enumerate(lines, 1):
        text = line.split("$")[0].rstrip()
        text = text if "," in text else text.expandtabs(8)
        if not text.strip():
            continue
        name = text.split(",")[0].strip() if "," in text else text[:8].strip()
        large = name.endswith("*") or name.startswith("*")
        per, width = (4, 16) if large else (8, 8)
        if "," in text:
            parts = [part.strip() for part in text.split(",")[1:]]
        else:
            parts = [text[k : k + width].strip() for k in range(8, len(text), width)]
        name = name.rstrip("*").strip()
        yield at, line, ["" if name.startswith(("+", "*")) else name.upper(), *(parts + [""] * per)[:per]]


def cards_of(lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Number and text of its first line, name and all fields of each card, continuations put behind."""
    held: tuple[int, str, list[str]] | None = None
    for at, line, fields in lines_of(lines):
        if fields[0] == "" and held is not None:
            held[2].extend(fields[1:])
            continue
        if held is not None:
            yield held
        held = at, line, fields
    if held is not None:
        yield held
