"""Families of frictional contact problems from small mechanical models, for benchmarks and tests.

Every function returns a `ContactProblem` made by ``from_bodies`` with W = Hᵀ M⁻¹ H, q = Hᵀ (v + h M⁻¹ f): one impulsive
step from the velocities v under gravity. Sizes are in contacts, lengths in m, masses in kg.
"""

import numpy as np

from fem_mbs.solvers.contact_problem.problem import ContactProblem

STEP, GRAVITY = 1e-2, 9.81  # s, m/s²


class Assembly:
    """Bodies (mass, inertia, centre, velocity) and contacts (point, normal, friction) between them; ground is -1."""

    def __init__(self):
        self.mass, self.inertia, self.center, self.velocity, self.contacts = [], [], [], [], []

    def body(self, mass, inertia, center, velocity=(0.0,) * 6):
        self.mass.append(mass)
        self.inertia.append(np.broadcast_to(np.asarray(inertia, float), 3))
        self.center.append(np.asarray(center, float))
        self.velocity.append(np.asarray(velocity, float))
        return len(self.mass) - 1

    def box(self, mass, size, center, velocity=(0.0,) * 6):
        squares = np.square(size)
        return self.body(mass, mass / 12 * (squares.sum() - squares), center, velocity)

    def contact(self, first, second, point, normal, friction, turn=0.0):
        """Normal from the second body to the first; ``turn`` rotates the tangents [rad]."""
        self.contacts.append((first, second, np.asarray(point, float), np.asarray(normal, float), friction, turn))

    def problem(self, name, *, rolling=None, spinning=None, load=()):
        """Contact problem of the assembly; ``load`` lists (body, force (3,)) [N]."""
        nb, nc = len(self.mass), len(self.contacts)
        d = 3 + (2 if rolling is not None else 0) + (1 if spinning is not None else 0)
        H = np.zeros((6 * nb, nc * d)) if nb * nc < 20000 else None
        rows, columns, values = [], [], []
        for i, (first, second, point, normal, _, turn) in enumerate(self.contacts):
            n = normal / np.linalg.norm(normal)
            t = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
            t /= np.linalg.norm(t)
            t = np.cos(turn) * t + np.sin(turn) * np.cross(n, t)
            frame = np.array([n, t, np.cross(n, t)])
            angular = [1, 2] * (rolling is not None) + [0] * (spinning is not None)
            for body, sign in ((first, 1.0), (second, -1.0)):
                if body < 0:
                    continue
                block = np.zeros((6, d))
                arm = point - self.center[body]
                block[:3, :3] = sign * frame.T
                block[3:, :3] = sign * np.cross(arm, frame).T
                block[3:, 3:] = sign * frame[angular].T
                row, column = np.nonzero(block)
                rows.append(6 * body + row)
                columns.append(i * d + column)
                values.append(block[row, column])
        import scipy.sparse as sp

        triplets = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        H = sp.csc_array(sp.coo_array(triplets, shape=(6 * nb, nc * d)))
        diagonal = np.column_stack([np.repeat(np.array(self.mass)[:, None], 3, 1), np.array(self.inertia)]).ravel()
        force = np.zeros((nb, 6))
        force[:, 2] = -GRAVITY * np.array(self.mass)
        for body, extra in load:
            force[body, :3] += extra
        momentum = diagonal * np.concatenate(self.velocity) + STEP * force.ravel()
        friction = np.array([c[4] for c in self.contacts])
        return ContactProblem.from_bodies(
            sp.dia_array((diagonal[None], [0]), shape=(6 * nb, 6 * nb)),
            H,
            np.zeros(nc * d),
            friction,
            f=momentum,
            rolling=rolling,
            spinning=spinning,
            name=f"{name} {nc}",
        )


def _face(assembly, above, below, z, half, friction, center=(0.0, 0.0)):
    """Four contacts at the corners of a horizontal face."""
    for x in (-half, half):
        for y in (-half, half):
            assembly.contact(above, below, (center[0] + x, center[1] + y, z), (0, 0, 1), friction)


def stack(boxes, seed=0, kick=0.0, friction=0.5, ratio=1.0, heavy_top=True):
    """Boxes on top of each other, four contacts a face; masses grow by ``ratio`` from one end to the other."""
    rng, a = np.random.default_rng(seed), Assembly()
    below = -1
    for k in range(boxes):
        part = k / max(boxes - 1, 1)
        mass = ratio ** (part if heavy_top else 1 - part)
        body = a.box(mass, (1, 1, 1), (0, 0, k + 0.5), kick * rng.normal(size=6))
        _face(a, body, below, k, 0.5, friction)
        below = body
    return a.problem("stack")


