"""State space of small motions in minimal coordinates: constraints eliminated by the null space of their gradients.

With G Z = 0, ZᵀZ = 1 and δq = Z z + B_u u of drivers (G B_u = −P), projected by Zᵀ:

    m z̈ + c ż + k z = Zᵀ (F f − M B_u ü − C B_u u̇ − K B_u u),      m = ZᵀMZ, …                                       (1)

States are (z, ż) and, for each driver, (u, u̇): its input is ü. Motions without mass follow in static equilibrium with
their dampers; without stiffness and damping they raise an error. Multipliers for outputs are the smallest that satisfy

    Gᵀ δμ = M δq̈ + C δq̇ + K δq − F f                                                                                 (2)

Source: docs/theory/rotors.md, (12)-(14).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.deprecated import Deprecated
from fem_mbs.errors import FemMbsError, SolverError
from fem_mbs.results.file.names import ByAttribute
from fem_mbs.rotations import skew
from fem_mbs.solvers import eigen
from fem_mbs.solvers.linear.ports import Ports
from fem_mbs.solvers.linear.small_motions import small_motions
from fem_mbs.system.in_use import alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csc_array

    from fem_mbs.arguments.checked import ArrayLike
    from fem_mbs.element.base import Element
    from fem_mbs.element.contact import Contact
    from fem_mbs.model import Model
    from fem_mbs.solvers.linear.small_motions import SmallMotions
    from fem_mbs.solvers.static_result import StaticResult
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System


MOST = 3000  # degrees of freedom: full matrices of 2 × 0.3 GB


@Deprecated.attributes(remarks="warnings")
class LinearModel(ByAttribute):
    """ẋ = A x + B u, y = C x + D u, deviations from the state that it was linearised about.

    Attributes
    ----------
    A, B, C, D : (k, k), (k, inputs), (outputs, k), (outputs, inputs)
    inputs, outputs : lists of str, their names; a driver's input is its second derivative, as the name says
    basis : (n, r), Z: free components of velocity from the first r states
    warnings : list of str, warnings of terms neglected in the linear model
    """

    _by_name = ("A", "B", "C", "D", "inputs", "outputs", "basis", "poles", "warnings")

    def __init__(
        self, matrices: tuple, inputs: list[str], outputs: list[str], basis: np.ndarray, warnings: list[str]
    ) -> None:
        self.A, self.B, self.C, self.D = matrices
        self.inputs, self.outputs, self.basis, self.warnings = inputs, outputs, basis, warnings

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A [1/s], by modulus."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((values.imag, np.abs(values)))]

    def to_scipy(self) -> Any:
        """Convert to `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """Convert to `control.StateSpace` of the package python-control, with names.

        Raises
        ------
        FemMbsError
            The package is not installed.
        """
        try:
            import control
        except ImportError as error:
            message = "to_control needs the package python-control: pip install control. to_scipy() needs nothing more"
            raise FemMbsError(message) from error
        return control.ss(self.A, self.B, self.C, self.D, inputs=self.inputs, outputs=self.outputs)

    def response(self, s: complex) -> np.ndarray:
        """Transfer matrix (outputs, inputs) at s [1/s]."""
        return self.C @ np.linalg.solve(s * np.eye(len(self.A)) - self.A, self.B) + self.D

    def __repr__(self):
        return f"LinearModel({len(self.A)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs)"


@alone("linearise")
@Keywords.known
def linearise(
    model: "Model | System",
    inputs: "Element | Sequence",
    outputs: "Element | Sequence",
    *,
    about: "StaticResult | State | None" = None,
    rotation: "ArrayLike | None" = None,
    spinning: bool = False,
    contacts: "str | Sequence[Contact]" = "open",
) -> LinearModel:
    """State-space model of small motions between inputs and outputs, with all damping, in minimal coordinates.

    Parameters
    ----------
    model : Model or System
    inputs : list
        Pairs (node, body or frame, "x" … "z" force [N], "rx" … "rz" moment [N m], inertial components); or elements
        with functions of time: a driver (its acceleration), (load, component) and others as (element, number).
    outputs : list
        Pairs (node, body or frame, what): "x", "y", "z", "rx", "ry", "rz" (small rotations, inertial axes), velocities
        "vx" … "wz", accelerations "ax" … "bz"; or (element, output) and (element, output, number of the component).
    about, rotation, spinning, contacts
        As in `modes`. In a rotating frame outputs of motion are those of the frame at the instant of the state, and
        outputs of elements raise an error.

    Returns
    -------
    LinearModel

    Raises
    ------
    ParameterError
        An input or output that is not there; more than 3000 degrees of freedom.
    SolverError
        Components without mass that nothing holds.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> model = fem.Model("oscillator", gravity=[0, 0, 0])
    >>> mass = model.add(fem.PointMass(2.0, fixed=("y", "z"), position=[1, 0, 0], name="mass"))
    >>> _ = model.add(fem.Spring(model.ground.frame(), mass, stiffness=50.0, damping=0.4))
    >>> linear = fem.linearise(model, (mass, "x"), [(mass, "x"), (mass, "ax")])
    >>> (linear.A.round(9) + 0.0).tolist(), linear.D.tolist()
    ([[0.0, 1.0], [-25.0, -0.2]], [[0.0], [0.5]])
    """
    owner = Named("linearise")
    spinning = owner.as_flag("spinning", spinning)
    found = small_motions(owner, model, about, rotation=rotation, spinning=spinning, contacts=contacts)
    system = found.system
    many = system.n - found.G.shape[0] > MOST
    owner.check(not many, "model", system.name, f"has more than {MOST} degrees of freedom; see frequency_response")
    ports = Ports(owner, found, inputs, outputs)
    return _reduced(found, ports)


def spin_of(found: "SmallMotions") -> "csc_array":
    """N (n, n) sparse of (1) of `ports`: Ω̃ of the nodes that spin."""
    from scipy.sparse import block_diag, csc_array

    n = found.system.n
    if found.spins is None:
        return csc_array((n, n))
    N = block_diag([block for spin in found.spins for block in (np.zeros((3, 3)), skew(spin))], format="csc")
    free = found.system.dof >= 0
    return csc_array(N[free][:, free])


def _reduced(found, ports):
    M, C, K, G = found.M, found.C, found.K, found.G
    Z, moved = eigen.null_space(G), ports.moved
    full = G.toarray()
    drives = np.linalg.lstsq(full, -ports.P[:, moved], rcond=1e-11)[0] if moved.any() else np.zeros((len(Z), 0))
    m, c, k = (Z.T @ (matrix @ Z) for matrix in (M, C, K))
    r, d = len(m), drives.shape[1]
    try:
        if r and np.linalg.cond(m) > 1e13:
            raise np.linalg.LinAlgError
        solved = np.linalg.inv(m)
    except np.linalg.LinAlgError:
        raise SolverError(
            "linearise: some components of the model have no mass, their motion is no state. Give them a small one, "
            "fix them, or use frequency_response, which needs none"
        ) from None
    forces = Z.T @ ports.F[:, ~moved]
    # states z, ż, u, u̇; inputs in the order given
    A = np.zeros((2 * r + 2 * d, 2 * r + 2 * d))
    B = np.zeros((2 * r + 2 * d, len(moved)))
    A[:r, r : 2 * r] = np.eye(r)
    A[r : 2 * r, :r], A[r : 2 * r, r : 2 * r] = -solved @ k, -solved @ c
    A[r : 2 * r, 2 * r : 2 * r + d] = solved @ (Z.T @ (ports.F[:, moved] - K @ drives))
    A[r : 2 * r, 2 * r + d :] = -solved @ (Z.T @ (C @ drives))
    A[2 * r : 2 * r + d, 2 * r + d :] = np.eye(d)
    B[r : 2 * r, ~moved], B[r : 2 * r, moved] = solved @ forces, -solved @ (Z.T @ (M @ drives))
    B[2 * r + d :, moved] = np.eye(d)
    # δq, δq̇, δq̈ and δμ as rows over states and inputs
    none = np.zeros((len(Z), len(moved)))
    q = np.hstack([Z, 0 * Z, drives, 0 * drives])
    v = np.hstack([0 * Z, Z, 0 * drives, drives])
    a, a_u = Z @ A[r : 2 * r], Z @ B[r : 2 * r]
    a_u[:, moved] += drives
    pull_u = none.copy()
    pull_u[:, ~moved] = ports.F[:, ~moved]
    pull = np.hstack([0 * Z, 0 * Z, ports.F[:, moved], 0 * drives])
    lam = found.spread @ np.linalg.lstsq(full.T, M @ a + C @ v + K @ q - pull, rcond=1e-11)[0]
    lam_u = found.spread @ np.linalg.lstsq(full.T, M @ a_u - pull_u, rcond=1e-11)[0]
    Yv = ports.Yv - ports.Ya @ spin_of(found)
    output = ports.Yq @ q + Yv @ v + ports.Ya @ a + ports.Yl @ lam
    direct = ports.Ya @ a_u + ports.Yl @ lam_u + np.where(moved, 0.0, ports.D)
    # of a driver its own signal is a state
    output[:, 2 * r : 2 * r + d] += ports.D[:, moved]
    names = [name + (": acceleration" if drives else "") for name, drives in zip(ports.input_names, moved)]
    return LinearModel((A, B, output, direct), names, ports.output_names, Z, found.warnings)
