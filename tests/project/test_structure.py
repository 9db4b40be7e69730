"""The drawing of the house: what may import what. Core first, elements on it, solvers on both; never in a circle."""

import ast
import re
import subprocess
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter

import pytest
from imports import FOLDERS, ROOT, boxes, direct, graph, graph_of_hints, hints, imports, is_table, layer, sources

# names that are asked for by text: file -> names. All others are members of a class or a `Protocol`, with a default
ASKED = {
    # objects of any kind that a user gives to the function
    "bearings/life.py": {"load_inner"},
    "cli.py": {"report"},
    "elements/bodies/rigid_body.py": {"faces"},
    "elements/contacts/shapes/capsule.py": {"frame_A", "frame_B"},
    "elements/contacts/compliant.py": {"elements"},
    "elements/control/sensor.py": {"frame"},
    "elements/solids/mesh_body.py": {"Q", "at", "results", "rows", "shapes", "state", "system"},
    "elements/superelements/limits.py": {"results", "rows"},
    "errors.py": {"_warnings", "name"},
    "model.py": {"elements", "nodes"},
    "recovery/history.py": {"name"},
    "recovery/options.py": {"local_motion"},
    "results/contact_motion.py": {"elements", "name"},
    "results/file/names.py": {"elements", "name"},
    "results/reactions.py": {"compile", "constraint_forces"},
    "results/file/recovered.py": {"name"},
    "solvers/modal.py": {"angular_velocity"},
    "solvers/rotors/diagram.py": {"name"},
    "solvers/rotors/spin.py": {"nodes"},
    "solvers/static_result.py": {"node"},
    "solvers/stepping/saved/checkpoints.py": {"get_state", "set_state"},
    "solvers/stepping/saved/continue_from.py": {"at", "state"},
    "solvers/stepping/stepper.py": {"observe"},
    "system/in_use.py": {"in_use"},
    "arguments/representation.py": {"constant", "name", "p", "value"},
    "arguments/values.py": {"frame", "node", "role"},
    # objects of other packages: meshes, linear systems
    "elements/contacts/hulls/hull_points.py": {"cells", "faces"},
    "elements/control/controller.py": {"A", "to_ss"},
    "elements/control/linear.py": {"to_ss"},
    "mesh/files.py": {"cells", "repeated", "warnings"},
    "mesh/mass.py": {"faces", "points"},
    # Python, numba and libraries: what differs between versions and systems, and attributes of functions
    "arguments/checked.py": {"_keywords"},
    "compiled/code_folder.py": {"geteuid"},
    "compiled/compiler.py": {"co_code", "constant", "part", "typing_key"},
    "compiled/together.py": {"getloadavg", "register_at_fork", "sched_getaffinity"},
    "solvers/stepping/saved/laws.py": {"co_exceptiontable", "name", "py_func"},
    "linear/factors_complex.py": {"umfpack_zi_numeric"},
}
# objects made of parts in files of their own, which hint whose parts they are
OWNERS = {
    "fem_mbs.recovery.forces",
    "fem_mbs.results.file.writer",
    "fem_mbs.results.results",
    "fem_mbs.solvers.contact_problem.operators",
    "fem_mbs.solvers.contact_problem.problem",
    "fem_mbs.solvers.granular.grains",
    "fem_mbs.solvers.paths.follow",
    "fem_mbs.solvers.stepping.engine",
    "fem_mbs.solvers.stepping.march.march",
    "fem_mbs.solvers.stepping.march.schedule",
    "fem_mbs.solvers.stepping.stepper",
}
FACES = {"fem_mbs", "fem_mbs.cli"}  # the only ones of the core that lead to elements and solvers: the names users see


@pytest.fixture(scope="module")
def arrows():
    return graph()


