"""Go on with a run from its checkpoint, to the last bit as if it had not stopped.

Source: docs/howto/restart.md; docs/theory/restart.md.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import FileError, ModelError
from fem_mbs.model import compiled
from fem_mbs.results.file.results_file import results_path
from fem_mbs.solvers.stepping.saved.checkpoint_file import SUFFIX, checkpoint_path, environment, read, unpickled
from fem_mbs.solvers.stepping.saved.checkpoints import Asked
from fem_mbs.solvers.stepping.saved.fingerprint import difference
from fem_mbs.solvers.stepping.saved.laws import compared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fem_mbs.model import Model
    from fem_mbs.results.results import Results
    from fem_mbs.system.system import System

OWNER = Named("resume")


@Keywords.known
def resume(
    path: str | Path,
    t_end: float | None = None,
    *,
    model: "Model | System | None" = None,
    observers: "Sequence | None" = None,
    progress: bool | None = None,
) -> "Results":
    """Go on with a run that was saved with ``checkpoint_every``, from its last checkpoint.

    Parameters
    ----------
    path : path
        The results file of the run, or its checkpoint next to it.
    t_end : float, optional [s]
        Time at which the run ends; default: as it was asked for.
    model : Model or System, optional
        The same model, made anew. Needed when the model could not be saved: functions of time that are lambdas, or
        classes and functions of a script that Python does not find by name.
    observers : sequence, optional
        Those of the run, made anew, in the same order; default: as they were saved. The result has them as
        ``result.observers``.
    progress : bool, optional
        As of ``run``.

    Returns
    -------
    Results
        Of the whole run, from its beginning. Rows that were saved after the checkpoint are computed again.

    Raises
    ------
    FileError
        No checkpoint, a damaged one, one of another version of fem_mbs; the results file is not that of the run.
    ModelError
        The model is not that of the run, or could not be saved and is not given.
    ParameterError
        ``t_end`` is before the checkpoint, or the run is complete and none is given.

    Notes
    -----
    States, impulses, histories, statistics and warnings are equal to the last bit to those of a run that was not
    stopped, on the same machine with the same versions of Python and its packages. Where these have changed the result
    says so in its ``warnings``. With `StepControl` a run that had ended before continues from its last step, which was
    cut to end at ``t_end``.

    A checkpoint is a pickle: reading it can run any code. Resume only files whose origin you trust.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> result = fem.resume("long_run.vtkhdf", t_end=20.0)  # doctest: +SKIP
    """
    file = _checkpoint(path)
    head, parts = read(file)
    notes = _environment_notes(file, head["environment"])
    asked = _asked(file, head, t_end)
    system = _system(file, head, parts, model)
    method = unpickled(file, "method", parts["method"])
    state = unpickled(file, "state", parts["state"])
    different = difference(system, state["model"])
    if not different and head["environment"].get("python") == environment()["python"]:
        different, more = compared(system, state["model"])
        notes = [*notes, *more]
    if different:
        raise ModelError(
            f"model '{system.name}' is not the one of checkpoint {file}: {different} differs. Give the same model, or "
            "begin a new run from a saved state with fem.continue_from(result, time)",
            [system.model],
        )
    system.initial = state["initial"]
    watching = _observers(file, head, parts, observers, len(state["observers"]))
    with system.in_use("a run"):
        system.number_nodes()
        return method._take(system, asked, watching, progress, saved=state, notes=notes)


def _checkpoint(path):
    """Path of the checkpoint by its own name or by that of the results."""
    path = Path(OWNER.as_instance("path", path, (str, Path), "the path of a results file or of its checkpoint"))
    return path if path.name.endswith(SUFFIX) else checkpoint_path(results_path(path))


def _environment_notes(file, saved):
    """What has changed since the checkpoint was written, in words; a FileError where that cannot be."""
    now = environment()
    if saved.get("fem_mbs") != now["fem_mbs"]:
        raise FileError(
            file, f"was written by fem_mbs {saved.get('fem_mbs')}, this is {now['fem_mbs']}: go on from a saved state "
            "with fem.continue_from(result, time)",
        )  # fmt: skip
    changed = [f"{name} {saved.get(name)} → {now[name]}" for name in now if saved.get(name) != now[name]]
    if not changed:
        return []
    return [f"the run was resumed with {', '.join(changed)}: its last bits may be others than those of one run"]


def _asked(file, head, t_end):
    """What the run is asked for now: as then, to another time, with the results next to the checkpoint."""
    from fem_mbs.results.file import read_checks

    asked = Asked(**head["asked"])
    results = Path(str(file)[: -len(SUFFIX)])
    if t_end is None and head["complete"]:
        with read_checks.opened(results) as opened:
            status = bytes(opened["fem_mbs"].attrs["status"]).decode().rstrip("\0")
        if status == "complete":
            OWNER.check(False, "t_end", None, f"is needed: the run in {results} is complete at t = {head['t']:g} s")
    t_end = asked.t_end if t_end is None else OWNER.number("t_end", t_end, "s")
    OWNER.check(t_end >= head["t"] - 1e-9 * asked.h, "t_end", t_end, f"s is before the checkpoint, t = {head['t']:g} s")
    return asked._replace(t_end=t_end, save=results)


def _system(file, head, parts, model):
    """The system of the run: compiled from the model that is given, or as it was saved."""
    if model is not None:
        return compiled(OWNER, model)
    again = "Give the model again: fem.resume(FILE, model=model)"
    if "model" not in parts:
        why = head["no_model"]
        raise ModelError(f"checkpoint {file} has no model, because it could not be saved ({why}). {again}", [])
    try:
        return unpickled(file, "model", parts["model"])
    except FileError as error:
        raise ModelError(f"{error}. {again}", []) from error


def _observers(file, head, parts, given, number):
    """Observers that go on, as many as the run had."""
    if given is None:
        if number and "observers" not in parts:
            why = f"could not be saved with the run ({head['no_observers']}): give them again, in the same order"
            OWNER.check(False, "observers", None, why)
        given = unpickled(file, "observers", parts["observers"]) if number else ()
    given = tuple(OWNER.as_instance("observers", given, (list, tuple), "a list of observers"))
    OWNER.check(len(given) == number, "observers", len(given), f"were given, the run had {number}")
    return given
