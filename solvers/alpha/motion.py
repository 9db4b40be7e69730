"""Generalized-α method: prediction, coefficients and memory of a step, in compiled code.

    a* = (α_f v̇_n − α_m a_n)/(1 − α_m) ,   a = a* + (1 − α_f)/(1 − α_m) v̇~                                          (1)
    v~ = v_n + h (1 − γ) a_n + h γ a ,   D = h v_n + h² (½ − β) a_n + h² β a                                         (2)

so that ∂v̇~/∂v~ = c_a and ∂D/∂v~ = c_q. Kernels take the record of any method whose table has `alpha.data.COEFFICIENTS`
and `alpha.data.MEMORY`.

Source: docs/theory/decoupled_nsga.md, (7)-(10).
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1, largest_turn
from fem_mbs.solvers.stepping.kernels.codes import LARGEST_TURN
from fem_mbs.solvers.stepping.kernels.sizes import farthest_part

FAR = 0.1  # of the size of the model: displacements by accelerations alone above it are no prediction
FASTER = 10.0  # times the path that the velocities make, likewise: fast rotors have large accelerations


@kernel
def set_coefficients(s, o, alpha_m, alpha_f, beta, gamma):
    """Coefficients of the generalized-α method for the current step size."""
    o.alpha_m, o.alpha_f, o.beta, o.gamma = alpha_m, alpha_f, beta, gamma
    o.c_a = (1.0 - alpha_m) / ((1.0 - alpha_f) * gamma * s.h)
    o.c_q = s.h * beta / gamma


@kernel
def predict(d, s, o):
    """Velocities, accelerations and increments at the end of the step with v̇~ of the last, (1) and (2)."""
    h, Vd, Vs, D = s.h, s.Vd, s.Vs, s.D
    V0, Va0, Vd0, Va = s.V0, s.Va0, o.Vd0, o.Va
    for i in range(d.n_nodes):
        for j in range(6):
            Vd[i, j] = Vd0[i, j]
            star = (o.alpha_f * Vd0[i, j] - o.alpha_m * Va0[i, j]) / (1.0 - o.alpha_m)
            Va[i, j] = star
            Vs[i, j] = V0[i, j] + h * (1.0 - o.gamma) * Va0[i, j] + h * o.gamma * star + Vd[i, j] / o.c_a
            D[i, j] = h * V0[i, j] + h * h * ((0.5 - o.beta) * Va0[i, j] + o.beta * star) + o.c_q / o.c_a * Vd[i, j]


@kernel
def overshoots(s):
    """True if the prediction is no guess of the motion: it turns a node too far, or throws one across the model.

    Accelerations of stiff, damped parts throw them: Newton's iteration could find a root far away, such as the
    position on the other side of its anchor where a spring is unloaded again.
    """
    if largest_turn(s.D) > LARGEST_TURN:
        return True
    thrown = 0.0
    for i in range(s.D.shape[0]):
        for j in range(3):
            thrown = max(thrown, abs(s.D[i, j] - s.h * s.V0[i, j]))
    return thrown > FAR * s.size and thrown > FASTER * s.h * farthest_part(s.V0, s.size)


@kernel
def stand_still(d, s, o):
    """Guess without motion in the step, where the prediction `overshoots`."""
    Vs, Vd, D = s.Vs, s.Vd, s.D
    for i in range(d.n_nodes):
        for j in range(6):
            change = D[i, j] / o.c_q
            Vs[i, j] -= change
            Vd[i, j] -= o.c_a * change
            D[i, j] = 0.0


@kernel
def keep_accelerations(d, s, o, lag):
    """a and v̇~ of the step for the next one, (1); ``lag`` times the change of v̇~ more, where a belongs to a later
    time than the coefficients say.
    """
    Va, Vd, Va0, Vd0 = o.Va, s.Vd, s.Va0, o.Vd0
    factor = (1.0 - o.alpha_f) / (1.0 - o.alpha_m)
    for i in range(d.n_nodes):
        for j in range(6):
            Va0[i, j] = Va[i, j] + factor * Vd[i, j] + lag * (Vd[i, j] - Vd0[i, j])
            Vd0[i, j] = Vd[i, j]


@kernel
def keep_unknowns(s, o, back):
    """Copy the unknowns of the coupled problem, or copy them back."""
    motion, rows, contacts = o.kept_motion, o.kept_rows, o.kept_contacts
    if back:
        copy(motion[0], s.Vs)
        copy(motion[1], s.Vd)
        copy(motion[2], s.D)
        copy(motion[3], s.U)
        copy(motion[4], s.W)
        copy1(rows[0], s.lam)
        copy1(rows[1], s.nu)
        copy1(rows[2], s.Lam)
        copy(contacts[0], s.cnu)
        copy(contacts[1], s.cLam)
        copy(o.kept_forces, o.lam_c)
        return
    copy(s.Vs, motion[0])
    copy(s.Vd, motion[1])
    copy(s.D, motion[2])
    copy(s.U, motion[3])
    copy(s.W, motion[4])
    copy1(s.lam, rows[0])
    copy1(s.nu, rows[1])
    copy1(s.Lam, rows[2])
    copy(s.cnu, contacts[0])
    copy(s.cLam, contacts[1])
    copy(o.lam_c, o.kept_forces)
