"""Items of the five sources that are not cases of ``fem-mbs validate``, or are otherwise: judgements, one row each.

Algorithms and laws that agree are in `source_agreements`; `source_pages` adds the cases that agree, and writes
docs/source_items.md.
"""

from typing import NamedTuple

from source_agreements import AGREE

STATES = ("works", "differs", "partly", "missing")


class Row(NamedTuple):
    """An item of a source.

    Parameters
    ----------
    source : str
        Key of `fem_mbs.sources`.
    cites : str
        Sections, equations, figures and tables of the item, as the source numbers them; empty where it has no number.
    item : str
        Its content.
    state : {"works", "differs", "partly", "missing"}
        It is there; with another number, rule or setting; a part of it; it is not.
    found : str
        Difference, or what is missing; of what works, what it is here.
    where : str
        File or folder, from the root of the repository; of an example or a case: the row is a judgement of it.
    check : str
        Command that shows the state.
    """

    source: str
    cites: str
    item: str
    state: str
    found: str
    where: str = ""
    check: str = ""


VALIDATE, STEPPERS = "fem-mbs validate", "pytest tests/validation/steppers"
BEARINGS, ORDERS = "pytest tests/validation/bearings", f"{STEPPERS}/test_orders_of_the_page.py"
ITERATIONS = f"{VALIDATE} sanchez2025-iterations"
PLAIN_LAWS = "pytest tests/elements/contacts/test_plain_laws.py"
THESIS, BRULS, IMPACTS, LOBATTO, CONES = "Sanchez2025", "Bruls2014", "Capobianco2021", "Capobianco2024", "Negrut2018"

