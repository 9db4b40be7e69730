"""Data of a run of `LobattoIIIAB`, in addition to those of `stepping.kernels.data`; kernels call its record ``o``.

ni stages, nz entries of one block of the stacked matrix. Arrays ``ni …`` have one entry per stage.

    symbol      code            meaning
    w           w               (ẋ, ψ̇) of the stages, the unknowns
    D, T, Ṫ     Di, Ti, Td      increments, T(ψ), its derivative along ψ̇
    Θ, exp ψ    Th, Ex          ∂(T ψ̇)/∂ψ, rotation of the stage from that of the start
    Q           Qi              −b_j T(ψ^s) exp(ψ^j)
    P, F        Pi, Fi          momentum M v; h ṗ + Gᵀ R + …, in body axes as all moments
    P_n, y      Pn, y           momentum at the start of the step; with all that acts before the last stage
    p           p               momentum at the end without the impulses of the impact problem
    R           Ri, cR          of joints and contacts, divided by k_v
"""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer
from fem_mbs.solvers.contact.first_touch import SEARCH

_STAGES = "of the stages"
_SUM = "entries of a block, see lobatto.blocks"

TABLE = Table(
    "run of LobattoIIIAB",
    {
        # coefficients
        "a": Item("ni ni", "IIIA"),
        "a_hat": Item("ni ni", "IIIB"),
        "b": Item("ni", "weights"),
        "averages": Item("ni ni", "weights of the averages of rates, a row each"),
        # stages
        "w": Item("ni N 6", _STAGES, kept=True),
        "Di": Item("ni N 6", _STAGES),
        "Ti": Item("ni N 3 3", _STAGES),
        "Td": Item("ni N 3 3", _STAGES),
        "Th": Item("ni N 3 3", _STAGES),
        "Ex": Item("ni N 3 3", _STAGES),
        "Qi": Item("ni N 3 3", _STAGES),
        "Pi": Item("ni full", _STAGES),
        "Fi": Item("ni full", _STAGES),
        "res": Item("ni full", "dynamic rows"),
        "Ri": Item("ni m", _STAGES, kept=True),
        "gaps": Item("ni m", "g of the stages; of rows of velocities their averages, times h"),
        "cR": Item("ni nc 6", _STAGES, kept=True, scaling=1),
        "rows": Item("ni nc 6", "rows of contacts, divided by k_v"),
        "stage_status": Item("ni nc", "GAP, STICK, SLIP or CLOSED of the stages", "i8"),
        "lasts": Item("nc 3", "STICK or SLIP of cones that do so in the whole step, see lobatto.lasting", "i8"),
        "forward": Item("ni nc", "whether slip in such a contact continues at a stage", "i8"),
        "slide": Item("nc 6", "direction in which such a contact slips at the last stage"),
        "rate0": Item("nc 6", "rates of such a contact at the start of the step"),
        "lasting": Item("", "some contact lasts", "i8"),
        # located impacts and transitions, see lobatto.modes, lobatto.events
        "left_out": Item("nc", "open contact that takes no part before its impact", "i8"),
        "kept": Item("nc", "closed contact that keeps its mode to the end of the step", "i8"),
        "mode": Item("nc", "bits: how a contact begins the next step, if not by its velocities", "i8", kept=True),
        "begin": Item("nc 6", "direction in which it begins to slip, in which friction opposes it", kept=True),
        "now": Item("nc", "mode of this step", "i8"),
        "now_begin": Item("nc 6", "begin of this step"),
        "marked": Item("nc", "bits: what a closed contact does in the step", "i8"),
        "stage_gap": Item("ni nc", "gaps of the stages"),
        "stage_rate": Item("ni nc", "their rates, of contacts that are left out"),
        "Lam_before": Item("m", "Λ of the time before an impact"),
        "Vd0": Item("N 6", "v̇ at the end of the last step", kept=True),
        "Vd_start": Item("N 6", "v̇ at the start of the step"),
        # before a search along the Newton step
        "w_keep": Item("ni N 6", "kept"),
        "Ri_keep": Item("ni m", "kept"),
        "cR_keep": Item("ni nc 6", "kept"),
        # step
        "Pn": Item("full", "P_n"),
        "y": Item("full", "y"),
        "p": Item("full", "p"),
        "before_end": Item("nc 6", "impulses of contacts before the last stage"),
        # matrix
        "P_D": Item("nz", _SUM),
        "P_w": Item("nz", _SUM),
        "F_D": Item("nz", _SUM),
        "F_w": Item("nz", _SUM),
        "C_D": Item("nz", _SUM),
        "C_w": Item("nz", _SUM),
        "R_D": Item("nz", _SUM),
        "R_w": Item("nz", _SUM),
        "R_L": Item("nz", "rows of multipliers, their derivatives with respect to these"),
        "A_D": Item("nz", "averaged rows: of contacts that stick, and of velocities"),
        "A_w": Item("nz", "averaged rows: of contacts that stick, and of velocities"),
        "S_D": Item("nz", "rows of contacts that slide, of their own stage"),
        "S_w": Item("nz", "rows of contacts that slide, of their own stage"),
        "used": Item("nz", "entries of a block that elements have; a dense one has others", "i8"),
        "offset": Item("nz", "places of these in the first block of the stacked matrix", "i8"),
        "stride": Item("nz", "from there to the next block below", "i8"),
        "place": Item("N 3 3", "places of the rotations of a node in a block, −1: none", "i8"),
        # numbers
        "n_used": Item("", "entries of a block that elements have", "i8"),
        "averaged": Item("", "the model has rows of velocities", "i8"),
        "by_impulses": Item("", "an attempt leaves contacts to the impact problem, see lobatto.contacts", "i8"),
        "single": Item("", "sum of squares of the forces of single elements"),
        "error": Item("", "of the step [m], see lobatto.error"),
        "fell_back": Item("", "steps whose persistent contacts were not solved", "i8", kept=True),
        "left_to_impulses": Item("", "steps solved by impulses", "i8", kept=True),
        "troubled": Item("", "the last step was solved by impulses", "i8", kept=True),
        "quiet": Item("", "whether the last step had no impact: its accelerations are known", "i8", kept=True),
        "steady": Item("", "whether those at both ends of the step are known, and no contact acted", "i8"),
        "moved": Item("", "size of the last Newton step, as a displacement"),
        "stage_problem": Item("", "record of Newton's iteration: stages", "i8"),
        "located_part": Item("", "compiled part", "i8"),
        "answer": Item("", "the step has been solved by it", "i8"),
        "touched": Item("", "the step has ended at a touch", "i8"),
        "changed": Item("", "the step has ended at a transition", "i8"),
        "collected": Item("", "impulses of contacts have been collected", "i8"),
        **SEARCH,
    },
)
OWN = TABLE.dtype


@kernel
def own_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), OWN)
