"""Hertz contact: stiffness, contact ellipse, pressure and stresses of two curved elastic bodies.

Near the point of contact the gap between the undeformed bodies is A x² + B y², 0 < A ≤ B: x and y are the axes of the
contact ellipse. With the curvatures κ (positive: convex) and the angle ω between the x axes of the two bodies

    M = ½ (diag(κ_1x, κ_1y) + R_ω diag(κ_2x, κ_2y) R_ωᵀ),   A, B: its eigenvalues,   A + B = ½ Σκ                   (1)
    σ = (1 − ν1²)/E1 + (1 − ν2²)/E2,   Δ = σ/(A + B)                                                                (2)
    B/A = R_D(0, 1, k²) / R_D(0, k², 1) = (E_e/k² − K_e)/(K_e − E_e),   k = b/a,   parameter m = 1 − k²             (3)
    c_b = (3 k E_e/2π)^⅓,   b = c_b (F Δ)^⅓,   a = b/k,   p0 = 3F/(2πab) = c_σ b/Δ,   c_σ = 1/E_e                   (4)
    F = K δ^{3/2},   K = ( (c_b/c_δ) π/(A + B) Δ^{−2/3} )^{3/2},   c_δ = 3 k K_e/2,   δ = 3 F σ K_e/(2πa)            (5)
    τ_max = c_τ b/Δ,   τ_G max = c_G b/Δ                                                                            (6)
    spinning: M = μ F · ⅜ a E_e                                                                                     (7)

Sources: Sanchez2025, (4.1)-(4.5), after Seely and Smith, who give c_b, c_δ, c_σ, c_τ, c_G, k on a chart; the exact
integrals in their place: docs/theory/hertz.md, (1)-(6). Carlson's R_D in (3) has no singularity at k = 1,
where the second form is 0/0. The tests check (3)-(5) by the displacements they mean and (7) by a quadrature. c_τ and
c_G follow from the stresses of `hertz.stress`; the line limits read on the chart, .30 c_σ and .27 c_σ, differ by 1.4
and 2.3 % from the values at the slender ellipse of the thesis (k = .021). The chart's two
digits move p0 there by 1.7 %: 706 MPa instead of 694.4 MPa.

Hertz assumes smooth bodies without friction, a contact small compared with the radii (`HertzContact.steepness` below
some 0.3) and with the bodies, and elastic behaviour. Ball bearings are at the edge of it, conforming journals beyond.

    symbol       code               unit        meaning
    A, B         A, B               1/m         half the relative principal curvatures
    k            axis_ratio         -           b/a
    K_e, E_e     -                  -           complete elliptic integrals of parameter m
    σ            compliance         1/Pa        1/E* of the literature
    K            stiffness          N/m^{3/2}   F = K δ^{3/2}
    δ            indentation        m           approach of points of the bodies far from the contact
"""

from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FloatOrArray, Named
from fem_mbs.errors import ParameterError, label
from fem_mbs.hertz.line import LineContact, palmgren_indentation
from fem_mbs.hertz.stress import (
    Peak,
    Stress,
    Subsurface,
    material,
    not_negative,
    pair,
    unit_orthogonal_shear,
    unit_peak,
)

__all__ = [
    "ChartCoefficients",
    "HertzContact",
    "LineContact",
    "Peak",
    "Stress",
    "axis_ratio",
    "palmgren_indentation",
    "series_stiffness",
]


class ChartCoefficients(NamedTuple):
    """The numbers that Seely and Smith's chart gives over B/A, see (4)-(6) of the header."""

    c_b: float
    c_delta: float
    c_sigma: float
    c_tau: float
    c_G: float
    k: float


