"""Compliant contact: bodies that press into each other, of any contact geometry.

What the nonsmooth contacts describe - gap g_N, its gradient G_N and the gradient V_T of the sliding velocity - serves a
force law as well. With indentation δ = −g_N > 0, its rate δ̇ = −G_N v and the rate δ̇_i at first touch:

    N = K δⁿ (1 + χ δ̇/δ̇_i)  ≥ 0                  hysteresis factor χ(e): `recovery.hysteresis`, (2)-(7)             (1)
    F_T = −μ N w/s ,   w = V_T v ,  s = √(w·w + w_s²)                Coulomb's law, smooth below some w_s            (2)
    f = G_Nᵀ N + V_Tᵀ F_T                                                                                         (3)
    V = K δⁿ⁺¹/(n + 1)                                               energy of the elastic part                   (4)

N is cut off at zero: bodies that are pulled apart faster than δ̇_i/χ do not stick. Tangents, with N_δ = ∂N/∂δ,
N_r = ∂N/∂δ̇, H = ∂G_N/∂q, t = V_Tᵀ w and D = ∂(w/s)/∂w = I/s − w wᵀ/s³:

    ∂N/∂q = −N_δ G_N − N_r vᵀH ,   ∂N/∂v = −N_r G_N                                                                (5)
    K = −(G_Nᵀ − μ t/s) ∂N/∂q − N H + μ N ∂(t/s)/∂q                                                               (6)
    C = −(G_Nᵀ − μ t/s) ∂N/∂v + μ N V_Tᵀ D V_T                                                                     (7)
    ∂(t/s)/∂q = Σ_k (∂V_T,k/∂q) w_k/s + V_Tᵀ D (∂V_T/∂q) v                                                         (8)

Contacts give no ∂V_T/∂q. It is the central difference of four points of V_T, whose steps are 3e-4 of the radii of
curvature that H shows; without friction, or with ``simple_tangent``, nothing is differenced.

First touch. The state keeps δ̇_i: while the contact is open, max(0, δ̇) of the last step; while it is closed it stays.
A contact that is closed at the start takes the rate it starts with. δ̇_i counts as at least ``least_speed``: a contact
that is loaded without an impact would be damped without bound.

The geometry is not written a second time: the kernels below call those of the wrapped contact by their addresses, with
the same table of arguments. The start of the step, on which tangents may depend, is put where the bodies are.

Source: docs/theory/contacts.md, (25)-(29); Hunt and Crossley 1975 and Sanchez2025, table 2.1, for (1); (2) is the usual
smooth Coulomb law (Oden and Martins 1985, with a square root in place of their polynomial); (5)-(8) derived here,
checked by differences.

    symbol    code           shape   unit   meaning
    K, n, χ   stiffness, exponent, factor   N/mⁿ, -, -
    δ̇_i       state[0]       ()      m/s    rate of indentation at first touch
    w_s       slip_speed     ()      m/s    sliding speed at which friction is 71 % of μ N
    -         contact_at …   ()      -      addresses: kernels and parameters of the wrapped contact
"""

import math
from typing import Any

import numpy as np

from fem_mbs.elements.base import REGISTRY, Contact, Force, register
from fem_mbs.errors import FemMbsError, ParameterError, label
from fem_mbs.evaluator import Evaluator, Point, evaluator_of
from fem_mbs.jit import N_SLOTS, SLOT, address, bind, call2, integers, kernel, local_matrix, local_vector, vector
from fem_mbs.recovery.hysteresis import LOWEST_RESTITUTION, ForceLaw, hysteresis_factor
from fem_mbs.system.assembly import zero
from fem_mbs.system.sizes import gyration

PARAMETERS = np.dtype(
    [(name, "f8") for name in ("stiffness", "exponent", "factor", "least_speed", "friction", "slip_speed", "deepest")]
    + [(name, "i8") for name in ("contact_at", "hessian_at", "parameters_at", "simple")]
)
_X, _R, _X0, _R0, _GAP, _SLIP, _GN, _GT, _VT, _W, _HN = (
    SLOT[k] for k in ("x", "R", "x0", "R0", "gap", "slip", "G_N", "G_T", "V_T", "W", "H_N")
)
_POINT, _NORMAL, _TANGENTS = SLOT["point"], SLOT["normal"], SLOT["tangents"]
DEEPEST = 0.1  # largest indentation, relative to the radius
UNLIMITED = 1e300  # m: records hold finite numbers
_STEP = 3e-4  # of differences, relative to the radius of curvature: truncation ~ STEP⁴, round-off ~ 1e-16/STEP


