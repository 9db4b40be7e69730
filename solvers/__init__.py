"""Time steppers, statics, modes."""

from fem_mbs.solvers.cone.cone_complementarity import ConeComplementarity
from fem_mbs.solvers.lobatto.lobatto import LobattoIIIAB
from fem_mbs.solvers.modal import Modes, modes
from fem_mbs.solvers.moreau.moreau_jean import MoreauJean
from fem_mbs.solvers.nsga.decoupled_nsga import DecoupledNSGA
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.solvers.statics import static_equilibrium
from fem_mbs.solvers.stepping.initial import initial_accelerations
from fem_mbs.solvers.stepping.step_control import StepControl

# what is here is tested by tests/solvers/test_steppers.py
STEPPERS = {stepper.__name__: stepper for stepper in (DecoupledNSGA, MoreauJean, ConeComplementarity, LobattoIIIAB)}

__all__ = [
    "STEPPERS", "ConeComplementarity", "DecoupledNSGA", "LobattoIIIAB", "Modes", "MoreauJean", "StaticResult",
    "StepControl",
    "initial_accelerations", "modes", "static_equilibrium",
]  # fmt: skip