def arch(stones, friction=0.6, ratio=1.0, seed=0):
    """Half-circle of voussoirs between two supports; four contacts a joint; random masses up to ``ratio``."""
    rng, a = np.random.default_rng(seed), Assembly()
    angle = np.linspace(0, np.pi, stones + 1)
    bodies = []
    for k in range(stones):
        middle = 0.5 * (angle[k] + angle[k + 1])
        center = 5.5 * np.array([-np.cos(middle), 0, np.sin(middle)])
        bodies.append(a.box(ratio ** rng.random(), (1, 1, np.pi * 5.5 / stones), center))
    for k in range(stones + 1):
        along = np.array([np.sin(angle[k]), 0, np.cos(angle[k])])
        first, second = (bodies[k] if k < stones else -1), (bodies[k - 1] if k > 0 else -1)
        for radius in (5.0, 6.0):
            for y in (-0.5, 0.5):
                point = radius * np.array([-np.cos(angle[k]), 0, np.sin(angle[k])]) + [0, y, 0]
                a.contact(first, second, point, along, friction)
    return a.problem("arch")


def wall(columns, rows, seed=0, kick=0.0, friction=0.6):
    """Bricks in a running bond with contacts between neighbours of a row."""
    rng, a = np.random.default_rng(seed), Assembly()
    bricks = {}
    for row in range(rows):
        for column in range(columns):
            center = (2 * column + row % 2, 0, row + 0.5)
            bricks[row, column] = a.box(1.0, (2, 1, 1), center, kick * rng.normal(size=6))
    for (row, column), brick in bricks.items():
        left = 2 * column + row % 2 - 1
        if row == 0:
            for x in (left, left + 2):
                for y in (-0.5, 0.5):
                    a.contact(brick, -1, (x, y, 0), (0, 0, 1), friction)
        for other, start in ((column - 1 + row % 2, left), (column + row % 2, left + 1)):
            if row > 0 and (row - 1, other) in bricks:
                for x in (start, start + 1):
                    for y in (-0.5, 0.5):
                        a.contact(brick, bricks[row - 1, other], (x, y, row), (0, 0, 1), friction)
        if (row, column + 1) in bricks:
            for z in (row, row + 1):
                a.contact(bricks[row, column + 1], brick, (left + 2, 0, z), (1, 0, 0), friction)
    return a.problem("wall")


def pile(side, layers, seed=0, speed=0.0, friction=0.5, spread=1.0, rolling=None, spinning=None):
    """Spheres in a box, close packed with noise; masses over a factor ``spread``, random velocities of size
    ``speed``."""
    rng, a = np.random.default_rng(seed), Assembly()
    radius, width = 0.5, side + 0.5
    index = [(i, j, k) for k in range(layers) for j in range(side) for i in range(side)]
    grid = np.array([(i + 0.5 * (k % 2), j + 0.5 * (k % 2), k * np.sqrt(0.5)) for i, j, k in index]) + radius
    for center in grid:
        mass = spread ** rng.random()
        velocity = np.concatenate([speed * rng.normal(size=3), np.zeros(3)])
        a.body(mass, 0.4 * mass * radius**2, center, velocity)
    from scipy.spatial import cKDTree

    for i, j in sorted(cKDTree(grid).query_pairs(1.0 + 1e-6)):
        normal = grid[i] - grid[j] + 1e-3 * rng.normal(size=3)  # no two contacts quite alike
        a.contact(i, j, 0.5 * (grid[i] + grid[j]), normal, friction, turn=rng.random())
    for i, center in enumerate(grid):
        for axis, place, sign in ((2, 0, 1), (0, 0, 1), (0, width, -1), (1, 0, 1), (1, width, -1)):
            if abs(center[axis] - place) <= radius + 1e-9:
                point, normal = center.copy(), np.zeros(3)
                point[axis], normal[axis] = place, sign
                a.contact(i, -1, point, normal, friction)
    return a.problem("pile", rolling=rolling, spinning=spinning)


def table(feet, slide=0.0, spin=0.0, load=0.0, friction=0.4):
    """A plate on feet × feet legs (hyperstatic): at rest, sliding, spinning, or with a heavy eccentric weight on it."""
    a = Assembly()
    plate = a.box(1.0, (2, 2, 0.1), (0, 0, 1), (slide, 0.3 * slide, 0, 0, 0, spin))
    for x in np.linspace(-1, 1, feet):
        for y in np.linspace(-1, 1, feet):
            a.contact(plate, -1, (x, y, 0), (0, 0, 1), friction)
    if load:
        weight = a.box(load, (0.5, 0.5, 0.5), (0.4, 0.3, 1.3))
        _face(a, weight, plate, 1.05, 0.25, friction, (0.4, 0.3))
    return a.problem("table")