def axis_ratio(B_over_A: float) -> float:
    """Ratio k = b/a of the semi-axes of the contact ellipse, equation (3).

    Parameters
    ----------
    B_over_A : float ≥ 1 [-]

    Examples
    --------
    >>> round(axis_ratio(10.0), 6)
    0.22225
    """
    B_over_A = Named("axis_ratio").number("B_over_A", B_over_A, at_least=1)
    if B_over_A == 1:
        return 1.0
    from scipy.optimize import brentq  # here: SciPy takes a while to import
    from scipy.special import elliprd

    def mismatch(u):
        square = np.exp(2 * u)
        return np.log(elliprd(0, 1, square) / elliprd(0, square, 1)) - np.log(B_over_A)

    # A/B ≤ k ≤ 1; the ends themselves are roots when B/A is within round-off of 1
    low = -np.log(B_over_A)
    if mismatch(low) <= 0:
        return float(np.exp(low))
    return float(np.exp(brentq(mismatch, low, 0.0, xtol=1e-300, rtol=1e-15))) if mismatch(0.0) < 0 else 1.0


def _stiffness(contact):
    return contact.stiffness if isinstance(contact, HertzContact) else contact


def series_stiffness(*contacts: Any) -> float:
    """Stiffness [N/m^{3/2}] of contacts that carry the same force, such as a ball between two races.

    The indentations add up: K = (Σ K_i^{−2/3})^{−3/2}. Takes `HertzContact` objects or stiffnesses.
    """
    return sum(_stiffness(contact) ** (-2 / 3) for contact in contacts) ** -1.5


