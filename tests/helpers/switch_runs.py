"""Runs in which a test switches elements by hand, and the models of tests/solvers/stepping/march/test_switch*.py."""

import functools

import numpy as np

import fem_mbs as fem
from fem_mbs.rotations import exp
from fem_mbs.solvers.stepping.march.switch import switch

LINKS = ((2.0, 0.18, 0.5), (1.5, 0.11, 0.4))  # mass [kg], inertia about z [kg m²], centre from the hinge [m]
AT_SWITCH = (-0.49510633, 0.16719713), (-3.50517076, -1.27971500)  # angles and rates of the links at 0.5 s


class Run:
    """Steps of a method, in pieces, with switches between them.

    Parameters
    ----------
    stepper : Stepper
    model : Model or System
    h : float [s]
    """

    def __init__(self, stepper, model, h, **options):
        self.system = model.compile(**options) if isinstance(model, fem.Model) else model
        self.system.number_nodes()
        self.model, self.h, self.steps = self.system.model, h, 0
        self.engine = stepper.prepare(self.system, h, 1, True)
        block = self.engine.make_records(1)
        self.engine.t_end = np.inf
        self.engine.first(block)
        self.records = [block]

    def take(self, steps):
        """So many steps more."""
        times = self.h * np.arange(self.steps + 1, self.steps + steps + 1)
        block = self.engine.make_records(steps)
        self.engine.t_end = times[-1]
        done, saved, error = self.engine.march.advance(times, block)
        if error is not None:
            raise error
        assert done == saved == steps
        self.steps += steps
        self.records.append(block)
        return self

    def switch(self, name, on):
        """Switch an element by name."""
        return switch(self.engine, self.model[name], on)

    def history(self, name):
        """What was recorded, all states; the state of a switch is the one before it."""
        return np.concatenate([block[name] for block in self.records])

    def output(self, element, name):
        """Output of an element, all states."""
        return self.history("output")[:, self.system.output_slices[self.model[element]][name]]

    def velocity(self, body):
        """Present velocity (6,) of a body."""
        return self.engine.arrays["V"][self.model[body].node.index].copy()

    def angle(self, body):
        """Present angle [rad] of a body about z, in (−π, π]."""
        q = self.engine.arrays["Q"][self.model[body].node.index]
        return 2.0 * np.arctan2(q[3], q[0])

    @property
    def warnings(self):
        """Without those of losses: what is switched between two steps here has no line in the energy balance."""
        from fem_mbs.solvers.stepping.monitors.loss_watch import LossWatch

        monitors = [monitor for monitor in self.engine.monitors if not isinstance(monitor, LossWatch)]
        return [text for monitor in monitors for text in monitor.warnings()]


def chain(angles=(0.0, 0.3), rates=(2.0, -1.0), **lock):
    """Two links in a plane, hinged to ground and to each other, and a lock of the second hinge."""
    model = fem.Model("chain", gravity=[0, -9.81, 0])
    joint, speed, before = np.zeros(3), np.zeros(3), model.ground
    for k, ((mass, inertia, centre), angle, rate) in enumerate(zip(LINKS, angles, rates), 1):
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        across = np.array([-along[1], along[0], 0.0])
        link = model.add(
            fem.RigidBody(
                mass=mass, inertia=np.diag([0.5, 1.0, 1.0]) * inertia, position=joint + centre * along,
                rotation=[0, 0, angle], velocity=speed + centre * rate * across, angular_velocity=[0, 0, rate],
                name=f"link {k}",
            )
        )  # fmt: skip
        hinge = model.add(fem.Revolute.at(before, link, joint, [0, 0, 1], name=f"hinge {k}"))
        joint, speed, before = joint + along, speed + rate * across, link
    model.add(fem.Lock(hinge, **(lock or {"active": False}), name="lock"))
    return model


@functools.cache
def at_switch():
    """System of the chain at 0.5 s. Tests that step it start anew: a run switches as the model says."""
    return chain(*AT_SWITCH).compile()


def locked_chain(angles, rates):
    """Rate [rad/s] of the chain after its second hinge was locked, and the impulses, by moments of momentum.

    Returns
    -------
    rate, lock impulse [N m s], impulses (2, 2) of the hinges on the body above [N s], loss [J]
    """
    (m_1, J_1, c_1), (m_2, J_2, c_2) = LINKS
    e_1, e_2 = (np.array([np.cos(a), np.sin(a)]) for a in angles)
    n_1, n_2 = (np.array([-e[1], e[0]]) for e in (e_1, e_2))
    x_2 = e_1 + c_2 * e_2
    v_1, v_2 = c_1 * rates[0] * n_1, rates[0] * n_1 + c_2 * rates[1] * n_2
    momentum = (m_1 * c_1**2 + J_1) * rates[0] + J_2 * rates[1] + m_2 * (x_2[0] * v_2[1] - x_2[1] * v_2[0])
    inertia = m_1 * c_1**2 + J_1 + J_2 + m_2 * x_2 @ x_2
    rate = momentum / inertia
    after_1, after_2 = c_1 * rate * n_1, rate * np.array([-x_2[1], x_2[0]])
    second = m_2 * (after_2 - v_2)
    first = m_1 * (after_1 - v_1) + second
    # about the centre of link 2: −c_2 e_2 × second
    turning = J_2 * (rate - rates[1]) + c_2 * (e_2[0] * second[1] - e_2[1] * second[0])
    before = 0.5 * (m_1 * v_1 @ v_1 + J_1 * rates[0] ** 2 + m_2 * v_2 @ v_2 + J_2 * rates[1] ** 2)
    loss = before - 0.5 * inertia * rate**2
    return rate, turning, np.array([first, second]), loss


def masses_on_a_table(speed, mu=0.0, sideways=0.0):
    """A mass of 1 kg at rest on a table, one of 2 kg that moves, and an attachment of both."""
    model = fem.Model("masses")
    low = model.add(fem.PointMass(1.0, position=[0, 0, 0.1], name="low"))
    model.add(
        fem.SphereOnPlane(low.frame(), model.ground.frame(), radius=0.1, friction=mu, restitution=0.8, name="table")
    )
    high = model.add(fem.PointMass(2.0, position=[0, 0, 0.5], velocity=[sideways, 0, speed], name="high"))
    model.add(fem.Attachment(low, high, active=False, name="grip"))
    return model


def free_bodies(rng):
    """Two bodies in free flight, and an attachment between places off their centres."""
    model = fem.Model("flight")
    for name, mass in (("A", 2.0), ("B", 0.7)):
        Q, sides = exp(rng.normal(size=3)), rng.uniform(0.5, 1.0, size=3)
        J = 0.2 * mass * Q @ np.diag([sides[1] + sides[2], sides[0] + sides[2], sides[0] + sides[1]]) @ Q.T
        model.add(
            fem.RigidBody(
                mass, J, position=rng.normal(size=3), rotation=rng.normal(size=3), velocity=rng.normal(size=3),
                angular_velocity=rng.normal(size=3), name=name,
            )
        )  # fmt: skip
    ends = [model[name].frame(p=rng.normal(size=3)) for name in "AB"]
    model.add(fem.Attachment(*ends, active=False, name="grip"))
    return model
