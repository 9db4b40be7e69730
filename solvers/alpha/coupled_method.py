"""Base of the methods that solve a coupled problem in each step: their interface to `stepping.engine`."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.options import unsupported
from fem_mbs.solvers.alpha.data import TABLE
from fem_mbs.solvers.alpha.method import AlphaMethod
from fem_mbs.solvers.stepping.kernels.codes import COUPLED_SHIFT
from fem_mbs.solvers.stepping.kernels.shared_factors import PRICE, price_of_matrix
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.layout import Rows, Stack
from fem_mbs.system.records import VELOCITY
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.alpha.reduced import ReducedContactProblem
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.kernels.newton import Problem


class CoupledMethod(AlphaMethod):
    """Generalized-α method with a problem of ``levels`` blocks: motion, positions, velocities."""

    table = TABLE
    named = ("rows of the motion in the step", "rows of positions in the step", "rows of velocities in the step")
    contact_shift = COUPLED_SHIFT
    together = True  # contacts act in the rows of the motion too
    contact_solver: str = unsupported(default="newton")
    contact_tolerance: None = unsupported()

    @property
    def levels(self) -> int:
        """Number of blocks of the problem of a step."""
        raise NotImplementedError(f"{type(self).__name__} does not define levels")

    @property
    def sequential(self) -> bool:
        """True if the blocks are solved one after the other."""
        return False

    @property
    def combined(self) -> bool:
        """True if gaps are complementary to ν_N − h Λ_N."""
        return False

    def matrices(self, system: CompiledSystem) -> tuple[Rows, Rows, Rows]:
        """Rows of the matrices: initial accelerations, and one block of the coupled problem."""
        block = Rows(True, "all", drilling_first=True, friction=True, apart=self.costly(system))
        return Rows(), block, block

    def costly(self, system: CompiledSystem) -> bool:
        """True if factors are kept over steps, and those of the blocks made one by one: without contacts alone."""
        return False

    def blocks(self, system: CompiledSystem) -> int:
        """Number of blocks that there are something to solve in."""
        return self.levels

    def splits(self, system: CompiledSystem) -> bool:
        """True if a Newton step is that of `alpha.split`."""
        return self.costly(system) and self.blocks(system) == 2

    def split(self, system: CompiledSystem) -> int:
        """Return True as in `Stepper`."""
        return 2 if self.splits(system) else 1

    def stack(self, system: CompiledSystem) -> Stack | None:
        """Blocks of the coupled matrix."""
        if self.blocks(system) == 1 or self.splits(system):
            return None
        jumps = system.nc or self.follows or system.frictions  # move positions too
        rows = ("xx", "xx") if self.blocks(system) == 2 else ("xxx", "xxx" if jumps else "xx.", "xxx")
        return Stack(VELOCITY, rows)

    def parts(self) -> "dict[str, Entry]":
        """Compiled parts by name."""
        from fem_mbs.solvers.alpha import scheme
        from fem_mbs.solvers.contact import passed
        from fem_mbs.solvers.stepping.kernels import newton

        iteration = scheme.solve_blocks if self.sequential else newton.newton
        return {
            "advance": scheme.coupled_advance, "step": scheme.coupled_step, "sweep": passed.look_smooth,
            "newton": iteration, "iterate": newton.newton,
        }  # fmt: skip

    def parts_of_friction(self) -> "dict[str, Entry]":
        from fem_mbs.solvers.alpha import friction

        return {"friction": friction.friction_part}

    def local_error(self, engine: "Engine", h: float, change: np.ndarray) -> float:
        """Error [m] of a step by its smooth accelerations, and by the change of joint friction."""
        return super().local_error(engine, h, change) + 0.5 * h * h * float(engine.run[0]["friction_change"])

    def problems(self, system: CompiledSystem) -> "dict[str, Problem]":
        """Problems of Newton's iteration: all blocks, or one of them."""
        from fem_mbs.solvers.alpha import coupled

        if self.splits(system):
            from fem_mbs.solvers.alpha import split

            return {"velocity": split.SPLIT}
        return {"velocity": coupled.BLOCK if self.blocks(system) == 1 else coupled.PROBLEM, "block": coupled.BLOCK}

    def first_guess(self) -> "tuple[Entry, Entry | None]":
        """Functions that set the first guess of a step, and that are tried before `alpha.reduced`, if any."""
        from fem_mbs.solvers.alpha import scheme

        return scheme.first_guess, None

    def contact_problems(self, engine: "Engine") -> "ReducedContactProblem | None":
        """Fallback where Newton's iteration fails: `alpha.reduced`."""
        if self.levels < 3 or self.combined or not engine.system.nc or engine.system.frictions:
            return None
        from fem_mbs.solvers.alpha.reduced import ReducedContactProblem

        return ReducedContactProblem(engine)

    def scalars(self, system: CompiledSystem, h: float) -> dict[str, float]:
        """Numbers of the record of a run that are this method's own."""
        from fem_mbs.solvers.alpha.coupled import ALL

        return {
            **self._numbers_of_alpha(h),
            "levels": self.blocks(system),
            "costly": int(self.costly(system)),
            "price": (self.costly(system) and price_of_matrix(system)) or PRICE,
            "keeper": VELOCITY,
            "follows": int(self.follows),
            "combined": int(self.combined),
            "block": 0 if self.blocks(system) == 1 else ALL,
        }

    def start(self, engine: "Engine", state: State) -> None:
        """Consistent accelerations and multipliers at the start of a run."""
        from fem_mbs.solvers.stepping.initial import initial_accelerations

        a, run = engine.arrays, engine.run[0]
        acceleration, lam = initial_accelerations(engine.system, state, engine.shift, matrices=engine.matrices)
        a["Vd0"][:] = a["Va0"][:] = a["Vd"][:] = acceleration
        a["lam"][:] = lam / run["ks"]
        a["lam_report"][:] = lam
        a["TD"][:] = a["TP"][:] = np.eye(3)
        self.start_friction(engine, acceleration)

    def restart(self, engine: "Engine") -> None:
        """Consistent accelerations and multipliers at the present state."""
        from fem_mbs.solvers.stepping.initial import initial_accelerations

        a, run = engine.arrays, engine.run[0]
        run["epoch"] += 1  # it writes over factors
        acceleration, lam = initial_accelerations(engine.system, engine.state(), engine.shift, matrices=engine.matrices)
        a["Vd0"][:] = a["Va0"][:] = acceleration
        a["lam"][:] = lam / run["ks"]
        self.start_friction(engine)
