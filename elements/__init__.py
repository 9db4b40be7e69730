"""The element library: bodies, joints, springs, loads, contacts.

Its names are those of `fem_mbs.elements.catalogue`, which is imported when the first of them is accessed: a model
script imports the few types that it uses, and does not wait for the others.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fem_mbs.elements.catalogue import *  # noqa: F403


def __getattr__(name: str) -> Any:
    import fem_mbs.elements.catalogue as catalogue  # "from fem_mbs.elements" would ask here again

    return getattr(catalogue, name)
