"""Force recovery: contact forces from the impulses of a nonsmooth run.

A nonsmooth step says what an impact does, not how: impulse and speeds, no force. `recover_forces` makes forces of them
when the run is over, and changes nothing in it:

    1. each impulse is split into the part of a closed contact and that of an impact, Λ = h F_c + Λ_i   (impulse_filter)
    2. approach speed δ̇_i and restitution e = −δ̇_f/δ̇_i come from the motion of the bodies              (contact_motion)
    3. an impact gets the course of the cubic impact with the impulse Λ_i                               (cubic_impact)
    4. and the force of a compliant law, F = K δⁿ (1 + χ δ̇/δ̇_i)                                         (hysteresis)

An impact begins where the gap, closing with δ̇_i, vanishes: t_i = t_n + g_N/δ̇_i, at most at the end of the step, and in
its middle if the contact was closed. It may take longer than the step, or less than 1 % of it. The force of the
contact is F_c, constant in each step, plus those of all impacts; its integral is the sum of the impulses.

What the method cannot know. Impacts without rebound (e < 0.02) have no cubic course: give the restitution of the
material. An impulse that came through other bodies has no approach speed in the results: give ``effective_mass`` m,
then δ̇_i = Λ_i/m − δ̇_f, or ``restitution``. Impacts of which either is missing are in the table, without force. A
contact with two impacts within a step (a sequence of impacts, see ``note``, which subdivided steps have too) is
recovered as one impact. Impacts that overlap, because they last longer than the bodies fly between them, are added.
The force keeps its sign: flores with e < 0.375 pulls shortly before separation, to 2 % of the peak at e = 0.2; cut off
at zero it would no longer have the impulse.

In a mesh an impact moves the mass of the nodes it meets; the rest of a flexible body follows in later steps. Where the
impact would last longer than elastic waves take through the body, the recovered one is too short and too weak, and
others follow it: 6.3 kN in 19 µs instead of 14.5 kN in 101 µs resolved, at the pin of a rod of 0.12 m (the first
impact of
``examples/clearance_crank.py``). Impulses agree to 20 % there, forces do not.

Accuracy, compared with the resolved impact of the same restitution, n = 3/2: duration 4 %, peak force 7 %, indentation
5 % for 0.2 ≤ e ≤ 1 with hu, zhang and consistent; largest at e = 1, where the cubic is not Hertz's half-wave. The
energy of the hysteresis loop is up to 17 % less than that lost (e = 0.95; 1 % for e ≤ 0.4).

Source: docs/theory/force_recovery.md; Sanchez2025 annex C.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import FemMbsError
from fem_mbs.recovery.forces import RecoveredForces, warn_of_meshes
from fem_mbs.recovery.options import Options, check_options
from fem_mbs.results.contact_motion import contact_number
from fem_mbs.results.results import Results


@Keywords.known
def recover_forces(
    result: Results,
    contact: str,
    *,
    stiffness: float | None = None,
    model: str = "consistent",
    exponent: float = 1.5,
    restitution: float | None = None,
    effective_mass: float | None = None,
    filter: str = "kinematic",
    speed_tolerance: float | None = None,
    modes: Any = None,
) -> RecoveredForces:
    """Contact force, indentation and its rate over time, and a table of the impacts, of one contact of a run.

    Parameters
    ----------
    result : Results
        Of a run with every step saved (``save_every=1``).
    contact : str
        Name of the contact.
    stiffness : float > 0 [N/m^exponent]
        K of the law. Two spheres: 4/(3 (σ_A + σ_B)) √(R_A R_B/(R_A + R_B)), σ = (1 − ν²)/E; a sphere on a plane: √R_A
        instead of that root. Peak forces are proportional to K^0.4, durations to K^−0.4.
    model : str, callable or ForceLaw
        "hunt-crossley", "lankarani-nikravesh", "hu", "flores", "zhang", "consistent"; a function of the restitution
        that returns the hysteresis factor χ; or a `ForceLaw`, then without ``stiffness``. The default, integrated in
        time, ends with the restitution asked for. The first two are meant for e above 0.8.
    exponent : float, 1 … 3, -
        3/2 for surfaces that touch in a point, 10/9 or 1 for a line.
    restitution : float, 0.02 … 1, optional
        Used for all impacts. Default: what each impact reached in the run.
    effective_mass : float > 0, optional [kg]
        Of the pair along the normal; only used for impulses that came through other bodies, see the theory.
    filter : {"kinematic", "peak"}
        How impacts are distinguished from closed contact. "peak" is the published filter: from impulses alone, misled
        by oscillating forces and by impacts in adjacent steps.
    speed_tolerance : float > 0, optional [m/s]
        Closed contacts approach with less. Default: 1e-5 of the largest speed in the run, or of |gravity| h, or what
        contacts that stay closed have in the run.
    modes : ReducedContact or ContactModes, optional
        Of bodies that deform while an impact lasts, meshes above all: `fem_mbs.ReducedContact` of the model of the run,
        or the modes at the contact. Forces are integrated in time from the state before each impact, with the
        ``restitution`` of the material, which is needed then; see "Bodies that deform" in the theory.

    Returns
    -------
    RecoveredForces

    Raises
    ------
    FemMbsError
        Not a contact; not every step saved; parameters out of range.

    Warns
    -----
    UserWarning
        If impacts remain without force, with the reason and what to give; if a body deforms and no ``modes`` are given.

    Examples
    --------
    >>> table = model.add(fem.SphereOnPlane(ball, model.ground, radius=0.2, restitution=0.8, name="table"))
    >>> result = fem.DecoupledNSGA().run(model, t_end=0.5, h=1e-3)
    >>> recovered = fem.recover_forces(result, "table", stiffness=140e6, model="flores")
    >>> print(f"{recovered.impacts.duration[0] * 1e3:.2f} ms, {recovered.impacts.peak_force[0] / 1e3:.1f} kN")
    1.42 ms, 9.5 kN
    """
    options = Options(stiffness, model, exponent, restitution, effective_mass, filter, speed_tolerance, modes)
    _check(result, contact, options)
    if modes is None:
        warn_of_meshes("recover_forces", contact, result)
    return RecoveredForces(result, contact, options)


def _check(result, contact, options):
    """Raise an error for arguments without a meaning."""
    owner = Named("recover_forces")
    owner.as_instance("result", result, Results, "the Results of a run")
    owner.as_text("contact", contact)
    if any(group["name"] == contact for group in result.description["contact_groups"]):
        raise FemMbsError(
            f"recover_forces: '{contact}' is a contact group, whose pairs come and go; forces are recovered for "
            "contacts that are elements of their own, such as SphereOnSphere"
        )
    contact_number(result, contact)
    check_options("recover_forces", contact, options)
    steps = result.step
    if len(steps) < 2:
        raise FemMbsError(
            f"recover_forces of '{contact}': the run has {len(steps)} saved states; it needs two at least"
        )
    if np.any(np.diff(steps) != 1):
        raise FemMbsError(
            f"recover_forces of '{contact}': the run saved {len(steps)} of {steps[-1] + 1} states, which have only "
            "sums of the impulses of the other steps; run it with save_every=1, or with a ForceObserver"
        )
