"""The matrix of the stage problem of LobattoIIIAB against differences of its residual."""

import double_pendulum
import driven_double_pendulum
import numpy as np
import pytest
from loaded_ball import loaded_ball
from velocity_elements import driven_point

import fem_mbs as fem
from fem_mbs.cases import nonholonomic

EPS = 1e-6


def sprung_pendulum(nodes=()):
    """Driver, skew hinges, a damped spring: all that joints and forces give to the matrix."""
    model = double_pendulum.build(*nodes, rate_1=2.4, driven=lambda t: 0.8 * np.sin(3 * t))
    bodies = model["body 1"], model["body 2"]
    frames = [body.frame([0.1, 0.2, -0.1]) for body in bodies]
    model.add(fem.Spring(*frames, stiffness=300.0, damping=4.0, free_length=0.4, name="spring"))
    return model


def rolling():
    """A disc with rows of velocities and of positions, a spring on it, and a wheel on a blade."""
    model = nonholonomic.disc_model(push=nonholonomic.PUSH)
    place = model["disc"].node.position + [0.1, 0.3, 0.2]
    rider = model.add(fem.RigidBody(0.4, [0.01, 0.02, 0.03], position=place, name="rider"))
    model.add(fem.KnifeEdge.at(model["disc"], rider, place, [0, 0.6, 0.8], name="blade"))
    model.add(fem.Spring(model["disc"], rider, stiffness=50.0, damping=2.0, free_length=0.3))
    return model


class Stages:
    """The stage problem of a step of a model, at unknowns that are not its solution."""

    def __init__(self, model, stages, h, steps=3, kick=1.0, solver=None):
        self.system = model.compile(linear_solver=solver, project=True)
        method = fem.LobattoIIIAB(stages, epsilon=0.0, check_stability=False)
        self.engine = engine = method.prepare(self.system, h)
        times = np.arange(1, steps + 1) * h
        _, _, error = engine.march.advance(times, engine.make_records(steps))
        assert error is None
        self.a, self.run = engine.arrays, engine.run[0]
        rng = np.random.default_rng(stages)
        free = self.system.free
        self.a["w"] += kick * 0.3 * rng.normal(size=self.a["w"].shape) * free
        self.multipliers = [self.a["Ri"], self.a["cR"][:, :, :3]]
        self.sizes = self.system.n, self.system.m, 3 * self.system.nc
        if engine.matrices.layouts[1].n > sum(self.sizes):  # all contacts resist rolling, spinning or drilling
            self.multipliers, self.sizes = (
                [*self.multipliers, self.a["cR"][:, :, 3:]],
                (*self.sizes, 3 * self.system.nc),
            )
        for values in self.multipliers:
            values[:-1] += kick * 0.1 * rng.normal(size=values[:-1].shape)
        assert engine.matrices.layouts[1].n == sum(self.sizes)

    def unknowns(self):
        """Views of all unknowns, in the order of the matrix: (array, index)."""
        where = np.argwhere(self.system.free)
        for j in range(len(self.a["w"])):
            yield from ((self.a["w"], (j, *i)) for i in where[np.argsort(self.system.dof[self.system.free.ravel()])])
            for values in self.multipliers:
                yield from ((values, (j, *i)) for i in np.ndindex(values.shape[1:]))

    def residual(self):
        """All rows, those of multipliers as the right-hand side has them."""
        self.run["want_matrix"] = 0
        self.engine.call("stage", "residual")
        self.engine.call("stage", "right")
        return -self.a["dx"][: len(self.a["w"]) * sum(self.sizes)].copy()

    def matrix(self):
        self.run["want_matrix"] = 1
        self.engine.call("stage", "residual")
        self.run["want_matrix"] = 0
        return self.engine.matrices.stacked.matrix().toarray()

    def differences(self):
        columns = []
        for array, index in self.unknowns():
            before, rows = array[index], []
            for sign in (1, -1):
                array[index] = before + sign * EPS
                rows.append(self.residual())
            array[index] = before
            columns.append((rows[0] - rows[1]) / (2 * EPS))
        return np.array(columns).T

    def error(self):
        """Largest difference of entries relative to the largest of their row; without unit rows of the last stage."""
        matrix, differences = self.matrix(), self.differences()
        last = (len(self.a["w"]) - 1) * sum(self.sizes) + self.sizes[0]
        matrix, differences = matrix[:last], differences[:last]
        return (np.abs(matrix - differences).max(axis=1) / np.abs(differences).max(axis=1)).max()


@pytest.mark.parametrize("stages, solver", [(2, None), (3, None), (4, None), (6, None), (3, "superlu")])
def test_the_matrix_is_the_derivative_of_the_residual(stages, solver):
    # nodes at the centres of mass; 0.06 s: rotations of 0.3 rad in the step
    assert Stages(sprung_pendulum(), stages, 0.06, solver=solver).error() < 1e-7


@pytest.mark.parametrize("stages, model", [(2, rolling), (3, rolling), (4, rolling), (6, rolling), (3, driven_point)])
def test_the_matrix_with_rows_of_velocities_is_the_derivative_of_the_residual(stages, model):
    assert Stages(model(), stages, 0.05).error() < 1e-7


def test_what_the_matrix_leaves_out_of_moving_mass_matrices_is_of_second_order():
    nodes = driven_double_pendulum.node_1, driven_double_pendulum.node_2
    coarse, fine = (Stages(sprung_pendulum(nodes), 3, h, steps=round(0.08 / h)).error() for h in (0.005, 0.0025))
    assert coarse < 1e-3
    assert np.log2(coarse / fine) == pytest.approx(2, abs=0.15)


RESISTANCES = [{}, {"rolling_resistance": 0.02, "spinning_resistance": 0.01}, {"radius_contensou": 0.1}]


@pytest.mark.parametrize("resistances", RESISTANCES, ids=["friction", "rolling and spinning", "drilling"])
@pytest.mark.parametrize("slides", [False, True])
def test_what_the_matrix_leaves_out_of_friction_vanishes_with_the_step(slides, resistances):
    model = loaded_ball(slides, **resistances)
    coarse, fine = (Stages(model, 3, h, kick=0.01).error() for h in (4e-3, 2e-3))
    assert coarse < 0.02
    assert np.log2(coarse / fine) > 0.7


def test_the_matrix_of_contacts_without_friction_is_the_derivative():
    stages = Stages(loaded_ball(False, friction=0.0), 3, 0.02, kick=0.1)
    stages.a["cR"][:, :, 1:] = 0.0
    assert stages.a["stage_status"][:2].all()  # closed
    assert stages.error() < 1e-7
