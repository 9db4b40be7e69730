"""A mode as a motion: one period of vibration as a result that can be drawn, animated and opened in ParaView.

    q(t) = q₀ ∘ exp(a Re(φ e^{iωt})),    v = a Re(iω φ e^{iωt})                                                      (1)

Source: docs/theory/statics_and_modes.md, "Modes as motions".
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.runtime import output_path
from fem_mbs.solvers.stepping.kernels.records import records
from fem_mbs.system import assembly

if TYPE_CHECKING:
    from fem_mbs.results.results import Results
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.state import State


SEEN = 0.05  # of the size of the model: amplitude that is easily seen
TURN = 0.3  # rad: largest rotation in a picture


def mode_motion(
    system: "CompiledSystem",
    state: "State",
    shape: np.ndarray,
    omega: float,
    amplitude: float | None,
    frames: int,
    save: str | Path | None,
) -> "Results":
    """Results of one period of a mode, shape (N, 6); ``amplitude``: of the largest displacement [m]."""
    from fem_mbs.results.file.writer import ResultsWriter

    size = float(np.ptp(state.x[system.spatial], axis=0).max()) or system.size
    turned = np.linalg.norm(shape[:, 3:], axis=1).max()
    moving = [shape[system.spatial, :3]]  # and all points of reduced bodies, whose nodes may stand still
    moving += [e.point_motions(state, shape[None])[0] for e in system.elements if e.reduction is not None]
    moved = max(np.linalg.norm(part, axis=1).max() for part in moving)
    if amplitude is None:
        scale = min(SEEN * size / moved if moved else np.inf, TURN / turned if turned else np.inf)
    else:
        scale = amplitude / moved if moved else amplitude
    rate = omega if omega > 0 else 2 * np.pi  # a rigid motion, or one that grows, is shown in one second
    record = records(system, frames + 1)
    lam = np.zeros(system.m)
    for k, angle in enumerate(np.linspace(0, 2 * np.pi, frames + 1)):
        there = system.moved(state, scale * (shape * np.exp(1j * angle)).real)
        V = scale * (1j * rate * shape * np.exp(1j * angle)).real
        record["t"][k], record["step"][k] = angle / rate, k
        record["position"][k], record["quaternion"][k], record["velocity"][k] = there.x, there.Q, V
        assembly.output_values(system.data[0], there.x, there.R, V, system.no_acceleration, lam, record["output"][k])
        record["energy"][k, 1] = assembly.potential_energy(system.data[0], there.x, there.R, V)
    parameters = {"solver": "modes", "t_end": 2 * np.pi / rate, "h": 2 * np.pi / rate / frames}
    writer = ResultsWriter(system, output_path(save), parameters=parameters, frames="all")
    writer.end()
    writer.append(record)
    return writer.close("complete")
