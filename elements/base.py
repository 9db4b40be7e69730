"""The contract between elements and the framework (docs/writing_an_element.md).

An element is a small class that checks what the user gives, plus compiled kernels for the roles it plays. A kernel is a
function of scalars and small arrays, decorated with `fem_mbs.jit.kernel`; **the names of its arguments say what it
gets**, in any order. Outputs arrive zeroed and are *added to*.

    argument           shape        meaning
    p                  record       the element's parameters: ``p.stiffness`` …
    x, R               (nn,3) (nn,3,3)  positions [m] and rotations of the nodes; one node: x_A, R_A, x_B, R_B …
    v                  (nd,)        velocities (ẋ, Ω) of all nodes, nd = 6 nn; one node: v_A = ẋ, w_A = Ω (body axes)
    a                  (nd,)        accelerations (ẍ, Ω̇); one node: a_A, alpha_A
    x0, R0             (nn,3) …     positions and rotations at the start of the time step; x0_A, R0_A …
    t                  float        time [s]
    s                  (ns,3)       the element's signals: value, first and second derivative at time t
    gravity            (3,)         [m/s²]
    state              (nq,)        internal variables of the element, kept between calls
    lam                (nr,)        multipliers of a constraint (only in ``output`` and ``accept``)
    needs_K            float        0: nobody reads K and Ka of the tangents, which may leave them
    arguments          int          address of the table of all of these, for an element that calls another's kernels

    role        kernel             outputs, added to
    inertia     inertia            Ma (nd,) = M a;  f (nd,) += gravity − gyroscopic forces
                inertia_tangent    M (nd,nd), C = −∂f/∂v, K = −∂f/∂q, Ka = ∂(M a)/∂q at fixed a
    force       force              f (nd,)
                force_tangent      K = −∂f/∂q (nd,nd), C = −∂f/∂v (nd,nd); with an argument f also f, where K is
                                   needed: ``force`` is then not called besides
    both        energy             returns the potential energy [J] (gravity, strain); name must begin with "energy"
                mixed              K, C as force_tangent, f as force, all at the kept ``state`` (mixed Newton)
                update             new ``state`` from ``delta`` (nd,), the variation (δx, δθ) of the last iteration
                initial            first ``state``, consistent with x, R and v
                accept             new ``state`` at the end of a step, from its x, R and v
                engage             new ``state`` where the element is switched on in a run, from its x, R and v
                trouble            returns a number > 0 (as float) when a pose is outside what the element is made for;
                                   name must begin with "trouble", method ``trouble(state)`` tells it in words
    constraint  constraint         g (nr,), G (nr,nd) with ġ = G v + gt; rows of velocities have G alone, see below
                hessian            H (nr,nd,nd), H[k,i,j] = ∂G[k,i]/∂q_j: gives ∂(Gᵀλ)/∂q, ∂(Gv)/∂q and vᵀHv
                rheonomic          gt (nr,) = ∂g/∂t, gtt (nr,) = ∂²g/∂t², rate (nr,nd) = ∂G/∂t (rows with time)
    contact     contact            gap (1,), G_N (nd,); slip (2,) tangential displacement over the step, G_T (2,nd) its
                                   gradient; V_T (2,nd) the gradient that gives the sliding velocity; W (3,nd) the one
                                   of the relative angular velocity (t1, t2, normal); point (3,), normal (3,),
                                   tangents (2,3)
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

from typing import Any

import numpy as np

from fem_mbs.arguments import ArrayLike, Checked, FrameLike, Keywords, Named
from fem_mbs.errors import ParameterError, label
from fem_mbs.nodes import Frame, Ground, Node
from fem_mbs.registry import REGISTRY, make_example, register
from fem_mbs.signals import Signal
from fem_mbs.system.friction import MOST_ROWS, N_FRICTION


class Part(Checked):
    """What has a name and parameters: elements, and parts that are made of several of them.

    Parameters are fixed once the constructor is done: kernels read copies of them, and a change would be ignored.
    What may be set afterwards are attributes that the class itself sets; other names are misspelt.
    """

    freezes = True


class Element(Part):
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
        Whether these are of the past, so that a pose and its velocities do not tell them.
    role : {"dynamic", "constraint", "contact", "friction"}
        Set by the base classes below.
    viscous : bool
        Whether forces depend on velocities (``force_tangent`` fills C); an instance may set it to False.
    abrupt : bool
        Whether forces change abruptly (contacts that close): Newton steps that raise the residual are then shortened.
    numbers_per_node : 6 or 3
        Numbers per node in vectors and matrices. 3: of translations alone, for elements of many nodes (solids); nd is
        3 nn then, and kernels get neither R nor R0. For roles "inertia" and "force" only.
    abstract : bool
        Whether its masses are numbers of equations, not of matter: their kinetic energy is none.
    counts_turns : bool
        Whether all that its kernel ``accept`` does is to count turns about an axis that both bodies have in common, and
        only outputs read them: they are then counted when they have to be (`fem_mbs.solvers.stepping.accept`).
    geometric : kernel or None
        ``(p, x, …, v, K)``: adds to K the stiffness of the stresses that displacements v bring about at positions x,
        linear in v. For linear buckling of elements that keep no forces (solids); without it that takes differences of
        tangents, in which stiff directions that turn seem to soften.
    places : int or None
        How many of the nodes, the first ones, have places in space; the others hold plain numbers, such as amplitudes
        of modes, three to a `Node3`. None: all. An instance may set it.
    outputs : dict
        Output name -> (number of components, unit); filled by the kernel ``output`` in this order.

    Instance attributes
    -------------------
    nodes : tuple of Node
    record : tuple, values of ``parameters`` in order
    signals : list of Signal
    """

    role = "dynamic"
    _active = True  # on at the start of a run
    _intervals: tuple = ()  # (begin, end) [s] in which it is on instead; () for those that have none
    viscous = True
    abrupt = False
    abstract = False
    counts_turns = False
    geometric: Any = None
    places: int | None = None
    numbers_per_node = 6
    parameters = no_parameters = np.dtype([("unused", "f8")])
    no_record = (0.0,)
    kernels = {}
    rows = 0
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
        self.record: tuple = self.no_record
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
        """Internal variables that count turns: place, and element, output and component where results have the angle.

        Of what acts along an angle of a joint, with `joints.coordinates.COORDINATE` in its record, it is the joint's.
        """
        joint, names = getattr(self, "joint", None), self.parameters.names or ()
        if joint is None or "kind" not in names or self.n_state != 1 or not self.remembers:
            return []
        kind = self.record[names.index("kind")]
        return [(0, joint, angle.name, 0) for angle in joint.coordinates if angle.turns and angle.kind == kind]

    def count_on(self, state: np.ndarray, angles: dict[int, float]) -> None:
        """Take the turns of angles [rad], by places, into internal variables that fit the pose within half a turn."""
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
        """Whether it is on at t = 0; `Model.add` and some constructors take it as a keyword."""
        return self.is_on(0.0)

    def is_on(self, t: float) -> bool:
        """Whether it is on at a time [s], unless a run switches it by itself."""
        if not self._intervals:
            return self._active
        return any(begin <= t < end for begin, end in self._intervals)

    def switch_times(self) -> list[tuple[float, bool]]:
        """Times [s] at which its intervals switch it on (True) and off (False), rising; [] of one without intervals."""
        times = [(t, on) for interval in self._intervals for t, on in zip(interval, (True, False))]
        return [(t, on) for t, on in times if np.isfinite(t)]

    @property
    def always_on(self) -> str | None:
        """Why it cannot be switched off: contacts and what has mass; None for all else."""
        if self.role == "contact":
            return "bodies would go through each other"
        if "inertia" in {self.role, *self.kernels, *getattr(self, "python_kernels", {})}:
            return "mass does not vanish"
        return None

    def use_switch(self, active: bool, intervals: Any = None) -> None:
        """Say whether it is on when a run starts, or in which intervals of time it is on.

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
        self.check(active, "active", active, "does not go with intervals, which say when the element is on")
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
        return (type(self), tuple(sorted(self.sizes.items())))

    def without_stiffening(self, state: Any, other: Any) -> tuple[float, float]:
        """Strain energy [J] of a change of state, and the part of it whose stresses linear buckling leaves out."""
        return 0.0, 0.0

    def picture(self) -> list:
        """Shapes that draw this element (see `fem_mbs.shapes`); an empty list draws nothing."""
        return []

    def drawn_spans(self) -> list | None:
        """Straight spans that draw a belt or a cable: (first frame, second frame, radii (2,), frame of the axis z).

        Frames are the centres of pulleys. A radius is > 0 where the span runs on to the pulley, or off it,
        counter-clockwise about the axis, and 0 at a point. None: a force between two frames is drawn as a coil.
        """
        return None

    def __repr__(self):
        return label(self)


class Inertia(Element):
    """An element with mass."""


class Force(Element):
    """An element that applies forces.

    Attributes
    ----------
    external : bool
        Whether they are given from outside, and depend on no more of the motion than how the node has turned.
    by_time : bool
        Whether they depend on time alone: no tangent.
    has_no_moments : bool
        With ``numbers_per_node`` = 3: whether it may act on nodes that can turn too, as a load on their places does.
    """

    external = by_time = has_no_moments = False


class Constraint(Element):
    """An element that imposes equations g(q, t) = 0; ``rows`` of them.

    Class attributes
    ----------------
    velocity_rows : int
        How many of the rows, the last ones, are equations of velocities alone, G(q, t) v + gt(q, t) = 0 (non-holonomic
        constraints). They take no freedom from positions.
    """

    role = "constraint"
    velocity_rows = 0

    def group_key(self) -> tuple:
        """Constraints with other rows of velocities are groups of their own."""
        return (*super().group_key(), self.velocity_rows)


class Joint(Constraint):
    """A constraint between frame P on the first body and frame Q on the second.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground); they must coincide at the start as the joint asks.
    name : str, optional
        Shown in errors, results and ParaView.

    Class attributes
    ----------------
    weaker_rows : dict
        Type of a joint that holds less -> those of its rows that it would have, see `fem_mbs.system.loops`.
    coordinates : tuple of Coordinate
        What it leaves free, by name (`fem_mbs.elements.joints.coordinates`).

    Attributes
    ----------
    companions : tuple of Element
        What its options make: springs, stops, motors (`fem_mbs.elements.joints.options`). A model gets them with it.

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
    companions: tuple[Element, ...] = ()

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

    weaker_rows: dict[str, tuple] = {}

    def weaker(self) -> list[tuple[str, np.ndarray]]:
        """Weaker joints that could be in its place: their type, and the matrix that makes their rows from its own."""
        from fem_mbs.system.loops import selected_rows

        axes = self.frame_P.orientation
        return [(kind, selected_rows(names, self.rows, axes)) for kind, names in self.weaker_rows.items()]

    @classmethod
    @Keywords.known
    def at(
        cls, first: FrameLike, second: FrameLike, position: ArrayLike, axis: ArrayLike | None = None, **options: Any
    ) -> Any:
        """Make the joint at a point (3,) [m] of the initial configuration; its z axis along ``axis`` (3,), unit.

        ``first`` and ``second`` are bodies, nodes or frames' nodes; frames P and Q are placed for you.
        """
        from fem_mbs.rotations import frame_with_axis

        owner = Named(cls.__name__, options.get("name"))
        A, B = owner.as_frame("first", first).node, owner.as_frame("second", second).node
        rotation = None if axis is None else frame_with_axis(owner.unit_vector("axis", axis))
        return cls(A.frame_at(position, rotation), B.frame_at(position, rotation), **options)


