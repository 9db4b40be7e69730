"""Fatigue around a raceway: balls that roll over points fixed on a ring, damage of each point, life of the race.

A point at the angle φ on a ring that has turned by θ is loaded when a ball passes, ψ_j − θ = φ: once from zero to the
pressure under that ball and back. The contact is much narrower than the way of a ball in a step, so that passages are
counted, and loads between two saved states are those of a straight line. With u = Z (1 ∓ γ)/2 passages per revolution
(outer, inner race), for which Q_c is the load of a million revolutions,

    D(φ) = Σ_passages (Q/Q_c)³ / (10⁶ u)                        damage in the run of a point φ                       (1)
    L = ( mean over φ of D^{10/9} )^{−9/10}                     life of the race, in runs, 90 % reliability          (2)
    L_both = ( L_i^{−10/9} + L_e^{−10/9} )^{−9/10}                                                                   (3)

(1) is the sum of Palmgren and Miner, (2) the product of the probabilities of survival of all points, by Weibull's
distribution of slope 10/9 as Lundberg and Palmgren use it. A ring that turns under a load has D equal everywhere, and
(2) is the mean of Q³; a ring that stands has D = Q³(φ), and (2) is the mean of Q^{10/3}: both limits are those of
`fem_mbs.bearings.life`, (5). Loads that move in any other way against both rings, oscillations, and slip of the
balls are in between; Q_c is for the races of ISO/TS 16281, also where fewer passages make up a revolution.

D and passages are means over an interval of φ, by the way that balls travel in it.

A single point obeys (1) as the rating does: exponent 3 in the load is 9 in the pressure. The stressed volume, and its
depth, which grow with the load, are in this exponent; an S-N curve of a material has neither, so that `damage` of the
stresses of `raceway_passages` ranks points and loads, but is no rating life.

Source: (2), (3) Lundberg and Palmgren as in ISO/TS 16281; (1) and the division by points: derived here. Tests:
tests/core/bearings/test_raceway.py.

    symbol   code              unit   meaning
    ψ_j, θ   angles, ring_angle rad   of ball and ring about the bearing axis, unwrapped
    Q, Q_c   loads, rating     N      load of a ball, load of a million revolutions, `life` (4)
    γ        geometry.gamma()  -
"""

from typing import NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.bearings.geometry import BearingGeometry
from fem_mbs.bearings.life import race_ratings
from fem_mbs.errors import ParameterError
from fem_mbs.fatigue.rainflow import Cycles
from fem_mbs.hertz import HertzContact
from fem_mbs.jit import kernel

RACES = ("inner", "outer")
WEIBULL_SLOPE = 10 / 9  # of point contacts
STRESSES = ("pressure", "shear", "orthogonal shear")


class RacewayDamage(NamedTuple):
    """Fatigue around one race in a run.

    ``angle`` (n,) [rad], of the points, on the ring, from its x axis; ``passages`` (n,), of loaded balls; ``damage``
    (n,), by (1); ``pressure`` (n,) [Pa], the largest; ``life``, number of such runs that 90 % of races reach, by (2).
    """

    angle: np.ndarray
    passages: np.ndarray
    damage: np.ndarray
    pressure: np.ndarray
    life: float

    @property
    def worst(self) -> float:
        """Angle [rad] of the point of the largest damage."""
        return float(self.angle[self.damage.argmax()])

    def life_with(self, other: "RacewayDamage") -> float:
        """Number of runs that 90 % of bearings reach with both races, by (3)."""
        Named("RacewayDamage").as_instance("other", other, RacewayDamage, "the RacewayDamage of the other race")
        with np.errstate(divide="ignore"):
            rates = np.float64(self.life) ** -WEIBULL_SLOPE + np.float64(other.life) ** -WEIBULL_SLOPE
            return float(rates ** (-1 / WEIBULL_SLOPE))

    def __repr__(self):
        return f"RacewayDamage(life={self.life:.6g} runs, worst at {np.degrees(self.worst):.0f}°)"


