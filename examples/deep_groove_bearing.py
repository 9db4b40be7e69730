"""Deep groove ball bearing 6205 under a radial load: load zone, and the ball pass frequencies of defects.

The shaft turns with 1800 rpm and carries 1000 N; balls, cage and races move and press as they do. Then the same with a
spall of 1 mm on the outer race, in the load zone, and with one on the inner race. A ball that passes the spall
excites the shaft by an impact; the envelope of the vibration shows how often: with the ball pass frequency of that
race, and on the inner race with sidebands at the speed of the shaft, whose spall passes the load zone once a turn.

    python examples/deep_groove_bearing.py            writes deep_groove_bearing.vtkhdf (two turns, for ParaView),
                                                      deep_groove_bearing.png
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.results.drawing.plot import COLORS, STYLE
from fem_mbs.runtime import output_path

load, speed, clearance = 1000.0, 2 * np.pi * 30.0, 10e-6  # N, rad/s, m diametral
shaft_mass, pit = 0.5, {"length": 1e-3, "depth": 3e-6}  # kg, m
down = -np.pi / 2  # the load zone
GEOMETRY = fem.BearingGeometry.from_designation("6205", clearance=clearance)
START = down + np.pi / GEOMETRY.balls  # of ball 0: the load line, where spalls are, between two balls


def equilibrium(cage_angle=START):
    """Quasi-static solution: where the shaft starts, and what the ball loads are compared with."""
    return fem.bearing_equilibrium(
        GEOMETRY, force=(0, -load, 0), cage_angle=cage_angle, fixed=("z", "rx", "ry"), inner_speed=speed, inertia=True
    )


def build(defect=None):
    """Model and bearing; ``defect`` is None, "outer" or "inner"."""
    model = fem.Model("deep groove ball bearing")
    shaft = model.add(
        fem.RigidBody(
            shaft_mass, 1e-4, position=equilibrium().displacement, angular_velocity=[0, 0, speed],
            fixed=("z", "rx", "ry"), name="shaft",
        )
    )  # fmt: skip
    model.add(fem.PointForce(shaft, [0, -load, 0], name="load"))
    model.add(fem.RevoluteDriver(model.ground, shaft, lambda t: speed * t, name="motor"))
    spall = () if defect is None else fem.Spall(defect, angle=down, **pit)
    bearing = fem.ball_bearing(model.ground, shaft, GEOMETRY, cage_angle=START, spall=spall)
    return model, model.add(bearing)


def run(defect=None, t_end=1.0, h=1e-4, **options):
    """`BearingHistory` of a run; rho_inf = 0 damps what such steps do not resolve."""
    model, bearing = build(defect)
    return fem.BearingHistory(fem.DecoupledNSGA(rho_inf=0.0).run(model, t_end=t_end, h=h, **options), bearing)


def acceleration(history, start=0.1):
    """Vertical acceleration [m/s²] of the shaft after the start of the run, and the step [s]."""
    after = history.t >= start
    return history.result["shaft"].acceleration[after, 1], history.t[1] - history.t[0]


def spectrum(signal, step):
    """Frequencies [Hz] and amplitudes of a signal: Hann window, eight times the points for the place of its lines."""
    n = len(signal)
    window = np.hanning(n)
    values = np.abs(np.fft.rfft((signal - signal.mean()) * window, 8 * n)) * 2 / window.sum()
    return np.fft.rfftfreq(8 * n, step), values


def envelope(signal, step, lowest=500.0):
    """Envelope of what vibrates above a frequency [Hz]: magnitude of the analytic signal."""
    n = len(signal)
    values, frequency = np.fft.fft(signal - signal.mean()), np.fft.fftfreq(n, step)
    return np.abs(np.fft.ifft(np.where(frequency > lowest, 2 * values, 0.0)))


def line(frequency, amplitude, expected, part=0.01):
    """Frequency [Hz] of the highest line within a part of an expected one."""
    near = np.abs(frequency - expected) < part * expected
    return frequency[near][amplitude[near].argmax()]


def draw(healthy, defects, save):
    """Loads around the bearing, load of one ball, vibration, envelope spectra."""
    import matplotlib
    from matplotlib.figure import Figure

    passes = GEOMETRY.pass_frequencies(speed / (2 * np.pi))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11, 7.4), layout="constrained")
        polar = figure.add_subplot(2, 2, 1, projection="polar")
        ball, vibration, lines = (figure.add_subplot(2, 2, k) for k in (2, 3, 4))
        after = healthy.t > 0.1
        polar.plot(healthy.psi[after], healthy.load_inner[after], ".", ms=1, color=COLORS[0])
        static = equilibrium(down)
        polar.plot(static.psi, static.load_inner, "o", mfc="none", color=COLORS[1])
        polar.set_title("ball loads [N]: passing, and at rest (circles)")
        time = healthy.t * 1e3
        for race, color in (("inner", COLORS[0]), ("outer", COLORS[1])):
            ball.plot(time, getattr(healthy, f"load_{race}")[:, 0], color=color, label=f"{race} race")
        ball.set(xlim=(0, 250), xlabel="time [ms]", ylabel="load of ball 0 [N]")
        ball.legend()
        for (name, history), color in zip(defects.items(), COLORS[2:]):
            a, step = acceleration(history)
            t = (0.1 + step * np.arange(len(a))) * 1e3
            vibration.plot(t, a, lw=0.6, color=color, label=f"spall on the {name} race")
            f, values = spectrum(envelope(a, step), step)
            lines.plot(f, values / values[(f > 50) & (f < 700)].max(), lw=0.8, color=color)
            for k in range(1, 6):
                lines.axvline(k * getattr(passes, name), color=color, lw=0.5, ls=":")
        vibration.set(xlim=(100, 200), xlabel="time [ms]", ylabel="vertical acceleration of the shaft [m/s²]")
        vibration.legend()
        lines.set(xlim=(0, 700), xlabel="frequency [Hz]", ylabel="envelope, relative")
        lines.set_title("dotted: multiples of the ball pass frequencies")
        figure.savefig(output_path(save), dpi=110)
    return figure


def main(t_end=1.0, h=1e-4, save="deep_groove_bearing.vtkhdf", picture="deep_groove_bearing.png"):
    healthy, defects = run(t_end=t_end, h=h), {name: run(name, t_end, h) for name in ("outer", "inner")}
    if save is not None:
        run("outer", 2 * 2 * np.pi / speed, h, save=save, save_every=4)
    if picture is not None:
        draw(healthy, defects, picture)
    after, static = healthy.t > 0.1, equilibrium(down)
    passes = GEOMETRY.pass_frequencies(speed / (2 * np.pi))
    checks = [
        # the ball at the bottom; its neighbours stand up to 5 mrad off, by the play of the pockets: 0.4 % measured
        fem.Check("largest ball load [N]", reference=static.load_inner.max(), obtained=healthy.load_inner[after].max(),
                  rel=1e-2),
        fem.Check("mean bearing force [N]", reference=load, obtained=healthy.force[after, 1].mean(), rel=1e-3),
        # without slip; creep and the play of the cage in a run of 12 of its turns, 0.2 % measured
        fem.Check("cage speed/shaft speed", reference=passes.cage * 2 * np.pi / speed,
                  obtained=healthy.orbit_speed[after].mean() / speed, rel=5e-3),
    ]  # fmt: skip
    for name, history in defects.items():
        a, step = acceleration(history)
        f, values = spectrum(envelope(a, step), step)
        for k in (1, 2, 3):
            expected = k * getattr(passes, name)
            title = f"{k} × passes of the {name} race [Hz]"
            # creep shifts lines by 0.1 %; the resolution of a record of 0.9 s is 1.1 Hz, its middle is known better
            checks.append(fem.Check(title, reference=expected, obtained=line(f, values, expected), rel=5e-3))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
