"""The beam as an element: geometry, errors, eccentric ends, objectivity, damping, output.

Tangents against finite differences are in test_contract.py; published benchmarks in tests/validation.
"""

import re
import warnings
from itertools import pairwise

import numpy as np
import pytest

from fem_mbs.elements.beams.beam import Beam
from fem_mbs.elements.beams.line import beam_curve, beam_line
from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.two_node import TwoNodeBeam
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.forces.loads import PointForce, PointMoment
from fem_mbs.errors import ParameterError
from fem_mbs.model import Model
from fem_mbs.nodes import Frame, Ground, Node6
from fem_mbs.rotations import exp, tangent
from fem_mbs.solvers.nsga.decoupled_nsga import DecoupledNSGA
from fem_mbs.solvers.statics import static_equilibrium
from fem_mbs.system.checks import element_checks

ROD = Section.general(EA=1e4, GA2=3e3, GA3=5e3, GJ=7, EI2=11, EI3=13, rhoA=2.0, rhoI2=0.1, rhoI3=0.2)


# --- geometry ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", [[1, 0, 0], [0, 0, 2], [0.3, -2, 0.5], [-1, 0, 1e-9]])
def test_section_of_a_straight_beam_is_upright_by_default(direction):
    turned = exp([0.3, 0.2, -0.5])
    beam = Beam(Node6([1, 2, 3]), Node6(np.add([1, 2, 3], direction), turned), ROD)
    S_A, S_B = beam.frame_A.orientation, beam.frame_B.orientation
    assert S_A == pytest.approx(S_B, abs=1e-15)  # nodes may be turned as they like
    assert S_A[:, 0] == pytest.approx(direction / np.linalg.norm(direction))
    assert S_A[2, 1] == pytest.approx(0, abs=1e-15)  # e₂ horizontal
    assert S_A[2, 2] >= 0  # e₃ upwards


def test_orientation_turns_the_section():
    beam = Beam(Node6(), Node6([2, 0, 0]), ROD, orientation=[5, 0, 3])
    assert beam.frame_A.orientation == pytest.approx(np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))


def test_default_length_is_the_arc_length_of_the_helix_between_the_ends():
    psi, L = np.array([0.4, 0.9, -0.3]), 2.5
    T = np.empty((3, 3))
    tangent(psi, T)
    node_A, node_B = Node6(), Node6(L * T.T[:, 0], exp(psi))
    beam = Beam(node_A.frame(), node_B.frame(), ROD)
    assert beam.length == pytest.approx(L, rel=1e-14)
    assert beam.strain0[:6] == pytest.approx([1, 0, 0, *(psi / L)], abs=1e-14)
    assert beam.strain0[6:] == pytest.approx(np.zeros(6), abs=1e-14)  # no slope: a helix


def coil(s):
    """A circular helix with its Frenet frame, two thirds of a turn."""
    phi, slope = 4 * s, 0.5 / np.hypot(4, 0.5)
    flat = np.hypot(4, 0.5) ** -1 * 4
    along = np.array([-flat * np.sin(phi), flat * np.cos(phi), slope])
    inwards = np.array([-np.cos(phi), -np.sin(phi), 0])
    return np.array([np.cos(phi), np.sin(phi), 0.5 * s]), np.column_stack([along, inwards, np.cross(along, inwards)])


def test_unloaded_coil_has_no_forces_and_the_exact_arc_length():
    model = Model("coil")
    for points in (np.zeros((5, 3)), lambda s: [s, 0, 0]):
        with pytest.raises(ParameterError, match=r"curve.*tangent"):
            beam_curve(points, 4, ROD)
    line = model.add(beam_curve(coil, 5, ROD))
    system = model.compile()
    assert np.abs(system.forces(system.initial)[1]).max() < 1e-9  # round-off of EA = 1e4
    # constant curvature and torsion: each element is the curve
    assert sum(beam.length for beam in line) == pytest.approx(np.hypot(4, 0.5), rel=1e-13)
    # tangents alone give frames without twist, in which the curvature turns: order 4, 1e-5 here
    tangents = beam_curve(lambda s: (coil(s)[0], coil(s)[1][:, 0]), 5, ROD)
    assert sum(beam.length for beam in tangents) == pytest.approx(np.hypot(4, 0.5), rel=1e-4)


