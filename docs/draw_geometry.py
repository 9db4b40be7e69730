"""Drawings of frames and vectors: joints, contacts, swept contacts, bearings."""

import numpy as np
from drawing import keep, panels


def _blob(axes, center, size, seed, **style):
    """The outline of a body."""
    angle = np.linspace(0, 2 * np.pi, 200)
    rng = np.random.default_rng(seed)
    radius = 1 + sum(0.06 * rng.normal() * np.cos(k * angle + rng.uniform(0, 6)) for k in (2, 3, 4))
    axes.fill(center[0] + size[0] * radius * np.cos(angle), center[1] + size[1] * radius * np.sin(angle), **style)


def _arrow(axes, start, end, text=None, at=0.5, shift=(0, 0), color="0.2"):
    start, end = np.asarray(start, float), np.asarray(end, float)
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
    )
    if text is not None:
        axes.text(*(start + at * (end - start) + shift), text, color=color, fontsize=12, ha="center", va="center")


def joint_frames():
    """Frames and vectors of a joint."""
    figure, axes = panels(1, (7.2, 3.0))
    style = {"facecolor": "#eef3f8", "edgecolor": "#33658a"}
    _blob(axes, (1.6, 1.1), (1.5, 0.95), 1, **style)
    _blob(axes, (5.6, 1.3), (1.6, 0.95), 4, **style)
    A, B, P, Q = (np.array(p) for p in ((1.2, 0.9), (6.0, 1.1), (2.7, 1.5), (4.35, 1.75)))
    for point, name, turn in ((P, "P", 0.15), (Q, "Q", -0.2)):
        for angle in (turn, turn + np.pi / 2):
            _arrow(axes, point, point + 0.45 * np.array([np.cos(angle), np.sin(angle)]), color="#b03a2e")
        axes.text(*(point + [-0.08, -0.3]), name, color="#b03a2e", fontsize=12)
    for point, name in ((A, "$x_A, R_A$"), (B, "$x_B, R_B$")):
        axes.plot(*point, "ko", ms=5)
        axes.text(*(point + [0, -0.28]), name, ha="center", fontsize=11)
    _arrow(axes, A, P, "$a$", shift=(-0.12, 0.15))
    _arrow(axes, B, Q, "$b$", shift=(0.1, 0.18))
    _arrow(axes, A, Q, "$r$", at=0.62, shift=(0.1, -0.17), color="#33658a")
    axes.set(aspect="equal", xlim=(0, 7.9), ylim=(-0.1, 2.6))
    axes.axis("off")
    keep(figure, "joint_frames")


def contact_shape():
    """A sphere and a shape."""
    figure, axes = panels(1, (6.2, 3.4))
    x = np.linspace(0, 6, 200)
    ground = 0.55 + 0.28 * np.sin(1.1 * x + 0.3)
    axes.fill_between(x, ground, -0.4, facecolor="#eef3f8", edgecolor="#33658a")
    foot = np.array([3.4, np.interp(3.4, x, ground)])
    slope = np.gradient(ground, x)[np.searchsorted(x, 3.4)]
    n = np.array([-slope, 1]) / np.hypot(slope, 1)
    r, gap = 0.75, 0.45
    center = foot + (r + gap) * n
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.fill(center[0] + r * np.cos(angle), center[1] + r * np.sin(angle), facecolor="#f7efe4", edgecolor="#b06a1e")
    node = center + [0.15, 0.35]
    axes.plot(*node, "ko", ms=4)
    _arrow(axes, node, center, "$a$", shift=(0.18, 0.05))
    axes.plot(*center, "k.", ms=6)
    axes.text(*(center + [-0.2, 0.05]), "P", fontsize=11)
    near = foot + gap * n
    axes.plot(*np.array([foot, near]).T, color="#b03a2e", lw=1.6)
    axes.text(*(foot + 0.55 * gap * n + [0.28, 0.02]), "$g_N$", color="#b03a2e", fontsize=12)
    _arrow(axes, foot, foot + 0.9 * np.array([n[1], -n[0]]), "$t_1$", at=1.12, color="#2a7f3f")
    _arrow(axes, center, near, "$r$", shift=(-0.18, 0), color="#b06a1e")
    Q = np.array([0.8, 0.1])
    for direction, name in (((0.55, 0), "x"), ((0, 0.55), "z")):
        _arrow(axes, Q, Q + direction, name, at=1.2, color="0.3")
    axes.text(*(Q + [-0.18, -0.12]), "Q", fontsize=11)
    _arrow(axes, Q, center, "$y$", at=0.55, shift=(-0.12, 0.14), color="#33658a")
    axes.set(aspect="equal", xlim=(0, 6), ylim=(-0.4, 2.9))
    axes.axis("off")
    keep(figure, "contact_shape")


