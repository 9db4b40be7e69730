"""Energy that methods of velocities lose by themselves is reported."""

from types import SimpleNamespace

import pytest
from resumed import differences, stopped_and_resumed

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.solvers.stepping.monitors.loss_watch import LossWatch

LONG, THICK = 1.0, 0.05  # m


def swinging_bar(E=2e11, load=0.0, damping=0.0):
    """A bar of solids that swings from the horizontal on a hinge; ``load`` [N] on its end, ``damping`` [s] of it."""
    mesh = fem.block_mesh([LONG, THICK, THICK], [4, 1, 1], form=lambda x: x - [0, THICK / 2, THICK / 2])
    model = fem.Model("bar", gravity=[0, 0, -9.81])
    body = model.add(fem.SolidBody(mesh, fem.SolidMaterial(E, 0.3, 1000.0), damping=damping, name="bar"))
    root = model.add(fem.SurfaceCoupling(body, "x0", name="root", kind="rigid"))
    model.add(fem.Revolute.at(model.ground, root.node, [0, 0, 0], [0, 1, 0]))
    if load:
        end = model.add(fem.SurfaceCoupling(body, "x1", name="end"))
        model.add(fem.PointForce(end.node, [0, 0, -load], name="pull"))
    return model


def total(result):
    """Kinetic and potential energy [J] of all saved states."""
    return result.energy.kinetic + result.energy.potential


def told(result):
    return [text for text in result.warnings if "nothing in the model" in text]


def test_a_stiff_bar_that_tangents_of_its_circle_stop_is_reported_in_report_and_file(tmp_path):
    """With 5 ms the steps stretch the bar by ½ (h ω)² and lose that energy: it sinks in place of swinging."""
    method, file = fem.ConeComplementarity(), tmp_path / "bar.vtkhdf"
    result = method.run(swinging_bar(), 0.5, 5e-3, save=file)
    lost = -total(result)[-1]
    assert lost > 0.2 * result.energy.kinetic.max()
    (text,) = told(result)
    assert f"{lost:.3g} J" in text and "projection=True" in text
    assert text in result.report() and told(fem.load(file)) == [text]
    with pytest.raises(SolverError, match="nothing in the model"):
        method.run(swinging_bar(), 0.5, 5e-3, strict=True)


def test_what_is_lost_is_reported_next_to_what_rises_if_it_is_more():
    """Damping of 20 ms stops the bar: rises of 0.3 J were reported, and not that it did not fall."""
    result = fem.ConeComplementarity().run(swinging_bar(damping=0.02), 1.5, 5e-3)
    assert any(text.startswith("energy increased") for text in result.warnings) and len(told(result)) == 1


@pytest.mark.parametrize(("rises", "lost"), [(0, True), (9, True), (10, False)])
def test_what_has_risen_by_itself_and_falls_again_is_no_loss(rises, lost):
    numbers = {"total_loss": 22.0, "top_kinetic": 10.0, "mean_mass": 1.0, "scale_v": 1.0, "all_left": 0.0}
    numbers |= {"step_number": 100, "rises": rises, "largest_rise": 2.0, "total_loss_time": 1.0}
    watch = LossWatch(SimpleNamespace(run=[numbers], system=None))
    assert bool(watch.warnings()) == lost  # of 22 J a fifth of 10 J is right


def test_states_that_are_saved_seldom_are_enough():
    assert told(fem.ConeComplementarity().run(swinging_bar(), 0.5, 5e-3, save_every=20))


@pytest.mark.parametrize(
    ("method", "E"),
    [(fem.MoreauJean(projection=True), 2e11), (fem.DecoupledNSGA(), 2e11), (fem.MoreauJean(projection=True), 1e9)],
    ids=["projection", "NSGA", "soft"],
)
def test_methods_that_keep_the_energy_have_nothing_to_report(method, E):
    result = method.run(swinging_bar(E), 0.5, 5e-3)
    assert not result.warnings
    assert abs(total(result)[-1]) < 0.02 * result.energy.kinetic.max()


@pytest.mark.parametrize(
    "model",
    [
        *(pytest.param(one, marks=pytest.mark.slow) for one in ({"load": 10.0}, {"damping": 1e-5})),
        {"E": 2e11, "load": 10.0, "damping": 1e-5},
    ],
    ids=str,
)
def test_what_loads_and_damping_take_is_known_without_energy_balances(model):
    """Balances that nobody asked for are added up all the same, and are the ones that are reported when asked for."""
    result = fem.ConeComplementarity().run(swinging_bar(**model), 0.5, 5e-3, balance=True)
    (text,) = told(result)
    assert f"{-result.energy_table().numerical:.3g} J" in text
    short = fem.ConeComplementarity().run(swinging_bar(**model), 0.5, 5e-3)
    assert told(short) == [text] and short._store.read("work").shape[1] == 0
    assert not told(fem.MoreauJean(projection=True).run(swinging_bar(**model), 0.5, 5e-3))


def test_what_a_damper_takes_is_not_the_loss_of_the_method():
    """A mass on a spring with a tenth of critical damping loses 70 % in a period, and θ = ½ nothing else."""
    model = fem.Model("damped")
    mass = model.add(fem.PointMass(1.0, position=[1.1, 0, 0], name="mass"))
    model.add(fem.Spring(model.ground, mass, stiffness=100.0, damping=2.0, free_length=1.0))
    for method in (fem.MoreauJean(), fem.ConeComplementarity()):
        result = method.run(model, 0.6, 1e-3)
        energy = total(result)
        assert energy[-1] < 0.35 * energy[0] and not told(result)


@pytest.mark.parametrize("method", [fem.MoreauJean(), fem.ConeComplementarity()], ids=lambda m: type(m).__name__)
def test_what_contacts_take_is_not_the_loss_of_the_method(method):
    """A ball on a plane loses what it has of its fall to a plastic impact, and slides until it rolls."""
    model = fem.Model("falls", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody(1.0, inertia=[1e-3] * 3, position=[0, 0, 0.2], velocity=[1.0, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(ball.frame(), model.ground.frame(), radius=0.1, friction=0.5, restitution=0.0))
    result = method.run(model, 0.6, 1e-3)
    assert total(result)[0] - total(result)[-1] > 9.81 * 0.1  # J, of the fall, m g h, and in addition sliding
    assert not told(result)


@pytest.mark.parametrize("lost", [True, False])
def test_contact_groups_that_are_solved_pairwise_are_looked_at_too(lost):
    """Next to the bar a ball falls on a floor and stays: that is no loss of the method, what the bar loses is."""
    model = swinging_bar(2e11 if lost else 1e6)
    ball = model.add(fem.RigidBody.sphere(0.01, 0.1, position=[0, 3, 0.3], name="ball"))
    model.add(fem.Spring(model.ground, ball, stiffness=1e-3))
    group = model.add(fem.ContactGroup(friction=0.3, name="group"))
    group.sphere(ball, 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    method = fem.ConeComplementarity() if lost else fem.MoreauJean(projection=True)
    result = method.run(model, 0.5, 5e-3)
    assert "solved_pair_by_pair" in result.statistics and result.pairs(-1).status.tolist() == [1]
    assert bool(told(result)) == lost


def test_a_run_that_continues_contains_what_was_lost_before(tmp_path, monkeypatch):
    method = fem.ConeComplementarity()
    whole = method.run(swinging_bar(), 0.5, 5e-3)
    options = {"every": 20, "kills": (3,)}
    resumed = stopped_and_resumed(monkeypatch, method, swinging_bar(), 0.5, 5e-3, tmp_path / "bar.vtkhdf", **options)
    assert told(resumed) and not differences(whole, resumed)
