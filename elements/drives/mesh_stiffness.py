"""Stiffness of involute teeth in mesh: ISO 6336-1 (method B), Weber and Banaschek, and its course over one pitch.

ISO 6336-1, method B, pairs of steel wheels, q' and c' per mm of face width:

    q' = 0.04723 + 0.15551/z_n1 + 0.25791/z_n2 − 0.00635 x_1 − 0.11654 x_1/z_n1 − 0.00193 x_2
         − 0.24188 x_2/z_n2 + 0.00529 x_1² + 0.00182 x_2²   [mm µm/N]                                             (1)
    c' = 0.8 C_R C_B cos β/q' ,  C_B = (1 + 0.5 (1.2 − h_f/m)) (1 − 0.02 (20° − α_n)) ,  c_γ = c' (0.75 ε_α + 0.25)  (2)

Weber and Banaschek, one tooth with the force F' per width at height y_p of the centre line, thickness s(y), angle α' of
the force against the normal of the centre line, in the direction of the force:

    bending     F' cos²α' (1−ν²)/E { 12 ∫ (y_p−y)²/s³ dy + (2.4/(1−ν) + tan²α') ∫ dy/s }                          (3)
    foundation  F' cos²α' (1−ν²)/E { 18/π (y_p/s_f)² + 2 (1−2ν)/(1−ν) y_p/s_f
                                     + 4.8/π (1 + (1−ν)/2.4 tan²α') }                                             (4)
    contact     F'/π Σ (1−ν²)/E (2 ln(2 t/b_H) − ν/(1−ν)) ,   b_H² = 4 F' ρ/π Σ (1−ν²)/E                          (5)

Source: ISO 6336-1:2019, 9.3; Weber, Banaschek, Formänderung und Profilrücknahme bei gerad- und schrägverzahnten
Rädern, Schriftenreihe Antriebstechnik 11, Vieweg 1953. Teeth end at the root circle without a fillet here.

    symbol      code           unit   meaning
    z_n, x      zn, x          -      teeth of the equivalent spur wheel, profile shift over module
    ξ           xi             m      place of contact on the line of action, from the pitch point
    t           t              m      from the contact to the centre line of the tooth, along the line of action
"""

import itertools
import math

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.arguments.representation import Described

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)  # of the integrals in (3), on [-1, 1]


def involute(angle: float) -> float:
    """inv α = tan α − α."""
    return math.tan(angle) - angle


def involute_angle(value: float) -> float:
    """α [rad] with inv α = value ≥ 0, by Newton's method."""
    angle = min((3.0 * value) ** (1.0 / 3.0), 1.3)
    for _ in range(50):
        step = (involute(angle) - value) / max(math.tan(angle) ** 2, 1e-300)
        angle -= step
        if abs(step) <= 1e-15:
            break
    return angle


