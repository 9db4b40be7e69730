"""Table of docs/comparison.md: what each time stepper supports, read from the code.

python docs/stepper_features.py        writes the table into the page
"""

from pathlib import Path

import fem_mbs as fem
from fem_mbs.arguments.checked import Keywords
from fem_mbs.solvers import STEPPERS

PAGE = Path(__file__).with_name("comparison.md")
BEGIN, END = "<!-- features: begin -->\n", "<!-- features: end -->\n"
YES, NO = "yes", "-"
OPTIONS = {  # column -> keyword of the constructor
    "`rho_inf`": "rho_inf",
    "`StepControl`": "step_control",
    "`divide_failed_steps`": "divide_failed_steps",
    '`impacts="split"`': "impacts",
    "`persistent_contacts`": "persistent_contacts",
    "`approach`": "approach",
    "`restitution_speed`": "restitution_speed",
    "`impact_law`": "impact_law",
}


def ball(two=False, **law):
    """A ball over a floor; ``two``: with static and sliding friction."""
    model = fem.Model("ball")
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1], name="ball"))
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, friction=(0.3, 0.2) if two else 0.3, **law))
    return model


def motor():
    """A wheel on a motor with a largest moment."""
    model = fem.Model("motor")
    wheel = model.add(fem.RigidBody(1.0, 0.1, name="wheel"))
    drive = fem.Motor(rate=1.0, limit=1.0)
    model.add(fem.Revolute.at(model.ground, wheel, [0, 0, 0], [0, 0, 1], motor=drive, name="hinge"))
    return model


def grains(**law):
    """The same as a contact group."""
    model, group = fem.Model("grains"), fem.ContactGroup(friction=0.3, **law)
    group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1])), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


def sleigh():
    """A body on a blade."""
    model = fem.Model("sleigh")
    body = model.add(fem.RigidBody(1.0, 0.1, name="sleigh"))
    model.add(fem.KnifeEdge.at(model.ground, body, [0, 0, 0], [0, 1, 0]))
    return model


MODELS = {  # column -> a model that a stepper supports or not
    "contacts": ball,
    "rolling, spinning friction": lambda: ball(rolling_resistance=1e-3, spinning_resistance=1e-3),
    "`radius_contensou`": lambda: ball(radius_contensou=1e-3),
    "contact groups": grains,
    "`radius_contensou` in contact groups": lambda: grains(radius_contensou=1e-3),
    "static and sliding friction": lambda: ball(two=True),
    "joint friction, motors with a limit": motor,
    "rows of velocities": sleigh,
}


def takes(stepper, model):
    """Return "yes" if a stepper accepts a model."""
    try:
        method, system = stepper(), model.compile()
        method.refuse(system)
        method.refuse_friction(system)
    except fem.ParameterError:
        return NO
    return YES


def has(stepper, option):
    """Whether a stepper has an option; some have what it does without asking."""
    if option in Keywords.of(stepper):
        return YES
    return "always" if getattr(stepper, option, None) is True else NO


def table():
    """The table as text: a row for each feature, a column for each stepper."""
    rows = [["", *(f"`{name}`" for name in STEPPERS)], [":---", *("---" for _ in STEPPERS)]]
    for title, build in MODELS.items():
        rows.append([title, *(takes(stepper, build()) for stepper in STEPPERS.values())])
    for title, option in OPTIONS.items():
        rows.append([title, *(has(stepper, option) for stepper in STEPPERS.values())])
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")