def friction_coefficients(owner: Any, friction: Any, parameter: str = "friction") -> tuple[float, float]:
    """Static and sliding coefficient, of one number or two."""
    several = isinstance(friction, (tuple, list)) or (isinstance(friction, np.ndarray) and friction.ndim > 0)
    both = friction if several else (friction, friction)
    owner.check(len(both) == 2, parameter, friction, "must be one number or (static, sliding)")
    static, sliding = (owner.positive(parameter, value, "", allow_zero=True) for value in both)
    owner.check(static >= sliding, parameter, friction, "(static, sliding): static must be ≥ sliding")
    return static, sliding


class FrictionRow(Element):
    """Dry friction against the rate γ of one coordinate of a joint: −μ N Sign(γ), N of what the joint transmits.

    N is the sum of a part that does not depend on the multipliers λ of the joint and one that is proportional to them,
    N(cλ) = c N(λ) for c > 0. Base of `JointFriction`, and of `IdealBelt`, which has no joint and the first part alone;
    a method that does not know it refuses the model.

    Parameters
    ----------
    joint : Joint or None
        Whose coordinate it is, in the same model. None: of two nodes that no joint of its own connects.
    friction : float ≥ 0 or (static, sliding), -
        μ; static ≥ sliding.
    kappa : bool
        Compute κ in every step.
    units : (text, text)
        Of friction, and of γ.
    nodes : sequence of Node, optional
        Without a joint.

    Attributes
    ----------
    of_point : bool
        Whether the first three multipliers are a force in inertial axes, those of a joint with rows of a point.
    moved : bool
        Whether friction acts against a surface that is moved, and can so give energy.
    drives : bool
        Whether it stands for a motor, in the table of energies.
    """

    of_point = moved = drives = False

    role = "friction"
    n_state = N_FRICTION

    def __init__(
        self, joint: Any, friction: Any, *, kappa: bool, name: str | None, signals: Any, units: tuple[str, str],
        nodes: Any = None,
    ) -> None:  # fmt: skip
        self.joint, self.rows = joint, 0 if joint is None else joint.rows
        super().__init__(nodes if joint is None else joint.nodes, name=name, signals=signals)
        self.check(self.rows <= MOST_ROWS, "joint", joint, "leaves nothing free")
        self.friction, self.kappa = friction_coefficients(self, friction), self.as_flag("kappa", kappa)
        effort, rate = units
        self.outputs = {
            "force": (1, effort), "bound": (1, effort), "slip": (1, rate), "status": (1, ""), "power": (1, "W"),
            "dissipated": (1, "J"), "kappa": (1, ""),
        }  # fmt: skip

    @property
    def law(self) -> tuple[float, float, float]:
        """Static and sliding coefficient; 1: κ is wanted in every step."""
        return (*self.friction, float(self.kappa))


