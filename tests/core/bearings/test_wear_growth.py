"""Growth of wear with the geometry: closed forms, order in the length of blocks, two surfaces, bad input and runs."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ParameterError

STEPPER = fem.DecoupledNSGA(rho_inf=0.8)


# --- a block on a plane -----------------------------------------------------------------------------------------------


def slide(depth, load=30.0, speed=0.5, h=1e-3, save_every=1):
    """A block of a point contact that slides 0.1 m on a plane, which is lower by its wear."""
    model = fem.Model("block")
    block = {"position": [0, 0, 0.01 - depth], "velocity": [speed, 0, 0], "fixed": ("y", "rx", "ry", "rz")}
    body = model.add(fem.RigidBody(2.0, 1e-4, **block, name="block"))
    model.add(fem.SphereOnPlane(body, model.ground.frame([0, 0, -depth]), radius=0.01, name="track"))
    model.add(fem.PointForce(body, [0, 0, -load]))
    return STEPPER.run(model, t_end=0.2, h=h, save_every=save_every)


def test_a_sliding_block_wears_the_depth_of_archards_law():
    """k N s/(H A), exactly: load and speed are constant."""
    track = fem.WornSurface("track", coefficient=3e-4, hardness=1.5e9, area=4e-4)
    expected = 3e-4 * 30 * 0.1 / (1.5e9 * 4e-4)
    depth, ratio = track.depth(slide(0.0))
    assert depth == pytest.approx(expected, rel=1e-12, abs=0) and np.isnan(ratio)
    half, _ = track.depth(slide(0.0), start=0.1)
    assert half == pytest.approx(0.5 * expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("largest, runs", [(1.0, 1), (4e-5, 4), (3.3e-5, 5), (2e-5, 8)])
def test_a_constant_rate_is_extrapolated_exactly_in_blocks_of_at_most_the_largest_depth(largest, runs):
    rate = 3e-4 * 30 * 0.1 / (1.5e9 * 4e-4)
    track = fem.WornSurface("track", coefficient=3e-4, hardness=1.5e9, area=4e-4)
    total = 1.5e-4 / rate
    growth = fem.grow_wear(lambda d: slide(d["track"]), {"track": track}, cycles=total, largest_depth=largest)
    assert growth.depth["track"][-1] == pytest.approx(1.5e-4, rel=1e-9, abs=0)
    assert growth.rate["track"] == pytest.approx(rate, rel=1e-9, abs=0) and growth.cycles[-1] == pytest.approx(total)
    assert len(growth.rate["track"]) == runs
    assert (np.diff(growth.depth["track"]) <= largest * (1 + 1e-9)).all()


def test_parts_of_a_surface_and_cycles_of_a_run_count_once():
    one = fem.WornSurface("track", coefficient=3e-4, hardness=1.5e9, area=4e-4)
    two = fem.WornSurface(["track", "track"], coefficient=3e-4, hardness=1.5e9, area=4e-4)
    result = slide(0.0)
    assert two.depth(result)[0] == pytest.approx(2 * one.depth(result)[0], rel=1e-14, abs=0)
    call = {"cycles": 100.0, "largest_depth": 1.0}
    single = fem.grow_wear(lambda d: result, {"a": one}, **call)
    four = fem.grow_wear(lambda d: result, {"a": one}, cycles_per_run=4, **call)
    assert four.depth["a"][-1] == pytest.approx(single.depth["a"][-1] / 4, rel=1e-14, abs=0)


# --- the bush of an unbalanced shaft ----------------------------------------------------------------------------------

MASS, UNBALANCE, SPEED, RADIUS, LENGTH, CLEARANCE = 2.0, 1e-4, 100.0, 0.01, 0.02, 1e-4
BUSH = {"coefficient": 1e-5, "hardness": 1e9, "radius": RADIUS, "length": LENGTH}
STEPS = 120  # of a turn; forces of a circle in such steps are low by (Ωh)²/6 = 4.6e-4


def whirl(clearance):
    """A shaft that whirls with its heavy side outwards, for a turn: steady, without friction and weight."""
    model = fem.Model("unbalanced shaft")
    shaft = fem.RigidBody(
        MASS, 1e-3, center=[UNBALANCE, 0, 0], position=[clearance, 0, 0], velocity=[0, SPEED * clearance, 0],
        angular_velocity=[0, 0, SPEED], fixed=("z", "rx", "ry"), name="shaft",
    )  # fmt: skip
    model.add(shaft)
    model.add(fem.JournalClearance(shaft, model.ground, radius=RADIUS, clearance=clearance, name="bush"))
    turn = 2 * np.pi / SPEED
    return STEPPER.run(model, t_end=turn, h=turn / STEPS)


def ode(cycles):
    """Depth of the bush after cycles: F = m Ω² (u + c), sliding Ω (R + c) for a turn, area 2π R L."""
    k = BUSH["coefficient"] / BUSH["hardness"] * MASS * SPEED**2 / (RADIUS * LENGTH)

    def rate(_, w):
        c = CLEARANCE + w[0]
        return [k * (UNBALANCE + c) * (RADIUS + c)]

    return solve_ivp(rate, (0, cycles), [0.0], rtol=1e-10, atol=1e-16).y[0, -1]


def bush_after(cycles, largest, order):
    surface = fem.WornSurface.cylinder("bush", **BUSH)
    growth = fem.grow_wear(
        lambda depth: whirl(CLEARANCE + depth["bush"]), {"bush": surface}, cycles=cycles, largest_depth=largest,
        order=order,
    )  # fmt: skip
    return growth


def test_the_bush_of_an_unbalanced_shaft_wears_evenly_at_a_rate_of_closed_form():
    depth, ratio = fem.WornSurface.cylinder("bush", **BUSH).depth(whirl(CLEARANCE))
    k = BUSH["coefficient"] / BUSH["hardness"] * MASS * SPEED**2 / (RADIUS * LENGTH)
    assert depth == pytest.approx(k * (UNBALANCE + CLEARANCE) * (RADIUS + CLEARANCE), rel=7e-4, abs=0)
    surface, result = fem.WornSurface.cylinder("bush", **BUSH), whirl(CLEARANCE)
    assert surface.area * depth == pytest.approx(fem.contact_wear(result, "bush", **BUSH).volume, rel=1e-12, abs=0)
    assert 1.0 <= ratio < 1.5  # 120 steps in 24 intervals: five, or one more or less


def test_clearance_grows_by_its_differential_equation():
    """The wear that doubles the clearance of the bush makes it wear faster: exponential growth, to 0.1 %."""
    cycles = 5e7
    exact = ode(cycles)
    growth = bush_after(cycles, 2e-5, 2)
    assert exact > 1.2e-4  # the clearance more than doubles
    assert growth.depth["bush"][-1] == pytest.approx(exact, rel=1e-3, abs=0)
    # from the rates at the beginning alone it would be a third less
    assert growth.rate["bush"][0] * cycles < 0.8 * exact
    assert (np.diff(growth.rate["bush"]) > 0).all()


@functools.cache
def in_many_blocks(cycles, largest):
    return bush_after(cycles, largest, 2).depth["bush"][-1]


@pytest.mark.parametrize("order", [1, 2])
def test_depth_converges_with_the_number_of_blocks(order):
    """To the differential equation of the rates that runs have: the wear in 70 blocks."""
    cycles, last = 1.5e8, 7.5e-4
    fine = in_many_blocks(cycles, last / 70)
    errors, sizes = [], []
    for blocks in (8, 16, 32):
        growth = bush_after(cycles, last / blocks, order)
        errors.append(abs(growth.depth["bush"][-1] / fine - 1))
        sizes.append(np.diff(growth.cycles).mean())
    observed = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    # the first and the last block of order 2 have local errors of third order, which prevail here
    assert order - 0.25 < observed < order + (0.25 if order == 1 else 1.25), f"order {observed:.2f}, {errors}"
    assert errors[-1] < (0.1 if order == 1 else 1e-3)


def test_pin_and_bush_share_the_wear_by_their_hardness():
    """The pin touches with its heavy side only: uneven, which is taken as the mean when asked for."""
    pin = {**BUSH, "hardness": 3e9}
    surfaces = {
        "bush": fem.WornSurface.cylinder("bush", **BUSH),
        "pin": fem.WornSurface.cylinder("bush", **pin, surface="first", uneven="mean"),
    }
    growth = fem.grow_wear(lambda d: whirl(CLEARANCE + d["bush"] + d["pin"]), surfaces, cycles=2e7, largest_depth=1e-5)
    assert growth.depth["pin"] == pytest.approx(growth.depth["bush"] / 3, rel=1e-12, abs=0)
    assert (growth.unevenness["pin"] > 11.9).all() and (growth.unevenness["bush"] < 1.5).all()
    with pytest.raises(FemMbsError, match=r"'bush': the largest depth .* is (12|24) times the mean.*uneven=\"mean\""):
        fem.WornSurface.cylinder("bush", **pin, surface="first").depth(whirl(CLEARANCE))


# --- runs and input that cannot be taken ------------------------------------------------------------------------------

TRACK = fem.WornSurface("track", coefficient=3e-4, hardness=1.5e9, area=4e-4)


def grow(cycle=lambda d: slide(d["track"]), surfaces=None, **change):
    call = {"cycles": 1e5, "largest_depth": 1e-3, **change}
    return fem.grow_wear(cycle, {"track": TRACK} if surfaces is None else surfaces, **call)


def test_a_run_that_fails_leaves_the_wear_until_then():
    def until(depth):
        if depth["track"] > 5e-5:
            raise ParameterError(TRACK, "area", 0.0, "is worn through")
        return slide(depth["track"])

    with pytest.raises(FemMbsError, match=r"run 4, after 75000 cycles with depths track 0\.0001125 m.*worn") as caught:
        rate = 1.5e-9
        grow(lambda d: until({"track": d["track"] / 2}), cycles=1.5e-4 / rate, largest_depth=4e-5)
    assert caught.value.growth.depth["track"][-1] == pytest.approx(1.125e-4)
    with pytest.raises(ParameterError, match="worn through"):  # the first run: the model is wrong without wear
        grow(lambda d: until({"track": 1.0}))


def test_rates_that_change_too_fast_are_reported():
    rates = iter([1.0, 2.0, 4.0, 8.0] + 20 * [8.0])
    with pytest.warns(UserWarning, match=r"changed by more than a half in 3 of 11 blocks.*largest_depth"):
        grow(lambda d: slide(0.0, load=30 * next(rates)), cycles=3e5, largest_depth=2e-4)


def test_rates_that_fall_never_take_wear_back():
    rates, seen = iter([8.0] + 20 * [1.0]), []

    def cycle(depth):
        seen.append(depth["track"])
        return slide(0.0, load=30 * next(rates))

    with pytest.warns(UserWarning, match="changed by more than a half"):
        growth = grow(cycle, cycles=3e6, largest_depth=5e-4)
    assert len(seen) > 2 and (np.diff(seen) > 0).all() and (np.diff(growth.depth["track"]) > 0).all()


@pytest.mark.parametrize("change", [{"load": 0.0}, {"speed": 0.0}])
def test_a_run_without_wear_is_rejected(change):
    with pytest.raises(FemMbsError, match=r"nothing wears.*stays open"):
        grow(lambda d: slide(0.0, **change))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: grow(lambda d: slide(0.0, save_every=4)), "saved 51 of 201 states.*save_every=1"),
        (lambda: grow(largest_depth=1e-12), "one run wears off 1.5e-09 m, more than largest_depth"),
        (lambda: grow(largest_depth=2e-9, cycles=1e6), "7.5e\\+05 more runs.*larger largest_depth"),
        (lambda: grow(surfaces={}), "surfaces = .*dict of names and WornSurface"),
        (lambda: grow(surfaces={"track": 3.0}), "dict of names and WornSurface"),
        (lambda: grow(lambda d: 3.0), "cycle = 3.0 must be a function that returns the Results"),
        (lambda: grow(lambda: 3.0), "cycle .*a function of the depths"),
        (lambda: grow(cycles=-1.0), "cycles = -1.0"),
        (lambda: grow(order=3), "order = 3 must be one of 1, 2"),
        (lambda: grow(cycles_per_run=0.0), "cycles_per_run = 0"),
        (lambda: grow(start=0.2), r"start = 0\.2 s leaves no steps of a run that ends at 0\.2 s"),
        (lambda: fem.WornSurface("track", coefficient=1.0, hardness=1.0, area=0.0), "area = 0"),
        (lambda: fem.WornSurface([], coefficient=1.0, hardness=1.0, area=1.0), "contact = .*name of a contact"),
        (lambda: fem.WornSurface.cylinder("a", **BUSH, uneven="ignore"), "uneven = 'ignore'.*'error', 'mean'"),
        (lambda: fem.WornSurface.cylinder("a", **BUSH, surface="third"), "surface = 'third'"),
        (lambda: fem.WornSurface("hub", coefficient=1.0, hardness=1.0, area=1.0).depth(slide(0.0)), "hub"),
    ],
)
def test_bad_input_is_rejected_with_a_cure(call, words):
    with pytest.raises(FemMbsError, match=words):
        call()
