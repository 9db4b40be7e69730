"""Former names of the public interface: each warns once, states the new name, works, and gives the same result."""

import inspect
import re
import warnings

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.deprecated import Deprecated
from fem_mbs.solvers.linear.frequency import FrequencyResponse
from fem_mbs.solvers.linear.linearise import LinearModel
from fem_mbs.solvers.modal import Modes
from fem_mbs.solvers.paths.linear_buckling import Buckling
from fem_mbs.solvers.paths.path_result import LoadPath
from fem_mbs.solvers.rotors.campbell import Campbell
from fem_mbs.solvers.rotors.unbalance import UnbalanceResponse

TIMES = np.linspace(-0.5, 2.0, 11)
SPAN = np.sqrt(0.5**2 - 0.05**2)  # m, free span of the belts


def wheels():
    model = fem.Model("belt")
    bodies = [fem.RigidBody(1.0, [0.02] * 3, position=[x, 0, 0], name=f"{x}") for x in (0.0, 0.5)]
    for body in bodies:
        model.add(body, fem.Revolute.at(model.ground, body, body.position, [0, 0, 1], motor=fem.Motor(effort=0.1)))
    return model, bodies


def creeping(**given):
    _, (a, b) = wheels()
    return fem.CreepingBelt(a, b, radii=(0.1, 0.15), pretension=200.0, friction=0.3, **given).record


def belt():
    model, (a, b) = wheels()
    model.add(fem.Belt(a, b, radii=(0.1, 0.15), stiffness=2e4, pretension=200.0, name="belt"))
    return model


def history(name):
    return getattr(fem.DecoupledNSGA().run(belt(), t_end=2e-2, h=1e-3)["belt"], name)


def indexed(name):
    return fem.DecoupledNSGA().run(belt(), t_end=2e-2, h=1e-3)["belt"][name]


def sensed(name):
    return fem.Sensor(belt()["belt"], name).places


def static(name):
    model = fem.Model("belt at rest")
    wheels = [fem.RigidBody(1.0, [0.02] * 3, position=[x, 0, 0]) for x in (0.0, 0.5)]
    for wheel in wheels:
        options = {"stiffness": 10.0, "motor": fem.Motor(effort=0.1)}
        model.add(wheel, fem.Revolute.at(model.ground, wheel, wheel.position, [0, 0, 1], **options))
    element = model.add(fem.Belt(*wheels, radii=(0.1, 0.15), stiffness=2e4, pretension=200.0, name="belt"))
    return [fem.static_equilibrium(model).output(element, name)]


def linear(name):
    model = belt()
    return fem.linearise(model, [(model["0.0"], "rz")], [(model["belt"], name)]).C


def left_out(kind, attribute):
    result = kind.__new__(kind)
    result.warnings = ["closed contacts are left out"]
    return getattr(result, attribute)


def values(profile):
    return [profile(t) for t in TIMES]


RESULTS = (Buckling, Campbell, FrequencyResponse, LinearModel, LoadPath, Modes, UnbalanceResponse)
# former call, new call, words of the warning
ALIASES = {
    "CreepingBelt": (
        lambda: creeping(axial_stiffness=1e4), lambda: creeping(stiffness=1e4 / SPAN),
        r"CreepingBelt\(axial_stiffness.*use stiffness=",
    ),
    "ramp": (
        lambda: values(fem.ramp(0.5, 1.25)), lambda: values(fem.ramp(duration=0.75, start=0.5)),
        r"ramp with positional arguments or end is.*use ramp\(height=…, duration=…, start=…\)",
    ),
    "ramp by name": (
        lambda: values(fem.ramp(start=0.5, end=1.25, height=3.0)),
        lambda: values(fem.ramp(height=3.0, duration=0.75, start=0.5)), "duration = end − start",
    ),
    "ramp, all positional": (
        lambda: values(fem.ramp(0.0, 2.0, -0.5)), lambda: values(fem.ramp(height=-0.5, duration=2.0)),
        "duration = end − start",
    ),
    "Belt slip": (lambda: history("slip"), lambda: history("slip_path"), "Belt: output 'slip'.*use 'slip_path'"),
    "Belt slip, by index": (lambda: indexed("slip"), lambda: indexed("slip_path"), "use 'slip_path'"),
    "Belt slip, sensor": (lambda: sensed("slip"), lambda: sensed("slip_path"), "use 'slip_path'"),
    "Belt slip, static": (lambda: static("slip"), lambda: static("slip_path"), "use 'slip_path'"),
    "Belt slip, linear": (lambda: linear("slip"), lambda: linear("slip_path"), "use 'slip_path'"),
    **{
        f"{kind.__name__}.{'remarks'}": (
            lambda kind=kind: left_out(kind, "remarks"), lambda kind=kind: left_out(kind, "warnings"),
            rf"{kind.__name__}\.{'remarks'} is deprecated.*use warnings",
        )
        for kind in RESULTS
    },
}  # fmt: skip


