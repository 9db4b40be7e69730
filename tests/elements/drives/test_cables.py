"""Cables over pulleys: lengths and forces against closed forms, catches, and errors."""

import math

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.elements.drives.cable import Cable, ElasticCable

G = 9.81


def ball(model, mass, position, name, **options):
    return model.add(fem.RigidBody.sphere(mass, 0.05, position=position, name=name, **options))


def atwood(radius=0.3, slack=0.1, restitution=0.0, elastic=None):
    """Masses 2 and 1 kg on a rope over a fixed pulley (radius 0: over two pins)."""
    model = fem.Model("Atwood", gravity=[0, -G, 0])
    reach = radius or 0.2
    a, b = ball(model, 2.0, [-reach, -1, 0], "a"), ball(model, 1.0, [reach, -1.5, 0], "b")
    ground = model.ground
    over = [(ground.frame(), -radius)] if radius else [ground.frame([-reach, 0, 0]), ground.frame([reach, 0, 0])]
    if elastic is None:
        model.add(Cable([a, *over, b], slack=slack, restitution=restitution, name="rope"))
    else:
        model.add(ElasticCable([a, *over, b], slack=slack, name="rope", **elastic))
    return model


@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_atwood_machine_with_slack_is_caught_with_the_impulse_of_the_reduced_mass(radius):
    """Catch at √(s/g), impulse 2 g t m1 m2/(m1 + m2), tension 2 g m1 m2/(m1 + m2) after it."""
    closed = 2 * G * math.sqrt(0.1 / G) * 2 / 3
    assert closed == pytest.approx(1.320605922, abs=1e-9)
    for h, measured in ((2e-3, 1.3342), (1e-3, 1.3211)):  # formulation-joints 4: depends on the phase of the step
        result = fem.DecoupledNSGA(rho_inf=0.8).run(atwood(radius), t_end=0.3, h=h)
        impulse, force, gap = (getattr(result["rope"], name) for name in ("impulse", "force", "gap"))
        assert impulse[:, 0].max() == pytest.approx(measured, abs=5e-5)
        assert abs(impulse[:, 0].max() - closed) < 2 * G * h * 2 / 3  # seen at the end of a step
        caught = result.t > 0.15
        assert force[caught, 0] == pytest.approx(np.full(caught.sum(), 13.08), rel=1e-9)
        assert np.abs(gap[caught]).max() < 1e-12
        assert np.abs(force[result.t < 0.09]).max() == 0.0
        total = impulse[:, 0].sum()  # momentum of both masses
        t = result.t[-1]
        assert result["a"].velocity[-1, 1] == pytest.approx(-G * t + total / 2.0, abs=1e-9)
        assert result["b"].velocity[-1, 1] == pytest.approx(-G * t + total / 1.0, abs=1e-9)


def test_a_catch_with_restitution_throws_back():
    model = atwood(restitution=0.5)
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.12, h=1e-3)
    hit = int(np.argmax(result["rope"].impulse[:, 0]))
    speed = -(result["a"].velocity[:, 1] + result["b"].velocity[:, 1])  # of the path, which falls freely with 2 g
    caught = math.sqrt(0.1 / G)  # in the step, which is cut there
    assert result.t[hit - 1] < caught < result.t[hit] and speed[hit - 1] == pytest.approx(2 * G * result.t[hit - 1])
    assert speed[hit] == pytest.approx(-0.5 * 2 * G * caught + 2 * G * (result.t[hit] - caught), rel=1e-9)


def test_moreau_jean_holds_the_rope_too():
    result = fem.MoreauJean().run(atwood(slack=0.0), t_end=0.2, h=1e-3)
    assert result["rope"].tension[-1] == pytest.approx(13.08, rel=1e-6)
    assert result["a"].velocity[-1, 1] == pytest.approx(-G / 3 * result.t[-1], rel=1e-6)


