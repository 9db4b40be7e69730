"""Line contact: two parallel cylinders, plane strain.

    1/R' = 1/R1 + 1/R2 (concave: negative),   σ = σ1 + σ2,   σ_i = (1 − ν_i²)/E_i,   w = F/L                        (1)
    b = √(4 w R' σ/π),   p0 = 2w/(πb)                                                                               (2)
    δ = Σ_i (w σ_i/π) (2 ln(2 d_i/b) + c_i)                                                                         (3)
    F(δ):  δ = C w (Λ − ln w),   C = σ/π   ⇒   ln w = Λ + W₋₁(−δ e^{−Λ}/C),   W: Lambert's function                  (4)

The approach of a line contact is not local: it grows with the logarithm of the distance of the point it is measured to,
so that this point has to be named. For each body one of

    convex        its axis, in a solid cylinder pressed from the opposite side by the same force:  d = 2R, c = −1
    depth given   a point that deep in a half space, depth ≫ b:        d = depth,  c = −ν/(1 − ν)
    concave       as convex, with |R|: a point some 1.5 |R| deep in the ring for ν = .3; a convention

A flat body (R = ∞) needs a depth, a rigid one adds nothing. (3) is derived here. Depth: the strain ((1 − ν²) σ_z −
ν(1 + ν) σ_y)/E under the Hertz pressure integrates to (w/πE) (1 + ν) (2(1 − ν) asinh D − 2ν (D√(1 + D²) − D²)), D =
depth/b, of which (3) is the limit of large D. Solid cylinder: add the line force on the opposite side and the tension
w/(πR) that frees the circumference. For R1 ≈ R2 inside each other (3) becomes the δ = (wσ/π)(ln(4πΔR/(wσ)) − 1) known
from clearance joints (Johnson; docs/theory/hertz.md, (13)). The other two laws in use there: `palmgren_indentation`,
an empirical fit for steel rollers, and the "sphere-type" K = 4/(3σ) √(R1 R2/c), which is a `HertzContact` of a sphere
in a spherical socket.

    symbol   code          unit   meaning
    w        -             N/m    force per length
    b        half_width    m      half the width of the contact
    d_i, c_i reference     m, -   distance of the reference point, constant
"""

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FloatOrArray, Named
from fem_mbs.errors import ParameterError, label
from fem_mbs.hertz.stress import Peak, Subsurface, material, not_negative, pair, unit_orthogonal_shear


def palmgren_indentation(force: ArrayLike, length: ArrayLike) -> FloatOrArray:
    """Palmgren's fit of the indentation [m] of a steel roller on a race: 3.84e-5 F^0.9/L^0.8 in N and mm.

    Independent of the radii; F ∝ δ^{10/9}. For other materials and for large rollers take `LineContact.indentation`.
    The constants are those the bearing literature quotes; they were not compared with the original.

    Parameters
    ----------
    force : array_like ≥ 0 [N]
    length : float > 0 [m]
    """
    owner = Named("palmgren_indentation")
    force = not_negative(owner, "force", force, "N", "a contact cannot pull")
    return 1e-3 * 3.84e-5 * force**0.9 / (1e3 * owner.as_array("length", length)) ** 0.8


