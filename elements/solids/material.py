"""Isotropic elastic materials of solids.

    λ = E ν/((1 + ν)(1 − 2ν)) ,   μ = E/(2 (1 + ν))                                                                (1)

Source: docs/theory/solids.md, section 1.
"""

from fem_mbs.arguments.checked import Checked
from fem_mbs.elements.solids.kernels import NEO_HOOKE, ST_VENANT_KIRCHHOFF
from fem_mbs.errors import label

LAWS = {"st-venant-kirchhoff": ST_VENANT_KIRCHHOFF, "neo-hookean": NEO_HOOKE}


class SolidMaterial(Checked):
    """An isotropic elastic material for solid elements.

    Parameters
    ----------
    E : float > 0 [Pa]
        Young's modulus.
    nu : float, −1 < ν < 0.5, -
        Poisson's ratio. Near 0.5 plain elements lock: see the table in docs/theory/solids.
    density : float > 0 [kg/m³]
    law : {"st-venant-kirchhoff", "neo-hookean"}
        St. Venant-Kirchhoff for large rotations and strains below 10 %: it softens in compression, loses stability
        there, and permits inverted elements. Compressible neo-Hookean for larger strains. Both are the same for
        small ones.
    name : str, optional

    Attributes
    ----------
    lam, mu : float [Pa], Lamé's constants

    Raises
    ------
    ParameterError
        A number out of range; an unknown law.

    Examples
    --------
    >>> rubber = SolidMaterial(E=2e6, nu=0.45, density=1100, law="neo-hookean")
    """

    freezes = True

    def __init__(
        self, E: float, nu: float, density: float, *, law: str = "st-venant-kirchhoff", name: str | None = None
    ) -> None:
        self.name = name
        self.E = self.positive("E", E, "Pa")
        self.nu = self.number("nu", nu, above=-1, below=0.5)
        self.density = self.positive("density", density, "kg/m³")
        self.law = self.as_choice("law", law, tuple(LAWS))

    @property
    def lam(self) -> float:
        return self.E * self.nu / ((1 + self.nu) * (1 - 2 * self.nu))

    @property
    def mu(self) -> float:
        return self.E / (2 * (1 + self.nu))

    def __repr__(self) -> str:
        return f"{label(self)}(E={self.E:g}, nu={self.nu:g}, density={self.density:g}, law={self.law!r})"
