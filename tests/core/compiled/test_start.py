"""Starting is quick: what a script does not use is not imported."""

import subprocess
import sys

import pytest

from fem_mbs.arguments.spelling import ELSEWHERE
from fem_mbs.jit import OWN_COMPILER

HEAVY = ("numba", "llvmlite", "scipy", "h5py", "matplotlib", "pyvista", "meshio")


def imported_by(code):
    """Which of the heavy packages a fresh interpreter holds after running the code."""
    report = f"import sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{code}; {report}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_imports_nothing_heavy():
    assert imported_by("import fem_mbs") == []


def test_the_command_line_answers_help_without_importing_anything_heavy():
    assert imported_by("import fem_mbs.cli; fem_mbs.cli._parser().format_help()") == []


def test_building_a_model_does_not_import_what_only_pictures_and_files_need():
    code = "import fem_mbs as fem; m = fem.Model(); m.add(fem.RigidBody.sphere(1, 1, name='ball'))"
    assert {"h5py", "matplotlib", "pyvista", "meshio"}.isdisjoint(imported_by(code))


def modules_after(code):
    """Names of all modules that a fresh interpreter holds after running the code."""
    report = f"{code}; import sys; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True).stdout.split()
    )


def test_a_type_of_element_is_imported_without_those_that_the_script_does_not_name():
    others = {"fem_mbs.elements.catalogue", "fem_mbs.elements.beams.beam", "fem_mbs.elements.joints.fixed"}
    found = modules_after("import fem_mbs as fem; fem.RigidBody")
    assert "fem_mbs.elements.bodies.rigid_body" in found and others.isdisjoint(found)
    assert others <= modules_after("from fem_mbs.elements import RigidBody")


def test_a_time_stepper_is_imported_without_the_others():
    others = {"fem_mbs.solvers.lobatto.lobatto", "fem_mbs.solvers.alpha.generalized_alpha", "fem_mbs.solvers.modal"}
    found = modules_after("import fem_mbs as fem; fem.DecoupledNSGA()")
    assert "fem_mbs.solvers.nsga.decoupled_nsga" in found and others.isdisjoint(found)
    every = modules_after(
        "from fem_mbs.solvers import STEPPERS, eigen; assert 'modes' in dir(__import__('fem_mbs').solvers)"
    )
    assert others - {"fem_mbs.solvers.modal"} <= every


def test_a_run_whose_contacts_newton_solves_does_not_import_the_contact_problem_solver():
    run = "fem.DecoupledNSGA({}).run(flexible_pendulum(), 3e-3, 1e-3, progress=False)"
    start = "import fem_mbs as fem; from fem_mbs.warmup import flexible_pendulum; "
    assert "fem_mbs.solvers.contact_problem.hybrid" not in modules_after(start + run.format(""))
    asked = modules_after(start + run.format("contact_solver='problem'"))
    assert "fem_mbs.solvers.contact_problem.hybrid" in asked


@pytest.mark.skipif(not OWN_COMPILER, reason="numba loads code in its own way")
def test_code_that_is_kept_is_loaded_without_what_numba_needs_to_compile():
    code = "from fem_mbs.linear.dense import _dense_factor; assert _dense_factor.address"
    modules_after(code)  # compiles it, if nobody has
    found = modules_after(code)
    assert "fem_mbs.linear.dense" in found and "numba.np.npyimpl" not in found


def test_shapes_of_bodies_do_not_import_results():
    shown = modules_after("import fem_mbs.shapes")
    assert "fem_mbs.shapes" in shown and not [name for name in shown if name.startswith("fem_mbs.results")]


def test_every_listed_name_is_there_and_a_wrong_one_is_answered_with_what_was_meant_or_the_list():
    import fem_mbs as fem

    assert all(hasattr(fem, name) for name in fem.__all__)
    with pytest.raises(AttributeError, match=r"'RigidBoddy'.*'RigidBody'"):
        _ = fem.RigidBoddy
    for word, here in (("HingeJoint", "Revolute"), ("Winch", "Cable"), ("JointServos", "JointServo")):
        with pytest.raises(AttributeError, match=rf"fem_mbs .*'{word}'; .*'{here}'"):
            getattr(fem, word)
    assert set(ELSEWHERE.values()) <= set(fem.__all__)
    with pytest.raises(AttributeError, match=r"'Quux'.*RigidBody"):
        _ = fem.Quux


def test_completion_offers_the_public_names_alone():
    """Modules that other modules have imported are no part of what ``dir(fem)`` lists."""
    import fem_mbs
    import fem_mbs.compiled.compiler

    listed = [name for name in dir(fem_mbs) if not name.startswith("__")]
    assert listed == sorted(fem_mbs.__all__) and "compiler" not in listed
