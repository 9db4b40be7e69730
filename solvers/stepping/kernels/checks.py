"""Checks of an accepted step, in compiled code: what a step that "converged" can still have done wrong.

    jump          a node moved farther, or turned more, than its speeds and accelerations explain, and than the fastest
                  of all nodes could push it: |x − x_n| > c (h max(|v_n|, |v~|, |v|) + h² |v̇| + (h |Ω|)² l) + floor  (1)
                  with the length l of the model: a node fixed to a body at a distance rotates about it
    range         an element is in a pose that it is not made for, see `fem_mbs.system.checks.element_checks`
    passage       a force law on a contact was jumped over, see `contact.passed`
    energy        the energy of a step rises by no more than
                  min(2 h Π + K/100, K/25) + W ,   Π = Σ_nodes |force| |ẋ| + |moment| |Ω| ,                         (2)
                  with the smooth forces at the nodes, the largest kinetic energy K so far, and what loads and drivers
                  may have given, W of `stepping.monitors.external_work`, 0 in a model without them. W has in addition,
                  for every step, the energy of momenta that the tolerance leaves in the dynamic rows, at the lightest
                  component, min((rtol h F)²/m, rtol F size/10) ,                                                   (4)
                  with the size F of the forces of single elements: a body at rest has no other energy
    drift         and over the run, above any earlier state t_1, by no more than a share of K that `energy_watch` has,
                  E(t_2) − E(t_1) ≤ Σ w⁺ + W(t_1) + share K ,   w⁺ of the steps between them                        (3)

(1), the range and a passage reject a step. In (1) the correction found a root that is not the one next to the start (a
box that turns round in its guide). (2) is looked at between states that are saved, over all steps between them; rises
beyond it are counted, and rejected by ``strict`` runs and, while steps are not far below the user's, by `StepControl`.
The bound is twice what random systems of docs/theory/decoupled_nsga.md need near impacts; where forces are stiff Π
explains any rise, and K/25 is the bound: right steps of 150 random models stayed below K/54, wrong ones began at K/25.
It says nothing of energy that is lost.
"""

import math

from fem_mbs.jit import call2, entry, kernel
from fem_mbs.solvers.stepping.kernels.codes import JUMP, OUT_OF_RANGE
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.sizes import left_over, round_off_of
from fem_mbs.solvers.stepping.monitors.external_work import allow_work
from fem_mbs.system.checks.element_checks import trouble_of

FAST = 10.0  # c of (1): corrections may move a node several times as far as it would fly
FLOOR = 1e-6  # of (1), relative to the size of the model: closing what the tolerances leave open
TURN_FLOOR = 1e-3  # rad
SLACK, SHARE = 0.01, 0.04  # of (2), per step


@kernel
def _size(a, i, first):
    """Length of three of the six numbers of node i."""
    return math.sqrt(a[i, first] ** 2 + a[i, first + 1] ** 2 + a[i, first + 2] ** 2)


@kernel
def _fastest(V, first):
    """Largest speed or angular speed of all nodes."""
    result = 0.0
    for i in range(V.shape[0]):
        result = max(result, _size(V, i, first))
    return result


@kernel
def note_rise(s, energy):
    """Note how far an energy is above an earlier one, less what loads and drivers can have given in between, (3)."""
    excess = energy - s.given_work - s.all_left
    if s.step_number == 0:
        s.least_energy = excess
    rise = excess - s.least_energy
    if rise > max(s.total_rise, round_off_of(s, max(abs(energy), abs(s.least_energy)))):
        s.total_rise, s.total_rise_time = rise, s.t
    # what acts on in the memory of a method is given, but has not entered
    s.least_energy = min(s.least_energy, excess + s.recent_work)


@kernel
def energy_rises(s, kinetic, potential):
    """Note an energy; whether it is above the last one by more than (2) allows."""
    energy = kinetic + potential
    s.top_kinetic = max(s.top_kinetic, kinetic)
    note_rise(s, energy)
    steps, s.looked = s.step_number - s.looked, s.step_number
    rise, allowed = energy - s.last_energy, s.allowed_energy + SLACK * s.top_kinetic
    allowed = min(allowed, SHARE * steps * s.top_kinetic) + round_off_of(s, energy)
    allowed += s.allowed_work + s.left_energy
    s.last_energy, s.allowed_energy, s.allowed_work, s.left_energy = energy, 0.0, 0.0, 0.0
    if s.step_number == 0 or rise <= allowed:
        return False
    s.rises += 1
    if rise > s.largest_rise:
        s.largest_rise, s.rise_time = rise, s.t
    return True


@entry("void(int64, int64)")
def check(data, run):
    """Reject a step in which a node jumped, (1), an element left its range, or bodies passed a compliant contact.

    ``s.jumped`` is the number of a node or of an element out of its range.

    Adds to what (2) allows; the functions of time have the values of the end of the step.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    N, h = d.n_nodes, s.h
    x0, x, Q0, Q = s.x0, s.x, s.Q0, s.Q
    V0, Vs, V, Vd = s.V0, s.Vs, s.V, s.Vd
    Va0, base = s.Va0, s.base
    power = 0.0
    for i in range(N):
        speed = max(_size(V0, i, 0), _size(Vs, i, 0), _size(V, i, 0))
        turn = max(_size(V0, i, 3), _size(Vs, i, 3), _size(V, i, 3))
        far = 0.0
        for j in range(3):
            far += (x[i, j] - x0[i, j]) ** 2
        far = math.sqrt(far)
        allowed = FAST * (h * speed + h * h * max(_size(Vd, i, 0), _size(Va0, i, 0))) + FLOOR * s.scale_x
        allowed += FAST * (h * turn) ** 2 * s.length
        cosine = 0.0
        for j in range(4):
            cosine += Q0[i, j] * Q[i, j]
        angle = 2.0 * math.acos(min(abs(cosine), 1.0))
        may = FAST * (h * turn + h * h * max(_size(Vd, i, 3), _size(Va0, i, 3))) + TURN_FLOOR
        if far > allowed or angle > may:
            # in the middle of a sequence of impacts a body is pushed in a step and hands its speed on in the same one
            fastest = max(_fastest(V0, 0), _fastest(Vs, 0))
            allowed += FAST * h * fastest
            may += FAST * h * (max(_fastest(V0, 3), _fastest(Vs, 3)) + fastest / s.length)
        if far > allowed or angle > may:
            s.jumped = i
            s.farthest = far / allowed if far > allowed else angle / may
            s.code = JUMP
            return
        force = moment = 0.0
        for j in range(3):
            force += base[6 * i + j] ** 2
            moment += base[6 * i + 3 + j] ** 2
        power += math.sqrt(force) * speed + math.sqrt(moment) * turn
    s.allowed_energy += 2.0 * h * power
    left = left_over(s)
    s.left_energy += left
    s.all_left += left
    if s.external.shape[0] > 0:
        allow_work(s)
    troubled = trouble_of(d, x, s.R, x0, s.R0)
    if troubled >= 0:
        s.jumped, s.code = troubled, OUT_OF_RANGE
    elif s.passage_part != 0:
        call2(s.passage_part, data, run)
