"""Names of results: ``result[name]``, ``name in result``, ``for name in result``; unknown names and near ones."""

import difflib
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from fem_mbs.errors import FemMbsError, label
from fem_mbs.nodes import Frame, Node


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


class ByName:
    """What is indexed by names: ``x[name]``, ``name in x``, ``for name in x``."""

    def _items(self) -> Collection[str]:
        """Names, in order."""
        raise NotImplementedError(f"{type(self).__name__} does not define _items(self)")

    def _item(self, name: str) -> Any:
        """Item of a name."""
        raise NotImplementedError(f"{type(self).__name__} does not define _item(self, name)")

    def _where(self) -> str:
        """Subject of the message about an unknown name."""
        return label(self)

    def __getitem__(self, name: Any) -> Any:
        if name not in self:
            raise unknown_name(name, self._items(), self._where())
        return self._item(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())


class ByAttribute(ByName):
    """What is indexed by the names of its attributes: ``x["period"]`` is ``x.period``."""

    _by_name: tuple[str, ...] = ()

    def _items(self) -> Collection[str]:
        return self._by_name

    def _item(self, name: str) -> Any:
        return getattr(self, name)


class ShapesByName(ByName):
    """Shapes (…, N, 6) of the nodes of a system, indexed by the name of a node or body: ``modes["tip"]`` is (…, 6)."""

    system: Any
    shapes: np.ndarray

    def _items(self) -> dict[str, int]:
        found = {node.name or f"node {i}": i for i, node in enumerate(self.system.nodes)}
        for element in self.system.elements:
            if element.name and len(element.nodes) == 1:
                found.setdefault(element.name, element.nodes[0].index)
        return found

    def _item(self, name: str) -> np.ndarray:
        return self.shapes[..., self._items()[name], :]

    def __getitem__(self, name: Any) -> np.ndarray:
        """Shape of a node or body, by its name, or of a node itself."""
        if isinstance(name, Node) and any(name is node for node in self.system.nodes):
            return self.shapes[..., name.index, :]
        if not isinstance(name, str):
            raise no_name(name, self._items(), self._where())
        return super().__getitem__(name)

    def _where(self) -> str:
        return f"{type(self).__name__} of model '{self.system.name}'"
