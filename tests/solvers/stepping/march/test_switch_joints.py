"""Locks and attachments that are switched: what they hold, which ones do not fit, which repeat each other."""

import numpy as np
import pytest
from switch_runs import Run, chain, free_bodies

import fem_mbs as fem

NSGA = fem.DecoupledNSGA()


def test_lock_holds_each_time_the_angle_that_it_finds():
    run = Run(NSGA, chain(), 2e-3)
    held = []
    for on in (True, False, True, False, True):
        run.take(100)
        told = run.switch("lock", on)
        held.append(run.angle("link 2") - run.angle("link 1"))
        assert told.kinetic_loss > 1e-6 if on else told.kinetic_loss == 0.0
        first = len(run.history("t"))
        run.take(100)
        free = np.abs(run.output("lock", "moment")[first:, 2])
        between = run.angle("link 2") - run.angle("link 1")
        if on:
            assert abs(np.remainder(between - held[-1] + np.pi, 2 * np.pi) - np.pi) < 1e-12  # 100 steps: no creep
            assert free.min() > 1e-3
        else:
            assert abs(between - held[-1]) > 0.05 and free.max() == 0.0
    assert np.ptp(np.unwrap(held)[::2]) > 0.1  # other angles
    assert run.history("violation")[:, 0].max() < 1e-12 and run.warnings == []
    assert run.switch("lock", True) is None  # it is on


LOCKED = (
    "Revolute", "Cylindrical", "Prismatic", "Spherical", "Universal", "Planar", "Screw", "ConstantVelocity",
    "PointOnLine", "ParallelAxes", "PerpendicularAxes",
)  # fmt: skip


@pytest.mark.parametrize("joint", LOCKED)
def test_lock_fixes_all_free_coordinates_of_a_joint(joint):
    rng = np.random.default_rng(5)
    model = fem.Model("locked", gravity=[0.3, 0.2, -9.81])
    body = model.add(fem.RigidBody(1.5, [0.2, 0.25, 0.3], position=[0.4, 0.1, 0.2], name="body"))
    axis = {} if joint == "Spherical" else {"axis": np.array([1.0, 2.0, 2.0]) / 3.0}
    axis |= {"lead": 3.0} if joint == "Screw" else {}
    held = model.add(getattr(fem, joint).at(model.ground, body, [0.1, 0, 0], **axis))
    model.add(fem.Lock(held, active=False, name="lock"))
    run = Run(NSGA, model, 2e-3).take(150)
    moved = run.history("position")[-1, body.node.index] - body.node.position
    turned = 1.0 - abs(run.history("quaternion")[-1, body.node.index, 0])
    assert np.linalg.norm(moved) + turned > 0.05, rng
    told = run.switch("lock", True)
    pose = run.engine.arrays["x"].copy(), run.engine.arrays["R"].copy()
    assert np.abs(run.velocity("body")).max() < 1e-13 and told.kinetic_loss > 0.0
    run.take(100)
    assert np.abs(run.engine.arrays["x"] - pose[0]).max() < 1e-13  # to round-off
    assert np.abs(run.engine.arrays["R"] - pose[1]).max() < 1e-13
    # both joints carry the weight
    weight = 1.5 * model.gravity
    rows = run.system.rows
    force = sum(run.engine.arrays["lam_report"][rows[e]].size for e in run.system.constraints)
    assert force == 6
    total = run.output("lock", "force")[-1]
    if "force" in held.outputs:
        total = total + run.output(held.name, "force")[-1]
    assert total == pytest.approx(-weight, abs=1e-6 * np.linalg.norm(weight))  # rtol of the method


def two_attachments():
    model = free_bodies(np.random.default_rng(1))
    model.add(fem.Attachment(model["B"], model["A"], active=False, name="tape"))
    return model


def test_what_is_attached_twice_is_reported_in_words_and_left_as_it_was():
    run = Run(NSGA, two_attachments(), 5e-3).take(3)
    run.switch("grip", True)
    run.take(3)
    before = run.engine.run_data.kept()
    message = (
        r"Attachment 'tape' cannot be switched on at t = 0.03 s: 6 of its 6 rows repeat what is imposed by "
        r"Attachment 'grip'\. Switch off .*redundant='allow'"
    )
    with pytest.raises(fem.SolverError, match=message) as raised:
        run.switch("tape", True)
    assert raised.value.element is run.model["tape"] and raised.value.time == pytest.approx(0.03)
    block, numbers, states = run.engine.run_data.kept()
    assert block.tobytes() == before[0].tobytes() and all(map(np.array_equal, numbers, before[1]))
    assert all(map(np.array_equal, states, before[2]))
    run.take(3)


def flat(y=0.0):
    """Two bodies that move in a plane by fixed components."""
    model, held = fem.Model("flat"), ("z", "rx", "ry")
    for name, place, speed in (("A", [0, 0, 0], 1.0), ("B", [1, 0.2, 0], -0.5)):
        model.add(fem.RigidBody(1.0, [1, 1, 1], position=place, velocity=[speed, y, 0], fixed=held, name=name))
    model.add(fem.Attachment(model["A"], model["B"], active=False, name="grip"))
    return model