class SpurTeeth(Described):
    """Geometry of an external pair of spur wheels in its nominal centre distance.

    Attributes
    ----------
    base : (2,) [m], base radii; tip, root : (2,) [m]
    working_angle : [rad], α_w
    approach, recess : [m], from the pitch point to where contact begins and ends, along the line of action
    base_pitch : [m]
    contact_ratio : ε_α
    """

    @Keywords.known
    def __init__(
        self,
        teeth: ArrayLike,
        module: float,
        *,
        pressure_angle: float = math.radians(20),
        profile_shift: ArrayLike = (0.0, 0.0),
        addendum: float = 1.0,
        dedendum: float = 1.25,
    ) -> None:
        owner = Named("SpurTeeth")
        self.teeth = owner.as_teeth("teeth", teeth)
        owner.check((self.teeth >= 3).all(), "teeth", teeth, "must be at least 3 on both wheels")
        self.module = owner.positive("module", module, "m")
        self.pressure_angle = owner.number("pressure_angle", pressure_angle, "rad", at_least=0.1, at_most=0.8)
        self.shift = owner.as_array("profile_shift", profile_shift, (2,))
        self.addendum = owner.positive("addendum", addendum, "")
        self.dedendum = owner.positive("dedendum", dedendum, "")
        z, m, alpha = self.teeth, self.module, self.pressure_angle
        self.base = 0.5 * m * z * math.cos(alpha)
        value = involute(alpha) + 2.0 * self.shift.sum() / z.sum() * math.tan(alpha)
        owner.check(
            value > 0.0, "profile_shift", profile_shift, "is so negative that the wheels have no centre distance"
        )
        self.working_angle = involute_angle(value)
        self.tip = m * (0.5 * z + self.shift + self.addendum)
        self.root = m * (0.5 * z + self.shift - self.dedendum)
        self.base_pitch = math.pi * m * math.cos(alpha)
        ends = np.sqrt(self.tip**2 - self.base**2) - self.base * math.tan(self.working_angle)
        self.recess, self.approach = (
            float(end) for end in ends
        )  # the tip of wheel 1 ends contact, that of 2 begins it
        self.contact_ratio = float(ends.sum()) / self.base_pitch
        undercut = self.approach > self.base[0] * math.tan(self.working_angle)
        undercut |= self.recess > self.base[1] * math.tan(self.working_angle)
        owner.check(
            self.contact_ratio >= 1.0 and not undercut,
            "teeth",
            teeth,
            f"give a contact ratio of {self.contact_ratio:.3g} with contact "
            f"{'beyond the base circle' if undercut else 'lost between teeth'}; change profile_shift or addendum",
        )


@Keywords.known
def iso_mesh_stiffness(
    teeth: ArrayLike,
    contact_ratio: float,
    width: float,
    *,
    helix_angle: float = 0.0,
    pressure_angle: float = math.radians(20),
    profile_shift: ArrayLike = (0.0, 0.0),
    dedendum: float = 1.2,
    web_factor: float = 1.0,
) -> tuple[float, float]:
    """Stiffness of one pair of teeth, and mean stiffness of the mesh, after ISO 6336-1 (method B), steel on steel.

    Parameters
    ----------
    teeth : (2,)
    contact_ratio : float ≥ 1.2
        Transverse, ε_α; the formula of the mean is for 1.2 and more.
    width : float > 0 [m]
        Face width in common.
    helix_angle, pressure_angle : float [rad]
    profile_shift : (2,), over the module
    dedendum : float, of the basic rack over the module
    web_factor : float, C_R: 1 for solid wheels

    Returns
    -------
    (c' b, c_γ b) : tuple of float [N/m], transverse plane, along the line of action

    Examples
    --------
    >>> single, mean = iso_mesh_stiffness((20, 40), 1.6, 0.02)
    >>> round(single / 1e6), round(mean / 1e6)
    (260, 378)
    """
    owner = Named("iso_mesh_stiffness")
    z, x = owner.as_teeth("teeth", teeth), owner.as_array("profile_shift", profile_shift, (2,))
    owner.number("contact_ratio", contact_ratio, at_least=1.2)
    width = owner.positive("width", width, "m")
    contact_ratio = float(contact_ratio)
    owner.check((z >= 3).all(), "teeth", teeth, "must be at least 3 on both wheels")
    pressure_angle = owner.number("pressure_angle", pressure_angle, "rad", at_least=0.1, at_most=0.8)
    dedendum = owner.number("dedendum", dedendum, at_least=0.5, at_most=2.5)
    web_factor = owner.number("web_factor", web_factor, at_least=0.1, at_most=1.5)
    owner.check((np.abs(x) <= 2.0).all(), "profile_shift", profile_shift, "must be between −2 and 2 modules")
    beta = owner.number("helix_angle", helix_angle, "rad", at_least=-0.8, at_most=0.8)
    base_helix = math.asin(math.sin(beta) * math.cos(pressure_angle))
    zn = z / (math.cos(base_helix) ** 2 * math.cos(beta))
    q = 0.04723 + 0.15551 / zn[0] + 0.25791 / zn[1] - 0.00635 * x[0] - 0.11654 * x[0] / zn[0] - 0.00193 * x[1]
    q += -0.24188 * x[1] / zn[1] + 0.00529 * x[0] ** 2 + 0.00182 * x[1] ** 2
    rack = (1.0 + 0.5 * (1.2 - dedendum)) * (1.0 - 0.02 * (20.0 - math.degrees(pressure_angle)))
    single = 0.8 * web_factor * rack * math.cos(beta) / q * 1e9 * width  # N/(mm µm) = 1e9 N/m per m of width
    return float(single), float(single * (0.75 * contact_ratio + 0.25))


