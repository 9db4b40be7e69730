"""``fem-mbs validate``: every case says where it is from and why, runs with its methods, and is correct."""

import json
import math
import re

import pytest

import fem_mbs as fem
from fem_mbs.cases import registry, validate
from fem_mbs.cases.case import OWN, STATIC, Case, Method
from fem_mbs.cases.scripts import folder, title
from fem_mbs.cli import main
from fem_mbs.errors import FemMbsError
from fem_mbs.runtime import overrides
from fem_mbs.solvers import STEPPERS

CASES = registry.cases()
RUNS = registry.runs(list(CASES.values()))
LONG = {"roller_crank"}  # tests/project/test_examples.py runs it, with the default


def label(run):
    return f"{run[0].name}, {run[1].label}"


def runs_as_script(run):
    """tests/project/test_examples.py runs it, with files and all."""
    return (folder() / f"{run[0].name}.py").exists() and run[1].options == OWN


def passes(run):
    outcome = validate.run_one(*run)
    assert outcome.ok, f"\n{validate.report([outcome])}"


def chosen():
    """Of fast cases two methods: the first, and one of the others in turn, so that every method has its cases."""
    found = []
    for number, case in enumerate(case for case in CASES.values() if case.fast):
        own = [run for run in RUNS if run[0] is case and not runs_as_script(run)]
        others = own[1:]
        found += own[:1] + ([others[number % len(others)]] if others else [])
    return found


OFTEN = [run for run in chosen() if run[0].name not in LONG]


@pytest.mark.parametrize("run", OFTEN, ids=label)
def test_a_case_gives_its_reference_values(run):
    passes(run)


def test_every_stepper_is_among_the_runs_that_are_made_often():
    assert {method.stepper for _, method in OFTEN} == {method.stepper for _, method in RUNS}


@pytest.mark.slow
@pytest.mark.parametrize("run", [r for r in RUNS if r not in OFTEN and not runs_as_script(r)], ids=label)
def test_a_long_case_gives_its_reference_values(run):
    passes(run)


@pytest.mark.parametrize("path", sorted(folder().glob("*.py")), ids=lambda path: path.stem)
def test_an_example_draws_only_where_a_picture_is_asked_for(path):
    """The registry runs examples without files: `picture` is None there."""
    text = path.read_text(encoding="utf-8")
    assert "picture=" not in text.partition("def main(")[2].partition("):")[0] or "if picture is not None:" in text


# --- what is registered -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_a_case_says_what_it_is_where_from_why_these_tolerances_and_with_what(case):
    assert all(len(text) > 3 for text in (case.title, case.source)) and len(case.tolerance) > 10
    assert len({method.label for method in case.methods}) == len(case.methods) > 0
    for method in case.methods:
        for check, reason in method.not_reproduced.items():
            assert len(reason) > 15 and any(c.isdigit() for c in reason), f"{check}: say what was measured"


def test_every_example_is_a_case():
    assert {path.stem for path in folder().glob("*.py")} <= set(CASES)


def test_every_stepper_of_this_version_has_a_case_and_options_that_it_takes():
    for stepper in STEPPERS:
        assert any(method.stepper == stepper for _, method in RUNS), stepper
    for _, method in RUNS:
        made = method.make()
        assert made is None or type(made) is STEPPERS[method.family]


def test_a_method_that_this_version_does_not_have_is_left_out_until_it_does(monkeypatch):
    class Later(fem.MoreauJean):
        """A method of a later version."""

    case = case_of(lambda stepper: checks(0.0 if type(stepper) is Later else 1.0), Method("Later", {"theta": 1.0}))
    assert registry.runs([case]) == [] and "Later" not in validate.listed([case])
    monkeypatch.setitem(STEPPERS, "Later", Later)
    assert [validate.run_one(*run).ok for run in registry.runs([case])] == [True]


def test_titles_of_scripts_are_what_stands_before_the_colon():
    assert title("bouncing_ball") == "Bouncing ball"


def test_a_case_that_does_not_say_where_it_is_from_cannot_be_made():
    for missing in ("source", "tolerance", "title"):
        with pytest.raises(FemMbsError, match=f"made up.*{missing}"):
            case_of(checks, **{missing: " "})
    with pytest.raises(FemMbsError, match="methods"):
        Case("made up", "a", "b", "c", checks, ())


# --- processes --------------------------------------------------------------------------------------------------------


