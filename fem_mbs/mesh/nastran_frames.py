"""Coordinate systems of Nastran's bulk data: CORD1R, CORD1C, CORD1S, CORD2R, CORD2C, CORD2S.

A system has its origin at A, its z axis through B and its x axis towards C:

    z = (B − A)/|B − A| ,   y = z × (C − A)/|z × (C − A)| ,   x = y × z                                             (1)

A, B, C are points of another system (CORD2) or grids (CORD1). Coordinates of a grid in a cylindrical system are r, θ,
z, in a spherical one r, θ from the z axis, φ about it; angles in degrees.

Source: MSC Nastran Quick Reference Guide, entries CORD1R to CORD2S.
"""

from typing import NamedTuple

import numpy as np

from fem_mbs.mesh.nastran_cards import number


class Frame(NamedTuple):
    """Position (3,) and axes (3, 3) of a system in the basic one, and its kind: "R", "C" or "S"."""

    kind: str
    p: np.ndarray
    R: np.ndarray

    def place(self, x: np.ndarray) -> np.ndarray:
        """Place (3,) in the basic system of the coordinates x of a point."""
        if self.kind == "C":
            angle = np.radians(x[1])
            x = np.array([x[0] * np.cos(angle), x[0] * np.sin(angle), x[2]])
        elif self.kind == "S":
            polar, angle = np.radians(x[1:])
            x = x[0] * np.array([np.sin(polar) * np.cos(angle), np.sin(polar) * np.sin(angle), np.cos(polar)])
        return self.p + self.R @ x


BASIC = Frame("R", np.zeros(3), np.eye(3))


class Frames:
    """Systems and grids of a file, resolved when all cards have been read.

    Attributes
    ----------
    grids : dict, label -> (number of its system, coordinates (3,))
    """

    def __init__(self) -> None:
        self.grids: dict[int, tuple[int, np.ndarray]] = {}
        self._cards: dict[int, tuple[str, list[str]]] = {}
        self._found: dict[int, Frame] = {0: BASIC}

    def add(self, card: str, fields: list[str]) -> None:
        """Take a card of a coordinate system; CORD1 cards may have two."""
        per = 4 if card[4] == "1" else len(fields)
        for first in range(0, min(len(fields), 8), per):
            if fields[first]:
                self._cards[int(fields[first])] = card, fields[first + 1 : first + per]

    def frame(self, number_of: int, asked: tuple[int, ...] = ()) -> Frame:
        """The system of a number.

        Raises
        ------
        ValueError
            It is not there, has no axes, or refers to itself.
        """
        if number_of in self._found:
            return self._found[number_of]
        if number_of not in self._cards:
            raise ValueError(f"coordinate system {number_of} is not there")
        if number_of in asked:
            raise ValueError(f"coordinate system {number_of} refers to itself")
        asked = (*asked, number_of)
        card, fields = self._cards[number_of]
        if card[4] == "1":
            points = [self.place(int(label), asked) for label in fields[:3]]
        else:
            base = self.frame(int(fields[0] or 0), asked)
            x = np.array([number(field or "0") for field in [*fields, *[""] * 9][1:10]]).reshape(3, 3)
            points = [base.place(point) for point in x]
        a, b, c = points
        z, towards = b - a, c - a
        y = np.cross(z, towards)
        if not np.linalg.norm(y) > 1e-12 * np.linalg.norm(z) * np.linalg.norm(towards):
            raise ValueError(f"coordinate system {number_of} has three points on one line")
        z, y = z / np.linalg.norm(z), y / np.linalg.norm(y)
        self._found[number_of] = frame = Frame(card[5], a, np.column_stack([np.cross(y, z), y, z]))
        return frame

    def place(self, label: int, asked: tuple[int, ...] = ()) -> np.ndarray:
        """Place (3,) of a grid in the basic system."""
        if label not in self.grids:
            raise ValueError(f"grid {label} is not there")
        system, x = self.grids[label]
        return self.frame(system, asked).place(x)
