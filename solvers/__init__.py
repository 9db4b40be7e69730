"""Time steppers, statics, modes."""

from fem_mbs.solvers.decoupled_nsga import DecoupledNSGA
from fem_mbs.solvers.initial import initial_accelerations
from fem_mbs.solvers.modal import Modes, modes
from fem_mbs.solvers.statics import StaticResult, static_equilibrium
from fem_mbs.solvers.step_control import StepControl

__all__ = [
    "DecoupledNSGA", "Modes", "StaticResult", "StepControl", "initial_accelerations", "modes", "static_equilibrium",
]  # fmt: skip
