"""Attributes of a compiled system that solvers and results read, for type hints; `fem_mbs.system.system.System` is one.

Numbers: N nodes, n unknowns, m rows of constraints, nc contacts. Methods are documented where they are written.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.element.base import Element


class GivenModel(Protocol):
    """Attributes of a model, `fem_mbs.Model`, that a system reads."""

    name: Any
    gravity: Any  # (3,) [m/s²], or a function of time
    nodes: list
    elements: list
    contact_groups: list
    watching: list  # controllers, events and sensors


class CompiledSystem(Protocol):
    """A checked and numbered model."""

    # the model
    name: Any
    model: Any
    options: dict[str, Any]  # of the constructor
    nodes: list  # ``node.index`` is the row of a node in arrays of states
    elements: list
    constraints: list
    contacts: list  # elements; those of contact groups follow them in arrays of contacts
    frictions: list  # rows of dry friction
    contact_groups: list
    watching: list
    in_use: Any  # lock: one solver at a time
    initial: Any  # State at the start
    gravity: Any  # (3,) [m/s²], at t = 0
    field: Any  # Gravity, where it depends on time; or None
    largest_gravity: float  # [m/s²]
    linear_solver: str | None

    # numbers
    n: int
    m: int
    nc: int
    nc_fixed: int  # contacts without those of contact groups
    n_outputs: int
    n_friction: int
    n_roll: int  # contacts with moments of rolling and spinning
    n_drill: int  # contacts with coupled drilling
    dof: np.ndarray  # (6 N,), full component -> unknown, −1 for fixed ones
    free: np.ndarray  # (N, 6), components that can move
    spatial: np.ndarray  # (N,), nodes that have a place
    rows: dict  # constraint -> slice of the multipliers
    output_slices: dict  # element -> {output: slice of the output numbers}
    row_arm: np.ndarray  # (m,) [m], of rows that are angles; 1 for lengths
    empty_rows: np.ndarray  # (m,), 1: all components of the row are fixed
    shared_rows: Any  # SharedRows, where rows are redundant; or None
    independent: bool  # rows of constraints are, at the start
    laws: np.ndarray  # (nc, …), laws of the contacts, see `contact.law`
    roll_index: np.ndarray  # (nc,), number among those with moments, −1 for others
    drill_index: np.ndarray  # (nc,), number among those with drilling, −1 for others
    drill_arm: np.ndarray  # (nc,) [m]

    # scales
    mean_mass: float  # [kg]
    contact_mass: float  # [kg], of two bodies against each other
    lightest: float  # [kg]
    length: float  # [m], converts moments to forces
    size: float  # [m], of the model
    extent: float  # [m], of the moving bodies

    # data of compiled code
    groups: list  # of elements, see `fem_mbs.system.groups`
    added: list[int]  # numbers of the groups in the order of the model
    group_records: np.ndarray
    searches: list  # for pairs of contact groups
    data: np.ndarray  # record of addresses
    workspace: Any
    _own: Any  # matrix of statics and modes, once it is made
    signals: list
    signal_owner: list
    signal_values: np.ndarray  # (signals, 3)
    no_acceleration: np.ndarray  # (N, 6) zeros
    Ma: np.ndarray  # (6 N,), as the following by the last evaluation
    f: np.ndarray
    g: np.ndarray
    rate: np.ndarray

    @property
    def force_scales(self) -> np.ndarray: ...
    @property
    def own(self) -> Any: ...
    @property
    def touches_meshes(self) -> bool: ...
    @property
    def circulatory(self) -> bool: ...
    @property
    def non_holonomic(self) -> list: ...
    @property
    def velocity_rows(self) -> np.ndarray: ...
    @property
    def active_rows(self) -> np.ndarray: ...
    @property
    def rows_repeat(self) -> bool: ...

    # matrices and evaluation at a state
    def lay_out(self, *rows: Any, stack: Any = None) -> Any: ...
    def pattern(self, rows: Any, dense: bool) -> Any: ...
    def begin(self, state: State) -> None: ...
    def update_signals(self, t: float) -> None: ...
    def use_mixed(self) -> None: ...
    def forces(
        self, state: State, A: np.ndarray | None = None, mixed: bool = False
    ) -> tuple[np.ndarray, np.ndarray]: ...
    def constraint_values(self, state: State) -> tuple[np.ndarray, np.ndarray]: ...
    def constraint_forces(self, lam: np.ndarray) -> np.ndarray: ...
    def assemble(
        self,
        state: State,
        *,
        c_M: float = 0.0,
        c_C: float = 0.0,
        c_K: float = 0.0,
        c_A: float = 0.0,
        A: np.ndarray | None = None,
        lam: np.ndarray | None = None,
        c_H: float = 0.0,
        k: float = 1.0,
        shift: float = 0.0,
        T: np.ndarray | None = None,
        mixed: bool = False,
        positions: bool = False,
    ) -> Any: ...  # a `Layout`
    def matrices(self, state: State, lam: np.ndarray | None = None, mass_only: bool = False) -> Any: ...
    def energies(self, state: State) -> tuple[float, float]: ...
    def gaps(self, state: State) -> np.ndarray: ...
    def overlaps(self, state: State, limit: float) -> Iterator[tuple[Any, float]]: ...
    def contact_velocities(self, state: State) -> np.ndarray: ...
    def gravity_at(self, t: float) -> np.ndarray: ...
    def set_gravity(self, gravity: ArrayLike) -> None: ...
    def moved(self, state: State, delta: np.ndarray) -> State: ...
    def reduced(self, full: ArrayLike) -> np.ndarray: ...
    def expanded(self, reduced: ArrayLike) -> np.ndarray: ...
    def angles_of(self, element: Any, state: State) -> dict[int, float]: ...

    # sizes at a state, for tolerances
    def parts(self) -> np.ndarray: ...
    def deformable(self) -> np.ndarray: ...
    def size_at(self, state: State) -> float: ...
    def speed_at(self, state: State) -> float: ...
    def fastest_at(self, state: State) -> float: ...
    def slow_at(self, state: State) -> float: ...

    # contacts, switches, faults
    def number_nodes(self) -> None: ...
    def search_pairs(self, x: np.ndarray, R: np.ndarray, V: np.ndarray | None = None, h: float = 0.0) -> np.ndarray: ...
    def forget_pairs(self) -> None: ...
    def renumber_contacts(self) -> None: ...
    def contact_at(self, c: int) -> Any: ...
    def is_on(self, element: "Element") -> bool: ...
    def set_switch(self, element: "Element", on: bool, state: State) -> None: ...
    def switch_as_given(self) -> None: ...
    def switch_at(self, t: float, state: State) -> None: ...
    def unknown(self, i: int) -> tuple[Any, str]: ...
    def raise_python_errors(self, t: float) -> None: ...
    def raise_nonfinite(self, state: State) -> None: ...
    def find_nonfinite(self, state: State, A: np.ndarray | None = None) -> "Element | None": ...
