"""Nonsmooth generalized-α method that enforces constraints at position and velocity level, on R³ × SO(3).

One coupled problem per step: smooth motion with joints (generalized-α, second order), a position correction (no
penetration, g = 0) and a jump of velocities (impact law, friction, G v = 0), all at the configuration and velocity that
they lead to. Equations, decisions and measured orders are in docs/theory/nonsmooth_generalized_alpha.md; the compiled
parts are in alpha/scheme.py, alpha/coupled.py and alpha/contacts.py.

Source: Brüls, Acary, Cardona, Comput. Methods Appl. Mech. Engrg. 281 (2014), 131-161; friction is not in it.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.options import choice, option
from fem_mbs.solvers.alpha.coupled_method import CoupledMethod
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.contacts import TURNING, with_any

if TYPE_CHECKING:
    from fem_mbs.solvers.alpha.reduced import ReducedContactProblem
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.state import State

RESISTING = ("friction", *TURNING)  # coefficients of laws
PREDICTIONS = "smooth", "start", "flight", "end"  # in the order of the numbers in `alpha.contacts`


class NonsmoothGeneralizedAlphaGGL(CoupledMethod):
    """The coupled scheme from which `DecoupledNSGA` was developed: for comparison, and for few bodies.

    Parameters
    ----------
    rho_inf : float, 0 … 1, optional, -
        Spectral radius at infinite frequency: 1 keeps all frequencies, 0 removes what the step does not resolve. After
        an impact reactions oscillate and decay by ``rho_inf`` per step. Default: 0.8, or that of the coefficients that
        are given.
    constraints : {"both", "positions", "velocities", "combined"}
        Levels at which joints and contacts hold. The last three are for comparison. "positions": index 3 without impact
        law and friction; velocities and forces are wrong after an impact, energy may grow. "velocities": joints
        drift apart and contacts penetrate. "combined": both, with ν_N − h Λ_N for ν_N: contacts at rest chatter.
    coupling : {"monolithic", "sequential"}
        Newton's iteration on all unknowns at once, or on the diagonal blocks in turn, with the same solution.
        "sequential" has matrices of a third of the size and converges linearly: for rigid bodies and small steps. In
        stiff structures it does not converge; such steps are solved "monolithic" after all. It needs
        ``constraints="both"``.
    prediction : {"smooth", "start", "flight", "end"}
        Positions at which a closed gap makes the impact law act on velocities. "smooth": those of the smooth motion of
        the step, without correction of positions, and contacts that the correction loads. The others are for
        comparison, with gaps closed to round-off: at the start of the step, after a step with the velocities of its
        start, at the end of the step. "start": impacts come a step late. "flight": bodies that almost rest chatter.
        It needs ``constraints="both"``.

    Raises
    ------
    ParameterError
        rho_inf outside [0, 1], non-positive tolerances or step sizes; a model with contact groups.

    Notes
    -----
    Order 2 in smooth motion, order 1 as soon as a contact acts. All contacts of a step are solved in one problem. Joint
    reactions are k_s λ~ + k_v Λ/h, contact forces k_v Λ/h. A step in which bodies pass each other, or
    whose normals are more than 14° off those of first touch, is rejected or subdivided.
    Contact groups are for `DecoupledNSGA`, `MoreauJean` and `ConeComplementarity`. ``result.iterations`` has those of
    the coupled problem three times. Where Newton's iteration fails the contact-problem solver finds the contacts that
    act; ``result.contact_problems`` says where.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.NonsmoothGeneralizedAlphaGGL(rho_inf=0.8, coupling="sequential")
    """

    constraints: str = option(default="both", check=choice("both", "positions", "velocities", "combined"))
    coupling: str = option(default="monolithic", check=choice("monolithic", "sequential"))
    prediction: str = option(default="smooth", check=choice(*PREDICTIONS))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check(
            self.constraints == "both" or not self.sequential, "coupling", self.coupling,
            f'cannot be combined with constraints="{self.constraints}"; use "monolithic"',
        )  # fmt: skip
        self.check(
            self.constraints == "both" or self.prediction == "smooth", "prediction", self.prediction,
            f'cannot be combined with constraints="{self.constraints}"; use "smooth"',
        )  # fmt: skip

    @property
    def levels(self) -> int:
        """Blocks of the problem of a step."""
        return 1 if self.constraints == "positions" else 3

    @property
    def follows(self) -> bool:  # type: ignore[override]
        """True if positions follow velocities."""
        return self.constraints == "velocities"

    @property
    def combined(self) -> bool:
        """True if gaps are complementary to ν_N − h Λ_N."""
        return self.constraints == "combined"

    @property
    def sequential(self) -> bool:
        """True if the blocks are solved in turn."""
        return self.coupling == "sequential"

    def scalars(self, system: CompiledSystem, h: float) -> dict:
        own = {"approach": int(self.approach == "slower"), "prediction": PREDICTIONS.index(self.prediction)}
        return {**super().scalars(system, h), **own}

    def start(self, engine: "Engine", state: "State") -> None:
        super().start(engine, state)
        engine.arrays["Rc"][:] = state.R  # nodes that cannot turn keep theirs in predictions

    def contact_problems(self, engine: "Engine") -> "ReducedContactProblem | None":
        """Fallback where Newton's iteration fails; its contacts are those of the default prediction."""
        return super().contact_problems(engine) if self.prediction == "smooth" else None

    def refuse(self, system: CompiledSystem) -> None:
        """Raise for models with contact groups; with friction or non-holonomic joints where positions alone are
        constrained.
        """
        self._refuse_groups(system)
        for c in np.flatnonzero(with_any(system.laws, *RESISTING) if self.constraints == "positions" else []):
            message = 'has friction, which acts in velocities: constraints="positions" does not support it; use "both"'
            self._refuse_part(system.contact_at(int(c)), message)
        if self.constraints == "positions" and system.frictions:
            message = 'is friction, which acts in velocities: constraints="positions" does not support it; use "both"'
            self._refuse_part(system.frictions[0], message)
        if self.constraints == "positions" and system.non_holonomic:
            message = 'constrains velocities alone, which constraints="positions" does not enforce; use "both"'
            self._refuse_part(system.non_holonomic[0], message)
