"""Coupling of a group of nodes of a solid body to a frame: rigid (each node held) or averaged (the mean held).

Rigid: every node stays where it is in the axes of the frame, three rows for each, those of a spherical joint. It
stiffens the face. Averaged: the frame moves as the group does in the mean, six rows in all, and the face stays free to
deform, see `fem_mbs.elements.solids.averaged`.

Source: docs/theory/solids.md, section 8.
"""

import numpy as np

from fem_mbs.arguments.checked import Checked, FrameLike
from fem_mbs.element.base import Constraint
from fem_mbs.elements.joints.spherical import Spherical
from fem_mbs.elements.solids.averaged import TOGETHER, AveragedCoupling
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.faces import area_shares
from fem_mbs.nodes import Ground, Node3, Node6

KINDS = ("averaged", "rigid")
WEIGHTS = ("area", "equal")
NOTHING = 1e-12  # shares of area that are round-off: corners of quadratic triangles
ON_A_LINE = 1e-8  # least moment of inertia of a group, of the sum of all three


class SurfaceCoupling(Checked):
    """Hold a group of nodes of a solid body to a frame; ``model.add(coupling)`` adds it.

    Joints, rigid bodies, beams, springs and loads then act on the frame.

    Parameters
    ----------
    body : SolidBody
    group : str
        Group of the mesh.
    frame : Frame, Node or body, optional
        Frame to which the group is coupled: ground, a rigid body, the end of a beam. Default: a separate node without
        mass at the mean of the group, parallel to the inertial axes, ``coupling.node``; joints are attached to it.
    kind : {"averaged", "rigid"}
        "averaged": the frame moves as the nodes do in the mean (distributing coupling). Forces on it reach the nodes
        by their weights; six equations. "rigid": nodes do not move in the axes of the frame (kinematic coupling, a
        spider); three equations each; stiffens the body.
    weights : {"area", "equal"}
        Of an averaged coupling. "area": of the faces of the group, consistent. "equal": for groups of nodes that have
        no faces.
    name : str, optional
        Its elements are called "name 0", "name 1", …

    Attributes
    ----------
    elements : list of AveragedCoupling or of Spherical
    node : Node
        Of the frame.
    center : (3,) [m]
        Weighted mean of the group at the start, inertial axes.

    Raises
    ------
    ParameterError
        No such group, no faces for weights by area; for "averaged" nodes on one line; a frame on a node of the body or
        on a Node3, which has no rotation.

    Examples
    --------
    >>> from fem_mbs import Model, Revolute, SolidMaterial, block_mesh
    >>> arm = SolidBody(block_mesh([1.0, 0.1, 0.1], [8, 1, 1], cell="hexahedron20"), SolidMaterial(2e11, 0.3, 7850.0))
    >>> root = SurfaceCoupling(arm, "x0", name="root")
    >>> model = Model()
    >>> pin = model.add(arm, root, Revolute.at(model.ground, root.node, [0, 0.05, 0.05], [0, 1, 0]))
    >>> len(root.elements), root.center.round(9).tolist()
    (1, [0.0, 0.05, 0.05])
    """

    def __init__(
        self,
        body: SolidBody,
        group: str,
        frame: FrameLike | None = None,
        *,
        kind: str = "averaged",
        weights: str = "area",
        name: str | None = None,
    ) -> None:
        self.name = name
        self.body = self.as_instance("body", body, SolidBody, "a SolidBody")
        self.kind = self.as_choice("kind", kind, KINDS)
        by_area = self.as_choice("weights", weights, WEIGHTS) == "area"
        if by_area and kind == "averaged":
            places, w = area_shares(self, body, group)
            chosen = np.abs(w) > NOTHING
            places, w = places[chosen], w[chosen]
        else:
            places = body.node_numbers(group)
            w = np.full(len(places), 1.0 / len(places))
        at = np.array([body.nodes[k].position for k in places])
        self.center = w @ at
        self.node = Node6(self.center) if frame is None else self.as_frame("frame", frame).node
        self._check_node()
        self.nodes = [self.node]
        self.elements: list[Constraint] = []
        make = self._averaged if kind == "averaged" else self._rigid
        make([body.nodes[k] for k in places], (at - self.node.position) @ self.node.rotation, w)

    def _check_node(self):
        message = "is on a Node3, which has no rotation: take a rigid body, a Node6, the ground or the end of a beam"
        turns = isinstance(self.node, (Node6, Ground))
        self.check(turns, "frame", self.node, message)

    def _label(self, k):
        return None if self.name is None else f"{self.name} {k}"

    def _rigid(self, group, p, w):
        for k, (node, arm) in enumerate(zip(group, p)):
            self.elements.append(Spherical(self.node.frame(arm), node.frame(), name=self._label(k)))

    def _averaged(self, group, p, w):
        """Elements of `TOGETHER` nodes; sums are carried on by pairs of nodes."""
        center = w @ p
        q = p - center
        second = np.einsum("k,ki,kj->ij", w, q, q)
        square = np.trace(second)
        moments = np.linalg.eigvalsh(square * np.eye(3) - second)
        good = square > 0.0 and moments[0] > ON_A_LINE * square
        self.check(
            good, "group", f"{len(group)} nodes", "must be three or more that are not on one line, to define a rotation"
        )
        still, radius = Node3(fixed=True, name=f"{self.name or 'coupling'}: sum of none"), float(np.sqrt(square))
        before = [still, still]
        for k, first in enumerate(range(0, len(group), TOGETHER)):
            some = slice(first, first + TOGETHER)
            last = first + TOGETHER >= len(group)
            after = [still, still] if last else [Node3(name=f"{self._label(k)}: sum {i}") for i in ("F", "M")]
            lack = TOGETHER - len(group[some])
            nodes = [self.node, *before, *after, *group[some], *[still] * lack]
            padded = np.vstack([p[some], np.tile(center, (lack, 1))])
            shares = np.append(w[some], np.zeros(lack))
            self.elements.append(
                AveragedCoupling(nodes, padded, shares, center=center, radius=radius, name=self._label(k))
            )
            before = after
