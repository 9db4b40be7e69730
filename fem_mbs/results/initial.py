"""Results of a model that has not run, for drawing it as it is at the start."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.results.file.writer import ResultsWriter
from fem_mbs.results.table import HISTORIES, separated, shape_of
from fem_mbs.system.compiled import CompiledSystem

if TYPE_CHECKING:
    from fem_mbs.results.results import Results


def at_start(system: CompiledSystem) -> "Results":
    """`Results` of a system that has not run: its initial state alone."""
    writer = ResultsWriter(system)
    state, sizes = system.initial, writer.description["sizes"]
    row = {name: np.zeros((1, *shape_of(name, sizes)), line.kind) for name, line in HISTORIES.items()}
    row |= separated({"position": state.x[None], "quaternion": state.Q[None], "velocity": state.V[None]})
    row |= {"t": np.array([state.t]), "gap": system.gaps(state)[None, : sizes["nc"]]}
    writer.append(row)
    return writer.close("not run")
