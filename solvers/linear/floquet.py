"""Floquet multipliers of a periodic motion: what a small disturbance is multiplied with from period to period.

Disturbances ζ = (z, ż) live in the motions that the constraints allow at the start, δq = Z z, Zᵀδv = ż, with positions
and velocities projected on the constraints. Each is added and subtracted, and run through one period:

    Φ ζ = ( ζ(T; +ε) − ζ(T; −ε) ) / 2ε                                                                              (1)

with the stepper and step of the run itself, so that impacts and friction count as they are. Steppers of order p have
multipliers with errors of h^p; from runs with h and h/2

    Φ ≈ Φ(h/2) + (Φ(h/2) − Φ(h)) / (2^p − 1)                                                                         (2)

has a higher one, and what it changes is an estimate of the error. Runs begin anew at ``breaks``, where functions of
time jump: the memory of a method must not smooth a jump.

Source: docs/theory/rotors.md, (16), (17); Nayfeh & Balachandran, Applied Nonlinear Dynamics (1995), ch. 3.
"""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.model import compiled
from fem_mbs.results.file.names import ByAttribute
from fem_mbs.rotations import log
from fem_mbs.solvers import eigen
from fem_mbs.solvers.counting_rows import counting_rows
from fem_mbs.solvers.stepping.stepper import Stepper
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.arguments.checked import Checked
    from fem_mbs.model import Model
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.system import System


SHARP = 1e-11  # rtol of the runs: their noise is divided by the size of the disturbances
LANDING = 1e-9  # of a step: how far before a jump the run before it ends
MOST = 60  # degrees of freedom: four runs each
ITERATIONS = 20


class Floquet(ByAttribute):
    """Multipliers of one period.

    Attributes
    ----------
    multipliers : (2 r,) complex, by decreasing modulus; r degrees of freedom
    exponents : (2 r,) complex [1/s], log(multipliers)/period; imaginary parts up to multiples of 2π/period
    monodromy : (2 r, 2 r), Φ
    vectors : (2 r, 2 r) complex, eigenvectors by columns
    basis : (n, r), Z
    error : float, change of Φ by the extrapolation (2) over its norm; nan without
    period : float [s]
    """

    _by_name = ("multipliers", "exponents", "monodromy", "vectors", "basis", "error", "period", "stable")

    def __init__(self, monodromy: np.ndarray, basis: np.ndarray, period: float, error: float) -> None:
        values, vectors = np.linalg.eig(monodromy)
        order = np.argsort(-np.abs(values), kind="stable")
        self.multipliers, self.vectors = values[order].astype(complex), vectors[:, order]
        self.monodromy, self.basis, self.period, self.error = monodromy, basis, period, error

    @property
    def exponents(self) -> np.ndarray:
        return np.log(self.multipliers) / self.period

    @property
    def stable(self) -> bool:
        """True if no disturbance grows, to 1e-6 per period. A multiplier 1 is neutral: motion along the orbit."""
        return bool((np.abs(self.multipliers) <= 1 + 1e-6).all())

    def __str__(self):
        lines = ["multiplier                   modulus    exponent [1/s]"]
        for m, e in zip(self.multipliers, self.exponents):
            lines.append(f"{m.real:+.8f} {m.imag:+.8f}i   {abs(m):.6f}   {e.real:+.4g} {e.imag:+.4g}i")
        return "\n".join([*lines, "stable" if self.stable else "UNSTABLE"])

    def __len__(self):
        return len(self.multipliers)

    def __repr__(self):
        return f"Floquet({len(self.multipliers)} multipliers, largest {np.abs(self.multipliers[0]):.6g})"


