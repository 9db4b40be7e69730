"""Stresses under a Hertz contact: exact on the axis of symmetry, for every ellipse between circle and line.

The half space z ≥ 0 carries the pressure p = p0 √(1 − x²/a² − y²/b²), a ≥ b. Tension is positive. On x = y = 0:

    α = √(a² + z²),  β = √(b² + z²)
    J_x = ∫ ds / ((a² + s) √((a² + s)(b² + s) s)),  s = z² … ∞       = 2/3 R_D(β², z², α²)                       (1)
    J_y = the same with (b² + s) for the first (a² + s)              = 2/3 R_D(α², z², β²)
    z J_z = 2/(αβ) − z (J_x + J_y)                                                                               (2)
    σ_x = p0 a b ( (1 − ν) z J_x − ν z J_z − (1 − 2ν) / (α (α + β)) )                                            (3)
    σ_y = p0 a b ( (1 − ν) z J_y − ν z J_z − (1 − 2ν) / (β (α + β)) )
    σ_z = −p0 a b / (αβ)

    line contact, x along it, ζ = z/b:                                                                           (4)
    σ_y = −p0 ((1 + 2ζ²)/√(1 + ζ²) − 2ζ),  σ_z = −p0/√(1 + ζ²),  σ_x = ν (σ_y + σ_z)

    τ = (largest − smallest principal stress)/2,  τ_G = ⅓ √((σ_x−σ_y)² + (σ_y−σ_z)² + (σ_z−σ_x)²),  von Mises 3/√2 τ_G

    orthogonal shear τ_cz below the diameter along the rolling direction, c the semi-axis on it, d the other:      (5)
    √((t² − 1)(2t − 1)) = c/d,   τ_0 = p0 √(2t − 1) / (2t (t + 1)),   z_0 = c / ((t + 1) √(2t − 1))

(1)-(3) follow from Love's potentials of a pressed half space: ψ = ∫ p/r is the potential of an ellipsoid collapsed to a
disc, its derivatives on the axis are the J of (1), and the second potential, the integral of ψ over z, adds the
elementary last term. R_D is Carlson's symmetric elliptic integral: no special case for a = b, no division by z. (4) is
plane strain. (5) is Lundberg's and Palmgren's; the shear it is the maximum of, from the same ψ, is (λ, θ: confocal)

    τ_cz = p0 c d √λ sin²θ cosθ / (√(d² + λ) (λ + c² sin²θ)),   z = √λ sinθ,  ahead by √(c² + λ) cosθ            (6)

The tests compare (3) and (5) with a quadrature of Boussinesq's solution, and (3) with a table for ten
ellipses from such a quadrature. All of it: docs/theory/hertz.md, (7)-(11).

    symbol         code                       unit   meaning
    a, b, p0       a, b, p0                   m, Pa  semi-axes a ≥ b along x and y, pressure in the middle
    k              ratio                      -      b/a: 1 circle, 0 line
    ν              nu                         -      Poisson's ratio of the body looked at; the other's does not matter
    τ, τ_G         shear, octahedral          Pa     maximum and octahedral shear stress
    τ_0, z_0       orthogonal_shear           Pa, m  amplitude (half range) of shear under a passing contact, its depth
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, FloatOrArray
from fem_mbs.errors import ParameterError


class Peak(NamedTuple):
    """A largest stress and where it is: value [Pa], depth [m] below the surface."""

    value: FloatOrArray
    depth: FloatOrArray


class Stress(NamedTuple):
    """Principal stresses [Pa] on the axis, tension positive: x along a (or the line), y along b, z into the body."""

    x: FloatOrArray
    y: FloatOrArray
    z: FloatOrArray

    @property
    def shear(self) -> FloatOrArray:
        """Maximum shear stress τ [Pa]: half the difference of the largest and the smallest principal stress."""
        return 0.5 * np.maximum(abs(self.x - self.y), np.maximum(abs(self.y - self.z), abs(self.z - self.x)))

    @property
    def octahedral(self) -> FloatOrArray:
        """Octahedral shear stress τ_G [Pa]."""
        return np.sqrt((self.x - self.y) ** 2 + (self.y - self.z) ** 2 + (self.z - self.x) ** 2) / 3

    @property
    def von_mises(self) -> FloatOrArray:
        """Equivalent stress of von Mises [Pa]."""
        return 3 / np.sqrt(2) * self.octahedral


def unit_stress(ratio: float, nu: float, zeta: ArrayLike) -> Stress:
    """Stresses (3) or, for ratio 0, (4) at depth zeta = z/b, for p0 = 1."""
    from scipy.special import elliprd  # here: SciPy takes a while to import

    zeta = np.asarray(zeta, float)
    if ratio == 0:
        root = np.sqrt(1 + zeta**2)
        # (1 + 2ζ²)/√(1 + ζ²) − 2ζ without its cancellation at depth
        y, z = -1 / (root * (root + zeta) ** 2), -1 / root
        return Stress(nu * (y + z), y, z)
    a = 1 / ratio  # b = 1
    alpha, beta = np.sqrt(a**2 + zeta**2), np.sqrt(1 + zeta**2)
    x = 2 / 3 * zeta * elliprd(beta**2, zeta**2, alpha**2)
    y = 2 / 3 * zeta * elliprd(alpha**2, zeta**2, beta**2)
    z = 2 / (alpha * beta) - x - y
    return Stress(
        a * ((1 - nu) * x - nu * z - (1 - 2 * nu) / (alpha * (alpha + beta))),
        a * ((1 - nu) * y - nu * z - (1 - 2 * nu) / (beta * (alpha + beta))),
        -a / (alpha * beta),
    )


@lru_cache(maxsize=256)
def unit_peak(ratio: float, nu: float, quantity: str) -> Peak:
    """Largest value over depth of a quantity of `Stress`, for p0 = 1 and b = 1.

    The value is exact to round-off, the depth to some 1e-8 (a maximum is flat). For small ν and slender ellipses the
    largest shear stress lies on the surface (depth 0): the stress along a is then far smaller than the other two.
    """
    from scipy.optimize import minimize_scalar

    grid = np.linspace(0.0, 3.0, 301)  # no peak lies deeper than .79 b, whatever k and ν
    values = getattr(unit_stress(ratio, nu, grid), quantity)
    i = int(np.argmax(values))
    best = minimize_scalar(
        lambda zeta: -float(getattr(unit_stress(ratio, nu, zeta), quantity)),
        bounds=(grid[max(i - 1, 0)], grid[i + 1]),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return Peak(-best.fun, best.x) if -best.fun > values[i] else Peak(float(values[i]), float(grid[i]))


@lru_cache(maxsize=256)
def unit_orthogonal_shear(along_over_across: float) -> Peak:
    """Amplitude and depth (5) for p0 = 1 and c = 1; along_over_across = c/d, 0 for a line that rolls sideways."""
    from scipy.optimize import brentq

    square = along_over_across**2
    # u = t − 1 ≥ 0, cubic without cancellation: u (u + 2)(2u + 1) = (c/d)², monotone
    u = brentq(lambda u: u * (u + 2) * (2 * u + 1) - square, 0.0, square, xtol=1e-300, rtol=1e-15) if square else 0.0
    root = np.sqrt(2 * u + 1)
    return Peak(root / (2 * (u + 1) * (u + 2)), 1 / ((u + 2) * root))


class Subsurface(Checked):
    """What point and line contacts share: stresses below the surface.

    A class that has it supplies ``axis_ratio`` (b/a, 0 for a line), ``nu`` (of both bodies),
    ``maximum_pressure(force)`` and ``_minor(force)``, the semi-axis b.
    """

    if TYPE_CHECKING:
        axis_ratio: float
        nu: tuple[float, float]

        def maximum_pressure(self, force: ArrayLike) -> FloatOrArray: ...
        def _minor(self, force: ArrayLike) -> FloatOrArray: ...

    def stress(self, force: ArrayLike, depth: ArrayLike, *, body: int = 1) -> Stress:
        """Principal stresses on the axis of symmetry of the contact.

        Parameters
        ----------
        force : array_like ≥ 0 [N]
        depth : array_like ≥ 0 [m]
            Below the surface; broadcast with the force.
        body : 1 or 2
            The body looked at. Only its Poisson's ratio matters: both carry the same pressure.

        Returns
        -------
        Stress : x, y, z [Pa], and from them ``shear``, ``octahedral``, ``von_mises``
        """
        depth = not_negative(self, "depth", depth, "m", "it is measured from the surface into the body")
        p0, b = self.maximum_pressure(force), self._minor(force)
        zeta = np.divide(depth, b, out=np.zeros(np.broadcast(depth, b).shape), where=np.asarray(b) > 0)
        return Stress(*(p0 * component for component in unit_stress(self.axis_ratio, self._nu(body), zeta)))

    def maximum_shear(self, force: ArrayLike, *, body: int = 1) -> Peak:
        """`Peak` of the maximum shear stress on the axis: value [Pa] and depth [m] (depth 0: on the surface)."""
        return self._scaled(force, unit_peak(self.axis_ratio, self._nu(body), "shear"), self._minor(force))

    def maximum_octahedral_shear(self, force: ArrayLike, *, body: int = 1) -> Peak:
        """`Peak` of the octahedral shear stress on the axis: value [Pa] and depth [m]."""
        return self._scaled(force, unit_peak(self.axis_ratio, self._nu(body), "octahedral"), self._minor(force))

    def maximum_von_mises(self, force: ArrayLike, *, body: int = 1) -> Peak:
        """`Peak` of von Mises' equivalent stress on the axis: value [Pa] and depth [m].

        Yielding begins there when the value reaches the yield stress.
        """
        return self._scaled(force, unit_peak(self.axis_ratio, self._nu(body), "von_mises"), self._minor(force))

    def _scaled(self, force, unit, length):
        return Peak(unit.value * self.maximum_pressure(force), unit.depth * length)

    def _nu(self, body):
        if not isinstance(body, (int, np.integer)) or body not in (1, 2):
            raise ParameterError(self, "body", body, "must be 1 or 2, in the order of the radii")
        return self.nu[body - 1]


def pair(owner: Checked, parameter: str, value: ArrayLike) -> tuple[float, float]:
    """Two floats from one (the same for both) or two."""
    try:
        first, second = np.broadcast_to(owner.as_array(parameter, value, (), (1,), (2,), finite=False), 2)
    except ParameterError as error:
        large = "large" in error.reason
        raise ParameterError(owner, parameter, value, error.reason if large else "must be one number or two") from None
    return float(first), float(second)


def material(owner: Checked, E: ArrayLike, nu: ArrayLike) -> tuple[tuple[float, float], tuple[float, ...]]:
    """Checked Poisson's ratios (ν1, ν2) and compliances ((1 − ν1²)/E1, (1 − ν2²)/E2) [1/Pa]."""
    moduli, ratios = pair(owner, "E", E), pair(owner, "nu", nu)
    if not all(modulus > 0 for modulus in moduli):
        raise ParameterError(owner, "E", E, "Pa must be > 0 (np.inf for a rigid body)")
    if all(np.isinf(moduli)):
        raise ParameterError(owner, "E", E, "Pa: one of the bodies must be elastic")
    if not all(-1 < ratio <= 0.5 for ratio in ratios):
        raise ParameterError(owner, "nu", nu, "must lie in (-1, 0.5]")
    return ratios, tuple((1 - ratio**2) / modulus for ratio, modulus in zip(ratios, moduli))


def not_negative(owner: Checked, parameter: str, value: ArrayLike, unit: str, reason: str) -> np.ndarray:
    """Array of finite numbers ≥ 0, or a ParameterError that gives the reason."""
    numbers = owner.as_array(parameter, value, finite=False)
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise ParameterError(owner, parameter, numbers, f"{unit} must be finite and ≥ 0: {reason}")
    return numbers
