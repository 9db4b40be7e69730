"""Time steppers, statics, modes; each is imported at its first use: a script waits for those that it uses."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fem_mbs.solvers.alpha.generalized_alpha import GeneralizedAlpha
    from fem_mbs.solvers.alpha.nonsmooth_ggl import NonsmoothGeneralizedAlphaGGL
    from fem_mbs.solvers.cone.cone_complementarity import ConeComplementarity
    from fem_mbs.solvers.linear.floquet import Floquet, floquet
    from fem_mbs.solvers.linear.frequency import FrequencyResponse, frequency_response
    from fem_mbs.solvers.linear.linearise import LinearModel, linearise
    from fem_mbs.solvers.lobatto.lobatto import LobattoIIIAB
    from fem_mbs.solvers.modal import Modes, modes
    from fem_mbs.solvers.moreau.moreau_jean import MoreauJean
    from fem_mbs.solvers.nsga.decoupled_nsga import DecoupledNSGA
    from fem_mbs.solvers.paths.linear_buckling import Buckling, buckling
    from fem_mbs.solvers.paths.load_path import load_path
    from fem_mbs.solvers.paths.path_result import CriticalPoint, LoadPath, PathPoint
    from fem_mbs.solvers.rotors.campbell import Campbell, CriticalSpeed, campbell
    from fem_mbs.solvers.rotors.critical import critical_speeds
    from fem_mbs.solvers.rotors.unbalance import UnbalanceResponse, unbalance_response
    from fem_mbs.solvers.static_result import StaticResult
    from fem_mbs.solvers.statics import static_equilibrium
    from fem_mbs.solvers.stepping.initial import initial_accelerations
    from fem_mbs.solvers.stepping.march.step_control import StepControl
    from fem_mbs.solvers.three_levels.nonsmooth_friction import NonsmoothGeneralizedAlphaFriction

    STEPPERS: dict[str, Any]

# all time steppers in the order of tables; see tests/solvers/test_steppers.py
_STEPPERS = (
    "DecoupledNSGA", "MoreauJean", "ConeComplementarity", "LobattoIIIAB", "NonsmoothGeneralizedAlphaGGL",
    "NonsmoothGeneralizedAlphaFriction", "GeneralizedAlpha",
)  # fmt: skip

__all__ = [
    "STEPPERS", "Buckling", "Campbell", "ConeComplementarity", "CriticalPoint", "CriticalSpeed", "DecoupledNSGA",
    "Floquet", "FrequencyResponse", "GeneralizedAlpha", "LinearModel", "LoadPath", "LobattoIIIAB", "Modes",
    "MoreauJean", "NonsmoothGeneralizedAlphaFriction", "NonsmoothGeneralizedAlphaGGL", "PathPoint", "StaticResult",
    "StepControl", "UnbalanceResponse", "buckling", "campbell", "critical_speeds", "floquet", "frequency_response",
    "initial_accelerations", "linearise", "load_path", "modes", "static_equilibrium",
    "unbalance_response",
]  # fmt: skip


# module -> its names, imported at the first use of one; tests/helpers/imports.py reads this table
_IMPORTED = {
    "fem_mbs.solvers.alpha.generalized_alpha": ("GeneralizedAlpha",),
    "fem_mbs.solvers.three_levels.nonsmooth_friction": ("NonsmoothGeneralizedAlphaFriction",),
    "fem_mbs.solvers.alpha.nonsmooth_ggl": ("NonsmoothGeneralizedAlphaGGL",),
    "fem_mbs.solvers.cone.cone_complementarity": ("ConeComplementarity",),
    "fem_mbs.solvers.linear.floquet": ("Floquet", "floquet"),
    "fem_mbs.solvers.linear.frequency": ("FrequencyResponse", "frequency_response"),
    "fem_mbs.solvers.linear.linearise": ("LinearModel", "linearise"),
    "fem_mbs.solvers.lobatto.lobatto": ("LobattoIIIAB",),
    "fem_mbs.solvers.modal": ("Modes", "modes"),
    "fem_mbs.solvers.moreau.moreau_jean": ("MoreauJean",),
    "fem_mbs.solvers.nsga.decoupled_nsga": ("DecoupledNSGA",),
    "fem_mbs.solvers.paths.linear_buckling": ("Buckling", "buckling"),
    "fem_mbs.solvers.paths.load_path": ("load_path",),
    "fem_mbs.solvers.paths.path_result": ("CriticalPoint", "LoadPath", "PathPoint"),
    "fem_mbs.solvers.rotors.campbell": ("Campbell", "CriticalSpeed", "campbell"),
    "fem_mbs.solvers.rotors.critical": ("critical_speeds",),
    "fem_mbs.solvers.rotors.unbalance": ("UnbalanceResponse", "unbalance_response"),
    "fem_mbs.solvers.static_result": ("StaticResult",),
    "fem_mbs.solvers.statics": ("static_equilibrium",),
    "fem_mbs.solvers.stepping.initial": ("initial_accelerations",),
    "fem_mbs.solvers.stepping.march.step_control": ("StepControl",),
}
_HOME = {name: module for module, names in _IMPORTED.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "STEPPERS":
        value = {stepper: __getattr__(stepper) for stepper in _STEPPERS}
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"fem_mbs.solvers has no '{name}'; it has: {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
