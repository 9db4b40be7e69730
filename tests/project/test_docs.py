"""README and documentation say what is true: their code runs and prints what they show; every header has its page."""

import contextlib
import doctest
import importlib
import io
import math
import re
import shlex
import sys
from pathlib import Path

import pytest

import fem_mbs as fem
from fem_mbs.element.registry import library
from fem_mbs.solvers.stepping.monitors.catalogue import MONITORS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
MODULES = sorted(
    ".".join([*package, *file.relative_to(ROOT).with_suffix("").parts])
    for folder, package in (("fem_mbs", ()), ("elements", ("fem_mbs",)), ("solvers", ("fem_mbs",)))
    for file in (ROOT / folder).rglob("*.py")
    if file.stem != "__init__"
)


def blocks(page):
    """Code of a page in order: (file name or None, code, what it prints or None)."""
    found = []
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        kind, body = match["kind"].strip(), match["body"]
        if kind == "python":
            found.append([None, body, None])
        elif kind == "{code-block} python":
            caption = re.match(r":caption: (\S+)\n\n", body)
            found.append([caption[1], body[caption.end() :], None])
        elif kind == "text" and found:
            found[-1][2] = body
    return found


def same_text(shown, printed):
    """Words are equal; numbers agree to 10 %, or both are round-off; wall time and iterations may differ."""
    shown, printed = (re.sub(r"complete in \S+ s|max / mean: .*", "", text) for text in (shown, printed))
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split():
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=0.1, abs_tol=1e-8) for a, b in pairs)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_code_of_a_page_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    if any("import gmsh" in code for _, code, _ in blocks(page)):
        try:
            importlib.import_module("gmsh")
        except (ImportError, OSError) as error:  # or libraries that it is linked with
            pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "docs")  # scripts that pages show
    monkeypatch.syspath_prepend(tmp_path)
    before, types, monitors, space = set(sys.modules), set(library()), list(MONITORS), {"__name__": "page"}
    try:
        for file, code, shown in blocks(page):
            if file is not None:
                Path(file).write_text(code, encoding="utf-8")
                continue
            if re.search(r"\.(picture|animate)\(", code) and importlib.util.find_spec("pyvista") is None:
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page.name, "exec"), space)
            if shown is not None:
                assert same_text(shown, printed.getvalue()), f"shown:\n{shown}\nprinted:\n{printed.getvalue()}"
    finally:
        MONITORS[:] = monitors
        for name in set(library()) - types:
            del library()[name]
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or ".").is_relative_to(tmp_path):
                del sys.modules[name]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(module)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    # names that examples may use without saying where they come from: a small model
    model = fem.Model("docstrings", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.2, position=[0, 0, 1], name="ball"))
    names = {"fem": fem, "np": importlib.import_module("numpy"), "model": model, "ball": ball}
    for test in finder.find(module, extraglobs=names):
        runner.run(test)
    assert runner.failures == 0, "the output above shows which"


