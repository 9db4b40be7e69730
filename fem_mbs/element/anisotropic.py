"""Friction that depends on the direction of sliding: an ellipse in place of Coulomb's disc.

With t₁ the axis of the surface, t₂ across it in the plane, friction λ = (λ₁, λ₂) and sliding velocity v = (v₁, v₂),

    (λ₁/μ₁)² + (λ₂/μ₂)² ≤ λ_N² ;      sliding:  λ = −λ_N M² v/|M v| ,  M = diag(μ₁, μ₂)                              (1)

the principle of maximum dissipation: v is along the normal of the ellipse at −λ, and λ·v = −λ_N |M v| is the largest
dissipation of all forces in it. With μ = max(μ₁, μ₂) and s_i = μ_i/μ ≤ 1, in coordinates

    v'_i = s_i v_i ,   λ_i = s_i λ'_i           then   λ·v = λ'·v' ,   |λ'| ≤ μ λ_N ,  λ' = −μ λ_N v'/|v'|           (2)

the ellipse is a disc again. So the rows of sliding are scaled where they are kept (`fem_mbs.system.contacts`), all laws
and time steppers stay as they are, and what results show is scaled back.

Source: docs/theory/contact_laws.md, (17), (18); the associated rule: Michałowski and Mróz, Arch. Mech. 30 (1978);
maximum dissipation: Goyal, Ruina and Papadopoulos, Wear 143 (1991).
Tests: tests/solvers/contact/test_anisotropic_friction.py, tests/elements/contacts/test_anisotropic_contacts.py.

    symbol    code            shape  unit  meaning
    μ₁, μ₂    along, across   ()     -     or two of each, static and sliding
    s         scale           (2,)   -
    μ         isotropic       ()     -     of (2)
    t₁        axis            (3,)   -     axes of the frame of the plane
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.element.friction_row import friction_coefficients

LEAST_RATIO = 1e-3  # of the smaller coefficient to the larger one
UPRIGHT = 1e-6  # sine of the angle between axis and normal from which the axis counts as the normal
SAME = 1e-9  # relative difference of two ratios that are one


class AnisotropicFriction(Checked):
    """Friction with one coefficient along an axis of a surface and another across it, for contacts with planes.

    Parameters
    ----------
    along, across : float > 0, or (static, sliding), -
        μ₁ along the axis, μ₂ across it. Pairs have the same ratio of μ₂ to μ₁.
    axis : (3,), default [1, 0, 0]
        Direction of the grooves or fibres, in the axes of the frame of the plane, which it moves with. Its part along
        the normal of the plane (z) is left out.

    Attributes
    ----------
    isotropic : float or (static, sliding)
        The larger coefficients, those of the isotropic law in scaled coordinates.
    scale : (2,)
        s of (2), 1 for the larger coefficient.

    Raises
    ------
    ParameterError
        Coefficients that are not positive or differ by more than a factor of 1,000, pairs with different ratios, an
        axis that is zero or along the normal.

    Notes
    -----
    Bounds and directions of friction are those of an ellipse: a sliding body is not braked opposite to its velocity
    but turned towards the axis of the smaller coefficient. Equations (1)-(2) in the header of this file.

    Examples
    --------
    >>> AnisotropicFriction(0.2, 0.5)
    AnisotropicFriction: along=0.2, across=0.5, axis=[1, 0, 0]
    >>> AnisotropicFriction(0.2, 0.5).scale
    (0.4, 1.0)
    """

    def __init__(self, along: Any, across: Any, axis: ArrayLike = (1.0, 0.0, 0.0)) -> None:
        first, second = (friction_coefficients(self, mu, name) for mu, name in ((along, "along"), (across, "across")))
        self.along, self.across = along, across
        cure = f"must be positive: for a direction without friction give {LEAST_RATIO:g} of the other coefficient"
        for name, value, (_, sliding) in (("along", along, first), ("across", across, second)):
            self.check(sliding > 0.0, name, value, cure)
        message = (
            f"(static, sliding) must have the ratio of along = {along}, {first[0] / first[1]:.6g}: static and sliding "
            "friction have ellipses of the same shape"
        )
        self.check(abs(second[0] * first[1] - second[1] * first[0]) <= SAME * second[0] * first[1], "across", across,
                   message)  # fmt: skip
        larger = max(first, second)
        self.scale = first[1] / larger[1], second[1] / larger[1]
        message = f"and along = {along} differ by more than a factor of {1.0 / LEAST_RATIO:g}"
        self.check(min(self.scale) >= LEAST_RATIO, "across", across, message)
        self.isotropic = larger if larger[0] > larger[1] else larger[1]
        self.axis = self.as_vector("axis", axis)
        size, level = np.linalg.norm(self.axis), np.hypot(*self.axis[:2])
        self.check(size > 0.0, "axis", self.axis, "is zero; give a direction in the plane")
        message = "is along the normal of the plane (z axis of its frame); give a direction in the plane"
        self.check(level > UPRIGHT * size, "axis", self.axis, message)

    def axes_of(self, rotation: np.ndarray) -> np.ndarray:
        """Return axes (3, 3) t₁, t₂, n as columns, of a plane whose frame has the axes ``rotation`` (3, 3)."""
        c, s = self.axis[:2] / np.hypot(*self.axis[:2])
        return rotation @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
