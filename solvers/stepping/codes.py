"""How a part of a step ends: the codes that compiled parts leave in ``s.code``, and the floors of their tests."""

OK = 0
NOT_CONVERGED = 1
SINGULAR = 2
NOT_FINITE = 3
TOO_MANY_PROBLEMS = 4  # of an impact sequence
LARGE_ROTATION = 5  # of a node in one step
JUMP = 6  # a node is farther than its speeds explain, see stepping.checks
ENERGY_ROSE = 7
OUT_OF_RANGE = 8  # an element is in a pose that it is not made for
PASSED = 9  # a contact was passed within the step, and where it touched first cannot be told

EXACT = 1e-13  # constraints and gaps hold to this, relative to sizes and speeds, whatever the tolerance of the forces
ROUND_OFF = 5e-15  # floor of convergence tests, relative to sizes: sums of a few dozen products of order one
LARGEST_TURN = 3.0  # rad in a step: the exponential map is one-to-one below π
