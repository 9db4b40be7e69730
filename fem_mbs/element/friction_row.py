"""Base of dry friction against one relative rate: of a joint, or of what runs over a pulley."""

from typing import Any

import numpy as np

from fem_mbs.element.base import Element
from fem_mbs.system.friction import MOST_ROWS, N_FRICTION


def friction_coefficients(owner: Any, friction: Any, parameter: str = "friction") -> tuple[float, float]:
    """Static and sliding coefficient, of one number or two."""
    several = isinstance(friction, (tuple, list)) or (isinstance(friction, np.ndarray) and friction.ndim > 0)
    both = friction if several else (friction, friction)
    pairs = any(isinstance(value, (tuple, list, np.ndarray)) for value in both)
    owner.check(len(both) == 2 and not pairs, parameter, friction, "must be one number or (static, sliding)")
    static, sliding = (owner.positive(parameter, value, "", allow_zero=True) for value in both)
    owner.check(static >= sliding, parameter, friction, "(static, sliding): static must be ≥ sliding")
    return static, sliding


class FrictionRow(Element):
    """Dry friction against the rate γ of one coordinate of a joint: −μ N Sign(γ), N of the force that the joint
    transmits. Or against a relative velocity of two or three components: −μ N γ/|γ|.

    N is the sum of a part that does not depend on the multipliers λ of the joint and one that is proportional to them,
    N(cλ) = c N(λ) for c > 0. Base of `JointFriction`, and of `IdealBelt`, which has no joint and the first part alone;
    a method that does not support it raises an error.

    Parameters
    ----------
    joint : Joint or None
        Whose coordinate it is, in the same model. None: of two nodes without such a joint.
    friction : float ≥ 0 or (static, sliding), -
        μ; static ≥ sliding.
    kappa : bool
        Compute κ in every step.
    units : (text, text)
        Of friction, and of γ.
    nodes : sequence of Node, optional
        Without a joint.

    Attributes
    ----------
    of_point : bool
        True if the first three multipliers are a force in inertial axes, those of a joint with rows of a point.
    moved : bool
        True if friction acts against a driven surface, which can supply energy.
    drives : bool
        True if it is listed as a motor in the energy table.
    directions : int
        1, or number of the components of γ that stick and slide together; set before the constructor of this class.
    """

    of_point = moved = drives = False
    directions = 1

    role = "friction"
    n_state = N_FRICTION

    def __init__(
        self, joint: Any, friction: Any, *, kappa: bool, name: str | None, signals: Any, units: tuple[str, str],
        nodes: Any = None,
    ) -> None:  # fmt: skip
        self.joint, self.rows = joint, 0 if joint is None else joint.rows
        super().__init__(nodes if joint is None else joint.nodes, name=name, signals=signals)
        self.check(self.rows <= MOST_ROWS, "joint", joint, "leaves nothing free")
        if self.directions > 1:
            self.n_state = self.directions * N_FRICTION
        self.friction, self.kappa = friction_coefficients(self, friction), self.as_flag("kappa", kappa)
        effort, rate = units
        n = self.directions
        self.outputs = {
            "force": (n, effort), "bound": (1, effort), "slip": (n, rate), "status": (1, ""), "power": (1, "W"),
            "dissipated": (1, "J"), "kappa": (1, ""),
        }  # fmt: skip

    @property
    def law(self) -> tuple[float, float, float]:
        """Static and sliding coefficient; 1: κ is wanted in every step."""
        return (*self.friction, float(self.kappa))
