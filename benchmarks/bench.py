"""Speed of models of all sizes, compared with other programs: one table, one JSON file.

    python benchmarks/bench.py                      all cases; peers, where .venv-peers has them (make bench makes it)
    python benchmarks/bench.py --quick              smallest sizes, one round
    python benchmarks/bench.py chain pile --large   these cases, with sizes that only we are asked for
    python benchmarks/bench.py --write              writes benchmarks/results/<date>-<commit>.json as well

Each run is a process of its own. Programs take turns, and medians over the rounds count: what else the machine does
falls on all of them. Times are processor time of the stepping loop, without set-up; cold starts have it all. Ratios are
seconds of a program for a simulated second over ours.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import bench_cases as cases
import bench_tables as tables
import building
import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

PEERS = ROOT / ".venv-peers" / ("Scripts" if os.name == "nt" else "bin") / "python"
OWN = "fem_mbs"
ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
LIMIT = 600  # s, of a run


def ask(python, script, request, **environment):
    """Answer of a run in a process of its own; {"failed": why} if there is none."""
    variables = {**os.environ, **ONE_THREAD, **environment}
    try:
        done = subprocess.run([str(python), str(script)], input=json.dumps(request), capture_output=True, text=True,
                              env=variables, timeout=LIMIT)  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {LIMIT} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def ask_own(request, **environment):
    return ask(sys.executable, HERE / "own_runs.py", request, **environment)


def ask_peer(package, request, **environment):
    return ask(PEERS, HERE / "peers" / f"run_{package}.py", request, **environment)


def installed():
    """Packages of peers -> version, those that can be imported; {} without their environment."""
    if not PEERS.exists():
        return {}
    packages = [line for line in (HERE / "peers" / "requirements.txt").read_text().split("\n") if line[:1].isalpha()]
    code = f"""if True:
        import json
        from importlib.metadata import version, PackageNotFoundError
        found = {{}}
        for name in {packages!r}:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                pass
        print(json.dumps(found))"""
    done = subprocess.run([str(PEERS), "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def summary(answers):
    """One line of a case from the answers of all rounds: medians of times, the rest of the last."""
    for answer in answers:
        if "failed" in answer:
            return {"refused": answer["failed"]}
    last = answers[-1]
    seconds = statistics.median(answer["seconds"] for answer in answers)
    line = {
        "method": last["method"], "steps": last["steps"], "simulated": last["simulated"], "seconds": seconds,
        "all_seconds": [answer["seconds"] for answer in answers],
        "us_per_step": 1e6 * seconds / last["steps"], "seconds_per_second": seconds / last["simulated"],
        "memory": last["memory"], "memory_before_model": last["before_model"],
    }  # fmt: skip
    kept = ("iterations", "factorisations", "sweeps", "unsolved", "velocities", "rows", "contacts")
    return line | {name: last[name] for name in kept if name in last}


def shares(answer):
    """What a line says of a profile: shares of a step, factorisations and linear solves per step."""
    if "profile" not in answer:
        return {}
    found = answer["profile"]
    return {"shares": found["shares"], "factorisations": sum(found["factorisations"]),
            "iterations": sum(found["solutions"])}  # fmt: skip


def reference(name, size):
    """Place at the end of the run of ours from which errors are counted; None: there is none."""
    request = cases.reference_request(name, size)
    return None if request is None else _place(json.dumps(request))


@cache
def _place(request):
    """Cases and sizes share the run."""
    return ask_own(json.loads(request)).get("place")


def asked_peers(case, size, packages):
    """Peers that run a case at a size, and lines of the others."""
    able, refused = [], {}
    for peer in case.peers if size not in case.large else ():
        if peer.package not in packages:
            refused[peer.name] = {"refused": "not installed"}
        elif size > peer.most:
            refused[peer.name] = {"refused": f"not asked: {peer.why}"}
        else:
            able.append(peer)
    return able, refused


def measure(name, size, rounds, packages):
    """Lines of a case at a size: program -> line of results."""
    case = cases.CASES[name]
    own = {"size": size, **cases.CASES[name].request(size)}
    own_request = {key: own[key] for key in ("case", "size", "h", "steps", "warm")}  # we build the model ourselves
    known = reference(name, size)
    able, lines = asked_peers(case, size, packages)
    answers = {OWN: [], **{peer.name: [] for peer in able}}
    for _ in range(rounds):
        answers[OWN].append(ask_own(own_request))
        for peer in able:
            if not any("failed" in answer for answer in answers[peer.name]):
                answers[peer.name].append(ask_peer(peer.package, {**own, **peer.options}))
    for who, found in answers.items():
        line = lines[who] = summary(found)
        if "refused" not in line:
            known_values = {**own, "reference": known}
            line["quality"] = {title: get(found[-1], known_values) for title, get in case.quality.items()}
    lines[OWN] |= shares(ask_own({**own_request, "profile": True}))
    base = lines[OWN].get("seconds_per_second")
    for line in lines.values():
        if base and "refused" not in line:
            line["ratio"] = line["seconds_per_second"] / base
    return {"case": name, "title": case.title, "size": size, "h": own["h"], "lines": {OWN: lines.pop(OWN), **lines}}


def growth(rows):
    """Case -> program -> exponent of time per step over size, from the two largest sizes and from all."""
    found = {}
    for name in dict.fromkeys(row["case"] for row in rows):
        curves = tables.curves([row for row in rows if row["case"] == name])
        for who, points in curves.items():
            if len(points) > 1:
                n, us = np.log(np.array(points)).T
                last = (us[-1] - us[-2]) / (n[-1] - n[-2])
                found.setdefault(name, {})[who] = {"all": float(np.polyfit(n, us, 1)[0]), "last": float(last)}
    return found


def starts(packages, cold=True):
    """Cold and warm starts: ours with the model of the README, peers up to the end of their first step."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        fresh = {"XDG_CACHE_HOME": folder, "FEM_MBS_CACHE": ""}
        kinds = ("cold", "warm") if cold else ("warm",)
        found[OWN] = {kind: ask_own({"case": "start"}, **(fresh if cold else {})) for kind in kinds}
        for peer in cases.START:
            if peer.package not in packages:
                found[peer.name] = {kind: {"failed": "not installed"} for kind in kinds}
                continue
            make = cases.beam if peer.package == "pyelastica" else cases.chain
            request = {**make(10), "case": "start"}
            numba = {"NUMBA_CACHE_DIR": str(Path(folder) / peer.package)} if cold else {}
            found[peer.name] = {kind: ask_peer(peer.package, request, **numba) for kind in kinds}
    return found