def test_frames_along_a_curve_do_not_depend_on_the_mesh_and_do_not_twist():
    def planar(s):
        return np.array([s, s**2, 0]), np.array([1, 2 * s, 0])

    coarse, fine = (beam_curve(planar, n, ROD, orientation=[0, 0, 1], poses=2) for n in (2, 8))
    assert coarse.nodes[1].rotation == pytest.approx(fine.nodes[4].rotation, abs=1e-14)
    for node in fine.nodes:
        assert node.rotation[:, 1] == pytest.approx([0, 0, 1])  # e₂ stays normal to the plane
    assert all(abs(beam.strain0[3]) < 1e-14 for beam in fine)  # no twist
    three = beam_curve(planar, 8, ROD, orientation=[0, 0, 1])
    assert three.nodes[4].rotation == pytest.approx(fine.nodes[4].rotation, abs=1e-14)
    # round-off of ψ = 1e-16 rad, as slope times 4/L² = 50
    assert all(abs(beam.strain0[3]) < 1e-14 and abs(beam.strain0[9]) < 1e-12 for beam in three)


def test_middle_node_halves_the_arc_length_of_a_curve_of_any_speed():
    def parabola(s):
        return np.array([2 * s**2, s, 0]), np.array([4 * s, 1, 0])

    for beam in beam_curve(parabola, 8, ROD):
        ends = beam.frame_A, beam.middle.frame(), beam.frame_B
        arcs = [Beam(a, b, ROD).length for a, b in pairwise(ends)]
        assert arcs[0] == pytest.approx(arcs[1], rel=1e-9)
        assert beam.length == pytest.approx(sum(arcs), rel=1e-14)


def test_beam_line_makes_nodes_only_where_there_are_none():
    body = RigidBody(1.0, 1.0, position=[2, 0, 0], name="wheel")
    line = beam_line([0, 0, 0], body.frame([-0.5, 0, 0]), 3, ROD, poses=2, name="spoke")
    assert [beam.name for beam in line] == ["spoke 1", "spoke 2", "spoke 3"]
    assert line.nodes[0].name == "spoke node 0"
    assert line.nodes[-1] is body.node
    assert sum(beam.length for beam in line) == pytest.approx(1.5)
    assert line[2].frame_B.p == pytest.approx([-0.5, 0, 0])


@pytest.mark.parametrize("n, elements, nodes", [(1, 1, 3), (2, 1, 3), (7, 4, 9), (8, 4, 9)])
def test_a_line_of_n_intervals_has_n_plus_1_nodes_with_elements_that_span_two(n, elements, nodes):
    line = beam_line([0, 0, 0], [4, 0, 0], n, ROD, name="rod")
    assert (len(line), len(line.nodes)) == (elements, nodes)
    assert [node.name for node in line.nodes] == [f"rod node {k}" for k in range(nodes)]
    places = np.array([node.position[0] for node in line.nodes])
    assert places == pytest.approx(np.linspace(0, 4, nodes), abs=1e-15)
    assert [beam.middle for beam in line] == line.nodes[1::2]
    assert len(beam_line([0, 0, 0], [4, 0, 0], n, ROD, poses=2).nodes) == n + 1


