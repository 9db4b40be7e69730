"""Base of what a run looks at between its steps: sensors, controllers and events."""

from collections.abc import Sequence
from typing import Any

from fem_mbs.arguments.checked import Checked


class Watching(Checked):
    """What a model has next to elements, and a run reads or calls at ends of steps.

    Class attributes
    ----------------
    role : {"sensor", "controller", "event"}

    Attributes
    ----------
    quantity : str or None, name of the quantity that a sensor reads
    actions : sequence, of an event
    """

    role = ""
    quantity: str | None = None
    actions: Sequence[Any] = ()


Watching._inside |= {"role", "quantity", "actions"}
