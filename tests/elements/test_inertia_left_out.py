"""Own weight and inertia that the modes of a superelement miss: compliance, and warnings of runs, statics, stresses."""

import h5py
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem_mbs as fem

L, SIDE, RHO, E, W = 0.4, 0.02, 1000.0, 2e9, 60.0  # the bar vibrates with 180 rad/s


def bar(modes, **options):
    """A bar along x with frames at its ends, without lateral contraction."""
    mesh = fem.block_mesh([L, SIDE, SIDE], [8, 1, 1], cell="hexahedron20")
    material = fem.SolidMaterial(E, 0.0, RHO)
    return fem.reduce_mesh(mesh, material, {"root": "x0", "tip": "x1"}, modes=modes, name="bar", **options)


def between_walls(modes):
    """The bar, held at both ends, under its own weight."""
    model = fem.Model("walls", gravity=[0, 0, -9.81])
    body = model.add(fem.Superelement(bar(modes), damping=0.1, name="bar"))
    for name in ("root", "tip"):
        frame = body.frame(name)
        model.add(fem.Fixed.at(model.ground, frame, frame.position))
    return model, body


def spinning(reduction, w=W):
    """The bar, which turns about z through its root."""
    model = fem.Model("spin")
    middle = [0, -0.5 * SIDE, -0.5 * SIDE]
    body = model.add(fem.Superelement(reduction, position=middle, damping=0.1, name="bar", angular_velocity=[0, 0, w]))
    root = body.frame("root")
    model.add(fem.RevoluteDriver.at(model.ground, root, root.position, [0, 0, 1], angle=fem.Signal(lambda t: w * t)))
    model.add(fem.Revolute.at(model.ground, root, root.position, [0, 0, 1]))
    return model.compile(project=True), body


def about_inertia(texts):
    return [text for text in texts if "leave out" in text]


# --- the reduction ----------------------------------------------------------------------------------------------------


def test_the_compliance_under_centrifugal_forces_is_that_of_a_bar_between_walls():
    """u = ρ (L²/4 s − s³)/(6 E), s from the middle: work ρ² A L⁵/(720 E) of the field X on its response."""
    reduction = bar(0)
    field = np.zeros(12)
    field[3], field[0] = 1.0, -0.5 * L
    exact = RHO**2 * SIDE**2 * L**5 / (720 * E)
    assert field @ reduction.inertia_compliance @ field == pytest.approx(exact, rel=1e-3)
    assert field @ reduction.inertia_left_out @ field == pytest.approx(exact, rel=1e-3)
    assert bar(40).inertia_left_out.max() < 0.01 * reduction.inertia_left_out.max()


def test_a_residual_vector_of_the_rotation_leaves_nothing_out():
    reduction = bar(2, residual_vectors=[fem.LoadPattern(axis=[0, 0, 1], point=[0, 0.5 * SIDE, 0.5 * SIDE])])
    field = np.zeros(12)
    field[[3, 7]], field[1] = 1.0, -0.5 * SIDE
    whole = field @ reduction.inertia_compliance @ field
    assert abs(field @ reduction.inertia_left_out @ field) < 1e-9 * whole


def test_a_reduction_and_its_file_keep_the_compliance_and_older_files_that_of_gravity(tmp_path):
    reduction, path = bar(2), tmp_path / "bar.h5"
    reduction.save(path)
    np.testing.assert_array_equal(fem.load_reduction(path).inertia_left_out, reduction.inertia_left_out)
    with h5py.File(path, "r+") as file:
        file.attrs["fem_mbs reduction"] = 4
        file["weight_compliance"] = file["inertia_compliance"][:3, :3]
        del file["inertia_compliance"], file["inertia_loads"]
    older = fem.load_reduction(path).inertia_left_out
    np.testing.assert_allclose(older[:3, :3], reduction.inertia_left_out[:3, :3], rtol=1e-12, atol=1e-20)
    assert not older[3:].any() and not older[:, 3:].any()


def test_fewer_modes_leave_out_what_a_reduction_to_them_leaves_out():
    np.testing.assert_allclose(
        bar(6).with_modes(2).inertia_left_out,
        bar(2).inertia_left_out,
        rtol=1e-6,
        atol=1e-9 * bar(2).inertia_left_out.max(),
    )


# --- the motion -------------------------------------------------------------------------------------------------------