class HertzContact(Subsurface):
    """Contact of two elastic bodies at a point: sphere, cylinder, torus, groove, plane, in any pair.

    Parameters
    ----------
    radii_1, radii_2 : float or (2,) [m]
        Principal radii of curvature at the contact, along x and y of the body. Positive: convex; **negative: concave**
        (a groove around a ball); ``np.inf``: straight. One number for a sphere, or ``np.inf`` for a plane.
    E : float or (2,) [Pa]
        Young's modulus, of both or of each body; ``np.inf`` for a rigid one.
    nu : float or (2,)
        Poisson's ratio, in (−1, 0.5].
    angle : float [rad]
        From the x axis of body 1 to the x axis of body 2, in the common tangent plane. Default 0: aligned, as for balls
        in races and for wheels on rails; π/2 for crossed cylinders.
    name : str, optional
        Shown in errors.

    Attributes
    ----------
    A, B : float [1/m], half the relative principal curvatures, A ≤ B
    axis_ratio : float, k = b/a
    major_axis_angle : float [rad], from the x axis of body 1 to the major semi-axis a, in (−π/2, π/2]; 0 for a circle
    stiffness : float [N/m^{3/2}], K of F = K δ^{3/2}
    compliance : float [1/Pa], (1 − ν1²)/E1 + (1 − ν2²)/E2

    Raises
    ------
    ParameterError
        If a concave radius is not larger than the convex one in it, or two bodies are straight in one direction (then
        they touch along a line: `LineContact`).

    Notes
    -----
    Equations (1)-(7) of the file's header. Methods take the force as a number or as an array of any shape.

    Examples
    --------
    A steel ball of 20 mm on a steel plate:

    >>> from fem_mbs.hertz import HertzContact
    >>> contact = HertzContact(0.010, np.inf, E=210e9, nu=0.3)
    >>> a, b = contact.semi_axes(100.0)
    >>> print(f"{1e6 * a:.1f} µm, {1e-6 * contact.maximum_pressure(100.0):.0f} MPa")
    186.6 µm, 1371 MPa
    >>> shear = contact.maximum_shear([10.0, 100.0])
    >>> print(np.round(1e-6 * shear.value), "MPa at", np.round(1e6 * shear.depth), "µm")
    [197. 425.] MPa at [42. 90.] µm
    """

    def __init__(
        self,
        radii_1: ArrayLike,
        radii_2: ArrayLike,
        *,
        E: ArrayLike,
        nu: ArrayLike,
        angle: float = 0.0,
        name: str | None = None,
    ) -> None:
        curvatures = []
        for parameter, value in (("radii_1", radii_1), ("radii_2", radii_2)):
            radii = pair(self, parameter, value)
            if any(np.isnan(radius) or radius == 0 for radius in radii):
                raise ParameterError(self, parameter, value, "m must not be 0 or nan; straight is np.inf, concave < 0")
            curvatures.append(tuple(1 / radius for radius in radii))
        self._setup(curvatures[0], curvatures[1], E, nu, angle, name)

    @classmethod
    def from_curvatures(
        cls,
        curvatures_1: ArrayLike,
        curvatures_2: ArrayLike,
        *,
        E: ArrayLike,
        nu: ArrayLike,
        angle: float = 0.0,
        name: str | None = None,
    ) -> "HertzContact":
        """The same from principal curvatures [1/m]: 0 for straight, negative for concave."""
        contact = cls.__new__(cls)
        contact.name = name
        both = [pair(contact, f"curvatures_{i}", c) for i, c in ((1, curvatures_1), (2, curvatures_2))]
        for i, values in enumerate(both, start=1):
            if not np.isfinite(values).all():
                raise ParameterError(contact, f"curvatures_{i}", values, "1/m must be finite")
        contact._setup(both[0], both[1], E, nu, angle, name)
        return contact

    def _setup(self, curvatures_1, curvatures_2, E, nu, angle, name):
        self.name = name
        self.curvatures_1, self.curvatures_2 = curvatures_1, curvatures_2
        self.nu, compliances = material(self, E, nu)
        self.compliance = sum(compliances)
        self.angle = self.number("angle", angle, "rad")
        self.A, self.B, self.major_axis_angle = self._relative_curvatures()
        k = self.axis_ratio = axis_ratio(self.B / self.A)
        from scipy.special import ellipe, ellipkm1

        K_e, self._E_e = float(ellipkm1(k**2)), float(ellipe(1 - k**2))
        self._delta = self.compliance / (self.A + self.B)
        self._c_b, self._c_delta = float(np.cbrt(1.5 * k * self._E_e / np.pi)), 1.5 * k * K_e
        self.stiffness = float((self._c_b / self._c_delta * np.pi / (self.A + self.B) * self._delta ** (-2 / 3)) ** 1.5)

    def _relative_curvatures(self):
        """A, B and the direction of the smaller one, (1)."""
        (p, q), (r, s) = self.curvatures_1, self.curvatures_2
        c2, s2, cs = np.cos(self.angle) ** 2, np.sin(self.angle) ** 2, np.cos(self.angle) * np.sin(self.angle)
        xx, yy, xy = 0.5 * (p + r * c2 + s * s2), 0.5 * (q + r * s2 + s * c2), 0.5 * (r - s) * cs
        # as a sum of products: nothing cancels for convex bodies, so that B/A of nearly parallel cylinders is right
        determinant = 0.25 * (p * q + r * s + p * (r * s2 + s * c2) + q * (r * c2 + s * s2))
        B = max(xx, yy) if xy == 0 else 0.5 * (xx + yy) + np.hypot(0.5 * (xx - yy), xy)
        A = min(xx, yy) if xy == 0 else min(determinant / B, B) if B > 0 else xx + yy - B
        if B > 0 and A == 0:
            message = "1/m, both straight in one direction: they touch along a line; use LineContact"
            raise ParameterError(self, "relative curvatures", np.array([0.0, 2 * B]), message)
        if not A > 0:
            message = (
                "1/m: the smaller one must be > 0, else the bodies do not touch at a point. A concave radius "
                "(negative) must be larger in size than the convex radius in it; is a sign wrong?"
            )
            raise ParameterError(self, "relative curvatures", 2 * np.array([A, B]), message)
        major = 0.0 if xx == yy and xy == 0 else 0.5 * np.arctan2(-2 * xy, yy - xx)
        return float(A), float(B), float(major)

    def __repr__(self):
        return f"{label(self)}(A={self.A:.6g}, B={self.B:.6g}, k={self.axis_ratio:.6g}, K={self.stiffness:.6g})"

    def _force(self, force):
        return not_negative(self, "force", force, "N", "a contact cannot pull")

    def _minor(self, force):
        return self._c_b * np.cbrt(self._force(force) * self._delta)

    def semi_axes(self, force: ArrayLike) -> tuple[FloatOrArray, FloatOrArray]:
        """Semi-axes (a, b) [m] of the contact ellipse, a ≥ b; a circle has the same twice."""
        b = self._minor(force)
        return b / self.axis_ratio, b

    def maximum_pressure(self, force: ArrayLike) -> FloatOrArray:
        """Pressure p0 [Pa] in the middle of the contact; the mean is ⅔ of it."""
        return self._minor(force) / (self._E_e * self._delta)

    def indentation(self, force: ArrayLike) -> FloatOrArray:
        """Approach δ [m] of points far from the contact."""
        return np.cbrt(self._force(force) / self.stiffness) ** 2

    def force(self, indentation: ArrayLike) -> FloatOrArray:
        """Contact force [N] at an indentation [m]; 0 where it is negative (open)."""
        depth = self.as_array("indentation", indentation, finite=False)
        if np.isnan(depth).any():
            raise ParameterError(self, "indentation", depth, "m must be a number")
        return self.stiffness * np.maximum(depth, 0.0) ** 1.5

    def orthogonal_shear(self, force: ArrayLike, *, rolling: str = "b") -> Peak:
        """`Peak` of the shear stress on planes parallel and normal to the surface while the contact rolls over.

        Its amplitude τ_0 (half the range) at depth z_0 is what Lundberg and Palmgren relate fatigue to. It lies ahead
        of the axis and, reversed, behind it.

        Parameters
        ----------
        rolling : "b" or "a"
            Rolling direction: along the minor axis, as balls in races do, or along the major axis.
        """
        self.as_choice("rolling", rolling, ("a", "b"), "must be 'b' (along the minor axis) or 'a'")
        a, b = self.semi_axes(force)
        unit = unit_orthogonal_shear(self.axis_ratio if rolling == "b" else 1 / self.axis_ratio)
        return self._scaled(force, unit, b if rolling == "b" else a)

    def spinning_radius(self, force: ArrayLike) -> FloatOrArray:
        """Length ⅜ a E_e [m], equation (7): times friction and force it is the moment against spinning.

        Times the friction coefficient it is the ``spinning_resistance`` of contact elements, at one force.
        """
        return 0.375 * self._E_e * self.semi_axes(force)[0]

    def steepness(self, force: ArrayLike) -> FloatOrArray:
        """Largest slope of a body's surface inside the contact, semi-axis over radius.

        Hertz takes it as small. Above some 0.3 (conforming bodies) pressure and stiffness lose their meaning.
        """
        along_a, along_b = [], []
        for (x, y), turned in ((self.curvatures_1, 0.0), (self.curvatures_2, self.angle)):
            c2, s2 = np.cos(self.major_axis_angle - turned) ** 2, np.sin(self.major_axis_angle - turned) ** 2
            along_a.append(abs(x * c2 + y * s2))
            along_b.append(abs(x * s2 + y * c2))
        a, b = self.semi_axes(force)
        return np.maximum(a * max(along_a), b * max(along_b))

    def chart(self, *, body: int = 1) -> ChartCoefficients:
        """Coefficients c_b, c_δ, c_σ, c_τ, c_G, k of (3)-(6), as `ChartCoefficients`.

        c_τ and c_G hold for the Poisson's ratio of the body named.
        """
        nu, c_sigma = self._nu(body), 1 / self._E_e
        c_tau, c_G = (c_sigma * unit_peak(self.axis_ratio, nu, what).value for what in ("shear", "octahedral"))
        return ChartCoefficients(self._c_b, self._c_delta, c_sigma, c_tau, c_G, self.axis_ratio)
