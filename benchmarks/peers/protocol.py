"""Request and answer of a run: JSON on standard input, JSON on the last line of standard output.

Scripts of this folder run in the environment of the peers and import nothing of the project; `benchmarks/own_runs.py`,
which does, speaks the same language. A request names a case and holds the numbers of its model. An answer has

    seconds   float [s], processor time of the process while it took the steps, set-up excluded; threads count
    steps     int, steps taken in that time
    simulated float [s], time they cover
    memory    float [MB], the most the process had; before_model: when it had imported what it needs
    method    str, what took the steps, in words
    version   str
    more by case: place (3,) [m], overlap [diameters], height [m] …
"""

import itertools
import json
import sys
import time


def memory():
    """Peak memory of this process [MB]: on Linux without that of the process it was forked from."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def timed(steps):
    """Processor time [s] of a call."""
    begin = time.process_time()
    steps()
    return time.process_time() - begin


def timed_with_looks(take, steps, look, looks=10):
    """Time [s] of steps taken by ``take(count)`` in ten stretches, and what ``look()`` gives after each, untimed."""
    ends = [steps * k // looks for k in range(looks + 1)]
    seconds, seen = 0.0, []
    for begin, end in itertools.pairwise(ends):
        if end > begin:
            seconds += timed(lambda count=end - begin: take(count))
            seen.append(look())
    return seconds, seen


def overlap(places, radius, half):
    """Largest overlap of equal spheres, and with floor and walls of a box 2 half wide [diameters]."""
    deepest = radius - min(places[:, 2].min(), half - abs(places[:, :2]).max())
    order = places[:, 2].argsort()
    places = places[order]
    heights = places[:, 2]
    for k, place in enumerate(places):
        last = heights.searchsorted(heights[k] + 2 * radius)
        others = places[k + 1 : last] - place
        if len(others):
            deepest = max(deepest, 2 * radius - (others * others).sum(axis=1).min() ** 0.5)
    return float(max(deepest, 0.0) / (2 * radius))


def pile_quality(seen, places):
    """Quality of a pile: largest and last overlap, mean height at the end [m]."""
    return {"overlap": max(seen), "overlap_end": seen[-1], "height": float(places[:, 2].mean())}


def answer(cases, version):
    """Run the case that is asked for on standard input; ``cases``: name -> function of a request, gives a dict."""
    before = memory()
    request = json.load(sys.stdin)
    found = {"version": version, "before_model": before, **cases[request["case"]](request)}
    print(json.dumps({**found, "memory": memory()}))
