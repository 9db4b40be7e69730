"""Names for authors of elements, defined in `fem_mbs.element.base`."""

from fem_mbs.element.base import JOINT_FRAMES, Constraint, Element, Force, Inertia, Joint
from fem_mbs.element.registry import REGISTRY, make_example, register
from fem_mbs.nodes import Frame, Ground

__all__ = [
    "JOINT_FRAMES", "REGISTRY", "Constraint", "Element", "Force", "Frame", "Ground", "Inertia", "Joint", "make_example",
    "register",
]  # fmt: skip
