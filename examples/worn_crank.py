"""Slider-crank whose loose pin wears its bore: the clearance grows over a million turns, and the impacts with it.

Rigid links in the plane, 600 rpm, a pin of 20 mm with a radial clearance of 0.05 mm between crank and rod. Data are
chosen, not published. Archard's law gives the wear of a turn; `fem.grow_wear` extrapolates it, changes the clearance
and runs the next turn. The pin is hard and does not wear.

The bore wears at two sides, along the rod, where the forces of inertia act. The clearance is that of the **mean** depth
around it: the bore stays round in the model, as `uneven="mean"` states. The picture shows the profile that one turn
would wear in a round bore.

    python examples/worn_crank.py            writes worn_crank.vtkhdf (the last turns, ParaView), worn_crank.png
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.results.drawing.plot import COLORS, STYLE

crank_length, rod_length, speed = 0.05, 0.15, 20 * np.pi  # m, m, rad/s
radius, length, clearance = 0.010, 0.020, 5e-5  # m, of the pin; radial clearance when new
friction = 0.05
material = {"coefficient": 6e-5, "hardness": 2e9}  # badly lubricated; -, Pa
turn, turns = 2 * np.pi / speed, 1e6  # s, -
PLANAR, Z = ("z", "rx", "ry"), [0, 0, 1]


def build(gap=None):
    """Mechanism with straight links at the start; without a gap the joint is ideal."""
    model = fem.Model("worn slider-crank", gravity=[0, -9.81, 0])
    tip, end = speed * crank_length, crank_length + rod_length
    crank = model.add(
        fem.RigidBody.box(0.5, [crank_length, 0.02, 0.01], position=[crank_length / 2, 0, 0],
            velocity=[0, tip / 2, 0], angular_velocity=[0, 0, speed], fixed=PLANAR, name="crank")
    )  # fmt: skip
    rod = model.add(
        fem.RigidBody.box(0.6, [rod_length, 0.02, 0.01], position=[crank_length + rod_length / 2, 0, 0],
            velocity=[0, tip / 2, 0], angular_velocity=[0, 0, -tip / rod_length], fixed=PLANAR, name="rod")
    )  # fmt: skip
    slider = model.add(
        fem.RigidBody.box(1.0, [0.04, 0.04, 0.04], position=[end, 0, 0], fixed=("y", *PLANAR, "rz"), name="slider")
    )
    pivot = model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], Z, name="pivot"))
    model.add(fem.RevoluteDriver(pivot.frame_P, pivot.frame_Q, angle=lambda t: speed * t, name="drive"))
    model.add(fem.Revolute.at(rod, slider, [end, 0, 0], Z, name="wrist"))
    joint = [crank_length, 0, 0]
    if gap is None:
        model.add(fem.Revolute.at(crank, rod, joint, Z, name="pin"))
    else:
        law = {"radius": radius, "clearance": gap, "friction": friction, "name": "pin"}
        model.add(fem.JournalClearance(crank.frame_at(joint), rod.frame_at(joint), **law))
    return model


def run(gap=None, h=1e-4, save=None):
    """Two turns, the first of which brings the pin to the wall. Bodies and hinges are planar: redundant rows."""
    system = build(gap).compile(redundant="allow")
    return fem.DecoupledNSGA(rho_inf=0.0).run(system, t_end=2 * turn, h=h, save=save)


def grow(largest_depth, h=1e-4):
    """Wear of the bore over all turns, with runs of one turn after the first."""
    bore = fem.WornSurface.cylinder("pin", **material, radius=radius, length=length, uneven="mean")
    return fem.grow_wear(
        lambda depth: run(clearance + depth["bore"], h), {"bore": bore}, cycles=turns, largest_depth=largest_depth,
        start=turn,
    )  # fmt: skip


def ideal_rate():
    """Depth per turn [m] from the forces and angles of an ideal joint: k/H times the integral of F |ω| R, over 2πRL."""
    result = run()
    late = result.t > turn
    force = np.linalg.norm(result["pin"].force[late], axis=1)
    sliding = radius * np.abs(result["crank"].angular_velocity - result["rod"].angular_velocity)[late, 2]
    volume = material["coefficient"] / material["hardness"] * np.sum(force * sliding * result.h[late])
    return volume / (2 * np.pi * radius * length)


def draw(growth, new, worn, save):
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 3.9), layout="constrained")
        over = figure.add_subplot(1, 3, 1)
        depth = growth.depth["bore"]
        linear = growth.rate["bore"][0] * growth.cycles
        million = 1e-6 * growth.cycles
        over.plot(million, 1e6 * (clearance + depth), "o-", ms=3, color=COLORS[0], label="geometry wears")
        over.plot(million, 1e6 * (clearance + linear), "--", color="#909090", label="rate of the new joint")
        over.set(xlabel="turns [million]", ylabel="radial clearance [µm]")
        over.legend(loc="upper left")
        around = figure.add_subplot(1, 3, 2, projection="polar")
        for result, color, label in ((new, COLORS[1], "new"), (worn, COLORS[0], "worn")):
            wear = fem.contact_wear(result, "pin", **material, radius=radius, length=length, start=turn, bins=72)
            angle, profile = np.append(wear.angle, wear.angle[:1]), np.append(wear.depth, wear.depth[:1])
            around.plot(angle, 1e9 * profile, color=color, lw=1.0, label=label)
        around.set_title("wear of one turn in the bore [nm]\n0°: along the rod", fontsize=9)
        around.tick_params(labelsize=7)
        around.set_rlabel_position(90)
        around.yaxis.set_major_locator(MaxNLocator(4))
        force = figure.add_subplot(1, 3, 3)
        for result, color, label in ((worn, COLORS[0], "worn"), (new, COLORS[1], "new")):
            late = result.t > turn
            angle = np.degrees(speed * result.t[late]) - 360
            force.semilogy(angle, result["pin"].impulse[late, 0] / result.h[late], color=color, lw=0.8, label=label)
        force.set(xlabel="crank angle [°]", ylabel="normal impulse / h [N]", xlim=(0, 360), ylim=(3, None))
        force.set_xticks(range(0, 361, 90))
        force.legend(loc="lower right")
        if save is not None:
            figure.savefig(save, dpi=110)
    return figure


def main(save="worn_crank.vtkhdf", picture="worn_crank.png"):
    growth, coarse = grow(3e-5), grow(1.2e-4)
    new, worn = run(clearance), run(clearance + growth.depth["bore"][-1], save=save)
    if picture is not None:
        draw(growth, new, worn, picture)
    rate = growth.rate["bore"]
    fine, long = (1e6 * one.depth["bore"][-1] for one in (growth, coarse))
    return fem.Checks(
        # the pin moves the rod by c/r and whirls along the wall
        fem.Check("wear of the first turn [nm]", reference=1e9 * ideal_rate(), obtained=1e9 * rate[0], rel=0.05),
        # four blocks for thirteen; the rates of runs scatter by 1 %
        fem.Check("depth in blocks of 0.12 mm [µm]", reference=fine, obtained=long, rel=0.02),
        fem.Check("smallest gap [m]", reference=0.0, obtained=worn["pin"].gap.min(), abs=1e-9),
    )


if __name__ == "__main__":
    main().print()
