"""Run cases with their methods, and say how they did: a table for people, a file for programs."""

import contextlib
import io
import json
import math
import re
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fem_mbs
from fem_mbs.cases.case import Case, Method
from fem_mbs.checks import Check, Checks, table
from fem_mbs.errors import FemMbsError
from fem_mbs.runtime import overrides
from fem_mbs.sources import cited

WIDTHS = {1: 28, 2: 22, 3: 34}  # of the columns of a list: some 120 in all, and room for the longest method


@dataclass(frozen=True)
class Outcome:
    """What a case gave with a method; ``trouble`` is why it has no checks, or what is wrong with those it has."""

    case: Case
    method: Method
    checks: Checks
    seconds: float
    trouble: str = ""

    @property
    def expected(self) -> list[Check]:
        """Checks that have to hold."""
        return [check for check in self.checks if check.name not in self.method.not_reproduced]

    @property
    def missed(self) -> list[Check]:
        """Checks that this method is known not to pass."""
        return [check for check in self.checks if check.name in self.method.not_reproduced]

    @property
    def worst(self) -> Check | None:
        """The check with the largest error over its tolerance, of those that have to hold."""
        return max(self.expected, key=lambda check: check.ratio, default=None)

    @property
    def ok(self) -> bool:
        """True if all holds that has to, and nothing is said not to be reproduced that is."""
        return not self.trouble and bool(self.expected) and all(check.ok for check in self.expected)


def run_one(case: Case, method: Method) -> Outcome:
    """Run a case with a method; an error becomes its outcome. Files it writes are thrown away."""
    start = time.perf_counter()
    before = overrides.out, overrides.progress
    checks, trouble = Checks(), ""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        overrides.out, overrides.progress = Path(folder), False
        try:
            checks = case.run(method.make())
        except Exception as error:  # a case may count on impacts that a method does not have: the others go on
            trouble = f"{type(error).__name__}: {error}"
        finally:
            overrides.out, overrides.progress = before
    return Outcome(case, method, checks, time.perf_counter() - start, trouble or _stale(method, checks))


def _stale(method, checks):
    """What is said not to be reproduced and is, or is no check of the case."""
    ok = {check.name: check.ok for check in checks}
    unknown = [name for name in method.not_reproduced if name not in ok]
    if unknown:
        return f"not_reproduced names checks that the case does not have: {', '.join(unknown)}"
    passed = [name for name in method.not_reproduced if ok[name]]
    if passed:
        return f"reproduced, though said not to be: {', '.join(passed)}"
    by_reason: dict[str, list[Check]] = {}
    for check in checks:
        if check.name in method.not_reproduced:
            by_reason.setdefault(method.not_reproduced[check.name], []).append(check)
    return "; ".join(text for reason, missed in by_reason.items() if (text := _outdated(reason, missed)))


# --- numbers in reasons -----------------------------------------------------------------------------------------------

# a number, an exponent or a denominator, a unit that scales it; "0.2 to 3.5 %" are two numbers in %
NUMBER = re.compile(
    r"(?<![\w.^/−-])[−-]?(?P<digits>\d+(?:\.\d+)?)(?:/(?P<by>\d+))?(?P<power>e[−-]?\d+)?(?![.\d]*\w)"
    r"(?P<percent>(?=(?: (?:to|and) \d+(?:\.\d+)?)? %))?(?: (?P<prefix>[kmµ])(?:N|m|s|J|rad)\b)?"
)
# words before a number that is no result of the run: a setting, the number that is compared with
CONTEXT = re.compile(r"(?:\b(?:at|for|of|in|with|from)|=) $")
SCALES = {None: 1.0, "k": 1e3, "m": 1e-3, "µ": 1e-6}


def _outdated(reason, missed):
    """Numbers of a reason that are not those of its checks, to the digits written: their values or their errors."""
    stated = [match for match in NUMBER.finditer(reason) if not CONTEXT.search(reason[: match.start()])]
    wrong = [match[0] for match in stated if not any(_agrees(match, check) for check in missed)]
    found = ", ".join(f"{check.name} {check.obtained:.6g}" for check in missed)
    if not stated:
        return f"'{reason}' has no measured number; found: {found}"
    return f"'{reason}' is out of date: {', '.join(wrong)}; found: {found}" if wrong else ""


def _agrees(match, check):
    """True if a number is the value of a check, its error or its relative error, to three quarters of a digit."""
    power = (match["power"] or "").replace("−", "-")
    value, digit = float(match["digits"] + power), 10.0 ** -len(match["digits"].partition(".")[2]) * float("1" + power)
    if match["by"]:
        value, digit = value / int(match["by"]), 1e-3
    scale, error = SCALES[match["prefix"]], abs(check.obtained - check.reference)
    if match["percent"] is not None:
        known = [100 * error / abs(check.reference)] if check.reference else []
    else:
        known = [abs(check.obtained) / scale, error / scale]
    return any(abs(value - number) <= 0.75 * digit for number in known)


