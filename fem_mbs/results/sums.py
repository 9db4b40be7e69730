"""Sums of what saved states report of the steps since the state before, where only some of these states are kept.

Impulses are added as vectors in inertial axes and reported along the axes of the state that is kept: the sum over kept
states is that over all steps. Contacts of contact groups, which come and go, are added by their bodies.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.results.table import PAIR_COLUMNS, pair_column

SUMS = ("impulse", "moment_impulse", "problems", "repeats", "contact_problems")  # and "impact": any of the steps
KEY = slice(0, 4)  # columns of a table of pairs that say which contact it is


def vectors(rows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Impulses [N s] and moment impulses [N m s] of contacts (k, nc, 3) in inertial axes."""
    n, t = rows["contact_normal"], rows["contact_tangents"]
    impulse, moment = rows["impulse"], rows["moment_impulse"]
    return (
        impulse[..., :1] * n + (impulse[..., 1:, None] * t).sum(axis=-2),
        moment[..., 2:] * n + (moment[..., :2, None] * t).sum(axis=-2),
    )


def along_axes(rows: dict[str, np.ndarray], Lam: np.ndarray, chi: np.ndarray) -> dict[str, np.ndarray]:
    """Histories ``impulse`` and ``moment_impulse`` (k, nc, 3) of vectors (k, nc, 3) along the axes of contacts."""
    n, t = rows["contact_normal"], rows["contact_tangents"]
    normal, spin = (n * Lam).sum(axis=-1, keepdims=True), (n * chi).sum(axis=-1, keepdims=True)
    slide, roll = (t * Lam[..., None, :]).sum(axis=-1), (t * chi[..., None, :]).sum(axis=-1)
    return {
        "impulse": np.concatenate([normal, slide], axis=-1),
        "moment_impulse": np.concatenate([roll, spin], axis=-1),
    }


def between(values: np.ndarray, chosen: Sequence[int], waiting: Any) -> tuple[np.ndarray, np.ndarray]:
    """Sums of values (k, …) from behind one chosen row up to the next, and of what is behind the last.

    ``waiting`` is such a rest of the rows before these.
    """
    ends = [*(i + 1 for i in chosen), len(values)]
    total = np.array([values[a:b].sum(axis=0) for a, b in zip([0, *ends], ends)])
    total[0] += waiting
    return total[:-1], total[-1]


class KeptStates:
    """Keeps some of the states of a run, with what the others report of their steps.

    Attributes
    ----------
    rest : dict of name -> array
        What states behind the last that was kept have reported.
    pairs : list of arrays
        Tables of the closed contacts of contact groups in these.
    """

    def __init__(self) -> None:
        self.rest: dict[str, Any] = {}
        self.pairs: list[np.ndarray] = []

    def keep(
        self, rows: dict[str, np.ndarray], pairs: list[np.ndarray], chosen: np.ndarray
    ) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
        """The chosen rows of (k, …), and their tables of pairs."""
        kept = {name: values[chosen] for name, values in rows.items()}
        if len(chosen) < len(rows["step"]) or self.rest:
            sums = dict(zip(("impulse", "moment_impulse"), vectors(rows)))
            sums |= {name: rows[name] for name in (*SUMS[2:], "impact")}
            for name, values in sums.items():
                sums[name], self.rest[name] = between(values, list(chosen), self.rest.get(name, 0))
            kept |= {name: sums[name] for name in SUMS[2:]} | {"impact": (sums["impact"] != 0).astype("i1")}
            kept |= along_axes(kept, sums["impulse"], sums["moment_impulse"])
        tables, marks = [], set(chosen.tolist())
        for i, table in enumerate(pairs):
            if i in marks:
                tables.append(merged(table, self.pairs))
                self.pairs = []
            else:
                self.pairs.append(table)
        return _counted(kept, tables), tables

    def keep_last(
        self, row: dict[str, np.ndarray], pairs: list[np.ndarray]
    ) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
        """The state in which a run ends, which `keep` has seen and not kept: its row, and its table of pairs."""
        rest, tables = self.rest, [merged(table, self.pairs[:-1]) for table in pairs]
        kept = row | {name: np.array([rest[name]]) for name in SUMS[2:]} | {"impact": (rest["impact"] != 0)[None]}
        return _counted(kept | along_axes(kept, rest["impulse"][None], rest["moment_impulse"][None]), tables), tables

    def get_state(self) -> dict[str, Any]:
        """Copy the sums of states that were not kept."""
        return {"rest": dict(self.rest), "pairs": list(self.pairs)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` has given."""
        self.rest, self.pairs = dict(state["rest"]), list(state["pairs"])


def _counted(rows, tables):
    """Rows with the numbers of contacts in their tables."""
    return rows | {"pair_count": np.array([len(table) for table in tables])} if tables else rows


def merged(table: np.ndarray, earlier: Sequence[np.ndarray]) -> np.ndarray:
    """Table of pairs (n, PAIR_COLUMNS) with the impulses of earlier tables added.

    A contact that is not in the table joins it with status 0, open, and the place where it has acted last.
    """
    before = np.concatenate([np.zeros((0, PAIR_COLUMNS)), *earlier])
    if not len(before):
        return table
    keys, of = np.unique(before[:, KEY], axis=0, return_inverse=True)
    joined = np.zeros((len(keys), PAIR_COLUMNS))
    joined[of.ravel()] = before  # of one contact the last
    number = len(table)
    _, first, of_all = np.unique(np.concatenate([table[:, KEY], keys]), axis=0, return_index=True, return_inverse=True)
    at = first[of_all.ravel()[number:]]
    table, there = table.copy(), at < number
    for name in ("impulse", "moment_impulse"):
        columns = pair_column(name)
        total = np.zeros((len(keys), 3))
        np.add.at(total, of.ravel(), before[:, columns])
        joined[:, columns] = total
        table[at[there], columns] += total[there]
    joined[:, pair_column("status")] = joined[:, pair_column("force")] = 0.0
    return np.concatenate([table, joined[~there]])