@Keywords.known
def floquet(
    model: "Model | System",
    period: float,
    stepper: Stepper,
    h: float,
    *,
    about: State | None = None,
    breaks: Sequence[float] = (),
    extrapolate: bool = True,
    step: float = 1e-4,
    tolerance: float = 1e-6,
) -> Floquet:
    """Floquet multipliers of a periodic motion, by runs from disturbed initial states.

    Parameters
    ----------
    model : Model or System
    period : float > 0 [s]
    stepper : a time stepper, such as ``DecoupledNSGA(rho_inf=1.0)``
        Its ``rtol`` is lowered to 1e-11 for these runs.
    h : float > 0 [s]
        Step; the number of steps in a period (between breaks) is rounded up to a whole one.
    about : State, optional
        Where a period begins; default: the initial state of the model. It must come back after a period.
    breaks : sequence of float [s], increasing, within the period
        Times after its beginning at which functions of time jump.
    extrapolate : bool
        Run with h/2 too and extrapolate, see ``error``; twice as many steps again, and four digits more.
    step : float > 0
        Size of the disturbances, times the size of the model [m], 1 rad, and these over a period for velocities.
    tolerance : float > 0
        How near the motion must come back, in the same measure.

    Returns
    -------
    Floquet

    Raises
    ------
    ParameterError
        Not periodic, named with the node that is farthest off; more than 60 degrees of freedom; rows of velocities.
    SolverError
        A run failed.

    Examples
    --------
    >>> import numpy as np
    >>> import fem_mbs as fem
    >>> model = fem.Model("oscillator", gravity=[0, 0, 0])
    >>> mass = model.add(fem.PointMass(1.0, fixed=("y", "z"), position=[1, 0, 0], name="mass"))
    >>> _ = model.add(fem.Spring(model.ground.frame(), mass, stiffness=1.0, free_length=1.0))
    >>> found = fem.floquet(model, np.pi / 2, fem.DecoupledNSGA(rho_inf=1.0), 0.02)
    >>> sorted(found.multipliers.imag.round(5).tolist())  # a quarter of its own period
    [-1.0, 1.0]
    """
    owner = Named("floquet")
    period, h = owner.positive("period", period, "s"), owner.positive("h", h, "s")
    step, tolerance = owner.positive("step", step), owner.positive("tolerance", tolerance)
    extrapolate = owner.as_flag("extrapolate", extrapolate)
    owner.as_instance("stepper", stepper, Stepper, "a time stepper, such as DecoupledNSGA()")
    jumps = owner.as_array("breaks", breaks, (None,), unit="s")
    inside = not len(jumps) or (jumps[0] > 0 and jumps[-1] < period and (np.diff(jumps) > 0).all())
    owner.check(inside, "breaks", breaks, f"s must increase between 0 and the period, {period:g} s")
    system = compiled(owner, model)
    if system.non_holonomic:
        what = (
            f"has {label(system.non_holonomic[0])}, which constrains velocities; Floquet multipliers do not support it"
        )
        raise ParameterError(owner, "model", system.name, what)
    begins = about if isinstance(about, State) else system.initial
    _same_switches(owner, system, begins.t, period)
    system.switch_at(begins.t, begins)
    free = system.n - int(system.active_rows.sum())
    owner.check(free <= MOST, "model", system.name, f"has {free} degrees of freedom, more than {MOST}")
    if about is not None:
        before, system.initial = system.initial, about
    else:
        before = system.initial
    try:
        runs = _Period(owner, system, period, stepper, jumps, step, tolerance)
        coarse = runs.monodromy(h)
        if not extrapolate:
            return Floquet(coarse, runs.Z, period, np.nan)
        fine = runs.monodromy(0.5 * h)
        change = (fine - coarse) / (2**runs.order - 1)
        return Floquet(fine + change, runs.Z, period, float(np.linalg.norm(change) / np.linalg.norm(fine)))
    finally:
        system.initial = before


def _same_switches(owner, system, t, period):
    """Raise unless every element is on after a period if it is on now, and off if it is off."""
    for element in system.elements:
        times = [at for at, _ in element.switch_times() if t < at <= t + period]
        if times and element.is_on(t) != element.is_on(t + period):
            what = f"s is no period: {label(element)} is switched at {times[0]:g} s and not back; begin after that"
            raise ParameterError(owner, "period", period, what)