def run(todo: Sequence[tuple[Case, Method]], jobs: int = 1) -> list[Outcome]:
    """Run all of them, in ``jobs`` processes; each is announced on the standard error stream of a terminal."""
    if jobs > 1 and len(todo) > 1:
        return _run_in_processes(todo, min(jobs, len(todo)))
    outcomes = []
    for i, (case, method) in enumerate(todo):
        _announce(i, todo)
        outcomes.append(run_one(case, method))
    return outcomes


def _announce(i, todo):
    if sys.stderr.isatty():
        case, method = todo[i]
        print(f"{i + 1}/{len(todo)} {case.name}, {method.label}", file=sys.stderr)


def _run_in_processes(todo, jobs):
    """Outcomes in the order of ``todo``. The long cases begin first: the last ones to run are short."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    order = sorted(range(len(todo)), key=lambda i: todo[i][0].fast)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        futures = {}
        for i in order:
            case, method = todo[i]
            futures[i] = pool.submit(_run_by_name, case.name, case.methods.index(method))
            futures[i].add_done_callback(lambda _, i=i: _announce(i, todo))
        return [Outcome(*todo[i], *futures[i].result()) for i in range(len(todo))]


def _run_by_name(name, number):
    """Checks, seconds and trouble of a registered case, whose functions cannot be sent to another process."""
    from fem_mbs.cases.registry import cases

    case = cases()[name]
    outcome = run_one(case, case.methods[number])
    return outcome.checks, outcome.seconds, outcome.trouble


# --- what is shown ----------------------------------------------------------------------------------------------------


def listed(cases: Sequence[Case]) -> str:
    """Table of cases: name, what, source, methods; below it the publications that they cite."""
    rows = [("case", "what", "source", "methods")]
    for case in cases:
        steppers = ", ".join(dict.fromkeys(method.family for method in case.methods if method.exists))
        rows.append((case.name, case.title, case.source, steppers))
    found = cited("; ".join(case.source for case in cases))
    lines = [textwrap.fill(f"{one.key}: {one.reference}", 120, subsequent_indent="  ") for one in found]
    shown = table(rows, left=(0, 1, 2, 3), most=WIDTHS)
    return "\n".join([shown, "", "sources:", *lines]) if lines else shown


def report(outcomes: Sequence[Outcome]) -> str:
    """Table of outcomes; below it what failed, and what is known not to be reproduced, with its reason."""
    rows, failed, known = [("case", "method", "worst check", "error/tolerance", "", "s")], [], {}
    for one in outcomes:
        worst, name, label = one.worst, one.case.name, one.method.label
        what, ratio = (worst.name, f"{worst.ratio:.2g}") if worst is not None else ("none", "")
        rows.append((name, label, what, ratio, "ok" if one.ok else "FAILED", f"{one.seconds:.1f}"))
        if one.trouble:
            failed.append(f"{name}, {label}: {one.trouble}")
        failed += [f"{name}, {label}: {_compared(check)}" for check in one.expected if not check.ok]
        for check in one.missed:
            reason = f"{name}, {label}: {one.method.not_reproduced[check.name]}"
            known.setdefault(reason, []).append(f"    {_compared(check)}")
    parts = [table(rows, left=(0, 1, 2, 4))]
    parts += ["\n".join(["failed:", *failed])] if failed else []
    lines = [line for reason, checks in known.items() for line in (reason, *checks)]
    parts += ["\n".join(["known not to be reproduced:", *lines])] if known else []
    good, seconds = sum(one.ok for one in outcomes), sum(one.seconds for one in outcomes)
    return "\n\n".join([*parts, f"{good} of {len(outcomes)} ok, {seconds:.0f} s of runs"])


def _compared(check):
    return f"{check.name} {check.obtained:.6g}, reference {check.reference:.6g}, tolerance {check.tolerance}"


# --- what is written --------------------------------------------------------------------------------------------------


def as_data(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything about the outcomes, as JSON has it; numbers that are not finite are null."""
    return {"version": fem_mbs.__version__, "ok": all(one.ok for one in outcomes), "runs": [_data(o) for o in outcomes]}


def _data(one):
    case, method = one.case, one.method
    options = method.options if isinstance(method.options, str) else dict(method.options)
    return {
        "case": case.name, "title": case.title, "source": case.source, "tolerance": case.tolerance, "note": case.note,
        "method": method.stepper, "options": options,
        "ok": one.ok, "seconds": one.seconds, "trouble": one.trouble,
        "checks": [_check_data(check, method) for check in one.checks],
    }  # fmt: skip


def _check_data(check, method):
    numbers = {k: getattr(check, k) for k in ("reference", "obtained", "rel", "abs", "error", "ratio")}
    finite = {k: float(v) if v is not None and math.isfinite(v) else None for k, v in numbers.items()}
    return {"name": check.name, **finite, "ok": check.ok, "not_reproduced": method.not_reproduced.get(check.name)}


def write(outcomes: Sequence[Outcome], file: str | Path) -> None:
    """Write `as_data` to a JSON file."""
    try:
        Path(file).write_text(json.dumps(as_data(outcomes), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise FemMbsError(f"{file} cannot be written: {error.strerror}") from None
