"""Energy that contacts and the integrator take from or give to systems of rigid bodies, from the results of a run.

With nodes at the centres of mass M is constant. The velocity equation of a step that ends at n + 1, times the mean of
v_n and v_{n+1}, then says how the energy changes:

    E_{n+1} − E_n = L + S                                                                                          (1)
    L = ½ Σ [ Λ·(γ_{n+1} + γ_n) + χ·(ω_{n+1} + ω_n) ] ,   γ_n = G(q_{n+1}) v_n ,  ω_n = W(q_{n+1}) v_n               (2)

L is the work of the contact impulses Λ and of the moment impulses χ (rolling, spinning). S is what smooth motion gives,
zero for the exact solution; it is compared with h Π,

    Π = Σ_bodies ( m (|v̇| + |g|) |ẋ| + (|J Ω̇| + |Ω × J Ω|) |Ω| )                                                  (3)

with the largest accelerations and speeds of the step and of the two next to it: what smooth forces could do.

Contacts that stay closed act on velocities at the end of the step, in the directions of its end; rolling and spinning
resistance act on velocities only; and velocities below those that the forces give in a step are not resolved. Per step
that gives or takes at most T + K,

    T = ½ Σ |Λ·(G(q_{n+1}) − G(q_n)) v_n| + ½ Σ |χ|² (1/J_A + 1/J_B)                                               (4)
    K = ½ h² Σ_bodies ( m (|v̇| + |g|)² + (|J Ω̇| + |Ω × J Ω|)²/J )        in steps in which a contact acts          (5)

with the smallest principal inertias: directions that turn in the step, and a rotation ½ h² Ω̇ that a resisting moment
χ/h stops in the velocities, not in the positions. All are of order h in the energy of a run.

A contact acts on its two bodies at one point p: Λ·γ is the work of a force at p, (2) needs no gradients of contacts.
"""

from dataclasses import dataclass

import numpy as np

import fem_mbs as fem


@dataclass
class Balance:
    """Numbers (k,) of each step [J].

    Attributes
    ----------
    change, work, rest, power : E_{n+1} − E_n, L, S, h Π
    turning, creep : T of contacts without impact, K
    striking : ½ Σ Λ_N |G_N(q_{n+1}) v_n − G_N(q_n) v_n| of contacts that do, the error of what Newton's law reflects
    rebound : Σ Λ_N γ_N of contacts that separate at the end of the step
    impact : whether a contact is marked as an impact
    release : whether a contact that acted in the step before does not any more: its force ends at once
    """

    change: np.ndarray
    work: np.ndarray
    rest: np.ndarray
    power: np.ndarray
    turning: np.ndarray
    creep: np.ndarray
    striking: np.ndarray
    rebound: np.ndarray
    impact: np.ndarray
    release: np.ndarray


def motion(result, node, bodies):
    """Position (K, 3), rotation (K, 3, 3), velocity (K, 3), angular velocity (K, 3) body axes; zeros for the ground."""
    body = bodies.get(id(node))
    if body is None:
        K = len(result.t)
        return np.zeros((K, 3)), np.tile(np.eye(3), (K, 1, 1)), np.zeros((K, 3)), np.zeros((K, 3))
    history = result[body.name]
    return history.position, history.rotation, history.velocity, history.angular_velocity


def relative(sides, point, start, pose):
    """Velocity at p (K, 3) and angular velocity (K, 3) of the first body relative to the second, inertial axes.

    Velocities are those of the rows ``start``, positions and rotations those of the rows ``pose``.
    """
    rates = []
    for x, R, v, w in sides:
        spin = np.einsum("kij,kj->ki", R[pose], w[start])
        rates.append((v[start] + np.cross(spin, point[pose] - x[pose]), spin))
    return [first - second for first, second in zip(*rates, strict=True)]


def largest_near(values):
    """For each step (k,) the largest of the values (k + 1,) at the ends of it and of the two steps next to it."""
    padded = np.concatenate([values[:1], values, values[-1:]])
    return np.max([padded[i : len(padded) - 3 + i] for i in range(4)], axis=0)


def balance(model, result):
    """Balance of a run of rigid bodies (nodes at centres of mass), contacts and joints; every step must be saved."""
    h = result.h[1:]
    bodies = {id(e.nodes[0]): e for e in model.elements if isinstance(e, fem.RigidBody)}
    steps = len(h)
    work, power, turning, creep, striking, rebound = np.zeros((6, steps))
    impact, acts, release = np.zeros((3, steps), bool)
    for body in bodies.values():
        history, (mass, _, J) = result[body.name], body.record
        w = history.angular_velocity
        force = mass * (np.linalg.norm(history.acceleration, axis=1) + np.linalg.norm(model.gravity))
        moment = np.linalg.norm(history.angular_acceleration @ J, axis=1) + np.linalg.norm(np.cross(w, w @ J), axis=1)
        for load, speed, inertia in ((force, history.velocity, mass), (moment, w, np.linalg.eigvalsh(J).min())):
            power += h * largest_near(load) * largest_near(np.linalg.norm(speed, axis=1))
            creep += 0.5 * (h * largest_near(load)) ** 2 / inertia
    for element in model.elements:
        if element.role != "contact":
            continue
        contact = result[element.name]
        impact |= contact.impact[1:] > 0
        acts |= contact.impulse[1:, 0] > 0
        # impulses of closed contacts are momenta of the memory, which ring on after the force has ended
        release[1:] |= (contact.force_normal[1:-1] > 0) & (contact.force_normal[2:] == 0)
        if not contact.impulse.any():
            continue
        n, (t1, t2) = contact.normal[1:], np.moveaxis(contact.tangents[1:].reshape(-1, 2, 3), 1, 0)
        axes = np.stack([n, t1, t2], axis=1)
        impulse, moment = contact.impulse[1:], contact.moment_impulse[1:]
        sides = [motion(result, node, bodies) for node in element.nodes]
        v0, w0 = relative(sides, contact.point, start=slice(None, -1), pose=slice(1, None))
        v1, w1 = relative(sides, contact.point, start=slice(1, None), pose=slice(1, None))
        mean, spin = np.einsum("kai,ki->ka", axes, 0.5 * (v0 + v1)), 0.5 * (w0 + w1)
        parts = impulse * mean
        work += parts.sum(axis=1) + np.einsum("ka,kai,ki->k", moment, np.stack([t1, t2, n], axis=1), spin)
        rebound += impulse[:, 0] * np.maximum(np.einsum("ki,ki->k", n, v1), 0.0)
        # the same velocities with the directions of the start of the step
        v_n, _ = relative(sides, contact.point, start=slice(None, -1), pose=slice(None, -1))
        approach = np.einsum("ki,ki->k", contact.normal[:-1], v_n)
        strikes = contact.impact[1:] > 0
        striking += strikes * 0.5 * impulse[:, 0] * np.abs(np.einsum("ki,ki->k", n, v0) - approach)
        force = np.einsum("ka,kai->ki", impulse, axes)
        flexibility = sum(
            1 / np.linalg.eigvalsh(bodies[id(x)].record[2]).min() for x in element.nodes if id(x) in bodies
        )
        turned = np.abs(np.einsum("ki,ki->k", force, v0 - v_n)) + flexibility * (moment**2).sum(axis=1)
        turning += ~strikes * 0.5 * turned
    change = np.diff(result.energy.total)
    return Balance(change, work, change - work, power, turning, acts * creep, striking, rebound, impact, release)
