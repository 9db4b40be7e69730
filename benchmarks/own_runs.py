"""Runs of our own models, asked for as those of other programs: see peers/protocol.py.

echo '{"case": "chain", "size": 10, "h": 1e-3, "warm": 80, "steps": 1000}' | python benchmarks/own_runs.py
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE / "peers"), str(HERE.parent / "examples")]

# ruff: noqa: E402
import building
import numpy as np
import protocol

import fem_mbs as fem

MOST_WATCHED = 300  # steps of which the parts are timed


class Model(NamedTuple):
    """A model, its stepper, and ``report(engine)``, results in addition to times."""

    model: fem.Model
    stepper: object
    report: object = None


def state(engine, name):
    """Position (3,) [m] and rotation (3, 3) of a body or node now."""
    k = next(k for k, node in enumerate(engine.system.nodes) if node.name == name)
    return engine.arrays["x"][k], engine.arrays["R"][k]


def place(name, local=(0.0, 0.0, 0.0)):
    """``report`` of a point of a body."""

    def report(engine):
        x, R = state(engine, name)
        return {"place": (x + R @ np.asarray(local)).tolist()}

    return report


def stepper(request, **options):
    """That of a request, by default `DecoupledNSGA`."""
    if request.get("stepper") == "LobattoIIIAB":
        return fem.LobattoIIIAB(3, rtol=1e-10)
    return fem.DecoupledNSGA(**options)


def chain(request):
    import chain as source

    links = request["size"]
    return Model(source.build(links), stepper(request), place(f"link {links}"))


def top(request):
    import heavy_top as example

    return Model(example.build(), stepper(request, rho_inf=0.8), place("top"))


def beam(request):
    import falling_cantilever as example

    return Model(example.build(request["size"]), stepper(request, rho_inf=0.9), place("tip"))


def ball(request):
    """The sliding ball; the plane is y = 0 here."""
    import rolling_ball as example

    case = example.Sliding
    model = example.build(velocity=case.velocity, friction=case.friction)

    def report(engine):
        x, _ = state(engine, "ball")
        v = engine.arrays["V"][[node.name for node in engine.system.nodes].index("ball"), :3]
        return {"speed": float(np.hypot(v[0], v[2])), "path": float(np.hypot(x[0] - 0.1, x[2]))}

    return Model(model, stepper(request), report)


def roller_crank(request):
    import roller_crank as example

    return Model(example.build(request["size"] > 0), stepper(request, rho_inf=0.0))


def billiard(request):
    import billiard_break as example

    return Model(example.build(), stepper(request, rho_inf=0.8, approach="start"))


def clearance_crank(request):
    import clearance_crank as example

    return Model(example.build(1e-4)[0], stepper(request, rho_inf=0.0, rtol=1e-5))


def ball_bearing(request):
    import rigid_ball_bearing as example

    return Model(example.build()[0], stepper(request, rho_inf=0.0, penalty=0.25))


def solid(request):
    import solids as source

    return Model(source.held(request["size"])[0], stepper(request, rho_inf=0.8))


MODELS = {f.__name__: f for f in (chain, top, beam, ball, roller_crank, billiard, clearance_crank, ball_bearing, solid)}


def answer_of(model, request):
    """Times of the steps of a request; if it asks for a profile, where they go, and that alone."""
    from measuring import Run, profile

    system, h, warm, steps = model.model.compile(), request["h"], request["warm"], request["steps"]
    if request.get("profile"):
        return {"profile": profile(model.stepper, system, h, warm, min(steps, MOST_WATCHED))}
    Run(model.stepper, system, h).go(1)  # loads compiled code
    run = Run(model.stepper, system, h)
    run.go(warm)
    found = {"seconds": run.go(steps), "steps": steps, "simulated": steps * h, "method": type(model.stepper).__name__}
    found |= {"velocities": system.n, "rows": system.m, "contacts": system.nc}
    if model.report is not None:
        found |= model.report(run.engine)
    return found


def pile(request):
    """Spheres in a box, looked at ten times."""
    import pile as source
    from measuring import Run, profile

    stepper, h = fem.DecoupledNSGA(), request["h"]
    Run(stepper, source.build(60).compile(), h).go(25)  # loads compiled code
    system = source.build(request["size"]).compile()
    if request.get("profile"):
        late = request["steps"] // 2  # they have met
        return {"profile": profile(stepper, system, h, late, min(request["steps"] - late, MOST_WATCHED))}
    run, seconds = Run(stepper, system, h), []
    _, half = source.places(request["size"])

    def centers():
        return run.engine.arrays["x"][1:].copy()  # the first is the ground

    def take(count):
        seconds.append(run.go(count))

    _, seen = protocol.timed_with_looks(
        take, request["steps"], lambda: protocol.overlap(centers(), source.RADIUS, half)
    )
    found = {"seconds": sum(seconds), "steps": request["steps"], "simulated": request["steps"] * h}
    counted = run.engine.statistics()
    found |= {"sweeps": counted["contact_sweeps"] / request["steps"], "unsolved": counted["inexact_contact_problems"]}
    return found | {"method": "DecoupledNSGA, sweeps", **protocol.pile_quality(seen, centers())}


def start(request):
    """The model of the README as it stands, in an empty folder: processor time of the process until its end."""
    text = (HERE.parent / "README.md").read_text(encoding="utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
        os.chdir(HERE)
    return {"seconds": time.process_time(), "steps": 1000, "simulated": 1.0, "method": "whole run of 1,000 steps"}


if __name__ == "__main__":
    cases = {name: lambda request, make=make: answer_of(make(request), request) for name, make in MODELS.items()}
    protocol.answer({**cases, "pile": pile, "start": start, "building": building.measure}, fem.__version__)
