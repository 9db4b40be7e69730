"""Lines of Nastran's bulk data: small (8), large (16) and free fields, continuations, lists, numbers of Fortran."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Line(NamedTuple):
    """A line: its number and text, its name ("" of a continuation) and fields, its own mark and that of the next one.

    There are 8 fields, 4 large ones; a line of free fields that continues by itself has a multiple of that.
    """

    at: int
    text: str
    fields: list[str]
    mark: str
    next: str


def number(text: str) -> float:
    """A real number: 1.5, 1.5D+3, 1.5+3."""
    text = text.upper().replace("D", "E")
    return float(re.sub(r"(?<=[0-9.])([+-][0-9]+)$", r"E\1", text))


def listed(fields: Iterable[str]) -> list[int]:
    """Labels of a list with "1 THRU 9", "1 THRU 9 BY 2" and "1 THRU 9 EXCEPT 4 THRU 6 8"."""
    words = [field.upper() for field in fields if field]
    found: list[int] = []
    at = 0

    def span():
        """The label or range that begins at the word, with its last label."""
        nonlocal at
        first = last = int(words[at])
        step, at = 1, at + 1
        if words[at : at + 1] == ["THRU"]:
            last, at = int(words[at + 1]), at + 2
            if words[at : at + 1] == ["BY"]:
                step, at = int(words[at + 1]), at + 2
        return range(first, last + 1, step)

    while at < len(words):
        labels = span()
        without: set[int] = set()
        if words[at : at + 1] == ["EXCEPT"]:
            at += 1
            while at < len(words) and int(words[at]) <= labels[-1]:
                without.update(span())
        found.extend(label for label in labels if label not in without)
    return found


def lines_of(lines: list[str]) -> Iterator[Line]:
    """Lines with data, comments left out."""
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
            parts = [text[k : k + width].strip() for k in range(8, 72, width)] + [text[72:80].strip()]
        follows = parts[per] if len(parts) > per else ""
        if any(parts[per + 1 :]) and not follows.startswith(("+", "*")):  # all of them are data
            per, follows = -(-len(parts) // per) * per, ""
        continues = name.startswith(("+", "*")) or not name
        mark = name.lstrip("+*").strip() if continues else ""
        name = "" if continues else name.rstrip("*").strip().upper()
        yield Line(at, line, [name, *(parts + [""] * per)[:per]], mark, follows.lstrip("+*"))


def cards_of(lines: list[str]) -> list[tuple[int, str, list[str]]]:
    """Number and text of the first line, name and all fields of each card; marks name the line that is continued."""
    cards: list[tuple[int, str, list[str]]] = []
    waiting: dict[str, list[str]] = {}  # mark of a continuation -> fields that it continues
    for line in lines_of(lines):
        if line.fields[0] == "" and cards:
            fields = waiting.pop(line.mark, cards[-1][2]) if line.mark else cards[-1][2]
            fields.extend(line.fields[1:])
        else:
            fields = line.fields
            cards.append((line.at, line.text, fields))
        if line.next:
            waiting[line.next] = fields
    return cards
