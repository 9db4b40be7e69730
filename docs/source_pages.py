"""Pages about sources: docs/citing.md, publications by topic, and docs/source_items.md, their content item by item.

From the table of `fem_mbs.sources`, the judgements of `source_rows` and the cases of ``fem-mbs validate``.

    python docs/source_pages.py        writes both
"""

import sys
import textwrap
from collections import Counter
from pathlib import Path

from fem_mbs.cases.registry import cases
from fem_mbs.cases.scripts import folder
from fem_mbs.sources import SOURCES, TOPICS, cited

sys.path.insert(0, str(Path(__file__).parent))
from source_rows import ROWS, STATES, Row

HEAD = """\
# Citing

Cite the methods you use by their papers, and this code by its repository and version (`fem-mbs --version`). Docstrings
and cases cite publications by the names in brackets, or by authors and year. This page is made from
`fem_mbs/sources.py` by `python docs/source_pages.py`; that file also lists the sections of the five sources of the time
steppers. Publications of benchmarks are listed as other works cite them, and were not compared with the originals.
"""


def citing():
    """Text of docs/citing.md."""
    topics = []
    for topic, found in TOPICS.items():
        entries = [textwrap.fill(f": [{one.key}] {one.reference}", 120, subsequent_indent="  ") for one in found]
        topics.append("\n".join([topic, *entries, ""]))
    return "\n".join([HEAD, *topics])


ITEMS = """\
# Sources, item by item

Algorithms, formulations, laws, examples, figures and tables of the five sources of the time steppers, compared with
fem_mbs. Numbers are those that the sources print.

- *works*: it agrees; a case of `fem-mbs validate` passes all checks with its first method;
- *differs*: it works, with another number, rule or setting;
- *partly*: a part of it is there;
- *missing*: it is not there.

This page is made from `docs/source_rows.py` and the registry of cases by `python docs/source_pages.py`. What the
sources do not print is on the page of [published benchmarks](published_benchmarks.md#what-the-sources-do-not-print).
"""
HEAD_OF_ITEMS = "| item | in the source | state | difference | file | command |\n|---|---|---|---|---|---|"
FIVE = tuple(dict.fromkeys(row.source for row in ROWS))


def row_of_case(case, key):
    """Row of a case that no judgement names."""
    reasons = dict.fromkeys(case.methods[0].not_reproduced.values())
    example = (folder() / f"{case.name}.py").exists()
    where = f"examples/{case.name}.py" if example else f"fem_mbs/cases/{case.run.__module__.rpartition('.')[2]}.py"
    state, found = ("differs", "; ".join(reasons)) if reasons else ("works", case.note.rstrip("."))
    place = case.source.removeprefix(key).lstrip(", ;")
    return Row(key, place, case.title, state, found, where, f"fem-mbs validate {case.name}")


def rows():
    """Source -> its rows: judgements, then cases that are not judged there."""
    models = [row for row in ROWS if row.where.startswith(("examples/", "fem_mbs/cases/"))]
    judged = {word for row in models for word in row.check.split()}
    found = {key: [row for row in ROWS if row.source == key] for key in FIVE}
    for case in cases().values():
        for key in (one.key for one in cited(case.source) if one.key in found and case.name not in judged):
            found[key].append(row_of_case(case, key))
    return found


def line(row):
    """Line of the table."""
    cells = [
        row.item,
        row.cites,
        row.state,
        row.found,
        *(f"`{text}`" if text else "" for text in (row.where, row.check)),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def items():
    """Text of docs/source_items.md."""
    found = rows()
    counts = {key: Counter(row.state for row in of_source) for key, of_source in found.items()}
    table = ["| source | " + " | ".join(STATES) + " |", "|---" * (1 + len(STATES)) + "|"]
    table += [f"| {key} | " + " | ".join(str(count[state]) for state in STATES) + " |" for key, count in counts.items()]
    parts = [ITEMS, "\n".join([*table, ""])]
    for key, of_source in found.items():
        reference = textwrap.fill(SOURCES[key].reference, 120)
        parts.append("\n".join([f"## {key}", "", reference, "", HEAD_OF_ITEMS, *map(line, of_source), ""]))
    return "\n".join(parts)


def main():
    """Write the pages."""
    for name, text in (("citing", citing()), ("source_items", items())):
        Path(__file__).with_name(f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