def _count(owner, samples):
    samples = owner.as_integer("samples", samples)
    owner.check(8 <= samples <= 100_000, "samples", samples, "must be between 8 and 100000")
    return samples


def _ramp(t):
    """Smooth step from 0 at t ≤ 0 to 1 at t ≥ 1, with two continuous derivatives."""
    t = np.clip(t, 0.0, 1.0)
    return t**3 * (10.0 - 15.0 * t + 6.0 * t**2)


@Keywords.known
def stepped_stiffness(low: float, high: float, share: float, *, ramp: float = 0.1, samples: int = 256) -> np.ndarray:
    """Course of a mesh stiffness over one pitch: ``high`` in the first ``share`` of it, ``low`` in the rest.

    Parameters
    ----------
    low, high : float > 0 [N/m]
        With one pair of teeth less and more in contact.
    share : float, 0 … 1
        Of the pitch; ε − 1 for contact ratios ε between 1 and 2.
    ramp : float, 0 … 1
        Part of the pitch in which the *compliance* changes between the two, smoothly. With steps that do not land on
        jumps a jump costs an order of accuracy, and makes a parametric resonance wrong by per cents.
    samples : int

    Returns
    -------
    (samples,) [N/m], for the option ``stiffness`` of `GearMesh`; high in the middle of its share at ``share``/2
    """
    owner = Named("stepped_stiffness")
    low, high = owner.positive("low", low, "N/m"), owner.positive("high", high, "N/m")
    share = owner.number("share", share, at_least=0, at_most=1)
    ramp = owner.number("ramp", ramp, at_least=0, at_most=min(share, 1 - share) if 0 < share < 1 else 1)
    samples = _count(owner, samples)
    phase = np.arange(samples) / samples
    # distance into the share, from its nearer end, over one period
    inside = 0.5 * share - np.abs(np.remainder(phase - 0.5 * share + 0.5, 1.0) - 0.5)
    weight = _ramp(inside / ramp + 0.5) if ramp > 0 else (inside >= 0.0).astype(float)
    return 1.0 / (1.0 / low + (1.0 / high - 1.0 / low) * weight)


def _tooth_compliance(pair, wheel, contact, young, poisson):
    """(3) + (4) per force and width, and t of (5), of a tooth of a wheel with contact at ``contact`` [m] from the
    point where the line of action leaves the base circle."""
    z, x = pair.teeth[wheel], pair.shift[wheel]
    base, root = pair.base[wheel], pair.root[wheel]
    half_at_base = (0.5 * math.pi + 2.0 * x * math.tan(pair.pressure_angle)) / z + involute(pair.pressure_angle)
    alpha = math.atan(contact / base)
    load = alpha - (half_at_base - involute(alpha))  # between the force and the normal of the centre line
    y_p = base / math.cos(load) - root
    pieces = sorted({root, min(max(base, root), root + y_p), root + y_p})
    bending, shear = 0.0, 0.0
    for start, end in itertools.pairwise(pieces):
        r = start + 0.5 * (end - start) * (_NODES + 1.0)
        alpha = np.arccos(np.minimum(base / r, 1.0))
        half = half_at_base - (np.tan(alpha) - alpha)
        s = 2.0 * r * np.sin(half)
        w = 0.5 * (end - start) * _WEIGHTS
        bending += w @ ((root + y_p - r) ** 2 / s**3)
        shear += w @ (1.0 / s)
    alpha = math.acos(min(base / root, 1.0))
    s_f = 2.0 * root * math.sin(half_at_base - involute(alpha))
    tangent, nu = math.tan(load) ** 2, poisson
    tooth = 12.0 * bending + (2.4 / (1.0 - nu) + tangent) * shear
    foot = 18.0 / math.pi * (y_p / s_f) ** 2 + 2.0 * (1.0 - 2.0 * nu) / (1.0 - nu) * y_p / s_f
    foot += 4.8 / math.pi * (1.0 + (1.0 - nu) / 2.4 * tangent)
    arm = contact - base * math.tan(load)
    return math.cos(load) ** 2 * (1.0 - nu**2) / young * (tooth + foot), arm