def test_cases_in_processes_have_the_outcomes_of_one_process(capsys):
    names = ["bouncing-tip", "negrut2018-incline", "roll_up"]
    tables = []
    for jobs in ("1", "2"):
        assert main(["validate", *names, "--jobs", jobs]) == 0
        lines = capsys.readouterr().out.splitlines()[2:-2]
        tables.append([line.rsplit(maxsplit=1)[0] for line in lines])  # without seconds
    assert len(tables[0]) >= 3 and tables[0] == tables[1]


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5"])
def test_a_number_of_processes_is_a_whole_number_above_zero(jobs, capsys):
    with pytest.raises(SystemExit):
        main(["validate", "roll_up", "--jobs", jobs])
    assert "processes" in capsys.readouterr().err


# --- outcomes ---------------------------------------------------------------------------------------------------------


def checks(*obtained, **_):
    values = obtained if obtained and not isinstance(obtained[0], (type(None), fem.MoreauJean)) else (0.5,)
    return fem.Checks(*[
        fem.Check(f"value {i}", reference=0.0, obtained=value, abs=1.0) for i, value in enumerate(values)
    ])  # fmt: skip


def case_of(run, *methods, **texts):
    texts = {"title": "a title", "source": "a source", "tolerance": "none is needed"} | texts
    return Case("made up", run=run, methods=methods or (Method(STATIC),), **texts)


def outcome_of(run, *methods):
    case = case_of(run, *methods)
    return validate.run_one(case, case.methods[0])


def test_the_worst_check_is_the_one_nearest_to_its_tolerance_or_farthest_beyond():
    outcome = outcome_of(lambda _: checks(0.2, -0.9, 0.5))
    assert outcome.ok and outcome.worst.name == "value 1" and outcome.worst.ratio == pytest.approx(0.9)
    outcome = outcome_of(lambda _: checks(0.2, 3.0, math.nan))
    assert not outcome.ok and outcome.worst.name == "value 2" and outcome.worst.ratio == math.inf
    assert not outcome_of(lambda _: fem.Checks()).ok  # a case that checks nothing


def test_what_a_method_is_known_not_to_reproduce_is_reported_and_has_to_stay_true():
    method = Method(STATIC, OWN, {"value 1": "it gives 3"})
    missed = outcome_of(lambda _: checks(0.0, 3.0), method)
    assert missed.ok and missed.worst.name == "value 0"
    assert "not to be reproduced" in (text := validate.report([missed])) and "it gives 3" in text
    reproduced = outcome_of(lambda _: checks(0.0, 0.3), method)
    assert not reproduced.ok and "value 1" in reproduced.trouble
    renamed = outcome_of(lambda _: checks(0.0), method)
    assert not renamed.ok and re.search("not have: value 1", renamed.trouble)


@pytest.mark.parametrize(
    "obtained, reason, wrong",
    [
        (3.0, "it gives 3 for 2 with 8 beams at 10 ms", ""),
        (4.0, "it gives 3 for 2", "3"),
        (19.0, "12 for 6, with 1.24 on average", "12"),
        (-0.00218, "sinks in: −2.2e-3 m at 2 ms", ""),
        (-0.00218, "sinks in: 2.2 mm", ""),
        (-0.00218, "sinks in: −2.3e-3 m", "−2.3e-3"),
        (1.1, "the slower speed: 1.10 m/s", ""),
        (1.333, "4/3 m/s for 2", ""),
        (1.31, "4/3 m/s for 2", "4/3"),
        (3.0, "exact in another limit", "no measured number"),
        (3.0, "exact at 10 ms", "no measured number"),
    ],
)
def test_numbers_of_a_reason_are_those_that_are_measured(obtained, reason, wrong):
    trouble = outcome_of(lambda _: fem.Checks(fem.Check("depth [m]", reference=0.0, obtained=obtained, abs=1e-6),
                                              fem.Check("other [m]", reference=1.0, obtained=1.0, abs=1e-6)),
                         Method(STATIC, OWN, {"depth [m]": reason})).trouble  # fmt: skip
    assert bool(trouble) == bool(wrong) and wrong in trouble
    assert not trouble or f"{obtained:.6g}" in trouble


def test_errors_in_per_cent_and_ranges_belong_to_several_checks():
    made = [
        fem.Check(f"force {i}", reference=10.0, obtained=10.0 + x, abs=1e-6) for i, x in enumerate((0.02, 0.35, 0.1))
    ]

    def trouble(reason):
        names = {check.name: reason for check in made}
        return outcome_of(lambda _: fem.Checks(*made, *checks(0.0)), Method(STATIC, OWN, names)).trouble

    assert trouble("of first order: 0.2 to 3.5 %") == "" and "0.3" in trouble("of first order: 0.3 to 3.5 %")
    assert trouble("of first order: 0.35 N") == ""


