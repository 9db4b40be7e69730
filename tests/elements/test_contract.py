"""Every registered element satisfies the contract: gradients, tangents, invariance, energy (`fem_mbs.verify`)."""

import ast
import io
from pathlib import Path

import numpy as np
import pytest

from fem_mbs import elements, jit, verify
from fem_mbs.compiled import sources
from fem_mbs.element.registry import library, make_example
from fem_mbs.elements.contacts.compliant import CompliantContact
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereOnSphere
from fem_mbs.elements.forces.spring_damper import Spring
from fem_mbs.elements.joints.spherical import Spherical
from fem_mbs.elements.user import PythonElement, UserForce
from fem_mbs.errors import label
from fem_mbs.nodes import Ground, Node6
from fem_mbs.system.records import KERNELS

SEED = 20240


@pytest.mark.parametrize("name", sorted(library()))
def test_element_satisfies_the_contract_at_random_configurations(name):
    # rotations up to 3 rad; all types in 10 random elements at 5 configurations each are a slow test, see below
    report = verify.check_type(name, seed=SEED, instances=5, configurations=2)
    # verify asks for 1e-6; correct elements stay below 2e-9 (measured), differences being good to 1e-12 of the largest
    assert report.ok and report.worst < 1e-7, f"seed {SEED}\n{report}"
    assert report.errors


# with 0.02 and seed 3 the rate of one configuration, and with it the force, was cut off within the reach of differences
@pytest.mark.parametrize("radius, seed", [(0.05, 0), (0.02, 3)])
def test_compliant_contact_of_small_bodies_far_apart_is_checked_where_it_acts(radius, seed):
    """It found no configuration: the spheres are too small to touch by chance, and less deep than differences reach."""
    balls = [Node6([0, 0, 0], name="A"), Node6([3, 0, 0], name="B")]
    contact = SphereOnSphere(*balls, radius_A=radius, radius_B=radius)
    report = verify.check_element(CompliantContact(contact, stiffness=1e3, restitution=0.8, friction=0.3), seed=seed)
    assert report.ok and report.worst < 1e-7, report
    assert np.isfinite(report.errors["force: K"])


@pytest.mark.slow
def test_check_tangents_without_names_checks_all_types(capsys):
    from fem_mbs.cli import main

    assert main(["check-tangents"]) == 0
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert shown == sorted(library())


@pytest.mark.parametrize("name", sorted(library()))
def test_element_declares_what_the_framework_needs(name):
    element = make_example(name, np.random.default_rng(SEED))
    assert set(element.kernels) <= set(KERNELS)
    numbers = np.zeros(1, element.parameters)
    numbers[0] = element.record  # as many values as fields, of the right shapes
    assert all(element.parameters[field].base.kind in "fi" for field in element.parameters.names)
    reported = "output" in {**element.kernels, **getattr(element, "python_kernels", {})}
    assert reported == bool(element.outputs) or element.role == "contact"
    if element.role == "constraint":
        assert element.rows > 0 and {"constraint", "hessian"} <= set(element.kernels)
        assert bool(element.signals) == ("rheonomic" in element.kernels)
    for first, second in (("force", "force_tangent"), ("inertia", "inertia_tangent"), ("contact", "contact_hessian")):
        assert (first in element.kernels) == (second in element.kernels)
    element.name = "something"
    assert label(element) == f"{name} 'something'"


class WrongSpring(PythonElement):
    """A spring between two nodes whose stiffness can be spoiled by a factor, or by leaving out its geometric part."""

    def __init__(self, nodes, factor=1.0, geometric=True):
        super().__init__(nodes)
        self.factor, self.geometric = factor, geometric

    def force(self, x, R, v, t):
        d = x[1] - x[0]
        pull = 3.0 * (1 - 0.2 / np.linalg.norm(d)) * d
        return np.array([[*pull, 0, 0, 0], [*-pull, 0, 0, 0]])

    def _add_tangent(self, arguments):
        d = arguments["x"][1] - arguments["x"][0]
        length = np.linalg.norm(d)
        e = d / length
        k = 3.0 * np.outer(e, e)
        if self.geometric:
            k += 3.0 * (1 - 0.2 / length) * (np.eye(3) - np.outer(e, e))
        for i in (0, 6):
            for j in (0, 6):
                arguments["K"][i : i + 3, j : j + 3] += self.factor * (k if i == j else -k)


def pair():
    return [Node6([0, 0, 0]), Node6([1, 0.2, 0])]


@pytest.mark.parametrize("change, found", [({}, False), ({"factor": 1 + 1e-5}, True), ({"geometric": False}, True)])
def test_a_wrong_tangent_is_found(change, found):
    report = verify.check_element(WrongSpring(pair(), **change), configurations=3)
    assert report.ok != found
    assert (report.errors["force: K"] > verify.TOLERANCE) == found
    assert ("wrong" in str(report)) == found


def test_a_force_that_is_not_objective_is_found():
    def wind(x, R, v, t):
        return np.array([[1.0, 0, 0, 0, 0, 0]])

    law = UserForce(Node6(), wind)
    assert verify.check_element(law, configurations=2).ok  # a user's law may refer to inertial axes …
    law.invariant = True
    assert (
        verify.check_element(law, configurations=2).errors["invariance: forces"] > 1e-2
    )  # … unless it says it does not


