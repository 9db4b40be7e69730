"""Gears with backlash and rigid teeth: each flank is a contact, with impacts.

ε± of `drives.spans`, (2), with the geometry of teeth (`drives.gear_mesh`) is the compression of a flank; where teeth
are rigid it cannot be positive:

    gap = −ε± ≥ 0 ,   G_N = −∇ε± ,   H_N = −∂²ε± ,   impact: ε̇⁺ = −e ε̇⁻                                          (1)

The impulse acts along the line of action. Teeth have no friction.

Source: docs/theory/gears_and_belts.md, (7), (8), (17). Symbols: see `fem_mbs.elements.drives.spans`.

    symbol  code     shape  unit  meaning
    ±       p.flank  ()     -     +1: the flank that drives wheel 2 where wheel 1 turns in positive sense; −1: the other
    e       law      ()     -     restitution
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Part, register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.drives.gear_mesh import GearMesh, random_wheels
from fem_mbs.elements.drives.spans import (
    SPANS,
    centre_line,
    centre_line_hessian,
    count_angles,
    first_angles,
    stretch,
    stretch_gradient,
    stretch_hessian,
    trouble_tangents,
)
from fem_mbs.errors import label
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.rotations import add_cross, dot


@kernel
def flank_contact(p, x_A, R_A, x_B, R_B, state, rows):
    """Gap (1) and its gradient; the normal is the line of action, the point the centre of wheel 1."""
    u, U, G, y = local_arrays("3, 3 12, 12, 3")
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    rows.gap[0] -= stretch(p, u, p.flank)
    stretch_gradient(p, u, U, p.flank, G)
    least = 0
    for j in range(12):
        rows.G_N[j] -= G[j]
    size = math.sqrt(dot(G[:3], G[:3]))
    for i in range(3):
        rows.normal[i] -= G[i] / size
        rows.point[i] += x_A[i] + dot(R_A[i], p.p_AP)
    for i in range(3):
        if abs(rows.normal[i]) < abs(rows.normal[least]):
            least = i
        y[i] = 0.0
    y[least] = 1.0
    add_cross(1.0, rows.normal, y, rows.tangents[0])
    size = math.sqrt(dot(rows.tangents[0], rows.tangents[0]))
    for i in range(3):
        rows.tangents[0, i] /= size
    add_cross(1.0, rows.normal, rows.tangents[0], rows.tangents[1])
    for r in range(3):
        for i in range(3):
            for k in range(3):
                axis = rows.tangents[r, k] if r < 2 else rows.normal[k]
                rows.W[r, 3 + i] += axis * R_A[k, i]
                rows.W[r, 9 + i] -= axis * R_B[k, i]


@kernel
def flank_hessian(p, x_A, R_A, x_B, R_B, state, H_N):
    """Add ∂G_N/∂q of (1) to H_N (12, 12)."""
    u, U, H = local_arrays("3, 3 12, 12 12")
    HU = local_arrays("3 12 12")[0]
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    centre_line_hessian(p, x_A, R_A, x_B, R_B, HU)
    stretch_hessian(p, u, U, HU, p.flank, H)
    for i in range(12):
        for j in range(12):
            H_N[i, j] -= H[i, j]


class GearFlank(Contact):
    """One flank of two rigid gears in mesh; `LooseGearPair` has both.

    Parameters
    ----------
    mesh : GearMesh
        Centres and geometry; its stiffness and damping do not matter, and it is not added to the model.
    flank : "forward" or "backward"
        Flank + (wheel 1 drives in positive sense) or flank −.
    restitution : float, 0 … 1, or a law of the approach speed as of a `Contact`
    name : str, optional

    Raises
    ------
    ParameterError
        Not a `GearMesh`, another flank, restitution out of range.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> mesh = GearMesh(Node6(), Node6([0.09, 0, 0]), teeth=(20, 40), module=3e-3, stiffness=1.0)
    >>> flank = GearFlank(mesh, flank="forward", name="front")
    """

    parameters = SPANS
    kernels = {
        "contact": flank_contact, "contact_hessian": flank_hessian, "initial": first_angles, "accept": count_angles,
        "trouble": trouble_tangents,
    }  # fmt: skip
    n_state = 2
    where = "backlash, centre distance and the angles of the wheels"
    two_sided = False  # the gap is that of turning teeth

    def __init__(self, mesh: GearMesh, *, flank: str, restitution: Any = 0.0, name: str | None = None) -> None:
        self.name = name
        self.flank = self.as_choice("flank", flank, ("forward", "backward"))
        self.mesh = self.as_instance("mesh", mesh, GearMesh, "a GearMesh(…)")
        super().__init__(self.mesh.nodes, restitution=restitution, name=name)
        self.room = self.mesh.module
        self.place()

    def place(self) -> None:
        *law, _, table, pieces = self.mesh.record
        self.record = (*law, 1.0 if self.flank == "forward" else -1.0, table, pieces)

    def trouble(self, state: Any) -> str | None:
        """Describe the fault of the pair in a state, or None."""
        text = self.mesh.trouble(state)
        return text and text.replace(label(self.mesh), label(self))

    def regular(self, point: Any) -> bool:
        """True if the gap can be differentiated at a configuration: the wheels apart, no angle about to jump."""
        d, e = self.mesh.centres(point.x, point.R)
        far, other = np.hypot(d[0], d[1]), np.hypot(e[0], e[1])
        turned = max(abs(math.atan2(d[1], d[0])), abs(math.atan2(e[1], e[0])))
        return bool(far > 1.3 * self.mesh.reach and min(far, other) > 0.3 * np.linalg.norm(d) and turned < 3.0)


class LooseGearPair(Part):
    """Two rigid gears with backlash: two contacts, with impacts on both flanks.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Centres of wheel 1 and wheel 2, held by joints; z axes along those of the wheels.
    teeth, module, internal, pressure_angle, profile_shift, backlash, contact :
        Those of `GearMesh`. ``backlash`` must be positive at the centre distance of the start.
    restitution : float, 0 … 1, or a law of the approach speed as of a `Contact`
    name : str, optional
        The contacts are called "name forward" and "name backward".

    Attributes
    ----------
    elements : list of the two `GearFlank`
        ``gap`` of one is its distance to contact, ``force`` (·, 0, 0) its force along the line of action.

    Raises
    ------
    ParameterError
        As `GearMesh`; no backlash.

    Notes
    -----
    Equation (1) of the file's header. For drives whose impacts matter and whose teeth need not be resolved in time:
    steps are those of the shafts. Natural frequencies of the mesh need `GearMesh`.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> pair = LooseGearPair(Node6(), Node6([0.09, 0, 0]), teeth=(20, 40), module=3e-3, backlash=1e-4, name="stage 1")
    >>> [flank.name for flank in pair.elements]
    ['stage 1 forward', 'stage 1 backward']
    """

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        teeth: ArrayLike,
        module: float,
        backlash: float,
        restitution: Any = 0.0,
        contact: str = "forward",
        internal: bool = False,
        pressure_angle: float = math.radians(20),
        profile_shift: ArrayLike = (0.0, 0.0),
        name: str | None = None,
    ) -> None:
        self.name = name
        mesh = GearMesh(
            frame_P, frame_Q, teeth=teeth, module=module, stiffness=1.0, internal=internal, backlash=backlash,
            pressure_angle=pressure_angle, profile_shift=profile_shift, contact=contact, name=name,
        )  # fmt: skip
        self.elements = [
            GearFlank(mesh, flank=flank, restitution=restitution, name=None if name is None else f"{name} {flank}")
            for flank in ("forward", "backward")
        ]
        left = mesh.open_by
        self.check(left > 0.0, "backlash", backlash, f"m leaves {left:.3g} m at this centre distance: the teeth jam")


def _example(rng, a, b):
    internal = rng.random() < 0.5
    teeth, module = (np.array([4, 9]) if internal else np.array([5, 7])), rng.uniform(0.02, 0.1)
    P, Q = random_wheels(rng, a, b, 0.5 * module * (5 if internal else 12))
    geometry = {"teeth": teeth, "module": module, "internal": internal, "backlash": 0.1 * module}
    mesh = GearMesh(P, Q, stiffness=1.0, contact="middle", **geometry)
    return GearFlank(mesh, flank=rng.choice(["forward", "backward"]), restitution=0.5)


register(GearFlank, example=_example)
