"""Constant numbers of beam elements: integrals of shape functions that are made once, at set-up.

Stations are four Gauss points on [0, 1]; they integrate the sixth-degree products of a constant section exactly.

Two nodes: cubic Hermite fields for the places (y_A, t_A, y_B, t_B), linear ones for spins.
Three nodes, ξ = 2s − 1:

    N = (ξ(ξ−1)/2, 1−ξ², ξ(ξ+1)/2) − (19/1920) φ₀² (1−ξ²) (1, −2, 1)        places                                (1)
    (ξ³ − ξ)/12 (1, −2, 1)                                                   tangents                              (2)
    (ξ(ξ−1)/2, 1−ξ², ξ(ξ+1)/2)                                               spins                                 (3)

φ₀ = L |κ₀| is the angle that the unloaded element spans. (2) is the deflection of a linear curvature: slender
frequencies of order 6. The term with φ₀² makes the field do the work of the kinematics under uniform pressure on an
arc: thin rings.

Source: docs/theory/beams.md, section 5.
"""

import functools

import numpy as np

STATIONS, WEIGHTS = (0.5 * v + shift for v, shift in zip(np.polynomial.legendre.leggauss(4), (0.5, 0.0)))


def hermite_fields() -> tuple[np.ndarray, np.ndarray]:
    """Fields of (y_A, t_A, y_B, t_B) at the stations (4, g) and of the spins (2, g), two nodes."""
    s = STATIONS
    cubic = np.array([1 - 3 * s**2 + 2 * s**3, s * (1 - s) ** 2, 3 * s**2 - 2 * s**3, -(s**2) * (1 - s)])
    return cubic, np.array([1 - s, s])


def linear_fields() -> tuple[np.ndarray, np.ndarray]:
    """Return the fields of `hermite_fields`, without tangents."""
    _, linear = hermite_fields()
    fields = np.zeros((4, len(STATIONS)))
    fields[::2] = linear
    return fields, linear


@functools.lru_cache(64)  # straight beams of a line have one angle
def quadratic_fields(phi0: float) -> tuple[np.ndarray, np.ndarray]:
    """Fields (1), (2) of (y_A, t_A, y_M, t_M, y_B, t_B) at the stations (6, g) and (3) of the spins (3, g)."""
    xi = 2 * STATIONS - 1
    spins = np.array([0.5 * xi * (xi - 1), 1 - xi**2, 0.5 * xi * (xi + 1)])
    second = np.array([1.0, -2.0, 1.0])[:, None]
    fields = np.empty((6, len(xi)))
    fields[::2] = spins - 19 / 1920 * phi0**2 * (1 - xi**2) * second
    fields[1::2] = (xi**3 - xi) / 12 * second
    fields.setflags(write=False)
    return fields, spins


def inertia_numbers(
    fields: np.ndarray, spins: np.ndarray, mass: np.ndarray, spin_inertia: np.ndarray, length: float, lumped: bool
) -> tuple[np.ndarray, np.ndarray]:
    """m_ij (2n, 2n) [kg] and J_kl (n, n, 3, 3) [kg m²] in section axes.

    Parameters
    ----------
    fields, spins : (2n, g), (n, g), at the stations
    mass, spin_inertia : (g,) [kg/m], (g, 3, 3) [kg m], of the sections at the stations
    length : float [m]
    lumped : bool
        Sums of rows on the diagonal, none for tangents.
    """
    places = fields[::2]
    if lumped:
        m = np.zeros((len(fields), len(fields)))
        m[::2, ::2] = np.diag(places @ (WEIGHTS * mass))
        J = np.einsum("kl,kg,gij->klij", np.eye(len(spins)), spins * WEIGHTS, spin_inertia)
    else:
        m = np.einsum("g,ig,jg->ij", WEIGHTS * mass, fields, fields)
        J = np.einsum("g,kg,lg,gij->klij", WEIGHTS, spins, spins, spin_inertia)
    return length * m, length * J