@kernel
def touch(p, arguments, nn):
    """Evaluate the wrapped contact at the poses in the table of arguments, whatever the start of the step says."""
    b = integers(arguments, N_SLOTS)
    nd = 6 * nn
    zero(b[_GAP], 1)
    zero(b[_SLIP], 2)
    zero(b[_GN], nd)
    zero(b[_GT], 2 * nd)
    zero(b[_VT], 2 * nd)
    zero(b[_W], 3 * nd)
    zero(b[_POINT], 3)
    zero(b[_NORMAL], 3)
    zero(b[_TANGENTS], 6)
    call2(p.contact_at, p.parameters_at, arguments)


@kernel
def start_here(arguments, nn):
    """Put the start of the step where the bodies are."""
    b = integers(arguments, N_SLOTS)
    x, R, x0, R0 = vector(b[_X], 3 * nn), vector(b[_R], 9 * nn), vector(b[_X0], 3 * nn), vector(b[_R0], 9 * nn)
    for i in range(3 * nn):
        x0[i] = x[i]
    for i in range(9 * nn):
        R0[i] = R[i]


@kernel
def normal_law(p, delta, rate, speed):
    """N of (1) and its derivatives with respect to indentation and rate; ``speed`` is δ̇_i as kept."""
    speed = max(speed, p.least_speed)
    damping = 1.0 + p.factor * rate / speed
    if delta <= 0.0 or damping <= 0.0:
        return 0.0, 0.0, 0.0
    spring = p.stiffness * delta**p.exponent
    return spring * damping, p.exponent * spring / delta * damping, spring * p.factor / speed


@kernel
def rate_of(G_N, v):
    """δ̇ = −G_N v."""
    total = 0.0
    for i in range(len(v)):
        total -= G_N[i] * v[i]
    return total


@kernel
def sliding(p, V_T, v, w):
    """Fill w (2,) and return s, both of (2)."""
    for k in range(2):
        w[k] = 0.0
        for i in range(len(v)):
            w[k] += V_T[k, i] * v[i]
    return math.sqrt(w[0] * w[0] + w[1] * w[1] + p.slip_speed * p.slip_speed)


@kernel
def force(p, arguments, x, v, state, gap, G_N, V_T, f):
    """Add (3) to f (nd,)."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    if gap[0] >= 0.0:
        return
    N, _, _ = normal_law(p, -gap[0], rate_of(G_N, v), state[0])
    for i in range(len(v)):
        f[i] += N * G_N[i]
    if p.friction > 0.0 and N > 0.0:
        w = local_vector(2)
        scale = -p.friction * N / sliding(p, V_T, v, w)
        for i in range(len(v)):
            f[i] += scale * (V_T[0, i] * w[0] + V_T[1, i] * w[1])


@kernel
def force_tangent(p, arguments, x, R, v, state, gap, G_N, V_T, H_N, K, C):
    """Add (6) and (7) to K and C (nd, nd)."""
    nn, nd = x.shape[0], len(v)
    start_here(arguments, nn)
    touch(p, arguments, nn)
    if gap[0] >= 0.0:
        return
    N, N_d, N_r = normal_law(p, -gap[0], rate_of(G_N, v), state[0])
    if N == 0.0:
        return
    b = integers(arguments, N_SLOTS)
    zero(b[_HN], nd * nd)
    call2(p.hessian_at, p.parameters_at, arguments)
    w, t, N_q, along = local_vector(2), local_vector(24), local_vector(24), local_vector(24)
    s = sliding(p, V_T, v, w)
    for i in range(nd):
        t[i] = V_T[0, i] * w[0] + V_T[1, i] * w[1]
        along[i] = G_N[i] - p.friction * t[i] / s
        N_q[i] = -N_d * G_N[i]
        for j in range(nd):
            N_q[i] -= N_r * v[j] * H_N[j, i]
    for i in range(nd):
        for j in range(nd):
            K[i, j] -= along[i] * N_q[j] + N * H_N[i, j]
            C[i, j] += along[i] * N_r * G_N[j]
    if p.friction > 0.0:
        scale = p.friction * N / s
        bent = 1.0 if p.simple == 0 or s * s <= 2.0 * p.slip_speed * p.slip_speed else 0.0
        for i in range(nd):
            for j in range(nd):
                straight = V_T[0, i] * V_T[0, j] + V_T[1, i] * V_T[1, j]
                C[i, j] += scale * (straight - bent * t[i] * t[j] / (s * s))
        if p.simple == 0:
            _friction_tangent(p, arguments, x, R, v, V_T, H_N, w, s, scale, K)


@kernel
def _curvature(H_N, columns, nn):
    """Largest change of the normal, a direction in space, per unit of the three components of q from ``columns`` on."""
    largest = 0.0
    for a in range(nn):
        for i in range(3):
            for j in range(columns, columns + 3):
                largest = max(largest, abs(H_N[6 * a + i, j]))
    return largest


@kernel
def _turn(R, axis, c, s):
    """R ← R exp(angle about body axis), c and s the cosine and sine of the angle."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    for i in range(3):
        first, second = R[i, j], R[i, k]
        R[i, j] = c * first + s * second
        R[i, k] = c * second - s * first


