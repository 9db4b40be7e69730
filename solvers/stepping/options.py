"""Options that several time steppers have: what each allows, in one place.

A method documents the options that it takes; what a value must be does not depend on the method.
"""

from collections.abc import Callable
from typing import Any

from fem_mbs.arguments.checked import Checked
from fem_mbs.solvers.stepping.march.step_control import StepControl

CONTACT_SOLVERS = ("auto", "newton", "problem")


def _optional(check: Callable[[Checked, str, Any], Any]) -> Callable[[Checked, str, Any], Any]:
    """The check, for values that may be None: the method chooses."""
    return lambda owner, name, value: None if value is None else check(owner, name, value)


def _positive(unit: str = "") -> Callable[[Checked, str, Any], float]:
    return lambda owner, name, value: owner.positive(name, value, unit)


def _inside(owner: Checked, name: str, value: Any) -> float:
    return owner.number(name, value, above=0, below=1)


def _one_of(*allowed: str) -> Callable[[Checked, str, Any], str]:
    return lambda owner, name, value: owner.as_choice(name, value, allowed)


def _control(owner: Checked, name: str, value: Any) -> Any:
    return owner.as_instance(name, value, StepControl, "a StepControl or None")


OPTIONS: dict[str, Callable[[Checked, str, Any], Any]] = {
    "rho_inf": lambda owner, name, value: owner.number(name, value, at_least=0, at_most=1),
    "rtol": _inside,
    "max_iterations": lambda owner, name, value: owner.as_integer(name, value),
    "scaling": _optional(_positive("kg")),
    "penalty": _positive(),
    "friction_penalty": _positive(),
    "epsilon": _optional(lambda owner, name, value: owner.number(name, value, at_least=0)),
    "tol_v": _optional(_positive("m/s")),
    "approach": _one_of("start", "slower"),
    "contact_solver": _one_of(*CONTACT_SOLVERS),
    "contact_tolerance": _optional(_inside),
    "divide_failed_steps": lambda owner, name, value: owner.as_flag(name, value),
    "step_control": _optional(_control),
    "reuse": lambda owner, name, value: owner.as_flag(name, value),
    "reference_force": lambda owner, name, value: owner.number(name, value, "N", at_least=0),
}