class Passages(NamedTuple):
    """Balls that roll over a point fixed on a race, in order of time; each loads it from zero and back to zero.

    ``step`` (n,), number of the state, with its fraction: ``np.interp(step, range(len(t)), t)`` is the time; ``ball``
    (n,); ``load`` (n,) [N]; ``contact``, the `HertzContact` of the race.
    """

    step: np.ndarray
    ball: np.ndarray
    load: np.ndarray
    contact: HertzContact

    @property
    def pressure(self) -> np.ndarray:
        """Largest Hertz pressure (n,) [Pa] of each passage."""
        return np.asarray(self.contact.maximum_pressure(self.load))

    def cycles(self, stress: str = "pressure") -> Cycles:
        """`Cycles` of a stress for `fem_mbs.damage`, a row for each passage.

        Parameters
        ----------
        stress : "pressure", "shear" or "orthogonal shear"
            Pressure on the surface, largest shear stress below it (both from zero), or the shear stress parallel to the
            surface, which changes its sign under a ball: mean zero, range twice `HertzContact.orthogonal_shear`.
        """
        Named("Passages.cycles").as_choice("stress", stress, STRESSES)
        if stress == "orthogonal shear":
            size, mean = 2 * np.asarray(self.contact.orthogonal_shear(self.load).value), 0.0
        else:
            size = self.pressure if stress == "pressure" else np.asarray(self.contact.maximum_shear(self.load).value)
            mean = 0.5
        return Cycles(size, mean * size, np.ones(len(size)))

    def __repr__(self):
        largest = f", up to {self.load.max():.6g} N" if len(self.load) else ""
        return f"Passages({len(self.load)} of loaded balls{largest})"


@kernel
def _spread(loads, places, sums):
    """Add ways, ways × Q³ and the largest load to sums (n, 3) of n intervals; places (k, Z) are in intervals."""
    n = len(sums)
    for i in range(len(loads) - 1):
        for j in range(loads.shape[1]):
            a, b = places[i, j], places[i + 1, j]
            low, high = min(a, b), max(a, b)
            if low == high or max(loads[i, j], loads[i + 1, j]) <= 0.0:
                continue
            slope = (loads[i + 1, j] - loads[i, j]) / (b - a)
            start = low
            while start < high:
                cell = np.floor(start)
                end = min(cell + 1.0, high)
                one, other = loads[i, j] + slope * (start - a), loads[i, j] + slope * (end - a)
                row = int(cell) % n
                sums[row, 0] += end - start
                # integral of the cube of a straight line
                sums[row, 1] += (end - start) * (one + other) * (one * one + other * other) / 4.0
                sums[row, 2] = max(sums[row, 2], one, other)
                start = end


@Keywords.known
def raceway_damage(
    geometry: BearingGeometry,
    loads: ArrayLike,
    angles: ArrayLike,
    *,
    race: str = "outer",
    ring_angle: ArrayLike = 0.0,
    rating: float | None = None,
    points: int = 360,
) -> RacewayDamage:
    """Damage of the points of a race by the balls that rolled over them, and the life of the race.

    Parameters
    ----------
    geometry : BearingGeometry
    loads : (k, Z) ≥ 0 [N]
        Of each ball on this race, over the k saved states.
    angles : (k, Z) [rad]
        Of the balls about the bearing axis, unwrapped: less than half a turn from state to state.
    race : "outer" or "inner"
    ring_angle : float or (k,) [rad]
        Of the ring that has this race, about the same axis and from the same direction, unwrapped. For the inner race
        of a `BearingHistory` its ``ring_angle``. Default: it stands still.
    rating : float [N], optional
        C; default: that of the geometry, or by (1) of `life`.
    points : int ≥ 1
        Equal intervals around the race.

    Returns
    -------
    RacewayDamage

    Raises
    ------
    ParameterError
        No ball moves against the ring: `reference_life` is for states without motion.

    Notes
    -----
    Equations (1)-(3) of the file's header. Without the argument ``turning`` of `reference_life`: the motion of the
    rings is in the angles. The run is one that repeats: it covers all loads in the shares of the service, and enough
    revolutions that each point of a ring that turns meets them.

    Examples
    --------
    Ten revolutions of the cage of a 6205 under 2 kN, the inner ring turns:

    >>> from fem_mbs.bearings.geometry import BearingGeometry
    >>> from fem_mbs.bearings.statics import bearing_equilibrium
    >>> bearing = BearingGeometry.from_designation("6205", clearance=0.0)
    >>> cage = np.linspace(0, 20 * np.pi, 3601)
    >>> states = [bearing_equilibrium(bearing, [2000, 0, 0], cage_angle=a) for a in cage[:361]]
    >>> loads = np.array([states[k % 360].load_inner for k in range(3601)])
    >>> angles = cage[:, None] + states[0].psi
    >>> outer = raceway_damage(bearing, loads, angles)
    >>> inner = raceway_damage(bearing, loads, angles, race="inner", ring_angle=cage * 2 / (1 - bearing.gamma()))
    >>> revolutions = (cage[-1] * 2 / (1 - bearing.gamma())) / (2 * np.pi)
    >>> print(f"{1e-6 * revolutions * outer.life_with(inner):.0f} million revolutions")
    343 million revolutions
    """
    owner, loads, relative = _checked("raceway_damage", geometry, loads, angles, race, ring_angle)
    points = owner.as_integer("points", points)
    sums = np.zeros((points, 3))
    _spread(loads, relative * (points / (2 * np.pi)), sums)
    inner, outer = race_ratings(geometry, rating)
    gamma = float(geometry.gamma()) * (-1 if race == "outer" else 1)
    per_million = 1e6 * geometry.balls * 0.5 * (1 + gamma)
    worn = sums[:, 1] / (outer if race == "outer" else inner) ** 3 / per_million
    with np.errstate(divide="ignore"):
        life = float(np.mean(worn**WEIBULL_SLOPE) ** (-1 / WEIBULL_SLOPE))
    contact = geometry.outer if race == "outer" else geometry.inner
    angle = 2 * np.pi * (np.arange(points) + 0.5) / points
    return RacewayDamage(angle, sums[:, 0], worn, np.asarray(contact.maximum_pressure(sums[:, 2])), life)


