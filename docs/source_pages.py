"""Page docs/citing.md: publications by topic, from the table of `fem_mbs.sources`.

python docs/source_pages.py        writes it
"""

import textwrap
from pathlib import Path

from fem_mbs.sources import TOPICS

HEAD = """\
# Citing

Cite the methods you use by their papers, and this code by its repository and version (`fem-mbs --version`). Docstrings
and cases cite publications by the names in brackets, or by authors and year. This page is made from
`fem_mbs/sources.py` by `python docs/source_pages.py`; that file also lists the sections of the five sources of the time
steppers.
"""


def citing():
    """Text of docs/citing.md."""
    topics = []
    for topic, found in TOPICS.items():
        entries = [textwrap.fill(f": [{one.key}] {one.reference}", 120, subsequent_indent="  ") for one in found]
        topics.append("\n".join([topic, *entries, ""]))
    return "\n".join([HEAD, *topics])


def main():
    """Write the page."""
    Path(__file__).with_name("citing.md").write_text(citing(), encoding="utf-8")


if __name__ == "__main__":
    main()