def test_length_of_a_path_is_that_of_tangents_and_arcs():
    """Compound path by hand: end, pulley counter-clockwise, crossed to a pulley clockwise, end."""
    ground, r, R = fem.Model().ground, 0.1, 0.25
    ends = fem.Node6([-1.0, r, 0]), fem.Node6([2.0, R - 0.3 + 0.3, 0])
    # from the left along y = +r onto the top of pulley 1: it turns clockwise about z
    path = [ends[0], (ground.frame([0, 0, 0]), -r), (ground.frame([1.0, 0, 0]), R), ends[1]]
    cable = Cable(path)
    lean = math.asin((r + R) / 1.0)  # of the inner tangent
    inner = math.sqrt(1.0 - (r + R) ** 2)
    d = np.array([1.0, R])
    last = math.sqrt(d @ d - R**2)
    # the last span begins at the bottom of pulley 2 or past it
    psi = math.atan2(d[1], d[0]) - math.asin(-R / math.hypot(*d))
    arcs = r * lean + R * (psi + lean)
    assert cable.length == pytest.approx(1.0 + inner + last + arcs, rel=1e-12)
    more = Cable(path, turns={1: 2, 2: 1})
    assert more.length == pytest.approx(cable.length + 2 * math.pi * (2 * r + R), rel=1e-12)


def test_tackle_divides_the_load():
    """A loose pulley carries twice the tension; its body feels both spans, and no moment."""
    model = fem.Model("tackle", gravity=[0, -G, 0])
    load, puller = ball(model, 4.0, [0.1, -1.0, 0], "load"), ball(model, 2.5, [0.4, -0.5, 0], "puller")
    path = [model.ground.frame([0, 0, 0]), (load, 0.1), (model.ground.frame([0.3, 0, 0]), -0.1), puller]
    model.add(Cable(path, name="rope"))
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.5, h=2e-3)
    # 4 a = 2T − 4g up, 2.5 · 2a = 2.5 g − T down
    a = (5.0 - 4.0) * G / (4.0 + 10.0)
    tension = 0.5 * 4.0 * (a + G)
    assert result["rope"].tension[-1] == pytest.approx(tension, rel=1e-9)
    assert result["load"].velocity[-1] == pytest.approx([0, a * 0.5, 0], abs=1e-9)
    assert result["puller"].velocity[-1] == pytest.approx([0, -2 * a * 0.5, 0], abs=1e-9)
    assert np.abs(result["load"].angular_velocity).max() < 1e-12


def test_pendulum_on_a_cable_unwinds_from_a_drum():
    """A ball swings on a cable from a drum of radius r: energy is kept, the free length grows by r per radian."""
    model = fem.Model("unwinding pendulum", gravity=[0, -G, 0])
    r, free = 0.2, 1.0
    mass = ball(model, 1.0, [r, -free, 0], "ball", velocity=[6.0, 0, 0])
    # held at the back of the drum
    model.add(Cable([model.ground.frame([-r, -1e-3, 0]), (model.ground.frame(), -r), mass], name="rope"))
    energies, angles = [], []
    for h in (4e-3, 2e-3):
        result = fem.DecoupledNSGA(rho_inf=0.9, persistent_contacts=True).run(model, t_end=0.4, h=h)
        energy = result.energy.total
        energies.append(np.abs(energy - energy[0]).max())
        x, y = result["ball"].position[-1, :2]
        span = math.sqrt(x * x + y * y - r * r)
        turn = math.atan2(y, x) + math.atan2(span, r)  # of the point where the cable leaves the drum
        angles.append(turn)
        assert span == pytest.approx(free + r * turn, abs=1e-9)
        assert np.abs(result["rope"].gap).max() < 1e-9
    assert angles[1] > 0.5
    # a rope that is tight all the time is part of the smooth motion: second order (without the option: 0.26 J, first)
    assert energies[1] < 1e-3 and energies[0] / energies[1] == pytest.approx(4.0, abs=0.1)


