"""Tasks of the part with joint friction: compiled for models that have it alone.

It is `joint_friction.friction.friction_part` in the decoupled scheme, which has all of them, and
`joint_friction.by_impulses.friction_part` in other methods.

Other parts call it as (run, task) where ``s.friction`` is not 0. "Answer" is ``s.friction_answer``, norms are in
``s.friction_row`` and ``s.friction_slip``.
"""

START = 0  # of a run: statuses by velocities
BEGIN = 1  # of a step
FORCES = 2  # of the smooth sub-problem, and its rows; norms
TANGENTS = 3
RIGHT = 4  # right-hand sides of its rows
MOVE = 5  # λ~ by a part of the Newton step
LET_GO = 6  # friction leaves the smooth sub-problem of this step
FIRST = 7  # of the velocity problems of a step: rows at its end, first guess
IMPULSES = 8  # of a velocity problem, and its rows; norms
SLOPES = 9  # its tangents
JOINT_RATES = 10  # right-hand sides of its rows
KEEP = 11
GO = 12  # Λ to a part of the Newton step
PASSES = 13  # answer: a coefficient was wrong, the problems are solved again
PIECES = 14  # what Newton's iteration has not solved
END = 15  # of a step; answer: the memory starts again
ACCELERATIONS = 16  # consistent ones: begin
WITH_ROWS = 17  # their matrix
RIGHT_SIDES = 18
TAKE = 19  # their friction
CHECK = 20  # answer: solve once more
JUMP = 23  # of friction since the smooth motion, as forces in ``s.f``
REPORT = 22  # forces and work of the step
STARTED = 21  # report them as the friction at the start of a run
JUMPED = 24  # of a jump where a constraint was switched on: statuses by the velocities after it, its work
LAGS = 27  # of a − v̇~ in ``s.trial``, right-hand sides of its rows
SPEEDS = 26  # between two steps, where forces have jumped: statuses where the speed of a surface has jumped too
IMPACT_BEGIN = 40  # of a sequence of impact problems: its impulses so far are those of the smooth forces
IMPACT_WORK = 41  # work of friction in the problem solved last, in ``friction_work``, with its size
IMPACT_DONE = 42  # of an impact problem; answer: another pass up to the touch, the sequence begins again
POSITIONS = 45  # of the coupled problem: half of what impulses do to positions
COUPLINGS = 46  # its blocks other than that of velocities, in column ``s.friction_block``
HELD = 43  # a second velocity problem of the step begins, before its multipliers are zero
RELEASED = 44  # it has ended
RESTARTED = 25  # between two steps, where forces have jumped: friction that the next step begins with
# of the position correction of models with contacts:
CORRECTION_FIRST = 30  # first guess of its friction
CORRECTION = 31  # friction and its rows; norms
CORRECTION_SLOPES = 32  # tangents
CORRECTION_RIGHT = 33  # right-hand sides
CORRECTION_KEEP = 34
CORRECTION_GO = 35  # friction to a part of the Newton step
CORRECTION_BOUNDS = 36  # bounds of the next pass; answer: one has changed
