"""Stones, hexagon nuts and jacks poured into a bin: convex hulls, and bodies that are not convex as parts.

A stone is the hull of 16 points; a nut consists of six convex parts, a jack of three bars; mass, inertia and picture
come from their surfaces. Nuts can be put on jacks: no convex shape does that. There is no published reference; what
must hold is checked: nobody penetrates, energy only falls, and what the bin gives is what the bodies get.

    python examples/stones_and_nuts.py      writes stones_and_nuts.vtkhdf, to open in ParaView
"""

import itertools

import numpy as np
from scipy.spatial.transform import Rotation

import fem_mbs as fem

g, density, friction = 9.81, 2500.0, 0.4  # m/s², kg/m³, -
size, rounding = 0.03, 1e-3  # m, of the bodies and of their edges
speed = 0.5  # m/s, downwards at the start
colors = {"stone": "teal", "nut": "orange", "jack": "blue"}


def stone(rng, corners=16):
    """A hull of points on an ellipsoid."""
    points = rng.standard_normal((corners, 3))
    semi_axes = size * np.array([1.0, 0.85, 0.7])
    return fem.convex_parts([semi_axes * points / np.linalg.norm(points, axis=1)[:, None]])


def nut(inner=0.55, half=0.45):
    """A hexagon with a hole, cut along its six edges."""
    angle = np.pi / 3 * np.arange(7)
    rim = size * np.column_stack([np.cos(angle), np.sin(angle)])
    parts = []
    for a, b in itertools.pairwise(rim):
        outline = np.array([a, b, inner * b, inner * a])
        parts.append([[*corner, z] for corner in outline for z in (-half * size, half * size)])
    return fem.convex_parts(parts)


def jack(half=0.18):
    """Three bars across each other: one, and the ends of two, so that no part lies in another."""
    parts = [fem.shapes.Box(2 * size * np.array([1.2, half, half]))]
    for axis, side in [(1, 1), (1, -1), (2, 1), (2, -1)]:
        end, place = np.roll([1.2 - half, 2 * half, 2 * half], axis), np.roll([0.6 + 0.5 * half, 0, 0], axis)
        parts.append(fem.shapes.Box(size * end, offset=side * size * place))
    return fem.convex_parts(parts)


def build(count=48, across=3):
    """The model of ``count`` bodies in layers of ``across``² above a bin."""
    model = fem.Model("stones and nuts", gravity=[0, 0, -g])
    group = fem.ContactGroup(friction=friction, name="pile")
    rng, pitch = np.random.default_rng(4), 2.6 * size
    half, forms = 0.5 * across * pitch, {"nut": nut(), "jack": jack()}
    for k in range(count):
        layer, place = divmod(k, across * across)
        row, column = divmod(place, across)
        kind = ("stone", "nut", "jack")[k % 3]
        parts = stone(rng) if kind == "stone" else forms[kind]
        center = pitch * np.array([column + 0.5, row + 0.5, layer + 0.6]) - [half, half, 0]
        pose = {"position": center, "rotation": Rotation.random(random_state=rng).as_matrix()}
        body = fem.RigidBody.from_mesh(parts, density, color=colors[kind], velocity=[0, 0, -speed], **pose)
        group.mesh(model.add(body).mesh_frame, parts, rounding)
    walls = [([0, 0, 0], [0, 0, 0]), ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
             ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0])]  # fmt: skip
    for k, (turn, place) in enumerate(walls):
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn), drawn_size=0.0 if k else 2 * half)
    model.add(group)
    return model


def main(count=48, t_end=0.5, h=1e-3, save="stones_and_nuts.vtkhdf", solver=None):
    model = build(count)
    result = (solver or fem.DecoupledNSGA()).run(model, t_end, h, save=save)
    rise = np.diff(result.energy.total).max()
    print(result)
    pairs = [result.pairs(k) for k in range(1, len(result.t))]
    given = sum(pair.impulse[pair.type > 0].sum(axis=0) for pair in pairs)
    masses = np.array([body.mass for body in model.elements])
    change = masses @ (result.rows([len(result.t) - 1])["velocity"][0, 1:] - [0, 0, -speed])
    last, weight = pairs[-1], masses.sum() * g
    print(f"{len(last.gap)} closed contacts at the end, {(last.type == 0).sum()} of them between bodies")
    return fem.Checks(
        # positions keep overlaps up to 1e-6 of the thickness
        fem.Check("smallest gap [m]", reference=0.0, obtained=min(p.gap.min(initial=0.0) for p in pairs), abs=1e-7),
        fem.Check("largest rise of energy [J]", reference=0.0, obtained=max(rise, 0.0), abs=1e-6),
        # momentum: W T + Δp
        fem.Check("impulse of the bin [N s]", reference=weight * t_end + change[2], obtained=given[2], rel=1e-6),
    )  # fmt: skip


if __name__ == "__main__":
    main().print()
