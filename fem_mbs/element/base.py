"""The contract between elements and the framework (docs/writing_an_element.md).

An element is a small class that checks the user's arguments, plus compiled kernels for its roles. A kernel is a
function of scalars and small arrays, decorated with `fem_mbs.jit.kernel`; **the names of its arguments define the
values it gets**, in any order. Outputs arrive zeroed and are *added to*.

    argument           shape        meaning
    p                  record       the element's parameters: ``p.stiffness`` …
    x, R               (nn,3) (nn,3,3)  positions [m] and rotations of the nodes; one node: x_A, R_A, x_B, R_B …
    v                  (nd,)        velocities (ẋ, Ω) of all nodes, nd = 6 nn; one node: v_A = ẋ, w_A = Ω (body axes)
    a                  (nd,)        accelerations (ẍ, Ω̇); one node: a_A, alpha_A
    x0, R0             (nn,3) …     positions and rotations at the start of the time step; x0_A, R0_A …
    node_A, node_B …   record       all of one node: node_A.x, .R, .v, .w, .x0, .R0
    t                  float        time [s]
    s                  (ns,3)       the element's signals: value, first and second derivative at time t
    gravity            (3,)         [m/s²]
    state              (nq,)        internal variables of the element, kept between calls
    lam                (nr,)        multipliers of a constraint (only in ``output`` and ``accept``)
    needs_K            float        0: K and Ka of the tangents are not read and may be omitted
    weights            (4,)         c_M, c_C, c_K, c_A: tangents of an element whose kernels have this argument add the
                                    sums c_M M + c_C C to M and c_K K + c_A Ka to K, and fill no other matrix
    noted              (2,)         of kernels of forces: numbers that are kept of the last call, see ``noted`` of
                                    `fem_mbs.element.members`
    arguments          int          address of the table of all of these, for an element that calls another's kernels

    role        kernel             outputs, added to
    inertia     inertia            Ma (nd,) = M a;  f (nd,) += gravity − gyroscopic forces
                inertia_tangent    M (nd,nd), C = −∂f/∂v, K = −∂f/∂q, Ka = ∂(M a)/∂q at fixed a
    force       force              f (nd,)
                force_tangent      K = −∂f/∂q (nd,nd), C = −∂f/∂v (nd,nd); with an argument f also f, where K is
                                   needed: ``force`` is then not called in addition
    both        energy             returns the potential energy [J] (gravity, strain); name must begin with "energy"
                mixed              K, C as force_tangent, f as force, all at the kept ``state`` (mixed Newton)
                update             new ``state`` from ``delta`` (nd,), the variation (δx, δθ) of the last iteration
                initial            first ``state``, consistent with x, R and v
                accept             new ``state`` at the end of a step, from its x, R and v
                engage             new ``state`` where the element is switched on in a run, from its x, R and v
                trouble            returns a number > 0 (as float) when a pose is outside the validity of the element;
                                   name must begin with "trouble", method ``trouble(state)`` describes it in words
    constraint  constraint         g (nr,), G (nr,nd) with ġ = G v + gt; rows of velocities have G alone, see below
                hessian            H (nr,nd,nd), H[k,i,j] = ∂G[k,i]/∂q_j: gives ∂(Gᵀλ)/∂q, ∂(Gv)/∂q and vᵀHv
                rheonomic          gt (nr,) = ∂g/∂t, gtt (nr,) = ∂²g/∂t², rate (nr,nd) = ∂G/∂t (rows with time)
    contact     contact            gap (1,), G_N (nd,); slip (2,) tangential displacement over the step, G_T (2,nd) its
                                   gradient; V_T (2,nd) the gradient that gives the sliding velocity; W (3,nd) the one
                                   of the relative angular velocity (t1, t2, normal); point (3,), normal (3,),
                                   tangents (2,3); or ``rows``, a record of all of these: rows.gap …
                contact_hessian    H_N (nd,nd) = ∂G_N/∂q
    friction    friction           G[0] (nd,) and gt[0] of the relative rate γ = G v + gt of a joint; gtt[0] = ∂gt/∂t
                friction_hessian   H[0] (nd,nd) = ∂G[0]/∂q
                friction_bound     bound (1,) = N of the multipliers ``lam`` (nr,) of the joint; bound_lam (nr,) = ∂N/∂λ
                                   and bound_q (nd,) = ∂N/∂q
    any         output             out (no,), the numbers named by ``outputs`` (in the order given there)

Derivatives ∂/∂q are with respect to (δx inertial, δθ body) of each node, R ← R exp(δθ̃). Forces: f is conjugate to
(δx, δθ), i.e. forces in inertial components, moments in body components.

The last `Constraint.velocity_rows` of the rows of a constraint are rows of velocities, γ = G v + gt = 0 without a g
whose gradient G would be (rolling, blades, prescribed rates). They have no part in g; H, gt as above. ``rate`` is
∂gt/∂q, and gtt what makes γ̇ = G v̇ + vᵀHv + 2 rate v + gtt: ∂gt/∂t where G does not depend on time nor gt on q.

A type that is registered with an example is put under the generic checks of `fem_mbs.verify` by the test suite.
"""

