"""What an editor and a type checker see of the package in a user's script."""

import subprocess
import sys
from pathlib import Path

import public_stub

import fem_mbs

SCRIPT = """
import fem_mbs as fem
model = fem.Model()
body = fem.RigidBody(mass=1.0, inertia=[1, 1, 1])
model.addd(body)
reveal_type(body.mass)
reveal_type(fem.Revolute.at(body, body, [0, 0, 0]))
reveal_type(fem.DecoupledNSGA().run(model, t_end=1.0, h=0.1))
reveal_type(fem.static_equilibrium(model))
reveal_type(fem.static_equilibrium(model).state)
reveal_type(fem.modes(model).motion(0))
reveal_type(fem.campbell(model, [1.0]).plot())
reveal_type(fem.MoreauJean(0.6, rtol=1e-8).rtol)
fem.MoreauJean(rtoll=1e-8)
fem.MoreauJean(step_control=fem.StepControl())
fem.MoreauJean(rtol="small")
"""
SEEN = ("float", "Revolute", "Results", "StaticResult", "State", "Results", "Figure", "float")
SAID = (
    'script.py:5: error: "Model" has no attribute "addd"; maybe "add"?',
    'script.py:14: error: Unexpected keyword argument "rtoll" for "MoreauJean"; did you mean "rtol"?',
    'script.py:15: error: Unexpected keyword argument "step_control" for "MoreauJean"',
    'script.py:16: error: Argument "rtol" to "MoreauJean" has incompatible type "str"; expected "float"',
)


def test_the_stub_has_the_names_of_the_package():
    """After a change of `fem_mbs._WHERE`: python tests/helpers/public_stub.py."""
    written = public_stub.STUB.read_text(encoding="utf-8")
    assert sorted(written.splitlines()) == sorted(public_stub.text().splitlines())


def test_a_type_checker_follows_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    root = Path(fem_mbs.__file__).parents[1]
    command = [sys.executable, "-m", "mypy", "--config-file", root / "pyproject.toml", script]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False).stdout
    assert all(message in shown for message in SAID), shown
    types = [line.rsplit(".", 1)[-1].rstrip('"') for line in shown.splitlines() if "Revealed type" in line]
    assert [t.split('"')[-1] for t in types] == list(SEEN), shown
