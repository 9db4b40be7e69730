"""Energy that impacts keep: elastic clearances, and what is reported where steps cross them."""

import re
from itertools import pairwise

import numpy as np
import pytest
from resumed import stopped_and_resumed

import fem_mbs as fem

CLEARANCE, H = 1e-3, 1e-3  # m, s
WITH_IMPACTS = [
    fem.DecoupledNSGA(), fem.NonsmoothGeneralizedAlphaGGL(), fem.NonsmoothGeneralizedAlphaFriction(),
    fem.MoreauJean(), fem.ConeComplementarity(), fem.LobattoIIIAB(2),
]  # fmt: skip
OF_ALPHA = pytest.mark.parametrize("method", WITH_IMPACTS[:3], ids=lambda m: type(m).__name__)


def ball_in_a_socket(speed, seed=0, restitution=1.0):
    """A ball that flies to and fro in a spherical clearance, from a random place in a random direction."""
    rng = np.random.default_rng(seed)
    place, direction = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
    model = fem.Model("socket")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.05, position=3e-4 * place, velocity=speed * direction, name="ball"))
    law = {"radius": 0.05, "clearance": CLEARANCE, "restitution": restitution, "name": "socket"}
    model.add(fem.SphericalClearance(ball.frame(), model.ground.frame(), **law))
    return model


def energy_left(result):
    return result.energy.total[-1] / result.energy.total[0]


@OF_ALPHA
@pytest.mark.parametrize("part", [0.2, 0.5])
def test_an_elastic_ball_keeps_its_energy_in_a_socket_that_steps_resolve(method, part):
    """Along the normal of the start the ball leaves the socket: with it 0.58 … 0.98 of the energy were left."""
    for seed in (1, 2):
        result = method.run(ball_in_a_socket(part * CLEARANCE / H, seed), 0.05, H)
        assert result["socket"].impact.sum() >= 5
        assert energy_left(result) == pytest.approx(1.0, abs=2e-3)
        assert result.warnings == []


@OF_ALPHA
def test_a_ball_with_restitution_loses_what_the_law_says_in_a_diametral_flight(method):
    """Through the centre: after n impacts e^2n of the energy."""
    e, model = 0.8, fem.Model("socket")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.05, position=[1e-4, 0, 0], velocity=[0.4, 0, 0], name="ball"))
    law = {"radius": 0.05, "clearance": CLEARANCE, "restitution": e, "name": "socket"}
    model.add(fem.SphericalClearance(ball.frame(), model.ground.frame(), **law))
    result = method.run(model, 0.05, H)
    n = result["socket"].impact.sum()
    assert n >= 5 and energy_left(result) == pytest.approx(e ** (2 * n), rel=1e-3)


@pytest.mark.parametrize("method", WITH_IMPACTS, ids=lambda m: type(m).__name__)
def test_a_clearance_that_is_crossed_within_a_step_is_reported_by_every_method(method):
    result = method.run(ball_in_a_socket(2.0 * CLEARANCE / H), 0.05, H)
    (text,) = [text for text in result.warnings if "clearance of 0.001 m" in text]
    assert "socket" in text and "Reduce h below" in text


def test_what_impacts_keep_less_than_their_law_asks_is_the_energy_that_is_missing():
    method = fem.NonsmoothGeneralizedAlphaGGL()
    result = method.run(ball_in_a_socket(2.0 * CLEARANCE / H), 0.05, H)
    energy = result.energy.total
    (text,) = [text for text in result.warnings if text.startswith("impacts kept")]
    lost = float(re.match(r"impacts kept (\S+) J less than Newton's law requires", text)[1])
    assert lost == pytest.approx(energy[0] - energy[-1], rel=0.02)
    assert text in result.report()
    with pytest.raises(fem.SolverError, match="less than Newton's law"):
        method.run(ball_in_a_socket(2.0 * CLEARANCE / H), 0.05, H, strict=True)


def test_a_plastic_ball_that_crosses_its_clearance_has_nothing_to_keep():
    result = fem.DecoupledNSGA().run(ball_in_a_socket(2.0 * CLEARANCE / H, restitution=0.0), 0.05, H)
    assert result.warnings == []


def test_a_resumed_run_reports_what_impacts_lost_before(monkeypatch, tmp_path):
    method, model = fem.NonsmoothGeneralizedAlphaGGL(), ball_in_a_socket(2.0 * CLEARANCE / H)
    whole = method.run(model, 0.05, H).warnings
    path = tmp_path / "parts.vtkhdf"
    parts = stopped_and_resumed(monkeypatch, method, model, 0.05, H, path, every=20, kills=(1,))
    assert whole and parts.warnings == whole


def test_a_ball_that_rolls_in_a_race_with_restitution_stays_closed():
    """The approach along the normal of the end of the step, ω h v, belongs to the curve and is no impact."""
    model = fem.Model("race", gravity=[0, 0, -9.81])
    inner = {"position": [0, 0, -0.15], "velocity": [1.5, 0, 0], "angular_velocity": [0, -30.0, 0], "name": "ball"}
    ball = model.add(fem.RigidBody.sphere(1.0, 0.05, **inner))
    axis = fem.rotations.frame_with_axis([0, 1, 0])
    law = {"restitution": 0.9, "friction": 0.5, "name": "race"}
    model.add(fem.SphereInCylinder(ball, model.ground.frame(rotation=axis), radius=0.05, radius_cylinder=0.2, **law))
    result = fem.DecoupledNSGA().run(model, 1.0, 1e-3)
    assert result["race"].impact.sum() == 0 and (result["race"].impulse[1:, 0] > 0.0).all()
    assert np.diff(result.energy.total).max() < 1e-3 * result.energy.kinetic.max()


@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_a_row_of_bouncing_balls_comes_to_rest_without_a_warning(restitution):
    """A pile with restitution: impacts in turn, in one step and over many, are no loss against the law."""
    model = fem.Model("pile", gravity=[0, 0, -9.81])
    balls = [
        model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.15 + 0.25 * k], name=f"ball {k}")) for k in range(3)
    ]
    model.add(fem.SphereOnPlane(balls[0], model.ground, radius=0.1, restitution=restitution, name="floor"))
    for a, b in pairwise(balls):
        model.add(fem.SphereOnSphere(a, b, radius_A=0.1, radius_B=0.1, restitution=restitution))
    result = fem.DecoupledNSGA().run(model, 1.0, 1e-3)
    assert result.warnings == []
    assert np.diff(result.energy.total).max() < 1e-9


@pytest.mark.parametrize("options", [{}, {"impacts": "plain"}], ids=["default", "plain"])
def test_bodies_that_forces_slow_before_they_touch_keep_what_the_law_asks_in_silence(options):
    """A point mass between floor and ceiling: it is slower at the ceiling than as the step of the impact began."""
    model = fem.Model("between floor and ceiling", gravity=[0, 0, -9.81])
    mass = model.add(fem.PointMass(1.0, velocity=[0, 0, 3.0], fixed=("x", "y"), name="mass"))
    for height, turn in ((0.1, np.pi), (-0.05, 0.0)):
        place = model.ground.frame([0, 0, height], [0, turn, 0])
        model.add(fem.SphereOnPlane(mass, place, radius=0.0, restitution=1.0))
    result = fem.DecoupledNSGA(**options).run(model, t_end=1.0, h=5e-3)
    assert result.warnings == [] and energy_left(result) == pytest.approx(1.0, abs=1e-9)
