"""Geometry of a single-row ball bearing: dimensions, clearance, contact constants, frequencies, presets.

    A = r_i + r_o − D = (f_i + f_o − 1) D                    distance of the groove curvature centres, ball touching (1)
    P_d = 2A (1 − cos α0)   ⇔   α0 = arccos(1 − P_d/2A)                                                             (2)
    R_go = d_m/2 − (f_o − ½) D c,   R_gi = d_m/2 + (f_i − ½) D c,   c = 1 − P_d/2A                                   (3)
    γ = D cos α0/d_m;   curvatures of the races along the rolling direction  (2/D) γ/(1 − γ), −(2/D) γ/(1 + γ)     (4)
    cage ½ (n_i (1 − γ) + n_o (1 + γ)),   outer pass ½Z (1 − γ)|n_i − n_o|,   inner pass ½Z (1 + γ)|n_i − n_o|,
    ball spin (d_m/2D)(1 − γ²)|n_i − n_o|                                                                           (5)

The groove circles (3) are the loci of the curvature centres of the grooves; c > 1 is interference. P_d is the
*diametral* clearance, the whole play of one ring from stop to stop, which catalogues call radial internal clearance;
the play to one side is P_d/2, the gap of a centred ball at each race P_d/4.

Sources: docs/theory/bearings.md, (1)-(4); Harris, Rolling Bearing Analysis, ch. 2.

    symbol      code                    unit   meaning
    Z, D, d_m   balls, ball_diameter, pitch_diameter
    f_i, f_o    osculation_inner, _outer  -    groove radius over ball diameter
    P_d, α0     clearance, contact_angle m, rad
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import Checked, Keywords, Named
from fem_mbs.errors import ParameterError, label
from fem_mbs.hertz import HertzContact, series_stiffness

# Radial internal clearance of deep groove ball bearings [m]: largest bore of the group [m] -> class -> range.
# ISO 5753-1, bores over 18 to 24 mm and over 24 to 30 mm; the other groups are not tabulated here.
CLEARANCE_CLASSES = {
    0.024: {"C2": (0e-6, 10e-6), "CN": (5e-6, 20e-6), "C3": (13e-6, 28e-6), "C4": (20e-6, 36e-6), "C5": (28e-6, 48e-6)},
    0.030: {"C2": (1e-6, 11e-6), "CN": (5e-6, 20e-6), "C3": (13e-6, 28e-6), "C4": (23e-6, 41e-6), "C5": (30e-6, 53e-6)},
}

_BOUNDARY = "ISO 15 boundary dimensions"
_GROOVES = "assumption of ISO/TS 16281 for grooves that are not known; makers use 0.515 to 0.53"
_COMMON = {"osculation_inner": (0.52, _GROOVES), "osculation_outer": (0.53, _GROOVES)}
# designation -> parameter -> (value, where it comes from)
PRESETS = {
    "6204": {
        "bore": (0.020, _BOUNDARY),
        "outside_diameter": (0.047, _BOUNDARY),
        "width": (0.014, _BOUNDARY),
        "balls": (8, "Sanchez2025, table 4.1 (the bearing is not named there), and public bearing tables"),
        "ball_diameter": (7.938e-3, "Sanchez2025, table 4.1 (ball radius 3.96875 mm), and public bearing tables"),
        "pitch_diameter": (33.5e-3, "mean of bore and outside diameter; Sanchez2025, table 4.1 has 33.49 mm"),
        "dynamic_rating": (12.8e3, "NTN catalogue as quoted publicly; makers with a larger b_m print up to 13.5 kN"),
        "static_rating": (6.6e3, "NTN catalogue as quoted publicly"),
        **_COMMON,
    },
    "6205": {
        "bore": (0.025, _BOUNDARY),
        "outside_diameter": (0.052, _BOUNDARY),
        "width": (0.015, _BOUNDARY),
        "balls": (9, "bearing data of the Case Western Reserve University (SKF 6205-2RS JEM)"),
        "ball_diameter": (7.938e-3, "the same: 0.3126 in, a ball of 5/16 in"),
        "pitch_diameter": (39.04e-3, "the same: 1.537 in"),
        "dynamic_rating": (14.0e3, "NTN catalogue as quoted publicly; makers with a larger b_m print up to 14.8 kN"),
        "static_rating": (7.85e3, "NTN catalogue as quoted publicly"),
        **_COMMON,
    },
    "6305": {
        "bore": (0.025, _BOUNDARY),
        "outside_diameter": (0.062, _BOUNDARY),
        "width": (0.017, _BOUNDARY),
        "balls": (7, "bearing of a public comparison with the code MASTA; medium confidence, other makers differ"),
        "ball_diameter": (11.5e-3, "the same; fits the rating by ISO 281 (11.112 mm gives 21.2 kN)"),
        "pitch_diameter": (43.5e-3, "mean of bore and outside diameter"),
        "dynamic_rating": (22.4e3, "public bearing data file (JIS-type rating); others print up to 23.4 kN"),
        "static_rating": (11.6e3, "public bearing data file"),
        **_COMMON,
    },
}


class PassFrequencies(NamedTuple):
    """Frequencies of a bearing without slip, equation (5), in the unit of the speeds given.

    A defect of the outer (inner) race is hit with ``outer`` (``inner``), one of a ball with 2 ``ball``; the literature
    calls them FTF (``cage``), BPFO, BPFI and BSF.
    """

    cage: float
    outer: float
    inner: float
    ball: float


@Keywords.known
@dataclass(frozen=True, repr=False)
class BearingGeometry(Checked):
    """A single-row deep groove or angular contact ball bearing.

    Parameters
    ----------
    balls : int ≥ 3
    ball_diameter, pitch_diameter : float > 0 [m]
    osculation_inner, osculation_outer : float [-]
        Groove radius over ball diameter, > ½; .52 and .53 where unknown (stiffness and life depend on it).
    clearance : float [m], optional
        **Diametral** internal clearance P_d in operation: mounted, warm. Negative: interference. Default 0.
    contact_angle : float [rad], optional
        Unloaded contact angle α0 of an angular contact bearing, in (0, π/2); gives the clearance by (2). Give one of
        the two.
    E, nu, density : float [Pa], -, [kg/m³]
        Of rings and balls. Bearing steel: 206-210 GPa; 2 % in E is 2 % in stiffness.
    bore, outside_diameter, width : float [m], optional
        For pictures and clearance classes.
    dynamic_rating, static_rating : float [N], optional
        C and C0 of the catalogue, for the life.
    name : str, optional

    Attributes
    ----------
    groove_distance : float [m], A of (1)
    free_angle : float [rad], α0; 0 at interference
    axial_offset : float [m]
        From the plane of the outer groove circle to that of the inner one where displacements are zero: A sin α0 with
        ``contact_angle``, so that the bearing just touches under a thrust on the inner ring along +z; 0 with
        ``clearance``: the rings are in the middle of their axial play.
    groove_circle_inner, groove_circle_outer : float [m], radii (3)
    inner, outer : HertzContact
    stiffness : float [N/m^{3/2}], of a ball between both races, Q = K δ^{3/2}
    ball_mass, ball_inertia : float [kg], [kg m²]
    sources : dict, parameter -> where a preset's number comes from

    Raises
    ------
    ParameterError
        Impossible numbers; balls that overlap; clearance and contact angle both given.

    Examples
    --------
    >>> from fem_mbs.bearings.geometry import BearingGeometry
    >>> bearing = BearingGeometry.from_designation("6205", clearance=10e-6)
    >>> print(f"{bearing.stiffness:.4g} N/m^1.5, α0 = {np.degrees(bearing.free_angle):.2f}°")
    8.609e+09 N/m^1.5, α0 = 9.10°
    >>> print(f"outer race passed {bearing.pass_frequencies(1.0).outer:.4f} times per turn")
    outer race passed 3.5850 times per turn
    """

    balls: int
    ball_diameter: float
    pitch_diameter: float
    osculation_inner: float = 0.52
    osculation_outer: float = 0.53
    clearance: float | None = None
    contact_angle: float | None = None
    E: float = 206e9
    nu: float = 0.3
    density: float = 7800.0
    bore: float | None = None
    outside_diameter: float | None = None
    width: float | None = None
    dynamic_rating: float | None = None
    static_rating: float | None = None
    name: str | None = None
    sources: dict = field(default_factory=dict, repr=False, compare=False)

    if TYPE_CHECKING:  # what follows from the parameters

        def __getattr__(self, name: str) -> Any: ...

    def __post_init__(self):
        Named("BearingGeometry").as_text("name", self.name, optional=True)
        object.__setattr__(self, "balls", self.as_integer("balls", self.balls, 3))
        self.check(self.balls <= 1000, "balls", self.balls, "are more than a bearing holds: 1000 at most")
        self._number("E", "Pa", above=0)
        self._number("nu", above=-1, below=0.5 + 1e-12)
        for parameter, unit in (("ball_diameter", "m"), ("pitch_diameter", "m"), ("density", "kg/m³")):
            self._number(parameter, unit, above=0)
        for parameter in ("bore", "outside_diameter", "width", "dynamic_rating", "static_rating"):
            if getattr(self, parameter) is not None:
                self._number(parameter, "N" if "rating" in parameter else "m", above=0)
        for parameter in ("osculation_inner", "osculation_outer"):
            value = self._number(parameter)
            message = "must lie in (0.5, 1): groove radius over ball diameter; a groove is wider than its ball"
            self._check(0.5 < value < 1.0, parameter, message)
        chord = self.pitch_diameter * np.sin(np.pi / self.balls)
        message = f"m does not fit: {self.balls} balls on this pitch diameter are {chord:.6g} m apart"
        self._check(chord > self.ball_diameter, "ball_diameter", message)
        A = self.groove_distance
        if self.contact_angle is not None:
            angle = self._number("contact_angle")
            self._check(0 < angle < np.pi / 2, "contact_angle", "rad must lie in (0, π/2); is it in degrees?")
            derived = float(2 * A * (1 - np.cos(angle)))
            # the derived clearance itself is let through: dataclasses.replace hands it back
            same = self.clearance is None or abs(self.clearance - derived) <= 1e-12 * A
            self._check(same, "contact_angle", "rad and clearance determine each other, see (2); give one of them")
            object.__setattr__(self, "clearance", derived)
        elif self.clearance is None:
            object.__setattr__(self, "clearance", 0.0)
        message = f"m must be finite and below 2A = {2 * A:.4g} m, in metres: C3 of a small bearing is some 20e-6"
        self._check(abs(self._number("clearance")) < 2 * A, "clearance", message)
        # the offset of the groove circles keeps angle and clearance apart: both describe the same rings
        c, angle = 1 - self.clearance / (2 * A), self.free_angle
        object.__setattr__(self, "axial_offset", 0.0 if self.contact_angle is None else float(A * np.sin(angle)))
        object.__setattr__(self, "groove_circle_inner", self.pitch_diameter / 2 + self.reach_inner * c)
        object.__setattr__(self, "groove_circle_outer", self.pitch_diameter / 2 - self.reach_outer * c)
        D, gamma = self.ball_diameter, self.gamma()
        for race, f, curvature in (
            ("inner", self.osculation_inner, 2 / D * gamma / (1 - gamma)),
            ("outer", self.osculation_outer, -2 / D * gamma / (1 + gamma)),
        ):
            title = f"{race} race" + (f" of {self.name}" if self.name else "")
            contact = HertzContact.from_curvatures(2 / D, (-1 / (f * D), curvature), E=self.E, nu=self.nu, name=title)
            object.__setattr__(self, race, contact)
        object.__setattr__(self, "stiffness", float(series_stiffness(self.inner, self.outer)))
        mass = self.density * np.pi / 6 * D**3
        object.__setattr__(self, "ball_mass", float(mass))
        object.__setattr__(self, "ball_inertia", float(mass * D**2 / 10))

    @classmethod
    @Keywords.known
    def from_designation(cls, designation: str, *, clearance: Any = "CN", **numbers: Any) -> "BearingGeometry":
        """A representative bearing by its designation: 6204, 6205, 6305.

        Boundary dimensions are standardised, **internal dimensions are not**: they differ between makers and years.
        ``bearing.sources`` says where each number comes from; any of them may be replaced.

        Parameters
        ----------
        designation : str
            For example "6205".
        clearance : str or float [m]
            Class of ISO 5753-1 ("C2", "CN", "C3", "C4", "C5": the middle of its range), or the diametral clearance in
            operation. Fits and temperature make the mounted clearance smaller than the class.
        **numbers
            Replace numbers of the preset: ``osculation_inner=0.515``.
        """
        text = str(designation).strip()
        if text not in PRESETS:
            owner = Named("BearingGeometry", text)
            message = (
                f"is not among {', '.join(PRESETS)}: internal dimensions are not standardised, and only these have "
                "published ones. Give balls, ball_diameter, pitch_diameter … to BearingGeometry"
            )
            raise ParameterError(owner, "designation", designation, message)
        preset = PRESETS[text]
        values = {parameter: value for parameter, (value, _) in preset.items()} | {"name": text} | numbers
        sources = {parameter: "given" if parameter in numbers else source for parameter, (_, source) in preset.items()}
        if values.get("contact_angle") is None:
            if isinstance(clearance, str):
                low, high = clearance_class(clearance, values["bore"], name=text)
                values["clearance"] = 0.5 * (low + high)
                sources["clearance"] = f"ISO 5753-1, {clearance}: middle of {1e6 * low:.0f} to {1e6 * high:.0f} µm"
            else:
                values["clearance"], sources["clearance"] = clearance, "given"
        return cls(**values, sources=sources)

    def _check(self, condition, parameter, message):
        self.check(condition, parameter, getattr(self, parameter), message)

    def _number(self, parameter, unit="", **bounds):
        """A parameter as a float within bounds, which it becomes."""
        value = self.number(parameter, getattr(self, parameter), unit, **bounds)
        object.__setattr__(self, parameter, value)
        return value

    @property
    def groove_distance(self) -> float:
        """A = (f_i + f_o − 1) D [m], (1)."""
        return (self.osculation_inner + self.osculation_outer - 1) * self.ball_diameter

    @property
    def reach_inner(self) -> float:
        """(f_i − ½) D [m]: ball centre to the centre of the inner groove when they just touch."""
        return (self.osculation_inner - 0.5) * self.ball_diameter

    @property
    def reach_outer(self) -> float:
        """(f_o − ½) D [m]: ball centre to the centre of the outer groove when they just touch."""
        return (self.osculation_outer - 0.5) * self.ball_diameter

    @property
    def free_angle(self) -> float:
        """Unloaded contact angle α0 [rad], (2)."""
        clearance: Any = self.clearance  # by now it has a value, see `__post_init__`
        return float(np.arccos(min(1.0, 1 - clearance / (2 * self.groove_distance))))

    def gamma(self, angle: float | None = None) -> float:
        """γ = D cos α/d_m [-] at a contact angle [rad].

        By default at the nominal one: ``contact_angle``, or 0 for a bearing given by its clearance.
        """
        if angle is None:
            angle = 0.0 if self.contact_angle is None else self.contact_angle
        else:
            angle = self.number("angle", angle, "rad")
        return self.ball_diameter * np.cos(angle) / self.pitch_diameter

    def pass_frequencies(
        self, inner_speed: float, outer_speed: float = 0.0, *, contact_angle: float | None = None
    ) -> PassFrequencies:
        """`PassFrequencies` (5) of speeds of the rings in any unit: Hz, rad/s, or 1.0 for multiples of the speed.

        Without slip, and with one contact angle [rad] at both races (default: the nominal one).
        """
        inner_speed = self.number("inner_speed", inner_speed)
        outer_speed = self.number("outer_speed", outer_speed)
        g, relative = float(self.gamma(contact_angle)), abs(inner_speed - outer_speed)
        return PassFrequencies(
            cage=0.5 * (inner_speed * (1 - g) + outer_speed * (1 + g)),
            outer=0.5 * self.balls * (1 - g) * relative,
            inner=0.5 * self.balls * (1 + g) * relative,
            ball=self.pitch_diameter / (2 * self.ball_diameter) * (1 - g**2) * relative,
        )


def clearance_class(name_of_class: str, bore: float, *, name: str | None = None) -> tuple[float, float]:
    """Range (low, high) [m] of the diametral clearance of a class of ISO 5753-1, deep groove bearings of a bore [m].

    Raises
    ------
    ParameterError
        Unknown class, or a bore that is not tabulated here (over 18 to 30 mm are).

    Examples
    --------
    >>> low, high = clearance_class("C3", 0.025)
    >>> print(f"{1e6 * low:.0f} to {1e6 * high:.0f} µm")
    13 to 28 µm
    """
    owner = Named("BearingGeometry", name)
    bore = owner.positive("bore", bore, "m")
    limits = [limit for limit in sorted(CLEARANCE_CLASSES) if bore <= limit]
    if not (0.018 < bore and limits):
        message = "m: clearance classes are tabulated for bores over 18 to 30 mm; give the clearance itself, in m"
        raise ParameterError(owner, "bore", bore, message)
    classes = CLEARANCE_CLASSES[limits[0]]
    if name_of_class not in classes:
        message = f"is not a class of {label(owner)}: {', '.join(classes)}, or a number in m"
        raise ParameterError(owner, "clearance", name_of_class, message)
    return classes[name_of_class]
