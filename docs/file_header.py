"""The directive ``file-header``: the docstring at the top of a source file as a section of a page.

    ```{file-header} elements/joints/revolute.py
    ```

Patterns such as ``solvers/contact_*.py`` stand for all files that match, by name; there may be several. The first line
gives the title (what stands before its colon). Indented blocks - equations, symbol tables - are shown as they are; of
the markup only ``code`` and `name` are recognised, so that a header needs no escapes.
"""

import ast
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent
_MARKUP = re.compile(r"``(?P<code>[^`]+)``|`(?P<name>[^`]+)`|(?<![\w*])\*(?P<stress>\w[\w ]*)\*")


def header(path):
    """Title, summary and blocks of the docstring of a file; a block is (kind, text), kind "literal" or "paragraph"."""
    text = ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    if text is None:
        raise ValueError(f"{path} has no docstring at its top")
    first, *blocks = re.split(r"\n\s*\n", text)
    title, colon, summary = first.replace("\n", " ").partition(": ")
    found = [("paragraph", summary[:1].upper() + summary[1:])] if colon else []
    for block in blocks:
        lines = block.splitlines()
        as_it_is = all(line.startswith("    ") for line in lines) or any(re.search(r"\S {3}", line) for line in lines)
        if as_it_is and found and found[-1][0] == "literal":
            found[-1] = ("literal", f"{found[-1][1]}\n\n{block}")
        else:
            found.append(("literal" if as_it_is else "paragraph", block))
    return title.rstrip("."), found


def inline(text):
    """Nodes of a paragraph."""
    result, end = [], 0
    for match in _MARKUP.finditer(text):
        result.append(nodes.Text(text[end : match.start()]))
        end = match.end()
        if match["code"]:
            result.append(nodes.literal(text=match["code"]))
        elif match["stress"]:
            result.append(nodes.emphasis(text=match["stress"]))
        else:
            link = addnodes.pending_xref(
                "", nodes.literal(text=match["name"]), refdomain="py", reftype="obj", reftarget=match["name"],
                refexplicit=False, refwarn=False, **{"py:module": "fem_mbs", "py:class": None},
            )  # fmt: skip
            result.append(link)
    return [*result, nodes.Text(text[end:])]


class FileHeader(SphinxDirective):
    """Sections made of the docstrings of the files that match the argument."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        found = {file for pattern in self.arguments[0].split() for file in ROOT.glob(pattern)}
        paths = sorted(file.relative_to(ROOT).as_posix() for file in found)
        if not paths:
            raise self.error(f"no file matches {self.arguments[0]}")
        return [self.section(path) for path in paths]

    def section(self, path):
        """Section of one file."""
        self.env.note_dependency(str(ROOT / path))
        title, blocks = header(path)
        section = nodes.section(ids=[nodes.make_id(path)], names=[nodes.fully_normalize_name(path)])
        section += nodes.title(text=title)
        section += nodes.paragraph("", "", nodes.literal(text=path), classes=["file-header"])
        for kind, text in blocks:
            if kind == "literal":
                lines = text.splitlines()
                indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
                text = "\n".join(line[indent:] for line in lines)
                section += nodes.literal_block(text, text, language="none", classes=["file-header"])
            else:
                section += nodes.paragraph("", "", *inline(text))
        return section


def setup(app):
    app.add_directive("file-header", FileHeader)
    return {"parallel_read_safe": True}
