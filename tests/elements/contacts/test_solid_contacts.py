"""Contacts of surfaces of solids: a bar against a wall compared with wave theory, spheres, friction, refusals."""

import numpy as np
import pytest
from solid_models import block

import fem_mbs as fem

E, SPEED, GAP, LENGTH = 900.0, 1e-3, 5.005e-4, 10.0  # Pa, m/s, m, m; density 1, section 1 × 1; strain 3e-5
C = np.sqrt(E)
TOUCH, LEAVE, FORCE = GAP / SPEED, GAP / SPEED + 2 * LENGTH / C, C * SPEED


def thrown(elements, h, mass, reset="auto", **options):
    """Bar of hexahedra against the wall x = 0, to 1.6 s."""
    bar = block("hexa8", [LENGTH, 1, 1], [elements, 1, 1], E=E, nu=0.0, mass=mass, position=[GAP, 0, 0],
                velocity=[-SPEED, 0, 0], **options)  # fmt: skip
    model = fem.Model("bar", gravity=[0, 0, 0])
    wall = fem.SurfaceContacts(bar, "x0", model.ground.frame(rotation=[0, np.pi / 2, 0]), name="wall")
    model.add(bar, wall)
    return bar, wall, fem.DecoupledNSGA(rho_inf=0.8, reset_after_impact=reset).run(model, t_end=1.6, h=h)


def outcome(bar, wall, result):
    """Last contact [s], mean force over the exact one, its standard deviation, rebound [m/s], E/E_0, L1 of the gap."""
    force = sum(result[contact.name].force_normal for contact in wall.elements)
    inside = (result.t > TOUCH + 0.1) & (result.t < LEAVE - 0.1)
    momentum = force.sum() * result.h[-1] - bar.mass * SPEED
    gap = result[wall.elements[0].name].gap
    exact = np.where(result.t < TOUCH, GAP - SPEED * result.t, np.maximum(0.0, SPEED * (result.t - LEAVE)))
    energy = result.energy.total
    return (
        result.t[force > 0.0][-1],
        force[inside].mean() / FORCE,
        force[inside].std() / FORCE,
        momentum / bar.mass / SPEED,
        energy[-1] / energy[0],
        result.h[-1] * np.abs(gap - exact).sum() / SPEED,
    )


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_a_coarse_bar_against_a_wall_keeps_to_wave_theory(mass):
    last, mean, spread, rebound, energy, error = outcome(*thrown(25, 8e-3, mass))
    assert last == pytest.approx(LEAVE, abs=0.01)
    assert mean == pytest.approx(1.0, abs=5e-4) and spread < 0.01
    assert 0.95 < rebound < 1.0 and 0.96 < energy < 1.0
    assert error < 0.01


# of a prototype with the published scheme, which keeps its memory after impacts, and elements of linear elasticity
BARS = {
    "consistent": (1.164, 1.0000, 0.000, 0.9907, 0.991, 0.00133),
    "lumped": (1.172, 1.0000, 0.000, 0.9834, 0.992, 0.00245),
}
# a restart after the impact takes a tenth more of the energy that the step takes from the front of the
# wave. It is an error of h, as all that is lost: a third with half of mesh and step; with h → 0 both lose the same
RESTARTED = {
    "consistent": (1.164, 1.0000, 0.000, 0.9901, 0.9899, 0.00142),
    "lumped": (1.172, 1.0000, 0.000, 0.9831, 0.9910, 0.00250),
}


@pytest.mark.slow
@pytest.mark.parametrize("reset, bars", [("auto", BARS), ("filtered", RESTARTED)], ids=["kept", "restarted"])
@pytest.mark.parametrize("mass", BARS)
def test_a_bar_of_100_elements_against_a_wall(mass, reset, bars):
    last, mean, spread, rebound, energy, error = bars[mass]
    found = outcome(*thrown(100, 2e-3, mass, reset))
    assert found[0] == pytest.approx(last, abs=1e-9)
    assert found[1] == pytest.approx(mean, abs=1e-4) and found[2] == pytest.approx(spread, abs=5e-4)
    assert found[3:] == pytest.approx((rebound, energy, error), abs=6e-4) and found[5] == pytest.approx(error, abs=6e-5)


