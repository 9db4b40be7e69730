"""Impulses of all steps are in what is saved: in histories, in frames for ParaView and in tables of contact groups."""

import h5py
import numpy as np
import pytest
from in_turn import in_turn

import fem_mbs as fem
from fem_mbs.results.sums import merged, vectors
from fem_mbs.results.table import PAIR_COLUMNS, pair_column

G = 9.81
STEPPERS = {
    "DecoupledNSGA": fem.DecoupledNSGA,
    "split": lambda: fem.DecoupledNSGA(impacts="split"),
    "persistent": lambda: fem.DecoupledNSGA(persistent_contacts=True),
    "MoreauJean": fem.MoreauJean,
    "NonsmoothGeneralizedAlphaGGL": fem.NonsmoothGeneralizedAlphaGGL,
    "LobattoIIIAB": fem.LobattoIIIAB,
}


def bouncing():
    """A ball that bounces and slides on a table."""
    model = fem.Model("bouncing", gravity=[0, 0, -G])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.3], velocity=[1.0, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.3, restitution=0.7, name="table"))
    return model


def in_a_ring():
    """A ball that bounces around inside a ring without gravity: the normal of its contact turns."""
    model = fem.Model("ring")
    ball = model.add(fem.RigidBody.sphere(2.0, 0.1, position=[0.1, 0.2, 0], velocity=[2.0, 3.0, 0], name="ball"))
    model.add(fem.SphereInCylinder(ball, model.ground, radius=0.1, radius_cylinder=0.5, restitution=0.9, name="ring"))
    return model


def impulse_of(result):
    """Sum [N s] of the impulses of contacts over all saved states, inertial axes."""
    return vectors(result.rows(np.arange(len(result.t))))[0].sum(axis=(0, 1))


def change_of(result, weight=G):
    """Change of the linear momentum [N s] of a model of a weight [N], without that by gravity."""
    momentum = result.linear_momentum
    return momentum[-1] - momentum[0] + (result.t[-1] - result.t[0]) * np.array([0.0, 0.0, weight])


@pytest.mark.parametrize("every", [1, 7, 1000])
@pytest.mark.parametrize("method", STEPPERS)
def test_impulses_of_all_saved_states_are_the_change_of_momentum(method, every):
    result = STEPPERS[method]().run(bouncing(), 0.5, 1e-3, save_every=every)
    np.testing.assert_allclose(impulse_of(result), change_of(result), rtol=1e-9, atol=1e-9)
    assert result["table"].impact.any()


