"""Whatever is given to a public constructor or function: it is accepted, or raises an error of this package.

Each call of `public_calls` is valid. Each of its arguments is replaced in turn by everything in `BAD`; what comes out
must not be an error from the inside of NumPy, of Python or of this package's own code.
"""

import inspect
import warnings

import numpy as np
import pytest
from public_calls import CALLS

import fem_mbs as fem

HUGE = 10**400
NAN, INF = float("nan"), float("inf")


class Anything:
    """An object unknown to this package."""


BAD = {
    "None": None,
    "nan": NAN,
    "inf": INF,
    "minus inf": -INF,
    "minus one": -1,
    "zero": 0,
    "1e308": 1e308,
    "1e-320": 1e-320,
    "huge integer": HUGE,
    "empty text": "",
    "text": "x",
    "number as text": "1.0",
    "bytes": b"x",
    "True": True,
    "complex": 1 + 2j,
    "NumPy complex": np.complex128(1 + 2j),
    "NumPy nan": np.float64("nan"),
    "0-d array": np.array(0.5),
    "NumPy integer": np.int64(3),
    "empty list": [],
    "list of one": [1.0],
    "list of two": [1, 2],
    "list with None": [None, 1, 2],
    "list with text": ["1", "2", "3"],
    "list with nan": [0.0, NAN, 1.0],
    "list with inf": [0.0, INF, 1.0],
    "list with a huge integer": [HUGE, 0, 0],
    "ragged list": [[1, 2], [3]],
    "complex list": [1j, 0, 0],
    "list of five": [1, 2, 3, 4, 5],
    "degrees": [0, 0, 90],
    "zeros": np.zeros(3),
    "matrix of nan": np.full((3, 3), NAN),
    "singular matrix": np.zeros((3, 3)),
    "six by six": np.ones((6, 6)),
    "empty array": np.zeros((0, 3)),
    "three axes": np.zeros((2, 2, 2)),
    "text array": np.array(["a", "b"]),
    "object array": np.array([None, Anything()], dtype=object),
    "dict": {"a": 1},
    "set": {1, 2},
    "object": Anything(),
    "class": Anything,
    "type of element": fem.RigidBody,
    "function": lambda *_: None,
    "function of nothing": lambda: 1.0,
    "function to text": lambda *_: "x",
    "range": range(3),
    "generator": (i for i in range(3)),
}


def outcome(function, arguments):
    """None if the call was accepted, or raised an error of this package, else the type and the text of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(**arguments)
        except fem.FemMbsError:
            return None
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


# slow ones: what runs on is not the fault of an argument
TOO_MUCH = {
    ("DecoupledNSGA.run", "t_end"): {"1e308", "huge integer"},
    ("DecoupledNSGA.run", "h"): {"1e-320"},
}


def wrong_outcomes(call, chosen=BAD):
    """Errors from inside: list of texts, and how many calls were made."""
    wrong, count = [], 0
    function, arguments = CALLS[call]()
    for parameter in arguments:
        for what in chosen:
            value = BAD[what]
            if what in TOO_MUCH.get((call, parameter), ()):
                continue
            text = outcome(function, arguments | {parameter: value})
            count += 1
            if text is not None:
                wrong.append(f"{call}({parameter} = {what}) -> {text[:150]}")
    return wrong, count


# made by the package, not by the user; or with tests of their own
NOT_CALLED = {
    "Beam", "TwoNodeBeam", "BeamLine", "beam_curve", "beam_line",
    "mesh_from_cad", "mesh_from_gmsh",  # need Gmsh: tests/core/mesh/test_mesh_cad.py
    "Checks", "Profile", "Results", "Signal", "table", "continue_from", "resume",
}  # fmt: skip


def test_every_public_callable_and_each_of_its_arguments_is_fed():
    fed = {call: CALLS[call]()[1] for call in CALLS if call != "BearingHistory"}
    for name in set(fem.__all__) - NOT_CALLED:
        item = getattr(fem, name)
        if inspect.ismodule(item) or (inspect.isclass(item) and issubclass(item, Exception)):
            continue
        arguments = {argument for call, given in fed.items() if call.split(",")[0] == name for argument in given}
        named = [p.name for p in inspect.signature(item).parameters.values() if p.kind is not p.VAR_KEYWORD]
        missing = set(named) - arguments - {"sources"}  # of the numbers of a bearing: any text
        assert name == "BearingHistory" or not missing, f"{name}: {missing}"


# enough to find what is not checked at all
FEW = [
    "None", "nan", "huge integer", "text", "complex", "list with None", "ragged list", "matrix of nan", "object array",
    "object", "function of nothing",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_bad_input_is_accepted_or_rejected_in_the_words_of_this_package(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some text is the name of a file
    wrong, _ = wrong_outcomes(call, FEW)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_any_input_is_accepted_or_rejected_in_the_words_of_this_package(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some text is the name of a file
    wrong, _ = wrong_outcomes(call)
    assert not wrong, "\n".join(wrong)
