"""Base of contact elements: coefficients of the law of impact and friction, and what their outputs mean."""

from typing import Any

import numpy as np

from fem_mbs.element.anisotropic import AnisotropicFriction
from fem_mbs.element.base import Element
from fem_mbs.element.friction_row import friction_coefficients
from fem_mbs.element.speed_laws import SpeedLaw, StribeckLaw, is_table, largest, pieces_of, restitution_of, table_of


class Contact(Element):
    """A pair that can touch: kinematics here, the law (impact, friction) in the solver.

    Parameters
    ----------
    restitution : float, 0 … 1, or pairs (speed, value), or `PowerRestitution`, -
        Newton's coefficient of the normal direction, e_N. Pairs are a table of approach speeds [m/s], rising, and
        values 0 … 1: linear between them, constant outside.
    friction : float, ≥ 0, or (static, sliding), or pairs (speed, value), or `AnisotropicFriction`, -
        Coulomb's coefficient μ; or two, static ≥ sliding: what sticks holds up to the first, what slides has the
        second, and what comes to rest stays if the first holds it. Pairs are a table of sliding speeds [m/s], rising,
        and values ≥ 0: linear between them, constant outside; what sticks holds up to the value at 0. Contacts with
        planes take an `AnisotropicFriction`, whose coefficient depends on the direction of sliding.
    stribeck_speed : float, ≥ 0 [m/s]
        With two coefficients: v_s of the fall from static to sliding friction, μ(v) = μ_k + (μ_s − μ_k) exp(−(v/v_s)ⁿ).
        Default: 0, sliding friction at any speed. Falling friction makes slow sliding unstable: steps must resolve it.
    stribeck_exponent : float, > 0, -
        n. Default: 2; 1 is an exponential fall.
    tangential_restitution : float, −1 … 1, -
        e_T; 0 for ordinary friction.
    rolling_resistance, spinning_resistance : float, ≥ 0 [m]
        Arms ρ and γ of the resisting moments: |M_T| ≤ ρ N, |M_N| ≤ γ N.
    radius_contensou : float, ≥ 0 [m]
        Radius R of the disc over which the contact presses; 0: a point. With a disc sliding and drilling (turning about
        the normal) are one friction, Coulomb-Contensou's: |(F_1, F_2, M_N/c)| ≤ μ N against (v_1, v_2, c ω_N) with
        c = 3π R/16. A contact that drills fast hardly resists sliding, one that slides fast hardly resists drilling.
        Choose the Hertz radius at the mean load, or the radius of a flat end.
        Replaces ``spinning_resistance``, which bounds the same moment but does not depend on sliding.

    Attributes
    ----------
    friction, static_friction : float
        Of sliding and of sticking; of a table the values at its largest speed and at 0, of an ellipse the larger ones.
    ellipse : AnisotropicFriction or None
    friction_scale : (2,)
        Of an ellipse s of `fem_mbs.element.anisotropic`, else 1.
    sliding_law : SpeedLaw or None
        Of sliding friction with two coefficients or a table.
    convex : bool
        Of the type: True if both surfaces are convex. Their normal then rotates by more than 14° in a step only where
        they pass each other.
    passage : float ≥ 0 [m]
        Smallest relative travel from the first touch to where another side of the surfaces is nearer: the sum of the
        radii of two spheres. Steps in which the pair travels a good part of it are swept (docs/theory/sweep). 0: there
        is no other side (a plane, the inside of a bowl), and nothing is swept.
    reach : float ≥ 0 [m]
        Largest distance of two points of one surface that can touch, or the radius of a sphere. Infinite: the gap is no
        distance (stops of joints), and nothing is swept.
    pair : object or None
        Common object of the contacts of two convex bodies that represent one distance, as `HullOnHull`: the first
        of them to touch determines the time in a step for all. None: a contact is independent.
    two_sided : bool
        True if the gap is the distance of two bodies in one point: results then have the motion of both ends there.
    smooth : bool
        True if a surface of cells is smoothed by heights that follow the motion.
    _surface : SurfaceContacts or None
        Surface that it belongs to and stands for: the first contact of it.
    plane : Frame or None
        Frame of the plane that its first frame touches.
    has_axes : bool
        Of the type: True if its first tangent is fixed on the second body, along the axis of an `AnisotropicFriction`.
    half_space : bool
        Of the type: contact of a sphere or point with the plane z = 0 of frame Q; parameters p_BQ and R_BQ.
    of_sphere : bool
        Of the type: contact of a sphere about P, with a parameter ``radius``, with another shape.
    everywhere : bool
        Of the type: True if there is a nearest point in every pose. If not, a kernel ``trouble`` reports where.
    gap_slopes : (a, b) or None
        Bound of the rate of the gap, with two nodes that move by Δx and rotate by φ < 0.5 rad together: by no more than
        a (|Δx_A| + |Δx_B| + φ times the distance of both) + b φ. Contacts that are far from closing by it are not
        evaluated (`fem_mbs.system.far_contacts`). None: they are.
    room : float > 0 [m]
        Clearance between the surfaces, which penetrations must be small against. Infinite: the surfaces are open.

    also_called : dict
        Of the type: another name of an output in results -> its name.

    Outputs
    -------
    gap : float [m], open > 0
    impulse : (3,) [N s], momentum handed over to the first body in the step: normal, t1, t2, in the axes ``normal`` and
        ``tangents`` at the end of the step; of closed contacts in the smooth motion (the default of `DecoupledNSGA`)
        those half-way through it, the means of start and end, which matters where the normal rotates. Such an impulse
        is the mean of the forces at start and end: where a contact opens, or starts to slide, it need not obey the law
    moment_impulse : (3,) [N m s], of the step: rolling about t1 and t2, spinning (drilling) about the normal
    force : (3,) [N], impulse / h: a mean over the step, at an impact not a force; of closed contacts that at the
        end of the step, which obeys the law
    moment : (3,) [N m], of moment_impulse in the same way
    point, normal : (3,) [m], -, inertial axes; the point lies on the first body, of two
        spheres, capsules or hulls in the middle of the gap
    force_normal, force_tangential, force_vector : float, (2,), (3,) [N], components of ``force`` along the normal and
        along t1, t2; the force on the first body in inertial axes
    status : 0 open, 1 sticks, 2 slides, 3 closed without friction; at the end of the step
    impact : 1 if the contact took part in an impact of the step, else 0

    Raises
    ------
    ParameterError
        Coefficients out of range, tables whose speeds do not rise; radius_contensou and spinning_resistance both given;
        friction that is not one number with radius_contensou or tangential_restitution; an `AnisotropicFriction` of a
        contact that has no axis of the surface, or with radius_contensou.

    Notes
    -----
    c is the arm of the pure drilling moment, ∫ r p dA/∫ p dA, of a Hertz pressure p ∝ (1 − r²/R²)^½; other pressures
    have other arms (even: 2R/3, parabolic: 8R/15), to be had by scaling R. The ball is exact in pure sliding and in
    pure drilling, and an approximation between: at fast drilling integration over the Hertz disc gives a sliding
    friction of 3π/8 μ N v/(R ω), the ball 16/(3π) μ N v/(R ω), 1.44 times that.
    Source: Capobianco2021, (49), (157); Leine and Glocker, Eur. J. Mech. A 22 (2003).
    """

    role = "contact"
    convex = False
    gap_slopes: tuple[float, float] | None = None
    room = np.inf
    two_sided: Any = True
    smooth = False
    _surface: Any = None
    plane: Any = None
    has_axes = False
    half_space = False
    of_sphere = False
    everywhere = True
    also_called: dict[str, str] = {}
    where = "the places of both"  # decides, in addition to sizes, whether a contact starts open: for messages

    def __init__(
        self,
        nodes: Any,
        *,
        restitution: Any = 0.0,
        friction: Any = 0.0,
        stribeck_speed: float = 0.0,
        stribeck_exponent: float = 2.0,
        tangential_restitution: float = 0.0,
        rolling_resistance: float = 0.0,
        spinning_resistance: float = 0.0,
        radius_contensou: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(nodes, name=name)
        self.restitution = restitution_of(self, restitution)
        self.tangential_restitution = self.number(
            "tangential_restitution", tangential_restitution, at_least=-1, at_most=1
        )
        self.sliding_law: SpeedLaw | None = None
        self.stribeck_speed = self.positive("stribeck_speed", stribeck_speed, "m/s", allow_zero=True)
        self.stribeck_exponent = self.positive("stribeck_exponent", stribeck_exponent)
        self.ellipse = self._ellipse(friction, radius_contensou)
        if self.ellipse is not None:
            friction = self.ellipse.isotropic
        if is_table(friction):
            self._set_table(friction)
        else:
            message = (
                "must be a number, (static, sliding), pairs (sliding speed [m/s], value), or AnisotropicFriction(…)"
            )
            self.check(not callable(friction) and not isinstance(friction, dict), "friction", friction, message)
            self.static_friction, self.friction = friction_coefficients(self, friction)
            if self.static_friction > self.friction:
                fall = (self.stribeck_speed, self.stribeck_exponent)
                self.sliding_law = StribeckLaw(self.static_friction, self.friction, *fall)
        self.rolling_resistance = self.positive("rolling_resistance", rolling_resistance, "m", allow_zero=True)
        self.spinning_resistance = self.positive("spinning_resistance", spinning_resistance, "m", allow_zero=True)
        self.radius_contensou = self.positive("radius_contensou", radius_contensou, "m", allow_zero=True)
        self.check(
            self.radius_contensou == 0.0 or self.spinning_resistance == 0.0,
            "radius_contensou",
            radius_contensou,
            f"m and spinning_resistance = {self.spinning_resistance:g} m both resist turning about the normal; give "
            "one. Without sliding, radius_contensou acts as a spinning_resistance of 3π/16 μ R",
        )
        message = "is for friction=(static, sliding) with two coefficients that differ; remove it"
        two = self.static_friction > self.friction and not is_table(friction)
        self.check(self.stribeck_speed == 0.0 or two, "stribeck_speed", stribeck_speed, message)
        alone = self.stribeck_exponent != 2.0 and self.stribeck_speed == 0.0
        self.check(not alone, "stribeck_exponent", stribeck_exponent, "is of a stribeck_speed; give that too")
        for what in ("radius_contensou", "tangential_restitution"):
            value = getattr(self, what)
            message = "cannot be combined with friction that depends on sliding: give one coefficient, or remove it"
            self.check(value == 0.0 or not self.two_coefficients, what, value, message)

    @property
    def depends_on_speed(self) -> bool:
        """True if the restitution or sliding friction is a `SpeedLaw`."""
        return isinstance(self.restitution, SpeedLaw) or self.sliding_law is not None

    @property
    def pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """Pieces (k,) of the restitution and of sliding friction, see `fem_mbs.system.speed_pieces`."""
        return pieces_of(self.restitution), pieces_of(self.sliding_law or self.friction)

    def _ellipse(self, friction, radius_contensou):
        """Friction that depends on the direction, checked; None for other laws."""
        if not isinstance(friction, AnisotropicFriction):
            return None
        message = "is for contacts with planes, whose frame has the axis: SphereOnPlane, BoxOnPlane, HullOnPlane, "
        message += "CapsuleOnPlane, EllipsoidOnPlane, RingOnPlane; give one coefficient here"
        self.check(self.has_axes, "friction", friction, message)
        message = "cannot be combined with AnisotropicFriction; give one coefficient, or remove it"
        self.check(radius_contensou == 0.0, "radius_contensou", radius_contensou, message)
        return friction

    @property
    def friction_scale(self) -> tuple[float, float]:
        """Factors of the rows of sliding, see above."""
        return (1.0, 1.0) if self.ellipse is None else self.ellipse.scale

    def plane_axes(self, rotation: np.ndarray) -> np.ndarray:
        """Return t1, t2, n (3, 3), columns, of a plane whose frame has these axes: t1 is the axis of an ellipse."""
        return rotation if self.ellipse is None else self.ellipse.axes_of(rotation)

    def _set_table(self, friction):
        """Set friction by a table of sliding speeds and values."""
        law = self.sliding_law = table_of(self, "friction", friction)
        self.static_friction, self.friction = law(0.0), float(law.points[-1, 1])

    @property
    def passage(self) -> float:
        """Relative travel [m] after which another side is nearer, see above."""
        return 0.0

    @property
    def reach(self) -> float:
        """Largest distance [m] of two points of one surface that can touch, see above."""
        return 0.0

    @property
    def two_coefficients(self) -> bool:
        """True if friction is not one number: static and sliding friction, or a table of sliding speeds."""
        return self.sliding_law is not None

    @property
    def drilling_arm(self) -> float:
        """c = 3π R/16 [m] of the coupled law; 0 without disc or without friction."""
        return 3.0 * np.pi / 16.0 * self.radius_contensou if self.friction > 0.0 else 0.0

    def group_key(self) -> tuple:
        """Return the key of a group: contacts with coupled drilling have one more row and are separate groups."""
        return (*super().group_key(), self.drilling_arm > 0.0)

    @property
    def law(self) -> tuple:
        """(μ, ρ, γ, e_N, e_T, c, μ_s, μ_k), e_N the largest: what solvers read of the contact, with ``pieces``."""
        return (
            self.friction,
            self.rolling_resistance,
            self.spinning_resistance,
            largest(self.restitution),
            self.tangential_restitution,
            self.drilling_arm,
            self.static_friction,
            self.friction,
        )


Contact._inside |= {"two_sided", "smooth", "plane", "sliding_law", "depends_on_speed", "pieces", "has_axes"}
Contact._inside |= {"friction_scale", "plane_axes"}