from typing import Any, TypeVar

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, FrameLike, Keywords, Named
from fem_mbs.element.members import RareMembers, VerifiedElement
from fem_mbs.element.registry import REGISTRY, make_example, register
from fem_mbs.errors import ParameterError
from fem_mbs.functions.signals import Signal
from fem_mbs.nodes import Frame, Ground, Node


class Part(Checked):
    """Base of objects with a name and parameters: elements, and parts made of several of them.

    Parameters are fixed once the constructor is done: kernels read copies of them, and a change would be ignored.
    What may be set afterwards are attributes that the class itself sets; other names are misspelt.

    Class attributes
    ----------------
    role : str
        What a model takes it as: "part" for the elements that it is made of.
    rigid_body, abstract : bool
        As of an `Element`; False.
    """

    freezes = True
    role = "part"
    rigid_body = abstract = False
    elements: Any  # of a part


class Element(RareMembers, VerifiedElement, Part):
    """Base of all elements.

    Class attributes
    ----------------
    parameters : numpy dtype
        Record of the parameters that kernels see; fields of 8 bytes ("f8", "i8" and sub-arrays of them).
    kernels : dict
        Kernel name (see the table above) -> compiled function.
    rows : int
        Rows of a constraint; may be set per instance when all instances of a class share it through a subclass.
    n_state : int
        Number of internal variables.
    remembers : bool
        True if these depend on the past, and do not follow from a pose and its velocities.
    role : {"dynamic", "constraint", "contact", "friction"}
        Set by the base classes below.
    viscous : bool
        True if forces depend on velocities (``force_tangent`` fills C); an instance may set it to False.
    conservative, circulatory, external : bool
        True if a kernel ``energy`` is the potential of all its forces; if loads that follow the motion make the
        stiffness unsymmetric; if forces are given from outside, and depend on no more of the motion than how the
        node has turned. An instance may set them.
    has_no_moments : bool
        With ``numbers_per_node`` = 3: True if it may act on nodes with rotations too, as a load on their places does.
    abrupt : bool
        True if forces change abruptly (contacts that close): Newton steps that raise the residual are then shortened.
    numbers_per_node : 6 or 3
        Numbers per node in vectors and matrices. 3: of translations alone, for elements of many nodes (solids); nd is
        3 nn then, and kernels get neither R nor R0. For roles "inertia" and "force" only.
    abstract : bool
        True if its masses are coefficients of equations, not of matter: their kinetic energy does not count.
    rigid_body : bool
        True for an element that is the mass and inertia of a rigid body at its node, and nothing else.
    counts_turns : bool
        True if its kernel ``accept`` only unwraps angles about an axis that both bodies have in common,
        and only outputs read them: they are then updated when needed (`fem_mbs.solvers.stepping.kernels.accept`).
    shorter_steps_help : bool
        Of the type: True if poses that its kernel ``trouble`` rejects come from long steps, which are then subdivided.
    geometric : kernel or None
        ``(p, x, …, v, K)``: adds to K the stiffness of the stresses that displacements v bring about at positions x,
        linear in v. For linear buckling of elements that keep no forces (solids); without it that takes differences of
        tangents, in which stiff directions that rotate seem to soften.
    places : int or None
        How many of the nodes, the first ones, have places in space; the others hold plain numbers, such as amplitudes
        of modes, three to a `Node3`. None: all. An instance may set it.
    outputs : dict
        Output name -> (number of components, unit); filled by the kernel ``output`` in this order.
    peak : str or None
        Output of one component; a run keeps the motion of the nodes at its largest value after any step, and shows it
        to the method ``peak_warnings(value, t, x, R, v)`` at its end, see
        `fem_mbs.solvers.stepping.monitors.extremes`.

    Instance attributes
    -------------------
    nodes : tuple of Node
    record : tuple, values of ``parameters`` in order
    signals : list of Signal

    Members that few types set are those of `fem_mbs.element.members`.
    """

    role = "dynamic"
    _active = True  # on at the start of a run
    _intervals: tuple = ()  # (begin, end) [s] in which it is on instead; () for those that have none
    viscous = True
    conservative: Any = True
    circulatory: Any = False
    external = has_no_moments = False
    peak: str | None = None
    abrupt = False
    counts_turns = False
    shorter_steps_help = False
    geometric: Any = None
    places: int | None = None
    numbers_per_node = 6
    parameters = no_parameters = np.dtype([("unused", "f8")])
    no_record: tuple = (0.0,)
    kernels = {}
    rows = 0
    velocity_rows = 0
    n_state = 0
    remembers = True
    outputs = {}

    def __init__(self, nodes: Any, *, name: str | None = None, signals: Any = ()) -> None:
        self.name = name
        self.nodes = tuple(nodes)
        for node in self.nodes:
            if not isinstance(node, Node):
                raise ParameterError(self, "node", node, "is not a node")
        self.signals = [Signal.of(s) for s in signals]
        self.record: Any = self.no_record
        self.index = None  # position among the elements of its type, set by model.compile()

    @property
    def sizes(self) -> dict:
        """Sizes that shape the arguments of the kernels of this element."""
        return {
            "nn": len(self.nodes),
            "nd": self.numbers_per_node * len(self.nodes),
            "nr": self.rows,
            "ns": len(self.signals),
            "nq": self.n_state,
            "no": sum(n for n, _ in self.outputs.values()),
        }

    @property
    def counted(self) -> list[tuple[int, "Element", str, int]]:
        """Internal variables with unwrapped angles: position, and element, output and component where results have the
        angle.

        Of what acts along an angle of a joint, with `joints.coordinates.coordinates.COORDINATE` in its record, it is
        the joint's.
        """
        joint, names = self.joint, self.parameters.names or ()
        if joint is None or "kind" not in names or self.n_state != 1 or not self.remembers:
            return []
        kind = self.record[names.index("kind")]
        return [(0, joint, angle.name, 0) for angle in joint.coordinates if angle.turns and angle.kind == kind]

    def count_on(self, state: np.ndarray, angles: dict[int, float]) -> None:
        """Copy the turns of angles [rad], by positions, to internal variables that fit the pose within half a turn."""
        for place, angle in angles.items():
            state[place] += 2.0 * np.pi * np.round((angle - state[place]) / (2.0 * np.pi))

    def _connect(self, frame_P: FrameLike, frame_Q: FrameLike, why: str, *, name: str | None, signals: Any = ()):
        """Attach to two frames, ``frame_P`` and ``frame_Q``, of two nodes; ``why`` one node would be of no use."""
        self.name = name
        self.frame_P, self.frame_Q = self.as_frame("frame_P", frame_P), self.as_frame("frame_Q", frame_Q)
        Element.__init__(self, (self.frame_P.node, self.frame_Q.node), name=name, signals=signals)
        message = f"is on the same node as frame_P; {why}"
        self.check(self.frame_P.node is not self.frame_Q.node, "frame_Q", self.frame_Q, message)

    @property
    def active(self) -> bool:
        """True if it is on at t = 0; `Model.add` and some constructors take it as a keyword."""
        return self.is_on(0.0)

    def is_on(self, t: float) -> bool:
        """True if it is on at a time [s], unless a run switches it by itself."""
        if not self._intervals:
            return self._active
        return any(begin <= t < end for begin, end in self._intervals)

    def switch_times(self) -> list[tuple[float, bool]]:
        """Times [s] at which its intervals switch it on (True) and off (False), rising; [] of one without intervals."""
        times = [(t, on) for interval in self._intervals for t, on in zip(interval, (True, False))]
        return [(t, on) for t, on in times if np.isfinite(t)]

    @property
    def always_on(self) -> str | None:
        """Reason why it cannot be switched off: contacts and elements with mass; None for all others."""
        if self.role == "contact":
            return "bodies would go through each other"
        if "inertia" in {self.role, *self.kernels, *self.python_kernels}:
            return "mass does not vanish"
        return None

    def use_switch(self, active: bool, intervals: Any = None) -> None:
        """Set if it is on when a run starts, or the intervals of time in which it is on.

        Parameters
        ----------
        active : bool
        intervals : sequence of (begin, end) [s], optional
            It is on from begin to end and off otherwise; ``end`` may be infinite. Steps end at these times.

        Raises
        ------
        ParameterError
            A contact, or an element with mass; intervals that overlap, are empty, or not in the order of time.
        """
        active = self.as_flag("active", active)
        given = {"intervals": intervals} if intervals is not None else {"active": active}
        if given == {"active": True}:
            return
        name, value = next(iter(given.items()))
        what = "contacts" if self.role == "contact" else "elements with mass"
        self.check(self.always_on is None, name, value, f"is not for {what}: {self.always_on}")
        if intervals is None:
            self._active = active
            return
        self.check(active, "active", active, "cannot be combined with intervals, which define when the element is on")
        times = self.as_array(name, value, (None, 2), finite=False).ravel()
        good = len(times) > 0 and bool((np.diff(times) > 0.0).all() and np.isfinite(times[:-1]).all())
        message = "must be pairs (begin, end) of times [s], begin < end, one after the other"
        self.check(good and not np.isnan(times[-1]), name, value, message)
        self._intervals = tuple((float(a), float(b)) for a, b in zip(times[::2], times[1::2]))

    def place(self) -> None:
        """Set ``record`` anew where it holds addresses of arrays; called for a copy and in another process."""

    def __setstate__(self, state):
        super().__setstate__(state)
        self.place()

    def group_key(self) -> tuple:
        """Elements with equal keys are stored and evaluated together."""
        return (type(self), *self.sizes.values())

    def without_stiffening(self, state: Any, other: Any) -> tuple[float, float]:
        """Strain energy [J] of a change of state, and the part of it whose stresses linear buckling leaves out."""
        return 0.0, 0.0

    def softening_left_out(self, state: Any, change: list, shape: list) -> np.ndarray:
        """Work (3,) [J] of motions that the element leaves out, on a buckling shape: c_0 + c_1 x + c_2 x².

        ``change``, ``shape``: two states each, one before and one behind ``state``, on the path of the load and
        of the shape; ``x``: how many times ``change`` the load grows.
        """
        return np.zeros(3)

    def start_warnings(self, gravity: np.ndarray) -> list[str]:
        """Return warnings about the initial configuration of a model with gravity (3,) [m/s²]; issued at compile."""
        return []

    def picture(self) -> list:
        """Shapes that draw this element (see `fem_mbs.shapes`); an empty list draws nothing."""
        return []

    def drawn_spans(self) -> list | None:
        """Straight spans that draw a belt or a cable: (first frame, second frame, radii (2,), frame of the axis z).

        Frames are the centres of pulleys. A radius is > 0 where the span runs on to the pulley, or off it,
        counter-clockwise about the axis, and 0 at a point. None: a force between two frames is drawn as a coil.
        """
        return None


