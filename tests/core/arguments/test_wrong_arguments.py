"""Wrong arguments of results and files are rejected with a message, and never reported as a damaged file."""

import h5py
import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.results.file.read_checks import leads_outside

pytest.importorskip("matplotlib")
BAD = [None, True, 1.5, "nobody", [], {}, b"x", object(), np.nan, [1, "a"], lambda: 0, [1e30]]


@pytest.fixture(scope="module", params=["memory", "file"])
def result(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.vtkhdf"
    model = fem.Model("drop", gravity=[0, 0, -9.81])
    model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.5], name="ball"))
    found = fem.DecoupledNSGA().run(model, 0.01, 1e-3, save=None if request.param == "memory" else path)
    return found if request.param == "memory" else fem.load(path)


CALLS = {
    "plot what": lambda r, bad: r.plot(bad),
    "plot size": lambda r, bad: r.plot("ball.position", size=bad),
    "plot save": lambda r, bad: r.plot("ball.position", save=[bad]),
    "plot figure": lambda r, bad: r.plot("ball.position", figure=[bad]),
    "plot component": lambda r, bad: r.plot("ball.position", component=[] if bad is None else [bad]),
    "picture save": lambda r, bad: r.picture([bad]),
    "picture time": lambda r, bad: r.picture(time=[] if bad is None else bad if bad is not True else "now"),
    "picture size": lambda r, bad: r.picture(size=bad),
    "picture view": lambda r, bad: r.picture(view=[bad]),
    "picture color": lambda r, bad: r.picture(color=[bad]),
    "animate fps": lambda r, bad: r.animate("film.gif", fps=-1.0 if isinstance(bad, float) and bad == 1.5 else bad),
    "animate save": lambda r, bad: r.animate([bad]),
    "export save": lambda r, bad: r.export([bad]),
    "export frames": lambda r, bad: r.export("frames.pvd", frames=0 if bad is None else bad),
    "rows": lambda r, bad: r.rows([10**6] if isinstance(bad, list) and not bad else bad),
    "at": lambda r, bad: r.at(bad),
    "state": lambda r, bad: r.state(bad if bad is not True else "last"),
}


@pytest.mark.parametrize("call", CALLS)
def test_wrong_arguments_of_results_are_rejected_in_words(result, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for bad in BAD:
        if call == "at" and isinstance(bad, (bool, float)):
            continue
        with pytest.raises(fem.FemMbsError) as refused:
            CALLS[call](result, bad)
        assert "damaged" not in str(refused.value), f"{bad!r}: {refused.value}"


def test_rows_of_chosen_steps_count_from_both_ends(result):
    both = result.rows([0, -1])["t"]
    assert both == pytest.approx([result.t[0], result.t[-1]])


def test_a_reduction_does_not_lead_to_other_files(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.arange(3.0)
    for how in ("link", "data"):
        path = tmp_path / f"{how}.h5"
        with h5py.File(path, "w") as file:
            file.attrs["fem_mbs reduction"] = 1
            if how == "link":
                file["M"] = h5py.ExternalLink("other.h5", "secret")
            else:
                file.create_dataset("M", (3,), "f8", external=[(str(tmp_path / "other.h5"), 0, 24)])
        with h5py.File(path, "r") as file:
            assert leads_outside(file)
        with pytest.raises(fem.ParameterError, match=r"is not accepted: .*'M'"):
            fem.load_reduction(path)


@pytest.mark.parametrize("text", [b"", b"no HDF5", b"\x89HDF\r\n\x1a\n" + bytes(40)])
def test_a_file_that_is_no_reduction_is_rejected_in_words(tmp_path, text):
    path = tmp_path / "part.h5"
    path.write_bytes(text)
    with pytest.raises(fem.ParameterError, match=r"path = .*as a reduction"):
        fem.load_reduction(path)
