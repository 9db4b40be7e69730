"""Sections of shells: one material, or layers of several.

With plane stress in every layer, z from the surface of the centres of mass, angles from the first axis to the fibres:

    A = Σ ∫ Q̄ dz ,   B = Σ ∫ z Q̄ dz ,   D = Σ ∫ z² Q̄ dz ,   S = k Σ ∫ Ḡ dz                                       (1)
    Q_11 = E_1/(1 − ν_12 ν_21), Q_22 = E_2/(…), Q_12 = ν_12 Q_22, Q_66 = G_12 ,   ν_21 = ν_12 E_2/E_1               (2)
    (N, M) = [A, B; B, D] (ε, κ) ,   Q = S γ                                                                        (3)

Source: docs/theory/shells.md, section 2; Reddy, Mechanics of Laminated Composite Plates and Shells, ch. 3.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked, Keywords
from fem_mbs.elements.solids.material import SolidMaterial
from fem_mbs.errors import ParameterError, label

SHEAR_CORRECTION = 5.0 / 6.0


class PlyMaterial(Checked):
    """An orthotropic elastic material of layers: fibres along its first axis.

    Parameters
    ----------
    E1, E2 : float > 0 [Pa]
        Young's moduli along and across the fibres.
    nu12 : float, -
        Poisson's ratio −ε₂/ε₁ of tension along the fibres; |ν₁₂| < √(E₁/E₂).
    G12, G13, G23 : float > 0 [Pa]
        Shear moduli in the layer, and across it along and across the fibres.
    density : float > 0 [kg/m³]
    name : str, optional

    Examples
    --------
    >>> carbon = PlyMaterial(E1=140e9, E2=10e9, nu12=0.3, G12=5e9, G13=5e9, G23=3.5e9, density=1600)
    """

    freezes = True

    def __init__(
        self,
        E1: float,
        E2: float,
        nu12: float,
        G12: float,
        G13: float,
        G23: float,
        density: float,
        *,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.E1, self.E2 = self.positive("E1", E1, "Pa"), self.positive("E2", E2, "Pa")
        self.nu12 = self.number("nu12", nu12)
        most = math.sqrt(self.E1 / self.E2)
        self.check(abs(self.nu12) < most, "nu12", nu12, f"must be between −{most:.6g} and {most:.6g}, √(E1/E2)")
        self.G12, self.G13, self.G23 = (
            self.positive(key, value, "Pa") for key, value in (("G12", G12), ("G13", G13), ("G23", G23))
        )
        self.density = self.positive("density", density, "kg/m³")

    def __repr__(self) -> str:
        return f"{label(self)}: E1={self.E1:g}, E2={self.E2:g}, nu12={self.nu12:g}, density={self.density:g}"

    @property
    def plane_stress(self) -> np.ndarray:
        """Q (3, 3) [Pa] of (2), axes of the material."""
        nu21 = self.nu12 * self.E2 / self.E1
        factor = 1.0 / (1.0 - self.nu12 * nu21)
        Q12 = self.nu12 * self.E2 * factor
        return np.array([[self.E1 * factor, Q12, 0.0], [Q12, self.E2 * factor, 0.0], [0.0, 0.0, self.G12]])

    @property
    def shear(self) -> np.ndarray:
        """G (2, 2) [Pa] across the layer, axes of the material."""
        return np.diag([self.G13, self.G23])


def plane_stress(material: SolidMaterial | PlyMaterial, angle: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Q̄ (3, 3) and Ḡ (2, 2) [Pa] of a material whose axes are turned by an angle [rad] about the normal."""
    if isinstance(material, SolidMaterial):
        E, nu = material.E, material.nu
        Q = E / (1 - nu**2) * np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1 - nu)]])
        return Q, material.mu * np.eye(2)
    c, s = math.cos(angle), math.sin(angle)
    # strains in the axes of the material from those in the axes of the section
    T = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, c * c - s * s]])
    t = np.array([[c, s], [-s, c]])
    return T.T @ material.plane_stress @ T, t.T @ material.shear @ t