def test_elastic_cable_oscillates_about_its_stretch():
    model = fem.Model("hoist", gravity=[0, -G, 0])
    mass = ball(model, 2.0, [0.0, -1.0, 0], "load")
    model.add(ElasticCable([model.ground.frame(), mass], stiffness=2e4, name="rope"))
    period = 2 * math.pi * math.sqrt(2.0 / 2e4)
    result = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=2.25 * period, h=period / 200)
    tension = result["rope"].tension
    assert tension.max() == pytest.approx(2 * 2.0 * G, rel=1e-3)
    assert tension[-1] == pytest.approx(2.0 * G, rel=0.02)
    assert np.abs(result.energy.total - result.energy.total[0]).max() < 1e-4 * 2.0 * G * 0.01


def test_a_stiff_elastic_cable_tends_to_the_inextensible_one():
    model = atwood(slack=0.0, elastic={"stiffness": 1e6, "damping": 1e3})
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.2, h=1e-3)
    assert result["rope"].tension[-1] == pytest.approx(13.08, rel=1e-4)
    assert result["a"].velocity[-1, 1] == pytest.approx(-G / 3 * 0.2, rel=1e-3)


def test_an_end_that_reaches_its_pulley_stops_the_run():
    model = atwood(slack=0.0)
    with pytest.raises(fem.SolverError, match=r"'rope'.*pulley.*end"):
        fem.DecoupledNSGA().run(model, t_end=2.0, h=2e-3)


# --- drums: pulleys that turn with their cable ------------------------------------------------------------------------


def drum(model, inertia, name="drum"):
    """A wheel about z at the origin."""
    body = model.add(fem.RigidBody(3.0, [inertia] * 3, name=name))
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="shaft"))
    return body


def test_a_load_turns_the_drum_of_a_winch():
    """m g = (m + J/r²) a; the bearing carries weight and tension."""
    model, r, J, m = fem.Model("winch", gravity=[0, -G, 0]), 0.2, 0.06, 2.0
    wheel, load = drum(model, J), ball(model, m, [-r, -1.5, 0], "load")
    rope = model.add(Cable([load, (wheel, -r)], turns={1: 3}, name="rope"))
    assert rope.length == pytest.approx(1.5 + 3 * 2 * math.pi * r, rel=1e-14)
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.5, h=2e-3)
    a = m * G / (m + J / r**2)
    assert result["load"].velocity[-1] == pytest.approx([0, -a * 0.5, 0], rel=1e-9, abs=1e-9)
    assert result["drum"].angular_velocity[-1, 2] == pytest.approx(a * 0.5 / r, rel=1e-9)  # the load goes down at x < 0
    assert result["rope"].tension[-1] == pytest.approx(m * (G - a), rel=1e-9)
    assert result["shaft"].force[-1, 1] == pytest.approx(3.0 * G + m * (G - a), rel=1e-9)
    assert np.abs(result["rope"].gap).max() < 1e-12


def test_atwood_machine_with_a_pulley_that_has_inertia_and_no_slip():
    """Two cables on one drum, one from either side: tensions differ by J α/r."""
    model, r, J = fem.Model("pulley with inertia", gravity=[0, -G, 0]), 0.3, 0.09
    wheel = drum(model, J)
    a, b = ball(model, 2.0, [-r, -1.0, 0], "a"), ball(model, 1.0, [r, -1.0, 0], "b")
    model.add(Cable([a, (wheel, -r)], name="left"), Cable([(wheel, -r), b], name="right"))
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.4, h=2e-3)
    rate = (2.0 - 1.0) * G / (2.0 + 1.0 + J / r**2)
    assert result["a"].velocity[-1, 1] == pytest.approx(-rate * 0.4, rel=1e-9)
    assert result["b"].velocity[-1, 1] == pytest.approx(rate * 0.4, rel=1e-9)
    left, right = result["left"].tension[-1], result["right"].tension[-1]
    assert [left, right] == pytest.approx([2.0 * (G - rate), G + rate], rel=1e-9)
    assert left - right == pytest.approx(J * rate / r**2, rel=1e-8)


