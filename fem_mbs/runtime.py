"""Options of the command line for a script that it runs: end time, step size, where results go, progress shown or not.

A script calls ``stepper.run(model, t_end=…, h=…, save=…)`` as usual; `run` calls `apply` before it uses them.
"""

from pathlib import Path


class Overrides:
    """Values that replace those of a script; None leaves the script's.

    Attributes
    ----------
    t_end, h : float or None [s]
    out : path or None
        Folder for all result files.
    progress : bool or None
        Show a progress bar; None: if the standard error stream is a terminal.
    """

    t_end: float | None
    h: float | None
    out: Path | None
    progress: bool | None

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Leave everything to the script."""
        self.t_end = self.h = self.out = self.progress = None


overrides = Overrides()


def apply(t_end: float, h: float, save: str | Path | None) -> tuple[float, float, str | Path | None]:
    """End time [s], step size [s] and results path (or None) to use in place of a script's own."""
    t_end = t_end if overrides.t_end is None else overrides.t_end
    h = h if overrides.h is None else overrides.h
    return t_end, h, output_path(save)


def output_path(path: str | Path | None) -> str | Path | None:
    """Path of a file that a script writes, moved to the folder of ``--out``; None stays None."""
    if path is None or overrides.out is None:
        return path
    folder = Path(overrides.out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / Path(path).name
