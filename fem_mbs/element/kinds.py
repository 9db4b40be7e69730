"""Kinds of elements that results and solvers treat alike, whatever their type: members that other elements lack."""

from typing import Any

import numpy as np

from fem_mbs.element.base import Element, Inertia


def _undefined(owner: Element, name: str) -> NotImplementedError:
    """Error of a class that lacks a member of its kind."""
    return NotImplementedError(f"{type(owner).__name__} does not define {name}, which a FloatingBody needs")


class BeamLike(Element):
    """Element of a line, with a cross-section.

    Attributes
    ----------
    section : Section
    """

    section: Any


class ShellLike(Element):
    """Element of a surface in space.

    Attributes
    ----------
    section : ShellSection, its layers
    """

    section: Any


class FloatingBody(Inertia):
    """Reduced flexible body in a floating frame: linear, so that it has limits which solvers check.

    Warnings are lists of (kind, size, text), see `fem_mbs.system.checks.element_checks`.

    Attributes
    ----------
    reduction : Reduction
    misses_inertia : bool, True if its modes leave out part of the response to gravity and inertia
    """

    reduction: Any

    @property
    def misses_inertia(self) -> bool:
        raise _undefined(self, "misses_inertia")

    def pose(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position (3,), rotation (3, 3) and deformation of the floating frame for nodes at x (nn, 3), R (nn, 3, 3)."""
        raise _undefined(self, "pose")

    def strain_energy(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Strain energies (k,) [J] of states x (k, nn, 3), R (k, nn, 3, 3) of its nodes."""
        raise _undefined(self, "strain_energy")

    def point_motions(self, state: Any, motions: np.ndarray) -> np.ndarray:
        """Motions (k, n_points, 3) of its points in motions (k, N, 6) of the nodes of a model about a state."""
        raise _undefined(self, "point_motions")

    def stress_warnings(self, state: Any) -> list:
        """Warn about stresses at an equilibrium that would change the stiffness."""
        raise _undefined(self, "stress_warnings")

    def rotation_warnings(self, angular_velocity: np.ndarray, state: Any) -> list:
        """Warn about a steady rotation (3,) [rad/s] that would stiffen the body."""
        raise _undefined(self, "rotation_warnings")

    def load_warnings(self, points: np.ndarray, forces: np.ndarray, d: np.ndarray) -> list:
        """Warn about forces on its points that its modes represent poorly."""
        raise _undefined(self, "load_warnings")

    def inertia_warnings(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, a: np.ndarray, gravity: np.ndarray) -> list:
        """Warn about gravity and accelerations that its modes represent poorly."""
        raise _undefined(self, "inertia_warnings")
