"""A made-up run for tests of results: given motions, so that what must come out is known without a solver.

A ball hops on a table, a crank hangs on a pin, a spring and two beams stand still.
"""

import numpy as np

from fem_mbs.elements.beams.sections import Section
from fem_mbs.elements.beams.two_node import TwoNodeBeam
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.elements.forces.spring_damper import Spring
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.model import Model
from fem_mbs.nodes import Node6
from fem_mbs.results.file.writer import ResultsWriter
from fem_mbs.system.system import System

H = 1e-2


def made_up_system():
    """Ball (radius 0.2 m) on a table, crank on a pin, spring, two beams."""
    model = Model("made up", gravity=[0, 0, -9.81])
    ball = model.add(RigidBody.sphere(1.0, 0.2, position=[0.9, 0, 0.2], name="ball"))
    crank = model.add(RigidBody.box(1.0, [0.5, 0.05, 0.08], position=[0.25, 0, 0.5], name="crank"))
    model.add(Revolute.at(model.ground, crank, [0, 0, 0.5], [0, 1, 0], name="pin"))
    plane = model.ground.frame(rotation=[0, 0, 0.3])
    model.add(SphereOnPlane(ball.frame(), plane, radius=0.2, drawn_size=3.0, name="table"))
    model.add(Spring(crank.frame([0.25, 0, 0]), model.ground.frame([1.2, 0, 1.2]), stiffness=10.0, name="spring"))
    section = Section.rectangle(0.06, 0.03, E=210e9, nu=0.3, density=7850)
    nodes = [Node6([-0.2 - 0.2 * i, 0, 0.5], name=f"station {i}") for i in range(3)]
    for i in range(2):
        model.add(TwoNodeBeam(nodes[i], nodes[i + 1], section, name=f"rod {i + 1}"))
    return System(model, check=False)


def made_up_chunk(system, step):
    """Saved steps (k,): the ball hops with |sin 4t|, turns and slides; beams carry a moment that grows along them."""
    t = H * step
    k, N, nc = len(t), len(system.nodes), len(system.contacts)
    chunk = {"t": t, "step": step, "h": np.where(step > 0, H, 0.0)}
    chunk["position"] = np.tile(system.initial.x, (k, 1, 1))
    chunk["quaternion"] = np.tile(system.initial.Q, (k, 1, 1))
    chunk["velocity"], chunk["acceleration"] = np.zeros((k, N, 6)), np.zeros((k, N, 6))
    ball = system.model["ball"].node.index
    hop = 0.5 * np.abs(np.sin(4 * t))
    chunk["position"][:, ball] = np.stack([0.9 + 0.1 * t, 0 * t, 0.2 + hop], axis=1)
    chunk["quaternion"][:, ball] = np.stack([np.cos(t), np.sin(t), 0 * t, 0 * t], axis=1)
    chunk["velocity"][:, ball] = [0.1, 0, 0, 2.0, 0, 0]
    closed = hop < 0.06
    chunk["gap"] = hop[:, None]
    chunk["impulse"] = closed[:, None, None] * np.array([[[0.3, 0.04, 0.0]]])
    chunk["moment_impulse"] = np.zeros((k, nc, 3))
    chunk["contact_force"] = chunk["contact_moment"] = np.zeros((k, 0, 3))
    chunk["contact_point"] = chunk["position"][:, [ball]] - [0, 0, 0.2]
    chunk["contact_normal"] = np.tile([[0.0, 0.0, 1.0]], (k, 1, 1))
    c, s = np.cos(0.3), np.sin(0.3)
    chunk["contact_tangents"] = np.tile([[c, s, 0, -s, c, 0]], (k, 1, 1))
    chunk["contact_status"], chunk["impact"] = 2.0 * closed[:, None], 1.0 * closed[:, None]
    chunk["output"] = np.zeros((k, system.n_outputs))
    for name, (start, end) in {"rod 1": (0, 10), "rod 2": (10, 20)}.items():
        places = system.output_slices[system.model[name]]
        chunk["output"][:, places["moment_A"]] = np.outer(np.sin(t), [0, start, 0])
        chunk["output"][:, places["moment_B"]] = np.outer(np.sin(t), [0, end, 0])
    chunk["output"][:, system.output_slices[system.model["pin"]]["force"]] = [1.0, 2.0, 3.0]
    chunk["multiplier"] = np.tile(np.arange(system.m), (k, 1))
    chunk["energy"] = np.stack([2 - 0.1 * t, 1 - 0.1 * t], axis=1)
    chunk["iterations"] = np.tile([2, 1, 0], (k, 1)) * (step > 0)[:, None]
    chunk["problems"] = closed.astype(float)
    chunk |= {name: np.zeros(len(closed)) for name in ("repeats", "contact_problems", "pair_count")}
    chunk["violation"] = np.tile([1e-14, 3e-13], (k, 1))
    chunk["work"] = np.zeros((k, 0))
    chunk["linear_momentum"] = np.tile([0.1, 0.0, 0.0], (k, 1))
    chunk["angular_momentum"] = np.tile([0.0, 0.0, 2.0], (k, 1))
    return chunk


def written(system, path=None, steps=200, **options):
    """Results of a made-up run of some steps, written in three chunks."""
    writer = ResultsWriter(system, path, parameters={"stepper": "made up", "h": H, "t_end": H * steps}, **options)
    for step in np.array_split(np.arange(steps + 1), 3):
        writer.append(made_up_chunk(system, step))
    return writer.close("complete")
