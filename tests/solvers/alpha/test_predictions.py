"""Predictions of `NonsmoothGeneralizedAlphaGGL` that activate the impact law: a bouncing ball by its scalar scheme."""

import bouncing_ball
import numpy as np
import pytest

import fem_mbs as fem

h, g, e = 2e-3, bouncing_ball.g, bouncing_ball.e
PREDICTIONS = {  # of the positions q* from q_n, v_n and the uncorrected and corrected positions of the end
    "smooth": lambda q, v, uncorrected, end: uncorrected,
    "start": lambda q, v, uncorrected, end: q,
    "flight": lambda q, v, uncorrected, end: q + h * v,
    "end": lambda q, v, uncorrected, end: end,
}
every_prediction = pytest.mark.parametrize("prediction", PREDICTIONS)


def ball(gap):
    model = fem.Model("ball", gravity=[0, 0, -g])
    body = model.add(fem.RigidBody.sphere(1.0, 0.2, position=[0, 0, gap + 0.2], name="ball"))
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.2, restitution=e, name="table"))
    return model


def scheme(prediction, gap, steps):
    """Gaps, speeds of the equations (29), (30) of the source for one mass, whose acceleration without contact is -g."""
    states = [(gap, 0.0)]
    for _ in range(steps):
        q, v = states[-1]
        uncorrected, free = q + h * v - 0.5 * g * h * h, v - g * h
        end = max(uncorrected, 0.0)
        closed = PREDICTIONS[prediction](q, v, uncorrected, end) <= 1e-12
        states.append((end, max(free, -e * v) if closed else free))
    return np.array(states)


def run(prediction, gap, steps, **options):
    method = fem.NonsmoothGeneralizedAlphaGGL(0.8, approach="start", prediction=prediction, rtol=1e-10, **options)
    result = method.run(ball(gap), steps * h, h)
    return result, np.column_stack([result["table"].gap, result["ball"].velocity[:, 2]])


@every_prediction
@pytest.mark.parametrize("coupling", ["monolithic", "sequential"])
def test_the_ball_moves_as_by_the_scalar_scheme_of_the_source(prediction, coupling):
    steps = 1400  # eight bounces
    _, found = run(prediction, 0.801, steps, coupling=coupling)
    assert np.abs(found - scheme(prediction, 0.801, steps)).max() < 1e-9


@pytest.mark.parametrize("prediction, late", [("smooth", 0), ("end", 0), ("flight", 1), ("start", 1)])
def test_a_ball_that_gravity_alone_brings_to_the_table_in_its_step_is_hit_late_by_earlier_predictions(prediction, late):
    """After 200 steps its gap is h |v| + g h²/4: velocities alone leave it open at the end of the next."""
    gap = 0.5 * g * (200 * h) ** 2 + h * g * 200 * h + 0.25 * g * h * h
    _, found = run(prediction, gap, 210)
    assert np.flatnonzero(np.diff(found[:, 1]) > 0)[0] == 200 + late
    assert found[201, 0] == pytest.approx(0.0, abs=1e-13)  # positions are corrected in all of them


def test_predictions_need_both_levels_and_known_names():
    with pytest.raises(fem.ParameterError, match=r'prediction = .start.*constraints="velocities"'):
        fem.NonsmoothGeneralizedAlphaGGL(prediction="start", constraints="velocities")
    with pytest.raises(fem.ParameterError, match=r"prediction = 'later'.*'smooth', 'start', 'flight'"):
        fem.NonsmoothGeneralizedAlphaGGL(prediction="later")
