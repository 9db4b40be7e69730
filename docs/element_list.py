"""Table of docs/elements.md: every element type with what it leaves free, takes and reports, asked from the code.

python docs/element_list.py        writes the table into the page; half a minute, tangents are measured
"""

import inspect
import re
from pathlib import Path

import fem_mbs as fem
from fem_mbs.element.registry import library
from fem_mbs.verify import check_type

PAGE = Path(__file__).with_name("elements.md")
BEGIN, END = "<!-- elements: begin -->\n", "<!-- elements: end -->\n"
FOLDERS = {
    "bodies": "Bodies", "solids": "Solids", "shells": "Shells", "superelements": "Superelements", "beams": "Beams",
    "joints": "Joints, drivers, locks", "drives": "Gears, belts, cables",
    "forces": "Springs, loads", "control": "Measured motions, filters", "contacts": "Contacts", "bearings": "Bearings",
}  # fmt: skip
NOT_OPTIONS = ("self", "frame_P", "frame_Q", "name", "node", "nodes", "frame", "end_A", "end_B", "joint")
HEAD = ["type", "nodes", "free coordinates", "options", "outputs", "source", "tangent error"]


def kind(cls):
    """Title of the table that a type belongs to."""
    parts = cls.__module__.split(".")
    return FOLDERS.get(parts[2] if len(parts) > 3 else "", "Written in Python")


def options(cls):
    """Keywords of the constructor beside what it is attached to."""
    names = [
        name for name, p in inspect.signature(cls).parameters.items()
        if name not in NOT_OPTIONS and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]  # fmt: skip
    return ", ".join(f"`{name}`" for name in names) or "-"


def outputs(cls):
    """Outputs with their units."""
    return ", ".join(f"`{n}`" + (f" [{unit}]" if unit else "") for n, (_, unit) in cls.outputs.items()) or "-"


def free(cls):
    """Free relative coordinates of a joint."""
    return ", ".join(f"`{c.name}` [{c.unit}]" for c in getattr(cls, "coordinates", ())) or "-"


def source(cls):
    """Link to the page of the theory that the module of a type names."""
    text = inspect.getmodule(cls).__doc__ or ""
    found = re.search(r"docs/(theory/\w+)\.md", text) or re.search(r"docs/(theory/\w+)", text)
    return f"[{found[1].split('/')[1].replace('_', ' ')}]({found[1]}.md)" if found else "-"


def rows(measure):
    """Title -> rows of its table; ``measure``: error of a type by name."""
    tables = {title: [] for title in [*FOLDERS.values(), "Written in Python"]}
    for name, (cls, _) in sorted(library().items()):
        count = len(inspect.signature(library()[name][1]).parameters) - 1
        row = [f"`{name}`", str(count), free(cls), options(cls), outputs(cls), source(cls), measure(name)]
        tables[kind(cls)].append(row)
    return {title: table for title, table in tables.items() if table}


def worst(name):
    """Worst error of the generic checks of a type, as text."""
    return f"{max(check_type(name).errors.values(), default=0.0):.0e}"


def page(measure):
    """Tables as text, with an error of each type."""
    text = ""
    for title, table in rows(measure).items():
        lines = ["| " + " | ".join(row) + " |" for row in [HEAD, ["---"] * len(HEAD), *table]]
        text += f"## {title}\n\n" + "\n".join(lines) + "\n\n"
    return text


def shown():
    """The part of the page that this script writes."""
    return PAGE.read_text().split(BEGIN)[1].split(END)[0]


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + page(worst) + END + rest.split(END)[1])
    print(f"{PAGE.name}: {len(library())} types, fem_mbs {fem.__version__}")