def test_hidden_node_moves_with_the_ends_at_the_start_until_it_is_specified_otherwise():
    spin, drift = np.array([0.3, -2.0, 1.0]), np.array([1.0, 2.0, 3.0])
    nodes = [Node6([0, 0, 0]), Node6([1, 2, 0])]
    beam = Beam(*nodes, ROD)
    for node in nodes:  # after the beam was made
        node.velocity, node.angular_velocity = drift + np.cross(spin, node.position), spin
    assert beam.middle.velocity == pytest.approx(drift + np.cross(spin, [0.5, 1, 0]), abs=1e-14)
    assert beam.middle.angular_velocity == pytest.approx(spin, abs=1e-14)
    beam.middle.velocity = [7.0, 0, 0]
    model = Model("hit")
    model.add(beam)
    assert model.compile().initial.V[beam.middle.index, :3] == pytest.approx([7, 0, 0])


# --- errors -----------------------------------------------------------------------------------------------------------

A, B = Node6(name="a"), Node6([1, 0, 0], name="b")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Beam(Node6(), Node6(), ROD, name="rod 3"), "'rod 3': length = 0 m.*different"),
        (
            lambda: beam_line([1, 1, 1], [1, 1, 1], 2, ROD, name="rod"),
            "'rod': length = 0 m.*different",
        ),
        (lambda: Beam(A, A, ROD), "end_B = Node6 'a'.*same node as end_A"),
        (lambda: Beam(A, B, ROD, length=-1), "length = -1.* m.*> 0"),
        (lambda: Beam(A, B, ROD, orientation=[2, 0, 0]), "orientation .*along"),
        (lambda: Beam(A, B, ROD, inertia="exact"), "inertia = 'exact'.*consistent, lumped"),
        (lambda: TwoNodeBeam(A, B, ROD, inertia="x"), "inertia = 'x'.*hermite, linear, lumped"),
        (lambda: Beam(A, B, ROD, middle=A), "middle = .*end"),
        (lambda: beam_line(A, B, 2, ROD, poses=4), "poses = 4.* 3 .* or 2"),
        (lambda: beam_line(A, B, 2, ROD, large_strain=True), "large_strain = True.*two-node"),
        (lambda: Beam(A, B, ROD, flexibility="best"), "flexibility = 'best'.*unknown"),
        (lambda: Beam(A, B, ROD, damping=-1e-3), "damping = -0.001 s.*≥ 0"),
        (lambda: Beam(A, B, ROD, damping=[1, 2]), r"damping = \[1, 2\].*a number"),
        (lambda: Beam(A, B, 3.0), r"section = 3\.0.*Section"),
        (lambda: Beam(A.frame(rotation=[0, 0, 3]), B.frame(), ROD), r"frame = .*x axis"),
        (lambda: Beam(A.frame(rotation=[0, 0, 1]), B.frame(rotation=[0, 0, 1]), ROD), r"frames = .*tangent"),
        (
            lambda: Beam(A.frame(rotation=[1.45, 0, 0]), B.frame(rotation=[-1.45, 0, 0]), ROD),
            r"angle = 2.9.* below 2.8",
        ),
        (lambda: Beam(A, B, ROD, length=2), r"frames = .*arc length"),
        (
            lambda: TwoNodeBeam(A, B, Section.general(EA=1, GJ=1, EI2=1, EI3=1), flexibility="plain"),
            r"shear flexibility",
        ),
        (lambda: beam_line(A, B, 0, ROD), "n = 0.*whole number"),
    ],
)
def test_impossible_beams_are_rejected(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


# --- forces -----------------------------------------------------------------------------------------------------------


def bent(ends, section=ROD, **options):
    """Model of one or more beams between pairs of ends."""
    model = Model("bent")
    model.add([Beam(a, b, section, **options) for a, b in ends])
    return model


def test_eccentric_connection_is_a_rigid_arm():
    load, arm, turn = np.array([3.0, 40.0, 20.0]), np.array([0.1, -0.3, 0.2]), exp([0.2, 0.4, -0.7])
    direct = Node6([1, 0, 0])
    model = bent([(Node6(fixed=True).frame(), direct.frame())])
    model.add(PointForce(direct, load))
    expected = static_equilibrium(model, steps=2)
    # the same beam, but its end belongs to a node elsewhere with other axes
    node = Node6(np.array([1, 0, 0]) - turn @ arm, turn)
    model = bent([(Node6(fixed=True).frame(), node.frame(arm, turn.T))])
    model.add(PointForce(node.frame(arm), load))
    result = static_equilibrium(model, steps=2)
    end = result.position(node) + result.rotation(node) @ arm
    assert end == pytest.approx(expected.position(direct), abs=1e-9)  # Newton tolerance
    assert result.rotation(node) @ turn.T == pytest.approx(expected.rotation(direct), abs=1e-9)
    beams = [m.model.elements[0] for m in (expected.system, result.system)]
    for name in ("force_A", "moment_A", "force_B", "moment_B"):
        assert result.output(beams[1], name) == pytest.approx(expected.output(beams[0], name), abs=1e-6)


@pytest.mark.parametrize(
    "poses, inertia", [(2, "hermite"), (2, "linear"), (2, "lumped"), (3, "consistent"), (3, "lumped")]
)
def test_rigid_motion_has_the_kinetic_energy_of_a_rod_and_no_strain(poses, inertia):
    n, spin = 4, np.array([1.0, -2.0, 0.5])
    line = beam_line([0, 0, 0], [2, 1, 0.5], n, ROD, poses=poses, inertia=inertia)
    for node in line.nodes:
        node.velocity, node.angular_velocity = np.array([1.0, 2, 3]) + np.cross(spin, node.position), spin
    model = Model("rod")
    model.add(line)
    system = model.compile()
    L = np.linalg.norm([2, 1, 0.5])
    S = line.nodes[0].rotation
    middle = np.array([1.0, 2, 3]) + np.cross(spin, [1, 0.5, 0.25])
    across = np.linalg.norm(np.cross(S[:, 0], spin)) ** 2
    w = S.T @ spin
    kinetic = 0.5 * 2.0 * L * middle @ middle + 0.5 * L * w @ np.diag([0.3, 0.1, 0.2]) @ w
    slender = 0.5 * 2.0 * L**3 / 12 * across
    # lumped masses of n two-node elements: m L²/12 (1 + 2/n²) instead of m L²/12; (1/6, 4/6, 1/6) is exact
    slender *= 1 + 2 / n**2 if inertia == "lumped" and poses == 2 else 1
    assert system.energies(system.initial)[0] == pytest.approx(kinetic + slender, rel=1e-13)
    static = system.initial.copy()
    static.V[:] = 0
    assert np.abs(system.forces(static)[1]).max() < 1e-11  # round-off of EA = 1e4


def test_mass_of_a_model_of_beams():
    model = Model("rods")
    model.add(beam_line([0, 0, 0], [2, 0, 0], 3, ROD), beam_line([0, 1, 0], [0, 5, 0], 2, ROD))
    mass, center = model.mass_properties()
    assert mass == pytest.approx(2.0 * (2 + 4))
    assert center == pytest.approx([4 * 1 / 12, 8 * 3 / 12, 0])


def test_section_with_its_mass_off_the_line_has_the_right_centre_of_mass():
    model = Model("rail")
    model.add(beam_line([0, 0, 0], [3, 0, 0], 2, ROD.shifted(0.2, -0.1)))
    _, center = model.mass_properties()
    assert center == pytest.approx([1.5, 0.2, -0.1])


@pytest.mark.parametrize("damping", [0.01, [3, 2, 1, 0.5, 0.4, 0.3]])
def test_damping_takes_energy_from_strains_but_never_from_rigid_motion(damping):
    rng = np.random.default_rng(3)
    model = bent([(Node6([0, 0, 0], rng.normal(size=3)), Node6([1, 0.2, 0], rng.normal(size=3)))], damping=damping)
    system = model.compile()
    state = system.initial.copy()
    shift = np.zeros((4, 6))
    shift[1:] = 0.3 * rng.normal(size=(3, 6))
    state = system.moved(state, shift)  # strained
    elastic = system.forces(state)[1].copy()
    spin = rng.normal(size=3)
    state.V[:, :3] = rng.normal(size=3) + np.cross(spin, state.x)
    state.V[:, 3:] = np.einsum("nji,j->ni", state.R, spin)
    beam = system.elements[0]
    plain = Model("plain")
    plain.add(Beam(beam.nodes[0], beam.nodes[2], ROD, middle=beam.middle))
    plain = plain.compile()
    moving = state.copy()
    damped, undamped = system.forces(moving)[1].copy(), plain.forces(moving)[1]
    assert np.abs(damped - undamped).max() < 1e-12 * np.abs(elastic).max()  # rigid: round-off
    state.V[1:] = rng.normal(size=(3, 6))
    power = (system.forces(state)[1] - plain.forces(state)[1]) @ state.V.ravel()
    assert power < 0


def test_section_forces_are_those_of_statics():
    root, tip = Node6(fixed=True), Node6([2, 0, 0])
    model = bent([(root, tip)])
    model.add(PointForce(tip, [1e-6, 2e-6, 3e-6]), PointMoment(tip, [4e-6, 5e-6, 6e-6]))
    result = static_equilibrium(model)
    beam = model.elements[0]
    # loads so small that the geometry is that of the start (1e-6); signs: N tension, M₂ and M₃ about e₂ and e₃
    assert 1e6 * result.output(beam, "force_A") == pytest.approx([1, 2, 3], abs=1e-5)
    assert 1e6 * result.output(beam, "force_B") == pytest.approx([1, 2, 3], abs=1e-5)
    assert 1e6 * result.output(beam, "moment_B") == pytest.approx([4, 5, 6], abs=1e-5)
    assert 1e6 * result.output(beam, "moment_A") == pytest.approx([4, 5 - 2 * 3, 6 + 2 * 2], abs=1e-5)
    strain, curvature = 1e6 * result.output(beam, "strain"), 1e6 * result.output(beam, "curvature")
    assert strain[0] == pytest.approx(1 / 1e4, rel=1e-4)
    # mean curvature: that of the mean moment
    assert curvature == pytest.approx([4 / 7, (5 - 3) / 11, (6 + 2) / 13], rel=1e-4)


def test_mixed_and_plain_newton_have_the_same_equilibrium():
    tips = []
    for mixed in (True, False):
        root, tip = Node6(fixed=True), Node6([2, 0, 0])
        model = bent([(root, tip)])
        model.add(PointForce(tip, [1, 2, 3]))
        tips.append(static_equilibrium(model, mixed=mixed).position(tip))
    assert tips[0] == pytest.approx(tips[1], abs=1e-9)  # Newton tolerance


def test_tangent_is_symmetric_at_an_equilibrium_under_dead_forces():
    root, tip = Node6(fixed=True), Node6([2, 0, 0])
    model = bent([(root, tip)])
    model.add(PointForce(tip, [1, 20, 30]))
    result = static_equilibrium(model)
    K = result.system.matrices(result.state)[2].toarray()
    assert np.abs(K - K.T).max() < 1e-8 * np.abs(K).max()  # the moment residual left by Newton


def test_beam_on_the_ground_and_on_a_body():
    ground = Ground()
    body = RigidBody(2.0, 1.0, position=[1, 0, 0], name="disk")
    model = Model("mast", gravity=[0, 0, -9.81])
    model.add(body)
    beam = model.add(Beam(model.ground, body, ROD))
    assert isinstance(beam.frame_A, Frame) and beam.nodes[0] is model.ground is not ground
    result = static_equilibrium(model)
    # body and beam; Newton tolerance
    assert result.output(beam, "force_A") == pytest.approx([0, 0, -9.81 * (2.0 + 2.0 * 1.0)], abs=1e-6)
    layout = model.compile().own.layouts[0]
    assert layout.n == 12  # of the body and of the middle; the ground's components are dropped


@pytest.mark.parametrize("angle, troubled", [(2.79, False), (2.81, True), (-3.1, True)])
def test_compiled_check_names_the_beam_whose_ends_are_turned_beyond_the_limit(angle, troubled):
    first, middle, last = Node6(), Node6([1, 0, 0]), Node6([2, 0, 0])
    model = bent([(first, middle), (middle, last)])
    model.add(PointForce(last, [0, 0, 0]))
    system = model.compile()
    moved = np.zeros((len(system.nodes), 6))
    moved[last.index, 3:] = angle * np.array([0.6, 0.0, 0.8])
    state = system.moved(system.initial, moved)
    first = system.initial
    assert element_checks.trouble_of(system.data[0], first.x, first.R, first.x, first.R) == -1
    number = element_checks.trouble_of(system.data[0], state.x, state.R, first.x, first.R)
    assert (number >= 0) == troubled
    if troubled:
        element, text = element_checks.trouble(system, state)
        assert element is element_checks.element_at(system, number) is model.elements[1]
        assert f"turned by {abs(angle):.2f} rad" in text


# --- warnings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pull, said", [(45.0, None), (60.0, "tension.* 60 EI/L²"), (-9.0, None)])
def test_tension_that_an_element_does_not_resolve_is_remarked_with_its_name(pull, said):
    model, tip = Model("pulled"), Node6([2, 0, 0])
    section = Section.general(EA=1e6, GJ=1, EI2=2, EI3=4)
    model.add(beam_line(Node6(fixed=True), tip, 4, section, name="rod"), PointForce(tip, [2.0 * pull, 0, 0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        static_equilibrium(model)
    texts = [text for text in (str(w.message) for w in caught) if text.startswith("Beam")]  # one column is unstable
    if said is None:
        assert not texts
    else:
        assert len(texts) == 1 and re.search(rf"Beam 'rod \d'.*1 more.*{said}", texts[0])


def test_runs_keep_the_warnings_of_elements_with_their_warnings():
    model, tip = Model("pulled"), Node6([2, 0, 0])
    section = Section.general(EA=1e6, GJ=1, EI2=2, EI3=4, rhoA=1, rhoI2=1e-3, rhoI3=1e-3)
    model.add(beam_line(Node6(fixed=True), tip, 4, section, name="rod"), PointForce(tip, [120.0, 0, 0]))
    result = DecoupledNSGA(rho_inf=0.0).run(model, 0.2, 1e-2)
    assert any("EI/L²" in text and "rod" in text for text in result.warnings)
    assert "WARNING" in result.report()


def test_compression_beyond_the_buckling_of_one_element_is_remarked():
    root, tip = Node6(fixed=True), Node6([1, 0, 0], fixed=("y", "z", "rx", "ry", "rz"))
    model = Model("pressed")
    model.add(Beam(root, tip, Section.general(EA=1e6, GJ=1, EI2=2, EI3=1), name="strut"), PointForce(tip, [-12, 0, 0]))
    with pytest.warns(UserWarning, match=r"'strut': compression.* 12 EI/L².*buckle"):
        static_equilibrium(model)


@pytest.mark.parametrize("n, thin, warned", [(8, True, True), (24, True, False), (8, False, False)])
def test_thin_ring_of_few_elements_is_remarked_when_it_is_made(n, thin, warned):
    def ring(s):
        phi = 2 * np.pi * s
        return np.array([np.cos(phi), np.sin(phi), 0]), np.array([-np.sin(phi), np.cos(phi), 0])

    section = Section.general(EA=1e6 if thin else 1e4, GJ=1, EI2=1, EI3=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        beam_curve(ring, n, section, name="ring")
    assert any("Beam 'ring 1': " in str(w.message) for w in caught) == warned
