"""Options of force recovery, and what they may be."""

from typing import Any, NamedTuple

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import ParameterError
from fem_mbs.recovery.hysteresis import LOWEST_RESTITUTION, ForceLaw, hysteresis_factor

FILTERS = ("kinematic", "peak")


class Options(NamedTuple):
    """How forces are recovered; the meaning, units and defaults are those of `recover_forces`."""

    stiffness: float | None
    model: Any
    exponent: float
    restitution: float | None
    effective_mass: float | None
    filter: str
    speed_tolerance: float | None
    modes: Any = None


def check_options(who: str, contact: str, options: Options) -> None:
    """Raise an error for options of `recover_forces` or of an observer (``who``) that are out of range."""
    owner = Named(who, contact)

    def refuse(parameter, value, message):
        raise ParameterError(owner, parameter, value, message)

    stiffness = options.stiffness
    if isinstance(options.model, ForceLaw):
        if stiffness is not None:
            refuse("stiffness", stiffness, "is not used with a ForceLaw; remove it")
    else:
        if stiffness is None:
            refuse("stiffness", stiffness, "N/m^n is needed: K of the contact law, see the docstring")
        owner.positive("stiffness", stiffness, "N/m^n")
        hysteresis_factor(options.model, 1.0)
    owner.number("exponent", options.exponent, at_least=1, at_most=3)
    if options.restitution is not None:
        owner.number("restitution", options.restitution, at_least=LOWEST_RESTITUTION, at_most=1)
    for parameter, value, unit in (
        ("effective_mass", options.effective_mass, "kg"),
        ("speed_tolerance", options.speed_tolerance, "m/s"),
    ):
        if value is not None:
            owner.positive(parameter, value, unit)
    owner.as_choice("filter", options.filter, FILTERS)
    if options.modes is not None:
        _check_modes(owner, options)


def _check_modes(owner, options):
    """Raise an error for options that do not make an impact of bodies with modes."""
    given = "ContactModes of both bodies at the contact, or ReducedContact(model) with the model of the run"
    owner.check(callable(getattr(options.modes, "local_motion", None)), "modes", options.modes, f"must be {given}")
    message = "is needed with modes: that of the material, because that of the run includes vibrations of the bodies"
    owner.check(options.restitution is not None, "restitution", options.restitution, message)
    message = "cannot be combined with modes: their law is K δⁿ (1 + χ δ̇/δ̇_i); give stiffness and the name of a model"
    owner.check(not isinstance(options.model, ForceLaw), "model", options.model, message)
    message = "cannot be combined with modes, which contain the masses; remove it"
    owner.check(options.effective_mass is None, "effective_mass", options.effective_mass, message)
