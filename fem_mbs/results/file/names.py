"""Names that results do not have, and the ones that are near."""

import difflib
from collections.abc import Collection
from typing import Any

from fem_mbs.errors import FemMbsError
from fem_mbs.nodes import Frame


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


def no_name(thing: Any, known: Collection[str], where: str) -> UnknownNameError:
    """The error for what is neither a name nor a node; the message states what to use instead."""
    if thing is None:
        cure = ". What is not added to a model has the name None: model.add(…) it"
    elif isinstance(thing, Frame):
        cure = ". Ask the node that carries it, result[frame.node]"
    elif getattr(thing, "name", None) in known:
        cure = f". Ask result[{thing.name!r}]"
    elif hasattr(thing, "elements"):
        cure = ". It has many: ask one of its nodes, result[….nodes[0]], or elements, result[….elements[0].name]"
    else:
        cure = ""
    return UnknownNameError(f"{where} is asked by the name of a part, or by a node, not by {thing!r}{cure}")