def test_a_run_that_fails_is_an_outcome_and_the_others_continue():
    def cannot_be_run(_):
        fem.Model("empty").compile()

    def has_no_impacts(_):
        return checks([][0])

    made = [case_of(run) for run in (cannot_be_run, has_no_impacts, lambda _: checks(0.0))]
    outcomes = validate.run([(case, case.methods[0]) for case in made])
    assert [one.ok for one in outcomes] == [False, False, True]
    text = validate.report(outcomes)
    assert "ModelError" in text and "IndexError" in text and "1 of 3 ok" in text


def test_a_run_leaves_no_files_and_no_settings(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert validate.run_one(*next(run for run in RUNS if run[0].name == "roll_up")).ok
    assert list(tmp_path.iterdir()) == [] and overrides.out is None and overrides.progress is None
    assert capsys.readouterr().out == ""


# --- command line -----------------------------------------------------------------------------------------------------


def test_the_list_shows_every_case_with_source_and_methods_and_runs_nothing(capsys, monkeypatch):
    monkeypatch.setattr(validate, "run_one", None)
    assert main(["validate", "--list"]) == 0
    shown, _, references = capsys.readouterr().out.partition("\n\nsources:\n")
    lines = shown.splitlines()[2:]
    first = [i for i, line in enumerate(lines) if not line.startswith(" ")]
    assert [lines[i].split()[0] for i in first] == list(CASES)
    assert max(map(len, [*lines, *references.splitlines()])) <= 120
    assert (
        "Bruls2014: O. Brüls, V. Acary, A. Cardona (2014): Simultaneous" in references and "Hertz1882" not in references
    )
    start = next(i for i in first if lines[i].startswith("bruls2014-ball "))
    ball = " ".join(lines[start : next(i for i in first if i > start)])
    assert (
        "Bruls2014, 10.1" in ball
        and "bruls2014.py" in ball
        and "DecoupledNSGA, MoreauJean," in ball
        and "LobattoIIIAB" in ball
    )
    assert main(["validate", "--list", "--method", "MoreauJean"]) == 0
    assert "bend_45" not in capsys.readouterr().out


def test_a_case_runs_with_two_methods_and_every_check_is_in_the_file(tmp_path, capsys):
    file = tmp_path / "checks.json"
    command = ["validate", "capobianco2021-ball-rolls", "--method", "DecoupledNSGA", "MoreauJean", "--json", str(file)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "2 of 2 ok" in out and "DecoupledNSGA rho_inf=0.5" in out and "MoreauJean theta=0.5 projection=True" in out
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data["ok"] is True and data["version"] == fem.__version__
    assert [run["method"] for run in data["runs"]] == ["DecoupledNSGA", "MoreauJean"]
    for run in data["runs"]:
        assert run["source"] == CASES[run["case"]].source and run["tolerance"] == CASES[run["case"]].tolerance
        speed = next(check for check in run["checks"] if check["name"] == "speed [m/s]")
        assert speed["ok"] is True and speed["reference"] == pytest.approx(-2 / 7)
        assert speed["obtained"] == pytest.approx(-2 / 7) and speed["ratio"] <= 1 and speed["abs"] == 1e-8


def test_a_check_that_fails_gives_exit_code_1_and_its_numbers(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(registry.cases(), "wrong", case_of(lambda _: checks(math.nan, 2.5)))
    file = tmp_path / "checks.json"
    assert main(["validate", "wrong", "--json", str(file)]) == 1
    out = capsys.readouterr().out
    assert "FAILED" in out and "value 1 2.5, reference 0, tolerance 1" in out and "0 of 1 ok" in out
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data["ok"] is False and [check["obtained"] for check in data["runs"][0]["checks"]] == [None, 2.5]


@pytest.mark.parametrize(
    "command, message",
    [
        (["bouncing_bal"], "did you mean 'bouncing_ball'"),
        (["Bruls2014"], "there are: bruls2014-ball, bruls2014-pendulum, bruls2014-bar, "),
        (["--method", "MoreauJan"], "did you mean 'MoreauJean'"),
        (["--method", "MoreauJean", "bend_45"], "is called 'bend_45'"),
        (["bend_45", "--method", "MoreauJean"], "nothing to run"),
        (["roll_up", "--json", "/nowhere/at/all.json"], "cannot be written"),
    ],
)
def test_what_is_not_there_is_answered_with_what_was_meant(command, message, capsys):
    assert main(["validate", *command]) == 2
    assert message in capsys.readouterr().err


def test_fast_leaves_the_long_cases_out(capsys):
    assert main(["validate", "--list", "--fast"]) == 0
    lines = capsys.readouterr().out.partition("\n\nsources:\n")[0].splitlines()[2:]
    shown = {line.split()[0] for line in lines if not line.startswith(" ")}
    assert shown == {case.name for case in CASES.values() if case.fast} and 10 < len(shown) < len(CASES)