def test_apparent_gravity_is_gravity_less_the_accelerations_of_a_rigid_motion():
    rng = np.random.default_rng(2)
    turned = Rotation.from_rotvec([0.2, 0.4, 0.6]).as_matrix()
    body = fem.Superelement(bar(1), rotation=turned, position=[1, 2, 3], name="bar")
    x = np.array([node.position for node in body.nodes])
    R = np.array([node.rotation if hasattr(node, "rotation") else np.eye(3) for node in body.nodes])
    g, a_0, w, alpha = rng.normal(size=(4, 3))
    v, a = np.zeros((2, len(x), 6))
    for k in range(2):
        arm = x[k] - x[0]
        v[k] = [*np.cross(w, arm), *(R[k].T @ w)]
        a[k] = [*(a_0 + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))), *(R[k].T @ alpha)]
    field = body.apparent_gravity(x, R, v, a, g)
    origin, R_0, _ = body.pose(x, R)
    for X in rng.normal(size=(3, 3)):
        arm = origin + R_0 @ X - x[0]
        expected = g - a_0 - np.cross(alpha, arm) - np.cross(w, np.cross(w, arm))
        np.testing.assert_allclose(field[:3] + field[3:].reshape(3, 3) @ X, R_0.T @ expected, atol=1e-12)


# --- warnings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("modes", "reported"), [(0, True), (8, False)])
def test_a_run_reports_own_weight_that_the_modes_miss(modes, reported):
    model, body = between_walls(modes)
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, 0.1, 1e-3)
    texts = about_inertia(result.warnings)
    assert bool(texts) == reported
    assert not reported or ("100% of its deformation" in texts[0] and "its own weight" in texts[0])
    sag = (body.positions(result.state(-1)) - body.reduction.points)[:, 2].min()
    exact = RHO * SIDE**2 * 9.81 * L**4 / (384 * E * SIDE**4 / 12)
    assert sag == 0.0 if reported else sag == pytest.approx(-exact, rel=0.3)  # it still swings


def test_stresses_of_a_spinning_part_that_are_too_low_are_reported():
    system, body = spinning(bar(8))
    result = fem.DecoupledNSGA(rho_inf=0.0).run(system, 0.02, 2e-4)
    (text,) = about_inertia(result.warnings)
    assert "centrifugal forces" in text and "LoadPattern(axis=…, point=…)" in text and "too low" in text
    with pytest.warns(UserWarning, match=r"stresses of .*bar.* leave out 1[567]% .*centrifugal"):
        found = body.stresses(result)
    x = body.reduction.points[:, 0]
    middle = found.von_mises[abs(x - 0.75 * L) < 1e-6].mean()
    exact = 0.5 * RHO * W**2 * L**2 * (1 - 0.75**2)
    assert not 0.9 < middle / exact < 1.1  # constant along the bar


def test_stresses_of_a_spinning_part_with_a_residual_vector_are_right_and_not_reported(recwarn):
    axis = fem.LoadPattern(axis=[0, 0, 1], point=[0, 0.5 * SIDE, 0.5 * SIDE])
    system, body = spinning(bar(8, residual_vectors=[axis]))
    result = fem.DecoupledNSGA(rho_inf=0.0).run(system, 0.02, 2e-4)
    found, x = body.stresses(result), body.reduction.points[:, 0]
    for at in (0.25, 0.5, 0.75):
        middle = found.von_mises[abs(x - at * L) < 1e-6].mean()
        assert middle == pytest.approx(0.5 * RHO * W**2 * L**2 * (1 - at**2), rel=0.03)
    assert not about_inertia(result.warnings) and not about_inertia(str(w.message) for w in recwarn)


def test_an_equilibrium_of_a_spinning_part_is_reported_too():
    system, _ = spinning(bar(8), w=0.0)
    with pytest.warns(UserWarning, match=r"'bar'.*leave out 1[567]% .*centrifugal"):
        found = fem.static_equilibrium(system, rotation=[0, 0, W])
    assert about_inertia(found.results.warnings)


def test_a_part_in_free_fall_is_not_deformed_and_not_reported():
    model = fem.Model("fall", gravity=[0, 0, -9.81])
    model.add(fem.Superelement(bar(0), name="bar"))
    result = fem.DecoupledNSGA().run(model, 0.05, 1e-3)
    assert not about_inertia(result.warnings)