def test_a_restart_after_an_impact_takes_an_energy_that_vanishes_with_the_step():
    """The loss of the mesh at the impact, 1.16 %, is the same with the memory kept and with a restart."""
    lost = [[1.0 - outcome(*thrown(25, h, "consistent", reset))[4] for reset in (False, "filtered")]
            for h in (4e-3, 1e-3)]  # fmt: skip
    assert 1.0 - outcome(*thrown(25, 4e-3, "consistent"))[4] == lost[0][0]  # the default keeps the memory of meshes
    more = [restarted - kept for kept, restarted in lost]
    assert 0.0 < more[1] < more[0] / 8.0 and more[0] < 0.2 * lost[0][0]  # measured 2.8e-3 and 1.9e-4


@pytest.mark.parametrize(
    "mass, light",
    [
        ("consistent", None),
        pytest.param("lumped", None, marks=pytest.mark.slow),
        pytest.param("consistent", "x0", marks=pytest.mark.slow),
        ("lumped", "x0"),
    ],
)
@pytest.mark.parametrize("meshes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_bar_against_a_wall_converges_as_waves_with_a_front_do(mass, light, meshes):
    """Mesh and step go together, h c/Δx = 0.6. A scheme of second order spreads a front over Δx^(2/3)."""
    errors, rebounds = [], []
    for elements, h in ((25, 8e-3), (50, 4e-3), (100, 2e-3))[:meshes]:
        last, mean, _, rebound, _, error = outcome(*thrown(elements, h, mass, light=light))
        assert abs(last - LEAVE) < 2.5 * h and mean == pytest.approx(1.0, abs=3e-4)  # a front is as wide as two steps
        errors.append(error)
        rebounds.append(1.0 - rebound)
    for found in (errors, rebounds):
        orders = -np.diff(np.log2(found))
        assert (orders > 0.0).all() and min(found) > 0.0
        assert 0.6 < orders.mean() < 1.1  # measured 0.69 to 0.93


@pytest.mark.slow
def test_light_nodes_smooth_the_force_of_short_steps_and_keep_energy():
    """h c/Δx = 0.15: consistent masses ripple the force, lumped ones lose energy; measured 4.5 and 3.6 times less."""
    for mass, place in (("consistent", 2), ("lumped", 4)):
        heavy, light = (outcome(*thrown(50, 1e-3, mass, light=group)) for group in (None, "x0"))
        wrong = [found[2] if place == 2 else 1.0 - found[4] for found in (heavy, light)]
        assert wrong[1] < wrong[0] / 2.5
        assert light[5] < 0.9 * heavy[5] and light[3] > heavy[3]  # gap and rebound


def test_light_nodes_leave_the_mass_and_what_the_weight_is():
    heavy, light = (block("hexa8", [2, 1, 1], [4, 2, 2], density=3.0, light=group) for group in (None, "z0"))
    masses = []
    for body in (heavy, light):
        model = fem.Model("block", gravity=[0, 0, -10])
        model.add(body)
        system = fem.System(model, check=False)
        M = system.matrices(system.initial, mass_only=True)
        up = system.reduced(np.tile([0, 0, 1.0, 0, 0, 0], system.dof.size // 6))
        places = [node.index for node in body.nodes]
        masses.append(system.expanded(M @ up).reshape(-1, 6)[places, 2])
        force = system.reduced(system.forces(system.initial)[1])
        weight = system.expanded(force).reshape(-1, 6)[places, 2]
        assert weight == pytest.approx(-10.0 * masses[-1], abs=1e-12)  # each node falls with g
    below = light.node_numbers("z0")
    assert masses[0].sum() == pytest.approx(6.0, rel=1e-13) and masses[1].sum() == pytest.approx(6.0, rel=1e-13)
    assert masses[1][below] == pytest.approx(0.01 * masses[0][below], rel=1e-12)  # rows of lumped masses are those sums


def test_a_sphere_hits_a_free_block_whose_whole_boundary_can_touch():
    """Momentum of both bodies stays, and no node is inside of the sphere at any time."""
    cube = block("hexa8", [1, 1, 1], [2, 2, 2], E=1e4, density=1.0)
    ball = fem.RigidBody.sphere(0.3, 0.4, position=[0.5, 0.5, 1.41], velocity=[0.5, 0, -5], name="ball")
    model = fem.Model("hit", gravity=[0, 0, 0])
    touch = fem.SurfaceContacts(cube, None, sphere=ball, radius=0.4, friction=0.2, name="touch")
    model.add(cube, ball, touch)
    assert len(touch.elements) == 26
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.03, h=5e-4)
    system = fem.System(model)

    def momentum(step):
        state = result.state(step)
        return system.expanded(system.matrices(state, mass_only=True) @ system.reduced(state.V.ravel())).reshape(-1, 6)

    before, after = momentum(0)[:, :3], momentum(-1)[:, :3]
    row = ball.node.index
    assert np.abs(after[row] - before[row]).max() > 0.3 * 5.0
    assert np.abs(after.sum(axis=0) - before.sum(axis=0)).max() < 1e-9
    assert min(result[contact.name].gap.min() for contact in touch.elements) > -1e-9
    assert result.energy.total[-1] < result.energy.total[0]


def test_a_free_roller_hits_a_free_block():
    """Momentum of both stays; a roller of 0.6 m round the y axis, whose frame is turned, from above."""
    cube = block("hexa8", [1, 1, 1], [3, 2, 2], E=1e4, density=1.0)
    roller = fem.RigidBody(0.3, [0.05, 0.05, 0.05], position=[0.45, 0.5, 1.61], velocity=[0.5, 0, -5], name="roller")
    model = fem.Model("hit", gravity=[0, 0, 0])
    axis = roller.frame(rotation=fem.rotations.frame_with_axis([0, 1, 0]))
    touch = fem.SurfaceContacts(cube, "z1", cylinder=axis, radius=0.6, friction=0.2, name="touch")
    model.add(cube, roller, touch)
    assert len(touch.elements) == 12
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.06, h=5e-4)
    system = fem.System(model)

    def momentum(step):
        state = result.state(step)
        full = system.expanded(system.matrices(state, mass_only=True) @ system.reduced(state.V.ravel()))
        return full.reshape(-1, 6)[:, :3]

    before, after = momentum(0), momentum(-1)
    assert np.abs(after[roller.node.index] - before[roller.node.index]).max() > 0.2 * 0.3 * 5.0
    assert np.abs(after.sum(axis=0) - before.sum(axis=0)).max() < 1e-9
    assert min(result[contact.name].gap.min() for contact in touch.elements) > -1e-9


def test_a_block_in_a_drum_comes_to_rest_on_its_edges():
    """Two edges of the lower face carry the weight; their forces point to the axis of the drum."""
    cube = block("hexa8", [0.6, 0.4, 0.3], [2, 1, 1], E=1e7, nu=0.3, density=1000.0, damping=5e-3)
    height = 1.0 - np.sqrt(1.0 - 0.09)  # of the edges above the bottom of the drum of 1 m
    model = fem.Model("drum", gravity=[0, 0, -9.81])
    axis = model.ground.frame([0.3, 0, 1.0 - height - 1e-3], fem.rotations.frame_with_axis([0, 1, 0]))
    drum = fem.SurfaceContacts(cube, "z0", cylinder=axis, radius=1.0, hollow=True, friction=0.0, name="drum")
    model.add(cube, drum)
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.5, h=2e-3)
    forces = np.array([result[contact.name].force_normal[-20:].mean() for contact in drum.elements])
    edges = np.array([abs(node.position[0] - 0.3) > 0.2 for node in drum.nodes])
    assert forces[~edges] == pytest.approx(0.0, abs=1e-9)
    assert forces[edges].sum() * np.sqrt(1 - 0.09) == pytest.approx(cube.mass * 9.81, rel=0.01)
    assert min(result[contact.name].gap.min() for contact in drum.elements) > -1e-9