@kernel
def _friction_tangent(p, arguments, x, R, v, V_T, H_N, w, s, scale, K):
    """Add scale s ∂(t/s)/∂q of (8) to K; the poses are moved and put back, V_T is left anywhere."""
    nn, nd = x.shape[0], len(v)
    V, dV, pose = local_matrix(2, 24), local_matrix(2, 24), local_vector(9)
    for k in range(2):
        for i in range(nd):
            V[k, i] = V_T[k, i]
    for column in range(nd):
        a, axis = column // 6, column % 6
        curvature = _curvature(H_N, 6 * a + (3 if axis >= 3 else 0), nn)
        if axis >= 3:
            step = _STEP / max(1.0, curvature)
            for i in range(9):
                pose[i] = R[a, i // 3, i % 3]
        else:
            step = _STEP / curvature if curvature > 0.0 else _STEP
            pose[0] = x[a, axis]
        for k in range(2):
            for i in range(nd):
                dV[k, i] = 0.0
        for m in range(4):
            n = (1.0, -1.0, 2.0, -2.0)[m]
            weight = (8.0 / 12.0, -8.0 / 12.0, -1.0 / 12.0, 1.0 / 12.0)[m] / step
            if axis >= 3:
                _turn(R[a], axis - 3, math.cos(n * step), math.sin(n * step))
            else:
                x[a, axis] = pose[0] + n * step
            touch(p, arguments, nn)
            for k in range(2):
                for i in range(nd):
                    dV[k, i] += weight * V_T[k, i]
            if axis >= 3:
                for i in range(9):
                    R[a, i // 3, i % 3] = pose[i]
            else:
                x[a, axis] = pose[0]
        first = second = 0.0
        for i in range(nd):
            first += dV[0, i] * v[i]
            second += dV[1, i] * v[i]
        inner = (w[0] * first + w[1] * second) / (s * s)
        first, second = first - w[0] * inner, second - w[1] * inner
        for i in range(nd):
            K[i, column] += scale * (dV[0, i] * w[0] + dV[1, i] * w[1] + V[0, i] * first + V[1, i] * second)


@kernel
def energy_contact(p, arguments, x, gap):
    """Energy (4) [J]."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    delta = -gap[0]
    return p.stiffness * delta ** (p.exponent + 1.0) / (p.exponent + 1.0) if delta > 0.0 else 0.0


@kernel
def initial(p, arguments, x, v, gap, G_N, state):
    """First δ̇_i."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    state[0] = max(rate_of(G_N, v), 0.0)


@kernel
def accept(p, arguments, x, v, gap, G_N, state):
    """δ̇_i at the end of a step: the rate of approach while the contact is open."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    if gap[0] >= 0.0:
        state[0] = max(rate_of(G_N, v), 0.0)


@kernel
def output(p, arguments, x, v, state, gap, G_N, V_T, point, normal, tangents, out):
    """Gap, indentation and its rate, forces, sliding speed, point, normal: in the order of ``outputs``."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    w = local_vector(2)
    s, rate = sliding(p, V_T, v, w), rate_of(G_N, v)
    N, _, _ = normal_law(p, -gap[0], rate, state[0])
    out[0] += gap[0]
    out[1] += max(-gap[0], 0.0)
    out[2] += rate
    out[3] += N
    for i in range(3):
        friction = -p.friction * N / s * (tangents[0, i] * w[0] + tangents[1, i] * w[1])
        out[4 + i] += N * normal[i] + friction
        out[7 + i] += friction
        out[11 + i] += point[i]
        out[14 + i] += normal[i]
    out[10] += math.sqrt(w[0] * w[0] + w[1] * w[1])


@kernel
def trouble(p, arguments, x, gap):
    """Indentation beyond the deepest that is allowed [m]; 0 within it."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])
    return max(-gap[0] - p.deepest, 0.0)


@kernel
def touching(p, arguments, x, gap, normal):
    """Leave gap, normal and gradient at the poses in the table of arguments."""
    start_here(arguments, x.shape[0])
    touch(p, arguments, x.shape[0])


class CompliantContact(Force):
    """A contact that yields: force from indentation, with hysteresis and friction, for any contact geometry.

    Takes the place of the contact it is given: add the compliant contact to the model, not the contact. What a run with
    it resolves in time, `recover_forces` recovers from the impulses of a run with the contact itself.

    Parameters
    ----------
    contact : Contact
        Geometry: any contact element, such as `SphereOnPlane`, `SphereInCylinder` or `CapsuleOnCapsule`. Not added to
        the model itself.
    stiffness : float > 0 [N/mⁿ]
        K of the law; see `recover_forces` and `fem_mbs.hertz`.
    model : str or callable
        Hysteresis model, see `hysteresis_factor`: "consistent" (default), "hunt-crossley", "lankarani-nikravesh", "hu",
        "flores", "zhang", or a function of the restitution.
    exponent : float, 1 … 3, -
        n of the law, 3/2 for surfaces that touch in a point.
    restitution : float, 0.02 … 1, optional
        Default: that of ``contact``. 1 is elastic.
    friction : float ≥ 0, optional, -
        Coulomb's coefficient. Default: that of ``contact``.
    slip_speed : float > 0 [m/s]
        Sliding speed below which friction fades (to zero at rest: what sticks creeps). Well below the sliding speeds of
        interest; steps must resolve w_s/μ g.
    least_speed : float > 0 [m/s]
        Lower bound of the approach speed δ̇_i in the damping. Choose it well below impact speeds and above those of
        vibrations in closed contact, which it decides the damping of.
    simple_tangent : bool
        Leave (8) out of the tangents, and w wᵀ/s³ while the contact slides faster than w_s. Forces are the same, steps
        with friction take a third of the time, and Newton's iteration does not swing between two sliding states in
        steps longer than m w_s/(μ N). It converges as fast where contacts roll, and linearly where they slide. For
        steps in which bodies move by far less than their radii of curvature, as balls between races do.
    max_indentation : float > 0, optional [m]
        A deeper start is refused, and so is a step that goes deeper. Laws of surfaces that touch in a point hold for
        indentations far below the radii. Default: a tenth of the largest radius of ``contact``. Without radii (points)
        nothing is refused, but a run in which the indentation exceeds a tenth of the size of the bodies (their largest
        radius of gyration), or in which that is not known, has a warning. Give the depth up to which the law holds,
        such as the stroke of a buffer.
    name : str, optional
        Default: the name of ``contact``.

    Outputs
    -------
    gap : [m], open > 0
    indentation : [m]
    indentation_rate : [m/s], > 0 while closing; of an open contact the speed of approach
    force_normal : [N]
    force_vector, friction_force : (3,) [N], on the first body, inertial axes: all of the force; that of friction
    sliding_speed : [m/s]
    point, normal : (3,) [m], -, inertial axes; the normal points from the second body to the first

    Raises
    ------
    ParameterError
        Parameters out of range; not a contact, or a part made of several (wrap its ``elements`` one by one); a contact
        with rolling or spinning resistance, tangential restitution or a ``radius_contensou``, which the force law does
        not know; a contact of more than four nodes.

    Notes
    -----
    Steps must resolve the impact: some hundredth of its duration, 1e-6 … 1e-5 s for steel. A run with
    ``StepControl(tolerance=…)`` finds them, see the how-to. Forces beyond the elastic limit of the material are not
    limited.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody, SphereOnPlane
    >>> model, ball = Model(), RigidBody.sphere(1.0, 0.1, position=[0, 0, 1.1])
    >>> floor = SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.6, name="floor")
    >>> model.add(CompliantContact(floor, stiffness=140e6, model="flores"))
    CompliantContact 'floor'
    """

    parameters = PARAMETERS
    n_state = 1
    peaks = ("indentation",)
    most_nodes = 4  # scratch of `force_tangent` and `_friction_tangent` is for 24 numbers
    abrupt = True
    kernels = {
        "force": force, "force_tangent": force_tangent, "energy": energy_contact, "initial": initial, "accept": accept,
        "output": output, "trouble": trouble, "touching": touching,
    }  # fmt: skip
    outputs = {
        "gap": (1, "m"), "indentation": (1, "m"), "indentation_rate": (1, "m/s"), "force_normal": (1, "N"),
        "force_vector": (3, "N"), "friction_force": (3, "N"), "sliding_speed": (1, "m/s"), "point": (3, "m"),
        "normal": (3, ""),
    }  # fmt: skip

    def __init__(
        self,
        contact: Contact,
        *,
        stiffness: float,
        model: str = "consistent",
        exponent: float = 1.5,
        restitution: float | None = None,
        friction: float | None = None,
        slip_speed: float = 1e-3,
        least_speed: float = 1e-3,
        simple_tangent: bool = False,
        max_indentation: float | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        self._check_contact(contact)
        self.name = name if name is not None else contact.name
        super().__init__(contact.nodes, name=self.name)
        self.contact = contact
        self.stiffness = self.positive("stiffness", stiffness, "N/m^n")
        self.exponent = self.number("exponent", exponent, at_least=1, at_most=3)
        self.restitution = self.number("restitution", contact.restitution if restitution is None else restitution)
        message = f"must be between {LOWEST_RESTITUTION:g} and 1; contacts have 0 unless one is given, here or there"
        self.check(LOWEST_RESTITUTION <= self.restitution <= 1, "restitution", self.restitution, message)
        self.friction = self.positive("friction", contact.friction if friction is None else friction, "", True)
        self.slip_speed = self.positive("slip_speed", slip_speed, "m/s")
        self.least_speed = self.positive("least_speed", least_speed, "m/s")
        if max_indentation is not None:
            self.max_indentation = self.positive("max_indentation", max_indentation, "m")
        else:
            self.max_indentation = DEEPEST * _largest_radius(contact)
        self.model, self.factor = model, self._factor(model)
        self.simple_tangent = self.as_flag("simple_tangent", simple_tangent)
        self.place()

    def _check_contact(self, contact):
        if getattr(contact, "role", None) == "contact group":
            message = "finds its pairs during the run; a compliant contact takes one contact element"
            raise ParameterError(self, "contact", label(contact), message)
        if hasattr(contact, "elements"):
            message = "is made of several contacts; make a compliant contact of each of its elements"
            raise ParameterError(self, "contact", label(contact), message)
        if not isinstance(contact, Contact):
            raise ParameterError(self, "contact", contact, "is not a contact, such as SphereOnPlane(…)")
        if len(contact.nodes) > self.most_nodes:
            message = f"moves with {len(contact.nodes)} nodes; a compliant contact has room for {self.most_nodes}"
            raise ParameterError(self, "contact", label(contact), message)
        for what in ("rolling_resistance", "spinning_resistance", "radius_contensou", "tangential_restitution"):
            value = getattr(contact, what)
            message = "is for nonsmooth contacts; a compliant contact knows sliding friction only: leave it out"
            self.check(value == 0.0, what, value, message)

    def _factor(self, model):
        """χ of the hysteresis model, an error in the words of this element if there is none."""
        if isinstance(model, ForceLaw):
            raise ParameterError(
                self, "model", model.name, "is a Python function of the indentation; give a hysteresis model, or write "
                "the law as a UserForce",
            )  # fmt: skip
        try:
            return float(hysteresis_factor(model, self.restitution))
        except FemMbsError as error:
            raise ParameterError(self, "model", model, str(error)) from error

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in ("_calls", "_wrapped", "record")}

    def place(self) -> None:
        """The wrapped contact's kernels as C functions, and its parameters where they can find them."""
        contact = self.contact
        kernels = (contact.kernels["contact"], contact.kernels["contact_hessian"])
        self._calls = [bind(function, contact.parameters, contact.sizes) for function in kernels]
        self._wrapped = np.zeros(1, contact.parameters)
        self._wrapped[0] = contact.record
        law = (self.stiffness, self.exponent, self.factor, self.least_speed, self.friction, self.slip_speed)
        deepest, calls = min(self.max_indentation, UNLIMITED), (call.address for call in self._calls)
        self.record = (*law, deepest, *calls, address(self._wrapped), int(self.simple_tangent))

    @property
    def convex(self) -> bool:
        """Of the wrapped contact, as are ``passage`` and ``reach``: steps that jump over it are refused."""
        return self.contact.convex

    @property
    def passage(self) -> float:
        return self.contact.passage

    @property
    def reach(self) -> float:
        return self.contact.reach

    def trouble(self, state: Any) -> str | None:
        """What is wrong at a `State`, in words; None when nothing is."""
        x, R = (np.array([a[node.index] for node in self.nodes]) for a in (state.x, state.R))
        point, nothing = Point(), dict.fromkeys(("v", "a", "gravity", "state", "lam", "t", "s"), 0.0)
        point.__dict__.update(x=x, R=R, x0=x, R0=R, **nothing)
        beyond = float(Evaluator(self)("trouble", point)["energy"][0])
        if beyond <= 0.0:
            return None
        depth = self.max_indentation + beyond
        return (
            f"{label(self)}: its indentation is {depth:.3g} m, more than max_indentation = {self.max_indentation:.3g} "
            "m, for which its force law is not made. Start the bodies farther apart; in a run: halve h, or use "
            "step_control=StepControl() of DecoupledNSGA; or allow it with max_indentation=…"
        )

    def remark(self, histories: dict) -> list:
        """What is worth a remark of saved outputs (k, …): an indentation that nothing limits, see `max_indentation`."""
        depth = float(histories["indentation"].max(initial=0.0))
        size = max((gyration(node) for node in self.nodes), default=0.0)
        if np.isfinite(self.max_indentation) or depth <= DEEPEST * size:
            return []
        than = "its bodies have no known size"
        if size > 0.0:
            than = f"a tenth of the size of its bodies is {DEEPEST * size:.3g} m"
        text = (
            f"its indentation was up to {depth:.3g} m and has no limit, because its contact has no radius; {than}. "
            "Give max_indentation=…, the depth up to which the force law holds, or look whether a body went through"
        )
        return [("indentation", depth, text)]

    def picture(self) -> list:
        return self.contact.picture()

    def regular(self, point: Any) -> bool:
        """Whether forces are smooth about a configuration of `fem_mbs.verify`: closed, not about to be cut off."""
        here = point.copy(x0=point.x, R0=point.R)
        if not getattr(self.contact, "regular", lambda _: True)(here):
            return False
        here.state = np.zeros(0)
        call = evaluator_of(self.contact)
        found = call("contact", here)
        delta, rate = -found["gap"][0], -found["G_N"] @ point.v
        slope = self.factor / max(rate, self.least_speed)
        damping = 1.0 + slope * rate
        if delta <= 0.1 * point.size or damping <= 0.5:
            return False
        # within reach of differences, 0.003 of the size and of 1 rad, small bodies turn their normal, and so the rate
        reach = 0.005 * np.tile([point.size] * 3 + [1.0] * 3, len(point.x))
        return damping - slope * np.abs(reach * (point.v @ call("contact_hessian", here)["H_N"])).max() > 0.25


def _largest_radius(contact):
    """Largest radius [m] among the parameters of a contact; infinite when it has none."""
    values = [v for k, v in vars(contact).items() if k.startswith("radius") and isinstance(v, float) and v > 0]
    return max(values, default=np.inf)


def _example(rng, A, B):
    kinds = ("SphereOnPlane", "SphereOnSphere", "SphereInSphere", "SphereInCylinder")
    contact = REGISTRY[kinds[rng.integers(len(kinds))]][1](rng, A, B)
    return CompliantContact(
        contact, stiffness=rng.uniform(0.5, 2.0), exponent=rng.uniform(1.0, 2.0), restitution=rng.uniform(0.3, 1.0),
        friction=rng.choice([0.0, 0.4]), slip_speed=rng.uniform(0.2, 1.0), least_speed=rng.uniform(1.0, 3.0),
        max_indentation=10.0,
    )  # fmt: skip


register(CompliantContact, example=_example)
