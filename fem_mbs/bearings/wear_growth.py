"""Growth of wear over many cycles, with geometry that wears: simulate a cycle, extrapolate, simulate again.

Of each surface i, with the volume V_i that wears off in the simulated cycles (`wear`, (1)) and its area A_i,

    w_i = V_i/A_i,    dw/dN = r(w)        mean depth, rate per cycle, which one run gives                            (1)
    w_p = w_n + ΔN (r_n + (ΔN/2ΔN_{n−1}) (r_n − r_{n−1})),   r_{n+1} = r(w_p)     Adams and Bashforth              (2)
    w_{n+1} = w_n + ½ ΔN (r_n + r_{n+1})                                           trapezoidal rule                 (3)

There is one run per block of ΔN cycles, with the predicted depths (2), which (3) corrects (PEC). The first block is
predicted, and the last one not corrected. With order 1 depths are those of Euler's method, w_n + ΔN r_n. ΔN is as
large as ``largest_depth`` allows for every surface, with equal blocks to the end. The extrapolated part of (2) is
limited to half of r_n, so that depths grow; where that limit acts, or where rates change by more than a half, blocks
are too long, and a warning is issued.

One depth for a surface is a geometry only for even wear: a round hole stays round. `WornSurface.cylinder` therefore
compares the largest depth around the surface with the mean. A profile of depths is not fed back: the wear of a contact
in one point is narrower than the pin, which no longer fits into the bend it makes (`PointOnCurve` rejects that); the
pressure would have to be spread over the arc that a worn pin touches.

Source: derived here; Archard's law as in `wear`. Tests: tests/core/bearings/test_wear_growth.py.

    symbol    code           unit    meaning
    w, r      depth, rate    m       mean depth; per cycle
    N, ΔN     cycles, -      -       cycles of the machine, in a block
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import Checked, Keywords, Named
from fem_mbs.bearings.wear import contact_wear, worn_volume
from fem_mbs.errors import FemMbsError, Warnings
from fem_mbs.results.results import Results

UNEVEN = ("error", "mean")
MOST_RUNS = 10000
EVEN = 2.0  # largest over mean depth around a cylinder


class WornSurface(Checked):
    """Surface of a contact that wears, by one depth.

    Parameters
    ----------
    contact : str, or a list of str
        Name of the contact in the results, or of several that load the same surface, such as "pin 1" and "pin 2".
    coefficient, hardness : float > 0 [-], [Pa]
        As in `contact_wear`; of this surface.
    area : float > 0 [m²]
        Over which the worn volume is spread: of a block on a plane the area of the block for the block, the area of the
        track for the plane. It must not depend on the wear.
    name : str, optional

    Notes
    -----
    For cylinders use `WornSurface.cylinder`, which checks that the wear is even.

    Examples
    --------
    >>> bore = WornSurface.cylinder("pin", coefficient=1e-5, hardness=2e9, radius=0.010, length=0.020)
    >>> foot = WornSurface("foot", coefficient=1e-4, hardness=1e9, area=4e-4)
    """

    _around: dict = {}  # of a cylinder: arguments of `contact_wear`
    _uneven = "mean"

    def __init__(
        self, contact: Any, *, coefficient: float, hardness: float, area: float, name: str | None = None
    ) -> None:
        self.name = name
        names = [contact] if isinstance(contact, str) else contact
        good = isinstance(names, (list, tuple)) and len(names) > 0 and all(isinstance(one, str) for one in names)
        self.check(good, "contact", contact, "must be the name of a contact, or a list of names")
        self.contact = tuple(names)
        self.coefficient = self.positive("coefficient", coefficient)
        self.hardness = self.positive("hardness", hardness, "Pa")
        self.area = self.positive("area", area, "m²")

    @classmethod
    def cylinder(
        cls,
        contact: Any,
        *,
        coefficient: float,
        hardness: float,
        radius: float,
        length: float,
        surface: str = "second",
        axis: str = "z",
        uneven: str = "error",
        name: str | None = None,
    ) -> "WornSurface":
        """Bore or pin whose wear is spread around its whole circumference.

        Parameters
        ----------
        contact, coefficient, hardness, name : as `WornSurface`
        radius, length, surface, axis : as `contact_wear`
        uneven : "error" or "mean"
            If the largest depth in 24 intervals around the surface exceeds twice the mean: raise an error, or take the
            mean all the same. A hole that wears on one side is deeper there and less loose across.
        """
        owner = Named(cls.__name__, name)
        radius, length = owner.positive("radius", radius, "m"), owner.positive("length", length, "m")
        owner.as_choice("uneven", uneven, UNEVEN)
        owner.as_choice("surface", surface, ("first", "second"), "must be 'first' or 'second', as in contact_wear")
        owner.as_choice("axis", axis, ("x", "y", "z"), "must be 'x', 'y' or 'z' of the body's node")
        area = 2 * np.pi * radius * length
        made = cls(contact, coefficient=coefficient, hardness=hardness, area=area, name=name)
        around = {"radius": radius, "length": length, "surface": surface, "axis": axis, "bins": 24}
        Checked.set_unchecked(made, _around=around, _uneven=uneven)
        return made

    def depth(self, result: Results, *, start: float = 0.0) -> tuple[float, float]:
        """Mean depth [m] worn off in a run after ``start`` [s], and the largest depth over it (nan: not known).

        Raises
        ------
        FemMbsError
            The wear of a cylinder is uneven, and ``uneven`` is "error"; the run did not save every step.
        """
        owner = Named(type(self).__name__, self.name)
        owner.as_instance("result", result, Results, "the Results of a run")
        if (np.diff(result.step) != 1).any():
            raise FemMbsError(
                f"the run of '{result.model}' saved {len(result.t)} of {result.step[-1] + 1} states; the sliding of "
                "the other steps is unknown: run it with save_every=1"
            )
        law: dict[str, Any] = {"coefficient": self.coefficient, "hardness": self.hardness, "start": start}
        if not self._around:
            return sum(worn_volume(owner, result, one, **law) for one in self.contact) / self.area, np.nan
        profile = np.sum([contact_wear(result, one, **law, **self._around).depth for one in self.contact], axis=0)
        mean = float(np.mean(profile))
        ratio = float(np.max(profile) / mean) if mean > 0 else np.nan
        if ratio > EVEN and self._uneven == "error":
            raise FemMbsError(
                f"WornSurface of contact {', '.join(map(repr, self.contact))}: the largest depth around the surface is "
                f"{ratio:.3g} times the mean, so that it does not stay round. Run whole cycles; if the clearance that "
                'the mean depth makes is of interest all the same, use uneven="mean"'
            )
        return mean, ratio


class WearGrowth(NamedTuple):
    """Wear over the cycles of a machine.

    ``cycles`` (n + 1,), at the ends of the blocks, 0 first; ``depth``, name of a surface -> (n + 1,) [m] mean depth;
    ``rate``, name -> (n,) [m] per cycle, at the beginning of each block; ``unevenness``, name -> (n,), largest over
    mean depth around a cylinder.
    """

    cycles: np.ndarray
    depth: dict[str, np.ndarray]
    rate: dict[str, np.ndarray]
    unevenness: dict[str, np.ndarray]

    def __repr__(self):
        depths = ", ".join(f"{name} {depth[-1]:.4g} m" for name, depth in self.depth.items())
        return f"WearGrowth({self.cycles[-1]:.6g} cycles, {len(self.cycles) - 1} runs: {depths})"


class _Growth:
    """Cycles, depths and rates of m surfaces up to the last run."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.cycles = names, [0.0]
        self.depths, self.rates, self.ratios = [np.zeros(len(names))], [], []

    def table(self) -> WearGrowth:
        """The whole as it is returned."""
        depths, m = np.array(self.depths), len(self.names)
        rates, ratios = np.array(self.rates).reshape(-1, m), np.array(self.ratios).reshape(-1, m)
        columns = [{name: a[:, i] for i, name in enumerate(self.names)} for a in (depths, rates, ratios)]
        return WearGrowth(np.array(self.cycles), *columns)

    def found(self, rates: np.ndarray, ratios: np.ndarray, order: int) -> None:
        """Store rates (m,) of a run with the predicted depths, and correct these by (3)."""
        self.rates.append(rates)
        self.ratios.append(ratios)
        if order == 2 and len(self.rates) > 1:
            size = self.cycles[-1] - self.cycles[-2]
            self.depths[-1] = self.depths[-2] + 0.5 * size * (self.rates[-2] + rates)

    def block(self, left: float, largest: float, order: int) -> tuple[float, np.ndarray, bool]:
        """Return cycles of the next block, depths (m,) of it by (2), and True if a rate changes by more than half."""
        rate, change, rough = self.rates[-1], np.zeros(len(self.names)), False
        if len(self.rates) > 1:
            change = rate - self.rates[-2]
            rough = bool((np.abs(change) > 0.5 * self.rates[-2])[self.rates[-2] > 0].any())
            change = 0.5 * change / (self.cycles[-1] - self.cycles[-2]) if order == 2 else 0 * change

        def added(size):
            return size * (rate + np.clip(size * change, -0.5 * rate, 0.5 * rate))

        blocks = max(1.0, np.ceil(left / largest * rate.max()))
        while (most := added(left / blocks).max()) > largest * (1 + 1e-9):
            blocks = max(blocks + 1, np.ceil(blocks * most / largest))
        if blocks > MOST_RUNS:
            raise FemMbsError(
                f"grow_wear: {blocks:.3g} more runs would be needed for {left:.6g} cycles at {rate.max():.4g} m per "
                f"cycle in blocks of {largest:.4g} m; use a larger largest_depth, or fewer cycles"
            )
        size = left / blocks
        return size, added(size), rough or bool((np.abs(size * change) > 0.5 * rate).any())


