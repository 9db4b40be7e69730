"""State space, frequency response, multipliers, modes with closed contacts and of what spins: closed forms."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.solvers.linear.linearise import linearise

M, K, C = 2.0, 50.0, 0.6


def oscillator():
    """Two masses along x, ground - mass - mass, and a wind on the second one."""
    model = fem.Model("two masses", gravity=[0, 0, 0])
    first, second = (
        model.add(fem.PointMass(M, fixed=("y", "z"), position=[x, 0, 0], name=name))
        for x, name in ((1, "first"), (2, "second"))
    )
    model.add(fem.Spring(model.ground.frame(), first, stiffness=K, damping=C, free_length=1.0, name="inner"))
    model.add(fem.Spring(first, second, stiffness=K, damping=C, free_length=1.0, name="outer"))
    model.add(fem.PointForce(second, [0.0, 0, 0], signal=lambda t: 1.0, name="wind"))
    return model


def exact(s):
    """Transfer functions (2,) of a force on the second mass to both places."""
    z = K + C * s
    matrix = np.array([[M * s * s + 2 * z, -z], [-z, M * s * s + z]])
    return np.linalg.solve(matrix, [0, 1])


def test_state_space_and_frequency_response_of_two_masses_are_their_closed_forms():
    model, w = oscillator(), np.array([0.0, 1.0, 3.1, 8.0, 20.0])
    outputs = [("first", "x"), ("second", "x"), ("second", "vx"), ("second", "ax"), ("outer", "length")]
    linear = fem.linearise(model, [("second", "x"), ("wind", "x")], outputs)
    found = fem.frequency_response(model, [("second", "x"), ("wind", "x")], outputs, w / (2 * np.pi))
    assert linear.A.shape == (4, 4) and linear.inputs[0] == "PointMass 'second': force x"
    for k, frequency in enumerate(w):
        s = 1j * frequency
        x = exact(s)
        reference = np.array([x[0], x[1], s * x[1], s * s * x[1], x[1] - x[0]])
        # differences of the element's output leave 1e-9
        assert found.response[k, :, 0] == pytest.approx(reference, rel=1e-8, abs=1e-9)
        assert linear.response(s)[:, 0] == pytest.approx(reference, rel=1e-8, abs=1e-9)
    assert found.response[:, :, 1] == pytest.approx(found.response[:, :, 0], rel=1e-8, abs=1e-12)
    # what goes into other packages is the same
    one = fem.linearise(model, ("second", "x"), ("first", "x")).to_scipy()
    assert one.freqresp(w=w[1:])[1] == pytest.approx([exact(1j * v)[0] for v in w[1:]], rel=1e-6)
    assert linear.to_scipy().B.shape == (4, 2)


def test_poles_are_those_of_the_modes():
    linear = fem.linearise(oscillator(), ("second", "x"), ("first", "x"))
    found = fem.modes(oscillator(), 2, damping=True).eigenvalues
    assert linear.poles[linear.poles.imag > 0] == pytest.approx(found, rel=1e-9)


def pendulum(length=0.5, **options):
    """A body on a hinge, its centre of mass below; hinge at the origin, about y."""
    model = fem.Model("pendulum", gravity=[0, 0, -9.81])
    body = model.add(fem.RigidBody(M, [0.1, 0.2, 0.1], position=[0, 0, -length], name="bob", **options))
    model.add(fem.Revolute.at(model.ground, body, position=[0, 0, 0], axis=[0, 1, 0], name="hinge"))
    return model, body


def test_constraints_are_eliminated_and_reactions_are_outputs():
    model, body = pendulum()
    inertia = 0.2 + M * 0.25
    linear = fem.linearise(model, (body, "x"), [(body, "x"), (body, "ry"), (body, "ax"), ("hinge", "force", 0)])
    assert linear.A.shape == (2, 2)
    w = np.sqrt(M * 9.81 * 0.5 / inertia)
    assert np.abs(linear.poles) == pytest.approx([w, w], rel=1e-9)
    s = 2.0j
    tilt = -0.5 / (inertia * (s * s + w * w))  # about y, of a force at the centre of mass, below the hinge
    response = linear.response(s)[:, 0]
    push = 1.0 - M * (-0.5 * tilt * s * s)  # of the hinge: minus the force, plus mass times acceleration
    assert response[:3] == pytest.approx([-0.5 * tilt, tilt, -0.5 * tilt * s * s], rel=1e-8)
    assert abs(response[3]) == pytest.approx(abs(push), rel=1e-6)
    found = fem.frequency_response(model, (body, "x"), [(body, "x"), ("hinge", "force", 0)], [2.0 / (2 * np.pi)])
    assert found.response[0, :, 0] == pytest.approx(response[[0, 3]], rel=1e-6)


def driven():
    """A cart driven along x carries a mass on a spring with a damper."""
    model = fem.Model("driven", gravity=[0, 0, 0])
    cart = model.add(fem.RigidBody(1.0, [1, 1, 1], fixed=("y", "z", "rx", "ry", "rz"), name="cart"))
    mass = model.add(fem.PointMass(M, fixed=("y", "z"), position=[1, 0, 0], name="mass"))
    model.add(fem.Spring(cart, mass, stiffness=K, damping=C, free_length=1.0))
    drive = fem.LinearDriver.at(model.ground, cart, position=[0, 0, 0], axis=[1, 0, 0], distance=lambda t: 0.0 * t)
    drive.name = "drive"
    model.add(drive)
    return model


def test_a_driver_is_an_input():
    s = 3j
    x = (K + C * s) / (M * s * s + C * s + K)
    force = s * s * (1.0 + M * x)
    found = fem.frequency_response(driven(), "drive", [("mass", "x"), ("drive", "force")], [3 / (2 * np.pi)])
    assert found.response[0, :, 0] == pytest.approx([x, force], rel=1e-7)
    # as states the distance and its rate, as input the acceleration
    linear = fem.linearise(driven(), "drive", [("mass", "x"), ("drive", "force"), ("drive", "distance")])
    assert linear.inputs[0].endswith("acceleration") and linear.A.shape == (4, 4)
    assert linear.response(s)[:, 0] * s * s == pytest.approx([x, force, 1.0], rel=1e-7)


@pytest.mark.parametrize(
    "inputs, outputs, message",
    [
        (("second", "w"), ("first", "x"), r"inputs = \('second', 'w'\).*\(body or frame"),
        ("inner", ("first", "x"), "inputs = 'inner'"),
        (("second", "x"), ("first", "speed"), r"outputs = .*one of x, y, z"),
        (("second", "x"), ("outer", "length", 3), r"has 1 components"),
        ("wind", ("first", "x"), r"inputs = .*3 functions.*\(element, number"),
        (("second", "x"), [], r"outputs = \[\] is empty"),
        ((fem.PointMass(1.0), "x"), ("first", "x"), "not in the model 'two masses'"),
    ],
)
def test_inputs_and_outputs_that_are_not_there_are_rejected(inputs, outputs, message):
    with pytest.raises(fem.FemMbsError, match=message):
        linearise(oscillator(), inputs, outputs)


def test_a_resonance_without_damping_and_a_missing_package_are_reported(monkeypatch):
    import builtins

    model, body = pendulum()
    model["bob"]
    free = fem.Model("free", gravity=[0, 0, 0])
    mass = free.add(fem.PointMass(1.0, name="mass"))
    with pytest.raises(fem.SolverError, match=r"0 Hz.*resistance"):
        fem.frequency_response(free, (mass, "x"), (mass, "x"), [0.0])
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "control":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(fem.FemMbsError, match="python-control"):
        fem.linearise(model, (body, "x"), (body, "x")).to_control()


# --- multipliers ------------------------------------------------------------------------------------------------------


def parametric(stiffness):
    """ẍ + k(t) x = 0."""
    model = fem.Model("parametric", gravity=[0, 0, 0])
    mass = model.add(fem.PointMass(1.0, fixed=("y", "z"), name="mass"))
    model.add(fem.UserForce(mass, lambda x, R, v, t: np.array([-stiffness(t) * x[0][0], 0, 0, 0, 0, 0])))
    return model


def test_mathieu_equation_has_its_multipliers():
    def stiffness(t):
        return 1.2 + 0.6 * np.cos(np.pi / 2 * t)

    found = fem.floquet(parametric(stiffness), 4.0, fem.DecoupledNSGA(rho_inf=1.0), 0.02)
    columns = [
        solve_ivp(lambda t, y: [y[1], -stiffness(t) * y[0]], (0, 4), e, method="DOP853", rtol=1e-12, atol=1e-14)
        for e in np.eye(2)
    ]
    exact = np.linalg.eigvals(np.array([c.y[:, -1] for c in columns]).T)
    order = np.argsort(exact.imag)
    assert np.sort_complex(found.multipliers)[np.argsort(np.sort_complex(found.multipliers).imag)] == pytest.approx(
        exact[order], abs=1e-6
    )
    assert found.stable and found.error < 1e-3 and "stable" in str(found)


def test_mathieu_equation_on_the_edge_of_its_tongue_has_the_multiplier_of_half_the_frequency():
    from scipy.special import mathieu_b

    # x'' + (a − 2 q cos 2τ) x = 0 has a solution of period 2π on a = b₁(q): multiplier −1 after π, twice
    q = 0.4
    a = mathieu_b(1, q)
    found = fem.floquet(parametric(lambda t: a - 2 * q * np.cos(2 * t)), np.pi, fem.DecoupledNSGA(rho_inf=1.0), 0.02)
    assert np.trace(found.monodromy) == pytest.approx(-2.0, abs=1e-6)
    inside = fem.floquet(parametric(lambda t: 1.0 - 2 * q * np.cos(2 * t)), np.pi, fem.DecoupledNSGA(rho_inf=1.0), 0.05)
    assert not inside.stable and inside.multipliers[0].real < -1.1


def test_meissner_equation_with_and_without_landing_on_its_jumps():
    model = parametric(lambda t: 1.5 if t % 4 < 2.4 else 0.7)
    trace = -0.8703592899  # two rotations in closed form
    landed = [
        np.trace(fem.floquet(model, 4.0, fem.DecoupledNSGA(rho_inf=1.0), h, breaks=[2.4], extrapolate=False).monodromy)
        - trace
        for h in (0.1, 0.05)
    ]
    assert landed[0] / landed[1] == pytest.approx(4.0, rel=0.01)  # order 2, as without a jump
    over = np.trace(fem.floquet(model, 4.0, fem.DecoupledNSGA(rho_inf=1.0), 0.1).monodromy) - trace
    extrapolated = np.trace(fem.floquet(model, 4.0, fem.DecoupledNSGA(rho_inf=1.0), 0.05, breaks=[2.4]).monodromy)
    assert abs(extrapolated - trace) < 1e-6 and abs(over) > 1e-3


def test_multipliers_of_a_constrained_model_are_those_of_its_modes():
    model, _ = pendulum()
    rate = np.sqrt(M * 9.81 * 0.5 / (0.2 + M * 0.25))
    found = fem.floquet(model, 0.3, fem.DecoupledNSGA(rho_inf=1.0), 0.01)
    assert len(found.multipliers) == 2 and not np.isnan(found.error)
    assert np.sort(found.multipliers.imag) == pytest.approx([-np.sin(0.3 * rate), np.sin(0.3 * rate)], abs=1e-5)
    assert found.exponents.imag == pytest.approx([rate, -rate], abs=1e-4) or found.exponents.imag == pytest.approx(
        [-rate, rate], abs=1e-4
    )


def test_what_is_not_periodic_is_rejected():
    model, _ = pendulum(angular_velocity=[0, 1.0, 0], velocity=[-0.5, 0, 0])
    with pytest.raises(fem.ParameterError, match=r"period.*'bob'"):
        fem.floquet(model, 0.3, fem.DecoupledNSGA(), 0.01)
    with pytest.raises(fem.ParameterError, match=r"breaks = .*period"):
        fem.floquet(model, 0.3, fem.DecoupledNSGA(), 0.01, breaks=[0.5])
    with pytest.raises(fem.ParameterError, match=r"stepper = 3.*time stepper"):
        fem.floquet(model, 0.3, 3, 0.01)


# --- modes: contacts, spin, motions -----------------------------------------------------------------------------------


def tumbler(friction):
    """A ball whose centre of mass lies below its middle, on a plane."""
    radius, deep = 0.1, 0.04
    model = fem.Model("tumbler", gravity=[0, 0, -9.81])
    body = model.add(fem.RigidBody(M, [4e-3] * 3, position=[0, 0, radius - deep], name="ball"))
    plane = fem.SphereOnPlane(
        body.frame([0, 0, deep]), model.ground.frame(), radius=radius, friction=friction, restitution=0.0, name="floor"
    )
    model.add(plane)
    return model, plane, radius, deep


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_tumbler_rocks_on_its_closed_contact(friction):
    model, plane, radius, deep = tumbler(friction)
    static = None
    for contacts in ("closed", [plane]):
        found = fem.modes(model, 5, about=static, contacts=contacts)
        inertia = 4e-3 + (M * (radius - deep) ** 2 if friction else 0.0)  # it rolls, or its centre goes up and down
        rate = np.sqrt(M * 9.81 * deep / inertia)
        assert found.omega[-2:] == pytest.approx([rate, rate], rel=1e-6)
        assert (np.abs(found.omega[:-2]) < 1e-3 * rate).all()
        assert not any("left out" in remark for remark in found.warnings)
    remarks = fem.modes(model, 1).warnings
    assert any(re.search("'floor'.*contacts='closed'", remark) for remark in remarks)
    with pytest.raises(fem.ParameterError, match=r"contacts = .*'open', 'closed'"):
        fem.modes(model, 1, contacts="shut")


def test_contacts_that_would_pull_are_reported():
    model, plane, _, _ = tumbler(0.0)
    up = fem.Model("hanging", gravity=[0, 0, 9.81])
    body = up.add(fem.RigidBody(M, [4e-3] * 3, position=[0, 0, 0.1], name="ball"))
    up.add(fem.SphereOnPlane(body, up.ground.frame(), radius=0.1, name="floor"))
    found = fem.modes(up, 2, contacts="closed")
    assert any("would have to pull" in remark and "'floor'" in remark for remark in found.warnings)
    assert model is not None and plane is not None


def test_modes_of_what_spins_are_those_of_the_campbell_diagram():
    model = fem.Model("top", gravity=[0, 0, 0])
    body = model.add(
        fem.RigidBody(M, [0.05, 0.03, 0.03], fixed=("x", "y", "z"), angular_velocity=[40.0, 0, 0], name="top")
    )
    for side in (-0.4, 0.4):
        for far in ([side, 1e5, 0], [side, 0, 1e5]):
            spring = fem.Spring(model.ground.frame(far), body.frame([side, 0, 0]), stiffness=200.0, damping=0.5)
            model.add(spring)
    diagram = fem.campbell(model, [40.0], 2)
    found = fem.modes(model, 4, spinning=True, damping=True)
    keep = np.flatnonzero(found.eigenvalues.imag > 1.0)
    assert found.eigenvalues[keep] == pytest.approx(diagram.eigenvalues[0], rel=1e-9)
    assert [found.whirl[k] for k in keep] == diagram.whirl[0].tolist() and "forward" in str(found)
    still = fem.modes(model, 4)
    assert still.whirl is None and still.omega[-1] == pytest.approx(np.sqrt(4 * 200 * 0.16 / 2 / 0.03), rel=1e-4)
    moving = pendulum(velocity=[0.1, 0, 0], angular_velocity=[0, -0.2, 0])[0]
    with pytest.raises(fem.ParameterError, match=r"'bob' moves.*rotation"):
        fem.modes(moving, 1, spinning=True)


def test_a_mode_is_a_motion_that_paraview_plays(tmp_path):
    section = fem.Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    model = fem.Model("cantilever", gravity=[0, 0, 0])
    tip = fem.Node6([1, 0, 0], name="tip")
    model.add(fem.beam_line(fem.Node6(fixed=True), tip, 4, section))
    found = fem.modes(model, 2)
    result = found.motion(0, amplitude=0.1, frames=8, save=tmp_path / "mode.vtkhdf")
    shown = result["tip"].position - [1, 0, 0]
    # a cosine of the period of the mode
    assert np.linalg.norm(shown, axis=1) == pytest.approx(0.1 * np.abs(np.cos(np.arange(9) * np.pi / 4)), abs=1e-12)
    assert result.t[-1] == pytest.approx(1 / found.frequency[0]) and (tmp_path / "mode.vtkhdf").exists()
    assert np.abs(found.motion(1).rows([0])["position"]).max() == pytest.approx(1.0, abs=0.06)
    with pytest.raises(fem.ParameterError, match=r"mode = 2 .*2 modes"):
        found.motion(2)
