"""Coefficients of the generalized-α method, by the spectral radius or as given, and those for which it is stable.

An undamped spring of circular frequency ω, Ω = h ω, multiplies a motion by the roots λ of

    ((1 − α_m) λ + α_m) (λ − 1)² + Ω² ((1 − α_f) λ + α_f) N(λ) = 0                                                (1)
    N(λ) = β λ² + (½ + γ − 2 β) λ + ½ − γ + β

With λ = (1 + w)/(1 − w) the criterion of Routh and Hurwitz gives |λ| ≤ 1 for all Ω where

    α_m ≤ ½ ,  α_f ≤ ½ ,  γ ≥ ½ ,  γ ≥ ½ + α_f − α_m ,  2 β ≥ γ                                                     (2)

and order 2 where γ = ½ + α_f − α_m. For Ω → ∞ the roots are −α_f/(1 − α_f) and those of N.

Source: (1) by elimination of v and a from docs/theory/decoupled_nsga.md, (7), (8); (2) derived here, with γ of order 2
the conditions of Chung and Hulbert, J. Appl. Mech. 60 (1993), (15).
"""

import math
from typing import NamedTuple

ROUND_OFF = 1e-12  # of coefficients that are typed with their digits


class Coefficients(NamedTuple):
    """Coefficients of a generalized-α method."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float

    @property
    def second_order(self) -> bool:
        """True if γ = ½ + α_f − α_m."""
        return abs(self.gamma - 0.5 - self.alpha_f + self.alpha_m) <= ROUND_OFF


def of_radius(rho_inf: float) -> Coefficients:
    """Coefficients with the spectral radius ρ∞ at infinite frequency (Sanchez2025, (2.28))."""
    return complete((2 * rho_inf - 1) / (rho_inf + 1), rho_inf / (rho_inf + 1))


def complete(
    alpha_m: float | None = None, alpha_f: float | None = None, gamma: float | None = None, beta: float | None = None
) -> Coefficients:
    """Coefficients where some are given: without the others α_m = α_f = 0, order 2, and N has a double root."""
    alpha_m, alpha_f = alpha_m or 0.0, alpha_f or 0.0
    gamma = 0.5 + alpha_f - alpha_m if gamma is None else gamma
    beta = 0.25 * (gamma + 0.5) ** 2 if beta is None else beta
    return Coefficients(alpha_m, alpha_f, beta, gamma)


def violated(c: Coefficients, gamma_is_given: bool) -> tuple[str, str] | None:
    """Name of a coefficient, and the inequality of (2) that it violates, with its numbers; None if all hold."""
    second = f"alpha_f = {c.alpha_f:g}"
    least = 0.5 + c.alpha_f - c.alpha_m
    conditions = [
        (0.5 - c.alpha_m, "alpha_m", "≤ 1/2"),
        (0.5 - c.alpha_f, "alpha_f", "≤ 1/2"),
        (c.gamma - 0.5, *(("gamma", "≥ 1/2") if gamma_is_given else ("alpha_m", f"≤ {second}"))),
        (c.gamma - least, "gamma", f"≥ 1/2 + alpha_f - alpha_m = {least:g}"),
        (2 * c.beta - c.gamma, "beta", f"≥ gamma/2 = {0.5 * c.gamma:g}"),
    ]
    return next(((name, text) for margin, name, text in conditions if margin < -ROUND_OFF), None)


def radius_at_infinity(c: Coefficients) -> float:
    """Spectral radius for Ω → ∞."""
    half, product = 0.5 * (0.5 + c.gamma - 2 * c.beta) / c.beta, (0.5 - c.gamma + c.beta) / c.beta
    square = (0.25 * (0.5 + c.gamma) ** 2 - c.beta) / c.beta**2  # half² − product
    of_N = abs(half) + math.sqrt(square) if square > ROUND_OFF else math.sqrt(max(product, 0.0))
    return max(abs(c.alpha_f / (1.0 - c.alpha_f)), of_N)
