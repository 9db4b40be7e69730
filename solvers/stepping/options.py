"""Options of the time steppers: each shared one is defined here, once; `fem_mbs.arguments.options` says how.

A stepper names its own options, other defaults, and what it does not support.
"""

from typing import ClassVar

from fem_mbs.arguments.options import Options, choice, flag, instance, integer, number, option, optional, positive
from fem_mbs.solvers.stepping.march.step_control import StepControl

fraction = number(above=0, below=1)

REMOVED = {  # options that steppers had -> what takes their place
    "forecast": "contacts that half a step of flight closes take part; remove it",
    "friction_penalty": "results did not depend on it; remove it",
    "improved_start": "reactions within a few steps of the start have errors of first order in h; remove it",
    "max_splits": 'at most 3 impacts are split in a step (in 50 steps with impacts="auto"); remove it',
    "reference_force": "forces are solved to rtol of those of the model; remove it, or choose rtol",
    "scaling": "results did not depend on it; remove it",
    "threads": "contact groups are solved in one thread; remove it",
    "tol_v": "the threshold follows from gravity, h and the initial speeds; remove it",
}


class StepperOptions(Options):
    """Options of time steppers.

    Parameters
    ----------
    rtol : float, 0 … 1, -
        Relative tolerance of the problems of a step.
    max_iterations : int
        Newton iterations before a step is repeated with other penalties, then rejected.
    penalty : float > 0, -
        p/k of contacts in the normal direction; results do not depend on it.
    epsilon : float ≥ 0, optional, -
        Proximal shift of redundant constraints and contacts, relative; the solution does not depend on it. Default:
        1e-8, for contacts of coupled problems 1e-6, and 0 for joints that `Model.compile` has found to be independent.
        A step that fails is repeated with at least 1e-8.
    approach : {"slower", "start"}
        Normal velocity that Newton's law reflects, see `DecoupledNSGA`; "start" is the published law.
    contact_solver : {"auto", "newton", "problem"}
        How contacts are solved. "newton": semismooth Newton iterations. "problem": the contact-problem solver
        (`solve_contact_problem`), for hundreds of contacts and more. "auto": Newton iterations, and that solver where
        they stall. ``result.contact_problems`` says where it was used.
    contact_tolerance : float > 0, optional, -
        Scale-free error of the problems of contact groups. Default: 1e-3 where the spheres are free bodies, which
        projected Gauss-Seidel iterations solve; 1e-6 for assembled problems.
    step_control : StepControl, optional
        Steps of variable size: halved when they fail, larger ones in smooth motion. Default: all steps are h.
    divide_failed_steps : bool
        Without ``step_control``: subdivide a step that fails, down to h/64. States are still saved at multiples of h,
        with the impulses of all substeps (``result.statistics["divided_steps"]`` counts these steps). Not with contact
        groups. False: a step that fails ends the run.
    reuse : bool
        Keep a factorisation while it contracts the residual by 50 per iteration.
    """

    removed = REMOVED
    friction_penalty: ClassVar[float] = 2.0 / 7.0  # p/k of friction: the mass that resists sliding of a sphere

    rtol: float = option(default=1e-6, check=fraction)
    max_iterations: int = option(default=30, check=integer)
    penalty: float = option(default=1.0, check=positive())
    epsilon: float | None = option(default=None, check=optional(number(at_least=0)))
    approach: str = option(default="slower", check=choice("start", "slower"))
    contact_solver: str = option(default="auto", check=choice("auto", "newton", "problem"))
    contact_tolerance: float | None = option(default=None, check=optional(fraction))
    step_control: StepControl | None = option(
        default=None, check=optional(instance(StepControl, "a StepControl or None"))
    )
    divide_failed_steps: bool = option(default=True, check=flag)
    reuse: bool = option(default=True, check=flag)