def test_a_block_rests_on_an_incline_below_the_limit_of_friction_and_slides_above_it():
    moved = {}
    for friction in (0.22, 0.18):  # tan 11.3° = 0.2
        cube = block("hexa8", [1, 0.5, 0.3], [2, 1, 1], E=1e6, nu=0.3, density=1000.0, damping=1e-3)
        model = fem.Model("incline", gravity=9.81 * np.array([0.2, 0.0, -1.0]) / np.sqrt(1.04))
        floor = fem.SurfaceContacts(cube, "z0", model.ground.frame(), friction=friction, name="floor")
        model.add(cube, floor)
        result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.4, h=2e-3)
        places = [node.index for node in floor.nodes]
        middle, end = (result.state(k).V[places, 0].mean() for k in (100, 200))
        moved[friction] = end - middle
        pressed = sum(result[contact.name].force_normal[-20:].mean() for contact in floor.elements)
        assert pressed == pytest.approx(cube.mass * 9.81 / np.sqrt(1.04), rel=0.01)
    assert abs(moved[0.22]) < 1e-9
    assert moved[0.18] == pytest.approx(0.2 * 9.81 * 0.02 / np.sqrt(1.04), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["st-venant-kirchhoff", "neo-hookean"])
def test_an_undamped_ring_hits_the_ground_at_courant_number_10_and_gains_nothing(law):
    """A scheme that drives nodes into the ground, where they leave and touch again, turned an element inside out."""
    n, radius, thickness = 96, 0.5, 0.03
    turns = 2 * np.pi * np.arange(n) / n
    corners = [(r, y) for y in (0.0, 0.1) for r in (radius - thickness / 2, radius + thickness / 2)]
    points = np.array([[r * np.sin(a), y, -r * np.cos(a)] for a in turns for r, y in corners])
    near = 4 * np.arange(n)[:, None] + [0, 1, 3, 2]
    mesh = fem.Mesh(points, {"hexahedron": np.hstack([near, np.roll(near, -1, axis=0)])})
    mesh = mesh.with_group("outside", lambda x: np.hypot(x[:, 0], x[:, 2]) > radius)
    start = {"position": [0, 0, radius + thickness / 2 + 0.01], "velocity": [0, 0, -1]}
    ring = fem.SolidBody(
        mesh, fem.SolidMaterial(1e8, 0.3, 1e3, law=law), elements="Hexa8Enhanced", name="ring", **start
    )
    model = fem.Model("ring", gravity=[0, 0, -9.81])
    model.add(ring, fem.SurfaceContacts(ring, "outside", model.ground, friction=0.3, name="floor"))
    energy = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.25, h=1e-3).energy.total
    kinetic = 0.5 * ring.mass
    # decision 1: some of it comes and goes (measured 1.1e-3); driven in, it had gained 500 times this energy
    assert np.diff(energy).max() < 2e-3 * kinetic and energy.max() < energy[0] + 1e-9 * kinetic
    assert energy[-1] > energy[0] - 0.2 * kinetic