def test_links_between_pages_and_to_files_lead_somewhere():
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text) + re.findall(r'src="([^"]+)"', text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_bold_beginnings_of_paragraphs_are_not_bullets():
    """Wrapping once took the two stars of a bold word at the start of a line for a bullet: ``* *Entry**``."""
    broken = [
        f"{page.name}: {line[:40]}"
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.match(r"\* \*\w[^*]*\*\*", line)
    ]
    assert not broken, "\n".join(broken)


def test_theory_shows_the_header_of_every_element_and_solver():
    shown = set()
    for page in PAGES:
        for patterns in re.findall(r"```\{file-header\} (.+)", page.read_text(encoding="utf-8")):
            files = {f.relative_to(ROOT).as_posix() for pattern in patterns.split() for f in ROOT.glob(pattern)}
            assert files, f"{page.relative_to(ROOT)}: {patterns}"
            shown |= files
    found = (f for d in ("elements", "solvers") for f in (ROOT / d).rglob("*.py") if f.stem != "__init__")
    files = {file.relative_to(ROOT).as_posix() for file in found}
    assert files - shown == set(), "put them on a page of docs/theory"


def test_the_walks_through_the_code_lead_to_names_that_exist():
    rows = re.findall(r"^\|.*\| `([\w/]+\.py)` \| `(\w+)` \|$", (ROOT / "docs/structure.md").read_text("utf-8"), re.M)
    assert len(rows) > 12
    for file, name in rows:
        assert re.search(rf"\b(?:def|class) {name}\b|\b{name}\b.* = ", (ROOT / file).read_text("utf-8")), (
            f"{file}: {name}"
        )


def test_gallery_shows_every_example_once():
    text = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    shown = " ".join(re.findall(r"```\{example-gallery\}\n(.*?)```", text, re.DOTALL)).split()
    assert sorted(shown) == sorted(file.stem for file in (ROOT / "examples").glob("*.py"))


def test_names_of_the_api_pages_exist():
    for page in (ROOT / "docs/api").glob("*.md"):
        for name in re.findall(r"auto(?:class|function):: fem_mbs\.(\S+)", page.read_text(encoding="utf-8")):
            item = fem
            for part in name.split("."):
                item = getattr(item, part, None) or importlib.import_module(f"{item.__name__}.{part}")
            assert item.__doc__, f"{name} has no docstring"


def test_every_public_name_is_in_the_api_pages():
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/api").glob("*.md"))
    documented = set(re.findall(r"auto(?:class|function):: fem_mbs\.(\S+)", text))
    modules = {"elements", "hertz", "rotations", "shapes", "solvers", "verify"}  # shown by what is in them
    assert set(fem.__all__) - modules - documented == set()


def test_api_pages_leave_out_what_completion_hides():
    """A page of a class shows the members of scripts, not its contract with solvers."""
    spec = importlib.util.spec_from_file_location("conf", ROOT / "docs" / "conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    members = {n: getattr(fem.RigidBody, n) for n in dir(fem.RigidBody) if not n.startswith("_")}
    members = {n: member for n, member in members.items() if callable(member) or isinstance(member, property)}
    shown = {n for n, member in members.items() if not conf.skip_contract(None, "class", n, member, False, {})}
    assert {"frame", "from_mesh", "is_on"} <= shown and {"use_switch", "picture", "as_vector"} <= {*members} - shown
    assert not shown & fem.RigidBody._inside


def test_pages_errors_refer_to_exist():
    titles = " ".join(p.read_text(encoding="utf-8").partition("\n")[0].lower() for p in PAGES)
    for folder in ("fem_mbs", "elements", "solvers"):
        for file in (ROOT / folder).rglob("*.py"):
            for words in re.findall(r"\(docs: \"?([\w ]+)", file.read_text(encoding="utf-8")):
                assert all(word in titles for word in words.split()), f"{file.name}: docs: {words}"


THEORY = sorted((ROOT / "docs/theory").glob("*.md"))
SOURCES = [
    file
    for folder in ("fem_mbs", "elements", "solvers", "examples", "tests", "benchmarks", "docs")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if file != Path(__file__).resolve()
]
CITED = r"\(\d+\)(?:-\(\d+\))?|decision \d+|(?:and )?\"[^\"]+\""
CITATION = re.compile(rf"docs/theory/(?P<page>\w+)\.md(?P<numbers>(?:, (?:{CITED}))*)")


def one_line(text):
    """Text in which citations that were wrapped are in one piece."""
    return re.sub(r"\s*\n\s*(?:# )?", " ", text)


def equations(page):
    """Numbers of the equations of a page of docs/theory, in order; those of lists are indented."""
    return [int(n) for n in re.findall(r"^ *\$\$ \([a-z]+-(\d+)\)$", page.read_text(encoding="utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("page", THEORY, ids=lambda p: p.stem)
def test_equations_of_a_theory_page_are_numbered_as_readers_see_them(page):
    """The site numbers them in order; the labels, which the source shows, and references in the text must agree."""
    numbers = equations(page)
    assert numbers == list(range(1, len(numbers) + 1))
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    ends = re.findall(r"^\$\$(.*)$", text, re.MULTILINE)  # short ones in lists may have none
    assert 2 * ends.count("") == len(ends), "each display needs a number"


def test_citations_of_the_theory_lead_to_a_page_an_equation_a_decision_or_a_section():
    found, missing = 0, []
    for file in SOURCES:
        for match in CITATION.finditer(one_line(file.read_text(encoding="utf-8"))):
            found += 1
            page = ROOT / "docs/theory" / f"{match['page']}.md"
            if not page.exists():
                missing.append(f"{file.name}: {page.name}")
                continue
            text, last = page.read_text(encoding="utf-8"), max(equations(page), default=0)
            wrong = [n for n in re.findall(r"\((\d+)\)", match["numbers"]) if int(n) > last]
            wrong += [n for n in re.findall(r"decision (\d+)", match["numbers"]) if f"### Decision {n}:" not in text]
            wrong += [t for t in re.findall(r'"([^"]+)"', match["numbers"]) if f"## {t}\n" not in text]
            missing += [f"{file.name}: {page.name}, {n}" for n in wrong]
    assert found > 60 and not missing


def test_nothing_refers_to_papers_outside_the_repository():
    words = re.compile(r"formulation[ -](?:note|[a-z]+-)|solver[ -]note|\b(?:the|annex \w) sheet\b|formulation-beams")

    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in [*SOURCES, *PAGES]
        for match in words.finditer(file.read_text(encoding="utf-8"))
    ]
    assert not found


def test_scripts_of_the_command_line_page_pass_their_checks(tmp_path, capsys, monkeypatch):
    from fem_mbs.cli import main

    page = (ROOT / "docs" / "howto" / "command_line.md").read_text(encoding="utf-8")
    lines = [shlex.split(line, comments=True)[1:] for line in page.splitlines() if line.startswith("fem-mbs run ")]
    assert len(lines) == 2
    monkeypatch.chdir(tmp_path)
    for command, script, *options in lines:
        assert main([command, str(ROOT / script), *options]) == 0, capsys.readouterr().out


def test_the_table_of_supported_features_of_time_steppers_is_that_of_the_code():
    spec = importlib.util.spec_from_file_location("stepper_features", ROOT / "docs" / "stepper_features.py")
    features = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(features)
    page = features.PAGE.read_text(encoding="utf-8")
    shown = page.partition(features.BEGIN)[2].partition(features.END)[0]
    assert shown == features.table(), "write it anew: python docs/stepper_features.py"


def test_the_list_of_elements_is_that_of_the_code():
    spec = importlib.util.spec_from_file_location("element_list", ROOT / "docs" / "element_list.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    shown = re.sub(r"\d(\.\d+)?e[-+]\d+ \|$", "|", page.shown(), flags=re.MULTILINE)  # measured: not the last digit
    assert shown == page.page(lambda name: "").replace("|  |", "| |"), "write it anew: python docs/element_list.py"
