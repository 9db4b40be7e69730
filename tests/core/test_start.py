"""Starting is quick: what a script does not use is not imported."""

import subprocess
import sys

import pytest

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


def test_shapes_of_bodies_do_not_import_results():
    code = "import sys; import fem_mbs.shapes; print(*(name for name in sys.modules if name.startswith('fem_mbs.')))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "fem_mbs.shapes" in shown and not [name for name in shown if name.startswith("fem_mbs.results")]


def test_every_listed_name_is_there_and_a_wrong_one_is_answered_with_the_list():
    import fem_mbs as fem

    assert all(hasattr(fem, name) for name in fem.__all__)
    with pytest.raises(AttributeError, match=r"fem_mbs has no 'RigidBoddy'; it has: .*RigidBody"):
        _ = fem.RigidBoddy
