"""Frames: which saved states of a run ParaView gets to see. Histories keep all of them.

An animation needs some hundred frames, evenly spaced in time. An impact between two of them would be seen before and
after only: the first saved state with an impact between two of these frames is one more. Chatter and rattling therefore
at most double the number of frames.
"""

from typing import Any

import numpy as np

FRAMES = 120  # by default: five seconds of film


def as_frames(owner: Any, frames: Any) -> Any:
    """The option ``frames`` of a run, checked: a number, "all", or None for no drawing."""
    if frames is None or (isinstance(frames, str) and frames == "all"):
        return frames
    right = isinstance(frames, (int, np.integer)) and not isinstance(frames, (bool, np.bool_)) and frames >= 2
    message = 'must be a number of frames, at least 2, or "all" saved states, or None for a file without a drawing'
    owner.check(right, "frames", frames, message)
    return int(frames)


def frame_interval(frames: Any, parameters: dict[str, Any]) -> float | None:
    """Time between two frames [s] of a run with these parameters; 0 for every saved state, None for no frames.

    Of a run of constant steps it is a whole number of saved states. That of a run whose length is not known, as one of
    load steps, is 0.
    """
    t_end, h = parameters.get("t_end"), parameters.get("h")
    if frames is None:
        return None
    if frames == "all" or t_end is None or not h:
        return 0.0
    duration, between = t_end - parameters.get("t_start", 0.0), h * parameters.get("save_every", 1)
    least = duration / (frames - 1)
    if "output_times" in parameters:
        return 0.0 if parameters["output_times"] < frames else least
    # `StepControl` may take more steps than h says
    return max(least, between * np.ceil(least / between - 1e-9)) if least > between else least


class FrameChoice:
    """Chooses the frames among the saved states of a run, as they come.

    Parameters
    ----------
    interval : float [s]
        Time between two frames; 0: every state is one.
    """

    def __init__(self, interval: float) -> None:
        self.interval, self.next, self.room = interval, -np.inf, True

    def choose(self, rows: dict[str, np.ndarray]) -> list[int]:
        """Numbers of the rows that are frames, of histories ``t``, ``h``, ``impact``."""
        # half a step of slack: a frame time that is missed by round-off would be late by a whole step
        latest: np.ndarray = rows["t"] + 0.5 * rows["h"]
        struck = np.asarray(rows["impact"].any(axis=1))
        chosen = []
        for i, t in enumerate(rows["t"].tolist()):
            if latest[i] >= self.next:
                self.next = max(self.next + self.interval, t) if np.isfinite(self.next) else t + self.interval
                self.room = True
            elif self.room and struck[i]:
                self.room = False
            else:
                continue
            chosen.append(i)
        return chosen

    def get_state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"interval": self.interval, "next": self.next, "room": self.room}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue; a longer run may have room for fewer frames."""
        self.interval, self.next, self.room = max(self.interval, state["interval"]), state["next"], state["room"]
