"""Calls of solvers and of what evaluates results; `public_calls` says what a call is."""

import inspect

from call_models import ball_on_table, beam_model, pulled_beam, run

import fem_mbs as fem
from fem_mbs.solvers import STEPPERS

SOLVERS = {
    # solvers
    **{
        name: lambda cls=cls: (cls, {option: p.default for option, p in inspect.signature(cls).parameters.items()})
        for name, cls in STEPPERS.items()
    },
    "DecoupledNSGA.run": lambda: (
        fem.DecoupledNSGA().run,
        dict(model=ball_on_table(), t_end=3e-3, h=1e-3, save=None, save_every=1, progress=False, observers=()),
    ),
    "StepControl": lambda: (fem.StepControl, dict(tolerance=1e-6, h_max=1e-2, h_min=1e-6)),
    "initial_accelerations": lambda: (
        fem.initial_accelerations,
        dict(
            zip(("system", "state"), (lambda s: (s, s.initial))(ball_on_table().compile())), epsilon=1e-6, matrices=None
        ),
    ),
    "explain": lambda: (fem.explain, dict(model=beam_model())),
    "modes": lambda: (
        fem.modes,
        dict(model=beam_model(), n=2, about=None, rotation=None, damping=False, shift=None),
    ),
    "static_equilibrium": lambda: (
        fem.static_equilibrium,
        dict(
            model=beam_model(),
            t=0.0,
            steps=1,
            adaptive=True,
            mixed=True,
            tolerance=1e-9,
            max_iterations=15,
            stability=True,
            rotation=None,
            save=None,
        ),
    ),
    "load_path": lambda: (
        fem.load_path,
        dict(
            model=pulled_beam(),
            factor=1.0,
            loads=["gravity"],
            step=0.5,
            control="arc length",
            load_weight=1.0,
            until=None,
            start=None,
            side=1,
            points=5,
            t=0.0,
            tolerance=1e-9,
            max_iterations=12,
            save=None,
        ),
    ),
    "buckling": lambda: (
        fem.buckling,
        dict(model=pulled_beam(), n=1, loads=["gravity"], at=0.0, reverse=True, t=0.0, tolerance=1e-9),
    ),
    # results
    "Check": lambda: (fem.Check, dict(name="c", reference=1.0, obtained=1.0, rel=0.1, abs=0.1)),
    "ForceLaw": lambda: (fem.ForceLaw, dict(force=lambda *a: 1.0, name="law")),
    "ForceObserver": lambda: (
        fem.ForceObserver,
        dict(
            contact="table",
            speed_tolerance=1e-3,
            stiffness=1e6,
            model="flores",
            exponent=1.5,
            restitution=0.5,
            effective_mass=1.0,
            filter="kinematic",
            on_impact=None,
        ),
    ),
    "recover_forces": lambda: (
        fem.recover_forces,
        dict(
            result=run(),
            contact="table",
            stiffness=1e6,
            model="flores",
            exponent=1.5,
            restitution=0.5,
            effective_mass=1.0,
            filter="kinematic",
            speed_tolerance=1e-3,
        ),
    ),
    "hysteresis_factor": lambda: (fem.hysteresis_factor, dict(model="flores", restitution=0.5)),
    "resolved_impact": lambda: (
        fem.resolved_impact,
        dict(mass=1.0, speed=1.0, stiffness=1e6, exponent=1.5, factor=0.1, samples=11),
    ),
    "load": lambda: (fem.load, dict(path="nothing.vtkhdf")),
}
