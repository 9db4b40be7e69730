"""Generalized-α method for systems with joints, without contacts, on R³ × SO(3).

Either g = 0 alone is enforced (index 3), or g = 0 and G v = 0 (stabilised index 2): the coupled scheme of
docs/theory/nonsmooth_generalized_alpha.md without the block of velocities. Equations and measured orders are in
docs/theory/generalized_alpha.md; the compiled parts are in alpha/scheme.py and alpha/coupled.py.

Source: Chung and Hulbert, J. Appl. Mech. 60 (1993), 371-375; Arnold and Brüls, Multibody Syst. Dyn. 18 (2007), 185-202;
Brüls, Cardona, Arnold, Mech. Mach. Theory 48 (2012), 121-137.
"""

from fem_mbs.solvers.alpha.coupled_method import CoupledMethod
from fem_mbs.solvers.stepping.kernels.shared_factors import price_of_matrix
from fem_mbs.solvers.stepping.march.step_control import StepControl
from fem_mbs.system.compiled import CompiledSystem


class GeneralizedAlpha(CoupledMethod):
    """Time stepping of smooth models: joints, elastic bodies, springs, drivers, compliant contacts.

    Parameters
    ----------
    rho_inf : float, 0 … 1, -
        Spectral radius at infinite frequency: 1 keeps all frequencies, 0 removes what the step does not resolve.
    formulation : {"stabilised", "index 3"}
        Joints hold in positions and velocities, or in positions alone. "index 3" has half the unknowns; its joints have
        relative velocities of second order in h, and its reactions err about a quarter more.
    rtol : float, 0 … 1, -
        Relative tolerance of the problem of a step.
    max_iterations : int
        Newton iterations before a step is divided, then refused.
    scaling : float, optional [kg]
        k of the multipliers, as `DecoupledNSGA` has it. Results do not depend on it.
    epsilon : float ≥ 0, optional, -
        Proximal shift of redundant constraints, as `DecoupledNSGA` has it.
    step_control : StepControl, optional
        Steps of variable size, see there. Default: constant steps.
    divide_failed_steps : bool
        Take a step whose iterations fail in parts, down to h/64. False: it ends the run.
    reuse : bool
        Keep a factorisation while it contracts the residual by 50 per iteration.
    reference_force : float ≥ 0 [N]
        Forces are solved to ``rtol`` of it where those of the model are smaller.

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

    # options of methods with contacts
    penalty, friction_penalty, tol_v = 1.0, 1.0, None

    def __init__(
        self,
        rho_inf: float = 0.8,
        *,
        formulation: str = "stabilised",
        rtol: float = 1e-6,
        max_iterations: int = 30,
        scaling: float | None = None,
        epsilon: float | None = None,
        step_control: StepControl | None = None,
        divide_failed_steps: bool = True,
        reuse: bool = True,
        reference_force: float = 0.0,
    ) -> None:
        self._keep(
            rho_inf=rho_inf,
            rtol=rtol,
            max_iterations=max_iterations,
            scaling=scaling,
            epsilon=epsilon,
            step_control=step_control,
            divide_failed_steps=divide_failed_steps,
            reuse=reuse,
            reference_force=reference_force,
        )
        self.formulation = self.as_choice("formulation", formulation, ("stabilised", "index 3"))

    @property
    def levels(self) -> int:
        """Blocks of the problem of a step."""
        return 1 if self.formulation == "index 3" else 2

    def blocks(self, system: CompiledSystem) -> int:
        """One without joints: positions have nothing to correct."""
        return self.levels if system.m else 1

    def costly(self, system: CompiledSystem) -> bool:
        """Where matrices fill in, and joints are such that `alpha.split` knows them.

        Not rows of velocities, which have no positions, nor rows that repeat others: what the parts of a Newton step
        leave of multipliers that nothing determines is not the least norm.
        """
        if system.m and (not system.independent or any(e.velocity_rows for e in system.elements)):
            return False
        return price_of_matrix(system) is not None

    def refuse(self, system: CompiledSystem) -> None:
        """Raise for models with contacts that are constraints."""
        if system.nc or system.searches:
            self._refuse_groups(system)
            message = "is a contact, which GeneralizedAlpha does not know; use DecoupledNSGA, or CompliantContact"
            self._refuse_part(system.contact_at(0), message)