def wedge(parts, half_angle=0.2, push=50.0, friction=0.7):
    """Wedges pressed one after the other into a jaw: jammed, redundant, friction near its limit."""
    a = Assembly()
    below = -1
    for k in range(parts):
        z = float(k)
        body = a.box(1.0, (1, 1, 1), (0, 0, z + 0.5))
        for sign in (-1, 1):
            normal = (-sign * np.cos(half_angle), 0, np.sin(half_angle))
            for y in (-0.4, 0.4):
                for height in (0.2, 0.8):
                    a.contact(body, -1, (sign * (0.5 + 0.2 * height), y, z + height), normal, friction)
        if below >= 0:
            _face(a, body, below, z, 0.3, friction)
        below = body
    return a.problem("wedge", load=[(below, (0.0, 0.0, -push))])


def rods(count, lean=0.6, slip=0.5, friction=0.3):
    """Leaning rods whose foot slides on the ground and whose middle rests on the next rod."""
    a = Assembly()
    for k in range(count):
        center = np.array([0.4 * k, 0, 0.5 * np.cos(lean)])
        a.body(1.0, (1 / 12, 1 / 12, 1e-3), center, (slip, 0.1, 0, 0, -0.2, 0))
    for k in range(count):
        foot = a.center[k] + 0.5 * np.array([-np.sin(lean), 0, -np.cos(lean)])
        a.contact(k, -1, foot, (0, 0, 1), friction)
        if k > 0:
            touch = 0.5 * (a.center[k] + a.center[k - 1])
            a.contact(k, k - 1, touch, (np.cos(lean), 0, np.sin(lean) - 0.3), friction)
    return a.problem("rods")


def slabs(count, tilt=0.1, speed=1.0, seed=0):
    """Slabs sliding over each other, every contact frame tilted a little and with a friction of its own."""
    rng, a = np.random.default_rng(seed), Assembly()
    below = -1
    for k in range(count):
        body = a.box(1.0, (2, 2, 0.2), (0, 0, 0.2 * k + 0.1), (speed * (k + 1), 0.3 * speed * k, 0, 0, 0, 0))
        for x in (-1, 1):
            for y in (-1, 1):
                normal = np.array([0, 0, 1.0]) + tilt * rng.normal(size=3)
                a.contact(body, below, (x, y, 0.2 * k), normal, 1.0 * rng.random(), turn=rng.random())
        below = body
    return a.problem("slabs")


def random_dense(contacts, seed=0, rank=None, friction=1.0):
    """Random W = Gᵀ G of given rank (full by default), q in its range, friction up to the given value."""
    rng = np.random.default_rng(seed)
    m = 3 * contacts
    rank = m if rank is None else rank
    G = rng.normal(size=(rank, m)) / np.sqrt(rank)
    q = G.T @ rng.normal(size=rank) * np.sqrt(3)
    return ContactProblem(G.T @ G, q, friction * rng.random(contacts), name=f"random {contacts}")


def rescaled(problem, factor=1.0, unit_spread=1.0, seed=0):
    """The same problem with W times ``factor`` and the units of single contacts changed by up to ``unit_spread``."""
    import scipy.sparse as sp

    rng = np.random.default_rng(seed)
    n, d = problem.q.shape
    units = np.repeat(unit_spread ** rng.uniform(-0.5, 0.5, n), d).reshape(n, d)
    if problem.bodies is not None:
        W = problem.bodies.scaled(np.sqrt(factor) * units)
    else:
        scale = sp.dia_array((units.reshape(1, -1), [0]), shape=(n * d, n * d))
        W = sp.csr_array(scale @ sp.csr_array(problem.W) @ scale) * factor
    return ContactProblem(W, units * problem.q, problem.friction[:, 0], name=f"scaled {problem.name}")


def unsymmetric(problem, strength=0.05, seed=0):
    """W = Hᵀ (I + skew)⁻¹ H: gyroscopic terms in the iteration matrix; the range of Hᵀ is kept."""
    rng = np.random.default_rng(seed)
    H = problem.bodies.matrix().T.toarray()
    skew = np.zeros((len(H), len(H)))
    for k in range(0, len(H) - 5, 6):
        block = rng.normal(size=(6, 6)) * strength
        skew[k : k + 6, k : k + 6] = block - block.T
    W = H.T @ np.linalg.solve(np.eye(len(H)) + skew, H)
    return ContactProblem(W, problem.q, problem.friction[:, 0], name=f"unsymmetric {problem.name}")
