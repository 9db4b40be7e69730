"""Rotors in the inertial frame against closed forms: whirl, critical speeds, unbalance, and errors."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.cases.rotors import CRITICAL, DRAG, VISCOUS, X, growth, laval

FAR = 1e5  # m: springs so long that they stay parallel
M, POLAR, ACROSS, ARM, STIFF = 3.0, 0.05, 0.03, 0.4, 2e3


def rigid(stiffness=(STIFF, STIFF), damping=0.0, polar=POLAR, spin=0.0, tilted=False):
    """Rigid rotor on two supports at ±ARM along x; both ends slide along x and the rotor is free to turn."""
    model = fem.Model("rigid rotor", gravity=[0, 0, 0])
    J = [polar, ACROSS, ACROSS * (1.1 if tilted else 1.0)]
    body = model.add(fem.RigidBody(M, J, fixed=("x",), angular_velocity=[spin, 0, 0], name="rotor"))
    for side in (-ARM, ARM):
        for far, k in (([side, FAR, 0], stiffness[0]), ([side, 0, FAR], stiffness[1])):
            spring = fem.Spring(model.ground.frame(far), body.frame([side, 0, 0]), stiffness=k, damping=damping)
            model.add(spring)
    return model, body


def conical(speed, polar=POLAR):
    """Backward and forward frequency of J θ̈ − iΩ J_p θ̇ + 2 k a² θ = 0."""
    g, k = speed * polar / ACROSS, 2 * STIFF * ARM**2 / ACROSS
    root = np.sqrt(g**2 / 4 + k)
    return root - g / 2, root + g / 2


@pytest.mark.parametrize("spin", [0.0, 2.0])  # by rotor=, and by the initial angular velocity
def test_rigid_rotor_whirls_as_its_closed_form(spin):
    model, body = rigid(spin=spin)
    speeds = np.linspace(0, 150, 6)
    given = {} if spin else {"rotor": body, "axis": [1, 0, 0]}
    diagram = fem.campbell(model, speeds, 4, **given)
    lateral = np.sqrt(2 * STIFF / M)
    exact = np.array([[lateral, lateral, *conical(speed)] for speed in speeds])
    # 1/FAR of the springs
    assert np.sort(diagram.omega, axis=1) == pytest.approx(np.sort(exact, axis=1), rel=1e-5)
    assert diagram.whirl[-1].tolist()[2:] == ["backward", "forward"]
    # the circles are round, and the frequencies of the cone part in the course of one column
    assert diagram.direction[-1, 2:] == pytest.approx([-1, 1], abs=1e-6)
    assert (np.diff(diagram.omega[:, 2]) < 0).all() and (np.diff(diagram.omega[:, 3]) > 0).all()


def test_labels_change_with_the_sense_of_the_spin():
    model, body = rigid()
    diagram = fem.campbell(model, [-100.0, -50.0], 4, rotor=body, axis=[1, 0, 0])
    upper = np.argmax(diagram.omega[0])
    assert diagram.whirl[0, upper] == "forward" and diagram.omega[0, upper] == pytest.approx(
        conical(100.0)[1], rel=1e-5
    )


def test_critical_speeds_are_roots_of_their_closed_form():
    # a cone with I_p > I_t never meets the line forwards; with I_p < I_t it does at k/(I_t − I_p)
    model, body = rigid(polar=0.01)
    found = fem.critical_speeds(model, 4, rotor=body, axis=[1, 0, 0])
    k = 2 * STIFF * ARM**2
    lateral = np.sqrt(2 * STIFF / M)
    exact = [lateral, lateral, np.sqrt(k / (ACROSS + 0.01)), np.sqrt(k / (ACROSS - 0.01))]
    assert [one.speed for one in found] == pytest.approx(exact, rel=1e-5)
    assert [one.whirl for one in found][2:] == ["backward", "forward"]
    crossings = fem.campbell(model, np.linspace(0, 250, 6), 4, rotor=body, axis=[1, 0, 0]).critical
    assert [one.speed for one in crossings] == pytest.approx([one.speed for one in found], rel=1e-8)
    thick, body = rigid()
    found = fem.critical_speeds(thick, 4, rotor=body, axis=[1, 0, 0])
    assert len(found) == 3 and found[2].whirl == "backward"


def test_second_order_has_half_the_lateral_critical_speed():
    model, body = rigid()
    found = fem.critical_speeds(model, 1, rotor=body, axis=[1, 0, 0], order=2.0)
    assert found[0].speed == pytest.approx(np.sqrt(2 * STIFF / M) / 2, rel=1e-5)
    diagram = fem.campbell(model, [5.0, 30.0], 2, rotor=body, axis=[1, 0, 0], orders=(2.0,))
    assert diagram.critical[0].speed == pytest.approx(found[0].speed, rel=1e-8)


def test_the_two_frames_agree():
    """What whirls with ω is seen with ω ∓ Ω by who turns with the rotor, whose matrices are other ones."""
    model, body = rigid()
    speed = 37.0
    inertial = fem.campbell(model, [speed], 4, rotor=body, axis=[1, 0, 0])
    sign = {"forward": -1, "backward": 1}
    seen = [abs(w + sign[name] * speed) for w, name in zip(inertial.omega[0, 2:], inertial.whirl[0, 2:])]
    lateral = np.sqrt(2 * STIFF / M)
    turning = fem.modes(model, 6, rotation=[speed, 0, 0]).omega
    expected = np.sort(np.abs([0.0, 0.0, lateral - speed, lateral + speed, *seen]))
    assert np.sort(np.abs(turning)) == pytest.approx(expected, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("ratio", [0.5, 1.8, 2.2])
def test_damping_of_the_material_drives_the_whirl_as_in_two_coordinates(ratio):
    model = laval(None, eccentricity=0.0, internal=VISCOUS, external=DRAG, speed=1.0)
    diagram = fem.campbell(model, [ratio * CRITICAL], 2)
    k = int(np.argmax(diagram.eigenvalues[0].real))
    # the thousandth of the mass that the shaft has
    assert diagram.eigenvalues[0, k].real == pytest.approx(growth(ratio * CRITICAL, DRAG), rel=2e-3, abs=1e-5)
    assert bool(diagram.damping_ratio[0, k] < 0) is (ratio > 2)
    assert diagram.whirl[0, k] == "forward"


@pytest.mark.parametrize("ratio", [0.5, 0.999, 1.5, -1.5])
def test_unbalance_of_a_damped_rotor(ratio):
    damping, eccentricity = 10.0, 1e-3
    model, body = rigid(damping=damping)
    lateral, speed = np.sqrt(2 * STIFF / M), 0.0
    speed = ratio * lateral
    response = fem.unbalance_response(model, {body: (M * eccentricity, 0.3)}, [speed], rotor=body, axis=[1, 0, 0])
    w = abs(speed)
    exact = M * eccentricity * w**2 * np.exp(0.3j) / (2 * STIFF - M * w**2 + 2j * damping * w)
    forward, backward = response.circles(body)
    assert np.abs(forward[0]) == pytest.approx(abs(exact), rel=1e-4)
    assert abs(backward[0]) < 1e-7 * abs(exact)
    assert response.amplitude(body)[0] == pytest.approx(response.minor(body)[0], rel=1e-6)
    if ratio > 0:
        assert response.phase(body)[0] == pytest.approx(np.angle(exact), abs=1e-4)


def test_between_two_critical_speeds_the_orbit_runs_backwards():
    soft = 0.5 * STIFF
    model, body = rigid(stiffness=(STIFF, soft))
    one, other = np.sqrt(2 * soft / M), np.sqrt(2 * STIFF / M)
    speeds = np.array([0.5 * one, 0.5 * (one + other), 1.5 * other])
    response = fem.unbalance_response(model, {body: 1e-3}, speeds, rotor=body, axis=[1, 0, 0])
    assert (np.sign(response.minor(body)) == [1, -1, 1]).all()
    push = 1e-3 * speeds**2
    exact = np.abs([push / (2 * STIFF - M * speeds**2), push / (2 * soft - M * speeds**2)])
    assert response.amplitude(body) == pytest.approx(exact.max(axis=0), rel=1e-4)
    labels = fem.campbell(model, [30.0], 2, rotor=body, axis=[1, 0, 0])
    assert set(labels.whirl[0]) == {"straight"}  # no gyroscopic coupling of the disc in the middle


def test_an_unbalance_next_to_the_middle_tilts_the_rotor():
    model, body = rigid()
    speed = 20.0
    response = fem.unbalance_response(model, {body.frame([0.2, 0, 0]): 1e-3}, [speed], rotor=body, axis=[1, 0, 0])
    push = 1e-3 * speed**2
    tilt = 0.2 * push / (2 * STIFF * ARM**2 - (ACROSS - POLAR) * speed**2)
    end = push / (2 * STIFF - M * speed**2) + ARM * tilt
    assert response.amplitude(body.frame([ARM, 0, 0]))[0] == pytest.approx(end, rel=1e-4)


def test_what_is_not_a_rotor_of_one_stiffness_in_all_directions_is_rejected():
    model, body = rigid(tilted=True)
    with pytest.raises(fem.ParameterError, match=r"masses differ.*'rotor'.*floquet"):
        fem.campbell(model, [1.0, 2.0], 2, rotor=body, axis=[1, 0, 0])
    model, body = rigid()
    with pytest.raises(fem.ParameterError, match=r"rotor = .*rotor=…"):
        fem.campbell(model, [1.0, 2.0], 2)
    with pytest.raises(fem.ParameterError, match="axis = None"):
        fem.critical_speeds(model, 2, rotor=body)
    with pytest.raises(fem.ParameterError, match=r"speeds = .* must increase"):
        fem.campbell(model, [2.0, 1.0], 2, rotor=body, axis=[1, 0, 0])
    with pytest.raises(fem.ParameterError, match=r"1 rad/s .*4 "):
        fem.campbell(model, [1.0], 9, rotor=body, axis=[1, 0, 0])
    with pytest.raises(fem.ParameterError, match=r"'ground'.* turn|not turn"):
        fem.unbalance_response(model, {model.ground: 1.0}, [1.0], rotor=body, axis=[1, 0, 0])


def test_bushings_hold_housings_and_are_rejected_on_what_spins():
    model = fem.Model("rotor on mounts", gravity=[0, 0, 0])
    body = model.add(fem.RigidBody(M, [POLAR, ACROSS, ACROSS], fixed=("x",), name="rotor"))
    stiffness, mass, turns = [1.0, STIFF, STIFF, 1e3, 1e3, 1e3], 0.1, {"rotor": body, "axis": [1, 0, 0]}
    for side in (-ARM, ARM):
        housing = model.add(fem.RigidBody(mass, 1e-3, position=[side, 0, 0]))
        model.add(fem.Spherical.at(housing, body, [side, 0, 0]))
        model.add(fem.Bushing.at(model.ground, housing, [side, 0, 0], stiffness=stiffness))
    speed, across, k = 100.0, ACROSS + 2 * mass * ARM**2, 2 * STIFF * ARM**2
    g, root = speed * POLAR / across, np.sqrt((speed * POLAR / across) ** 2 / 4 + k / across)
    exact = sorted([np.sqrt(2 * STIFF / (M + 2 * mass))] * 2 + [root - g / 2, root + g / 2])
    assert np.sort(fem.campbell(model, [speed], 4, **turns).omega[0]) == pytest.approx(exact, rel=1e-9)
    model.add(fem.Bushing.at(model.ground, body, [0, 0, 0], stiffness=stiffness, name="mount"))
    with pytest.raises(fem.ParameterError, match=r"stiffnesses differ .*'mount'.*housing"):
        fem.campbell(model, [speed], 2, **turns)


def test_a_rotor_that_sags_turns_about_its_bent_axis_and_one_that_does_not_says_so():
    from fem_mbs.cases import whirl

    model, turns = whirl.supported()
    straight = fem.campbell(model, [400.0], 4, rotor=turns, axis=X)
    model.gravity = [0, 0, -9.81]
    static = fem.static_equilibrium(model)
    sags = fem.campbell(model, [400.0], 4, rotor=turns, axis=X, about=static)
    assert static.position(model["disc at 1 m"].node)[2] < -5e-4
    # a bend of 1 mm in 1.5 m changes nothing that matters
    assert sags.omega == pytest.approx(straight.omega, rel=1e-5) and sags.whirl.tolist() == straight.whirl.tolist()
    assert sags.warnings == straight.warnings == []
    loose = fem.campbell(model, [400.0], 4, rotor=turns, axis=X)
    assert "Loads act" in loose.warnings[0] and "about=static_equilibrium" in str(loose)


def test_a_large_model_is_solved_sparse():
    from fem_mbs.cases import whirl

    model, turns = whirl.rotor(whirl.BETWEEN, {0.0: (1e6, 1e6, 0.0), whirl.LENGTH: (1e6, 1e6, 0.0)}, n=40)
    assert model.compile().n > 600
    diagram = fem.campbell(model, [0.0, 400.0], 4, rotor=turns, axis=X)
    assert diagram.whirl[-1].tolist() == ["backward", "forward", "backward", "forward"]
    # exact beams, fem_mbs.cases.whirl
    assert [c.speed for c in diagram.critical] == pytest.approx([86.4077, 86.9041, 260.5130, 288.6095], rel=1e-5)


def test_a_shaft_of_which_only_a_part_turns_is_rejected():
    model = laval(None, eccentricity=0.0)
    model["left"].angular_velocity = X
    with pytest.raises(fem.ParameterError, match=r"model = .*turns.*not.*all nodes"):
        fem.campbell(model, [1.0], 2)


def test_a_shaft_with_a_rectangular_section_is_rejected():
    model = fem.Model("flat", gravity=[0, 0, 0])
    ends = [fem.Node6([x, 0, 0], fixed=("x", "y", "z")) for x in (0.0, 1.0)]
    line = model.add(fem.beam_line(*ends, 4, fem.Section.rectangle(0.02, 0.01, E=210e9, nu=0.3, density=7850)))
    with pytest.raises(fem.ParameterError, match=r"masses differ|stiffnesses differ"):
        fem.campbell(model, [1.0], 2, rotor=line, axis=X)


def test_the_diagram_is_drawn_and_printed(tmp_path):
    model, body = rigid()
    diagram = fem.campbell(model, [0.0, 50.0, 100.0], 4, rotor=body, axis=[1, 0, 0])
    diagram.plot(tmp_path / "campbell.png", orders=(1, 2))
    fem.unbalance_response(model, {body: 1e-3}, [1.0, 5.0], rotor=body, axis=X).plot(body, save=tmp_path / "u.png")
    assert (tmp_path / "campbell.png").stat().st_size > 1e4 and (tmp_path / "u.png").stat().st_size > 1e4
    assert "critical speed" in str(diagram) and "backward" in str(diagram) and "3 critical" in repr(diagram)
