"""Frequency responses of meshes: the same whatever factorises, singular matrices reported, and progress."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

import fem_mbs as fem
from fem_mbs.linear import factors_complex
from fem_mbs.linear.factors_complex import Responses
from fem_mbs.linear.umfpack import library
from fem_mbs.results.progress import Progress

WITH_UMFPACK = pytest.mark.skipif(library("umfpack") is None, reason="UMFPACK is not installed")


def block(damping, hinge=True):
    model = fem.Model("block", gravity=[0, 0, 0])
    mesh = fem.block_mesh([0.5, 0.5, 0.5], [7, 7, 7], cell="hexahedron")
    body = fem.SolidBody(mesh, fem.SolidMaterial(1e6, 0.3, 1e3), damping=damping, name="block")
    if hinge:
        end = fem.SurfaceCoupling(body, "z0", name="end")
        model.add(body, end, fem.Fixed.at(model.ground, end.node, end.center))
    else:
        body.fix("z0")
        model.add(body)
    return model, body


@WITH_UMFPACK
@pytest.mark.parametrize("damping", [0.0, 1e-3])
@pytest.mark.parametrize("hinge", [False, True])
def test_responses_are_those_of_the_dense_matrix(damping, hinge, monkeypatch):
    (model, body), hertz = block(damping, hinge), [0.0, 3.0, 11.0]
    node = body.node_at([0.5, 0.5, 0.5])
    kinds = []
    solve = Responses.solve
    monkeypatch.setattr(
        Responses, "solve", lambda self, *given: (kinds.append(self.multifrontal), solve(self, *given))[1]
    )
    by_umfpack = fem.frequency_response(model, (node, "x"), [(node, "x"), (node, "z")], hertz)
    assert kinds == [True] * 3
    monkeypatch.setattr(factors_complex, "fills_in", lambda n, fill: False)
    by_scipy = fem.frequency_response(model, (node, "x"), [(node, "x"), (node, "z")], hertz)
    assert not kinds[-1]
    size = np.abs(by_scipy.response).max()
    assert np.abs(by_umfpack.response - by_scipy.response).max() < 1e-10 * size
    system = fem.System(model, check=False)
    M, C, K = (system.assemble(system.initial, **{name: 1.0}).matrix().toarray() for name in ("c_M", "c_C", "c_K"))
    if not hinge:
        i = system.dof.reshape(-1, 6)[node.index, 0]
        for f, found in zip(hertz, by_umfpack.response[:, 0, 0]):
            w = 2 * np.pi * f
            force = np.zeros(len(M))
            force[i] = 1.0
            assert found == pytest.approx(np.linalg.solve(K + 1j * w * C - w**2 * M, force)[i], rel=1e-9)


@pytest.mark.parametrize("multifrontal", [pytest.param(True, marks=WITH_UMFPACK), False])
def test_sums_of_matrices_with_different_patterns_and_singular_ones(multifrontal):
    rng, n = np.random.default_rng(0), 40
    A = [sp.csc_array(rng.normal(size=(n, n)) * (rng.random((n, n)) < share)) for share in (0.1, 0.05, 0.2)]
    A[0] += 10.0 * sp.eye_array(n)
    responses, right = Responses(A), rng.normal(size=(n, 3))
    responses.multifrontal = multifrontal
    for factors in ([1.0, 0.0, 0.3], [1.0, 2j, -0.5], [2.0, 1j, 0.1], [1.0, 0.0, 0.1]):
        whole = sum(c * B.toarray() for c, B in zip(factors, A))
        assert whole @ responses.solve(factors, right) == pytest.approx(right, abs=1e-11)  # round-off
    if not multifrontal:
        assert responses.solve([0.0, 0.0, 0.0], right) is None
    for factors in ([0.0, 0.0, 0.0], [0j, 0j, 0j]):
        found = responses.solve(factors, right)
        assert found is None or not np.isfinite(found).all()


def test_free_blocks_are_rejected_at_frequency_zero():
    model = fem.Model("free", gravity=[0, 0, 0])
    mesh = fem.block_mesh([0.5, 0.5, 0.5], [7, 7, 7], cell="hexahedron")
    model.add(body := fem.SolidBody(mesh, fem.SolidMaterial(1e6, 0.3, 1e3), damping=1e-3, name="block"))
    node = body.node_at([0.5, 0.5, 0.5])
    with pytest.raises(fem.SolverError, match=r"0 Hz.*resistance"):
        fem.frequency_response(model, (node, "x"), (node, "x"), [0.0])


def test_what_is_counted_is_shown_after_a_while():
    now, stream = [0.0], io.StringIO()
    with Progress(40, enabled=True, counted="frequencies", stream=stream, clock=lambda: now[0]) as bar:
        bar.update(1, 1)
        assert stream.getvalue() == ""
        now[0] = 5.0
        bar.update(10, 10)
    assert "10 of 40 frequencies  left 15 s" in stream.getvalue()
