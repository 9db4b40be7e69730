"""Exclusive use: a compiled system works in its arrays, which two solvers at once would share."""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from fem_mbs.errors import ModelError

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

F = TypeVar("F", bound=Callable)


class InUse:
    """Who works with a `System` at the moment.

    Parameters
    ----------
    system : System
    """

    def __init__(self, system: "CompiledSystem") -> None:
        self.system, self.lock, self.by = system, threading.Lock(), ""

    @contextlib.contextmanager
    def __call__(self, what: str) -> Iterator:
        """Hold the system while ``what`` (words) works with it.

        Raises
        ------
        ModelError
            Something else does.
        """
        if not self.lock.acquire(blocking=False):
            raise ModelError(
                f"{what} cannot start: the compiled model '{self.system.name}' is in use by {self.by}. A System serves "
                "one solver at a time; compile one for each thread: model.compile()",
                [self.system.model],
            )
        try:
            self.by = f"{what} in thread '{threading.current_thread().name}'"
            yield
        finally:
            self.lock.release()


def alone(what: str) -> Callable[[F], F]:
    """Decorator of a solver: the `System` among its arguments, if there is one, is used by no other solver meanwhile.

    A solver that is given a `Model` compiles a new System.
    """

    def decorate(solver: F) -> F:
        @functools.wraps(solver)
        def guarded(*arguments: Any, **options: Any) -> Any:
            in_use = next((a.in_use for a in (*arguments, *options.values()) if hasattr(a, "in_use")), None)
            with contextlib.nullcontext() if in_use is None else in_use(what):
                return solver(*arguments, **options)

        return cast("F", guarded)

    return decorate