@Keywords.known
def grow_wear(
    cycle: Callable[[dict[str, float]], Results],
    surfaces: Mapping[str, WornSurface],
    *,
    cycles: float,
    largest_depth: float,
    cycles_per_run: float = 1.0,
    start: float = 0.0,
    order: int = 2,
) -> WearGrowth:
    """Wear over many cycles, whose geometry changes with it: runs of one cycle with extrapolation between them.

    Parameters
    ----------
    cycle : callable
        Function of the depths, name of a surface -> mean depth [m], that makes the model with this wear, runs it and
        returns the `Results`, with every step saved: for a pin in a hole ``clearance=c + depth["bore"] +
        depth["pin"]``.
    surfaces : dict
        Name -> `WornSurface`.
    cycles : float > 0
        Number of cycles to the end.
    largest_depth : float > 0 [m]
        Depth that a surface may gain in one block, between two runs, as predicted. Choose it small compared with what
        changes the forces, such as a fifth of the clearance, and halve it to see that the result stays.
    cycles_per_run : float > 0
        Number of cycles in the part of a run after ``start``.
    start : float [s]
        Leave out what was before in each run: the transient of the start.
    order : 1 or 2
        Of the error in the block length.

    Returns
    -------
    WearGrowth

    Raises
    ------
    FemMbsError
        A run fails, also because the geometry cannot take the wear (``error.growth``: the wear until then); nothing
        wears; the wear of a cylinder is uneven.

    Examples
    --------
    >>> from fem_mbs import DecoupledNSGA, Model, RigidBody, SphereOnPlane
    >>> def stroke(depth):
    ...     model = Model("foot on a plate", gravity=[0, 0, -10])
    ...     at = {"position": [0, 0, 0.01 - depth["foot"]], "velocity": [0.5, 0, 0], "fixed": ("rx", "ry", "rz")}
    ...     foot = model.add(RigidBody(2.0, 1e-4, **at))
    ...     model.add(SphereOnPlane(foot, model.ground, radius=0.01 - depth["foot"], name="plate"))
    ...     return DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.2, h=1e-3)
    >>> foot = WornSurface("plate", coefficient=1e-4, hardness=1e9, area=4e-4)
    >>> growth = grow_wear(stroke, {"foot": foot}, cycles=1e5, largest_depth=2e-5)
    >>> print(f"{1e6 * growth.depth['foot'][-1]:.1f} µm = {1e6 * 1e5 * 1e-4 * 20 * 0.1 / (1e9 * 4e-4):.1f} µm")
    50.0 µm = 50.0 µm
    """
    owner = Named("grow_wear")
    owner.as_function("cycle", cycle, "a function of the depths", 1)
    good = isinstance(surfaces, Mapping) and len(surfaces) > 0
    good = good and all(isinstance(k, str) and isinstance(v, WornSurface) for k, v in surfaces.items())
    owner.check(good, "surfaces", surfaces, "must be a dict of names and WornSurface objects")
    cycles, largest = owner.positive("cycles", cycles), owner.positive("largest_depth", largest_depth, "m")
    per_run, start = owner.positive("cycles_per_run", cycles_per_run), owner.number("start", start, "s")
    order = owner.as_choice("order", owner.as_integer("order", order), (1, 2))
    growth, rough = _Growth(list(surfaces)), 0
    while growth.cycles[-1] < cycles * (1 - 1e-12):
        depths = dict(zip(growth.names, growth.depths[-1].tolist()))
        try:
            result = owner.as_instance("cycle", cycle(depths), Results, "a function that returns the Results of a run")
            found = np.array([surface.depth(result, start=start) for surface in surfaces.values()])
            _check(growth.names, found[:, 0], largest)
        except FemMbsError as error:
            if not growth.rates:  # the model without wear
                raise
            _fail(error, growth, depths)
        growth.found(found[:, 0] / per_run, found[:, 1], order)
        size, added, changed = growth.block(cycles - growth.cycles[-1], largest, order)
        rough += changed
        growth.cycles.append(growth.cycles[-1] + size)
        growth.depths.append(growth.depths[-1] + added)
    if rough:
        Warnings.issue(
            f"grow_wear: the rate of wear changed by more than a half in {rough} of {len(growth.rates)} blocks; use a "
            "smaller largest_depth, or longer runs if their rates scatter"
        )
    return growth.table()


def _check(names, depths, largest):
    """Raise an error if depths (m,) of one run are not what can be extrapolated."""
    if not np.isfinite(depths).all() or not depths.max() > 0:
        raise FemMbsError(
            f"nothing wears in the run: mean depths of {', '.join(map(repr, names))} are {depths.tolist()} m. Usual "
            "causes: the contact stays open, does not slide, or `start` leaves out the cycle"
        )
    if depths.max() > largest:
        raise FemMbsError(
            f"one run wears off {depths.max():.4g} m, more than largest_depth = {largest:.4g} m: its geometry would "
            "have to change within the run. Check the wear coefficient, or run fewer cycles"
        )


def _fail(error, growth, depths):
    """Raise an error with the wear until the run that failed."""
    worn = ", ".join(f"{name} {depth:.4g} m" for name, depth in depths.items())
    failed = FemMbsError(
        f"grow_wear: run {len(growth.rates) + 1}, after {growth.cycles[-1]:.6g} cycles with depths {worn}, failed: "
        f"{error} (error.growth has the wear until then)"
    )
    failed.growth = growth.table()  # type: ignore[attr-defined]
    raise failed from error
