"""Static loads between the frames of superelements: full meshes, and the warning about poor representation."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from every_stepper import OF_SURFACES
from resumed import stopped_and_resumed

import fem_mbs as fem
from fem_mbs.elements.superelements.residual_vectors import resultants
from fem_mbs.solvers.stepping.monitors.load_watch import LoadWatch

E = 1e7
TELLS = r"modes leave out (\d+)% of its deformation .* between its frames, on 'z0': .* residual_vectors=\['z0'\]"


def reduced(mesh, frames, modes, nu=0.0, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*cuts modes of the same frequency")
        return fem.reduce_mesh(mesh, fem.SolidMaterial(E, nu, 1000.0), frames, modes=modes, **options)


def column_mesh(sides=(0.1, 0.1, 0.2), divisions=(2, 2, 4)):
    return fem.block_mesh(sides, divisions, cell="hexahedron")


def pressed(mesh, nu, modes, friction, force, **options):
    """Displacement of the top of a block that is pressed on the floor by a force on it, and warnings."""
    block = fem.Superelement(reduced(mesh, {"top": "z1"}, modes, nu, **options), name="block")
    sole, model = fem.SuperelementSurface(block, "z0", name="sole"), fem.Model()
    top = block.frame("top").node
    floor = fem.SurfaceContacts(sole, None, model.ground, friction=friction, restitution=0.1)
    model.add(block, sole, floor, fem.PointForce(top, [0, 0, -force]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rest = fem.static_equilibrium(model, stability=False)
    remarks = [text for text in rest.results.warnings if not text.startswith("reduce_mesh: ")]  # issued before
    assert remarks == [str(one.message) for one in told]
    return top.position[2] - rest.position(top)[2], remarks


def pressed_mesh(mesh, nu, friction, force):
    """The same of the full mesh."""
    body, model = fem.SolidBody(mesh, fem.SolidMaterial(E, nu, 1000.0), name="block"), fem.Model()
    height = mesh.points[:, 2].max()
    top = fem.Node6([*mesh.points[:, :2].mean(axis=0), height])
    floor = fem.SurfaceContacts(body, "z0", model.ground, friction=friction, restitution=0.1)
    model.add(body, top, fem.SurfaceCoupling(body, "z1", top, kind="rigid"), floor)
    model.add(fem.PointForce(top, [0, 0, -force]))
    return height - fem.static_equilibrium(model, stability=False).position(top)[2]


@pytest.mark.parametrize(
    ("nu", "divisions", "friction", "most"),
    [
        (0.0, (2, 2, 4), 0.5, 1e-3),
        (0.3, (2, 2, 4), 1e-3, 3e-3),  # sole that widens: a uniform pressure, but for the top, which is rigid
        (0.3, (4, 4, 8), 1e-3, 3e-3),
        (0.3, (2, 2, 4), 0.5, 0.04),  # sole that friction keeps from widening: more points than coordinates
    ],
)
def test_a_block_pressed_on_its_sole_is_as_soft_as_its_mesh(nu, divisions, friction, most):
    """Five modes, without residual vectors 18 % too stiff or more. The warning reports it for a uniform pressure."""
    mesh, force = column_mesh(divisions=divisions), 10.0
    exact = pressed_mesh(mesh, nu, friction, force)
    plain, told = pressed(mesh, nu, 5, friction, force)
    short = 1.0 - plain / exact
    assert 0.17 < short < 0.25
    (remark,) = told
    assert share_of(remark) == pytest.approx(short, rel=0.2)
    way, told = pressed(mesh, nu, 5, friction, force, residual_vectors="z0")
    assert not told
    assert abs(1.0 - way / exact) < most


def share_of(remark):
    """The share that a warning states."""
    found = re.search(TELLS, remark)
    assert found, remark
    return float(found[1]) / 100.0


def test_strain_energy_under_a_pressure_is_that_of_the_mesh():
    """Half the work of a traction, by a static solution of the mesh; of curved faces of tetrahedra, held at its top."""
    mesh = fem.block_mesh([0.2, 0.15, 0.1], [4, 3, 2], cell="tetra10", form=lambda x: x + 0.01 * np.sin(9 * x[:, ::-1]))
    traction = np.array([30.0, 0.0, 100.0])
    body = fem.SolidBody(mesh, fem.SolidMaterial(E, 0.3, 1000.0), name="block")
    body.fix("z1")
    model = fem.Model("mesh", gravity=[0, 0, 0])
    model.add(body, fem.SurfaceTraction(body, "z0", traction))
    area = loads_of(body, "z0")
    works = [work(fem.static_equilibrium(model, stability=False), body.nodes, area, traction)]
    for given in ({}, {"residual_vectors": ["z0"]}):
        part = fem.Superelement(reduced(mesh, {"top": "z1"}, 5, 0.3, **given), name="block")
        surface, model = fem.SuperelementSurface(part, "z0"), fem.Model("reduced", gravity=[0, 0, 0])
        model.add(part, surface, fem.Fixed(model.ground.frame(part.frame("top").position), part.frame("top")))
        model.add([fem.PointForce(node, area[key_of(node)] * traction) for node in surface.nodes])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if not given else "error", UserWarning)
            works.append(work(fem.static_equilibrium(model, stability=False), surface.nodes, area, traction))
    assert works[1] < 0.9 * works[0]
    assert works[2] == pytest.approx(works[0], rel=1e-3)  # strains of 1e-4, and what is of second order


def key_of(node):
    return tuple(np.round(node.position, 9))


def work(rest, nodes, area, traction):
    """Strain energy [J]: half the work of a traction on nodes with these areas [m²]."""
    return 0.5 * sum(area.get(key_of(node), 0.0) * (rest.position(node) - node.position) @ traction for node in nodes)


def loads_of(body, group):
    """Place of a node -> its part of the area [m²] of a group."""
    load, found = fem.SurfaceTraction(body, group, [0, 0, 1.0]), {}
    for face in load.elements:
        for node, f in zip(face.nodes, face.record[0]):
            found[key_of(node)] = found.get(key_of(node), 0.0) + f[2]
    return found


def clamped_beam(force_at, modes, **options):
    """A beam between two frames that are held, a force in its middle: its displacement, warnings, and the reduction."""
    mesh = fem.block_mesh([1.0, 0.04, 0.04], [24, 2, 2], cell="hexahedron20")
    mesh = mesh.with_group("pad", lambda x: (np.abs(x[:, 0] - 0.5) < 0.043) & (x[:, 2] > 0.039))
    part = fem.Superelement(reduced(mesh, {"left": "x0", "right": "x1"}, modes, **options), name="beam")
    surface, model = fem.SuperelementSurface(part, "pad"), fem.Model("beam", gravity=[0, 0, 0])
    for end in ("left", "right"):
        model.add(fem.Fixed(model.ground.frame(part.frame(end).position), part.frame(end)))
    shares = part.reduction.tractions  # of the modes only: the nodes have their own
    assert len(shares)
    body = fem.SolidBody(mesh, fem.SolidMaterial(E, 0.0, 1000.0))
    area = loads_of(body, "pad")
    whole = sum(area.values())
    model.add(part, surface)
    model.add([fem.PointForce(node, area[key_of(node)] / whole * np.array(force_at)) for node in surface.nodes])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rest = fem.static_equilibrium(model, stability=False)
    ways = [area[key_of(node)] / whole * (rest.position(node) - node.position) for node in surface.nodes]
    return np.sum(ways, axis=0), [str(one.message) for one in told], mesh


@pytest.mark.parametrize(("axis", "modes", "remarks"), [(2, 2, 0), (2, 0, 1), (0, 2, 1)])
def test_a_beam_that_is_loaded_midway_between_its_frames(axis, modes, remarks):
    """Clamped, a force across, of which one bending mode represents 96 % (reported from 5 % on), or along: none.

    With residual vectors it moves as the mesh does, and as a beam with shear between its ends: L³/192 EI + L/4 GA_s.
    """
    force = np.eye(3)[axis] * [1e-1, 1e-1, 1e-2][axis]
    plain, told, mesh = clamped_beam(force, modes)
    way, none, _ = clamped_beam(force, modes, residual_vectors=["pad"])
    body, model = fem.SolidBody(mesh, fem.SolidMaterial(E, 0.0, 1000.0)), fem.Model("mesh", gravity=[0, 0, 0])
    body.fix("x0")
    body.fix("x1")
    area = loads_of(body, "pad")
    whole = sum(area.values())
    model.add(body, fem.SurfaceTraction(body, "pad", force / whole))
    exact = 2.0 * work(fem.static_equilibrium(model, stability=False), body.nodes, area, force / whole)
    assert len(told) == remarks and not none
    assert way @ force == pytest.approx(exact, rel=1e-5)
    assert 1.0 - plain @ force / exact > (0.02 if not remarks else 0.05)
    if axis == 2:
        A, EI = 0.04**2, E * 0.04**4 / 12
        closed = 1.0 / (192 * EI) + 1.0 / (4 * 5 / 6 * 0.5 * E * A)
        assert way[2] / force[2] == pytest.approx(closed, rel=0.02)  # a pad of 8 % of its length


STRAIGHT, TURN = np.eye(3), fem.rotations.exp(np.array([0.3, -1.2, 0.8]))


def on_floor(turn=STRAIGHT, drop=0.0, speed=0.0, gravity=9.81, modes=5, **options):
    """Model of a column of rubber above a floor, all of it turned, and the column."""
    mesh = column_mesh((0.1, 0.1, 0.2), (2, 2, 4)).moved(lambda x: x - [0.05, 0.05, 0.0])
    part = fem.reduce_mesh(mesh, fem.SolidMaterial(2e5, 0.0, 1000.0), {"top": "z1"}, modes=modes, **options)
    place, fall = turn @ [0, 0, drop], turn @ [0, 0, -speed]
    column = fem.Superelement(part, damping=0.2, position=place, rotation=turn, velocity=fall, name="column")
    sole, model = fem.SuperelementSurface(column, "z0", name="sole"), fem.Model("floor", gravity=-gravity * turn[:, 2])
    floor = fem.SurfaceContacts(sole, None, model.ground.frame(rotation=turn), friction=0.5, name="floor")
    model.add(column, sole, floor)
    return model, column, floor


def shortening(result, column):
    """How much nearer the top is to the floor than the height of the column, in the mean of the last steps [m]."""
    heights = [result.state(k).x[column.frame("top").node.index, 2] for k in range(-20, 0)]
    return 0.2 - float(np.mean(heights))


@pytest.mark.filterwarnings("ignore:.*cuts modes of the same")
@pytest.mark.filterwarnings("ignore:.*takes .* of the energy")
@pytest.mark.parametrize(
    "stepper",
    [OF_SURFACES[0], *(pytest.param(one, marks=pytest.mark.slow) for one in OF_SURFACES[1:])],
    ids=lambda stepper: type(stepper).__name__,
)
def test_a_column_rests_on_a_floor_as_softly_as_its_mesh(stepper):
    """ρ g H²/2 E of its own weight. Without residual vectors one mode of a rod of four elements shortens it.

    With the top as frame it does φ_n (F φ_n − w·φ)/φᵀKφ, and the warning states the missing strain energy, as
    if all of that were of the floor.
    """
    phi, weight = np.sin(np.pi / 8 * np.arange(5)), np.array([0.5, 1, 1, 1, 0.5]) / 4
    stiff = 4 * np.sum(np.diff(phi) ** 2)
    amplitude = (phi[-1] - weight @ phi) / stiff
    left, known = 0.5 * (1.0 - phi[-1] ** 2 / stiff), 0.5 * stiff * amplitude**2
    found, told = [], []
    for given in ({}, {"residual_vectors": ["z0"]}):
        model, column, _ = on_floor(**given)
        result = stepper.run(model, t_end=1.0, h=2e-3)
        found.append(shortening(result, column) / (1000.0 * 9.81 * 0.2**2 / (2 * 2e5)))
        told += [text for text in result.warnings if "between its frames" in text]
        assert len(told) == 1
    assert found[0] == pytest.approx(2.0 * phi[-1] * amplitude, rel=2e-3)
    assert share_of(told[0]) == pytest.approx(left / (left + known), abs=0.02)
    assert found[1] == pytest.approx(1.0, rel=2e-3)


@pytest.mark.filterwarnings("ignore:.*cuts modes of the same")
@pytest.mark.filterwarnings("ignore:.*takes .* of the energy")
def test_an_impact_and_a_flight_cause_no_warning_and_a_turned_run_is_the_same():
    """One impact, and many: those are for the warning of energy. A run that rests turned in space is the same run."""
    for modes in (5, 8):
        model, _, floor = on_floor(drop=1e-3, speed=1.0, gravity=0.0, modes=modes)
        result = fem.DecoupledNSGA().run(model, t_end=0.6, h=5e-4)
        assert result.resultant(floor)[:, 2].max() > 50.0
        assert not [text for text in result.warnings if "between its frames" in text]
    found = []
    for turn in (STRAIGHT, TURN):
        model, *_ = on_floor(turn, residual_vectors="z0", drop=2e-3, modes=8)
        result = fem.DecoupledNSGA().run(model, t_end=0.25, h=1e-3)
        states = [result.state(k) for k in (-100, -1)]
        found.append([[turn.T @ state.x[i] for i in range(2)] for state in states])
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)


@pytest.mark.parametrize(("rho", "h"), [(1.0, 1e-3), (0.9, 1e-3)])
def test_energy_and_momenta_of_a_free_part_with_residual_vectors(rho, h):
    """It spins and vibrates; energy as with as many modes."""
    mesh, losses = column_mesh((0.3, 0.1, 0.1), (6, 2, 2)), []
    for given in ({"residual_vectors": ["z0", "y1"]}, {}):
        part = reduced(mesh, {"left": "x0", "right": "x1"}, 5 if given else 11, 0.3, **given)
        body = fem.Superelement(part, angular_velocity=[10.0, 3.0, -20.0], velocity=[1.0, 2.0, 0.0], name="body")
        model = fem.Model("free", gravity=[0, 0, 0])
        model.add(body)
        result = fem.GeneralizedAlpha(rho_inf=rho).run(model, t_end=0.5, h=h)
        total = result.energy.total
        losses.append(np.abs(total / total[0] - 1.0).max())
    assert losses[0] < 1e-3 and losses[0] < 3.0 * losses[1] + 1e-6


def test_a_load_path_reports_it_and_a_load_whose_energy_is_elsewhere_causes_no_warning():
    """The same pad of an arm, whose tip is held or free: then it bends from the root, which its frames know."""
    found = []
    for held in (True, False):
        mesh = fem.block_mesh([0.5, 0.1, 0.1], [10, 2, 2], cell="hexahedron")
        mesh = mesh.with_group("pad", lambda x: (x[:, 0] > 0.39) & (x[:, 2] < 0.01))
        part = fem.Superelement(reduced(mesh, {"root": "x0", "tip": "x1"}, 0), name="arm")
        model = fem.Model("arm", gravity=[0, 0, 0])
        pad = fem.SuperelementSurface(part, "pad")
        model.add(part, pad, fem.Fixed(model.ground.frame(part.frame("root").position), part.frame("root")))
        model.add([fem.PointForce(node, [0, 0, 1.0 / len(pad.nodes)]) for node in pad.nodes])
        if held:
            model.add(fem.Fixed(model.ground.frame(part.frame("tip").position), part.frame("tip")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = fem.load_path(model, factor=1.0, step=1.0)
            rest = fem.static_equilibrium(model, stability=False)
        told = [
            [text for text in one if "between its frames" in text] for one in (path.warnings, rest.results.warnings)
        ]
        assert told[0] == told[1] == path.results.warnings
        found.append(told[0])
    assert len(found[0]) == 1 and "on 'pad'" in found[0][0]
    assert not found[1]


def test_a_strict_run_stops_and_a_run_in_substeps_is_reported_the_same(tmp_path, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, *_ = on_floor()
        with pytest.raises(fem.SolverError, match="between its frames"):
            fem.DecoupledNSGA().run(model, t_end=0.5, h=2e-3, strict=True)
        whole = fem.DecoupledNSGA().run(model, t_end=0.5, h=2e-3)
        parts = stopped_and_resumed(
            monkeypatch,
            fem.DecoupledNSGA(),
            on_floor()[0],
            0.5,
            2e-3,
            tmp_path / "parts.vtkhdf",
            every=30,
            kills=(1, 3),
        )
    told = [[text for text in one.warnings if "between its frames" in text] for one in (whole, parts)]
    assert len(told[0]) == 1 and told[1] == told[0]


def test_points_between_two_groups_give_their_forces_to_one():
    """A force on an edge goes to the group that has more of the others, each once."""
    mesh = column_mesh()
    r = reduced(mesh, {"top": "z1"}, 4)
    sole, side = (r.points[r.loaded[name]] for name in ("z0", "x0"))
    assert len(sole) == 9 and len(side) == 15
    points, forces = np.arange(len(r.points)), np.zeros((len(r.points), 3))
    forces[r.loaded["z0"]] = [1.0, 0.0, 2.0]
    forces[np.setdiff1d(r.loaded["x0"], r.loaded["z0"])[:2], 1] = 0.5
    t = resultants(r.loaded, points, forces).reshape(-1, 3)
    names = list(r.loaded)
    np.testing.assert_allclose(t[names.index("z0")], [9.0, 0.0, 18.0])
    np.testing.assert_allclose(t.sum(axis=0), [9.0, 1.0, 18.0])
    assert not t[[names.index(name) for name in ("x1", "y1")]].any()


def test_of_groups_with_equal_forces_the_smallest_takes_them():
    loaded = {"wide": np.arange(6), "narrow": np.arange(3), "middle": np.arange(4)}
    forces = np.zeros((6, 3))
    forces[:3, 2] = 1.0
    t = resultants(loaded, np.arange(6), forces).reshape(-1, 3)
    np.testing.assert_array_equal(t[:, 2], [0.0, 3.0, 0.0])


@pytest.mark.filterwarnings("ignore")
def test_of_several_windows_the_largest_warning_is_reported(monkeypatch):
    shares = iter([0.2, 0.6, *100 * [0.1]])

    def remark(*_):
        share = next(shares)
        return [("loads", share, f"share {share}")]

    monkeypatch.setattr(fem.Superelement, "load_warnings", remark)
    t = np.arange(0.0, 3.0, 0.01)
    (text,) = watched(t, np.ones(len(t)), 2)[0].warnings()
    assert "share 0.6" in text and next(shares) == 0.1


@pytest.mark.filterwarnings("ignore")
def test_a_turned_model_is_reported_the_same():
    """Forces are those in axes of the body: of a run at rest, and of an equilibrium on a slope that friction holds."""
    found = []
    for turn in (STRAIGHT, TURN):
        model, *_ = on_floor(turn)
        told = fem.DecoupledNSGA().run(model, t_end=0.6, h=2e-3).warnings
        told += fem.static_equilibrium(pulled(turn), stability=False).results.warnings
        found.append([text for text in told if "between its frames" in text])
    assert len(found[0]) == 2 and found[1] == found[0]


def pulled(turn):
    """A held block, with a force across its sole and along it."""
    part = fem.Superelement(reduced(column_mesh(), {"top": "z1"}, 5, 0.3), rotation=turn, name="block")
    sole, model = fem.SuperelementSurface(part, "z0"), fem.Model("pulled", gravity=[0, 0, 0])
    top = part.frame("top")
    model.add(part, sole, fem.Fixed(model.ground.frame(top.position, rotation=turn), top))
    model.add([fem.PointForce(node, turn @ [0.0, 0.1, 2.0]) for node in sole.nodes])
    return model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("axis", "lasts", "told"), [(2, 0.08, 0), (2, 0.25, 1), (0, 0.25, 0), (0, 0.34, 0), (0, 1.5, 1)]
)
def test_a_load_lasts_where_it_acts_for_longer_than_the_part_takes_to_answer(axis, lasts, told):
    """Half of 2·2π√(m f): 0.09 s along the column, f = L/EA, and 0.36 s across it, L³/3EI and shear."""
    t = np.arange(0.0, 3.0, 0.01)
    watch, column = watched(t, np.where(t < lasts, 1.0, 0.0), axis)
    assert len(watch.warnings()) == told
    assert column.settling_time(np.array([0])) > 0.1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dense", "told"), [(1.0, 0), (0.0, 1)])
def test_states_count_for_the_time_that_they_stand_for(dense, told):
    """Steps of 0.1 ms in a tenth of each 0.2 s, of 10 ms in the rest: an impact in the tenth, or a load only there."""
    one = np.concatenate([np.arange(1, 201) * 1e-4, 0.02 + np.arange(1, 19) * 1e-2])
    t = np.concatenate([[0.0], *(0.2 * k + one for k in range(5))])
    size = np.concatenate([[1.0 - dense], *5 * [np.where(np.arange(len(one)) < 200, dense, 1.0 - dense)]])
    assert len(watched(t, size, 2)[0].warnings()) == told


def watched(t, sizes, axis):
    """A watch that has seen forces of these sizes on all points of the sole of a column, along an axis; the column."""
    model, column, _ = on_floor(modes=0)
    system = model.compile()
    watch = LoadWatch(SimpleNamespace(system=system, every=1))
    outputs = np.zeros((len(t), system.n_outputs))
    for element, slices in system.output_slices.items():
        if element.point_of is not None:
            outputs[:, slices["force"].start + axis] = -sizes
    x, Q = np.tile(system.initial.x, (len(t), 1, 1)), np.tile(system.initial.Q, (len(t), 1, 1))
    for part in (slice(0, 7), slice(7, 150), slice(150, len(t))):
        given = {"step": np.arange(len(t)), "t": t, "output": outputs, "position": x, "quaternion": Q}
        watch.observe({key: one[part] for key, one in given.items()})
    return watch, column


@pytest.mark.parametrize("turn", [np.zeros(3), np.array([0.4, -1.1, 0.3])])
@pytest.mark.parametrize("coupling", ["rigid", "averaged"])
def test_equilibria_report_what_modes_leave_out_of_own_weight(turn, coupling):
    """A column that hangs from its frame has ρ²g²AH³/6E of strain energy, of which modes that bend have nothing."""
    g, R = 9.81, fem.rotations.exp(turn)

    def hung(**options):
        part = reduced(column_mesh((0.1, 0.1, 1.0), (1, 1, 8)), {"top": "z1"}, coupling=coupling, **options)
        column = fem.Superelement(part, rotation=R, name="column")
        model = fem.Model(gravity=R @ [0, 0, -g])
        model.add(column, fem.Fixed.at(model.ground, column.frame("top"), column.frame("top").position))
        return part, model

    part, model = hung(modes=2)
    energy = (1000.0 * g) ** 2 * 0.1**2 * 1.0**3 / 6 / E
    assert 0.5 * g**2 * part.inertia_left_out[2, 2] == pytest.approx(energy, rel=0.01)
    with pytest.warns(UserWarning, match=r"'column'.*2 modes.*100%"):
        fem.static_equilibrium(model)
    for more in ({"modes": 2, "residual_vectors": [fem.LoadPattern(gravity=[0, 0, -1])]}, {"modes": 20}):
        part, model = hung(**more)
        assert part.inertia_left_out[2, 2] < 0.05 * part.inertia_compliance[2, 2]
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".*own weight")
            fem.static_equilibrium(model)
    one, two = part, part.with_modes([0, 1])
    assert np.array_equal(one.inertia_compliance, two.inertia_compliance)
    assert two.inertia_left_out[2, 2] > 0.9 * two.inertia_compliance[2, 2]
