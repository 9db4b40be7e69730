"""Random small models of every element type, run with every option: what becomes of them.

    python tests/helpers/random_models.py 0 300        runs seeds 0 … 299 and prints a table and what went wrong
    python tests/helpers/random_models.py 0 300 MoreauJean     the same with another method of `STEPPERS`

`random_cases` says what is made and what is sensible, `random_judge` what a run may end as.
"""

import multiprocessing
import sys
import warnings
from collections import Counter

from random_cases import build
from random_judge import Outcome, judge

import fem_mbs as fem

LIMIT = 600.0  # s: of a model, with the compilation of everything for the first
TOGETHER = 250  # models of a process


def run(seed, method="DecoupledNSGA", finer=1):
    """Outcome of a seed, ``finer`` times as many steps for the same time. An error from inside while the model is built
    is a fault of this file and is raised."""
    case = build(seed, method)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = case.stepper().run(case.model, case.steps * case.h, case.h / finer)
    except fem.ParameterError as error:
        return Outcome.of(case, "not taken", f"{type(error).__name__}: {error}")
    except fem.FemMbsError as error:
        return Outcome.of(case, "refused", f"{type(error).__name__}: {error}")
    except Exception as error:
        return Outcome.of(case, "wrong", f"{type(error).__name__} from inside: {error}")
    outcome = judge(case, result)
    if outcome.kind == "gain" and any(issubclass(w.category, UserWarning) for w in caught):
        outcome.kind = "warned"
    return outcome


def folds(outcome):
    """True if a model that folds beams beyond the range of one element raised an error, also with steps of h/8.

    No method could run it: it says nothing of the steps.
    """
    if outcome.kind != "refused" or outcome.family != "beams":
        return False
    return "use more elements" in run(int(outcome.case.split()[1].rstrip(",")), finer=8).message


def kind_of_refusal(message):
    """Short text by which refusals are counted."""
    if "after 0 iterations" in message:
        return "after 0 iterations"
    for text in ("position correction", "velocity correction", "smooth motion", "impact problems", "not finite",
                 "rad", "singular", "too deep"):  # fmt: skip
        if text in message:
            return text
    return message.split(":")[0]


def statistics(outcomes):
    """Table of outcomes by family, of all and of sensible models; lines of text."""
    families = sorted({o.family for o in outcomes})
    kinds = ("fine", "warned", "refused", "gain", "wrong", "not taken")
    yield f"{'family':14s} {'models':>7s} " + " ".join(f"{k:>9s}" for k in kinds) + "   sensible: taken, rejected"
    for family in [*families, "all"]:
        mine = [o for o in outcomes if family in (o.family, "all")]
        count = Counter(o.kind for o in mine)
        taken = [o for o in mine if o.sensible and o.kind != "not taken"]
        refused = sum(o.kind == "refused" for o in taken)
        share = 100.0 * refused / max(len(taken), 1)
        yield (f"{family:14s} {len(mine):7d} " + " ".join(f"{count[k]:9d}" for k in kinds)
               + f"   {len(taken):5d}, {refused:3d} = {share:.1f} %")  # fmt: skip
    refusals = Counter(kind_of_refusal(o.message) for o in outcomes if o.kind == "refused")
    yield "rejected: " + ", ".join(f"{text} {n}" for text, n in refusals.most_common())


def work(connection, method):
    """Run the seeds that come through a connection, in another process; first say that it is there."""
    connection.send("ready")
    while (seed := connection.recv()) is not None:
        connection.send(run(seed, method))


def in_process(seeds, limit=LIMIT, method="DecoupledNSGA"):
    """Outcomes of seeds, one after the other, by another process: it is ended where a model takes longer than a limit
    [s], which counts as wrong, and is replaced now and then."""
    context, process = multiprocessing.get_context("spawn"), None
    for k, seed in enumerate(seeds):
        if process is None:
            here, there = context.Pipe()
            process = context.Process(target=work, args=(there, method), daemon=True)
            process.start()
            there.close()
            here.recv()
        fault = f"takes longer than {limit:g} s"
        try:
            here.send(seed)
            outcome = here.recv() if here.poll(limit) else None
        except (EOFError, OSError):
            outcome, fault = None, "ended its process"
        yield Outcome.of(build(seed, method), "wrong", fault) if outcome is None else outcome
        if outcome is None or k % TOGETHER == TOGETHER - 1:
            process.kill()
            process.join()
            process = None
    if process is not None:
        process.kill()
        process.join()


def main():
    outcomes = []
    for outcome in in_process(range(int(sys.argv[1]), int(sys.argv[2])), LIMIT, *sys.argv[3:]):
        outcomes.append(outcome)
        if outcome.kind not in ("fine", "not taken"):
            print(f"{outcome}"[:400].replace("\n", " "), flush=True)
    print("\n".join(statistics(outcomes)))


if __name__ == "__main__":
    main()
