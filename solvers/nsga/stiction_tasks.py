"""Tasks of `nsga.stiction`, which has those of `contact.static_friction` too. Answers are in ``o.answer``."""

from fem_mbs.solvers.contact.static_friction import BEGIN, END, NEXT, START

OF_ALL_METHODS = (START, BEGIN, NEXT, END)
PREDICTED = 4  # coefficients of what slides in the smooth motion, at its predicted velocities
# of a split step:
TIME_FIRST = 5  # of its velocity problems
TIME = 6  # coefficients of the time before the touch
TOUCH = 7  # whether this time needs another pass; else the coefficients of the impact are set