FOR_USERS = {"active", "is_on", "name", "outputs"}
Element._inside |= {name for name in (*dir(Element), "index", "record") if not name.startswith("_")} - FOR_USERS


class Inertia(Element):
    """An element with mass."""


class Force(Element):
    """An element that applies forces.

    Attributes
    ----------
    by_time : bool
        True if they depend on time alone: no tangent.
    """

    by_time = False


class Constraint(Element):
    """An element that imposes equations g(q, t) = 0; ``rows`` of them.

    Class attributes
    ----------------
    velocity_rows : int
        How many of the rows, the last ones, are equations of velocities alone, G(q, t) v + gt(q, t) = 0 (non-holonomic
        constraints). They take no freedom from positions.
    weaker_rows : dict
        Type of a joint that holds less -> those of its rows that it would have, see `fem_mbs.system.checks.loops`.
    relation : list of Turning
        Coordinates of joints with their factors in a linear equation, see `fem_mbs.system.checks.locked_gears`.
    """

    role = "constraint"
    weaker_rows: dict[str, tuple] = {}
    relation: Any = ()

    def cause(self, t: float, h: float) -> str | None:
        """Return why a step of size h [s] to time t [s] may have failed by the constraint; None without a cause."""
        return None

    def group_key(self) -> tuple:
        """Return the key of a group: constraints with other rows of velocities are separate groups."""
        return (*super().group_key(), self.velocity_rows)


