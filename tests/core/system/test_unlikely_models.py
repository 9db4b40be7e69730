"""Models that are hardly meant: mistaken units, starts at dead centres, rotations beyond a law; signals."""

import pickle
import warnings

import numpy as np
import pytest

import fem_mbs as fem


def spinning_bushing(spin, stiffness=(0, 0, 0, 1, 1, 1), damping=(0, 2.0, 2.0, 0, 0, 0)):
    model = fem.Model("spin")
    body = model.add(fem.RigidBody(1.0, 0.1, angular_velocity=[spin, 0, 0], name="body"))
    model.add(fem.Bushing(model.ground, body, stiffness=stiffness, damping=damping, name="mount"))
    model.add(fem.PointForce(body, [0, 1.0, 0]))
    return model


def test_a_bushing_past_its_largest_rotation_ends_the_run_with_its_name():
    with pytest.raises(fem.SolverError, match=r"'mount'.*2\.8\d? rad.*JointSpring") as e:
        fem.DecoupledNSGA().run(spinning_bushing(20.0), 1.0, 1e-3)
    frequency = np.sqrt(10.0)  # of the torsion spring of 1 N m/rad on 0.1 kg m²
    assert e.value.time == pytest.approx(np.arcsin(2.8 * frequency / 20) / frequency, abs=2e-3)
    turned = fem.RigidBody(1.0, 0.1, rotation=[2.85, 0, 0])
    with pytest.raises(fem.ParameterError, match=r"frame_Q = .*2\.85 rad.*frame_P"):
        fem.Bushing(fem.Model().ground, turned, stiffness=np.ones(6))


def test_a_bushing_that_resists_translations_warns_from_1_rad_on():
    result = fem.DecoupledNSGA().run(spinning_bushing(4.0, stiffness=None), 0.4, 1e-3)
    (text,) = [text for text in result.warnings if "mount" in text]
    assert "1.6 rad" in text and "first frame" in text
    small = fem.DecoupledNSGA().run(spinning_bushing(2.0, stiffness=None), 0.4, 1e-3)
    torsion = fem.DecoupledNSGA().run(spinning_bushing(4.0, damping=None), 0.4, 1e-3)
    assert not [text for result in (small, torsion) for text in result.warnings if "mount" in text]


def test_a_load_takes_what_its_function_returns_at_the_beginning_of_a_run():
    force = [0.0]
    model = fem.Model("loop")
    body = model.add(fem.PointMass(1.0, name="body"))
    model.add(fem.PointForce(body, [1.0, 0, 0], signal=lambda t: force[0]))
    force[0] = 10.0
    system = model.compile()
    for wanted in (10.0, -4.0):  # the second run begins at the same time
        force[0] = wanted
        velocity = fem.DecoupledNSGA().run(system, t_end=0.02, h=0.01)["body"].velocity[:, 0]
        assert velocity == pytest.approx(wanted * np.array([0.0, 0.01, 0.02]), rel=1e-12)


def test_the_value_of_a_held_signal_is_set_by_runs_alone():
    held = fem.Held(0.5, name="brake")
    with pytest.raises(AttributeError, match=r"Held\('brake'\): value.*set\(value\)"):
        held.value = 5.0
    assert held.value == held(0.0) == 0.5 and pickle.loads(pickle.dumps(held))(0.0) == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_a_structure_that_cannot_move_compiles_and_rests_when_velocities_are_projected(seed):
    rng = np.random.default_rng(seed)
    model, corners, bodies = fem.Model("triangle"), [np.zeros(3), np.array([1.0, 0, 0]), np.array([0.3, 0.8, 0])], []
    for i in range(2):
        motion = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
        place = 0.5 * (corners[i] + corners[i + 1])
        bodies.append(model.add(fem.RigidBody(1.0, 0.1, position=place, name=f"bar {i}", **motion)))
    for one, other, p in ((model.ground, bodies[0], 0), (bodies[0], bodies[1], 1), (bodies[1], model.ground, 2)):
        model.add(fem.Revolute.at(one, other, corners[p], axis=[0, 0, 1]))
    assert not model.compile(project=True, redundant="allow").initial.V.any()


def hinge(model=None):
    model = fem.Model("hinge") if model is None else model
    body = model.add(fem.RigidBody(1.0, 0.01, position=[0.3, 0, 0], name="flap"))
    return model, model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 1, 0], name="pin"))


@pytest.mark.parametrize("law", [{}, {"stiffness": 10.0}])
def test_stops_in_degrees_are_warned_of(law):
    _, pin = hinge()
    with pytest.warns(UserWarning, match=r"90 rad.*14\.3 .*np\.radians\(90\) .*1\.571"):
        if law:
            fem.JointBumper(pin, upper=90, **law)
        else:
            fem.JointStop(pin, limit=90, side="upper")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.JointStop(pin, limit=np.radians(90), side="upper")
        fem.JointStop(pin, limit=6 * np.pi, side="upper")  # three turns are meant


def test_an_inertia_in_other_units_is_warned_of():
    def model(inertia):
        model = fem.Model("arm")
        arm = model.add(fem.RigidBody(1.0, inertia, position=[0.3, 0, 0], name="arm"))
        model.add(fem.Revolute.at(model.ground, arm, [0, 0, 0], [0, 1, 0]))
        return model

    with pytest.warns(UserWarning, match=r"'arm'.*radius of gyration.*28\.3 m.*0\.3 m"):
        model(800.0).compile()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(0.08).compile()


