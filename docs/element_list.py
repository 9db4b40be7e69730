"""Table of docs/elements.md: every element type with its free coordinates, options and outputs, read from the code.

python docs/element_list.py        writes the table into the page; half a minute, tangents are measured
"""

import inspect
import re
from pathlib import Path

import fem_mbs as fem
from fem_mbs.element.registry import library
from fem_mbs.elements.shells.element import cell_of as shell_cell
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
    """Keywords of the constructor except attachments."""
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


# in this order among ``element.nodes``, where it is not the nodes of the attachments
NODES = {
    "AveragedCoupling": "`Node6` of the frame, then the `Node3` of the face",
    "TiedNode": "`Node3` that is tied, then the `Node3` of the face",
    "NodalLoad": "`Node3` of the face or body", "PressureFace": "`Node3` of the face",
    "NodeOnFaces": "`Node3` that touches, then the `Node3` of the faces",
    "FrameOnFaces": "nodes of the frames, then the `Node3` of the faces",
    "FloatingFrame": "`Node6` of the floating frame, then the `Node6` of the frames of the reduction",
    "Superelement": "a `Node6` for each frame of the reduction, in its order, named `body frame`; then a `Node3` for "
                    "each three modes, named `body modes 1` …, whose components are the amplitudes",
    "PointOfBody": "`Node3` of the point, the floating `Node6`, then the nodes of the `Superelement`",
}  # fmt: skip
NUMBERING = """A `Node3` has 3 components, the displacements x, y, z; a `Node6` has 6, with the rotations about the
axes of its body. The nodes of a solid are in the numbering of VTK: first the corners, then the middles of the edges.
`body.nodes` of a `SolidBody` or `ShellBody` are the points of its mesh that belong to cells, in the order of the mesh,
without names; `body.nodes_of(group)` and `body.node_at(position)` find them.

"""


def nodes(name, cls, example):
    """Nodes of a type, by number or in words."""
    if name in NODES:
        return NODES[name]
    if getattr(cls, "cell", None) is not None:
        return f"{cls.cell.nn} `Node3`"
    if hasattr(cls, "nn"):
        return f"{cls.nn} `Node6`"
    return str(len(inspect.signature(example).parameters) - 1)


def numbering():
    """Table of the nodes of solids and shells: reference coordinates of the corners, edges of the other nodes."""
    lines = [
        "| type | corners at the reference coordinates | nodes in the middle of the edges |",
        "| --- | --- | --- |",
    ]
    for name, (cls, _) in sorted(library().items()):
        if getattr(cls, "cell", None) is None and not hasattr(cls, "nn"):
            continue
        cell = cls.cell if getattr(cls, "cell", None) is not None else shell_cell(cls.nn).cell
        corners = [", ".join(f"{x:g}" for x in point) for point in cell.points[: cell.n_corners]]
        middles = (
            [f"{cell.n_corners + k}: {a}-{b}" for k, (a, b) in enumerate(cell.edges)] if cell.order == 2 else ["-"]
        )
        lines.append(f"| `{name}` | {'; '.join(f'{k}: ({x})' for k, x in enumerate(corners))} | {', '.join(middles)} |")
    return "## Numbering of the nodes of solids and shells\n\n" + NUMBERING + "\n".join(lines) + "\n\n"


def rows(measure):
    """Title -> rows of its table; ``measure``: error of a type by name."""
    tables = {title: [] for title in [*FOLDERS.values(), "Written in Python"]}
    for name, (cls, example) in sorted(library().items()):
        row = [
            f"`{name}`",
            nodes(name, cls, example),
            free(cls),
            options(cls),
            outputs(cls),
            source(cls),
            measure(name),
        ]
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
    return text + numbering()


def shown():
    """The part of the page that this script writes."""
    return PAGE.read_text().split(BEGIN)[1].split(END)[0]


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + page(worst) + END + rest.split(END)[1])
    print(f"{PAGE.name}: {len(library())} types, fem_mbs {fem.__version__}")
