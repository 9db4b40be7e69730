"""Cross-sections of beams: flexibility, inertia, outline for drawing, stresses.

Section axes: e₁ along the beam, e₂ and e₃ in the section; I₂ = ∫y₃² dA, I₃ = ∫y₂² dA. Section forces are ordered
(N, Q₂, Q₃, M₁, M₂, M₃), strains (Γ₁, Γ₂, Γ₃, κ₁, κ₂, κ₃), and strain = F · force. Axial strain of a fibre:
Γ₁ + κ₂ y₃ − κ₃ y₂.

    σ₁₁ = N/A + M₂ y₃/I₂ − M₃ y₂/I₃                                  principal axes                                (1)
    rectangle a ≥ b:  J = (ab³/3) [1 − (192/π⁵)(b/a) Σ_{k odd} tanh(kπa/2b)/k⁵]                                   (2)
                      τ_max = (M₁ b/J) [1 − (8/π²) Σ_{k odd} 1/(k² cosh(kπa/2b))]                                 (3)
    reference line moved by d:  ε_section = X ε,  X = [I −d̃; 0 I],  F = X⁻¹ F_s X⁻ᵀ                               (4)

Shear coefficients (shear stiffness k_s G A) after Cowper 1966. Conventions differ between codes and move the third
digit of published tables: ``shear_coefficient`` is always an argument.

Source: docs/theory/beams.md; Timoshenko & Goodier, Theory of Elasticity, §109.
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, Keywords, Named
from fem_mbs.arguments.representation import line
from fem_mbs.errors import ParameterError, label
from fem_mbs.rotations import skew

CIRCLE_POINTS = 24  # corners that draw a circle


def rectangle_torsion(a: float, b: float) -> tuple[float, float]:
    """Torsion constant J [m⁴] of (2) and M₁/τ_max [m³] of (3) of a rectangle with sides a, b [m]."""
    a, b = max(a, b), min(a, b)
    k = np.arange(1, 60, 2)
    x = np.minimum(k * math.pi * a / (2 * b), 300.0)  # beyond: tanh = 1, 1/cosh = 0 to all digits
    J = a * b**3 / 3 * (1 - 192 / math.pi**5 * b / a * np.sum(np.tanh(x) / k**5))
    return J, J / (b * (1 - 8 / math.pi**2 * np.sum(1 / (k**2 * np.cosh(x)))))


class Section(Checked):
    """A cross-section given by its 6×6 matrices; use the helpers below for common shapes.

    Parameters
    ----------
    stiffness, flexibility : (6, 6) or (6,)
        One of the two, order (N, Q₂, Q₃, M₁, M₂, M₃) / (Γ, κ); symmetric positive definite [N, N m, N m²]. Six numbers
        are a diagonal. A flexibility may have zero shear entries (no shear deformation, Bernoulli); the axial and
        bending flexibilities must be positive.
    mass_per_length : float ≥ 0 [kg/m]
    inertia_per_length : (3,) or (3, 3) [kg m]
        ρJ about the mass centre, section axes: (ρI_p, ρI₂, ρI₃) or a full tensor.
    mass_center : (2,) [m]
        (y₂, y₃) of the mass centre, from the line of the beam.
    outline : (k, 2) [m], optional
        Polygon (y₂, y₃) that is drawn and where `stress` is evaluated.
    area, I2, I3, torsion_modulus : float, optional [m², m⁴, m⁴, m³]
        For `stress`: area, second moments about e₂ and e₃ (principal), M₁/τ_max.
    name : str, optional

    Raises
    ------
    ParameterError
        Matrices that are not symmetric positive definite, negative mass, wrong shapes.

    Examples
    --------
    >>> steel = dict(E=210e9, nu=0.3, density=7850)
    >>> round(Section.circle(5e-3, **steel).mass_per_length, 6)
    0.616538
    """

    freezes = True
    area: float | None
    I2: float | None
    I3: float | None
    torsion_modulus: float | None

    def __init__(
        self,
        *,
        stiffness: ArrayLike | None = None,
        flexibility: ArrayLike | None = None,
        mass_per_length: float = 0.0,
        inertia_per_length: ArrayLike = (0.0, 0.0, 0.0),
        mass_center: ArrayLike = (0.0, 0.0),
        outline: ArrayLike | None = None,
        area: float | None = None,
        I2: float | None = None,
        I3: float | None = None,
        torsion_modulus: float | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        if (stiffness is None) == (flexibility is None):
            raise ParameterError(self, "stiffness", stiffness, "give exactly one of stiffness and flexibility")
        if stiffness is not None:
            C = self._matrix("stiffness", stiffness, 6)
            self._definite("stiffness", C)
            self.flexibility = np.linalg.inv(C)
        else:
            self.flexibility = self._matrix("flexibility", flexibility, 6)
            # zero shear flexibility is allowed: shear then follows from bending over the length of an element
            self._definite("flexibility", self.flexibility, but=(1, 2))
        self.flexibility = 0.5 * (self.flexibility + self.flexibility.T)
        self.mass_per_length = self.positive("mass_per_length", mass_per_length, "kg/m", allow_zero=True)
        self.inertia_per_length = self._matrix("inertia_per_length", inertia_per_length, 3)
        moments = np.linalg.eigvalsh(self.inertia_per_length)
        if moments[0] < -1e-12 * max(moments[-1], 1e-300):
            raise ParameterError(self, "inertia_per_length", inertia_per_length, "kg m has negative principal moments")
        self.mass_center = self.as_vector("mass_center", mass_center, 2)
        self.outline = None if outline is None else self.as_array("outline", outline, (None, 2))
        if self.outline is not None and len(self.outline) < 3:
            raise ParameterError(self, "outline", outline, "must be a polygon (k, 2) of at least three corners")
        for name, value, unit in (("area", area, "m²"), ("I2", I2, "m⁴"), ("I3", I3, "m⁴"),
                                  ("torsion_modulus", torsion_modulus, "m³")):  # fmt: skip
            setattr(self, name, None if value is None else self.positive(name, value, unit))
        self.center = np.zeros(2)  # where the section forces of `stress` act, from the line of the beam

    @property
    def stiffness(self) -> np.ndarray:
        """Stiffness matrix (6, 6) [N, N m, N m²], the inverse of ``flexibility``; inf where a shear is rigid."""
        F = self.flexibility
        soft = np.flatnonzero(F.any(axis=1))
        C = np.zeros((6, 6))
        C[np.ix_(soft, soft)] = np.linalg.inv(F[np.ix_(soft, soft)])
        rigid = np.setdiff1d(np.arange(6), soft)
        C[rigid, rigid] = np.inf
        return C

    def _matrix(self, parameter, value, n):
        matrix = self.as_array(parameter, value)
        if matrix.shape == (n,):
            matrix = np.diag(matrix)
        if matrix.shape != (n, n):
            raise ParameterError(self, parameter, value, f"must be a matrix ({n}, {n}) or its diagonal ({n},)")
        if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
            raise ParameterError(self, parameter, value, "is not symmetric")
        return matrix

    def _definite(self, parameter, matrix, but=()):
        diagonal = np.diag(matrix)
        keep = [i for i in range(6) if i not in but or matrix[i].any()]
        scale = np.sqrt(np.abs(diagonal[keep]))
        if (
            not (diagonal[keep] > 0).all()
            or np.linalg.eigvalsh(matrix[np.ix_(keep, keep)] / np.outer(scale, scale))[0] <= 0
        ):
            names = "N, Q2, Q3, M1, M2, M3"
            raise ParameterError(
                self, parameter, diagonal, f"(diagonal; {names}) belongs to no positive definite matrix"
            )

    # --- helpers --------------------------------------------------------------------------------------------------

    @classmethod
    @Keywords.known
    def general(
        cls,
        *,
        EA: float,
        GJ: float,
        EI2: float,
        EI3: float,
        GA2: float = math.inf,
        GA3: float = math.inf,
        rhoA: float = 0.0,
        rhoJ: ArrayLike | None = None,
        rhoI2: float = 0.0,
        rhoI3: float = 0.0,
        **options: Any,
    ) -> "Section":
        """Section from its stiffnesses.

        Parameters
        ----------
        EA, GJ, EI2, EI3 : float > 0 [N, N m²]
            Axial stiffness, torsion stiffness, bending stiffnesses about e₂ and e₃.
        GA2, GA3 : float > 0 [N]
            Shear stiffnesses along e₂ and e₃; infinite (default) gives a beam without shear deformation.
        rhoA : float ≥ 0 [kg/m]
        rhoJ : float or (3,) or (3, 3) [kg m]
            Rotary inertia: about e₁ (a number), or all; default rhoI2 + rhoI3 about e₁.
        rhoI2, rhoI3 : float ≥ 0 [kg m], about e₂ and e₃
        options : of `Section`
        """
        probe = Named(cls.__name__, options.get("name"))
        values = {"EA": EA, "GA2": GA2, "GA3": GA3, "GJ": GJ, "EI2": EI2, "EI3": EI3}
        for key, value in values.items():
            if not (key.startswith("GA") and isinstance(value, float) and value == math.inf):
                values[key] = probe.positive(key, value, "N m²" if key in ("GJ", "EI2", "EI3") else "N")
        rhoI2, rhoI3 = (probe.positive(k, v, "kg m", True) for k, v in (("rhoI2", rhoI2), ("rhoI3", rhoI3)))
        if rhoJ is None or np.size(probe.as_array("rhoJ", rhoJ)) == 1:
            polar = rhoI2 + rhoI3 if rhoJ is None else rhoJ
            rhoJ = [probe.positive("rhoJ", polar, "kg m", allow_zero=True), rhoI2, rhoI3]
        flexibility = [0.0 if v == math.inf else 1.0 / v for v in values.values()]
        return cls(flexibility=flexibility, mass_per_length=rhoA, inertia_per_length=rhoJ, **options)

    @classmethod
    def _homogeneous(cls, E, nu, density, area, I2, I3, J, shear, options):
        probe = Named(cls.__name__, options.get("name"))
        E, density = probe.positive("E", E, "N/m²"), probe.positive("density", density, "kg/m³", allow_zero=True)
        G = E / (2.0 * (1.0 + nu))
        k2, k3 = np.broadcast_to(probe.as_array("shear_coefficient", shear, (), (2,), finite=False), 2)
        for k in (k2, k3):
            if not k > 0:
                raise ParameterError(
                    probe, "shear_coefficient", shear, "must be > 0 (or infinite: no shear deformation)"
                )
        J = probe.positive("torsion_constant", J, "m⁴")
        return cls.general(
            EA=E * area, GA2=k2 * G * area, GA3=k3 * G * area, GJ=G * J, EI2=E * I2, EI3=E * I3,
            rhoA=density * area, rhoJ=(density * (I2 + I3), density * I2, density * I3),
            area=area, I2=I2, I3=I3, **options,
        )  # fmt: skip

    @classmethod
    @Keywords.known
    def circle(
        cls,
        radius: float,
        *,
        E: float,
        nu: float = 0.3,
        density: float = 0.0,
        shear_coefficient: ArrayLike | None = None,
        name: str | None = None,
    ) -> "Section":
        """Full circle.

        Parameters
        ----------
        radius : float > 0 [m]
        E : float > 0 [N/m²], Young's modulus
        nu : float in (−1, 0.5], Poisson's ratio
        density : float ≥ 0 [kg/m³]
        shear_coefficient : float or (2,), optional
            k_s along e₂ and e₃; default 6 (1 + ν)/(7 + 6 ν).
        name : str, optional
        """
        probe = Named(cls.__name__, name)
        nu = _poisson(probe, nu)
        r = probe.positive("radius", radius, "m")
        shear = 6 * (1 + nu) / (7 + 6 * nu) if shear_coefficient is None else shear_coefficient
        I = math.pi * r**4 / 4
        options = {"outline": ring(r), "torsion_modulus": math.pi * r**3 / 2, "name": name}
        return cls._homogeneous(E, nu, density, math.pi * r**2, I, I, 2 * I, shear, options)

    @classmethod
    @Keywords.known
    def tube(
        cls,
        radius_outer: float,
        radius_inner: float,
        *,
        E: float,
        nu: float = 0.3,
        density: float = 0.0,
        shear_coefficient: ArrayLike | None = None,
        name: str | None = None,
    ) -> "Section":
        """Circular tube; parameters as `circle`, default k_s after Cowper for hollow circles."""
        probe = Named(cls.__name__, name)
        nu = _poisson(probe, nu)
        r, q = probe.positive("radius_outer", radius_outer, "m"), probe.positive("radius_inner", radius_inner, "m")
        if q >= r:
            raise ParameterError(probe, "radius_inner", radius_inner, f"m must be below the outer radius {r:.6g} m")
        m2 = (q / r) ** 2
        if shear_coefficient is None:
            shear_coefficient = 6 * (1 + nu) * (1 + m2) ** 2 / ((7 + 6 * nu) * (1 + m2) ** 2 + (20 + 12 * nu) * m2)
        I = math.pi * (r**4 - q**4) / 4
        options = {"outline": ring(r), "torsion_modulus": 2 * I / r, "name": name}
        return cls._homogeneous(E, nu, density, math.pi * (r**2 - q**2), I, I, 2 * I, shear_coefficient, options)

    @classmethod
    @Keywords.known
    def rectangle(
        cls,
        width: float,
        height: float,
        *,
        E: float,
        nu: float = 0.3,
        density: float = 0.0,
        shear_coefficient: ArrayLike | None = None,
        torsion_constant: float | None = None,
        name: str | None = None,
    ) -> "Section":
        """Rectangle, ``width`` along e₂ and ``height`` along e₃.

        Parameters
        ----------
        width, height : float > 0 [m]
        shear_coefficient : float or (2,), optional
            Default 10 (1 + ν)/(12 + 11 ν); 5/6 is the value without Poisson's effect.
        torsion_constant : float > 0, optional [m⁴]
            Default: the exact series (2).
        E, nu, density, name : as `circle`
        """
        probe = Named(cls.__name__, name)
        nu = _poisson(probe, nu)
        w, h = probe.positive("width", width, "m"), probe.positive("height", height, "m")
        shear = 10 * (1 + nu) / (12 + 11 * nu) if shear_coefficient is None else shear_coefficient
        J, modulus = rectangle_torsion(w, h)
        J = J if torsion_constant is None else torsion_constant
        corners = 0.5 * np.array([[-w, -h], [w, -h], [w, h], [-w, h]])
        options = {"outline": corners, "torsion_modulus": modulus, "name": name}
        return cls._homogeneous(E, nu, density, w * h, w * h**3 / 12, h * w**3 / 12, J, shear, options)

    @classmethod
    @Keywords.known
    def ellipse(
        cls,
        radius_2: float,
        radius_3: float,
        *,
        E: float,
        nu: float = 0.3,
        density: float = 0.0,
        shear_coefficient: ArrayLike | None = None,
        name: str | None = None,
    ) -> "Section":
        """Full ellipse with half axes along e₂ and e₃ [m]; parameters as `circle`."""
        probe = Named(cls.__name__, name)
        nu = _poisson(probe, nu)
        a, b = probe.positive("radius_2", radius_2, "m"), probe.positive("radius_3", radius_3, "m")
        shear = 6 * (1 + nu) / (7 + 6 * nu) if shear_coefficient is None else shear_coefficient
        J = math.pi * a**3 * b**3 / (a**2 + b**2)
        options = {"outline": ring(a, b), "torsion_modulus": math.pi * a * b * min(a, b) / 2, "name": name}
        area = math.pi * a * b
        return cls._homogeneous(E, nu, density, area, area * b**2 / 4, area * a**2 / 4, J, shear, options)

    # --- use ------------------------------------------------------------------------------------------------------

    def shifted(self, d2: float, d3: float) -> "Section":
        """The same section with its centre (d2, d3) [m] from the line of the beam, (4); mass and outline move too."""
        other = Section.__new__(Section)
        other.__dict__.update(self.__dict__)
        d = np.array([0.0, self.number("d2", d2, "m"), self.number("d3", d3, "m")])
        inverse = np.block([[np.eye(3), skew(d)], [np.zeros((3, 3)), np.eye(3)]])
        other.__dict__.update(
            flexibility=inverse @ self.flexibility @ inverse.T,
            mass_center=self.mass_center + d[1:],
            center=self.center + d[1:],
            outline=None if self.outline is None else self.outline + d[1:],
        )
        return other

    def stress(self, force: ArrayLike, moment: ArrayLike, points: ArrayLike | None = None) -> tuple:
        """Stresses from section forces, for example ``result["rod"].force_A`` and ``.moment_A``.

        Parameters
        ----------
        force, moment : (…, 3) [N], [N m]
            (N, Q₂, Q₃) and (M₁, M₂, M₃) on the line of the beam, section axes.
        points : (k, 2) [m], optional
            Where, (y₂, y₃); default: the outline.

        Returns
        -------
        normal : (…, k) [N/m²]
            σ₁₁ of (1).
        shear : (…) [N/m²]
            Largest shear stress of torsion, |M₁| / torsion_modulus; that of Q is not included.
        equivalent : (…, k) [N/m²]
            √(σ² + 3τ²), an upper bound where the torsion stress is not at its largest.

        Raises
        ------
        ParameterError
            If the section was made without area, I2, I3, torsion_modulus.
        """
        needed = {name: getattr(self, name) for name in ("area", "I2", "I3", "torsion_modulus")}
        for name, value in needed.items():
            if value is None:
                raise ParameterError(self, name, None, "is needed for stresses; give it to the constructor")
        if points is None:
            self.check(self.outline is not None, "outline", None, "is needed for stresses; give it, or points")
            points = self.outline
        y = self.as_array("points", points, (None, 2)) - self.center
        force, moment = self.as_array("force", force, finite=False), self.as_array("moment", moment, finite=False)
        for parameter, value in (("force", force), ("moment", moment)):
            fits = value.ndim > 0 and value.shape[-1] == 3 and value.shape == force.shape
            self.check(fits, parameter, value, f"has shape {value.shape}, must be (…, 3), the same for both")
        moment = moment - np.cross(np.array([0.0, *self.center]), force)
        N, M1, M2, M3 = force[..., :1], moment[..., 0], moment[..., 1:2], moment[..., 2:3]
        normal = N / needed["area"] + M2 * y[:, 1] / needed["I2"] - M3 * y[:, 0] / needed["I3"]
        shear = np.abs(M1) / needed["torsion_modulus"]
        return normal, shear, np.sqrt(normal**2 + 3 * shear[..., None] ** 2)

    def __repr__(self):
        known = {name: getattr(self, name) for name in ("area", "I2", "I3", "torsion_modulus")}
        return line(label(self), {name: value for name, value in known.items() if value is not None})


def _poisson(owner, nu):
    """Poisson's ratio, checked; round-off above 0.5 is let through."""
    nu = owner.number("nu", nu)
    owner.check(-1.0 < nu < 0.5 + 1e-12, "nu", nu, "must be above −1 and at most 0.5")
    return nu


def ring(a: float, b: float | None = None) -> np.ndarray:
    """Corners (k, 2) of a polygon that draws an ellipse with half axes a, b."""
    t = 2 * math.pi * np.arange(CIRCLE_POINTS) / CIRCLE_POINTS
    return np.column_stack([a * np.cos(t), (a if b is None else b) * np.sin(t)])
