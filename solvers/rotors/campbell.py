"""Campbell diagram: natural frequencies of a rotor over its speed, whirl directions and critical speeds.

At each speed Ω the quadratic problem (s²M + sC(Ω) + K(Ω)) φ = 0 in the inertial frame, see `spin`. Modes are followed
from speed to speed by their shapes (MAC) and frequencies; where these leave a doubt, speeds between are put in. A
critical speed of order p is where the frequency of a mode is Im s = p Ω: found by interpolation, then by a secant on
the modes at that speed.

Source: docs/theory/rotors.md, (3)-(8); Friswell et al., Dynamics of Rotating Machines (2010), ch. 5 and 6.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.deprecated import Deprecated
from fem_mbs.results.file.names import ShapesByName
from fem_mbs.solvers.rotors.rotor import Rotor
from fem_mbs.solvers.rotors.whirl import mac, matched
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fem_mbs.arguments.checked import FrameLike
    from fem_mbs.model import Model
    from fem_mbs.solvers.static_result import StaticResult
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System


SPARE = 4  # modes beyond those requested, which may come down with speed
DOUBT = 0.5  # MAC of a mode and its continuation below which a speed is put in between
HALVINGS = 4  # of an interval of speeds, at most
SECANTS = 30


class CriticalSpeed(NamedTuple):
    """A speed [rad/s] at which a mode (its number in the diagram, from 0) has ``order`` times the frequency of the
    spin; ``whirl`` as in `Campbell`, damping ratio [-] there.
    """

    speed: float
    mode: int
    whirl: str
    order: float
    damping_ratio: float


@Deprecated.attributes(remarks="warnings")
class Campbell(ShapesByName):
    """Modes over speed; each column is one mode that is followed.

    Attributes
    ----------
    speeds : (k,) [rad/s]
    omega : (k, n) [rad/s], Im s: the frequency of the whirl
    frequency : (k, n) [Hz]
    eigenvalues : (k, n) complex [1/s]
    damping_ratio : (k, n) [-], −Re s/|s|; negative: unstable
    whirl : (k, n) of str
        "forward", "backward" (all nodes that turn), "mixed", "straight"; "along the axis" is torsion or axial motion.
    direction : (k, n), 1 for forward circles, −1 for backward ones, between for ellipses
    critical : list of CriticalSpeed, by speed, within the range of speeds
    shapes : (k, n, N, 6) complex
        (δx inertial [m], δθ body [rad]) with largest component 1. Of a node or body: ``diagram["disc"]`` (k, n, 6);
        ``len(diagram)`` is the number of speeds.
    warnings : list of str, warnings of the diagram: loads that may not be in equilibrium
    system : System
    """

    def __init__(self, rotor: Rotor, speeds: np.ndarray, values: np.ndarray, vectors: list[np.ndarray]) -> None:
        self.system, self.speeds, self.eigenvalues = rotor.system, speeds, values
        labels = [[rotor.label(v, speed) for v in columns.T] for speed, columns in zip(speeds, vectors)]
        self.whirl = np.array([[name for name, _ in row] for row in labels])
        self.direction = np.array([[w for _, w in row] for row in labels])
        shapes = np.array([[rotor.shape(v / v[np.abs(v).argmax()]) for v in columns.T] for columns in vectors])
        self.shapes = shapes
        self.critical: list[CriticalSpeed] = []
        self.warnings = rotor.warnings

    @property
    def omega(self) -> np.ndarray:
        return self.eigenvalues.imag

    @property
    def frequency(self) -> np.ndarray:
        return self.omega / (2 * np.pi)

    @property
    def damping_ratio(self) -> np.ndarray:
        return -self.eigenvalues.real / np.abs(self.eigenvalues) + 0.0

    def plot(
        self,
        save: str | Path | None = None,
        *,
        orders: Sequence[float] = (1.0,),
        rpm: bool = True,
        figure: "Figure | None" = None,
    ) -> "Figure":
        """Draw the diagram, lines of excitation by multiples of the spin, and critical speeds.

        Parameters
        ----------
        save : path, optional
        orders : multiples of the speed whose lines are drawn
        rpm : bool
            Speeds in 1/min, otherwise in rad/s.
        figure : matplotlib Figure, optional

        Returns
        -------
        matplotlib Figure
        """
        from fem_mbs.solvers.rotors.diagram import draw_campbell

        return draw_campbell(self, save, orders, rpm, figure)

    def __str__(self):
        lines = [f"{self.system.name}: {self.omega.shape[1]} modes at {len(self.speeds)} speeds"]
        last = len(self.speeds) - 1
        lines.append(f"mode   at {self.speeds[0]:10.4g} rad/s   at {self.speeds[-1]:10.4g} rad/s   whirl there")
        for j in range(self.omega.shape[1]):
            lines.append(
                f"{j:4d}   {self.omega[0, j]:12.6g} rad/s   {self.omega[last, j]:12.6g} rad/s   {self.whirl[last, j]}"
            )
        for c in self.critical:
            lines.append(
                f"critical speed {c.speed:.6g} rad/s = {c.speed * 30 / np.pi:.6g} 1/min: mode {c.mode}, {c.whirl}"
            )
        return "\n".join([*lines, *self.warnings])

    def __len__(self):
        return len(self.speeds)

    def __repr__(self):
        return f"Campbell({self.omega.shape[1]} modes, {len(self.speeds)} speeds, {len(self.critical)} critical)"


@alone("campbell")
@Keywords.known
def campbell(
    model: "Model | System",
    speeds: ArrayLike,
    n: int = 6,
    *,
    rotor: "FrameLike | Sequence | None" = None,
    axis: ArrayLike | None = None,
    about: "StaticResult | State | None" = None,
    damping: bool = True,
    orders: Sequence[float] = (1.0,),
    lateral: bool = True,
) -> Campbell:
    """Campbell diagram of a rotor that spins steadily in the inertial frame.

    The rotor must look the same from all sides (inertia, stiffness); its supports may be anything that stands still.
    Functions of time of drivers and loads are taken at the time of the configuration.

    Parameters
    ----------
    model : Model or System
    speeds : (k,) [rad/s], increasing
        Of the fastest rotor; others keep the ratio of their initial angular velocities.
    n : int ≥ 1
        Modes that are followed, the lowest at the first speed.
    rotor : node, body, beam line, or a list of them, optional
        What turns, with ``axis``. Default: the nodes that have an initial angular velocity, about its direction.
    axis : (3,), inertial components
    about : StaticResult or State, optional
        Configuration, such as the equilibrium under the weight; default: the initial one.
    damping : bool
        Take dampers into account; otherwise only gyroscopic terms.
    orders : sequence of float
        Multiples p of the spin whose critical speeds are looked for.
    lateral : bool
        Leave out torsion and axial motion.

    Returns
    -------
    Campbell

    Raises
    ------
    ParameterError
        Nothing turns; the rotor is not the same after a turn, named with the place; speeds that do not increase.
    SolverError
        Matrices that are not finite; fewer modes than requested.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> steel = fem.Section.circle(0.01, E=210e9, nu=0.3, density=7850)
    >>> model = fem.Model("overhung disc", gravity=[0, 0, 0])
    >>> disc = fem.RigidBody(5.0, [0.04, 0.02, 0.02], position=[0.4, 0, 0], name="disc")
    >>> root = fem.Node6(fixed=("x", "y", "z", "ry", "rz"), name="root")
    >>> line = fem.beam_line(root, disc, 4, steel)
    >>> _ = model.add(disc, line)
    >>> diagram = fem.campbell(model, [0, 100, 200], 2, rotor=[line, disc], axis=[1, 0, 0])
    >>> diagram.whirl[-1].tolist()
    ['backward', 'forward']
    """
    owner = Named("campbell")
    speeds = owner.as_array("speeds", speeds, (None,), unit="rad/s")
    owner.check(len(speeds) > 0 and (np.diff(speeds) > 0).all(), "speeds", speeds, "rad/s must increase")
    n, damping, lateral = owner.as_integer("n", n), owner.as_flag("damping", damping), owner.as_flag("lateral", lateral)
    multiples = owner.as_array("orders", orders, (None,))
    found = Rotor(owner, model, rotor, axis, about)
    found.check(float(np.abs(speeds).max()))
    follower = _Follower(found, n, damping, lateral)
    values, vectors = follower.along(speeds)
    # of modes with one frequency at the first speed the lower one at the last comes first
    order = np.lexsort((values[-1].imag, np.round(values[0].imag / values[0].imag.max(), 6)))
    values, vectors = values[:, order], [columns[:, order] for columns in vectors]
    diagram = Campbell(found, speeds, values, vectors)
    for multiple in multiples:
        diagram.critical += _critical(follower, diagram, vectors, float(multiple))
    diagram.critical.sort()
    return diagram


class _Follower:
    """Follows modes from speed to speed."""

    def __init__(self, rotor: Rotor, n: int, damping: bool, lateral: bool) -> None:
        self.rotor, self.n, self.damping, self.lateral = rotor, n, damping, lateral

    def at(self, speed: float) -> tuple[np.ndarray, np.ndarray]:
        """All candidates at a speed: s, vectors; some more than are followed."""
        s, vectors = self.rotor.modes(speed, self.n + SPARE, self.damping)
        if self.lateral:
            keep = [self.rotor.label(v, speed)[0] != "along the axis" for v in vectors.T[: 4 * (self.n + SPARE)]]
            s, vectors = s[: len(keep)][keep], vectors[:, : len(keep)][:, keep]
        if len(s) < self.n:
            what = f"of this model at {speed:g} rad/s are {len(s)} that whirl; request fewer"
            self.rotor.owner.check(False, "n", self.n, what)
        return s[: self.n + SPARE], vectors[:, : self.n + SPARE]

    def along(self, speeds: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """s (k, n) and vectors, a list of (free components, n), of the modes that are the lowest at the first speed."""
        s, vectors = self.at(speeds[0])
        values, shapes = [s[: self.n]], [vectors[:, : self.n]]
        slope = np.zeros(self.n)
        for before, speed in pairwise(speeds):
            s, vectors = self.go(before, values[-1], shapes[-1], slope, speed, HALVINGS)
            slope = (s.imag - values[-1].imag) / (speed - before)
            values.append(s)
            shapes.append(vectors)
        return np.array(values), shapes

    def go(
        self, before: float, s: np.ndarray, vectors: np.ndarray, slope: np.ndarray, speed: float, halvings: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Continuations of modes at one speed to another one."""
        found, candidates = self.at(speed)
        expected = s.imag + slope * (speed - before)
        chosen = matched(expected, vectors, found.imag, candidates, self.rotor.M)
        likeness = np.diagonal(mac(vectors, candidates[:, chosen], self.rotor.M))
        # a pair of modes of one frequency has any two shapes in its plane
        near = np.abs(found.imag[None, :] - s.imag[:, None]) < 1e-6 * np.abs(s.imag[:, None])
        double = (np.abs(s.imag[:, None] - s.imag[None, :]) < 1e-6 * s.imag[:, None]).sum(axis=1) > 1
        if halvings and ((likeness < DOUBT) & ~double & ~near.any(axis=1)).any():
            middle = 0.5 * (before + speed)
            half, between = self.go(before, s, vectors, slope, middle, halvings - 1)
            slope = (half.imag - s.imag) / (middle - before)
            return self.go(middle, half, between, slope, speed, halvings - 1)
        return found[chosen], candidates[:, chosen]

    def one(self, speed: float, s: complex, vector: np.ndarray) -> tuple[complex, np.ndarray]:
        """The mode at a speed that continues a given one."""
        found, candidates = self.at(speed)
        k = matched(np.array([s.imag]), vector[:, None], found.imag, candidates, self.rotor.M)[0]
        return found[k], candidates[:, k]


