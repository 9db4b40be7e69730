"""Frequency response between inputs and outputs: one sparse solution per frequency, nothing is eliminated.

    [ K + iωC − ω²M   −Gᵀ ] [ δq ]   [ F ]
    [      −G          0  ] [ δμ ] = [ P ] u,      y = Y_q δq + iω Y_v δq − ω² Y_a δq + Y_λ δμ + D u                 (1)

Source: docs/theory/rotors.md, (15).
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.deprecated import Deprecated
from fem_mbs.errors import SolverError
from fem_mbs.linear.factors_complex import Responses
from fem_mbs.results.file.names import ByName
from fem_mbs.results.progress import Progress
from fem_mbs.solvers.linear.linearise import spin_of
from fem_mbs.solvers.linear.ports import Ports
from fem_mbs.solvers.linear.small_motions import small_motions
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from fem_mbs.element.base import Element
    from fem_mbs.element.contact import Contact
    from fem_mbs.model import Model
    from fem_mbs.solvers.static_result import StaticResult
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System


@Deprecated.attributes(remarks="warnings")
class FrequencyResponse(ByName):
    """Complex amplitudes of outputs over those of inputs.

    Attributes
    ----------
    frequency : (k,) [Hz]
    response : (k, outputs, inputs) complex
        Of one output: ``found[output]`` (k, inputs); ``len(found)`` is the number of frequencies.
    inputs, outputs : lists of str
    warnings : list of str, warnings of neglected terms
    """

    def __init__(self, frequency: np.ndarray, response: np.ndarray, ports: Ports, warnings: list[str]) -> None:
        self.frequency, self.response, self.warnings = frequency, response, warnings
        self.inputs, self.outputs = ports.input_names, ports.output_names

    def plot(self, save: str | Path | None = None, *, figure: "Figure | None" = None) -> "Figure":
        """Draw amplitudes and phases over frequency; a matplotlib Figure."""
        import matplotlib

        from fem_mbs.results.drawing.figure import Figure
        from fem_mbs.results.drawing.plot import COLORS, STYLE

        with matplotlib.rc_context(STYLE):
            figure = Figure(figsize=(7.0, 5.2), layout="constrained") if figure is None else figure
            upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
            k = 0
            for j, output in enumerate(self.outputs):
                for i, source in enumerate(self.inputs):
                    h, color = self.response[:, j, i], COLORS[k % len(COLORS)]
                    upper.semilogy(self.frequency, np.abs(h), color=color, label=f"{output} / {source}")
                    lower.plot(self.frequency, np.degrees(np.angle(h)), color=color)
                    k += 1
            upper.set(ylabel="amplitude")
            lower.set(xlabel="frequency [Hz]", ylabel="phase [°]")
            upper.legend()
            if save is not None:
                figure.savefig(save, dpi=150)
        return figure

    def _items(self):
        return self.outputs

    def _item(self, name):
        return self.response[:, self.outputs.index(name)]

    def __len__(self):
        return len(self.frequency)

    def __repr__(self):
        k, outputs, inputs = self.response.shape
        return f"FrequencyResponse({k} frequencies, {outputs} outputs, {inputs} inputs)"


@alone("frequency_response")
@Keywords.known
def frequency_response(
    model: "Model | System",
    inputs: "Element | Sequence",
    outputs: "Element | Sequence",
    frequencies: ArrayLike,
    *,
    about: "StaticResult | State | None" = None,
    rotation: ArrayLike | None = None,
    spinning: bool = False,
    contacts: "str | Sequence[Contact]" = "open",
    progress: bool | None = None,
) -> FrequencyResponse:
    """Steady harmonic response of small motions, for models of any size.

    Parameters
    ----------
    model, inputs, outputs, about, rotation, spinning, contacts
        As in `linearise`; but the input of a driver is the amplitude of its function itself (angle, distance).
    frequencies : (k,) [Hz], ≥ 0
    progress : bool, optional
        Show a progress bar, after two seconds; default: on a terminal.

    Returns
    -------
    FrequencyResponse

    Raises
    ------
    ParameterError
        As `linearise`; a frequency below 0.
    SolverError
        The matrix is singular at a frequency: a resonance without damping, or at 0 a model that is free to move.

    Examples
    --------
    >>> import numpy as np
    >>> import fem_mbs as fem
    >>> model = fem.Model("oscillator", gravity=[0, 0, 0])
    >>> mass = model.add(fem.PointMass(2.0, fixed=("y", "z"), position=[1, 0, 0], name="mass"))
    >>> _ = model.add(fem.Spring(model.ground.frame(), mass, stiffness=50.0, damping=0.4))
    >>> found = fem.frequency_response(model, (mass, "x"), (mass, "x"), [0.0, 5 / (2 * np.pi)])
    >>> np.abs(found.response[:, 0, 0]).round(6).tolist()
    [0.02, 0.5]
    """
    owner = Named("frequency_response")
    frequencies = owner.as_array("frequencies", frequencies, (None,), unit="Hz")
    owner.check(len(frequencies) > 0 and frequencies.min() >= 0, "frequencies", frequencies, "Hz must be ≥ 0")
    spinning = owner.as_flag("spinning", spinning)
    if progress is not None:
        progress = owner.as_flag("progress", progress)
    found = small_motions(owner, model, about, rotation=rotation, spinning=spinning, contacts=contacts)
    ports, n = Ports(owner, found, inputs, outputs), found.system.n
    G, N = found.G, spin_of(found)
    right, matrices = np.vstack([ports.F, ports.P]), _matrices(found, G)
    responses: list[np.ndarray] = []
    with Progress(len(frequencies), enabled=progress, counted="frequencies") as bar:
        for w in 2 * np.pi * frequencies:
            solved = matrices.solve([1.0, 1j * w, -(w**2)], right)
            if solved is None or not np.isfinite(solved).all():
                what = "a resonance without damping" if w > 0 else "something moves without resistance"
                raise SolverError(f"frequency_response: no steady response at {w / (2 * np.pi):.6g} Hz, {what}")
            q, lam = solved[:n], found.spread @ solved[n:]
            y = ports.Yq @ q + 1j * w * (ports.Yv @ q) + ports.Ya @ (-(w**2) * q - 1j * w * (N @ q)) + ports.Yl @ lam
            responses.append(y + ports.D)
            bar.update(len(responses), len(responses))
    return FrequencyResponse(frequencies, np.array(responses), ports, found.warnings)


def _matrices(found, G):
    """K with the rows of joints, C and M, of the size of all unknowns."""
    from scipy.sparse import block_array, csc_array

    C, M, m = csc_array(found.C), csc_array(found.M), G.shape[0]
    if m == 0:
        return Responses([csc_array(found.K), C, M])
    nothing = csc_array((m, m))
    K = block_array([[found.K, -G.T], [-G, None]]).tocsc()
    return Responses([K, *(block_array([[A, None], [None, nothing]]).tocsc() for A in (C, M))])
