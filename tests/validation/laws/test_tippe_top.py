"""Tippe top (Capobianco2021, section 10.6): turns over by friction of sliding that is coupled with drilling.

Tilt [degrees]: the article's scheme, computed again, h = 1e-3; reference (examples/tippe_top.py: exact up to 1.2 s,
Moreau's scheme at 5e-6 then); DecoupledNSGA with persistent contacts, the same from the printed start, and as
published:

    t [s]            0.4   0.6   0.8    1.0    1.2    1.6    2.0    3.0    4.0    4.4    5.0    5.8    6.2    7.0    8.0
    article         23.0  45.1  60.2   85.5  121.2  167.4  168.1  175.6  173.7  157.0  140.3  138.2  135.1  125.6   98.9
    reference      24.86 45.55 64.43  90.10 124.15  168.6  171.9  176.2  175.9  160.9  140.3  138.0  134.7  123.7   97.5
    persistent h   24.82 45.50 64.33  89.95 124.12  168.1  171.6  176.1  176.0  161.4  140.3  138.0  134.6  123.6   97.3
               h/4 24.86 45.55 64.42  90.09 124.14  168.6  171.9  176.2  175.9  160.4  140.3  138.0  134.7  123.6   97.5
    printed start h 25.1 45.66 65.08  90.92 124.36  167.4  171.3  176.0  176.4  164.0  140.3  138.0  134.8  124.3   97.7
    published h    25.32 45.02 66.34  92.38 124.26  166.3  168.5  169.1  148.7  140.3  140.3  133.6  127.8  104.8   79.9
              h/4  25.00 45.43 64.92  90.69 124.18  167.8  170.9  174.8  170.6  140.8  140.3  137.5  133.8  119.6   93.5

    [s]                       tilt > 90°              stick touches                stick leaves for good
    article                   0.970                   1.415                        5.571
    reference                 0.97295                 1.37104                      5.467
    persistent h, h/2, h/4    0.973 0.973 0.973       1.371 1.371 1.37125          5.467 5.460 5.4643
    printed start h           0.974                   1.372                        5.495
    published h, h/2, h/4     0.975 0.974 0.9735      1.374 1.3725 1.37175         5.138 5.298 5.3665 (h/16: 5.435)

The article's time of the first stick contact, 1.415 ± 0.03, is not reproduced and cannot be: the equations of motion of
the sliding top give 1.37104 s, and Moreau's scheme tends to the same (1.37085 s at h = 5e-6). With the scheme as
published two figures need a smaller step: the tilt stays above 165° up to 4 s from h/4 on, and the stick
leaves within 5.57 ± 0.2 from h/8 on (5.408).
"""

import numpy as np
import pytest
import tippe_top as top

import fem_mbs as fem
from fem_mbs.rotations import exp

H = 1e-3  # s, of the article
SHEET_START = 1.2015e-2  # m, printed height of S: 12.5 nm above contact


@pytest.fixture(scope="module")
def result():
    return top.run(H)


@pytest.fixture(scope="module")
def as_printed():
    return top.run(H, height=SHEET_START)


def test_tilt_of_the_printed_start_passes_the_figures_of_the_sheet(as_printed):
    tilt, t = top.angle(as_printed), as_printed.t
    over, touch, leave = top.times(as_printed)
    assert over == pytest.approx(0.97, abs=0.03)
    assert touch == pytest.approx(top.REFERENCE["touch"], abs=2 * H)  # the article: 1.415 ± 0.03, see above
    assert tilt[(t > 1.6) & (t < 4)].min() > 165.0
    assert tilt[as_printed.at(5.0)] == pytest.approx(140.3, abs=0.5)
    assert leave == pytest.approx(5.57, abs=0.2)
    assert min(as_printed[name].gap.min() for name in ("body", "stick")) > -1e-6 * top.radius_body


@pytest.fixture(scope="module")
def exact():
    return top.reference()


def test_reference_times_are_those_of_the_sliding_top(exact):
    _, over, touch = exact
    assert over == pytest.approx(top.REFERENCE["over"], abs=5e-6)
    assert touch == pytest.approx(top.REFERENCE["touch"], abs=5e-6)


