"""Tables of what `bench.py` has measured: for the terminal, and as Markdown for docs/benchmarks.md.

    python benchmarks/bench_tables.py        writes docs/benchmarks_*.inc from the newest file of benchmarks/results

A measured session is a dict: date, time (UTC), commit, machine, versions, rounds; ``rows``, each with case, size, h and
``lines``: program -> method, seconds_per_second, us_per_step, iterations and factorisations per step, shares,
memory [MB], ratio to ours, quality, or ``refused``: why there is none; ``growth``, ``start``, ``building`` and
``accuracy``. Rows of cases that were measured later, alone, have a date and a commit of their own.
"""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = "fem_mbs"
SHARES = ("assembly", "factorisation", "solution", "contacts", "records", "rest")


def newest():
    """The newest session that was kept, of those that were about all cases."""
    files = (ROOT / "benchmarks" / "results").glob("*.json")
    sessions = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    whole = [session for session in sessions if "start" in session and not session["quick"]]
    return max(whole, key=lambda session: (session["date"], session["time"]))


def curves(rows):
    """Program -> [(size, µs per step of ours: seconds per simulated second times h)], of rows of one case."""
    found = {}
    for row in rows:
        for who, line in row["lines"].items():
            if "refused" not in line and row["size"] > 0:
                found.setdefault(who, []).append((row["size"], 1e6 * line["seconds_per_second"] * row["h"]))
    return found


def number(value, digits=3):
    """A number as it is shown; an empty cell if there is none."""
    if value is None:
        return ""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        text = f"{value:.{digits}g}"
        return f"{value:,.0f}" if "e" in text or abs(value) >= 1000 else text
    return f"{value:.1e}"


def cells(who, line, h):
    """Texts of a line: program, µs of a step h, ratio, iterations, factorisations, MB, quality, method."""
    if "refused" in line:
        return [who, "", "", "", "", "", "", line["refused"]]
    quality = ", ".join(f"{title} {number(value, 4)}" for title, value in line["quality"].items() if value is not None)
    own_step = 1e6 * line["seconds_per_second"] * h
    counted = [number(line.get("iterations")), number(line.get("factorisations"))]
    if "sweeps" in line:
        counted = [f"{number(line['sweeps'])} sweeps", "0"]
    return [who, number(own_step), number(line.get("ratio"), 2), *counted, number(line["memory"]), quality,
            line["method"]]  # fmt: skip


HEAD = ["", "µs per h", "times ours", "iterations", "factorisations", "MB", "kept", "method"]


def shares_text(line):
    """Shares of a step as one text."""
    return ", ".join(f"{name} {100 * line['shares'][name]:.0f} %" for name in SHARES if line["shares"][name] > 5e-3)


def terminal(row):
    """A row as text."""
    texts = [HEAD, *(cells(who, line, row["h"]) for who, line in row["lines"].items())]
    widths = [max(len(text[k]) for text in texts) for k in range(len(HEAD))]
    lines = ["  ".join(t.ljust(w) if k in (0, 6, 7) else t.rjust(w) for k, (t, w) in enumerate(zip(text, widths)))
             for text in texts]  # fmt: skip
    own = row["lines"][OWN]
    parts = [f"    {shares_text(own)}"] if "shares" in own else []
    return "\n".join([f"\n{row['title']}: {row['size']:,}, h = {row['h']:g} s", *lines, *parts])


def start_rows(start):
    """Cold and warm starts: [program, cold, warm, what] as texts."""
    found = []
    for who, kinds in start.items():
        texts = [number(kinds[kind].get("seconds")) if kind in kinds else "" for kind in ("cold", "warm")]
        last = kinds["warm"]
        what = last.get("failed") or (last["method"] if who == OWN else "import and the first step")
        found.append([who, *texts, what])
    return found


def building_rows(rows):
    """Set-up of models: [model, size, µs for each body, s of compile()] as texts."""
    return [
        [row["model"], f"{row['size']:,}", number(1e6 * row["build"] / row["size"]), number(row["compile"])]
        for row in rows
    ]