class LineContact(Subsurface):
    """Contact of two parallel cylinders along a line, or of a cylinder with a plane.

    Parameters
    ----------
    radius_1, radius_2 : float [m]
        Positive: convex; **negative: concave** (the race outside a roller); ``np.inf``: plane.
    length : float [m]
        Of the contact. The ends are not modelled: the load per length is constant.
    E, nu : float or (2,) [Pa], [-]
        Young's modulus (``np.inf``: rigid) and Poisson's ratio, of both or of each body.
    reference_depth : float or (2,) [m], optional
        Depth in each body of the points between which the indentation is measured; ``np.nan`` for the default of that
        body: the axis of a solid cylinder (convex), the like of it (concave), none (plane: give a depth). Needed by
        ``indentation`` and ``force`` only.
    name : str, optional
        Shown in errors.

    Attributes
    ----------
    radius : float [m], R' with 1/R' = 1/R1 + 1/R2
    compliance : float [1/Pa]
    axis_ratio : 0.0

    Notes
    -----
    Equations (1)-(4) of the file's header. In ``stress`` x is along the line, y across, z into the body.

    Examples
    --------
    >>> from fem_mbs.hertz import LineContact
    >>> rollers = LineContact(0.010, 0.010, length=0.020, E=210e9, nu=0.3)
    >>> print(f"{1e6 * rollers.half_width(2000.0):.2f} µm, {1e-6 * rollers.maximum_pressure(2000.0):.1f} MPa")
    74.28 µm, 857.1 MPa
    """

    axis_ratio = 0.0

    def __init__(
        self,
        radius_1: float,
        radius_2: float,
        *,
        length: float,
        E: ArrayLike,
        nu: ArrayLike,
        reference_depth: ArrayLike = np.nan,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.radii = tuple(
            float(self.as_array(f"radius_{i}", radius, (), finite=False))
            for i, radius in enumerate((radius_1, radius_2), start=1)
        )
        for i, radius in enumerate(self.radii, start=1):
            if np.isnan(radius) or radius == 0:
                raise ParameterError(self, f"radius_{i}", radius, "m must not be 0 or nan; a plane is np.inf")
        curvature = 1 / self.radii[0] + 1 / self.radii[1]
        if not curvature > 0:
            message = "m: 1/R1 + 1/R2 must be > 0: a concave radius (negative) must be larger in size than the other"
            raise ParameterError(self, "radii", self.radii, message)
        self.length = self.positive("length", length, "m")
        self.radius = 1 / curvature
        self.nu, self._compliances = material(self, E, nu)
        self.compliance = sum(self._compliances)
        self.reference_depth = pair(self, "reference_depth", reference_depth)
        if any(depth <= 0 or np.isinf(depth) for depth in self.reference_depth):
            raise ParameterError(self, "reference_depth", reference_depth, "m must be finite and > 0, or nan: default")

    def __repr__(self):
        return f"{label(self)}(R'={self.radius:.6g}, length={self.length:.6g}, compliance={self.compliance:.6g})"

    def _load(self, force):
        return not_negative(self, "force", force, "N", "a contact cannot pull") / self.length

    def half_width(self, force: ArrayLike) -> FloatOrArray:
        """Half the width b [m] of the contact, (2)."""
        return np.sqrt(4 / np.pi * self._load(force) * self.radius * self.compliance)

    _minor = half_width

    def maximum_pressure(self, force: ArrayLike) -> FloatOrArray:
        """Pressure p0 [Pa] in the middle; the mean is π/4 of it."""
        return np.sqrt(self._load(force) / (np.pi * self.radius * self.compliance))

    def orthogonal_shear(self, force: ArrayLike) -> Peak:
        """`Peak` of the shear stress on planes parallel and normal to the surface while it rolls: p0/4 at depth b/2."""
        return self._scaled(force, unit_orthogonal_shear(0.0), self.half_width(force))

    def steepness(self, force: ArrayLike) -> FloatOrArray:
        """Half width over the smaller radius; Hertz takes it as small, above some 0.3 it fails."""
        return self.half_width(force) / min(map(abs, self.radii))

    def _level(self):
        """Λ of (4): δ = C w (Λ − ln w), with w in N/m."""
        level = 0.0
        for i, (radius, depth, nu, sigma) in enumerate(
            zip(self.radii, self.reference_depth, self.nu, self._compliances), start=1
        ):
            if sigma == 0:
                continue
            if np.isnan(depth) and np.isinf(radius):
                message = (
                    f"for body {i}, a plane: the indentation of a line contact grows without bound with the distance "
                    "of the point it is measured to; give the depth of that point"
                )
                raise ParameterError(self, "reference_depth", self.reference_depth, message)
            d, c = (2 * abs(radius), -1.0) if np.isnan(depth) else (depth, -nu / (1 - nu))
            level += sigma / self.compliance * (np.log(np.pi * d**2 / (self.radius * self.compliance)) + c)
        return level

    def indentation(self, force: ArrayLike) -> FloatOrArray:
        """Approach δ [m] of the reference points of the bodies, (3)."""
        w, level = self._load(force), self._level()
        return self.compliance / np.pi * w * (level - np.log(np.where(w > 0, w, 1.0)))

    def force(self, indentation: ArrayLike) -> FloatOrArray:
        """Contact force [N] at an indentation [m], (4); 0 where it is negative (open).

        Raises
        ------
        ParameterError
            If the indentation exceeds the maximum of (3), where the contact would be as wide as the bodies.
        """
        from scipy.special import lambertw  # here: SciPy takes a while to import

        depth, level = self.as_array("indentation", indentation, finite=False), self._level()
        argument = -np.maximum(depth, 0.0) * np.pi / self.compliance * np.exp(-level)
        if not (argument >= -np.exp(-1.0)).all():
            largest = self.compliance / np.pi * np.exp(level - 1)
            message = f"m must be at most {largest:.3g} m: there the contact is as wide as the bodies"
            raise ParameterError(self, "indentation", depth, message)
        # w = e^Λ e^W, and e^W = argument/W keeps its digits at small arguments
        W = lambertw(np.where(argument < 0, argument, -0.1), -1).real
        return np.where(argument < 0, self.length * np.exp(level) * argument / W, 0.0)[()]