def test_a_block_lies_on_a_box_smaller_than_itself():
    """Nodes next to the box stay free; those over it carry the weight."""
    cube = block("hexa8", [1, 1, 0.3], [5, 5, 2], E=1e6, nu=0.3, density=1e3, damping=2e-2, position=[0, 0, 1e-4])
    model = fem.Model("shelf", gravity=[0, 0, -9.81])
    place = model.ground.frame([0.5, 0.5, -0.05])
    shelf = fem.SurfaceContacts(cube, "z0", box=place, size=[0.5, 0.5, 0.1], radius=0.01, friction=0.3, name="shelf")
    model.add(cube, shelf)
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.4, h=4e-3)
    forces = np.array([result[contact.name].force_normal[-20:].mean() for contact in shelf.elements])
    over = np.array([np.abs(node.position[:2] - 0.5).max() < 0.25 for node in shelf.nodes])
    assert over.sum() == 4 and forces[~over] == pytest.approx(0.0, abs=1e-9)
    assert forces.sum() == pytest.approx(cube.mass * 9.81, rel=0.01)
    assert len(shelf.elements[0].picture()) == 1 and not shelf.elements[1].picture()


@pytest.mark.parametrize("modes", [0, 5, 20])
def test_a_reduced_bar_keeps_of_its_energy_what_its_modes_carry(modes):
    """E/E_0 = 1 − m_eff/M at an impact of a frame with restitution 0, and the contacts say what m_eff/M is."""
    bar = fem.block_mesh([LENGTH, 1, 1], [50, 1, 1], cell="hexahedron")
    reduced = fem.reduce_mesh(bar, fem.SolidMaterial(E, 0.0, 1.0), {"front": "x0", "back": "x1"}, modes=modes)
    body = fem.Superelement(reduced, position=[GAP, 0, 0], velocity=[-SPEED, 0, 0], name="bar")
    model = fem.Model("bar", gravity=[0, 0, 0])
    wall = fem.SurfaceContacts(body, "front", model.ground.frame(rotation=[0, np.pi / 2, 0]), name="wall")
    model.add(body, wall)
    share = reduced.effective_mass("front", [1, 0, 0])
    assert wall.mass_shares["front"] >= share - 1e-12 and f"front {wall.mass_shares['front']:.2g}" in repr(wall)
    energy = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=0.6, h=1e-3).energy.total
    assert energy[-1] / energy[0] == pytest.approx(1.0 - share, abs=5e-3)


