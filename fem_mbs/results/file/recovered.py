"""Recovered forces in a results file: group ``fem_mbs/recovered/<contact>`` next to the histories of the run.

    impacts                              table, columns of `fem_mbs.recovery.forces.FIELDS`
    t, force, indentation, velocity      (n,)  histories of the contact, see `RecoveredForces`; an observer, which keeps
                                         no course of impacts, has t, force, continuous and impulse of the steps (k,)
    attributes                           stiffness, exponent, model, filter

Other HDF5 readers find them there; ParaView does not look into the group.
"""

from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np

from fem_mbs.errors import FemMbsError
from fem_mbs.results.file.file_lock import FileLock
from fem_mbs.results.file.read_checks import opened

NOTE = "S120"  # UTF-8: HDF5 has no type for NumPy's texts


def _key(contact):
    """Name of a contact as that of one group: a slash would make two."""
    return contact.replace("/", "_")


def write(
    path: str | Path | None, contact: str, impacts: np.recarray, law: tuple, histories: dict[str, np.ndarray]
) -> None:
    """Put table and histories of one contact into a results file; what was written before for it is replaced.

    ``law``: stiffness (None with a `ForceLaw`), model, exponent and filter.
    """
    if path is None:
        raise FemMbsError(
            f"forces of '{contact}' cannot be saved: the run kept no results file; give a path= of one, or run with "
            'save="….vtkhdf"'
        )
    names = impacts.dtype.names or ()
    kinds = [(name, NOTE if name == "note" else impacts.dtype[name]) for name in names]
    table = np.zeros(len(impacts), kinds)
    for name in names:
        table[name] = np.char.encode(impacts[name].astype(str), "utf-8") if name == "note" else impacts[name]
    stiffness, model, exponent, filter = law
    model = model if isinstance(model, str) else getattr(model, "name", None) or model.__name__
    try:
        with FileLock(path), h5py.File(path, "r+", locking=False) as file:
            group = file["fem_mbs"].require_group("recovered")
            if _key(contact) in group:
                del group[_key(contact)]
            group = group.create_group(_key(contact))
            group["impacts"] = table
            for name, values in histories.items():
                group[name] = values
            group.attrs.update(
                stiffness=np.nan if stiffness is None else stiffness, model=model, exponent=exponent, filter=filter
            )
    except (OSError, KeyError) as error:
        raise FemMbsError(f"forces of '{contact}' cannot be written to {path}: {error}") from error


def read(path: str | Path, contact: str) -> SimpleNamespace:
    """Forces of a contact from a results file, as `Results.recovered` gives them."""
    with opened(path) as file:
        saved = file["fem_mbs"].get("recovered", {})
        if _key(contact) not in saved:
            names = ", ".join(map(repr, saved)) or "none"
            raise FemMbsError(f"{path} has no recovered forces of '{contact}'; it has those of: {names}")
        group = saved[_key(contact)]
        table = group["impacts"][()]
        kinds = [(name, "U60" if name == "note" else table.dtype[name]) for name in table.dtype.names]
        impacts = np.zeros(len(table), kinds).view(np.recarray)
        for name in table.dtype.names:
            impacts[name] = np.char.decode(table[name], "utf-8") if name == "note" else table[name]
        histories = {name: group[name][()] for name in group if name != "impacts"}
        return SimpleNamespace(contact=contact, impacts=impacts, **histories, **dict(group.attrs))
