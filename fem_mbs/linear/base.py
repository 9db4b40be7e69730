"""What every linear solver offers: factors and solutions through addresses, and a state they can be made of again."""

from typing import Any

import numpy as np

from fem_mbs.jit import address, invoke


class LinearSolver:
    """A solver for one pattern; owns the arrays behind the addresses it hands to compiled code.

    Parameters
    ----------
    n : int
        Number of unknowns.
    pointers, rows : (n + 1,), (nnz,) int32
        Pattern compressed by columns.
    """

    name = "none"
    factor_address: int
    solve_address: int
    context_address: int

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        self.n, self.pointers, self.rows = n, pointers, rows
        self.status = np.zeros(1, np.int64)

    def factor(self, values: np.ndarray) -> bool:
        """Factorise the matrix with these values (nnz,), in pattern order; False when it is singular."""
        invoke(self.factor_address, self.context_address, address(values))
        return self.status[0] == 0

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solution (n,) for a right-hand side (n,)."""
        solution = np.array(right, float)
        invoke(self.solve_address, self.context_address, address(solution))
        return solution

    def foreign_bytes(self) -> int:
        """Bytes that a library holds for the factors, in addition to arrays of this object; 0 if unknown."""
        return 0

    # what rebuilds the factors to the last bit, for a run that continues from a file: arrays, in addition to ``status``
    kept: tuple[str, ...] = ()

    def get_state(self) -> dict[str, Any]:
        """What the same factors can be made of again, a copy: numbers and arrays."""
        state: dict[str, Any] = {"solver": type(self).__name__, "status": self.status.copy()}
        return state | {name: getattr(self, name).copy() for name in self.kept}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore the factors that `get_state` described.

        Raises
        ------
        ValueError
            It is the state of another solver or another pattern.
        """
        if state["solver"] != type(self).__name__:
            raise ValueError(f"factors of {state['solver']} cannot be those of {type(self).__name__}")
        for name in ("status", *self.kept):
            array = getattr(self, name)
            if array.shape != state[name].shape:
                raise ValueError(
                    f"array '{name}' of the linear solver has {len(array)} numbers, not {len(state[name])}"
                )
            array[:] = state[name]
        self.rebuild(state)

    def rebuild(self, state: dict[str, Any]) -> None:
        """Compute the factors from the arrays that `set_state` has restored."""
