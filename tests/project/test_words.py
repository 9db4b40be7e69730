"""Everything people read is in the terms of textbooks: idioms that need a translation do not occur."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Patterns of files that are checked; extend by the other sources when they are free of idioms.
COVERED = {
    "README": "README.md",
    "CONTRIBUTING": "CONTRIBUTING.md",
    "CHANGELOG": "CHANGELOG.md",
    "docs": "docs/*.md",
    "how-to": "docs/howto/*.md",
    "API": "docs/api/*.md",
    "theory": "docs/theory/*.md",
    "scripts of docs": "docs/*.py",
    "examples": "examples/*.py",
    "benchmarks": "benchmarks/**/*.py",
    "tests": "tests/**/*.py",
    **{
        f"fem_mbs/{folder}": f"fem_mbs/{folder}/**/*.py"
        for folder in (
            "arguments",
            "bearings",
            "cases",
            "compiled",
            "distance",
            "element",
            "fatigue",
            "functions",
            "hertz",
            "linear",
            "mesh",
            "recovery",
            "results",
            "stresses",
            "system",
        )
    },
    "fem_mbs": "fem_mbs/*.py",
    "elements": "elements/**/*.py",
    "solvers": "solvers/*.py",
    **{
        f"solvers/{folder}": f"solvers/{folder}/*.py"
        for folder in (
            "alpha",
            "cone",
            "contact",
            "contact_problem",
            "granular/obstacles",
            "granular/shapes",
            "joint_friction",
            "linear",
            "lobatto",
            "moreau",
            "nsga",
            "paths",
            "rotors",
            "stepping/monitors",
            "three_levels",
        )
    },
}
# Idiom (regular expression, upper or lower case) -> standard term. Only idioms that are never right in this project.
IDIOMS = {
    r"\btold\b|\btells?\b": "is reported, states, a warning is issued",
    r"\b(?:do|does|did) not know\b|\bknows\b": "does not support, contains, stores",
    r"\bremarks?\b": "warning",
    r"\b(?:the books|books of energy|booked)\b": "energy balance, accumulated work",
    r"\b(?:goes?|gone|went|going) on\b": "continues",
    r"\bput back\b|\bway back\b": "restore",
    r"\bg(?:ive|ives|iven|ave) up\b": "rejected (a step), raises an error (a model)",
    r"\brefus(?:e|es|ed|al)\b": "raises an error, is not supported, rejected (a step)",
    r"\bin parts\b": "subdivided, substeps",
    r"\b(?:by|in|of|over|take|takes) sweeps\b|\bsweeps (?:of|over|take)\b": "projected Gauss-Seidel iterations",
    r"\bpair by pair\b": "assembled (pairwise) solver",
    r"\bgrains?\b": "particles, bodies of a contact group",
    r"\bpushed obstacles?\b|\bgives? way\b": "movable obstacle, compliant",
    r"\bwhat (?:presses|is left|is free|moves|rests|touches|holds)\b": "name the thing: normal force, residual, …",
    r"\b(?:leaves?|left) free\b": "free coordinate, degree of freedom",
    r"\brepeats? (?:others|what others)\b|\brows that repeat\b": "redundant constraints",
    r"\b(?:the law of contact|without a law)\b": "contact material, no contact material is defined",
    r"\bthree[- ]poses?\b": "three-node beam",
    r"\bturns counted\b|\bcounts? (?:its |their )?turns\b": "multi-turn (unwrapped) angle",
    r"\b(?:strikes?|struck|blows?)\b": "impact",
    r"\blasting (?:load|contact|force)s?\b|\bloads? that lasts?\b": "static load, persistent contact",
    r"\bwithout a word\b": "without a warning",
    r"\bat the price of\b": "is expensive, costs",
    r"\bgo(?:es)? with\b|\bleave it out\b": "cannot be combined with …; remove it",
    r"\b(?:would|will) do\b(?=\s*[.,;:])|\bdoes for\b|\bdo(?:es)? as well\b": "is sufficient, is also accepted",
    r"\ba (?:thousandth|hundredth)\b|\b(?:by|to) a per cent\b": "0.1 %, 1 %",
    r"\bbesides?\b": "next to, compared with, in addition to",
    r"\bof (?:one's|your) own\b": "user-defined",
}
FSTRING = getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)  # from Python 3.12
FENCE = re.compile(r"^ *```(?P<kind>[^\n]*)\n.*?^ *```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"[\"']?[A-Za-z_][\w.]*(?: \| [A-Za-z_][\w.]*)*[\"']?")  # an identifier, or a type written as text
FIELD = re.compile(r"\{[^{}\n]*\}")  # of a formatted string
CODE = re.compile(r"``[^`\n]*``|`[^`\n]*`|\]\([^)\n]*\)|<[^>\n]*>|\$[^$\n]*\$")
# of a source also names: in quotes, of parameters in a docstring, and of methods with their parentheses
NAMES = re.compile(r"""["']\w+["']|^ *\w+(?:, \w+)* :(?= )|\b\w+\((?:self)?\)""", re.MULTILINE)


def blank(match):
    """As many lines and characters, without words."""
    return re.sub(r"[^\n]", " ", match[0])


def prose(text, kind=".md"):
    """Text with its lines and columns, without code, links and formulas; captions of figures are prose.

    Of a Python source the strings and the comments are prose.
    """
    if kind == ".py":
        return NAMES.sub(blank, CODE.sub(blank, FIELD.sub(blank, strings_and_comments(text))))
    text = FENCE.sub(lambda m: m[0] if "{figure}" in m["kind"] else blank(m), text)
    return CODE.sub(blank, text)


def strings_and_comments(text):
    """Strings and comments of a source, in their lines, without names of data and of types."""
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT, FSTRING) and not NAME.fullmatch(token.string):
            for i, line in enumerate(token.string.split("\n")):
                lines[token.start[0] - 1 + i] += " " + line
    return "\n".join(lines)