def test_a_small_wrong_block_is_not_hidden_by_a_stiff_one():
    stiff = np.zeros((6, 6))
    stiff[:3, :3], stiff[3:, 3:] = 1e5 * np.eye(3), np.eye(3)
    wrong = stiff.copy()
    wrong[4, 4] = 1.1
    assert verify.relative(stiff, stiff) == 0
    assert verify.relative(stiff, wrong) == pytest.approx(0.1 / 1.1)
    assert verify.relative(stiff, np.full((6, 6), np.nan)) == np.inf


def test_the_table_of_the_command_line_names_each_element_and_says_whether_all_passed():
    text = io.StringIO()
    assert verify.check_tangents(["Spherical", "UserForce"], file=text)
    assert "Spherical" in text.getvalue() and "UserForce" in text.getvalue()
    with pytest.raises(KeyError, match=r"Sphericle.*Spherical\b"):
        verify.check_tangents(["Sphericle"])


def test_a_nan_in_any_block_fails_the_check():
    report = verify.Report("element")
    report.add("force: K", np.nan)
    assert not report.ok


def test_elements_on_ground_pass_the_same_checks():
    ground, node = Ground(), Node6([0.3, 0.1, 0.2], [0.1, 0.5, 0.2])
    assert verify.check_element(Spring(ground.frame([1, 0, 0]), node, 2.0, 0.3), configurations=3).ok
    assert verify.check_element(Spherical.at(ground, node, [0, 1, 0]), configurations=3).ok


def test_argument_names_of_kernels_are_those_of_the_contract():
    of_nodes = {f"{k}_{n}" for k in ("x", "R", "v", "w", "a", "alpha", "x0", "R0") for n in "ABCD"}
    known = {*jit.SLOTS, "p", "arguments", "rows", *of_nodes, *(f"node_{n}" for n in "ABCD")}
    for name in library():
        for function in library()[name][0].kernels.values():
            code = function.py_func.__code__
            assert set(code.co_varnames[: code.co_argcount]) <= known


def test_superelements_and_surfaces_of_all_sizes_call_the_same_compiled_code():
    """A new number of modes or of faces within reach took 2 to 11 s of compilation."""
    of_any_size = {}
    for name in library():
        element = make_example(name, np.random.default_rng(2))
        told = jit.sizes_in_record(element.parameters)
        if not told:
            continue
        of_any_size[name] = told
        larger = dict(element.sizes)
        for size in told:
            larger[size] += 7
        larger["nd"] = element.numbers_per_node * larger["nn"]
        for function in element.kernels.values():
            texts = [jit.bound_text(function, element.parameters, sizes) for sizes in (element.sizes, larger)]
            assert texts[0] == texts[1], name
    nodes, both = ("nn",), ("nn", "nq")
    assert of_any_size == {
        "Superelement": nodes, "FloatingFrame": nodes, "PointOfBody": nodes, "TiedNode": nodes,
        "NodeOnFaces": both, "FrameOnFaces": both, "HullFeature": ("nq",),
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(library()))
def test_cached_code_is_renewed_when_any_imported_module_changes(name):
    kernels = library()[name][0].kernels.values() or [verify.Evaluator.__call__]
    for file in {Path(getattr(k, "py_func", k).__code__.co_filename) for k in kernels}:
        text = file.read_text()
        imported, tree = set(), ast.parse(text)
        blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
        hints = {id(node) for block in blocks for node in ast.walk(block)}  # are not imported when the code runs
        for node in ast.walk(tree):
            if (
                id(node) not in hints
                and isinstance(node, ast.ImportFrom)
                and node.module
                and node.module.startswith("fem_mbs")
            ):
                imported |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        assert imported <= set(sources.imported_modules(text))


ALLOCATE = {
    "empty",
    "zeros",
    "ones",
    "full",
    "array",
    "eye",
    "copy",
    "concatenate",
    "stack",
    "empty_like",
    "zeros_like",
}


def test_kernels_of_elements_allocate_no_arrays():
    """Scratch is on the stack (`local_vector`, `local_matrix`); an array on the heap costs more than many kernels.

    Not so that of superelements: its sizes are those of a reduction, and their products of matrices cost far more.
    """
    for file in sorted(Path(elements.__file__).parent.rglob("*.py")):
        if file.parent.name == "superelements":
            continue
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            decorators = [ast.unparse(d) for d in getattr(function, "decorator_list", ())]
            if "kernel" in decorators:
                calls = {ast.unparse(n.func) for n in ast.walk(function) if isinstance(n, ast.Call)}
                found = calls & {f"np.{name}" for name in ALLOCATE}
                assert not found, f"{file.name}: {function.name} calls {found}"


def test_rows_that_elements_share_take_no_record_of_parameters():
    """They would be compiled for every type of record again, and numba warns where one record begins like another.

    Those that take the kernel ``nearest`` of a shape belong to one type.
    """
    folder = Path(elements.__file__).parent
    for name in ("joints/rows.py", "contacts/shapes/shape_contact.py"):
        for function in ast.walk(ast.parse((folder / name).read_text(encoding="utf-8"))):
            if "kernel" in [ast.unparse(d) for d in getattr(function, "decorator_list", ())]:
                arguments = [a.arg for a in function.args.args]
                assert "p" not in arguments or "nearest" in arguments, f"{name}: {function.name}"