class _Period:
    """Runs over one period from disturbed states."""

    def __init__(
        self,
        owner: "Checked",
        system: "CompiledSystem",
        period: float,
        stepper: Stepper,
        jumps: Sequence[float] | np.ndarray,
        step: float,
        tolerance: float,
    ) -> None:
        self.owner, self.system, self.stepper, self.start = owner, system, stepper, system.initial.copy()
        self.period, self.tolerance = period, tolerance
        if stepper.rtol is not None and stepper.rtol > SHARP:
            self.stepper = copy.copy(stepper)
            object.__setattr__(self.stepper, "rtol", SHARP)
        self.ends = [*jumps, period]
        system.update_signals(self.start.t)
        G = system.matrices(self.start)[3]
        self.Z = eigen.null_space(G[counting_rows(system, G)])
        self.order = stepper.order
        # sizes of displacements and rotations, and of their rates
        full = np.tile([system.size] * 3 + [1.0] * 3, len(system.nodes))[system.dof >= 0]
        sizes = np.sqrt(self.Z.T**2 @ full**2)
        self.sizes = np.concatenate([sizes, sizes / period])
        self.steps = step * self.sizes

    def monodromy(self, h: float) -> np.ndarray:
        """Φ with steps h."""
        base = self._after(self.start, h)
        self._check_closed(base)
        columns = []
        for j, size in enumerate(self.steps):
            ends = [self._after(self._disturbed(j, sign * size), h) for sign in (1.0, -1.0)]
            plus, minus = (self._coordinates(base, end) for end in ends)
            columns.append((plus - minus) / (2 * size))
        return np.array(columns).T

    def _after(self, state, h):
        """State after one period; runs end just before a jump and begin anew after it."""
        system, t0 = self.system, self.start.t
        state, begin = state.copy(), 0.0
        for end in self.ends:
            steps = int(np.ceil((end - begin) / h - 1e-9))
            length = end - begin - LANDING * h  # at its end a function that jumps there has the value from before
            state.t = t0 + begin
            system.initial = state
            result = self.stepper.run(system, t0 + begin + length, length / steps, save_every=steps, progress=False)
            state, begin = result.state(-1), end
        if not (np.isfinite(state.x).all() and np.isfinite(state.V).all()):
            raise SolverError("floquet: a disturbed run has no finite end")
        return state

    def _coordinates(self, base, state):
        """ζ of a state relative to another one."""
        system = self.system
        delta = np.hstack([state.x - base.x, log(np.einsum("nji,njk->nik", base.R, state.R))])
        both = [self.Z.T @ system.reduced(part) for part in (delta, state.V - base.V)]
        return np.concatenate(both)

    def _check_closed(self, end):
        """Raise unless the motion comes back."""
        back = self._coordinates(self.start, end) / self.sizes
        worst = int(np.abs(back).argmax()) if len(back) else 0
        if len(back) and abs(back[worst]) > self.tolerance:
            r = len(back) // 2
            unknown = int(np.abs(self.Z[:, worst % r]).argmax())
            _, where = self.system.unknown(unknown)
            what = "velocity" if worst >= r else "place"
            raise ParameterError(
                self.owner, "period", self.period,
                f"s is no period of this motion: after it the {what} of {where} is off by {abs(back[worst]):.2g} of "
                f"its size, tolerance {self.tolerance:g}. Begin on the periodic motion (about=…), let a damped run "
                "settle, or take smaller steps",
            )  # fmt: skip

    def _disturbed(self, j, size):
        """The start with one coordinate changed, back on the constraints."""
        system, r = self.system, self.Z.shape[1]
        unit = np.zeros(2 * r)
        unit[j] = size
        state = system.moved(self.start, system.expanded(self.Z @ unit[:r]))
        state.V[:] = self.start.V + system.expanded(self.Z @ unit[r:])
        if system.m:
            self._put_back(state)
        return state

    def _put_back(self, state):
        """Least changes of place and velocity that satisfy g = 0 and ġ = 0."""
        system = self.system
        system.update_signals(self.start.t)
        for _ in range(ITERATIONS):
            g = system.constraint_values(state)[0].copy()
            if np.abs(g).max() <= 1e-14 * max(1.0, system.size):
                break
            G = system.matrices(state)[3].toarray()
            moved = system.moved(state, system.expanded(-np.linalg.lstsq(G, g, rcond=1e-11)[0]))
            state.x[:], state.Q[:], state.R[:] = moved.x, moved.Q, moved.R
        rate = system.constraint_values(state)[1].copy()
        G = system.matrices(state)[3].toarray()
        state.V += system.expanded(-np.linalg.lstsq(G, rate, rcond=1e-11)[0])
