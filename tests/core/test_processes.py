"""Models, results and errors in other processes and in threads."""

import concurrent.futures
import copy
import multiprocessing
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.element.registry import library, make_example
from fem_mbs.elements.contacts.hulls.hull_pair_kernels import TABLE as HULLS
from fem_mbs.elements.superelements.data import FLOATING_FRAME, POINT, SUPERELEMENT
from fem_mbs.elements.user import PythonElement
from fem_mbs.errors import FemMbsError
from fem_mbs.functions.signals import Signal

T_END, STEP = 0.3, 1e-3


def on_a_curve(model, ball):
    points = [[-2, 0], [-1, 0.2], [0, 1], [1, 0.2], [2, 0]]
    return fem.PointOnCurve(ball, model.ground, points=points, radius=0.07, friction=0.3, name="guide")


def on_a_surface(model, ball):
    bowl = {"height": saddle, "x": (-1, 1), "y": (-2, 2), "cells": 8}
    frame = model.ground.frame(rotation=[-np.pi / 2, 0, 0])  # its z axis is up, along y
    return fem.PointOnSurface(ball, frame, **bowl, radius=0.07, friction=0.3, name="guide")


def on_a_wire(model, ball):
    line = [[-2, 0, 0], [-1, 0.2, 0], [0, 1, 0.02], [1, 0.2, 0], [2, 0, 0]]
    return fem.SphereOnWire(ball, model.ground, points=line, radius=0.05, radius_wire=0.02, name="guide")


def compliant(model, ball):
    return fem.CompliantContact(
        on_a_curve(model, ball), stiffness=1e5, restitution=0.5, max_indentation=0.02, name="guide"
    )


def saddle(x, y):
    return 1.0 - 0.3 * x**2 + 0.1 * y**2


def model_with(guide):
    """A ball that falls on a guide and is pushed."""
    model = fem.Model("guided", gravity=[0, -9.81, 0])
    ball = model.add(fem.RigidBody.sphere(0.5, 0.07, position=[0.05, 1.2, 0], name="ball"))
    model.add(guide(model, ball), fem.PointForce(ball, [0.2, 0, 0], name="push"))
    return model


def motion(model):
    return fem.DecoupledNSGA().run(model, T_END, STEP, progress=False)["ball"].position


IN_ANOTHER_PROCESS = """
import pickle, sys
import fem_mbs as fem
for model in pickle.load(sys.stdin.buffer):
    result = fem.DecoupledNSGA().run(model, {t_end}, {step}, progress=False)
    sys.stdout.buffer.write(pickle.dumps(result))
"""


def test_models_and_systems_run_in_another_process_as_in_this_one():
    models = [model_with(guide) for guide in (on_a_curve, on_a_surface, on_a_wire, compliant)]
    systems = [models[0].compile()]
    systems[0].initial.V[1, 2] = 0.3  # a system brings its initial state
    script = IN_ANOTHER_PROCESS.format(t_end=T_END, step=STEP)
    done = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps([*models, *systems]), capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()
    import io

    stream = io.BytesIO(done.stdout)
    for item in (*models, *systems):
        other, here = pickle.load(stream)["ball"].position, motion(item)
        assert np.array_equal(other, here), getattr(item, "name", item)
        assert (
            np.ptp(here[:, 0]) > 1e-3
        )  # the guide was touched: without it nothing but the push moves the ball along x


OWN = (  # addresses of arrays that an element has for itself
    "table_at", "parameters_at", "spring_at", "damper_at", "curves_at", "damping_at", "faces_at", "fans_at",
    "spokes_at", "arms_at",
    *(f"{name}_at" for table in (HULLS, SUPERELEMENT, FLOATING_FRAME, POINT) for name in table.names(array=True)),
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(library()))
def test_every_element_keeps_its_parameters_when_pickled_and_copied(name):
    element = make_example(name, np.random.default_rng(1))
    if isinstance(element, PythonElement) or any(not _picklable(s) for s in element.signals):
        pytest.skip("its example has a function without a name, which no pickle holds")
    for other in (pickle.loads(pickle.dumps(element)), copy.deepcopy(element)):
        mine, theirs = np.zeros(1, element.parameters), np.zeros(1, element.parameters)
        mine[0], theirs[0] = element.record, other.record
        for field in element.parameters.names:
            if field in OWN:
                # an array of its own, or none (0); addresses of compiled code are the same
                assert np.array_equal(mine[field] == theirs[field], mine[field] == 0)
            else:
                assert np.array_equal(mine[field], theirs[field]), field


