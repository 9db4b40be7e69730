"""Time steppers, statics, modes; each is imported when it is first asked for: a script waits for those that it uses."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fem_mbs.solvers.alpha.generalized_alpha import GeneralizedAlpha
    from fem_mbs.solvers.alpha.nonsmooth_friction import NonsmoothGeneralizedAlphaFriction
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
    from fem_mbs.solvers.stepping.step_control import StepControl

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"fem_mbs.solvers has no '{name}'; it has: {', '.join(__all__)}")
    globals()[name] = value = _imported(name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def _imported(name):
    """What a name stands for; imports are written out so that tests see who imports whom."""
    match name:
        case "STEPPERS":
            return {stepper: __getattr__(stepper) for stepper in _STEPPERS}
        case "DecoupledNSGA":
            from fem_mbs.solvers.nsga.decoupled_nsga import DecoupledNSGA

            return DecoupledNSGA
        case "MoreauJean":
            from fem_mbs.solvers.moreau.moreau_jean import MoreauJean

            return MoreauJean
        case "ConeComplementarity":
            from fem_mbs.solvers.cone.cone_complementarity import ConeComplementarity

            return ConeComplementarity
        case "LobattoIIIAB":
            from fem_mbs.solvers.lobatto.lobatto import LobattoIIIAB

            return LobattoIIIAB
        case "NonsmoothGeneralizedAlphaGGL":
            from fem_mbs.solvers.alpha.nonsmooth_ggl import NonsmoothGeneralizedAlphaGGL

            return NonsmoothGeneralizedAlphaGGL
        case "NonsmoothGeneralizedAlphaFriction":
            from fem_mbs.solvers.alpha.nonsmooth_friction import NonsmoothGeneralizedAlphaFriction

            return NonsmoothGeneralizedAlphaFriction
        case "GeneralizedAlpha":
            from fem_mbs.solvers.alpha.generalized_alpha import GeneralizedAlpha

            return GeneralizedAlpha
        case "Modes":
            from fem_mbs.solvers.modal import Modes

            return Modes
        case "Campbell" | "CriticalSpeed" | "campbell":
            from fem_mbs.solvers.rotors import campbell

            return getattr(campbell, name)
        case "Floquet" | "floquet":
            from fem_mbs.solvers.linear import floquet

            return getattr(floquet, name)
        case "FrequencyResponse" | "frequency_response":
            from fem_mbs.solvers.linear import frequency

            return getattr(frequency, name)
        case "LinearModel" | "linearise":
            from fem_mbs.solvers.linear import linearise

            return getattr(linearise, name)
        case "critical_speeds":
            from fem_mbs.solvers.rotors.critical import critical_speeds

            return critical_speeds
        case "UnbalanceResponse" | "unbalance_response":
            from fem_mbs.solvers.rotors import unbalance

            return getattr(unbalance, name)
        case "StaticResult":
            from fem_mbs.solvers.static_result import StaticResult

            return StaticResult
        case "StepControl":
            from fem_mbs.solvers.stepping.step_control import StepControl

            return StepControl
        case "initial_accelerations":
            from fem_mbs.solvers.stepping.initial import initial_accelerations

            return initial_accelerations
        case "modes":
            from fem_mbs.solvers.modal import modes

            return modes
        case "buckling" | "Buckling":
            from fem_mbs.solvers.paths import linear_buckling

            return getattr(linear_buckling, name)
        case "load_path":
            from fem_mbs.solvers.paths.load_path import load_path

            return load_path
        case "LoadPath" | "PathPoint" | "CriticalPoint":
            from fem_mbs.solvers.paths import path_result

            return getattr(path_result, name)
        case "static_equilibrium":
            from fem_mbs.solvers.statics import static_equilibrium

            return static_equilibrium
