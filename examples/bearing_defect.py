"""A pit in a race of a ball bearing, heard in the vibration of the shaft: ball-pass frequencies and side bands.

A 6205 with 9 balls, inner ring at 30 Hz under 500 N; a pit of 1 mm in the outer race inside the load zone, then one in
the inner race, which turns through it. Balls are elastic and in equilibrium, the shaft is a body of 2 kg. Without pit
the shaft hums with the first multiples of the outer ball-pass frequency, because its stiffness depends on where the
balls are.

    python examples/bearing_defect.py        writes bearing_defect.vtkhdf (outer race, ParaView), bearing_defect.png
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.results.drawing.plot import COLORS, STYLE
from fem_mbs.runtime import output_path

shaft, load, mass = 30.0, 500.0, 2.0  # Hz, N, kg
geometry = fem.BearingGeometry.from_designation("6205", clearance=10e-6)
lines = geometry.pass_frequencies(shaft)  # Hz
PITS = {
    "sound": None,
    "outer race": fem.Spall("outer", 1e-3, depth=3e-6),
    "inner race": fem.Spall("inner", 1e-3, depth=3e-6, angle=lambda t: 2 * np.pi * shaft * t),
}
start, duration = 0.05, 0.5  # s, of the spectrum: it resolves 2 Hz


def build(spall):
    """Shaft that moves along and across the load but does not tilt."""
    model = fem.Model("bearing with a pit")
    at_rest = fem.bearing_equilibrium(geometry, [load, 0, 0]).displacement
    body = fem.RigidBody(mass, 1e-3, position=at_rest, fixed=("rx", "ry", "rz"), name="shaft")
    model.add(body, fem.PointForce(body, [load, 0, 0]))
    # the body does not turn here: its race and the balls are carried round by functions of time
    cage = 2 * np.pi * lines.cage
    bearing = fem.QuasiStaticBearing(
        model.ground, body, geometry, cage_angle=lambda t: cage * t, spall=spall, damping=(600, 600, 0),
        springs=(0, 1e5, 0), name="bearing",
    )  # fmt: skip
    model.add(bearing)
    return model


def spectrum(spall, h=2.5e-5, save=None):
    """Frequencies [Hz] and amplitudes [m/s²] of the acceleration along the load."""
    result = fem.DecoupledNSGA(rho_inf=0.8).run(build(spall), t_end=start + duration, h=h, save=save)
    acceleration = result["shaft"].acceleration[result.t > start, 0]
    window = np.hanning(len(acceleration))
    amplitude = 2 * np.abs(np.fft.rfft((acceleration - acceleration.mean()) * window)) / window.sum()
    return np.fft.rfftfreq(len(acceleration), h), amplitude


def peak(frequency, amplitude, near, width):
    """Frequency of the highest line within a width about a frequency [Hz], by a parabola through its three points."""
    inside = np.flatnonzero(np.abs(frequency - near) < width)
    i = inside[amplitude[inside].argmax()]
    left, top, right = np.log(amplitude[i - 1 : i + 2])
    return frequency[i] + 0.5 * (left - right) / (left - 2 * top + right) * frequency[1]


def draw(spectra, save):
    import matplotlib
    from matplotlib.figure import Figure

    marks = {"sound": lines.outer, "outer race": lines.outer, "inner race": lines.inner}
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 6.4), layout="constrained")
        panels = figure.subplots(3, 1, sharex=True, sharey=True)
        for ax, (name, (frequency, amplitude)), color in zip(panels, spectra.items(), COLORS):
            for k in range(1, 10):
                ax.axvline(k * marks[name], color="#d0d0d0", linewidth=0.8)
            which = "inner" if name == "inner race" else "outer"
            title = name if name == "sound" else f"pit in the {name}"
            ax.plot(frequency, amplitude, color=color)
            ax.set_title(f"{title}; grey: multiples of the {which} ball-pass frequency", loc="left")
            ax.set_ylabel("acceleration [m/s²]")
            ax.set(yscale="log", ylim=(1e-4, 100))
        panels[-1].set(xlabel="frequency [Hz]", xlim=(0, 1000))
        figure.savefig(output_path(save), dpi=110)
    return figure


def main(save="bearing_defect.vtkhdf", picture="bearing_defect.png"):
    spectra = {name: spectrum(pit, save=save if name == "outer race" else None) for name, pit in PITS.items()}
    if picture is not None:
        draw(spectra, picture)
    outer, inner, sound = spectra["outer race"], spectra["inner race"], spectra["sound"]
    above = sound[0] > 2.5 * lines.outer
    louder = outer[1][above].max() / sound[1][above].max()
    checks = [fem.Check("sound: first line [Hz]", reference=lines.outer, obtained=peak(*sound, 107, 30), abs=0.2)]
    # a tenth of the resolution
    for k in (2, 3, 4):
        found = peak(*outer, k * lines.outer, 40)
        checks.append(fem.Check(f"outer race: line {k} [Hz]", reference=k * lines.outer, obtained=found, abs=0.2))
    for k in (-1, 0, 1):
        line = 3 * lines.inner + k * shaft
        found = peak(*inner, line, 10)
        checks.append(fem.Check(f"inner race: 3 BPFI {k:+d} f_s [Hz]", reference=line, obtained=found, abs=0.2))
    checks.append(fem.Check("pit / sound above 2.5 BPFO, at least 10", reference=0, obtained=10 / louder, abs=1.0))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
