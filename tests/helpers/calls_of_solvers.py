"""Calls of solvers and of what evaluates results; `public_calls` says what a call is."""

import inspect

from call_models import ball_on_table, beam_model, pulled_beam, run

import fem_mbs as fem
from fem_mbs.solvers import STEPPERS


def small_rotor():
    """A body on two springs that turns about x, and it."""
    model = fem.Model("rotor", gravity=[0, 0, 0])
    body = model.add(fem.RigidBody(1.0, [2e-2, 1e-2, 1e-2], fixed=("x",), name="disc"))
    for far in ([0, 1e4, 0], [0, 0, 1e4]):
        model.add(fem.Spring(model.ground.frame(far), body, stiffness=100.0, free_length=1e4))
    return model, body


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
    "mac": lambda: (fem.mac, dict(first=[[1.0, 0.0], [0.0, 2.0]], second=[[2.0, 2.0]], weights=[1.0, 2.0])),
    "modes": lambda: (
        fem.modes,
        dict(
            model=beam_model(),
            n=2,
            about=None,
            rotation=None,
            damping=False,
            shift=None,
            spinning=False,
            contacts="open",
        ),
    ),
    **{
        name: lambda function=function: (
            function,
            dict(
                model=(model := beam_model()),
                inputs=[(model.nodes[-1], "y")],
                outputs=[(model.nodes[-1], "y")],
                **({"frequencies": [1.0], "progress": False} if function is fem.frequency_response else {}),
                about=None,
                rotation=None,
                spinning=False,
                contacts="open",
            ),
        )
        for name, function in (("linearise", fem.linearise), ("frequency_response", fem.frequency_response))
    },
    "floquet": lambda: (
        fem.floquet,
        dict(
            model=small_rotor()[0],
            period=0.1,
            stepper=fem.DecoupledNSGA(),
            h=0.05,
            about=None,
            breaks=(),
            extrapolate=False,
            step=1e-4,
            tolerance=1e-6,
        ),
    ),
    "campbell": lambda: (
        fem.campbell,
        dict(
            dict(zip(("model", "rotor"), small_rotor())),
            speeds=[1.0, 2.0],
            n=1,
            axis=[1, 0, 0],
            about=None,
            damping=True,
            orders=(1.0,),
            lateral=True,
        ),
    ),
    "critical_speeds": lambda: (
        fem.critical_speeds,
        dict(dict(zip(("model", "rotor"), small_rotor())), n=1, axis=[1, 0, 0], about=None, order=1.0, lateral=True),
    ),
    "unbalance_response": lambda: (
        fem.unbalance_response,
        dict(
            dict(zip(("model", "rotor"), (pair := small_rotor()))),
            unbalance={pair[1]: 1e-3},
            speeds=[1.0],
            axis=[1, 0, 0],
            about=None,
        ),
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
            modes=None,
        ),
    ),
    "hysteresis_factor": lambda: (fem.hysteresis_factor, dict(model="flores", restitution=0.5)),
    "resolved_impact": lambda: (
        fem.resolved_impact,
        dict(mass=1.0, speed=1.0, stiffness=1e6, exponent=1.5, factor=0.1, samples=11, modes=None),
    ),
    "ContactModes": lambda: (fem.ContactModes, dict(omega=[0.0, 1e3], participation=[1.0, 2.0], damping=[0.0, 1.0])),
    "ReducedContact": lambda: (fem.ReducedContact, dict(model=fem.Model("empty"), count=20)),
    "load": lambda: (fem.load, dict(path="nothing.vtkhdf")),
}