def test_rows_redundant_with_fixed_components_are_reported_and_may_be_allowed():
    with pytest.raises(fem.SolverError, match=r"3 of its 6 .*fixed=…"):
        Run(NSGA, flat(), 1e-2).switch("grip", True)
    run = Run(NSGA, flat(), 1e-2, redundant="allow").take(3)
    run.switch("grip", True)
    run.take(20)
    # mean speed 0.25; moment of momentum 2 · 0.75 · 0.1 about the centre, half of the distance 0.5 − 0.75 · 0.03
    inertia = 2.0 + 2.0 * ((0.5 - 0.75 * 0.03) ** 2 + 0.1**2)
    assert run.velocity("A")[5] == pytest.approx(0.15 / inertia, rel=1e-8)
    assert 0.5 * (run.velocity("A") + run.velocity("B"))[:2] == pytest.approx([0.25, 0.0], abs=1e-9)
    assert run.velocity("A")[5] == pytest.approx(run.velocity("B")[5], abs=1e-9)
    assert run.history("violation")[-1].max() < 1e-9


def test_redundant_attachments_share_the_load_where_they_are_allowed():
    run = Run(NSGA, two_attachments(), 5e-3, redundant="allow").take(3)
    run.switch("grip", True)
    told = run.switch("tape", True)
    assert np.abs(told.change).max() < 1e-9  # the first one has stopped the bodies
    run.take(20)
    assert run.history("violation")[-1].max() < 1e-9
    run.switch("grip", False)
    run.take(20)
    assert run.history("violation")[-1].max() < 1e-9 and run.output("grip", "force")[-1].any() == False  # noqa: E712


def test_a_joint_that_does_not_fit_is_rejected():
    model = chain()
    link = model["link 2"]
    model.add(fem.Spherical.at(model.ground, link, [2.0, 0.4, 0]), active=False)
    run = Run(NSGA, model, 1e-3).take(10)
    with pytest.raises(fem.SolverError, match=r"'spherical 1'.* m .*"):
        run.switch("spherical 1", True)
    assert not run.system.is_on(model["spherical 1"])


def test_a_hook_that_fits_is_a_joint_from_then_on():
    """A free body whose point r is caught: it turns about that point with J_P ω⁺ = J ω + m r × v, r from the point."""
    rng = np.random.default_rng(3)
    v, w, r = rng.normal(size=(3, 3))
    J, mass = np.array([0.3, 0.4, 0.5]), 2.0
    model = fem.Model("caught")
    body = model.add(fem.RigidBody(mass, J, velocity=v, angular_velocity=w, name="body"))
    model.add(fem.Spherical.at(model.ground, body, r, name="hook"), active=False)
    run = Run(NSGA, model, 1e-3)
    told = run.switch("hook", True)
    turning = np.linalg.solve(np.diag(J) + mass * (r @ r * np.eye(3) - np.outer(r, r)), J * w - mass * np.cross(r, v))
    assert run.velocity("body") == pytest.approx([*np.cross(turning, -r), *turning], abs=1e-12)
    assert told.impulse == pytest.approx(mass * (run.velocity("body")[:3] - v), abs=1e-12)
    run.take(100)
    assert np.abs(run.history("violation")[-100:, 0]).max() < 1e-12
    arm = run.engine.arrays["R"][body.node.index] @ r
    assert run.engine.arrays["x"][body.node.index] + arm == pytest.approx(r, abs=1e-12)


def test_attachments_that_are_on_from_the_start_keep_their_first_pose_in_problems_at_other_times():
    """One is on from the start, the other from 1 s on: at 2 s, in another pose, the first holds where it began."""
    model = fem.Model("two holds")
    bodies = [model.add(fem.RigidBody(1.0, 0.1, position=[k, 0, 0], name=f"body {k}")) for k in range(2)]
    model.add(fem.Attachment(model.ground, bodies[0], name="first"))
    model.add(fem.Attachment(model.ground, bodies[1], name="later"), intervals=[(1.0, 5.0)])
    system = model.compile()
    state = system.initial.copy()
    state.x[[body.node.index for body in bodies], 2] += 0.25
    system.switch_at(2.0, state)
    g, _ = system.constraint_values(state)
    apart = {name: np.abs(g[system.rows[model[name]]]).max() for name in ("first", "later")}
    assert apart == pytest.approx({"first": 0.25, "later": 0.0}, abs=1e-15)


def test_rows_that_are_redundant_only_after_a_switch_are_looked_for_there():
    """Independent at the start; an equilibrium at a later time has both attachments, and shares the weight."""
    model = fem.Model("held twice", gravity=[0, 0, -10.0])
    body = model.add(fem.RigidBody(2.0, 0.1, name="body"))
    model.add(fem.Attachment(model.ground, body, name="first"))
    model.add(fem.Attachment(model.ground, body, name="second"), intervals=[(1.0, 5.0)])
    system = model.compile()
    assert system.independent and not system.rows_repeat
    system.switch_at(2.0, system.initial)
    assert system.rows_repeat
    result = fem.static_equilibrium(model, t=2.0)
    forces = sum(result[name].force for name in ("first", "second"))
    assert forces[-1] == pytest.approx([0, 0, 20.0], abs=1e-9)
