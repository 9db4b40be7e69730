"""Journal of a run: samples of controllers, and events; in memory and in results files.

/fem_mbs/agenda            attributes: events, samples (numbers of rows that count)
  events/t, name, action   one row per event
  samples/0, 1, …          one row per sample of a controller: t, inputs, outputs; attributes name, inputs, outputs
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.results.file.names import ByName

NAME, ACTION = 80, 240  # bytes of texts in files
START = 256  # rows to take space for
EVENT = np.dtype([("t", "f8"), ("name", "U80"), ("action", "U240")])


class Samples(ByName):
    """Samples of a controller.

    Attributes
    ----------
    name : str
    t : (k,) [s]
    inputs, outputs : (k, n), (k, m)
    output_names : tuple of str

    ``samples["torque"]`` (k,) is one output; ``len(samples)`` is the number of samples.
    """

    def __init__(self, name: str, rows: np.ndarray, n_inputs: int, output_names: Sequence[str]) -> None:
        self.name, self.output_names = name, tuple(output_names)
        self.t, self.inputs, self.outputs = rows[:, 0], rows[:, 1 : 1 + n_inputs], rows[:, 1 + n_inputs :]

    def _items(self):
        return self.output_names

    def _item(self, name):
        return self.outputs[:, self.output_names.index(name)]

    def _where(self):
        return f"controller '{self.name}'"

    def __len__(self):
        return len(self.t)

    def __repr__(self):
        return f"<{len(self)} samples of '{self.name}'>"


class Happened(NamedTuple):
    """Events as a record array with t [s], name, action, and `Samples` by the name of their controller."""

    events: np.ndarray
    samples: dict[str, Samples]


class Journal:
    """Samples and events of a run, as they happen.

    Parameters
    ----------
    controllers : sequence of controllers
    """

    def __init__(self, controllers: Sequence[Any] = ()) -> None:
        self.controllers = list(controllers)
        self.rows: dict[Any, list[np.ndarray]] = {controller: [] for controller in controllers}
        self.happened: list[tuple[float, str, str]] = []
        self.read: dict[str, Samples] = {}  # of a file
        self.datasets: dict[str, Any] = {}
        self.written: dict[str, int] = {}  # rows in the file

    def sample(self, controller: Any, t: float, y: np.ndarray, u: np.ndarray) -> None:
        """Note a sample."""
        self.rows[controller].append(np.concatenate([[t], y, u]))

    def event(self, t: float, name: str, action: str) -> None:
        """Note an event."""
        self.happened.append((t, name, action))

    def found(self) -> "Happened":
        """What has happened, without the parts of the model: results can be sent to other processes."""
        samples = {c.name: Samples(c.name, self._table(c), self._inputs(c), c.outputs) for c in self.controllers}
        return Happened(np.array(self.happened, EVENT).view(np.recarray), self.read | samples)

    @staticmethod
    def _inputs(controller):
        return sum(item.size for item in controller.inputs)

    def _table(self, controller, first=0):
        columns = 1 + self._inputs(controller) + len(controller.outputs)
        return np.array(self.rows[controller][first:]).reshape(-1, columns)

    def get_state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"samples": [self._table(c) for c in self.controllers], "events": list(self.happened)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore what `get_state` has returned."""
        self.rows = {c: list(table) for c, table in zip(self.controllers, state["samples"])}
        self.happened = list(state["events"])

    # --- files --------------------------------------------------------------------------------------------------------

    def create(self, root: Any) -> None:
        """Make the group in a results file."""
        from fem_mbs.results.file.vtkhdf import growing

        group = root.create_group("agenda")
        events, samples = group.create_group("events"), group.create_group("samples")
        self.datasets["events/t"] = growing(events, "t", (), "f8", START)
        self.datasets["events/name"] = growing(events, "name", (), f"S{NAME}", START)
        self.datasets["events/action"] = growing(events, "action", (), f"S{ACTION}", START)
        for i, controller in enumerate(self.controllers):
            n = self._inputs(controller)
            dataset = growing(samples, str(i), (1 + n + len(controller.outputs),), "f8", START)
            dataset.attrs["name"], dataset.attrs["inputs"] = controller.name, np.int64(n)
            dataset.attrs["outputs"] = list(controller.outputs)
            self.datasets[f"samples/{i}"] = dataset
        for name, dataset in self.datasets.items():
            dataset.attrs["n"], self.written[name] = np.int64(0), 0

    def write(self) -> None:
        """Put what is new into the file."""
        new = self.happened[self.written["events/t"] :]
        texts = [np.array([_bytes(row[k], size) for row in new]) for k, size in ((1, NAME), (2, ACTION))]
        columns = [np.array([row[0] for row in new]), *texts]
        for name, values in zip(("events/t", "events/name", "events/action"), columns):
            self._append(name, values)
        for i, controller in enumerate(self.controllers):
            self._append(f"samples/{i}", self._table(controller, self.written[f"samples/{i}"]))

    def _append(self, name, values):
        from fem_mbs.results.file.vtkhdf import write_rows

        if len(values):
            dataset, first = self.datasets[name], self.written[name]
            write_rows(dataset, first, values.astype(dataset.dtype))
            self.written[name] = first + len(values)
            dataset.attrs.modify("n", np.int64(self.written[name]))

    def lengths(self) -> dict[str, int]:
        """Rows in use of each growing dataset, by its name in the file."""
        return {dataset.name[1:]: self.written[name] for name, dataset in self.datasets.items()}


def read_journal(root: Any) -> "Journal":
    """The journal in a results file; ``root``: the h5py group ``fem_mbs``. It is empty where the file has none."""
    journal = Journal()
    if "agenda" not in root:
        return journal
    group = root["agenda"]
    n = int(group["events/t"].attrs["n"])
    texts = [[text.decode(errors="ignore") for text in group["events"][name][:n]] for name in ("name", "action")]
    journal.happened = list(zip(group["events/t"][:n].tolist(), *texts))
    for key in sorted(group["samples"], key=int):
        data = group["samples"][key]
        attrs = data.attrs
        found = Samples(str(attrs["name"]), data[: int(attrs["n"])], int(attrs["inputs"]), list(attrs["outputs"]))
        journal.read[found.name] = found
    return journal


def _bytes(text, size):
    """A text as so many bytes at most."""
    return text.encode()[:size]
