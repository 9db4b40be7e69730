"""Time steppers, statics, modes."""

from fem_mbs.solvers.alpha.generalized_alpha import GeneralizedAlpha
from fem_mbs.solvers.alpha.nonsmooth_friction import NonsmoothGeneralizedAlphaFriction
from fem_mbs.solvers.alpha.nonsmooth_ggl import NonsmoothGeneralizedAlphaGGL
from fem_mbs.solvers.cone.cone_complementarity import ConeComplementarity
from fem_mbs.solvers.lobatto.lobatto import LobattoIIIAB
from fem_mbs.solvers.modal import Modes, modes
from fem_mbs.solvers.moreau.moreau_jean import MoreauJean
from fem_mbs.solvers.nsga.decoupled_nsga import DecoupledNSGA
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.solvers.statics import static_equilibrium
from fem_mbs.solvers.stepping.initial import initial_accelerations
from fem_mbs.solvers.stepping.step_control import StepControl

# see tests/solvers/test_steppers.py
_ALL = (
    DecoupledNSGA, MoreauJean, ConeComplementarity, LobattoIIIAB, NonsmoothGeneralizedAlphaGGL,
    NonsmoothGeneralizedAlphaFriction, GeneralizedAlpha,
)  # fmt: skip
STEPPERS = {stepper.__name__: stepper for stepper in _ALL}

__all__ = [
    "STEPPERS", "ConeComplementarity", "DecoupledNSGA", "GeneralizedAlpha", "LobattoIIIAB", "Modes", "MoreauJean",
    "NonsmoothGeneralizedAlphaFriction", "NonsmoothGeneralizedAlphaGGL", "StaticResult", "StepControl",
    "initial_accelerations", "modes", "static_equilibrium",
]  # fmt: skip