def _picklable(signal: Signal):
    try:
        return bool(pickle.dumps(signal))
    except (AttributeError, pickle.PicklingError):
        return False


def test_a_copied_element_does_not_read_the_arrays_of_the_original():
    model = model_with(on_a_curve)
    other = copy.deepcopy(model)
    expected = motion(model)
    model["guide"].table[:] = np.nan
    assert np.array_equal(motion(other), expected)


def test_a_copy_of_a_model_contains_its_nodes():
    for other in (pickle.loads(pickle.dumps(model_with(on_a_curve))), copy.deepcopy(model_with(on_a_curve))):
        count = len(other.nodes)
        other.add(fem.PointForce(other["ball"], [0, 1.0, 0], name="lift"))
        assert len(other.nodes) == count


def test_results_that_were_looked_at_can_be_pickled():
    result = fem.DecoupledNSGA().run(model_with(on_a_curve), 0.01, 1e-3)
    position, report = result["ball"].position, result.report()
    other = pickle.loads(pickle.dumps(result))
    assert np.array_equal(other["ball"].position, position) and other.report() == report


# --- errors ---------------------------------------------------------------------------------------------------------


def fails(kind):
    if kind == "parameter":
        fem.RigidBody(-1.0, 1.0, name="rod")
    if kind == "model":
        fem.Model("empty").compile()
    if kind == "name":
        _ = fem.DecoupledNSGA().run(model_with(on_a_curve), 0.01, 1e-3)["bal"]
    if kind == "file":
        fem.load("missing.vtkhdf")
    model = fem.Model("falls")
    body = model.add(fem.RigidBody(1.0, 1.0, name="rod"))
    model.add(fem.PointForce(body, lambda t: [np.nan if t > 0.005 else 1.0, 0, 0], name="thrust"))
    fem.DecoupledNSGA().run(model, 1.0, 1e-3)


@pytest.mark.parametrize(
    "kind, error, attributes",
    [
        ("parameter", fem.ParameterError, {"parameter": "mass", "value": -1.0}),
        ("model", fem.ModelError, {}),
        ("name", KeyError, {}),
        ("file", fem.FileError, {"path": "missing.vtkhdf"}),
        ("step", fem.SolverError, {"time": pytest.approx(0.006), "element": None}),  # a lambda: cannot be pickled
    ],
)
def test_errors_reach_the_caller_of_a_process_pool_with_their_attributes(kind, error, attributes):
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        with pytest.raises(error) as there:
            pool.submit(fails, kind).result(timeout=120)
    with pytest.raises(error) as here:
        fails(kind)
    assert type(there.value) is type(here.value) and isinstance(there.value, FemMbsError)
    assert str(there.value) == str(here.value)
    for name, value in attributes.items():
        assert getattr(there.value, name) == value, name


# --- threads --------------------------------------------------------------------------------------------------------


def test_a_system_in_use_by_one_thread_rejects_others_and_is_free_again_afterwards():
    system = model_with(on_a_curve).compile()
    inside, go_on, outcome = threading.Event(), threading.Event(), []

    class Waits:
        def start(self, system):
            inside.set()
            go_on.wait(60)

        def observe(self, block):
            pass

        def finish(self):
            pass

    thread = threading.Thread(
        target=lambda: outcome.append(fem.DecoupledNSGA().run(system, T_END, STEP, observers=[Waits()])), name="first"
    )
    thread.start()
    assert inside.wait(60)
    for use in (
        lambda: fem.DecoupledNSGA().run(system, T_END, STEP),
        lambda: fem.static_equilibrium(system),
        lambda: fem.modes(system, 1),
    ):
        with pytest.raises(fem.ModelError, match=r"'guided'.*in use.*'first'"):
            use()
    other = motion(system.model)  # a model is compiled anew for each run
    go_on.set()
    thread.join(60)
    assert np.array_equal(outcome[0]["ball"].position, other)
    assert np.array_equal(motion(system), other)  # free again


def test_a_system_is_free_after_a_run_that_failed():
    model = fem.Model("falls")
    body = model.add(fem.RigidBody(1.0, 1.0, name="rod"))
    model.add(fem.PointForce(body, lambda t: [np.nan if t > 0.005 else 1.0, 0, 0], name="thrust"))
    system = model.compile()
    for _ in range(2):
        with pytest.raises(fem.SolverError, match="thrust"):
            fem.DecoupledNSGA().run(system, 1.0, 1e-3)