def test_a_pin_that_all_but_stays_in_its_bearing_is_as_large_as_its_radius():
    model = fem.Model("journal")
    pin = model.add(fem.RigidBody(2.0, 1e-4, position=[0, -50e-6, 0], name="pin"))
    model.add(fem.SphereInCylinder(pin, model.ground, radius=0.010, radius_cylinder=0.010050))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.compile()


@pytest.mark.parametrize("value", [-1.0, True, [1, 2], None])
def test_gravity_of_a_system_is_three_numbers(value):
    system = hinge()[0].compile()
    with pytest.raises(fem.ParameterError, match="gravity"):
        system.set_gravity(value)


def test_a_rope_laid_round_a_peg_the_long_way_is_warned_of():
    model = fem.Model("rope")
    load = model.add(fem.RigidBody(1.0, 0.1, position=[1.0, -2.0, 0], name="load"))
    peg = model.ground.frame(p=[0, 0, 0], name="peg")
    ends = model.ground.frame(p=[-2.0, -1.0, 0]), load.frame()
    with pytest.warns(UserWarning, match=r"'wrong'.*path\[1\].* 2[5-9]\d.*turns=\{1: 0\}"):
        fem.Cable([ends[0], (peg, 0.1), ends[1]], name="wrong")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.Cable([ends[0], (peg, -0.1), ends[1]], name="right")
        fem.Cable([ends[0], (peg, 0.1), ends[1]], turns={1: 0}, name="meant")


@pytest.mark.parametrize("kind, first", [("Cable", True), ("Cable", False), ("ElasticCable", True)])
def test_a_rope_that_would_wind_off_the_wrong_side_of_a_drum_is_warned_of(kind, first):
    def compiled(radius, gravity=(0, -9.81, 0)):
        model = fem.Model("winch", gravity=gravity)
        drum = model.add(fem.RigidBody(1.0, 0.02, name="drum"))
        load = model.add(fem.RigidBody(2.0, 0.01, position=[0.1, -2.0, 0], name="load"))
        model.add(fem.Revolute.at(model.ground, drum, [0, 0, 0], [0, 0, 1], name="shaft"))
        path, law = [(drum, radius if first else -radius), load], {"stiffness": 1e5} if kind == "ElasticCable" else {}
        model.add(getattr(fem, kind)(path if first else path[::-1], name="rope", **law))
        return model.compile()

    with pytest.warns(UserWarning, match=r"'drum'.*radius -?0\.1 m.*'load'.*5\.72°"):
        compiled(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(-0.1)
        compiled(0.1, gravity=(0, 0, 0))  # no side is the wrong one
        compiled(0.1, gravity=(3.0, -9.81, 0))  # neither is vertical


def test_modes_about_a_loaded_start_that_is_no_equilibrium_are_warned_of():
    model, pin = hinge(fem.Model("flap", gravity=[0, 0, -9.81]))
    model.add(fem.JointSpring(pin, stiffness=10.0))
    with pytest.warns(UserWarning, match="Loads act at this configuration"):
        fem.modes(model, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.modes(model, 1, about=fem.static_equilibrium(model))


def slider_crank(angle):
    """A crank whose slider is driven, `angle` [rad] off its dead centre."""
    model, r, length = fem.Model("crank"), 0.1, 0.3
    pin = r * np.array([np.cos(angle), 0.0, np.sin(angle)])
    end = np.array([pin[0] + np.sqrt(length**2 - pin[2] ** 2), 0, 0])
    places = {"crank": 0.5 * pin, "rod": 0.5 * (pin + end), "slider": end}
    crank, rod, slider = (model.add(fem.RigidBody(1.0, 0.01, position=x, name=name)) for name, x in places.items())
    model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], [0, 1, 0], name="main"))
    model.add(fem.Spherical.at(crank, rod, pin, name="pin"))
    model.add(fem.Revolute.at(rod, slider, end, [0, 1, 0], name="wrist"))
    model.add(fem.Cylindrical.at(model.ground, slider, end, [1, 0, 0], name="guide"))
    model.add(fem.Prescribed(slider, x=fem.ramp(height=-0.05, duration=1.0) + end[0], name="drive"))
    return model


def test_a_start_at_a_dead_centre_is_named_and_one_near_it_warned_of():
    with pytest.raises(fem.ModelError, match=r"2 of 18 .*dead centre"):
        slider_crank(0.0).compile()
    with pytest.warns(UserWarning, match=r"'crank'.*dead centre"):
        slider_crank(1e-7).compile()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slider_crank(1e-3).compile()
    model = slider_crank(0.3)
    model.add(fem.Revolute.at(model.ground, model["crank"], [0, 0, 0], [0, 1, 0], name="again"))
    with pytest.raises(fem.ModelError, match="5 of 23 constraint"):
        model.compile()


def test_results_of_statics_answer_whether_a_name_is_in_them():
    model, pin = hinge(fem.Model("flap", gravity=[0, 0, -9.81]))
    model.add(fem.JointSpring(pin, stiffness=10.0, name="coil"))
    result = fem.static_equilibrium(model)
    assert "coil" in result and "nobody" not in result


def test_the_stiffness_of_a_section_is_the_inverse_of_its_flexibility():
    C = np.diag([4.0, 3.0, 3.0, 2.0, 1.0, 1.0])
    C[0, 4] = C[4, 0] = 0.5
    assert fem.Section(stiffness=C).stiffness == pytest.approx(C, rel=1e-14)
    slender = fem.Section.general(EA=5.0, GJ=2.0, EI2=1.0, EI3=1.5)
    assert np.diag(slender.stiffness) == pytest.approx([5.0, np.inf, np.inf, 2.0, 1.0, 1.5])
