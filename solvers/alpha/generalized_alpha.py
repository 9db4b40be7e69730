"""Generalized-α method for systems with joints, without contacts, on R³ × SO(3).

Either g = 0 alone is enforced (index 3), or g = 0 and G v = 0 (stabilised index 2): the coupled scheme of
docs/theory/nonsmooth_generalized_alpha.md without the block of velocities. Equations and measured orders are in
docs/theory/generalized_alpha.md; the compiled parts are in alpha/scheme.py and alpha/coupled.py.

Source: Chung and Hulbert, J. Appl. Mech. 60 (1993), 371-375; Arnold and Brüls, Multibody Syst. Dyn. 18 (2007), 185-202;
Brüls, Cardona, Arnold, Mech. Mach. Theory 48 (2012), 121-137.
"""

from fem_mbs.arguments.options import choice, option, unsupported
from fem_mbs.solvers.alpha.coupled_method import CoupledMethod
from fem_mbs.solvers.stepping.kernels.shared_factors import price_of_matrix
from fem_mbs.system.compiled import CompiledSystem


class GeneralizedAlpha(CoupledMethod):
    """Time stepping of smooth models: joints, elastic bodies, springs, drivers, compliant contacts.

    Parameters
    ----------
    formulation : {"stabilised", "index 3"}
        Joints hold in positions and velocities, or in positions alone. "index 3" has half the unknowns; its joints have
        relative velocities of second order in h, and its reactions err about a quarter more.

    Raises
    ------
    ParameterError
        rho_inf outside [0, 1], non-positive tolerances or step sizes; a model with contacts other than
        `CompliantContact`.

    Notes
    -----
    Order 2 in positions, velocities and joint reactions, which are λ itself.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> stepper = fem.GeneralizedAlpha(rho_inf=0.8, step_control=fem.StepControl(tolerance=1e-6))
    """

    friction_penalty = 1.0
    formulation: str = option(default="stabilised", check=choice("stabilised", "index 3"))
    penalty: float = unsupported(default=1.0)
    approach: str = unsupported(default="")

    @property
    def levels(self) -> int:
        """Blocks of the problem of a step."""
        return 1 if self.formulation == "index 3" else 2

    def blocks(self, system: CompiledSystem) -> int:
        """One without joints: positions have nothing to correct. Friction of joints jumps velocities in a third one."""
        if system.frictions:
            return 3
        return self.levels if system.m else 1

    def costly(self, system: CompiledSystem) -> bool:
        """True if matrices fill in, and `alpha.split` supports the joints.

        Not rows of velocities, which have no positions, nor redundant rows: what the parts of a Newton step
        leave of multipliers that nothing determines is not the least norm.
        """
        if system.frictions or (system.m and (not system.independent or any(e.velocity_rows for e in system.elements))):
            return False
        return price_of_matrix(system) is not None

    def refuse(self, system: CompiledSystem) -> None:
        """Raise for models with contacts that are constraints; with joint friction where positions alone are
        constrained.
        """
        if system.frictions and self.formulation == "index 3":
            message = (
                'is friction, which acts in velocities: formulation="index 3" does not support it; use "stabilised"'
            )
            self._refuse_part(system.frictions[0], message)
        if system.nc or system.searches:
            self._refuse_groups(system)
            message = "is a contact, which GeneralizedAlpha does not support; use DecoupledNSGA, or CompliantContact"
            self._refuse_part(system.contact_at(0), message)