def built(rounds, quick):
    """Processor time [s] of building and compiling models, of ours: medians of rows in turn."""
    sizes = building.SIZES[:1] if quick else building.SIZES
    answers = {(model, size): [] for model in building.MODELS for size in sizes}
    for _ in range(rounds):
        for (model, size), found in answers.items():
            found.append(ask_own({"case": "building", "model": model, "size": size}))
    return [
        {"model": model, "size": size}
        | {part: statistics.median(answer[part] for answer in found) for part in ("build", "compile")}
        for (model, size), found in answers.items()
    ]


def accuracy(packages, rounds, quick):
    """Case -> list of curves {label, ours, points: [{size, h, seconds, error}]}; programs take turns."""
    found = {}
    for name, curves in cases.ACCURACY.items():
        known = reference(name, 20) if name == "beam" else None
        able = [curve for curve in curves if curve[1] is None or curve[1] in packages]
        answers = {}
        for _ in range(rounds):
            for label, package, points, options in able:
                for point in points[:2] if quick else points:
                    request = {**cases.accuracy_request(name, *point), **options}
                    answer = ask_own(request) if package is None else ask_peer(package, request)
                    answers.setdefault((label, point), []).append(answer)
        found[name] = [
            {"label": label, "ours": package is None, "points": _points(name, known, label, answers)}
            for label, package, _, _ in able
        ]
    return found


def _points(name, known, label, answers):
    """Points of a curve, those that came to their end."""
    error, points = cases.distance_of_top if name == "top" else cases.from_reference, []
    for (whose, (size, h)), found in answers.items():
        good = [answer for answer in found if "place" in answer]
        if whose == label and good:
            seconds = statistics.median(answer["seconds"] for answer in good)
            points.append({"size": size, "h": h, "seconds": seconds, "error": error(good[-1], {"reference": known})})
    return points


def machine():
    """Processor and number of cores; no names of machines or folders."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"processor": model, "cores": os.cpu_count(), "system": platform.system()}


def commit():
    """Short name of the commit, with + where files were changed since."""
    try:
        name, changed = (
            subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (("rev-parse", "--short=8", "HEAD"), ("status", "--porcelain", "-uno"))
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name + ("+" if changed else "")


def session(names, *, quick=False, large=False, rounds=3, packages=None, extras=True, report=print):
    """Measure cases; the dict that is written as JSON, see `bench_tables`.

    Parameters
    ----------
    names : sequence of str, of `bench_cases.CASES`
    quick, large : bool
        Smallest sizes only; sizes that only we are asked for too.
    rounds : int
        In which all programs take turns.
    packages : dict of name -> version
        Peers to be asked.
    extras : bool
        Starts and error over cost too.
    report : callable
        Is given a table of each row when it is ready.
    """
    packages, rows = packages or {}, []
    for name in names:
        case = cases.CASES[name]
        for size in (*(case.quick if quick else case.sizes), *(case.large if large else ())):
            rows.append(measure(name, size, rounds, packages))
            report(tables.terminal(rows[-1]))
    now = datetime.datetime.now(datetime.timezone.utc)
    found = {
        "date": f"{now:%Y-%m-%d}", "time": f"{now:%H:%M}", "commit": commit(), "machine": machine(),
        "python": platform.python_version(), "versions": packages, "rounds": rounds, "quick": quick,
        "rows": rows, "growth": growth(rows),
    }  # fmt: skip
    if extras:
        found["start"] = starts(packages, cold=not quick)
        found["building"] = built(rounds, quick)
        found["accuracy"] = accuracy(packages, rounds, quick)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="case", help=f"of {', '.join(cases.CASES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="smallest sizes, one round")
    parser.add_argument("--large", action="store_true", help="sizes that only we are asked for, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--write", action="store_true", help="benchmarks/results/<date>-<commit>.json")
    options = parser.parse_args()
    unknown = set(options.rows) - set(cases.CASES)
    if unknown:
        parser.error(f"no case is called {', '.join(sorted(unknown))}; there are {', '.join(cases.CASES)}")
    packages = {} if options.no_peers else installed()
    named = ", ".join(f"{name} {version}" for name, version in packages.items())
    print(f"peers: {named or 'none; make .venv-peers/ready installs them'}", flush=True)
    found = session(
        options.rows or list(cases.CASES), quick=options.quick, large=options.large, packages=packages,
        rounds=1 if options.quick else options.rounds, extras=not options.rows,
        report=lambda text: print(text, flush=True),
    )  # fmt: skip
    print(tables.summary(found))
    if options.write:
        target = HERE / "results" / f"{found['date']}-{found['commit'].rstrip('+')}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"written: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