ROWS = (
    # --- Sanchez2025: scheme and laws ---------------------------------------------------------------------------------
    Row(THESIS, "2.3.4", "Poisson's law of impact, named as the alternative", "works",
        "`impact_law=\"poisson\"` for impacts of one contact with friction; the default is Newton's law",
        "solvers/contact/impact_course.py", "pytest tests/solvers/contact/test_impact_course.py::"
        "test_a_rod_that_hits_a_floor_has_the_impulses_of_poissons_closed_form"),
    Row(THESIS, "2.4, (2.31)", "smooth motion, position and velocity problem", "differs",
        "h²/2 in the position problem, as in the annexes, where (2.31) has h²; `DecoupledNSGA.published` reflects the "
        "approach at the start of a step, the default the slower one", "solvers/nsga",
        f"{STEPPERS}/test_nsga_decisions.py"),
    Row(THESIS, "1.4.4, 2.4", "Newmark and HHT methods as members of the family", "works",
        "`alpha_m`, `alpha_f`, `gamma`, `beta` in place of `rho_inf`", "solvers/alpha/coefficients.py",
        "pytest tests/solvers/alpha/test_alpha_coefficients.py"),
    Row(THESIS, "(A.57), (B.44), (C.42)", "test of convergence", "differs",
        "another test, with gaps solved to round-off; documented in the theory", "docs/theory/decoupled_nsga.md",
        f"{STEPPERS}/test_iterations.py"),
    Row(THESIS, "(A.31), (A.32)", "rolling and spinning resistance", "differs",
        "the position correction includes them: angles are of second order, in the source of first", "solvers/contact",
        f"{STEPPERS}/test_annex_a.py::test_angle_of_the_stopping_ball_is_second_order"),
    Row(THESIS, "B.4", "sphere-sphere element", "differs",
        "tangents are those of the end of a step, convected; the source freezes those of its start",
        "elements/contacts/shapes/sphere_sphere.py", "pytest tests/elements/contacts/test_contact_sphere_sphere.py"),
    Row(THESIS, "B.4, (B.36)", "numerical experiment on the range of the incremental slip", "missing",
        "the text available announces it without its numbers"),
    Row(THESIS, "(2.38), (C.1)", "Hooke's law", "works", '`CompliantContact(model="hooke")`',
        "elements/contacts/compliant.py", f"{PLAIN_LAWS}::test_elastic_laws_keep_the_energy_and_reach_its_indentation"),
    Row(THESIS, "(C.5)", "Kelvin-Voigt law", "works", '`CompliantContact(model="kelvin-voigt", damping=…)`, cut off '
        "where it would pull", "elements/contacts/compliant.py",
        f"{PLAIN_LAWS}::test_an_impact_on_kelvin_and_voigts_law_returns_the_closed_form"),
    Row(THESIS, "3.3.2, (3.41)", "first approximation of the force, one cubic", "differs",
        "replaced by the piecewise cubic of annex C", "fem_mbs/recovery/cubic_impact.py",
        "pytest tests/core/recovery/test_force_recovery.py"),
    Row(THESIS, "A.6.3, C.6.4, 4.5", "beam of Lens and Cardona", "differs",
        "geometrically exact beams with three nodes; with two by option", "elements/beams",
        "pytest tests/validation/beams"),
    Row(THESIS, "C.6.4", "Rayleigh damping ratio", "differs", "proportional to stiffness alone",
        "elements/beams/three_pose_damping.py", f"{VALIDATE} clearance_crank"),
    # --- annex A ------------------------------------------------------------------------------------------------------
    Row(THESIS, "A.6.3, figures A.10, 3.5", "rigid roller-crank", "partly",
        "the pose is only in a figure: two poses are in use for two groups of numbers; the source prints no number",
        "examples/roller_crank.py",
        f"{STEPPERS}/test_annex_a.py::test_rigid_roller_crank_follows_an_independent_model_with_first_order"),
    Row(THESIS, "A.6.3", "comparison with the friction laws of Marques", "works",
        "smoothed and switched laws, integrated apart from fem_mbs: the switched one oscillates, the scheme does not",
        "benchmarks/regularised_friction.py", "python benchmarks/regularised_friction.py"),
    Row(THESIS, "A.6.3, figures A.11, A.13, 3.6, 3.7", "roller-crank with a flexible rod", "differs",
        "two lift-offs in one of ten poses, none in the pose of the rigid numbers", "examples/roller_crank.py",
        f"{VALIDATE} roller_crank"),
    Row(THESIS, "A.6.4, figures A.14, A.16", "ball against a wall", "differs",
        "printed times need a start at x = 0, the text has 0.1 m: both; the printed spin needs a wall with friction",
        "examples/ball_against_wall.py", f"{VALIDATE} ball_against_wall"),
    Row(THESIS, "figures A.5, A.6, A.7", "orders of convergence", "differs",
        "resistance to rolling and spinning is of second order, published 1", "benchmarks/orders.py", ORDERS),
    Row(THESIS, "A.6", "iterations of annex A", "differs",
        "A.6.3 with beams needs two more in the velocity problem, A.6.1 one more in positions",
        "benchmarks/iterations.py", f"{STEPPERS}/test_iterations.py"),
    # --- annex B ------------------------------------------------------------------------------------------------------
    Row(THESIS, "B.5.2, figure B.6", "30° rule without spin", "differs", "spin is taken by a damper, not fixed",
        "examples/thirty_degree_rule.py",
        f"{STEPPERS}/test_thirty_degree_rule.py::"
        "test_friction_of_the_balls_opens_the_angle_less_when_they_may_not_spin"),
    Row(THESIS, "B.5.3, figure B.11", "28 shots", "differs",
        "without cloth; with the default scheme from any start distance. On the printed cloth angles differ by 0.1°",
        "examples/spinning_cue_ball.py", f"{VALIDATE} spinning_cue_ball"),
    Row(THESIS, "B.5.6, figure B.25", "comparison with a penalty approach", "works",
        "constant steps take 1,300 times as long as impacts (625 in the source), controlled steps 3 to 6 times",
        "benchmarks/penalty.py", "python benchmarks/penalty.py"),
    Row(THESIS, "figures B.8, B.13, B.26", "quadratic convergence of residuals", "partly",
        "for the break and for smooth steps, not for B.8 and B.13", "benchmarks/newton_residuals.py",
        "python benchmarks/newton_residuals.py"),
    Row(THESIS, "figures B.4, B.9, B.14, B.19, B.22", "orders of convergence", "differs",
        "angles of B.5.1 are above first order, velocities of B.5.4 scatter around it", "benchmarks/orders.py", ORDERS),
    Row(THESIS, "B.5", "iterations of annex B", "differs", "one more in B.5.3, B.5.4 and B.5.5; none with gaps to 1e-6",
        "fem_mbs/cases/iterations.py", "python benchmarks/accuracy_of_gaps.py"),
    # --- annex C ------------------------------------------------------------------------------------------------------
    Row(THESIS, "figure C.12b", "steps of up to 69 durations of the impact without loss", "differs",
        "steps of 72 durations: duration 8 % longer, force 7 % lower at e = 0.8", "fem_mbs/recovery/recover.py",
        "pytest tests/core/recovery/test_force_recovery.py::"
        "test_recovered_impact_converges_with_the_step_size_even_where_it_takes_seventy_impacts"),
    Row(THESIS, "figure C.11d", "orders of convergence", "differs", "below 1 in velocities", "benchmarks/orders.py",
        ORDERS),
    Row(THESIS, "C.6.2, figure C.14", "two spheres, law of Hu", "differs",
        "0.2302 ms for 0.226 ms at e = 0.2: equations of the source give 0.2302 ms", "fem_mbs/cases/sanchez2025.py",
        f"{VALIDATE} sanchez2025-recovery"),
    Row(THESIS, "C.6.3, figures C.17, C.19", "slider and block", "differs",
        "times and durations within 1 %; the distance of the centres is not printed", "examples/slider_hits_block.py",
        f"{VALIDATE} slider_hits_block"),
    Row(THESIS, "C.6.4, figures C.21, C.22, C.24", "crank with a clearance of 0.05 mm", "differs",
        "3.6 kN at 1 µs for 4.5 kN, resolved in time 3.3 kN; contact stiffness and pin are not printed",
        "examples/clearance_crank.py", "python benchmarks/clearance_ensemble.py"),
    Row(THESIS, "annex C, C.6.4", "forces of impacts on a node of a flexible body", "works",
        "the mass of the node gives 6.3 or 5.2 kN, modes 14.8 kN, resolved 14.6 kN; later impacts begin with the "
        "state of the run", "solvers/linear/reduced_contact.py",
        "pytest tests/core/recovery/test_modal_recovery.py::"
        "test_first_impact_of_the_crank_with_clearance_is_the_resolved_one"),
    Row(THESIS, "C.6.4, figures C.23, C.24", "crank with a clearance of 0.1 mm", "differs",
        "impacts of the printed size; forces do not converge in the step as they do there; resolved 4.1 kN for 4.5",
        "examples/clearance_crank.py", "python benchmarks/clearance_ensemble.py"),
    Row(THESIS, "C.6", "iterations of annex C", "partly", "C.6.4 is not among them; one more in C.6.1 and C.6.3",
        "fem_mbs/cases/iterations.py", ITERATIONS),
    # --- chapters 4 and 5 ---------------------------------------------------------------------------------------------
    Row(THESIS, "chapter 4, (4.12)", "stresses of the bearing", "partly",
        "Young's modulus is not printed: chosen from them", "examples/hertz_contact.py", f"{VALIDATE} hertz_contact"),
    Row(THESIS, "4.5, figure 4.8a", "crank mechanism with a bearing, rigid links", "differs",
        "7.5 to 9.1 kN for 9.1 kN after the first impact, which is 12.7 kN; the motion is chaotic",
        "fem_mbs/cases/crank_bearing/cases.py", f"{VALIDATE} sanchez2025-bearing-rigid"),
    Row(THESIS, "4.5", "crank mechanism with a bearing, flexible links", "differs",
        "the largest force of 2.5 kN is not reproduced: 24 to 35 kN at the printed step, 6 kN resolved in time, 4.4 kN "
        "with 5 % of damping, which is not printed",
        "fem_mbs/cases/crank_bearing/cases.py", f"{VALIDATE} sanchez2025-bearing-flexible"),
    Row(THESIS, "(4.13)", "stresses of the bearing of the crank", "partly",
        "the groove radius is not printed: computed from them", "examples/crank_with_bearing.py",
        "pytest tests/core/hertz/test_hertz.py::test_pressure_of_the_crank_bearing_of_the_thesis_is_possible"),
    Row(THESIS, "5.2", "future work: three-dimensional bearing", "works",
        "`RigidBallBearing` with grooves: nonsmooth contacts; `DynamicBearing`: compliant races, cage with pockets",
        "elements/bearings/grooved_races.py", f"{BEARINGS}/test_grooved_bearing.py"),
    Row(THESIS, "5.2", "future work: fatigue and life", "works",
        "from loads (ISO/TS 16281), from balls that pass points of a race, and from stresses by rainflow counting",
        "fem_mbs/bearings/raceway.py", "pytest tests/core/bearings/test_raceway.py tests/core/fatigue"),
    Row(THESIS, "5.2", "future work: recovery within the run, wear", "partly",
        "forces are recovered within the run; wear changes the clearance of the next run by its mean depth, not as a "
        "profile around a bore", "fem_mbs/bearings/wear_growth.py", "pytest tests/core/bearings/test_wear_growth.py"),
    Row(THESIS, "5.2", "future work: experiment with a bearing", "missing", "no measured data"),
    # --- Bruls2014 ----------------------------------------------------------------------------------------------------
    Row(BRULS, "section 6, (29), (30)", "scheme with constraints at both levels", "differs",
        "contacts with a position impulse take part in velocities, in addition to those that the prediction closes",
        "solvers/alpha/nonsmooth_ggl.py", f"{STEPPERS}/test_nonsmooth_ggl.py"),
    Row(BRULS, "7.2", "other predictions of the gap", "works",
        "the option `prediction`; \"start\" and \"flight\" do not come to rest, \"end\" needs a tolerance",
        "solvers/alpha/contacts.py", "pytest tests/solvers/alpha/test_predictions.py"),
    Row(BRULS, "(5)", "singular mass matrices", "works",
        "nodes and bodies without mass, `RigidBody(0, 0)`, where constraints determine their motion",
        "elements/bodies/rigid_body.py", "pytest tests/elements/test_light_links.py"),
    Row(BRULS, "9.1, (50)", "Moreau-Jean scheme", "differs",
        "directions of contacts are those of the middle of a step: other gaps of pendulum and block",
        "solvers/moreau/moreau_jean.py", f"{VALIDATE} bruls2014-pendulum bruls2014-block"),
    Row(BRULS, "section 10, figures 2-24", "figures that compare schemes", "partly",
        "all quantities of the text but position impulses and parts of joint forces, which results do not contain",
        "docs/as_published.md", f"{VALIDATE} bruls2014-ball --plot"),
    # --- Capobianco2021 -----------------------------------------------------------------------------------------------
    Row(IMPACTS, "section 5", "Newmark and HHT coefficients", "works", "options of the method",
        "solvers/alpha/coefficients.py", "pytest tests/solvers/alpha/test_alpha_coefficients.py"),
    Row(IMPACTS, "section 7, (112)-(120)", "friction at three levels", "differs",
        "another rule for the state before the step", "solvers/three_levels/levels_friction.py",
        f"{STEPPERS}/test_nonsmooth_friction.py"),
    Row(IMPACTS, "section 8", "general kinematic equation: quaternions, minimal coordinates", "partly",
        "minimal coordinates in an element of the user; no other unknowns for rotations: `docs/concepts.md`",
        "docs/concepts.md", "pytest tests/elements/test_minimal_coordinates.py"),
    Row(IMPACTS, "10.5, figure 6", "guided hopper", "differs",
        "a geometrically exact beam with rotary inertia for two B-spline elements; momentum balances only",
        "examples/guided_hopper.py", f"{VALIDATE} guided_hopper"),
    Row(IMPACTS, "section 10", "iterations in six footnotes", "differs",
        "seven of twelve numbers are exceeded; with gaps to 1e-6 and forces to 1e-4, three",
        "fem_mbs/cases/iterations.py", "python benchmarks/accuracy_of_gaps.py"),
    Row(IMPACTS, "figures 1-5", "figures of ball and rod", "works", "with all time steppers that take the cases",
        "docs/as_published.md", f"{VALIDATE} capobianco2021-ball-bounces --plot"),
    # --- Capobianco2024 -----------------------------------------------------------------------------------------------
    Row(LOBATTO, "section 4", "any number of stages", "works", "2 to 11; with more a step is exact to round-off",
        "solvers/lobatto/tableau.py", f"{STEPPERS}/test_lobatto_many_stages.py"),
    Row(LOBATTO, "(57)-(59)", "friction at stages and as impulse", "differs",
        "other equations for persistent contacts: the order is kept where directions turn",
        "solvers/lobatto/contacts.py", f"{STEPPERS}/test_lobatto_contacts.py"),
    Row(LOBATTO, "6.3, figure 8", "point on a slope with an impact", "differs",
        "a gap is the distance to the curve, in the source measured across the slope at the same x",
        "fem_mbs/cases/capobianco2024.py", f"{VALIDATE} capobianco2024-slope-impact"),
    Row(LOBATTO, "6.3, figure 9", "convergence on the slope", "works",
        "all eight steps, with and without impact, against an independent integration",
        "fem_mbs/cases/capobianco2024.py", f"{VALIDATE} capobianco2024-slope-errors"),
    Row(LOBATTO, "figures 3-4, 6, 8-9", "figures of the examples", "works", "end times are not printed",
        "docs/as_published.md", f"{VALIDATE} capobianco2024-slope --plot"),
    # --- Negrut2018 ---------------------------------------------------------------------------------------------------
    Row(CONES, "", "state with Euler parameters", "differs", "rotation matrices", "fem_mbs/rotations.py"),
    Row(CONES, "", "contacts within a distance δ", "works", "`contact_distance`; without it the solver chooses",
        "solvers/cone", f"{STEPPERS}/test_cone_complementarity.py::"
        "test_contacts_beyond_the_distance_of_the_user_overlap_and_are_corrected_in_the_next_step"),
    Row(CONES, "(5)", "half-implicit Euler method", "differs", "forces are those of the end of a step", "solvers/cone",
        f"{VALIDATE} negrut2018-block"),
    Row(CONES, "(5)", "rows of joints with g/h", "differs", "gaps of the old positions at the new time",
        "solvers/cone/rows.py", f"{VALIDATE} negrut2018-landing"),
    Row(CONES, "(7)-(10)", "cone complementarity problem", "differs", "rows of joints are eliminated, no cones of them",
        "solvers/contact_problem", f"{VALIDATE} negrut2018-incline"),
    Row(CONES, "", "improvement: exact positions", "partly", "with the other time steppers, not with this one",
        "solvers/nsga"),
    Row(CONES, "", "improvement: unique forces of redundant contacts", "works",
        "`result.unique_forces()`: the limit of stiff contacts, after the run; the run itself has one of the solutions",
        "fem_mbs/results/unique_forces.py", "pytest tests/core/results/test_unique_forces.py"),
    *(
        Row(source, cites, item, "works", *rest)
        for source, found in AGREE.items()
        for cites, item, *rest in found
    ),
)  # fmt: skip
