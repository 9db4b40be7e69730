"""Algorithms, formulations and laws of the five sources that agree: what they are here, where, and the test of them.

Items that differ are in `source_rows`, examples in the registry of cases.
"""

STEPPERS, TESTS = "pytest tests/validation/steppers", "pytest tests"

# source -> (numbers in the source, item, what it is here, file or folder, command)
AGREE = {
    "Sanchez2025": (
        ("(A.1)", "equality of measures with laws of impact and friction",
         "the default method", "solvers/nsga",
         f"{STEPPERS}/test_nsga_decisions.py::"
         "test_the_equation_of_motion_holds_at_the_end_of_a_step"),
        ("(A.2)", "smooth motion without contacts",
         "of second order", "solvers/nsga/smooth.py",
         f"{STEPPERS}/test_nsga_smooth.py::"
         "test_double_pendulum_is_second_order_over_four_step_sizes"),
        ("(A.2), (A.4)", "position correction",
         "no penetration, joints hold to round-off", "solvers/nsga/position.py",
         f"{STEPPERS}/test_nsga_contact.py::"
         "test_pendulum_keeps_its_constraints_through_impacts"),
        ("(A.2), (A.5)", "velocity correction",
         "impulses of impacts and of closed contacts", "solvers/nsga/velocity.py",
         f"{STEPPERS}/test_nsga_contact.py::"
         "test_first_impact_of_the_pendulum_has_the_numbers_of_the_note"),
        ("(A.9)", "active sets of positions and velocities",
         "by augmented multipliers", "solvers/contact/law.py",
         f"{STEPPERS}/test_nsga_decisions.py::"
         "test_statuses_agree_with_impulses_and_velocities"),
        ("(A.10)-(A.15)", "semi-smooth Newton iteration of each problem",
         "quadratic near the solution", "solvers/stepping/kernels/newton.py",
         f"{STEPPERS}/test_newton_residuals.py"),
        ("(A.16)-(A.23)", "Coulomb's law at position and velocity level",
         "augmented Lagrangian", "solvers/contact/law.py",
         f"{TESTS}/solvers/contact/test_contact_law.py"),
        ("(A.24)-(A.27)", "rolling and spinning resistance in velocities",
         "times of rest are exact", "solvers/contact/velocity_rows.py",
         f"{STEPPERS}/test_annex_a.py::"
         "test_resistance_stops_the_turning_ball_at_the_exact_time"),
        ("(A.39)-(A.42)", "tangents of sliding, rolling and spinning",
         "derivatives of the residuals", "solvers/contact/law_rows.py",
         f"{TESTS}/solvers/contact/test_contact_law.py::"
         "test_matrix_of_the_velocity_correction_is_the_difference_of_its_residual"),
        ("(A.44)-(A.54)", "sphere-plane element",
         "tangents compared with differences", "elements/contacts/shapes/sphere_plane.py",
         f"{TESTS}/elements/test_contract.py"),
        ("(A.58)", "error norm of the figures",
         "the same norm", "benchmarks/orders.py",
         f"{STEPPERS}/test_orders_of_the_page.py"),
        ("(B.24)-(B.28)", "sequence of impact problems in a step",
         "a cradle sends off as many balls as came", "solvers/nsga/velocity.py",
         f"{STEPPERS}/test_annex_b.py::"
         "test_newtons_cradle_sends_off_as_many_balls_as_came"),
        ("(B.43)", "velocities of the sphere-sphere element",
         "momentum to round-off", "elements/contacts/shapes/sphere_sphere.py",
         f"{TESTS}/elements/contacts/test_contact_sphere_sphere.py::"
         "test_an_oblique_hit_with_friction_keeps_linear_momentum"),
        ("(C.2)", "Hertz's law",
         '`CompliantContact(model="hertz")`', "elements/contacts/compliant.py",
         f"{TESTS}/elements/contacts/test_plain_laws.py::"
         "test_elastic_laws_keep_the_energy_and_reach_its_indentation"),
        ("(C.3), (C.4)", "stiffness of spheres",
         "digits of the references", "fem_mbs/hertz",
         f"{TESTS}/core/hertz/test_hertz.py::"
         "test_stiffness_of_spheres_of_the_references"),
        ("(C.6), table C.1", "hysteresis factors of five laws",
         "all printed numbers", "fem_mbs/recovery/hysteresis.py",
         f"{TESTS}/core/recovery/test_impact_laws.py::"
         "test_hysteresis_factors_are_those_of_the_published_table"),
        ("(C.8)", "Newton's restitution",
         "exact in central impacts", "solvers/contact/approach.py",
         f"{TESTS}/elements/contacts/test_contact_sphere_sphere.py::"
         "test_a_central_hit_of_equal_balls_exchanges_the_part_of_the_speed_that_restitution_says"),
        ("(C.24), (C.25), (C.40), (C.41)", "filter of impact and continuous impulses",
         'peak filter, `filter="peak"`', "fem_mbs/recovery",
         f"{TESTS}/core/recovery/test_impulse_filters.py::"
         "test_peak_filter_finds_single_spikes_only"),
        ("(C.28)-(C.39)", "piecewise cubic indentation and duration of an impact",
         "table of its integral", "fem_mbs/recovery/cubic_impact.py",
         f"{TESTS}/core/recovery/test_impact_laws.py::"
         "test_warp_and_integral_are_those_of_the_reference_table"),
        ("figure C.7", "algorithm of the recovery",
         "`recover_forces`, `ForceObserver`", "fem_mbs/recovery/recover.py",
         f"{TESTS}/core/recovery/test_force_recovery.py::"
         "test_first_impact_of_the_bouncing_ball_has_the_forces_of_annex_c"),
    ),
    "Bruls2014": (
        ("(1)-(6)", "equality of measures with unilateral constraints",
         "`NonsmoothGeneralizedAlphaGGL`", "solvers/alpha/nonsmooth_ggl.py",
         f"{STEPPERS}/test_nonsmooth_ggl.py::"
         "test_the_ball_has_the_first_impact_the_rest_and_the_energy_of_the_dense_scheme"),
        ("(7)", "Moreau's sweeping process",
         "`MoreauJean`", "solvers/moreau",
         f"{STEPPERS}/test_moreau_jean.py::"
         "test_bouncing_ball_loses_energy_in_flight_and_penetrates_by_the_known_amounts"),
        ("(8)-(12)", "splitting of smooth motion and impacts",
         "tends to located impacts", "solvers/alpha/nonsmooth_ggl.py",
         f"{STEPPERS}/test_nonsmooth_ggl.py::"
         "test_impacts_with_friction_tend_to_those_of_located_impacts"),
        ("(14)-(17)", "constraints at both levels",
         "hold to round-off", "solvers/alpha/nonsmooth_ggl.py",
         f"{STEPPERS}/test_nonsmooth_ggl.py::"
         "test_joints_hold_to_round_off_at_both_levels"),
        ("(25)-(28)", "choice of the complementarity of positions",
         "the choices that chatter are there too", "solvers/alpha/nonsmooth_ggl.py",
         f"{STEPPERS}/test_nonsmooth_ggl.py::"
         "test_a_gap_whose_multiplier_is_combined_with_the_impulse_chatters_at_rest"),
        ("(32), (33)", "reactions after impacts",
         "oscillate and decay as the equations say", "solvers/alpha/nonsmooth_ggl.py",
         f"{STEPPERS}/test_nonsmooth_ggl.py::"
         "test_reactions_after_the_impact_oscillate_and_decay_as_in_the_dense_scheme"),
        ("(37)-(46)", "semi-smooth Newton iteration with active sets",
         "rows and tangents of all methods", "solvers/contact/law_rows.py",
         f"{TESTS}/solvers/contact/test_contact_law.py"),
        ("algorithm 1", "sequential solution of the blocks",
         '`coupling="sequential"`', "solvers/alpha/nonsmooth_ggl.py",
         f"{STEPPERS}/test_nonsmooth_ggl.py::"
         "test_a_stiff_structure_is_no_model_for_the_sequential_way"),
    ),
    "Capobianco2021": (
        ("section 4", "stabilisation at three levels",
         "`NonsmoothGeneralizedAlphaFriction`", "solvers/three_levels",
         f"{STEPPERS}/test_nonsmooth_friction.py::"
         "test_joints_hold_in_positions_velocities_and_accelerations"),
        ("section 5", "generalized-α discretisation",
         "of second order", "solvers/three_levels",
         f"{STEPPERS}/test_nonsmooth_friction.py::"
         "test_smooth_motion_is_second_order_in_all_quantities"),
        ("", "contact laws at three levels",
         "contact forces of second order", "solvers/three_levels/levels_contacts.py",
         f"{STEPPERS}/test_nonsmooth_friction.py::"
         "test_a_loaded_ball_is_second_order_in_all_quantities_and_in_the_contact_force"),
        ("", "fixed-point iteration",
         "finds the solution of Newton's", "solvers/three_levels/levels_prox.py",
         f"{STEPPERS}/test_nonsmooth_friction.py::"
         "test_the_fixed_point_iteration_finds_what_newtons_finds"),
    ),
    "Capobianco2024": (
        ("(5)-(12)", "equality of measures, virtual action",
         "momenta are kept", "solvers/lobatto",
         f"{STEPPERS}/test_lobatto.py::"
         "test_a_pair_of_bodies_on_a_hinge_in_space_keeps_its_momenta"),
        ("(47)", "Lobatto IIIA-IIIB scheme",
         "of order 2 s − 2", "solvers/lobatto",
         f"{STEPPERS}/test_lobatto.py::"
         "test_the_order_is_twice_the_number_of_stages_less_two_in_all_quantities"),
        ("(50), (51)", "joints at the stages and at the end of a step",
         "multipliers of stages are no forces", "solvers/lobatto",
         f"{STEPPERS}/test_lobatto.py::"
         "test_multipliers_of_stages_are_no_forces_but_those_reported_are"),
        ("6.3, figure 9", "order one through impacts and at the end of sliding",
         "the default; order 2 s − 2 with `impacts=\"split\"`, which locates them", "solvers/lobatto/located.py",
         f"{TESTS}/validation/laws/test_lobatto_split.py::"
         "test_stick_slip_and_lift_off_keep_the_order"),
    ),
    "Negrut2018": (
        ("(1)-(4)", "differential complementarity problem",
         "with `relaxed=False`", "solvers/cone",
         f"{STEPPERS}/test_cone_complementarity.py::"
         "test_without_relaxation_nothing_floats_and_the_slope_is_exact"),
        ("(11), (12)", "quadratic program with conic constraints",
         "three hundred contacts as another code has them", "solvers/contact_problem",
         f"{STEPPERS}/test_cone_complementarity.py::"
         "test_three_hundred_contacts_move_as_another_code_says"),
        ("", "artefacts of the relaxed law",
         "gap h μ v of a sliding contact, launch with μ v", "solvers/cone",
         f"{STEPPERS}/test_cone_complementarity.py::"
         "test_a_block_that_slides_floats_on_a_gap_of_one_step_times_friction_times_speed"),
    ),
}  # fmt: skip
