"""The report of a run: time, iterations, constraints, contacts, energy, warnings."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.results.drawing.notebook import WARNING
from fem_mbs.results.file.memory import memory_line

if TYPE_CHECKING:
    from fem_mbs.results.results import Results

LARGE = 50.0  # MB of arrays from which on their memory is reported
BEYOND = 1e-6  # of the bound of friction: an impulse outside by more is reported
CUT = "sequences cut short after half of max_problems, their rest without restitution"
REFUSED = {  # words of the report -> what step control counts
    "did not converge": "failed_steps",
    "not within the tolerance": "inaccurate_steps",
    "too large for a contact": "steps_too_large_for_contact",
}


def report_lines(result: "Results") -> Iterator[tuple[str, str]]:
    """Title and text of each line of the report of a run."""
    p, s = result.parameters, result.statistics
    options = ", ".join(_options(p))
    yield "", f"{result.model}: {p.get('stepper', 'run')}" + (f" ({options})" if options else "")
    if not len(result.t):
        yield "status", f"{result.status}; nothing saved"
        return
    wall = f" in {s['wall_time']:.3g} s" if "wall_time" in s else ""
    steps = int(s.get("steps", result.step[-1]))
    yield "status", f"{result.status.removesuffix('.')}{wall}"
    divided = f", {s['divided_steps']} of them subdivided" if s.get("divided_steps") else ""
    text = f"{result.t[0]:g} … {result.t[-1]:g} s, {steps} steps{divided}, {len(result.t)} states saved"
    if result.status == "complete" and p.get("t_end", 0.0) - result.t[-1] > 1e-6 * p.get("h", np.inf):
        text += f"; t_end = {p['t_end']:g} s is not a multiple of h from the start"
    yield "time", text
    refused = {name: s[key] for name, key in REFUSED.items() if s.get(key)}
    if refused:
        listed = ", ".join(f"{count} {name}" for name, count in refused.items())
        yield "rejected", f"{sum(refused.values())} steps, repeated with a smaller size: {listed}"
    most, mean = s.get("iterations_max", result.iterations.max), s.get("iterations_mean", result.iterations.mean)
    parts = (f"{n} {int(a)} / {b:.2f}" for n, a, b in zip(("smooth", "position", "velocity"), most, mean))
    yield "iterations", "max / mean: " + ", ".join(parts)
    if result.description["sizes"]["m"]:
        g, rate = result.violation.position.max(), result.violation.velocity.max()
        yield "constraints", f"{result.description['sizes']['m']} rows, largest |g| {g:.2e}, |dg/dt| {rate:.2e}"
    if result.contacts:
        yield "contacts", _contact_summary(result)
    if "pair_searches" in s:
        yield "groups", f"{_group_summary(s)}; {_closed_pairs(result)}"
    if s.get("impact_sequences_cut_short"):
        yield "impacts", f"{s['impact_sequences_cut_short']} {CUT}"
    if s.get("split_impacts") or s.get("impacts_not_split"):
        left = f", {s['impacts_not_split']} within whole steps" if s.get("impacts_not_split") else ""
        yield "split", f"{s.get('split_impacts', 0)} impacts at first contact{left}"
    if s.get("located_transitions") or s.get("transitions_not_located"):
        left = f", {s['transitions_not_located']} within whole steps" if s.get("transitions_not_located") else ""
        yield "transitions", f"{s['located_transitions']} of closed contacts located{left}"
    for law in ("poisson", "stronge"):
        if s.get(f"impacts_by_{law}", 0) + s.get("impacts_by_newton", 0) > 0 and f"impacts_by_{law}" in s:
            count = s[f"impacts_by_{law}"]
            yield "law", f"{count} impacts by {law.capitalize()}'s law, {s['impacts_by_newton']} by Newton's"
    total = result.energy.total
    rise = np.diff(total).max(initial=0.0)
    text = f"{total[0]:.6g} J at the start, {total[-1]:.6g} J at the end"
    yield "energy", f"{text}, largest rise between saved states {rise:.2e} J"
    memory = s.get("memory", {})
    if isinstance(memory, dict) and sum(size for name, size in memory.items() if name != "process") >= LARGE:
        yield "memory", memory_line(memory)
    for warning in result.warnings:
        yield WARNING, warning


def _options(parameters):
    """Options of a run as texts: those that all have, then those that were not left at their defaults."""
    common = ("h", "save_every", "rho_inf", "rtol")
    yield from (f"{k} = {parameters[k]:g}" for k in common if isinstance(parameters.get(k), (int, float)))
    chosen = parameters.get("chosen", ())
    for name in filter(lambda name: isinstance(name, str), chosen if isinstance(chosen, list | tuple) else ()):
        value = parameters.get(name)
        if isinstance(value, bool | str):
            yield f"{name} = {value!r}"
        elif isinstance(value, int | float):
            yield from () if name in common else (f"{name} = {value:g}",)
        else:  # an object: its options are in `Results.parameters`
            yield name


def _group_summary(statistics):
    """How contact groups were solved, and what that took."""
    if reason := statistics.get("solved_pair_by_pair"):
        return f"assembled (pairwise) solver, because {reason}; {statistics['pair_searches']} searches for pairs"
    mean = statistics.get("contact_sweeps", 0) / max(statistics.get("steps", 0), 1)
    most = statistics.get("most_contact_sweeps", 0)
    solver = f"projected Gauss-Seidel solver, {mean:.3g} iterations per step, at most {most}"
    return f"{solver}; {statistics['pair_searches']} searches for pairs"


def _closed_pairs(result):
    """Closed contacts of groups in the last state, and their smallest gap; all states would be too many to read."""
    pairs = result.pairs(-1)
    gap = pairs.gap[pairs.status > 0]
    return f"{len(gap)} contacts closed at the end" + (f", smallest gap {gap.min():.2e} m" if len(gap) else "")


def _contact_summary(result):
    """How many contacts there are, the smallest gap, impacts and lift-offs."""
    p, gap, impact = result.parameters, result._store.read("gap"), result._store.read("impact")
    i, c = np.unravel_index(np.argmin(gap), gap.shape)
    name = result.contacts[c]
    text = f"{len(result.contacts)}, smallest gap {gap[i, c]:.2e} m ('{name}', t = {result.t[i]:g} s)"
    opened = int(openings(result._store.read("contact_status")).sum())
    text = f"{text}, {int(impact.sum())} impacts, {opened} lift-offs"
    if p.get("save_every", 1) > 1 or p.get("output_times"):  # what happened between saved states is not in them
        text += " in saved states"
    beyond = result.statistics.get("friction_beyond_cone", 0.0)
    return f"{text}, impulse of friction up to {100 * beyond:.2g}% outside of its cone" if beyond > BEYOND else text


def openings(status: np.ndarray) -> np.ndarray:
    """True (k, …) where a contact that was closed in the two saved steps before is open."""
    closed = np.asarray(status) > 0
    opening = np.zeros(closed.shape, bool)
    opening[2:] = closed[:-2] & closed[1:-1] & ~closed[2:]
    return opening