@Keywords.known
def raceway_passages(
    geometry: BearingGeometry,
    loads: ArrayLike,
    angles: ArrayLike,
    *,
    at: float,
    race: str = "outer",
    ring_angle: ArrayLike = 0.0,
) -> Passages:
    """Loaded balls that rolled over one point of a race: its history of loads and stresses.

    Parameters
    ----------
    geometry, loads, angles, race, ring_angle : as `raceway_damage`
    at : float [rad]
        Angle of the point on its ring, such as ``worst`` of a `RacewayDamage`.

    Returns
    -------
    Passages
    """
    owner, on_race, relative = _checked("raceway_passages", geometry, loads, angles, race, ring_angle)
    turns = (relative - owner.number("at", at, "rad")) / (2 * np.pi)
    whole = np.floor(turns)
    step, ball = np.nonzero(whole[1:] != whole[:-1])
    first, last = turns[step, ball], turns[step + 1, ball]
    part = (np.maximum(whole[step, ball], whole[step + 1, ball]) - first) / (last - first)
    load = (1 - part) * on_race[step, ball] + part * on_race[step + 1, ball]
    order = np.argsort(step + part, kind="stable")
    order = order[load[order] > 0]
    contact = geometry.outer if race == "outer" else geometry.inner
    return Passages((step + part)[order], ball[order], load[order], contact)


def _checked(function, geometry, loads, angles, race, ring_angle):
    """Owner of messages, loads (k, Z) and angles (k, Z) of the balls relative to the ring."""
    owner = Named(function)
    owner.as_instance("geometry", geometry, BearingGeometry)
    owner.as_choice("race", race, RACES)
    loads, angles = owner.as_array("loads", loads), owner.as_array("angles", angles)
    Z = geometry.balls
    if loads.ndim != 2 or loads.shape[1] != Z or len(loads) < 2:
        message = f"has shape {loads.shape}, must be (k, {Z}): k ≥ 2 states, one load per ball"
        raise ParameterError(owner, "loads", loads, message)
    owner.check((loads >= 0).all(), "loads", loads, "N must be ≥ 0: balls do not pull")
    owner.check(angles.shape == loads.shape, "angles", angles, f"has shape {angles.shape}, must be {loads.shape}")
    ring = owner.as_array("ring_angle", ring_angle, (), (len(loads),))
    relative = angles - (ring if ring.ndim == 0 else ring[:, None])
    way = np.abs(np.diff(relative, axis=0)).max()
    if way >= np.pi:
        message = (
            f"change by up to {way:.3g} rad relative to the ring between two states; less than half a turn is needed. "
            "Save more states, and unwrap angles (np.unwrap)"
        )
        raise ParameterError(owner, "angles", angles, message)
    owner.check(way > 0, "angles", angles, "do not change relative to the ring: nothing passes; use reference_life")
    return owner, loads, relative
