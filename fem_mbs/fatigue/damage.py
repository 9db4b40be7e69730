"""Damage of stress cycles: S-N curve of Basquin, mean stress by Goodman, sum of Palmgren and Miner.

    N(S) = N_0 (S_0/S)^m                                  S: amplitude; below a limit S_D: slope m_D, ∞: no damage   (1)
    S = S_a / (1 − S_m/R_m)   for S_m > 0, else S_a       equivalent amplitude at mean stress 0                      (2)
    D = Σ n_i/N(S_i)                                      the part fails at D = 1                                    (3)

Compressive means get no credit in (2). A cycle with S_a + S_m ≥ R_m, where (2) reaches R_m, is a static failure and
raises an error. Without R_m the mean is ignored, which underestimates the damage in tension.

(1) in the form S_a = σ_f' (2N)^b: `SNCurve(σ_f', 0.5, −1/b)`.

Sources: Basquin, Proc. ASTM 10 (1910); Goodman, Mechanics Applied to Engineering (1899); Palmgren, VDI-Z 68 (1924);
Miner, J. Appl. Mech. 12 (1945); slope 2m − 1 below the limit: Haibach. Tests: tests/core/fatigue/test_damage.py.

    symbol     code                  unit   meaning
    S_0, N_0   amplitude, cycles     Pa, -  a point of the curve
    m, m_D     exponent, _below      -      slopes above and below the limit
    S_D        limit                 Pa     amplitude of the knee
    R_m        ultimate              Pa     ultimate tensile strength
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, FloatOrArray, Keywords, Named
from fem_mbs.errors import ParameterError
from fem_mbs.fatigue.rainflow import Cycles, counted


class SNCurve(Checked):
    """S-N curve of a material or detail: number of cycles to failure over the stress amplitude.

    Parameters
    ----------
    amplitude : float > 0 [Pa]
        Half the stress range at one point of the curve, such as that of 1e6 cycles.
    cycles : float > 0
        Number of cycles to failure there.
    exponent : float > 0
        Slope m: a tenth of the stress gives 10^m times the life. 3 for welds, 5 to 15 for machined steel.
    limit : float ≥ 0 [Pa]
        Fatigue limit: smaller amplitudes do no damage, or less by ``exponent_below``. Default: none.
    exponent_below : float > 0, optional
        Slope below the limit; ``2 * exponent - 1`` by Haibach. Default: no damage there, which is for loads that never
        exceed the limit: larger ones lower it.
    ultimate : float > 0, optional [Pa]
        Ultimate tensile strength, for Goodman's correction of the mean stress. Default: means are ignored.
    name : str, optional

    Notes
    -----
    Equations (1), (2) of the file's header. Units are those of the stresses. Curves of standards are for a probability
    of survival; the damage has it too.

    Examples
    --------
    >>> steel = SNCurve(250e6, 1e6, 8.0, ultimate=700e6, name="shaft")
    >>> print(f"{steel.life(300e6):.3g} cycles, with a mean of 100 MPa {steel.life(300e6, 100e6):.3g}")
    2.33e+05 cycles, with a mean of 100 MPa 6.78e+04
    """

    def __init__(
        self,
        amplitude: float,
        cycles: float,
        exponent: float,
        *,
        limit: float = 0.0,
        exponent_below: float | None = None,
        ultimate: float | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.amplitude = self.positive("amplitude", amplitude, "Pa")
        self.cycles = self.positive("cycles", cycles)
        self.exponent = self.number("exponent", exponent, above=0, at_most=100)
        self.limit = self.positive("limit", limit, "Pa", allow_zero=True)
        self.exponent_below = exponent_below
        if exponent_below is not None:
            self.exponent_below = self.number("exponent_below", exponent_below, above=0, at_most=200)
            self.check(self.limit > 0, "exponent_below", exponent_below, "needs a limit > 0, below which it holds")
        self.ultimate = None if ultimate is None else self.positive("ultimate", ultimate, "Pa")
        if self.ultimate is not None:
            message = f"Pa must be larger than limit = {self.limit:.6g} Pa"
            self.check(self.limit < self.ultimate, "ultimate", ultimate, message)

    def equivalent_amplitude(self, amplitude: ArrayLike, mean: ArrayLike = 0.0) -> FloatOrArray:
        """Amplitude [Pa] that does the same damage at mean stress 0, (2).

        Raises
        ------
        ParameterError
            The largest stress reaches the ultimate strength.
        """
        S_a, S_m = self.broadcast(amplitude=amplitude, mean=mean)
        self.check((S_a >= 0).all(), "amplitude", S_a, "Pa must be ≥ 0: half of a range")
        if self.ultimate is None:
            return S_a + 0.0
        largest = float((S_a + S_m).max(initial=0.0))
        if largest >= self.ultimate:
            message = f"Pa is reached by a stress of {largest:.6g} Pa: a static failure, not one of fatigue"
            raise ParameterError(self, "ultimate", self.ultimate, message)
        return S_a / (1 - np.maximum(S_m, 0.0) / self.ultimate)

    def life(self, amplitude: ArrayLike, mean: ArrayLike = 0.0) -> Any:
        """Cycles to failure at amplitudes and means [Pa], (1); inf where there is no damage."""
        S = np.asarray(self.equivalent_amplitude(amplitude, mean))
        with np.errstate(divide="ignore", over="ignore"):
            N = self.cycles * (self.amplitude / S) ** self.exponent
            below = np.inf
            if self.exponent_below is not None:
                knee = self.cycles * (self.amplitude / self.limit) ** self.exponent
                below = knee * (self.limit / S) ** self.exponent_below
        N = np.where(S < self.limit, below, N)
        return float(N) if N.ndim == 0 else N


@Keywords.known
def damage(history: ArrayLike | Cycles, curve: SNCurve, *, repeats: bool = False) -> Any:
    """Damage of a stress history: sum of Palmgren and Miner over its rainflow cycles, (3) of the file's header.

    Parameters
    ----------
    history : (k,) or (k, …) [Pa], or Cycles
        Stress over time, or the stresses of many points: each column by itself. As in `rainflow`: with a sign, and with
        its turning points.
    curve : SNCurve
    repeats : bool
        The history is one period of a load that repeats.

    Returns
    -------
    float, or array of the shape of the points
        1: failure. The history can be repeated ``1 / damage`` times; of one that is not periodic the half cycles at its
        ends count half each time, and ``repeats=True`` is the safe choice.

    Examples
    --------
    >>> t = np.linspace(0, 10, 10001)
    >>> stress = 200e6 * np.sin(2 * np.pi * t) + 50e6 * np.sin(2 * np.pi * 7 * t)
    >>> steel = SNCurve(250e6, 1e6, 8.0)
    >>> print(f"{1 / damage(stress, steel, repeats=True) / 360:.0f} h")
    512 h
    """
    owner = Named("damage")
    owner.as_instance("curve", curve, SNCurve, "an SNCurve")
    repeats = owner.as_flag("repeats", repeats)
    if isinstance(history, Cycles):
        return _sum(curve, history.amplitude, history.mean, history.number)
    values = owner.as_array("history", history)
    owner.check(values.ndim > 0 and len(values) > 0, "history", values, "has no values over time")
    sums = np.empty(values.shape[1:])
    for point in np.ndindex(sums.shape):
        size, mean, count = counted(values[(slice(None), *point)], repeats).T
        sums[point] = _sum(curve, 0.5 * size, mean, count)
    return float(sums) if sums.ndim == 0 else sums


def _sum(curve, amplitude, mean, count):
    """Sum (3)."""
    with np.errstate(divide="ignore"):
        return float(np.sum(count / curve.life(amplitude, mean)))