def idioms(text):
    """Idioms in a text: list of (line, words, standard term)."""
    found = []
    for idiom, standard in IDIOMS.items():
        for match in re.finditer(idiom.replace(" ", r"\s+"), text, re.IGNORECASE):
            found.append((text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), standard))
    return sorted(found)


@pytest.mark.parametrize("pattern", COVERED.values(), ids=COVERED)
def test_prose_uses_standard_terms(pattern):
    files = sorted(set(ROOT.glob(pattern)) - {Path(__file__).resolve()})
    assert files, f"no file {pattern}"
    found = [
        f'{file.relative_to(ROOT)}:{line}: "{words}"; write: {standard}'
        for file in files
        for line, words, standard in idioms(prose(file.read_text(encoding="utf-8"), file.suffix))
    ]
    assert not found, "\n".join(found)


def test_names_of_tests_use_standard_terms():
    found = [
        f'{file.relative_to(ROOT)}: {name}: "{words}"; write: {standard}'
        for file in sorted(set((ROOT / "tests").rglob("*.py")) - {Path(__file__).resolve()})
        for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
        for _, words, standard in idioms(name.replace("_", " "))
    ]
    assert not found, "\n".join(found)


def test_idioms_are_found_in_prose_only():
    text = "A run is\ntold of it.\n\n```text\nit is told\n```\n\nOf `told` nothing.\n"
    assert [found[:2] for found in idioms(prose(text))] == [(2, "told")]
    source = 'told = 1\nx = f"{told} is\\n"\n"""Of the run\nhe is told."""\n# tells of it\n'
    assert [found[:2] for found in idioms(prose(source, ".py"))] == [(4, "told"), (5, "tells")]
    source = '"""It is told.\n\ntold, told : int\n    As `x` of told().\n"""\ny["told"] = 1\nz = "told twice"\n'
    assert [found[:2] for found in idioms(prose(source, ".py"))] == [(1, "told"), (7, "told")]