def sweep():
    """A ball that flies through another within a step, and where it ends when it is met at its first touch."""
    figure, axes = panels(1, (7.4, 3.0))
    angle, R, r = np.linspace(0, 2 * np.pi, 200), 0.62, 0.5
    standing = np.array([3.6, 0.9])
    tau = np.linspace(0, 1, 400)
    path = np.array([0.6 + 5.4 * tau, 1.75 - 0.75 * tau - 0.35 * tau**2]).T
    touch = int(np.argmax(np.linalg.norm(path - standing, axis=1) < R + r))
    n = (path[touch] - standing) / (R + r)
    t = np.array([n[1], -n[0]])
    end = path[-1]
    corrected = end + max(0.0, n @ (path[touch] - end)) * n

    def ball(center, radius, **style):
        axes.fill(*(center[:, None] + radius * np.array([np.cos(angle), np.sin(angle)])), **style)

    ball(standing, R, facecolor="#eef3f8", edgecolor="#33658a")
    axes.plot(*path.T, color="0.5", lw=1.1, ls="--")
    ball(path[0], r, facecolor="#f7efe4", edgecolor="#b06a1e")
    ball(path[touch], r, facecolor="#f7efe4", edgecolor="#b06a1e")
    ball(end, r, facecolor="none", edgecolor="0.55", ls="--")
    ball(corrected, r, facecolor="none", edgecolor="#2a7f3f", lw=1.6)
    foot = standing + R * n
    axes.plot(*np.array([foot - 1.1 * t, foot + 3.3 * t]).T, color="#2a7f3f", lw=1)
    _arrow(axes, foot, foot + 0.6 * n, color="#b03a2e")
    axes.text(*(foot + 0.32 * n - 0.22 * t), "$n$", color="#b03a2e", fontsize=12, ha="center", va="center")
    _arrow(axes, end, corrected, "$U$", shift=(0.2, 0), color="#2a7f3f")
    for place, text, shift in (
        (path[0], r"$q_n$", (-0.08, -0.24)), (path[touch], r"$q_\theta$", (-0.25, 0.1)),
        (end, r"$\tilde q$", (-0.08, -0.24))
    ):  # fmt: skip
        axes.plot(*place, "k.", ms=5)
        axes.text(*(place + shift), text, fontsize=12, ha="center")
    axes.plot(*corrected, ".", color="#2a7f3f", ms=6)
    axes.text(*(corrected + [0.0, 0.14]), "$q_{n+1}$", color="#2a7f3f", fontsize=12, ha="center")
    axes.set(aspect="equal", xlim=(-0.1, 6.8), ylim=(0.0, 2.9))
    axes.axis("off")
    keep(figure, "sweep")


def bearing_geometry():
    """Half section of a ball bearing with its groove centres."""
    figure, axes = panels(1, (5.6, 4.2))
    D, f, alpha, d_m = 1.0, 0.62, np.deg2rad(30), 5.0
    u = np.array([np.sin(alpha), np.cos(alpha)])  # (z, r): from the ball to the outer race
    ball = np.array([0.0, d_m / 2])
    C_o, C_i = ball - (f - 0.5) * D * u, ball + (f - 0.5) * D * u
    angle = np.linspace(0, 2 * np.pi, 400)
    axes.fill(
        ball[0] + D / 2 * np.cos(angle), ball[1] + D / 2 * np.sin(angle), facecolor="#f7efe4", edgecolor="#b06a1e"
    )
    for center, sign, edge in ((C_o, 1, 3.42), (C_i, -1, 1.55)):
        arc = np.linspace(-1.05, 1.05, 100)
        z, r = center[0] + f * D * np.sin(arc), center[1] + sign * f * D * np.cos(arc)
        outline = np.concatenate([[[-0.9, edge], [-0.9, r[0]]], np.stack([z, r], 1), [[0.9, r[-1]], [0.9, edge]]])
        axes.fill(*outline.T, facecolor="#e3ebf2", edgecolor="#33658a")
    axes.plot(*C_o, "x", color="#33658a", mew=2)
    axes.plot(*C_i, "x", color="#33658a", mew=2)
    axes.plot(*ball, "k+", ms=8)
    axes.text(*(C_o + [-0.3, -0.12]), "$C_o$", color="#33658a", fontsize=11)
    axes.text(*(C_i + [0.07, 0.02]), "$C_i$", color="#33658a", fontsize=11)
    line = np.array([ball - 0.75 * u, ball + 0.75 * u])
    axes.plot(*line.T, color="#b03a2e", lw=1, ls="--")
    axes.plot([0, 0], [ball[1], ball[1] + 0.75], color="0.5", lw=0.8)
    arc = np.linspace(0, alpha, 30)
    axes.plot(0.62 * np.sin(arc), ball[1] + 0.62 * np.cos(arc), color="#b03a2e", lw=1)
    axes.text(0.12, ball[1] + 0.68, r"$\alpha$", color="#b03a2e", fontsize=12)
    axes.text(-0.5, 3.22, "outer ring", ha="center", fontsize=10, color="#33658a")
    axes.text(0.0, 1.68, "inner ring", ha="center", fontsize=10, color="#33658a")
    axes.annotate("", (-1.15, ball[1]), (-1.15, 1.2), arrowprops={"arrowstyle": "<->", "color": "0.4"})
    axes.text(-1.25, 1.9, "$d_m/2$ (shortened)", rotation=90, va="center", ha="right", fontsize=9, color="0.4")
    axes.plot([-1.3, 1.3], [1.2, 1.2], color="0.4", lw=0.8, ls="-.")
    axes.text(1.3, 1.24, "axis", ha="right", fontsize=9, color="0.4")
    axes.annotate("", (1.15, C_o[1]), (1.15, C_i[1]), arrowprops={"arrowstyle": "<->", "color": "0.4"})
    axes.text(1.2, ball[1], r"$A\cos\alpha$", va="center", fontsize=10, color="0.4")
    axes.set(aspect="equal", xlim=(-1.6, 1.9), ylim=(1.1, 3.5))
    axes.axis("off")
    keep(figure, "bearing_geometry")


DRAWINGS = (
    joint_frames, contact_shape, sweep, bearing_geometry,
)  # fmt: skip
