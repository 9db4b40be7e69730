"""Names that results do not have, and the ones that are near."""

import difflib
from collections.abc import Collection
from typing import Any

from fem_mbs.errors import FemMbsError


class UnknownNameError(FemMbsError, KeyError):
    """A name that the results do not have; the message lists near ones."""

    __str__ = Exception.__str__


def unknown_name(name: Any, known: Collection[str], where: str) -> UnknownNameError:
    """The error for a name that is not among the known ones."""
    parts = [one for one in known if one.rpartition(" ")[0] == str(name) and one.rpartition(" ")[2].isdigit()]
    if parts:  # of a body of many elements, of contacts of a surface
        of_them = f"it consists of {len(parts)}, from '{parts[0]}' to '{parts[-1]}'"
        return UnknownNameError(
            f"{where} has no '{name}'; {of_them}. Of all: for element in ….elements: result[element.name]"
        )
    near = difflib.get_close_matches(str(name), known, n=5, cutoff=0.5)
    hint = f"did you mean {', '.join(repr(n) for n in near)}?" if near else ""
    listed = ", ".join(repr(n) for n in list(known)[:30]) + (", …" if len(known) > 30 else "")
    return UnknownNameError(f"{where} has no '{name}'; {hint or 'it has: ' + listed}")