def test_bad_input_is_reported():
    ground = fem.Model().ground
    fine, curved = block("hexa8", [1, 1, 1], [1, 1, 1]), block("hexa20", [1, 1, 1], [1, 1, 1])
    mesh = fem.block_mesh([1, 1, 1], [1, 1, 1], cell="hexahedron")
    whole = mesh.with_group("all", lambda x: x[:, 0] > -1.0)
    reduced = fem.Superelement(fem.reduce_mesh(mesh, fem.SolidMaterial(1.0, 0.3, 1.0), {"a": "x0", "b": "x1"}, modes=0))
    for message, call in {
        "wrong sign or none": lambda: fem.SurfaceContacts(curved, "x0", ground),
        r"plane = .*or a sphere, cylinder or box": lambda: fem.SurfaceContacts(fine, "x0"),
        r"plane = .*not two": lambda: fem.SurfaceContacts(fine, "x0", ground, sphere=ground, radius=1.0),
        r"radius = .*sphere.*cylinder.*box": lambda: fem.SurfaceContacts(fine, "x0", sphere=ground),
        r"radius = .*box": lambda: fem.SurfaceContacts(fine, "x0", cylinder=ground),
        "hollow.*cylinder": lambda: fem.SurfaceContacts(fine, "x0", ground, hollow=True),
        "radius.*sphere.*cylinder.*box": lambda: fem.SurfaceContacts(fine, "x0", ground, radius=1.0),
        r"group = .*mesh.*x0, x1, y0, y1, z0, z1$": lambda: fem.SurfaceContacts(fine, "left", ground),
        "HullOnPlane": lambda: fem.SurfaceContacts(fem.RigidBody(1.0, 1.0), "x0", ground),
        "size.*box": lambda: fem.SurfaceContacts(fine, "x0", box=ground, radius=0.1),
        r"group = .*no frame": lambda: fem.SurfaceContacts(reduced, ["a", "x0"], ground),
        r"group = .*name of a frame": lambda: fem.SurfaceContacts(reduced, [], ground),
        "light.*mass": lambda: fem.SolidBody(whole, fem.SolidMaterial(1.0, 0.3, 1.0), light="all"),
        "'left'.*mesh": lambda: block("hexa8", [1, 1, 1], [2, 2, 2], light="left"),
        "did you mean 'friction'": lambda: fem.SurfaceContacts(fine, "x0", ground, frction=0.1),
    }.items():
        with pytest.raises(fem.ParameterError, match=message):
            call()
    assert len(fem.SurfaceContacts(curved, "x0", ground, quadratic=True).elements) == 8
