"""Warnings of construction and compile time: one channel, which reaches results, reports, files and ``strict``."""

import pickle
import re
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.arguments.checked import Checked
from fem_mbs.errors import SolverError, Warnings

SOURCES = Path(fem.__file__).parent
DIRECT = {  # files that call warnings.warn themselves
    "fem_mbs/errors.py": "the channel",
    "fem_mbs/compiled/code_folder.py": "about the folder of compiled code: no object is under construction",
    "fem_mbs/deprecated.py": "DeprecationWarnings, at the line of the user, no matter of a model",
}
RUN = {"t_end": 0.02, "h": 1e-3, "progress": False}


def box_between_nodes(cells):
    """A box that lies above the middle of a cell of a solid, whose nodes alone touch it."""
    mesh = fem.block_mesh([1, 1, 0.2], [cells, cells, 1], cell="hexahedron")
    model = fem.Model("box between nodes", gravity=[0, 0, -9.81])
    solid = model.add(fem.SolidBody(mesh, fem.SolidMaterial(1e7, 0.3, 1000.0), damping=1e-3, name="solid"))
    box = fem.RigidBody.box(
        5.0, [0.3, 0.3, 0.1], position=[0.25, 0.25, 0.251], fixed=("x", "y", "rx", "ry", "rz"), name="box"
    )
    model.add(box)
    model.add(fem.SurfaceContacts(solid, "z1", box=box.frame(), size=[0.3, 0.3, 0.1], radius=0.005, name="top"))
    return model


def much_friction():
    """A ball on a table, with a coefficient of friction in per cent."""
    model = fem.Model("friction", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=30.0, name="table"))
    return model


def test_a_box_that_falls_between_the_nodes_of_a_solid_is_reported_by_the_run(tmp_path):
    with pytest.warns(UserWarning, match=r"top.*passes between") as shown:
        model = box_between_nodes(2)
    assert [Path(w.filename).name for w in shown] == [Path(__file__).name]
    path = tmp_path / "box.vtkhdf"
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, save=path, **RUN)
    (text,) = [text for text in result.warnings if "passes between" in text]
    assert text in model.warnings and text in fem.load(path).warnings
    assert text[:60] in str(result.report())
    with pytest.raises(SolverError, match=r"'top'.*passes between") as error:
        fem.DecoupledNSGA(rho_inf=0.5).run(model, strict=True, **RUN)
    assert len(error.value.result.t) == 21


def test_a_fine_solid_gives_no_warning():
    model = box_between_nodes(8)
    assert model.warnings == []


@pytest.mark.filterwarnings("ignore:.*friction = 30")
def test_warnings_of_compile_time_are_those_of_the_run_once():
    system = much_friction().compile()
    runs = [
        fem.DecoupledNSGA().run(given, **RUN) for given in (system, much_friction(), pickle.loads(pickle.dumps(system)))
    ]
    for result in runs:
        assert sum("not per cent" in text.lower() for text in result.warnings) == 1


@pytest.mark.filterwarnings("ignore:.*friction = 30")
def test_a_resumed_run_reports_warnings_of_construction(tmp_path):
    path = tmp_path / "run.vtkhdf"
    with pytest.warns(UserWarning, match="passes between"):
        model = box_between_nodes(2)
    first = fem.DecoupledNSGA(rho_inf=0.5).run(model, save=path, checkpoint_every="10 steps", **RUN)
    again = fem.resume(path, t_end=0.03)
    assert again.warnings == first.warnings