def growth_text(growth):
    """Exponents as lines of text."""
    lines = []
    for name, programs in growth.items():
        texts = (f"{who} {found['all']:.2f} (last {found['last']:.2f})" for who, found in programs.items())
        lines.append(f"{name}: {', '.join(texts)}")
    return "\n".join(lines)


def summary(session):
    """What is printed at the end: growth, starts."""
    parts = [f"\ntime of a step grows with the size to the power\n{growth_text(session['growth'])}"]
    if "start" in session:
        rows = [f"{who:12s} cold {cold:>6s}  warm {warm:>6s}  {what}"
                for who, cold, warm, what in start_rows(session["start"])]  # fmt: skip
        parts.append("\nstart, processor seconds\n" + "\n".join(rows))
    for model, size, build, seconds in building_rows(session.get("building", [])):
        parts.append(f"building {model:8s} {size:>7s}  {build:>5s} µs each  compile() {seconds} s")
    for name, found in session.get("accuracy", {}).items():
        parts.append(f"\n{name}: error [m] at processor seconds")
        for curve in found:
            points = ", ".join(f"{p['error']:.1e} at {number(p['seconds'])}" for p in curve["points"])
            parts.append(f"{curve['label']:28s} {points}")
    return "\n".join(parts)


# --- pages ------------------------------------------------------------------------------------------------------------


def markdown(head, rows):
    """A table as Markdown, of texts."""
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows))


def machine_text(session):
    """Where and when, a sentence."""
    machine, versions = session["machine"], session["versions"]
    peers = ", ".join(f"{name} {version}" for name, version in versions.items()) or "no peers"
    rows = [*session["rows"], *({"case": "building", **row} for row in session.get("building", []))]
    later = {(row["case"], row["date"], row["commit"]) for row in rows if "commit" in row}
    others = "".join(f" Later: {case}, {date} at commit {commit}." for case, date, commit in sorted(later))
    return (
        f"Measured {session['date']} at commit {session['commit']}: {machine['processor']}, {machine['cores']} cores, "
        f"one thread, Python {session['python']}; medians of {session['rounds']}; {peers}.{others}"
    )


def speed_table(session):
    """All rows: own and peers."""
    head = ["model", "size", "program", *HEAD[1:]]
    lines = []
    for row in session["rows"]:
        for k, (who, line) in enumerate(row["lines"].items()):
            lines.append([*(("", "") if k else (row["title"], f"{row['size']:,}")), *cells(who, line, row["h"])])
    return markdown(head, lines)


def shares_table(session):
    """Where the time of our steps goes."""
    lines = []
    for row in session["rows"]:
        own = row["lines"][OWN]
        if "shares" in own:
            lines.append([row["title"], f"{row['size']:,}", number(own["us_per_step"]),
                          *(f"{100 * own['shares'][name]:.0f}" for name in SHARES)])  # fmt: skip
    return markdown(["model", "size", "µs", *(f"{name} [%]" for name in SHARES)], lines)


def growth_table(session):
    """Exponents."""
    lines = [
        [name, who, f"{found['all']:.2f}", f"{found['last']:.2f}"]
        for name, programs in session["growth"].items()
        for who, found in programs.items()
    ]
    return markdown(["model", "program", "all sizes", "the two largest"], lines)


def start_table(session):
    """Cold and warm starts."""
    return markdown(["program", "cold [s]", "warm [s]", "what"], start_rows(session.get("start", {})))


def building_table(session):
    """Building and compiling models."""
    head = ["model", "bodies", "building, µs for each", "compile() [s]"]
    return markdown(head, building_rows(session.get("building", [])))


PAGES = {
    "speed": speed_table, "shares": shares_table, "growth": growth_table, "start": start_table,
    "building": building_table,
}  # fmt: skip


def page(name, session):
    """Text of docs/benchmarks_<name>.inc."""
    first = f"{machine_text(session)}\n\n" if name == "speed" else ""
    return f"{first}{PAGES[name](session)}\n"


def main():
    session = newest()
    for name in PAGES:
        (ROOT / "docs" / f"benchmarks_{name}.inc").write_text(page(name, session), encoding="utf-8")


if __name__ == "__main__":
    main()
