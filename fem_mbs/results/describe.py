"""Description of a system for results: names, nodes, elements and outputs as plain numbers and texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fem_mbs.results.table import sizes_of

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

NO_OUTPUTS: dict[str, list] = {}  # of all elements that have none


def describe(system: "CompiledSystem", forces: bool = False, works: Sequence = ()) -> dict[str, Any]:
    """Description of a `System` for results: plain numbers and texts, as JSON can hold them.

    ``forces`` as of `sizes_of`; ``works``: names and kinds of the lines of the energy table.
    """
    number = {id(contact): i for i, contact in enumerate(system.contacts)}
    deforms = system.deformable().tolist() if number else []
    elements = [vars(_Described(element, system, number.get(id(element)), deforms)) for element in system.elements]
    nodes = _describe_nodes(system.nodes)
    gravity = [float(g) for g in system.gravity]
    groups = [_describe_group(group) for group in system.model.contact_groups]
    return {
        "model": system.name, "gravity": gravity, "sizes": sizes_of(system, forces, len(works)), "nodes": nodes,
        "elements": elements, "contact_groups": groups, "works": [list(line) for line in works],
    }  # fmt: skip


class _Described:
    """Entries of an element as attributes: the dictionaries of thousands of instances share the table of their keys."""

    def __init__(self, element: Any, system: "CompiledSystem", contact: int | None, deforms: Sequence) -> None:
        rows, slices = system.rows.get(element), system.output_slices.get(element)
        self.name, self.type, self.role = element.name, type(element).__name__, element.role
        self.nodes = [int(node.index) for node in element.nodes]
        self.rows = None if rows is None else [rows.start, rows.stop]
        self.contact = contact
        self.ends = _contact_ends(element)
        if element.role == "contact" and element.also_called:
            self.also = element.also_called
        if contact is not None and any(deforms[i] for i in self.nodes):
            self.deforms = True  # force recovery then needs modes
        self.outputs = NO_OUTPUTS
        if slices:
            self.outputs = {k: [s.start, s.stop, element.outputs[k][1]] for k, s in slices.items()}


def _describe_nodes(nodes):
    """Names, types and free components of nodes; those that are alike share one entry: a pile has no names."""
    alike = {}
    described = []
    for node in nodes:
        key = node.name, type(node).__name__, node.free.tobytes()
        if key not in alike:
            alike[key] = {"name": node.name, "type": key[1], "free": node.free.tolist()}
        described.append(alike[key])
    return described


def _contact_ends(element):
    """Axes of a contact that moves with more than two nodes: node and offset of both ends of both axes.

    Empty where its gap is not the distance of two bodies in one point.
    """
    if element.role == "contact" and not element.two_sided:
        return []
    if element.role != "contact" or len(element.nodes) == 2:
        return None
    return [[int(frame.node.index), *map(float, frame.p)] for frame in element.ends]


def _describe_group(group):
    """Name of a contact group, its spheres and other shapes (numbers of nodes), types of partners and their names."""
    kinds = group.kinds()
    partners = [[f.name or f.node.name or "ground" for f in group.seconds(kind)] for kind, _ in kinds]
    partners[0] = [shape.frame.node.name or "ground" for shape in group.shapes]
    return {
        "name": group.name,
        "spheres": [int(shape.frame.node.index) for shape in group.shapes],
        "radii": [float(shape.radius) for shape in group.shapes],
        "shapes": [shape.kind for shape in group.shapes],
        "types": [kind.__name__ for kind, _ in kinds],
        "partners": partners,
    }
