"""Quantities of the parts of a model by name: of a node, an element, a contact; arrays are read when asked for."""

from typing import TYPE_CHECKING

from fem_mbs.deprecated import Deprecated
from fem_mbs.results.drawing.scene import SECTION_LABELS, contact_vector, inverse_step
from fem_mbs.results.history import Quantity
from fem_mbs.results.table import AXES, HISTORIES, TURNS, XYZ
from fem_mbs.shapes import matrices

if TYPE_CHECKING:
    from fem_mbs.results.results import Results


def _from_table(result, kind, i):
    """Quantities of node or contact number i, as the table of results says."""
    read = result._store.read
    return {
        line.shown or name: Quantity(line.unit, line.labels, lambda name=name: read(name, i))
        for name, line in HISTORIES.items()
        if line.of == kind
    }


def of_node(result: "Results", i: int) -> dict[str, Quantity]:
    """Quantities of node number i."""
    read = result._store.read
    return {
        **_from_table(result, "node", i),
        "rotation": Quantity("", (), lambda: matrices(read("quaternion", i))),
        "rotation_vector": Quantity("rad", XYZ, lambda: _rotation_vectors(read("quaternion", i))),
    }


def of_element(result: "Results", element: dict) -> dict[str, Quantity]:
    """Quantities of an element, by its description."""
    read, quantities = result._store.read, {}
    former = Deprecated.OUTPUTS.get(element["type"], {})  # of files of earlier versions
    for name, (start, stop, unit) in element["outputs"].items():
        name = former.get(name, name)
        labels = _labels(element["role"], name, stop - start)
        column = slice(start, stop) if stop - start > 1 else start
        quantities[name] = Quantity(unit, labels, lambda column=column: read("output", column))
    if element["rows"]:
        rows = slice(*element["rows"])
        numbers = tuple(str(i + 1) for i in range(rows.stop - rows.start))
        quantities["multiplier"] = Quantity("", numbers, lambda: read("multiplier", rows))
    if element["contact"] is not None:
        quantities |= _of_contact(result, element["contact"])
        quantities |= {name: quantities[of] for name, of in element.get("also", {}).items()}
    return quantities


def _of_contact(result, c):
    """Quantities of contact number c."""
    read = result._store.read

    def per_time(values):
        scale = inverse_step(result.h)
        return values * scale.reshape(-1, *[1] * (values.ndim - 1))

    apart = result.description["sizes"]["nf"] > 0

    def force():
        return read("contact_force", c) if apart else per_time(read("impulse", c))

    def moment():
        return read("contact_moment", c) if apart else per_time(read("moment_impulse", c))

    def vector():
        return contact_vector(force(), read("contact_normal", c), read("contact_tangents", c))

    return {
        **_from_table(result, "contact", c),
        "force": Quantity("N", AXES, force),
        "force_normal": Quantity("N", (), lambda: force()[:, 0]),
        "force_tangential": Quantity("N", AXES[1:], lambda: force()[:, 1:]),
        "force_vector": Quantity("N", XYZ, vector),
        "moment": Quantity("N m", TURNS, moment),
    }


def _rotation_vectors(quaternions):
    """Rotation vectors (k, 3) [rad], |ψ| ≤ π, of quaternions (k, 4)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_rotvec()


def _labels(role, name, count):
    """Names of the components of an element's output: joints report in inertial axes, beams in section axes."""
    if count == 1:
        return ()
    if name in SECTION_LABELS:
        return SECTION_LABELS[name]
    if role == "constraint" and count == 3:
        return ("x", "y", "z")
    return tuple(str(i + 1) for i in range(count))