def test_elastic_cable_on_a_drum_swings_with_its_inertia():
    """ω² = k (1/m + r²/J) about equilibrium, on a drum that a moment holds in the mean."""
    model, r, J, m, k, v = fem.Model("elastic hoist", gravity=[0, -G, 0]), 0.2, 0.06, 2.0, 4e3, 0.1
    wheel, load = drum(model, J), ball(model, m, [-r, -1.5, 0], "load", velocity=[0, -v, 0])
    wound = 2 * 2 * math.pi * r
    length = 1.5 + wound - m * G / k  # stretched by the weight
    model.add(ElasticCable([(wheel, r), load], stiffness=k, length=length, turns={0: 2}, name="rope"))
    model.add(fem.PointMoment(wheel, [0, 0, -m * G * r]))
    result = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=0.1, h=2.5e-4)
    rate = math.sqrt(k * (1 / m + r**2 / J))
    expected = m * G + k * v / rate * np.sin(rate * result.t)
    assert result["rope"].tension == pytest.approx(expected, abs=1e-3 * k * v / rate)
    assert result["rope"].length[0] == pytest.approx(1.5 + wound, rel=1e-14)


def test_a_drum_that_is_unwound_stops_the_run():
    model = fem.Model("unwound", gravity=[0, -G, 0])
    wheel, load = drum(model, 1e-4), ball(model, 2.0, [-0.1, -0.5, 0], "load")
    model.add(Cable([load, (wheel, -0.1)], turns={1: 1}, name="rope"))
    way = 2 * math.pi * 0.1
    a = 2.0 * G / (2.0 + 1e-4 / 0.01)
    with pytest.raises(fem.SolverError, match=r"'rope'.*drum") as caught:
        fem.DecoupledNSGA().run(model, t_end=1.0, h=1e-3)
    assert caught.value.time == pytest.approx(math.sqrt(2 * way / a), abs=2e-3)


@pytest.mark.parametrize(
    "path, options, words",
    [
        ([(0, 0, 0)], {}, r"path = .*2 to 8"),
        ([(0, 0, 0), (1, 0, 0)], {"length": 0.9}, r"length = .*less than the 1 m"),
        ([((0, 0, 0), 0.1), ((1, 0, 0), 0.1)], {}, r"path\[1\].*path\[0\].*drums"),
        ([(-1, 0.11, 0), ((0, 0, 0), -0.1), (1, 0.11, 0)], {}, "without touching"),
        ([(-1, -1, 0), ((0, 0, 0), -0.1), (1, -1, 0)], {"turns": {0: 1}}, r"turns = .*key 0.*radius"),
        ([(0, 0, 0), ((0.05, 0, 0), 0.1), (1, 0, 0)], {}, r"0\.05 m .*more than 0\.1 m"),
    ],
)
def test_paths_that_cannot_be_are_rejected(path, options, words):
    items = []
    for item in path:
        centre, radius = item if isinstance(item[0], tuple) else (item, None)
        node = fem.Node6(centre)
        items.append(node if radius is None else (node, radius))
    with pytest.raises(fem.ParameterError, match=words):
        Cable(items, **options)


def test_pulleys_with_other_axes_are_rejected():
    ground = fem.Model().ground
    tilted = ground.frame([1, 0, 0], rotation=[0.3, 0, 0])
    with pytest.raises(fem.ParameterError, match=r"axis z.*first pulley"):
        Cable([fem.Node6([-1, 0.1, 0]), (ground.frame(), 0.1), (tilted, 0.1), fem.Node6([2, 0.1, 0])])


def test_relative_velocity_of_a_rope_over_a_pulley_is_not_reported():
    """Its gap does not follow from two points: recovery of forces would silently be wrong."""
    result = fem.DecoupledNSGA().run(atwood(slack=0.0), t_end=0.01, h=1e-3)
    from fem_mbs.results.contact_motion import contact_velocity

    with pytest.raises(fem.FemMbsError, match=r"'rope' \(Cable\).*contact"):
        contact_velocity(result, "rope")
