"""Checks of units: frames far from their nodes, masses that no part has, masses that are not one.

A matrix of masses is that of a body, in one unit and with its rows in the order of the points, only if with the rigid
motions R of the points

    RᵀMR = [[m I, −m c̃], [m c̃, J]]                                                                                 (1)

Of nodes without rotations a factor of all positions cancels in (1) and in KR = 0, as do units of M and K: points in
metres of matrices in t and mm are consistent with them. Only the size of these can be checked.

Source: docs/theory/superelements.md, section 2.
"""

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.elements.superelements.craig_bampton import FrameNodes
from fem_mbs.errors import Warnings, label

ALIKE = 1e-4  # of the mass: digits of files
LONG, HEAVY = 5.0, 1e6  # m, kg: the size and mass together that a part in millimetres has, read as metres
LIGHT = 1e-7  # kg/m³ of the cube of the extent: steel in t and mm has up to 8e-9, a wire of 1 mm and 100 m 6e-7
# of the extent of the body: off the nodes of a frame that is in another unit, and near them if it were in theirs
BESIDE, FAR, CLOSE = 0.1, 10.0, 0.05


def check_masses(owner: Checked, rigid: np.ndarray, extent: float) -> None:
    """Raise an error for RᵀMR (6, 6) of rigid motions about the origin that is not (1); ``extent`` [m] of the
    points.
    """
    masses, moments = np.diag(rigid)[:3], rigid[:3, 3:]
    m = masses.mean()
    owner.check(m > 0.0, "M", masses.tolist(), "gives a mass that is not positive")
    apart = np.abs(rigid[:3, :3] - m * np.eye(3)).max()
    message = (
        "kg along x, y and z: the mass of a body is one. Rows are node by node, x, y, z (rx, ry, rz) of each; is M in "
        "another order, or does it have masses that move in some directions only?"
    )
    owner.check(apart <= ALIKE * m, "M", masses.tolist(), message)
    even = np.abs(moments + moments.T).max()
    message = "does not move as masses at the points: rows are node by node, in the order of the points"
    owner.check(even <= ALIKE * m * extent, "M", "values", message)


def tell_units(owner: Checked, X: np.ndarray, mass: float, frames: list[FrameNodes]) -> None:
    """Warn about numbers that look like other units than metres and kilograms: points X (k, 3), the mass, and
    frames.
    """
    extent = float(np.ptp(X, axis=0).max())
    size = f"is {extent:.3g} m long and has {mass:.3g} kg"
    if extent > LONG and mass > HEAVY:
        _tell(owner, f"the part {size}. Are points in millimetres? Of a mesh: mesh.moved(lambda x: 1e-3 * x)")
    if mass < LIGHT * extent**3:
        what = (
            f"the part {size}. Are points in mm and M in t (mm, t, s)? A model in metres needs 1e-3 times the points, "
            "1e3 times M and K, other factors where nodes have rotations; one in mm, t, s all through is right as it is"
        )
        _tell(owner, what)
    for frame in frames:
        low, high = X[frame.nodes].min(axis=0), X[frame.nodes].max(axis=0)
        off = _beside(frame.at, low, high)
        for factor, least, unit in ((1e3, BESIDE, "m, and are points in mm"), (1e-3, FAR, "mm, and are points in m")):
            if off > least * extent and _beside(factor * frame.at, low, high) < CLOSE * extent:
                where = f"{frame.at.tolist()}, away from its nodes at {X[frame.nodes].mean(axis=0).round(9).tolist()}"
                _tell(owner, f"frame '{frame.name}' is at {where}. Is its position in {unit}?")


def _beside(place, low, high):
    """Distance of a place (3,) from a box."""
    return float(np.linalg.norm(place - np.clip(place, low, high)))


def _tell(owner, text):
    Warnings.issue(f"{label(owner)}: {text}")