@pytest.mark.parametrize("persistent, order, largest", [(True, 2, 0.22), (False, 1, 2.4)])
def test_sliding_top_converges_to_its_equations_of_motion(exact, persistent, order, largest):
    errors, times = [], np.arange(1, 7) * 0.2
    for h in (H, H / 2):
        run = top.run(h, t_end=1.2, persistent_contacts=persistent)
        errors.append(np.abs(top.angle(run)[[run.at(t) for t in times]] - exact[0](times)).max())
    # 0.206° and 2.28° measured; 0.151° without the trapezoidal first step, whose history keeps forces of second order
    assert errors[0] < largest
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_tilt_is_that_of_the_references_to_the_end(result):
    tilt = top.angle(result)
    for t, exact in top.TILT.items():
        # measured 0.21° before and 0.5° after the impact at 1.37 s
        assert tilt[result.at(t)] == pytest.approx(exact, abs=0.3 if t < 1.3 else 1.0)
    spin = result["top"].angular_velocity[:, 2]
    # digits of the reference; turned over the top spins the other way round its axis, and the same way in space
    assert spin[result.at(0.4)] == pytest.approx(160.18, abs=0.1) and spin[result.at(1.2)] == pytest.approx(
        -70.32, abs=0.2
    )
    both = np.degrees(np.arccos(-(top.radius_body - top.radius_stick) / (top.height_stick - top.height_body)))
    assert tilt[result.at(5.0)] == pytest.approx(both, abs=1e-6)  # on both spheres: geometry


def test_friction_is_inside_the_cone_and_against_the_slip(result):
    arm = 3 * np.pi / 16 * top.disc
    R, velocity = result["top"].rotation, result["top"].velocity
    spin = np.einsum("kij,kj->ki", R, result["top"].angular_velocity)
    for name, height, radius in (
        ("body", top.height_body, top.radius_body),
        ("stick", top.height_stick, top.radius_stick),
    ):
        contact = result[name]
        slip = velocity + np.cross(spin, height * R[:, :, 2] - [0, 0, radius])
        slip[:, 2] = arm * spin[:, 2]
        percussion = H * np.einsum("kt,ktj->kj", contact.force_tangential, contact.tangents)
        percussion[:, 2] = H * contact.moment[:, 2] / arm
        size, bound = np.linalg.norm(percussion, axis=1), top.friction * H * contact.force_normal
        assert np.all(contact.force_normal >= 0.0)
        tolerance = 1e-4 * top.mass * top.g * H  # of the iterations: ten times rtol
        assert np.all(size <= bound + tolerance)
        slides = (contact.status == 2) & (contact.impact == 0)
        assert slides.sum() > 1000
        expected = -bound[slides, None] * slip[slides] / np.linalg.norm(slip[slides], axis=1)[:, None]
        assert np.abs(percussion[slides] - expected).max() < tolerance


def test_energy_never_rises(result, as_printed):
    for run in (result, as_printed, top.run(H, persistent_contacts=False)):
        assert np.diff(run.energy.total).max() < 0.0  # of 12 mJ; friction takes at least 3e-8 J in a step
        assert run.energy.total[-1] < 0.1 * run.energy.total[0]
        assert min(run[name].gap.min() for name in ("body", "stick")) > -1e-12  # round-off


def test_axis_of_the_first_tilt_does_not_matter():
    """The axis is a reconstruction; the plane has no direction."""
    model, turn = top.build(), exp([0, 0, 1.1])
    node = model["top"].node
    node.rotation, node.angular_velocity = turn @ node.rotation, turn @ node.angular_velocity
    turned = fem.DecoupledNSGA(rho_inf=0.5, persistent_contacts=True).run(model, t_end=0.6, h=H)
    # tolerance of the iterations
    assert top.angle(turned) == pytest.approx(top.angle(top.run(H, t_end=0.6)), abs=1e-3)


@pytest.mark.slow
def test_scheme_as_published_goes_to_the_same_motion_at_first_order():
    """At the step of the article it loses energy too soon: the top falls at 4 s instead of 4.4 s."""
    runs = [top.run(h, persistent_contacts=False) for h in (H, H / 2, H / 4)]
    measured = np.array([top.times(run) for run in runs])
    reference = np.array([top.REFERENCE[name] for name in ("over", "touch", "leave")])
    errors = np.abs(measured - reference)
    assert errors[:, 0].max() < 3 * H and np.all(errors[:, 1] < [3.5e-3, 2e-3, 1e-3])
    # the last falls like h in the limit: 0.33, 0.17, 0.10 s measured, 0.033 s at h/16
    assert np.all(errors[1:, 2] / errors[:-1, 2] < [0.55, 0.65])
    assert [top.angle(run)[run.at(5.0)] for run in runs] == pytest.approx([140.285] * 3, abs=0.01)