@pytest.mark.parametrize("every", [7, 60])
def test_impulses_are_added_as_vectors_where_the_normal_turns(every):
    result = fem.DecoupledNSGA().run(in_a_ring(), 1.0, 1e-3, save_every=every)
    assert fem.DecoupledNSGA().run(in_a_ring(), 1.0, 1e-3)["ring"].impact.sum() == 4
    np.testing.assert_allclose(impulse_of(result), change_of(result, weight=0.0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["DecoupledNSGA", "persistent"])
def test_forces_of_saved_states_are_those_of_their_steps(method):
    one, few = (STEPPERS[method]().run(bouncing(), 0.5, 1e-3, save_every=every) for every in (1, 6))
    at = np.searchsorted(one.step, few.step)
    np.testing.assert_array_equal(few["table"].force, one["table"].force[at])
    assert few["table"].impulse[:, 0].max() > 1.0 > 1e-3 * few["table"].force[:, 0].max()
    flags = np.add.reduceat(one["table"].impact[1:], np.arange(0, 500, 6)) > 0
    np.testing.assert_array_equal(few["table"].impact[1:] > 0, flags)


def test_output_times_have_the_impulses_between_them():
    result = fem.DecoupledNSGA().run(bouncing(), 0.5, 1e-3, output_times=[0.1, 0.33, 0.5])
    assert len(result.t) == 4
    np.testing.assert_allclose(impulse_of(result), change_of(result), rtol=1e-9)
    assert abs(result["table"].force).max() < 1.0


@pytest.mark.parametrize("every", [1, 7])
def test_observers_do_not_take_impulses_from_the_file(every, tmp_path):
    watch = fem.ForceObserver("table", speed_tolerance=1e-2, stiffness=1e7, model="flores")
    result = fem.DecoupledNSGA().run(
        bouncing(), 0.5, 1e-3, save_every=every, observers=[watch], save=tmp_path / "kept.vtkhdf"
    )
    alone = fem.DecoupledNSGA().run(bouncing(), 0.5, 1e-3, save_every=every)
    np.testing.assert_allclose(impulse_of(result), change_of(result), rtol=1e-9)
    for name in ("impulse", "force", "impact"):
        np.testing.assert_allclose(getattr(result["table"], name), getattr(alone["table"], name), atol=1e-12)
    assert result.problems.sum() == alone.problems.sum()


# --- frames -----------------------------------------------------------------------------------------------------------


def of_frames(path):
    """Sum [N s] of the impulses of all frames of a file, and the number of frames."""
    if path.suffix == ".pvd":
        meshio = pytest.importorskip("meshio")
        meshes = [meshio.read(file) for file in sorted(path.with_suffix("").glob("*.vtu"))]
        return sum(mesh.point_data["impulse"].sum(axis=0) for mesh in meshes), len(meshes)
    with h5py.File(path) as file:
        steps = file["VTKHDF/Steps"]
        return file["VTKHDF/PointData/impulse"][:].sum(axis=0, dtype=float), int(steps.attrs["NSteps"])


@pytest.mark.parametrize(("every", "suffix"), in_turn([1, 3], [".vtkhdf", ".h5", ".pvd"], once=True, start=1))
def test_frames_have_the_impulses_since_the_frame_before(suffix, every, tmp_path):
    path = tmp_path / f"run{suffix}"
    asked = {"save": path.with_suffix(".vtkhdf"), "pvd": True} if suffix == ".pvd" else {"save": path}
    result = fem.DecoupledNSGA().run(bouncing(), 1.0, 1e-3, save_every=every, **asked)
    found, frames = of_frames(path)
    assert 100 < frames < 250
    np.testing.assert_allclose(found, impulse_of(result), rtol=1e-5)
    np.testing.assert_allclose(found, change_of(result), rtol=1e-5)


def test_frames_and_histories_of_a_resumed_run_have_all_impulses(tmp_path):
    path = tmp_path / "run.vtkhdf"
    fem.DecoupledNSGA().run(bouncing(), 0.4, 1e-3, save_every=3, save=path, checkpoint_every="13 steps", frames=40)
    result = fem.resume(path, t_end=1.0)
    whole = fem.DecoupledNSGA().run(bouncing(), 1.0, 1e-3, save_every=3)
    np.testing.assert_array_equal(result["table"].impulse, whole["table"].impulse)
    np.testing.assert_allclose(of_frames(path)[0], change_of(result), rtol=1e-5)


def test_two_runs_one_after_the_other_have_the_impulses_of_both():
    system = bouncing().compile()
    first = fem.DecoupledNSGA().run(system, 0.25, 1e-3, save_every=7)
    second = fem.DecoupledNSGA().run(fem.continue_from(first, 0.25, bouncing()), 0.5, 1e-3, save_every=7)
    for result in (first, second):
        np.testing.assert_allclose(impulse_of(result), change_of(result), rtol=1e-9, atol=1e-9)


# --- contact groups ---------------------------------------------------------------------------------------------------


def rain(restitution):
    """Spheres that fall on a floor and on each other; few with restitution are solved by the pairwise solver."""
    model = fem.Model("rain", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.3, restitution=restitution, name="spheres")
    centers = [[0.0, 0.0, 0.15], [0.02, 0.0, 0.4], [0.5, 0.1, 0.2], [0.52, 0.08, 0.5]]
    model.add(group.spheres(centers, 0.1, density=1000.0))
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


def on_spheres(result):
    """Sum [N s] of what obstacles gave to the spheres of a group, over all saved states."""
    tables = [result.pairs(k) for k in range(len(result.t))]
    return sum(table.impulse[table.type > 0].sum(axis=0) for table in tables)


@pytest.mark.parametrize("every", [1, 9])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_tables_of_pairs_have_the_impulses_of_all_steps(restitution, every):
    result = fem.DecoupledNSGA(contact_tolerance=1e-10).run(rain(restitution), 0.4, 1e-3, save_every=every)
    assert ("solved_pair_by_pair" in result.statistics) == (restitution > 0.0)
    expected = change_of(result, weight=4 * 1000.0 * 4 / 3 * np.pi * 0.1**3 * G)
    np.testing.assert_allclose(on_spheres(result), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("every", [1, 9])
def test_impulses_of_a_box_that_tumbles_are_those_of_all_its_corners(every):
    model = fem.Model("tumbling", gravity=[0, 0, -G])
    box = fem.RigidBody.box(2.0, [0.2, 0.3, 0.1], position=[0, 0, 0.25], angular_velocity=[3.0, 1.0, 0], name="box")
    group = fem.ContactGroup(friction=0.6, name="group")
    group.box(model.add(box), [0.2, 0.3, 0.1], 5e-3)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = fem.DecoupledNSGA(contact_tolerance=1e-10).run(model, 0.3, 1e-3, save_every=every)
    np.testing.assert_allclose(on_spheres(result), change_of(result, weight=2.0 * G), rtol=1e-7, atol=1e-7)


def test_forces_of_pairs_are_those_of_the_step():
    one, few = (fem.DecoupledNSGA().run(rain(0.0), 0.4, 1e-3, save_every=every) for every in (1, 9))
    mine, theirs = (r.pairs(-1) for r in (one, few))
    closed = theirs.status > 0
    np.testing.assert_array_equal(theirs.force[closed], mine.impulse / 1e-3)
    assert (theirs.force[~closed] == 0.0).all()


def test_a_table_of_pairs_takes_the_impulses_of_contacts_that_have_opened():
    rng = np.random.default_rng(1)
    now, before = np.zeros((2, PAIR_COLUMNS)), np.zeros((3, PAIR_COLUMNS))
    now[:, 1], before[:, 1] = [4, 5], [5, 6, 6]
    for table in (now, before):
        table[:, pair_column("impulse")] = rng.normal(size=(len(table), 3))
        table[:, pair_column("status")] = 1
    found = merged(now, [before[:1], before[1:]])
    assert found[:, 1].tolist() == [4, 5, 6] and found[:, pair_column("status")].tolist() == [1, 1, 0]
    np.testing.assert_allclose(
        found[1, pair_column("impulse")], now[1, pair_column("impulse")] + before[0, pair_column("impulse")]
    )
    np.testing.assert_allclose(found[2, pair_column("impulse")], before[1:, pair_column("impulse")].sum(axis=0))
