"""What objects say of themselves in a terminal: one line with type, name and main parameters."""

import inspect

import pytest
from call_models import A, B, ball_on_table, section
from public_calls import CALLS

import fem_mbs as fem

MORE = {
    "BeamLine": lambda: fem.beam_line(A(), B(), 2, section(), name="rod"),
    "Beam": lambda: fem.beam_line(A(), B(), 2, section(), name="rod")[0],
    "TwoNodeBeam": lambda: fem.TwoNodeBeam(A(), B(), section(), name="rod"),
    "Checks": lambda: fem.Checks(fem.Check("sum", reference=1.0, obtained=1.0, rel=1e-3)),
    "Signal": lambda: 2 * fem.Signal(3.0),
    "Signal of a function": lambda: fem.Signal(lambda t: t),
    "Profile": lambda: fem.ramp(duration=1.0),
    "Results": lambda: made("DecoupledNSGA.run"),
    "EnergyTable": lambda: fem.DecoupledNSGA().run(ball_on_table(), t_end=0.01, h=1e-3, balance=True).energy_table(),
}
# need a run of seconds, or a file: what makes them is called in tests of their own
ELSEWHERE = {"BearingHistory", "load", "life_of_run"}


def made(call):
    function, arguments = CALLS[call]()
    return function(**arguments)


def is_public(thing):
    return type(thing).__module__.startswith("fem_mbs") and not isinstance(thing, Exception)


def check(thing):
    text = repr(thing)
    assert " object at 0x" not in text and " at 0x" not in text, text
    assert "\n" not in text and len(text) <= 130, text
    assert type(thing).__name__ in text, text
    name = getattr(thing, "name", None)
    assert not isinstance(name, str) or name in text, text


@pytest.mark.parametrize("call", [call for call in CALLS if call not in ELSEWHERE])
def test_what_a_public_call_returns_says_what_it_is(call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some write files
    try:
        thing = made(call)
    except fem.FemMbsError:
        pytest.skip("needs a model of its own")
    if is_public(thing):
        check(thing)


@pytest.mark.parametrize("kind", MORE)
def test_other_public_objects_say_what_they_are(kind):
    check(MORE[kind]())


def test_every_public_class_is_among_them():
    classes = {name for name in fem.__all__ if inspect.isclass(getattr(fem, name))}
    classes = {name for name in classes if not issubclass(getattr(fem, name), Exception)}
    called = {call.split(",")[0].split(".")[0] for call in CALLS} | MORE.keys()
    assert not classes - called - ELSEWHERE, classes - called


def test_parameters_are_those_that_are_not_default():
    spring = fem.Spring(A(), B(), stiffness=10.0, free_length=1.0, name="s")
    assert repr(spring) == "Spring 's': frame_P=a, frame_Q=b, stiffness=10, free_length=1"
    assert repr(fem.SphereOnPlane(A(), B(), radius=0.1, friction=0.3)).endswith("radius=0.1, friction=0.3")
    assert repr(fem.Motor(rate=3.0, limit=2.0)) == "Motor: rate=3, limit=2"
    assert repr(fem.Signal(3.0)) == "Signal(3)"
