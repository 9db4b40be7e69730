"""The directive ``published-cases``: a table of the cases that ``fem-mbs validate`` runs, from the registry itself.

    ```{published-cases}
    ```

Nothing is run when the site is built.
"""

from docutils import nodes
from file_header import ROOT, inline
from sphinx.util.docutils import SphinxDirective

HEAD = ("case", "what, source", "methods", "tolerances; what is not reproduced; notes")


def rows():
    """Cells of the table, each a list of paragraphs."""
    from fem_mbs.cases.registry import cases

    for case in cases().values():
        methods = [method for method in case.methods if method.exists]
        notes = [f"Tolerances: {case.tolerance}."]
        for method in methods:
            by_reason = {}
            for check, reason in method.not_reproduced.items():
                by_reason.setdefault(reason, []).append(check)
            notes += [
                f"Not reproduced by ``{method.label}``: {', '.join(checks)}; {why}."
                for why, checks in by_reason.items()
            ]
        notes += [case.note] if case.note else []
        yield [f"``{case.name}``"], [f"{case.title}. {case.source}"], [f"``{m.label}``" for m in methods], notes


def cell(paragraphs):
    """Node of a cell."""
    return nodes.entry("", *[nodes.paragraph("", "", *inline(text)) for text in paragraphs])


class PublishedCases(SphinxDirective):
    """Table of all cases."""

    def run(self):
        for file in (ROOT / "fem_mbs" / "cases").glob("*.py"):
            self.env.note_dependency(str(file))
        group = nodes.tgroup("", *[nodes.colspec(colwidth=width) for width in (15, 25, 20, 40)], cols=len(HEAD))
        group += nodes.thead("", nodes.row("", *[cell([text]) for text in HEAD]))
        group += nodes.tbody("", *[nodes.row("", *[cell(texts) for texts in row]) for row in rows()])
        return [nodes.table("", group, classes=["published-cases"])]


def setup(app):
    app.add_directive("published-cases", PublishedCases)
    return {"parallel_read_safe": True}
