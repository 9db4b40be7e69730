"""Compliant contact: a contact element as the user gives it, with a force law in the place of its impacts.

The law, its tangents and the calls of the wrapped contact are in `contacts.compliant_kernels`. Here parameters are
checked, and the kernels and parameters of the wrapped contact are put where compiled code finds them.

Source: docs/theory/contacts.md, (25)-(30).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.spelling import meant
from fem_mbs.element.base import REGISTRY, Force, Part, register
from fem_mbs.element.contact import Contact
from fem_mbs.element.evaluator import Evaluator, Point, evaluator_of
from fem_mbs.element.speed_laws import SpeedLaw
from fem_mbs.elements.contacts.compliant_kernels import (
    PARAMETERS,
    accept,
    energy_contact,
    force,
    force_tangent,
    initial,
    output,
    touching,
    trouble,
)
from fem_mbs.errors import FemMbsError, ParameterError, label
from fem_mbs.jit import address, bind
from fem_mbs.recovery.hysteresis import FACTORS, LOWEST_RESTITUTION, ForceLaw, hysteresis_factor
from fem_mbs.system.sizes import gyration

DEEPEST = 0.1  # largest indentation, relative to the radius
UNLIMITED = 1e300  # m: records hold finite numbers
PLAIN = {"hertz": 1.5, "hooke": 1.0, "kelvin-voigt": 1.0}  # laws without restitution, and their exponent


class CompliantContact(Force):
    """A contact that yields: force from indentation, with hysteresis and friction, for any contact geometry.

    Takes the place of the contact it is given: add the compliant contact to the model, not the contact. What a run with
    it resolves in time, `recover_forces` recovers from the impulses of a run with the contact itself.

    Parameters
    ----------
    contact : Contact
        Geometry: any contact element, such as `SphereOnPlane`, `SphereInCylinder` or `CapsuleOnCapsule`. Not added to
        the model itself.
    stiffness : float > 0 [N/mⁿ]
        K of the law; see `recover_forces` and `fem_mbs.hertz`.
    model : str or callable
        Hysteresis model, see `hysteresis_factor`: "consistent" (default), "hunt-crossley", "lankarani-nikravesh", "hu",
        "flores", "zhang", or a function of the restitution. Or a law without restitution: "hertz" and "hooke" are
        elastic, K δⁿ and K δ; "kelvin-voigt" is a spring with a dashpot, K δ + c δ̇ (force at first touch,
        none while it would pull).
    exponent : float, 1 … 3, -
        n of the law. Default: 3/2, for surfaces that touch in a point; 1 for "hooke" and "kelvin-voigt".
    restitution : float, 0.02 … 1, optional
        Default: that of ``contact``. 1 is elastic. Laws without restitution do not use that of ``contact``, and are
        given none.
    damping : float > 0, optional [N s/m]
        c of "kelvin-voigt", which needs it; no other model has one. The restitution of an impact follows from it and
        the masses, whatever the speed: docs/theory/contacts.md, (30).
    friction : float ≥ 0, optional, -
        Coulomb's coefficient. Default: that of ``contact``, which may be an `AnisotropicFriction`.
    slip_speed : float > 0 [m/s]
        Sliding speed below which friction fades (to zero at rest: what sticks creeps). Well below the sliding speeds of
        interest; steps must resolve w_s/μ g.
    least_speed : float > 0 [m/s]
        Lower bound of the speed δ̇_i in the damping, which is the largest rate of indentation since the first touch.
        Choose it well below impact speeds and above those of vibrations in closed contact, whose damping depends on it.
    simple_tangent : bool
        Leave (8) out of the tangents, and w wᵀ/s³ while the contact slides faster than w_s. Forces are the same, steps
        with friction take a third of the time, and Newton's iteration does not swing between two sliding states in
        steps longer than m w_s/(μ N). It converges as fast where contacts roll, and linearly where they slide. For
        steps in which bodies move by far less than their radii of curvature, as balls between races do.
    max_indentation : float > 0, optional [m]
        A deeper start raises an error, and a step that leads deeper is rejected. Laws of surfaces that touch in a
        point hold for indentations far below the radii. Default: a tenth of the largest radius of ``contact``. Without
        radii (points) nothing is rejected, but a run in which the indentation exceeds a tenth of the size of the
        bodies (their largest radius of gyration), or in which that is unknown, issues a warning. Give the depth up to
        which the law holds, such as the stroke of a buffer.
    name : str, optional
        Default: the name of ``contact``.

    Outputs
    -------
    gap : [m], open > 0
    indentation : [m]
    indentation_rate : [m/s], > 0 while closing; of an open contact the speed of approach
    force_normal : [N]
    force_vector, friction_force : (3,) [N], on the first body, inertial axes: all of the force; that of friction
    sliding_speed : [m/s]
    point, normal : (3,) [m], -, inertial axes; the normal points from the second body to the first

    Raises
    ------
    ParameterError
        Parameters out of range; not a contact, or a part made of several (wrap its ``elements`` one by one); a contact
        with rolling or spinning resistance, tangential restitution or a ``radius_contensou``, which the force law does
        not support; a contact of more than four nodes.

    Notes
    -----
    The damping is scaled by the largest rate of indentation of the present phase of contact, from first touch to
    separation. Of a free impact this is the approach speed. Bodies that touch already at the impact (rows of
    balls, preloaded journals) are damped as bodies a short distance apart. After an impact the speed stays until the
    bodies separate: small vibrations of a contact that stays closed are damped little.

    Steps must resolve the impact: some hundredth of its duration, 1e-6 … 1e-5 s for steel. A run with
    ``StepControl(tolerance=…)`` finds them, see the how-to. Forces beyond the elastic limit of the material are not
    limited.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody, SphereOnPlane
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, 0, 1.1])
    >>> floor = SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.6, name="floor")
    >>> model.add(CompliantContact(floor, stiffness=140e6, model="flores"))
    CompliantContact 'floor': contact=floor, stiffness=1.4e+08, model='flores', exponent=1.5, restitution=0.6, …
    """

    parameters = PARAMETERS
    n_state = 1
    most_nodes = 4  # scratch of `compliant_kernels.force_tangent` is for 24 numbers
    abrupt = True
    kernels = {
        "force": force, "force_tangent": force_tangent, "energy": energy_contact, "initial": initial, "accept": accept,
        "output": output, "trouble": trouble, "touching": touching,
    }  # fmt: skip
    outputs = {
        "gap": (1, "m"), "indentation": (1, "m"), "indentation_rate": (1, "m/s"), "force_normal": (1, "N"),
        "force_vector": (3, "N"), "friction_force": (3, "N"), "sliding_speed": (1, "m/s"), "point": (3, "m"),
        "normal": (3, ""),
    }  # fmt: skip

    def __init__(
        self,
        contact: Contact,
        *,
        stiffness: float,
        model: str = "consistent",
        exponent: float | None = None,
        restitution: float | None = None,
        damping: float | None = None,
        friction: float | None = None,
        slip_speed: float = 1e-3,
        least_speed: float = 1e-3,
        simple_tangent: bool = False,
        max_indentation: float | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        self._check_contact(contact)
        self.name = name if name is not None else contact.name
        super().__init__(contact.nodes, name=self.name)
        self.contact = contact
        self.stiffness = self.positive("stiffness", stiffness, "N/m^n")
        self._set_law(model, exponent, restitution, damping)
        self.friction = self.positive("friction", contact.friction if friction is None else friction, "", True)
        self.friction_scale = contact.friction_scale if friction is None else (1.0, 1.0)
        self.slip_speed = self.positive("slip_speed", slip_speed, "m/s")
        self.least_speed = self.positive("least_speed", least_speed, "m/s")
        if max_indentation is not None:
            self.max_indentation = self.positive("max_indentation", max_indentation, "m")
        else:
            self.max_indentation = DEEPEST * _largest_radius(contact)
        self.simple_tangent = self.as_flag("simple_tangent", simple_tangent)
        self.place()

    def _check_contact(self, contact):
        if isinstance(contact, Part) and contact.role == "contact group":
            message = "finds its pairs during the run; a compliant contact takes one contact element"
            raise ParameterError(self, "contact", label(contact), message)
        if hasattr(contact, "elements"):
            message = "is made of several contacts; make a compliant contact of each of its elements"
            raise ParameterError(self, "contact", label(contact), message)
        if not isinstance(contact, Contact):
            raise ParameterError(self, "contact", contact, "is not a contact, such as SphereOnPlane(…)")
        if not contact.everywhere:
            message = (
                "has configurations without a point of contact, which a force law does not support: use it as it is"
            )
            raise ParameterError(self, "contact", label(contact), message)
        if len(contact.nodes) > self.most_nodes:
            message = f"moves with {len(contact.nodes)} nodes; a compliant contact has room for {self.most_nodes}"
            raise ParameterError(self, "contact", label(contact), message)
        both = (contact.static_friction, contact.friction)
        message = "are static and sliding friction, for nonsmooth contacts; a compliant contact has one coefficient"
        self.check(not contact.two_coefficients, "friction", both, message)
        for what in ("rolling_resistance", "spinning_resistance", "radius_contensou", "tangential_restitution"):
            value = getattr(contact, what)
            message = "is for nonsmooth contacts; a compliant contact supports sliding friction only: remove it"
            self.check(value == 0.0, what, value, message)

    def _set_law(self, model, exponent, restitution, damping):
        """Check the parameters of (1)."""
        if isinstance(model, str):
            self.check(model in {*PLAIN, *FACTORS}, "model", model, f"is no law; {meant(model, [*FACTORS, *PLAIN])}")
        plain = PLAIN.get(model) if isinstance(model, str) else None  # exponent of a law without restitution
        exponent = (1.5 if plain is None else plain) if exponent is None else exponent
        self.model, self.exponent = model, self.number("exponent", exponent, at_least=1, at_most=3)
        message = "is a linear law: remove the exponent, or give model='hertz' or a hysteresis model"
        self.check(plain != 1.0 or self.exponent == 1.0, "model", model, message)
        self._set_damping(plain is not None and model == "kelvin-voigt", damping)
        if plain is not None:
            message = f"is not a parameter of model='{model}': remove it, or give a hysteresis model such as 'flores'"
            self.check(restitution is None, "restitution", restitution, message)
            self.restitution, self.factor = None, 0.0
            return
        given = self.contact.restitution if restitution is None else restitution
        message = "depends on the approach speed, a compliant contact has one number; give it to CompliantContact"
        self.check(not isinstance(given, SpeedLaw), "restitution", given, message)
        self.restitution = self.number("restitution", given)
        message = f"must be between {LOWEST_RESTITUTION:g} and 1; contacts have 0 unless one is given, here or there"
        self.check(LOWEST_RESTITUTION <= self.restitution <= 1, "restitution", self.restitution, message)
        self.factor = self._factor(model)

    def _set_damping(self, needed, damping):
        """Check the damping, which Kelvin and Voigt's law needs and no other has."""
        message = "is that of model='kelvin-voigt'; other models lose energy by their restitution: remove it"
        if needed:
            message = "must be given for model='kelvin-voigt': c of its force K δ + c δ̇ [N s/m]"
        self.check((damping is not None) == needed, "damping", damping, message)
        self.damping = self.positive("damping", damping, "N s/m") if needed else None

    def _factor(self, model):
        """χ of the hysteresis model, an error in the words of this element if there is none."""
        if isinstance(model, ForceLaw):
            raise ParameterError(
                self, "model", model.name, "is a Python function of the indentation; give a hysteresis model, or write "
                "the law as a UserForce",
            )  # fmt: skip
        try:
            return float(hysteresis_factor(model, self.restitution))
        except FemMbsError as error:
            raise ParameterError(self, "model", model, str(error)) from error

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in ("_calls", "_wrapped", "record")}

    def place(self) -> None:
        """The wrapped contact's kernels as C functions, and its parameters where they can find them."""
        contact = self.contact
        kernels = (contact.kernels["contact"], contact.kernels["contact_hessian"])
        self._calls = [bind(function, contact.parameters, contact.sizes) for function in kernels]
        self._wrapped = np.zeros(1, contact.parameters)
        self._wrapped[0] = contact.record
        dashpot = 0.0 if self.damping is None else self.damping
        law = (self.stiffness, self.exponent, self.factor, dashpot, self.least_speed, self.friction, self.slip_speed)
        deepest, calls = min(self.max_indentation, UNLIMITED), (call.address for call in self._calls)
        self.record = (*law, deepest, self.friction_scale, *calls, address(self._wrapped), int(self.simple_tangent))

    @property
    def convex(self) -> bool:
        """Property of the wrapped contact, as ``passage`` and ``reach``: steps that jump over it are rejected."""
        return self.contact.convex

    @property
    def passage(self) -> float:
        return self.contact.passage

    @property
    def reach(self) -> float:
        return self.contact.reach

    def trouble(self, state: Any) -> str | None:
        """Describe the fault at a `State`, or None."""
        x, R = (np.array([a[node.index] for node in self.nodes]) for a in (state.x, state.R))
        point, nothing = Point(), dict.fromkeys(("gravity", "state", "lam", "t", "s"), 0.0)
        point.__dict__.update(x=x, R=R, x0=x, R0=R, v=np.zeros(6 * len(x)), a=np.zeros(6 * len(x)), **nothing)
        beyond = float(Evaluator(self)("trouble", point)["energy"][0])
        if beyond <= 0.0:
            return None
        depth = self.max_indentation + beyond
        return (
            f"{label(self)}: its indentation is {depth:.3g} m, more than max_indentation = {self.max_indentation:.3g} "
            "m, up to which its force law holds. At the start: move the bodies apart. In a run: halve h, or use "
            "step_control=StepControl() of DecoupledNSGA; if the depth stays, the stiffness is too small for the speed "
            "and mass of this impact: give a larger one, or allow the depth with max_indentation=…"
        )

    def output_warnings(self, histories: dict) -> list:
        """Return a warning about outputs, see `element_checks`: an indentation without a limit, see
        `max_indentation`.
        """
        depth = float(histories["indentation"].max(initial=0.0))
        size = max((gyration(node) for node in self.nodes), default=0.0)
        if np.isfinite(self.max_indentation) or depth <= DEEPEST * size:
            return []
        than = "its bodies have no known size"
        if size > 0.0:
            than = f"a tenth of the size of its bodies is {DEEPEST * size:.3g} m"
        text = (
            f"its indentation was up to {depth:.3g} m and has no limit, because its contact has no radius; {than}. "
            "Give max_indentation=…, the depth up to which the force law holds, or look whether a body went through"
        )
        return [("indentation", depth, text)]

    def picture(self) -> list:
        return self.contact.picture()

    def regular(self, point: Any) -> bool:
        """True where forces are smooth about a configuration of `fem_mbs.verify`: closed, not about to be cut off."""
        here = point.copy(x0=point.x, R0=point.R)
        if not self.contact.regular(here):
            return False
        here.state = np.zeros(0)
        call = evaluator_of(self.contact)
        found = call("contact", here)
        delta, rate = -found["gap"][0], -found["G_N"] @ point.v
        speed = max(self.checked_state(max(rate, 0.0)), self.least_speed)
        slope = self.factor / speed
        if self.damping is not None and delta > 0.0:
            slope += self.damping / (self.stiffness * delta**self.exponent)
        damping = 1.0 + slope * rate
        if delta <= 0.1 * point.size or damping <= 0.5:
            return False
        # within reach of differences, 0.003 of the size and of 1 rad, small bodies turn their normal, and so the rate
        reach = 0.005 * np.tile([point.size] * 3 + [1.0] * 3, len(point.x))
        change = np.abs(reach * (point.v @ call("contact_hessian", here)["H_N"])).max()
        return damping - slope * change > 0.25 and rate + change < 0.9 * speed

    def checked_state(self, state: Any) -> Any:
        """State with which `fem_mbs.verify` checks: the law has a corner where the rate is the largest of the phase."""
        return 2.0 * state


def _largest_radius(contact):
    """Largest radius [m] among the parameters of a contact; infinite when it has none."""
    values = [v for k, v in vars(contact).items() if k.startswith("radius") and isinstance(v, float) and v > 0]
    return max(values, default=np.inf)


def _example(rng, A, B):
    kinds = ("SphereOnPlane", "SphereOnSphere", "SphereInSphere", "SphereInCylinder")
    contact = REGISTRY[kinds[rng.integers(len(kinds))]][1](rng, A, B)
    return CompliantContact(
        contact, stiffness=rng.uniform(0.5, 2.0), exponent=rng.uniform(1.0, 2.0), restitution=rng.uniform(0.3, 1.0),
        friction=rng.choice([0.0, 0.4]), slip_speed=rng.uniform(0.2, 1.0), least_speed=rng.uniform(1.0, 3.0),
        max_indentation=10.0,
    )  # fmt: skip


register(CompliantContact, example=_example)