T = TypeVar("T", bound="BetweenFrames")


class BetweenFrames(Element):
    """Base of joints and forces between a frame P and a frame Q, which the method `at` places at one point."""

    @classmethod
    @Keywords.known
    def at(
        cls: type[T],
        first: FrameLike,
        second: FrameLike,
        position: ArrayLike,
        axis: ArrayLike | None = None,
        **options: Any,
    ) -> T:
        """Make it at a point (3,) [m] of the initial configuration; its z axis along ``axis`` (3,), unit.

        Default of ``axis``: the inertial z axis.
        ``first`` and ``second`` are bodies, nodes or frames' nodes; frames P and Q are placed for you.
        """
        from fem_mbs.rotations import frame_with_axis

        owner = Named(cls.__name__, options.get("name"))
        A, B = owner.as_node("first", first), owner.as_node("second", second)
        rotation = None if axis is None else frame_with_axis(owner.unit_vector("axis", axis))
        made: Any = cls
        return made(A.frame_at(position, rotation), B.frame_at(position, rotation), **options)


class Joint(BetweenFrames, Constraint):
    """A constraint between frame P on the first body and frame Q on the second.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground); they must coincide at the start as the joint
        requires.
    name : str, optional
        Shown in errors, results and ParaView.

    Class attributes
    ----------------
    coordinates : tuple of Coordinate
        Its free coordinates, by name (`fem_mbs.elements.joints.coordinates.coordinates`).

    Attributes
    ----------
    companions : tuple of Element
        Springs, stops and motors that its options make (`fem_mbs.elements.joints.coordinates.options`).

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes

    Raises
    ------
    ParameterError
        If both frames belong to the same node.
    """

    coordinates: tuple[Any, ...] = ()

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, *, name: str | None = None, signals: Any = ()) -> None:
        self._connect(frame_P, frame_Q, "a joint needs two bodies", name=name, signals=signals)
        # poses of P and Q in node axes; a subclass that needs something else sets its own record
        self.record = (self.frame_P.p, self.frame_P.rotation, self.frame_Q.p, self.frame_Q.rotation)

    @property
    def counted(self) -> list[tuple[int, Element, str, int]]:
        """Its own angles, in the order of its coordinates; else as of any element."""
        turning = [coordinate.name for coordinate in self.coordinates if coordinate.turns]
        own: list[tuple[int, Element, str, int]] = [(i, self, name, 0) for i, name in enumerate(turning)]
        return own if own and self.n_state == len(own) else super().counted


JOINT_FRAMES = np.dtype([("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3))])


__all__ = [
    "JOINT_FRAMES", "REGISTRY", "Constraint", "Element", "Force", "Frame", "Ground", "Inertia", "Joint", "make_example",
    "register",
]  # fmt: skip