def circle(arrows):
    """Modules that import each other in a circle, as "a -> b -> a"; None when there is no circle."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return " -> ".join(reversed(error.args[1]))
    return None


def across(arrows, first, second):
    """Arrows from one layer to another."""
    return sorted(
        f"{a} -> {b}"
        for a, targets in arrows.items()
        for b in targets
        if layer(a) == first and layer(b) == second and a not in FACES
    )


def test_no_modules_import_each_other_in_a_circle(arrows):
    assert circle(arrows) is None


def with_hints(arrows, left_out):
    """Arrows of imports and of type hints, but for hints at the modules left out."""
    return {name: targets | (graph_of_hints()[name] - set(left_out)) for name, targets in arrows.items()}


def test_no_modules_hint_each_other_in_a_circle(arrows):
    """Hint a `Protocol`, such as `system.compiled.CompiledSystem`: who reads a module need not read its users."""
    assert circle(with_hints(arrows, OWNERS)) is None


@pytest.mark.parametrize("owner", sorted(OWNERS))
def test_owners_are_listed_while_their_parts_hint_them(owner, arrows):
    assert circle(with_hints(arrows, OWNERS - {owner})) is not None


def test_imports_of_type_hints_are_found():
    known = {"fem_mbs", "fem_mbs.errors", "fem_mbs.nodes"}
    text = "from fem_mbs import errors\nif TYPE_CHECKING:\n    from fem_mbs.nodes import Node"
    assert hints(text, known) == {"fem_mbs.nodes"} and imports(text, known) == {"fem_mbs.errors"}


def test_the_core_imports_neither_elements_nor_solvers(arrows):
    assert across(arrows, "core", "elements") + across(arrows, "core", "solvers") == []


def test_elements_do_not_import_solvers(arrows):
    assert across(arrows, "elements", "solvers") == []


def test_solvers_do_not_import_elements(arrows):
    """Not in type hints either: what a solver reads of an element is in the contract, `fem_mbs.element`."""
    assert across(arrows, "solvers", "elements") == []
    hints = [
        f"{file.relative_to(ROOT)}: {line}"
        for name, file in sources().items()
        if layer(name) == "solvers" or name.startswith(("fem_mbs.system.", "fem_mbs.element.", "fem_mbs.distance."))
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(from|import) fem_mbs\.elements\b", line)
    ]
    assert hints == []


def test_no_module_hides_a_public_name():
    """An imported module is an attribute of its package: fem_mbs/table.py would replace the function `fem.table`."""
    import fem_mbs

    tops = {name.removeprefix("fem_mbs.") for name in sources() if name.count(".") == 1}
    assert tops & set(fem_mbs._HOME) == set()


def test_modules_are_imported_by_name_where_it_can_be_read():
    """A name that is put together at run time would be an arrow that the tests above do not see."""
    for name, file in sources().items():
        text = file.read_text(encoding="utf-8")
        if "import_module" not in text and "__import__" not in text:
            continue
        nodes = list(ast.walk(ast.parse(text)))
        named = [
            getattr(n.func, "attr", getattr(n.func, "id", "")) in ("import_module", "__import__")
            for n in nodes
            if isinstance(n, ast.Call)
        ]
        table = any(is_table(n) for n in nodes if isinstance(n, ast.Assign))
        assert name in FACES or table or not any(named), f"{file.relative_to(ROOT)}"


def asked_by_text(text):
    """Names that a source text asks objects for by getattr or hasattr, but for those of Python itself, as __name__."""
    if "getattr" not in text and "hasattr" not in text:
        return set()
    calls = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and len(n.args) > 1]
    names = [n.args[1] for n in calls if isinstance(n.func, ast.Name) and n.func.id in ("getattr", "hasattr")]
    found = {str(name.value) for name in names if isinstance(name, ast.Constant)}
    return {name for name in found if not name.startswith("__")}


def test_names_that_are_asked_for_are_declared_members():
    """A member with a default, a type and a meaning is found by readers and by mypy; a name in quotes is not."""
    found = {}
    for name, file in sources().items():
        inside = name.removeprefix("fem_mbs.").replace(".", "/")
        path = f"{inside}/__init__.py" if file.stem == "__init__" else f"{inside}.py"
        if names := asked_by_text(file.read_text(encoding="utf-8")):
            found[path] = names
    assert found == ASKED


def test_names_in_quotes_are_found():
    text = (
        "getattr(a, 'b', None) or hasattr(c.d, 'e') or getattr(f, name) or hasattr(g, '__dict__') or h.getattr(i, 'j')"
    )
    assert asked_by_text(text) == {"b", "e"}


def test_every_module_of_the_three_packages_is_read(arrows):
    files = {file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")}
    assert set(sources().values()) == files and set(arrows) == set(sources())
    assert arrows["fem_mbs.verify"] >= {"fem_mbs.element.evaluator", "fem_mbs.element.registry", "fem_mbs.rotations"}


@pytest.mark.parametrize(
    "text",
    [
        "import fem_mbs.errors",
        "from fem_mbs import errors",
        "from fem_mbs.errors import label",
        "def function():\n    from fem_mbs.errors import label",
        "class Inside:\n    def method(self):\n        if True:\n            import fem_mbs.errors as e",
        "if TYPE_CHECKING:\n    from fem_mbs import nodes\nelse:\n    from fem_mbs import errors",
        "_IMPORTED = {'fem_mbs.errors': ('label',)}",
    ],
)
def test_an_import_is_found_wherever_it_stands(text):
    known = {"fem_mbs", "fem_mbs.errors", "fem_mbs.nodes"}
    assert imports(text, known) == {"fem_mbs.errors"}


def test_circles_and_wrong_arrows_are_found():
    arrows = {
        "fem_mbs.a": {"fem_mbs.elements.b"},
        "fem_mbs.elements.b": {"fem_mbs.solvers.c"},
        "fem_mbs.solvers.c": set(),
    }
    assert circle(arrows) is None
    assert across(arrows, "core", "elements") == ["fem_mbs.a -> fem_mbs.elements.b"]
    assert across(arrows, "elements", "solvers") == ["fem_mbs.elements.b -> fem_mbs.solvers.c"]
    arrows["fem_mbs.solvers.c"] = {"fem_mbs.a"}
    assert circle(arrows) is not None


def test_the_drawing_has_every_folder_and_no_circle():
    drawn = boxes()
    assert circle(drawn) is None
    with_code = {f.parent for folder in FOLDERS for f in (ROOT / folder).rglob("*.py") if f.stem != "__init__"}
    shown = {name.strip() for box in drawn for name in box.removesuffix("(top)").split(" + ")}
    assert shown == {folder.relative_to(ROOT).as_posix() for folder in with_code}


def test_folders_of_tests_mirror_the_packages():
    """Tests of a package are in the folder of its name: nobody has to search for them."""
    for tests, package in (("core", "fem_mbs"), ("elements", "elements"), ("solvers", "solvers")):
        found = {f.parent.relative_to(ROOT / "tests" / tests) for f in (ROOT / "tests" / tests).rglob("test_*.py")}
        packages = {f.parent.relative_to(ROOT / package) for f in (ROOT / package).rglob("__init__.py")}
        assert found <= packages


@pytest.mark.parametrize("top", [*FOLDERS, "tests"])
def test_a_folder_has_at_most_25_files(top):
    count = Counter(f.parent for f in (ROOT / top).rglob("*.py") if f.stem not in ("__init__", "conftest"))
    large = {str(f.relative_to(ROOT)): n for f, n in count.items() if n > 25 and f.name != "helpers"}
    assert not large


def test_an_arrow_that_follows_from_others_is_not_drawn():
    assert direct({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_the_registry_contains_the_library_without_importing_it_first():
    code = "from fem_mbs.element.registry import library; print(*library())"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"Beam", "Revolute", "RigidBody", "SphereOnPlane"} <= set(shown)
