"""A soft tyre on a slope: it rolls as a rigid wheel above a limit of friction, and slides below it as one.

With the moment of inertia J of tyre and hub about the axis, a wheel on a slope α rolls with g sin α/(1 + J/M R²) where
μ > tan α J/(J + M R²), and else slides with g (sin α − μ cos α) while it turns with μ M g cos α R/J. The tyre touches
with its nodes, so that it rolls as a polygon, which loses energy at every corner, less with more of them.
"""

import numpy as np
import pytest

import fem_mbs as fem

R, THICK, WIDTH, SLOPE, G = 0.5, 0.15, 0.2, 0.1, 9.81
HUB, HUB_INERTIA = 50.0, 1.5  # kg; kg m² about the axis
RUBBER = fem.SolidMaterial(1e7, 0.3, 1000.0)
KIND = "Hexa8Enhanced"


def tyre(around):
    """Cells in a closed row about y; their outer nodes and their inner ones."""
    angle = 2 * np.pi * np.arange(around) / around
    corners = [(r, y) for y in (0.0, WIDTH) for r in (R - THICK, R)]
    points = np.array([[r * np.sin(a), y, -r * np.cos(a)] for a in angle for r, y in corners])
    first = 4 * np.arange(around)[:, None]
    second = np.roll(first, -1, axis=0)
    mesh = fem.Mesh(points, {"hexahedron": np.hstack([first + [0, 1, 3, 2], second + [0, 1, 3, 2]])}, name="tyre")
    middle = R - 0.5 * THICK
    mesh = mesh.with_group("outside", lambda x: np.hypot(x[:, 0], x[:, 2]) > middle)
    return mesh.with_group("inside", lambda x: np.hypot(x[:, 0], x[:, 2]) < middle)


def inertia(mesh):
    """Mass, and J of tyre and hub about the axis."""
    body = fem.SolidBody(mesh, RUBBER, elements=KIND)
    model = fem.Model("tyre")
    model.add(body)
    system = fem.System(model, check=False)
    M = system.matrices(system.initial, mass_only=True)
    turn = np.zeros((len(system.nodes), 6))
    turn[:, :3] = np.cross([0, 1, 0], system.initial.x)
    turn = system.reduced(turn.ravel())
    return body.mass + HUB, float(turn @ M @ turn) + HUB_INERTIA


def moved(around, friction, reduced=False, t_end=1.0, h=2e-3):
    """Acceleration, speed and spin at the end, mean force across the slope, and friction over it; M and J."""
    mesh, angle = tyre(around), np.arctan(SLOPE)
    model = fem.Model("tyre on a slope", gravity=[G * np.sin(angle), 0, -G * np.cos(angle)])
    hub = fem.RigidBody(HUB, [1.0, HUB_INERTIA, 1.0], position=[0, 0.5 * WIDTH, R], name="hub")
    if reduced:
        part = fem.reduce_mesh(mesh, RUBBER, {"rim": ("inside", [0, 0.5 * WIDTH, 0])}, modes=40, elements=KIND)
        body = fem.Superelement(part, position=[0, 0, R], damping=0.05, name="tyre")
        skin = fem.SuperelementSurface(body, "outside", name="skin")
        model.add(body, skin, hub, fem.Fixed(hub.frame(), body.frame("rim")))
        floor = fem.SurfaceContacts(skin, None, model.ground, friction=friction, name="floor")
    else:
        body = fem.SolidBody(mesh, RUBBER, elements=KIND, position=[0, 0, R], damping=1e-3, name="tyre")
        model.add(body, hub, fem.SurfaceCoupling(body, "inside", hub, kind="rigid", name="rim"))
        floor = fem.SurfaceContacts(body, "outside", model.ground, friction=friction, name="floor")
    model.add(floor)
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=t_end, h=h)
    late, k = result.t > 0.3, hub.node.index
    speed = np.array([result.state(step).V[k, 0] for step in range(len(result.t))])
    force = result.resultant(floor)[late]
    last = result.state(-1)
    return {
        "acceleration": np.polyfit(result.t[late], speed[late], 1)[0],
        "speed": speed[-1],
        "spin": (last.R[k] @ last.V[k, 3:])[1],
        "across": force[:, 2].mean(),
        "friction": -force[:, 0].sum() / force[:, 2].sum(),
        "t": result.t[-1],
    }, inertia(mesh)


BOTH = pytest.mark.parametrize("reduced", [False, pytest.param(True, marks=pytest.mark.slow)])


@BOTH
@pytest.mark.filterwarnings("ignore:.*modes of the same frequency")
@pytest.mark.filterwarnings("ignore:.*takes.*of the energy")
@pytest.mark.slow
def test_a_soft_tyre_rolls_as_a_rigid_wheel_but_for_its_corners(reduced):
    """48 corners: 2.3 % less than a wheel, the reduction 3.7 %; 96 of the mesh 1.2 % (measured)."""
    found, (M, J) = moved(48, 0.5, reduced)
    rolls = G * np.sin(np.arctan(SLOPE)) / (1 + J / (M * R**2))
    assert 0.95 * rolls < found["acceleration"] < rolls
    assert found["speed"] == pytest.approx(found["spin"] * R, rel=0.01)
    assert found["across"] == pytest.approx(M * G * np.cos(np.arctan(SLOPE)), rel=0.01)


@pytest.mark.slow
def test_the_rolling_of_a_tyre_converges_to_that_of_a_wheel():
    lost = []
    for around in (24, 48, 96):
        found, (M, J) = moved(around, 0.5)
        lost.append(1.0 - found["acceleration"] * (1 + J / (M * R**2)) / (G * np.sin(np.arctan(SLOPE))))
    assert 0.0 < lost[2] < 0.6 * lost[1] < 0.36 * lost[0], lost


@pytest.mark.slow
@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.filterwarnings("ignore:.*modes of the same frequency")
@pytest.mark.filterwarnings("ignore:.*takes.*of the energy")
def test_a_soft_tyre_slides_below_the_limit_of_friction_of_rolling(reduced):
    """Limit 0.0335. A part of the friction is missing where nodes tremble, 3 and 6 % at 48 corners, 0.02 % at 96."""
    friction = 0.025
    found, (M, J) = moved(48, friction, reduced)
    angle = np.arctan(SLOPE)
    assert friction < SLOPE * J / (J + M * R**2) - 0.005
    assert found["acceleration"] == pytest.approx(G * (np.sin(angle) - friction * np.cos(angle)), rel=3e-3)
    assert 0.92 * friction < found["friction"] < friction * (1 + 1e-9)
    assert found["spin"] == pytest.approx(friction * M * G * np.cos(angle) * R / J * found["t"], rel=0.05)
    assert found["speed"] > 1.3 * found["spin"] * R
