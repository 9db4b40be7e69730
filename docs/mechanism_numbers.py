"""Write `docs/mechanism_numbers.inc`: numbers of published mechanisms and structures with their references.

python docs/mechanism_numbers.py            takes a minute; run it again after changes of the cases
"""

from pathlib import Path

from fem_mbs.cases.registry import cases
from fem_mbs.cases.validate import run_one

NAMES = (  # cases of `fem-mbs validate`, in the order of the page
    "iftomm-a01-pendulum", "iftomm-a02-two-windows", "iftomm-a02-hinges", "iftomm-a03-squeezer", "iftomm-a04-bricard",
    "iftomm-a05-governor", "iftomm-slider-crank", "flexible-slider-crank", "four-bar-tilted-hinge",
    "crank-buckles-beam", "spin-up-beam", "spun-rods", "flying-spaghetti-plane", "flying-spaghetti",
    "right-angle-cantilever", "laval-rotor", "laval-rotor-passage", "rotating-shaft", "rotor-frequencies",
    "rotor-critical-speeds", "rotor-unbalance", "rotor-unbalance-uneven", "elastica", "princeton-beam", "bend_45",
    "euler-columns", "lateral-buckling-strip", "shafts-under-torque", "right-angle-frame",
    "right-angle-frame-full-turn", "right-angle-frame-branch", "ring-twist", "lee-frame", "deep-arch", "beck-column",
)  # fmt: skip
FIRST = "DecoupledNSGA"  # the method shown, if the case has it
MOST = 8  # checks of one case that are shown


def rows(name):
    """Lines of the table for one case, with one method."""
    case = cases()[name]
    methods = [method for method in case.methods if method.exists]
    outcome = run_one(case, next((one for one in methods if one.stepper == FIRST), methods[0]))
    label, lines = f"{case.title} (`{name}`)", []
    checks = list(outcome.checks)
    shown = checks if len(checks) <= MOST else sorted(checks, key=lambda one: -one.ratio)[:MOST]
    for check in shown:
        numbers = f"{check.reference:.6g} | {check.obtained:.6g} | {check.tolerance}"
        lines.append(f"| {label} | {check.name.replace('|', chr(92) + '|')} | {numbers} |")
        label = ""
    if len(checks) > MOST:
        lines.append(f"| | {len(checks) - MOST} more, each nearer to its reference for its tolerance | | | |")
    return lines


if __name__ == "__main__":
    head = ["| case | quantity | reference | obtained | tolerance |", "|---|---|---|---|---|"]
    lines = []
    for name in NAMES:
        lines += rows(name)
        print(name, flush=True)
        Path(__file__).with_name("mechanism_numbers.inc").write_text(
            "\n".join([*head, *lines]) + "\n", encoding="utf-8"
        )