def _critical(follower, diagram, vectors, order):
    """Critical speeds of one order within the range of the diagram."""
    found = []
    above = diagram.omega - order * np.abs(diagram.speeds)[:, None]
    for j in range(above.shape[1]):
        for i in np.flatnonzero((above[:-1, j] > 0) != (above[1:, j] > 0)):
            ends = diagram.speeds[i : i + 2]
            speed, s, vector = _crossing(follower, ends, above[i : i + 2, j], diagram.eigenvalues[i : i + 2, j],
                                         [vectors[i][:, j], vectors[i + 1][:, j]], order)  # fmt: skip
            whirl = follower.rotor.label(vector, speed)[0]
            found.append(CriticalSpeed(float(speed), j, whirl, order, float(-s.real / abs(s)) + 0.0))
    return found


def _crossing(follower, ends, values, s, vectors, order):
    """Speed within an interval at which the mode has Im s = order · speed, by bracketed secants (Illinois)."""
    (a, b), (fa, fb) = ends, values
    near, last = s[1], vectors[1]
    side = 0
    for _ in range(SECANTS):
        speed = b - fb * (b - a) / (fb - fa)
        near, last = follower.one(speed, near, last)
        f = near.imag - order * abs(speed)
        if abs(f) <= 1e-11 * abs(near.imag) or abs(b - a) <= 1e-12 * abs(b):
            break
        if (f > 0) == (fb > 0):
            b, fb = speed, f
            fa = 0.5 * fa if side == 1 else fa
            side = 1
        else:
            a, fa = speed, f
            fb = 0.5 * fb if side == -1 else fb
            side = -1
    return speed, near, last
