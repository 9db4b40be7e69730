"""A published case: where it is from, what is compared, and with which time steppers it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fem_mbs.checks import Checks
from fem_mbs.errors import FemMbsError

OWN = "own"  # options of a method that the case, a script of `examples`, chooses itself
STATIC = "-"  # name of the method of cases without a time stepper


@dataclass(frozen=True)
class Method:
    """A time stepper that a case runs with.

    Parameters
    ----------
    stepper : str
        Name in ``fem_mbs.solvers.STEPPERS``, or of a method of one that makes it: "DecoupledNSGA.published". A stepper
        that this version does not have is left out of the runs.
    options : dict, or `OWN`
        Arguments of its constructor. `OWN`: the case gives them itself.
    not_reproduced : dict, optional
        Name of a check -> why this method does not pass it, with what was measured. Such a check is expected to fail:
        it is reported with its reason. A run is not ok if it passes, or if numbers of the reason are not those of the
        checks that share it (values, errors, or errors in %): the reason is then out of date. Numbers after "at",
        "for", "of", "in", "with", "from" and "=" are settings or references and not compared.
    """

    stepper: str
    options: Mapping[str, Any] | str = OWN
    not_reproduced: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """ "MoreauJean theta=0.5 projection=True"."""
        options = {} if isinstance(self.options, str) else self.options
        return " ".join(
            [self.stepper, *(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in options.items())]
        )

    def make(self) -> Any:
        """The stepper, or None where the case makes its own or needs none."""
        import fem_mbs

        if isinstance(self.options, str):
            return None
        stepper = fem_mbs.solvers.STEPPERS[self.family]
        _, _, maker = self.stepper.partition(".")
        return (getattr(stepper, maker) if maker else stepper)(**self.options)

    @property
    def family(self) -> str:
        """Name of the stepper in ``fem_mbs.solvers.STEPPERS``."""
        return self.stepper.partition(".")[0]

    @property
    def exists(self) -> bool:
        """True if this version has the method."""
        import fem_mbs

        return self.stepper == STATIC or self.family in fem_mbs.solvers.STEPPERS


def decoupled(rho_inf: float, **options: Any) -> tuple[Method, Method]:
    """Return the decoupled scheme as published, and with its defaults."""
    options = {"rho_inf": rho_inf, **options}
    return Method("DecoupledNSGA.published", options), Method("DecoupledNSGA", options)


# options of the decoupled scheme for references of schemes whose impacts reflect the speed at the start of their step
WHOLE_STEPS = {"impacts": "plain", "restitution_speed": "start"}


@dataclass(frozen=True)
class Case:
    """A model with reference values from a publication or a closed form.

    Parameters
    ----------
    name : str
        What the command line calls it: "bruls2014-ball".
    title : str
        What it shows, some words.
    source : str
        Where model and numbers are from.
    tolerance : str
        Why the tolerances of its checks are what they are.
    run : callable
        ``run(stepper)`` returns `Checks`, which hold references and tolerances; the stepper is None with `OWN`.
    methods : sequence of Method
    note : str, optional
        What the source does not say, or what no method reproduces.
    fast : bool
        False for cases that take more than some seconds; ``fem-mbs validate --fast`` leaves them out.
    """

    name: str
    title: str
    source: str
    tolerance: str
    run: Callable[[Any], Checks]
    methods: tuple[Method, ...]
    note: str = ""
    fast: bool = True

    def __post_init__(self):
        for what in ("name", "title", "source", "tolerance"):
            if not getattr(self, what).strip():
                raise FemMbsError(f"case '{self.name}': {what} is empty; a case says what it compares, and with what")
        if not self.methods:
            raise FemMbsError(f"case '{self.name}': no methods; give those it runs with")
