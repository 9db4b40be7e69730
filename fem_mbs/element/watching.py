"""Base of sensors, controllers and events, which a run evaluates between its steps."""

from collections.abc import Sequence
from typing import Any

from fem_mbs.arguments.checked import Checked


class Watching(Checked):
    """Part of a model that is no element, and that a run reads or calls at ends of steps.

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