@pytest.mark.parametrize("alias", ALIASES)
def test_a_former_name_warns_once_and_gives_the_result_of_the_new_one(alias):
    former, new, words = ALIASES[alias]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = former()
    issued = [w for w in caught if issubclass(w.category, DeprecationWarning)]
    assert [w.filename for w in issued] == [__file__], [str(w.message) for w in issued]
    assert re.search(words, str(issued[0].message)) and "removed in 0.4" in str(issued[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        expected = new()
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            assert np.asarray(one) == pytest.approx(np.asarray(other), rel=1e-15, abs=0.0)  # EA/L L: last digit


def test_every_former_name_is_in_this_test():
    outputs = {f"{kind} {name}" for kind, names in Deprecated.OUTPUTS.items() for name in names}
    assert all(getattr(fem, name) is not None for name in fem.__all__)  # all are imported
    assert Deprecated.CALLS | Deprecated.ATTRIBUTES | outputs <= set(ALIASES)


def test_outputs_have_their_new_names_only():
    for kind, names in Deprecated.OUTPUTS.items():
        assert not names.keys() & getattr(fem, kind).outputs.keys()
        assert set(names.values()) <= getattr(fem, kind).outputs.keys()


def test_a_name_of_the_package_is_found_under_its_new_name(monkeypatch):
    monkeypatch.setitem(Deprecated.NAMES, "Hinge", "Revolute")
    with pytest.warns(DeprecationWarning, match=r"fem_mbs\.Hinge is deprecated.*use fem_mbs\.Revolute"):
        assert fem.Hinge is fem.Revolute
    assert "Hinge" not in dir(fem)


def test_former_and_new_keyword_together_are_rejected():
    with pytest.raises(fem.ParameterError, match=r"axial_stiffness = 10.*former name of stiffness, which is given too"):
        creeping(axial_stiffness=10.0, stiffness=20.0)
    with pytest.raises(fem.ParameterError, match=r"axial_stiffness = -1"), pytest.warns(DeprecationWarning):
        creeping(axial_stiffness=-1.0)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: fem.ramp(5.0, duration=0.2), r"ramp: 5\.0 is given without a name"),
        (lambda: fem.ramp(start=0.0, end=1.0, duration=1.0), "ramp: end = 1.0 is not a parameter"),
        (lambda: fem.ramp(height=2.0), "ramp: duration is missing"),
    ],
)
def test_calls_that_are_neither_former_nor_new_are_rejected(call, words):
    with pytest.raises(fem.ParameterError, match=words):
        call()


def test_help_and_completion_show_the_new_names_only():
    assert list(inspect.signature(fem.ramp).parameters) == ["height", "duration", "start", "initial"]
    assert "axial_stiffness" not in inspect.signature(fem.CreepingBelt).parameters
    assert all("remarks" not in dir(kind.__new__(kind)) for kind in RESULTS)
    result = fem.DecoupledNSGA().run(belt(), t_end=1e-3, h=1e-3)
    assert "slip" not in dir(result["belt"]) and "slip" not in result["belt"] and "slip_path" in result["belt"]


def test_results_of_an_earlier_version_have_the_new_name():
    result = fem.DecoupledNSGA().run(belt(), t_end=2e-3, h=1e-3)
    expected = result["belt"].slip_path
    result.description["elements"][-1]["outputs"] = {
        "slip" if name == "slip_path" else name: place
        for name, place in result.description["elements"][-1]["outputs"].items()
    }
    result._cache.clear()
    assert np.array_equal(result["belt"].slip_path, expected)