JOINT_FRAMES = np.dtype([("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3))])


class Contact(Element):
    """A pair that can touch: kinematics here, the law (impact, friction) in the solver.

    Parameters
    ----------
    restitution : float, 0 … 1, -
        Newton's coefficient of the normal direction, e_N.
    friction : float, ≥ 0, or (static, sliding), -
        Coulomb's coefficient μ; or two, static ≥ sliding: what sticks holds up to the first, what slides has the
        second, and what comes to rest stays if the first holds it. Two are for `DecoupledNSGA`.
    stribeck_speed : float, ≥ 0 [m/s]
        With two coefficients: v_s of the fall from static to sliding friction, μ(v) = μ_k + (μ_s − μ_k) exp(−(v/v_s)²).
        Default: 0, sliding friction at any speed. Falling friction makes slow sliding unstable: steps must resolve it.
    tangential_restitution : float, −1 … 1, -
        e_T; 0 for ordinary friction.
    rolling_resistance, spinning_resistance : float, ≥ 0 [m]
        Arms ρ and γ of the resisting moments: |M_T| ≤ ρ N, |M_N| ≤ γ N.
    radius_contensou : float, ≥ 0 [m]
        Radius R of the disc over which the contact presses; 0: a point. With a disc sliding and drilling (turning about
        the normal) are one friction, Coulomb-Contensou's: |(F_1, F_2, M_N/c)| ≤ μ N against (v_1, v_2, c ω_N) with
        c = 3π R/16. A contact that drills fast hardly resists sliding, one that slides fast hardly resists drilling.
        Choose the Hertz radius at the mean load, or the radius of a flat end.
        Replaces ``spinning_resistance``, which bounds the same moment but does not know sliding.

    Attributes
    ----------
    friction, static_friction : float
        Of sliding and of sticking.
    convex : bool
        Of the type: whether both surfaces are convex. Their normal then turns by more than 14° in a step only where
        they pass each other.
    passage : float ≥ 0 [m]
        Smallest relative travel from the first touch to where another side of the surfaces is nearer: the sum of the
        radii of two spheres. Steps in which the pair travels a good part of it are swept (docs/theory/sweep). 0: there
        is no other side (a plane, the inside of a bowl), and nothing is swept.
    reach : float ≥ 0 [m]
        Largest distance of two points of one surface that can touch, or the radius of a sphere. Infinite: the gap is no
        distance (stops of joints), and nothing is swept.
    everywhere : bool
        Of the type: whether there is a nearest point in every pose. If not, a kernel ``trouble`` tells where.
    gap_slopes : (a, b) or None
        How fast the gap can change, with two nodes that move by Δx and turn by φ < 0.5 rad together: by no more than
        a (|Δx_A| + |Δx_B| + φ times the distance of both) + b φ. Contacts that are far from closing by it are not
        evaluated (`fem_mbs.system.far_contacts`). None: they are.
    room : float > 0 [m]
        Clearance between the surfaces, which penetrations must be small against. Infinite: the surfaces are open.

    Outputs
    -------
    gap : float [m], open > 0
    impulse : (3,) [N s], momentum that the first body got in the step: normal, t1, t2, in the axes ``normal`` and
        ``tangents`` at the end of the step; with persistent contacts those half-way through it, the means of start and
        end, which matters where the normal turns
    moment_impulse : (3,) [N m s], of the step: rolling about t1 and t2, spinning (drilling) about the normal
    force : (3,) [N], impulse / h: a mean over the step, at an impact not a force; with persistent contacts that at the
        end of the step
    moment : (3,) [N m], of moment_impulse in the same way
    point, normal : (3,) [m], -, inertial axes

    Raises
    ------
    ParameterError
        Coefficients out of range; radius_contensou and spinning_resistance both given; two coefficients of friction
        with radius_contensou or tangential_restitution.

    Notes
    -----
    c is the arm of the pure drilling moment, ∫ r p dA/∫ p dA, of a Hertz pressure p ∝ (1 − r²/R²)^½; other pressures
    have other arms (even: 2R/3, parabolic: 8R/15), to be had by scaling R. The ball is exact in pure sliding and in
    pure drilling, and an approximation between: at fast drilling integration over the Hertz disc gives a sliding
    friction of 3π/8 μ N v/(R ω), the ball 16/(3π) μ N v/(R ω), 1.44 times that.
    Source: Capobianco2021, (49), (157); Leine and Glocker, Eur. J. Mech. A 22 (2003).
    """

    role = "contact"
    convex = False
    passage = 0.0
    reach = 0.0
    gap_slopes: tuple[float, float] | None = None
    room = np.inf
    everywhere = True
    where = "the places of both"  # what decides, beside sizes, whether a contact starts open: for messages

    def __init__(
        self,
        nodes: Any,
        *,
        restitution: float = 0.0,
        friction: Any = 0.0,
        stribeck_speed: float = 0.0,
        tangential_restitution: float = 0.0,
        rolling_resistance: float = 0.0,
        spinning_resistance: float = 0.0,
        radius_contensou: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(nodes, name=name)
        self.restitution = self.number("restitution", restitution, at_least=0, at_most=1)
        self.tangential_restitution = self.number(
            "tangential_restitution", tangential_restitution, at_least=-1, at_most=1
        )
        self.static_friction, self.friction = friction_coefficients(self, friction)
        self.stribeck_speed = self.positive("stribeck_speed", stribeck_speed, "m/s", allow_zero=True)
        self.rolling_resistance = self.positive("rolling_resistance", rolling_resistance, "m", allow_zero=True)
        self.spinning_resistance = self.positive("spinning_resistance", spinning_resistance, "m", allow_zero=True)
        self.radius_contensou = self.positive("radius_contensou", radius_contensou, "m", allow_zero=True)
        self.check(
            self.radius_contensou == 0.0 or self.spinning_resistance == 0.0,
            "radius_contensou",
            radius_contensou,
            f"m and spinning_resistance = {self.spinning_resistance:g} m both resist turning about the normal; give "
            "one. Without sliding, radius_contensou acts as a spinning_resistance of 3π/16 μ R",
        )
        message = "is for friction=(static, sliding) with two coefficients that differ; leave it out"
        self.check(self.stribeck_speed == 0.0 or self.two_coefficients, "stribeck_speed", stribeck_speed, message)
        for what in ("radius_contensou", "tangential_restitution"):
            value = getattr(self, what)
            message = "does not go with static and sliding friction: give one coefficient, or leave it out"
            self.check(value == 0.0 or not self.two_coefficients, what, value, message)

    @property
    def two_coefficients(self) -> bool:
        """Whether static friction is larger than that of sliding."""
        return self.static_friction > self.friction

    @property
    def drilling_arm(self) -> float:
        """c = 3π R/16 [m] of the coupled law; 0 without disc or without friction."""
        return 3.0 * np.pi / 16.0 * self.radius_contensou if self.friction > 0.0 else 0.0

    def group_key(self) -> tuple:
        """Contacts with coupled drilling have one more row: they are groups of their own."""
        return (*super().group_key(), self.drilling_arm > 0.0)

    @property
    def law(self) -> tuple:
        """(μ, ρ, γ, e_N, e_T, c, μ_s, μ_k, v_s): what solvers know of the contact."""
        return (
            self.friction,
            self.rolling_resistance,
            self.spinning_resistance,
            self.restitution,
            self.tangential_restitution,
            self.drilling_arm,
            self.static_friction,
            self.friction,
            self.stribeck_speed,
        )


__all__ = [
    "JOINT_FRAMES", "REGISTRY", "Constraint", "Contact", "Element", "Force", "Frame", "FrictionRow", "Ground",
    "Inertia", "Joint", "make_example", "register",
]  # fmt: skip
