"""Time steppers, statics, modes; each is imported when it is first asked for: a script waits for those that it uses."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

    STEPPERS: dict[str, Any]

_STEPPERS = {  # all of them, in the order of tables; see tests/solvers/test_steppers.py
    "DecoupledNSGA": "nsga.decoupled_nsga",
    "MoreauJean": "moreau.moreau_jean",
    "ConeComplementarity": "cone.cone_complementarity",
    "LobattoIIIAB": "lobatto.lobatto",
    "NonsmoothGeneralizedAlphaGGL": "alpha.nonsmooth_ggl",
    "NonsmoothGeneralizedAlphaFriction": "alpha.nonsmooth_friction",
    "GeneralizedAlpha": "alpha.generalized_alpha",
}
_HOME = {
    **_STEPPERS,
    "Modes": "modal",
    "StaticResult": "static_result",
    "StepControl": "stepping.step_control",
    "initial_accelerations": "stepping.initial",
    "modes": "modal",
    "static_equilibrium": "statics",
}

__all__ = [
    "STEPPERS", "ConeComplementarity", "DecoupledNSGA", "GeneralizedAlpha", "LobattoIIIAB", "Modes", "MoreauJean",
    "NonsmoothGeneralizedAlphaFriction", "NonsmoothGeneralizedAlphaGGL", "StaticResult", "StepControl",
    "initial_accelerations", "modes", "static_equilibrium",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "STEPPERS":
        value: Any = {stepper: __getattr__(stepper) for stepper in _STEPPERS}
    elif name in _HOME:
        value = getattr(importlib.import_module(f"fem_mbs.solvers.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"fem_mbs.solvers has no '{name}'; it has: {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
