"""Codes at the end of a part of a step, which compiled parts leave in ``s.code``, and the floors of their tests."""

OK = 0
NOT_CONVERGED = 1
SINGULAR = 2
NOT_FINITE = 3
TOO_MANY_PROBLEMS = 4  # of an impact sequence
LARGE_ROTATION = 5  # of a node in one step
JUMP = 6  # a node is farther than its speeds explain, see stepping.checks
ENERGY_ROSE = 7
OUT_OF_RANGE = 8  # an element is in a pose that it is not made for
PASSED = 9  # a contact was passed within the step, or met far from where it touched first; why: see below
TOUCHED = 10  # no failure: the step stopped after its smooth motion, in which a contact closes, see nsga.split
NO_ROOM = 11  # no failure: the arrays of pairs are too small, see granular.step
EXHAUSTED = 12  # the iterations that a step may take are used up, its subdivisions included

# Why a step is rejected as PASSED
UNDECIDED = 0  # where a contact touches first is undecided
MISSED = 1  # a contact is passed and has not acted
ELSEWHERE = 2  # a contact acts along another normal than that of first touch
UNRESOLVED = 3  # a force law stops a fast body within one step

MOST_WORK = 50_000  # iterations of a step, see newton.spend: a hundred times what hard steps take, seconds to a minute
NEVER = 1 << 62  # steps between two that are saved: none is
EXACT = 3e-13  # constraints and gaps hold to this, relative to sizes and speeds, whatever the tolerance of the forces
CLOSED_GAP = 10.0  # times the accuracy of gaps: a gap below it is closed
ROUND_OFF = 1.5e-14  # floor of convergence tests, relative to sizes: sums of a few dozen products of order one
DRIFT = 100.0  # times the accuracy of constraints: contradictions of redundant rows that are left
TOUCHES = 1e-9  # of the size of the positions: gaps down to minus it are no penetration, as at the start of a run
SHIFT = 1e-8  # default of epsilon, the proximal shift of redundant constraints and contacts
# The same for contacts, where a problem has their positions and velocities: Newton steps between two solutions of
# redundant contacts are round-off over the shift, and those with little force change their status with them.
COUPLED_SHIFT = 1e-6
LARGEST_TURN = 3.0  # rad in a step: the exponential map is one-to-one below π

# Extent of a step with ``s.cut``, see nsga.split
WHOLE = 0  # to its end
STOPS = 1  # as before, but not beyond its smooth motion when an open contact closes in that
LOOKS = 2  # to the end of its smooth motion
STRIKES = 3  # from there, where a contact touches, to its end

# Newton's law with the speed at the touch, ``s.touch``, see contact.touch; 0: that at the start of the step
AT_TOUCH = 1
STRUCK = 2  # and a contact closes within this step
STRUCK_WHILE_DRIVEN = 3  # and constraints move with time
