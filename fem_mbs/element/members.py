"""Members of elements that few types set, with their defaults."""

from collections.abc import Callable
from typing import Any


class HasScratch:
    """Base of what has arrays that kernels write: elements, and data that several elements share.

    Attributes
    ----------
    scratch : tuple of str
        Attributes with arrays in which only kernels leave numbers; they do not belong to the definition of the model.
    """

    scratch: tuple[str, ...] = ()


class RareMembers(HasScratch):
    """Members that the framework, results and solvers read of every element.

    Attributes
    ----------
    python_kernels : dict
        Kernel name -> Python function of the views of its arguments, in place of a compiled kernel.
    error : Exception or None
        Raised by one of these in a run.
    output_warnings : method or None
        ``output_warnings({output name: (k, components)})`` -> list of (kind, size, text): warnings about outputs
        of some states, or about their extremes, see `fem_mbs.system.checks.element_checks`.
    noted : tuple of (str, int)
        Two components of outputs, name and number, of which ``output_warnings`` needs no more than values near the ends
        of all steps, and nothing else: the kernels ``force``, ``force_tangent`` and ``mixed`` write them to ``noted``.
        () : a run evaluates all outputs after every step.
    get_state, set_state : methods or None
        ``get_state()`` and ``set_state(state)`` of an element that has a memory in Python: part of a checkpoint.
    companions : tuple of Element
        Added to the model with it: springs, stops and motors of a joint.
    frame_P, frame_Q : Frame or None
        On the first and on the second body; joints and forces between them are drawn.
    joint : Joint or None
        Along whose coordinate it acts.
    contact : Contact or None
        Whose gap it takes; such a contact must not be in the model as well.
    pair : object or None
        As of a `Contact`.
    radius : float [m]
        0 without one; see ``own_size``.
    period : float [s]
        In which a given motion repeats itself; 0 for others.
    body_name : str or None
        Name of the body that it is a cell of: all of these are one line of an energy table.
    cell : Cell or None
        Shape functions of an element of a volume.
    node_directors : (nn, 3) or None
        Of an element of a surface: unit normals at the nodes, axes of the nodes.
    reduction : Reduction or None
        Of a reduced body, see `fem_mbs.element.kinds.FloatingBody`.
    point_of : (FloatingBody, int) or None
        Body and number of its point on which the output ``force`` acts.
    """

    python_kernels: Any = {}  # never changed; a property of some types
    error: Exception | None = None
    output_warnings: Any = None
    noted: tuple[tuple[str, int], ...] = ()
    get_state: Callable[[], Any] | None = None
    set_state: Callable[[Any], None] | None = None
    companions: tuple[Any, ...] = ()
    frame_P: Any = None
    frame_Q: Any = None
    joint: Any = None
    contact: Any = None
    pair: Any = None
    radius: Any = 0.0
    period: Any = 0.0
    body_name: str | None = None
    cell: Any = None
    node_directors: Any = None
    reduction: Any = None
    point_of: Any = None

    def use_sizes(self, size: float, speed: float) -> None:
        """Take the size [m] and the speed [m/s] of the model, for steps of differences; called when it is compiled."""

    @property
    def own_size(self) -> float:
        """Length [m] of the element by itself, for checks of lengths of a model; 0 without one."""
        return float(self.radius) if isinstance(self.radius, (int, float)) else 0.0


class VerifiedElement:
    """Members that the generic checks of `fem_mbs.verify` read.

    Attributes
    ----------
    invariant : bool
        True if forces rotate with the model: False for laws that refer to inertial axes.
    checked_within : float
        By how much of its size nodes of random configurations are moved, for elements that invert.
    sides : tuple of tuples of int, or None
        Of a contact: numbers of the nodes of each body, which rotate as one; () for nodes of meshes, which do not
        rotate. None: one node of each.
    """

    invariant: Any = True
    checked_within = 0.3
    sides: Any = None

    def regular(self, point: Any) -> bool:
        """Return True if the element can be differentiated at a configuration, a `fem_mbs.verify.Point`."""
        return True

    def checked_state(self, state: Any) -> Any:
        """Return internal variables (nq,) to be checked at, in place of those of a first state."""
        return state
