"""First guesses of the corrections from earlier steps, `nsga.guesses`: fewer iterations, the same motion."""

import numpy as np
import pytest
from resumed import Killed, differences, stop_after

import fem_mbs as fem

H, STEPS = 1e-3, 200


def chain(links=6, friction=None):
    """Hinged links that fall from the horizontal."""
    model = fem.Model("chain", gravity=[0, 0, -9.81])
    last = model.ground
    for i in range(links):
        link = fem.RigidBody.box(0.3, [0.1, 0.02, 0.02], position=[0.1 * i + 0.05, 0, 0], name=f"link {i}")
        model.add(link)
        model.add(fem.Revolute.at(last, link, [0.1 * i, 0, 0], [0, 1, 0], name=f"hinge {i}", friction=friction))
        last = link
    return model


def engine_after(steps, model, h=H, **options):
    """Engine of a run that was taken so many steps."""
    system = model.compile()
    engine = fem.DecoupledNSGA(**options).prepare(system, h, 1)
    take(engine, np.full(steps, h))
    return engine


def take(engine, sizes):
    """Take steps of these sizes from where an engine is."""
    begin = float(engine.run[0]["t"])
    _, _, error = engine.march.advance(begin + np.cumsum(sizes), engine.make_records(len(sizes) + 1))
    assert error is None


def iterations(forget):
    """Iterations of both corrections in 200 steps; with ``forget`` each begins without guesses."""
    engine, total = engine_after(100, chain()), 0
    for _ in range(STEPS):
        if forget:
            engine.own[0]["known"] = 0
        take(engine, [H])
        total += int(engine.run[0]["position_iterations"] + engine.run[0]["velocity_iterations"])
    return total


def test_corrections_of_a_chain_need_six_tenths_of_the_iterations():
    """Measured: 691 and 1,198."""
    assert iterations(forget=False) <= 0.6 * iterations(forget=True)


def test_the_motion_is_that_of_exact_corrections():
    """Measured: 8.6e-10, the same as with corrections that begin with 0: it is what tolerances of forces leave."""
    usual, exact = (fem.DecoupledNSGA(rtol=rtol).run(chain(), STEPS * H, H) for rtol in (1e-6, 1e-12))
    tip = [result["link 5"].position for result in (usual, exact)]
    assert np.ptp(tip[1], axis=0).max() > 0.1
    assert np.abs(tip[0] - tip[1]).max() < 2e-9


def test_a_step_of_another_size_begins_from_zero():
    engine = engine_after(20, chain())
    own = engine.own[0]
    assert own["known"] == 3 and own["guess_U"] == 1
    own["past_h"] = 0.5 * H
    take(engine, [H])
    assert own["known"] == 1 and own["guess_U"] == 0
    assert np.abs(engine.arrays["g"]).max() < 1e-12


def test_steps_of_variable_size_keep_constraints():
    result = fem.DecoupledNSGA(step_control=fem.StepControl()).run(chain(), STEPS * H, H)
    assert result.violation.position.max() < 1e-13


def test_a_bad_guess_is_not_used_again():
    engine = engine_after(20, chain())
    engine.arrays["past_U"][:] *= np.array([1.0, -1.0, 1.0])[:, None, None]
    take(engine, [H])
    assert engine.own[0]["guess_U"] == 0 and engine.own[0]["guess_W"] == 1
    assert np.abs(engine.arrays["g"]).max() < 1e-12
    take(engine, [H] * 4)
    assert engine.own[0]["guess_U"] == 1


def test_nothing_is_kept_with_contacts_or_friction():
    rubbing = chain(2, friction=fem.DryFriction(0.1, radius=0.01))
    landing = chain(2)
    floor = landing.ground.frame_at([0, 0, -1.0])
    landing.add(fem.SphereOnPlane(landing["link 1"], floor, radius=0.01, name="floor"))
    for model in (rubbing, landing):
        assert engine_after(5, model).arrays["past_U"].size == 0


@pytest.mark.parametrize("after", [50, 60])
def test_a_resumed_run_has_the_same_guesses(after, monkeypatch, tmp_path):
    path = tmp_path / "chain.vtkhdf"
    whole = fem.DecoupledNSGA().run(chain(), STEPS * H, H)
    with monkeypatch.context() as patch:
        stop_after(patch, after)
        with pytest.raises(Killed):
            fem.DecoupledNSGA().run(chain(), STEPS * H, H, save=path, checkpoint_every="9 steps")
    assert differences(whole, fem.resume(path)) == []
