"""Numbers of the tasks of `nsga.stiction`. Answers are in ``o.answer``."""

START = 0  # of a run, and after velocities have jumped: what slides
BEGIN = 1  # of a step, or of an attempt at one: coefficients of the first pass
NEXT = 2  # whether another pass is needed; its coefficients are set. In a split step: of its impact
END = 3  # of a step: what slides; whether a coefficient of a closed contact has jumped
PREDICTED = 4  # coefficients of what slides in the smooth motion, at its predicted velocities
# of a split step:
TIME_FIRST = 5  # of its velocity problems
TIME = 6  # coefficients of the time before the touch
TOUCH = 7  # whether this time needs another pass; else the coefficients of the impact are set
