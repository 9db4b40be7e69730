"""Life of ball bearings: rating, equivalent load, basic life (ISO 281), life from ball loads (ISO/TS 16281).

    C = b_m f_c (cos α)^0.7 Z^{2/3} D^1.8   [N, mm; D ≤ 25.4],   b_m = 1.3                                           (1)
    f_c = 38.2 (1 + χ^{10/3})^{−0.3} γ^0.3 (1 − γ)^1.39 (1 + γ)^{−1/3} (2f_i/(2f_i − 1))^0.41,   χ = 1.04 ρ
    ρ = ((1 − γ)/(1 + γ))^1.72 ( f_i (2f_o − 1) / (f_o (2f_i − 1)) )^0.41
    P = X F_r + Y F_a for F_a > e F_r, else F_r;   L10 = (C/P)³ million revolutions                                  (2)
    P_m = (Σ P_k³ N_k / Σ N_k)^{1/3}                          over revolutions N_k, not over time                    (3)
    Q_ci = C/(0.407 Z (cos α)^0.7) (1 + χ^{10/3})^0.3,   Q_ce = C/(0.389 Z (cos α)^0.7) (1 + χ^{−10/3})^0.3,         (4)
    here with χ = 1.044 ρ
    race turning relative to the load:  Q_e = (mean Q³)^{1/3},    standing:  Q_e = (mean Q^{10/3})^{3/10}            (5)
    L_i = (Q_ci/Q_ei)³,   L_e = (Q_ce/Q_ee)³,   L10^{−10/9} = L_i^{−10/9} + L_e^{−10/9}                              (6)

Means in (5) are over all Z balls, unloaded ones included. Loads that vary: a place on a turning race meets all balls
and all times, so that its mean is over both; a place on the standing race meets the loads of one position, which are
averaged over revolutions with exponent 3 as in (3), and the positions then combine with 10/3 (derived here from the
product of survival probabilities; one constant load gives (5)).

(6) includes what (2) does not: clearance, preload, tilt and speed, through the loads of the balls. Without clearance
and under radial load they agree to 2 %. Both are for ordinary bearing steel and lubrication, 90 % reliability; a_ISO
for films and contamination is not here. Peaks of impacts are too short to count as revolutions: judge them by the
pressure (4200 MPa defines the static rating of ball bearings).

Sources: docs/theory/bearings.md, (20)-(24); constants of (1) with 38.2 = .957 × 39.9 (Harris prints 39.9) give
the table of ISO 281 and the ratings of the presets; those of (4) are read in a public implementation of ISO/TS 16281
and give the lives of the code MASTA. Table of X, Y, e: several public sources agree; 40°: a maker's leaflet.

    symbol   code                  unit   meaning
    C, P     rating, load          N      dynamic rating, equivalent load
    Q        load_inner, _outer    N      of each ball on each race
    L        -                     10⁶ revolutions
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FloatOrArray, Keywords, Named
from fem_mbs.arguments.representation import line
from fem_mbs.bearings.geometry import BearingGeometry
from fem_mbs.errors import ParameterError
from fem_mbs.results.results import Results

# F_a/(Z D²) [MPa] -> e, Y of single-row deep groove bearings, X = .56 (ISO 281, table 3)
_DEEP_GROOVE = np.array(
    [
        (0.172, 0.19, 2.30), (0.345, 0.22, 1.99), (0.689, 0.26, 1.71), (1.03, 0.28, 1.55), (1.38, 0.30, 1.45),
        (2.07, 0.34, 1.31), (3.45, 0.38, 1.15), (5.17, 0.42, 1.04), (6.89, 0.44, 1.00),
    ]
)  # fmt: skip
_STEEP_ANGLE, _STEEP = np.radians(40.0), (0.35, 0.57, 1.14)  # X, Y, e
LARGEST_BALL = 25.4e-3  # m, of (1)
TURNING = ("inner", "outer")


class BearingLife(NamedTuple):
    """What `reference_life` finds.

    ``revolutions`` [10⁶], of which 90 % of bearings reach or exceed; ``inner``, ``outer``: of each race alone [10⁶];
    ``load_inner``, ``load_outer`` [N]: equivalent ball loads (5); ``equivalent_load`` [N]: P with the same life by (2).
    """

    revolutions: float
    inner: float
    outer: float
    load_inner: float
    load_outer: float
    equivalent_load: float

    def __repr__(self):
        return line("BearingLife", self._asdict())

    def hours(self, speed: FloatOrArray) -> FloatOrArray:
        """Operating hours at a (mean) speed [rad/s] of one ring relative to the other."""
        return life_hours(self.revolutions, speed)


def _curvature_ratio(geometry, gamma):
    """ρ of (1)."""
    f_i, f_o = geometry.osculation_inner, geometry.osculation_outer
    grooves = f_i * (2 * f_o - 1) / (f_o * (2 * f_i - 1))
    return ((1 - gamma) / (1 + gamma)) ** 1.72 * grooves**0.41


def dynamic_rating(geometry: BearingGeometry, *, b_m: float = 1.3) -> float:
    """Basic dynamic radial load rating C [N] by (1); catalogues deviate from it by up to 7 % (their own b_m).

    Raises
    ------
    ParameterError
        Balls above 25.4 mm.

    Examples
    --------
    >>> from fem_mbs.bearings.geometry import BearingGeometry
    >>> print(f"{dynamic_rating(BearingGeometry.from_designation('6204', osculation_outer=0.52)):.0f} N")
    12795 N
    """
    D, gamma, f_i = geometry.ball_diameter, float(geometry.gamma()), geometry.osculation_inner
    if D > LARGEST_BALL:
        raise ParameterError(geometry, "ball_diameter", D, "m: the formula holds up to 25.4 mm; give the rating")
    cos = gamma * geometry.pitch_diameter / D
    chi = 1.04 * _curvature_ratio(geometry, gamma)
    f_c = 38.2 * (1 + chi ** (10 / 3)) ** -0.3 * gamma**0.3 * (1 - gamma) ** 1.39 / (1 + gamma) ** (1 / 3)
    f_c *= (2 * f_i / (2 * f_i - 1)) ** 0.41
    return b_m * f_c * cos**0.7 * geometry.balls ** (2 / 3) * (1e3 * D) ** 1.8


@Keywords.known
def equivalent_load(geometry: BearingGeometry, radial: ArrayLike, axial: float = 0.0) -> Any:
    """Dynamic equivalent load P [N] of (2).

    Parameters
    ----------
    geometry : BearingGeometry
        A deep groove bearing (given by its clearance), or an angular contact one of 40°.
    radial, axial : array_like [N]
        Their signs do not matter.

    Raises
    ------
    ParameterError
        Other contact angles (their factors are not tabulated here; take `reference_life`).
    """
    owner = Named("equivalent_load")
    owner.as_instance("geometry", geometry, BearingGeometry)
    F_r, F_a = owner.broadcast(radial=radial, axial=axial)
    F_r, F_a = np.abs(F_r), np.abs(F_a)
    if geometry.contact_angle is None:
        relative = F_a / (geometry.balls * (1e3 * geometry.ball_diameter) ** 2)
        e, Y = (np.interp(relative, _DEEP_GROOVE[:, 0], _DEEP_GROOVE[:, k]) for k in (1, 2))
        X = 0.56
    elif abs(geometry.contact_angle - _STEEP_ANGLE) < np.radians(0.5):
        X, Y, e = _STEEP
    else:
        message = "rad: factors are here for deep groove bearings and for 40°; take reference_life, which needs none"
        raise ParameterError(geometry, "contact_angle", geometry.contact_angle, message)
    P = np.where(F_a > e * F_r, X * F_r + Y * F_a, F_r)
    return float(P) if P.ndim == 0 else P


@Keywords.known
def mean_load(loads: ArrayLike, revolutions: ArrayLike, *, exponent: float = 3.0) -> float:
    """Constant load [N] with the life of a spectrum, (3).

    Parameters
    ----------
    loads : (n,) ≥ 0 [N]
    revolutions : (n,) ≥ 0
        Done at each load, in any unit: time times speed, **not** time.

    Examples
    --------
    >>> speed, share = np.array([1500, 1500, 750]), np.array([0.6, 0.3, 0.1])
    >>> print(f"{mean_load([1000, 2500, 4000], speed * share):.3f} N")
    2075.003 N
    """
    owner = Named("mean_load")
    loads, exponent = owner.as_array("loads", loads, (None,)), owner.number("exponent", exponent, above=0, at_most=20)
    weights = _weights(owner, "revolutions", revolutions, loads.shape)
    if not (loads >= 0).all():
        raise ParameterError(owner, "loads", loads, "N must be finite and ≥ 0")
    return float((weights @ loads**exponent) ** (1 / exponent))


@Keywords.known
def basic_life(rating: ArrayLike, load: ArrayLike) -> Any:
    """L10 = (C/P)³ [10⁶ revolutions] of (2); infinite without load."""
    C, P = Named("basic_life").broadcast(rating=rating, load=load)
    with np.errstate(divide="ignore", invalid="ignore"):
        life: Any = (C / P) ** 3
    return float(life) if life.ndim == 0 else life


def life_hours(revolutions: FloatOrArray, speed: FloatOrArray) -> FloatOrArray:
    """Hours that millions of revolutions take at a speed [rad/s]."""
    return 1e6 * revolutions * 2 * np.pi / abs(speed) / 3600


def race_ratings(geometry: BearingGeometry, rating: float | None = None) -> tuple[float, float]:
    """Ball loads (Q_ci, Q_ce) [N] that the races bear for a million revolutions, (4).

    ``rating``: C [N]; default: that of the geometry, or by (1).
    """
    C = rating if rating is not None else geometry.dynamic_rating
    C = dynamic_rating(geometry) if C is None else geometry.positive("rating", C, "N")
    gamma = float(geometry.gamma())
    cos = gamma * geometry.pitch_diameter / geometry.ball_diameter
    chi = 1.044 * _curvature_ratio(geometry, gamma)
    one = C / (geometry.balls * cos**0.7)
    return one / 0.407 * (1 + chi ** (10 / 3)) ** 0.3, one / 0.389 * (1 + chi ** (-10 / 3)) ** 0.3


@Keywords.known
def reference_life(
    geometry: BearingGeometry,
    load_inner: ArrayLike,
    load_outer: ArrayLike | None = None,
    *,
    revolutions: ArrayLike | None = None,
    rating: float | None = None,
    turning: str = "inner",
    angles: ArrayLike | None = None,
    bins: int = 36,
) -> BearingLife:
    """Life from the loads of the balls, (4)-(6): `BearingLife`.

    Parameters
    ----------
    geometry : BearingGeometry
    load_inner, load_outer : (Z,) or (n, Z) [N]
        Of one state, or of n states. Default for the outer race: as the inner one (low speeds).
    revolutions : (n,) ≥ 0, optional
        Done in each state, in any unit; default: equally many.
    rating : float [N], optional
        C; default: that of the geometry, or by (1).
    turning : "inner" or "outer"
        The race that turns **relative to the load**. The load of an unbalance turns with the shaft: then it is the
        outer race, although the shaft turns.
    angles : (n, Z) [rad], optional
        Where the balls were, relative to the standing race: loads are then gathered in ``bins`` positions. Default:
        each ball stays where it is.

    Examples
    --------
    >>> from fem_mbs.bearings.geometry import BearingGeometry
    >>> from fem_mbs.bearings.statics import bearing_equilibrium
    >>> bearing = BearingGeometry.from_designation("6205", clearance=0.0)
    >>> life = reference_life(bearing, bearing_equilibrium(bearing, [2000, 0, 0]).load_inner)
    >>> print(f"{life.revolutions:.0f} million revolutions, {life.hours(1500 * np.pi / 30):.0f} h")
    339 million revolutions, 3766 h
    """
    owner = Named("reference_life")
    owner.as_instance("geometry", geometry, BearingGeometry)
    owner.as_choice("turning", turning, TURNING)
    inner = _loads(geometry, "load_inner", load_inner)
    outer = inner if load_outer is None else _loads(geometry, "load_outer", load_outer)
    if outer.shape != inner.shape:
        raise ParameterError(geometry, "load_outer", outer, f"has shape {outer.shape}, must be {inner.shape}")
    n = len(inner)
    weights = np.full(n, 1 / n) if revolutions is None else _weights(geometry, "revolutions", revolutions, (n,))
    moving, standing = (inner, outer) if turning == "inner" else (outer, inner)
    Q_moving = np.mean(weights @ moving**3) ** (1 / 3)
    at = weights @ standing**3 if angles is None else _binned(geometry, standing, weights, angles, bins)
    Q_standing = np.mean(at ** (10 / 9)) ** 0.3
    Q_ei, Q_ee = (Q_moving, Q_standing) if turning == "inner" else (Q_standing, Q_moving)
    Q_ci, Q_ce = race_ratings(geometry, rating)
    with np.errstate(divide="ignore"):
        L_i, L_e = (np.divide(Q_ci, Q_ei)) ** 3, (np.divide(Q_ce, Q_ee)) ** 3
        L = float((L_i ** (-10 / 9) + L_e ** (-10 / 9)) ** -0.9)
    C = rating if rating is not None else geometry.dynamic_rating
    C = dynamic_rating(geometry) if C is None else C
    return BearingLife(L, float(L_i), float(L_e), float(Q_ei), float(Q_ee), C / L ** (1 / 3))


@Keywords.known
def life_of_run(
    result: Results,
    name: str,
    geometry: BearingGeometry,
    *,
    speed: ArrayLike,
    rating: float | None = None,
    turning: str = "inner",
    start: float = 0.0,
    cage_angle: Callable | None = None,
) -> BearingLife:
    """`reference_life` from the histories of a `QuasiStaticBearing` in the results of a run.

    Revolutions are counted from the speed and the steps; save every step, or equally spaced ones.

    Parameters
    ----------
    result : Results
    name : str
        Of the bearing.
    speed : float or (k,) [rad/s]
        Of one ring relative to the other, at the saved times.
    start : float [s]
        Leave out what was before: the transient of the start.
    cage_angle : callable, optional
        The function of time given to the bearing, when its balls move.
    rating, turning : as `reference_life`
    """
    owner = Named("life_of_run")
    owner.as_instance("result", result, Results, "the Results of a run")
    owner.as_instance("geometry", geometry, BearingGeometry)
    start = owner.number("start", start, "s")
    history, t = result[name], np.asarray(result.t)
    if not hasattr(history, "load_inner"):
        raise ParameterError(owner, "name", name, "is not a QuasiStaticBearing, which has the loads of its balls")
    keep = t >= start
    if keep.sum() < 2:
        raise ParameterError(geometry, "start", start, f"s leaves no steps of a run that ends at {t[-1]:.6g} s")
    speed = np.broadcast_to(owner.as_array("speed", speed, (), t.shape), t.shape)[keep]
    angles = None
    if cage_angle is not None:
        owner.as_function("cage_angle", cage_angle, "the function of time that the bearing has")
        around = 2 * np.pi * np.arange(geometry.balls) / geometry.balls
        angles = np.array([cage_angle(time) for time in t[keep]])[:, None] + around
    revolutions = np.abs(speed) * np.gradient(t[keep])
    return reference_life(
        geometry, history.load_inner[keep], history.load_outer[keep], revolutions=revolutions, rating=rating,
        turning=turning, angles=angles,
    )  # fmt: skip


def _weights(owner, parameter, values, shape):
    weights = owner.as_array(parameter, values)
    if weights.shape != shape:
        raise ParameterError(owner, parameter, values, f"has shape {weights.shape}, must be {shape}: one per state")
    if not ((weights >= 0).all() and weights.sum() > 0):
        raise ParameterError(owner, parameter, values, "must be finite and ≥ 0, not all 0")
    return weights / weights.sum()


def _loads(geometry, parameter, values):
    loads = np.atleast_2d(geometry.as_array(parameter, values))
    if loads.ndim != 2 or loads.shape[1] != geometry.balls:
        message = f"has shape {np.shape(values)}, must be ({geometry.balls},) or (n, {geometry.balls}): one per ball"
        raise ParameterError(geometry, parameter, values, message)
    if not (loads >= 0).all():
        raise ParameterError(geometry, parameter, loads, "N must be finite and ≥ 0")
    return loads


def _binned(geometry, loads, weights, angles, bins):
    """Weighted mean of Q³ at ``bins`` positions: what passes there, times how often relative to Z balls that stay."""
    angles, bins = geometry.as_array("angles", angles), geometry.as_integer("bins", bins)
    if angles.shape != loads.shape:
        raise ParameterError(geometry, "angles", angles, f"has shape {angles.shape}, must be {loads.shape}")
    place = np.floor(np.mod(angles, 2 * np.pi) / (2 * np.pi) * bins).astype(int) % bins
    share = np.broadcast_to(weights[:, None], loads.shape)
    cubes = np.bincount(place.ravel(), (share * loads**3).ravel(), minlength=bins)
    return cubes * bins / geometry.balls
