"""Citations in texts: keys of publications, and the numbers of sections, equations, figures and tables after them."""

import re
from pathlib import Path

from fem_mbs.sources import SOURCES

ROOT = Path(__file__).resolve().parents[2]
FIVE = ("Sanchez2025", "Bruls2014", "Capobianco2021", "Capobianco2024", "Negrut2018")
KINDS = {
    "section": r"chapters?|annex(?:es)?|sections?|appendix",
    "figure": r"figures?|figs?\.",
    "table": r"tables?",
    "algorithm": r"algorithms?",
}
NUMBER = r"(?:[A-C](?:\.\d+)*|\d+(?:\.\d+)*)[a-z]?"
KEY = re.compile(rf"\b(?:{'|'.join(FIVE)})\b")
TOKEN = re.compile(
    r"(?:[\s,#]|and\b|to\b|its\b|[-–…:]|\.\.\.)*"  # between two of them
    rf"(?:(?P<word>{'|'.join(rf'(?P<{kind}>(?i:{words}))' for kind, words in KINDS.items())})\s"
    rf"|\((?P<equation>{NUMBER})\)"
    rf"|(?P<number>{NUMBER})(?![\w°]|\.\d| (?:m?s|kN|[µmM]?m|Hz|%)\b))"
)
# numbers that only one source has, wherever they are: A.6.1, (B.50), C.12b
ANNEX = re.compile(r"(?<![\w.`/])(\()?([A-C]\.\d+(?:\.\d+)*[a-z]?)(?![\w-]|\.\w)(?(1)\))")


def citations(text):
    """(key, kind, number) of all citations of the five main sources in a text."""
    found = []
    for match in KEY.finditer(text):
        kind, at, named = None, match.end(), False
        while token := TOKEN.match(text, at):
            at = token.end()
            if token["word"]:
                kind, named = next(name for name in KINDS if token[name]), True
            elif token["equation"]:
                found.append((match[0], "equation", token["equation"]))
            elif named or "." in token["number"]:
                found.append((match[0], kind or "section", token["number"]))
            else:
                break
    return found


def annexes(text):
    """Numbers of the annexes of the thesis, with or without its key; in parentheses they are equations."""
    return [("equation" if bracket else None, number) for bracket, number in ANNEX.findall(text)]


def in_thesis(kind, number):
    """True if an annex of the thesis has this number, of a kind or of any kind."""
    kinds = (kind,) if kind else ("section", "equation", "figure", "table")
    return any(SOURCES["Sanchez2025"].has(one, number) for one in kinds)


def texts():
    """File -> text, of everything people read: pages, sources, examples, tests."""
    places = ("*.md", "docs/**/*.md", "docs/**/*.inc", "docs/*.py", "benchmarks/*.py", "examples/*.py", "tests/**/*.py",
              "fem_mbs/*.py", *(f"{folder}/**/*.py" for folder in ("elements", "solvers")),
              *(f"fem_mbs/{folder.name}/**/*.py" for folder in (ROOT / "fem_mbs").iterdir()
                if folder.is_dir() and not folder.is_symlink()))  # fmt: skip
    files = {file for place in places for file in ROOT.glob(place)}
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in sorted(files)}