class Fragile(Checked):
    """Something that warns while it is made."""

    def __init__(self, part=None):
        self.part = part
        Warnings.issue("fragile" if part is None else "holds something fragile")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_object_keeps_the_warnings_of_its_arguments_and_of_what_it_makes():
    inner = Fragile()
    outer = Fragile(inner)
    assert Warnings.of(inner) == ("fragile",)
    assert Warnings.of(outer) == ("fragile", "holds something fragile")
    assert Warnings.of(pickle.loads(pickle.dumps(outer))) == Warnings.of(outer)
    made = Warnings.kept(lambda: Fragile(Fragile()))()
    assert Warnings.of(made) == Warnings.of(outer)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_threads_do_not_share_warnings():
    both, found = threading.Barrier(2), {}

    class Slow(Checked):
        def __init__(self, number):
            both.wait(10)
            Warnings.issue(f"number {number}")
            both.wait(10)

    def make(number):
        found[number] = Warnings.of(Slow(number))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: ("number 0",), 1: ("number 1",)}


def test_a_mesh_and_a_reduction_keep_what_was_doubtful_in_the_file(tmp_path):
    meshio = pytest.importorskip("meshio")
    block = fem.block_mesh([100.0, 10.0, 10.0], [4, 1, 1], cell="hexahedron")
    path = tmp_path / "rod.vtk"
    meshio.write(path, meshio.Mesh(block.points, [("hexahedron", block.cells["hexahedron"])]))
    with pytest.warns(UserWarning, match="units"):
        mesh = fem.read_mesh(path)
    mesh = mesh.with_group("left", mesh.points[:, 0] < 1e-3).with_group("right", mesh.points[:, 0] > 99.0)
    reduction = fem.reduce_mesh(mesh, fem.SolidMaterial(2e9, 0.3, 1000.0), {"a": "left", "b": "right"}, modes=2)
    reduction.save(tmp_path / "rod.h5")
    for part in (reduction, fem.load_reduction(tmp_path / "rod.h5")):
        model = fem.Model("rod")
        model.add(fem.Superelement(part, name="rod"))
        assert any("units" in text for text in model.warnings)


URDF = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/><dynamic damping="1"/>
</joint></robot>"""


def test_a_model_from_urdf_keeps_what_was_not_read():
    with pytest.warns(UserWarning, match="dynamic"):
        made = fem.from_urdf(URDF)
    assert any("<dynamic>" in text for text in made.model.warnings)


def test_all_warnings_go_through_the_channel():
    root = SOURCES.parent
    found = set()
    for folder in ("fem_mbs", "elements", "solvers"):
        for path in (root / folder).rglob("*.py"):
            if re.search(r"\bwarnings\.warn\(|from warnings import.*\bwarn\b", path.read_text(encoding="utf-8")):
                found.add(str(path.relative_to(root)))
    assert found == set(DIRECT)


def test_the_line_of_the_script_is_shown_however_deep_the_warning_is_issued():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        much_friction().compile()
        fem.block_mesh([1, 1, 1], [1, 1, 1], form=lambda p: np.where(p[:, :1] > 0.5, p, p * [[1, 1, 1]]))
    assert {Path(w.filename).name for w in shown} == {Path(__file__).name}


@pytest.mark.parametrize(("restitution", "told"), [(0.5, True), (0.0, False)])
def test_a_rod_that_friction_stops_at_its_tip_is_reported_to_lose_its_rebound(restitution, told):
    """Its tip comes down at a slope of 0.2 with friction 0.5: the impulse passes by the hinge and locks it."""
    model, angle = fem.Model("locked", gravity=[0, 0, -9.81]), 0.7
    end = np.array([np.sin(angle), 0, -np.cos(angle)])
    rod = model.add(fem.RigidBody.box(1.0, [0.05, 0.05, 1.0], position=0.5 * end, rotation=[0, -angle, 0], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], axis=[0, 1, 0], name="hinge"))
    floor = model.ground.frame([0, 0, -0.98])
    law = {"friction": 0.5, "restitution": restitution}
    model.add(fem.SphereOnPlane(rod.frame([0, 0, -0.5]), floor, radius=0.0, name="tip", **law))
    result = fem.DecoupledNSGA().run(model, t_end=0.4, h=2e-3)
    assert result["tip"].impact.any()
    assert any("no solution" in text for text in result.warnings) is told
