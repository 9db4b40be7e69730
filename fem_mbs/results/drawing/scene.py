"""Scene: the skin of a system with what is shown on it, for any saved step. Files, pictures and exports are made of it.

point data         where            components, unit
velocity           all points       3, m/s, inertial axes
section_force      beams            3, N, section axes: normal force, two shear forces
section_moment     beams            3, N m, section axes: torsion, two bending moments
reaction_force     joints           3, N, on the second body, inertial axes
reaction_moment    joints           3, N m, same
impulse            contacts         3, N s, on the first body since the last frame, inertial axes
contact_force      contacts         3, N, at the end of the step; without persistent contacts its impulse / h
gap                contacts         1, m
contact_status     contacts         1: 0 open, 1 sticking or rolling, 2 sliding
strain             solids           6, Green-Lagrange strain, axes of the unloaded body: xx, yy, zz, xy, yz, xz; of
                                    reduced bodies small strain; of shells the same at the bottom and on the top
stress             solids           6, Pa, Cauchy stress, inertial axes, in the same order
principal_stress   solids           3, Pa, rising
von_mises          solids           1, Pa

cell data          kind             0 body, 1 beam, 2 contact, 3 joint, 4 spring, 5 span (belt, cable), 6 solid, 7 shell
                   element          number of the element in the model
                   color            red, green, blue 0 … 255
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.results.drawing.skin import Skin
from fem_mbs.shapes import matrices
from fem_mbs.stresses.solid_stress import FIELDS

SECTION = (("force_A", "moment_A"), ("force_B", "moment_B"))  # outputs of beams at their two ends
MIDDLE = {"force_A": "force_M", "moment_A": "moment_M", "force_B": "force_M", "moment_B": "moment_M"}
FORCES, MOMENTS = ("N", "Q2", "Q3"), ("M1", "M2", "M3")
SECTION_LABELS = {
    name: labels for pair in (*SECTION, ("force_M", "moment_M")) for name, labels in zip(pair, (FORCES, MOMENTS))
}


class Scene:
    """Points and point data of saved steps.

    Parameters
    ----------
    skin : Skin
    elements : list of dict
        Descriptions of the elements, see `fem_mbs.results.describe.describe`.
    """

    def __init__(self, skin: Skin, elements: list[dict]) -> None:
        self.skin = skin
        outputs = [element["outputs"] for element in elements]
        names = {name for pair in SECTION for name in pair}
        self.beams = self._indices(outputs, skin.beam_element, names | set(MIDDLE.values()))
        if self.beams is not None:
            self._halves(skin.beam_element)
        self.joints = self._indices(outputs, skin.joint_element, ("force", "moment"))
        self.fields = {"velocity": 3}
        if self.beams is not None:
            self.fields |= {"section_force": 3, "section_moment": 3}
        if self.joints is not None:
            self.fields |= {"reaction_force": 3, "reaction_moment": 3}
        if len(skin.solids) or len(skin.shells) or len(skin.reduced.solids):
            self.fields |= FIELDS
        if skin.n_contacts:
            self.fields |= {"impulse": 3, "contact_force": 3, "gap": 1, "contact_status": 1}

    @staticmethod
    def _indices(outputs, elements, names):
        """Output name -> places (n, 3) in the output numbers, −1 where an element lacks it; None if all lack all."""
        places = {name: np.full((len(elements), 3), -1) for name in names}
        for row, e in enumerate(elements):
            for name in names:
                start, stop, _ = outputs[e].get(name, (0, 0, ""))
                if stop - start == 3:
                    places[name][row] = np.arange(start, stop)
        return places if any((p >= 0).any() for p in places.values()) else None

    def _halves(self, elements):
        """Of beams drawn in two pieces the first ends, and the second begins, with the values in the middle."""
        second = np.append(False, elements[1:] == elements[:-1])
        first = np.append(second[1:], False)
        for name, middle in MIDDLE.items():
            rows = first if name.endswith("B") else second
            self.beams[name][rows] = self.beams[middle][rows]

    def frames(self, rows: dict[str, np.ndarray], kind: Any = float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Points (k, n_points, 3) [m] and point data name -> (k, n_points, c) of saved steps.

        ``rows``: dict of histories (k, …) with at least position, quaternion, velocity, angular_velocity, output,
        contact_point, contact_normal, contact_tangents, impulse, contact_force, gap, contact_status, h. With
        ``impulse_of_frame`` (k, nc, 3) [N s], inertial axes, these are the impulses that are shown. ``kind``: type of
        the numbers of joints and contacts, zero at most points; a file holds single precision.
        """
        skin = self.skin
        x, R = rows["position"], matrices(rows["quaternion"])
        points = skin.points(x, R, rows["contact_point"])
        data = {name: np.zeros((*points.shape[:2], count), kind) for name, count in self.fields.items()}
        data["velocity"] = skin.velocities(points, x, R, rows["velocity"], rows["angular_velocity"])
        # one more column, zero: where the place −1 of a missing output leads
        output = np.pad(rows["output"], ((0, 0), (0, 1)))
        if self.beams is not None:
            for field, (at_A, at_B) in zip(("section_force", "section_moment"), zip(*SECTION)):
                data[field] = skin.along_beams(output[:, self.beams[at_A]], output[:, self.beams[at_B]])
        if self.joints is not None:
            for field, name in (("reaction_force", "force"), ("reaction_moment", "moment")):
                data[field][:, skin.joint_point] = output[:, self.joints[name]]
        if len(skin.solids):
            for k, positions in enumerate(x):
                for name, values in skin.solids.fields(positions).columns().items():
                    data[name][k, skin.solid_points] = values
        if len(skin.shells):
            for k in range(len(x)):
                for name, values in skin.shells.fields(x[k], R[k]).columns().items():
                    data[name][k, skin.shell_points] = values
        if len(skin.reduced.solids):
            for k in range(len(x)):
                found = skin.reduced.fields(x[k], R[k])
                for name, values in found.columns().items():
                    data[name][k, skin.reduced_points.start + found.nodes] = values
        if skin.n_contacts:
            vertex = skin.contact_points
            impulse = contact_vector(rows["impulse"], rows["contact_normal"], rows["contact_tangents"])
            data["impulse"][:, vertex] = rows.get("impulse_of_frame", impulse)
            if rows["contact_force"].size:
                force = contact_vector(rows["contact_force"], rows["contact_normal"], rows["contact_tangents"])
            else:
                force = impulse * inverse_step(rows["h"])[:, None, None]
            data["contact_force"][:, vertex] = force
            data["gap"][:, vertex, 0] = rows["gap"]
            data["contact_status"][:, vertex, 0] = rows["contact_status"]
        return points, data


def contact_vector(components: np.ndarray, normal: np.ndarray, tangents: np.ndarray) -> np.ndarray:
    """Vectors (…, 3) in inertial axes of components (…, 3) along normal (…, 3) and tangents (…, 2, 3)."""
    return (
        components[..., :1] * normal
        + components[..., 1:2] * tangents[..., 0, :]
        + components[..., 2:] * tangents[..., 1, :]
    )


def inverse_step(h: ArrayLike) -> np.ndarray:
    """1/h (k,), zero for saved states that no step led to (the initial one)."""
    h = np.asarray(h, float)
    return np.divide(1.0, h, out=np.zeros_like(h), where=h > 0)