def pair_stiffness(pair: SpurTeeth, xi: float, load: float, young: float = 2.06e11, poisson: float = 0.3) -> float:
    """Stiffness of one pair of teeth per width [N/m²] with contact at ξ [m], (3)-(5); ``load`` is F' [N/m]."""
    reach = pair.base * math.tan(pair.working_angle) + np.array([xi, -xi])
    parts = [_tooth_compliance(pair, wheel, reach[wheel], young, poisson) for wheel in (0, 1)]
    plane = (1.0 - poisson**2) / young
    half_width = math.sqrt(8.0 * load * reach[0] * reach[1] / reach.sum() * plane / math.pi)
    contact = (
        sum(plane * (2.0 * math.log(2.0 * t / half_width) - poisson / (1.0 - poisson)) for _, t in parts) / math.pi
    )
    return 1.0 / (parts[0][0] + parts[1][0] + contact)


@Keywords.known
def tooth_stiffness(
    pair: SpurTeeth,
    width: float,
    *,
    load: float,
    young: float = 2.06e11,
    poisson: float = 0.3,
    ramp: float = 0.1,
    samples: int = 256,
) -> np.ndarray:
    """Mesh stiffness of spur teeth over one pitch after Weber and Banaschek: the sum over the pairs in contact.

    Parameters
    ----------
    pair : SpurTeeth
    width : float > 0 [m]
    load : float > 0 [N]
        Mesh force for which the contact of the flanks, which stiffens with it, is linearised.
    young : float [Pa], poisson : float
    ramp : float > 0
        Part of the pitch in which a pair takes up, or releases, its load; see `stepped_stiffness`.
    samples : int

    Returns
    -------
    (samples,) [N/m], for the option ``stiffness`` of `GearMesh`. Phase 0 is contact of a pair at the pitch point; wheel
    1 drives with flank + as the phase grows.

    Notes
    -----
    Equations (3)-(5) of the file's header. The rims are massive, teeth have no fillet, and no tip relief.
    """
    owner = Named("tooth_stiffness")
    owner.as_instance("pair", pair, SpurTeeth)
    width = owner.positive("width", width, "m")
    per_width = owner.positive("load", load, "N") / width
    young = owner.positive("young", young, "Pa")
    poisson = owner.number("poisson", poisson, at_least=0, at_most=0.5)
    samples = _count(owner, samples)
    ramp = owner.number("ramp", ramp, at_least=0.01, at_most=0.5 * pair.contact_ratio)
    places = np.linspace(-pair.approach, pair.recess, 201)
    course = np.array([pair_stiffness(pair, xi, per_width, young, poisson) for xi in places])
    total = np.zeros(samples)
    reach = math.ceil(pair.contact_ratio) + 1
    for k in range(-reach, reach + 1):
        xi = (np.arange(samples) / samples + k) * pair.base_pitch
        taken = _ramp(np.minimum(xi + pair.approach, pair.recess - xi) / (ramp * pair.base_pitch))
        total += np.interp(xi, places, course) * taken
    return width * total