class ShellSection(Checked):
    """Section of a shell through its thickness: one material; `ShellSection.layered` for several layers.

    Parameters
    ----------
    material : SolidMaterial or PlyMaterial
        Isotropic with the St. Venant-Kirchhoff law (shells are for small strains), or orthotropic with the fibres along
        the first axis of the section.
    thickness : float > 0 [m]
    shear_correction : float > 0, -
        k of the transverse shear stiffness. 5/6 is that of homogeneous sections; of layers with very different shear
        moduli (sandwiches) it is smaller, or larger for stiff cores.
    name : str, optional

    Attributes
    ----------
    thickness : float [m]
    layers : tuple of (material, thickness [m], angle [rad]), from the bottom (against the normal) to the top
    stiffness : (8, 8)
        From (ε₁₁, ε₂₂, 2ε₁₂, κ₁₁, κ₂₂, 2κ₁₂, γ₁, γ₂) to (N₁₁, N₂₂, N₁₂, M₁₁, M₂₂, M₁₂, Q₁, Q₂) [N/m, N, N/m].
    mass_per_area : float [kg/m²]
    inertia_per_area : float [kg], ∫ ρ z² dz
    bottom, top : float [m], z of the two faces, from the surface of the nodes

    The nodes are on the surface of the centres of mass: in the middle where all layers have one density.

    Raises
    ------
    ParameterError
        Another law; numbers that are not positive.

    Examples
    --------
    >>> steel = SolidMaterial(E=210e9, nu=0.3, density=7850)
    >>> round(ShellSection(steel, 2e-3).mass_per_area, 9)
    15.7
    """

    freezes = True

    def __init__(
        self,
        material: SolidMaterial | PlyMaterial,
        thickness: float,
        *,
        shear_correction: float = SHEAR_CORRECTION,
        name: str | None = None,
    ) -> None:
        self.name = name
        self._build([(material, thickness, 0.0)], shear_correction)

    @classmethod
    @Keywords.known
    def layered(
        cls, layers: Sequence[Any], *, shear_correction: float = SHEAR_CORRECTION, name: str | None = None
    ) -> "ShellSection":
        """A section of layers.

        Parameters
        ----------
        layers : sequence of (material, thickness [m], angle [rad])
            From the bottom (the side that the normal points away from) to the top; the angle from the first axis of the
            section to the fibres, about the normal.
        shear_correction, name : as `ShellSection`

        Examples
        --------
        >>> from math import pi
        >>> carbon = PlyMaterial(140e9, 10e9, 0.3, 5e9, 5e9, 3.5e9, 1600)
        >>> cross = ShellSection.layered([(carbon, 1e-3, angle) for angle in (0, pi / 2, pi / 2, 0)])
        >>> cross.thickness
        0.004
        """
        made = cls.__new__(cls)
        made.name = name
        good = isinstance(layers, (list, tuple)) and layers and all(isinstance(a, (list, tuple)) for a in layers)
        good = bool(good) and all(len(a) == 3 for a in layers)
        made.check(good, "layers", layers, "must be a list of (material, thickness [m], angle [rad])")
        made._build(layers, shear_correction)
        made._made = True
        made._freeze()
        return made

    def _build(self, layers, shear_correction):
        k = self.shear_correction = self.positive("shear_correction", shear_correction, "")
        checked = []
        for material, thickness, angle in layers:
            if not isinstance(material, (SolidMaterial, PlyMaterial)):
                raise ParameterError(self, "material", material, "must be a SolidMaterial or a PlyMaterial")
            if isinstance(material, SolidMaterial) and material.law != "st-venant-kirchhoff":
                message = "is not for shells, whose strains are small: law='st-venant-kirchhoff'"
                raise ParameterError(self, "material", material, message)
            angle = self.number("angle", angle, "rad")
            message = f"is more than a whole turn: in degrees? {math.radians(angle):.6g} rad are {angle:g}°"
            self.check(abs(angle) <= 2 * math.pi, "angle", angle, message)
            checked.append((material, self.positive("thickness", thickness, "m"), angle))
        self.layers = tuple(checked)
        t = np.array([layer[1] for layer in checked])
        density = np.array([layer[0].density for layer in checked])
        self.thickness, self.mass_per_area = float(t.sum()), float(density @ t)
        upper = np.cumsum(t)
        middle = upper - 0.5 * t
        zero = float(density @ (t * middle)) / self.mass_per_area
        middle = middle - zero
        self.bottom, self.top = -zero, self.thickness - zero
        self.inertia_per_area = float(density @ (t * middle**2 + t**3 / 12))
        C = np.zeros((8, 8))
        for (material, h, angle), z in zip(checked, middle):
            Q, G = plane_stress(material, angle)
            C[:3, :3] += h * Q
            C[:3, 3:6] += h * z * Q
            C[3:6, 3:6] += (h * z**2 + h**3 / 12) * Q
            C[6:, 6:] += k * h * G
        if np.abs(C[:3, 3:6]).max() < 1e-12 * self.thickness * np.abs(C[:3, :3]).max():
            C[:3, 3:6] = 0.0  # round-off
        C[3:6, :3] = C[:3, 3:6].T
        self.stiffness = C

    @property
    def mean_shear_stiffness(self) -> float:
        """Mean of A_66 [N/m] over all directions of the axes; A_66 itself of isotropic sections."""
        A = self.stiffness
        return float(A[0, 0] + A[1, 1] - 2 * A[0, 1] + 4 * A[2, 2]) / 8

    @property
    def isotropic(self) -> bool:
        """True if the direction of the first axis does not matter."""
        return all(isinstance(material, SolidMaterial) for material, _, _ in self.layers)

    def levels(self) -> tuple[np.ndarray, np.ndarray]:
        """z (3,) [m] of the bottom, the middle and the top, and Q̄ (3, 3, 3) [Pa] there."""
        z = np.array([self.bottom, 0.5 * (self.bottom + self.top), self.top])
        return z, np.array([plane_stress(*self.layer_at(height))[0] for height in z])

    def layer_at(self, z: float) -> tuple[Any, float]:
        """Material and angle [rad] at height z [m]; at a boundary of two layers the one nearer to the middle."""
        upper = self.bottom
        for material, h, angle in self.layers:
            upper += h
            if z < upper or (z <= upper and z > 0.0):
                return material, angle
        return self.layers[-1][0], self.layers[-1][2]

    def __repr__(self) -> str:
        if len(self.layers) == 1:
            return f"{label(self)}: {self.layers[0][0]!r}, thickness={self.thickness:g}"
        return f"{label(self)}: {len(self.layers)} layers, thickness={self.thickness:g}"
