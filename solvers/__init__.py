"""Time steppers, statics, modes."""

from fem_mbs.solvers.decoupled_nsga import DecoupledNSGA
from fem_mbs.solvers.initial import initial_accelerations
from fem_mbs.solvers.modal import Modes, modes
from fem_mbs.solvers.statics import StaticResult, static_equilibrium

__all__ = ["DecoupledNSGA", "Modes", "StaticResult", "initial_accelerations", "modes", "static_equilibrium"]
