"""Checks pass within the tolerance, fail outside, and end a script with the right exit code."""

import math

import pytest

from fem_mbs.checks import Check, Checks
from fem_mbs.errors import FemMbsError


@pytest.mark.parametrize(
    "obtained, options, ok",
    [
        (10.0099, {"rel": 1e-3}, True),
        (10.0101, {"rel": 1e-3}, False),
        (9.9, {"abs": 0.11}, True),
        (9.9, {"abs": 0.09}, False),
        (10.5, {"rel": 0.1, "abs": 1e-9}, True),
        (math.nan, {"abs": 1e9}, False),
        (math.inf, {"rel": 1e9}, False),
    ],
)
def test_a_check_holds_exactly_when_the_error_is_within_the_tolerance(obtained, options, ok):
    assert Check("force [N]", reference=10.0, obtained=obtained, **options).ok is ok


@pytest.mark.parametrize(
    "obtained, options, ratio",
    [
        (10.2, {"abs": 0.4}, 0.5),
        (10.2, {"rel": 0.01}, 2.0),
        (10.2, {"rel": 0.01, "abs": 0.4}, 0.5),  # either is enough
        (10.0, {"abs": 0.0}, 0.0),
        (10.2, {"abs": 0.0}, math.inf),
        (math.nan, {"abs": 1.0}, math.inf),
    ],
)
def test_error_over_tolerance_is_at_most_one_exactly_when_a_check_holds(obtained, options, ratio):
    check = Check("force [N]", reference=10.0, obtained=obtained, **options)
    assert check.ratio == pytest.approx(ratio) and check.ok is (check.ratio <= 1.0)


@pytest.mark.parametrize("options", [{}, {"rel": 1e-3}])
def test_a_check_that_can_never_fail_or_hold_is_rejected(options):
    with pytest.raises(FemMbsError, match=r"check 'gap \[m\]'.*abs="):
        Check("gap [m]", reference=0.0, obtained=0.0, **options)


def test_a_failed_check_ends_the_script_with_exit_code_1_after_the_table(capsys):
    checks = Checks(Check("a", reference=1, obtained=1, rel=1e-6), Check("b", reference=1, obtained=2, abs=0.5))
    with pytest.raises(SystemExit) as stop:
        checks.print()
    assert stop.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["quantity", "reference", "obtained", "error", "tolerance"]
    assert lines[2].endswith("ok") and lines[3].endswith("FAILED")
    assert [check.name for check in checks.failed] == ["b"]


def test_checks_that_hold_let_the_script_continue(capsys):
    Checks(Check("gap [m]", reference=0.0, obtained=1e-14, abs=1e-12)).print()
    assert "1.00e-14" in capsys.readouterr().out
