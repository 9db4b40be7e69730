"""What another unit leaves behind in reductions: sizes and masses that no part has, frames far away."""

import warnings

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.arguments.checked import Named
from fem_mbs.elements.superelements.units import check_masses

ROWS = [2.0, 2.0, 2.0, 0.1, 0.05, 0.05]


def words(make, *arguments, **options):
    """What ``make(…)`` returns, and the warnings of it that are about units."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = make(*arguments, **options)
    return made, [str(one.message) for one in told if "modes=" not in str(one.message)]


def reduced(length, density, E=210e9, section=0.2):
    """A bar of some length, its thickness a part of that."""
    mesh = fem.block_mesh([length, section * length, section * length], [4, 1, 1])
    return words(fem.reduce_mesh, mesh, fem.SolidMaterial(E, 0.3, density), {"a": "x0", "b": "x1"}, modes=3)


@pytest.mark.parametrize("length, is_told", [(7.0, False), (0.2, False), (30.0, True), (100.0, True)])
def test_a_part_of_steel_that_is_as_heavy_as_millimetres_make_it_is_reported(length, is_told):
    """A thousand tons and more than 5 m: ρ ℓ³/25 is 1.1e5 kg at 7 m, 8.5e6 kg at 30 m."""
    made, told = reduced(length, 7850.0)
    assert made.mass == pytest.approx(7850.0 * length**3 / 25)
    assert bool(told) == is_told
    if told:
        for part in ("reduce_mesh: ", f"{length:g} m long", "millimetres", "mesh.moved(lambda x: 1e-3 * x)"):
            assert part in told[0]


@pytest.mark.parametrize(
    "length, density, section, is_told",
    [(100.0, 7.85e-9, 0.2, True), (100.0, 7.85e-9, 0.99, True), (1.0, 20.0, 0.01, False)],
    ids=["bar in mm and t", "block in mm and t", "rod of foam"],
)
def test_a_part_that_is_as_light_as_tons_and_millimetres_make_it_is_reported(length, density, section, is_told):
    told = reduced(length, density, 210e3, section)[1]
    assert bool(told) == is_told
    if told:
        assert "M in t" in told[0] and "1e3 times M and K" in told[0]


def shaft(M=None, points=((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), **frames):
    """Two discs on a shaft that can be twisted."""
    K = np.kron([[1, -1], [-1, 1]], np.diag([0, 0, 0, 400.0, 0, 0]))
    M = np.kron(np.eye(2), np.diag(ROWS)) if M is None else M
    return words(fem.reduce_matrices, M, K, points, {"a": [0], "b": [1]} | frames, modes=0)


def test_a_long_wire_is_not_reported():
    """0.4 kg on 100 m, 1 mm of plastic; a fifth of it would be."""
    M, far = np.kron(np.eye(2), np.diag(ROWS)), [[0.0, 0, 0], [100.0, 0, 0]]
    assert not shaft(0.1 * M, far)[1]
    assert shaft(0.02 * M, far)[1]


def test_a_heavy_part_that_is_short_is_not_reported():
    """2000 t within 1 m, as a body that others move with; on 6 m it would be a part of steel in millimetres."""
    M = 5e5 * np.kron(np.eye(2), np.diag(ROWS))
    assert not shaft(M)[1]
    assert shaft(M, [[0.0, 0, 0], [6.0, 0, 0]])[1]


@pytest.mark.parametrize(
    "place, is_told",
    [([1e-3, 0, 0], True), ([1e3, 0, 0], True), ([0.5, 0, 0], False), ([8.0, 0, 0], False), ([0.0, 0, 0], False)],
    ids=["metres of mm", "mm of metres", "half way", "far away", "the origin"],
)
def test_a_frame_a_thousand_times_too_near_or_far_is_reported(place, is_told):
    """One that is away from its nodes by intent is not."""
    made, told = shaft(b=([1], place))
    assert made.positions[1].tolist() == place
    assert bool(told) == is_told
    if told:
        assert "frame 'b' is at" in told[0] and "[1.0, 0.0, 0.0]" in told[0]


def test_a_frame_at_the_origin_of_nodes_there_is_not_reported():
    """Any position is within 0.1 % of these nodes: it has to be far away as well."""
    assert not shaft(a=([0], [0.5, 0.2, 0.0]))[1]
    assert shaft(a=([0], [11.0, 0.0, 0.0]))[1]


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda M: M[np.ix_(BY_COMPONENT, BY_COMPONENT)], r"M = .*kg along x, y and z.*mass of a body"),
        (lambda M: M + np.diag([1.0, 0, 0, 0, 0, 0] * 2), r"\[6.0, 4.0, 4.0\] kg along x, y and z"),
        (lambda M: M + 1e-2 * COUPLED, r"M = .*masses at the points"),
        (lambda M: -M, r"M = .*not positive"),
    ],
    ids=["order by components", "mass along x alone", "coupled with a turn", "negative"],
)
def test_masses_that_are_not_those_of_a_body_are_rejected(change, match):
    M = np.kron(np.eye(2), np.diag(ROWS))
    with pytest.raises(fem.ParameterError, match=match):
        shaft(change(M))
    assert shaft(M)[0].mass == 4.0


BY_COMPONENT = np.arange(12).reshape(2, 6).T.ravel()
COUPLED = np.zeros((12, 12))
COUPLED[0, 3] = COUPLED[3, 0] = 1.0  # a turn about x that moves mass along x


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_points_of_nodes_with_rotations_in_another_unit_than_stiffness_are_rejected(factor):
    """Of a beam: bending moments say what the length is."""
    E_I, L = 10.0, 2.0
    k = E_I / L**3 * np.array([[12, 6 * L], [6 * L, 4 * L**2]])
    far = E_I / L**3 * np.array([[-12, 6 * L], [-6 * L, 2 * L**2]])
    end = E_I / L**3 * np.array([[12, -6 * L], [-6 * L, 4 * L**2]])
    bend = np.block([[k, far], [far.T, end]])
    K = np.zeros((12, 12))
    K[np.ix_([1, 5, 7, 11], [1, 5, 7, 11])] = bend  # y and the turn about z
    M, points = np.kron(np.eye(2), np.diag(ROWS)), np.array([[0.0, 0, 0], [L, 0, 0]])
    assert fem.reduce_matrices(M, K, points, {"a": [0], "b": [1]}, modes=0).mass == 4.0
    with pytest.raises(fem.ParameterError, match=r"K = .*unit of length"):
        fem.reduce_matrices(M, K, factor * points, {"a": [0], "b": [1]}, modes=0)


@pytest.mark.parametrize("apart, fits", [(5e-5, True), (1e-3, False)])
def test_masses_along_the_axes_are_one_to_the_digits_of_files(apart, fits):
    rigid = np.diag([2.0, 2.0 * (1.0 + apart), 2.0, 1.0, 1.0, 1.0])
    if fits:
        check_masses(Named("part"), rigid, 1.0)
        return
    with pytest.raises(fem.ParameterError, match=r"M = .*mass of a body"):
        check_masses(Named("part"), rigid, 1.0)
